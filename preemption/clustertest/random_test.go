package clustertest_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/clustertest"
)

var profiles = map[string]clustertest.Profile{
	"plain": {}, "a group": {Members: 3}, "one node": {Nodes: 1, Pods: 3}, "everything": clustertest.Everything(0), "everything, a group": clustertest.Everything(4),
}

// Every question has an answer, the same each time and in any order, and within its profile.
func TestRandomQuestionsAreAnswered(t *testing.T) {
	for name, p := range profiles {
		t.Run(name, func(t *testing.T) {
			verdicts := map[preemption.Verdict]int{}
			for seed := range uint64(300) {
				q := clustertest.Random(seed, p)
				if diff := cmp.Diff(q, clustertest.Random(seed, p)); diff != "" {
					t.Fatalf("seed %d gives two questions:\n%s", seed, diff)
				}
				if p.Nodes > 0 {
					require.LessOrEqual(t, len(q.Snapshot.Nodes), p.Nodes)
				}
				one, err := preemption.Preempt(q.Preemptor, q.Snapshot)
				require.NoError(t, err, "seed %d", seed)
				verdicts[one.Verdict]++
				shuffled := clustertest.Shuffled(seed, q)
				two, err := preemption.Preempt(shuffled.Preemptor, shuffled.Snapshot)
				require.NoError(t, err, "seed %d", seed)
				require.Empty(t, clustertest.Diff(one, two), "seed %d in another order", seed)
				isGroup := q.Preemptor.Group != nil || q.Preemptor.Kind == preemption.KindPodGroup || q.Preemptor.Kind == preemption.KindCompositePodGroup
				require.Equal(t, p.Members > 0, isGroup, "seed %d", seed)
			}
			require.Positive(t, verdicts[preemption.Feasible])
			require.Positive(t, verdicts[preemption.Infeasible])
		})
	}
}

// What a profile names is there, and what it does not name is not.
func TestProfilesSayWhatOccurs(t *testing.T) {
	fields := reflect.TypeFor[clustertest.Profile]()
	occurs := map[string]func(s *preemption.Snapshot) bool{
		"Placement": func(s *preemption.Snapshot) bool { return len(s.Nodes[0].Labels) > 0 },
		"Ports": func(s *preemption.Snapshot) bool {
			return anyPod(s, func(p *preemption.Pod) bool { return p.Ports != nil })
		},
		"Budgets": func(s *preemption.Snapshot) bool { return s.Budgets != nil },
		"Nominations": func(s *preemption.Snapshot) bool {
			return anyPod(s, func(p *preemption.Pod) bool { return p.NominatedNode != "" })
		},
		"Terminating": func(s *preemption.Snapshot) bool {
			return anyPod(s, func(p *preemption.Pod) bool { return p.Terminating })
		},
		"Classes": func(s *preemption.Snapshot) bool { return s.PriorityClasses != nil },
		"Groups": func(s *preemption.Snapshot) bool {
			return anyPod(s, func(p *preemption.Pod) bool { return p.Node != "" && p.Group != "" })
		},
		"Guards": func(s *preemption.Snapshot) bool {
			return anyPod(s, func(p *preemption.Pod) bool { return p.Guard != nil })
		},
		"Odd": func(s *preemption.Snapshot) bool {
			return anyPod(s, func(p *preemption.Pod) bool { return p.Node == "gone" })
		},
		"Composite": func(s *preemption.Snapshot) bool { return s.CompositePodGroups != nil },
		"Topology": func(s *preemption.Snapshot) bool {
			for _, g := range s.PodGroups {
				if g.Topology != nil {
					return true
				}
			}
			return false
		},
		"Affinity": func(s *preemption.Snapshot) bool {
			return anyPod(s, func(p *preemption.Pod) bool { return p.Affinity != nil || p.AntiAffinity != nil || p.Spread != nil })
		},
	}
	for i := range fields.NumField() {
		f := fields.Field(i)
		if f.Type.Kind() != reflect.Bool {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			p := clustertest.Profile{Members: 3}
			require.False(t, ever(p, occurs[f.Name]), "without it")
			reflect.ValueOf(&p).Elem().Field(i).SetBool(true)
			require.True(t, ever(p, occurs[f.Name]), "with it")
		})
	}
}

func anyPod(s *preemption.Snapshot, is func(*preemption.Pod) bool) bool {
	for i := range s.Pods {
		if is(&s.Pods[i]) {
			return true
		}
	}
	return false
}

func ever(p clustertest.Profile, is func(*preemption.Snapshot) bool) bool {
	for seed := range uint64(300) {
		if is(clustertest.Random(seed, p).Snapshot) {
			return true
		}
	}
	return false
}

