package suits

import (
	"strconv"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// tolerated are many tolerations, to be looked up: each by its key and effect, of which an empty one stands
// for all.
type tolerated map[tolerable]*tolerances

type tolerable struct {
	key    string
	effect cluster.Effect
}

// tolerances are the tolerations of one key and effect.
type tolerances struct {
	all    bool
	values map[string]bool
	below  []int64 // the largest that values may be less than, if any
	above  []int64 // the least that values may be more than, if any
}

func newTolerated(list []cluster.Toleration) tolerated {
	known := tolerated{}
	for _, t := range list {
		at := tolerable{t.Key, t.Effect}
		if known[at] == nil {
			known[at] = &tolerances{values: map[string]bool{}}
		}
		known[at].add(t)
	}
	return known
}

func (s *tolerances) add(t cluster.Toleration) {
	switch v, err := strconv.ParseInt(t.Value, 10, 64); t.Operator {
	case cluster.TolerationExists:
		s.all = true
	case cluster.TolerationLt:
		if err == nil && (s.below == nil || v > s.below[0]) {
			s.below = []int64{v}
		}
	case cluster.TolerationGt:
		if err == nil && (s.above == nil || v < s.above[0]) {
			s.above = []int64{v}
		}
	default:
		s.values[t.Value] = true
	}
}

// tolerates is Tolerates.
func (known tolerated) tolerates(taint cluster.Taint) bool {
	for _, at := range []tolerable{{taint.Key, taint.Effect}, {taint.Key, ""}, {"", taint.Effect}, {"", ""}} {
		if s := known[at]; s != nil && s.has(taint.Value) {
			return true
		}
	}
	return false
}

func (s *tolerances) has(value string) bool {
	if s.all || s.values[value] {
		return true
	}
	v, err := strconv.ParseInt(value, 10, 64)
	return err == nil && (s.below != nil && v < s.below[0] || s.above != nil && v > s.above[0])
}
