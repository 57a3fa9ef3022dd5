package preemption_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/stretchr/testify/require"
)

// quotaLayout says whose workloads fill a flat cohort of twenty queues.
type quotaLayout struct {
	name    string
	own     bool // all of them in the preemptor's queue, which owns all; else in the 19 others, which own nothing
	fair    bool
	weight  int64 // of the preemptor's queue; 0: it owns what it asks for
	victims int64
}

// quotaFleet makes 20 queues in a cohort that numWorkloads jobs of one cpu fill,
// of random priority from 0 to 9, and a job that takes the place of some of them.
func quotaFleet(l quotaLayout, numWorkloads int) (*cluster.Snapshot, preemption.Options) {
	r := rand.New(rand.NewPCG(1, 1))
	total := int64(numWorkloads) * 1000
	s := &cluster.Snapshot{Time: time.Unix(1_000_000, 0), ResourceFlavors: []cluster.ResourceFlavor{{Name: "default"}}}
	groups := func(cpu int64) []cluster.ResourceGroup {
		return []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
			Flavor: "default", Resources: []cluster.ResourceQuota{{Resource: "cpu", Nominal: cpu}},
		}}}}
	}
	for i := range 20 {
		q := cluster.ClusterQueue{Name: fmt.Sprintf("q%02d", i), Cohort: "co", Groups: groups(0)}
		if i == 0 {
			q.Preemption = cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority, ReclaimWithinCohort: cluster.AnyPriority}
			q.Groups = groups(total)
			if l.weight > 0 {
				w := cluster.Weight(l.weight) * cluster.OneWeight
				q.Weight, q.Groups = &w, groups(0)
			}
		}
		s.ClusterQueues = append(s.ClusterQueues, q)
	}
	if l.weight > 0 {
		s.Cohorts = []cluster.Cohort{{Name: "co", Groups: groups(total)}}
	}
	s.LocalQueues = []cluster.LocalQueue{{Name: "lq", ClusterQueue: "q00"}}
	for i := range numWorkloads {
		queue := "q00"
		if !l.own {
			queue = fmt.Sprintf("q%02d", 1+i%19)
		}
		s.Workloads = append(s.Workloads, cluster.Workload{
			Name: fmt.Sprintf("w%06d", i), UID: fmt.Sprintf("%08x", r.Uint32()), Priority: int32(r.IntN(10)),
			Admission: &cluster.Admission{ClusterQueue: queue, Reserved: time.Unix(int64(r.IntN(1_000_000)), 0)},
			PodSets: []cluster.PodSet{{
				Name: "main", Count: 1, Requests: cluster.Resources{"cpu": 1000}, Flavors: map[string]string{"cpu": "default"},
			}},
		})
	}
	s.Workloads = append(s.Workloads, cluster.Workload{Name: "in", Queue: "lq", Priority: 10, PodSets: []cluster.PodSet{{
		Name: "main", Count: 1, Requests: cluster.Resources{"cpu": l.victims * 1000},
	}}})
	o := preemption.Options{}
	if l.fair {
		o.Quota.FairSharing = &preemption.FairSharing{}
	}
	return s, o
}

// BenchmarkQuotaHopeless asks where nobody may go: nobody of lower priority, or
// nobody of equal priority that is newer.
func BenchmarkQuotaHopeless(b *testing.B) {
	for _, policy := range []cluster.QueuePolicy{cluster.LowerPriority, cluster.LowerOrNewerEqualPriority} {
		for _, numWorkloads := range []int{1000, 100_000} {
			if testing.Short() && numWorkloads > 1000 {
				continue
			}
			b.Run(fmt.Sprintf("policy=%s/workloads=%d", policy, numWorkloads), func(b *testing.B) {
				s, o := quotaFleet(quotaLayout{own: true, victims: 1}, numWorkloads)
				s.ClusterQueues[0].Preemption = cluster.QueuePreemption{WithinClusterQueue: policy}
				for i := range s.Workloads {
					s.Workloads[i].Priority, s.Workloads[i].Created = 5, time.Unix(int64(i), 0)
				}
				pl, err := preemption.NewPlanner(s, o)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					if r, err := pl.Preempt(preemption.Preemptor{Kind: cluster.KindWorkload, Name: "in"}); err != nil || r.Verdict != preemption.Infeasible {
						b.Fatal(r, err)
					}
				}
			})
		}
	}
}

