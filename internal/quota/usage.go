package quota

import (
	"slices"
)

// Usage is what is used in a tree: the state of a what-if over quota. It is not
// safe for concurrent use; [Usage.Clone] is cheap.
type Usage struct {
	t    *Tree
	used []int64 // holder-major rows
}

// NewUsage returns the tree with nothing used.
func (t *Tree) NewUsage() *Usage {
	return &Usage{t: t, used: make([]int64, len(t.parent)*t.numColumns)}
}

// Tree returns the tree that is used.
func (u *Usage) Tree() *Tree { return u.t }

// Clone returns an independent copy.
func (u *Usage) Clone() *Usage { return &Usage{t: u.t, used: slices.Clone(u.used)} }

// CopyFrom makes u equal to other, which is of the same tree.
func (u *Usage) CopyFrom(other *Usage) { copy(u.used, other.used) }

// Same reports whether h uses as much in other, which is of the same tree.
func (u *Usage) Same(other *Usage, h HolderID) bool {
	from, to := u.t.at(h, 0), u.t.at(h+1, 0)
	return slices.Equal(u.used[from:to], other.used[from:to])
}

// Used is what h uses of column c: of a cohort, what its members use beyond their
// guaranteed parts.
func (u *Usage) Used(h HolderID, c ColumnID) int64 { return u.used[u.t.at(h, c)] }

// Add makes queue q use the amounts too. What it does not keep for itself is used
// of its cohort. O(depth) an amount.
func (u *Usage) Add(q HolderID, amounts []ColumnAmount) {
	for _, a := range amounts {
		u.add(q, a.Column, a.Amount)
	}
}

// Remove is the exact inverse of Add, in any order.
func (u *Usage) Remove(q HolderID, amounts []ColumnAmount) {
	for _, a := range amounts {
		u.remove(q, a.Column, a.Amount)
	}
}

func (u *Usage) add(h HolderID, c ColumnID, v int64) {
	for h != NoHolder && v > 0 {
		at := u.t.at(h, c)
		kept := Above(u.t.guaranteed[at], u.used[at])
		u.used[at] = Add(u.used[at], v)
		v = Sub(v, kept)
		h = u.t.parent[h]
	}
}

func (u *Usage) remove(h HolderID, c ColumnID, v int64) {
	for h != NoHolder && v > 0 {
		at := u.t.at(h, c)
		lent := Sub(u.used[at], u.t.guaranteed[at])
		u.used[at] = Sub(u.used[at], v)
		v = min(v, lent)
		h = u.t.parent[h]
	}
}

// Kept is what h has left of its guaranteed part of column c.
func (u *Usage) Kept(h HolderID, c ColumnID) int64 {
	at := u.t.at(h, c)
	return Above(u.t.guaranteed[at], u.used[at])
}

// Available is how much more of column c queue or cohort h may use; 0 also where
// more is used than there is. O(depth).
func (u *Usage) Available(h HolderID, c ColumnID) int64 {
	return max(0, u.Balance(h, c))
}

// Balance is Available that goes below zero where more is used than there is.
func (u *Usage) Balance(h HolderID, c ColumnID) int64 {
	at := u.t.at(h, c)
	p := u.t.parent[h]
	if p == NoHolder {
		return Sub(u.t.subtree[at], u.used[at])
	}
	above := u.Balance(p, c)
	if limit := u.t.borrowing[at]; limit != unlimited {
		lent := Sub(u.t.subtree[at], u.t.guaranteed[at])
		beyond := Above(u.used[at], u.t.guaranteed[at])
		above = min(above, Add(Sub(lent, beyond), limit))
	}
	return Add(u.Kept(h, c), above)
}

