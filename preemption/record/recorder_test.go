package record_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/record"
)

// Text that JSON would replace ends the recording; a replacement character, and a text that
// looks like the escape of one, do not.
func TestTextThatIsNotUTF8(t *testing.T) {
	for name, ends := range map[string]bool{"\xff": true, "\ufffd": false, `\ufffd`: false, `\\` + "\xff": true} {
		var journal strings.Builder
		rec, err := record.New(&journal, &preemption.Snapshot{}, preemption.Options{})
		require.NoError(t, err)
		_ = rec.SetPod(preemption.Pod{Name: name}) // refused or not
		require.Equal(t, ends, rec.Err() != nil, "%q", name)
	}
}

// Without a context a question is never stopped, as a planner has it.
func TestNoContext(t *testing.T) {
	var journal strings.Builder
	rec, err := record.New(&journal, &preemption.Snapshot{}, preemption.Options{})
	require.NoError(t, err)
	var none context.Context
	_, err = rec.PreemptContext(none, preemption.Preemptor{Kind: preemption.KindPod, Name: "nobody"})
	require.Error(t, err)
	require.Contains(t, journal.String(), "nobody", "it is recorded")
}
