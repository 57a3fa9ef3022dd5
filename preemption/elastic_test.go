package preemption_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/naive"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// elasticGroups turns some groups of a question into elastic ones, with leaders.
func elasticGroups(seed uint64, q *gen.Question) {
	r := rand.New(rand.NewPCG(seed, 6))
	for i := range q.Snapshot.CompositePodGroups {
		if r.IntN(2) == 0 {
			q.Snapshot.CompositePodGroups[i].Mode = disruption.SurplusFirst
		}
	}
	for i := range q.Snapshot.PodGroups {
		g := &q.Snapshot.PodGroups[i]
		if r.IntN(4) == 0 {
			continue
		}
		least := int32(1 + r.IntN(3))
		g.Mode, g.Basic, g.MinCount = disruption.SurplusFirst, false, &least
		for _, p := range q.Snapshot.Pods {
			if p.Namespace == g.Namespace && p.Group == g.Name && r.IntN(3) == 0 {
				g.Leader = p.Name
			}
		}
	}
}

// goesOn checks that every elastic group is left as it was, goes whole, or keeps its
// minCount and its leader.
func goesOn(t *testing.T, q *gen.Question, r *preemption.Result, seed uint64) (inPart bool) {
	t.Helper()
	gone := podsOf(r.Victims...)
	for _, g := range q.Snapshot.PodGroups {
		if g.Mode != disruption.SurplusFirst {
			continue
		}
		running, staying, leads := 0, 0, true
		for _, p := range q.Snapshot.Pods {
			if p.Node == "" || p.Terminating || p.Namespace != g.Namespace || p.Group != g.Name {
				continue
			}
			running++
			if !gone[naive.PodKey{Namespace: p.Namespace, Name: p.Name}] {
				staying++
			} else if p.Name == g.Leader {
				leads = false
			}
		}
		if staying == running || staying == 0 {
			continue
		}
		require.True(t, leads && staying >= int(*g.MinCount), "seed %d: of %d pods %d of %s stay, led %t", seed, running, staying, g.Name, leads)
		inPart = true
	}
	return inPart
}

// TestElasticGroupsGoOnOrGo: for a single pod that preempts. The answer holds: it
// fits once the victims are gone, and not with any of them back.
func TestElasticGroupsGoOnOrGo(t *testing.T) {
	t.Parallel()
	part, whole := 0, 0
	for seed := range seeds(4000) {
		q := gen.Random(seed, gen.Profile{MaxNodes: 3, Groups: true, Budgets: true, Ports: true})
		elasticGroups(seed, &q)
		o := preemption.Options{Candidates: seed%2 == 0, Explain: seed%3 == 0, LowestLevel: seed%5 == 0}
		r := ask(&named{t, seed}, o, q)
		if r.Verdict != preemption.Feasible {
			continue
		}
		if goesOn(t, &q, r, seed) {
			part++
		}
		require.True(t, fit(&named{t, seed}, o, q, r.Domain, podsOf(r.Victims...)).OK(), "seed %d", seed)
		for i, v := range r.Victims {
			if v.Mode == disruption.SurplusFirst && !v.Surplus {
				whole++
			}
			others := slices.Delete(slices.Clone(r.Victims), i, i+1)
			require.False(t, fit(&named{t, seed}, o, q, r.Domain, podsOf(others...)).OK(), "seed %d: %s could stay", seed, v.Name)
		}
		planner, err := preemption.NewPlanner(&q.Snapshot, o)
		require.NoError(t, err)
		valid, err := planner.StillValid(r)
		require.NoError(t, err)
		require.Equal(t, preemption.Keep, valid.Advice, "seed %d: %s", seed, valid.Reason)
		for i, v := range r.Victims {
			if forged := *r; v.Surplus {
				forged.Victims = slices.Clone(r.Victims)
				forged.Victims[i].Surplus = false
				advice(t, planner, &forged, preemption.Replan)
			}
		}
		again, err := planner.Preempt(q.Preemptor)
		require.NoError(t, err)
		require.Equal(t, toJSON(t, r), toJSON(t, again), "seed %d: nothing of the first question is left behind", seed)
	}
	require.Greater(t, part, int(seeds(100)))
	require.Greater(t, whole, int(seeds(50)))
}

