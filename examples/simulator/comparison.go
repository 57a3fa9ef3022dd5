package simulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Comparison is several policies on one farm, one after the other.
type Comparison struct {
	farm     *Farm
	settings Settings
	policies []Policy
	outcomes []*Outcome
	current  *Simulation // of the policy after those; nil: not begun
}

// Compare prepares the comparison of policies, which have names of their own.
func Compare(farm *Farm, settings Settings, policies []Policy) (*Comparison, error) {
	names := map[string]bool{}
	for _, p := range policies {
		if names[p.Name] {
			return nil, fmt.Errorf("simulator: two policies are called %q", p.Name)
		}
		names[p.Name] = true
	}
	if len(policies) == 0 {
		return nil, errors.New("simulator: no policies to compare")
	}
	return &Comparison{farm: farm, settings: settings, policies: policies}, nil
}

// Step goes on by a moment. It returns false when all policies are through.
func (c *Comparison) Step() (bool, error) {
	if len(c.outcomes) == len(c.policies) {
		return false, nil
	}
	if err := c.begin(); err != nil {
		return false, err
	}
	more, err := c.current.Step()
	if err != nil {
		return false, fmt.Errorf("policy %s: %w", c.current.policy.Name, err)
	}
	if !more {
		c.outcomes = append(c.outcomes, c.current.Outcome())
		c.current = nil
	}
	return true, nil
}

// begin lets there be a current simulation.
func (c *Comparison) begin() (err error) {
	if c.current == nil {
		c.current, err = New(c.farm, c.settings, c.policies[len(c.outcomes)])
	}
	return err
}

// Run goes to the end.
func (c *Comparison) Run() error {
	for {
		if more, err := c.Step(); !more || err != nil {
			return err
		}
	}
}

// Outcomes are those of the policies that are through.
func (c *Comparison) Outcomes() []*Outcome { return c.outcomes }

// Current is the simulation that is going on; nil between two of them.
func (c *Comparison) Current() *Simulation { return c.current }

// savedComparison is a comparison between two steps.
type savedComparison struct {
	Outcomes []*Outcome `json:"outcomes"`
	Current  *saved     `json:"current,omitempty"`
}

// Save writes how far the comparison is, as JSON.
func (c *Comparison) Save(w io.Writer) (err error) {
	v := savedComparison{Outcomes: c.outcomes}
	if c.current != nil {
		if v.Current, err = c.current.state(); err != nil {
			return err
		}
	}
	return json.NewEncoder(w).Encode(v)
}

// Resume goes on from what Save wrote about the same farm, settings and policies; the error
// for another one matches ErrOtherState. The outcomes are those of a run that was never
// interrupted.
func (c *Comparison) Resume(r io.Reader) error {
	var v savedComparison
	if err := json.NewDecoder(r).Decode(&v); err != nil {
		return fmt.Errorf("simulator: the state cannot be read: %w", err)
	}
	if len(v.Outcomes) > len(c.policies) || len(v.Outcomes) == len(c.policies) && v.Current != nil {
		return ErrOtherState
	}
	for i, o := range v.Outcomes {
		if o == nil || o.Policy.Name != c.policies[i].Name {
			return ErrOtherState
		}
	}
	c.outcomes, c.current = v.Outcomes, nil
	if v.Current == nil {
		return nil
	}
	if err := c.begin(); err != nil {
		return err
	}
	return c.current.resume(v.Current)
}
