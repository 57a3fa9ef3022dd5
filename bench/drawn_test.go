package bench_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// drawCluster is a full cluster as no attack has it by itself: pods whose labels all differ, of many sizes, in groups that lie together,
// anywhere or in turn on the nodes, under budgets, with terms about each other or ports; and a pod or gang. At most size nodes.
func drawCluster(seed uint64, size int) (name string, q hostileQuestion) {
	r := rand.New(rand.NewPCG(seed, 2))
	pick := func(list ...int) int { return list[r.IntN(len(list))] }
	nodes, perNode, racks := size/pick(1, 2, 10), pick(1, 4, 10, 30), pick(1, 10, 100, 1000)
	grouped, lie, mode := pick(0, 0, 2, 6, 30, 300), pick(0, 1, 2), []disruption.Mode{disruption.Single, disruption.All, disruption.SurplusFirst}[r.IntN(3)]
	budgets, tied, priorities, sizes, spare, unlike := pick(0, 0, 1, 20, 200), pick(0, 0, 1, 2, 3), pick(1, 3, 100), pick(1, 3, 50), pick(0, 0, 1, 5), pick(0, 0, 20)
	q.snap.Time = time.Unix(1_000_000, 0)
	for i := range nodes {
		q.snap.Nodes = append(q.snap.Nodes, cluster.Node{
			Name: fmt.Sprint("n", i), Allocatable: cluster.Resources{cluster.CPU: 1000 + 10*int64(r.IntN(unlike+1)), cluster.Memory: 1000, cluster.Pods: 110},
			Labels: map[string]string{hostKey: fmt.Sprint("n", i), rackKey: fmt.Sprint("r", i*racks/nodes), "zone": fmt.Sprint("z", i%3)},
		})
	}
	at := each(nodes*perNode, func(i int) int { return i % nodes })
	if lie == 1 {
		r.Shuffle(len(at), func(a, b int) { at[a], at[b] = at[b], at[a] })
	}
	for i := range at {
		if lie == 2 {
			at[i] = i / perNode
		}
		priority := int32(r.IntN(priorities))
		cpu := int64(1000/perNode) - int64(r.IntN(sizes))*int64(max(1, 300/perNode))/int64(sizes) - int64(spare)
		p := cluster.Pod{
			Name: fmt.Sprint("p", i), Node: fmt.Sprint("n", at[i]), Priority: &priority, Created: q.snap.Time.Add(-time.Duration(r.IntN(1e6)) * time.Second),
			Requests: cluster.Resources{cluster.CPU: max(cpu, 1), cluster.Memory: int64(1 + r.IntN(1000/perNode))},
			Labels:   map[string]string{"app": fmt.Sprint("a", i%37), "budget": fmt.Sprint(r.IntN(budgets + 1)), "i": fmt.Sprint(i)},
		}
		if grouped > 0 {
			if p.Group, p.Priority = fmt.Sprint("g", i/grouped), nil; i%grouped == 0 {
				count := int32(1 + r.IntN(grouped))
				q.snap.PodGroups = append(q.snap.PodGroups, cluster.PodGroup{Name: p.Group, Priority: &priority, Mode: mode, MinCount: &count})
			}
		}
		switch {
		case tied == 1 && i%5 == 0:
			p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: []string{hostKey, rackKey, "zone"}[i%3], Selector: matching("i", fmt.Sprint(i+1))}}
		case tied == 2:
			p.Ports = []cluster.HostPort{{Port: int32(1000 + r.IntN(300))}}
		case tied == 3 && i%5 == 0:
			p.Affinity = []cluster.AffinityTerm{{TopologyKey: rackKey, Selector: matching("app", fmt.Sprint("a", (i+1)%37))}}
		}
		q.snap.Pods = append(q.snap.Pods, p)
	}
	for i := range budgets {
		q.snap.Budgets = append(q.snap.Budgets, disruption.Budget{Name: fmt.Sprint("b", i), Selector: matching("budget", fmt.Sprint(i)), Allowed: int32(r.IntN(5))})
	}
	priority, members, ask, differ := int32(pick(1000, 1000, 1000, priorities/2)), min(pick(1, 1, 1, 8, 64, 300, 1000), nodes), pick(300, 900, 1000), pick(0, 1)
	spread, apart := pick(0, 0, 1) > 0, pick(0, 0, 1) > 0
	for i := range members {
		p := cluster.Pod{
			Name: fmt.Sprint("m", i), Priority: &priority, Labels: map[string]string{"gang": "x", "app": "a1", "i": fmt.Sprint("m", i*differ)},
			Requests: cluster.Resources{cluster.CPU: int64(ask - i*differ%100), cluster.Memory: int64(200 + i*differ%50)},
		}
		if spread {
			p.Spread = []cluster.Spread{{MaxSkew: 2, TopologyKey: rackKey, Selector: matching("gang", "x")}}
		}
		if apart {
			p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: hostKey, Selector: matching("gang", "x")}}
		}
		if tied == 2 {
			p.Ports = []cluster.HostPort{{Port: int32(1000 + i)}}
		}
		q.p.Pods = append(q.p.Pods, p)
	}
	if members > 1 {
		count := int32(members * pick(3, 4, 4) / 4)
		q.p.Group = &cluster.PodGroup{Name: "gang", Priority: &priority, MinCount: &count}
		if r.IntN(2) == 0 {
			q.p.Group.Topology = []cluster.TopologyConstraint{{Key: rackKey, Preferred: r.IntN(3) == 0}}
		}
		for i := range q.p.Pods {
			q.p.Pods[i].Group, q.p.Pods[i].Priority = "gang", nil
		}
	}
	return fmt.Sprintf("nodes=%d/each=%d/racks=%d/groups=%d-%s-%d/budgets=%d/tied=%d/members=%d", nodes, perNode, racks, grouped, mode, lie, budgets, tied, members), q
}