// The property of the package's documentation.
func TestVictimsAreLessImportant(t *testing.T) {
	evicted := 0
	gen.CheckUntil(t, func(t *rapid.T) {
		q := clustertest.Draw(clustertest.Profile{Budgets: true}).Draw(t, "question")
		planner, err := preemption.NewPlanner(q.Snapshot, preemption.Options{})
		require.NoError(t, err)
		result, err := planner.Preempt(q.Preemptor)
		require.NoError(t, err)
		for _, v := range result.Victims {
			evicted++
			if v.Priority >= 1000 {
				t.Fatalf("%s has priority %d", v.Name, v.Priority)
			}
		}
	}, &evicted)
}

// Of bits that are all zero, which is where rapid shrinks to, comes the smallest cluster.
func TestQuestionsShrink(t *testing.T) {
	for _, p := range profiles {
		rapid.MakeFuzz(func(t *rapid.T) {
			q := clustertest.Draw(p).Draw(t, "question")
			if len(q.Snapshot.Nodes) != 1 || len(q.Snapshot.Pods) > 1 || len(q.Snapshot.Budgets) > 0 {
				t.Fatalf("not the smallest: %v", q)
			}
		})(t, make([]byte, 1<<16))
	}
}

// A question that was printed is read as it was.
func TestAQuestionIsWrittenWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := clustertest.Draw(clustertest.Everything(2)).Draw(t, "question")
		var again clustertest.Question
		require.NoError(t, json.Unmarshal([]byte(q.String()), &again))
		if diff := cmp.Diff(q, again, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Drawn options can be followed, and are data: they survive JSON.
func TestOptionsAreData(t *testing.T) {
	q := clustertest.Random(1, clustertest.Profile{})
	follow := func(t require.TestingT, o preemption.Options) {
		require.Nil(t, o.Hooks)
		require.False(t, o.Strict)
		text, err := json.Marshal(o)
		require.NoError(t, err)
		var again preemption.Options
		require.NoError(t, json.Unmarshal(text, &again))
		one, err := o.Preempt(q.Preemptor, q.Snapshot)
		require.NoError(t, err)
		two, err := again.Preempt(q.Preemptor, q.Snapshot)
		require.NoError(t, err)
		require.Empty(t, clustertest.Diff(one, two))
	}
	for seed := range uint64(200) {
		follow(t, clustertest.RandomOptions(seed))
	}
	rapid.Check(t, func(t *rapid.T) { follow(t, clustertest.DrawOptions().Draw(t, "options")) })
}

func TestQuestionsAboutQuota(t *testing.T) {
	evicted := 0
	for seed := range uint64(200) {
		q, o := clustertest.RandomQuota(seed)
		r, err := o.Preempt(q.Preemptor, q.Snapshot)
		require.NoError(t, err)
		evicted += len(r.Victims)
	}
	require.Positive(t, evicted)
	rapid.Check(t, func(t *rapid.T) {
		q, o := clustertest.DrawQuota(t)
		other := clustertest.Shuffle(t, q)
		one, err := o.Preempt(q.Preemptor, q.Snapshot)
		require.NoError(t, err)
		two, err := o.Preempt(other.Preemptor, other.Snapshot)
		require.NoError(t, err)
		require.Empty(t, clustertest.Diff(one, two))
	})
}

// Every shape of a fleet that there is has its name here, and whoever comes has to evict.
func TestFleets(t *testing.T) {
	shapes := []clustertest.Shape{
		clustertest.Uniform, clustertest.Tied, clustertest.Distinct, clustertest.Budgeted, clustertest.Equal, clustertest.Skewed,
	}
	require.Len(t, shapes, len(gen.Shapes()))
	for _, shape := range shapes {
		q := clustertest.Fleet(16, 30, 1, shape)
		require.Len(t, q.Snapshot.Nodes, 16)
		r, err := preemption.Preempt(q.Preemptor, q.Snapshot)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict, shape)
	}
}

func TestMain(m *testing.M) { gen.Tests(m) }

