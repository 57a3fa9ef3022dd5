package onepod_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/onepod"
	"github.com/preempt-go/preempt/victims"
)

// crowded is a cluster of what nodes and pods may have, and a pod that asks.
func crowded(draw *rand.Rand, nodes int, ties bool) (*cluster.Snapshot, *cluster.Pod) {
	rarely := func(n int) bool { return draw.IntN(n) == 0 }
	web, key := &disruption.Selector{MatchLabels: map[string]string{"app": "web"}}, []string{"rack", "host"}[draw.IntN(2)]
	apart := []cluster.AffinityTerm{{Selector: web, TopologyKey: key}}
	level, one := int32(10*draw.IntN(4)), int32(1)
	s := &cluster.Snapshot{PodGroups: []cluster.PodGroup{{Namespace: "default", Name: "whole", Mode: disruption.All, MinCount: &one, Priority: &level}}}
	if rarely(2) {
		s.Budgets = fleet(draw, 1).Budgets
		s.Budgets[0].Allowed = int32(draw.IntN(2))
	}
	odd, covered, tied := rarely(2), rarely(4), 2+draw.IntN(5)
	if rarely(3) {
		s.PodGroups[0].Mode = disruption.SurplusFirst
	}
	for i := range nodes {
		n := cluster.Node{
			Name: fmt.Sprintf("n%02d", i), Labels: map[string]string{"rack": fmt.Sprint(i % 5), "host": fmt.Sprint(i)}, Unschedulable: rarely(12),
			Allocatable: cluster.Resources{cluster.CPU: 4 + draw.Int64N(3), cluster.Memory: 12, cluster.Pods: 9},
		}
		if rarely(12) {
			n.Labels = nil
		}
		for left, k := n.Allocatable[cluster.CPU]-draw.Int64N(2), 0; left > 0; k++ {
			p := runner(draw, fmt.Sprintf("p%02d-%d", i, k), n.Name)
			p.Requests = cluster.Resources{cluster.CPU: min(1+draw.Int64N(3), left), cluster.Memory: 1 + draw.Int64N(3)}
			p.Started = time.Unix(int64(draw.IntN(3)), 0)
			left -= p.Requests[cluster.CPU]
			if covered && !rarely(9) { // by a budget, so that whoever goes violates it
				p.Labels = map[string]string{"app": "web"}
			}
			if odd && rarely(6) {
				if p.Group = "whole"; !rarely(9) {
					p.Priority = &level
				}
			}
			if odd && rarely(9) {
				p.Ports = []cluster.HostPort{{Port: 80}}
			}
			if ties && rarely(tied) {
				p.AntiAffinity = apart
			}
			p.Preempted = odd && rarely(9)
			p.Terminating = p.Preempted
			s.Pods = append(s.Pods, p)
		}
		if odd && rarely(6) {
			waits := int32(10 * draw.IntN(5))
			s.Pods = append(s.Pods, cluster.Pod{
				Namespace: "default", Name: "waits-" + n.Name, NominatedNode: n.Name, Priority: &waits, Requests: cluster.Resources{cluster.CPU: 1 + draw.Int64N(2)},
			})
		}
		s.Nodes = append(s.Nodes, n)
	}
	pod := asker(draw, 1+draw.Int64N(6)*draw.Int64N(2))
	pod.Requests[cluster.Memory] = 1 + draw.Int64N(5)
	if rarely(2) {
		pod.Labels = map[string]string{"app": "web"}
	}
	if ties && rarely(2) {
		pod.AntiAffinity = apart
	}
	if ties && rarely(4) { // so that who leaves may be missed
		pod.Affinity = apart
	}
	if ties && rarely(3) {
		pod.Spread = []cluster.Spread{{Selector: web, TopologyKey: key, MaxSkew: 1 + draw.Int32N(2)}}
	}
	if rarely(6) {
		pod.NodeSelector = map[string]string{"rack": "1"}
	}
	if rarely(6) {
		pod.NominatedNode = "n01"
	}
	if odd && rarely(6) {
		pod.Ports = []cluster.HostPort{{Port: 80}}
	}
	return s, pod
}

// helps reports whether the pod of q fits somewhere once any set of who may go has gone, of at most so many pods. Elastic groups
// may lose whom they like.
func (w *world) helps(q *ask.Question, most int) bool {
	trial := domain.NewNodeTrial(w.ix, q.Members[0], q.Clone().States, domain.Nominees{Self: cluster.NoPod, Priority: q.Priority})
	for n := range w.ix.Nodes() {
		var list [][]cluster.PodID // who goes together
		for _, u := range q.Evictable(n) {
			unit := w.units.Unit(u)
			if !unit.Elastic {
				list = append(list, unit.Pods)
				continue
			}
			for i, p := range unit.Pods {
				if w.ix.NodeOf(p) == n {
					list = append(list, unit.Pods[i:i+1])
				}
			}
		}
		for set := range uint(1) << len(list) {
			trial.Reset(n)
			pods := 0
			for i, together := range list {
				for _, p := range together {
					if set>>i&1 != 0 {
						trial.Remove(p)
						pods++
					}
				}
			}
			if pods <= most && trial.Fits().OK() {
				return true
			}
		}
	}
	return false
}

