package domain_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/losses"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// field is a few dozen nodes, more or less full, and a gang of members of several sizes.
type field struct {
	ix      *cluster.Index
	units   *victims.Units
	members []*domain.Member
	domain  domain.Domain
	vacant  []cluster.NodeID // nodes that may be vacant, of the domain and others
	levels  []int64          // the priorities of who may go, each once
	unseen  bool             // what they cost is told without looking
	dear    func(cluster.NodeID) bool

	violates func(victims.UnitID) int // nil: nobody
}

func drawField(t *testing.T, r *rand.Rand) *field {
	s := &cluster.Snapshot{PodGroups: []cluster.PodGroup{{Name: "g", Mode: "All"}}}
	nodes := 1 + r.IntN(6)
	if r.IntN(3) == 0 {
		nodes = 60 + r.IntN(90) // more than one block
	}
	grouped, tied := r.IntN(2) == 0, r.IntN(3) == 0
	for i := range nodes {
		n := cluster.Node{Name: fmt.Sprintf("n%03d", i), Allocatable: cluster.Resources{cluster.CPU: 4 + r.Int64N(8), cluster.Memory: 6 + r.Int64N(6)}}
		n.Labels = map[string]string{"disk": []string{"ssd", "hdd"}[r.IntN(2)]}
		if tied {
			n.Allocatable[cluster.Pods], n.Allocatable["gpu"] = 4, 0
			if n.Labels["disk"] == "hdd" { // where nobody may go, perhaps
				n.Allocatable[cluster.Memory] *= 9
			}
		}
		s.Nodes = append(s.Nodes, n)
		pods := r.IntN(6)
		if tied { // hardly any room is free
			pods = int(n.Allocatable[cluster.CPU]) / 2
		}
		for range pods {
			priority := int32(r.IntN(4))
			p := cluster.Pod{
				Name: fmt.Sprint("p", len(s.Pods)), Node: n.Name, Priority: &priority,
				Requests: cluster.Resources{cluster.CPU: 1 + r.Int64N(3), cluster.Memory: r.Int64N(4)},
			}
			if tied {
				p.Requests = cluster.Resources{cluster.CPU: 2}
			}
			if grouped && r.IntN(8) == 0 {
				p.Group, p.Priority = "g", new(int32)
			}
			if r.IntN(6) == 0 {
				p.Ports = []cluster.HostPort{{Port: int32(80 + r.IntN(2))}}
			}
			s.Pods = append(s.Pods, p)
		}
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	f := &field{ix: ix, units: victims.NewUnits(ix, victims.Units137, victims.Worth{}), domain: domain.Domain{Name: "all"}}
	apart := []int{10, 10, 3, 2}[r.IntN(4)]
	for n := range ix.Nodes() {
		if r.IntN(apart) != 0 {
			f.domain.Nodes = append(f.domain.Nodes, n)
		}
		if !slices.ContainsFunc(ix.PodsOn(n), func(p cluster.PodID) bool { return ix.GroupOf(p) != cluster.NoGroup }) {
			f.vacant = append(f.vacant, n)
		}
	}
	if r.IntN(2) == 0 {
		f.vacant = f.vacant[len(f.vacant)*r.IntN(9)/8:]
	}
	for p := range ix.Pods() {
		f.levels = append(f.levels, int64(ix.Priority(p)))
	}
	slices.Sort(f.levels)
	f.levels = slices.Compact(f.levels)
	f.unseen = r.IntN(2) == 0
	if r.IntN(4) == 0 {
		f.dear = func(n cluster.NodeID) bool { return n%5 == 3 }
	}
	if r.IntN(3) == 0 {
		f.violates = func(u victims.UnitID) int { return int(u) % 2 }
	}
	for range 1 + r.IntN(3) {
		pod := cluster.Pod{Requests: cluster.Resources{cluster.CPU: 1 + r.Int64N(5), cluster.Memory: r.Int64N(5)}}
		if tied || r.IntN(4) == 0 {
			pod.NodeSelector = map[string]string{"disk": "ssd"}
		}
		if tied && r.IntN(8) == 0 {
			pod.Requests["gpu"] = 1 // of which nobody has any
		}
		if r.IntN(5) == 0 {
			pod.Ports = []cluster.HostPort{{Port: 80}}
		}
		for range []int{1, 1, 3, 9}[r.IntN(4)] {
			one := pod
			one.Name = fmt.Sprint("m", len(f.members))
			f.members = append(f.members, domain.NewMember(ix, &one, cluster.NoPod))
		}
	}
	return f
}

// trial is a trial with everybody gone, or some nodes vacant, and what room costs there.
func (f *field) trial(vacant bool, paid bool) (*domain.GangTrial, domain.Offers) {
	t := domain.NewGangTrial(f.ix, f.members, nil, func(cluster.PodID) bool { return false })
	var unseen domain.Offers
	if vacant {
		plain, offers := f.trial(false, paid)
		unseen = offers
		t.Vacate(&hollow{f, t, plain, offers, 0}, f.vacant[len(f.vacant)/2:])
		t.Vacate(&hollow{f, t, plain, offers, 0}, f.vacant)
		for n := range f.ix.Nodes() {
			if t.Vacant(n) != slices.Contains(f.vacant, n) {
				panic(fmt.Sprint("node ", n, " is vacant: ", t.Vacant(n)))
			}
		}
	}
	for n := range f.ix.Nodes() {
		if !t.Vacant(n) {
			for _, p := range f.ix.PodsOn(n) {
				t.Remove(p)
			}
		}
	}
	if !paid {
		return t, free{}
	}
	offers := losses.NewOffers(f.units, t, func(victims.UnitID) bool { return true }, f.violates, nil)
	if vacant && f.unseen {
		return t, unlooked{offers, unseen.(*losses.Offers), t}
	}
	return t, offers
}

// unlooked are offers that tell of vacant nodes what they cost on another trial, so that they stay vacant.
type unlooked struct {
	*losses.Offers
	unseen *losses.Offers
	t      *domain.GangTrial
}

func (u unlooked) of(n cluster.NodeID) *losses.Offers {
	if u.t.Vacant(n) {
		return u.unseen
	}
	return u.Offers
}

func (u unlooked) Price(m domain.MemberID, n cluster.NodeID) domain.Price { return u.of(n).Price(m, n) }

func (u unlooked) Further(m domain.MemberID, n cluster.NodeID, more int64) (domain.Price, bool) {
	return u.of(n).Further(m, n, more)
}

// free are offers where nobody has to go.
type free struct{}

func (free) Price(domain.MemberID, cluster.NodeID) domain.Price            { return domain.Free }
func (free) Highest() int64                                                { return math.MinInt64 }
func (free) Taken(domain.MemberID, cluster.NodeID) (none []cluster.NodeID) { return none }

// lasting are offers whose prices last as long as they are the same, with bounds on some nodes.
type lasting struct {
	domain.Offers
	t    *domain.GangTrial
	last map[cluster.NodeID]given
}

// given is a price, and for how many members on its node.
type given struct {
	domain.Price
	on int
}

func (l lasting) now(m domain.MemberID, n cluster.NodeID) given {
	return given{l.Offers.Price(m, n), len(l.t.On(n))}
}

func (l lasting) Price(m domain.MemberID, n cluster.NodeID) domain.Price {
	l.last[n] = l.now(m, n)
	return l.last[n].Price
}

func (l lasting) Lasts(m domain.MemberID, n cluster.NodeID) bool { return l.last[n] == l.now(m, n) }

func (l lasting) AtLeast(m domain.MemberID, n cluster.NodeID) (price domain.Price, known bool) {
	price = l.Offers.Price(m, n)
	price.Sum -= int64(n / 2 % 2)
	return price, n%2 == 0
}

func (l lasting) Further(m domain.MemberID, n cluster.NodeID, more int64) (price domain.Price, told bool) {
	return l.Offers.(interface {
		Further(domain.MemberID, cluster.NodeID, int64) (domain.Price, bool)
	}).Further(m, n, more)
}

// leastLasting is LeastDisruption by such prices.
type leastLasting struct{ domain.LeastDisruption }

func (p leastLasting) Place(t *domain.GangTrial, d *domain.Domain, offers domain.Offers, members []domain.MemberID, most int) int {
	return p.LeastDisruption.Place(t, d, lasting{offers, t, map[cluster.NodeID]given{}}, members, most)
}

// hollow is a Vacancy that works everything out each time, on a trial from which everybody has gone.
type hollow struct {
	*field
	t      *domain.GangTrial
	plain  *domain.GangTrial
	offers domain.Offers
	asked  int
}

func (h *hollow) Room(dst []int64, n cluster.NodeID) []int64 {
	at := len(dst)
	dst = append(dst, h.ix.Free(n)...)
	for _, p := range h.ix.PodsOn(n) {
		for r, v := range h.ix.Request(p) {
			dst[at+r] += v
		}
	}
	return dst
}

func (h *hollow) Empty(n cluster.NodeID) {
	for _, p := range h.ix.PodsOn(n) {
		h.t.Remove(p)
	}
}

func (h *hollow) Slots(m domain.MemberID, n cluster.NodeID) int64 { return h.plain.Slots(m, n) }

func (h *hollow) Fit(block int, set uint64, m domain.MemberID, k int64) (fit uint64) {
	for i := range 64 {
		if set>>i&1 == 1 && h.Slots(m, cluster.NodeID(64*block+i)) >= k {
			fit |= 1 << i
		}
	}
	return fit
}

// Cheapest bounds what is left as closely as can be, or only says how much less no price is.
func (h *hollow) Cheapest(m domain.MemberID, k, ahead int, highest int64, first int, left []uint64) (nodes []cluster.NodeID, behind domain.SeatOffer, more bool) {
	var list []domain.SeatOffer
	for block := range left {
		left[block] = h.Fit(first+block, left[block], m, 1)
		for i := range 64 {
			if left[block]>>i&1 == 0 {
				continue
			}
			o := domain.SeatOffer{At: int32(64*(first+block) + i)}
			if o.Price = h.offers.Price(m, cluster.NodeID(o.At)); o.Price.Highest <= highest {
				o.Price.Highest = domain.Free.Highest
			}
			if ahead > 0 && o.Blind() {
				o.Foresee(int64(ahead), func(more int64) (domain.Price, bool) {
					return h.offers.(*losses.Offers).Further(m, cluster.NodeID(o.At), more)
				})
			}
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b domain.SeatOffer) int { return a.Compare(&b) })
	end := min(k, len(list))
	if h.asked++; h.asked%3 == 0 {
		end = min(1, len(list))
	}
	for _, o := range list[:end] {
		nodes = append(nodes, cluster.NodeID(o.At))
		left[int(o.At)/64-first] &^= 1 << (o.At % 64)
	}
	switch {
	case end == len(list):
		return nodes, behind, false
	case h.asked%3 == 0:
		return nodes, domain.SeatOffer{Price: domain.Free}, true
	}
	return nodes, domain.SeatOffer{Price: list[end].Price, Next: list[end].Next, At: list[end].At}, true
}

// slots is how many members like m there is room for on node n once some pods are gone.
func (f *field) slots(m domain.MemberID, n cluster.NodeID, gone func(cluster.PodID) bool) int64 {
	free := slices.Clone(f.ix.Free(n))
	for _, p := range f.ix.PodsOn(n) {
		for r, v := range f.ix.Request(p) {
			if gone(p) {
				free[r] += v
			}
		}
	}
	most := int64(math.MaxInt64)
	for r, v := range f.members[m].Request() {
		if v > 0 {
			most = min(most, max(free[r], 0)/v)
		}
	}
	return most
}

// plainly places members one after the other, large ones first, and looks at every node for each.
func (f *field) plainly(t *domain.GangTrial, rank func(domain.MemberID, cluster.NodeID) domain.Price, offers domain.Offers, smallFirst bool, most int) {
	largest := func(m domain.MemberID) (part int64) {
		for r, v := range f.members[m].Request() {
			offered := int64(0)
			for n := range f.ix.Nodes() {
				if t.Usable(n) {
					offered = max(offered, f.ix.Allocatable(n)[r])
				}
			}
			if v > 0 && cluster.ResourceID(r) != cluster.PodsColumn && offered > 0 {
				part = max(part, v*1_000_000/offered)
			}
		}
		return part
	}
	var groups [][]domain.MemberID
	for m := range domain.MemberID(len(f.members)) {
		if i := slices.IndexFunc(groups, func(g []domain.MemberID) bool { return t.Shape(g[0]) == t.Shape(m) }); i >= 0 {
			groups[i] = append(groups[i], m)
		} else {
			groups = append(groups, []domain.MemberID{m})
		}
	}
	slices.SortStableFunc(groups, func(a, b []domain.MemberID) int { return int(largest(b[0]) - largest(a[0])) })
	if smallFirst {
		slices.Reverse(groups)
	}
	for _, group := range groups {
		paid, told := offers.(*losses.Offers)
		alike := min(len(group), most-len(t.Placed()))
		for _, m := range group {
			var least domain.SeatOffer
			found := false
			for _, n := range f.domain.Nodes {
				if !t.CanPlace(m, n).OK() {
					continue
				}
				o := domain.SeatOffer{Price: rank(m, n), At: int32(n)}
				if o.Price.Highest <= offers.Highest() {
					o.Price.Highest = math.MinInt64
				}
				if told && alike > 1 && o.Price.Pods > 0 {
					o.Next = f.average(t, paid, alike, m, n)
				}
				if !found || o.Compare(&least) < 0 {
					found, least = true, o
				}
			}
			if found && len(t.Placed()) < most {
				t.Place(m, cluster.NodeID(least.At))
				if f.dear != nil && f.dear(cluster.NodeID(least.At)) {
					return
				}
				offers.Taken(m, cluster.NodeID(least.At))
			}
		}
	}
}

// nextPlaces places each member on the next node that takes it, large ones first.
func (f *field) nextPlaces(t *domain.GangTrial, members []domain.MemberID, most int) {
	at, nodes := 0, len(f.domain.Nodes)
	for _, m := range slices.Concat(t.ByShape(members)...) {
		for tried := 0; tried < nodes && len(t.Placed()) < most && t.At(m) == cluster.NoNode; tried++ {
			if n := f.domain.Nodes[(at+tried)%nodes]; t.CanPlace(m, n).OK() {
				t.Place(m, n)
				at = (at + tried) % nodes
			}
		}
	}
}

// average is the least that m and up to seven more, of so many alike, cost on average on node n, where nobody more important than for m alone goes.
func (f *field) average(t *domain.GangTrial, offers *losses.Offers, alike int, m domain.MemberID, n cluster.NodeID) int64 {
	first := offers.Price(m, n).Sum
	least := first
	one, told := offers.Further(m, n, 0)
	for k := 2; told && k <= min(8, alike) && f.members[m].Pod.Ports == nil && t.Slots(m, n) >= int64(k); k++ {
		if all, _ := offers.Further(m, n, int64(k-1)); all.Highest == one.Highest {
			least = min(least, (first+all.Sum-one.Sum)/int64(k))
		}
	}
	return 1 + max(least, 0)
}

// TestPlacersAgreeWithThePlainOne: every placer finds what looking at each node for each member
// finds, on nodes whose pods are gone and on vacant ones.
func TestPlacersAgreeWithThePlainOne(t *testing.T) {
	placed, missed := 0, 0
	for seed := range uint64(400) {
		f := drawField(t, rand.New(rand.NewPCG(seed, 6)))
		r := rand.New(rand.NewPCG(seed, 7))
		most := len(f.members)
		if r.IntN(4) == 0 {
			most = r.IntN(len(f.members) + 1)
		}
		all := make([]domain.MemberID, len(f.members))
		for i := range all {
			all[i] = domain.MemberID(i)
		}
		for _, c := range []struct {
			name   string
			placer domain.Placer
			paid   bool
			small  bool
			sign   int64
		}{
			{"least disruption", domain.LeastDisruption{}, true, false, 0},
			{"by prices that last", leastLasting{}, true, false, 0},
			{"pack", domain.Pack{}, false, false, -1},
			{"pack small ones first", domain.Pack{SmallFirst: true}, false, true, -1},
			{"spread", domain.Spread{}, false, false, 1},
		} {
			plain, offers := f.trial(false, c.paid)
			rank := func(m domain.MemberID, n cluster.NodeID) domain.Price {
				return domain.Price{Highest: math.MinInt64, Sum: c.sign * int64(len(plain.On(n))), Pods: -plain.Slots(m, n)}
			}
			if c.paid {
				rank = offers.Price
			}
			f.plainly(plain, rank, offers, c.small, most)
			want := plain.Assignments()
			for _, vacant := range []bool{false, true} {
				trial, offers := f.trial(vacant, c.paid)
				trial.Dear = f.dear
				require.Equal(t, len(want), c.placer.Place(trial, &f.domain, offers, all, most), "seed %d: %s, vacant: %v", seed, c.name, vacant)
				require.Equal(t, want, trial.Assignments(), "seed %d: %s, vacant: %v", seed, c.name, vacant)
				for _, m := range all {
					n := cluster.NodeID(r.IntN(f.ix.NumNodes()))
					require.Equal(t, plain.HasRoom(m, n), trial.HasRoom(m, n), "seed %d", seed)
					require.True(t, trial.Offered(m) || !trial.HasRoom(m, n), "seed %d", seed)
					require.Equal(t, slices.ContainsFunc(f.members, func(m *domain.Member) bool {
						offers := f.ix.Allocatable(n)
						return m.Static(f.ix.Node(n)).OK() && m.Resources(offers, offers).OK()
					}), trial.Usable(n), "seed %d", seed)
					require.Equal(t, plain.Slots(m, n), trial.Slots(m, n), "seed %d", seed)
					if trial.At(m) == cluster.NoNode {
						require.Equal(t, plain.CanPlace(m, n).OK(), trial.CanPlace(m, n).OK(), "seed %d", seed)
					}
					require.Equal(t, plain.Free(n), trial.Free(n), "seed %d", seed)
					require.False(t, trial.Vacant(n), "somebody asked")
				}
				if vacant && r.IntN(2) == 0 { // who is gone is gone whether or not anybody asks
					for n := range f.ix.Nodes() {
						if ps := f.ix.PodsOn(n); len(ps) > 0 && len(trial.On(n)) > 0 {
							require.True(t, trial.Gone(ps[r.IntN(len(ps))]), "seed %d", seed)
						}
						require.Equal(t, plain.Free(n), trial.Free(n), "seed %d: of node %d nobody has been removed, or everybody", seed, n)
					}
				}
				trial.Home()
				for n := range f.ix.Nodes() {
					require.Equal(t, f.ix.Free(n), trial.Free(n), "seed %d: everybody is back", seed)
					require.Equal(t, f.ix.Free(n), trial.AtHome(n), "seed %d", seed)
				}
			}
			placed += len(want)
			missed += len(all) - len(want)
		}
		plain, _ := f.trial(false, false)
		f.nextPlaces(plain, all, most)
		trial, offers := f.trial(false, false)
		trial.Allow(1 << 30)
		trial.Asked += 1 << 29
		require.Equal(t, len(plain.Placed()), domain.Spread{}.Place(trial, &f.domain, offers, all, most), "seed %d: in a hurry", seed)
		require.Equal(t, plain.Assignments(), trial.Assignments(), "seed %d: in a hurry", seed)
	}
	require.Greater(t, placed, 1500)
	require.Greater(t, missed, 1000)
}

// TestSlotsAreCounted: members that may move fit where the nodes of a domain have room for so many,
// whoever leaves and returns, of nodes that the members may not go to as well.
func TestSlotsAreCounted(t *testing.T) {
	fit, missing := 0, 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 8))
		f := drawField(t, r)
		trial, _ := f.trial(false, false)
		trial.Home()
		need, checks := 1+r.IntN(20), 0
		slots := seating.NewSlotTrial(trial, &f.domain, 0, need)
		trial.Poll = func() { checks++ }
		gone := map[cluster.PodID]bool{}
		for range 20 {
			total := int64(0)
			for _, n := range f.domain.Nodes {
				if f.members[0].Static(f.ix.Node(n)).OK() {
					total += min(int64(need), f.slots(0, n, func(p cluster.PodID) bool { return gone[p] }))
				}
			}
			before := trial.Checks
			checks = 0
			why := slots.Fits()
			require.Equal(t, before+1, trial.Checks)
			require.Equal(t, 1, checks)
			require.Equal(t, total >= int64(need), why.OK(), "seed %d", seed)
			if why.OK() {
				fit++
			} else {
				require.Equal(t, int64(need)-total, why.Missing)
				missing++
			}
			if f.ix.NumPods() == 0 {
				break
			}
			p := cluster.PodID(r.IntN(f.ix.NumPods()))
			inside := slices.Contains(f.domain.Nodes, f.ix.NodeOf(p)) && f.members[0].Static(f.ix.Node(f.ix.NodeOf(p))).OK()
			require.Equal(t, inside, slots.Matters(p), "seed %d", seed)
			if gone[p] = !gone[p]; gone[p] {
				slots.Remove(p)
			} else {
				slots.Return(p)
			}
			require.Equal(t, gone[p], trial.Gone(p))
		}
	}
	require.Greater(t, min(fit, missing), 200)
}

