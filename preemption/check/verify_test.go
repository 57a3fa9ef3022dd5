package check_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/genopts"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

var long = flag.Bool("long", false, "verify ten times as many answers")

// questions is how many are verified; three fifths of them with every forgery.
func questions() int {
	if *long {
		return 10_000
	}
	return 1_000
}

// randomQuestion is a question of one of the kinds that there are, with options.
func randomQuestion(seed uint64) (gen.Question, preemption.Options) {
	o := preemption.Options{
		Rules:      []preemption.Rules{preemption.Kubernetes137, preemption.Kubernetes136, preemption.KEP5710Alpha}[seed%3],
		Candidates: seed/3%2 == 0, Proof: seed%7 < 2,
	}
	kind := seed / 6 % 8
	seed /= 48
	switch seed % 5 {
	case 1:
		o.Guards = gen.Guards(seed)
	case 2:
		o.Cost.Tariff = disruption.Tariff{Fixed: 1, Milestones: 2, Restart: 3, Pods: 5, Work: map[string]disruption.Rate{"cpu": {Price: 1, Per: 1000}}}
		o.Cost.Criterion, o.Cost.Importance = int(seed/5%7), seed/35%2 == 0
	case 3:
		o.HardBudgets.All = seed/5%2 == 0
		o.Limits = preemption.Limits{Victims: int64(seed / 10 % 4), Pods: int64(seed / 40 % 5)}
	case 4:
		o.BrokenGroupsFree, o.PreferMovable, o.LowestLevel = seed/5%2 == 0, seed/10%2 == 0, seed/20%3 == 0
		o.PreemptionPriority.Apart = seed/60%2 == 0
		o.Members = []preemption.Members{"", preemption.MinCount, preemption.AllThatFit}[seed/120%3]
	}
	guarded := gen.Everything()
	guarded.Guards, guarded.Odd = true, false
	switch kind {
	case 0:
		return gen.Random(seed, gen.Everything()), o
	case 1:
		return gen.Random(seed, guarded), o
	case 2:
		return gen.RandomGang(seed, gen.EverythingForGangs()), o
	case 3:
		p := gen.EverythingForGangs()
		p.Ties, p.Wishes = true, true
		return gen.RandomGang(seed, p), o
	case 4:
		return dressed(seed, gen.Random(seed, guarded)), o
	case 5:
		p := gen.EverythingForGangs()
		p.Ties = true
		return dressed(seed, gen.RandomGang(seed, p)), o
	}
	return gen.Random(seed, gen.Profile{MaxNodes: 12, MaxPods: 60, Budgets: true, Groups: true, Classes: true, Nominations: true}), o
}

// dressed gives the objects of q prices, elastic groups, tokens, devices and wishes about
// each other.
func dressed(seed uint64, q gen.Question) gen.Question {
	rng := rand.New(rand.NewPCG(seed, 1))
	some := func(percent int) bool { return rng.IntN(100) < percent }
	for i := range q.Snapshot.Nodes {
		n := &q.Snapshot.Nodes[i]
		if n.Labels == nil {
			n.Labels = map[string]string{}
		}
		n.Labels["rack"] = fmt.Sprint(i / 2)
		if some(70) {
			n.Devices = map[string]cluster.DevicePool{"gpu": {Count: int32(1 + rng.IntN(4)), Capacity: 100}}
		}
	}
	cost := func() *cluster.Cost {
		if some(50) {
			return nil
		}
		return &cluster.Cost{
			Fixed: rng.Int64N(5), RestartSeconds: rng.Int64N(3), Milestones: []cluster.Milestone{{Seconds: 3600, Value: rng.Int64N(7)}, {Seconds: 7200, Value: rng.Int64N(7)}},
		}
	}
	for i := range q.Snapshot.PodGroups {
		g := &q.Snapshot.PodGroups[i]
		g.Cost = cost()
		if some(40) && g.MinCount != nil {
			g.Mode = disruption.SurplusFirst
		}
	}
	for i := range q.Snapshot.CompositePodGroups {
		q.Snapshot.CompositePodGroups[i].Cost = cost()
	}
	dress := func(p *preemption.Pod) {
		p.Cost = cost()
		if some(40) {
			p.Labels = map[string]string{"app": []string{"web", "db"}[rng.IntN(2)]}
		}
		if some(10) {
			p.Tokens = []string{[]string{"a", "b"}[rng.IntN(2)]}
		}
		if some(30) {
			p.Devices = []cluster.DeviceRequest{{Resource: "gpu", Count: 1}}
			if some(60) {
				p.Devices[0] = cluster.DeviceRequest{Resource: "gpu", Fraction: 10 * (1 + rng.Int64N(9))}
			}
		}
		term := cluster.AffinityTerm{TopologyKey: []string{"zone", "rack"}[rng.IntN(2)], Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "web"}}}
		switch rng.IntN(20) {
		case 0, 1:
			p.AntiAffinity = []cluster.AffinityTerm{term}
		case 2:
			p.Affinity = []cluster.AffinityTerm{term}
		case 3, 4:
			p.Spread = []cluster.Spread{{MaxSkew: int32(1 + rng.IntN(2)), TopologyKey: term.TopologyKey, Selector: term.Selector}}
		}
	}
	for i := range q.Snapshot.Pods {
		dress(&q.Snapshot.Pods[i])
	}
	for i := range q.Preemptor.Pods {
		dress(&q.Preemptor.Pods[i])
	}
	return q
}

