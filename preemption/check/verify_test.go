package check_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

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

var long = flag.Int("long", 0, "the percentage of answers to verify; 10 at least")

// questions is how many are verified; three fifths of them with every forgery.
func questions() int { return 100 * max(*long, 10) }

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

// TestVictimsOfAGangMayHaveComeBackByHalves: one too many is a problem, unless the answer may have been cut short.
func TestVictimsOfAGangMayHaveComeBackByHalves(t *testing.T) {
	for _, nodes := range []int{161, 162} {
		s, p := &preemption.Snapshot{}, preemption.Preemptor{Group: &preemption.PodGroup{Name: "gang", Priority: new(int32(1))}}
		for i := range nodes {
			s.Nodes = append(s.Nodes, preemption.Node{Name: fmt.Sprint("n", i), Allocatable: preemption.Resources{"cpu": 1}})
			s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint("r", i), Node: fmt.Sprint("n", i), Requests: preemption.Resources{"cpu": 1}})
		}
		for i := range 2 {
			p.Pods = append(p.Pods, preemption.Pod{Name: fmt.Sprint("p", i), Group: "gang", Requests: preemption.Resources{"cpu": 1}})
		}
		r, err := preemption.Preempt(p, s)
		require.NoError(t, err)
		require.Len(t, r.Victims, 2)
		more := r.Victims[1]
		i := slices.IndexFunc(s.Pods, func(x preemption.Pod) bool {
			return !slices.ContainsFunc(r.Victims, func(v preemption.Victim) bool { return v.Name == x.Name })
		})
		more.Name = s.Pods[i].Name
		more.Pods = slices.Clone(more.Pods)
		more.Pods[0].Name, more.Pods[0].Node = s.Pods[i].Name, s.Pods[i].Node
		r.Victims = append(r.Victims, more)
		require.Contains(t, rulesOf(check.Verify(s, preemption.Options{}, p, r)), check.RuleMinimal)
		r.Stats.Exact = false
		require.Equal(t, nodes == 161, slices.Contains(rulesOf(check.Verify(s, preemption.Options{}, p, r)), check.RuleMinimal))
	}
}

// TestVictimsOfAPodMayHaveComeBackByHalves: likewise beside many fractions of devices, where every other pod has to go.
func TestVictimsOfAPodMayHaveComeBackByHalves(t *testing.T) {
	for _, pods := range []int{126, 1000} {
		app := func(i int) map[string]string { return map[string]string{"app": fmt.Sprint(i * 7919 % 101 % 2)} }
		s := &preemption.Snapshot{Nodes: []preemption.Node{{Name: "n", Devices: map[string]cluster.DevicePool{"gpu": {Count: 1000, Capacity: 10}}}}}
		for i := range 63 {
			s.Nodes = append(s.Nodes, preemption.Node{Name: fmt.Sprint("without", i)})
		}
		s.Nodes[0].Labels = map[string]string{"host": "n"}
		goes := 0
		for i := range pods {
			goes += i * 7919 % 101 % 2
			s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint("r", i), Labels: app(i), Node: "n", Devices: []cluster.DeviceRequest{{Resource: "gpu", Fraction: 9}}})
		}
		p := preemption.Preemptor{Pods: []preemption.Pod{{
			Name: "in", Priority: new(int32(1)), Devices: []cluster.DeviceRequest{{Resource: "gpu", Count: 1}},
			AntiAffinity: []cluster.AffinityTerm{{TopologyKey: "host", Selector: &disruption.Selector{MatchLabels: app(1)}}},
		}}}
		r, err := preemption.Preempt(p, s)
		require.NoError(t, err)
		require.Empty(t, check.Verify(s, preemption.Options{}, p, r))
		if require.Equal(t, pods == 126, r.Stats.Exact); pods > 126 {
			require.Greater(t, len(r.Victims), goes+1)
			o := preemption.Options{Limits: preemption.Limits{Victims: int64(goes + 1)}} // a search begins with whom giving back leaves
			limited, err := o.Preempt(p, s)
			require.NoError(t, err)
			require.Equal(t, preemption.Infeasible, limited.Verdict)
			require.False(t, limited.Stats.Exact)
			require.Empty(t, check.Verify(s, o, p, limited))
			continue
		}
		require.Len(t, r.Victims, goes)
		r.Victims = append(r.Victims, r.Victims[0])
		more := &r.Victims[goes]
		more.Name = "r0"
		more.Pods = slices.Clone(more.Pods)
		more.Pods[0].Name = "r0"
		r.Stats.Exact = false
		require.Contains(t, rulesOf(check.Verify(s, preemption.Options{}, p, r)), check.RuleMinimal)
	}
}

