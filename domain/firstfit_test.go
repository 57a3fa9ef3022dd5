package domain_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
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

// drawAlike is a trial of equal members, perhaps one a host, one a rack or spread over zones, who may ask for devices, a token
// or a port, beside pods that count or are waited for, on nodes some of which they may not go to or lack a label.
func drawAlike(t *testing.T, r *rand.Rand) *domain.GangTrial {
	snap := &cluster.Snapshot{}
	ours, one := map[string]string{"job": "gang"}, int32(1)
	devices, asked := r.IntN(4) == 0, []cluster.DeviceRequest{{Resource: "gpu", Fraction: 1 + r.Int64N(3)}}
	for i := range 2 + r.IntN(8) {
		n := cluster.Node{
			Name: fmt.Sprint("n", i), Allocatable: cluster.Resources{cluster.CPU: r.Int64N(4)},
			Labels: map[string]string{"host": fmt.Sprint("n", i), "rack": fmt.Sprint(i / 2), "zone": fmt.Sprint(r.IntN(3))},
		}
		if r.IntN(8) == 0 {
			delete(n.Labels, []string{"host", "zone"}[r.IntN(2)])
		}
		if r.IntN(8) == 0 {
			n.Labels["bad"] = "yes"
		}
		if devices {
			n.Devices = map[string]cluster.DevicePool{"gpu": {Count: 1 + r.Int32N(2), Capacity: 4}}
		}
		snap.Nodes = append(snap.Nodes, n)
		p := cluster.Pod{Name: fmt.Sprint("p", i), Priority: &one, Labels: ours}
		if devices && r.IntN(2) == 0 {
			p.Devices = asked
		}
		switch r.IntN(16) {
		case 0, 1:
			p.Node = n.Name
		case 2:
			p.NominatedNode = n.Name
		default:
			continue
		}
		snap.Pods = append(snap.Pods, p)
	}
	ix, err := cluster.NewIndex(snap)
	require.NoError(t, err)
	pod := cluster.Pod{Labels: ours, Requests: cluster.Resources{cluster.CPU: 1}}
	selector := &disruption.Selector{MatchLabels: [...]map[string]string{ours, ours, ours, {"job": "none"}, nil}[r.IntN(5)]}
	for _, key := range []string{"host", "host", "rack"}[r.IntN(3):] {
		if r.IntN(3) == 0 {
			pod.AntiAffinity = append(pod.AntiAffinity, cluster.AffinityTerm{TopologyKey: key, Selector: selector})
		}
	}
	for _, key := range []string{"zone", "zone", "rack"}[r.IntN(4)%3:] {
		if r.IntN(2) == 0 {
			pod.Spread = append(pod.Spread, cluster.Spread{
				TopologyKey: key, Selector: selector, MaxSkew: 1 + r.Int32N(2), MinDomains: r.Int32N(5),
				NodeAffinityPolicy: []cluster.NodePolicy{cluster.Honor, cluster.Ignore}[r.IntN(2)],
			})
		}
	}
	switch r.IntN(16) {
	case 0:
		pod.Affinity = []cluster.AffinityTerm{{TopologyKey: "zone", Selector: selector}}
	case 1:
		pod.Tokens = []string{"volume"}
	case 2:
		pod.Ports = []cluster.HostPort{{Port: 80}}
	}
	if devices {
		pod.Devices = asked
	}
	if r.IntN(3) == 0 {
		pod.NodeAffinity = &cluster.NodeAffinity{Terms: []cluster.NodeTerm{{
			Labels: []cluster.NodeRequirement{{Key: "bad", Operator: cluster.NodeDoesNotExist}},
		}}}
	}
	var pods []*cluster.Pod
	var members []*domain.Member
	for range 1 + r.IntN(12) {
		p := pod
		pods, members = append(pods, &p), append(members, domain.NewMember(ix, &p, cluster.NoPod))
	}
	if r.IntN(8) == 0 {
		pods[0].Labels = nil
	}
	var states []domain.State
	spread := []domain.Constraint{domain.Anew(domain.TopologySpread()), domain.TopologySpread()}[r.IntN(2)]
	for _, c := range []domain.Constraint{domain.ExclusiveTokens(), domain.Devices(), spread, domain.InterPodAffinity()} {
		state, err := c.Prepare(ix, pods)
		require.NoError(t, err)
		if state != nil {
			states = append(states, state)
		}
	}
	return domain.NewGangTrial(ix, members, states, func(cluster.PodID) bool { return true })
}

// TestPlacersAgreeHowManyFindAPlace: where placers agree, as many members find a place whoever chooses the node of each;
// elsewhere they may not. They are no more than what bounds them.
func TestPlacersAgreeHowManyFindAPlace(t *testing.T) {
	agree, spread, differ, bounded := 0, 0, 0, 0
	nodes := []cluster.NodeID{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 9))
		trial := drawAlike(t, r)
		least, most := trial.Members(), 0
		for range 6 {
			trial.UnplaceTo(0)
			for placeAny(trial, r) {
			}
			least, most = min(least, len(trial.Placed())), max(most, len(trial.Placed()))
		}
		switch {
		case !trial.PlacersAgree():
			if least < most {
				differ++
			}
		default:
			require.Equal(t, most, least, "seed %d", seed)
			trial.UnplaceTo(0)
			over := trial.SpreadOver(nodes[:trial.Index().NumNodes()], int64(trial.Members()))
			if require.LessOrEqual(t, int64(most), over, "seed %d", seed); over < int64(trial.Members()) {
				bounded++
			}
			if agree++; trial.CrossNode() && most > 1 && most < trial.Members() {
				spread++
			}
		}
	}
	require.Greater(t, agree, 1000)
	require.Greater(t, spread, 100)
	require.Greater(t, differ, 100)
	require.Greater(t, bounded, 100)
}

// placeAny places some member on some node that takes it, and reports whether there was one.
func placeAny(trial *domain.GangTrial, r *rand.Rand) bool {
	members, nodes := r.Perm(trial.Members()), r.Perm(trial.Index().NumNodes())
	for _, m := range members {
		for _, n := range nodes {
			if m, n := domain.MemberID(m), cluster.NodeID(n); trial.At(m) == cluster.NoNode && trial.CanPlace(m, n).OK() {
				trial.Place(m, n)
				return true
			}
		}
	}
	return false
}
