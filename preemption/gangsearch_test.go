package preemption_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/naive"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// gangTwinVerdict is the twin's verdict when the placement is searched for, by
// trying every one, and the regions of the round in which it is found.
func gangTwinVerdict(o preemption.Options, g *naive.Gang, p preemption.Preemptor) (string, []naive.Region) {
	if p.Kind == cluster.KindCompositePodGroup && o.Rules == preemption.Kubernetes136 {
		return naive.NotEligible, nil
	}
	if g.Hopeless() {
		return naive.Infeasible, nil
	}
	for _, round := range g.Rounds() {
		for _, r := range round {
			if g.Placement(r.Nodes, nil) != nil {
				return naive.Fits, nil
			}
		}
	}
	if v := g.Eligible(); v != "" {
		return v, nil
	}
	for _, round := range g.Rounds() {
		var able []naive.Region
		for _, r := range round {
			if units := g.Potential(r.Nodes); len(units) > 0 && g.Placement(r.Nodes, naive.Gone(units)) != nil {
				able = append(able, r)
			}
		}
		if len(able) > 0 {
			return naive.Feasible, able
		}
	}
	return naive.Infeasible, nil
}

// gangAgrees compares the library's answer with what trying every placement gives:
// the verdict, and who goes at the placement that the library chose.
func gangAgrees(t fatal, o preemption.Options, q gen.Question) (string, *preemption.Result) {
	t.Helper()
	g, err := naive.NewGang(gangOptions(o), q.Preemptor, &q.Snapshot)
	if err != nil {
		t.Fatalf("%v", err)
	}
	verdict, able := gangTwinVerdict(o, g, q.Preemptor)
	r := ask(t, o, q)
	if !r.Stats.Exact && string(r.Verdict) != verdict {
		return "not proved", r // no way was found, and the answer says that there may be one
	}
	if string(r.Verdict) != verdict {
		t.Fatalf("twin %s, library %s: %s", verdict, r.Verdict, r.Message)
	}
	if verdict != naive.Feasible && verdict != naive.Fits {
		return verdict, r
	}
	places := placesOf(r)
	if !g.Useful(places) {
		t.Fatalf("%v is too few for the gang", places)
	}
	if verdict == naive.Fits {
		if m, st := g.Misfit(places, nil); !st.OK() {
			t.Fatalf("%v does not fit at %v: %+v", m, places, st)
		}
		return verdict, r
	}
	i := slices.IndexFunc(able, func(x naive.Region) bool { return x.Name == r.Domain })
	if i < 0 {
		t.Fatalf("it went to %q, of %v", r.Domain, able)
	}
	for m, n := range places {
		if !slices.Contains(able[i].Nodes, n) {
			t.Fatalf("%v went to %s, which is not in %v", m, n, able[i])
		}
	}
	var want naive.Plan
	switch {
	case o.LowestLevel || o.Rules == preemption.KEP5710Alpha:
		lowestHolds(t, g, r, able[i])
		return verdict, r
	case o.Rules == preemption.Kubernetes136:
		want, _ = g.Moving(able[i].Nodes)
	default:
		var st naive.Status
		if want, st = g.At(places, able[i].Nodes); !st.OK() {
			t.Fatalf("%v is no placement: %+v", places, st)
		}
	}
	if diff := cmp.Diff(planDecision(verdict, want), resultDecision(r)); diff != "" {
		t.Fatalf("%s at %v (-twin +library):\n%s", r.Message, places, diff)
	}
	if m, st := g.Misfit(places, goneWith(r.Victims...)); !st.OK() {
		t.Fatalf("%v does not fit at %v: %+v", m, places, st)
	}
	return verdict, r
}

// gangScenarioAgrees compares the answer of a scenario about a group with the twin's.
func gangScenarioAgrees(t *testing.T, o preemption.Options, q gen.Question) {
	t.Helper()
	if q.Preemptor.Placement == nil {
		gangAgrees(&named{t, 0}, o, q)
		return
	}
	r := ask(&named{t, 0}, o, q)
	if diff := cmp.Diff(gangTwinGiven(o, q), resultDecision(r)); diff != "" {
		t.Errorf("%s (-twin +library):\n%s", r.Message, diff)
	}
}

