package workload_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/genopts"
	"github.com/preempt-go/preempt/internal/naivequota"
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/workload"
	"github.com/preempt-go/preempt/victims"
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
	require.Len(t, plan(t, m, "in").Victims, 1, "its own")
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
		tournament := m.Tournament(line)
		for len(want) > 0 {
			next := want[0]
			if rules.Fair {
				next = world.Next(want)
			}
			require.Equal(t, next.W.Name, tournament.Next(m).Preemptor.Name, "seed %d, %d left", seed, len(want))
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
			if i := r.IntN(2 * running); i < running { // somebody else has left meanwhile
				gone := &s.Workloads[i]
				m.Open(s)
				m.Remove(gone.Namespace, gone.Name)
				maps.DeleteFunc(world.In, func(a *naivequota.Admitted, _ bool) bool { return a.W == gone })
			}
		}
		require.Nil(t, tournament.Next(m))
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
	require.Equal(t, "alone", m.Tournament(line).Next(m).Preemptor.Name)
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

// TestRebuiltIsAsIfMadeOfThese: a model that is compiled anew with other objects answers at its time, with
// what is held, and follows changes like the one it was made of, which stays as it is.
func TestRebuiltIsAsIfMadeOfThese(t *testing.T) {
	s := eight(job("old", "research", 1, 3), job("in", "", 9, 4), job("held", "", 9, 2))
	s.ClusterQueues[0].Preemption.WaitSeconds = 100
	s.Workloads[1].Created = time.Unix(50, 0).UTC()
	s.Time = time.Unix(60, 0).UTC()
	s.QuotaHolds = []cluster.QuotaHold{{Name: "held", ClusterQueue: "research", Amounts: gpusHeld(2)}}
	m, err := workload.New(s.QuotaObjects(), workload.Rules{})
	require.NoError(t, err)
	r, err := m.Rebuilt(s, cluster.Nanos(time.Unix(90, 0)), func(o *workload.Objects) error {
		q := s.ClusterQueues[0]
		q.Groups = []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
			Flavor: "a100", Resources: []cluster.ResourceQuota{{Resource: "gpu", Nominal: 9}},
		}}}}
		o.Queues.ReplaceOrInsert(&q)
		return nil
	})
	require.NoError(t, err)
	q := r.Index.QueueByName("research")
	for _, x := range []struct {
		m        *workload.Model
		waits    int64
		reserved int64
		left     int64 // of 8 or 9 GPUs beside 3 that are used and 2 that are held
	}{{m, 90, 60, 3}, {r, 60, 90, 4}} {
		require.Equal(t, x.waits, x.m.Waits(x.m.Workload("", "in"), q))
		require.Equal(t, x.reserved*1e9, x.m.Held("", "old").Reserved)
		require.Equal(t, x.left == 4, plan(t, x.m, "in").Fits)
		search := x.m.Search(x.m.Workload("", "in"), q)
		require.Equal(t, x.left, search.Usage.Available(q, 0))
	}
	require.EqualValues(t, 90e9, r.Index.Now())
	r.Open(s)
	require.NoError(t, r.Evict("", "old", true))
	require.True(t, r.Remove("", "held"))
	require.False(t, r.Release("", "held"), "it left with what was held for it")
	require.NoError(t, r.Admit(r.Workload("", "in"), "research", gpus(4), nil))
	require.EqualValues(t, 90e9, r.Held("", "in").Reserved)
	require.NotNil(t, m.Held("", "old"))
}

// TestWaiting: a workload waits from its creation on, as the clock of the model says, for whole seconds.
func TestWaiting(t *testing.T) {
	at := func(seconds float64) time.Time { return time.Unix(0, int64(seconds*1e9)).UTC() }
	for name, x := range map[string]struct {
		wait    int64
		created time.Time
		now     time.Time
		want    int64
	}{
		"no wait":              {0, at(10), at(10), 0},
		"all of it":            {5, at(10), at(10), 5},
		"some of it":           {5, at(10), at(12), 3},
		"a part of a second":   {5, at(10), at(14.5), 1},
		"to the end":           {5, at(10), at(15), 0},
		"longer":               {5, at(10), at(99), 0},
		"since nobody knows":   {5, time.Time{}, at(10), 0},
		"until nobody knows":   {5, at(10), time.Time{}, 0},
		"from the future":      {5, at(10), at(9), 6},
		"one second, all left": {1, at(10), at(10), 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := eight(job("low", "research", 1, 8), job("in", "", 9, 4))
			s.ClusterQueues[0].Preemption.WaitSeconds = x.wait
			s.Workloads[1].Created, s.Time = x.created, x.now
			m := model(t, s)
			require.Equal(t, x.want, m.Waits(m.Workload("", "in"), 0))
			p := plan(t, m, "in")
			require.Equal(t, x.want == 0, p.Helps())
			require.Equal(t, x.want, p.Waits)
			require.Equal(t, x.want == 0, len(p.Steps) > 0)
			if x.want > 0 {
				require.Nil(t, m.Plan(m.Workload("", "in"), 0, workload.Objective{Effort: ask.Exact}, true).Least)
			}
		})
	}
}

