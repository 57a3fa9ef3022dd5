package bench_test

import (
	"fmt"
	"testing"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

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
