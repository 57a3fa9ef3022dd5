package columns

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// laid is everything that the columns keep of a node.
func (l *NodeColumns) laid(n cluster.NodeID) string {
	b, i := l.levels.blocks[n/BlockSize], int(n%BlockSize)
	s := fmt.Sprint(b.Plain>>i&1, b.Odd>>i&1, b.Open>>i&1, l.levels.odd)
	if at := l.node(n); at.plain {
		s += fmt.Sprint(at.level, at.data, at.several, at.uneven, at.budgeted, at.elastic)
	}
	if b.Plain>>i&1 == 0 {
		return s
	}
	s += fmt.Sprint(" lowest ", b.lowest[i], b.latest[i])
	for _, rows := range [][]row{b.columns, b.offers} {
		for r := range rows {
			s += fmt.Sprint(" ", rows[r][i])
		}
	}
	return s
}

// anyPod runs on one of the nodes, of which some have more than fits. With many there are more levels than columns, and more
// resources than fit into a word.
func anyPod(t *rapid.T, name string, many bool) *cluster.Pod {
	n := func(n int) int64 { return int64(rapid.IntRange(0, n-1).Draw(t, "")) }
	priority := int32(n(3) * 10)
	p := &cluster.Pod{
		Name: name, Node: fmt.Sprint("n", n(3)), Priority: &priority,
		Requests: cluster.Resources{cluster.CPU: (1 + n(4)) * 100, cluster.Memory: n(3) << 20},
	}
	if many {
		priority = int32(n(40))
		for i := range 6 {
			p.Requests[fmt.Sprint("res", i)] = n(900)
		}
	}
	if n(8) == 0 {
		p.Labels = map[string]string{"app": "kept"}
	}
	if n(30) == 0 {
		p.Requests[cluster.CPU] = 12345 // in no grain, or more than a node offers
	}
	if n(30) == 0 {
		priority = int32(n(50))
	}
	return p
}

// followIsRefresh: what the columns keep of a node after a shift is what laying it out
// anew comes to, and so is who violates a budget; a fork stays as it is.
func followIsRefresh(t *rapid.T) {
	s := &cluster.Snapshot{Budgets: []disruption.Budget{{Name: "b", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "kept"}}}}}
	many := rapid.Bool().Draw(t, "many")
	for n := range 3 {
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprint("n", n), Allocatable: cluster.Resources{cluster.CPU: int64(n+1) * 2000, cluster.Memory: 1 << 30}})
		for i := range 6 {
			s.Nodes[n].Allocatable[fmt.Sprint("res", i)] = 9000
		}
	}
	for p := range rapid.IntRange(0, 50).Draw(t, "pods") {
		s.Pods = append(s.Pods, *anyPod(t, fmt.Sprint("p", p), many))
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	us, b := victims.NewUnits(ix, victims.UnitRule{}, victims.Worth{}), victims.NewBudgets(ix, disruption.Rule{})
	l := NewNodeColumns(us, b)
	for range rapid.IntRange(1, 20).Draw(t, "steps") {
		kept := *l.Violating(20)
		kept.any, kept.all = slices.Clone(kept.any), slices.Clone(kept.all)
		p := anyPod(t, fmt.Sprint("p", rapid.IntRange(0, 55).Draw(t, "pod")), many)
		old := ix.PodByName("", p.Name)
		var shifts []victims.Shift
		switch remove := rapid.IntRange(0, 3).Draw(t, "remove") == 0; {
		case remove && old != cluster.NoPod && ix.MayRemovePod(old):
			shifts = us.Remove(nil, old)
			ix.RemovePod(old)
		case remove || !ix.MaySetPod(p, old):
			continue
		case old != cluster.NoPod:
			from := ix.NodeOf(old)
			b.Set(ix, ix.SetPod(p, old))
			shifts = us.Replace(nil, old, from)
		default:
			id := ix.SetPod(p, cluster.NoPod)
			b.Set(ix, id)
			shifts = us.Add(nil, id, b)
		}
		fork, before := l.Fork(us, b), []string{l.laid(0), l.laid(1), l.laid(2)}
		anew := l.Fork(us, b)
		could := !slices.ContainsFunc(shifts, func(s victims.Shift) bool { return !anew.refresh(s.Node) })
		require.Equal(t, could, l.Follow(shifts))
		if !could { // no more than where that lays out other columns
			lanes, bounds := l.lanes, l.levels.bounds
			l = NewNodeColumns(us, b)
			require.False(t, reflect.DeepEqual(lanes, l.lanes) && slices.Equal(bounds, l.levels.bounds))
			continue
		}
		plain := NewNodeColumns(us, b)
		for _, below := range []int32{1, 20, 50} {
			have, want := l.Violating(below), plain.Violating(below)
			require.Equal(t, want.Any(0), have.Any(0), "below %d", below)
			require.Equal(t, want.All(0), have.All(0), "below %d", below)
			for n := range cluster.NodeID(3) {
				require.Equal(t, want.Of(n), have.Of(n), "below %d", below)
				first, end := plain.Positions(n, below)
				several := 0
				ledger := b.NewLedger()
				for g := first; plain.Plain(n) && g < end; g++ {
					if b.Charge(ledger, us.Unit(us.On(n)[g])) > 0 {
						several++
						require.True(t, have.Of(n).Has(g))
					}
				}
				require.Equal(t, several > 0, !have.Of(n).Empty())
				require.Equal(t, several > 0, have.Any(0)>>n&1 == 1)
				require.Equal(t, several > 0 && several == int(end-first), have.All(0)>>n&1 == 1)
			}
		}
		for n := range cluster.NodeID(3) {
			require.Equal(t, anew.laid(n), l.laid(n))
			require.Equal(t, before[n], fork.laid(n), "the fork is left alone")
		}
		require.Equal(t, kept.any, fork.Violating(20).any)
		require.Equal(t, kept.all, fork.Violating(20).all)
	}
}

