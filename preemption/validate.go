package preemption

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/problems"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/victims"
)

// OptionError says which option cannot be followed.
type OptionError struct {
	Field, Value, Want string
}

// Error names the option, its value and what was expected.
func (e *OptionError) Error() string {
	return fmt.Sprintf("preemption: Options.%s: %s is not %s", e.Field, words.Short(e.Value), e.Want)
}

// optionProblems collects what cannot be followed.
type optionProblems []*OptionError

func (ps *optionProblems) bad(field, value, want string) {
	*ps = append(*ps, &OptionError{field, value, want})
}

// name complains about a value that is none of those that there are.
func (ps *optionProblems) name(field, value, want string) {
	ps.bad(field, words.Quoted(value), want)
}

// notNegative complains about a number below zero.
func (ps *optionProblems) notNegative(field string, value int64) {
	if value < 0 {
		ps.bad(field, fmt.Sprint(value), ">= 0")
	}
}

// validate checks o. The error joins an [*OptionError] for each problem, in order of
// the fields' names, and what is wrong with a selector.
func (o Options) validate() error {
	var ps optionProblems
	if _, ok := generations[o.Rules]; !ok && o.Rules != "" {
		ps.name("Rules", string(o.Rules), "Kubernetes137, Kubernetes136 or KEP5710Alpha")
	}
	switch o.Members {
	case "", MinCount, AllThatFit:
	default:
		ps.name("Members", string(o.Members), "MinCount, AllThatFit or empty")
	}
	switch o.RepeatReprieve {
	case "", On, Off:
	default:
		ps.name("RepeatReprieve", string(o.RepeatReprieve), "on, off or empty")
	}
	if !o.Prefer.Valid() {
		ps.name("Prefer", string(o.Prefer), "LeastAllocated, MostAllocated or empty")
	}
	switch o.Placement {
	case "", PlaceLeastDisruption, PlacePack, PlaceSpread:
	default:
		ps.name("Placement", string(o.Placement), "LeastDisruption, Pack, Spread or empty")
	}
	o.validateGuards(&ps)
	o.validateBounds(&ps)
	o.validateCost(&ps)
	if s := o.Sampling; s != nil {
		if s.Percent < 0 || s.Percent > 100 {
			ps.bad("Sampling.Percent", fmt.Sprint(s.Percent), "from 0 to 100")
		}
		ps.notNegative("Sampling.Minimum", int64(s.Minimum))
		if s.Percent == 0 && s.Minimum == 0 {
			ps.bad("Sampling.Minimum", "0", "> 0, as Sampling.Percent is 0")
		}
		ps.notNegative("Sampling.Offset", int64(s.Offset))
	}
	o.Quota.validate(&ps)
	o.Hooks.validate(&ps)
	slices.SortStableFunc(ps, func(a, b *OptionError) int { return cmp.Compare(a.Field, b.Field) })
	errs := make([]error, len(ps))
	for i, p := range ps {
		errs[i] = p
	}
	_, err := o.Guards.Protect.Compile()
	return errors.Join(problems.Join(errs), err)
}

// validateGuards checks the options that protect, delay and price evictions.
func (o Options) validateGuards(ps *optionProblems) {
	g := &o.Guards
	if !g.Toleration.Valid() {
		ps.name("Guards.Toleration", string(g.Toleration), "Design, Off or empty")
	}
	ps.notNegative("Guards.GuaranteedSeconds", g.GuaranteedSeconds)
	ps.notNegative("Guards.EqualAfterSeconds", g.EqualAfterSeconds)
	ps.notNegative("Guards.Cooldown.Evictions", int64(g.Cooldown.Evictions))
	ps.notNegative("Guards.Cooldown.Seconds", g.Cooldown.Seconds)
	ps.notNegative("PreemptionPriority.MaxLead", int64(o.PreemptionPriority.MaxLead))
	ps.notNegative("WaitSeconds", o.WaitSeconds)
	if c := g.Cooldown; (c.Evictions == 0) != (c.Seconds == 0) {
		ps.bad("Guards.Cooldown", fmt.Sprintf("%d evictions in %d seconds", c.Evictions, c.Seconds), "both >= 1, or both 0")
	}
	if !g.Protect.Valid() {
		ps.bad("Guards.Protect", "a selector that does not parse", "a label selector")
	}
}

// validateBounds checks the options that bound and price the final set of victims.
func (o Options) validateBounds(ps *optionProblems) {
	l, w := o.Limits, o.Limits.Window
	ps.notNegative("Limits.Victims", l.Victims)
	ps.notNegative("Limits.Pods", l.Pods)
	ps.notNegative("Limits.Cost", l.Cost)
	ps.notNegative("Limits.Window.Seconds", w.Seconds)
	ps.notNegative("Limits.Window.Victims", w.Victims)
	ps.notNegative("Limits.Window.Pods", w.Pods)
	ps.notNegative("Limits.Window.Cost", w.Cost)
	ps.notNegative("SearchSteps", int64(o.SearchSteps))
	if w.Seconds == 0 && w != (Window{}) {
		ps.bad("Limits.Window.Seconds", "0", ">= 1, as the window has limits")
	}
	for i, name := range o.HardBudgets.Names {
		if _, rest, ok := strings.Cut(name, "/"); !ok || rest == "" {
			ps.name(fmt.Sprintf("HardBudgets.Names[%d]", i), name, "namespace/name")
		}
	}
}

