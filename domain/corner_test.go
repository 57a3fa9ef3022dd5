package domain_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// corner is a small cluster in which one constraint is asked about one or more
// members. Nodes are "name label=value ..."; hosts have their name as host label
// unless they say host=. Pods are made by the helpers below.
type corner struct {
	name    string
	nodes   []string
	pods    []cluster.Pod
	members []cluster.Pod
	history []string // "-p" removes pod p, "+p" returns it, "m0@n1" places member 0 on n1
	want    string   // for each node what is said of the first member that is not placed; see say
}

func labels(pairs ...string) map[string]string {
	m := map[string]string{}
	for _, pair := range pairs {
		k, v, _ := strings.Cut(pair, "=")
		m[k] = v
	}
	return m
}

func pod(nameAtNode string, options ...func(*cluster.Pod)) cluster.Pod {
	name, node, _ := strings.Cut(nameAtNode, "@")
	p := cluster.Pod{Namespace: "own", Name: name, Node: node}
	if namespace, rest, ok := strings.Cut(name, "/"); ok {
		p.Namespace, p.Name = namespace, rest
	}
	for _, o := range options {
		o(&p)
	}
	return p
}

func labelled(pairs ...string) func(*cluster.Pod) {
	return func(p *cluster.Pod) { p.Labels = labels(pairs...) }
}

func nominated(node string) func(*cluster.Pod) {
	return func(p *cluster.Pod) { p.NominatedNode = node }
}

func terminating(p *cluster.Pod) { p.Terminating = true }

func app(name string) *disruption.Selector {
	return &disruption.Selector{MatchLabels: map[string]string{"app": name}}
}

func near(key string, s *disruption.Selector) func(*cluster.Pod) {
	return func(p *cluster.Pod) {
		p.Affinity = append(p.Affinity, cluster.AffinityTerm{TopologyKey: key, Selector: s})
	}
}

func apart(key string, s *disruption.Selector) func(*cluster.Pod) {
	return func(p *cluster.Pod) {
		p.AntiAffinity = append(p.AntiAffinity, cluster.AffinityTerm{TopologyKey: key, Selector: s})
	}
}

func spread(s cluster.Spread) func(*cluster.Pod) {
	return func(p *cluster.Pod) { p.Spread = append(p.Spread, s) }
}

func tokens(names ...string) func(*cluster.Pod) {
	return func(p *cluster.Pod) { p.Tokens = names }
}

func node(line string) cluster.Node {
	words := strings.Fields(line)
	n := cluster.Node{Name: words[0], Labels: map[string]string{"host": words[0]}}
	for _, w := range words[1:] {
		k, v, _ := strings.Cut(w, "=")
		switch k {
		case "taint":
			n.Taints = append(n.Taints, cluster.Taint{Key: v, Effect: cluster.NoSchedule})
		case "without":
			delete(n.Labels, v)
		default:
			n.Labels[k] = v
		}
	}
	return n
}

// run asks c about every node and compares with what is wanted: "." where the
// member fits, "x" for a misfit, "X" for an unresolvable one; "-" all along for a
// constraint that has no say.
func (k corner) run(t *testing.T, c domain.Constraint) {
	t.Run(k.name, func(t *testing.T) {
		s := cluster.Snapshot{Pods: k.pods}
		for _, line := range k.nodes {
			s.Nodes = append(s.Nodes, node(line))
		}
		ix, err := cluster.NewIndex(&s)
		require.NoError(t, err)
		var members []*cluster.Pod
		for i := range k.members {
			members = append(members, &k.members[i])
		}
		state, err := c.Prepare(ix, members)
		require.NoError(t, err)
		if state == nil {
			require.Equal(t, k.want, strings.Repeat("-", ix.NumNodes()))
			return
		}
		first := k.replay(t, ix, state)
		var got strings.Builder
		for n := range cluster.NodeID(ix.NumNodes()) {
			switch r := state.Fits(first, n); {
			case r.OK():
				got.WriteByte('.')
			case r.Unresolvable:
				got.WriteByte('X')
			default:
				got.WriteByte('x')
			}
		}
		if diff := cmp.Diff(k.want, got.String()); diff != "" {
			t.Errorf("by node (-want +got):\n%s", diff)
		}
	})
}

