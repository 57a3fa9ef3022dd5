package seating_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// world is a small cluster and a gang of two levels that wants to go there.
type world struct {
	ix      *cluster.Index
	seating *seating.Seating
	whole   domain.Domain // where the gang may go
}

// drawWorld draws groups beneath "job": pod groups, some of them perhaps beneath another
// composite group, some with members that run. Nodes have room for some of the members and, half of
// the time, for nobody beside them; the gang may go to all of them or to all but one.
func drawWorld(t *rapid.T, preferred bool) *world {
	s := &cluster.Snapshot{CompositePodGroups: []cluster.CompositePodGroup{{Name: "job"}, {Name: "inner", Parent: "job"}}}
	topology := func(name string) []cluster.TopologyConstraint {
		switch rapid.IntRange(0, 3).Draw(t, "topology of "+name) {
		case 0:
			return []cluster.TopologyConstraint{{Key: "rack"}}
		case 1:
			return []cluster.TopologyConstraint{{Key: "zone"}, {Key: "rack", Preferred: preferred}}
		}
		return nil
	}
	for i := range rapid.IntRange(1, 4).Draw(t, "nodes") {
		s.Nodes = append(s.Nodes, cluster.Node{
			Name:        fmt.Sprintf("n%d", i),
			Labels:      map[string]string{"rack": fmt.Sprint(rapid.IntRange(0, 2).Draw(t, "rack")), "zone": fmt.Sprint(i / 2)},
			Allocatable: cluster.Resources{cluster.CPU: rapid.Int64Range(1, 4).Draw(t, "cpu")},
		})
	}
	least := func(most int) *int32 {
		n := int32(rapid.IntRange(1, most).Draw(t, "min"))
		return &n
	}
	begun := rapid.Bool().Draw(t, "begun")
	room, most := make([]int64, len(s.Nodes)), rapid.Int64Range(1, 3).Draw(t, "most")
	for i := range rapid.IntRange(1, 4).Draw(t, "groups") {
		g := cluster.PodGroup{Name: fmt.Sprintf("g%d", i), Parent: rapid.SampledFrom([]string{"job", "inner"}).Draw(t, "parent")}
		pods := rapid.IntRange(1, 3).Draw(t, "pods")
		g.MinCount, g.Topology = least(pods), topology(g.Name)
		for j := range pods {
			p := cluster.Pod{Name: fmt.Sprintf("%s-%d", g.Name, j), Group: g.Name, Requests: cluster.Resources{cluster.CPU: rapid.Int64Range((most+1)/2, most).Draw(t, "cpu")}}
			on := rapid.IntRange(0, 2*len(s.Nodes)-1).Draw(t, "on")
			if rapid.IntRange(0, 7).Draw(t, "runs") == 0 || begun && j == 0 {
				p.Node, on = s.Nodes[0].Name, 0
			}
			if on < len(s.Nodes) {
				room[on] += p.Requests[cluster.CPU]
			}
			s.Pods = append(s.Pods, p)
		}
		s.PodGroups = append(s.PodGroups, g)
	}
	for i := range s.CompositePodGroups {
		s.CompositePodGroups[i].MinGroupCount = least(2)
	}
	s.CompositePodGroups[1].Topology = topology("inner")
	if rapid.Bool().Draw(t, "tight") {
		for i := range s.Nodes {
			s.Nodes[i].Allocatable[cluster.CPU] = room[i]
		}
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	var members []*domain.Member
	gang := seating.NewGroup(ix, ix.GroupByName(cluster.KindCompositePodGroup, "", "job"), func(p cluster.PodID) domain.MemberID {
		members = append(members, domain.NewMember(ix, ix.Pod(p), p))
		return domain.MemberID(len(members) - 1)
	})
	trial := domain.NewGangTrial(ix, members, nil, func(cluster.PodID) bool { return false })
	whole := seating.Split(ix, nil)[0]
	if n := len(whole.Nodes); n > 1 && rapid.IntRange(0, 3).Draw(t, "part") == 0 {
		whole.Nodes = whole.Nodes[:n-1]
	}
	return &world{ix, &seating.Seating{Trial: trial, Gang: gang}, whole}
}

// possible reports whether any placement suffices, by trying every one.
func (w *world) possible(m domain.MemberID) bool {
	trial := w.seating.Trial
	if int(m) == trial.Members() {
		return w.seating.Suffices()
	}
	for _, n := range w.whole.Nodes {
		if trial.CanPlace(m, n).OK() {
			trial.Place(m, n)
			found := w.possible(m + 1)
			trial.Unplace()
			if found {
				return true
			}
		}
	}
	return w.possible(m + 1)
}

// isFull checks that every place is in the domain, and where its group has one; and, if nobody is left out for others,
// that nobody else fits beside his group.
func (w *world) isFull(t *rapid.T, full bool) {
	trial := w.seating.Trial
	for _, leaf := range w.seating.Gang.Leaves() {
		for _, m := range leaf.Members {
			n := trial.At(m)
			if n != cluster.NoNode {
				require.Contains(t, w.whole.Nodes, n)
				require.NotNil(t, leaf.Within)
				require.Contains(t, leaf.Within.Nodes, n)
			}
			if full && n == cluster.NoNode && leaf.Within != nil {
				for _, n := range leaf.Within.Nodes {
					require.False(t, trial.CanPlace(m, n).OK(), "member %d has room on %d", m, n)
				}
			}
		}
	}
}

// allHavePlaces checks that nobody else may have a place.
func (w *world) allHavePlaces(t *rapid.T) {
	trial := w.seating.Trial
	for m := range domain.MemberID(trial.Members()) {
		for _, n := range w.whole.Nodes {
			if trial.At(m) != cluster.NoNode || !trial.CanPlace(m, n).OK() {
				continue
			}
			trial.Place(m, n)
			require.False(t, w.seating.Suffices(), "member %d has room on %d", m, n)
			trial.Unplace()
		}
	}
}

// Where all room added up is too small no placement is tried.
func TestNoRoomIsNotLookedInto(t *testing.T) {
	const numPods = 40
	all := int32(numPods)
	s := &cluster.Snapshot{PodGroups: []cluster.PodGroup{{Name: "job", MinCount: &all}}}
	for i := range numPods {
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprint("n", i), Allocatable: cluster.Resources{cluster.CPU: 1}})
		s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint("p", i), Group: "job", Requests: cluster.Resources{cluster.CPU: 1 + int64(i%2)}})
	}
	seats := seatingOf(t, s)
	require.False(t, seats.Place(&seating.Split(seats.Trial.Index(), nil)[0], domain.Pack{}, nil, false))
	require.False(t, seats.Unproved)
	require.Zero(t, seats.Trial.Checks)
}

