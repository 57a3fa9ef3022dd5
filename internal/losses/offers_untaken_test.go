package losses_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/losses"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Whoever loses a place, offers that count anew where that was say what those say that count
// everything anew.
func untakenIsReset(t *rapid.T) {
	s := &cluster.Snapshot{}
	nodes := rapid.IntRange(1, 4).Draw(t, "nodes")
	for i := range nodes {
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprint("n", i), Allocatable: cluster.Resources{cluster.CPU: 6}})
	}
	for i := range rapid.IntRange(0, 10).Draw(t, "pods") {
		p := cluster.Pod{
			Name: fmt.Sprint("p", i), Node: fmt.Sprint("n", rapid.IntRange(0, nodes-1).Draw(t, "node")),
			Priority: new(int32), Requests: cluster.Resources{cluster.CPU: rapid.Int64Range(1, 3).Draw(t, "cpu")},
		}
		if *p.Priority = rapid.Int32Range(0, 2).Draw(t, "priority"); rapid.IntRange(0, 2).Draw(t, "grouped") == 0 {
			p.Group, p.Priority = "g", new(int32)
		}
		if rapid.IntRange(0, 3).Draw(t, "has a port") == 0 {
			p.Ports = []cluster.HostPort{{Port: 80}}
		}
		s.Pods = append(s.Pods, p)
	}
	s.PodGroups = []cluster.PodGroup{{Name: "g", Mode: "All"}}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	us := victims.NewUnits(ix, victims.Units137, victims.Worth{})
	var members []*domain.Member
	for i := range 6 {
		pod := &cluster.Pod{Name: fmt.Sprint("m", i), Requests: cluster.Resources{cluster.CPU: rapid.Int64Range(1, 3).Draw(t, "member")}}
		if rapid.IntRange(0, 3).Draw(t, "holds a port") == 0 {
			pod.Ports = []cluster.HostPort{{Port: 80}}
		}
		members = append(members, domain.NewMember(ix, pod, cluster.NoPod))
	}
	trial := domain.NewGangTrial(ix, members, nil, func(cluster.PodID) bool { return false })
	for p := range ix.Pods() {
		trial.Remove(p)
	}
	all := func(victims.UnitID) bool { return true }
	fast, plain := losses.NewOffers(us, trial, all, nil, nil), losses.NewOffers(us, trial, all, nil, nil)
	for m := range domain.MemberID(len(members)) {
		n := cluster.NodeID(rapid.IntRange(0, nodes-1).Draw(t, "on"))
		if !trial.CanPlace(m, n).OK() {
			continue
		}
		trial.Place(m, n)
		if rapid.IntRange(0, 5).Draw(t, "taken") > 0 {
			fast.Taken(m, n)
		} else if rapid.Bool().Draw(t, "asked") {
			plain.Reset()
			require.Equal(t, plain.Total(), fast.Total())
		}
		if to := rapid.IntRange(0, 2*len(trial.Placed())).Draw(t, "back to"); to < len(trial.Placed()) {
			var left []cluster.NodeID
			for _, m := range trial.Placed()[to:] {
				left = append(left, trial.At(m))
			}
			trial.UnplaceTo(to)
			fast.Untaken(left)
			plain.Reset()
			require.Equal(t, plain.Total(), fast.Total())
			fresh := losses.NewOffers(us, trial, all, nil, nil)
			fresh.Reset()
			require.Equal(t, fresh.Total(), plain.Total())
			for n := range ix.Nodes() {
				require.ElementsMatch(t, fresh.Booked(n), fast.Booked(n))
				for m := range domain.MemberID(len(members)) {
					if trial.At(m) == cluster.NoNode {
						require.Equal(t, fresh.Price(m, n), fast.Price(m, n))
						require.Equal(t, fresh.Price(m, n), plain.Price(m, n))
					}
				}
			}
		}
	}
}

func TestUntakenIsReset(t *testing.T) { rapid.Check(t, untakenIsReset) }
