package constrainttest_test

import (
	"fmt"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/domain/constrainttest"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// fewPods is a constraint with a mistake: it forgets to count pods that come back.
type fewPods struct{}

func (fewPods) Name() domain.Check { return "few pods" }

func (fewPods) Prepare(ix *cluster.Index, _ []*cluster.Pod) (domain.State, error) {
	s := &podCount{on: make([]int, ix.NumNodes())}
	for n := range s.on {
		s.on[n] = len(ix.PodsOn(cluster.NodeID(n)))
	}
	return s, nil
}

type podCount struct{ on []int }

func (s *podCount) Remove(_ cluster.PodID, n cluster.NodeID)    { s.on[n]-- }
func (s *podCount) Return(cluster.PodID, cluster.NodeID)        {}
func (s *podCount) Place(_ domain.MemberID, n cluster.NodeID)   { s.on[n]++ }
func (s *podCount) Unplace(_ domain.MemberID, n cluster.NodeID) { s.on[n]-- }
func (s *podCount) Clone() domain.State                         { return &podCount{append([]int(nil), s.on...)} }
func (s *podCount) Scope() domain.Scope                         { return domain.Scope{NodeLocal: true, Monotone: true} }
func (s *podCount) Fits(_ domain.MemberID, n cluster.NodeID) domain.Reason {
	if s.on[n] > 0 {
		return domain.Reason{Check: "few pods"}
	}
	return domain.Reason{}
}

func ExampleCheck() {
	snapshot := &cluster.Snapshot{
		Nodes: []cluster.Node{{Name: "n1"}},
		Pods:  []cluster.Pod{{Name: "old", Node: "n1"}},
	}
	err := constrainttest.Check(fewPods{}, snapshot, []cluster.Pod{{Name: "new"}}, constrainttest.Options{Histories: 1, Steps: 1})
	fmt.Println(err)
	// Output:
	// constrainttest: undo restores the state: member 0 on n1: it fits, want a misfit (few pods), after remove /old at n1; return /old at n1
}