// TestAskingForAllCandidatesOfElasticGroupsSaysTheSame: what is left out of the search
// because it can't be better is not better.
func TestAskingForAllCandidatesOfElasticGroupsSaysTheSame(t *testing.T) {
	t.Parallel()
	part, violating := 0, 0
	for seed := range seeds(4000) {
		q := gen.Random(seed, gen.Profile{MaxNodes: 4, Groups: true, Budgets: true})
		elasticGroups(seed, &q)
		few, all := preemption.Options{}, preemption.Options{Candidates: true}
		a, b := ask(&named{t, seed}, few, q), ask(&named{t, seed}, all, q)
		require.Equal(t, b.Domain, a.Domain, "seed %d", seed)
		require.Equal(t, toJSON(t, b.Victims), toJSON(t, a.Victims), "seed %d", seed)
		require.Equal(t, b.Score, a.Score, "seed %d", seed)
		if slices.ContainsFunc(a.Victims, func(v preemption.Victim) bool { return v.Surplus }) {
			part++
			if a.Violations > 0 {
				violating++
			}
		}
	}
	require.Greater(t, part, int(seeds(100)))
	require.Greater(t, violating, int(seeds(20)))
}

// TestElasticGroupsGoOnOrGoForGangs: the same for gangs that preempt.
func TestElasticGroupsGoOnOrGoForGangs(t *testing.T) {
	t.Parallel()
	part, irreducible := 0, 0
	for seed := range seeds(3000) {
		q := gen.RandomGang(seed, gen.GangProfile{Profile: gen.Profile{MaxNodes: 4, MaxPods: 14, Groups: true, Budgets: true}, Topology: seed%2 == 1})
		if !asksSomething(q) {
			continue
		}
		if seed%5 < 2 { // a group has many pods in every domain
			q = gen.Enlarge(q, seed)
		}
		own := q.Preemptor
		elasticGroups(seed, &q)
		if own.Group == nil && slices.ContainsFunc(q.Snapshot.PodGroups, func(g cluster.PodGroup) bool {
			return g.Namespace == own.Namespace && g.Name == own.Name && g.Mode == disruption.SurplusFirst
		}) {
			continue // its own minCount has changed
		}
		o := preemption.Options{Rules: []preemption.Rules{"", preemption.Kubernetes136, preemption.KEP5710Alpha}[seed%3], Explain: seed%2 == 0}
		q = sound(o, q)
		if seed%4 == 0 {
			o = randomBounds(seed, o, q)
		}
		r := ask(&named{t, seed}, o, q)
		if r.Verdict != preemption.Feasible {
			continue
		}
		if goesOn(t, &q, r, seed) {
			part++
		}
		g, err := naive.NewGang(gangOptions(o), q.Preemptor, &q.Snapshot)
		require.NoError(t, err)
		_, st := g.Misfit(inPlaces(placesText(r)), podsOf(r.Victims...))
		require.True(t, st.OK(), "seed %d: %+v", seed, st)
		if o.HardBudgets.All || o.Limits != (preemption.Limits{}) {
			require.True(t, bounds{o, &q}.victimsWithin(r.Victims), "seed %d", seed)
		}
		for _, v := range r.Victims {
			if !v.Surplus || o.Rules != preemption.Kubernetes136 {
				continue // there the members stay where they are
			}
			for _, p := range v.Pods {
				gone := podsOf(r.Victims...)
				delete(gone, naive.PodKey{Namespace: p.Namespace, Name: p.Name})
				_, st := g.Misfit(inPlaces(placesText(r)), gone)
				require.False(t, st.OK(), "seed %d: %s of %s could stay", seed, p.Name, v.Name)
				irreducible++
			}
		}
	}
	require.Greater(t, part, int(seeds(50)))
	require.Greater(t, irreducible, int(seeds(20)))
}

