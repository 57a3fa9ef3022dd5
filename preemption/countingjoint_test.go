package preemption_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// joinPods makes groups that go as a whole of a third of the pods of a fleet: of nodes
// in a row, or with scattered of any; even: with the priority of their group.
func joinPods(snap *preemption.Snapshot, perNode int, even, scattered bool) {
	groups := map[string]*int32{}
	for i := range snap.Pods {
		pod := &snap.Pods[i]
		at, k := i/perNode, i%perNode
		if k%3 != 0 {
			continue
		}
		pod.Group = fmt.Sprintf("group-%d-%d", (at+k)/7, k/6)
		if scattered {
			pod.Group = fmt.Sprintf("group-%d", pod.Started.Unix()%11)
		}
		if groups[pod.Group] == nil {
			one, priority := int32(1), *pod.Priority
			groups[pod.Group] = &priority
			snap.PodGroups = append(snap.PodGroups, preemption.PodGroup{
				Namespace: "default", Name: pod.Group, Mode: "All", MinCount: &one, Priority: &priority,
			})
		}
		if even {
			pod.Priority = groups[pod.Group]
		}
	}
}

// jointFleet is a question by seed about a gang in a fleet with groups: with budgets for
// some of the other pods, closed nodes, nodes that are waited for, racks, and priorities
// between those of the pods.
func jointFleet(seed uint64) (preemption.Options, gen.Question) {
	shape := []gen.Shape{gen.Uniform, gen.Tied, gen.Distinct, gen.Equal}[seed%4]
	cpuMilli := []int64{64_000, 32_000, 21_000, 9_000, 3_500}[seed/4%5]
	q := gen.Question{Snapshot: gen.Fleet(40, 12, seed, shape), Preemptor: fleetGang(12+int(seed%9), cpuMilli)}
	joinPods(&q.Snapshot, 12, seed%8 < 4, seed%3 == 0)
	if seed%5 < 2 {
		for i := range q.Snapshot.Pods {
			if pod := &q.Snapshot.Pods[i]; pod.Group == "" && i%4 < 2 {
				pod.Labels = map[string]string{"budget": fmt.Sprint(i % 3)}
				if i%3 < 2 && i%8 == 0 && seed%10 < 5 {
					pod.Labels["both"] = "yes"
				}
			}
		}
		q.Snapshot.Budgets = append(q.Snapshot.Budgets, disruption.Budget{
			Namespace: "default", Name: "budget-both", Allowed: 4, Selector: &disruption.Selector{MatchLabels: map[string]string{"both": "yes"}},
		})
		for i := range int32(3) {
			q.Snapshot.Budgets = append(q.Snapshot.Budgets, disruption.Budget{
				Namespace: "default", Name: fmt.Sprint("budget-", i), Allowed: i * 20 * int32(seed%5),
				Selector: &disruption.Selector{MatchLabels: map[string]string{"budget": fmt.Sprint(i)}},
			})
		}
	}
	priority := []int32{1 << 30, 7, 300}[seed%3]
	q.Preemptor.Group.Priority = &priority
	for i := range q.Preemptor.Pods {
		q.Preemptor.Pods[i].Priority = &priority
	}
	for i := range q.Snapshot.Nodes {
		n := &q.Snapshot.Nodes[i]
		n.Labels = map[string]string{"rack": fmt.Sprint(i % 2)}
		n.Unschedulable = seed%7 == 0 && i%9 == 0
		if seed%6 == 0 && i%8 == 0 {
			q.Snapshot.Pods = append(q.Snapshot.Pods, preemption.Pod{
				Name: fmt.Sprint("waits-", i), NominatedNode: n.Name, Priority: &priority, Requests: preemption.Resources{"cpu": 3_000},
			})
		}
	}
	if seed%4 == 1 {
		q.Preemptor.Group.Topology = []cluster.TopologyConstraint{{Key: "rack"}}
	}
	o := preemption.Options{Candidates: seed%5 == 0}
	switch seed % 11 {
	case 0:
		o.Placement = preemption.PlacePack
	case 1:
		o.Placement = preemption.PlaceSpread
	case 2:
		o.Members = preemption.MinCount
	}
	return o, q
}

