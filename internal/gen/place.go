package gen

import "github.com/preempt-go/preempt/preemption/cluster"

// place gives the preemptor tolerations and wishes about its node.
func (b *builder) place(p *cluster.Pod) {
	on := b.p.Placement
	if b.chance(on, 3) {
		p.RequiredNode = b.someNode()
	}
	if b.chance(on, 6) {
		p.NodeSelector = map[string]string{"zone": Pick(b.Source, "a", "a", "b", "b", "c")}
	}
	if b.chance(on, 6) {
		p.NodeAffinity = &cluster.NodeAffinity{}
		for range Pick(b.Source, 1, 2, 2, 0) {
			p.NodeAffinity.Terms = append(p.NodeAffinity.Terms, b.term())
		}
	}
	for range 2 {
		if b.chance(on, 30) {
			p.Tolerations = append(p.Tolerations, b.toleration())
		}
	}
}

func (b *builder) toleration() cluster.Toleration {
	t := cluster.Toleration{
		Key:      Pick(b.Source, "dedicated", "weight", cluster.TaintUnschedulable),
		Operator: Pick(b.Source, "", cluster.TolerationEqual, cluster.TolerationExists, cluster.TolerationLt, cluster.TolerationGt),
		Effect:   Pick(b.Source, "", cluster.NoSchedule, cluster.NoExecute),
	}
	switch t.Operator {
	case cluster.TolerationExists:
		if b.chance(true, 20) {
			t.Key = ""
		}
	case cluster.TolerationLt, cluster.TolerationGt:
		t.Value = Pick(b.Source, "5", "6", "-1")
	default:
		t.Value = Pick(b.Source, "", "5", "ml")
	}
	return t
}

func (b *builder) term() cluster.NodeTerm {
	var t cluster.NodeTerm
	for range b.Source(3) {
		r := cluster.NodeRequirement{
			Key: Pick(b.Source, "zone", "generation", "disk"),
			Operator: Pick(b.Source, cluster.NodeIn, cluster.NodeNotIn, cluster.NodeExists, cluster.NodeDoesNotExist,
				cluster.NodeGt, cluster.NodeLt),
		}
		switch r.Operator {
		case cluster.NodeIn, cluster.NodeNotIn:
			r.Values = Pick(b.Source, []string{"a"}, []string{"a", "b"}, []string{"1", "old"})
		case cluster.NodeGt, cluster.NodeLt:
			r.Values = []string{Pick(b.Source, "1", "2", "9")}
		}
		t.Labels = append(t.Labels, r)
	}
	if b.chance(true, 20) {
		t.Fields = append(t.Fields, cluster.NodeRequirement{
			Key:      "metadata.name",
			Operator: Pick(b.Source, cluster.NodeIn, cluster.NodeNotIn),
			Values:   []string{b.someNode()},
		})
	}
	return t
}
