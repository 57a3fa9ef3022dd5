package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A saved cluster is answered for as the dump is that it was saved from, by every kind of question.
func TestSavedIsAnsweredAlike(t *testing.T) {
	dir := t.TempDir()
	dump, pre := filepath.Join(dir, "dump.yaml"), filepath.Join(dir, "cluster.pre")
	require.NoError(t, os.WriteFile(dump, sample, 0o600))
	stdout, stderr, status := output("", "-f", dump, "-save", pre)
	require.Equal(t, statusAnswered, status, stderr)
	require.Equal(t, pre+": 5 nodes and 9 pods saved; -f "+pre+" reads them.\n", stdout)
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, list, 2)

	for _, question := range []string{
		"", "-o json", "-drain node-b", "-cpu 3 -count 3 -priority 600 -explain", "-preemptor deployment/web/shop -why-not node-a",
		"-cordon node-b -verify", "-diff v1.36", "-now 2030-01-01T00:00:00Z",
	} {
		args := strings.Fields(question)
		want, _, wantStatus := output("", append(args, "-f", dump)...)
		got, stderr, status := output("", append(args, "-f", pre)...)
		require.Equal(t, wantStatus, status, stderr)
		require.Equal(t, want, got, question)
	}
	text, err := os.ReadFile(pre)
	require.NoError(t, err)
	want, _, _ := output("", "-f", pre)
	got, _, _ := output(string(text))
	require.Equal(t, want, got)
}

func TestSaveRefuses(t *testing.T) {
	dir := t.TempDir()
	pre := filepath.Join(dir, "cluster.pre")
	stdout, _, status := output("", "-save", pre)
	require.Equal(t, statusAnswered, status)
	require.Contains(t, stdout, "There is no input (-f FILE, or a pipe): a sample is saved.\n")

	_, stderr, status := output("", "-save", pre, "-cpu", "2")
	require.Equal(t, statusUsage, status)
	require.Contains(t, stderr, "whatif: -save: it asks nothing; -cpu does not go with it\n")
	_, stderr, status = output("", "-f", pre, "-f", pre)
	require.Equal(t, statusUnreadable, status)
	require.Equal(t, "whatif: "+pre+": a saved cluster is read alone, and others were given with it\n", stderr)
	_, stderr, status = output("", "-save", filepath.Join(dir, "no", "x"))
	require.Equal(t, statusUnreadable, status)
	require.Contains(t, stderr, "whatif: -save: open ")

	text, err := os.ReadFile(pre)
	require.NoError(t, err)
	_, stderr, status = output(string(text[:len(text)-9]))
	require.Equal(t, statusUnreadable, status)
	require.Regexp(t, `^whatif: -: the saved cluster cannot be read: it is cut off: \d+ of \d+ bytes are there\n$`, stderr)
	_, stderr, status = output("{}", "-save", pre) // which stays as it was
	require.Equal(t, statusUnreadable, status)
	require.NotEmpty(t, stderr)
	after, err := os.ReadFile(pre)
	require.NoError(t, err)
	require.Equal(t, text, after)
}
