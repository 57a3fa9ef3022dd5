package ask

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// TestInUseOnceManyHaveLeft: what is in use once units have left, of many pods and of one, one set after the other, is what is in
// use where they are not.
func TestInUseOnceManyHaveLeft(t *testing.T) {
	s := spreadGroups(3, 20)
	q := questionIn(t, s, Settings{})
	for _, left := range [][]string{
		nil, {"group0"}, {"group0", "lone3"}, {"lone4"}, {"group0", "lone4", "lone5"}, {"group1", "group0"}, {"group0", "group1", "lone3", "lone4"},
		{"group2", "group1", "group0", "lone0", "lone1", "lone2", "lone3", "lone4", "lone5", "lone6"},
	} {
		var list []victims.UnitID
		rest := *s
		rest.Pods = slices.DeleteFunc(slices.Clone(s.Pods), func(p cluster.Pod) bool {
			if !slices.Contains(left, p.Group) && !slices.Contains(left, p.Name) {
				return false
			}
			if u := q.unitOf(q.Index.PodByName("", p.Name)); !slices.Contains(list, u) {
				list = append(list, u)
			}
			return true
		})
		then := questionIn(t, &rest, Settings{})
		for _, c := range []victims.Criterion{victims.CriterionNodes, victims.CriterionDevices, victims.CriterionDomains + "rack"} {
			require.Equal(t, then.inUseNow(c).count, q.inUseAfter(c, list, nil, nil), "%s without %v", c, left)
		}
	}
}

// spreadGroups are groups that go whole, each with so many pods, on every other node, and seven pods on others beside them.
func spreadGroups(groups, pods int) *cluster.Snapshot {
	low, one := int32(1), int32(1)
	s := &cluster.Snapshot{}
	for n := range 2 * pods {
		s.Nodes = append(s.Nodes, cluster.Node{
			Name: fmt.Sprint("n", n), Labels: map[string]string{"rack": fmt.Sprint(n / 3)},
			Devices: map[string]cluster.DevicePool{"gpu": {Count: 4, Capacity: 2}},
		})
	}
	device := []cluster.DeviceRequest{{Resource: "gpu", Fraction: 1}}
	for g := range groups {
		name := fmt.Sprint("group", g)
		s.PodGroups = append(s.PodGroups, cluster.PodGroup{Name: name, Mode: disruption.All, MinCount: &one})
		for k := range pods {
			s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint(name, "-", k), Group: name, Node: fmt.Sprint("n", 2*k), Priority: &low, Devices: device})
		}
	}
	for k := range 7 {
		s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint("lone", k), Node: fmt.Sprint("n", 3*k), Priority: &low, Devices: device})
	}
	return s
}