// TestLargeUnitsAreLookedAtAnew: whether nothing tells the pods of a unit apart is noted until they are others.
func TestLargeUnitsAreLookedAtAnew(t *testing.T) {
	one, two := int32(1), int32(2)
	pod := func(i int, priority *int32, label string) *cluster.Pod {
		return &cluster.Pod{Name: fmt.Sprintf("p%02d", i), Node: "n", Group: "g", Priority: priority, Labels: map[string]string{"app": label}, Requests: cluster.Resources{cluster.CPU: 1}}
	}
	s := &cluster.Snapshot{
		Nodes:     []cluster.Node{{Name: "n", Allocatable: cluster.Resources{cluster.CPU: 100, cluster.Pods: 100}}},
		PodGroups: []cluster.PodGroup{{Name: "g", Mode: disruption.All, Priority: &one}},
		Budgets:   []disruption.Budget{{Name: "b", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "kept"}}}},
	}
	for i := range 2 * manyPods {
		s.Pods = append(s.Pods, *pod(i, &one, ""))
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	us, b := victims.NewUnits(ix, victims.Units137, victims.Worth{}), victims.NewBudgets(ix, disruption.Rule137)
	l := NewNodeColumns(us, b)
	laid := []bool{l.Laid(0)}
	for _, p := range []*cluster.Pod{pod(30, &one, ""), pod(31, &two, ""), pod(32, &one, "kept")} {
		id := ix.SetPod(p, cluster.NoPod)
		b.Set(ix, id)
		require.True(t, l.Follow(us.Settle(us.Add(nil, id, b))))
		laid = append(laid, l.Laid(0))
		if id := ix.PodByName("", p.Name); !l.Laid(0) {
			shifts := us.Remove(nil, id)
			ix.RemovePod(id)
			require.True(t, l.Follow(us.Settle(shifts)))
			laid = append(laid, l.Laid(0))
		}
	}
	require.Equal(t, []bool{true, true, false, true, false, true}, laid)
}

func TestFollowIsRefresh(t *testing.T) { rapid.Check(t, followIsRefresh) }

func FuzzFollowIsRefresh(f *testing.F) { f.Fuzz(rapid.MakeFuzz(followIsRefresh)) }
