package preemption_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/domain/constrainttest"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// task is a pod that asks for so many cores; without a node it is pending.
func task(name, node string, priority int32, cores int64) preemption.Pod {
	return preemption.Pod{Name: name, Node: node, Priority: &priority, Requests: preemption.Resources{"cpu": 1000 * cores}}
}

// askAbout asks about a pending pod.
func askAbout(name string) preemption.Preemptor {
	return preemption.Preemptor{Kind: preemption.KindPod, Name: name}
}

// shop is a planner of two nodes with four cores each.
func shop(pods ...preemption.Pod) *preemption.Planner {
	planner, err := preemption.NewPlanner(&preemption.Snapshot{
		Time: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC),
		Nodes: []preemption.Node{
			{Name: "n1", Allocatable: preemption.Resources{"cpu": 4000}},
			{Name: "n2", Allocatable: preemption.Resources{"cpu": 4000}},
		},
		Pods: pods,
	}, preemption.Options{})
	must(err)
	return planner
}

// must is for examples: a program handles its errors.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func Example_questionsFits() {
	planner := shop(task("big", "n1", 0, 3), task("web", "", 10, 1))
	answer, err := planner.Preempt(askAbout("web"))
	must(err)
	fmt.Println(answer.Message)

	web := task("web", "", 10, 1)
	web.NominatedNode = "n2"
	must(planner.SetPod(web))
	answer, err = planner.Preempt(askAbout("web"))
	must(err)
	fmt.Println(answer.Message)
	// Output:
	// fits on n1 without preemption
	// fits on n2 without preemption
}

func Example_questionsFitsGang() {
	planner := shop(task("big", "n1", 0, 2))
	two, ten := int32(2), int32(10)
	gang := preemption.Preemptor{Kind: preemption.KindPodGroup, Group: &preemption.PodGroup{Name: "train", MinCount: &two, Priority: &ten}}
	for _, name := range []string{"t0", "t1"} {
		pod := task(name, "", 10, 1)
		pod.Group = "train"
		gang.Pods = append(gang.Pods, pod)
	}
	for _, placement := range []preemption.Placement{preemption.PlacePack, preemption.PlaceSpread} {
		answer, err := preemption.Options{Placement: placement}.Preempt(gang, planner.Snapshot())
		must(err)
		for _, n := range answer.Nominations {
			fmt.Println(placement, n.Pod.Name, n.Node)
		}
	}
	// Output:
	// Pack t0 n2
	// Pack t1 n2
	// Spread t0 n2
	// Spread t1 n1
}

func Example_questionsHeld() {
	planner := shop(task("big", "n1", 0, 4), task("small", "n2", 0, 3), task("web-1", "", 10, 1), task("web-2", "", 10, 1))
	first, err := planner.Preempt(askAbout("web-1"))
	must(err)
	second, err := planner.Decide(askAbout("web-2"))
	must(err)
	fmt.Println(first.Domain, second.Domain) // both: nothing is held yet

	must(planner.Apply(first))
	second, err = planner.Decide(askAbout("web-2"))
	must(err)
	fmt.Println(second.Verdict, "on", second.Domain)
	// Output:
	// n2 n2
	// feasible on n1
}

func Example_questionsLoop() {
	planner := shop(task("batch", "n1", 0, 4), task("db", "n2", 50, 4))
	must(planner.SetPod(task("web", "", 10, 2))) // it arrives
	waiting := []preemption.Preemptor{askAbout("web")}
	for len(waiting) > 0 {
		for _, who := range waiting {
			short, err := planner.Park(who) // Decide, and remembers who has to wait
			must(err)
			fmt.Println(who.Name, "-", short.Verdict)
			switch short.Verdict {
			case preemption.Fits:
				must(planner.Bind(preemption.PodRef{Name: who.Name}, short.Domain))
			case preemption.Feasible:
				plan, err := planner.Preempt(who)
				must(err)
				must(planner.Apply(plan)) // its victims terminate, it is nominated
				_, err = planner.Park(who)
				must(err)
				for _, victim := range plan.Victims { // told to go; this is heard once they have gone
					fmt.Println(victim.Name, "goes")
					for _, pod := range victim.Pods {
						must(planner.Remove(pod.PodRef))
					}
				}
			}
		}
		waiting = planner.Wake()
	}
	// Output:
	// web - feasible
	// batch goes
	// web - fits without preemption
}

