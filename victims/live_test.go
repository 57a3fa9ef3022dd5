package victims_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// followed are units that follow their index, with all that is known of them.
type followed struct {
	ix *cluster.Index
	us *victims.Units
	ps *victims.Protections

	waits  bool            // changes of pods wait until somebody settles them
	shifts []victims.Shift // of those that do
}

// settle settles what has changed, by shifts and before, unless it may wait.
func (f *followed) settle(shifts []victims.Shift) []victims.Shift {
	if f.shifts = append(f.shifts, shifts...); f.waits {
		return nil
	}
	shifts, f.shifts = f.us.Settle(f.shifts), nil
	return shifts
}

func follow(ix *cluster.Index, rule victims.UnitRule, w victims.Worth, keep keeping) *followed {
	f := &followed{ix: ix, us: victims.NewUnits(ix, rule, w)}
	f.ps = f.us.Protect(keep.guards, keep.base)
	f.us.Follow(f.ps)
	return f
}

// keeping is what keeps units from preemptors.
type keeping struct {
	guards victims.Guards
	base   victims.Eligible
}

var keepings = []keeping{
	{guards: victims.Guards{GuaranteedSeconds: 300, Cooldown: victims.Cooldown{Evictions: 1, Seconds: 900}}},
	{guards: victims.Guards{Toleration: priority.TolerationDesign}},
	{guards: victims.Guards{EqualAfterSeconds: 480}},
	{base: victims.Unqueued{Base: victims.LowerPriority{EqualAfterSeconds: 480}}},
	{guards: victims.Guards{Protect: &disruption.Selector{MatchLabels: map[string]string{"app": "db"}}}},
	{},
}

func (f *followed) fork() *followed {
	ix := f.ix.Fork()
	us := f.us.Fork(ix)
	return &followed{ix: ix, us: us, ps: us.Protections(), shifts: slices.Clone(f.shifts)}
}

// set puts p in place of the pod of its name, or adds it, and returns how nodes have changed.
func (f *followed) set(p *cluster.Pod) []victims.Shift {
	old := f.ix.PodByName(p.Namespace, p.Name)
	if !f.ix.MaySetPod(p, old) {
		return nil
	}
	if alone := func(p *cluster.Pod) bool { return p.Node != "" && p.Group == "" }; old != cluster.NoPod && alone(p) && alone(f.ix.Pod(old)) {
		from := f.ix.NodeOf(old)
		f.ix.SetPod(p, old)
		return f.settle(f.us.Replace(nil, old, from))
	}
	var moved []victims.Shift
	if old != cluster.NoPod {
		moved = f.us.Remove(moved, old)
	}
	return f.settle(f.us.Add(moved, f.ix.SetPod(p, old), &victims.Budgets{}))
}

func (f *followed) remove(p cluster.PodID) []victims.Shift {
	if !f.ix.MayRemovePod(p) {
		return nil
	}
	moved := f.us.Remove(nil, p)
	f.ix.RemovePod(p)
	return f.settle(moved)
}

func (f *followed) setTime(now time.Time) []victims.Shift {
	before := f.ix.Time()
	if !f.ix.MaySetTime(now) {
		return nil
	}
	f.ix.SetTime(now)
	f.us.SetTime(before)
	return f.us.Settle(nil)
}

// touched says of nodes that something about them has changed.
func touched(nodes ...cluster.NodeID) (list []victims.Shift) {
	for _, n := range nodes {
		if n != cluster.NoNode {
			list = append(list, victims.Shift{Node: n, Anew: true})
		}
	}
	return list
}

// setNode puts n in place of the node of its name, or adds it.
func (f *followed) setNode(n *cluster.Node) []victims.Shift {
	if !f.ix.MaySetNode(n) {
		return nil
	}
	there := f.ix.NodeByName(n.Name) != cluster.NoNode
	moved := f.ix.SetNode(nil, n)
	if there {
		f.us.SetNode(moved[0])
		return f.us.Settle(touched(moved...))
	}
	f.us.Renumber(moved, f.ix.PodsOn(f.ix.NodeByName(n.Name)))
	return f.us.Settle(touched(moved...))
}

