package preemption_test

import (
	"fmt"
	"log"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// A node has two GPUs, shared by four pods with half of one each. The new pod wants
// three fifths of one: both pods of one GPU have to go, and not one of each, although
// b is less important than c.
func Example_devices() {
	pod := func(name, node string, priority int32, r cluster.DeviceRequest) preemption.Pod {
		r.Resource = "nvidia.com/gpu"
		return preemption.Pod{Name: name, Node: node, Priority: &priority, Devices: []cluster.DeviceRequest{r}}
	}
	half := func(device int32) cluster.DeviceRequest {
		return cluster.DeviceRequest{Fraction: 500, Assigned: []int32{device}}
	}
	result, err := preemption.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: "new"}, &preemption.Snapshot{
		Nodes: []cluster.Node{{Name: "n1", Devices: map[string]cluster.DevicePool{"nvidia.com/gpu": {Count: 2, Capacity: 1000}}}},
		Pods: []preemption.Pod{
			pod("a", "n1", 1, half(0)), pod("b", "n1", 2, half(1)), pod("c", "n1", 3, half(0)), pod("d", "n1", 4, half(1)),
			pod("new", "", 9, cluster.DeviceRequest{Fraction: 600}),
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("new", result.Message)
	for _, v := range result.Victims {
		fmt.Printf("evict %s: it cannot stay on %v\n", v.Name, v.Reason)
	}
	// Output:
	// new fits on n1 once 2 pods are evicted
	// evict c: it cannot stay on n1: device nvidia.com/gpu: 600 of one device
	// evict a: it cannot stay on n1: device nvidia.com/gpu: 600 of one device
}

const gpu = "example.com/gpu"

// gpusOf returns what is free on each GPU of a node, but for the pods that leave.
func gpusOf(s *preemption.Snapshot, node string, leave func(name string) bool) []int64 {
	var free []int64
	for _, n := range s.Nodes {
		if n.Name == node {
			for range n.Devices[gpu].Count {
				free = append(free, n.Devices[gpu].Capacity)
			}
		}
	}
	for _, p := range s.Pods {
		if p.Node != node || leave(p.Name) {
			continue
		}
		for _, r := range p.Devices {
			for _, device := range r.Assigned {
				if r.Count > 0 {
					free[device] = 0
				} else {
					free[device] -= r.Fraction
				}
			}
		}
	}
	return free
}

// seatsOn is an independent matcher: it looks at each GPU, and tells how many such requests have room.
func seatsOn(free []int64, r cluster.DeviceRequest) (seats int) {
	for _, v := range free {
		if r.Count == 0 {
			seats += int(v / r.Fraction)
		} else if v == 1000 {
			seats++
		}
	}
	return seats / int(max(r.Count, 1))
}

func hasRoom(free []int64, r cluster.DeviceRequest) bool { return seatsOn(free, r) > 0 }

// checkDevices checks that the victims of an answer free what the preemptor asks
// for, and that none of them could stay.
func checkDevices(t require.TestingT, s *preemption.Snapshot, want cluster.DeviceRequest, result *preemption.Result) {
	node := result.Nominations[0].Node
	victims := map[string]bool{}
	for _, v := range result.Victims {
		victims[v.Name] = true
		require.Equal(t, node, v.Pods[0].Node)
	}
	require.True(t, hasRoom(gpusOf(s, node, func(name string) bool { return victims[name] }), want),
		"the victims do not make room for %+v on %s", want, node)
	for _, v := range result.Victims {
		free := gpusOf(s, node, func(name string) bool { return victims[name] && name != v.Name })
		require.False(t, hasRoom(free, want), "%s need not go for %+v on %s", v.Name, want, node)
	}
}

// drawDevices draws nodes with up to most pods each that hold GPUs.
func drawDevices(t *rapid.T, nodes, most int) (s preemption.Snapshot) {
	number := func(most int) int { return rapid.IntRange(0, most).Draw(t, "n") }
	for i := range 1 + number(nodes-1) {
		n := cluster.Node{Name: fmt.Sprintf("n%d", i), Devices: map[string]cluster.DevicePool{gpu: {Count: int32(1 + number(3)), Capacity: 1000}}}
		s.Nodes = append(s.Nodes, n)
		for k := range number(most) {
			request := anyRequest(t)
			free := gpusOf(&s, n.Name, func(string) bool { return false })
			var assigned []int32
			for device, v := range free {
				fits := request.Count == 0 && v >= request.Fraction || request.Count > 0 && v == 1000
				if fits && len(assigned) < int(max(request.Count, 1)) {
					assigned = append(assigned, int32(device))
				}
			}
			if len(assigned) < int(max(request.Count, 1)) {
				continue
			}
			request.Assigned = assigned
			priority := int32(number(12))
			s.Pods = append(s.Pods, preemption.Pod{
				Name: fmt.Sprintf("p%d-%d", i, k), Node: n.Name, Priority: &priority, Devices: []cluster.DeviceRequest{request},
			})
		}
	}
	return s
}

func victimsFreeDevices(t *rapid.T) {
	s := drawDevices(t, 3, 8)
	want := anyRequest(t)
	priority := int32(10)
	p := preemption.Pod{Name: "new", Priority: &priority, Devices: []cluster.DeviceRequest{want}}
	result, err := preemption.Preempt(preemption.Preemptor{Pods: []preemption.Pod{p}}, &s)
	require.NoError(t, err)
	switch result.Verdict {
	case preemption.Feasible, preemption.Fits:
		checkDevices(t, &s, want, result)
	case preemption.Infeasible:
		for _, n := range s.Nodes {
			free := gpusOf(&s, n.Name, func(name string) bool {
				for _, p := range s.Pods {
					if p.Name == name {
						return *p.Priority < 10
					}
				}
				return false
			})
			require.False(t, hasRoom(free, want), "evictions on %s help %+v", n.Name, want)
		}
	default:
		t.Fatal(result.Verdict)
	}
}

func anyRequest(t *rapid.T) cluster.DeviceRequest {
	r := cluster.DeviceRequest{Resource: gpu}
	if rapid.Bool().Draw(t, "whole") {
		r.Count = rapid.Int32Range(1, 3).Draw(t, "count")
	} else {
		r.Fraction = rapid.SampledFrom([]int64{100, 250, 300, 500, 700, 1000}).Draw(t, "fraction")
	}
	return r
}

func TestVictimsFreeDevicesAndNoneMore(t *testing.T) { rapid.Check(t, victimsFreeDevices) }
func FuzzVictimsFreeDevicesAndNoneMore(f *testing.F) { f.Fuzz(rapid.MakeFuzz(victimsFreeDevices)) }

// TestGangsFreeDevicesByBruteForce: of all sets of pods with whom gone equal members that ask for devices have places, Exact finds one that disrupts least, and
// proves it; with less search no less is found, nor is a bound above it.
func TestGangsFreeDevicesByBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, want, members := drawDevices(t, 3, 3), anyRequest(t), rapid.IntRange(1, 5).Draw(t, "members")
		seats := func(out uint) (seats int) {
			for _, n := range s.Nodes {
				seats += seatsOn(gpusOf(&s, n.Name, func(name string) bool {
					return out>>slices.IndexFunc(s.Pods, func(p preemption.Pod) bool { return p.Name == name })&1 != 0
				}), want)
			}
			return seats
		}
		var least []int64
		for out := range uint(1) << len(s.Pods) {
			score := []int64{math.MinInt64, 0}
			for i, p := range s.Pods {
				if out>>i&1 != 0 {
					score[0], score[1] = max(score[0], int64(*p.Priority)), score[1]+1
				}
			}
			if score[0] < 10 && (least == nil || slices.Compare(score, least) < 0) && seats(out) >= members {
				least = score
			}
		}
		high, every := int32(10), int32(members)
		gang := preemption.Preemptor{Group: &preemption.PodGroup{Name: "gang", MinCount: &every, Priority: &high}}
		for i := range members {
			gang.Pods = append(gang.Pods, preemption.Pod{Name: fmt.Sprint("m", i), Group: "gang", Priority: &high, Devices: []cluster.DeviceRequest{want}})
		}
		for i, search := range []preemption.Search{preemption.Greedy, preemption.Improved, preemption.Exact, preemption.Improved, preemption.Exact} {
			o := preemption.Options{Search: search, Proof: true, Objective: []preemption.CriterionName{preemption.CriterionHighest, preemption.CriterionPods}}
			p := gang
			if i > 2 && members > 1 {
				break
			} else if i > 2 {
				p = preemption.Preemptor{Kind: preemption.KindPod, Pods: []preemption.Pod{{Name: "alone", Priority: &high, Devices: gang.Pods[0].Devices}}}
			}
			r, err := o.Preempt(p, &s)
			require.NoError(t, err)
			if least == nil {
				require.Equal(t, preemption.Infeasible, r.Verdict)
				continue
			}
			if least[1] == 0 {
				require.Equal(t, preemption.Fits, r.Verdict)
				continue
			}
			require.Equal(t, preemption.Feasible, r.Verdict)
			require.LessOrEqual(t, slices.Compare(least, said(r.Score)), 0, search)
			require.LessOrEqual(t, slices.Compare(said(r.Bound), least), 0, search)
			require.LessOrEqual(t, slices.Compare(said(r.Proof.Bound), least), 0, search)
			require.Empty(t, check.Verify(&s, o, p, r))
			if search == preemption.Exact {
				require.Equal(t, least, said(r.Score))
				require.True(t, r.Optimal)
			}
		}
	})
}