func (o Options) validateCost(ps *optionProblems) {
	c := o.Cost
	if err := c.Tariff.Validate(); err != nil {
		ps.bad("Cost.Tariff", err.Error(), "prices >= 0")
	}
	ps.notNegative("Cost.Criterion", int64(c.Criterion))
	if most := len(victims.Criteria) + 1; c.Criterion > most {
		ps.bad("Cost.Criterion", fmt.Sprint(c.Criterion), fmt.Sprintf("at most %d", most))
	}
	if c.Objective && c.Criterion > 1 {
		ps.bad("Cost.Criterion", fmt.Sprint(c.Criterion), "0 or 1, as the cost is the objective")
	}
	o.validateObjective(ps)
	counts := c.Objective || c.Criterion > 0 || slices.Contains(o.Objective, victims.CriterionCost)
	if !o.priced() && (counts || c.Importance || o.Limits.Cost > 0 || o.Limits.Window.Cost > 0) {
		ps.bad("Cost.Tariff", "empty", "set, as the cost is asked for")
	}
}

// mostChain is how many moves may follow from one another.
const mostChain = 4

// mostCriteria is how many criteria an Objective may have.
const mostCriteria = 64

// validateObjective checks what the least disruption is, and how it is looked for.
func (o Options) validateObjective(ps *optionProblems) {
	switch o.Search {
	case "", Greedy, Improved, Exact:
	default:
		ps.name("Search", string(o.Search), "Greedy, Improved, Exact or empty")
	}
	if ps.notNegative("Chain", int64(o.Chain)); o.Chain > mostChain {
		ps.bad("Chain", fmt.Sprint(o.Chain), fmt.Sprintf("at most %d", mostChain))
	}
	if o.Search == Greedy && o.Cost.Objective {
		ps.name("Search", string(o.Search), "Exact, Improved or empty, as the cost is the objective")
	}
	if len(o.Objective) > 0 && (o.Cost.Objective || o.Cost.Criterion > 0) {
		ps.bad("Objective", fmt.Sprint(o.Objective), "empty, as Cost says where the cost stands")
	}
	if n := len(o.Objective); n > mostCriteria {
		ps.bad("Objective", fmt.Sprintf("of %d criteria", n), fmt.Sprintf("of at most %d", mostCriteria))
		return
	}
	for i, c := range o.Objective {
		field, before := fmt.Sprintf("Objective[%d]", i), o.Objective[:i]
		key, domains := c.Label()
		switch {
		case domains && key == "":
			ps.name(field, string(c), "followed by a node label")
		case !domains && !slices.Contains(victims.AllCriteria, c):
			ps.name(field, string(c), fmt.Sprintf("one of %q, or %q and a node label", victims.AllCriteria, CriterionDomains))
		case slices.Contains(before, c):
			ps.name(field, string(c), "named once")
		case c == victims.CriterionStarted && !slices.Contains(before, victims.CriterionHighest):
			ps.name(field, string(c), fmt.Sprintf("behind %q, of whose victims it is", victims.CriterionHighest))
		}
	}
}

// validate complains about hooks that are set to nothing that can be called.
func (h *Hooks) validate(ps *optionProblems) {
	if h == nil {
		return
	}
	check := func(field string, hook any, want string) {
		v := reflect.ValueOf(hook)
		if (v.Kind() == reflect.Pointer || v.Kind() == reflect.Func) && v.IsNil() {
			ps.bad(field, fmt.Sprintf("a nil %T", hook), want)
		}
	}
	for i, c := range h.Constraints {
		field := fmt.Sprintf("Hooks.Constraints[%d]", i)
		if c == nil {
			ps.bad(field, "nil", "a constraint")
		}
		check(field, c, "a constraint")
		rule, is := c.(domain.Colocation)
		if p, pointed := c.(*domain.Colocation); pointed && p != nil {
			rule, is = *p, true
		}
		if is && (rule.Check == "" || rule.Allows == nil) {
			ps.bad(field, "a Colocation without Check or Allows", "both: a name, and a rule")
		}
	}
	const want = "nil, for the default, or something that can be called"
	check("Hooks.Placer", h.Placer, want)
	check("Hooks.Eligible", h.Eligible, want)
	check("Hooks.Order", h.Order, want)
	check("Hooks.Compare", h.Compare, want)
	check("Hooks.Cost", h.Cost, want)
	check("Hooks.Splitter", h.Splitter, want)
}