// jointIsExact: where units have several pods, counting comes to what trials come to. It
// reports whether it was counted and somebody goes.
func jointIsExact(t fatal, o preemption.Options, q gen.Question, checks int) bool {
	counted, tried, joint, err := o.BothWays(q.Preemptor, &q.Snapshot, checks)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if diff := cmp.Diff(tried, counted); diff != "" {
		t.Fatalf("%s (-by trials +counted):\n%.4000s", counted.Message, diff)
	}
	return joint && counted.Verdict == preemption.Feasible
}

// jointChecks are none, few and many.
func jointChecks(seed uint64) int { return []int{0, 2_000, 50_000}[seed%3] }

// TestCountingJointUnitsIsExact: in fleets with groups, and in what is drawn.
func TestCountingJointUnitsIsExact(t *testing.T) {
	fleets, drawn := 0, 0
	for seed := range seeds(300) {
		o, q := jointFleet(seed)
		if jointIsExact(&named{t, seed}, o, q, jointChecks(seed)) {
			fleets++
		}
		profile := gen.GangProfile{Profile: gen.Profile{MaxNodes: 10, MaxPods: 60, Groups: true, Budgets: true}, MaxMembers: 8}
		profile.Topology, profile.Running = seed%3 == 0, seed%3 == 0
		o = gangOptionsBySeed(seed)
		o.Explain = false
		if q := sound(o, gen.RandomGang(seed, profile)); asksSomething(q) && jointIsExact(&named{t, seed}, o, q, jointChecks(seed)) {
			drawn++
		}
	}
	t.Logf("counted were %d in fleets, %d of those drawn", fleets, drawn)
	require.Greater(t, fleets, int(seeds(300)/2))
}

// TestLeastJointPlacesAsTrialsDo: member by member.
func TestLeastJointPlacesAsTrialsDo(t *testing.T) {
	compared := 0
	for seed := range seeds(300) {
		o, q := jointFleet(seed)
		counted, tried, ok, err := o.LeastBothWays(q.Preemptor, &q.Snapshot)
		require.NoError(t, err)
		if ok {
			require.Equal(t, tried, counted, "seed %d", seed)
			compared++
		}
	}
	require.Greater(t, compared, int(seeds(300)/2))
}

// TestCountingJointSparesBudgets: rather than somebody less important whom a budget covers, somebody goes whom none does.
func TestCountingJointSparesBudgets(t *testing.T) {
	one := int32(1)
	snap := preemption.Snapshot{
		PodGroups: []preemption.PodGroup{{Namespace: "default", Name: "group", Mode: "All", MinCount: &one, Priority: &one}},
		Budgets:   []disruption.Budget{{Namespace: "default", Name: "spent", Selector: &disruption.Selector{MatchLabels: map[string]string{"covered": "yes"}}}},
	}
	for i, of := range []string{"", "", "group", "group"} {
		name, priority := fmt.Sprint(i), []int32{0, 5, 1, 1}[i]
		snap.Nodes = append(snap.Nodes, preemption.Node{Name: name, Allocatable: preemption.Resources{"cpu": 4_000}})
		snap.Pods = append(snap.Pods, preemption.Pod{Namespace: "default", Name: name, Node: name, Group: of, Priority: &priority, Requests: preemption.Resources{"cpu": 4_000 - 1_000*int64(i/2)}})
	}
	snap.Pods[0].Labels = map[string]string{"covered": "yes"}
	for i := range snap.Nodes[2:] {
		snap.Nodes[2+i].Unschedulable = true
	}
	require.True(t, jointIsExact(t, preemption.Options{}, gen.Question{Snapshot: snap, Preemptor: fleetGang(1, 4_000)}, 0))
}

func FuzzCountingJointUnitsIsExact(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		o, q := jointFleet(seed)
		jointIsExact(t, o, q, jointChecks(seed))
	})
}