// replay makes the changes of the history and returns the first member not placed.
func (k corner) replay(t *testing.T, ix *cluster.Index, state domain.State) (first domain.MemberID) {
	for _, change := range k.history {
		if name, at, ok := strings.Cut(change, "@"); ok {
			state.Place(domain.MemberID(name[1]-'0'), ix.NodeByName(at))
			first++
			continue
		}
		p := ix.PodByName("own", change[1:])
		require.NotEqual(t, cluster.NoPod, p, change)
		n := ix.NodeByName(ix.Pod(p).Node + ix.Pod(p).NominatedNode)
		if change[0] == '-' {
			state.Remove(p, n)
		} else {
			state.Return(p, n)
		}
	}
	return first
}

func TestInterPodAffinityCorners(t *testing.T) {
	zones := []string{"a1 zone=a", "a2 zone=a", "b1 zone=b", "c1"}
	web := labelled("app=web")
	everyNamespace := func(p *cluster.Pod) {
		p.AntiAffinity = append(p.AntiAffinity, cluster.AffinityTerm{
			TopologyKey: "zone", Selector: app("web"), NamespaceSelector: &disruption.Selector{},
		})
	}
	for _, k := range []corner{
		{
			name: "nobody has terms", nodes: zones,
			pods:    []cluster.Pod{pod("w@a1", web)},
			members: []cluster.Pod{pod("m")}, want: "----",
		}, {
			name: "own anti-affinity keeps out of the topology value", nodes: zones,
			pods:    []cluster.Pod{pod("w@a1", web)},
			members: []cluster.Pod{pod("m", apart("zone", app("web")))}, want: "xx..",
		}, {
			name: "others' anti-affinity keeps out of theirs", nodes: zones,
			pods:    []cluster.Pod{pod("w@a1", apart("zone", app("web")))},
			members: []cluster.Pod{pod("m", web)}, want: "xx..",
		}, {
			name: "others' anti-affinity to pods that are not the member", nodes: zones,
			pods:    []cluster.Pod{pod("w@a1", apart("zone", app("db")))},
			members: []cluster.Pod{pod("m", web)}, want: "----",
		}, {
			name: "a pod whose node lacks the key keeps nobody out", nodes: zones,
			pods:    []cluster.Pod{pod("w@c1", web, apart("zone", app("web")))},
			members: []cluster.Pod{pod("m", web)}, want: "----",
		}, {
			name: "others' anti-affinity goes with them, on another node too", nodes: zones,
			pods:    []cluster.Pod{pod("w@a1", apart("zone", app("web")))},
			members: []cluster.Pod{pod("m", web)}, history: []string{"-w"}, want: "....",
		}, {
			name: "one of two that keep out is not enough", nodes: zones,
			pods:    []cluster.Pod{pod("v@a2", apart("zone", app("web"))), pod("w@a1", apart("zone", app("web")))},
			members: []cluster.Pod{pod("m", web)}, history: []string{"-w"}, want: "xx..",
		}, {
			name: "each anti-affinity term counts by itself", nodes: zones,
			pods:    []cluster.Pod{pod("w@a1", web), pod("d@b1", labelled("app=db"))},
			members: []cluster.Pod{pod("m", apart("host", app("web")), apart("zone", app("db")))}, want: "x.x.",
		}, {
			name: "two terms with one key", nodes: zones,
			pods:    []cluster.Pod{pod("w@a1", web), pod("d@b1", labelled("app=db"))},
			members: []cluster.Pod{pod("m", apart("zone", app("web")), apart("zone", app("db")))},
			history: []string{"-d"}, want: "xx..",
		}, {
			name: "a pod that a pod matches twice over", nodes: zones,
			pods:    []cluster.Pod{pod("w@a1", labelled("app=web", "tier=front"))},
			members: []cluster.Pod{pod("m", apart("zone", app("web")), apart("zone", &disruption.Selector{}))},
			history: []string{"-w"}, want: "....",
		}, {
			name: "affinity leads to the topology value, and asks for the key", nodes: zones,
			pods:    []cluster.Pod{pod("w@a1", web)},
			members: []cluster.Pod{pod("m", near("zone", app("web")))}, want: "..XX",
		}, {
			name: "affinity to nobody", nodes: zones,
			members: []cluster.Pod{pod("m", near("zone", app("web")))}, want: "XXXX",
		}, {
			name: "the first of its series goes anywhere with the key", nodes: zones,
			members: []cluster.Pod{pod("m", web, near("zone", app("web")))}, want: "...X",
		}, {
			name: "it is not the first while another runs", nodes: zones,
			pods:    []cluster.Pod{pod("w@b1", web)},
			members: []cluster.Pod{pod("m", web, near("zone", app("web")))}, want: "XX.X",
		}, {
			name: "it is the first again once that one is gone", nodes: zones,
			pods:    []cluster.Pod{pod("w@b1", web)},
			members: []cluster.Pod{pod("m", web, near("zone", app("web")))}, history: []string{"-w"}, want: "...X",
		}, {
			name: "one on a node without the key does not make a series", nodes: zones,
			pods:    []cluster.Pod{pod("w@c1", web)},
			members: []cluster.Pod{pod("m", web, near("zone", app("web")))}, want: "...X",
		}, {
			name: "one with some of the keys does", nodes: zones,
			pods:    []cluster.Pod{pod("w@c1", web)},
			members: []cluster.Pod{pod("m", web, near("zone", app("web")), near("host", app("web")))}, want: "XXXX",
		}, {
			name: "a terminating pod counts", nodes: zones,
			pods:    []cluster.Pod{pod("w@a1", web, terminating)},
			members: []cluster.Pod{pod("m", near("zone", app("web")))}, want: "..XX",
		}, {
			name: "a pod must match all affinity terms to count for any", nodes: zones,
			pods:    []cluster.Pod{pod("w@a1", web), pod("x@a1", labelled("tier=front"))},
			members: []cluster.Pod{pod("m", near("zone", app("web")), near("host", &disruption.Selector{MatchLabels: labels("tier=front")}))},
			want:    "XXXX",
		}, {
			name: "all terms, each in its own topology value", nodes: zones,
			pods: []cluster.Pod{pod("w@a1", labelled("app=web", "tier=front"))},
			members: []cluster.Pod{pod("m", near("zone", app("web")), near("host",
				&disruption.Selector{MatchLabels: labels("tier=front")}))},
			want: ".XXX",
		}, {
			name: "of those with one label not all have the other", nodes: zones,
			pods: []cluster.Pod{pod("v@a1", labelled("app=web", "tier=back")), pod("w@b1", web), pod("x@c1")},
			members: []cluster.Pod{pod("m", apart("host", &disruption.Selector{MatchLabels: labels("app=web"), MatchExpressions: []disruption.Requirement{
				{Key: "tier", Operator: disruption.DoesNotExist}}}))}, want: "..x.",
		}, {
			name: "one pod a zone, another on the host", nodes: zones,
			pods:    []cluster.Pod{pod("v@a1", web), pod("w@b1", web)},
			members: []cluster.Pod{pod("m", near("zone", app("web")), near("host", app("web")))}, want: ".X.X",
		}, {
			name: "other namespaces do not count", nodes: zones,
			pods:    []cluster.Pod{pod("other/w@a1", web)},
			members: []cluster.Pod{pod("m", apart("zone", app("web")))}, want: "....",
		}, {
			name: "unless the term selects every one", nodes: zones,
			pods:    []cluster.Pod{pod("other/w@a1", web)},
			members: []cluster.Pod{pod("m", everyNamespace)}, want: "xx..",
		}, {
			name: "a nil selector selects nobody", nodes: zones,
			pods:    []cluster.Pod{pod("w@a1", web)},
			members: []cluster.Pod{pod("m", apart("zone", nil), near("zone", nil))}, want: "XXXX",
		}, {
			name: "anti-affinity is asked where affinity holds", nodes: zones,
			pods:    []cluster.Pod{pod("w@a1", web)},
			members: []cluster.Pod{pod("m", near("zone", app("web")), apart("host", app("web")))}, want: "x.XX",
		}, {
			name: "nominated pods count like others", nodes: zones,
			pods:    []cluster.Pod{pod("v@b1", apart("zone", app("web"))), pod("w", nominated("a1"), apart("zone", app("web")))},
			members: []cluster.Pod{pod("m", web)}, history: []string{"+w"}, want: "xxx.",
		}, {
			name: "but not where nobody who runs has a say", nodes: zones,
			pods:    []cluster.Pod{pod("w", nominated("a1"), apart("zone", app("web")))},
			members: []cluster.Pod{pod("m", web)}, want: "----",
		}, {
			name: "members keep apart", nodes: zones,
			members: []cluster.Pod{pod("m", web, apart("zone", app("web"))), pod("n", web, apart("zone", app("web")))},
			history: []string{"m0@a2"}, want: "xx..",
		}, {
			name: "an earlier member's anti-affinity is enough", nodes: zones,
			members: []cluster.Pod{pod("m", apart("zone", app("web"))), pod("n", web)},
			history: []string{"m0@a2"}, want: "xx..",
		}, {
			name: "members gather around the first", nodes: zones,
			members: []cluster.Pod{pod("m", web, near("zone", app("web"))), pod("n", web, near("zone", app("web")))},
			history: []string{"m0@b1"}, want: "XX.X",
		},
	} {
		k.run(t, domain.InterPodAffinity())
	}
}