func Example_questionsTwice() {
	planner := shop(task("batch", "n1", 0, 4), task("db", "n2", 50, 4), task("web", "", 10, 2))
	plan, err := planner.Preempt(askAbout("web"))
	must(err)
	fmt.Println(plan.Message)
	must(planner.Apply(plan))
	must(planner.Apply(plan)) // nothing is done, nor counted, again

	again, err := planner.Preempt(askAbout("web"))
	must(err)
	fmt.Println(again.Verdict, "-", again.Message)

	must(planner.Remove(preemption.PodRef{Name: "batch"}))
	fmt.Println(planner.Apply(plan))
	// Output:
	// fits on n1 once 1 pod is evicted
	// waiting - victims on its nominated node n1 are still terminating
	// preemption: result cannot be applied: cancel: it fits without evicting anybody
}

func Example_questionsRetry() {
	planner := shop(task("db-1", "n1", 50, 4), task("db-2", "n2", 50, 4), task("web", "", 10, 2), task("huge", "", 99, 5))
	waiting := []preemption.Preemptor{askAbout("huge"), askAbout("web")} // the most important first
	ask := func() {
		fmt.Println(len(waiting), "to ask")
		for _, p := range waiting {
			short, err := planner.Park(p) // Decide, and remembers who has to wait
			must(err)
			fmt.Println(" ", p.Name, "-", short.Verdict)
		}
	}
	ask()
	must(planner.Remove(preemption.PodRef{Name: "db-2"})) // room for web, not for huge
	waiting = planner.Wake()
	ask()
	// Output:
	// 2 to ask
	//   huge - infeasible
	//   web - infeasible
	// 1 to ask
	//   web - fits without preemption
}

func Example_questionsRecompiles() {
	fpga := preemption.Pod{Name: "fpga", Requests: preemption.Resources{"example.com/fpga": 1}}
	planner := shop(task("huge", "", 10, 5))
	for _, change := range []struct {
		what string
		err  func() error
	}{
		{"a pod that runs", func() error { return planner.SetPod(task("web", "n1", 10, 1)) }},
		{"a resource that is new", func() error { return planner.SetPod(fpga) }},
		{"one that nobody names any more", func() error { return planner.Remove(preemption.PodRef{Name: "fpga"}) }},
	} {
		_, err := planner.Park(askAbout("huge"))
		must(err)
		must(change.err())
		fmt.Println(change.what, "-", len(planner.Wake()), "woken")
	}
	// Output:
	// a pod that runs - 0 woken
	// a resource that is new - 1 woken
	// one that nobody names any more - 1 woken
}

func Example_questionsStarted() {
	planner := shop(task("web", "", 10, 2), task("cron", "n1", 10, 2))
	must(planner.Bind(preemption.PodRef{Name: "web"}, "n1"))
	must(planner.View(func(v preemption.View) {
		for pod := range v.PodsOn("n1") {
			fmt.Println(pod.Name, pod.Started.IsZero())
		}
	}))
	// Output:
	// cron true
	// web false
}

func Example_questionsGangPodAlone() {
	three := int32(3)
	member := func(name string) preemption.Pod {
		p := task(name, "", 10, 2)
		p.Group = "train"
		return p
	}
	planner := shop(task("low-1", "n1", 0, 3), task("low-2", "n2", 0, 3), member("t0"), member("t1"), member("t2"))
	must(planner.SetPodGroup(preemption.PodGroup{Name: "train", MinCount: &three, Priority: member("t0").Priority}))

	alone, err := planner.Preempt(askAbout("t0"))
	must(err)
	fmt.Println(alone.Verdict, "-", alone.Message)
	together, err := planner.Preempt(preemption.Preemptor{Kind: preemption.KindPodGroup, Name: "train"})
	must(err)
	fmt.Println(together.Verdict, "-", together.Message)

	must(planner.Remove(preemption.PodRef{Name: "t2"}))
	fewer, err := planner.Preempt(preemption.Preemptor{Kind: preemption.KindPodGroup, Name: "train"})
	must(err)
	fmt.Println(fewer.Verdict, "-", fewer.Message)
	// Output:
	// not eligible - it belongs to pod group train: its group preempts
	// feasible - all 3 pods of train fit in the cluster once 2 pods are evicted
	// infeasible - pod group train has 2 pods, fewer than its minCount
}

