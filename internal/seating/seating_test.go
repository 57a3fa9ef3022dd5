package seating_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/losses"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

func TestMain(m *testing.M) { gen.Tests(m) }

// world is a small cluster and a gang of two levels that wants to go there.
type world struct {
	*cluster.Snapshot
	seating *seating.Seating
	whole   domain.Domain // where the gang may go
	tied    bool          // pods want to be near others, or apart
}

// drawWorld draws groups beneath "job": pod groups, some of them perhaps beneath another
// composite group, some with members that run. Nodes have room for some of the members and, half of
// the time, for nobody beside them; the gang may go to all of them or to all but one. In a third of the gangs all pods ask
// for as much; half of the gangs are smaller, and pods of them are tied to others.
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
	alike, tied, sizes := rapid.IntRange(0, 2).Draw(t, "alike") == 0, rapid.IntRange(0, 3).Draw(t, "tied") <= 1, 4
	if tied {
		sizes = 3
	}
	for i := range rapid.IntRange(1, sizes).Draw(t, "nodes") {
		s.Nodes = append(s.Nodes, cluster.Node{
			Name:        fmt.Sprintf("n%d", i),
			Labels:      map[string]string{"rack": fmt.Sprint(rapid.IntRange(0, 2).Draw(t, "rack")), "zone": fmt.Sprint(i / 2)},
			Allocatable: cluster.Resources{cluster.CPU: rapid.Int64Range(1, 8).Draw(t, "cpu")},
		})
	}
	least := func(most int) *int32 {
		n := int32(rapid.IntRange(1, most).Draw(t, "min"))
		return &n
	}
	begun := rapid.Bool().Draw(t, "begun")
	room, most := make([]int64, len(s.Nodes)), rapid.Int64Range(1, 6).Draw(t, "most")
	for i := range rapid.IntRange(1, sizes).Draw(t, "groups") {
		g := cluster.PodGroup{Name: fmt.Sprintf("g%d", i), Parent: rapid.SampledFrom([]string{"job", "inner"}).Draw(t, "parent")}
		pods := rapid.IntRange(1, sizes-1).Draw(t, "pods")
		g.MinCount, g.Topology = least(pods), topology(g.Name)
		for j := range pods {
			p := cluster.Pod{Name: fmt.Sprintf("%s-%d", g.Name, j), Group: g.Name, Requests: cluster.Resources{cluster.CPU: most}}
			if !alike {
				p.Requests[cluster.CPU] = rapid.Int64Range((most+2)/3, most).Draw(t, "cpu")
			}
			if tied {
				tie(t, &p)
			}
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
	seats := seatingOf(t, s, domain.InterPodAffinity())
	whole := seating.Split(seats.Trial.Index(), nil)[0]
	if n := len(whole.Nodes); n > 1 {
		parts := [][]cluster.NodeID{whole.Nodes, whole.Nodes, whole.Nodes, whole.Nodes[1:], whole.Nodes[:n-1]}
		whole.Nodes = rapid.SampledFrom(parts).Draw(t, "part")
	}
	return &world{s, seats, whole, tied}
}

// tie has a pod stand for app=y, and want to be near those who do, or apart.
func tie(t *rapid.T, p *cluster.Pod) {
	y := map[string]string{"app": "y"}
	if rapid.Bool().Draw(t, "y") {
		p.Labels = y
	}
	on := []cluster.AffinityTerm{{Selector: &disruption.Selector{MatchLabels: y}, TopologyKey: rapid.SampledFrom([]string{"rack", "zone"}).Draw(t, "key")}}
	switch rapid.IntRange(0, 2).Draw(t, "wish") {
	case 0:
		p.Affinity = on
	case 1:
		p.AntiAffinity = on
	}
}

// possible reports whether any placement suffices that holds for enough, by trying every one in every order; it must be called
// with an empty set of those from which there is none.
func (w *world) possible(enough func() bool, none map[string]bool) bool {
	trial := w.seating.Trial
	if len(trial.Placed()) > 0 && enough() {
		return true
	}
	var where []byte
	for m := range trial.Members() {
		where = append(where, byte(trial.At(domain.MemberID(m))))
	}
	if none[string(where)] {
		return false
	}
	for m := range domain.MemberID(trial.Members()) {
		for _, n := range w.whole.Nodes {
			if trial.At(m) != cluster.NoNode || !trial.CanPlace(m, n).OK() {
				continue
			}
			trial.Place(m, n)
			found := w.possible(enough, none)
			trial.Unplace()
			if found {
				return true
			}
		}
	}
	none[string(where)] = true
	return false
}

// isFull checks that every place is in the domain, and where its group has one; and, if nobody is left out for others,
// that nobody else fits beside his group, unless somebody who came later made room for him.
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
			if full && !w.tied && n == cluster.NoNode && leaf.Within != nil {
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
			if trial.At(m) != cluster.NoNode || !trial.CanPlace(m, n).OK() || w.tied {
				continue
			}
			trial.Place(m, n)
			require.False(t, w.seating.Suffices(), "member %d has room on %d", m, n)
			trial.Unplace()
		}
	}
}

