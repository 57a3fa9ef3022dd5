package relation

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/check/internal/suits"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// says is what relations say of a node: nothing where a lone pod fits.
func says(list []Relation, n *cluster.Node) (text string) {
	for _, r := range list {
		if check, never := r.Misfit(0, n); check != "" {
			text += fmt.Sprintf("%s %t ", check, never)
		}
	}
	return text
}

// never is whether the first of them that a lone pod does not fit for says that it never does.
func never(list []Relation, n *cluster.Node) bool {
	for _, r := range list {
		if check, never := r.Misfit(0, n); check != "" {
			return never
		}
	}
	return false
}

// TestAnIndexLeavesOutNobody: of each node tokens, devices, spread and affinity say the same whether they read all running pods or an index, which keeps parts
// from one pod to the next, while pods leave, those who are nominated come, and all is again as it was. Where it says that a pod can't go, it can't,
// whoever leaves for it.
func TestAnIndexLeavesOutNobody(t *testing.T) {
	count, many, closed, told := map[string]int{}, 0, 0, 0
	for seed := range uint64(2_000) {
		draw, seats := rand.New(rand.NewPCG(seed, 5)), rand.New(rand.NewPCG(seed, 6))
		labels := func() map[string]string {
			return map[string]string{fmt.Sprint("k", draw.IntN(2)): fmt.Sprint(draw.IntN(2))}
		}
		selector := func() *disruption.Selector {
			either := []disruption.Requirement{{Key: "k0", Operator: disruption.In, Values: []string{"0", fmt.Sprint(draw.IntN(2)), "2"}}}
			return []*disruption.Selector{nil, {}, {MatchLabels: labels()}, {MatchLabels: labels()}, {MatchExpressions: either}}[draw.IntN(5)]
		}
		term := func() cluster.AffinityTerm {
			t := cluster.AffinityTerm{TopologyKey: []string{"host", "rack"}[draw.IntN(2)], Selector: selector(), NamespaceSelector: selector()}
			if draw.IntN(2) == 0 {
				t.Namespaces = append([]string{fmt.Sprint("ns", draw.IntN(3)), "ns1"}, make([]string, draw.IntN(2)*mostSpaces)...)
			}
			return t
		}
		common := term()
		pod := func(terms int) *cluster.Pod {
			p := &cluster.Pod{Namespace: fmt.Sprint("ns", draw.IntN(3)), Labels: labels(), Terminating: draw.IntN(8) == 0}
			if draw.IntN(8) == 0 {
				p.Tokens = slices.Repeat([]string{"a", "b", "a"}[draw.IntN(2):], 1+draw.IntN(2)*manyNames)
			}
			for range seats.IntN(3) * int(seed%2) {
				d := cluster.DeviceRequest{Resource: "gpu", Fraction: 1 + seats.Int64N(11)}
				p.Devices = append(p.Devices, []cluster.DeviceRequest{d, d, {Resource: "gpu", Count: 1}, {Resource: "gpu", Fraction: d.Fraction, Assigned: []int32{0}}}[seats.IntN(4)])
			}
			for range draw.IntN(terms) {
				term := term()
				if seed%2 == 0 {
					term = common
				}
				if draw.IntN(4) == 0 {
					p.Affinity = append(p.Affinity, term)
				} else {
					p.AntiAffinity = append(p.AntiAffinity, term)
				}
				if draw.IntN(4) == 0 {
					p.Spread = []cluster.Spread{{MaxSkew: 1, TopologyKey: term.TopologyKey, Selector: selector()}}
				}
			}
			return p
		}
		s := &cluster.Snapshot{}
		for i := range 4 {
			s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprint(i), Labels: map[string]string{"host": fmt.Sprint(i), "rack": fmt.Sprint(i % 2)}})
			if i < 3 {
				s.Nodes[i].Devices = map[string]cluster.DevicePool{"gpu": {Count: int32(i), Capacity: 9}}
			}
		}
		if seed%4 == 2 {
			delete(s.Nodes[3].Labels, "rack")
		}
		nodes := []*cluster.Node{&s.Nodes[0], &s.Nodes[1], &s.Nodes[2], &s.Nodes[3]}
		for i := range 4 + 8*int(seed%3) {
			p := pod(3)
			p.Name, p.Node = string(rune('a'+i)), fmt.Sprint(i%4)
			s.Pods = append(s.Pods, *p)
		}
		moved := 0 // pods of whom each has gone to the next node
		at := func(i int) *cluster.Node {
			if i < moved {
				i++
			}
			return &s.Nodes[i%4]
		}
		gone := map[*cluster.Pod]bool{}
		q := Question{
			Staying: func(n *cluster.Node) (list []*cluster.Pod) {
				for i := range s.Pods {
					if p := &s.Pods[i]; at(i) == n && !gone[p] {
						list = append(list, p)
					}
				}
				return list
			},
			Snapshot: s, Spaces: map[string]map[string]string{"ns0": labels(), "ns1": labels()}, Repelling: true, Old: draw.IntN(2) == 0,
			Placed: func(int) *cluster.Node { return nil },
			Running: func(yield func(*cluster.Pod, *cluster.Node) bool) {
				for i := 0; i < len(s.Pods) && yield(&s.Pods[i], at(i)); i++ {
				}
			},
		}
		by := q
		members := []cluster.Pod{*pod(2), *pod(2), *pod(2), *pod(2)}
		by.Index = NewIndex(nodes, append(members, s.Pods...), iter.Seq2[*cluster.Pod, *cluster.Node](q.Running))
		for i := range members {
			q.Members = []*cluster.Pod{&members[i]}
			by.Members = q.Members
			all := [][]Relation{Of(&q), Of(&by)}
			alike := func() {
				for i := range s.Nodes {
					want := says(all[0], at(i))
					require.Equal(t, want, says(all[1], at(i)), "seed %d, node %d", seed, i)
					require.Equal(t, never(all[1], at(i)), never(Final(all[1]), at(i)) || want == "device true ")
					count[want]++
				}
			}
			move := func(p *cluster.Pod, n *cluster.Node, by int) {
				gone[p] = by < 0
				for _, r := range all {
					for _, r := range r {
						r.Move(p, n, by)
					}
				}
			}
			alike()
			nominee := pod(3)
			for i := range s.Pods {
				if i%2 == 0 {
					move(&s.Pods[i], at(i), -1)
				}
			}
			alike()
			move(nominee, at(1), +1)
			alike()
			move(nominee, at(1), -1)
			for i := range s.Pods {
				if i%2 == 0 {
					move(&s.Pods[i], at(i), +1)
				}
			}
			alike()
			require.NotEmpty(t, by.Index.parts)
			require.GreaterOrEqual(t, by.Index.size, len(by.Index.parts))
			if i%2 == 0 {
				continue
			}
			self, own := &s.Pods[i], i // nobody has moved who comes after him
			for _, term := range slices.Concat(self.Affinity, self.AntiAffinity) {
				for _, c := range by.Index.among(term.Selector) {
					require.True(t, term.Selector == nil || suits.Selector(term.Selector, c.Labels))
				}
			}
			by.Members = []*cluster.Pod{self}
			all = [][]Relation{Of(&by)}
			move(self, nodes[own], -1)
			leaves := func(p *cluster.Pod) []int { return [][]int{{0, 1}, {2}, {0, 3}, nil, {1, 2}}[p.Name[0]%5] }
			open, few := by.Index.Open(all[0], self, own, leaves)
			for n := range nodes {
				if few != nil {
					told++
				}
				if open(n) && (few == nil || slices.Contains(few, n)) {
					continue
				}
				closed++
				leave := func(by int) {
					for j := range s.Pods {
						if p := &s.Pods[j]; p != self && slices.Contains(leaves(p), n) {
							move(p, at(j), by)
						}
					}
				}
				leave(-1)
				require.NotEmpty(t, says(all[0], nodes[n]), "seed %d, node %d", seed, n)
				leave(+1)
			}
			move(self, nodes[own], +1)
			p, from := &s.Pods[moved], at(moved)
			p.Terminating, p.Node = false, fmt.Sprint((moved+1)%4)
			by.Index.Move(p, from, -1)
			moved++
			by.Index.Move(p, at(moved-1), +1)
		}
		require.Zero(t, by.Index.Compared(&cluster.Pod{AntiAffinity: make([]cluster.AffinityTerm, 1)}))
		for _, h := range by.Index.terms {
			if len(h.list) >= manyHolders {
				many++
			}
		}
	}
	require.Greater(t, min(many, closed, told), 500)
	for _, check := range []string{"", "token false ", "topology spread false ", "pod affinity true ", "pod anti-affinity false ", "device true ", "device false ", "device false pod affinity true "} {
		require.Greater(t, count[check], 100, "%v", count)
	}
}

