package preemption_test

import (
	"fmt"
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

// few is a constraint that counts for itself, of each node, pods with a label, of which each wants at most
// so many there; 0: an even number.
type few struct {
	app  string
	most int
}

func (few) Name() domain.Check { return "few" }

func (f few) Prepare(ix *cluster.Index, members []*cluster.Pod) (domain.State, error) {
	s := &fewState{few: f, ix: ix, members: members, there: map[cluster.NodeID]int{}}
	has := false
	for _, m := range members {
		has = has || f.counts(m)
	}
	for p := range ix.Pods() {
		if n := ix.NodeOf(p); n != cluster.NoNode {
			s.Return(p, n)
		}
	}
	if !has {
		return nil, nil
	}
	return s, nil
}

func (f few) counts(p *cluster.Pod) bool { return p.Labels["app"] == f.app }
func (f few) allows(there int) bool      { return there < f.most || f.most == 0 && there%2 == 0 }

// rule is the same as a Colocation.
func (f few) rule() domain.Colocation {
	return domain.Colocation{Check: "few", Of: f.counts, Monotone: f.most > 0, Allows: func(_ *preemption.Pod, _ *preemption.Node, others []*preemption.Pod) bool {
		there := 0
		for _, o := range others {
			if f.counts(o) {
				there++
			}
		}
		return f.allows(there)
	}}
}

type fewState struct {
	few
	ix      *cluster.Index
	members []*cluster.Pod
	there   map[cluster.NodeID]int
}

func (s *fewState) move(p *cluster.Pod, n cluster.NodeID, by int) {
	if s.counts(p) {
		s.there[n] += by
	}
}

func (s *fewState) Remove(p cluster.PodID, n cluster.NodeID)    { s.move(s.ix.Pod(p), n, -1) }
func (s *fewState) Return(p cluster.PodID, n cluster.NodeID)    { s.move(s.ix.Pod(p), n, 1) }
func (s *fewState) Place(m domain.MemberID, n cluster.NodeID)   { s.move(s.members[m], n, 1) }
func (s *fewState) Unplace(m domain.MemberID, n cluster.NodeID) { s.move(s.members[m], n, -1) }
func (s *fewState) Scope() domain.Scope                         { return domain.Scope{NodeLocal: true, Monotone: s.most > 0} }

func (s *fewState) Fits(m domain.MemberID, n cluster.NodeID) domain.Reason {
	if s.counts(s.members[m]) && !s.allows(s.there[n]) {
		return domain.Reason{Check: "few"}
	}
	return domain.Reason{}
}

func (s *fewState) Clone() domain.State {
	c := *s
	c.there = map[cluster.NodeID]int{}
	for n, k := range s.there {
		c.there[n] = k
	}
	return &c
}

// TestAColocationSaysWhatAConstraintSays: of pods and gangs, in answers and in decisions that are
// made again.
func TestAColocationSaysWhatAConstraintSays(t *testing.T) {
	t.Parallel()
	feasible, refused := 0, 0
	for seed := range seeds(3000) {
		q := gen.Random(seed, gen.Everything())
		if seed%3 == 0 {
			q = gen.RandomGang(seed, gen.GangProfile{Profile: gen.Profile{MaxNodes: 5, MaxPods: 14, Groups: true, Budgets: true}})
		}
		rule := few{app: []string{"web", "db"}[seed%2], most: int(seed / 2 % 3)}
		o := seededOptions(seed)
		if o.Hooks != nil {
			continue
		}
		plain, near := o, o
		plain.Hooks, near.Hooks = &preemption.Hooks{Constraints: []domain.Constraint{rule}}, &preemption.Hooks{Constraints: []domain.Constraint{rule.rule()}}
		want, err := plain.Preempt(q.Preemptor, &q.Snapshot)
		got, err2 := near.Preempt(q.Preemptor, &q.Snapshot)
		if err != nil || err2 != nil {
			require.Equal(t, err != nil, err2 != nil, "seed %d: %v, %v", seed, err, err2)
			continue
		}
		require.Empty(t, cmp.Diff(want, got), "seed %d", seed)
		pl, err := preemption.NewPlanner(&q.Snapshot, near)
		require.NoError(t, err)
		for range 4 { // until the shape is known
			d, err := pl.Decide(q.Preemptor)
			require.NoError(t, err)
			require.Equal(t, [2]string{string(want.Verdict), want.Domain}, [2]string{string(d.Verdict), d.Domain}, "seed %d", seed)
		}
		for _, v := range got.Victims {
			if v.Reason.Check == "few" {
				feasible++
			}
		}
		for _, r := range got.Rejected {
			if r.Reason == "few" {
				refused++
			}
		}
	}
	require.Greater(t, feasible, int(seeds(30)))
	require.Greater(t, refused, int(seeds(10)))
}

// TestWhatARuleReadsIsFollowed: a decision is made anew where a pod gets another label, leaves
// or is nominated.
func TestWhatARuleReadsIsFollowed(t *testing.T) {
	pod := func(name, node, app string, priority int32) preemption.Pod {
		return preemption.Pod{Name: name, Node: node, Labels: map[string]string{"app": app}, Requests: cpus(1), Priority: &priority}
	}
	pl, err := preemption.NewPlanner(&preemption.Snapshot{
		Nodes: []preemption.Node{{Name: "n1", Allocatable: cpus(3)}, {Name: "n2", Allocatable: cpus(3)}},
		Pods:  []preemption.Pod{pod("a", "n1", "web", 0), pod("b", "n2", "db", 0), pod("asks", "", "web", 10)},
	}, preemption.Options{Hooks: &preemption.Hooks{Constraints: []domain.Constraint{few{"web", 1}.rule()}}})
	require.NoError(t, err)
	decided := func(want string) {
		t.Helper()
		for range 3 {
			d, err := pl.Decide(preemption.Preemptor{Kind: cluster.KindPod, Name: "asks"})
			require.NoError(t, err)
			require.Equal(t, want, string(d.Verdict)+" "+d.Domain)
		}
	}
	decided("fits without preemption n2")
	require.NoError(t, pl.SetPod(pod("b", "n2", "web", 0)))
	decided("feasible n1")
	require.NoError(t, pl.SetPod(pod("a", "n1", "db", 0)))
	decided("fits without preemption n1")
	waits := pod("c", "", "web", 20)
	waits.NominatedNode = "n1"
	require.NoError(t, pl.SetPod(waits))
	decided("feasible n2")
	require.NoError(t, pl.Remove(preemption.PodRef{Name: "b"}))
	decided("fits without preemption n2")
}

// A rule about zones, declared, answers as the same rule that declares nothing, whatever has changed since: who runs there, what labels
// he has, and which nodes are there.
func aRuleOfZonesIsFollowed(t *rapid.T) {
	app := func() map[string]string {
		return map[string]string{"app": rapid.SampledFrom([]string{"web", "db"}).Draw(t, "app")}
	}
	node := func(i int) preemption.Node {
		n := preemption.Node{Name: fmt.Sprint("n", i), Allocatable: cpus(3), Labels: map[string]string{}}
		if zone := rapid.SampledFrom([]string{"a", "b", "c", ""}).Draw(t, "zone"); zone != "" {
			n.Labels["zone"] = zone
		}
		return n
	}
	const numNodes, numPods = 8, 16
	pod := func(i int) preemption.Pod {
		priority := rapid.Int32Range(0, 3).Draw(t, "priority")
		p := preemption.Pod{Name: fmt.Sprintf("p%02d", i), Labels: app(), Requests: cpus(1), Priority: &priority}
		at := fmt.Sprint("n", rapid.IntRange(0, numNodes-1).Draw(t, "node"))
		if rapid.IntRange(0, 5).Draw(t, "waits") == 0 {
			p.NominatedNode = at
		} else {
			p.Node = at
		}
		return p
	}
	snapshot := &preemption.Snapshot{}
	for i := range numNodes {
		snapshot.Nodes = append(snapshot.Nodes, node(i))
	}
	for i := range numPods {
		snapshot.Pods = append(snapshot.Pods, pod(i))
	}
	rule := few{"web", rapid.IntRange(1, 3).Draw(t, "most")}.rule()
	rule.TopologyKey, rule.Monotone = "zone", rapid.Bool().Draw(t, "monotone")
	search := rapid.SampledFrom([]preemption.Search{preemption.Greedy, preemption.Improved}).Draw(t, "search")
	var planners []*preemption.Planner // that which declares, and that which doesn't
	for _, c := range []domain.Constraint{rule, struct{ domain.Constraint }{rule}} {
		pl, err := preemption.NewPlanner(snapshot, preemption.Options{Search: search, Hooks: &preemption.Hooks{Constraints: []domain.Constraint{c}}})
		require.NoError(t, err)
		require.NoError(t, pl.Tune(1, 3, 1000))
		planners = append(planners, pl)
	}
	high := int32(2)
	asks := preemption.Preemptor{Pods: []preemption.Pod{{Name: "asks", Labels: map[string]string{"app": "web"}, Requests: cpus(1), Priority: &high}}}
	for range rapid.IntRange(1, 12).Draw(t, "steps") {
		for range 3 { // until the shape is known
			got, err := planners[0].Decide(asks)
			require.NoError(t, err)
			want, err := planners[1].Decide(asks)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		var change func(*preemption.Planner) error
		switch i := rapid.IntRange(0, numPods-1).Draw(t, "who"); rapid.IntRange(0, 4).Draw(t, "change") {
		case 0:
			n := node(i % numNodes)
			change = func(pl *preemption.Planner) error { return pl.SetNode(n) }
		case 1:
			change = func(pl *preemption.Planner) error {
				_ = pl.RemoveNode(fmt.Sprint("n", i%numNodes)) // if it is there
				return nil
			}
		case 2:
			change = func(pl *preemption.Planner) error {
				_ = pl.Remove(preemption.PodRef{Name: fmt.Sprintf("p%02d", i)})
				return nil
			}
		default:
			p := pod(i)
			change = func(pl *preemption.Planner) error { return pl.SetPod(p) }
		}
		for _, pl := range planners {
			require.NoError(t, change(pl))
		}
	}
}

func TestARuleOfZonesIsFollowed(t *testing.T) { rapid.Check(t, aRuleOfZonesIsFollowed) }
func FuzzARuleOfZonesIsFollowed(f *testing.F) { f.Fuzz(rapid.MakeFuzz(aRuleOfZonesIsFollowed)) }

// wide concerns pods of an app and looks at the whole cluster, by a state that the library makes.
type wide struct{}

func (wide) Name() domain.Check              { return "wide" }
func (wide) Concerns(p *preemption.Pod) bool { return p.Labels["app"] == "web" }
func (wide) Prepare(ix *cluster.Index, members []*cluster.Pod) (domain.State, error) {
	there := 0
	for p := range ix.Pods() {
		if ix.NodeOf(p) != cluster.NoNode && ix.Pod(p).Labels["app"] == "web" {
			there++
		}
	}
	return domain.Colocation{Check: "wide", Allows: func(*preemption.Pod, *preemption.Node, []*preemption.Pod) bool { return there < 2 }}.Prepare(ix, members)
}

// embeds is a Colocation that is none to who looks at its type.
type embeds struct{ domain.Colocation }

// TestAConstraintIsWhatItSays: one that borrows the state of a Colocation is not remembered as one,
// and what panics in it is told.
func TestAConstraintIsWhatItSays(t *testing.T) {
	zero := int32(0)
	s := &preemption.Snapshot{}
	for i := range 20 {
		name := fmt.Sprintf("n%02d", i)
		s.Nodes = append(s.Nodes, preemption.Node{Name: name, Allocatable: cpus(4)})
		s.Pods = append(s.Pods, preemption.Pod{Name: "p" + name, Node: name, Priority: &zero, Requests: cpus(1)})
	}
	s.Pods[0].Labels = map[string]string{"app": "web"}
	asks := preemption.Preemptor{Pods: []preemption.Pod{{Name: "asks", Labels: map[string]string{"app": "web"}, Requests: cpus(1)}}}
	pl, err := preemption.NewPlanner(s, preemption.Options{Hooks: &preemption.Hooks{Constraints: []domain.Constraint{wide{}}}})
	require.NoError(t, err)
	for range 5 {
		d, err := pl.Decide(asks)
		require.NoError(t, err)
		require.Equal(t, preemption.Fits, d.Verdict)
	}
	other := s.Pods[19]
	other.Labels = map[string]string{"app": "web"}
	require.NoError(t, pl.SetPod(other))
	d, err := pl.Decide(asks)
	require.NoError(t, err)
	require.NotEqual(t, preemption.Fits, d.Verdict)

	var hook *preemption.HookError
	panics := domain.Colocation{Check: "x", Allows: func(*preemption.Pod, *preemption.Node, []*preemption.Pod) bool { panic("no") }}
	for _, c := range []domain.Constraint{panics, &panics, embeds{panics}} {
		_, err = preemption.Options{Hooks: &preemption.Hooks{Constraints: []domain.Constraint{c}}}.Preempt(asks, s)
		require.ErrorAs(t, err, &hook, "%T", c)
	}
	for _, c := range []domain.Constraint{domain.Colocation{}, &domain.Colocation{Check: "x"}} {
		var option *preemption.OptionError
		_, err = preemption.NewPlanner(s, preemption.Options{Hooks: &preemption.Hooks{Constraints: []domain.Constraint{c}}})
		require.ErrorAs(t, err, &option, "%T", c)
	}
}

// TestWhatIsNearestUnderHardBudgetsAsksConstraintsAnew: who was out while bounds were looked at is back before
// anything else is tried.
func TestWhatIsNearestUnderHardBudgetsAsksConstraintsAnew(t *testing.T) {
	zero, high := int32(0), int32(1000)
	s := &preemption.Snapshot{
		Nodes: []preemption.Node{{Name: "n0", Allocatable: cpus(2)}},
		Pods: []preemption.Pod{
			{Name: "p00", Node: "n0", Priority: &zero, Requests: cpus(1)},
			{Name: "asks-0", NominatedNode: "n0", Priority: &high, Requests: cpus(1)},
		},
	}
	left, came := 0, 0 // more than once
	c := domain.Colocation{Check: "unpromised", Allows: func(_ *preemption.Pod, _ *preemption.Node, others []*preemption.Pod) bool {
		switch n := len(others); {
		case n > 2:
			came++
		case n == 0:
			left++
		}
		return !slices.ContainsFunc(others, func(o *preemption.Pod) bool { return o.NominatedNode != "" })
	}}
	r, err := preemption.Options{Hooks: &preemption.Hooks{Constraints: []domain.Constraint{c}}, HardBudgets: preemption.HardBudgets{All: true}}.Preempt(
		preemption.Preemptor{Pods: []preemption.Pod{{Name: "web", Priority: &high, Requests: cpus(1)}}}, s)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, r.Verdict)
	require.Equal(t, &preemption.Nearest{Domain: "n0", Relaxations: []preemption.Relaxation{{Kind: preemption.RelaxPriority, Amount: 1001}}}, r.Nearest)
	require.Zero(t, came)
	require.Positive(t, left) // p00 and nobody promised: without the nomination it fits
}
