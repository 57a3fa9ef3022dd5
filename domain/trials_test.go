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
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// A trial tells whether a pod fits on a node, also with others gone.
func Example() {
	ix, err := cluster.NewIndex(&cluster.Snapshot{
		Nodes: []cluster.Node{{Name: "n1", Allocatable: cluster.Resources{cluster.CPU: 4000}}},
		Pods:  []cluster.Pod{{Name: "batch", Node: "n1", Requests: cluster.Resources{cluster.CPU: 3000}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	pod := &cluster.Pod{Name: "web", Requests: cluster.Resources{cluster.CPU: 2000}}
	member := domain.NewMember(ix, pod, cluster.NoPod)
	trial := domain.NewNodeTrial(ix, member, nil, domain.Nominees{Self: cluster.NoPod})

	trial.Reset(ix.NodeByName("n1"))
	why := trial.Fits()
	fmt.Println("as things are:", why.Check, ix.Resource(why.Resource), "short by", why.Missing)
	trial.Remove(ix.PodByName("", "batch"))
	fmt.Println("without batch:", trial.Fits().OK())
	// Output:
	// as things are: resource cpu short by 1000
	// without batch: true
}

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

func drawConstrained(t *rapid.T, members int) *constrained {
	f := features{affinity: true, spread: true, tokens: true, maxMembers: members}
	if only := rapid.IntRange(0, 3).Draw(t, "only"); only > 0 { // or hardly any of them finds a place
		f.affinity, f.spread, f.tokens = only > 1, only == 1, only == 2
	}
	w := drawWorld(t, f)
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
	c := drawConstrained(t, 4)
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
	c := drawConstrained(t, 1)
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

// gangWorld is a small cluster with members that want to go there.
type gangWorld struct {
	ix    *cluster.Index
	trial *domain.GangTrial
	whole domain.Domain
}

// newGangWorld makes nodes of so many cpu, running pods as node and cpu, and members. There may be many resources more, of which
// each pod holds one.
func newGangWorld(t fataler, nodes []int64, pods [][2]int64, members []int64, more ...string) *gangWorld {
	s := &cluster.Snapshot{}
	for i, cpu := range nodes {
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprintf("n%d", i), Allocatable: cluster.Resources{cluster.CPU: cpu}})
	}
	for i, p := range pods {
		s.Pods = append(s.Pods, cluster.Pod{
			Name: fmt.Sprintf("p%02d", i), Node: s.Nodes[p[0]].Name, Requests: cluster.Resources{cluster.CPU: p[1]},
		})
	}
	for i, name := range more {
		s.Nodes[0].Allocatable[name] = 3
		if i < len(s.Pods) {
			s.Pods[i].Requests[name] = int64(i)
		}
	}
	ix, err := cluster.NewIndex(s)
	if err != nil {
		t.Fatalf("%v", err)
	}
	w := &gangWorld{ix: ix, whole: domain.WholeCluster{}.Split(nil, ix)[0]}
	var list []*domain.Member
	for i, cpu := range members {
		pod := cluster.Pod{Name: fmt.Sprintf("m%d", i), Requests: cluster.Resources{cluster.CPU: cpu}}
		list = append(list, domain.NewMember(ix, &pod, cluster.NoPod))
	}
	w.trial = domain.NewGangTrial(ix, list, nil, func(cluster.PodID) bool { return false })
	return w
}

type fataler interface{ Fatalf(string, ...any) }

// drawGangWorld makes a gangWorld of few sizes, so that much ties.
func drawGangWorld(t *rapid.T, alike bool) (w *gangWorld, members int) {
	size := rapid.Int64Range(1, 3)
	nodes := rapid.SliceOfN(rapid.Int64Range(2, 5), 1, 4).Draw(t, "nodes")
	var pods [][2]int64
	for range rapid.IntRange(0, 6).Draw(t, "pods") {
		pods = append(pods, [2]int64{int64(rapid.IntRange(0, len(nodes)-1).Draw(t, "node")), size.Draw(t, "cpu")})
	}
	list := rapid.SliceOfN(size, 1, 4).Draw(t, "members")
	if alike {
		for i := range list {
			list[i] = list[0]
		}
	}
	var more []string
	for i := range rapid.SampledFrom([]int{0, 0, 70}).Draw(t, "resources") {
		more = append(more, fmt.Sprintf("example.com/r%d", i))
	}
	return newGangWorld(t, nodes, pods, list, more...), len(list)
}

func (w *gangWorld) room() (rows [][]int64) {
	for n := range cluster.NodeID(w.ix.NumNodes()) {
		rows = append(rows, slices.Clone(w.trial.Free(n)))
	}
	return rows
}

// most is how many members any placement on all nodes seats, by trying every one.
func (w *gangWorld) most(members int) int {
	best := 0
	var try func(m int)
	try = func(m int) {
		best = max(best, len(w.trial.Placed()))
		if m == members {
			return
		}
		for _, n := range w.whole.Nodes {
			if w.trial.CanPlace(domain.MemberID(m), n).OK() {
				w.trial.Place(domain.MemberID(m), n)
				try(m + 1)
				w.trial.Unplace()
			}
		}
		try(m + 1)
	}
	try(0)
	return best
}

// undoingLeavesNoTrace: pods that return and members that are taken off leave the
// trial as it was.
func undoingLeavesNoTrace(t *rapid.T) {
	w, members := drawGangWorld(t, false)
	before := w.room()
	var undo []func()
	placed := 0
	for range rapid.IntRange(0, 12).Draw(t, "steps") {
		if p := cluster.PodID(rapid.IntRange(0, max(0, w.ix.NumPods()-1)).Draw(t, "pod")); int(p) < w.ix.NumPods() && !w.trial.Gone(p) {
			w.trial.Remove(p)
			undo = append(undo, func() { w.trial.Return(p) })
		}
		if placed < members {
			w.trial.Place(domain.MemberID(placed), w.whole.Nodes[rapid.IntRange(0, len(w.whole.Nodes)-1).Draw(t, "node")])
			placed++
			undo = append(undo, func() { w.trial.Unplace() })
		}
	}
	if rapid.Bool().Draw(t, "all at once") {
		w.trial.Home()
		undo = nil
	}
	for _, u := range slices.Backward(undo) {
		u()
	}
	require.Equal(t, before, w.room())
	require.Empty(t, w.trial.Placed())
	for _, n := range w.whole.Nodes {
		require.Empty(t, w.trial.On(n))
	}
}
func TestUndoingLeavesNoTrace(t *testing.T) { rapid.Check(t, undoingLeavesNoTrace) }

// seatingIsExact: SeatExact seats a number of members if and only if trying every
// placement does, and says that its no is proved.
func seatingIsExact(t *rapid.T) {
	w, members := drawGangWorld(t, rapid.Bool().Draw(t, "alike"))
	for p := range cluster.PodID(w.ix.NumPods()) {
		if rapid.Bool().Draw(t, "gone") {
			w.trial.Remove(p)
		}
	}
	most := w.most(members)
	all := make([]domain.MemberID, members)
	for m := range all {
		all[m] = domain.MemberID(m)
	}
	for need := 1; need <= members; need++ {
		seated, proved := seating.SeatExact(w.trial, &w.whole, []seating.Part{{Members: all, Need: need}}, seating.ExactNodes, func(in []bool) bool { return in[0] }, nil)
		require.Equal(t, need <= most, seated, "%d of %d members, %d can have a place", need, members, most)
		require.True(t, proved)
		if seated {
			require.Len(t, w.trial.Placed(), need)
		}
		w.trial.UnplaceTo(0)
	}
}
func TestSeatingIsExact(t *testing.T) { rapid.Check(t, seatingIsExact) }

// slotsTellWhatFits: counting slots says the same as looking for a placement, through
// any order of departures and returns.
func slotsTellWhatFits(t *rapid.T) {
	w, members := drawGangWorld(t, true)
	need := rapid.IntRange(1, members).Draw(t, "need")
	slots := seating.NewSlotTrial(w.trial, &w.whole, 0, need)
	for range rapid.IntRange(0, 10).Draw(t, "steps") {
		require.Equal(t, w.most(members) >= need, slots.Fits().OK())
		if w.ix.NumPods() == 0 {
			return
		}
		p := cluster.PodID(rapid.IntRange(0, w.ix.NumPods()-1).Draw(t, "pod"))
		if w.trial.Gone(p) {
			slots.Return(p)
		} else {
			slots.Remove(p)
		}
	}
}
func TestSlotsTellWhatFits(t *testing.T) { rapid.Check(t, slotsTellWhatFits) }

// TestPackAndSpread: three nodes of two slots each and three members; one pod takes a
// slot of n0. Pack fills n1, then goes on to n2 as n0 has less room; Spread takes one
// slot on each node, those with more room first.
func TestPackAndSpread(t *testing.T) {
	for _, c := range []struct {
		placer domain.Placer
		want   []string
	}{
		{domain.Pack{}, []string{"n1", "n1", "n2"}},
		{domain.Spread{}, []string{"n1", "n2", "n0"}},
	} {
		w := newGangWorld(t, []int64{2000, 2000, 2000}, [][2]int64{{0, 1000}}, []int64{1000, 1000, 1000})
		n := c.placer.Place(w.trial, &w.whole, nil, []domain.MemberID{0, 1, 2}, 3)
		require.Equal(t, 3, n)
		var got []string
		for _, a := range w.trial.Assignments() {
			got = append(got, w.ix.Node(a.Node).Name)
		}
		require.Equal(t, c.want, got)
	}
}

func TestAPlacerStopsWhereNothingFits(t *testing.T) {
	for _, placer := range []domain.Placer{domain.Pack{}, domain.Spread{}} {
		w := newGangWorld(t, []int64{2000, 1000}, nil, []int64{1000, 1000, 1000, 3000})
		require.Equal(t, 3, placer.Place(w.trial, &w.whole, nil, []domain.MemberID{0, 1, 2, 3}, 4))
		require.Equal(t, cluster.NoNode, w.trial.At(3), "it is larger than every node")
		w.trial.UnplaceTo(0)
		require.Equal(t, 2, placer.Place(w.trial, &w.whole, nil, []domain.MemberID{0, 1, 2, 3}, 2), "most is a limit")
	}
}

// TestARenewedTrialIsANewOne: a trial that others have used, and left as it was, says of other members what a new one says.
func TestARenewedTrialIsANewOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, numMembers := drawGangWorld(t, false)
		for m := range domain.MemberID(numMembers) {
			for n := range cluster.NodeID(w.ix.NumNodes()) {
				if w.trial.At(m) == cluster.NoNode && w.trial.CanPlace(m, n).OK() {
					w.trial.Place(m, n)
				}
			}
		}
		for p := range cluster.PodID(w.ix.NumPods()) {
			w.trial.Remove(p)
		}
		w.trial.UnplaceTo(0)
		for p := range cluster.PodID(w.ix.NumPods()) {
			w.trial.Return(p)
		}
		var members []*domain.Member
		for i, cpu := range rapid.SliceOfN(rapid.Int64Range(1, 4), 1, 6).Draw(t, "others") {
			pod := cluster.Pod{Name: fmt.Sprintf("o%d", i), Requests: cluster.Resources{cluster.CPU: cpu}}
			members = append(members, domain.NewMember(w.ix, &pod, cluster.NoPod))
		}
		w.trial.Renew(members, nil)
		anew := domain.NewGangTrial(w.ix, members, nil, func(cluster.PodID) bool { return false })
		same := func() {
			require.Equal(t, anew.Placed(), w.trial.Placed())
			for n := range cluster.NodeID(w.ix.NumNodes()) {
				require.Equal(t, anew.Free(n), w.trial.Free(n))
				for m := range domain.MemberID(len(members)) {
					require.Equal(t, anew.Shape(m), w.trial.Shape(m))
					require.Equal(t, anew.At(m), w.trial.At(m))
					if anew.At(m) == cluster.NoNode {
						require.Equal(t, anew.CanPlace(m, n), w.trial.CanPlace(m, n))
					}
				}
			}
		}
		same()
		for m := range domain.MemberID(len(members)) {
			n := cluster.NodeID(rapid.IntRange(0, w.ix.NumNodes()-1).Draw(t, "to"))
			if anew.CanPlace(m, n).OK() {
				anew.Place(m, n)
				w.trial.Place(m, n)
			}
			same()
		}
	})
}

