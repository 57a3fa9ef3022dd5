package reprieve_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// elastic is a random group of mode SurplusFirst, or a tree of groups under one,
// beside a preemptor on node n0.
func elastic(r *rand.Rand) cluster.Snapshot {
	s := cluster.Snapshot{Nodes: []cluster.Node{
		{Name: "n0", Allocatable: cluster.Resources{cluster.CPU: 8, cluster.Memory: 8}},
		{Name: "n1", Allocatable: cluster.Resources{cluster.CPU: 100, cluster.Memory: 100}},
	}}
	groups := 1
	if r.IntN(2) == 0 {
		groups = 2 + r.IntN(2)
		job := cluster.CompositePodGroup{Name: "job", Mode: disruption.SurplusFirst}
		if r.IntN(3) > 0 {
			least := int32(1 + r.IntN(groups))
			job.MinGroupCount = &least
		}
		s.CompositePodGroups = append(s.CompositePodGroups, job)
	}
	for g := range groups {
		size := 1 + r.IntN(9/groups)
		least := int32(1 + r.IntN(size+1))
		group := cluster.PodGroup{Name: fmt.Sprintf("g%d", g), Mode: disruption.SurplusFirst, MinCount: &least}
		if groups > 1 {
			group.Parent = "job"
			group.Mode = []disruption.Mode{disruption.SurplusFirst, disruption.All, disruption.Single}[r.IntN(3)]
		}
		if r.IntN(2) == 0 {
			group.Leader = fmt.Sprintf("p%d-%d", g, r.IntN(size))
		}
		s.PodGroups = append(s.PodGroups, group)
		for i := range size {
			priority := int32(r.IntN(2))
			s.Pods = append(s.Pods, cluster.Pod{
				Name: fmt.Sprintf("p%d-%d", g, i), UID: fmt.Sprint(r.IntN(3)), Group: group.Name, Priority: &priority,
				Node: []string{"n0", "n0", "n1"}[r.IntN(3)], Terminating: r.IntN(12) == 0,
				Requests: cluster.Resources{cluster.CPU: int64(1 + r.IntN(2)), cluster.Memory: int64(r.IntN(3))},
			})
		}
	}
	return s
}

// useful says whether what stays of the groups is of use, in the words of the rules.
func useful(s *cluster.Snapshot, stays func(string) bool) bool {
	alive, gone, whole, anybody := 0, 0, true, false
	for _, g := range s.PodGroups {
		running, staying, leaderStays := 0, 0, true
		for _, p := range s.Pods {
			if p.Group != g.Name || p.Terminating {
				continue
			}
			running++
			if stays(p.Name) {
				staying++
			} else if p.Name == g.Leader {
				leaderStays = false
			}
		}
		switch {
		case running == 0:
			gone++
		case staying == running:
			alive++
		case staying == 0:
			whole = false
		case g.Mode == disruption.All || !leaderStays || staying < int(*g.MinCount):
			return false
		default:
			alive++
			whole = false
		}
		anybody = anybody || staying > 0
	}
	if !anybody || whole || len(s.CompositePodGroups) == 0 {
		return anybody
	}
	if m := s.CompositePodGroups[0].MinGroupCount; m != nil {
		return alive >= int(*m)
	}
	return alive == len(s.PodGroups)-gone
}

