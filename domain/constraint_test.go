package domain_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/domain/constrainttest"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/noderules"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// builtin are the constraints of this package with what their worlds are full of.
var builtin = []struct {
	constraint domain.Constraint
	features   features
	fromStart  bool
}{
	{domain.ExclusiveTokens(), features{tokens: true, maxMembers: 3}, false},
	{domain.Devices(), features{devices: true, maxMembers: 3}, true},
	{domain.TopologySpread(), features{spread: true, maxMembers: 3}, false},
	{domain.TopologySpread(), features{spread: true, terminating: true}, true},
	{domain.TopologySpread(), features{spread: true, terminating: true, maxMembers: 3}, true},
	{domain.Anew(domain.TopologySpread()), features{spread: true, terminating: true}, true}, // who is nominated counts for an empty selector, who runs does not
	{domain.Anew(domain.TopologySpread()), features{spread: true, terminating: true, unnominated: true}, false},
	{domain.InterPodAffinity(), features{affinity: true}, false},
	{domain.InterPodAffinity(), features{affinity: true, maxMembers: 3}, false},
	{domain.InterPodAffinity136(), features{affinity: true, maxMembers: 3}, false},
	{domain.Anew(domain.InterPodAffinity()), features{affinity: true, maxMembers: 3}, true}, // who is nominated counts beside others alone
	{domain.Anew(domain.InterPodAffinity136()), features{affinity: true, maxMembers: 3, unnominated: true}, false},
}

func keepsTheContract(t *rapid.T) {
	b := builtin[rapid.IntRange(0, len(builtin)-1).Draw(t, "constraint")]
	w := drawWorld(t, b.features)
	require.NoError(t, constrainttest.Check(b.constraint, &w.snapshot, w.members, constrainttest.Options{
		Seed: rapid.Uint64().Draw(t, "seed"), Histories: 2, Steps: 20, FromStart: b.fromStart,
	}))
}

func TestBuiltinConstraintsKeepTheContract(t *testing.T) { rapid.Check(t, keepsTheContract) }
func FuzzBuiltinConstraintsKeepTheContract(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(keepsTheContract))
}

func TestExclusiveTokensCorners(t *testing.T) {
	nodes := []string{"n1", "n2"}
	holder := pod("h@n1", tokens("own/claim"))
	for _, k := range []corner{
		{
			name: "nobody holds it", nodes: nodes, pods: []cluster.Pod{pod("h@n1", tokens("other"))},
			members: []cluster.Pod{pod("m", tokens("own/claim"))}, want: "--",
		}, {
			name: "the member asks for none", nodes: nodes, pods: []cluster.Pod{holder},
			members: []cluster.Pod{pod("m")}, want: "--",
		}, {
			name: "a holder keeps it from every node", nodes: nodes, pods: []cluster.Pod{holder},
			members: []cluster.Pod{pod("m", tokens("own/claim", "free"))}, want: "xx",
		}, {
			name: "its eviction frees it everywhere", nodes: nodes, pods: []cluster.Pod{holder},
			members: []cluster.Pod{pod("m", tokens("own/claim"))}, history: []string{"-h"}, want: "..",
		}, {
			name: "two holders, against the rules", nodes: nodes,
			pods:    []cluster.Pod{holder, pod("i@n2", tokens("own/claim"))},
			members: []cluster.Pod{pod("m", tokens("own/claim"))}, history: []string{"-h"}, want: "xx",
		}, {
			name: "named twice is held once", nodes: nodes, pods: []cluster.Pod{pod("h@n1", tokens("t", "t"))},
			members: []cluster.Pod{pod("m", tokens("t", "t"))}, history: []string{"-h"}, want: "..",
		}, {
			name: "a pending pod holds nothing", nodes: nodes, pods: []cluster.Pod{pod("h", tokens("t"))},
			members: []cluster.Pod{pod("m", tokens("t"))}, want: "--",
		}, {
			name: "a nominated one does once it is taken as there", nodes: nodes,
			pods:    []cluster.Pod{holder, pod("w", nominated("n2"), tokens("own/claim"))},
			members: []cluster.Pod{pod("m", tokens("own/claim"))}, history: []string{"-h", "+w"}, want: "xx",
		}, {
			name: "an earlier member takes it", nodes: nodes,
			members: []cluster.Pod{pod("m", tokens("t")), pod("n", tokens("t"))}, history: []string{"m0@n2"}, want: "xx",
		},
	} {
		k.run(t, domain.ExclusiveTokens())
	}
}

func TestTheReasonNamesTheToken(t *testing.T) {
	ix, err := cluster.NewIndex(&cluster.Snapshot{
		Nodes: []cluster.Node{node("n1")}, Pods: []cluster.Pod{pod("h@n1", tokens("b"))},
	})
	require.NoError(t, err)
	m := pod("m", tokens("a", "b"))
	s, err := domain.ExclusiveTokens().Prepare(ix, []*cluster.Pod{&m})
	require.NoError(t, err)
	require.Equal(t, domain.Reason{Check: domain.CheckToken, Detail: "b"}, s.Fits(0, 0))
	require.Equal(t, domain.Scope{Monotone: true}, s.Scope())
}

