package preemption_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// tie gives the pods of a question terms about each other, tokens and devices.
func tie(t *rapid.T, q *gen.Question) {
	one := func(of int) bool { return rapid.IntRange(1, of).Draw(t, "one") == 1 }
	for i := range q.Snapshot.Nodes {
		n := &q.Snapshot.Nodes[i]
		n.Labels = map[string]string{"host": n.Name, "zone": rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "zone")}
		if one(2) {
			n.Devices = map[string]cluster.DevicePool{gpu: {Count: rapid.Int32Range(1, 3).Draw(t, "gpus"), Capacity: 1000}}
		}
	}
	selector := func() *disruption.Selector {
		return rapid.SampledFrom([]*disruption.Selector{
			{}, {MatchLabels: map[string]string{"app": "web"}}, {MatchLabels: map[string]string{"app": "db"}},
			{MatchExpressions: []disruption.Requirement{{Key: "app", Operator: disruption.Exists}}},
		}).Draw(t, "selector")
	}
	topology := func() string { return rapid.SampledFrom([]string{"host", "zone"}).Draw(t, "topology") }
	pods := make([]*cluster.Pod, 0, len(q.Snapshot.Pods)+1)
	for i := range q.Snapshot.Pods {
		pods = append(pods, &q.Snapshot.Pods[i])
	}
	for i := range q.Preemptor.Pods {
		pods = append(pods, &q.Preemptor.Pods[i], &q.Preemptor.Pods[i]) // twice as many
	}
	for _, p := range pods {
		if one(5) {
			p.AntiAffinity = append(p.AntiAffinity, cluster.AffinityTerm{TopologyKey: topology(), Selector: selector()})
		}
		if one(9) {
			p.Affinity = append(p.Affinity, cluster.AffinityTerm{TopologyKey: topology(), Selector: selector()})
		}
		if one(5) {
			p.Spread = append(p.Spread, cluster.Spread{
				TopologyKey: topology(), Selector: selector(), MaxSkew: 1,
				NodeTaintsPolicy: rapid.SampledFrom([]cluster.NodePolicy{"", cluster.Honor}).Draw(t, "policy"),
			})
		}
		if one(9) {
			p.Tokens = append(p.Tokens, "token")
		}
		if one(6) {
			p.Devices = append(p.Devices, anyRequest(t))
		}
	}
}

// blind is a constraint that always holds and does not tell which pods matter to
// it, so that the search has to ask about every pod on every node.
type blind struct{}

func (blind) Name() domain.Check { return "blind" }
func (blind) Prepare(*cluster.Index, []*cluster.Pod) (domain.State, error) {
	return blind{}, nil
}
func (blind) Remove(cluster.PodID, cluster.NodeID)                      {}
func (blind) Return(cluster.PodID, cluster.NodeID)                      {}
func (blind) Place(domain.MemberID, cluster.NodeID)                     {}
func (blind) Unplace(domain.MemberID, cluster.NodeID)                   {}
func (blind) Fits(domain.MemberID, cluster.NodeID) (fits domain.Reason) { return fits }
func (blind) Clone() domain.State                                       { return blind{} }
func (blind) Scope() domain.Scope                                       { return domain.Scope{} }

// quiet is blind, but tells that no pod matters to it.
type quiet struct{ blind }

func (quiet) Prepare(*cluster.Index, []*cluster.Pod) (domain.State, error) { return quiet{}, nil }
func (quiet) Clone() domain.State                                          { return quiet{} }
func (quiet) Touches(cluster.NodeID) bool                                  { return false }
func (quiet) TouchesPod(cluster.PodID, cluster.NodeID) bool                { return false }

