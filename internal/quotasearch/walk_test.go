package quotasearch_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// reservations are jobs of one queue with two flavor-resources.
func reservations(t *testing.T, r *rand.Rand, numJobs int, preemption cluster.QueuePreemption, fairLocals bool) *quota.Index {
	usage := int64(3)
	s := &cluster.Snapshot{
		Time:            time.Unix(1000, 0),
		ResourceFlavors: []cluster.ResourceFlavor{{Name: "f"}},
		ClusterQueues: []cluster.ClusterQueue{{
			Name: "q", Preemption: preemption, FairLocalQueues: fairLocals,
			Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{Flavor: "f", Resources: []cluster.ResourceQuota{
				{Resource: "cpu", Nominal: 10}, {Resource: "mem", Nominal: 10},
			}}}}},
		}},
		LocalQueues: []cluster.LocalQueue{{Name: "heavy", ClusterQueue: "q", Usage: &usage}},
	}
	another := s.ClusterQueues[0]
	another.Name = "another"
	s.ClusterQueues = append(s.ClusterQueues, another)
	for i := range numJobs {
		w := cluster.Workload{
			Name: fmt.Sprintf("w%04d", i), UID: fmt.Sprint(r.IntN(50)), Priority: int32(r.IntN(3)), Evicted: r.IntN(10) == 0,
			Queue: []string{"heavy", "unknown"}[r.IntN(2)], Created: time.Unix(int64(r.IntN(400)), 0),
			Admission: &cluster.Admission{ClusterQueue: "q", Reserved: time.Unix(int64(r.IntN(20)), 0)},
		}
		set := cluster.PodSet{Name: "main", Count: 1, Flavors: map[string]string{}}
		for _, resource := range [][]string{{"cpu"}, {"mem"}, {"cpu", "mem"}}[r.IntN(3)] {
			set.Flavors[resource] = "f"
		}
		w.PodSets = []cluster.PodSet{set}
		s.Workloads = append(s.Workloads, w)
		if i%5 == 0 {
			w.Name, w.Admission = w.Name+"-elsewhere", &cluster.Admission{ClusterQueue: "another"}
			s.Workloads = append(s.Workloads, w)
		}
	}
	ix, err := quota.NewIndex(s)
	require.NoError(t, err)
	return ix
}

// TestWalkMeetsWhomTheRuleAllowsInOrder: what a walk meets is what is left of all
// reservations after filtering, in order, whichever way it finds them.
func TestWalkMeetsWhomTheRuleAllowsInOrder(t *testing.T) {
	many := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		policy := []cluster.QueuePolicy{cluster.AnyPriority, cluster.LowerPriority, cluster.LowerOrNewerEqualPriority, cluster.QueueNever}[r.IntN(4)]
		by := [][]cluster.VictimOrder{nil, {cluster.ByLongestRuntime}, {cluster.ByLowestPriority, cluster.ByLongestRuntime}}[r.IntN(3)]
		own := cluster.QueuePreemption{Order: by}
		if policy != cluster.AnyPriority {
			own.WithinClusterQueue = policy
		}
		ix := reservations(t, r, 1+r.IntN(400), own, r.IntN(4) == 0)
		order := quotasearch.NewOrder(by)
		rs := quotasearch.NewReservations(ix, order)
		in := map[*quota.Reservation]bool{}
		q := ix.QueueByName("q")
		for _, res := range ix.Reservations() {
			in[res] = true
		}
		other := rs.Clone()
		for _, res := range ix.Reservations() { // some leave, some of those come back
			if r.IntN(3) == 0 {
				rs.Delete(res)
				delete(in, res)
				if r.IntN(2) == 0 {
					rs.Insert(res)
					in[res] = true
				}
			}
		}
		if r.IntN(2) == 0 { // a few of them alone, or many
			var list []*quota.Reservation
			for _, res := range ix.Reservations() {
				if in[res] = in[res] && r.IntN(3) == 0; in[res] {
					list = append(list, res)
				} else {
					delete(in, res)
				}
			}
			rs = rs.Only(list)
			if len(list) > 64 {
				many++
			}
		}
		rule := quotasearch.NewRule(policy, int64(r.IntN(4)), time.Unix(int64(r.IntN(450)), 0).UnixNano())
		if r.IntN(3) == 0 {
			rule = rule.Below(int64(r.IntN(3)))
		}
		columns := [][]quota.ColumnID{{0}, {1}, {0, 1}}[r.IntN(3)]
		skip := map[*quota.Reservation]bool{}
		for _, evicted := range []bool{true, false} {
			var want []*quota.Reservation
			for res := range in {
				if r.IntN(20) == 0 {
					skip[res] = true
				}
				if res.Queue == q && res.Evicted == evicted && rule.Allows(res) && !skip[res] && slices.ContainsFunc(columns, res.Uses) {
					want = append(want, res)
				}
			}
			slices.SortFunc(want, func(a, b *quota.Reservation) int {
				if a.LocalUsage != b.LocalUsage {
					return int(a.LocalUsage - b.LocalUsage)
				}
				return order.Compare(a, b)
			})
			var got []*quota.Reservation
			for w := rs.Walk(q, columns, evicted, rule, skip); w.Peek() != nil; w.Next() {
				got = append(got, w.Peek())
			}
			require.Equal(t, want, got, "seed %d", seed)
		}
		all := 0
		for _, evicted := range []bool{true, false} {
			for id := range quota.HolderID(ix.NumQueues()) {
				for w := other.Walk(id, []quota.ColumnID{0, 1}, evicted, quotasearch.NewRule(cluster.AnyPriority, 0, 0), nil); w.Peek() != nil; w.Next() {
					require.Equal(t, id, w.Peek().Queue)
					all++
				}
			}
		}
		require.Equal(t, len(ix.Reservations()), all, "the clone has not changed")
	}
	require.Positive(t, many)
}

