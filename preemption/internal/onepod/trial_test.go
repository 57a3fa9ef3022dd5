package onepod_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/onepod"
	"github.com/preempt-go/preempt/victims"
)

// counting counts what moves in a constraint and in its clones.
type counting struct {
	domain.State
	moves *int
}

func (c counting) Remove(p cluster.PodID, n cluster.NodeID) { *c.moves++; c.State.Remove(p, n) }
func (c counting) Return(p cluster.PodID, n cluster.NodeID) { *c.moves++; c.State.Return(p, n) }
func (c counting) Clone() domain.State                      { return counting{c.State.Clone(), c.moves} }

// TestTrialsMoveLargeUnitsAtOnce: whether a pod fits where units of many pods leave and return at once, in part or one pod after
// the other, beside pods that do by themselves, is what a trial says in which all do one by one.
func TestTrialsMoveLargeUnitsAtOnce(t *testing.T) {
	const nodes, groups, numLarge = 5, 10, 64
	r := rand.New(rand.NewPCG(1, 1))
	s := &cluster.Snapshot{}
	for i := range nodes {
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprint("n", i), Labels: map[string]string{"host": fmt.Sprint(i)}, Allocatable: cluster.Resources{cluster.CPU: 60}})
	}
	for g := range groups {
		s.PodGroups = append(s.PodGroups, cluster.PodGroup{Name: fmt.Sprint("g", g), Mode: disruption.All})
		for i := range []int{numLarge, 3}[g%2] {
			s.Pods = append(s.Pods, cluster.Pod{
				Name: fmt.Sprint("p", g, "-", i), Group: fmt.Sprint("g", g), Labels: map[string]string{"app": fmt.Sprint(i % 2)},
				Node: []string{"n0", "n1", "n2", "n3", "n4", "gone"}[r.IntN(6)], Requests: cluster.Resources{cluster.CPU: 1},
			})
		}
	}
	w := newWorld(t, s)
	high, app := int32(9), &disruption.Selector{MatchLabels: map[string]string{"app": "1"}}
	fits := map[bool]int{}
	for _, pod := range []cluster.Pod{
		{Affinity: []cluster.AffinityTerm{{TopologyKey: "host", Selector: app}}},
		{Spread: []cluster.Spread{{MaxSkew: 2, TopologyKey: "host", Selector: app}}},
	} {
		pod.Name, pod.Priority, pod.Labels, pod.Requests = "in", &high, app.MatchLabels, cluster.Resources{cluster.CPU: 10}
		q, moves := w.question(&ask.Settings{}, nil, &pod), 0
		for _, c := range []domain.Constraint{domain.InterPodAffinity(), domain.TopologySpread()} {
			state, err := c.Prepare(w.ix, []*cluster.Pod{&pod})
			require.NoError(t, err)
			if state != nil {
				q.States = append(q.States, counting{state, &moves})
			}
		}
		var trial onepod.Trial
		trial.Ask(q, domain.Nominees{Self: cluster.NoPod})
		plain := domain.NewNodeTrial(w.ix, q.Members[0], q.Clone().States, domain.Nominees{Self: cluster.NoPod})
		out := map[cluster.PodID]bool{}
		var atOnce []victims.UnitID // those that do, of which there are states
		moved := func(list ...victims.UnitID) {
			for _, u := range list {
				if len(w.units.Unit(u).Pods) == numLarge && !slices.Contains(atOnce, u) && len(atOnce) < 4 {
					atOnce = append(atOnce, u)
				}
			}
		}
		for range 3_000 {
			if r.IntN(50) == 0 && trial.Node() != cluster.NoNode {
				var list, want, others []victims.UnitID
				for i, g := range r.Perm(groups) {
					u, _ := w.units.UnitOf(w.ix.PodByName("", fmt.Sprint("p", g, "-0")))
					switch large := g%2 == 0; {
					case i < 7 && large && len(want) < 4:
						want = append(want, u)
					case large:
						others = append(others, u)
					}
					if i < 7 {
						list = append(list, u)
					}
				}
				require.Equal(t, want, trial.Favor(list))
				if moved(want...); slices.ContainsFunc(want, func(u victims.UnitID) bool { return !slices.Contains(atOnce, u) }) {
					atOnce = slices.Clone(want) // others make room for them, for which everybody is there
					plain.Reset(plain.Node())
				}
				require.Equal(t, plain.Fits(), trial.Fits())
				trial.Reset(trial.Node())
				plain.Reset(plain.Node())
				clear(out)
				for _, list := range [][]victims.UnitID{others, want, want} {
					moves = 0
					for _, u := range list {
						moved(u)
						trial.RemoveUnit(u, w.units.Unit(u).Pods)
						trial.ReturnUnit(u, w.units.Unit(u).Pods)
						for _, p := range w.units.Unit(u).Pods {
							if w.ix.NodeOf(p) == trial.Node() {
								moves -= 4
							}
						}
					}
				}
				require.LessOrEqual(t, moves, 0, "once there are states for it only those on the node move")
			}
			if r.IntN(20) == 0 || trial.Node() == cluster.NoNode {
				n := cluster.NodeID(r.IntN(nodes))
				trial.Reset(n)
				plain.Reset(n)
				clear(out)
			}
			p := cluster.PodID(r.IntN(w.ix.NumPods()))
			u, _ := w.units.UnitOf(p)
			all := w.units.Unit(u).Pods
			if r.IntN(3) == 0 {
				all = []cluster.PodID{p}
			}
			if moveAll(&trial, plain, out, u, all) && len(all) > 1 {
				moved(u)
			}
			why := plain.Fits()
			fits[why.OK()]++
			require.Equal(t, why, trial.Fits())
		}
	}
	require.Greater(t, fits[true], 300)
	require.Greater(t, fits[false], 300)
}

