package verify

import (
	"cmp"
	"slices"
	"time"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/relation"
	"github.com/preempt-go/preempt/preemption/check/internal/suits"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// rules are what a generation says, by what a lone pod meets or a group does.
type rules struct {
	old   bool // Kubernetes136
	group bool // the preemptor is a group

	apart    bool // who may be evicted is a matter of preemption priority
	fewest   bool // room is made for as few members as are needed
	lowest   bool // the lowest sufficient level is looked for
	moves    bool // the gang may be placed anew while victims come back
	repeated bool // passes over the remaining victims are repeated
}

func rulesOf(o *preemption.Options, group bool) rules {
	r := rules{group: group, old: o.Rules == preemption.Kubernetes136}
	early := o.Rules == preemption.KEP5710Alpha // preemption priorities, the lowest level
	r.apart = early || o.PreemptionPriority.Apart
	r.fewest = cmp.Or(o.Members, map[bool]preemption.Members{true: preemption.MinCount, false: preemption.AllThatFit}[r.old]) == preemption.MinCount
	r.lowest = early || o.LowestLevel
	r.moves = group && r.old
	r.repeated = o.RepeatReprieve == preemption.On || o.RepeatReprieve == "" && group && !r.old
	return r
}

// atomic: pods beneath a group that goes whole are one unit.
func (r rules) atomic() bool { return !r.old || r.group }

// misfit is one check that a member fails on a node.
type misfit struct {
	check    domain.Check
	resource string // of CheckResource, and by how much it is short
	missing  int64
	never    bool // whoever goes
}

// admits is the first check of the node alone that p fails; empty if it passes all.
func (q *question) admits(n *cluster.Node, p *cluster.Pod) domain.Check {
	cordon := cluster.Taint{Key: cluster.TaintUnschedulable, Effect: cluster.NoSchedule}
	switch {
	case n.Unschedulable && !suits.Tolerates(p, cordon):
		return domain.CheckUnschedulable
	case p.RequiredNode != "" && p.RequiredNode != n.Name:
		return domain.CheckNodeName
	case !q.lists.Taints(p, n):
		return domain.CheckTaint
	case !q.lists.Node(p, n):
		return domain.CheckNodeAffinity
	case q.o.Hooks != nil && q.o.Hooks.Filter != nil && !q.filter(p, n):
		return domain.CheckFilter
	}
	return ""
}

// filter asks the user's filter about p on n.
func (q *question) filter(p *cluster.Pod, n *cluster.Node) bool {
	defer relation.Called("Filter")
	return q.o.Hooks.Filter(suits.Shown(p), n)
}

// refusal is the verdict of a preemptor that does not fit and may not preempt, with the reason; empty if it may. status is the first check that a
// lone pod fails on the node that it is nominated to.
func (q *question) refusal(status func(*node) misfit) (verdict preemption.Verdict, why string) {
	switch {
	case q.team != nil:
		if verdict, why = q.refuseGang(); verdict != "" {
			return verdict, why
		}
	case q.policy == priority.Never:
		return preemption.NotEligible, "its preemption policy is Never"
	case !q.rules.old && q.members[0].Group != "":
		return preemption.NotEligible, "its group preempts"
	}
	if why := q.patience(); why != "" {
		return preemption.NotEligible, why
	}
	if q.team != nil {
		return "", ""
	}
	if n := q.byNode[q.members[0].NominatedNode]; n != nil && !status(n).never && q.terminates(n) {
		return preemption.Waiting, "victims on its nominated node are still terminating"
	}
	return "", ""
}

func (q *question) refuseGang() (preemption.Verdict, string) {
	if q.rules.old {
		switch {
		case q.team.wishes():
			return preemption.NotEligible, "these rules preempt for no group with topology constraints"
		case slices.ContainsFunc(q.members, func(m *member) bool { return q.effective(m.Pod).Policy == priority.Never }):
			return preemption.NotEligible, "the preemption policy of a member is Never"
		}
		return "", ""
	}
	switch {
	case q.team.group.parent != nil:
		return preemption.NotEligible, "its composite group preempts"
	case slices.ContainsFunc(q.members, q.differs):
		return preemption.NotEligible, "a member differs from its group"
	case slices.ContainsFunc(q.members, func(m *member) bool { n := q.byNode[m.NominatedNode]; return n != nil && q.terminates(n) }):
		return preemption.Waiting, "victims on a nominated node are still terminating"
	case q.policy == priority.Never:
		return preemption.NotEligible, "its preemption policy is Never"
	}
	return "", ""
}

func (t *team) wishes() bool {
	return len(t.group.Topology) > 0 || slices.ContainsFunc(t.children, (*team).wishes)
}

// differs: a member says another priority or policy than its group. One that says nothing follows it.
func (q *question) differs(m *member) bool {
	e := q.effective(m.Pod)
	return (m.Priority != nil || m.Class != "") && e.Priority != q.priority ||
		(m.Pod.Policy != "" || m.Class != "") && e.Policy != q.policy
}

// terminates: a pod is leaving n that was preempted and may be evicted for q.
func (q *question) terminates(n *node) bool {
	return slices.ContainsFunc(n.pods(), func(p *pod) bool { return p.Terminating && p.Preempted && q.mayEvict(q.unitOf(p)) })
}

// patience says why the preemptor evicts nobody yet; empty if it does.
func (q *question) patience() string {
	if q.o.NoCascade && !q.evicted.IsZero() {
		return "it was evicted itself"
	}
	var created time.Time
	for _, m := range q.members {
		if !m.Created.IsZero() && (created.IsZero() || m.Created.Before(created)) {
			created = m.Created
		}
	}
	if ago, known := q.elapsed(created); known && ago < q.waits() {
		return "it waits before it preempts"
	}
	return ""
}

// waits is for how many seconds a preemptor waits: what its group or one above says, or its group's class, else the most that a member says.
func (q *question) waits() int64 {
	if q.team != nil {
		if s, ok := saidAbove(q.team.group); ok {
			return s
		}
		if c, _ := q.classes.Lookup(q.team.group.Class); c.WaitSeconds > 0 {
			return c.WaitSeconds
		}
	}
	longest := int64(0)
	for _, m := range q.members {
		longest = max(longest, q.podWaits(m.Pod))
	}
	return longest
}

func (q *question) podWaits(p *cluster.Pod) int64 {
	if p.Guard != nil && p.Guard.WaitSeconds != nil {
		return *p.Guard.WaitSeconds
	}
	class, g := p.Class, q.groups[groupKey{cluster.KindPodGroup, p.Namespace, p.Group}]
	if s, ok := saidAbove(g); ok {
		return s
	}
	for ; g != nil && class == ""; g = g.parent {
		class = g.Class
	}
	if c, _ := q.classes.Lookup(class); c.WaitSeconds > 0 {
		return c.WaitSeconds
	}
	return q.o.WaitSeconds
}

// saidAbove is what g, or the nearest group above, says about waiting.
func saidAbove(g *group) (seconds int64, ok bool) {
	for ; g != nil; g = g.parent {
		if g.Guard != nil && g.Guard.WaitSeconds != nil {
			return *g.Guard.WaitSeconds, true
		}
	}
	return 0, false
}
