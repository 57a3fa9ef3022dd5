package quota

import (
	"fmt"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Limits on what is compiled, as those of package cluster.
const (
	mostCohorts = 32      // above a queue
	mostQuotas  = 1 << 22 // queues and cohorts times pairs of flavor and resource
)

// problemList collects what is wrong with objects that are right by themselves.
type problemList []*cluster.FieldError

func (ps *problemList) add(kind cluster.Kind, namespace, name, field, value, want string) {
	*ps = append(*ps, &cluster.FieldError{Kind: string(kind), Namespace: namespace, Name: name, Field: field, Value: value, Want: want})
}

// checkDepth complains about queues and cohorts with too many cohorts above them.
func (ix *Index) checkDepth(ps *problemList) {
	deepest, name, kind := 0, "", cluster.KindClusterQueue
	for h := range HolderID(len(ix.parent)) {
		depth := 0
		for at := ix.parent[h]; at != NoHolder && depth <= mostCohorts; at = ix.parent[at] {
			depth++
		}
		if depth > deepest {
			deepest, name = depth, ix.Name(h)
			if int(h) >= len(ix.queues) {
				kind = cluster.KindCohort
			}
		}
	}
	if deepest > mostCohorts {
		ps.add(kind, "", name, "Cohort", fmt.Sprintf("more than %d levels up to its root", mostCohorts), "fewer")
	}
}

// checkQuotas complains if holders of quota and what they have quota of are too many.
func checkQuotas(ps *problemList, holders, columns int) {
	if columns > mostQuotas/max(1, holders) {
		ps.add(cluster.KindSnapshot, "", "", "ClusterQueues", fmt.Sprint(columns, " pairs of flavor and resource"),
			fmt.Sprint("at most ", mostQuotas/holders, " for as many queues and cohorts"))
	}
}
