package preemption_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestEqualsOfAPodThatRanAreItsOwn: a pod that ran before is not decided about as one of its
// shape that did not.
func TestEqualsOfAPodThatRanAreItsOwn(t *testing.T) {
	now := time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)
	cpu := preemption.Resources{cluster.CPU: 1000}
	pl, err := preemption.NewPlanner(&preemption.Snapshot{
		Time:  now,
		Nodes: []cluster.Node{{Name: "n1", Allocatable: cpu}},
		Pods:  []preemption.Pod{{Namespace: "default", Name: "runs", Node: "n1", Requests: cpu, Started: now.Add(-2 * time.Minute)}},
	}, preemption.Options{Guards: preemption.Guards{EqualAfterSeconds: 60}})
	require.NoError(t, err)
	never := preemption.Pod{Namespace: "default", Name: "asks", Requests: cpu}
	before := never
	before.RanSeconds = 3600
	for range 2 {
		require.Equal(t, preemption.Feasible, decidesAlike(t, pl, preemption.Preemptor{Pods: []preemption.Pod{never}}).Verdict)
		require.Equal(t, preemption.Infeasible, decidesAlike(t, pl, preemption.Preemptor{Pods: []preemption.Pod{before}}).Verdict)
	}
}

// TestAPodThatIsRefusedIsNotDecidedAtOnce: what a shape does not say of a pod given inline may
// be an error.
func TestAPodThatIsRefusedIsNotDecidedAtOnce(t *testing.T) {
	pl, err := preemption.NewPlanner(&preemption.Snapshot{
		Nodes: []cluster.Node{{Name: "n1", Allocatable: preemption.Resources{cluster.CPU: 1000}}},
	}, preemption.Options{Rules: preemption.KEP5710Alpha})
	require.NoError(t, err)
	prio, lower := int32(1000), int32(0)
	pod := preemption.Pod{Namespace: "default", Name: "asks", Priority: &prio}
	decidesAlike(t, pl, preemption.Preemptor{Pods: []preemption.Pod{pod}})
	pod.PreemptionPriority = &lower
	_, err = pl.Decide(preemption.Preemptor{Pods: []preemption.Pod{pod}})
	require.Error(t, err)
}

// decidesAlike: a decision is its result in short, whatever was asked before.
func decidesAlike(t fatal, pl *preemption.Planner, p preemption.Preemptor, rules ...preemption.Rules) preemption.Decision {
	r, err := pl.Preempt(p)
	if err != nil {
		t.Fatalf("%v", err)
	}
	want := preemption.Decision{Verdict: r.Verdict, Domain: r.Domain, Violations: r.Violations, Needs: neededBeside(pl.Snapshot(), p, slices.Contains(rules, preemption.Kubernetes136))}
	warned := 0
	for _, w := range r.Warnings {
		if n, more, _ := strings.Cut(strings.TrimPrefix(w.Text, "the group needs "), " more pod"); strings.Contains(more, " beside it: ask for ") {
			warned, _ = strconv.Atoi(n)
		}
	}
	if warned != want.Needs {
		t.Fatalf("its group needs %d more pods: %v", want.Needs, r.Warnings)
	}
	for i, v := range r.Victims {
		want.Pods += len(v.Pods)
		if i == 0 {
			want.Highest = v.Pods[0].Priority
		}
	}
	for i := range 3 { // the first time, with what the first left, at once
		have, err := pl.Decide(p)
		if err != nil || have != want {
			t.Fatalf("Decide %d: %+v, %v, want %+v", i, have, err, want)
		}
	}
	return want
}

