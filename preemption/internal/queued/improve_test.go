package queued_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/queued"
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

// TestDomainsShareTheSteps: all of them together take five times the steps of one, and then the queue's own pass
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
	require.Nil(t, search.Fits(each(search.Pods.Index)))
	search.Model.Hold(&cluster.QuotaHold{Name: "other", ClusterQueue: "all", Pods: []cluster.PodKey{{Name: "n00-0"}}})
	require.False(t, search.FitsNow(&search.Offers[0]))
	p := search.Fits(each(search.Pods.Index))
	require.NotNil(t, p)
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
			[]string{"web"}, []cluster.Workload{job("a", 5, 1), job("b", 5, 2)},
			victims.Score{Highest: 5, Sum: pods + 2*priority.Raised(5), Started: early.Add(time.Hour).UnixNano()},
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
