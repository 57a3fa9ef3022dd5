package cluster_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// A snapshot is checked as a whole: every problem is reported, in a fixed order.
func Example() {
	_, err := cluster.NewIndex(&cluster.Snapshot{
		Nodes: []cluster.Node{{Name: "n1"}, {Name: "n1"}},
		Pods:  []cluster.Pod{{Namespace: "shop", Name: "web", Requests: cluster.Resources{cluster.CPU: -500}}},
	})
	fmt.Println(err)

	ix, err := cluster.NewIndex(&cluster.Snapshot{
		Nodes: []cluster.Node{{Name: "n1", Allocatable: cluster.Resources{cluster.CPU: 4000}}},
		Pods:  []cluster.Pod{{Namespace: "shop", Name: "web", Node: "gone"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(ix.NumNodes(), "node,", ix.NumPods(), "pod,", len(ix.Warnings()), "warning:", ix.Warnings()[0].Text)
	// Output:
	// cluster: Node "n1": Name: "n1" is not unique
	// cluster: Pod "shop/web": Requests[cpu]: -500 is not >= 0
	// 1 node, 1 pod, 1 warning: no such node: the pod counts for budgets and groups only
}

func TestMain(m *testing.M) { gen.Tests(m) }

// oddPods changes some pods such that there is more to compile: names that begin alike
// or stand twice, names of what does not exist, and amounts of all kinds.
func oddPods(t *rapid.T, s *cluster.Snapshot) {
	bad := rapid.IntRange(0, 3).Draw(t, "bad") == 0
	for i := range s.Nodes {
		n := &s.Nodes[i]
		switch change := rapid.IntRange(0, 40).Draw(t, "node"); {
		case change < 4:
			n.Allocatable = cluster.Resources{"example.com/one": int64(change), cluster.Memory: 1 << 30}
		case change < 6:
			n.Allocatable = nil
		case !bad:
		case change == 6:
			n.Name = s.Nodes[0].Name
		case change == 7:
			n.Allocatable = cluster.Resources{cluster.Pods: -1, cluster.CPU: -2, "": 1}
		case change == 8:
			n.Name = ""
		}
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		p.Name = strings.Repeat("a", rapid.IntRange(0, 20).Draw(t, "prefix")) + p.Name[rapid.IntRange(0, len(p.Name)-1).Draw(t, "from"):] + fmt.Sprintf("\x00-%d", i)
		p.Namespace = rapid.SampledFrom([]string{p.Namespace, p.Namespace, "", "other"}).Draw(t, "namespace")
		switch rapid.IntRange(0, 12).Draw(t, "change") {
		case 0:
			p.Node = "gone"
		case 1:
			p.Node, p.NominatedNode = "", s.Nodes[0].Name
		case 2:
			p.Requests = cluster.Resources{"example.com/new": 3, cluster.CPU: 1}
		case 3:
			p.Requests = nil
		case 4:
			p.Class = "no-such-class"
		case 5:
			p.Requests = maps.Clone(p.Requests)
			if p.Requests == nil {
				p.Requests = cluster.Resources{}
			}
			p.Requests[cluster.CPU] = 0
		case 6:
			p.Queue = "lq"
		}
		if bad {
			spoil(t, s, i)
		}
	}
}

// spoil makes pod i of s malformed, perhaps.
func spoil(t *rapid.T, s *cluster.Snapshot, i int) {
	p := &s.Pods[i]
	switch rapid.IntRange(0, 30).Draw(t, "spoil") {
	case 0:
		p.Name = ""
	case 1:
		p.Namespace, p.Name = s.Pods[0].Namespace, s.Pods[0].Name
	case 2:
		p.Requests = cluster.Resources{cluster.Pods: 1, "": 2, cluster.CPU: -1}
	case 3:
		p.Requests = cluster.Resources{cluster.Memory: math.MaxInt64}
	case 4:
		p.Policy = "Sometimes"
	case 5:
		p.Tolerations = []cluster.Toleration{{Key: "a"}, {Operator: "In", Effect: "No"}, {Key: "b", Operator: cluster.TolerationGt, Value: "many"}}
	case 6:
		p.Ports = []cluster.HostPort{{Port: 80}, {Port: 0, Protocol: "FTP"}}
	case 7:
		p.NodeAffinity = &cluster.NodeAffinity{Terms: []cluster.NodeTerm{{}, {
			Labels: []cluster.NodeRequirement{{Key: "a", Operator: cluster.NodeIn}, {Operator: cluster.NodeGt, Values: []string{"x"}}},
			Fields: []cluster.NodeRequirement{{Key: "b", Operator: cluster.NodeExists}},
		}}}
	case 8:
		p.Spread = []cluster.Spread{{MaxSkew: 1, TopologyKey: "zone"}, {TopologyKey: "-", MinDomains: -1, MatchLabelKeys: []string{""}, NodeTaintsPolicy: "x"}}
	case 9:
		p.Devices = []cluster.DeviceRequest{{Resource: "gpu", Count: 1}, {Count: 2, Fraction: 1, Assigned: []int32{0, 0, -1}}}
	case 10:
		like := &disruption.Selector{MatchLabels: map[string]string{"!": "-"}, MatchExpressions: []disruption.Requirement{{Key: "a", Operator: "Like"}}}
		p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: "zone"}, {Selector: like, TopologyKey: "!", Namespaces: []string{""}, MatchLabelKeys: []string{"a"}, MismatchLabelKeys: []string{"a"}}}
	case 11:
		low := int32(-5)
		p.PreemptionPriority = &low
	case 12:
		p.Tokens = []string{"t", ""}
	}
}

// compilingIsPlain: an index holds what the structs say, whoever reads them in which
// order, and so do complaints.
func compilingIsPlain(t *rapid.T) {
	q := gen.Draw(gen.Everything()).Draw(t, "question")
	s := &q.Snapshot
	oddPods(t, s)
	ix, err := cluster.Compile(s.Objects(), 1)
	goroutines := rapid.IntRange(1, 4).Draw(t, "goroutines")
	shuffled := *s
	shuffled.Nodes, shuffled.Pods = rapid.Permutation(s.Nodes).Draw(t, "nodes"), rapid.Permutation(s.Pods).Draw(t, "pods")
	for _, other := range []*cluster.Snapshot{s, &shuffled} {
		again, otherErr := cluster.Compile(other.Objects(), goroutines)
		if err != nil {
			require.EqualError(t, otherErr, err.Error())
			continue
		}
		require.NoError(t, otherErr)
		require.Equal(t, ix.Warnings(), again.Warnings())
		isPlain(t, other, again)
	}
	if err == nil {
		isPlain(t, s, ix)
	}
}

func TestCompilingIsPlain(t *testing.T) { rapid.Check(t, compilingIsPlain) }

func FuzzCompilingIsPlain(f *testing.F) { f.Fuzz(rapid.MakeFuzz(compilingIsPlain)) }

// isPlain holds ix against s.
func isPlain(t *rapid.T, s *cluster.Snapshot, ix *cluster.Index) {
	classes, _ := priority.NewClasses(s.PriorityClasses)
	pods := make([]*cluster.Pod, len(s.Pods))
	for i := range s.Pods {
		pods[i] = &s.Pods[i]
	}
	slices.SortFunc(pods, func(a, b *cluster.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	require.Equal(t, len(pods), ix.NumPods())
	on, nominated := map[cluster.NodeID][]cluster.PodID{}, map[cluster.NodeID][]cluster.PodID{}
	free := make([][]int64, ix.NumNodes())
	for n := range free {
		free[n] = slices.Clone(ix.Allocatable(cluster.NodeID(n)))
	}
	for i, pod := range pods {
		p := cluster.PodID(i)
		require.Same(t, pod, ix.Pod(p))
		require.Equal(t, p, ix.PodByName(pod.Namespace, pod.Name))
		require.Equal(t, pod.Node != "", ix.Runs(p))
		want := cluster.NoNode
		for n := range cluster.NodeID(ix.NumNodes()) {
			if ix.Node(n).Name == pod.Node {
				want = n
			}
			if ix.Node(n).Name == pod.NominatedNode && pod.Node == "" {
				nominated[n] = append(nominated[n], p)
			}
		}
		require.Equal(t, want, ix.NodeOf(p))
		require.Equal(t, ix.GroupByName(cluster.KindPodGroup, pod.Namespace, pod.Group), ix.GroupOf(p))
		e, _ := classes.Resolve(priority.Spec{Class: pod.Class, Priority: pod.Priority, Policy: pod.Policy})
		require.Equal(t, e, priority.Effective{Priority: ix.Priority(p), Policy: ix.Policy(p)})
		row := ix.Request(p)
		require.EqualValues(t, 1, row[cluster.PodsColumn])
		for c := range row[1:] {
			require.Equal(t, pod.Requests[ix.Resource(cluster.ResourceID(c+1))], row[c+1])
		}
		for name := range pod.Requests {
			_, ok := ix.Column(name)
			require.True(t, ok)
		}
		if want != cluster.NoNode {
			on[want] = append(on[want], p)
			for c, v := range row {
				free[want][c] -= v
			}
		}
	}
	for n := range cluster.NodeID(ix.NumNodes()) {
		require.True(t, slices.Equal(on[n], ix.PodsOn(n)))
		require.True(t, slices.Equal(nominated[n], ix.Nominees(n)))
		require.Equal(t, free[n], ix.Free(n))
	}
	for g := range cluster.GroupID(ix.NumGroups()) {
		var members []cluster.PodID
		for p := range cluster.PodID(ix.NumPods()) {
			if ix.GroupOf(p) == g {
				members = append(members, p)
			}
		}
		require.True(t, slices.Equal(members, ix.Group(g).Pods))
	}
	var queued []cluster.PodID
	for p := range ix.Pods() {
		if ix.QueueOf(p) != "" {
			queued = append(queued, p)
		}
	}
	require.Equal(t, queued, ix.Queued())
	named(t, s, ix)
}

// named checks that a resource keeps its column as long as somebody names it: whoever
// is the last may not go.
func named(t *rapid.T, s *cluster.Snapshot, ix *cluster.Index) {
	count := map[string]int{}
	for i := range s.Nodes {
		for name := range s.Nodes[i].Allocatable {
			count[name]++
		}
	}
	for i := range s.Pods {
		for name := range s.Pods[i].Requests {
			count[name]++
		}
	}
	for p := range cluster.PodID(ix.NumPods()) {
		pod := ix.Pod(p)
		if pod.Guard != nil || len(pod.Tokens)+len(pod.Devices)+len(pod.Evictions) > 0 || pod.Group != "" {
			continue
		}
		last := false
		for name := range pod.Requests {
			last = last || count[name] == 1
		}
		require.Equal(t, !last, ix.MayRemovePod(p))
	}
}

// TestManyNamesAreSorted takes more names than can be compared whole.
func TestManyNamesAreSorted(t *testing.T) {
	var s cluster.Snapshot
	for i := range 3000 {
		j := i * 1733 % 3000
		s.Pods = append(s.Pods, cluster.Pod{Namespace: fmt.Sprint("ns-", j%3), Name: fmt.Sprintf("%[2]*[1]s-%03[3]d", strings.Repeat("x", j%7), 9*(j%2), j/5*(j%5))})
		s.Pods[i].Name += fmt.Sprintf("%c%d", j%2, j)
	}
	ix, err := cluster.NewIndex(&s)
	require.NoError(t, err)
	for p := range cluster.PodID(ix.NumPods() - 1) {
		a, b := ix.Pod(p), ix.Pod(p+1)
		require.Negative(t, cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name)))
	}
}

// TestALongNameIsCopiedOnce: of an object with a name of a million bytes there may be thousands of complaints.
func TestALongNameIsCopiedOnce(t *testing.T) {
	p := cluster.Pod{Namespace: "ns", Name: strings.Repeat("x", 1_000_000), Ports: make([]cluster.HostPort, 5_000)}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := p.Validate()
	runtime.ReadMemStats(&after)
	var complaint *cluster.FieldError
	require.ErrorAs(t, err, &complaint)
	require.Equal(t, p.Name, complaint.Name)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20))
}