// Where all room added up is too small by one no placement is tried.
func TestNoRoomIsNotLookedInto(t *testing.T) {
	const numPods = 40
	all := int32(numPods)
	s := &cluster.Snapshot{PodGroups: []cluster.PodGroup{{Name: "job", MinCount: &all}}}
	for i := range numPods {
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprint("n", i), Allocatable: cluster.Resources{cluster.CPU: int64(i % 2)}})
		s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint("p", i), Group: "job", Requests: cluster.Resources{cluster.CPU: 1 + int64(i%2)}})
	}
	s.Nodes[0].Allocatable[cluster.CPU] = numPods - 1
	seats := seatingOf(t, s)
	require.False(t, seats.Place(&seating.Split(seats.Trial.Index(), nil)[0], domain.Pack{}, nil, false))
	require.False(t, seats.Unproved)
	require.Zero(t, seats.Trial.Checks)
}

// However often all placements are looked at, one domain of many has its part of the steps: then it is not known
// whether somebody has a place. The steps that one search leaves are the next one's.
func TestAllPlacementsHaveSoManySteps(t *testing.T) {
	for _, tied := range []bool{false, true} {
		all, nodes := int32(8), 6
		if tied {
			nodes = 8 // there is room, but one waits for a pod that is not there
		}
		s := &cluster.Snapshot{PodGroups: []cluster.PodGroup{{Name: "job", MinCount: &all}}}
		for i := range nodes {
			s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprint("n", i), Labels: map[string]string{"zone": "a"}, Allocatable: cluster.Resources{cluster.CPU: 100}})
		}
		for i := range all {
			p := cluster.Pod{Name: fmt.Sprint("p", i), Group: "job", Labels: map[string]string{"app": fmt.Sprint(i)}, Requests: cluster.Resources{cluster.CPU: 60 + int64(i)}}
			if tied && i == 0 {
				p.Affinity = []cluster.AffinityTerm{{Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "none"}}, TopologyKey: "zone"}}
			}
			s.Pods = append(s.Pods, p)
		}
		seats := seatingOf(t, s, domain.InterPodAffinity())
		require.Equal(t, tied, seats.Trial.OrderMatters())
		d := &seating.Split(seats.Trial.Index(), nil)[0]
		_, proved := seats.Exactly(d)
		require.Equal(t, !tied, proved)
		alone := seats.Trial.Asked
		seats.Allow(1)
		for range 2 {
			_, again := seats.Exactly(d)
			require.Equal(t, proved, again)
		}
		before := seats.Trial.Asked
		seats.Allow(1 << 20)
		for range 100 {
			seated, proved := seats.Exactly(d)
			require.False(t, seated || proved)
		}
		asks := len(s.Nodes) // about one member in each step
		if tied {
			asks *= int(all)
		}
		require.LessOrEqual(t, seats.Trial.Asked-before, seating.FewestLooks*asks)
		require.Greater(t, alone, 3*seating.FewestLooks*asks)
	}
}

// TestEveryOrderIsTriedOnce: there are fewer placements than steps, but not than orders of them, and who waits for a pod that is not
// there has no place in any.
func TestEveryOrderIsTriedOnce(t *testing.T) {
	all := int32(5)
	s := &cluster.Snapshot{PodGroups: []cluster.PodGroup{{Name: "job", MinCount: &all}}}
	for i := range 6 {
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprint("n", i), Labels: map[string]string{"zone": "a"}, Allocatable: cluster.Resources{cluster.CPU: 100}})
	}
	for i := range all {
		p := cluster.Pod{Name: fmt.Sprint("p", i), Group: "job", Requests: cluster.Resources{cluster.CPU: 60 + int64(i)}}
		if i == 0 {
			p.Affinity = []cluster.AffinityTerm{{Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "none"}}, TopologyKey: "zone"}}
		}
		s.Pods = append(s.Pods, p)
	}
	seats := seatingOf(t, s, domain.InterPodAffinity())
	seated, proved := seats.Exactly(&seating.Split(seats.Trial.Index(), nil)[0])
	require.False(t, seated)
	require.True(t, proved)
}

// seatingOf seats group job, where constraints have a say.
func seatingOf(t require.TestingT, s *cluster.Snapshot, constraints ...domain.Constraint) *seating.Seating {
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	kind := cluster.KindPodGroup
	if len(s.CompositePodGroups) > 0 {
		kind = cluster.KindCompositePodGroup
	}
	var pods []*cluster.Pod
	var members []*domain.Member
	gang := seating.NewGroup(ix, ix.GroupByName(kind, "", "job"), func(p cluster.PodID) domain.MemberID {
		pods, members = append(pods, ix.Pod(p)), append(members, domain.NewMember(ix, ix.Pod(p), p))
		return domain.MemberID(len(members) - 1)
	})
	var states []domain.State
	for _, c := range constraints {
		state, err := c.Prepare(ix, pods)
		require.NoError(t, err)
		if state != nil {
			states = append(states, state)
		}
	}
	return &seating.Seating{Trial: domain.NewGangTrial(ix, members, states, func(cluster.PodID) bool { return false }), Gang: gang}
}