// tableOffers are drawn prices by node and by how many members are there. Where somebody is
// taken, another node may become free of charge.
type tableOffers struct {
	trial   *domain.GangTrial
	prices  [][]domain.Price
	cheaper []cluster.NodeID // by node: which other becomes cheaper; NoNode: none
	free    []bool
	highest int64
}

func (o *tableOffers) Price(m domain.MemberID, n cluster.NodeID) domain.Price {
	if o.free[n] {
		return domain.Free
	}
	return o.prices[n][min(len(o.trial.On(n))+o.trial.Shape(m)/2, len(o.prices[n])-1)]
}

func (o *tableOffers) Highest() int64 { return o.highest }

func (o *tableOffers) Taken(_ domain.MemberID, n cluster.NodeID) []cluster.NodeID {
	if at := o.cheaper[n]; at != cluster.NoNode && !o.free[at] {
		o.free[at] = true
		return []cluster.NodeID{at}
	}
	return nil
}

func drawOffers(t *rapid.T, trial *domain.GangTrial) *tableOffers {
	o := &tableOffers{trial: trial, highest: math.MinInt64}
	nodes := trial.Index().NumNodes()
	for range nodes {
		var prices []domain.Price
		for range 3 {
			p := domain.Price{Highest: rapid.Int64Range(0, 2).Draw(t, "highest"), Sum: rapid.Int64Range(1, 3).Draw(t, "sum")}
			if rapid.IntRange(0, 3).Draw(t, "free") == 0 {
				p = domain.Free
			}
			prices = append(prices, p)
		}
		o.prices = append(o.prices, prices)
		o.cheaper = append(o.cheaper, cluster.NodeID(rapid.IntRange(-1, nodes-1).Draw(t, "cheaper")))
		if o.cheaper[len(o.cheaper)-1] < 0 {
			o.cheaper[len(o.cheaper)-1] = cluster.NoNode
		}
	}
	o.free = make([]bool, nodes)
	return o
}

