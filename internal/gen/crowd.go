package gen

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Crowd is a question of one pod to a cluster of up to 200 nodes, full of what
// shows in numbers only there: more priorities, units on a node and resources than
// one column or word has, amounts of every size, nodes that are overcommitted, do not
// limit their pods, repel pods or are nominated, groups over many nodes, budgets with
// little left.
func Crowd(seed uint64) Question {
	b := &crowd{Source: Seeded(seed)}
	b.s.Time = epoch.Add(1000 * time.Hour)
	b.resources = 1 + b.Source(11)
	if b.Source(3) > 0 {
		b.resources = 1 + b.Source(3)
	}
	b.levels = Pick(b.Source, 1, 3, 10, 100)
	b.grain = Pick(b.Source, int64(1<<20), 1000, 1, 7, 1<<40)
	b.odd, b.open = b.Source(2) == 0, b.Source(4) == 0
	b.most = Pick(b.Source, 3, 12, 40, 100)
	nodes := 200
	if b.most == 100 {
		nodes = 20
	}
	for i := range 1 + b.Source(nodes) {
		b.node(i)
	}
	for i := range Pick(b.Source, 0, 0, 3, 60) {
		b.group(fmt.Sprintf("group-%02d", i))
	}
	for i := range Pick(b.Source, 0, 0, 2, 20) {
		b.s.Budgets = append(b.s.Budgets, disruption.Budget{
			Namespace: "default", Name: fmt.Sprintf("budget-%d", i), Allowed: int32(b.Source(5) - 1),
			Selector: &disruption.Selector{MatchLabels: map[string]string{"app": fmt.Sprint(i)}},
		})
	}
	return Question{Snapshot: b.s, Preemptor: b.preemptor()}
}

type crowd struct {
	Source
	s         cluster.Snapshot
	resources int
	levels    int
	grain     int64
	odd       bool // some pods ask for what is no multiple of the grain
	open      bool // some nodes don't limit their pods
	most      int  // pods on a node
}

// amounts are some of each resource; with none it may be nothing of some.
func (b *crowd) amounts(most int, none bool) cluster.Resources {
	list := cluster.Resources{}
	for r := range b.resources {
		if none && b.Source(4) == 0 {
			continue
		}
		v := int64(1+b.Source(most)) * b.grain
		if b.odd && b.Source(50) == 0 {
			v++ // in nobody's grain
		}
		list[fmt.Sprintf("res-%02d", r)] = v
	}
	return list
}

// add adds more to every amount, and perhaps a part of the grain.
func (b *crowd) add(list cluster.Resources, more int64) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		list[name] += more + int64(b.Source(3))*b.grain/3
	}
}

func (b *crowd) node(i int) {
	n := cluster.Node{Name: fmt.Sprintf("n%03d", i), Allocatable: b.amounts(40, false), Labels: map[string]string{"half": fmt.Sprint(i % 2)}}
	b.add(n.Allocatable, 60*b.grain)
	if !b.open || b.Source(8) > 0 {
		n.Allocatable[cluster.Pods] = int64(b.most + b.Source(3))
	}
	switch b.Source(20) {
	case 0:
		n.Unschedulable = true
	case 1, 2:
		n.Taints = []cluster.Taint{{Key: "t", Value: "v", Effect: cluster.NoSchedule}}
	}
	b.s.Nodes = append(b.s.Nodes, n)
	for k := range b.most - b.Source(2+b.most/4) {
		p := b.pod(fmt.Sprintf("p%03d-%02d", i, k))
		p.Node = n.Name
		p.Requests = b.amounts(1+220/b.most, true)
		p.Started = epoch.Add(time.Duration(b.Source(5)) * time.Hour)
		b.s.Pods = append(b.s.Pods, p)
	}
	if b.Source(30) == 0 {
		p := b.pod(fmt.Sprintf("nominee-%03d", i))
		p.NominatedNode, p.Requests = n.Name, b.amounts(20, true)
		b.s.Pods = append(b.s.Pods, p)
	}
}

// group makes a group that goes as a whole of some pods, which mostly have its
// priority.
func (b *crowd) group(name string) {
	if len(b.s.Pods) == 0 {
		return
	}
	priority, one := int32(b.Source(b.levels))*10, int32(1)
	b.s.PodGroups = append(b.s.PodGroups, cluster.PodGroup{
		Namespace: "default", Name: name, Mode: disruption.All, MinCount: &one, Priority: &priority,
	})
	for range 2 + b.Source(5) {
		p := &b.s.Pods[b.Source(len(b.s.Pods))]
		if p.Node != "" && p.Group == "" {
			p.Group = name
			if b.Source(10) > 0 {
				p.Priority = &priority
			}
		}
	}
}

func (b *crowd) pod(name string) cluster.Pod {
	priority := int32(b.Source(b.levels)) * 10
	return cluster.Pod{
		Namespace: "default", Name: name, UID: fmt.Sprintf("%x-%s", b.Source(1000), name), Priority: &priority,
		Labels: map[string]string{"app": fmt.Sprint(b.Source(20))},
	}
}

func (b *crowd) preemptor() cluster.Preemptor {
	p := b.pod("preemptor")
	*p.Priority = int32(b.Source(b.levels*20 + 20))
	p.Requests = b.amounts(Pick(b.Source, 40, 90, 110), true)
	b.add(p.Requests, 0)
	switch b.Source(6) {
	case 0:
		p.NodeSelector = map[string]string{"half": "1"}
	case 1:
		p.Tolerations = []cluster.Toleration{{Operator: cluster.TolerationExists}}
	}
	return cluster.Preemptor{Kind: cluster.KindPod, Pods: []cluster.Pod{p}}
}