// TestSmallFractionsOfLargeDevices: however many of them a node has places for, all members go where one pod leaves, and not where two do.
func TestSmallFractionsOfLargeDevices(t *testing.T) {
	low, high, all := int32(1), int32(10), int32(2)
	pod := func(name, node string, priority *int32, cpu int64) preemption.Pod {
		return preemption.Pod{Name: name, Node: node, Priority: priority, Requests: cluster.Resources{"cpu": cpu}}
	}
	for _, count := range []int32{1, 8, 17, 1024} {
		s := preemption.Snapshot{Pods: []preemption.Pod{pod("a", "n1", &low, 2), pod("b", "n2", &low, 1), pod("c", "n2", &low, 1)}}
		for name, count := range map[string]int32{"n1": count, "n2": 1} {
			s.Nodes = append(s.Nodes, cluster.Node{
				Name: name, Allocatable: cluster.Resources{"cpu": 2}, Devices: map[string]cluster.DevicePool{gpu: {Count: count, Capacity: 1 << 40}},
			})
		}
		gang := preemption.Preemptor{Group: &preemption.PodGroup{Name: "gang", MinCount: &all, Priority: &high}}
		for i := range all {
			m := pod(fmt.Sprint("m", i), "", &high, 1)
			m.Devices = []cluster.DeviceRequest{{Resource: gpu, Fraction: 1}}
			gang.Pods = append(gang.Pods, m)
		}
		r, err := preemption.Options{Search: preemption.Improved, Objective: []preemption.CriterionName{preemption.CriterionPods}}.Preempt(gang, &s)
		require.NoError(t, err)
		require.Equal(t, []int64{1}, said(r.Score), count)
		require.Equal(t, []int64{1}, said(r.Bound), count)
	}
}