func TestDiffInWords(t *testing.T) {
	pod := func(name, node string) preemption.VictimPod {
		return preemption.VictimPod{PodRef: preemption.PodRef{Namespace: "ml", Name: name}, Node: node}
	}
	base := func(change func(*preemption.Result)) *preemption.Result {
		r := &preemption.Result{
			Verdict: preemption.Feasible, Message: "fits", Domain: "n1",
			Nominations: []preemption.Nomination{{Pod: preemption.PodRef{Name: "a"}, Node: "n1"}, {Pod: preemption.PodRef{Name: "b"}, Node: "n2"}},
			Victims: []preemption.Victim{
				{Kind: preemption.KindPodGroup, Namespace: "ml", Name: "train", Pods: []preemption.VictimPod{pod("t0", "n1"), pod("t1", "n2")}},
				{Kind: preemption.KindPod, Namespace: "ml", Name: "log", Pods: []preemption.VictimPod{pod("log", "n1")}},
			},
			Rejected: []preemption.Rejection{{Reason: "cpu short", Domains: 3}},
			Score:    []preemption.Criterion{{Name: "pods", Value: 3}},
			Stats:    preemption.Stats{Trials: 7},
		}
		change(r)
		return r
	}
	want := base(func(*preemption.Result) {})
	cases := map[string]struct {
		change func(*preemption.Result)
		want   string
	}{
		"nothing":            {func(*preemption.Result) {}, ""},
		"what it cost":       {func(r *preemption.Result) { r.Stats.Trials = 8 }, ""},
		"the verdict":        {func(r *preemption.Result) { r.Verdict = preemption.Waiting }, "verdict: got waiting (fits), want feasible (fits)\n"},
		"the message":        {func(r *preemption.Result) { r.Message = "no" }, "verdict: got feasible (no), want feasible (fits)\n"},
		"a victim less":      {func(r *preemption.Result) { r.Victims = r.Victims[:1] }, "Pod ml log: stays, want it evicted\n"},
		"no victims":         {func(r *preemption.Result) { r.Victims = nil }, "Pod ml log: stays, want it evicted\nPodGroup ml train: stays, want it evicted\n"},
		"another victim":     {func(r *preemption.Result) { r.Victims[1].Name = "tty" }, "Pod ml log: stays, want it evicted\nPod ml tty: is evicted, want it to stay\n"},
		"fewer pods of one":  {func(r *preemption.Result) { r.Victims[0].Pods = r.Victims[0].Pods[:1] }, "victims[PodGroup ml train].pods: ml t1 is missing\n"},
		"a victim's node":    {func(r *preemption.Result) { r.Victims[1].Pods[0].Node = "n9" }, "victims[Pod ml log].pods[ml log].node: got \"n9\", want \"n1\"\n"},
		"the victims' order": {func(r *preemption.Result) { r.Victims[0], r.Victims[1] = r.Victims[1], r.Victims[0] }, "victims: got the order Pod ml log, PodGroup ml train, want PodGroup ml train, Pod ml log\n"},
		"a place":            {func(r *preemption.Result) { r.Nominations[0].Node = "n3" }, "a: goes to n3, want to n1\n"},
		"no place":           {func(r *preemption.Result) { r.Nominations = r.Nominations[1:] }, "a: goes nowhere, want to n1\n"},
		"one place more":     {func(r *preemption.Result) { r.Nominations[0].Pod.Name = "c" }, "a: goes nowhere, want to n1\nc: goes to n1, want nowhere\n"},
		"the places' order": {
			func(r *preemption.Result) { r.Nominations[0], r.Nominations[1] = r.Nominations[1], r.Nominations[0] },
			"nominations: got the order b, a, want a, b\n",
		},
		"a reason":    {func(r *preemption.Result) { r.Rejected[0].Reason = "taint" }, "rejected: \"cpu short\" is missing\nrejected: \"taint\" is not wanted\n"},
		"a number":    {func(r *preemption.Result) { r.Rejected[0].Domains = 2 }, "rejected[\"cpu short\"].domains: got 2, want 3\n"},
		"a criterion": {func(r *preemption.Result) { r.Score[0].Value = 1 << 62 }, "score[pods].value: got 4611686018427387904, want 3\n"},
		"what was not there": {
			func(r *preemption.Result) { r.Nearest = &preemption.Nearest{Domain: "n1"} },
			"nearest: got {\"domain\":\"n1\",\"relaxations\":null}, want none\n",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := clustertest.Diff(want, base(c.change))
			require.Equal(t, c.want, got)
		})
	}
	require.Empty(t, clustertest.Diff(nil, nil))
	require.Equal(t, "answer: got none, want feasible (fits)\n", clustertest.Diff(want, nil))
	require.Equal(t, "answer: got feasible (fits), want none\n", clustertest.Diff(nil, want))
}

// Two answers have a difference in words if and only if they differ, whatever in.
func TestDiffSeesEverything(t *testing.T) {
	differ := 0
	gen.CheckUntil(t, func(t *rapid.T) {
		p := clustertest.Everything(rapid.IntRange(0, 3).Draw(t, "members"))
		q := clustertest.Draw(p).Draw(t, "question")
		ask := func(label string) *preemption.Result {
			o := clustertest.DrawOptions().Draw(t, label)
			if o.Rules == preemption.KEP5710Alpha {
				o.Rules = "" // it refuses some
			}
			r, err := o.Preempt(q.Preemptor, q.Snapshot)
			require.NoError(t, err)
			return r
		}
		one, two := ask("one"), ask("two")
		require.Empty(t, clustertest.Diff(one, one))
		a, b := compared(t, one), compared(t, two)
		diff := clustertest.Diff(one, two)
		if (a == b) != (diff == "") {
			t.Fatalf("%s\n%s\ndiffer in %q", a, b, diff)
		}
		if diff != "" {
			differ++
			require.NotEmpty(t, clustertest.Diff(two, one))
		}
	}, &differ)
}

// compared is an answer as JSON, without what is not compared.
func compared(t *rapid.T, r *preemption.Result) string {
	plain := *r
	plain.Stats = preemption.Stats{}
	text, err := json.Marshal(plain)
	require.NoError(t, err)
	return string(text)
}
