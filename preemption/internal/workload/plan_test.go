package workload_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/genopts"
	"github.com/preempt-go/preempt/internal/naivequota"
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
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
	require.False(t, plan(t, m, "next").Fits)
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

// TestALiveModelWarnsAsItDid: of objects and of workloads, of these as long as they are there.
func TestALiveModelWarnsAsItDid(t *testing.T) {
	odd := job("odd", "research", 1, 1)
	odd.PodSets[0].Flavors["gpu"] = "unknown"
	s := eight(odd, job("lost", "gone", 1, 1), job("many", "research", 1, 9))
	s.Cohorts = []cluster.Cohort{{Name: "round", Parent: "round"}}
	m, err := workload.New(s.QuotaObjects(), workload.Rules{})
	require.NoError(t, err)
	about := func(m *workload.Model) (names []string) {
		for _, w := range m.Warnings() {
			names = append(names, w.Name)
		}
		return names
	}
	before := m.Warnings()
	require.ElementsMatch(t, []string{"round", "lost", "odd", "research"}, about(m))
	m.Open(s)
	require.Equal(t, before, m.Warnings())
	require.True(t, m.Remove("", "odd"))
	require.ElementsMatch(t, []string{"round", "lost", "research"}, about(m))
	require.True(t, m.Remove("", "many"))
	require.ElementsMatch(t, []string{"round", "lost"}, about(m))
	require.True(t, m.Remove("", "lost"))
	require.Equal(t, []string{"round"}, about(m))
	require.NoError(t, m.Set(&odd))
	require.ElementsMatch(t, []string{"round", "odd"}, about(m))
	r, err := m.Rebuilt(s, m.Index.Now(), func(*workload.Objects) error { return nil })
	require.NoError(t, err)
	require.Equal(t, m.Warnings(), r.Warnings())
}

// TestAllTogetherUseWhatCanBeCounted: whoever comes, goes, is replaced, or holds quota since
// another time.
func TestAllTogetherUseWhatCanBeCounted(t *testing.T) {
	holds := func(name string, amount int64) *cluster.Workload {
		w := job(name, "research", 1, 1)
		w.PodSets[0].Usage = cluster.Resources{"gpu": amount}
		return &w
	}
	const most = cluster.MaxUsage
	m := model(t, eight(*holds("first", most-10)))
	exactly := func(n int64) {
		t.Helper()
		require.ErrorContains(t, m.Set(holds("probe", n+1)), "so little that all workloads together use at most 2^62-1")
		require.NoError(t, m.Set(holds("probe", n)))
		require.True(t, m.Remove("", "probe"))
	}
	exactly(10)
	require.NoError(t, m.Set(holds("second", 4)))
	exactly(6)
	require.Error(t, m.Set(holds("second", 11)))
	exactly(6)
	require.NoError(t, m.Set(holds("second", 10)), "in place of the four")
	exactly(0)
	m.SetTime(cluster.Nanos(time.Unix(1, 0)))
	m.SetTime(cluster.Nanos(time.Unix(2, 0)))
	exactly(0)
	require.EqualValues(t, 2e9, m.Held("", "second").Reserved)
	require.NoError(t, m.Evict("", "second", true))
	exactly(10)
	require.True(t, m.Remove("", "first"))
	require.NoError(t, m.Set(holds("third", 1)))
	exactly(most - 1)
	require.False(t, m.Idle(), "second is pending")
}

// TestWhoDoesNotSaySinceWhenHoldsSinceNow: and is the first to go among equals, with the clock.
func TestWhoDoesNotSaySinceWhenHoldsSinceNow(t *testing.T) {
	dated := job("dated", "research", 1, 4)
	dated.Admission.Reserved = time.Unix(10, 0).UTC()
	s := eight(dated, job("undated", "research", 1, 4), job("in", "", 9, 4))
	s.Time = time.Unix(5, 0).UTC()
	m := model(t, s)
	gone := func() string {
		t.Helper()
		p := plan(t, m, "in")
		require.Len(t, p.Victims, 1)
		return p.Victims[0].Workload.Name
	}
	require.Equal(t, "dated", gone(), "it holds its quota for the shorter time")
	m.SetTime(cluster.Nanos(time.Unix(20, 0)))
	require.Equal(t, "undated", gone())
	m.SetTime(cluster.Nanos(time.Unix(7, 0)))
	require.Equal(t, "dated", gone())
	require.EqualValues(t, 10e9, m.Held("", "dated").Reserved)
}

