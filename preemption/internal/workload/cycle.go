package workload

import (
	"cmp"
	"container/heap"
	"errors"
	"slices"

	"github.com/preempt-go/preempt/internal/problems"
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Head is a workload that takes part in a cycle, with what it takes if it is alone.
type Head struct {
	Preemptor cluster.Preemptor

	w       *cluster.Workload
	queue   quota.HolderID // NoHolder: of none that admits
	request []quota.ColumnAmount
	level   int
}

// LineUp finds heads and sorts them as if there were no shares. The error joins what is
// wrong with each of them, in an order that does not depend on theirs.
func (m *Model) LineUp(heads []cluster.Preemptor) ([]*Head, error) {
	var line []*Head
	var errs []error
	seen := map[Name]bool{}
	for _, p := range heads {
		h, err := m.headOf(p, seen)
		line, errs = append(line, &h), append(errs, err)
	}
	if err := inOrder(errs); err != nil {
		return nil, err
	}
	slices.SortFunc(line, func(a, b *Head) int {
		return cmp.Or(cmp.Compare(a.level, b.level), a.compare(b))
	})
	return line, nil
}

// inOrder joins errors, in order of their texts; nil if there is none.
func inOrder(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	slices.SortFunc(errs, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// headOf finds a head, which is not one of those seen.
func (m *Model) headOf(p cluster.Preemptor, seen map[Name]bool) (Head, error) {
	if p.Kind != cluster.KindWorkload {
		return Head{}, problems.Preemptor(p, "Kind", words.Quoted(string(p.Kind)), "Workload")
	}
	w, err := m.Find(p)
	if err != nil {
		return Head{}, err
	}
	ref := Name{w.Namespace, w.Name}
	if seen[ref] {
		return Head{}, problems.Workload(w, "Name", words.Quoted(w.Name), "a head once only")
	}
	seen[ref] = true
	return m.head(p, w)
}

// head looks what w takes if it is alone.
func (m *Model) head(p cluster.Preemptor, w *cluster.Workload) (Head, error) {
	h := Head{Preemptor: p, w: w, queue: quota.NoHolder}
	q, refused, err := m.QueueOf(w)
	if err != nil || refused != NotRefused {
		return h, err
	}
	h.queue = q
	a := m.assigner(w, q)
	defer m.Keep(a.Search)
	plan := a.assign(full(w))
	h.request, _ = plan.request()
	h.level = plan.Level
	return h, nil
}

// compare puts higher priority first, then age, then the name.
func (h *Head) compare(o *Head) int {
	return cmp.Or(
		cmp.Compare(int64(o.w.Priority)+int64(o.w.Boost), int64(h.w.Priority)+int64(h.w.Boost)),
		cmp.Compare(quota.Ordered(h.w), quota.Ordered(o.w)),
		cmp.Compare(h.w.Namespace, o.w.Namespace), cmp.Compare(h.w.Name, o.w.Name))
}

// Tournament tells which head of a line is next, one after the other: without shares the first, with them the one whose side would have the
// lowest share, cohort by cohort, of the first tree, in order of the names of the roots; heads of no queue come first. What it has compared
// it keeps as long as nobody's usage changes there.
type Tournament struct {
	rules  Rules
	tree   *quota.Tree
	line   []*Head            // who needs no comparing
	heads  [][]*Head          // by queue, the best first
	roots  []quota.HolderID   // in order of name
	under  []quota.HolderID   // the first of them, and all beneath it, what is beneath first; nil: it has not begun
	best   []*Head            // by holder
	sides  [][]quota.HolderID // by cohort: a heap of those beneath it that have a head
	at     []int              // by holder: its place there; -1: none
	key    []side             // by holder of these
	stale  []bool             // by holder: something has changed beneath it
	usage  *quota.Usage       // now
	before *quota.Usage       // when it was compared
}

// side is what decides between the heads that win beneath a cohort.
type side struct {
	borrows bool
	share   quota.Share
}

// Tournament is that of the heads of line, from which it takes them.
func (m *Model) Tournament(line []*Head) *Tournament {
	t := &Tournament{rules: m.Rules, tree: m.Tree, line: line}
	if !m.Rules.Fair {
		return t
	}
	n := m.Tree.NumHolders()
	t.line, t.heads, t.best, t.sides = nil, make([][]*Head, n), make([]*Head, n), make([][]quota.HolderID, n)
	t.at, t.key, t.stale, t.usage, t.before = slices.Repeat([]int{-1}, n), make([]side, n), make([]bool, n), m.Tree.NewUsage(), m.Tree.NewUsage()
	for _, h := range line {
		if h.queue == quota.NoHolder {
			t.line = append(t.line, h)
		} else {
			t.heads[h.queue] = append(t.heads[h.queue], h)
		}
	}
	for h := range quota.HolderID(n) {
		slices.SortFunc(t.heads[h], (*Head).compare)
		if m.Tree.Parent(h) == quota.NoHolder {
			t.roots = append(t.roots, h)
		}
	}
	slices.SortStableFunc(t.roots, func(a, b quota.HolderID) int { return cmp.Compare(m.Index.Name(a), m.Index.Name(b)) })
	return t
}

// Next is the head that is next, as things stand in m; nil: there is none left.
func (t *Tournament) Next(m *Model) *Head {
	if len(t.line) > 0 {
		h := t.line[0]
		t.line = t.line[1:]
		return h
	}
	for ; len(t.roots) > 0; t.roots, t.under = t.roots[1:], nil {
		if t.under == nil {
			t.enter(t.roots[0])
		}
		t.compare(m)
		if h := t.best[t.roots[0]]; h != nil {
			t.heads[h.queue], t.stale[h.queue] = t.heads[h.queue][1:], true
			return h
		}
	}
	return nil
}

// enter lists h and what is beneath it, about which nothing is known yet.
func (t *Tournament) enter(h quota.HolderID) {
	for _, below := range [2][]quota.HolderID{t.tree.Cohorts(h), t.tree.Queues(h)} {
		for _, child := range below {
			t.enter(child)
		}
	}
	t.under, t.stale[h] = append(t.under, h), true
}

// compare brings what is known up to date.
func (t *Tournament) compare(m *Model) {
	m.account(t.usage, &cluster.Workload{})
	for _, h := range t.under {
		if !t.stale[h] && t.usage.Same(t.before, h) {
			continue
		}
		t.stale[h], t.best[h] = false, nil
		switch sides := t.sides[h]; {
		case len(sides) > 0:
			t.best[h] = t.best[sides[0]]
		case len(t.heads[h]) > 0:
			t.best[h] = t.heads[h][0]
		}
		if p := t.tree.Parent(h); p != quota.NoHolder {
			t.stale[p] = true
			t.place(p, h)
		}
	}
	t.usage, t.before = t.before, t.usage
}

// place puts child, whose best head is known, where it belongs among the sides of cohort p.
func (t *Tournament) place(p, child quota.HolderID) {
	of, b := cohort{t, p}, t.best[child]
	switch at := t.at[child]; {
	case b == nil && at < 0:
		return
	case b == nil:
		heap.Remove(of, at)
		return
	}
	t.key[child].borrows = slices.ContainsFunc(b.request, func(c quota.ColumnAmount) bool { return t.usage.Borrows(b.queue, c.Column, c.Amount) })
	t.usage.Add(b.queue, b.request)
	t.key[child].share = t.usage.Share(child, t.rules.Precision)
	t.usage.Remove(b.queue, b.request)
	if at := t.at[child]; at >= 0 {
		heap.Fix(of, at)
	} else {
		heap.Push(of, child)
	}
}

// cohort is one whose sides are a heap: who does not borrow comes first, then the lowest share, then the best head.
type cohort struct {
	t *Tournament
	h quota.HolderID
}

func (c cohort) Len() int { return len(c.t.sides[c.h]) }

func (c cohort) Less(i, j int) bool {
	a, b := c.t.sides[c.h][i], c.t.sides[c.h][j]
	x, y := &c.t.key[a], &c.t.key[b]
	if x.borrows != y.borrows {
		return y.borrows
	}
	return cmp.Or(x.share.Compare(&y.share), c.t.best[a].compare(c.t.best[b])) < 0
}

func (c cohort) Swap(i, j int) {
	list := c.t.sides[c.h]
	list[i], list[j] = list[j], list[i]
	c.t.at[list[i]], c.t.at[list[j]] = i, j
}

func (c cohort) Push(x any) {
	child := x.(quota.HolderID)
	c.t.at[child] = len(c.t.sides[c.h])
	c.t.sides[c.h] = append(c.t.sides[c.h], child)
}

func (c cohort) Pop() any {
	list := c.t.sides[c.h]
	last := list[len(list)-1]
	c.t.sides[c.h], c.t.at[last] = list[:len(list)-1], -1
	return last
}
