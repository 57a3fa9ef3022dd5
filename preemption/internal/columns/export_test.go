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

// Bounds are the priorities that have a column.
func (v *Levels) Bounds() []int32 { return v.bounds }

// Grain is what amounts of a resource are multiples of.
func (l *Lanes) Grain(r cluster.ResourceID) int64 { return l.lane[r].grain }