// goneWith are the pods of victims.
func goneWith(list ...preemption.Victim) map[naive.PodKey]bool {
	gone := map[naive.PodKey]bool{}
	for _, v := range list {
		for _, p := range v.Pods {
			gone[naive.PodKey{Namespace: p.Namespace, Name: p.Name}] = true
		}
	}
	return gone
}

// lowestHolds: the placement fits, nobody can stay, and where the level is the
// lowest, the gang has no place with everybody at or above it back but for those
// whom a budget protects.
func lowestHolds(t fatal, g *naive.Gang, r *preemption.Result, region naive.Region) {
	t.Helper()
	places := placesOf(r)
	if m, st := g.Misfit(places, goneWith(r.Victims...)); !st.OK() {
		t.Fatalf("%v does not fit at %v: %+v", m, places, st)
	}
	for i := range r.Victims {
		others := slices.Delete(slices.Clone(r.Victims), i, i+1)
		if _, st := g.Misfit(places, goneWith(others...)); st.OK() {
			t.Fatalf("%s could stay", r.Victims[i].Name)
		}
	}
}

// TestASearchedPlacementAgreesWithTheTwin: the verdict is what trying every
// placement says, and the victims those that the plain twin finds where the gang goes.
func TestASearchedPlacementAgreesWithTheTwin(t *testing.T) {
	for name, profile := range gangsAsked() {
		for rules, o := range theRules() {
			t.Run(name+"/"+rules, func(t *testing.T) {
				t.Parallel()
				seen := map[string]int{}
				for seed := range seeds(400) {
					q := sound(o, gen.RandomGang(seed, profile))
					if !asksSomething(q) {
						continue
					}
					verdict, _ := gangAgrees(&named{t, seed}, o, q)
					seen[verdict]++
				}
				require.NotEmpty(t, seen)
				t.Log(rules, name, slices.Sorted(maps.Keys(seen)), seen)
			})
		}
	}
}

// TestALargeMemberDoesNotStandInTheWay: four of nine members are enough, and four small ones
// fit, with nobody there and where somebody has to go.
func TestALargeMemberDoesNotStandInTheWay(t *testing.T) {
	low, high, four := int32(1), int32(1000), int32(4)
	s := preemption.Snapshot{
		Nodes:     []cluster.Node{{Name: "n0", Allocatable: preemption.Resources{"cpu": 2000}}},
		PodGroups: []preemption.PodGroup{{Name: "gang", MinCount: &four, Priority: &high}},
	}
	for i := range 9 {
		cpuMilli := int64(500)
		if i == 8 {
			cpuMilli = 1000
		}
		s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint("m", i), Group: "gang", Requests: preemption.Resources{"cpu": cpuMilli}})
	}
	for verdict, running := range map[preemption.Verdict]string{preemption.Fits: "", preemption.Feasible: "n0"} {
		s.Pods = append(s.Pods, preemption.Pod{Name: "batch", Node: running, Priority: &low, Requests: preemption.Resources{"cpu": 1000}})
		for _, o := range []preemption.Options{{}, {Members: preemption.MinCount}, {Rules: preemption.Kubernetes136}} {
			r, err := o.Preempt(preemption.Preemptor{Kind: cluster.KindPodGroup, Name: "gang"}, &s)
			require.NoError(t, err)
			require.Equal(t, verdict, r.Verdict, "%v", o.Members)
			require.Len(t, r.Nominations, 4)
		}
		s.Pods = s.Pods[:len(s.Pods)-1]
	}
}

// TestACompositeGroupWithoutGroupsHasEnough beside others, unless it asks for some itself.
func TestACompositeGroupWithoutGroupsHasEnough(t *testing.T) {
	for _, c := range []struct {
		least *int32
		want  preemption.Verdict
	}{{nil, preemption.Fits}, {prio(1), preemption.Infeasible}} {
		r := ask(t, preemption.Options{}, gen.Question{
			Snapshot: preemption.Snapshot{
				Nodes:     []cluster.Node{{Name: "n", Allocatable: preemption.Resources{cluster.CPU: 1}}},
				Pods:      []preemption.Pod{{Name: "p", Group: "leaf", Requests: preemption.Resources{cluster.CPU: 1}}},
				PodGroups: []preemption.PodGroup{{Name: "leaf", Parent: "tree", Basic: true}},
				CompositePodGroups: []preemption.CompositePodGroup{
					{Name: "tree"}, {Name: "empty", Parent: "tree", MinGroupCount: c.least},
				},
			},
			Preemptor: preemption.Preemptor{Kind: cluster.KindCompositePodGroup, Name: "tree"},
		})
		require.Equal(t, c.want, r.Verdict, r.Message)
	}
}

