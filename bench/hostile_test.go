package bench_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cascade"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// hostile is a question that is made to cost much: of size n some n objects, or terms of
// one. large is about 10 MB of JSON, or what a user can still have by mistake.
type hostile struct {
	name         string
	small, large int
	ask          func(n int) hostileQuestion
}

// hostileQuestion is a question, and what is asked: nil: the answer.
type hostileQuestion struct {
	snap cluster.Snapshot
	p    cluster.Preemptor
	o    preemption.Options
	run  func(q *hostileQuestion) error
}

// answer asks, and returns the answer, nil where there is none for one preemptor.
func (q *hostileQuestion) answer() (*preemption.Result, error) {
	if q.run != nil {
		return nil, q.run(q)
	}
	return q.o.Preempt(q.p, &q.snap)
}

// TestHostile asks each attack in small: it ends in an answer that holds, or in a typed error.
func TestHostile(t *testing.T) {
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			q := a.ask(a.small)
			r, err := q.answer()
			if err != nil {
				require.ErrorIs(t, err, cluster.ErrInvalid)
				require.Less(t, len(err.Error()), 1<<20)
				return
			}
			if r != nil {
				require.Empty(t, check.Verify(&q.snap, q.o, q.p, r))
			}
		})
	}
}

// BenchmarkHostile is what an attack takes, in half of its size and in all of it.
func BenchmarkHostile(b *testing.B) {
	for _, a := range attacks {
		for _, n := range []int{a.large / 2, a.large} {
			b.Run(fmt.Sprintf("attack=%s/size=%d", a.name, n), func(b *testing.B) {
				if testing.Short() {
					n = a.small
				}
				q := a.ask(n)
				runtime.GC()
				stop := watchHeap()
				b.ReportAllocs()
				for b.Loop() {
					_, err := q.answer()
					if err != nil && !errors.Is(err, cluster.ErrInvalid) {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(stop())/(1<<20), "peak-MiB")
			})
		}
	}
}

// watchHeap looks at the heap now and then, until stop returns the most that it was.
func watchHeap() (stop func() uint64) {
	done, most := make(chan struct{}), make(chan uint64)
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	go func() {
		peak := uint64(0)
		for {
			metrics.Read(heap)
			peak = max(peak, heap[0].Value.Uint64())
			select {
			case <-done:
				most <- peak
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return func() uint64 { close(done); return <-most }
}

func node(i int) cluster.Node {
	return cluster.Node{Name: fmt.Sprintf("n%06d", i), Allocatable: cluster.Resources{cluster.CPU: 1000}, Labels: map[string]string{hostKey: fmt.Sprintf("n%06d", i)}}
}

func nodes(n int) (list []cluster.Node) {
	for i := range n {
		list = append(list, node(i))
	}
	return list
}

// running are n pods that fill as many nodes, by i modulo the number of nodes.
func running(n, over int, change func(i int, p *cluster.Pod)) (list []cluster.Pod) {
	for i := range n {
		p := cluster.Pod{Namespace: "default", Name: fmt.Sprintf("p%06d", i), Node: fmt.Sprintf("n%06d", i%over), Requests: cluster.Resources{cluster.CPU: int64(1000 * over / max(n, over))}}
		if change != nil {
			change(i, &p)
		}
		list = append(list, p)
	}
	return list
}

func lone(change func(p *cluster.Pod)) cluster.Preemptor {
	high := int32(1000)
	p := cluster.Pod{Namespace: "default", Name: "web", Priority: &high, Requests: cluster.Resources{cluster.CPU: 1000}}
	if change != nil {
		change(&p)
	}
	return cluster.Preemptor{Pods: []cluster.Pod{p}}
}

// members are a gang of n, of which each is like i says.
func members(n int, group cluster.PodGroup, change func(i int, p *cluster.Pod)) cluster.Preemptor {
	high, count := int32(1000), int32(n)
	group.Namespace, group.Name, group.MinCount, group.Priority = "default", "gang", &count, &high
	p := cluster.Preemptor{Group: &group}
	for i := range n {
		pod := cluster.Pod{Namespace: "default", Name: fmt.Sprintf("m%06d", i), Group: "gang", Priority: &high, Requests: cluster.Resources{cluster.CPU: 100}}
		if change != nil {
			change(i, &pod)
		}
		p.Pods = append(p.Pods, pod)
	}
	return p
}

// each is n values.
func each[T any](n int, of func(i int) T) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = of(i)
	}
	return list
}

func text(prefix string) func(i int) string {
	return func(i int) string { return fmt.Sprintf("%s%d", prefix, i) }
}

func labels(n int) map[string]string {
	m := make(map[string]string, n)
	for i := range n {
		m[fmt.Sprintf("l%d", i)] = "v"
	}
	return m
}

// filled is a cluster of nodes with a pod each, and a question about one pod.
func filled(numNodes, numPods int, change func(i int, p *cluster.Pod), ask func(p *cluster.Pod)) hostileQuestion {
	return hostileQuestion{snap: cluster.Snapshot{Nodes: nodes(numNodes), Pods: running(numPods, numNodes, change)}, p: lone(ask)}
}

// amongPriorities is a pod for which several have to go from a node where each has another priority.
func amongPriorities(n int) hostileQuestion {
	return filled(n, 18*n, func(i int, p *cluster.Pod) {
		priority := int32(i * 7919 % 1000)
		p.Priority, p.Requests = &priority, cluster.Resources{cluster.CPU: int64(55 - i%3)}
	}, func(p *cluster.Pod) { p.Requests[cluster.CPU] = 500 })
}

// different is a gang of n members that all differ.
func different(n int) hostileQuestion {
	q := hostileQuestion{snap: cluster.Snapshot{Nodes: nodes(n), Pods: running(n, n, nil)}}
	q.p = members(n, cluster.PodGroup{}, func(i int, p *cluster.Pod) {
		p.Requests[cluster.CPU] = int64(500 + i%500)
		p.Labels = map[string]string{"i": fmt.Sprint(i)}
	})
	return q
}

// tiedMembers is a gang of n members that all differ, and are tied to other pods as change says.
func tiedMembers(n int, change func(i int, p *cluster.Pod)) hostileQuestion {
	q := hostileQuestion{snap: cluster.Snapshot{Nodes: nodes(n), Pods: running(n, n, nil)}}
	q.p = members(n, cluster.PodGroup{}, func(i int, p *cluster.Pod) {
		p.Requests[cluster.CPU], p.Labels = int64(100+i*37%800), map[string]string{"i": fmt.Sprint(i)}
		change(i, p)
	})
	return q
}

// irregular are members of whom each keeps apart from one other.
func irregular(n int) hostileQuestion {
	return tiedMembers(n, func(i int, p *cluster.Pod) {
		p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: hostKey, Selector: matching("i", fmt.Sprint(i/2))}}
		p.Labels = map[string]string{"i": fmt.Sprint(i / 2)}
	})
}

// spreadByThemselves are members of whom each has a spread of its own.
func spreadByThemselves(n int) hostileQuestion {
	return tiedMembers(n, func(i int, p *cluster.Pod) {
		p.Spread = []cluster.Spread{{MaxSkew: 1, TopologyKey: hostKey, Selector: matching("i", fmt.Sprint(i))}}
	})
}

// onePorted is a node of n pods with a host port each, and a gang of so many who ask for so many of these.
func onePorted(n, gang, each int, port func(i int) cluster.HostPort) hostileQuestion {
	q := filled(1, n, func(i int, p *cluster.Pod) { p.Requests[cluster.CPU], p.Ports = 10, []cluster.HostPort{port(i)} }, nil)
	q.snap.Nodes[0].Allocatable[cluster.CPU] = int64(10 * n)
	q.p = members(gang, cluster.PodGroup{}, func(i int, p *cluster.Pod) {
		p.Requests[cluster.CPU] = 40
		for k := range each {
			p.Ports = append(p.Ports, port(7*(each*i+k)%n))
		}
	})
	return q
}

// largeUnit is a cluster of n nodes with two pods each, of which one is of a group that goes whole.
func largeUnit(n int) hostileQuestion {
	q := filled(n, 2*n, func(i int, p *cluster.Pod) {
		if i < n {
			p.Group = "large"
		}
	}, nil)
	one := int32(1)
	q.snap.PodGroups = []cluster.PodGroup{{Namespace: "default", Name: "large", Mode: disruption.All, MinCount: &one}}
	return q
}

// largeUnitInDomains is largeUnit, and a gang of two that may go to each node.
func largeUnitInDomains(n int) hostileQuestion {
	q := largeUnit(n)
	q.p = members(2, cluster.PodGroup{Topology: []cluster.TopologyConstraint{{Key: hostKey}}}, func(i int, p *cluster.Pod) { p.Requests[cluster.CPU] = int64(300 + i) })
	return q
}

// lookedAtUnit is such a cluster with a group of a mode that a gang, or a lone pod, looks at as tie says, in each of many domains.
func lookedAtUnit(n int, mode disruption.Mode, lonely bool, tie func(p *cluster.Pod)) hostileQuestion {
	q := largeUnitInDomains(n)
	q.snap.PodGroups[0].Mode = mode
	for i := range q.snap.Pods {
		if q.snap.Pods[i].Group != "" {
			q.snap.Pods[i].Labels = map[string]string{"app": "large"}
		}
	}
	if lonely {
		q.p = lone(func(p *cluster.Pod) { p.Requests[cluster.CPU] = 601 })
	}
	for i := range q.p.Pods {
		tie(&q.p.Pods[i])
	}
	return q
}

// attracted lets p be with the pods of the group, which it is like, spread keeps it from them: both look at these wherever they are.
func attracted(p *cluster.Pod) {
	p.Labels, p.Affinity = map[string]string{"app": "large"}, []cluster.AffinityTerm{{TopologyKey: hostKey, Selector: matching("app", "large")}}
}

func spread(p *cluster.Pod) {
	p.Spread = []cluster.Spread{{MaxSkew: 1, TopologyKey: hostKey, Selector: matching("app", "large")}}
}

// elasticUnitInDomains is largeUnitInDomains, of which the group may go in part.
func elasticUnitInDomains(n int) hostileQuestion {
	q := largeUnitInDomains(n)
	q.snap.PodGroups[0].Mode = disruption.SurplusFirst
	return q
}

