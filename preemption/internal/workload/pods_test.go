package workload_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

// withPods is the model of s with its pods, and the compiled cluster.
func withPods(t *testing.T, s *cluster.Snapshot) (*workload.Model, *cluster.Index, error) {
	t.Helper()
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	var queued workload.Queued
	queued.Find(ix)
	require.True(t, queued.Any())
	base := model(t, s)
	m, err := queued.On(ix, base)
	if err != nil {
		return nil, nil, err
	}
	again, err := queued.On(ix, base)
	require.NoError(t, err)
	require.Same(t, m, again)
	base.Open(s)
	changed, err := queued.On(ix, base)
	require.NoError(t, err)
	require.NotSame(t, m, changed, "base may have changed since")
	return m, ix, nil
}

// gpuPod is a pod of one GPU.
func gpuPod(name, node, group, queue string, prio int32) cluster.Pod {
	return cluster.Pod{
		Name: name, UID: "of-" + name, Node: node, Group: group, Queue: queue, Priority: &prio, Requests: cluster.Resources{"gpu": 1},
		Created: time.Unix(int64(prio), 0).UTC(), Started: time.Unix(10+int64(prio), 0).UTC(),
	}
}

// TestPodsHoldQuota: those of a group together and others each by itself, in the first flavor
// whose labels their node has.
func TestPodsHoldQuota(t *testing.T) {
	s, prio := pools(), int32(7)
	room := cluster.Resources{"gpu": 8}
	s.Nodes = []cluster.Node{
		{Name: "n1", Allocatable: room, Labels: map[string]string{"pool": "old"}},
		{Name: "n2", Allocatable: room, Labels: map[string]string{"pool": "new"}},
		{Name: "n3", Allocatable: room},
	}
	s.PodGroups = []cluster.PodGroup{
		{Name: "team", UID: "of-team", Queue: "team", Priority: &prio, Basic: true},
		{Name: "free", Priority: &prio, Basic: true},
	}
	s.Pods = []cluster.Pod{
		gpuPod("a", "n2", "", "team", 5),
		gpuPod("b", "n1", "team", "", 3), gpuPod("c", "n2", "team", "", 2), gpuPod("d", "n2", "team", "", 4),
		gpuPod("e", "", "team", "", 1),
		gpuPod("f", "n1", "free", "team", 1), gpuPod("g", "n2", "free", "team", 1),
		gpuPod("h", "n3", "", "team", 1),
		gpuPod("i", "n1", "", "", 1),
		gpuPod("j", "n1", "", "unknown", 1), gpuPod("k", "n1", "", "unknown", 1),
		gpuPod("l", "", "", "team", 1), gpuPod("m", "", "", "team", 1),
	}
	s.Pods[4].NominatedNode, s.Pods[11].NominatedNode = "n1", "n2"
	s.Pods[0].Terminating, s.Pods[0].Preempted = true, true
	s.Pods[1].Terminating, s.Pods[1].Preempted = true, true
	m, ix, err := withPods(t, s)
	require.NoError(t, err)
	old, young := m.Index.Column("a100", "gpu"), m.Index.Column("h100", "gpu")

	type held struct {
		UID      string
		Priority int64
		Pods     []string
		Old, New int64
		Evicted  bool
		Ordered  time.Time
		Reserved int64
	}
	got := map[string]held{}
	tell := func(r *quota.Reservation, pods ...cluster.PodID) {
		h := held{UID: r.Workload.UID, Priority: r.Priority, Evicted: r.Evicted, Ordered: r.Workload.Created, Reserved: r.Reserved / 1e9}
		for _, p := range pods {
			h.Pods = append(h.Pods, ix.Pod(p).Name)
			if !ix.Runs(p) {
				continue
			}
			require.Same(t, r, m.Pods.Holds[p])
			require.Contains(t, m.Pods.On[ix.NodeOf(p)], r)
		}
		for _, u := range r.Usage {
			switch u.Column {
			case old:
				h.Old = u.Amount
			case young:
				h.New = u.Amount
			}
		}
		require.NotContains(t, got, r.Workload.Name)
		got[r.Workload.Name] = h
	}
	on := 0
	for _, list := range m.Pods.On {
		on += len(list)
	}
	require.Equal(t, 6, on, "team is on two nodes, once each")
	for r, pods := range m.Pods.Of {
		tell(r, pods...)
	}
	at := func(s int64) time.Time { return time.Unix(s, 0).UTC() }
	require.Equal(t, map[string]held{
		"a":    {"of-a", 5, []string{"a"}, 0, 1, true, at(5), 15},
		"team": {"of-team", 7, []string{"b", "c", "d"}, 1, 2, false, at(2), 12},
		"f":    {"of-f", 1, []string{"f"}, 1, 0, false, at(1), 11},
		"g":    {"of-g", 1, []string{"g"}, 0, 1, false, at(1), 11},
		"h":    {"of-h", 1, []string{"h"}, 1, 0, false, at(1), 11},
	}, got)
	require.Len(t, m.Pods.Holds, 7)

	clear(got)
	for _, e := range m.Pods.Expected {
		tell(e.Reservation, e.Pod)
	}
	require.Equal(t, map[string]held{
		"team": {"of-team", 7, []string{"e"}, 1, 0, false, at(1), 11},
		"l":    {"of-l", 1, []string{"l"}, 0, 1, false, at(1), 11},
	}, got)

	require.Len(t, m.Pods.Odd, 2)
	for i, name := range []string{"j", "k"} {
		require.Equal(t, cluster.Warning{
			Kind: cluster.KindPod, Name: name, Field: "Queue", Value: "unknown",
			Text: "there is no such active queue: what the pod uses is not counted",
		}, m.Pods.Odd[i])
	}
	q := m.Index.QueueByName("research")
	for column, free := range map[quota.ColumnID]int64{old: 8 - 4, young: 8 - 5} {
		require.True(t, m.FitsNow(q, []quota.ColumnAmount{{Column: column, Amount: free}}))
		require.False(t, m.FitsNow(q, []quota.ColumnAmount{{Column: column, Amount: free + 1}}))
	}
}

// TestPodsUseWhatCanBeCounted: beside workloads, and all together.
func TestPodsUseWhatCanBeCounted(t *testing.T) {
	with := func(other int64, amounts ...int64) error {
		w := job("other", "research", 1, 1)
		w.PodSets[0].Usage = cluster.Resources{"gpu": other}
		s := eight(w)
		s.Nodes = []cluster.Node{{Name: "n1", Allocatable: cluster.Resources{"gpu": 8}}}
		for i, v := range amounts {
			pod := gpuPod(string(rune('a'+i)), "n1", "", "team", 1)
			pod.Requests["gpu"] = v
			s.Pods = append(s.Pods, pod)
		}
		_, _, err := withPods(t, s)
		return err
	}
	const most = cluster.MaxUsage / 4
	require.NoError(t, with(most, most, most, most+3))
	err := with(most, most, most, most+4)
	require.EqualError(t, err, `cluster: Pod "c": Requests: 1152921504606846979 gpu is not so little that everybody together uses at most 2^62-1`)
	require.Error(t, with(cluster.MaxUsage, 1, 2))
}
