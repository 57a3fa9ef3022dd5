package columns

import (
	"reflect"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Alike reports whether two columns of one index are the same in every part.
func Alike(a, b *NodeColumns) bool {
	return reflect.DeepEqual(a.levels, b.levels) && reflect.DeepEqual(a.lanes, b.lanes) && reflect.DeepEqual(a.journal, b.journal)
}

// PickSharing is Pick by a number of goroutines, however few the nodes.
func (s *Scan) PickSharing(below int32, workers int) (cluster.NodeID, victims.Score) {
	return s.pick(below, workers)
}
