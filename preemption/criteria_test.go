package preemption_test

import (
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/genopts"
	"github.com/preempt-go/preempt/internal/naive"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
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
	if diff := gocmp.Diff(have, warm); diff != "" {
		t.Fatalf("seed %d: (-first answer +third):\n%s", seed, diff)
	}
	want.Stats.Trials, have.Stats.Trials = 0, 0
	if diff := gocmp.Diff(want, have); diff != "" {
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
		if diff := gocmp.Diff(ask(beside(blind{})), ask(beside(quiet{})), ignore); diff != "" {
			t.Fatalf("seed %d, %s (-pod by pod +swept):\n%s", seed, shape, diff)
		}
		if diff := gocmp.Diff(ask(preemption.Options{Candidates: true}), got, ignore); diff != "" {
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

// Groups whose pods go one by one are touched once, however many of them go: on nodes where they
// share places in every way, no set of victims beats what Exact finds, and it always finds it.
func TestFewestGroupsIsBruteForce(t *testing.T) {
	t.Parallel()
	fewer, ties := 0, 0
	for seed := range seeds(1500) {
		r := rand.New(rand.NewPCG(seed, 21))
		q := sharedGroups(r)
		o := preemption.Options{
			Objective: []preemption.CriterionName{preemption.CriterionGroups, preemption.CriterionPods, preemption.CriterionLevels},
			Cost:      preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}},
		}
		r.Shuffle(2, func(i, j int) { o.Objective[i], o.Objective[j] = o.Objective[j], o.Objective[i] })
		if seed%3 == 0 {
			o.Limits.Pods = 1 + r.Int64N(4)
		}
		var least []int64
		fates := fatesIn(t, o, &q)
		for _, n := range q.Snapshot.Nodes {
			require.NoError(t, naive.Sets(plain(o), q.Preemptor, &q.Snapshot, n.Name, func(c naive.Candidate) {
				v := values(o.Objective, c, fates, nil)
				if pods := int64(c.Score.Pods); (o.Limits.Pods == 0 || pods <= o.Limits.Pods) && (least == nil || slices.Compare(v, least) < 0) {
					least = v
				}
			}))
		}
		greedy := ask(&named{t, seed}, o, q)
		if greedy.Verdict == preemption.Fits {
			continue
		}
		o.Search = preemption.Exact
		exact := ask(&named{t, seed}, o, q)
		if least == nil {
			require.NotEqual(t, preemption.Feasible, exact.Verdict, "seed %d", seed)
			continue
		}
		require.Equal(t, least, said(exact.Score), "seed %d: of %v", seed, o.Objective)
		require.True(t, exact.Optimal, "seed %d", seed)
		if greedy.Verdict == preemption.Feasible && slices.Compare(least, said(greedy.Score)) < 0 {
			fewer++
		} else {
			ties++
		}
	}
	t.Log(fewer, ties)
	require.Greater(t, fewer, int(seeds(1500))/10)
	require.Greater(t, ties, int(seeds(1500))/20)
}

// TestLevelsAreToldApartAsFarAsThereAreFew: a score has so many numbers and no more, however many
// priorities there are, and of those the highest.
func TestLevelsAreToldApartAsFarAsThereAreFew(t *testing.T) {
	t.Parallel()
	high := int32(1_000)
	s := preemption.Snapshot{Pods: []preemption.Pod{{Name: "web", Priority: &high, Requests: preemption.Resources{cluster.CPU: 2}}}}
	for n := range 60 {
		node := fmt.Sprint("n", n)
		s.Nodes = append(s.Nodes, preemption.Node{Name: node, Allocatable: preemption.Resources{cluster.CPU: 2}})
		for i := range 2 {
			level := int32(60*i + n)
			s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint("p", level), Node: node, Priority: &level, Requests: preemption.Resources{cluster.CPU: 1}})
		}
	}
	q := gen.Question{Snapshot: s, Preemptor: preemption.Preemptor{Kind: cluster.KindPod, Name: "web"}}
	for _, search := range []preemption.Search{preemption.Greedy, preemption.Exact} {
		r := ask(&named{t, 0}, preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionLevels, preemption.CriterionPods}, Search: search}, q)
		require.Equal(t, "n0", r.Domain)
		require.Len(t, r.Score, 101)
		require.Equal(t, preemption.Criterion{Name: "pods of priority 119"}, r.Score[0])
		require.Equal(t, preemption.Criterion{Name: "pods of priority 60", Value: 1}, r.Score[59])
		require.Equal(t, preemption.Criterion{Name: "pods of priority 20"}, r.Score[99], "the pod of priority 0 counts as a pod alone")
		require.Equal(t, preemption.Criterion{Name: "pods", Value: 2}, r.Score[100])
	}
}