// Whoever left before a pod for which there is no room came back is missed once that pod is gone again, also where members may move.
func TestFitsRemembersWhoLeftWhereItSaysNo(t *testing.T) {
	cpu := func(n int64) cluster.Resources { return cluster.Resources{cluster.CPU: n} }
	ix, err := cluster.NewIndex(&cluster.Snapshot{
		Nodes: []cluster.Node{{Name: "n", Allocatable: cpu(10), Labels: map[string]string{"host": "n"}}},
		Pods:  []cluster.Pod{{Name: "friend", Node: "n", Labels: map[string]string{"app": "friend"}}, {Name: "room", Node: "n", Requests: cpu(9)}},
	})
	require.NoError(t, err)
	friend, room := cluster.PodID(0), cluster.PodID(1)
	require.Equal(t, "friend", ix.Pod(friend).Name)
	term := cluster.AffinityTerm{Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "friend"}}, TopologyKey: "host"}
	pod := &cluster.Pod{Name: "m", Requests: cpu(5), Affinity: []cluster.AffinityTerm{term}}
	for _, mobile := range []bool{false, true} {
		state, err := domain.InterPodAffinity().Prepare(ix, []*cluster.Pod{pod})
		require.NoError(t, err)
		trial := domain.NewGangTrial(ix, []*domain.Member{domain.NewMember(ix, pod, cluster.NoPod)}, []domain.State{state}, func(cluster.PodID) bool { return false })
		trial.Mobile, trial.Need = mobile, func(*domain.GangTrial) bool { return false }
		trial.Remove(room)
		trial.Place(0, 0)
		require.True(t, trial.Fits().OK())
		trial.Remove(friend)
		trial.Return(room)
		require.Equal(t, domain.CheckResource, trial.Fits().Check)
		trial.Remove(room)
		require.Equal(t, domain.CheckAffinity, trial.Fits().Check, "mobile: %t", mobile)
	}
}