// moveAll lets pods of unit u leave if the first of them is there, else return: those of them who are not away, or there, already. It
// reports whether all do at once.
func moveAll(trial *onepod.Trial, plain *domain.NodeTrial, out map[cluster.PodID]bool, u victims.UnitID, pods []cluster.PodID) bool {
	away, mixed := !out[pods[0]], false
	for _, p := range pods {
		mixed = mixed || out[p] == away
	}
	if !mixed && away {
		trial.RemoveUnit(u, pods)
	} else if !mixed {
		trial.ReturnUnit(u, pods)
	}
	for _, p := range pods {
		if out[p] == away {
			continue
		}
		if out[p] = away; away {
			plain.Remove(p)
		} else {
			plain.Return(p)
		}
		if mixed && away {
			trial.Remove(p)
		} else if mixed {
			trial.Return(p)
		}
	}
	return !mixed
}

// TestEachTryIsALookMore: whoever waits may go away between two nodes that are tried one by one, also where
// little is tried.
func TestEachTryIsALookMore(t *testing.T) {
	const nodes = 40
	s := &cluster.Snapshot{}
	low, high := int32(1), int32(9)
	for i := range nodes {
		node := fmt.Sprint("n", i)
		s.Nodes = append(s.Nodes, cluster.Node{Name: node, Allocatable: cluster.Resources{cluster.CPU: 4}})
		s.Pods = append(s.Pods, cluster.Pod{Name: "low" + node, Node: node, Priority: &low, Requests: cluster.Resources{cluster.CPU: 1}})
		s.Pods = append(s.Pods, cluster.Pod{Name: "high" + node, Node: node, Priority: &high, Requests: cluster.Resources{cluster.CPU: 3}})
	}
	w := newWorld(t, s)
	pod := &cluster.Pod{Name: "in", Priority: &high, Requests: cluster.Resources{cluster.CPU: 2}}
	answer, _ := w.plainly(w.question(&ask.Settings{}, nil, pod))
	require.Equal(t, ask.Infeasible, answer.verdict)
	require.GreaterOrEqual(t, w.polls.Load(), int64(2*nodes), "each is looked at, and tried")
}
