package check

import (
	"errors"
	"fmt"

	"github.com/preempt-go/preempt/preemption/cluster"
)

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
