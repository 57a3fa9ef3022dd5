package preemption_test

import (
	"encoding/json"
	"fmt"
	"maps"
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
			for seed := range sparse(3000) {
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
			require.Greater(t, refused, int(sparse(of.refused)))
			require.Greater(t, accepted, int(sparse(of.accepted)))
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

// provableGang draws a question about a gang, a tree of groups, or one whose placement is given, and options that ask for a proof.
func provableGang(seed uint64) (preemption.Options, gen.Question) {
	r := rand.New(rand.NewPCG(seed, 17))
	kind := seed / 25 % 4
	q := gen.RandomGang(seed, gen.GangProfile{
		Profile:  gen.Profile{MaxNodes: 1 + int(seed%5), MaxPods: 12, Budgets: seed%6 < 4, Groups: seed/5%5 < 3, Ports: seed%7 == 0, Nominations: seed%4 == 0, Placement: seed%8 == 3, Odd: seed%8 == 3},
		Topology: seed%4 == 1, MaxMembers: 4, Composite: kind%2 == 1, Running: seed%11 == 5, Wishes: seed%8 == 1,
	})
	if seed/5%5 == 2 {
		elasticGroups(seed, &q)
	}
	priced(seed, &q)
	o := preemption.Options{Cost: preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}}, Proof: true}
	if seed%3 > 0 {
		o.Objective = slices.DeleteFunc(objective(r), func(c preemption.CriterionName) bool {
			return c.InUse() || seed%3 == 1 && slices.Contains(beyondProof, c)
		})
	}
	if seed%6 == 1 {
		o.Objective = append([]preemption.CriterionName{preemption.CriterionOverruns}, slices.DeleteFunc(o.Objective, func(c preemption.CriterionName) bool {
			return c == preemption.CriterionOverruns
		})...)
	}
	o.Rules = []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137}[seed/2%2]
	o.Search = []preemption.Search{preemption.Greedy, preemption.Improved, preemption.Exact, preemption.Exact}[seed/4%4]
	o.Members = []preemption.Members{preemption.MinCount, preemption.AllThatFit}[seed%2]
	if q.Preemptor.Kind == preemption.KindCompositePodGroup {
		o.Rules = preemption.Kubernetes137 // which knows such
	}
	switch seed / 100 % 8 {
	case 2:
		o.HardBudgets.All = true
	case 5:
		*[]*int64{&o.Limits.Victims, &o.Limits.Pods, &o.Limits.Cost}[r.IntN(3)] = 1 + r.Int64N(6)
		o.Limits.OnlyMoves = r.IntN(3) == 0
	}
	if q = sound(o, q); kind >= 2 {
		q.Preemptor.Placement = placementOf(o, q, seed)
	}
	return o, q
}

// placementOf is where the gang would go, or anywhere.
func placementOf(o preemption.Options, q gen.Question, seed uint64) map[string]string {
	places := map[string]string{}
	o.Search, o.Proof, o.Members = preemption.Greedy, false, preemption.AllThatFit
	r, err := o.Preempt(q.Preemptor, &q.Snapshot)
	if err == nil && seed%3 > 0 {
		for _, n := range r.Nominations {
			places[n.Pod.Namespace+"/"+n.Pod.Name] = n.Node
		}
	}
	if g, err := naive.NewGang(gangOptions(o), q.Preemptor, &q.Snapshot); err == nil && len(places) == 0 {
		return gen.RandomPlacement(seed, g.Members, nodeNames(q))
	}
	return places
}

