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

// TestNestedGroupsAreReadAnew: a planner that has asked about a lone pod does not remember of groups beneath a group who has gone since.
func TestNestedGroupsAreReadAnew(t *testing.T) {
	one, two, high := int32(1), int32(2), int32(9)
	s := &preemption.Snapshot{
		Nodes:              []preemption.Node{{Name: "n", Allocatable: preemption.Resources{"cpu": 5}}},
		CompositePodGroups: []preemption.CompositePodGroup{{Name: "top", Mode: disruption.SurplusFirst, MinGroupCount: &two}},
	}
	for _, g := range []string{"a", "b"} {
		s.PodGroups = append(s.PodGroups, preemption.PodGroup{Name: g, Parent: "top", Mode: disruption.SurplusFirst, MinCount: &one})
		for i := range 2 {
			s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint(g, i), Group: g, Node: "n", Requests: preemption.Resources{"cpu": 1}})
		}
	}
	pl, err := preemption.NewPlanner(s, preemption.Options{})
	require.NoError(t, err)
	for i, gone := range []string{"", "a0", "b1"} {
		if gone != "" {
			require.NoError(t, pl.Remove(preemption.PodRef{Name: gone}))
		}
		p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "p", Priority: &high, Requests: preemption.Resources{"cpu": int64(3 + i/2)}}}}
		want, err := preemption.Preempt(p, pl.Snapshot())
		require.NoError(t, err)
		got, err := pl.Preempt(p)
		require.NoError(t, err)
		require.Equal(t, toJSON(t, want), toJSON(t, got))
	}
}

// TestPlacesInAGroupAreReadAnew: nor where they stood in it.
func TestPlacesInAGroupAreReadAnew(t *testing.T) {
	one, low, high := int32(1), int32(1), int32(9)
	a, b := map[string]string{"a": ""}, map[string]string{"b": ""}
	pod := func(name string, priority int32, labels map[string]string) preemption.Pod {
		return preemption.Pod{Name: name, Group: "g", Node: "n", Priority: &priority, Labels: labels, Requests: cpus(1)}
	}
	s := &preemption.Snapshot{
		Nodes:     []preemption.Node{{Name: "n", Allocatable: cpus(4)}},
		PodGroups: []preemption.PodGroup{{Name: "g", Mode: disruption.SurplusFirst, MinCount: &one, Leader: "lead", Priority: &low}},
		Pods:      []preemption.Pod{pod("lead", 1, nil), pod("x", 1, a), pod("y", 1, a)},
		Budgets: []preemption.Budget{
			{Name: "a", Allowed: 1, Selector: &preemption.Selector{MatchLabels: a}}, {Name: "b", Allowed: 1, Selector: &preemption.Selector{MatchLabels: b}},
		},
	}
	pl, err := preemption.NewPlanner(s, preemption.Options{})
	require.NoError(t, err)
	p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "preemptor", Priority: &high, Requests: cpus(3)}}}
	_, err = pl.Preempt(p)
	require.NoError(t, err)
	for _, pod := range []preemption.Pod{pod("p", 1, map[string]string{"a": "", "b": ""}), pod("q", 2, a), pod("r", 2, b)} {
		require.NoError(t, pl.SetPod(pod))
	}
	for _, gone := range []string{"x", "y"} {
		require.NoError(t, pl.Remove(preemption.PodRef{Name: gone}))
	}
	r, err := pl.Preempt(p)
	require.NoError(t, err)
	require.Equal(t, 2, r.Violations)
}