func TestAffinityScopes(t *testing.T) {
	nodes := []cluster.Node{node("n1 zone=a"), node("n2 zone=a")}
	type flags struct{ nodeLocal, monotone bool }
	scope := func(members ...cluster.Pod) flags {
		ix, err := cluster.NewIndex(&cluster.Snapshot{
			Nodes: nodes, Pods: []cluster.Pod{pod("w@n1", apart("host", app("web"))), pod("x@n1", apart("zone", app("db")))},
		})
		require.NoError(t, err)
		var list []*cluster.Pod
		for i := range members {
			list = append(list, &members[i])
		}
		s, err := domain.InterPodAffinity().Prepare(ix, list)
		require.NoError(t, err)
		require.True(t, s.Scope().Counted())
		return flags{s.Scope().NodeLocal, s.Scope().Monotone}
	}
	require.Equal(t, flags{true, true}, scope(pod("m", labelled("app=web"))), "hosts are unique")
	require.Equal(t, flags{false, true}, scope(pod("m", labelled("app=db"))))
	require.Equal(t, flags{true, true}, scope(pod("m", apart("host", app("db")))))
	require.Equal(t, flags{}, scope(pod("m", near("host", app("web")))))
	require.Equal(t, flags{false, true}, scope(pod("m", apart("host", app("db"))), pod("n", apart("zone", app("db")))))
}