// TestAdmittedPodsHoldWhatTheAnswerSays: as many as it counts, in its flavors, and what was kept for
// them is free.
func TestAdmittedPodsHoldWhatTheAnswerSays(t *testing.T) {
	in, least := job("in", "", 1, 7), int32(2)
	in.PodSets[0].MinCount = &least
	m := model(t, eight(in, job("old", "research", 1, 5)))
	m.Hold(&cluster.QuotaHold{Name: "in", ClusterQueue: "research", Amounts: gpusHeld(3)})
	require.NoError(t, m.Admit(m.Workload("", "in"), "research", gpus(3), []int32{3}))
	set := m.Workload("", "in").PodSets[0]
	require.EqualValues(t, 3, set.Count)
	require.Nil(t, set.MinCount)
	require.Equal(t, map[string]string{"gpu": "a100"}, set.Flavors)
	require.Equal(t, cluster.Resources{"gpu": 3}, set.Usage)
	require.False(t, m.Release("", "in"))
	require.EqualValues(t, 3, m.Held("", "in").Usage[0].Amount)

	require.NoError(t, m.Evict("", "in", false))
	require.True(t, m.Held("", "in").Evicted)
	require.NoError(t, m.Evict("", "in", true))
	require.Nil(t, m.Held("", "in"))
	require.False(t, m.Workload("", "in").Evicted)
	require.NoError(t, m.Evict("", "in", true), "it has left")
	require.NoError(t, m.Evict("", "unknown", true))
}

// pools is eight with a second flavor: the nodes of a100 are of pool old, those of h100 of pool new.
func pools(jobs ...cluster.Workload) *cluster.Snapshot {
	s := eight(jobs...)
	s.ResourceFlavors[0].NodeLabels = map[string]string{"pool": "old"}
	s.ResourceFlavors = append(s.ResourceFlavors, cluster.ResourceFlavor{Name: "h100", NodeLabels: map[string]string{"pool": "new"}})
	flavors := &s.ClusterQueues[0].Groups[0].Flavors
	*flavors = append(*flavors, cluster.FlavorQuotas{Flavor: "h100", Resources: []cluster.ResourceQuota{{Resource: "gpu", Nominal: 8}}})
	return s
}

// TestFlavorsThatSuit: of the labels that nodes must have those count that some flavor names on
// its nodes, and a taint that is not tolerated keeps out.
func TestFlavorsThatSuit(t *testing.T) {
	in := func(key, value string) cluster.NodeRequirement {
		return cluster.NodeRequirement{Key: key, Operator: cluster.NodeIn, Values: []string{value}}
	}
	affinity := func(terms ...[]cluster.NodeRequirement) func(*cluster.PodSet) {
		a := &cluster.NodeAffinity{}
		for _, list := range terms {
			a.Terms = append(a.Terms, cluster.NodeTerm{Labels: list})
		}
		return func(set *cluster.PodSet) { set.NodeAffinity = a }
	}
	type terms = []cluster.NodeRequirement
	unmatched := []workload.ObjectionKind{workload.Unmatched}
	for name, x := range map[string]struct {
		set    func(*cluster.PodSet)
		flavor string // "": none
		why    []workload.ObjectionKind
	}{
		"nothing is said":                 {func(*cluster.PodSet) {}, "a100", nil},
		"the first":                       {affinity(terms{in("pool", "old")}), "a100", nil},
		"the second":                      {affinity(terms{in("pool", "new")}), "h100", unmatched},
		"neither":                         {affinity(terms{in("pool", "other")}), "", []workload.ObjectionKind{workload.Unmatched, workload.Unmatched}},
		"what no flavor names":            {affinity(terms{in("disk", "ssd")}), "a100", nil},
		"beside what no flavor names":     {affinity(terms{in("disk", "ssd"), in("pool", "new")}), "h100", unmatched},
		"or what no flavor names":         {affinity(terms{in("pool", "new")}, terms{in("disk", "ssd")}), "a100", nil},
		"both, by two terms":              {affinity(terms{in("pool", "new")}, terms{in("pool", "old")}), "a100", nil},
		"both at once":                    {affinity(terms{in("pool", "new"), in("pool", "old")}), "", []workload.ObjectionKind{workload.Unmatched, workload.Unmatched}},
		"no terms":                        {affinity(), "a100", nil},
		"a selector":                      {func(set *cluster.PodSet) { set.NodeSelector = map[string]string{"pool": "new"} }, "h100", unmatched},
		"a selector of another label":     {func(set *cluster.PodSet) { set.NodeSelector = map[string]string{"disk": "ssd"} }, "a100", nil},
		"a label of the flavor with none": {func(set *cluster.PodSet) { set.NodeSelector = map[string]string{"pool": ""} }, "", []workload.ObjectionKind{workload.Unmatched, workload.Unmatched}},
	} {
		t.Run(name, func(t *testing.T) {
			w := job("in", "", 1, 4)
			x.set(&w.PodSets[0])
			p := plan(t, model(t, pools(w)), "in")
			var why []workload.ObjectionKind
			for _, o := range p.Objections {
				why = append(why, o.Kind)
			}
			require.Equal(t, x.why, why)
			require.Equal(t, x.flavor != "", p.Fits)
			if x.flavor != "" {
				require.Len(t, p.Taken, 1)
				require.Equal(t, model(t, pools()).Index.Column(x.flavor, "gpu"), p.Taken[0].Column)
			}
		})
	}
}