// rackedPods is a cluster whose nodes are in racks of 20 and in four zones, with pods of ten priorities.
func rackedPods(nodes, pods int, each func(i int, p *cluster.Pod)) hostileQuestion {
	q := filled(nodes, pods, func(i int, p *cluster.Pod) {
		p.Priority = ptr(int32(i * 7919 % 10))
		each(i, p)
	}, nil)
	for i := range q.snap.Nodes {
		q.snap.Nodes[i].Labels[rackKey], q.snap.Nodes[i].Labels[zoneKey] = fmt.Sprint(i/20), fmt.Sprint(i%4)
	}
	return q
}

func ptr(v int32) *int32 { return &v }

// underBudgets adds ten budgets that cover every pod.
func underBudgets(q hostileQuestion) hostileQuestion {
	for i := range 10 {
		q.snap.Budgets = append(q.snap.Budgets, disruption.Budget{Namespace: "default", Name: fmt.Sprint("b", i), Selector: &disruption.Selector{}, Allowed: int32(i)})
	}
	return q
}

// childGroups are n child groups of two, each of which wants to be on one host, of 12 a group.
func childGroups(n int) hostileQuestion {
	q := filled(25*n/2, 25*n, nil, nil)
	high, two := int32(1000), int32(2)
	q.snap.CompositePodGroups = []cluster.CompositePodGroup{{Namespace: "default", Name: "root", Priority: &high}}
	for i := range n {
		g := cluster.PodGroup{Namespace: "default", Name: fmt.Sprint("c", i), Parent: "root", MinCount: &two, Priority: &high, Topology: []cluster.TopologyConstraint{{Key: hostKey}}}
		q.snap.PodGroups = append(q.snap.PodGroups, g)
		for k := range 2 {
			q.snap.Pods = append(q.snap.Pods, cluster.Pod{Namespace: "default", Name: fmt.Sprint("m", i, "-", k), Group: g.Name, Priority: &high, Requests: cluster.Resources{cluster.CPU: int64(300 + i%150)}})
		}
	}
	q.p = cluster.Preemptor{Kind: cluster.KindCompositePodGroup, Namespace: "default", Name: "root"}
	return q
}

// withDevices is a gang of 256 that ask for devices as asks says, of which so many pods on each node hold what held says.
func withDevices(n, each int, asks, held func(i int) cluster.DeviceRequest) hostileQuestion {
	devices := func(r cluster.DeviceRequest) []cluster.DeviceRequest {
		r.Resource = "gpu"
		return []cluster.DeviceRequest{r}
	}
	q := filled(n, each*n, func(i int, p *cluster.Pod) {
		priority := int32(i * 7919 % 10)
		p.Priority, p.Devices = &priority, devices(held(i))
	}, nil)
	for i := range q.snap.Nodes {
		q.snap.Nodes[i].Devices = map[string]cluster.DevicePool{"gpu": {Count: 8, Capacity: 1000}}
	}
	q.p = members(min(256, n), cluster.PodGroup{}, func(i int, p *cluster.Pod) {
		p.Requests[cluster.CPU], p.Devices = int64(300+i*37%600), devices(asks(i))
	})
	return q
}

