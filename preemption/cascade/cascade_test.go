package cascade_test

import (
	"errors"
	"fmt"
	"log"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cascade"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/clustertest"
)

func TestMain(m *testing.M) { gen.Tests(m) }

// run is a cascade on a planner of its own, whose answers are verified.
type run struct {
	*cascade.Cascade
	planner *preemption.Planner
	before  map[preemption.PodRef]string // where everybody was
}

func begin(t *testing.T, seed uint64, q gen.Question, o cascade.Options) *run {
	t.Helper()
	planner, err := preemption.NewPlanner(&q.Snapshot, preemption.Options{})
	require.NoError(t, err)
	r := &run{planner: planner, before: places(planner)}
	o.Look = func(p preemption.Preemptor, answer *preemption.Result) {
		require.Empty(t, check.Verify(planner.Snapshot(), preemption.Options{}, p, answer), "seed %d", seed)
	}
	r.Cascade, err = cascade.New(planner, o)
	require.NoError(t, err)
	return r
}

func places(planner *preemption.Planner) map[preemption.PodRef]string {
	at := map[preemption.PodRef]string{}
	for _, p := range planner.Snapshot().Pods {
		at[preemption.PodRef{Namespace: p.Namespace, Name: p.Name}] = p.Node
	}
	return at
}

// question draws one about a named pending pod; half of the pods have owners.
func question(seed uint64, p gen.Profile) gen.Question {
	q := gen.Random(seed, p)
	for i := range q.Snapshot.Pods {
		if i%2 == 0 {
			q.Snapshot.Pods[i].Owner = &cluster.Owner{Kind: "ReplicaSet", Name: "rs"}
		}
	}
	return q
}

// TestEverybodyIsAccountedFor: whoever was evicted has moved, waits, is gone or was not asked
// about, and is there in the planner's cluster; every cause is there before what it causes; all
// answers are true of the cluster in which they were given.
func TestEverybodyIsAccountedFor(t *testing.T) {
	t.Parallel()
	n := uint64(3000)
	if testing.Short() {
		n /= 10
	}
	var sum cascade.Sum
	deep := 0
	for seed := range n {
		q := question(seed, gen.Profile{MaxNodes: 5, MaxPods: 16, Budgets: seed%3 == 0, Nominations: seed%4 == 0})
		o := cascade.Options{Depth: int(seed % 2)}
		if seed%5 == 0 {
			o.Returns = func(*preemption.Pod) bool { return true }
		}
		r := begin(t, seed, q, o)
		answer, err := r.planner.Preempt(q.Preemptor)
		require.NoError(t, err)
		of, err := cascade.Of(r.planner, answer, o)
		require.NoError(t, err)
		require.Equal(t, r.before, places(r.planner), "seed %d: Of asks a fork", seed)

		require.NoError(t, r.Add(answer))
		require.NoError(t, r.Settle())
		require.Equal(t, of.Outcomes, r.Outcomes, "seed %d", seed)
		s := r.Sum()
		require.Equal(t, s.Evicted, s.Moved+s.Waiting+s.Gone+s.NotAsked, "seed %d", seed)
		if o.Depth > 0 {
			require.LessOrEqual(t, s.Depth, o.Depth+1, "seed %d", seed)
		}

		at, evicts := places(r.planner), map[string]int{}
		for i := range r.Outcomes {
			o := &r.Outcomes[i]
			ref := preemption.PodRef{Namespace: o.Namespace, Name: o.Name}
			if o.Depth > 0 {
				require.Positive(t, evicts[o.Because], "seed %d: %v", seed, o)
				evicts[o.Because]--
			}
			for _, v := range o.Victims {
				evicts[o.Who()] += len(v.Pods)
			}
			switch node, there := at[ref]; {
			case evictedLater(r.Outcomes[i+1:], ref) || o.Status == cascade.Gone && !there:
			case o.Status == cascade.Fits || o.Status == cascade.Preempts:
				require.Equal(t, o.Places[0].Node, node, "seed %d: %v", seed, o)
			default:
				require.Empty(t, node, "seed %d: %v", seed, o)
				require.NotEmpty(t, o.Why)
			}
		}
		for who, left := range evicts {
			require.Zero(t, left, "seed %d: what becomes of those whom %s evicts", seed, who)
		}
		sum.Moved, sum.Waiting, sum.Gone, sum.NotAsked = sum.Moved+s.Moved, sum.Waiting+s.Waiting, sum.Gone+s.Gone, sum.NotAsked+s.NotAsked
		if s.Depth > 1 {
			deep++
		}
	}
	t.Logf("%+v, %d deeper than one", sum, deep)
	for _, some := range []int{sum.Moved, sum.Waiting, sum.Gone, sum.NotAsked, deep} {
		require.Greater(t, some, int(n)/500)
	}
}