// Once warm, a constraint follows removals, returns and placements and answers
// without allocating.
func TestConstraintsDoNotAllocate(t *testing.T) {
	share := func(p *cluster.Pod) { p.Devices = []cluster.DeviceRequest{{Resource: "gpu", Fraction: 400}} }
	var s cluster.Snapshot
	for i := range 8 {
		n := node(fmt.Sprintf("n%d zone=z%d", i, i%3))
		n.Devices = map[string]cluster.DevicePool{"gpu": {Count: 4, Capacity: 1000}}
		s.Nodes = append(s.Nodes, n)
		s.Pods = append(s.Pods,
			pod(fmt.Sprintf("w%d@n%d", i, i), labelled("app=web"), tokens("t"), share),
			pod(fmt.Sprintf("x%d@n%d", i, i), apart("zone", app("web")), share))
	}
	ix, err := cluster.NewIndex(&s)
	require.NoError(t, err)
	member := func(name string) *cluster.Pod {
		p := pod(name, labelled("app=web"), near("zone", app("web")), apart("host", app("web")), tokens("t"), share,
			spread(cluster.Spread{MaxSkew: 1, TopologyKey: "zone", Selector: app("web")}))
		return &p
	}
	members := []*cluster.Pod{member("m0"), member("m1")}
	for _, c := range []domain.Constraint{
		domain.InterPodAffinity(), domain.TopologySpread(), domain.ExclusiveTokens(), domain.Devices(),
	} {
		state, err := c.Prepare(ix, members)
		require.NoError(t, err)
		use := func() {
			for n := range cluster.NodeID(ix.NumNodes()) {
				for _, p := range ix.PodsOn(n) {
					state.Remove(p, n)
				}
				state.Fits(0, n)
				state.Place(0, n)
				state.Fits(1, n)
				state.Unplace(0, n)
				for _, p := range ix.PodsOn(n) {
					state.Return(p, n)
				}
				state.Fits(0, n)
			}
		}
		use()
		require.Zero(t, testing.AllocsPerRun(10, use), "%s", c.Name())
	}
}

func TestPreferencesAreSharesOfWhatIsAsked(t *testing.T) {
	const huge = math.MaxInt64
	for name, c := range map[string]struct {
		free, offers cluster.Resources // of the node
		asks         cluster.Resources
		least, most  int64
	}{
		"a half is left":                  {cluster.Resources{"cpu": 4}, cluster.Resources{"cpu": 6}, cluster.Resources{"cpu": 1}, 500_000, -500_000},
		"nothing is left":                 {cluster.Resources{"cpu": 1}, cluster.Resources{"cpu": 6}, cluster.Resources{"cpu": 1}, 0, 0},
		"rounded down":                    {cluster.Resources{"cpu": 2}, cluster.Resources{"cpu": 3}, cluster.Resources{"cpu": 1}, 333_333, -333_333},
		"on average":                      {cluster.Resources{"cpu": 4, "memory": 2}, cluster.Resources{"cpu": 6, "memory": 2}, cluster.Resources{"cpu": 1, "memory": 1}, 500_000, -500_000},
		"what it does not ask for":        {cluster.Resources{"cpu": 4, "memory": 0}, cluster.Resources{"cpu": 6, "memory": 9}, cluster.Resources{"cpu": 1}, 500_000, -500_000},
		"it asks for nothing":             {cluster.Resources{"cpu": 4}, cluster.Resources{"cpu": 6}, nil, 0, 0},
		"overcommitted counts as full":    {cluster.Resources{"cpu": -4}, cluster.Resources{"cpu": 6}, cluster.Resources{"cpu": 1}, 0, 0},
		"nobody offers it":                {cluster.Resources{"cpu": 4}, cluster.Resources{"cpu": 6}, cluster.Resources{"gpu": 1}, 0, 0},
		"amounts as large as they can be": {cluster.Resources{"cpu": huge}, cluster.Resources{"cpu": huge}, cluster.Resources{"cpu": huge / 2}, 500_000, -500_000},
	} {
		t.Run(name, func(t *testing.T) {
			used := cluster.Resources{}
			for r, v := range c.offers {
				used[r] = v - c.free[r]
			}
			ix, err := cluster.NewIndex(&cluster.Snapshot{
				Nodes: []cluster.Node{{Name: "n", Allocatable: c.offers}},
				Pods:  []cluster.Pod{{Name: "runs", Node: "n", Requests: used}},
			})
			require.NoError(t, err)
			m, n := domain.NewMember(ix, &cluster.Pod{Requests: c.asks}, cluster.NoPod), ix.NodeByName("n")
			require.Equal(t, c.least, domain.LeastAllocated.Of(m, ix.Free(n), ix.Allocatable(n)))
			require.Equal(t, c.most, domain.MostAllocated.Of(m, ix.Free(n), ix.Allocatable(n)))
			require.Zero(t, domain.FirstByName.Of(m, ix.Free(n), ix.Allocatable(n)))
		})
	}
	require.True(t, domain.FirstByName.Valid() && domain.LeastAllocated.Valid() && domain.MostAllocated.Valid())
	require.False(t, domain.Preference("Best").Valid())
}