func TestWeightIsADecimal(t *testing.T) {
	for text, want := range map[string]cluster.Weight{
		"1": cluster.OneWeight, "0": 0, "0.333": 333_000_000, "1.5": 1_500_000_000, "0.000000002": 2, "12": 12 * cluster.OneWeight,
	} {
		var w cluster.Weight
		err := w.UnmarshalText([]byte(text))
		require.NoError(t, err, text)
		require.Equal(t, want, w, text)
		require.Equal(t, text, w.String())
	}
	for _, text := range []string{"", "-1", "1.", ".5", "1e3", "0.0000000001", "9223372037", strings.Repeat("x", 1_000)} {
		err := new(cluster.Weight).UnmarshalText([]byte(text))
		require.ErrorIs(t, err, cluster.ErrWeight, text)
		require.Less(t, len(err.Error()), 250)
	}
}

// TestWhatANodeIsAskedForIsAnInt64: sums of what runs on a node and what is nominated to
// it must not wrap, whether a pod is there from the beginning or comes later.
func TestWhatANodeIsAskedForIsAnInt64(t *testing.T) {
	const half = math.MaxInt64 / 2
	running := func(name string, amount int64) cluster.Pod {
		return cluster.Pod{Name: name, Node: "n", Requests: cluster.Resources{"x": amount}}
	}
	nominated := func(name string, amount int64) cluster.Pod {
		return cluster.Pod{Name: name, NominatedNode: "n", Requests: cluster.Resources{"x": amount}}
	}
	const pods, both = "the sum over its pods", "the sum over its pods and those nominated to it"
	for name, c := range map[string]struct {
		pods []cluster.Pod
		bad  string // which sum; empty: none
	}{
		"the largest that runs":             {[]cluster.Pod{running("a", half), running("b", half+1)}, ""},
		"more than that":                    {[]cluster.Pod{running("a", half), running("b", half+2)}, pods},
		"the largest with who is nominated": {[]cluster.Pod{running("a", half), nominated("b", half+1)}, ""},
		"more than that with them":          {[]cluster.Pod{running("a", half), nominated("b", half+2)}, both},
		"those nominated alone":             {[]cluster.Pod{nominated("a", math.MaxInt64), nominated("b", math.MaxInt64)}, both},
		"another one in place of a pod":     {[]cluster.Pod{nominated("a", math.MaxInt64), {Name: "b", Requests: cluster.Resources{"x": 9}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			snap := &cluster.Snapshot{Nodes: []cluster.Node{{Name: "n", Allocatable: cluster.Resources{"x": 100}}}, Pods: c.pods}
			_, err := cluster.NewIndex(snap)
			if c.bad == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, `cluster: Node "n": requests[x]: `+c.bad+` is not an int64`)
			}

			last := c.pods[len(c.pods)-1]
			snap.Pods = c.pods[:len(c.pods)-1]
			ix, err := cluster.NewIndex(snap)
			require.NoError(t, err)
			require.Equal(t, c.bad == "", ix.MaySetPod(&last, cluster.NoPod), "it comes later")

			first := snap.Pods[0]
			first.Requests = cluster.Resources{"x": math.MaxInt64}
			require.True(t, ix.MaySetPod(&first, ix.PodByName(first.Namespace, first.Name)), "in place of itself")
		})
	}
}

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
	require.Equal(t, p, c)
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

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

