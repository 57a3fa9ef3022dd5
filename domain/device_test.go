package domain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

func TestDevicesCorners(t *testing.T) {
	whole := func(n int32, assigned ...int32) func(*cluster.Pod) {
		return func(p *cluster.Pod) {
			p.Devices = append(p.Devices, cluster.DeviceRequest{Resource: "gpu", Count: n, Assigned: assigned})
		}
	}
	part := func(f int64, assigned ...int32) func(*cluster.Pod) {
		return func(p *cluster.Pod) {
			p.Devices = append(p.Devices, cluster.DeviceRequest{Resource: "gpu", Fraction: f, Assigned: assigned})
		}
	}
	half := []cluster.Pod{pod("p@g2", part(500, 0)), pod("q@g2", part(500, 1))}
	for _, k := range []corner{ // g1 and g2 have as many devices of 1000
		{
			name: "no devices asked", pods: half, members: []cluster.Pod{pod("m")}, want: "---",
		}, {
			name:    "a node without devices, and one with too few, for good",
			members: []cluster.Pod{pod("m", whole(2))}, want: "XX.",
		}, {
			name: "a fraction above every device", members: []cluster.Pod{pod("m", part(1001))}, want: "XXX",
		}, {
			name: "a fraction that is a whole device", members: []cluster.Pod{pod("m", part(1000))}, want: "X..",
		}, {
			name: "room on two devices never adds up", pods: half,
			members: []cluster.Pod{pod("m", part(600))}, want: "X.x",
		}, {
			name: "a fraction beside another", pods: half, members: []cluster.Pod{pod("m", part(500))}, want: "X..",
		}, {
			name: "a whole device must be wholly free", pods: half, members: []cluster.Pod{pod("m", whole(1))}, want: "X.x",
		}, {
			name: "one victim frees a device", pods: half, members: []cluster.Pod{pod("m", part(600))},
			history: []string{"-p"}, want: "X..",
		}, {
			name: "halves freed on two devices are no whole one", pods: append([]cluster.Pod{pod("r@g2", part(500, 0))}, half...),
			members: []cluster.Pod{pod("m", whole(2))}, history: []string{"-p", "-q"}, want: "XXx",
		}, {
			name: "who returns takes the device that it held", pods: half, members: []cluster.Pod{pod("m", whole(1))},
			history: []string{"-p", "-q", "+p", "+q"}, want: "X.x",
		}, {
			name: "both ways at once", members: []cluster.Pod{pod("m", whole(1), part(1))}, want: "XX.",
		}, {
			name: "two fractions of one pod may share a device", members: []cluster.Pod{pod("m", part(600), part(400))}, want: "X..",
		}, {
			name: "or not", members: []cluster.Pod{pod("m", part(600), part(600))}, want: "XX.",
		}, {
			name: "an earlier member sits beside who runs", pods: half,
			members: []cluster.Pod{pod("m", part(500)), pod("n", part(500)), pod("o", part(500))},
			history: []string{"m0@g2"}, want: "X..",
		}, {
			name: "until it is full", pods: half,
			members: []cluster.Pod{pod("m", part(500)), pod("n", part(500)), pod("o", part(500))},
			history: []string{"m0@g2", "m1@g2"}, want: "X.x",
		}, {
			name: "an earlier member leaves a device wholly free if it can", pods: []cluster.Pod{pod("p@g2", part(100))},
			members: []cluster.Pod{pod("m", part(900)), pod("n", whole(1))}, history: []string{"m0@g2"}, want: "X..",
		}, {
			name: "a nominated pod takes room", pods: []cluster.Pod{pod("w", nominated("g2"), whole(1))},
			members: []cluster.Pod{pod("m", whole(2))}, history: []string{"+w"}, want: "XXx",
		}, {
			name: "one that asks for none does not", pods: []cluster.Pod{pod("w", nominated("g2"))},
			members: []cluster.Pod{pod("m", whole(2))}, history: []string{"+w"}, want: "XX.",
		}, {
			name: "halves of which nobody knows where they are sit on one device", pods: []cluster.Pod{pod("p@g2", part(500)), pod("q@g2", part(500))},
			members: []cluster.Pod{pod("m", whole(1))}, want: "X..",
		}, {
			name: "three do not", pods: []cluster.Pod{pod("p@g2", part(500)), pod("q@g2", part(500)), pod("r@g2", part(500))},
			members: []cluster.Pod{pod("m", whole(1))}, want: "X.x",
		}, {
			name: "they come beside those who say where they are", pods: append([]cluster.Pod{pod("r@g2", part(600))}, half...),
			members: []cluster.Pod{pod("m", part(300))}, want: "X.x",
		}, {
			name: "and are gone with them", pods: append([]cluster.Pod{pod("r@g2", part(600))}, half...),
			members: []cluster.Pod{pod("m", part(300))}, history: []string{"-p", "-r"}, want: "X..",
		}, {
			name: "who has no room takes what is freed", pods: []cluster.Pod{pod("p@g1", whole(1)), pod("q@g1", whole(1))},
			members: []cluster.Pod{pod("m", whole(1))}, history: []string{"-p"}, want: "Xx.",
		}, {
			name: "until it is gone, too", pods: []cluster.Pod{pod("p@g1", whole(1)), pod("q@g1", whole(1))},
			members: []cluster.Pod{pod("m", whole(1))}, history: []string{"-p", "-q"}, want: "X..",
		}, {
			name:    "fractions beyond one device leave the other",
			pods:    []cluster.Pod{pod("p@g2", part(600, 0)), pod("q@g2", part(600, 0)), pod("r@g2", part(600, 0))},
			members: []cluster.Pod{pod("m", part(1000))}, want: "X..",
		}, {
			name:    "and one victim frees nothing there",
			pods:    []cluster.Pod{pod("p@g2", part(600, 0)), pod("q@g2", part(600, 0)), pod("r@g2", part(600, 0)), pod("s@g2", whole(1, 1))},
			members: []cluster.Pod{pod("m", part(1))}, history: []string{"-p"}, want: "X.x",
		}, {
			name: "more held than there is", pods: []cluster.Pod{pod("p@g2", whole(1, 0)), pod("q@g2", whole(1, 0))},
			members: []cluster.Pod{pod("m", whole(2))}, history: []string{"-p"}, want: "XXx",
		},
	} {
		k.nodes = []string{"g0", "g1", "g2"}
		k.run(t, pooled{domain.Devices()})
	}
}

