package priority_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/priority"
)

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