// TestWorkloadsComeAndGo: who is set may be evicted, who is dropped is not, and a queue that uses more
// than there is is warned of as long as it does.
func TestWorkloadsComeAndGo(t *testing.T) {
	m := model(t, eight(job("in", "", 9, 4)))
	came := job("came", "research", 1, 6)
	require.NoError(t, m.Set(&came))
	require.Len(t, plan(t, m, "in").Victims, 1)
	require.Empty(t, m.Warnings())
	again := job("again", "research", 2, 3)
	require.NoError(t, m.Set(&again))
	require.Equal(t, []cluster.Warning{{
		Kind: cluster.KindClusterQueue, Name: "research", Field: "usage", Value: "gpu in flavor a100",
		Text: "more is used than there is: answered as it is",
	}}, m.Warnings())
	require.True(t, m.Remove("", "came"))
	require.Empty(t, m.Warnings())
	require.True(t, plan(t, m, "in").FitsNow)
	full := job("full", "research", 2, 5)
	require.NoError(t, m.Set(&full))
	require.Empty(t, m.Warnings(), "all that there is")
	p := plan(t, m, "in")
	require.Len(t, p.Victims, 1)
	require.Equal(t, "full", p.Victims[0].Workload.Name)
	require.Equal(t, workload.Lack{Missing: 4}, p.Victims[0].Lack)
}

// TestAdmittedAnew: what is admitted does not leave any more, and the workload that was given stays as it is.
func TestAdmittedAnew(t *testing.T) {
	in := job("in", "", 1, 4)
	in.Evicted = true
	s := eight(in)
	s.Time = time.Unix(7, 0).UTC()
	m := model(t, s)
	given := m.Workload("", "in")
	require.NoError(t, m.Admit(given, "research", gpus(4), nil))
	require.True(t, given.Evicted)
	require.Nil(t, given.PodSets[0].Flavors)
	require.False(t, m.Workload("", "in").Evicted)
	require.False(t, m.Held("", "in").Evicted)
	require.Equal(t, time.Unix(7, 0).UTC(), m.Workload("", "in").Admission.Reserved)
	require.NoError(t, m.Evict("", "in", true))
	m.SetTime(cluster.Nanos(time.Time{}))
	require.NoError(t, m.Admit(m.Workload("", "in"), "research", gpus(4), nil))
	require.Zero(t, m.Workload("", "in").Admission.Reserved)
}

// TestIdle: without queues, workloads and what is held for some.
func TestIdle(t *testing.T) {
	m := model(t, &cluster.Snapshot{})
	require.True(t, m.Idle())
	w := job("w", "", 1, 1)
	require.NoError(t, m.Set(&w))
	require.False(t, m.Idle())
	require.True(t, m.Remove("", "w"))
	require.True(t, m.Idle())
	m.Hold(&cluster.QuotaHold{Name: "w"})
	require.False(t, m.Idle())
	unopened, err := workload.New(cluster.QuotaObjects{}, workload.Rules{})
	require.NoError(t, err)
	require.True(t, unopened.Idle())
	require.False(t, model(t, eight()).Idle())
	m.Clone().Mu.Lock() // a clone is nobody's yet
	m.Mu.Lock()         // and does not keep that of which it is
}

// withPods is the model of s with its pods, and the compiled cluster.
func withPods(t *testing.T, s *cluster.Snapshot) (*workload.Model, *cluster.Index, error) {
	t.Helper()
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	var queued workload.Queued
	queued.Find(ix)
	require.True(t, queued.Any())
	base := model(t, s)
	m, err := queued.On(ix, base)
	if err != nil {
		return nil, nil, err
	}
	again, err := queued.On(ix, base)
	require.NoError(t, err)
	require.Same(t, m, again)
	base.Open(s)
	changed, err := queued.On(ix, base)
	require.NoError(t, err)
	require.NotSame(t, m, changed, "base may have changed since")
	return m, ix, nil
}