// The search asks constraints about the pods that they look at, and skips nodes that
// cannot be the answer. The plain way is to ask about every pod on every node.
func askingLessGivesTheSameAnswer(t *rapid.T) {
	p := gen.Profile{Placement: true, Budgets: true, Nominations: true, Terminating: true, Groups: true}
	q := gen.Draw(p).Draw(t, "question")
	if rapid.Bool().Draw(t, "gang") {
		p.MaxNodes, p.MaxPods = 4, 12
		q = gen.DrawGang(gen.GangProfile{Profile: p, Running: true}).Draw(t, "question")
	}
	tie(t, &q)
	options := preemption.Options{
		Rules:      rapid.SampledFrom([]preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137}).Draw(t, "rules"),
		Candidates: rapid.Bool().Draw(t, "candidates"),
	}
	if rapid.Bool().Draw(t, "repeat") {
		options.RepeatReprieve = preemption.On
	}
	ask := func(c domain.Constraint) *preemption.Result {
		options.Hooks = &preemption.Hooks{Constraints: []domain.Constraint{c}}
		r, err := options.Preempt(q.Preemptor, &q.Snapshot)
		require.NoError(t, err)
		return r
	}
	if diff := cmp.Diff(ask(blind{}), ask(quiet{}), cmpopts.IgnoreFields(preemption.Result{}, "Stats")); diff != "" {
		t.Fatalf("asking about pods that matter only changed the answer (-all +those):\n%s", diff)
	}
}

func TestAskingLessGivesTheSameAnswer(t *testing.T) { rapid.Check(t, askingLessGivesTheSameAnswer) }
func FuzzAskingLessGivesTheSameAnswer(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(askingLessGivesTheSameAnswer))
}

// Where constraints count pods by topology value, nodes are ruled out by what leaves can not change. The plain
// way, which candidates ask for, is to take everybody out on each node.
func foreseeingGivesTheSameAnswer(t *rapid.T) {
	p := gen.Profile{
		MinNodes: 10, MaxNodes: 16, MaxPods: 60, Placement: rapid.Bool().Draw(t, "placement"), Budgets: rapid.Bool().Draw(t, "budgets"),
		Nominations: true, Terminating: true, Groups: rapid.IntRange(0, 3).Draw(t, "groups") == 0,
	}
	q := gen.Draw(p).Draw(t, "question")
	tie(t, &q)
	for i := range q.Preemptor.Pods {
		q.Preemptor.Pods[i].Tokens, q.Preemptor.Pods[i].Devices = nil, nil
	}
	few, alike := rapid.Bool().Draw(t, "few"), rapid.Bool().Draw(t, "alike")
	for i := range q.Snapshot.Pods {
		p := &q.Snapshot.Pods[i]
		if few && i%8 > 0 {
			p.AntiAffinity = nil
		}
		if alike { // the first of many nodes wins
			p.Priority, p.Started = nil, time.Time{}
		}
	}
	options := preemption.Options{
		Rules:  rapid.SampledFrom([]preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137}).Draw(t, "rules"),
		Prefer: rapid.SampledFrom([]preemption.Preference{domain.FirstByName, domain.MostAllocated}).Draw(t, "prefer"),
	}
	if rapid.Bool().Draw(t, "repeat") {
		options.RepeatReprieve = preemption.On
	}
	got, err := options.Preempt(q.Preemptor, &q.Snapshot)
	require.NoError(t, err)
	options.Candidates = true
	want, err := options.Preempt(q.Preemptor, &q.Snapshot)
	require.NoError(t, err)
	want.Candidates, want.Stats.Trials, got.Stats.Trials = nil, 0, 0
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("(-each node +by value):\n%s", diff)
	}
}

func TestForeseeingGivesTheSameAnswer(t *testing.T) { rapid.Check(t, foreseeingGivesTheSameAnswer) }
func FuzzForeseeingGivesTheSameAnswer(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(foreseeingGivesTheSameAnswer))
}