func TestTaintsOfFlavors(t *testing.T) {
	gpu := cluster.Taint{Key: "gpu", Effect: cluster.NoSchedule}
	tolerates := []cluster.Toleration{{Key: "gpu", Operator: cluster.TolerationExists}}
	for name, x := range map[string]struct {
		change func(s *cluster.Snapshot)
		want   []workload.Objection
	}{
		"a taint": {func(s *cluster.Snapshot) {}, []workload.Objection{{Kind: workload.Tainted, Taint: &gpu}}},
		"that the pods tolerate": {
			func(s *cluster.Snapshot) { s.Workloads[0].PodSets[0].Tolerations = tolerates }, nil,
		},
		"that pods of the flavor tolerate": {
			func(s *cluster.Snapshot) { s.ResourceFlavors[0].Tolerations = tolerates }, nil,
		},
		"that the first of two sets with the same flavors tolerates": {
			func(s *cluster.Snapshot) {
				sets := &s.Workloads[0].PodSets
				(*sets)[0].Group = "g"
				*sets = append(*sets, (*sets)[0])
				(*sets)[0].Tolerations, (*sets)[1].Name = tolerates, "other"
			}, []workload.Objection{{Kind: workload.Tainted, Taint: &gpu}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := eight(job("in", "", 1, 2))
			s.ResourceFlavors[0].NodeTaints = []cluster.Taint{gpu}
			x.change(s)
			p := plan(t, model(t, s), "in")
			require.Equal(t, x.want, p.Objections)
			require.Equal(t, x.want == nil, p.Fits)
		})
	}
}

func TestOffers(t *testing.T) {
	s := eight()
	s.ResourceFlavors = append(s.ResourceFlavors, cluster.ResourceFlavor{Name: "h100", NodeLabels: map[string]string{"gpu": "h100"}})
	flavors := &s.ClusterQueues[0].Groups[0].Flavors
	*flavors = append(*flavors, cluster.FlavorQuotas{Flavor: "h100", Resources: []cluster.ResourceQuota{{Resource: "gpu", Nominal: 2}}})
	m := model(t, s)
	q := m.Index.QueueByName("research")

	offers, objections := m.Offers(q, map[string]int64{"gpu": 2, cluster.Pods: 1})
	require.Len(t, offers, 2)
	require.Empty(t, objections)
	require.True(t, m.Suits(&cluster.Node{}, &offers[0]))
	require.False(t, m.Suits(&cluster.Node{}, &offers[1]))
	require.True(t, m.Suits(&cluster.Node{Labels: map[string]string{"gpu": "h100"}}, &offers[1]))

	offers, objections = m.Offers(q, map[string]int64{"gpu": 3})
	require.Len(t, offers, 1)
	require.Equal(t, []workload.Objection{{Kind: workload.TooMuch, Column: m.Index.Column("h100", "gpu"), Amount: 3, Most: 2}}, objections)

	offers, objections = m.Offers(q, map[string]int64{"gpu": 1, "tpu": 1})
	require.Empty(t, offers)
	require.Equal(t, []workload.Objection{{Kind: workload.NoQuota, Resource: "tpu"}}, objections)
}