// Whoever leaves and comes back where constraints look at single nodes: Fits says what it says where it has to ask about everybody;
// unless the order of members matters it asks about those where somebody moved, also once they found no other placement.
func TestFitsAsksWhereSomethingHasChanged(t *testing.T) {
	misfits := 0
	gen.CheckUntil(t, func(t *rapid.T) {
		s := &cluster.Snapshot{}
		least := rapid.SampledFrom([]int64{2, 4}).Draw(t, "least")
		fraction := func(most int64) []cluster.DeviceRequest {
			return []cluster.DeviceRequest{{Resource: "gpu", Fraction: rapid.Int64Range(least, max(most-3*(least-2), least)).Draw(t, "fraction")}}
		}
		var pods []*cluster.Pod
		for i := range 3 {
			s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprint("n", i), Devices: map[string]cluster.DevicePool{"gpu": {Count: 2, Capacity: 10}}})
			for range 3 {
				s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint("p", len(s.Pods)), Node: fmt.Sprint("n", i), Devices: fraction(5)})
			}
			for range 2 {
				pods = append(pods, &cluster.Pod{Name: fmt.Sprint("m", len(pods)), Devices: fraction(7)})
			}
		}
		ix, err := cluster.NewIndex(s)
		require.NoError(t, err)
		var trials [2]*domain.GangTrial
		for i := range trials {
			state, err := domain.Devices().Prepare(ix, pods)
			require.NoError(t, err)
			var members []*domain.Member
			for _, p := range pods {
				members = append(members, domain.NewMember(ix, p, cluster.NoPod))
			}
			trials[i] = domain.NewGangTrial(ix, members, []domain.State{state}, func(cluster.PodID) bool { return false })
		}
		flip := func(p cluster.PodID, leaves bool) {
			for _, trial := range trials {
				if leaves {
					trial.Remove(p)
				} else {
					trial.Return(p)
				}
			}
		}
		for p := range ix.Pods() {
			flip(p, true)
		}
		for m := range domain.MemberID(len(pods)) {
			if n := cluster.NodeID(rapid.IntRange(0, 2).Draw(t, "node")); trials[0].CanPlace(m, n).OK() {
				trials[0].Place(m, n)
				trials[1].Place(m, n)
			}
		}
		require.True(t, trials[0].Fits().OK())
		mobile, whole, placed := rapid.Bool().Draw(t, "mobile"), domain.WholeCluster{}.Split(nil, ix)[0], slices.Clone(trials[0].Placed())
		for _, trial := range trials {
			trial.Mobile, trial.Need = mobile, func(trial *domain.GangTrial) bool {
				return (domain.FirstFit{}).Place(trial, &whole, nil, placed, len(placed)) == len(placed)
			}
		}
		anew := false // they have gone elsewhere since all were asked
		for range rapid.IntRange(1, 20).Draw(t, "changes") {
			moved, before, at := []cluster.PodID{}, trials[0].Again, trials[0].Assignments()
			for range rapid.IntRange(1, 3).Draw(t, "at once") {
				p := cluster.PodID(rapid.IntRange(0, ix.NumPods()-1).Draw(t, "pod"))
				flip(p, !trials[0].Gone(p))
				moved = append(moved, p)
			}
			trials[1].Doubt()
			want := trials[1].Fits()
			require.Equal(t, want, trials[0].Fits())
			require.Equal(t, trials[1].Assignments(), trials[0].Assignments())
			stayed := slices.Equal(at, trials[0].Assignments())
			if !trials[0].OrderMatters() && stayed && !anew {
				about := 0
				for n := range ix.Nodes() {
					if slices.ContainsFunc(moved, func(p cluster.PodID) bool { return ix.NodeOf(p) == n }) {
						about += len(trials[0].On(n))
					}
				}
				require.LessOrEqual(t, trials[0].Again-before, 5*about)
			}
			if want.OK() {
				anew = !stayed
				continue
			}
			misfits++
			for _, p := range moved { // it was well before
				flip(p, !trials[0].Gone(p))
			}
		}
	}, &misfits)
}