// TestProofsOfGangsAreBelowBruteForce: no set of victims that makes room for as many members has less than what
// is proved. Verify reads every answer, the proof with it, and needs all of that. Most is shown of what is found, and of what can't be.
func TestProofsOfGangsAreBelowBruteForce(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for seed := range sparse(6000) {
		o, q := provableGang(seed)
		r := ask(&named{t, seed}, o, q)
		if p := check.Verify(&q.Snapshot, o, q.Preemptor, r); len(p) > 0 {
			t.Fatalf("seed %d: %v\n%s", seed, p, toJSON(t, r.Proof))
		}
		switch {
		case r.Verdict != preemption.Feasible && r.Verdict != preemption.Infeasible:
			require.Nil(t, r.Proof)
			continue
		case r.Proof == nil && (q.Preemptor.Placement != nil || o.HardBudgets.All || o.Limits != preemption.Limits{}): // it may not be one, or not be for lack of room
			seen[string(r.Verdict)+" within bounds, nothing shown"]++
			continue
		case r.Proof == nil:
			seen[string(r.Verdict)+", nothing shown"]++
			continue
		case r.Verdict == preemption.Infeasible:
			seen["helpless proved"]++
			continue
		}
		seen["proved"]++
		about := "gang"
		if q.Preemptor.Kind == preemption.KindCompositePodGroup {
			about = "tree"
		}
		if q.Preemptor.Placement != nil {
			about = "given"
		}
		seen[about]++
		nothingIsInVain(t, o, q, r, seed)
		for _, n := range r.Proof.Nodes {
			seen["nodes"] += len(n.Nodes)
			seen["steps"] += len(n.Steps)
		}
		proved := said(r.Proof.Bound)
		if slices.Compare(proved, said(r.Score)[:len(proved)]) == 0 {
			seen["equal"]++
			seen[about+" equal"]++
		}
		for _, c := range r.Proof.Bound {
			if c.Value > 0 && slices.Contains([]string{"violations", "overruns"}, c.Name) || c.Name == "earliest start" {
				seen[c.Name]++
			}
		}
		if least, few := leastOfGang(t, o, q); few {
			seen["counted"]++
			require.LessOrEqual(t, slices.Compare(proved, least), 0, "seed %d: nothing is proved to have less than %v of %v, and something has %v", seed, proved, o.Objective, least)
		}
	}
	t.Log(seen)
	for _, what := range []string{"helpless proved", "proved", "nodes", "steps", "equal", "counted", "given equal", "tree equal", "violations", "overruns", "earliest start"} {
		require.Greater(t, seen[what], int(sparse(20)), what)
	}
	require.Greater(t, 100*seen["equal"], 65*seen["proved"])
	require.Greater(t, seen["helpless proved"], 5*seen["infeasible, nothing shown"])
}

// TestProofsOfGangsKnowWhoMayBeTheFirstVictim: a pod below its group's priority, on a node that no member may use, makes the
// highest priority less where it goes needlessly, so that no more is proved.
func TestProofsOfGangsKnowWhoMayBeTheFirstVictim(t *testing.T) {
	low, mid, high, one := int32(0), int32(2), int32(3), int32(1)
	needless := task("needless", "n2", low, 3)
	needless.Group = "grown"
	member := task("m", "", high+1, 4)
	member.Group, member.NodeSelector = "gang", map[string]string{"zone": "a"}
	gang := preemption.Preemptor{Group: &preemption.PodGroup{Name: "gang", MinCount: &one, Priority: member.Priority}, Pods: []preemption.Pod{member}}
	o := preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionHighest}, Search: preemption.Exact, Proof: true}
	s := &preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "n1", Allocatable: preemption.Resources{"cpu": 7000}, Labels: map[string]string{"zone": "a"}},
			{Name: "n2", Allocatable: preemption.Resources{"cpu": 5000}, Labels: map[string]string{"zone": "b"}},
		},
		Pods:      []preemption.Pod{task("stays", "n1", mid, 3), task("goes", "n1", mid, 2), needless},
		PodGroups: []preemption.PodGroup{{Name: "grown", Basic: true, Priority: &high}},
	}
	for grown, bound := range map[int32]int64{low: 2, high: 0} {
		s.PodGroups[0].Priority = &grown
		r, err := o.Preempt(gang, s)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict)
		require.Empty(t, check.Verify(s, o, gang, r))
		require.Equal(t, []preemption.Criterion{{Name: "highest priority", Value: bound}}, r.Proof.Bound)
	}
}

