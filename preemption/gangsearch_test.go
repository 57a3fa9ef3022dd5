package preemption_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

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

// sameByTrials asks by counting and by trials, and compares whole answers.
func sameByTrials(t fatal, o preemption.Options, q gen.Question) *preemption.Result {
	t.Helper()
	counted, err := o.Preempt(q.Preemptor, &q.Snapshot)
	if err != nil {
		t.Fatalf("%v", err)
	}
	tried, err := o.PreemptByTrials(q.Preemptor, &q.Snapshot)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if !reflect.DeepEqual(tried, counted) {
		t.Fatalf("%s (-by trials +counted):\n%.4000s", counted.Message, cmp.Diff(tried, counted))
	}
	return counted
}

// countedGangs are questions about gangs of which many can be counted, in clusters
// large enough for several members a node and for moves from node to node.
func countedGangs() map[string]gen.GangProfile {
	all := map[string]gen.GangProfile{}
	for name, p := range map[string]gen.Profile{
		"plain":       {MaxNodes: 20, MaxPods: 120},
		"budgets":     {MaxNodes: 12, MaxPods: 80, Budgets: true, Terminating: true, Odd: true},
		"nominations": {MaxNodes: 10, MaxPods: 60, Nominations: true, Classes: true, Placement: true},
		"groups":      {MaxNodes: 8, MaxPods: 40, Groups: true, Budgets: true},
	} {
		all[name] = gen.GangProfile{Profile: p, MaxMembers: 10}
		all[name+" in zones"] = gen.GangProfile{Profile: p, MaxMembers: 6, Topology: true, Running: true}
	}
	return all
}

// countingIsExact: counting comes to what trials come to, whole answers compared.
func countingIsExact(t fatal, o preemption.Options, q gen.Question, seed uint64) {
	o.Explain = o.Explain && seed/7%4 == 0 // not counted
	sameByTrials(t, o, q)
}

// TestCountingIsExact compares by seed and by rapid, and holds that enough questions
// were counted for that to say something.
func TestCountingIsExact(t *testing.T) {
	for name, profile := range countedGangs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			counted, evicting := 0, 0
			for seed := range seeds(300) {
				o := gangOptionsBySeed(seed)
				q := sound(o, gen.RandomGang(seed, profile))
				if !asksSomething(q) {
					continue
				}
				countingIsExact(&named{t, seed}, o, q, seed)
				if o.Explain = false; mustCount(t, o, q) {
					counted++
					if r := sameByTrials(&named{t, seed}, o, q); r.Verdict == preemption.Feasible {
						evicting++
					}
				}
			}
			t.Logf("%d questions were counted, %d of them evict", counted, evicting)
			require.Greater(t, evicting, int(seeds(300)/30))
			rapid.Check(t, drawnGang(profile, countingIsExact))
		})
	}
}
func FuzzCountingIsExact(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(drawnGang(countedGangs()["budgets in zones"], countingIsExact)))
}

func mustCount(t *testing.T, o preemption.Options, q gen.Question) bool {
	t.Helper()
	counts, err := o.Counts(q.Preemptor, &q.Snapshot)
	require.NoError(t, err)
	return counts
}

// TestCountingStandsForTrialsInEveryZone: a zone that can't be better was left out by trials, and counted.
func TestCountingStandsForTrialsInEveryZone(t *testing.T) {
	for _, seed := range []uint64{1048967, 1049135, 1049391} {
		o := gangOptionsBySeed(seed)
		countingIsExact(&named{t, seed}, o, sound(o, gen.RandomGang(seed, countedGangs()["plain in zones"])), 0)
	}
}

// TestCountingAFleetIsExact: gangs in fleets of every shape.
func TestCountingAFleetIsExact(t *testing.T) {
	t.Parallel()
	for _, shape := range gen.Shapes() {
		for _, cpuMilli := range []int64{64_000, 32_000, 21_000, 16_000, 3_500} {
			for name, o := range map[string]preemption.Options{
				"v1.37": {}, "v1.36": {Rules: preemption.Kubernetes136},
			} {
				snap := gen.Fleet(60, 12, uint64(cpuMilli), shape)
				r := sameByTrials(&named{t, uint64(cpuMilli)}, o, gen.Question{Snapshot: snap, Preemptor: fleetGang(25, cpuMilli)})
				require.Equal(t, preemption.Feasible, r.Verdict, "%s %d %s", shape, cpuMilli, name)
			}
		}
	}
}

