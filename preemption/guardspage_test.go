package preemption_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheTableOfRulesNamesScenarios: every scenario that GUARDS.md names is there,
// and every scenario about rules that meet is named.
func TestTheTableOfRulesNamesScenarios(t *testing.T) {
	page, err := os.ReadFile("GUARDS.md")
	require.NoError(t, err)
	names := regexp.MustCompile("`([a-z]+-(?:[0-9]+|\\*))`").FindAllStringSubmatch(string(page), -1)
	require.Greater(t, len(names), 50)
	for _, name := range names {
		files, err := filepath.Glob(filepath.Join("testdata", strings.TrimSuffix(name[1], "*")+"*.txt"))
		require.NoError(t, err)
		require.NotEmpty(t, files, name[1])
	}
	pairs, err := filepath.Glob(filepath.Join("testdata", "pair-*.txt"))
	require.NoError(t, err)
	require.NotEmpty(t, pairs)
	for _, file := range pairs {
		require.Contains(t, string(page), "`"+filepath.Base(file)[:len("pair-00")]+"`")
	}
}