func TestRandomAnswersAreTrue(t *testing.T) {
	t.Parallel()
	n, shown := questions(), map[string]int{}
	if testing.Short() {
		n = n * 2 / 5
	}
	verdicts := map[preemption.Verdict]int{}
	for seed := range uint64(n) {
		q, o := randomQuestion(seed)
		r, err := o.Preempt(q.Preemptor, &q.Snapshot)
		if err != nil {
			continue
		}
		verdicts[r.Verdict]++
		for _, p := range check.Verify(&q.Snapshot, o, q.Preemptor, r) {
			key := string(p.Rule)
			if shown[key]++; shown[key] <= 3 {
				t.Errorf("seed %d (%s, kind %d, options %d): %s: %s", seed, o.Rules, seed/6%8, seed/48%5, r.Message, p)
			}
		}
	}
	t.Log(verdicts, shown)
}

// TestAGangThatFitsIsReadWhereItGoes: packed or spread, as it is asked for.
func TestAGangThatFitsIsReadWhereItGoes(t *testing.T) {
	s := preemption.Snapshot{Nodes: []cluster.Node{
		{Name: "n1", Allocatable: cluster.Resources{"cpu": 2}}, {Name: "n2", Allocatable: cluster.Resources{"cpu": 3}},
	}}
	least := int32(2)
	p := preemption.Preemptor{Group: &cluster.PodGroup{Name: "g", MinCount: &least}}
	for i := range 2 {
		p.Pods = append(p.Pods, cluster.Pod{Name: fmt.Sprint("m", i), Group: "g", Requests: cluster.Resources{"cpu": 1}})
	}
	packed, spread := preemption.Options{}, preemption.Options{Placement: preemption.PlaceSpread}
	for _, ways := range [][2]preemption.Options{{packed, spread}, {spread, packed}} {
		r, err := ways[0].Preempt(p, &s)
		if err != nil {
			t.Fatal(err)
		}
		if problems := check.Verify(&s, ways[0], p, r); len(problems) > 0 {
			t.Errorf("%v: %v", ways[0].Placement, problems)
		}
		if problems := check.Verify(&s, ways[1], p, r); len(problems) != 1 || problems[0].Rule != check.RuleFits {
			t.Errorf("%v read as %v: %v", ways[0].Placement, ways[1].Placement, problems)
		}
	}
}

