package queued_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/gang"
	"github.com/preempt-go/preempt/preemption/internal/queued"
	"github.com/preempt-go/preempt/preemption/internal/workload"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// full is a queue whose quota pods of n nodes hold, on each one of four cpu and two of two, the less important.
func full(n int) *cluster.Snapshot {
	prio := func(p int32) *int32 { return &p }
	cpu := func(n int64) cluster.Resources { return cluster.Resources{cluster.CPU: n} }
	s := &cluster.Snapshot{
		ResourceFlavors: []cluster.ResourceFlavor{{Name: "any"}},
		ClusterQueues: []cluster.ClusterQueue{{
			Name: "all", Preemption: cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority},
			Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
				Flavor: "any", Resources: []cluster.ResourceQuota{{Resource: cluster.CPU, Nominal: int64(8 * n)}},
			}}}},
		}},
		LocalQueues: []cluster.LocalQueue{{Name: "team", ClusterQueue: "all"}},
		Pods:        []cluster.Pod{{Name: "in", Queue: "team", Priority: prio(9), Requests: cpu(4)}},
	}
	for i := range n {
		node := fmt.Sprintf("n%02d", i)
		s.Nodes = append(s.Nodes, cluster.Node{Name: node, Allocatable: cpu(8)})
		for k, size := range []int64{4, 2, 2} {
			name := fmt.Sprintf("%s-%d", node, k)
			s.Pods = append(s.Pods, cluster.Pod{
				Name: name, Labels: map[string]string{"name": name}, Node: node, Queue: "team", Priority: prio(int32(3 - k)), Requests: cpu(size),
			})
		}
	}
	return s
}

// TestDomainsShareTheSteps: all of them together take five times the steps of one, where these are few, and then the queue's own pass
// decides.
func TestDomainsShareTheSteps(t *testing.T) {
	const nodes = 12
	for steps, most := range map[int]int{1: 5, 2: 10, 1000: nodes} {
		s := searchOf(full(nodes))
		s.Effort, s.Pods.Steps = ask.Improved, steps
		s.Run(each(s.Pods.Index))
		require.Equal(t, nodes, s.Tried)
		require.Positive(t, s.Improved)
		require.LessOrEqual(t, s.Improved, most, "each takes one step or more")
		if steps == 1000 {
			require.Equal(t, nodes, s.Improved)
		}
		require.NotNil(t, s.Best)
	}
}

// fewest likes it best if few units go.
type fewest struct{}

func (fewest) Compare(a, b victims.Score) int { return a.Units - b.Units }

// TestVictimsOfAPlan: the most important first, those without a queue before the others, each with what would
// be lacking, and whether a budget is violated.
func TestVictimsOfAPlan(t *testing.T) {
	s := full(2)
	prio, high := int32(1), int32(100)
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Node == "n01" {
			p.Priority = &high
		} else if p.Name == "n00-2" {
			p.Labels["kept"] = "yes"
		}
	}
	s.ClusterQueues[0].Groups[0].Flavors[0].Resources[0].Nominal += 2
	s.Nodes[0].Allocatable = cluster.Resources{cluster.CPU: 10}
	s.Pods = append(s.Pods, cluster.Pod{Name: "free", Node: "n00", Priority: &prio, Requests: cluster.Resources{cluster.CPU: 2}})
	s.Pods[0].Requests = cluster.Resources{cluster.CPU: 10}
	s.Budgets = []disruption.Budget{{Name: "kept", Selector: &disruption.Selector{MatchLabels: map[string]string{"kept": "yes"}}}}
	search := searchOf(s)
	require.Nil(t, search.Fits(each(search.Pods.Index)))
	search.Run(each(search.Pods.Index))
	require.NotNil(t, search.Best)
	require.Equal(t, 1, search.Best.Score.Violations)
	type told struct {
		Name     string
		Violates bool
		Quota    int64
		Room     int64
	}
	var got []told
	for _, v := range search.Spell(search.Best) {
		one := told{Violates: v.Violates, Quota: v.Lack.Missing, Room: v.Why.Missing}
		if v.Reservation == nil {
			one.Name = search.Pods.Index.Pod(search.Pods.Units.Unit(v.Unit).Pods[0]).Name
			require.EqualValues(t, 0, v.Node)
		} else {
			one.Name = v.Workload.Name
			require.Equal(t, cluster.NoNode, v.Node)
		}
		got = append(got, one)
	}
	require.Equal(t, []told{{"free", false, 0, 2}, {"n00-0", false, 4, 0}, {"n00-1", false, 2, 0}, {"n00-2", true, 2, 0}}, got)
}

