package check_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/naive"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// forger makes one thing of a right answer untrue.
type forger struct {
	*rand.Rand
	q gen.Question
	o preemption.Options
	r *preemption.Result // its own copy
}

// running is a victim that is made of some pod that runs and is none yet; nil if there
// is none.
func (f *forger) running() *preemption.Victim {
	var list []preemption.Pod
	for _, p := range f.q.Snapshot.Pods {
		isVictim := func(v preemption.Victim) bool {
			return slices.ContainsFunc(v.Pods, func(x preemption.VictimPod) bool { return x.Namespace == p.Namespace && x.Name == p.Name })
		}
		if p.Node != "" && !slices.ContainsFunc(f.r.Victims, isVictim) {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return nil
	}
	p := list[f.IntN(len(list))]
	v := preemption.Victim{Kind: cluster.KindPod, Namespace: p.Namespace, Name: p.Name, Reason: f.r.Victims[0].Reason}
	v.Pods = []preemption.VictimPod{{PodRef: preemption.PodRef{Namespace: p.Namespace, Name: p.Name}, Node: p.Node, Started: p.Started}}
	if p.Priority != nil {
		v.Priority, v.Pods[0].Priority = *p.Priority, *p.Priority
	}
	return &v
}

// otherNode is a node other than that; empty if there is none.
func (f *forger) otherNode(than string) string {
	for _, i := range f.Perm(len(f.q.Snapshot.Nodes)) {
		if name := f.q.Snapshot.Nodes[i].Name; name != than {
			return name
		}
	}
	return ""
}

// victim is one of the victims.
func (f *forger) victim() *preemption.Victim { return &f.r.Victims[f.IntN(len(f.r.Victims))] }

// by is what a number is changed by.
func (f *forger) by() int64 { return []int64{-1, 1, 1000}[f.IntN(3)] }

// bare takes away what the verdict of an answer that evicts nobody does not have.
func (f *forger) bare(v preemption.Verdict) bool {
	*f.r = preemption.Result{Verdict: v, Preemptor: f.r.Preemptor, Kept: f.r.Kept, Stats: f.r.Stats}
	return true
}

// forgeries change an answer that evicts somebody, and say whether they could.
var forgeries = map[string]func(f *forger) bool{
	"a victim dropped": func(f *forger) bool {
		i := f.IntN(len(f.r.Victims))
		f.r.Victims = slices.Delete(f.r.Victims, i, i+1)
		return true
	},
	"a victim added": func(f *forger) bool {
		v := f.running()
		if v != nil {
			f.r.Victims = slices.Insert(f.r.Victims, f.IntN(len(f.r.Victims)+1), *v)
		}
		return v != nil
	},
	"a victim exchanged": func(f *forger) bool {
		v := f.running()
		if v != nil {
			*f.victim() = *v
		}
		return v != nil
	},
	"a victim twice": func(f *forger) bool {
		f.r.Victims = append(f.r.Victims, f.r.Victims[0])
		return true
	},
	"a pod of a victim dropped": func(f *forger) bool {
		v := f.victim()
		v.Pods = v.Pods[1:]
		return true
	},
	"victims in another order": func(f *forger) bool {
		slices.Reverse(f.r.Victims)
		return len(f.r.Victims) > 1
	},
	"a victim's priority": func(f *forger) bool { f.victim().Priority += int32(f.by()); return true },
	"a pod's priority":    func(f *forger) bool { f.victim().Pods[0].Priority += int32(f.by()); return true },
	"a pod's node":        func(f *forger) bool { v := f.victim(); v.Pods[0].Node = f.otherNode(v.Pods[0].Node); return true },
	"a pod's start": func(f *forger) bool {
		p := &f.victim().Pods[0]
		p.Started = p.Started.Add(1)
		return true
	},
	"a victim's cost":    func(f *forger) bool { f.victim().Cost += f.by(); return true },
	"a victim's mode":    func(f *forger) bool { f.victim().Mode += "x"; return true },
	"surplus":            func(f *forger) bool { v := f.victim(); v.Surplus = !v.Surplus; return true },
	"violates":           func(f *forger) bool { v := f.victim(); v.Violates = !v.Violates; return true },
	"a victim's budgets": func(f *forger) bool { v := f.victim(); v.Budgets = append(v.Budgets, "default/other"); return true },
	"a reason's check": func(f *forger) bool {
		f.victim().Reason.Check = "another"
		return !f.tied()
	},
	"a reason's number": func(f *forger) bool {
		v := f.victim()
		v.Reason.Missing += f.by()
		return v.Reason.Check == "resource" && !f.tied()
	},
	"a reason's node": func(f *forger) bool { v := f.victim(); v.Reason.Node += "x"; return true },
	"violations":      func(f *forger) bool { f.r.Violations += int(f.by()); return true },
	"overruns":        func(f *forger) bool { f.r.Overruns += f.by(); return true },
	"cost":            func(f *forger) bool { f.r.Cost += f.by(); return true },
	"score":           func(f *forger) bool { f.r.Score[f.IntN(len(f.r.Score))].Value += f.by(); return true },
	"a criterion":     func(f *forger) bool { f.r.Score = f.r.Score[1:]; return true },
	"a budget's room": func(f *forger) bool {
		if len(f.r.Budgets) > 0 {
			f.r.Budgets[0].Allowed += int32(f.by())
		}
		return len(f.r.Budgets) > 0
	},
	"a budget dropped": func(f *forger) bool {
		if len(f.r.Budgets) > 0 {
			f.r.Budgets = f.r.Budgets[1:]
		}
		return f.r.Budgets != nil
	},
	"a nomination cleared": func(f *forger) bool {
		f.r.Cleared = append(f.r.Cleared, preemption.PodRef{Namespace: "default", Name: "q9"})
		return true
	},
	"a nomination not cleared": func(f *forger) bool {
		had := len(f.r.Cleared) > 0
		f.r.Cleared = nil
		return had
	},
	"kept dropped": func(f *forger) bool {
		had := len(f.r.Kept) > 0
		f.r.Kept = nil
		return had
	},
	"kept for longer": func(f *forger) bool {
		if len(f.r.Kept) > 0 {
			f.r.Kept[f.IntN(len(f.r.Kept))].Seconds += f.by()
		}
		return len(f.r.Kept) > 0
	},
	"a nomination moved": func(f *forger) bool {
		n := &f.r.Nominations[f.IntN(len(f.r.Nominations))]
		n.Node = f.otherNode(n.Node)
		return n.Node != ""
	},
	"a nomination dropped": func(f *forger) bool {
		f.r.Nominations = f.r.Nominations[1:]
		return !f.gang() || !f.tied() // where members are tied, fewer of them are true as well
	},
	"a nomination twice": func(f *forger) bool {
		f.r.Nominations = append(f.r.Nominations, f.r.Nominations[0])
		return true
	},
	"another domain": func(f *forger) bool { f.r.Domain = f.otherNode(f.r.Domain); return true },
	"no domain":      func(f *forger) bool { f.r.Domain = ""; return true },
	"a candidate dropped": func(f *forger) bool {
		if len(f.r.Candidates) < 1 || f.o.Sampling != nil || f.gang() && len(f.r.Candidates) > 1 {
			return false
		}
		i := f.IntN(len(f.r.Candidates))
		f.r.Candidates = slices.Delete(f.r.Candidates, i, i+1)
		return f.complete() || i < len(f.r.Candidates) && f.r.Candidates[i].Domain == f.r.Domain
	},
	"a candidate's victim dropped": func(f *forger) bool {
		if len(f.r.Candidates) == 0 {
			return false
		}
		c := &f.r.Candidates[f.IntN(len(f.r.Candidates))]
		c.Victims = c.Victims[1:]
		return true
	},
	"a candidate's score": func(f *forger) bool {
		if len(f.r.Candidates) == 0 {
			return false
		}
		f.r.Candidates[f.IntN(len(f.r.Candidates))].Score[2].Value--
		return true
	},
	"another best": func(f *forger) bool {
		if len(f.r.Candidates) == 0 || f.gang() {
			return false
		}
		c := &f.r.Candidates[f.IntN(len(f.r.Candidates))]
		c.Best = !c.Best
		return true
	},
	"called none": func(f *forger) bool { f.r.Verdict = "none"; return true },
	"called fits": func(f *forger) bool { f.r.Verdict = preemption.Fits; return true },
	"called fits, barely": func(f *forger) bool {
		n, d := f.r.Nominations, f.r.Domain
		f.bare(preemption.Fits)
		f.r.Nominations, f.r.Domain = n, d
		return true
	},
	"called infeasible":   func(f *forger) bool { return f.bare(preemption.Infeasible) && !f.gang() && f.complete() },
	"called not eligible": func(f *forger) bool { return f.bare(preemption.NotEligible) },
	"called waiting":      func(f *forger) bool { return f.bare(preemption.Waiting) },
	"a gang called hopeless": func(f *forger) bool {
		return f.bare(preemption.Infeasible) && f.gang() && f.complete() && f.r.Stats.Exact
	},
	"hooks": func(f *forger) bool { f.r.Stats.Hooks = true; return true },
}

// emptyForgeries change an answer that evicts nobody.
var emptyForgeries = map[string]func(f *forger) bool{
	"infeasible called not eligible": func(f *forger) bool {
		return f.r.Verdict == preemption.Infeasible && f.bare(preemption.NotEligible)
	},
	"infeasible called waiting": func(f *forger) bool {
		return f.r.Verdict == preemption.Infeasible && f.bare(preemption.Waiting)
	},
	"not eligible called infeasible": func(f *forger) bool {
		return f.r.Verdict == preemption.NotEligible && f.bare(preemption.Infeasible)
	},
	"not eligible called waiting": func(f *forger) bool {
		return f.r.Verdict == preemption.NotEligible && f.bare(preemption.Waiting)
	},
	"waiting called infeasible": func(f *forger) bool {
		return f.r.Verdict == preemption.Waiting && f.bare(preemption.Infeasible)
	},
	"waiting, a nomination dropped": func(f *forger) bool {
		had := f.r.Verdict == preemption.Waiting && len(f.r.Nominations) > 0
		f.r.Nominations = nil
		return had
	},
	"fits called infeasible": func(f *forger) bool {
		return f.r.Verdict == preemption.Fits && !f.gang() && f.bare(preemption.Infeasible)
	},
	"a gang that fits called infeasible": func(f *forger) bool {
		return f.r.Verdict == preemption.Fits && f.gang() && f.bare(preemption.Infeasible)
	},
	"a lone pod that fits moved": func(f *forger) bool {
		if f.r.Verdict != preemption.Fits || f.gang() {
			return false
		}
		f.r.Domain = f.otherNode(f.r.Domain)
		f.r.Nominations[0].Node = f.r.Domain
		return f.r.Domain != ""
	},
	"called fits, somewhere": func(f *forger) bool {
		if f.r.Verdict == preemption.Fits || len(f.q.Snapshot.Nodes) == 0 || f.gang() {
			return false
		}
		ref := preemption.PodRef{Namespace: f.q.Preemptor.Namespace, Name: f.q.Preemptor.Name}
		if len(f.q.Preemptor.Pods) > 0 {
			ref = preemption.PodRef{Namespace: f.q.Preemptor.Pods[0].Namespace, Name: f.q.Preemptor.Pods[0].Name}
		}
		f.bare(preemption.Fits)
		f.r.Domain = f.otherNode("")
		f.r.Nominations = []preemption.Nomination{{Pod: ref, Node: f.r.Domain}}
		return true
	},
	"nearest elsewhere": func(f *forger) bool {
		if f.r.Nearest == nil {
			return false
		}
		f.r.Nearest.Domain = "nowhere"
		return true
	},
	"nearest by nothing": func(f *forger) bool {
		if f.r.Nearest == nil || len(f.r.Nearest.Relaxations) == 0 {
			return false
		}
		f.r.Nearest.Relaxations = nil
		return true
	},
	"a victim of nobody": func(f *forger) bool {
		f.r.Victims = []preemption.Victim{{Kind: cluster.KindPod, Name: "x"}}
		return true
	},
}

// oneSided are those that can't be told for certain in a pass: whether a gang has a place.
var oneSided = []string{"a gang called hopeless", "a gang that fits called infeasible"}

func (f *forger) gang() bool {
	return f.q.Preemptor.Group != nil || f.q.Preemptor.Name != "" && f.q.Preemptor.Kind != cluster.KindPod
}

// complete: nothing bounds or guides the choice but the rules.
func (f *forger) complete() bool { return !f.o.HardBudgets.All && f.o.Limits == (preemption.Limits{}) }

// tied: members of a gang, or who runs, have wishes about other pods: the reasons of its
// victims are not read then.
func (f *forger) tied() bool {
	ties := func(p preemption.Pod) bool {
		return len(p.Affinity)+len(p.AntiAffinity)+len(p.Spread)+len(p.Tokens)+len(p.Devices) > 0
	}
	return slices.ContainsFunc(f.q.Snapshot.Pods, ties) || slices.ContainsFunc(f.q.Preemptor.Pods, ties)
}

// trueAllTheSame says whether a moved nomination gives another true answer: by the plain
// model the gang fits there, too, with the same victims.
func (f *forger) trueAllTheSame() bool {
	if f.tied() || !f.complete() || !f.gang() {
		return false
	}
	g, err := naive.NewGang(naive.GangOptions{Rules: string(f.o.Rules)}, f.q.Preemptor, &f.q.Snapshot)
	if err != nil {
		return false
	}
	places, gone := naive.Places{}, map[naive.PodKey]bool{}
	for _, n := range f.r.Nominations {
		places[naive.PodKey{Namespace: n.Pod.Namespace, Name: n.Pod.Name}] = n.Node
	}
	for _, v := range f.r.Victims {
		for _, p := range v.Pods {
			gone[naive.PodKey{Namespace: p.Namespace, Name: p.Name}] = true
		}
	}
	_, st := g.Misfit(places, gone)
	return st.OK() && g.Useful(places)
}

func TestForgedAnswersAreFound(t *testing.T) {
	t.Parallel()
	n := questions() * 3 / 5
	made, found, same := map[string]int{}, map[string]int{}, map[string]int{}
	for seed := range uint64(n) {
		q, o := randomQuestion(seed)
		r, err := o.Preempt(q.Preemptor, &q.Snapshot)
		if err != nil || len(check.Verify(&q.Snapshot, o, q.Preemptor, r)) > 0 {
			continue // TestRandomAnswersAreTrue tells of it
		}
		text, err := json.Marshal(r)
		require.NoError(t, err)
		list := forgeries
		if r.Verdict != preemption.Feasible {
			list = emptyForgeries
		}
		for _, kind := range slices.Sorted(maps.Keys(list)) {
			f := &forger{Rand: rand.New(rand.NewPCG(seed, 2)), q: q, o: o, r: &preemption.Result{}}
			require.NoError(t, json.Unmarshal(text, f.r))
			if !list[kind](f) {
				continue
			}
			if forged, err := json.Marshal(f.r); err != nil || string(forged) == string(text) {
				continue // nothing has changed
			}
			made[kind]++
			switch {
			case len(check.Verify(&q.Snapshot, o, q.Preemptor, f.r)) > 0:
				found[kind]++
			case kind == "a nomination moved" && f.trueAllTheSame():
				made[kind]--
				same[kind]++
			case slices.Contains(oneSided, kind):
			default:
				if made[kind]-found[kind] < 3 {
					t.Errorf("seed %d (%s, kind %d, options %d): %s: not found; %s", seed, o.Rules, seed/6%8, seed/48%5, kind, r.Message)
				}
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(made)) {
		t.Logf("%-36s %6d of %6d found; %d gave another true answer", kind, found[kind], made[kind], same[kind])
	}
	for _, kind := range oneSided {
		require.Greater(t, 100*found[kind], 90*made[kind], kind)
	}
	for kind := range maps.Keys(forgeries) {
		require.Positive(t, made[kind], kind)
	}
	for kind := range maps.Keys(emptyForgeries) {
		require.Positive(t, made[kind], kind)
	}
}

// TestForgedListsOfFreeNodesAreFound: of where a pod, and a gang, fits as things are.
func TestForgedListsOfFreeNodesAreFound(t *testing.T) {
	node := func(name string, cpu int64) preemption.Node {
		return preemption.Node{Name: name, Labels: map[string]string{"rack": name}, Allocatable: preemption.Resources{"cpu": cpu}}
	}
	pod := preemption.Pod{Name: "p", Requests: preemption.Resources{"cpu": 2}}
	lone := preemption.Preemptor{Pods: []preemption.Pod{pod}}
	gang := preemption.Preemptor{Group: &preemption.PodGroup{Name: "g", Topology: []cluster.TopologyConstraint{{Key: "rack"}}}, Pods: lone.Pods}
	s := &preemption.Snapshot{Nodes: []preemption.Node{node("a", 2), node("b", 2), node("c", 1), node("d", 2)}}
	o := preemption.Options{Candidates: true}
	for want, c := range map[string]struct {
		asked preemption.Preemptor
		forge func(r *preemption.Result)
	}{
		"they are not in order of name":                     {lone, func(r *preemption.Result) { slices.Reverse(r.Candidates) }},
		"nobody has to go, and it tells of victims":         {lone, func(r *preemption.Result) { r.Candidates[1].Violations = 1 }},
		"it fits there, and that is not listed":             {lone, func(r *preemption.Result) { r.Candidates = r.Candidates[:2] }},
		"4 nodes are listed, and it fits on 3":              {lone, func(r *preemption.Result) { r.Candidates = append(r.Candidates, preemption.Candidate{Domain: "e"}) }},
		"whether it is as good as a is true":                {lone, func(r *preemption.Result) { r.Candidates[1].Best = false }},
		"a, which was chosen, is not among the best":        {lone, func(r *preemption.Result) { r.Candidates[0].Best = false }},
		"the members fit in rack=d, and that is not listed": {gang, func(r *preemption.Result) { r.Candidates = r.Candidates[:2] }},
		"they are not regions of one round":                 {gang, func(r *preemption.Result) { r.Candidates = append(r.Candidates, preemption.Candidate{Domain: "e"}) }},
	} {
		r, err := o.Preempt(c.asked, s)
		require.NoError(t, err)
		require.Empty(t, check.Verify(s, o, c.asked, r))
		require.Len(t, r.Candidates, 3)
		c.forge(r)
		problems := check.Verify(s, o, c.asked, r)
		require.NotEmpty(t, problems, want)
		require.Contains(t, fmt.Sprint(problems), want)
	}
	require.Contains(t, fmt.Sprint(check.Verify(s, o, lone, nil)), "there is no answer")
	r, err := preemption.Options{}.Preempt(lone, s)
	require.NoError(t, err)
	r.Candidates = []preemption.Candidate{{Domain: "a", Best: true}}
	require.Contains(t, fmt.Sprint(check.Verify(s, preemption.Options{}, lone, r)), "candidates are for who gets a place")
}

// TestForgedNearestChangesAreFound: of what would have to change for a pod that fits nowhere.
func TestForgedNearestChangesAreFound(t *testing.T) {
	p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "p", NodeSelector: map[string]string{"disk": "ssd"}, Requests: preemption.Resources{"cpu": 2, "gpu": 1}}}}
	s := &preemption.Snapshot{Nodes: []preemption.Node{{Name: "n", Allocatable: preemption.Resources{"cpu": 1}}}}
	for want, forge := range map[string]func(list []preemption.Relaxation) []preemption.Relaxation{
		"nothing would have to change":      func([]preemption.Relaxation) []preemption.Relaxation { return nil },
		`there is no node "m"`:              func(l []preemption.Relaxation) []preemption.Relaxation { l[0].Node = "m"; return l },
		"resource cpu by 0":                 func(l []preemption.Relaxation) []preemption.Relaxation { l[1].Amount = 0; return l },
		"node affinity  by 1":               func(l []preemption.Relaxation) []preemption.Relaxation { l[0].Amount = 1; return l },
		"they are not in order of kind and": func(l []preemption.Relaxation) []preemption.Relaxation { slices.Reverse(l); return l },
		"the priority 0 is none that is": func([]preemption.Relaxation) []preemption.Relaxation {
			return []preemption.Relaxation{{Kind: preemption.RelaxPriority}}
		},
	} {
		r, err := preemption.Preempt(p, s)
		require.NoError(t, err)
		require.Empty(t, check.Verify(s, preemption.Options{}, p, r))
		require.Len(t, r.Nearest.Relaxations, 3, "%v", r.Nearest.Relaxations)
		r.Nearest.Relaxations = forge(r.Nearest.Relaxations)
		require.Contains(t, fmt.Sprint(check.Verify(s, preemption.Options{}, p, r)), want)
	}
}

