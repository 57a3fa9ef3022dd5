package preemption_test

import (
	"fmt"
	"math"
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
	"github.com/preempt-go/preempt/victims"
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

// best is the most members that can have a place in one of the regions, and the
// least score at which they can, over every placement.
func best(g *naive.Gang, regions []naive.Region) (most int, score []int64) {
	for _, r := range regions {
		most = max(most, g.MostSeated(r.Nodes, naive.Gone(g.Potential(r.Nodes))))
	}
	for _, r := range regions {
		g.EachPlacement(r.Nodes, naive.Gone(g.Potential(r.Nodes)), func(p naive.Places) bool {
			if len(p) != most || !g.Useful(p) {
				return true
			}
			if plan, st := g.At(p, r.Nodes); st.OK() {
				if v := scoreValues(plan.Score); score == nil || slices.Compare(v, score) < 0 {
					score = v
				}
			}
			return true
		})
	}
	return most, score
}

// TestNoPlacementDisruptsLessInSmallClusters: where all placements can be looked at,
// the answer is the best of them: most members, then the lowest score.
func TestNoPlacementDisruptsLessInSmallClusters(t *testing.T) {
	for name, profile := range gangsAsked() {
		if profile.Wishes {
			continue // child groups that want a region of their own are placed one after the other
		}
		for rules, o := range map[string]preemption.Options{"Kubernetes137": {}, "broken": {BrokenGroupsFree: true}} {
			t.Run(name+"/"+rules, func(t *testing.T) {
				t.Parallel()
				asked := 0
				for seed := range seeds(600) {
					q := gen.RandomGang(seed, profile)
					if !asksSomething(q) {
						continue
					}
					g, err := naive.NewGang(gangOptions(o), q.Preemptor, &q.Snapshot)
					require.NoError(t, err)
					verdict, able := gangTwinVerdict(o, g, q.Preemptor)
					if verdict != naive.Feasible {
						continue
					}
					asked++
					most, score := best(g, able)
					r := ask(&named{t, seed}, o, q)
					require.Len(t, r.Nominations, most, "seed %d", seed)
					require.Equal(t, score, resultDecision(r).Score, "seed %d: %s", seed, r.Message)
				}
				require.NotZero(t, asked)
			})
		}
	}
}

// TestAllThatFitSeatsAll: whatever the rules and the placement, as many members get a
// place as fit anywhere with everybody gone whom the gang may evict, or as things stand.
func TestAllThatFitSeatsAll(t *testing.T) {
	for name, profile := range gangsAsked() {
		if profile.Wishes {
			continue
		}
		profile.MaxMembers = 6
		for _, o := range []preemption.Options{
			{}, {Rules: preemption.Kubernetes136}, {Rules: preemption.KEP5710Alpha}, {LowestLevel: true},
			{Placement: preemption.PlacePack}, {Placement: preemption.PlaceSpread},
		} {
			o.Members = preemption.AllThatFit
			t.Run(fmt.Sprint(name, "/", o.Rules, o.Placement, o.LowestLevel), func(t *testing.T) {
				t.Parallel()
				asked, fit := 0, 0
				for seed := range sparse(2800) {
					q := sound(o, gen.RandomGang(seed, profile))
					if !asksSomething(q) {
						continue
					}
					r := ask(&named{t, seed}, o, q)
					if r.Verdict != preemption.Feasible && r.Verdict != preemption.Fits {
						continue
					}
					g, err := naive.NewGang(gangOptions(o), q.Preemptor, &q.Snapshot)
					require.NoError(t, err)
					most := 0
					if r.Verdict == preemption.Fits {
						for _, round := range g.Rounds() {
							for _, region := range round {
								most = max(most, g.MostSeated(region.Nodes, nil))
							}
							if most > 0 {
								break
							}
						}
						require.Len(t, r.Nominations, most, "seed %d: %s", seed, r.Message)
						fit++
						continue
					}
					verdict, able := gangTwinVerdict(o, g, q.Preemptor)
					require.Equal(t, naive.Feasible, verdict, "seed %d", seed)
					for _, region := range able {
						most = max(most, g.MostSeated(region.Nodes, naive.Gone(g.Potential(region.Nodes))))
					}
					require.Len(t, r.Nominations, most, "seed %d: %s", seed, r.Message)
					asked++
				}
				require.NotZero(t, asked)
				require.NotZero(t, fit)
			})
		}
	}
}

// TestTheFullestGroupsAreSeated: of groups of 1, 2, 2 and 2 members that run whole, the last three take six seats.
func TestTheFullestGroupsAreSeated(t *testing.T) {
	one, high := int32(1), int32(10)
	s := preemption.Snapshot{CompositePodGroups: []cluster.CompositePodGroup{{Namespace: "x", Name: "job", Priority: &high, MinGroupCount: &one}}}
	core := cluster.Resources{cluster.CPU: 1000}
	for i := range 6 {
		n := fmt.Sprint("n", i)
		s.Nodes = append(s.Nodes, preemption.Node{Name: n, Allocatable: core})
		s.Pods = append(s.Pods, preemption.Pod{Namespace: "x", Name: "on-" + n, Node: n, Requests: core})
	}
	for i, size := range []int32{1, 2, 2, 2} {
		g := fmt.Sprint("g", i)
		s.PodGroups = append(s.PodGroups, cluster.PodGroup{Namespace: "x", Name: g, Parent: "job", Priority: &high, MinCount: &size})
		for k := range size {
			s.Pods = append(s.Pods, preemption.Pod{Namespace: "x", Name: fmt.Sprint(g, "-", k), Group: g, Priority: &high, Requests: core})
		}
	}
	r, err := preemption.Preempt(preemption.Preemptor{Kind: cluster.KindCompositePodGroup, Namespace: "x", Name: "job"}, &s)
	require.NoError(t, err)
	require.Len(t, r.Nominations, 6)
	require.False(t, slices.ContainsFunc(r.Nominations, func(n preemption.Nomination) bool { return n.Pod.Name == "g0-0" }))
}

// TestLeastDisruptionComesCloseToTheBest compares the answer in clusters of up to 20
// nodes with what looking at every placement gives, and holds how often it is the
// best. Measured over 1000 seeds, some 480 questions each that evictions answer: 474
// of 480 and 481 of 483; 386 and 382 without the search beyond the placers.
func TestLeastDisruptionComesCloseToTheBest(t *testing.T) {
	for name, profile := range map[string]gen.GangProfile{
		"8 nodes, 8 members":  {Profile: gen.Profile{MaxNodes: 8, MaxPods: 40, Groups: true}, MaxMembers: 8},
		"20 nodes, 4 members": {Profile: gen.Profile{MaxNodes: 20, MaxPods: 100, Groups: true}, MaxMembers: 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, reached := 0, 0
			worseIn := map[victims.Criterion]int{}
			for seed := range uint64(150) { // with -short too: a share of fewer means nothing
				q := gen.RandomGang(seed, profile)
				r := ask(&named{t, seed}, preemption.Options{}, q)
				if r.Verdict != preemption.Feasible {
					continue
				}
				all, err := preemption.Options{}.PreemptSearching(q.Preemptor, &q.Snapshot, math.MaxInt32)
				require.NoError(t, err)
				asked++
				got, want := seatsAndScore(r), seatsAndScore(all)
				require.GreaterOrEqual(t, slices.Compare(got, want), 0, "seed %d: every placement was looked at", seed)
				if slices.Equal(got, want) {
					reached++
					continue
				}
				i := 0
				for got[i] == want[i] {
					i++
				}
				worseIn[append([]victims.Criterion{"seated"}, victims.Criteria[:]...)[i]]++
			}
			t.Logf("the best in %d of %d; the others are worse in %v", reached, asked, worseIn)
			require.GreaterOrEqual(t, float64(reached)/float64(asked), 0.95)
		})
	}
}

