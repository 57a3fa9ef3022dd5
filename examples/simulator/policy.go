package simulator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/victims"
)

// Policy is how a farm decides about evictions.
type Policy struct {
	Name    string             `json:"name"`
	Never   bool               `json:"never,omitempty"` // nobody is evicted, whatever the options
	Options preemption.Options `json:"options"`
}

// work prices the work that an eviction loses.
func work(measured string) disruption.Tariff {
	return disruption.Tariff{Work: map[string]disruption.Rate{measured: {Price: 1}}}
}

// BuiltIn are the policies that have a name: none evicts nobody; default and kubernetes136
// are those rules, and nothing else; guaranteed keeps whoever has run for less than ten
// minutes; work evicts whoever loses the least work, of the resource that the farm is
// measured by, and tie does so only among those of the lowest priority that will do.
func BuiltIn(measured string) []Policy {
	options := func(name string, o preemption.Options) Policy { return Policy{Name: name, Options: o} }
	return []Policy{
		{Name: "none", Never: true},
		options("default", preemption.Options{}),
		options("kubernetes136", preemption.Options{Rules: preemption.Kubernetes136}),
		options("guaranteed", preemption.Options{Guards: preemption.Guards{GuaranteedSeconds: 600}}),
		options("work", preemption.Options{Cost: preemption.CostOptions{Tariff: work(measured), Objective: true}}),
		options("tie", preemption.Options{Cost: preemption.CostOptions{Tariff: work(measured), Criterion: 3, Importance: true}}),
	}
}

// ReadPolicy is a built-in policy by its name, or NAME=OPTIONS with [preemption.Options] as
// JSON.
func ReadPolicy(text, measured string) (Policy, error) {
	name, options, own := strings.Cut(text, "=")
	if own {
		p := Policy{Name: name}
		in := json.NewDecoder(bytes.NewReader([]byte(options)))
		in.DisallowUnknownFields()
		err := in.Decode(&p.Options)
		switch {
		case err != nil:
		case name == "":
			err = errors.New("there is no name")
		case in.More():
			err = errors.New("there is more after them")
		default:
			_, err = preemption.NewPlanner(nil, p.Options)
		}
		if err != nil {
			return p, fmt.Errorf("simulator: policy %q: want NAME=OPTIONS, with options as JSON: %w", text, err)
		}
		return p, nil
	}
	var names []string
	for _, p := range BuiltIn(measured) {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Policy{}, fmt.Errorf("simulator: policy %q: want %s, or NAME=OPTIONS", text, strings.Join(names, ", "))
}

// reach is by how many levels of priority victims lie below who evicts them, at least; so
// many as there are, where nobody is evicted.
func (p *Policy) reach(levels int) int {
	switch {
	case p.Never:
		return levels + 1
	case p.Options.Guards.EqualAfterSeconds > 0:
		return 0
	}
	return 1
}

// pricesWork reports whether it matters when a job saved its progress.
func (p *Policy) pricesWork() bool { return len(p.Options.Cost.Tariff.Work) > 0 }

// remembers reports whether it matters if, and when, a job was evicted.
func (p *Policy) remembers() bool {
	g := &p.Options.Guards
	return p.Options.NoCascade || g.Cooldown != (victims.Cooldown{}) || g.EqualAfterSeconds > 0
}

// timed reports whether an answer may change only because time goes by.
func (p *Policy) timed() bool {
	g := &p.Options.Guards
	return !p.Never && (g.GuaranteedSeconds > 0 || g.EqualAfterSeconds > 0 || g.Cooldown != (victims.Cooldown{}) ||
		p.Options.WaitSeconds > 0 || p.Options.Limits != (preemption.Limits{}))
}
