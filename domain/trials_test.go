package domain_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/naive"
	"github.com/preempt-go/preempt/internal/ports"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// crowd is a cluster full of everything, with pods that want to run there.
type crowd struct {
	*rand.Rand
	snapshot *cluster.Snapshot
	ix       *cluster.Index
	priority int32
	pods     []*cluster.Pod // that want to
	members  []*domain.Member
	gone     map[naive.PodKey]bool
}

// drawCrowd draws a cluster and the preemptor that comes with it, a second one like it, and others
// that ask for what pods of the cluster have; nil if it is refused.
func drawCrowd(t *testing.T, seed uint64) *crowd {
	q := gen.Random(seed, gen.Everything())
	c := &crowd{Rand: rand.New(rand.NewPCG(seed, 41)), snapshot: &q.Snapshot, gone: map[naive.PodKey]bool{}}
	c.priority = naive.Priority(q.Preemptor, c.snapshot)
	var err error
	if c.ix, err = cluster.NewIndex(c.snapshot); err != nil {
		return nil
	}
	add := func(from *cluster.Pod) {
		pod := *from
		pod.Name, pod.UID, pod.Node, pod.NominatedNode = fmt.Sprintf("member-%d", len(c.pods)), "", "", ""
		pod.Priority, pod.Class = &c.priority, ""
		pod.Requests = maps.Clone(pod.Requests)
		if c.IntN(8) == 0 {
			pod.Requests = cluster.Resources{cluster.CPU: 100, "example.com/unheard-of": int64(c.IntN(2))}
		}
		c.pods = append(c.pods, &pod)
		c.members = append(c.members, domain.NewMember(c.ix, &pod, cluster.NoPod))
	}
	self := slices.IndexFunc(c.snapshot.Pods, func(p cluster.Pod) bool {
		return p.Namespace == q.Preemptor.Namespace && p.Name == q.Preemptor.Name
	})
	preemptor := slices.Concat(q.Preemptor.Pods, c.snapshot.Pods[max(self, 0):])
	if len(preemptor) == 0 {
		return nil
	}
	add(&preemptor[0])
	add(&preemptor[0])
	for range c.IntN(3) {
		if len(c.snapshot.Pods) > 0 {
			add(&c.snapshot.Pods[c.IntN(len(c.snapshot.Pods))])
		}
	}
	require.NotEmpty(t, c.members)
	return c
}

// fits asks the twin whether a pod fits on a node beside members that are placed.
func (c *crowd) fits(t *testing.T, pod *cluster.Pod, node string, placed []*cluster.Pod) naive.Status {
	beside := *c.snapshot
	beside.Pods = slices.Clone(beside.Pods)
	for _, p := range placed {
		beside.Pods = append(beside.Pods, *p)
	}
	st, err := naive.Fit(naive.Options{}, cluster.Preemptor{Pods: []cluster.Pod{*pod}}, &beside, node, c.gone)
	require.NoError(t, err)
	return st
}

// agree compares a reason with the twin's.
func (c *crowd) agree(t *testing.T, seed uint64, m int, node string, want naive.Status, got domain.Reason) {
	if want.Check == naive.Ports && got.Check == domain.CheckResource {
		return // for gangs, amounts come first
	}
	require.Equal(t, want.Check, string(got.Check), "seed %d: %s on %s", seed, c.pods[m].Name, node)
	require.Equal(t, want.Unresolvable, got.Unresolvable, "seed %d: %s on %s: %s", seed, c.pods[m].Name, node, got.Check)
	if got.Check == domain.CheckResource && got.Missing > 0 {
		name := got.Detail
		if got.Resource != domain.NoResource {
			name = c.ix.Resource(got.Resource)
		}
		require.Equal(t, want.Resources[name], got.Missing, "seed %d: %s on %s", seed, c.pods[m].Name, node)
	}
}

// flip lets a pod on node n leave, or one that has left return, and tells which and whether it left.
func (c *crowd) flip(n cluster.NodeID) (p cluster.PodID, left, any bool) {
	pods := c.ix.PodsOn(n)
	if len(pods) == 0 {
		return 0, false, false
	}
	p = pods[c.IntN(len(pods))]
	key := c.key(p)
	c.gone[key] = !c.gone[key]
	return p, c.gone[key], true
}

func (c *crowd) key(p cluster.PodID) naive.PodKey {
	return naive.PodKey{Namespace: c.ix.Pod(p).Namespace, Name: c.ix.Pod(p).Name}
}