// anew places as a placer does, by asking about every node whenever somebody is placed.
func anew(trial *domain.GangTrial, d *domain.Domain, shapes [][]domain.MemberID, rank func(domain.MemberID, cluster.NodeID) domain.Price, highest int64,
	taken func(domain.MemberID, cluster.NodeID) []cluster.NodeID,
) {
	adds := func(p domain.Price) domain.Price {
		if p.Highest <= highest {
			p.Highest = domain.Free.Highest
		}
		return p
	}
	for _, shape := range shapes {
		for _, m := range shape {
			best, at := domain.Price{}, cluster.NoNode
			for _, n := range d.Nodes {
				if !trial.CanPlace(m, n).OK() {
					continue
				}
				if p := rank(m, n); at == cluster.NoNode || adds(p).Compare(adds(best)) < 0 {
					best, at = p, n
				}
			}
			if at == cluster.NoNode {
				continue
			}
			highest = max(highest, best.Highest)
			trial.Place(m, at)
			taken(m, at)
		}
	}
}

// drawTied draws a gang, with constraints as a rule, and a trial of it, from which some pods have left.
func drawTied(t *rapid.T) (*domain.GangTrial, *domain.Domain) {
	w := drawWorld(t, features{affinity: true, spread: true, tokens: rapid.Bool().Draw(t, "tokens"), maxMembers: 6})
	alike := rapid.Bool().Draw(t, "alike")
	for i := range w.members {
		if alike {
			name := w.members[i].Name
			w.members[i] = w.members[0]
			w.members[i].Name = name
		}
		w.members[i].Requests = cluster.Resources{cluster.CPU: int64(1 + i%2)}
	}
	for i := range w.snapshot.Nodes {
		w.snapshot.Nodes[i].Allocatable = cluster.Resources{cluster.CPU: rapid.Int64Range(1, 4).Draw(t, "cpu")}
	}
	ix, err := cluster.NewIndex(&w.snapshot)
	require.NoError(t, err)
	var pods []*cluster.Pod
	var members []*domain.Member
	for i := range w.members {
		pods = append(pods, &w.members[i])
		members = append(members, domain.NewMember(ix, &w.members[i], cluster.NoPod))
	}
	var states []domain.State
	spread := rapid.SampledFrom([]domain.Constraint{domain.Anew(domain.TopologySpread()), domain.TopologySpread()}).Draw(t, "spread")
	for _, c := range []domain.Constraint{domain.ExclusiveTokens(), spread, domain.InterPodAffinity()} {
		state, err := c.Prepare(ix, pods)
		require.NoError(t, err)
		if state != nil {
			states = append(states, state)
		}
	}
	waiting := rapid.Bool().Draw(t, "nominees count")
	trial := domain.NewGangTrial(ix, members, states, func(cluster.PodID) bool { return waiting })
	for p := range ix.Pods() {
		if ix.NodeOf(p) != cluster.NoNode && rapid.Bool().Draw(t, "leaves") {
			trial.Remove(p)
		}
	}
	d := domain.WholeCluster{}.Split(nil, ix)[0]
	return trial, &d
}

