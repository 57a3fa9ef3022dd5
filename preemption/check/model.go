package check

import (
	"errors"
	"fmt"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// The bounds of a model.
const (
	mostNodes     = 3
	mostWorkloads = 4
	mostPods      = 8 // of all workloads
)

// Policy answers questions; [preemption.Options] are one.
type Policy interface {
	// Preempt says whom p must evict in s. Equal questions get equal answers; neither
	// argument is changed.
	Preempt(p preemption.Preemptor, s *preemption.Snapshot) (*preemption.Result, error)
}

// Workload is a pod, or a group with its pods. All of them are pending at first;
// their nodes, times and evictions are the model's to set.
type Workload struct {
	Group *preemption.PodGroup `json:"group,omitempty"` // nil: Pods has one pod
	Pods  []preemption.Pod     `json:"pods"`            // of Group, whatever they say
}

// Model is a closed cluster to look for cycles in.
type Model struct {
	Nodes     []cluster.Node      `json:"nodes"`
	Workloads []Workload          `json:"workloads"`
	Classes   []priority.Class    `json:"priorityClasses,omitempty"`
	Budgets   []disruption.Budget `json:"budgets,omitempty"` // what they allow stays as it is

	// Policy decides. nil: preemption.Options{}.
	Policy Policy `json:"-"`

	// StepSeconds is by how much time goes by at once, HorizonSeconds how far back the
	// policy looks. 0: from the seconds that the model and its policy, if that is
	// [preemption.Options], name: their greatest common divisor, and the largest. With
	// none of them time plays no part. Seconds of more than a hundred years never pass.
	StepSeconds    int64 `json:"stepSeconds,omitempty"`
	HorizonSeconds int64 `json:"horizonSeconds,omitempty"`

	// MaxStates is how many situations are looked at. 0: 5,000, about a second.
	MaxStates int `json:"maxStates,omitempty"`

	// Progress is told now and then how many situations were looked at, and how many
	// are known to come. nil: nobody is told.
	Progress func(seen, ahead int) `json:"-"`
}

// Verdict says what a check came to.
type Verdict string

// The verdicts.
const (
	// Cycles: the report has a cycle.
	Cycles Verdict = "cycles"

	// NoCycle: every situation that can be reached was looked at, and no cycle is among
	// them.
	NoCycle Verdict = "no cycle"

	// NotExhausted: there is no cycle among the situations that MaxStates let it look
	// at; there may be one beyond.
	NotExhausted Verdict = "not exhausted"
)

// Report is what a check came to.
type Report struct {
	Verdict   Verdict
	States    int  // situations that were looked at
	Evictions int  // steps between them in which somebody is evicted
	Complete  bool // all situations that can be reached were looked at

	// Cycle is the shortest one, the eviction first; of equally short ones that which
	// was reached first. Where Complete is false there may be a shorter one. nil: none.
	Cycle []Event
}

// EventKind says what happens.
type EventKind string

// The kinds of events.
const (
	Place EventKind = "place" // a pending workload, or some of its pods, get places
	Evict EventKind = "evict" // a pending workload evicts others, which are resubmitted
	Wait  EventKind = "wait"  // time goes by
)

// Event is one step from a situation to the next.
type Event struct {
	Kind     EventKind
	Workload string            // who is placed or evicts: namespace/name of the pod or group
	Places   map[string]string // of Place and Evict: pod to node
	Victims  []string          // of Evict: pods
	Seconds  int64             // of Wait
}

// remembers says how many of its latest evictions a workload has to remember, and
// whether how long it ran matters.
func (m *Model) remembers() (evictions int, ran bool) {
	o, ok := m.policy().(preemption.Options)
	if !ok || o.Hooks != nil {
		return maxEvictions, true
	}
	if o.NoCascade || o.Guards.EqualAfterSeconds > 0 {
		evictions = 1
	}
	return max(evictions, int(o.Guards.Cooldown.Evictions)), o.Guards.EqualAfterSeconds > 0
}

// maxEvictions is how many evictions a workload remembers where it is not known how
// many a policy looks at.
const maxEvictions = 4

// forever is more seconds than ever pass in a model: a hundred years.
const forever = 100 * 365 * 24 * 60 * 60

// clock sets the step and the horizon that are not given.
func (m *Model) clock() (step, horizon int64) {
	step, horizon = m.StepSeconds, m.HorizonSeconds
	divisor, most := int64(0), int64(0)
	for _, s := range m.seconds() {
		if s > 0 && s <= forever {
			divisor, most = checked.GCD(divisor, s), max(most, s)
		}
	}
	if step == 0 {
		step = divisor
	}
	if horizon == 0 {
		horizon = most
	}
	if step > 0 { // a whole number of steps, at least one
		horizon = max((horizon+step-1)/step, 1) * step
	}
	return step, horizon
}

// seconds lists the times that matter.
func (m *Model) seconds() []int64 {
	var list []int64
	if o, ok := m.policy().(preemption.Options); ok {
		g := o.Guards
		list = append(list, g.GuaranteedSeconds, g.EqualAfterSeconds, g.Cooldown.Seconds, o.WaitSeconds, o.Limits.Window.Seconds)
	}
	guard := func(g *cluster.Guard, c *cluster.Cost) {
		if g != nil {
			for _, s := range []*int64{g.GuaranteedSeconds, g.WaitSeconds} {
				if s != nil {
					list = append(list, *s)
				}
			}
			for _, p := range g.Milestones {
				list = append(list, p.Seconds)
			}
		}
		if c != nil {
			for _, p := range c.Milestones {
				list = append(list, p.Seconds)
			}
		}
	}
	for _, w := range m.Workloads {
		if w.Group != nil {
			guard(w.Group.Guard, w.Group.Cost)
		}
		for _, p := range w.Pods {
			guard(p.Guard, p.Cost)
		}
	}
	classes, _ := priority.NewClasses(m.Classes) // what is wrong with them the policy says
	for _, c := range m.Classes {
		list = append(list, c.GuaranteedSeconds, c.WaitSeconds)
		if t, ok := classes.Toleration(c.Name); ok {
			list = append(list, t.Seconds)
		}
	}
	return list
}

func (m *Model) policy() Policy {
	if m.Policy == nil {
		return preemption.Options{}
	}
	return m.Policy
}

// epoch is when a model begins.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// validate refuses what is out of bounds, and what no snapshot may have: all of it, in
// [cluster.FieldError]s.
func (m *Model) validate() error {
	if m == nil {
		return &cluster.FieldError{Kind: "Model", Field: "Model", Value: "nil", Want: "a model"}
	}
	var errs []error
	pods := 0
	for i, w := range m.Workloads {
		pods += len(w.Pods)
		switch field := fmt.Sprintf("Workloads[%d].Pods", i); {
		case w.Group == nil && len(w.Pods) != 1:
			errs = append(errs, bad(field, len(w.Pods), "one pod, or a Group given"))
		case len(w.Pods) == 0:
			errs = append(errs, bad(field, 0, ">= 1"))
		}
	}
	for _, f := range []struct {
		field      string
		value, max int
	}{
		{"Nodes", len(m.Nodes), mostNodes}, {"Workloads", len(m.Workloads), mostWorkloads}, {"Pods", pods, mostPods},
	} {
		if f.value > f.max {
			errs = append(errs, bad(f.field, f.value, fmt.Sprintf("at most %d", f.max)))
		}
	}
	for _, f := range []struct {
		field string
		value int64
	}{{"StepSeconds", m.StepSeconds}, {"HorizonSeconds", m.HorizonSeconds}, {"MaxStates", int64(m.MaxStates)}} {
		if f.value < 0 || f.value > forever {
			errs = append(errs, bad(f.field, f.value, fmt.Sprintf(">= 0 and at most %d", int64(forever))))
		}
	}
	if len(errs) > 0 { // what follows reads a model within bounds
		return errors.Join(errs...)
	}
	if m.StepSeconds == 0 && m.HorizonSeconds > 0 {
		if step, _ := m.clock(); step == 0 {
			errs = append(errs, bad("StepSeconds", 0, ">= 1 where HorizonSeconds is, and no rule says by how much time goes by"))
		}
	}
	w := newWorld(m)
	_, err := cluster.NewIndex(w.snapshot(w.first()))
	return errors.Join(append(errs, err)...)
}

func bad[T int | int64](field string, value T, want string) error {
	return &cluster.FieldError{Kind: "Model", Field: field, Value: fmt.Sprint(value), Want: want}
}