func evictedLater(list []cascade.Outcome, ref preemption.PodRef) bool {
	for _, o := range list {
		for _, v := range o.Victims {
			for _, p := range v.Pods {
				if p.PodRef == ref {
					return true
				}
			}
		}
	}
	return false
}

// watch counts feasibility checks, and reads no clock.
type watch struct{ checks int }

func (w *watch) Now() time.Time                    { return time.Time{} }
func (w *watch) Answered(o preemption.Observation) { w.checks += o.Trials }

// TestPlansAloneAreAskedFor: whatever a planner tells, a cascade is the same and takes as many checks, unless somebody looks.
func TestPlansAloneAreAskedFor(t *testing.T) {
	t.Parallel()
	more := 0
	for seed := range uint64(200) {
		q := question(seed, gen.Profile{MaxNodes: 5, MaxPods: 16, Budgets: seed%3 == 0})
		var first *cascade.Cascade
		checks := [3]int{}
		for i := range checks {
			w := &watch{}
			planner, err := preemption.NewPlanner(&q.Snapshot, preemption.Options{Candidates: i > 0, Explain: i > 0, Proof: i > 0, Hooks: &preemption.Hooks{Observer: w}})
			require.NoError(t, err)
			o := cascade.Options{}
			if i > 1 {
				o.Look = func(preemption.Preemptor, *preemption.Result) {}
			}
			r, err := planner.Preempt(q.Preemptor)
			require.NoError(t, err)
			w.checks = 0
			c, err := cascade.Of(planner, r, o)
			require.NoError(t, err)
			if checks[i] = w.checks; i == 0 {
				first = c
			}
			require.Equal(t, first.Outcomes, c.Outcomes, "seed %d", seed)
		}
		require.Equal(t, checks[0], checks[1], "seed %d", seed)
		more += checks[2] - checks[1]
	}
	require.Positive(t, more)
}

// TestBudgetsFollow: once all is settled a budget has lost one for each of its pods that
// runs no more.
func TestBudgetsFollow(t *testing.T) {
	t.Parallel()
	charged := 0
	for seed := range uint64(300) {
		q := question(seed, gen.Profile{MaxNodes: 5, MaxPods: 16, Budgets: true})
		r := begin(t, seed, q, cascade.Options{})
		answer, err := r.planner.Preempt(q.Preemptor)
		require.NoError(t, err)
		running := map[string]int{}
		count := func(sign int) {
			s := r.planner.Snapshot()
			set, err := disruption.NewSet(s.Budgets)
			require.NoError(t, err)
			for i := range s.Pods {
				if p := &s.Pods[i]; p.Node != "" && p.Name != answer.Preemptor.Name {
					for _, b := range set.Covering(nil, disruption.Rule137, p.Namespace, p.Name, p.Labels) {
						running[s.Budgets[b].Name] += sign
					}
				}
			}
			for _, b := range s.Budgets {
				running[b.Name] -= sign * int(b.Allowed)
			}
		}
		count(1)
		require.NoError(t, r.Add(answer))
		require.NoError(t, r.Settle())
		count(-1)
		for name, n := range running {
			require.Zero(t, n, "seed %d: %s", seed, name)
		}
		charged += r.Sum().Evicted
	}
	require.Positive(t, charged)
}