// TestMembersThatAFilterTellsApart: they are not alike, one of them may have no node where the other
// has room.
func TestMembersThatAFilterTellsApart(t *testing.T) {
	s := preemption.Snapshot{Nodes: []cluster.Node{
		{Name: "n1", Allocatable: cluster.Resources{"cpu": 1}}, {Name: "n2", Allocatable: cluster.Resources{"cpu": 3}},
	}}
	p := preemption.Preemptor{Group: &cluster.PodGroup{Name: "g", Basic: true}, Pods: []cluster.Pod{
		{Name: "m0", Group: "g", Requests: cluster.Resources{"cpu": 1}},
		{Name: "m1", Group: "g", Requests: cluster.Resources{"cpu": 1}, Labels: map[string]string{"app": "web"}},
	}}
	onlyN1 := func(p *preemption.Pod, n *preemption.Node) bool { return p.Labels["app"] == "web" && n.Name == "n1" }
	o := preemption.Options{Hooks: &preemption.Hooks{Filter: onlyN1}}
	r, err := o.Preempt(p, &s)
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != preemption.Fits || len(r.Nominations) != 1 || r.Nominations[0].Node != "n1" {
		t.Errorf("%s: %v", r.Message, r.Nominations)
	}
	if problems := check.Verify(&s, o, p, r); len(problems) > 0 {
		t.Error(problems)
	}
}

// Of a composite that fits only beside a member whose own group has too few, nobody says that it fits.
func TestMembersAreNotToLeanOnThoseLeftOut(t *testing.T) {
	high, one, two := int32(9), int32(1), int32(2)
	web, zone := map[string]string{"app": "web"}, func(z string) map[string]string { return map[string]string{"zone": z} }
	cpu := func(n int64) cluster.Resources { return cluster.Resources{"cpu": n} }
	s := &preemption.Snapshot{
		Nodes: []cluster.Node{{Name: "n1", Labels: zone("a"), Allocatable: cpu(2)}, {Name: "n2", Labels: zone("b"), Allocatable: cpu(2)}},
		Pods: []cluster.Pod{
			{Name: "web", Node: "n2", Labels: web, Requests: cpu(1), Priority: &high}, {Name: "batch", Node: "n2", Requests: cpu(1)},
			{Name: "m1", Group: "few", Labels: web, Requests: cpu(1)}, {Name: "m2", Group: "few", Requests: cpu(3)},
			{Name: "m3", Group: "others", Requests: cpu(1), Affinity: []cluster.AffinityTerm{{TopologyKey: "zone", Selector: &disruption.Selector{MatchLabels: web}}}},
		},
		PodGroups:          []cluster.PodGroup{{Name: "few", Parent: "tree", MinCount: &two, Priority: &high}, {Name: "others", Parent: "tree", Priority: &high}},
		CompositePodGroups: []cluster.CompositePodGroup{{Name: "tree", Priority: &high, MinGroupCount: &one}},
	}
	p := preemption.Preemptor{Kind: cluster.KindCompositePodGroup, Name: "tree"}
	r, err := preemption.Preempt(p, s)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict, r.Message)
	require.Empty(t, check.Verify(s, preemption.Options{}, p, r))
}

// Where the victim of a gang could go is asked of the victim as a lone pod, for which an empty selector counts who is nominated.
func TestVictimsOfAGangAskAsLonePods(t *testing.T) {
	high, cpu := int32(9), cluster.Resources{"cpu": 1}
	s := &preemption.Snapshot{
		Nodes: []cluster.Node{{Name: "n1", Labels: map[string]string{"zone": "a"}, Allocatable: cluster.Resources{"cpu": 2}}, {Name: "n2", Allocatable: cpu}},
		Pods: []cluster.Pod{
			{Name: "web", NominatedNode: "n1", Requests: cpu, Priority: &high},
			{Name: "batch", Node: "n2", Requests: cpu, Spread: []cluster.Spread{{MaxSkew: 1, MinDomains: 2, TopologyKey: "zone", Selector: &disruption.Selector{}}}},
		},
	}
	o := preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionStranded}}
	p := preemption.Preemptor{Group: &cluster.PodGroup{Name: "g", Priority: &high}, Pods: []cluster.Pod{{Name: "m", Group: "g", Requests: cpu, RequiredNode: "n2"}}}
	r, err := o.Preempt(p, s)
	require.NoError(t, err)
	require.Equal(t, []preemption.Criterion{{Name: "pods without a place", Value: 1}}, r.Score, r.Message)
	require.Empty(t, check.Verify(s, o, p, r))

	s.Nodes = append(s.Nodes, cluster.Node{Name: "n3", Labels: map[string]string{"zone": "b"}, Allocatable: cpu})
	o = preemption.Options{Limits: preemption.Limits{OnlyMoves: true}}
	r, err = o.Preempt(p, s)
	require.NoError(t, err)
	require.Equal(t, []preemption.Nomination{{Pod: preemption.PodRef{Name: "batch"}, Node: "n3"}}, r.Moves)
	require.Empty(t, check.Verify(s, o, p, r))
}

