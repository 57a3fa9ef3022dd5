package ports

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Long lists of host ports conflict where two of their ports do.
func longPortsConflict(t *rapid.T) {
	numbers := rapid.SampledFrom([]int32{1, 40}).Draw(t, "numbers")
	draw := func(label string) (list []cluster.HostPort) {
		for range rapid.IntRange(0, many+4).Draw(t, label) {
			list = append(list, cluster.HostPort{
				Port: rapid.Int32Range(1, numbers).Draw(t, "port"), Protocol: rapid.SampledFrom([]string{"", "TCP", "UDP"}).Draw(t, "protocol"),
				IP: rapid.SampledFrom([]string{"", "0.0.0.0", "10.0.0.1", "10.0.0.2"}).Draw(t, "address"),
			})
		}
		return list
	}
	want, have := draw("want"), draw("have")
	held := Held{}
	held.Add(have)
	wanted := Wanted{}
	wanted.Add(draw("others"))
	wanted.Reset()
	wanted.Add(want)
	positions := wanted.Conflicts(nil, have)
	at := -1
	for i, w := range want {
		is := slices.ContainsFunc(have, func(h cluster.HostPort) bool { return taken(w, h) })
		require.Equal(t, is, held.Has(w))
		require.Equal(t, is, slices.Contains(positions, i))
		if is && at < 0 {
			at = i
		}
	}
	i, conflict := wanted.Conflict(have)
	require.Equal(t, at >= 0, conflict)
	if conflict {
		require.Equal(t, at, i)
	}
}

func TestLongPortsConflict(t *testing.T) { rapid.Check(t, longPortsConflict) }

// TestConflict: by number, protocol, which is TCP if none is named, and address, of which none is every one.
func TestConflict(t *testing.T) {
	port := func(n int32, protocol, address string) cluster.HostPort {
		return cluster.HostPort{Port: n, Protocol: protocol, IP: address}
	}
	for _, c := range []struct {
		want, have cluster.HostPort
		conflict   bool
	}{
		{port(80, "", ""), port(80, "TCP", ""), true},
		{port(80, "", ""), port(81, "", ""), false},
		{port(80, "UDP", ""), port(80, "TCP", ""), false},
		{port(80, "UDP", ""), port(80, "", ""), false},
		{port(80, "", "10.0.0.1"), port(80, "", "10.0.0.2"), false},
		{port(80, "", "10.0.0.1"), port(80, "", "10.0.0.1"), true},
		{port(80, "", "10.0.0.1"), port(80, "", ""), true},
		{port(80, "", "10.0.0.1"), port(80, "", "0.0.0.0"), true},
		{port(80, "", "0.0.0.0"), port(80, "", "10.0.0.1"), true},
	} {
		for _, long := range []int{0, many} { // compared pair by pair, and looked up
			pad := func(c cluster.HostPort, from int32) []cluster.HostPort {
				var list []cluster.HostPort
				for i := range long {
					list = append(list, port(from, "", fmt.Sprint(i)))
				}
				return append(list, c)
			}
			wanted := Wanted{}
			wanted.Add(pad(c.want, 1000))
			at, conflict := wanted.Conflict(pad(c.have, 2000))
			require.Equal(t, c.conflict, conflict, "%+v", c)
			require.Equal(t, map[bool]int{true: long}[conflict], at)
		}
	}
	require.Equal(t, "80/TCP", Name(port(80, "", "0.0.0.0")))
	require.Equal(t, "10.0.0.1:80/UDP", Name(port(80, "UDP", "10.0.0.1")))
}

// TestPodsThatMayMeet: those on the node with a port that leaves the same rest as a wanted one, the second time as well.
func TestPodsThatMayMeet(t *testing.T) {
	s := cluster.Snapshot{Nodes: []cluster.Node{{Name: "a"}, {Name: "b"}}}
	for i, p := range []int32{80, 81, 80 + 64, 0, 80} {
		pod := cluster.Pod{Name: fmt.Sprint(i), Node: "a"}
		if p > 0 {
			pod.Ports = []cluster.HostPort{{Port: p}}
		}
		s.Pods = append(s.Pods, pod)
	}
	s.Pods[4].Node = "b"
	ix, err := cluster.NewIndex(&s)
	require.NoError(t, err)
	var ns Nodes
	for range 2 {
		for node, want := range map[string][]string{"a": {"0", "2"}, "b": {"4"}} {
			var w Wanted
			require.Empty(t, ns.Meeting(ix, ix.NodeByName(node), &w))
			w.Add([]cluster.HostPort{{Port: 80}})
			var met []string
			for _, p := range ns.Meeting(ix, ix.NodeByName(node), &w) {
				met = append(met, ix.Pod(p).Name)
			}
			require.ElementsMatch(t, want, met)
		}
	}
}
