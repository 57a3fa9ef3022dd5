package preemption_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// drawVacant is a question about a gang in a fleet of several blocks of nodes, for which nodes stay
// vacant: of unlike members, perhaps apart or spread, in racks of nodes in a row or not; some of the
// other pods are selected by the constraints, in groups that go as a whole, or under budgets, and
// some nodes are closed or waited for.
func drawVacant(t *rapid.T) (preemption.Options, gen.Question) {
	draw := func(name string, n int) int { return rapid.IntRange(0, n-1).Draw(t, name) }
	seed := uint64(draw("seed", 1<<30))
	nodes, perNode := 20+draw("nodes", 180), 2+draw("pods", 9)
	q := gen.Question{Snapshot: gen.Fleet(nodes, perNode, seed, gen.Shapes()[draw("shape", len(gen.Shapes()))])}
	snap := &q.Snapshot
	q.Preemptor = fleetGang(1+draw("members", 24), []int64{64_000, 32_000, 21_000, 9_000, 3_500, 500}[draw("cpu", 6)])
	if draw("joined", 4) == 0 {
		joinPods(snap, perNode, draw("even", 2) == 0, draw("scattered", 2) == 0)
	}
	priority, racks := []int32{1 << 30, 1 << 30, 7, 300}[draw("priority", 4)], 1+draw("racks", 8)
	q.Preemptor.Group.Priority = &priority
	for i := range snap.Nodes {
		n := &snap.Nodes[i]
		rack := i * racks / nodes
		if seed%2 == 0 {
			rack = i % racks
		}
		n.Labels = map[string]string{"host": n.Name, "zone": fmt.Sprint(i % 3), "rack": fmt.Sprint(rack)}
		if draw("kind", 12) == 0 {
			switch seed / 2 % 4 {
			case 0:
				n.Unschedulable = true
			case 1:
				least := int32(1 << 30)
				snap.Pods = append(snap.Pods, preemption.Pod{
					Name: fmt.Sprint("waits-", i), NominatedNode: n.Name, Priority: &least, Requests: preemption.Resources{cluster.CPU: 20_000},
				})
			case 2:
				n.Allocatable[cluster.CPU] /= 2 // it has more pods than room
			case 3:
				delete(n.Allocatable, cluster.Pods)
			}
		}
	}
	ours := &disruption.Selector{MatchLabels: map[string]string{"job": "gang"}}
	others, kinds, step, tie := draw("others", 4), 1+draw("kinds", 8), int64(draw("step", 3)), draw("tie", 6)
	for i := range snap.Pods {
		if p := &snap.Pods[i]; p.Node != "" && i%(7+nodes/5) == 0 {
			switch others {
			case 0:
				p.Labels = map[string]string{"job": "gang"}
			case 1:
				p.Labels = map[string]string{"budget": "yes"}
			}
		}
	}
	if others == 1 {
		snap.Budgets = append(snap.Budgets, disruption.Budget{
			Namespace: "default", Name: "budget", Allowed: int32(draw("allowed", 4)) * 5,
			Selector: &disruption.Selector{MatchLabels: map[string]string{"budget": "yes"}},
		})
	}
	for i := range q.Preemptor.Pods {
		p := &q.Preemptor.Pods[i]
		p.Priority, p.Namespace = &priority, "default"
		p.Requests[cluster.CPU] += int64(i%kinds) * []int64{0, 1_000, 777}[step]
		p.Requests[cluster.Memory] = int64((i*5)%kinds) << 30
		p.Labels = map[string]string{"job": "gang"}
		if tie == 0 || tie == 1 {
			p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: "host", Selector: ours}}
		}
		if tie == 1 || tie == 2 {
			p.Spread = []cluster.Spread{{MaxSkew: int32(1 + i%2), TopologyKey: "zone", Selector: ours}}
		}
		if tie == 3 {
			p.Affinity = []cluster.AffinityTerm{{TopologyKey: "rack", Selector: ours}}
		}
		if seed%17 == 0 {
			p.Ports = []cluster.HostPort{{Port: 80}}
		}
		if i%3 == 1 && seed%5 == 0 {
			p.NodeSelector = map[string]string{"zone": "1"}
		}
	}
	q.Preemptor.Group.Namespace = "default"
	if draw("topology", 3) == 0 {
		q.Preemptor.Group.Topology = []cluster.TopologyConstraint{{Key: "rack"}}
	}
	if draw("least", 3) == 0 {
		least := int32(1 + len(q.Preemptor.Pods)/2)
		q.Preemptor.Group.MinCount = &least
	}
	o := gangOptionsBySeed(uint64(draw("options", 1600)))
	o.Explain = false
	return o, q
}

// vacantNodesAreLikeOthers: whole answers are the same where nodes stay vacant until somebody goes
// there, and where everybody who may go is taken out of the trial first; and they are where
// placements are left out that cost more than another one.
func vacantNodesAreLikeOthers(t *rapid.T) {
	o, q := drawVacant(t)
	got, err := o.PreemptByTrials(q.Preemptor, &q.Snapshot)
	require.NoError(t, err)
	want, err := o.PreemptWithoutColumns(q.Preemptor, &q.Snapshot)
	require.NoError(t, err)
	vacant, err := o.PreemptToTheEnd(q.Preemptor, &q.Snapshot, true)
	require.NoError(t, err)
	taken, err := o.PreemptToTheEnd(q.Preemptor, &q.Snapshot, false)
	require.NoError(t, err)
	if diff := cmp.Diff(taken, vacant); diff != "" {
		t.Fatalf("%s (-without columns +vacant, to the end):\n%.3000s", got.Message, diff)
	}
	got.Stats.Trials, want.Stats.Trials = 0, 0 // the columns tell which domains and placements are outdone
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s (-without columns +vacant):\n%.3000s", got.Message, diff)
	}
	some, err := o.PreemptEvery(q.Preemptor, &q.Snapshot, false)
	require.NoError(t, err)
	every, err := o.PreemptEvery(q.Preemptor, &q.Snapshot, true)
	require.NoError(t, err)
	some.Stats.Trials, every.Stats.Trials = 0, 0
	if diff := cmp.Diff(every, some); diff != "" {
		t.Fatalf("%s (-every placement +what may be better):\n%.3000s", got.Message, diff)
	}
}

func TestVacantNodesAreLikeOthers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, vacantNodesAreLikeOthers)
}
func FuzzVacantNodesAreLikeOthers(f *testing.F) { f.Fuzz(rapid.MakeFuzz(vacantNodesAreLikeOthers)) }