// TestPodsOfWholeGroups: the highest group that goes as a whole and whose pods name one queue is one workload; where they do not, what goes
// with others that hold something else goes in parts, which may not leave by themselves.
func TestPodsOfWholeGroups(t *testing.T) {
	for _, x := range []struct {
		name   string
		modes  string   // of the tree and of its two groups: A goes as a whole, - does not
		queues []string // of a0, a1, b0, b1
		want   string   // the groups, and those who are parts
		parts  string
	}{
		{"the tree is one", "A--", []string{"team", "team", "team", "team"}, "tree tree tree tree", ""},
		{"each group is one", "-AA", []string{"team", "team", "team", "team"}, "a a b b", ""},
		{"each pod is one", "---", []string{"team", "team", "team", "team"}, "a0 a1 b0 b1", ""},
		{"the highest of two", "AA-", []string{"team", "team", "team", "team"}, "tree tree tree tree", ""},
		{"two queues: parts", "AAA", []string{"team", "team", "else", "else"}, "a a b b", "a a b b"},
		{"one has no queue: parts, but for who holds nothing", "AA-", []string{"team", "team", "", "team"}, "a a - b1", "a a - b1"},
		{"one group is of two queues", "-A-", []string{"team", "else", "team", "team"}, "a0 a1 b0 b1", "a0 a1 - -"},
	} {
		t.Run(x.name, func(t *testing.T) {
			s, one, prio := pools(), int32(1), int32(3)
			s.LocalQueues = append(s.LocalQueues, cluster.LocalQueue{Name: "else", ClusterQueue: "research"})
			s.Nodes = []cluster.Node{{Name: "n1", Allocatable: cluster.Resources{"gpu": 8}}}
			mode := func(i int) disruption.Mode {
				return map[byte]disruption.Mode{'A': disruption.All, '-': disruption.Single}[x.modes[i]]
			}
			s.CompositePodGroups = []cluster.CompositePodGroup{{Name: "tree", Mode: mode(0), MinGroupCount: &one, Priority: &prio}}
			for i, group := range []string{"a", "b"} {
				s.PodGroups = append(s.PodGroups, cluster.PodGroup{Name: group, Parent: "tree", Mode: mode(1 + i), MinCount: &one, Priority: &prio})
				for k := range 2 {
					s.Pods = append(s.Pods, gpuPod(fmt.Sprint(group, k), "n1", group, x.queues[2*i+k], 3))
				}
			}
			m, ix, err := withPods(t, s)
			require.NoError(t, err)
			var got, parts []string
			for _, p := range s.Pods {
				name, part := "-", "-"
				if r := m.Pods.Holds[ix.PodByName("", p.Name)]; r != nil {
					if name = r.Workload.Name; m.Pods.Partial[r] {
						part = name
					}
				}
				got, parts = append(got, name), append(parts, part)
			}
			require.NotContains(t, m.Pods.Partial, (*quota.Reservation)(nil))
			require.Equal(t, x.want, strings.Join(got, " "))
			if x.parts == "" {
				x.parts = "- - - -"
			}
			require.Equal(t, x.parts, strings.Join(parts, " "))
		})
	}
}

// gpuPod is a pod of one GPU.
func gpuPod(name, node, group, queue string, prio int32) cluster.Pod {
	return cluster.Pod{
		Name: name, UID: "of-" + name, Node: node, Group: group, Queue: queue, Priority: &prio, Requests: cluster.Resources{"gpu": 1},
		Created: time.Unix(int64(prio), 0).UTC(), Started: time.Unix(10+int64(prio), 0).UTC(),
	}
}

