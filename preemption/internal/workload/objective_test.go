package workload_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/genopts"
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/workload"
	"github.com/preempt-go/preempt/victims"
)

// TestWhoDisruptsLeast: the queue's own pass starts with the least important, though the other
// would do alone.
func TestWhoDisruptsLeast(t *testing.T) {
	for name, x := range map[string]struct {
		ranking victims.Ranking
		fair    bool
		steps   int
		want    []string
		instead bool
	}{
		"fewest":                     {victims.Ranking{victims.CriterionUnits}, false, 1000, []string{"large"}, true},
		"fewest, with shares":        {victims.Ranking{victims.CriterionUnits}, true, 1000, []string{"large"}, true},
		"fewest, by sparing small":   {victims.Ranking{victims.CriterionUnits}, true, 0, []string{"large"}, true},
		"least important":            {victims.Ranking{victims.CriterionHighest}, false, 1000, []string{"second", "first"}, false},
		"least important and shares": {victims.Ranking{victims.CriterionHighest}, true, 1000, []string{"second", "first"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := eight(job("large", "research", 3, 4), job("second", "research", 2, 2), job("first", "research", 1, 2), job("in", "", 9, 4))
			m, err := workload.New(s.QuotaObjects(), workload.Rules{Fair: x.fair})
			require.NoError(t, err)
			w := m.Workload("", "in")
			polled := 0
			p := m.Plan(w, m.Index.QueueByName("research"), workload.Objective{
				Ranking: x.ranking, Effort: ask.Exact, Steps: x.steps, Poll: func() { polled++ },
			}, false)
			var got []string
			for _, v := range p.Victims {
				got = append(got, v.Workload.Name)
			}
			require.Equal(t, x.want, got)
			require.Equal(t, x.instead, p.Least.Instead)
			require.Equal(t, !x.fair, p.Least.Optimal)
			require.Equal(t, len(x.want), p.Least.Score.Units)
			require.Nil(t, p.Least.Shown, "nobody asked")
			if x.fair {
				require.GreaterOrEqual(t, polled, 2, "once for each of two sizes")
				require.Positive(t, p.Least.Searched)
				require.Less(t, p.Least.Searched, p.Trials)
			}
		})
	}
}

// TestTheSearchSparesAsLongAsItHasSteps: with none it looks for nobody else.
func TestTheSearchSparesAsLongAsItHasSteps(t *testing.T) {
	m := model(t, eight(job("b", "research", 3, 4), job("a", "research", 2, 4), job("in", "", 9, 4)))
	w, q := m.Workload("", "in"), m.Index.QueueByName("research")
	s := m.Search(w, q)
	defer m.Keep(s)
	request, contested := s.Request(q, gpus(4))
	question := workload.Question(w, q, request, contested)
	own := append([]quotasearch.Victim(nil), s.Victims(&question)...)
	require.Len(t, own, 1)
	require.Equal(t, "a", own[0].Workload.Name)
	for steps, want := range map[int]string{0: "a", 1: "b", 100: "b"} {
		asked := 0
		polled := 0
		list, taken := s.Spare(&question, own, steps, func() { polled++ }, func(other []quotasearch.Victim) bool {
			asked++
			return other[0].Workload.Name == "b"
		})
		require.Equal(t, want, list[0].Workload.Name, "%d steps", steps)
		require.Equal(t, min(steps, 1), asked, "a is spared once")
		require.Equal(t, steps > 0, taken > 0)
		require.Equal(t, steps > 0, polled > 0)
		require.Equal(t, "a", s.Victims(&question)[0].Workload.Name, "nobody is spared afterwards")
	}
}

// TestWorkloadsOnTheirWayOutAreNotSpared: they go in any case.
func TestWorkloadsOnTheirWayOutAreNotSpared(t *testing.T) {
	gone := job("gone", "research", 1, 4)
	gone.Evicted = true
	m := model(t, eight(gone, job("stays", "research", 2, 4), job("in", "", 9, 4)))
	p := m.Plan(m.Workload("", "in"), m.Index.QueueByName("research"), workload.Objective{
		Ranking: victims.Ranking{victims.CriterionPods, victims.CriterionLevels}, Effort: ask.Exact, Steps: 1000,
	}, false)
	require.Len(t, p.Victims, 1)
	require.Equal(t, "gone", p.Victims[0].Workload.Name)
	require.Zero(t, p.Least.Score.Pods)
	require.Equal(t, map[victims.Criterion]int64{victims.AtLevel(1): 0, victims.AtLevel(2): 0}, p.Least.Score.Asked)
	require.False(t, p.Least.Instead)
}

