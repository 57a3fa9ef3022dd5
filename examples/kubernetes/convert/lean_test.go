package convert_test

import (
	"bytes"
	"runtime"
	"strings"
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

// Of items that are no objects complaints are kept, no more than are told, and the others counted: by Read, by a
// loader, and by each of its tasks.
func TestLoadKeepsLittleOfWhatIsNone(t *testing.T) {
	for _, head := range []string{`{"kind":"List","items":[`, `{"kind":"PodList","apiVersion":"v1","items":[`, `{"kind":"ListList","items":[`, `{"items":[`} {
		text := head + `{"metadata":{"name":"p"}},` + strings.Repeat(`{},1,null,{"na\u006de":1},{"kind":"Pod"},{"kind":"PodList"},[{}],`, 3000) + podJSON + `],"x":"List"}`
		require.Empty(t, loadDiffers(convert.Options{}, 1<<12, text))
	}
	found, listed, counted, room := convert.Task(strings.Repeat(`{} `, 50_000))
	require.Equal(t, 1, found)
	require.Equal(t, 50_000, listed+counted)
	require.Equal(t, 1000, listed)
	require.LessOrEqual(t, room, 1<<10)
}