// TestCountingByColumns: gangs whose columns are not like those of others: of more
// words, of members that ask for several of them, with nodes of which the columns do not
// tell everything, and of a priority between two bounds.
func TestCountingByColumns(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]preemption.Options{"v1.37": {}, "v1.36": {Rules: preemption.Kubernetes136}} {
		for _, cpuMilli := range []int64{40_000, 16_000, 3_500} {
			for _, shape := range gen.Shapes() {
				q := gen.Question{Snapshot: gen.Fleet(70, 12, uint64(cpuMilli), shape), Preemptor: fleetGang(25, cpuMilli)}
				seed := &named{t, uint64(cpuMilli)}
				for i := range q.Preemptor.Pods {
					q.Preemptor.Pods[i].Requests["memory"] = 100 << 30 * cpuMilli / 40_000
				}
				require.Equal(t, preemption.Feasible, sameByTrials(seed, o, q).Verdict, "%s %s %d", name, shape, cpuMilli)
				for i := range 6 { // a node with somebody who waits for it, one that is closed
					least := int32(1 << 30)
					q.Snapshot.Pods = append(q.Snapshot.Pods, preemption.Pod{
						Name: "waits-" + string(rune('a'+i)), NominatedNode: q.Snapshot.Nodes[7*i].Name, Priority: &least,
						Requests: preemption.Resources{"cpu": 20_000},
					})
					q.Snapshot.Nodes[7*i+1].Unschedulable = true
				}
				require.Equal(t, preemption.Feasible, sameByTrials(seed, o, q).Verdict)
				for i := range q.Snapshot.Nodes {
					for r := range 9 { // more than two words
						q.Snapshot.Nodes[i].Allocatable["example.com/"+string(rune('a'+r))] = 1 << 40
					}
				}
				require.Equal(t, preemption.Feasible, sameByTrials(seed, o, q).Verdict)
				for i := range q.Preemptor.Pods {
					q.Preemptor.Pods[i].Requests["example.com/i"] = 1 << 30
				}
				require.Equal(t, preemption.Feasible, sameByTrials(seed, o, q).Verdict)
			}
			q := gen.Question{Snapshot: gen.Fleet(70, 12, 1, gen.Distinct), Preemptor: fleetGang(12, cpuMilli)}
			for _, priority := range []int32{100, 421, 600} {
				*q.Preemptor.Group.Priority = priority
				sameByTrials(&named{t, uint64(priority)}, o, q)
			}
		}
	}
}

// fleetGang is a gang of equal members above every pod of a fleet.
func fleetGang(members int, cpuMilli int64) preemption.Preemptor {
	priority, least := int32(1<<30), int32(members)
	p := preemption.Preemptor{Group: &preemption.PodGroup{Name: "gang", Priority: &priority, MinCount: &least}}
	for i := range members {
		p.Pods = append(p.Pods, preemption.Pod{
			Name: "gang-" + string(rune('a'+i/26)) + string(rune('a'+i%26)), Priority: &priority,
			Requests: preemption.Resources{"cpu": cpuMilli},
		})
	}
	return p
}

// TestDecideAboutGangs: a decision about a gang is its result in short, counted or not.
func TestDecideAboutGangs(t *testing.T) {
	t.Parallel()
	for name, profile := range countedGangs() {
		for seed := range uint64(60) {
			o := gangOptionsBySeed(seed)
			if q := sound(o, gen.RandomGang(seed, profile)); asksSomething(q) {
				pl, err := preemption.NewPlanner(&q.Snapshot, o)
				require.NoError(t, err, name)
				decidesAlike(&named{t, seed}, pl, q.Preemptor)
			}
		}
	}
}

