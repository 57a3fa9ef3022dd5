package preemption_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/genopts"
	"github.com/preempt-go/preempt/internal/naive"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Groups whose pods go one by one are touched once, however many of them go: on nodes where they
// share places in every way, no set of victims beats what Exact finds, and it always finds it.
func TestFewestGroupsIsBruteForce(t *testing.T) {
	t.Parallel()
	fewer, ties := 0, 0
	for seed := range seeds(1500) {
		r := rand.New(rand.NewPCG(seed, 21))
		q := sharedGroups(r)
		o := preemption.Options{
			Objective: []preemption.CriterionName{preemption.CriterionGroups, preemption.CriterionPods, preemption.CriterionLevels},
			Cost:      preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}},
		}
		r.Shuffle(2, func(i, j int) { o.Objective[i], o.Objective[j] = o.Objective[j], o.Objective[i] })
		if seed%3 == 0 {
			o.Limits.Pods = 1 + r.Int64N(4)
		}
		var least []int64
		fates := fatesIn(t, o, &q)
		for _, n := range q.Snapshot.Nodes {
			require.NoError(t, naive.Sets(plain(o), q.Preemptor, &q.Snapshot, n.Name, func(c naive.Candidate) {
				v := values(o.Objective, c, fates, nil)
				if pods := int64(c.Score.Pods); (o.Limits.Pods == 0 || pods <= o.Limits.Pods) && (least == nil || slices.Compare(v, least) < 0) {
					least = v
				}
			}))
		}
		greedy := ask(&named{t, seed}, o, q)
		if greedy.Verdict == preemption.Fits {
			continue
		}
		o.Search = preemption.Exact
		exact := ask(&named{t, seed}, o, q)
		if least == nil {
			require.NotEqual(t, preemption.Feasible, exact.Verdict, "seed %d", seed)
			continue
		}
		require.Equal(t, least, said(exact.Score), "seed %d: of %v", seed, o.Objective)
		require.True(t, exact.Optimal, "seed %d", seed)
		if greedy.Verdict == preemption.Feasible && slices.Compare(least, said(greedy.Score)) < 0 {
			fewer++
		} else {
			ties++
		}
	}
	t.Log(fewer, ties)
	require.Greater(t, fewer, int(seeds(1500))/10)
	require.Greater(t, ties, int(seeds(1500))/20)
}

// TestLevelsAreToldApartAsFarAsThereAreFew: a score has so many numbers and no more, however many
// priorities there are, and of those the highest.
func TestLevelsAreToldApartAsFarAsThereAreFew(t *testing.T) {
	t.Parallel()
	high := int32(1_000)
	s := preemption.Snapshot{Pods: []preemption.Pod{{Name: "web", Priority: &high, Requests: preemption.Resources{cluster.CPU: 2}}}}
	for n := range 60 {
		node := fmt.Sprint("n", n)
		s.Nodes = append(s.Nodes, preemption.Node{Name: node, Allocatable: preemption.Resources{cluster.CPU: 2}})
		for i := range 2 {
			level := int32(60*i + n)
			s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint("p", level), Node: node, Priority: &level, Requests: preemption.Resources{cluster.CPU: 1}})
		}
	}
	q := gen.Question{Snapshot: s, Preemptor: preemption.Preemptor{Kind: cluster.KindPod, Name: "web"}}
	for _, search := range []preemption.Search{preemption.Greedy, preemption.Exact} {
		r := ask(&named{t, 0}, preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionLevels, preemption.CriterionPods}, Search: search}, q)
		require.Equal(t, "n0", r.Domain)
		require.Len(t, r.Score, 101)
		require.Equal(t, preemption.Criterion{Name: "pods of priority 119"}, r.Score[0])
		require.Equal(t, preemption.Criterion{Name: "pods of priority 60", Value: 1}, r.Score[59])
		require.Equal(t, preemption.Criterion{Name: "pods of priority 20"}, r.Score[99], "the pod of priority 0 counts as a pod alone")
		require.Equal(t, preemption.Criterion{Name: "pods", Value: 2}, r.Score[100])
	}
}