// TestPodsHoldQuota: those of a group together and others each by itself, in the first flavor
// whose labels their node has.
func TestPodsHoldQuota(t *testing.T) {
	s, prio := pools(), int32(7)
	room := cluster.Resources{"gpu": 8}
	s.Nodes = []cluster.Node{
		{Name: "n1", Allocatable: room, Labels: map[string]string{"pool": "old"}},
		{Name: "n2", Allocatable: room, Labels: map[string]string{"pool": "new"}},
		{Name: "n3", Allocatable: room},
	}
	s.PodGroups = []cluster.PodGroup{
		{Name: "team", UID: "of-team", Queue: "team", Priority: &prio, Basic: true},
		{Name: "free", Priority: &prio, Basic: true},
	}
	s.Pods = []cluster.Pod{
		gpuPod("a", "n2", "", "team", 5),
		gpuPod("b", "n1", "team", "", 3), gpuPod("c", "n2", "team", "", 2), gpuPod("d", "n2", "team", "", 4),
		gpuPod("e", "", "team", "", 1),
		gpuPod("f", "n1", "free", "team", 1), gpuPod("g", "n2", "free", "team", 1),
		gpuPod("h", "n3", "", "team", 1),
		gpuPod("i", "n1", "", "", 1),
		gpuPod("j", "n1", "", "unknown", 1), gpuPod("k", "n1", "", "unknown", 1),
		gpuPod("l", "", "", "team", 1), gpuPod("m", "", "", "team", 1),
	}
	s.Pods[4].NominatedNode, s.Pods[11].NominatedNode = "n1", "n2"
	s.Pods[0].Terminating, s.Pods[0].Preempted = true, true
	s.Pods[1].Terminating, s.Pods[1].Preempted, s.Pods[7].Preempted = true, true, true
	m, ix, err := withPods(t, s)
	require.NoError(t, err)
	old, young := m.Index.Column("a100", "gpu"), m.Index.Column("h100", "gpu")

	type held struct {
		UID      string
		Priority int64
		Pods     []string
		Old, New int64
		Evicted  bool
		Ordered  time.Time
		Reserved int64
	}
	got := map[string]held{}
	tell := func(r *quota.Reservation, pods ...cluster.PodID) {
		h := held{UID: r.Workload.UID, Priority: r.Priority, Evicted: r.Evicted, Ordered: r.Workload.Created, Reserved: r.Reserved / 1e9}
		for _, p := range pods {
			h.Pods = append(h.Pods, ix.Pod(p).Name)
			if !ix.Runs(p) {
				continue
			}
			require.Same(t, r, m.Pods.Holds[p])
			require.Contains(t, m.Pods.On[ix.NodeOf(p)], r)
		}
		for _, u := range r.Usage {
			switch u.Column {
			case old:
				h.Old = u.Amount
			case young:
				h.New = u.Amount
			}
		}
		require.NotContains(t, got, r.Workload.Name)
		got[r.Workload.Name] = h
	}
	on := 0
	for _, list := range m.Pods.On {
		on += len(list)
	}
	require.Equal(t, 6, on, "team is on two nodes, once each")
	for r, pods := range m.Pods.Of {
		tell(r, pods...)
	}
	at := func(s int64) time.Time { return time.Unix(s, 0).UTC() }
	require.Equal(t, map[string]held{
		"a":    {"of-a", 5, []string{"a"}, 0, 1, true, at(5), 15},
		"team": {"of-team", 7, []string{"b", "c", "d"}, 1, 2, false, at(2), 12},
		"f":    {"of-f", 1, []string{"f"}, 1, 0, false, at(1), 11},
		"g":    {"of-g", 1, []string{"g"}, 0, 1, false, at(1), 11},
		"h":    {"of-h", 1, []string{"h"}, 1, 0, false, at(1), 11},
	}, got)
	require.Len(t, m.Pods.Holds, 7)

	clear(got)
	for _, e := range m.Pods.Expected {
		tell(e.Reservation, e.Pod)
	}
	require.Equal(t, map[string]held{
		"team": {"of-team", 7, []string{"e"}, 1, 0, false, at(1), 11},
		"l":    {"of-l", 1, []string{"l"}, 0, 1, false, at(1), 11},
	}, got)

	require.Len(t, m.Pods.Odd, 2)
	for i, name := range []string{"j", "k"} {
		require.Equal(t, cluster.Warning{
			Kind: cluster.KindPod, Name: name, Field: "Queue", Value: "unknown",
			Text: "there is no such active queue: what the pod uses is not counted",
		}, m.Pods.Odd[i])
	}
	q := m.Index.QueueByName("research")
	for column, free := range map[quota.ColumnID]int64{old: 8 - 4, young: 8 - 5} {
		require.True(t, m.FitsNow(q, []quota.ColumnAmount{{Column: column, Amount: free}}))
		require.False(t, m.FitsNow(q, []quota.ColumnAmount{{Column: column, Amount: free + 1}}))
	}
}

