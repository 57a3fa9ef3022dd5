package cluster

import (
	"slices"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster/internal/hashed"
)

// The methods of this file change an index in place, at the cost of what changes.
// They need exclusive use of it, and leave its forks alone. What they cannot do they
// refuse, and then nothing has changed: the caller compiles anew. An index that was
// changed answers as a new one of the same objects would, but for the numbers of pods
// and of nodes, some of which are holes.

// Fork returns an independent copy of ix, which shares with it whatever neither
// changes. O(1).
func (ix *Index) Fork() *Index {
	ix.groupsShared, ix.budgetsShared, ix.warningsShared, ix.groupHoles = true, true, true, slices.Clip(ix.groupHoles)
	f := *ix
	f.named = slices.Clone(ix.named)
	f.nodes, f.allocatable, f.free, f.nodeByName = ix.nodes.Fork(), ix.allocatable.Fork(), ix.free.Fork(), ix.nodeByName.Fork()
	f.strays = ix.strays.fork()
	f.pods, f.requests, f.podByName = ix.pods.Fork(), ix.requests.Fork(), ix.podByName.Fork()
	f.groups, f.devices, f.lazy, f.fresh = ix.groups.Fork(), ix.devices.fork(), ix.lazy.fork(), nil
	return &f
}

// MaySetPod reports whether [Index.SetPod] can put p, which is valid by itself, in place
// of pod old, which has its name, or with NoPod add it.
func (ix *Index) MaySetPod(p *Pod, old PodID) bool {
	ix.fresh = slices.Grow(ix.fresh[:0], len(ix.resources))[:len(ix.resources)]
	clear(ix.fresh)
	if !ix.request(ix.fresh, p.Requests) || ix.deep && p.Group != "" {
		return false
	}
	if old == NoPod && !amountsFit(ix.NumNodes(), ix.NumPods()+1, len(ix.resources)) {
		return false
	}
	if old != NoPod && !ix.mayLose(ix.Pod(old), p.Requests) {
		return false
	}
	var ps problems
	if ix.checkPod(&ps, p); len(ps) > 0 {
		return false
	}
	_, over := ix.overflow(ix.claimedBy(p, old), ix.fresh, old)
	return !over
}

// checkPod makes the checks of p that need its class.
func (ix *Index) checkPod(ps *problems, p *Pod) {
	if p.PreemptionPriority == nil && p.Guard == nil {
		return
	}
	e, _ := ix.classes.Resolve(p.spec())
	o := ps.object(KindPod, p.Namespace, p.Name)
	level(o, e.Priority, p.PreemptionPriority, p.Guard)
	ix.checkLead(o, e.Priority, p.PreemptionPriority, p.Guard)
}

// MayRemovePod reports whether [Index.RemovePod] can remove pod p.
func (ix *Index) MayRemovePod(p PodID) bool { return ix.mayLose(ix.Pod(p), nil) }

// mayLose reports whether pod p may go, or ask for what next names from now on:
// nobody else may depend on it, and each of its resources has to keep its column.
func (ix *Index) mayLose(p *Pod, next Resources) bool {
	if ix.deep && p.Group != "" {
		return false
	}
	for c, name := range ix.resources[1:] {
		if ix.named[c+1] > 1 {
			continue
		}
		if _, had := p.Requests[name]; had {
			if _, has := next[name]; !has {
				return false
			}
		}
	}
	return true
}

// SetPod puts p in place of pod id, or adds it, and returns its number.
// [Index.MaySetPod] has just said that it can.
func (ix *Index) SetPod(p *Pod, id PodID) PodID {
	if id == NoPod {
		id = ix.number()
		ix.podByName.Add(int(id), hashed.Name(p.Namespace, p.Name))
	}
	ix.replace(id, p)
	return id
}

// number returns the number of a pod that is to come: that of the last one that was
// removed, or else a new one.
func (ix *Index) number() PodID {
	row := podRow{pod: &removed, node: NoNode, group: NoGroup, late: true}
	ix.late++
	id := ix.hole
	if id == NoPod {
		ix.requests.Append()
		return PodID(ix.pods.Append(row))
	}
	ix.hole = PodID(ix.pods.At(int(id)).level)
	*ix.pods.Edit(int(id)) = row
	return id
}