// TestGoroutinesDoNotMatter: a gang that may go to any of several large domains is
// answered alike by one goroutine and by three, and so is who has to go by name.
func TestGoroutinesDoNotMatter(t *testing.T) {
	t.Parallel()
	for _, shape := range []gen.Shape{gen.Uniform, gen.Tied, gen.Budgeted, gen.Equal} {
		snap := gen.Fleet(1200, 14, 7, shape)
		for i := range snap.Nodes {
			snap.Nodes[i].Labels = map[string]string{"rack": string(rune('a' + i%5))}
		}
		p := fleetGang(200, 64_000)
		p.Group.Topology = []cluster.TopologyConstraint{{Key: "rack"}}
		if shape == gen.Equal {
			p = fleetGang(500, 64_000) // victims are told by several, too
		}
		for name, o := range map[string]preemption.Options{"candidates": {Candidates: true}, "as few": {Members: preemption.MinCount}} {
			one, err := o.PreemptOn(p, &snap, 1)
			require.NoError(t, err)
			require.Equal(t, preemption.Feasible, one.Verdict)
			three, err := o.PreemptOn(p, &snap, 3)
			require.NoError(t, err)
			require.Equal(t, one, three, "%s, %s", shape, name)
		}
	}
	for _, shape := range []gen.Shape{gen.Tied, gen.Budgeted} { // prices in the only domain are found by several
		snap := gen.Fleet(2200, 4, 7, shape)
		one, err := preemption.Options{}.PreemptOn(fleetGang(300, 64_000), &snap, 1)
		require.NoError(t, err)
		three, err := preemption.Options{}.PreemptOn(fleetGang(300, 64_000), &snap, 3)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, one.Verdict)
		require.Equal(t, one, three, "%s", shape)
	}
}

// joinPods makes groups that go as a whole of a third of the pods of a fleet: of nodes
// in a row, or with scattered of any; even: with the priority of their group.
func joinPods(snap *preemption.Snapshot, perNode int, even, scattered bool) {
	groups := map[string]*int32{}
	for i := range snap.Pods {
		pod := &snap.Pods[i]
		at, k := i/perNode, i%perNode
		if k%3 != 0 {
			continue
		}
		pod.Group = fmt.Sprintf("group-%d-%d", (at+k)/7, k/6)
		if scattered {
			pod.Group = fmt.Sprintf("group-%d", pod.Started.Unix()%11)
		}
		if groups[pod.Group] == nil {
			one, priority := int32(1), *pod.Priority
			groups[pod.Group] = &priority
			snap.PodGroups = append(snap.PodGroups, preemption.PodGroup{
				Namespace: "default", Name: pod.Group, Mode: "All", MinCount: &one, Priority: &priority,
			})
		}
		if even {
			pod.Priority = groups[pod.Group]
		}
	}
}

// jointFleet is a question by seed about a gang in a fleet with groups: with budgets for
// some of the other pods, closed nodes, nodes that are waited for, racks, and priorities
// between those of the pods.
func jointFleet(seed uint64) (preemption.Options, gen.Question) {
	shape := []gen.Shape{gen.Uniform, gen.Tied, gen.Distinct, gen.Equal}[seed%4]
	cpuMilli := []int64{64_000, 32_000, 21_000, 9_000, 3_500}[seed/4%5]
	q := gen.Question{Snapshot: gen.Fleet(40, 12, seed, shape), Preemptor: fleetGang(12+int(seed%9), cpuMilli)}
	joinPods(&q.Snapshot, 12, seed%8 < 4, seed%3 == 0)
	if seed%5 < 2 {
		for i := range q.Snapshot.Pods {
			if pod := &q.Snapshot.Pods[i]; pod.Group == "" && i%4 < 2 {
				pod.Labels = map[string]string{"budget": fmt.Sprint(i % 3)}
				if i%3 < 2 && i%8 == 0 && seed%10 < 5 {
					pod.Labels["both"] = "yes"
				}
			}
		}
		q.Snapshot.Budgets = append(q.Snapshot.Budgets, disruption.Budget{
			Namespace: "default", Name: "budget-both", Allowed: 4, Selector: &disruption.Selector{MatchLabels: map[string]string{"both": "yes"}},
		})
		for i := range int32(3) {
			q.Snapshot.Budgets = append(q.Snapshot.Budgets, disruption.Budget{
				Namespace: "default", Name: fmt.Sprint("budget-", i), Allowed: i * 20 * int32(seed%5),
				Selector: &disruption.Selector{MatchLabels: map[string]string{"budget": fmt.Sprint(i)}},
			})
		}
	}
	priority := []int32{1 << 30, 7, 300}[seed%3]
	q.Preemptor.Group.Priority = &priority
	for i := range q.Preemptor.Pods {
		q.Preemptor.Pods[i].Priority = &priority
	}
	for i := range q.Snapshot.Nodes {
		n := &q.Snapshot.Nodes[i]
		n.Labels = map[string]string{"rack": fmt.Sprint(i % 2)}
		n.Unschedulable = seed%7 == 0 && i%9 == 0
		if seed%6 == 0 && i%8 == 0 {
			q.Snapshot.Pods = append(q.Snapshot.Pods, preemption.Pod{
				Name: fmt.Sprint("waits-", i), NominatedNode: n.Name, Priority: &priority, Requests: preemption.Resources{"cpu": 3_000},
			})
		}
	}
	if seed%4 == 1 {
		q.Preemptor.Group.Topology = []cluster.TopologyConstraint{{Key: "rack"}}
	}
	o := preemption.Options{Candidates: seed%5 == 0}
	switch seed % 11 {
	case 0:
		o.Placement = preemption.PlacePack
	case 1:
		o.Placement = preemption.PlaceSpread
	case 2:
		o.Members = preemption.MinCount
	}
	return o, q
}