func Example_questionsOneByOne() {
	three, ten := int32(3), int32(10)
	planner := shop()
	must(planner.SetPodGroup(preemption.PodGroup{Name: "train", MinCount: &three, Priority: &ten}))
	for _, name := range []string{"t0", "t1", "t2"} {
		pod := task(name, "", 10, 3)
		pod.Group = "train"
		must(planner.SetPod(pod))
	}
	alone, err := planner.Preempt(askAbout("t0"))
	must(err)
	fmt.Println(alone.Message, "-", alone.Warnings[0].Text)
	short, err := planner.Decide(askAbout("t0"))
	must(err)
	fmt.Println(short.Verdict, "- needs", short.Needs)
	together, err := planner.Decide(preemption.Preemptor{Kind: preemption.KindPodGroup, Name: "train"})
	must(err)
	fmt.Println(together.Verdict)
	// Output:
	// fits on n1 without preemption - the group needs 2 more pods to run beside it: ask for the group
	// fits without preemption - needs 2
	// infeasible
}

func Example_questionsUncreated() {
	planner := shop(task("low-1", "n1", 0, 3), task("low-2", "n2", 0, 3))
	three, ten := int32(3), int32(10)
	train := preemption.Preemptor{Kind: preemption.KindPodGroup, Group: &preemption.PodGroup{Name: "train", MinCount: &three, Priority: &ten}}
	for i := range 3 {
		pod := task(fmt.Sprint("train-", i), "", 10, 2)
		pod.Group = "train"
		train.Pods = append(train.Pods, pod)
	}
	answer, err := planner.Preempt(train)
	must(err)
	fmt.Println(answer.Message)
	// Output:
	// all 3 pods of train fit in the cluster once 2 pods are evicted
}

func Example_questionsRemovedNode() {
	planner := shop(task("batch", "n1", 0, 4), task("db", "n2", 50, 4), task("web", "", 60, 2))
	must(planner.RemoveNode("n1"))
	answer, err := planner.Preempt(askAbout("web"))
	must(err)
	fmt.Println(answer.Message)
	for _, w := range answer.Warnings {
		fmt.Println(w.Name, w.Field, w.Value, "-", w.Text)
	}

	gone, err := planner.RemoveNodeAndPods("n2")
	must(err)
	fmt.Println("to be made anew:", gone[0].Name)
	// Output:
	// fits on n2 once 1 pod is evicted
	// batch Node n1 - no such node: the pod counts for budgets and groups only
	// to be made anew: db
}

func Example_questionsNearest() {
	planner := shop(task("batch", "n1", 0, 4), task("db", "n2", 50, 4), task("huge", "", 10, 5), task("low", "", 0, 2))
	for _, name := range []string{"huge", "low"} {
		answer, err := planner.Preempt(askAbout(name))
		must(err)
		for _, r := range answer.Nearest.Relaxations {
			fmt.Printf("%s on %s: %s %s +%d\n", name, answer.Nearest.Domain, r.Kind, r.Name, r.Amount)
		}
	}
	// Output:
	// huge on n1: resource cpu +1000
	// low on n1: priority  +1
}

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

func Example_migratingKubeScheduler() {
	snapshot := shop(task("batch", "n1", 1, 4), task("cron", "n2", 5, 4), task("web", "", 10, 2)).Snapshot()
	options := preemption.Options{
		Rules:      preemption.Kubernetes136,
		Sampling:   &preemption.Sampling{Percent: 10, Minimum: 100, Offset: 1}, // the plugin's defaults, and a draw of its random offset
		Candidates: true,
	}
	answer, err := options.Preempt(askAbout("web"), snapshot)
	must(err)
	for _, c := range answer.Candidates {
		fmt.Println("candidate", c.Domain, "victims", len(c.Victims), "violations", c.Violations)
	}
	fmt.Println("nominated to", answer.Nominations[0].Node)
	// Output:
	// candidate n1 victims 1 violations 0
	// candidate n2 victims 1 violations 0
	// nominated to n1
}