func placersAskAsAnew(t *rapid.T) {
	trial, d := drawTied(t)
	if rapid.Bool().Draw(t, "all alike") {
		trial = drawAlike(t, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)))
		d = &(domain.WholeCluster{}.Split(nil, trial.Index())[0])
	}
	if !domain.Constrained(trial) {
		return
	}
	var all []domain.MemberID
	for m := range trial.Members() {
		all = append(all, domain.MemberID(m))
		named, nodes := domain.NumAside(trial, domain.MemberID(m))
		asides["named"] += named
		asides["nodes"] += nodes
	}
	offers := drawOffers(t, trial)
	ix := trial.Index()
	f := &field{ix: ix}
	for m := range all {
		f.members = append(f.members, trial.Member(domain.MemberID(m)))
	}
	empty := domain.NewGangTrial(ix, f.members, nil, func(cluster.PodID) bool { return false })
	var there []cluster.PodID // on nodes that may be vacant
	for n := range ix.Nodes() {
		if !trial.Looks(n) && len(ix.Nominees(n)) == 0 && rapid.IntRange(0, 3).Draw(t, "vacant") > 0 {
			f.vacant = append(f.vacant, n)
			for _, p := range ix.PodsOn(n) {
				there = append(there, p)
				empty.Remove(p)
			}
		}
	}
	byMembers := func(sign int64) func(domain.MemberID, cluster.NodeID) domain.Price {
		return func(m domain.MemberID, n cluster.NodeID) domain.Price {
			return domain.Price{Highest: domain.Free.Highest, Sum: sign * int64(len(trial.On(n))), Pods: -trial.Slots(m, n)}
		}
	}
	nobody := func(domain.MemberID, cluster.NodeID) []cluster.NodeID { return nil }
	small := slices.Clone(trial.ByShape(all))
	slices.Reverse(small)
	for _, c := range []struct {
		placer domain.Placer
		shapes [][]domain.MemberID
		rank   func(domain.MemberID, cluster.NodeID) domain.Price
		taken  func(domain.MemberID, cluster.NodeID) []cluster.NodeID
	}{
		{domain.LeastDisruption{}, trial.ByShape(all), offers.Price, offers.Taken},
		{leastLasting{}, trial.ByShape(all), offers.Price, offers.Taken},
		{domain.Pack{}, trial.ByShape(all), byMembers(-1), nobody},
		{domain.Pack{SmallFirst: true}, small, byMembers(-1), nobody},
		{domain.Spread{}, trial.ByShape(all), byMembers(+1), nobody},
	} {
		clear(offers.free)
		for _, p := range there {
			if !trial.Gone(p) {
				trial.Remove(p)
			}
		}
		anew(trial, d, c.shapes, c.rank, offers.highest, c.taken)
		want := trial.Assignments()
		trial.UnplaceTo(0)
		for _, p := range there {
			trial.Return(p)
		}
		trial.Vacate(&hollow{f, trial, empty, offers, 0}, f.vacant)
		clear(offers.free)
		require.Equal(t, len(want), c.placer.Place(trial, d, offers, all, len(all)), "%T", c.placer)
		require.Equal(t, want, trial.Assignments(), "%T", c.placer)
		trial.UnplaceTo(0)
		trial.Vacate(nil, nil)
	}
}