// TestAModelWithPodsFollows: of workloads that come, go and leave, and of what is held for others, it is what it would be if it were made
// anew, and is not made anew.
func TestAModelWithPodsFollows(t *testing.T) {
	told := func(m *workload.Model) (text string) {
		for _, of := range []string{"in", "next"} {
			p := plan(t, m, of)
			text += fmt.Sprint(p.Fits, p.FitsNow, p.Objections, m.Warnings(), m.Search(m.Workload("", of), 0).Usage.Balance(0, 0))
			for _, v := range p.Victims {
				text += v.Workload.Name
			}
		}
		return text
	}
	accounted := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := eight(job("in", "", 9, 7), job("next", "", 9, 1))
		s.Nodes, s.Pods = []cluster.Node{{Name: "n1"}}, []cluster.Pod{gpuPod("a", "n1", "", "team", 5)}
		s.Pods[0].Terminating, s.Pods[0].Preempted = true, true
		ix, err := cluster.NewIndex(s)
		require.NoError(t, err)
		m, err := workload.New(s.QuotaObjects(), workload.Rules{})
		require.NoError(t, err)
		q := &workload.Queued{}
		q.Find(ix)
		name := func() string { return []string{"v", "w", "x", "in"}[r.IntN(4)] }
		var last *workload.Model
		for range 30 {
			with, err := q.On(ix, m)
			require.NoError(t, err)
			anew := &workload.Queued{}
			anew.Find(ix)
			fresh, err := anew.On(ix, m)
			require.NoError(t, err)
			require.Equal(t, told(fresh), told(with), seed)
			if last != nil {
				require.Same(t, last, with)
			}
			last = with
			change := func(m *workload.Model) error { m.Release("", "v"); return nil }
			switch w := job(name(), "research", int32(r.IntN(9)), int32(1+r.IntN(3))); r.IntN(6) {
			case 0, 1:
				if w.Evicted = r.IntN(2) == 0; w.Name != "in" {
					change = func(m *workload.Model) error { return m.Set(&w) }
				}
			case 2:
				gone := r.IntN(2) == 0
				change = func(m *workload.Model) error { return m.Evict("", w.Name, gone) }
			case 3, 4:
				h := &cluster.QuotaHold{Name: w.Name, ClusterQueue: "research", Amounts: gpusHeld(1 + r.Int64N(6)/5*cluster.MaxUsage)}
				for range r.IntN(3) {
					h.Workloads = append(h.Workloads, cluster.PodKey{Name: name()})
				}
				if r.IntN(5) == 0 {
					h.Pods = []cluster.PodKey{{Name: "a"}}
				}
				change = func(m *workload.Model) error { m.Hold(h); return nil }
			}
			require.NoError(t, q.Follow(m, s, change))
		}
		accounted += last.Accounted
		m.Open(s) // somebody else has changed it
		for _, change := range []func(m *workload.Model) error{
			func(*workload.Model) error { return nil },
			func(m *workload.Model) error { m.SetTime(7); return nil },
			func(*workload.Model) error { return errors.New("failed") },
			func(m *workload.Model) error {
				w := job("v", "research", 1, 1)
				w.PodSets[0].Usage = cluster.Resources{"gpu": cluster.MaxUsage}
				m.Remove("", "w")
				m.Remove("", "x")
				return m.Set(&w)
			},
		} {
			_ = q.Follow(m, s, change)
			anew, _ := q.On(ix, m) // at last it is too much
			require.NotSame(t, last, anew)
			last = anew
		}
		require.Nil(t, last)
	}
	require.InDelta(t, 2_000, accounted, 400, "of 6,000 changes")
}

// TestPodsUseWhatCanBeCounted: beside workloads, and all together.
func TestPodsUseWhatCanBeCounted(t *testing.T) {
	with := func(other int64, amounts ...int64) error {
		w := job("other", "research", 1, 1)
		w.PodSets[0].Usage = cluster.Resources{"gpu": other}
		s := eight(w)
		s.Nodes = []cluster.Node{{Name: "n1", Allocatable: cluster.Resources{"gpu": 8}}}
		for i, v := range amounts {
			pod := gpuPod(string(rune('a'+i)), "n1", "", "team", 1)
			pod.Requests["gpu"] = v
			s.Pods = append(s.Pods, pod)
		}
		_, _, err := withPods(t, s)
		return err
	}
	const most = cluster.MaxUsage / 4
	require.NoError(t, with(most, most, most, most+3))
	err := with(most, most, most, most+4)
	require.EqualError(t, err, `cluster: Pod "c": Requests: 1152921504606846979 gpu is not so little that everybody together uses at most 2^62-1`)
	require.Error(t, with(cluster.MaxUsage, 1, 2))
}

// TestAmountsThatCanBeCounted: of no resource more than 2^62-1, neither in a pod set nor in all.
func TestAmountsThatCanBeCounted(t *testing.T) {
	const most = cluster.MaxUsage
	set := func(count int32, gpu, mem int64) cluster.PodSet {
		return cluster.PodSet{Count: count, Requests: cluster.Resources{"gpu": gpu, "mem": mem}}
	}
	for name, x := range map[string]struct {
		sets []cluster.PodSet
		want []string // fields
	}{
		"as much as can be":              {[]cluster.PodSet{set(1, most, most)}, nil},
		"in two sets":                    {[]cluster.PodSet{set(1, most-1, 0), set(1, 1, most)}, nil},
		"one more in two sets":           {[]cluster.PodSet{set(1, most, 5), set(1, 1, 5)}, []string{"PodSets"}},
		"one more of both":               {[]cluster.PodSet{set(1, most, 1), set(1, 1, most)}, []string{"PodSets", "PodSets"}},
		"one more":                       {[]cluster.PodSet{set(1, most+1, 0)}, []string{"PodSets[0].Requests[gpu]"}},
		"too many pods":                  {[]cluster.PodSet{set(2, 1, 1), set(2, 1, most/2+1)}, []string{"PodSets[1].Requests[mem]"}},
		"what is too much adds nothing":  {[]cluster.PodSet{set(2, most, 0), set(1, most, 0)}, []string{"PodSets[0].Requests[gpu]"}},
		"each that is too much":          {[]cluster.PodSet{set(2, most, most), set(3, 0, most)}, []string{"PodSets[0].Requests[gpu]", "PodSets[0].Requests[mem]", "PodSets[1].Requests[mem]"}},
		"a product beyond all the bits":  {[]cluster.PodSet{set(8, 1<<61, 0)}, []string{"PodSets[0].Requests[gpu]"}},
		"too much in a set, and in all":  {[]cluster.PodSet{set(2, most, most), set(1, 0, 1), set(1, 0, most)}, []string{"PodSets[0].Requests[gpu]", "PodSets[0].Requests[mem]", "PodSets"}},
		"pods are not asked for, though": {[]cluster.PodSet{set(2, most/2, most/2), set(1, 1, 1)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			err := workload.CheckAmounts(&cluster.Workload{Name: "in", PodSets: x.sets})
			var fields []string
			if list, ok := err.(interface{ Unwrap() []error }); ok {
				for _, e := range list.Unwrap() {
					var one *cluster.FieldError
					require.True(t, errors.As(e, &one))
					fields = append(fields, one.Field)
					require.Equal(t, "at most 2^62-1 in all", one.Want)
				}
			}
			require.Equal(t, x.want, fields)
			require.Equal(t, x.want == nil, err == nil)
		})
	}
}