// TestElasticGroupsKeepTheLaws: the order of the input says nothing, it is not
// changed, and JSON keeps everything, with leaders, guards, prices and bounds about.
func TestElasticGroupsKeepTheLaws(t *testing.T) {
	t.Parallel()
	part := 0
	for seed := range sparse(3000) {
		q := gen.Random(seed, gen.Profile{MaxNodes: 3, Groups: true, Budgets: true, Guards: seed%4 == 1})
		gang := gen.RandomGang(seed, gen.GangProfile{Profile: gen.Profile{MaxNodes: 4, MaxPods: 14, Groups: true, Budgets: true}})
		o := preemption.Options{}
		for _, q := range []gen.Question{q, sound(o, gang)} {
			if !asksSomething(q) {
				continue
			}
			elasticGroups(seed, &q)
			o := o
			if seed%2 == 0 {
				o = randomBounds(seed, o, q)
			}
			if seed%4 == 1 {
				o.Guards = gen.Guards(seed)
			}
			if seed%3 == 0 {
				priced(seed, &q)
				o.Cost = preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}, Objective: seed%6 == 0, Importance: true}
			}
			if _, err := o.Preempt(q.Preemptor, &q.Snapshot); err != nil {
				continue // its own mode or minCount has changed
			}
			for _, law := range []property{orderDoesNotMatter, inputIsNotChanged, jsonKeepsEverything} {
				law(&named{t, seed}, o, q, seed)
			}
			if slices.ContainsFunc(ask(&named{t, seed}, o, q).Victims, func(v preemption.Victim) bool { return v.Surplus }) {
				part++
			}
		}
	}
	require.Greater(t, part, int(sparse(10)))
}

// placesText is where members go, as a placement that is given.
func placesText(r *preemption.Result) map[string]string {
	places := map[string]string{}
	for _, n := range r.Nominations {
		places[n.Pod.Namespace+"/"+n.Pod.Name] = n.Node
	}
	return places
}

// wholeGroups is q with every elastic group of mode All: the units are the same.
func wholeGroups(q gen.Question) gen.Question {
	q = gen.Clone(q)
	for i := range q.Snapshot.PodGroups {
		if g := &q.Snapshot.PodGroups[i]; g.Mode == disruption.SurplusFirst {
			g.Mode = disruption.All
		}
	}
	return q
}

// parts lists what of a unit may go, beside nothing: all of it, or of an elastic pod
// group what leaves minCount pods and the leader.
func parts(q *gen.Question, u naive.Unit) (list []naive.Unit) {
	i := slices.IndexFunc(q.Snapshot.PodGroups, func(g cluster.PodGroup) bool {
		return u.Kind == cluster.KindPodGroup && g.Namespace == u.Namespace && g.Name == u.Name && g.Mode == disruption.SurplusFirst
	})
	if i < 0 {
		return []naive.Unit{u}
	}
	g := &q.Snapshot.PodGroups[i]
	for set := 1; set < 1<<len(u.Pods); set++ {
		part, staying, leads := u, 0, true
		part.Pods = nil
		for k, p := range u.Pods {
			if set>>k&1 == 1 {
				part.Pods = append(part.Pods, p)
				leads = leads && (p.Name != g.Leader || p.Terminating)
			} else if !p.Terminating {
				staying++
			}
		}
		if len(part.Pods) == len(u.Pods) || leads && staying >= int(*g.MinCount) {
			list = append(list, part)
		}
	}
	return list
}

// partsOf calls yield with every way in which some of the units go.
func partsOf(q *gen.Question, units []naive.Unit, some []naive.Unit, yield func([]naive.Unit)) {
	if len(units) == 0 {
		yield(some)
		return
	}
	partsOf(q, units[1:], some, yield)
	for _, part := range parts(q, units[0]) {
		partsOf(q, units[1:], append(slices.Clone(some), part), yield)
	}
}