func ExamplePreference() {
	ix, err := cluster.NewIndex(&cluster.Snapshot{Nodes: []cluster.Node{{Name: "n", Allocatable: cluster.Resources{cluster.CPU: 4000}}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := domain.NewMember(ix, &cluster.Pod{Requests: cluster.Resources{cluster.CPU: 1000}}, cluster.NoPod)
	n := ix.NodeByName("n")
	fmt.Println(domain.LeastAllocated.Of(m, ix.Free(n), ix.Allocatable(n)), "millionths of it are left")
	// Output: 750000 millionths of it are left
}

func TestMain(m *testing.M) { gen.Tests(m) }

// TestColocationKeepsTheLaws: of every constraint, and that it reads nothing of another node.
func TestColocationKeepsTheLaws(t *testing.T) {
	web := func(p *cluster.Pod) bool { return p.Labels["app"] == "web" }
	count := func(others []*cluster.Pod) (n int) {
		for _, o := range others {
			if web(o) {
				n++
			}
		}
		return n
	}
	asked := 0
	for name, c := range map[string]domain.Colocation{
		"at most one": {Check: "few", Of: web, Monotone: true, Allows: func(_ *cluster.Pod, _ *cluster.Node, others []*cluster.Pod) bool {
			asked++
			return count(others) <= 1
		}},
		"company": {Check: "company", Allows: func(p *cluster.Pod, n *cluster.Node, others []*cluster.Pod) bool {
			return n.Labels["zone"] != "a" || web(p) || count(others) > 0
		}},
	} {
		for seed := range uint64(60) {
			q := gen.Random(seed, gen.Profile{MaxNodes: 4, MaxPods: 14})
			members := append([]cluster.Pod{}, q.Preemptor.Pods...)
			for i := range 2 {
				members = append(members, cluster.Pod{Namespace: "default", Name: fmt.Sprint("m", i), Labels: map[string]string{"app": "web"}})
			}
			if err := constrainttest.Check(c, &q.Snapshot, members, constrainttest.Options{Seed: seed}); err != nil {
				t.Errorf("%s, seed %d: %v", name, seed, err)
			}
		}
	}
	if asked == 0 {
		t.Error("nobody was asked about")
	}
}

// unlike are n pods, of which each has labels and terms of its own.
func unlike(n int, change func(p *cluster.Pod, name string)) (list []*cluster.Pod) {
	for i := range n {
		p := pod(fmt.Sprint("m", i), labelled(fmt.Sprint("app=a", i)))
		change(&p, fmt.Sprint("a", i))
		list = append(list, &p)
	}
	return list
}

func TestTermsThatDifferAreRefusedWhereTheyAreTooMany(t *testing.T) {
	ix, err := cluster.NewIndex(&cluster.Snapshot{Nodes: []cluster.Node{{Name: "n"}}})
	require.NoError(t, err)
	spreads := func(p *cluster.Pod, name string) {
		p.Spread = []cluster.Spread{{MaxSkew: 1, TopologyKey: "zone", Selector: app(name)}}
	}
	keepsApart := func(p *cluster.Pod, name string) {
		p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: "zone", Selector: app(name)}}
	}
	keepsAllAway := func(p *cluster.Pod, _ string) {
		p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: "zone", Selector: &disruption.Selector{MatchExpressions: []disruption.Requirement{{Key: "app", Operator: disruption.Exists}}}}}
	}
	for _, k := range []struct {
		constraint domain.Constraint
		change     func(p *cluster.Pod, name string)
		field      string
	}{
		{domain.TopologySpread(), spreads, "Spread"},
		{domain.InterPodAffinity(), keepsApart, "Affinity, AntiAffinity"},
		{domain.InterPodAffinity(), keepsAllAway, "Affinity, AntiAffinity"},
	} {
		_, err := k.constraint.Prepare(ix, unlike(300, k.change))
		require.NoError(t, err)
		_, err = k.constraint.Prepare(ix, unlike(4_100, k.change))
		var field *cluster.FieldError
		require.ErrorAs(t, err, &field)
		require.ErrorIs(t, err, cluster.ErrInvalid)
		require.Equal(t, k.field, field.Field)
		_, err = k.constraint.Prepare(ix, unlike(4_100, func(p *cluster.Pod, _ string) { k.change(p, "a0"); p.Labels["app"], p.Labels["i"] = "a", p.Name }))
		require.NoError(t, err, "a label that no term reads tells nobody apart")
	}
}

// TestPlacersMakeDoWithTheNextPlace: members of sizes 3, 2 and 1 go to three nodes; to find the best one
// for a member, Pack asks about each.
func TestPlacersMakeDoWithTheNextPlace(t *testing.T) {
	const none = cluster.NoNode
	for _, c := range []struct {
		name  string
		nodes []int64
		looks int // 0: not bounded
		want  []cluster.NodeID
	}{
		{"without a bound each gets the best", []int64{3, 6, 6}, 0, []cluster.NodeID{1, 1, 1}},
		{"while half of the looks are left, too", []int64{3, 6, 6}, 14, []cluster.NodeID{1, 1, 1}},
		{"the last one gets the next node", []int64{3, 6, 6}, 12, []cluster.NodeID{1, 1, 0}},
		{"the second one too, and the last one none", []int64{3, 6, 6}, 4, []cluster.NodeID{1, 0, none}},
		{"all get the next, from where the last one went on", []int64{2, 3, 6}, 1, []cluster.NodeID{none, none, none}},
		{"nobody but the first one gets any", []int64{3, 6, 6}, 3, []cluster.NodeID{1, none, none}},
	} {
		w := newGangWorld(t, c.nodes, nil, []int64{3, 2, 1})
		if c.looks > 0 {
			w.trial.Allow(c.looks)
		}
		placed := domain.Pack{}.Place(w.trial, &w.whole, nil, []domain.MemberID{0, 1, 2}, 3)
		require.Equal(t, c.want, []cluster.NodeID{w.trial.At(0), w.trial.At(1), w.trial.At(2)}, c.name)
		require.Len(t, w.trial.Placed(), placed, c.name)
		require.Equal(t, c.looks > 0 && c.looks < 14, w.trial.Hurried, c.name)
	}

	w, members := fourOrders(t)
	w.trial.Allow(2)
	require.Equal(t, 2, domain.FirstFit{}.Place(w.trial, &w.whole, nil, members, 3), "as many as were looked at")
	require.True(t, w.trial.Hurried)
}

