package gang

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
)

// TestColumnsTellWhatTrialsDo: a gang goes where it goes, for whom it goes, if everybody who may go is taken out of trials and
// no domain and no placement is left out because of its price.
func TestColumnsTellWhatTrialsDo(t *testing.T) {
	feasible, unlike, violating, asked, checks := 0, 0, 0, [2]int{}, [2]int{}
	for seed := range uint64(400) {
		draw := rand.New(rand.NewPCG(seed, 31))
		s := crowded(draw, 1+draw.IntN(90), draw.IntN(3) > 0, true)
		large := 1 + 9*draw.Int64N(2) // with many sizes
		for i := range s.Nodes {
			s.Nodes[i].Allocatable[cluster.CPU] *= large
		}
		for i := range s.Pods {
			s.Pods[i].Requests[cluster.CPU] *= large
		}
		for range draw.IntN(4 + 8*int(large/3)) {
			p := s.Pods[len(s.Pods)-1]
			p.Name += "+"
			if draw.IntN(2) == 0 {
				p.Requests = cluster.Resources{cluster.CPU: 1 + draw.Int64N(5*large)}
			}
			s.Pods = append(s.Pods, p)
			*s.PodGroups[0].MinCount++
		}
		if seed%5 == 0 { // some pods are under a budget
			of := map[string]string{"a": ""}
			for i := range s.Pods {
				if draw.IntN(9) == 0 {
					s.Pods[i].Labels = of
				}
			}
			s.Budgets = []disruption.Budget{{Namespace: "default", Name: "a", Allowed: draw.Int32N(2), Selector: &disruption.Selector{MatchLabels: of}}}
		}
		settings := &ask.Settings{
			Placers: []domain.Placer{domain.LeastDisruption{}, domain.Pack{}, domain.Spread{}}, Improves: draw.IntN(3) == 0, Checks: 2_000,
		}
		var limits []ask.Bound
		if draw.IntN(6) == 0 {
			limits = []ask.Bound{{Of: ask.NumPods, Left: 1 + draw.Int64N(9)}}
		}
		parts := 1 + draw.IntN(6)
		var answers [2]Answer
		var rejected [2][]Rejected
		var room [2]int
		for i := range answers {
			q := asks(t, s, settings, limits...)
			var domains []domain.Domain
			for k, all := 0, seating.Split(q.Index, nil)[0].Nodes; k < parts; k++ {
				if nodes := all[k*len(all)/parts : (k+1)*len(all)/parts]; len(nodes) > 0 {
					domains = append(domains, domain.Domain{Name: fmt.Sprint(k), Nodes: nodes})
				}
			}
			search := New(q)
			if f := search.firstSeats(); i == 0 {
				require.Equal(t, limits == nil, f.vacates)
			} else {
				f.seats, f.vacates = nil, false
			}
			answers[i] = search.Run([][]domain.Domain{domains})
			if notes := search.notes; notes != nil { // of which the next question expects that
				require.False(t, slices.Contains(notes.inside, true))
				require.False(t, slices.ContainsFunc(notes.charged, func(c int32) bool { return c != 0 }))
			}
			if answers[i].Verdict != ask.Fits {
				require.Empty(t, search.Trial.Placed())
			}
			rejected[i], room[i] = search.Rejected, search.Room
			search.Close()
			asked[i] += search.Asked()
			checks[i] += search.Checks()
			if !search.Trial.Interchangeable() {
				unlike++
			}
		}
		require.Equal(t, answers[1].Verdict, answers[0].Verdict, "seed %d", seed)
		if answers[1].Verdict == ask.Infeasible {
			require.Equal(t, rejected[1], rejected[0], "seed %d", seed)
			require.Equal(t, room[1], room[0], "seed %d", seed)
		}
		if answers[1].Plan == nil {
			continue
		}
		feasible++
		want, got := answers[1].Plan, answers[0].Plan
		require.Equal(t, want.Domain.Name, got.Domain.Name, "seed %d", seed)
		require.Equal(t, want.Places, got.Places, "seed %d", seed)
		require.Equal(t, want.Victims, got.Victims, "seed %d", seed)
		require.Equal(t, want.Score, got.Score, "seed %d", seed)
		violating += min(want.Score.Violations, 1)
	}
	require.Greater(t, feasible, 270)
	require.Greater(t, unlike, 300)
	require.Positive(t, violating)
	require.Equal(t, [2]int{2_271_155, 2_493_298}, asked, "what is left out need not be asked about; a search that asks less changes it")
	require.Equal(t, [2]int{76_978, 77_939}, checks)
}

// TestPlacesCostTheLeastOfAllSets: for members that are alike, whoever is asked about, in whatever order and
// one after the other.
func TestPlacesCostTheLeastOfAllSets(t *testing.T) {
	found, none := 0, 0
	for seed := range uint64(150) {
		draw := rand.New(rand.NewPCG(seed, 9))
		q := asks(t, crowded(draw, 3, false, true), &ask.Settings{})
		d := seating.Split(q.Index, nil)[0]
		trial := domain.NewGangTrial(q.Index, q.Members, nil, func(cluster.PodID) bool { return false })
		size, members := q.Members[0].Pod.Requests[cluster.CPU], len(q.Members)
		s := seating.NewSums(trial, trial, &d, members, q.Members[0].Request(), make([]int, q.Index.NumNodes()))
		var pods []cluster.PodID
		for _, n := range d.Nodes {
			pods = append(pods, q.Index.PodsOn(n)...)
		}
		for range 4 {
			draw.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
			asked := pods[:1+draw.IntN(len(pods))]
			var items [][]cluster.PodID
			var price []int64
			sum := int64(0)
			for _, p := range asked {
				items, price = append(items, []cluster.PodID{p}), append(price, 1+draw.Int64N(9))
				sum += price[len(price)-1]
			}
			want := int64(math.MaxInt64)
			for set := range uint(1) << len(items) {
				cost, left := int64(0), make([]int64, q.Index.NumNodes())
				for _, n := range d.Nodes {
					left[n] = q.Index.Node(n).Allocatable[cluster.CPU]
					for _, p := range q.Index.PodsOn(n) {
						left[n] -= q.Index.Pod(p).Requests[cluster.CPU]
					}
				}
				for rest := set; rest != 0; rest &= rest - 1 {
					i := bits.TrailingZeros(rest)
					cost += price[i]
					left[q.Index.NodeOf(items[i][0])] += q.Index.Pod(items[i][0]).Requests[cluster.CPU]
				}
				seats := int64(0)
				for _, free := range left {
					seats += free / size
				}
				if seats >= int64(members) {
					want = min(want, cost)
				}
			}
			got, _, _ := s.Least(items, price, make([]bool, len(items)), math.MaxInt64-1, 1<<20)
			if want == math.MaxInt64 {
				require.Greater(t, got, sum, "seed %d", seed)
				none++
				continue
			}
			require.Equal(t, want, got, "seed %d", seed)
			found++
		}
	}
	require.Greater(t, found, 100)
	require.Greater(t, none, 10)
}
