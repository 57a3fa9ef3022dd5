package priority

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/words"
)

// The annotations by which a class says what its pods tolerate. Either may stand
// alone.
const (
	MinimumPreemptableAnnotation = "preemption-toleration.scheduling.x-k8s.io/minimum-preemptable-priority" // an int32
	TolerationSecondsAnnotation  = "preemption-toleration.scheduling.x-k8s.io/toleration-seconds"           // an int64
)

// Toleration is what a class says against the preemption of its pods: for how long
// after they were scheduled, and by whom, they are not preempted.
type Toleration struct {
	// Minimum is the least priority of a preemptor that is never tolerated. A
	// minimum at or below the class's value has no effect.
	Minimum int32

	// Seconds is for how long the others are: 0 not at all, below zero for ever.
	Seconds int64

	// SecondsSet says that Seconds was given. Only TolerationDesign tells a 0 that
	// was given from one that was not.
	SecondsSet bool
}

// TolerationRule says how a Toleration is read. The empty rule is TolerationCode.
type TolerationRule string

// The rules. The preemption toleration document says, beside its text, how the
// check would be written; what was written differs in a few points.
const (
	// TolerationCode reads it as scheduler-plugins does, but that zero seconds are
	// none for a pod whose scheduled time is unknown too.
	TolerationCode TolerationRule = ""

	// TolerationDesign reads it as the document's snippet does: tolerated at the very
	// end of the time too; for ever if no seconds are given; not at all for seconds
	// below zero; and a node with a pod whose class is not there is left alone.
	TolerationDesign TolerationRule = "Design"

	TolerationOff TolerationRule = "Off" // nothing is tolerated; malformed annotations are errors all the same
)

// Valid reports whether r is one of the rules.
func (r TolerationRule) Valid() bool {
	return r == TolerationCode || r == TolerationDesign || r == TolerationOff
}

// ParseToleration reads the annotations of c; ok is false if it has neither. The
// minimum is by default one more than the class's value, at most the largest int32.
//
// The error joins a [FieldError] with ErrToleration for each value that is no
// integer of its size. The class tolerates nothing then, whatever the other one says.
//
// Source: preemption toleration document; scheduler-plugins, preemption toleration.
func ParseToleration(c Class) (t Toleration, ok bool, err error) {
	var faults []*FieldError
	parse := func(key string, bits int) (int64, bool) {
		text, given := c.Annotations[key]
		if !given {
			return 0, false
		}
		n, err := strconv.ParseInt(text, 10, bits)
		if err != nil {
			faults = append(faults, &FieldError{
				Class: c.Name, Field: "annotations[" + key + "]", Value: words.Quoted(text),
				Want: fmt.Sprintf("an integer of %d bits", bits), Err: ErrToleration,
			})
		}
		return n, true
	}
	minimum, given := parse(MinimumPreemptableAnnotation, 32)
	t.Seconds, t.SecondsSet = parse(TolerationSecondsAnnotation, 64)
	if len(faults) > 0 {
		return Toleration{}, false, join(faults)
	}
	t.Minimum = int32(min(int64(c.Value)+1, math.MaxInt32))
	if given {
		t.Minimum = int32(minimum)
	}
	return t, given || t.SecondsSet, nil
}

// Tolerates reports whether a pod that was scheduled at that time tolerates a
// preemptor of that priority now. A zero scheduled time is unknown, and is tolerated
// whenever any time would be; a zero now is unknown and later than every end.
//
// The end of the time is exact to the nanosecond and saturates. Cost O(1).
func (t Toleration) Tolerates(r TolerationRule, preemptor int32, scheduled, now time.Time) bool {
	if r == TolerationOff || preemptor >= t.Minimum {
		return false
	}
	if t.forever(r) {
		return true
	}
	if r == TolerationCode && t.Seconds == 0 {
		return false
	}
	if scheduled.IsZero() {
		return true
	}
	if now.IsZero() {
		return false
	}
	end := checked.Add(scheduled.Unix(), t.Seconds)
	left := cmp.Or(cmp.Compare(end, now.Unix()), cmp.Compare(scheduled.Nanosecond(), now.Nanosecond()))
	return left > 0 || left == 0 && r == TolerationDesign
}

// forever reports whether time has no part in the answer.
func (t Toleration) forever(r TolerationRule) bool {
	if r == TolerationDesign {
		return !t.SecondsSet
	}
	return t.Seconds < 0
}

// Left is for how much longer a pod that tolerates a preemptor will do so, rounded
// up to whole seconds; ok is false if there is no end, or none that is known.
func (t Toleration) Left(r TolerationRule, scheduled, now time.Time) (seconds int64, ok bool) {
	if t.forever(r) || scheduled.IsZero() || now.IsZero() {
		return 0, false
	}
	end := checked.Add(scheduled.Unix(), t.Seconds)
	if end == math.MaxInt64 {
		return 0, false
	}
	left := end - now.Unix()
	if scheduled.Nanosecond() > now.Nanosecond() {
		left++
	}
	return max(left, 0), true
}