// TestProtected: it is told where there was a place if the less important pods of queues went that their queue keeps.
func TestProtected(t *testing.T) {
	for name, x := range map[string]struct {
		policy cluster.QueuePolicy
		prio   int32
		cpu    int64
		want   bool
	}{
		"less important":                      {cluster.QueueNever, 8, 4, true},
		"as important":                        {cluster.QueueNever, 9, 4, false},
		"as important, of a queue that evict": {cluster.LowerPriority, 9, 4, false},
		"too large all the same":              {cluster.QueueNever, 8, 9, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := full(1)
			queue := &s.ClusterQueues[0]
			queue.Preemption.WithinClusterQueue, queue.Groups[0].Flavors[0].Resources[0].Nominal = x.policy, 100
			for i := range s.Pods[1:] {
				s.Pods[1+i].Priority = &x.prio
			}
			s.Pods[0].Requests = cluster.Resources{cluster.CPU: x.cpu}
			search := searchOf(s)
			search.Run(each(search.Pods.Index))
			require.Nil(t, search.Best)
			require.Equal(t, map[queued.Rejection]int{{Why: queued.NoPlace}: 1}, search.Rejected)
			require.Equal(t, x.want, search.Protected)
			for p := range cluster.PodID(search.Pods.Index.NumPods()) {
				require.False(t, search.Gang.Trial.Gone(p))
			}
		})
	}
}

// TestTheFirstRoundWithAPlan: further rounds are not tried, and what was found in place of the queue's own pass is told
// with the rest.
func TestTheFirstRoundWithAPlan(t *testing.T) {
	for _, effort := range []ask.Effort{ask.Greedy, ask.Improved} {
		s := searchOf(full(3))
		s.Effort, s.Pods.Compare, s.Note = effort, fewest{}, true
		one := each(s.Pods.Index)[0]
		small := domain.Domain{Name: "none"}
		s.Run([][]domain.Domain{{small}, one[:1], one[1:]})
		require.Equal(t, 1, s.Tried, "a domain without nodes is none")
		require.Equal(t, "n00", s.Best.Domain.Name)
		tried := 0
		for _, try := range s.Tries {
			if try.Plan == s.Best {
				tried++
			}
		}
		require.Equal(t, 1, tried)
		s.Tries, s.Note = nil, false
		s.Run([][]domain.Domain{one})
		require.Equal(t, 4, s.Tried)
		require.Empty(t, s.Tries)
		require.Equal(t, "n00", s.Best.Domain.Name, "the first of those that are as good")
	}
}

// TestItFitsOnceOthersHaveLeft: whose quota is free for it then, and its place now, or both are now. It stays placed.
func TestItFitsOnceOthersHaveLeft(t *testing.T) {
	s := full(1)
	s.Nodes = append(s.Nodes, cluster.Node{Name: "n01", Allocatable: cluster.Resources{cluster.CPU: 8}})
	s.Pods[1].Terminating, s.Pods[1].Preempted = true, true
	search := searchOf(s)
	search.Offers = append(search.Offers, search.Offers[0])
	require.Nil(t, search.Fits(each(search.Pods.Index)))
	search.Model.Hold(&cluster.QuotaHold{Name: "other", ClusterQueue: "all", Pods: []cluster.PodKey{{Name: "n00-0"}}})
	require.False(t, search.FitsNow(&search.Offers[0]))
	p := search.Fits(each(search.Pods.Index))
	require.NotNil(t, p)
	require.Same(t, &search.Offers[0], p.Offer, "the first of two")
	require.Equal(t, "n01", p.Domain.Name)
	require.Empty(t, p.Quota)
	require.Equal(t, p.Places, search.Gang.Trial.Assignments())
}

// TestTheNextRoundWhereThereIsNoPlan: because the pods of a node are too important, or kept by a guard.
func TestTheNextRoundWhereThereIsNoPlan(t *testing.T) {
	important := full(2)
	prio := int32(100)
	for i := range important.Pods {
		if p := &important.Pods[i]; p.Node == "n00" {
			p.Priority = &prio
		}
	}
	for why, search := range map[queued.Why]*queued.Search{
		queued.NoPlace: searchOf(important), queued.Nobody: searchOf(full(2), "n00-0", "n00-1", "n00-2"),
	} {
		all := each(search.Pods.Index)[0]
		search.Run([][]domain.Domain{all[:1], all[1:]})
		require.Equal(t, map[queued.Rejection]int{{Why: why}: 1}, search.Rejected)
		require.NotNil(t, search.Best)
		require.Equal(t, "n01", search.Best.Domain.Name)
		require.Equal(t, why == queued.Nobody, search.Protected)
	}
}

