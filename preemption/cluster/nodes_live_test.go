package cluster_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// toldNode is what an index tells of a node, without numbers.
type toldNode struct {
	Node            *cluster.Node
	Open            bool
	Pods, Nominees  []string
	Allocatable     []int64
	Free            []int64
	Devices, Zone   string
	ByName, InOrder bool
}

// tell says what ix holds of every node, and of the pods that are on none.
func tell(ix *cluster.Index) (nodes []toldNode, strays []string, warnings []cluster.Warning) {
	names := func(pods []cluster.PodID) (list []string) {
		for _, p := range pods {
			list = append(list, ix.Pod(p).Name)
		}
		return list
	}
	zones, last := ix.Topology("zone"), ""
	for n := range ix.Nodes() {
		told := toldNode{
			Node: ix.Node(n), Open: ix.Open(n), Pods: names(ix.PodsOn(n)), Nominees: names(ix.Nominees(n)),
			Allocatable: ix.Allocatable(n), Free: ix.Free(n), ByName: ix.NodeByName(ix.Node(n).Name) == n, InOrder: last < ix.Node(n).Name,
		}
		if v := zones.Of(n); v != cluster.NoValue {
			told.Zone = zones.Value(v)
		}
		if pools := ix.Devices().Pools("gpu"); pools != nil && pools[n] != cluster.NoPool {
			pool := ix.Devices().Pool(pools[n])
			told.Devices = fmt.Sprint(pool.Node == n, pool.Capacity, ix.Devices().Free()[pool.First:][:pool.Count])
		}
		nodes, last = append(nodes, told), told.Node.Name
	}
	for p := range ix.Pods() {
		if ix.NodeOf(p) == cluster.NoNode {
			strays = append(strays, ix.Pod(p).Name)
		}
	}
	return nodes, strays, ix.Warnings()
}

// agrees: ix tells what a new index of the same objects does.
func agrees(t require.TestingT, ix *cluster.Index) {
	fresh, err := ix.Objects().Index()
	require.NoError(t, err)
	nodes, strays, warnings := tell(ix)
	wantNodes, wantStrays, wantWarnings := tell(fresh)
	require.Equal(t, wantNodes, nodes)
	require.Equal(t, wantStrays, strays)
	require.Equal(t, wantWarnings, warnings)
	require.Equal(t, len(nodes), ix.CountNodes())
	for n := range cluster.NodeID(ix.NumNodes()) {
		if !ix.IsNode(n) {
			require.Empty(t, ix.PodsOn(n))
			for _, amount := range append(slices.Clone(ix.Free(n)), ix.Allocatable(n)...) {
				require.Zero(t, amount)
			}
		}
	}
}

func someNode(t *rapid.T) *cluster.Node {
	n := &cluster.Node{
		Name:        fmt.Sprintf("n%02d", rapid.IntRange(0, 40).Draw(t, "node")),
		Allocatable: cluster.Resources{"cpu": rapid.Int64Range(0, 9).Draw(t, "cpu")},
		Labels:      map[string]string{"zone": rapid.SampledFrom([]string{"a", "b"}).Draw(t, "zone")},
	}
	if rapid.Bool().Draw(t, "devices") {
		n.Devices = map[string]cluster.DevicePool{"gpu": {Count: 2, Capacity: 4}}
	}
	return n
}

func somePod(t *rapid.T) *cluster.Pod {
	p := &cluster.Pod{Namespace: "ns", Name: fmt.Sprintf("p%02d", rapid.IntRange(0, 20).Draw(t, "pod")), Requests: cluster.Resources{"cpu": 1}}
	place := rapid.SampledFrom([]*string{&p.Node, &p.NominatedNode}).Draw(t, "place")
	*place = fmt.Sprintf("n%02d", rapid.IntRange(0, 40).Draw(t, "on"))
	if rapid.Bool().Draw(t, "asks for devices") {
		p.Devices = []cluster.DeviceRequest{{Resource: "gpu", Fraction: 3}}
	}
	return p
}

// came counts nodes that were to come, and those that were taken.
var came struct{ asked, set int }

