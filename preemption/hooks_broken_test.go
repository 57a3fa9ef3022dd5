package preemption_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

type placing func(t *domain.GangTrial, d *domain.Domain, members []domain.MemberID) int

func (f placing) Place(t *domain.GangTrial, d *domain.Domain, _ domain.Offers, members []domain.MemberID, _ int) int {
	return f(t, d, members)
}

type splitting [][]cluster.NodeID

func (s splitting) Split(dst []domain.Domain, _ *cluster.Index) []domain.Domain {
	for i, nodes := range s {
		dst = append(dst, domain.Domain{Name: fmt.Sprint("d", i), Nodes: nodes})
	}
	return dst
}

// fitting is a constraint, and its state, that says of every node what it is told to.
type fitting func() domain.Reason

func (fitting) Name() domain.Check { return "told" }
func (f fitting) Prepare(*cluster.Index, []*cluster.Pod) (domain.State, error) {
	return f, nil
}
func (fitting) Remove(cluster.PodID, cluster.NodeID)                 {}
func (fitting) Return(cluster.PodID, cluster.NodeID)                 {}
func (fitting) Place(domain.MemberID, cluster.NodeID)                {}
func (fitting) Unplace(domain.MemberID, cluster.NodeID)              {}
func (f fitting) Fits(domain.MemberID, cluster.NodeID) domain.Reason { return f() }
func (f fitting) Clone() domain.State                                { return f }
func (fitting) Scope() domain.Scope                                  { return domain.Scope{} }

// brokenHooks asks about a pod and a gang, by every kind of question.
func brokenHooks(t *testing.T, hooks *preemption.Hooks, check func(ask func() error)) {
	high, most := int32(9), int32(2)
	s := &preemption.Snapshot{}
	for i := range 3 {
		node := fmt.Sprint("n", i)
		s.Nodes = append(s.Nodes, cluster.Node{Name: node, Allocatable: preemption.Resources{"cpu": 2}})
		s.Pods = append(s.Pods, preemption.Pod{Name: "v" + node, Node: node, Requests: preemption.Resources{"cpu": 2}})
	}
	pod := preemption.Pod{Name: "x", Priority: &high, Requests: preemption.Resources{"cpu": 2}}
	gang := preemption.Preemptor{Group: &preemption.PodGroup{Name: "g", MinCount: &most, Priority: &high}}
	for i := range 2 {
		member := pod
		member.Name = fmt.Sprint("m", i)
		gang.Pods = append(gang.Pods, member)
	}
	pl, err := preemption.NewPlanner(s, preemption.Options{Hooks: hooks})
	require.NoError(t, err)
	for _, p := range []preemption.Preemptor{gang, {Pods: []preemption.Pod{pod}}} {
		check(func() error { _, err := pl.Preempt(p); return err })
		check(func() error { _, err := pl.Decide(p); return err })
		check(func() error { _, err := pl.WhyNot(p, preemption.NodeTarget("n1")); return err })
		require.NoError(t, pl.SetPod(preemption.Pod{Name: "late", Node: "n0"}), "no lock is held")
		require.NoError(t, pl.Remove(preemption.PodRef{Name: "late"}))
		if hooks.Constraints == nil {
			break // the others are for gangs
		}
	}
}

func TestHooksThatBreakTheirContractAreNamed(t *testing.T) {
	reason := func(r domain.Reason) *preemption.Hooks {
		return &preemption.Hooks{Constraints: []domain.Constraint{fitting(func() domain.Reason { return r })}}
	}
	for want, hooks := range map[string]*preemption.Hooks{
		"Splitter: node -1 in domain \"d0\" is not from 0 to 2":       {Splitter: splitting{{-1, 0}}},
		"Splitter: node 9 in domain \"d1\" is not from 0 to 2":        {Splitter: splitting{{0}, {1, 9}}},
		"Splitter: node 1 in domain \"d0\" is not above 1":            {Splitter: splitting{{1, 1}}},
		"Splitter: node 1 in domain \"d1\" is not in one domain only": {Splitter: splitting{{0, 1}, {1, 2}}},
		"Placer: 9 is not 0, as many as it placed":                    {Placer: placing(func(*domain.GangTrial, *domain.Domain, []domain.MemberID) int { return 9 })},
		"Placer: node -1 is not from 0 to 2":                          {Placer: placing(func(t *domain.GangTrial, _ *domain.Domain, m []domain.MemberID) int { t.Place(m[0], -1); return 1 })},
		"Placer: member 7 is not from 0 to 1":                         {Placer: placing(func(t *domain.GangTrial, _ *domain.Domain, m []domain.MemberID) int { t.Place(7, 0); return 1 })},
		"Placer: Unplace of nobody is not after a Place":              {Placer: placing(func(t *domain.GangTrial, _ *domain.Domain, m []domain.MemberID) int { t.Unplace(); return 0 })},
		"Placer: member 0, placed on n0 already is not a member": {Placer: placing(func(t *domain.GangTrial, _ *domain.Domain, m []domain.MemberID) int {
			t.Place(0, 0)
			t.Place(0, 1)
			return 2
		})},
		"Constraints: a reason with resource 99 is not from 0 to 1":    reason(domain.Reason{Check: domain.CheckResource, Resource: 99}),
		"Constraints: a reason with resource -5 is not from 0 to 1":    reason(domain.Reason{Check: domain.CheckResource, Resource: -5}),
		"Constraints: a reason with port 3 is not the position of one": reason(domain.Reason{Check: domain.CheckPorts, Port: 3}),
	} {
		t.Run(want, func(t *testing.T) {
			brokenHooks(t, hooks, func(ask func() error) {
				err := ask()
				var broken *preemption.HookError
				require.ErrorAs(t, err, &broken)
				require.ErrorContains(t, err, "preemption: Options.Hooks."+want)
			})
		})
	}
}
