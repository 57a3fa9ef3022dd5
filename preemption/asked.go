package preemption

import (
	"maps"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// again is the preemptor of a question that was asked.
func again(a Asked) Preemptor {
	if a.Inline != nil {
		return a.Inline.Clone()
	}
	return Preemptor{Kind: a.Kind, Namespace: a.Namespace, Name: a.Name, Placement: maps.Clone(a.Placement)}
}

// askedBy names p.
func askedBy(p *Preemptor) Asked {
	a := Asked{Kind: p.Kind, Namespace: p.Namespace, Name: p.Name, Placement: maps.Clone(p.Placement)}
	switch {
	case p.Name != "":
	case p.Group != nil:
		a.Kind, a.Namespace, a.Name = cluster.KindPodGroup, p.Group.Namespace, p.Group.Name
	default:
		a.Kind, a.Namespace, a.Name = cluster.KindPod, p.Pods[0].Namespace, p.Pods[0].Name
	}
	return a
}

func askedByWorkload(p Preemptor) Asked {
	if p.Workload == nil {
		return Asked{Kind: cluster.KindWorkload, Namespace: p.Namespace, Name: p.Name}
	}
	inline := p.Clone()
	return Asked{Kind: cluster.KindWorkload, Namespace: p.Workload.Namespace, Name: p.Workload.Name, Inline: &inline}
}

// withInline is a with what p gives inline, a copy.
func withInline(a Asked, p Preemptor) Asked {
	if p.Name == "" {
		inline := p.Clone()
		a.Inline = &inline
	}
	return a
}
