package clustertest_test

import (
	"encoding/json"
	"fmt"
	"log"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/clustertest"
)

func ptr[T any](v T) *T { return &v }

// What each method tells is in the snapshot, and nothing else.
func TestTheSnapshotHasWhatIsTold(t *testing.T) {
	now := clustertest.Noon.Add(time.Hour)
	got := clustertest.New().At(now).
		Class("prod", 1000).
		Nodes(2, "n").Cores(4).GiB(8).Slots(10).Has("gpu", 1).Label("zone", "a").
		Node("m").Cores(1).Taint("team", "ml").Cordoned().
		With(func(n *preemption.Node) { n.Annotations = map[string]string{"a": "b"} }).
		Group("ml/any").Mode(preemption.Single).
		Gang("ml/train", 2).Priority(7).Mode(preemption.All).Within("zone").Within("rack").
		With(func(g *preemption.PodGroup) { g.UID = "u" }).
		Members(3).Cores(1).On("n1", "n2").
		Pod("ml/alone").In("any").PriorityClass("prod").GiB(1).Asks("gpu", 1).Label("app", "x").Age(time.Minute).
		With(func(p *preemption.Pod) { p.RequiredNode = "m" }).
		Pods(1, "w").On("n1").On().
		Budget("ml/one", 1, "app", "x").
		Budget("all", -1, "", "").
		Change(func(s *preemption.Snapshot) { s.Namespaces = []cluster.Namespace{{Name: "ml"}} }).
		Snapshot()
	node := func(name string) preemption.Node {
		return preemption.Node{
			Name: name, Labels: map[string]string{"zone": "a"},
			Allocatable: preemption.Resources{"cpu": 4000, "memory": 8 << 30, "pods": 10, "gpu": 1},
		}
	}
	member := func(i int, node string) preemption.Pod {
		return preemption.Pod{
			Namespace: "ml", Name: fmt.Sprintf("train-%d", i), Node: node, Group: "train", Priority: ptr[int32](7),
			Requests: preemption.Resources{"cpu": 1000},
		}
	}
	want := &preemption.Snapshot{
		Time:            now,
		PriorityClasses: []preemption.PriorityClass{{Name: "prod", Value: 1000}},
		Nodes: []preemption.Node{node("n1"), node("n2"), {
			Name: "m", Allocatable: preemption.Resources{"cpu": 1000}, Annotations: map[string]string{"a": "b"},
			Taints: []cluster.Taint{{Key: "team", Value: "ml", Effect: cluster.NoSchedule}}, Unschedulable: true,
		}},
		PodGroups: []preemption.PodGroup{
			{Namespace: "ml", Name: "any", Basic: true, Mode: preemption.Single},
			{
				Namespace: "ml", Name: "train", UID: "u", MinCount: ptr[int32](2), Priority: ptr[int32](7), Mode: preemption.All,
				Topology: []preemption.TopologyConstraint{{Key: "zone"}, {Key: "rack"}},
			},
		},
		Pods: []preemption.Pod{
			member(1, "n1"), member(2, "n2"), member(3, "n1"),
			{
				Namespace: "ml", Name: "alone", Group: "any", Class: "prod", RequiredNode: "m", Labels: map[string]string{"app": "x"},
				Requests: preemption.Resources{"memory": 1 << 30, "gpu": 1}, Started: now.Add(-time.Minute),
			},
			{Name: "w1"},
		},
		Budgets: []preemption.Budget{
			{Namespace: "ml", Name: "one", Allowed: 1, Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "x"}}},
			{Name: "all", Allowed: -1, Selector: &disruption.Selector{}},
		},
		Namespaces: []cluster.Namespace{{Name: "ml"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
}

// A snapshot and the cluster that it is of go separate ways, down to the last map.
func TestASnapshotIsACopy(t *testing.T) {
	c := clustertest.New().Gang("g", 1).Priority(1)
	nodes := c.Node("n").Cores(4)
	pods := c.Pod("p").Priority(1).Cores(1).With(func(p *preemption.Pod) {
		p.Guard = &cluster.Guard{Standby: true}
	})
	one, two := c.Snapshot(), c.Snapshot()
	nodes.Cores(8).Label("a", "b")
	pods.Cores(2).With(func(p *preemption.Pod) { *p.Priority, p.Guard.Standby = 5, false })
	if diff := cmp.Diff(one, two); diff != "" {
		t.Fatalf("the cluster changed a snapshot (-one +two):\n%s", diff)
	}
	one.Nodes[0].Allocatable["cpu"] = 7
	*one.PodGroups[0].MinCount = 9
	require.EqualValues(t, 8000, c.Snapshot().Nodes[0].Allocatable["cpu"])
	require.EqualValues(t, 1, *c.Snapshot().PodGroups[0].MinCount)
}

// failing is a test that fails: Fatalf does not return.
type failing struct{ message string }

func (*failing) Helper() {}
func (f *failing) Fatalf(format string, args ...any) {
	f.message = fmt.Sprintf(format, args...)
	panic(f)
}

func TestWhatIsNotValidFailsTheTest(t *testing.T) {
	bad := clustertest.New().Nodes(2, "n").Cores(-1).Pod("web")
	for name, ask := range map[string]func(*failing){
		"Planner": func(f *failing) { bad.Planner(f, preemption.Options{}) },
		"Preempt": func(f *failing) { bad.Preempt(f, preemption.Options{}, clustertest.PodNamed("web")) },
	} {
		f := &failing{}
		require.PanicsWithValue(t, f, func() { ask(f) }, name)
		require.Equal(t, "cluster: Node \"n1\": Allocatable[cpu]: -1000 is not >= 0\ncluster: Node \"n2\": Allocatable[cpu]: -1000 is not >= 0", f.message, name)
	}
	good := clustertest.New().Node("n").Cores(1).Pod("ns/web").Cores(1)
	require.Equal(t, preemption.Fits, good.Preempt(t, preemption.Options{}, clustertest.PodNamed("ns/web")).Verdict)
	result, err := good.Planner(t, preemption.Options{}).Preempt(clustertest.PodNamed("ns/web"))
	require.NoError(t, err)
	require.Equal(t, "n", result.Domain)
}

// A test of one's own options: who goes, and in words what is another answer than the default's.
func Example() {
	shop := clustertest.New().
		Nodes(2, "n").Cores(4).Label("zone", "a").
		Pods(2, "batch-").On("n1").Priority(1).Cores(2).Age(3*time.Hour).
		Pod("db").On("n2").Priority(5).Cores(4).Label("app", "db").
		Budget("db", 0, "app", "db").
		Pod("web").Priority(10).Cores(4)

	var t fatal // in a test: t *testing.T
	byDefault := shop.Preempt(t, preemption.Options{}, clustertest.PodNamed("web"))
	fmt.Println(byDefault.Message)

	onePod := shop.Preempt(t, preemption.Options{Limits: preemption.Limits{Pods: 1}}, clustertest.PodNamed("web"))
	fmt.Print(clustertest.Diff(byDefault, onePod))
	// Output:
	// fits on n1 once 2 pods are evicted
	// verdict: got feasible (fits on n2 once 1 pod is evicted), want feasible (fits on n1 once 2 pods are evicted)
	// Pod batch-1: stays, want it evicted
	// Pod batch-2: stays, want it evicted
	// Pod db: is evicted, want it to stay
	// web: goes to n2, want to n1
	// budgets: db is not wanted
	// domain: got "n2", want "n1"
	// overruns: got 1, want 0
	// rejected: "limit pods stands in the way" is not wanted
	// score[earliest start].value: got -1767268800000000000, want -1767258000000000000
	// score[highest priority].value: got 5, want 1
	// score[pods].value: got 1, want 2
	// score[sum of priorities].value: got 2147483653, want 4294967298
	// score[violations].value: got 1, want 0
	// violations: got 1, want 0
}

// A gang, and another one in its way that goes as a whole.
func ExampleCluster_Gang() {
	farm := clustertest.New().
		Nodes(2, "gpu-").Has("gpu", 8).
		Gang("ml/old", 2).Priority(1).Mode(preemption.All).Members(2).Asks("gpu", 4).On("gpu-1", "gpu-2").
		Gang("ml/new", 3).Priority(9).Members(3).Asks("gpu", 4)
	result := farm.Preempt(fatal{}, preemption.Options{}, clustertest.GroupNamed("ml/new"))
	fmt.Println(result.Message)
	for _, n := range result.Nominations {
		fmt.Println(n.Pod.Name, n.Node)
	}
	// Output:
	// all 3 pods of ml/new fit in the cluster once pod group ml/old (2 pods) is evicted
	// new-1 gpu-1
	// new-2 gpu-2
	// new-3 gpu-1
}

// Seeds are faster, and the same on every machine.
func ExampleRandom() {
	verdicts := map[preemption.Verdict]int{}
	for seed := range uint64(1000) {
		q := clustertest.Random(seed, clustertest.Everything(0))
		result, err := preemption.Preempt(q.Preemptor, q.Snapshot)
		if err != nil {
			log.Fatal(err)
		}
		verdicts[result.Verdict]++
	}
	fmt.Println(verdicts[preemption.Feasible] > 100, verdicts[preemption.Infeasible] > 100, verdicts[preemption.Fits] > 100)
	// Output: true true true
}

// fatal stands for a test.
type fatal struct{}

func (fatal) Helper()                           {}
func (fatal) Fatalf(format string, args ...any) { log.Fatalf(format, args...) }

var profiles = map[string]clustertest.Profile{
	"plain": {}, "a group": {Members: 3}, "one node": {Nodes: 1, Pods: 3}, "everything": clustertest.Everything(0), "everything, a group": clustertest.Everything(4),
}

// Every question has an answer, the same each time and in any order, and within its profile.
func TestRandomQuestionsAreAnswered(t *testing.T) {
	for name, p := range profiles {
		t.Run(name, func(t *testing.T) {
			verdicts := map[preemption.Verdict]int{}
			for seed := range uint64(300) {
				q := clustertest.Random(seed, p)
				if diff := cmp.Diff(q, clustertest.Random(seed, p)); diff != "" {
					t.Fatalf("seed %d gives two questions:\n%s", seed, diff)
				}
				if p.Nodes > 0 {
					require.LessOrEqual(t, len(q.Snapshot.Nodes), p.Nodes)
				}
				one, err := preemption.Preempt(q.Preemptor, q.Snapshot)
				require.NoError(t, err, "seed %d", seed)
				verdicts[one.Verdict]++
				shuffled := clustertest.Shuffled(seed, q)
				two, err := preemption.Preempt(shuffled.Preemptor, shuffled.Snapshot)
				require.NoError(t, err, "seed %d", seed)
				require.Empty(t, clustertest.Diff(one, two), "seed %d in another order", seed)
				isGroup := q.Preemptor.Group != nil || q.Preemptor.Kind == preemption.KindPodGroup || q.Preemptor.Kind == preemption.KindCompositePodGroup
				require.Equal(t, p.Members > 0, isGroup, "seed %d", seed)
			}
			require.Positive(t, verdicts[preemption.Feasible])
			require.Positive(t, verdicts[preemption.Infeasible])
		})
	}
}

// What a profile names is there, and what it does not name is not.
func TestProfilesSayWhatOccurs(t *testing.T) {
	fields := reflect.TypeFor[clustertest.Profile]()
	occurs := map[string]func(s *preemption.Snapshot) bool{
		"Placement": func(s *preemption.Snapshot) bool { return len(s.Nodes[0].Labels) > 0 },
		"Ports": func(s *preemption.Snapshot) bool {
			return anyPod(s, func(p *preemption.Pod) bool { return p.Ports != nil })
		},
		"Budgets": func(s *preemption.Snapshot) bool { return s.Budgets != nil },
		"Nominations": func(s *preemption.Snapshot) bool {
			return anyPod(s, func(p *preemption.Pod) bool { return p.NominatedNode != "" })
		},
		"Terminating": func(s *preemption.Snapshot) bool {
			return anyPod(s, func(p *preemption.Pod) bool { return p.Terminating })
		},
		"Classes": func(s *preemption.Snapshot) bool { return s.PriorityClasses != nil },
		"Groups": func(s *preemption.Snapshot) bool {
			return anyPod(s, func(p *preemption.Pod) bool { return p.Node != "" && p.Group != "" })
		},
		"Guards": func(s *preemption.Snapshot) bool {
			return anyPod(s, func(p *preemption.Pod) bool { return p.Guard != nil })
		},
		"Odd": func(s *preemption.Snapshot) bool {
			return anyPod(s, func(p *preemption.Pod) bool { return p.Node == "gone" })
		},
		"Composite": func(s *preemption.Snapshot) bool { return s.CompositePodGroups != nil },
		"Topology": func(s *preemption.Snapshot) bool {
			for _, g := range s.PodGroups {
				if g.Topology != nil {
					return true
				}
			}
			return false
		},
		"Affinity": func(s *preemption.Snapshot) bool {
			return anyPod(s, func(p *preemption.Pod) bool { return p.Affinity != nil || p.AntiAffinity != nil || p.Spread != nil })
		},
	}
	for i := range fields.NumField() {
		f := fields.Field(i)
		if f.Type.Kind() != reflect.Bool {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			p := clustertest.Profile{Members: 3}
			require.False(t, ever(p, occurs[f.Name]), "without it")
			reflect.ValueOf(&p).Elem().Field(i).SetBool(true)
			require.True(t, ever(p, occurs[f.Name]), "with it")
		})
	}
}

