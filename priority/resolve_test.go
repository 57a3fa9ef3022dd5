package priority_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/priority"
)

// batch never preempts and is the default where withDefault says so.
func classes(t *testing.T, withDefault bool) *priority.Classes {
	t.Helper()
	set, err := priority.NewClasses([]priority.Class{
		{Name: "gold", Value: 1000},
		{Name: "patient", Value: 2000, Policy: priority.Never},
		{Name: "batch", Value: -10, Policy: priority.Never, GlobalDefault: withDefault},
	})
	require.NoError(t, err)
	return set
}

func TestResolve(t *testing.T) {
	const preempts, never = priority.PreemptLowerPriority, priority.Never
	for _, tt := range []struct {
		name      string
		noDefault bool
		spec      priority.Spec
		want      priority.Effective
		faults    []fault
	}{
		{name: "nothing said and no default class", noDefault: true, want: priority.Effective{Policy: preempts}},
		{name: "nothing said: value and policy of the default class", want: priority.Effective{Priority: -10, Policy: never}},
		{name: "a policy alone keeps the default class's value", spec: priority.Spec{Policy: preempts}, want: priority.Effective{Priority: -10, Policy: preempts}},
		{name: "a class", spec: priority.Spec{Class: "gold"}, want: priority.Effective{Priority: 1000, Policy: preempts}},
		{name: "a class that never preempts", spec: priority.Spec{Class: "patient"}, want: priority.Effective{Priority: 2000, Policy: never}},
		{name: "a system class that is not listed", spec: priority.Spec{Class: "system-node-critical"}, want: priority.Effective{Priority: 2_000_001_000, Policy: preempts}},
		{name: "an explicit priority wins over the class", spec: priority.Spec{Class: "patient", Priority: new(int32(7))}, want: priority.Effective{Priority: 7, Policy: never}},
		{name: "an explicit zero is a priority", spec: priority.Spec{Class: "gold", Priority: new(int32)}, want: priority.Effective{Priority: 0, Policy: preempts}},
		{name: "an explicit policy wins over the class", spec: priority.Spec{Class: "patient", Policy: preempts}, want: priority.Effective{Priority: 2000, Policy: preempts}},
		{name: "an explicit priority without a class takes nothing from the default class", spec: priority.Spec{Priority: new(int32(7))}, want: priority.Effective{Priority: 7, Policy: preempts}},
		{
			name: "an unknown class", spec: priority.Spec{Class: "silver"}, want: priority.Effective{Policy: preempts},
			faults: []fault{{"silver", "priorityClass", priority.ErrUnknownClass}},
		},
		{
			name: "an unknown class with an explicit priority and policy",
			spec: priority.Spec{Class: "silver", Priority: new(int32(7)), Policy: never}, want: priority.Effective{Priority: 7, Policy: never},
			faults: []fault{{"silver", "priorityClass", priority.ErrUnknownClass}},
		},
		{
			name: "an unknown policy counts as none", spec: priority.Spec{Class: "patient", Policy: "?"}, want: priority.Effective{Priority: 2000, Policy: never},
			faults: []fault{{"patient", "preemptionPolicy", priority.ErrPolicy}},
		},
		{
			name: "an unknown class and an unknown policy", spec: priority.Spec{Class: "silver", Policy: "?"}, want: priority.Effective{Policy: preempts},
			faults: []fault{{"silver", "preemptionPolicy", priority.ErrPolicy}, {"silver", "priorityClass", priority.ErrUnknownClass}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := classes(t, !tt.noDefault).Resolve(tt.spec)
			requireFaults(t, tt.faults, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestUnknownClassIsNamed(t *testing.T) {
	_, err := classes(t, false).Resolve(priority.Spec{Class: "silver"})
	require.EqualError(t, err, `priority: class "silver": priorityClass: "silver" is not a known class`)
}

// Resolve answers something usable whatever comes in, and what an object says of
// itself is never overruled.
func TestResolveNeverOverrulesTheObject(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set, _ := priority.NewClasses(drawClasses(t))
		spec := drawSpec(t)
		e, _ := set.Resolve(spec)
		if e.Policy != priority.Never && e.Policy != priority.PreemptLowerPriority {
			t.Fatalf("%+v: no policy in %+v", spec, e)
		}
		if spec.Priority != nil && e.Priority != *spec.Priority {
			t.Fatalf("%+v: priority is %d", spec, e.Priority)
		}
		if spec.Policy != "" && spec.Policy.Valid() && e.Policy != spec.Policy {
			t.Fatalf("%+v: policy is %s", spec, e.Policy)
		}
	})
}

func TestResolveAllocatesNothing(t *testing.T) {
	set := classes(t, true)
	var sum int32
	require.Zero(t, testing.AllocsPerRun(100, func() {
		e, _ := set.Resolve(priority.Spec{Class: "gold"})
		d, _ := set.Resolve(priority.Spec{})
		sum = e.Priority + d.Priority
	}))
	require.EqualValues(t, 990, sum)
}

func TestRaisedIsNeverBelowZero(t *testing.T) {
	require.Zero(t, priority.Raised(math.MinInt32))
	require.Equal(t, int64(1<<31), priority.Raised(0))
	require.Equal(t, int64(1<<32-1), priority.Raised(math.MaxInt32))
	require.Positive(t, math.MaxInt64-priority.Raised(math.MaxInt32)*(1<<31-1), "so many pods fit a sum")
}
