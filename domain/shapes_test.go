package domain

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// NumProfiles is the number of profiles of an inter-pod affinity State.
func NumProfiles(s State) int { return len(s.(*affinityState).plan.profiles) }

// Keep leaves q those offers that count.
func (q *SeatQueue) Keep(counts func(*SeatOffer) bool) { q.keep(0, counts) }

// Constrained reports whether a constraint has a say in t.
func Constrained(t *GangTrial) bool { return len(t.states) > 0 }

// NumAside is for how many nodes the placers know a constraint of states to be in the way by
// its name, and for how many by the node itself, as things stand.
func NumAside(t *GangTrial, m MemberID) (named, nodes int) {
	for n := range t.ix.Nodes() {
		if b, ok := t.blockOf(m, n); ok && b.of >= 0 {
			named++
		} else if ok {
			nodes++
		}
	}
	return named, nodes
}

// TestShapesAreThoseOfMembersThatAreAlike compares shapes, and rules, with what each pair of members says.
func TestShapesAreThoseOfMembersThatAreAlike(t *testing.T) {
	ix, err := cluster.NewIndex(&cluster.Snapshot{Nodes: []cluster.Node{{Name: "n", Allocatable: cluster.Resources{"cpu": 4}}}})
	require.NoError(t, err)
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		var members []*Member
		for i := range 24 {
			p := &cluster.Pod{Name: fmt.Sprint(i), Requests: cluster.Resources{"cpu": r.Int64N(2)}, Labels: map[string]string{"l": fmt.Sprint(r.IntN(2))}}
			if r.IntN(3) == 0 {
				p.Requests["odd"] = 1
			}
			if r.IntN(3) == 0 {
				p.NodeSelector = map[string]string{"a": "b", "c": fmt.Sprint(r.IntN(2))}
			}
			if r.IntN(2) == 0 {
				terms := []cluster.NodeTerm{
					{Labels: []cluster.NodeRequirement{{Key: "k", Operator: cluster.NodeIn, Values: []string{"x", "y"}}}},
					{Fields: []cluster.NodeRequirement{{Key: "metadata.name", Operator: cluster.NodeIn, Values: []string{"n"}}}},
				}
				if r.IntN(2) == 0 {
					terms[0], terms[1] = terms[1], terms[0]
				}
				p.NodeAffinity = &cluster.NodeAffinity{Terms: terms[:r.IntN(3)]}
			}
			if r.IntN(3) == 0 {
				p.Ports = []cluster.HostPort{{Port: int32(1 + r.IntN(2))}}
			}
			m := NewMember(ix, p, cluster.NoPod)
			if seed%2 == 0 {
				m.Restrict(func(*cluster.Pod, *cluster.Node) bool { return true })
			}
			members = append(members, m)
		}
		shapes := shapesOf(members)
		rules := rulesOf(members, shapes)
		for i, shape := range shapes {
			want := i
			for j := range i {
				if members[i].alike(members[j]) {
					want = j
					break
				}
			}
			require.Equal(t, want, shape, "seed %d, member %d", seed, i)
			for j := range i {
				require.Equal(t, members[i].text() == members[j].text() && members[i].viewedAlike(members[j]), members[i].alike(members[j]))
				alike := members[i].rule.Text() == members[j].rule.Text()
				if members[i].filter != nil {
					alike = shapes[j] == shape
				}
				require.Equal(t, alike, rules[i] == rules[j], "seed %d, what members %d and %d say of nodes", seed, i, j)
			}
		}
	}
}

