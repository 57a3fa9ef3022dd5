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

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
)

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
	for seed := range seeds(24_000) {
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
		require.Greater(t, seen[what], int(seeds(20)), what)
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
	for seed := range seeds(10_000) {
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
	require.Greater(t, refused, int(seeds(10_000)))
	require.Greater(t, accepted, int(seeds(500)))
	require.Greater(t, foreign, int(seeds(200)))
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
