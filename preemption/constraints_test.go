package preemption_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
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
