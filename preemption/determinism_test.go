package preemption_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/genopts"
	"github.com/preempt-go/preempt/internal/naive"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// What 1,000 questions come to, whatever the processor, their number and the order of the input:
// the first sum is of the answers, the second of what they cost (Result.Stats, and what searches for gangs ask by trials), which a faster
// search may change where the first one stays.
const (
	sumOfAnswers = "4484aaad2ef2ccadd2ad216d32d8acb20fa90d8606e7806f6d97ed0c62cf2048"
	sumOfStats   = "90538215a6ac0bb3b9d11aa54c7a1caaa9b9128b5e8171d795899eca2989e5da"

	sumOfFew      = "14c77a508784966edd9642c9e4944dd7a30a14bef381ad902c368d0e2de52e3e" // likewise of 2,000 questions about few kinds of things, which are answered the fast way
	sumOfFewStats = "ff5e448349a3513f6f017c7fd87abe76bd3f3cca133cd42321ac3c8c7534e5c5"
)

// answersTo names a file for the answers themselves, to compare those of two machines or commits.
var answersTo = flag.String("answers", "", "write the answers to the 1,000 questions to this file, one a line")

// thousand is the i-th question, of every kind that there is.
func thousand(i int) (preemption.Options, gen.Question) {
	seed := uint64(i)
	o := genopts.Random(seed)
	o.SearchSteps = min(max(o.SearchSteps, 100), 1000)
	switch i % 8 {
	case 0, 1:
		return o, gen.Random(seed, gen.Everything())
	case 2, 3:
		return o, gen.RandomGang(seed, gen.EverythingForGangs())
	case 4:
		return o, gen.Crowd(seed)
	case 5:
		q, o := genopts.RandomQuota(seed)
		o.Search = []preemption.Search{"", preemption.Improved, preemption.Exact}[i/8%3]
		return o, q
	}
	return o, gen.RandomWorld(seed)
}

// answerOf is all that comes of a question, but for the statistics of the search: of a planner
// whose nodes are shared out among goroutines in small parts.
func answerOf(t *testing.T, o preemption.Options, q gen.Question) (answer, stats []byte) {
	t.Helper()
	var told struct {
		Result   *preemption.Result
		Decision preemption.Decision
		Why      *preemption.Why
		Err      string
	}
	pl, err := preemption.NewPlanner(&q.Snapshot, o)
	if err == nil {
		require.NoError(t, pl.Tune(0, 3, 2000))
		told.Result, err = pl.Preempt(q.Preemptor)
	}
	var costs struct {
		preemption.Stats
		Work [2]int // of a gang, by trials
	}
	if err == nil {
		costs.Stats, told.Result.Stats = told.Result.Stats, preemption.Stats{}
		costs.Work, err = pl.Work(q.Preemptor)
		require.NoError(t, err)
		told.Decision, err = pl.Decide(q.Preemptor)
		require.NoError(t, err)
		told.Why, err = pl.WhyNot(q.Preemptor, oneTarget(&q))
	}
	if err != nil {
		told.Err = err.Error()
	}
	answer, err = json.Marshal(told)
	require.NoError(t, err)
	stats, err = json.Marshal(costs)
	require.NoError(t, err)
	return answer, stats
}

// fewThings is the i-th question in a cluster of few kinds of things.
func fewThings(i int) (o preemption.Options, q gen.Question) {
	seed := uint64(i)
	if i%4 == 3 {
		o = genopts.Random(seed)
	}
	o.Search, o.SearchSteps = []preemption.Search{"", preemption.Improved, preemption.Exact}[i/2%3], 200
	o.Candidates = i%5 == 0
	if p := gen.FewThings(seed); i%3 == 0 {
		q = gen.Random(seed, p.Profile)
	} else {
		q = gen.RandomGang(seed, p)
	}
	return o, q
}

