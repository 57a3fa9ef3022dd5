package main

import (
	"context"
	"fmt"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// runGang checks that both sides agree on a gang in a small cluster, then times one
// simulation of kube-scheduler in the large one against the library's whole answer, and
// its decision alone, who goes and where, without the words:
// kube-scheduler needs one for the emptied cluster and one more for every potential
// victim, too many to wait for.
func (c comparison) runGang(ctx context.Context, tc testCase) error {
	agreed, err := c.agreeGang(ctx, tc)
	if err != nil {
		return err
	}
	snap, p, members := tc.makeGang(c.nodes, c.pods, c.seed)
	rules := []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137}
	kube, library, decided := []cost(nil), make([][]cost, len(rules)), make([][]cost, len(rules))
	for range c.rounds {
		one, err := oneSimulation(ctx, p, &snap)
		if err != nil {
			return err
		}
		kube = append(kube, one)
		for i, rules := range rules {
			planner, err := preemption.NewPlanner(&snap, preemption.Options{Rules: rules})
			if err != nil {
				return err
			}
			whole, err := measure(func() error { _, err := planner.Preempt(p); return err })
			if err != nil {
				return err
			}
			library[i] = append(library[i], whole)
			brief, err := measure(func() error { _, err := planner.Decide(p); return err })
			if err != nil {
				return err
			}
			decided[i] = append(decided[i], brief)
		}
	}
	t := table{{"kube-scheduler-one-simulation", fmt.Sprintf("kube-scheduler, 1 of %d simulations", c.nodes*c.pods+1), median(kube)}}
	for i, rules := range rules {
		t = append(t,
			row{"preempt-" + string(rules), fmt.Sprintf("preempt, whole answer, %s", rules), median(library[i])},
			row{"preempt-decision-" + string(rules), fmt.Sprintf("preempt, the decision alone, %s", rules), median(decided[i])})
	}
	return c.print(fmt.Sprintf("case=%s/nodes=%d/pods=%d/members=%d", tc.name, c.nodes, c.nodes*c.pods, members), tc.about, agreed, t)
}

// makeGang is make with a gang of pods like the preemptor instead of it, one for
// every ten nodes.
func (tc testCase) makeGang(nodes, pods int, seed uint64) (preemption.Snapshot, preemption.Preemptor, int) {
	snap, single := tc.make(nodes, pods, seed)
	members := max(1, nodes/10)
	least := int32(members)
	snap.PodGroups = []cluster.PodGroup{{Namespace: "default", Name: gang, MinCount: &least, Priority: &tc.priority}}
	for i := range members {
		member := single.Pods[0]
		member.Name, member.UID, member.Group = fmt.Sprintf("gang-%04d", i), fmt.Sprintf("gang-%04d", i), gang
		snap.Pods = append(snap.Pods, member)
	}
	return snap, preemption.Preemptor{Kind: cluster.KindPodGroup, Namespace: "default", Name: gang}, members
}

// agreeGang compares the whole answers in a cluster that is small enough for
// kube-scheduler's. It places by chance, so the library's victims must be those of
// one of several runs.
func (c comparison) agreeGang(ctx context.Context, tc testCase) (string, error) {
	const nodes, pods, most = 20, 8, 50
	snap, p, _ := tc.makeGang(nodes, pods, c.seed)
	r, err := preemption.Options{Rules: preemption.Kubernetes136}.Preempt(p, &snap)
	if err != nil {
		return "", err
	}
	got := victimNames(r)
	runs, err := gangVictims(ctx, p, &snap, most, got)
	if err != nil {
		return "", err
	}
	for i, run := range runs {
		if fmt.Sprint(run) == fmt.Sprint(got) {
			return fmt.Sprintf("agreed on %d nodes with %d pods: %s, %d victims (run %d of kube-scheduler)", nodes, nodes*pods, r.Verdict, len(got), i+1), nil
		}
	}
	return "", fmt.Errorf("in %d runs kube-scheduler never evicted %v, but the likes of %v", most, got, runs[0])
}

// oneSimulation is what kube-scheduler spends to place the gang once in the cluster
// from which everybody below it was removed.
func oneSimulation(ctx context.Context, p preemption.Preemptor, snap *preemption.Snapshot) (cost, error) {
	q, err := newQuestion(p, snap)
	if err != nil {
		return cost{}, err
	}
	g, release, err := newGangScheduler(q)
	if err != nil {
		return cost{}, err
	}
	defer release()
	g.only = true
	g.cycle(ctx)
	if g.simulation.wall == 0 {
		return cost{}, fmt.Errorf("the simulation did not place all %d members", g.members)
	}
	return g.simulation, nil
}