// asides counts what the placers kept aside, by how it was known.
var asides = map[string]int{}

// TestPlacersAskAsAnew: where constraints close nodes and open them again, placers come to the same
// as if they asked about every node whenever somebody is placed.
func TestPlacersAskAsAnew(t *testing.T) {
	clear(asides)
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			placersAskAsAnew(t)
		}
	})
	require.Positive(t, asides["named"])
	require.Positive(t, asides["nodes"], "with pods nominated there")
}

func FuzzPlacersAskAsAnew(f *testing.F) { f.Fuzz(rapid.MakeFuzz(placersAskAsAnew)) }

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
	require.Equal(t, domain.Price{Lead: math.MaxInt64, Violations: -2, Highest: math.MinInt64, Sum: 1, Pods: 1},
		p.Minus(domain.Price{Lead: -1, Violations: 3, Highest: 7, Sum: 10, Pods: 2}))
	require.Equal(t, domain.Price{Lead: 2, Highest: 7}, domain.Price{Lead: 5, Highest: 7}.Minus(domain.Price{Lead: 3, Highest: 6}))
}

// drawAlike is a trial of equal members, perhaps one a host, one a rack or spread over zones, who may ask for devices, a token
// or a port, beside pods that count or are waited for, on nodes some of which they may not go to or lack a label.
func drawAlike(t require.TestingT, r *rand.Rand) *domain.GangTrial {
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

// world is a small cluster and the pods that want to run in it, full of what the
// constraints look at.
type world struct {
	snapshot cluster.Snapshot
	members  []cluster.Pod
}

// features choose what the pods of a world have.
type features struct {
	affinity, spread, tokens, devices bool
	terminating                       bool // and selectors that are empty
	unnominated                       bool // nobody is nominated
	maxMembers                        int
}

const (
	hostKey = "kubernetes.io/hostname"
	zoneKey = "topology.kubernetes.io/zone"
	gpu     = "example.com/gpu"
	fpga    = "example.com/fpga"
)

func drawWorld(t *rapid.T, f features) *world {
	d := drawer{t, f}
	w := &world{}
	w.snapshot.Namespaces = []cluster.Namespace{
		{Name: "a", Labels: map[string]string{"team": "x"}}, {Name: "b", Labels: map[string]string{"team": "y"}},
	}
	for i := range 1 + d.n(5) {
		w.snapshot.Nodes = append(w.snapshot.Nodes, d.node(i))
	}
	for i := range d.n(14) {
		p := d.pod(fmt.Sprintf("p%d", i))
		p.Node = w.snapshot.Nodes[d.n(len(w.snapshot.Nodes))].Name
		if f.devices {
			d.assign(&p)
		}
		w.snapshot.Pods = append(w.snapshot.Pods, p)
	}
	nominees := d.n(3)
	if f.unnominated {
		nominees = 0
	}
	for i := range nominees {
		p := d.pod(fmt.Sprintf("nominee%d", i))
		p.NominatedNode = w.snapshot.Nodes[d.n(len(w.snapshot.Nodes))].Name
		w.snapshot.Pods = append(w.snapshot.Pods, p)
	}
	for i := range 1 + d.n(max(f.maxMembers, 1)) {
		p := d.pod(fmt.Sprintf("m%d", i))
		p.Terminating = false
		if d.chance(30) {
			w.snapshot.Pods = append(w.snapshot.Pods, p)
		}
		w.members = append(w.members, p)
	}
	return w
}

type drawer struct {
	t *rapid.T
	f features
}

func (d drawer) n(n int) int             { return rapid.IntRange(0, n-1).Draw(d.t, "n") }
func (d drawer) chance(percent int) bool { return d.n(100) < percent }

func pick[T any](d drawer, choices ...T) T { return choices[d.n(len(choices))] }

func (d drawer) node(i int) cluster.Node {
	n := cluster.Node{Name: fmt.Sprintf("n%d", i), Labels: map[string]string{}}
	if d.chance(95) {
		n.Labels[hostKey] = n.Name
	}
	if d.chance(90) {
		n.Labels[zoneKey] = pick(d, "z0", "z1", "z2", "")
	}
	if d.chance(30) {
		n.Labels["disk"] = pick(d, "ssd", "hdd")
	}
	if d.chance(15) {
		n.Taints = []cluster.Taint{{Key: "dedicated", Value: "ml", Effect: pick(d, cluster.NoSchedule, cluster.NoExecute, cluster.PreferNoSchedule)}}
	}
	if d.f.devices && d.chance(90) {
		n.Devices = map[string]cluster.DevicePool{gpu: {Count: int32(d.n(4)), Capacity: pick(d, int64(10), 10, 10, 5)}}
		if d.chance(30) {
			n.Devices[fpga] = cluster.DevicePool{Count: 2, Capacity: 10}
		}
	}
	return n
}

func (d drawer) pod(name string) cluster.Pod {
	p := cluster.Pod{Namespace: pick(d, "a", "a", "a", "b", "unknown"), Name: name, Labels: d.labels()}
	if d.f.affinity {
		for range d.n(3) {
			p.AntiAffinity = append(p.AntiAffinity, d.term())
		}
		for range d.n(4) - 1 {
			p.Affinity = append(p.Affinity, d.term())
		}
	}
	if d.f.spread {
		for range d.n(3) {
			p.Spread = append(p.Spread, d.spread())
		}
		if d.chance(20) { // more than are counted at once
			p.Spread = slices.Repeat(p.Spread, 10)
		}
		p.Terminating = d.f.terminating && d.chance(30)
		if d.chance(15) {
			p.NodeSelector = map[string]string{"disk": "ssd"}
		}
		if d.chance(30) {
			p.Tolerations = []cluster.Toleration{{Key: "dedicated", Operator: cluster.TolerationExists}}
		}
	}
	if d.f.tokens {
		for _, token := range []string{"a/claim", "b/claim", "licence"} {
			if d.chance(25) {
				p.Tokens = append(p.Tokens, token)
			}
		}
	}
	if d.f.devices {
		for range 1 + d.n(2) {
			if d.chance(70) {
				p.Devices = append(p.Devices, d.request())
			}
		}
	}
	return p
}

func (d drawer) labels() map[string]string {
	labels := map[string]string{}
	if d.chance(80) {
		labels["app"] = pick(d, "web", "db")
	}
	if d.chance(30) {
		labels["version"] = pick(d, "1", "2")
	}
	if d.chance(20) {
		labels["index"] = fmt.Sprint(d.n(9))
	}
	return labels
}

func (d drawer) selector() *disruption.Selector {
	switch d.n(8) {
	case 0:
		return nil
	case 1:
		return &disruption.Selector{MatchExpressions: []disruption.Requirement{{Key: "version", Operator: disruption.DoesNotExist}}}
	case 2:
		return &disruption.Selector{MatchExpressions: []disruption.Requirement{
			{Key: "app", Operator: disruption.In, Values: []string{"web", "db"}},
		}}
	case 3:
		if !d.f.spread || d.f.terminating {
			return &disruption.Selector{}
		}
	}
	return &disruption.Selector{MatchLabels: map[string]string{"app": pick(d, "web", "db")}}
}

func (d drawer) term() cluster.AffinityTerm {
	t := cluster.AffinityTerm{Selector: d.selector(), TopologyKey: pick(d, hostKey, zoneKey, zoneKey, "disk")}
	switch d.n(7) {
	case 0:
		t.Namespaces = pick(d, []string{"a", "b"}, []string{"b"}, []string{"unknown", "a"})
	case 1:
		t.NamespaceSelector = &disruption.Selector{}
	case 2:
		t.NamespaceSelector = &disruption.Selector{MatchExpressions: []disruption.Requirement{
			{Key: "team", Operator: disruption.NotIn, Values: []string{"x"}},
		}}
	case 3:
		t.NamespaceSelector = &disruption.Selector{MatchLabels: map[string]string{"team": "y"}}
		if d.chance(50) {
			t.Namespaces = []string{"unknown"}
		}
	}
	if t.Selector != nil && d.chance(15) {
		t.MatchLabelKeys = []string{"version"}
	} else if t.Selector != nil && d.chance(15) {
		t.MismatchLabelKeys = []string{"version"}
	}
	return t
}

func (d drawer) spread() cluster.Spread {
	s := cluster.Spread{
		MaxSkew: pick(d, 1, 2, 3, int32(math.MaxInt32)), Selector: d.selector(),
		TopologyKey:        pick(d, hostKey, zoneKey, zoneKey),
		MinDomains:         int32(d.n(4)),
		NodeAffinityPolicy: pick(d, "", cluster.Honor, cluster.Ignore),
		NodeTaintsPolicy:   pick(d, "", cluster.Honor, cluster.Ignore),
	}
	if s.Selector != nil && d.chance(20) {
		s.MatchLabelKeys = []string{"version"}
	}
	return s
}

func (d drawer) request() cluster.DeviceRequest {
	r := cluster.DeviceRequest{Resource: pick(d, gpu, gpu, gpu, gpu, fpga)}
	if d.chance(40) {
		r.Count = int32(1 + d.n(2))
	} else {
		r.Fraction = pick(d, int64(1), 3, 5, 5, 5, 7, 10)
	}
	return r
}

// assign tells of some requests which devices they hold, now and then some that
// others hold too, or that are not there.
func (d drawer) assign(p *cluster.Pod) {
	for i := range p.Devices {
		r := &p.Devices[i]
		if d.chance(50) {
			first := int32(d.n(3))
			for j := range max(r.Count, 1) {
				r.Assigned = append(r.Assigned, first+j)
			}
		}
	}
	slices.Reverse(p.Devices)
}