// A gang of an indexed job differs in a label that no term reads.
func TestMembersThatNoTermTellsApartShareTheirCounts(t *testing.T) {
	ix, err := cluster.NewIndex(&cluster.Snapshot{Nodes: []cluster.Node{node("n1"), node("n2")}})
	require.NoError(t, err)
	var members []*cluster.Pod
	for _, index := range []string{"0", "1", "2"} {
		p := pod("m"+index, labelled("app=web", "index="+index), apart("host", app("web")))
		members = append(members, &p)
	}
	s, err := domain.InterPodAffinity().Prepare(ix, members)
	require.NoError(t, err)
	require.Equal(t, 1, domain.NumProfiles(s))
	s.Place(0, 0)
	require.False(t, s.Fits(1, 0).OK())
	require.True(t, s.Fits(2, 1).OK())
}

func TestABadTermOfAnInlinePodIsAnError(t *testing.T) {
	ix, err := cluster.NewIndex(&cluster.Snapshot{})
	require.NoError(t, err)
	bad := &disruption.Selector{MatchExpressions: []disruption.Requirement{{Key: "app"}}}
	for _, c := range []struct {
		constraint domain.Constraint
		pod        cluster.Pod
	}{
		{domain.InterPodAffinity(), pod("m", near("zone", bad))},
		{domain.InterPodAffinity(), pod("m", apart("zone", bad))},
		{domain.TopologySpread(), pod("m", spread(cluster.Spread{MaxSkew: 1, TopologyKey: "zone", Selector: bad}))},
	} {
		_, err := c.constraint.Prepare(ix, []*cluster.Pod{&c.pod})
		require.ErrorIs(t, err, disruption.ErrSelector)
		require.ErrorContains(t, err, `pod "own/m"`)
	}
}

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
			name: "by each member as it tolerates them", nodes: []string{"a1 zone=a", "b1 zone=b taint=ml"},
			pods: []cluster.Pod{pod("p@a1", web)},
			members: []cluster.Pod{
				pod("m", web, with(func(s *cluster.Spread) { s.NodeTaintsPolicy = cluster.Honor }),
					func(p *cluster.Pod) { p.Tolerations = []cluster.Toleration{{Operator: cluster.TolerationExists}} }),
				pod("n", web, with(func(s *cluster.Spread) { s.NodeTaintsPolicy = cluster.Honor })),
			},
			history: []string{"m0@a1"}, want: "..",
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

