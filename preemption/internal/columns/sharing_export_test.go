package columns

import (
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// PickSharing is Pick by a number of goroutines, however few the nodes.
func (s *Scan) PickSharing(below int32, workers int) (cluster.NodeID, victims.Score) {
	return s.pick(below, workers)
}
