package cascade

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/preempt-go/preempt/internal/heaps"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/tell"
)

// Options are about a cascade.
type Options struct {
	// Depth is how many evictions may follow from one another before it is not asked any
	// more what becomes of whom: with 1, those who go for whom was asked about find a place
	// or wait, and whom they evict in turn is listed as NotAsked. 0: everybody is asked about, each
	// once, so that it comes to an end.
	Depth int

	// Questions is how many questions about those who were evicted are asked in all, the most important first; a group that is
	// asked about as a whole is one. Others are listed as NotAsked. 0: no bound.
	Questions int

	// Returns says of a pod that was evicted whether it waits for another place; the others are
	// gone. nil: those with an owner or a group are made anew.
	Returns func(p *preemption.Pod) bool

	// Look, if not nil, is called with each answer before it is carried out, which it must not change. nil: nobody looks, and no more is asked for than a plan.
	Look func(p preemption.Preemptor, r *preemption.Result)
}

// Status is what becomes of somebody.
type Status string

// The statuses.
const (
	Fits     Status = "fits"      // it gets a place, and nobody has to go
	Preempts Status = "preempts"  // it gets a place once others are evicted
	Waits    Status = "waits"     // it gets none
	Gone     Status = "gone"      // it was evicted, and nothing makes it anew
	NotAsked Status = "not asked" // it was evicted deeper than is asked about, not for the first time, or beyond so many questions
	Stays    Status = "stays"     // draining leaves it on its node
	Held     Status = "held"      // on a node that is drained, by budgets
)

// Outcome is what becomes of a pod or of a group.
type Outcome struct {
	Kind      cluster.Kind `json:"kind"`
	Namespace string       `json:"namespace,omitempty"`
	Name      string       `json:"name"` // empty for the pods of a [preemption.Gathering]
	Priority  int32        `json:"priority"`
	Pods      int          `json:"pods"` // that it is about; of a group those that wanted to run
	Status    Status       `json:"status"`
	Why       string       `json:"why,omitempty"` // of who fits nowhere or stays, a sentence

	Places  []preemption.Nomination `json:"places,omitempty"`
	Victims []preemption.Victim     `json:"victims,omitempty"` // evicted for it

	// Because is why it needs a place: empty for who was asked about, else [Drained] or
	// who evicted it.
	Because string `json:"because,omitempty"`

	// Depth is how many evictions it follows from: 0 for who was asked about.
	Depth int `json:"depth,omitempty"`
}

// Drained is the cause of who had to leave a node that is drained.
const Drained = "drained"

// Who names it: "pod web/shop-1", "PodGroup ml/train".
func (o *Outcome) Who() string { return who(o.Kind, o.Namespace, o.Name) }

func who(kind cluster.Kind, namespace, name string) string {
	if kind == cluster.KindPod {
		return "pod " + namespace + "/" + name
	}
	return string(kind) + " " + namespace + "/" + name
}

// Cascade asks and carries out. Not safe for concurrent use.
type Cascade struct {
	planner *preemption.Planner
	options Options
	budgets *budgets
	evicted []*evictee                       // a heap; some may be out of left
	left    map[preemption.PodRef][]*evictee // those who are to be asked about, in the order in which they were evicted
	turn    int                              // how many were evicted
	asked   map[string]bool                  // who was evicted and asked about already

	// Outcomes are in the order in which they came about.
	Outcomes []Outcome
}

// evictee is a pod that was evicted, or has to leave a node.
type evictee struct {
	pod      cluster.Pod
	priority int32
	because  string
	depth    int
	turn     int
}

// compare says who is asked about first: the more important.
func (h *evictee) compare(o *evictee) int {
	return cmp.Or(cmp.Compare(o.priority, h.priority), cmp.Compare(h.pod.Namespace, o.pod.Namespace), cmp.Compare(h.pod.Name, o.pod.Name),
		cmp.Compare(h.turn, o.turn))
}

func byImportance(a, b **evictee) int { return (*a).compare(*b) }

// New begins a cascade on a planner, which it changes: give it a fork to keep the planner
// as it is. A number below zero is a [*cluster.FieldError]; other errors are the planner's.
func New(planner *preemption.Planner, o Options) (*Cascade, error) {
	for i, v := range []int{o.Depth, o.Questions} {
		if v < 0 {
			return nil, &cluster.FieldError{Kind: "Options", Field: []string{"Depth", "Questions"}[i], Value: strconv.Itoa(v), Want: "at least 0"}
		}
	}
	if o.Returns == nil {
		o.Returns = func(p *preemption.Pod) bool { return p.Owner != nil || p.Group != "" }
	}
	b, err := newBudgets(planner)
	if err != nil {
		return nil, err
	}
	return &Cascade{planner: planner, options: o, budgets: b, left: map[preemption.PodRef][]*evictee{}, asked: map[string]bool{}}, nil
}

