package bench_test

import (
	"fmt"

	"github.com/preempt-go/preempt/preemption/cluster"
)

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