// splitPlainly groups the nodes by what the domain's name would be.
func splitPlainly(keys domain.Topology, ix *cluster.Index) []domain.Domain {
	of := map[string][]cluster.NodeID{}
	for n := range cluster.NodeID(ix.NumNodes()) {
		var parts []string
		for _, key := range keys {
			if value, ok := ix.Node(n).Labels[key]; ok {
				parts = append(parts, key+"="+value)
			}
		}
		if len(parts) == len(keys) {
			name := strings.Join(parts, ",")
			of[name] = append(of[name], n)
		}
	}
	var list []domain.Domain
	for name, nodes := range of {
		list = append(list, domain.Domain{Name: name, Nodes: nodes})
	}
	slices.SortFunc(list, func(a, b domain.Domain) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// TestSplitGroupsByName: whatever the labels are, nodes are in one domain if and only
// if it has one name for them.
func TestSplitGroupsByName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := []string{"a", "b", "", "a,rack=1", "1", "1,rack=1"}
		var s cluster.Snapshot
		for i := range rapid.IntRange(0, 12).Draw(t, "nodes") {
			node := cluster.Node{Name: fmt.Sprint("n", i), Labels: map[string]string{}}
			for _, key := range []string{"zone", "rack"} {
				if rapid.IntRange(0, 5).Draw(t, "has") > 0 {
					node.Labels[key] = rapid.SampledFrom(values).Draw(t, key)
				}
			}
			s.Nodes = append(s.Nodes, node)
		}
		ix, err := s.Objects().Index()
		require.NoError(t, err)
		for _, keys := range []domain.Topology{{"zone"}, {"zone", "rack"}, {"rack", "zone"}, {"zone", "rack", "rack"}, {"nowhere"}} {
			list := keys.Split(nil, ix)
			require.Equal(t, splitPlainly(keys, ix), list, "%v", keys)
			for _, d := range list { // they are the caller's
				_ = append(d.Nodes, cluster.NoNode)
				clear(d.Nodes)
			}
			require.Equal(t, splitPlainly(keys, ix), keys.Split(nil, ix), "%v", keys)
		}
	})
}

// follow walks a random history of w and compares constraint c with its naive twin
// at every step, for every member that is not placed and on every node.
func follow(t *rapid.T, w *world, c domain.Constraint, compare func(t *rapid.T, s *situation, m *cluster.Pod, node string, got domain.Reason)) {
	ix, err := cluster.NewIndex(&w.snapshot)
	require.NoError(t, err)
	var members []*cluster.Pod
	for i := range w.members {
		members = append(members, &w.members[i])
	}
	state, err := c.Prepare(ix, members)
	require.NoError(t, err)
	s := newSituation(w)
	for range rapid.IntRange(0, 25).Draw(t, "steps") {
		for _, m := range members {
			if _, placed := s.now[nameOf(m)]; placed {
				continue
			}
			for n := range cluster.NodeID(ix.NumNodes()) {
				var got domain.Reason
				if state != nil {
					got = state.Fits(memberOf(members, m), n)
				}
				compare(t, s, m, ix.Node(n).Name, got)
			}
		}
		step(t, ix, members, s, state)
	}
}

func memberOf(members []*cluster.Pod, m *cluster.Pod) domain.MemberID {
	for i := range members {
		if members[i] == m {
			return domain.MemberID(i)
		}
	}
	panic("no such member")
}

// step makes one random change to the situation and tells the state, which may be nil.
func step(t *rapid.T, ix *cluster.Index, members []*cluster.Pod, s *situation, state domain.State) {
	i := rapid.IntRange(0, ix.NumPods()+len(members)-1).Draw(t, "who")
	if i < len(members) {
		name, m := nameOf(members[i]), domain.MemberID(i)
		if at, placed := s.now[name]; placed {
			delete(s.now, name)
			if state != nil {
				state.Unplace(m, ix.NodeByName(at))
			}
			return
		}
		n := cluster.NodeID(rapid.IntRange(0, ix.NumNodes()-1).Draw(t, "node"))
		s.now[name] = ix.Node(n).Name
		if state != nil {
			state.Place(m, n)
		}
		return
	}
	p := cluster.PodID(i - len(members))
	name, home := nameOf(ix.Pod(p)), ix.Pod(p).Node+ix.Pod(p).NominatedNode
	if home == "" {
		return // a member that is listed in the snapshot
	}
	if _, there := s.now[name]; there {
		delete(s.now, name)
		if state != nil {
			state.Remove(p, ix.NodeByName(home))
		}
		return
	}
	s.now[name] = home
	if state != nil {
		state.Return(p, ix.NodeByName(home))
	}
}

