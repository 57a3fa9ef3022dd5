package preemption_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// bomb is what every hook below calls, each time that it is called. Its calls are counted,
// and where it is armed the one of a number goes off.
type bomb struct {
	mu    sync.Mutex
	calls int
	at    int // 0: it is not armed
	goOff func()
}

func (b *bomb) tick() {
	b.mu.Lock()
	b.calls++
	off := b.calls == b.at
	b.mu.Unlock()
	if off {
		b.goOff()
	}
}

// arm lets the call go off that is that number from now on.
func (b *bomb) arm(at int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls, b.at = 0, at
}

// bombConstraint is a constraint one of whose methods ticks. It says nothing against
// anybody, but where Hopeless is to be asked.
type bombConstraint struct {
	*bomb
	only string // the method
}

func (c bombConstraint) tick(method string) {
	if c.only == method {
		c.bomb.tick()
	}
}

func (c bombConstraint) Name() domain.Check { c.tick("Name"); return "bomb" }
func (c bombConstraint) Prepare(*cluster.Index, []*cluster.Pod) (domain.State, error) {
	c.tick("Prepare")
	return c, nil
}
func (c bombConstraint) Remove(cluster.PodID, cluster.NodeID)    { c.tick("Remove") }
func (c bombConstraint) Return(cluster.PodID, cluster.NodeID)    { c.tick("Return") }
func (c bombConstraint) Place(domain.MemberID, cluster.NodeID)   { c.tick("Place") }
func (c bombConstraint) Unplace(domain.MemberID, cluster.NodeID) { c.tick("Unplace") }
func (c bombConstraint) Clone() domain.State                     { c.tick("Clone"); return c }
func (c bombConstraint) Scope() domain.Scope {
	c.tick("Scope")
	return domain.Scope{}
}
func (c bombConstraint) Touches(cluster.NodeID) bool { c.tick("Touches"); return true }
func (c bombConstraint) OrderMatters() bool          { c.tick("OrderMatters"); return true }
func (c bombConstraint) TouchesPod(cluster.PodID, cluster.NodeID) bool {
	c.tick("TouchesPod")
	return true
}
func (c bombConstraint) Fits(_ domain.MemberID, n cluster.NodeID) domain.Reason {
	c.tick("Fits")
	if c.only == "Hopeless" && n == 3 {
		return domain.Reason{Check: "bomb"}
	}
	return domain.Reason{}
}
func (c bombConstraint) Hopeless(domain.MemberID, cluster.NodeID) domain.Reason {
	c.tick("Hopeless")
	return domain.Reason{}
}

type (
	bombPlacer     struct{ *bomb }
	bombEligible   struct{ *bomb }
	bombOrder      struct{ *bomb }
	bombComparison struct{ *bomb }
	bombCost       struct{ *bomb }
	bombSplitter   struct{ *bomb }
	bombObserver   struct{ *bomb }
)

func (b bombPlacer) Place(t *domain.GangTrial, d *domain.Domain, offers domain.Offers, members []domain.MemberID, most int) int {
	n := domain.Pack{}.Place(t, d, offers, members, most)
	b.tick() // with some members placed
	return n
}

func (b bombEligible) Kept(us *victims.Units, u victims.UnitID, p victims.Claim) victims.Kept {
	b.tick()
	return victims.LowerPriority{}.Kept(us, u, p)
}

func (b bombOrder) Compare(us *victims.Units, x, y victims.UnitID) int {
	b.tick()
	return victims.Upstream{}.Compare(us, x, y)
}

func (b bombComparison) Compare(x, y victims.Score) int { b.tick(); return x.Compare(y) }

func (b bombCost) Price(_ *cluster.Index, _ cluster.GroupID, pods []cluster.PodID) int64 {
	b.tick()
	return int64(len(pods))
}

func (b bombSplitter) Split(dst []domain.Domain, ix *cluster.Index) []domain.Domain {
	b.tick()
	return domain.WholeCluster{}.Split(dst, ix)
}

func (b bombObserver) Now() time.Time                  { b.tick(); return time.Unix(0, 0) }
func (b bombObserver) Answered(preemption.Observation) { b.tick() }

