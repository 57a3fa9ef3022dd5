package seating_test

import (
	"fmt"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Two workers want one rack, where the launcher goes does not matter.
func Example() {
	two := int32(2)
	cpu := func(n int64) cluster.Resources { return cluster.Resources{cluster.CPU: n} }
	rack := func(r string) map[string]string { return map[string]string{"rack": r} }
	ix, err := cluster.NewIndex(&cluster.Snapshot{
		Nodes: []cluster.Node{
			{Name: "n1", Labels: rack("a"), Allocatable: cpu(4)},
			{Name: "n2", Labels: rack("b"), Allocatable: cpu(2)},
			{Name: "n3", Labels: rack("b"), Allocatable: cpu(2)},
		},
		CompositePodGroups: []cluster.CompositePodGroup{{Name: "job"}},
		PodGroups: []cluster.PodGroup{
			{Name: "launcher", Parent: "job"},
			{Name: "workers", Parent: "job", MinCount: &two, Topology: []cluster.TopologyConstraint{{Key: "rack"}}},
		},
		Pods: []cluster.Pod{
			{Name: "l", Group: "launcher", Requests: cpu(3)},
			{Name: "w1", Group: "workers", Requests: cpu(2)},
			{Name: "w2", Group: "workers", Requests: cpu(2)},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var members []*domain.Member
	job := seating.NewGroup(ix, ix.GroupByName(cluster.KindCompositePodGroup, "", "job"), func(p cluster.PodID) domain.MemberID {
		members = append(members, domain.NewMember(ix, ix.Pod(p), p))
		return domain.MemberID(len(members) - 1)
	})
	trial := domain.NewGangTrial(ix, members, nil, func(cluster.PodID) bool { return false })
	s := seating.Seating{Trial: trial, Gang: job}
	fmt.Println("seated:", s.Fit(job.Levels(ix)[0], nil) != nil)
	for m, member := range members {
		fmt.Println(member.Pod.Name, ix.Node(trial.At(domain.MemberID(m))).Name)
	}
	// Output:
	// seated: true
	// l n1
	// w1 n2
	// w2 n3
}