func TestGuardsThatCannotBeRead(t *testing.T) {
	_, err := cluster.NewIndex(&cluster.Snapshot{
		Time: noon,
		Pods: []cluster.Pod{{
			Name: "p", Priority: ptr(int32(10)), RanSeconds: -1,
			Guard: &cluster.Guard{
				GuaranteedSeconds: ptr(int64(-1)), WaitSeconds: ptr(int64(-2)),
				Milestones: []cluster.Milestone{{Seconds: 5, Value: 9}, {Seconds: 5, Value: math.MaxInt32 + 1}},
			},
			Cost: &cluster.Cost{
				Fixed: -1, RestartSeconds: -1, Checkpoint: noon.Add(1),
				Milestones: []cluster.Milestone{{Seconds: -1, Value: -1}},
			},
			Evictions: []time.Time{noon, noon.Add(time.Second), {}},
		}},
		PodGroups:          []cluster.PodGroup{{Name: "g", Cost: &cluster.Cost{Fixed: -1}, Evictions: make([]time.Time, 1)}},
		CompositePodGroups: []cluster.CompositePodGroup{{Name: "c", Guard: &cluster.Guard{WaitSeconds: ptr(int64(-1))}, Evictions: make([]time.Time, 1)}},
		PriorityClasses: []priority.Class{{Name: "low", GuaranteedSeconds: -5, Annotations: map[string]string{
			priority.TolerationSecondsAnnotation: "soon",
		}}},
		Disruptions: []cluster.Disruption{{Time: noon.Add(1), Victims: -1, Pods: -1, Cost: -1}},
	})
	require.ErrorIs(t, err, cluster.ErrInvalid)
	require.ErrorIs(t, err, disruption.ErrMilestone)
	require.ErrorIs(t, err, priority.ErrToleration)
	require.ErrorIs(t, err, priority.ErrSeconds)
	require.Equal(t, strings.Split(strings.TrimSpace(`
cluster: CompositePodGroup "c": Evictions[0]: no time is not a time
cluster: CompositePodGroup "c": Guard.WaitSeconds: -1 is not >= 0
cluster: Pod "p": Cost.Fixed: -1 is not >= 0
cluster: Pod "p": Cost.Milestones[0].Seconds: -1 is not >= 0
cluster: Pod "p": Cost.Milestones[0].Value: -1 is not >= 0
cluster: Pod "p": Cost.RestartSeconds: -1 is not >= 0
cluster: Pod "p": Evictions[2]: no time is not a time
cluster: Pod "p": Guard.GuaranteedSeconds: -1 is not >= 0
cluster: Pod "p": Guard.Milestones[1].Seconds: 5 is not above those of the milestone before, 5
cluster: Pod "p": Guard.Milestones[1].Value: 2147483648 is not an int32
cluster: Pod "p": Guard.WaitSeconds: -2 is not >= 0
cluster: Pod "p": RanSeconds: -1 is not >= 0
cluster: PodGroup "g": Cost.Fixed: -1 is not >= 0
cluster: PodGroup "g": Evictions[0]: no time is not a time
cluster: PriorityClass "low": annotations[preemption-toleration.scheduling.x-k8s.io/toleration-seconds]: "soon" is not an integer of 64 bits
cluster: PriorityClass "low": guaranteedSeconds: -5 is not >= 0
cluster: Snapshot: Disruptions[0].Cost: -1 is not >= 0
cluster: Snapshot: Disruptions[0].Pods: -1 is not >= 0
cluster: Snapshot: Disruptions[0].Victims: -1 is not >= 0`), "\n"), strings.Split(err.Error(), "\n"))
}

