package preemption_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/naive"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// provable draws a question of a few nodes, and options that ask for a proof.
func provable(seed uint64) (preemption.Options, gen.Question) {
	r := rand.New(rand.NewPCG(seed, 17))
	q := gen.Random(seed, gen.Profile{MaxNodes: 3, MaxPods: 18, Budgets: true, Groups: seed%2 == 0, Ports: seed%3 == 0, Nominations: seed%5 == 0})
	if seed%8 == 6 {
		elasticGroups(seed, &q)
	}
	priced(seed, &q)
	o := preemption.Options{Cost: preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}}, Proof: true}
	if seed%3 > 0 {
		o.Objective = slices.DeleteFunc(objective(r), func(c preemption.CriterionName) bool {
			return seed%3 == 1 && (c.InUse() || slices.Contains(beyondProof, c))
		})
	}
	o.Rules = []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137}[seed/2%2]
	o.Search = []preemption.Search{preemption.Greedy, preemption.Improved, preemption.Exact, preemption.Exact}[seed/4%4]
	switch seed / 16 % 4 {
	case 1:
		o.HardBudgets.All = true
	case 2:
		*[]*int64{&o.Limits.Victims, &o.Limits.Pods, &o.Limits.Cost}[r.IntN(3)] = 1 + r.Int64N(6)
		o.Limits.OnlyMoves = r.IntN(3) == 0
	case 3:
		o.BrokenGroupsFree = true
	}
	return o, q
}

// beyondProof are the criteria that end a bound that is proved, beside those of what is in use.
var beyondProof = []preemption.CriterionName{preemption.CriterionStranded, preemption.CriterionCascade, preemption.CriterionGroups}

// leastOf is the least that a set of victims on any node has, of which elastic groups go whole, or that
// the exact search finds, in which parts of them go; ok is false where there are too many sets.
func leastOf(t *testing.T, o preemption.Options, q gen.Question) (least []int64, ok bool) {
	t.Helper()
	if least = exactly(t, o, q); o.BrokenGroupsFree { // which brute force knows nothing of
		return least, true
	}
	q = wholeGroups(q)
	fates := fatesIn(t, o, &q)
	for _, n := range q.Snapshot.Nodes {
		units, err := naive.Potential(plain(o), q.Preemptor, &q.Snapshot, n.Name)
		require.NoError(t, err)
		if len(units) > 10 {
			return nil, false
		}
		require.NoError(t, naive.Sets(plain(o), q.Preemptor, &q.Snapshot, n.Name, func(c naive.Candidate) {
			if !withinBounds(o, c, fates) {
				return
			}
			if v := values(o.Objective, c, fates, arrivals{n.Name: {*preemptorOf(&q)}}); least == nil || slices.Compare(v, least) < 0 {
				least = v
			}
		}))
	}
	return least, true
}

// withinBounds reports whether c keeps within hard budgets and limits.
func withinBounds(o preemption.Options, c naive.Candidate, fates fates) bool {
	within := func(sum, most int64) bool { return most == 0 || sum <= most }
	return !(o.HardBudgets.All && c.Overruns > 0) && within(int64(len(c.Victims)), o.Limits.Victims) &&
		within(int64(c.Score.Pods), o.Limits.Pods) && !(o.Limits.OnlyMoves && fates.stranded(c.Victims...) > 0) && within(priceOf(c.Victims), o.Limits.Cost)
}

// exactly is what the exact search finds, nil if nothing.
func exactly(t *testing.T, o preemption.Options, q gen.Question) []int64 {
	t.Helper()
	o.Search, o.Proof = preemption.Exact, false
	if r := ask(&named{t, 0}, o, q); r.Verdict == preemption.Feasible {
		return said(r.Score)
	}
	return nil
}

