package preemption_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/naive"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
)

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