// TestNamespacesComeAndGo: an anti-affinity term for the namespaces of a team follows
// their labels, as a snapshot with them would.
func TestNamespacesComeAndGo(t *testing.T) {
	s := twoNodes()
	for i := range s.Nodes {
		s.Nodes[i].Labels = map[string]string{"host": s.Nodes[i].Name}
	}
	s.Pods[0].Namespace, s.Pods[0].Requests = "red", preemption.Resources{cluster.CPU: 1}
	s.Pods[2].AntiAffinity = []cluster.AffinityTerm{{
		TopologyKey: "host", Selector: &preemption.Selector{},
		NamespaceSelector: &preemption.Selector{MatchLabels: map[string]string{"team": "red"}},
	}}
	planner, err := preemption.NewPlanner(s, preemption.Options{})
	require.NoError(t, err)
	web := preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ns", Name: "web"}
	ask := func(verdict preemption.Verdict) {
		t.Helper()
		r, err := planner.Preempt(web)
		require.NoError(t, err)
		fresh, err := preemption.Preempt(web, planner.Snapshot())
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(fresh, r))
		require.Equal(t, verdict, r.Verdict)
	}
	ask(preemption.Fits)
	require.NoError(t, planner.SetNamespace(cluster.Namespace{Name: "red", Labels: map[string]string{"team": "red"}}))
	ask(preemption.Feasible)
	require.NoError(t, planner.SetNamespace(cluster.Namespace{Name: "red", Labels: map[string]string{"team": "blue"}}))
	ask(preemption.Fits)
	require.NoError(t, planner.SetNamespace(cluster.Namespace{Name: "red", Labels: map[string]string{"team": "red"}}))
	require.NoError(t, planner.RemoveNamespace("red"))
	ask(preemption.Fits)
	require.ErrorContains(t, planner.RemoveNamespace("red"), "red")
	require.ErrorIs(t, planner.SetNamespace(cluster.Namespace{}), cluster.ErrInvalid)
}

// TestToBeDearerIsNoReasonToGo: without budgets, a pod that is no victim is none for
// having a higher price, and a victim stays one for having a lower one; wherever the
// price counts.
func TestToBeDearerIsNoReasonToGo(t *testing.T) {
	t.Parallel()
	raised, lowered := 0, 0
	for seed := range seeds(2000) {
		q := gen.Random(seed, gen.Profile{Ports: true, Placement: true})
		priced(seed, &q)
		o := preemption.Options{Cost: []preemption.CostOptions{
			{Importance: true}, {Objective: true}, {Criterion: 1}, {Criterion: 4, Importance: true},
		}[seed%4]}
		o.Cost.Tariff = disruption.Tariff{Fixed: 1}
		o.PreferMovable = seed%3 == 0
		before := ask(&named{t, seed}, o, q)
		if before.Verdict != preemption.Feasible {
			continue
		}
		r := rand.New(rand.NewPCG(seed, 2))
		i := r.IntN(len(q.Snapshot.Pods))
		p := &q.Snapshot.Pods[i]
		if p.Node == "" {
			continue
		}
		if isVictim(before, p) {
			p.Cost.Fixed /= 1 + r.Int64N(5)
			require.True(t, isVictim(ask(&named{t, seed}, o, q), p), "seed %d: %s is cheaper and stays", seed, p.Name)
			lowered++
		} else {
			p.Cost.Fixed = checked.Add(p.Cost.Fixed, r.Int64N(10))
			require.False(t, isVictim(ask(&named{t, seed}, o, q), p), "seed %d: %s is dearer and goes", seed, p.Name)
			raised++
		}
	}
	require.Greater(t, raised, int(seeds(300)))
	require.Greater(t, lowered, int(seeds(50)))
}

func isVictim(r *preemption.Result, p *preemption.Pod) bool {
	return slices.ContainsFunc(r.Victims, func(v preemption.Victim) bool {
		return slices.ContainsFunc(v.Pods, func(x preemption.VictimPod) bool { return x.Namespace == p.Namespace && x.Name == p.Name })
	})
}