// TestOffersOfTwoGroups: each flavor of the one with each of the other, in order of the columns
// whatever that of the groups; what is not asked for at all is in none.
func TestOffersOfTwoGroups(t *testing.T) {
	s := eight()
	s.ResourceFlavors = append(s.ResourceFlavors, cluster.ResourceFlavor{Name: "large"}, cluster.ResourceFlavor{Name: "small"})
	gpu := s.ClusterQueues[0].Groups[0]
	mem := cluster.ResourceGroup{}
	for _, f := range []string{"small", "large"} {
		mem.Flavors = append(mem.Flavors, cluster.FlavorQuotas{Flavor: f, Resources: []cluster.ResourceQuota{{Resource: "cpu", Nominal: 4}, {Resource: "mem", Nominal: 4}}})
	}
	s.ClusterQueues[0].Groups = []cluster.ResourceGroup{mem, gpu}
	m := model(t, s)
	q := m.Index.QueueByName("research")
	offers, objections := m.Offers(q, map[string]int64{"gpu": 1, "mem": 2, "cpu": 0, "disk": 0})
	require.Empty(t, objections)
	require.Len(t, offers, 2)
	for i, f := range []string{"small", "large"} {
		columns := []quota.ColumnID{m.Index.Column(f, "cpu"), m.Index.Column(f, "mem"), m.Index.Column("a100", "gpu")}
		require.Equal(t, []workload.Taken{
			{Resource: "cpu", Column: columns[0]}, {Resource: "mem", Column: columns[1], Amount: 2}, {Resource: "gpu", Column: columns[2], Amount: 1},
		}, offers[i].Taken)
		amounts := map[quota.ColumnID]int64{columns[1]: 2, columns[2]: 1}
		slices.Sort(columns)
		require.Equal(t, columns, offers[i].Columns)
		var request []quota.ColumnAmount
		for _, c := range columns {
			if amounts[c] > 0 {
				request = append(request, quota.ColumnAmount{Column: c, Amount: amounts[c]})
			}
		}
		require.Equal(t, request, offers[i].Request)
	}
	offers, _ = m.Offers(q, map[string]int64{"gpu": 1})
	require.Len(t, offers, 1)
}

func TestLeaving(t *testing.T) {
	s := eight(job("low", "research", 1, 4), job("equal", "research", 5, 2), job("going", "research", 1, 2), job("other", "", 9, 2), job("in", "", 6, 4))
	s.Workloads[4].Boost = -1
	m := model(t, s)
	m.Hold(&cluster.QuotaHold{Name: "other", ClusterQueue: "research", Amounts: gpusHeld(2), Workloads: []cluster.PodKey{{Name: "going"}}})
	require.NoError(t, m.Evict("", "going", false))
	w, q := m.Workload("", "in"), m.Index.QueueByName("research")
	search := m.Search(w, q)
	defer m.Keep(search)
	request, contested := search.Request(q, gpus(4))
	require.False(t, search.Usage.Fits(q, request, true))
	l := search.Leaving(w, q, contested)
	require.Equal(t, workload.Spared, l.Add(m.Held("", "equal")))
	require.Equal(t, workload.Going, l.Add(m.Held("", "going")))
	require.Equal(t, workload.Leaves, l.Add(m.Held("", "low")))
	require.Equal(t, workload.Twice, l.Add(m.Held("", "low")))
	require.Nil(t, l.Settle())
	require.True(t, search.Usage.Fits(q, request, true))
}

