package preemption

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Decide reports whether h has a say in answers: whether any hook but Observer is set. h may
// be nil.
func (h *Hooks) Decide() bool {
	if h == nil {
		return false
	}
	rest := *h
	rest.Observer = nil
	return !reflect.ValueOf(rest).IsZero()
}

// filterAlone reports whether the Filter of h has a say, and nothing else.
func (h *Hooks) filterAlone() bool {
	rest := *h
	rest.Filter = nil
	return h.Decide() && !rest.Decide()
}

// HookError says which hook broke its contract, and what it returned or did. The
// planner is as it was before the question. What a hook panics with itself comes back
// to the caller as it is, with no lock held.
type HookError struct {
	Hook, Value, Want string
}

// Error names the hook, what it did and what was expected.
func (e *HookError) Error() string {
	return fmt.Sprintf("preemption: Options.Hooks.%s: %s is not %s", e.Hook, words.Short(e.Value), words.Short(e.Want))
}

// caught is deferred where questions begin: what a hook did wrong becomes their error, and so
// does that they were stopped.
func caught(err *error) {
	switch e := recover().(type) {
	case nil:
	case *HookError:
		*err = e
	case *ranges.Stop:
		*err = e.Err
	case *domain.Misuse:
		*err = &HookError{map[string]string{"Placer": "Placer", "Constraint": "Constraints"}[e.By], e.Value, e.Want}
	default:
		panic(e)
	}
}

// checkedSplitter is the user's splitter; what it returns is checked.
type checkedSplitter struct{ domain.Splitter }

func (s checkedSplitter) Split(dst []domain.Domain, ix *cluster.Index) []domain.Domain {
	list := s.Splitter.Split(nil, ix)
	in := make([]bool, ix.NumNodes())
	for _, d := range list {
		bad := func(n cluster.NodeID, want string) {
			panic(&HookError{"Splitter", fmt.Sprintf("node %d in domain %q", n, d.Name), want})
		}
		for i, n := range d.Nodes {
			switch {
			case n < 0 || int(n) >= len(in):
				bad(n, fmt.Sprintf("from 0 to %d", len(in)-1))
			case !ix.IsNode(n):
				bad(n, "a node; see cluster.Index.IsNode")
			case i > 0 && d.Nodes[i-1] >= n:
				bad(n, fmt.Sprintf("above %d, the node before it", d.Nodes[i-1]))
			case in[n]:
				bad(n, "in one domain only")
			}
			in[n] = true
		}
	}
	return append(dst, list...)
}

// checkedPlacer is the user's placer; what it does is checked.
type checkedPlacer struct{ domain.Placer }

func (p checkedPlacer) Place(t *domain.GangTrial, d *domain.Domain, offers domain.Offers, members []domain.MemberID, most int) int {
	before := slices.Clone(t.Placed())
	n := p.Placer.Place(t, d, offers, members, most)
	bad := func(value, want string) { panic(&HookError{"Placer", value, want}) }
	placed := t.Placed()
	if len(placed) < len(before) || !slices.Equal(placed[:len(before)], before) {
		bad("taking off members that were placed before", "placing others beside them")
	}
	placed = placed[len(before):]
	if n != len(placed) {
		bad(fmt.Sprint(n), fmt.Sprintf("%d, as many as it placed", len(placed)))
	}
	if n > most {
		bad(fmt.Sprint(n), fmt.Sprintf("at most %d, as it was asked", most))
	}
	for _, m := range placed {
		name := t.Member(m).Pod.Name
		if !slices.Contains(members, m) {
			bad("placing "+name, "placing the members that were given")
		}
		if _, in := slices.BinarySearch(d.Nodes, t.At(m)); !in {
			bad("placing "+name+" on "+t.Index().Node(t.At(m)).Name, "placing on nodes of domain "+d.Name)
		}
	}
	return n
}
