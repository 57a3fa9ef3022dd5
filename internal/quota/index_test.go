package quota_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/internal/naivequota"
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
			require.True(t, ix.Cyclic("q") && !ix.Cyclic("alone"))
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
	require.Zero(t, r.LocalUsage)
	s.ClusterQueues[0].FairLocalQueues, s.LocalQueues[0].Usage = true, new(int64(5))
	w.PodSets[1].Usage["cpu"] = cluster.MaxUsage - 3*2 // as much as there may be in all
	ix, err = quota.NewIndex(s)
	require.NoError(t, err)
	require.Equal(t, int64(-5), ix.Reservations()[0].LocalUsage)
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

// TestUsageFollowsTheDefinitions: workloads come and go in random order, and after
// each step every number is what the definitions give when summed up anew.
func TestUsageFollowsTheDefinitions(t *testing.T) { rapid.Check(t, usageFollowsTheDefinitions) }

func FuzzUsageFollowsTheDefinitions(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(usageFollowsTheDefinitions))
}

func usageFollowsTheDefinitions(t *rapid.T) {
	snap := drawTree(t)
	ix, err := quota.NewIndex(snap)
	if err != nil {
		t.Fatal(err)
	}
	usage, world := quota.NewTree(ix).NewUsage(), naivequota.NewWorld(snap)
	var in []*naivequota.Admitted
	for step := range rapid.IntRange(1, 12).Draw(t, "steps") {
		if len(in) > 0 && rapid.IntRange(0, 2).Draw(t, "leave") == 0 {
			i := rapid.IntRange(0, len(in)-1).Draw(t, "who")
			usage.Remove(ix.QueueByName(in[i].Queue.Name), amounts(ix, in[i].Usage))
			delete(world.In, in[i])
			in = append(in[:i], in[i+1:]...)
		} else {
			a := &naivequota.Admitted{
				W:     &cluster.Workload{Name: fmt.Sprint(step)},
				Queue: naivequota.Sorted(world.Queues)[rapid.IntRange(0, len(world.Queues)-1).Draw(t, "queue")],
				Usage: naivequota.Amounts{
					{Flavor: "x", Resource: "cpu"}: rapid.Int64Range(0, 6).Draw(t, "cpu"),
					{Flavor: "y", Resource: "mem"}: rapid.Int64Range(0, 6).Draw(t, "mem"),
				},
			}
			usage.Add(ix.QueueByName(a.Queue.Name), amounts(ix, a.Usage))
			world.In[a] = true
			in = append(in, a)
		}
		compare(t, ix, usage, world)
		isCoveredIfItFits(t, ix, usage)
	}
}

// isCoveredIfItFits: what is used already is covered if it fits without it.
func isCoveredIfItFits(t *rapid.T, ix *quota.Index, u *quota.Usage) {
	for q := range quota.HolderID(ix.NumQueues()) {
		for c := range quota.ColumnID(ix.NumColumns()) {
			for _, v := range []int64{0, 1, 4, 9} {
				amounts := []quota.ColumnAmount{{Column: c, Amount: v}}
				fits := u.Fits(q, amounts, true)
				u.Add(q, amounts)
				covered := u.Covered(q, amounts)
				u.Remove(q, amounts)
				if fits != covered {
					t.Fatalf("%s: %d of column %d fit: %v, are covered: %v", ix.Name(q), v, c, fits, covered)
				}
			}
		}
	}
}

// drawTree draws up to three levels of cohorts and a few queues with two
// flavor-resources.
func drawTree(t *rapid.T) *cluster.Snapshot {
	s := &cluster.Snapshot{ResourceFlavors: []cluster.ResourceFlavor{{Name: "x"}, {Name: "y"}}}
	weight := func() *cluster.Weight {
		w := rapid.SampledFrom([]cluster.Weight{cluster.OneWeight, 0, cluster.OneWeight / 2, 333_000_000, 2 * cluster.OneWeight}).Draw(t, "weight")
		return &w
	}
	names := []string{""}
	for i := range rapid.IntRange(0, 4).Draw(t, "cohorts") {
		c := cluster.Cohort{Name: fmt.Sprintf("co%d", i), Parent: rapid.SampledFrom(names).Draw(t, "parent"), Weight: weight()}
		if rapid.Bool().Draw(t, "own quota") {
			c.Groups = drawGroups(t, c.Parent != "")
		}
		names = append(names, c.Name)
		s.Cohorts = append(s.Cohorts, c)
	}
	for i := range rapid.IntRange(1, 4).Draw(t, "queues") {
		q := cluster.ClusterQueue{Name: fmt.Sprintf("q%d", i), Cohort: rapid.SampledFrom(names).Draw(t, "cohort"), Weight: weight()}
		q.Groups = drawGroups(t, q.Cohort != "")
		s.ClusterQueues = append(s.ClusterQueues, q)
	}
	return s
}

