package verify

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/budgets"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// plainly is [world.moves] with each node asked anew about everybody.
func plainly(s *preemption.Snapshot, o *preemption.Options, name string, within int) bool {
	w := newWorld(s, o, false)
	i := int32(slices.IndexFunc(s.Pods, func(p cluster.Pod) bool { return p.Name == name }))
	p := w.record(i)
	q := asking(w, &preemption.Preemptor{Kind: cluster.KindPod}, p)
	for k := range w.nodes {
		n := &w.nodes[k]
		if n == p.at {
			continue
		}
		var out []*unit
		for _, u := range q.unitsOn([]*node{n}) {
			moves := !slices.ContainsFunc(u.pods, func(p *pod) bool { return within != anybody && !plainlyWithin(s, o, p.Name, within-1) })
			if within != 0 && u != q.unitOf(p) && q.mayEvict(u) && moves {
				out = append(out, u)
			}
		}
		sc := newScene(q)
		sc.leave(p)
		several := slices.ContainsFunc(out, func(u *unit) bool { return len(u.pods) > 1 })
		hopeless := !several && first(sc.misfits(q.members[0], n)).never
		sc.leave(sc.near(n, out...)...)
		fits := len(sc.misfits(q.members[0], n)) == 0
		for i := range w.nodes {
			sc.comeBack(w.nodes[i].pods()...)
		}
		if fits && !hopeless {
			return true
		}
	}
	return false
}

// plainlyWithin is plainly for so many moves or fewer.
func plainlyWithin(s *preemption.Snapshot, o *preemption.Options, name string, within int) bool {
	return within > 0 && plainlyWithin(s, o, name, within-1) || plainly(s, o, name, within)
}

