package workload_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/naivequota"
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

// TestPlansAreTheTwins: in random trees. With the victims gone there is what the plan takes, and
// with any of them back there is not, of what it says.
func TestPlansAreTheTwins(t *testing.T) {
	victims := 0
	for seed := range uint64(2000) {
		question, o := gen.RandomQuota(seed)
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