// attacks are what a user, or a user's user, may put into a snapshot.
var attacks = []hostile{
	{"own-resources-of-nodes", 20, 20_000, func(n int) hostileQuestion {
		q := filled(n, n, nil, nil)
		for i := range q.snap.Nodes {
			q.snap.Nodes[i].Allocatable[fmt.Sprintf("example.com/r%d", i)] = 1
		}
		return q
	}},
	{"20-own-resources-of-nodes", 20, 2_000, func(n int) hostileQuestion {
		q := filled(n, n, nil, nil)
		for i := range q.snap.Nodes {
			for r := range 20 {
				q.snap.Nodes[i].Allocatable[fmt.Sprintf("example.com/r%d-%d", i, r)] = 1
			}
		}
		return q
	}},
	{"resources-that-nodes-have-by-halves", 20, 5_000, func(n int) hostileQuestion {
		mid, last, all := int32(5), n-1, cluster.Resources{cluster.CPU: 100}
		q := filled(n, 10*n, nil, func(p *cluster.Pod) { p.RequiredNode = node(last).Name })
		for r := range min(n, 300) {
			name := fmt.Sprintf("example.com/r%d", r)
			all[name] = 1
			for i := r % 2; i < last; i += 64 { // one of the first two of each block has it
				q.snap.Nodes[i].Allocatable[name] = 1
			}
		}
		q.snap.Pods[last].Requests, q.snap.Pods[last].Priority = all, &mid // it would move, and may evict the others
		return q
	}},
	{"own-resources-of-pods", 20, 20_000, func(n int) hostileQuestion {
		return filled(10, n, func(i int, p *cluster.Pod) { p.Requests[fmt.Sprintf("example.com/r%d", i)] = 1 }, nil)
	}},
	{"resources-of-one-node", 20, 100_000, func(n int) hostileQuestion {
		q := filled(10, 10, nil, nil)
		for i := range n {
			q.snap.Nodes[0].Allocatable[fmt.Sprintf("example.com/r%d", i)] = 1
		}
		return q
	}},
	{"devices", 20, 100_000, func(n int) hostileQuestion {
		q := filled(n, n, nil, func(p *cluster.Pod) { p.Devices = []cluster.DeviceRequest{{Resource: "gpu", Count: 1}} })
		for i := range q.snap.Nodes {
			q.snap.Nodes[i].Devices = map[string]cluster.DevicePool{"gpu": {Count: 1024, Capacity: 1000}}
		}
		return q
	}},
	{"own-devices-of-nodes", 20, 20_000, func(n int) hostileQuestion {
		q := filled(n, n, nil, nil)
		for i := range q.snap.Nodes {
			q.snap.Nodes[i].Devices = map[string]cluster.DevicePool{fmt.Sprintf("gpu%d", i): {Count: 1, Capacity: 1000}}
		}
		return q
	}},
	{"budgets-over-everything", 20, 20_000, func(n int) hostileQuestion {
		q := filled(100, n, nil, nil)
		q.snap.Budgets = each(n, func(i int) disruption.Budget {
			return disruption.Budget{Namespace: "default", Name: fmt.Sprintf("b%d", i), Selector: &disruption.Selector{}}
		})
		return q
	}},
	{"budgets-of-one-label", 20, 20_000, func(n int) hostileQuestion {
		q := filled(100, n, func(_ int, p *cluster.Pod) { p.Labels = map[string]string{"app": "a"} }, nil)
		q.snap.Budgets = each(n, func(i int) disruption.Budget {
			return disruption.Budget{Namespace: "default", Name: fmt.Sprintf("b%d", i), Selector: matching("app", "a")}
		})
		return q
	}},
	{"budgets-by-exclusion", 20, 20_000, func(n int) hostileQuestion {
		q := filled(100, n, func(i int, p *cluster.Pod) { p.Labels = map[string]string{"app": fmt.Sprint("a", i)} }, nil)
		q.snap.Budgets = each(n, func(i int) disruption.Budget {
			s := &disruption.Selector{MatchExpressions: []disruption.Requirement{{Key: "app", Operator: disruption.NotIn, Values: []string{fmt.Sprint("a", i)}}}}
			return disruption.Budget{Namespace: "default", Name: fmt.Sprintf("b%d", i), Selector: s}
		})
		return q
	}},
	{"budgets-of-many-exclusions", 20, 400, func(n int) hostileQuestion {
		q := filled(100, 25*n, func(i int, p *cluster.Pod) { p.Labels = map[string]string{"app": fmt.Sprint("a", i)} }, nil)
		q.snap.Budgets = each(n, func(i int) disruption.Budget {
			return disruption.Budget{Namespace: "default", Name: fmt.Sprintf("b%d", i), Selector: &disruption.Selector{MatchExpressions: each(n, func(i int) disruption.Requirement {
				return disruption.Requirement{Key: fmt.Sprint("l", i), Operator: disruption.DoesNotExist}
			})}}
		})
		return q
	}},
	{"gang-of-which-each-shuns-nodes", 8, 1_000, func(n int) hostileQuestion {
		q := tiedMembers(n, func(i int, p *cluster.Pod) {
			p.NodeAffinity = &cluster.NodeAffinity{Terms: []cluster.NodeTerm{{Labels: []cluster.NodeRequirement{
				{Key: hostKey, Operator: cluster.NodeNotIn, Values: each(n-1, func(k int) string { return node((k + i) % n).Name })},
			}}}}
		})
		q.p.Placement = map[string]string{}
		for i, m := range q.p.Pods {
			q.p.Placement["default/"+m.Name] = node((i + n - 1) % n).Name
		}
		return q
	}},
	{"budgets-that-miss", 20, 20_000, func(n int) hostileQuestion {
		q := filled(100, n, func(i int, p *cluster.Pod) { p.Labels = map[string]string{"app": "a", "of": fmt.Sprint("o", i)} }, nil)
		q.snap.Budgets = each(n, func(i int) disruption.Budget {
			return disruption.Budget{Namespace: "default", Name: fmt.Sprintf("b%d", i), Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "a", "of": fmt.Sprint("x", i)}}}
		})
		return q
	}},
	{"composites-in-a-chain", 20, 80_000, func(n int) hostileQuestion {
		q := filled(10, 10, func(_ int, p *cluster.Pod) { p.Group = "g" }, nil)
		q.snap.PodGroups = []cluster.PodGroup{{Namespace: "default", Name: "g", Parent: "c0"}}
		q.snap.CompositePodGroups = each(n, func(i int) cluster.CompositePodGroup {
			return cluster.CompositePodGroup{Namespace: "default", Name: fmt.Sprintf("c%d", i), Parent: fmt.Sprintf("c%d", i+1)}
		})
		return q
	}},
	{"composites-on-a-cycle", 20, 80_000, func(n int) hostileQuestion {
		q := filled(10, 10, func(_ int, p *cluster.Pod) { p.Group = "g" }, nil)
		q.snap.PodGroups = []cluster.PodGroup{{Namespace: "default", Name: "g", Parent: "c0"}}
		q.snap.CompositePodGroups = each(n, func(i int) cluster.CompositePodGroup {
			return cluster.CompositePodGroup{Namespace: "default", Name: fmt.Sprintf("c%d", i), Parent: fmt.Sprintf("c%d", (i+1)%n)}
		})
		return q
	}},
	{"host-ports", 20, 10_000, func(n int) hostileQuestion {
		ports := each(n, func(i int) cluster.HostPort { return cluster.HostPort{Port: int32(1 + i)} })
		return filled(10, 10, func(_ int, p *cluster.Pod) { p.Ports = ports }, func(p *cluster.Pod) { p.Ports = ports })
	}},
	{"child-groups-in-a-rack", 8, 320, func(n int) hostileQuestion {
		four := int32(4)
		q := hostileQuestion{snap: cluster.Snapshot{Nodes: nodes(n)}}
		for i := range q.snap.Nodes {
			q.snap.Nodes[i].Labels["rack"] = fmt.Sprint(i / 16)
		}
		q.snap.Pods = running(n, n, nil)
		high := int32(1000)
		q.snap.CompositePodGroups = []cluster.CompositePodGroup{{Namespace: "default", Name: "top", Priority: &high, Topology: []cluster.TopologyConstraint{{Key: "rack"}}}}
		for i := range n {
			g := fmt.Sprint("g", i)
			q.snap.PodGroups = append(q.snap.PodGroups, cluster.PodGroup{Namespace: "default", Name: g, Parent: "top", MinCount: &four, Priority: &high, Topology: []cluster.TopologyConstraint{{Key: hostKey}}})
			for k := range four {
				q.snap.Pods = append(q.snap.Pods, cluster.Pod{Namespace: "default", Name: fmt.Sprint("m", i, "-", k), Group: g, Priority: &high, Requests: cluster.Resources{cluster.CPU: 10 + int64(i%7)}})
			}
		}
		q.p = cluster.Preemptor{Kind: cluster.KindCompositePodGroup, Namespace: "default", Name: "top"}
		return q
	}},
	{"child-groups-on-a-host-each", 4, 400, childGroups},
	{"topology-levels", 20, 4_000, func(n int) hostileQuestion {
		q := hostileQuestion{snap: cluster.Snapshot{Nodes: nodes(20), Pods: running(20, 20, nil)}}
		q.p = members(4, cluster.PodGroup{Topology: each(n, func(i int) cluster.TopologyConstraint {
			return cluster.TopologyConstraint{Key: fmt.Sprint("k", i), Preferred: true}
		})}, nil)
		for i := range q.snap.Nodes {
			for k := range n {
				q.snap.Nodes[i].Labels[fmt.Sprint("k", k)] = fmt.Sprint(i / 2)
			}
		}
		return q
	}},
	{"anti-affinity-of-namespaces", 20, 10_000, func(n int) hostileQuestion {
		return filled(100, n, func(i int, p *cluster.Pod) {
			p.Namespace = fmt.Sprint("ns", i)
			p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: hostKey, Selector: matching("app", "web")}}
		}, func(p *cluster.Pod) { p.Labels = map[string]string{"app": "web"} })
	}},
	{"anti-affinity-by-namespace-labels", 20, 10_000, func(n int) hostileQuestion {
		return filled(100, n, func(i int, p *cluster.Pod) {
			p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: hostKey, Selector: matching("app", "web"), NamespaceSelector: matching("team", fmt.Sprint("t", i))}}
		}, func(p *cluster.Pod) { p.Labels = map[string]string{"app": "web"} })
	}},
	{"anti-affinity-of-many-namespaces", 20, 10_000, func(n int) hostileQuestion {
		q := filled(100, n, func(i int, p *cluster.Pod) { p.Namespace = fmt.Sprint("ns", i) }, func(p *cluster.Pod) {
			p.AntiAffinity = each(n, func(i int) cluster.AffinityTerm {
				return cluster.AffinityTerm{TopologyKey: hostKey, Selector: &disruption.Selector{}, Namespaces: []string{fmt.Sprint("ns", i)}}
			})
		})
		return q
	}},
	{"affinity-to-namespace-labels", 20, 10_000, func(n int) hostileQuestion {
		q := filled(100, n, func(i int, p *cluster.Pod) { p.Namespace = fmt.Sprint("ns", i) }, func(p *cluster.Pod) {
			p.Affinity = each(n/10, func(i int) cluster.AffinityTerm {
				return cluster.AffinityTerm{TopologyKey: hostKey, Selector: &disruption.Selector{}, NamespaceSelector: matching("team", fmt.Sprint("t", i))}
			})
		})
		q.snap.Namespaces = each(n, func(i int) cluster.Namespace {
			return cluster.Namespace{Name: fmt.Sprint("ns", i), Labels: map[string]string{"team": fmt.Sprint("t", i)}}
		})
		return q
	}},
	{"anti-affinity-terms", 20, 10_000, func(n int) hostileQuestion {
		return filled(100, 1_000, nil, func(p *cluster.Pod) {
			p.AntiAffinity = each(n, func(i int) cluster.AffinityTerm {
				return cluster.AffinityTerm{TopologyKey: hostKey, Selector: matching("app", fmt.Sprint("a", i)), Namespaces: []string{fmt.Sprint("ns", i)}}
			})
		})
	}},
	{"anti-affinity-terms-of-one-pod", 20, 10_000, func(n int) hostileQuestion {
		return filled(100, 1_000, func(i int, p *cluster.Pod) {
			if i == 0 {
				p.AntiAffinity = each(n, func(i int) cluster.AffinityTerm {
					return cluster.AffinityTerm{TopologyKey: hostKey, Selector: matching("app", "web"), Namespaces: []string{fmt.Sprint("ns", i), "default"}}
				})
			}
		}, func(p *cluster.Pod) { p.Labels = map[string]string{"app": "web"} })
	}},
	{"tokens", 20, 200_000, func(n int) hostileQuestion {
		tokens := each(n, text("t"))
		return filled(10, 10, func(i int, p *cluster.Pod) {
			if i == 0 {
				p.Tokens = tokens
			}
		}, func(p *cluster.Pod) { p.Tokens = tokens })
	}},
	{"taints", 20, 40_000, func(n int) hostileQuestion {
		q := filled(10, 10, nil, func(p *cluster.Pod) {
			p.Tolerations = each(n, func(i int) cluster.Toleration {
				return cluster.Toleration{Key: fmt.Sprint("k", i), Operator: cluster.TolerationExists}
			})
		})
		q.snap.Nodes[0].Taints = each(n, func(i int) cluster.Taint {
			return cluster.Taint{Key: fmt.Sprint("k", i), Effect: cluster.NoSchedule}
		})
		return q
	}},
	{"node-affinity-terms", 20, 20_000, func(n int) hostileQuestion {
		return filled(1_000, 1_000, nil, func(p *cluster.Pod) {
			p.NodeAffinity = &cluster.NodeAffinity{Terms: each(n, func(i int) cluster.NodeTerm {
				return cluster.NodeTerm{Labels: []cluster.NodeRequirement{{Key: fmt.Sprint("k", i), Operator: cluster.NodeExists}}}
			})}
		})
	}},
	{"node-in", 20, 400_000, func(n int) hostileQuestion {
		return filled(1_000, 1_000, nil, func(p *cluster.Pod) {
			p.NodeAffinity = &cluster.NodeAffinity{Terms: []cluster.NodeTerm{{Labels: []cluster.NodeRequirement{{Key: hostKey, Operator: cluster.NodeIn, Values: each(n, text("x"))}}}}}
		})
	}},
	{"node-in-by-many-pods", 20, 10_000, func(n int) hostileQuestion {
		q := hostileQuestion{snap: cluster.Snapshot{Nodes: nodes(n)}, o: preemption.Options{PreferMovable: true}, p: lone(nil)}
		q.snap.Pods = running(n, n, func(i int, p *cluster.Pod) {
			p.NodeAffinity = &cluster.NodeAffinity{Terms: []cluster.NodeTerm{{Labels: []cluster.NodeRequirement{{Key: hostKey, Operator: cluster.NodeIn, Values: []string{p.Node, "x"}}}}}}
		})
		return q
	}},
	{"pods-unlike-their-group", 20, 40_000, func(n int) hostileQuestion {
		q := filled(100, n, func(i int, p *cluster.Pod) {
			prio := int32(i)
			p.Group, p.Priority = "g", &prio
		}, nil)
		q.snap.PodGroups = []cluster.PodGroup{{Namespace: "default", Name: "g", Leader: "nobody", Guard: &cluster.Guard{Milestones: []cluster.Milestone{{Value: 9}}}}}
		high := int32(100_000)
		q.p.Pods[0].Priority = &high
		return q
	}},
	{"gang-of-different-members", 8, 4_000, different},
	{"gang-of-different-members-within-limits", 8, 4_000, func(n int) hostileQuestion {
		q := different(n)
		q.o.Limits.Pods = 3
		return q
	}},
	{"gang-of-unlike-members", 8, 20_000, func(n int) hostileQuestion {
		q := filled(n, n, nil, nil)
		for i := range q.snap.Nodes {
			q.snap.Nodes[i].Allocatable[cluster.CPU], q.snap.Pods[i].Requests[cluster.CPU] = 1_000_000, 1_000_000
		}
		q.p = members(n, cluster.PodGroup{}, func(i int, p *cluster.Pod) { p.Requests[cluster.CPU] = int64(500_000 + i*7919%100_003) })
		return q
	}},
	{"pod-in-a-fleet", 8, 5_000, func(n int) hostileQuestion {
		return hostileQuestion{snap: gen.Fleet(n, 30, seed, gen.Uniform), p: gen.FleetPod(1)}
	}},
	{"pod-among-many-priorities", 8, 5_000, amongPriorities},
	{"pod-beside-room-for-one", 8, 5_000, func(n int) hostileQuestion {
		q := amongPriorities(n)
		q.snap.Pods = q.snap.Pods[1:] // each of the others could move there
		return q
	}},
	{"gang-in-a-fleet", 8, 5_000, func(n int) hostileQuestion {
		return hostileQuestion{snap: gen.Fleet(n, 30, seed, gen.Uniform), p: gang(8, 4_000)}
	}},
	{"gang-in-many-racks", 8, 5_000, inRacks},
	{"gang-in-a-fleet-of-budgets", 8, 5_000, amongBudgets},
	{"gang-in-a-small-fleet-of-budgets", 4, 16, amongBudgets}, // where a search goes on the longest
	{"gang-of-64-among-many-pods", 8, 5_000, func(n int) hostileQuestion {
		q := filled(n, 10*n, func(i int, p *cluster.Pod) {
			priority := int32(i * 7919 % 10)
			p.Priority, p.Requests = &priority, cluster.Resources{cluster.CPU: int64(100 - i%3)}
		}, nil)
		q.p = members(64, cluster.PodGroup{}, func(i int, p *cluster.Pod) { p.Requests[cluster.CPU] = int64(300 + i*37%600) })
		return q
	}},
	{"gang-of-members-with-affinities", 8, 2_000, func(n int) hostileQuestion {
		q := filled(100, 100, nil, nil)
		q.p = members(n, cluster.PodGroup{}, func(i int, p *cluster.Pod) {
			p.NodeAffinity = &cluster.NodeAffinity{Terms: []cluster.NodeTerm{{Labels: []cluster.NodeRequirement{{Key: hostKey, Operator: cluster.NodeIn, Values: []string{fmt.Sprint("x", i)}}}}}}
		})
		return q
	}},
	{"gang-of-irregular-members", 8, 2_000, irregular},
	{"gang-of-more-irregular-members", 8, 20_000, irregular},
	{"gang-that-keeps-apart-from-everybody", 8, 2_000, func(n int) hostileQuestion {
		return tiedMembers(n, func(i int, p *cluster.Pod) {
			p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: hostKey, Selector: &disruption.Selector{}}}
		})
	}},
	{"gang-of-which-each-attracts-itself", 8, 2_000, func(n int) hostileQuestion {
		return tiedMembers(n, func(i int, p *cluster.Pod) {
			p.Affinity = []cluster.AffinityTerm{{TopologyKey: hostKey, Selector: matching("i", fmt.Sprint(i))}}
		})
	}},
	{"gang-of-which-each-is-spread", 8, 2_000, spreadByThemselves},
	{"gang-of-which-more-are-spread", 8, 20_000, spreadByThemselves},
	{"gang-of-which-each-leaves-some-out", 8, 1_000, func(n int) hostileQuestion {
		q := rackedPods(n, 10*n, func(i int, p *cluster.Pod) {
			p.Labels, p.Requests[cluster.CPU] = map[string]string{"i": fmt.Sprint(i)}, 100
		})
		q.p = members(300, cluster.PodGroup{}, func(i int, p *cluster.Pod) {
			p.Requests[cluster.CPU] = 300
			p.Spread = []cluster.Spread{{MaxSkew: 5, TopologyKey: hostKey, Selector: &disruption.Selector{
				MatchExpressions: []disruption.Requirement{{Key: "i", Operator: disruption.NotIn, Values: []string{fmt.Sprint(i)}}},
			}}}
		})
		return q
	}},
	{"gang-of-which-each-says-much-of-pods", 20, 300, func(n int) hostileQuestion {
		nodes := min(1_000, 10*n)
		q := rackedPods(nodes, 10*nodes, func(i int, p *cluster.Pod) {
			p.Labels, p.Requests[cluster.CPU] = map[string]string{"i": fmt.Sprint(i), "app": "a"}, 100
		})
		q.p = members(64, cluster.PodGroup{}, func(i int, p *cluster.Pod) {
			s := &disruption.Selector{MatchExpressions: each(n, func(k int) disruption.Requirement {
				return disruption.Requirement{Key: fmt.Sprint("k", i, "-", k), Operator: disruption.DoesNotExist}
			})}
			p.Requests[cluster.CPU] = 300
			p.Spread = []cluster.Spread{{MaxSkew: 5, TopologyKey: zoneKey, Selector: s}}
			p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: hostKey, Selector: matching("i", fmt.Sprint(i)), Namespaces: each(n, func(k int) string { return fmt.Sprint("n", k) })}}
		})
		return q
	}},
	{"gang-of-which-each-says-much-of-nodes", 20, 1_000, func(n int) hostileQuestion {
		values := func(i int) []string { return each(n, func(k int) string { return fmt.Sprint("v", i, "-", k) }) }
		q := rackedPods(n, 10*n, func(_ int, p *cluster.Pod) { p.Requests[cluster.CPU] = 100 })
		q.p = members(300, cluster.PodGroup{}, func(i int, p *cluster.Pod) {
			keys := each(n/4, func(k int) cluster.NodeRequirement {
				return cluster.NodeRequirement{Key: fmt.Sprint("k", i, "-", k), Operator: cluster.NodeDoesNotExist}
			})
			p.Requests[cluster.CPU], p.NodeAffinity = 300, &cluster.NodeAffinity{Terms: []cluster.NodeTerm{
				{Labels: append(keys, cluster.NodeRequirement{Key: hostKey, Operator: cluster.NodeNotIn, Values: values(i)})},
			}}
		})
		return q
	}},
	{"spread-gang-on-few-nodes", 12, 180, func(n int) hostileQuestion {
		q := filled(6, n, func(i int, p *cluster.Pod) {
			priority := int32(i * 7919 % 1000)
			p.Priority, p.Requests[cluster.CPU] = &priority, int64(6_000/n-i%3)
		}, nil)
		q.p = members(8, cluster.PodGroup{}, func(i int, p *cluster.Pod) {
			p.Requests[cluster.CPU], p.Labels = int64(300+17*i), map[string]string{"tier": "front"}
			p.Spread = []cluster.Spread{{MaxSkew: 1, TopologyKey: hostKey, Selector: matching("tier", "front")}}
		})
		q.o = preemption.Options{Search: preemption.Exact, Limits: preemption.Limits{Pods: 500}}
		return q
	}},
	{"affinity-among-many-values", 20, 5_000, func(n int) hostileQuestion {
		q := filled(n, n, func(i int, p *cluster.Pod) { p.Labels = map[string]string{"app": fmt.Sprint("a", i%2)} }, nil)
		q.p = members(8, cluster.PodGroup{}, func(i int, p *cluster.Pod) {
			p.Labels = map[string]string{"app": "web"}
			p.Affinity = []cluster.AffinityTerm{{TopologyKey: hostKey, Selector: matching("app", "web")}}
		})
		return q
	}},
	{"labels", 20, 100_000, func(n int) hostileQuestion {
		all := labels(n)
		return filled(10, 10, func(_ int, p *cluster.Pod) { p.Labels = all }, func(p *cluster.Pod) {
			p.Labels = all
			p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: hostKey, Selector: &disruption.Selector{MatchLabels: all}}}
		})
	}},
	{"spread-constraints", 20, 2_000, func(n int) hostileQuestion {
		return filled(1_000, 1_000, nil, func(p *cluster.Pod) {
			p.Spread = each(n, func(i int) cluster.Spread {
				return cluster.Spread{MaxSkew: 1, TopologyKey: hostKey, Selector: matching("app", fmt.Sprint("a", i))}
			})
		})
	}},
	{"queues-with-a-flavor", 8, 10_000, func(n int) hostileQuestion {
		return queues(n, func(i int) string { return "all" }, func(i int) string { return fmt.Sprint("f", i) }, false)
	}},
	{"cohorts-in-a-chain", 8, 40_000, func(n int) hostileQuestion {
		q := queues(4, func(i int) string { return fmt.Sprint("c", i*0) }, func(int) string { return "f" }, false)
		q.snap.Cohorts = each(n, func(i int) cluster.Cohort {
			return cluster.Cohort{Name: fmt.Sprint("c", i), Parent: fmt.Sprint("c", i+1)}
		})
		return q
	}},
	{"cohorts-in-a-chain-fair", 8, 40_000, func(n int) hostileQuestion {
		q := queues(4, func(i int) string { return "c0" }, func(int) string { return "f" }, true)
		q.snap.Cohorts = each(n, func(i int) cluster.Cohort {
			return cluster.Cohort{Name: fmt.Sprint("c", i), Parent: fmt.Sprint("c", i+1)}
		})
		return q
	}},
	{"cohorts-that-tie-fair", 8, 10_000, func(n int) hostileQuestion {
		q := queues(n, func(i int) string { return fmt.Sprint("c", i) }, func(int) string { return "f" }, true)
		q.snap.Cohorts = each(n, func(i int) cluster.Cohort {
			return cluster.Cohort{Name: fmt.Sprint("c", i), Parent: "root"}
		})
		return q
	}},
	{"cycle-of-heads", 8, 2_000, func(n int) hostileQuestion {
		q := queues(n, func(i int) string { return "all" }, func(int) string { return "f" }, false)
		return heads(q, n)
	}},
	{"cycle-of-heads-fair", 8, 800, func(n int) hostileQuestion {
		q := queues(n, func(i int) string { return fmt.Sprint("c", i) }, func(int) string { return "f" }, true)
		q.snap.Cohorts = each(n, func(i int) cluster.Cohort {
			return cluster.Cohort{Name: fmt.Sprint("c", i), Parent: fmt.Sprint("c", i+1)}
		})
		return heads(q, n)
	}},
	{"nearest-with-ports", 4, 200, func(n int) hostileQuestion {
		return filled(10, n, func(i int, p *cluster.Pod) {
			high := int32(2000)
			p.Priority = &high
			p.Ports = each(5, func(k int) cluster.HostPort { return cluster.HostPort{Port: int32(1 + (i+k*7)%100)} })
		}, func(p *cluster.Pod) {
			p.Ports = each(20, func(k int) cluster.HostPort { return cluster.HostPort{Port: int32(1 + k*5)} })
		})
	}},
	{"gang-with-ports-on-a-node", 50, 20_000, func(n int) hostileQuestion {
		return onePorted(n, n/25, 1, func(i int) cluster.HostPort { return cluster.HostPort{Port: int32(1 + i)} })
	}},
	{"gang-with-addresses-of-a-port", 50, 20_000, func(n int) hostileQuestion {
		return onePorted(n, n/100, 20, func(i int) cluster.HostPort { return cluster.HostPort{Port: 80, IP: fmt.Sprint("10.0.", i)} })
	}},
	{"apply-of-victims", 20, 100_000, func(n int) hostileQuestion {
		q := filled(1, n, func(_ int, p *cluster.Pod) { p.Requests[cluster.CPU] = 1 }, func(p *cluster.Pod) { p.Requests[cluster.CPU] = int64(n) })
		q.snap.Nodes[0].Allocatable[cluster.CPU] = int64(n)
		q.run = func(q *hostileQuestion) error {
			pl, err := preemption.NewPlanner(&q.snap, q.o)
			if err != nil {
				return err
			}
			r, err := pl.Preempt(q.p)
			if err != nil {
				return err
			}
			return pl.Apply(r)
		}
		return q
	}},
	{"candidates-of-a-large-unit", 20, 30_000, func(n int) hostileQuestion {
		q := largeUnit(n)
		q.o.Candidates = true
		return q
	}},
	{"gang-whose-victims-wait", 20, 5_000, func(n int) hostileQuestion {
		q := filled(n, 2*n, func(_ int, p *cluster.Pod) { p.Owner = &cluster.Owner{Kind: "ReplicaSet", Name: "rs"} }, nil)
		q.snap.Time = time.Unix(1_000_000, 0)
		q.p = members(n, cluster.PodGroup{}, func(_ int, p *cluster.Pod) { p.Requests[cluster.CPU] = 1000 })
		return q
	}},
	{"why-not-a-large-unit", 20, 10_000, func(n int) hostileQuestion {
		q := largeUnit(n)
		for i := range q.snap.Pods { // all of every other node
			if q.snap.Pods[i].Group = ""; i%2 == 0 {
				q.snap.Pods[i].Group = "large"
			}
		}
		q.p = members(min(n/2, 200), cluster.PodGroup{}, func(i int, p *cluster.Pod) { p.Requests[cluster.CPU] = int64(400 + i) })
		q.run = func(q *hostileQuestion) error {
			pl, err := preemption.NewPlanner(&q.snap, q.o)
			if err != nil {
				return err
			}
			_, err = pl.WhyNot(q.p, preemption.UnitTarget("default/large"))
			return err
		}
		return q
	}},
	{"large-unit-in-many-domains", 20, 30_000, largeUnitInDomains},
	{"elastic-unit-in-many-domains", 20, 30_000, elasticUnitInDomains},
	{"gang-beside-an-elastic-unit", 8, 10_000, func(n int) hostileQuestion {
		q := elasticUnitInDomains(n)
		q.p = members(n, cluster.PodGroup{}, func(_ int, p *cluster.Pod) { p.Requests[cluster.CPU] = 1000 })
		return q
	}},
	{"gang-beside-nothing-but-an-elastic-unit", 8, 20_000, func(n int) hostileQuestion {
		q := elasticUnitInDomains(n)
		q.snap.Pods = slices.DeleteFunc(q.snap.Pods, func(p cluster.Pod) bool { return p.Group == "" })
		q.p = members(n*3/4, cluster.PodGroup{}, func(_ int, p *cluster.Pod) { p.Requests[cluster.CPU] = 1000 })
		return q
	}},
	{"gang-attracted-to-a-large-unit", 20, 20_000, func(n int) hostileQuestion { return lookedAtUnit(n, disruption.All, false, attracted) }},
	{"gang-attracted-to-an-elastic-unit", 20, 20_000, func(n int) hostileQuestion { return lookedAtUnit(n, disruption.SurplusFirst, false, attracted) }},
	{"gang-spread-beside-an-elastic-unit", 20, 20_000, func(n int) hostileQuestion { return lookedAtUnit(n, disruption.SurplusFirst, false, spread) }},
	{"pod-attracted-to-a-large-unit", 20, 2_000, func(n int) hostileQuestion { return lookedAtUnit(n, disruption.All, true, attracted) }},
	{"pod-attracted-to-an-elastic-unit", 20, 2_000, func(n int) hostileQuestion { return lookedAtUnit(n, disruption.SurplusFirst, true, attracted) }},
	{"pod-spread-beside-an-elastic-unit", 20, 2_000, func(n int) hostileQuestion { return lookedAtUnit(n, disruption.SurplusFirst, true, spread) }},
	{"large-unit-under-budgets-in-many-domains", 20, 30_000, func(n int) hostileQuestion { return underBudgets(largeUnitInDomains(n)) }},
	{"elastic-unit-under-budgets-in-many-domains", 20, 30_000, func(n int) hostileQuestion { return underBudgets(elasticUnitInDomains(n)) }},
	{"child-groups-on-hosts", 4, 400, childGroups},
	{"gang-with-devices", 8, 5_000, func(n int) hostileQuestion {
		return withDevices(n, 8, func(i int) cluster.DeviceRequest { return cluster.DeviceRequest{Count: int32(1 + i%8)} }, func(int) cluster.DeviceRequest { return cluster.DeviceRequest{Count: 1} })
	}},
	{"large-gang-with-devices", 8, 5_000, func(n int) hostileQuestion {
		q := withDevices(n, 16, func(int) cluster.DeviceRequest { return cluster.DeviceRequest{Count: 2} }, func(int) cluster.DeviceRequest { return cluster.DeviceRequest{Fraction: 500} })
		devices := q.p.Pods[0].Devices
		q.p = members(n*4/5, cluster.PodGroup{}, func(_ int, p *cluster.Pod) { p.Devices = devices })
		return q
	}},
	{"gang-with-fractions-of-devices", 8, 5_000, func(n int) hostileQuestion {
		fraction := func(least int64) func(i int) cluster.DeviceRequest {
			return func(i int) cluster.DeviceRequest { return cluster.DeviceRequest{Fraction: least + int64(i%256)} }
		}
		return withDevices(n, 16, fraction(300), fraction(300))
	}},
	{"gang-of-which-each-has-30-spreads", 8, 2_000, func(n int) hostileQuestion {
		q := filled(n, 2*n, func(i int, p *cluster.Pod) { p.Labels = map[string]string{"i": fmt.Sprint(i % 100)} }, nil)
		q.p = members(64, cluster.PodGroup{}, func(i int, p *cluster.Pod) {
			p.Requests[cluster.CPU], p.Labels = int64(300+i), map[string]string{"i": fmt.Sprint(i)}
			p.Spread = each(30, func(k int) cluster.Spread {
				return cluster.Spread{MaxSkew: 1, TopologyKey: hostKey, Selector: matching("i", fmt.Sprint(k))}
			})
		})
		return q
	}},
	{"gang-that-keeps-apart-by-zone", 8, 5_000, func(n int) hostileQuestion {
		q := filled(n, 6*n, func(i int, p *cluster.Pod) { p.Priority = new(int32); *p.Priority = int32(i % 100) }, nil)
		q.p = members(4, cluster.PodGroup{}, func(i int, p *cluster.Pod) {
			p.Requests[cluster.CPU] = int64(500 + i)
			p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: zoneKey, Selector: &disruption.Selector{}}}
		})
		for i := range q.snap.Nodes {
			q.snap.Nodes[i].Labels[zoneKey] = fmt.Sprint("z", i%4)
		}
		return q
	}},
	{"gang-spread-among-its-like", 20, 5_000, func(n int) hostileQuestion {
		q := rackedPods(n, 5*n, func(i int, p *cluster.Pod) { p.Labels = map[string]string{"app": fmt.Sprint(i % 5)} })
		q.p = members(200, cluster.PodGroup{}, func(i int, p *cluster.Pod) {
			p.Requests[cluster.CPU], p.Labels = int64(100+i), map[string]string{"app": "1"}
			p.Spread = []cluster.Spread{{MaxSkew: 1, TopologyKey: zoneKey, Selector: matching("app", "1")}}
		})
		return q
	}},
	{"gang-of-which-each-has-terms-of-its-own", 20, 5_000, func(n int) hostileQuestion {
		own := func(i int, p *cluster.Pod, mismatch ...string) {
			p.Labels = map[string]string{"app": "a", "rev": fmt.Sprint(i), "x": fmt.Sprint(i % 3)}
			p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: rackKey, Selector: matching("app", "a"), MismatchLabelKeys: mismatch}}
		}
		q := rackedPods(n, 2*n, func(i int, p *cluster.Pod) {
			own(i, p, "x")
			p.AntiAffinity[0].MatchLabelKeys = []string{"rev"}
		})
		q.p = members(200, cluster.PodGroup{}, func(i int, p *cluster.Pod) {
			own(i, p, "rev")
			p.Requests[cluster.CPU] = int64(300 + i*7%600)
			p.Spread = []cluster.Spread{{MaxSkew: 1, TopologyKey: zoneKey, Selector: matching("app", "a"), MatchLabelKeys: []string{"x"}}}
		})
		return q
	}},
	{"gang-with-ports-in-racks", 20, 5_000, func(n int) hostileQuestion {
		ports := func(p *cluster.Pod, first int, ip string) {
			p.Ports = each(10, func(k int) cluster.HostPort { return cluster.HostPort{Port: int32(first + k*37), IP: ip} })
		}
		q := rackedPods(n, 4*n, func(i int, p *cluster.Pod) { ports(p, 1+i/n*1000+i%500, fmt.Sprint("10.0.0.", i%250)) })
		q.p = members(64, cluster.PodGroup{Topology: []cluster.TopologyConstraint{{Key: rackKey}}}, func(i int, p *cluster.Pod) {
			p.Requests[cluster.CPU] = int64(100 + i)
			ports(p, 1+i%4*1000+i*3, "")
		})
		return q
	}},
	{"gang-with-16-preferred-levels", 20, 5_000, func(n int) hostileQuestion {
		q := rackedPods(n, 2*n, func(int, *cluster.Pod) {})
		levels := each(16, func(k int) cluster.TopologyConstraint {
			for i := range q.snap.Nodes {
				q.snap.Nodes[i].Labels[fmt.Sprint("level", k)] = fmt.Sprint(i / (34 - 2*k))
			}
			return cluster.TopologyConstraint{Key: fmt.Sprint("level", k), Preferred: true}
		})
		q.p = members(100, cluster.PodGroup{Topology: levels}, func(i int, p *cluster.Pod) { p.Requests[cluster.CPU] = int64(300 + i*7%600) })
		return q
	}},
	{"pods-tied-to-all-others", 20, 2_000, func(n int) hostileQuestion { // to tell who has another place is too much
		q := rackedPods(n, 10*n, func(i int, p *cluster.Pod) {
			p.Labels = map[string]string{"i": fmt.Sprint(i)}
			p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: hostKey, Selector: &disruption.Selector{
				MatchExpressions: []disruption.Requirement{{Key: "i", Operator: disruption.NotIn, Values: []string{p.Labels["i"]}}},
			}}}
			p.Requests = cluster.Resources{cluster.CPU: 90}
		})
		return q
	}},
	{"pods-that-ask-for-nodes-of-their-own", 20, 5_000, func(n int) hostileQuestion {
		above := func(key string, bound int) cluster.NodeRequirement {
			return cluster.NodeRequirement{Key: key, Operator: cluster.NodeGt, Values: []string{fmt.Sprint(bound)}}
		}
		q := rackedPods(n, 4*n, func(i int, p *cluster.Pod) {
			at := i * 31 % n
			p.NodeAffinity = &cluster.NodeAffinity{Terms: each(5, func(k int) cluster.NodeTerm { // none or, of every seventh pod, a few
				return cluster.NodeTerm{Labels: []cluster.NodeRequirement{above("number", at+k), above("back", n-at-k-i%7/6*10)}}
			})}
			p.Tolerations = []cluster.Toleration{{Key: "dedicated", Operator: cluster.TolerationGt, Value: fmt.Sprint(at / 2)}}
		})
		for i := range q.snap.Nodes {
			q.snap.Nodes[i].Labels["number"], q.snap.Nodes[i].Labels["back"] = fmt.Sprint(i), fmt.Sprint(n-i)
			q.snap.Nodes[i].Taints = []cluster.Taint{{Key: "dedicated", Value: fmt.Sprint(i), Effect: cluster.NoSchedule}}
		}
		q.p.Pods[0].Tolerations = []cluster.Toleration{{Operator: cluster.TolerationExists}}
		q.o.PreferMovable = true
		return q
	}},
	{"pod-of-one-of-50-queues", 8, 5_000, func(n int) hostileQuestion {
		q := filled(n, 10*n, func(i int, p *cluster.Pod) { p.Queue = fmt.Sprint("q", i%50) }, func(p *cluster.Pod) { p.Queue, p.Requests[cluster.CPU] = "q0", 700 })
		for i := range q.snap.Pods {
			q.snap.Pods[i].Priority = ptr(int32(i * 7919 % 10))
		}
		q.snap.ResourceFlavors = []cluster.ResourceFlavor{{Name: "f"}}
		for i := range 50 {
			name, quota := fmt.Sprint("q", i), []cluster.ResourceQuota{{Resource: cluster.CPU, Nominal: int64(1000*n/50*(1+i%2)) * 2 / 3}}
			q.snap.ClusterQueues = append(q.snap.ClusterQueues, cluster.ClusterQueue{
				Name: name, Cohort: fmt.Sprint("c", i%4), Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{Flavor: "f", Resources: quota}}}},
				Preemption: cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority, ReclaimWithinCohort: cluster.AnyPriority},
			})
			q.snap.LocalQueues = append(q.snap.LocalQueues, cluster.LocalQueue{Namespace: "default", Name: name, ClusterQueue: name})
		}
		q.snap.Cohorts = each(4, func(i int) cluster.Cohort { return cluster.Cohort{Name: fmt.Sprint("c", i), Parent: "root"} })
		return q
	}},
	{"gang-in-a-queue", 8, 5_000, func(n int) hostileQuestion { return queuedGang(n, 64) }},
	{"large-gang-in-a-queue", 8, 4_000, func(n int) hostileQuestion { return queuedGang(n, n/2) }},
	{"names", 1_000, 1_000_000, func(n int) hostileQuestion {
		q := filled(10, 10, func(i int, p *cluster.Pod) {
			if i == 0 {
				p.Name = strings.Repeat("x", n)
				p.Ports = make([]cluster.HostPort, 1_000)
			}
		}, nil)
		q.run = func(q *hostileQuestion) error {
			_, err := q.o.Preempt(q.p, &q.snap)
			if err == nil {
				return errors.New("no error")
			}
			if text := err.Error(); len(text) > 1<<20 {
				return fmt.Errorf("%d bytes of complaint", len(text))
			}
			return err
		}
		return q
	}},
}

