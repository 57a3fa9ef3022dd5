package verify

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/budgets"
	"github.com/preempt-go/preempt/preemption/check/internal/found"
	"github.com/preempt-go/preempt/preemption/check/internal/order"
	"github.com/preempt-go/preempt/preemption/check/internal/proof"
	"github.com/preempt-go/preempt/preemption/check/internal/relation"
	"github.com/preempt-go/preempt/preemption/check/internal/room"
	"github.com/preempt-go/preempt/preemption/check/internal/suits"
	"github.com/preempt-go/preempt/preemption/check/internal/tariff"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// numbers is an answer of which the proof is read.
type numbers struct {
	*answer
	limits  map[string]limit // by the names that proofs have
	budgets map[string]*budgets.Budget
	devices *suits.Shares
	ports   suits.Taken // by the first member
}

// readProof: no evictions on any node have less than the bound that is said to be proved, or help. Nothing is believed of it but what adds up.
func (a *answer) readProof() {
	p := a.r.Proof
	if p == nil || !a.readProofBound(p) {
		return
	}
	numbers := &numbers{a, map[string]limit{}, map[string]*budgets.Budget{}, suits.SharesOf(1, 1, func(int) []cluster.DeviceRequest { return a.members[0].Devices }), suits.Taken{}}
	numbers.ports.Come(a.members[0].ports, +1)
	for _, l := range a.limits() {
		if name := strings.TrimPrefix(l.name, "the limit of "); name != "pods without a place" { // more than sums tell
			numbers.limits[name] = l
		}
	}
	for _, b := range a.budgets.All {
		numbers.budgets[b.Told] = b
	}
	if a.team != nil {
		numbers.readDomains(p)
		return
	}
	if proof.TooMany(p) {
		a.Add(found.Proof, "it tells more cases apart than a proof has")
		return
	}
	told := map[*node]bool{}
	for i := range p.Nodes {
		of := &p.Nodes[i]
		for _, name := range of.Nodes {
			n := a.byNode[name]
			if n == nil || told[n] {
				a.About(found.Proof, cluster.KindNode, "", name, "there is no such node, or it is told of twice")
				return
			}
			told[n] = true
			if text := numbers.of(n).Shows(of.Steps); text != "" {
				a.About(found.Proof, cluster.KindNode, "", name, "%s", text)
			}
		}
	}
	for _, n := range a.all() {
		if !told[n] && a.mayHelp(n) {
			a.About(found.Proof, cluster.KindNode, "", n.Name, "room may be made there, and nothing is said of it")
		}
	}
}

// provable: a proof is asked for, and is of evictions that rules of this module choose from all nodes, for enough pods that need no quota.
func (a *answer) provable() bool {
	about := a.r.Verdict == preemption.Feasible || a.r.Verdict == preemption.Infeasible
	able := a.team == nil || a.team.runs(func(*member) bool { return true })
	return about && a.o.Proof && able && !a.queued() && a.o.Sampling == nil && !a.o.Hooks.Decide()
}

// readProofBound: the bound is of criteria that sums on a node tell of, and is not beyond what is said elsewhere.
func (a *answer) readProofBound(p *preemption.Proof) (ok bool) {
	if (a.r.Verdict == preemption.Feasible) != (len(p.Bound) > 0) {
		a.Add(found.Proof, "it has a bound where nothing helps, or none of what does")
		return false
	}
	names := a.objective()
	for k, c := range p.Bound {
		switch {
		case k >= len(names) || c.Name != string(names[k]):
			a.Add(found.Proof, "%s does not stand at place %d", c.Name, k+1)
			return false
		case names[k].InUse() || slices.Contains([]string{"pods without a place", "pods that preempt in turn", "groups touched"}, c.Name):
			a.Add(found.Proof, "sums on a node do not tell of %s", c.Name)
			return false
		}
	}
	if order.Compare(p.Bound, a.r.Score) > 0 || a.r.Bound != nil && order.Compare(p.Bound, a.r.Bound) > 0 {
		a.Add(found.Proof, "its bound is beyond the score, or the bound of the answer")
		return false
	}
	return true
}

// mayHelp: it is not plain that nobody can make room on n.
func (a *answer) mayHelp(n *node) bool {
	m := a.members[0]
	if a.admits(n.Node, m.Pod) != "" {
		return false
	}
	var out []*pod
	for _, u := range a.evictable(n) {
		out = append(out, u.pods...)
	}
	if len(out) == 0 {
		return false
	}
	never := slices.ContainsFunc(a.relations, func(r relation.Relation) bool { _, never := r.Misfit(m.number, n.Node); return never })
	a.leave(out...)
	list := a.misfits(m, n)
	a.comeBack(out...)
	return len(list) == 0 || !a.monotone && !never && !slices.ContainsFunc(list, func(x misfit) bool { return x.resource != "" })
}

// of tells in numbers who may go from n and what counts.
func (a *numbers) of(n *node) *proof.Node {
	p := &proof.Node{Bound: a.r.Proof.Bound, Need: a.lack(a.members[0], n), Room: a.room}
	for name, k := range a.devices.On(n.Node, n.running) {
		p.Need[name] = max(k.Asks-k.Free, 0)
	}
	units := a.evictable(n)
	least, regular := a.leastPriorities(units)
	p.Items = a.items(n, units, least, regular)
	if slices.ContainsFunc(p.Bound, func(c preemption.Criterion) bool { return c.Name == "violations" }) {
		a.charge(a.charging([]*node{n}))
	}
	return p
}

