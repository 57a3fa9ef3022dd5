package preemption

import (
	"fmt"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/victims"
)

// generation is one generation of upstream rules as data: nothing else in this
// package asks which one is in force.
type generation struct {
	podUnits   victims.UnitRule // units when a single pod preempts
	podBudgets disruption.Rule

	// groupMembersWait: a pod that belongs to a group does not preempt by itself.
	groupMembersWait bool
}

var generations = map[Rules]generation{
	Kubernetes136: {
		podUnits:   victims.Pods136,
		podBudgets: disruption.PodRule136,
	},
	Kubernetes137: {
		podUnits:         victims.Units137,
		podBudgets:       disruption.Rule137,
		groupMembersWait: true,
	},
}

// generation returns the rules that o chooses.
func (o Options) generation() (generation, error) {
	rules := o.Rules
	if rules == "" {
		rules = Kubernetes137
	}
	g, ok := generations[rules]
	if !ok {
		return g, &OptionError{"Rules", fmt.Sprintf("%q", string(o.Rules)), "Kubernetes137 or Kubernetes136"}
	}
	return g, nil
}

// OptionError says which option cannot be followed.
type OptionError struct {
	Field, Value, Want string
}

// Error names the option, its value and what was expected.
func (e *OptionError) Error() string {
	return fmt.Sprintf("preemption: Options.%s: %s is not %s", e.Field, e.Value, e.Want)
}

// validate checks everything in o but the rules.
func (o Options) validate() error {
	s := o.Sampling
	switch {
	case s == nil:
	case s.Percent < 0 || s.Percent > 100:
		return &OptionError{"Sampling.Percent", fmt.Sprint(s.Percent), "from 0 to 100"}
	case s.Minimum < 0:
		return &OptionError{"Sampling.Minimum", fmt.Sprint(s.Minimum), ">= 0"}
	case s.Percent == 0 && s.Minimum == 0:
		return &OptionError{"Sampling.Minimum", "0", "> 0, as Sampling.Percent is 0"}
	case s.Offset < 0:
		return &OptionError{"Sampling.Offset", fmt.Sprint(s.Offset), ">= 0"}
	}
	return nil
}