// nodesComeAndGo: an index whose nodes and pods come and go tells what a new one does,
// and so does its fork.
func nodesComeAndGo(t *rapid.T) {
	keeper := cluster.Node{Name: "keeper", Allocatable: cluster.Resources{"cpu": 1}}
	ix, err := cluster.NewIndex(&cluster.Snapshot{Nodes: []cluster.Node{keeper}, Pods: []cluster.Pod{*somePod(t)}})
	require.NoError(t, err)
	var forks []*cluster.Index
	t.Repeat(map[string]func(t *rapid.T){
		"": func(t *rapid.T) {
			agrees(t, ix)
		},
		"node": func(t *rapid.T) {
			n := someNode(t)
			if came.asked++; ix.MaySetNode(n) {
				came.set++
				ix.SetNode(nil, n)
			}
		},
		"pod": func(t *rapid.T) {
			p := somePod(t)
			if old := ix.PodByName(p.Namespace, p.Name); ix.MaySetPod(p, old) {
				ix.SetPod(p, old)
			}
		},
		"no node": func(t *rapid.T) {
			if n := ix.NodeByName(someNode(t).Name); n != cluster.NoNode && ix.MayRemoveNode(n) {
				ix.RemoveNode(n)
			}
		},
		"no pod": func(t *rapid.T) {
			if p := ix.PodByName("ns", somePod(t).Name); p != cluster.NoPod && ix.MayRemovePod(p) {
				ix.RemovePod(p)
			}
		},
		"fork": func(t *rapid.T) {
			forks = append(forks, ix)
			ix = ix.Fork()
		},
		"back": func(t *rapid.T) {
			if len(forks) > 0 {
				i := rapid.IntRange(0, len(forks)-1).Draw(t, "fork")
				ix, forks[i] = forks[i], ix
			}
		},
	})
	for _, f := range forks { // whatever has happened to the others
		agrees(t, f)
	}
}

func TestNodesComeAndGo(t *testing.T) {
	rapid.Check(t, nodesComeAndGo)
	t.Log(came)
	require.Greater(t, came.set, came.asked*3/4)
}

// TestFewNodesMove: wherever nodes come, few others get another number for each.
func TestFewNodesMove(t *testing.T) {
	const nodes, come = 3000, 500
	for place, name := range map[string]func(i int) string{
		"anywhere":        func(i int) string { return fmt.Sprintf("n%04d-%d", i*7919%nodes, i) },
		"one place, up":   func(i int) string { return fmt.Sprintf("n1000-%04d", i) },
		"one place, down": func(i int) string { return fmt.Sprintf("n1000-%04d", come-i) },
		"before all":      func(i int) string { return fmt.Sprintf("m%04d", come-i) },
		"behind all":      func(i int) string { return fmt.Sprintf("o%04d", i) },
	} {
		t.Run(place, func(t *testing.T) {
			var s cluster.Snapshot
			for i := range nodes {
				s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprintf("n%04d", i)})
			}
			ix, err := cluster.NewIndex(&s)
			require.NoError(t, err)
			var moved []int
			for i := range come {
				n := &cluster.Node{Name: name(i)}
				require.True(t, ix.MaySetNode(n))
				moved = append(moved, len(ix.SetNode(nil, n)))
			}
			agrees(t, ix)
			slices.Sort(moved)
			sum := 0
			for _, k := range moved {
				sum += k
			}
			t.Logf("median %d, 99th %d, most %d, mean %d", moved[come/2], moved[come*99/100], moved[come-1], sum/come)
			require.LessOrEqual(t, moved[come/2], 24)
			require.LessOrEqual(t, sum/come, 100) // with the times when all move apart
		})
	}
}

// fill sets every field of v, and of what it points to, to something.
func fill(v reflect.Value) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.Unix(1, 0)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0))
		fill(v.Index(1))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64:
		v.SetInt(7)
	default:
		panic("no value for " + v.Type().String())
	}
}

// memory adds to in the addresses of all that v can be changed through, with the way there.
func memory(in map[uintptr]string, v reflect.Value, path string) map[uintptr]string {
	if v.Type() == reflect.TypeFor[time.Time]() {
		return in
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			memory(in, v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if !v.IsNil() {
			in[v.Pointer()] = path
		}
		switch {
		case v.IsNil():
		case v.Kind() == reflect.Pointer:
			memory(in, v.Elem(), path)
		case v.Kind() == reflect.Slice:
			for i := range v.Len() {
				memory(in, v.Index(i), path+"[]")
			}
		}
	}
	return in
}

func TestClonesShareNothing(t *testing.T) {
	var p cluster.Preemptor
	fill(reflect.ValueOf(&p).Elem())
	c := p.Clone()
	require.Empty(t, cmp.Diff(p, c))
	mine := memory(map[uintptr]string{}, reflect.ValueOf(p), "Preemptor")
	require.Greater(t, len(mine), 60)
	for at, path := range memory(map[uintptr]string{}, reflect.ValueOf(c), "Preemptor") {
		if mine[at] != "" {
			t.Errorf("%s is shared", path)
		}
	}
	var none cluster.Preemptor
	require.Equal(t, none, none.Clone())
}
