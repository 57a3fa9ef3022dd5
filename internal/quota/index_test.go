package quota_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
)

func cpu(nominal int64) []cluster.ResourceGroup {
	return []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
		Flavor: "default", Resources: []cluster.ResourceQuota{{Resource: "cpu", Nominal: nominal}},
	}}}}
}

// quotaSnapshot is a valid snapshot that tests spoil in one place.
func quotaSnapshot() *cluster.Snapshot {
	return &cluster.Snapshot{
		Time:            time.Unix(1000, 0),
		ResourceFlavors: []cluster.ResourceFlavor{{Name: "default"}},
		Cohorts:         []cluster.Cohort{{Name: "all"}},
		ClusterQueues:   []cluster.ClusterQueue{{Name: "q", Cohort: "all", Groups: cpu(10)}, {Name: "alone", Groups: cpu(1)}},
		LocalQueues:     []cluster.LocalQueue{{Namespace: "ns", Name: "lq", ClusterQueue: "q"}},
		Workloads: []cluster.Workload{{
			Namespace: "ns", Name: "w", Queue: "lq", Priority: 5, Boost: 2,
			Admission: &cluster.Admission{ClusterQueue: "q"},
			PodSets: []cluster.PodSet{{
				Name: "main", Count: 3, Requests: cluster.Resources{"cpu": 2}, Flavors: map[string]string{"cpu": "default"},
			}},
		}},
	}
}