// nothingIsInVain: without any one of its steps a proof does not hold.
func nothingIsInVain(t *testing.T, o preemption.Options, q gen.Question, r *preemption.Result, seed uint64) {
	t.Helper()
	for i := range r.Proof.Nodes {
		n := &r.Proof.Nodes[i]
		steps := n.Steps
		for k := range steps {
			n.Steps = slices.Delete(slices.Clone(steps), k, k+1)
			require.NotEmpty(t, check.Verify(&q.Snapshot, o, q.Preemptor, r), "seed %d: step %d of %v says nothing", seed, k, n.Nodes)
		}
		n.Steps = steps
	}
}

// leastOfGang is the least that a set of victims has that makes room for as many members, and of which elastic
// groups go whole, or that the exact search finds; few is false where there are too many sets.
func leastOfGang(t *testing.T, o preemption.Options, q gen.Question) (least []int64, few bool) {
	t.Helper()
	least = exactly(t, o, q)
	q = wholeGroups(q)
	g, err := naive.NewGang(gangOptions(o), q.Preemptor, &q.Snapshot)
	require.NoError(t, err)
	fates := fatesIn(t, o, &q)
	found := false
	see := func(p naive.Plan) {
		c := naive.Candidate{Victims: p.Victims, Violations: p.Violations, Overruns: p.Overruns, Score: p.Score}
		if !withinBounds(o, c, fates) {
			return
		}
		found = true
		if v := values(o.Objective, c, fates, nil); least == nil || slices.Compare(v, least) < 0 {
			least = v
		}
	}
	if q.Preemptor.Placement != nil {
		nodes := nodeNames(q)
		if len(g.Potential(nodes)) > 10 {
			return nil, false
		}
		if places := inPlaces(q.Preemptor.Placement); g.Enough(places) && g.Together(places) {
			g.SetsAt(places, nodes, see)
		}
		return least, true
	}
	plain := o
	plain.Search, plain.Proof = preemption.Greedy, false
	seats := len(ask(&named{t, 0}, plain, q).Nominations)
	if o.Members == preemption.MinCount { // others come along where that costs nothing
		seats = 1
	}
	for _, round := range g.Rounds() {
		for _, region := range round {
			if len(g.Potential(region.Nodes)) > 8 {
				return nil, false
			}
			g.Sets(region.Nodes, seats, see)
		}
		if found {
			break
		}
	}
	return least, true
}

// Of the three members two would cost the one pod of n1, and each on n2 a pod or more. At a price of a pod for each, n1 is spared
// one: so three members cost 3 - 1 pods, and that is 2. On n2, where four cores are missing for two members, and b, c and d free 1, 1 and 2, all three have to
// go. Take their count once, a pod once, and at most one pod: 3 is more than 1*1 + 3 x max(0, 1-1), which is 1. So one pod is not enough.
func ExampleOptions_proofOfGang() {
	ten, hundred := int32(10), int32(100)
	task := func(name, node string, cores int64) preemption.Pod {
		return preemption.Pod{Name: name, Node: node, Priority: &ten, Requests: preemption.Resources{"cpu": cores}}
	}
	snapshot := &preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "n1", Allocatable: preemption.Resources{"cpu": 4}},
			{Name: "n2", Allocatable: preemption.Resources{"cpu": 4}},
		},
		Pods: []preemption.Pod{
			task("a", "n1", 4),
			task("b", "n2", 1), task("c", "n2", 1), task("d", "n2", 2),
		},
		PodGroups: []preemption.PodGroup{{Name: "train", Priority: &hundred}},
	}
	for _, name := range []string{"t0", "t1", "t2"} {
		snapshot.Pods = append(snapshot.Pods, preemption.Pod{Name: name, Group: "train", Priority: &hundred, Requests: preemption.Resources{"cpu": 2}})
	}
	options := preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionPods}, Search: preemption.Exact, Proof: true}
	train := preemption.Preemptor{Kind: preemption.KindPodGroup, Name: "train"}
	result, err := options.Preempt(train, snapshot)
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Message)
	fmt.Println("proved to be at least", result.Proof.Bound)
	for _, n := range result.Proof.Nodes {
		fmt.Println(n.Nodes, "price", n.Price, "times", n.Times, "spare", n.Spare)
		for _, s := range n.Steps {
			fmt.Println("  from", s.Members, "members on:", s.Cases[0].Count, s.Cases[0].Criteria)
		}
	}
	fmt.Println("problems:", check.Verify(snapshot, options, train, result))
	// Output:
	// all 3 pods of train fit in the cluster once 2 pods are evicted
	// proved to be at least [{pods 2}]
	// [n1] price 1 times 1 spare 1
	//   from 1 members on: 1 map[pods:1]
	// [n2] price 1 times 1 spare 0
	//   from 1 members on: 1 map[pods:1]
	//   from 2 members on: 1 map[pods:1]
	// problems: []
}

