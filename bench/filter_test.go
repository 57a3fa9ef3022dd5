package bench_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// BenchmarkFilter: a decision about a pod that evicts others, of a shape that was seen, with
// a filter that keeps it off every third node, with a rule that lets only so many pods of one team onto a node,
// as a Colocation of nodes, or of racks of 20, and as a constraint that declares nothing, and without any; with changes, a pod leaves and comes back before each.
func BenchmarkFilter(b *testing.B) {
	for _, s := range []struct{ nodes, pods int }{{100, 3_000}, {5_000, 150_000}} {
		snap := gen.Fleet(s.nodes, s.pods/s.nodes, 1, gen.Uniform)
		for i := range snap.Nodes {
			snap.Nodes[i].Labels = map[string]string{"team": []string{"", "vision", "speech"}[i%3], "rack": fmt.Sprint("r", i/20)}
		}
		ask := gen.FleetPod(1)
		ask.Pods[0].Labels = map[string]string{"app": "train", "team": "vision", "pod-template-hash": "6d4cf56db6"}
		ofTeam := func(p *preemption.Pod) bool { return p.Labels["team"] != "" }
		teams := domain.Colocation{Check: "teams", Of: ofTeam, Monotone: true,
			Allows: func(_ *preemption.Pod, _ *preemption.Node, others []*preemption.Pod) bool {
				there := 0
				for _, o := range others {
					if ofTeam(o) {
						there++
					}
				}
				return there < 2
			}}
		racks := teams
		racks.TopologyKey = "rack"
		for _, hook := range []struct {
			name  string
			hooks *preemption.Hooks
		}{
			{"none", nil},
			{"filter", &preemption.Hooks{Filter: func(p *preemption.Pod, n *preemption.Node) bool {
				return n.Labels["team"] == "" || n.Labels["team"] == p.Labels["team"]
			}}},
			{"colocation", &preemption.Hooks{Constraints: []domain.Constraint{teams}}},
			{"racks", &preemption.Hooks{Constraints: []domain.Constraint{racks}}},
			{"undeclared", &preemption.Hooks{Constraints: []domain.Constraint{struct{ domain.Constraint }{teams}}}},
		} {
			for _, changes := range []bool{false, true} {
				b.Run(fmt.Sprintf("hook=%s/changes=%t/nodes=%d/pods=%d", hook.name, changes, s.nodes, s.pods), func(b *testing.B) {
					pl, err := preemption.NewPlanner(&snap, preemption.Options{Hooks: hook.hooks})
					if err != nil {
						b.Fatal(err)
					}
					c := &changed{Planner: pl, b: b, snap: snap}
					decide := func() {
						if d, err := pl.Decide(ask); err != nil || d.Verdict != preemption.Feasible {
							b.Fatal(d, err)
						}
					}
					for range 3 { // until the shape is known
						decide()
					}
					c.decideAgain(changes, decide)
				})
			}
		}
	}
}

// BenchmarkPrefer: a decision about a pod that fits on many nodes, of a shape that was seen,
// while the cluster changes: a pod leaves and comes back before each. With none it goes to
// the first node by name.
func BenchmarkPrefer(b *testing.B) {
	for _, s := range []struct{ nodes, pods int }{{100, 3_000}, {5_000, 150_000}} {
		snap := gen.Fleet(s.nodes, s.pods/s.nodes, 1, gen.Uniform)
		for i := range snap.Nodes {
			snap.Nodes[i].Allocatable[cluster.CPU] *= 2
		}
		ask := gen.FleetPod(1)
		for _, prefer := range []preemption.Preference{"", preemption.LeastAllocated, preemption.MostAllocated} {
			for _, changes := range []bool{false, true} {
				b.Run(fmt.Sprintf("prefer=%s/changes=%t/nodes=%d/pods=%d", prefer, changes, s.nodes, s.pods), func(b *testing.B) {
					pl, err := preemption.NewPlanner(&snap, preemption.Options{Prefer: prefer})
					if err != nil {
						b.Fatal(err)
					}
					c := &changed{Planner: pl, b: b, snap: snap}
					c.decideAgain(changes, func() {
						if d, err := pl.Decide(ask); err != nil || d.Verdict != preemption.Fits {
							b.Fatal(d, err)
						}
					})
				})
			}
		}
	}
}

// decideAgain measures decide; with changes, a pod leaves and comes back before each.
func (c *changed) decideAgain(changes bool, decide func()) {
	i := 0
	c.b.ReportAllocs()
	for c.b.Loop() {
		if changes {
			pod := c.pod(i)
			c.must(c.Remove(refOf(pod)))
			c.must(c.SetPod(pod))
			i++
		}
		decide()
	}
}