// bombs is every hook, by its field and what of it ticks.
func bombs(b *bomb) map[string]*preemption.Hooks {
	list := map[string]*preemption.Hooks{
		"Filter":   {Filter: func(*preemption.Pod, *preemption.Node) bool { b.tick(); return true }},
		"Placer":   {Placer: bombPlacer{b}},
		"Eligible": {Eligible: bombEligible{b}},
		"Order":    {Order: bombOrder{b}},
		"Compare":  {Compare: bombComparison{b}},
		"Prefer":   {Prefer: func(*cluster.Index, *preemption.Pod, cluster.NodeID) int64 { b.tick(); return 0 }},
		"Cost":     {Cost: bombCost{b}},
		"Splitter": {Splitter: bombSplitter{b}},
		"Observer": {Observer: bombObserver{b}},
	}
	for _, method := range []string{"Prepare", "Remove", "Return", "Place", "Unplace", "Fits", "Scope", "Hopeless", "Touches", "TouchesPod"} {
		list["Constraints "+method] = &preemption.Hooks{Constraints: []domain.Constraint{bombConstraint{b, method}}}
	}
	for _, h := range list {
		counting.Store(h, nil)
	}
	return list
}

// bombWorld is full: pods of two priorities, a gang that runs, one that waits, and a pod.
func bombWorld() *preemption.Snapshot {
	low, middle, high, two := int32(1), int32(2), int32(9), int32(2)
	s := &preemption.Snapshot{
		Time: time.Unix(1000, 0),
		PodGroups: []preemption.PodGroup{
			{Namespace: "ns", Name: "g", MinCount: &two, Priority: &high}, {Namespace: "ns", Name: "old", MinCount: &two, Priority: &low, Mode: "All"},
		},
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "a100"}},
		ClusterQueues:   []preemption.ClusterQueue{{Name: "research", Groups: gpus(16)}},
		LocalQueues:     []preemption.LocalQueue{{Namespace: "ns", Name: "lab", ClusterQueue: "research"}},
		Workloads: []preemption.Workload{{
			Namespace: "ns", Name: "paper", Queue: "lab", PodSets: []preemption.PodSet{{Name: "workers", Count: 16, Requests: preemption.Resources{"gpu": 1}}},
		}},
	}
	pod := func(name, node, group string, priority *int32, cpu int64) {
		s.Pods = append(s.Pods, preemption.Pod{Namespace: "ns", Name: name, Node: node, Group: group, Priority: priority, Requests: preemption.Resources{"cpu": cpu}})
	}
	for i := range 4 {
		node := fmt.Sprint("n", i)
		s.Nodes = append(s.Nodes, cluster.Node{Name: node, Allocatable: preemption.Resources{"cpu": 4}})
		pod("low"+node, node, "", &low, 1)
		pod("other"+node, node, "", &middle, 1)
		pod("twin"+node, node, "", &middle, 1)
		pod("member"+node, node, "old", &low, 1)
	}
	for i := range 3 {
		pod(fmt.Sprint("g", i), "", "g", &high, 2)
	}
	pod("x", "", "", &high, 2)
	pod("y", "", "", &high, 2)
	return s
}

var (
	askedPod  = preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ns", Name: "x"}
	askedTwin = preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ns", Name: "y"}
	askedGang = preemption.Preemptor{Kind: cluster.KindPodGroup, Namespace: "ns", Name: "g"}
)