// TestWhoLeavesAnywayIsNotSpared: whatever would be better.
func TestWhoLeavesAnywayIsNotSpared(t *testing.T) {
	gone := job("gone", "research", 1, 4)
	gone.Evicted = true
	m := model(t, eight(gone, job("stays", "research", 2, 4), job("in", "", 9, 4)))
	w, q := m.Workload("", "in"), m.Index.QueueByName("research")
	s := m.Search(w, q)
	defer m.Keep(s)
	request, contested := s.Request(q, gpus(4))
	question := workload.Question(w, q, request, contested)
	own := append([]quotasearch.Victim(nil), s.Victims(&question)...)
	list, _ := s.Spare(&question, own, 100, nil, func([]quotasearch.Victim) bool { return true })
	require.Equal(t, own, list)
}

// upwards likes it best if the most important goes.
type upwards struct{}

func (upwards) Compare(a, b victims.Score) int { return int(b.Highest) - int(a.Highest) }

// TestAComparisonOfOnesOwn: one after the other is spared, as long as there are steps, and those in
// the way of it are spared for this alone.
func TestAComparisonOfOnesOwn(t *testing.T) {
	m := model(t, eight(job("c", "research", 3, 2), job("b", "research", 2, 2), job("a", "research", 1, 4), job("in", "", 9, 4)))
	for steps, want := range map[int][]string{0: {"c", "b"}, 1000: {"c", "b"}} {
		p := m.Plan(m.Workload("", "in"), m.Index.QueueByName("research"), workload.Objective{Compare: upwards{}, Effort: ask.Exact, Steps: steps}, true)
		var got []string
		for _, v := range p.Victims {
			got = append(got, v.Workload.Name)
		}
		if steps == 0 {
			want = []string{"a"} // it is the largest, and never spared
		}
		require.Equal(t, want, got)
		require.Equal(t, steps > 0, p.Least.Instead)
		require.False(t, p.Least.Optimal)
		require.NotEmpty(t, p.Steps)
		require.Equal(t, "a", p.Steps[1].Reservation.Workload.Name, "the steps are of the queue's own pass")
	}
}

