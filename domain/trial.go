package domain

import "github.com/preempt-go/preempt/preemption/cluster"

// Trial is a what-if over one domain: running pods leave and return, and it tells
// whether the preemptor fits. Which pods leave is not its business.
//
// Pods that run outside the domain may be removed and returned too; they change
// the answer through constraints that look across nodes only.
type Trial interface {
	// Remove takes running pod p away; Return puts it back where it ran.
	Remove(p cluster.PodID)
	Return(p cluster.PodID)

	// Fits says whether the preemptor fits as things stand. The zero Reason: it does.
	Fits() Reason
}

// Doubter is an optional part of a Trial whose Fits relies on its latest answer.
type Doubter interface {
	// Doubt lets the next Fits rely on nothing.
	Doubt()
}

// Gapped is an optional part of a Trial: it tells in numbers what is missing. Where
// something is missing, Fits says no.
type Gapped interface {
	// Gap appends, for each thing that is asked for, a resource or a host port, always in
	// the same order, how much more is asked for than is free as things stand, below zero
	// if less.
	Gap(dst []int64) []int64

	// Frees is what the r-th of these gains when pod p leaves.
	Frees(r int, p cluster.PodID) int64

	// Decides reports whether the reverse holds as well: where nothing is missing, Fits
	// says yes.
	Decides() bool
}

// Sparse is an optional part of a Gapped: it tells of what a pod frees anything.
type Sparse interface {
	// FreedBy lists the numbers of what gains when pod p leaves, in order, perhaps with others.
	// The slice belongs to the trial.
	FreedBy(p cluster.PodID) []int
}

// Bounded is an optional part of a Trial: it tells what has to leave at least.
type Bounded interface {
	// Least returns what everything that has to leave for Fits to say yes costs at least, where
	// each of items leaves as a whole, at its price, and those that are barred never do;
	// [math.MaxInt64]: Fits never says yes. set, if not nil, are items that may be the
	// cheapest, at no more than atMost. It takes so many steps at most.
	Least(items [][]cluster.PodID, price []int64, barred []bool, atMost int64, steps int) (least int64, set []bool, taken int)
}

// Selective is an optional part of a Trial: it tells which pods matter.
type Selective interface {
	// Matters reports whether running pod p may matter to Fits as things stand. Where it
	// is false, removing it and returning it changes no answer, whoever else is gone.
	Matters(p cluster.PodID) bool
}