// TestAGangThatFitsGoesWhereItIsAskedTo: by option and by hook, named and inline, counted and
// tried, in a rack and anywhere. Every answer is verified, too: see TestMain.
func TestAGangThatFitsGoesWhereItIsAskedTo(t *testing.T) {
	least := int32(3)
	for name, c := range map[string]struct {
		o     preemption.Options
		rack  bool
		quota bool
		want  []string // nodes of a, b, c
	}{
		"by default":                 {want: []string{"n2", "n2", "n2"}},
		"least disruption":           {o: preemption.Options{Placement: preemption.PlaceLeastDisruption}, want: []string{"n2", "n2", "n2"}},
		"packed":                     {o: preemption.Options{Placement: preemption.PlacePack}, want: []string{"n2", "n2", "n2"}},
		"spread":                     {o: preemption.Options{Placement: preemption.PlaceSpread}, want: []string{"n2", "n3", "n1"}},
		"spread in a rack":           {o: preemption.Options{Placement: preemption.PlaceSpread}, rack: true, want: []string{"n2", "n3", "n2"}},
		"spread, as few":             {o: preemption.Options{Placement: preemption.PlaceSpread, Members: preemption.MinCount}, want: []string{"n2", "n3", "n1"}},
		"packed in a quota":          {quota: true, want: []string{"n2", "n2", "n2"}},
		"spread in a quota":          {o: preemption.Options{Placement: preemption.PlaceSpread}, quota: true, want: []string{"n2", "n3", "n1"}},
		"by a placer in a quota":     {o: preemption.Options{Hooks: &preemption.Hooks{Placer: oneEach{}}}, quota: true, want: []string{"n1", "n2", "n3"}},
		"by a placer":                {o: preemption.Options{Hooks: &preemption.Hooks{Placer: oneEach{}}}, want: []string{"n1", "n2", "n3"}},
		"by one that finds too few":  {o: preemption.Options{Hooks: &preemption.Hooks{Placer: oneEach{}}}, rack: true, want: []string{"n2", "n2", "n2"}},
		"by one that asks the price": {o: preemption.Options{Hooks: &preemption.Hooks{Placer: domain.LeastDisruption{}}}, want: []string{"n1", "n2", "n2"}},
	} {
		for _, rules := range []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137} {
			if c.rack && rules == preemption.Kubernetes136 {
				continue // it knows no topology
			}
			s := &preemption.Snapshot{}
			for i, cpu := range []int64{1, 3, 2, 1} {
				s.Nodes = append(s.Nodes, preemption.Node{
					Name: fmt.Sprint("n", i+1), Labels: map[string]string{"rack": []string{"r1", "r2", "r2", "r3"}[i]}, Allocatable: preemption.Resources{"cpu": cpu},
				})
			}
			group := preemption.PodGroup{Name: "g", MinCount: &least, Priority: prio(5)}
			if c.rack {
				group.Topology = []cluster.TopologyConstraint{{Key: "rack"}}
			}
			if c.quota {
				group.Queue = "q"
				s.ResourceFlavors, s.LocalQueues = []cluster.ResourceFlavor{{Name: "f"}}, []cluster.LocalQueue{{Name: "q", ClusterQueue: "q"}}
				s.ClusterQueues = []cluster.ClusterQueue{{Name: "q", Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
					Flavor: "f", Resources: []cluster.ResourceQuota{{Resource: "cpu", Nominal: 9}},
				}}}}}}
			}
			pods := []preemption.Pod{}
			for _, name := range []string{"a", "b", "c"} {
				pods = append(pods, preemption.Pod{Name: name, Group: "g", Priority: prio(5), Requests: preemption.Resources{"cpu": 1}})
			}
			inline := gen.Question{Snapshot: *s, Preemptor: preemption.Preemptor{Group: &group, Pods: pods}}
			s.PodGroups, s.Pods = []preemption.PodGroup{group}, pods
			named := gen.Question{Snapshot: *s, Preemptor: preemption.Preemptor{Kind: preemption.KindPodGroup, Name: "g"}}
			c.o.Rules = rules
			for way, q := range map[string]gen.Question{"inline": inline, "named": named} {
				answer := sameByTrials
				if c.quota {
					answer = ask
				}
				r := answer(t, c.o, q)
				var at []string
				for _, n := range r.Nominations {
					at = append(at, n.Node)
				}
				require.Equal(t, preemption.Fits, r.Verdict, "%s, %s, %s", name, way, rules)
				require.Equal(t, c.want, at, "%s, %s, %s", name, way, rules)
			}
		}
	}
}