// TestFewThingsComeToTheSameBytes: where everything is there at once, the simple cases hide.
func TestFewThingsComeToTheSameBytes(t *testing.T) {
	answers, stats := sha256.New(), sha256.New()
	for i := range 2000 {
		o, q := fewThings(i)
		answer, costs := answerOf(t, o, q)
		answers.Write(answer)
		stats.Write(costs)
	}
	require.Equal(t, sumOfFew, hex.EncodeToString(answers.Sum(nil)), "answers")
	require.Equal(t, sumOfFewStats, hex.EncodeToString(stats.Sum(nil)), "statistics")
}

// oneTarget is a node of the question, or a unit where it has an odd number of pods; whatever the
// order of the lists.
func oneTarget(q *gen.Question) preemption.Target {
	node, pod, isWorkload := "", "", q.Preemptor.Kind == preemption.KindWorkload
	for _, n := range q.Snapshot.Nodes {
		node = max(node, n.Name)
	}
	for _, p := range q.Snapshot.Pods {
		if name := p.Namespace + "/" + p.Name; p.Node != "" {
			pod = max(pod, name)
		}
	}
	for _, w := range q.Snapshot.Workloads {
		if name := w.Namespace + "/" + w.Name; isWorkload && w.Admission != nil {
			pod = max(pod, name)
		}
	}
	if pod != "" && (isWorkload || len(q.Snapshot.Pods)%2 == 1) {
		return preemption.UnitTarget(pod)
	}
	return preemption.NodeTarget(node)
}

// TestTheSameBytesEverywhere: 1,000 questions of all kinds come to the bytes of the checksums above,
// for input in another order on 2 processors and, with -long, on 1 and 8. Nothing of an answer is left out.
func TestTheSameBytesEverywhere(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var lines strings.Builder
	met := map[string]int{}
	for i, way := range []struct {
		name       string
		processors int
		shuffled   bool
	}{{"shuffled, 2 processors", 2, true}, {"as given, 1 processor", 1, false}, {"as given, 8 processors", 8, false}} {
		first := i == 0
		if !first && *long == 0 {
			break
		}
		runtime.GOMAXPROCS(way.processors)
		answers, stats := sha256.New(), sha256.New()
		for i := range 1000 {
			o, q := thousand(i)
			if way.shuffled {
				q = gen.Shuffled(uint64(i), q)
			}
			answer, costs := answerOf(t, o, q)
			answers.Write(answer)
			stats.Write(costs)
			if first {
				fmt.Fprintf(&lines, "%d %s %s\n", i, answer, costs)
				for _, word := range []string{"feasible", "fits without preemption", "infeasible", "not eligible", "waiting"} {
					if strings.Contains(string(answer), fmt.Sprintf(`"verdict":%q`, word)) {
						met[word]++
					}
				}
			}
		}
		sum := func(b []byte) string { return hex.EncodeToString(b) }
		if *answersTo != "" && first {
			require.NoError(t, os.WriteFile(*answersTo, []byte(lines.String()), 0o644))
		}
		t.Logf("%s: %v", way.name, met)
		const why = "%s: where this is meant to be, the sum in this file becomes the actual one; with -answers FILE two commits can be compared"
		if got := sum(answers.Sum(nil)); got != sumOfAnswers {
			t.Errorf(why+"\nanswers: %s", way.name, got)
		}
		if got := sum(stats.Sum(nil)); got != sumOfStats {
			t.Errorf(why+"\nstatistics: %s", way.name, got)
		}
	}
	for _, word := range []string{"feasible", "fits without preemption", "infeasible", "not eligible", "waiting"} {
		require.Positive(t, met[word], word)
	}
}

