package priority_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/priority"
)

// fault is what a test says about one expected error.
type fault struct {
	class, field string
	err          error
}

// requireFaults requires err to join exactly the faults, in order.
func requireFaults(t *testing.T, want []fault, err error) {
	t.Helper()
	if len(want) == 0 {
		require.NoError(t, err)
		return
	}
	var joined interface{ Unwrap() []error }
	require.ErrorAs(t, err, &joined)
	require.Len(t, joined.Unwrap(), len(want), "%v", err)
	for i, e := range joined.Unwrap() {
		var at *priority.FieldError
		require.ErrorAs(t, e, &at)
		require.Equal(t, want[i].class, at.Class, "%v", e)
		require.Equal(t, want[i].field, at.Field, "%v", e)
		require.ErrorIs(t, e, want[i].err)
	}
}

func TestNewClasses(t *testing.T) {
	for _, tt := range []struct {
		name    string
		classes []priority.Class
		want    []fault
	}{
		{name: "no classes at all"},
		{name: "a negative value", classes: []priority.Class{{Name: "low", Value: -1 << 31}}},
		{name: "the highest value of a user", classes: []priority.Class{{Name: "high", Value: 1_000_000_000}}},
		{
			name:    "a value above the bound for users",
			classes: []priority.Class{{Name: "high", Value: 1_000_000_001}},
			want:    []fault{{"high", "value", priority.ErrValueBound}},
		},
		{
			name: "the system classes with their own values",
			classes: []priority.Class{
				{Name: "system-node-critical", Value: 2_000_001_000},
				{Name: "system-cluster-critical", Value: 2_000_000_000},
			},
		},
		{
			name: "system classes with other values, or as default",
			classes: []priority.Class{
				{Name: "system-node-critical", Value: 2_000_000_000},
				{Name: "system-cluster-critical", Value: 5, GlobalDefault: true},
			},
			want: []fault{
				{"system-cluster-critical", "globalDefault", priority.ErrSystemClass},
				{"system-cluster-critical", "value", priority.ErrSystemClass},
				{"system-node-critical", "value", priority.ErrSystemClass},
			},
		},
		{
			name:    "a name twice",
			classes: []priority.Class{{Name: "a", Value: 1}, {Name: "b"}, {Name: "a", Value: 1}},
			want:    []fault{{"a", "name", priority.ErrDuplicateClass}},
		},
		{
			name:    "two global defaults",
			classes: []priority.Class{{Name: "a", Value: 2, GlobalDefault: true}, {Name: "b", Value: 1, GlobalDefault: true}},
			want:    []fault{{"a", "globalDefault", priority.ErrTwoGlobalDefaults}},
		},
		{
			name:    "an unknown policy",
			classes: []priority.Class{{Name: "a", Policy: "Sometimes"}},
			want:    []fault{{"a", "preemptionPolicy", priority.ErrPolicy}},
		},
		{
			name:    "no name",
			classes: []priority.Class{{Value: 1}},
			want:    []fault{{"", "name", priority.ErrClassName}},
		},
		{
			name:    "names that only admission refuses",
			classes: []priority.Class{{Name: "Über Wichtig"}, {Name: "system-mine", Value: 7}},
		},
		{
			name: "everything at once, in order of class and field",
			classes: []priority.Class{
				{Name: "z", Value: 2_000_000_000, Policy: "?"},
				{Name: "b", GlobalDefault: true},
				{Name: "a", GlobalDefault: true},
				{},
				{Name: "z", Value: 2_000_000_001, Policy: "?"},
			},
			want: []fault{
				{"", "name", priority.ErrClassName},
				{"b", "globalDefault", priority.ErrTwoGlobalDefaults},
				{"z", "name", priority.ErrDuplicateClass},
				{"z", "preemptionPolicy", priority.ErrPolicy},
				{"z", "preemptionPolicy", priority.ErrPolicy},
				{"z", "value", priority.ErrValueBound},
				{"z", "value", priority.ErrValueBound},
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set, err := priority.NewClasses(tt.classes)
			require.NotNil(t, set)
			requireFaults(t, tt.want, err)
		})
	}
}

func TestErrorsNameClassFieldValueAndExpectation(t *testing.T) {
	_, err := priority.NewClasses([]priority.Class{
		{Name: "a", Value: 3_000, GlobalDefault: true}, {Name: "b", Value: 2_000_000_000}, {Name: "c", GlobalDefault: true, Policy: "no"},
	})
	require.EqualError(t, err, `priority: class "a": globalDefault: true is not false: "c" is the default already
priority: class "b": value: 2000000000 is not at most 1000000000
priority: class "c": preemptionPolicy: "no" is not PreemptLowerPriority, Never or empty`)
}