// provableQuota is a random question about quota, of which a proof is asked for.
func provableQuota(seed uint64) quotaCase {
	c := leastQuota(seed, []preemption.Search{preemption.Exact, preemption.Exact, preemption.Improved}[seed%3])
	c.options.Proof = true
	if seed%8 > 0 {
		c.options.Quota.FairSharing = nil
	}
	if seed%2 > 0 {
		return c
	}
	c.snapshot.Workloads[len(c.snapshot.Workloads)-1].Priority = 50
	for i := range c.snapshot.ClusterQueues {
		p := &c.snapshot.ClusterQueues[i].Preemption
		if p.WithinClusterQueue == "" || p.WithinClusterQueue == cluster.QueueNever {
			p.WithinClusterQueue = cluster.LowerPriority
		}
		if p.ReclaimWithinCohort == "" || p.ReclaimWithinCohort == cluster.QueueNever {
			p.ReclaimWithinCohort = cluster.AnyPriority
		}
	}
	return c
}

// No workloads that the rules of queues allow have less than what is proved, and what is called optimal is proved
// to be so mostly. Verify reads every answer, the proof with it.
func TestProofsOfQuotaAreBelowBruteForce(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for seed := range sparse(24_000) {
		c := provableQuota(seed)
		r := askQuota(t, c)
		if r.Verdict != preemption.Feasible || c.options.Quota.FairSharing != nil {
			require.Nil(t, r.Proof, "seed %d", seed)
			continue
		}
		if r.Proof == nil {
			seen["nothing to prove"]++
			continue
		}
		proved := said(r.Proof.Bound)
		if least, few := leastAllowed(c, r); few {
			seen["counted"]++
			require.LessOrEqual(t, slices.Compare(proved, least), 0, "seed %d: nothing is proved to have less than %v of %v, and something has %v", seed, proved, c.options.Objective, least)
		}
		for _, n := range r.Proof.Nodes {
			for _, s := range n.Steps {
				if len(s.Cases) > 1 {
					seen["cases"]++
				}
				for _, x := range s.Cases {
					seen["criteria"] += len(x.Criteria)
					seen["resources"] += len(x.Resources)
				}
			}
		}
		if len(r.Proof.Nodes) == 2 {
			seen["two attempts"]++
		}
		switch {
		case !r.Optimal:
		case slices.Equal(proved, said(r.Score)):
			seen["proved"]++
		default:
			seen["optimal, and less proved"]++
		}
	}
	t.Log(seen)
	for _, what := range []string{"counted", "cases", "criteria", "resources", "proved"} {
		require.Greater(t, seen[what], int(sparse(20)), what)
	}
}