// TestTrialsOutOfUseLeaveNothing: a trial that reuses the lists of others has everybody in place and nobody placed.
func TestTrialsOutOfUseLeaveNothing(t *testing.T) {
	for i := range 40 {
		w := newGangWorld(t, []int64{5, 5, 5, 5}[:1+i%4], [][2]int64{{0, 1}, {0, 2}}[:i%3], []int64{1, 1})
		for n := range w.ix.Nodes() {
			require.Empty(t, w.trial.On(n))
			require.Equal(t, w.ix.Free(n), w.trial.Free(n))
		}
		for p := range w.ix.Pods() {
			require.False(t, w.trial.Gone(p))
			w.trial.Remove(p)
		}
		w.trial.Place(0, 0)
		w.trial.Close()
	}
}

// tiedMembers are members in two zones, some of which want to be near app=y, away from it, or
// spread with it; of three sets in one all are alike.
func tiedMembers(t *rapid.T) (*domain.GangTrial, []domain.Assignment) {
	ix, err := cluster.NewIndex(&cluster.Snapshot{Nodes: []cluster.Node{
		{Name: "n0", Labels: map[string]string{"zone": "a", "host": "0"}}, {Name: "n1", Labels: map[string]string{"zone": "b", "host": "1"}},
		{Name: "n2", Labels: map[string]string{"zone": "b", "host": "2"}},
	}})
	require.NoError(t, err)
	y := map[string]string{"app": "y"}
	on := &disruption.Selector{MatchLabels: y}
	key := rapid.SampledFrom([]string{"zone", "zone", "host"})
	alike := rapid.IntRange(0, 2).Draw(t, "alike") == 0
	var members []*domain.Member
	var pods []*cluster.Pod
	var list []domain.Assignment
	for i := range rapid.IntRange(1, 5).Draw(t, "members") {
		pod := &cluster.Pod{}
		if alike && i > 0 {
			*pod = *pods[0]
		} else {
			if rapid.Bool().Draw(t, "y") {
				pod.Labels = y
			}
			for range rapid.IntRange(0, 2).Draw(t, "wishes") {
				switch rapid.IntRange(0, 2).Draw(t, "wish") {
				case 0:
					pod.Affinity = []cluster.AffinityTerm{{Selector: on, TopologyKey: key.Draw(t, "near")}}
				case 1:
					pod.AntiAffinity = []cluster.AffinityTerm{{Selector: on, TopologyKey: key.Draw(t, "apart")}}
				case 2:
					pod.Spread = append(pod.Spread, cluster.Spread{MaxSkew: 1, TopologyKey: []string{"zone", "host"}[len(pod.Spread)], Selector: on})
				}
			}
		}
		pod.Name = string(rune('a' + i))
		pods, members = append(pods, pod), append(members, domain.NewMember(ix, pod, cluster.NoPod))
		list = append(list, domain.Assignment{Member: domain.MemberID(i), Node: cluster.NodeID(rapid.IntRange(0, 2).Draw(t, "node"))})
	}
	var states []domain.State
	for _, c := range []domain.Constraint{domain.InterPodAffinity(), domain.Anew(domain.TopologySpread())} {
		state, err := c.Prepare(ix, pods)
		require.NoError(t, err)
		if state != nil {
			states = append(states, state)
		}
	}
	return domain.NewGangTrial(ix, members, states, func(cluster.PodID) bool { return false }), list
}