func TestMilestonesBelowThePriority(t *testing.T) {
	_, err := cluster.NewIndex(&cluster.Snapshot{Pods: []cluster.Pod{{
		Name: "p", Priority: ptr(int32(10)), Guard: &cluster.Guard{Milestones: []cluster.Milestone{{Seconds: 5, Value: 9}, {Seconds: 6, Value: math.MinInt64}}},
	}}})
	require.ErrorIs(t, err, priority.ErrPreemptionPriority)
	require.EqualError(t, err, `cluster: Pod "p": Guard.Milestones[0].Value: 9 is not >= the priority 10
cluster: Pod "p": Guard.Milestones[1].Value: -9223372036854775808 is not >= the priority 10`)
}

func TestPreemptionPriorityOverTime(t *testing.T) {
	climbing := &cluster.Guard{Milestones: []cluster.Milestone{{Seconds: 100, Value: 60}, {Seconds: 200, Value: 20}}}
	for _, tt := range []struct {
		name  string
		pod   cluster.Pod
		group *cluster.Cost
		now   time.Time
		want  int32
	}{
		{"at the start", cluster.Pod{Started: noon}, nil, noon, 10},
		{"half-way up", cluster.Pod{Started: noon}, nil, noon.Add(50 * time.Second), 35},
		{"whole seconds only", cluster.Pod{Started: noon.Add(500 * time.Millisecond)}, nil, noon.Add(50 * time.Second), 34},
		{"half-way down", cluster.Pod{Started: noon}, nil, noon.Add(150 * time.Second), 40},
		{"constant after the last", cluster.Pod{Started: noon}, nil, noon.Add(time.Hour), 20},
		{"before the start", cluster.Pod{Started: noon.Add(time.Hour)}, nil, noon, 10},
		{"not started", cluster.Pod{}, nil, noon, 10},
		{"nobody knows what time it is", cluster.Pod{Started: noon}, nil, time.Time{}, 10},
		{"since the checkpoint", cluster.Pod{Started: noon, Cost: &cluster.Cost{Checkpoint: noon.Add(time.Hour)}}, nil, noon.Add(time.Hour + 100*time.Second), 60},
		{"since the group's checkpoint", cluster.Pod{Started: noon, Group: "g"}, &cluster.Cost{Checkpoint: noon.Add(time.Hour)}, noon.Add(time.Hour + 100*time.Second), 60},
		{"from the static one", cluster.Pod{Started: noon, PreemptionPriority: ptr(int32(30))}, nil, noon, 30},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.pod.Name, tt.pod.Node, tt.pod.Priority, tt.pod.Guard = "p", "n", ptr(int32(10)), climbing
			s := cluster.Snapshot{Time: tt.now, Pods: []cluster.Pod{tt.pod}, PodGroups: []cluster.PodGroup{{Name: "g", Priority: ptr(int32(10)), Guard: climbing, Cost: tt.group}}}
			ix, err := cluster.NewIndex(&s)
			require.NoError(t, err)
			level, due := ix.PreemptionPriority(0)
			require.Equal(t, tt.want, level)
			if due < math.MaxInt64 {
				s.Time = time.Unix(due-1, 0)
				early, err := cluster.NewIndex(&s)
				require.NoError(t, err)
				level, _ = early.PreemptionPriority(0)
				require.Equal(t, tt.want, level, "before %d", due)
			}
			if tt.pod.Group != "" {
				level, at := ix.GroupPreemptionPriority(0)
				require.Equal(t, tt.want, level)
				require.Equal(t, due, at)
			}
		})
	}
}