// jointIsExact: where units have several pods, counting comes to what trials come to. It
// reports whether it was counted and somebody goes.
func jointIsExact(t fatal, o preemption.Options, q gen.Question, checks int) bool {
	counted, tried, joint, err := o.BothWays(q.Preemptor, &q.Snapshot, checks)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if diff := cmp.Diff(tried, counted); diff != "" {
		t.Fatalf("%s (-by trials +counted):\n%.4000s", counted.Message, diff)
	}
	return joint && counted.Verdict == preemption.Feasible
}

// jointChecks are none, few and many.
func jointChecks(seed uint64) int { return []int{0, 2_000, 50_000}[seed%3] }

// TestCountingJointUnitsIsExact: in fleets with groups, and in what is drawn.
func TestCountingJointUnitsIsExact(t *testing.T) {
	fleets, drawn := 0, 0
	for seed := range seeds(300) {
		o, q := jointFleet(seed)
		if jointIsExact(&named{t, seed}, o, q, jointChecks(seed)) {
			fleets++
		}
		profile := gen.GangProfile{Profile: gen.Profile{MaxNodes: 10, MaxPods: 60, Groups: true, Budgets: true}, MaxMembers: 8}
		profile.Topology, profile.Running = seed%3 == 0, seed%3 == 0
		o = gangOptionsBySeed(seed)
		o.Explain = false
		if q := sound(o, gen.RandomGang(seed, profile)); asksSomething(q) && jointIsExact(&named{t, seed}, o, q, jointChecks(seed)) {
			drawn++
		}
	}
	t.Logf("counted were %d in fleets, %d of those drawn", fleets, drawn)
	require.Greater(t, fleets, int(seeds(300)/2))
}

// TestLeastJointPlacesAsTrialsDo: member by member.
func TestLeastJointPlacesAsTrialsDo(t *testing.T) {
	compared := 0
	for seed := range seeds(300) {
		o, q := jointFleet(seed)
		counted, tried, ok, err := o.LeastBothWays(q.Preemptor, &q.Snapshot)
		require.NoError(t, err)
		if ok {
			require.Equal(t, tried, counted, "seed %d", seed)
			compared++
		}
	}
	require.Greater(t, compared, int(seeds(300)/2))
}

// TestCountingJointSparesBudgets: rather than somebody less important whom a budget covers, somebody goes whom none does.
func TestCountingJointSparesBudgets(t *testing.T) {
	one := int32(1)
	snap := preemption.Snapshot{
		PodGroups: []preemption.PodGroup{{Namespace: "default", Name: "group", Mode: "All", MinCount: &one, Priority: &one}},
		Budgets:   []disruption.Budget{{Namespace: "default", Name: "spent", Selector: &disruption.Selector{MatchLabels: map[string]string{"covered": "yes"}}}},
	}
	for i, of := range []string{"", "", "group", "group"} {
		name, priority := fmt.Sprint(i), []int32{0, 5, 1, 1}[i]
		snap.Nodes = append(snap.Nodes, preemption.Node{Name: name, Allocatable: preemption.Resources{"cpu": 4_000}})
		snap.Pods = append(snap.Pods, preemption.Pod{Namespace: "default", Name: name, Node: name, Group: of, Priority: &priority, Requests: preemption.Resources{"cpu": 4_000 - 1_000*int64(i/2)}})
	}
	snap.Pods[0].Labels = map[string]string{"covered": "yes"}
	for i := range snap.Nodes[2:] {
		snap.Nodes[2+i].Unschedulable = true
	}
	require.True(t, jointIsExact(t, preemption.Options{}, gen.Question{Snapshot: snap, Preemptor: fleetGang(1, 4_000)}, 0))
}