type twin func(s *situation, m *cluster.Pod, node string) answer

func agrees(twin twin) func(*rapid.T, *situation, *cluster.Pod, string, domain.Reason) {
	return func(t *rapid.T, s *situation, m *cluster.Pod, node string, got domain.Reason) {
		require.Equal(t, twin(s, m, node), answer{got.Check, got.Unresolvable}, "%s on %s: %+v", m.Name, node, got)
	}
}

func affinityAgreesWithTwin(t *rapid.T) {
	w, c := drawWorld(t, features{affinity: true, maxMembers: 3}), domain.InterPodAffinity()
	if len(w.members) == 1 && rapid.Bool().Draw(t, "halves") {
		c = halved{c}
		pods := w.snapshot.Pods
		for i := range rapid.IntRange(0, 3).Draw(t, "copies") * 3 { // many are told in another way than few
			for _, p := range pods {
				p.Name += fmt.Sprint("-", i)
				w.snapshot.Pods = append(w.snapshot.Pods, p)
			}
		}
	}
	follow(t, w, c, agrees((*situation).affinity))
}

// halved is a constraint in two halves.
type halved struct{ domain.Constraint }

func (h halved) Prepare(ix *cluster.Index, members []*cluster.Pod) (domain.State, error) {
	own, theirs := h.Constraint.(interface {
		Halves() (domain.Constraint, func(...cluster.TermID) domain.Constraint)
	}).Halves()
	a, err := own.Prepare(ix, members)
	p, terms := members[0], ix.AntiTerms()
	var against []cluster.TermID
	told := len(p.Affinity)+len(p.AntiAffinity) > 0
	for _, t := range terms.Candidates(p) {
		if terms.Term(t).Selects(p.Namespace, ix.NamespaceLabels(p.Namespace), p.Labels) {
			against, told = append(against, t), told || slices.ContainsFunc(terms.Owners(t), func(p cluster.PodID) bool {
				n := ix.NodeOf(p)
				return n != cluster.NoNode && ix.Topology(terms.Term(t).TopologyKey()).Of(n) != cluster.NoValue
			})
		}
	}
	for _, t := range against {
		if b, err2 := theirs(t).Prepare(ix, members); a == nil && told {
			a, err = b, errors.Join(err, err2)
		} else if told {
			a, err = both{a, b}, errors.Join(err, err2)
		}
	}
	return a, err
}

type both struct {
	domain.State
	theirs domain.State
}

func (s both) Remove(p cluster.PodID, n cluster.NodeID) { s.State.Remove(p, n); s.theirs.Remove(p, n) }
func (s both) Return(p cluster.PodID, n cluster.NodeID) { s.State.Return(p, n); s.theirs.Return(p, n) }
func (s both) Place(domain.MemberID, cluster.NodeID)    {} // it is asked about no more
func (s both) Unplace(domain.MemberID, cluster.NodeID)  {}
func (s both) Fits(m domain.MemberID, n cluster.NodeID) domain.Reason {
	return cmp.Or(s.State.Fits(m, n), s.theirs.Fits(m, n))
}

func TestInterPodAffinityAgreesWithItsNaiveTwin(t *testing.T) { rapid.Check(t, affinityAgreesWithTwin) }
func FuzzInterPodAffinityAgreesWithItsNaiveTwin(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(affinityAgreesWithTwin))
}

func affinity136AgreesWithTwin(t *rapid.T) {
	w, c, anew := drawWorld(t, features{affinity: true, maxMembers: 3}), domain.InterPodAffinity136(), rapid.Bool().Draw(t, "anew")
	if anew {
		c = domain.Anew(c)
	}
	follow(t, w, c, agrees(func(s *situation, m *cluster.Pod, node string) answer {
		s.v136, s.anew = true, anew
		return s.affinity(m, node)
	}))
}

func TestInterPodAffinity136AgreesWithItsNaiveTwin(t *testing.T) {
	rapid.Check(t, affinity136AgreesWithTwin)
}
func FuzzInterPodAffinity136AgreesWithItsNaiveTwin(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(affinity136AgreesWithTwin))
}

func spreadAgreesWithTwin(t *rapid.T) {
	w := drawWorld(t, features{spread: true, terminating: true, maxMembers: 3})
	follow(t, w, domain.TopologySpread(), agrees((*situation).spread))
}

func TestTopologySpreadAgreesWithItsNaiveTwin(t *testing.T) { rapid.Check(t, spreadAgreesWithTwin) }
func FuzzTopologySpreadAgreesWithItsNaiveTwin(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(spreadAgreesWithTwin))
}

func spreadAnewAgreesWithTwin(t *rapid.T) {
	w := drawWorld(t, features{spread: true, terminating: true, maxMembers: 2})
	follow(t, w, domain.Anew(domain.TopologySpread()), agrees(func(s *situation, m *cluster.Pod, node string) answer {
		s.anew = true
		return s.spread(m, node)
	}))
}