func TestCheckLead(t *testing.T) {
	ix, err := cluster.NewIndex(&cluster.Snapshot{
		Pods: []cluster.Pod{
			{Name: "far", Priority: ptr(int32(10)), PreemptionPriority: ptr(int32(16))},
			{Name: "near", Priority: ptr(int32(10)), PreemptionPriority: ptr(int32(15))},
			{Name: "later", Guard: &cluster.Guard{Milestones: []cluster.Milestone{{Seconds: 1, Value: 5}, {Seconds: 2, Value: 6}}}},
			{Name: "top", Priority: ptr(int32(math.MaxInt32))},
		},
		PodGroups: []cluster.PodGroup{{Name: "g", PreemptionPriority: ptr(int32(6))}},
	})
	require.NoError(t, err)
	require.EqualError(t, ix.CheckLead(5), `cluster: Pod "far": PreemptionPriority: 16 is not at most 5 above the priority 10
cluster: Pod "later": Guard.Milestones[1].Value: 6 is not at most 5 above the priority 0
cluster: PodGroup "g": PreemptionPriority: 6 is not at most 5 above the priority 0`)
	require.NoError(t, ix.CheckLead(6))
}

func TestElapsed(t *testing.T) {
	at := func(now, since time.Time) int64 {
		ix, err := cluster.NewIndex(&cluster.Snapshot{Time: now})
		require.NoError(t, err)
		seconds, known := ix.Elapsed(since)
		require.Equal(t, !now.IsZero() && !since.IsZero(), known)
		return seconds
	}
	require.Equal(t, int64(60), at(noon.Add(time.Minute), noon))
	require.Equal(t, int64(59), at(noon.Add(time.Minute), noon.Add(1)))
	require.Zero(t, at(noon, noon.Add(time.Minute)))
	require.Zero(t, at(time.Time{}, noon))
	require.Zero(t, at(noon, time.Time{}))
	require.Equal(t, int64(math.MaxInt64), at(noon, time.Unix(-math.MaxInt64, 0)), "it saturates")
}