// TestAmountsAreToldInDecimals: in complaints.
func TestAmountsAreToldInDecimals(t *testing.T) {
	w := job("in", "", 1, 1000)
	w.PodSets[0].Requests["gpu"] = 1 << 60
	require.EqualError(t, workload.CheckAmounts(&w), `cluster: Workload "in": PodSets[0].Requests[gpu]: 1152921504606846976 is not at most 2^62-1 in all`)
	m, many := model(t, eight(job("old", "research", 1, 8))), job("many", "research", 1, 1)
	many.PodSets[0].Usage = cluster.Resources{"gpu": cluster.MaxUsage}
	require.ErrorContains(t, m.Set(&many), "4611686018427387903 gpu is not so little")
}

// TestWhyThereIsNoFlavor: each flavor has one objection, to the first resource of which it has too little
// for ever, or to all of which it has too little now.
func TestWhyThereIsNoFlavor(t *testing.T) {
	s := eight()
	group := &s.ClusterQueues[0].Groups[0]
	s.ResourceFlavors = append(s.ResourceFlavors, cluster.ResourceFlavor{Name: "h100", NodeTaints: []cluster.Taint{{Key: "h100", Effect: cluster.NoSchedule}}})
	group.Flavors[0].Resources = append(group.Flavors[0].Resources, cluster.ResourceQuota{Resource: "mem", Nominal: 8})
	group.Flavors = append(group.Flavors, cluster.FlavorQuotas{Flavor: "h100", Resources: group.Flavors[0].Resources})
	old := job("old", "research", 9, 6)
	old.PodSets[0].Requests["mem"], old.PodSets[0].Flavors["mem"] = 1, "a100"
	s.Workloads = append(s.Workloads, old)
	gpu, mem := model(t, s).Index.Column("a100", "gpu"), model(t, s).Index.Column("a100", "mem")
	tainted := workload.Objection{Kind: workload.Tainted, Flavor: 1, Taint: &s.ResourceFlavors[1].NodeTaints[0]}
	for name, x := range map[string]struct {
		ask  cluster.Resources
		want []workload.Objection
	}{
		"fits":                {cluster.Resources{"gpu": 2, "mem": 2}, nil},
		"no quota":            {cluster.Resources{"gpu": 2, "tpu": 1}, []workload.Objection{{Kind: workload.NoQuota, Resource: "tpu"}}},
		"no quota is no harm": {cluster.Resources{"gpu": 2, "tpu": 0}, nil},
		"too much of both": {
			cluster.Resources{"gpu": 9, "mem": 10}, []workload.Objection{{Kind: workload.TooMuch, Column: gpu, Amount: 9, Most: 8}, tainted},
		},
		"too much of the second": {
			cluster.Resources{"gpu": 1, "mem": 10}, []workload.Objection{{Kind: workload.TooMuch, Column: mem, Amount: 10, Most: 8}, tainted},
		},
		"too little is left of both": {
			cluster.Resources{"gpu": 3, "mem": 4},
			[]workload.Objection{{Kind: workload.Short, Column: gpu, Amount: 1}, {Kind: workload.Short, Column: mem, Amount: 2}, tainted},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := *s
			in := job("in", "", 1, 1)
			in.PodSets[0].Requests = x.ask
			s.Workloads = append(slices.Clone(s.Workloads), in)
			p := plan(t, model(t, &s), "in")
			require.Equal(t, x.want, p.Objections)
			require.Equal(t, x.want == nil, p.Fits)
			require.Empty(t, p.Victims)
		})
	}
}

