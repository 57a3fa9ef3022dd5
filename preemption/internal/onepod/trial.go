package onepod

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/victims"
)

// Trial is a [domain.NodeTrial] which units of many pods leave, and to which they return, at the cost of their pods on the
// node: the constraints have states of their own for when all of such a unit have left.
type Trial struct {
	domain.NodeTrial
	q      *ask.Question
	large  []victims.UnitID               // units of many pods; each has a bit
	of     []uint8                        // by pod: that bit, 0: none
	out    uint8                          // which of them have left
	states [1 << mostLarge][]domain.State // by which have; nil: not made yet
	back   []cluster.PodID                // of their pods on other nodes: who have returned by themselves
	at     []int32                        // by pod: where it stands among these
}

// Of mostLarge units of manyPods or more the constraints have such states; of others the pods leave one by one.
const (
	mostLarge = 4
	manyPods  = 64
)

// Ask makes t a trial of the lone pod of q, to whom nominees count.
func (t *Trial) Ask(q *ask.Question, nominees domain.Nominees) {
	*t = Trial{NodeTrial: t.NodeTrial, q: q}
	t.states[0] = q.States
	t.AskAgain(nominees)
}

// AskAgain makes t one to whom other nominees count. Nobody may be removed.
func (t *Trial) AskAgain(nominees domain.Nominees) {
	t.NodeTrial.Ask(t.q.Index, t.q.Members[0], t.q.States, nominees)
}

// Restore is that of the NodeTrial.
func (t *Trial) Restore() {
	t.NodeTrial.Restore()
	t.swap(0)
}

// Reset is that of the NodeTrial.
func (t *Trial) Reset(n cluster.NodeID) {
	t.Restore()
	t.NodeTrial.Reset(n)
}

// Settle is that of the NodeTrial.
func (t *Trial) Settle(n cluster.NodeID) {
	t.Restore()
	t.NodeTrial.Settle(n)
}

// RemoveUnit takes pods of unit u away, all of which are there.
func (t *Trial) RemoveUnit(u victims.UnitID, pods []cluster.PodID) {
	bit := t.bit(u, pods)
	if bit == 0 || t.out&bit > 0 {
		for _, p := range pods {
			t.Remove(p)
		}
		return
	}
	t.swap(t.out | bit)
	t.here(bit, t.NodeTrial.Remove)
}

// ReturnUnit puts pods of unit u back, all of which are away.
func (t *Trial) ReturnUnit(u victims.UnitID, pods []cluster.PodID) {
	bit := t.bit(u, pods)
	if t.out&bit == 0 {
		for _, p := range pods {
			t.Return(p)
		}
		return
	}
	t.here(bit, t.NodeTrial.Return)
	t.swap(t.out &^ bit)
}

// Remove is that of the NodeTrial.
func (t *Trial) Remove(p cluster.PodID) {
	if t.out == 0 || !t.elsewhere(p) {
		t.NodeTrial.Remove(p)
		return
	}
	last := len(t.back) - 1
	q := t.back[last]
	t.back[t.at[p]], t.at[q] = q, t.at[p]
	t.back = t.back[:last]
	t.move(p, true)
}

// Return is that of the NodeTrial.
func (t *Trial) Return(p cluster.PodID) {
	if t.out == 0 || !t.elsewhere(p) {
		t.NodeTrial.Return(p)
		return
	}
	t.at[p] = int32(len(t.back))
	t.back = append(t.back, p)
	t.move(p, false)
}

// bit is the bit of unit u if it is large and these are all of its pods; else 0.
func (t *Trial) bit(u victims.UnitID, pods []cluster.PodID) uint8 {
	if len(pods) < manyPods || len(t.q.States) == 0 || len(pods) < len(t.q.Units.Unit(u).Pods) {
		return 0
	}
	i := slices.Index(t.large, u)
	if i < 0 && len(t.large) == mostLarge {
		return 0
	}
	if i < 0 {
		i, t.large = len(t.large), append(t.large, u)
		if t.of == nil {
			t.of, t.at = make([]uint8, t.q.Index.NumPods()), make([]int32, t.q.Index.NumPods())
		}
		for _, p := range pods {
			t.of[p] = 1 << i
		}
	}
	return 1 << i
}

