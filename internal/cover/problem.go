package cover

import (
	"math"
	"slices"
)

// Problem asks for the cheapest set of items. Items stand in an order: of equally cheap sets
// the one is wanted that leaves out the first item in which they differ, but with Any.
type Problem struct {
	Items int
	Need  []int64 // by row: how much has to be freed, above zero
	Frees []Row   // by row; its sum fits an int64
	Price []int64 // by item, not below zero; nil: nothing costs anything
	Sides []Side
	Any   bool // of equally cheap sets any will do

	// Unit is what sets cost is a multiple of, fines included; 0: of 1.
	Unit int64

	// AtMost is what a set may cost, fines included, to be wanted.
	AtMost int64

	// Least is what no set costs less than, fines included; 0: nothing is known.
	Least int64

	// Steps is how many decisions may be made; one about more than 128 amounts and prices counts as
	// several. The first bound and the first set are had in any case, and count as ten times what a decision counts more than one.
	Steps int

	// Worked, if set, is how many steps what Trial has done is worth: they are those of the search
	// where they are more, and beyond Steps nothing is guessed either.
	Worked func() int

	// Poll, if set, is called for each decision. It may panic, which ends the search.
	Poll func()

	// Guess is a set that may be the cheapest; nil: none is known.
	Guess []bool

	// Never, if set, says of the items that are chosen already that no set with all of them, and
	// perhaps others, will do.
	Never func(chosen []bool) bool

	// Trial has a say beside the numbers; nil: they decide alone.
	Trial Trial

	// Alike says whether item b may stand for a in Trial; nil: it may. Numbers are compared
	// anyway.
	Alike func(a, b int) bool

	// Kind tells items apart of which none may stand for another, or of below zero for any. nil: all
	// are of one kind.
	Kind func(i int) int
}

// Row is what items free of something, or take up of it, in order of the items.
type Row []Cell

// Cell is an item and how much that is, above zero.
type Cell struct {
	Item   int
	Amount int64
}

// RowOf is the row of amounts by item, not below zero.
func RowOf(amounts []int64) (row Row) {
	n := 0
	for _, v := range amounts {
		if v > 0 {
			n++
		}
	}
	row = slices.Grow(row, n)
	for i, v := range amounts {
		if v > 0 {
			row = append(row, Cell{i, v})
		}
	}
	return row
}

// Side is a sum over the chosen items.
type Side struct {
	Weight Row   // of items
	Room   int64 // not below zero
	Fine   int64 // what each beyond Room costs, above zero; Hard: no set may go beyond it
}

// Hard is the Fine of a Side that no set may go beyond.
const Hard = math.MaxInt64

// Trial is what numbers do not tell. All items are chosen in the beginning.
type Trial interface {
	Return(i int) // item i is not chosen, for the time being
	Remove(i int) // it may be again

	// May reports whether the set of all that were not returned will do, if a set does that
	// has fewer: it says true where that follows of nothing.
	May() bool

	// Will says what the set costs where all others, of which those in returned are already,
	// are returned: price, by the numbers, or more; ok is false if it will not do.
	Will(chosen, returned []bool, price int64) (all int64, ok bool)
}

// Answer is what Solve came to.
type Answer struct {
	Chosen []bool // by item; nil if no set was found
	Price  int64  // of Chosen, fines included
	Bound  int64  // no set costs less; more than AtMost: there is none
	Proved bool   // Chosen is the cheapest set, or there is none
	Steps  int    // that were taken
}

// To look at so many items, or at so many amounts of sides, before the first decision counts as so many steps.
const (
	manyItems    = 4096
	manyWeights  = 1 << 17
	stepsToBegin = 512
)

// ToBegin is how many steps it counts to look at the items of a problem, and at what they add to so many sides.
func ToBegin(items, sides int) int {
	weights := int64(items) * int64(sides) / manyWeights
	return int(min((int64(items/manyItems)+weights)*stepsToBegin, math.MaxInt32))
}