// TestLimitsCountWorkloadsWithoutPods: each is a victim more.
func TestLimitsCountWorkloadsWithoutPods(t *testing.T) {
	job := func(name string) cluster.Workload {
		return cluster.Workload{
			Name: name, Queue: "team", Admission: &cluster.Admission{ClusterQueue: "all", Reserved: time.Unix(0, 0)},
			PodSets: []cluster.PodSet{{Name: "main", Count: 1, Requests: cluster.Resources{cluster.CPU: 1}, Flavors: map[string]string{cluster.CPU: "any"}}},
		}
	}
	for most, want := range map[int64]bool{1: false, 2: true} {
		s := searchBeside([]cluster.Workload{job("a"), job("b")})
		s.Pods.Limits = []ask.Bound{{Of: ask.NumUnits, Left: most}}
		s.Run(each(s.Pods.Index))
		require.Equal(t, want, s.Best != nil, "a pod and a job go")
	}
}

// TestAPodFitsWhereItPrefersTo: it is asked of every domain, a pod that prefers nothing takes the first.
func TestAPodFitsWhereItPrefersTo(t *testing.T) {
	for prefer, want := range map[domain.Preference]string{domain.FirstByName: "n01", domain.LeastAllocated: "n02", domain.MostAllocated: "n01"} {
		s := full(1)
		s.ClusterQueues[0].Groups[0].Flavors[0].Resources[0].Nominal = 100
		s.Nodes = append(s.Nodes, cluster.Node{Name: "n01", Allocatable: cluster.Resources{cluster.CPU: 5}}, cluster.Node{Name: "n02", Allocatable: cluster.Resources{cluster.CPU: 9}}, cluster.Node{Name: "n03", Allocatable: cluster.Resources{cluster.CPU: 9}})
		search := searchOf(s)
		search.Pods.Prefer = prefer
		p := search.Fits(each(search.Pods.Index))
		require.NotNil(t, p)
		require.Equal(t, want, p.Domain.Name, prefer)
	}
}

// lends lets another queue of a cohort lend so much.
func lends(s *cluster.Snapshot, cpu int64) {
	s.ClusterQueues[0].Cohort = "co"
	lender := s.ClusterQueues[0]
	lender.Name = "lender"
	lender.Groups = []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
		Flavor: "any", Resources: []cluster.ResourceQuota{{Resource: cluster.CPU, Nominal: cpu}},
	}}}}
	s.ClusterQueues = append(s.ClusterQueues, lender)
}

// TestQuotaIsBorrowedWhereRoomIsMade: whoever is in the way has to go, who holds quota need not; and if he alone came
// back, it is room that would be lacking.
func TestQuotaIsBorrowedWhereRoomIsMade(t *testing.T) {
	s := full(1)
	low := int32(1)
	s.Nodes = append(s.Nodes, cluster.Node{Name: "n01", Allocatable: cluster.Resources{cluster.CPU: 4}})
	s.Pods = append(s.Pods, cluster.Pod{Name: "free", Node: "n01", Priority: &low, Requests: cluster.Resources{cluster.CPU: 1}})
	lends(s, 4)
	search := searchOf(s)
	require.Nil(t, search.Fits(each(search.Pods.Index)))
	search.Run(each(search.Pods.Index)[:1])
	require.NotNil(t, search.Best)
	require.Equal(t, "n01", search.Best.Domain.Name)
	require.Empty(t, search.Best.Quota)

	search = searchOf(s)
	search.Effort = ask.Improved
	search.Run([][]domain.Domain{each(search.Pods.Index)[0][1:]})
	require.Zero(t, search.Improved, "nobody to spare")

	search = searchOf(s)
	search.Run([][]domain.Domain{each(search.Pods.Index)[0][:1]})
	require.NotNil(t, search.Best)
	list := search.Spell(search.Best)
	require.NotEmpty(t, list)
	for _, v := range list {
		require.Positive(t, v.Why.Missing, v.Workload.Name)
	}
}

// TestTheFlavorWithQuotaNow: is taken rather than an earlier one that has it once others have left.
func TestTheFlavorWithQuotaNow(t *testing.T) {
	s := full(1)
	s.Nodes = append(s.Nodes, cluster.Node{Name: "n01", Allocatable: cluster.Resources{cluster.CPU: 8}})
	s.Pods[1].Terminating, s.Pods[1].Preempted = true, true
	s.ResourceFlavors = append(s.ResourceFlavors, cluster.ResourceFlavor{Name: "other"})
	flavors := &s.ClusterQueues[0].Groups[0].Flavors
	*flavors = append(*flavors, cluster.FlavorQuotas{Flavor: "other", Resources: []cluster.ResourceQuota{{Resource: cluster.CPU, Nominal: 4}}})
	search := searchOf(s)
	search.Model.Hold(&cluster.QuotaHold{Name: "hold", ClusterQueue: "all", Pods: []cluster.PodKey{{Name: "n00-0"}}})
	require.Len(t, search.Offers, 2)
	p := search.Fits(each(search.Pods.Index))
	require.NotNil(t, p)
	require.Same(t, &search.Offers[1], p.Offer)
	require.Equal(t, p.Places, search.Gang.Trial.Assignments())

	(*flavors)[0].Resources[0].Nominal += 4
	search = searchOf(s)
	require.Same(t, &search.Offers[0], search.Fits(each(search.Pods.Index)).Offer, "the first of two")
}