// seatsAndScore is what placements are compared by, smaller is better.
func seatsAndScore(r *preemption.Result) []int64 {
	return append([]int64{-int64(len(r.Nominations))}, resultDecision(r).Score...)
}

// optimum is the least disruption by which so many equal members get a place: the
// highest priority that has to go, and then the smallest sum of raised priorities, over
// every placement and every set of victims. It is for pods that go one by one.
func optimum(q gen.Question, members int) (highest, sum int64) {
	ask := q.Preemptor.Pods[0].Requests[cluster.CPU]
	for highest = range int64(10) {
		least := make([]int64, members+1) // by members seated so far: the smallest sum
		for k := 1; k <= members; k++ {
			least[k] = math.MaxInt64
		}
		for _, n := range q.Snapshot.Nodes {
			node := cheapestOn(q, n, ask, highest, members)
			next := make([]int64, members+1)
			for k := range next {
				next[k] = math.MaxInt64
				for here := range k + 1 {
					if least[k-here] < math.MaxInt64 && node[here] < math.MaxInt64 {
						next[k] = min(next[k], least[k-here]+node[here])
					}
				}
			}
			least = next
		}
		if least[members] < math.MaxInt64 {
			return highest, least[members]
		}
	}
	return 0, 0
}

// cheapestOn is, by how many members get a place on node n, the smallest sum of raised
// priorities, over every set of its pods up to a priority.
func cheapestOn(q gen.Question, n cluster.Node, ask, highest int64, members int) []int64 {
	var pods []cluster.Pod
	free := n.Allocatable[cluster.CPU]
	for _, p := range q.Snapshot.Pods {
		if p.Node == n.Name {
			pods = append(pods, p)
			free -= p.Requests[cluster.CPU]
		}
	}
	least := make([]int64, members+1)
	for k := range least {
		least[k] = math.MaxInt64
	}
	for set := range 1 << len(pods) {
		room, sum, may := free, int64(0), true
		for i, p := range pods {
			if set>>i&1 == 1 {
				room, sum, may = room+p.Requests[cluster.CPU], sum+int64(*p.Priority)+1<<31, may && int64(*p.Priority) <= highest
			}
		}
		for k := range least {
			if may && int64(k)*ask <= room {
				least[k] = min(least[k], sum)
			}
		}
	}
	return least
}

