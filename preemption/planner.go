package preemption

import (
	"errors"
	"slices"
	"sync"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Preempt answers the question with the default options. See [Options.Preempt].
func Preempt(p Preemptor, s *Snapshot) (*Result, error) { return Options{}.Preempt(p, s) }

// Preempt says whom preemptor p must evict in snapshot s, and where it goes.
//
// Neither argument is changed, and the result shares nothing with them. An error
// is for a question that cannot be read: it joins a [*cluster.FieldError] for each
// problem, or is an [*OptionError]. Equal questions get equal results, whatever the
// order of the slices in s.
//
// It compiles s for this one question; for several questions use a [Planner].
func (o Options) Preempt(p Preemptor, s *Snapshot) (*Result, error) {
	pl, err := NewPlanner(s, o)
	if err != nil {
		return nil, err
	}
	return pl.Preempt(p)
}

// Planner is a compiled snapshot: one preparation, many questions. It is safe for
// concurrent use.
type Planner struct {
	options Options
	rules   generation
	ix      *cluster.Index

	pods   sides // what a lone pod meets
	groups sides // what a group meets; the same where the rules are the same
	quota  *quotaModel
}

// sides are the units and budgets of one kind of preemptor, formed when first asked.
type sides struct {
	once    sync.Once
	units   *victims.Units
	budgets *victims.Budgets
}

func (s *sides) of(ix *cluster.Index, units victims.UnitRule, budgets disruption.Rule) (*victims.Units, *victims.Budgets) {
	s.once.Do(func() { s.units, s.budgets = victims.NewUnits(ix, units), victims.NewBudgets(ix, budgets) })
	return s.units, s.budgets
}

func (pl *Planner) podUnits() (*victims.Units, *victims.Budgets) {
	return pl.pods.of(pl.ix, pl.rules.podUnits, pl.rules.podBudgets)
}

func (pl *Planner) groupUnits() (*victims.Units, *victims.Budgets) {
	if pl.rules.podUnits == pl.rules.groupUnits && pl.rules.podBudgets == pl.rules.groupBudgets {
		return pl.podUnits()
	}
	return pl.groups.of(pl.ix, pl.rules.groupUnits, pl.rules.groupBudgets)
}

// NewPlanner checks s and compiles it for questions under options o. The planner
// keeps pointers into s, which must not be changed while the planner is in use.
//
// O(k log k) for k pods. Errors are those of [Options.Preempt].
func NewPlanner(s *Snapshot, o Options) (*Planner, error) {
	rules, err := o.generation()
	if err != nil {
		return nil, err
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	ix, err := cluster.NewIndex(s)
	quota, quotaErr := newQuotaModel(s, o.Quota)
	if err := errors.Join(err, quotaErr); err != nil {
		return nil, err
	}
	if o.Strict {
		if err := strict(slices.Concat(ix.Warnings(), quota.ix.Warnings())); err != nil {
			return nil, err
		}
	}
	if rules.refuseBasicAll {
		if err := refuseBasicAll(ix); err != nil {
			return nil, err
		}
	}
	pl := &Planner{options: o, rules: rules, ix: ix, quota: quota}
	pl.podUnits()
	return pl, nil
}

// refuseBasicAll complains about groups of mode All that are no gangs: KEP-5710's
// validation forbids them.
func refuseBasicAll(ix *cluster.Index) error {
	var errs []error
	for i := range ix.NumGroups() {
		g := ix.Group(cluster.GroupID(i))
		if g.PodGroup != nil && g.PodGroup.MinCount == nil && g.Mode == disruption.All {
			errs = append(errs, &cluster.FieldError{
				Kind: string(g.Kind), Namespace: g.Namespace, Name: g.Name,
				Field: "Mode", Value: string(g.Mode), Want: "Single: the group is basic",
			})
		}
	}
	return errors.Join(errs...)
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
	return errors.Join(errs...)
}

// Preempt answers one question. See [Options.Preempt].
func (pl *Planner) Preempt(p Preemptor) (*Result, error) {
	if p.Kind == cluster.KindWorkload {
		return pl.quota.preemptWorkload(p)
	}
	q, err := pl.newQuestion(p)
	if err != nil {
		return nil, err
	}
	if q.team != nil {
		return newGangSearch(q).run()
	}
	return newPodSearch(q).run(), nil
}

// constraints returns those that every question checks: the built-in ones, then
// the user's.
func (pl *Planner) constraints() []domain.Constraint {
	cs := builtinConstraints()
	if h := pl.options.Hooks; h != nil {
		cs = append(cs, h.Constraints...)
	}
	return cs
}
