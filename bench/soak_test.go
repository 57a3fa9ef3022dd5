package bench_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
)

var soak = flag.Duration("soak", 0, "how long TestSoak lives; 0: 1,000 changes")

// TestSoak is a long life of a planner: changes without end, of pods, nodes, groups, budgets and
// namespaces that nobody has heard of before, while others ask, fork, read and apply. What it
// keeps in memory depends on what is there and not on what was, and in the end it answers as
// one that begins with its snapshot. An hour of it, under the race detector:
//
//	go test -race -run TestSoak -timeout 0 -v ./bench -soak 1h
func TestSoak(t *testing.T) {
	const nodes, pods = 60, 10
	s := gen.Fleet(nodes, pods, 1, gen.Uniform)
	pl, err := preemption.NewPlanner(&s, preemption.Options{})
	require.NoError(t, err)
	var over atomic.Bool
	var asked, applied atomic.Int64
	var wg sync.WaitGroup
	for asker := range uint64(2) {
		wg.Go(func() {
			for seed := asker; !over.Load(); seed += 2 {
				ask(t, pl, seed, &applied)
				asked.Add(1)
				if *soak == 0 {
					time.Sleep(time.Millisecond) // the changes are what counts
				}
			}
		})
	}
	c := &renewer{Rand: rand.New(rand.NewPCG(1, 7)), pl: pl, nodes: nodes, pods: nodes * pods}
	var heap []uint64
	for began, round := time.Now(), 0; round < 1_000 || time.Since(began) < *soak; round++ {
		c.change(t)
		if round%100 == 99 {
			heap = append(heap, inUse())
		}
	}
	over.Store(true)
	wg.Wait()
	heap = append(heap, inUse())
	t.Logf("%d changes, %d questions, %d applied; heap %d to %d KiB, in the end %d", c.number, asked.Load(), applied.Load(),
		slices.Min(heap)>>10, slices.Max(heap)>>10, heap[len(heap)-1]>>10)
	early, end := slices.Max(heap[:len(heap)/3]), heap[len(heap)-1]
	require.Less(t, end, early+early/4+1<<20, "bytes that are kept, at most and in the end")

	fresh, err := preemption.NewPlanner(pl.Snapshot(), preemption.Options{})
	require.NoError(t, err)
	for seed := range uint64(20) {
		want, err := fresh.Preempt(gen.FleetPod(seed))
		require.NoError(t, err)
		got, err := pl.Preempt(gen.FleetPod(seed))
		require.NoError(t, err)
		want.Stats, got.Stats = preemption.Stats{}, preemption.Stats{}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-of its snapshot +after the life):\n%s", diff)
		}
	}
}

// inUse is how many bytes are kept.
func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// ask asks, forks and reads; some answers are applied.
func ask(t *testing.T, pl *preemption.Planner, seed uint64, applied *atomic.Int64) {
	p := gen.FleetPod(seed)
	p.Pods[0].Name = fmt.Sprintf("preemptor-%d", seed)
	p.Pods[0].UID = p.Pods[0].Name
	r, err := pl.Preempt(p)
	require.NoError(t, err)
	fork := pl.Fork()
	_ = fork.Evict(r) // a change may have come between
	_, err = fork.Decide(p)
	require.NoError(t, err)
	switch seed % 8 {
	case 0:
		if pl.Evict(r) == nil {
			applied.Add(1)
		}
	case 1:
		require.NotEmpty(t, pl.Snapshot().Nodes)
	case 2:
		require.NoError(t, pl.View(func(preemption.View) {}))
	case 3:
		_, err := pl.Park(p)
		require.NoError(t, err)
	case 4:
		pl.Wake()
	}
}

// renewer changes a planner, always by something new, and keeps its size.
type renewer struct {
	*rand.Rand
	pl          *preemption.Planner
	nodes, pods int
	number      int
}

