package preemption_test

import (
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/domain/constrainttest"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// unshared is a constraint: no two pods with the label share a node.
type unshared struct{ label string }

// Name is the check that reasons name.
func (unshared) Name() domain.Check { return "apart" }

// Prepare counts the labelled pods of every node. nil: no member has the label.
func (a unshared) Prepare(ix *cluster.Index, members []*cluster.Pod) (domain.State, error) {
	s := &unsharedState{ix: ix, label: a.label, on: make([]int, ix.NumNodes())}
	for _, p := range members {
		s.members = append(s.members, p.Labels[a.label] != "")
	}
	if !slices.Contains(s.members, true) {
		return nil, nil
	}
	for p := range ix.Pods() {
		if n := ix.NodeOf(p); n != cluster.NoNode {
			s.Return(p, n)
		}
	}
	return s, nil
}

// unsharedState is the constraint in one what-if.
type unsharedState struct {
	ix      *cluster.Index
	label   string
	members []bool // of each member: it has the label
	on      []int  // of each node: how many labelled pods are there
}

func (s *unsharedState) count(labelled bool, n cluster.NodeID, by int) {
	if labelled {
		s.on[n] += by
	}
}

func (s *unsharedState) labelled(p cluster.PodID) bool { return s.ix.Pod(p).Labels[s.label] != "" }

func (s *unsharedState) Remove(p cluster.PodID, n cluster.NodeID)    { s.count(s.labelled(p), n, -1) }
func (s *unsharedState) Return(p cluster.PodID, n cluster.NodeID)    { s.count(s.labelled(p), n, +1) }
func (s *unsharedState) Place(m domain.MemberID, n cluster.NodeID)   { s.count(s.members[m], n, +1) }
func (s *unsharedState) Unplace(m domain.MemberID, n cluster.NodeID) { s.count(s.members[m], n, -1) }

func (s *unsharedState) Fits(m domain.MemberID, n cluster.NodeID) domain.Reason {
	if s.members[m] && s.on[n] > 0 {
		return domain.Reason{Check: "apart", Detail: s.label}
	}
	return domain.Reason{}
}

func (s *unsharedState) Clone() domain.State {
	c := *s
	c.on = slices.Clone(s.on)
	return &c
}

// Scope: it looks at the node alone, and fewer pods never hurt.
func (s *unsharedState) Scope() domain.Scope { return domain.Scope{NodeLocal: true, Monotone: true} }

func Example_extendingConstraint() {
	labelled := func(p preemption.Pod) preemption.Pod {
		p.Labels = map[string]string{"noisy": "yes"}
		return p
	}
	snapshot := &preemption.Snapshot{
		Nodes: []preemption.Node{{Name: "n1", Allocatable: preemption.Resources{"cpu": 4000}}},
		Pods: []preemption.Pod{
			labelled(task("encoder", "n1", 1, 1)), task("cache", "n1", 1, 1),
			labelled(task("trainer", "", 10, 1)),
		},
	}
	options := preemption.Options{Hooks: &preemption.Hooks{Constraints: []domain.Constraint{unshared{label: "noisy"}}}}
	answer, err := options.Preempt(askAbout("trainer"), snapshot)
	must(err)
	fmt.Println(answer.Message)
	for _, v := range answer.Victims {
		fmt.Println(v.Name, "cannot stay on", v.Reason)
	}

	broken := constrainttest.Check(unshared{label: "noisy"}, snapshot, snapshot.Pods[2:], constrainttest.Options{})
	fmt.Println("laws that it breaks:", broken)
	// Output:
	// fits on n1 once 1 pod is evicted
	// encoder cannot stay on n1: apart noisy
	// laws that it breaks: <nil>
}

// spared keeps units of a namespace from preemptors below a priority, and asks the default
// about all others.
type spared struct {
	victims.LowerPriority
	namespace string
	below     int32
}

func (s spared) Kept(us *victims.Units, u victims.UnitID, p victims.Claim) victims.Kept {
	first := us.Index().Pod(us.Unit(u).Pods[0])
	if first.Namespace == s.namespace && p.Priority < s.below {
		return victims.Kept{Rule: "spared", Detail: "namespace " + s.namespace}
	}
	return s.LowerPriority.Kept(us, u, p)
}

func Example_extendingFilter() {
	teams := func(p *preemption.Pod, n *preemption.Node) bool {
		return n.Labels["team"] == "" || n.Labels["team"] == p.Labels["team"]
	}
	planner := shop(task("batch", "n1", 0, 4), task("web", "", 10, 2))
	snapshot := planner.Snapshot()
	snapshot.Nodes[1].Labels = map[string]string{"team": "vision"} // n2
	planner, err := preemption.NewPlanner(snapshot, preemption.Options{Hooks: &preemption.Hooks{Filter: teams}})
	must(err)
	answer, err := planner.Preempt(askAbout("web"))
	must(err)
	fmt.Println(answer.Message)
	why, err := planner.WhyNot(askAbout("web"), preemption.NodeTarget("n2"))
	must(err)
	fmt.Println(why.Text)
	// Output:
	// fits on n1 once 1 pod is evicted
	// it does not fit as things are: n2: filter
}

func Example_extendingColocation() {
	noisy := func(p *preemption.Pod) bool { return p.Labels["noisy"] != "" }
	apart := domain.Colocation{
		Check:    "apart",
		Of:       noisy,
		Monotone: true,
		Allows: func(_ *preemption.Pod, _ *preemption.Node, others []*preemption.Pod) bool {
			return !slices.ContainsFunc(others, noisy)
		},
	}
	encoder, trainer := task("encoder", "n1", 1, 1), task("trainer", "", 10, 1)
	encoder.Labels, trainer.Labels = map[string]string{"noisy": "yes"}, map[string]string{"noisy": "yes"}
	planner, err := preemption.NewPlanner(&preemption.Snapshot{
		Nodes: []preemption.Node{{Name: "n1", Allocatable: preemption.Resources{"cpu": 4000}}},
		Pods:  []preemption.Pod{encoder, trainer, task("cache", "n1", 1, 1)},
	}, preemption.Options{Hooks: &preemption.Hooks{Constraints: []domain.Constraint{apart}}})
	must(err)
	answer, err := planner.Preempt(askAbout("trainer"))
	must(err)
	fmt.Println(answer.Message)
	fmt.Println(answer.Victims[0].Name, "cannot stay on", answer.Victims[0].Reason)
	// Output:
	// fits on n1 once 1 pod is evicted
	// encoder cannot stay on n1: apart
}

func Example_extendingEligible() {
	payments := task("payments", "n1", 1, 4)
	payments.Namespace = "bank"
	snapshot := &preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "n1", Allocatable: preemption.Resources{"cpu": 4000}},
			{Name: "n2", Allocatable: preemption.Resources{"cpu": 4000}},
		},
		Pods: []preemption.Pod{payments, task("batch", "n2", 5, 4), task("web", "", 10, 2)},
	}
	options := preemption.Options{Hooks: &preemption.Hooks{Eligible: spared{namespace: "bank", below: 1000}}, Candidates: true}
	answer, err := options.Preempt(askAbout("web"), snapshot)
	must(err)
	fmt.Println(answer.Message)
	for _, k := range answer.Kept {
		fmt.Println(k.Name, "is kept:", k.Text)
	}
	// Output:
	// fits on n2 once 1 pod is evicted
	// payments is kept: spared namespace bank
}

