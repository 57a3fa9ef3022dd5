package quotatext_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/quotatext"
)

const text = `# One queue of six.
queue   standalone cpu=6 own=LowerPriority

== the least important goes
jobs    low@standalone prio=-1 cpu=3   high@standalone prio=1 cpu=3
preempt in@standalone prio=1 cpu=2
----
feasible: low InClusterQueue

== it fits
preempt in@standalone
        main cpu=2 count=3
----
?
`

func Example() {
	scenarios, err := quotatext.Parse(text)
	if err != nil {
		panic(err)
	}
	for _, s := range scenarios {
		r, err := s.Options.Preempt(s.Preemptor, &s.Snapshot)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s: %s\n", s.Name, s.Render(r))
	}
	// Output:
	// the least important goes: feasible: low InClusterQueue
	// it fits: fits without preemption
}

func TestRewriteReplacesTranscripts(t *testing.T) {
	got := quotatext.Rewrite(text, map[string]string{"the least important goes": "one", "it fits": "two"})
	scenarios, err := quotatext.Parse(got)
	require.NoError(t, err)
	require.Equal(t, "one", scenarios[0].Want)
	require.Equal(t, "two", scenarios[1].Want)
	require.Equal(t, got, quotatext.Rewrite(got, map[string]string{"the least important goes": "one", "it fits": "two"}))
}

func TestParseNamesWhatIsWrong(t *testing.T) {
	for line, want := range map[string]string{
		"quueue q":           `"quueue" is not`,
		"queue cpu=1":        "cpu=1 belongs to nothing",
		"queue q cpu=x":      `"x" is not an amount`,
		"queue q cpu=1.2345": "more than three decimals",
		"local l@q size=2":   "size=2 is not known here",
	} {
		_, err := quotatext.Parse("== bad\n" + line + "\n")
		require.ErrorContains(t, err, want)
	}
}