// sharedGroups is a question about two nodes with pods of few groups, some of them spread over both.
func sharedGroups(r *rand.Rand) gen.Question {
	high := int32(100)
	s := preemption.Snapshot{}
	for g := range 3 {
		s.PodGroups = append(s.PodGroups, preemption.PodGroup{Namespace: "ml", Name: fmt.Sprint("g", g), Mode: disruption.Single})
	}
	for n := range 2 {
		node := fmt.Sprint("n", n)
		s.Nodes = append(s.Nodes, preemption.Node{Name: node, Allocatable: preemption.Resources{cluster.CPU: 10, cluster.Memory: 12}})
		for i := range 5 + r.IntN(3) {
			level := int32(r.IntN(3) * 10)
			p := preemption.Pod{Namespace: "ml", Name: fmt.Sprint("p", n, "-", i), Node: node, Priority: &level, Cost: &cluster.Cost{}}
			p.Requests = preemption.Resources{cluster.CPU: 1 + r.Int64N(2), cluster.Memory: r.Int64N(3)}
			if g := r.IntN(4); g < 3 {
				p.Group = fmt.Sprint("g", g)
			}
			s.Pods = append(s.Pods, p)
		}
	}
	web := preemption.Pod{Namespace: "ml", Name: "web", Priority: &high, Requests: preemption.Resources{cluster.CPU: 3 + r.Int64N(5), cluster.Memory: 4 + r.Int64N(5)}}
	s.Pods = append(s.Pods, web)
	return gen.Question{Snapshot: s, Preemptor: preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ml", Name: "web"}}
}

// One pod of a higher priority would do, or two pods of two groups, or four of one group: the
// objective says which.
func ExampleCriterionName() {
	low, middle, high := int32(0), int32(10), int32(1_000)
	cores := func(n int64) preemption.Resources { return preemption.Resources{cluster.CPU: 1_000 * n} }
	pod := func(name, group string, priority *int32, n int64) preemption.Pod {
		return preemption.Pod{Namespace: "ml", Name: name, Group: group, Node: "a", Priority: priority, Requests: cores(n)}
	}
	s := preemption.Snapshot{
		Nodes:     []preemption.Node{{Name: "a", Allocatable: cores(12)}},
		PodGroups: []preemption.PodGroup{{Namespace: "ml", Name: "bert"}, {Namespace: "ml", Name: "db"}, {Namespace: "ml", Name: "gpt"}, {Namespace: "ml", Name: "t5"}},
		Pods: []preemption.Pod{
			pod("bert-0", "bert", &low, 2), pod("gpt-0", "gpt", &low, 2), pod("t5-0", "t5", &low, 1), pod("t5-1", "t5", &low, 1),
			pod("t5-2", "t5", &low, 1), pod("t5-3", "t5", &low, 1), pod("db", "db", &middle, 4),
			{Namespace: "ml", Name: "web", Priority: &high, Requests: cores(4)},
		},
	}
	for _, least := range [][]preemption.CriterionName{
		{preemption.CriterionPods}, {preemption.CriterionLevels}, {preemption.CriterionGroups, preemption.CriterionLevels},
	} {
		o := preemption.Options{Objective: least, Search: preemption.Exact}
		r, err := o.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ml", Name: "web"}, &s)
		must(err)
		fmt.Println(r.Message, r.Score)
	}
	// Output:
	// fits on a once 1 pod is evicted [{pods 1}]
	// fits on a once 2 pods are evicted [{pods of priority 10 0} {pods of priority 0 2}]
	// fits on a once 4 pods are evicted [{groups touched 1} {pods of priority 10 0} {pods of priority 0 4}]
}

// Either of two pods would make room. One is important enough to evict a third in turn; the other
// finds nobody whom it could, and waits.
func ExampleCriterionName_cascade() {
	cores := func(n int64) preemption.Resources { return preemption.Resources{cluster.CPU: 1_000 * n} }
	fast := map[string]string{"disk": "fast"}
	pod := func(name, node string, priority int32) preemption.Pod {
		return preemption.Pod{Namespace: "shop", Name: name, Node: node, Priority: &priority, Requests: cores(2)}
	}
	web := pod("web", "", 1_000)
	web.NodeSelector = fast
	s := preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "a", Allocatable: cores(2), Labels: fast}, {Name: "b", Allocatable: cores(2), Labels: fast}, {Name: "c", Allocatable: cores(2)},
		},
		Pods: []preemption.Pod{pod("cart", "a", 20), pod("report", "b", 10), pod("cache", "c", 10), web},
	}
	for _, least := range []preemption.CriterionName{preemption.CriterionStranded, preemption.CriterionCascade} {
		o := preemption.Options{Objective: []preemption.CriterionName{least}}
		r, err := o.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "shop", Name: "web"}, &s)
		must(err)
		fmt.Println(r.Victims[0].Name, r.Score)
	}
	// Output:
	// cart [{pods without a place 1}]
	// report [{pods that preempt in turn 0}]
}

// A job of two pods goes as a whole, so that a node is free of which nothing is needed; or a pod
// of another node does, and the job stays.
func ExampleCriterionName_nodes() {
	low, high := int32(0), int32(1_000)
	cores := preemption.Resources{cluster.CPU: 2_000}
	s := preemption.Snapshot{PodGroups: []preemption.PodGroup{{Namespace: "ml", Name: "job", Mode: preemption.All, Priority: &low}}}
	for i, name := range []string{"job-0", "job-1", "batch"} {
		node := string(rune('a' + i))
		p := preemption.Pod{Namespace: "ml", Name: name, Node: node, Priority: &low, Requests: cores}
		if i < 2 {
			p.Group = "job"
		}
		s.Nodes, s.Pods = append(s.Nodes, preemption.Node{Name: node, Allocatable: cores}), append(s.Pods, p)
	}
	s.Pods = append(s.Pods, preemption.Pod{Namespace: "ml", Name: "web", Priority: &high, Requests: cores})
	for _, least := range []preemption.CriterionName{preemption.CriterionPods, preemption.CriterionNodes} {
		o := preemption.Options{Objective: []preemption.CriterionName{least}}
		r, err := o.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ml", Name: "web"}, &s)
		must(err)
		fmt.Println(r.Message, r.Score)
	}
	// Output:
	// fits on c once 1 pod is evicted [{pods 1}]
	// fits on a once pod group ml/job (2 pods) is evicted [{nodes in use 2}]
}

