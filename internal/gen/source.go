package gen

import (
	"math/rand/v2"

	"pgregory.net/rapid"
)

// Source is where choices come from: a number from 0 to n-1 each, of which the
// lower ones are the plainer choice, so that shrinking simplifies.
type Source func(n int) int

// Seeded is a source that always gives the same numbers for a seed.
func Seeded(seed uint64) Source {
	return rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)).IntN
}

// Drawn is a source that takes rapid's numbers.
func Drawn(t *rapid.T) Source {
	return func(n int) int {
		if n < len(upTo) {
			return upTo[n].Draw(t, "choice")
		}
		return rapid.IntRange(0, n-1).Draw(t, "choice")
	}
}

// upTo has a generator of the numbers below n at n: making one costs more than it does.
var upTo = func() (list [101]*rapid.Generator[int]) {
	for n := 1; n < len(list); n++ {
		list[n] = rapid.IntRange(0, n-1)
	}
	return list
}()

// chance is true in percent of all cases, and never when the feature is off.
func (s Source) chance(on bool, percent int) bool {
	return on && s(100) >= 100-percent
}

// Pick is one of the choices, the first of them when shrunk.
func Pick[T any](s Source, choices ...T) T { return choices[s(len(choices))] }