// TestMembersElsewhereReturnAtOnce: of a large group the search is about those who
// are in the way.
func TestMembersElsewhereReturnAtOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	least := int32(400)
	s := cluster.Snapshot{
		Nodes:     []cluster.Node{{Name: "n0", Allocatable: cluster.Resources{cluster.CPU: 1000}}, {Name: "n1", Allocatable: cluster.Resources{cluster.CPU: 1_000_000}}},
		PodGroups: []cluster.PodGroup{{Name: "g", Mode: disruption.SurplusFirst, MinCount: &least}},
	}
	free := int64(1000)
	for i := range 500 {
		pod := cluster.Pod{Name: fmt.Sprint(i), Group: "g", Node: "n1", Requests: cluster.Resources{cluster.CPU: int64(1 + i)}}
		if i%30 == 0 {
			pod.Node, pod.Requests[cluster.CPU] = "n0", int64(20+r.IntN(60))
			free -= pod.Requests[cluster.CPU]
		}
		s.Pods = append(s.Pods, pod)
	}
	ix, err := cluster.NewIndex(&s)
	require.NoError(t, err)
	units := victims.NewUnits(ix, victims.Units137, victims.Worth{})
	runner := reprieve.NewRunner(units, victims.NewBudgets(ix, disruption.Rule137))
	for need := free + 1; need <= free+120; need += 7 {
		pod := cluster.Pod{Name: "preemptor", Requests: cluster.Resources{cluster.CPU: need}}
		trial := domain.NewNodeTrial(ix, domain.NewMember(ix, &pod, cluster.NoPod), nil, domain.Nominees{Self: cluster.NoPod, Priority: 1 << 30})
		trial.Reset(0)
		_, why := runner.Run(trial, []victims.UnitID{0})
		require.True(t, why.OK())
		var requests []int64
		for _, p := range ix.PodsOn(0) {
			requests = append(requests, ix.Pod(p).Requests[cluster.CPU])
		}
		slices.Sort(requests)
		slices.Reverse(requests)
		want, sum := 0, int64(0)
		for sum < need-free {
			sum += requests[want]
			want++
		}
		require.Len(t, runner.Parts().Of(units, 0), want, "room for %d more", need-free)
	}
}

// TestTheLargestSetOfMembersReturns: of an elastic group that cannot return whole,
// brute force over all sets of members finds no larger one that goes on, and of the
// largest the one that keeps the member that goes later. Where steps run out before it is found, that is told.
func TestTheLargestSetOfMembersReturns(t *testing.T) {
	part, whole, none, cut := 0, 0, 0, 0
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := elastic(r)
		ix, err := cluster.NewIndex(&s)
		require.NoError(t, err)
		units := victims.NewUnits(ix, victims.Units137, victims.Worth{})
		require.Equal(t, 1, units.Len(), "seed %d", seed)
		runner := reprieve.NewRunner(units, victims.NewBudgets(ix, disruption.Rule137))
		pod := cluster.Pod{Name: "preemptor", Requests: cluster.Resources{cluster.CPU: int64(2 + r.IntN(7)), cluster.Memory: int64(r.IntN(9))}}
		trial := domain.NewNodeTrial(ix, domain.NewMember(ix, &pod, cluster.NoPod), nil, domain.Nominees{Self: cluster.NoPod, Priority: 1 << 30})
		trial.Reset(0)
		members := units.Members(0)
		var want []cluster.PodID // who returns
		for set := range 1 << len(members) {
			var back []cluster.PodID
			for i, p := range members {
				if set>>(len(members)-1-i)&1 == 0 { // smaller numbers keep those that go later
					back = append(back, p)
				}
			}
			if len(back) <= len(want) || len(back) < len(members) && !useful(&s, func(name string) bool { return slices.Contains(back, ix.PodByName("", name)) }) {
				continue
			}
			if fitsBeside(trial, members, back) {
				want = back
			}
		}
		returns := func(runner *reprieve.Runner) (got []cluster.PodID) {
			trial.Reset(0)
			out, why := runner.Run(trial, []victims.UnitID{0})
			require.True(t, why.OK(), "seed %d: alone it fits", seed)
			for _, p := range members {
				if len(out.Victims) == 0 || !slices.Contains(runner.Parts().Of(units, 0), p) {
					got = append(got, p)
				}
			}
			return got
		}
		got := returns(runner)
		require.Equal(t, want, got, "seed %d", seed)
		require.False(t, runner.Cut, "seed %d", seed)
		hasty := reprieve.NewRunner(units, victims.NewBudgets(ix, disruption.Rule137))
		hasty.Steps = 1
		if !slices.Equal(returns(hasty), want) {
			require.True(t, hasty.Cut, "seed %d", seed)
			cut++
		}
		switch len(got) {
		case 0:
			none++
		case len(members):
			whole++
		default:
			part++
		}
	}
	for _, n := range []int{part, whole, none} {
		require.Greater(t, n, 300)
	}
	require.Greater(t, cut, 30)
}

// fitsBeside reports whether the preemptor fits with only back of the members in
// place.
func fitsBeside(t *domain.NodeTrial, members, back []cluster.PodID) bool {
	for _, p := range members {
		if !slices.Contains(back, p) {
			t.Remove(p)
		}
	}
	ok := t.Fits().OK()
	for _, p := range members {
		if !slices.Contains(back, p) {
			t.Return(p)
		}
	}
	return ok
}