// TestFlavorsOfNodes: a pod goes to nodes of the flavor alone whose quota it takes, and nowhere where there is none.
func TestFlavorsOfNodes(t *testing.T) {
	s := full(2)
	s.ResourceFlavors[0].NodeLabels = map[string]string{"pool": "a"}
	s.Nodes[1].Labels = s.ResourceFlavors[0].NodeLabels
	for i := range s.Pods {
		if s.Pods[i].Node == "n00" {
			s.Pods[i].Queue = ""
		}
	}
	s.ClusterQueues[0].Groups[0].Flavors[0].Resources[0].Nominal = 8
	s.Pods[0].Requests[cluster.CPU] = 2
	all := [][]domain.Domain{{{Name: "all", Nodes: []cluster.NodeID{0, 1}}}}
	search := searchOf(s)
	search.Effort = ask.Improved
	search.Run(all)
	require.NotNil(t, search.Best)
	require.Equal(t, []cluster.NodeID{1}, search.Best.Domain.Nodes)
	require.Len(t, search.Best.Quota, 1)
	require.Equal(t, 1, search.Improved)

	s.ClusterQueues[0].Preemption.WithinClusterQueue = cluster.QueueNever
	search = searchOf(s)
	search.Run(all)
	require.Equal(t, map[queued.Rejection]int{{Why: queued.NoQuota, Offer: &search.Offers[0]}: 1}, search.Rejected)
	require.False(t, search.Quota)
	require.Zero(t, search.Tried)
}

// TestWhereThereIsNoPlan: every domain without a plan has its reason, and the others are
// still found.
func TestWhereThereIsNoPlan(t *testing.T) {
	none := queued.Rejection{Why: queued.NoPlace}
	for name, x := range map[string]struct {
		kept     []string
		limits   []ask.Bound
		best     string
		rejected map[queued.Rejection]int
	}{
		"as it is": {best: "n2", rejected: map[queued.Rejection]int{}},
		"one victim at most": {
			limits: []ask.Bound{{Of: ask.NumUnits, Left: 1}}, best: "n1",
			rejected: map[queued.Rejection]int{{Why: queued.BeyondBound, Bound: ask.Bound{Of: ask.NumUnits}}: 2}, // by Pack and by Spread
		},
		"nobody lands beside another": {
			limits:   []ask.Bound{{Of: ask.NumStranded}},
			rejected: map[queued.Rejection]int{{Why: queued.BeyondBound, Bound: ask.Bound{Of: ask.NumStranded}}: 2, {Why: queued.NotTogether}: 2},
		},
		"web and free are guarded":    {kept: []string{"web", "free"}, rejected: map[queued.Rejection]int{none: 1, {Why: queued.Nobody}: 1}},
		"nobody goes for nodes alone": {kept: []string{"free"}, best: "n1", rejected: map[queued.Rejection]int{none: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			s := search(x.kept...)
			s.Note, s.Pods.Limits = true, x.limits
			domains := [][]domain.Domain{each(s.Pods.Index)[0][:2]}
			require.Nil(t, s.Fits(domains))
			s.Run(domains)
			require.True(t, s.Quota)
			require.Equal(t, x.rejected[queued.Rejection{Why: queued.NotTogether}] > 0, s.Cut)
			require.Equal(t, 2, s.Tried)
			require.Equal(t, x.rejected, s.Rejected)
			if x.best == "" {
				require.Nil(t, s.Best)
			} else {
				require.Equal(t, x.best, s.Best.Domain.Name)
			}
			tried := map[string]bool{}
			for _, try := range s.Tries {
				tried[try.Domain.Name] = true
			}
			require.Len(t, tried, 2)
		})
	}
}

