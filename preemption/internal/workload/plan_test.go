package workload_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

// model compiles s, which is live.
func model(t *testing.T, s *cluster.Snapshot) *workload.Model {
	t.Helper()
	m, err := workload.New(s.QuotaObjects(), workload.Rules{})
	require.NoError(t, err)
	m.Open(s)
	return m
}

// plan is the plan for the workload of that name, which is pending.
func plan(t *testing.T, m *workload.Model, name string) *workload.Plan {
	t.Helper()
	w, err := m.Find(cluster.Preemptor{Kind: cluster.KindWorkload, Name: name})
	require.NoError(t, err)
	q, refused, err := m.QueueOf(w)
	require.NoError(t, err)
	require.Equal(t, workload.NotRefused, refused)
	return m.Plan(w, q, workload.Objective{}, true)
}

func gpus(n int64) []workload.Choice {
	return []workload.Choice{{Set: "main", Resource: "gpu", Flavor: "a100", Amount: n}}
}

func gpusHeld(n int64) []cluster.HeldAmount {
	return []cluster.HeldAmount{{Flavor: "a100", Resource: "gpu", Amount: n}}
}

func TestWhatIsHeldForOthersIsTaken(t *testing.T) {
	m := model(t, eight(job("old", "research", 1, 5), job("in", "", 9, 4), job("next", "", 9, 4)))
	p := plan(t, m, "in")
	require.False(t, p.Fits)
	require.Len(t, p.Victims, 1)
	require.Equal(t, workload.Lack{Column: 0, Missing: 1}, p.Victims[0].Lack)
	require.NotEmpty(t, p.Steps)

	m.Hold(&cluster.QuotaHold{Name: "in", ClusterQueue: "research", Amounts: gpusHeld(4), Workloads: []cluster.PodKey{{Name: "old"}}})
	require.NoError(t, m.Evict("", "old", false))
	p = plan(t, m, "next")
	require.True(t, p.Fits, "old leaves, four of eight are held for in")
	require.False(t, p.FitsNow, "old is still there")
	require.Empty(t, p.Victims)

	require.NoError(t, m.Evict("", "old", true))
	require.True(t, plan(t, m, "next").FitsNow)
	require.NoError(t, m.Set(&cluster.Workload{Name: "wide", Queue: "team", PodSets: job("", "", 0, 5).PodSets}))
	p = plan(t, m, "wide")
	require.False(t, p.Helps())
	require.Equal(t, []workload.Objection{{Kind: workload.Short, Amount: 1}}, p.Objections)
	require.Equal(t, []quota.ColumnAmount{{Amount: 4}}, p.Reserved)

	require.True(t, m.Release("", "in"))
	require.False(t, m.Release("", "in"))
	require.True(t, plan(t, m, "wide").FitsNow)
}

func TestFewerPodsWhereNotAllFit(t *testing.T) {
	in, least := job("in", "", 1, 7), int32(2)
	in.PodSets[0].MinCount = &least
	m := model(t, eight(job("old", "research", 1, 5), in))
	p := plan(t, m, "in")
	require.True(t, p.FitsNow)
	require.Equal(t, []int32{3}, p.Counts)
	require.Empty(t, p.Objections, "those to more pods do not count")
}

func TestACloneKeepsWhatItWas(t *testing.T) {
	m := model(t, eight(job("old", "research", 1, 5), job("in", "", 1, 4)))
	c := m.Clone()
	require.True(t, m.Remove("", "old"))
	require.False(t, m.Remove("", "old"))
	require.True(t, plan(t, m, "in").FitsNow)
	require.False(t, plan(t, c, "in").Helps())
	require.NotNil(t, c.Held("", "old"))

	require.NoError(t, m.Admit(m.Workload("", "in"), "research", gpus(4), nil))
	require.EqualValues(t, 4, m.Held("", "in").Usage[0].Amount)
	require.Nil(t, c.Held("", "in"))
}

// TestWhatWaitsKeeps: a plan without victims keeps what is left of the queue's quota, with what it may
// borrow if it would have to.
func TestWhatWaitsKeeps(t *testing.T) {
	for name, x := range map[string]struct {
		cohort     string
		asks, held int32
		want       int64
	}{
		"what is left":                  {"", 4, 6, 2},
		"the last":                      {"", 5, 7, 1},
		"nothing is left":               {"", 5, 8, 0},
		"all that it asks for":          {"all", 4, 6, 4},
		"as much as it may borrow":      {"all", 5, 7, 3},
		"it borrows as much as it may":  {"all", 5, 10, 0},
		"more than it may ever borrow":  {"all", 11, 2, 0},
		"more than it could get back":   {"all", 9, 5, 0},
		"as much as it is entitled to":  {"all", 8, 2, 8},
		"as much, with what it borrows": {"all", 8, 3, 7},
	} {
		t.Run(name, func(t *testing.T) {
			borrowing := int64(2)
			s := eight(job("old", "research", 9, x.held), job("in", "", 1, x.asks))
			if x.cohort != "" {
				s.ClusterQueues[0].Groups[0].Flavors[0].Resources[0].Borrowing = &borrowing
			}
			s.ClusterQueues[0].Cohort = x.cohort
			lender := s.ClusterQueues[0]
			lender.Name = "lender"
			s.ClusterQueues = append(s.ClusterQueues, lender)
			theirs := job("theirs", "lender", 9, 16-x.held-1)
			s.Workloads = append(s.Workloads, theirs)
			p := plan(t, model(t, s), "in")
			require.False(t, p.Helps())
			var kept int64
			for _, c := range p.Reserved {
				require.Positive(t, c.Amount)
				kept += c.Amount
			}
			require.Equal(t, x.want, kept)
		})
	}
}