func TestIndexRefusesWhatCannotBeRead(t *testing.T) {
	number := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		name  string
		spoil func(s *cluster.Snapshot)
		want  string
	}{
		{"a negative quota", func(s *cluster.Snapshot) { s.ClusterQueues[0].Groups = cpu(-1) },
			`ClusterQueue "q": Groups[0].Flavors[0].Resources[0].Nominal: -1 is not >= 0`},
		{"a borrowing limit without parent", func(s *cluster.Snapshot) {
			s.ClusterQueues[1].Groups[0].Flavors[0].Resources[0].Borrowing = number(1)
		}, `ClusterQueue "alone": Groups[0].Flavors[0].Resources[0].Borrowing: 1 is not absent, as there is no parent`},
		{"lending above nominal", func(s *cluster.Snapshot) {
			s.ClusterQueues[0].Groups[0].Flavors[0].Resources[0].Lending = number(11)
		}, `ClusterQueue "q": Groups[0].Flavors[0].Resources[0].Lending: 11 is not at most Nominal, 10`},
		{"a resource in two groups", func(s *cluster.Snapshot) {
			groups := append(cpu(1), cpu(1)...)
			groups[1].Flavors[0].Flavor = "other"
			s.ClusterQueues[0].Groups = groups
		}, `ClusterQueue "q": Groups[1].Flavors[0]: "cpu" is not a resource of one group only`},
		{"a flavor that lacks a resource", func(s *cluster.Snapshot) {
			g := &s.ClusterQueues[0].Groups[0]
			g.Flavors = append(g.Flavors, cluster.FlavorQuotas{Flavor: "spot"})
		}, `ClusterQueue "q": Groups[0].Flavors[1].Resources: "cpu" is not missing: every flavor of a group holds the same resources`},
		{"an unknown policy", func(s *cluster.Snapshot) { s.ClusterQueues[0].Preemption.WithinClusterQueue = "Any" },
			`ClusterQueue "q": Preemption.WithinClusterQueue: "Any" is not Never, LowerPriority, LowerOrNewerEqualPriority or empty`},
		{"borrowing preemptors that may not reclaim", func(s *cluster.Snapshot) {
			s.ClusterQueues[0].Preemption.BorrowWithinCohort = &cluster.BorrowWithinCohort{}
		}, `ClusterQueue "q": Preemption.BorrowWithinCohort: set is not absent, as ReclaimWithinCohort is Never`},
		{"a preference without choice", func(s *cluster.Snapshot) {
			s.ClusterQueues[0].Fungibility.Preference = cluster.PreemptionOverBorrowing
		}, `ClusterQueue "q": Fungibility.Preference: "PreemptionOverBorrowing" is not empty, as not both choices are TryNextFlavor`},
		{"two queues of one name", func(s *cluster.Snapshot) { s.ClusterQueues[1].Name = "q" },
			`ClusterQueue "q": Name: "q" is not unique`},
		{"a negative weight", func(s *cluster.Snapshot) { w := cluster.Weight(-1); s.Cohorts[0].Weight = &w },
			`Cohort "all": Weight: -0.000000001 is not 0 or above 0.000000001`},
		{"a workload of nothing", func(s *cluster.Snapshot) { s.Workloads[0].PodSets = nil },
			`Workload "ns/w": PodSets: 0 is not at least one pod set`},
		{"more minimum than count", func(s *cluster.Snapshot) { n := int32(4); s.Workloads[0].PodSets[0].MinCount = &n },
			`Workload "ns/w": PodSets[0].MinCount: 4 is not between 1 and Count, 3`},
		{"a usage that overflows", func(s *cluster.Snapshot) { s.Workloads[0].PodSets[0].Requests["cpu"] = 1 << 62 },
			`Workload "ns/w": PodSets[0][cpu]: too much is not at most 2^62-1 in all`},
		{"a local queue of no queue", func(s *cluster.Snapshot) { s.LocalQueues[0].ClusterQueue = "" },
			`LocalQueue "ns/lq": ClusterQueue: "" is not a name`},
		{"a negative usage of a local queue", func(s *cluster.Snapshot) { s.LocalQueues[0].Usage = number(-1) },
			`LocalQueue "ns/lq": Usage: -1 is not >= 0`},
		{"a taint without a key", func(s *cluster.Snapshot) {
			s.ResourceFlavors[0].NodeTaints = []cluster.Taint{{Effect: cluster.NoSchedule}}
		}, `ResourceFlavor "default": NodeTaints[0].Key: "" is not a key`},
		{"a taint without an effect", func(s *cluster.Snapshot) {
			s.ResourceFlavors[0].NodeTaints = []cluster.Taint{{Key: "spot"}}
		}, `ResourceFlavor "default": NodeTaints[0].Effect: "" is not NoSchedule, PreferNoSchedule or NoExecute`},
		{"a group without flavors", func(s *cluster.Snapshot) { s.ClusterQueues[0].Groups[0].Flavors = nil },
			`ClusterQueue "q": Groups[0].Flavors: 0 is not at least one flavor`},
		{"a flavor without a name", func(s *cluster.Snapshot) { s.ClusterQueues[0].Groups[0].Flavors[0].Flavor = "" },
			`ClusterQueue "q": Groups[0].Flavors[0].Flavor: "" is not a name`},
		{"a flavor named twice", func(s *cluster.Snapshot) {
			g := &s.ClusterQueues[0].Groups[0]
			g.Flavors = append(g.Flavors, g.Flavors[0])
		}, `ClusterQueue "q": Groups[0].Flavors[1].Flavor: "default" is not a flavor named once`},
		{"a resource named twice", func(s *cluster.Snapshot) {
			f := &s.ClusterQueues[0].Groups[0].Flavors[0]
			f.Resources = append(f.Resources, f.Resources[0])
		}, `ClusterQueue "q": Groups[0].Flavors[0].Resources[1].Resource: "cpu" is not a resource named once`},
		{"a resource that the first flavor lacks", func(s *cluster.Snapshot) {
			g := &s.ClusterQueues[0].Groups[0]
			g.Flavors = append(g.Flavors, cluster.FlavorQuotas{Flavor: "spot", Resources: []cluster.ResourceQuota{{Resource: "cpu"}, {Resource: "gpu"}}})
		}, `ClusterQueue "q": Groups[0].Flavors[1].Resources[1].Resource: "gpu" is not a resource of the group's first flavor`},
		{"a negative limit", func(s *cluster.Snapshot) {
			s.ClusterQueues[0].Groups[0].Flavors[0].Resources[0].Lending = number(-1)
		}, `ClusterQueue "q": Groups[0].Flavors[0].Resources[0].Lending: -1 is not >= 0`},
		{"borrowing preemptors beside a policy of KEP-83", func(s *cluster.Snapshot) {
			s.ClusterQueues[0].Preemption = cluster.QueuePreemption{
				ReclaimWithinCohort: cluster.ReclaimFromAny, BorrowWithinCohort: &cluster.BorrowWithinCohort{},
			}
		}, `ClusterQueue "q": Preemption.BorrowWithinCohort: set is not absent, as ReclaimWithinCohort is a policy of KEP-83`},
		{"an unknown policy of reclaim", func(s *cluster.Snapshot) { s.ClusterQueues[0].Preemption.ReclaimWithinCohort = "All" },
			`ClusterQueue "q": Preemption.ReclaimWithinCohort: "All" is not Never, LowerPriority, Any, ReclaimFromLowerPriority, ReclaimFromAny or empty`},
		{"a negative wait", func(s *cluster.Snapshot) { s.ClusterQueues[0].Preemption.WaitSeconds = -1 },
			`ClusterQueue "q": Preemption.WaitSeconds: -1 is not >= 0`},
		{"an unknown order", func(s *cluster.Snapshot) { s.ClusterQueues[0].Preemption.Order = []cluster.VictimOrder{"name"} },
			`ClusterQueue "q": Preemption.Order[0]: "name" is not ByLowestPriority, ByLowestRuntime or ByLongestRuntime`},
		{"an order named twice", func(s *cluster.Snapshot) {
			s.ClusterQueues[0].Preemption.Order = []cluster.VictimOrder{cluster.ByLowestPriority, cluster.ByLowestPriority}
		}, `ClusterQueue "q": Preemption.Order[1]: "` + string(cluster.ByLowestPriority) + `" is not a criterion named once`},
		{"an unknown preference", func(s *cluster.Snapshot) { s.ClusterQueues[0].Fungibility.Preference = "Cheap" },
			`ClusterQueue "q": Fungibility.Preference: "Cheap" is not BorrowingOverPreemption, PreemptionOverBorrowing or empty`},
		{"an unknown choice", func(s *cluster.Snapshot) { s.ClusterQueues[0].Fungibility.WhenCanPreempt = "Preempt" },
			`ClusterQueue "q": Fungibility.WhenCanPreempt: "Preempt" is not MayStopSearch, TryNextFlavor or empty`},
		{"two cohorts of one name", func(s *cluster.Snapshot) { s.Cohorts = append(s.Cohorts, s.Cohorts[0]) },
			`Cohort "all": Name: "all" is not unique`},
		{"a weight of a billionth", func(s *cluster.Snapshot) { w := cluster.Weight(1); s.ClusterQueues[0].Weight = &w },
			`ClusterQueue "q": Weight: 0.000000001 is not 0 or above 0.000000001`},
		{"a negative count", func(s *cluster.Snapshot) { s.Workloads[0].PodSets[0].Count = -1 },
			`Workload "ns/w": PodSets[0].Count: -1 is not >= 0`},
		{"a pod set that asks for pods", func(s *cluster.Snapshot) { s.Workloads[0].PodSets[0].Requests[cluster.Pods] = 1 },
			`Workload "ns/w": PodSets[0].Requests[pods]: 1 is not absent: pods are counted`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := quotaSnapshot()
			c.spoil(s)
			_, err := quota.NewIndex(s)
			require.ErrorIs(t, err, cluster.ErrInvalid)
			var fe *cluster.FieldError
			require.True(t, errors.As(err, &fe))
			require.Equal(t, "cluster: "+c.want, strings.Split(err.Error(), "\n")[0])
		})
	}
}

