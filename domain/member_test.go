package domain_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/ports"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Members that are compiled one after the other are what each is by itself, and have room where
// it fits.
func TestMembersAreWhatEachIsAlone(t *testing.T) {
	shared, room, none := 0, 0, 0
	for seed := range uint64(300) {
		c := drawCrowd(t, seed)
		if c == nil {
			continue
		}
		var pods []*cluster.Pod
		for _, p := range c.pods { // runs of pods that ask for the same, or for less, or nearly the same
			for range 1 + c.IntN(3) {
				one := *p
				one.Requests = maps.Clone(p.Requests)
				if c.IntN(4) == 0 {
					delete(one.Requests, cluster.CPU)
				}
				if c.IntN(4) == 0 && one.Requests != nil {
					one.Requests[cluster.Memory]++
				}
				pods = append(pods, &one)
			}
		}
		filter := func(pod *cluster.Pod, n *cluster.Node) bool { return len(n.Name)%2 == len(pod.Requests)%2 }
		if c.IntN(2) == 0 {
			filter = nil
		}
		members := domain.NewMembers(c.ix, c.IntN(3), filter)
		var before *domain.Member
		for _, p := range pods {
			m, alone := members.Add(p, cluster.NoPod), domain.NewMember(c.ix, p, cluster.NoPod)
			alone.Restrict(filter)
			require.Equal(t, alone.Request(), m.Request(), "seed %d", seed)
			require.Equal(t, alone.Unknown(), m.Unknown(), "seed %d", seed)
			if before != nil && len(m.Request()) > 0 && &m.Request()[0] == &before.Request()[0] {
				require.True(t, maps.Equal(before.Pod.Requests, p.Requests))
				shared++
			}
			before = m
			trial := domain.NewNodeTrial(c.ix, alone, nil, domain.Nominees{Self: cluster.NoPod, Priority: 1<<31 - 1})
			for n := range c.ix.Nodes() {
				require.Equal(t, alone.Static(c.ix.Node(n)), m.Static(c.ix.Node(n)), "seed %d", seed)
				why := m.Room(c.ix, n)
				if len(p.Devices) == 0 && alone.Static(c.ix.Node(n)).OK() {
					trial.Reset(n)
					require.Equal(t, trial.Fits().OK(), why.OK(), "seed %d", seed)
				}
				switch resources := m.Resources(c.ix.Free(n), c.ix.Allocatable(n)); {
				case !resources.OK():
					require.Equal(t, resources, why, "seed %d: amounts come first", seed)
				case why.Check == domain.CheckPorts:
					require.Equal(t, ports.Name(p.Ports[why.Port]), why.Detail)
				}
				if why.OK() {
					room++
				} else {
					none++
				}
			}
		}
	}
	require.Greater(t, shared, 100)
	require.Greater(t, min(room, none), 500)
}

