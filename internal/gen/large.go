package gen

import (
	"fmt"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Enlarge returns q where a running group, if there is one, has many more pods, which ask for little:
// it is on most nodes, and has many times as many pods as there are.
func Enlarge(q Question, seed uint64) Question {
	s, pods := Seeded(seed), q.Snapshot.Pods
	i := slices.IndexFunc(pods, func(p cluster.Pod) bool {
		return p.Group != "" && slices.ContainsFunc(q.Snapshot.Nodes, func(n cluster.Node) bool { return n.Name == p.Node })
	})
	if i < 0 {
		return q
	}
	q.Snapshot.Pods = slices.Clone(pods)
	for k := range 16 + s(8) {
		p := pods[i]
		p.Name, p.Node, p.Ports = fmt.Sprintf("%s-%d", p.Name, k), Pick(s, q.Snapshot.Nodes...).Name, nil
		p.Labels, p.Requests = maps.Clone(p.Labels), cluster.Resources{cluster.CPU: int64(s(300))}
		q.Snapshot.Pods = append(q.Snapshot.Pods, p)
	}
	return q
}
