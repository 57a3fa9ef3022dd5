package workload_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

// TestRebuiltIsAsIfMadeOfThese: a model that is compiled anew with other objects answers at its time, with
// what is held, and follows changes like the one it was made of, which stays as it is.
func TestRebuiltIsAsIfMadeOfThese(t *testing.T) {
	s := eight(job("old", "research", 1, 3), job("in", "", 9, 4), job("held", "", 9, 2))
	s.ClusterQueues[0].Preemption.WaitSeconds = 100
	s.Workloads[1].Created = time.Unix(50, 0).UTC()
	s.Time = time.Unix(60, 0).UTC()
	s.QuotaHolds = []cluster.QuotaHold{{Name: "held", ClusterQueue: "research", Amounts: gpusHeld(2)}}
	m, err := workload.New(s.QuotaObjects(), workload.Rules{})
	require.NoError(t, err)
	r, err := m.Rebuilt(s, cluster.Nanos(time.Unix(90, 0)), func(o *workload.Objects) error {
		q := s.ClusterQueues[0]
		q.Groups = []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
			Flavor: "a100", Resources: []cluster.ResourceQuota{{Resource: "gpu", Nominal: 9}},
		}}}}
		o.Queues.ReplaceOrInsert(&q)
		return nil
	})
	require.NoError(t, err)
	q := r.Index.QueueByName("research")
	for _, x := range []struct {
		m        *workload.Model
		waits    int64
		reserved int64
		left     int64 // of 8 or 9 GPUs beside 3 that are used and 2 that are held
	}{{m, 90, 60, 3}, {r, 60, 90, 4}} {
		require.Equal(t, x.waits, x.m.Waits(x.m.Workload("", "in"), q))
		require.Equal(t, x.reserved*1e9, x.m.Held("", "old").Reserved)
		require.Equal(t, x.left == 4, plan(t, x.m, "in").Fits)
		search := x.m.Search(x.m.Workload("", "in"), q)
		require.Equal(t, x.left, search.Usage.Available(q, 0))
	}
	require.EqualValues(t, 90e9, r.Index.Now())
	r.Open(s)
	require.NoError(t, r.Evict("", "old", true))
	require.True(t, r.Remove("", "held"))
	require.False(t, r.Release("", "held"), "it left with what was held for it")
	require.NoError(t, r.Admit(r.Workload("", "in"), "research", gpus(4), nil))
	require.EqualValues(t, 90e9, r.Held("", "in").Reserved)
	require.NotNil(t, m.Held("", "old"))
}

// TestWaiting: a workload waits from its creation on, as the clock of the model says, for whole seconds.
func TestWaiting(t *testing.T) {
	at := func(seconds float64) time.Time { return time.Unix(0, int64(seconds*1e9)).UTC() }
	for name, x := range map[string]struct {
		wait    int64
		created time.Time
		now     time.Time
		want    int64
	}{
		"no wait":              {0, at(10), at(10), 0},
		"all of it":            {5, at(10), at(10), 5},
		"some of it":           {5, at(10), at(12), 3},
		"a part of a second":   {5, at(10), at(14.5), 1},
		"to the end":           {5, at(10), at(15), 0},
		"longer":               {5, at(10), at(99), 0},
		"since nobody knows":   {5, time.Time{}, at(10), 0},
		"until nobody knows":   {5, at(10), time.Time{}, 0},
		"from the future":      {5, at(10), at(9), 6},
		"one second, all left": {1, at(10), at(10), 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := eight(job("low", "research", 1, 8), job("in", "", 9, 4))
			s.ClusterQueues[0].Preemption.WaitSeconds = x.wait
			s.Workloads[1].Created, s.Time = x.created, x.now
			m := model(t, s)
			require.Equal(t, x.want, m.Waits(m.Workload("", "in"), 0))
			p := plan(t, m, "in")
			require.Equal(t, x.want == 0, p.Helps())
			require.Equal(t, x.want, p.Waits)
			require.Equal(t, x.want == 0, len(p.Steps) > 0)
			if x.want > 0 {
				require.Nil(t, m.Plan(m.Workload("", "in"), 0, workload.Objective{Effort: ask.Exact}, true).Least)
			}
		})
	}
}

// TestWorkloadsComeAndGo: who is set may be evicted, who is dropped is not, and a queue that uses more
// than there is is warned of as long as it does.
func TestWorkloadsComeAndGo(t *testing.T) {
	m := model(t, eight(job("in", "", 9, 4)))
	came := job("came", "research", 1, 6)
	require.NoError(t, m.Set(&came))
	require.Len(t, plan(t, m, "in").Victims, 1)
	require.Empty(t, m.Warnings())
	again := job("again", "research", 2, 3)
	require.NoError(t, m.Set(&again))
	require.Equal(t, []cluster.Warning{{
		Kind: cluster.KindClusterQueue, Name: "research", Field: "usage", Value: "gpu in flavor a100",
		Text: "more is used than there is: answered as it is",
	}}, m.Warnings())
	require.True(t, m.Remove("", "came"))
	require.Empty(t, m.Warnings())
	require.True(t, plan(t, m, "in").FitsNow)
	full := job("full", "research", 2, 5)
	require.NoError(t, m.Set(&full))
	require.Empty(t, m.Warnings(), "all that there is")
	p := plan(t, m, "in")
	require.Len(t, p.Victims, 1)
	require.Equal(t, "full", p.Victims[0].Workload.Name)
	require.Equal(t, workload.Lack{Missing: 4}, p.Victims[0].Lack)
}