// TestFlavorsByPreference: a100 can be had by eviction alone, h100 by borrowing, and queues say
// which they would rather. What another queue has borrowed for good can't be had.
func TestFlavorsByPreference(t *testing.T) {
	for preference, want := range map[cluster.FlavorPreference]string{
		"": "h100", cluster.BorrowingOverPreemption: "h100", cluster.PreemptionOverBorrowing: "a100",
	} {
		for low, want := range map[string]string{"research": want, "lender": "h100"} {
			s := pools(job("low", low, 0, 8), job("in", "", 9, 4))
			s.ClusterQueues[0].Cohort = "all"
			s.ClusterQueues[0].Fungibility = cluster.Fungibility{WhenCanBorrow: cluster.TryNextFlavor, Preference: preference}
			lender := s.ClusterQueues[0]
			lender.Name, lender.Groups = "lender", pools().ClusterQueues[0].Groups
			s.ClusterQueues[0].Groups[0].Flavors[1].Resources[0].Nominal, lender.Groups[0].Flavors[0].Resources[0].Nominal = 0, 0
			s.ClusterQueues = append(s.ClusterQueues, lender)
			m := model(t, s)
			p := plan(t, m, "in")
			require.Len(t, p.Taken, 1)
			require.Equal(t, m.Index.Column(want, "gpu"), p.Taken[0].Column, preference)
			require.Equal(t, want == "h100", p.Fits)
		}
	}
}

func TestReview(t *testing.T) {
	least := int32(2)
	in := job("in", "", 1, 4)
	in.PodSets[0].MinCount = &least
	s := eight(in)
	s.ResourceFlavors = append(s.ResourceFlavors, cluster.ResourceFlavor{
		Name: "h100", NodeTaints: []cluster.Taint{{Key: "h100", Effect: cluster.NoSchedule}},
	})
	flavors := &s.ClusterQueues[0].Groups[0].Flavors
	*flavors = append(*flavors, cluster.FlavorQuotas{Flavor: "h100", Resources: []cluster.ResourceQuota{{Resource: "gpu", Nominal: 2}}})
	m := model(t, s)
	w, q := m.Workload("", "in"), m.Index.QueueByName("research")
	with := func(f func(c *workload.Choice)) []workload.Choice {
		list := gpus(4)
		f(&list[0])
		return list
	}
	for name, x := range map[string]struct {
		choices []workload.Choice
		counts  []int32
		want    workload.MisfitKind
	}{
		"as it is":                {gpus(4), nil, workload.NoMisfit},
		"fewer pods":              {gpus(3), []int32{3}, workload.NoMisfit},
		"fewer than it starts":    {gpus(1), []int32{1}, workload.CountBeyond},
		"more than there are":     {gpus(5), []int32{5}, workload.CountBeyond},
		"counts of two sets":      {gpus(4), []int32{2, 2}, workload.CountsMissing},
		"another amount":          {gpus(3), nil, workload.AmountDiffers},
		"no flavor":               {nil, nil, workload.NothingTaken},
		"a flavor that is gone":   {with(func(c *workload.Choice) { c.Flavor = "v100" }), nil, workload.FlavorGone},
		"a taint":                 {with(func(c *workload.Choice) { c.Flavor = "h100" }), nil, workload.Unsuited},
		"a set that is not there": {append(gpus(4), workload.Choice{Set: "other", Resource: "gpu", Flavor: "a100"}), nil, workload.NothingAsked},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, x.want, m.Review(w, q, x.choices, x.counts).Kind) })
	}
}