// TestMoreThanDevicesHasASay: who holds a port of members, or is kept apart from them, goes as well as who holds devices and does not say which.
func TestMoreThanDevicesHasASay(t *testing.T) {
	low, high, all := int32(1), int32(10), int32(2)
	for _, keepOff := range []func(p *preemption.Pod){
		func(p *preemption.Pod) { p.Ports = []cluster.HostPort{{Port: 80}} },
		func(p *preemption.Pod) {
			p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: "kubernetes.io/hostname", Selector: &disruption.Selector{MatchLabels: map[string]string{"is": "b"}}}}
		},
	} {
		s, gang := preemption.Snapshot{}, preemption.Preemptor{Group: &preemption.PodGroup{Name: "gang", MinCount: &all, Priority: &high}}
		for i := range 2 {
			n := fmt.Sprint("n", i)
			s.Nodes = append(s.Nodes, cluster.Node{
				Name: n, Labels: map[string]string{"kubernetes.io/hostname": n}, Devices: map[string]cluster.DevicePool{gpu: {Count: 1, Capacity: 10}},
			})
			s.Pods = append(s.Pods,
				preemption.Pod{Name: "a" + n, Node: n, Priority: &low, Devices: []cluster.DeviceRequest{{Resource: gpu, Fraction: 10}}},
				preemption.Pod{Name: "b" + n, Node: n, Priority: &low, Labels: map[string]string{"is": "b"}, Ports: []cluster.HostPort{{Port: 80}}})
			m := preemption.Pod{Name: "m" + n, Group: "gang", Priority: &high, Devices: []cluster.DeviceRequest{{Resource: gpu, Count: 1}}}
			keepOff(&m)
			gang.Pods = append(gang.Pods, m)
		}
		r, err := preemption.Options{Search: preemption.Improved, Objective: []preemption.CriterionName{preemption.CriterionPods}}.Preempt(gang, &s)
		require.NoError(t, err)
		require.Equal(t, []int64{4}, said(r.Score))
		require.Equal(t, []int64{4}, said(r.Bound))
	}
}

