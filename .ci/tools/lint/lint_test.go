package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLint: a mistake of each kind of check is found once, and what only tests use is in use.
func TestLint(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.26\n",
		"m.go": `// Package m has mistakes.
package m

import (
	"errors"
	"strings"

	"example.com/m/inner"
)

// Deprecated is what Go calls deprecated.
func Deprecated(s string) string { return strings.Title(s) }

// Pure is without an effect.
func Pure(s string) { inner.Twice(s) }

// Style is not as errors are written.
func Style() error { return errors.New("Capital letters") }

// Simple is better without a comparison.
func Simple(is bool) bool { return is == true }

func unused() {}

func usedInTests() {}
`,
		"m_test.go": "package m\n\nvar _ = usedInTests\n",
		"inner/inner.go": `// Package inner has what package m imports.
package inner

// Twice repeats a text.
func Twice(s string) string { return s + s }
`,
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	var out strings.Builder
	n, err := lint(&out, dir)
	require.NoError(t, err)
	for _, check := range []string{"SA1019", "SA4017", "ST1005", "S1002", "U1000"} {
		require.Equal(t, 1, strings.Count(out.String(), "("+check+")"), "%s in:\n%s", check, out.String())
	}
	require.Equal(t, 5, n, out.String())

	require.NoError(t, os.WriteFile(filepath.Join(dir, "m.go"), []byte("package m\n\nvar x int = \"\"\n"), 0o644))
	_, err = lint(&out, dir)
	require.ErrorContains(t, err, "m.go:3")
}