// TestAnswersOfGangsAreTrue: of gangs of every kind, whatever is asked for, nothing is untrue that can be verified. They are the same answers, for
// as much work: which of several that are true a search comes to, and what it looks at on the way, changes on purpose only.
func TestAnswersOfGangsAreTrue(t *testing.T) {
	told, sum := map[preemption.Verdict]int{}, fnv.New64a()
	for seed := range uint64(1600) {
		o, q := genopts.Random(seed), gen.RandomWorld(seed)
		if seed%3 > 0 {
			q = gen.RandomGang(seed, gen.FewThings(seed))
		}
		if seed%2 == 0 { // what is asked for closes most roads
			o = preemption.Options{Rules: o.Rules, Members: o.Members, Explain: o.Explain, Candidates: o.Candidates, LowestLevel: seed%5 == 0}
		}
		if seed%4 == 0 { // bounds that weigh alike, or in units of 3
			o.Limits = preemption.Limits{Victims: int64(seed % 3), Pods: int64(1 + seed%7), Cost: int64(seed % 20)}
			o.Cost.Tariff.Pods = 3
		}
		if g, err := naive.NewGang(naive.GangOptions{}, q.Preemptor, &q.Snapshot); err == nil && seed%9 == 0 {
			var nodes []string
			for _, n := range q.Snapshot.Nodes {
				nodes = append(nodes, n.Name)
			}
			q.Preemptor.Placement = gen.RandomPlacement(seed, g.Members, nodes)
		}
		o.Strict, o.WaitSeconds, o.SearchSteps = false, 0, 200
		o.Search = []preemption.Search{o.Search, preemption.Improved, preemption.Exact}[seed/2%3]
		r, err := o.Preempt(q.Preemptor, &q.Snapshot)
		if err != nil {
			continue
		}
		require.Empty(t, check.Verify(&q.Snapshot, o, q.Preemptor, r), "seed %d", seed)
		told[r.Verdict]++
		fmt.Fprintln(sum, r.Verdict, r.Domain, r.Nominations, r.Score, r.Bound, r.Rejected, r.Unplaced, r.Stats)
		for _, c := range append(r.Candidates, preemption.Candidate{Victims: r.Victims}) {
			fmt.Fprintln(sum, c.Domain, c.Score, c.Best)
			for _, v := range c.Victims {
				fmt.Fprintln(sum, v.Name, len(v.Pods), v.Violates)
			}
		}
		for _, d := range r.Trace {
			for _, s := range d.Steps {
				fmt.Fprintln(sum, s.Action, s.Unit)
			}
		}
	}
	require.Greater(t, told[preemption.Feasible], 250)
	require.Greater(t, told[preemption.Infeasible], 250)
	require.Greater(t, told[preemption.Fits], 250)
	require.Equal(t, uint64(0x722b3a56a469fa3a), sum.Sum64())
}

// workersDoNotMatter: nodes that are shared out among several searches give what one
// search gives, to the last count; in chunks of another size, all but the count of
// checks. It returns the answer, nil if the question can't be asked.
func workersDoNotMatter(t fatal, o preemption.Options, q gen.Question) *preemption.Result {
	t.Helper()
	whole, err := o.Preempt(q.Preemptor, &q.Snapshot)
	if err != nil {
		return nil
	}
	one, err := o.PreemptInChunks(q.Preemptor, &q.Snapshot, 1, 2)
	if err != nil {
		t.Fatalf("in chunks: %v", err)
	}
	for _, goroutines := range []int{2, 5} {
		several, err := o.PreemptInChunks(q.Preemptor, &q.Snapshot, goroutines, 2)
		if err != nil {
			t.Fatalf("%d goroutines: %v", goroutines, err)
		}
		if diff := cmp.Diff(one, several); diff != "" {
			t.Fatalf("(-one goroutine +%d):\n%s", goroutines, diff)
		}
	}
	one.Stats.Trials, whole.Stats.Trials = 0, 0
	if diff := cmp.Diff(whole, one); diff != "" {
		t.Fatalf("(-at once +in chunks):\n%s", diff)
	}
	return one
}

