package domain_test

import (
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