// TestPlaceInTurnLooksAtEveryOrder: it places the members if and only if one by one they
// fit in some order.
func TestPlaceInTurnLooksAtEveryOrder(t *testing.T) {
	turned := 0 // the order has to matter
	gen.CheckUntil(t, func(t *rapid.T) {
		trial, list := tiedMembers(t)
		inOrder := func() bool {
			defer trial.UnplaceTo(0)
			for _, a := range list {
				if !trial.CanPlace(a.Member, a.Node).OK() {
					return false
				}
				trial.Place(a.Member, a.Node)
			}
			return true
		}
		given, possible := slices.Clone(list), false
		first := inOrder()
		permutations(list, 0, func() { possible = possible || inOrder() })
		trial.PlaceAll(given)
		trial.Doubt()
		require.Equal(t, possible, trial.Fits().OK(), "once they have a place")
		trial.UnplaceTo(0)
		_, why := trial.PlaceInTurn(given)
		require.Equal(t, possible, why.OK())
		if possible && !first {
			turned++
		}
		if possible {
			require.ElementsMatch(t, given, trial.Assignments())
		} else {
			require.Empty(t, trial.Placed())
		}
	}, &turned)
}

// permutations calls visit for every order of list from position k on.
func permutations[T any](list []T, k int, visit func()) {
	if k == len(list) {
		visit()
	}
	for i := k; i < len(list); i++ {
		list[k], list[i] = list[i], list[k]
		permutations(list, k+1, visit)
		list[k], list[i] = list[i], list[k]
	}
}