func (f *followed) removeNode(n cluster.NodeID) {
	if n == cluster.NoNode || !f.ix.MayRemoveNode(n) {
		return
	}
	pods := f.ix.PodsOn(n)
	f.ix.RemoveNode(n)
	f.us.Renumber([]cluster.NodeID{n}, pods)
	f.us.Settle(touched(n))
}

// setClass lets the class batch be worth as much, or be gone.
func (f *followed) setClass(k *priority.Class) []victims.Shift {
	pods, ok := f.ix.SetClass("batch", k)
	if !ok {
		return nil
	}
	f.us.Reconsider(pods)
	var nodes []cluster.NodeID
	for _, p := range pods {
		nodes = append(nodes, f.ix.NodeOf(p))
	}
	return f.us.Settle(touched(nodes...))
}

// tell is all that is known of the units of each node, in order.
func (f *followed) tell() string {
	var b strings.Builder
	for n := range f.ix.Nodes() {
		fmt.Fprintf(&b, "%s: %s\n", f.ix.Node(n).Name, f.stand(n))
		for _, u := range f.us.On(n) {
			unit := f.us.Unit(u)
			fmt.Fprintf(&b, "  %s priority %d started %d elastic %v; %s\n", spell(f.us, []victims.UnitID{u}),
				unit.Priority, unit.Started, unit.Elastic, f.ps.Kept(u, victims.Claim{Priority: 100}))
			for prio := range int32(3) {
				fmt.Fprintf(&b, "    from %d: %s\n", prio, f.ps.Kept(u, victims.Claim{Priority: prio}))
			}
		}
		fmt.Fprintf(&b, "  all in order: %s\n", spell(f.us, f.us.Sorted(f.us.On(n))))
	}
	return b.String()
}

// stand is the order of the units of node n, what they cost, and for whom they may be evicted.
func (f *followed) stand(n cluster.NodeID) string {
	var b strings.Builder
	for _, u := range f.us.On(n) {
		fmt.Fprintf(&b, " %s level %d cost %d:", spell(f.us, []victims.UnitID{u}), f.us.Unit(u).Level, f.us.Cost(u))
		for _, prio := range []int32{0, 1, 2, 3, 100, 200} {
			fmt.Fprintf(&b, " %v", f.ps.May(u, victims.Claim{Priority: prio}))
		}
	}
	return b.String()
}

// stands is stand of each node.
func (f *followed) stands() map[cluster.NodeID]string {
	all := map[cluster.NodeID]string{}
	for n := range f.ix.Nodes() {
		all[n] = f.stand(n)
	}
	return all
}

// randomPod is one of a few pods, with whatever may make a difference.
func randomPod(r *rand.Rand) *cluster.Pod {
	prio := int32(r.IntN(3))
	p := &cluster.Pod{Namespace: "default", Name: fmt.Sprint("p", r.IntN(9)), UID: fmt.Sprint(r.IntN(3)), Priority: &prio}
	p.Node = []string{"n1", "n1", "n2", "n3", ""}[r.IntN(5)]
	p.NodeSelector = []map[string]string{nil, nil, {"zone": "a"}, {"zone": "b"}}[r.IntN(4)]
	p.Group = []string{"", "", "whole", "elastic", "single", "child", "sibling"}[r.IntN(7)]
	if r.IntN(3) > 0 {
		p.Started = noon.Add(-time.Duration(r.IntN(4)) * 4 * time.Minute)
	}
	switch r.IntN(9) {
	case 0:
		p.Cost = &cluster.Cost{Fixed: int64(r.IntN(9))}
	case 1:
		if p.Guard = (&cluster.Guard{Standby: r.IntN(2) == 0}); r.IntN(2) == 0 {
			p.Class = "lost"
		}
	case 2:
		p.Evictions = []time.Time{noon.Add(-time.Duration(r.IntN(20)) * time.Minute)}
	case 3:
		p.Guard = &cluster.Guard{Milestones: []cluster.Milestone{{Seconds: 60, Value: 50}, {Seconds: 600, Value: 2}}}
	case 4:
		p.Class, p.Scheduled = "batch", noon.Add(-time.Duration(r.IntN(12))*time.Minute)
	case 5:
		p.Labels = map[string]string{"app": "db"}
	case 6:
		p.Cost = &cluster.Cost{Milestones: []cluster.Milestone{{Seconds: 60, Value: 50}, {Seconds: 600, Value: 0}}}
	}
	return p
}