// Two jobs of two pods lie on four nodes, one of them in a rack, the other in two: as many nodes
// are free in the end, whichever goes, and a rack only if the second one does.
func ExampleCriterionName_domains() {
	low, high := int32(0), int32(1_000)
	cores := preemption.Resources{cluster.CPU: 2_000}
	var s preemption.Snapshot
	for i, rack := range []string{"r1", "r1", "r2", "r3"} {
		node, job := string(rune('a'+i)), []string{"near", "wide"}[i/2]
		s.Nodes = append(s.Nodes, preemption.Node{Name: node, Allocatable: cores, Labels: map[string]string{"rack": rack}})
		s.Pods = append(s.Pods, preemption.Pod{Namespace: "ml", Name: job + "-" + node, Group: job, Node: node, Priority: &low, Requests: cores})
	}
	for _, job := range []string{"near", "wide"} {
		s.PodGroups = append(s.PodGroups, preemption.PodGroup{Namespace: "ml", Name: job, Mode: preemption.All, Priority: &low})
	}
	s.Pods = append(s.Pods, preemption.Pod{Namespace: "ml", Name: "web", Priority: &high, Requests: cores})
	for _, least := range []preemption.CriterionName{preemption.CriterionNodes, preemption.CriterionDomains + "rack"} {
		o := preemption.Options{Objective: []preemption.CriterionName{least}}
		r, err := o.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ml", Name: "web"}, &s)
		must(err)
		fmt.Println(r.Message, r.Score)
	}
	// Output:
	// fits on a once pod group ml/near (2 pods) is evicted [{nodes in use 3}]
	// fits on c once pod group ml/wide (2 pods) is evicted [{domains in use by rack 2}]
}

// Halves of GPUs are held on two nodes: two of one GPU, and one of each of two. A pod that wants a
// half, too, leaves a GPU whole where it joins what is left of the second pair.
func ExampleCriterionName_devices() {
	low, high := int32(0), int32(1_000)
	half := func(name, node string, gpu ...int32) preemption.Pod {
		return preemption.Pod{
			Namespace: "ml", Name: name, Node: node, Priority: &low, Requests: preemption.Resources{cluster.CPU: 1_000},
			Devices: []cluster.DeviceRequest{{Resource: "gpu", Fraction: 500, Assigned: gpu}},
		}
	}
	var s preemption.Snapshot
	for _, name := range []string{"a", "b"} {
		s.Nodes = append(s.Nodes, preemption.Node{
			Name: name, Allocatable: preemption.Resources{cluster.CPU: 2_000}, Devices: map[string]cluster.DevicePool{"gpu": {Count: 2, Capacity: 1_000}},
		})
	}
	web := half("web", "")
	web.Priority = &high
	s.Pods = []preemption.Pod{half("a-1", "a", 0), half("a-2", "a", 0), half("b-1", "b", 0), half("b-2", "b", 1), web}
	for _, least := range []preemption.CriterionName{preemption.CriterionPods, preemption.CriterionDevices} {
		o := preemption.Options{Objective: []preemption.CriterionName{least}}
		r, err := o.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ml", Name: "web"}, &s)
		must(err)
		fmt.Println(r.Message, r.Score)
	}
	// Output:
	// fits on a once 1 pod is evicted [{pods 1}]
	// fits on b once 1 pod is evicted [{devices in use 2}]
}

// TestWhatIsInUseIsCounted: of whatever is evicted for whomever, in any cluster, the numbers are those of what
// runs in the end, and [check.Verify] refuses any other.
func TestWhatIsInUseIsCounted(t *testing.T) {
	t.Parallel()
	used := slices.DeleteFunc(slices.Clone(genopts.Criteria), func(c preemption.CriterionName) bool { return !c.InUse() })
	seen := map[string]int{}
	for seed := range sparse(20000) {
		q := gen.RandomWorld(seed)
		switch seed % 4 {
		case 1: // many pods with devices
			q = gen.Random(seed, gen.Profile{MaxNodes: 3, MaxPods: 40, Groups: true})
			deviced(seed, &q)
		case 2, 3: // jobs over many nodes that go as a whole
			q = gen.RandomGang(seed, gen.GangProfile{Profile: gen.Profile{MaxNodes: 8, MaxPods: 12}, Topology: true, MaxMembers: 1 + int(seed/4%4)})
			for i := range q.Snapshot.Pods {
				if p := &q.Snapshot.Pods[i]; p.Node != "" && p.Group == "" {
					p.Group = fmt.Sprint("job-", i%3)
					if i < 3 {
						q.Snapshot.PodGroups = append(q.Snapshot.PodGroups, preemption.PodGroup{Namespace: p.Namespace, Name: p.Group, Mode: preemption.All, Priority: p.Priority})
					}
				}
			}
		}
		o := preemption.Options{Objective: used, Search: []preemption.Search{"", preemption.Exact}[seed/4%2]}
		r, err := o.Preempt(q.Preemptor, &q.Snapshot)
		if err != nil || r.Verdict != preemption.Feasible || len(r.Score) == 0 {
			continue
		}
		out, come := map[string]bool{}, arrivals{}
		for _, v := range r.Victims {
			for _, p := range v.Pods {
				out[p.Namespace+"/"+p.Name] = true
			}
		}
		for _, n := range r.Nominations {
			for _, p := range slices.Concat(q.Snapshot.Pods, q.Preemptor.Pods) {
				if p.Namespace == n.Pod.Namespace && p.Name == n.Pod.Name {
					come[n.Node] = append(come[n.Node], p)
				}
			}
		}
		fates, none := fatesIn(t, o, &q), map[string]bool{}
		for i, c := range r.Score {
			name := preemption.CriterionName(c.Name)
			require.Equal(t, fates.inUse(name, out, come), c.Value, "seed %d: %s", seed, name)
			if now := fates.inUse(name, none, nil); now > 0 && c.Value != now {
				seen[c.Name]++
			}
			if r.Quota == nil { // else it is not verified
				r.Score[i].Value++
				require.NotEmpty(t, check.Verify(&q.Snapshot, o, q.Preemptor, r), "seed %d: %s", seed, name)
				r.Score[i].Value--
			}
		}
		if len(r.Nominations) > 1 {
			seen["gangs"]++
		}
	}
	t.Log(seen)
	for _, what := range []string{"gangs", "nodes in use", "devices in use", "domains in use by zone", "domains in use by rack"} {
		require.Greater(t, seen[what], int(sparse(40)), what)
	}
}

