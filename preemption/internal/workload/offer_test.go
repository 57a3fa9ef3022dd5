package workload_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/genopts"
	"github.com/preempt-go/preempt/internal/naivequota"
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

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
	m := model(t, eight(job("low", "research", 1, 4), job("equal", "research", 5, 2), job("going", "research", 1, 2), job("other", "", 9, 2), job("in", "", 5, 4)))
	m.Hold(&cluster.QuotaHold{Name: "other", ClusterQueue: "research", Amounts: gpusHeld(2), Workloads: []cluster.PodKey{{Name: "going"}}})
	require.NoError(t, m.Evict("", "going", false))
	w, q := m.Workload("", "in"), m.Index.QueueByName("research")
	s := m.Search(w, q)
	defer m.Keep(s)
	request, contested := s.Request(q, gpus(4))
	require.False(t, s.Usage.Fits(q, request, true))
	l := s.Leaving(w, q, contested)
	require.Equal(t, workload.Spared, l.Add(m.Held("", "equal")))
	require.Equal(t, workload.Going, l.Add(m.Held("", "going")))
	require.Equal(t, workload.Leaves, l.Add(m.Held("", "low")))
	require.Equal(t, workload.Twice, l.Add(m.Held("", "low")))
	require.Nil(t, l.Settle())
	require.True(t, s.Usage.Fits(q, request, true))
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
		request, _ := search.Request(q, choices)
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
