package proving

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/victims"
)

// anySites draws nodes on which more and more members cost more and more, and how many members are to have places.
func anySites(r *rand.Rand) (list []*site, members int64) {
	for range 1 + r.IntN(4) {
		s := &site{seats: r.Int64N(7)}
		for i, atLeast := int64(1), int64(0); i <= s.seats; i++ {
			if atLeast = max(atLeast+r.Int64N(5)-1, 0); r.IntN(4) > 0 {
				s.costs = append(s.costs, cost{members: i, atLeast: atLeast})
			}
		}
		list, members = append(list, s), members+s.seats
	}
	return list, min(members, 1+r.Int64N(8))
}

// cheapest is what so many members cost at least, tried in all ways: what is known of i members on a site holds for more.
func cheapest(list []*site, members int64) int64 {
	if members <= 0 {
		return 0
	}
	best, own := int64(1<<40), int64(0)
	if len(list) == 0 {
		return best
	}
	for i, s := int64(0), list[0]; i <= s.seats; i++ {
		for _, c := range s.costs {
			if c.members == i {
				own = max(own, c.atLeast)
			}
		}
		best = min(best, own+cheapest(list[1:], members-i))
	}
	return best
}

// TestThePriceSaysMost: what a price shows is true, and no other price shows more.
func TestThePriceSaysMost(t *testing.T) {
	exact := 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		list, members := anySites(r)
		p := &gang{seats: members}
		of, atLeast := p.priced(list, Domain{Price: 1})
		least := cheapest(list, members)
		require.LessOrEqual(t, atLeast, least, "seed %d", seed)
		if atLeast == least {
			exact++
		}
		for of.Times = range int64(9) {
			for of.Price = range int64(30) {
				shown := of.Price * members
				for _, s := range list {
					shown -= s.spare(of)
				}
				if of.Times > 0 && shown > 0 {
					require.LessOrEqual(t, ceil(shown, of.Times), atLeast, "seed %d: %d members for %d", seed, of.Times, of.Price)
				}
			}
		}
		for _, s := range list { // nothing of a site is better than what is spared for it
			if members = r.Int64N(s.seats + 1); members > 0 {
				require.GreaterOrEqual(t, s.spare(Domain{Price: 3, Times: 2}), 3*members-2*cheapest([]*site{s}, members), "seed %d", seed)
			}
		}
	}
	require.Greater(t, exact, 1000)
}

// TestCostsOfSoManyNumbers: of more members than numbers that are looked at, the first half of these are asked about one after the
// other, and all the rest as well as none.
func TestCostsOfSoManyNumbers(t *testing.T) {
	for seats := range int64(20) {
		ones := slices.Repeat([]int64{1}, int(seats))
		s := &site{ground: ground{items: make([]item, seats), has: ones, rows: []row{{frees: ones}}}, each: []int64{1}, free: []int64{0}, seats: seats}
		p := &gang{prover: &prover{memory: new(memory), q: &ask.Question{}, criteria: []victims.Criterion{victims.CriterionPods}, known: 1, overruns: 1, bound: []int64{100}, left: casesInAll}, seats: 100}
		for most := 2; most <= 20; most++ {
			p.findCosts(s, 0, most)
			require.Equal(t, seats, s.seats)
			require.Len(t, s.costs, min(most, int(seats)))
			for i, c := range s.costs {
				require.Equal(t, c.members, c.atLeast, "each costs one pod")
				require.Equal(t, c.members, c.atMost)
				switch {
				case i < most/2:
					require.EqualValues(t, i+1, c.members)
				case i > 0:
					step := float64(c.members - s.costs[i-1].members)
					require.InDelta(t, float64(seats-int64(most/2))/float64(most-most/2), max(step, 1), 1)
				}
			}
			if len(s.costs) > 0 {
				require.Equal(t, seats, s.costs[len(s.costs)-1].members)
			}
		}
	}
}

// TestCostsByCount: where as many as have to go say all, a balance says as much by that alone.
func TestCostsByCount(t *testing.T) {
	const odd = 1<<40 + 1
	counted, others := 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := &site{ground: ground{rows: make([]row, 2)}, each: []int64{3, 2}, free: []int64{r.Int64N(6), -r.Int64N(3)}, most: 9}
		for range 2 + r.IntN(8) {
			s.items, s.has = append(s.items, item{}), append(s.has, r.Int64N(3))
			for i := range s.rows {
				s.rows[i].frees = append(s.rows[i].frees, r.Int64N(5))
			}
		}
		p := &gang{prover: &prover{memory: new(memory), q: &ask.Question{}, criteria: []victims.Criterion{victims.CriterionSum}, known: 1, overruns: 1, bound: []int64{100}}}
		s.seat()
		p.findCosts(s, 0, 20)
		packed := slices.Clone(p.tells.cheap)
		for r := range s.rows { // amounts that are too long to be packed
			s.each[r], s.free[r] = s.each[r]*odd, s.free[r]*odd
			for i := range s.items {
				s.rows[r].frees[i] *= odd
			}
		}
		p.findCosts(s, 0, 20)
		require.Equal(t, packed, p.tells.cheap)
		for _, c := range s.costs {
			if c.count == 0 {
				others++
				continue
			}
			p.ask(s, c.members)
			b := p.stageOf(s, 0).balance()
			b.rows[len(b.rows)-1].weight, b.caps[0].weight = c.count, 1
			require.Equal(t, c.atLeast, b.atLeast(), "seed %d", seed)
			require.Equal(t, c.atMost, c.atLeast)
			counted++
		}
	}
	require.Greater(t, min(counted, others), 100)
}

// TestHomeOfAUnit: what a unit costs counts on the first node of those that there are.
func TestHomeOfAUnit(t *testing.T) {
	ix, err := cluster.NewIndex(&cluster.Snapshot{
		Nodes:     []cluster.Node{{Name: "a"}, {Name: "b"}, {Name: "c"}},
		PodGroups: []cluster.PodGroup{{Name: "g", Mode: disruption.All}},
		Pods:      []cluster.Pod{{Name: "p0", Group: "g", Node: "none"}, {Name: "p1", Group: "g", Node: "c"}, {Name: "p2", Group: "g", Node: "b"}, {Name: "q", Node: "c"}},
	})
	require.NoError(t, err)
	units := victims.NewUnits(ix, victims.Units137, victims.Worth{})
	p := &gang{prover: &prover{q: &ask.Question{Index: ix, Units: units}}, home: map[victims.UnitID]cluster.NodeID{}}
	for more := range 2 { // of a kind for each node there are not too many
		p.kinds = make([]*domain.Member, mostPairs/3+more)
		require.Equal(t, more == 0, p.few())
	}
	for range 2 { // the second time it is known
		for pod, want := range []string{"b", "b", "b", "c"} {
			u, _ := units.UnitOf(cluster.PodID(pod))
			require.Equal(t, want, ix.Node(p.homeOf(u)).Name)
		}
	}
}