// refusesProof reports whether Verify finds something wrong with the proof of r, whatever r says else of the least.
func refusesProof(c quotaCase, r *preemption.Result) bool {
	return slices.ContainsFunc(check.Verify(c.snapshot, c.options, quotaPreemptor, r), func(p check.Problem) bool { return p.Rule == check.RuleProof })
}

// harder is a question like c where more is asked for, nobody may borrow, or somebody may not go.
func harder(seed uint64, c quotaCase) quotaCase {
	s := *c.snapshot
	s.Workloads, s.ClusterQueues = slices.Clone(s.Workloads), slices.Clone(s.ClusterQueues)
	in := &s.Workloads[len(s.Workloads)-1]
	switch r := rand.New(rand.NewPCG(seed, 20)); r.IntN(3) {
	case 0:
		in.PodSets = slices.Clone(in.PodSets)
		set := &in.PodSets[0]
		set.Requests = maps.Clone(set.Requests)
		for name := range set.Requests {
			set.Requests[name]++
		}
	case 1:
		for i := range s.ClusterQueues {
			if p := &s.ClusterQueues[i].Preemption; p.ReclaimWithinCohort == cluster.AnyPriority {
				p.ReclaimWithinCohort, p.BorrowWithinCohort = cluster.ReclaimFromAny, nil
			}
		}
	default:
		s.Workloads[r.IntN(len(s.Workloads))].Priority = 100
	}
	return quotaCase{&s, c.options}
}

// Whatever is changed of a proof about quota, and whatever is proved of a harder question, what is accepted of it is true, also
// where the answer claims a score beyond all; and a bound beyond what there is is not.
func TestForgedProofsOfQuotaClaimNothingMore(t *testing.T) {
	t.Parallel()
	refused, accepted, foreign := 0, 0, 0
	for seed := range sparse(10_000) {
		c := provableQuota(seed)
		r := askQuota(t, c)
		if r.Proof == nil {
			continue
		}
		least, few := leastAllowed(c, r)
		if !few {
			continue
		}
		text, rng, far, attempts := toJSON(t, r.Proof), rand.New(rand.NewPCG(seed, 19)), len(r.Proof.Bound), r.Proof.Nodes
		for k := range r.Score {
			r.Score[k].Value = math.MaxInt64
		}
		r.Bound, r.Optimal = nil, false
		judge := func() bool {
			if refusesProof(c, r) {
				return false
			}
			require.LessOrEqual(t, slices.Compare(said(r.Proof.Bound), least), 0, "seed %d: accepted, and wrong: %s", seed, toJSON(t, r.Proof))
			return true
		}
		for i := range 30 {
			r.Proof = &preemption.Proof{}
			require.NoError(t, json.Unmarshal(text, r.Proof))
			require.False(t, refusesProof(c, r), "seed %d", seed)
			for range 1 + rng.IntN(3) {
				tamper(rng, reflect.ValueOf(r.Proof).Elem())
			}
			if i%2 > 0 && len(r.Proof.Bound) > 0 {
				r.Proof.Bound[rng.IntN(len(r.Proof.Bound))].Value++
			}
			if judge() {
				accepted++
			} else {
				refused++
			}
		}
		for k := range far {
			r.Proof = &preemption.Proof{}
			require.NoError(t, json.Unmarshal(text, r.Proof))
			r.Proof.Bound[k].Value++
			judge()
		}
		if other := askQuota(t, harder(seed, c)); other.Proof != nil {
			foreign++
			for i := range attempts {
				attempts[i].Steps = other.Proof.Nodes[i%len(other.Proof.Nodes)].Steps
			}
			r.Proof = &preemption.Proof{Bound: other.Proof.Bound, Nodes: attempts}
			judge()
		}
	}
	t.Log(refused, accepted, foreign)
	require.Greater(t, refused, int(sparse(10_000)))
	require.Greater(t, accepted, int(sparse(500)))
	require.Greater(t, foreign, int(sparse(200)))
}