// plainPod is one of a few pods, mostly of two units.
func plainPod(r *rand.Rand) *cluster.Pod {
	prio := int32(1 + r.IntN(9)/8)
	p := &cluster.Pod{Namespace: "default", Name: fmt.Sprint("p", r.IntN(9)), UID: fmt.Sprint(r.IntN(3)), Priority: &prio}
	p.Node = []string{"n1", "n1", "n2", "n3", ""}[r.IntN(5)]
	p.Group = []string{"", "whole", "whole", "whole", "child", "sibling"}[r.IntN(6)]
	if r.IntN(3) > 0 {
		p.Started = noon.Add(-time.Duration(r.IntN(9)/8) * 4 * time.Minute)
	}
	if r.IntN(2) == 0 {
		p.Cost = &cluster.Cost{Fixed: int64(r.IntN(9)), Milestones: []cluster.Milestone{{Seconds: 60, Value: 50}, {Seconds: 600, Value: 0}}}
	}
	return p
}

// ownCost is not known to be a tariff.
type ownCost struct{ victims.Tariff }

var long = flag.Int("long", 0, "above 0: try three times as many lives")

// Whatever comes, goes and changes: units that follow are those that would be formed anew, and a
// fork keeps what was. Nodes are told of that stand otherwise than before.
func TestUnitsThatFollowAreThoseFormedAnew(t *testing.T) {
	tariff := victims.Tariff{Tariff: disruption.Tariff{Fixed: 1, Milestones: 1, Pods: 1}}
	worths := []victims.Worth{{}, {Cost: tariff, ByCost: true}, {ByPlace: true}, {Cost: tariff, Order: byName{}}}
	lives, grown := uint64(200), 0
	if *long > 0 {
		lives = 600
	}
	for seed := range lives {
		r := rand.New(rand.NewPCG(seed, 9))
		text := "nodes n1 n2\ngroup whole mode=All prio=1 levels=60:50,600:2\ngroup elastic mode=SurplusFirst min=1 prio=1\ngroup single prio=2 levels=60:50,600:2\ngroup child parent=job costs=2m:9,9m:0\n" +
			"group sibling parent=job cost=3 costs=4m:3,11m:7\ncomposite job mode=All prio=1 levels=60:50,600:2"
		if r.IntN(2) == 0 {
			text += "\nclass batch value=1 minimum-preemptable=2 toleration-seconds=600"
		}
		ix := index(t, text)
		rule := []victims.UnitRule{victims.Pods136, victims.Groups136, victims.Units137, victims.UnitsKEP}[r.IntN(4)]
		w := worths[r.IntN(len(worths))]
		keep, randomPod := keepings[r.IntN(len(keepings))], randomPod
		if seed%3 == 0 { // with guards a group is formed anew whoever comes
			ix, randomPod = index(t, "nodes n1 n2\ngroup whole mode=All prio=1 costs=4m:9,11m:0\ngroup child parent=job costs=2m:9,9m:0\ngroup sibling parent=job cost=3\n"+
				"composite job mode=All prio=1 cost=2"), plainPod
			w, keep = []victims.Worth{{}, {Cost: tariff}, {Cost: tariff}, {Cost: ownCost{tariff}}, worths[1]}[r.IntN(5)], keepings[len(keepings)-1-r.IntN(7)/6]
		}
		for range []int{0, 0, 5, 9}[r.IntN(4)] { // there at the start
			p := randomPod(r)
			if p.Node == "n3" {
				p.Node = "n2"
			}
			if old := ix.PodByName(p.Namespace, p.Name); ix.MaySetPod(p, old) {
				ix.SetPod(p, old)
			}
		}
		f := follow(ix, rule, w, keep)
		for step := range 30 {
			var fork *followed
			before := ""
			if step%10 == 5 {
				fork, before = f.fork(), f.tell()
			}
			stands := f.stands()
			for f.waits = true; r.IntN(3) == 0; { // several changes at once
				if p := ix.PodByName("default", fmt.Sprint("p", r.IntN(9))); p != cluster.NoPod && r.IntN(2) == 0 {
					f.remove(p)
				} else {
					f.set(randomPod(r))
				}
			}
			if f.waits = false; fork == nil && r.IntN(2) == 0 {
				fork = f.fork() // in the midst of them
				fork.settle(nil)
				before = fork.tell()
			}
			var waited, shifts []victims.Shift
			renumbered, kind := false, r.IntN(9)
			if kind == 1 || kind == 2 || kind > 5 { // of nothing but pods
				waited = f.settle(nil)
			}
			switch kind {
			case 6:
				node := &cluster.Node{Name: fmt.Sprint("n", 1+r.IntN(4))}
				if r.IntN(2) == 0 {
					node.Labels = map[string]string{"zone": []string{"a", "b"}[r.IntN(2)]}
				}
				if r.IntN(4) == 0 {
					node.Taints = []cluster.Taint{{Key: "gpu", Effect: cluster.NoSchedule}}
				}
				renumbered = f.ix.NodeByName(node.Name) == cluster.NoNode
				shifts = f.setNode(node)
			case 7:
				f.removeNode(f.ix.NodeByName(fmt.Sprint("n", 1+r.IntN(4))))
				renumbered = true
			case 8:
				k := &priority.Class{Name: "batch", Value: 1, GuaranteedSeconds: []int64{0, 0, 300}[r.IntN(3)]}
				if r.IntN(3) == 0 {
					k = nil
				}
				shifts = f.setClass(k)
			case 0:
				if p := ix.PodByName("default", fmt.Sprint("p", r.IntN(9))); p != cluster.NoPod {
					shifts = f.remove(p)
				}
			case 1:
				shifts = f.setTime(noon.Add(time.Duration(r.IntN(30)-10) * time.Minute))
			case 2:
				shifts = f.setTime(f.ix.Time().Add(time.Duration(r.IntN(300)) * time.Second))
			default:
				shifts = f.set(randomPod(r))
			}
			shifts = slices.Concat(waited, shifts, f.settle(nil))
			fresh, err := f.ix.Objects().Index()
			require.NoError(t, err)
			require.Equal(t, follow(fresh, rule, w, keep).tell(), f.tell(), "seed %d, step %d", seed, step)
			for n, stand := range f.stands() {
				if !renumbered && stand != stands[n] {
					require.True(t, slices.ContainsFunc(shifts, func(s victims.Shift) bool {
						return s.Node == n || s.Node == cluster.NoNode && slices.Contains(f.us.On(n), s.Grown)
					}), "seed %d, step %d", seed, step)
				}
			}
			if slices.ContainsFunc(shifts, func(s victims.Shift) bool { return s.Node == cluster.NoNode }) {
				grown++
			}
			if fork != nil {
				require.Equal(t, before, fork.tell(), "seed %d, step %d: the fork", seed, step)
				fork.setNode(&cluster.Node{Name: "n2"})
				fork.set(randomPod(r))
				fresh, err := fork.ix.Objects().Index()
				require.NoError(t, err)
				require.Equal(t, follow(fresh, rule, w, keep).tell(), fork.tell(), "seed %d, step %d: the fork", seed, step)
				fresh, err = f.ix.Objects().Index()
				require.NoError(t, err)
				require.Equal(t, follow(fresh, rule, w, keep).tell(), f.tell(), "seed %d, step %d: beside the fork", seed, step)
			}
		}
	}
	require.Greater(t, grown, 30)
}