// TestEveryRoadIsThePlainOne: what is told by columns, of many nodes at once or of each, is what comes of taking pods
// out of a trial and giving them back. That nothing helps is said to be proved only if no set of victims does.
func TestEveryRoadIsThePlainOne(t *testing.T) {
	type told struct {
		plan     onepod.Plan
		best     []onepod.Candidate
		found    []onepod.Candidate
		rejected []string
		stats    ask.Stats
	}
	verdicts, scanned, swept, cut, proved, checks := map[ask.Verdict]int{}, 0, 0, 0, [2]int{}, [2]int{}
	for seed := range uint64(2000) {
		draw := rand.New(rand.NewPCG(seed, 7))
		nodes := 3 + draw.IntN(10)
		if seed%50 == 0 {
			nodes += 160
		}
		s, pod := crowded(draw, nodes, seed%2 == 0)
		w := newWorld(t, s)
		for range 9 * draw.IntN(2) {
			if w.change(draw); draw.IntN(9) == 0 {
				w = w.fork()
			}
		}
		settings := ask.Settings{
			Candidates: draw.IntN(3) == 0, Prefer: []domain.Preference{domain.FirstByName, domain.LeastAllocated, domain.MostAllocated}[draw.IntN(5)*draw.IntN(2)%3],
			RepeatOfPod: draw.IntN(8) == 0, Goroutines: 1, Steps: []int{0, 0, 1, 5}[draw.IntN(4)],
		}
		if draw.IntN(8) == 0 {
			settings.Sampling = &ask.Sampling{Percent: 40, Minimum: 2, Offset: int32(draw.IntN(9))}
		}
		most, limits := 100, []ask.Bound(nil)
		if draw.IntN(5) == 0 {
			most = 1 + draw.IntN(3)
			limits = []ask.Bound{{Of: ask.NumPods, Left: int64(most)}}
		}
		asks := func() *ask.Question {
			q := w.question(&settings, limits, pod)
			for _, c := range []domain.Constraint{domain.InterPodAffinity(), domain.TopologySpread()} {
				state, err := c.Prepare(w.ix, []*cluster.Pod{pod})
				require.NoError(t, err)
				if state != nil {
					q.States = append(q.States, state)
				}
			}
			return q
		}
		run := func(plainly bool) (all told) {
			q, pool := asks(), w.tools
			if plainly {
				pool, q.Traits = &sync.Pool{}, q.Traits|ask.TraitColumns
			} else {
				another := onepod.New(w.question(&ask.Settings{Steps: 1}, nil, asker(draw, 3)), pool, new(onepod.Shapes))
				another.Run() // with the same tools
				another.Close()
				if ask.ByScan.Leads(q.AllTraits()) {
					scanned++
				}
				if ask.BySweep.Leads(q.AllTraits()) {
					swept++
				}
			}
			search := onepod.New(q, pool, new(onepod.Shapes))
			defer search.Close()
			search.Unbounded = plainly
			all.plan = search.Run()
			if all.plan.Verdict == ask.Feasible {
				all.best = []onepod.Candidate{candidate(&search.Best)}
			}
			for i := range search.Found {
				all.found = append(all.found, candidate(&search.Found[i]))
			}
			if all.plan.Verdict != ask.Fits && all.plan.Verdict != ask.Waiting { // which need no reasons
				all.rejected = reasons(search)
			}
			all.stats = search.Stats
			if settings.Steps > 0 && all.plan.Verdict == ask.Feasible { // who looks at more nodes runs out of steps
				if !all.stats.Exact {
					cut++
				}
				all.stats.Exact = false
			}
			if checks[0] += search.Checks(); plainly {
				checks[1] += search.Checks()
			}
			return all
		}
		want, have := run(true), run(false)
		verdicts[have.plan.Verdict]++
		require.LessOrEqual(t, have.stats.Pruned+have.stats.Evaluated, have.stats.Domains)
		require.Equal(t, want, have, "seed %d, %+v", seed, settings)
		switch {
		case have.plan.Verdict != ask.Infeasible || settings.Sampling != nil:
		case have.stats.Exact:
			require.False(t, w.helps(asks(), most), "seed %d, %+v", seed, settings)
			proved[1]++
		default:
			proved[0]++
		}
	}
	t.Log(verdicts, scanned, swept, cut, proved)
	require.Len(t, verdicts, 4)
	require.Greater(t, verdicts[ask.Feasible], 500)
	require.Greater(t, scanned, 300)
	require.Greater(t, swept, 800)
	require.Equal(t, 42, cut, "as many as before, as are the next")
	require.Equal(t, [2]int{111, 518}, proved)
	require.Equal(t, [2]int{85_841, 43_689}, checks, "as many as before, all and plainly; a search that needs fewer changes them")
}