// bombMethods is every method that may call a hook. plan is an answer about the pod.
var bombMethods = map[string]func(pl *preemption.Planner, o preemption.Options, plan *preemption.Result) (any, error){
	"NewPlanner": func(_ *preemption.Planner, o preemption.Options, _ *preemption.Result) (any, error) {
		pl, err := preemption.NewPlanner(bombWorld(), o)
		if pl == nil {
			return nil, err
		}
		return nil, err
	},
	"Options.Preempt": func(_ *preemption.Planner, o preemption.Options, _ *preemption.Result) (any, error) {
		return none(o.Preempt(askedGang, bombWorld()))
	},
	"Preempt pod": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		return none(pl.Preempt(askedPod))
	},
	"Preempt gang": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		return none(pl.Preempt(askedGang))
	},
	"PreemptAll": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		list, err := pl.PreemptAll([]preemption.Preemptor{askedGang, askedPod, askedTwin})
		if list == nil {
			return nil, err
		}
		return list, err
	},
	"Decide pod": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		return noDecision(pl.Decide(askedPod))
	},
	"Decide gang": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		return noDecision(pl.Decide(askedGang))
	},
	"Park": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		return noDecision(pl.Park(askedPod))
	},
	"WhyNot node": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		return noWhy(pl.WhyNot(askedPod, preemption.NodeTarget("n3")))
	},
	"WhyNot unit": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		return noWhy(pl.WhyNot(askedGang, preemption.UnitTarget("ns/othern1")))
	},
	"Gather": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		g := pl.Gather()
		for _, name := range []string{"g0", "g1"} {
			r, err := g.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ns", Name: name})
			if err != nil {
				return none(r, err)
			}
		}
		return none(g.Plan())
	},
	"Cycle": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		list, err := pl.Cycle([]preemption.Preemptor{{Kind: preemption.KindWorkload, Namespace: "ns", Name: "paper"}})
		if list == nil {
			return nil, err
		}
		return list, err
	},
	"StillValid": func(pl *preemption.Planner, _ preemption.Options, plan *preemption.Result) (any, error) {
		v, err := pl.StillValid(plan)
		if v == (preemption.Validity{}) {
			return nil, err
		}
		return v, err
	},
	"Apply": func(pl *preemption.Planner, _ preemption.Options, plan *preemption.Result) (any, error) {
		return nil, pl.Apply(plan)
	},
	"Evict": func(pl *preemption.Planner, _ preemption.Options, plan *preemption.Result) (any, error) {
		return nil, pl.Evict(plan)
	},
	"SetPod": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		return nil, pl.SetPod(preemption.Pod{Namespace: "ns", Name: "late", Node: "n0", Requests: preemption.Resources{"cpu": 1}})
	},
	"Remove": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		return nil, pl.Remove(preemption.PodRef{Namespace: "ns", Name: "membern2"})
	},
	"Requeue": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		return nil, pl.Requeue(preemption.PodRef{Namespace: "ns", Name: "membern2"})
	},
	"SetTime": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		return nil, pl.SetTime(time.Unix(2000, 0))
	},
	"SetNode": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		return nil, pl.SetNode(cluster.Node{Name: "n9", Allocatable: preemption.Resources{"cpu": 4}})
	},
	"RemoveNodeAndPods": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		_, err := pl.RemoveNodeAndPods("n1")
		return nil, err
	},
	"RemovePodGroup": func(pl *preemption.Planner, _ preemption.Options, _ *preemption.Result) (any, error) {
		return nil, pl.RemovePodGroup("ns", "old")
	},
}

func none(r *preemption.Result, err error) (any, error) {
	if r == nil {
		return nil, err
	}
	return r, err
}

func noWhy(why *preemption.Why, err error) (any, error) {
	if why == nil {
		return nil, err
	}
	return why, err
}

func noDecision(d preemption.Decision, err error) (any, error) {
	if d == (preemption.Decision{}) {
		return nil, err
	}
	return d, err
}

// inWords is everything that a planner says of itself.
func inWords(t *testing.T, pl *preemption.Planner, answer any) string {
	t.Helper()
	all := []any{answer, pl.Snapshot()}
	for _, p := range []preemption.Preemptor{askedPod, askedGang} {
		r, err := none(pl.Preempt(p))
		all = append(all, r, fmt.Sprint(err))
	}
	b, err := json.Marshal(all)
	require.NoError(t, err)
	return string(b)
}

