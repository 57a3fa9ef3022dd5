package victims_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// fullNodes are nodes full of pods that all may go, for which equal members are taken.
func fullNodes(t *rapid.T, size func() int64) (*domain.GangTrial, *victims.Offers) {
	snap := &cluster.Snapshot{}
	for i := range rapid.IntRange(1, 3).Draw(t, "nodes") {
		n := cluster.Node{Name: fmt.Sprint("n", i), Allocatable: cluster.Resources{cluster.CPU: 12}}
		snap.Nodes = append(snap.Nodes, n)
		for free := int64(12); free > 0; {
			cpu, priority := min(free, size()), int32(rapid.IntRange(0, 3).Draw(t, "priority"))
			free -= cpu
			snap.Pods = append(snap.Pods, cluster.Pod{
				Name: fmt.Sprint("p", len(snap.Pods)), Node: n.Name, Priority: &priority, Requests: cluster.Resources{cluster.CPU: cpu},
			})
		}
	}
	ix, err := cluster.NewIndex(snap)
	require.NoError(t, err)
	var members []*domain.Member
	ask := rapid.Int64Range(1, 4).Draw(t, "ask")
	for range 12 {
		members = append(members, domain.NewMember(ix, &cluster.Pod{Requests: cluster.Resources{cluster.CPU: ask}}, cluster.NoPod))
	}
	trial := domain.NewGangTrial(ix, members, nil, func(cluster.PodID) bool { return false })
	for p := range cluster.PodID(ix.NumPods()) {
		trial.Remove(p)
	}
	odd := rapid.Bool().Draw(t, "budgets")
	violates := func(u victims.UnitID) int { return int(u) % 2 }
	if !odd {
		violates = nil
	}
	units := victims.NewUnits(ix, victims.Units137)
	return trial, victims.NewOffers(units, trial, func(victims.UnitID) bool { return true }, violates, nil)
}

// seat places members one after the other and adds up what they cost.
func seat(t *rapid.T, trial *domain.GangTrial, offers *victims.Offers) domain.Price {
	sum := domain.Free
	for m := range domain.MemberID(trial.Members()) {
		n := cluster.NodeID(rapid.IntRange(0, trial.Index().NumNodes()-1).Draw(t, "node"))
		if !trial.CanPlace(m, n).OK() {
			continue
		}
		price := offers.Price(m, n)
		require.GreaterOrEqual(t, price.Violations, int64(0))
		require.GreaterOrEqual(t, price.Sum, int64(0))
		require.GreaterOrEqual(t, price.Pods, int64(0))
		require.Equal(t, price.Pods == 0, price == domain.Free, "who goes for nothing costs nothing")
		trial.Place(m, n)
		offers.Taken(m, n)
		sum.Add(price)
	}
	return sum
}

// TestNoSeatIsPaidTwice: a seat never costs less than nothing, and where pods are of one
// size, so that whoever goes for some seats goes for one more, too, seats add up to what
// all of them cost.
func TestNoSeatIsPaidTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.Int64Range(1, 4)
		even := size.Draw(t, "size")
		trial, offers := fullNodes(t, func() int64 { return even })
		sum := seat(t, trial, offers)
		require.Equal(t, offers.Total(), sum)
		require.Equal(t, sum.Highest, offers.Highest())
		offers.Reset()
		require.Equal(t, offers.Total(), sum)

		trial, offers = fullNodes(t, func() int64 { return size.Draw(t, "cpu") })
		seat(t, trial, offers)
	})
}