// queues are n queues, each with one workload that fills what it has of its flavor, and in
// the first a workload that asks for more; fair, by fair sharing.
func queues(n int, cohort, flavor func(i int) string, fair bool) hostileQuestion {
	q := hostileQuestion{snap: cluster.Snapshot{Time: time.Unix(1_000_000, 0)}}
	known := map[string]bool{}
	for i := range n {
		name, f := fmt.Sprintf("q%d", i), flavor(i)
		if !known[f] {
			known[f] = true
			q.snap.ResourceFlavors = append(q.snap.ResourceFlavors, cluster.ResourceFlavor{Name: f})
		}
		q.snap.ClusterQueues = append(q.snap.ClusterQueues, cluster.ClusterQueue{Name: name, Cohort: cohort(i),
			Groups:     []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{Flavor: f, Resources: []cluster.ResourceQuota{{Resource: cluster.CPU, Nominal: 1000}}}}}},
			Preemption: cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority, ReclaimWithinCohort: cluster.AnyPriority, BorrowWithinCohort: &cluster.BorrowWithinCohort{}}})
		if fair {
			q.snap.ClusterQueues[i].Preemption.BorrowWithinCohort = nil
		}
		q.snap.LocalQueues = append(q.snap.LocalQueues, cluster.LocalQueue{Namespace: "default", Name: name, ClusterQueue: name})
		q.snap.Workloads = append(q.snap.Workloads,
			cluster.Workload{Namespace: "default", Name: fmt.Sprint("w", i), Queue: name, Admission: &cluster.Admission{ClusterQueue: name},
				PodSets: []cluster.PodSet{{Name: "main", Count: 1, Requests: cluster.Resources{cluster.CPU: 1000}, Flavors: map[string]string{cluster.CPU: f}}}},
			cluster.Workload{Namespace: "default", Name: fmt.Sprint("h", i), Queue: name, Priority: 1000,
				PodSets: []cluster.PodSet{{Name: "main", Count: 1, Requests: cluster.Resources{cluster.CPU: 1500}}}})
	}
	if fair {
		q.o.Quota.FairSharing = &preemption.FairSharing{}
	}
	q.p = cluster.Preemptor{Kind: cluster.KindWorkload, Namespace: "default", Name: "h0"}
	return q
}

