package preemption

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/problems"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/preemption/internal/onepod"
	"github.com/preempt-go/preempt/preemption/internal/parked"
	"github.com/preempt-go/preempt/preemption/internal/workload"
	"github.com/preempt-go/preempt/victims"
)

// compiled is a cluster ready for questions under some options. It is safe for
// concurrent use; if it is live, changes need exclusive use of it (see live.go), else
// it never changes.
type compiled struct {
	options  Options
	rules    generation
	settings ask.Settings
	traits   ask.Traits // of the options, and of what the units do not tell
	ix       *cluster.Index

	live    bool         // it can follow changes
	use     sync.RWMutex // of a live one: held for reading by questions, for writing by the change that is made
	hard    []bool       // by budget; nil: none is hard
	unknown []string     // hard budgets that are not there
	limits  []ask.Bound
	spent   cluster.Disruption // of what limits bound for one preemption, by the earlier steps of this one

	pods   sides // what a lone pod meets
	groups sides // what a group meets; the same where the rules are the same
	quota  *workload.Model
	queued workload.Queued // the pods that hold of it

	probe bool // the answer does not tell what would help

	moved []cluster.NodeID // buffer of changes
	notes *parked.Changes  // of what changes, for questions that are parked; nil: there are none

	tools      *sync.Pool // of *onepod.Tools, for the units, columns and budgets as they are
	countTools *sync.Pool // of the buffers for counting, likewise
}

// compileSnapshot checks s and compiles it for questions under o.
func (o Options) compileSnapshot(s *Snapshot) (*compiled, error) {
	if s == nil {
		s = &Snapshot{}
	}
	quota, err := workload.New(s.QuotaObjects(), o.Quota.rules())
	c, err2 := o.compile(s.Objects(), quota)
	if err := errors.Join(err2, err); err != nil {
		return nil, err
	}
	return c, nil
}

// compile checks objects and compiles them for questions under o. quota may be nil
// if it could not be compiled.
func (o Options) compile(objects cluster.Objects, quota *workload.Model) (*compiled, error) {
	wrong := o.validate()
	ix, err := cluster.NewIndexOf(objects)
	if err := errors.Join(wrong, err); err != nil {
		return nil, err
	}
	rules := o.generation()
	if most := o.PreemptionPriority.MaxLead; most > 0 {
		wrong = ix.CheckLead(most)
	}
	if rules.refuseBasicAll {
		wrong = errors.Join(wrong, refuseBasicAlls(ix))
	}
	if wrong != nil {
		return nil, wrong
	}
	c := &compiled{options: o, rules: rules, settings: o.settings(&rules), ix: ix, quota: quota, limits: o.limits(ix, cluster.Disruption{}), tools: &sync.Pool{}, countTools: &sync.Pool{}}
	c.traits = c.settings.Traits()
	c.hard, c.unknown = o.hardBudgets(ix)
	if o.Strict && quota != nil {
		quota.Mu.RLock()
		ws := slices.Concat(c.warnings(), quota.Warnings())
		quota.Mu.RUnlock()
		if err := strict(ws); err != nil {
			return nil, err
		}
	}
	if quota != nil {
		c.queued.Find(ix)
	}
	return c, nil
}

// prepare makes c ready for many questions, and for changes as far as it can follow
// them. Without it units are formed for the kind of preemptor that is asked about.
func (c *compiled) prepare() (err error) {
	defer caught(&err)
	c.live = true
	c.podUnits()
	c.look()
	return nil
}

// look notes what questions read of the cluster as a whole.
func (c *compiled) look() {
	c.queued.Find(c.ix)
	c.traits &^= ask.TraitQueued | ask.TraitWaits
	c.traits.Set(ask.TraitQueued, c.ix.AnyQueued())
	c.traits.Set(ask.TraitWaits, c.settings.WaitSeconds > 0 || c.ix.Classes().AnyWaits())
}

// warnings lists what is odd in the snapshot, and in the options beside it.
func (c *compiled) warnings() []cluster.Warning {
	ws := append(slices.Clone(c.ix.Warnings()), c.ix.OddDisruptions()...)
	for _, name := range c.unknown {
		namespace, rest, _ := strings.Cut(name, "/")
		ws = append(ws, cluster.Warning{
			Kind: cluster.KindBudget, Namespace: namespace, Name: rest, Field: "HardBudgets",
			Value: name, Text: "no such budget: nothing is bounded by it",
		})
	}
	return ws
}

// preempt answers one question.
func (c *compiled) preempt(p Preemptor, a *asking) (*Result, error) {
	return c.preemptOn(p, c.quota, a)
}

// preemptOn is preempt with the quota as it is in m.
func (c *compiled) preemptOn(p Preemptor, m *workload.Model, a *asking) (*Result, error) {
	r, _, err := c.answer(p, m, a)
	return r, err
}

