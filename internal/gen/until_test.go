package gen_test

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/internal/gen"
)

func TestEachRoundDrawsAnew(t *testing.T) {
	given := flag.Lookup("rapid.seed").Value.String()
	defer func() { require.NoError(t, flag.Set("rapid.seed", given)) }()
	for _, seed := range []string{"0", "7"} {
		require.NoError(t, flag.Set("rapid.seed", seed))
		drawn, met := map[[4]uint64]bool{}, 0
		gen.CheckUntil(t, func(t *rapid.T) {
			var v [4]uint64
			for i := range v {
				v[i] = rapid.Uint64().Draw(t, "v")
			}
			if drawn[v] = true; len(drawn) > 500 { // more than a round draws
				met = 1
			}
		}, &met)
		require.Equal(t, seed, flag.Lookup("rapid.seed").Value.String())
	}
}