// TestScoresOfVictims: by a plain count, and never above that of the queue's own pass.
func TestScoresOfVictims(t *testing.T) {
	first := []victims.Criterion{victims.CriterionHighest, victims.CriterionCost, victims.CriterionSum, victims.CriterionUnits, victims.CriterionLevels}
	tariff := disruption.Tariff{Pods: 3, Work: map[string]disruption.Rate{"cpu": {Price: 1, Per: 500}}}
	better, shown, sharp := 0, 0, 0
	for seed := range uint64(2000) {
		question, o := genopts.RandomQuota(seed)
		s := &question.Snapshot
		m, err := workload.New(s.QuotaObjects(), workload.Rules{Fair: o.Quota.FairSharing != nil, Precision: quota.Exact})
		require.NoError(t, err)
		w, err := m.Find(question.Preemptor)
		require.NoError(t, err)
		q, refused, err := m.QueueOf(w)
		require.NoError(t, err)
		if refused != workload.NotRefused {
			continue
		}
		ranking := victims.Ranking{first[seed%5]}
		for _, c := range append(first, victims.CriterionStarted, victims.CriterionPods, victims.CriterionGroups) {
			if c != ranking[0] {
				ranking = append(ranking, c)
			}
		}
		objective := workload.Objective{Ranking: ranking, Effort: ask.Exact, Steps: 1000, Cost: victims.Tariff{Tariff: tariff}, Prove: true}
		p := m.Plan(w, q, objective, false)
		own := m.Plan(w, q, workload.Objective{}, false)
		require.Equal(t, own.Helps(), p.Helps())
		if len(p.Victims) == 0 {
			continue
		}
		score := func(list []workload.Victim) victims.Score {
			sum := victims.Score{Highest: math.MinInt32, Started: math.MaxInt64, Asked: map[victims.Criterion]int64{victims.CriterionGroups: 0}}
			for _, other := range s.Workloads {
				if m.Held(other.Namespace, other.Name) != nil {
					sum.Asked[victims.AtLevel(other.Priority+other.Boost)] = 0
				}
			}
			for _, v := range list {
				if v.Workload.Evicted {
					continue
				}
				prio := v.Workload.Priority + v.Workload.Boost
				sum.Units, sum.Pods, sum.Sum = sum.Units+1, sum.Pods+1, sum.Sum+int64(prio)+1<<31
				sum.Asked[victims.AtLevel(prio)]++
				if prio > sum.Highest {
					sum.Highest, sum.Started = prio, math.MaxInt64
				}
				if prio == sum.Highest {
					sum.Started = min(sum.Started, v.Reserved)
				}
				sum.Cost += tariff.Pods * int64(v.Workload.PodSets[0].Count)
				seconds := (s.Time.UnixNano() - v.Reserved) / 1e9
				for _, u := range v.Usage {
					if m.Index.ResourceName(u.Column) == "cpu" {
						sum.Cost += u.Amount * seconds / 500
					}
				}
			}
			return sum
		}
		require.Equal(t, score(p.Victims), p.Least.Score, "seed %d", seed)
		require.LessOrEqual(t, len(p.Least.Bound), len(p.Least.Ranking))
		before := score(own.Victims)
		c := p.Least.Ranking.Compare(p.Least.Score, before)
		require.LessOrEqual(t, c, 0, "seed %d", seed)
		if c < 0 {
			require.True(t, p.Least.Instead)
			better++
		}
		if require.True(t, o.Quota.FairSharing == nil || p.Least.Shown == nil); p.Least.Shown == nil {
			continue
		}
		search := m.Search(w, q)
		request, contested := search.Request(q, choicesOf(m, w, p))
		asked := workload.Question(w, q, request, contested)
		grounds := search.Grounds(&asked)
		m.Keep(search)
		require.Len(t, p.Least.Shown.Grounds, len(grounds))
		var least []int64 // of all that free what rows say
		for i, g := range grounds {
			var useful []workload.Victim
			var frees [][]int64
			for k, v := range g.Victims {
				of, any := make([]int64, len(g.Rows)), false
				for row := range g.Rows {
					for _, cell := range g.Rows[row].Frees {
						if cell.Item == k {
							of[row], any = cell.Amount, true
						}
					}
				}
				if any {
					require.Equal(t, v, p.Least.Shown.Grounds[i].Victims[len(useful)])
					useful, frees = append(useful, workload.Victim{Victim: v}), append(frees, of)
				}
			}
			require.Len(t, p.Least.Shown.Grounds[i].Victims, len(useful))
			for set := range 1 << min(len(useful), 12) {
				var list []workload.Victim
				left := make([]int64, len(g.Rows))
				for row := range left {
					left[row] = g.Rows[row].Need
				}
				for k, v := range useful {
					if set>>k&1 != 0 {
						list = append(list, v)
						for row := range left {
							left[row] -= frees[k][row]
						}
					}
				}
				if slices.ContainsFunc(left, func(v int64) bool { return v > 0 }) {
					continue
				}
				if values := p.Least.Ranking.Values(score(list)); least == nil || slices.Compare(values, least) < 0 {
					least = values
				}
			}
		}
		if least == nil {
			require.True(t, slices.ContainsFunc(grounds, func(g quotasearch.Ground) bool { return len(g.Victims) > 12 }))
			continue // more than are tried
		}
		bound := p.Least.Shown.Bound
		require.LessOrEqual(t, len(bound), len(least))
		require.LessOrEqual(t, slices.Compare(bound, least[:len(bound)]), 0, "seed %d", seed)
		if shown++; bound[0] == least[0] {
			sharp++
		}
	}
	require.Greater(t, better, 20)
	require.Greater(t, sharp, shown*9/10)
	require.Greater(t, shown, 40)
}
