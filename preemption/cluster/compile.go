package cluster

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/priority"
)

// NewIndex checks s and compiles it; a nil s is an empty cluster. The error joins every problem of s, each a
// [*FieldError], in an order that does not depend on that of s; what is odd but
// occurs in live clusters is listed in [Index.Warnings] instead.
//
// The index keeps pointers into s, which must not be changed while it is in use. Many
// pods are read by as many goroutines as GOMAXPROCS allows, none of which outlives the
// call.
//
// O(k) for k objects whose pods are in order of namespace and name, O(k log k) for
// others.
func NewIndex(s *Snapshot) (*Index, error) { return NewIndexOf(s.Objects()) }

// NewIndexOf is NewIndex for objects that do not stand in a Snapshot. It may reorder
// the slices of s.
func NewIndexOf(s Objects) (*Index, error) {
	return compile(s, ranges.Parts(len(s.Pods), fewPods))
}

// fewPods are read by one goroutine.
const fewPods = 4096

// compile is NewIndexOf by a number of goroutines, each for a part of pods and nodes.
func compile(s Objects, parts int) (*Index, error) {
	var nils problems
	if validateNils(&nils, &s); len(nils) > 0 {
		return nil, nils.err()
	}
	ps := validate(&s)
	classes, err := priority.NewClasses(s.PriorityClasses)
	if err != nil {
		addClassProblems(&ps, err)
	}
	ix := &Index{time: s.Time, now: Nanos(s.Time), classes: classes, disruptions: s.Disruptions, hole: NoPod, lazy: &lazy{}}
	ix.source = s
	ix.source.Nodes, ix.source.Pods, ix.source.Budgets = nil, nil, nil
	ix.orderNodes(&ps, s.Nodes)
	ix.compileGroups(&s)
	checkDevices(&ps, s.Nodes)
	names := offered(s.Nodes)
	if !checkAmounts(&ps, len(s.Nodes), len(s.Pods), len(names)) {
		return nil, ps.err()
	}
	readers := ix.readPods(&ps, s.Pods, names, parts)
	ix.fillNodes(&ps, s.Nodes)
	if err := ps.err(); err != nil {
		return nil, err
	}
	nominees, onNode := ix.gather(&ps, readers)
	ix.placePods(&ps, nominees, onNode, parts)
	ix.layOutDevices()
	ix.finishGroups(&ps)
	if !ix.SetBudgets(s.Budgets) {
		complainOfCrowd(&ps, s.Budgets)
	}
	ix.setNamespaces(s.Namespaces)
	if err := ps.err(); err != nil {
		return nil, err
	}
	sortWarnings(ix.warnings)
	return ix, nil
}

// Nanos is t in nanoseconds since 1970, saturating at the ends of int64. The zero
// time is unknown and counts as later than every other.
func Nanos(t time.Time) int64 {
	if t.IsZero() {
		return math.MaxInt64
	}
	switch s := t.Unix(); {
	case s > math.MaxInt64/1_000_000_000-1:
		return math.MaxInt64
	case s < math.MinInt64/1_000_000_000+1:
		return math.MinInt64
	}
	return t.UnixNano()
}

// addClassProblems turns what package priority complains about into FieldErrors.
func addClassProblems(ps *problems, err error) {
	errs := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		errs = joined.Unwrap()
	}
	for _, err := range errs {
		var fe *priority.FieldError
		if errors.As(err, &fe) {
			ps.object(KindPriorityClass, "", fe.Class).wrap(err, fe.Field, fe.Value, fe.Want)
			continue
		}
		ps.object(KindPriorityClass, "", "").wrap(err, "", err.Error(), "valid")
	}
}

// SetBudgets sets the budgets, each valid by itself and of its own name, and reports whether
// it could: more than are read may not ask for the same label. The numbers of budgets
// change. list is not kept.
func (ix *Index) SetBudgets(list []disruption.Budget) bool {
	list = slices.Clone(list)
	slices.SortFunc(list, disruption.Compare)
	set, _ := disruption.NewSet(list) // its selectors were checked before
	if _, _, crowd := set.Crowded(); crowd > mostBudgets {
		return false
	}
	ix.budgets, ix.budgetSet = list, set
	return true
}

// complainOfCrowd says which budgets are too many.
func complainOfCrowd(ps *problems, list []disruption.Budget) {
	set, _ := disruption.NewSet(list)
	namespace, label, crowd := set.Crowded()
	want := "at most " + number(mostBudgets) + " of a namespace that ask for no label"
	if label != "" {
		want = "at most " + number(mostBudgets) + " of a namespace that ask for no label that is rarer than " + quote(label)
	}
	ps.object(KindNamespace, "", namespace).bad("Budgets", number(crowd), want)
}
