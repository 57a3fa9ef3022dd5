package preemption_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// sameByTrials asks by counting and by trials, and compares whole answers.
func sameByTrials(t fatal, o preemption.Options, q gen.Question) *preemption.Result {
	t.Helper()
	counted, err := o.Preempt(q.Preemptor, &q.Snapshot)
	if err != nil {
		t.Fatalf("%v", err)
	}
	tried, err := o.PreemptByTrials(q.Preemptor, &q.Snapshot)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if !reflect.DeepEqual(tried, counted) {
		t.Fatalf("%s (-by trials +counted):\n%.4000s", counted.Message, cmp.Diff(tried, counted))
	}
	return counted
}

// countedGangs are questions about gangs of which many can be counted, in clusters
// large enough for several members a node and for moves from node to node.
func countedGangs() map[string]gen.GangProfile {
	all := map[string]gen.GangProfile{}
	for name, p := range map[string]gen.Profile{
		"plain":       {MaxNodes: 20, MaxPods: 120},
		"budgets":     {MaxNodes: 12, MaxPods: 80, Budgets: true, Terminating: true, Odd: true},
		"nominations": {MaxNodes: 10, MaxPods: 60, Nominations: true, Classes: true, Placement: true},
		"groups":      {MaxNodes: 8, MaxPods: 40, Groups: true, Budgets: true},
	} {
		all[name] = gen.GangProfile{Profile: p, MaxMembers: 10}
		all[name+" in zones"] = gen.GangProfile{Profile: p, MaxMembers: 6, Topology: true, Running: true}
	}
	return all
}

// countingIsExact: counting comes to what trials come to, whole answers compared.
func countingIsExact(t fatal, o preemption.Options, q gen.Question, seed uint64) {
	o.Explain = o.Explain && seed/7%4 == 0 // not counted
	sameByTrials(t, o, q)
}

// TestCountingIsExact compares by seed and by rapid, and holds that enough questions
// were counted for that to say something.
func TestCountingIsExact(t *testing.T) {
	for name, profile := range countedGangs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			counted, evicting := 0, 0
			for seed := range seeds(300) {
				o := gangOptionsBySeed(seed)
				q := sound(o, gen.RandomGang(seed, profile))
				if !asksSomething(q) {
					continue
				}
				countingIsExact(&named{t, seed}, o, q, seed)
				if o.Explain = false; mustCount(t, o, q) {
					counted++
					if r := sameByTrials(&named{t, seed}, o, q); r.Verdict == preemption.Feasible {
						evicting++
					}
				}
			}
			t.Logf("%d questions were counted, %d of them evict", counted, evicting)
			require.Greater(t, evicting, int(seeds(300)/30))
			rapid.Check(t, drawnGang(profile, countingIsExact))
		})
	}
}
func FuzzCountingIsExact(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(drawnGang(countedGangs()["budgets in zones"], countingIsExact)))
}

func mustCount(t *testing.T, o preemption.Options, q gen.Question) bool {
	t.Helper()
	counts, err := o.Counts(q.Preemptor, &q.Snapshot)
	require.NoError(t, err)
	return counts
}

// TestCountingStandsForTrialsInEveryZone: a zone that can't be better was left out by trials, and counted.
func TestCountingStandsForTrialsInEveryZone(t *testing.T) {
	for _, seed := range []uint64{1048967, 1049135, 1049391} {
		o := gangOptionsBySeed(seed)
		countingIsExact(&named{t, seed}, o, sound(o, gen.RandomGang(seed, countedGangs()["plain in zones"])), 0)
	}
}

// TestCountingAFleetIsExact: gangs in fleets of every shape.
func TestCountingAFleetIsExact(t *testing.T) {
	t.Parallel()
	for _, shape := range gen.Shapes() {
		for _, cpuMilli := range []int64{64_000, 32_000, 21_000, 16_000, 3_500} {
			for name, o := range map[string]preemption.Options{
				"v1.37": {}, "v1.36": {Rules: preemption.Kubernetes136},
			} {
				snap := gen.Fleet(60, 12, uint64(cpuMilli), shape)
				r := sameByTrials(&named{t, uint64(cpuMilli)}, o, gen.Question{Snapshot: snap, Preemptor: fleetGang(25, cpuMilli)})
				require.Equal(t, preemption.Feasible, r.Verdict, "%s %d %s", shape, cpuMilli, name)
			}
		}
	}
}