// olderRelease keeps what has an older release label: a roll-out gives way first.
type olderRelease struct{}

func (olderRelease) Compare(us *victims.Units, a, b victims.UnitID) int {
	release := func(u victims.UnitID) string { return us.Index().Pod(us.Unit(u).Pods[0]).Labels["release"] }
	switch x, y := release(a), release(b); {
	case x == "" || y == "" || x == y:
		return 0 // the rules decide
	case x < y:
		return -1 // a is more worth keeping
	}
	return 1
}

// byCPU prices an eviction by the cores that stop working.
type byCPU struct{}

func (byCPU) Price(ix *cluster.Index, _ cluster.GroupID, pods []cluster.PodID) (cores int64) {
	for _, p := range pods {
		cores += ix.Pod(p).Requests["cpu"] / 1000
	}
	return cores
}

func Example_extendingOrderAndCost() {
	released := func(p preemption.Pod, release string) preemption.Pod {
		p.Labels = map[string]string{"release": release}
		return p
	}
	snapshot := &preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "n1", Allocatable: preemption.Resources{"cpu": 4000}},
			{Name: "n2", Allocatable: preemption.Resources{"cpu": 4000}},
		},
		Pods: []preemption.Pod{
			released(task("api-old", "n1", 2, 2), "v1"), released(task("api-new", "n1", 3, 2), "v2"),
			task("batch", "n2", 1, 4),
			task("web", "", 10, 2),
		},
	}
	for _, options := range []preemption.Options{
		{},
		{Hooks: &preemption.Hooks{Cost: byCPU{}}, Cost: preemption.CostOptions{Criterion: 1}},
		{Hooks: &preemption.Hooks{Cost: byCPU{}, Order: olderRelease{}}, Cost: preemption.CostOptions{Criterion: 1}},
	} {
		answer, err := options.Preempt(askAbout("web"), snapshot)
		must(err)
		fmt.Println(answer.Message+":", answer.Victims[0].Name, answer.Cost)
	}
	// Output:
	// fits on n2 once 1 pod is evicted: batch 0
	// fits on n1 once 1 pod is evicted: api-old 2
	// fits on n1 once 1 pod is evicted: api-new 2
}

// oneEach gives each node at most one member.
type oneEach struct{}

func (oneEach) Place(t *domain.GangTrial, d *domain.Domain, _ domain.Offers, members []domain.MemberID, most int) int {
	placed := 0
	for _, n := range d.Nodes {
		if placed == min(most, len(members)) {
			break
		}
		if m := members[placed]; t.CanPlace(m, n).OK() {
			t.Place(m, n)
			placed++
		}
	}
	return placed
}

func Example_extendingPlacer() {
	two, ten := int32(2), int32(10)
	gang := preemption.Preemptor{Kind: preemption.KindPodGroup, Group: &preemption.PodGroup{Name: "train", MinCount: &two, Priority: &ten}}
	for i := range 2 {
		pod := task(fmt.Sprint("train-", i), "", 10, 1)
		pod.Group = "train"
		gang.Pods = append(gang.Pods, pod)
	}
	snapshot := shop(task("batch", "n1", 1, 4), task("cron", "n2", 1, 4)).Snapshot()
	for _, hooks := range []*preemption.Hooks{nil, {Placer: oneEach{}}} {
		answer, err := preemption.Options{Hooks: hooks}.Preempt(gang, snapshot)
		must(err)
		fmt.Println(answer.Message)
		for _, n := range answer.Nominations {
			fmt.Println(" ", n.Pod.Name, n.Node)
		}
	}
	// Output:
	// all 2 pods of train fit in the cluster once 1 pod is evicted
	//   train-0 n2
	//   train-1 n2
	// all 2 pods of train fit in the cluster once 2 pods are evicted
	//   train-0 n1
	//   train-1 n2
}