func anyPod(s *preemption.Snapshot, is func(*preemption.Pod) bool) bool {
	for i := range s.Pods {
		if is(&s.Pods[i]) {
			return true
		}
	}
	return false
}

func ever(p clustertest.Profile, is func(*preemption.Snapshot) bool) bool {
	for seed := range uint64(300) {
		if is(clustertest.Random(seed, p).Snapshot) {
			return true
		}
	}
	return false
}

// The property of the package's documentation.
func TestVictimsAreLessImportant(t *testing.T) {
	evicted := 0
	gen.CheckUntil(t, func(t *rapid.T) {
		q := clustertest.Draw(clustertest.Profile{Budgets: true}).Draw(t, "question")
		planner, err := preemption.NewPlanner(q.Snapshot, preemption.Options{})
		require.NoError(t, err)
		result, err := planner.Preempt(q.Preemptor)
		require.NoError(t, err)
		for _, v := range result.Victims {
			evicted++
			if v.Priority >= 1000 {
				t.Fatalf("%s has priority %d", v.Name, v.Priority)
			}
		}
	}, &evicted)
}

// Of bits that are all zero, which is where rapid shrinks to, comes the smallest cluster.
func TestQuestionsShrink(t *testing.T) {
	for _, p := range profiles {
		rapid.MakeFuzz(func(t *rapid.T) {
			q := clustertest.Draw(p).Draw(t, "question")
			if len(q.Snapshot.Nodes) != 1 || len(q.Snapshot.Pods) > 1 || len(q.Snapshot.Budgets) > 0 {
				t.Fatalf("not the smallest: %v", q)
			}
		})(t, make([]byte, 1<<16))
	}
}