// TestCountingByColumns: gangs whose columns are not like those of others: of more
// words, of members that ask for several of them, with nodes of which the columns do not
// tell everything, and of a priority between two bounds.
func TestCountingByColumns(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]preemption.Options{"v1.37": {}, "v1.36": {Rules: preemption.Kubernetes136}} {
		for _, cpuMilli := range []int64{40_000, 16_000, 3_500} {
			for _, shape := range gen.Shapes() {
				q := gen.Question{Snapshot: gen.Fleet(70, 12, uint64(cpuMilli), shape), Preemptor: fleetGang(25, cpuMilli)}
				seed := &named{t, uint64(cpuMilli)}
				for i := range q.Preemptor.Pods {
					q.Preemptor.Pods[i].Requests["memory"] = 100 << 30 * cpuMilli / 40_000
				}
				require.Equal(t, preemption.Feasible, sameByTrials(seed, o, q).Verdict, "%s %s %d", name, shape, cpuMilli)
				for i := range 6 { // a node with somebody who waits for it, one that is closed
					least := int32(1 << 30)
					q.Snapshot.Pods = append(q.Snapshot.Pods, preemption.Pod{
						Name: "waits-" + string(rune('a'+i)), NominatedNode: q.Snapshot.Nodes[7*i].Name, Priority: &least,
						Requests: preemption.Resources{"cpu": 20_000},
					})
					q.Snapshot.Nodes[7*i+1].Unschedulable = true
				}
				require.Equal(t, preemption.Feasible, sameByTrials(seed, o, q).Verdict)
				for i := range q.Snapshot.Nodes {
					for r := range 9 { // more than two words
						q.Snapshot.Nodes[i].Allocatable["example.com/"+string(rune('a'+r))] = 1 << 40
					}
				}
				require.Equal(t, preemption.Feasible, sameByTrials(seed, o, q).Verdict)
				for i := range q.Preemptor.Pods {
					q.Preemptor.Pods[i].Requests["example.com/i"] = 1 << 30
				}
				require.Equal(t, preemption.Feasible, sameByTrials(seed, o, q).Verdict)
			}
			q := gen.Question{Snapshot: gen.Fleet(70, 12, 1, gen.Distinct), Preemptor: fleetGang(12, cpuMilli)}
			for _, priority := range []int32{100, 421, 600} {
				*q.Preemptor.Group.Priority = priority
				sameByTrials(&named{t, uint64(priority)}, o, q)
			}
		}
	}
}

// fleetGang is a gang of equal members above every pod of a fleet.
func fleetGang(members int, cpuMilli int64) preemption.Preemptor {
	priority, least := int32(1<<30), int32(members)
	p := preemption.Preemptor{Group: &preemption.PodGroup{Name: "gang", Priority: &priority, MinCount: &least}}
	for i := range members {
		p.Pods = append(p.Pods, preemption.Pod{
			Name: "gang-" + string(rune('a'+i/26)) + string(rune('a'+i%26)), Priority: &priority,
			Requests: preemption.Resources{"cpu": cpuMilli},
		})
	}
	return p
}

// TestDecideAboutGangs: a decision about a gang is its result in short, counted or not.
func TestDecideAboutGangs(t *testing.T) {
	t.Parallel()
	for name, profile := range countedGangs() {
		for seed := range uint64(60) {
			o := gangOptionsBySeed(seed)
			if q := sound(o, gen.RandomGang(seed, profile)); asksSomething(q) {
				pl, err := preemption.NewPlanner(&q.Snapshot, o)
				require.NoError(t, err, name)
				decidesAlike(&named{t, seed}, pl, q.Preemptor)
			}
		}
	}
}