// A pod that runs in spite of what is wrong with it waits once it is evicted, and the others are
// asked about.
func TestOddPodsWait(t *testing.T) {
	t.Parallel()
	owner, high, low := &cluster.Owner{Kind: "ReplicaSet", Name: "rs"}, int32(9), int32(1)
	planner, err := preemption.NewPlanner(&preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "n1", Allocatable: preemption.Resources{cluster.CPU: 2, cluster.Pods: 10}},
			{Name: "n2", Allocatable: preemption.Resources{cluster.CPU: 1, cluster.Pods: 10}},
		},
		Pods: []preemption.Pod{
			{Namespace: "a", Name: "odd", Node: "n1", Class: "unknown", Owner: owner, Requests: preemption.Resources{cluster.CPU: 1}},
			{Namespace: "a", Name: "low", Node: "n1", Priority: &low, Owner: owner, Requests: preemption.Resources{cluster.CPU: 1}},
		},
		Budgets: []preemption.Budget{{Namespace: "a", Name: "spent", Selector: &disruption.Selector{}, Allowed: math.MinInt32}},
	}, preemption.Options{})
	require.NoError(t, err)
	r, err := planner.Preempt(preemption.Preemptor{Pods: []preemption.Pod{{Namespace: "a", Name: "web", Priority: &high, Requests: preemption.Resources{cluster.CPU: 2}}}})
	require.NoError(t, err)
	c, err := cascade.Of(planner, r, cascade.Options{})
	require.NoError(t, err)
	require.Equal(t, cascade.Sum{Evicted: 2, Moved: 1, Waiting: 1, Depth: 1}, c.Sum())
	require.Contains(t, c.Outcomes[2].Why+c.Outcomes[1].Why, "unknown")

	drained := planner.Fork()
	require.NoError(t, drained.RemoveBudget("a", "spent"))
	c, err = cascade.New(drained, cascade.Options{})
	require.NoError(t, err)
	require.NoError(t, c.Drain([]string{"n1"}))
	require.Contains(t, c.Outcomes[1].Why, "unknown")

	c, err = cascade.New(planner, cascade.Options{})
	require.NoError(t, err)
	require.NoError(t, c.Add(r))
	require.NoError(t, c.Settle())
	require.NoError(t, planner.View(func(v preemption.View) {
		for b := range v.Budgets() {
			require.Negative(t, b.Allowed, "it does not wrap around")
		}
	}))

	r, err = planner.Preempt(preemption.Preemptor{Pods: []preemption.Pod{{Namespace: "a", Name: "huge", Requests: preemption.Resources{cluster.CPU: 9}}}})
	require.NoError(t, err)
	require.NoError(t, c.Add(r))
	last := c.Outcomes[len(c.Outcomes)-1]
	require.Equal(t, cascade.Waits, last.Status)
	require.Equal(t, 1, last.Pods, "the planner does not hold it, and it waits all the same")
}

// lines are what is told of all, in order.
func lines(list []cascade.Outcome) (told []string) {
	for _, o := range list {
		told = append(told, fmt.Sprintf("%d %s %s, %s", o.Depth, o.Name, o.Status, o.Why))
	}
	return told
}

