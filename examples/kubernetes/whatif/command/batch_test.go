package command

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

const (
	smallNode = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"2","pods":"10"}}}`
	lowPod    = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"low"},"spec":{"nodeName":"n1","priority":1,"containers":[{"name":"m","resources":{"requests":{"cpu":"2"}}}]}}`
	highPod   = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"high"},"spec":{"priority":9,"containers":[{"name":"m","resources":{"requests":{"cpu":"1"}}}]}}`
	askHigh   = `"preemptor":{"kind":"Pod","namespace":"default","name":"high"}`
)

// small is a case that is answered by the eviction of low.
func small(name string, more ...string) string {
	return fmt.Sprintf(`{"name":%q,"objects":[%s,%s,%s],%s%s}`, name, smallNode, lowPod, highPod, askHigh, strings.Join(more, ""))
}

func preempted(name string) *Answer {
	return &Answer{
		Name: name, Status: "preempt", Message: "fits on n1 once 1 pod is evicted",
		Candidates: []Candidate{{Node: "n1", Victims: []string{"default/low"}}}, Best: []string{"n1"},
		Chosen: "n1", Victims: []string{"default/low"}, Nominations: map[string]string{"default/high": "n1"},
	}
}

// answers runs a batch over stdin and decodes what it answers.
func answers(t *testing.T, stdin string, args ...string) []*Answer {
	t.Helper()
	stdout, stderr, status := output(stdin, append([]string{"-batch", "-"}, args...)...)
	require.Equal(t, 0, status, stderr)
	var list []*Answer
	for line := range strings.Lines(stdout) {
		a := &Answer{}
		require.NoError(t, json.Unmarshal([]byte(line), a))
		list = append(list, a)
	}
	return list
}

func TestBatch(t *testing.T) {
	got := answers(t, small("one")+"\n"+small("two", `,"unknown":{"fields":["are","ignored"]}`)+"\n"+small("no newline at the end"))
	want := []*Answer{preempted("one"), preempted("two"), preempted("no newline at the end")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	require.Empty(t, answers(t, ""))
}

// Every field of the contract is there, also where it is empty.
func TestBatchAnswerHasEveryField(t *testing.T) {
	stdout, _, _ := output(`{"name":"x"}`, "-batch", "-")
	want := `{"name":"x","status":"","message":"","candidates":[],"best":[],"chosen":"","victims":[],"nominations":{},` +
		`"error":"line 1: preemptor.kind: \"\" is not Pod, PodGroup, CompositePodGroup or Workload"}` + "\n"
	require.Equal(t, want, stdout)
}

// A bad line is answered with its error, in its place, and the batch goes on.
func TestBatchGoesOn(t *testing.T) {
	bad := map[string]struct{ line, name, want string }{
		"no JSON":                      {`{"name":"x",`, "", "unexpected end of JSON input"},
		"an empty line":                {"", "", "unexpected end of JSON input"},
		"a field of another kind":      {`{"name":"x","objects":7,` + askHigh + `}`, "x", "cannot unmarshal"},
		"a name of another kind":       {`{"name":7}`, "", "cannot unmarshal"},
		"no preemptor":                 {`{"name":"x","objects":[]}`, "x", `preemptor.kind: "" is not Pod`},
		"a preemptor of another kind":  {`{"name":"x","objects":[],"preemptor":{"kind":"Node","name":"n1"}}`, "x", `preemptor.kind: "Node" is not Pod`},
		"a preemptor without name":     {`{"name":"x","objects":[],"preemptor":{"kind":"Pod"}}`, "x", "Name"},
		"a preemptor that is missing":  {`{"name":"x","objects":[` + smallNode + `],` + askHigh + `}`, "x", `Name: "high" is not`},
		"a preemptor that runs":        {`{"name":"x","objects":[` + smallNode + `,` + lowPod + `],"preemptor":{"kind":"Pod","name":"low"}}`, "x", `item 2: cluster: Pod "default/low": Node: "n1" is not empty`},
		"unknown rules":                {small("x", `,"rules":"v1.2"`), "x", `rules: "v1.2" is not v1.36, v1.37 or kep-5710-alpha`},
		"a time that is none":          {small("x", `,"now":"noon"`), "x", `now: "noon" is not a time`},
		"an object that is none":       {`{"name":"x","objects":["Pod"],` + askHigh + `}`, "x", "objects: item 1: "},
		"an amount that is none":       {strings.Replace(small("x"), `"cpu":"1"`, `"cpu":"one"`, 1), "x", `item 3: Pod "high": spec.containers[0].resources.requests[cpu]: "one" is not readable`},
		"an endless amount":            {strings.Replace(small("x"), `"cpu":"1"`, `"cpu":"1e99999999"`, 1), "x", `"1e99999999" is not an amount`},
		"a negative amount":            {strings.Replace(small("x"), `"cpu":"1"`, `"cpu":"-1"`, 1), "x", `item 3: Pod "default/high": spec.containers[0].resources.requests[cpu]: -1 is not at least 0`},
		"requests that overflow":       {strings.Replace(small("x"), `"cpu":"1"`, `"cpu":"1e30"`, 1), "x", `is not at most 9223372036854775807 thousandths`},
		"a node that stands twice":     {`{"name":"x","objects":[` + smallNode + `,` + smallNode + `,` + highPod + `],` + askHigh + `}`, "x", `item 2: Node "n1": metadata.name: "n1" is not unique: it stands in item 1 too`},
		"a selector that is malformed": {`{"name":"x","objects":[` + highPod + `,{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b"},"spec":{"selector":{"matchExpressions":[{"key":"a","operator":"Like"}]}}}],` + askHigh + `}`, "x", `item 2: cluster: PodDisruptionBudget "default/b": Selector`},
		"a placement on no node":       {small("x", `,"placement":{"default/high":"n7"}`), "x", `Placement: "n7" is not a node of the snapshot`},
	}
	for name, tt := range bad {
		t.Run(name, func(t *testing.T) {
			got := answers(t, small("before")+"\n"+tt.line+"\n"+small("after")+"\n")
			require.Len(t, got, 3)
			require.Equal(t, preempted("before"), got[0])
			require.Equal(t, preempted("after"), got[2])
			require.Equal(t, tt.name, got[1].Name)
			require.NotEmpty(t, got[1].Error)
			require.True(t, strings.HasPrefix(got[1].Error, "line 2: "), got[1].Error)
			require.Contains(t, got[1].Error, tt.want)
			require.Empty(t, got[1].Status)
			require.Empty(t, got[1].Victims)
		})
	}
}

// An empty cluster is an answer, not an error.
func TestBatchEmptyCluster(t *testing.T) {
	got := answers(t, `{"name":"x","objects":[`+highPod+`],`+askHigh+`}`)
	require.Len(t, got, 1)
	require.Empty(t, got[0].Error)
	require.Equal(t, "unschedulable", got[0].Status)
	require.Equal(t, "the cluster has no nodes", got[0].Message)
}

// Rules of a line come before those of the command line.
func TestBatchRules(t *testing.T) {
	// Under v1.36 an empty selector of a budget matches nothing, under v1.37 every pod.
	budget := `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b"},"spec":{"selector":{}}}`
	line := func(more string) string {
		return fmt.Sprintf(`{"name":"x","objects":[%s,%s,%s,%s],%s%s}`, smallNode, lowPod, highPod, budget, askHigh, more)
	}
	violations := func(line string, args ...string) int {
		got := answers(t, line, args...)
		require.Len(t, got, 1)
		require.Empty(t, got[0].Error)
		return got[0].Candidates[0].Violations
	}
	require.Equal(t, 1, violations(line("")))
	require.Equal(t, 0, violations(line(""), "-rules", "v1.36"))
	require.Equal(t, 1, violations(line(`,"rules":"v1.37"`), "-rules", "v1.36"))
	require.Equal(t, 0, violations(line(`,"rules":"v1.36"`)))
}

// A gang's placement may be given.
func TestBatchPlacement(t *testing.T) {
	node2 := strings.Replace(smallNode, "n1", "n2", 1)
	group := `{"apiVersion":"scheduling.k8s.io/v1alpha2","kind":"PodGroup","metadata":{"name":"g"},"spec":{"priority":9,"schedulingPolicy":{"gang":{"minCount":1}}}}`
	member := strings.Replace(highPod, `"priority":9`, `"priority":9,"schedulingGroup":{"podGroupName":"g"}`, 1)
	line := fmt.Sprintf(`{"name":"x","objects":[%s,%s,%s,%s,%s],"placement":{"default/high":"n1"},"preemptor":{"kind":"PodGroup","namespace":"default","name":"g"}}`,
		smallNode, node2, lowPod, member, group)
	for _, rules := range []string{"v1.36", "v1.37"} {
		got := answers(t, line, "-rules", rules)
		require.Len(t, got, 1)
		require.Empty(t, got[0].Error)
		require.Equal(t, "preempt", got[0].Status, "rules %s: %s", rules, got[0].Message)
		require.Equal(t, []string{"default/low"}, got[0].Victims)
		require.Equal(t, map[string]string{"default/high": "n1"}, got[0].Nominations)
	}
}

// The order of a case's objects changes nothing.
func TestBatchOrderOfObjects(t *testing.T) {
	forth := answers(t, small("x"))
	back := answers(t, fmt.Sprintf(`{"name":"x","objects":[%s,%s,%s],%s}`, highPod, lowPod, smallNode, askHigh))
	require.Equal(t, forth, back)
}

// Lines may be longer than any buffer, and the file may be gzipped.
func TestBatchLongLines(t *testing.T) {
	var objects []string
	for i := range 3000 {
		objects = append(objects, fmt.Sprintf(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"s%d","annotations":{"a":"%s"}}}`, i, strings.Repeat("x", 400)))
	}
	long := fmt.Sprintf(`{"name":"long","objects":[%s,%s,%s,%s],%s}`, smallNode, lowPod, highPod, strings.Join(objects, ","), askHigh)
	require.Greater(t, len(long), 1<<20)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, err := z.Write([]byte(long + "\n" + small("short") + "\n"))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	name := filepath.Join(t.TempDir(), "cases.jsonl.gz")
	require.NoError(t, os.WriteFile(name, zipped.Bytes(), 0o600))
	stdout, stderr, status := output("", "-batch", name)
	require.Equal(t, 0, status, stderr)
	require.Equal(t, 2, strings.Count(stdout, `"status":"preempt"`))

	_, stderr, status = output("", "-batch", filepath.Join(t.TempDir(), "none"))
	require.Equal(t, 1, status)
	require.Contains(t, stderr, "no such file")
}

// FuzzBatchLine answers any line at all: one answer, on one line, without a panic,
// and the same one again.
func FuzzBatchLine(f *testing.F) {
	f.Add([]byte(small("x")), true)
	f.Add([]byte(small("x", `,"rules":"v1.36","now":"2026-01-01T00:00:00Z"`)), false)
	f.Add([]byte(`{"name":"x","objects":[{"kind":"List","items":[{}]}],"preemptor":{"kind":"PodGroup"}}`), true)
	f.Add([]byte(`{"name":"x","objects":[{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w"}}],"preemptor":{"kind":"Workload","name":"w"}}`), true)
	f.Fuzz(func(t *testing.T, line []byte, old bool) {
		c := &config{rules: rulesByName["v1.37"]}
		if old {
			c.rules = rulesByName["v1.36"]
		}
		var first, second bytes.Buffer
		require.NoError(t, writeLine(&first, c.answerLine(nil, 1, line)))
		require.NoError(t, writeLine(&second, c.answerLine(nil, 1, line)))
		require.Equal(t, first.String(), second.String())
		require.Equal(t, 1, strings.Count(first.String(), "\n"))
		var a Answer
		require.NoError(t, json.Unmarshal(first.Bytes(), &a))
		require.Equal(t, a.Error == "", a.Status != "", "an answer has a status or an error: %s", first.String())
	})
}
