package gen

import (
	"flag"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// CheckUntil is [rapid.Check], repeated until the property has met each case that it
// counts in met: a short run draws too little to be sure of that at once. It fails if a
// hundred rounds have not met one of them. Each round draws anew, also where -rapid.seed is given.
func CheckUntil(t *testing.T, property func(*rapid.T), met ...*int) {
	t.Helper()
	given := flag.Lookup("rapid.seed").Value.String()
	seed, err := strconv.ParseUint(given, 10, 64)
	require.NoError(t, err)
	defer func() { require.NoError(t, flag.Set("rapid.seed", given)) }()
	for round := range uint64(100) {
		if seed != 0 {
			require.NoError(t, flag.Set("rapid.seed", strconv.FormatUint(seed+round<<32, 10)))
		}
		rapid.Check(t, property)
		if all(met) {
			return
		}
	}
	for i, count := range met {
		require.Positive(t, *count, "case %d that the property is about was never met", i)
	}
}

func all(met []*int) bool {
	for _, count := range met {
		if *count == 0 {
			return false
		}
	}
	return true
}

// Tests runs the tests of a package whose clusters are small, and is what its TestMain does. They leave a heap of few megabytes,
// which would be collected hundreds of times a second; beside 64 MiB that are never touched, it may grow to 128 MiB first.
func Tests(m *testing.M) {
	ballast := make([]byte, 64<<20)
	m.Run()
	runtime.KeepAlive(ballast)
}