// TestProofsAreBelowBruteForce: no set of victims on any node has less than what is proved, and what is
// called optimal is proved to be so but for a few. Verify reads every answer, the proof with it.
func TestProofsAreBelowBruteForce(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for seed := range seeds(6000) {
		o, q := provable(seed)
		r := ask(&named{t, seed}, o, q)
		switch {
		case r.Verdict == preemption.Infeasible && r.Proof != nil:
			if least, few := leastOf(t, o, q); few {
				require.Nil(t, least, "seed %d: it is proved that nothing helps", seed)
				if len(r.Proof.Nodes) > 0 {
					seen["helpless proved"]++
				}
			}
			continue
		case r.Verdict == preemption.Infeasible && r.Stats.Exact && seed%8 != 6:
			seen["helpless not proved"]++
			continue
		case r.Verdict != preemption.Feasible:
			require.Nil(t, r.Proof)
			continue
		case r.Proof == nil:
			seen["nothing to prove"]++
			continue
		}
		proved := said(r.Proof.Bound)
		if least, few := leastOf(t, o, q); few {
			seen["counted"]++
			require.LessOrEqual(t, slices.Compare(proved, least), 0, "seed %d: nothing is proved to have less than %v of %v, and something has %v", seed, proved, o.Objective, least)
		}
		for _, n := range r.Proof.Nodes {
			for _, s := range n.Steps {
				if len(s.Cases) > 1 {
					seen["cases"]++
				}
				for _, c := range s.Cases {
					seen["budgets"] += len(c.Budgets)
					seen["limits"] += len(c.Limits)
					seen["criteria"] += len(c.Criteria)
					seen["resources"] += len(c.Resources)
				}
			}
		}
		far := min(len(r.Score), len(proved))
		switch {
		case o.Search == preemption.Greedy && r.Bound == nil && slices.Equal(proved, said(r.Score)[:far]):
			seen["Greedy proved"]++
		case r.Optimal && slices.Equal(proved, said(r.Score)[:far]):
			seen["proved"]++
		case r.Optimal:
			seen["optimal, and less proved"]++
		}
	}
	t.Log(seen)
	for _, what := range []string{"counted", "cases", "budgets", "limits", "criteria", "resources", "Greedy proved", "proved", "helpless proved"} {
		require.Greater(t, seen[what], int(seeds(20)), what)
	}
	require.Less(t, 20*seen["optimal, and less proved"], seen["proved"])
}

// proofs are the kinds of questions whose proofs are tried: how one is drawn, the least there is, and how many
// forged proofs of 30,000 questions are to be refused and accepted at least.
var proofs = []struct {
	name              string
	draw              func(seed uint64) (preemption.Options, gen.Question)
	least             func(t *testing.T, o preemption.Options, q gen.Question) ([]int64, bool)
	refused, accepted uint64
}{{"pods", provable, leastOf, 5000, 500}, {"gangs", provableGang, leastOfGang, 3000, 300}}

// TestProofsAreTheSame: through JSON and back, and for any order of the input; and nothing else depends on them.
func TestProofsAreTheSame(t *testing.T) {
	t.Parallel()
	for _, of := range proofs {
		t.Run(of.name, func(t *testing.T) {
			t.Parallel()
			proofs := 0
			for seed := range seeds(600) {
				o, q := of.draw(seed)
				r := ask(&named{t, seed}, o, q)
				if r.Proof == nil {
					continue
				}
				proofs++
				text := toJSON(t, r)
				var back preemption.Result
				require.NoError(t, json.Unmarshal(text, &back))
				require.Equal(t, r.Proof, back.Proof, "seed %d", seed)
				require.Empty(t, check.Verify(&q.Snapshot, o, q.Preemptor, &back), "seed %d", seed)
				require.Equal(t, string(text), string(toJSON(t, ask(&named{t, seed}, o, gen.Shuffled(seed, q)))), "seed %d: shuffled", seed)
				o.Proof, r.Proof = false, nil
				require.Equal(t, r, ask(&named{t, seed}, o, q), "seed %d: nothing else depends on it", seed)
			}
			require.Greater(t, proofs, int(seeds(100)))
		})
	}
}

