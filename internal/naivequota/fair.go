package naivequota

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// fair is the state of a search under fair sharing.
type fair struct {
	*World
	q      *Question
	lists  map[*Node][]*Admitted // what each queue may still lose, in order
	pruned map[*Node]bool
}

// Fair is the search under fair sharing; strategies are "a" (P <= N) and "b" (P < O).
func (w *World) Fair(q *Question, strategies []string) []Target {
	f, strategies := w.fair(q, strategies)
	none := true
	for _, l := range f.lists {
		w.order(q, l)
		none = none && len(l) == 0
	}
	if none {
		return nil
	}
	w.Extra[q.Queue] = q.Request
	targets, found := f.run(strategies)
	delete(w.Extra, q.Queue)
	if !found {
		w.restore(targets)
		return nil
	}
	return w.fillBack(q, targets, true)
}

// fair begins a search.
func (w *World) fair(q *Question, strategies []string) (*fair, []string) {
	if len(strategies) == 0 {
		strategies = []string{"a", "b"}
	}
	f := &fair{World: w, q: q, lists: map[*Node][]*Admitted{}, pruned: map[*Node]bool{}}
	p := q.Queue.Queue.Preemption
	f.lists[q.Queue] = w.candidates(q.Queue, q, p.WithinClusterQueue)
	if q.Queue.Parent != nil {
		for _, n := range w.Queues {
			if n != q.Queue && n.Root() == q.Queue.Root() && !w.Within(n, q.Contested) {
				f.lists[n] = w.candidates(n, q, p.ReclaimWithinCohort)
			}
		}
	}
	return f, strategies
}

func (f *fair) run(strategies []string) (targets []Target, found bool) {
	w, q := f.World, f.q
	take := func(a *Admitted, reason string) bool {
		delete(w.In, a)
		targets = append(targets, Target{a, reason})
		delete(w.Extra, q.Queue)
		fits := w.Fits(q, true)
		w.Extra[q.Queue] = q.Request
		return fits
	}
	pop := func(n *Node) *Admitted {
		a := f.lists[n][0]
		f.lists[n] = f.lists[n][1:]
		return a
	}
	entitled := w.Within(q.Queue, q.Contested)
	retry := map[*Node][]*Admitted{}
	for n := f.next(); n != nil; n = f.next() {
		if n == q.Queue {
			if take(pop(n), "InClusterQueue") {
				return targets, true
			}
			continue
		}
		if entitled {
			if take(pop(n), "InCohortReclamation") {
				return targets, true
			}
			continue
		}
		mine, theirs := almost(q.Queue, n)
		p, o := w.ShareOf(mine), w.ShareOf(theirs)
		for len(f.lists[n]) > 0 {
			a := pop(n)
			delete(w.In, a)
			without := w.ShareOf(theirs)
			w.In[a] = true
			if passes(strategies[0], p, o, without) {
				if take(a, "InCohortFairSharing") {
					return targets, true
				}
				break
			}
			retry[n] = append(retry[n], a)
		}
	}
	if len(strategies) < 2 {
		return targets, false
	}
	f.lists, f.pruned = retry, map[*Node]bool{}
	for n := f.next(); n != nil; n = f.next() {
		mine, theirs := almost(q.Queue, n)
		a := pop(n)
		f.lists[n] = nil
		if w.ShareOf(mine).Compare(w.ShareOf(theirs)) < 0 && take(a, "InCohortFairSharing") {
			return targets, true
		}
	}
	return targets, false
}

func passes(strategy string, p, o, without Share) bool {
	return strategy == "a" && p.Compare(without) <= 0 || strategy == "b" && p.Compare(o) < 0
}