// queuedGang is a gang of unlike members that need quota, and n workloads that hold all of it and fill a node each.
func queuedGang(n, numMembers int) hostileQuestion {
	q := filled(n, n, func(_ int, p *cluster.Pod) { p.Queue = "q" }, nil)
	all := []cluster.ResourceQuota{{Resource: cluster.CPU, Nominal: int64(1000 * n)}}
	q.snap.ResourceFlavors = []cluster.ResourceFlavor{{Name: "f"}}
	q.snap.ClusterQueues = []cluster.ClusterQueue{{
		Name: "q", Preemption: cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority},
		Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{Flavor: "f", Resources: all}}}},
	}}
	q.snap.LocalQueues = []cluster.LocalQueue{{Namespace: "default", Name: "q", ClusterQueue: "q"}}
	q.p = members(min(n, numMembers), cluster.PodGroup{}, func(i int, p *cluster.Pod) { p.Queue, p.Requests[cluster.CPU] = "q", int64(500+i*37%500) })
	return q
}

// heads asks about the heads of all queues in one cycle.
func heads(q hostileQuestion, n int) hostileQuestion {
	q.run = func(q *hostileQuestion) error {
		pl, err := preemption.NewPlanner(&q.snap, q.o)
		if err != nil {
			return err
		}
		_, err = pl.Cycle(each(n, func(i int) cluster.Preemptor {
			return cluster.Preemptor{Kind: cluster.KindWorkload, Namespace: "default", Name: fmt.Sprint("h", i)}
		}))
		return err
	}
	return q
}