func TestIndexAnswersWhatIsOdd(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(s *cluster.Snapshot)
		want  []string // kind, name and text of the warnings
		check func(t *testing.T, ix *quota.Index)
	}{
		{"a cycle of cohorts disables its members", func(s *cluster.Snapshot) {
			s.Cohorts = []cluster.Cohort{{Name: "all", Parent: "b"}, {Name: "b", Parent: "all"}, {Name: "fine"}}
		}, []string{
			"ClusterQueue q: the cohort is part of a cycle: the queue is left out",
			"Cohort all: no root can be reached: the cohort is left out",
			"Cohort b: no root can be reached: the cohort is left out",
			"Workload w: there is no such active queue: the workload is left out",
		}, func(t *testing.T, ix *quota.Index) {
			require.Equal(t, quota.NoHolder, ix.QueueByName("q"))
			require.Equal(t, quota.NoHolder, ix.CohortByName("b"))
			require.NotEqual(t, quota.NoHolder, ix.CohortByName("fine"))
			require.Empty(t, ix.Reservations())
		}},
		{"a flavor that is not there makes the queue inactive", func(s *cluster.Snapshot) { s.ResourceFlavors = nil }, []string{
			"ClusterQueue alone: there is no such flavor: the queue is inactive",
			"ClusterQueue q: there is no such flavor: the queue is inactive",
		}, func(t *testing.T, ix *quota.Index) {
			require.Equal(t, "its flavor default is not there", ix.Inactive(ix.QueueByName("q")))
			require.Len(t, ix.Reservations(), 1, "its usage counts")
		}},
		{"a flavor that nobody has quota of", func(s *cluster.Snapshot) { s.Workloads[0].PodSets[0].Flavors["cpu"] = "gone" },
			[]string{"Workload w: nobody has quota of it: not counted"}, nil},
		{"a cohort that is only named exists", func(s *cluster.Snapshot) { s.Cohorts = nil }, nil,
			func(t *testing.T, ix *quota.Index) {
				require.Equal(t, ix.CohortByName("all"), ix.Parent(ix.QueueByName("q")))
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := quotaSnapshot()
			c.spoil(s)
			ix, err := quota.NewIndex(s)
			require.NoError(t, err)
			var got []string
			for _, w := range ix.Warnings() {
				got = append(got, string(w.Kind)+" "+w.Name+": "+w.Text)
			}
			require.Equal(t, c.want, got)
			if c.check != nil {
				c.check(t, ix)
			}
		})
	}
}

