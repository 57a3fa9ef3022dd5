package verify

import (
	"slices"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/found"
	"github.com/preempt-go/preempt/preemption/check/internal/proof"
	"github.com/preempt-go/preempt/preemption/check/internal/relation"
	"github.com/preempt-go/preempt/preemption/check/internal/suits"
	"github.com/preempt-go/preempt/preemption/check/internal/tariff"
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
	seats := int64(max(a.team.need(), 1))
	if a.r.Verdict == preemption.Feasible && !a.rules.fewest {
		seats = int64(len(a.r.Nominations))
	}
	given := a.given()
	if a.devices = suits.SharesOf(len(a.members), seats, func(m int) []cluster.DeviceRequest { return a.members[m].Devices }); given != nil {
		seats, a.devices = int64(len(given)), nil
	}
	kinds := a.kinds()
	if len(kinds) > mostPairs/max(len(a.all()), 1) {
		a.Add(found.Proof, "nothing is proved of so many kinds of members")
		return
	}
	for _, r := range a.decisive() {
		if text := a.inDomain(r, kinds, given, seats).Shows(claims[r.name]); text != "" {
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
			tells = append(tells, suits.Shown(m.Pod))
		}
		if text := relation.AsText(tells); !seen[text] {
			seen[text] = true
			list = append(list, m)
		}
	}
	return list
}

// given are the members that are to go to each node; nil: they may go anywhere.
func (a *answer) given() map[*node][]*member {
	if a.asked.Placement == nil {
		return nil
	}
	given := map[*node][]*member{}
	for _, m := range a.members {
		if name, ok := a.asked.Placement[placedAs(m.Namespace, m.Name)]; ok {
			n := a.byNode[name]
			given[n] = append(given[n], m)
		}
	}
	return given
}

// inDomain tells in numbers where so many members, of some kinds, may run in r, or are to run, who may go, and what counts.
func (a *numbers) inDomain(r region, kinds []*member, given map[*node][]*member, seats int64) *proof.Domain {
	d := &proof.Domain{Bound: a.r.Proof.Bound, Seats: seats, Sites: map[string]*proof.Site{}, Room: a.room}
	least, regular := a.leastPriorities(slices.DeleteFunc(a.evictable(r.nodes...), a.stuck))
	if slices.ContainsFunc(d.Bound, func(c preemption.Criterion) bool { return c.Name == "violations" }) {
		a.charge(a.charging(r.nodes))
	}
	every := map[string]int64{cluster.Pods: 1}
	for _, name := range a.asks {
		every[name] = a.members[0].Requests[name]
		for _, m := range a.members {
			every[name] = min(every[name], m.Requests[name])
		}
	}
	for _, n := range r.nodes {
		admits := func(m *member) bool { return a.admits(n.Node, m.Pod) == "" }
		each, most := every, seats
		if given != nil {
			each, most = map[string]int64{cluster.Pods: int64(len(given[n]))}, 1
			for _, m := range given[n] {
				for _, name := range a.asks {
					each[name] = tariff.Add(each[name], m.Requests[name])
				}
			}
			kinds = given[n]
			if slices.ContainsFunc(kinds, func(m *member) bool { return !admits(m) }) {
				continue
			}
		}
		if slices.ContainsFunc(kinds, admits) {
			d.Sites[n.Name] = a.site(n, each, most, a.items(n, slices.DeleteFunc(a.evictable(n), a.stuck), least, regular))
		}
	}
	return d
}

// site is n where so many members may run at most, each of whom asks for no less than each, and items may go.
func (a *numbers) site(n *node, each map[string]int64, most int64, items []proof.Item) *proof.Site {
	s := &proof.Site{Most: most, Each: map[string]int64{}, Free: map[string]int64{}}
	s.Node = &proof.Node{Bound: a.r.Proof.Bound, Room: a.room, Items: items}
	used := a.expectedUse(n)
	if slots, limited := n.Allocatable[cluster.Pods]; limited {
		s.Each[cluster.Pods], s.Free[cluster.Pods] = each[cluster.Pods], slots-used[len(a.asks)]
	}
	for i, name := range a.asks {
		if each[name] > 0 && name != cluster.Pods {
			s.Each[name], s.Free[name] = each[name], n.Allocatable[name]-used[i]
		}
	}
	for name, k := range a.devices.On(n.Node, n.running) {
		s.Each[name], s.Free[name] = k.Asks, k.Free
	}
	return s
}