// TestDevicesAreFollowed: of members on a node who ask for the same devices one is asked, and who runs there is looked at once.
func TestDevicesAreFollowed(t *testing.T) {
	of := func(fraction int64) *cluster.Pod {
		return &cluster.Pod{Node: "n", Devices: []cluster.DeviceRequest{{Resource: "gpu", Fraction: fraction}}}
	}
	run, looked := []*cluster.Pod{of(4), of(5)}, 0
	d, n, other := newDevices(&Question{
		Snapshot: &cluster.Snapshot{Pods: []cluster.Pod{*of(4)}}, Members: []*cluster.Pod{of(1), of(2), of(1), of(1)}, Placed: func(int) *cluster.Node { return nil },
		Staying: func(*cluster.Node) []*cluster.Pod { looked++; return run },
	}), &cluster.Node{Name: "n", Devices: map[string]cluster.DevicePool{"gpu": {Count: 1, Capacity: 12}}}, &cluster.Node{Name: "other"}
	d.Place(0, other, +1)
	for m := 1; m < 4; m++ {
		check, _ := d.Misfit(m, n)
		require.Equal(t, m == 3, check != "")
		d.Move(run[0], n, -1)
		check, _ = d.Misfit(m, n)
		require.Empty(t, check)
		d.Move(run[0], n, +1)
		d.Place(m, n, +1)
	}
	require.Empty(t, Final([]Relation{d}))
	require.Equal(t, []int{1, 2}, d.InWay(nil, n))
	require.Equal(t, []int{0}, d.InWay(nil, other))
	d.Place(1, n, -1)
	require.Equal(t, []int{2}, d.InWay(nil, n))
	nominee := &cluster.Pod{Devices: run[0].Devices}
	for _, by := range []int{+1, -1} {
		d.Move(nominee, n, by)
		check, _ := d.Misfit(0, n)
		require.Equal(t, by > 0, check != "")
	}
	require.Equal(t, 2, looked)
	d.(*devices).q.Members = run
	require.False(t, d.Monotone())
	d.(*devices).q.Members = run[:1]
	require.True(t, d.Monotone())

	large := of(7) // as an index has it, until it leaves
	d = newDevices(&Question{
		Snapshot: &cluster.Snapshot{}, Members: []*cluster.Pod{of(8)}, Placed: func(int) *cluster.Node { return nil },
		Index: NewIndex([]*cluster.Node{n}, nil, func(yield func(*cluster.Pod, *cluster.Node) bool) { yield(large, n) }),
	})
	for _, by := range []int{-1, +1} {
		d.Move(large, n, by)
		check, _ := d.Misfit(0, n)
		require.Equal(t, by > 0, check != "")
	}

	two := &cluster.Node{Name: "n", Devices: map[string]cluster.DevicePool{"gpu": {Count: 2, Capacity: 12}}}
	for _, where := range []string{"n", ""} { // who runs has its device; who is nominated shares one
		d := newDevices(&Question{
			Members: []*cluster.Pod{of(12)}, Placed: func(int) *cluster.Node { return nil }, Staying: func(*cluster.Node) []*cluster.Pod { return nil },
		})
		for _, i := range []int32{0, 1} {
			check, never := d.Misfit(0, two)
			require.Empty(t, check)
			require.False(t, never)
			d.Move(&cluster.Pod{Node: where, Devices: []cluster.DeviceRequest{{Resource: "gpu", Fraction: 4, Assigned: []int32{i}}}}, two, +1)
		}
		check, _ := d.Misfit(0, two)
		require.Equal(t, where == "n", check != "")
	}
	_, never := d.Misfit(0, other)
	require.True(t, never, "it has none")
}

