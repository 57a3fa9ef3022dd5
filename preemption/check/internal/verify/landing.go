package verify

import (
	"slices"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/found"
	"github.com/preempt-go/preempt/preemption/check/internal/relation"
	"github.com/preempt-go/preempt/preemption/check/internal/room"
	"github.com/preempt-go/preempt/preemption/check/internal/suits"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// mostLanded are looks that cut no answer short, one choice half of those that are left; turns is how often as many are taken where not all
// victims move. A look reads manyPods, and what a pod names is looksAName.
const mostLanded, turns, manyPods, looksAName = 1 << 15, 32, 256, 4

// landing is a world of its own, in which the preemptor has its places and pods that move come to theirs one after the other.
type landing struct {
	*answer
	to      map[preemption.PodRef]string // where each goes
	victims map[preemption.PodRef]bool
	number  map[preemption.PodRef]int32 // of those who run, in the snapshot
	own     int32                       // of a member, in that of after
	after   *world
	free    room.Free // there
	asked   *preemption.Preemptor
	depth   map[*unit]int // how many moves its own follows from
	used    []int64       // of scenes, zero
}

// readMoves: where only moves are to make room, it is said of each pod of a victim where it goes and of each that moves
// for another, and each fits there by itself once those before it are there.
func (a *answer) readMoves() {
	if !a.o.Limits.OnlyMoves || a.r.Verdict != preemption.Feasible {
		if len(a.r.Moves) > 0 {
			a.Add(found.Bounds, "%d pods move, and nobody asked for it", len(a.r.Moves))
		}
		return
	}
	l := &landing{answer: a, to: map[preemption.PodRef]string{}, victims: map[preemption.PodRef]bool{}, depth: map[*unit]int{}}
	for _, m := range a.r.Moves {
		if l.to[m.Pod] != "" {
			a.About(found.Bounds, cluster.KindPod, m.Pod.Namespace, m.Pod.Name, "it moves twice")
			return
		}
		l.to[m.Pod] = m.Node
	}
	for i := range a.victims {
		v := &a.victims[i]
		for _, p := range v.pods {
			ref := preemption.PodRef{Namespace: p.Namespace, Name: p.Name}
			l.victims[ref] = true
			if l.depth[v.unit] = 0; l.to[ref] == "" {
				a.wrong(found.Bounds, v.Victim, "it is not said where its pod %s/%s moves", p.Namespace, p.Name)
				return
			}
		}
	}
	places := map[preemption.PodRef]string{}
	for _, n := range a.r.Nominations {
		places[n.Pod] = n.Node
	}
	l.begin(places)
	for i, m := range a.r.Moves {
		if text := l.land(i, m); text != "" {
			a.About(found.Bounds, cluster.KindPod, m.Pod.Namespace, m.Pod.Name, "it does not move to %s: %s", m.Node, text)
			return
		}
	}
}

// landsPlainly: with the lone pod at n the pods of out, which is in no order, find places one after the other, the most important first on the
// first node that takes it. Several, where some pod is nominated to a node, are not looked at, nor anybody once an answer may have been cut short.
func (a *answer) landsPlainly(out []*unit, n *node) (lands bool) {
	looks := looksAName * suits.Names(a.members[0].Pod)
	defer func() {
		if !lands { // and others are looked at, in every way
			looks = min(looks, mostLanded) * turns << min(len(a.evictable(n)), 8)
			for range a.o.Chain {
				looks = min(looks, mostLanded) * len(a.nodes)
			}
		}
		a.landed = min(a.landed+looks, 2*mostLanded)
	}()
	out = slices.SortedFunc(slices.Values(out), a.moreImportant)
	if a.plain == nil {
		a.plain = &landing{answer: a}
		a.plain.begin(nil)
	}
	l := a.plain
	var moves []int32
	for _, u := range out {
		for _, p := range u.pods {
			moves = append(moves, l.number[preemption.PodRef{Namespace: p.Namespace, Name: p.Name}])
			looks += looksAName*suits.Names(p.Pod) + l.after.index.Compared(p.Pod) + len(l.Pods)/manyPods
		}
	}
	if a.landed+2*looks > mostLanded || len(moves) > 1 && slices.ContainsFunc(a.scene.nodes, func(n node) bool { return len(n.nominees) > 0 }) {
		return false
	}
	for _, i := range append(moves, l.own) {
		defer l.put(i, nil)()
	}
	l.put(l.own, l.after.byNode[n.Name])
	for _, i := range moves {
		p, home := l.after.record(i), l.Pods[i].Node
		s := l.scene(p)
		at := slices.IndexFunc(l.after.nodes, func(n node) bool {
			looks++
			return n.Name != home && l.free.Has(n.number, p.Pod) && s.admits(n.Node, p.Pod) == "" && s.alone(&l.after.nodes[n.number]) == ""
		})
		if at < 0 || a.landed+2*looks > mostLanded {
			return false
		}
		l.put(i, &l.after.nodes[at])
	}
	return true
}

// begin makes the world in which the preemptor has its places and nobody who moves is anywhere.
func (l *landing) begin(places map[preemption.PodRef]string) {
	s := *l.Snapshot
	s.Pods, l.number = slices.Clone(s.Pods), map[preemption.PodRef]int32{}
	for i := range s.Pods {
		p, ref := &s.Pods[i], preemption.PodRef{Namespace: s.Pods[i].Namespace, Name: s.Pods[i].Name}
		if m := l.named[ref]; m != nil && m.self != nil {
			l.own = int32(i)
			suits.Bind(p, places[ref])
		} else if p.Node != "" {
			if l.number[ref] = int32(i); l.to[ref] != "" {
				suits.Bind(p, "")
			}
		}
	}
	for _, m := range l.members {
		if m.self == nil {
			p := *m.Pod
			suits.Bind(&p, places[preemption.PodRef{Namespace: p.Namespace, Name: p.Name}])
			l.own, s.Pods = int32(len(s.Pods)), append(s.Pods, p)
		}
	}
	l.after, l.asked = newWorld(&s, l.o, false), &preemption.Preemptor{Kind: cluster.KindPod}
	l.free, l.after.index = l.after.left(), relation.NewIndex(nil, s.Pods, l.after.standing)
}

// land lets the i-th move happen, and says why it can't; empty if it can.
func (l *landing) land(i int, m preemption.Nomination) string {
	n := l.after.byNode[m.Node]
	at, runs := l.number[m.Pod]
	switch {
	case n == nil:
		return "there is no such node"
	case !runs:
		return "it runs nowhere"
	case l.Pods[at].Node == m.Node:
		return "it comes from there"
	}
	if !l.victims[m.Pod] {
		if text := l.follows(i, l.record(at)); text != "" {
			return text
		}
	}
	text := l.scene(l.after.record(at)).alone(n)
	if text == "" {
		l.put(at, n)
	}
	return text
}

// put lets a pod of the snapshot run on n, nil: nowhere, until undo.
func (l *landing) put(i int32, n *node) (undo func()) {
	p := l.after.record(i)
	was, from, to := *p.Pod, p.at, ""
	if n != nil {
		to = n.Name
	}
	suits.Bind(p.Pod, to)
	l.book(i, p, n)
	return func() {
		*p.Pod = was
		l.book(i, p, from)
	}
}

// book notes that p, the i-th pod, runs on n.
func (l *landing) book(i int32, p *pod, n *node) {
	if at := p.at; at != nil {
		at.who, at.list, at.taken = slices.DeleteFunc(at.who, func(j int32) bool { return i == j }), nil, nil
		l.after.index.Move(p.Pod, at.Node, -1)
		l.free.Take(at.number, p.Pod, -1)
	}
	if p.at, l.after.at[i] = n, -1; n != nil {
		l.after.at[i], n.who, n.list, n.taken = int32(n.number), append(n.who, i), nil, nil
		l.after.repelling = l.after.repelling || len(p.AntiAffinity) > 0
		l.after.index.Move(p.Pod, n.Node, +1)
		l.free.Take(n.number, p.Pod, +1)
	}
}

// scene is one in which p asks by itself, and nobody counts yet; it is good until the next.
func (l *landing) scene(p *pod) *scene {
	s := newBareScene(asking(l.after, l.asked, p), l.used)
	l.used = s.used
	return s
}

// alone is a check that who asks fails on n beside the pods there; empty if it passes all. They count for this look.
func (s *scene) alone(n *node) string {
	for _, x := range n.pods() {
		s.add(s.usedOn(n), x.Pod, 1)
	}
	list := s.misfits(s.members[0], n)
	clear(s.usedOn(n))
	for _, p := range s.booked {
		p.holds = nil // the next scene asks for something else
	}
	if len(list) == 0 {
		return ""
	}
	return string(list[0].check) + " " + list[0].resource
}

// asking is p as a preemptor by itself.
func asking(w *world, asked *preemption.Preemptor, p *pod) *question {
	alone := *p.Pod
	alone.Node, alone.Priority, alone.Group = "", &p.priority, ""
	q := &question{world: w, asked: asked, named: map[preemption.PodRef]*member{}}
	q.join(&alone, nil)
	q.priority, q.policy = p.priority, w.effective(&alone).Policy
	q.claim()
	return q
}

// follows says why p, which is no victim, does not move for one of those who did before the i-th; empty if it does. It goes
// whole, with one of its pods from a node to which one has come that may evict it.
func (l *landing) follows(i int, p *pod) string {
	u := l.unitOf(p)
	for _, p := range u.pods {
		if l.to[preemption.PodRef{Namespace: p.Namespace, Name: p.Name}] == "" {
			return "its unit does not go whole"
		}
	}
	if l.owns(u) {
		return "it is the preemptor's"
	}
	if _, known := l.depth[u]; known {
		return ""
	}
	for _, m := range l.r.Moves[:i] {
		leads := func(p *pod) bool { return p.Node == m.Node }
		by := l.record(l.number[m.Pod])
		depth, known := l.depth[l.unitOf(by)]
		if !known || depth >= l.o.Chain || l.o.NoCascade || l.effective(by.Pod).Policy == priority.Never || !slices.ContainsFunc(u.pods, leads) {
			continue
		}
		if l.unitOf(by) != u && l.mayMove(by, u) {
			l.depth[u] = depth + 1
			return ""
		}
	}
	return "it moves for nobody who may move it"
}

// mayMove reports whether by may evict u.
func (l *landing) mayMove(by *pod, u *unit) bool {
	l.moves(by, 0) // which makes the world in which they ask
	o := l.movers
	q := asking(o.world, o.asked, o.podNamed(by.Namespace, by.Name, by.Node))
	first := o.podNamed(u.pods[0].Namespace, u.pods[0].Name, u.pods[0].Node)
	return q.mayEvict(q.unitOf(first))
}