// TestBoundsHoldAndNothingIsMissedOfElasticGroups: a node is a candidate if and only
// if some of its units, elastic ones perhaps in part, go within the bounds; and with
// the price as the objective none of these ways is cheaper.
func TestBoundsHoldAndNothingIsMissedOfElasticGroups(t *testing.T) {
	t.Parallel()
	helped, refused, inPart := 0, 0, 0
	for seed := range seeds(1500) {
		q := gen.Random(seed, gen.Profile{MaxNodes: 2, MaxPods: 10, Budgets: true, Groups: true, Ports: true})
		q.Snapshot.CompositePodGroups = nil
		elasticGroups(seed, &q)
		priced(seed, &q)
		o := preemption.Options{Candidates: true}
		if seed%3 == 0 {
			o.Cost = preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}, Objective: true}
		}
		o = randomBounds(seed, o, q)
		r := ask(&named{t, seed}, o, q)
		if r.Verdict != preemption.Feasible && r.Verdict != preemption.Infeasible {
			continue
		}
		require.True(t, r.Stats.Exact, "seed %d", seed)
		if r.Verdict == preemption.Infeasible && len(q.Snapshot.Nodes) > 0 {
			wider, relaxed := widen(o, q, r.Nearest.Relaxations)
			got := ask(&named{t, seed}, wider, relaxed).Verdict
			require.True(t, got == preemption.Feasible || got == preemption.Fits, "seed %d: %+v", seed, r.Nearest)
		}
		b, whole := bounds{o, &q}, wholeGroups(q)
		best, complete := int64(-1), true
		for _, n := range q.Snapshot.Nodes {
			units, err := naive.Potential(plain(o), whole.Preemptor, &whole.Snapshot, n.Name)
			require.NoError(t, err)
			ways := 1
			for _, u := range units {
				ways *= 1 + len(parts(&q, u))
			}
			if ways > 2000 {
				complete = false
				continue
			}
			least := int64(-1)
			partsOf(&q, units, nil, func(some []naive.Unit) {
				if price := priceOf(some); len(some) > 0 && (least < 0 || price < least) && b.within(some) &&
					fit(&named{t, seed}, o, whole, n.Name, naive.Gone(some)).OK() {
					least = price
				}
			})
			i := slices.IndexFunc(r.Candidates, func(c preemption.Candidate) bool { return c.Domain == n.Name })
			require.Equal(t, least >= 0, i >= 0, "seed %d: %s", seed, n.Name)
			if i < 0 {
				refused++
				continue
			}
			helped++
			if least >= 0 && (best < 0 || least < best) {
				best = least
			}
			require.True(t, b.victimsWithin(r.Candidates[i].Victims), "seed %d: %s", seed, n.Name)
			if slices.ContainsFunc(r.Candidates[i].Victims, func(v preemption.Victim) bool { return v.Surplus }) {
				inPart++
			}
		}
		if complete && o.Cost.Objective && r.Verdict == preemption.Feasible {
			require.Equal(t, best, r.Cost, "seed %d", seed)
		}
	}
	require.Greater(t, helped, int(seeds(150)))
	require.Greater(t, refused, int(seeds(150)))
	require.Greater(t, inPart, int(seeds(25)))
}

// largeGroup is a group that goes whole and has a pod on each of many full nodes of one zone, the pods of
// priorities in turn.
func largeGroup(priorities ...int32) preemption.Snapshot {
	level := priorities[0]
	s := preemption.Snapshot{PodGroups: []preemption.PodGroup{{Name: "batch", Mode: disruption.All, Priority: &level}}}
	core := preemption.Resources{cluster.CPU: 1_000}
	for i := range 40 {
		n := preemption.Node{Name: fmt.Sprintf("n%02d", i), Allocatable: core, Labels: map[string]string{"zone": "z"}}
		p := preemption.Pod{Name: fmt.Sprintf("b%02d", i), Node: n.Name, Group: "batch", Priority: &priorities[i%len(priorities)], Requests: core, Labels: map[string]string{"app": "batch"}}
		s.Nodes, s.Pods = append(s.Nodes, n), append(s.Pods, p)
	}
	return s
}

// TestALargeGroupLeavesWhereverAConstraintLooks: whoever keeps apart from the pods of a group in the whole zone has
// none of them in its way once the group is evicted, though it goes to the node of one.
func TestALargeGroupLeavesWhereverAConstraintLooks(t *testing.T) {
	s, high := largeGroup(1), int32(9)
	web := preemption.Preemptor{Pods: []preemption.Pod{{
		Name: "web", Priority: &high, Requests: preemption.Resources{cluster.CPU: 1_000},
		AntiAffinity: []cluster.AffinityTerm{{TopologyKey: "zone", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "batch"}}}},
	}}}
	for _, o := range []preemption.Options{{}, {Search: preemption.Exact, Objective: []preemption.CriterionName{preemption.CriterionPods}}} {
		r, err := o.Preempt(web, &s)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict)
		require.Len(t, r.Victims[0].Pods, 40)
		require.Empty(t, check.Verify(&s, o, web, r))
	}
}