// Pods that hold quota, by themselves or as a group, are items of a proof, too; what they cost is not in it. Verify reads every answer.
func TestProofsOfQuotaKnowPods(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for seed := range seeds(8000) {
		c, rng := provableQuota(seed), rand.New(rand.NewPCG(seed, 21))
		s := c.snapshot
		s.Nodes = append(s.Nodes, preemption.Node{Name: "n", Labels: map[string]string{"pool": "0"}, Allocatable: preemption.Resources{"cpu": 1 << 20}})
		for i := range 1 + rng.IntN(4) {
			p := preemption.Pod{
				Namespace: "ns", Name: []string{"in", "w0", "w1", "w2"}[i], Node: "n", Queue: s.LocalQueues[rng.IntN(len(s.LocalQueues))].Name,
				Requests: preemption.Resources{"cpu": 1 + rng.Int64N(4000), "gpu": rng.Int64N(3)},
			}
			if i > 1 {
				p.Group, p.Queue = "team", ""
			}
			s.Pods = append(s.Pods, p)
		}
		s.PodGroups = append(s.PodGroups, preemption.PodGroup{Namespace: "ns", Name: "team", Queue: s.LocalQueues[0].Name})
		r := askQuota(t, c)
		if r.Proof == nil {
			continue
		}
		if proved := said(r.Proof.Bound); r.Optimal && slices.Equal(proved, said(r.Score)[:len(proved)]) {
			seen["proved"]++
		}
		for _, n := range r.Proof.Nodes {
			for _, step := range n.Steps {
				for _, x := range step.Cases {
					if x.Pod != nil {
						seen["by pod"]++
					}
					if x.Workload != nil {
						seen["by workload"]++
					}
				}
			}
		}
		if slices.ContainsFunc(r.Victims, func(v preemption.Victim) bool { return v.Kind != cluster.KindWorkload }) {
			seen["pods go"]++
			if len(r.Proof.Bound) < len(r.Score) && r.Score[len(r.Proof.Bound)].Name == "cost" {
				seen["ends before the cost"]++
			}
		}
	}
	t.Log(seen)
	for _, what := range []string{"proved", "by pod", "by workload", "pods go", "ends before the cost"} {
		require.Positive(t, seen[what], what)
	}
}

// Six GPUs are missing: of one workload with four and two with two, two go. By these multipliers a set of one would have at
// most 2 x 1 + (4 - 2) + 0 + 0, which is less than 6.
func ExampleOptions_proofOfQuota() {
	snapshot, in := uneven(), preemption.Preemptor{Kind: preemption.KindWorkload, Name: "in"}
	snapshot.Workloads[3].PodSets[0].Count = 6
	options := preemption.Options{Search: preemption.Exact, Objective: []preemption.CriterionName{preemption.CriterionUnits}, Proof: true}
	result, err := options.Preempt(in, snapshot)
	if err != nil {
		panic(err)
	}
	text, err := json.MarshalIndent(result.Proof, "", "  ")
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
	fmt.Println("problems:", len(check.Verify(snapshot, options, in, result)))
	// Output:
	// {
	//   "bound": [
	//     {
	//       "name": "units",
	//       "value": 2
	//     }
	//   ],
	//   "nodes": [
	//     {
	//       "steps": [
	//         {
	//           "criterion": "units",
	//           "cases": [
	//             {
	//               "resources": {
	//                 "a100/gpu/0": 1
	//               },
	//               "criteria": {
	//                 "units": 2
	//               }
	//             }
	//           ]
	//         }
	//       ],
	//       "borrowing": true
	//     }
	//   ]
	// }
	// problems: 0
}

// without is q once some units are gone.
func without(q gen.Question, units []naive.Unit) gen.Question {
	left := gen.Clone(q)
	gone := naive.Gone(units)
	pods := left.Snapshot.Pods[:0]
	for _, p := range left.Snapshot.Pods {
		if !gone[naive.PodKey{Namespace: p.Namespace, Name: p.Name}] {
			pods = append(pods, p)
		}
	}
	left.Snapshot.Pods = pods
	return left
}

