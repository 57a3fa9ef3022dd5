package verify

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/suits"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// question is a preemptor in a world.
type question struct {
	*world
	asked   *preemption.Preemptor
	members []*member // pending pods, in the order in which they are placed
	named   map[preemption.PodRef]*member
	team    *team                      // nil for a lone pod
	domains map[string][]*node         // see domainNamed
	ranking []preemption.CriterionName // see objective
	spent   *cluster.Disruption        // in the window; nil: not asked for yet

	together bool // the members are pods that are planned together; team is them, and in no group

	priority int32
	policy   priority.Policy
	ran      int64     // how long it ran before it was last evicted
	evicted  time.Time // when that was
}

// newQuestion finds the preemptor. The error says that it is not there.
func newQuestion(s *preemption.Snapshot, o *preemption.Options, p *preemption.Preemptor) (*question, error) {
	lone := p.Group == nil && (p.Name == "" || p.Kind == cluster.KindPod)
	q := &question{world: newWorld(s, o, !lone), asked: p, named: map[preemption.PodRef]*member{}}
	switch {
	case p.Group != nil:
		q.inlineGroup()
	case p.Name == "" && len(p.Pods) == 1:
		q.join(&p.Pods[0], nil)
	case lone:
		for _, i := range q.pending {
			if x := &q.Pods[i]; x.Namespace == p.Namespace && x.Name == p.Name {
				q.join(x, q.record(i))
			}
		}
	default:
		if g := q.groups[groupKey{p.Kind, p.Namespace, p.Name}]; g != nil {
			q.priority, q.policy = g.effective.Priority, g.effective.Policy
			q.team = q.newTeam(g)
		}
	}
	if len(q.members) == 0 {
		return nil, fmt.Errorf("the snapshot has no pending %s %s/%s", cmp.Or(p.Kind, cluster.KindPod), p.Namespace, p.Name)
	}
	if lone {
		e := q.effective(q.members[0].Pod)
		q.priority, q.policy = e.Priority, e.Policy
		if node, given := p.Placement[placedAs(q.members[0].Namespace, q.members[0].Name)]; given { // it may go nowhere else
			pinned := *q.members[0].Pod
			pinned.RequiredNode = node
			q.members[0].Pod = &pinned
		}
	} else if q.team.leaf {
		q.team.least = max(q.team.least, len(q.team.running)+1) // it asks for more than what runs
	}
	q.claim()
	return q, nil
}

// newTogether is the question about several pods that are planned together: as a group that
// needs one of them. The error says that one is not there.
func newTogether(s *preemption.Snapshot, o *preemption.Options, refs []preemption.PodRef) (*question, error) {
	q := &question{world: newWorld(s, o, false), asked: &preemption.Preemptor{Kind: cluster.KindPod}, named: map[preemption.PodRef]*member{}, together: true}
	waits := map[preemption.PodRef]*pod{}
	for _, i := range q.pending {
		waits[preemption.PodRef{Namespace: q.Pods[i].Namespace, Name: q.Pods[i].Name}] = q.record(i)
	}
	var pods []*pod
	for _, ref := range refs {
		if waits[ref] == nil {
			return nil, fmt.Errorf("the snapshot has no pending Pod %s/%s, or it is gathered twice", ref.Namespace, ref.Name)
		}
		pods = append(pods, waits[ref])
		delete(waits, ref)
	}
	slices.SortFunc(pods, func(a, b *pod) int { return q.placedFirst(a.Pod, b.Pod) })
	e := q.effective(pods[0].Pod)
	q.priority, q.policy = e.Priority, e.Policy
	g := newGroup(cluster.KindPodGroup, cluster.PodGroup{Namespace: pods[0].Namespace, Priority: &e.Priority, Policy: e.Policy})
	q.resolve(g)
	q.team = &team{group: g, leaf: true, least: 1, name: "the pods"}
	for _, p := range pods {
		q.team.pending = append(q.team.pending, q.join(p.Pod, p))
	}
	q.claim()
	return q, nil
}

// join makes a pod a member; self is that of the snapshot, nil for one given inline.
func (q *question) join(p *cluster.Pod, self *pod) *member {
	m := &member{Pod: p, number: len(q.members), self: self, priority: q.priorityOf(p), ports: suits.PortsOf(p)}
	q.members = append(q.members, m)
	q.named[preemption.PodRef{Namespace: p.Namespace, Name: p.Name}] = m
	if self != nil {
		self.member = true
	}
	return m
}

// inlineGroup takes a group and its pods from the question; pods of the snapshot that run in a group of that name are its own.
func (q *question) inlineGroup() {
	g := newGroup(cluster.KindPodGroup, *q.asked.Group)
	g.parent = q.above(g)
	q.resolve(g)
	q.priority, q.policy = g.effective.Priority, g.effective.Policy
	t := &team{group: g, leaf: true, least: 1, name: g.Namespace + "/" + g.Name}
	if g.MinCount != nil {
		t.least = int(*g.MinCount)
	}
	if known := q.groups[g.key()]; known != nil {
		t.known = known
		t.running = slices.DeleteFunc(slices.Clone(known.pods()), func(p *pod) bool { return p.Node == "" })
	}
	var pods []*cluster.Pod
	for i := range q.asked.Pods {
		pods = append(pods, &q.asked.Pods[i])
	}
	slices.SortFunc(pods, q.placedFirst)
	for _, p := range pods {
		t.pending = append(t.pending, q.join(p, nil))
	}
	q.team = t
}

func (q *question) placedFirst(a, b *cluster.Pod) int {
	return cmp.Or(
		cmp.Compare(q.priorityOf(b), q.priorityOf(a)),
		cmp.Compare(cluster.Nanos(a.Created), cluster.Nanos(b.Created)),
		cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// claim settles what the preemptor has behind it: a gang ran as long as the member that ran longest, and was evicted when the last of them was.
func (q *question) claim() {
	add := func(ran int64, evictions []time.Time) {
		q.ran = max(q.ran, ran)
		for _, t := range evictions {
			if t.After(q.evicted) {
				q.evicted = t
			}
		}
	}
	if q.team != nil {
		add(q.team.group.RanSeconds, q.team.group.Evictions)
	}
	for _, m := range q.members {
		add(m.RanSeconds, m.Evictions)
	}
}

// queued: the preemptor needs quota too.
func (q *question) queued() bool {
	if q.team != nil && q.team.group.Queue != "" {
		return true
	}
	if self := q.members[0].self; self != nil {
		return self.queue() != ""
	}
	return q.members[0].Queue != ""
}

// queue is the one of which p holds or wants quota: its group's, or else its own.
func (p *pod) queue() string {
	if p.group != nil && p.group.Queue != "" {
		return p.group.Queue
	}
	return p.Queue
}

// owns: u belongs to the preemptor itself.
func (q *question) owns(u *unit) bool {
	if q.team == nil || q.team.known == nil {
		return false
	}
	for g := u.pods[0].group; g != nil; g = g.parent {
		if g == q.team.known {
			return true
		}
	}
	return false
}

// placedAs is the name of a pod in a given placement.
func placedAs(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}
