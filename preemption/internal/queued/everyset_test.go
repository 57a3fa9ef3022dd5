package queued_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/queued"
	"github.com/preempt-go/preempt/priority"
)

// anyQueue is a queue with quota for what its pods hold, more or less, on nodes which others share that have no queue. Some go together, and
// several may ask together, beside one of theirs that runs already.
func anyQueue(draw *rand.Rand) *cluster.Snapshot {
	s, one := full(0), int32(1)
	s.Pods[0].Requests[cluster.CPU] = 1 + draw.Int64N(5)
	held := int64(0)
	for i := range 1 + draw.IntN(3) {
		n := cluster.Node{Name: fmt.Sprint("n", i), Allocatable: cluster.Resources{cluster.CPU: 5 + draw.Int64N(4)}}
		s.Nodes = append(s.Nodes, n)
		for k, left := 0, n.Allocatable[cluster.CPU]; k < 2+draw.IntN(3) && left > 0; k++ {
			prio, size := int32(1+draw.IntN(4)*3), min(left, 1+draw.Int64N(4))
			p := cluster.Pod{Name: fmt.Sprint(n.Name, "-", k), Node: n.Name, Priority: &prio, Requests: cluster.Resources{cluster.CPU: size}}
			if left -= size; draw.IntN(3) > 0 {
				p.Queue, held = "team", held+size
			}
			if other := &s.Pods[draw.IntN(len(s.Pods))]; other.Node != "" && other.Group == "" && other.Queue == p.Queue && draw.IntN(2) == 0 {
				other.Group, p.Group, p.Priority = other.Name, other.Name, other.Priority
				s.PodGroups = append(s.PodGroups, cluster.PodGroup{Name: p.Group, Queue: []string{p.Queue, ""}[draw.IntN(2)], Mode: disruption.All, MinCount: &one, Priority: p.Priority})
			}
			s.Pods = append(s.Pods, p)
		}
	}
	if draw.IntN(2) == 0 { // the groups go together
		s.CompositePodGroups = []cluster.CompositePodGroup{{Name: "tree", Mode: disruption.All}}
		for i := range s.PodGroups {
			g := &s.PodGroups[i]
			g.Parent, g.Priority, s.CompositePodGroups[0].Priority = "tree", s.PodGroups[0].Priority, s.PodGroups[0].Priority
			for k := range s.Pods {
				if s.Pods[k].Group == g.Name {
					s.Pods[k].Priority = g.Priority
				}
			}
		}
	}
	if draw.IntN(3) == 0 {
		pods := 2 + draw.Int32N(2)
		need := pods
		s.PodGroups = append(s.PodGroups, cluster.PodGroup{Name: "in", Mode: disruption.Single, MinCount: &need, Priority: s.Pods[0].Priority})
		s.Pods[0].Group = "in"
		for i := range pods {
			p := s.Pods[0]
			p.Name, p.Requests = fmt.Sprint("in", i), cluster.Resources{cluster.CPU: 1 + draw.Int64N(4)}
			s.Pods = append(s.Pods, p)
		}
		if last := &s.Pods[len(s.Pods)-1-int(pods)]; draw.IntN(3) == 0 && last.Group == "" && last.Queue != "" {
			last.Group = "in"
			need++
		}
		s.Pods = s.Pods[1:]
	}
	s.ClusterQueues[0].Groups[0].Flavors[0].Resources[0].Nominal = max(held-2+draw.Int64N(6), 1)
	return s
}

// A tally is what there is on each node, and of quota, once some pods have gone.
type tally struct {
	free  map[string]int64
	quota int64
}

func tallyOf(s *cluster.Snapshot, gone func(p *cluster.Pod) bool) tally {
	t := tally{map[string]int64{}, s.ClusterQueues[0].Groups[0].Flavors[0].Resources[0].Nominal}
	for i := range s.Nodes {
		t.free[s.Nodes[i].Name] = s.Nodes[i].Allocatable[cluster.CPU]
	}
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Node != "" && !gone(p) {
			if t.free[p.Node] -= p.Requests[cluster.CPU]; p.Queue != "" {
				t.quota -= p.Requests[cluster.CPU]
			}
		}
	}
	return t
}