// TestReasonsOfAPodMayNotBeLookedAt: of victims that hold many fractions of devices, once as many seats were looked for as giving back may. Those
// whom a search chose are told of as well.
func TestReasonsOfAPodMayNotBeLookedAt(t *testing.T) {
	s := &preemption.Snapshot{Nodes: []preemption.Node{{Name: "n", Devices: map[string]cluster.DevicePool{"gpu": {Count: 400, Capacity: 1_000_000}}}}}
	for i := range 63 {
		s.Nodes = append(s.Nodes, preemption.Node{Name: fmt.Sprint("without", i)})
	}
	for i := range 800 {
		s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint("r", i), Node: "n", Devices: []cluster.DeviceRequest{{Resource: "gpu", Fraction: int64(400_000 + i)}}})
	}
	p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "in", Priority: new(int32(1)), Devices: []cluster.DeviceRequest{{Resource: "gpu", Count: 300}}}}}
	for _, o := range []preemption.Options{{}, {Objective: []preemption.CriterionName{preemption.CriterionPods}, Search: preemption.Exact}} {
		r, err := o.Preempt(p, s)
		require.NoError(t, err)
		told := map[string]int{}
		for _, v := range r.Victims {
			told[string(v.Reason.Check)]++
		}
		require.Equal(t, len(r.Victims), told["device"]+told["not looked at"])
		require.Positive(t, min(told["device"], told["not looked at"]))
		require.Empty(t, check.Verify(s, o, p, r))
	}
}

// TestWhoGoesLastIsTakenFirst: as by a search of few steps.
func TestWhoGoesLastIsTakenFirst(t *testing.T) {
	one, cpu := int32(1), func(n int64) cluster.Resources { return cluster.Resources{"cpu": n} }
	s := &preemption.Snapshot{
		Nodes:              []cluster.Node{{Name: "n", Allocatable: cpu(4)}},
		CompositePodGroups: []cluster.CompositePodGroup{{Name: "top", Mode: disruption.SurplusFirst, MinGroupCount: &one}},
		PodGroups:          []cluster.PodGroup{{Name: "a", Parent: "top"}, {Name: "b", Parent: "top", Mode: disruption.All}},
		Pods: []cluster.Pod{
			{Name: "x", Group: "a", Node: "n", Requests: cpu(1)}, {Name: "y", Group: "b", Node: "n", Requests: cpu(1), Priority: &one}, {Name: "z", Group: "b", Node: "n", Requests: cpu(2)},
		},
	}
	p := preemption.Preemptor{Pods: []cluster.Pod{{Name: "p", Priority: &one, Requests: cpu(3)}}}
	for steps, stay := range []int{1, 0} {
		o := preemption.Options{SearchSteps: steps}
		r, err := o.Preempt(p, s)
		require.NoError(t, err)
		require.Len(t, r.Victims[0].Pods, 3-stay)
		require.Empty(t, check.Verify(s, o, p, r))
	}
}

// TestProblemsHaveNamesInShort: what they tell has 100 bytes of a long name, alone or in a list.
func TestProblemsHaveNamesInShort(t *testing.T) {
	long := strings.Repeat("n", 1<<20)
	s := &preemption.Snapshot{
		Nodes:   []preemption.Node{{Name: long, Allocatable: preemption.Resources{"cpu": 1}}},
		Pods:    []preemption.Pod{{Name: long, Node: long, Requests: preemption.Resources{"cpu": 1}, Labels: map[string]string{"a": "b"}}},
		Budgets: []preemption.Budget{{Name: long, Selector: &disruption.Selector{}}},
	}
	p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "p", Priority: new(int32(1)), Requests: preemption.Resources{"cpu": 1}}}}
	r, err := preemption.Preempt(p, s)
	require.NoError(t, err)
	require.Empty(t, check.Verify(s, preemption.Options{}, p, r))
	r.Victims[0].Budgets, r.Victims[0].Reason.Node, r.Cleared = nil, long+"m", []preemption.PodRef{{Name: long}}
	told := check.Verify(s, preemption.Options{}, p, r)
	require.Equal(t, []check.Rule{check.RuleReason, check.RuleBudgets, check.RuleCleared}, rulesOf(told))
	for _, problem := range told {
		require.Contains(t, problem.Text, "n... (10485", problem.Rule)
		require.Less(t, len(problem.String()), 600)
	}
}

// TestTheLowestLevelUsesUpLooks: a member that is left out is a problem, unless places may not have been looked for to the end on each level.
func TestTheLowestLevelUsesUpLooks(t *testing.T) {
	for _, levels := range []int{2, 3} {
		s, p := &preemption.Snapshot{}, preemption.Preemptor{Group: &preemption.PodGroup{Name: "gang", Priority: new(int32(9)), MinCount: new(int32(1))}}
		for i := range 600 {
			s.Nodes = append(s.Nodes, preemption.Node{Name: fmt.Sprint("n", i), Allocatable: preemption.Resources{"cpu": 2}})
			s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint("r", i), Node: fmt.Sprint("n", i), Priority: new(int32(i % levels)), Requests: preemption.Resources{"cpu": 2}})
			p.Pods = append(p.Pods, preemption.Pod{Name: fmt.Sprint("p", i), Group: "gang", Requests: preemption.Resources{"cpu": 1}})
		}
		o := preemption.Options{Members: preemption.MinCount, LowestLevel: true}
		r, err := o.Preempt(p, s)
		require.NoError(t, err)
		require.Len(t, r.Nominations, 2)
		r.Nominations = r.Nominations[1:]
		require.Contains(t, rulesOf(check.Verify(s, o, p, r)), check.RuleFits)
		r.Stats.Exact = false
		require.Equal(t, levels == 2, slices.Contains(rulesOf(check.Verify(s, o, p, r)), check.RuleFits))
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