// TestFirstSeatsCostTheSame: what the columns say the first member on a node costs is what the
// units say, beside members elsewhere, whatever the members are, and no less than the bound.
func TestFirstSeatsCostTheSame(t *testing.T) {
	t.Parallel()
	roads, prices, evicting, bounded := 0, 0, 0, 0
	for seed := range seeds(3000) {
		q := gen.RandomGang(seed, gen.GangProfile{
			Profile: gen.Profile{MaxNodes: 5, MaxPods: 20, Budgets: seed%3 == 0, Groups: seed%4 == 0, Ports: seed%7 == 0, Nominations: seed%5 == 0},
			Running: seed%6 == 0, MaxMembers: 5,
		})
		if !asksSomething(q) {
			continue
		}
		road, err := preemption.Options{}.ComparePrices(q.Preemptor, &q.Snapshot, func(offers, firsts, least domain.Price) {
			require.Equal(t, offers, firsts, "seed %d", seed)
			require.LessOrEqual(t, least.Compare(firsts), 0, "seed %d: %v, %v", seed, least, firsts)
			if least.Pods > 1 {
				bounded++
			}
			if prices++; offers.Pods > 0 {
				evicting++
			}
		})
		require.NoError(t, err)
		if road {
			roads++
		}
	}
	t.Logf("%d questions, %d prices, %d of somebody, %d of two at least", roads, prices, evicting, bounded)
	require.Greater(t, roads, int(seeds(3000))/10)
	require.Greater(t, evicting, int(seeds(3000)))
	require.Greater(t, bounded, int(seeds(3000))/30)
}

// TestMembersWithoutAPlaceAreToldOf: by kind, with why each node of the domain that takes most of the gang
// takes none of them, counted or by trials.
func TestMembersWithoutAPlaceAreToldOf(t *testing.T) {
	zero, hundred, three := int32(0), int32(100), int32(3)
	s := &preemption.Snapshot{}
	for i, rack := range []string{"a", "a", "b", "b", "b"} {
		name := fmt.Sprint("n", i)
		s.Nodes = append(s.Nodes, preemption.Node{Name: name, Labels: map[string]string{"rack": rack}, Allocatable: cpus(2)})
		s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint("v", i), Node: name, Priority: &zero, Requests: cpus(1)})
	}
	s.Nodes[4].Unschedulable = true
	ask := func(cores ...int64) preemption.Preemptor {
		p := preemption.Preemptor{Group: &preemption.PodGroup{Name: "g", MinCount: &three, Priority: &hundred, Topology: []preemption.TopologyConstraint{{Key: "rack"}}}}
		for i, c := range cores {
			p.Pods = append(p.Pods, preemption.Pod{Name: fmt.Sprint("m", i), Group: "g", Priority: &hundred, Requests: cpus(c)})
		}
		return p
	}
	tooFew := []preemption.Rejection{{Reason: "not enough cpu", Domains: 2}}
	for name, c := range map[string]struct {
		asks preemption.Preemptor
		want []preemption.Unplaced
	}{
		"one too many":  {ask(2, 2, 2), []preemption.Unplaced{{Domain: "rack=a", Pods: []preemption.PodRef{{Name: "m2"}}, Rejected: tooFew}}},
		"all too large": {ask(3, 3, 3), []preemption.Unplaced{{Domain: "rack=a", Pods: []preemption.PodRef{{Name: "m0"}, {Name: "m1"}, {Name: "m2"}}, Rejected: tooFew}}},
		"two kinds":     {ask(2, 3, 2, 3), []preemption.Unplaced{{Domain: "rack=a", Pods: []preemption.PodRef{{Name: "m1"}, {Name: "m3"}}, Rejected: tooFew}}},
	} {
		for _, explain := range []bool{false, true} { // counted, and by trials
			r, err := preemption.Options{Explain: explain}.Preempt(c.asks, s)
			require.NoError(t, err)
			require.Equal(t, preemption.Infeasible, r.Verdict, name)
			require.Equal(t, c.want, r.Unplaced, "%s, by trials %t", name, explain)
		}
	}
	s.Nodes[0].Unschedulable = true
	r, err := preemption.Options{}.Preempt(ask(2, 2, 2), s)
	require.NoError(t, err)
	require.Equal(t, []preemption.Unplaced{{Domain: "rack=b", Pods: []preemption.PodRef{{Name: "m2"}}, Rejected: []preemption.Rejection{
		{Reason: "not enough cpu", Domains: 2}, {Reason: "unschedulable", Domains: 1},
	}}}, r.Unplaced)
}