// A group that grows in a fork and beside it has the pods that came there, wherever they stand among the others.
func TestForksGrowApart(t *testing.T) {
	f := follow(index(t, "nodes n1\ngroup w mode=All prio=1 w0@n1 w1@n1"), victims.Units137, victims.Worth{}, keepings[5])
	low := int32(1)
	set := func(f *followed, group string, names ...string) {
		for _, name := range names {
			f.set(&cluster.Pod{Namespace: "default", Name: name, Node: "n1", Group: group, Priority: &low})
		}
	}
	set(f, "w", "w2", "w3", "w4")
	idle, fork := f.fork(), f.fork()
	set(fork, "", "x")
	set(fork, "w", "w5")
	set(f, "w", "w6", "v")
	require.Equal(t, []string{"v+w0+w1+w2+w3+w4+w6", "w0+w1+w2+w3+w4+w5 x", "w0+w1+w2+w3+w4"}, []string{on(f.us), on(fork.us), on(idle.us)})
}

// A unit that grows costs what it would if it were formed anew, then and later, also where the pod that comes is the first that
// runs of a group whose costs begin with that.
func TestUnitsThatGrowCostWhatTheyWould(t *testing.T) {
	low, w := int32(1), victims.Worth{Cost: victims.Tariff{Tariff: disruption.Tariff{Fixed: 1, Milestones: 1, Pods: 1}}}
	grown := 0
	for _, groups := range []string{
		"composite job mode=All prio=1\ngroup child parent=job costs=2m:9,9m:30 c0@n1\ngroup sibling parent=job s0@n1 start=11:40",
		"composite job mode=All prio=1\ngroup child parent=job costs=2m:9,9m:30 c0@n1 start=12:20\ngroup sibling parent=job s0@n1 start=11:40",
		"composite job mode=All prio=1 costs=3m:9,8m:20\ngroup child parent=job c0@n1\ngroup sibling parent=job s0@n1",
	} {
		f := follow(index(t, "nodes n1\n"+groups), victims.Units137, w, keepings[5])
		same := func() {
			fresh, err := f.ix.Objects().Index()
			require.NoError(t, err)
			require.Equal(t, follow(fresh, victims.Units137, w, keepings[5]).tell(), f.tell(), groups)
		}
		for i, minute := range []time.Duration{9, 8, 10} {
			p := cluster.Pod{Namespace: "default", Name: fmt.Sprint("c", i+1), Node: "n1", Group: "child", Priority: &low, Started: noon.Add(minute * time.Minute)}
			if f.set(&p)[0].Node == cluster.NoNode {
				grown++
			}
			same()
			if f.setTime(noon.Add(time.Duration(10+2*i) * time.Minute)); i == 2 {
				f.setTime(noon.Add(30 * time.Minute))
			}
			same()
		}
	}
	require.Equal(t, 8, grown)
}

