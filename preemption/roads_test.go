package preemption_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/genopts"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestRoadsAgree: the answer is the same, but for its statistics, whichever of the fast roads are closed, in clusters that have
// but a few kinds of things, so that the roads are open. Of a search that is no pass, which may find another of several
// least disruptions, the verdict and the score are. Every answer is verified.
func TestRoadsAgree(t *testing.T) {
	answer := func(o preemption.Options, q gen.Question, closed ...string) (string, preemption.Verdict) {
		for _, road := range closed {
			defer preemption.CloseRoad(road)()
		}
		r, err := o.Preempt(q.Preemptor, &q.Snapshot)
		if err != nil {
			return err.Error(), ""
		}
		r.Stats, r.Trace = preemption.Stats{}, nil
		if o.Search != "" && o.Search != preemption.Greedy {
			r = &preemption.Result{Verdict: r.Verdict, Score: r.Score}
		}
		text, err := json.Marshal(r)
		require.NoError(t, err)
		return string(text), r.Verdict
	}
	verdicts := map[preemption.Verdict]int{}
	for seed := range seeds(1600) {
		p := gen.FewThings(seed)
		q := gen.RandomGang(seed, p)
		roads := [][]string{{"counting"}, {"counting", "first seat"}, {"counting", "price first"}, {"counting", "first seat", "price first"}}
		if seed%3 == 0 {
			q = gen.Random(seed, p.Profile)
			roads = [][]string{{"at once"}, {"at once", "scan"}, {"at once", "scan", "sweep"}}
		}
		o := preemption.Options{Members: []preemption.Members{"", preemption.MinCount}[seed/3%2]}
		if seed%4 == 0 {
			o = genopts.Random(seed)
		}
		want, verdict := answer(o, q)
		if verdicts[verdict]++; verdict == "" {
			continue
		}
		for _, closed := range roads {
			got, _ := answer(o, q, closed...)
			require.Equal(t, want, got, "seed %d: without %v", seed, closed)
		}
	}
	for _, v := range []preemption.Verdict{preemption.Feasible, preemption.Fits, preemption.Infeasible} {
		require.Greater(t, verdicts[v], 20, v)
	}
}

// unlikeGang is a gang of members of different sizes, equal ones where step is 0.
func unlikeGang(members int, cpuMilli, step int64) preemption.Preemptor {
	priority := int32(1000)
	p := preemption.Preemptor{Group: &cluster.PodGroup{Namespace: "default", Name: "gang", Priority: &priority}}
	for i := range members {
		p.Pods = append(p.Pods, cluster.Pod{
			Namespace: "default", Name: fmt.Sprintf("gang-%03d", i), Group: "gang", Priority: &priority,
			Requests: cluster.Resources{cluster.CPU: cpuMilli + int64(i)*step},
		})
	}
	return p
}