var errHook = errors.New("the hook has had enough")

// fuse panics when it has been called so many times.
type fuse struct{ left int }

func (f *fuse) burn() {
	if f.left--; f.left == 0 {
		panic(errHook)
	}
}

// tired is a constraint that lets everybody in, until it has had enough.
type tired struct{ *fuse }

func (tired) Name() domain.Check { return "tired" }

func (c tired) Prepare(*cluster.Index, []*cluster.Pod) (domain.State, error) {
	c.burn()
	return c, nil
}

func (c tired) Remove(cluster.PodID, cluster.NodeID)    { c.burn() }
func (c tired) Return(cluster.PodID, cluster.NodeID)    { c.burn() }
func (c tired) Place(domain.MemberID, cluster.NodeID)   { c.burn() }
func (c tired) Unplace(domain.MemberID, cluster.NodeID) { c.burn() }
func (c tired) Clone() domain.State                     { return c }

func (c tired) Fits(domain.MemberID, cluster.NodeID) domain.Reason {
	c.burn()
	return domain.Reason{}
}

func (c tired) Scope() domain.Scope {
	c.burn()
	return domain.Scope{NodeLocal: true, Monotone: true}
}

// TestAHookThatPanicsIsTheProblem: whenever it does, and nothing else is said then.
func TestAHookThatPanicsIsTheProblem(t *testing.T) {
	low, high := int32(1), int32(9)
	cpu := preemption.Resources{cluster.CPU: 1}
	s := &preemption.Snapshot{
		Nodes: []preemption.Node{{Name: "a", Allocatable: cpu}, {Name: "b", Allocatable: cpu}},
		Pods: []preemption.Pod{
			{Name: "p", Node: "a", Priority: &low, Requests: cpu}, {Name: "q", Node: "b", Priority: &low, Requests: cpu},
			{Name: "web", Priority: &high, Requests: cpu},
		},
	}
	web := preemption.Preemptor{Kind: preemption.KindPod, Name: "web"}
	f := &fuse{}
	for name, hooks := range map[string]*preemption.Hooks{
		"Constraints": {Constraints: []domain.Constraint{tired{f}}},
		"Filter":      {Filter: func(*preemption.Pod, *preemption.Node) bool { f.burn(); return true }},
	} {
		o := preemption.Options{Hooks: hooks}
		f.left = 0
		r, err := o.Preempt(web, s)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict)
		panics := 0
		for f.left = 1; ; panics++ {
			burns := f.left
			problems := check.Verify(s, o, web, r)
			if f.left > 0 { // it was called less often
				require.Empty(t, problems)
				break
			}
			require.Len(t, problems, 1)
			require.Equal(t, check.RuleHook, problems[0].Rule)
			var hook *preemption.HookError
			require.ErrorAs(t, problems[0].Err, &hook)
			require.ErrorIs(t, hook, errHook)
			require.Equal(t, name, hook.Hook)
			require.Contains(t, string(hook.Stack), "burn")
			f.left = burns + 1
		}
		require.Greater(t, panics, 2, name)
	}
}