func TestTopologySpreadAnewAgreesWithItsNaiveTwin(t *testing.T) {
	rapid.Check(t, spreadAnewAgreesWithTwin)
}
func FuzzTopologySpreadAnewAgreesWithItsNaiveTwin(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(spreadAnewAgreesWithTwin))
}

func tokensAgreeWithTwin(t *rapid.T) {
	w := drawWorld(t, features{tokens: true, maxMembers: 3})
	follow(t, w, domain.ExclusiveTokens(), agrees((*situation).tokens))
}

func TestExclusiveTokensAgreesWithItsNaiveTwin(t *testing.T) { rapid.Check(t, tokensAgreeWithTwin) }
func FuzzExclusiveTokensAgreesWithItsNaiveTwin(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(tokensAgreeWithTwin))
}

func devicesAgreeWithTwin(t *rapid.T) {
	w := drawWorld(t, features{devices: true, maxMembers: 3})
	follow(t, w, domain.Devices(), func(t *rapid.T, s *situation, m *cluster.Pod, node string, got domain.Reason) {
		want, sure := s.devices(m, node)
		if got.Check == domain.CheckDevice && !got.Unresolvable && (!sure || want.unresolvable) {
			return // fractions differ: a way, or that there never is one, may be missed, but nothing is made up
		}
		require.Equal(t, want, answer{got.Check, got.Unresolvable}, "%s on %s: %+v", m.Name, node, got)
	})
}

func TestDevicesAgreesWithItsNaiveTwin(t *testing.T) { rapid.Check(t, devicesAgreeWithTwin) }
func FuzzDevicesAgreesWithItsNaiveTwin(f *testing.F) { f.Fuzz(rapid.MakeFuzz(devicesAgreeWithTwin)) }

// situation is who is where, in strings: the naive twins of the constraints work
// everything out from it each time they are asked.
type situation struct {
	*world
	v136 bool              // as InterPodAffinity136
	anew bool              // as Anew
	was  map[string]string // running pod → its node when the question was asked
	now  map[string]string // pod or placed member → node
}

func newSituation(w *world) *situation {
	s := &situation{world: w, was: map[string]string{}}
	for i := range w.snapshot.Pods {
		if p := &w.snapshot.Pods[i]; p.Node != "" {
			s.was[nameOf(p)] = p.Node
		}
	}
	s.now = maps.Clone(s.was)
	return s
}

func nameOf(p *cluster.Pod) string { return p.Namespace + "/" + p.Name }

func (s *situation) pod(name string) *cluster.Pod {
	for i := range s.members {
		if nameOf(&s.members[i]) == name {
			return &s.members[i]
		}
	}
	for i := range s.snapshot.Pods {
		if nameOf(&s.snapshot.Pods[i]) == name {
			return &s.snapshot.Pods[i]
		}
	}
	panic("no such pod: " + name)
}

func (s *situation) node(name string) *cluster.Node {
	i := slices.IndexFunc(s.snapshot.Nodes, func(n cluster.Node) bool { return n.Name == name })
	return &s.snapshot.Nodes[i]
}

// answer is what a naive twin says: the check that fails, or "", and whether
// evictions on the node could ever help.
type answer struct {
	check        domain.Check
	unresolvable bool
}

// others returns the pods that are somewhere, but for the member itself.
func (s *situation) others(m *cluster.Pod, at map[string]string) map[*cluster.Pod]*cluster.Node {
	others := map[*cluster.Pod]*cluster.Node{}
	for name, node := range at {
		if name != nameOf(m) {
			others[s.pod(name)] = s.node(node)
		}
	}
	return others
}

// affinity is the twin of InterPodAffinity.
func (s *situation) affinity(m *cluster.Pod, node string) answer {
	if !s.affinityMatters() || s.anew && len(m.Affinity)+len(m.AntiAffinity) == 0 && !s.repelledByAnyone(m, s.present()) {
		return answer{}
	}
	n := s.node(node)
	others := s.others(m, s.now)
	satisfied := true
	for _, t := range m.Affinity {
		if _, ok := n.Labels[t.TopologyKey]; !ok {
			return answer{domain.CheckAffinity, true}
		}
		found := false
		for p, at := range others {
			found = found || s.matchesAll(m, p) && sameValue(n, at, t.TopologyKey)
		}
		satisfied = satisfied && found
	}
	if !satisfied {
		anywhere := false
		for p, at := range others {
			for _, t := range m.Affinity {
				_, labelled := at.Labels[t.TopologyKey]
				anywhere = anywhere || labelled && s.matchesAll(m, p)
			}
		}
		if anywhere || !s.matchesAll(m, m) {
			return answer{domain.CheckAffinity, true}
		}
	}
	for p, at := range others {
		for _, t := range m.AntiAffinity {
			if s.pendingTermSelects(m, t, p) && sameValue(n, at, t.TopologyKey) {
				return answer{domain.CheckAntiAffinity, false}
			}
		}
		for _, t := range p.AntiAffinity {
			if s.runningTermSelects(p, t, m) && sameValue(n, at, t.TopologyKey) {
				return answer{domain.CheckAntiAffinity, false}
			}
		}
	}
	return answer{}
}

// affinityMatters is false where no member has a term and nobody that runs when the
// question is asked has to do with any of them.
func (s *situation) affinityMatters() bool {
	return slices.ContainsFunc(s.members, func(m cluster.Pod) bool {
		return len(m.Affinity)+len(m.AntiAffinity) > 0 || s.repelledByAnyone(&m, s.was)
	})
}