// Each of a line of pods goes to the node of the next one, which is less important. They are followed as far as is asked for,
// and nobody is asked about twice.
func TestEvictionsAreFollowedSoFar(t *testing.T) {
	t.Parallel()
	const length = 4
	only := func(label string) func(*preemption.Pod) {
		return func(p *preemption.Pod) { p.NodeSelector = map[string]string{label: ""} }
	}
	c := clustertest.New().Pod("web").Priority(9).Cores(1).With(only("web")).Pod("db").Priority(9).Cores(1).With(only("db"))
	for i := range length {
		c.Node(fmt.Sprint("n", i)).Cores(1).Label(fmt.Sprint("of", i), "").Label(fmt.Sprint("of", i-1), "").Label([]string{"web", "db", "x", "x"}[i], "")
		c.Pod(fmt.Sprint("p", i)).Priority(int32(8 - i)).Cores(1).With(only(fmt.Sprint("of", i))).On(fmt.Sprint("n", i))
	}
	for depth := range length + 2 {
		planner := c.Planner(t, preemption.Options{})
		all, err := cascade.New(planner, cascade.Options{Depth: depth, Returns: func(*preemption.Pod) bool { return true }})
		require.NoError(t, err)
		asked, err := cascade.New(planner.Fork(), cascade.Options{Questions: depth, Returns: func(*preemption.Pod) bool { return true }})
		require.NoError(t, err)
		require.NoError(t, asked.Ask(cluster.KindPod, "", "web"))
		require.NoError(t, asked.Settle())
		require.NoError(t, all.Ask(cluster.KindPod, "", "web"))
		require.NoError(t, all.Settle())
		for i, o := range all.Outcomes {
			want := cascade.Preempts
			switch {
			case depth > 0 && o.Depth > depth:
				want = cascade.NotAsked
			case i == length:
				want = cascade.Waits
			}
			require.Equal(t, want, o.Status, "%d: %v", depth, o)
		}
		require.Len(t, all.Outcomes, []int{length + 1, 3, 4, 5, 5, 5}[depth])
		for i := range asked.Outcomes {
			require.Equal(t, all.Outcomes[i].Status, asked.Outcomes[i].Status, depth)
		}
		require.Equal(t, all.Sum(), asked.Sum(), depth)
		if depth == 0 {
			require.NoError(t, all.Ask(cluster.KindPod, "", "db"))
			require.NoError(t, all.Settle())
			require.Equal(t, []string{"0 db preempts, ", "1 p0 not asked, it was evicted and asked about before"}, lines(all.Outcomes[length+1:]))
		}
	}
}

// Who is not asked about is told of as he was evicted, whatever his name.
func TestWhoIsNotAskedAboutComesInTurn(t *testing.T) {
	t.Parallel()
	c := clustertest.New().Change(func(s *preemption.Snapshot) {
		s.PodGroups = []preemption.PodGroup{{Name: "gang", MinCount: new(int32(2))}, {Name: "other"}}
		for k, i := range []string{"0", "1", "2"} {
			cpu := preemption.Resources{cluster.CPU: 1}
			s.Nodes = append(s.Nodes, preemption.Node{Name: "n" + i, Labels: map[string]string{"n": i}, Allocatable: preemption.Resources{cluster.CPU: 1, cluster.Pods: 9}})
			s.Pods = append(s.Pods, preemption.Pod{Name: "g" + i, Group: []string{"gang", "gang", "other"}[k], Node: "n" + i, Priority: new(int32(k / 2)), Requests: cpu},
				preemption.Pod{Name: "p" + i, Priority: new(int32(5)), NodeSelector: map[string]string{"n": i}, Requests: cpu})
		}
	})
	all, err := cascade.New(c.Planner(t, preemption.Options{}), cascade.Options{Questions: 1})
	require.NoError(t, err)
	for _, name := range []string{"p2", "p1", "p0"} {
		require.NoError(t, all.Ask(cluster.KindPod, "", name))
	}
	require.NoError(t, all.Settle())
	const why = " not asked, as many were asked about as may be"
	require.Equal(t, []string{"0 p2 preempts, ", "0 p1 preempts, ", "0 p0 preempts, ", "1 g2 waits, it belongs to pod group other: its group preempts", "1 g1" + why, "1 g0" + why}, lines(all.Outcomes))
}

