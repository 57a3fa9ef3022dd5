package constrainttest

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// follow makes random changes to s, a clone of the start, checks the laws after
// each, and takes them all back.
func (k *checker) follow(s domain.State, steps int) {
	scope := s.Scope()
	k.same(LawClone, nil, k.answers(k.start), k.answers(s))
	var h history
	past := [][]domain.Reason{k.answers(s)}
	for range steps {
		c, ok := k.pick(h)
		if !ok {
			break
		}
		before := past[len(past)-1]
		ahead := s.Clone()
		c.apply(ahead)
		k.same(LawClone, h, before, k.answers(s))
		c.apply(s)
		h = append(h, c)
		now := k.answers(s)
		past = append(past, now)
		k.same(LawClone, h, now, k.answers(ahead))
		k.checkTouch(s, h, c, before, now)
		k.same(LawRepeat, h, now, k.answers(s))
		if s.Scope() != scope {
			k.report(LawScope, h, "%+v, want %+v", s.Scope(), scope)
		}
		k.checkScope(scope, h, c, before, now)
		k.checkHopeless(h, now)
		if k.rand.IntN(4) == 0 {
			k.checkUnresolvable(s, h, now)
			k.checkOrder(s, h, now)
			k.checkAnew(h, now)
		}
	}
	all := slices.Clone(h)
	for i := len(h) - 1; i >= 0; i-- {
		h[i].inverse().apply(s)
		all = append(all, h[i].inverse())
		k.same(LawUndo, all, past[i], k.answers(s))
	}
	k.same(LawClone, nil, past[0], k.answers(k.start))
}

func (k *checker) checkTouch(s domain.State, h history, c change, before, now []domain.Reason) {
	runs := c.member < 0 && k.ix.NodeOf(c.pod) == c.node
	if t, ok := s.(domain.Toucher); ok && runs && !(t.Touches(c.node) && t.TouchesPod(c.pod, c.node)) {
		k.same(LawTouches, h, before, now)
	}
}

func (k *checker) checkScope(scope domain.Scope, h history, c change, before, now []domain.Reason) {
	if scope.NodeLocal {
		k.sameBut(LawNodeLocal, h, before, now, func(_ domain.MemberID, n cluster.NodeID) bool { return n == c.node })
	}
	if of := scope.Topology(); of != nil {
		k.sameBut(LawNodeLocal, h, before, now, func(_ domain.MemberID, n cluster.NodeID) bool { return slices.Contains(of.Sharing(c.node), n) })
	}
	if !scope.Monotone || c.member >= 0 {
		return
	}
	more, fewer := before, now
	if c.comes {
		more, fewer = now, before
	}
	for i := range fewer {
		if more[i].OK() && !fewer[i].OK() {
			k.report(LawMonotone, h, "member %d on %s fits only with %s there", i/k.ix.NumNodes(),
				k.ix.Node(cluster.NodeID(i%k.ix.NumNodes())).Name, k.ix.Pod(c.pod).Name)
		}
	}
}

// checkHopeless compares with the bounds of the start, which hold for every
// history without nominated pods.
func (k *checker) checkHopeless(h history, now []domain.Reason) {
	b, ok := k.start.(domain.Bounder)
	if !ok || slices.ContainsFunc(h.net(), func(c change) bool { return c.member < 0 && c.comes }) {
		return
	}
	for i, r := range now {
		m, n := domain.MemberID(i/k.ix.NumNodes()), cluster.NodeID(i%k.ix.NumNodes())
		if why := b.Hopeless(m, n); r.OK() && !why.OK() {
			k.report(LawHopeless, h, "member %d fits on %s, which was said to be hopeless: %s", m, k.ix.Node(n).Name, verdict(why))
		}
	}
}

// checkUnresolvable evicts, pod by pod in random order, who is still on a node.
func (k *checker) checkUnresolvable(s domain.State, h history, now []domain.Reason) {
	for n := range cluster.NodeID(k.ix.NumNodes()) {
		var said []domain.MemberID
		for m := range k.members {
			if now[m*k.ix.NumNodes()+int(n)].Unresolvable {
				said = append(said, domain.MemberID(m))
			}
		}
		if len(said) == 0 {
			continue
		}
		what := s.Clone()
		evicted := slices.Clone(h)
		for _, i := range k.rand.Perm(len(k.ix.PodsOn(n))) {
			c := change{-1, k.ix.PodsOn(n)[i], n, false}
			if slices.Contains(evicted.net(), c) {
				continue
			}
			c.apply(what)
			evicted = append(evicted, c)
			for _, m := range said {
				if what.Fits(m, n).OK() {
					k.report(LawUnresolvable, evicted, "member %d fits on %s", m, k.ix.Node(n).Name)
				}
			}
		}
	}
}

// checkOrder reaches the same situation in another order, and undoes it in a third.
func (k *checker) checkOrder(s domain.State, h history, now []domain.Reason) {
	net := h.net()
	other := k.start.Clone()
	for _, i := range k.rand.Perm(len(net)) {
		net[i].apply(other)
	}
	k.same(LawOrder, h, now, k.answers(other))
	clone := s.Clone()
	for _, i := range k.rand.Perm(len(net)) {
		net[i].inverse().apply(clone)
	}
	k.same(LawOrder, h, k.answers(k.start), k.answers(clone))
	k.same(LawClone, h, now, k.answers(s))
}

// checkAnew prepares the constraint for the cluster as it stands after h. A member
// that is placed runs there; its own answers are not compared.
func (k *checker) checkAnew(h history, now []domain.Reason) {
	if k.options.FromStart {
		return
	}
	state, err := k.prepareAfter(h)
	if err != nil {
		k.report(LawAnew, h, "%v", err)
		return
	}
	placed := func(m domain.MemberID, _ cluster.NodeID) bool {
		return slices.ContainsFunc(h.net(), func(c change) bool { return c.member == m })
	}
	k.sameBut(LawAnew, h, k.answers(state), now, placed)
}

func (k *checker) prepareAfter(h history) (domain.State, error) {
	s := *k.snapshot
	net := h.net()
	s.Pods = nil
	for p := range cluster.PodID(k.ix.NumPods()) {
		pod := *k.ix.Pod(p)
		stays := true
		for _, c := range net {
			switch {
			case c.member >= 0 && int(c.member) == k.member(&pod):
				stays = false // it comes below
			case c.member >= 0 || c.pod != p:
			case c.comes:
				pod.Node = k.ix.Node(c.node).Name
			default:
				stays = false
			}
		}
		if stays {
			s.Pods = append(s.Pods, pod)
		}
	}
	for _, c := range net {
		if c.member >= 0 {
			pod := *k.members[c.member]
			pod.Node = k.ix.Node(c.node).Name
			s.Pods = append(s.Pods, pod)
		}
	}
	ix, err := cluster.NewIndex(&s)
	if err != nil {
		return nil, err
	}
	return k.constraint.Prepare(ix, k.members)
}

// checkSilence checks a constraint that had no say: with fewer pods it has none either.
func (k *checker) checkSilence() {
	for range max(k.options.Histories, 4) {
		var h history
		for p := range cluster.PodID(k.ix.NumPods()) {
			if n := k.ix.NodeOf(p); n != cluster.NoNode && k.rand.IntN(2) == 0 {
				h = append(h, change{-1, p, n, false})
			}
		}
		k.checkAnew(h, k.answers(nil))
	}
}