// Rooms appends to dst how much more of column c queue q may use as far as it, and each of the
// cohorts around it, has a say, in that order: Balance is the least of them. Unlimited: it
// has none.
func (u *Usage) Rooms(dst []int64, q HolderID, c ColumnID) []int64 {
	kept := int64(0)
	for h := q; ; h = u.t.parent[h] {
		at := u.t.at(h, c)
		if u.t.parent[h] == NoHolder {
			return append(dst, Add(kept, Sub(u.t.subtree[at], u.used[at])))
		}
		room := int64(unlimited)
		if limit := u.t.borrowing[at]; limit != unlimited {
			room = Add(kept, Add(Sub(u.t.subtree[at], u.used[at]), limit))
		}
		dst, kept = append(dst, room), Add(kept, u.Kept(h, c))
	}
}

// Reaches is how much of v, which queue q is to use no more of column c, becomes free in the
// cohort around it: what the holders on the way keep for themselves does not.
func (u *Usage) Reaches(q, cohort HolderID, c ColumnID, v int64) int64 {
	for h := q; h != cohort && v > 0; h = u.t.parent[h] {
		at := u.t.at(h, c)
		v = min(v, Sub(u.used[at], u.t.guaranteed[at]))
	}
	return max(v, 0)
}

// Borrows reports whether h would use more of column c than it has if it used v
// more; with v 0, whether it does.
func (u *Usage) Borrows(h HolderID, c ColumnID, v int64) bool {
	at := u.t.at(h, c)
	return u.t.subtree[at] < Add(u.used[at], v)
}

// WithinNominal reports whether h borrows none of the columns. Exactly as much as
// it has is within.
func (u *Usage) WithinNominal(h HolderID, columns []ColumnID) bool {
	for _, c := range columns {
		if u.Borrows(h, c, 0) {
			return false
		}
	}
	return true
}

// UnderNominal reports whether h uses less than it has of every column.
func (u *Usage) UnderNominal(h HolderID, columns []ColumnID) bool {
	for _, c := range columns {
		at := u.t.at(h, c)
		if u.used[at] >= u.t.subtree[at] {
			return false
		}
	}
	return true
}

// Fits reports whether queue q may use the amounts too; without borrow, whether it
// may without borrowing any of them.
func (u *Usage) Fits(q HolderID, amounts []ColumnAmount, borrow bool) bool {
	for _, a := range amounts {
		if !borrow && u.Borrows(q, a.Column, a.Amount) || a.Amount > u.Available(q, a.Column) {
			return false
		}
	}
	return true
}

// Covered reports whether queue q, which uses the amounts already, might: it is Fits,
// with borrow, as if they were removed.
func (u *Usage) Covered(q HolderID, amounts []ColumnAmount) bool {
	for _, a := range amounts {
		if a.Amount > 0 && u.Balance(q, a.Column) < 0 {
			return false
		}
	}
	return true
}

// FitsNominal reports whether what h owns takes the amounts too, and reduces them
// to what h would have to take from its parent.
func (u *Usage) FitsNominal(h HolderID, amounts []ColumnAmount) bool {
	fits := true
	for i := range amounts {
		a := &amounts[i]
		fits = fits && !u.Borrows(h, a.Column, a.Amount)
		a.Amount = Above(a.Amount, u.Kept(h, a.Column))
	}
	return fits
}

// BorrowHeight is the height of the lowest holder around queue q whose own quota
// takes v more of column c: 0 for the queue itself, the height of the root if
// none does. inner tells that this holder is not the root of its tree.
func (u *Usage) BorrowHeight(q HolderID, c ColumnID, v int64) (height int, inner bool) {
	p := u.t.parent[q]
	if p == NoHolder || !u.Borrows(q, c, v) {
		return 0, p != NoHolder
	}
	v = Sub(v, u.Kept(q, c))
	for h := p; ; h = u.t.parent[h] {
		root := u.t.parent[h] == NoHolder
		if !u.Borrows(h, c, v) {
			return u.t.Height(h), !root
		}
		if root {
			return u.t.Height(h), false
		}
		v = Sub(v, u.Kept(h, c))
	}
}