// BenchmarkQuotaChange replaces one workload of many.
func BenchmarkQuotaChange(b *testing.B) {
	for _, numWorkloads := range []int{1000, 100_000} {
		if testing.Short() && numWorkloads > 1000 {
			continue
		}
		b.Run(fmt.Sprintf("workloads=%d", numWorkloads), func(b *testing.B) {
			s, o := quotaFleet(quotaLayout{}, numWorkloads)
			pl, err := preemption.NewPlanner(s, o)
			if err != nil {
				b.Fatal(err)
			}
			if err := pl.SetWorkload(s.Workloads[0]); err != nil { // the first change makes the model live
				b.Fatal(err)
			}
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				w := s.Workloads[i%numWorkloads]
				w.Evicted = !w.Evicted
				if err := pl.SetWorkload(w); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

func BenchmarkQuota(b *testing.B) {
	for _, l := range []quotaLayout{
		{name: "classical-own", own: true},
		{name: "classical-reclaim"},
		{name: "fair-own", own: true, fair: true},
		{name: "fair-nominal", fair: true},
		{name: "fair-borrowing", fair: true, weight: 20},
	} {
		for _, numWorkloads := range []int{1000, 10_000, 100_000} {
			for _, l.victims = range []int64{1, 50, 500} {
				if testing.Short() && (numWorkloads > 1000 || l.victims > 50) {
					continue
				}
				b.Run(fmt.Sprintf("%s/workloads=%d/victims=%d", l.name, numWorkloads, l.victims), func(b *testing.B) {
					s, o := quotaFleet(l, numWorkloads)
					pl, err := preemption.NewPlanner(s, o)
					if err != nil {
						b.Fatal(err)
					}
					in := preemption.Preemptor{Kind: cluster.KindWorkload, Name: "in"}
					victims := 0
					b.ReportAllocs()
					for b.Loop() {
						r, err := pl.Preempt(in)
						if err != nil {
							b.Fatal(err)
						}
						victims += len(r.Victims)
					}
					b.ReportMetric(float64(victims)/float64(b.N), "victims/op")
				})
			}
		}
	}
}

// BenchmarkQuotaAndNodes asks for quota and a place: nodes of 8 cpu full of pods of 1
// cpu of 20 queues, of which one reclaims what it owns.
func BenchmarkQuotaAndNodes(b *testing.B) {
	for _, numNodes := range []int{100, 1000} {
		if testing.Short() && numNodes > 100 {
			continue
		}
		b.Run(fmt.Sprintf("nodes=%d/pods=%d", numNodes, 8*numNodes), func(b *testing.B) {
			s, o := quotaFleet(quotaLayout{victims: 1}, 8*numNodes)
			s.Workloads = nil
			r := rand.New(rand.NewPCG(1, 1))
			for i := 1; i < 20; i++ {
				name := fmt.Sprintf("q%02d", i)
				s.LocalQueues = append(s.LocalQueues, cluster.LocalQueue{Name: name, ClusterQueue: name})
			}
			for n := range numNodes {
				node := fmt.Sprintf("n%04d", n)
				s.Nodes = append(s.Nodes, cluster.Node{Name: node, Allocatable: cluster.Resources{"cpu": 8000}})
				for i := range 8 {
					prio := int32(r.IntN(10))
					s.Pods = append(s.Pods, cluster.Pod{
						Name: fmt.Sprintf("p%04d-%d", n, i), Node: node, Queue: fmt.Sprintf("q%02d", 1+r.IntN(19)), Priority: &prio,
						Started: time.Unix(int64(r.IntN(1_000_000)), 0), Requests: cluster.Resources{"cpu": 1000},
					})
				}
			}
			in := cluster.Pod{Name: "in", Queue: "lq", Requests: cluster.Resources{"cpu": 2000}}
			s.Pods = append(s.Pods, in)
			pl, err := preemption.NewPlanner(s, o)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if r, err := pl.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: "in"}); err != nil || len(r.Victims) != 2 {
					b.Fatal(r, err)
				}
			}
		})
	}
}

// BenchmarkLeastQuota: workloads of 1 to 16 CPUs and ten priorities, of one queue, or of 19 that have borrowed
// from the one that asks for 64, with and without fair sharing.
func BenchmarkLeastQuota(b *testing.B) {
	for _, of := range []struct {
		queues int
		fair   *preemption.FairSharing
	}{{1, nil}, {20, nil}, {20, &preemption.FairSharing{}}} {
		for _, n := range []int{300, 3000} {
			for _, search := range []preemption.Search{preemption.Greedy, preemption.Improved, preemption.Exact} {
				b.Run(fmt.Sprintf("queues=%d/fair=%t/workloads=%d/search=%s", of.queues, of.fair != nil, n, search), func(b *testing.B) {
					var planners []*preemption.Planner
					for seed := range uint64(5) {
						options := preemption.Options{Search: search, Objective: []preemption.CriterionName{preemption.CriterionUnits, preemption.CriterionSum}}
						options.Quota.FairSharing = of.fair
						pl, err := preemption.NewPlanner(unevenQuota(seed, of.queues, n), options)
						require.NoError(b, err)
						planners = append(planners, pl)
					}
					b.ReportAllocs()
					asked, victims, optimal := 0, 0, 0
					for b.Loop() {
						for _, pl := range planners {
							r, err := pl.Preempt(preemption.Preemptor{Kind: preemption.KindWorkload, Name: "in"})
							require.NoError(b, err)
							asked, victims = asked+1, victims+len(r.Victims)
							if r.Optimal {
								optimal++
							}
						}
					}
					b.ReportMetric(float64(victims)/float64(asked), "victims/question")
					b.ReportMetric(100*float64(optimal)/float64(asked), "%proved")
					b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(asked), "us/question")
				})
			}
		}
	}
}