// However often all placements are looked at, one domain of many has its part of the steps: then it is not known
// whether somebody has a place.
func TestAllPlacementsHaveSoManySteps(t *testing.T) {
	all := int32(8)
	s := &cluster.Snapshot{PodGroups: []cluster.PodGroup{{Name: "job", MinCount: &all}}}
	for i := range 6 {
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprint("n", i), Allocatable: cluster.Resources{cluster.CPU: 100}})
	}
	for i := range all {
		s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint("p", i), Group: "job", Requests: cluster.Resources{cluster.CPU: 60 + int64(i)}})
	}
	seats := seatingOf(t, s)
	d := &seating.Split(seats.Trial.Index(), nil)[0]
	_, proved := seats.Exactly(d)
	require.True(t, proved)
	alone := seats.Trial.Asked
	seats.Allow(1 << 20)
	for range 100 {
		seated, proved := seats.Exactly(d)
		require.False(t, seated || proved)
	}
	require.LessOrEqual(t, seats.Trial.Asked-alone, seating.FewestLooks*len(d.Nodes))
	require.Greater(t, alone, 3*seating.FewestLooks*len(d.Nodes))
}

// seatingOf seats the pods of group job.
func seatingOf(t *testing.T, s *cluster.Snapshot) *seating.Seating {
	t.Helper()
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	var members []*domain.Member
	gang := seating.NewGroup(ix, ix.GroupByName(cluster.KindPodGroup, "", "job"), func(p cluster.PodID) domain.MemberID {
		members = append(members, domain.NewMember(ix, ix.Pod(p), p))
		return domain.MemberID(len(members) - 1)
	})
	trial := domain.NewGangTrial(ix, members, nil, func(cluster.PodID) bool { return false })
	return &seating.Seating{Trial: trial, Gang: gang}
}

