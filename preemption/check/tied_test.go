package check_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// tiedWorlds are small worlds in which pods are tied to others, or go with them, each of which was answered wrongly once.
var tiedWorlds = map[string]string{
	"there is an end": `{"nodes":[{"name":"n0","labels":{"host":"0","zone":"1"},"allocatable":{"cpu":5}},{"name":"n2","labels":{"host":"2","zone":"1"},"allocatable":{"cpu":2}},{"name":"n3","labels":{"host":"3"},"allocatable":{"cpu":5,"pods":4}}],"pods":[{"name":"p0","labels":{"app":"a"},"node":"n0","requests":{"cpu":3},"priority":4},{"name":"p1","labels":{"app":"a"},"node":"n0","requests":{"cpu":2},"priority":3,"affinity":[{"selector":{"matchLabels":{"app":"a"}},"topologyKey":"zone"}]},{"name":"p3","labels":{"app":"a"},"node":"n3","requests":{"cpu":1},"priority":1},{"name":"p7","labels":{"app":"a"},"node":"n3","requests":{"cpu":2},"priority":2,"affinity":[{"selector":{"matchLabels":{"app":"a"}},"topologyKey":"host"}]},{"name":"p8","labels":{"app":"a"},"node":"n2","priority":3},{"name":"in","labels":{"app":"a"},"requests":{"cpu":3},"priority":8,"antiAffinity":[{"selector":{"matchLabels":{"app":"a"}},"topologyKey":"host"}]}]}`,
	"the preemptor is not the first that is placed": `{"nodes":[{"name":"n0","labels":{"host":"0","zone":"1"},"allocatable":{"cpu":2,"pods":2}},{"name":"n1","labels":{"host":"1","zone":"2"},"allocatable":{"cpu":4,"pods":4}},{"name":"n2","labels":{"host":"2","zone":"1"},"allocatable":{"cpu":4}}],"pods":[{"name":"p1","labels":{"app":"a"},"node":"n2","priority":1},{"name":"p2","labels":{"app":"a"},"node":"n0","priority":1,"antiAffinity":[{"selector":{"matchLabels":{"app":"a"}},"topologyKey":"host"}]},{"name":"p3","labels":{"app":"a"},"node":"n0","priority":4},{"name":"p4","labels":{"app":"a"},"node":"n0","priority":4,"spread":[{"maxSkew":2,"topologyKey":"zone","selector":{"matchLabels":{"app":"a"}}}]},{"name":"in","labels":{"app":"a"},"nodeSelector":{"host":"0"},"priority":8}]}`,
	"moves before whom it makes room for":           `{"nodes":[{"name":"n1","labels":{"host":"1"},"allocatable":{"cpu":2}},{"name":"n2","labels":{"host":"2","zone":"1"},"allocatable":{"cpu":3}},{"name":"n3","labels":{"host":"3","zone":"2"},"allocatable":{"cpu":4}}],"pods":[{"name":"p0","labels":{"app":"a"},"node":"n2","requests":{"cpu":1},"priority":2,"spread":[{"maxSkew":1,"topologyKey":"zone","selector":{"matchLabels":{"app":"a"}}}]},{"name":"p1","labels":{"app":"a"},"node":"n3","priority":1},{"name":"p2","labels":{"app":"a"},"node":"n1","requests":{"cpu":3},"priority":4,"spread":[{"maxSkew":1,"topologyKey":"zone","selector":{"matchLabels":{"app":"a"}}}]},{"name":"p3","labels":{"app":"a"},"node":"n3","requests":{"cpu":2},"priority":2},{"name":"p4","labels":{"app":"a"},"node":"n3","priority":3},{"name":"in","labels":{"app":"a"},"requests":{"cpu":1},"nodeSelector":{"host":"1"},"priority":9}]}`,
	"moves to where there is no room":               `{"nodes":[{"name":"n0","labels":{"host":"0","zone":"1"},"allocatable":{"cpu":5}},{"name":"n1","labels":{"host":"1"},"allocatable":{"cpu":3,"pods":3}},{"name":"n2","labels":{"host":"2","zone":"1"},"allocatable":{"cpu":5}}],"pods":[{"namespace":"other","name":"p2","labels":{"app":"a"},"node":"n2","requests":{"cpu":1},"priority":3,"affinity":[{"selector":{"matchLabels":{"app":"a"}},"topologyKey":"zone"}]},{"name":"p4","labels":{"app":"a"},"node":"n0","requests":{"cpu":3},"priority":3,"group":"g1","namespace":"default"},{"name":"p6","labels":{"app":"a"},"node":"n2","requests":{"cpu":2},"priority":3,"group":"g1","namespace":"default"},{"name":"p8","labels":{"app":"a"},"node":"n0","requests":{"cpu":3},"priority":2,"namespace":"default"},{"name":"p9","labels":{"app":"a"},"node":"n0","requests":{"cpu":2},"priority":1,"namespace":"default"},{"name":"in","labels":{"app":"a"},"requests":{"cpu":4},"priority":11,"affinity":[{"selector":{"matchLabels":{"app":"a"}},"topologyKey":"zone"}],"namespace":"default"}],"podGroups":[{"name":"g1","disruptionMode":"All","minCount":1,"priority":3,"namespace":"default"}]}`,
	"the first of its kind once others have left":   `{"podGroups":[{"name":"wide","disruptionMode":"All","priority":1}],"nodes":[{"name":"a","labels":{"zone":"a"},"allocatable":{"cpu":4}},{"name":"b","labels":{"zone":"b"},"allocatable":{"cpu":4}},{"name":"c","labels":{"zone":"c"},"allocatable":{"cpu":1}},{"name":"d","labels":{"zone":"d"},"allocatable":{"cpu":1}},{"name":"e","labels":{"zone":"e"},"allocatable":{"cpu":1}}],"pods":[{"name":"p","node":"a","priority":5,"requests":{"cpu":4},"labels":{"app":"a"},"affinity":[{"topologyKey":"zone","selector":{"matchLabels":{"app":"a"}}}]},{"name":"y","node":"b","group":"wide","priority":1,"requests":{"cpu":1},"labels":{"app":"b"}},{"name":"x","node":"c","group":"wide","priority":1,"requests":{"cpu":1},"labels":{"app":"a"}},{"name":"in","priority":10,"requests":{"cpu":4},"nodeSelector":{"zone":"a"}}]}`,
	"the preemptor likewise":                        `{"podGroups":[{"name":"wide","disruptionMode":"All","priority":1}],"nodes":[{"name":"b","labels":{"zone":"b"},"allocatable":{"cpu":4}},{"name":"c","labels":{"zone":"c"},"allocatable":{"cpu":1}}],"pods":[{"name":"y","node":"b","group":"wide","priority":1,"labels":{"app":"b"}},{"name":"x","node":"c","group":"wide","priority":1,"requests":{"cpu":1},"labels":{"app":"a"}},{"name":"in","priority":10,"requests":{"cpu":4},"labels":{"app":"a"},"affinity":[{"topologyKey":"zone","selector":{"matchLabels":{"app":"a"}}}]}]}`,
}