// TestEachLimitIsRead: of two victims, in the question or, with what went before, in the window.
func TestEachLimitIsRead(t *testing.T) {
	low, high := int32(0), int32(9)
	s := &preemption.Snapshot{Nodes: nodes(2), Time: time.Unix(100, 0)}
	for _, name := range []string{"a", "b"} {
		s.Pods = append(s.Pods, preemption.Pod{Name: name, Node: "n1", Priority: &low, Requests: preemption.Resources{cluster.CPU: 1}})
	}
	p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "p", Priority: &high, Requests: preemption.Resources{cluster.CPU: 2}}}}
	o := preemption.Options{Cost: preemption.CostOptions{Tariff: disruption.Tariff{Pods: 1}}}
	r, err := o.Preempt(p, s)
	require.NoError(t, err)
	require.Len(t, r.Victims, 2)
	for most := int64(1); most < 5; most++ {
		for name, limit := range map[string]*int64{
			"victims": &o.Limits.Victims, "pods": &o.Limits.Pods, "cost": &o.Limits.Cost,
			"victims in the window": &o.Limits.Window.Victims, "pods in the window": &o.Limits.Window.Pods, "cost in the window": &o.Limits.Window.Cost,
		} {
			o.Limits.Window.Seconds = 10
			*limit = most
			for _, ago := range []int64{9, 10, 11} {
				s.Disruptions = []cluster.Disruption{{Time: time.Unix(100-ago, 0), Victims: 1, Pods: 1, Cost: 1}}
				told, need := fmt.Sprint(check.Verify(s, o, p, r)), int64(2)
				if ago < 10 && strings.HasSuffix(name, "window") {
					need = 3
				}
				require.Equal(t, most < need, strings.Contains(told, "the limit of "+name), "%s: %d, %d s ago: %s", name, most, ago, told)
			}
			o.Limits = preemption.Limits{}
		}
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

// TestASplitterIsNothingToPodsThatArePlannedTogether: they go where there is room, whatever domains gangs have.
func TestASplitterIsNothingToPodsThatArePlannedTogether(t *testing.T) {
	low, high := int32(0), int32(9)
	pod := preemption.Pod{Name: "a", Priority: &high, Requests: preemption.Resources{cluster.CPU: 2}}
	other := pod
	other.Name = "b"
	s := &preemption.Snapshot{Nodes: nodes(2, 2), Pods: []preemption.Pod{pod, other}}
	o := preemption.Options{Hooks: &preemption.Hooks{Splitter: each{}}}
	list := []preemption.Preemptor{{Kind: preemption.KindPod, Name: "a"}, {Kind: preemption.KindPod, Name: "b"}}
	for _, want := range []preemption.Verdict{preemption.Fits, preemption.Feasible} {
		pl, err := preemption.NewPlanner(s, o)
		require.NoError(t, err)
		answers, err := pl.PreemptAll(list)
		require.NoError(t, err)
		require.Len(t, answers, 1)
		require.Len(t, answers[0].Nominations, 2)
		require.Equal(t, want, answers[0].Verdict)
		require.Empty(t, check.Verify(s, o, list[0], answers[0]))
		for _, n := range []string{"n1", "n2"} {
			s.Pods = append(s.Pods, preemption.Pod{Name: "on-" + n, Node: n, Priority: &low, Requests: preemption.Resources{cluster.CPU: 1}})
		}
	}
}

// TestNomineesHaveASayBesideOthersAlone: a member without terms goes where a nominee has some against it, unless one
// who has terms against it, too, was placed before.
func TestNomineesHaveASayBesideOthersAlone(t *testing.T) {
	low, high, two := int32(0), int32(9), int32(2)
	web := map[string]string{"app": "web"}
	term := []cluster.AffinityTerm{{TopologyKey: "host", Selector: &disruption.Selector{MatchLabels: web}}}
	s := &preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "n1", Labels: map[string]string{"host": "n1"}, Allocatable: preemption.Resources{cluster.CPU: 1}}, {Name: "n2", Labels: map[string]string{"host": "n2"}},
		},
		PodGroups: []preemption.PodGroup{{Name: "gang", MinCount: &two, Priority: &low}},
		Pods: []preemption.Pod{
			{Name: "nominee", NominatedNode: "n1", Priority: &high, AntiAffinity: term},
			{Name: "a", Group: "gang", Labels: web, AntiAffinity: term},
			{Name: "b", Group: "gang", Labels: web, Requests: preemption.Resources{cluster.CPU: 1}},
		},
	}
	gang := preemption.Preemptor{Kind: preemption.KindPodGroup, Name: "gang"}
	r, err := preemption.Preempt(gang, s)
	require.NoError(t, err)
	require.Equal(t, preemption.Fits, r.Verdict)
	require.Empty(t, check.Verify(s, preemption.Options{}, gang, r))
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