// Of tells what becomes of the victims of r once it is carried out. The planner stays as it is: it all
// happens in a fork. Where r is no plan any more the error matches
// [preemption.ErrNotApplicable].
func Of(planner *preemption.Planner, r *preemption.Result, o Options) (*Cascade, error) {
	c, err := New(planner.Fork(), o)
	if err != nil {
		return nil, err
	}
	if err := c.Add(r); err != nil {
		return nil, err
	}
	return c, c.Settle()
}

// Sum is how far a cascade went, in pods.
type Sum struct {
	Evicted  int `json:"evicted"`  // for others, some of them more than once
	Moved    int `json:"moved"`    // evicted, and found another place
	Waiting  int `json:"waiting"`  // evicted, and have none
	Gone     int `json:"gone"`     // evicted, and nothing makes them anew
	NotAsked int `json:"notAsked"` // evicted deeper than is asked about, again, or beyond so many questions
	Depth    int `json:"depth"`    // so many evictions followed from one another; 0: nobody had to go
}

// Sum sums up Outcomes.
func (c *Cascade) Sum() (s Sum) {
	for i := range c.Outcomes {
		o := &c.Outcomes[i]
		for _, v := range o.Victims {
			s.Evicted += len(v.Pods)
		}
		if s.Depth = max(s.Depth, o.Depth); o.Depth == 0 {
			continue
		}
		switch o.Status {
		case Gone:
			s.Gone += o.Pods
		case NotAsked:
			s.NotAsked += o.Pods
		default:
			s.Moved, s.Waiting = s.Moved+len(o.Places), s.Waiting+o.Pods-len(o.Places)
		}
	}
	return s
}

// Ask asks about a pending pod or group of the planner, and carries out the answer. [Cascade.Settle] then
// asks about whom that evicts.
func (c *Cascade) Ask(kind cluster.Kind, namespace, name string) error {
	return c.ask(preemption.Preemptor{Kind: kind, Namespace: namespace, Name: name}, "", 0)
}

func (c *Cascade) ask(p preemption.Preemptor, because string, depth int) error {
	ctx := context.Background()
	if c.options.Look == nil {
		ctx = tell.PlanOnly()
	}
	r, err := c.planner.PreemptContext(ctx, p)
	var odd *cluster.FieldError
	if because != "" && errors.As(err, &odd) { // it runs in spite of what is wrong with it, as long as it does
		o := Outcome{Kind: p.Kind, Namespace: p.Namespace, Name: p.Name, Status: Waits, Why: err.Error(), Because: because, Depth: depth}
		_, err = c.wanted(&o)
		c.Outcomes = append(c.Outcomes, o)
	}
	if err != nil || odd != nil {
		return err
	}
	if c.options.Look != nil {
		c.options.Look(p, r)
	}
	return c.add(r, because, depth)
}

// Add carries out an answer of the planner, or of one that it is a fork of, as Ask does.
func (c *Cascade) Add(r *preemption.Result) error { return c.add(r, "", 0) }