// TestAUnitThatReachesOutOfTheDomainIsTried: a pod of it on a node without members, in or out of the domain, may have
// a term that keeps members off.
func TestAUnitThatReachesOutOfTheDomainIsTried(t *testing.T) {
	zero, ten, one, two := int32(0), int32(10), int32(1), int32(2)
	node := func(name, rack string, cores int64) preemption.Node {
		return preemption.Node{Name: name, Labels: map[string]string{"zone": "a", "rack": rack}, Allocatable: cpus(cores)}
	}
	s := &preemption.Snapshot{
		Nodes:     []preemption.Node{node("n1", "1", 2), node("n2", "1", 1), node("n3", "2", 1)},
		PodGroups: []preemption.PodGroup{{Name: "old", MinCount: &one, Mode: disruption.All, Priority: &zero}},
		Pods: []preemption.Pod{
			{Name: "u1", Group: "old", Node: "n2", Priority: &zero, Requests: cpus(1)},
			{Name: "u2", Group: "old", Node: "n3", Priority: &zero, Requests: cpus(1), AntiAffinity: []cluster.AffinityTerm{{
				Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "db"}}, TopologyKey: "zone"}}},
		},
	}
	p := preemption.Preemptor{Group: &preemption.PodGroup{Name: "gang", MinCount: &two, Priority: &ten, Topology: []preemption.TopologyConstraint{{Key: "rack"}}}}
	for _, name := range []string{"m1", "m2"} {
		p.Pods = append(p.Pods, preemption.Pod{Name: name, Group: "gang", Priority: &ten, Labels: map[string]string{"app": "db"}, Requests: cpus(1)})
	}
	r, err := preemption.Options{}.Preempt(p, s)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict, r.Message)
	require.Len(t, r.Victims, 1)
	require.Equal(t, "old", r.Victims[0].Name)

	for _, seed := range []uint64{28530, 60293, 1928} { // drawn gangs that met it, and one whose members need each other
		q := gen.RandomGang(seed, gen.GangProfile{Profile: gen.Profile{MaxNodes: 5, MaxPods: 14, Placement: true, Budgets: true, Groups: true},
			MaxMembers: 5, Composite: true, Topology: true, Ties: true})
		_, err := preemption.Options{}.Preempt(q.Preemptor, &q.Snapshot) // which is verified
		require.NoError(t, err)
	}
}

