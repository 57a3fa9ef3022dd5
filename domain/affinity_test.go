package domain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

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
