package columns

import (
	"math"

	"github.com/preempt-go/preempt/victims"
)

// seat is how one node stands.
type seat struct {
	worth        uint64 // violations and the highest priority: see worthOf; lower is better
	sum, started int64
	liking       int64 // how much the node is preferred among equals
	pods         int32
	resource     int16 // that is short, or the check that bars the pod
	state        state
	exact        bool // the numbers are the score; otherwise bounds from below
}

// state is how a node stands.
type state uint8

const (
	unknown  state = iota // not looked at yet
	outside               // odd: not looked at here
	fitsNow               // the pod fits as things are
	helps                 // preemption helps
	short                 // a resource is short even so
	tooSmall              // the node offers too little of it
	nobody                // nobody may go
	barred                // the pod must not go there, whoever is evicted
	numStates
)

// worthless is the worth of a node where the pod can't go.
const worthless = math.MaxUint64

// worthOf is above zero, which stands for a node where the pod fits as things are.
func worthOf(violations int, highest int32) uint64 {
	return uint64(violations+1)<<32 | uint64(uint32(highest)^1<<31)
}

// atLeast is the seat of a node on which somebody of at least that priority has to go.
func atLeast(highest int32) seat {
	return seat{state: helps, worth: worthOf(0, highest), started: math.MaxInt64}
}

func exactly(s victims.Score) seat {
	return seat{
		state: helps, worth: worthOf(s.Violations, s.Highest), sum: s.Sum, pods: int32(s.Pods), started: s.Started, exact: true,
	}
}

// score is what exactly was given.
func (x *seat) score() victims.Score {
	return victims.Score{
		Violations: int(x.worth>>32) - 1, Highest: int32(uint32(x.worth) ^ 1<<31),
		Sum: x.sum, Pods: int(x.pods), Started: x.started,
	}
}

// before reports whether x disrupts less than y, as far as that is known, or is preferred.
func (x *seat) before(y *seat) bool {
	switch {
	case x.worth != y.worth:
		return x.worth < y.worth
	case x.sum != y.sum:
		return x.sum < y.sum
	case x.pods != y.pods:
		return x.pods < y.pods
	case x.started != y.started:
		return x.started > y.started
	}
	return x.liking > y.liking
}