// However few steps a search has, each member is tried once: those that fit return.
func TestMembersReturnOneByOneWithoutSteps(t *testing.T) {
	one := int32(1)
	s := cluster.Snapshot{
		Nodes:     []cluster.Node{{Name: "n0", Allocatable: cluster.Resources{cluster.CPU: 6}}},
		PodGroups: []cluster.PodGroup{{Name: "g", Mode: disruption.SurplusFirst, MinCount: &one}},
	}
	for i := range 3 {
		s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint(i), Group: "g", Node: "n0", Requests: cluster.Resources{cluster.CPU: 2}})
	}
	ix, err := cluster.NewIndex(&s)
	require.NoError(t, err)
	units := victims.NewUnits(ix, victims.Units137, victims.Worth{})
	runner := reprieve.NewRunner(units, victims.NewBudgets(ix, disruption.Rule137))
	runner.Steps = 1
	pod := cluster.Pod{Name: "preemptor", Requests: cluster.Resources{cluster.CPU: 2}}
	trial := domain.NewNodeTrial(ix, domain.NewMember(ix, &pod, cluster.NoPod), nil, domain.Nominees{Self: cluster.NoPod, Priority: 1 << 30})
	trial.Reset(0)
	_, why := runner.Run(trial, []victims.UnitID{0})
	require.True(t, why.OK())
	require.Len(t, runner.Parts().Of(units, 0), 1)
}

// Of members that are alike it does not matter which of them return: where none of the many sets
// of them will do, few are looked at. Any difference, and where more room may hurt or constraints
// look on, each of them counts.
func TestMembersThatAreAlikeAreTriedOnce(t *testing.T) {
	const members = 10
	for _, c := range []struct {
		name        string
		set         func(i int, p *cluster.Pod)
		doubtful    bool
		constrained bool
		leader      string
		few         bool
	}{
		{name: "all are alike", few: true},
		{name: "but for the leader", leader: "p3", few: true},
		{name: "of two nodes", set: func(i int, p *cluster.Pod) { p.Node = fmt.Sprint("n", i%2) }, few: true},
		{name: "of two sizes", set: func(i int, p *cluster.Pod) { p.Requests[cluster.CPU] += int64(i % 2) }, few: true},
		{name: "of two ports", set: func(i int, p *cluster.Pod) { p.Ports = []cluster.HostPort{{Port: int32(80 + i%2), Protocol: "TCP"}} }, few: true},
		{name: "some go anyway", set: func(i int, p *cluster.Pod) { p.Terminating = i%2 == 0 }, few: true},
		{name: "each of another size", set: func(i int, p *cluster.Pod) { p.Requests[cluster.CPU] += int64(i) }},
		{name: "each of another port", set: func(i int, p *cluster.Pod) { p.Ports = []cluster.HostPort{{Port: int32(80 + i)}} }},
		{name: "more room may hurt", doubtful: true},
		{name: "constraints look on", constrained: true},
	} {
		least := int32(members - 1)
		s := cluster.Snapshot{
			Nodes:     []cluster.Node{{Name: "n0", Allocatable: cluster.Resources{cluster.CPU: 1000}}, {Name: "n1", Allocatable: cluster.Resources{cluster.CPU: 1000}}},
			PodGroups: []cluster.PodGroup{{Name: "g", Mode: disruption.SurplusFirst, MinCount: &least, Leader: c.leader}},
		}
		for i := range members {
			p := cluster.Pod{Name: fmt.Sprint("p", i), Group: "g", Node: "n0", Requests: cluster.Resources{cluster.CPU: 100}}
			if c.set != nil {
				c.set(i, &p)
			}
			s.Pods = append(s.Pods, p)
		}
		ix, err := cluster.NewIndex(&s)
		require.NoError(t, err)
		units := victims.NewUnits(ix, victims.Units137, victims.Worth{})
		runner := reprieve.NewRunner(units, victims.NewBudgets(ix, disruption.Rule137))
		runner.Doubtful, runner.Constrained = c.doubtful, c.constrained
		pod := cluster.Pod{Name: "preemptor", Requests: cluster.Resources{cluster.CPU: 700}}
		trial := &counted{NodeTrial: domain.NewNodeTrial(ix, domain.NewMember(ix, &pod, cluster.NoPod), nil, domain.Nominees{Self: cluster.NoPod, Priority: 1 << 30})}
		trial.Reset(0)
		out, why := runner.Run(struct{ domain.Trial }{trial}, []victims.UnitID{0})
		require.True(t, why.OK())
		require.Len(t, out.Victims, 1, c.name)
		require.Empty(t, runner.Parts(), c.name)
		require.Equal(t, c.few, trial.done < 300, "%s: %d", c.name, trial.done)
	}
}