// TestGangTrialsAgreeWithTheTwin: who may be placed where, beside whom, and whether all that are
// placed still fit, through any history; what frees room frees so much.
func TestGangTrialsAgreeWithTheTwin(t *testing.T) {
	asked, fitted, refused := 0, 0, 0
	for seed := range uint64(400) {
		c := drawCrowd(t, seed)
		if c == nil {
			continue
		}
		trial := domain.NewGangTrial(c.ix, c.members, nil, func(p cluster.PodID) bool { return c.ix.Priority(p) >= c.priority })
		var placed []*cluster.Pod
		var back cluster.PodID // who came back last
		for range 16 {
			beside := func() bool { // everybody, each beside those before
				for i, p := range placed {
					if !c.fits(t, p, p.Node, placed[:i]).OK() {
						return false
					}
				}
				return true
			}
			want := beside()
			require.Equal(t, want, trial.Fits().OK(), "seed %d", seed)
			if !want { // who came back leaves again, as a search would have it
				require.True(t, trial.Matters(back), "seed %d", seed)
				trial.Remove(back)
				c.gone[c.key(back)] = true
				refused++
				require.True(t, beside() && trial.Fits().OK(), "seed %d", seed)
			}
			for m := range c.members {
				if at := trial.At(domain.MemberID(m)); at != cluster.NoNode {
					require.Contains(t, trial.On(at), domain.MemberID(m))
					continue
				}
				for n := range cluster.NodeID(c.ix.NumNodes()) {
					want, got := c.fits(t, c.pods[m], c.ix.Node(n).Name, placed), trial.CanPlace(domain.MemberID(m), n)
					c.agree(t, seed, m, c.ix.Node(n).Name, want, got)
					if asked++; got.OK() {
						fitted++
						require.True(t, trial.HasRoom(domain.MemberID(m), n) && trial.Usable(n), "seed %d", seed)
					}
				}
			}
			switch m, n := domain.MemberID(c.IntN(len(c.members))), cluster.NodeID(c.IntN(c.ix.NumNodes())); {
			case c.IntN(3) == 0 && trial.At(m) == cluster.NoNode && trial.CanPlace(m, n).OK():
				trial.Place(m, n)
				at := *c.pods[m]
				at.Node = c.ix.Node(n).Name
				placed = append(placed, &at)
			case c.IntN(4) == 0 && len(placed) > 0:
				require.Equal(t, placed[len(placed)-1].Name, c.pods[trial.Unplace()].Name)
				placed = placed[:len(placed)-1]
			default:
				if len(placed) > 0 {
					n = c.ix.NodeByName(placed[len(placed)-1].Node)
				}
				if p, left, ok := c.flip(n); ok && left {
					trial.Remove(p)
					require.True(t, trial.Gone(p))
				} else if ok {
					trial.Return(p)
					back = p
					require.False(t, trial.Gone(p))
				}
			}
		}
	}
	t.Log(asked, fitted, refused)
	require.Greater(t, min(asked-fitted, fitted), 2_000)
	require.Greater(t, refused, 40)
}

// TestNodeTrialsAgreeWithTheTwin: likewise of one pod on one node at a time.
func TestNodeTrialsAgreeWithTheTwin(t *testing.T) {
	asked, fitted, decided := 0, 0, 0
	for seed := range uint64(400) {
		c := drawCrowd(t, seed)
		if c == nil {
			continue
		}
		for m, member := range c.members {
			trial := domain.NewNodeTrial(c.ix, member, nil, domain.Nominees{Self: cluster.NoPod, Priority: c.priority})
			for range 3 {
				for n := range cluster.NodeID(c.ix.NumNodes()) {
					trial.Reset(n)
					for p := range cluster.PodID(c.ix.NumPods()) {
						if c.ix.NodeOf(p) != n || !c.gone[c.key(p)] {
							continue
						}
						before := trial.Gap(nil)
						trial.Remove(p)
						for r, v := range trial.Gap(nil) {
							require.Equal(t, before[r]-trial.Frees(r, p), v, "seed %d", seed)
						}
					}
					got := trial.Fits()
					c.agree(t, seed, m, c.ix.Node(n).Name, c.fits(t, c.pods[m], c.ix.Node(n).Name, nil), got)
					if asked++; got.OK() {
						fitted++
					}
					missing := slices.ContainsFunc(trial.Gap(nil), func(v int64) bool { return v > 0 })
					require.False(t, missing && got.OK(), "seed %d: it fits, and something is missing: %v of %v", seed, trial.Gap(nil), c.pods[m].Requests)
					if trial.Decides() && !got.Unresolvable {
						decided++
						require.Equal(t, !missing, got.OK(), "seed %d", seed)
					}
				}
				for n := range cluster.NodeID(c.ix.NumNodes()) {
					c.flip(n)
				}
			}
		}
	}
	t.Log(asked, fitted, decided)
	require.Greater(t, min(asked-fitted, fitted, decided), 2_000)
}

