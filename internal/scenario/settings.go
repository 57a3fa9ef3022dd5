package scenario

import (
	"fmt"
	"strings"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// earlier reads a preemption of the past, named by its time.
func (s *Scenario) earlier(o object) (err error) {
	var d cluster.Disruption
	if d.Time, err = moment(o.name); err != nil {
		return err
	}
	err = o.set(map[string]func(string) error{
		"victims": into(&d.Victims, int64s),
		"pods":    into(&d.Pods, int64s),
		"cost":    into(&d.Cost, int64s),
	}, nil)
	s.Snapshot.Disruptions = append(s.Snapshot.Disruptions, d)
	return err
}

func (s *Scenario) now(o object) (err error) {
	s.Snapshot.Time, err = moment(o.name)
	s.Times = append(s.Times, s.Snapshot.Time)
	return err
}

func (s *Scenario) rules(o object) error {
	s.Rules = append(s.Rules, preemption.Rules(o.name))
	return o.set(nil, nil)
}

func (s *Scenario) sampling(o object) error {
	var sampling preemption.Sampling
	err := o.set(map[string]func(string) error{
		"percent": into(&sampling.Percent, int32s),
		"minimum": into(&sampling.Minimum, int32s),
		"offset":  into(&sampling.Offset, int32s),
	}, nil)
	s.Samplings = append(s.Samplings, sampling)
	return err
}

// options has setters for the options that are more than a value.
type options struct{ *preemption.Options }

// hard reads all, or the names of budgets.
func (o options) hard(value string) error {
	if value == "all" {
		o.HardBudgets.All = true
		return nil
	}
	for _, name := range strings.Split(value, ",") {
		namespace, rest := namespaced(name)
		o.HardBudgets.Names = append(o.HardBudgets.Names, namespace+"/"+rest)
	}
	return nil
}

// price reads the tariff: fixed:1,milestones:1,restart:2,pods:10,work.cpu:1/1000.
func (o options) price(value string) error {
	t := &o.Cost.Tariff
	for _, word := range strings.Split(value, ",") {
		what, amount, _ := strings.Cut(word, ":")
		amount, per, _ := strings.Cut(amount, "/")
		v, err := int64s(amount)
		if err != nil {
			return err
		}
		switch name, isWork := strings.CutPrefix(what, "work."); {
		case isWork:
			rate := disruption.Rate{Price: v}
			if per != "" {
				if rate.Per, err = int64s(per); err != nil {
					return err
				}
			}
			if t.Work == nil {
				t.Work = map[string]disruption.Rate{}
			}
			t.Work[name] = rate
		case what == "fixed":
			t.Fixed = v
		case what == "milestones":
			t.Milestones = v
		case what == "restart":
			t.Restart = v
		case what == "pods":
			t.Pods = v
		default:
			return fmt.Errorf("there is no price of %s", what)
		}
	}
	return nil
}

func (s *Scenario) options(o object) error {
	opts := options{&s.Options}
	return o.set(map[string]func(string) error{
		"strict":      into(&opts.Strict, yes),
		"members":     into(&opts.Members, text[preemption.Members]),
		"placement":   into(&opts.Placement, text[preemption.Placement]),
		"repeat":      into(&opts.RepeatReprieve, text[preemption.Switch]),
		"lowest":      into(&opts.LowestLevel, yes),
		"broken-free": into(&opts.BrokenGroupsFree, yes),
		"toleration":  into(&opts.Guards.Toleration, text[priority.TolerationRule]),
		"guaranteed":  into(&opts.Guards.GuaranteedSeconds, seconds),
		"equal-after": into(&opts.Guards.EqualAfterSeconds, seconds),
		"cooldown":    into(&opts.Guards.Cooldown, cooldown),
		"protect":     pointer(&opts.Guards.Protect, selector),
		"wait":        into(&opts.WaitSeconds, seconds),
		"no-cascade":  into(&opts.NoCascade, yes),
		"chain":       into(&opts.Chain, integer),
		"apart":       into(&opts.PreemptionPriority.Apart, yes),
		"max-lead":    into(&opts.PreemptionPriority.MaxLead, int32s),
		"hard":        opts.hard,
		"steps":       into(&opts.SearchSteps, integer),
		"max-victims": into(&opts.Limits.Victims, int64s),
		"max-pods":    into(&opts.Limits.Pods, int64s),
		"max-cost":    into(&opts.Limits.Cost, int64s),
		"only-moves":  into(&opts.Limits.OnlyMoves, yes),
		"window":      into(&opts.Limits.Window, window),
		"movable":     into(&opts.PreferMovable, yes),
		"price":       opts.price,
		"cost-at":     into(&opts.Cost.Criterion, integer),
		"cost-orders": into(&opts.Cost.Importance, yes),
		"cheapest":    into(&opts.Cost.Objective, yes),
	}, nil)
}