// TestALargeGroupOfSeveralPriorities: the highest priority is read from the group's first pod, so that where its pods
// differ it is not proved that nothing has a lower one. Where they do not, it is.
func TestALargeGroupOfSeveralPriorities(t *testing.T) {
	high := int32(9)
	web := preemption.Preemptor{Pods: []preemption.Pod{{Name: "web", Priority: &high, Requests: preemption.Resources{cluster.CPU: 1_000}}}}
	for _, c := range []struct {
		priorities []int32
		proved     bool
	}{{[]int32{3}, true}, {[]int32{3, 5, 1}, false}} {
		s := largeGroup(c.priorities...)
		o := preemption.Options{Search: preemption.Exact, Objective: []preemption.CriterionName{preemption.CriterionHighest, preemption.CriterionPods}}
		r, err := o.Preempt(web, &s)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict)
		require.Equal(t, c.proved, r.Optimal, "%v", c.priorities)
		require.Empty(t, check.Verify(&s, o, web, r))
	}
}

// TestALargeGroupLeavesWhereTheValueIsLookedAt: of a group with a pod on each of many nodes, who keeps apart from them in
// its rack has those of the rack in its way, and whoever has to be with them is not helped by their leaving.
func TestALargeGroupLeavesWhereTheValueIsLookedAt(t *testing.T) {
	one, two, high := int32(1), int32(2), int32(9)
	term := []cluster.AffinityTerm{{TopologyKey: "rack", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "batch"}}}}
	ask := func(mode disruption.Mode, affinity, anti []cluster.AffinityTerm, numMembers int) *preemption.Result {
		s := largeGroup(1)
		s.PodGroups[0].Mode, s.PodGroups[0].MinCount = mode, &one
		for i := range s.Nodes {
			s.Nodes[i].Labels["rack"] = fmt.Sprint(i / 2)
		}
		web := preemption.Preemptor{Group: &preemption.PodGroup{Name: "web", MinCount: &two, Priority: &high, Topology: []cluster.TopologyConstraint{{Key: "rack"}}}}
		for i := range numMembers {
			web.Pods = append(web.Pods, preemption.Pod{Name: fmt.Sprint("web", i), Group: "web", Priority: &high, Requests: preemption.Resources{cluster.CPU: 500}, Affinity: affinity, AntiAffinity: anti})
		}
		if numMembers == 1 {
			web.Group, web.Pods[0].Group = nil, ""
		}
		r, err := preemption.Options{}.Preempt(web, &s)
		require.NoError(t, err)
		require.Empty(t, check.Verify(&s, preemption.Options{}, web, r))
		return r
	}
	for _, numMembers := range []int{1, 2} {
		for mode, want := range map[disruption.Mode][2]int{disruption.All: {0, 40}, disruption.SurplusFirst: {0, 2}} {
			for i, evicted := range want {
				affinity, anti := term, []cluster.AffinityTerm(nil)
				if i == 1 {
					affinity, anti = anti, affinity
				}
				r := ask(mode, affinity, anti, numMembers)
				pods := 0
				for _, v := range r.Victims {
					pods += len(v.Pods)
				}
				require.Equal(t, evicted, pods, "%v, %d members, tie %d: %s", mode, numMembers, i, r.Message)
			}
		}
	}
}

