package preemption_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/naive"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// without is q once some units are gone.
func without(q gen.Question, units []naive.Unit) gen.Question {
	left := gen.Clone(q)
	gone := naive.Gone(units)
	pods := left.Snapshot.Pods[:0]
	for _, p := range left.Snapshot.Pods {
		if !gone[naive.PodKey{Namespace: p.Namespace, Name: p.Name}] {
			pods = append(pods, p)
		}
	}
	left.Snapshot.Pods = pods
	return left
}

// aProvedNoIsOne: where it is called proved that no evictions help, the gang fits once
// none of the sets of units is gone that it may evict. Constraints make that a matter of
// who stays, and of the order in which members come.
func aProvedNoIsOne(t fatal, o preemption.Options, q gen.Question, seen map[string]int) {
	r := ask(t, o, q)
	if r.Verdict != preemption.Infeasible {
		return
	}
	if !r.Stats.Exact {
		seen["not proved"]++
		return
	}
	g, _ := naive.NewGang(gangOptions(o), q.Preemptor, &q.Snapshot)
	o.Candidates = true
	for _, round := range g.Rounds() {
		for _, region := range round {
			units := g.Potential(region.Nodes) // whoever keeps members off a domain from outside stays
			if len(units) > 6 {
				return
			}
			subsets(units, func(some []naive.Unit) bool {
				r := ask(t, o, without(q, some))
				there := func(c preemption.Candidate) bool { return c.Domain == region.Name }
				if r.Verdict == preemption.Fits && (r.Domain == region.Name || slices.ContainsFunc(r.Candidates, there)) {
					t.Fatalf("%d units gone, and it fits at %v", len(some), placesOf(r))
				}
				return true
			})
		}
	}
	seen["proved"]++
}

func TestAProvedNoIsOne(t *testing.T) {
	t.Parallel()
	p := gen.GangProfile{Profile: gen.Profile{MaxNodes: 3, MaxPods: 6}, MaxMembers: 4, Ties: true, Topology: true, Composite: true, Wishes: true}
	seen := map[string]int{}
	for seed := range seeds(3000) {
		o := gangOptionsBySeed(seed)
		o.Candidates, o.Explain = false, false
		if q := sound(o, gen.RandomGang(seed, p)); asksSomething(q) {
			aProvedNoIsOne(&named{t, seed}, o, q, seen)
		}
	}
	t.Log(seen)
	require.Greater(t, seen["proved"], int(seeds(100)))
}

// TestAProvedNoOfOnePod: a pod that wants to be near a potential victim fits beside it
// once another one is gone. Upstream takes both out and says no, and so does this, but it
// is not called proved; where there is no room either, it is.
func TestAProvedNoOfOnePod(t *testing.T) {
	low, high := int32(0), int32(10)
	near := []cluster.AffinityTerm{{TopologyKey: "zone", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "db"}}}}
	for cpu, proved := range map[int64]bool{2: false, 4: true} {
		s := &preemption.Snapshot{
			Nodes: []cluster.Node{{Name: "n1", Labels: map[string]string{"zone": "z1"}, Allocatable: preemption.Resources{"cpu": 3}}},
			Pods: []preemption.Pod{
				{Name: "db", Node: "n1", Labels: map[string]string{"app": "db"}, Priority: &low, Requests: preemption.Resources{"cpu": 1}},
				{Name: "batch", Node: "n1", Priority: &low, Requests: preemption.Resources{"cpu": 2}},
				{Name: "web", Priority: &high, Requests: preemption.Resources{"cpu": cpu}, Affinity: near},
			},
		}
		r, err := preemption.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: "web"}, s)
		require.NoError(t, err)
		require.Equal(t, preemption.Infeasible, r.Verdict)
		require.Equal(t, proved, r.Stats.Exact, "cpu %d: %s", cpu, r.Message)
	}
}