// RemovePod removes pod p, whose number is a hole from then on. [Index.MayRemovePod]
// has just said that it can.
func (ix *Index) RemovePod(p PodID) {
	pod := ix.Pod(p)
	ix.podByName.Drop(int(p), hashed.Name(pod.Namespace, pod.Name))
	ix.fresh = append(ix.fresh[:0], make([]int64, len(ix.resources))...)
	ix.replace(p, &removed)
	row := ix.pods.Edit(int(p))
	if row.late {
		ix.late--
	}
	row.late, row.level = false, int32(ix.hole)
	ix.hole = p
}

// replace lets number id stand for p, which asks for ix.fresh.
func (ix *Index) replace(id PodID, p *Pod) {
	row := ix.pods.Edit(int(id))
	old, group := *row, ix.groupNamed(p)
	had, running := ix.QueueOf(id) != "", ix.numQueued(id)
	odd := ix.oddAround(&old, old.group, group)
	if row.pod, row.group = p, group; p.Node != old.pod.Node {
		row.node = ix.nodeNamed(p.Node)
	}
	row.started, row.begun, row.grouped = Nanos(p.Started), !p.Started.IsZero(), p.Group != ""
	row.runs, row.repels, row.leaves = p.Node != "", len(p.AntiAffinity) > 0, p.Terminating
	ix.resolve(nil, id)
	ix.rebook(id, old.pod, p, old.node, row.node)
	if old.node != row.node {
		ix.move(id, old.node, row.node, runners)
	}
	if from, to := old.nominated(ix), row.nominated(ix); from != to {
		ix.move(id, from, to, nominees)
	}
	ix.restray(id, &old, row)
	out, in := ix.devices.replace(ix, id, old.pod, old.node)
	if old.group != group {
		ix.leaveGroup(old.group, id)
		ix.joinGroup(group, id)
	}
	out, in = append(out, odd...), append(in, ix.oddAround(row, old.group, group)...)
	if len(out)+len(in) > 0 {
		ix.rewarn(out, in)
	}
	ix.waiting += row.numUnstarted() - old.numUnstarted()
	ix.guarded.add(-1, old.pod.Guard, old.pod.Evictions)
	ix.guarded.add(1, p.Guard, p.Evictions)
	ix.latest = latest(ix.latest, p.Cost, p.Evictions)
	if ix.queued += ix.numQueued(id) - running; had || p.Queue != "" || group != NoGroup {
		ix.requeue(id, had)
	}
	ix.replaceTokens(id, old.pod, p)
	ix.lazy.replace(id, old.pod, p)
}

// rebook books what pod p, now another one, asks for.
func (ix *Index) rebook(p PodID, old, now *Pod, from, to NodeID) {
	request := ix.requests.Edit(int(p))
	ix.count(old.Requests, request, -1)
	ix.count(now.Requests, ix.fresh, +1)
	if from != NoNode {
		free := ix.free.Edit(int(from))
		for c, v := range request {
			free[c] += v
		}
	}
	copy(request, ix.fresh)
	if to != NoNode {
		free := ix.free.Edit(int(to))
		for c, v := range request {
			free[c] -= v
		}
	}
}

func runners(row *nodeRow) *[]PodID  { return &row.pods }
func nominees(row *nodeRow) *[]PodID { return &row.nominees }

// move moves pod p from the list of one node to that of another.
func (ix *Index) move(p PodID, from, to NodeID, list func(*nodeRow) *[]PodID) {
	if from != NoNode {
		l := list(ix.nodes.Edit(int(from)))
		*l = without(*l, p)
	}
	if to != NoNode {
		l := list(ix.nodes.Edit(int(to)))
		*l = ix.with(*l, p)
	}
}