// The score of a trace tells the earliest start as a time, and says so where neither
// a start nor the time of the snapshot is known.
func TestScoreTellsTheEarliestStart(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		started time.Time
		want    string
	}{
		"known":   {noon, "score violations 0, highest priority 0, sum of priorities 2147483648, pods 1, earliest start 2026-01-02T12:00:00Z"},
		"unknown": {time.Time{}, "score violations 0, highest priority 0, sum of priorities 2147483648, pods 1, earliest start unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			one := int32(1)
			s := &preemption.Snapshot{
				Nodes: []cluster.Node{{Name: "n1", Allocatable: cluster.Resources{"cpu": 1000, "pods": 10}}},
				Pods: []cluster.Pod{
					{Namespace: "x", Name: "old", Node: "n1", Requests: cluster.Resources{"cpu": 1000}, Started: tt.started},
					{Namespace: "x", Name: "new", Requests: cluster.Resources{"cpu": 1000}, Priority: &one},
				},
			}
			r, err := preemption.Options{Explain: true}.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "x", Name: "new"}, s)
			require.NoError(t, err)
			require.Len(t, r.Trace, 1)
			var texts []string
			for _, step := range r.Trace[0].Steps {
				texts = append(texts, step.Text)
			}
			require.Contains(t, texts, tt.want)
		})
	}
}

// best is the most members that can have a place in one of the regions, and the
// least score at which they can, over every placement.
func best(g *naive.Gang, regions []naive.Region) (most int, score []int64) {
	for _, r := range regions {
		most = max(most, g.MostSeated(r.Nodes, naive.Gone(g.Potential(r.Nodes))))
	}
	for _, r := range regions {
		g.EachPlacement(r.Nodes, naive.Gone(g.Potential(r.Nodes)), func(p naive.Places) bool {
			if len(p) != most || !g.Useful(p) {
				return true
			}
			if plan, st := g.At(p, r.Nodes); st.OK() {
				if v := scoreValues(plan.Score); score == nil || slices.Compare(v, score) < 0 {
					score = v
				}
			}
			return true
		})
	}
	return most, score
}

// TestNoPlacementDisruptsLessInSmallClusters: where all placements can be looked at,
// the answer is the best of them: most members, then the lowest score.
func TestNoPlacementDisruptsLessInSmallClusters(t *testing.T) {
	for name, profile := range gangsAsked() {
		if profile.Wishes {
			continue // child groups that want a region of their own are placed one after the other
		}
		for rules, o := range map[string]preemption.Options{"Kubernetes137": {}, "broken": {BrokenGroupsFree: true}} {
			t.Run(name+"/"+rules, func(t *testing.T) {
				t.Parallel()
				asked := 0
				for seed := range seeds(600) {
					q := gen.RandomGang(seed, profile)
					if !asksSomething(q) {
						continue
					}
					g, err := naive.NewGang(gangOptions(o), q.Preemptor, &q.Snapshot)
					require.NoError(t, err)
					verdict, able := gangTwinVerdict(o, g, q.Preemptor)
					if verdict != naive.Feasible {
						continue
					}
					asked++
					most, score := best(g, able)
					r := ask(&named{t, seed}, o, q)
					require.Len(t, r.Nominations, most, "seed %d", seed)
					require.Equal(t, score, resultDecision(r).Score, "seed %d: %s", seed, r.Message)
				}
				require.NotZero(t, asked)
			})
		}
	}
}

// TestAllThatFitSeatsAll: whatever the rules and the placement, as many members get a
// place as fit anywhere with everybody gone whom the gang may evict, or as things stand.
func TestAllThatFitSeatsAll(t *testing.T) {
	for name, profile := range gangsAsked() {
		if profile.Wishes {
			continue
		}
		profile.MaxMembers = 6
		for _, o := range []preemption.Options{
			{}, {Rules: preemption.Kubernetes136}, {Rules: preemption.KEP5710Alpha}, {LowestLevel: true},
			{Placement: preemption.PlacePack}, {Placement: preemption.PlaceSpread},
		} {
			o.Members = preemption.AllThatFit
			t.Run(fmt.Sprint(name, "/", o.Rules, o.Placement, o.LowestLevel), func(t *testing.T) {
				t.Parallel()
				asked, fit := 0, 0
				for seed := range sparse(2800) {
					q := sound(o, gen.RandomGang(seed, profile))
					if !asksSomething(q) {
						continue
					}
					r := ask(&named{t, seed}, o, q)
					if r.Verdict != preemption.Feasible && r.Verdict != preemption.Fits {
						continue
					}
					g, err := naive.NewGang(gangOptions(o), q.Preemptor, &q.Snapshot)
					require.NoError(t, err)
					most := 0
					if r.Verdict == preemption.Fits {
						for _, round := range g.Rounds() {
							for _, region := range round {
								most = max(most, g.MostSeated(region.Nodes, nil))
							}
							if most > 0 {
								break
							}
						}
						require.Len(t, r.Nominations, most, "seed %d: %s", seed, r.Message)
						fit++
						continue
					}
					verdict, able := gangTwinVerdict(o, g, q.Preemptor)
					require.Equal(t, naive.Feasible, verdict, "seed %d", seed)
					for _, region := range able {
						most = max(most, g.MostSeated(region.Nodes, naive.Gone(g.Potential(region.Nodes))))
					}
					require.Len(t, r.Nominations, most, "seed %d: %s", seed, r.Message)
					asked++
				}
				require.NotZero(t, asked)
				require.NotZero(t, fit)
			})
		}
	}
}