// A gang has a place if and only if some placement suffices; with fewest, no group has
// more than it needs; what Rest adds leaves everybody where he is, and then nobody can be
// added any more.
func TestPlaceFindsWhatTryingEveryPlacementFinds(t *testing.T) {
	seated, not := 0, 0
	gen.CheckUntil(t, func(t *rapid.T) {
		w := drawWorld(t, false)
		s, trial := w.seating, w.seating.Trial
		possible := w.possible(0)
		fewest := rapid.Bool().Draw(t, "fewest")
		placer := rapid.SampledFrom([]domain.Placer{domain.Pack{}, domain.Spread{}}).Draw(t, "placer")
		exactly, proved := s.Exactly(&w.whole)
		if trial.Members() <= seating.ExactMembers {
			require.True(t, proved)
			require.Equal(t, possible, exactly)
		}
		if exactly {
			require.True(t, s.Suffices())
			w.isFull(t, false)
			trial.UnplaceTo(0)
		}
		if short, _ := s.Gang.Short(); short != nil {
			require.False(t, possible, "%s is short of pods", short.Name)
		}
		placed := s.Place(&w.whole, placer, nil, fewest)
		if trial.Members() <= seating.ExactMembers {
			require.False(t, s.Unproved, "every placement was tried")
		}
		if !s.Unproved {
			require.Equal(t, possible, placed, "what is not found is not there")
		}
		if !placed {
			require.Empty(t, trial.Placed())
			not++
			return
		}
		seated++
		require.True(t, s.Suffices())
		w.isFull(t, !fewest)
		if fewest {
			for _, leaf := range s.Gang.Leaves() {
				require.LessOrEqual(t, s.SeatedOf(leaf), max(1, leaf.Need()))
			}
		}
		before := trial.Assignments()
		s.Rest(&w.whole)
		require.Equal(t, before, trial.Assignments()[:len(before)])
		require.True(t, s.Suffices())
		w.isFull(t, true)
		w.allHavePlaces(t)
	}, &seated, &not)
}

// TestAHurryIsNoProof: who finds no place after as many looks as the trial allows may have one.
func TestAHurryIsNoProof(t *testing.T) {
	hurried := 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t, true)
		s, trial := w.seating, w.seating.Trial
		trial.Allow(rapid.IntRange(1, 4).Draw(t, "looks"))
		placed := s.Place(&w.whole, domain.Pack{}, nil, false)
		require.True(t, s.Unproved || !trial.Hurried)
		require.Equal(t, placed, len(trial.Placed()) > 0)
		if trial.Hurried {
			hurried++
		}
	})
	require.Positive(t, hurried)
}

// TestDomainsShareTheLooks: where the first one would take them all, the second one still gets the gang.
func TestDomainsShareTheLooks(t *testing.T) {
	all := int32(20)
	s := &cluster.Snapshot{PodGroups: []cluster.PodGroup{{Name: "job", MinCount: &all}}}
	for i := range 80 {
		rack, cpu := "narrow", int64(9)
		if i >= 60 {
			rack, cpu = "wide", 30
		}
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprintf("n%02d", i), Labels: map[string]string{"rack": rack}, Allocatable: cluster.Resources{cluster.CPU: cpu}})
	}
	for i := range all {
		s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint("p", i), Group: "job", Requests: cluster.Resources{cluster.CPU: 10 + int64(i)}})
	}
	seats := seatingOf(t, s)
	seats.Looks = 4000
	d := seats.Fit(seating.Split(seats.Trial.Index(), domain.Topology{"rack"}), nil)
	require.True(t, seats.Unproved)
	require.NotNil(t, d)
	require.Contains(t, d.Name, "wide")
}