func TestReservationSumsThePodSets(t *testing.T) {
	s := quotaSnapshot()
	w := &s.Workloads[0]
	w.PodSets = append(w.PodSets, cluster.PodSet{
		Name: "extra", Count: 2, Requests: cluster.Resources{"cpu": 9},
		Flavors: map[string]string{"cpu": "default"}, Usage: cluster.Resources{"cpu": 1},
	})
	ix, err := quota.NewIndex(s)
	require.NoError(t, err)
	r := ix.Reservations()[0]
	require.Equal(t, []quota.ColumnAmount{{Column: 0, Amount: 3*2 + 1}}, r.Usage)
	require.Equal(t, int64(7), r.Priority, "priority plus boost")
	require.Equal(t, ix.Now(), r.Reserved, "an unknown time is now")
	require.True(t, r.Uses(0))
}

func TestQuotaSnapshotSurvivesJSON(t *testing.T) {
	s := quotaSnapshot()
	w := cluster.Weight(333_000_000)
	s.ClusterQueues[0].Weight = &w
	s.ClusterQueues[0].Preemption = cluster.QueuePreemption{
		ReclaimWithinCohort: cluster.AnyPriority, BorrowWithinCohort: &cluster.BorrowWithinCohort{},
		Order: []cluster.VictimOrder{cluster.ByLongestRuntime},
	}
	s.Time = s.Time.UTC()
	text, err := json.Marshal(s)
	require.NoError(t, err)
	var back cluster.Snapshot
	require.NoError(t, json.Unmarshal(text, &back))
	if diff := cmp.Diff(*s, back); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

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

// Two teams of ten GPUs each share what they do not use.
func Example() {
	gpus := func(n int64) []cluster.ResourceGroup {
		return []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
			Flavor: "a100", Resources: []cluster.ResourceQuota{{Resource: "gpu", Nominal: n}},
		}}}}
	}
	ix, err := quota.NewIndex(&cluster.Snapshot{
		ResourceFlavors: []cluster.ResourceFlavor{{Name: "a100"}},
		ClusterQueues: []cluster.ClusterQueue{
			{Name: "research", Cohort: "company", Groups: gpus(10)},
			{Name: "product", Cohort: "company", Groups: gpus(10)},
		},
	})
	if err != nil {
		panic(err)
	}
	usage := quota.NewTree(ix).NewUsage()
	research, product, gpu := ix.QueueByName("research"), ix.QueueByName("product"), ix.Column("a100", "gpu")

	usage.Add(research, []quota.ColumnAmount{{Column: gpu, Amount: 14}})
	fmt.Println("research borrows:", usage.Borrows(research, gpu, 0))
	share := usage.Share(research, quota.Exact)
	fmt.Println("share of research:", share.PerMille(), "in a thousand")
	fmt.Println("available to product:", usage.Available(product, gpu))
	// Output:
	// research borrows: true
	// share of research: 200 in a thousand
	// available to product: 6
}