func FuzzCountingJointUnitsIsExact(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		o, q := jointFleet(seed)
		jointIsExact(t, o, q, jointChecks(seed))
	})
}

// drawVacant is a question about a gang in a fleet of several blocks of nodes, for which nodes stay
// vacant: of unlike members, perhaps apart or spread, in racks of nodes in a row or not; some of the
// other pods are selected by the constraints, in groups that go as a whole, or under budgets, and
// some nodes are closed or waited for.
func drawVacant(t *rapid.T) (preemption.Options, gen.Question) {
	draw := func(name string, n int) int { return rapid.IntRange(0, n-1).Draw(t, name) }
	seed := uint64(draw("seed", 1<<30))
	nodes, perNode := 20+draw("nodes", 180), 2+draw("pods", 9)
	q := gen.Question{Snapshot: gen.Fleet(nodes, perNode, seed, gen.Shapes()[draw("shape", len(gen.Shapes()))])}
	snap := &q.Snapshot
	q.Preemptor = fleetGang(1+draw("members", 24), []int64{64_000, 32_000, 21_000, 9_000, 3_500, 500}[draw("cpu", 6)])
	if draw("joined", 4) == 0 {
		joinPods(snap, perNode, draw("even", 2) == 0, draw("scattered", 2) == 0)
	}
	priority, racks := []int32{1 << 30, 1 << 30, 7, 300}[draw("priority", 4)], 1+draw("racks", 8)
	q.Preemptor.Group.Priority = &priority
	for i := range snap.Nodes {
		n := &snap.Nodes[i]
		rack := i * racks / nodes
		if seed%2 == 0 {
			rack = i % racks
		}
		n.Labels = map[string]string{"host": n.Name, "zone": fmt.Sprint(i % 3), "rack": fmt.Sprint(rack)}
		if draw("kind", 12) == 0 {
			switch seed / 2 % 4 {
			case 0:
				n.Unschedulable = true
			case 1:
				least := int32(1 << 30)
				snap.Pods = append(snap.Pods, preemption.Pod{
					Name: fmt.Sprint("waits-", i), NominatedNode: n.Name, Priority: &least, Requests: preemption.Resources{cluster.CPU: 20_000},
				})
			case 2:
				n.Allocatable[cluster.CPU] /= 2 // it has more pods than room
			case 3:
				delete(n.Allocatable, cluster.Pods)
			}
		}
	}
	ours := &disruption.Selector{MatchLabels: map[string]string{"job": "gang"}}
	others, kinds, step, tie := draw("others", 4), 1+draw("kinds", 8), int64(draw("step", 3)), draw("tie", 6)
	for i := range snap.Pods {
		if p := &snap.Pods[i]; p.Node != "" && i%(7+nodes/5) == 0 {
			switch others {
			case 0:
				p.Labels = map[string]string{"job": "gang"}
			case 1:
				p.Labels = map[string]string{"budget": "yes"}
			}
		}
	}
	if others == 1 {
		snap.Budgets = append(snap.Budgets, disruption.Budget{
			Namespace: "default", Name: "budget", Allowed: int32(draw("allowed", 4)) * 5,
			Selector: &disruption.Selector{MatchLabels: map[string]string{"budget": "yes"}},
		})
	}
	for i := range q.Preemptor.Pods {
		p := &q.Preemptor.Pods[i]
		p.Priority, p.Namespace = &priority, "default"
		p.Requests[cluster.CPU] += int64(i%kinds) * []int64{0, 1_000, 777}[step]
		p.Requests[cluster.Memory] = int64((i*5)%kinds) << 30
		p.Labels = map[string]string{"job": "gang"}
		if tie == 0 || tie == 1 {
			p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: "host", Selector: ours}}
		}
		if tie == 1 || tie == 2 {
			p.Spread = []cluster.Spread{{MaxSkew: int32(1 + i%2), TopologyKey: "zone", Selector: ours}}
		}
		if tie == 3 {
			p.Affinity = []cluster.AffinityTerm{{TopologyKey: "rack", Selector: ours}}
		}
		if seed%17 == 0 {
			p.Ports = []cluster.HostPort{{Port: 80}}
		}
		if i%3 == 1 && seed%5 == 0 {
			p.NodeSelector = map[string]string{"zone": "1"}
		}
	}
	q.Preemptor.Group.Namespace = "default"
	if draw("topology", 3) == 0 {
		q.Preemptor.Group.Topology = []cluster.TopologyConstraint{{Key: "rack"}}
	}
	if draw("least", 3) == 0 {
		least := int32(1 + len(q.Preemptor.Pods)/2)
		q.Preemptor.Group.MinCount = &least
	}
	o := gangOptionsBySeed(uint64(draw("options", 1600)))
	o.Explain = false
	return o, q
}