// TestTiedPodsMove: they are answered rightly now.
func TestTiedPodsMove(t *testing.T) {
	for name, text := range tiedWorlds {
		for _, o := range []preemption.Options{{}, {Limits: preemption.Limits{OnlyMoves: true}}, {Limits: preemption.Limits{OnlyMoves: true}, Chain: 1}} {
			s := &preemption.Snapshot{}
			require.NoError(t, json.Unmarshal([]byte(text), s))
			in := preemption.Preemptor{Kind: preemption.KindPod, Namespace: s.Pods[len(s.Pods)-1].Namespace, Name: "in"}
			r, err := o.Preempt(in, s)
			require.NoError(t, err, name)
			require.Empty(t, check.Verify(s, o, in, r), "%s, %+v", name, o.Limits)
		}
	}
}

// TestTiedGangs: likewise, in a tree of groups, beside groups that go in part, and what is proved.
func TestTiedGangs(t *testing.T) {
	for i, text := range []string{
		// it fits once those without ties are in one zone
		`{"compositePodGroups":[{"name":"in","priority":1}],"nodes":[{"name":"n0"},{"name":"n1"},{"labels":{"zone":"0"},"name":"n2"},{"labels":{"zone":"1"},"name":"n3"}],"podGroups":[{"name":"l0","parent":"in","priority":1},{"name":"l1","parent":"in","priority":1},{"name":"l2","parent":"in","priority":1}],"pods":[{"antiAffinity":[{"selector":{},"topologyKey":"zone"}],"name":"p1","node":"n2"},{"affinity":[{"topologyKey":"zone"}],"group":"l0","priority":1,"name":"m0-0"},{"affinity":[{"topologyKey":"zone"}],"group":"l0","priority":1,"name":"m0-1"},{"affinity":[{"selector":{},"topologyKey":"zone"}],"group":"l0","priority":1,"name":"m0-2"},{"group":"l1","priority":1,"name":"m1-0"},{"group":"l1","priority":1,"name":"m1-1"},{"group":"l1","priority":1,"name":"m1-2"},{"group":"l2","priority":1,"name":"m2-0"},{"group":"l2","priority":1,"name":"m2-1"},{"group":"l2","priority":1,"name":"m2-2"}]}`,
		// it fits once the last group has its places first
		`{"nodes":[{"name":"n1","allocatable":{"cpu":3}},{"name":"n2","allocatable":{"cpu":5}}],"pods":[{"name":"p0","node":"n1","requests":{"cpu":2}},{"name":"p2","node":"n2","ports":[{"ip":"10.0.0.1","port":81}]},{"name":"p4","node":"n1"},{"name":"m0-0","group":"l0"},{"name":"m0-1","group":"l0"},{"name":"m0-2","group":"l0"},{"name":"m1-0","requests":{"cpu":2},"ports":[{"port":81}],"group":"l1"},{"name":"m1-1","requests":{"cpu":3},"group":"l1"},{"name":"m1-2","requests":{"cpu":2},"group":"l1"},{"name":"m2-0","requests":{"cpu":1},"group":"l2"},{"name":"m2-1","requests":{"cpu":3},"group":"l2"},{"name":"m2-2","group":"l2"}],"podGroups":[{"name":"l0","parent":"in"},{"name":"l1","parent":"mid","minCount":2},{"name":"l2","parent":"in","minCount":2}],"compositePodGroups":[{"name":"in","priority":4},{"name":"mid","parent":"in","priority":4}]}`,
		// a group below the tree can't run
		`{"compositePodGroups":[{"minGroupCount":2,"name":"in"},{"minGroupCount":1,"name":"mid","parent":"in"}],"nodes":[{"allocatable":{"cpu":1},"name":"n2"}],"podGroups":[{"name":"l0","parent":"in"},{"name":"l1","parent":"in"}],"pods":[{"group":"l0","name":"m0","requests":{"cpu":1}},{"group":"l1","name":"m1","requests":{"cpu":1}}]}`,
		// nobody goes for another victim that moves
		`{"nodes":[{"allocatable":{"cpu":2},"name":"n0"},{"allocatable":{"cpu":3,"pods":2},"name":"n1"}],"podGroups":[{"disruptionMode":"SurplusFirst","minCount":1,"name":"g1"},{"minCount":2,"name":"in","priority":1}],"pods":[{"group":"g1","name":"p0","node":"n1"},{"name":"p1","node":"n0","requests":{"cpu":2}},{"group":"in","name":"m0","requests":{"cpu":1},"priority":1},{"group":"in","name":"m1","requests":{"cpu":1},"priority":1},{"group":"in","name":"m2","requests":{"cpu":1},"priority":1}]}`,
	} {
		for _, o := range []preemption.Options{{}, {Search: preemption.Exact, Proof: true}, {Limits: preemption.Limits{OnlyMoves: true}}} {
			s, in := &preemption.Snapshot{}, preemption.Preemptor{Kind: preemption.KindPodGroup, Name: "in"}
			if require.NoError(t, json.Unmarshal([]byte(text), s)); len(s.CompositePodGroups) > 0 {
				in.Kind = preemption.KindCompositePodGroup
			}
			r, err := o.Preempt(in, s)
			require.NoError(t, err)
			require.Empty(t, check.Verify(s, o, in, r), "%d, %+v", i, o)
		}
	}
}

