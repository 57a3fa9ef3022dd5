package gen

import (
	"encoding/json"
	"fmt"

	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Shuffle is a copy of q in which every slice whose order says nothing has been
// permuted, from the snapshot's down to the values of a selector.
func Shuffle(t *rapid.T, q Question) Question { return shuffled(drawn(t), q) }

// Shuffled is Shuffle by seed.
func Shuffled(seed uint64, q Question) Question { return shuffled(seeded(seed), q) }

// Clone is a copy of q that shares nothing with it.
func Clone(q Question) Question {
	text, err := json.Marshal(q)
	if err != nil {
		panic(fmt.Sprintf("gen: a question that can't be written: %v", err))
	}
	var out Question
	if err := json.Unmarshal(text, &out); err != nil {
		panic(fmt.Sprintf("gen: a question that can't be read back: %v", err))
	}
	return out
}

func shuffled(s source, q Question) Question {
	q = Clone(q)
	for i := range q.Snapshot.Nodes {
		permute(s, q.Snapshot.Nodes[i].Taints)
	}
	for i := range q.Snapshot.Pods {
		permutePod(s, &q.Snapshot.Pods[i])
	}
	for i := range q.Preemptor.Pods {
		permutePod(s, &q.Preemptor.Pods[i])
	}
	for i := range q.Snapshot.Budgets {
		permute(s, q.Snapshot.Budgets[i].Disrupted)
		permuteSelector(s, q.Snapshot.Budgets[i].Selector)
	}
	permute(s, q.Preemptor.Pods)
	permute(s, q.Snapshot.Nodes)
	permute(s, q.Snapshot.Pods)
	permute(s, q.Snapshot.PodGroups)
	permute(s, q.Snapshot.CompositePodGroups)
	permute(s, q.Snapshot.Budgets)
	permute(s, q.Snapshot.PriorityClasses)
	permute(s, q.Snapshot.Namespaces)
	permute(s, q.Snapshot.ResourceFlavors)
	permute(s, q.Snapshot.ClusterQueues)
	permute(s, q.Snapshot.Cohorts)
	permute(s, q.Snapshot.LocalQueues)
	permute(s, q.Snapshot.Workloads)
	return q
}

func permutePod(s source, p *cluster.Pod) {
	permute(s, p.Ports)
	permute(s, p.Tolerations)
	if p.NodeAffinity == nil {
		return
	}
	for _, t := range p.NodeAffinity.Terms {
		for _, r := range t.Labels {
			permute(s, r.Values)
		}
		permute(s, t.Labels)
		permute(s, t.Fields)
	}
	permute(s, p.NodeAffinity.Terms)
}

func permuteSelector(s source, sel *disruption.Selector) {
	if sel == nil {
		return
	}
	for _, r := range sel.MatchExpressions {
		permute(s, r.Values)
	}
	permute(s, sel.MatchExpressions)
}

// permute shuffles in place. The smallest choices leave everything as it is.
func permute[T any](s source, list []T) {
	for i := range list {
		j := i + s(len(list)-i)
		list[i], list[j] = list[j], list[i]
	}
}