// items are those of units that may go from n.
func (a *numbers) items(n *node, units []*unit, least map[int32]int64, regular bool) (list []proof.Item) {
	for _, u := range units {
		for i := range u.pods {
			pods := u.pods
			if u.elastic {
				pods = u.pods[i : i+1]
			}
			if u.elastic && pods[0].at == n || !u.elastic && i == 0 {
				it := proof.Item{Highest: math.MinInt64, Started: math.MinInt64}
				if !a.free(u) {
					it.Highest = least[u.priority]
				}
				for _, q := range pods {
					it.Pods = append(it.Pods, preemption.PodRef{Namespace: q.Namespace, Name: q.Name})
					it.Must = it.Must || a.team == nil && q.at == n && a.ports.Meets(q.ports, false)
					if regular && !a.free(u) {
						it.Started = max(it.Started, -max(a.started(q), -math.MaxInt64))
					}
				}
				if len(pods) == 1 {
					it.Overrun = budgets.Overrun(a.covering(pods[0]))
				} else {
					it.Overrun = budgets.Overruns(a.chargedOf(u, pods))
				}
				it.Adds = func(of proof.Kind, name string) int64 { return a.adds(n, u, pods, of, name) }
				list = append(list, it)
			}
		}
	}
	return list
}

// leastPriorities are the least that the first victim's first pod may have, by the priority of a victim: it
// may be of whoever of units is as important, or more. Regular: pods have the priority of their units.
func (a *answer) leastPriorities(units []*unit) (least map[int32]int64, regular bool) {
	least, regular = map[int32]int64{}, true
	for _, u := range units {
		if a.free(u) {
			continue
		}
		for _, p := range u.pods {
			if lowest, known := least[u.priority]; !known || int64(p.priority) < lowest {
				least[u.priority] = int64(p.priority)
			}
			regular = regular && p.priority == u.priority
		}
	}
	lowest := int64(math.MaxInt64)
	for _, level := range slices.Backward(slices.Sorted(maps.Keys(least))) {
		lowest = min(lowest, least[level])
		least[level] = lowest
	}
	return least, regular
}

// expectedUse is what is in use on n with the pods nominated there.
func (a *answer) expectedUse(n *node) []int64 {
	used := slices.Clone(a.usedOn(n))
	for _, p := range a.expected(n) {
		a.add(used, p.Pod, 1)
	}
	return used
}

// lack is what is missing on n of each resource for m, beside the pods nominated there.
func (a *answer) lack(m *member, n *node) map[string]int64 {
	used, need := a.expectedUse(n), map[string]int64{}
	if slots, limited := n.Allocatable[cluster.Pods]; limited {
		need[cluster.Pods] = room.Short(used[len(a.asks)], 1, slots)
	}
	for i, name := range a.asks {
		need[name] = room.Short(used[i], m.Requests[name], n.Allocatable[name])
	}
	return need
}

// adds is what the eviction of pods of unit u frees on n, or adds to something else, at least.
func (a *numbers) adds(n *node, u *unit, pods []*pod, of proof.Kind, name string) (sum int64) {
	part := len(pods) < len(u.pods) || u.elastic
	level, byLevel := strings.CutPrefix(name, "pods of priority ")
	switch {
	case of == proof.Limit && part && strings.HasPrefix(name, "victims"):
		return 0
	case of == proof.Limit:
		return a.limits[name].of(u, pods)
	case (of == proof.Criterion || of == proof.Charges) && a.team != nil && !u.elastic && homeOf(u) != n.Name:
		return 0
	case of == proof.Criterion && name == "violations" && part:
		return 0
	case of == proof.Criterion && name == "violations":
		return int64(a.chargeOf(u, pods))
	case of == proof.Criterion && (a.free(u) || name == "units" && part):
		return 0
	case of == proof.Criterion && name == "units":
		return 1
	case of == proof.Criterion && name == "cost":
		return a.price(u, pods)
	}
	devices := a.devices.On(n.Node, n.running)[name]
	for _, p := range pods {
		switch {
		case of == proof.Resource && p.at != n:
		case of == proof.Resource && devices != nil:
			sum = devices.Add(sum, p.Pod)
		case of == proof.Resource && name == cluster.Pods, of == proof.Criterion && name == "pods",
			of == proof.Criterion && byLevel && strconv.Itoa(int(p.priority)) == level,
			(of == proof.Budget || of == proof.Charges) && slices.Contains(a.covering(p), a.budgets[name]):
			sum++
		case of == proof.Resource:
			sum = tariff.Add(sum, p.Requests[name])
		case of == proof.Criterion && name == "sum of priorities":
			sum += int64(p.priority) + 1<<31
		}
	}
	return sum
}

// room is how much victims may take of a budget or a limit.
func (a *numbers) room(of proof.Kind, name string) (room int64, hard, ok bool) {
	if of == proof.Limit {
		l, ok := a.limits[name]
		return l.room, true, ok
	}
	b, ok := a.budgets[name]
	if !ok {
		return 0, false, false
	}
	return b.Room(), a.o.HardBudgets.All || slices.Contains(a.o.HardBudgets.Names, name), true
}

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