// TestAdmittedAnew: what is admitted does not leave any more, and the workload that was given stays as it is.
func TestAdmittedAnew(t *testing.T) {
	in := job("in", "", 1, 4)
	in.Evicted = true
	s := eight(in)
	s.Time = time.Unix(7, 0).UTC()
	m := model(t, s)
	given := m.Workload("", "in")
	require.NoError(t, m.Admit(given, "research", gpus(4), nil))
	require.True(t, given.Evicted)
	require.Nil(t, given.PodSets[0].Flavors)
	require.False(t, m.Workload("", "in").Evicted)
	require.False(t, m.Held("", "in").Evicted)
	require.Equal(t, time.Unix(7, 0).UTC(), m.Workload("", "in").Admission.Reserved)
	require.NoError(t, m.Evict("", "in", true))
	m.SetTime(cluster.Nanos(time.Time{}))
	require.NoError(t, m.Admit(m.Workload("", "in"), "research", gpus(4), nil))
	require.Zero(t, m.Workload("", "in").Admission.Reserved)
}

// TestIdle: without queues, workloads and what is held for some.
func TestIdle(t *testing.T) {
	m := model(t, &cluster.Snapshot{})
	require.True(t, m.Idle())
	w := job("w", "", 1, 1)
	require.NoError(t, m.Set(&w))
	require.False(t, m.Idle())
	require.True(t, m.Remove("", "w"))
	require.True(t, m.Idle())
	m.Hold(&cluster.QuotaHold{Name: "w"})
	require.False(t, m.Idle())
	unopened, err := workload.New(cluster.QuotaObjects{}, workload.Rules{})
	require.NoError(t, err)
	require.True(t, unopened.Idle())
	require.False(t, model(t, eight()).Idle())
	m.Clone().Mu.Lock() // a clone is nobody's yet
	m.Mu.Lock()         // and does not keep that of which it is
}

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

// TestPodsOfWholeGroups: the highest group that goes as a whole and whose pods name one queue is one workload; where they do not, what goes
// with others that hold something else goes in parts, which may not leave by themselves.
func TestPodsOfWholeGroups(t *testing.T) {
	for _, x := range []struct {
		name   string
		modes  string   // of the tree and of its two groups: A goes as a whole, - does not
		queues []string // of a0, a1, b0, b1
		want   string   // the groups, and those who are parts
		parts  string
	}{
		{"the tree is one", "A--", []string{"team", "team", "team", "team"}, "tree tree tree tree", ""},
		{"each group is one", "-AA", []string{"team", "team", "team", "team"}, "a a b b", ""},
		{"each pod is one", "---", []string{"team", "team", "team", "team"}, "a0 a1 b0 b1", ""},
		{"the highest of two", "AA-", []string{"team", "team", "team", "team"}, "tree tree tree tree", ""},
		{"two queues: parts", "AAA", []string{"team", "team", "else", "else"}, "a a b b", "a a b b"},
		{"one has no queue: parts, but for who holds nothing", "AA-", []string{"team", "team", "", "team"}, "a a - b1", "a a - b1"},
		{"one group is of two queues", "-A-", []string{"team", "else", "team", "team"}, "a0 a1 b0 b1", "a0 a1 - -"},
	} {
		t.Run(x.name, func(t *testing.T) {
			s, one, prio := pools(), int32(1), int32(3)
			s.LocalQueues = append(s.LocalQueues, cluster.LocalQueue{Name: "else", ClusterQueue: "research"})
			s.Nodes = []cluster.Node{{Name: "n1", Allocatable: cluster.Resources{"gpu": 8}}}
			mode := func(i int) disruption.Mode {
				return map[byte]disruption.Mode{'A': disruption.All, '-': disruption.Single}[x.modes[i]]
			}
			s.CompositePodGroups = []cluster.CompositePodGroup{{Name: "tree", Mode: mode(0), MinGroupCount: &one, Priority: &prio}}
			for i, group := range []string{"a", "b"} {
				s.PodGroups = append(s.PodGroups, cluster.PodGroup{Name: group, Parent: "tree", Mode: mode(1 + i), MinCount: &one, Priority: &prio})
				for k := range 2 {
					s.Pods = append(s.Pods, gpuPod(fmt.Sprint(group, k), "n1", group, x.queues[2*i+k], 3))
				}
			}
			m, ix, err := withPods(t, s)
			require.NoError(t, err)
			var got, parts []string
			for _, p := range s.Pods {
				name, part := "-", "-"
				if r := m.Pods.Holds[ix.PodByName("", p.Name)]; r != nil {
					if name = r.Workload.Name; m.Pods.Partial[r] {
						part = name
					}
				}
				got, parts = append(got, name), append(parts, part)
			}
			require.NotContains(t, m.Pods.Partial, (*quota.Reservation)(nil))
			require.Equal(t, x.want, strings.Join(got, " "))
			if x.parts == "" {
				x.parts = "- - - -"
			}
			require.Equal(t, x.parts, strings.Join(parts, " "))
		})
	}
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
	s.Pods[1].Terminating, s.Pods[1].Preempted, s.Pods[7].Preempted = true, true, true
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