func TestSetIsUsableWithErrors(t *testing.T) {
	set, err := priority.NewClasses([]priority.Class{
		{Value: 7}, {Name: "twice", Value: 9}, {Name: "twice", Value: 3, Policy: priority.Never},
		{Name: "again", Value: 10}, {Name: "again", Value: 9}, {Name: "again", Value: 4, GlobalDefault: true}, {Name: "again", Value: -4},
		{Name: "d2", Value: 5, GlobalDefault: true}, {Name: "d1", Value: 5, GlobalDefault: true}, {Name: "d0", Value: 8, GlobalDefault: true},
		{Name: "system-node-critical", Value: 1, GlobalDefault: true, Policy: priority.Never},
		{Name: "huge", Value: 1_500_000_000, Policy: "?"},
	})
	require.Error(t, err)
	for name, want := range map[string]priority.Class{
		"twice":                   {Name: "twice", Value: 3, Policy: priority.Never},
		"system-node-critical":    {Name: "system-node-critical", Value: 2_000_001_000, Policy: priority.Never},
		"system-cluster-critical": {Name: "system-cluster-critical", Value: 2_000_000_000, Policy: priority.PreemptLowerPriority},
		"huge":                    {Name: "huge", Value: 1_500_000_000, Policy: priority.PreemptLowerPriority},
	} {
		got, ok := set.Lookup(name)
		require.True(t, ok, name)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	_, ok := set.Lookup("")
	require.False(t, ok, "a class without a name is left out")
	d, ok := set.Default()
	require.True(t, ok)
	require.Equal(t, "d1", d.Name, "the lowest value, then the first name; a class that is left out is none")
}

// Of equal names the lowest value counts, in whatever order they come and however they are written.
func TestTheLowestOfEqualNames(t *testing.T) {
	for _, values := range [][]int32{{9, 10}, {10, 9}, {100, 99, 9, 10}, {-1, -10}, {-10, -1}} {
		var classes []priority.Class
		for _, v := range values {
			classes = append(classes, priority.Class{Name: "c", Value: v})
		}
		set, err := priority.NewClasses(classes)
		require.ErrorIs(t, err, priority.ErrDuplicateClass)
		c, _ := set.Lookup("c")
		require.Equal(t, slices.Min(values), c.Value, "%v", values)
	}
}

func TestWhatAnyClassSays(t *testing.T) {
	var none *priority.Classes
	tolerant := class(100, "200", "30")
	for _, tt := range []struct {
		name                          string
		set                           *priority.Classes
		tolerations, guaranteed, wait bool
	}{
		{name: "nil", set: none},
		{name: "zero", set: &priority.Classes{}},
		{name: "says nothing", set: set(t, priority.Class{Name: "a"})},
		{name: "tolerates", set: set(t, priority.Class{Name: "a"}, tolerant), tolerations: true},
		{name: "guarantees", set: set(t, priority.Class{Name: "a"}, priority.Class{Name: "b", GuaranteedSeconds: 1}), guaranteed: true},
		{name: "waits", set: set(t, priority.Class{Name: "a"}, priority.Class{Name: "b", WaitSeconds: 1}), wait: true},
	} {
		require.Equal(t, tt.tolerations, tt.set.AnyTolerations(), tt.name)
		require.Equal(t, tt.guaranteed, tt.set.AnyGuaranteed(), tt.name)
		require.Equal(t, tt.wait, tt.set.AnyWaits(), tt.name)
		got, ok := tt.set.Toleration(tolerant.Name)
		require.Equal(t, tt.tolerations, ok, tt.name)
		if ok {
			require.Equal(t, priority.Toleration{Minimum: 200, Seconds: 30, SecondsSet: true}, got)
		}
		_, ok = tt.set.Toleration("a")
		require.False(t, ok, tt.name)
	}
}

// set compiles classes with which nothing is wrong.
func set(t *testing.T, classes ...priority.Class) *priority.Classes {
	set, err := priority.NewClasses(classes)
	require.NoError(t, err)
	return set
}

func TestNilAndZeroClassesHaveTheSystemClassesAlone(t *testing.T) {
	for _, set := range []*priority.Classes{nil, {}} {
		c, ok := set.Lookup(priority.SystemNodeCritical)
		require.True(t, ok)
		require.Equal(t, priority.SystemNodeCriticalValue, c.Value)
		require.Equal(t, priority.PreemptLowerPriority, c.Policy)
		_, ok = set.Lookup("gold")
		require.False(t, ok)
		_, ok = set.Lookup("")
		require.False(t, ok)
		_, ok = set.Default()
		require.False(t, ok)
		e, err := set.Resolve(priority.Spec{})
		require.NoError(t, err)
		require.Equal(t, priority.Effective{Policy: priority.PreemptLowerPriority}, e)
	}
}

func TestClassesKeepNothingOfTheirInput(t *testing.T) {
	in := []priority.Class{{Name: "b", Value: 2, Annotations: map[string]string{"k": "v"}}, {Name: "a", Value: 1}}
	set, err := priority.NewClasses(in)
	require.NoError(t, err)
	require.Equal(t, "b", in[0].Name, "the input is unchanged")
	in[0].Value = 9
	in[0].Annotations["k"] = "w"
	b, _ := set.Lookup("b")
	if diff := cmp.Diff(priority.Class{
		Name: "b", Value: 2, Policy: priority.PreemptLowerPriority, Annotations: map[string]string{"k": "v"},
	}, b); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// drawClasses draws few names and values, so that everything collides.
func drawClasses(t *rapid.T) []priority.Class {
	class := rapid.Custom(func(t *rapid.T) priority.Class {
		return priority.Class{
			Name: rapid.SampledFrom([]string{"", "a", "b", "c", "system-node-critical"}).Draw(t, "name"),
			Value: rapid.SampledFrom([]int32{
				-1 << 31, -1, 0, 1, 1_000_000_000, 1_000_000_001, 2_000_001_000, 1<<31 - 1,
			}).Draw(t, "value"),
			GlobalDefault: rapid.Bool().Draw(t, "default"),
			Policy:        rapid.SampledFrom([]priority.Policy{"", priority.Never, priority.PreemptLowerPriority, "?"}).Draw(t, "policy"),
			Annotations:   rapid.MapOfN(rapid.Just("k"), rapid.SampledFrom([]string{"v", "w"}), 0, 1).Draw(t, "annotations"),
		}
	})
	return rapid.SliceOfN(class, 0, 6).Draw(t, "classes")
}

func drawSpec(t *rapid.T) priority.Spec {
	return priority.Spec{
		Class:    rapid.SampledFrom([]string{"", "a", "b", "c", "nowhere", "system-node-critical"}).Draw(t, "class"),
		Priority: rapid.Ptr(rapid.Int32Range(-1, 1), true).Draw(t, "priority"),
		Policy:   rapid.SampledFrom([]priority.Policy{"", priority.Never, priority.PreemptLowerPriority, "?"}).Draw(t, "policy"),
	}
}

func orderOfClassesDoesNotMatter(t *rapid.T) {
	classes, spec := drawClasses(t), drawSpec(t)
	a, errA := priority.NewClasses(classes)
	b, errB := priority.NewClasses(rapid.Permutation(classes).Draw(t, "order"))
	if diff := cmp.Diff(message(errA), message(errB)); diff != "" {
		t.Fatalf("complaints (-given +shuffled):\n%s", diff)
	}
	for _, name := range []string{"a", "b", "c", "system-node-critical"} {
		ca, okA := a.Lookup(name)
		cb, okB := b.Lookup(name)
		if diff := cmp.Diff(ca, cb); diff != "" || okA != okB {
			t.Fatalf("%s (-given +shuffled):\n%s", name, diff)
		}
	}
	ea, errA := a.Resolve(spec)
	eb, errB := b.Resolve(spec)
	if ea != eb || message(errA) != message(errB) {
		t.Fatalf("%+v: %v %v, shuffled %v %v", spec, ea, errA, eb, errB)
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestOrderOfClassesDoesNotMatter(t *testing.T) { rapid.Check(t, orderOfClassesDoesNotMatter) }
func FuzzOrderOfClassesDoesNotMatter(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(orderOfClassesDoesNotMatter))
}

// What NewClasses finds wrong with one class or with a second default, admission
// finds too.
func TestAdmissionIsStricterThanReading(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, c := range drawClasses(t) {
			_, err := priority.NewClasses([]priority.Class{c})
			if err != nil && (*priority.Classes)(nil).AdmitClass(c) == nil {
				t.Fatalf("%+v is admitted, yet %v", c, err)
			}
			first := priority.Class{Name: "first", GlobalDefault: true}
			set, _ := priority.NewClasses([]priority.Class{first})
			_, err = priority.NewClasses([]priority.Class{first, c})
			if err != nil && set.AdmitClass(c) == nil {
				t.Fatalf("%+v is admitted beside a default, yet %v", c, err)
			}
		}
	})
}