// TestManyNodesAreLookedAt: of 21 nodes two have room for large members, so that three have no place, which is proved, and two and a small one have.
func TestManyNodesAreLookedAt(t *testing.T) {
	s := &cluster.Snapshot{}
	for i := range 21 {
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprintf("n%02d", i), Allocatable: cluster.Resources{cluster.CPU: 4 + int64(i%10/9)}})
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	for _, small := range []int64{5, 4} {
		var members []*domain.Member
		var ids []domain.MemberID
		for i, cpu := range []int64{5, 5, small, 3} {
			pod := cluster.Pod{Name: fmt.Sprint(i), Requests: cluster.Resources{cluster.CPU: cpu}}
			members, ids = append(members, domain.NewMember(ix, &pod, cluster.NoPod)), append(ids, domain.MemberID(i))
		}
		trial := domain.NewGangTrial(ix, members, nil, func(cluster.PodID) bool { return false })
		for _, wide := range []bool{false, true} {
			s := seating.Seating{Trial: trial, Gang: &seating.Group{Members: ids, Min: 4}, Wide: wide}
			seated, proved := s.Exactly(&seating.Split(ix, nil)[0])
			require.Equal(t, wide, proved)
			require.Equal(t, wide && small == 4, seated)
			trial.UnplaceTo(0)
		}
	}
}

// TestWhatIsHopelessEnds: of two members, which come last, only one has a place, and none of 128 nodes is left out for the others. The looks
// are bounded.
func TestWhatIsHopelessEnds(t *testing.T) {
	s := &cluster.Snapshot{}
	for i := range seating.WideNodes {
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprintf("n%03d", i), Allocatable: cluster.Resources{cluster.CPU: 100, []string{"x", "y"}[i%2]: 1000}})
	}
	s.Nodes[0].Allocatable["x"], s.Nodes[0].Allocatable["y"] = 1, 1000
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	var members []*domain.Member
	var ids []domain.MemberID
	for i := range int64(seating.ExactMembers) {
		pod := cluster.Pod{Name: fmt.Sprint(i), Requests: cluster.Resources{cluster.CPU: 51 + i}}
		if i < 2 {
			pod.Requests = cluster.Resources{"x": 1, "y": 1 + i} // unlike the other
		}
		members, ids = append(members, domain.NewMember(ix, &pod, cluster.NoPod)), append(ids, domain.MemberID(i))
	}
	trial := domain.NewGangTrial(ix, members, nil, func(cluster.PodID) bool { return false })
	w := seating.Seating{Trial: trial, Gang: &seating.Group{Members: ids, Min: len(ids)}, Wide: true}
	seated, _ := w.Exactly(&seating.Split(ix, nil)[0])
	require.False(t, seated)
	require.Less(t, trial.Asked, 1<<19)
}

// A gang has a place if and only if some placement suffices; with fewest, no group has
// more than it needs; what Rest adds leaves everybody where he is, and then nobody can be
// added any more. A number of gangs have places that Pack does not find, some of them as pods are tied.
func TestPlaceFindsWhatTryingEveryPlacementFinds(t *testing.T) {
	seated, not, hard, tied := 0, 0, 0, 0
	gen.CheckUntil(t, func(t *rapid.T) {
		w := drawWorld(t, false)
		s, trial := w.seating, w.seating.Trial
		possible := w.possible(s.Suffices, map[string]bool{})
		fewest := rapid.Bool().Draw(t, "fewest")
		placer := rapid.SampledFrom([]domain.Placer{domain.Pack{}, domain.Spread{}}).Draw(t, "placer")
		exactly, proved := s.Exactly(&w.whole)
		few := trial.Members() <= seating.ExactMembers && !w.tied
		require.True(t, proved || !few)
		if proved {
			require.Equal(t, possible, exactly)
		}
		if exactly {
			require.True(t, s.Suffices())
			w.isFull(t, false)
			s.Rest(&w.whole)
			require.True(t, s.Suffices())
			w.isFull(t, true)
			w.allHavePlaces(t)
			trial.UnplaceTo(0)
		}
		if short, _ := s.Gang.Short(); short != nil {
			require.False(t, possible, "%s is short of pods", short.Name)
		}
		if exactly && !s.PlaceBy(&w.whole, domain.Pack{}) {
			if hard++; w.tied {
				tied++
			}
		}
		trial.UnplaceTo(0)
		placed := s.Place(&w.whole, placer, nil, fewest)
		require.False(t, s.Unproved && few, "every placement was tried")
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
	}, &seated, &not, &hard, &tied)
}