// Of a gang so large that places may not have been looked for everywhere, an answer that is not Exact does not
// say that all were found.
func TestWhatWasNotLookedForIsNoProblem(t *testing.T) {
	for _, nodes := range []int{1000, 1200} {
		least, s := int32(1), &preemption.Snapshot{}
		p := preemption.Preemptor{Group: &preemption.PodGroup{Name: "gang", MinCount: &least}}
		for i := range nodes {
			s.Nodes = append(s.Nodes, preemption.Node{Name: fmt.Sprint("n", i), Allocatable: preemption.Resources{"cpu": 1999}})
			if i < 1000 {
				p.Pods = append(p.Pods, preemption.Pod{Name: fmt.Sprint("p", i), Group: "gang", Requests: preemption.Resources{"cpu": int64(1000 + i%10)}})
			}
		}
		r, err := preemption.Preempt(p, s)
		require.NoError(t, err)
		require.Equal(t, preemption.Fits, r.Verdict)
		r.Nominations = r.Nominations[1:]
		require.NotEmpty(t, check.Verify(s, preemption.Options{}, p, r))
		r.Stats.Exact = false
		require.Equal(t, nodes > 1049, len(check.Verify(s, preemption.Options{}, p, r)) == 0)
	}
}

// dear prices every eviction the same, whatever the tariff says.
type dear int64

func (d dear) Price(*cluster.Index, cluster.GroupID, []cluster.PodID) int64 { return int64(d) }

// TestAPriceOfTheUsersOwnMayForbid: nobody says that an eviction would do whose price,
// which the options do not tell, goes beyond a limit.
func TestAPriceOfTheUsersOwnMayForbid(t *testing.T) {
	low, high := int32(0), int32(9)
	s := &preemption.Snapshot{Nodes: nodes(2), Pods: []preemption.Pod{
		{Name: "on", Node: "n1", Priority: &low, Requests: preemption.Resources{cluster.CPU: 2}},
	}}
	p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "p", Priority: &high, Requests: preemption.Resources{cluster.CPU: 1}}}}
	o := preemption.Options{Cost: preemption.CostOptions{Tariff: disruption.Tariff{Pods: 1}}, Limits: preemption.Limits{Cost: 1}}
	for price, want := range map[dear]preemption.Verdict{1: preemption.Feasible, 2: preemption.Infeasible} {
		o.Hooks = &preemption.Hooks{Cost: price}
		r, err := o.Preempt(p, s)
		require.NoError(t, err)
		require.Equal(t, want, r.Verdict)
		require.Empty(t, check.Verify(s, o, p, r))
	}
}

// each is a splitter with a domain for each node, of its name.
type each struct{}

func (each) Split(dst []domain.Domain, ix *cluster.Index) []domain.Domain {
	for n := range cluster.NodeID(ix.NumNodes()) {
		dst = append(dst, domain.Domain{Name: ix.Node(n).Name, Nodes: []cluster.NodeID{n}})
	}
	return dst
}