// TestWhoStaysEntitledInTheEnd: of those who leave for another queue all may go as long as theirs borrows: of what
// is contested or, with shares, of anything.
func TestWhoStaysEntitledInTheEnd(t *testing.T) {
	for name, x := range map[string]struct {
		fair  bool
		mem   int64 // that the lender uses beyond its own
		first string
	}{
		"no more than it borrows": {false, 0, ""}, "more": {false, 0, "a"}, "of something else": {false, 1, "a"}, "with shares": {true, 1, ""}, "with shares, more": {true, 0, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			s := eight(job("a", "lender", 1, 2), job("b", "lender", 1, 2), job("in", "", 5, 4))
			queue := &s.ClusterQueues[0]
			queue.Cohort, queue.Preemption.ReclaimWithinCohort = "all", cluster.AnyPriority
			flavor := &queue.Groups[0].Flavors[0]
			flavor.Resources = append(flavor.Resources, cluster.ResourceQuota{Resource: "mem", Nominal: 4})
			lender := *queue
			nominal := int64(1)
			if x.first != "" || x.fair {
				nominal = 3 // who goes second is entitled
			}
			lender.Name, lender.Groups = "lender", []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
				Flavor: "a100", Resources: []cluster.ResourceQuota{{Resource: "gpu", Nominal: nominal}, {Resource: "mem"}},
			}}}}
			s.ClusterQueues = append(s.ClusterQueues, lender)
			if x.mem > 0 {
				w := job("uses", "lender", 9, 1)
				w.PodSets[0].Requests, w.PodSets[0].Flavors = cluster.Resources{"mem": x.mem}, map[string]string{"mem": "a100"}
				s.Workloads = append(s.Workloads, w)
			}
			m, err := workload.New(s.QuotaObjects(), workload.Rules{Fair: x.fair})
			require.NoError(t, err)
			w, q := m.Workload("", "in"), m.Index.QueueByName("research")
			search := m.Search(w, q)
			defer m.Keep(search)
			l := search.Leaving(w, q, []quota.ColumnID{m.Index.Column("a100", "gpu")})
			require.Equal(t, workload.Leaves, l.Add(m.Held("", "a")))
			require.Equal(t, workload.Leaves, l.Add(m.Held("", "b")))
			got := ""
			if r := l.Settle(); r != nil {
				got = r.Workload.Name
			}
			require.Equal(t, x.first, got)
		})
	}
}

// TestPlansAreTheTwins: in random trees. With the victims gone there is what the plan takes, and
// with any of them back there is not, of what it says.
func TestPlansAreTheTwins(t *testing.T) {
	victims := 0
	for seed := range uint64(2000) {
		question, o := genopts.RandomQuota(seed)
		s, rules := &question.Snapshot, workload.Rules{Precision: quota.Exact}
		if o.Quota.FairSharing != nil {
			rules.Fair, rules.Strategies = true, quotasearch.Strategies(o.Quota.FairSharing.Strategies)
		}
		m, err := workload.New(s.QuotaObjects(), rules)
		require.NoError(t, err)
		w, err := m.Find(cluster.Preemptor{Kind: cluster.KindWorkload, Namespace: "ns", Name: "in"})
		require.NoError(t, err)
		q, refused, err := m.QueueOf(w)
		require.NoError(t, err)
		if refused != workload.NotRefused {
			continue
		}
		options := naivequota.Options{Fair: rules.Fair}
		for _, strategy := range rules.Strategies {
			options.Strategies = append(options.Strategies, map[quotasearch.Strategy]string{
				quotasearch.LessThanOrEqualToFinalShare: "a", quotasearch.LessThanInitialShare: "b",
			}[strategy])
		}
		p := m.Plan(w, q, workload.Objective{}, seed%2 == 0)
		got := naivequota.Answer{Status: "unschedulable", Flavors: map[string]string{}, Victims: map[string]string{}}
		if p.Helps() {
			got.Status, got.Borrowing, got.Counts = "fits", p.Level, p.Counts
			for _, taken := range p.Taken {
				got.Flavors[w.PodSets[taken.Set].Name+"/"+taken.Resource] = m.Index.FlavorName(m.Index.FlavorOf(taken.Column))
			}
		}
		if len(p.Steps) > 0 {
			require.True(t, seed%2 == 0 && p.Possible && !p.Fits)
		} else {
			require.True(t, seed%2 == 1 || len(p.Victims) == 0)
		}
		choices := choicesOf(m, w, p)
		search := m.Search(w, q)
		request, contested := search.Request(q, choices)
		l := search.Leaving(w, q, contested)
		for _, v := range p.Victims {
			require.Equal(t, workload.Leaves, l.Add(v.Reservation))
		}
		let := l.Let(request, func() []quotasearch.Victim { return nil })
		require.True(t, let, "seed %d", seed)
		for _, v := range p.Victims {
			got.Status, got.Victims["ns/"+v.Workload.Name] = "preempt", string(v.Reason)
			search.Usage.Remove(v.Queue, v.Usage)
			victims++
		}
		if diff := cmp.Diff(naivequota.Ask(s, "ns", "in", options), got); diff != "" {
			t.Fatalf("seed %d: (-twin +plan)\n%s", seed, diff)
		}
		require.Equal(t, p.Helps() || len(choices) == 0, search.Usage.Fits(q, request, true))
		for _, v := range p.Victims {
			search.Usage.Add(v.Queue, v.Usage)
			require.Equal(t, v.Lack, search.Lack(q, request))
			search.Usage.Remove(v.Queue, v.Usage)
		}
		m.Keep(search)
		if p.Helps() {
			require.Equal(t, workload.Misfit{}, m.Review(w, q, choices, p.Counts))
		}
	}
	require.Greater(t, victims, 400)
}