// TestFewRepellersSayWhatCountsDo: of either half of what terms say of a lone pod, as pods go and come and others are expected.
func TestFewRepellersSayWhatCountsDo(t *testing.T) {
	told, kept, shut := map[bool]int{}, 0, 0
	for seed := range uint64(1000) {
		r, s := rand.New(rand.NewPCG(seed, 1)), &cluster.Snapshot{}
		for i := range 6 {
			n := cluster.Node{Name: fmt.Sprint("n", i), Labels: map[string]string{"host": fmt.Sprint(i), "zone": fmt.Sprint(i / 3)}}
			if i == r.IntN(9) {
				delete(n.Labels, "zone")
			}
			s.Nodes = append(s.Nodes, n)
		}
		s.Namespaces = []cluster.Namespace{{Name: "ns", Labels: map[string]string{"team": "a"}}}
		terms := func(most int) (list []cluster.AffinityTerm) {
			for range r.IntN(most + 1) {
				t := cluster.AffinityTerm{
					TopologyKey: []string{"zone", "host", "host", "none"}[r.IntN(4)], Selector: &disruption.Selector{MatchLabels: map[string]string{"app": fmt.Sprint(r.IntN(3))}},
				}
				if r.IntN(3) == 0 {
					t.NamespaceSelector = &disruption.Selector{MatchExpressions: []disruption.Requirement{{Key: "team", Operator: []disruption.Operator{disruption.In, disruption.NotIn}[r.IntN(2)], Values: []string{"a"}}}}
				}
				list = append(list, t)
			}
			return list
		}
		for i := range 2 + r.IntN(26) {
			p := cluster.Pod{Namespace: []string{"", "ns"}[r.IntN(2)], Name: fmt.Sprint("p", i), Labels: map[string]string{"app": fmt.Sprint(r.IntN(3)), "of": fmt.Sprint(i)}, AntiAffinity: terms(3)}
			if node := fmt.Sprint("n", r.IntN(6)); i%5 == 4 {
				p.NominatedNode = node
			} else {
				p.Node = node
			}
			s.Pods = append(s.Pods, p)
		}
		ix, err := cluster.NewIndex(s)
		require.NoError(t, err)
		self := cluster.PodID(r.IntN(2)) // runs
		pod, anti := ix.Pod(self), ix.AntiTerms()
		byOwn, byTheirs := InterPodAffinity().(interPodAffinity).Halves()
		c := byOwn.(interPodAffinity)
		if seed%2 == 0 {
			c = byTheirs(slices.DeleteFunc(anti.Candidates(pod), func(t cluster.TermID) bool {
				return !anti.Term(t).Selects(pod.Namespace, ix.NamespaceLabels(pod.Namespace), pod.Labels)
			})...).(interPodAffinity)
		}
		against := slices.Clone(c.against)
		few, ok, err := c.findRepelled(ix, pod)
		require.NoError(t, err)
		require.Equal(t, against, c.against)
		counted, err := c.count(ix, []*cluster.Pod{pod})
		require.NoError(t, err)
		told[ok]++
		if few == nil {
			free := !slices.ContainsFunc(counted.counts, func(c int32) bool { return c > 0 })
			require.True(t, !ok || free, "seed %d", seed)
			continue
		}
		require.True(t, few.Scope().Monotone)
		require.True(t, few.Scope().NodeLocal || !counted.Scope().NodeLocal)
		at := make([]cluster.NodeID, ix.NumPods())
		for p := range at {
			at[p] = ix.NodeOf(cluster.PodID(p))
		}
		for range 12 {
			for n := range ix.Nodes() {
				require.Equal(t, counted.Fits(0, n), few.Fits(0, n), "seed %d", seed)
				require.Equal(t, counted.Touches(n), few.Touches(n))
				for p := range cluster.PodID(ix.NumPods()) {
					require.Equal(t, counted.TouchesPod(p, n), few.TouchesPod(p, n))
				}
				for _, others := range []bool{false, true} {
					want, _ := counted.shut(n, self, others)
					topology, by := few.shut(n, self, others)
					if topology == nil && others { // counts name somebody who runs there, be he gone
						at, _ := few.shut(n, self, false)
						require.False(t, slices.ContainsFunc(few.by, func(r repeller) bool {
							return r.pod != self && r.at == ix.NodeOf(r.pod) && few.misfit[r.of].topology == at && slices.Contains(at.Sharing(n), r.at)
						}), "seed %d", seed)
						continue
					}
					require.Same(t, want, topology)
					require.Equal(t, topology == nil || !others, by == cluster.NoPod)
					if by != cluster.NoPod {
						require.True(t, by != self && ix.NodeOf(by) != cluster.NoNode && few.TouchesPod(by, at[by]) && slices.Contains(topology.Sharing(n), at[by]), "seed %d", seed)
						shut++
					}
				}
			}
			kept++
			p := cluster.PodID(r.IntN(ix.NumPods()))
			switch n := cluster.NodeID(r.IntN(6)); {
			case at[p] != cluster.NoNode:
				before, why := few.Clone(), few.Fits(0, at[p])
				few.Remove(p, at[p])
				counted.Remove(p, at[p])
				require.Equal(t, why, before.Fits(0, at[p]))
				at[p] = cluster.NoNode
			case ix.NodeOf(p) != cluster.NoNode: // it comes back
				n = ix.NodeOf(p)
				fallthrough
			default:
				few.Return(p, n)
				counted.Return(p, n)
				at[p] = n
			}
		}
	}
	require.Greater(t, min(told[true], kept, shut), 700)
	require.Greater(t, told[false], 20)
}

// TestManyRepellersAreCounted: whom a term may select of many label sets, and whom it selects of many pods; and a term that says nothing is an error.
func TestManyRepellersAreCounted(t *testing.T) {
	byOwn, _ := InterPodAffinity().(interPodAffinity).Halves()
	for _, k := range []struct{ sets, pods int }{{mostAsked, 1}, {mostAsked + 1, 1}, {1, mostRepellers}, {1, mostRepellers + 1}} {
		s := &cluster.Snapshot{Nodes: []cluster.Node{{Name: "n", Labels: map[string]string{"host": "n"}}}}
		for i := range k.sets * k.pods {
			s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint("p", i), Node: "n", Labels: map[string]string{"of": fmt.Sprint(i / k.pods)}})
		}
		ix, err := cluster.NewIndex(s)
		require.NoError(t, err)
		not := func(op disruption.Operator) *cluster.Pod {
			wants := &disruption.Selector{MatchExpressions: []disruption.Requirement{{Key: "of", Operator: op, Values: []string{"x"}}}}
			if k.sets > 1 { // nobody
				wants.MatchLabels = map[string]string{}
				wants.MatchExpressions = append(wants.MatchExpressions, disruption.Requirement{Key: "of", Operator: disruption.DoesNotExist})
			}
			return &cluster.Pod{AntiAffinity: []cluster.AffinityTerm{{TopologyKey: "host", Selector: wants}}}
		}
		state, err := byOwn.Prepare(ix, []*cluster.Pod{not(disruption.NotIn)})
		require.NoError(t, err)
		_, counted := state.(*affinityState)
		require.Equal(t, k.sets > mostAsked || k.pods > mostRepellers, counted, "%+v", k)
		_, err = byOwn.Prepare(ix, []*cluster.Pod{not("Maybe")})
		require.Error(t, err)
	}
}
