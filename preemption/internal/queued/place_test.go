package queued

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/gang"
	"github.com/preempt-go/preempt/victims"
)

// gangPlace is the place of a gang that needs some of its members, of these sizes, on nodes of so much cpu, of which
// so much is free.
func gangPlace(t *testing.T, need int32, sizes, allocatable, free []int64) *place {
	cpu := func(n int64) cluster.Resources { return cluster.Resources{cluster.CPU: n} }
	high := int32(9)
	s := &cluster.Snapshot{PodGroups: []cluster.PodGroup{{Name: "job", MinCount: &need, Priority: &high}}}
	for i, v := range allocatable {
		node := fmt.Sprint("n", i)
		s.Nodes = append(s.Nodes, cluster.Node{Name: node, Allocatable: cpu(v)})
		s.Pods = append(s.Pods, cluster.Pod{Name: "on" + node, Node: node, Priority: &high, Requests: cpu(v - free[i])})
	}
	for i, v := range sizes {
		s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint("job", i), Group: "job", Requests: cpu(v)})
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	g := ix.GroupByName(cluster.KindPodGroup, "", "job")
	q := &ask.Question{
		Settings: &ask.Settings{}, Index: ix, Units: victims.NewUnits(ix, victims.Units137, victims.Worth{}), Budgets: victims.NewBudgets(ix, disruption.Rule137),
		Group: ix.Group(g), Priority: high,
	}
	q.Tree = seating.NewGroup(ix, g, func(p cluster.PodID) domain.MemberID {
		q.Members = append(q.Members, q.NewMember(ix.Pod(p), p))
		return domain.MemberID(len(q.Members) - 1)
	})
	q.SettleClaim()
	return &place{Search: New(Question{Pods: q, Gang: gang.New(q)}), domain: seating.Split(ix, nil)[0]}
}

// seats reports whether need of members of these sizes find room, the small first.
func seats(need int, sizes, free []int64) bool {
	if need == 0 {
		return true
	}
	for i := range sizes {
		for n := range free {
			if free[n] < sizes[i] {
				continue
			}
			free[n] -= sizes[i]
			ok := seats(need-1, sizes[i+1:], free)
			free[n] += sizes[i]
			if ok {
				return true
			}
		}
	}
	return false
}

// TestCrowded: where there is a place nobody says that there is none, and where members are alike it is told that there is none.
// A search that is cut short says so.
func TestCrowded(t *testing.T) {
	told := map[string]int{}
	for seed := range uint64(1500) {
		draw := rand.New(rand.NewPCG(seed, 5))
		var sizes, allocatable, free []int64
		for range 1 + draw.IntN(3) {
			allocatable = append(allocatable, 6+draw.Int64N(3))
			free = append(free, draw.Int64N(allocatable[len(allocatable)-1]+1))
		}
		alike, size := seed%2 == 0, 1+draw.Int64N(4)
		for range 1 + draw.IntN(5) {
			if !alike {
				size = []int64{1, 1 + draw.Int64N(7)}[draw.IntN(2)]
			}
			sizes = append(sizes, size)
		}
		slices.Sort(sizes)
		need := 1 + draw.IntN(len(sizes))
		shuffled := slices.Clone(sizes)
		draw.Shuffle(len(sizes), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		p := gangPlace(t, int32(need), shuffled, allocatable, free)
		at := fmt.Sprint("seed ", seed, ": ", need, " of ", sizes, " on ", free)
		crowded, fits := p.crowded(), seats(need, sizes, slices.Clone(free))
		require.Equal(t, fits, p.Fits(), at)
		require.Empty(t, p.Gang.Trial.Placed())
		require.False(t, p.Cut, at)
		p.Gang.Trial.Hurried = true
		require.False(t, p.exhausted(), at)
		require.True(t, p.Cut, at)
		p.Gang.Trial.Hurried, p.Cut, p.Gang.Trial.Asked = false, false, mostAsked+1
		require.False(t, p.Fits(), at)
		require.Equal(t, !crowded, p.Cut, at)
		require.True(t, !fits || !crowded, at)
		require.True(t, !alike || fits != crowded, at)
		told[fmt.Sprint(alike, fits, crowded)]++
	}
	require.Len(t, told, 5)
	for kind, times := range told {
		require.Greater(t, times, 10, kind)
	}
}

// TestALookTakesAPartOfWhatIsLeft: a 256th of the looks that are left, or four for each member and node, before it hurries
// after half of them; unlike members ask about every node.
func TestALookTakesAPartOfWhatIsLeft(t *testing.T) {
	hurried := map[bool]int{}
	for seed := range uint64(150) {
		draw := rand.New(rand.NewPCG(seed, 6))
		var sizes, allocatable []int64
		for i := range 1 + draw.IntN(12) {
			sizes = append(sizes, int64(i+1))
		}
		for range 1 + draw.IntN(20) {
			allocatable = append(allocatable, 100)
		}
		look := func(asked int) (asks int, hurries bool) {
			p := gangPlace(t, int32(len(sizes)), sizes, allocatable, allocatable)
			trial := p.Gang.Trial
			trial.Asked = asked
			p.seat(domain.Pack{})
			return trial.Asked - asked, trial.Hurried
		}
		asks, never := look(0)
		require.False(t, never, "seed %d", seed)
		few := 4 * (len(sizes) + len(allocatable))
		for _, looks := range []int{0, asks, 2 * (asks - len(allocatable)), 2*asks + 2} {
			_, hurries := look(mostLooks - 256*looks)
			if half := max(looks, few) / 2; asks > half+len(allocatable) || asks < half {
				require.Equal(t, asks > half, hurries, "seed %d: %d asks, %d looks or %d", seed, asks, looks, few)
				hurried[hurries]++
			}
		}
	}
	require.Greater(t, hurried[true], 30)
	require.Greater(t, hurried[false], 100)
}