// Quiet: nobody moved, though something about somebody may have changed.
func TestQuietShifts(t *testing.T) {
	for shift, want := range map[victims.Shift]bool{
		{Out: victims.NoPosition, In: victims.NoPosition}:             true,
		{Out: 0, In: victims.NoPosition}:                              false,
		{Out: victims.NoPosition, In: 0}:                              false,
		{Out: 1, In: 1}:                                               false,
		{Out: victims.NoPosition, In: victims.NoPosition, Anew: true}: false,
	} {
		require.Equal(t, want, shift.Quiet(), "%+v", shift)
	}
}

// What a change moves, in positions: from the most important, which is 0.
func TestShiftsTellWhoMoved(t *testing.T) {
	f := follow(index(t, "nodes n1 n2\ngroup w mode=All prio=5 w0@n1 w1@n2\npods a@n1 prio=9 b@n1 prio=1"), victims.Units137, victims.Worth{}, keepings[0])
	pod := func(node string, prio int32) *cluster.Pod {
		return &cluster.Pod{Namespace: "default", Name: "c", Node: node, Priority: &prio}
	}
	f.ix.SetPod(pod("n1", 3), cluster.NoPod)
	c := f.ix.PodByName("default", "c")
	require.Equal(t, []victims.Shift{{Node: 0, Out: victims.NoPosition, In: 2}}, f.us.Add(nil, c, nil))
	require.Equal(t, "a w0+w1 c b", on(f.us))
	for _, step := range []struct {
		node string
		prio int32
		want []victims.Shift
	}{
		{"n1", 2, []victims.Shift{{Node: 0, Out: 2, In: 2}}},
		{"n1", 9, []victims.Shift{{Node: 0, Out: 2, In: 1}}},
		{"n2", 9, []victims.Shift{{Node: 0, Out: 1, In: victims.NoPosition}, {Node: 1, Out: victims.NoPosition, In: 0}}},
		{"gone", 9, []victims.Shift{{Node: 1, Out: 0, In: victims.NoPosition}}},
		{"gone", 8, nil},
		{"n1", 0, []victims.Shift{{Node: 0, Out: victims.NoPosition, In: 3}}},
	} {
		from := f.ix.NodeOf(c)
		f.ix.SetPod(pod(step.node, step.prio), c)
		require.Equal(t, step.want, f.us.Replace(nil, c, from), "to %s, priority %d", step.node, step.prio)
	}
	w1 := f.ix.PodByName("default", "w1")
	require.Equal(t, []victims.Shift{ // the whole unit is taken off
		{Node: 0, Out: 1, In: victims.NoPosition}, {Node: 1, Out: 0, In: victims.NoPosition},
	}, f.us.Remove(nil, w1))
	require.Equal(t, "a b c", on(f.us))
	require.True(t, f.us.Apart())
	require.Equal(t, []victims.Shift{{Node: 0, Out: victims.NoPosition, In: 1}}, f.us.Settle(nil), "what is left of it is put on")
	require.Equal(t, "a w0 b c", on(f.us))
	require.False(t, f.us.Apart())
	gone := unit(t, f.us, "c")
	f.us.Remove(nil, c)
	f.ix.RemovePod(c)
	require.False(t, f.us.Exists(gone))
	f.us.Add(nil, f.ix.SetPod(pod("n1", 7), cluster.NoPod), nil)
	require.Equal(t, gone, unit(t, f.us, "c"), "a hole is filled first")
	require.True(t, slices.Contains(f.us.On(0), gone))
}