// TestTheFullestGroupsAreSeated: of groups of 1, 2, 2 and 2 members that run whole, the last three take six seats.
func TestTheFullestGroupsAreSeated(t *testing.T) {
	one, high := int32(1), int32(10)
	s := preemption.Snapshot{CompositePodGroups: []cluster.CompositePodGroup{{Namespace: "x", Name: "job", Priority: &high, MinGroupCount: &one}}}
	core := cluster.Resources{cluster.CPU: 1000}
	for i := range 6 {
		n := fmt.Sprint("n", i)
		s.Nodes = append(s.Nodes, preemption.Node{Name: n, Allocatable: core})
		s.Pods = append(s.Pods, preemption.Pod{Namespace: "x", Name: "on-" + n, Node: n, Requests: core})
	}
	for i, size := range []int32{1, 2, 2, 2} {
		g := fmt.Sprint("g", i)
		s.PodGroups = append(s.PodGroups, cluster.PodGroup{Namespace: "x", Name: g, Parent: "job", Priority: &high, MinCount: &size})
		for k := range size {
			s.Pods = append(s.Pods, preemption.Pod{Namespace: "x", Name: fmt.Sprint(g, "-", k), Group: g, Priority: &high, Requests: core})
		}
	}
	r, err := preemption.Preempt(preemption.Preemptor{Kind: cluster.KindCompositePodGroup, Namespace: "x", Name: "job"}, &s)
	require.NoError(t, err)
	require.Len(t, r.Nominations, 6)
	require.False(t, slices.ContainsFunc(r.Nominations, func(n preemption.Nomination) bool { return n.Pod.Name == "g0-0" }))
}

// TestLeastDisruptionComesCloseToTheBest compares the answer in clusters of up to 20
// nodes with what looking at every placement gives, and holds how often it is the
// best. Measured over 1000 seeds, some 480 questions each that evictions answer: 474
// of 480 and 481 of 483; 386 and 382 without the search beyond the placers.
func TestLeastDisruptionComesCloseToTheBest(t *testing.T) {
	for name, profile := range map[string]gen.GangProfile{
		"8 nodes, 8 members":  {Profile: gen.Profile{MaxNodes: 8, MaxPods: 40, Groups: true}, MaxMembers: 8},
		"20 nodes, 4 members": {Profile: gen.Profile{MaxNodes: 20, MaxPods: 100, Groups: true}, MaxMembers: 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, reached := 0, 0
			worseIn := map[victims.Criterion]int{}
			for seed := range uint64(150) { // with -short too: a share of fewer means nothing
				q := gen.RandomGang(seed, profile)
				r := ask(&named{t, seed}, preemption.Options{}, q)
				if r.Verdict != preemption.Feasible {
					continue
				}
				all, err := preemption.Options{}.PreemptSearching(q.Preemptor, &q.Snapshot, math.MaxInt32)
				require.NoError(t, err)
				asked++
				got, want := seatsAndScore(r), seatsAndScore(all)
				require.GreaterOrEqual(t, slices.Compare(got, want), 0, "seed %d: every placement was looked at", seed)
				if slices.Equal(got, want) {
					reached++
					continue
				}
				i := 0
				for got[i] == want[i] {
					i++
				}
				worseIn[append([]victims.Criterion{"seated"}, victims.Criteria[:]...)[i]]++
			}
			t.Logf("the best in %d of %d; the others are worse in %v", reached, asked, worseIn)
			require.GreaterOrEqual(t, float64(reached)/float64(asked), 0.95)
		})
	}
}

// seatsAndScore is what placements are compared by, smaller is better.
func seatsAndScore(r *preemption.Result) []int64 {
	return append([]int64{-int64(len(r.Nominations))}, resultDecision(r).Score...)
}

// optimum is the least disruption by which so many equal members get a place: the
// highest priority that has to go, and then the smallest sum of raised priorities, over
// every placement and every set of victims. It is for pods that go one by one.
func optimum(q gen.Question, members int) (highest, sum int64) {
	ask := q.Preemptor.Pods[0].Requests[cluster.CPU]
	for highest = range int64(10) {
		least := make([]int64, members+1) // by members seated so far: the smallest sum
		for k := 1; k <= members; k++ {
			least[k] = math.MaxInt64
		}
		for _, n := range q.Snapshot.Nodes {
			node := cheapestOn(q, n, ask, highest, members)
			next := make([]int64, members+1)
			for k := range next {
				next[k] = math.MaxInt64
				for here := range k + 1 {
					if least[k-here] < math.MaxInt64 && node[here] < math.MaxInt64 {
						next[k] = min(next[k], least[k-here]+node[here])
					}
				}
			}
			least = next
		}
		if least[members] < math.MaxInt64 {
			return highest, least[members]
		}
	}
	return 0, 0
}