// vacantNodesAreLikeOthers: whole answers are the same where nodes stay vacant until somebody goes
// there, and where everybody who may go is taken out of the trial first; and they are where
// placements are left out that cost more than another one.
func vacantNodesAreLikeOthers(t *rapid.T) {
	o, q := drawVacant(t)
	got, err := o.PreemptByTrials(q.Preemptor, &q.Snapshot)
	require.NoError(t, err)
	want, err := o.PreemptWithoutColumns(q.Preemptor, &q.Snapshot)
	require.NoError(t, err)
	vacant, err := o.PreemptToTheEnd(q.Preemptor, &q.Snapshot, true)
	require.NoError(t, err)
	taken, err := o.PreemptToTheEnd(q.Preemptor, &q.Snapshot, false)
	require.NoError(t, err)
	if diff := cmp.Diff(taken, vacant); diff != "" {
		t.Fatalf("%s (-without columns +vacant, to the end):\n%.3000s", got.Message, diff)
	}
	got.Stats.Trials, want.Stats.Trials = 0, 0 // the columns tell which domains and placements are outdone
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s (-without columns +vacant):\n%.3000s", got.Message, diff)
	}
	some, err := o.PreemptEvery(q.Preemptor, &q.Snapshot, false)
	require.NoError(t, err)
	every, err := o.PreemptEvery(q.Preemptor, &q.Snapshot, true)
	require.NoError(t, err)
	some.Stats.Trials, every.Stats.Trials = 0, 0
	if diff := cmp.Diff(every, some); diff != "" {
		t.Fatalf("%s (-every placement +what may be better):\n%.3000s", got.Message, diff)
	}
}

func TestVacantNodesAreLikeOthers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, vacantNodesAreLikeOthers)
}
func FuzzVacantNodesAreLikeOthers(f *testing.F) { f.Fuzz(rapid.MakeFuzz(vacantNodesAreLikeOthers)) }

// TestMembersKeepTheOrderInWhichTheyFit: beside a pod that goes against a budget alone, the member that is spread over zones fits before the
// one that counts for it, and not after; looking for the lowest level places them once more.
func TestMembersKeepTheOrderInWhichTheyFit(t *testing.T) {
	web, low, high := map[string]string{"app": "web"}, int32(0), int32(9)
	s := preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "a", Labels: map[string]string{"zone": "a"}, Allocatable: cluster.Resources{cluster.CPU: 6}},
			{Name: "b", Labels: map[string]string{"zone": "b"}},
		},
		Pods: []preemption.Pod{
			{Name: "guarded", Node: "a", Labels: web, Priority: &low, Requests: cluster.Resources{cluster.CPU: 2}},
			{Name: "free", Node: "a", Priority: &low, Requests: cluster.Resources{cluster.CPU: 2}},
			{Name: "other", Node: "a", Priority: &low, Requests: cluster.Resources{cluster.CPU: 2}},
			{Name: "counts", Group: "gang", Labels: web, Requests: cluster.Resources{cluster.CPU: 1}},
			{Name: "spread", Group: "gang", Requests: cluster.Resources{cluster.CPU: 1}, Spread: []cluster.Spread{{MaxSkew: 1, TopologyKey: "zone", Selector: &disruption.Selector{MatchLabels: web}}}},
		},
		PodGroups: []preemption.PodGroup{{Name: "gang", Priority: &high}},
		Budgets:   []disruption.Budget{{Name: "none", Selector: &disruption.Selector{MatchLabels: web}}},
	}
	for _, o := range []preemption.Options{{}, {LowestLevel: true}, {Rules: preemption.KEP5710Alpha}} {
		r, err := o.Preempt(preemption.Preemptor{Kind: cluster.KindPodGroup, Name: "gang"}, &s)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict, r.Message)
		require.Len(t, r.Victims, 1)
		require.Equal(t, "other", r.Victims[0].Name)
		require.Len(t, r.Nominations, 2)
	}
}