func TestDevicesCorners(t *testing.T) {
	whole := func(n int32, assigned ...int32) func(*cluster.Pod) {
		return func(p *cluster.Pod) {
			p.Devices = append(p.Devices, cluster.DeviceRequest{Resource: "gpu", Count: n, Assigned: assigned})
		}
	}
	part := func(f int64, assigned ...int32) func(*cluster.Pod) {
		return func(p *cluster.Pod) {
			p.Devices = append(p.Devices, cluster.DeviceRequest{Resource: "gpu", Fraction: f, Assigned: assigned})
		}
	}
	half := []cluster.Pod{pod("p@g2", part(500, 0)), pod("q@g2", part(500, 1))}
	for _, k := range []corner{ // g1 and g2 have as many devices of 1000
		{
			name: "no devices asked", pods: half, members: []cluster.Pod{pod("m")}, want: "---",
		}, {
			name:    "a node without devices, and one with too few, for good",
			members: []cluster.Pod{pod("m", whole(2))}, want: "XX.",
		}, {
			name: "a fraction above every device", members: []cluster.Pod{pod("m", part(1001))}, want: "XXX",
		}, {
			name: "a fraction that is a whole device", members: []cluster.Pod{pod("m", part(1000))}, want: "X..",
		}, {
			name: "room on two devices never adds up", pods: half,
			members: []cluster.Pod{pod("m", part(600))}, want: "X.x",
		}, {
			name: "a fraction beside another", pods: half, members: []cluster.Pod{pod("m", part(500))}, want: "X..",
		}, {
			name: "a whole device must be wholly free", pods: half, members: []cluster.Pod{pod("m", whole(1))}, want: "X.x",
		}, {
			name: "one victim frees a device", pods: half, members: []cluster.Pod{pod("m", part(600))},
			history: []string{"-p"}, want: "X..",
		}, {
			name: "halves freed on two devices are no whole one", pods: append([]cluster.Pod{pod("r@g2", part(500, 0))}, half...),
			members: []cluster.Pod{pod("m", whole(2))}, history: []string{"-p", "-q"}, want: "XXx",
		}, {
			name: "who returns takes the device that it held", pods: half, members: []cluster.Pod{pod("m", whole(1))},
			history: []string{"-p", "-q", "+p", "+q"}, want: "X.x",
		}, {
			name: "both ways at once", members: []cluster.Pod{pod("m", whole(1), part(1))}, want: "XX.",
		}, {
			name: "two fractions of one pod may share a device", members: []cluster.Pod{pod("m", part(600), part(400))}, want: "X..",
		}, {
			name: "or not", members: []cluster.Pod{pod("m", part(600), part(600))}, want: "XX.",
		}, {
			name: "an earlier member sits beside who runs", pods: half,
			members: []cluster.Pod{pod("m", part(500, 0)), pod("n", part(500)), pod("o", part(500))},
			history: []string{"m0@g2"}, want: "X..",
		}, {
			name: "until it is full", pods: half,
			members: []cluster.Pod{pod("m", part(500, 0)), pod("n", part(500)), pod("o", part(500))},
			history: []string{"m0@g2", "m1@g2"}, want: "X.x",
		}, {
			name: "an earlier member leaves a device wholly free if it can", pods: []cluster.Pod{pod("p@g2", part(100))},
			members: []cluster.Pod{pod("m", part(900)), pod("n", whole(1))}, history: []string{"m0@g2"}, want: "X..",
		}, {
			name: "a nominated pod takes room", pods: []cluster.Pod{pod("w", nominated("g2"), whole(1, 1))},
			members: []cluster.Pod{pod("m", whole(2))}, history: []string{"+w"}, want: "XXx",
		}, {
			name: "one that asks for none does not", pods: []cluster.Pod{pod("w", nominated("g2"))},
			members: []cluster.Pod{pod("m", whole(2))}, history: []string{"+w"}, want: "XX.",
		}, {
			name: "halves of which nobody knows where they are sit on one device", pods: []cluster.Pod{pod("p@g2", part(500)), pod("q@g2", part(500))},
			members: []cluster.Pod{pod("m", whole(1))}, want: "X..",
		}, {
			name: "three do not", pods: []cluster.Pod{pod("p@g2", part(500)), pod("q@g2", part(500)), pod("r@g2", part(500))},
			members: []cluster.Pod{pod("m", whole(1))}, want: "X.x",
		}, {
			name: "they come beside those who say where they are", pods: append([]cluster.Pod{pod("r@g2", part(600))}, half...),
			members: []cluster.Pod{pod("m", part(300))}, want: "X.x",
		}, {
			name: "and are gone with them", pods: append([]cluster.Pod{pod("r@g2", part(600))}, half...),
			members: []cluster.Pod{pod("m", part(300))}, history: []string{"-p", "-r"}, want: "X..",
		}, {
			name: "who has no room takes what is freed", pods: []cluster.Pod{pod("p@g1", whole(1)), pod("q@g1", whole(1))},
			members: []cluster.Pod{pod("m", whole(1))}, history: []string{"-p"}, want: "Xx.",
		}, {
			name: "until it is gone, too", pods: []cluster.Pod{pod("p@g1", whole(1)), pod("q@g1", whole(1))},
			members: []cluster.Pod{pod("m", whole(1))}, history: []string{"-p", "-q"}, want: "X..",
		}, {
			name:    "fractions beyond one device leave the other",
			pods:    []cluster.Pod{pod("p@g2", part(600, 0)), pod("q@g2", part(600, 0)), pod("r@g2", part(600, 0))},
			members: []cluster.Pod{pod("m", part(1000))}, want: "X..",
		}, {
			name:    "and one victim frees nothing there",
			pods:    []cluster.Pod{pod("p@g2", part(600, 0)), pod("q@g2", part(600, 0)), pod("r@g2", part(600, 0)), pod("s@g2", whole(1, 1))},
			members: []cluster.Pod{pod("m", part(1))}, history: []string{"-p"}, want: "X.x",
		}, {
			name: "more held than there is", pods: []cluster.Pod{pod("p@g2", whole(1, 0)), pod("q@g2", whole(1, 0))},
			members: []cluster.Pod{pod("m", whole(2))}, history: []string{"-p"}, want: "XXx",
		},
	} {
		k.nodes = []string{"g0", "g1", "g2"}
		k.run(t, pooled{domain.Devices()})
	}
}