// order is a constraint, and its state, that has nothing against anybody, and does not say
// that it would be as well in another order.
type order struct{}

func (order) Name() domain.Check                                           { return "order" }
func (order) Prepare(*cluster.Index, []*cluster.Pod) (domain.State, error) { return order{}, nil }
func (order) Remove(cluster.PodID, cluster.NodeID)                         {}
func (order) Return(cluster.PodID, cluster.NodeID)                         {}
func (order) Place(domain.MemberID, cluster.NodeID)                        {}
func (order) Unplace(domain.MemberID, cluster.NodeID)                      {}
func (order) Fits(domain.MemberID, cluster.NodeID) (ok domain.Reason)      { return ok }
func (order) Clone() domain.State                                          { return order{} }
func (order) Scope() domain.Scope                                          { return domain.Scope{} }

// after lets a member on a node that the one it needs, if any, is on already.
type after struct {
	order
	needs []domain.MemberID // -1: nobody
	at    []cluster.NodeID
}

func (s *after) Place(m domain.MemberID, n cluster.NodeID)   { s.at[m] = n }
func (s *after) Unplace(m domain.MemberID, _ cluster.NodeID) { s.at[m] = cluster.NoNode }
func (s *after) Scope() domain.Scope                         { return domain.Scope{NodeLocal: true} }
func (s *after) Fits(m domain.MemberID, n cluster.NodeID) (r domain.Reason) {
	if needs := s.needs[m]; needs >= 0 && s.at[needs] != n {
		r.Check = "order"
	}
	return r
}