// TestGoroutinesDoNotMatter: a gang that may go to any of several large domains is
// answered alike by one goroutine and by three, and so is who has to go by name.
func TestGoroutinesDoNotMatter(t *testing.T) {
	t.Parallel()
	for _, shape := range []gen.Shape{gen.Uniform, gen.Tied, gen.Budgeted, gen.Equal} {
		snap := gen.Fleet(1200, 14, 7, shape)
		for i := range snap.Nodes {
			snap.Nodes[i].Labels = map[string]string{"rack": string(rune('a' + i%5))}
		}
		p := fleetGang(200, 64_000)
		p.Group.Topology = []cluster.TopologyConstraint{{Key: "rack"}}
		if shape == gen.Equal {
			p = fleetGang(500, 64_000) // victims are told by several, too
		}
		for name, o := range map[string]preemption.Options{"candidates": {Candidates: true}, "as few": {Members: preemption.MinCount}} {
			one, err := o.PreemptOn(p, &snap, 1)
			require.NoError(t, err)
			require.Equal(t, preemption.Feasible, one.Verdict)
			three, err := o.PreemptOn(p, &snap, 3)
			require.NoError(t, err)
			require.Equal(t, one, three, "%s, %s", shape, name)
		}
	}
	for _, shape := range []gen.Shape{gen.Tied, gen.Budgeted} { // prices in the only domain are found by several
		snap := gen.Fleet(2200, 4, 7, shape)
		one, err := preemption.Options{}.PreemptOn(fleetGang(300, 64_000), &snap, 1)
		require.NoError(t, err)
		three, err := preemption.Options{}.PreemptOn(fleetGang(300, 64_000), &snap, 3)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, one.Verdict)
		require.Equal(t, one, three, "%s", shape)
	}
}

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

// drawVacant is a question about a gang in a fleet of several blocks of nodes, for which nodes stay
// vacant: of unlike members, perhaps apart or spread, in racks of nodes in a row or not; some of the
// other pods are selected by the constraints, in groups that go as a whole, or under budgets, and
// some nodes are closed or waited for.
func drawVacant(t *rapid.T) (preemption.Options, gen.Question) {
	draw := func(name string, n int) int { return rapid.IntRange(0, n-1).Draw(t, name) }
	seed := uint64(draw("seed", 1<<30))
	nodes, perNode := 20+draw("nodes", 180), 2+draw("pods", 9)
	q := gen.Question{Snapshot: gen.Fleet(nodes, perNode, seed, gen.Shapes()[draw("shape", len(gen.Shapes()))])}
	snap := &q.Snapshot
	q.Preemptor = fleetGang(1+draw("members", 24), []int64{64_000, 32_000, 21_000, 9_000, 3_500, 500}[draw("cpu", 6)])
	if draw("joined", 4) == 0 {
		joinPods(snap, perNode, draw("even", 2) == 0, draw("scattered", 2) == 0)
	}
	priority, racks := []int32{1 << 30, 1 << 30, 7, 300}[draw("priority", 4)], 1+draw("racks", 8)
	q.Preemptor.Group.Priority = &priority
	for i := range snap.Nodes {
		n := &snap.Nodes[i]
		rack := i * racks / nodes
		if seed%2 == 0 {
			rack = i % racks
		}
		n.Labels = map[string]string{"host": n.Name, "zone": fmt.Sprint(i % 3), "rack": fmt.Sprint(rack)}
		if draw("kind", 12) == 0 {
			switch seed / 2 % 4 {
			case 0:
				n.Unschedulable = true
			case 1:
				least := int32(1 << 30)
				snap.Pods = append(snap.Pods, preemption.Pod{
					Name: fmt.Sprint("waits-", i), NominatedNode: n.Name, Priority: &least, Requests: preemption.Resources{cluster.CPU: 20_000},
				})
			case 2:
				n.Allocatable[cluster.CPU] /= 2 // it has more pods than room
			case 3:
				delete(n.Allocatable, cluster.Pods)
			}
		}
	}
	ours := &disruption.Selector{MatchLabels: map[string]string{"job": "gang"}}
	others, kinds, step, tie := draw("others", 4), 1+draw("kinds", 8), int64(draw("step", 3)), draw("tie", 6)
	for i := range snap.Pods {
		if p := &snap.Pods[i]; p.Node != "" && i%(7+nodes/5) == 0 {
			switch others {
			case 0:
				p.Labels = map[string]string{"job": "gang"}
			case 1:
				p.Labels = map[string]string{"budget": "yes"}
			}
		}
	}
	if others == 1 {
		snap.Budgets = append(snap.Budgets, disruption.Budget{
			Namespace: "default", Name: "budget", Allowed: int32(draw("allowed", 4)) * 5,
			Selector: &disruption.Selector{MatchLabels: map[string]string{"budget": "yes"}},
		})
	}
	for i := range q.Preemptor.Pods {
		p := &q.Preemptor.Pods[i]
		p.Priority, p.Namespace = &priority, "default"
		p.Requests[cluster.CPU] += int64(i%kinds) * []int64{0, 1_000, 777}[step]
		p.Requests[cluster.Memory] = int64((i*5)%kinds) << 30
		p.Labels = map[string]string{"job": "gang"}
		if tie == 0 || tie == 1 {
			p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: "host", Selector: ours}}
		}
		if tie == 1 || tie == 2 {
			p.Spread = []cluster.Spread{{MaxSkew: int32(1 + i%2), TopologyKey: "zone", Selector: ours}}
		}
		if tie == 3 {
			p.Affinity = []cluster.AffinityTerm{{TopologyKey: "rack", Selector: ours}}
		}
		if seed%17 == 0 {
			p.Ports = []cluster.HostPort{{Port: 80}}
		}
		if i%3 == 1 && seed%5 == 0 {
			p.NodeSelector = map[string]string{"zone": "1"}
		}
	}
	q.Preemptor.Group.Namespace = "default"
	if draw("topology", 3) == 0 {
		q.Preemptor.Group.Topology = []cluster.TopologyConstraint{{Key: "rack"}}
	}
	if draw("least", 3) == 0 {
		least := int32(1 + len(q.Preemptor.Pods)/2)
		q.Preemptor.Group.MinCount = &least
	}
	o := gangOptionsBySeed(uint64(draw("options", 1600)))
	o.Explain = false
	return o, q
}

