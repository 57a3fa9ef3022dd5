package gen

import (
	"encoding/json"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Shuffle is a copy of q in which every slice whose order says nothing has been
// permuted, from the snapshot's down to the values of a selector.
func Shuffle(t *rapid.T, q Question) Question { return shuffled(Drawn(t), q) }

// Shuffled is Shuffle by seed.
func Shuffled(seed uint64, q Question) Question { return shuffled(Seeded(seed), q) }

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

// shuffled copies what it permutes.
func shuffled(s Source, q Question) Question {
	q.Snapshot.Nodes = slices.Clone(q.Snapshot.Nodes)
	for i := range q.Snapshot.Nodes {
		permute(s, &q.Snapshot.Nodes[i].Taints)
	}
	q.Snapshot.Pods = slices.Clone(q.Snapshot.Pods)
	for i := range q.Snapshot.Pods {
		permutePod(s, &q.Snapshot.Pods[i])
	}
	q.Preemptor.Pods = slices.Clone(q.Preemptor.Pods)
	for i := range q.Preemptor.Pods {
		permutePod(s, &q.Preemptor.Pods[i])
	}
	q.Snapshot.Budgets = slices.Clone(q.Snapshot.Budgets)
	for i := range q.Snapshot.Budgets {
		permute(s, &q.Snapshot.Budgets[i].Disrupted)
		permuteSelector(s, &q.Snapshot.Budgets[i].Selector)
	}
	permute(s, &q.Preemptor.Pods)
	permute(s, &q.Snapshot.Nodes)
	permute(s, &q.Snapshot.Pods)
	permute(s, &q.Snapshot.PodGroups)
	permute(s, &q.Snapshot.CompositePodGroups)
	permute(s, &q.Snapshot.Budgets)
	permute(s, &q.Snapshot.PriorityClasses)
	permute(s, &q.Snapshot.Namespaces)
	permute(s, &q.Snapshot.ResourceFlavors)
	permute(s, &q.Snapshot.ClusterQueues)
	permute(s, &q.Snapshot.Cohorts)
	permute(s, &q.Snapshot.LocalQueues)
	permute(s, &q.Snapshot.Workloads)
	return q
}

func permutePod(s Source, p *cluster.Pod) {
	permute(s, &p.Ports)
	permute(s, &p.Tolerations)
	if p.NodeAffinity == nil {
		return
	}
	affinity := *p.NodeAffinity
	p.NodeAffinity = &affinity
	affinity.Terms = slices.Clone(affinity.Terms)
	for i := range affinity.Terms {
		t := &affinity.Terms[i]
		t.Labels = slices.Clone(t.Labels)
		for j := range t.Labels {
			permute(s, &t.Labels[j].Values)
		}
		permute(s, &t.Labels)
		permute(s, &t.Fields)
	}
	permute(s, &affinity.Terms)
}

func permuteSelector(s Source, sel **disruption.Selector) {
	if *sel == nil {
		return
	}
	selector := **sel
	*sel = &selector
	selector.MatchExpressions = slices.Clone(selector.MatchExpressions)
	for i := range selector.MatchExpressions {
		permute(s, &selector.MatchExpressions[i].Values)
	}
	permute(s, &selector.MatchExpressions)
}

// permute shuffles a copy. The smallest choices leave everything as it is.
func permute[T any](s Source, list *[]T) {
	*list = slices.Clone(*list)
	for i := range *list {
		j := i + s(len(*list)-i)
		(*list)[i], (*list)[j] = (*list)[j], (*list)[i]
	}
}