// TestPlacesAndLooksAreAsBefore: where members go, whoever places them, and what it takes to find out. A search that needs fewer looks
// changes the sum, and so does one that finds another placement as good.
func TestPlacesAndLooksAreAsBefore(t *testing.T) {
	worlds, sum := rapid.Custom(func(t *rapid.T) *world { return drawWorld(t, true) }), fnv.New64a()
	for seed := range 1500 {
		w := worlds.Example(seed)
		s, trial := w.seating, w.seating.Trial
		note := func(ok bool) {
			fmt.Fprintln(sum, ok, s.Unproved, trial.Assignments(), trial.Asked, trial.Again)
		}
		if seed%3 == 0 {
			trial.Allow(20 + seed%50)
		}
		placed := s.Place(&w.whole, []domain.Placer{domain.Pack{}, domain.Spread{}}[seed%2], nil, seed%5 == 0)
		if note(placed); placed {
			s.Rest(&w.whole)
			note(s.Suffices())
		}
		trial.UnplaceTo(0)
		note(s.Again(&w.whole, (*seating.Group).Need))
		trial.UnplaceTo(0)
		ok, proved := s.Exactly(&w.whole)
		note(ok && proved)
		trial.UnplaceTo(0)
		s.Looks = 60 * (seed % 4)
		d := s.Fit(seating.Split(trial.Index(), domain.Topology{"zone"}), nil)
		if note(d != nil); d != nil {
			fmt.Fprintln(sum, d.Name)
			s.Adopt(d)
			s.Rest(d)
			note(s.Suffices())
		}
	}
	require.Equal(t, uint64(0x4c93f435e8c8450d), sum.Sum64())
}

// TestAHurryIsNoProof: who finds no place after as many looks as the trial allows may have one.
func TestAHurryIsNoProof(t *testing.T) {
	hurried := 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t, true)
		s, trial := w.seating, w.seating.Trial
		trial.Allow(rapid.IntRange(1, 4).Draw(t, "looks"))
		placed := false
		if rapid.Bool().Draw(t, "alone") {
			placed = s.PlaceBy(&w.whole, domain.Pack{})
		} else {
			placed = s.Place(&w.whole, domain.Pack{}, nil, false)
		}
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
	seats = seatingOf(t, s)
	require.NotNil(t, seats.Fit(seating.Split(seats.Trial.Index(), domain.Topology{"rack"}), nil))
	require.False(t, seats.Trial.Hurried, "nothing bounds the looks")
}

// Again seats as many of each group as are wanted, whatever has become of the room, if any placement does.
func TestAgain(t *testing.T) {
	seated, not := 0, 0
	gen.CheckUntil(t, func(t *rapid.T) {
		w := drawWorld(t, true)
		s, trial := w.seating, w.seating.Trial
		if !s.Place(&w.whole, domain.Spread{}, nil, false) {
			return
		}
		trial.UnplaceTo(0)
		before := func(leaf *seating.Group) int { return leaf.Seated }
		require.True(t, s.Again(&w.whole, before) || s.Unproved, "as before is a way")
		if trial.UnplaceTo(0); trial.Members() > 5 {
			return
		}
		s.Unproved = false
		number := map[*seating.Group]int{}
		for _, leaf := range s.Gang.Leaves() {
			if leaf.Within != nil {
				number[leaf] = rapid.IntRange(0, len(leaf.Members)+1).Draw(t, "wanted")
			}
		}
		wanted := func(leaf *seating.Group) int { return number[leaf] }
		enough := func() bool {
			return s.Gang.Stray(trial.Index(), trial.At) == nil &&
				!slices.ContainsFunc(s.Gang.Leaves(), func(leaf *seating.Group) bool { return s.SeatedOf(leaf) < number[leaf] })
		}
		possible := w.possible(enough, map[string]bool{}) || enough()
		again := s.Again(&w.whole, wanted)
		require.True(t, w.tied || !s.Unproved)
		switch {
		case s.Unproved: // nobody has looked at topology either
		case again:
			seated++
			require.True(t, enough())
		default:
			not++
			require.False(t, possible)
			require.Empty(t, trial.Placed())
		}
	}, &seated, &not)
}

// oneNode seats on the first node alone.
type oneNode struct{ domain.FirstFit }

func (p oneNode) Place(t *domain.GangTrial, d *domain.Domain, o domain.Offers, members []domain.MemberID, most int) int {
	return p.FirstFit.Place(t, &domain.Domain{Nodes: d.Nodes[:1]}, o, members, most)
}