// BenchmarkOptions decides about a pod of a shape that is known, under options that say who
// is kept, what evictions cost, or who comes first, or where pods are nominated to 200 nodes:
// again, or once a pod or the time has changed, which counts, too.
func BenchmarkOptions(b *testing.B) {
	work := disruption.Tariff{Work: map[string]disruption.Rate{cluster.CPU: {Price: 1}}}
	suits := func(*preemption.Pod, *cluster.Node) bool { return true }
	for _, c := range []struct {
		name string
		o    preemption.Options
	}{
		{"none", preemption.Options{}},
		{"nominated", preemption.Options{}},
		{"guaranteed", preemption.Options{Guards: preemption.Guards{GuaranteedSeconds: 60}}},
		{"criterion", preemption.Options{Cost: preemption.CostOptions{Tariff: work, Criterion: 1}}},
		{"importance", preemption.Options{Cost: preemption.CostOptions{Tariff: work, Importance: true}}},
		{"movable", preemption.Options{PreferMovable: true}},
		{"objective", preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionPods, preemption.CriterionOverruns}}},
		{"limits", preemption.Options{Limits: preemption.Limits{Pods: 3}}},
		{"filter", preemption.Options{Guards: preemption.Guards{GuaranteedSeconds: 60}, Hooks: &preemption.Hooks{Filter: suits}}},
	} {
		for _, nodes := range []int{100, 5_000} {
			if testing.Short() && nodes > 100 {
				continue
			}
			for _, after := range []string{"nothing", "pod", "tick"} {
				b.Run(fmt.Sprintf("option=%s/after=%s/nodes=%d/pods=%d", c.name, after, nodes, 30*nodes), func(b *testing.B) {
					snap := gen.Fleet(nodes, 30, seed, gen.Uniform)
					pl, err := preemption.NewPlanner(&snap, c.o)
					l := &changed{pl, b, snap, snap.Time}
					l.must(err)
					for i := 0; i < min(nodes, 200) && c.name == "nominated"; i++ {
						p := gen.FleetPod(uint64(i)).Pods[0]
						p.Name, p.NominatedNode = fmt.Sprint("nominated-", i), l.node(i).Name
						l.must(pl.SetPod(p))
					}
					change := func(int) {}
					if i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == after }); i >= 0 {
						change = func(turn int) { kinds[i].change(l, turn) }
					}
					p := gen.FleetPod(1)
					decide := func() {
						_, err := pl.Decide(p)
						l.must(err)
					}
					for i := range 30 { // the first questions look at all nodes
						change(i)
						decide()
					}
					b.ReportAllocs()
					for i := 30; b.Loop(); i++ {
						change(i)
						decide()
					}
				})
			}
		}
	}
}

// Labels of the nodes of a tied-up cluster: host names, racks of 40, 16 zones.
const (
	hostKey = "kubernetes.io/hostname"
	rackKey = "topology.kubernetes.io/rack"
	zoneKey = "topology.kubernetes.io/zone"
)

// tiedUp is a cluster of workloads with 100 pods each, a fifth of which are tied: to
// no other pod of theirs on the same host or rack, or to a namespace.
func tiedUp(s size, shape gen.Shape) cluster.Snapshot {
	snap := gen.Fleet(s.nodes, s.pods/s.nodes, seed, shape)
	for i := range snap.Nodes {
		snap.Nodes[i].Labels = map[string]string{
			hostKey: snap.Nodes[i].Name, rackKey: fmt.Sprintf("r%d", i/40), zoneKey: fmt.Sprintf("z%d", i%16),
		}
	}
	numWorkloads := max(s.pods/100, 1)
	for i := range snap.Pods {
		p := &snap.Pods[i]
		w := i * 7919 % numWorkloads
		app := fmt.Sprintf("app-%04d", w)
		p.Labels = map[string]string{"app": app, "pod-template-hash": app + "-1", "team": fmt.Sprintf("team-%02d", w%50)}
		if w%10 == 9 {
			p.Labels["apps.kubernetes.io/pod-index"] = fmt.Sprint(i / numWorkloads)
		}
		switch w % 5 {
		case 0:
			key := hostKey
			if w%15 == 0 {
				key = rackKey
			}
			p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: key, Selector: matching("app", app)}}
			if w == 0 { // one of them keeps away from the preemptor
				p.AntiAffinity = append(p.AntiAffinity, cluster.AffinityTerm{TopologyKey: hostKey, Selector: matching("tier", "front")})
			}
		}
	}
	return snap
}

func matching(key, value string) *disruption.Selector {
	return &disruption.Selector{MatchLabels: map[string]string{key: value}}
}

