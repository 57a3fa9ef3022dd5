package ports

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Long lists of host ports conflict where two of their ports do.
func longPortsConflict(t *rapid.T) {
	draw := func(label string) (list []cluster.HostPort) {
		for range rapid.IntRange(0, many+4).Draw(t, label) {
			list = append(list, cluster.HostPort{
				Port: rapid.Int32Range(1, 40).Draw(t, "port"), Protocol: rapid.SampledFrom([]string{"", "TCP", "UDP"}).Draw(t, "protocol"),
				IP: rapid.SampledFrom([]string{"", "0.0.0.0", "10.0.0.1", "10.0.0.2"}).Draw(t, "address"),
			})
		}
		return list
	}
	want, have := draw("want"), draw("have")
	held, marks := Held{}, make([]bool, len(want))
	held.Add(have)
	Mark(marks, want, have)
	at := -1
	for i, w := range want {
		is := taken(w, have)
		require.Equal(t, is, held.Has(w))
		require.Equal(t, is, marks[i])
		if is && at < 0 {
			at = i
		}
	}
	i, conflict := Conflict(want, have)
	require.Equal(t, at >= 0, conflict)
	if conflict {
		require.Equal(t, at, i)
	}
}

func TestLongPortsConflict(t *testing.T) { rapid.Check(t, longPortsConflict) }