func drawGroups(t *rapid.T, limits bool) []cluster.ResourceGroup {
	group := func(flavor, resource string) cluster.ResourceGroup {
		q := cluster.ResourceQuota{Resource: resource, Nominal: rapid.Int64Range(0, 9).Draw(t, "nominal")}
		if limits && rapid.Bool().Draw(t, "limited") {
			b := rapid.Int64Range(0, 6).Draw(t, "borrowing")
			q.Borrowing = &b
		}
		if limits && rapid.Bool().Draw(t, "lends less") {
			l := rapid.Int64Range(0, q.Nominal).Draw(t, "lending")
			q.Lending = &l
		}
		return cluster.ResourceGroup{Flavors: []cluster.FlavorQuotas{{Flavor: flavor, Resources: []cluster.ResourceQuota{q}}}}
	}
	groups := []cluster.ResourceGroup{group("x", "cpu")}
	if rapid.Bool().Draw(t, "second resource") {
		groups = append(groups, group("y", "mem"))
	}
	return groups
}

func amounts(ix *quota.Index, usage naivequota.Amounts) []quota.ColumnAmount {
	var list []quota.ColumnAmount
	for c := range quota.ColumnID(ix.NumColumns()) {
		list = append(list, quota.ColumnAmount{Column: c, Amount: usage[fr(ix, c)]})
	}
	return list
}

func fr(ix *quota.Index, c quota.ColumnID) naivequota.FR {
	return naivequota.FR{Flavor: ix.FlavorName(ix.FlavorOf(c)), Resource: ix.ResourceName(c)}
}

func compare(t *rapid.T, ix *quota.Index, u *quota.Usage, w *naivequota.World) {
	t.Helper()
	var nodes []*naivequota.Node
	nodes = append(append(nodes, naivequota.Sorted(w.Queues)...), naivequota.Sorted(w.Cohorts)...)
	equal := func(what string, h int, got, want any) {
		if got != want {
			t.Fatalf("%s of %s: %v, want %v", what, nodes[h].Name, got, want)
		}
	}
	for h, n := range nodes {
		id := quota.HolderID(h)
		for c := range quota.ColumnID(ix.NumColumns()) {
			fr := fr(ix, c)
			equal("subtree quota", h, u.Tree().Subtree(id, c), n.Subtree(fr))
			equal("guaranteed quota", h, u.Tree().Guaranteed(id, c), n.Guaranteed(fr))
			equal("usage", h, u.Used(id, c), w.Used(n, fr))
			equal("balance", h, u.Balance(id, c), w.Balance(n, fr))
			equal("potential", h, u.Tree().Potential(id, c), n.Potential(fr))
			if n.Queue == nil {
				continue
			}
			if rooms := u.Rooms(nil, id, c); slices.Min(rooms) != u.Balance(id, c) {
				t.Fatalf("%s of column %d: rooms %v, balance %d", n.Name, c, rooms, u.Balance(id, c))
			}
			reaches(t, u, id, c)
			for _, v := range []int64{0, 1, 4} {
				height, inner := u.BorrowHeight(id, c, v)
				wantHeight, wantInner := w.BorrowHeight(n, fr, v)
				equal("borrow height", h, height, wantHeight)
				equal("inner", h, inner, wantInner)
			}
		}
		share, want := u.Share(id, quota.Exact), w.ShareOf(n)
		equal("borrowing", h, share.Borrows(), want.Borrows)
		for o, other := range nodes {
			against := u.Share(quota.HolderID(o), quota.Exact)
			equal("share against "+other.Name, h, share.Compare(&against), want.Compare(w.ShareOf(other)))
		}
	}
}