// drawTied is a drawn cluster in which a fifth of the pods have terms about others of their app, and some about one pod besides.
func drawTied(seed uint64, size int) (name string, q hostileQuestion) {
	name, q = drawCluster(seed, size)
	kind := rand.New(rand.NewPCG(seed, 3)).IntN(3)
	for i := 1; i < len(q.snap.Pods); i += 5 {
		p := &q.snap.Pods[i]
		app := matching("app", p.Labels["app"])
		switch kind {
		case 0:
			p.Spread = []cluster.Spread{{MaxSkew: 1, TopologyKey: rackKey, Selector: app}}
		case 1:
			p.Affinity = append(p.Affinity, cluster.AffinityTerm{TopologyKey: rackKey, Selector: app})
		case 2:
			p.AntiAffinity = append(p.AntiAffinity, cluster.AffinityTerm{TopologyKey: hostKey, Selector: app})
		}
	}
	return fmt.Sprintf("%s/to-app=%d", name, kind), q
}

// drawQuota is a workload beside others of queues in cohorts, of several pod sets and flavors.
func drawQuota(seed uint64, size int) (name string, q hostileQuestion) {
	r := rand.New(rand.NewPCG(seed, 1))
	pick := func(list ...int) int { return list[r.IntN(len(list))] }
	queues, flavors, sets, workloads, resources, cohorts := pick(1, 2, 3, 10, 40), pick(1, 4, 16, 64), pick(1, 2, 4, 8), size/pick(1, 4, 15, 50), 1+r.IntN(4), pick(1, 3, 5)
	names := []string{cluster.CPU, cluster.Memory, "x", "y"}[:resources]
	each1 := (0.8 + r.Float64()/2) * float64(queues*flavors*20_000) / float64(workloads*(1+sets)) // so that they use about what there is
	q.snap.Time = time.Unix(1_000_000, 0)
	var group cluster.ResourceGroup
	for f := range flavors {
		quotas := each(resources, func(i int) cluster.ResourceQuota { return cluster.ResourceQuota{Resource: names[i], Nominal: 10_000} })
		q.snap.ResourceFlavors = append(q.snap.ResourceFlavors, cluster.ResourceFlavor{Name: fmt.Sprint("f", f)})
		group.Flavors = append(group.Flavors, cluster.FlavorQuotas{Flavor: fmt.Sprint("f", f), Resources: quotas})
	}
	choice := func() cluster.FlavorChoice {
		return []cluster.FlavorChoice{cluster.StopSearch, cluster.TryNextFlavor}[r.IntN(2)]
	}
	for i := range queues {
		name := fmt.Sprint("q", i)
		q.snap.ClusterQueues = append(q.snap.ClusterQueues, cluster.ClusterQueue{
			Name: name, Cohort: fmt.Sprint("c", i%cohorts), Groups: []cluster.ResourceGroup{group}, Fungibility: cluster.Fungibility{WhenCanPreempt: choice(), WhenCanBorrow: choice()},
			Preemption: cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority, ReclaimWithinCohort: cluster.AnyPriority, BorrowWithinCohort: &cluster.BorrowWithinCohort{}},
		})
		q.snap.LocalQueues = append(q.snap.LocalQueues, cluster.LocalQueue{Name: name, ClusterQueue: name})
	}
	for i := range cohorts {
		q.snap.Cohorts = append(q.snap.Cohorts, cluster.Cohort{Name: fmt.Sprint("c", i), Parent: "all"})
	}
	set := func(i int, flavor string, amount func() float64) cluster.PodSet {
		s := cluster.PodSet{Name: fmt.Sprint("s", i), Count: 1, Requests: cluster.Resources{}}
		for _, name := range names {
			if s.Requests[name] = int64(amount()); flavor != "" {
				if s.Flavors == nil {
					s.Flavors = map[string]string{}
				}
				s.Flavors[name] = flavor
			}
		}
		return s
	}
	for i := range workloads {
		queue := fmt.Sprint("q", r.IntN(queues))
		w := cluster.Workload{Name: fmt.Sprint("w", i), Queue: queue, Priority: int32(r.IntN(10)), Admission: &cluster.Admission{ClusterQueue: queue, Reserved: q.snap.Time.Add(-time.Duration(i) * time.Minute)}}
		for k := range 1 + r.IntN(sets) {
			w.PodSets = append(w.PodSets, set(k, fmt.Sprint("f", r.IntN(flavors)), func() float64 { return each1 * (0.5 + r.Float64()) }))
		}
		q.snap.Workloads = append(q.snap.Workloads, w)
	}
	asks := cluster.Workload{Name: "asks", Queue: "q0", Priority: int32(4 + r.IntN(7))}
	for k := range sets {
		asks.PodSets = append(asks.PodSets, set(k, "", func() float64 { return 2_000 + 8_000*r.Float64() }))
	}
	q.snap.Workloads = append(q.snap.Workloads, asks)
	q.p = cluster.Preemptor{Kind: cluster.KindWorkload, Name: "asks"}
	return fmt.Sprintf("queues=%d/flavors=%d/sets=%d/workloads=%d/resources=%d/cohorts=%d", queues, flavors, sets, workloads, resources, cohorts), q
}