// Room is asked for devices, too.
func TestRoomForDevices(t *testing.T) {
	s := &cluster.Snapshot{
		Nodes: []cluster.Node{{Name: "n0", Devices: map[string]cluster.DevicePool{gpu: {Count: 2, Capacity: 10}}}},
		Pods: []cluster.Pod{{
			Name: "p", Node: "n0", Devices: []cluster.DeviceRequest{{Resource: gpu, Count: 1, Assigned: []int32{0}}}, Ports: []cluster.HostPort{{Port: 80}},
		}},
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	for count, want := range map[int32]domain.Check{1: "", 2: domain.CheckDevice} {
		m := domain.NewMember(ix, &cluster.Pod{Devices: []cluster.DeviceRequest{{Resource: gpu, Count: count}}}, cluster.NoPod)
		require.Equal(t, want, m.Room(ix, 0).Check)
		m = domain.NewMember(ix, &cluster.Pod{Devices: []cluster.DeviceRequest{{Resource: gpu, Count: count}}, Ports: []cluster.HostPort{{Port: 80}}}, cluster.NoPod)
		require.Equal(t, domain.CheckPorts, m.Room(ix, 0).Check, "ports come before devices")
	}
}

// What a reason is told with.
func TestReasonsAreDescribed(t *testing.T) {
	gone := cluster.Taint{Key: "a", Value: "1", Effect: cluster.NoExecute}
	s := &cluster.Snapshot{Nodes: []cluster.Node{{Name: "n0", Taints: []cluster.Taint{{Key: "b", Effect: cluster.NoSchedule}, gone}}}}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	m := domain.NewMember(ix, &cluster.Pod{RequiredNode: "n7", Ports: []cluster.HostPort{{Port: 80}, {Port: 443, Protocol: "UDP", IP: "10.0.0.1"}}}, cluster.NoPod)
	for _, c := range []struct {
		why  domain.Reason
		want string
	}{
		{domain.Reason{Check: domain.CheckTaint}, gone.String()},
		{domain.Reason{Check: domain.CheckTaint, Detail: "told"}, "told"},
		{domain.Reason{Check: domain.CheckPorts, Port: 0}, "80/TCP"},
		{domain.Reason{Check: domain.CheckPorts, Port: 1}, "10.0.0.1:443/UDP"},
		{domain.Reason{Check: domain.CheckNodeName}, "n7"},
		{domain.Reason{Check: domain.CheckAffinity}, ""},
	} {
		want := c.why
		want.Detail = c.want
		require.Equal(t, want, m.Describe(ix, 0, c.why))
	}
	tolerant := domain.NewMember(ix, &cluster.Pod{Tolerations: []cluster.Toleration{{Operator: cluster.TolerationExists}}}, cluster.NoPod)
	require.Empty(t, tolerant.Describe(ix, 0, domain.Reason{Check: domain.CheckTaint}).Detail)
	require.Equal(t, "80/TCP", ports.Name(cluster.HostPort{Port: 80, IP: "0.0.0.0"}))
}

// Who asks nothing of a node but room, and whom no check can tell apart.
func TestMembersThatGoAnywhereAndAreEqual(t *testing.T) {
	ix, err := cluster.NewIndex(&cluster.Snapshot{Nodes: []cluster.Node{{Name: "n0", Allocatable: cluster.Resources{cluster.CPU: 9}}}})
	require.NoError(t, err)
	terms := func(texts ...string) *cluster.NodeAffinity {
		a := &cluster.NodeAffinity{}
		for _, text := range texts {
			a.Terms = append(a.Terms, cluster.NodeTerm{Labels: []cluster.NodeRequirement{
				{Key: text, Operator: cluster.NodeIn, Values: []string{"x", text}}, {Key: "k", Operator: cluster.NodeExists},
			}})
		}
		return a
	}
	swapped := terms("b", "a")
	for i := range swapped.Terms {
		l := swapped.Terms[i].Labels
		l[0].Values[0], l[0].Values[1] = l[0].Values[1], l[0].Values[0]
		l[0], l[1] = l[1], l[0]
	}
	pods := []cluster.Pod{ // every two of them differ
		{}, {Requests: cluster.Resources{cluster.CPU: 1}}, {Requests: cluster.Resources{"unheard-of": 1}}, {Requests: cluster.Resources{"unheard-of": 1, "another": 1}},
		{NodeSelector: map[string]string{"a": "b"}}, {RequiredNode: "n0"}, {NodeAffinity: terms("a")}, {NodeAffinity: terms("a", "b")}, {NodeAffinity: terms("a", "c")},
		{NodeAffinity: &cluster.NodeAffinity{Terms: []cluster.NodeTerm{{Fields: terms("a").Terms[0].Labels}}}},
		{Tolerations: []cluster.Toleration{{Key: "a"}}}, {Tolerations: []cluster.Toleration{{Key: "a"}, {Key: "b"}}}, {Tolerations: []cluster.Toleration{{Key: "a"}, {Key: "c"}}},
		{Tolerations: []cluster.Toleration{{Key: "a", Value: "x"}}}, {Tolerations: []cluster.Toleration{{Key: "a", Effect: cluster.NoSchedule}}}, {Tolerations: []cluster.Toleration{{Key: "a", Operator: cluster.TolerationExists}}},
	}
	bound := map[int]bool{4: true, 5: true, 6: true, 7: true, 8: true, 9: true}
	member := func(p cluster.Pod) *domain.Member { return domain.NewMember(ix, &p, cluster.NoPod) }
	for i, p := range pods {
		require.Equal(t, !bound[i], member(p).Anywhere(), "%+v", p)
		for j, q := range pods {
			require.Equal(t, i == j, member(p).Equals(member(q)), "%+v, %+v", p, q)
		}
	}
	filtered := member(pods[0])
	filtered.Restrict(func(*cluster.Pod, *cluster.Node) bool { return true })
	require.False(t, filtered.Anywhere())
	require.True(t, member(pods[7]).Equals(member(cluster.Pod{NodeAffinity: swapped})), "the order says nothing")
	require.True(t, member(pods[11]).Equals(member(cluster.Pod{Tolerations: []cluster.Toleration{{Key: "b"}, {Key: "a"}}})))
	ports := cluster.Pod{Ports: []cluster.HostPort{{Port: 80}}}
	require.False(t, member(ports).Equals(member(ports)), "they cannot be together")
	for _, c := range []struct {
		pods                      []cluster.Pod
		interchangeable, onlyRoom bool
	}{
		{[]cluster.Pod{pods[0], pods[0]}, true, true}, {[]cluster.Pod{pods[0], pods[1]}, false, true}, {[]cluster.Pod{ports}, false, false},
	} {
		var members []*domain.Member
		for _, p := range c.pods {
			members = append(members, member(p))
		}
		trial := domain.NewGangTrial(ix, members, nil, func(cluster.PodID) bool { return false })
		require.Equal(t, c.interchangeable, trial.Interchangeable())
		require.Equal(t, c.onlyRoom, trial.OnlyRoom())
	}
}

// says is a constraint that gives one reason.
type says struct{ domain.Reason }

func (s says) Scope() domain.Scope                                { return domain.Scope{Monotone: true, NodeLocal: true} }
func (s says) Fits(domain.MemberID, cluster.NodeID) domain.Reason { return s.Reason }
func (says) Place(domain.MemberID, cluster.NodeID)                {}
func (says) Unplace(domain.MemberID, cluster.NodeID)              {}
func (says) Remove(cluster.PodID, cluster.NodeID)                 {}
func (says) Return(cluster.PodID, cluster.NodeID)                 {}

func (s says) Clone() domain.State { return s }

// What a constraint or a placer may not do ends the trial with what it did.
func TestMisuse(t *testing.T) {
	ix, err := cluster.NewIndex(&cluster.Snapshot{Nodes: []cluster.Node{{Name: "n0", Allocatable: cluster.Resources{cluster.CPU: 9, cluster.Pods: 9}}}})
	require.NoError(t, err)
	member := domain.NewMember(ix, &cluster.Pod{Ports: []cluster.HostPort{{Port: 80}, {Port: 81}}}, cluster.NoPod)
	last := cluster.ResourceID(ix.NumResources())
	for why, want := range map[domain.Reason]string{
		{Check: domain.CheckResource, Resource: -1}:       "a reason with resource -1",
		{Check: domain.CheckResource, Resource: last}:     "a reason with resource",
		{Check: domain.CheckResource, Resource: 0}:        "",
		{Check: domain.CheckResource, Resource: last - 1}: "",
		{Check: domain.CheckPorts, Port: -1}:              "a reason with port -1",
		{Check: domain.CheckPorts, Port: 2}:               "a reason with port 2",
		{Check: domain.CheckPorts, Port: 0}:               "",
		{Check: domain.CheckPorts, Port: 1}:               "",
		{Check: domain.CheckToken, Port: 9, Resource: -9}: "",
	} {
		node := domain.NewNodeTrial(ix, member, []domain.State{says{why}}, domain.Nominees{Self: cluster.NoPod})
		node.Reset(0)
		gang := domain.NewGangTrial(ix, []*domain.Member{member}, []domain.State{says{why}}, func(cluster.PodID) bool { return false })
		for _, ask := range []func() domain.Reason{node.Fits, node.Constrained, func() domain.Reason { return gang.CanPlace(0, 0) }} {
			if want == "" {
				require.Equal(t, why, ask())
				continue
			}
			requireMisuse(t, want, func() { ask() })
		}
	}
	gang := func(do func(*domain.GangTrial)) func() {
		return func() {
			do(domain.NewGangTrial(ix, []*domain.Member{member, member}, nil, func(cluster.PodID) bool { return false }))
		}
	}
	requireMisuse(t, "member -1 is not from 0 to 1", gang(func(g *domain.GangTrial) { g.Place(-1, 0) }))
	requireMisuse(t, "member 2 is not from 0 to 1", gang(func(g *domain.GangTrial) { g.Place(2, 0) }))
	requireMisuse(t, "node -1 is not from 0 to 0", gang(func(g *domain.GangTrial) { g.Place(0, -1) }))
	requireMisuse(t, "node 1 is not from 0 to 0", gang(func(g *domain.GangTrial) { g.Place(0, 1) }))
	requireMisuse(t, "member 0, placed on n0 already is not a member without a place", gang(func(g *domain.GangTrial) { g.Place(0, 0); g.Place(0, 0) }))
	requireMisuse(t, "Unplace of nobody is not after a Place", gang(func(g *domain.GangTrial) { g.Unplace() }))
}

func requireMisuse(t *testing.T, want string, do func()) {
	t.Helper()
	defer func() {
		t.Helper()
		m, ok := recover().(*domain.Misuse)
		require.True(t, ok, want)
		require.ErrorContains(t, m, want)
	}()
	do()
}

// Prices are compared number by number, and added up.
func TestPrices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	draw := func() domain.Price {
		return domain.Price{Lead: r.Int64N(2), Violations: r.Int64N(2), Highest: r.Int64N(2), Sum: r.Int64N(2), Pods: r.Int64N(2)}
	}
	for range 500 {
		p, q := draw(), draw()
		number := func(p domain.Price) int64 {
			return p.Lead<<4 | p.Violations<<3 | p.Highest<<2 | p.Sum<<1 | p.Pods
		}
		require.Equal(t, number(p) < number(q), p.Compare(q) < 0)
		require.Equal(t, number(p) > number(q), p.Compare(q) > 0)
		sum := p
		sum.Add(q)
		require.Equal(t, domain.Price{Lead: p.Lead + q.Lead, Violations: p.Violations + q.Violations, Highest: max(p.Highest, q.Highest), Sum: p.Sum + q.Sum, Pods: p.Pods + q.Pods}, sum)
	}
}

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