// Time concerns those alone for whom something is due by then, in its last second at the
// earliest; everybody where it goes back.
func TestTimeConcernsWhomSomethingIsDueFor(t *testing.T) {
	const pods = "nodes n1 n2 n3\npods a@n1 start=11:58 b@n2 start=11:55 c@n3 start=11:00\n"
	at := func(minutes, seconds int) time.Time {
		return noon.Add(time.Duration(minutes)*time.Minute + time.Duration(seconds)*time.Second)
	}
	type step struct {
		now  time.Time
		want string // nodes of which something may have changed
	}
	hour := victims.Guards{GuaranteedSeconds: 600}
	equals := victims.LowerPriority{EqualAfterSeconds: 600}
	cost := victims.Worth{Cost: victims.Tariff{Tariff: disruption.Tariff{Milestones: 1}}}
	for _, c := range []struct {
		name, text string
		rule       victims.UnitRule
		worth      victims.Worth
		keep       keeping
		steps      []step
	}{
		{"nobody is kept, and nothing costs", pods, victims.Units137, victims.Worth{}, keeping{}, []step{{at(60, 0), ""}, {at(-60, 0), ""}, {time.Time{}, ""}}},
		{"until they have run as long as is guaranteed", pods, victims.Units137, victims.Worth{}, keeping{guards: hour},
			[]step{{at(4, 58), ""}, {at(4, 59), ""}, {at(5, 0), "n2"}, {at(7, 58), ""}, {at(8, 0), "n1"}, {at(99, 0), ""}, {at(0, 0), "n1 n2"}}},
		{"until equals may go", pods, victims.Units137, victims.Worth{}, keeping{base: equals},
			[]step{{at(4, 58), ""}, {at(5, 0), "n2"}, {at(7, 58), ""}, {at(8, 0), "n1"}, {at(99, 0), ""}, {at(8, 0), "n1 n2 n3"}}},
		{"without a queue", pods, victims.Units137, victims.Worth{}, keeping{base: victims.Unqueued{Base: equals}}, []step{{at(4, 58), ""}, {at(5, 0), "n2"}}},
		{"by a rule of one's own nothing is due", pods, victims.Units137, victims.Worth{}, keeping{base: never{}}, []step{{at(99, 0), ""}}},
		{"where somebody is protected for ever, too", pods, victims.Units137, victims.Worth{},
			keeping{guards: victims.Guards{Protect: &disruption.Selector{}}}, []step{{at(99, 0), ""}, {at(98, 0), ""}}},
		{"who has not started counts as started now", "nodes n1 n2\npods a@n1 b@n2 start=11:00\n", victims.Units137, victims.Worth{}, keeping{}, []step{{at(0, 1), "n1"}}},
		{"at milestones of costs", "nodes n1 n2\npods a@n1 start=11:58 costs=5m:50,10m:0 b@n2 start=11:58", victims.Units137, cost, keeping{},
			[]step{{at(8, 0), "n1"}, {at(9, 0), ""}}},
		{"until its class tolerates no longer", "class batch value=1 minimum-preemptable=200 toleration-seconds=600\nnodes n1 n2\npods a@n1 class=batch start=11:55 scheduled=11:55 b@n2 start=11:55", victims.Units137, victims.Worth{}, keeping{},
			[]step{{at(4, 58), ""}, {at(5, 0), "n1"}, {at(99, 0), ""}}},
		{"with every second of work that is lost", "nodes n1 n2\npods a@n1 cpu=1 start=11:00 b@n2 start=11:00", victims.Units137,
			victims.Worth{Cost: victims.Tariff{Tariff: disruption.Tariff{Work: map[string]disruption.Rate{"cpu": {Price: 1, Per: 1}}}}}, keeping{},
			[]step{{at(0, 1), "n1"}, {at(0, 2), "n1"}}},
		{"where work costs nothing, never", "nodes n1 n2\npods a@n1 cpu=1 start=11:00 b@n2 start=11:00", victims.Units137,
			victims.Worth{Cost: victims.Tariff{Tariff: disruption.Tariff{Work: map[string]disruption.Rate{"cpu": {Per: 1}}}}}, keeping{},
			[]step{{at(0, 1), ""}}},
		{"at milestones of a group that goes whole", "nodes n1 n2\ngroup g mode=All costs=5m:50,10m:0 a@n1 start=11:58\npods b@n2 start=11:58", victims.Units137, cost, keeping{},
			[]step{{at(8, 0), "n1"}, {at(9, 0), ""}}},
		{"of levels, under the KEP's early text", "nodes n1 n2\npods a@n1 start=11:58 levels=300:50,600:2 b@n2 start=11:58", victims.UnitsKEP, victims.Worth{}, keeping{},
			[]step{{at(8, 0), "n1"}, {at(9, 0), ""}}},
		{"under other rules nobody reads these", "nodes n1 n2\npods a@n1 start=11:58 levels=300:50,600:2 b@n2 start=11:58", victims.Units137, victims.Worth{}, keeping{}, []step{{at(9, 0), ""}}},
	} {
		f := follow(index(t, c.text), c.rule, c.worth, c.keep)
		for _, s := range c.steps {
			var nodes []string
			for _, shift := range f.setTime(s.now) {
				nodes = append(nodes, f.ix.Node(shift.Node).Name)
			}
			require.Equal(t, s.want, strings.Join(nodes, " "), "%s: %s", c.name, s.now)
		}
	}
}

// never lets nobody go.
type never struct{}

func (never) Kept(*victims.Units, victims.UnitID, victims.Claim) victims.Kept {
	return victims.Kept{Rule: "never"}
}
