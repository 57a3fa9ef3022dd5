package verify

import (
	"slices"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/found"
	"github.com/preempt-go/preempt/preemption/check/internal/proof"
	"github.com/preempt-go/preempt/preemption/check/internal/relation"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// readDomains: no evictions with which as many members have places, in any domain where the gang could have gone, have less
// than the bound, or help.
func (a *numbers) readDomains(p *preemption.Proof) {
	claims, ok := proof.ClaimsOf(p)
	if !ok {
		a.Add(found.Proof, "nodes of one domain and criterion have different prices, or do not come one after the other")
		return
	}
	seats := int64(max(a.team.least-len(a.team.running), 1))
	if a.r.Verdict == preemption.Feasible && !a.rules.fewest {
		seats = int64(len(a.r.Nominations))
	}
	kinds := a.kinds()
	if len(kinds) > mostPairs/max(len(a.all()), 1) {
		a.Add(found.Proof, "nothing is proved of so many kinds of members")
		return
	}
	for _, r := range a.decisive() {
		if text := a.inDomain(r, kinds, seats).Shows(claims[r.name]); text != "" {
			a.Add(found.Proof, "domain %q: %s", r.name, text)
		}
		delete(claims, r.name)
	}
	if len(claims) > 0 {
		a.Add(found.Proof, "it tells of a domain where the gang could not have gone")
	}
}

// decisive are the regions among which the gang's was chosen, or the last where none would do.
func (a *answer) decisive() []region {
	rounds := a.rounds()
	for _, round := range rounds {
		if slices.ContainsFunc(round, func(r region) bool { return r.name == a.r.Domain }) {
			return round
		}
	}
	return rounds[len(rounds)-1]
}

// mostPairs is of how many pairs of a kind of members and a node it is read whether those may run there.
const mostPairs = 1 << 22

// kinds are members, one of each kind that nodes tell apart.
func (a *answer) kinds() (list []*member) {
	seen := map[string]bool{}
	for _, m := range a.members {
		tells := []any{m.NodeSelector, m.NodeAffinity, m.Tolerations, m.RequiredNode}
		if a.o.Hooks != nil && a.o.Hooks.Filter != nil {
			tells = append(tells, shown(m.Pod))
		}
		if text := relation.AsText(tells); !seen[text] {
			seen[text] = true
			list = append(list, m)
		}
	}
	return list
}

// inDomain tells in numbers where so many members, of some kinds, may run in r, who may go, and what counts.
func (a *numbers) inDomain(r region, kinds []*member, seats int64) *proof.Domain {
	d := &proof.Domain{Bound: a.r.Proof.Bound, Seats: seats, Each: map[string]int64{cluster.Pods: 1}, Sites: map[string]*proof.Site{}}
	for _, name := range a.asks {
		least := a.members[0].Requests[name]
		for _, m := range a.members {
			least = min(least, m.Requests[name])
		}
		if least > 0 {
			d.Each[name] = least
		}
	}
	least, regular := a.leastPriorities(a.evictable(r.nodes...))
	for _, n := range r.nodes {
		if !slices.ContainsFunc(kinds, func(m *member) bool { return a.admits(n.Node, m.Pod) == "" }) {
			continue
		}
		s := &proof.Site{Node: &proof.Node{Bound: d.Bound, Room: a.room}, Free: map[string]int64{}}
		s.Items = a.items(n, a.evictable(n), least, regular)
		used := a.expectedUse(n)
		if slots, limited := n.Allocatable[cluster.Pods]; limited {
			s.Free[cluster.Pods] = slots - used[len(a.asks)]
		}
		for i, name := range a.asks {
			if d.Each[name] > 0 && name != cluster.Pods {
				s.Free[name] = n.Allocatable[name] - used[i]
			}
		}
		d.Sites[n.Name] = s
	}
	return d
}

// homeOf is the first node, by name, that a unit has pods on.
func homeOf(u *unit) (home *node) {
	for _, p := range u.pods {
		if p.at != nil && (home == nil || p.at.Name < home.Name) {
			home = p.at
		}
	}
	return home
}
