package domain

import (
	"github.com/preempt-go/preempt/internal/ports"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Room says why m has no room on node n of ix, which it was compiled for, beside everybody who
// runs there: the resources, host ports or devices that it asks for are not free. The zero
// Reason says that it has. Whether it may run there is not asked, nor who is nominated.
// O(r) for r resources; with ports or devices O(k) for k pods.
func (m *Member) Room(ix *cluster.Index, n cluster.NodeID) Reason {
	why := m.Resources(ix.Free(n), ix.Allocatable(n))
	if len(m.Pod.Ports) > 0 && why.OK() {
		why = m.portTaken(ix, n)
	}
	if len(m.Pod.Devices) == 0 || !why.OK() {
		return why
	}
	state, err := Devices().Prepare(ix, []*cluster.Pod{m.Pod})
	if err != nil {
		return Reason{Check: CheckDevice, Detail: err.Error()}
	}
	return state.Fits(0, n)
}

// portTaken says which port of m somebody holds on node n.
func (m *Member) portTaken(ix *cluster.Index, n cluster.NodeID) Reason {
	for _, p := range ix.PodsOn(n) {
		if port, taken := ports.Conflict(m.Pod.Ports, ix.Pod(p).Ports); taken {
			return m.Describe(ix, n, Reason{Check: CheckPorts, Port: port})
		}
	}
	return Reason{}
}