// neededBeside counts, for a pod that is asked about by itself, how many more of its group
// have to run, and of other groups for those above to run; the old rules know none above.
func neededBeside(s *preemption.Snapshot, p preemption.Preemptor, old bool) int {
	var pod preemption.Pod
	switch {
	case p.Group != nil || p.Name != "" && p.Kind != preemption.KindPod:
		return 0
	case p.Name == "":
		pod = p.Pods[0]
	default:
		pod = s.Pods[slices.IndexFunc(s.Pods, func(x preemption.Pod) bool { return x.Namespace == p.Namespace && x.Name == p.Name })]
	}
	at := slices.IndexFunc(s.PodGroups, func(g preemption.PodGroup) bool { return g.Namespace == pod.Namespace && g.Name == pod.Group })
	if at < 0 {
		return 0
	}
	needs := max(missingPods(s, s.PodGroups[at])-1, 0)
	child, parent := "PodGroup "+pod.Group, s.PodGroups[at].Parent
	for range s.CompositePodGroups { // each once: a cycle has no groups above
		i := slices.IndexFunc(s.CompositePodGroups, func(c cluster.CompositePodGroup) bool { return c.Namespace == pod.Namespace && c.Name == parent })
		if old || i < 0 {
			break
		}
		needs += missingGroups(s, s.CompositePodGroups[i], child)
		child, parent = "CompositePodGroup "+parent, s.CompositePodGroups[i].Parent
	}
	return needs
}

func missingPods(s *preemption.Snapshot, g preemption.PodGroup) int {
	missing := 1
	if g.MinCount != nil {
		missing = int(*g.MinCount)
	}
	for _, x := range s.Pods {
		if x.Namespace == g.Namespace && x.Group == g.Name && x.Node != "" {
			missing--
		}
	}
	return max(missing, 0)
}

// missingGroups is how many pods c misses in its child groups but for one, which will run.
func missingGroups(s *preemption.Snapshot, c cluster.CompositePodGroup, one string) (sum int) {
	var missing []int
	runs := 0
	add := func(name string, n func() int) {
		if name == one {
			runs = 1
		} else {
			missing = append(missing, n())
		}
	}
	for _, g := range s.PodGroups {
		if g.Namespace == c.Namespace && g.Parent == c.Name {
			add("PodGroup "+g.Name, func() int { return missingPods(s, g) })
		}
	}
	for _, g := range s.CompositePodGroups {
		if g.Namespace == c.Namespace && g.Parent == c.Name {
			add("CompositePodGroup "+g.Name, func() int { return missingGroups(s, g, "") })
		}
	}
	slices.Sort(missing)
	most := len(missing)
	if c.MinGroupCount != nil {
		most = min(most, max(int(*c.MinGroupCount)-runs, 0))
	}
	for _, n := range missing[:most] {
		sum += n
	}
	return sum
}

func TestDecideIsTheResultInShort(t *testing.T) {
	t.Parallel()
	verdicts := map[preemption.Verdict]int{}
	for seed := range uint64(60) {
		q := gen.Crowd(seed)
		pl, err := preemption.NewPlanner(&q.Snapshot, preemption.Options{})
		require.NoError(t, err)
		verdicts[decidesAlike(t, pl, q.Preemptor).Verdict]++
	}
	require.Greater(t, verdicts[preemption.Feasible], 10)
	require.Greater(t, verdicts[preemption.Infeasible], 2)
	require.Greater(t, verdicts[preemption.Fits], 2)
	for seed := range uint64(300) {
		q := gen.Random(seed, gen.Everything())
		pl, err := preemption.NewPlanner(&q.Snapshot, preemption.Options{Rules: preemption.Kubernetes136})
		require.NoError(t, err)
		verdicts[decidesAlike(t, pl, q.Preemptor, preemption.Kubernetes136).Verdict]++
	}
	require.Greater(t, verdicts[preemption.Waiting]+verdicts[preemption.NotEligible], 2)
}