// TestGapsOfPorts: who holds which ports of a pod, those who are expected among them, and who frees them. A gang asks for what its members do.
func TestGapsOfPorts(t *testing.T) {
	pod := func(name, node string, ports ...int32) cluster.Pod {
		p := cluster.Pod{Name: name, Node: node, Requests: cluster.Resources{cluster.CPU: 1}}
		for _, port := range ports {
			p.Ports = append(p.Ports, cluster.HostPort{Port: port})
		}
		return p
	}
	expected := pod("expected", "", 81, 82)
	expected.NominatedNode = "n"
	ix, err := cluster.NewIndex(&cluster.Snapshot{
		Nodes: []cluster.Node{{Name: "m", Allocatable: cluster.Resources{cluster.CPU: 9}}, {Name: "n", Allocatable: cluster.Resources{cluster.CPU: 9}}},
		Pods:  []cluster.Pod{pod("two", "n", 82, 80), pod("none", "n"), pod("other", "n", 79), pod("one", "n", 82), pod("away", "m", 80), expected},
	})
	require.NoError(t, err)
	in, asks := pod("in", "", 80, 81, 82), 2 // slots of pods, and CPU
	in.Requests = cluster.Resources{cluster.CPU: 2}
	trial := domain.NewNodeTrial(ix, domain.NewMember(ix, &in, cluster.NoPod), nil, domain.Nominees{Self: cluster.NoPod})
	trial.Reset(ix.NodeByName("n"))
	held := func() []int64 { return trial.Gap(nil)[asks:] }
	freed := func(name string) (ports []int) {
		list := trial.FreedBy(ix.PodByName("", name))
		if name == "away" {
			require.Empty(t, list)
			return nil
		}
		require.Equal(t, []int{0, 1}, list[:asks])
		for _, r := range list[asks:] {
			require.EqualValues(t, 1, trial.Frees(r, ix.PodByName("", name)))
			ports = append(ports, r-asks)
		}
		return ports
	}
	require.Equal(t, []int64{1, 1, 3}, held())
	for name, want := range map[string][]int{"two": {0, 2}, "none": nil, "other": nil, "one": {2}, "away": nil} {
		require.Equal(t, want, freed(name), name)
		require.Zero(t, trial.Frees(asks+1, ix.PodByName("", name)), name)
	}
	trial.Remove(ix.PodByName("", "two"))
	require.Equal(t, []int64{0, 1, 2}, held())
	trial.Remove(ix.PodByName("", "one"))
	require.Equal(t, []int64{0, 1, 1}, held())
	trial.Return(ix.PodByName("", "two"))
	require.Equal(t, []int64{1, 1, 2}, held())

	gang := domain.NewGangTrial(ix, []*domain.Member{
		domain.NewMember(ix, &in, cluster.NoPod), domain.NewMember(ix, &cluster.Pod{}, cluster.NoPod), domain.NewMember(ix, &in, cluster.NoPod),
	}, nil, func(cluster.PodID) bool { return false })
	cpu, _ := ix.Column(cluster.CPU)
	require.Equal(t, []cluster.ResourceID{cluster.PodsColumn, cluster.ResourceID(cpu)}, gang.Columns())
}

// constrained is a world whose pods have to do with each other, and trials of its members.
type constrained struct {
	*situation
	ix      *cluster.Index
	members []*domain.Member
	states  []domain.State
	twins   []twin // of states
	waiting bool   // pods that are nominated count
}

func drawConstrained(t *rapid.T, members, copies int) *constrained {
	f := features{affinity: true, spread: true, tokens: true, maxMembers: members}
	if only := rapid.IntRange(0, 3).Draw(t, "only"); only > 0 { // or hardly any of them finds a place
		f.affinity, f.spread, f.tokens = only > 1, only == 1, only == 2
	}
	w := drawWorld(t, f)
	for i := range len(w.members) * copies {
		one := w.members[i/copies]
		one.Name = fmt.Sprintf("%s-%d", one.Name, i)
		w.members = append(w.members, one)
	}
	ix, err := cluster.NewIndex(&w.snapshot)
	require.NoError(t, err)
	c := &constrained{situation: newSituation(w), ix: ix, waiting: rapid.Bool().Draw(t, "nominees count")}
	var pods []*cluster.Pod
	for i := range w.members {
		pods = append(pods, &w.members[i])
		c.members = append(c.members, domain.NewMember(ix, &w.members[i], ix.PodByName(w.members[i].Namespace, w.members[i].Name)))
	}
	for _, one := range []struct {
		domain.Constraint
		twin
	}{
		{domain.InterPodAffinity(), (*situation).affinity}, {domain.TopologySpread(), (*situation).spread}, {domain.ExclusiveTokens(), (*situation).tokens},
	} {
		state, err := one.Prepare(ix, pods)
		require.NoError(t, err)
		if state != nil {
			c.states, c.twins = append(c.states, state), append(c.twins, one.twin)
		}
	}
	return c
}

// may says whether the node itself and the twins of those states that are asked let member m in,
// with the pods that are nominated to the node and without them.
func (c *constrained) may(m int, n cluster.NodeID, asked func(i int) bool) bool {
	name := c.ix.Node(n).Name
	let := func() bool {
		for i, twin := range c.twins {
			if asked(i) && twin(c.situation, c.members[m].Pod, name).check != "" {
				return false
			}
		}
		return true
	}
	before := maps.Clone(c.now)
	if c.waiting {
		for _, p := range c.ix.Nominees(n) {
			c.now[nameOf(c.ix.Pod(p))] = name
		}
	}
	with := let()
	c.now = before
	return with && let()
}

func (c *constrained) fits(m int, n cluster.NodeID) bool {
	return c.members[m].Static(c.ix.Node(n)).OK() && c.may(m, n, func(int) bool { return true })
}

// fitsBeside says whether a member fits on a node once some of those who have left are back.
func (c *constrained) fitsBeside(m int, n cluster.NodeID, left []cluster.PodID) (fits bool) {
	left = slices.DeleteFunc(slices.Clone(left), func(p cluster.PodID) bool { return c.now[nameOf(c.ix.Pod(p))] != "" })
	if len(left) == 0 {
		return c.fits(m, n)
	}
	fits = c.fitsBeside(m, n, left[1:])
	c.imagine(left[0], func() { fits = fits || c.fitsBeside(m, n, left[1:]) })
	return fits
}

// allFit says whether those who are placed fit, one after the other in some order.
func (c *constrained) allFit(placed []domain.Assignment) bool {
	all := maps.Clone(c.now)
	defer func() { c.now = all }()
	c.now = maps.Clone(all)
	for _, a := range placed {
		delete(c.now, nameOf(c.members[a.Member].Pod))
	}
	return c.inSomeOrder(placed)
}

// flip lets a pod that runs leave, or return.
func (c *constrained) flip(p cluster.PodID, trial domain.Trial) {
	name := nameOf(c.ix.Pod(p))
	if _, there := c.now[name]; there {
		delete(c.now, name)
		trial.Remove(p)
		return
	}
	c.now[name] = c.ix.Pod(p).Node
	trial.Return(p)
}