// present are those who are there but for who is only nominated.
func (s *situation) present() map[string]string {
	there := maps.Clone(s.now)
	maps.DeleteFunc(there, func(name, _ string) bool { p := s.pod(name); return p.Node == "" && p.NominatedNode != "" })
	return there
}

func (s *situation) repelledByAnyone(m *cluster.Pod, there map[string]string) bool {
	for p, at := range s.others(m, there) {
		for _, t := range p.AntiAffinity {
			if _, labelled := at.Labels[t.TopologyKey]; labelled && s.runningTermSelects(p, t, m) {
				return true
			}
		}
	}
	return false
}

func sameValue(a, b *cluster.Node, key string) bool {
	v, ok := a.Labels[key]
	w, too := b.Labels[key]
	return ok && too && v == w
}

func (s *situation) matchesAll(m, p *cluster.Pod) bool {
	for _, t := range m.Affinity {
		if !s.pendingTermSelects(m, t, p) {
			return false
		}
	}
	return len(m.Affinity) > 0
}

// pendingTermSelects is for a term of the preemptor: its namespace selector speaks
// of namespaces that exist.
func (s *situation) pendingTermSelects(owner *cluster.Pod, t cluster.AffinityTerm, p *cluster.Pod) bool {
	labels, exists := s.namespace(p.Namespace)
	empty := t.NamespaceSelector != nil && len(t.NamespaceSelector.MatchLabels)+len(t.NamespaceSelector.MatchExpressions) == 0
	selected := empty || exists && matches(t.NamespaceSelector, labels) || s.v136 && matches(t.NamespaceSelector, nil)
	return termSelects(owner, t, p, selected)
}

func (s *situation) runningTermSelects(owner *cluster.Pod, t cluster.AffinityTerm, p *cluster.Pod) bool {
	labels, _ := s.namespace(p.Namespace)
	return termSelects(owner, t, p, matches(t.NamespaceSelector, labels))
}

func termSelects(owner *cluster.Pod, t cluster.AffinityTerm, p *cluster.Pod, selected bool) bool {
	own := len(t.Namespaces) == 0 && t.NamespaceSelector == nil && owner.Namespace == p.Namespace
	if !own && !slices.Contains(t.Namespaces, p.Namespace) && !selected {
		return false
	}
	for _, key := range t.MatchLabelKeys {
		if v, ok := owner.Labels[key]; ok && !has(p.Labels, key, v) {
			return false
		}
	}
	for _, key := range t.MismatchLabelKeys {
		if v, ok := owner.Labels[key]; ok && has(p.Labels, key, v) {
			return false
		}
	}
	return matches(t.Selector, p.Labels)
}

func has(labels map[string]string, key, value string) bool {
	v, ok := labels[key]
	return ok && v == value
}

func (s *situation) namespace(name string) (map[string]string, bool) {
	for _, ns := range s.snapshot.Namespaces {
		if ns.Name == name {
			return ns.Labels, true
		}
	}
	return nil, false
}

func matches(s *disruption.Selector, labels map[string]string) bool {
	if s == nil {
		return false
	}
	for k, v := range s.MatchLabels {
		if !has(labels, k, v) {
			return false
		}
	}
	for _, r := range s.MatchExpressions {
		v, ok := labels[r.Key]
		in := ok && slices.Contains(r.Values, v)
		switch r.Operator {
		case disruption.In:
			ok = in
		case disruption.NotIn:
			ok = !in
		case disruption.DoesNotExist:
			ok = !ok
		}
		if !ok {
			return false
		}
	}
	return true
}

// tokens is the twin of ExclusiveTokens.
func (s *situation) tokens(m *cluster.Pod, _ string) answer {
	if len(s.members) == 1 && !s.holds(m, s.was) {
		return answer{}
	}
	if s.holds(m, s.now) {
		return answer{domain.CheckToken, false}
	}
	return answer{}
}

func (s *situation) holds(m *cluster.Pod, at map[string]string) bool {
	for p := range s.others(m, at) {
		for _, token := range p.Tokens {
			if slices.Contains(m.Tokens, token) {
				return true
			}
		}
	}
	return false
}

// devices is the twin of Devices: it tries every way to seat those who hold no
// certain device. sure is false where fractions differ and the constraint may miss a way.
func (s *situation) devices(m *cluster.Pod, node string) (a answer, sure bool) {
	n := s.node(node)
	for _, resource := range []string{gpu, "example.com/fpga"} {
		whole, fractions := wants(m, resource)
		if whole == 0 && len(fractions) == 0 {
			continue
		}
		pool, ok := n.Devices[resource]
		empty := slices.Repeat([]int64{pool.Capacity}, int(pool.Count))
		if !ok || !seat(empty, pool.Capacity, whole, fractions) {
			return answer{domain.CheckDevice, true}, true
		}
	}
	sure = true
	for _, resource := range []string{gpu, "example.com/fpga"} {
		whole, fractions := wants(m, resource)
		if whole == 0 && len(fractions) == 0 {
			continue
		}
		pool := n.Devices[resource]
		free := slices.Repeat([]int64{pool.Capacity}, int(pool.Count))
		for p, at := range s.others(m, s.now) {
			if at.Name != node {
				continue
			}
			for _, r := range p.Devices {
				switch {
				case r.Resource != resource:
				case s.was[nameOf(p)] == node && len(r.Assigned) > 0:
					for _, device := range r.Assigned {
						if device < pool.Count && r.Count > 0 {
							free[device] -= pool.Capacity
						} else if device < pool.Count {
							free[device] -= min(r.Fraction, pool.Capacity)
						}
					}
				case r.Count > 0:
					whole += int(r.Count)
				default:
					fractions = append(fractions, r.Fraction)
				}
			}
		}
		slices.Sort(fractions)
		sure = sure && len(slices.Compact(slices.Clone(fractions))) <= 1
		if !seat(free, pool.Capacity, whole, fractions) {
			return answer{domain.CheckDevice, false}, true
		}
	}
	return answer{}, sure
}