// reaches checks that what queue q frees in the cohorts around it is what they use less.
func reaches(t *rapid.T, u *quota.Usage, q quota.HolderID, c quota.ColumnID) {
	v := u.Used(q, c)
	before := map[quota.HolderID]int64{}
	reach := map[quota.HolderID]int64{}
	for h := u.Tree().Parent(q); h != quota.NoHolder; h = u.Tree().Parent(h) {
		before[h], reach[h] = u.Used(h, c), u.Reaches(q, h, c, v)
	}
	u.Remove(q, []quota.ColumnAmount{{Column: c, Amount: v}})
	for h, used := range before {
		if less := used - u.Used(h, c); less != reach[h] {
			t.Fatalf("%d of column %d leave queue %d: %d reach cohort %d, not %d", v, c, q, less, h, reach[h])
		}
	}
	u.Add(q, []quota.ColumnAmount{{Column: c, Amount: v}})
}

// What is refused is refused before memory is taken for it.
func TestLimitsAreKept(t *testing.T) {
	s := &cluster.Snapshot{}
	for i := range 10_000 {
		flavor := []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{Flavor: fmt.Sprint("f", i), Resources: []cluster.ResourceQuota{{Resource: cluster.CPU}}}}}}
		s.ClusterQueues = append(s.ClusterQueues, cluster.ClusterQueue{Name: fmt.Sprint("q", i), Groups: flavor})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := quota.NewIndex(s)
	runtime.ReadMemStats(&after)
	require.ErrorContains(t, err, `ClusterQueues: 10000 pairs of flavor and resource is not at most 419 for as many queues and cohorts`)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20))
}

// A chain of cohorts that nobody writes so long is refused with its queue.
func TestLongChainsAreRefused(t *testing.T) {
	const most = 32
	chain := &cluster.Snapshot{ClusterQueues: []cluster.ClusterQueue{{Name: "q", Cohort: "c0"}, {Name: "r", Cohort: "c0"}}}
	for i := range most {
		chain.Cohorts = append(chain.Cohorts, cluster.Cohort{Name: fmt.Sprint("c", i), Parent: fmt.Sprint("c", i+1)})
	}
	_, err := quota.NewIndex(chain)
	require.EqualError(t, err, `cluster: ClusterQueue "q": Cohort: more than 32 levels up to its root is not fewer`)
	_, err = quota.NewIndex(&cluster.Snapshot{Cohorts: append(chain.Cohorts, cluster.Cohort{Name: "c32", Parent: "c33"})})
	require.EqualError(t, err, `cluster: Cohort "c0": Parent: more than 32 levels up to its root is not fewer`)
	chain.Cohorts = chain.Cohorts[:most-1]
	_, err = quota.NewIndex(chain)
	require.NoError(t, err)
}

// TestSumIsOneAfterTheOther: what is added and removed at once leaves every number as
// if it were added and removed one by one.
func TestSumIsOneAfterTheOther(t *testing.T) { rapid.Check(t, sumIsOneAfterTheOther) }

func sumIsOneAfterTheOther(t *rapid.T) {
	ix, err := quota.NewIndex(drawTree(t))
	if err != nil {
		t.Fatal(err)
	}
	type job struct {
		queue quota.HolderID
		usage []quota.ColumnAmount
	}
	var jobs []job
	for range rapid.IntRange(0, 12).Draw(t, "jobs") {
		j := job{queue: quota.HolderID(rapid.IntRange(0, ix.NumQueues()-1).Draw(t, "queue"))}
		for c := range quota.ColumnID(ix.NumColumns()) {
			if rapid.Bool().Draw(t, "uses") {
				j.usage = append(j.usage, quota.ColumnAmount{Column: c, Amount: rapid.Int64Range(0, 9).Draw(t, "amount")})
			}
		}
		jobs = append(jobs, j)
	}
	tree := quota.NewTree(ix)
	sum, at, once := tree.NewSum(), tree.NewUsage(), tree.NewUsage()
	same := func(step string) {
		for h := range quota.HolderID(tree.NumHolders()) {
			for c := range quota.ColumnID(ix.NumColumns()) {
				if got, want := at.Used(h, c), once.Used(h, c); got != want {
					t.Fatalf("%s: %s uses %d, want %d", step, ix.Name(h), got, want)
				}
			}
		}
	}
	half := len(jobs) / 2
	for i, j := range jobs {
		once.Add(j.queue, j.usage)
		if i < half {
			at.Add(j.queue, j.usage)
		} else {
			sum.Take(j.queue, j.usage)
		}
	}
	at.AddSum(sum)
	same("added")
	sum.Clear()
	for _, j := range jobs[:half] {
		once.Remove(j.queue, j.usage)
		sum.Take(j.queue, j.usage)
	}
	at.RemoveSum(sum)
	same("removed")
	sum.Clear()
	at.AddSum(sum)
	same("nothing added")
}