// imagine calls look with pod p away, if it is there, or there.
func (c *constrained) imagine(p cluster.PodID, look func()) {
	before := maps.Clone(c.now)
	if name := nameOf(c.ix.Pod(p)); before[name] != "" {
		delete(c.now, name)
	} else {
		c.now[name] = c.ix.Pod(p).Node
	}
	look()
	c.now = before
}

// running are the pods that ran at first.
func (c *constrained) running() (list []cluster.PodID) {
	for n := range c.ix.Nodes() {
		list = append(list, c.ix.PodsOn(n)...)
	}
	return list
}

// inSomeOrder says whether assignments can be made one after the other.
func (c *constrained) inSomeOrder(list []domain.Assignment) bool {
	if len(list) == 0 {
		return true
	}
	for i, a := range list {
		if c.fits(int(a.Member), a.Node) {
			name := nameOf(c.members[a.Member].Pod)
			c.now[name] = c.ix.Node(a.Node).Name
			ok := c.inSomeOrder(slices.Delete(slices.Clone(list), i, i+1))
			delete(c.now, name)
			if ok {
				return true
			}
		}
	}
	return false
}

// Through any history of a gang with constraints: who may be placed where, and whether all who
// are placed still fit, is what the twins say; who does not matter changes neither.
func constrainedGangAgrees(t *rapid.T) {
	c := drawConstrained(t, 4, 0)
	trial := domain.NewGangTrial(c.ix, c.members, c.states, func(cluster.PodID) bool { return c.waiting })
	var placed []domain.Assignment
	running := c.running()
	fitting := func() (list []domain.Assignment) {
		for m := range c.members {
			for n := range c.ix.Nodes() {
				if trial.At(domain.MemberID(m)) == cluster.NoNode && c.fits(m, n) {
					list = append(list, domain.Assignment{Member: domain.MemberID(m), Node: n})
				}
			}
		}
		return list
	}
	for range rapid.IntRange(4, 20).Draw(t, "steps") {
		var may []domain.Assignment
		for m := range domain.MemberID(len(c.members)) {
			for n := range c.ix.Nodes() {
				if trial.At(m) == cluster.NoNode && trial.CanPlace(m, n).OK() {
					may = append(may, domain.Assignment{Member: m, Node: n})
				}
			}
		}
		require.Equal(t, fitting(), may)
		if len(running) > 0 {
			p := rapid.SampledFrom(running).Draw(t, "who may matter")
			fit := c.allFit(placed)
			c.imagine(p, func() {
				if !trial.Matters(p) {
					require.Equal(t, fit, c.allFit(placed))
				}
				if !trial.Looks(c.ix.NodeOf(p)) {
					require.Equal(t, may, fitting())
				}
			})
		}
		switch do := rapid.IntRange(0, 9).Draw(t, "do"); {
		case do < 3 && len(may) > 0:
			a := rapid.SampledFrom(may).Draw(t, "place")
			trial.Place(a.Member, a.Node)
			placed = append(placed, a)
			c.now[nameOf(c.members[a.Member].Pod)] = c.ix.Node(a.Node).Name
		case do < 4 && len(placed) > 0:
			last := placed[len(placed)-1]
			require.Equal(t, last.Member, trial.Unplace())
			delete(c.now, nameOf(c.members[last.Member].Pod))
			placed = placed[:len(placed)-1]
		case do == 4:
			trial.Home()
			placed, c.now = nil, maps.Clone(c.was)
		case do == 5:
			trial.Doubt()
		case do == 6 && len(placed) == 0:
			var list []domain.Assignment
			for m := range domain.MemberID(len(c.members)) {
				list = append(list, domain.Assignment{Member: m, Node: cluster.NodeID(rapid.IntRange(0, c.ix.NumNodes()-1).Draw(t, "to"))})
			}
			_, why := trial.PlaceInTurn(list)
			require.Equal(t, c.inSomeOrder(list), why.OK())
			if !why.OK() {
				require.Empty(t, trial.Placed())
			}
			trial.UnplaceTo(0)
		case len(running) > 0:
			p := rapid.SampledFrom(running).Draw(t, "who")
			c.flip(p, trial)
			if !c.allFit(placed) {
				require.False(t, trial.Fits().OK())
				c.flip(p, trial)
			}
		}
		require.Equal(t, c.allFit(placed), trial.Fits().OK())
		require.ElementsMatch(t, placed, trial.Assignments())
		placed = trial.Assignments() // it may be another order in which they fit
	}
}

func TestConstrainedGangAgreesWithTheTwins(t *testing.T) { rapid.Check(t, constrainedGangAgrees) }