func (c *renewer) change(t *testing.T) {
	c.number++
	id := fmt.Sprint(c.number)
	s := c.pl.Snapshot()
	switch kind := c.IntN(10); {
	case kind == 0: // a node comes, and one goes with its pods
		n := s.Nodes[c.IntN(len(s.Nodes))]
		n.Name, n.Labels = "node-"+id, map[string]string{"kubernetes.io/hostname": "node-" + id, "rack": "rack-" + id}
		n.Taints = []cluster.Taint{{Key: "taint-" + id, Value: id, Effect: cluster.PreferNoSchedule}}
		require.NoError(t, c.pl.SetNode(n))
		if len(s.Nodes) > c.nodes {
			_, err := c.pl.RemoveNodeAndPods(s.Nodes[c.IntN(len(s.Nodes))].Name)
			require.NoError(t, err)
		}
	case kind == 1:
		require.NoError(t, c.pl.SetBudget(preemption.Budget{
			Namespace: "default", Name: "budget-" + id, Allowed: 1,
			Selector: &disruption.Selector{MatchLabels: map[string]string{"revision": id}},
		}))
		if len(s.Budgets) > 5 {
			require.NoError(t, c.pl.RemoveBudget(s.Budgets[0].Namespace, s.Budgets[0].Name))
		}
	case kind == 2:
		require.NoError(t, c.pl.SetNamespace(cluster.Namespace{Name: "namespace-" + id, Labels: map[string]string{"team": id}}))
		if len(s.Namespaces) > 5 {
			require.NoError(t, c.pl.RemoveNamespace(s.Namespaces[0].Name))
		}
	case kind == 3:
		require.NoError(t, c.pl.SetPriorityClass(preemption.PriorityClass{Name: "class-" + id, Value: int32(c.number % 1000)}))
		if len(s.PriorityClasses) > 5 {
			require.NoError(t, c.pl.RemovePriorityClass(s.PriorityClasses[0].Name))
		}
	case len(s.Pods) > c.pods:
		for _, p := range s.Pods[:len(s.Pods)-c.pods+1] {
			_ = c.pl.Remove(preemption.PodRef{Namespace: p.Namespace, Name: p.Name})
		}
	default:
		for i := range 5 {
			p := s.Pods[c.IntN(len(s.Pods))]
			p.Name = fmt.Sprintf("pod-%s-%d", id, i)
			p.UID, p.Labels = p.Name, map[string]string{"app": "app-" + id, "revision": id}
			p.Requests = cluster.Resources{cluster.CPU: 100}
			p.Ports = []cluster.HostPort{{Protocol: "TCP", Port: int32(1 + c.number%60_000)}}
			p.Node = s.Nodes[c.IntN(len(s.Nodes))].Name
			_ = c.pl.SetPod(p) // the node may have gone, or the port be taken
		}
	}
}

// drawTogether draws a question of one attack in a cluster with the objects of another one, each of a part of its size or small, and
// options under which it is asked, half of them what two ask for together.
func drawTogether(seed uint64, small bool) (name string, q hostileQuestion, o preemption.Options) {
	r := rand.New(rand.NewPCG(seed, 77))
	objects, asked := attacks[r.IntN(len(attacks))], attacks[r.IntN(len(attacks))]
	how := r.IntN(len(demanding) + 2)
	part := []int{4, 8, 16}[r.IntN(3)]
	size := func(a hostile) int {
		if small {
			return min(a.small, 4)
		}
		return min(3000, max(a.large/part, a.small))
	}
	q = asked.ask(size(asked))
	add(&q.snap, objects.ask(size(objects)).snap)
	name = fmt.Sprintf("objects=%s/asked=%s/options=", objects.name, asked.name)
	options := func(how int) (string, preemption.Options) {
		switch how {
		case len(demanding):
			return "candidates", preemption.Options{Candidates: true}
		case len(demanding) + 1:
			return "default", preemption.Options{}
		}
		return demanding[how].name, demanding[how].o
	}
	called, o := options(how)
	if also := r.IntN(2 * (len(demanding) + 2)); also < len(demanding)+2 {
		more, of := options(also)
		called += "," + more
		to, from := reflect.ValueOf(&o).Elem(), reflect.ValueOf(of)
		for i := range to.NumField() {
			if to.Field(i).IsZero() && to.Field(i).CanSet() {
				to.Field(i).Set(from.Field(i))
			}
		}
	}
	return name + called, q, o
}

