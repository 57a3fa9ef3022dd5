package command

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The commands that the module's front page shows work as they stand there.
func TestFrontPage(t *testing.T) {
	page, err := os.ReadFile("../../../../README.md")
	if os.IsNotExist(err) {
		t.Skip("the front page is in a clone only")
	}
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("dump.json", sample, 0o600))
	require.NoError(t, os.WriteFile("manifest.yaml", []byte(`
{apiVersion: v1, kind: Pod, metadata: {name: new}, spec: {priority: 1000, containers: [{name: m, resources: {requests: {cpu: "2"}}}]}}
`), 0o600))
	shown := 0
	for line := range strings.Lines(string(page)) {
		command, _, _ := strings.Cut(line, "#")
		command, is := strings.CutPrefix(command, "    whatif")
		if !is {
			continue
		}
		shown++
		stdout, stderr, status := output("", strings.Fields(command)...)
		require.Equal(t, statusAnswered, status, "%s: %s", command, stderr)
		require.Contains(t, stdout, "fits", command)
	}
	require.Equal(t, 3, shown)
}