// tiedWorlds are small worlds in which pods are tied to others, or go with them, each of which was answered wrongly once.
var tiedWorlds = map[string]string{
	"there is an end": `{"nodes":[{"name":"n0","labels":{"host":"0","zone":"1"},"allocatable":{"cpu":5}},{"name":"n2","labels":{"host":"2","zone":"1"},"allocatable":{"cpu":2}},{"name":"n3","labels":{"host":"3"},"allocatable":{"cpu":5,"pods":4}}],"pods":[{"name":"p0","labels":{"app":"a"},"node":"n0","requests":{"cpu":3},"priority":4},{"name":"p1","labels":{"app":"a"},"node":"n0","requests":{"cpu":2},"priority":3,"affinity":[{"selector":{"matchLabels":{"app":"a"}},"topologyKey":"zone"}]},{"name":"p3","labels":{"app":"a"},"node":"n3","requests":{"cpu":1},"priority":1},{"name":"p7","labels":{"app":"a"},"node":"n3","requests":{"cpu":2},"priority":2,"affinity":[{"selector":{"matchLabels":{"app":"a"}},"topologyKey":"host"}]},{"name":"p8","labels":{"app":"a"},"node":"n2","priority":3},{"name":"in","labels":{"app":"a"},"requests":{"cpu":3},"priority":8,"antiAffinity":[{"selector":{"matchLabels":{"app":"a"}},"topologyKey":"host"}]}]}`,
	"the preemptor is not the first that is placed": `{"nodes":[{"name":"n0","labels":{"host":"0","zone":"1"},"allocatable":{"cpu":2,"pods":2}},{"name":"n1","labels":{"host":"1","zone":"2"},"allocatable":{"cpu":4,"pods":4}},{"name":"n2","labels":{"host":"2","zone":"1"},"allocatable":{"cpu":4}}],"pods":[{"name":"p1","labels":{"app":"a"},"node":"n2","priority":1},{"name":"p2","labels":{"app":"a"},"node":"n0","priority":1,"antiAffinity":[{"selector":{"matchLabels":{"app":"a"}},"topologyKey":"host"}]},{"name":"p3","labels":{"app":"a"},"node":"n0","priority":4},{"name":"p4","labels":{"app":"a"},"node":"n0","priority":4,"spread":[{"maxSkew":2,"topologyKey":"zone","selector":{"matchLabels":{"app":"a"}}}]},{"name":"in","labels":{"app":"a"},"nodeSelector":{"host":"0"},"priority":8}]}`,
	"moves before whom it makes room for":           `{"nodes":[{"name":"n1","labels":{"host":"1"},"allocatable":{"cpu":2}},{"name":"n2","labels":{"host":"2","zone":"1"},"allocatable":{"cpu":3}},{"name":"n3","labels":{"host":"3","zone":"2"},"allocatable":{"cpu":4}}],"pods":[{"name":"p0","labels":{"app":"a"},"node":"n2","requests":{"cpu":1},"priority":2,"spread":[{"maxSkew":1,"topologyKey":"zone","selector":{"matchLabels":{"app":"a"}}}]},{"name":"p1","labels":{"app":"a"},"node":"n3","priority":1},{"name":"p2","labels":{"app":"a"},"node":"n1","requests":{"cpu":3},"priority":4,"spread":[{"maxSkew":1,"topologyKey":"zone","selector":{"matchLabels":{"app":"a"}}}]},{"name":"p3","labels":{"app":"a"},"node":"n3","requests":{"cpu":2},"priority":2},{"name":"p4","labels":{"app":"a"},"node":"n3","priority":3},{"name":"in","labels":{"app":"a"},"requests":{"cpu":1},"nodeSelector":{"host":"1"},"priority":9}]}`,
	"moves to where there is no room":               `{"nodes":[{"name":"n0","labels":{"host":"0","zone":"1"},"allocatable":{"cpu":5}},{"name":"n1","labels":{"host":"1"},"allocatable":{"cpu":3,"pods":3}},{"name":"n2","labels":{"host":"2","zone":"1"},"allocatable":{"cpu":5}}],"pods":[{"namespace":"other","name":"p2","labels":{"app":"a"},"node":"n2","requests":{"cpu":1},"priority":3,"affinity":[{"selector":{"matchLabels":{"app":"a"}},"topologyKey":"zone"}]},{"name":"p4","labels":{"app":"a"},"node":"n0","requests":{"cpu":3},"priority":3,"group":"g1","namespace":"default"},{"name":"p6","labels":{"app":"a"},"node":"n2","requests":{"cpu":2},"priority":3,"group":"g1","namespace":"default"},{"name":"p8","labels":{"app":"a"},"node":"n0","requests":{"cpu":3},"priority":2,"namespace":"default"},{"name":"p9","labels":{"app":"a"},"node":"n0","requests":{"cpu":2},"priority":1,"namespace":"default"},{"name":"in","labels":{"app":"a"},"requests":{"cpu":4},"priority":11,"affinity":[{"selector":{"matchLabels":{"app":"a"}},"topologyKey":"zone"}],"namespace":"default"}],"podGroups":[{"name":"g1","disruptionMode":"All","minCount":1,"priority":3,"namespace":"default"}]}`,
	"the first of its kind once others have left":   `{"podGroups":[{"name":"wide","disruptionMode":"All","priority":1}],"nodes":[{"name":"a","labels":{"zone":"a"},"allocatable":{"cpu":4}},{"name":"b","labels":{"zone":"b"},"allocatable":{"cpu":4}},{"name":"c","labels":{"zone":"c"},"allocatable":{"cpu":1}},{"name":"d","labels":{"zone":"d"},"allocatable":{"cpu":1}},{"name":"e","labels":{"zone":"e"},"allocatable":{"cpu":1}}],"pods":[{"name":"p","node":"a","priority":5,"requests":{"cpu":4},"labels":{"app":"a"},"affinity":[{"topologyKey":"zone","selector":{"matchLabels":{"app":"a"}}}]},{"name":"y","node":"b","group":"wide","priority":1,"requests":{"cpu":1},"labels":{"app":"b"}},{"name":"x","node":"c","group":"wide","priority":1,"requests":{"cpu":1},"labels":{"app":"a"}},{"name":"in","priority":10,"requests":{"cpu":4},"nodeSelector":{"zone":"a"}}]}`,
	"the preemptor likewise":                        `{"podGroups":[{"name":"wide","disruptionMode":"All","priority":1}],"nodes":[{"name":"b","labels":{"zone":"b"},"allocatable":{"cpu":4}},{"name":"c","labels":{"zone":"c"},"allocatable":{"cpu":1}}],"pods":[{"name":"y","node":"b","group":"wide","priority":1,"labels":{"app":"b"}},{"name":"x","node":"c","group":"wide","priority":1,"requests":{"cpu":1},"labels":{"app":"a"}},{"name":"in","priority":10,"requests":{"cpu":4},"labels":{"app":"a"},"affinity":[{"topologyKey":"zone","selector":{"matchLabels":{"app":"a"}}}]}]}`,
}