// tamper changes one thing of v, a number, a name, or how many there are.
func tamper(r *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		} else if r.IntN(4) == 0 {
			v.SetZero()
			return
		}
		tamper(r, v.Elem())
	case reflect.Struct:
		tamper(r, v.Field(r.IntN(v.NumField())))
	case reflect.Slice:
		n := v.Len()
		switch {
		case n == 0 || r.IntN(8) == 0:
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
			tamper(r, v.Index(n))
		case r.IntN(8) == 0:
			at := r.IntN(n)
			v.Set(reflect.AppendSlice(v.Slice3(0, at, at), v.Slice(at+1, n)))
		case r.IntN(8) == 0:
			v.Set(reflect.Append(v, v.Index(r.IntN(n))))
		case r.IntN(8) == 0:
			i, j := r.IntN(n), r.IntN(n)
			x, y := reflect.ValueOf(v.Index(i).Interface()), reflect.ValueOf(v.Index(j).Interface())
			v.Index(i).Set(y)
			v.Index(j).Set(x)
		default:
			tamper(r, v.Index(r.IntN(n)))
		}
	case reflect.Map:
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		names := []string{"cpu", "memory", "pods", "cost", "units", "overruns", "victims", "default/b0", ""}
		for _, key := range v.MapKeys() {
			names = append(names, key.String())
		}
		slices.Sort(names)
		key, number := reflect.ValueOf(names[r.IntN(len(names))]), reflect.New(v.Type().Elem()).Elem()
		if old := v.MapIndex(key); old.IsValid() {
			number.Set(old)
		}
		tamper(r, number)
		v.SetMapIndex(key, number)
	case reflect.String:
		v.SetString([]string{"", "n0", "n1", "n2", "p00", "p01", "pods", "cost", "overruns", v.String() + "x"}[r.IntN(10)])
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int64:
		if by := []int64{-1, 1, 1 << 20, math.MinInt64, math.MaxInt64, -v.Int()}[r.IntN(6)]; r.IntN(2) == 0 {
			v.SetInt(v.Int() + by)
		} else {
			v.SetInt(by)
		}
	default:
		panic("a proof has a " + v.Kind().String())
	}
}

// TestForgedProofsClaimNothingMore: whatever is changed of a proof, what is accepted of it is true; and
// a bound that is raised beyond what there is, or numbers without which it does not add up, are not.
func TestForgedProofsClaimNothingMore(t *testing.T) {
	t.Parallel()
	for _, of := range proofs {
		t.Run(of.name, func(t *testing.T) {
			t.Parallel()
			refused, accepted := 0, 0
			for seed := range seeds(3000) {
				o, q := of.draw(seed)
				r := ask(&named{t, seed}, o, q)
				if r.Proof == nil {
					continue
				}
				least, few := of.least(t, o, q)
				if !few {
					continue
				}
				text, rng, far := toJSON(t, r.Proof), rand.New(rand.NewPCG(seed, 18)), len(r.Proof.Bound)
				for range 30 {
					r.Proof = &preemption.Proof{}
					require.NoError(t, json.Unmarshal(text, r.Proof))
					for range 1 + rng.IntN(3) {
						tamper(rng, reflect.ValueOf(r.Proof).Elem())
					}
					if len(check.Verify(&q.Snapshot, o, q.Preemptor, r)) > 0 {
						refused++
						continue
					}
					accepted++
					require.LessOrEqual(t, slices.Compare(said(r.Proof.Bound), least), 0, "seed %d: accepted, and wrong: %s", seed, toJSON(t, r.Proof))
				}
				for k := range far {
					r.Proof = &preemption.Proof{}
					require.NoError(t, json.Unmarshal(text, r.Proof))
					if r.Proof.Bound[k].Value++; slices.Compare(said(r.Proof.Bound[:k+1]), least[:min(k+1, len(least))]) <= 0 {
						continue // as much is true
					}
					require.NotEmpty(t, check.Verify(&q.Snapshot, o, q.Preemptor, r), "seed %d: %d", seed, k)
				}
			}
			t.Log(refused, accepted)
			require.Greater(t, refused, int(seeds(of.refused)))
			require.Greater(t, accepted, int(seeds(of.accepted)))
		})
	}
}