// TestFit: the gang goes to the first of the domains where a placer, Pack, or Spread seats most of it; a placer of the user's
// that finds a place anywhere is not second-guessed.
func TestFit(t *testing.T) {
	fits, not := 0, 0
	gen.CheckUntil(t, func(t *rapid.T) {
		w := drawWorld(t, true)
		placer := rapid.SampledFrom([]domain.Placer{nil, domain.Pack{}, domain.Spread{}, oneNode{}}).Draw(t, "placer")
		own := placer != nil && rapid.Bool().Draw(t, "own")
		domains := seating.Split(w.seating.Trial.Index(), rapid.SampledFrom([]domain.Topology{nil, {"zone"}, {"rack"}}).Draw(t, "topology"))
		var most []domain.Assignment
		for _, placers := range [][]domain.Placer{{placer}, {nil}} {
			for i := range domains {
				for _, by := range []domain.Placer{placers[0], domain.Pack{}, domain.Spread{}} {
					alone := seatingOf(t, w.Snapshot, domain.InterPodAffinity())
					alone.OwnPlacer = own
					switch {
					case by == nil, own && placers[0] != nil && by != placer:
					case by == placers[0]:
						alone.PlaceBy(&domains[i], by)
					default:
						alone.Place(&domains[i], by, nil, false)
					}
					if list := alone.Trial.Assignments(); len(list) > len(most) {
						most = list
					}
				}
			}
			if most != nil {
				break
			}
		}
		w.seating.OwnPlacer = own
		d := w.seating.Fit(domains, placer)
		require.ElementsMatch(t, most, w.seating.Trial.Assignments())
		if d == nil {
			not++
			require.Empty(t, most)
			return
		}
		fits++
		require.True(t, w.seating.Suffices())
		for _, a := range most {
			require.Contains(t, d.Nodes, a.Node)
		}
	}, &fits, &not)
}

// TestGroupsTooLargeToTryEveryPlacement: nodes have slots for so many members, and the rack of their first letter, none for a
// blank. A group is its pods, how many it needs, what it is to stay in, and on which node how many of it run.
func TestGroupsTooLargeToTryEveryPlacement(t *testing.T) {
	type group struct {
		pods, need int
		within     string
		on, runs   int
		size       int64 // of a pod; 0: 1
	}
	several := func(n int, g group) []group { return slices.Repeat([]group{g}, n) }
	for _, c := range []struct {
		name   string
		nodes  []string
		groups []group
		least  int32 // so many of the groups are needed; 0: the only one is the job
		fewest bool
		want   []int
		proved bool // that there is no placement
	}{
		{name: "who is to stay in a rack takes it before others do", nodes: []string{"a6", " 6", "b6"}, groups: []group{{pods: 6, need: 6}, {pods: 5, need: 5, within: "rack"}, {pods: 5, need: 5, within: "rack"}}, least: 3, want: []int{6, 5, 5}},
		{name: "the larger group takes the larger rack", nodes: []string{"a6", "b5"}, groups: []group{{pods: 5, need: 5, within: "rack"}, {pods: 6, need: 6, within: "rack"}}, least: 2, want: []int{5, 6}},
		{name: "one group of three stays out", nodes: []string{"a5", "b5"}, groups: append([]group{{pods: 6, need: 6, within: "zone"}}, several(2, group{pods: 5, need: 5, within: "rack"})...), least: 2, want: []int{0, 5, 5}},
		{name: "one group of eight stays out", nodes: []string{"a5", "b5", "c5", "d5", "e5", "f5", "g5"}, groups: append([]group{{pods: 6, need: 6, within: "zone"}}, several(7, group{pods: 5, need: 5, within: "rack"})...), least: 7, want: []int{0, 5, 5, 5, 5, 5, 5, 5}},
		{name: "none of two may stay out", nodes: []string{"a4", "b4", "c4"}, groups: []group{{pods: 6, need: 6, within: "zone"}, {pods: 5, need: 5, within: "rack"}}, least: 2},
		{name: "first everybody gets what he needs", nodes: []string{" 7"}, groups: several(2, group{pods: 5, need: 3, within: "zone"}), least: 2, want: []int{4, 3}},
		{name: "as few groups as are needed", nodes: []string{" 9"}, groups: several(3, group{pods: 4, need: 2}), least: 2, fewest: true, want: []int{2, 2, 0}},
		{name: "as few members as are needed", nodes: []string{" 9"}, groups: several(1, group{pods: 9, need: 2}), fewest: true, want: []int{2}},
		{name: "the small ones of ten groups", nodes: []string{" 8"}, groups: append([]group{{pods: 6, need: 6}}, several(9, group{pods: 1, need: 1})...), least: 8, want: []int{0, 1, 1, 1, 1, 1, 1, 1, 1, 0}},
		{name: "beside those who run", nodes: []string{" 6"}, groups: several(1, group{pods: 12, need: 2, runs: 2}), least: 1, want: []int{4}},
		{name: "one beside those who run", nodes: []string{" 6"}, groups: several(2, group{pods: 7, need: 2, within: "zone", runs: 2}), least: 2, fewest: true, want: []int{1, 0}},
		{name: "in the rack of those who run, who need nobody", nodes: []string{"a2", "b9"}, groups: []group{{pods: 5, need: 2, within: "rack", runs: 2}, {pods: 6, need: 1, within: "rack", on: 1, runs: 1}}, least: 2, want: []int{0, 5}},
		{name: "out of the rack that is preferred, as it is full", nodes: []string{"a2", "b9"}, groups: several(1, group{pods: 12, need: 2, within: "rack?", runs: 2}), least: 1, want: []int{9}},
		{name: "alike, and their room is in pieces", nodes: []string{" 3", " 3", " 3", " 3", " 3", " 3", " 3"}, groups: several(2, group{pods: 5, need: 5, size: 2}), least: 2, proved: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &cluster.Snapshot{}
			if c.least > 0 {
				s.CompositePodGroups = []cluster.CompositePodGroup{{Name: "job", MinGroupCount: &c.least}}
			}
			for i, n := range c.nodes {
				node := cluster.Node{Name: fmt.Sprint("n", i), Labels: map[string]string{"zone": "z"}, Allocatable: cluster.Resources{cluster.CPU: int64(n[1] - '0')}}
				if n[0] != ' ' {
					node.Labels["rack"] = n[:1]
				}
				s.Nodes = append(s.Nodes, node)
			}
			for i, g := range c.groups {
				need := int32(g.need)
				of := cluster.PodGroup{Name: "job", MinCount: &need}
				if c.least > 0 {
					of.Name, of.Parent = fmt.Sprint("g", i), "job"
				}
				if key, preferred := strings.CutSuffix(g.within, "?"); key != "" {
					of.Topology = []cluster.TopologyConstraint{{Key: key, Preferred: preferred}}
				}
				s.PodGroups = append(s.PodGroups, of)
				for j := range g.pods {
					p := cluster.Pod{Name: fmt.Sprintf("g%d-%02d", i, j), Group: of.Name, Requests: cluster.Resources{cluster.CPU: max(g.size, 1)}}
					if j < g.runs {
						p.Node = s.Nodes[g.on].Name
					}
					s.Pods = append(s.Pods, p)
				}
			}
			seats := seatingOf(t, s)
			placed := seats.Place(&seating.Split(seats.Trial.Index(), nil)[0], domain.Pack{}, nil, c.fewest)
			require.Equal(t, c.want != nil, placed)
			require.Equal(t, !placed && !c.proved, seats.Unproved)
			var got []int
			for _, leaf := range seats.Gang.Leaves() {
				if placed {
					got = append(got, leaf.Seated)
					require.Equal(t, leaf.Seated, seats.SeatedOf(leaf))
				}
			}
			require.Equal(t, c.want, got)
		})
	}
}