// TestRuleBelow: what is narrowed to a priority allows nobody there, equal and newer ones included, and
// is never widened.
func TestRuleBelow(t *testing.T) {
	equals := quotasearch.NewRule(cluster.LowerOrNewerEqualPriority, 100, 500)
	for _, c := range []struct {
		name                string
		rule                quotasearch.Rule
		below, equal, above bool // those of 99, newer ones of 100, and of 101
	}{
		{"as it is", equals, true, true, false},
		{"to more than it allows", equals.Below(101), true, true, false},
		{"to its own priority", equals.Below(100), true, false, false},
		{"to less", equals.Below(99), false, false, false},
		{"of any priority, to one", quotasearch.NewRule(cluster.AnyPriority, 0, 0).Below(101), true, true, false},
	} {
		for priority, want := range map[int64]bool{99: c.below, 100: c.equal, 101: c.above} {
			require.Equal(t, want, c.rule.Allows(&quota.Reservation{Priority: priority, Ordered: 501}), "%s: %d", c.name, priority)
		}
	}
}

func TestRule(t *testing.T) {
	for _, c := range []struct {
		name     string
		policy   cluster.QueuePolicy
		priority int64
		ordered  int64
		want     bool
	}{
		{"lower", cluster.LowerPriority, 99, 0, true},
		{"equal is not lower", cluster.LowerPriority, 100, 999, false},
		{"equal and newer", cluster.LowerOrNewerEqualPriority, 100, 501, true},
		{"equal and as old", cluster.LowerOrNewerEqualPriority, 100, 500, false},
		{"equal and older", cluster.LowerOrNewerEqualPriority, 100, 499, false},
		{"higher", cluster.LowerOrNewerEqualPriority, 101, 999, false},
		{"any", cluster.AnyPriority, 1 << 40, 0, true},
		{"never", cluster.QueueNever, -1, 999, false},
		{"nothing said", "", -1, 999, false},
		{"by KEP-83's name", cluster.ReclaimFromLowerPriority, 99, 0, true},
		{"by KEP-83's name, any", cluster.ReclaimFromAny, 101, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &quota.Reservation{Priority: c.priority, Ordered: c.ordered}
			require.Equal(t, c.want, quotasearch.NewRule(c.policy, 100, 500).Allows(r))
		})
	}
}

// TestBackwardIsASort: whatever queues the reservations are of, and however they
// are mixed, the positions are those of a sort from last to first.
func TestBackwardIsASort(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		order := quotasearch.NewOrder([][]cluster.VictimOrder{
			nil, {cluster.ByLongestRuntime}, {cluster.ByLowestPriority, cluster.ByLongestRuntime},
		}[r.IntN(3)])
		list := make([]*quota.Reservation, r.IntN(80))
		for i := range list {
			list[i] = &quota.Reservation{
				Workload: &cluster.Workload{Name: string(rune('a' + i)), UID: string(rune('a' + r.IntN(3)))},
				Queue:    quota.HolderID(r.IntN(5)), Priority: int64(r.IntN(4)), Reserved: time.Unix(int64(r.IntN(4)), 0).UnixNano(),
			}
		}
		switch r.IntN(4) {
		case 0:
			slices.SortFunc(list, order.Compare)
		case 1:
			slices.SortFunc(list, func(a, b *quota.Reservation) int { return order.Compare(b, a) })
		}
		want := slices.Clone(list)
		slices.SortFunc(want, func(a, b *quota.Reservation) int { return order.Compare(b, a) })
		var got []*quota.Reservation
		for _, i := range order.Backward(len(list), func(i int) *quota.Reservation { return list[i] }) {
			got = append(got, list[i])
		}
		require.Len(t, got, len(want), "seed %d", seed)
		for i := range want {
			require.Same(t, want[i], got[i], "seed %d", seed)
		}
	}
}