func candidate(c *onepod.Candidate) onepod.Candidate {
	all := onepod.Candidate{Node: c.Node, Score: c.Score}
	all.Victims = append([]victims.UnitID{}, c.Victims...)
	all.Score.Units = len(c.Victims)
	return all
}

// TestASampleIsAsLargeAsIsWanted: from the offset on, and the other nodes are told not to be of it.
func TestASampleIsAsLargeAsIsWanted(t *testing.T) {
	s := &cluster.Snapshot{}
	low, high := int32(1), int32(9)
	for i := range 7 {
		n := cluster.Node{Name: fmt.Sprint("n", i), Allocatable: cluster.Resources{cluster.CPU: 1}, Unschedulable: i == 4}
		s.Nodes = append(s.Nodes, n)
		s.Pods = append(s.Pods, cluster.Pod{Name: "on" + n.Name, Node: n.Name, Priority: &low, Requests: n.Allocatable})
	}
	w := newWorld(t, s)
	settings := &ask.Settings{Candidates: true, Sampling: &ask.Sampling{Minimum: 2, Offset: 3}}
	search := onepod.New(w.question(settings, nil, &cluster.Pod{Name: "in", Priority: &high, Requests: s.Nodes[0].Allocatable}), &sync.Pool{}, new(onepod.Shapes))
	require.Equal(t, ask.Feasible, search.Run().Verdict)
	var found []cluster.NodeID
	for _, c := range search.Found {
		found = append(found, c.Node)
	}
	require.Equal(t, []cluster.NodeID{3, 5}, found)
	others := 0
	for _, r := range search.Rejected() {
		if r.Why.Check == ask.NotSampled {
			others += r.Nodes
		}
	}
	require.Equal(t, 4, others)
	require.Equal(t, 1, search.Stats.Pruned)
	require.Equal(t, 2, search.Stats.Evaluated)
}

// TestWhoWaits: the pod waits for who is leaving its node for another pod, if it may evict him, wherever the rest of his group runs.
func TestWhoWaits(t *testing.T) {
	for _, x := range []struct {
		name                   string
		node                   string
		terminating, preempted bool
		level                  int32
		want                   ask.Verdict
	}{
		{name: "he leaves", node: "n1", terminating: true, preempted: true, want: ask.Waiting},
		{name: "nobody leaves", node: "n1", preempted: true, want: ask.Feasible},
		{name: "he leaves of himself", node: "n1", terminating: true, want: ask.Feasible},
		{name: "he leaves another node", node: "n0", terminating: true, preempted: true, want: ask.Feasible},
		{name: "he is as important", node: "n1", terminating: true, preempted: true, level: 9, want: ask.Feasible},
	} {
		t.Run(x.name, func(t *testing.T) {
			high, one := int32(9), int32(1)
			full := cluster.Resources{cluster.CPU: 1}
			s := &cluster.Snapshot{
				Nodes:     []cluster.Node{{Name: "n0", Allocatable: full}, {Name: "n1", Allocatable: full}, {Name: "n2", Allocatable: full}},
				PodGroups: []cluster.PodGroup{{Namespace: "default", Name: "whole", Mode: disruption.All, MinCount: &one, Priority: &x.level}},
				Pods:      []cluster.Pod{{Namespace: "default", Name: "free", Node: "n2", Priority: &one, Requests: full}},
			}
			for _, n := range []string{"n0", "n1"} {
				leaves := n == x.node
				s.Pods = append(s.Pods, cluster.Pod{
					Namespace: "default", Name: "on-" + n, Group: "whole", Node: n, Priority: &x.level, Requests: full,
					Terminating: leaves && x.terminating, Preempted: leaves && x.preempted,
				})
			}
			w := newWorld(t, s)
			pod := &cluster.Pod{Namespace: "default", Name: "asks", NominatedNode: "n1", Priority: &high, Requests: full}
			search := onepod.New(w.question(&ask.Settings{WaitsForVictims: true}, nil, pod), w.tools, &w.shapes)
			defer search.Close()
			require.Equal(t, x.want, search.Run().Verdict)
		})
	}
}