// sharedGroups is a question about two nodes with pods of few groups, some of them spread over both.
func sharedGroups(r *rand.Rand) gen.Question {
	high := int32(100)
	s := preemption.Snapshot{}
	for g := range 3 {
		s.PodGroups = append(s.PodGroups, preemption.PodGroup{Namespace: "ml", Name: fmt.Sprint("g", g), Mode: disruption.Single})
	}
	for n := range 2 {
		node := fmt.Sprint("n", n)
		s.Nodes = append(s.Nodes, preemption.Node{Name: node, Allocatable: preemption.Resources{cluster.CPU: 10, cluster.Memory: 12}})
		for i := range 5 + r.IntN(3) {
			level := int32(r.IntN(3) * 10)
			p := preemption.Pod{Namespace: "ml", Name: fmt.Sprint("p", n, "-", i), Node: node, Priority: &level, Cost: &cluster.Cost{}}
			p.Requests = preemption.Resources{cluster.CPU: 1 + r.Int64N(2), cluster.Memory: r.Int64N(3)}
			if g := r.IntN(4); g < 3 {
				p.Group = fmt.Sprint("g", g)
			}
			s.Pods = append(s.Pods, p)
		}
	}
	web := preemption.Pod{Namespace: "ml", Name: "web", Priority: &high, Requests: preemption.Resources{cluster.CPU: 3 + r.Int64N(5), cluster.Memory: 4 + r.Int64N(5)}}
	s.Pods = append(s.Pods, web)
	return gen.Question{Snapshot: s, Preemptor: preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ml", Name: "web"}}
}

// One pod of a higher priority would do, or two pods of two groups, or four of one group: the
// objective says which.
func ExampleCriterionName() {
	low, middle, high := int32(0), int32(10), int32(1_000)
	cores := func(n int64) preemption.Resources { return preemption.Resources{cluster.CPU: 1_000 * n} }
	pod := func(name, group string, priority *int32, n int64) preemption.Pod {
		return preemption.Pod{Namespace: "ml", Name: name, Group: group, Node: "a", Priority: priority, Requests: cores(n)}
	}
	s := preemption.Snapshot{
		Nodes:     []preemption.Node{{Name: "a", Allocatable: cores(12)}},
		PodGroups: []preemption.PodGroup{{Namespace: "ml", Name: "bert"}, {Namespace: "ml", Name: "db"}, {Namespace: "ml", Name: "gpt"}, {Namespace: "ml", Name: "t5"}},
		Pods: []preemption.Pod{
			pod("bert-0", "bert", &low, 2), pod("gpt-0", "gpt", &low, 2), pod("t5-0", "t5", &low, 1), pod("t5-1", "t5", &low, 1),
			pod("t5-2", "t5", &low, 1), pod("t5-3", "t5", &low, 1), pod("db", "db", &middle, 4),
			{Namespace: "ml", Name: "web", Priority: &high, Requests: cores(4)},
		},
	}
	for _, least := range [][]preemption.CriterionName{
		{preemption.CriterionPods}, {preemption.CriterionLevels}, {preemption.CriterionGroups, preemption.CriterionLevels},
	} {
		o := preemption.Options{Objective: least, Search: preemption.Exact}
		r, err := o.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ml", Name: "web"}, &s)
		must(err)
		fmt.Println(r.Message, r.Score)
	}
	// Output:
	// fits on a once 1 pod is evicted [{pods 1}]
	// fits on a once 2 pods are evicted [{pods of priority 10 0} {pods of priority 0 2}]
	// fits on a once 4 pods are evicted [{groups touched 1} {pods of priority 10 0} {pods of priority 0 4}]
}

// Either of two pods would make room. One is important enough to evict a third in turn; the other
// finds nobody whom it could, and waits.
func ExampleCriterionName_cascade() {
	cores := func(n int64) preemption.Resources { return preemption.Resources{cluster.CPU: 1_000 * n} }
	fast := map[string]string{"disk": "fast"}
	pod := func(name, node string, priority int32) preemption.Pod {
		return preemption.Pod{Namespace: "shop", Name: name, Node: node, Priority: &priority, Requests: cores(2)}
	}
	web := pod("web", "", 1_000)
	web.NodeSelector = fast
	s := preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "a", Allocatable: cores(2), Labels: fast}, {Name: "b", Allocatable: cores(2), Labels: fast}, {Name: "c", Allocatable: cores(2)},
		},
		Pods: []preemption.Pod{pod("cart", "a", 20), pod("report", "b", 10), pod("cache", "c", 10), web},
	}
	for _, least := range []preemption.CriterionName{preemption.CriterionStranded, preemption.CriterionCascade} {
		o := preemption.Options{Objective: []preemption.CriterionName{least}}
		r, err := o.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "shop", Name: "web"}, &s)
		must(err)
		fmt.Println(r.Victims[0].Name, r.Score)
	}
	// Output:
	// cart [{pods without a place 1}]
	// report [{pods that preempt in turn 0}]
}

