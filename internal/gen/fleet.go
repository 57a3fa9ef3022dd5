package gen

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Shape says what the pods of a fleet have in common.
type Shape string

// The shapes of fleets. In all of them every node is full of cpu.
const (
	Uniform  Shape = "uniform"  // ten priorities, sizes and start times, evenly spread
	Tied     Shape = "tied"     // one priority: every node ties on it, sizes and start times decide
	Distinct Shape = "distinct" // no two pods have the same priority
	Budgeted Shape = "budgeted" // uniform, and every pod is in one of 100 budgets that are spent
	Equal    Shape = "equal"    // every pod is like every other: nodes repeat
	Skewed   Shape = "skewed"   // nodes of three sizes, some crowded, a few large pods, most priorities low
)

// Shapes lists all of them.
func Shapes() []Shape { return []Shape{Uniform, Tied, Distinct, Budgeted, Equal, Skewed} }

// Capacity of each node of a fleet.
const (
	fleetCPU     = 64_000      // thousandths of a core
	fleetMemory  = 256 << 30   // bytes
	fleetStorage = 2_000 << 30 // bytes
)

// Fleet is a big cluster: nodes with podsPerNode running pods each, in a skewed one on
// average, which leave less than one core free on every node. Pods of one app share a map of labels, so
// that 3,000,000 pods take 2.5 GB. Priorities are at least 0 and at most 9,
// but for Distinct, where they count up to the number of pods.
func Fleet(nodes, podsPerNode int, seed uint64, shape Shape) cluster.Snapshot {
	b := &fleet{Source: Seeded(seed), shape: shape}
	for i := range b.apps {
		b.apps[i] = map[string]string{"app": fmt.Sprintf("app-%02d", i)}
	}
	b.s.Time = epoch.Add(1000 * time.Hour)
	b.s.Nodes = make([]cluster.Node, 0, nodes)
	b.s.Pods = make([]cluster.Pod, 0, nodes*podsPerNode)
	for i := range nodes {
		size, pods := int64(1), podsPerNode
		if shape == Skewed {
			size, pods = b.skew(i, podsPerNode)
		}
		b.s.Nodes = append(b.s.Nodes, cluster.Node{
			Name: fmt.Sprintf("node-%06d", i),
			Allocatable: cluster.Resources{
				cluster.CPU: size * fleetCPU, cluster.Memory: size * fleetMemory, "ephemeral-storage": size * fleetStorage,
				cluster.Pods: int64(max(110, pods+1)),
			},
		})
		b.fill(i, size, pods)
	}
	if shape == Budgeted {
		for i := range 100 {
			b.s.Budgets = append(b.s.Budgets, disruption.Budget{
				Namespace: "default",
				Name:      fmt.Sprintf("budget-%02d", i),
				Selector:  &disruption.Selector{MatchLabels: map[string]string{"app": fmt.Sprintf("app-%02d", i)}},
			})
		}
	}
	return b.s
}

// UnderBudgets gives the pods of a fleet other labels, and puts 525 budgets over them, 7 over each pod.
func UnderBudgets(s *cluster.Snapshot) {
	for i := range s.Pods {
		s.Pods[i].Labels = map[string]string{"app": fmt.Sprint(i % 500), "team": fmt.Sprint(i % 20)}
	}
	budget := func(name string, i, allowed int, labels map[string]string) {
		s.Budgets = append(s.Budgets, disruption.Budget{
			Namespace: "default", Name: fmt.Sprint(name, i), Selector: &disruption.Selector{MatchLabels: labels}, Allowed: int32(allowed),
		})
	}
	for i := range 500 {
		budget("app", i, i%3, map[string]string{"app": fmt.Sprint(i)})
	}
	for i := range 20 {
		budget("team", i, i%4, map[string]string{"team": fmt.Sprint(i)})
	}
	for i := range 5 {
		budget("all", i, 5*i, nil)
	}
}

// FleetPod is a preemptor for a fleet, above every pod of it: some 1 to 8 cores
// and twice as many GiB, by seed.
func FleetPod(seed uint64) cluster.Preemptor {
	s := Seeded(seed)
	priority := int32(1 << 30)
	cores := int64(1 + s(8))
	return cluster.Preemptor{Kind: cluster.KindPod, Pods: []cluster.Pod{{
		Namespace: "default", Name: "preemptor", UID: "preemptor", Priority: &priority,
		Requests: cluster.Resources{cluster.CPU: cores*1000 - int64(s(10))*50, cluster.Memory: cores << 31},
	}}}
}

// fleet makes one big cluster.
type fleet struct {
	Source
	shape Shape
	s     cluster.Snapshot
	apps  [100]map[string]string // the labels of their pods
}

// skew returns how large node i of a skewed fleet is, and how many pods it has: of eight
// in a row four have a third of the average, three the average, one the rest.
func (b *fleet) skew(i, podsPerNode int) (size int64, pods int) {
	size = Pick(b.Source, int64(1), 1, 1, 2, 4)
	switch few := podsPerNode / 3; i % 8 {
	case 0, 2, 4, 6:
		return size, few
	case 7:
		return size, 5*podsPerNode - 4*few
	}
	return size, podsPerNode
}

// fill gives node i its pods: shares of its cpu, and of most of its memory, by
// random weights.
func (b *fleet) fill(i int, size int64, pods int) {
	cpu, memory := b.shares(pods), b.shares(pods)
	for k := range pods {
		p := cluster.Pod{
			Namespace: "default",
			Name:      fmt.Sprintf("pod-%06d-%03d", i, k),
			UID:       fmt.Sprintf("%08x-%06d-%03d", b.Source(1<<31-1), i, k),
			Labels:    b.apps[b.Source(len(b.apps))],
			Node:      b.s.Nodes[i].Name,
			Requests: cluster.Resources{
				cluster.CPU:    size * fleetCPU * cpu[k] / (cpu[pods] * 10) * 10,
				cluster.Memory: size * fleetMemory / 10 * 8 / memory[pods] * memory[k] >> 20 << 20,
			},
			Started: epoch.Add(time.Duration(b.Source(1_000_000)) * time.Second),
		}
		priority := int32(0)
		switch b.shape {
		case Uniform, Budgeted:
			priority = int32(b.Source(10))
		case Skewed:
			priority = int32(bits.TrailingZeros16(uint16(1<<9 + b.Source(1<<9))))
		case Distinct:
			priority = int32(i*pods + k)
		case Equal:
			p.Started = epoch
		}
		p.Priority = &priority
		b.s.Pods = append(b.s.Pods, p)
	}
}

// shares are that many random weights, and their sum.
func (b *fleet) shares(pods int) []int64 {
	weights := make([]int64, pods+1)
	for k := range pods {
		weights[k] = 1
		if b.shape != Equal {
			weights[k] += int64(b.Source(8))
		}
		if b.shape == Skewed && b.Source(16) == 0 {
			weights[k] *= 20
		}
		weights[pods] += weights[k]
	}
	return weights
}
