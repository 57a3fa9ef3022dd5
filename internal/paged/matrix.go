package paged

import "slices"

// Matrix is a list of rows of int64, all of one length, in pages. The zero Matrix is
// empty.
type Matrix struct {
	owner  *owner
	pages  []*rows
	shared bool // as in a Column
	width  int
	len    int
}

type rows struct {
	owner *owner
	data  []int64
}

// MakeMatrix returns a matrix of n rows of zeros, each of that width.
func MakeMatrix(n, width int) Matrix {
	m := Matrix{owner: new(owner), width: width, len: n}
	all := make([]int64, Pages(n)*Size*width)
	pages := make([]rows, Pages(n))
	for i := range pages {
		pages[i] = rows{m.owner, all[: Size*width : Size*width]}
		m.pages, all = append(m.pages, &pages[i]), all[Size*width:]
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
	if m.pages[i>>shift].owner != m.owner {
		m.own(i >> shift)
	}
	return m.Row(i)
}

// own makes page i the matrix's own.
func (m *Matrix) own(i int) {
	m.unshare()
	m.pages[i] = &rows{m.owner, slices.Clone(m.pages[i].data)}
}

func (m *Matrix) unshare() {
	if m.shared {
		m.pages, m.shared = slices.Clone(m.pages), false
	}
}

// Append adds a row of zeros and returns its position.
func (m *Matrix) Append() int {
	i := m.len
	if i&mask == 0 {
		m.unshare()
		m.pages = append(m.pages, &rows{m.owner, make([]int64, Size*m.width)})
	}
	m.len++
	return i
}

// Fork returns a copy that shares all pages with m. O(1).
func (m *Matrix) Fork() Matrix {
	m.owner, m.shared = new(owner), true
	return Matrix{new(owner), m.pages, true, m.width, m.len}
}
