package convert_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

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

// YAML that is small and means much, or that there would be much to say about, is refused in few words.
func TestYAMLIsUnpackedSoFar(t *testing.T) {
	large := strings.Repeat("a", 1<<20)
	for text, want := range map[string]string{
		"a: &a " + large + "\nb: [" + strings.Repeat("*a,", 64) + "]\n": "its aliases make more than 67108864 bytes of it",
		strings.Repeat("kind: Pod\n", 10_000):                           `key "kind" already set in map`,
		"? [" + strings.Repeat("a,", 10_000) + "]\n: 1\n":               "invalid map key",
		"#\n" + strings.Repeat("%TAG ! x\n", 101):                       "it has more than 100 %TAG directives",
	} {
		_, err := convert.Read("dump", strings.NewReader(text))
		require.ErrorIs(t, err, convert.ErrInput)
		require.ErrorContains(t, err, want)
		require.Less(t, len(err.Error()), 1_100)
	}
}

// Statuses and sidecars are not looked through for each container.
func TestRequestsOfManyContainers(t *testing.T) {
	pod := &corev1.Pod{}
	for i := range 10_000 {
		name, policy := fmt.Sprint("c", i), corev1.ContainerRestartPolicyAlways
		asks := corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceName(name): resource.MustParse("1")}}
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, corev1.Container{Name: name, RestartPolicy: &policy, Resources: asks}, corev1.Container{Resources: asks})
		pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, corev1.ContainerStatus{Name: name, Resources: &asks})
	}
	list, err := convert.Requests(pod)
	require.NoError(t, err)
	require.Len(t, list, 10_000)
	require.EqualValues(t, 2, list["c0"])
}