// TestTheDomainsOfASplitterAreKnown: who is kept in another domain is not to be listed, a
// member is not to go there, and nobody says that nothing helps where something does.
func TestTheDomainsOfASplitterAreKnown(t *testing.T) {
	low, high, two := int32(0), int32(9), int32(2)
	s := &preemption.Snapshot{Nodes: nodes(2, 2)}
	for _, n := range []string{"n1", "n2"} {
		s.Pods = append(s.Pods, preemption.Pod{Name: "on-" + n, Node: n, Priority: &low, Requests: preemption.Resources{cluster.CPU: 2}})
	}
	s.Pods[0].Guard = &cluster.Guard{Standby: true}
	gang := preemption.Preemptor{Group: &preemption.PodGroup{Name: "gang", MinCount: &two, Priority: &high}}
	for _, name := range []string{"a", "b"} {
		gang.Pods = append(gang.Pods, preemption.Pod{Name: name, Group: "gang", Priority: &high, Requests: preemption.Resources{cluster.CPU: 1}})
	}
	o := preemption.Options{Hooks: &preemption.Hooks{Splitter: each{}}}
	rules := func(forge func(r *preemption.Result)) (list []check.Rule) {
		r, err := o.Preempt(gang, s)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict)
		require.Equal(t, "n2", r.Domain)
		forge(r)
		for _, p := range check.Verify(s, o, gang, r) {
			list = append(list, p.Rule)
		}
		return list
	}
	require.Empty(t, rules(func(*preemption.Result) {}))
	require.Contains(t, rules(func(r *preemption.Result) { r.Nominations[0].Node = "n1" }), check.RuleFits)
	require.Contains(t, rules(func(r *preemption.Result) { r.Domain = "cluster" }), check.RuleForm)
	require.Contains(t, rules(func(r *preemption.Result) {
		*r = preemption.Result{Verdict: preemption.Infeasible, Preemptor: r.Preemptor, Stats: r.Stats}
	}), check.RuleInfeasible)
}

// TestWhatIsPreferredIsRead: another node that fits or ties is not what the pod prefers, and
// one that does not offer what it asks for is no candidate.
func TestWhatIsPreferredIsRead(t *testing.T) {
	node := func(name string, cores int64) preemption.Node {
		return preemption.Node{Name: name, Allocatable: preemption.Resources{"cpu": cores}}
	}
	pod := func(name, on string, cores int64) preemption.Pod {
		return preemption.Pod{Name: name, Node: on, Requests: preemption.Resources{"cpu": cores}}
	}
	nine := int32(9)
	web := preemption.Preemptor{Pods: []preemption.Pod{{Name: "web", Priority: &nine, Requests: preemption.Resources{"cpu": 2}}}}
	o := preemption.Options{Prefer: preemption.LeastAllocated, Candidates: true}
	fits := &preemption.Snapshot{Nodes: []preemption.Node{node("a", 4), node("b", 8)}}
	ties := &preemption.Snapshot{
		Nodes: []preemption.Node{node("a", 4), node("b", 6), {Name: "bare"}},
		Pods:  []preemption.Pod{pod("a1", "a", 2), pod("a2", "a", 2), pod("b1", "b", 3), pod("b2", "b", 3)},
	}
	for name, c := range map[string]struct {
		snapshot *preemption.Snapshot
		forge    func(r *preemption.Result)
	}{
		"the first that fits":        {fits, func(r *preemption.Result) { r.Domain, r.Nominations[0].Node = "a", "a" }},
		"a candidate that is bare":   {ties, func(r *preemption.Result) { r.Candidates[0].Domain = "bare" }},
		"the other one that ties":    {ties, func(r *preemption.Result) { choose(r, "a") }},
		"a node that offers nothing": {ties, func(r *preemption.Result) { r.Domain, r.Nominations[0].Node = "bare", "bare" }},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := o.Preempt(web, c.snapshot)
			require.NoError(t, err)
			require.Equal(t, "b", r.Domain)
			require.Empty(t, check.Verify(c.snapshot, o, web, r))
			c.forge(r)
			require.NotEmpty(t, check.Verify(c.snapshot, o, web, r))
		})
	}
}

// choose lets the candidate on that node be the answer.
func choose(r *preemption.Result, node string) {
	c := r.Candidates[slices.IndexFunc(r.Candidates, func(c preemption.Candidate) bool { return c.Domain == node })]
	r.Domain, r.Nominations[0].Node = node, node
	r.Victims, r.Score, r.Violations, r.Overruns = c.Victims, c.Score, c.Violations, c.Overruns
}

func TestMain(m *testing.M) { gen.Tests(m) }