// add adds to s what more has of other names. Of a node of the same name it has the resources, too.
func add(s *cluster.Snapshot, more cluster.Snapshot) {
	for i := range more.Pods {
		more.Pods[i].Name = "z" + more.Pods[i].Name
	}
	at := map[string]int{}
	for i := range s.Nodes {
		at[s.Nodes[i].Name] = i
	}
	for _, n := range more.Nodes {
		if i, same := at[n.Name]; same {
			all := maps.Clone(n.Allocatable)
			maps.Copy(all, s.Nodes[i].Allocatable)
			s.Nodes[i].Allocatable = all
		} else {
			s.Nodes = append(s.Nodes, n)
		}
	}
	s.Pods = missing(s.Pods, more.Pods, func(p *cluster.Pod) string { return p.Namespace + "/" + p.Name })
	s.PodGroups = missing(s.PodGroups, more.PodGroups, func(g *cluster.PodGroup) string { return g.Namespace + "/" + g.Name })
	s.CompositePodGroups = missing(s.CompositePodGroups, more.CompositePodGroups, func(g *cluster.CompositePodGroup) string { return g.Namespace + "/" + g.Name })
	s.Budgets = missing(s.Budgets, more.Budgets, func(b *disruption.Budget) string { return b.Namespace + "/" + b.Name })
	if len(s.ClusterQueues) == 0 {
		s.ClusterQueues, s.LocalQueues, s.Cohorts, s.ResourceFlavors, s.Workloads = more.ClusterQueues, more.LocalQueues, more.Cohorts, more.ResourceFlavors, more.Workloads
	}
}

// missing is list with those of more that have other names.
func missing[T any](list, more []T, name func(*T) string) []T {
	names := map[string]bool{}
	for i := range list {
		names[name(&list[i])] = true
	}
	return append(slices.Clip(list), slices.DeleteFunc(more, func(v T) bool { return names[name(&v)] })...)
}

// TestAttacksTogether: what two attacks in very small come to ends in an answer that holds, or in a typed error.
func TestAttacksTogether(t *testing.T) {
	told := map[preemption.Verdict]int{}
	for seed := range uint64(150) {
		name, q, o := drawTogether(seed, true)
		r, err := o.Preempt(q.p, &q.snap)
		if err != nil {
			var option *preemption.OptionError // two contradict each other
			require.True(t, errors.Is(err, cluster.ErrInvalid) || errors.As(err, &option), "seed %d, %s: %v", seed, name, err)
			continue
		}
		require.Empty(t, check.Verify(&q.snap, o, q.p, r), "seed %d, %s", seed, name)
		told[r.Verdict]++
	}
	require.Greater(t, told[preemption.Feasible], 40)
	require.Greater(t, told[preemption.Infeasible], 15)
}

// BenchmarkAttacksTogether asks, and verifies, what two attacks come to in a part of their size. Where an answer does not hold it fails.
func BenchmarkAttacksTogether(b *testing.B) {
	draws := uint64(1000)
	if testing.Short() {
		draws = 5
	}
	for seed := range draws {
		name, q, o := drawTogether(seed, testing.Short())
		var r *preemption.Result
		b.Run(fmt.Sprintf("seed=%d/%s/call=preempt", seed, name), func(b *testing.B) {
			for b.Loop() {
				r, _ = o.Preempt(q.p, &q.snap) // a typed error is an answer
			}
		})
		b.Run(fmt.Sprintf("seed=%d/%s/call=verify", seed, name), func(b *testing.B) {
			if r == nil {
				b.Skip("there is no answer")
			}
			for b.Loop() {
				require.Empty(b, check.Verify(&q.snap, o, q.p, r))
			}
		})
	}
}
