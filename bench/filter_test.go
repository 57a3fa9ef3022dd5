package bench_test

import (
	"fmt"
	"testing"

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
