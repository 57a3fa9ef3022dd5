package constraints

import (
	"fmt"
	"strconv"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// amount reads a whole number from an annotation of p; without it, zero.
func amount(p *cluster.Pod, annotation string) (int64, error) {
	text, ok := p.Annotations[annotation]
	if !ok {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("pod %q: annotation %s: %q is not a whole number up to 2147483647",
			p.Namespace+"/"+p.Name, annotation, text)
	}
	return n, nil
}

// amounts reads the annotation of every pod of ix, and of every member.
func amounts(ix *cluster.Index, members []*cluster.Pod, annotation string) (ofPods, ofMembers []int64, err error) {
	ofPods = make([]int64, ix.NumPods())
	for p := range ix.Pods() {
		if ofPods[p], err = amount(ix.Pod(p), annotation); err != nil {
			return nil, nil, err
		}
	}
	ofMembers = make([]int64, len(members))
	for m, p := range members {
		if ofMembers[m], err = amount(p, annotation); err != nil {
			return nil, nil, err
		}
	}
	return ofPods, ofMembers, nil
}