// TestTiedPodsMove: they are answered rightly now.
func TestTiedPodsMove(t *testing.T) {
	for name, text := range tiedWorlds {
		for _, o := range []preemption.Options{{}, {Limits: preemption.Limits{OnlyMoves: true}}, {Limits: preemption.Limits{OnlyMoves: true}, Chain: 1}} {
			s := &preemption.Snapshot{}
			require.NoError(t, json.Unmarshal([]byte(text), s))
			in := preemption.Preemptor{Kind: preemption.KindPod, Namespace: s.Pods[len(s.Pods)-1].Namespace, Name: "in"}
			r, err := o.Preempt(in, s)
			require.NoError(t, err, name)
			require.Empty(t, check.Verify(s, o, in, r), "%s, %+v", name, o.Limits)
		}
	}
}

// TestTiedGangs: likewise, in a tree of groups, beside groups that go in part, and what is proved.
func TestTiedGangs(t *testing.T) {
	for i, text := range []string{
		// it fits once those without ties are in one zone
		`{"compositePodGroups":[{"name":"in","priority":1}],"nodes":[{"name":"n0"},{"name":"n1"},{"labels":{"zone":"0"},"name":"n2"},{"labels":{"zone":"1"},"name":"n3"}],"podGroups":[{"name":"l0","parent":"in","priority":1},{"name":"l1","parent":"in","priority":1},{"name":"l2","parent":"in","priority":1}],"pods":[{"antiAffinity":[{"selector":{},"topologyKey":"zone"}],"name":"p1","node":"n2"},{"affinity":[{"topologyKey":"zone"}],"group":"l0","priority":1,"name":"m0-0"},{"affinity":[{"topologyKey":"zone"}],"group":"l0","priority":1,"name":"m0-1"},{"affinity":[{"selector":{},"topologyKey":"zone"}],"group":"l0","priority":1,"name":"m0-2"},{"group":"l1","priority":1,"name":"m1-0"},{"group":"l1","priority":1,"name":"m1-1"},{"group":"l1","priority":1,"name":"m1-2"},{"group":"l2","priority":1,"name":"m2-0"},{"group":"l2","priority":1,"name":"m2-1"},{"group":"l2","priority":1,"name":"m2-2"}]}`,
		// it fits once the last group has its places first
		`{"nodes":[{"name":"n1","allocatable":{"cpu":3}},{"name":"n2","allocatable":{"cpu":5}}],"pods":[{"name":"p0","node":"n1","requests":{"cpu":2}},{"name":"p2","node":"n2","ports":[{"ip":"10.0.0.1","port":81}]},{"name":"p4","node":"n1"},{"name":"m0-0","group":"l0"},{"name":"m0-1","group":"l0"},{"name":"m0-2","group":"l0"},{"name":"m1-0","requests":{"cpu":2},"ports":[{"port":81}],"group":"l1"},{"name":"m1-1","requests":{"cpu":3},"group":"l1"},{"name":"m1-2","requests":{"cpu":2},"group":"l1"},{"name":"m2-0","requests":{"cpu":1},"group":"l2"},{"name":"m2-1","requests":{"cpu":3},"group":"l2"},{"name":"m2-2","group":"l2"}],"podGroups":[{"name":"l0","parent":"in"},{"name":"l1","parent":"mid","minCount":2},{"name":"l2","parent":"in","minCount":2}],"compositePodGroups":[{"name":"in","priority":4},{"name":"mid","parent":"in","priority":4}]}`,
		// a group below the tree can't run
		`{"compositePodGroups":[{"minGroupCount":2,"name":"in"},{"minGroupCount":1,"name":"mid","parent":"in"}],"nodes":[{"allocatable":{"cpu":1},"name":"n2"}],"podGroups":[{"name":"l0","parent":"in"},{"name":"l1","parent":"in"}],"pods":[{"group":"l0","name":"m0","requests":{"cpu":1}},{"group":"l1","name":"m1","requests":{"cpu":1}}]}`,
		// nobody goes for another victim that moves
		`{"nodes":[{"allocatable":{"cpu":2},"name":"n0"},{"allocatable":{"cpu":3,"pods":2},"name":"n1"}],"podGroups":[{"disruptionMode":"SurplusFirst","minCount":1,"name":"g1"},{"minCount":2,"name":"in","priority":1}],"pods":[{"group":"g1","name":"p0","node":"n1"},{"name":"p1","node":"n0","requests":{"cpu":2}},{"group":"in","name":"m0","requests":{"cpu":1},"priority":1},{"group":"in","name":"m1","requests":{"cpu":1},"priority":1},{"group":"in","name":"m2","requests":{"cpu":1},"priority":1}]}`,
	} {
		for _, o := range []preemption.Options{{}, {Search: preemption.Exact, Proof: true}, {Limits: preemption.Limits{OnlyMoves: true}}} {
			s, in := &preemption.Snapshot{}, preemption.Preemptor{Kind: preemption.KindPodGroup, Name: "in"}
			if require.NoError(t, json.Unmarshal([]byte(text), s)); len(s.CompositePodGroups) > 0 {
				in.Kind = preemption.KindCompositePodGroup
			}
			r, err := o.Preempt(in, s)
			require.NoError(t, err)
			require.Empty(t, check.Verify(s, o, in, r), "%d, %+v", i, o)
		}
	}
}