// A question that was printed is read as it was.
func TestAQuestionIsWrittenWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := clustertest.Draw(clustertest.Everything(2)).Draw(t, "question")
		var again clustertest.Question
		require.NoError(t, json.Unmarshal([]byte(q.String()), &again))
		if diff := cmp.Diff(q, again, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Drawn options can be followed, and are data: they survive JSON.
func TestOptionsAreData(t *testing.T) {
	q := clustertest.Random(1, clustertest.Profile{})
	follow := func(t require.TestingT, o preemption.Options) {
		require.Nil(t, o.Hooks)
		require.False(t, o.Strict)
		text, err := json.Marshal(o)
		require.NoError(t, err)
		var again preemption.Options
		require.NoError(t, json.Unmarshal(text, &again))
		one, err := o.Preempt(q.Preemptor, q.Snapshot)
		require.NoError(t, err)
		two, err := again.Preempt(q.Preemptor, q.Snapshot)
		require.NoError(t, err)
		require.Empty(t, clustertest.Diff(one, two))
	}
	for seed := range uint64(200) {
		follow(t, clustertest.RandomOptions(seed))
	}
	rapid.Check(t, func(t *rapid.T) { follow(t, clustertest.DrawOptions().Draw(t, "options")) })
}

func TestQuestionsAboutQuota(t *testing.T) {
	evicted := 0
	for seed := range uint64(200) {
		q, o := clustertest.RandomQuota(seed)
		r, err := o.Preempt(q.Preemptor, q.Snapshot)
		require.NoError(t, err)
		evicted += len(r.Victims)
	}
	require.Positive(t, evicted)
	rapid.Check(t, func(t *rapid.T) {
		q, o := clustertest.DrawQuota(t)
		other := clustertest.Shuffle(t, q)
		one, err := o.Preempt(q.Preemptor, q.Snapshot)
		require.NoError(t, err)
		two, err := o.Preempt(other.Preemptor, other.Snapshot)
		require.NoError(t, err)
		require.Empty(t, clustertest.Diff(one, two))
	})
}

// Every shape of a fleet that there is has its name here, and whoever comes has to evict.
func TestFleets(t *testing.T) {
	shapes := []clustertest.Shape{
		clustertest.Uniform, clustertest.Tied, clustertest.Distinct, clustertest.Budgeted, clustertest.Equal, clustertest.Skewed,
	}
	require.Len(t, shapes, len(gen.Shapes()))
	for _, shape := range shapes {
		q := clustertest.Fleet(16, 30, 1, shape)
		require.Len(t, q.Snapshot.Nodes, 16)
		r, err := preemption.Preempt(q.Preemptor, q.Snapshot)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict, shape)
	}
}

