package bench_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// BenchmarkFilter: a decision about a pod that evicts others, of a shape that was seen, with
// a filter that keeps it off every third node, with a rule that lets only so many pods of one team onto a node,
// as a Colocation of nodes, or of racks of 20, and as a constraint that declares nothing, and without any; with changes, a pod leaves and comes back before each.
func BenchmarkFilter(b *testing.B) {
	for _, s := range []struct{ nodes, pods int }{{100, 3_000}, {5_000, 150_000}} {
		snap := gen.Fleet(s.nodes, s.pods/s.nodes, 1, gen.Uniform)
		for i := range snap.Nodes {
			snap.Nodes[i].Labels = map[string]string{"team": []string{"", "vision", "speech"}[i%3], "rack": fmt.Sprint("r", i/20)}
		}
		ask := gen.FleetPod(1)
		ask.Pods[0].Labels = map[string]string{"app": "train", "team": "vision", "pod-template-hash": "6d4cf56db6"}
		ofTeam := func(p *preemption.Pod) bool { return p.Labels["team"] != "" }
		teams := domain.Colocation{Check: "teams", Of: ofTeam, Monotone: true,
			Allows: func(_ *preemption.Pod, _ *preemption.Node, others []*preemption.Pod) bool {
				there := 0
				for _, o := range others {
					if ofTeam(o) {
						there++
					}
				}
				return there < 2
			}}
		racks := teams
		racks.TopologyKey = "rack"
		for _, hook := range []struct {
			name  string
			hooks *preemption.Hooks
		}{
			{"none", nil},
			{"filter", &preemption.Hooks{Filter: func(p *preemption.Pod, n *preemption.Node) bool {
				return n.Labels["team"] == "" || n.Labels["team"] == p.Labels["team"]
			}}},
			{"colocation", &preemption.Hooks{Constraints: []domain.Constraint{teams}}},
			{"racks", &preemption.Hooks{Constraints: []domain.Constraint{racks}}},
			{"undeclared", &preemption.Hooks{Constraints: []domain.Constraint{struct{ domain.Constraint }{teams}}}},
		} {
			for _, changes := range []bool{false, true} {
				b.Run(fmt.Sprintf("hook=%s/changes=%t/nodes=%d/pods=%d", hook.name, changes, s.nodes, s.pods), func(b *testing.B) {
					pl, err := preemption.NewPlanner(&snap, preemption.Options{Hooks: hook.hooks})
					if err != nil {
						b.Fatal(err)
					}
					c := &changed{Planner: pl, b: b, snap: snap}
					decide := func() {
						if d, err := pl.Decide(ask); err != nil || d.Verdict != preemption.Feasible {
							b.Fatal(d, err)
						}
					}
					for range 3 { // until the shape is known
						decide()
					}
					c.decideAgain(changes, decide)
				})
			}
		}
	}
}

// BenchmarkPrefer: a decision about a pod that fits on many nodes, of a shape that was seen,
// while the cluster changes: a pod leaves and comes back before each. With none it goes to
// the first node by name.
func BenchmarkPrefer(b *testing.B) {
	for _, s := range []struct{ nodes, pods int }{{100, 3_000}, {5_000, 150_000}} {
		snap := gen.Fleet(s.nodes, s.pods/s.nodes, 1, gen.Uniform)
		for i := range snap.Nodes {
			snap.Nodes[i].Allocatable[cluster.CPU] *= 2
		}
		ask := gen.FleetPod(1)
		for _, prefer := range []preemption.Preference{"", preemption.LeastAllocated, preemption.MostAllocated} {
			for _, changes := range []bool{false, true} {
				b.Run(fmt.Sprintf("prefer=%s/changes=%t/nodes=%d/pods=%d", prefer, changes, s.nodes, s.pods), func(b *testing.B) {
					pl, err := preemption.NewPlanner(&snap, preemption.Options{Prefer: prefer})
					if err != nil {
						b.Fatal(err)
					}
					c := &changed{Planner: pl, b: b, snap: snap}
					c.decideAgain(changes, func() {
						if d, err := pl.Decide(ask); err != nil || d.Verdict != preemption.Fits {
							b.Fatal(d, err)
						}
					})
				})
			}
		}
	}
}

// decideAgain measures decide; with changes, a pod leaves and comes back before each.
func (c *changed) decideAgain(changes bool, decide func()) {
	i := 0
	c.b.ReportAllocs()
	for c.b.Loop() {
		if changes {
			pod := c.pod(i)
			c.must(c.Remove(refOf(pod)))
			c.must(c.SetPod(pod))
			i++
		}
		decide()
	}
}

// BenchmarkOptions decides about a pod of a shape that is known, under options that say who
// is kept, what evictions cost, or who comes first, or where pods are nominated to 200 nodes:
// again, or once a pod or the time has changed, which counts, too.
func BenchmarkOptions(b *testing.B) {
	work := disruption.Tariff{Work: map[string]disruption.Rate{cluster.CPU: {Price: 1}}}
	suits := func(*preemption.Pod, *cluster.Node) bool { return true }
	for _, c := range []struct {
		name string
		o    preemption.Options
	}{
		{"none", preemption.Options{}},
		{"nominated", preemption.Options{}},
		{"guaranteed", preemption.Options{Guards: preemption.Guards{GuaranteedSeconds: 60}}},
		{"criterion", preemption.Options{Cost: preemption.CostOptions{Tariff: work, Criterion: 1}}},
		{"importance", preemption.Options{Cost: preemption.CostOptions{Tariff: work, Importance: true}}},
		{"movable", preemption.Options{PreferMovable: true}},
		{"objective", preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionPods, preemption.CriterionOverruns}}},
		{"limits", preemption.Options{Limits: preemption.Limits{Pods: 3}}},
		{"filter", preemption.Options{Guards: preemption.Guards{GuaranteedSeconds: 60}, Hooks: &preemption.Hooks{Filter: suits}}},
	} {
		for _, nodes := range []int{100, 5_000} {
			if testing.Short() && nodes > 100 {
				continue
			}
			for _, after := range []string{"nothing", "pod", "tick"} {
				b.Run(fmt.Sprintf("option=%s/after=%s/nodes=%d/pods=%d", c.name, after, nodes, 30*nodes), func(b *testing.B) {
					snap := gen.Fleet(nodes, 30, seed, gen.Uniform)
					pl, err := preemption.NewPlanner(&snap, c.o)
					l := &changed{pl, b, snap, snap.Time}
					l.must(err)
					for i := 0; i < min(nodes, 200) && c.name == "nominated"; i++ {
						p := gen.FleetPod(uint64(i)).Pods[0]
						p.Name, p.NominatedNode = fmt.Sprint("nominated-", i), l.node(i).Name
						l.must(pl.SetPod(p))
					}
					change := func(int) {}
					if i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == after }); i >= 0 {
						change = func(turn int) { kinds[i].change(l, turn) }
					}
					p := gen.FleetPod(1)
					decide := func() {
						_, err := pl.Decide(p)
						l.must(err)
					}
					for i := range 30 { // the first questions look at all nodes
						change(i)
						decide()
					}
					b.ReportAllocs()
					for i := 30; b.Loop(); i++ {
						change(i)
						decide()
					}
				})
			}
		}
	}
}