// cheapestOn is, by how many members get a place on node n, the smallest sum of raised
// priorities, over every set of its pods up to a priority.
func cheapestOn(q gen.Question, n cluster.Node, ask, highest int64, members int) []int64 {
	var pods []cluster.Pod
	free := n.Allocatable[cluster.CPU]
	for _, p := range q.Snapshot.Pods {
		if p.Node == n.Name {
			pods = append(pods, p)
			free -= p.Requests[cluster.CPU]
		}
	}
	least := make([]int64, members+1)
	for k := range least {
		least[k] = math.MaxInt64
	}
	for set := range 1 << len(pods) {
		room, sum, may := free, int64(0), true
		for i, p := range pods {
			if set>>i&1 == 1 {
				room, sum, may = room+p.Requests[cluster.CPU], sum+int64(*p.Priority)+1<<31, may && int64(*p.Priority) <= highest
			}
		}
		for k := range least {
			if may && int64(k)*ask <= room {
				least[k] = min(least[k], sum)
			}
		}
	}
	return least
}

// equalGang is a question about a gang of equal members in a full cluster of a few nodes
// with pods of that many sizes and priorities.
func equalGang(seed uint64, sizes, levels int) (q gen.Question, members int) {
	r := rand.New(rand.NewPCG(seed, 3))
	number := 0
	for i := range 3 + r.IntN(4) {
		n := cluster.Node{Name: fmt.Sprint("n", i), Allocatable: cluster.Resources{cluster.CPU: int64(6 + r.IntN(6))}}
		q.Snapshot.Nodes = append(q.Snapshot.Nodes, n)
		for free := n.Allocatable[cluster.CPU] - int64(r.IntN(2)); free > 0 && number < 8*(i+1); number++ {
			size, priority := min(free, int64(1+r.IntN(sizes))), int32(r.IntN(levels))
			q.Snapshot.Pods = append(q.Snapshot.Pods, cluster.Pod{
				Name: fmt.Sprint("p", number), Node: n.Name, Priority: &priority, Requests: cluster.Resources{cluster.CPU: size},
			})
			free -= size
		}
	}
	members = 2 + r.IntN(5)
	q.Preemptor = fleetGang(members, int64(1+r.IntN(5)))
	return q, members
}

// TestTheOptimumIsNear compares with the least disruption over every placement and every
// set of victims. Victims are given back one by one, the most important first, so that
// it need not be reached: the sum of raised priorities, which counts pods first of all,
// is held to a bound, and so is how often it is the least. The highest priority always
// is. With no checks the placers alone decide, as in large clusters. Measured over 2,000
// seeds, in turn: 1.000, 0.986, 0.727 and 0.759, at worst 1.00, 1.25, 2.00 and 3.00 times
// the sum; with checks 1.000, 1.000, 0.875 and 0.910, at worst 1, 1, 2 and 2 times.
func TestTheOptimumIsNear(t *testing.T) {
	for _, c := range []struct {
		sizes, levels, checks int
		share, bound          float64
	}{
		{1, 1, 0, 1, 1}, {1, 4, 0, 0.97, 1.5}, {4, 1, 0, 0.68, 2}, {4, 4, 0, 0.7, 3},
		{1, 1, 50_000, 1, 1}, {1, 4, 50_000, 1, 1}, {4, 1, 50_000, 0.83, 2}, {4, 4, 50_000, 0.87, 2},
	} {
		t.Run(fmt.Sprintf("sizes=%d/levels=%d/checks=%d", c.sizes, c.levels, c.checks), func(t *testing.T) {
			t.Parallel()
			asked, reached, worst := 0, 0, 1.0
			for seed := range uint64(400) { // with -short too: a share of fewer means nothing
				q, members := equalGang(seed, c.sizes, c.levels)
				r, err := preemption.Options{}.PreemptSearching(q.Preemptor, &q.Snapshot, c.checks)
				require.NoError(t, err)
				if r.Verdict != preemption.Feasible {
					continue
				}
				require.Len(t, r.Nominations, members)
				highest, sum := optimum(q, members)
				got := resultDecision(r).Score
				require.Equal(t, highest, got[1], "seed %d", seed)
				require.GreaterOrEqual(t, got[2], sum, "seed %d", seed)
				if asked++; got[2] == sum {
					reached++
				}
				worst = max(worst, float64(got[2])/float64(sum))
			}
			share := float64(reached) / float64(asked)
			t.Logf("the optimum in %d of %d (%.3f); at worst %.2f times its sum", reached, asked, share, worst)
			require.GreaterOrEqual(t, share, c.share)
			require.LessOrEqual(t, worst, c.bound)
		})
	}
}

// openb reads a file of the openb trace (Alibaba, 2023).
func openb(t *testing.T, name string) []map[string]string { return shared(t, "openb", name) }