// TestPromisedDevicesAreThere: whoever is promised devices gets them once the victims are gone,
// whatever the pods there say that they hold, or do not say.
func TestPromisedDevicesAreThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := gen.GangProfile{Profile: gen.Profile{MaxNodes: 2, MaxPods: 8, Devices: true}, MaxMembers: 8}
		m, q := gen.NewMaker(t, p)
		for i := range q.Snapshot.Pods { // as those say who ran before
			if p := &q.Snapshot.Pods[i]; p.Node == "" && p.Group != "" {
				p.Devices = []cluster.DeviceRequest{{Resource: gpu, Fraction: 3, Assigned: []int32{int32(m.N(3))}}}
				if m.N(3) == 0 {
					p.Devices[0].Count, p.Devices[0].Fraction = 1, 0
				}
			}
		}
		asked := []preemption.Preemptor{q.Preemptor, m.Preemptor()}[m.N(2)]
		asked.Placement = nil // one that is given goes with no planner
		pl, err := preemption.NewPlanner(&q.Snapshot, preemption.Options{})
		require.NoError(t, err)
		r, err := pl.Preempt(asked)
		if err != nil {
			return // nobody waits
		}
		t.Logf("snapshot %v\nanswer %v", told{q.Snapshot}, told{r})
		if r.Verdict != preemption.Feasible && r.Verdict != preemption.Fits {
			return
		}
		require.NoError(t, pl.Evict(r))
		for _, n := range r.Nominations {
			require.NoError(t, pl.Bind(n.Pod, n.Node))
		}
	})
}

// TestGangsGoWhereDevicesCostLeast: two pods share each GPU of a fleet. Greedy knows what room for devices costs on a node, so that few gangs take somebody more
// important, or more pods, than they have to.
func TestGangsGoWhereDevicesCostLeast(t *testing.T) {
	s := gen.Fleet(200, 30, 1, gen.Uniform)
	held := map[string]int32{}
	for i := range s.Nodes {
		s.Nodes[i].Devices = map[string]cluster.DevicePool{gpu: {Count: 8, Capacity: 1000}}
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		if k := held[p.Node]; k < 16 && i%7 != 0 {
			p.Devices = []cluster.DeviceRequest{{Resource: gpu, Fraction: 300 + 100*int64(i%3), Assigned: []int32{k % 8}}}
			held[p.Node]++
		}
	}
	for _, c := range []struct {
		members int
		ask     cluster.DeviceRequest
	}{{32, cluster.DeviceRequest{Count: 1}}, {100, cluster.DeviceRequest{Count: 2}}, {64, cluster.DeviceRequest{Fraction: 700}}} {
		all, high := int32(c.members), int32(1000)
		c.ask.Resource = gpu
		gang := preemption.Preemptor{Group: &preemption.PodGroup{Name: "gang", MinCount: &all, Priority: &high}}
		for i := range c.members {
			gang.Pods = append(gang.Pods, preemption.Pod{Name: fmt.Sprint("m", i), Group: "gang", Priority: &high, Devices: []cluster.DeviceRequest{c.ask}})
		}
		greedy, err := preemption.Preempt(gang, &s)
		require.NoError(t, err)
		best, err := preemption.Options{Search: preemption.Exact}.Preempt(gang, &s)
		require.NoError(t, err)
		have, least := said(greedy.Score), said(best.Score)
		t.Logf("%d members that ask for %+v: %v, at least %v", c.members, c.ask, have, least)
		require.True(t, best.Optimal)
		require.Equal(t, least[:2], have[:2])
		require.LessOrEqual(t, 10*have[3], 11*least[3])
	}
}

