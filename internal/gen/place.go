package gen

import "github.com/preempt-go/preempt/preemption/cluster"

// place gives the preemptor tolerations and wishes about its node.
func (b *builder) place(p *cluster.Pod) {
	on := b.p.Placement
	if b.chance(on, 3) {
		p.RequiredNode = b.someNode()
	}
	if b.chance(on, 6) {
		p.NodeSelector = map[string]string{"zone": pick(b.source, "a", "a", "b", "b", "c")}
	}
	if b.chance(on, 6) {
		p.NodeAffinity = &cluster.NodeAffinity{}
		for range pick(b.source, 1, 2, 2, 0) {
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
		Key:      pick(b.source, "dedicated", "weight", cluster.TaintUnschedulable),
		Operator: pick(b.source, "", cluster.TolerationEqual, cluster.TolerationExists, cluster.TolerationLt, cluster.TolerationGt),
		Effect:   pick(b.source, "", cluster.NoSchedule, cluster.NoExecute),
	}
	switch t.Operator {
	case cluster.TolerationExists:
		if b.chance(true, 20) {
			t.Key = ""
		}
	case cluster.TolerationLt, cluster.TolerationGt:
		t.Value = pick(b.source, "5", "6", "-1")
	default:
		t.Value = pick(b.source, "", "5", "ml")
	}
	return t
}

func (b *builder) term() cluster.NodeTerm {
	var t cluster.NodeTerm
	for range b.source(3) {
		r := cluster.NodeRequirement{
			Key: pick(b.source, "zone", "generation", "disk"),
			Operator: pick(b.source, cluster.NodeIn, cluster.NodeNotIn, cluster.NodeExists, cluster.NodeDoesNotExist,
				cluster.NodeGt, cluster.NodeLt),
		}
		switch r.Operator {
		case cluster.NodeIn, cluster.NodeNotIn:
			r.Values = pick(b.source, []string{"a"}, []string{"a", "b"}, []string{"1", "old"})
		case cluster.NodeGt, cluster.NodeLt:
			r.Values = []string{pick(b.source, "1", "2", "9")}
		}
		t.Labels = append(t.Labels, r)
	}
	if b.chance(true, 20) {
		t.Fields = append(t.Fields, cluster.NodeRequirement{
			Key:      "metadata.name",
			Operator: pick(b.source, cluster.NodeIn, cluster.NodeNotIn),
			Values:   []string{b.someNode()},
		})
	}
	return t
}
