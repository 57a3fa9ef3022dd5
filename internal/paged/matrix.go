package paged

import "slices"

// Matrix is a list of rows of int64, all of one length, in pages. The zero Matrix is
// empty.
type Matrix struct {
	owner   *owner
	folders []*rowsFolder
	shared  bool // as in a Column
	width   int
	room    int
	len     int
}

type rowsFolder struct {
	owner *owner
	pages [Size]rows
}

type rows struct {
	owner *owner
	data  []int64
}

// MakeMatrix returns a matrix of n rows of zeros, each of that width.
func MakeMatrix(n, width int) Matrix {
	m := Matrix{owner: new(owner), width: width}
	m.grow(n)
	m.len = n
	return m
}

// grow adds pages until there is room for n rows. They are allocated as one.
func (m *Matrix) grow(n int) {
	missing := pages(n) - m.room>>shift
	if missing <= 0 {
		return
	}
	size := Size * m.width
	all := make([]int64, missing*size)
	for range missing {
		at := m.room >> shift
		m.ownFolder(at >> shift).pages[at&mask] = rows{m.owner, all[:size:size]}
		m.room, all = m.room+Size, all[size:]
	}
}

// Len is the number of rows.
func (m *Matrix) Len() int { return m.len }

// Row returns row i, which must not be changed. It is good until the next change.
func (m *Matrix) Row(i int) []int64 {
	at := (i & mask) * m.width
	return m.folders[uint(i)>>(2*shift)].pages[uint(i)>>shift&mask].data[at : at+m.width : at+m.width]
}

// Edit returns row i to be changed. It is good until the next fork.
func (m *Matrix) Edit(i int) []int64 {
	if m.folders[uint(i)>>(2*shift)].pages[uint(i)>>shift&mask].owner != m.owner {
		p := &m.ownFolder(i >> (2 * shift)).pages[i>>shift&mask]
		*p = rows{m.owner, slices.Clone(p.data)}
	}
	return m.Row(i)
}

// ownFolder makes folder i, perhaps a new one, the matrix's own.
func (m *Matrix) ownFolder(i int) *rowsFolder {
	if m.shared {
		m.folders, m.shared = slices.Clone(m.folders), false
	}
	if i == len(m.folders) {
		m.folders = append(m.folders, &rowsFolder{owner: m.owner})
	}
	if m.folders[i].owner != m.owner {
		f := *m.folders[i]
		f.owner = m.owner
		m.folders[i] = &f
	}
	return m.folders[i]
}

// Append adds a row of zeros and returns its position.
func (m *Matrix) Append() int {
	if m.owner == nil {
		m.owner = new(owner)
	}
	m.grow(m.len + 1)
	m.len++
	return m.len - 1
}

// Fork returns a copy that shares all pages with m. O(1).
func (m *Matrix) Fork() Matrix {
	m.owner, m.shared = new(owner), true
	return Matrix{new(owner), m.folders, true, m.width, m.room, m.len}
}
