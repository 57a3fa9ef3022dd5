package command

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the transcripts under testdata")

// TestTranscripts: each file of testdata has a paragraph, files that begin with "== NAME", and
// then commands, each with what it prints; "status 3" and what goes to standard error are told
// behind that. What is not said to be piped in is nothing: the sample is asked about.
func TestTranscripts(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		name, err := filepath.Abs(name)
		require.NoError(t, err)
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			t.Chdir(t.TempDir())
			got := transcript(t, string(text))
			if *update {
				require.NoError(t, os.WriteFile(name, []byte(got), 0o644))
				return
			}
			require.Equal(t, string(text), got)
		})
	}
}

// transcript runs what a transcript runs, and returns it with what is printed now.
func transcript(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	file := ""
	skip := false
	for line := range strings.Lines(text) {
		command, is := strings.CutPrefix(line, "$ whatif")
		switch {
		case is:
			skip = true
			stdout, stderr, status := output("", strings.Fields(command)...)
			fmt.Fprintf(&out, "%s%s", line, stdout)
			if stderr != "" {
				fmt.Fprintf(&out, "--- on standard error\n%s", stderr)
			}
			if status != 0 {
				fmt.Fprintf(&out, "--- status %d\n", status)
			}
		case skip:
		case strings.HasPrefix(line, "== "):
			file = strings.TrimSpace(line[3:])
			out.WriteString(line)
		default:
			out.WriteString(line)
			if file != "" {
				f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
				require.NoError(t, err)
				_, err = f.WriteString(line)
				require.NoError(t, err)
				require.NoError(t, f.Close())
			}
		}
	}
	return out.String()
}