// TestProofsKnowDevices: that two pods have to go for whole devices, or for a place of a fraction, is shown by devices alone, and no less may be said.
func TestProofsKnowDevices(t *testing.T) {
	low, high, all := int32(1), int32(10), int32(2)
	s := preemption.Snapshot{Nodes: []cluster.Node{{Name: "n", Devices: map[string]cluster.DevicePool{"gpu": {Count: 2, Capacity: 1000}}}}}
	for i := range int32(4) {
		holds := cluster.DeviceRequest{Resource: "gpu", Fraction: 500, Assigned: []int32{i / 2}}
		s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint("p", i), Node: "n", Priority: &low, Devices: []cluster.DeviceRequest{holds}})
	}
	asks := func(name string, d cluster.DeviceRequest) preemption.Pod {
		return preemption.Pod{Name: name, Group: "gang", Priority: &high, Devices: []cluster.DeviceRequest{d}}
	}
	whole, part := cluster.DeviceRequest{Resource: "gpu", Count: 1}, cluster.DeviceRequest{Resource: "gpu", Fraction: 500}
	group := &preemption.PodGroup{Name: "gang", MinCount: &all, Priority: &high}
	for want, p := range map[int64]preemption.Preemptor{
		2: {Kind: preemption.KindPod, Pods: []preemption.Pod{{Name: "alone", Priority: &high, Devices: []cluster.DeviceRequest{whole}}}},
		4: {Group: group, Pods: []preemption.Pod{asks("a", whole), asks("b", whole)}},
		1: {Kind: preemption.KindPod, Pods: []preemption.Pod{{Name: "alone", Priority: &high, Devices: []cluster.DeviceRequest{part}}}},
		3: {Group: group, Pods: []preemption.Pod{asks("a", part), asks("b", whole)}}, // unlike, of whom sums tell nothing
	} {
		o := preemption.Options{Search: preemption.Exact, Proof: true, Objective: []preemption.CriterionName{preemption.CriterionPods}}
		r, err := o.Preempt(p, &s)
		require.NoError(t, err)
		require.Equal(t, []int64{want}, said(r.Score))
		require.Empty(t, check.Verify(&s, o, p, r))
		if want == 3 {
			require.Nil(t, r.Proof)
			continue
		}
		require.Equal(t, r.Score, r.Proof.Bound)
		for _, n := range r.Proof.Nodes {
			for _, step := range n.Steps {
				c := &step.Cases[0]
				require.True(t, c.Count > 0 || c.Resources["devices gpu"] > 0)
				c.Count, c.Resources = 0, nil
			}
		}
		require.NotEmpty(t, check.Verify(&s, o, p, r))
	}
}

// TestWorkersGoWhereDevicesCostLeast: beside a launcher of their size that asks for none.
func TestWorkersGoWhereDevicesCostLeast(t *testing.T) {
	const nodes, members = 400, 101
	s, high, all := preemption.Snapshot{}, int32(10), int32(members)
	add := func(node string, priority int32, devices ...cluster.DeviceRequest) {
		s.Pods = append(s.Pods, preemption.Pod{
			Name: fmt.Sprint("p", len(s.Pods)), Node: node, Priority: &priority, Requests: cluster.Resources{"cpu": 1}, Devices: devices,
		})
	}
	for i := range nodes {
		node, holder := fmt.Sprint("n", i), int32(9)
		if i > nodes/2 {
			holder = 2
		}
		s.Nodes = append(s.Nodes, cluster.Node{
			Name: node, Allocatable: cluster.Resources{"cpu": 2}, Devices: map[string]cluster.DevicePool{"gpu": {Count: 1, Capacity: 1000}},
		})
		add(node, holder, cluster.DeviceRequest{Resource: "gpu", Count: 1, Assigned: []int32{0}})
		add(node, 2-holder/9)
	}
	gang := preemption.Preemptor{Group: &preemption.PodGroup{Name: "gang", MinCount: &all, Priority: &high}}
	for i := range members {
		m := preemption.Pod{Name: fmt.Sprint("m", i), Group: "gang", Priority: &high, Requests: cluster.Resources{"cpu": 1}}
		if i > 0 {
			m.Devices = []cluster.DeviceRequest{{Resource: "gpu", Count: 1}}
		}
		gang.Pods = append(gang.Pods, m)
	}
	o := preemption.Options{}
	r, err := o.Preempt(gang, &s)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict)
	require.Equal(t, int64(2), said(r.Score)[1], "highest priority")
	require.Len(t, r.Victims, members, "one for each: the launcher's room is its neighbour's, a worker's comes with its device")
}
