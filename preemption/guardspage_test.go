package preemption_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/scenario"
)

// TestTheTableOfRulesNamesScenarios: every scenario that GUARDS.md names is there,
// and every scenario about rules that meet is named.
func TestTheTableOfRulesNamesScenarios(t *testing.T) {
	page, err := os.ReadFile("GUARDS.md")
	require.NoError(t, err)
	names := regexp.MustCompile("`([a-z]+-(?:[0-9]+|\\*))`").FindAllStringSubmatch(string(page), -1)
	require.Greater(t, len(names), 50)
	there := scenarioNames(t)
	for _, name := range names {
		require.Contains(t, there, "\n"+strings.TrimSuffix(name[1], "*"), name[1])
	}
	pairs := regexp.MustCompile(`\npair-\d+`).FindAllString(there, -1)
	require.NotEmpty(t, pairs)
	for _, pair := range pairs {
		require.Contains(t, string(page), "`"+pair[1:]+"`")
	}
}

// scenarioNames has a line for each scenario.
func scenarioNames(t *testing.T) string {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	names := "\n"
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for name := range scenario.Sections(string(text)) {
			names += name + "\n"
		}
	}
	return names
}