func TestShareIsWhatIsBorrowedOverWhatCouldBeLent(t *testing.T) {
	for _, c := range []struct {
		name            string
		nominal, others int64
		weight          string
		use             int64
		perMille        int64
	}{
		{"within nominal", 5, 5, "1", 5, 0},
		{"two of ten above nominal", 5, 5, "1", 7, 200},
		{"twice the weight, half the share", 5, 5, "2", 7, 100},
		{"half the weight, twice the share", 5, 5, "0.5", 7, 400},
		{"weight 0 borrows endlessly", 5, 5, "0", 7, math.MaxInt64},
		{"even one", 5, 5, "0", 6, math.MaxInt64},
		{"weight 0 within nominal", 5, 5, "0", 5, 0},
		{"one of 1500 is rounded up", 0, 1500, "1", 1, 1},
		{"nothing to lend", 0, 0, "1", 7, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w cluster.Weight
			err := w.UnmarshalText([]byte(c.weight))
			require.NoError(t, err)
			q := queue("q", "co", limits{c.nominal, none, none})
			q.Weight = &w
			s := newState(t, &cluster.Snapshot{ClusterQueues: []cluster.ClusterQueue{q, queue("other", "co", limits{c.others, none, none})}})
			s.use("q", c.use)
			share := s.Share(s.ix.QueueByName("q"), quota.Exact)
			require.Equal(t, c.perMille, share.PerMille())
			require.Equal(t, c.use > c.nominal, share.Borrows())
			root := s.Share(s.ix.CohortByName("co"), quota.Exact)
			require.False(t, root.Borrows(), "a root borrows nothing")
		})
	}
}

func TestSharesCompare(t *testing.T) {
	share := func(weight string, borrowed int64, precision quota.Precision) quota.Share {
		var w cluster.Weight
		err := w.UnmarshalText([]byte(weight))
		require.NoError(t, err)
		q := queue("q", "co", limits{0, none, none})
		q.Weight = &w
		s := newState(t, &cluster.Snapshot{ClusterQueues: []cluster.ClusterQueue{q, queue("other", "co", limits{1000, none, none})}})
		s.use("q", borrowed)
		return s.Share(s.ix.QueueByName("q"), precision)
	}
	for _, c := range []struct {
		name             string
		weightA, weightB string
		a, b             int64
		want             int
	}{
		{"same weight", "1", "1", 5, 6, -1},
		{"equal by weight", "1", "2", 5, 10, 0},
		{"fractional weights", "0.333", "0.666", 3, 6, 0},
		{"a borrower of weight 0 is above everybody", "0", "0.001", 1, 900, 1},
		{"two of them go by what they borrow", "0", "0", 3, 2, 1},
		{"weight 0 that borrows nothing is not", "0", "1", 0, 1, -1},
		{"beyond 64 bits", "1", "2", 1 << 50, 1 << 52, -1},
		{"a hair's breadth", "3.000000001", "3", 9, 9, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, p := range []quota.Precision{quota.Exact, quota.KueueFloat} {
				a, b := share(c.weightA, c.a, p), share(c.weightB, c.b, p)
				require.Equal(t, c.want, a.Compare(&b))
				require.Equal(t, -c.want, b.Compare(&a))
			}
		})
	}
}

// One third of 0.3 and one tenth: equal as fractions, not as floats.
func TestExactSharesKnowNoRounding(t *testing.T) {
	weights := map[string]string{"a": "0.3", "b": "0.1"}
	compare := func(p quota.Precision) int {
		var queues []cluster.ClusterQueue
		for _, name := range []string{"a", "b"} {
			var w cluster.Weight
			err := w.UnmarshalText([]byte(weights[name]))
			require.NoError(t, err)
			q := queue(name, "co", limits{0, none, none})
			q.Weight = &w
			queues = append(queues, q)
		}
		s := newState(t, &cluster.Snapshot{ClusterQueues: append(queues, queue("other", "co", limits{7, none, none}))})
		s.use("a", 3)
		s.use("b", 1)
		a, b := s.Share(s.ix.QueueByName("a"), p), s.Share(s.ix.QueueByName("b"), p)
		return a.Compare(&b)
	}
	require.Equal(t, 0, compare(quota.Exact))
	require.NotEqual(t, 0, compare(quota.KueueFloat))
}
