package domain_test

import (
	"fmt"
	"testing"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/domain/constrainttest"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption/cluster"
)

func TestMain(m *testing.M) { gen.Tests(m) }

// TestColocationKeepsTheLaws: of every constraint, and that it reads nothing of another node.
func TestColocationKeepsTheLaws(t *testing.T) {
	web := func(p *cluster.Pod) bool { return p.Labels["app"] == "web" }
	count := func(others []*cluster.Pod) (n int) {
		for _, o := range others {
			if web(o) {
				n++
			}
		}
		return n
	}
	asked := 0
	for name, c := range map[string]domain.Colocation{
		"at most one": {Check: "few", Of: web, Monotone: true, Allows: func(_ *cluster.Pod, _ *cluster.Node, others []*cluster.Pod) bool {
			asked++
			return count(others) <= 1
		}},
		"company": {Check: "company", Allows: func(p *cluster.Pod, n *cluster.Node, others []*cluster.Pod) bool {
			return n.Labels["zone"] != "a" || web(p) || count(others) > 0
		}},
	} {
		for seed := range uint64(60) {
			q := gen.Random(seed, gen.Profile{MaxNodes: 4, MaxPods: 14})
			members := append([]cluster.Pod{}, q.Preemptor.Pods...)
			for i := range 2 {
				members = append(members, cluster.Pod{Namespace: "default", Name: fmt.Sprint("m", i), Labels: map[string]string{"app": "web"}})
			}
			if err := constrainttest.Check(c, &q.Snapshot, members, constrainttest.Options{Seed: seed}); err != nil {
				t.Errorf("%s, seed %d: %v", name, seed, err)
			}
		}
	}
	if asked == 0 {
		t.Error("nobody was asked about")
	}
}