// ties are what the preemptor is tied to.
var ties = []struct {
	name string
	tie  func(p *cluster.Pod)
}{
	{"none", func(*cluster.Pod) {}},
	{"repelled", func(p *cluster.Pod) { p.Labels["tier"] = "front" }},
	{"anti-host", func(p *cluster.Pod) {
		p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: hostKey, Selector: matching("team", "team-07")}}
	}},
	{"affinity-zone", func(p *cluster.Pod) {
		p.Affinity = []cluster.AffinityTerm{{TopologyKey: zoneKey, Selector: matching("app", "app-0003")}}
	}},
	{"spread", func(p *cluster.Pod) {
		p.Labels["app"] = "app-0003"
		p.Spread = []cluster.Spread{
			{MaxSkew: 1, TopologyKey: hostKey, Selector: matching("app", "app-0003")},
			{MaxSkew: 2, TopologyKey: zoneKey, Selector: matching("team", "team-07")},
		}
	}},
	{"affinity+spread", func(p *cluster.Pod) {
		p.Affinity = []cluster.AffinityTerm{{TopologyKey: zoneKey, Selector: matching("app", "app-0003")}}
		p.Spread = []cluster.Spread{{MaxSkew: 2, TopologyKey: zoneKey, Selector: matching("team", "team-07")}}
	}},
	{"everything", func(p *cluster.Pod) {
		p.Labels["tier"] = "front"
		p.Affinity = []cluster.AffinityTerm{{TopologyKey: zoneKey, Selector: matching("app", "app-0003")}}
		p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: hostKey, Selector: matching("team", "team-07")}}
		p.Spread = []cluster.Spread{{MaxSkew: 2, TopologyKey: zoneKey, Selector: matching("team", "team-07")}}
	}},
}

func tied(tie func(*cluster.Pod)) cluster.Preemptor {
	p := gen.FleetPod(seed)
	p.Pods[0].Requests[cluster.CPU] = 3_500
	p.Pods[0].Labels = map[string]string{}
	tie(&p.Pods[0])
	return p
}

// BenchmarkConstraints is one question to a compiled snapshot, over all nodes, in a
// cluster where a fifth of the pods have anti-affinity terms. With shape=tied all pods
// have one priority, so that no node is left early for the priority that has to go.
func BenchmarkConstraints(b *testing.B) {
	for _, shape := range []gen.Shape{gen.Uniform, gen.Tied} {
		b.Run(fmt.Sprintf("shape=%s", shape), func(b *testing.B) { benchmarkConstraints(b, shape) })
	}
}

func benchmarkConstraints(b *testing.B, shape gen.Shape) {
	for _, s := range sizes() {
		snap := tiedUp(s, shape)
		planner, err := preemption.NewPlanner(&snap, preemption.Options{})
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range ties {
			p := tied(c.tie)
			b.Run(fmt.Sprintf("tie=%s/%s", c.name, s), func(b *testing.B) {
				mustPreempt(b, planner, p) // the columns that are made once; see BenchmarkColumns
				b.ReportAllocs()
				numVictims := 0
				for b.Loop() {
					r, err := planner.Preempt(p)
					if err != nil {
						b.Fatal(err)
					}
					if r.Verdict != preemption.Feasible {
						b.Fatal(r.Verdict, r.Message)
					}
					numVictims += len(r.Victims)
				}
				b.ReportMetric(float64(numVictims)/float64(b.N), "victims/op")
				b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(s.nodes), "ns/node")
			})
		}
	}
}

// BenchmarkColumns is what the first question with terms pays once for a compiled
// snapshot: label sets, and distinct anti-affinity terms.
func BenchmarkColumns(b *testing.B) {
	for _, s := range sizes() {
		snap := tiedUp(s, gen.Uniform)
		for _, column := range []struct {
			name  string
			build func(*cluster.Index) int
		}{
			{"label-sets", func(ix *cluster.Index) int { return ix.LabelSets().Len() }},
			{"anti-terms", func(ix *cluster.Index) int { return ix.AntiTerms().Len() }},
		} {
			b.Run(fmt.Sprintf("column=%s/%s", column.name, s), func(b *testing.B) {
				b.ReportAllocs()
				distinct := 0
				for b.Loop() {
					b.StopTimer()
					ix, err := cluster.NewIndex(&snap)
					if err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
					distinct = column.build(ix)
				}
				b.ReportMetric(float64(distinct), "distinct")
			})
		}
	}
}

// BenchmarkConstraintState is Prepare, and then one pod leaving, a check and its
// return, for each constraint in turn.
func BenchmarkConstraintState(b *testing.B) {
	for _, s := range sizes() {
		snap := tiedUp(s, gen.Uniform)
		ix, err := cluster.NewIndex(&snap)
		if err != nil {
			b.Fatal(err)
		}
		p := tied(ties[len(ties)-1].tie)
		members := []*cluster.Pod{&p.Pods[0]}
		for _, c := range []domain.Constraint{domain.InterPodAffinity(), domain.TopologySpread()} {
			state, err := c.Prepare(ix, members)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("constraint=%s/step=prepare/%s", c.Name(), s), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := c.Prepare(ix, members); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("constraint=%s/step=remove-fits-return/%s", c.Name(), s), func(b *testing.B) {
				b.ReportAllocs()
				i, fits := 0, 0
				for b.Loop() {
					p := cluster.PodID(i * 7919 % ix.NumPods())
					n := ix.NodeOf(p)
					state.Remove(p, n)
					if state.Fits(0, n).OK() {
						fits++
					}
					state.Return(p, n)
					i++
				}
				b.ReportMetric(float64(fits)/float64(i), "fits/op")
			})
		}
	}
}
