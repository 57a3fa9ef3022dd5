package domain_test

import (
	"testing"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

func TestTopologySpreadCorners(t *testing.T) {
	zones := []string{"a1 zone=a", "a2 zone=a", "b1 zone=b", "c1"}
	web := labelled("app=web")
	byZone := cluster.Spread{MaxSkew: 1, TopologyKey: "zone", Selector: app("web")}
	with := func(change func(s *cluster.Spread)) func(*cluster.Pod) {
		s := byZone
		change(&s)
		return spread(s)
	}
	three := []cluster.Pod{pod("p@a1", web), pod("q@a2", web), pod("r@b1", web)}
	for _, k := range []corner{
		{
			name: "no constraint, no say", nodes: zones, pods: three,
			members: []cluster.Pod{pod("m", web)}, want: "----",
		}, {
			name: "the fuller zone is out, a node without the key for good", nodes: zones, pods: three,
			members: []cluster.Pod{pod("m", web, spread(byZone))}, want: "xx.X",
		}, {
			name: "a pod that does not match itself counts for nothing", nodes: zones, pods: three,
			members: []cluster.Pod{pod("m", spread(byZone))}, want: "...X",
		}, {
			name: "a wider skew", nodes: zones, pods: three,
			members: []cluster.Pod{pod("m", web, with(func(s *cluster.Spread) { s.MaxSkew = 2 }))}, want: "...X",
		}, {
			name: "evicting in the fuller zone helps", nodes: zones, pods: three,
			members: []cluster.Pod{pod("m", web, spread(byZone))}, history: []string{"-q"}, want: "...X",
		}, {
			name: "evicting in the emptiest one hurts the others", nodes: zones, pods: three,
			members: []cluster.Pod{pod("m", web, spread(byZone))}, history: []string{"-q", "-r"}, want: "xx.X",
		}, {
			name: "and back", nodes: zones, pods: three,
			members: []cluster.Pod{pod("m", web, spread(byZone))}, history: []string{"-q", "-r", "-p", "+r", "+p"}, want: "...X",
		}, {
			name: "other namespaces and other pods do not count", nodes: zones,
			pods:    append([]cluster.Pod{pod("other/x@b1", web), pod("y@b1", labelled("app=db"))}, three...),
			members: []cluster.Pod{pod("m", web, spread(byZone))}, want: "xx.X",
		}, {
			name: "a nil selector counts nobody", nodes: zones, pods: three,
			members: []cluster.Pod{pod("m", web, with(func(s *cluster.Spread) { s.Selector = nil }))}, want: "...X",
		}, {
			name: "fewer domains than wanted: the emptiest counts as empty", nodes: zones, pods: three,
			members: []cluster.Pod{pod("m", web, with(func(s *cluster.Spread) { s.MinDomains = 3 }))}, want: "xxxX",
		}, {
			name: "as many domains as wanted", nodes: zones, pods: three,
			members: []cluster.Pod{pod("m", web, with(func(s *cluster.Spread) { s.MinDomains = 2 }))}, want: "xx.X",
		}, {
			name: "label keys narrow the selector to the member's own values", nodes: zones,
			pods: append([]cluster.Pod{pod("x@b1", labelled("app=web", "v=2"))},
				pod("p@a1", labelled("app=web", "v=1")), pod("q@b1", web)),
			members: []cluster.Pod{pod("m", labelled("app=web", "v=1"), with(func(s *cluster.Spread) { s.MatchLabelKeys = []string{"v", "w"} }))},
			want:    "xx.X",
		}, {
			name: "a node that the member may not use is no domain", nodes: []string{"a1 zone=a disk=ssd", "b1 zone=b disk=ssd", "c1 zone=c"},
			pods:    []cluster.Pod{pod("p@a1", web), pod("q@b1", web), pod("r@b1", web)},
			members: []cluster.Pod{pod("m", web, spread(byZone), func(p *cluster.Pod) { p.NodeSelector = labels("disk=ssd") })}, want: ".x.",
		}, {
			name: "unless node affinity is ignored", nodes: []string{"a1 zone=a disk=ssd", "b1 zone=b disk=ssd", "c1 zone=c"},
			pods: []cluster.Pod{pod("p@a1", web), pod("q@b1", web), pod("r@b1", web)},
			members: []cluster.Pod{pod("m", web, with(func(s *cluster.Spread) { s.NodeAffinityPolicy = cluster.Ignore }),
				func(p *cluster.Pod) { p.NodeSelector = labels("disk=ssd") })},
			want: "xx.",
		}, {
			name: "taints are ignored", nodes: []string{"a1 zone=a", "b1 zone=b taint=ml"},
			pods:    []cluster.Pod{pod("p@a1", web)},
			members: []cluster.Pod{pod("m", web, spread(byZone))}, want: "x.",
		}, {
			name: "unless they are honoured", nodes: []string{"a1 zone=a", "b1 zone=b taint=ml"},
			pods:    []cluster.Pod{pod("p@a1", web)},
			members: []cluster.Pod{pod("m", web, with(func(s *cluster.Spread) { s.NodeTaintsPolicy = cluster.Honor }))}, want: "..",
		}, {
			name: "pods on nodes that are no domain do not count, nor when they leave", nodes: []string{"a1 zone=a disk=ssd", "a2 zone=a", "b1 zone=b disk=ssd"},
			pods:    []cluster.Pod{pod("p@a1", web), pod("q@a2", web)},
			members: []cluster.Pod{pod("m", web, spread(byZone), func(p *cluster.Pod) { p.NodeSelector = labels("disk=ssd") })},
			history: []string{"-q"}, want: "xx.",
		}, {
			name: "no domain at all: everything counts as empty", nodes: []string{"a1 zone=a", "b1 zone=b"},
			pods:    []cluster.Pod{pod("p@a1", web)},
			members: []cluster.Pod{pod("m", web, spread(byZone), func(p *cluster.Pod) { p.NodeSelector = labels("disk=ssd") })}, want: "..",
		}, {
			name: "a domain needs the keys of all constraints", nodes: []string{"a1 zone=a", "b1 zone=b without=host", "c1 zone=c"},
			pods:    []cluster.Pod{pod("p@a1", web), pod("q@c1", web)},
			members: []cluster.Pod{pod("m", web, spread(byZone), spread(cluster.Spread{MaxSkew: 1, TopologyKey: "host"}))}, want: ".X.",
		}, {
			name: "the first constraint that fails decides", nodes: []string{"a1 zone=a without=host", "b1 zone=b"},
			pods:    []cluster.Pod{pod("p@a1", web), pod("q@a1", web)},
			members: []cluster.Pod{pod("m", web, spread(byZone), spread(cluster.Spread{MaxSkew: 1, TopologyKey: "host"}))}, want: "X.",
		}, {
			name: "a terminating pod does not count", nodes: zones,
			pods:    []cluster.Pod{pod("p@a1", web), pod("q@a2", web, terminating), pod("r@b1", web)},
			members: []cluster.Pod{pod("m", web, spread(byZone))}, want: "...X",
		}, {
			// zone a is taken for one pod fewer than none
			name: "but its removal takes one off, as upstream books it", nodes: zones,
			pods:    []cluster.Pod{pod("q@a2", web, terminating), pod("r@b1", web)},
			members: []cluster.Pod{pod("m", web, spread(byZone))}, history: []string{"-q"}, want: "..xX",
		}, {
			name: "and its return puts it back", nodes: zones,
			pods:    []cluster.Pod{pod("q@a2", web, terminating), pod("r@b1", web)},
			members: []cluster.Pod{pod("m", web, spread(byZone))}, history: []string{"-q", "+q", "-r"}, want: "...X",
		}, {
			name: "an empty selector counts nobody who runs", nodes: zones, pods: three,
			members: []cluster.Pod{pod("m", web, with(func(s *cluster.Spread) { s.Selector = &disruption.Selector{} }))}, want: "...X",
		}, {
			name: "but everybody who leaves", nodes: zones, pods: three,
			members: []cluster.Pod{pod("m", web, with(func(s *cluster.Spread) { s.Selector = &disruption.Selector{} }))},
			history: []string{"-r"}, want: "xx.X",
		}, {
			name: "an empty selector with label keys is not empty", nodes: zones, pods: three,
			members: []cluster.Pod{pod("m", web, with(func(s *cluster.Spread) {
				s.Selector, s.MatchLabelKeys = &disruption.Selector{}, []string{"app"}
			}))}, want: "xx.X",
		}, {
			name: "for a gang all is counted anew: terminating pods never", nodes: zones,
			pods:    []cluster.Pod{pod("q@a2", web, terminating), pod("r@b1", web)},
			members: []cluster.Pod{pod("m", web, spread(byZone)), pod("n", web, spread(byZone))}, history: []string{"-q"}, want: "..xX",
		}, {
			name: "and earlier members do", nodes: zones, pods: three,
			members: []cluster.Pod{pod("m", web, spread(byZone)), pod("n", web, spread(byZone))}, history: []string{"m0@b1"}, want: "...X",
		}, {
			name: "an empty selector counts no earlier member", nodes: zones,
			members: []cluster.Pod{pod("m"), pod("n", with(func(s *cluster.Spread) { s.Selector = &disruption.Selector{} }))},
			history: []string{"m0@b1"}, want: "...X",
		},
	} {
		k.run(t, domain.TopologySpread())
	}
}
