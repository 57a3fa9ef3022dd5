package tell

import (
	"maps"

	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Again is the preemptor of a question that was asked.
func Again(a answer.Asked) cluster.Preemptor {
	if a.Inline != nil {
		return a.Inline.Clone()
	}
	return cluster.Preemptor{Kind: a.Kind, Namespace: a.Namespace, Name: a.Name, Placement: maps.Clone(a.Placement)}
}

// AskedBy names p.
func AskedBy(p *cluster.Preemptor) answer.Asked {
	a := answer.Asked{Kind: p.Kind, Namespace: p.Namespace, Name: p.Name, Placement: maps.Clone(p.Placement)}
	switch {
	case p.Name != "":
	case p.Group != nil:
		a.Kind, a.Namespace, a.Name = cluster.KindPodGroup, p.Group.Namespace, p.Group.Name
	default:
		a.Kind, a.Namespace, a.Name = cluster.KindPod, p.Pods[0].Namespace, p.Pods[0].Name
	}
	return a
}

// AskedByWorkload names the workload p, with what p gives inline, a copy.
func AskedByWorkload(p cluster.Preemptor) answer.Asked {
	if p.Workload == nil {
		return answer.Asked{Kind: cluster.KindWorkload, Namespace: p.Namespace, Name: p.Name}
	}
	inline := p.Clone()
	return answer.Asked{Kind: cluster.KindWorkload, Namespace: p.Workload.Namespace, Name: p.Workload.Name, Inline: &inline}
}

// withInline is a with what p gives inline, a copy.
func withInline(a answer.Asked, p cluster.Preemptor) answer.Asked {
	if p.Name == "" {
		inline := p.Clone()
		a.Inline = &inline
	}
	return a
}