func TestMain(m *testing.M) { gen.Tests(m) }

func TestDiffInWords(t *testing.T) {
	pod := func(name, node string) preemption.VictimPod {
		return preemption.VictimPod{PodRef: preemption.PodRef{Namespace: "ml", Name: name}, Node: node}
	}
	base := func(change func(*preemption.Result)) *preemption.Result {
		r := &preemption.Result{
			Verdict: preemption.Feasible, Message: "fits", Domain: "n1",
			Nominations: []preemption.Nomination{{Pod: preemption.PodRef{Name: "a"}, Node: "n1"}, {Pod: preemption.PodRef{Name: "b"}, Node: "n2"}},
			Victims: []preemption.Victim{
				{Kind: preemption.KindPodGroup, Namespace: "ml", Name: "train", Pods: []preemption.VictimPod{pod("t0", "n1"), pod("t1", "n2")}},
				{Kind: preemption.KindPod, Namespace: "ml", Name: "log", Pods: []preemption.VictimPod{pod("log", "n1")}},
			},
			Rejected: []preemption.Rejection{{Reason: "cpu short", Domains: 3}},
			Score:    []preemption.Criterion{{Name: "pods", Value: 3}},
			Stats:    preemption.Stats{Trials: 7},
		}
		change(r)
		return r
	}
	want := base(func(*preemption.Result) {})
	cases := map[string]struct {
		change func(*preemption.Result)
		want   string
	}{
		"nothing":            {func(*preemption.Result) {}, ""},
		"what it cost":       {func(r *preemption.Result) { r.Stats.Trials = 8 }, ""},
		"the verdict":        {func(r *preemption.Result) { r.Verdict = preemption.Waiting }, "verdict: got waiting (fits), want feasible (fits)\n"},
		"the message":        {func(r *preemption.Result) { r.Message = "no" }, "verdict: got feasible (no), want feasible (fits)\n"},
		"a victim less":      {func(r *preemption.Result) { r.Victims = r.Victims[:1] }, "Pod ml log: stays, want it evicted\n"},
		"no victims":         {func(r *preemption.Result) { r.Victims = nil }, "Pod ml log: stays, want it evicted\nPodGroup ml train: stays, want it evicted\n"},
		"another victim":     {func(r *preemption.Result) { r.Victims[1].Name = "tty" }, "Pod ml log: stays, want it evicted\nPod ml tty: is evicted, want it to stay\n"},
		"fewer pods of one":  {func(r *preemption.Result) { r.Victims[0].Pods = r.Victims[0].Pods[:1] }, "victims[PodGroup ml train].pods: ml t1 is missing\n"},
		"a victim's node":    {func(r *preemption.Result) { r.Victims[1].Pods[0].Node = "n9" }, "victims[Pod ml log].pods[ml log].node: got \"n9\", want \"n1\"\n"},
		"the victims' order": {func(r *preemption.Result) { r.Victims[0], r.Victims[1] = r.Victims[1], r.Victims[0] }, "victims: got the order Pod ml log, PodGroup ml train, want PodGroup ml train, Pod ml log\n"},
		"a place":            {func(r *preemption.Result) { r.Nominations[0].Node = "n3" }, "a: goes to n3, want to n1\n"},
		"no place":           {func(r *preemption.Result) { r.Nominations = r.Nominations[1:] }, "a: goes nowhere, want to n1\n"},
		"one place more":     {func(r *preemption.Result) { r.Nominations[0].Pod.Name = "c" }, "a: goes nowhere, want to n1\nc: goes to n1, want nowhere\n"},
		"the places' order": {
			func(r *preemption.Result) { r.Nominations[0], r.Nominations[1] = r.Nominations[1], r.Nominations[0] },
			"nominations: got the order b, a, want a, b\n",
		},
		"a reason":    {func(r *preemption.Result) { r.Rejected[0].Reason = "taint" }, "rejected: \"cpu short\" is missing\nrejected: \"taint\" is not wanted\n"},
		"a number":    {func(r *preemption.Result) { r.Rejected[0].Domains = 2 }, "rejected[\"cpu short\"].domains: got 2, want 3\n"},
		"a criterion": {func(r *preemption.Result) { r.Score[0].Value = 1 << 62 }, "score[pods].value: got 4611686018427387904, want 3\n"},
		"what was not there": {
			func(r *preemption.Result) { r.Nearest = &preemption.Nearest{Domain: "n1"} },
			"nearest: got {\"domain\":\"n1\",\"relaxations\":null}, want none\n",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := clustertest.Diff(want, base(c.change))
			require.Equal(t, c.want, got)
		})
	}
	require.Empty(t, clustertest.Diff(nil, nil))
	require.Equal(t, "answer: got none, want feasible (fits)\n", clustertest.Diff(want, nil))
	require.Equal(t, "answer: got feasible (fits), want none\n", clustertest.Diff(nil, want))
}

