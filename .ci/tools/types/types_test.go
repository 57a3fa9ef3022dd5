package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWidth: what is right where an int has 64 bits, and not where it has 32.
func TestWidth(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.26\n",
		"m.go": `package m

const Large int = 1 << 40

func Shift(n int) int { return n << 40 }
`,
		"m_test.go": "package m\n\nvar large int = 1 << 33\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	find := func(target string) (int, string) {
		var out strings.Builder
		n, err := checkTypes(&out, dir, target)
		require.NoError(t, err)
		return n, out.String()
	}
	n, out := find("linux/amd64")
	require.Zero(t, n, out)

	n, out = find("linux/386")
	require.Equal(t, 2, n, out)
	require.Contains(t, out, "m.go:3:")
	require.Contains(t, out, "m_test.go:3:")

	text, err := os.ReadFile(filepath.Join(dir, "m.go"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "m.go"), []byte(strings.ReplaceAll(string(text), "int = 1 << 40", "int64 = 1 << 40")), 0o644))
	require.NoError(t, os.Remove(filepath.Join(dir, "m_test.go")))
	n, out = find("linux/386")
	require.Equal(t, 1, n, out)
	require.Contains(t, out, "m.go:5:32: n (32 bits) too small for shift of 40")
}
