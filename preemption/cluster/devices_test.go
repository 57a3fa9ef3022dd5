package cluster

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
)

func TestDevicesThatPodsHold(t *testing.T) {
	whole := func(n int32, assigned ...int32) DeviceRequest {
		return DeviceRequest{Resource: "gpu", Count: n, Assigned: assigned}
	}
	part := func(f int64, assigned ...int32) DeviceRequest {
		return DeviceRequest{Resource: "gpu", Fraction: f, Assigned: assigned}
	}
	type held map[string][]Holding
	for _, c := range []struct {
		name string
		pods map[string][]DeviceRequest
		free []int64
		held held
		odd  []string // of the warnings
	}{
		{
			"nobody holds anything",
			nil, []int64{10, 10, 10}, held{}, nil,
		}, {
			"only what is said is held for certain",
			map[string][]DeviceRequest{"a": {part(4)}, "b": {whole(1)}, "c": {part(7, 1)}},
			[]int64{10, 3, 10}, held{"c": {{1, 7}}}, nil,
		}, {
			"the largest fraction first, each where it fits best",
			map[string][]DeviceRequest{"a": {part(3)}, "b": {part(6)}, "c": {part(3)}, "d": {part(5)}, "e": {part(4), part(7)}},
			[]int64{10, 10, 10}, held{}, nil,
		}, {
			"several requests of one pod",
			map[string][]DeviceRequest{"a": {part(6, 2), whole(2, 0, 1)}},
			[]int64{0, 0, 4}, held{"a": {{2, 6}, {0, 10}, {1, 10}}}, nil,
		}, {
			"too many whole devices",
			map[string][]DeviceRequest{"a": {whole(2)}, "b": {whole(2)}},
			[]int64{10, 10, 10}, held{},
			[]string{"not enough devices are wholly free on its node: none there counts as free"},
		}, {
			"too large a fraction",
			map[string][]DeviceRequest{"a": {part(6)}, "b": {part(6)}, "c": {part(6)}, "d": {part(5)}},
			[]int64{10, 10, 10}, held{},
			[]string{"no device on its node has that much room: none there counts as free"},
		}, {
			"two pods say that they hold the same",
			map[string][]DeviceRequest{"a": {whole(1, 0)}, "b": {part(6, 0)}},
			[]int64{-6, 10, 10}, held{"a": {{0, 10}}, "b": {{0, 6}}},
			[]string{"device 0 is held by more than it has"},
		}, {
			"a device that is not there, and a fraction above what a device has",
			map[string][]DeviceRequest{"a": {whole(2, 2, 3)}, "b": {part(11, 1)}},
			[]int64{10, 0, 0}, held{"a": {{2, 10}}, "b": {{1, 10}}},
			[]string{"device 3 is not on its node: it does not hold that one"},
		}, {
			"a resource that the node does not have",
			map[string][]DeviceRequest{"a": {{Resource: "fpga", Count: 1}}, "b": {{Resource: "npu", Count: 1}}},
			[]int64{10, 10, 10}, held{},
			[]string{"no such devices on its node: it holds none", "no such devices on its node: it holds none"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Snapshot{Nodes: []Node{
				{Name: "n1", Devices: map[string]DevicePool{"gpu": {3, 10}}},
				{Name: "n2", Devices: map[string]DevicePool{"fpga": {1, 1}}},
			}}
			for name, requests := range c.pods {
				s.Pods = append(s.Pods, Pod{Name: name, Node: "n1", Devices: requests})
			}
			s.Pods = append(s.Pods, Pod{Name: "pending", Devices: []DeviceRequest{whole(1)}},
				Pod{Name: "lost", Node: "n3", Devices: []DeviceRequest{whole(1)}})
			ix := indexOf(t, s)
			d := ix.Devices()
			require.Equal(t, append(c.free, 1), d.Free())
			got := held{}
			for p := range PodID(ix.NumPods()) {
				if h := d.Held(nil, ix.Pod(p), ix.NodeOf(p)); len(h) > 0 {
					got[ix.Pod(p).Name] = h
				}
			}
			if diff := cmp.Diff(c.held, got); diff != "" {
				t.Errorf("holdings (-want +got):\n%s", diff)
			}
			var odd []string
			for _, w := range ix.Warnings() {
				if w.Field != "Node" { // of the pod on no node
					require.Equal(t, "Devices[0]", w.Field)
					odd = append(odd, w.Text)
				}
			}
			require.Equal(t, c.odd, odd)
			require.Equal(t, []PoolID{0, NoPool}, d.Pools("gpu"))
			require.Equal(t, Pool{1, 3, 1, 1}, d.Pool(d.Pools("fpga")[1]))
			require.Nil(t, d.Pools("npu"))
		})
	}
}

