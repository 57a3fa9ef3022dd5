package reprieve_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/scenario"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// small is a small cluster in the notation of package scenario, its units and budgets
// under the newest rules, and the pods that want in.
type small struct {
	ix       *cluster.Index
	units    *victims.Units
	budgets  *victims.Budgets
	runner   *reprieve.Runner
	asks     []cluster.Pod
	attempts []string // to return a unit, in turn: "a back", "b! stays" if it violates a budget
}

func read(t *testing.T, text string) *small {
	t.Helper()
	q, err := scenario.Parse("small", "# A small cluster.\n"+text)
	require.NoError(t, err)
	s := &small{}
	for _, p := range q.Preemptors {
		s.asks = append(s.asks, p.Pods...)
	}
	s.ix, err = cluster.NewIndex(&q.Snapshot)
	require.NoError(t, err)
	s.units, s.budgets = victims.NewUnits(s.ix, victims.Units137, victims.Worth{}), victims.NewBudgets(s.ix, disruption.Rule137)
	s.runner = reprieve.NewRunner(s.units, s.budgets)
	s.runner.Observe = func(u victims.UnitID, violates bool, why domain.Reason) {
		mark, what := "", "back"
		if violates {
			mark = "!"
		}
		if !why.OK() {
			what = "stays"
		}
		s.attempts = append(s.attempts, s.spell([]victims.UnitID{u})+mark+" "+what)
	}
	return s
}

// onNode is the what-if of the first pod that asks, on node n1.
func (s *small) onNode() *domain.NodeTrial {
	t := domain.NewNodeTrial(s.ix, domain.NewMember(s.ix, &s.asks[0], cluster.NoPod), nil, domain.Nominees{Self: cluster.NoPod, Priority: math.MaxInt32})
	t.Reset(s.ix.NodeByName("n1"))
	return t
}

// potential are the units with a pod on node n1 below a priority.
func (s *small) potential(below int32) []victims.UnitID {
	return slices.Clone(s.units.Potential(s.ix.NodeByName("n1"), below))
}

// spell names units by the pods of theirs that are out: "a t0+t1" is pod a, then t0 and t1.
func (s *small) spell(list []victims.UnitID) string {
	var units []string
	for _, u := range list {
		var pods []string
		for _, p := range s.runner.Parts().Of(s.units, u) {
			pods = append(pods, s.ix.Pod(p).Name)
		}
		units = append(units, strings.Join(pods, "+"))
	}
	return strings.Join(units, " ")
}

func (s *small) outcome(out reprieve.Outcome) string {
	return fmt.Sprintf("%s; violations %d", s.spell(out.Victims), out.Violations)
}

// world is a what-if by a rule that need not be monotone: it is told who is in place.
type world struct {
	ix   *cluster.Index
	here map[string]bool
	rule func(here func(...string) bool) bool
	asks int
}

func newWorld(ix *cluster.Index, rule func(here func(...string) bool) bool) *world {
	w := &world{ix: ix, here: map[string]bool{}, rule: rule}
	for p := range ix.Pods() {
		w.here[ix.Pod(p).Name] = true
	}
	return w
}

func (w *world) Remove(p cluster.PodID) { w.here[w.ix.Pod(p).Name] = false }
func (w *world) Return(p cluster.PodID) { w.here[w.ix.Pod(p).Name] = true }

func (w *world) Fits() domain.Reason {
	w.asks++
	all := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return !w.here[name] })
	}
	if w.rule(all) {
		return domain.Reason{}
	}
	return domain.Reason{Check: domain.CheckAffinity}
}