// TestAProofWhereNoneIsGivenIsFound: where nothing can be shown, nobody has to go, or the preemptor may not preempt, nothing
// is proved, whatever is claimed.
func TestAProofWhereNoneIsGivenIsFound(t *testing.T) {
	claim := &preemption.Proof{Bound: []preemption.Criterion{{Name: "pods", Value: 1 << 40}}}
	met := map[string]int{}
	for seed := range uint64(2000) {
		q, o := randomQuestion(seed)
		switch seed % 4 {
		case 0:
			q, o = genopts.RandomQuota(seed)
		case 1:
			q = gen.RandomWorld(seed)
		}
		o.Proof = true
		r, err := o.Preempt(q.Preemptor, &q.Snapshot)
		if err != nil || r.Proof != nil {
			continue
		}
		about := string(r.Preemptor.Kind) + " " + string(r.Verdict)
		if r.Quota != nil {
			about += ", of a queue"
		} else if r.Preemptor.Kind == preemption.KindPod && r.Verdict == preemption.Infeasible {
			continue // that nothing helps is true, and may be shown by nothing
		}
		met[about]++
		for _, p := range []*preemption.Proof{claim, {}} {
			r.Proof = p
			problems := check.Verify(&q.Snapshot, o, q.Preemptor, r)
			require.NotEmpty(t, problems, "seed %d: %s", seed, about)
			require.Contains(t, rulesOf(problems), check.RuleProof, "seed %d: %s", seed, about)
		}
	}
	t.Log(met)
	for _, about := range []string{
		"Pod fits without preemption", "Pod not eligible", "Pod waiting", "PodGroup feasible, of a queue", "PodGroup feasible", "PodGroup infeasible", "PodGroup fits without preemption",
		"Workload feasible, of a queue", "Workload fits without preemption, of a queue", "Workload infeasible, of a queue",
	} {
		require.Positive(t, met[about], about)
	}
}

func rulesOf(problems []check.Problem) (list []check.Rule) {
	for _, p := range problems {
		list = append(list, p.Rule)
	}
	return list
}

// keeps is an Eligible that lets nobody go of a name.
type keeps string

func (k keeps) Kept(us *victims.Units, u victims.UnitID, p victims.Claim) victims.Kept {
	if us.Index().Pod(us.Unit(u).Pods[0]).Name == string(k) {
		return victims.Kept{Rule: "kept by name"}
	}
	return victims.LowerPriority{}.Kept(us, u, p)
}

// TestWhoLeftForACandidateIsBackForTheProof: a group of several nodes would have to go from a node where that does not help, which is no
// candidate; for what is proved about the node it runs there still.
func TestWhoLeftForACandidateIsBackForTheProof(t *testing.T) {
	low, high := int32(0), int32(10)
	for _, mode := range []disruption.Mode{disruption.All, disruption.SurplusFirst} {
		s := &preemption.Snapshot{Nodes: nodes(4, 4, 4), PodGroups: []preemption.PodGroup{{Name: "wide", Mode: mode, MinCount: new(int32(1))}}}
		for i, n := range s.Nodes {
			s.Pods = append(s.Pods, preemption.Pod{Name: "wide-" + n.Name, Group: "wide", Node: n.Name, Priority: &low, Requests: preemption.Resources{cluster.CPU: 2}})
			keeps := &low
			if i == 0 {
				keeps = &high
			}
			s.Pods = append(s.Pods, preemption.Pod{Name: "lone-" + n.Name, Node: n.Name, Priority: keeps, Requests: preemption.Resources{cluster.CPU: 2}})
		}
		s.Pods = append(s.Pods, preemption.Pod{
			Name: "in", Priority: &high, Requests: preemption.Resources{cluster.CPU: 3},
			AntiAffinity: []cluster.AffinityTerm{{TopologyKey: "host", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "in"}}}},
		})
		p, o := preemption.Preemptor{Kind: preemption.KindPod, Name: "in"}, preemption.Options{Proof: true, Candidates: true}
		r, err := o.Preempt(p, s)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict)
		require.NotNil(t, r.Proof)
		require.Len(t, r.Candidates, 2)
		require.Empty(t, check.Verify(s, o, p, r))
	}
}

