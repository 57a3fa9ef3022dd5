package constrainttest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// checker is one run of Check.
type checker struct {
	constraint domain.Constraint
	snapshot   *cluster.Snapshot
	ix         *cluster.Index
	members    []*cluster.Pod
	options    Options
	rand       *rand.Rand
	start      domain.State // never changed
	broken     []error
}

// change is one call that changes a State.
type change struct {
	member domain.MemberID // -1: it is about a pod
	pod    cluster.PodID
	node   cluster.NodeID
	comes  bool // Return or Place; else Remove or Unplace
}

// history is a sequence of changes, applied to the state of the start.
type history []change

func (c change) apply(s domain.State) {
	switch {
	case c.member < 0 && c.comes:
		s.Return(c.pod, c.node)
	case c.member < 0:
		s.Remove(c.pod, c.node)
	case c.comes:
		s.Place(c.member, c.node)
	default:
		s.Unplace(c.member, c.node)
	}
}

func (c change) inverse() change {
	c.comes = !c.comes
	return c
}

// net returns the changes of h that were not undone later.
func (h history) net() history {
	var left history
	for _, c := range h {
		if i := slices.Index(left, c.inverse()); i >= 0 {
			left = slices.Delete(left, i, i+1)
		} else {
			left = append(left, c)
		}
	}
	return left
}

func (k *checker) describe(h history) string {
	if len(h) == 0 {
		return "no change"
	}
	var words []string
	for _, c := range h {
		verb := map[bool]string{true: "return", false: "remove"}[c.comes]
		var name string
		if c.member >= 0 {
			verb = map[bool]string{true: "place", false: "unplace"}[c.comes]
			name = fmt.Sprintf("member %d", c.member)
		} else {
			p := k.ix.Pod(c.pod)
			name = p.Namespace + "/" + p.Name
		}
		words = append(words, fmt.Sprintf("%s %s at %s", verb, name, k.ix.Node(c.node).Name))
	}
	return strings.Join(words, "; ")
}

// possible lists every change that could come next after h: those of running pods,
// of nominated pods and of members.
func (k *checker) possible(h history) [3][]change {
	now := h.net()
	var running, nominated, members []change
	next := func(c change) change {
		if slices.Contains(now, c) {
			return c.inverse()
		}
		return c
	}
	for n := range cluster.NodeID(k.ix.NumNodes()) {
		for _, p := range k.ix.PodsOn(n) {
			running = append(running, next(change{-1, p, n, false}))
		}
		for _, p := range k.ix.Nominees(n) {
			if k.member(k.ix.Pod(p)) < 0 {
				nominated = append(nominated, next(change{-1, p, n, true}))
			}
		}
	}
	for m := range domain.MemberID(len(k.members)) {
		at := slices.IndexFunc(now, func(c change) bool { return c.member == m })
		if at >= 0 {
			members = append(members, now[at].inverse())
			continue
		}
		for n := range cluster.NodeID(k.ix.NumNodes()) {
			members = append(members, change{m, cluster.NoPod, n, true})
		}
	}
	return [3][]change{running, nominated, members}
}

// member returns the position of a pod among the members, or -1.
func (k *checker) member(p *cluster.Pod) int {
	return slices.IndexFunc(k.members, func(m *cluster.Pod) bool {
		return m.Namespace == p.Namespace && m.Name == p.Name
	})
}

// pick chooses the next change, most often one of a running pod.
func (k *checker) pick(h history) (change, bool) {
	lists := k.possible(h)
	for _, i := range []int{[]int{0, 0, 0, 1, 2}[k.rand.IntN(5)], 0, 2, 1} {
		if len(lists[i]) > 0 {
			return lists[i][k.rand.IntN(len(lists[i]))], true
		}
	}
	return change{}, false
}

// answers is what Fits says of every member on every node, by member and node.
func (k *checker) answers(s domain.State) []domain.Reason {
	if s == nil {
		return make([]domain.Reason, len(k.members)*k.ix.NumNodes())
	}
	var all []domain.Reason
	for m := range k.members {
		for n := range k.ix.NumNodes() {
			all = append(all, s.Fits(domain.MemberID(m), cluster.NodeID(n)))
		}
	}
	return all
}

// same reports the first difference between two tables of answers.
func (k *checker) same(law Law, h history, want, got []domain.Reason) {
	k.sameBut(law, h, want, got, func(domain.MemberID, cluster.NodeID) bool { return false })
}

func (k *checker) sameBut(law Law, h history, want, got []domain.Reason, skip func(domain.MemberID, cluster.NodeID) bool) {
	for i := range want {
		m, n := domain.MemberID(i/k.ix.NumNodes()), cluster.NodeID(i%k.ix.NumNodes())
		if want[i] != got[i] && !skip(m, n) {
			k.report(law, h, "member %d on %s: %s, want %s", m, k.ix.Node(n).Name, verdict(got[i]), verdict(want[i]))
			return
		}
	}
}

func verdict(r domain.Reason) string {
	if r.OK() {
		return "it fits"
	}
	words := fmt.Sprintf("a misfit (%s", r.Check)
	if r.Detail != "" {
		words += ": " + r.Detail
	}
	if r.Missing != 0 {
		words += fmt.Sprintf(", %d missing", r.Missing)
	}
	if r.Unresolvable {
		words += ", unresolvable"
	}
	return words + ")"
}