// TestHostileProofsEnd: whatever a proof claims, reading it ends, in a problem, and no sum overflows.
func TestHostileProofsEnd(t *testing.T) {
	q := gen.Random(4, gen.Profile{MaxNodes: 3, MaxPods: 18})
	o := preemption.Options{Proof: true, Objective: []preemption.CriterionName{preemption.CriterionPods}}
	var honest *preemption.Result
	for seed := uint64(4); honest == nil || len(honest.Proof.Nodes) == 0; seed++ {
		q = gen.Random(seed, gen.Profile{MaxNodes: 3, MaxPods: 18})
		if r := ask(t, o, q); r.Proof != nil && r.Proof.Bound[0].Value > 1 {
			honest = r
		}
	}
	text, name := toJSON(t, honest), honest.Proof.Nodes[0].Nodes[0]
	victim := honest.Victims[0].Pods[0].PodRef
	largest := map[string]int64{}
	for _, name := range []string{"cpu", "memory", "pods", "overruns"} {
		largest[name] = math.MaxInt64
	}
	for what, forge := range map[string]func(p *preemption.Proof){
		"no step":           func(p *preemption.Proof) { p.Nodes[0].Steps = nil },
		"no case":           func(p *preemption.Proof) { p.Nodes[0].Steps[0].Cases = nil },
		"nothing in a case": func(p *preemption.Proof) { p.Nodes[0].Steps[0].Cases = make([]preemption.ProofCase, 1) },
		"a case too many": func(p *preemption.Proof) {
			p.Nodes[0].Steps[0].Cases = append(p.Nodes[0].Steps[0].Cases, preemption.ProofCase{})
		},
		"a million cases": func(p *preemption.Proof) { p.Nodes[0].Steps[0].Cases = make([]preemption.ProofCase, 1e6) },
		"a million splits": func(p *preemption.Proof) {
			p.Nodes[0].Steps[0].Cases = slices.Repeat([]preemption.ProofCase{{Pod: &victim}}, 1e6)
		},
		"a pod that goes and goes": func(p *preemption.Proof) {
			p.Nodes[0].Steps[0].Cases = slices.Repeat([]preemption.ProofCase{{Pod: &victim}}, 3)
		},
		"a pod that is not there":  func(p *preemption.Proof) { p.Nodes[0].Steps[0].Cases[0].Pod = &preemption.PodRef{Name: "nobody"} },
		"another step":             func(p *preemption.Proof) { p.Nodes[0].Steps[0].Criterion = "cost" },
		"steps without end":        func(p *preemption.Proof) { p.Nodes[0].Steps = slices.Repeat([]preemption.ProofStep{{}}, 1e6) },
		"no node":                  func(p *preemption.Proof) { p.Nodes = nil },
		"a node that is not there": func(p *preemption.Proof) { p.Nodes[0].Nodes[0] = "nowhere" },
		"a node again and again":   func(p *preemption.Proof) { p.Nodes[0].Nodes = slices.Repeat([]string{name}, 1e6) },
		"the largest multipliers":  func(p *preemption.Proof) { p.Nodes[0].Steps[0].Cases[0].Resources = largest },
		"the largest of everything": func(p *preemption.Proof) {
			p.Nodes[0].Steps[0].Cases[0] = preemption.ProofCase{Resources: largest, Count: math.MaxInt64, Criteria: largest}
		},
		"a multiplier below zero": func(p *preemption.Proof) {
			p.Nodes[0].Steps[0].Cases[0].Resources = map[string]int64{"cpu": math.MinInt64}
		},
		"a count below zero":     func(p *preemption.Proof) { p.Nodes[0].Steps[0].Cases[0].Count = -1 },
		"a criterion below zero": func(p *preemption.Proof) { p.Nodes[0].Steps[0].Cases[0].Criteria = map[string]int64{"pods": -1} },
		"a criterion of another kind": func(p *preemption.Proof) {
			p.Nodes[0].Steps[0].Cases[0].Criteria = map[string]int64{"highest priority": 1}
		},
		"a budget that is not there": func(p *preemption.Proof) { p.Nodes[0].Steps[0].Cases[0].Budgets = map[string]int64{"a/b": 1} },
		"a limit that is not there":  func(p *preemption.Proof) { p.Nodes[0].Steps[0].Cases[0].Limits = map[string]int64{"pods": 1} },
		"a bound beyond the score":   func(p *preemption.Proof) { p.Bound[0].Value = math.MaxInt64 },
		"a bound of something else":  func(p *preemption.Proof) { p.Bound[0].Name = "cost" },
		"a bound too many":           func(p *preemption.Proof) { p.Bound = append(p.Bound, preemption.Criterion{Name: "pods"}) },
	} {
		var r preemption.Result
		require.NoError(t, json.Unmarshal(text, &r))
		forge(r.Proof)
		problems := check.Verify(&q.Snapshot, o, q.Preemptor, &r)
		require.NotEmpty(t, problems, what)
		require.Equal(t, check.RuleProof, problems[0].Rule, what)
	}
	o.Proof = false
	problems := check.Verify(&q.Snapshot, o, q.Preemptor, honest)
	require.NotEmpty(t, problems, "nobody asked for it")
}