// inRacks is a gang of 12 unlike members that want to be in one of n/8 racks of a fleet with budgets.
func inRacks(n int) hostileQuestion {
	q := hostileQuestion{snap: gen.Fleet(n, 12, seed, gen.Uniform)}
	gen.UnderBudgets(&q.snap)
	for i := range q.snap.Nodes {
		q.snap.Nodes[i].Labels = map[string]string{"rack": fmt.Sprint(i / 8)}
	}
	q.p = members(12, cluster.PodGroup{Topology: []cluster.TopologyConstraint{{Key: "rack"}}}, func(i int, p *cluster.Pod) { p.Requests[cluster.CPU] = int64(8_000 + 1_000*(i%5)) })
	return q
}

// amongBudgets is a gang of 64 in a fleet of n nodes whose workloads have hard budgets.
func amongBudgets(n int) hostileQuestion {
	q := hostileQuestion{snap: gen.Fleet(n, 30, seed, gen.Uniform), p: gang(64, 4_000)}
	gen.UnderBudgets(&q.snap)
	q.o = preemption.Options{Rules: preemption.Kubernetes136, HardBudgets: preemption.HardBudgets{All: true}}
	return q
}

// guarding are options that ask for all that is told, and guard who has run for a short time.
var guarding = preemption.Options{
	Explain: true, Candidates: true, Search: preemption.Exact,
	Guards: preemption.Guards{GuaranteedSeconds: 600, Cooldown: victims.Cooldown{Evictions: 1, Seconds: 3600}},
}

// hostileCalls are what a planner and others are asked about the question of an attack beside Preempt. r is
// the planner's answer.
var hostileCalls = []struct {
	name string
	call func(q *hostileQuestion, o preemption.Options, pl *preemption.Planner, r *preemption.Result) error
}{
	{"decide", func(q *hostileQuestion, _ preemption.Options, pl *preemption.Planner, _ *preemption.Result) error {
		_, err := pl.Decide(q.p)
		return err
	}},
	{"all", func(q *hostileQuestion, _ preemption.Options, pl *preemption.Planner, _ *preemption.Result) error {
		_, err := pl.PreemptAll([]preemption.Preemptor{q.p, q.p})
		return err
	}},
	{"why-not-a-node", func(q *hostileQuestion, _ preemption.Options, pl *preemption.Planner, _ *preemption.Result) error {
		_, err := pl.WhyNot(q.p, preemption.NodeTarget(q.snap.Nodes[0].Name))
		return err
	}},
	{"why-not-a-pod", func(q *hostileQuestion, _ preemption.Options, pl *preemption.Planner, _ *preemption.Result) error {
		p := &q.snap.Pods[len(q.snap.Pods)-1]
		_, err := pl.WhyNot(q.p, preemption.UnitTarget(p.Namespace+"/"+p.Name))
		return err
	}},
	{"park-and-wake", func(q *hostileQuestion, _ preemption.Options, pl *preemption.Planner, _ *preemption.Result) error {
		if _, err := pl.Park(q.p); err != nil {
			return err
		}
		if err := pl.SetNode(q.snap.Nodes[0]); err != nil {
			return err
		}
		pl.Wake()
		return nil
	}},
	{"fork-and-copy", func(_ *hostileQuestion, _ preemption.Options, pl *preemption.Planner, _ *preemption.Result) error {
		pl.Fork().Snapshot()
		return nil
	}},
	{"regroup", func(q *hostileQuestion, _ preemption.Options, pl *preemption.Planner, _ *preemption.Result) error {
		fork, level := pl.Fork(), int32(1)
		for _, g := range q.snap.PodGroups[:min(1, len(q.snap.PodGroups))] {
			g.Priority = &level
			if err := fork.SetPodGroup(g); err != nil {
				return err
			}
		}
		return nil
	}},
	{"still-valid", func(_ *hostileQuestion, _ preemption.Options, pl *preemption.Planner, r *preemption.Result) error {
		_, err := pl.StillValid(r)
		return err
	}},
	{"cascade", func(_ *hostileQuestion, _ preemption.Options, pl *preemption.Planner, r *preemption.Result) error {
		_, err := cascade.Of(pl, r, cascade.Options{})
		return err
	}},
	{"verify", func(q *hostileQuestion, o preemption.Options, _ *preemption.Planner, r *preemption.Result) error {
		if found := check.Verify(&q.snap, o, q.p, r); len(found) > 0 {
			return fmt.Errorf("%v", found)
		}
		return nil
	}},
}

