package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// asked runs the command on a model; empty: on the sample.
func asked(t *testing.T, model string) (stdout, stderr string, status int) {
	t.Helper()
	name := ""
	if model != "" {
		name = filepath.Join(t.TempDir(), "model.json")
		require.NoError(t, os.WriteFile(name, []byte(model), 0o600))
	}
	var out, errs bytes.Buffer
	status = run(name, &out, &errs)
	return out.String(), errs.String(), status
}

func TestTheSampleTakesTurns(t *testing.T) {
	out, errs, status := asked(t, "")
	require.Equal(t, `a cycle of 6 events:
  y evicts x
  y starts on n1
  wait 1m0s
  x evicts y
  x starts on n1
  wait 1m0s
`, out)
	require.Empty(t, errs)
	require.Equal(t, 1, status)
}

func TestNoCascadeBreaksIt(t *testing.T) {
	out, _, status := asked(t, strings.Replace(string(sample), `{"guards"`, `{"noCascade": true, "guards"`, 1))
	require.Equal(t, 0, status)
	require.Contains(t, out, "no cycle in")
}

func TestModelsThatCannotBeRead(t *testing.T) {
	for model, want := range map[string]string{
		`{"nodes": 1}`:     "cannot unmarshal number",
		`{"node": []}`:     `unknown field "node"`,
		`{}{}`:             "there is more after the model",
		`{"maxStates":-1}`: "cluster: Model: MaxStates: -1 is not >= 0",
	} {
		out, errs, status := asked(t, model)
		require.Equal(t, 2, status)
		require.Empty(t, out)
		require.Contains(t, errs, want)
	}
	require.Equal(t, 2, run(filepath.Join(t.TempDir(), "none.json"), new(bytes.Buffer), new(bytes.Buffer)))
}
