package tallies

import (
	"strconv"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Most is how much may be counted, and compared, for members whose terms differ. Members that agree in
// their terms, and in the labels that those read, are one. See "Limits" in preemption/OPTIONS.md.
const Most = 1 << 24

// Check complains of the field of member p with which there is more: n.
func Check(p *cluster.Pod, field string, n int) error {
	if n <= Most {
		return nil
	}
	return &cluster.FieldError{
		Kind: string(cluster.KindPod), Namespace: p.Namespace, Name: p.Name, Field: field,
		Value: strconv.Itoa(n) + " counts or comparisons for it and the pods before it", Want: "at most " + strconv.Itoa(Most),
	}
}