// without returns list without p. What it shares with list is not written to.
func without(list []PodID, p PodID) []PodID {
	if last := len(list) - 1; list[last] == p {
		return list[:last:last]
	}
	i := slices.Index(list, p)
	return append(append(make([]PodID, 0, len(list)-1), list[:i]...), list[i+1:]...)
}

// with returns a new list that has p too, in order of name.
func (ix *Index) with(list []PodID, p PodID) []PodID {
	i, _ := slices.BinarySearchFunc(list, p, ix.ComparePods)
	return append(append(append(make([]PodID, 0, len(list)+1), list[:i]...), p), list[i:]...)
}

func (ix *Index) leaveGroup(g GroupID, p PodID) {
	if g != NoGroup {
		group := ix.groups.Edit(int(g))
		group.Pods = without(group.Pods, p)
	}
}

func (ix *Index) joinGroup(g GroupID, p PodID) {
	if g != NoGroup {
		group := ix.groups.Edit(int(g))
		if n := len(group.Pods); ix.held != nil && n > 0 && ix.ComparePods(group.Pods[n-1], p) < 0 {
			group.Pods = append(group.Pods, p) // no fork has it
			return
		}
		group.Pods = ix.with(group.Pods, p)
	}
}

// oddAround lists what is odd about a pod that goes from a group to another one, and
// about both, as long as they differ.
func (ix *Index) oddAround(row *podRow, from, to GroupID) []Warning {
	list := ix.oddities(row)
	if from == to {
		return list
	}
	for _, g := range [...]GroupID{from, to} {
		if g != NoGroup {
			list = append(list, ix.missing(ix.groups.At(int(g)), nil)...)
		}
	}
	return list
}

// heldWarning is one that comes, or goes.
type heldWarning struct {
	Warning
	in bool
}

// AtOnce lets change make many changes, of which it is not warned before they are all made. Groups that pods join then
// had none when the first of these came.
func (ix *Index) AtOnce(change func()) {
	ix.held = new([]heldWarning)
	change()
	list := *ix.held
	ix.held = nil
	slices.SortStableFunc(list, func(a, b heldWarning) int { return a.Compare(b.Warning) })
	var out, in []Warning
	for from, end := 0, 0; from < len(list); from = end {
		w := list[from].Warning
		at, _ := slices.BinarySearchFunc(ix.warnings, w, Warning.Compare)
		number := 0 // of those of it that there are
		for ; at+number < len(ix.warnings) && ix.warnings[at+number] == w; number++ {
			out = append(out, w)
		}
		for end = from; end < len(list) && list[end].Warning == w; end++ {
			if list[end].in {
				number++
			} else {
				number = max(number-1, 0)
			}
		}
		in = append(in, slices.Repeat([]Warning{w}, number)...)
	}
	ix.rewarn(out, in)
}

// rewarn replaces warnings, each once. It may reorder out and in.
func (ix *Index) rewarn(out, in []Warning) {
	if slices.Equal(out, in) {
		return
	}
	if ix.held != nil {
		for i, w := range slices.Concat(out, in) {
			*ix.held = append(*ix.held, heldWarning{w, i >= len(out)})
		}
		return
	}
	sortWarnings(out)
	sortWarnings(in)
	if ix.warningsShared {
		ix.warnings, ix.warningsShared = slices.Clone(ix.warnings), false
	}
	list, to, from := ix.warnings, 0, 0
	for _, w := range out {
		i, found := slices.BinarySearchFunc(list[from:], w, Warning.Compare)
		if to < from {
			copy(list[to:], list[from:from+i])
		}
		if to, from = to+i, from+i; found {
			from++
		}
	}
	list = slices.Delete(list, to, from)
	end := len(list)
	list = append(list, in...)
	for more, w := range slices.Backward(in) { // the last one first: what stands behind moves once
		i, _ := slices.BinarySearchFunc(list[:end], w, Warning.Compare)
		copy(list[i+more+1:], list[i:end])
		list[i+more], end = w, i
	}
	if ix.warnings = list; len(list) == 0 {
		ix.warnings = nil // as in a new index
	}
}