// A node is drained of the more important first, as far as budgets allow; who has found a place gives room for another. A member
// of a group that can do without it finds one by itself.
func TestDrain(t *testing.T) {
	t.Parallel()
	stays := []string{"0 daemon stays, its DaemonSet would put it there anew", "0 ending stays, it is on its way out already", "0 mirror stays, the kubelet runs it from a file of its own", "0 static stays, the kubelet runs it from a file of its own"}
	twice := "0 twice held, more than one budget covers it, which the API of evictions refuses"
	for cores, want := range [][]string{
		{"0 lone gone, no controller makes it anew", "0 member0 fits, ", "0 top waits, no evictions help", "0 low held, budget /one allows no disruption", twice},
		{"0 lone gone, no controller makes it anew", "0 gang fits, ", "0 top fits, ", "0 low waits, no evictions help", twice},
		{"0 lone gone, no controller makes it anew", "0 gang waits, pod group gang has 3 pods, fewer than its minCount", "0 top fits, ", "0 low fits, ", twice},
	} {
		c := clustertest.New().Node("old").Cores(9).Node("new").Cores(int64(cores)).Change(func(s *preemption.Snapshot) {
			s.Nodes[0].Unschedulable = true
			for i, kind := range []string{"DaemonSet", "Job", "", "Node", "Job", "Job", "Job", ""} {
				priority := []int32{1, 1, 1, 1, 1, 2, 1, 1}[i]
				p := preemption.Pod{Name: []string{"daemon", "ending", "mirror", "static", "low", "top", "twice", "lone"}[i], Node: "old", Priority: &priority, Requests: preemption.Resources{cluster.CPU: 1000}}
				if kind != "" {
					p.Owner = &cluster.Owner{Kind: kind, Name: "owner"}
				}
				p.Labels, p.Terminating = map[string]string{p.Name: "", "of": kind}, p.Name == "ending"
				if p.Name == "mirror" {
					p.Annotations = map[string]string{"kubernetes.io/config.mirror": ""}
				}
				s.Pods = append(s.Pods, p)
			}
			least, priority := int32(2+cores), int32(3)
			s.PodGroups = []preemption.PodGroup{{Name: "gang", MinCount: &least, Priority: &priority}}
			for i, node := range []string{"old", "new", "new"} {
				s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint("member", i), Node: node, Group: "gang", Priority: &priority, Terminating: cores == 1 && i == 2})
			}
			s.Budgets = []preemption.Budget{
				{Name: "one", Selector: &disruption.Selector{MatchLabels: map[string]string{"of": "Job"}}, Allowed: 1},
				{Name: "two", Selector: &disruption.Selector{MatchLabels: map[string]string{"twice": ""}}, Allowed: 1},
			}
		})
		all, err := cascade.New(c.Planner(t, preemption.Options{}), cascade.Options{})
		require.NoError(t, err)
		require.NoError(t, all.Drain([]string{"old", "old"}))
		require.Equal(t, append(stays, want...), lines(all.Outcomes), "%d cores", cores)
		require.Equal(t, []preemption.Nomination{{Pod: preemption.PodRef{Name: "daemon"}, Node: "old"}}, all.Outcomes[0].Places)
	}
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	planner, err := preemption.NewPlanner(&preemption.Snapshot{Nodes: []preemption.Node{{Name: "n1"}}}, preemption.Options{})
	require.NoError(t, err)
	_, err = cascade.New(planner, cascade.Options{Depth: -1})
	var field *cluster.FieldError
	require.ErrorAs(t, err, &field)
	require.Equal(t, "Depth", field.Field)
	_, err = cascade.New(planner, cascade.Options{Questions: -1})
	require.ErrorAs(t, err, &field)
	require.Equal(t, "Questions", field.Field)
	c, err := cascade.New(planner, cascade.Options{})
	require.NoError(t, err)
	require.ErrorAs(t, c.Drain([]string{"n2"}), &field)
	require.Equal(t, "n2", field.Name)
	require.Error(t, c.Ask(cluster.KindPod, "", "nobody"))
	require.ErrorIs(t, c.Add(nil), preemption.ErrNotApplicable)
	require.ErrorAs(t, c.Add(&preemption.Result{Preemptor: preemption.Asked{Kind: cluster.KindWorkload, Name: "w"}}), &field)
	require.Equal(t, "Kind", field.Field)
	stale := &preemption.Result{Verdict: preemption.Feasible, Preemptor: preemption.Asked{Kind: cluster.KindPod, Name: "gone"}}
	_, err = cascade.Of(planner, stale, cascade.Options{})
	require.True(t, errors.Is(err, preemption.ErrNotApplicable), err)
	require.Empty(t, c.Outcomes)
}