// asked is how much each of the pods asks for that want to run, and all together.
func asked(s *cluster.Snapshot) (each []int64, all int64) {
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Node == "" {
			each, all = append(each, p.Requests[cluster.CPU]), all+p.Requests[cluster.CPU]
		}
	}
	return each, all
}

// seat reports whether there is room for each on the nodes.
func seat(free map[string]int64, each []int64) bool {
	if len(each) == 0 {
		return true
	}
	for n := range free {
		if free[n] >= each[0] {
			free[n] -= each[0]
			ok := seat(free, each[1:])
			if free[n] += each[0]; ok {
				return true
			}
		}
	}
	return false
}

// least is the least that a set of less important units has with which the pods have a place and quota: the highest priority,
// the sum of them, and pods. Who has no queue goes from the domain alone, and nobody of whom goes with others some of whom have one. nil: there is none.
func least(s *cluster.Snapshot, wide bool) (best []int64) {
	var units [][]*cluster.Pod
	unitOf := func(p *cluster.Pod) string {
		if i := slices.IndexFunc(s.PodGroups, func(g cluster.PodGroup) bool { return g.Name == p.Group }); i >= 0 {
			return cmp.Or(s.PodGroups[i].Parent, p.Group)
		}
		return p.Name
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		of := slices.IndexFunc(units, func(pods []*cluster.Pod) bool { return unitOf(pods[0]) == unitOf(p) })
		switch {
		case p.Node == "" || *p.Priority >= 9 || p.Group == "in":
		case of >= 0:
			units[of] = append(units[of], p)
		default:
			units = append(units, []*cluster.Pod{p})
		}
	}
	units = slices.DeleteFunc(units, func(pods []*cluster.Pod) bool {
		return slices.ContainsFunc(pods, func(p *cluster.Pod) bool { return p.Queue != pods[0].Queue })
	})
	each, all := asked(s)
	for set := range uint(1) << len(units) {
		values, gone := []int64{-1 << 31, 0, 0}, map[string]bool{}
		for i, pods := range units {
			for _, p := range pods {
				if set>>i&1 != 0 {
					values[0], values[1], values[2] = max(values[0], int64(*p.Priority)), values[1]+priority.Raised(*p.Priority), values[2]+1
					gone[p.Name] = true
				}
			}
		}
		t := tallyOf(s, func(p *cluster.Pod) bool { return gone[p.Name] })
		for i := range s.Nodes {
			nodes := s.Nodes[i : i+1]
			if wide {
				nodes = s.Nodes
			}
			free := map[string]int64{}
			for k := range nodes {
				free[nodes[k].Name] = t.free[nodes[k].Name]
			}
			outside := slices.ContainsFunc(units, func(pods []*cluster.Pod) bool {
				return gone[pods[0].Name] && pods[0].Queue == "" && !slices.ContainsFunc(pods, func(p *cluster.Pod) bool { _, in := free[p.Node]; return in })
			})
			if t.quota >= all && !outside && (best == nil || slices.Compare(values, best) < 0) && seat(free, each) {
				best = values
			}
		}
	}
	return best
}

