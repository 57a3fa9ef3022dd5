package verify

import (
	"math/big"

	"github.com/preempt-go/preempt/preemption"
)

// liking is how much a lone pod likes node n, of which others use so much of what it asks
// for: the average share that it leaves free, or that is allocated then, in millionths.
func (a *answer) liking(n *node, used []int64) *big.Int {
	sum, asked := new(big.Int), int64(0)
	for i, name := range a.scene.asks {
		asked++
		if whole := n.Allocatable[name]; whole > 0 { // else it does not fit there, which is said elsewhere
			left := max(0, whole-used[i]-a.members[0].Requests[name])
			share := new(big.Int).Mul(big.NewInt(left), big.NewInt(1_000_000))
			sum.Add(sum, share.Div(share, big.NewInt(whole)))
		}
	}
	switch {
	case asked == 0 || a.o.Prefer == "":
		return new(big.Int)
	case a.o.Prefer == preemption.LeastAllocated:
		return sum.Div(sum, big.NewInt(asked))
	}
	return sum.Neg(sum.Div(sum, big.NewInt(asked)))
}

// ownLiking reports whether the user says what a pod prefers.
func (a *answer) ownLiking() bool { return a.o.Hooks != nil && a.o.Hooks.Prefer != nil }

// comesFirst reports whether a lone pod prefers candidate c to d, which ties with it.
func (a *answer) comesFirst(c, d *preemption.Candidate) bool {
	if a.ownLiking() {
		return false
	}
	likes := a.likingOf(c).Cmp(a.likingOf(d))
	return likes > 0 || likes == 0 && c.Domain < d.Domain
}

// likingOf is liking for the domain of c, with its victims gone.
func (a *answer) likingOf(c *preemption.Candidate) *big.Int {
	n := a.byNode[c.Domain]
	if n == nil || a.o.Prefer == "" {
		return new(big.Int)
	}
	gone := map[preemption.PodRef]bool{}
	for _, v := range c.Victims {
		for _, p := range v.Pods {
			gone[p.PodRef] = true
		}
	}
	used := make([]int64, len(a.scene.asks))
	for i := range a.Snapshot.Pods {
		p := &a.Snapshot.Pods[i]
		if p.Node == n.Name && !gone[preemption.PodRef{Namespace: p.Namespace, Name: p.Name}] {
			for r, name := range a.scene.asks {
				used[r] += p.Requests[name]
			}
		}
	}
	return a.liking(n, used)
}