// A job of two pods goes as a whole, so that a node is free of which nothing is needed; or a pod
// of another node does, and the job stays.
func ExampleCriterionName_nodes() {
	low, high := int32(0), int32(1_000)
	cores := preemption.Resources{cluster.CPU: 2_000}
	s := preemption.Snapshot{PodGroups: []preemption.PodGroup{{Namespace: "ml", Name: "job", Mode: preemption.All, Priority: &low}}}
	for i, name := range []string{"job-0", "job-1", "batch"} {
		node := string(rune('a' + i))
		p := preemption.Pod{Namespace: "ml", Name: name, Node: node, Priority: &low, Requests: cores}
		if i < 2 {
			p.Group = "job"
		}
		s.Nodes, s.Pods = append(s.Nodes, preemption.Node{Name: node, Allocatable: cores}), append(s.Pods, p)
	}
	s.Pods = append(s.Pods, preemption.Pod{Namespace: "ml", Name: "web", Priority: &high, Requests: cores})
	for _, least := range []preemption.CriterionName{preemption.CriterionPods, preemption.CriterionNodes} {
		o := preemption.Options{Objective: []preemption.CriterionName{least}}
		r, err := o.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ml", Name: "web"}, &s)
		must(err)
		fmt.Println(r.Message, r.Score)
	}
	// Output:
	// fits on c once 1 pod is evicted [{pods 1}]
	// fits on a once pod group ml/job (2 pods) is evicted [{nodes in use 2}]
}

// Two jobs of two pods lie on four nodes, one of them in a rack, the other in two: as many nodes
// are free in the end, whichever goes, and a rack only if the second one does.
func ExampleCriterionName_domains() {
	low, high := int32(0), int32(1_000)
	cores := preemption.Resources{cluster.CPU: 2_000}
	var s preemption.Snapshot
	for i, rack := range []string{"r1", "r1", "r2", "r3"} {
		node, job := string(rune('a'+i)), []string{"near", "wide"}[i/2]
		s.Nodes = append(s.Nodes, preemption.Node{Name: node, Allocatable: cores, Labels: map[string]string{"rack": rack}})
		s.Pods = append(s.Pods, preemption.Pod{Namespace: "ml", Name: job + "-" + node, Group: job, Node: node, Priority: &low, Requests: cores})
	}
	for _, job := range []string{"near", "wide"} {
		s.PodGroups = append(s.PodGroups, preemption.PodGroup{Namespace: "ml", Name: job, Mode: preemption.All, Priority: &low})
	}
	s.Pods = append(s.Pods, preemption.Pod{Namespace: "ml", Name: "web", Priority: &high, Requests: cores})
	for _, least := range []preemption.CriterionName{preemption.CriterionNodes, preemption.CriterionDomains + "rack"} {
		o := preemption.Options{Objective: []preemption.CriterionName{least}}
		r, err := o.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ml", Name: "web"}, &s)
		must(err)
		fmt.Println(r.Message, r.Score)
	}
	// Output:
	// fits on a once pod group ml/near (2 pods) is evicted [{nodes in use 3}]
	// fits on c once pod group ml/wide (2 pods) is evicted [{domains in use by rack 2}]
}

// Halves of GPUs are held on two nodes: two of one GPU, and one of each of two. A pod that wants a
// half, too, leaves a GPU whole where it joins what is left of the second pair.
func ExampleCriterionName_devices() {
	low, high := int32(0), int32(1_000)
	half := func(name, node string, gpu ...int32) preemption.Pod {
		return preemption.Pod{
			Namespace: "ml", Name: name, Node: node, Priority: &low, Requests: preemption.Resources{cluster.CPU: 1_000},
			Devices: []cluster.DeviceRequest{{Resource: "gpu", Fraction: 500, Assigned: gpu}},
		}
	}
	var s preemption.Snapshot
	for _, name := range []string{"a", "b"} {
		s.Nodes = append(s.Nodes, preemption.Node{
			Name: name, Allocatable: preemption.Resources{cluster.CPU: 2_000}, Devices: map[string]cluster.DevicePool{"gpu": {Count: 2, Capacity: 1_000}},
		})
	}
	web := half("web", "")
	web.Priority = &high
	s.Pods = []preemption.Pod{half("a-1", "a", 0), half("a-2", "a", 0), half("b-1", "b", 0), half("b-2", "b", 1), web}
	for _, least := range []preemption.CriterionName{preemption.CriterionPods, preemption.CriterionDevices} {
		o := preemption.Options{Objective: []preemption.CriterionName{least}}
		r, err := o.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ml", Name: "web"}, &s)
		must(err)
		fmt.Println(r.Message, r.Score)
	}
	// Output:
	// fits on a once 1 pod is evicted [{pods 1}]
	// fits on b once 1 pod is evicted [{devices in use 2}]
}