// One pod on one node at a time, likewise; and where constraints alone are asked, leaving and
// coming back one by one is what removing and returning them is.
func constrainedPodAgrees(t *rapid.T) {
	c := drawConstrained(t, 1, 0)
	trial := domain.NewNodeTrial(c.ix, c.members[0], c.states, domain.Nominees{Self: c.members[0].ID, Priority: map[bool]int32{true: 0, false: 1}[c.waiting]})
	running := c.running()
	for range rapid.IntRange(1, 4).Draw(t, "rounds") {
		n := cluster.NodeID(rapid.IntRange(0, c.ix.NumNodes()-1).Draw(t, "node"))
		trial.Reset(n)
		c.now = maps.Clone(c.was)
		for range rapid.IntRange(0, 8).Draw(t, "changes") {
			if len(running) > 0 {
				c.flip(rapid.SampledFrom(running).Draw(t, "who"), trial)
			}
			require.Equal(t, c.fits(0, n), trial.Fits().OK())
			require.Equal(t, c.may(0, n, func(int) bool { return true }), trial.Constraints().OK())
			monotone := func(i int) bool { return c.states[i].Scope().Monotone }
			if kept := !c.members[0].Static(c.ix.Node(n)).OK() || !c.may(0, n, monotone); kept || trial.Excluded() {
				require.True(t, trial.Excluded())
				require.False(t, c.fitsBeside(0, n, running))
			}
			if len(running) > 0 {
				p := rapid.SampledFrom(running).Draw(t, "who may matter")
				fits := c.fits(0, n)
				c.imagine(p, func() {
					if some, _ := trial.Touched(n); !trial.Matters(p) || c.ix.NodeOf(p) == n && !some {
						require.Equal(t, fits, c.fits(0, n))
					}
				})
			}
		}
		if c.waiting {
			continue // LeaveAll and Admit do not look at who is nominated
		}
		trial.Settle(n)
		c.now = maps.Clone(c.was)
		var left []cluster.PodID
		for _, p := range c.ix.PodsOn(n) {
			if rapid.IntRange(0, 3).Draw(t, "goes") > 0 {
				left = append(left, p)
				delete(c.now, nameOf(c.ix.Pod(p)))
			}
		}
		all := func(int) bool { return true }
		require.Subset(t, left, trial.LeaveAll(func(p cluster.PodID) bool { return slices.Contains(left, p) }))
		require.Equal(t, c.may(0, n, all), trial.Constrained().OK())
		if !c.may(0, n, all) {
			continue
		}
		for _, p := range left {
			c.now[nameOf(c.ix.Pod(p))] = c.ix.Node(n).Name
			let := c.may(0, n, all)
			require.Equal(t, let, trial.Admit(p))
			if !let {
				delete(c.now, nameOf(c.ix.Pod(p)))
			}
		}
	}
}

func TestConstrainedPodAgreesWithTheTwins(t *testing.T) { rapid.Check(t, constrainedPodAgrees) }