func TestWorkersDoNotMatter(t *testing.T) {
	profile := gen.Everything()
	profile.Guards, profile.MaxNodes, profile.MaxPods = true, 12, 60
	seen, refused := map[preemption.Verdict]int{}, 0
	for seed := range uint64(300) {
		o := seededOptions(seed)
		o.Cost.Objective = seed%4 == 0
		if r := workersDoNotMatter(&named{t, seed}, o, gen.Random(seed, profile)); r != nil {
			seen[r.Verdict]++
		} else {
			refused++
		}
	}
	for _, v := range []preemption.Verdict{preemption.Fits, preemption.Feasible, preemption.Infeasible} {
		require.Greater(t, seen[v], 20, v)
	}
	require.Less(t, refused, 100, "questions that can't be asked")
}

// workersWithConstraints is the same where pods have terms about each other.
func workersWithConstraints(t *rapid.T) {
	q := gen.Draw(gen.Profile{MaxNodes: 9, MaxPods: 30, Budgets: true, Nominations: true}).Draw(t, "question")
	tie(t, &q)
	o := preemption.Options{
		Rules:      rapid.SampledFrom([]preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137}).Draw(t, "rules"),
		Candidates: rapid.Bool().Draw(t, "candidates"),
	}
	if workersDoNotMatter(t, o, q) == nil {
		t.Fatalf("the question can't be asked")
	}
}

func TestWorkersDoNotMatterToConstraints(t *testing.T) { rapid.Check(t, workersWithConstraints) }
func FuzzWorkersDoNotMatterToConstraints(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(workersWithConstraints))
}

// TestALargeClusterByManyIsByOne: constraints that prepare at once, and workers of their
// own accord, give what one goroutine gives.
func TestALargeClusterByManyIsByOne(t *testing.T) {
	snap := gen.Fleet(2100, 3, 1, gen.Uniform)
	for i := range snap.Nodes {
		snap.Nodes[i].Labels = map[string]string{"host": snap.Nodes[i].Name, "zone": string(rune('a' + i%7))}
	}
	for i := range snap.Pods {
		if i%5 == 0 {
			snap.Pods[i].AntiAffinity = []cluster.AffinityTerm{{TopologyKey: "host", Selector: &preemption.Selector{MatchLabels: map[string]string{"app": "app-01"}}}}
		}
	}
	p := gen.FleetPod(1)
	p.Pods[0].Labels = map[string]string{"app": "app-01"}
	p.Pods[0].Spread = []cluster.Spread{{MaxSkew: 3, TopologyKey: "zone", Selector: &preemption.Selector{MatchLabels: map[string]string{"app": "app-01"}}}}
	p.Pods[0].AntiAffinity = []cluster.AffinityTerm{{TopologyKey: "host", Selector: &preemption.Selector{MatchLabels: map[string]string{"app": "app-02"}}}}
	many, err := preemption.Preempt(p, &snap)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, many.Verdict)
	one, err := preemption.Options{Hooks: &preemption.Hooks{}}.Preempt(p, &snap) // hooks are asked by one goroutine
	require.NoError(t, err)
	one.Stats.Hooks = false
	require.Empty(t, cmp.Diff(one, many))
}

