package preemption_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/naive"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// decision is what the library and its plain twin must agree on.
type decision struct {
	Verdict    string
	Chosen     string
	Candidates []candidate // by node
	Cleared    []string
}

type candidate struct {
	Node       string
	Best       bool
	Victims    []string // kind namespace/name(pods), in order
	Violations int
	Overruns   int64
	Score      []int64
}

// decide asks the library.
func decide(o preemption.Options, q gen.Question) (decision, *preemption.Result, error) {
	o.Candidates, o.Explain = true, true
	r, err := o.Preempt(q.Preemptor, &q.Snapshot)
	if err != nil {
		return decision{}, nil, err
	}
	d := decision{Verdict: string(r.Verdict)}
	if r.Verdict == preemption.Feasible {
		d.Chosen = r.Domain
	}
	for _, c := range r.Candidates {
		out := candidate{Node: c.Domain, Best: c.Best, Violations: c.Violations, Overruns: c.Overruns}
		for _, v := range c.Victims {
			text := fmt.Sprintf("%s %s/%s(", v.Kind, v.Namespace, v.Name)
			for _, p := range v.Pods {
				text += fmt.Sprintf(" %s/%s", p.Namespace, p.Name)
			}
			out.Victims = append(out.Victims, text+" )")
		}
		for _, s := range c.Score {
			out.Score = append(out.Score, s.Value)
		}
		d.Candidates = append(d.Candidates, out)
	}
	for _, p := range r.Cleared {
		d.Cleared = append(d.Cleared, p.Namespace+"/"+p.Name)
	}
	return d, r, nil
}

// twin asks the plain twin.
func twin(o preemption.Options, q gen.Question) (decision, naive.Answer, error) {
	a, err := naive.Preempt(plain(o), q.Preemptor, &q.Snapshot)
	if err != nil {
		return decision{}, a, err
	}
	d := decision{Verdict: a.Verdict, Chosen: a.Chosen}
	if a.Verdict == naive.Fits {
		nominated, first := a.Statuses[nominatedNode(q)]
		for _, n := range slices.Sorted(maps.Keys(a.Statuses)) {
			if a.Statuses[n].OK() {
				d.Candidates = append(d.Candidates, candidate{Node: n, Best: n == nominatedNode(q) || !first || !nominated.OK()})
			}
		}
	}
	for _, n := range slices.Sorted(maps.Keys(a.Candidates)) {
		c := a.Candidates[n]
		out := candidate{Node: n, Best: slices.Contains(a.Best, n), Violations: c.Violations, Overruns: c.Overruns}
		for _, u := range c.Victims {
			text := fmt.Sprintf("%s %s/%s(", u.Kind, u.Namespace, u.Name)
			for _, p := range u.Pods {
				text += fmt.Sprintf(" %s/%s", p.Namespace, p.Name)
			}
			out.Victims = append(out.Victims, text+" )")
		}
		s := c.Score
		out.Score = []int64{int64(s.Violations), int64(s.HighestPriority), s.PrioritySum, int64(s.Pods), -cluster.Nanos(s.Start)}
		d.Candidates = append(d.Candidates, out)
	}
	for _, k := range a.Cleared {
		d.Cleared = append(d.Cleared, k.Namespace+"/"+k.Name)
	}
	return d, a, nil
}

// nominatedNode is that of the pod that asks.
func nominatedNode(q gen.Question) string {
	for _, p := range append(q.Preemptor.Pods, q.Snapshot.Pods...) {
		if len(q.Preemptor.Pods) > 0 || p.Namespace == q.Preemptor.Namespace && p.Name == q.Preemptor.Name {
			return p.NominatedNode
		}
	}
	return ""
}

func plain(o preemption.Options) naive.Options {
	out := naive.Options{Rules: string(o.Rules), Guards: o.Guards}
	if s := o.Sampling; s != nil {
		out.Sampling = &naive.Sampling{Percent: int(s.Percent), Minimum: int(s.Minimum), Offset: int(s.Offset)}
	}
	return out
}