// TestMovesAreThoseOfEachNodeAskedAnew: who finds another place, with whom they may move in a chain, is the same if all nodes are asked about
// each pod, whatever ties pods to others.
func TestMovesAreThoseOfEachNodeAskedAnew(t *testing.T) {
	told, same, further := map[string]int{}, 0, 0
	for seed := uint64(400); seed < 550; seed++ { // 521 has a pod that becomes the first of its own
		r := rand.New(rand.NewPCG(seed, 3))
		s := &preemption.Snapshot{}
		for i := range 3 + r.IntN(3) {
			n := cluster.Node{Name: fmt.Sprint("n", i), Devices: map[string]cluster.DevicePool{"gpu": {Count: 2, Capacity: 9}}, Allocatable: cluster.Resources{cluster.CPU: 4, cluster.Pods: 4}, Labels: map[string]string{"host": fmt.Sprint(i)}}
			if r.IntN(8) > 0 {
				n.Labels["rack"] = fmt.Sprint(i % 2)
			}
			s.Nodes = append(s.Nodes, n)
		}
		term := func() (list []cluster.AffinityTerm) {
			for range 1 + int(seed%3)/2*r.IntN(2) { // of some seeds one about a single pod besides
				key, labels := []string{"host", "rack"}[r.IntN(2)], map[string]string{"app": fmt.Sprint(r.IntN(3))}
				if list != nil || seed%3 == 1 && r.IntN(2) == 0 {
					labels = map[string]string{"nobody": fmt.Sprint("reads ", r.IntN(12))}
				}
				list = append(list, cluster.AffinityTerm{TopologyKey: key, Selector: &disruption.Selector{MatchLabels: labels}})
			}
			return list
		}
		for i := range 6 + r.IntN(6) {
			priority := int32(r.IntN(3))
			p := cluster.Pod{
				Name: fmt.Sprint("p", i), Node: s.Nodes[r.IntN(len(s.Nodes))].Name, Priority: &priority, Requests: cluster.Resources{cluster.CPU: int64(1 + r.IntN(2))},
				Labels: map[string]string{"app": fmt.Sprint(r.IntN(3)), "nobody": fmt.Sprint("reads ", i)},
			}
			switch r.IntN(8) {
			case 0:
				p.AntiAffinity = term()
			case 1, 2:
				p.Affinity = term()
			case 3:
				p.Tokens = []string{"a", "b"}[:1+r.IntN(2)]
			case 4:
				p.Spread = []cluster.Spread{{MaxSkew: 1, TopologyKey: "rack", Selector: term()[0].Selector}}
			}
			if seed%5 == 0 { // all differ by their fractions, and some are only nominated
				p.Devices = []cluster.DeviceRequest{{Resource: "gpu", Fraction: int64(2 + r.IntN(5))}}
				if i > 8 {
					p.Node, p.NominatedNode = "", p.Node
				}
			}
			if group := r.IntN(6); group < 2 {
				p.Group, p.Priority = fmt.Sprint("g", group), nil
			}
			s.Pods = append(s.Pods, p)
		}
		for _, name := range []string{"g0", "g1"} {
			priority := int32(r.IntN(3))
			s.PodGroups = append(s.PodGroups, cluster.PodGroup{Name: name, Priority: &priority, Mode: disruption.All})
		}
		o := &preemption.Options{}
		w := newWorld(s, o, false)
		for i := range s.Pods {
			for _, within := range []int{2, 0, anybody, 1} {
				want := plainlyWithin(s, o, s.Pods[i].Name, within)
				told[fmt.Sprint(within, want)]++
				require.Equal(t, want, w.moves(w.record(int32(i)), within), "seed %d: %s within %d", seed, s.Pods[i].Name, within)
			}
			o, p := w.movers, w.movers.record(int32(i))
			o.unitOf(p)
			more, expected := *p, slices.ContainsFunc(s.Pods, func(p cluster.Pod) bool { return p.NominatedNode != "" })
			more.priority++
			for _, within := range []int{0, 1} { // only who evicts, or meets who is expected, looks at the priority
				a, _ := o.shapeOf(p, within)
				b, shaped := o.shapeOf(&more, within)
				require.Equal(t, !shaped || within == 0 && !expected, a == b, "seed %d", seed)
			}
		}
		for shape := range w.movers.hosts { // nobody is looked at again where nobody else moves
			if n := shape.within; n > 0 && w.movers.reaches[n] == w.movers.reaches[n-1] {
				t.Errorf("seed %d: within %d", seed, n)
			} else if n > 0 {
				further++
			}
		}
		for within, reach := range w.movers.reaches {
			if within > 0 && slices.EqualFunc(reach.leavers, w.movers.reaches[within-1].leavers, slices.Equal) {
				require.Same(t, w.movers.reaches[within-1], reach)
				same++
			}
		}
	}
	require.Len(t, told, 8)
	require.Greater(t, min(same, further), 10)
	for what, n := range told {
		require.Greater(t, n, 50, what)
	}
}

// TestChargesAreThoseOfEachPodCharged: what many pods of a unit add to the violations is what they add one after the other.
func TestChargesAreThoseOfEachPodCharged(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 4))
		s := &preemption.Snapshot{Nodes: []cluster.Node{{Name: "n"}}}
		for i := range 3 {
			priority := int32(i)
			s.PodGroups = append(s.PodGroups, cluster.PodGroup{Name: fmt.Sprint("g", i), Priority: &priority, Mode: disruption.All})
			s.Budgets = append(s.Budgets, disruption.Budget{
				Name: fmt.Sprint("b", i), Allowed: int32(r.IntN(20) - 2), Selector: &disruption.Selector{MatchLabels: map[string]string{fmt.Sprint("k", i%(1+int(seed%2))): fmt.Sprint(i)}},
			})
		}
		for i := range 60 {
			labels := map[string]string{"k0": fmt.Sprint(r.IntN(4)), "k1": fmt.Sprint(r.IntN(4))}
			s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint("p", i), Node: "n", Group: fmt.Sprint("g", r.IntN(3)), Labels: labels})
		}
		o := &preemption.Options{Rules: []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137}[seed/2%2]}
		w := newWorld(s, o, true)
		q := &question{world: w, priority: 10}
		units := q.unitsOn(w.all())
		require.Len(t, units, 3)
		for range 4 {
			r.Shuffle(3, func(i, j int) { units[i], units[j] = units[j], units[i] })
			w.charge(units)
			left := budgets.Left{}
			for _, u := range units {
				require.Equal(t, left.Violations(w.coverings(u.pods), w.rules.old, w.rules.group), u.charge, "seed %d", seed)
			}
		}
	}
}