func wants(p *cluster.Pod, resource string) (whole int, fractions []int64) {
	for _, r := range p.Devices {
		if r.Resource != resource {
			continue
		}
		whole += int(r.Count)
		if r.Count == 0 {
			fractions = append(fractions, r.Fraction)
		}
	}
	return whole, fractions
}

// seat reports whether there is any way to seat the fractions and then the whole devices.
func seat(free []int64, capacity int64, whole int, fractions []int64) bool {
	if len(fractions) == 0 {
		for _, v := range free {
			if v == capacity {
				whole--
			}
		}
		return whole <= 0
	}
	for i, v := range free {
		if v >= fractions[0] {
			free[i] -= fractions[0]
			ok := seat(free, capacity, whole, fractions[1:])
			free[i] = v
			if ok {
				return true
			}
		}
	}
	return false
}

// spread is the twin of TopologySpread: it counts every pod of every domain anew.
func (s *situation) spread(m *cluster.Pod, node string) answer {
	for _, c := range m.Spread {
		n := s.node(node)
		value, ok := n.Labels[c.TopologyKey]
		if !ok {
			return answer{domain.CheckSpread, true}
		}
		counts := map[string]int{}
		for i := range s.snapshot.Nodes {
			if n := &s.snapshot.Nodes[i]; s.eligible(m, c, n) {
				counts[n.Labels[c.TopologyKey]] += s.countOn(m, c, n.Name)
			}
		}
		least := math.MaxInt
		for _, count := range counts {
			least = min(least, count)
		}
		if len(counts) < max(1, int(c.MinDomains)) {
			least = 0
		}
		skew := counts[value] - least
		if spreadSelects(m, c, m) {
			skew++
		}
		if skew > int(c.MaxSkew) {
			return answer{domain.CheckSpread, false}
		}
	}
	return answer{}
}

func (s *situation) eligible(m *cluster.Pod, c cluster.Spread, n *cluster.Node) bool {
	for _, other := range m.Spread {
		if _, ok := n.Labels[other.TopologyKey]; !ok {
			return false
		}
	}
	rule := noderules.NewRule(m)
	if c.NodeAffinityPolicy != cluster.Ignore && !rule.Matches(n) {
		return false
	}
	return c.NodeTaintsPolicy != cluster.Honor || rule.Untolerated(n) == nil
}

// countOn counts the pods on a node: with one member those that were there at
// first, less or more those that left or came since; with several those that are
// there. What is terminating, and everything by an empty selector, counts in
// leaving and coming only, with several who is nominated alone.
func (s *situation) countOn(m *cluster.Pod, c cluster.Spread, node string) int {
	count := 0
	for _, p := range s.everybody() {
		if !spreadSelects(m, c, p) {
			continue
		}
		was, now := s.was[nameOf(p)] == node, s.now[nameOf(p)] == node
		overlooked := p.Terminating || c.Selector != nil && isEmpty(m, c)
		switch {
		case s.anew || len(s.members) > 1:
			if now && (!overlooked || p.NominatedNode != "") {
				count++
			}
		case was && now:
			if !overlooked {
				count++
			}
		case was:
			if overlooked {
				count--
			}
		case now:
			if nameOf(p) != nameOf(m) || !overlooked {
				count++
			}
		}
	}
	return count
}

func (s *situation) everybody() []*cluster.Pod {
	byName := map[string]*cluster.Pod{}
	for i := range s.snapshot.Pods {
		byName[nameOf(&s.snapshot.Pods[i])] = &s.snapshot.Pods[i]
	}
	for i := range s.members {
		byName[nameOf(&s.members[i])] = &s.members[i]
	}
	var all []*cluster.Pod
	for _, p := range byName {
		all = append(all, p)
	}
	return all
}

func spreadSelects(owner *cluster.Pod, c cluster.Spread, p *cluster.Pod) bool {
	if p.Namespace != owner.Namespace || !matches(c.Selector, p.Labels) {
		return false
	}
	for _, key := range c.MatchLabelKeys {
		if v, ok := owner.Labels[key]; ok && !has(p.Labels, key, v) {
			return false
		}
	}
	return true
}

// isEmpty reports whether the selector of c, with the label keys, asks for nothing.
func isEmpty(owner *cluster.Pod, c cluster.Spread) bool {
	for _, key := range c.MatchLabelKeys {
		if _, ok := owner.Labels[key]; ok {
			return false
		}
	}
	return len(c.Selector.MatchLabels)+len(c.Selector.MatchExpressions) == 0
}