// unevenQuota is a snapshot of those workloads, and workload "in".
func unevenQuota(seed uint64, queues, n int) *preemption.Snapshot {
	r := rand.New(rand.NewPCG(seed, 1))
	s := &preemption.Snapshot{
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "f"}}, LocalQueues: []preemption.LocalQueue{{Name: "lq", ClusterQueue: "q0"}},
	}
	used := make([]int64, queues)
	for i := range n {
		v, q := int64(1)<<r.IntN(5), 0
		if queues > 1 {
			q = 1 + i%(queues-1)
		}
		used[q] += v
		s.Workloads = append(s.Workloads, preemption.Workload{
			Name: fmt.Sprintf("w%04d", i), Priority: int32(r.IntN(10)),
			Admission: &preemption.Admission{ClusterQueue: fmt.Sprint("q", q), Reserved: time.Unix(r.Int64N(1000), 0)},
			PodSets:   []preemption.PodSet{{Name: "main", Count: 1, Requests: preemption.Resources{"cpu": v}, Flavors: map[string]string{"cpu": "f"}}},
		})
	}
	borrowed := int64(0)
	for q := queues - 1; q >= 0; q-- {
		nominal, cohort := used[q], ""
		if queues > 1 {
			cohort = "all"
			nominal = used[q] * 2 / 3
			borrowed += used[q] - nominal
		}
		if q == 0 {
			nominal += borrowed
		}
		queue := preemption.ClusterQueue{
			Name: fmt.Sprint("q", q), Cohort: cohort, Preemption: preemption.QueuePreemption{WithinClusterQueue: preemption.LowerPriority},
			Groups: []preemption.ResourceGroup{{Flavors: []preemption.FlavorQuotas{{
				Flavor: "f", Resources: []preemption.ResourceQuota{{Resource: "cpu", Nominal: nominal}},
			}}}},
		}
		if queues > 1 {
			queue.Preemption.ReclaimWithinCohort = preemption.AnyPriority
		}
		s.ClusterQueues = append(s.ClusterQueues, queue)
	}
	s.Workloads = append(s.Workloads, preemption.Workload{
		Name: "in", Queue: "lq", Priority: 100, PodSets: []preemption.PodSet{{Name: "main", Count: 1, Requests: preemption.Resources{"cpu": 64}}},
	})
	return s
}