// TestChainsUseUpLooks: chains of the first node take many, and those of the last one, which moves somebody without a chain, are left.
func TestChainsUseUpLooks(t *testing.T) {
	s := &preemption.Snapshot{}
	node := func(name, role string, cpu int64, taints ...cluster.Taint) {
		s.Nodes = append(s.Nodes, preemption.Node{Name: name, Labels: map[string]string{"role": role}, Allocatable: preemption.Resources{"cpu": cpu}, Taints: taints})
	}
	pod := func(name, on string, level int32, cpu int64) *preemption.Pod {
		s.Pods = append(s.Pods, preemption.Pod{Name: name, Node: on, Priority: &level, Requests: preemption.Resources{"cpu": cpu}})
		return &s.Pods[len(s.Pods)-1]
	}
	node("n000", "in", 7)
	pod("x", "n000", 8, 7) // moves to where seven others move, and there is room for one
	for i := range 150 {
		n := fmt.Sprintf("n%03d", i+1)
		node(n, "m", 7)
		for k := range int32(7) {
			pod(fmt.Sprint(n, "-", k), n, 7-k, 1)
		}
	}
	node("n997", "m", 1)
	node("n998", "m", 4, cluster.Taint{Key: "k", Effect: cluster.NoSchedule})
	node("n999", "in", 4)
	pod("y", "n999", 8, 4).Tolerations = []cluster.Toleration{{Key: "k", Operator: cluster.TolerationExists}} // moves to n998
	pod("in", "", 9, 4).NodeSelector = map[string]string{"role": "in"}
	o, in := preemption.Options{Limits: preemption.Limits{OnlyMoves: true}, Chain: 2}, preemption.Preemptor{Kind: preemption.KindPod, Name: "in"}
	r, err := o.Preempt(in, s)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict)
	require.False(t, r.Stats.Exact)
	require.Empty(t, check.Verify(s, o, in, r))
}

// TestTermsUseUpLooks: who moves from the first nodes has terms that are compared with many pods, and who would from the last ones is not looked at.
func TestTermsUseUpLooks(t *testing.T) {
	s := &preemption.Snapshot{}
	for i := range 150 {
		n := fmt.Sprintf("n%03d", i)
		s.Nodes = append(s.Nodes, preemption.Node{Name: n, Labels: map[string]string{"host": n, "in": fmt.Sprint(i / 10)}, Allocatable: preemption.Resources{"cpu": 7 + 7*int64(i/140)}})
		for k := range 7 {
			p := preemption.Pod{Name: fmt.Sprint(n, "-", k), Node: n, Labels: map[string]string{"u": fmt.Sprint(n, k)}, Requests: preemption.Resources{"cpu": 1}}
			if i < 10 {
				if k > 0 {
					break
				}
				p.Requests["cpu"] = 7
				p.AntiAffinity = slices.Repeat([]cluster.AffinityTerm{{TopologyKey: "host", Selector: &disruption.Selector{
					MatchExpressions: []disruption.Requirement{{Key: "u", Operator: disruption.DoesNotExist}},
				}}}, 120)
			}
			s.Pods = append(s.Pods, p)
		}
	}
	high := int32(9)
	in := preemption.Preemptor{Pods: []preemption.Pod{{Name: "in", Priority: &high, Requests: preemption.Resources{"cpu": 7}, NodeSelector: map[string]string{"in": "0"}}}}
	o := preemption.Options{Limits: preemption.Limits{OnlyMoves: true}, Candidates: true}
	r, err := o.Preempt(in, s)
	require.NoError(t, err)
	require.Len(t, r.Candidates, 7) // each takes half of what is left, at most
	require.False(t, r.Stats.Exact)
	require.Empty(t, check.Verify(s, o, in, r))
}