// choicesOf is what plan p of workload w takes, by name.
func choicesOf(m *workload.Model, w *cluster.Workload, p *workload.Plan) (list []workload.Choice) {
	for _, t := range p.Taken {
		list = append(list, workload.Choice{
			Set: w.PodSets[t.Set].Name, Resource: t.Resource, Flavor: m.Index.FlavorName(m.Index.FlavorOf(t.Column)), Amount: t.Amount,
		})
	}
	return list
}

// TestHeadsGoInTheTwinsOrder: in random trees, with and without shares, where each head keeps
// what it takes from those after it.
func TestHeadsGoInTheTwinsOrder(t *testing.T) {
	for seed := range uint64(400) {
		q, o := genopts.RandomQuota(seed)
		s, r := &q.Snapshot, rand.New(rand.NewPCG(seed, 4))
		in := s.Workloads[len(s.Workloads)-1]
		s.Workloads = s.Workloads[:len(s.Workloads)-1]
		running := len(s.Workloads)
		var asked []cluster.Preemptor
		for i := range 2 + r.IntN(5) {
			w := in
			w.Name, w.Queue = fmt.Sprint("in", i), s.LocalQueues[r.IntN(len(s.LocalQueues))].Name
			w.Priority, w.Boost = int32(r.IntN(3)), int32(r.IntN(2))
			w.Created = time.Unix(int64(r.IntN(2)), 0).UTC()
			if r.IntN(3) == 0 {
				w.Requeued = time.Unix(int64(r.IntN(2)), 0).UTC()
			}
			s.Workloads = append(s.Workloads, w)
			asked = append(asked, cluster.Preemptor{Kind: cluster.KindWorkload, Namespace: w.Namespace, Name: w.Name})
		}
		rules := workload.Rules{Fair: o.Quota.FairSharing != nil, Precision: quota.Exact}
		m, err := workload.New(s.QuotaObjects(), rules)
		require.NoError(t, err)
		var jobs []*cluster.Workload
		for i := range s.Workloads[running:] {
			jobs = append(jobs, &s.Workloads[running+i])
		}
		world := naivequota.NewWorld(s)
		want := world.LineUp(jobs, naivequota.Options{Fair: rules.Fair})
		line, err := m.LineUp(asked)
		require.NoError(t, err)
		for len(want) > 0 {
			next := want[0]
			if rules.Fair {
				next = world.Next(want)
			}
			at := m.Next(line)
			require.Equal(t, next.W.Name, line[at].Preemptor.Name, "seed %d, of %d", seed, len(line))
			line = slices.Delete(line, at, at+1)
			want = slices.DeleteFunc(want, func(h *naivequota.Head) bool { return h == next })
			if next.Queue == nil {
				continue
			}
			world.In[&naivequota.Admitted{W: next.W, Queue: next.Queue, Usage: next.Request}] = true
			hold := &cluster.QuotaHold{Namespace: next.W.Namespace, Name: next.W.Name, ClusterQueue: next.Queue.Name}
			for fr, v := range next.Request {
				hold.Amounts = append(hold.Amounts, cluster.HeldAmount{Flavor: fr.Flavor, Resource: fr.Resource, Amount: v})
			}
			m.Hold(hold)
		}
		require.Empty(t, line)
	}
}

