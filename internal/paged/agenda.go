package paged

import "math"

// Never is the time of an element that is not due at all.
const Never = math.MaxInt64

// Agenda tells which elements of a growing list are due by a time, in whatever unit.
// Where few are, it finds them without a look at the others. The zero Agenda is empty.
type Agenda struct {
	levels [3]Column[uint64] // urgency of each element, then the highest of each page of the level below
}

// urgency is the higher, the earlier something is due; 0 for Never.
func urgency(due int64) uint64 { return uint64(Never) - uint64(due) }

// Set lets element i be due from a time on.
func (a *Agenda) Set(i int, due int64) {
	v := urgency(due)
	for level := range a.levels {
		c := &a.levels[level]
		if i >= c.Len() && v == 0 || i < c.Len() && *c.At(i) == v {
			return
		}
		c.Reserve(i + 1)
		for c.Len() <= i {
			c.Append(0)
		}
		*c.Edit(i) = v
		v, i = highest(c, i), i>>shift
	}
}

// Advance lets element i be due from a time on, if it is not due before.
func (a *Agenda) Advance(i int, due int64) {
	if c := &a.levels[0]; i >= c.len || *c.At(i) < urgency(due) {
		a.Set(i, due)
	}
}

// highest is the highest value of the page of element i.
func highest(c *Column[uint64], i int) (v uint64) {
	for i &^= mask; i < c.len; i++ {
		v = max(v, *c.At(i))
		if i&mask == mask {
			break
		}
	}
	return v
}

// Due appends to dst the elements that are due by now, ascending, and returns the
// extended slice.
func (a *Agenda) Due(dst []int, now int64) []int {
	top := len(a.levels) - 1
	return a.due(dst, top, 0, a.levels[top].len, urgency(now))
}

func (a *Agenda) due(dst []int, level, first, end int, least uint64) []int {
	c := &a.levels[level]
	for i := first; i < min(end, c.len); i++ {
		switch v := *c.At(i); {
		case v == 0 || v < least:
		case level == 0:
			dst = append(dst, i)
		default:
			dst = a.due(dst, level-1, i<<shift, (i+1)<<shift, least)
		}
	}
	return dst
}

// First is when the first of them is due, or Never.
func (a *Agenda) First() int64 {
	most, top := uint64(0), &a.levels[len(a.levels)-1]
	for i := range top.len {
		most = max(most, *top.At(i))
	}
	return int64(uint64(Never) - most)
}

// Fork returns a copy that shares all pages with a. O(1).
func (a *Agenda) Fork() (f Agenda) {
	for i := range a.levels {
		f.levels[i] = a.levels[i].Fork()
	}
	return f
}
