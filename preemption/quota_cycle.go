package preemption

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/domain/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Cycle answers for several workloads at once, such as the heads of all queues,
// each with the earlier ones accounted. It orders them: without fair sharing those
// that borrow from less far up first, with it those whose share would be lowest
// (cohort by cohort, those that do not borrow before those that do), then higher
// priority, then age, then namespace and name; the levels and flavors that decide
// are those as if each were alone.
//
// The results are in that order, and those that [Planner.Preempt] and
// [Planner.Apply], one head after the other, would give: quota that an earlier head
// takes is taken, victims of an earlier head have left but for the room they still
// use (a head that fits only once they have gone is Waiting), and an earlier head
// without victims keeps what it reserves. The planner itself is not changed. Pods that hold
// quota count as workloads do, and may be victims. The error joins one for each head that
// cannot be read: one that is no pending workload of the planner, or is there twice.
//
// Source: Kueue v0.20, the scheduling cycle. Kueue keeps the victims that a later
// head has found alone where they are not also an earlier head's; here each head is
// planned with what the earlier ones leave.
func (pl *Planner) Cycle(heads []Preemptor) ([]*Result, error) {
	fork := pl.Fork()
	line, err := fork.lineUp(heads)
	if err != nil {
		return nil, err
	}
	results := make([]*Result, 0, len(heads))
	for len(line) > 0 {
		i, err := fork.nextHead(line)
		if err != nil {
			return nil, err
		}
		r, err := fork.Preempt(line[i].preemptor)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
		plan := r.Verdict == Feasible || r.Verdict == Fits || r.Verdict == Waiting
		if plan || r.Quota != nil && len(r.Quota.Reserved) > 0 {
			if err := fork.Apply(r); err != nil {
				return nil, fmt.Errorf("preemption: cycle: %w", err)
			}
		}
		line = slices.Delete(line, i, i+1)
	}
	return results, nil
}

// head is a workload that takes part in a cycle, with what it takes if it is alone.
type head struct {
	preemptor Preemptor
	w         *Workload
	queue     cluster.QuotaID // NoQuota: of none that admits
	request   []cluster.ColumnAmount
	level     int
}

// jobs calls f with everybody who holds quota, workloads and pods, as things are.
func (pl *Planner) jobs(f func(j *jobs) error) error {
	c, quota, err := pl.hold()
	if err != nil {
		return err
	}
	defer release(c, quota)
	j, err := c.queued.of(c, quota)
	if err != nil {
		return err
	}
	j.mu.RLock()
	defer j.mu.RUnlock()
	return f(j)
}

// lineUp finds the heads and sorts them as if there were no shares. The error joins what is
// wrong with each of them, in an order that does not depend on theirs.
func (pl *Planner) lineUp(heads []Preemptor) (line []head, err error) {
	err = pl.jobs(func(j *jobs) error {
		var errs []error
		seen := map[PodRef]bool{}
		for _, p := range heads {
			h, err := j.headOf(p, seen)
			line, errs = append(line, h), append(errs, err)
		}
		return inOrder(errs)
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(line, func(a, b head) int {
		return cmp.Or(cmp.Compare(a.level, b.level), a.compare(&b))
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
func (m *quotaModel) headOf(p Preemptor, seen map[PodRef]bool) (head, error) {
	if p.Kind != cluster.KindWorkload {
		return head{}, &cluster.FieldError{
			Kind: "Preemptor", Namespace: p.Namespace, Name: p.Name,
			Field: "Kind", Value: fmt.Sprintf("%q", p.Kind), Want: "Workload",
		}
	}
	w, err := m.findWorkload(p)
	if err != nil {
		return head{}, err
	}
	ref := PodRef{w.Namespace, w.Name}
	if seen[ref] {
		return head{}, workloadError(w, "Name", fmt.Sprintf("%q", w.Name), "a head once only")
	}
	seen[ref] = true
	return m.head(p, w)
}

// head looks what w takes if it is alone.
func (m *quotaModel) head(p Preemptor, w *Workload) (head, error) {
	h := head{preemptor: p, w: w, queue: cluster.NoQuota}
	q, refused, err := m.queueOf(w)
	if err != nil || refused != "" {
		return h, err
	}
	h.queue = q
	a := m.assigner(w, q)
	out := a.assign(a.full())
	h.request, _ = out.question()
	h.level = out.level
	return h, nil
}

// compare puts higher priority first, then age, then the name.
func (h *head) compare(o *head) int {
	return cmp.Or(
		cmp.Compare(int64(o.w.Priority)+int64(o.w.Boost), int64(h.w.Priority)+int64(h.w.Boost)),
		cmp.Compare(cluster.Ordered(h.w), cluster.Ordered(o.w)),
		cmp.Compare(h.w.Namespace, o.w.Namespace), cmp.Compare(h.w.Name, o.w.Name))
}

// nextHead is the position of the head that is next, as things stand.
func (pl *Planner) nextHead(line []head) (next int, err error) {
	if pl.options.Quota.FairSharing == nil {
		return 0, nil
	}
	err = pl.jobs(func(j *jobs) error {
		usage := j.usage.Clone()
		if j.live != nil {
			j.account(usage, &Workload{})
		}
		t := &headTournament{m: j.quotaModel, usage: usage, line: line, best: make([]int, j.tree.NumHolders())}
		next = t.winner()
		return nil
	})
	return next, err
}

// headTournament finds the head whose side would have the lowest share, cohort by
// cohort.
type headTournament struct {
	m     *quotaModel
	usage *quota.Usage
	line  []head
	best  []int // by holder: the head that wins there; -1: none
}

// winner is that of the first tree, in order of the names of the roots; heads of no
// queue come first.
func (t *headTournament) winner() int {
	for h := range t.best {
		t.best[h] = -1
	}
	for i := range t.line {
		h := &t.line[i]
		if h.queue == cluster.NoQuota {
			return i
		}
		if b := t.best[h.queue]; b < 0 || h.compare(&t.line[b]) < 0 {
			t.best[h.queue] = i
		}
	}
	first, name := -1, ""
	for h := range cluster.QuotaID(t.m.tree.NumHolders()) {
		if t.m.tree.Parent(h) != cluster.NoQuota {
			continue
		}
		if i := t.winnerOf(h); i >= 0 && (first < 0 || t.m.ix.Name(h) < name) {
			first, name = i, t.m.ix.Name(h)
		}
	}
	return first
}

// winnerOf is the head that wins below holder h, -1 if there is none.
func (t *headTournament) winnerOf(h cluster.QuotaID) int {
	for _, below := range [2][]cluster.QuotaID{t.m.tree.Cohorts(h), t.m.tree.Queues(h)} {
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
func (t *headTournament) beats(h cluster.QuotaID, a, b int) bool {
	x, y := &t.line[a], &t.line[b]
	if p, q := t.borrows(x), t.borrows(y); p != q {
		return q
	}
	s, o := t.shareWith(h, x), t.shareWith(h, y)
	return cmp.Or(s.Compare(&o), x.compare(y)) < 0
}

func (t *headTournament) borrows(h *head) bool {
	return slices.ContainsFunc(h.request, func(c cluster.ColumnAmount) bool { return t.usage.Borrows(h.queue, c.Column, c.Amount) })
}

// shareWith is the share of h's side of a cohort with h running.
func (t *headTournament) shareWith(cohort cluster.QuotaID, h *head) quota.Share {
	t.usage.Add(h.queue, h.request)
	defer t.usage.Remove(h.queue, h.request)
	return t.usage.Share(t.m.tree.Below(cohort, h.queue), t.m.precision())
}