// TestChainsUseUpLooks: chains of the first node take many, and those of the last one, which moves somebody without a chain, are left.
func TestChainsUseUpLooks(t *testing.T) {
	s := &preemption.Snapshot{}
	node := func(name, role string, cpu int64, taints ...cluster.Taint) {
		s.Nodes = append(s.Nodes, preemption.Node{Name: name, Labels: map[string]string{"role": role}, Allocatable: preemption.Resources{"cpu": cpu}, Taints: taints})
	}
	pod := func(name, on string, level int32, cpu int64) *preemption.Pod {
		s.Pods = append(s.Pods, preemption.Pod{Name: name, Node: on, Priority: &level, Requests: preemption.Resources{"cpu": cpu}})
		return &s.Pods[len(s.Pods)-1]
	}
	node("n000", "in", 7)
	pod("x", "n000", 8, 7) // moves to where seven others move, and there is room for one
	for i := range 150 {
		n := fmt.Sprintf("n%03d", i+1)
		node(n, "m", 7)
		for k := range int32(7) {
			pod(fmt.Sprint(n, "-", k), n, 7-k, 1)
		}
	}
	node("n997", "m", 1)
	node("n998", "m", 4, cluster.Taint{Key: "k", Effect: cluster.NoSchedule})
	node("n999", "in", 4)
	pod("y", "n999", 8, 4).Tolerations = []cluster.Toleration{{Key: "k", Operator: cluster.TolerationExists}} // moves to n998
	pod("in", "", 9, 4).NodeSelector = map[string]string{"role": "in"}
	o, in := preemption.Options{Limits: preemption.Limits{OnlyMoves: true}, Chain: 2}, preemption.Preemptor{Kind: preemption.KindPod, Name: "in"}
	r, err := o.Preempt(in, s)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict)
	require.False(t, r.Stats.Exact)
	require.Empty(t, check.Verify(s, o, in, r))
}