// underCalls calls do for each call of each attack of the size that size takes, by default, with Candidates and under guarding.
// Attacks that are refused, or that make calls of their own, are left out.
func underCalls(size func(hostile) int, do func(name string, call func() error)) {
	for _, a := range attacks {
		for _, x := range []struct {
			name string
			o    preemption.Options
		}{{"default", preemption.Options{}}, {"candidates", preemption.Options{Candidates: true}}, {"guarding", guarding}} {
			q := a.ask(size(a))
			if q.run != nil || len(q.snap.Nodes) == 0 || len(q.snap.Pods) == 0 {
				continue
			}
			pl, err := preemption.NewPlanner(&q.snap, x.o)
			if err != nil {
				continue
			}
			r, err := pl.Preempt(q.p)
			if err != nil {
				continue
			}
			for _, c := range hostileCalls {
				do(fmt.Sprintf("attack=%s/options=%s/call=%s", a.name, x.name, c.name), func() error { return c.call(&q, x.o, pl, r) })
			}
		}
	}
}

// TestHostileCalls makes each call of each attack in very small: none hangs, panics or says that an answer is wrong.
func TestHostileCalls(t *testing.T) {
	calls, refused := 0, 0
	underCalls(func(a hostile) int { return min(a.small, 4) }, func(name string, call func() error) {
		calls++
		if err := call(); err != nil {
			require.NotContains(t, name, "call=verify", "%v", err)
			refused++
		}
	})
	require.Greater(t, calls, 500)
	require.Less(t, refused, calls/4) // results that are no plans have no cascade and are not valid
}

// BenchmarkHostileCalls is what they take in full.
func BenchmarkHostileCalls(b *testing.B) {
	underCalls(func(a hostile) int {
		if testing.Short() {
			return a.small
		}
		return a.large
	}, func(name string, call func() error) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_ = call() // a typed error is an answer
			}
		})
	})
}

// demanding are options under which more is looked for.
var demanding = []struct {
	name string
	o    preemption.Options
}{
	{"fewest-pods", preemption.Options{Search: preemption.Exact, Objective: []preemption.CriterionName{preemption.CriterionPods}}},
	{"fewest-stranded", preemption.Options{Search: preemption.Exact, Objective: []preemption.CriterionName{preemption.CriterionStranded}}},
	{"fewest-nodes", preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionNodes, preemption.CriterionGroups, preemption.CriterionLevels}}},
	{"fewest-in-turn", preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionCascade}}},
	{"fewest-in-a-chain", preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionStranded, preemption.CriterionCascade}, Chain: 4}},
	{"only-moves-in-a-chain", preemption.Options{Limits: preemption.Limits{OnlyMoves: true}, Chain: 4}},
	{"fewest-in-turn-guarded", preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionCascade}, Guards: preemption.Guards{GuaranteedSeconds: 60}}},
	{"cheapest", preemption.Options{Cost: preemption.CostOptions{Objective: true, Tariff: disruption.Tariff{Fixed: 1, Pods: 3}}}},
	{"hard-budgets", preemption.Options{HardBudgets: preemption.HardBudgets{All: true}}},
	{"limits", preemption.Options{Limits: preemption.Limits{Pods: 3}, LowestLevel: true, Candidates: true}},
	{"only-moves", preemption.Options{Limits: preemption.Limits{OnlyMoves: true}}},
	{"fewest-in-use", preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionDevices, preemption.CriterionDomains + "rack"}}},
	{"early-text", preemption.Options{Rules: preemption.KEP5710Alpha, Placement: preemption.PlacePack, Candidates: true}},
	{"proof", preemption.Options{Proof: true}},
	{"proof-of-price", preemption.Options{Proof: true, HardBudgets: preemption.HardBudgets{All: true}, Cost: preemption.CostOptions{Objective: true, Tariff: disruption.Tariff{Fixed: 1, Pods: 3}}}},
	{"guarding", guarding},
	{"v1.36", preemption.Options{Rules: preemption.Kubernetes136, Candidates: true, RepeatReprieve: preemption.On}},
}

// TestHostileUnderOptions asks each attack in very small under options that demand more, under every fourth of them: it ends in
// an answer that holds, or in a typed error. The benchmark below asks the others, too.
func TestHostileUnderOptions(t *testing.T) {
	for i, a := range attacks {
		for k, d := range demanding {
			if (i+k)%4 > 0 {
				continue
			}
			q := a.ask(min(a.small, 4))
			if q.run != nil {
				continue
			}
			r, err := d.o.Preempt(q.p, &q.snap)
			if err != nil {
				require.ErrorIs(t, err, cluster.ErrInvalid, "%s, %s", a.name, d.name)
				continue
			}
			require.Empty(t, check.Verify(&q.snap, d.o, q.p, r), "%s, %s", a.name, d.name)
		}
	}
}

// TestALevelThatWasEnoughStaysEnough: the lowest level is settled on where a look for places found some, though another look ends before it finds
// them again. It was said that nobody has to go, and nobody had a place.
func TestALevelThatWasEnoughStaysEnough(t *testing.T) {
	q := childGroups(16)
	for i := range 16 * len(q.snap.Nodes) {
		priority := int32(i * 7919 % 10)
		q.snap.Pods = append(q.snap.Pods, cluster.Pod{
			Name: fmt.Sprint("x", i), Node: q.snap.Nodes[i/16].Name, Priority: &priority, Requests: cluster.Resources{cluster.CPU: 50},
		})
	}
	o := preemption.Options{Limits: preemption.Limits{Pods: 1}, LowestLevel: true}
	r, err := o.Preempt(q.p, &q.snap)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, r.Verdict)
	require.Empty(t, check.Verify(&q.snap, o, q.p, r))
}

// BenchmarkHostileUnderOptions is what they take in full.
func BenchmarkHostileUnderOptions(b *testing.B) {
	for _, a := range attacks {
		n := a.large
		if testing.Short() {
			n = min(a.small, 4)
		}
		question := sync.OnceValue(func() hostileQuestion { return a.ask(n) })
		for _, d := range demanding {
			b.Run(fmt.Sprintf("attack=%s/options=%s/size=%d", a.name, d.name, n), func(b *testing.B) {
				q := question()
				if q.run != nil {
					b.Skip("it makes calls of its own")
				}
				stop := watchHeap()
				for b.Loop() {
					_, _ = d.o.Preempt(q.p, &q.snap) // a typed error is an answer
				}
				b.ReportMetric(float64(stop())/(1<<20), "peak-MiB")
			})
		}
	}
}

// drawCluster is a full cluster as no attack has it by itself: pods whose labels all differ, of many sizes, in groups that lie together,
// anywhere or in turn on the nodes, under budgets, with terms about each other or ports; and a pod or gang. At most size nodes.
func drawCluster(seed uint64, size int) (name string, q hostileQuestion) {
	r := rand.New(rand.NewPCG(seed, 2))
	pick := func(list ...int) int { return list[r.IntN(len(list))] }
	nodes, perNode, racks := size/pick(1, 2, 10), pick(1, 4, 10, 30), pick(1, 10, 100, 1000)
	grouped, lie, mode := pick(0, 0, 2, 6, 30, 300), pick(0, 1, 2), []disruption.Mode{disruption.Single, disruption.All, disruption.SurplusFirst}[r.IntN(3)]
	budgets, tied, priorities, sizes, spare, unlike := pick(0, 0, 1, 20, 200), pick(0, 0, 1, 2, 3), pick(1, 3, 100), pick(1, 3, 50), pick(0, 0, 1, 5), pick(0, 0, 20)
	q.snap.Time = time.Unix(1_000_000, 0)
	for i := range nodes {
		q.snap.Nodes = append(q.snap.Nodes, cluster.Node{
			Name: fmt.Sprint("n", i), Allocatable: cluster.Resources{cluster.CPU: 1000 + 10*int64(r.IntN(unlike+1)), cluster.Memory: 1000, cluster.Pods: 110},
			Labels: map[string]string{hostKey: fmt.Sprint("n", i), rackKey: fmt.Sprint("r", i*racks/nodes), "zone": fmt.Sprint("z", i%3)},
		})
	}
	at := each(nodes*perNode, func(i int) int { return i % nodes })
	if lie == 1 {
		r.Shuffle(len(at), func(a, b int) { at[a], at[b] = at[b], at[a] })
	}
	for i := range at {
		if lie == 2 {
			at[i] = i / perNode
		}
		priority := int32(r.IntN(priorities))
		cpu := int64(1000/perNode) - int64(r.IntN(sizes))*int64(max(1, 300/perNode))/int64(sizes) - int64(spare)
		p := cluster.Pod{
			Name: fmt.Sprint("p", i), Node: fmt.Sprint("n", at[i]), Priority: &priority, Created: q.snap.Time.Add(-time.Duration(r.IntN(1e6)) * time.Second),
			Requests: cluster.Resources{cluster.CPU: max(cpu, 1), cluster.Memory: int64(1 + r.IntN(1000/perNode))},
			Labels:   map[string]string{"app": fmt.Sprint("a", i%37), "budget": fmt.Sprint(r.IntN(budgets + 1)), "i": fmt.Sprint(i)},
		}
		if grouped > 0 {
			if p.Group, p.Priority = fmt.Sprint("g", i/grouped), nil; i%grouped == 0 {
				count := int32(1 + r.IntN(grouped))
				q.snap.PodGroups = append(q.snap.PodGroups, cluster.PodGroup{Name: p.Group, Priority: &priority, Mode: mode, MinCount: &count})
			}
		}
		switch {
		case tied == 1 && i%5 == 0:
			p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: []string{hostKey, rackKey, "zone"}[i%3], Selector: matching("i", fmt.Sprint(i+1))}}
		case tied == 2:
			p.Ports = []cluster.HostPort{{Port: int32(1000 + r.IntN(300))}}
		case tied == 3 && i%5 == 0:
			p.Affinity = []cluster.AffinityTerm{{TopologyKey: rackKey, Selector: matching("app", fmt.Sprint("a", (i+1)%37))}}
		}
		q.snap.Pods = append(q.snap.Pods, p)
	}
	for i := range budgets {
		q.snap.Budgets = append(q.snap.Budgets, disruption.Budget{Name: fmt.Sprint("b", i), Selector: matching("budget", fmt.Sprint(i)), Allowed: int32(r.IntN(5))})
	}
	priority, members, ask, differ := int32(pick(1000, 1000, 1000, priorities/2)), min(pick(1, 1, 1, 8, 64, 300, 1000), nodes), pick(300, 900, 1000), pick(0, 1)
	spread, apart := pick(0, 0, 1) > 0, pick(0, 0, 1) > 0
	for i := range members {
		p := cluster.Pod{
			Name: fmt.Sprint("m", i), Priority: &priority, Labels: map[string]string{"gang": "x", "app": "a1", "i": fmt.Sprint("m", i*differ)},
			Requests: cluster.Resources{cluster.CPU: int64(ask - i*differ%100), cluster.Memory: int64(200 + i*differ%50)},
		}
		if spread {
			p.Spread = []cluster.Spread{{MaxSkew: 2, TopologyKey: rackKey, Selector: matching("gang", "x")}}
		}
		if apart {
			p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: hostKey, Selector: matching("gang", "x")}}
		}
		if tied == 2 {
			p.Ports = []cluster.HostPort{{Port: int32(1000 + i)}}
		}
		q.p.Pods = append(q.p.Pods, p)
	}
	if members > 1 {
		count := int32(members * pick(3, 4, 4) / 4)
		q.p.Group = &cluster.PodGroup{Name: "gang", Priority: &priority, MinCount: &count}
		if r.IntN(2) == 0 {
			q.p.Group.Topology = []cluster.TopologyConstraint{{Key: rackKey, Preferred: r.IntN(3) == 0}}
		}
		for i := range q.p.Pods {
			q.p.Pods[i].Group, q.p.Pods[i].Priority = "gang", nil
		}
	}
	return fmt.Sprintf("nodes=%d/each=%d/racks=%d/groups=%d-%s-%d/budgets=%d/tied=%d/members=%d", nodes, perNode, racks, grouped, mode, lie, budgets, tied, members), q
}