// BenchmarkRoads asks one question with a road open and with it closed, when the next
// plainer one answers: a road is worth its code where it is at least twice as fast.
func BenchmarkRoads(b *testing.B) {
	preemption.Answered(nil) // nobody looks over the answers
	priority := int32(1000)
	pod := gen.FleetPod(1)
	pod.Pods[0].Priority = &priority
	pod.Pods[0].Requests[cluster.CPU] = 3_500
	all := preemption.Options{Sampling: &preemption.Sampling{Percent: 100, Minimum: 1}}
	for _, c := range []struct {
		road   string
		nodes  int
		o      preemption.Options
		p      preemption.Preemptor
		unseen bool // the shape of the pod changes from question to question
		decide bool
	}{
		{"sweep", 5_000, all, pod, false, false},
		{"scan", 5_000, preemption.Options{}, pod, true, false},
		{"at once", 5_000, preemption.Options{}, pod, false, true},
		{"counting", 1_000, preemption.Options{}, unlikeGang(64, 16_000, 0), false, false},
		{"first seat", 5_000, preemption.Options{}, unlikeGang(64, 4_000, 250), false, false},
		{"price first", 10, preemption.Options{}, unlikeGang(3, 16_000, 10), false, false},
		{"price first", 100, preemption.Options{}, unlikeGang(4, 16_000, 10), false, false},
		{"price first", 1_000, preemption.Options{}, unlikeGang(16, 16_000, 10), false, false},
	} {
		snap := gen.Fleet(c.nodes, 30, 1, gen.Uniform)
		for _, open := range []bool{true, false} {
			b.Run(fmt.Sprintf("road=%s/nodes=%d/members=%d/open=%t", c.road, c.nodes, len(c.p.Pods), open), func(b *testing.B) {
				if !open {
					defer preemption.CloseRoad(c.road)()
				}
				planner, err := preemption.NewPlanner(&snap, c.o)
				if err != nil {
					b.Fatal(err)
				}
				p := c.p.Clone()
				if _, err := planner.Preempt(p); err != nil { // what the first question forms is formed
					b.Fatal(err)
				}
				for i := 0; b.Loop(); i++ {
					if c.unseen {
						p.Pods[0].Requests["ephemeral-storage"] = 1 + int64(i%4096)
					}
					if c.decide {
						_, err = planner.Decide(p)
					} else {
						_, err = planner.Preempt(p)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// crowd is a crowd, every other one with zones and pods that are to be near others, or apart.
func crowd(seed uint64) gen.Question {
	q, r := gen.Crowd(seed), rand.New(rand.NewPCG(seed, 19))
	if r.IntN(2) == 0 {
		return q
	}
	for i := range q.Snapshot.Nodes {
		n := &q.Snapshot.Nodes[i]
		if r.IntN(8) > 0 {
			n.Labels["zone"] = strconv.Itoa(r.IntN(12))
			continue
		}
		for name := range n.Allocatable { // there would be room
			n.Allocatable[name] *= 2
		}
	}
	term := func() cluster.AffinityTerm {
		return cluster.AffinityTerm{TopologyKey: "zone", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": strconv.Itoa(r.IntN(20))}}}
	}
	for i := range q.Snapshot.Pods {
		if p := &q.Snapshot.Pods[i]; r.IntN(100) == 0 {
			p.AntiAffinity = []cluster.AffinityTerm{term()}
		}
	}
	p, some := &q.Preemptor.Pods[0], term()
	switch r.IntN(3) {
	case 0:
		p.Spread = []cluster.Spread{{TopologyKey: some.TopologyKey, Selector: some.Selector, MaxSkew: int32(1 + r.IntN(3))}}
	case 1:
		p.AntiAffinity = []cluster.AffinityTerm{some}
	case 2:
		p.Affinity = []cluster.AffinityTerm{some}
	}
	return q
}

// columnsSayTheSame: what is found by columns is what every node by itself gives.
func columnsSayTheSame(t fatal, o preemption.Options, seed uint64) *preemption.Result {
	q := crowd(seed)
	want, err := o.PreemptPlainly(q.Preemptor, &q.Snapshot)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	have, err := o.Preempt(q.Preemptor, &q.Snapshot)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	warm, err := o.PreemptWarm(q.Preemptor, &q.Snapshot)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if diff := cmp.Diff(have, warm); diff != "" {
		t.Fatalf("seed %d: (-first answer +third):\n%s", seed, diff)
	}
	want.Stats.Trials, have.Stats.Trials = 0, 0
	if diff := cmp.Diff(want, have); diff != "" {
		t.Fatalf("seed %d: (-each node +columns):\n%s", seed, diff)
	}
	return have
}

func TestColumnsSayTheSame(t *testing.T) {
	t.Parallel()
	seen := map[preemption.Verdict]int{}
	asked, violating := 0, 0
	for seed := uint64(0); seed < 250; seed += 50 / seeds(50) {
		for _, rules := range []preemption.Rules{preemption.Kubernetes137, preemption.Kubernetes136} {
			r := columnsSayTheSame(t, preemption.Options{Rules: rules}, seed)
			asked++
			seen[r.Verdict]++
			if r.Violations > 0 {
				violating++
			}
		}
	}
	require.Greater(t, seen[preemption.Feasible], asked/5)
	require.Greater(t, seen[preemption.Infeasible], asked*6/100)
	require.Greater(t, seen[preemption.Fits], asked*6/100)
	require.Greater(t, violating, asked/100)
}

func FuzzColumnsSayTheSame(f *testing.F) {
	f.Fuzz(func(t *testing.T, seed uint64, older bool) {
		o := preemption.Options{}
		if older {
			o.Rules = preemption.Kubernetes136
		}
		columnsSayTheSame(t, o, seed)
	})
}

// TestLeavingNodesEarlyChangesNoAnswer: in full clusters, mostly with terms between
// pods, what is found when nodes that can't be the best are left early is what the search finds
// that takes every pod of every node out and asks about each return.
func TestLeavingNodesEarlyChangesNoAnswer(t *testing.T) {
	t.Parallel()
	victims, ties := 0, 0
	for seed := range seeds(400) {
		r := rand.New(rand.NewPCG(seed, 7))
		shape := gen.Shapes()[r.IntN(len(gen.Shapes()))]
		snap := gen.Fleet(3+r.IntN(20), 2+r.IntN(20), seed, shape)
		term := func(key string) cluster.AffinityTerm {
			return cluster.AffinityTerm{TopologyKey: key, Selector: &disruption.Selector{MatchLabels: map[string]string{"tier": fmt.Sprint(r.IntN(4))}}}
		}
		keys := []string{"host", "zone"}
		for i := range snap.Nodes {
			snap.Nodes[i].Labels = map[string]string{"host": snap.Nodes[i].Name, "zone": fmt.Sprint(i % 5)}
			if r.IntN(20) == 0 {
				delete(snap.Nodes[i].Labels, keys[r.IntN(2)])
			}
		}
		for i := range snap.Pods {
			p := &snap.Pods[i]
			p.Labels = map[string]string{"tier": fmt.Sprint(r.IntN(12)), "app": p.Labels["app"]} // budgets go by app
			if p.Node > "node-000001" {                                                          // on the first nodes everybody counts
				delete(p.Labels, "app")
			}
			p.Terminating = r.IntN(30) == 0
			if seed%4 > 0 && r.IntN(8) == 0 {
				p.AntiAffinity = []cluster.AffinityTerm{term(keys[r.IntN(2)])}
			}
		}
		preemptor := gen.FleetPod(seed)
		in := &preemptor.Pods[0]
		in.Labels = map[string]string{"tier": fmt.Sprint(r.IntN(4))}
		if seed%4 > 0 && r.IntN(2) == 0 {
			in.AntiAffinity = []cluster.AffinityTerm{term("host")}
		}
		if seed%4 > 0 && r.IntN(3) == 0 {
			in.Affinity = []cluster.AffinityTerm{term("zone")}
		}
		if seed%4 > 0 && r.IntN(2) == 0 {
			in.Spread = []cluster.Spread{{TopologyKey: keys[r.IntN(2)], MaxSkew: 1 + int32(r.IntN(2)), Selector: term("").Selector}}
		}
		ask := func(o preemption.Options) *preemption.Result {
			got, err := o.Preempt(preemptor, &snap)
			require.NoError(t, err)
			return got
		}
		got := ask(preemption.Options{})
		ignore := cmpopts.IgnoreFields(preemption.Result{}, "Stats", "Trace", "Candidates")
		beside := func(c domain.Constraint) preemption.Options {
			return preemption.Options{Hooks: &preemption.Hooks{Constraints: []domain.Constraint{c}}}
		}
		if diff := cmp.Diff(ask(beside(blind{})), ask(beside(quiet{})), ignore); diff != "" {
			t.Fatalf("seed %d, %s (-pod by pod +swept):\n%s", seed, shape, diff)
		}
		if diff := cmp.Diff(ask(preemption.Options{Candidates: true}), got, ignore); diff != "" {
			t.Fatalf("seed %d, %s (-all candidates +best):\n%s", seed, shape, diff)
		}
		victims += len(got.Victims)
		if len(got.Victims) > 1 {
			ties++
		}
	}
	require.Greater(t, victims, int(seeds(150)), "the questions are worth asking")
	require.Greater(t, ties, int(seeds(20)))
}

// TestWhatHasHappenedAheadOfTheTime: clocks differ, and a planner's stands still between two
// changes. What lies ahead counts as now, and is told as long as it does.
func TestWhatHasHappenedAheadOfTheTime(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }
	o := preemption.Options{Limits: preemption.Limits{Window: preemption.Window{Seconds: 60, Pods: 2}}}
	o.Guards.Cooldown.Evictions, o.Guards.Cooldown.Seconds = 1, 60
	s := &preemption.Snapshot{Time: noon, Nodes: []preemption.Node{{Name: "n", Allocatable: preemption.Resources{cluster.CPU: 2}}}, PodGroups: []preemption.PodGroup{{Name: "g"}}}
	pl, err := preemption.NewPlanner(s, o)
	require.NoError(t, err)
	pod := func(name string) preemption.Pod {
		return preemption.Pod{Name: name, Node: "n", Priority: prio(0), Requests: preemption.Resources{cluster.CPU: 1}}
	}
	saved, evicted := pod("saved"), pod("evicted")
	saved.Cost, evicted.Evictions = &cluster.Cost{Checkpoint: at(20)}, []time.Time{at(-5), at(10)}
	require.NoError(t, pl.SetPod(saved))
	require.NoError(t, pl.SetPod(evicted))
	require.NoError(t, pl.SetPodGroup(preemption.PodGroup{Name: "g", Cost: &cluster.Cost{Checkpoint: at(30)}}))

	ask := preemption.Preemptor{Pods: []preemption.Pod{{Name: "high", Priority: prio(9), Requests: preemption.Resources{cluster.CPU: 1}}}}
	fields := func() (list []string) {
		r, err := pl.Preempt(ask)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict, r.Message)
		require.Equal(t, "saved", r.Victims[0].Name, "the other one cools down")
		for _, w := range r.Warnings {
			list = append(list, w.Name+" "+w.Field+" "+w.Value)
		}
		return list
	}
	group, checkpoint, eviction := "g Cost.Checkpoint 2026-01-02T12:00:30Z", "saved Cost.Checkpoint 2026-01-02T12:00:20Z", "evicted Evictions[1] 2026-01-02T12:00:10Z"
	require.Equal(t, []string{eviction, checkpoint, group}, fields())
	require.NoError(t, pl.SetTime(at(10)))
	require.Equal(t, []string{checkpoint, group}, fields())
	require.NoError(t, pl.SetTime(at(29)))
	require.Equal(t, []string{group}, fields())
	require.NoError(t, pl.SetTime(at(5)), "backwards")
	require.Equal(t, []string{eviction, checkpoint, group}, fields())
	require.NoError(t, pl.SetTime(time.Time{}))
	require.NoError(t, pl.SetTime(at(40)))
	require.Empty(t, fields())

	r, err := pl.Preempt(ask)
	require.NoError(t, err)
	require.NoError(t, pl.Evict(r)) // notes for the window that a pod has been evicted
	require.NoError(t, pl.Remove(preemption.PodRef{Name: "high"}))
	require.NoError(t, pl.SetPod(saved))
	require.NoError(t, pl.SetTime(at(35)))
	require.Equal(t, []string{" Disruptions[0].Time 2026-01-02T12:00:40Z"}, fields())
	ask.Pods[0].Requests[cluster.CPU] = 2
	o.Guards = preemption.Guards{}
	snapshot := pl.Snapshot()
	r, err = o.Preempt(ask, snapshot)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, r.Verdict, "what was evicted then counts for the window")

	o.Strict = true
	_, err = preemption.NewPlanner(snapshot, o)
	require.EqualError(t, err, `cluster: Snapshot: Disruptions[0].Time: 2026-01-02T12:00:40Z is not accepted under Strict (after the snapshot's time: no time has passed since)`)
}

// TestVictimsBelowTheLowestLevelViolate: who violates a budget is tried twice where the
// lowest level is looked for, and violates it all the same.
func TestVictimsBelowTheLowestLevelViolate(t *testing.T) {
	low, high := int32(10), int32(1000)
	cpu := func(milli int64) preemption.Resources { return preemption.Resources{cluster.CPU: milli} }
	s := preemption.Snapshot{
		Nodes: []cluster.Node{{Name: "n1", Allocatable: cpu(2000)}},
		Pods: []preemption.Pod{
			{Name: "a", Node: "n1", Labels: map[string]string{"app": "web"}, Priority: &low, Requests: cpu(2000)},
			{Name: "p", Priority: &high, Requests: cpu(2000)},
		},
		Budgets: []preemption.Budget{{Name: "b", Selector: &preemption.Selector{MatchLabels: map[string]string{"app": "web"}}}},
	}
	r, err := preemption.Options{LowestLevel: true}.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: "p"}, &s)
	require.NoError(t, err)
	require.Equal(t, 1, r.Violations)
	require.True(t, r.Victims[0].Violates)
}

// TestLowestGangsHold: a gang that moves while those come back who violate budgets keeps its seats where
// the placers find no other placement for as many; every answer is verified.
func TestLowestGangsHold(t *testing.T) {
	t.Parallel()
	one, asked := int32(1), 0
	for seed := range seeds(2500) {
		q := gen.RandomGang(seed, gen.GangProfile{Profile: gen.Profile{MaxNodes: 3, MaxPods: 12, Budgets: seed%2 == 0, Nominations: seed%4 == 0}, MaxMembers: 4})
		if !asksSomething(q) {
			continue
		}
		for i := range q.Snapshot.PodGroups {
			q.Snapshot.PodGroups[i].MinCount, q.Snapshot.PodGroups[i].Basic = &one, false
		}
		o := preemption.Options{LowestLevel: true, Rules: preemption.Kubernetes136, Members: preemption.AllThatFit}
		pl, err := preemption.NewPlanner(&q.Snapshot, o)
		require.NoError(t, err)
		r, err := pl.Preempt(q.Preemptor)
		require.NoError(t, err, "seed %d", seed)
		if r.Verdict != preemption.Feasible {
			require.False(t, r.Verdict == preemption.Fits && len(r.Nominations) == 0, "seed %d: %s", seed, r.Message)
			continue
		}
		asked++
		require.NoError(t, pl.Evict(r), "seed %d", seed)
		for _, n := range r.Nominations {
			require.NoError(t, pl.Bind(n.Pod, n.Node), "seed %d", seed)
		}
	}
	require.Greater(t, asked, int(seeds(2500))/4)
}

// TestLowestGangsSeatAllThatFit: a level that is not enough for as many members leaves nobody out under the next one.
func TestLowestGangsSeatAllThatFit(t *testing.T) {
	t.Parallel()
	feasible := 0
	for seed := range seeds(2500) {
		seed += 3400 // 3557 is one where fewer were seated
		q := gen.RandomGang(seed, gen.GangProfile{Profile: gen.Profile{MaxNodes: 3, MaxPods: 12, Groups: true}, MaxMembers: 8, Running: true})
		if !asksSomething(q) {
			continue
		}
		o := preemption.Options{LowestLevel: true, Rules: preemption.Kubernetes136, Members: preemption.AllThatFit}
		if ask(&named{t, seed}, o, q).Verdict == preemption.Feasible { // each answer is verified
			feasible++
		}
	}
	require.Greater(t, feasible, int(seeds(2500))/10)
}