func (c *Cascade) add(r *preemption.Result, because string, depth int) error {
	switch {
	case r == nil:
		return fmt.Errorf("%w: it is nil", preemption.ErrNotApplicable)
	case r.Preemptor.Kind == cluster.KindWorkload:
		return &cluster.FieldError{
			Kind: string(r.Preemptor.Kind), Namespace: r.Preemptor.Namespace, Name: r.Preemptor.Name,
			Field: "Kind", Value: string(r.Preemptor.Kind), Want: "a pod or a group: a workload has no places",
		}
	}
	o := Outcome{
		Kind: r.Preemptor.Kind, Namespace: r.Preemptor.Namespace, Name: r.Preemptor.Name,
		Status: Waits, Why: r.Message, Because: because, Depth: depth,
	}
	switch r.Verdict {
	case preemption.Feasible:
		o.Status, o.Why = Preempts, ""
	case preemption.Fits:
		o.Status, o.Why = Fits, ""
	}
	if o.Status != Waits {
		if err := c.planner.Apply(r); err != nil {
			return err
		}
		o.Places, o.Victims = r.Nominations, r.Victims
	}
	wanted, err := c.wanted(&o)
	if err != nil {
		return err
	}
	c.Outcomes = append(c.Outcomes, o)
	if err := c.carryOut(&o); err != nil {
		return err
	}
	seated := map[preemption.PodRef]bool{}
	for _, n := range o.Places {
		seated[n.Pod] = because != ""
	}
	for i := range wanted {
		if seated[refOf(&wanted[i])] {
			if err := c.budgets.add(&wanted[i], 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// wanted lists the pods that wait and that o is about, and counts them in it.
func (c *Cascade) wanted(o *Outcome) (list []cluster.Pod, err error) {
	err = c.planner.View(func(v preemption.View) {
		add := func(p *cluster.Pod) {
			if p != nil && p.Node == "" {
				list = append(list, *p)
				o.Priority = v.Priority(refOf(p))
			}
		}
		if o.Name == "" {
			for _, n := range o.Places {
				add(v.Pod(n.Pod))
			}
			return
		}
		for p := range v.PodsOf(preemption.Preemptor{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}) {
			add(p)
		}
	})
	o.Pods = max(1, len(list))
	return list, err
}

// carryOut lets the victims leave and the preemptor run.
func (c *Cascade) carryOut(o *Outcome) error {
	for i := range o.Victims {
		for _, v := range o.Victims[i].Pods {
			if err := c.leave(v.PodRef, o.Who(), o.Depth+1); err != nil {
				return err
			}
		}
	}
	for _, n := range o.Places {
		if err := c.planner.Bind(n.Pod, n.Node); err != nil {
			return err
		}
	}
	return nil
}

// leave takes a pod from its node. What a controller made is made anew and needs a place;
// the rest is gone.
func (c *Cascade) leave(ref preemption.PodRef, because string, depth int) error {
	h := &evictee{because: because, depth: depth}
	if err := c.planner.View(func(v preemption.View) { h.pod, h.priority = *v.Pod(ref), v.Priority(ref) }); err != nil {
		return err
	}
	if err := c.budgets.add(&h.pod, -1); err != nil {
		return err
	}
	if !c.options.Returns(&h.pod) {
		c.note(h, Gone, "no controller makes it anew")
		return c.planner.Remove(ref)
	}
	c.turn++
	h.turn = c.turn
	c.evicted, c.left[ref] = heaps.Push(c.evicted, h, byImportance), append(c.left[ref], h)
	return c.planner.Requeue(ref)
}

// note notes what becomes of a pod that is not asked about.
func (c *Cascade) note(h *evictee, status Status, why string) {
	c.Outcomes = append(c.Outcomes, Outcome{
		Kind: cluster.KindPod, Namespace: h.pod.Namespace, Name: h.pod.Name, Priority: h.priority, Pods: 1,
		Status: status, Why: why, Because: h.because, Depth: h.depth,
	})
}

// Settle asks about all that were evicted, the most important first, and about whom that
// evicts, until nobody is left who is to be asked about.
func (c *Cascade) Settle() error {
	for len(c.evicted) > 0 {
		next := c.evicted[0]
		ref := refOf(&next.pod)
		if !slices.Contains(c.left[ref], next) { // it was asked about with others
			c.evicted = heaps.Pop(c.evicted, byImportance)
			continue
		}
		p, refs := preemption.Preemptor{Kind: cluster.KindPod, Namespace: ref.Namespace, Name: ref.Name}, []preemption.PodRef{ref}
		whole, err := c.needsGroup(&next.pod)
		if err == nil && whole {
			refs = refs[:0]
			err = c.planner.View(func(v preemption.View) {
				p = v.Whole(ref)
				for member := range v.PodsOf(p) {
					refs = append(refs, refOf(member))
				}
			})
		}
		if err != nil {
			return err
		}
		var all []*evictee
		for _, ref := range refs {
			all = append(all, c.left[ref]...)
			delete(c.left, ref)
		}
		slices.SortFunc(all, func(a, b *evictee) int { return cmp.Compare(a.turn, b.turn) })
		var again string
		key := who(p.Kind, p.Namespace, p.Name)
		switch {
		case c.asked[key]:
			again = "it was evicted and asked about before"
		case c.options.Depth > 0 && next.depth > c.options.Depth:
			again = "evictions are followed no further"
		case c.options.Questions > 0 && len(c.asked) >= c.options.Questions:
			again = "as many were asked about as may be"
		}
		if again != "" {
			for _, h := range all {
				c.note(h, NotAsked, again)
			}
			continue
		}
		c.asked[key] = true
		if err := c.ask(p, next.because, next.depth); err != nil {
			return err
		}
	}
	return nil
}

// needsGroup reports whether p is of no use by itself: too few of its group run, or, of a tree of
// groups, some group has fewer than it needs.
func (c *Cascade) needsGroup(p *cluster.Pod) (needs bool, err error) {
	err = c.planner.View(func(v preemption.View) {
		least := func(group string) int32 {
			if g := v.PodGroup(p.Namespace, group); g != nil && g.MinCount != nil {
				return *g.MinCount
			}
			return 1
		}
		whole := v.Whole(refOf(p))
		running, enough := map[string]int32{p.Group: 1}, least(p.Group)
		for other := range v.PodsOf(whole) {
			if whole.Kind != cluster.KindCompositePodGroup && running[p.Group] >= enough {
				break // nobody else has a say
			}
			running[other.Group] += 0
			if other.Node != "" && !other.Terminating {
				running[other.Group]++
			}
		}
		for name, n := range running {
			needs = needs || n < least(name)
		}
	})
	return needs, err
}

func refOf(p *cluster.Pod) preemption.PodRef {
	return preemption.PodRef{Namespace: p.Namespace, Name: p.Name}
}
