package domain_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// tableOffers are drawn prices by node and by how many members are there. Where somebody is
// taken, another node may become free of charge.
type tableOffers struct {
	trial   *domain.GangTrial
	prices  [][]domain.Price
	cheaper []cluster.NodeID // by node: which other becomes cheaper; NoNode: none
	free    []bool
	highest int64
}

func (o *tableOffers) Price(_ domain.MemberID, n cluster.NodeID) domain.Price {
	if o.free[n] {
		return domain.Free
	}
	return o.prices[n][min(len(o.trial.On(n)), len(o.prices[n])-1)]
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

// drawTied draws a gang with constraints and a trial of it, from which some pods have left; nil if
// no constraint has a say.
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
	for _, c := range []domain.Constraint{domain.ExclusiveTokens(), domain.Anew(domain.TopologySpread()), domain.InterPodAffinity()} {
		state, err := c.Prepare(ix, pods)
		require.NoError(t, err)
		if state != nil {
			states = append(states, state)
		}
	}
	if len(states) == 0 {
		return nil, nil
	}
	trial := domain.NewGangTrial(ix, members, states, func(cluster.PodID) bool { return true })
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
	if trial == nil {
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
		{domain.Pack{}, trial.ByShape(all), byMembers(-1), nobody},
		{domain.Pack{SmallFirst: true}, small, byMembers(-1), nobody},
		{domain.Spread{}, trial.ByShape(all), byMembers(+1), nobody},
	} {
		clear(offers.free)
		anew(trial, d, c.shapes, c.rank, offers.highest, c.taken)
		want := trial.Assignments()
		trial.UnplaceTo(0)
		clear(offers.free)
		require.Equal(t, len(want), c.placer.Place(trial, d, offers, all, len(all)), "%T", c.placer)
		require.Equal(t, want, trial.Assignments(), "%T", c.placer)
		trial.UnplaceTo(0)
	}
}

// asides counts what the placers kept aside, by how it was known.
var asides = map[string]int{}

// TestPlacersAskAsAnew: where constraints close nodes and open them again, placers come to the same
// as if they asked about every node whenever somebody is placed.
func TestPlacersAskAsAnew(t *testing.T) {
	clear(asides)
	rapid.Check(t, placersAskAsAnew)
	require.Positive(t, asides["named"])
	require.Positive(t, asides["nodes"], "with pods nominated there")
}

func FuzzPlacersAskAsAnew(f *testing.F) { f.Fuzz(rapid.MakeFuzz(placersAskAsAnew)) }