// TestALargeGroupLeavesWhereAnyValueIsLookedAt: the nodes of a domain are in several racks, of which the pods of a large group keep
// the gang away.
func TestALargeGroupLeavesWhereAnyValueIsLookedAt(t *testing.T) {
	one, high := int32(1), int32(9)
	s := preemption.Snapshot{PodGroups: []preemption.PodGroup{{Name: "batch", Mode: disruption.All, MinCount: &one}}}
	for i := range 14 {
		n := preemption.Node{Name: fmt.Sprintf("n%02d", i), Allocatable: preemption.Resources{cluster.CPU: 1_000}, Labels: map[string]string{"rack": fmt.Sprint(i % 7)}}
		switch i {
		case 0:
			n.Labels["pair"], n.Allocatable[cluster.CPU] = "x", 500
		case 1:
			n.Labels["pair"] = "x"
		}
		s.Nodes = append(s.Nodes, n)
		if i != 7 && i != 13 {
			s.Pods = append(s.Pods, preemption.Pod{Name: "b" + n.Name, Node: n.Name, Group: "batch", Labels: map[string]string{"app": "batch"}, Requests: preemption.Resources{cluster.CPU: 100}})
		}
	}
	term := []cluster.AffinityTerm{{TopologyKey: "rack", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "batch"}}}}
	web := preemption.Preemptor{
		Group: &preemption.PodGroup{Name: "web", MinCount: &one, Priority: &high, Topology: []cluster.TopologyConstraint{{Key: "pair"}}},
		Pods:  []preemption.Pod{{Name: "web", Group: "web", Priority: &high, Requests: preemption.Resources{cluster.CPU: 1_000}, AntiAffinity: term}},
	}
	r, err := preemption.Options{}.Preempt(web, &s)
	require.NoError(t, err)
	require.Empty(t, check.Verify(&s, preemption.Options{}, web, r))
	require.Equal(t, preemption.Feasible, r.Verdict, r.Message)
	require.Len(t, r.Victims, 1)
	web.Pods[0].Affinity, web.Pods[0].AntiAffinity = term, nil
	r, err = preemption.Options{}.Preempt(web, &s)
	require.NoError(t, err)
	require.Empty(t, check.Verify(&s, preemption.Options{}, web, r))
	require.Equal(t, preemption.Infeasible, r.Verdict, "whoever is to be near has to go")
}

// TestWhatIsNotLookedAtIsTold: where constraints look at the pods of a large group wherever these are, so many of them
// leave and come back, and no more; the domains that are left are told of, and nothing is said to be proved.
func TestWhatIsNotLookedAtIsTold(t *testing.T) {
	const nodes = 1_200
	one, two, high := int32(1), int32(2), int32(9)
	s := preemption.Snapshot{PodGroups: []preemption.PodGroup{{Name: "batch", Mode: disruption.SurplusFirst, MinCount: &one}}}
	for i := range nodes {
		n := preemption.Node{Name: fmt.Sprintf("n%04d", i), Allocatable: preemption.Resources{cluster.CPU: 1_000}, Labels: map[string]string{"host": fmt.Sprint(i)}}
		s.Nodes = append(s.Nodes, n)
		for _, p := range []preemption.Pod{{Name: "b" + n.Name, Group: "batch", Labels: map[string]string{"app": "batch"}}, {Name: "p" + n.Name}} {
			p.Node, p.Requests = n.Name, preemption.Resources{cluster.CPU: 500}
			s.Pods = append(s.Pods, p)
		}
	}
	pod := func(name, group string, cpuMilli int64) preemption.Pod {
		return preemption.Pod{
			Name: name, Group: group, Priority: &high, Labels: map[string]string{"app": "batch"}, Requests: preemption.Resources{cluster.CPU: cpuMilli},
			Affinity: []cluster.AffinityTerm{{TopologyKey: "host", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "batch"}}}},
		}
	}
	asked := map[string]preemption.Preemptor{"gang": {
		Group: &preemption.PodGroup{Name: "web", MinCount: &two, Priority: &high, Topology: []cluster.TopologyConstraint{{Key: "host"}}},
		Pods:  []preemption.Pod{pod("web0", "web", 300), pod("web1", "web", 301)},
	}}
	for name, p := range asked {
		r, err := preemption.Options{}.Preempt(p, &s)
		require.NoError(t, err, name)
		require.Equal(t, preemption.Feasible, r.Verdict, name)
		require.False(t, r.Stats.Exact, name)
		told := map[string]int{}
		for _, x := range r.Rejected {
			told[x.Reason] = x.Domains
		}
		require.Positive(t, told["not looked at"], name)
		require.Less(t, told["not looked at"], nodes, name)
		require.Empty(t, check.Verify(&s, preemption.Options{}, p, r), name)
	}
}