// LetsFair tells whether the rules under fair sharing let all of list go in some order, others perhaps among them, by a look at
// every order.
func (w *World) LetsFair(q *Question, list []*Admitted, strategies []string) bool {
	f, strategies := w.fair(q, strategies)
	all := slices.Concat(slices.Collect(maps.Values(f.lists))...)
	w.Extra[q.Queue] = q.Request
	defer delete(w.Extra, q.Queue)
	entitled := w.Within(q.Queue, q.Contested)
	late, seen := map[*Node]bool{}, map[string]bool{} // who gave in the second pass
	may := func(a *Admitted, second bool) bool {
		for n := a.Queue; !f.around(n); n = n.Parent {
			if !w.ShareOf(n).Borrows {
				return false
			}
		}
		if a.Queue == q.Queue || entitled {
			return !second
		}
		mine, theirs := almost(q.Queue, a.Queue)
		p, o := w.ShareOf(mine), w.ShareOf(theirs)
		if second {
			return !late[a.Queue] && passes("b", p, o, o)
		}
		delete(w.In, a)
		defer func() { w.In[a] = true }()
		return passes(strategies[0], p, o, w.ShareOf(theirs))
	}
	var try func(second bool) bool
	try = func(second bool) bool {
		key, done := fmt.Sprint(second, late), !slices.ContainsFunc(list, func(a *Admitted) bool { return w.In[a] })
		for _, a := range all {
			key += fmt.Sprint(w.In[a])
		}
		if done || seen[key] {
			return done
		}
		seen[key] = true
		for _, a := range all {
			if !w.In[a] || !may(a, second) {
				continue
			}
			delete(w.In, a)
			late[a.Queue] = second
			found := try(second)
			w.In[a] = true
			delete(late, a.Queue)
			if found {
				return true
			}
		}
		return !second && len(strategies) > 1 && try(true)
	}
	return try(false)
}

// almost returns the children of the lowest common cohort of a and b towards each.
func almost(a, b *Node) (x, y *Node) {
	above := map[*Node]*Node{} // cohort → child towards a
	for n := a; n.Parent != nil; n = n.Parent {
		above[n.Parent] = n
	}
	for y = b; above[y.Parent] == nil; y = y.Parent {
	}
	return above[y.Parent], y
}

// next is the queue that gives next.
func (f *fair) next() *Node {
	own := f.q.Queue
	if own.Parent == nil {
		if len(f.lists[own]) > 0 {
			return own
		}
		return nil
	}
	root := own.Root()
	for !f.pruned[root] {
		if n := f.descend(root); n != nil {
			return n
		}
	}
	return nil
}

func (f *fair) descend(at *Node) *Node {
	var queue, cohort *Node
	children := slices.Clone(at.Children)
	slices.SortFunc(children, func(a, b *Node) int { return strings.Compare(a.Name, b.Name) })
	for _, n := range children {
		if f.pruned[n] {
			continue
		}
		best := &cohort
		if n.Queue != nil {
			best = &queue
		}
		borrows := f.ShareOf(n).Borrows || f.around(n)
		if !borrows || n.Queue != nil && len(f.lists[n]) == 0 {
			f.pruned[n] = true
			continue
		}
		if *best == nil {
			*best = n
			continue
		}
		c := f.ShareOf(n).Compare(f.ShareOf(*best))
		x, y := f.head(n), f.head(*best)
		if c > 0 || c == 0 && x != nil && (y == nil || f.compare(f.q, x, y, false) < 0) {
			*best = n
		}
	}
	switch {
	case queue == nil && cohort == nil:
		f.pruned[at] = true
		return nil
	case cohort != nil && (queue == nil || f.ShareOf(cohort).Compare(f.ShareOf(queue)) >= 0):
		return f.descend(cohort)
	}
	return queue
}

// around tells whether n is the preemptor's queue or a cohort around it.
func (f *fair) around(n *Node) bool {
	for a := f.q.Queue; a != nil; a = a.Parent {
		if a == n {
			return true
		}
	}
	return false
}

// head is what n, or one of the queues below it that still take part, loses first.
func (f *fair) head(n *Node) *Admitted {
	if n.Queue != nil {
		if len(f.lists[n]) == 0 {
			return nil
		}
		return f.lists[n][0]
	}
	var first *Admitted
	for _, c := range n.Children {
		if f.pruned[c] {
			continue
		}
		if a := f.head(c); a != nil && (first == nil || f.compare(f.q, a, first, false) < 0) {
			first = a
		}
	}
	return first
}