// TestWhoLeftForANodeAttractsTheNext: a group of two nodes attracts the preemptor; where it would have to go from the first, it is there for
// the second, on which pods keep the preemptor away that may go. That no eviction helps, or that the second is no candidate, is not true.
func TestWhoLeftForANodeAttractsTheNext(t *testing.T) {
	selects := func(app string) *disruption.Selector {
		return &disruption.Selector{MatchLabels: map[string]string{"app": app}}
	}
	world := func(keeper int32, nodes ...string) *preemption.Snapshot {
		low, high := int32(0), int32(10)
		s := &preemption.Snapshot{PodGroups: []preemption.PodGroup{{Name: "wide", Mode: disruption.All}}}
		for _, name := range nodes {
			s.Nodes = append(s.Nodes, preemption.Node{
				Name: name, Labels: map[string]string{"zone": "z", "host": name}, Allocatable: preemption.Resources{cluster.CPU: 4},
			})
			pod := preemption.Pod{Name: "wide-" + name, Group: "wide", Node: name, Priority: &low, Labels: map[string]string{"app": "wide"}, Requests: preemption.Resources{cluster.CPU: 4}}
			if name == "b" || name == "d" {
				pod = preemption.Pod{Name: "keeps-" + name, Node: name, Priority: &keeper, Labels: map[string]string{"app": "keeps"}}
			}
			s.Pods = append(s.Pods, pod)
		}
		s.Pods = append(s.Pods, preemption.Pod{
			Name: "in", Priority: &high, Requests: preemption.Resources{cluster.CPU: 4},
			Affinity:     []cluster.AffinityTerm{{TopologyKey: "zone", Selector: selects("wide")}},
			AntiAffinity: []cluster.AffinityTerm{{TopologyKey: "host", Selector: selects("keeps")}},
		})
		return s
	}
	p := preemption.Preemptor{Kind: preemption.KindPod, Name: "in"}
	no, err := preemption.Preempt(p, world(20, "a", "b", "c"))
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, no.Verdict)
	require.Empty(t, check.Verify(world(20, "a", "b", "c"), preemption.Options{}, p, no))
	require.NotEmpty(t, check.Verify(world(0, "a", "b", "c"), preemption.Options{}, p, no))

	s, o := world(0, "a", "b", "c", "d"), preemption.Options{Candidates: true}
	r, err := o.Preempt(p, s)
	require.NoError(t, err)
	require.Len(t, r.Candidates, 2)
	require.Empty(t, check.Verify(s, o, p, r))
	r.Candidates = slices.DeleteFunc(r.Candidates, func(c preemption.Candidate) bool { return c.Domain != r.Domain })
	require.NotEmpty(t, check.Verify(s, o, p, r))
}

// TestAHookSaysWhoMovesForOthers: who has a place in a chain of moves depends on it.
func TestAHookSaysWhoMovesForOthers(t *testing.T) {
	four, five, hundred := int32(4), int32(5), int32(100)
	full := preemption.Resources{cluster.CPU: 2}
	s := &preemption.Snapshot{}
	for _, name := range []string{"n1", "n2", "n3"} {
		s.Nodes = append(s.Nodes, preemption.Node{Name: name, Labels: map[string]string{name: ""}, Allocatable: full})
	}
	s.Pods = []preemption.Pod{
		{Name: "moves", Node: "n1", Priority: &five, Requests: full, NodeSelector: map[string]string{"n2": ""}},
		{Name: "makes-room", Node: "n2", Priority: &four, Requests: full},
	}
	p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "web", Priority: &hundred, Requests: full, NodeSelector: map[string]string{"n1": ""}}}}
	for name, stranded := range map[keeps]int64{"nobody": 0, "makes-room": 1} {
		o := preemption.Options{Chain: 1, Hooks: &preemption.Hooks{Eligible: name}, Objective: []preemption.CriterionName{preemption.CriterionStranded}}
		r, err := o.Preempt(p, s)
		require.NoError(t, err)
		require.Equal(t, stranded, r.Score[0].Value)
		require.Empty(t, check.Verify(s, o, p, r))
		r.Score[0].Value = -1
		require.NotEmpty(t, check.Verify(s, o, p, r), "no fewer than if all may go")
	}
}