// TestMembersCountForTheirSpread, on nodes whose taints they tolerate.
func TestMembersCountForTheirSpread(t *testing.T) {
	labels := map[string]string{"host": "a"}
	m := &cluster.Pod{Labels: labels, Spread: []cluster.Spread{{MaxSkew: 1, TopologyKey: "host", Selector: &disruption.Selector{MatchLabels: labels}, NodeTaintsPolicy: cluster.Honor}}}
	s := &cluster.Snapshot{Nodes: []cluster.Node{{Labels: labels}, {Labels: map[string]string{"host": "b"}}, {Labels: map[string]string{"host": "c"}, Taints: make([]cluster.Taint, 1)}}}
	r := newSpread(&Question{Snapshot: s, Members: []*cluster.Pod{m, m, {Namespace: "other", Labels: labels}}, Running: func(func(*cluster.Pod, *cluster.Node) bool) {}})
	r.Place(2, &s.Nodes[1], +1)
	for i := range 2 {
		r.Place(0, &s.Nodes[i], +1)
		check, _ := r.Misfit(1, &s.Nodes[0])
		require.Equal(t, i == 0, check != "")
	}
}

// TestTermsAgainstTheSameMembersAreOne: whatever other namespaces they select.
func TestTermsAgainstTheSameMembersAreOne(t *testing.T) {
	in := func(op disruption.Operator, team string) *disruption.Selector {
		return &disruption.Selector{MatchExpressions: []disruption.Requirement{{Key: "team", Operator: op, Values: []string{team}}}}
	}
	n := &cluster.Node{Name: "n", Labels: map[string]string{"host": "n"}}
	q := &Question{
		Spaces: map[string]map[string]string{"mine": {"team": "a"}, "yours": {"team": "b"}}, Repelling: true, Group: true, Snapshot: &cluster.Snapshot{Pods: []cluster.Pod{{AntiAffinity: make([]cluster.AffinityTerm, 1)}}},
		Members: []*cluster.Pod{{Namespace: "mine", AntiAffinity: []cluster.AffinityTerm{{TopologyKey: "host", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "x"}}}}}, {Namespace: "mine", Labels: map[string]string{"app": "x"}}, {Namespace: "yours", Tokens: []string{"t"}}},
		Placed:  func(int) *cluster.Node { return n },
	}
	var pods []*cluster.Pod
	for i := range 60 {
		team, op := fmt.Sprint(i), []disruption.Operator{disruption.NotIn, disruption.In}[i%2]
		if i%6 == 5 {
			team = "a"
		}
		pods = append(pods, &cluster.Pod{Node: "n", AntiAffinity: []cluster.AffinityTerm{{TopologyKey: "host", Selector: &disruption.Selector{}, NamespaceSelector: in(op, team)}}})
	}
	q.Running = func(yield func(*cluster.Pod, *cluster.Node) bool) {
		for _, p := range pods {
			if !yield(p, n) {
				return
			}
		}
	}
	merged := termOf(&cluster.AffinityTerm{Selector: in(disruption.In, "a"), MatchLabelKeys: []string{"team", "app"}}, &cluster.Pod{Labels: map[string]string{"team": "b", "app": "x"}})
	require.True(t, suits.Selector(merged.selector, map[string]string{"team": "a", "app": "x"}))
	a := newAffinity(q).(*affinity)
	require.Len(t, a.foes, 3) // those against all, against those of team a, and against x
	for i, p := range pods {
		want := [][]int{{0, 1, 2}, nil, {0, 1}}[i%2+i%6/5]
		got := a.InWay(p, n)
		slices.Sort(got)
		require.Equal(t, want, got, "%d", i)
		require.Empty(t, a.InWay(p, &cluster.Node{Labels: map[string]string{"host": "m"}}))
		if a.Move(p, n, -1); i%2 == 0 {
			continue
		}
		for m := range 3 {
			check, _ := a.Misfit(m, n)
			require.Equal(t, i < 58, check != "", "%d, %d", i, m)
		}
	}
	require.Equal(t, []int{2}, newTokens(q).InWay(&cluster.Pod{Tokens: []string{"t"}}, n))
	for _, by := range []int{+1, -1} {
		a.Place(0, n, by)
		for m := range 3 {
			check, _ := a.Misfit(m, n)
			require.Equal(t, m == 1 && by > 0, check != "")
		}
	}
}
