package bench_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
)

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