// TestWorkloadsCountAsOnePod: with their priority, and the time since when they hold their quota
// where nobody is more important.
func TestWorkloadsCountAsOnePod(t *testing.T) {
	early := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	job := func(name string, priority int32, hours int) cluster.Workload {
		return cluster.Workload{
			Name: name, Queue: "team", Priority: priority,
			Admission: &cluster.Admission{ClusterQueue: "all", Reserved: early.Add(time.Duration(hours) * time.Hour)},
			PodSets:   []cluster.PodSet{{Name: "main", Count: 1, Requests: cluster.Resources{cluster.CPU: 1}, Flavors: map[string]string{cluster.CPU: "any"}}},
		}
	}
	pods := priority.Raised(1) + priority.Raised(0) // batch and free make room for it
	for name, x := range map[string]struct {
		kept []string
		jobs []cluster.Workload
		want victims.Score
	}{
		"less important": {
			nil, []cluster.Workload{job("a", 0, 1), job("b", 0, 2)},
			victims.Score{Highest: 1, Sum: pods + 2*priority.Raised(0), Started: math.MaxInt64},
		},
		"as important": {
			nil, []cluster.Workload{job("a", 1, 3), job("b", 1, 2)},
			victims.Score{Highest: 1, Sum: pods + 2*priority.Raised(1), Started: early.Add(2 * time.Hour).UnixNano()},
		},
		"more important": {
			[]string{"web"}, []cluster.Workload{job("a", 5, 1), job("b", 1, 2)},
			victims.Score{Highest: 5, Sum: pods + priority.Raised(1) + priority.Raised(5), Started: early.Add(time.Hour).UnixNano()},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := searchBeside(x.jobs, x.kept...)
			s.Run(each(s.Pods.Index))
			require.NotNil(t, s.Best)
			x.want.Pods, x.want.Units = 4, 2
			require.Equal(t, x.want, s.Best.Score)
		})
	}
}

// anyQueue is a queue with quota for what its pods hold, more or less, on nodes which others share that have no queue. Some go together, and
// several may ask together, beside one of theirs that runs already.
func anyQueue(draw *rand.Rand) *cluster.Snapshot {
	s, one := full(0), int32(1)
	s.Pods[0].Requests[cluster.CPU] = 1 + draw.Int64N(5)
	held := int64(0)
	for i := range 1 + draw.IntN(3) {
		n := cluster.Node{Name: fmt.Sprint("n", i), Allocatable: cluster.Resources{cluster.CPU: 5 + draw.Int64N(4)}}
		s.Nodes = append(s.Nodes, n)
		for k, left := 0, n.Allocatable[cluster.CPU]; k < 2+draw.IntN(3) && left > 0; k++ {
			prio, size := int32(1+draw.IntN(4)*3), min(left, 1+draw.Int64N(4))
			p := cluster.Pod{Name: fmt.Sprint(n.Name, "-", k), Node: n.Name, Priority: &prio, Requests: cluster.Resources{cluster.CPU: size}}
			if left -= size; draw.IntN(3) > 0 {
				p.Queue, held = "team", held+size
			}
			if other := &s.Pods[draw.IntN(len(s.Pods))]; other.Node != "" && other.Group == "" && other.Queue == p.Queue && draw.IntN(2) == 0 {
				other.Group, p.Group, p.Priority = other.Name, other.Name, other.Priority
				s.PodGroups = append(s.PodGroups, cluster.PodGroup{Name: p.Group, Queue: []string{p.Queue, ""}[draw.IntN(2)], Mode: disruption.All, MinCount: &one, Priority: p.Priority})
			}
			s.Pods = append(s.Pods, p)
		}
	}
	if draw.IntN(2) == 0 { // the groups go together
		s.CompositePodGroups = []cluster.CompositePodGroup{{Name: "tree", Mode: disruption.All}}
		for i := range s.PodGroups {
			g := &s.PodGroups[i]
			g.Parent, g.Priority, s.CompositePodGroups[0].Priority = "tree", s.PodGroups[0].Priority, s.PodGroups[0].Priority
			for k := range s.Pods {
				if s.Pods[k].Group == g.Name {
					s.Pods[k].Priority = g.Priority
				}
			}
		}
	}
	if draw.IntN(3) == 0 {
		pods := 2 + draw.Int32N(2)
		need := pods
		s.PodGroups = append(s.PodGroups, cluster.PodGroup{Name: "in", Mode: disruption.Single, MinCount: &need, Priority: s.Pods[0].Priority})
		s.Pods[0].Group = "in"
		for i := range pods {
			p := s.Pods[0]
			p.Name, p.Requests = fmt.Sprint("in", i), cluster.Resources{cluster.CPU: 1 + draw.Int64N(4)}
			s.Pods = append(s.Pods, p)
		}
		if last := &s.Pods[len(s.Pods)-1-int(pods)]; draw.IntN(3) == 0 && last.Group == "" && last.Queue != "" {
			last.Group = "in"
			need++
		}
		s.Pods = s.Pods[1:]
	}
	s.ClusterQueues[0].Groups[0].Flavors[0].Resources[0].Nominal = max(held-2+draw.Int64N(6), 1)
	return s
}

// A tally is what there is on each node, and of quota, once some pods have gone.
type tally struct {
	free  map[string]int64
	quota int64
}

func tallyOf(s *cluster.Snapshot, gone func(p *cluster.Pod) bool) tally {
	t := tally{map[string]int64{}, s.ClusterQueues[0].Groups[0].Flavors[0].Resources[0].Nominal}
	for i := range s.Nodes {
		t.free[s.Nodes[i].Name] = s.Nodes[i].Allocatable[cluster.CPU]
	}
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Node != "" && !gone(p) {
			if t.free[p.Node] -= p.Requests[cluster.CPU]; p.Queue != "" {
				t.quota -= p.Requests[cluster.CPU]
			}
		}
	}
	return t
}

