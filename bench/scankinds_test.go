package bench_test

import (
	"fmt"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// scanQuestion is a cluster, who wants to run in it, and under which options.
type scanQuestion struct {
	snap cluster.Snapshot
	p    cluster.Preemptor
	o    preemption.Options
}

// label gives the nodes of a fleet their places: racks of 40, 16 zones.
func (q *scanQuestion) label() {
	for i := range q.snap.Nodes {
		n := &q.snap.Nodes[i]
		n.Labels = map[string]string{hostKey: n.Name, "rack": fmt.Sprint(i / 40), "zone": fmt.Sprint(i % 16)}
	}
}

// scanKinds are what a fleet may have beside its pods.
var scanKinds = []struct {
	name   string
	change func(q *scanQuestion, s func(int) int)
}{
	{"hundreds of budgets", func(q *scanQuestion, _ func(int) int) { gen.UnderBudgets(&q.snap) }},
	{"elastic groups", func(q *scanQuestion, s func(int) int) { q.unite(disruption.SurplusFirst, 1+s(200), s) }},
	{"groups that go whole", func(q *scanQuestion, s func(int) int) { q.unite(disruption.All, 1+s(20), s) }},
	{"small groups", func(q *scanQuestion, s func(int) int) { q.unite(disruption.All, len(q.snap.Nodes), s) }},
	{"composites", func(q *scanQuestion, s func(int) int) {
		from := len(q.snap.PodGroups)
		q.unite(disruption.All, 20+s(100), s)
		for i := range q.snap.PodGroups[from:] {
			q.snap.PodGroups[from+i].Parent = fmt.Sprintf("composite%d-%d", from, i%10)
		}
		for i := range 10 {
			low := int32(0)
			q.snap.CompositePodGroups = append(q.snap.CompositePodGroups, cluster.CompositePodGroup{Namespace: "default", Name: fmt.Sprintf("composite%d-%d", from, i), Mode: disruption.All, Priority: &low})
		}
	}},
	{"devices", func(q *scanQuestion, _ func(int) int) {
		for i := range q.snap.Nodes {
			q.snap.Nodes[i].Devices = map[string]cluster.DevicePool{"gpu": {Count: 8, Capacity: 100}}
		}
		q.everyPod(4, func(i int, p *cluster.Pod) {
			p.Devices = []cluster.DeviceRequest{{Resource: "gpu", Count: int32(1 + i%2)}}
		})
	}},
	{"ports", func(q *scanQuestion, _ func(int) int) {
		q.everyPod(3, func(i int, p *cluster.Pod) { p.Ports = []cluster.HostPort{{Port: int32(1000 + i%97)}} })
	}},
	{"tokens", func(q *scanQuestion, _ func(int) int) {
		q.everyPod(50, func(i int, p *cluster.Pod) { p.Tokens = []string{fmt.Sprint("t", i)} })
	}},
	{"anti-affinity", func(q *scanQuestion, s func(int) int) {
		key := []string{hostKey, "rack", "zone"}[s(3)]
		q.everyPod(1+s(10), func(_ int, p *cluster.Pod) {
			p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: key, Selector: matching("tier", "front")}}
		})
	}},
	{"a thousand priorities", func(q *scanQuestion, _ func(int) int) {
		q.everyPod(1, func(i int, p *cluster.Pod) { priority := int32(i * 7919 % 1000); p.Priority = &priority })
	}},
	{"pods bound to their nodes", func(q *scanQuestion, s func(int) int) {
		q.everyPod(2+s(10), func(_ int, p *cluster.Pod) { p.NodeSelector = map[string]string{hostKey: p.Node} })
	}},
}

// everyPod changes one pod in so many.
func (q *scanQuestion) everyPod(nth int, change func(i int, p *cluster.Pod)) {
	for i := 0; i < len(q.snap.Pods); i += nth {
		change(i/nth, &q.snap.Pods[i])
	}
}

// unite makes so many groups, each of pods on many nodes, or on a few neighbours.
func (q *scanQuestion) unite(mode disruption.Mode, num int, s func(int) int) {
	low, least, from := int32(s(10)), int32(1+s(4)), len(q.snap.PodGroups)
	for i := range num {
		q.snap.PodGroups = append(q.snap.PodGroups, cluster.PodGroup{Namespace: "default", Name: fmt.Sprint("group", from+i), Mode: mode, MinCount: &least, Priority: &low})
	}
	near := s(2) == 0
	q.everyPod(1+s(30), func(i int, p *cluster.Pod) {
		if p.Group != "" {
			return
		}
		group := i % num
		if near {
			group = i / 10 % num
		}
		p.Group, p.Priority = fmt.Sprint("group", from+group), &low
	})
}

