package problems

import (
	"errors"
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// most is how many complaints one error spells out; the rest is counted.
const most = 1000

// Join joins errors; nil if there are none.
func Join(errs []error) error {
	if rest := len(errs) - most; rest > 0 {
		errs = append(errs[:most:most], fmt.Errorf("%w: %d more problems", cluster.ErrInvalid, rest))
	}
	return errors.Join(errs...)
}

// Sorted joins complaints in order of what they are about; nil if there are none.
func Sorted(list []*cluster.FieldError) error {
	slices.SortFunc(list, (*cluster.FieldError).Compare)
	errs := make([]error, len(list))
	for i, e := range list {
		errs[i] = e
	}
	return Join(errs)
}

// Pod is a complaint about a field of pod. err is what the value met, nil if nothing.
func Pod(pod *cluster.Pod, field, value, want string, err error) error {
	return &cluster.FieldError{
		Kind: string(cluster.KindPod), Namespace: pod.Namespace, Name: pod.Name,
		Field: field, Value: value, Want: want, Err: err,
	}
}

// Workload is a complaint about a field of w.
func Workload(w *cluster.Workload, field, value, want string) error {
	return &cluster.FieldError{
		Kind: string(cluster.KindWorkload), Namespace: w.Namespace, Name: w.Name, Field: field, Value: value, Want: want,
	}
}

// Preemptor is a complaint about a field of p.
func Preemptor(p cluster.Preemptor, field, value, want string) error {
	return &cluster.FieldError{Kind: "Preemptor", Namespace: p.Namespace, Name: p.Name, Field: field, Value: value, Want: want}
}