// asked is how much each of the pods asks for that want to run, and all together.
func asked(s *cluster.Snapshot) (each []int64, all int64) {
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Node == "" {
			each, all = append(each, p.Requests[cluster.CPU]), all+p.Requests[cluster.CPU]
		}
	}
	return each, all
}

// seat reports whether there is room for each on the nodes.
func seat(free map[string]int64, each []int64) bool {
	if len(each) == 0 {
		return true
	}
	for n := range free {
		if free[n] >= each[0] {
			free[n] -= each[0]
			ok := seat(free, each[1:])
			if free[n] += each[0]; ok {
				return true
			}
		}
	}
	return false
}

// least is the least that a set of less important units has with which the pods have a place and quota: the highest priority,
// the sum of them, and pods. Who has no queue goes from the domain alone, and nobody of whom goes with others some of whom have one. nil: there is none.
func least(s *cluster.Snapshot, wide bool) (best []int64) {
	var units [][]*cluster.Pod
	unitOf := func(p *cluster.Pod) string {
		if i := slices.IndexFunc(s.PodGroups, func(g cluster.PodGroup) bool { return g.Name == p.Group }); i >= 0 {
			return cmp.Or(s.PodGroups[i].Parent, p.Group)
		}
		return p.Name
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		of := slices.IndexFunc(units, func(pods []*cluster.Pod) bool { return unitOf(pods[0]) == unitOf(p) })
		switch {
		case p.Node == "" || *p.Priority >= 9 || p.Group == "in":
		case of >= 0:
			units[of] = append(units[of], p)
		default:
			units = append(units, []*cluster.Pod{p})
		}
	}
	units = slices.DeleteFunc(units, func(pods []*cluster.Pod) bool {
		return slices.ContainsFunc(pods, func(p *cluster.Pod) bool { return p.Queue != pods[0].Queue })
	})
	each, all := asked(s)
	for set := range uint(1) << len(units) {
		values, gone := []int64{-1 << 31, 0, 0}, map[string]bool{}
		for i, pods := range units {
			for _, p := range pods {
				if set>>i&1 != 0 {
					values[0], values[1], values[2] = max(values[0], int64(*p.Priority)), values[1]+priority.Raised(*p.Priority), values[2]+1
					gone[p.Name] = true
				}
			}
		}
		t := tallyOf(s, func(p *cluster.Pod) bool { return gone[p.Name] })
		for i := range s.Nodes {
			nodes := s.Nodes[i : i+1]
			if wide {
				nodes = s.Nodes
			}
			free := map[string]int64{}
			for k := range nodes {
				free[nodes[k].Name] = t.free[nodes[k].Name]
			}
			outside := slices.ContainsFunc(units, func(pods []*cluster.Pod) bool {
				return gone[pods[0].Name] && pods[0].Queue == "" && !slices.ContainsFunc(pods, func(p *cluster.Pod) bool { _, in := free[p.Node]; return in })
			})
			if t.quota >= all && !outside && (best == nil || slices.Compare(values, best) < 0) && seat(free, each) {
				best = values
			}
		}
	}
	return best
}

// TestAQueuesPlanAmongAllSets: there is a plan where some set of less important units makes room and frees quota, none
// else. It disrupts no less than the best of them, and no more where it is searched for. Of each victim it
// is told what would be lacking if it alone came back. Nothing is left of the search, so that the next says the same.
func TestAQueuesPlanAmongAllSets(t *testing.T) {
	told := map[string]int{}
	for seed := range uint64(800) {
		s := anyQueue(rand.New(rand.NewPCG(seed, 10)))
		wide := seed%2 == 0 || s.Pods[0].Name != "in" // one domain of all nodes
		best, before := least(s, wide), []int64(nil)
		for _, effort := range []ask.Effort{ask.Greedy, ask.Improved} {
			at := fmt.Sprint("seed ", seed, ", effort ", effort)
			search := searchOf(s)
			search.Effort, search.Note = effort, true
			domains := each(search.Pods.Index)
			if wide {
				all := domain.Domain{Name: "all"}
				for _, d := range domains[0] {
					all.Nodes = append(all.Nodes, d.Nodes...)
				}
				domains[0] = []domain.Domain{all}
			}
			if plan := search.Fits(domains); plan != nil {
				require.Equal(t, int64(0), best[2], at)
				require.True(t, search.Quota, at)
				holds(t, s, plan, tallyOf(s, func(*cluster.Pod) bool { return false }), at)
				told["fits"]++
				break
			}
			search.Run(domains)
			require.False(t, search.Cut, at)
			if best == nil {
				require.Nil(t, search.Best, at)
				require.Equal(t, len(search.Offers) == 0, len(search.Rejected) == 0, at)
				told["none"]++
				continue
			}
			require.NotNil(t, search.Best, at)
			require.Positive(t, best[2], at)
			require.True(t, slices.ContainsFunc(search.Tries, func(try queued.Try) bool { return try.Plan == search.Best }), at)
			score := search.Best.Score
			have := []int64{int64(score.Highest), score.Sum, int64(score.Pods)}
			require.LessOrEqual(t, slices.Compare(best, have), 0, at)
			if before == nil {
				before = have
			}
			require.LessOrEqual(t, slices.Compare(have, before), 0, at)
			if slices.Equal(have, best) {
				told["least"]++
			} else {
				told["more"]++
			}
			lacks(t, s, search, have, at)
			best := *search.Best
			search.Best = nil
			if search.Run(domains); effort == ask.Greedy || search.Best != nil {
				require.Equal(t, best, *search.Best, at)
			}
			lacks(t, s, search, have, at)
			require.Empty(t, search.Gang.Trial.Placed(), at)
			for p := range search.Pods.Index.Pods() {
				require.False(t, search.Gang.Trial.Gone(p), at)
			}
		}
	}
	t.Log(told)
	require.Greater(t, told["fits"], 20)
	require.Greater(t, told["none"], 20)
	require.Greater(t, told["least"], 5*told["more"])
}