// underQueues puts a cohort of queues over the cluster, in which pods hold quota, workloads wait, and the preemptor
// may need some.
func underQueues(q *scanQuestion, s func(int) int) {
	num := 1 + s(40)
	q.snap.ResourceFlavors = []cluster.ResourceFlavor{{Name: "f"}}
	all := []cluster.ResourceQuota{{Resource: cluster.CPU, Nominal: int64(64_000 * len(q.snap.Nodes) / num)}}
	for i := range num {
		name := fmt.Sprint("q", i)
		q.snap.ClusterQueues = append(q.snap.ClusterQueues, cluster.ClusterQueue{Name: name, Cohort: "all",
			Groups:     []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{Flavor: "f", Resources: all}}}},
			Preemption: cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority, ReclaimWithinCohort: cluster.AnyPriority}})
		q.snap.LocalQueues = append(q.snap.LocalQueues, cluster.LocalQueue{Namespace: "default", Name: name, ClusterQueue: name})
		q.snap.Workloads = append(q.snap.Workloads, cluster.Workload{Namespace: "default", Name: fmt.Sprint("w", i), Queue: name, Priority: 1000,
			PodSets: []cluster.PodSet{{Name: "main", Count: 8, Requests: cluster.Resources{cluster.CPU: 8_000}}}})
	}
	q.everyPod(1+s(5), func(i int, p *cluster.Pod) { p.Queue = fmt.Sprint("q", i%num) })
	if s(3) > 0 {
		for i := range q.p.Pods {
			q.p.Pods[i].Queue = "q0"
		}
		return
	}
	q.p = cluster.Preemptor{Kind: cluster.KindWorkload, Namespace: "default", Name: "w0"}
}

// scanPreemptors are who asks.
var scanPreemptors = []struct {
	name string
	draw func(s func(int) int) cluster.Preemptor
}{
	{"a pod", func(s func(int) int) cluster.Preemptor {
		return lone(func(p *cluster.Pod) { p.Requests[cluster.CPU] = int64(1_000 + s(30_000)) })
	}},
	{"equal members", func(s func(int) int) cluster.Preemptor { return scanGang(s, func(int) int { return 0 }) }},
	{"members of shapes", func(s func(int) int) cluster.Preemptor { return scanGang(s, func(i int) int { return i % 4 }) }},
	{"unlike members", func(s func(int) int) cluster.Preemptor { return scanGang(s, func(i int) int { return i * 37 % 101 }) }},
}

// scanGang is a gang of 8 or 64 whose members are larger by what more says, perhaps in one rack.
func scanGang(s func(int) int, more func(i int) int) cluster.Preemptor {
	group, cpu, grain := cluster.PodGroup{}, int64(1_000+s(12_000)), int64(1+s(100))
	switch s(3) {
	case 1:
		group.Topology = []cluster.TopologyConstraint{{Key: "rack"}}
	case 2:
		group.Topology = []cluster.TopologyConstraint{{Key: "zone", Preferred: true}}
	}
	high, count := int32(1000), int32([]int{8, 64}[s(2)])
	group.Namespace, group.Name, group.MinCount, group.Priority = "default", "gang", &count, &high
	p := cluster.Preemptor{Group: &group}
	for i := range int(count) {
		p.Pods = append(p.Pods, cluster.Pod{
			Namespace: "default", Name: fmt.Sprintf("m%02d", i), Group: "gang", Priority: &high,
			Requests: cluster.Resources{cluster.CPU: cpu + grain*int64(more(i))},
		})
	}
	return p
}

// scanTies are what members may be tied to.
var scanTies = []struct {
	name string
	tie  func(p *cluster.Pod, i int)
}{
	{"tier", func(p *cluster.Pod, _ int) { p.Labels = map[string]string{"tier": "front"} }},
	{"with tokens", func(p *cluster.Pod, i int) { p.Tokens = []string{fmt.Sprint("t", i)} }},
	{"with devices", func(p *cluster.Pod, i int) {
		p.Devices = []cluster.DeviceRequest{{Resource: "gpu", Count: int32(1 + i%4)}}
	}},
	{"with ports", func(p *cluster.Pod, i int) { p.Ports = []cluster.HostPort{{Port: int32(1000 + i%5)}} }},
	{"apart", func(p *cluster.Pod, _ int) {
		p.Labels = map[string]string{"tier": "front"}
		p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: hostKey, Selector: matching("tier", "front")}}
	}},
	{"spread", func(p *cluster.Pod, _ int) {
		p.Labels = map[string]string{"tier": "front"}
		p.Spread = []cluster.Spread{{MaxSkew: 1, TopologyKey: "zone", Selector: matching("tier", "front")}}
	}},
	{"attracted", func(p *cluster.Pod, _ int) {
		p.Affinity = []cluster.AffinityTerm{{TopologyKey: "zone", Selector: matching("app", "app-03")}}
	}},
}
