package convert_test

import (
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
)

// What unpacks to more than may be is not read on, however small it is.
func TestGzipIsUnpackedSoFar(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write(append(bytes.Repeat([]byte{' '}, 1<<20), `{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}`...))
	require.NoError(t, err)
	require.NoError(t, z.Close())

	read := func(most int64) (*convert.Dump, error) {
		l := convert.Options{Unpacked: most}.Loader()
		if err := l.Read("dump", bytes.NewReader(packed.Bytes())); err != nil {
			return nil, err
		}
		return l.Dump()
	}
	_, err = read(1 << 20)
	require.ErrorIs(t, err, convert.ErrUnpacked)
	for _, most := range []int64{0, 2 << 20} {
		d, err := read(most)
		require.NoError(t, err)
		require.Len(t, d.Snapshot.Nodes, 1)
	}
}

// What unpacks to a thousand times what it is packed in is refused where nobody says how much it may be.
func TestGzipIsUnpackedAsFarAsItWasPacked(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for range 65 {
		_, err := z.Write(bytes.Repeat([]byte{'a'}, 1<<20))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	_, err := convert.Read("dump", &packed)
	require.ErrorIs(t, err, convert.ErrUnpacked)
	require.ErrorContains(t, err, "67108864 bytes")
}