// shared reads a file of a trace from the folder of shared data beside the project,
// or where PREEMPT_SHARED says: a map for each row.
func shared(t *testing.T, trace, name string) []map[string]string {
	root := os.Getenv("PREEMPT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "shared")
	}
	f, err := os.Open(filepath.Join(root, "data", trace, name))
	if err != nil {
		t.Skip("not there:", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	rows, err := csv.NewReader(z).ReadAll()
	require.NoError(t, err)
	var list []map[string]string
	for _, row := range rows[1:] {
		m := map[string]string{}
		for i, column := range rows[0] {
			m[column] = row[i]
		}
		list = append(list, m)
	}
	return list
}

func integer(t *testing.T, text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err)
	return n
}

// openbPod is a row as a pod: its priority by QoS class, its GPUs as devices. What
// else it asks for is left out, so that devices alone decide.
func openbPod(t *testing.T, row map[string]string) preemption.Pod {
	priority := map[string]int32{"BE": 0, "Burstable": 100, "LS": 1000, "Guaranteed": 1000}[row["qos"]]
	p := preemption.Pod{Name: row["name"], Priority: &priority}
	switch count, milli := integer(t, row["gpu_count"]), integer(t, row["gpu_milli"]); {
	case count == 1 && milli < 1000:
		p.Devices = []cluster.DeviceRequest{{Resource: gpu, Fraction: milli}}
	case count > 0:
		p.Devices = []cluster.DeviceRequest{{Resource: gpu, Count: int32(count)}}
	}
	return p
}

// openbCluster fills every eighth node with the GPU pods in order of the list, as
// far as they go, each on the node with the least room that is enough.
func openbCluster(t *testing.T) (s preemption.Snapshot) {
	var free [][]int64 // of each node
	for i, row := range openb(t, "nodes.csv.gz") {
		if count := integer(t, row["gpu_count"]); i%8 == 0 && count > 0 {
			s.Nodes = append(s.Nodes, cluster.Node{
				Name: row["name"], Devices: map[string]cluster.DevicePool{gpu: {Count: int32(count), Capacity: 1000}},
			})
			free = append(free, slices.Repeat([]int64{1000}, int(count)))
		}
	}
	for _, row := range openb(t, "pods.csv.gz") {
		p := openbPod(t, row)
		if len(p.Devices) == 0 {
			continue
		}
		best, least := -1, int64(0)
		for n := range free {
			if !hasRoom(free[n], p.Devices[0]) {
				continue
			}
			left := int64(0)
			for _, v := range free[n] {
				left += v
			}
			if best < 0 || left < least {
				best, least = n, left
			}
		}
		if best >= 0 {
			p.Node = s.Nodes[best].Name
			p.Devices[0].Assigned = take(free[best], p.Devices[0])
			s.Pods = append(s.Pods, p)
		}
	}
	return s
}

// take takes the devices of a request that has room, the fullest first.
func take(free []int64, r cluster.DeviceRequest) (devices []int32) {
	if r.Count == 0 {
		at := cluster.BestFit(free, r.Fraction)
		free[at] -= r.Fraction
		return []int32{int32(at)}
	}
	for i := range free {
		if free[i] == 1000 && len(devices) < int(r.Count) {
			free[i] = 0
			devices = append(devices, int32(i))
		}
	}
	return devices
}

// On the real cluster the victims of a pod with a fraction of a GPU are pods of one
// GPU, and those of a pod with whole GPUs clear as many.
func TestPodsOfOpenbGetVictimsThatFreeTheirGPUs(t *testing.T) {
	t.Parallel()
	s := openbCluster(t)
	planner, err := preemption.NewPlanner(&s, preemption.Options{})
	require.NoError(t, err)
	asked := map[string]int{}
	for i, row := range openb(t, "pods.csv.gz") {
		p := openbPod(t, row)
		if i%20 != 0 || len(p.Devices) == 0 {
			continue
		}
		p.Name = fmt.Sprintf("again-%d", i)
		*p.Priority = 1000
		result, err := planner.Preempt(preemption.Preemptor{Pods: []preemption.Pod{p}})
		require.NoError(t, err)
		require.Empty(t, result.Warnings)
		kind := "whole"
		if p.Devices[0].Fraction > 0 {
			kind = "fraction"
		}
		asked[kind+": "+string(result.Verdict)]++
		if result.Verdict != preemption.Infeasible {
			checkDevices(t, &s, p.Devices[0], result)
		}
		if kind == "fraction" && result.Verdict == preemption.Feasible {
			devices := map[int32]bool{}
			for _, v := range result.Victims {
				at := slices.IndexFunc(s.Pods, func(p preemption.Pod) bool { return p.Name == v.Name })
				for _, device := range s.Pods[at].Devices[0].Assigned {
					devices[device] = true
				}
			}
			require.Len(t, devices, 1, "%s: the victims hold several devices", p.Name)
		}
	}
	t.Log(len(s.Nodes), "nodes", len(s.Pods), "pods", asked)
	require.NotZero(t, asked["fraction: "+string(preemption.Feasible)])
	require.NotZero(t, asked["whole: "+string(preemption.Feasible)])
}

// gpuMilli counts thousandths of GPUs.
const gpuMilli = "example.com/gpu-milli"

// openbEpoch is second 0 of the trace.
var openbEpoch = time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC)