// A member that is larger than every node needs no search, whatever constraints the gang has: that
// too few find room is proved.
func TestAMemberLargerThanEveryNodeIsProved(t *testing.T) {
	t.Parallel()
	const nodes, members = 30, 40
	high, all := int32(100), int32(members)
	ours := &disruption.Selector{MatchLabels: map[string]string{"job": "gang"}}
	s := preemption.Snapshot{}
	for i := range nodes {
		host := fmt.Sprintf("n%02d", i)
		s.Nodes = append(s.Nodes, preemption.Node{
			Name: host, Labels: map[string]string{"host": host}, Allocatable: preemption.Resources{cluster.CPU: 4_000, cluster.Pods: 10},
		})
		s.Pods = append(s.Pods, preemption.Pod{Name: "batch-" + host, Node: host, Requests: preemption.Resources{cluster.CPU: 4_000}})
	}
	p := preemption.Preemptor{Group: &preemption.PodGroup{Name: "gang", Priority: &high, MinCount: &all}}
	for i := range members {
		cpu := int64(500 + 10*i)
		if i == 0 {
			cpu = 5_000
		}
		p.Pods = append(p.Pods, preemption.Pod{
			Name: fmt.Sprintf("m%02d", i), Labels: map[string]string{"job": "gang"}, Requests: preemption.Resources{cluster.CPU: cpu},
			Spread: []cluster.Spread{{MaxSkew: 2, TopologyKey: "host", Selector: ours}},
		})
	}
	r, err := preemption.Preempt(p, &s)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, r.Verdict)
	require.True(t, r.Stats.Exact)
	require.Equal(t, "no evictions help: room for 39 of the 40 pods that gang needs", r.Message)

	p.Group.MinCount = &[]int32{members - 1}[0]
	r, err = preemption.Preempt(p, &s)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict)
}

// TestInfeasibleIsProvedOnlyIfItIs: with everybody gone nobody is left whom web has
// affinity to, although the eviction of batch alone would do. Where nobody is whom it
// has affinity to, no eviction helps.
func TestInfeasibleIsProvedOnlyIfItIs(t *testing.T) {
	low, high := int32(10), int32(1000)
	cpu := func(milli int64) preemption.Resources { return preemption.Resources{cluster.CPU: milli} }
	for app, exact := range map[string]bool{"db": false, "other": true} {
		s := preemption.Snapshot{
			Nodes: []cluster.Node{{Name: "n1", Labels: map[string]string{"zone": "a"}, Allocatable: cpu(2000)}},
			Pods: []preemption.Pod{
				{Name: "db", Node: "n1", Labels: map[string]string{"app": "db"}, Priority: &low, Requests: cpu(1000)},
				{Name: "batch", Node: "n1", Priority: &low, Requests: cpu(1000)},
				{Name: "web", Priority: &high, Requests: cpu(1000), Affinity: []cluster.AffinityTerm{{
					TopologyKey: "zone", Selector: &preemption.Selector{MatchLabels: map[string]string{"app": app}},
				}}},
			},
		}
		r, err := preemption.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: "web"}, &s)
		require.NoError(t, err)
		require.Equal(t, preemption.Infeasible, r.Verdict)
		require.Equal(t, exact, r.Stats.Exact, app)
	}
}

// TestALimitRefusesOnlyWhereItDoes: one place is free and one pod may go, so that there is room for as
// many members as the gang needs, though not for all.
func TestALimitRefusesOnlyWhereItDoes(t *testing.T) {
	high, need := int32(100), int32(2)
	one := preemption.Resources{cluster.CPU: 1}
	s := preemption.Snapshot{Nodes: []cluster.Node{{Name: "n1", Allocatable: preemption.Resources{cluster.CPU: 4}}}}
	p := preemption.Preemptor{Group: &preemption.PodGroup{Name: "gang", Priority: &high, MinCount: &need}}
	for _, name := range []string{"a", "b", "c", "d"} {
		p.Pods = append(p.Pods, preemption.Pod{Name: name, Requests: one})
		if name != "d" {
			s.Pods = append(s.Pods, preemption.Pod{Name: "batch-" + name, Node: "n1", Requests: one})
		}
	}
	r, err := preemption.Options{Limits: preemption.Limits{Pods: 1}}.Preempt(p, &s)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict, r.Message)
	require.Len(t, r.Victims, 1)
}