// TestOtherPlacersHelp: of gangs of unlike members that just fit, most get their places, also where Pack alone finds none.
func TestOtherPlacersHelp(t *testing.T) {
	alone, all := 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 23))
		least := int32(9)
		s := &cluster.Snapshot{PodGroups: []cluster.PodGroup{{Name: "job", MinCount: &least}}}
		for i := range 3 + r.IntN(3) {
			s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprint("n", i), Allocatable: cluster.Resources{cluster.CPU: r.Int64N(2)}})
		}
		spare := r.IntN(2) * r.IntN(4)
		for i := range int(least) + spare {
			cpu := 1 + r.Int64N(9)
			s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprintf("p%02d", i), Group: "job", Requests: cluster.Resources{cluster.CPU: cpu}})
			if i >= spare {
				s.Nodes[r.IntN(len(s.Nodes))].Allocatable[cluster.CPU] += cpu
			}
		}
		whole := &seating.Split(seatingOf(t, s).Trial.Index(), nil)[0]
		if seatingOf(t, s).PlaceBy(whole, domain.Pack{}) {
			alone++
		}
		if seatingOf(t, s).Place(whole, domain.Pack{}, nil, false) {
			all++
		}
	}
	require.LessOrEqual(t, alone, 286)
	require.GreaterOrEqual(t, all, 386)
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
			{Key: "rack", Preferred: true}, {Key: "zone"},
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
	require.Equal(t, "rack", g.Topology[0].Key)

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