// TestDevicesOfTwoPools: who leaves gives back what he held of each pool, and of no other one.
func TestDevicesOfTwoPools(t *testing.T) {
	holds := func(gpu, nic int32) func(*cluster.Pod) {
		return func(p *cluster.Pod) {
			p.Devices = []cluster.DeviceRequest{{Resource: "gpu", Count: 1, Assigned: []int32{gpu}}, {Resource: "nic", Count: 1, Assigned: []int32{nic}}}
		}
	}
	pool := cluster.DevicePool{Count: 2, Capacity: 1000}
	ix, err := cluster.NewIndex(&cluster.Snapshot{
		Nodes: []cluster.Node{{Name: "n", Devices: map[string]cluster.DevicePool{"gpu": pool, "nic": pool}}, {Name: "o", Devices: map[string]cluster.DevicePool{"gpu": pool}}},
		Pods:  []cluster.Pod{pod("p@n", holds(1, 0)), pod("q@n", holds(0, 1))},
	})
	require.NoError(t, err)
	var members []*cluster.Pod
	for _, count := range []int32{1, 2} { // of nic
		members = append(members, &cluster.Pod{Devices: []cluster.DeviceRequest{{Resource: "gpu", Count: 1}, {Resource: "nic", Count: count}}})
	}
	state, err := domain.Devices().Prepare(ix, members)
	require.NoError(t, err)
	fits := func(one, two bool) {
		t.Helper()
		require.Equal(t, []bool{one, two}, []bool{state.Fits(0, 0).OK(), state.Fits(1, 0).OK()})
	}
	p, q := ix.PodByName("own", "p"), ix.PodByName("own", "q")
	fits(false, false)
	state.Remove(p, 0)
	fits(true, false)
	before := state.Clone()
	state.Remove(q, 0)
	fits(true, true)
	state.Return(p, 0)
	fits(true, false)
	state.Return(q, 0)
	fits(false, false)
	state = before // a clone, which nothing has changed
	fits(true, false)
	touches := state.(domain.Toucher).Touches
	require.Equal(t, []bool{true, false}, []bool{touches(0), touches(1)})
}