// TestWhatIsPrunedIsProvedUseless: unless a group goes from there that has pods elsewhere, and a constraint is what is in the way.
func TestWhatIsPrunedIsProvedUseless(t *testing.T) {
	for _, c := range []struct{ grouped, cordoned, exact bool }{{true, false, false}, {false, false, true}, {true, true, true}} {
		s := &preemption.Snapshot{}
		require.NoError(t, json.Unmarshal([]byte(tiedWorlds["the preemptor likewise"]), s))
		s.Nodes[0].Unschedulable = c.cordoned
		for i := range s.Pods {
			if !c.grouped {
				s.Pods[i].Group = ""
			}
		}
		r, err := preemption.Options{}.Preempt(preemption.Preemptor{Kind: preemption.KindPod, Name: "in"}, s)
		require.NoError(t, err)
		require.Equal(t, preemption.Infeasible, r.Verdict)
		require.Equal(t, c.exact, r.Stats.Exact, "%+v", c)
	}
}

// TestOneIsEnough: where the preemptor fits once somebody has gone who may go by himself, nothing says that more have to.
func TestOneIsEnough(t *testing.T) {
	enough := 0
	for seed := range uint64(5 * questions()) {
		s, _, in := tied(seed)
		o := preemption.Options{Search: preemption.Exact, Objective: []preemption.CriterionName{preemption.CriterionPods}, Proof: true}
		r, err := o.Preempt(in, s)
		require.NoError(t, err)
		level := *s.Pods[len(s.Pods)-1].Priority
		for i, p := range s.Pods {
			fewer := *s
			fewer.Pods = slices.Delete(slices.Clone(s.Pods), i, i+1)
			if p.Node == "" || p.Group != "" || *p.Priority >= level {
				continue
			}
			now, err := preemption.Options{}.Preempt(in, &fewer)
			elsewhere := in.Kind == preemption.KindPod && now.Domain != p.Node
			if require.NoError(t, err); now.Verdict != preemption.Fits || r.Verdict == preemption.Fits || elsewhere || len(now.Nominations) < len(r.Nominations) {
				continue
			}
			enough++
			require.False(t, r.Verdict == preemption.Infeasible && (r.Stats.Exact || r.Proof != nil), "%d, %s", seed, p.Name)
			require.False(t, r.Optimal && r.Score[0].Value > 1, "%d, %s", seed, p.Name)
			require.False(t, len(r.Bound) > 0 && r.Bound[0].Value > 1, "%d, %s", seed, p.Name)
			require.False(t, r.Proof != nil && len(r.Proof.Bound) > 0 && r.Proof.Bound[0].Value > 1, "%d, %s", seed, p.Name)
		}
	}
	require.Greater(t, enough, questions()/4)
}