// aProvedNoIsOne: where it is called proved that no evictions help, the gang fits once
// none of the sets of units is gone that it may evict. Constraints make that a matter of
// who stays, and of the order in which members come.
func aProvedNoIsOne(t fatal, o preemption.Options, q gen.Question, seen map[string]int) {
	r := ask(t, o, q)
	if r.Verdict != preemption.Infeasible {
		return
	}
	if !r.Stats.Exact {
		seen["not proved"]++
		return
	}
	g, _ := naive.NewGang(gangOptions(o), q.Preemptor, &q.Snapshot)
	o.Candidates = true
	for _, round := range g.Rounds() {
		for _, region := range round {
			units := g.Potential(region.Nodes) // whoever keeps members off a domain from outside stays
			if len(units) > 6 {
				return
			}
			subsets(units, func(some []naive.Unit) bool {
				r := ask(t, o, without(q, some))
				there := func(c preemption.Candidate) bool { return c.Domain == region.Name }
				if r.Verdict == preemption.Fits && (r.Domain == region.Name || slices.ContainsFunc(r.Candidates, there)) {
					t.Fatalf("%d units gone, and it fits at %v", len(some), placesOf(r))
				}
				return true
			})
		}
	}
	seen["proved"]++
}

func TestAProvedNoIsOne(t *testing.T) {
	t.Parallel()
	p := gen.GangProfile{Profile: gen.Profile{MaxNodes: 3, MaxPods: 6}, MaxMembers: 4, Ties: true, Topology: true, Composite: true, Wishes: true}
	seen := map[string]int{}
	for seed := range seeds(3000) {
		o := gangOptionsBySeed(seed)
		o.Candidates, o.Explain = false, false
		if q := sound(o, gen.RandomGang(seed, p)); asksSomething(q) {
			aProvedNoIsOne(&named{t, seed}, o, q, seen)
		}
	}
	t.Log(seen)
	require.Greater(t, seen["proved"], int(seeds(100)))
}

// TestAProvedNoOfOnePod: a pod that wants to be near a potential victim fits beside it
// once another one is gone. Upstream takes both out and says no, and so does this, but it
// is not called proved; where there is no room either, it is.
func TestAProvedNoOfOnePod(t *testing.T) {
	low, high := int32(0), int32(10)
	near := []cluster.AffinityTerm{{TopologyKey: "zone", Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "db"}}}}
	for cpu, proved := range map[int64]bool{2: false, 4: true} {
		s := &preemption.Snapshot{
			Nodes: []cluster.Node{{Name: "n1", Labels: map[string]string{"zone": "z1"}, Allocatable: preemption.Resources{"cpu": 3}}},
			Pods: []preemption.Pod{
				{Name: "db", Node: "n1", Labels: map[string]string{"app": "db"}, Priority: &low, Requests: preemption.Resources{"cpu": 1}},
				{Name: "batch", Node: "n1", Priority: &low, Requests: preemption.Resources{"cpu": 2}},
				{Name: "web", Priority: &high, Requests: preemption.Resources{"cpu": cpu}, Affinity: near},
			},
		}
		r, err := preemption.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: "web"}, s)
		require.NoError(t, err)
		require.Equal(t, preemption.Infeasible, r.Verdict)
		require.Equal(t, proved, r.Stats.Exact, "cpu %d: %s", cpu, r.Message)
	}
}