// pooled gives nodes g1 and g2 their devices before Devices prepares.
type pooled struct{ domain.Constraint }

func (c pooled) Prepare(ix *cluster.Index, members []*cluster.Pod) (domain.State, error) {
	var s cluster.Snapshot
	for n := range cluster.NodeID(ix.NumNodes()) {
		node := *ix.Node(n)
		if n > 0 {
			node.Devices = map[string]cluster.DevicePool{"gpu": {Count: int32(n), Capacity: 1000}}
		}
		s.Nodes = append(s.Nodes, node)
	}
	for p := range cluster.PodID(ix.NumPods()) {
		s.Pods = append(s.Pods, *ix.Pod(p))
	}
	pooled, err := cluster.NewIndex(&s)
	if err != nil {
		return nil, err
	}
	return c.Constraint.Prepare(pooled, members)
}

func TestDeviceScopes(t *testing.T) {
	fraction := func(name string, f int64, options ...func(*cluster.Pod)) cluster.Pod {
		p := pod(name, options...)
		p.Devices = []cluster.DeviceRequest{{Resource: "gpu", Fraction: f}}
		return p
	}
	scope := func(pending cluster.Pod, members ...cluster.Pod) domain.Scope {
		ix, err := cluster.NewIndex(&cluster.Snapshot{Nodes: []cluster.Node{node("n1")}, Pods: []cluster.Pod{pending}})
		require.NoError(t, err)
		var list []*cluster.Pod
		for i := range members {
			list = append(list, &members[i])
		}
		s, err := domain.Devices().Prepare(ix, list)
		require.NoError(t, err)
		return s.Scope()
	}
	monotone, whole := domain.Scope{NodeLocal: true, Monotone: true}, cluster.Pod{Devices: []cluster.DeviceRequest{{Resource: "gpu", Count: 1}}}
	require.Equal(t, monotone, scope(pod("w"), fraction("m", 3)))
	require.Equal(t, monotone, scope(pod("w"), fraction("m", 3), fraction("n", 3), whole))
	require.Equal(t, domain.Scope{NodeLocal: true}, scope(pod("w"), fraction("m", 1), fraction("n", 4)))
	require.Equal(t, domain.Scope{NodeLocal: true}, scope(fraction("w@n1", 4), fraction("m", 3)))
	require.Equal(t, domain.Scope{NodeLocal: true}, scope(fraction("w", 4, nominated("n1")), fraction("m", 3)))
	require.Equal(t, monotone, scope(fraction("w", 4, nominated("n1")), pod("m", func(p *cluster.Pod) {
		p.Devices = []cluster.DeviceRequest{{Resource: "fpga", Fraction: 3}}
	})), "another resource")
}