// TestWhoMovesAtOnceDependsOnTheNode: on the first nodes run four groups of 100 that go as a whole, on one far behind a fifth, where only a search keeps
// within the limit: it takes one pod there, whoever gives back a group takes 101. Whether it may begin does not depend on who looked at the first.
func TestWhoMovesAtOnceDependsOnTheNode(t *testing.T) {
	const nodes, helps = 2048, 1650
	low, high, higher := int32(1), int32(5), int32(100)
	app := map[string]string{"app": "web"}
	s := &preemption.Snapshot{}
	add := func(name, group string, node int, cpu int64, priority *int32) {
		s.Pods = append(s.Pods, preemption.Pod{
			Name: name, Group: group, Node: s.Nodes[node].Name, Labels: app, Priority: priority, Requests: preemption.Resources{cluster.CPU: cpu},
		})
	}
	for n := range nodes {
		s.Nodes = append(s.Nodes, preemption.Node{
			Name: fmt.Sprintf("n%04d", n), Labels: map[string]string{"zone": "a"}, Allocatable: preemption.Resources{cluster.CPU: 6},
		})
		switch {
		case n == helps:
			add("high", "", n, 4, &high)
			add("low", "", n, 1, &low)
		case n >= 100:
			add(fmt.Sprint("stays", n), "", n, 5, &higher)
		default:
			add(fmt.Sprint("stays", n), "", n, 2, &higher)
		}
	}
	for g := range 5 {
		name, first := fmt.Sprint("group", g), 0
		s.PodGroups = append(s.PodGroups, preemption.PodGroup{Name: name, Mode: disruption.All, Priority: &low})
		if g == 4 {
			first = 1600
		}
		for i := range 100 {
			add(fmt.Sprint(name, "-", i), name, first+i, 1, &low)
		}
	}
	preemptor := preemption.Preemptor{Pods: []preemption.Pod{{
		Name: "web", Labels: app, Priority: prio(10), Requests: preemption.Resources{cluster.CPU: 2},
		Spread: []cluster.Spread{{MaxSkew: 10_000, TopologyKey: "zone", Selector: &preemption.Selector{MatchLabels: app}}},
	}}}
	o := preemption.Options{Limits: preemption.Limits{Pods: 2}}
	for _, goroutines := range []int{1, 2, 8} {
		r, err := o.PreemptInChunks(preemptor, s, goroutines, 50)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict, "%d goroutines: %s", goroutines, r.Message)
		require.Len(t, r.Victims, 1)
		require.Equal(t, "high", r.Victims[0].Name)
		require.Empty(t, check.Verify(s, o, preemptor, r))
	}
}

// racked are racks of 20 nodes, full of groups that go as a whole and run over several nodes.
func racked(racks int) (s preemption.Snapshot) {
	low := int32(0)
	for n := range racks * 20 {
		node := preemption.Node{
			Name: fmt.Sprintf("n%03d", n), Labels: map[string]string{"rack": fmt.Sprint(n / 20)},
			Allocatable: preemption.Resources{cluster.CPU: 16_000, cluster.Pods: 110},
		}
		s.Nodes = append(s.Nodes, node)
		for i := range 8 {
			s.Pods = append(s.Pods, preemption.Pod{
				Namespace: "ml", Name: fmt.Sprintf("p%03d-%d", n, i), Group: fmt.Sprintf("g%04d", n/20*40+(n*8+i*7)%40), Node: node.Name,
				Priority: &low, Requests: preemption.Resources{cluster.CPU: 2_000},
			})
		}
	}
	for g := range racks * 40 {
		s.PodGroups = append(s.PodGroups, preemption.PodGroup{Namespace: "ml", Name: fmt.Sprintf("g%04d", g), Mode: disruption.All, Priority: &low})
	}
	return s
}

// A limit that no placement of as many members as fit keeps is kept with fewer of them, however hard is
// looked, and racks share the steps of a question: of ten times as many none takes as many.
func TestRacksShareSteps(t *testing.T) {
	t.Parallel()
	high, one := int32(1_000), int32(1)
	gang := preemption.Preemptor{
		Kind: cluster.KindPodGroup,
		Group: &preemption.PodGroup{
			Namespace: "ml", Name: "gang", Priority: &high, MinCount: &one, Topology: []preemption.TopologyConstraint{{Key: "rack"}},
		},
	}
	for i := range 20 {
		gang.Pods = append(gang.Pods, preemption.Pod{
			Namespace: "ml", Name: fmt.Sprintf("gang-%02d", i), Group: "gang", Priority: &high, Requests: preemption.Resources{cluster.CPU: 5_000},
		})
	}
	few, many := racked(1), racked(10)
	for _, search := range []preemption.Search{preemption.Greedy, preemption.Exact} {
		o := preemption.Options{Search: search, Limits: preemption.Limits{Victims: 3}}
		r, err := o.Preempt(gang, &few)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict, "%s", search)
		require.Len(t, r.Nominations, 4, "%s", search)
		require.Len(t, r.Victims, 3, "%s", search)
		require.True(t, r.Optimal || search == preemption.Greedy)

		o.Limits = preemption.Limits{}
		r, err = o.Preempt(gang, &few)
		require.NoError(t, err)
		all, err := o.Preempt(gang, &many)
		require.NoError(t, err)
		require.Less(t, all.Stats.Trials, 10*max(r.Stats.Trials, 100), "%s", search)
	}
}

