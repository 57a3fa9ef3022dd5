package quota_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// limits are those of one holder of cpu in the flavor "default"; none is nil.
type limits struct{ nominal, borrowing, lending int64 }

const none = -1

func (l limits) groups() []cluster.ResourceGroup {
	q := cluster.ResourceQuota{Resource: "cpu", Nominal: l.nominal}
	if l.borrowing != none {
		q.Borrowing = &l.borrowing
	}
	if l.lending != none {
		q.Lending = &l.lending
	}
	return []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{Flavor: "default", Resources: []cluster.ResourceQuota{q}}}}}
}

func queue(name, cohort string, l limits) cluster.ClusterQueue {
	return cluster.ClusterQueue{Name: name, Cohort: cohort, Groups: l.groups()}
}

func cohort(name, parent string, l limits) cluster.Cohort {
	return cluster.Cohort{Name: name, Parent: parent, Groups: l.groups()}
}

// state is a tree with usage, asked by name.
type state struct {
	t  *testing.T
	ix *quota.Index
	*quota.Usage
}

func newState(t *testing.T, s *cluster.Snapshot) state {
	t.Helper()
	s.ResourceFlavors = []cluster.ResourceFlavor{{Name: "default"}}
	ix, err := quota.NewIndex(s)
	require.NoError(t, err)
	return state{t, ix, quota.NewTree(ix).NewUsage()}
}

func (s state) use(queue string, cpu int64) {
	s.Add(s.ix.QueueByName(queue), []quota.ColumnAmount{{Column: 0, Amount: cpu}})
}

func (s state) want(holder string, available, potential int64) {
	s.t.Helper()
	h := s.ix.QueueByName(holder)
	if h == quota.NoHolder {
		h = s.ix.CohortByName(holder)
	}
	require.Equal(s.t, available, s.Available(h, 0), "available of %s", holder)
	require.Equal(s.t, potential, s.Tree().Potential(h, 0), "potentially available of %s", holder)
}

func TestLendingLimitKeepsAPartPrivate(t *testing.T) {
	s := newState(t, &cluster.Snapshot{
		Cohorts:       []cluster.Cohort{cohort("co", "", limits{10_000, none, none})},
		ClusterQueues: []cluster.ClusterQueue{queue("cq1", "co", limits{10_000, none, none}), queue("cq2", "co", limits{10_000, none, 9_000})},
	})
	s.want("cq1", 29_000, 29_000)
	s.want("cq2", 30_000, 30_000)
	s.use("cq1", 1_000)
	s.use("cq2", 500)
	s.want("cq1", 28_000, 29_000)
	s.want("cq2", 28_500, 30_000)
}

func TestBorrowingLimitBoundsWhatIsAvailable(t *testing.T) {
	s := newState(t, &cluster.Snapshot{
		Cohorts: []cluster.Cohort{cohort("co", "", limits{10, none, none})},
		ClusterQueues: []cluster.ClusterQueue{
			queue("cq1", "co", limits{10, none, none}),
			queue("cq2", "co", limits{10, 2, none}),
			queue("cq3", "co", limits{10, none, 5}),
		},
	})
	s.use("cq1", 20)
	s.use("cq2", 10)
	s.use("cq3", 6)
	s.want("cq1", 4, 35)
	s.want("cq2", 2, 12)
	s.want("cq3", 4, 40)
}

func TestBorrowingLimitOfACohortBoundsItsMembers(t *testing.T) {
	s := newState(t, &cluster.Snapshot{
		Cohorts: []cluster.Cohort{
			cohort("root", "", limits{0, none, none}),
			cohort("mid", "root", limits{10, 5, none}),
		},
		ClusterQueues: []cluster.ClusterQueue{
			queue("cq1", "mid", limits{10, none, none}),
			queue("cq2", "mid", limits{10, 5, none}),
			queue("rich", "root", limits{20, none, none}),
		},
	})
	s.want("cq1", 35, 35)
	s.want("cq2", 15, 15)
	s.want("rich", 50, 50)
}

// A queue that uses more than everybody has together takes even what another
// one keeps for itself, as far as the root can see.
func TestOverAdmissionEatsTheGuaranteedPart(t *testing.T) {
	s := newState(t, &cluster.Snapshot{
		ClusterQueues: []cluster.ClusterQueue{queue("greedy", "co", limits{10, none, none}), queue("careful", "co", limits{10, none, 0})},
	})
	s.use("greedy", 15)
	s.want("careful", 5, 20)
	require.Equal(t, int64(-5), s.Balance(s.ix.QueueByName("greedy"), 0))
}

func TestBorrowHeightNamesTheLowestSubtreeThatFits(t *testing.T) {
	s := newState(t, &cluster.Snapshot{
		Cohorts: []cluster.Cohort{
			cohort("root", "", limits{0, none, none}),
			cohort("mid", "root", limits{4, none, none}),
		},
		ClusterQueues: []cluster.ClusterQueue{
			queue("q", "mid", limits{2, none, none}),
			queue("other", "root", limits{10, none, none}),
			queue("alone", "", limits{2, none, none}),
		},
	})
	for _, c := range []struct {
		queue  string
		amount int64
		height int
		inner  bool
	}{
		{"q", 2, 0, true},
		{"q", 6, 1, true},
		{"q", 7, 2, false},
		{"q", 99, 2, false},
		{"alone", 99, 0, false},
	} {
		height, inner := s.BorrowHeight(s.ix.QueueByName(c.queue), 0, c.amount)
		require.Equal(t, c.height, height, "%s wants %d", c.queue, c.amount)
		require.Equal(t, c.inner, inner, "%s wants %d", c.queue, c.amount)
	}
}

func TestUnlimitedQuotaStaysUnlimited(t *testing.T) {
	s := newState(t, &cluster.Snapshot{
		ClusterQueues: []cluster.ClusterQueue{queue("vast", "co", limits{cluster.Unlimited, none, none}), queue("small", "co", limits{5, none, none})},
	})
	s.want("small", cluster.Unlimited, cluster.Unlimited)
	s.use("vast", 1_000_000)
	s.want("small", cluster.Unlimited, cluster.Unlimited)
	require.False(t, s.Borrows(s.ix.QueueByName("vast"), 0, cluster.MaxUsage))
}

func TestAmountsSaturate(t *testing.T) {
	const most, least int64 = cluster.Unlimited, -cluster.Unlimited - 1
	require.EqualValues(t, most, quota.Add(most, -5))
	require.EqualValues(t, most, quota.Add(most-1, 5))
	require.EqualValues(t, least, quota.Add(least, -1))
	require.EqualValues(t, most, quota.Sub(most, 5))
	require.EqualValues(t, least, quota.Sub(5, most))
	require.EqualValues(t, 0, quota.Sub(most, most))
	require.EqualValues(t, most, quota.Sub(5, least))
	require.EqualValues(t, least, quota.Sub(least, 1))
	require.EqualValues(t, 0, quota.Above(3, 4))
}