// disagreement tells how the library and its twin answer q differently, if they do.
func disagreement(o preemption.Options, q gen.Question) (string, *preemption.Result) {
	got, r, err := decide(o, q)
	if err != nil {
		return fmt.Sprintf("the library can't read the question: %v", err), nil
	}
	want, a, err := twin(o, q)
	if err != nil {
		return fmt.Sprintf("the twin can't read the question: %v", err), nil
	}
	if diff := cmp.Diff(want, got); diff != "" {
		return "(-twin +library):\n" + diff, r
	}
	if r.Verdict == preemption.Fits && !a.Statuses[r.Domain].OK() {
		return fmt.Sprintf("it does not fit on %s: %v", r.Domain, a.Statuses[r.Domain]), r
	}
	for _, t := range r.Trace {
		reason := preemption.Reason{}
		if last := t.Steps[len(t.Steps)-1]; last.Action == answer.ActionReject {
			reason = *last.Reason
		}
		if !saysTheSame(reason, a.Rejected[t.Domain]) {
			return fmt.Sprintf("why not on %s: twin %+v, library %+v", t.Domain, a.Rejected[t.Domain], reason), r
		}
	}
	return "", r
}

// saysTheSame compares a reason with the twin's. The library names one resource
// that is short, the twin all of them.
func saysTheSame(r preemption.Reason, st naive.Status) bool {
	switch {
	case string(r.Check) != st.Check || r.Unresolvable != st.Unresolvable:
		return false
	case r.Check == domain.CheckResource:
		return r.Missing > 0 && r.Missing == st.Resources[r.Resource]
	}
	return true
}

// profiles are the kinds of small clusters that the twin is asked about.
func profiles() map[string]gen.Profile {
	plain := gen.Profile{}
	budgets := gen.Profile{Budgets: true, Terminating: true}
	places := gen.Profile{Placement: true, Ports: true, Nominations: true, Terminating: true}
	groups := gen.Profile{Groups: true, Budgets: true}
	guarded := gen.Profile{Groups: true, Budgets: true, Classes: true, Guards: true}
	return map[string]gen.Profile{
		"plain": plain, "budgets": budgets, "places": places, "groups": groups, "guards": guarded, "everything": gen.Everything(),
	}
}

func TestTheLibraryAgreesWithItsTwin(t *testing.T) {
	for name, profile := range profiles() {
		for _, rules := range []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137} {
			t.Run(name+"/"+string(rules), func(t *testing.T) {
				t.Parallel()
				seen := map[preemption.Verdict]int{}
				for seed := range seeds(2500) {
					q := gen.Random(seed, profile)
					o := preemption.Options{Rules: rules}
					if profile.Guards {
						o.Guards = gen.Guards(seed)
					}
					diff, r := disagreement(o, q)
					if diff != "" {
						t.Fatalf("seed %d: %s", seed, diff)
					}
					seen[r.Verdict]++
				}
				tenth := int(seeds(250)) // the clusters have to ask something
				require.Greater(t, seen[preemption.Feasible], tenth)
				require.Greater(t, seen[preemption.Infeasible], tenth)
				require.Greater(t, seen[preemption.Fits], tenth/2)
			})
		}
	}
}

// TestTheLibraryAgreesWithItsTwinOnLargeGroups: a group of many pods is not read for each node.
func TestTheLibraryAgreesWithItsTwinOnLargeGroups(t *testing.T) {
	evicted := 0
	for seed := range seeds(2500) {
		q := gen.Enlarge(gen.Random(seed, gen.Everything()), seed)
		rules := []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137}[seed%2]
		diff, r := disagreement(preemption.Options{Rules: rules}, q)
		if diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
		if slices.ContainsFunc(r.Victims, func(v preemption.Victim) bool { return len(v.Pods) > 16 }) {
			evicted++
		}
	}
	require.Greater(t, evicted, int(seeds(50)))
}

func TestTheLibrarySamplesLikeItsTwin(t *testing.T) {
	seen := map[preemption.Verdict]int{}
	for seed := range seeds(3000) {
		q := gen.Random(seed, gen.Profile{Budgets: true})
		s := preemption.Sampling{Percent: int32(seed * 7 % 101), Minimum: 1 + int32(seed%3), Offset: int32(seed % 11)}
		rules := []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137}[seed%2]
		diff, r := disagreement(preemption.Options{Rules: rules, Sampling: &s}, q)
		if diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
		seen[r.Verdict]++
	}
	require.Greater(t, seen[preemption.Feasible], int(seeds(500)))
}