// TestWhatIsPrunedIsProvedUseless: unless a group goes from there that has pods elsewhere, and a constraint is what is in the way.
func TestWhatIsPrunedIsProvedUseless(t *testing.T) {
	for _, c := range []struct{ grouped, cordoned, exact bool }{{true, false, false}, {false, false, true}, {true, true, true}} {
		s := &preemption.Snapshot{}
		require.NoError(t, json.Unmarshal([]byte(tiedWorlds["the preemptor likewise"]), s))
		s.Nodes[0].Unschedulable = c.cordoned
		for i := range s.Pods {
			if !c.grouped {
				s.Pods[i].Group = ""
			}
		}
		r, err := preemption.Options{}.Preempt(preemption.Preemptor{Kind: preemption.KindPod, Name: "in"}, s)
		require.NoError(t, err)
		require.Equal(t, preemption.Infeasible, r.Verdict)
		require.Equal(t, c.exact, r.Stats.Exact, "%+v", c)
	}
}

// TestOneIsEnough: where the preemptor fits once somebody has gone who may go by himself, nothing says that more have to.
func TestOneIsEnough(t *testing.T) {
	enough := 0
	for seed := range uint64(5 * questions()) {
		s, _, in := tied(seed)
		o := preemption.Options{Search: preemption.Exact, Objective: []preemption.CriterionName{preemption.CriterionPods}, Proof: true}
		r, err := o.Preempt(in, s)
		require.NoError(t, err)
		level := *s.Pods[len(s.Pods)-1].Priority
		for i, p := range s.Pods {
			fewer := *s
			fewer.Pods = slices.Delete(slices.Clone(s.Pods), i, i+1)
			if p.Node == "" || p.Group != "" || *p.Priority >= level {
				continue
			}
			now, err := preemption.Options{}.Preempt(in, &fewer)
			elsewhere := in.Kind == preemption.KindPod && now.Domain != p.Node
			if require.NoError(t, err); now.Verdict != preemption.Fits || r.Verdict == preemption.Fits || elsewhere || len(now.Nominations) < len(r.Nominations) {
				continue
			}
			enough++
			require.False(t, r.Verdict == preemption.Infeasible && (r.Stats.Exact || r.Proof != nil), "%d, %s", seed, p.Name)
			require.False(t, r.Optimal && r.Score[0].Value > 1, "%d, %s", seed, p.Name)
			require.False(t, len(r.Bound) > 0 && r.Bound[0].Value > 1, "%d, %s", seed, p.Name)
			require.False(t, r.Proof != nil && len(r.Proof.Bound) > 0 && r.Proof.Bound[0].Value > 1, "%d, %s", seed, p.Name)
		}
	}
	require.Greater(t, enough, questions()/4)
}