// TestManyMembersOfNodesFitInAnotherOrder: those who have places fit in some order if PlaceInTurn finds one for all of them.
func TestManyMembersOfNodesFitInAnotherOrder(t *testing.T) {
	ix, err := cluster.NewIndex(&cluster.Snapshot{Nodes: []cluster.Node{{Name: "n0"}, {Name: "n1"}}})
	require.NoError(t, err)
	turned, jammed := 0, 0
	gen.CheckUntil(t, func(t *rapid.T) {
		s := &after{needs: make([]domain.MemberID, 14), at: make([]cluster.NodeID, 14)}
		var members []*domain.Member
		var list []domain.Assignment
		for m := range domain.MemberID(14) {
			members = append(members, domain.NewMember(ix, &cluster.Pod{}, cluster.NoPod))
			list = append(list, domain.Assignment{Member: m, Node: cluster.NodeID(m % 2)})
			s.needs[m] = max(-1, domain.MemberID(rapid.IntRange(-20, 6).Draw(t, "needs"))*2+m%2)
		}
		trial := domain.NewGangTrial(ix, members, []domain.State{s}, func(cluster.PodID) bool { return false })
		trial.PlaceAll(list)
		trial.Doubt()
		fits := trial.Fits().OK()
		require.NotContains(t, s.at, cluster.NoNode, "they are where they were")
		moved := !slices.Equal(list, trial.Assignments())
		trial.UnplaceTo(0)
		_, why := trial.PlaceInTurn(list)
		require.Equal(t, why.OK(), fits)
		if moved {
			turned++
		} else if !fits {
			jammed++
		}
	}, &turned, &jammed)
}

// TestSeatExactGoesBackToTheGivenOrder once it has tried as many others as it may: the first
// member takes the only node of the last one, which shows after all placements of the rest.
func TestSeatExactGoesBackToTheGivenOrder(t *testing.T) {
	s := &cluster.Snapshot{Nodes: []cluster.Node{{Name: "n0", Allocatable: cluster.Resources{cluster.Pods: 1}}}}
	for _, name := range []string{"n1", "n2", "n3", "n4"} {
		s.Nodes = append(s.Nodes, cluster.Node{Name: name})
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	var members []*domain.Member
	part := seating.Part{Need: seating.ExactMembers}
	for i := range seating.ExactMembers {
		pod := &cluster.Pod{Name: string(rune('a' + i))}
		if i == seating.ExactMembers-1 {
			pod.RequiredNode = "n0"
		}
		members, part.Members = append(members, domain.NewMember(ix, pod, cluster.NoPod)), append(part.Members, domain.MemberID(i))
	}
	trial := domain.NewGangTrial(ix, members, []domain.State{order{}}, func(cluster.PodID) bool { return false })
	d := domain.WholeCluster{}.Split(nil, ix)[0]
	seated, proved := seating.SeatExact(trial, &d, []seating.Part{part}, seating.ExactNodes, func(in []bool) bool { return in[0] }, nil)
	require.True(t, seated)
	require.False(t, proved)
	require.Len(t, trial.Placed(), seating.ExactMembers)
}