// TestDecideSaysWhatThePodOfAGangNeeds: of each pending pod of gangs, as its result does.
func TestDecideSaysWhatThePodOfAGangNeeds(t *testing.T) {
	needs := map[preemption.Verdict]int{}
	for seed := range uint64(200) { // with -short too: fewer meet too few
		q := gen.RandomGang(seed, gen.EverythingForGangs())
		o := preemption.Options{Rules: []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137}[seed%2]}
		pl, err := preemption.NewPlanner(&q.Snapshot, o)
		require.NoError(t, err)
		for _, p := range q.Snapshot.Pods {
			if p.Node == "" && p.Group != "" {
				if d := decidesAlike(&named{t, seed}, pl, preemption.Preemptor{Kind: preemption.KindPod, Namespace: p.Namespace, Name: p.Name}, o.Rules); d.Needs > 0 {
					needs[d.Verdict]++
				}
			}
		}
	}
	for _, v := range []preemption.Verdict{preemption.Fits, preemption.Feasible, preemption.NotEligible} {
		require.Greater(t, needs[v], 10, v)
	}
}

// TestDecideCountsVictimsThatAreFree: who costs nothing is in no score, and goes all the same.
func TestDecideCountsVictimsThatAreFree(t *testing.T) {
	free := 0
	for seed := range seeds(300) {
		o := preemption.Options{BrokenGroupsFree: true}
		gang := sound(o, gen.RandomGang(seed, gen.EverythingForGangs()))
		if !asksSomething(gang) || len(gang.Snapshot.Nodes) == 0 {
			continue
		}
		requests := maps.Clone(gang.Snapshot.Nodes[0].Allocatable)
		delete(requests, cluster.Pods)
		pod := preemption.Preemptor{Pods: []preemption.Pod{{Name: "large", Priority: prio(1000), Requests: requests}}}
		for _, p := range []preemption.Preemptor{gang.Preemptor, pod} {
			pl, err := preemption.NewPlanner(&gang.Snapshot, o)
			require.NoError(t, err)
			d := decidesAlike(&named{t, seed}, pl, p)
			if r := ask(&named{t, seed}, o, gen.Question{Snapshot: gang.Snapshot, Preemptor: p}); d.Pods > 0 && r.Score[3].Value < int64(d.Pods) {
				free++
			}
		}
	}
	require.Positive(t, free)
}

// TestDecideComplainsAsPreemptDoes: about a pod of a shape that is known.
func TestDecideComplainsAsPreemptDoes(t *testing.T) {
	snap, p := gen.Fleet(20, 10, 1, gen.Uniform), gen.FleetPod(1)
	pl, err := preemption.NewPlanner(&snap, preemption.Options{})
	require.NoError(t, err)
	decidesAlike(t, pl, p)
	for name, spoil := range map[string]func(pod *preemption.Pod){
		"no name":         func(pod *preemption.Pod) { pod.Name = "" },
		"below zero":      func(pod *preemption.Pod) { pod.Requests = preemption.Resources{cluster.CPU: -1} },
		"counts as pods":  func(pod *preemption.Pod) { pod.Requests = preemption.Resources{cluster.Pods: 1} },
		"no resource":     func(pod *preemption.Pod) { pod.Requests = preemption.Resources{"": 1} },
		"policy":          func(pod *preemption.Pod) { pod.Policy = "Sometimes" },
		"toleration":      func(pod *preemption.Pod) { pod.Tolerations = []cluster.Toleration{{Operator: "Maybe"}} },
		"port":            func(pod *preemption.Pod) { pod.Ports = []cluster.HostPort{{Port: -1}} },
		"token":           func(pod *preemption.Pod) { pod.Tokens = []string{""} },
		"device":          func(pod *preemption.Pod) { pod.Devices = []cluster.DeviceRequest{{}} },
		"ran before":      func(pod *preemption.Pod) { pod.RanSeconds = -1 },
		"no such class":   func(pod *preemption.Pod) { pod.Class = "none" },
		"it runs already": func(pod *preemption.Pod) { pod.Namespace, pod.Name = snap.Pods[0].Namespace, snap.Pods[0].Name },
	} {
		bad := p.Pods[0]
		spoil(&bad)
		q := preemption.Preemptor{Pods: []preemption.Pod{bad}}
		_, want := pl.Preempt(q)
		_, err := pl.Decide(q)
		require.Error(t, want, name)
		require.Equal(t, want, err, name)
	}
}