// Domains that are alike get alike parts of the steps for who of an elastic group may stay, wherever they stand in
// order: as few as one by one takes, or as many as it takes to find that two small members may stay rather than a large one.
func TestDomainsShareStepsEvenly(t *testing.T) {
	t.Parallel()
	high, low, one := int32(1_000), int32(0), int32(1)
	gang := preemption.Preemptor{
		Kind: cluster.KindPodGroup, Group: &preemption.PodGroup{
			Namespace: "ml", Name: "gang", Priority: &high, Topology: []preemption.TopologyConstraint{{Key: "host"}},
		},
		Pods: []preemption.Pod{{Namespace: "ml", Name: "gang-0", Group: "gang", Priority: &high, Requests: preemption.Resources{cluster.CPU: 6}}},
	}
	s := preemption.Snapshot{PodGroups: []preemption.PodGroup{{Namespace: "ml", Name: "large", Mode: disruption.SurplusFirst, MinCount: &one, Priority: &low}}}
	for i := range 20 {
		name := fmt.Sprintf("n%02d", i)
		s.Nodes = append(s.Nodes, preemption.Node{Name: name, Labels: map[string]string{"host": name}, Allocatable: preemption.Resources{cluster.CPU: 12}})
		for k, size := range []int64{6, 3, 3} {
			s.Pods = append(s.Pods, preemption.Pod{
				Namespace: "ml", Name: fmt.Sprintf("%s-%d", name, k), Node: name, Group: "large", Priority: &low, Requests: preemption.Resources{cluster.CPU: size},
			})
		}
	}
	stay := map[int]int{}
	for _, steps := range []int{1, 4, 8, 10, 12, 20, 0} {
		o := preemption.Options{Candidates: true, SearchSteps: steps}
		r, err := o.Preempt(gang, &s)
		require.NoError(t, err)
		require.Len(t, r.Candidates, 20)
		pods := len(r.Candidates[0].Victims[0].Pods)
		for _, c := range r.Candidates {
			require.Len(t, c.Victims, 1)
			require.Len(t, c.Victims[0].Pods, pods, "%s of %d steps", c.Domain, steps)
		}
		stay[3-pods]++
	}
	require.Equal(t, map[int]int{1: 3, 2: 4}, stay)
}

// TestChildGroupsStayInTheirRegions: each child group that requires a zone or a rack is in one of them, in clusters so
// plain that columns price its members, and nodes are vacant until somebody looks.
func TestChildGroupsStayInTheirRegions(t *testing.T) {
	feasible, several := 0, 0
	for seed := range seeds(1000) {
		p := gen.GangProfile{Profile: gen.Profile{MaxNodes: 4 + int(seed%3)*4, MaxPods: 30}, Composite: true, Topology: true, Wishes: true, MaxMembers: 8}
		q := gen.RandomGang(seed, p)
		o := preemption.Options{Members: []preemption.Members{"", preemption.MinCount}[seed%2]}
		if !asksSomething(q) || len(q.Snapshot.CompositePodGroups) == 0 {
			continue
		}
		r := ask(t, o, q)
		require.Empty(t, check.Verify(&q.Snapshot, o, q.Preemptor, r), "seed %d", seed)
		if r.Verdict == preemption.Feasible {
			if feasible++; len(r.Nominations) > 2 {
				several++
			}
		}
	}
	require.Greater(t, feasible, int(seeds(100)))
	require.Greater(t, several, int(seeds(50)))
}