// Two answers have a difference in words if and only if they differ, whatever in.
func TestDiffSeesEverything(t *testing.T) {
	differ := 0
	gen.CheckUntil(t, func(t *rapid.T) {
		p := clustertest.Everything(rapid.IntRange(0, 3).Draw(t, "members"))
		q := clustertest.Draw(p).Draw(t, "question")
		ask := func(label string) *preemption.Result {
			o := clustertest.DrawOptions().Draw(t, label)
			if o.Rules == preemption.KEP5710Alpha {
				o.Rules = "" // it refuses some
			}
			r, err := o.Preempt(q.Preemptor, q.Snapshot)
			require.NoError(t, err)
			return r
		}
		one, two := ask("one"), ask("two")
		require.Empty(t, clustertest.Diff(one, one))
		a, b := compared(t, one), compared(t, two)
		diff := clustertest.Diff(one, two)
		if (a == b) != (diff == "") {
			t.Fatalf("%s\n%s\ndiffer in %q", a, b, diff)
		}
		if diff != "" {
			differ++
			require.NotEmpty(t, clustertest.Diff(two, one))
		}
	}, &differ)
}

// compared is an answer as JSON, without what is not compared.
func compared(t *rapid.T, r *preemption.Result) string {
	plain := *r
	plain.Stats = preemption.Stats{}
	text, err := json.Marshal(plain)
	require.NoError(t, err)
	return string(text)
}
