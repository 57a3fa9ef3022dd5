package plugin_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadme asks that the page shows the configuration that the tests run with, and has
// every reason of a fallback and every metric.
func TestReadme(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	configuration, err := os.ReadFile("testdata/scheduler.yaml")
	require.NoError(t, err)
	require.Contains(t, string(page), "```yaml\n"+string(configuration)+"```\n")
	for file, prefix := range map[string]string{"reason.go": `Reason = "`, "metrics.go": `Name: "`} {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		parts := strings.Split(string(source), prefix)
		require.Greater(t, len(parts), 4, file)
		for _, part := range parts[1:] {
			name, _, _ := strings.Cut(part, `"`)
			require.Contains(t, string(page), name, file)
		}
	}
}
