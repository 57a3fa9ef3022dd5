package queued_test

import (
	"fmt"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/gang"
	"github.com/preempt-go/preempt/preemption/internal/queued"
	"github.com/preempt-go/preempt/preemption/internal/workload"
	"github.com/preempt-go/preempt/victims"
)

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