// holds reports whether the places of a plan have room.
func holds(t *testing.T, s *cluster.Snapshot, plan *queued.Plan, left tally, at string) {
	each, all := asked(s)
	require.Len(t, plan.Places, len(each), at)
	require.LessOrEqual(t, all, left.quota, at)
	for _, a := range plan.Places {
		left.free[s.Nodes[a.Node].Name] -= each[a.Member]
	}
	for _, free := range left.free {
		require.GreaterOrEqual(t, free, int64(0), at)
	}
}

// lacks holds of the victims that are told that they come to the numbers of the plan, and of each what would be lacking.
func lacks(t *testing.T, s *cluster.Snapshot, search *queued.Search, values []int64, at string) {
	gone, ix, list, sum := map[string]*queued.Victim{}, search.Pods.Index, search.Spell(search.Best), int64(0)
	for i := range list {
		v := &list[i]
		pods := search.Model.Pods.Of[v.Reservation]
		if v.Reservation == nil {
			pods = search.Pods.Units.Unit(v.Unit).Pods
			require.True(t, i == 0 || list[i-1].Reservation == nil && search.Pods.Units.Compare(list[i-1].Unit, v.Unit) < 0, at)
		}
		for _, p := range pods {
			gone[ix.Pod(p).Name], sum = v, sum+priority.Raised(ix.Priority(p))
		}
	}
	require.Len(t, gone, int(values[2]), at)
	require.Equal(t, values[1], sum, at)
	holds(t, s, search.Best, tallyOf(s, func(p *cluster.Pod) bool { return gone[p.Name] != nil }), at)
	each, all := asked(s)
	for i := range list {
		v := &list[i]
		left := tallyOf(s, func(p *cluster.Pod) bool { return gone[p.Name] != nil && gone[p.Name] != v })
		missing := int64(0)
		for n := cluster.NodeID(len(s.Nodes)) - 1; n >= 0; n-- {
			free := left.free[s.Nodes[n].Name]
			for _, a := range search.Best.Places {
				if a.Node == n {
					free -= each[a.Member]
				}
			}
			missing = max(missing, -free)
		}
		if v.Reservation == nil {
			require.True(t, slices.ContainsFunc(search.Best.Places, func(a domain.Assignment) bool { return a.Node == v.Node }), at)
		} else if missing := all - max(left.quota, 0); missing > 0 {
			require.Equal(t, missing, v.Lack.Missing, at)
			continue
		}
		require.Positive(t, v.Why.Missing, at)
		require.GreaterOrEqual(t, missing, v.Why.Missing, at)
	}
}

// search is the search for pod in, of a queue with quota of six cpu, five of which the pods
// of two nodes hold. Pods of these names are kept.
func search(kept ...string) *queued.Search { return searchBeside(nil, kept...) }

