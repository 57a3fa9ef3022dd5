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

// HookError says which hook broke its contract or panicked, and what it returned or did. The
// planner is as it was before the question or the change, and no lock is held.
type HookError struct {
	Hook  string // the field of [Hooks]
	Value string // what it returned or did; "panic: " and what it panicked with
	Want  string // what was expected; empty where it panicked

	Err   error  // what it panicked with, where that is an error
	Stack []byte // where it panicked, as [runtime/debug.Stack] tells it
}

// Error names the hook, what it did and what was expected.
func (e *HookError) Error() string {
	text := "preemption: Options.Hooks." + e.Hook + ": " + words.Short(e.Value)
	if e.Want != "" {
		text += " is not " + words.Short(e.Want)
	}
	return text
}

// Unwrap is the error that the hook panicked with, if it was one.
func (e *HookError) Unwrap() error { return e.Err }

// broken makes a question fail: hook has broken its contract.
func broken(hook, value, want string) {
	panic(&ranges.Stop{Err: &HookError{Hook: hook, Value: value, Want: want}})
}

// caught is deferred where questions and changes begin: what a hook did wrong becomes their
// error, and so does that they were stopped.
func caught(err *error) {
	if e := recover(); e != nil {
		*err = faultOf(e)
	}
}

// caughtAnswer is caught for a method that has an answer: there is none then.
func caughtAnswer[T any](answer *T, err *error) {
	if e := recover(); e != nil {
		*err, *answer = faultOf(e), *new(T)
	}
}

// faultOf is the error of what a question panicked with. Whatever is neither a hook's nor a stop
// is a mistake of the library, and goes on.
func faultOf(e any) error {
	switch e := e.(type) {
	case *ranges.Stop:
		return e.Err
	case *domain.Misuse:
		return &HookError{Hook: map[string]string{"Placer": "Placer", "Constraint": "Constraints"}[e.By], Value: e.Value, Want: e.Want}
	}
	panic(e)
}

// checkedSplitter is the user's splitter; what it returns is checked.
type checkedSplitter struct{ domain.Splitter }

func (s checkedSplitter) Split(dst []domain.Domain, ix *cluster.Index) []domain.Domain {
	list := s.split(ix)
	in := make([]bool, ix.NumNodes())
	for _, d := range list {
		bad := func(n cluster.NodeID, want string) {
			broken("Splitter", fmt.Sprintf("node %d in domain %q", n, d.Name), want)
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

func (s checkedSplitter) split(ix *cluster.Index) []domain.Domain {
	defer panicked("Splitter")
	return s.Splitter.Split(nil, ix)
}

// checkedPlacer is the user's placer; what it does is checked.
type checkedPlacer struct{ domain.Placer }

func (p checkedPlacer) Place(t *domain.GangTrial, d *domain.Domain, offers domain.Offers, members []domain.MemberID, most int) int {
	before := slices.Clone(t.Placed())
	n := p.place(t, d, offers, members, most)
	bad := func(value, want string) { broken("Placer", value, want) }
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

func (p checkedPlacer) place(t *domain.GangTrial, d *domain.Domain, offers domain.Offers, members []domain.MemberID, most int) int {
	defer panicked("Placer")
	return p.Placer.Place(t, d, offers, members, most)
}
