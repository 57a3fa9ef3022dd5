package seating_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/losses"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// forgetful are offers of which nothing may be remembered.
type forgetful struct{ *losses.Offers }

func (forgetful) Apart([]cluster.NodeID) bool { return false }

// crowd is a job of so many child groups, most of them alike, which want to stay in a zone or a rack that is full.
func crowd(r *rand.Rand, groups int) *cluster.Snapshot {
	s := &cluster.Snapshot{CompositePodGroups: []cluster.CompositePodGroup{{Name: "job"}}, PodGroups: []cluster.PodGroup{{Name: "large", Mode: disruption.All}}}
	nodes := 4 + r.IntN(9)
	together := r.IntN(2) * 8 // one pod of so many is of a group that goes whole
	for i := range nodes {
		n := cluster.Node{Name: fmt.Sprintf("n%02d", i), Allocatable: cluster.Resources{cluster.CPU: 4 + r.Int64N(5)}}
		n.Labels = map[string]string{"rack": fmt.Sprint(i / 2), "zone": fmt.Sprint(i / 4)}
		s.Nodes = append(s.Nodes, n)
		for range r.IntN(5) {
			priority := int32(r.IntN(4))
			p := cluster.Pod{Name: fmt.Sprintf("p%03d", len(s.Pods)), Node: n.Name, Priority: &priority, Requests: cluster.Resources{cluster.CPU: 1 + r.Int64N(2)}}
			if together > 0 && r.IntN(together) == 0 {
				p.Group, p.Priority = "large", new(int32)
			}
			s.Pods = append(s.Pods, p)
		}
	}
	for i := range groups {
		g := cluster.PodGroup{Name: fmt.Sprintf("g%d", i), Parent: "job", Topology: []cluster.TopologyConstraint{{Key: []string{"rack", "zone"}[r.IntN(5)/4]}}}
		least := int32(1 + r.IntN(2))
		g.MinCount = &least
		for j := range 1 + r.IntN(3) {
			s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprintf("%s-%d", g.Name, j), Group: g.Name, Requests: cluster.Resources{cluster.CPU: 2 + int64(r.IntN(4)/3)}})
		}
		s.PodGroups = append(s.PodGroups, g)
	}
	return s
}

// seatingOfCrowd seats the job where everybody else may go.
func seatingOfCrowd(t *testing.T, s *cluster.Snapshot) (*seating.Seating, *losses.Offers) {
	t.Helper()
	job := seatingOf(t, s)
	trial := job.Trial
	ix := trial.Index()
	for p := range ix.Pods() {
		if ix.NodeOf(p) != cluster.NoNode {
			trial.Remove(p)
		}
	}
	offers := losses.NewOffers(victims.NewUnits(ix, victims.Units137, victims.Worth{}), trial, func(victims.UnitID) bool { return true }, nil, nil)
	return job, offers
}

// TestTheRegionOfAGroup: a child group goes where most of it has a place, then where that costs least, then to the first
// of its regions, and has the places there that it has if there is no other.
func TestTheRegionOfAGroup(t *testing.T) {
	counts, prices := 0, 0
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 22))
		s, fewest := crowd(r, 1), r.IntN(2) == 0
		placer := []domain.Placer{domain.LeastDisruption{}, domain.Pack{}}[r.IntN(2)]
		job, offers := seatingOfCrowd(t, s)
		ix := job.Trial.Index()
		var best *domain.Domain
		most, least := 0, domain.Price{}
		for _, region := range seating.Split(ix, domain.Topology{job.Gang.Children[0].Topology[0].Key}) {
			alone, offers := seatingOfCrowd(t, s)
			if !alone.Place(&region, placer, offers, false) {
				continue
			}
			count, price := len(alone.Trial.Placed()), offers.Total()
			if most > 0 && count != most {
				counts++
			} else if most > 0 && price.Compare(least) != 0 {
				prices++
			}
			if count > most || count == most && price.Compare(least) < 0 {
				best, most, least = &region, count, price
			}
		}
		require.Equal(t, best != nil, job.Place(&seating.Split(ix, nil)[0], placer, offers, fewest), "seed %d", seed)
		if best != nil {
			alone, least := seatingOfCrowd(t, s)
			require.True(t, alone.Place(best, placer, least, fewest))
			require.Equal(t, alone.Trial.Assignments(), job.Trial.Assignments(), "seed %d", seed)
			require.Equal(t, least.Total(), offers.Total(), "seed %d", seed)
		}
	}
	require.Greater(t, counts, 50)
	require.Greater(t, prices, 50)
}

// TestTriesAreRemembered: child groups go where they go if each region is tried anew for each of them, and fewer
// questions are asked.
func TestTriesAreRemembered(t *testing.T) {
	seats := func(s *cluster.Snapshot, placer domain.Placer, fewest, remember bool) (where []domain.Assignment, asked int) {
		job, offers := seatingOfCrowd(t, s)
		var prices seating.Prices = offers
		if !remember {
			prices = forgetful{offers}
		}
		job.Place(&seating.Split(job.Trial.Index(), nil)[0], placer, prices, fewest)
		return job.Trial.Assignments(), job.Trial.Asked
	}
	placed, anew, remembered := 0, 0, 0
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 21))
		s := crowd(r, 2+r.IntN(4))
		placer := []domain.Placer{domain.LeastDisruption{}, domain.LeastDisruption{}, domain.Pack{}, domain.Spread{}}[r.IntN(4)]
		fewest := r.IntN(3) == 0
		want, n := seats(s, placer, fewest, false)
		got, k := seats(s, placer, fewest, true)
		require.Equal(t, want, got, "seed %d", seed)
		placed, anew, remembered = placed+len(want), anew+n, remembered+k
	}
	require.Greater(t, placed, 2000)
	require.Less(t, 5*remembered, 4*anew)
}

// TestRegionsEndWithTheLooks: once placers have asked as often as they may, no region is tried any more.
func TestRegionsEndWithTheLooks(t *testing.T) {
	most, cut := 0, 0
	for seed := range uint64(200) {
		s := crowd(rand.New(rand.NewPCG(seed, 22)), 12)
		job, offers := seatingOfCrowd(t, s)
		job.Trial.Allow(64)
		job.Place(&seating.Split(job.Trial.Index(), nil)[0], domain.LeastDisruption{}, offers, false)
		most = max(most, job.Trial.Asked)
		if job.Trial.Spent() {
			cut++
		}
	}
	require.Greater(t, cut, 150)
	require.Less(t, most, 64+32)
}
