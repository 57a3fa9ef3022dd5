package convert_test

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/examples/kubernetes/internal/bigdump"
)

// Of the 2 kB of JSON that a pod has, what plays no part is passed over and what many pods have
// is shared: a pod costs some 16 allocations, where the types of the API take some hundreds.
func TestLoadBuildsLittle(t *testing.T) {
	const nodes, pods = 200, 6000
	var text bytes.Buffer
	require.NoError(t, bigdump.Write(&text, nodes, pods))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	loader := convert.Options{}.Loader()
	require.NoError(t, loader.Read("dump", &text))
	dump, err := loader.Dump()
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	require.Len(t, dump.Snapshot.Pods, pods+1)
	require.Less(t, (after.Mallocs-before.Mallocs)/pods, uint64(30))
}