// equalGang is a question about a gang of equal members in a full cluster of a few nodes
// with pods of that many sizes and priorities.
func equalGang(seed uint64, sizes, levels int) (q gen.Question, members int) {
	r := rand.New(rand.NewPCG(seed, 3))
	number := 0
	for i := range 3 + r.IntN(4) {
		n := cluster.Node{Name: fmt.Sprint("n", i), Allocatable: cluster.Resources{cluster.CPU: int64(6 + r.IntN(6))}}
		q.Snapshot.Nodes = append(q.Snapshot.Nodes, n)
		for free := n.Allocatable[cluster.CPU] - int64(r.IntN(2)); free > 0 && number < 8*(i+1); number++ {
			size, priority := min(free, int64(1+r.IntN(sizes))), int32(r.IntN(levels))
			q.Snapshot.Pods = append(q.Snapshot.Pods, cluster.Pod{
				Name: fmt.Sprint("p", number), Node: n.Name, Priority: &priority, Requests: cluster.Resources{cluster.CPU: size},
			})
			free -= size
		}
	}
	members = 2 + r.IntN(5)
	q.Preemptor = fleetGang(members, int64(1+r.IntN(5)))
	return q, members
}

// TestTheOptimumIsNear compares with the least disruption over every placement and every
// set of victims. Victims are given back one by one, the most important first, so that
// it need not be reached: the sum of raised priorities, which counts pods first of all,
// is held to a bound, and so is how often it is the least. The highest priority always
// is. With no checks the placers alone decide, as in large clusters. Measured over 2,000
// seeds, in turn: 1.000, 0.986, 0.727 and 0.759, at worst 1.00, 1.25, 2.00 and 3.00 times
// the sum; with checks 1.000, 1.000, 0.875 and 0.910, at worst 1, 1, 2 and 2 times.
func TestTheOptimumIsNear(t *testing.T) {
	for _, c := range []struct {
		sizes, levels, checks int
		share, bound          float64
	}{
		{1, 1, 0, 1, 1}, {1, 4, 0, 0.97, 1.5}, {4, 1, 0, 0.68, 2}, {4, 4, 0, 0.7, 3},
		{1, 1, 50_000, 1, 1}, {1, 4, 50_000, 1, 1}, {4, 1, 50_000, 0.83, 2}, {4, 4, 50_000, 0.87, 2},
	} {
		t.Run(fmt.Sprintf("sizes=%d/levels=%d/checks=%d", c.sizes, c.levels, c.checks), func(t *testing.T) {
			t.Parallel()
			asked, reached, worst := 0, 0, 1.0
			for seed := range uint64(400) { // with -short too: a share of fewer means nothing
				q, members := equalGang(seed, c.sizes, c.levels)
				r, err := preemption.Options{}.PreemptSearching(q.Preemptor, &q.Snapshot, c.checks)
				require.NoError(t, err)
				if r.Verdict != preemption.Feasible {
					continue
				}
				require.Len(t, r.Nominations, members)
				highest, sum := optimum(q, members)
				got := resultDecision(r).Score
				require.Equal(t, highest, got[1], "seed %d", seed)
				require.GreaterOrEqual(t, got[2], sum, "seed %d", seed)
				if asked++; got[2] == sum {
					reached++
				}
				worst = max(worst, float64(got[2])/float64(sum))
			}
			share := float64(reached) / float64(asked)
			t.Logf("the optimum in %d of %d (%.3f); at worst %.2f times its sum", reached, asked, share, worst)
			require.GreaterOrEqual(t, share, c.share)
			require.LessOrEqual(t, worst, c.bound)
		})
	}
}
