package cluster_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
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
		PodGroups:          []cluster.PodGroup{{Name: "g", Cost: &cluster.Cost{Fixed: -1}}},
		CompositePodGroups: []cluster.CompositePodGroup{{Name: "c", Guard: &cluster.Guard{WaitSeconds: ptr(int64(-1))}}},
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