// That nothing helps is not shown where it is more than sums: p has no other place, and only who has one may go.
func TestWhatSumsDoNotTellIsNotProved(t *testing.T) {
	high := int32(10)
	s := preemption.Snapshot{
		Nodes: []preemption.Node{{Name: "n1", Allocatable: preemption.Resources{"cpu": 1}}},
		Pods:  []preemption.Pod{{Name: "p", Node: "n1", Requests: preemption.Resources{"cpu": 1}}, {Name: "web", Priority: &high, Requests: preemption.Resources{"cpu": 1}}},
	}
	q := gen.Question{Snapshot: s, Preemptor: preemption.Preemptor{Kind: preemption.KindPod, Name: "web"}}
	r := ask(t, preemption.Options{Proof: true, Limits: preemption.Limits{OnlyMoves: true}}, q)
	require.Equal(t, preemption.Infeasible, r.Verdict)
	require.Nil(t, r.Proof)
	for i := range s.Pods { // p has to go in any case, and nothing is left to split
		s.Pods[i].Ports = []cluster.HostPort{{Port: 80}}
	}
	r = ask(t, preemption.Options{Proof: true, Limits: preemption.Limits{OnlyMoves: true}}, q)
	require.Equal(t, preemption.Infeasible, r.Verdict)
	require.Nil(t, r.Proof)
	r = ask(t, preemption.Options{Proof: true, Objective: []preemption.CriterionName{preemption.CriterionStranded}}, q)
	require.Equal(t, preemption.Feasible, r.Verdict)
	require.Nil(t, r.Proof)
}