// plainlyStaying says likewise, from who is out alone.
func plainlyStaying(g *group, out map[*pod]bool) (s stays) {
	have, stay, intact, need, leaderless := 0, 0, 0, 1, false
	for _, p := range g.pods() {
		if counts(p) {
			have++
			if leaderless = leaderless || out[p] && p.Name == g.Leader; !out[p] {
				stay++
			}
		}
	}
	intact = stay
	for _, c := range g.children {
		if !slices.ContainsFunc(c.under(), counts) {
			continue
		}
		have++
		of := plainlyStaying(c, out)
		if of.useless {
			return of
		}
		if of.some {
			stay++
		}
		if of.all {
			intact++
		}
		need = have
	}
	if g.MinCount != nil {
		need = int(*g.MinCount)
	}
	switch {
	case stay == 0:
		return stays{}
	case intact == have:
		return stays{all: true, some: true}
	}
	s.useless = g.Mode == disruption.All || leaderless || stay < need
	s.some = !s.useless
	return s
}

// plainlyLost is what the groups at or beneath g cost all of whose pods are out, each a constant.
func plainlyLost(g *group, out map[*pod]bool, lost bool) (sum int64) {
	stays := func(p *pod) bool { return p.Node != "" && !out[p] }
	if lost = lost || slices.ContainsFunc(g.under(), func(p *pod) bool { return out[p] }) && !slices.ContainsFunc(g.under(), stays); lost {
		sum = g.Cost.Fixed
	}
	for _, c := range g.children {
		sum += plainlyLost(c, out, lost)
	}
	return sum
}

// TestWhatStaysOfAUnitIsCounted: whoever leaves and comes back, as looking at all of its groups says, and so is what is lost.
func TestWhatStaysOfAUnitIsCounted(t *testing.T) {
	told, counted := map[bool]int{}, []int32{1, 2, 3}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		few := func() *int32 { return []*int32{nil, &counted[r.IntN(3)]}[r.IntN(2)] }
		s := &preemption.Snapshot{Nodes: []cluster.Node{{Name: "n"}}}
		for i := range 4 {
			g := cluster.CompositePodGroup{Name: fmt.Sprint("c", i), Mode: disruption.SurplusFirst, MinGroupCount: few(), Cost: &cluster.Cost{Fixed: 1 << i}}
			if i > 0 {
				g.Parent, g.Mode = fmt.Sprint("c", i/2*r.IntN(2)), []disruption.Mode{"", disruption.All, disruption.SurplusFirst}[r.IntN(3)]
			}
			s.CompositePodGroups = append(s.CompositePodGroups, g)
		}
		for i := range 8 {
			s.PodGroups = append(s.PodGroups, cluster.PodGroup{Name: fmt.Sprint("g", i), Parent: fmt.Sprint("c", r.IntN(4)), Mode: []disruption.Mode{"", disruption.All}[r.IntN(8)/7], MinCount: few(), Leader: fmt.Sprint("p", r.IntN(80)), Cost: &cluster.Cost{Fixed: 16 << i}})
		}
		for i := range 20 {
			s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint("p", i), Node: "n", Group: fmt.Sprint("g", r.IntN(8)), Terminating: r.IntN(9) == 0})
		}
		w := newWorld(s, &preemption.Options{Cost: preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}}}, false)
		u, out := w.unitOf(w.record(0)), map[*pod]bool{}
		for range 60 {
			p := w.record(int32(r.IntN(20)))
			by := -1
			if out[p] {
				by = +1
			}
			out[p] = !out[p]
			u.count(by, p)
			want := plainlyStaying(u.group, out)
			require.Equal(t, want.useless, !u.goesOn(), "seed %d", seed)
			if b := u.branches[u.group].now(); !want.useless {
				require.Equal(t, want, b, "seed %d", seed)
			}
			told[want.useless]++
			gone := slices.DeleteFunc(slices.Clone(u.pods), func(p *pod) bool { return !out[p] })
			require.Equal(t, plainlyLost(u.group, out, false), w.price(u, gone), "seed %d", seed)
		}
	}
	require.Greater(t, min(told[true], told[false]), 500)
}