// TestAQueuesPlanAmongAllSets: there is a plan where some set of less important units makes room and frees quota, none
// else. It disrupts no less than the best of them, and no more where it is searched for. Of each victim it
// is told what would be lacking if it alone came back. Nothing is left of the search, so that the next says the same.
func TestAQueuesPlanAmongAllSets(t *testing.T) {
	told := map[string]int{}
	for seed := range uint64(800) {
		s := anyQueue(rand.New(rand.NewPCG(seed, 10)))
		wide := seed%2 == 0 || s.Pods[0].Name != "in" // one domain of all nodes
		best, before := least(s, wide), []int64(nil)
		for _, effort := range []ask.Effort{ask.Greedy, ask.Improved} {
			at := fmt.Sprint("seed ", seed, ", effort ", effort)
			search := searchOf(s)
			search.Effort, search.Note = effort, true
			domains := each(search.Pods.Index)
			if wide {
				all := domain.Domain{Name: "all"}
				for _, d := range domains[0] {
					all.Nodes = append(all.Nodes, d.Nodes...)
				}
				domains[0] = []domain.Domain{all}
			}
			if plan := search.Fits(domains); plan != nil {
				require.Equal(t, int64(0), best[2], at)
				require.True(t, search.Quota, at)
				holds(t, s, plan, tallyOf(s, func(*cluster.Pod) bool { return false }), at)
				told["fits"]++
				break
			}
			search.Run(domains)
			require.False(t, search.Cut, at)
			if best == nil {
				require.Nil(t, search.Best, at)
				require.Equal(t, len(search.Offers) == 0, len(search.Rejected) == 0, at)
				told["none"]++
				continue
			}
			require.NotNil(t, search.Best, at)
			require.Positive(t, best[2], at)
			require.True(t, slices.ContainsFunc(search.Tries, func(try queued.Try) bool { return try.Plan == search.Best }), at)
			score := search.Best.Score
			have := []int64{int64(score.Highest), score.Sum, int64(score.Pods)}
			require.LessOrEqual(t, slices.Compare(best, have), 0, at)
			if before == nil {
				before = have
			}
			require.LessOrEqual(t, slices.Compare(have, before), 0, at)
			if slices.Equal(have, best) {
				told["least"]++
			} else {
				told["more"]++
			}
			lacks(t, s, search, have, at)
			best := *search.Best
			search.Best = nil
			if search.Run(domains); effort == ask.Greedy || search.Best != nil {
				require.Equal(t, best, *search.Best, at)
			}
			lacks(t, s, search, have, at)
			require.Empty(t, search.Gang.Trial.Placed(), at)
			for p := range search.Pods.Index.Pods() {
				require.False(t, search.Gang.Trial.Gone(p), at)
			}
		}
	}
	t.Log(told)
	require.Greater(t, told["fits"], 20)
	require.Greater(t, told["none"], 20)
	require.Greater(t, told["least"], 5*told["more"])
}

// holds reports whether the places of a plan have room.
func holds(t *testing.T, s *cluster.Snapshot, plan *queued.Plan, left tally, at string) {
	each, all := asked(s)
	require.Len(t, plan.Places, len(each), at)
	require.LessOrEqual(t, all, left.quota, at)
	for _, a := range plan.Places {
		left.free[s.Nodes[a.Node].Name] -= each[a.Member]
	}
	for _, free := range left.free {
		require.GreaterOrEqual(t, free, int64(0), at)
	}
}

// lacks holds of the victims that are told that they come to the numbers of the plan, and of each what would be lacking.
func lacks(t *testing.T, s *cluster.Snapshot, search *queued.Search, values []int64, at string) {
	gone, ix, list, sum := map[string]*queued.Victim{}, search.Pods.Index, search.Spell(search.Best), int64(0)
	for i := range list {
		v := &list[i]
		pods := search.Model.Pods.Of[v.Reservation]
		if v.Reservation == nil {
			pods = search.Pods.Units.Unit(v.Unit).Pods
			require.True(t, i == 0 || list[i-1].Reservation == nil && search.Pods.Units.Compare(list[i-1].Unit, v.Unit) < 0, at)
		}
		for _, p := range pods {
			gone[ix.Pod(p).Name], sum = v, sum+priority.Raised(ix.Priority(p))
		}
	}
	require.Len(t, gone, int(values[2]), at)
	require.Equal(t, values[1], sum, at)
	holds(t, s, search.Best, tallyOf(s, func(p *cluster.Pod) bool { return gone[p.Name] != nil }), at)
	each, all := asked(s)
	for i := range list {
		v := &list[i]
		left := tallyOf(s, func(p *cluster.Pod) bool { return gone[p.Name] != nil && gone[p.Name] != v })
		missing := int64(0)
		for n := cluster.NodeID(len(s.Nodes)) - 1; n >= 0; n-- {
			free := left.free[s.Nodes[n].Name]
			for _, a := range search.Best.Places {
				if a.Node == n {
					free -= each[a.Member]
				}
			}
			missing = max(missing, -free)
		}
		if v.Reservation == nil {
			require.True(t, slices.ContainsFunc(search.Best.Places, func(a domain.Assignment) bool { return a.Node == v.Node }), at)
		} else if missing := all - max(left.quota, 0); missing > 0 {
			require.Equal(t, missing, v.Lack.Missing, at)
			continue
		}
		require.Positive(t, v.Why.Missing, at)
		require.GreaterOrEqual(t, missing, v.Why.Missing, at)
	}
}