// drawTied is a drawn cluster in which a fifth of the pods have terms about others of their app, and some about one pod besides.
func drawTied(seed uint64, size int) (name string, q hostileQuestion) {
	name, q = drawCluster(seed, size)
	kind := rand.New(rand.NewPCG(seed, 3)).IntN(3)
	for i := 1; i < len(q.snap.Pods); i += 5 {
		p := &q.snap.Pods[i]
		app := matching("app", p.Labels["app"])
		switch kind {
		case 0:
			p.Spread = []cluster.Spread{{MaxSkew: 1, TopologyKey: rackKey, Selector: app}}
		case 1:
			p.Affinity = append(p.Affinity, cluster.AffinityTerm{TopologyKey: rackKey, Selector: app})
		case 2:
			p.AntiAffinity = append(p.AntiAffinity, cluster.AffinityTerm{TopologyKey: hostKey, Selector: app})
		}
	}
	return fmt.Sprintf("%s/to-app=%d", name, kind), q
}

// drawQuota is a workload beside others of queues in cohorts, of several pod sets and flavors.
func drawQuota(seed uint64, size int) (name string, q hostileQuestion) {
	r := rand.New(rand.NewPCG(seed, 1))
	pick := func(list ...int) int { return list[r.IntN(len(list))] }
	queues, flavors, sets, workloads, resources, cohorts := pick(1, 2, 3, 10, 40), pick(1, 4, 16, 64), pick(1, 2, 4, 8), size/pick(1, 4, 15, 50), 1+r.IntN(4), pick(1, 3, 5)
	names := []string{cluster.CPU, cluster.Memory, "x", "y"}[:resources]
	each1 := (0.8 + r.Float64()/2) * float64(queues*flavors*20_000) / float64(workloads*(1+sets)) // so that they use about what there is
	q.snap.Time = time.Unix(1_000_000, 0)
	var group cluster.ResourceGroup
	for f := range flavors {
		quotas := each(resources, func(i int) cluster.ResourceQuota { return cluster.ResourceQuota{Resource: names[i], Nominal: 10_000} })
		q.snap.ResourceFlavors = append(q.snap.ResourceFlavors, cluster.ResourceFlavor{Name: fmt.Sprint("f", f)})
		group.Flavors = append(group.Flavors, cluster.FlavorQuotas{Flavor: fmt.Sprint("f", f), Resources: quotas})
	}
	choice := func() cluster.FlavorChoice {
		return []cluster.FlavorChoice{cluster.StopSearch, cluster.TryNextFlavor}[r.IntN(2)]
	}
	for i := range queues {
		name := fmt.Sprint("q", i)
		q.snap.ClusterQueues = append(q.snap.ClusterQueues, cluster.ClusterQueue{
			Name: name, Cohort: fmt.Sprint("c", i%cohorts), Groups: []cluster.ResourceGroup{group}, Fungibility: cluster.Fungibility{WhenCanPreempt: choice(), WhenCanBorrow: choice()},
			Preemption: cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority, ReclaimWithinCohort: cluster.AnyPriority, BorrowWithinCohort: &cluster.BorrowWithinCohort{}},
		})
		q.snap.LocalQueues = append(q.snap.LocalQueues, cluster.LocalQueue{Name: name, ClusterQueue: name})
	}
	for i := range cohorts {
		q.snap.Cohorts = append(q.snap.Cohorts, cluster.Cohort{Name: fmt.Sprint("c", i), Parent: "all"})
	}
	set := func(i int, flavor string, amount func() float64) cluster.PodSet {
		s := cluster.PodSet{Name: fmt.Sprint("s", i), Count: 1, Requests: cluster.Resources{}}
		for _, name := range names {
			if s.Requests[name] = int64(amount()); flavor != "" {
				if s.Flavors == nil {
					s.Flavors = map[string]string{}
				}
				s.Flavors[name] = flavor
			}
		}
		return s
	}
	for i := range workloads {
		queue := fmt.Sprint("q", r.IntN(queues))
		w := cluster.Workload{Name: fmt.Sprint("w", i), Queue: queue, Priority: int32(r.IntN(10)), Admission: &cluster.Admission{ClusterQueue: queue, Reserved: q.snap.Time.Add(-time.Duration(i) * time.Minute)}}
		for k := range 1 + r.IntN(sets) {
			w.PodSets = append(w.PodSets, set(k, fmt.Sprint("f", r.IntN(flavors)), func() float64 { return each1 * (0.5 + r.Float64()) }))
		}
		q.snap.Workloads = append(q.snap.Workloads, w)
	}
	asks := cluster.Workload{Name: "asks", Queue: "q0", Priority: int32(4 + r.IntN(7))}
	for k := range sets {
		asks.PodSets = append(asks.PodSets, set(k, "", func() float64 { return 2_000 + 8_000*r.Float64() }))
	}
	q.snap.Workloads = append(q.snap.Workloads, asks)
	q.p = cluster.Preemptor{Kind: cluster.KindWorkload, Name: "asks"}
	return fmt.Sprintf("queues=%d/flavors=%d/sets=%d/workloads=%d/resources=%d/cohorts=%d", queues, flavors, sets, workloads, resources, cohorts), q
}

// drawnOptions are those of seed, of the ones that demand more.
func drawnOptions(seed uint64) (name string, o preemption.Options) {
	more := []struct {
		name string
		o    preemption.Options
	}{
		{"levels", preemption.Options{Search: preemption.Exact, Objective: []preemption.CriterionName{preemption.CriterionLevels}}},
		{"moves-in-a-chain-by-levels", preemption.Options{Search: preemption.Exact, Limits: preemption.Limits{OnlyMoves: true}, Chain: 4, Objective: []preemption.CriterionName{preemption.CriterionLevels}}},
		{"everything", preemption.Options{Search: preemption.Exact, Proof: true, Candidates: true, LowestLevel: true, Explain: true, Cost: preemption.CostOptions{Objective: true, Tariff: disruption.Tariff{Fixed: 1, Pods: 3}}}},
	}
	if i := int(seed % uint64(len(demanding)+len(more))); i < len(demanding) {
		return demanding[i].name, demanding[i].o
	} else {
		return more[i-len(demanding)].name, more[i-len(demanding)].o
	}
}

// drawn are the ways to draw, with the size of each in full.
var drawn = []struct {
	name string
	size int
	draw func(seed uint64, size int) (string, hostileQuestion)
}{{"cluster", 5_000, drawCluster}, {"tied", 2_000, drawTied}, {"quota", 2_000, drawQuota}}

// TestDrawn: of small ones the answers hold.
func TestDrawn(t *testing.T) {
	told := map[preemption.Verdict]int{}
	for seed := range uint64(60) {
		for i, d := range drawn {
			if i == 1 && seed%3 > 0 { // of ties that take long, some
				continue
			}
			name, q := d.draw(seed, 50)
			options, o := drawnOptions(seed)
			r, err := o.Preempt(q.p, &q.snap)
			if errors.Is(err, cluster.ErrInvalid) { // the early text has no such groups
				continue
			}
			require.NoError(t, err, "%d, %s, %s", seed, name, options)
			require.Empty(t, check.Verify(&q.snap, o, q.p, r), "%d, %s, %s", seed, name, options)
			told[r.Verdict]++
		}
	}
	require.Greater(t, told[preemption.Feasible], 20)
	require.Greater(t, told[preemption.Infeasible], 10)
}

// TestSearchesBesidePlacementsEnd: of thousands of placements, with two or three groups in the way of each, few are searched for victims that
// disrupt less once the steps are taken.
func TestSearchesBesidePlacementsEnd(t *testing.T) {
	_, q := drawCluster(1607, 30)
	o := preemption.Options{Search: preemption.Exact, SearchSteps: 200, Objective: []preemption.CriterionName{preemption.CriterionStranded}}
	r, err := o.Preempt(q.p, &q.snap)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict)
	require.Empty(t, check.Verify(&q.snap, o, q.p, r))
	require.False(t, r.Stats.Exact)
	require.Less(t, r.Stats.Searched, 2_000)
}

// BenchmarkDrawn is what they take in full.
func BenchmarkDrawn(b *testing.B) {
	draws := uint64(100)
	if testing.Short() {
		draws = 1
	}
	for seed := range draws {
		for _, d := range drawn {
			size := d.size
			if testing.Short() {
				size = 50
			}
			name, q := d.draw(seed, size)
			options, o := drawnOptions(seed)
			b.Run(fmt.Sprintf("%s/seed=%d/options=%s/%s", d.name, seed, options, name), func(b *testing.B) {
				for b.Loop() {
					_, _ = o.Preempt(q.p, &q.snap) // a typed error is an answer
				}
			})
		}
	}
}