func TestTheReasonTellsWhatIsMissing(t *testing.T) {
	ix, err := cluster.NewIndex(&cluster.Snapshot{Nodes: []cluster.Node{node("n1")}})
	require.NoError(t, err)
	for _, c := range []struct {
		asks []cluster.DeviceRequest
		want string
	}{
		{[]cluster.DeviceRequest{{Resource: "gpu", Count: 2}}, "gpu: 2 whole"},
		{[]cluster.DeviceRequest{{Resource: "gpu", Fraction: 300}}, "gpu: 300 of one device"},
		{[]cluster.DeviceRequest{{Resource: "gpu", Fraction: 300}, {Resource: "gpu", Fraction: 400}}, "gpu: fractions [400 300]"},
		{[]cluster.DeviceRequest{{Resource: "gpu", Fraction: 300}, {Resource: "gpu", Count: 1}}, "gpu: 1 whole and fractions [300]"},
	} {
		s, err := domain.Devices().Prepare(ix, []*cluster.Pod{{Name: "m", Devices: c.asks}})
		require.NoError(t, err)
		require.Equal(t, domain.Reason{Check: domain.CheckDevice, Unresolvable: true, Detail: c.want}, s.Fits(0, 0))
	}
}

// TestManyFractionsAreWork: to seat so many counts, as often as it is asked, to seat fewer, as on any usual node, or to see that there is no room
// by sums, or for those larger than half a device, does not.
func TestManyFractionsAreWork(t *testing.T) {
	gpu := func(count int32, fraction int64) []cluster.DeviceRequest {
		return []cluster.DeviceRequest{{Resource: "gpu", Count: count, Fraction: fraction}}
	}
	s := &cluster.Snapshot{}
	for i, pods := range []int{60, 128, 192, 65} {
		name := fmt.Sprint("n", i)
		s.Nodes = append(s.Nodes, cluster.Node{Name: name, Devices: map[string]cluster.DevicePool{"gpu": {Count: 64, Capacity: 1000}}})
		for k := range pods {
			s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint(name, "-", k), Node: name, Devices: gpu(0, []int64{334, 334, 334, 501}[i]+int64(k%10))})
		}
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	pod := &cluster.Pod{Name: "m", Devices: append(gpu(0, 340), gpu(0, 1)...)}
	state, err := domain.Devices().Prepare(ix, []*cluster.Pod{pod})
	require.NoError(t, err)
	trial := domain.NewGangTrial(ix, []*domain.Member{domain.NewMember(ix, pod, cluster.NoPod)}, []domain.State{state}, func(cluster.PodID) bool { return false })
	for n, want := range []int{7, 263, 7, 7} {
		before := trial.Asked
		require.Equal(t, n == 0, trial.CanPlace(0, cluster.NodeID(n)).OK())
		require.Equal(t, want, trial.Asked-before)
		require.EqualValues(t, trial.Asked, trial.Work())
	}
}
