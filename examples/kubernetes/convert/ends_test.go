package convert_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
)

// runs is a pod that runs since eight, with more fields.
func runs(name, meta, spec string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q%s},"spec":{"nodeName":"n1","containers":[]%s},"status":{"startTime":"2026-03-01T08:00:00Z"}}`,
		name, meta, spec)
}

// The earliest of what is known of the end of a pod counts, by whichever road it is read.
func TestEnds(t *testing.T) {
	at := func(hour, minute int) time.Time { return time.Date(2026, 3, 1, hour, minute, 0, 0, time.UTC) }
	annotated := `,"annotations":{"preempt-go.dev/running-time":"1h30m"}`
	owned := `,"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"1","controller":true}]`
	job := `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"activeDeadlineSeconds":3600,"template":{"spec":{"containers":[]}}},"status":{"startTime":"2026-03-01T07:30:00Z"}}`
	for _, test := range []struct {
		name, text string
		want       time.Time
	}{
		{"nobody knows", runs("p", "", ""), time.Time{}},
		{"a deadline", runs("p", "", `,"activeDeadlineSeconds":7200`), at(10, 0)},
		{"a running time", runs("p", annotated, ""), at(9, 30)},
		{"both", runs("p", annotated, `,"activeDeadlineSeconds":7200`), at(9, 30)},
		{"it is deleted", runs("p", annotated+`,"deletionTimestamp":"2026-03-01T08:00:30Z"`, ""), at(8, 0).Add(30 * time.Second)},
		{"its job ends", runs("p", owned+annotated, "") + job, at(8, 30)},
		{"its job ends, which was read before", job + runs("p", owned, ""), at(8, 30)},
		{"its job ends later", job + runs("p", owned, `,"activeDeadlineSeconds":60`), at(8, 1)},
		{"another job", runs("p", owned, "") + `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"template":{"spec":{"containers":[]}}}}`, time.Time{}},
		{"it waits", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[],"activeDeadlineSeconds":9}}`, time.Time{}},
		{"it has not started", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"nodeName":"n1","containers":[],"activeDeadlineSeconds":9}}`, time.Time{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, err := loaded(convert.Options{}, "f", test.text)
			require.NoError(t, err)
			require.Equal(t, test.want, d.Ends["default/p"])
			require.Len(t, d.Ends, map[bool]int{true: 0, false: 1}[test.want.IsZero()])
			require.Empty(t, loadDiffers(convert.Options{}, 16, test.text))
			again, err := loaded(convert.Options{}, "saved", saved(t, d))
			require.NoError(t, err)
			require.Equal(t, d.Ends, again.Ends)
		})
	}
	for text, want := range map[string]string{
		runs("p", "", `,"activeDeadlineSeconds":0`):                                       `f, document 1: Pod "default/p": spec.activeDeadlineSeconds: 0 is not from 1 to 2147483647`,
		runs("p", `,"annotations":{"preempt-go.dev/running-time":"long"}`, ""):            `f, document 1: Pod "default/p": metadata.annotations[preempt-go.dev/running-time]: "long" is not a duration above 0 such as 1h30m`,
		runs("p", `,"annotations":{"preempt-go.dev/running-time":"-1h"},"labels":{}`, ""): `f, document 1: Pod "default/p": metadata.annotations[preempt-go.dev/running-time]: "-1h" is not a duration above 0 such as 1h30m`,
	} {
		_, err := loaded(convert.Options{}, "f", text)
		require.EqualError(t, err, want)
		d, err := loaded(convert.Options{Lenient: true}, "f", text)
		require.NoError(t, err)
		require.Len(t, d.Snapshot.Pods, 1) // it is there, without an end
		require.Empty(t, d.Ends)
		require.Empty(t, loadDiffers(convert.Options{Lenient: true}, 16, text))
	}
}