// Again seats as many of each group as had a place, whatever has become of the room, if
// any placement does.
func TestAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t, true)
		s, trial := w.seating, w.seating.Trial
		if !s.Place(&w.whole, domain.Spread{}, nil, false) {
			return
		}
		trial.UnplaceTo(0)
		if s.Again(&w.whole, func(leaf *seating.Group) int { return leaf.Seated }) {
			for _, leaf := range s.Gang.Leaves() {
				require.GreaterOrEqual(t, s.SeatedOf(leaf), leaf.Seated)
			}
		} else {
			require.True(t, s.Unproved, "as before is a way")
		}
		trial.UnplaceTo(0)
		require.False(t, s.Again(&w.whole, func(leaf *seating.Group) int { return len(leaf.Members) + 1 }))
		require.Empty(t, trial.Placed())
	})
}

// After a placement that another search found, Adopt knows whose places they are: Rest adds
// nobody in vain, and leaves everybody where he is.
func TestRestBesideAnAdoptedPlacement(t *testing.T) {
	adopted := 0
	gen.CheckUntil(t, func(t *rapid.T) {
		preferred := rapid.Bool().Draw(t, "preferred")
		w := drawWorld(t, preferred)
		s, trial := w.seating, w.seating.Trial
		s.Place(&w.whole, domain.Spread{}, nil, rapid.Bool().Draw(t, "fewest")) // what an earlier placer noted
		trial.UnplaceTo(0)
		for m := range domain.MemberID(trial.Members()) {
			n := rapid.SampledFrom(w.whole.Nodes).Draw(t, "node")
			if rapid.IntRange(0, 2).Draw(t, "placed") > 0 && trial.CanPlace(m, n).OK() {
				trial.Place(m, n)
			}
		}
		if !s.Suffices() {
			return
		}
		adopted++
		before := trial.Assignments()
		s.Adopt(&w.whole)
		s.Rest(&w.whole)
		require.Equal(t, before, trial.Assignments()[:len(before)])
		require.True(t, s.Suffices())
		w.isFull(t, true)
		if !preferred { // else a group stays in its rack
			w.allHavePlaces(t)
		}
	}, &adopted)
}

// A preferred level is given up before the place, and a required one never.
func TestLevels(t *testing.T) {
	node := func(name, zone, rack string) cluster.Node {
		return cluster.Node{Name: name, Labels: map[string]string{"zone": zone, "rack": rack}}
	}
	ix, err := cluster.NewIndex(&cluster.Snapshot{
		Nodes: []cluster.Node{node("n0", "a", "1"), node("n1", "a", "2"), node("n2", "b", "3")},
		PodGroups: []cluster.PodGroup{{Name: "g", Topology: []cluster.TopologyConstraint{
			{Key: "zone"}, {Key: "rack", Preferred: true},
		}}},
		Pods: []cluster.Pod{{Name: "running", Group: "g", Node: "n1"}},
	})
	require.NoError(t, err)
	g := seating.NewGroup(ix, ix.GroupByName(cluster.KindPodGroup, "", "g"), nil)
	var names [][]string
	for _, level := range g.Levels(ix) {
		var list []string
		for _, d := range level {
			list = append(list, fmt.Sprint(d.Nodes))
		}
		names = append(names, list)
	}
	require.Equal(t, [][]string{{"[1]"}, {"[0 1]"}}, names, "only where its member runs")

	at := []cluster.NodeID{0}
	g.Members = []domain.MemberID{0}
	where := func(m domain.MemberID) cluster.NodeID { return at[m] }
	require.Nil(t, g.Stray(ix, where), "another rack than it prefers")
	at[0] = 2
	require.Equal(t, &seating.Stray{Group: g, Key: "zone", Node: cluster.NoNode, Values: 2}, g.Stray(ix, where))
	at[0] = cluster.NoNode
	require.Nil(t, g.Stray(ix, where), "nobody is placed")
	require.True(t, slices.Equal(g.Leaves(), []*seating.Group{g}))
}
