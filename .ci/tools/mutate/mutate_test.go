package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const sample = "./testdata/sample"

// TestMutantsOfASample: what is changed, and what is not: constants, types, how much room is made.
func TestMutantsOfASample(t *testing.T) {
	var out strings.Builder
	require.NoError(t, command([]string{"-list", "-equivalent", "", sample}, &out))
	require.Equal(t, strings.TrimLeft(`
8: : count(len([]int{})) + 1 -> count(len([]int{})) - 1
8: : 1 -> 1 + 1
12: Grade: a < limit || !valid(a) -> (a < limit) && (!valid(a))
12: Grade: a < limit -> a <= limit
12: Grade: a < limit -> a >= limit
12: Grade: valid(a) -> !(valid(a))
13: Grade: return -> nothing
15: Grade: grade = min(a-limit, 10) -> nothing
15: Grade: min(a-limit, 10) -> max(a-limit, 10)
15: Grade: a-limit -> a + limit
15: Grade: 10 -> 10 + 1
16: Grade: bonus && grade < 10 -> (bonus) || (grade < 10)
16: Grade: bonus -> !(bonus)
16: Grade: grade < 10 -> grade <= 10
16: Grade: grade < 10 -> grade >= 10
16: Grade: 10 -> 10 + 1 (2)
17: Grade: grade++ -> nothing
17: Grade: grade++ -> grade--
22: valid: a != 100 -> a == 100
22: valid: 100 -> 100 + 1
26: Sum: 0 -> 0 + 1
27: Sum: defer func() { sum += len(room) }() -> nothing
27: Sum: sum += len(room) -> nothing
27: Sum: sum += len(room) -> sum -= len(room)
29: Sum: n < 0 -> n <= 0
29: Sum: n < 0 -> n >= 0
29: Sum: 0 -> 0 + 1 (2)
30: Sum: break -> nothing
32: Sum: sum += n << first / 2 -> nothing
32: Sum: sum += n << first / 2 -> sum -= n << first / 2
32: Sum: n << first / 2 -> n << first * 2
32: Sum: n << first -> n >> first
32: Sum: 2 -> 2 + 1
38: Unreached: true -> !true
43: Sign: a < 0 -> a <= 0
43: Sign: a < 0 -> a >= 0
43: Sign: 0 -> 0 + 1
46: Sign: 1 -> 1 + 1
`, "\n"), strings.ReplaceAll(out.String(), "mutate/testdata/sample/sample.go:", ""))
}

// TestSurvivorsOfASample: the mistakes that the sample's tests notice are not printed. A tree is
// left as it is.
func TestSurvivorsOfASample(t *testing.T) {
	list := filepath.Join(t.TempDir(), "equivalent.txt")
	entries := "mutate/testdata/sample/sample.go: Sum: defer func() { sum += len(room) }() -> nothing # nothing is in the room\n" +
		"mutate/testdata/sample/sample.go: Sum: sum += len(room) -> nothing # nothing is in the room\n"
	require.NoError(t, os.WriteFile(list, []byte("# A comment.\n\n"+entries+"elsewhere/a.go: f: 0 -> 0 + 1 # of another package\n"), 0o644))
	before, err := os.ReadDir(sample)
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, command([]string{"-equivalent", list, sample}, &out))
	require.Equal(t, strings.TrimLeft(`
not reached: mutate/testdata/sample/sample.go:38: Unreached: true -> !true
survived: mutate/testdata/sample/sample.go:12: Grade: a < limit -> a <= limit
survived: mutate/testdata/sample/sample.go:16: Grade: grade < 10 -> grade <= 10
survived: mutate/testdata/sample/sample.go:16: Grade: 10 -> 10 + 1 (2)
survived: mutate/testdata/sample/sample.go:27: Sum: sum += len(room) -> sum -= len(room)
survived: mutate/testdata/sample/sample.go:29: Sum: n < 0 -> n <= 0
survived: mutate/testdata/sample/sample.go:29: Sum: 0 -> 0 + 1 (2)
survived: mutate/testdata/sample/sample.go:43: Sign: a < 0 -> a <= 0
survived: mutate/testdata/sample/sample.go:43: Sign: 0 -> 0 + 1
mutate/testdata/sample: 27 of 35 killed (77.1 %), 8 survived; reached 35, not reached 1, equivalent 2; seed 1
`, "\n"), regexp.MustCompile(`, \d+ s\n`).ReplaceAllString(out.String(), "\n"))
	printed := filepath.Join(t.TempDir(), "printed")
	require.NoError(t, os.WriteFile(printed, []byte("survived: mutate/testdata/sample/sample.go:12: Grade: a < limit -> a >= limit\n"), 0o644))
	out.Reset()
	require.NoError(t, command([]string{"-equivalent", "", "-among", printed, sample}, &out))
	require.Contains(t, out.String(), "sample: 1 of 1 killed")
	after, err := os.ReadDir(sample)
	require.NoError(t, err)
	require.Equal(t, len(before), len(after))
}

// TestWhatCannotBeTried: each in one sentence.
func TestWhatCannotBeTried(t *testing.T) {
	list := filepath.Join(t.TempDir(), "equivalent.txt")
	for text, want := range map[string]string{
		"mutate/testdata/sample/sample.go: Sum: 3 -> 4 # gone": "equivalent.txt:1: no mutant is mutate/testdata/sample/sample.go: Sum: 3 -> 4",
		"mutate/testdata/sample/sample.go: Sum: 0 -> 0 + 1":    `no reason after " # "`,
	} {
		require.NoError(t, os.WriteFile(list, []byte(text), 0o644))
		require.ErrorContains(t, command([]string{"-list", "-equivalent", list, sample}, os.Stdout), want)
	}
	require.ErrorContains(t, command(nil, os.Stdout), "usage: mutate [flags] PACKAGES")
	require.ErrorContains(t, command([]string{"./nowhere"}, os.Stdout), "./nowhere: ")
}

// TestEnoughHasToBeKilled: with -least, too many survivors are an error; -n and -seed choose the same mutants again.
func TestEnoughHasToBeKilled(t *testing.T) {
	var out, again strings.Builder
	args := []string{"-equivalent", "", "-n", "6", "-seed", "3", "-least", "100", sample}
	require.ErrorContains(t, command(args, &out), "fewer than 100 %")
	require.Contains(t, out.String(), "of 6 killed")
	_ = command(args, &again)
	seconds := regexp.MustCompile(`\d+ s\n`)
	require.Equal(t, seconds.ReplaceAllString(out.String(), ""), seconds.ReplaceAllString(again.String(), ""))
}
