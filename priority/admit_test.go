package priority_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/priority"
)

// Objects without a class get the default one; one class waits ahead of others but
// evicts nobody.
func Example() {
	classes, err := priority.NewClasses([]priority.Class{
		{Name: "standard", Value: 100, GlobalDefault: true},
		{Name: "patient", Value: 500, Policy: priority.Never},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"", "patient", "system-node-critical", "gold"} {
		e, err := classes.Resolve(priority.Spec{Class: name})
		fmt.Printf("%q: %d %s %v\n", name, e.Priority, e.Policy, err)
	}
	// Output:
	// "": 100 PreemptLowerPriority <nil>
	// "patient": 500 Never <nil>
	// "system-node-critical": 2000001000 PreemptLowerPriority <nil>
	// "gold": 0 PreemptLowerPriority priority: class "gold": priorityClass: "gold" is not a known class
}

// A new object may leave its priority to its class but not contradict it.
func ExampleClasses_Admit() {
	classes, err := priority.NewClasses([]priority.Class{{Name: "patient", Value: 500, Policy: priority.Never}})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := classes.Admit(priority.Spec{Class: "patient"})
	fmt.Println(*s.Priority, s.Policy, err)

	_, err = classes.Admit(priority.Spec{Class: "patient", Policy: priority.PreemptLowerPriority})
	fmt.Println(err)
	// Output:
	// 500 Never <nil>
	// priority: class "patient": preemptionPolicy: PreemptLowerPriority is not Never, as the class says
}

func TestAdmit(t *testing.T) {
	const preempts, never = priority.PreemptLowerPriority, priority.Never
	for _, tt := range []struct {
		name      string
		noDefault bool
		spec      priority.Spec
		want      priority.Spec // only where nothing is wrong
		faults    []fault
	}{
		{
			name: "nothing said and no default class", noDefault: true,
			want: priority.Spec{Priority: new(int32), Policy: preempts},
		},
		{
			name: "the default class is filled in with name, value and policy",
			want: priority.Spec{Class: "batch", Priority: new(int32(-10)), Policy: never},
		},
		{
			name: "a class fills priority and policy", spec: priority.Spec{Class: "gold"},
			want: priority.Spec{Class: "gold", Priority: new(int32(1000)), Policy: preempts},
		},
		{
			name: "a system class that is not listed", spec: priority.Spec{Class: "system-cluster-critical"},
			want: priority.Spec{Class: "system-cluster-critical", Priority: new(int32(2_000_000_000)), Policy: preempts},
		},
		{
			name: "what agrees with the class is admitted", spec: priority.Spec{Class: "patient", Priority: new(int32(2000)), Policy: never},
			want: priority.Spec{Class: "patient", Priority: new(int32(2000)), Policy: never},
		},
		{
			name: "another priority than the class's", spec: priority.Spec{Class: "gold", Priority: new(int32(1001))},
			faults: []fault{{"gold", "priority", priority.ErrContradiction}},
		},
		{
			name: "another policy than the class's", spec: priority.Spec{Class: "gold", Policy: never},
			faults: []fault{{"gold", "preemptionPolicy", priority.ErrContradiction}},
		},
		{
			name: "another priority and policy than the default class's", spec: priority.Spec{Priority: new(int32), Policy: preempts},
			faults: []fault{{"batch", "preemptionPolicy", priority.ErrContradiction}, {"batch", "priority", priority.ErrContradiction}},
		},
		{
			name: "a priority without any class", noDefault: true, spec: priority.Spec{Priority: new(int32(1))},
			faults: []fault{{"", "priority", priority.ErrContradiction}},
		},
		{
			name: "a policy without any class", noDefault: true, spec: priority.Spec{Policy: never},
			faults: []fault{{"", "preemptionPolicy", priority.ErrContradiction}},
		},
		{
			name: "an unknown class", spec: priority.Spec{Class: "silver", Priority: new(int32(1))},
			faults: []fault{{"silver", "priorityClass", priority.ErrUnknownClass}},
		},
		{
			name: "an unknown class and an unknown policy", spec: priority.Spec{Class: "silver", Policy: "?"},
			faults: []fault{{"silver", "preemptionPolicy", priority.ErrPolicy}, {"silver", "priorityClass", priority.ErrUnknownClass}},
		},
		{
			name: "an unknown policy and another priority", spec: priority.Spec{Class: "gold", Priority: new(int32(1)), Policy: "?"},
			faults: []fault{{"gold", "preemptionPolicy", priority.ErrPolicy}, {"gold", "priority", priority.ErrContradiction}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := classes(t, !tt.noDefault).Admit(tt.spec)
			requireFaults(t, tt.faults, err)
			if err != nil {
				tt.want = tt.spec
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestContradictionsAreExplained(t *testing.T) {
	_, err := classes(t, false).Admit(priority.Spec{Class: "gold", Priority: new(int32(5))})
	require.EqualError(t, err, `priority: class "gold": priority: 5 is not 1000, as the class says`)
	_, err = (*priority.Classes)(nil).Admit(priority.Spec{Policy: priority.Never})
	require.EqualError(t, err, `priority: preemptionPolicy: Never is not PreemptLowerPriority, as no class says otherwise`)
}

// What is admitted is complete, is admitted again unchanged, and resolves to itself
// and to what the object resolved to before.
func admittedIsSettled(t *rapid.T) {
	set, _ := priority.NewClasses(drawClasses(t))
	spec := drawSpec(t)
	admitted, err := set.Admit(spec)
	if err != nil {
		return
	}
	again, err := set.Admit(admitted)
	if diff := cmp.Diff(admitted, again); diff != "" || err != nil {
		t.Fatalf("%v: not settled (-first +second):\n%s", err, diff)
	}
	before, err := set.Resolve(spec)
	if err != nil {
		t.Fatalf("admitted, yet %v", err)
	}
	after, err := set.Resolve(admitted)
	if err != nil {
		t.Fatal(err)
	}
	if want := (priority.Effective{Priority: *admitted.Priority, Policy: admitted.Policy}); after != want {
		t.Fatalf("resolves to %+v, admitted %+v", after, want)
	}
	if spec.Class != "" || spec.Priority == nil { // else the default class is asked by admission alone
		if before != after {
			t.Fatalf("resolved to %+v before, %+v after", before, after)
		}
	}
}

func TestAdmittedIsSettled(t *testing.T) { rapid.Check(t, admittedIsSettled) }
func FuzzAdmittedIsSettled(f *testing.F) { f.Fuzz(rapid.MakeFuzz(admittedIsSettled)) }

func TestAdmitClass(t *testing.T) {
	for _, tt := range []struct {
		name  string
		class priority.Class
		want  []fault
	}{
		{name: "a user's class", class: priority.Class{Name: "silver", Value: 500, Policy: priority.Never}},
		{name: "the highest value of a user", class: priority.Class{Name: "silver.example.com", Value: 1_000_000_000}},
		{
			name: "a value above the bound", class: priority.Class{Name: "silver", Value: 1_000_000_001},
			want: []fault{{"silver", "value", priority.ErrValueBound}},
		},
		{name: "a system class as it is", class: priority.Class{Name: "system-node-critical", Value: 2_000_001_000}},
		{
			name: "a system class with another value", class: priority.Class{Name: "system-node-critical", Value: 2_000_000_000},
			want: []fault{{"system-node-critical", "value", priority.ErrSystemClass}},
		},
		{
			name: "a system class as default", class: priority.Class{Name: "system-node-critical", Value: 2_000_001_000, GlobalDefault: true},
			want: []fault{
				{"system-node-critical", "globalDefault", priority.ErrSystemClass},
				{"system-node-critical", "globalDefault", priority.ErrTwoGlobalDefaults},
			},
		},
		{
			name: "a name with the reserved prefix", class: priority.Class{Name: "system-mine", Value: 1},
			want: []fault{{"system-mine", "name", priority.ErrReservedName}},
		},
		{
			name: "a name in capitals", class: priority.Class{Name: "Gold"},
			want: []fault{{"Gold", "name", priority.ErrClassName}},
		},
		{name: "no name", want: []fault{{"", "name", priority.ErrClassName}}},
		{
			name: "a name that is too long", class: priority.Class{Name: strings.Repeat("a", 254)},
			want: []fault{{strings.Repeat("a", 254), "name", priority.ErrClassName}},
		},
		{
			name: "an unknown policy", class: priority.Class{Name: "silver", Policy: "never"},
			want: []fault{{"silver", "preemptionPolicy", priority.ErrPolicy}},
		},
		{
			name: "a second default", class: priority.Class{Name: "silver", GlobalDefault: true},
			want: []fault{{"silver", "globalDefault", priority.ErrTwoGlobalDefaults}},
		},
		{name: "the default again", class: priority.Class{Name: "batch", Value: -10, GlobalDefault: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			requireFaults(t, tt.want, classes(t, true).AdmitClass(tt.class))
		})
	}
	require.NoError(t, (*priority.Classes)(nil).AdmitClass(priority.Class{Name: "first", GlobalDefault: true}))
}

func TestCheckPreemptionPriority(t *testing.T) {
	for _, tt := range []struct {
		name                 string
		priority, preemption int32
		ok                   bool
	}{
		{"equal", 5, 5, true},
		{"higher", 5, 6, true},
		{"lower", 5, 4, false},
		{"the extremes do not wrap", 1<<31 - 1, -1 << 31, false},
		{"nor the other way round", -1 << 31, 1<<31 - 1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := priority.CheckPreemptionPriority(tt.priority, tt.preemption)
			if tt.ok {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, priority.ErrPreemptionPriority)
		})
	}
	require.EqualError(t, priority.CheckPreemptionPriority(5, 4), "priority: preemptionPriority: 4 is not at least the priority, 5")
}

// Of two workloads that pass the check, at most one may evict the other.
func TestNobodyIsEvictedBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := rapid.Int32Range(-2, 2)
		x, xVictim := small.Draw(t, "x"), small.Draw(t, "x as victim")
		y, yVictim := small.Draw(t, "y"), small.Draw(t, "y as victim")
		if priority.CheckPreemptionPriority(x, xVictim) != nil || priority.CheckPreemptionPriority(y, yVictim) != nil {
			return
		}
		if xVictim < y && yVictim < x {
			t.Fatalf("x (%d, %d) and y (%d, %d) evict each other", x, xVictim, y, yVictim)
		}
	})
}

// Whatever JSON says, classes can be read into a set that answers and that is the
// same after a round trip.
func FuzzClassJSON(f *testing.F) {
	f.Add([]byte(`[{"name":"gold","value":1000,"globalDefault":true,"preemptionPolicy":"Never"},{"name":"gold","value":-1}]`))
	f.Add([]byte(`[{"name":"system-node-critical","value":2147483647},{}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var in, again []priority.Class
		if json.Unmarshal(data, &in) != nil {
			return
		}
		out, err := json.Marshal(in)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(out, &again))
		a, errA := priority.NewClasses(in)
		b, errB := priority.NewClasses(again)
		require.Equal(t, message(errA), message(errB))
		for _, c := range in {
			ea, _ := a.Resolve(priority.Spec{Class: c.Name})
			eb, _ := b.Resolve(priority.Spec{Class: c.Name})
			require.Equal(t, ea, eb)
		}
	})
}

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

func class(value int32, minimum, seconds string) priority.Class {
	c := priority.Class{Name: "c", Value: value, Annotations: map[string]string{"other": "x"}}
	if minimum != "-" {
		c.Annotations[priority.MinimumPreemptableAnnotation] = minimum
	}
	if seconds != "-" {
		c.Annotations[priority.TolerationSecondsAnnotation] = seconds
	}
	return c
}

func TestParseToleration(t *testing.T) {
	for _, tt := range []struct {
		name             string
		value            int32
		minimum, seconds string // "-": not given
		want             priority.Toleration
		ok               bool
		faults           []string // the annotations at fault
	}{
		{"no annotation", 1, "-", "-", priority.Toleration{Minimum: 2}, false, nil},
		{"both", 1, "10", "20", priority.Toleration{Minimum: 10, Seconds: 20, SecondsSet: true}, true, nil},
		{"the minimum alone", 1, "10", "-", priority.Toleration{Minimum: 10}, true, nil},
		{"the seconds alone", 1, "-", "20", priority.Toleration{Minimum: 2, Seconds: 20, SecondsSet: true}, true, nil},
		{"for ever", 1, "10", "-1", priority.Toleration{Minimum: 10, Seconds: -1, SecondsSet: true}, true, nil},
		{"zero seconds are said", 1, "10", "0", priority.Toleration{Minimum: 10, SecondsSet: true}, true, nil},
		{"the default minimum saturates", math.MaxInt32, "-", "1", priority.Toleration{Minimum: math.MaxInt32, Seconds: 1, SecondsSet: true}, true, nil},
		{"the ends of the integers", 1, "-2147483648", "9223372036854775807",
			priority.Toleration{Minimum: math.MinInt32, Seconds: math.MaxInt64, SecondsSet: true}, true, nil},
		{"a minimum that is none", 1, "a", "1", priority.Toleration{}, false, []string{priority.MinimumPreemptableAnnotation}},
		{"an empty minimum", 1, "", "1", priority.Toleration{}, false, []string{priority.MinimumPreemptableAnnotation}},
		{"a minimum with a space", 1, " 1", "1", priority.Toleration{}, false, []string{priority.MinimumPreemptableAnnotation}},
		{"a minimum out of range", 1, "2147483648", "1", priority.Toleration{}, false, []string{priority.MinimumPreemptableAnnotation}},
		{"seconds that are none", 1, "1", "1h", priority.Toleration{}, false, []string{priority.TolerationSecondsAnnotation}},
		{"both wrong", 1, "x", "9223372036854775808", priority.Toleration{}, false,
			[]string{priority.MinimumPreemptableAnnotation, priority.TolerationSecondsAnnotation}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok, err := priority.ParseToleration(class(tt.value, tt.minimum, tt.seconds))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			require.Equal(t, tt.ok, ok)
			if tt.faults == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, priority.ErrToleration)
			for _, key := range tt.faults {
				require.ErrorContains(t, err, `class "c": annotations[`+key+"]")
			}
			set, err := priority.NewClasses([]priority.Class{class(tt.value, tt.minimum, tt.seconds)})
			require.ErrorIs(t, err, priority.ErrToleration)
			_, tolerates := set.Toleration("c")
			require.False(t, tolerates, "a class that can't be read tolerates nothing")
			require.ErrorIs(t, (*priority.Classes)(nil).AdmitClass(class(tt.value, tt.minimum, tt.seconds)), priority.ErrToleration)
		})
	}
}

func TestTimesOfAClassAreNotNegative(t *testing.T) {
	set, err := priority.NewClasses([]priority.Class{{Name: "c", GuaranteedSeconds: -1, WaitSeconds: -2}})
	require.ErrorIs(t, err, priority.ErrSeconds)
	require.ErrorContains(t, err, `class "c": guaranteedSeconds: -1 is not >= 0`)
	require.ErrorContains(t, err, `class "c": waitSeconds: -2 is not >= 0`)
	c, _ := set.Lookup("c")
	require.Zero(t, c.GuaranteedSeconds+c.WaitSeconds)
}

// noon is when pods are scheduled here.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 500, time.UTC)

func TestTolerates(t *testing.T) {
	given := func(minimum int32, seconds int64) priority.Toleration {
		return priority.Toleration{Minimum: minimum, Seconds: seconds, SecondsSet: true}
	}
	unset := priority.Toleration{Minimum: 10}
	for _, tt := range []struct {
		name         string
		toleration   priority.Toleration
		preemptor    int32
		scheduled    time.Time
		now          time.Time
		code, design bool
	}{
		{"above the minimum", given(10, -1), 11, noon, noon, false, false},
		{"at the minimum", given(10, -1), 10, noon, noon, false, false},
		{"below, for ever", given(10, -1), 9, noon, noon.AddDate(100, 0, 0), true, false},
		{"below, for ever, not scheduled", given(10, -1), 9, time.Time{}, noon, true, true},
		{"below, 10 s, at once", given(10, 10), 9, noon, noon, true, true},
		{"a nanosecond before the end", given(10, 10), 9, noon, noon.Add(10*time.Second - 1), true, true},
		{"at the end", given(10, 10), 9, noon, noon.Add(10 * time.Second), false, true},
		{"a nanosecond after the end", given(10, 10), 9, noon, noon.Add(10*time.Second + 1), false, false},
		{"not scheduled", given(10, 10), 9, time.Time{}, noon, true, true},
		{"nobody knows what time it is", given(10, 10), 9, noon, time.Time{}, false, false},
		{"scheduled in the future", given(10, 10), 9, noon.Add(time.Hour), noon, true, true},
		{"no seconds given", unset, 9, noon, noon.Add(time.Hour), false, true},
		{"zero seconds", given(10, 0), 9, noon, noon.Add(1), false, false},
		{"zero seconds at the instant of scheduling", given(10, 0), 9, noon, noon, false, true},
		{"zero seconds, not scheduled", given(10, 0), 9, time.Time{}, noon, false, true},
		{"more seconds than a duration holds", given(10, 10_000_000_000), 9, noon, noon.AddDate(300, 0, 0), true, true},
		{"and after them", given(10, 10_000_000_000), 9, noon, noon.AddDate(400, 0, 0), false, false},
		{"as many seconds as there are", given(10, math.MaxInt64), 9, noon, noon.AddDate(1e6, 0, 0), true, true},
		{"as many below zero", given(10, math.MinInt64), 9, noon, noon, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.code, tt.toleration.Tolerates(priority.TolerationCode, tt.preemptor, tt.scheduled, tt.now), "code")
			require.Equal(t, tt.design, tt.toleration.Tolerates(priority.TolerationDesign, tt.preemptor, tt.scheduled, tt.now), "design")
			require.False(t, tt.toleration.Tolerates(priority.TolerationOff, tt.preemptor, tt.scheduled, tt.now), "off")
		})
	}
}

func TestTolerationWithoutAnEnd(t *testing.T) {
	given := func(seconds int64) priority.Toleration {
		return priority.Toleration{Minimum: 10, Seconds: seconds, SecondsSet: true}
	}
	for _, tt := range []struct {
		name           string
		toleration     priority.Toleration
		scheduled, now time.Time
		code, design   int64 // seconds left; -1: no end, or none that is known
	}{
		{"three seconds of ten", given(10), noon, noon.Add(3 * time.Second), 7, 7},
		{"a nanosecond more of them", given(10), noon, noon.Add(3*time.Second - 1), 8, 8},
		{"a nanosecond fewer", given(10), noon, noon.Add(3*time.Second + 1), 7, 7},
		{"after the end", given(10), noon, noon.Add(time.Minute), 0, 0},
		{"for ever", given(-1), noon, noon, -1, 0},
		{"no seconds given", priority.Toleration{Minimum: 10}, noon, noon, 0, -1},
		{"not scheduled", given(10), time.Time{}, noon, -1, -1},
		{"nobody knows what time it is", given(10), noon, time.Time{}, -1, -1},
		{"as many seconds as there are", given(math.MaxInt64), noon, noon, -1, -1},
	} {
		for rule, want := range map[priority.TolerationRule]int64{priority.TolerationCode: tt.code, priority.TolerationDesign: tt.design} {
			left, ok := tt.toleration.Left(rule, tt.scheduled, tt.now)
			require.Equal(t, want >= 0, ok, "%s, rule %q", tt.name, rule)
			require.Equal(t, max(want, 0), left, "%s, rule %q", tt.name, rule)
		}
	}
	require.True(t, priority.TolerationCode.Valid() && priority.TolerationDesign.Valid() && priority.TolerationOff.Valid())
	require.False(t, priority.TolerationRule("?").Valid())
}

// TestTolerationEndsWhereItSays: Left tells the second at which Tolerates changes.
func TestTolerationEndsWhereItSays(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		tol := priority.Toleration{Minimum: 10, Seconds: 1 + r.Int64N(1000), SecondsSet: true}
		scheduled := noon.Add(time.Duration(r.Int64N(2e9)))
		now := scheduled.Add(time.Duration(r.Int64N(1200e9)))
		left, ok := tol.Left("", scheduled, now)
		require.True(t, ok)
		require.Equal(t, left > 0, tol.Tolerates("", 9, scheduled, now))
		require.False(t, tol.Tolerates("", 9, scheduled, now.Add(time.Duration(left)*time.Second)))
		if left > 0 {
			require.True(t, tol.Tolerates("", 9, scheduled, now.Add(time.Duration(left-1)*time.Second)))
		}
	}
}

// Ten minutes of guaranteed running time, for everybody below 10000.
func ExampleParseToleration() {
	t, _, err := priority.ParseToleration(priority.Class{Name: "low-non-preempted-10min", Value: 8000, Annotations: map[string]string{
		priority.MinimumPreemptableAnnotation: "10000",
		priority.TolerationSecondsAnnotation:  "600",
	}})
	if err != nil {
		panic(err)
	}
	scheduled := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for _, preemptor := range []int32{9000, 10000} {
		for _, minutes := range []time.Duration{9, 10} {
			now := scheduled.Add(minutes * time.Minute)
			fmt.Println(preemptor, now.Format("15:04"), t.Tolerates(priority.TolerationCode, preemptor, scheduled, now))
		}
	}
	// Output:
	// 9000 12:09 true
	// 9000 12:10 false
	// 10000 12:09 false
	// 10000 12:10 false
}

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
