package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// asked runs the command.
func asked(t *testing.T, stop chan os.Signal, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(args, &out, &errs, stop)
	return out.String(), errs.String(), status
}

// smallFarm is one that takes a moment.
var smallFarm = []string{"-nodes", "10", "-jobs", "300", "-load", "1.2", "-checkpoint", "1h", "-until", "20h", "-policy", "work", "-policy", `mine={"noCascade": true}`}

func TestThreeReportsOfOneRun(t *testing.T) {
	dir := t.TempDir()
	numbers, page := filepath.Join(dir, "r.csv"), filepath.Join(dir, "r.html")
	out, errs, status := asked(t, nil, append(smallFarm, "-csv", numbers, "-html", page)...)
	require.Equal(t, 0, status, errs)
	require.Empty(t, errs)
	require.Len(t, strings.Split(strings.TrimSpace(out), "\n"), 9)
	text, err := os.ReadFile(numbers)
	require.NoError(t, err)
	require.Len(t, strings.Split(strings.TrimSpace(string(text)), "\n"), 9)
	require.Contains(t, string(text), "\nwork,all,246,225,15,6,36,53,21,4,2,0,0.00,3.62,9.39,")
	require.Contains(t, string(text), "\nmine,all,246,225,15,6,29,32,13,0,1,")
	text, err = os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(text), "<h1>Policies on a synthetic farm, seed 1</h1>")
}

// TestInterrupted: a run that is interrupted again and again ends with the report of one that
// is not, and leaves no file.
func TestInterrupted(t *testing.T) {
	want, _, status := asked(t, nil, smallFarm...)
	require.Equal(t, 0, status)
	file := filepath.Join(t.TempDir(), "state")
	args := append(smallFarm, "-state", file)
	for times := 0; ; times++ {
		stop := make(chan os.Signal, 1)
		stop <- os.Interrupt
		if times > 0 && times%2 == 0 {
			stop = nil // it may end now
		}
		out, errs, status := asked(t, stop, args...)
		if status == 0 {
			require.Equal(t, want, out)
			require.Positive(t, times)
			break
		}
		require.Equal(t, 3, status)
		require.Contains(t, errs, "interrupted; the same command goes on from "+file)
		require.FileExists(t, file)
	}
	require.NoFileExists(t, file)

	require.NoError(t, os.WriteFile(file, []byte("no"), 0o600))
	_, errs, status := asked(t, nil, args...)
	require.Equal(t, 1, status)
	require.Contains(t, errs, "state: simulator: the state cannot be read")
}

// TestBadFlags: one line says what is wrong, and the status is 2.
func TestBadFlags(t *testing.T) {
	for _, bad := range []struct{ args, want string }{
		{"-nodes x", `simulate: invalid value "x" for flag -nodes: parse error; see -h`},
		{"-jobs 0", "simulate: -nodes, -jobs and -load are above zero; see -h"},
		{"-load NaN", "simulate: -nodes, -jobs and -load are above zero; see -h"},
		{"-grace -1s", "simulate: -grace, -checkpoint, -retry and -until are not below zero; see -h"},
		{"-polcy none", "simulate: flag provided but not defined: -polcy; see -h"},
		{"more", `simulate: "more" is not a flag; see -h`},
		{"-policy best", `simulate: simulator: policy "best": want none, default, kubernetes136, guaranteed, work, tie, or NAME=OPTIONS; see -h`},
		{`-policy mine={"rulez":1}`, `simulate: simulator: policy "mine={\"rulez\":1}": want NAME=OPTIONS, with options as JSON: json: unknown field "rulez"; see -h`},
		{`-policy mine={}{}`, `simulate: simulator: policy "mine={}{}": want NAME=OPTIONS, with options as JSON: there is more after them; see -h`},
		{"-policy none -policy none", `simulate: simulator: two policies are called "none"; see -h`},
		{"-trace openb", "simulate: -trace reads the folder that -data names; see -h"},
		{"-trace mars -data .", `simulate: simulator: trace "mars": want borg2011, borg2011-full, borg2011/cell500, borg2011/cell500-full, itp2021, openb, philly2017; see -h`},
	} {
		out, errs, status := asked(t, nil, strings.Split(bad.args, " ")...)
		require.Equal(t, 2, status, bad.args)
		require.Empty(t, out)
		require.Equal(t, bad.want+"\n", errs)
	}
	_, errs, status := asked(t, nil, "-trace", "itp2021", "-data", t.TempDir())
	require.Equal(t, 2, status)
	require.Equal(t, 1, strings.Count(errs, "\n"))
	require.Contains(t, errs, "the recorded data: open ")
	out, _, status := asked(t, nil, "-h")
	require.Equal(t, 0, status)
	require.Contains(t, out, "-policy")
	_, errs, status = asked(t, nil, `-policy`, `bad={"guards":{"guaranteedSeconds":-1}}`)
	require.Equal(t, 2, status)
	require.Contains(t, errs, "GuaranteedSeconds")
}