// TestWhoIsBackMayLetTheMemberIn: a spread that keeps a member off a node proves nothing as long as somebody it
// counts is gone; once nobody is, whoever else comes back changes nothing.
func TestWhoIsBackMayLetTheMemberIn(t *testing.T) {
	web := map[string]string{"app": "web"}
	s := &cluster.Snapshot{
		Nodes: []cluster.Node{{Name: "a", Labels: map[string]string{"zone": "a"}}, {Name: "b", Labels: map[string]string{"zone": "b"}}},
		Pods:  []cluster.Pod{{Name: "web-0", Node: "a", Labels: web}, {Name: "web-1", Node: "b", Labels: web}, {Name: "batch", Node: "b"}},
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	pod := cluster.Pod{Name: "web-2", Labels: web, Spread: []cluster.Spread{{TopologyKey: "zone", MaxSkew: 1, Selector: &disruption.Selector{MatchLabels: web}}}}
	state, err := domain.TopologySpread().Prepare(ix, []*cluster.Pod{&pod})
	require.NoError(t, err)
	trial := domain.NewNodeTrial(ix, domain.NewMember(ix, &pod, cluster.NoPod), []domain.State{state}, domain.Nominees{Self: cluster.NoPod})
	trial.Reset(0)
	require.True(t, trial.Fits().OK())
	trial.Remove(ix.PodByName("", "web-1"))
	require.False(t, trial.Fits().OK(), "zone a would have two, zone b none")
	require.False(t, trial.Excluded(), "web-1 may come back")

	s.Pods = append(s.Pods, cluster.Pod{Name: "web-3", Node: "a", Labels: web})
	ix, err = cluster.NewIndex(s)
	require.NoError(t, err)
	state, err = domain.TopologySpread().Prepare(ix, []*cluster.Pod{&pod})
	require.NoError(t, err)
	trial.Ask(ix, domain.NewMember(ix, &pod, cluster.NoPod), []domain.State{state}, domain.Nominees{Self: cluster.NoPod})
	trial.Reset(0)
	require.False(t, trial.Fits().OK(), "zone a would have three, zone b one")
	trial.Remove(ix.PodByName("", "batch"))
	require.True(t, trial.Excluded(), "batch is nothing to it")
}

// Members that are compiled one after the other are what each is by itself, and have room where
// it fits.
func TestMembersAreWhatEachIsAlone(t *testing.T) {
	shared, room, none := 0, 0, 0
	for seed := range uint64(300) {
		c := drawCrowd(t, seed)
		if c == nil {
			continue
		}
		var pods []*cluster.Pod
		for _, p := range c.pods { // runs of pods that ask for the same, or for less, or nearly the same
			for range 1 + c.IntN(3) {
				one := *p
				one.Requests = maps.Clone(p.Requests)
				if c.IntN(4) == 0 {
					delete(one.Requests, cluster.CPU)
				}
				if c.IntN(4) == 0 && one.Requests != nil {
					one.Requests[cluster.Memory]++
				}
				pods = append(pods, &one)
			}
		}
		filter := func(pod *cluster.Pod, n *cluster.Node) bool { return len(n.Name)%2 == len(pod.Requests)%2 }
		if c.IntN(2) == 0 {
			filter = nil
		}
		members := domain.NewMembers(c.ix, c.IntN(3), filter)
		var before *domain.Member
		for _, p := range pods {
			m, alone := members.Add(p, cluster.NoPod), domain.NewMember(c.ix, p, cluster.NoPod)
			alone.Restrict(filter)
			require.Equal(t, alone.Request(), m.Request(), "seed %d", seed)
			require.Equal(t, alone.Unknown(), m.Unknown(), "seed %d", seed)
			if before != nil && len(m.Request()) > 0 && &m.Request()[0] == &before.Request()[0] {
				require.True(t, maps.Equal(before.Pod.Requests, p.Requests))
				shared++
			}
			before = m
			trial := domain.NewNodeTrial(c.ix, alone, nil, domain.Nominees{Self: cluster.NoPod, Priority: 1<<31 - 1})
			for n := range c.ix.Nodes() {
				require.Equal(t, alone.Static(c.ix.Node(n)), m.Static(c.ix.Node(n)), "seed %d", seed)
				why := m.Room(c.ix, n)
				if len(p.Devices) == 0 && alone.Static(c.ix.Node(n)).OK() {
					trial.Reset(n)
					require.Equal(t, trial.Fits().OK(), why.OK(), "seed %d", seed)
				}
				switch resources := m.Resources(c.ix.Free(n), c.ix.Allocatable(n)); {
				case !resources.OK():
					require.Equal(t, resources, why, "seed %d: amounts come first", seed)
				case why.Check == domain.CheckPorts:
					require.Equal(t, ports.Name(p.Ports[why.Port]), why.Detail)
				}
				if why.OK() {
					room++
				} else {
					none++
				}
			}
		}
	}
	require.Greater(t, shared, 100)
	require.Greater(t, min(room, none), 500)
}

// Room is asked for devices, too.
func TestRoomForDevices(t *testing.T) {
	s := &cluster.Snapshot{
		Nodes: []cluster.Node{{Name: "n0", Devices: map[string]cluster.DevicePool{gpu: {Count: 2, Capacity: 10}}}},
		Pods: []cluster.Pod{{
			Name: "p", Node: "n0", Devices: []cluster.DeviceRequest{{Resource: gpu, Count: 1, Assigned: []int32{0}}}, Ports: []cluster.HostPort{{Port: 80}},
		}},
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	for count, want := range map[int32]domain.Check{1: "", 2: domain.CheckDevice} {
		m := domain.NewMember(ix, &cluster.Pod{Devices: []cluster.DeviceRequest{{Resource: gpu, Count: count}}}, cluster.NoPod)
		require.Equal(t, want, m.Room(ix, 0).Check)
		m = domain.NewMember(ix, &cluster.Pod{Devices: []cluster.DeviceRequest{{Resource: gpu, Count: count}}, Ports: []cluster.HostPort{{Port: 80}}}, cluster.NoPod)
		require.Equal(t, domain.CheckPorts, m.Room(ix, 0).Check, "ports come before devices")
	}
}

// What a reason is told with.
func TestReasonsAreDescribed(t *testing.T) {
	gone := cluster.Taint{Key: "a", Value: "1", Effect: cluster.NoExecute}
	s := &cluster.Snapshot{Nodes: []cluster.Node{{Name: "n0", Taints: []cluster.Taint{{Key: "b", Effect: cluster.NoSchedule}, gone}}}}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	m := domain.NewMember(ix, &cluster.Pod{RequiredNode: "n7", Ports: []cluster.HostPort{{Port: 80}, {Port: 443, Protocol: "UDP", IP: "10.0.0.1"}}}, cluster.NoPod)
	for _, c := range []struct {
		why  domain.Reason
		want string
	}{
		{domain.Reason{Check: domain.CheckTaint}, gone.String()},
		{domain.Reason{Check: domain.CheckTaint, Detail: "told"}, "told"},
		{domain.Reason{Check: domain.CheckPorts, Port: 0}, "80/TCP"},
		{domain.Reason{Check: domain.CheckPorts, Port: 1}, "10.0.0.1:443/UDP"},
		{domain.Reason{Check: domain.CheckNodeName}, "n7"},
		{domain.Reason{Check: domain.CheckAffinity}, ""},
	} {
		want := c.why
		want.Detail = c.want
		require.Equal(t, want, m.Describe(ix, 0, c.why))
	}
	tolerant := domain.NewMember(ix, &cluster.Pod{Tolerations: []cluster.Toleration{{Operator: cluster.TolerationExists}}}, cluster.NoPod)
	require.Empty(t, tolerant.Describe(ix, 0, domain.Reason{Check: domain.CheckTaint}).Detail)
	require.Equal(t, "80/TCP", ports.Name(cluster.HostPort{Port: 80, IP: "0.0.0.0"}))
}

// Who asks nothing of a node but room, and whom no check can tell apart.
func TestMembersThatGoAnywhereAndAreEqual(t *testing.T) {
	ix, err := cluster.NewIndex(&cluster.Snapshot{Nodes: []cluster.Node{{Name: "n0", Allocatable: cluster.Resources{cluster.CPU: 9}}}})
	require.NoError(t, err)
	terms := func(texts ...string) *cluster.NodeAffinity {
		a := &cluster.NodeAffinity{}
		for _, text := range texts {
			a.Terms = append(a.Terms, cluster.NodeTerm{Labels: []cluster.NodeRequirement{
				{Key: text, Operator: cluster.NodeIn, Values: []string{"x", text}}, {Key: "k", Operator: cluster.NodeExists},
			}})
		}
		return a
	}
	swapped := terms("b", "a")
	for i := range swapped.Terms {
		l := swapped.Terms[i].Labels
		l[0].Values[0], l[0].Values[1] = l[0].Values[1], l[0].Values[0]
		l[0], l[1] = l[1], l[0]
	}
	pods := []cluster.Pod{ // every two of them differ
		{}, {Requests: cluster.Resources{cluster.CPU: 1}}, {Requests: cluster.Resources{"unheard-of": 1}}, {Requests: cluster.Resources{"unheard-of": 1, "another": 1}},
		{NodeSelector: map[string]string{"a": "b"}}, {RequiredNode: "n0"}, {NodeAffinity: terms("a")}, {NodeAffinity: terms("a", "b")}, {NodeAffinity: terms("a", "c")},
		{NodeAffinity: &cluster.NodeAffinity{Terms: []cluster.NodeTerm{{Fields: terms("a").Terms[0].Labels}}}},
		{Tolerations: []cluster.Toleration{{Key: "a"}}}, {Tolerations: []cluster.Toleration{{Key: "a"}, {Key: "b"}}}, {Tolerations: []cluster.Toleration{{Key: "a"}, {Key: "c"}}},
		{Tolerations: []cluster.Toleration{{Key: "a", Value: "x"}}}, {Tolerations: []cluster.Toleration{{Key: "a", Effect: cluster.NoSchedule}}}, {Tolerations: []cluster.Toleration{{Key: "a", Operator: cluster.TolerationExists}}},
	}
	bound := map[int]bool{4: true, 5: true, 6: true, 7: true, 8: true, 9: true}
	member := func(p cluster.Pod) *domain.Member { return domain.NewMember(ix, &p, cluster.NoPod) }
	for i, p := range pods {
		require.Equal(t, !bound[i], member(p).Anywhere(), "%+v", p)
		for j, q := range pods {
			require.Equal(t, i == j, member(p).Equals(member(q)), "%+v, %+v", p, q)
		}
	}
	filtered := member(pods[0])
	filtered.Restrict(func(*cluster.Pod, *cluster.Node) bool { return true })
	require.False(t, filtered.Anywhere())
	require.True(t, member(pods[7]).Equals(member(cluster.Pod{NodeAffinity: swapped})), "the order says nothing")
	require.True(t, member(pods[11]).Equals(member(cluster.Pod{Tolerations: []cluster.Toleration{{Key: "b"}, {Key: "a"}}})))
	ports := cluster.Pod{Ports: []cluster.HostPort{{Port: 80}}}
	require.False(t, member(ports).Equals(member(ports)), "they cannot be together")
	for _, c := range []struct {
		pods                      []cluster.Pod
		interchangeable, onlyRoom bool
	}{
		{[]cluster.Pod{pods[0], pods[0]}, true, true}, {[]cluster.Pod{pods[0], pods[1]}, false, true}, {[]cluster.Pod{ports}, false, false},
	} {
		var members []*domain.Member
		for _, p := range c.pods {
			members = append(members, member(p))
		}
		trial := domain.NewGangTrial(ix, members, nil, func(cluster.PodID) bool { return false })
		require.Equal(t, c.interchangeable, trial.Interchangeable())
		require.Equal(t, c.onlyRoom, trial.OnlyRoom())
	}
}

// says is a constraint that gives one reason.
type says struct{ domain.Reason }

func (s says) Scope() domain.Scope                                { return domain.Scope{Monotone: true, NodeLocal: true} }
func (s says) Fits(domain.MemberID, cluster.NodeID) domain.Reason { return s.Reason }
func (says) Place(domain.MemberID, cluster.NodeID)                {}
func (says) Unplace(domain.MemberID, cluster.NodeID)              {}
func (says) Remove(cluster.PodID, cluster.NodeID)                 {}
func (says) Return(cluster.PodID, cluster.NodeID)                 {}

func (s says) Clone() domain.State { return s }

// What a constraint or a placer may not do ends the trial with what it did.
func TestMisuse(t *testing.T) {
	ix, err := cluster.NewIndex(&cluster.Snapshot{Nodes: []cluster.Node{{Name: "n0", Allocatable: cluster.Resources{cluster.CPU: 9, cluster.Pods: 9}}}})
	require.NoError(t, err)
	member := domain.NewMember(ix, &cluster.Pod{Ports: []cluster.HostPort{{Port: 80}, {Port: 81}}}, cluster.NoPod)
	last := cluster.ResourceID(ix.NumResources())
	for why, want := range map[domain.Reason]string{
		{Check: domain.CheckResource, Resource: -1}:       "a reason with resource -1",
		{Check: domain.CheckResource, Resource: last}:     "a reason with resource",
		{Check: domain.CheckResource, Resource: 0}:        "",
		{Check: domain.CheckResource, Resource: last - 1}: "",
		{Check: domain.CheckPorts, Port: -1}:              "a reason with port -1",
		{Check: domain.CheckPorts, Port: 2}:               "a reason with port 2",
		{Check: domain.CheckPorts, Port: 0}:               "",
		{Check: domain.CheckPorts, Port: 1}:               "",
		{Check: domain.CheckToken, Port: 9, Resource: -9}: "",
	} {
		node := domain.NewNodeTrial(ix, member, []domain.State{says{why}}, domain.Nominees{Self: cluster.NoPod})
		node.Reset(0)
		gang := domain.NewGangTrial(ix, []*domain.Member{member}, []domain.State{says{why}}, func(cluster.PodID) bool { return false })
		for _, ask := range []func() domain.Reason{node.Fits, node.Constrained, func() domain.Reason { return gang.CanPlace(0, 0) }} {
			if want == "" {
				require.Equal(t, why, ask())
				continue
			}
			requireMisuse(t, want, func() { ask() })
		}
	}
	gang := func(do func(*domain.GangTrial)) func() {
		return func() {
			do(domain.NewGangTrial(ix, []*domain.Member{member, member}, nil, func(cluster.PodID) bool { return false }))
		}
	}
	requireMisuse(t, "member -1 is not from 0 to 1", gang(func(g *domain.GangTrial) { g.Place(-1, 0) }))
	requireMisuse(t, "member 2 is not from 0 to 1", gang(func(g *domain.GangTrial) { g.Place(2, 0) }))
	requireMisuse(t, "node -1 is not from 0 to 0", gang(func(g *domain.GangTrial) { g.Place(0, -1) }))
	requireMisuse(t, "node 1 is not from 0 to 0", gang(func(g *domain.GangTrial) { g.Place(0, 1) }))
	requireMisuse(t, "member 0, placed on n0 already is not a member without a place", gang(func(g *domain.GangTrial) { g.Place(0, 0); g.Place(0, 0) }))
	requireMisuse(t, "Unplace of nobody is not after a Place", gang(func(g *domain.GangTrial) { g.Unplace() }))
}

func requireMisuse(t *testing.T, want string, do func()) {
	t.Helper()
	defer func() {
		t.Helper()
		m, ok := recover().(*domain.Misuse)
		require.True(t, ok, want)
		require.ErrorContains(t, m, want)
	}()
	do()
}

// Prices are compared number by number, and added up.
func TestPrices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	draw := func() domain.Price {
		return domain.Price{Lead: r.Int64N(2), Violations: r.Int64N(2), Highest: r.Int64N(2), Sum: r.Int64N(2), Pods: r.Int64N(2)}
	}
	for range 500 {
		p, q := draw(), draw()
		number := func(p domain.Price) int64 {
			return p.Lead<<4 | p.Violations<<3 | p.Highest<<2 | p.Sum<<1 | p.Pods
		}
		require.Equal(t, number(p) < number(q), p.Compare(q) < 0)
		require.Equal(t, number(p) > number(q), p.Compare(q) > 0)
		sum := p
		sum.Add(q)
		require.Equal(t, domain.Price{Lead: p.Lead + q.Lead, Violations: p.Violations + q.Violations, Highest: max(p.Highest, q.Highest), Sum: p.Sum + q.Sum, Pods: p.Pods + q.Pods}, sum)
	}
}

func TestMembersThatAFilterCanTellAreNotEqual(t *testing.T) {
	ix, err := cluster.NewIndex(&cluster.Snapshot{Nodes: []cluster.Node{{Name: "n", Allocatable: cluster.Resources{cluster.CPU: 9}}}})
	require.NoError(t, err)
	pod := func(change func(p *cluster.Pod)) *cluster.Pod {
		p := &cluster.Pod{Name: "p", Requests: cluster.Resources{cluster.CPU: 1}}
		change(p)
		return p
	}
	plain := pod(func(*cluster.Pod) {})
	for name, c := range map[string]struct {
		pod  *cluster.Pod
		same bool
	}{
		"name":        {pod(func(p *cluster.Pod) { p.Name, p.UID = "q", "u" }), true},
		"labels":      {pod(func(p *cluster.Pod) { p.Labels = map[string]string{"a": "b"} }), false},
		"annotations": {pod(func(p *cluster.Pod) { p.Annotations = map[string]string{"a": "b"} }), false},
		"namespace":   {pod(func(p *cluster.Pod) { p.Namespace = "ns" }), false},
		"class":       {pod(func(p *cluster.Pod) { p.Class = "c" }), false},
		"group":       {pod(func(p *cluster.Pod) { p.Group = "g" }), false},
		"queue":       {pod(func(p *cluster.Pod) { p.Queue = "q" }), false},
		"devices":     {pod(func(p *cluster.Pod) { p.Devices = []cluster.DeviceRequest{{Resource: "gpu", Count: 1}} }), false},
	} {
		equal := func(f domain.Filter) bool {
			list := domain.NewMembers(ix, 2, f)
			return list.Add(plain, cluster.NoPod).Equals(list.Add(c.pod, cluster.NoPod))
		}
		require.Equal(t, name != "devices", equal(nil), "%s: nobody but a filter is shown", name)
		require.Equal(t, c.same, equal(func(*cluster.Pod, *cluster.Node) bool { return true }), name)
	}
}

func ExampleMember_Restrict() {
	ix, err := cluster.NewIndex(&cluster.Snapshot{Nodes: []cluster.Node{{Name: "n1"}, {Name: "n2", Labels: map[string]string{"team": "vision"}}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	member := domain.NewMember(ix, &cluster.Pod{Name: "web"}, cluster.NoPod)
	member.Restrict(func(p *cluster.Pod, n *cluster.Node) bool { return n.Labels["team"] == p.Labels["team"] })
	for n := range ix.Nodes() {
		fmt.Printf("%s: %q\n", ix.Node(n).Name, member.Static(ix.Node(n)).Check)
	}
	// Output:
	// n1: ""
	// n2: "filter"
}
