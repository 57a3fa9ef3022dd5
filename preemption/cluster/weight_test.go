package cluster_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption/cluster"
)

func TestWeightIsADecimal(t *testing.T) {
	for text, want := range map[string]cluster.Weight{
		"1": cluster.OneWeight, "0": 0, "0.333": 333_000_000, "1.5": 1_500_000_000, "0.000000002": 2, "12": 12 * cluster.OneWeight,
	} {
		var w cluster.Weight
		err := w.UnmarshalText([]byte(text))
		require.NoError(t, err, text)
		require.Equal(t, want, w, text)
		require.Equal(t, text, w.String())
	}
	for _, text := range []string{"", "-1", "1.", ".5", "1e3", "0.0000000001", "9223372037", "x"} {
		err := new(cluster.Weight).UnmarshalText([]byte(text))
		require.ErrorIs(t, err, cluster.ErrWeight, text)
	}
}
