package preemption_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
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
