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
// halls, one of a single node, in one rack, or beside groups that go as a whole; and gangs below so many pods that not all of their
// members have room.
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
	low := func(p *preemption.Preemptor) {
		priority := int32(1)
		p.Group.Priority = &priority
		for i := range p.Pods {
			p.Pods[i].Priority = &priority
			p.Pods[i].Requests[cluster.CPU] += 6_000
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
		{"equal-low", []func(p *preemption.Preemptor){low}},
		{"2-sizes-low", []func(p *preemption.Preemptor){sizes(2), low}},
		{"8-sizes-low", []func(p *preemption.Preemptor){sizes(8), low}},
		{"all-sizes-low", []func(p *preemption.Preemptor){sizes(256), low}},
		{"beside-groups", nil},
	}
	for _, s := range []struct{ nodes, members int }{{100, 8}, {1_000, 64}, {5_000, 256}} {
		if testing.Short() && s.nodes > 100 {
			continue
		}
		pl := shapesPlanner(b, s.nodes, 0)
		for _, c := range cases {
			if c.name == "beside-groups" {
				pl = shapesPlanner(b, s.nodes, 4)
			}
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

// shapesPlanner has a fleet whose nodes have hosts, zones, racks and halls. With span, half of the pods form groups over so many
// nodes that go as a whole.
func shapesPlanner(b *testing.B, nodes, span int) *preemption.Planner {
	b.Helper()
	snap, _ := gangQuestion{shape: gen.Uniform, mode: span}.ask(size{nodes, 30 * nodes}, 1)
	for i := range snap.Nodes {
		snap.Nodes[i].Labels = map[string]string{
			"host": snap.Nodes[i].Name, "zone": fmt.Sprintf("z%d", i%4), "rack": fmt.Sprintf("r%04d", i/20),
			"hall": []string{"large", "small"}[min(1, (i+1)/nodes)],
		}
	}
	pl, err := preemption.NewPlanner(&snap, preemption.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return pl
}
