package cluster_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

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