// Sums of prices end at the largest int64: what costs that much may have cost more, and nothing is
// contradicted by it. a and b are enough, where a proof says that four have to go.
func TestProofsMindWhereSumsEnd(t *testing.T) {
	dear := &cluster.Cost{Fixed: 1 << 62}
	high := int32(10)
	pod := func(name string, cores int64) preemption.Pod {
		return preemption.Pod{Name: name, Node: "n1", Requests: preemption.Resources{"cpu": cores}, Cost: dear}
	}
	s := &preemption.Snapshot{
		Nodes: []preemption.Node{{Name: "n1", Allocatable: preemption.Resources{"cpu": 8}}},
		Pods: []preemption.Pod{
			pod("a", 3), pod("b", 2), pod("c", 1), pod("d", 1), pod("e", 1),
			{Name: "web", Priority: &high, Requests: preemption.Resources{"cpu": 5}},
		},
	}
	o := preemption.Options{
		Proof: true, Search: preemption.Exact, Cost: preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}},
		Objective: []preemption.CriterionName{preemption.CriterionCost, preemption.CriterionPods},
	}
	q := gen.Question{Snapshot: *s, Preemptor: preemption.Preemptor{Kind: preemption.KindPod, Name: "web"}}
	r := ask(t, o, q)
	require.Equal(t, []int64{math.MaxInt64, 2}, said(r.Score))
	require.Equal(t, r.Score, r.Proof.Bound)

	o.Search = preemption.Greedy
	worse := ask(t, o, q)
	require.Equal(t, []int64{math.MaxInt64, 4}, said(worse.Score), "all others, since a is kept")
	worse.Proof.Bound = worse.Score
	worse.Proof.Nodes[0].Steps = []preemption.ProofStep{worse.Proof.Nodes[0].Steps[0], {Criterion: "pods", Cases: []preemption.ProofCase{
		{Pod: &preemption.PodRef{Name: "a"}},
		{Resources: map[string]int64{"cpu": 1<<61 + 1}, Criteria: map[string]int64{"cost": 1}}, // two cores more cost 2^62, and so much is not left
		{Resources: map[string]int64{"cpu": 1}, Criteria: map[string]int64{"pods": 1}},
	}}}
	problems := check.Verify(&q.Snapshot, o, q.Preemptor, worse)
	require.Len(t, problems, 1)
	require.Contains(t, problems[0].Text, "where sums end")
}

// That one pod less does not do on n1, in numbers: 5 GiB are missing there, of which a, b and c free 1, 3 and
// 4, and each is one pod. Take a GiB once, a pod three times, and at most one pod: 5 - 3*1 is 2, and the pods
// free beyond what they take max(0, 1-3) + max(0, 3-3) + max(0, 4-3), which is 1. That is less: so there is
// no such pod. Nothing has to be shown of n2, where web never fits.
func ExampleOptions_proof() {
	ten, hundred := int32(10), int32(100)
	task := func(name, node string, priority *int32, cores, gib int64) preemption.Pod {
		return preemption.Pod{Name: name, Node: node, Priority: priority, Requests: preemption.Resources{"cpu": cores, "memory": gib}}
	}
	snapshot := &preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "n1", Allocatable: preemption.Resources{"cpu": 8, "memory": 8}},
			{Name: "n2", Allocatable: preemption.Resources{"cpu": 8, "memory": 4}}, // too small, whoever goes
		},
		Pods: []preemption.Pod{
			task("a", "n1", &ten, 4, 1), task("b", "n1", &ten, 2, 3), task("c", "n1", &ten, 2, 4),
			task("d", "n2", &ten, 8, 4),
			task("web", "", &hundred, 4, 5),
		},
	}
	options := preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionPods}, Proof: true}
	web := preemption.Preemptor{Kind: preemption.KindPod, Name: "web"}
	result, err := options.Preempt(web, snapshot)
	must(err)
	fmt.Println(result.Message, result.Score)
	text, err := json.Marshal(result.Proof.Nodes)
	must(err)
	fmt.Println("at least", result.Proof.Bound)
	fmt.Println(string(text))
	fmt.Println("problems:", check.Verify(snapshot, options, web, result))
	result.Proof.Nodes[0].Steps[0].Cases[0].Criteria["pods"] = 5
	fmt.Println("problems:", check.Verify(snapshot, options, web, result))
	// Output:
	// fits on n1 once 2 pods are evicted [{pods 2}]
	// at least [{pods 2}]
	// [{"nodes":["n1"],"steps":[{"criterion":"pods","cases":[{"resources":{"memory":1},"criteria":{"pods":3}}]}]}]
	// problems: []
	// problems: [proof: Node /n1: of pods no contradiction is shown: 5 is not more than 5]
}