// TestForgedMovesAreFound: where room is made by moves alone, what is said of where they go is read, move by move.
func TestForgedMovesAreFound(t *testing.T) {
	t.Parallel()
	levels := []int32{1, 5, 100}
	cores := func(n int64) preemption.Resources { return preemption.Resources{cluster.CPU: 1_000 * n} }
	pod := func(name, node string, level *int32, size int64) preemption.Pod {
		return preemption.Pod{Name: name, Node: node, Priority: level, Requests: cores(size)}
	}
	s := preemption.Snapshot{
		Nodes: []preemption.Node{
			{Name: "n1", Allocatable: cores(5)}, {Name: "n2", Allocatable: cores(3)}, {Name: "n3", Allocatable: cores(1)},
			{Name: "n4", Allocatable: cores(1)}, {Name: "n5", Allocatable: cores(1)},
		},
		Pods: []preemption.Pod{
			pod("a", "n1", &levels[1], 3), pod("b", "n1", &levels[0], 1), pod("c", "n2", &levels[0], 1), pod("d", "n3", &levels[0], 1), pod("web", "", &levels[2], 5),
		},
	}
	o, web := preemption.Options{Limits: preemption.Limits{OnlyMoves: true}, Chain: 1}, preemption.Preemptor{Kind: cluster.KindPod, Name: "web"}
	r, err := o.Preempt(web, &s)
	require.NoError(t, err)
	move := func(name, node string) preemption.Nomination {
		return preemption.Nomination{Pod: preemption.PodRef{Name: name}, Node: node}
	}
	true1 := []preemption.Nomination{move("b", "n4"), move("a", "n2"), move("c", "n5")}
	verified := func(o preemption.Options, moves []preemption.Nomination) []check.Problem {
		forged := *r
		forged.Moves = moves
		return check.Verify(&s, o, web, &forged)
	}
	require.Empty(t, verified(o, r.Moves), r.Moves)
	require.Empty(t, verified(o, true1))
	require.Empty(t, verified(o, []preemption.Nomination{move("a", "n2"), move("c", "n4"), move("b", "n5")}), "in any order in which each fits")
	for name, moves := range map[string][]preemption.Nomination{
		"none":                              nil,
		"a victim dropped":                  true1[1:],
		"who moves for another dropped":     true1[:2],
		"twice":                             append(true1[:2:2], move("b", "n4"), move("c", "n5")),
		"to where there is no room":         {move("b", "n4"), move("a", "n5"), move("c", "n5")},
		"to the same room":                  {move("b", "n4"), move("a", "n2"), move("c", "n4")},
		"to the preemptor's room":           {move("b", "n4"), move("a", "n2"), move("c", "n1")},
		"to where it comes from":            {move("b", "n4"), move("a", "n2"), move("c", "n2")},
		"back beside the preemptor":         {move("b", "n1"), move("a", "n2"), move("c", "n5")},
		"to nowhere":                        {move("b", "n9"), move("a", "n2"), move("c", "n5")},
		"nobody":                            append(true1[:3:3], move("x", "n9")),
		"the preemptor":                     append(true1[:3:3], move("web", "n1")),
		"who moves for nobody":              append([]preemption.Nomination{move("d", "n5")}, true1...),
		"before whom it moves for":          {move("c", "n5"), move("b", "n4"), move("a", "n2")},
		"for one who may not move it":       {move("a", "n2"), move("c", "n5"), move("b", "n3"), move("d", "n4")},
		"for one who moves for another one": {move("b", "n4"), move("a", "n2"), move("c", "n3"), move("d", "n5")},
	} {
		require.NotEmpty(t, verified(o, moves), name)
	}
	o.Chain = 0
	require.NotEmpty(t, verified(o, true1), "nobody moves for another")
	o.Chain, o.NoCascade = 1, true
	require.NotEmpty(t, verified(o, true1), "nobody moves for another")
	require.NotEmpty(t, verified(preemption.Options{}, true1), "nobody asked for it")
}