// pooled gives nodes g1 and g2 their devices before Devices prepares.
type pooled struct{ domain.Constraint }

func (c pooled) Prepare(ix *cluster.Index, members []*cluster.Pod) (domain.State, error) {
	var s cluster.Snapshot
	for n := range cluster.NodeID(ix.NumNodes()) {
		node := *ix.Node(n)
		if n > 0 {
			node.Devices = map[string]cluster.DevicePool{"gpu": {Count: int32(n), Capacity: 1000}}
		}
		s.Nodes = append(s.Nodes, node)
	}
	for p := range cluster.PodID(ix.NumPods()) {
		s.Pods = append(s.Pods, *ix.Pod(p))
	}
	pooled, err := cluster.NewIndex(&s)
	if err != nil {
		return nil, err
	}
	return c.Constraint.Prepare(pooled, members)
}

func TestDeviceScopes(t *testing.T) {
	fraction := func(name string, f int64, options ...func(*cluster.Pod)) cluster.Pod {
		p := pod(name, options...)
		p.Devices = []cluster.DeviceRequest{{Resource: "gpu", Fraction: f}}
		return p
	}
	scope := func(pending cluster.Pod, members ...cluster.Pod) domain.Scope {
		ix, err := cluster.NewIndex(&cluster.Snapshot{Nodes: []cluster.Node{node("n1")}, Pods: []cluster.Pod{pending}})
		require.NoError(t, err)
		var list []*cluster.Pod
		for i := range members {
			list = append(list, &members[i])
		}
		s, err := domain.Devices().Prepare(ix, list)
		require.NoError(t, err)
		return s.Scope()
	}
	monotone := domain.Scope{NodeLocal: true, Monotone: true}
	require.Equal(t, monotone, scope(pod("w"), fraction("m", 3)))
	require.Equal(t, monotone, scope(pod("w"), fraction("m", 3), fraction("n", 3)))
	require.Equal(t, domain.Scope{NodeLocal: true}, scope(pod("w"), fraction("m", 3), fraction("n", 4)))
	require.Equal(t, domain.Scope{NodeLocal: true}, scope(fraction("w", 4, nominated("n1")), fraction("m", 3)))
	require.Equal(t, monotone, scope(fraction("w", 4, nominated("n1")), pod("m", func(p *cluster.Pod) {
		p.Devices = []cluster.DeviceRequest{{Resource: "fpga", Fraction: 3}}
	})), "another resource")
}

func TestTheReasonTellsWhatIsMissing(t *testing.T) {
	ix, err := cluster.NewIndex(&cluster.Snapshot{Nodes: []cluster.Node{node("n1")}})
	require.NoError(t, err)
	for _, c := range []struct {
		asks []cluster.DeviceRequest
		want string
	}{
		{[]cluster.DeviceRequest{{Resource: "gpu", Count: 2}}, "gpu: 2 whole"},
		{[]cluster.DeviceRequest{{Resource: "gpu", Fraction: 300}}, "gpu: 300 of one device"},
		{[]cluster.DeviceRequest{{Resource: "gpu", Fraction: 300}, {Resource: "gpu", Fraction: 400}}, "gpu: fractions [400 300]"},
		{[]cluster.DeviceRequest{{Resource: "gpu", Fraction: 300}, {Resource: "gpu", Count: 1}}, "gpu: 1 whole and fractions [300]"},
	} {
		s, err := domain.Devices().Prepare(ix, []*cluster.Pod{{Name: "m", Devices: c.asks}})
		require.NoError(t, err)
		require.Equal(t, domain.Reason{Check: domain.CheckDevice, Unresolvable: true, Detail: c.want}, s.Fits(0, 0))
	}
}
