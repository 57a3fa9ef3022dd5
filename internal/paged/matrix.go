package paged

// Matrix is a list of rows of int64, all of one length, in pages. The zero Matrix is
// empty.
type Matrix struct {
	owner *owner
	pages []rows
	width int
	len   int
}

type rows struct {
	owner *owner
	data  []int64
}

// MakeMatrix returns a matrix of n rows of zeros, each of that width.
func MakeMatrix(n, width int) Matrix {
	m := Matrix{owner: new(owner), width: width, len: n}
	all := make([]int64, Pages(n)*Size*width)
	for range Pages(n) {
		m.pages = append(m.pages, rows{m.owner, all[: Size*width : Size*width]})
		all = all[Size*width:]
	}
	return m
}

// Len is the number of rows.
func (m *Matrix) Len() int { return m.len }

// Row returns row i, which must not be changed. It is good until the next change.
func (m *Matrix) Row(i int) []int64 {
	at := (i & mask) * m.width
	return m.pages[i>>shift].data[at : at+m.width : at+m.width]
}

// Edit returns row i to be changed. It is good until the next fork.
func (m *Matrix) Edit(i int) []int64 {
	if p := &m.pages[i>>shift]; p.owner != m.owner {
		*p = rows{m.owner, append([]int64(nil), p.data...)}
	}
	return m.Row(i)
}

// Append adds a row of zeros and returns its position.
func (m *Matrix) Append() int {
	i := m.len
	if i&mask == 0 {
		m.pages = append(m.pages, rows{m.owner, make([]int64, Size*m.width)})
	}
	m.len++
	return i
}

// Fork returns a copy that shares all pages with m.
func (m *Matrix) Fork() Matrix {
	m.owner = new(owner)
	return Matrix{owner: new(owner), pages: append([]rows(nil), m.pages...), width: m.width, len: m.len}
}