// vacantNodesAreLikeOthers: whole answers are the same where nodes stay vacant until somebody goes
// there, and where everybody who may go is taken out of the trial first; and they are where
// placements are left out that cost more than another one.
func vacantNodesAreLikeOthers(t *rapid.T) {
	o, q := drawVacant(t)
	got, err := o.PreemptByTrials(q.Preemptor, &q.Snapshot)
	require.NoError(t, err)
	want, err := o.PreemptWithoutColumns(q.Preemptor, &q.Snapshot)
	require.NoError(t, err)
	vacant, err := o.PreemptToTheEnd(q.Preemptor, &q.Snapshot, true)
	require.NoError(t, err)
	taken, err := o.PreemptToTheEnd(q.Preemptor, &q.Snapshot, false)
	require.NoError(t, err)
	if diff := cmp.Diff(taken, vacant); diff != "" {
		t.Fatalf("%s (-without columns +vacant, to the end):\n%.3000s", got.Message, diff)
	}
	got.Stats.Trials, want.Stats.Trials = 0, 0 // the columns tell which domains and placements are outdone
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s (-without columns +vacant):\n%.3000s", got.Message, diff)
	}
	some, err := o.PreemptEvery(q.Preemptor, &q.Snapshot, false)
	require.NoError(t, err)
	every, err := o.PreemptEvery(q.Preemptor, &q.Snapshot, true)
	require.NoError(t, err)
	some.Stats.Trials, every.Stats.Trials = 0, 0
	if diff := cmp.Diff(every, some); diff != "" {
		t.Fatalf("%s (-every placement +what may be better):\n%.3000s", got.Message, diff)
	}
}

func TestVacantNodesAreLikeOthers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, vacantNodesAreLikeOthers)
}
func FuzzVacantNodesAreLikeOthers(f *testing.F) { f.Fuzz(rapid.MakeFuzz(vacantNodesAreLikeOthers)) }