// TestReviewOfSeveralResources: those of one group have one flavor in all pod sets that go together, and
// those of which the queue has no quota none.
func TestReviewOfSeveralResources(t *testing.T) {
	in := cluster.Workload{Name: "in", Queue: "team", PodSets: []cluster.PodSet{
		{Name: "a", Count: 2, Requests: cluster.Resources{"gpu": 1, "mem": 2}, Group: "g"},
		{Name: "b", Count: 1, Requests: cluster.Resources{"gpu": 3, "disk": 0}, Group: "g"},
		{Name: "c", Count: 1, Requests: cluster.Resources{"mem": 4}},
	}}
	s := eight(in)
	s.ResourceFlavors = append(s.ResourceFlavors, cluster.ResourceFlavor{Name: "h100"})
	group := &s.ClusterQueues[0].Groups[0]
	group.Flavors = nil
	for _, f := range []string{"a100", "h100"} {
		group.Flavors = append(group.Flavors, cluster.FlavorQuotas{Flavor: f, Resources: []cluster.ResourceQuota{{Resource: "gpu", Nominal: 8}, {Resource: "mem", Nominal: 8}}})
	}
	m := model(t, s)
	w, q := m.Workload("", "in"), m.Index.QueueByName("research")
	good := []workload.Choice{{"a", "gpu", "a100", 2}, {"a", "mem", "a100", 4}, {"b", "gpu", "a100", 3}, {"c", "mem", "h100", 4}}
	require.Equal(t, workload.Misfit{}, m.Review(w, q, good, nil))
	for name, x := range map[string]struct {
		change func(list []workload.Choice) []workload.Choice
		want   workload.Misfit
	}{
		"two flavors of a set": {
			func(list []workload.Choice) []workload.Choice { list[1].Flavor = "h100"; return list },
			workload.Misfit{Kind: workload.TwoFlavors, Choice: workload.Choice{Set: "a", Resource: "mem", Flavor: "h100", Amount: 4}, Other: "a100", Most: 4},
		},
		"two flavors of sets that go together": {
			func(list []workload.Choice) []workload.Choice { list[2].Flavor = "h100"; return list },
			workload.Misfit{Kind: workload.TwoFlavors, Choice: workload.Choice{Set: "b", Resource: "gpu", Flavor: "h100", Amount: 3}, Other: "a100", Most: 3},
		},
		"another flavor for the other set": {
			func(list []workload.Choice) []workload.Choice { list[3].Flavor = "a100"; return list }, workload.Misfit{},
		},
		"what nobody has quota of": {
			func(list []workload.Choice) []workload.Choice {
				return append(list, workload.Choice{Set: "b", Resource: "disk", Flavor: "a100"})
			},
			workload.Misfit{Kind: workload.ResourceGone, Choice: workload.Choice{Set: "b", Resource: "disk", Flavor: "a100"}},
		},
		"what is not asked for": {
			func(list []workload.Choice) []workload.Choice {
				return append(list, workload.Choice{Set: "c", Resource: "gpu", Flavor: "h100"})
			},
			workload.Misfit{Kind: workload.NothingAsked, Choice: workload.Choice{Set: "c", Resource: "gpu", Flavor: "h100"}},
		},
		"a resource without a flavor": {
			func(list []workload.Choice) []workload.Choice { return list[1:] },
			workload.Misfit{Kind: workload.NothingTaken, Choice: workload.Choice{Set: "a", Resource: "gpu"}, Most: 2},
		},
		"too few": {
			func(list []workload.Choice) []workload.Choice { list[2].Amount = 2; return list },
			workload.Misfit{Kind: workload.AmountDiffers, Choice: workload.Choice{Set: "b", Resource: "gpu", Flavor: "a100", Amount: 2}, Other: "a100", Most: 3},
		},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, x.want, m.Review(w, q, x.change(slices.Clone(good)), nil)) })
	}
}

// TestReviewReserved: an answer without victims keeps no more than the workload asks for, and than its
// queue may have beside those who hold quota.
func TestReviewReserved(t *testing.T) {
	borrowing := int64(2)
	for name, x := range map[string]struct {
		held    int32
		reclaim cluster.QueuePolicy
		list    []workload.Choice
		want    workload.MisfitKind
	}{
		"nothing":                          {0, "", nil, workload.NoMisfit},
		"all that it asks for":             {0, "", gpus(9), workload.NoMisfit},
		"more":                             {0, "", gpus(10), workload.ReservesTooMuch},
		"more in two":                      {0, "", append(gpus(5), gpus(5)...), workload.ReservesTooMuch},
		"as much in two":                   {0, "", append(gpus(5), gpus(4)...), workload.NoMisfit},
		"what is left to it":               {4, "", gpus(6), workload.NoMisfit},
		"more than is left to it":          {4, "", gpus(7), workload.ReservesTooMuch},
		"another resource":                 {0, "", []workload.Choice{{Resource: "tpu", Flavor: "a100", Amount: 1}}, workload.NotOfQueue},
		"another flavor":                   {0, "", []workload.Choice{{Resource: "gpu", Flavor: "h100", Amount: 1}}, workload.NotOfQueue},
		"it gets its quota back from all":  {0, cluster.AnyPriority, gpus(1), workload.Reclaims},
		"it gets its quota back from some": {0, cluster.LowerPriority, gpus(1), workload.NoMisfit},
	} {
		t.Run(name, func(t *testing.T) {
			s := eight(job("in", "", 1, 9))
			if x.held > 0 {
				s.Workloads = append(s.Workloads, job("old", "research", 9, x.held))
			}
			queue := &s.ClusterQueues[0]
			queue.Cohort, queue.Preemption.ReclaimWithinCohort = "all", x.reclaim
			queue.Groups[0].Flavors[0].Resources[0].Borrowing = &borrowing
			m := model(t, s)
			w, q := m.Workload("", "in"), m.Index.QueueByName("research")
			search := m.Search(w, q)
			defer m.Keep(search)
			require.Equal(t, x.want, search.ReviewReserved(w, q, x.list).Kind)
		})
	}
}

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
	l := workload.Least{Ranking: first[:3], Bound: []int64{math.MinInt64, 0, -1}}
	require.Equal(t, l.Bound[:1], l.Known())
	require.Greater(t, better, 20)
	require.Greater(t, sharp, shown*9/10)
	require.Greater(t, shown, 40)
}