func Example_migratingKueue() {
	answer, err := preemption.Options{Quota: preemption.QuotaOptions{
		FairSharing: &preemption.FairSharing{Strategies: []preemption.FairStrategy{preemption.LessThanOrEqualToFinalShare}},
	}}.Preempt(preemption.Preemptor{Kind: preemption.KindWorkload, Name: "paper"}, &preemption.Snapshot{
		ResourceFlavors: []preemption.ResourceFlavor{{Name: "a100"}},
		ClusterQueues: []preemption.ClusterQueue{
			{
				Name: "research", Cohort: "company", Groups: gpus(4),
				Preemption: preemption.QueuePreemption{ReclaimWithinCohort: preemption.AnyPriority},
			},
			{Name: "product", Cohort: "company", Groups: gpus(4)},
		},
		LocalQueues: []preemption.LocalQueue{{Name: "lab", ClusterQueue: "research"}},
		Workloads: []preemption.Workload{
			{
				Name: "ads", Admission: &preemption.Admission{ClusterQueue: "product"},
				PodSets: []preemption.PodSet{{Name: "workers", Count: 8, Requests: preemption.Resources{"gpu": 1}, Flavors: map[string]string{"gpu": "a100"}}},
			},
			{Name: "paper", Queue: "lab", PodSets: []preemption.PodSet{{Name: "workers", Count: 2, Requests: preemption.Resources{"gpu": 1}}}},
		},
	})
	must(err)
	fmt.Println(answer.Message)
	for _, v := range answer.Victims {
		fmt.Println(v.Name, "by", v.Quota.Reason)
	}
	// Output:
	// fits the quota of research once 1 workload is evicted
	// ads by InCohortReclamation
}

func Example_migratingYourOwn() {
	planner := shop(task("batch-1", "n1", 1, 2), task("batch-2", "n1", 1, 2), task("db", "n2", 50, 4), task("web", "", 10, 2))
	answer, err := planner.Preempt(askAbout("web"))
	must(err)
	for _, v := range answer.Victims {
		fmt.Println("evict", v.Name)
	}
	for _, n := range answer.Nominations {
		fmt.Println("then run", n.Pod.Name, "on", n.Node)
	}
	// Output:
	// evict batch-2
	// then run web on n1
}

func Example_conceptsUnit() {
	of := func(p preemption.Pod, group string) preemption.Pod {
		p.Group = group
		return p
	}
	for _, mode := range []preemption.DisruptionMode{preemption.Single, preemption.All} {
		planner := shop(of(task("t0", "n1", 1, 2), "train"), of(task("t1", "n2", 1, 2), "train"), task("db", "n2", 50, 2), task("cron", "n1", 50, 1), task("web", "", 10, 2))
		must(planner.SetPodGroup(preemption.PodGroup{Name: "train", Mode: mode, Basic: true, Priority: task("", "", 1, 0).Priority}))
		answer, err := planner.Preempt(askAbout("web"))
		must(err)
		fmt.Println(mode, "-", answer.Message)
		for _, v := range answer.Victims {
			fmt.Println("  unit", v.Kind, v.Name, "of", len(v.Pods), "pods")
		}
	}
	// Output:
	// Single - fits on n1 once 1 pod is evicted
	//   unit Pod t0 of 1 pods
	// All - fits on n1 once pod group train (2 pods) is evicted
	//   unit PodGroup train of 2 pods
}

func Example_conceptsBudget() {
	planner := shop(task("a", "n1", 1, 2), task("b", "n1", 1, 2), task("db", "n2", 50, 4), task("web", "", 10, 4))
	must(planner.SetBudget(preemption.Budget{Name: "all", Selector: &preemption.Selector{}, Allowed: 1}))
	answer, err := planner.Preempt(askAbout("web"))
	must(err)
	fmt.Println(len(answer.Victims), "victims,", answer.Violations, "violation, overrun by", answer.Overruns)
	// Output:
	// 2 victims, 1 violation, overrun by 1
}