// wastedWork is the cluster of openb, filled as the scenario of best-effort pods says:
// those of LS, Burstable and Guaranteed first, then BE, each in order of creation and
// by best fit, as far as they go. Models of GPUs are ignored.
func wastedWork(t *testing.T) (s preemption.Snapshot) {
	type room struct {
		cpu, memory int64
		gpus        []int64
	}
	var rooms []room
	for _, row := range openb(t, "nodes.csv.gz") {
		cpu, memory, count := integer(t, row["cpu_milli"]), integer(t, row["memory_bytes"]), integer(t, row["gpu_count"])
		s.Nodes = append(s.Nodes, cluster.Node{Name: row["name"], Allocatable: preemption.Resources{
			cluster.CPU: cpu, cluster.Memory: memory, gpuMilli: 1000 * count,
		}})
		rooms = append(rooms, room{cpu, memory, slices.Repeat([]int64{1000}, int(count))})
	}
	rows := openb(t, "pods.csv.gz")
	slices.SortStableFunc(rows, func(a, b map[string]string) int {
		last := func(row map[string]string) int64 {
			if row["qos"] == "BE" {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(last(a), last(b)), cmp.Compare(integer(t, a["creation_s"]), integer(t, b["creation_s"])))
	})
	latest := int64(0)
	for _, row := range rows {
		p := openbPod(t, row)
		cpu, memory, created := integer(t, row["cpu_milli"]), integer(t, row["memory_bytes"]), integer(t, row["creation_s"])
		best, least := -1, [2]int64{}
		for n, r := range rooms {
			if r.cpu < cpu || r.memory < memory || len(p.Devices) > 0 && !hasRoom(r.gpus, p.Devices[0]) {
				continue
			}
			left := [2]int64{0, r.cpu}
			for _, v := range r.gpus {
				left[0] += v
			}
			if best < 0 || slices.Compare(left[:], least[:]) < 0 {
				best, least = n, left
			}
		}
		if best < 0 {
			continue
		}
		r := &rooms[best]
		r.cpu, r.memory = r.cpu-cpu, r.memory-memory
		p.Requests = preemption.Resources{cluster.CPU: cpu, cluster.Memory: memory}
		if len(p.Devices) > 0 {
			take(r.gpus, p.Devices[0])
			p.Requests[gpuMilli] = max(1000*int64(p.Devices[0].Count), p.Devices[0].Fraction)
		}
		p.Devices, p.Node, p.Started = nil, s.Nodes[best].Name, openbEpoch.Add(time.Duration(created)*time.Second)
		s.Pods = append(s.Pods, p)
		latest = max(latest, created)
	}
	s.Time = openbEpoch.Add(time.Duration(latest) * time.Second)
	return s
}

// itpGangs are the sizes of the gangs of itp2021 whose pods have 8 GPUs each, in order.
func itpGangs(t *testing.T) (sizes []int) {
	for _, row := range shared(t, "itp2021", "jobs.csv.gz") {
		if pods := integer(t, row["pods"]); pods > 1 && row["gpus_per_pod"] == "8" {
			sizes = append(sizes, int(pods))
		}
	}
	return sizes
}

// hoursLost is how many hours of GPUs the victims had worked for.
func hoursLost(s *preemption.Snapshot, started map[string]preemption.Pod, r *preemption.Result) float64 {
	lost := 0.0
	for _, v := range r.Victims {
		for _, p := range v.Pods {
			pod := started[p.Name]
			lost += float64(pod.Requests[gpuMilli]) / 1000 * s.Time.Sub(pod.Started).Hours()
		}
	}
	return lost
}

// TestLessWorkIsWasted: gangs of whole nodes, and single pods, at LS priority enter
// a real cluster full of best-effort pods. With the work lost as the objective, fewer
// hours of GPUs are lost than by upstream's order.
func TestLessWorkIsWasted(t *testing.T) {
	t.Parallel()
	s := wastedWork(t)
	started := map[string]preemption.Pod{}
	for _, p := range s.Pods {
		started[p.Name] = p
	}
	n := 30 // arrivals of gangs, and half as many as of single pods
	if *long == 0 {
		n = 9
	}
	work := preemption.CostOptions{Objective: true, Tariff: disruption.Tariff{Work: map[string]disruption.Rate{gpuMilli: {Price: 1}}}}
	for _, load := range []struct {
		name        string
		sizes       []int
		wantAtLeast int // arrivals that evict
	}{
		{"the first gangs of itp2021, pods of 8 GPUs", itpGangs(t)[:n], n * 5 / 6},
		{"single pods of 8 GPUs", slices.Repeat([]int{1}, 2*n), n * 5 / 3},
	} {
		lost := map[string]float64{}
		for name, o := range map[string]preemption.Options{"upstream": {}, "wasted work": {Cost: work}} {
			planner, err := preemption.NewPlanner(&s, o)
			require.NoError(t, err)
			evicting := 0
			for i, size := range load.sizes {
				r, err := planner.Preempt(arrival(i, size))
				require.NoError(t, err)
				if r.Verdict != preemption.Feasible {
					continue
				}
				evicting++
				lost[name] += hoursLost(&s, started, r)
				require.NoError(t, planner.Evict(r))
				for _, n := range r.Nominations {
					require.NoError(t, planner.Bind(n.Pod, n.Node))
				}
			}
			require.GreaterOrEqual(t, evicting, load.wantAtLeast, "%s, %s", load.name, name)
		}
		t.Logf("%s: %.0f GPU-hours lost by upstream's order, %.0f with wasted work as the objective (%.0f %% less)",
			load.name, lost["upstream"], lost["wasted work"], 100*(1-lost["wasted work"]/lost["upstream"]))
		require.Less(t, lost["wasted work"], lost["upstream"])
	}
}

// arrival is a gang, or a single pod, at LS priority.
func arrival(i, size int) preemption.Preemptor {
	priority, least := int32(1000), int32(size)
	p := preemption.Preemptor{Kind: cluster.KindPod}
	if size > 1 {
		p.Kind = cluster.KindPodGroup
		p.Group = &preemption.PodGroup{Name: fmt.Sprintf("gang-%d", i), Priority: &priority, MinCount: &least}
	}
	for k := range size {
		p.Pods = append(p.Pods, preemption.Pod{
			Name: fmt.Sprintf("arrival-%d-%d", i, k), Priority: &priority,
			Requests: preemption.Resources{cluster.CPU: 64_000, gpuMilli: 8000},
		})
	}
	return p
}
