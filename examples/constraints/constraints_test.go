package constraints

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/domain/constrainttest"
	"github.com/preempt-go/preempt/preemption/cluster"
)

const (
	seats = "licences.example.com/solver"
	watts = "power.example.com/watts"
)

func constraintsKeepTheContract(t *rapid.T) {
	number := func(most int) int { return rapid.IntRange(0, most).Draw(t, "n") }
	pod := func(name string) cluster.Pod {
		p := cluster.Pod{Name: name, Annotations: map[string]string{}}
		if number(2) > 0 {
			p.Annotations[seats] = fmt.Sprint(number(3))
			p.Annotations[watts] = fmt.Sprint(100 * number(5))
		}
		return p
	}
	var s cluster.Snapshot
	for i := range 1 + number(4) {
		n := cluster.Node{Name: fmt.Sprintf("n%d", i), Labels: map[string]string{}}
		if rack := number(3); rack > 0 {
			n.Labels["rack"] = fmt.Sprint(rack)
		}
		s.Nodes = append(s.Nodes, n)
	}
	for i := range number(10) {
		p := pod(fmt.Sprintf("p%d", i))
		p.Node = s.Nodes[number(len(s.Nodes)-1)].Name
		s.Pods = append(s.Pods, p)
	}
	if number(1) > 0 {
		p := pod("expected")
		p.NominatedNode = s.Nodes[0].Name
		s.Pods = append(s.Pods, p)
	}
	members := []cluster.Pod{pod("m0"), pod("m1")}[:1+number(1)]
	for _, c := range []domain.Constraint{
		Licences{"solver", seats, int64(number(8))}, Power{"rack", watts, int64(300 * number(4))},
	} {
		require.NoError(t, constrainttest.Check(c, &s, members, constrainttest.Options{Histories: 2, Steps: 20}))
	}
}

func TestTheConstraintsKeepTheContract(t *testing.T) { rapid.Check(t, constraintsKeepTheContract) }

func TestAnAnnotationThatIsNoNumberIsAnError(t *testing.T) {
	for _, text := range []string{"", "-1", "1.5", "many", "2147483648"} {
		bad := cluster.Pod{Name: "p", Node: "n", Annotations: map[string]string{seats: text, watts: text}}
		ix, err := cluster.NewIndex(&cluster.Snapshot{Pods: []cluster.Pod{bad}})
		require.NoError(t, err)
		for _, c := range []domain.Constraint{Licences{"solver", seats, 1}, Power{"rack", watts, 1}} {
			_, err = c.Prepare(ix, []*cluster.Pod{{Name: "m"}})
			require.ErrorContains(t, err, `pod "/p"`)
			require.ErrorContains(t, err, fmt.Sprintf("%q is not a whole number", text))
			_, err = c.Prepare(ix, []*cluster.Pod{&bad})
			require.Error(t, err)
		}
	}
}
