package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/record"
)

// replayed runs whatif -replay on a journal.
func replayed(t *testing.T, journal string, more ...string) (status int, stdout, stderr string) {
	name := filepath.Join(t.TempDir(), "journal.jsonl")
	require.NoError(t, os.WriteFile(name, []byte(journal), 0o600))
	var out, err bytes.Buffer
	status = run(append([]string{"-replay", name}, more...), strings.NewReader(""), &out, &err)
	return status, out.String(), err.String()
}

func TestReplayTellsTheFirstDifference(t *testing.T) {
	var journal bytes.Buffer
	rec, err := record.New(&journal, &preemption.Snapshot{Nodes: []preemption.Node{{Name: "n1"}}}, preemption.Options{})
	require.NoError(t, err)
	web := preemption.Pod{Name: "web"}
	require.NoError(t, rec.SetPod(web))
	_, err = rec.Preempt(preemption.Preemptor{Kind: preemption.KindPod, Name: "web"})
	require.NoError(t, err)

	status, stdout, stderr := replayed(t, journal.String())
	require.Equal(t, statusAnswered, status, stderr)
	require.Equal(t, "calls made again: 2; each answer is the one that was recorded\n", stdout)

	status, stdout, stderr = replayed(t, strings.Replace(journal.String(), `"domain":"n1"`, `"domain":"n2"`, 1))
	require.Equal(t, statusUnreadable, status)
	require.Empty(t, stdout)
	require.Regexp(t, "^whatif: .*journal.jsonl: line 3: Preempt: answer.domain: recorded \"n2\", replayed \"n1\"\n$", stderr)

	status, stdout, stderr = replayed(t, journal.String()[:journal.Len()-2])
	require.Equal(t, statusUnreadable, status)
	require.Equal(t, "calls made again: 1; each answer is the one that was recorded\n", stdout)
	require.Contains(t, stderr, "the journal is cut short")

	status, _, stderr = replayed(t, "nonsense\n")
	require.Equal(t, statusUnreadable, status)
	require.Regexp(t, "^whatif: .*journal.jsonl: record: line 1: ", stderr)

	status, _, stderr = replayed(t, journal.String(), "-explain")
	require.Equal(t, statusUsage, status)
	require.Contains(t, stderr, "-replay: the journal has")
}
