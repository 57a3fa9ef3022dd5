package clustertest_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/clustertest"
)

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