// TestHeadsThatCannotBe: complaints come in one order, whatever that of the heads.
func TestHeadsThatCannotBe(t *testing.T) {
	in := cluster.Preemptor{Kind: cluster.KindWorkload, Name: "in"}
	unknown, pod := cluster.Preemptor{Kind: cluster.KindWorkload, Name: "unknown"}, cluster.Preemptor{Kind: cluster.KindPod, Name: "pod"}
	m := model(t, eight(job("in", "", 9, 4)))
	_, err := m.LineUp([]cluster.Preemptor{in, unknown, in, pod})
	require.ErrorContains(t, err, "a head once only")
	require.ErrorContains(t, err, "a workload of the snapshot")
	_, again := m.LineUp([]cluster.Preemptor{pod, in, in, unknown})
	require.EqualError(t, again, err.Error())
}

// TestTreesGoByName: with shares, a queue of its own before a cohort of its name.
func TestTreesGoByName(t *testing.T) {
	s := eight(job("alone", "", 1, 1), job("inside", "", 9, 1))
	other := s.ClusterQueues[0]
	other.Name, other.Cohort = "alpha", "research"
	s.ClusterQueues = append(s.ClusterQueues, other)
	s.LocalQueues = append(s.LocalQueues, cluster.LocalQueue{Name: "theirs", ClusterQueue: "alpha"})
	s.Workloads[1].Queue = "theirs"
	m, err := workload.New(s.QuotaObjects(), workload.Rules{Fair: true})
	require.NoError(t, err)
	line, err := m.LineUp([]cluster.Preemptor{{Kind: cluster.KindWorkload, Name: "alone"}, {Kind: cluster.KindWorkload, Name: "inside"}})
	require.NoError(t, err)
	require.Equal(t, "alone", line[m.Next(line)].Preemptor.Name)
}

// job is a workload of count pods, which ask for a GPU each; of queue, if it holds quota.
func job(name, queue string, priority, count int32) cluster.Workload {
	w := cluster.Workload{
		Name: name, Queue: "team", Priority: priority,
		PodSets: []cluster.PodSet{{Name: "main", Count: count, Requests: cluster.Resources{"gpu": 1}}},
	}
	if queue != "" {
		w.Admission = &cluster.Admission{ClusterQueue: queue}
		w.PodSets[0].Flavors = map[string]string{"gpu": "a100"}
	}
	return w
}

// eight is a queue with quota of eight GPUs, whose workloads give way to more important ones.
func eight(jobs ...cluster.Workload) *cluster.Snapshot {
	return &cluster.Snapshot{
		ResourceFlavors: []cluster.ResourceFlavor{{Name: "a100"}},
		ClusterQueues: []cluster.ClusterQueue{{
			Name: "research", Preemption: cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority},
			Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
				Flavor: "a100", Resources: []cluster.ResourceQuota{{Resource: "gpu", Nominal: 8}},
			}}}},
		}},
		LocalQueues: []cluster.LocalQueue{{Name: "team", ClusterQueue: "research"}},
		Workloads:   jobs,
	}
}

// Five more GPUs than are left: who is evicted, and what would be lacking without.
func Example() {
	s := eight(job("big", "research", 1, 4), job("small", "research", 2, 3), job("in", "", 9, 5))
	m, err := workload.New(s.QuotaObjects(), workload.Rules{})
	if err != nil {
		panic(err)
	}
	w, err := m.Find(cluster.Preemptor{Kind: cluster.KindWorkload, Name: "in"})
	if err != nil {
		panic(err)
	}
	q, _, err := m.QueueOf(w)
	if err != nil {
		panic(err)
	}
	plan := m.Plan(w, q, workload.Objective{}, false)
	for _, t := range plan.Taken {
		fmt.Println(t.Amount, t.Resource, "of", m.Index.FlavorName(m.Index.FlavorOf(t.Column)))
	}
	for _, v := range plan.Victims {
		fmt.Printf("%s goes (%s), or %d are missing\n", v.Workload.Name, v.Reason, v.Lack.Missing)
	}
	// Output:
	// 5 gpu of a100
	// big goes (InClusterQueue), or 4 are missing
}
