package counting_test

import (
	"fmt"
	"sync"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/preemption/internal/counting"
	"github.com/preempt-go/preempt/victims"
)

// Two equal members evict the least important pods that make room for them.
func Example() {
	cpu := func(n int64) cluster.Resources { return cluster.Resources{cluster.CPU: n} }
	priority := func(n int32) *int32 { return &n }
	two := int32(2)
	ix, err := cluster.NewIndex(&cluster.Snapshot{
		Nodes:     []cluster.Node{{Name: "n1", Allocatable: cpu(2)}, {Name: "n2", Allocatable: cpu(2)}},
		PodGroups: []cluster.PodGroup{{Name: "job", MinCount: &two, Priority: priority(9)}},
		Pods: []cluster.Pod{
			{Name: "a", Node: "n1", Priority: priority(3), Requests: cpu(1)},
			{Name: "b", Node: "n1", Priority: priority(5), Requests: cpu(1)},
			{Name: "c", Node: "n2", Priority: priority(2), Requests: cpu(2)},
			{Name: "job-0", Group: "job", Requests: cpu(1)},
			{Name: "job-1", Group: "job", Requests: cpu(1)},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	units := victims.NewUnits(ix, victims.Units137, victims.Worth{})
	budgets := victims.NewBudgets(ix, disruption.Rule137)
	q := counting.Question{
		Index: ix, Units: units, Budgets: budgets, Columns: columns.NewNodeColumns(units, budgets),
		Priority: 9, Placers: []domain.Placer{domain.LeastDisruption{}}, Tools: &sync.Pool{},
	}
	q.Gang = seating.NewGroup(ix, ix.GroupByName(cluster.KindPodGroup, "", "job"), func(p cluster.PodID) domain.MemberID {
		q.Members = append(q.Members, domain.NewMember(ix, ix.Pod(p), p))
		return domain.MemberID(len(q.Members) - 1)
	})
	search := counting.New(q)
	defer search.Close()
	domains := seating.Split(ix, nil)
	fmt.Println("fits as it is:", search.Fit(domains) != nil)
	plan := search.Evaluate(domains, 1)[0].Plan
	search.Settle(plan)
	for _, place := range plan.Places {
		fmt.Println(ix.Pod(q.Members[place.Member].ID).Name, "goes to", ix.Node(place.Node).Name)
	}
	for _, u := range plan.Victims {
		fmt.Println(ix.Pod(units.Unit(u).Pods[0]).Name, "is evicted")
	}
	// Output:
	// fits as it is: false
	// job-0 goes to n2
	// job-1 goes to n2
	// c is evicted
}