// Who goes first of two workloads that hold quota. Source: KEP-83, order of candidates;
// Kueue's own test of it. What eviction and the queues decide is not the order's.
func TestWhichWorkloadGoesFirst(t *testing.T) {
	type r = quota.Reservation
	youngest := []cluster.VictimOrder{cluster.ByLowestRuntime, cluster.ByLowestPriority}
	longest := []cluster.VictimOrder{cluster.ByLongestRuntime}
	for _, c := range []struct {
		name         string
		by           []cluster.VictimOrder
		first, other r
	}{
		{"lower priority", nil, r{Priority: 1, Reserved: 1}, r{Priority: 2, Reserved: 9}},
		{"beyond what an int32 holds", nil, r{Priority: -1 << 40}, r{Priority: -1 << 31}},
		{"then who began later", nil, r{Reserved: 9}, r{Reserved: 1}},
		{"then the smaller UID", nil, r{Workload: &cluster.Workload{UID: "1", Name: "z"}}, r{Workload: &cluster.Workload{UID: "2", Name: "a"}}},
		{"then the namespace", nil, r{Workload: &cluster.Workload{Namespace: "a", Name: "z"}}, r{Workload: &cluster.Workload{Namespace: "b", Name: "a"}}},
		{"then the name", nil, r{Workload: &cluster.Workload{Name: "a"}}, r{Workload: &cluster.Workload{Name: "b"}}},
		{"age is not looked at", nil, r{Ordered: 1, Workload: &cluster.Workload{UID: "1"}}, r{Ordered: 9, Workload: &cluster.Workload{UID: "2"}}},
		{"whom the queue wants: who ran least", youngest, r{Priority: 9, Reserved: 9}, r{Priority: 1, Reserved: 1}},
		{"then its next criterion", youngest, r{Priority: 1, Reserved: 9}, r{Priority: 9, Reserved: 9}},
		{"or who ran longest, and priority not at all", longest, r{Priority: 9, Reserved: 1}, r{Priority: 1, Reserved: 9}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, w := range []*r{&c.first, &c.other} {
				if w.Workload == nil {
					w.Workload = &cluster.Workload{}
				}
			}
			order := quotasearch.NewOrder(c.by)
			require.Negative(t, order.Compare(&c.first, &c.other))
			require.Positive(t, order.Compare(&c.other, &c.first))
		})
	}
	require.True(t, quotasearch.NewOrder(nil).Equal(quotasearch.NewOrder([]cluster.VictimOrder{cluster.ByLowestPriority, cluster.ByLowestRuntime})))
	require.False(t, quotasearch.NewOrder(nil).Equal(quotasearch.NewOrder(longest)))
}

// Of one queue, those told to stop go first, then who uses most through its LocalQueue,
// whatever the priority; the walk over two queues compares without either.
func TestWithinAQueueTheHeaviestUserGoesFirst(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	ix := reservations(t, rng, 60, cluster.QueuePreemption{}, true)
	order, q := quotasearch.NewOrder(nil), ix.QueueByName("q")
	rs := quotasearch.NewReservations(ix, order)
	require.True(t, rs.Order().Equal(order))
	anybody := quotasearch.NewRule(cluster.AnyPriority, 0, 0)
	w := rs.Walk(q, []quota.ColumnID{0, 1}, false, anybody, nil)
	local := w.Peek().LocalUsage
	require.Negative(t, local)
	raised := false
	for before := w.Peek(); w.Peek() != nil; w.Next() {
		require.GreaterOrEqual(t, w.Peek().LocalUsage, local)
		raised = raised || w.Peek().LocalUsage > before.LocalUsage && w.Peek().Priority < before.Priority
		before, local = w.Peek(), w.Peek().LocalUsage
	}
	require.True(t, raised, "a lower priority came later")
	evicted := rs.Walk(q, []quota.ColumnID{0, 1}, true, anybody, nil)
	differ := false
	a := rs.Walk(q, []quota.ColumnID{0, 1}, false, anybody, nil)
	for ; a.Peek() != nil; a.Next() {
		x, y := a.Peek(), evicted.Peek()
		require.Equal(t, order.Compare(x, y) < 0, a.Before(&evicted))
		require.Equal(t, order.Compare(y, x) < 0, evicted.Before(&a))
		differ = differ || x.LocalUsage > y.LocalUsage && a.Before(&evicted)
	}
	require.True(t, differ, "across queues, what a LocalQueue uses is not looked at")
	a = rs.Walk(q, []quota.ColumnID{0, 1}, false, anybody, nil)
	a.Stop()
	require.Nil(t, a.Peek())
}