// A composite group that goes as a whole finds other places as a whole, and is one outcome.
func TestCompositeGroupsMoveWhole(t *testing.T) {
	c := clustertest.New().
		Nodes(2, "a").Cores(4).Label("zone", "a").
		Nodes(2, "b").Cores(4).Label("zone", "b").
		Change(func(s *preemption.Snapshot) {
			priority := int32(5)
			s.CompositePodGroups = []preemption.CompositePodGroup{{Name: "tree", Mode: preemption.All, Priority: &priority}}
		}).
		Gang("left", 1).Priority(5).With(inTree).Members(1).Cores(4).On("a1").
		Gang("right", 1).Priority(5).With(inTree).Members(1).Cores(4).On("a2").
		Pod("web").Priority(9).Cores(4).With(func(p *preemption.Pod) { p.NodeSelector = map[string]string{"zone": "a"} })
	for rules, want := range map[preemption.Rules][]string{
		preemption.Kubernetes137: {"0 web preempts, ", "1 tree fits, "},
		preemption.Kubernetes136: {"0 web preempts, ", "1 left-1 fits, "},
	} {
		planner := c.Planner(t, preemption.Options{Rules: rules})
		r, err := planner.Preempt(clustertest.PodNamed("web"))
		require.NoError(t, err)
		all, err := cascade.Of(planner, r, cascade.Options{})
		require.NoError(t, err)
		require.Equal(t, want, lines(all.Outcomes), rules)
		last := all.Outcomes[len(all.Outcomes)-1]
		require.Equal(t, last.Pods, len(last.Places), rules)
		require.Equal(t, rules == preemption.Kubernetes137, last.Pods == 2)
	}
}

// Who has left with its group, for who was drained, is not on the node any more.
func TestAGroupLeavesADrainedNode(t *testing.T) {
	c := clustertest.New().Node("a").Cores(4).Label("of", "web").Node("old").Cores(8).Nodes(2, "new").Cores(4).
		Gang("whole", 2).Mode(preemption.All).Priority(5).Members(2).Cores(4).On("a", "old").
		Pod("web").Priority(9).Cores(4).With(func(p *preemption.Pod) { p.NodeSelector = map[string]string{"of": "web"} }).On("old").
		Change(func(s *preemption.Snapshot) {
			s.Nodes[1].Unschedulable, s.Pods[1].Labels = true, map[string]string{"held": ""}
			s.Budgets = []preemption.Budget{{Name: "spent", Selector: &disruption.Selector{MatchLabels: s.Pods[1].Labels}}}
		})
	all, err := cascade.New(c.Planner(t, preemption.Options{}), cascade.Options{Returns: func(*preemption.Pod) bool { return true }})
	require.NoError(t, err)
	require.NoError(t, all.Drain([]string{"old"}))
	require.Equal(t, []string{"0 web preempts, ", "1 whole fits, "}, lines(all.Outcomes))
}

func inTree(g *preemption.PodGroup) { g.Parent = "tree" }

// A pod of priority 100 evicts one of 50, which evicts one of 10, which has to wait.
func Example() {
	pod := func(name, node string, priority int32, cpu int64) preemption.Pod {
		return preemption.Pod{
			Namespace: "shop", Name: name, Node: node, Priority: &priority, Requests: preemption.Resources{cluster.CPU: cpu},
			Owner: &cluster.Owner{Kind: "ReplicaSet", Name: name},
		}
	}
	planner, err := preemption.NewPlanner(&preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "n1", Allocatable: preemption.Resources{cluster.CPU: 4_000, cluster.Pods: 10}},
			{Name: "n2", Allocatable: preemption.Resources{cluster.CPU: 2_000, cluster.Pods: 10}},
		},
		Pods: []preemption.Pod{pod("web", "n1", 50, 2_000), pod("cache", "n1", 50, 2_000), pod("batch", "n2", 10, 2_000)},
	}, preemption.Options{})
	if err != nil {
		log.Fatal(err)
	}
	r, err := planner.Preempt(preemption.Preemptor{Pods: []preemption.Pod{pod("db", "", 100, 4_000)}})
	if err != nil {
		log.Fatal(err)
	}
	c, err := cascade.Of(planner, r, cascade.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range c.Outcomes {
		fmt.Printf("%d %s %s\n", o.Depth, o.Who(), o.Status)
	}
	fmt.Printf("%+v\n", c.Sum())
	// Output:
	// 0 pod shop/db preempts
	// 1 pod shop/cache preempts
	// 1 pod shop/web waits
	// 2 pod shop/batch waits
	// {Evicted:3 Moved:1 Waiting:2 Gone:0 NotAsked:0 Depth:2}
}
