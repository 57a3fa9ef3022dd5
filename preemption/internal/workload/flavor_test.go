package workload_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

// pools is eight with a second flavor: the nodes of a100 are of pool old, those of h100 of pool new.
func pools(jobs ...cluster.Workload) *cluster.Snapshot {
	s := eight(jobs...)
	s.ResourceFlavors[0].NodeLabels = map[string]string{"pool": "old"}
	s.ResourceFlavors = append(s.ResourceFlavors, cluster.ResourceFlavor{Name: "h100", NodeLabels: map[string]string{"pool": "new"}})
	flavors := &s.ClusterQueues[0].Groups[0].Flavors
	*flavors = append(*flavors, cluster.FlavorQuotas{Flavor: "h100", Resources: []cluster.ResourceQuota{{Resource: "gpu", Nominal: 8}}})
	return s
}

// TestFlavorsThatSuit: of the labels that nodes must have those count that some flavor names on
// its nodes, and a taint that is not tolerated keeps out.
func TestFlavorsThatSuit(t *testing.T) {
	in := func(key, value string) cluster.NodeRequirement {
		return cluster.NodeRequirement{Key: key, Operator: cluster.NodeIn, Values: []string{value}}
	}
	affinity := func(terms ...[]cluster.NodeRequirement) func(*cluster.PodSet) {
		a := &cluster.NodeAffinity{}
		for _, list := range terms {
			a.Terms = append(a.Terms, cluster.NodeTerm{Labels: list})
		}
		return func(set *cluster.PodSet) { set.NodeAffinity = a }
	}
	type terms = []cluster.NodeRequirement
	unmatched := []workload.ObjectionKind{workload.Unmatched}
	for name, x := range map[string]struct {
		set    func(*cluster.PodSet)
		flavor string // "": none
		why    []workload.ObjectionKind
	}{
		"nothing is said":                 {func(*cluster.PodSet) {}, "a100", nil},
		"the first":                       {affinity(terms{in("pool", "old")}), "a100", nil},
		"the second":                      {affinity(terms{in("pool", "new")}), "h100", unmatched},
		"neither":                         {affinity(terms{in("pool", "other")}), "", []workload.ObjectionKind{workload.Unmatched, workload.Unmatched}},
		"what no flavor names":            {affinity(terms{in("disk", "ssd")}), "a100", nil},
		"beside what no flavor names":     {affinity(terms{in("disk", "ssd"), in("pool", "new")}), "h100", unmatched},
		"or what no flavor names":         {affinity(terms{in("pool", "new")}, terms{in("disk", "ssd")}), "a100", nil},
		"both, by two terms":              {affinity(terms{in("pool", "new")}, terms{in("pool", "old")}), "a100", nil},
		"both at once":                    {affinity(terms{in("pool", "new"), in("pool", "old")}), "", []workload.ObjectionKind{workload.Unmatched, workload.Unmatched}},
		"no terms":                        {affinity(), "a100", nil},
		"a selector":                      {func(set *cluster.PodSet) { set.NodeSelector = map[string]string{"pool": "new"} }, "h100", unmatched},
		"a selector of another label":     {func(set *cluster.PodSet) { set.NodeSelector = map[string]string{"disk": "ssd"} }, "a100", nil},
		"a label of the flavor with none": {func(set *cluster.PodSet) { set.NodeSelector = map[string]string{"pool": ""} }, "", []workload.ObjectionKind{workload.Unmatched, workload.Unmatched}},
	} {
		t.Run(name, func(t *testing.T) {
			w := job("in", "", 1, 4)
			x.set(&w.PodSets[0])
			p := plan(t, model(t, pools(w)), "in")
			var why []workload.ObjectionKind
			for _, o := range p.Objections {
				why = append(why, o.Kind)
			}
			require.Equal(t, x.why, why)
			require.Equal(t, x.flavor != "", p.Fits)
			if x.flavor != "" {
				require.Len(t, p.Taken, 1)
				require.Equal(t, model(t, pools()).Index.Column(x.flavor, "gpu"), p.Taken[0].Column)
			}
		})
	}
}

func TestTaintsOfFlavors(t *testing.T) {
	gpu := cluster.Taint{Key: "gpu", Effect: cluster.NoSchedule}
	tolerates := []cluster.Toleration{{Key: "gpu", Operator: cluster.TolerationExists}}
	for name, x := range map[string]struct {
		change func(s *cluster.Snapshot)
		want   []workload.Objection
	}{
		"a taint": {func(s *cluster.Snapshot) {}, []workload.Objection{{Kind: workload.Tainted, Taint: &gpu}}},
		"that the pods tolerate": {
			func(s *cluster.Snapshot) { s.Workloads[0].PodSets[0].Tolerations = tolerates }, nil,
		},
		"that pods of the flavor tolerate": {
			func(s *cluster.Snapshot) { s.ResourceFlavors[0].Tolerations = tolerates }, nil,
		},
		"that the first of two sets with the same flavors tolerates": {
			func(s *cluster.Snapshot) {
				sets := &s.Workloads[0].PodSets
				(*sets)[0].Group = "g"
				*sets = append(*sets, (*sets)[0])
				(*sets)[0].Tolerations, (*sets)[1].Name = tolerates, "other"
			}, []workload.Objection{{Kind: workload.Tainted, Taint: &gpu}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := eight(job("in", "", 1, 2))
			s.ResourceFlavors[0].NodeTaints = []cluster.Taint{gpu}
			x.change(s)
			p := plan(t, model(t, s), "in")
			require.Equal(t, x.want, p.Objections)
			require.Equal(t, x.want == nil, p.Fits)
		})
	}
}
