package paged

import "slices"

// Size is the number of elements in a page, and of pages in a folder.
const Size = 1 << shift

const (
	shift = 6
	mask  = Size - 1
)

// pages is the number of pages that n elements need, or of folders that n pages do.
func pages(n int) int { return (n + mask) >> shift }

// owner is a token: what bears the one of a column is that column's alone.
type owner struct{ _ byte } // not of size zero, so that two are never the same

// Column is a list of values in pages. The zero Column is empty.
type Column[T any] struct {
	owner   *owner
	folders []*folder[T]
	shared  bool // folders are a fork's, too: the list is copied before it is changed
	room    int  // how many elements the pages have room for
	len     int
}

// folder is a list of pages.
type folder[T any] struct {
	owner *owner
	pages [Size]*page[T]
}

type page[T any] struct {
	owner *owner
	data  [Size]T
}

// Make returns a column of n zero values.
func Make[T any](n int) Column[T] {
	c := Column[T]{owner: new(owner)}
	c.grow(n)
	c.len = n
	return c
}

// grow adds pages until there is room for n elements. They are allocated as one.
func (c *Column[T]) grow(n int) {
	missing := pages(n) - c.room>>shift
	if missing <= 0 {
		return
	}
	fresh := make([]page[T], missing)
	for i := range fresh {
		fresh[i].owner = c.owner
		at := c.room >> shift
		c.ownFolder(at >> shift).pages[at&mask] = &fresh[i]
		c.room += Size
	}
}

// Len is the number of elements.
func (c *Column[T]) Len() int { return c.len }

// At returns element i, which must not be changed. The pointer is good until the
// next change of the column.
func (c *Column[T]) At(i int) *T {
	return &c.folders[uint(i)>>(2*shift)].pages[uint(i)>>shift&mask].data[i&mask]
}

// Edit returns element i to be changed. The pointer is good until the next fork.
func (c *Column[T]) Edit(i int) *T {
	p := c.folders[uint(i)>>(2*shift)].pages[uint(i)>>shift&mask]
	if p.owner != c.owner {
		p = c.own(i)
	}
	return &p.data[i&mask]
}

// own makes the page of element i the column's own.
func (c *Column[T]) own(i int) *page[T] {
	f := c.ownFolder(i >> (2 * shift))
	p := *f.pages[i>>shift&mask]
	p.owner = c.owner
	f.pages[i>>shift&mask] = &p
	return &p
}

// ownFolder makes folder i, perhaps a new one, the column's own.
func (c *Column[T]) ownFolder(i int) *folder[T] {
	if c.shared {
		c.folders, c.shared = slices.Clone(c.folders), false
	}
	if i == len(c.folders) {
		c.folders = append(c.folders, &folder[T]{owner: c.owner})
	}
	if c.folders[i].owner != c.owner {
		f := *c.folders[i]
		f.owner = c.owner
		c.folders[i] = &f
	}
	return c.folders[i]
}

// Reserve gets the pages for n elements as one, before they are appended.
func (c *Column[T]) Reserve(n int) {
	if c.owner == nil {
		c.owner = new(owner)
	}
	c.grow(n)
}

// Append adds v at the end and returns its position.
func (c *Column[T]) Append(v T) int {
	i := c.len
	c.Reserve(i + 1)
	c.len++
	*c.Edit(i) = v
	return i
}

// Fork returns a copy that shares all pages with c. O(1).
func (c *Column[T]) Fork() Column[T] {
	c.owner, c.shared = new(owner), true
	return Column[T]{new(owner), c.folders, true, c.room, c.len}
}

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