// MaySetTime reports whether [Index.SetTime] can set the time: nothing that has happened
// may lie ahead of it that did not before.
func (ix *Index) MaySetTime(now time.Time) bool {
	return now.IsZero() || !ix.latest.After(now) || !ix.time.IsZero() && !now.Before(ix.time)
}

// SetTime sets the time. [Index.MaySetTime] has just said that it can.
func (ix *Index) SetTime(now time.Time) {
	before := ix.time
	ix.time, ix.now = now, Nanos(now)
	if before.IsZero() || !ix.latest.After(before) {
		return
	}
	var list []Warning // stays nil where there is none
	for _, w := range ix.warnings {
		if at, ok := w.ahead(); !ok || ix.isAhead(at) {
			list = append(list, w)
		}
	}
	ix.warnings = list
}

// SetDisruptions sets the earlier preemptions, which are not changed afterwards.
func (ix *Index) SetDisruptions(list []Disruption) { ix.disruptions = list }

// SetBudgets sets the budgets, each valid by itself and of its own name, and reports whether
// it could: more than are read may not ask for the same label. The numbers of budgets
// change. list is not kept.
func (ix *Index) SetBudgets(list []disruption.Budget) bool {
	list = slices.Clone(list)
	slices.SortFunc(list, disruption.Budget.Compare)
	set, _ := disruption.NewSet(list) // its selectors were checked before
	if _, _, crowd := set.Crowded(); crowd > mostBudgets {
		return false
	}
	ix.budgets, ix.budgetSet, ix.budgetsShared = list, set, false
	return true
}

// SetAllowed lets budget b be as next says, which differs in what it allows only.
func (ix *Index) SetAllowed(b BudgetID, next *disruption.Budget) {
	if ix.budgetsShared {
		ix.budgets, ix.budgetsShared = slices.Clone(ix.budgets), false
	}
	ix.budgets[b] = *next
	ix.budgetSet = ix.budgetSet.WithAllowed(b, next.Allowed)
}

// Budgets returns a new slice of the budgets, in order of BudgetID.
func (ix *Index) Budgets() []disruption.Budget { return slices.Clone(ix.budgets) }

// SetNamespace adds n or replaces the namespace of its name. O(k) for k namespaces.
func (ix *Index) SetNamespace(n *Namespace) {
	ix.RemoveNamespace(n.Name)
	ix.setNamespaces(append(slices.Clip(ix.source.Namespaces), *n))
}

// HasNamespace reports whether there is a namespace of that name.
func (ix *Index) HasNamespace(name string) bool {
	_, ok := ix.namespaces[name]
	return ok
}

// RemoveNamespace removes a namespace, if it is there. O(k) for k namespaces.
func (ix *Index) RemoveNamespace(name string) {
	if ix.HasNamespace(name) {
		ix.setNamespaces(slices.DeleteFunc(slices.Clone(ix.source.Namespaces), func(n Namespace) bool { return n.Name == name }))
	}
}

// setNamespaces sets the namespaces. Terms look at their labels when they are asked about.
func (ix *Index) setNamespaces(list []Namespace) {
	ix.source.Namespaces, ix.namespaces = list, make(map[string]map[string]string, len(list))
	for i := range list {
		ix.namespaces[list[i].Name] = list[i].Labels
	}
}

// Objects returns everything that the index stands for, in order of name where it
// is in order of anything. The slices of nodes, pods, groups and budgets are new ones.
func (ix *Index) Objects() Objects {
	o := ix.source
	o.Time, o.Disruptions, o.Budgets = ix.time, ix.disruptions, ix.Budgets()
	o.PodGroups, o.CompositePodGroups = ix.listGroups()
	o.Nodes, o.Pods = make([]*Node, 0, ix.CountNodes()), make([]*Pod, 0, ix.NumPods())
	for n := range ix.Nodes() {
		o.Nodes = append(o.Nodes, ix.Node(n))
	}
	for p := range ix.Pods() {
		o.Pods = append(o.Pods, ix.Pod(p))
	}
	return o
}