// answer is preemptOn, and says what the gang of a lone pod needs beside it.
func (c *compiled) answer(p Preemptor, m *workload.Model, a *asking) (_ *Result, needs int, err error) {
	defer caught(&err)
	m, err = c.queued.On(c.ix, m)
	if err != nil {
		return nil, 0, err
	}
	if p.Kind == cluster.KindWorkload {
		r, err := c.options.preemptWorkload(m, p)
		return r, 0, err
	}
	q, err := c.newQuestion(p, a)
	if err != nil {
		return nil, 0, err
	}
	r, err := q.search(m)
	return r, q.needs, err
}

// search is the whole road of a question, with the quota as it is in m.
func (q *question) search(m *workload.Model) (*Result, error) {
	if queue := q.queue(); queue != "" {
		if q.Effort != ask.Greedy {
			field, value, want := "Search", string(q.c.options.Search), "Greedy"
			if q.c.options.Search == "" {
				field, value, want = "Cost.Objective", "true", "false"
			}
			return nil, &OptionError{field, value, want + ", as the preemptor needs quota: its rules choose the victims"}
		}
		return newQueueSearch(q, m, queue).run()
	}
	if q.Tree != nil {
		s := q.countGang()
		r, err := s.run()
		s.Close()
		q.asking.passed(PhaseSearch)
		return r, err
	}
	s := q.searchPod()
	plan := s.Run()
	q.asking.passed(PhaseSearch)
	r := s.tell(plan)
	s.Close()
	return r, nil
}

// sides are the units, their columns and the budgets of one kind of preemptor, formed when first asked.
type sides struct {
	formed  atomic.Bool // everything is there
	mu      sync.Mutex  // held while something is formed
	units   *victims.Units
	budgets *victims.Budgets
	columns *columns.NodeColumns // nil: to be formed anew
	shapes  onepod.Shapes

	guards      *victims.Protections
	protections *victims.Protections // guards; nil as long as nobody is kept beyond what priorities say

	changed []victims.Shift // buffer of changes
}

func (s *sides) of(c *compiled, units victims.UnitRule, budgets disruption.Rule) *sides {
	if s.formed.Load() {
		return s
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.units == nil {
		formed := victims.NewPricedUnits(c.ix, units, c.options.worth()) // hooks may panic
		s.guards = victims.NewProtections(formed, c.options.Guards, c.base())
		s.units, s.budgets = formed, victims.NewBudgets(c.ix, budgets)
		if c.live {
			s.units.Follow(s.guards)
		}
		s.protect()
	}
	if s.columns == nil {
		s.columns = columns.NewNodeColumns(s.units, s.budgets)
	}
	s.formed.Store(true)
	return s
}

// protect lets questions heed guards as long as there are any.
func (s *sides) protect() {
	if s.protections = nil; s.guards.Any() {
		s.protections = s.guards
	}
}

// base is the rule of eligibility for preemptors without a queue.
func (c *compiled) base() victims.Eligible {
	base := c.options.eligible()
	if base == nil {
		base = victims.LowerPriority{EqualAfterSeconds: c.options.Guards.EqualAfterSeconds}
	}
	return victims.Unqueued{Base: base}
}

func (c *compiled) podUnits() *sides {
	return c.pods.of(c, c.rules.podUnits, c.rules.podBudgets)
}

func (c *compiled) groupUnits() *sides {
	if c.rules.podUnits == c.rules.groupUnits && c.rules.podBudgets == c.rules.groupBudgets {
		return c.podUnits()
	}
	return c.groups.of(c, c.rules.groupUnits, c.rules.groupBudgets)
}

// refuseBasicAlls complains about groups of mode All that are no gangs.
func refuseBasicAlls(ix *cluster.Index) error {
	var errs []error
	for i := range ix.NumGroups() {
		if err := refuseBasicAll(ix.Group(cluster.GroupID(i))); err != nil {
			errs = append(errs, err)
		}
	}
	return problems.Join(errs)
}

// refuseBasicAll complains if g is of mode All and no gang: KEP-5710's validation forbids it.
func refuseBasicAll(g *cluster.Group) error {
	if !basicAll(g) {
		return nil
	}
	return &cluster.FieldError{
		Kind: string(g.Kind), Namespace: g.Namespace, Name: g.Name,
		Field: "Mode", Value: string(g.Mode), Want: "Single: the group is basic",
	}
}

// strict turns warnings into errors.
func strict(ws []cluster.Warning) error {
	var errs []error
	for _, w := range ws {
		errs = append(errs, &cluster.FieldError{
			Kind: string(w.Kind), Namespace: w.Namespace, Name: w.Name,
			Field: w.Field, Value: w.Value, Want: "accepted under Strict (" + w.Text + ")",
		})
	}
	return problems.Join(errs)
}

// constraints returns those that every question of a lone pod or of a gang checks:
// the built-in ones, then the user's.
func (c *compiled) constraints(gang bool) []domain.Constraint {
	if gang {
		return c.rules.ofGang
	}
	return c.rules.ofPod
}