// TestPortsAreLookedUp: as they are found one by one, whoever has left, or come back, is expected, or placed; and what
// guests miss of a node is what each of them does.
func TestPortsAreLookedUp(t *testing.T) {
	r, told, crowds := rand.New(rand.NewPCG(1, 1)), map[bool]int{}, map[bool]int{}
	clash := func(a, b *cluster.Pod) bool {
		every := func(x cluster.HostPort) bool { return x.IP == "" || x.IP == "0.0.0.0" }
		return slices.ContainsFunc(a.Ports, func(x cluster.HostPort) bool {
			return slices.ContainsFunc(b.Ports, func(y cluster.HostPort) bool {
				return x.Port == y.Port && (x.Protocol == "UDP") == (y.Protocol == "UDP") && (x.IP == y.IP || every(x) || every(y))
			})
		})
	}
	pods := func(n int, change func(p *cluster.Pod)) (list []cluster.Pod) {
		for i := range n {
			p := cluster.Pod{Name: fmt.Sprint(n, "-", i), Requests: cluster.Resources{cluster.CPU: r.Int64N(2), cluster.Memory: r.Int64N(2)}}
			for range r.IntN(3) {
				p.Ports = append(p.Ports, cluster.HostPort{Port: 1 + r.Int32N(9), Protocol: []string{"", "TCP", "UDP"}[r.IntN(3)], IP: []string{"", "0.0.0.0", "10.0.0.1", "10.0.0.2"}[r.IntN(4)]})
			}
			change(&p)
			list = append(list, p)
		}
		return list
	}
	for range 200 {
		s := &preemption.Snapshot{Nodes: []cluster.Node{{Name: "n", Allocatable: cluster.Resources{cluster.CPU: 5, cluster.Memory: 4, cluster.Pods: 11}}}}
		s.Pods = append(pods(9, func(p *cluster.Pod) { p.Node = "n" }), pods(2, func(p *cluster.Pod) { p.NominatedNode = "n" })...)
		q, err := newQuestion(s, &preemption.Options{}, &preemption.Preemptor{Group: &cluster.PodGroup{Name: "g"}, Pods: pods(5, func(*cluster.Pod) {})})
		require.NoError(t, err)
		sc, n := newScene(q), &q.nodes[0]
		for range 30 {
			switch p, m := n.pods()[r.IntN(9)], q.members[r.IntN(5)]; {
			case r.IntN(2) == 0 && m.to == nil:
				sc.place(m, n)
			case r.IntN(2) == 0:
				sc.unplace(m)
			default:
				sc.shift([]*pod{p}, []int{-1, +1}[r.IntN(2)])
			}
			var want []misfit
			for _, m := range q.members {
				of := slices.ContainsFunc(slices.Concat(n.pods(), n.nominees), func(p *pod) bool { return !p.gone && clash(m.Pod, p.Pod) }) ||
					slices.ContainsFunc(n.guests, func(o *member) bool { return o != m && clash(m.Pod, o.Pod) })
				require.Equal(t, of, slices.Contains(sc.misfits(m, n), misfit{check: domain.CheckPorts}))
				told[of]++
				for i := 0; m.to == n && i < len(sc.crowdedOut(m)); i++ {
					if x := sc.crowdedOut(m)[i]; !slices.Contains(want, x) {
						want = append(want, x)
					}
				}
			}
			require.ElementsMatch(t, want, sc.crowded(n))
			crowds[len(want) > 1]++
		}
	}
	require.Greater(t, min(told[true], told[false], crowds[true], crowds[false]), 300)
}
