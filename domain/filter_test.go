package domain_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

func TestMembersThatAFilterCanTellAreNotEqual(t *testing.T) {
	ix, err := cluster.NewIndex(&cluster.Snapshot{Nodes: []cluster.Node{{Name: "n", Allocatable: cluster.Resources{cluster.CPU: 9}}}})
	require.NoError(t, err)
	pod := func(change func(p *cluster.Pod)) *cluster.Pod {
		p := &cluster.Pod{Name: "p", Requests: cluster.Resources{cluster.CPU: 1}}
		change(p)
		return p
	}
	plain := pod(func(*cluster.Pod) {})
	for name, c := range map[string]struct {
		pod  *cluster.Pod
		same bool
	}{
		"name":        {pod(func(p *cluster.Pod) { p.Name, p.UID = "q", "u" }), true},
		"labels":      {pod(func(p *cluster.Pod) { p.Labels = map[string]string{"a": "b"} }), false},
		"annotations": {pod(func(p *cluster.Pod) { p.Annotations = map[string]string{"a": "b"} }), false},
		"namespace":   {pod(func(p *cluster.Pod) { p.Namespace = "ns" }), false},
		"class":       {pod(func(p *cluster.Pod) { p.Class = "c" }), false},
		"group":       {pod(func(p *cluster.Pod) { p.Group = "g" }), false},
		"queue":       {pod(func(p *cluster.Pod) { p.Queue = "q" }), false},
		"devices":     {pod(func(p *cluster.Pod) { p.Devices = []cluster.DeviceRequest{{Resource: "gpu", Count: 1}} }), false},
	} {
		equal := func(f domain.Filter) bool {
			list := domain.NewMembers(ix, 2, f)
			return list.Add(plain, cluster.NoPod).Equals(list.Add(c.pod, cluster.NoPod))
		}
		require.Equal(t, name != "devices", equal(nil), "%s: nobody but a filter is shown", name)
		require.Equal(t, c.same, equal(func(*cluster.Pod, *cluster.Node) bool { return true }), name)
	}
}

func ExampleMember_Restrict() {
	ix, err := cluster.NewIndex(&cluster.Snapshot{Nodes: []cluster.Node{{Name: "n1"}, {Name: "n2", Labels: map[string]string{"team": "vision"}}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	member := domain.NewMember(ix, &cluster.Pod{Name: "web"}, cluster.NoPod)
	member.Restrict(func(p *cluster.Pod, n *cluster.Node) bool { return n.Labels["team"] == p.Labels["team"] })
	for n := range ix.Nodes() {
		fmt.Printf("%s: %q\n", ix.Node(n).Name, member.Static(ix.Node(n)).Check)
	}
	// Output:
	// n1: ""
	// n2: "filter"
}
