package preemption_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
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

// gangDecision is what the library and its plain twin must agree on about a group.
type gangDecision struct {
	Verdict    string
	Places     map[string]string
	Victims    []string
	Violations int
	Overruns   int64
	Score      []int64
	Level      string // the lowest that is enough, where it was looked for
}

func gangOptions(o preemption.Options) naive.GangOptions {
	return naive.GangOptions{Rules: string(o.Rules), LowestLevel: o.LowestLevel, BrokenFree: o.BrokenGroupsFree}
}

// unitsText names units and their pods, in order.
func unitsText(list []naive.Unit) (out []string) {
	for _, u := range list {
		text := fmt.Sprintf("%s %s/%s(", u.Kind, u.Namespace, u.Name)
		for _, p := range u.Pods {
			text += fmt.Sprintf(" %s/%s", p.Namespace, p.Name)
		}
		out = append(out, text+" )")
	}
	return out
}

func victimsText(list []preemption.Victim) (out []string) {
	for _, v := range list {
		text := fmt.Sprintf("%s %s/%s(", v.Kind, v.Namespace, v.Name)
		for _, p := range v.Pods {
			text += fmt.Sprintf(" %s/%s", p.Namespace, p.Name)
		}
		out = append(out, text+" )")
	}
	return out
}

func planDecision(verdict string, p naive.Plan) gangDecision {
	d := gangDecision{
		Verdict: verdict, Victims: unitsText(p.Victims), Violations: p.Violations, Overruns: p.Overruns, Score: scoreValues(p.Score),
	}
	if p.Level != nil {
		d.Level = fmt.Sprintf("level %d is enough", *p.Level)
	}
	return d
}

func scoreValues(s naive.Score) []int64 {
	return []int64{int64(s.Violations), int64(s.HighestPriority), s.PrioritySum, int64(s.Pods), -cluster.Nanos(s.Start)}
}

func resultDecision(r *preemption.Result) gangDecision {
	d := gangDecision{Verdict: string(r.Verdict), Victims: victimsText(r.Victims), Violations: r.Violations, Overruns: r.Overruns}
	for _, c := range r.Score {
		d.Score = append(d.Score, c.Value)
	}
	for _, t := range r.Trace {
		for _, s := range t.Steps {
			if s.Action == answer.ActionLevel {
				d.Level, _, _ = strings.Cut(s.Text, ",")
			}
		}
	}
	return d
}

func placesOf(r *preemption.Result) naive.Places {
	places := naive.Places{}
	for _, n := range r.Nominations {
		places[naive.PodKey{Namespace: n.Pod.Namespace, Name: n.Pod.Name}] = n.Node
	}
	return places
}

// inPlaces is a placement in the twin's words.
func inPlaces(placement map[string]string) naive.Places {
	places := naive.Places{}
	for name, node := range placement {
		namespace, rest, _ := strings.Cut(name, "/")
		places[naive.PodKey{Namespace: namespace, Name: rest}] = node
	}
	return places
}

func nodeNames(q gen.Question) (out []string) {
	for _, n := range q.Snapshot.Nodes {
		out = append(out, n.Name)
	}
	slices.Sort(out)
	return out
}

// gangTwinGiven is the twin's answer for a placement that is given.
func gangTwinGiven(o preemption.Options, q gen.Question) gangDecision {
	g, err := naive.NewGang(gangOptions(o), q.Preemptor, &q.Snapshot)
	if err != nil {
		return gangDecision{Verdict: err.Error()}
	}
	places, nodes := inPlaces(q.Preemptor.Placement), nodeNames(q)
	switch {
	case q.Preemptor.Kind == cluster.KindCompositePodGroup && o.Rules == preemption.Kubernetes136:
		return gangDecision{Verdict: naive.NotEligible}
	case g.Hopeless():
		return gangDecision{Verdict: naive.Infeasible}
	case !g.Enough(places) || !g.Together(places):
		if v := g.Eligible(); v != "" {
			return gangDecision{Verdict: v}
		}
		return gangDecision{Verdict: naive.Infeasible}
	}
	if _, st := g.Misfit(places, nil); st.OK() {
		return gangDecision{Verdict: naive.Fits}
	}
	if v := g.Eligible(); v != "" {
		return gangDecision{Verdict: v}
	}
	plan, st := g.At(places, nodes)
	if !st.OK() {
		return gangDecision{Verdict: naive.Infeasible}
	}
	return planDecision(naive.Feasible, plan)
}

