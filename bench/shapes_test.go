package bench_test

import (
	"fmt"
	"testing"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// BenchmarkShapes: what real jobs ask for: gangs of several shapes, one a host, spread over zones or over two
// halls, one of a single node, in one rack, or beside groups that go as a whole.
func BenchmarkShapes(b *testing.B) {
	ours := &disruption.Selector{MatchLabels: map[string]string{"job": "gang"}}
	apart := func(p *preemption.Preemptor) {
		for i := range p.Pods {
			p.Pods[i].Labels = map[string]string{"job": "gang"}
			p.Pods[i].AntiAffinity = []cluster.AffinityTerm{{TopologyKey: "host", Selector: ours}}
		}
	}
	over := func(key string) func(p *preemption.Preemptor) {
		return func(p *preemption.Preemptor) {
			for i := range p.Pods {
				p.Pods[i].Labels = map[string]string{"job": "gang"}
				p.Pods[i].Spread = []cluster.Spread{{MaxSkew: 1, TopologyKey: key, Selector: ours}}
			}
		}
	}
	spread := over("zone")
	sizes := func(n int) func(p *preemption.Preemptor) {
		return func(p *preemption.Preemptor) {
			for i := range p.Pods {
				p.Pods[i].Requests[cluster.CPU] += int64(i%n) * 16_000 / int64(n)
			}
		}
	}
	cases := []struct {
		name string
		edit []func(p *preemption.Preemptor)
	}{
		{"equal", nil},
		{"2-sizes", []func(p *preemption.Preemptor){sizes(2)}},
		{"8-sizes", []func(p *preemption.Preemptor){sizes(8)}},
		{"all-sizes", []func(p *preemption.Preemptor){sizes(256)}},
		{"one-a-host", []func(p *preemption.Preemptor){apart}},
		{"zones", []func(p *preemption.Preemptor){spread}},
		{"one-a-host+zones", []func(p *preemption.Preemptor){apart, spread}},
		{"one-a-host+halls", []func(p *preemption.Preemptor){apart, over("hall")}}, // there is no place for all
		{"all-sizes+rack", []func(p *preemption.Preemptor){sizes(256), func(p *preemption.Preemptor) {
			p.Group.Topology = []cluster.TopologyConstraint{{Key: "rack"}}
		}}},
	}
	for _, s := range []struct{ nodes, members int }{{100, 8}, {1_000, 64}, {5_000, 256}} {
		if testing.Short() && s.nodes > 100 {
			continue
		}
		snap := gen.Fleet(s.nodes, 30, seed, gen.Uniform)
		for i := range snap.Nodes {
			snap.Nodes[i].Labels = map[string]string{
				"host": snap.Nodes[i].Name, "zone": fmt.Sprintf("z%d", i%4), "rack": fmt.Sprintf("r%04d", i/20),
				"hall": []string{"large", "small"}[min(1, (i+1)/s.nodes)],
			}
		}
		pl, err := preemption.NewPlanner(&snap, preemption.Options{})
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range cases {
			members := s.members
			if c.name == "all-sizes+rack" {
				members = min(members, 64)
			}
			b.Run(fmt.Sprintf("case=%s/members=%d/nodes=%d/pods=%d", c.name, members, s.nodes, 30*s.nodes), func(b *testing.B) {
				p := gang(members, 4_000)
				for i := range p.Pods {
					p.Pods[i].Requests[cluster.CPU] = 4_000
				}
				for _, edit := range c.edit {
					edit(&p)
				}
				pods := 0
				for b.Loop() {
					r := mustPreempt(b, pl, p)
					for _, v := range r.Victims {
						pods += len(v.Pods)
					}
				}
				b.ReportMetric(float64(pods)/float64(b.N), "victims/op")
			})
		}
	}
}
