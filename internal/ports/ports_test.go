package ports

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// addresses are mostly different, as the first of a list are drawn more often; the last two are every one.
var addresses = func() (list []string) {
	for i := range 60 {
		list = append(list, fmt.Sprint("10.0.0.", i))
	}
	return append(list, "0.0.0.0", "")
}()

// drawn are one of so many ports, of so many numbers.
func drawn(t *rapid.T, lengths []int, numbers int32) (list []cluster.HostPort) {
	for range rapid.SampledFrom(lengths).Draw(t, "ports") {
		list = append(list, cluster.HostPort{
			Port: rapid.Int32Range(1, numbers).Draw(t, "port"), Protocol: rapid.SampledFrom([]string{"", "TCP", "UDP"}).Draw(t, "protocol"),
			IP: rapid.SampledFrom(addresses).Draw(t, "address"),
		})
	}
	return list
}

// Long lists of host ports conflict where two of their ports do.
func longPortsConflict(t *rapid.T) {
	numbers := rapid.SampledFrom([]int32{1, 40}).Draw(t, "numbers")
	draw := func() []cluster.HostPort { return drawn(t, []int{3 * many, many + 1, 5, 1, 0}, numbers) }
	want, have := draw(), draw()
	held := holders[struct{}]{}
	held.add(have, struct{}{})
	wanted := Wanted{}
	wanted.Add(draw())
	wanted.Reset()
	wanted.Add(want)
	positions, firsts, of := wanted.Conflicts([]int{-1}, have), []int(nil), map[int32]map[string]bool{}
	at := -1
	for i, w := range want {
		is := slices.ContainsFunc(have, func(h cluster.HostPort) bool { return taken(w, h) })
		same, other := held.meeting(w)
		require.Equal(t, is, len(same)+len(other) > 0)
		if of[w.Port] == nil {
			of[w.Port] = map[string]bool{}
		}
		if is && !of[w.Port][Name(w)] {
			firsts = append(firsts, i)
		}
		of[w.Port][Name(w)] = true
		if is && at < 0 {
			at = i
		}
	}
	require.Equal(t, firsts, append([]int(nil), positions...), "the first of equal ones")
	lookedUp := false
	for _, names := range of {
		lookedUp = lookedUp || len(names) > many
	}
	require.Equal(t, lookedUp, wanted.held != nil)
	i, conflict := wanted.Conflict(have)
	require.Equal(t, at >= 0, conflict)
	require.Equal(t, conflict, wanted.Meets(have))
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
		for _, long := range []int{0, many + 1} { // compared pair by pair, and looked up
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
			require.Equal(t, c.conflict, wanted.Meets(pad(c.have, 2000)), "%+v", c)
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

// TestWhoMeetsIsWhoConflicts: the pods of a node that meet, in order, are all that conflict, and no others if they are looked up; a
// member meets those who are placed as long as they are.
func TestWhoMeetsIsWhoConflicts(t *testing.T) {
	told := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SampledFrom([]int32{1, 20, 200}).Draw(t, "numbers")
		s := cluster.Snapshot{Nodes: []cluster.Node{{Name: "n"}}}
		for i := range rapid.SampledFrom([]int{0, 5, 4 * many}).Draw(t, "pods") {
			s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprintf("%03d", 999-i), Node: "n", Ports: drawn(t, []int{0, 1, 2}, numbers)})
		}
		ix, err := cluster.NewIndex(&s)
		require.NoError(t, err)
		var ns Nodes
		var guests []*Wanted
		var numbered []int
		for m := range 10 {
			w := new(Wanted)
			w.Add(drawn(t, []int{1, 2, 5, 5 * many, 2 * many, 0}, numbers))
			var met, got []cluster.PodID
			for _, p := range ix.PodsOn(0) {
				if _, meets := w.Conflict(ix.Pod(p).Ports); meets {
					met = append(met, p)
				}
			}
			var at []int
			indexed := ns.read(ix, 0).meeting(w, &at)
			for _, p := range ns.Meeting(ix, 0, w) {
				if _, meets := w.Conflict(ix.Pod(p).Ports); meets || indexed {
					got = append(got, p)
				}
			}
			require.Equal(t, met, got)
			others := slices.ContainsFunc(guests, func(o *Wanted) bool { _, meets := w.Conflict(o.list); return meets })
			require.Equal(t, others, ns.Placed(ix, 0, w, m))
			if len(guests) > 0 {
				var list []int
				for g, o := range guests {
					if _, meets := o.Conflict(w.list); meets {
						list = append(list, numbered[g])
					}
				}
				require.ElementsMatch(t, list, ns.Guests(nil, 0, w.list))
			}
			ns.Place(ix, 0, w, m)
			require.Equal(t, others, ns.Placed(ix, 0, w, m))
			if guests, numbered = append(guests, w), append(numbered, m); rapid.Bool().Draw(t, "goes") {
				ns.Unplace(0, w, m)
				guests, numbered = guests[:len(guests)-1], numbered[:len(guests)-1]
			}
			if indexed {
				told[fmt.Sprint(others, len(met) > 0)]++
			}
		}
	})
	require.Positive(t, min(told["false false"], told["false true"], told["true true"]))
}

// TestWhoMeetsIsNotLookedUpAgainAndAgain: where each port of a pod meets all others it is less work to go over them once.
func TestWhoMeetsIsNotLookedUpAgainAndAgain(t *testing.T) {
	s := cluster.Snapshot{Nodes: []cluster.Node{{Name: "n"}}}
	for i := range 3 * many {
		s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint(i), Node: "n", Ports: []cluster.HostPort{{Port: int32(80 + i%2)}}})
	}
	ix, err := cluster.NewIndex(&s)
	require.NoError(t, err)
	for n, indexed := range []bool{true, true, false} { // half of them, or as many as there are
		var ns Nodes
		var w Wanted
		for i := range n {
			w.Add([]cluster.HostPort{{Port: 80, IP: fmt.Sprint("10.0.0.", i)}})
		}
		var at []int
		require.Equal(t, indexed, ns.read(ix, 0).meeting(&w, &at))
		require.Equal(t, min(n, 1)*len(s.Pods)/2, len(ns.Meeting(ix, 0, &w)))
	}
}
