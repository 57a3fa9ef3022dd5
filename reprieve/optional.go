package reprieve

import "github.com/preempt-go/preempt/preemption/cluster"

// gapped is an optional part of a Trial: it tells in numbers what is missing. Where
// something is missing, Fits says no.
type gapped interface {
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

// sparse is an optional part of a gapped: it tells of what a pod frees anything.
type sparse interface {
	// FreedBy lists the numbers of what gains when pod p leaves, in order, perhaps with others.
	// The slice belongs to the trial.
	FreedBy(p cluster.PodID) []int
}

// bounded is an optional part of a Trial: it tells what has to leave at least.
type bounded interface {
	// Least returns what everything that has to leave for Fits to say yes costs at least, where
	// each of items leaves as a whole, at its price, and those that are barred never do;
	// [math.MaxInt64]: Fits never says yes. set, if not nil, are items that may be the
	// cheapest, at no more than atMost. It takes so many steps at most.
	Least(items [][]cluster.PodID, price []int64, barred []bool, atMost int64, steps int) (least int64, set []bool, taken int)
}

// selective is an optional part of a Trial: it tells which pods matter.
type selective interface {
	// Matters reports whether running pod p may matter to Fits as things stand. Where it
	// is false, removing it and returning it changes no answer, whoever else is gone.
	Matters(p cluster.PodID) bool
}