// Two workers want one rack, where the launcher goes does not matter.
func Example() {
	two := int32(2)
	cpu := func(n int64) cluster.Resources { return cluster.Resources{cluster.CPU: n} }
	rack := func(r string) map[string]string { return map[string]string{"rack": r} }
	ix, err := cluster.NewIndex(&cluster.Snapshot{
		Nodes: []cluster.Node{
			{Name: "n1", Labels: rack("a"), Allocatable: cpu(4)},
			{Name: "n2", Labels: rack("b"), Allocatable: cpu(2)},
			{Name: "n3", Labels: rack("b"), Allocatable: cpu(2)},
		},
		CompositePodGroups: []cluster.CompositePodGroup{{Name: "job"}},
		PodGroups: []cluster.PodGroup{
			{Name: "launcher", Parent: "job"},
			{Name: "workers", Parent: "job", MinCount: &two, Topology: []cluster.TopologyConstraint{{Key: "rack"}}},
		},
		Pods: []cluster.Pod{
			{Name: "l", Group: "launcher", Requests: cpu(3)},
			{Name: "w1", Group: "workers", Requests: cpu(2)},
			{Name: "w2", Group: "workers", Requests: cpu(2)},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var members []*domain.Member
	job := seating.NewGroup(ix, ix.GroupByName(cluster.KindCompositePodGroup, "", "job"), func(p cluster.PodID) domain.MemberID {
		members = append(members, domain.NewMember(ix, ix.Pod(p), p))
		return domain.MemberID(len(members) - 1)
	})
	trial := domain.NewGangTrial(ix, members, nil, func(cluster.PodID) bool { return false })
	s := seating.Seating{Trial: trial, Gang: job}
	fmt.Println("seated:", s.Fit(job.Levels(ix)[0], nil) != nil)
	for m, member := range members {
		fmt.Println(member.Pod.Name, ix.Node(trial.At(domain.MemberID(m))).Name)
	}
	// Output:
	// seated: true
	// l n1
	// w1 n2
	// w2 n3
}

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
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	var members []*domain.Member
	job := seating.NewGroup(ix, ix.GroupByName(cluster.KindCompositePodGroup, "", "job"), func(p cluster.PodID) domain.MemberID {
		members = append(members, domain.NewMember(ix, ix.Pod(p), p))
		return domain.MemberID(len(members) - 1)
	})
	trial := domain.NewGangTrial(ix, members, nil, func(cluster.PodID) bool { return false })
	for p := range ix.Pods() {
		if ix.NodeOf(p) != cluster.NoNode {
			trial.Remove(p)
		}
	}
	offers := losses.NewOffers(victims.NewUnits(ix, victims.Units137, victims.Worth{}), trial, func(victims.UnitID) bool { return true }, nil, nil)
	return &seating.Seating{Trial: trial, Gang: job}, offers
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
	for seed := range uint64(300) {
		s := crowd(rand.New(rand.NewPCG(seed, 22)), 12)
		job, offers := seatingOfCrowd(t, s)
		job.Trial.Allow(64)
		job.Place(&seating.Split(job.Trial.Index(), nil)[0], domain.LeastDisruption{}, offers, false)
		most = max(most, job.Trial.Asked)
		if job.Trial.Spent() {
			cut++
		}
	}
	require.Greater(t, cut, 100)
	require.Less(t, most, 64+32)
}

// TestWithoutRoomNoOrderIsTried: of members that are spread, whose order matters, it is known that they have no place where they have no room.
func TestWithoutRoomNoOrderIsTried(t *testing.T) {
	s := &cluster.Snapshot{}
	for i := range 6 {
		name := fmt.Sprint("n", i)
		s.Nodes = append(s.Nodes, cluster.Node{Name: name, Labels: map[string]string{"host": name}, Allocatable: cluster.Resources{cluster.CPU: 10}})
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	var members []*domain.Member
	var pods []*cluster.Pod
	part := seating.Part{Need: 8}
	for i := range 8 {
		pod := &cluster.Pod{Name: fmt.Sprint("m", i), Labels: map[string]string{"app": "web"}, Requests: cluster.Resources{cluster.CPU: 6 + int64(i%4)}}
		pod.Spread = []cluster.Spread{{MaxSkew: 2, TopologyKey: "host", Selector: &disruption.Selector{MatchLabels: pod.Labels}}}
		pods, members = append(pods, pod), append(members, domain.NewMember(ix, pod, cluster.NoPod))
		part.Members = append(part.Members, domain.MemberID(i))
	}
	state, err := domain.Anew(domain.TopologySpread()).Prepare(ix, pods)
	require.NoError(t, err)
	trial := domain.NewGangTrial(ix, members, []domain.State{state}, func(cluster.PodID) bool { return false })
	require.True(t, trial.OrderMatters())
	all := func(in []bool) bool { return in[0] }
	seated, proved := seating.SeatExact(trial, &seating.Split(ix, nil)[0], []seating.Part{part}, seating.ExactNodes, all, nil)
	require.False(t, seated)
	require.True(t, proved)
	require.Empty(t, trial.Placed())
	part.Need = 6
	seated, _ = seating.SeatExact(trial, &seating.Split(ix, nil)[0], []seating.Part{part}, seating.ExactNodes, all, nil)
	require.True(t, seated)
}

// group is composite group "job" of groups that need 3, 1 and 2 of three members each, and so many of these groups; nil: all.
// The first member of the last group runs.
func group(t *testing.T, minGroups *int32) (job *seating.Group, placed []string) {
	s := &cluster.Snapshot{
		Time:               time.Unix(100, 0),
		Nodes:              []cluster.Node{{Name: "n0", Allocatable: cluster.Resources{cluster.CPU: 9}}},
		CompositePodGroups: []cluster.CompositePodGroup{{Name: "job", MinGroupCount: minGroups}},
	}
	for i, need := range []int32{3, 1, 2} {
		name := fmt.Sprint("g", i)
		s.PodGroups = append(s.PodGroups, cluster.PodGroup{Name: name, Parent: "job", MinCount: &need})
		for k, pod := range []struct {
			priority int32
			created  int64
		}{{1, 20}, {1, 10}, {2, 30}} {
			p := cluster.Pod{Name: fmt.Sprintf("%s-%d", name, k), Group: name, Priority: &pod.priority, Created: time.Unix(pod.created, 0)}
			if i == 2 && k == 0 {
				p.Node = "n0"
			}
			s.Pods = append(s.Pods, p)
		}
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	last := ix.Group(ix.GroupByName(cluster.KindPodGroup, "", "g2"))
	before := slices.Clone(last.Pods)
	job = seating.NewGroup(ix, ix.GroupByName(cluster.KindCompositePodGroup, "", "job"), func(p cluster.PodID) domain.MemberID {
		placed = append(placed, ix.Pod(p).Name)
		return domain.MemberID(len(placed) - 1)
	})
	require.Equal(t, before, last.Pods, "the index is as it was")
	return job, placed
}

// TestWhoIsPlacedFirst: higher priority, then who was created earlier; not who runs.
func TestWhoIsPlacedFirst(t *testing.T) {
	_, placed := group(t, nil)
	require.Equal(t, []string{"g0-2", "g0-1", "g0-0", "g1-2", "g1-1", "g1-0", "g2-2", "g2-1"}, placed)
}

// TestHowManyAGroupNeeds: of the groups that need fewest as many as have to run, beside who runs already.
func TestHowManyAGroupNeeds(t *testing.T) {
	for groups, want := range map[int32]int{1: 1, 2: 2, 3: 5} {
		job, _ := group(t, &groups)
		require.Equal(t, want, job.Fewest())
		require.EqualValues(t, groups, job.MinChildren)
	}
	job, _ := group(t, nil)
	require.Equal(t, 5, job.Fewest())
	require.Equal(t, 3, job.MinChildren)
	require.Equal(t, []int{3, 1, 1}, []int{job.Children[0].Need(), job.Children[1].Need(), job.Children[2].Need()})
	require.Zero(t, (&seating.Group{Min: 1, Running: 2}).Need())
}

// TestTheFullestGroups: as many members as any way to give each group some number of them, of trees in which groups need some, have
// some that run and may stay out.
func TestTheFullestGroups(t *testing.T) {
	fuller := 0 // than where the first groups are as full as can be
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 4))
		next := domain.MemberID(0)
		var tree func(depth int) *seating.Group
		tree = func(depth int) *seating.Group {
			g := &seating.Group{}
			if depth == 0 || r.IntN(3) == 0 {
				for range r.IntN(4) {
					g.Members = append(g.Members, next)
					next++
				}
				g.Min, g.Running = 1+r.IntN(4), r.IntN(6)/4
				return g
			}
			for range 1 + r.IntN(3) {
				g.Children = append(g.Children, tree(depth-1))
			}
			g.MinChildren = 1 + r.IntN(len(g.Children))
			return g
		}
		job, room := tree(2), r.IntN(9)
		leaves, counts := job.Leaves(), map[*seating.Group]int{}
		runs := func(g *seating.Group) bool {
			return g.Satisfied(func(leaf *seating.Group) bool { return counts[leaf] >= leaf.Need() })
		}
		var vain func(g *seating.Group) bool
		vain = func(g *seating.Group) bool {
			if runs(g) {
				return slices.ContainsFunc(g.Children, vain)
			}
			return slices.ContainsFunc(g.Leaves(), func(leaf *seating.Group) bool { return counts[leaf] > 0 })
		}
		most, first, ahead := 0, -1, 0
		var each func(i, sum int)
		each = func(i, sum int) {
			if i == len(leaves) {
				if runs(job) && !vain(job) {
					if n := counts[leaves[0]]; sum > most || sum == most && n > ahead {
						most, ahead = sum, n
					}
					if first < 0 {
						first = sum
					}
				}
				return
			}
			for n := min(len(leaves[i].Members), room-sum); n >= 0; n-- {
				counts[leaves[i]] = n
				each(i+1, sum+n)
			}
			counts[leaves[i]] = 0
		}
		each(0, 0)
		list := job.Fullest(room)
		require.Len(t, list, most, "seed %d", seed)
		for _, m := range list {
			counts[leaves[slices.IndexFunc(leaves, func(leaf *seating.Group) bool { return slices.Contains(leaf.Members, m) })]]++
		}
		require.True(t, most == 0 || runs(job) && !vain(job), "seed %d", seed)
		require.True(t, len(job.Children) > 0 && job.Children[0] != leaves[0] || ahead == counts[leaves[0]], "seed %d", seed)
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(list))), most, "seed %d: each once", seed)
		if most > first && first >= 0 {
			fuller++
		}
	}
	require.Greater(t, fuller, 5)
}
