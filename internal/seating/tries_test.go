package seating_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

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
		most, first := 0, -1
		var each func(i, sum int)
		each = func(i, sum int) {
			if i == len(leaves) {
				if runs(job) && !vain(job) {
					most = max(most, sum)
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
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(list))), most, "seed %d: each once", seed)
		if most > first && first >= 0 {
			fuller++
		}
	}
	require.Greater(t, fuller, 5)
}
