package ask

import (
	"encoding/binary"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// ShapeKey appends to dst what a search reads of a pod, which asks for request and preempts
// below a priority, and of limits; ok is false if it reads more than fits a key. filtered
// adds what a filter is shown; see [domain.FilterView].
func ShapeKey(dst []byte, pod *cluster.Pod, request []int64, below int32, limits []Bound, filtered bool) (key []byte, ok bool) {
	if pod.NodeAffinity != nil {
		return dst, false
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(below))
	dst = binary.AppendUvarint(dst, uint64(len(limits)))
	for _, l := range limits { // which of them there are is for the options to say
		dst = binary.AppendVarint(dst, l.Left)
	}
	dst = binary.AppendUvarint(dst, uint64(len(pod.Ports)))
	for _, p := range pod.Ports {
		dst = appendText(appendText(binary.AppendVarint(dst, int64(p.Port)), string(p.Protocol)), p.IP)
	}
	for _, v := range request {
		dst = binary.AppendUvarint(dst, uint64(v))
	}
	dst = appendText(dst, pod.RequiredNode)
	dst = appendTexts(dst, pod.NodeSelector)
	dst = binary.AppendUvarint(dst, uint64(len(pod.Tolerations)))
	for i := range pod.Tolerations {
		t := &pod.Tolerations[i]
		dst = appendText(appendText(appendText(appendText(dst, t.Key), t.Value), string(t.Operator)), string(t.Effect))
	}
	if filtered {
		dst = appendText(appendText(appendText(appendText(dst, pod.Namespace), pod.Class), pod.Group), pod.Queue)
		dst = appendTexts(appendTexts(dst, pod.Labels), pod.Annotations)
	}
	return dst, true
}

// appendTexts appends the entries of m in order of their keys.
func appendTexts(dst []byte, m map[string]string) []byte {
	if dst = binary.AppendUvarint(dst, uint64(len(m))); len(m) == 0 {
		return dst
	}
	var room [16]string
	keys := room[:0]
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		dst = appendText(appendText(dst, k), m[k])
	}
	return dst
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}