// TestForksKeepTheirPendingPods: who goes in a fork stays in the other.
func TestForksKeepTheirPendingPods(t *testing.T) {
	var s Snapshot
	for _, name := range []string{"a", "b", "c"} {
		s.Pods = append(s.Pods, Pod{Namespace: "ns", Name: name, Devices: []DeviceRequest{{Resource: "gpu", Count: 1}}})
	}
	ix, err := NewIndex(&s)
	require.NoError(t, err)
	fork := ix.Fork()
	ids := []PodID{ix.PodByName("ns", "a"), ix.PodByName("ns", "b"), ix.PodByName("ns", "c")}
	fork.RemovePod(ids[0])
	require.ElementsMatch(t, ids, ix.Devices().Pending())
	require.ElementsMatch(t, ids[1:], fork.Devices().Pending())
}

func TestBestFit(t *testing.T) {
	require.Equal(t, 1, BestFit([]int64{9, 4, 4, 3}, 4))
	require.Equal(t, 0, BestFit([]int64{9, 4, 4, 3}, 5))
	require.Equal(t, -1, BestFit([]int64{9}, 10))
	require.Equal(t, -1, BestFit(nil, 0))
}

// Every group is on a cycle from which the chain of its parents comes back to it.
func TestOnCycles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "groups")
		parents := rapid.SliceOfN(rapid.IntRange(-1, max(n-1, 0)), n, n).Draw(t, "parents")
		parent := func(g GroupID) GroupID { return GroupID(parents[g]) }
		for i, got := range onCycles(n, parent) {
			at := parent(GroupID(i))
			for range n {
				if at == NoGroup || at == GroupID(i) {
					break
				}
				at = parent(at)
			}
			require.Equal(t, at == GroupID(i), got, "group %d of %d", i, parents)
		}
	})
}

func TestOnCyclesAsksForEachParentTwice(t *testing.T) {
	const n = 10_000
	for name, parent := range map[string]func(GroupID) GroupID{
		"a chain down": func(g GroupID) GroupID { return g - 1 },
		"a chain up":   func(g GroupID) GroupID { return (g+2)%(n+1) - 1 },
		"a cycle":      func(g GroupID) GroupID { return (g + 1) % n },
		"into a cycle": func(g GroupID) GroupID { return min(g+1, n-1) },
	} {
		asked := 0
		onCycles(n, func(g GroupID) GroupID { asked++; return parent(g) })
		require.LessOrEqual(t, asked, 2*n, name)
	}
}

// However long what they are about, messages are short.
func TestMessagesAreShort(t *testing.T) {
	long := strings.Repeat("x", 1_000_000)
	s := &Snapshot{
		Pods: []Pod{{
			Name: "a/" + long, Namespace: long, Requests: Resources{long: -1}, Policy: "no",
			Ports:       []HostPort{{Port: -1, Protocol: long}},
			Tolerations: []Toleration{{Operator: TolerationOperator(long)}},
		}},
		Budgets: []disruption.Budget{{Name: long, Selector: &disruption.Selector{MatchLabels: map[string]string{long: long}}}},
	}
	_, err := NewIndex(s)
	require.ErrorIs(t, err, ErrInvalid)
	for _, line := range strings.Split(err.Error(), "\n") {
		require.Less(t, len(line), 1_200)
	}
}

// Compile is Objects.Index by a number of goroutines.
var Compile = compile
