package domain_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// fourOrders are members and nodes of which each order of FirstFit makes something else.
func fourOrders(t *testing.T) (*gangWorld, []domain.MemberID) {
	return newGangWorld(t, []int64{5, 4}, nil, []int64{1, 4, 3}), []domain.MemberID{0, 1, 2}
}

func TestFirstFitInFourOrders(t *testing.T) {
	const n0, n1 = 0, 1
	for order, want := range map[domain.FirstFit][]cluster.NodeID{
		{}:                      {n0, n0, n1},
		{LastMemberFirst: true}: {n0, n1, n0},
		{LastNodeFirst: true}:   {n1, n0, n1},
		{true, true}:            {n1, n0, n1},
	} {
		w, members := fourOrders(t)
		require.Equal(t, 3, order.Place(w.trial, &w.whole, nil, members, 3), "%+v", order)
		require.Equal(t, want, []cluster.NodeID{w.trial.At(0), w.trial.At(1), w.trial.At(2)}, "%+v", order)

		w, members = fourOrders(t)
		require.Equal(t, 1, order.Place(w.trial, &w.whole, nil, members, 1), "no more than asked for")
		require.Len(t, w.trial.Placed(), 1)
		require.Equal(t, []domain.MemberID{0, 1, 2}, members, "the list is the caller's")
	}
}

// Members whose order fills one node after the other to the brim all find a place, from
// the first on and from the last on.
func TestFirstFitFindsWhatItsOrderFills(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var nodes, members []int64
		for range rapid.IntRange(1, 5).Draw(t, "nodes") {
			list := rapid.SliceOfN(rapid.Int64Range(1, 9), 1, 5).Draw(t, "on a node")
			nodes, members = append(nodes, 0), append(members, list...)
			for _, cpu := range list {
				nodes[len(nodes)-1] += cpu
			}
		}
		w := newGangWorld(t, nodes, nil, members)
		var ids []domain.MemberID
		for i := range members {
			ids = append(ids, domain.MemberID(i))
		}
		for _, order := range []domain.FirstFit{{}, {true, true}} {
			require.Equal(t, len(ids), order.Place(w.trial, &w.whole, nil, ids, len(ids)))
			w.trial.UnplaceTo(0)
		}
	})
}

// Members of one shape that a constraint tells apart: who fits nowhere is in nobody's way.
func TestAMemberThatFitsNowhereIsInNobodysWay(t *testing.T) {
	ix, err := cluster.NewIndex(&cluster.Snapshot{
		Nodes: []cluster.Node{{Name: "g1", Allocatable: cluster.Resources{cluster.CPU: 9}, Devices: map[string]cluster.DevicePool{"gpu": {Count: 2, Capacity: 1000}}}},
	})
	require.NoError(t, err)
	for _, placer := range []domain.Placer{domain.Pack{}, domain.Pack{SmallFirst: true}, domain.Spread{}, domain.FirstFit{}, domain.FirstFit{LastMemberFirst: true}} {
		var members []*domain.Member
		var pods []*cluster.Pod
		for _, gpus := range []int32{3, 1, 1, 3} {
			pod := &cluster.Pod{Name: "m", Requests: cluster.Resources{cluster.CPU: 1}, Devices: []cluster.DeviceRequest{{Resource: "gpu", Count: gpus}}}
			pods = append(pods, pod)
			members = append(members, domain.NewMember(ix, pod, cluster.NoPod))
		}
		state, err := domain.Devices().Prepare(ix, pods)
		require.NoError(t, err)
		trial := domain.NewGangTrial(ix, members, []domain.State{state}, func(cluster.PodID) bool { return false })
		require.Equal(t, 2, placer.Place(trial, &domain.WholeCluster{}.Split(nil, ix)[0], nil, []domain.MemberID{0, 1, 2, 3}, 4), "%T", placer)
	}
}

// TestSeatQueueIsAScan: it finds what looking at every offer finds, as the highest
// priority of the plan rises, and offers that were put in once come out by keeping the others.
func TestSeatQueueIsAScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q domain.SeatQueue
		var list []domain.SeatOffer
		highest := rapid.SampledFrom([]int64{domain.Free.Highest, 2}).Draw(t, "highest")
		q.Reset(highest)
		small := rapid.Int64Range(0, 3)
		for at := range int32(rapid.IntRange(1, 40).Draw(t, "steps")) {
			for range rapid.IntRange(0, 2).Draw(t, "dead") {
				q.Push(domain.SeatOffer{At: at, K: -1, Price: domain.Price{Highest: small.Draw(t, "priority") * 2}})
			}
			q.Keep(func(o *domain.SeatOffer) bool { return o.K >= 0 })
			if rapid.IntRange(0, 2).Draw(t, "push") > 0 || len(list) == 0 {
				o := domain.SeatOffer{At: at, Next: small.Draw(t, "next"), Price: domain.Price{
					Violations: small.Draw(t, "violations") / 3, Highest: small.Draw(t, "priority") * 2, Sum: small.Draw(t, "sum"), Pods: 1,
				}}
				list = append(list, o)
				q.Push(o)
				continue
			}
			best := -1
			var adds domain.SeatOffer
			for i, o := range list {
				if o.Price.Highest <= highest {
					o.Price.Highest = domain.Free.Highest
				}
				if best < 0 || o.Compare(&adds) < 0 {
					best, adds = i, o
				}
			}
			got, ok := q.Least()
			require.True(t, ok)
			require.Equal(t, adds, got)
			q.Drop()
			require.Equal(t, list[best].Price.Highest > highest, q.Take(got.Price))
			highest = max(highest, list[best].Price.Highest)
			list = append(list[:best], list[best+1:]...)
		}
		if _, ok := q.Least(); ok != (len(list) > 0) {
			t.Fatalf("%d offers are left, and it says %t", len(list), ok)
		}
	})
}

func TestPricesAddUp(t *testing.T) {
	p := domain.Free
	p.Add(domain.Price{Lead: 5, Violations: 1, Highest: 7, Sum: 10, Pods: 2})
	p.Add(domain.Price{Lead: math.MaxInt64, Highest: 3, Sum: 1, Pods: 1})
	require.Equal(t, domain.Price{Lead: math.MaxInt64, Violations: 1, Highest: 7, Sum: 11, Pods: 3}, p)
	p.Add(domain.Free)
	require.Equal(t, int64(7), p.Highest)
}