// looks is a Doubter for whom so many members are looked at.
type looks int

func (l looks) Doubt() int { return int(l) }

// TestMembersThatAreLookedAtAreSteps: where to look at all members of a gang is as much as a search may take, one set is looked at.
func TestMembersThatAreLookedAtAreSteps(t *testing.T) {
	least := int32(1)
	s := cluster.Snapshot{
		Nodes:     []cluster.Node{{Name: "n", Allocatable: cluster.Resources{cluster.CPU: 10}}},
		PodGroups: []cluster.PodGroup{{Name: "g", Mode: disruption.SurplusFirst, MinCount: &least}},
	}
	for i := range 10 {
		s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint("p", i), Group: "g", Node: "n", Requests: cluster.Resources{cluster.CPU: 1}})
	}
	ix, err := cluster.NewIndex(&s)
	require.NoError(t, err)
	for members, cut := range map[looks]bool{0: false, 64 * 1000: true} {
		runner := reprieve.NewRunner(victims.NewUnits(ix, victims.Units137, victims.Worth{}), victims.NewBudgets(ix, disruption.Rule137))
		runner.Doubtful, runner.Steps = true, 3000
		pod := cluster.Pod{Name: "preemptor", Requests: cluster.Resources{cluster.CPU: 7}}
		trial := &counted{NodeTrial: domain.NewNodeTrial(ix, domain.NewMember(ix, &pod, cluster.NoPod), nil, domain.Nominees{Self: cluster.NoPod, Priority: 1 << 30})}
		trial.Reset(0)
		runner.Run(struct {
			domain.Trial
			domain.Doubter
		}{trial, members}, []victims.UnitID{0})
		require.Equal(t, cut, runner.Cut, "%d members: %d", members, trial.done)
	}
}

// TestAPartIsChargedInTheOrderOfItsUnit: whom of a unit a budget covers first decides how many of its pods violate one, so
// that the order in which a part is listed must not.
func TestAPartIsChargedInTheOrderOfItsUnit(t *testing.T) {
	least, zero := int32(1), int32(0)
	s := cluster.Snapshot{
		Nodes:     []cluster.Node{{Name: "n0", Allocatable: cluster.Resources{cluster.CPU: 8}}},
		PodGroups: []cluster.PodGroup{{Name: "g", Mode: disruption.SurplusFirst, MinCount: &least, Priority: &zero}},
	}
	for i, of := range [][]string{{"a", "b"}, {"a"}, {"b"}, nil} {
		p := cluster.Pod{Name: fmt.Sprint("p", i), Group: "g", Node: "n0", Priority: &zero, Labels: map[string]string{}, Requests: cluster.Resources{cluster.CPU: 2}}
		for _, budget := range of {
			p.Labels[budget] = "yes"
		}
		s.Pods = append(s.Pods, p)
	}
	for _, name := range []string{"a", "b"} {
		s.Budgets = append(s.Budgets, disruption.Budget{Name: name, Allowed: 1, Selector: &disruption.Selector{MatchLabels: map[string]string{name: "yes"}}})
	}
	ix, err := cluster.NewIndex(&s)
	require.NoError(t, err)
	units := victims.NewUnits(ix, victims.Units137, victims.Worth{})
	runner := reprieve.NewRunner(units, victims.NewBudgets(ix, disruption.Rule137))
	charged := runner.Charge([]victims.UnitID{0})
	require.Len(t, charged, 1)
	part := slices.Clone(units.Unit(0).Pods[:3])
	want := runner.ViolationsOfPods(charged[0], part)
	require.Equal(t, 2, want) // one of p1 under a, one of p2 under b, after p0 under both
	for range 6 {
		part[0], part[1] = part[1], part[0]
		require.Equal(t, want, runner.ViolationsOfPods(charged[0], part), "%v", part)
		part[1], part[2] = part[2], part[1]
		require.Equal(t, want, runner.ViolationsOfPods(charged[0], part), "%v", part)
	}
}