// drawnOptions are those of seed, of the ones that demand more.
func drawnOptions(seed uint64) (name string, o preemption.Options) {
	more := []struct {
		name string
		o    preemption.Options
	}{
		{"levels", preemption.Options{Search: preemption.Exact, Objective: []preemption.CriterionName{preemption.CriterionLevels}}},
		{"moves-in-a-chain-by-levels", preemption.Options{Search: preemption.Exact, Limits: preemption.Limits{OnlyMoves: true}, Chain: 4, Objective: []preemption.CriterionName{preemption.CriterionLevels}}},
		{"everything", preemption.Options{Search: preemption.Exact, Proof: true, Candidates: true, LowestLevel: true, Explain: true, Cost: preemption.CostOptions{Objective: true, Tariff: disruption.Tariff{Fixed: 1, Pods: 3}}}},
	}
	if i := int(seed % uint64(len(demanding)+len(more))); i < len(demanding) {
		return demanding[i].name, demanding[i].o
	} else {
		return more[i-len(demanding)].name, more[i-len(demanding)].o
	}
}

// drawn are the ways to draw, with the size of each in full.
var drawn = []struct {
	name string
	size int
	draw func(seed uint64, size int) (string, hostileQuestion)
}{{"cluster", 5_000, drawCluster}, {"tied", 2_000, drawTied}, {"quota", 2_000, drawQuota}}

// TestDrawn: of small ones the answers hold.
func TestDrawn(t *testing.T) {
	told := map[preemption.Verdict]int{}
	for seed := range uint64(60) {
		for i, d := range drawn {
			if i == 1 && seed%3 > 0 { // of ties that take long, some
				continue
			}
			name, q := d.draw(seed, 50)
			options, o := drawnOptions(seed)
			r, err := o.Preempt(q.p, &q.snap)
			if errors.Is(err, cluster.ErrInvalid) { // the early text has no such groups
				continue
			}
			require.NoError(t, err, "%d, %s, %s", seed, name, options)
			require.Empty(t, check.Verify(&q.snap, o, q.p, r), "%d, %s, %s", seed, name, options)
			told[r.Verdict]++
		}
	}
	require.Greater(t, told[preemption.Feasible], 20)
	require.Greater(t, told[preemption.Infeasible], 10)
}

// TestSearchesBesidePlacementsEnd: of thousands of placements, with two or three groups in the way of each, few are searched for victims that
// disrupt less once the steps are taken.
func TestSearchesBesidePlacementsEnd(t *testing.T) {
	_, q := drawCluster(1607, 30)
	o := preemption.Options{Search: preemption.Exact, SearchSteps: 200, Objective: []preemption.CriterionName{preemption.CriterionStranded}}
	r, err := o.Preempt(q.p, &q.snap)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict)
	require.Empty(t, check.Verify(&q.snap, o, q.p, r))
	require.False(t, r.Stats.Exact)
	require.Less(t, r.Stats.Searched, 2_000)
}

// BenchmarkDrawn is what they take in full.
func BenchmarkDrawn(b *testing.B) {
	draws := uint64(100)
	if testing.Short() {
		draws = 1
	}
	for seed := range draws {
		for _, d := range drawn {
			size := d.size
			if testing.Short() {
				size = 50
			}
			name, q := d.draw(seed, size)
			options, o := drawnOptions(seed)
			b.Run(fmt.Sprintf("%s/seed=%d/options=%s/%s", d.name, seed, options, name), func(b *testing.B) {
				for b.Loop() {
					_, _ = o.Preempt(q.p, &q.snap) // a typed error is an answer
				}
			})
		}
	}
}