// TestWhatIsInUseIsCounted: of whatever is evicted for whomever, in any cluster, the numbers are those of what
// runs in the end, and [check.Verify] refuses any other.
func TestWhatIsInUseIsCounted(t *testing.T) {
	t.Parallel()
	used := slices.DeleteFunc(slices.Clone(genopts.Criteria), func(c preemption.CriterionName) bool { return !c.InUse() })
	seen := map[string]int{}
	for seed := range sparse(20000) {
		q := gen.RandomWorld(seed)
		switch seed % 4 {
		case 1: // many pods with devices
			q = gen.Random(seed, gen.Profile{MaxNodes: 3, MaxPods: 40, Groups: true})
			deviced(seed, &q)
		case 2, 3: // jobs over many nodes that go as a whole
			q = gen.RandomGang(seed, gen.GangProfile{Profile: gen.Profile{MaxNodes: 8, MaxPods: 12}, Topology: true, MaxMembers: 1 + int(seed/4%4)})
			for i := range q.Snapshot.Pods {
				if p := &q.Snapshot.Pods[i]; p.Node != "" && p.Group == "" {
					p.Group = fmt.Sprint("job-", i%3)
					if i < 3 {
						q.Snapshot.PodGroups = append(q.Snapshot.PodGroups, preemption.PodGroup{Namespace: p.Namespace, Name: p.Group, Mode: preemption.All, Priority: p.Priority})
					}
				}
			}
		}
		o := preemption.Options{Objective: used, Search: []preemption.Search{"", preemption.Exact}[seed/4%2]}
		r, err := o.Preempt(q.Preemptor, &q.Snapshot)
		if err != nil || r.Verdict != preemption.Feasible || len(r.Score) == 0 {
			continue
		}
		out, come := map[string]bool{}, arrivals{}
		for _, v := range r.Victims {
			for _, p := range v.Pods {
				out[p.Namespace+"/"+p.Name] = true
			}
		}
		for _, n := range r.Nominations {
			for _, p := range slices.Concat(q.Snapshot.Pods, q.Preemptor.Pods) {
				if p.Namespace == n.Pod.Namespace && p.Name == n.Pod.Name {
					come[n.Node] = append(come[n.Node], p)
				}
			}
		}
		fates, none := fatesIn(t, o, &q), map[string]bool{}
		for i, c := range r.Score {
			name := preemption.CriterionName(c.Name)
			require.Equal(t, fates.inUse(name, out, come), c.Value, "seed %d: %s", seed, name)
			if now := fates.inUse(name, none, nil); now > 0 && c.Value != now {
				seen[c.Name]++
			}
			if r.Quota == nil { // else it is not verified
				r.Score[i].Value++
				require.NotEmpty(t, check.Verify(&q.Snapshot, o, q.Preemptor, r), "seed %d: %s", seed, name)
				r.Score[i].Value--
			}
		}
		if len(r.Nominations) > 1 {
			seen["gangs"]++
		}
	}
	t.Log(seen)
	for _, what := range []string{"gangs", "nodes in use", "devices in use", "domains in use by zone", "domains in use by rack"} {
		require.Greater(t, seen[what], int(sparse(40)), what)
	}
}

// The score of a trace tells the earliest start as a time, and says so where neither
// a start nor the time of the snapshot is known.
func TestScoreTellsTheEarliestStart(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		started time.Time
		want    string
	}{
		"known":   {noon, "score violations 0, highest priority 0, sum of priorities 2147483648, pods 1, earliest start 2026-01-02T12:00:00Z"},
		"unknown": {time.Time{}, "score violations 0, highest priority 0, sum of priorities 2147483648, pods 1, earliest start unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			one := int32(1)
			s := &preemption.Snapshot{
				Nodes: []cluster.Node{{Name: "n1", Allocatable: cluster.Resources{"cpu": 1000, "pods": 10}}},
				Pods: []cluster.Pod{
					{Namespace: "x", Name: "old", Node: "n1", Requests: cluster.Resources{"cpu": 1000}, Started: tt.started},
					{Namespace: "x", Name: "new", Requests: cluster.Resources{"cpu": 1000}, Priority: &one},
				},
			}
			r, err := preemption.Options{Explain: true}.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "x", Name: "new"}, s)
			require.NoError(t, err)
			require.Len(t, r.Trace, 1)
			var texts []string
			for _, step := range r.Trace[0].Steps {
				texts = append(texts, step.Text)
			}
			require.Contains(t, texts, tt.want)
		})
	}
}
