package workload_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/genopts"
	"github.com/preempt-go/preempt/internal/naivequota"
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

// TestHeadsGoInTheTwinsOrder: in random trees, with and without shares, where each head keeps
// what it takes from those after it.
func TestHeadsGoInTheTwinsOrder(t *testing.T) {
	for seed := range uint64(400) {
		q, o := genopts.RandomQuota(seed)
		s, r := &q.Snapshot, rand.New(rand.NewPCG(seed, 4))
		in := s.Workloads[len(s.Workloads)-1]
		s.Workloads = s.Workloads[:len(s.Workloads)-1]
		running := len(s.Workloads)
		var asked []cluster.Preemptor
		for i := range 2 + r.IntN(5) {
			w := in
			w.Name, w.Queue = fmt.Sprint("in", i), s.LocalQueues[r.IntN(len(s.LocalQueues))].Name
			w.Priority, w.Boost = int32(r.IntN(3)), int32(r.IntN(2))
			w.Created = time.Unix(int64(r.IntN(2)), 0).UTC()
			if r.IntN(3) == 0 {
				w.Requeued = time.Unix(int64(r.IntN(2)), 0).UTC()
			}
			s.Workloads = append(s.Workloads, w)
			asked = append(asked, cluster.Preemptor{Kind: cluster.KindWorkload, Namespace: w.Namespace, Name: w.Name})
		}
		rules := workload.Rules{Fair: o.Quota.FairSharing != nil, Precision: quota.Exact}
		m, err := workload.New(s.QuotaObjects(), rules)
		require.NoError(t, err)
		var jobs []*cluster.Workload
		for i := range s.Workloads[running:] {
			jobs = append(jobs, &s.Workloads[running+i])
		}
		world := naivequota.NewWorld(s)
		want := world.LineUp(jobs, naivequota.Options{Fair: rules.Fair})
		line, err := m.LineUp(asked)
		require.NoError(t, err)
		for len(want) > 0 {
			next := want[0]
			if rules.Fair {
				next = world.Next(want)
			}
			at := m.Next(line)
			require.Equal(t, next.W.Name, line[at].Preemptor.Name, "seed %d, of %d", seed, len(line))
			line = slices.Delete(line, at, at+1)
			want = slices.DeleteFunc(want, func(h *naivequota.Head) bool { return h == next })
			if next.Queue == nil {
				continue
			}
			world.In[&naivequota.Admitted{W: next.W, Queue: next.Queue, Usage: next.Request}] = true
			hold := &cluster.QuotaHold{Namespace: next.W.Namespace, Name: next.W.Name, ClusterQueue: next.Queue.Name}
			for fr, v := range next.Request {
				hold.Amounts = append(hold.Amounts, cluster.HeldAmount{Flavor: fr.Flavor, Resource: fr.Resource, Amount: v})
			}
			m.Hold(hold)
		}
		require.Empty(t, line)
	}
}

// TestHeadsThatCannotBe: complaints come in one order, whatever that of the heads.
func TestHeadsThatCannotBe(t *testing.T) {
	in := cluster.Preemptor{Kind: cluster.KindWorkload, Name: "in"}
	unknown, pod := cluster.Preemptor{Kind: cluster.KindWorkload, Name: "unknown"}, cluster.Preemptor{Kind: cluster.KindPod, Name: "pod"}
	m := model(t, eight(job("in", "", 9, 4)))
	_, err := m.LineUp([]cluster.Preemptor{in, unknown, in, pod})
	require.ErrorContains(t, err, "a head once only")
	require.ErrorContains(t, err, "a workload of the snapshot")
	_, again := m.LineUp([]cluster.Preemptor{pod, in, in, unknown})
	require.EqualError(t, again, err.Error())
}

// TestTreesGoByName: with shares, a queue of its own before a cohort of its name.
func TestTreesGoByName(t *testing.T) {
	s := eight(job("alone", "", 1, 1), job("inside", "", 9, 1))
	other := s.ClusterQueues[0]
	other.Name, other.Cohort = "alpha", "research"
	s.ClusterQueues = append(s.ClusterQueues, other)
	s.LocalQueues = append(s.LocalQueues, cluster.LocalQueue{Name: "theirs", ClusterQueue: "alpha"})
	s.Workloads[1].Queue = "theirs"
	m, err := workload.New(s.QuotaObjects(), workload.Rules{Fair: true})
	require.NoError(t, err)
	line, err := m.LineUp([]cluster.Preemptor{{Kind: cluster.KindWorkload, Name: "alone"}, {Kind: cluster.KindWorkload, Name: "inside"}})
	require.NoError(t, err)
	require.Equal(t, "alone", line[m.Next(line)].Preemptor.Name)
}

// job is a workload of count pods, which ask for a GPU each; of queue, if it holds quota.
func job(name, queue string, priority, count int32) cluster.Workload {
	w := cluster.Workload{
		Name: name, Queue: "team", Priority: priority,
		PodSets: []cluster.PodSet{{Name: "main", Count: count, Requests: cluster.Resources{"gpu": 1}}},
	}
	if queue != "" {
		w.Admission = &cluster.Admission{ClusterQueue: queue}
		w.PodSets[0].Flavors = map[string]string{"gpu": "a100"}
	}
	return w
}

// eight is a queue with quota of eight GPUs, whose workloads give way to more important ones.
func eight(jobs ...cluster.Workload) *cluster.Snapshot {
	return &cluster.Snapshot{
		ResourceFlavors: []cluster.ResourceFlavor{{Name: "a100"}},
		ClusterQueues: []cluster.ClusterQueue{{
			Name: "research", Preemption: cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority},
			Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
				Flavor: "a100", Resources: []cluster.ResourceQuota{{Resource: "gpu", Nominal: 8}},
			}}}},
		}},
		LocalQueues: []cluster.LocalQueue{{Name: "team", ClusterQueue: "research"}},
		Workloads:   jobs,
	}
}

// Five more GPUs than are left: who is evicted, and what would be lacking without.
func Example() {
	s := eight(job("big", "research", 1, 4), job("small", "research", 2, 3), job("in", "", 9, 5))
	m, err := workload.New(s.QuotaObjects(), workload.Rules{})
	if err != nil {
		panic(err)
	}
	w, err := m.Find(cluster.Preemptor{Kind: cluster.KindWorkload, Name: "in"})
	if err != nil {
		panic(err)
	}
	q, _, err := m.QueueOf(w)
	if err != nil {
		panic(err)
	}
	plan := m.Plan(w, q, workload.Objective{}, false)
	for _, t := range plan.Taken {
		fmt.Println(t.Amount, t.Resource, "of", m.Index.FlavorName(m.Index.FlavorOf(t.Column)))
	}
	for _, v := range plan.Victims {
		fmt.Printf("%s goes (%s), or %d are missing\n", v.Workload.Name, v.Reason, v.Lack.Missing)
	}
	// Output:
	// 5 gpu of a100
	// big goes (InClusterQueue), or 4 are missing
}
