package paged

import "slices"

// Size is the number of elements in a page.
const Size = 1 << shift

const (
	shift = 8
	mask  = Size - 1
)

// Pages is the number of pages that n elements need.
func Pages(n int) int { return (n + mask) >> shift }

// owner is a token: a page that bears the one of a column is that column's alone.
type owner struct{ _ byte } // not of size zero, so that two are never the same

// Column is a list of values in pages. The zero Column is empty.
type Column[T any] struct {
	owner  *owner
	pages  []*page[T]
	shared bool // pages are a fork's, too: the list is copied before it is changed
	len    int
}

type page[T any] struct {
	owner *owner
	data  [Size]T
}

// Make returns a column of n zero values.
func Make[T any](n int) Column[T] {
	c := Column[T]{owner: new(owner)}
	c.grow(n)
	return c
}

// grow adds zero values until there are n. The pages are allocated as one.
func (c *Column[T]) grow(n int) {
	c.len = n
	missing := Pages(n) - len(c.pages)
	if missing <= 0 {
		return
	}
	c.unshare()
	fresh := make([]page[T], missing)
	for i := range fresh {
		fresh[i].owner = c.owner
		c.pages = append(c.pages, &fresh[i])
	}
}

// Len is the number of elements.
func (c *Column[T]) Len() int { return c.len }

// At returns element i, which must not be changed. The pointer is good until the
// next change of the column.
func (c *Column[T]) At(i int) *T { return &c.pages[i>>shift].data[i&mask] }

// Edit returns element i to be changed. The pointer is good until the next fork.
func (c *Column[T]) Edit(i int) *T {
	p := c.pages[i>>shift]
	if p.owner != c.owner {
		p = c.own(i >> shift)
	}
	return &p.data[i&mask]
}

// own makes page i the column's own.
func (c *Column[T]) own(i int) *page[T] {
	c.unshare()
	p := *c.pages[i]
	p.owner = c.owner
	c.pages[i] = &p
	return &p
}

func (c *Column[T]) unshare() {
	if c.shared {
		c.pages, c.shared = slices.Clone(c.pages), false
	}
}

// Reserve gets the pages for n elements as one, before they are appended.
func (c *Column[T]) Reserve(n int) {
	if c.owner == nil {
		c.owner = new(owner)
	}
	before := c.len
	c.grow(max(n, before))
	c.len = before
}

// Append adds v at the end and returns its position.
func (c *Column[T]) Append(v T) int {
	i := c.len
	if c.owner == nil {
		c.owner = new(owner)
	}
	if i>>shift == len(c.pages) {
		c.unshare()
		c.pages = append(c.pages, &page[T]{owner: c.owner})
	}
	c.len++
	*c.Edit(i) = v
	return i
}

// Fork returns a copy that shares all pages with c. O(1).
func (c *Column[T]) Fork() Column[T] {
	c.owner, c.shared = new(owner), true
	return Column[T]{new(owner), c.pages, true, c.len}
}
