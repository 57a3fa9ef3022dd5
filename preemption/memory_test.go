package preemption_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// heap is what is in use, in bytes.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestMemoryOfAPod bounds what an index holds for each pod beyond the snapshot, 102
// bytes with 4 columns when this was written, and a planner, which has units and their
// columns beside it: 191. A further column takes 8 bytes of the index and up to 8 of the
// columns. The bounds leave a third of room.
func TestMemoryOfAPod(t *testing.T) {
	s := gen.Fleet(1000, 30, 1, gen.Uniform)
	pods := uint64(len(s.Pods))
	before := heap()
	ix, err := cluster.NewIndex(&s)
	require.NoError(t, err)
	index := (heap() - before) / pods
	pl, err := preemption.NewPlanner(&s, preemption.Options{})
	require.NoError(t, err)
	planner := (heap()-before)/pods - index
	t.Logf("%d columns: index %d bytes a pod, planner %d", ix.NumResources(), index, planner)
	require.Less(t, index, uint64(140))
	require.Less(t, planner, uint64(260))

	before = heap()
	forks := make([]*preemption.Planner, 20)
	for i := range forks {
		forks[i] = pl.Fork()
		require.NoError(t, forks[i].Remove(preemption.PodRef{Namespace: s.Pods[i].Namespace, Name: s.Pods[i].Name}))
	}
	fork := (heap() - before) / uint64(len(forks))
	t.Logf("a fork that removes a pod: %d bytes", fork)
	require.Less(t, fork, planner*pods/10, "a fork holds what it has changed")
	runtime.KeepAlive(ix)
	runtime.KeepAlive(pl)
	runtime.KeepAlive(forks)
}

// TestMemoryOfAResource bounds what a planner holds more for each pod when nodes and pods
// name one resource more: 11 bytes when this was written.
func TestMemoryOfAResource(t *testing.T) {
	const more = 8
	held := func(resources int) uint64 {
		s := gen.Fleet(1000, 30, 1, gen.Uniform)
		for r := range resources {
			name := fmt.Sprint("example.com/r", r)
			for i := range s.Nodes {
				s.Nodes[i].Allocatable[name] = 1000
			}
			for i := range s.Pods {
				s.Pods[i].Requests[name] = int64(i % 30)
			}
		}
		before := heap()
		pl, err := preemption.NewPlanner(&s, preemption.Options{})
		require.NoError(t, err)
		bytes := heap() - before
		runtime.KeepAlive(pl)
		return bytes / uint64(len(s.Pods))
	}
	resource := (held(more) - held(0)) / more
	t.Logf("%d bytes a pod and resource", resource)
	require.Less(t, resource, uint64(22))
}

// TestUpdatesAllocateLittle: a pod that is replaced costs itself and the lists of its
// node.
func TestUpdatesAllocateLittle(t *testing.T) {
	s := gen.Fleet(100, 30, 1, gen.Uniform)
	pl, err := preemption.NewPlanner(&s, preemption.Options{})
	require.NoError(t, err)
	i := 0
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		i++
		_ = pl.SetPod(s.Pods[i])
	}), 8.0)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		i++
		ref := preemption.PodRef{Namespace: s.Pods[i].Namespace, Name: s.Pods[i].Name}
		_ = pl.Remove(ref)
		_ = pl.SetPod(s.Pods[i])
	}), 12.0)
}

// TestMoreResourcesThanLanes: with more resources than 16 bits number, the one that is
// short is still told.
func TestMoreResourcesThanLanes(t *testing.T) {
	offers := preemption.Resources{}
	for i := range 40_000 {
		offers[fmt.Sprintf("r%05d", i)] = 10
	}
	s := &preemption.Snapshot{
		Nodes: []cluster.Node{{Name: "n", Allocatable: offers}},
		Pods:  []preemption.Pod{{Name: "low", Node: "n", Priority: prio(1), Requests: preemption.Resources{"r39990": 8}}},
	}
	ask := func(amount int64) *preemption.Result {
		p := preemption.Pod{Name: "p", Priority: prio(10), Requests: preemption.Resources{"r39990": amount}}
		r, err := preemption.Preempt(preemption.Preemptor{Pods: []preemption.Pod{p}}, s)
		require.NoError(t, err)
		return r
	}
	require.Equal(t, preemption.Feasible, ask(10).Verdict)
	require.Equal(t, []preemption.Rejection{{Reason: "not enough r39990", Domains: 1}}, ask(11).Rejected)
}
