package preemption

import (
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
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

// declared reports whether h has hooks that say what they read, and no others: a filter, and
// constraints that declare whom they concern.
func (h *Hooks) declared() bool {
	rest := *h
	rest.Filter, rest.Constraints = nil, nil
	return h.Decide() && !rest.Decide() && !slices.ContainsFunc(h.Constraints, func(c domain.Constraint) bool {
		_, declares := c.(domain.Concerned)
		return !declares
	})
}

// HookError says which hook broke its contract or panicked, and what it returned or did. The
// planner is as it was before the question or the change, and no lock is held.
type HookError struct {
	Hook  string // the field of [Hooks]; empty: it is not known which
	Value string // what it returned or did; "panic: " and what it panicked with
	Want  string // what was expected; empty where it panicked

	Err   error  // what it panicked with, where that is an error
	Stack []byte // where it panicked, as [runtime/debug.Stack] tells it
}

// Error names the hook, what it did and what was expected.
func (e *HookError) Error() string {
	text := "preemption: " + strings.TrimSuffix("Options.Hooks."+e.Hook, ".") + ": " + words.Short(e.Value)
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

// The types from here on stand in for the hooks of a user: what a hook panics with becomes the
// error that names it. Where no hook is set nothing stands between.

// panicked is deferred where a hook is called. What it panics with itself ends the question;
// what came through it, from another hook or from a trial that it misused, goes on, as does
// [runtime.Goexit].
func panicked(hook string) {
	switch e := recover().(type) {
	case nil:
	case *ranges.Stop, *domain.Misuse:
		panic(e)
	default:
		err, _ := e.(error)
		panic(&ranges.Stop{Err: &HookError{Hook: hook, Value: "panic: " + spelled(e), Err: err, Stack: debug.Stack()}})
	}
}

// spelled is what a hook panicked with in words, as far as the runtime would print it, too.
func spelled(e any) string {
	switch e.(type) {
	case error, fmt.Stringer:
		return fmt.Sprint(e)
	}
	switch k := reflect.TypeOf(e).Kind(); {
	case k <= reflect.Complex128, k == reflect.String:
		return fmt.Sprint(e)
	}
	return fmt.Sprintf("a %T", e)
}

// filter and the others return what stands in for a hook, nil where it is not set.
func (h *Hooks) filter() domain.Filter {
	if h.Filter == nil {
		return nil
	}
	return func(pod *Pod, node *Node) bool {
		defer panicked("Filter")
		return h.Filter(pod, node)
	}
}

func (h *Hooks) prefer() func(*cluster.Index, *Pod, cluster.NodeID) int64 {
	if h.Prefer == nil {
		return nil
	}
	return func(ix *cluster.Index, pod *Pod, n cluster.NodeID) int64 {
		defer panicked("Prefer")
		return h.Prefer(ix, pod, n)
	}
}

func (h *Hooks) eligible() victims.Eligible {
	switch h.Eligible.(type) {
	case nil, victims.LowerPriority: // which others ask for by its type
		return h.Eligible
	}
	return namedEligible{h.Eligible}
}

func (h *Hooks) order() victims.Order {
	if h.Order == nil {
		return nil
	}
	return namedOrder{h.Order}
}

func (h *Hooks) compare() victims.Comparison {
	if h.Compare == nil {
		return nil
	}
	return namedComparison{h.Compare}
}

func (h *Hooks) cost() victims.Cost {
	switch h.Cost.(type) {
	case nil, victims.Tariff: // which others ask for by its type
		return h.Cost
	}
	return namedCost{h.Cost}
}

func (h *Hooks) constraints() []domain.Constraint {
	var list []domain.Constraint
	for _, c := range h.Constraints {
		switch c := c.(type) {
		case domain.Colocation:
			list = append(list, namedColocation(c))
		case *domain.Colocation:
			list = append(list, namedColocation(*c))
		default:
			list = append(list, namedConstraint{c})
		}
	}
	return list
}

// namedColocation stands in for a user's rule.
func namedColocation(c domain.Colocation) domain.Colocation {
	of, allows := c.Of, c.Allows
	if of != nil {
		c.Of = func(pod *Pod) bool {
			defer panicked("Constraints")
			return of(pod)
		}
	}
	c.Allows = func(pod *Pod, node *Node, others []*Pod) bool {
		defer panicked("Constraints")
		return allows(pod, node, others)
	}
	return c
}

type namedEligible struct{ victims.Eligible }

func (e namedEligible) Kept(us *victims.Units, u victims.UnitID, p victims.Claim) victims.Kept {
	defer panicked("Eligible")
	return e.Eligible.Kept(us, u, p)
}

type namedOrder struct{ victims.Order }

func (o namedOrder) Compare(us *victims.Units, a, b victims.UnitID) int {
	defer panicked("Order")
	return o.Order.Compare(us, a, b)
}

type namedComparison struct{ victims.Comparison }

func (c namedComparison) Compare(a, b victims.Score) int {
	defer panicked("Compare")
	return c.Comparison.Compare(a, b)
}

type namedCost struct{ victims.Cost }

func (c namedCost) Price(ix *cluster.Index, group cluster.GroupID, pods []cluster.PodID) int64 {
	defer panicked("Cost")
	return c.Cost.Price(ix, group, pods)
}

type namedConstraint struct{ domain.Constraint }

func (c namedConstraint) Name() domain.Check {
	defer panicked("Constraints")
	return c.Constraint.Name()
}

// Concerns is for [domain.Concerned].
func (c namedConstraint) Concerns(pod *Pod) bool {
	defer panicked("Constraints")
	return domain.Concerns(c.Constraint, []*Pod{pod})
}

func (c namedConstraint) Prepare(ix *cluster.Index, members []*cluster.Pod) (domain.State, error) {
	defer panicked("Constraints")
	s, err := c.Constraint.Prepare(ix, members)
	if s == nil || err != nil {
		return nil, err
	}
	return namedStateOf(s), nil
}

// namedState stands in for the state of a user's constraint. The optional parts that are not
// there answer as if they were not.
type namedState struct{ domain.State }

// namedToucher is the same for a state that is a [domain.Toucher].
type namedToucher struct {
	namedState
	toucher domain.Toucher
}

func namedStateOf(s domain.State) domain.State {
	of := reflect.TypeOf(s)
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.PkgPath() == reflect.TypeFor[domain.Scope]().PkgPath() && !domain.IsColocated(s) { // the library's, with parts that are its own
		return s
	}
	if t, ok := s.(domain.Toucher); ok {
		return namedToucher{namedState{s}, t}
	}
	return namedState{s}
}

func (s namedState) Remove(p cluster.PodID, n cluster.NodeID) {
	defer panicked("Constraints")
	s.State.Remove(p, n)
}

func (s namedState) Return(p cluster.PodID, n cluster.NodeID) {
	defer panicked("Constraints")
	s.State.Return(p, n)
}

func (s namedState) Place(m domain.MemberID, n cluster.NodeID) {
	defer panicked("Constraints")
	s.State.Place(m, n)
}

func (s namedState) Unplace(m domain.MemberID, n cluster.NodeID) {
	defer panicked("Constraints")
	s.State.Unplace(m, n)
}

func (s namedState) Fits(m domain.MemberID, n cluster.NodeID) domain.Reason {
	defer panicked("Constraints")
	return s.State.Fits(m, n)
}

func (s namedState) Clone() domain.State {
	defer panicked("Constraints")
	return namedStateOf(s.State.Clone())
}

func (s namedState) Scope() domain.Scope {
	defer panicked("Constraints")
	return s.State.Scope()
}

// Hopeless is for [domain.Bounder].
func (s namedState) Hopeless(m domain.MemberID, n cluster.NodeID) domain.Reason {
	defer panicked("Constraints")
	if b, ok := s.State.(domain.Bounder); ok {
		return b.Hopeless(m, n)
	}
	return domain.Reason{}
}

// OrderMatters is for [domain.Orderer].
func (s namedState) OrderMatters() bool {
	defer panicked("Constraints")
	o, ok := s.State.(domain.Orderer)
	return ok && o.OrderMatters()
}

func (s namedToucher) Touches(n cluster.NodeID) bool {
	defer panicked("Constraints")
	return s.toucher.Touches(n)
}

func (s namedToucher) TouchesPod(p cluster.PodID, n cluster.NodeID) bool {
	defer panicked("Constraints")
	return s.toucher.TouchesPod(p, n)
}

// namedObserver stands in for an observer.
type namedObserver struct{ Observer }

func (o namedObserver) Now() time.Time {
	defer panicked("Observer")
	return o.Observer.Now()
}

func (o namedObserver) Answered(seen Observation) {
	defer panicked("Observer")
	o.Observer.Answered(seen)
}
