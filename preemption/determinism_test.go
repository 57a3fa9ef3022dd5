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

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/genopts"
	"github.com/preempt-go/preempt/internal/naive"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
)

// What 1,000 questions come to, whatever the processor, their number and the order of the input:
// the first sum is of the answers, the second of what they cost (Result.Stats, and what searches for gangs ask by trials), which a faster
// search may change where the first one stays.
const (
	sumOfAnswers = "4484aaad2ef2ccadd2ad216d32d8acb20fa90d8606e7806f6d97ed0c62cf2048"
	sumOfStats   = "f2aebd8a2b870067f9136c6fa4b473273c8977cf8365898ea44744c6df227dc8"

	sumOfFew      = "07eece6a928b78eb36603806457df067c0841688e8e9bb229c94f6dff0e9f040" // likewise of 2,000 questions about few kinds of things, which are answered the fast way
	sumOfFewStats = "5f2b110ffbce50e97bc8a288e987f3f8c044c57f5f383ff977c32d6b4743dacc"
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
		if !first && !*long {
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
	require.Equal(t, uint64(0x7212bbdc89196c8d), sum.Sum64())
}
