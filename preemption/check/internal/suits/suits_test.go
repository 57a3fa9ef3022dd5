package suits

import (
	"cmp"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestToleratedIsTolerates: what is looked up is what is found one by one.
func TestToleratedIsTolerates(t *testing.T) {
	keys, values := []string{"", "a", "b"}, []string{"", "x", "-1", "0", "1", "2", "9223372036854775808"}
	effects := []cluster.Effect{"", cluster.NoSchedule, cluster.NoExecute}
	operators := []cluster.TolerationOperator{"", cluster.TolerationEqual, cluster.TolerationExists, cluster.TolerationLt, cluster.TolerationGt}
	draw := rand.New(rand.NewPCG(1, 1))
	count := map[bool]int{}
	for range 20_000 {
		p := &cluster.Pod{}
		for range draw.IntN(4) {
			p.Tolerations = append(p.Tolerations, cluster.Toleration{
				Key: keys[draw.IntN(3)], Value: values[draw.IntN(7)], Effect: effects[draw.IntN(3)], Operator: operators[draw.IntN(5)],
			})
		}
		taint := cluster.Taint{Key: keys[draw.IntN(3)], Value: values[draw.IntN(7)], Effect: effects[draw.IntN(3)]}
		want := Tolerates(p, taint)
		require.Equal(t, want, newTolerated(p.Tolerations).tolerates(taint), "%+v, %+v", taint, p.Tolerations)
		count[want]++
	}
	require.Greater(t, min(count[true], count[false]), 2_000)
}

// TestPodsClashWhereTwoOfTheirPortsDo: what is looked up is what is found one by one.
func TestPodsClashWhereTwoOfTheirPortsDo(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 1))
	list := func() (p *cluster.Pod) {
		p = &cluster.Pod{}
		for range draw.IntN(20) {
			p.Ports = append(p.Ports, cluster.HostPort{
				Port: draw.Int32N(200), Protocol: []string{"", "TCP", "UDP"}[draw.IntN(3)], IP: []string{"", "0.0.0.0", "10.0.0.1", "10.0.0.2"}[draw.IntN(4)],
			})
		}
		return p
	}
	clash := func(x, y cluster.HostPort) bool {
		every := func(p cluster.HostPort) bool { return p.IP == "" || p.IP == "0.0.0.0" }
		return x.Port == y.Port && cmp.Or(x.Protocol, "TCP") == cmp.Or(y.Protocol, "TCP") && (x.IP == y.IP || every(x) || every(y))
	}
	count := map[bool]int{}
	for range 5_000 {
		a, b, want := list(), list(), false
		for _, x := range a.Ports {
			for _, y := range b.Ports {
				want = want || clash(x, y)
			}
		}
		require.Equal(t, want, Clash(PortsOf(a), PortsOf(b)), "%v, %v", a.Ports, b.Ports)
		count[want]++
	}
	require.Greater(t, min(count[true], count[false]), 500)
}

// TestLongListsAreRead: what is remembered of values and terms is what is found one by one.
func TestLongListsAreRead(t *testing.T) {
	lists, draw, nodes := &Lists{}, rand.New(rand.NewPCG(1, 1)), []*cluster.Node{}
	for i := range 20 {
		nodes = append(nodes, &cluster.Node{Labels: map[string]string{"a": strconv.Itoa(i)}})
	}
	for range 100 {
		values := make([]string, manyValues-1+draw.IntN(3))
		for i := range values {
			values[i] = strconv.Itoa(draw.IntN(100))
		}
		for v := range 101 {
			for _, op := range []disruption.Operator{disruption.In, disruption.NotIn} {
				s := &disruption.Selector{MatchExpressions: []disruption.Requirement{{Key: "a", Operator: op, Values: values}}}
				labels := map[string]string{"a": strconv.Itoa(v)}
				require.Equal(t, Selector(s, labels), lists.Selector(s, labels), "%d %s %v", v, op, values)
			}
		}
		p := &cluster.Pod{NodeAffinity: &cluster.NodeAffinity{}}
		for _, v := range values[:manyTerms] {
			r := cluster.NodeRequirement{Key: "a", Operator: cluster.NodeIn, Values: []string{v}}
			p.NodeAffinity.Terms = append(p.NodeAffinity.Terms, cluster.NodeTerm{Labels: []cluster.NodeRequirement{r}})
		}
		for range 2 {
			for _, n := range nodes {
				require.Equal(t, Node(p, n), lists.Node(p, n), "%s of %v", n.Labels, values[:manyTerms])
			}
		}
	}
	require.NotEmpty(t, lists.values)
	require.Len(t, lists.nodes, 100*len(nodes))
}