func Example_conceptsVerdicts() {
	never := task("patient", "", 10, 2)
	never.Policy = "Never"
	planner := shop(task("batch", "n1", 1, 4), task("db", "n2", 50, 3), task("small", "", 10, 1), task("web", "", 10, 2), never, task("huge", "", 10, 5))
	for _, name := range []string{"small", "web", "patient", "huge"} {
		answer, err := planner.Preempt(askAbout(name))
		must(err)
		fmt.Printf("%s: %s (%s)\n", name, answer.Verdict, answer.Message)
	}
	answer, err := planner.Preempt(askAbout("web"))
	must(err)
	must(planner.Apply(answer))
	answer, err = planner.Preempt(askAbout("web"))
	must(err)
	fmt.Printf("web: %s (%s)\n", answer.Verdict, answer.Message)
	// Output:
	// small: fits without preemption (fits on n2 without preemption)
	// web: feasible (fits on n1 once 1 pod is evicted)
	// patient: not eligible (its preemption policy is Never)
	// huge: infeasible (no evictions help)
	// web: waiting (victims on its nominated node n1 are still terminating)
}

func Example_optionsAsData() {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	since := func(p preemption.Pod, hours int) preemption.Pod {
		p.Started = noon.Add(-time.Duration(hours) * time.Hour)
		return p
	}
	labelled := func(p preemption.Pod, app string) preemption.Pod {
		p.Labels = map[string]string{"app": app}
		return p
	}
	node := func(name string) preemption.Node {
		return preemption.Node{Name: name, Allocatable: preemption.Resources{"cpu": 4000}}
	}
	web := task("web", "", 10, 3)
	web.Created = noon.Add(-10 * time.Second)
	snapshot := &preemption.Snapshot{
		Time:  noon,
		Nodes: []preemption.Node{node("n1"), node("n2"), node("n3")},
		Pods: []preemption.Pod{
			since(task("young", "n1", 1, 2), 1), since(task("old", "n1", 1, 2), 9),
			labelled(since(task("api", "n2", 1, 4), 9), "api"),
			labelled(since(task("db", "n3", 5, 4), 9), "db"),
			web,
		},
		Budgets: []preemption.Budget{{Name: "db", Selector: &preemption.Selector{MatchLabels: map[string]string{"app": "db"}}}}, // allows none
	}
	for _, text := range []string{
		`{}`,
		`{"guards": {"protect": {"matchLabels": {"app": "api"}}}}`,
		`{"guards": {"protect": {"matchLabels": {"app": "api"}}, "guaranteedSeconds": 7200}}`,
		`{"guards": {"protect": {"matchLabels": {"app": "api"}}}, "limits": {"pods": 1}}`,
		`{"guards": {"protect": {"matchLabels": {"app": "api"}}}, "limits": {"pods": 1}, "hardBudgets": {"all": true}}`,
		`{"waitSeconds": 60}`,
	} {
		var options preemption.Options
		must(json.Unmarshal([]byte(text), &options))
		answer, err := options.Preempt(askAbout("web"), snapshot)
		must(err)
		fmt.Println(text)
		fmt.Print("  ", answer.Message, ":")
		for _, v := range answer.Victims {
			fmt.Print(" ", v.Name)
		}
		fmt.Println()
	}
	// Output:
	// {}
	//   fits on n2 once 1 pod is evicted: api
	// {"guards": {"protect": {"matchLabels": {"app": "api"}}}}
	//   fits on n1 once 2 pods are evicted: old young
	// {"guards": {"protect": {"matchLabels": {"app": "api"}}, "guaranteedSeconds": 7200}}
	//   fits on n3 once 1 pod is evicted: db
	// {"guards": {"protect": {"matchLabels": {"app": "api"}}}, "limits": {"pods": 1}}
	//   fits on n3 once 1 pod is evicted: db
	// {"guards": {"protect": {"matchLabels": {"app": "api"}}}, "limits": {"pods": 1}, "hardBudgets": {"all": true}}
	//   no evictions help:
	// {"waitSeconds": 60}
	//   it waits 1m0s before it preempts, 50s more:
}