// tied is a small world of pods that are tied to others in all ways, some in groups that go as a whole, and what is asked there, a third
// of it about gangs.
func tied(seed uint64) (*preemption.Snapshot, preemption.Options, preemption.Preemptor) {
	r := rand.New(rand.NewPCG(seed, 77))
	cpu := func(n int) preemption.Resources { return preemption.Resources{cluster.CPU: int64(n)} }
	label := func() map[string]string { return map[string]string{"app": fmt.Sprint(r.IntN(3))} }
	level := func(most int) *int32 { p := int32(1 + r.IntN(most)); return &p }
	s, numNodes, numGroups, one := &preemption.Snapshot{}, 2+r.IntN(5), 1+r.IntN(3), int32(1)
	for i := range numNodes {
		n := preemption.Node{Name: fmt.Sprint("n", i), Labels: map[string]string{"host": fmt.Sprint(i)}, Allocatable: cpu(1 + r.IntN(5))}
		if r.IntN(8) > 0 {
			n.Labels["zone"] = fmt.Sprint(r.IntN(3))
		}
		if r.IntN(4) == 0 {
			n.Allocatable[cluster.Pods] = int64(1 + r.IntN(4))
		}
		s.Nodes = append(s.Nodes, n)
	}
	for g := range numGroups {
		mode := []disruption.Mode{disruption.All, disruption.SurplusFirst, disruption.Single}[r.IntN(3)]
		s.PodGroups = append(s.PodGroups, preemption.PodGroup{Name: fmt.Sprint("g", g), Mode: mode, Priority: level(6), MinCount: &one})
	}
	tie := func(p *preemption.Pod) {
		key, selector := []string{"host", "zone"}[r.IntN(2)], &disruption.Selector{MatchLabels: label()}
		switch r.IntN(7) {
		case 0, 1:
			if r.IntN(2) == 0 {
				selector.MatchLabels = p.Labels
			}
			p.Affinity = []cluster.AffinityTerm{{TopologyKey: key, Selector: selector}}
		case 2:
			p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: key, Selector: selector}}
		case 3:
			p.Spread = []cluster.Spread{{TopologyKey: key, MaxSkew: *level(2), Selector: selector}}
		case 4:
			p.Tokens = []string{fmt.Sprint("t", r.IntN(2))}
		case 5:
			p.Ports = []cluster.HostPort{{Port: 80 + *level(2)}}
		}
	}
	for i := range 2 + r.IntN(9) {
		p := preemption.Pod{Name: fmt.Sprint("p", i), Node: fmt.Sprint("n", r.IntN(numNodes)), Priority: level(6), Requests: cpu(r.IntN(4)), Labels: label()}
		if r.IntN(2) == 0 {
			g := &s.PodGroups[r.IntN(numGroups)]
			p.Group, p.Priority = g.Name, g.Priority
		}
		if r.IntN(3) == 0 {
			tie(&p)
		}
		if r.IntN(12) == 0 {
			p.Node, p.NominatedNode = "", p.Node
		}
		s.Pods = append(s.Pods, p)
	}
	in := preemption.Pod{Name: "in", Priority: level(11), Requests: cpu(1 + r.IntN(5)), Labels: label()}
	if r.IntN(3) > 0 {
		tie(&in)
	}
	if r.IntN(2) == 0 {
		in.NodeSelector = map[string]string{"host": fmt.Sprint(r.IntN(numNodes))}
	}
	o := preemption.Options{
		Rules: []preemption.Rules{"", preemption.Kubernetes136, preemption.KEP5710Alpha}[r.IntN(3)], Candidates: r.IntN(2) == 0, Proof: r.IntN(4) == 0,
		Search: []preemption.Search{"", "", "", preemption.Exact}[r.IntN(4)], NoCascade: r.IntN(6) == 0, Chain: r.IntN(3),
	}
	switch r.IntN(4) {
	case 0, 1:
		o.Limits.OnlyMoves = true
	case 2:
		o.Objective = []preemption.CriterionName{preemption.CriterionStranded, preemption.CriterionCascade, preemption.CriterionPods}
	default:
		o.Chain = 0
	}
	if seed%3 > 0 {
		s.Pods = append(s.Pods, in)
		return s, o, preemption.Preemptor{Kind: preemption.KindPod, Name: "in"}
	}
	s.PodGroups = append(s.PodGroups, preemption.PodGroup{Name: "in", MinCount: level(2), Priority: in.Priority})
	for i := range 2 + r.IntN(2) {
		p := in
		if p.Name, p.Group = fmt.Sprint("in", i), "in"; r.IntN(3) == 0 {
			p.NodeSelector = nil
		}
		if r.IntN(2) == 0 {
			p.Affinity, p.AntiAffinity, p.Spread, p.Ports = nil, nil, nil, nil
		}
		s.Pods = append(s.Pods, p)
	}
	return s, o, preemption.Preemptor{Kind: preemption.KindPodGroup, Name: "in"}
}

// TestAnswersInTiedWorldsAreTrue: nothing is untrue that can be verified.
func TestAnswersInTiedWorldsAreTrue(t *testing.T) {
	told := map[preemption.Verdict]int{}
	for seed := range uint64(5 * questions()) {
		s, o, in := tied(seed)
		if r, err := o.Preempt(in, s); err == nil {
			require.Empty(t, check.Verify(s, o, in, r), "seed %d", seed)
			told[r.Verdict]++
		}
	}
	for _, verdict := range []preemption.Verdict{preemption.Feasible, preemption.Fits, preemption.Infeasible} {
		require.Greater(t, told[verdict], questions()/4, verdict)
	}
}

// An answer is true of the question that it was given to. Of another one, where the
// victim matters more by now and there is less room, it is not.
func ExampleVerify() {
	low, high := int32(10), int32(1000)
	cpu := func(milli int64) preemption.Resources { return preemption.Resources{cluster.CPU: milli} }
	snapshot := preemption.Snapshot{
		Nodes: []cluster.Node{{Name: "n1", Allocatable: cpu(4000)}},
		Pods: []preemption.Pod{
			{Name: "batch", Node: "n1", Priority: &low, Requests: cpu(3000)},
			{Name: "web", Priority: &high, Requests: cpu(2000)},
		},
	}
	web := preemption.Preemptor{Kind: cluster.KindPod, Name: "web"}
	result, err := preemption.Preempt(web, &snapshot)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Message, check.Verify(&snapshot, preemption.Options{}, web, result))

	snapshot.Pods[0].Priority = &high
	snapshot.Nodes[0].Allocatable = cpu(1500)
	for _, problem := range check.Verify(&snapshot, preemption.Options{}, web, result) {
		fmt.Println(problem)
	}
	// Output:
	// fits on n1 once 1 pod is evicted []
	// form: Pod /batch: its priority is 1000, not 10
	// form: Pod /batch: the priority or the start of its pod /batch is another
	// fits: Pod /web: it does not fit on n1: resource
	// eligible: Pod /batch: it may not be evicted: priority
	// score: highest priority is 1000, not 10
	// score: sum of priorities is 2147484648, not 2147483658
}