// gangsAsked are the kinds of questions about groups that the twin is asked.
func gangsAsked() map[string]gen.GangProfile {
	small := gen.Profile{MaxNodes: 4, MaxPods: 12}
	with := func(change func(*gen.GangProfile)) gen.GangProfile {
		p := gen.GangProfile{Profile: small}
		change(&p)
		return p
	}
	return map[string]gen.GangProfile{
		"plain":      with(func(*gen.GangProfile) {}),
		"groups":     with(func(p *gen.GangProfile) { p.Groups, p.Budgets, p.Running = true, true, true }),
		"trees":      with(func(p *gen.GangProfile) { p.Groups, p.Composite, p.Running = true, true, true }),
		"topology":   with(func(p *gen.GangProfile) { p.Groups, p.Topology, p.Running = true, true, true }),
		"wishes":     with(func(p *gen.GangProfile) { p.Composite, p.Topology, p.Wishes, p.Running = true, true, true, true }),
		"everything": gen.EverythingForGangs(),
	}
}

// theRules are the generations, each with what is asked under it.
func theRules() map[string]preemption.Options {
	return map[string]preemption.Options{
		"Kubernetes136": {Rules: preemption.Kubernetes136},
		"Kubernetes137": {Rules: preemption.Kubernetes137},
		"KEP5710Alpha":  {Rules: preemption.KEP5710Alpha},
		"lowest":        {LowestLevel: true},
		"broken":        {BrokenGroupsFree: true},
	}
}

// asksSomething says whether a question about a group can be read.
func asksSomething(q gen.Question) bool {
	g, err := naive.NewGang(naive.GangOptions{}, q.Preemptor, &q.Snapshot)
	return err == nil && len(g.Members) > 0
}

// sound makes a question that KEP5710Alpha accepts: no group of mode All is basic.
func sound(o preemption.Options, q gen.Question) gen.Question {
	if o.Rules == preemption.KEP5710Alpha {
		one := int32(1)
		for i := range q.Snapshot.PodGroups {
			if g := &q.Snapshot.PodGroups[i]; g.Mode == "All" && g.MinCount == nil {
				g.Basic, g.MinCount = false, &one
			}
		}
	}
	return q
}

// TestAGivenPlacementAgreesWithTheTwin: for a placement that is given, who goes and
// what it costs is exactly what the plain twin says.
func TestAGivenPlacementAgreesWithTheTwin(t *testing.T) {
	for name, profile := range gangsAsked() {
		for rules, o := range theRules() {
			t.Run(name+"/"+rules, func(t *testing.T) {
				t.Parallel()
				seen := map[string]int{}
				o.Explain = true
				for seed := range seeds(1000) {
					q := sound(o, gen.RandomGang(seed, profile))
					if !asksSomething(q) {
						continue
					}
					g, _ := naive.NewGang(gangOptions(o), q.Preemptor, &q.Snapshot)
					q.Preemptor.Placement = gen.RandomPlacement(seed, g.Members, nodeNames(q))
					want := gangTwinGiven(o, q)
					r, err := o.Preempt(q.Preemptor, &q.Snapshot)
					require.NoError(t, err, "seed %d", seed)
					if diff := cmp.Diff(want, resultDecision(r)); diff != "" {
						t.Fatalf("seed %d: %s (-twin +library):\n%s", seed, r.Message, diff)
					}
					if r.Verdict == preemption.Fits || r.Verdict == preemption.Feasible {
						if diff := cmp.Diff(inPlaces(q.Preemptor.Placement), placesOf(r)); diff != "" {
							t.Fatalf("seed %d: the placement was not kept (-given +answered):\n%s", seed, diff)
						}
					}
					seen[want.Verdict]++
				}
				t.Log(rules, name, slices.Sorted(maps.Keys(seen)), seen)
			})
		}
	}
}
