package domain

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/noderules"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// NumProfiles is the number of profiles of an inter-pod affinity State.
func NumProfiles(s State) int { return len(s.(*affinityState).plan.profiles) }

// Keep leaves q those offers that count.
func (q *SeatQueue) Keep(counts func(*SeatOffer) bool) { q.keep(0, counts) }

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
				alike := noderules.Same(members[i].Pod, members[j].Pod)
				if members[i].filter != nil {
					alike = shapes[j] == shape
				}
				require.Equal(t, alike, rules[i] == rules[j], "seed %d, what members %d and %d say of nodes", seed, i, j)
			}
		}
	}
}