// Favor lets the first mostLarge units of list that are large, and go as a whole, move at once on this node, and returns them. Which
// they are depends on nothing else: neither on the nodes that were looked at before nor on who looked at them. Everybody is there
// afterwards if others have to make room for them.
func (t *Trial) Favor(list []victims.UnitID) (favored []victims.UnitID) {
	if len(t.q.States) == 0 {
		return nil
	}
	for _, u := range list {
		if unit := t.q.Units.Unit(u); len(favored) < mostLarge && len(unit.Pods) >= manyPods && !unit.Elastic {
			favored = append(favored, u)
		}
	}
	missing := slices.DeleteFunc(slices.Clone(favored), func(u victims.UnitID) bool { return slices.Contains(t.large, u) })
	if len(t.large)+len(missing) > mostLarge {
		t.Reset(t.Node())
		for _, u := range t.large {
			for _, p := range t.q.Units.Unit(u).Pods {
				t.of[p] = 0
			}
		}
		t.large, t.states = t.large[:0], [1 << mostLarge][]domain.State{t.q.States}
		missing = favored
	}
	for _, u := range missing {
		t.bit(u, t.q.Units.Unit(u).Pods)
	}
	return favored
}

// Seated is how many looks at seats of fractions of devices it took so far.
func (t *Trial) Seated() (looks int) {
	for i := range 1 << len(t.large) {
		looks += ask.Seated(t.states[i])
	}
	return looks
}

// Forget keeps nothing of the question.
func (t *Trial) Forget() { *t = Trial{NodeTrial: t.NodeTrial} }

// elsewhere reports whether pod p is of a large unit that has left, and of another node.
func (t *Trial) elsewhere(p cluster.PodID) bool {
	return t.of[p]&t.out > 0 && t.q.Index.NodeOf(p) != t.Node()
}

// here calls do with the pods of these large units on the node.
func (t *Trial) here(units uint8, do func(cluster.PodID)) {
	if n := t.Node(); units > 0 && n != cluster.NoNode {
		for _, p := range t.q.Index.PodsOn(n) {
			if t.of[p]&units > 0 {
				do(p)
			}
		}
	}
}

// move tells the constraints that pod p goes (or comes back).
func (t *Trial) move(p cluster.PodID, away bool) {
	n := t.q.Index.NodeOf(p)
	if n == cluster.NoNode {
		return
	}
	for _, s := range t.states[t.out] {
		if away {
			s.Remove(p, n)
		} else {
			s.Return(p, n)
		}
	}
}

// moveAll tells them so of some pods.
func (t *Trial) moveAll(pods []cluster.PodID, away bool) {
	for _, p := range pods {
		t.move(p, away)
	}
}

// swap goes on where these large units have left, but for their pods on the node, and those who have returned.
func (t *Trial) swap(out uint8) {
	if out == t.out {
		return
	}
	removed := t.Under(nil)
	t.moveAll(removed, false)
	t.moveAll(t.back, true)
	t.here(t.out, func(p cluster.PodID) { t.move(p, true) })
	if t.out = out; t.states[out] == nil {
		t.make()
	}
	t.Under(t.states[out])
	t.here(out, func(p cluster.PodID) { t.move(p, false) })
	t.back = slices.DeleteFunc(t.back, func(p cluster.PodID) bool { return t.of[p]&out == 0 })
	for i, p := range t.back {
		t.at[p] = int32(i)
	}
	t.moveAll(t.back, false)
	t.moveAll(removed, true)
}

// make makes the states in which all who are out have left.
func (t *Trial) make() {
	for _, s := range t.q.States {
		t.states[t.out] = append(t.states[t.out], s.Clone())
	}
	for i, u := range t.large {
		if t.out>>i&1 == 1 {
			t.moveAll(t.q.Units.Unit(u).Pods, true)
		}
	}
}