// searchBeside is search beside workloads whose pods nobody knows: with them more is held than
// there is quota, by one cpu.
func searchBeside(jobs []cluster.Workload, kept ...string) *queued.Search {
	prio := func(p int32) *int32 { return &p }
	cpu := func(n int64) cluster.Resources { return cluster.Resources{cluster.CPU: n} }
	s := &cluster.Snapshot{
		ResourceFlavors: []cluster.ResourceFlavor{{Name: "any"}},
		ClusterQueues: []cluster.ClusterQueue{{
			Name: "all", Preemption: cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority},
			Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
				Flavor: "any", Resources: []cluster.ResourceQuota{{Resource: cluster.CPU, Nominal: 6}},
			}}}},
		}},
		LocalQueues: []cluster.LocalQueue{{Name: "team", ClusterQueue: "all"}},
		Nodes:       []cluster.Node{{Name: "n1", Allocatable: cpu(4)}, {Name: "n2", Allocatable: cpu(4)}, {Name: "n3", Allocatable: cpu(2)}},
		Pods: []cluster.Pod{
			{Name: "web", Labels: map[string]string{"name": "web"}, Node: "n1", Queue: "team", Priority: prio(2), Requests: cpu(3)},
			{Name: "batch", Labels: map[string]string{"name": "batch"}, Node: "n2", Queue: "team", Priority: prio(1), Requests: cpu(2)},
			{Name: "free", Labels: map[string]string{"name": "free"}, Node: "n2", Priority: prio(0), Requests: cpu(2)},
			{Name: "in", Queue: "team", Priority: prio(9), Requests: cpu(3)},
		},
	}
	s.Workloads = jobs
	if len(jobs) > 0 {
		s.ClusterQueues[0].Groups[0].Flavors[0].Resources[0].Nominal = 4 + int64(len(jobs))
	}
	return searchOf(s, kept...)
}

// searchOf is the search for pod in of s, or for the pods of group in, and so much cpu, of queue all.
func searchOf(s *cluster.Snapshot, kept ...string) *queued.Search {
	ix, err := cluster.NewIndex(s)
	if err != nil {
		panic(err)
	}
	base, err := workload.New(s.QuotaObjects(), workload.Rules{})
	if err != nil {
		panic(err)
	}
	var pods workload.Queued
	pods.Find(ix)
	m, err := pods.On(ix, base)
	if err != nil {
		panic(err)
	}
	units, queue := victims.NewUnits(ix, victims.Units137, victims.Worth{}), m.Index.QueueByName("all")
	pod := &ask.Question{
		Settings: &ask.Settings{Placers: []domain.Placer{domain.Pack{}}}, Index: ix, Units: units, Budgets: victims.NewBudgets(ix, disruption.Rule137),
		Priority:    9,
		Protections: units.Protect(victims.Guards{Protect: names(kept)}, victims.Unqueued{Base: victims.LowerPriority{}}),
	}
	member := func(p cluster.PodID) domain.MemberID {
		pod.Members = append(pod.Members, domain.NewMember(ix, ix.Pod(p), p))
		return domain.MemberID(len(pod.Members) - 1)
	}
	if in := ix.PodByName("", "in"); in != cluster.NoPod {
		member(in)
	} else {
		g := ix.GroupByName(cluster.KindPodGroup, "", "in")
		pod.Group, pod.Tree = ix.Group(g), seating.NewGroup(ix, g, member)
	}
	cpu := int64(0)
	for _, m := range pod.Members {
		cpu += m.Pod.Requests[cluster.CPU]
	}
	pod.SettleClaim()
	search := queued.New(queued.Question{
		Model: m, Workload: &cluster.Workload{Name: "in", Queue: "team", Priority: 9}, Queue: queue, Pods: pod, Gang: gang.New(pod),
	})
	search.Gang.Runner.Whole = true
	search.Offers, _ = m.Offers(queue, map[string]int64{cluster.CPU: cpu})
	return search
}

// names selects pods by name; nil selects none.
func names(list []string) *disruption.Selector {
	if list == nil {
		return nil
	}
	return &disruption.Selector{MatchExpressions: []disruption.Requirement{{Key: "name", Operator: disruption.In, Values: list}}}
}

// each is every node as a domain.
func each(ix *cluster.Index) [][]domain.Domain {
	var list []domain.Domain
	for n := range cluster.NodeID(ix.NumNodes()) {
		list = append(list, domain.Domain{Name: ix.Node(n).Name, Nodes: []cluster.NodeID{n}})
	}
	return [][]domain.Domain{list}
}

// Three cpu of quota are needed, and of one node: the pods of n2 are less important.
func Example() {
	s := search()
	fmt.Println("fits:", s.Fits(each(s.Pods.Index)) != nil)
	s.Run(each(s.Pods.Index))
	fmt.Println("in", s.Best.Domain.Name)
	for _, v := range s.Spell(s.Best) {
		if v.Reservation == nil {
			fmt.Println(s.Pods.Index.Pod(s.Pods.Units.Unit(v.Unit).Pods[0]).Name, "goes, or", v.Why.Missing, "are missing on", s.Pods.Index.Node(v.Node).Name)
		} else {
			fmt.Println(v.Workload.Name, "goes:", v.Reason, "or", v.Lack.Missing, "are missing of its quota")
		}
	}
	// Output:
	// fits: false
	// in n2
	// free goes, or 1 are missing on n2
	// batch goes: InClusterQueue or 2 are missing of its quota
}