// TestMembersWithoutAPlaceThatNeedOthers: who would fit beside those that came later is not called
// without a place, and members that constraints tell apart are told of apart.
func TestMembersWithoutAPlaceThatNeedOthers(t *testing.T) {
	ten, three, two := int32(10), int32(3), int32(2)
	term := func(app string) []cluster.AffinityTerm {
		return []cluster.AffinityTerm{{Selector: &disruption.Selector{MatchLabels: map[string]string{"app": app}}, TopologyKey: "host"}}
	}
	node := func(name string) preemption.Node {
		return preemption.Node{Name: name, Labels: map[string]string{"host": name}, Allocatable: cpus(5)}
	}
	s := &preemption.Snapshot{Nodes: []preemption.Node{node("n1"), node("n2")}}
	member := func(name string, cores int64) preemption.Pod {
		return preemption.Pod{Name: name, Group: "g", Priority: &ten, Requests: cpus(cores)}
	}
	m0, m1, m2 := member("m0", 2), member("m1", 1), member("m2", 9)
	m0.Affinity, m1.Labels = term("x"), map[string]string{"app": "x"}
	for _, name := range []string{"n1", "n2"} { // somebody to evict, or nobody looks
		s.Pods = append(s.Pods, preemption.Pod{Name: "v" + name, Node: name, Labels: map[string]string{"app": "z"}, Requests: cpus(1)})
	}
	r, err := preemption.Options{}.Preempt(preemption.Preemptor{Group: &preemption.PodGroup{Name: "g", MinCount: &three, Priority: &ten}, Pods: []preemption.Pod{m0, m1, m2}}, s)
	require.NoError(t, err)
	require.Equal(t, []preemption.Unplaced{{Domain: "cluster", Pods: []preemption.PodRef{{Name: "m2"}}, Rejected: []preemption.Rejection{{Reason: "not enough cpu", Domains: 2}}}}, r.Unplaced)

	for i := range s.Pods {
		s.Pods[i].Priority = &three
	}
	high := int32(20) // of those who stay
	s.Pods[0].Priority, s.Pods[1].Priority = &high, &high
	s.Pods = append(s.Pods, preemption.Pod{Name: "low", Node: "n1", Requests: cpus(1)})
	m0, m1 = member("m0", 1), member("m1", 1)
	m0.Affinity, m1.AntiAffinity = term("nobody"), term("z")
	r, err = preemption.Options{}.Preempt(preemption.Preemptor{Group: &preemption.PodGroup{Name: "g", MinCount: &two, Priority: &ten}, Pods: []preemption.Pod{m0, m1}}, s)
	require.NoError(t, err)
	require.Len(t, r.Unplaced, 2)
	require.NotEqual(t, r.Unplaced[0].Rejected, r.Unplaced[1].Rejected)
}

// TestPodsThatCountAlikeComeBackAlike: a constraint of one's own that says nothing makes each be asked about by itself.
func TestPodsThatCountAlikeComeBackAlike(t *testing.T) {
	evicted := 0
	for seed := range seeds(400) {
		draw := rand.New(rand.NewPCG(seed, 8))
		app := func() map[string]string { return map[string]string{"app": fmt.Sprint(draw.IntN(2))} }
		s, high := &preemption.Snapshot{}, int32(9)
		for i := range 6 {
			n := preemption.Node{Name: fmt.Sprint("n", i), Labels: map[string]string{"zone": fmt.Sprint(i % 3)}, Allocatable: preemption.Resources{"cpu": 4}}
			s.Nodes = append(s.Nodes, n)
		}
		for i := range 12 + draw.IntN(13) {
			level := int32(draw.IntN(3))
			p := preemption.Pod{Name: fmt.Sprint("p", i), Node: fmt.Sprint("n", i%6), Priority: &level, Labels: app(), Requests: preemption.Resources{"cpu": 1}}
			if draw.IntN(6) == 0 {
				p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: "zone", Selector: &disruption.Selector{MatchLabels: app()}}}
			}
			s.Pods = append(s.Pods, p)
		}
		s.PodGroups = []preemption.PodGroup{{Name: "in", Priority: &high}}
		for i := range 2 + draw.IntN(3) {
			p := preemption.Pod{Name: fmt.Sprint("in", i), Group: "in", Priority: &high, Labels: app(), Requests: preemption.Resources{"cpu": 2}}
			p.Spread = []cluster.Spread{{MaxSkew: 1 + int32(draw.IntN(2)), TopologyKey: "zone", Selector: &disruption.Selector{MatchLabels: app()}}}
			if draw.IntN(3) == 0 {
				p.Affinity = []cluster.AffinityTerm{{TopologyKey: "zone", Selector: &disruption.Selector{MatchLabels: app()}}}
			}
			s.Pods = append(s.Pods, p)
		}
		in := preemption.Preemptor{Kind: preemption.KindPodGroup, Name: "in"}
		alike, err := preemption.Options{Explain: true}.Preempt(in, s)
		require.NoError(t, err)
		each, err := preemption.Options{Explain: true, Hooks: &preemption.Hooks{Constraints: []domain.Constraint{few{"", 99}}}}.Preempt(in, s)
		require.NoError(t, err)
		require.Equal(t, each.Victims, alike.Victims, "seed %d", seed)
		require.Equal(t, each.Trace, alike.Trace, "seed %d", seed)
		if len(alike.Victims) > 0 && alike.Stats.Trials < each.Stats.Trials {
			evicted++
		}
	}
	require.Greater(t, evicted, 20)
}
