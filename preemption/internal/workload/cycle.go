package workload

import (
	"cmp"
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

// Next is the position of the head of line that is next, as things stand.
func (m *Model) Next(line []*Head) int {
	if !m.Rules.Fair {
		return 0
	}
	usage := m.Tree.NewUsage()
	m.account(usage, &cluster.Workload{})
	t := &tournament{m: m, usage: usage, line: line, best: make([]int, m.Tree.NumHolders())}
	return t.winner()
}

// tournament finds the head whose side would have the lowest share, cohort by
// cohort.
type tournament struct {
	m     *Model
	usage *quota.Usage
	line  []*Head
	best  []int // by holder: the head that wins there; -1: none
}

// winner is that of the first tree, in order of the names of the roots; heads of no
// queue come first.
func (t *tournament) winner() int {
	for h := range t.best {
		t.best[h] = -1
	}
	for i := range t.line {
		h := t.line[i]
		if h.queue == quota.NoHolder {
			return i
		}
		if b := t.best[h.queue]; b < 0 || h.compare(t.line[b]) < 0 {
			t.best[h.queue] = i
		}
	}
	first, name := -1, ""
	for h := range quota.HolderID(t.m.Tree.NumHolders()) {
		if t.m.Tree.Parent(h) != quota.NoHolder {
			continue
		}
		if i := t.winnerOf(h); i >= 0 && (first < 0 || t.m.Index.Name(h) < name) {
			first, name = i, t.m.Index.Name(h)
		}
	}
	return first
}

// winnerOf is the head that wins below holder h, -1 if there is none.
func (t *tournament) winnerOf(h quota.HolderID) int {
	for _, below := range [2][]quota.HolderID{t.m.Tree.Cohorts(h), t.m.Tree.Queues(h)} {
		for _, child := range below {
			i := t.winnerOf(child)
			if i >= 0 && (t.best[h] < 0 || t.beats(h, i, t.best[h])) {
				t.best[h] = i
			}
		}
	}
	return t.best[h]
}

// beats reports whether head a goes before head b among those below cohort h.
func (t *tournament) beats(h quota.HolderID, a, b int) bool {
	x, y := t.line[a], t.line[b]
	if p, q := t.borrows(x), t.borrows(y); p != q {
		return q
	}
	s, o := t.shareWith(h, x), t.shareWith(h, y)
	return cmp.Or(s.Compare(&o), x.compare(y)) < 0
}

func (t *tournament) borrows(h *Head) bool {
	return slices.ContainsFunc(h.request, func(c quota.ColumnAmount) bool { return t.usage.Borrows(h.queue, c.Column, c.Amount) })
}

// shareWith is the share of h's side of a cohort with h running.
func (t *tournament) shareWith(cohort quota.HolderID, h *Head) quota.Share {
	t.usage.Add(h.queue, h.request)
	defer t.usage.Remove(h.queue, h.request)
	return t.usage.Share(t.m.Tree.Below(cohort, h.queue), t.m.Rules.Precision)
}