// A member that is larger than every node needs no search, whatever constraints the gang has: that
// too few find room is proved.
func TestAMemberLargerThanEveryNodeIsProved(t *testing.T) {
	t.Parallel()
	const nodes, members = 30, 40
	high, all := int32(100), int32(members)
	ours := &disruption.Selector{MatchLabels: map[string]string{"job": "gang"}}
	s := preemption.Snapshot{}
	for i := range nodes {
		host := fmt.Sprintf("n%02d", i)
		s.Nodes = append(s.Nodes, preemption.Node{
			Name: host, Labels: map[string]string{"host": host}, Allocatable: preemption.Resources{cluster.CPU: 4_000, cluster.Pods: 10},
		})
		s.Pods = append(s.Pods, preemption.Pod{Name: "batch-" + host, Node: host, Requests: preemption.Resources{cluster.CPU: 4_000}})
	}
	p := preemption.Preemptor{Group: &preemption.PodGroup{Name: "gang", Priority: &high, MinCount: &all}}
	for i := range members {
		cpu := int64(500 + 10*i)
		if i == 0 {
			cpu = 5_000
		}
		p.Pods = append(p.Pods, preemption.Pod{
			Name: fmt.Sprintf("m%02d", i), Labels: map[string]string{"job": "gang"}, Requests: preemption.Resources{cluster.CPU: cpu},
			Spread: []cluster.Spread{{MaxSkew: 2, TopologyKey: "host", Selector: ours}},
		})
	}
	r, err := preemption.Preempt(p, &s)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, r.Verdict)
	require.True(t, r.Stats.Exact)
	require.Equal(t, "no evictions help: room for 39 of the 40 pods that gang needs", r.Message)

	p.Group.MinCount = &[]int32{members - 1}[0]
	r, err = preemption.Preempt(p, &s)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict)
}

// TestInfeasibleIsProvedOnlyIfItIs: with everybody gone nobody is left whom web has
// affinity to, although the eviction of batch alone would do. Where nobody is whom it
// has affinity to, no eviction helps.
func TestInfeasibleIsProvedOnlyIfItIs(t *testing.T) {
	low, high := int32(10), int32(1000)
	cpu := func(milli int64) preemption.Resources { return preemption.Resources{cluster.CPU: milli} }
	for app, exact := range map[string]bool{"db": false, "other": true} {
		s := preemption.Snapshot{
			Nodes: []cluster.Node{{Name: "n1", Labels: map[string]string{"zone": "a"}, Allocatable: cpu(2000)}},
			Pods: []preemption.Pod{
				{Name: "db", Node: "n1", Labels: map[string]string{"app": "db"}, Priority: &low, Requests: cpu(1000)},
				{Name: "batch", Node: "n1", Priority: &low, Requests: cpu(1000)},
				{Name: "web", Priority: &high, Requests: cpu(1000), Affinity: []cluster.AffinityTerm{{
					TopologyKey: "zone", Selector: &preemption.Selector{MatchLabels: map[string]string{"app": app}},
				}}},
			},
		}
		r, err := preemption.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: "web"}, &s)
		require.NoError(t, err)
		require.Equal(t, preemption.Infeasible, r.Verdict)
		require.Equal(t, exact, r.Stats.Exact, app)
	}
}

// TestALimitRefusesOnlyWhereItDoes: one place is free and one pod may go, so that there is room for as
// many members as the gang needs, though not for all.
func TestALimitRefusesOnlyWhereItDoes(t *testing.T) {
	high, need := int32(100), int32(2)
	one := preemption.Resources{cluster.CPU: 1}
	s := preemption.Snapshot{Nodes: []cluster.Node{{Name: "n1", Allocatable: preemption.Resources{cluster.CPU: 4}}}}
	p := preemption.Preemptor{Group: &preemption.PodGroup{Name: "gang", Priority: &high, MinCount: &need}}
	for _, name := range []string{"a", "b", "c", "d"} {
		p.Pods = append(p.Pods, preemption.Pod{Name: name, Requests: one})
		if name != "d" {
			s.Pods = append(s.Pods, preemption.Pod{Name: "batch-" + name, Node: "n1", Requests: one})
		}
	}
	r, err := preemption.Options{Limits: preemption.Limits{Pods: 1}}.Preempt(p, &s)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict, r.Message)
	require.Len(t, r.Victims, 1)
}