// tied is a small world of pods that are tied to others in all ways, some in groups that go as a whole, and what is asked there, a third
// of it about gangs.
func tied(seed uint64) (*preemption.Snapshot, preemption.Options, preemption.Preemptor) {
	r := rand.New(rand.NewPCG(seed, 77))
	cpu := func(n int) preemption.Resources { return preemption.Resources{cluster.CPU: int64(n)} }
	label := func() map[string]string { return map[string]string{"app": fmt.Sprint(r.IntN(3))} }
	level := func(most int) *int32 { p := int32(1 + r.IntN(most)); return &p }
	s, numNodes, numGroups, one := &preemption.Snapshot{}, 2+r.IntN(5), 1+r.IntN(3), int32(1)
	for i := range numNodes {
		n := preemption.Node{Name: fmt.Sprint("n", i), Labels: map[string]string{"host": fmt.Sprint(i)}, Allocatable: cpu(1 + r.IntN(5))}
		if r.IntN(8) > 0 {
			n.Labels["zone"] = fmt.Sprint(r.IntN(3))
		}
		if r.IntN(4) == 0 {
			n.Allocatable[cluster.Pods] = int64(1 + r.IntN(4))
		}
		s.Nodes = append(s.Nodes, n)
	}
	for g := range numGroups {
		mode := []disruption.Mode{disruption.All, disruption.SurplusFirst, disruption.Single}[r.IntN(3)]
		s.PodGroups = append(s.PodGroups, preemption.PodGroup{Name: fmt.Sprint("g", g), Mode: mode, Priority: level(6), MinCount: &one})
	}
	tie := func(p *preemption.Pod) {
		key, selector := []string{"host", "zone"}[r.IntN(2)], &disruption.Selector{MatchLabels: label()}
		switch r.IntN(7) {
		case 0, 1:
			if r.IntN(2) == 0 {
				selector.MatchLabels = p.Labels
			}
			p.Affinity = []cluster.AffinityTerm{{TopologyKey: key, Selector: selector}}
		case 2:
			p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: key, Selector: selector}}
		case 3:
			p.Spread = []cluster.Spread{{TopologyKey: key, MaxSkew: *level(2), Selector: selector}}
		case 4:
			p.Tokens = []string{fmt.Sprint("t", r.IntN(2))}
		case 5:
			p.Ports = []cluster.HostPort{{Port: 80 + *level(2)}}
		}
	}
	for i := range 2 + r.IntN(9) {
		p := preemption.Pod{Name: fmt.Sprint("p", i), Node: fmt.Sprint("n", r.IntN(numNodes)), Priority: level(6), Requests: cpu(r.IntN(4)), Labels: label()}
		if r.IntN(2) == 0 {
			g := &s.PodGroups[r.IntN(numGroups)]
			p.Group, p.Priority = g.Name, g.Priority
		}
		if r.IntN(3) == 0 {
			tie(&p)
		}
		if r.IntN(12) == 0 {
			p.Node, p.NominatedNode = "", p.Node
		}
		s.Pods = append(s.Pods, p)
	}
	in := preemption.Pod{Name: "in", Priority: level(11), Requests: cpu(1 + r.IntN(5)), Labels: label()}
	if r.IntN(3) > 0 {
		tie(&in)
	}
	if r.IntN(2) == 0 {
		in.NodeSelector = map[string]string{"host": fmt.Sprint(r.IntN(numNodes))}
	}
	o := preemption.Options{
		Rules: []preemption.Rules{"", preemption.Kubernetes136, preemption.KEP5710Alpha}[r.IntN(3)], Candidates: r.IntN(2) == 0, Proof: r.IntN(4) == 0,
		Search: []preemption.Search{"", "", "", preemption.Exact}[r.IntN(4)], NoCascade: r.IntN(6) == 0, Chain: r.IntN(3),
	}
	switch r.IntN(4) {
	case 0, 1:
		o.Limits.OnlyMoves = true
	case 2:
		o.Objective = []preemption.CriterionName{preemption.CriterionStranded, preemption.CriterionCascade, preemption.CriterionPods}
	default:
		o.Chain = 0
	}
	if seed%3 > 0 {
		s.Pods = append(s.Pods, in)
		return s, o, preemption.Preemptor{Kind: preemption.KindPod, Name: "in"}
	}
	s.PodGroups = append(s.PodGroups, preemption.PodGroup{Name: "in", MinCount: level(2), Priority: in.Priority})
	for i := range 2 + r.IntN(2) {
		p := in
		if p.Name, p.Group = fmt.Sprint("in", i), "in"; r.IntN(3) == 0 {
			p.NodeSelector = nil
		}
		if r.IntN(2) == 0 {
			p.Affinity, p.AntiAffinity, p.Spread, p.Ports = nil, nil, nil, nil
		}
		s.Pods = append(s.Pods, p)
	}
	return s, o, preemption.Preemptor{Kind: preemption.KindPodGroup, Name: "in"}
}

// TestAnswersInTiedWorldsAreTrue: nothing is untrue that can be verified.
func TestAnswersInTiedWorldsAreTrue(t *testing.T) {
	told := map[preemption.Verdict]int{}
	for seed := range uint64(5 * questions()) {
		s, o, in := tied(seed)
		if r, err := o.Preempt(in, s); err == nil {
			require.Empty(t, check.Verify(s, o, in, r), "seed %d", seed)
			told[r.Verdict]++
		}
	}
	for _, verdict := range []preemption.Verdict{preemption.Feasible, preemption.Fits, preemption.Infeasible} {
		require.Greater(t, told[verdict], questions()/4, verdict)
	}
}