// TestHooksThatPanicAreNamed: whatever hook panics, in whatever method and at whatever call, the
// method comes to an error that names it, nothing has changed, and the next time it comes to
// what it comes to where nobody panics.
func TestHooksThatPanicAreNamed(t *testing.T) {
	cause := errors.New(strings.Repeat("boom ", 1000))
	for name := range bombs(&bomb{}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			field, _, _ := strings.Cut(name, " ")
			methods := 0
			for method, call := range bombMethods {
				b := &bomb{goOff: func() { panic(cause) }}
				o := preemption.Options{Hooks: bombs(b)[name]}
				fresh := func() *preemption.Planner {
					b.arm(0)
					pl, err := preemption.NewPlanner(bombWorld(), o)
					require.NoError(t, err)
					return pl
				}
				before := inWords(t, fresh(), nil)
				pl := fresh()
				plan, err := pl.Fork().Preempt(askedPod)
				require.NoError(t, err)
				require.Equal(t, preemption.Feasible, plan.Verdict)
				b.arm(0)
				answer, err := call(pl, o, plan)
				require.NoError(t, err, method)
				calls := b.calls
				after := inWords(t, pl, answer)
				if calls > 0 {
					methods++
				}
				for _, at := range []int{1, 2, calls / 2, calls} {
					if at < 1 || at > calls {
						continue
					}
					where := fmt.Sprintf("%s, call %d of %d", method, at, calls)
					pl := fresh()
					b.arm(at)
					nothing, err := call(pl, o, plan)
					var hook *preemption.HookError
					require.ErrorAs(t, err, &hook, where)
					require.Equal(t, field, hook.Hook, where)
					require.ErrorIs(t, err, cause, where)
					require.Contains(t, err.Error(), "preemption: Options.Hooks."+field+": panic: boom boom", where)
					require.Less(t, len(hook.Error()), 300, where)
					require.Contains(t, string(hook.Stack), "bomb).tick", where)
					require.Nil(t, nothing, where)
					b.arm(0)
					require.Equal(t, before, inWords(t, pl, nil), where)
					answer, err := call(pl, o, plan)
					require.NoError(t, err, where)
					require.Equal(t, after, inWords(t, pl, answer), where)
				}
			}
			require.Positive(t, methods, "nobody calls it")
			t.Logf("called by %d methods", methods)
		})
	}
}

// TestPanicsOfHooksInWords: whatever a hook panics with is told as far as it can be.
func TestPanicsOfHooksInWords(t *testing.T) {
	for want, value := range map[string]any{
		"boom": "boom", "7": 7, "1s": time.Second, "a []int": []int{1}, "a *int": new(int), "a map[string]int": map[string]int{},
		"panic called with nil argument": nil,
	} {
		o := preemption.Options{Hooks: &preemption.Hooks{Filter: func(*preemption.Pod, *preemption.Node) bool { panic(value) }}}
		_, err := o.Preempt(askedPod, bombWorld())
		require.EqualError(t, err, "preemption: Options.Hooks.Filter: panic: "+want)
	}
}

// TestPanicsInParallel: a filter that is asked by several goroutines at once is named by
// the first of the nodes that it panics about.
func TestPanicsInParallel(t *testing.T) {
	s := &preemption.Snapshot{}
	for i := range 20_000 {
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprintf("n%05d", i), Allocatable: preemption.Resources{"cpu": 1}})
	}
	high := int32(9)
	x := preemption.Preemptor{Pods: []preemption.Pod{{Name: "x", Priority: &high, Requests: preemption.Resources{"cpu": 2}}}}
	from := "n"
	o := preemption.Options{Hooks: &preemption.Hooks{Filter: func(_ *preemption.Pod, n *preemption.Node) bool {
		if n.Name >= from {
			panic(n.Name)
		}
		return true
	}}}
	pl, err := preemption.NewPlanner(s, o)
	require.NoError(t, err)
	for _, from = range []string{"n00000", "n03000", "n17000", "n19999"} {
		for range 3 {
			_, err := pl.Fork().Preempt(x)
			require.EqualError(t, err, "preemption: Options.Hooks.Filter: panic: "+from)
		}
	}
	from = "o"
	r, err := pl.Preempt(x)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, r.Verdict)
}

// TestHooksMayExit: a goroutine that a hook ends, as a failing test does, ends, and holds nothing.
func TestHooksMayExit(t *testing.T) {
	for name := range bombs(&bomb{}) {
		for _, method := range []string{"Preempt pod", "Preempt gang", "Remove"} {
			b := &bomb{goOff: runtime.Goexit}
			o := preemption.Options{Hooks: bombs(b)[name]}
			pl, err := preemption.NewPlanner(bombWorld(), o)
			require.NoError(t, err)
			before := inWords(t, pl.Fork(), nil)
			b.arm(1)
			returned, done := false, make(chan bool)
			go func() {
				defer close(done)
				_, _ = bombMethods[method](pl, o, nil)
				returned = true
			}()
			<-done
			exited := b.calls >= 1
			require.Equal(t, exited, !returned, "%s of %s", method, name)
			b.arm(0)
			if exited {
				after := inWords(t, pl, nil)
				require.Equal(t, before, after, "%s of %s", method, name)
			}
		}
	}
}
