package record_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/genopts"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/record"
)

func TestMain(m *testing.M) { gen.Tests(m) }

// unrecorded are methods of Planner that change nothing and are not played again.
var unrecorded = []string{"Fork", "Gather", "Snapshot", "View"}

// TestARecorderHasEveryMethodOfAPlanner with the same signature, so that one can take the
// place of the other.
func TestARecorderHasEveryMethodOfAPlanner(t *testing.T) {
	planner, recorder := reflect.TypeFor[*preemption.Planner](), reflect.TypeFor[*record.Recorder]()
	for i := range planner.NumMethod() {
		want := planner.Method(i)
		got, there := recorder.MethodByName(want.Name)
		if slices.Contains(unrecorded, want.Name) {
			require.False(t, there, want.Name)
			continue
		}
		require.True(t, there, want.Name)
		require.Equal(t, want.Type.NumIn(), got.Type.NumIn(), want.Name)
		for k := 1; k < want.Type.NumIn(); k++ {
			require.Equal(t, want.Type.In(k), got.Type.In(k), want.Name)
		}
		for k := range want.Type.NumOut() {
			require.Equal(t, want.Type.Out(k), got.Type.Out(k), want.Name)
		}
	}
}

// history is what happens to a recorded planner.
type history struct {
	*gen.Maker
	rec     *record.Recorder
	now     *preemption.Snapshot
	asked   []preemption.Preemptor
	answers []*preemption.Result
}

// argument draws one of a type.
func (h *history) argument(typ reflect.Type) any {
	names := []string{"nobody", ""}
	for _, p := range h.now.Pods {
		names = append(names, p.Name, p.Name)
	}
	for _, n := range h.now.Nodes {
		names = append(names, n.Name, n.Name)
	}
	names = append(names, "default", "team", "b0", "g0", "w0", "cq0", "lq0", "f0", "high")
	switch typ {
	case reflect.TypeFor[preemption.Preemptor]():
		if len(h.asked) > 0 && h.N(3) > 0 {
			return gen.One(h.Maker, h.asked)
		}
		p := h.Preemptor()
		h.asked = append(h.asked, p)
		return p
	case reflect.TypeFor[[]preemption.Preemptor]():
		return []preemption.Preemptor{h.Preemptor()}[:h.N(2)]
	case reflect.TypeFor[*preemption.Result]():
		return gen.One(h.Maker, h.answers) // nil at first
	case reflect.TypeFor[preemption.PodRef]():
		p := gen.One(h.Maker, h.now.Pods)
		return preemption.PodRef{Namespace: p.Namespace, Name: p.Name}
	case reflect.TypeFor[preemption.Target]():
		return []preemption.Target{preemption.NodeTarget(gen.One(h.Maker, h.now.Nodes).Name), preemption.UnitTarget("default/p0"), {}}[h.N(3)]
	case reflect.TypeFor[string]():
		return gen.One(h.Maker, names)
	}
	for _, draw := range []any{
		h.Pod, h.Node, h.PodGroup, h.CompositePodGroup, h.Budget, h.PriorityClass, h.Namespace, h.ResourceFlavor,
		h.ClusterQueue, h.Cohort, h.LocalQueue, h.Workload, h.Time,
	} {
		if f := reflect.ValueOf(draw); f.Type().Out(0) == typ {
			return f.Call(nil)[0].Interface()
		}
	}
	panic(fmt.Sprintf("nothing draws a %s", typ))
}

// often are calls that happen more often than others.
var often = []string{"Preempt", "Preempt", "Preempt", "Preempt", "Decide", "Park", "Park", "Wake", "Apply", "Apply", "Evict", "SetPod", "SetPod", "Bind", "Remove", "WhyNot", "StillValid"}

// live makes some calls and returns the journal of them, the options, and how many there were.
func live(t *rapid.T) (journal []byte, o preemption.Options, h *history, calls int) {
	o = genopts.Any().Draw(t, "options")
	m, q := gen.NewMaker(t, gen.AnyProfile(t))
	var out bytes.Buffer
	rec, err := record.New(&out, &q.Snapshot, o)
	if err != nil {
		t.SkipNow()
	}
	h = &history{Maker: m, rec: rec, asked: []preemption.Preemptor{q.Preemptor}}
	recorder, planner := reflect.ValueOf(rec), reflect.TypeFor[*preemption.Planner]()
	methods := slices.Clone(often)
	for i := range planner.NumMethod() {
		if name := planner.Method(i).Name; !slices.Contains(unrecorded, name) && !strings.HasSuffix(name, "Context") {
			methods = append(methods, name)
		}
	}
	for calls = range 1 + h.N(40) {
		h.now = rec.Planner().Snapshot()
		h.See(h.now)
		call := recorder.MethodByName(gen.One(m, methods))
		in := make([]reflect.Value, call.Type().NumIn())
		for i := range in {
			in[i] = reflect.ValueOf(h.argument(call.Type().In(i)))
		}
		for _, x := range call.Call(in) {
			if r, ok := x.Interface().(*preemption.Result); ok && r != nil {
				h.answers = append(h.answers, r)
			}
		}
	}
	if err := rec.Err(); err != nil && strings.Contains(err.Error(), "year outside of range") {
		t.SkipNow() // JSON has no such time
	}
	require.NoError(t, rec.Err())
	return out.Bytes(), o, h, calls + 1
}

// replaysAlike: whatever happens to a planner, its journal has the same answers again, and
// the cluster is the same in the end.
func replaysAlike(t *rapid.T) {
	journal, o, h, calls := live(t)
	report, err := record.Replay(bytes.NewReader(journal), o.Hooks)
	if err != nil || report.Difference != nil {
		t.Fatalf("%v, %v in\n%s", err, report.Difference, journal)
	}
	require.Equal(t, calls, report.Calls)
	end := asJSON(t, h.rec.Planner().Snapshot())
	require.Equal(t, end, asJSON(t, report.Planner.Snapshot()))

	var saved bytes.Buffer
	require.NoError(t, record.Save(&saved, h.rec.Planner(), o))
	loaded, err := record.Replay(&saved, o.Hooks)
	if err == nil { // not so where the cluster is refused as it is
		require.Equal(t, end, asJSON(t, loaded.Planner.Snapshot()))
	}
}

func asJSON(t *rapid.T, v any) string {
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

func TestAJournalReplaysAlike(t *testing.T) { rapid.Check(t, replaysAlike) }

func FuzzAJournalReplaysAlike(f *testing.F) { f.Fuzz(rapid.MakeFuzz(replaysAlike)) }

// change changes one thing of what an answer says, and reports whether there was one.
func change(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			switch x := v[k].(type) {
			case string:
				v[k] = x + "?"
				return true
			case bool:
				v[k] = !x
				return true
			case json.Number:
				if k != "trials" {
					v[k] = json.Number("7" + strings.TrimPrefix(x.String(), "-")) // another one
					return true
				}
			default:
				if change(x) {
					return true
				}
			}
		}
	case []any:
		return len(v) > 0 && change(v[0])
	}
	return false
}

// tamperedIsNoticed: an answer that is changed is the first difference.
func tamperedIsNoticed(t *rapid.T) {
	journal, o, h, _ := live(t)
	lines := strings.Split(strings.TrimSuffix(string(journal), "\n"), "\n")
	at := 1 + h.N(len(lines)-1)
	var call map[string]any
	in := json.NewDecoder(strings.NewReader(lines[at]))
	in.UseNumber()
	require.NoError(t, in.Decode(&call))
	switch text, failed := call["error"].(string); {
	case failed:
		call["error"] = text + "?"
	case !change(call["answer"]):
		call["error"] = "it failed"
	}
	text, err := json.Marshal(call)
	require.NoError(t, err)
	lines[at] = string(text)
	report, err := record.Replay(strings.NewReader(strings.Join(lines, "\n")+"\n"), o.Hooks)
	require.NoError(t, err)
	require.NotNil(t, report.Difference, "line %d: %s", at+1, lines[at])
	require.Equal(t, at+1, report.Difference.Line)
	require.Contains(t, report.Difference.String(), fmt.Sprintf("line %d: %s: ", at+1, call["call"]))
}

func TestATamperedJournalIsNoticed(t *testing.T) { rapid.Check(t, tamperedIsNoticed) }

func pod(name, node string, priority int32, cores int64) preemption.Pod {
	return preemption.Pod{Name: name, Node: node, Priority: &priority, Requests: preemption.Resources{"cpu": 1000 * cores}}
}

// small is a short journal: somebody has to go, and does.
func small(t *testing.T) []byte {
	var out bytes.Buffer
	rec, err := record.New(&out, &preemption.Snapshot{
		Nodes: []preemption.Node{{Name: "n1", Allocatable: preemption.Resources{"cpu": 4000}}}, Pods: []preemption.Pod{pod("batch", "n1", 0, 4)},
	}, preemption.Options{})
	require.NoError(t, err)
	web := preemption.Preemptor{Pods: []preemption.Pod{pod("web", "", 10, 2)}}
	d, err := rec.Park(web)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, d.Verdict)
	r, err := rec.Preempt(web)
	require.NoError(t, err)
	require.NoError(t, rec.Apply(r))
	require.NoError(t, rec.Remove(preemption.PodRef{Name: "batch"}))
	require.Error(t, rec.Remove(preemption.PodRef{Name: "batch"}))
	require.NoError(t, rec.SetTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
	require.Empty(t, rec.Wake())
	require.True(t, rec.WakeAt().IsZero())
	return out.Bytes()
}

// TestAJournalThatIsCutShort is played to its last whole line.
func TestAJournalThatIsCutShort(t *testing.T) {
	journal := small(t)
	lines := bytes.Count(journal, []byte("\n"))
	for cut := range journal {
		report, err := record.Replay(bytes.NewReader(journal[:cut]), nil)
		whole := bytes.Count(journal[:cut], []byte("\n"))
		if next := journal[cut]; err == nil && next == '\n' {
			whole++ // all but the end of the line is there
		}
		if cut == 0 || journal[cut-1] != '\n' && journal[cut] != '\n' {
			var bad *record.LineError
			require.ErrorAs(t, err, &bad)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			require.ErrorIs(t, err, record.ErrJournal)
			require.Equal(t, whole+1, bad.Line)
		} else {
			require.NoError(t, err)
		}
		if whole > 0 {
			require.Nil(t, report.Difference)
			require.Equal(t, whole-1, report.Calls)
		}
	}
	require.Equal(t, 9, lines)
}

func TestAJournalThatCannotBeReadSaysWhere(t *testing.T) {
	const first = `{"journal":1,"options":{},"snapshot":{"nodes":[{"name":"n1"}]}}` + "\n"
	for journal, want := range map[string]string{
		"":                                   "record: line 1: the journal: empty is not one: it has no first line: unexpected EOF",
		"[]\n":                               "record: line 1: the line is not a call, or at first a snapshot: json: cannot unmarshal array into Go value of type record.header",
		`{"journal":2,"snapshot":{}}` + "\n": "record: line 1: journal: 2 is not 1, the form that this release reads",
		`{"journal":1}` + "\n":               "record: line 1: snapshot is not there",
		`{"journal":1,"snapshot":{"pods":[{"nam":"x"}]}}` + "\n":          `record: line 1: the line is not a call, or at first a snapshot: json: unknown field "nam"`,
		`{"journal":1,"snapshot":{},"options":{"searchSteps":-1}}` + "\n": "preemption: Options.SearchSteps: -1 is not >= 0",
		first + "{}\n":                                                            `record: line 2: call: "" is not a method of a planner that is recorded`,
		first + `{"call":"Fork"}` + "\n":                                          `record: line 2: call: "Fork" is not a method of a planner that is recorded`,
		first + `{"call":"Err"}` + "\n":                                           `record: line 2: call: "Err" is not a method of a planner that is recorded`,
		first + `{"call":"PreemptContext"}` + "\n":                                `record: line 2: call: "PreemptContext" is not a method of a planner that is recorded`,
		first + `{"call":"SetPod"}` + "\n":                                        "record: line 2: args: 0 is not 1, as SetPod takes",
		first + `{"call":"SetPod","args":[7]}` + "\n":                             "record: line 2: args[0] is not a cluster.Pod: json: cannot unmarshal number into Go value of type cluster.Pod",
		first + `{"call":"SetPod","args":[{"name":"x","labels":{"a":1}}]}` + "\n": "record: line 2: args[0].labels is not a cluster.Pod: json: cannot unmarshal number into Go struct field Pod.labels of type string",
		first + `{"call":"SetPod","args":[{"nom":"x"}]}` + "\n":                   `record: line 2: args[0] is not a cluster.Pod: json: unknown field "nom"`,
		first + `{"call":"Wake"}{"call":"Wake"}` + "\n":                           "record: line 2: the line is not a call, or at first a snapshot: more than one value",
		first + `{"call":"Wake","when":1}` + "\n":                                 `record: line 2: the line is not a call, or at first a snapshot: json: unknown field "when"`,
		first + "\n": "record: line 2: the line is not a call, or at first a snapshot: nothing is there",
		`{"journal":1,"hooks":true,"snapshot":{}}` + "\n": record.ErrHooks.Error(),
		first + `{"call":`: "record: line 2: the line: 8 bytes is not whole: the journal is cut short: unexpected EOF",
	} {
		_, err := record.Replay(strings.NewReader(journal), nil)
		require.EqualError(t, err, want, journal)
	}
	_, err := record.Replay(strings.NewReader(`{"journal":1,"hooks":true,"snapshot":{}}`), &preemption.Hooks{})
	require.ErrorIs(t, err, record.ErrHooks, "they have no say")
}

// TestCallsAreRecordedInTheirOrder, whoever makes them.
func TestCallsAreRecordedInTheirOrder(t *testing.T) {
	var out bytes.Buffer
	rec, err := record.New(&out, &preemption.Snapshot{Nodes: []preemption.Node{{Name: "n1", Allocatable: preemption.Resources{"cpu": 4000}}}}, preemption.Options{})
	require.NoError(t, err)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			mine := pod(fmt.Sprint("p", i), "", int32(i), 3)
			for range 20 {
				if err := rec.SetPod(mine); err != nil {
					t.Error(err)
				}
				if r, err := rec.Preempt(preemption.Preemptor{Kind: preemption.KindPod, Name: mine.Name}); err == nil {
					_ = rec.Apply(r) // may be late
				}
				_ = rec.Remove(preemption.PodRef{Name: mine.Name})
			}
		})
	}
	all.Wait()
	report, err := record.Replay(&out, nil)
	require.NoError(t, err)
	require.Nil(t, report.Difference)
	require.GreaterOrEqual(t, report.Calls, 4*20*3)
}

// failing is a disk that is full for a moment.
type failing struct{ left int }

func (f *failing) Write(p []byte) (int, error) {
	if f.left--; f.left == -1 {
		return 0, errors.New("no space left")
	}
	return len(p), nil
}

// TestAPlannerGoesOnWhereNothingCanBeRecorded, and the recorder says why.
func TestAPlannerGoesOnWhereNothingCanBeRecorded(t *testing.T) {
	_, err := record.New(&failing{}, nil, preemption.Options{})
	require.EqualError(t, err, "record: no space left")
	disk := &failing{left: 2}
	rec, err := record.New(disk, nil, preemption.Options{})
	require.NoError(t, err)
	for i := range 3 {
		require.NoError(t, rec.SetNode(preemption.Node{Name: fmt.Sprint("n", i)}))
	}
	require.EqualError(t, rec.Err(), "record: no space left")
	require.Equal(t, -1, disk.left, "nor is what comes after, though there were room")
	require.Len(t, rec.Planner().Snapshot().Nodes, 3)
}

// TestAStoppedQuestionIsNotRecorded, since it may not be stopped when it is played again.
func TestAStoppedQuestionIsNotRecorded(t *testing.T) {
	var out bytes.Buffer
	rec, err := record.New(&out, &preemption.Snapshot{Nodes: []preemption.Node{{Name: "n1"}}}, preemption.Options{})
	require.NoError(t, err)
	web := preemption.Preemptor{Pods: []preemption.Pod{pod("web", "", 10, 2)}}
	ctx, stop := context.WithCancel(context.Background())
	_, err = rec.PreemptContext(ctx, web)
	require.NoError(t, err)
	stop()
	_, err = rec.DecideContext(ctx, web)
	require.ErrorIs(t, err, context.Canceled)
	_, err = rec.WhyNotContext(ctx, web, preemption.NodeTarget("n1"))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 2, strings.Count(out.String(), "\n"))
	require.Contains(t, out.String(), `{"call":"Preempt","args":[`)
}

// TestWhereTwoAnswersDifferIsNamed: the field, and what each has there.
func TestWhereTwoAnswersDifferIsNamed(t *testing.T) {
	var journal bytes.Buffer
	rec, err := record.New(&journal, &preemption.Snapshot{
		Nodes: []preemption.Node{{Name: "n1", Allocatable: preemption.Resources{"cpu": 4000}}},
		Pods:  []preemption.Pod{pod("a", "n1", 0, 2), pod("b", "n1", 0, 2)},
	}, preemption.Options{})
	require.NoError(t, err)
	r, err := rec.Preempt(preemption.Preemptor{Pods: []preemption.Pod{pod("web", "", 10, 4)}})
	require.NoError(t, err)
	require.Len(t, r.Victims, 2)
	second, err := json.Marshal(r.Victims[1])
	require.NoError(t, err)
	for want, tampered := range map[string]string{
		"the length of answer.victims": strings.Replace(journal.String(), ","+string(second), "", 1),
		"answer.verdict":               strings.Replace(journal.String(), `"verdict":"feasible",`, "", 1),
		"answer.victims[1].name":       strings.Replace(journal.String(), string(second), strings.Replace(string(second), `"b"`, `"c"`, 1), 1),
		"answer.score[4].value":        strings.Replace(journal.String(), "-9223372036854775807", "-9223372036854775806", 1), // as floats they are one
	} {
		require.NotEqual(t, journal.String(), tampered)
		report, err := record.Replay(strings.NewReader(tampered), nil)
		require.NoError(t, err)
		require.NotNil(t, report.Difference, want)
		require.Equal(t, want, report.Difference.Field)
	}
}

// TestHowManyTrialsItTookIsNoDifference: of one answer, and of those of a list.
func TestHowManyTrialsItTookIsNoDifference(t *testing.T) {
	var journal bytes.Buffer
	rec, err := record.New(&journal, &preemption.Snapshot{
		Nodes: []preemption.Node{{Name: "n1", Allocatable: preemption.Resources{"cpu": 4000}}}, Pods: []preemption.Pod{pod("a", "n1", 0, 4)},
	}, preemption.Options{})
	require.NoError(t, err)
	web := preemption.Preemptor{Pods: []preemption.Pod{pod("web", "", 10, 4)}}
	r, err := rec.Preempt(web)
	require.NoError(t, err)
	_, err = rec.PreemptAll([]preemption.Preemptor{web})
	require.NoError(t, err)
	trials := fmt.Sprintf(`"trials":%d`, r.Stats.Trials)
	require.Equal(t, 2, strings.Count(journal.String(), trials))
	report, err := record.Replay(strings.NewReader(strings.ReplaceAll(journal.String(), trials, `"trials":99`)), nil)
	require.NoError(t, err)
	require.Nil(t, report.Difference)
}

// A journal of what a planner was asked and told, which is played again.
func Example() {
	var journal bytes.Buffer // or a file
	snapshot := &preemption.Snapshot{
		Nodes: []preemption.Node{{Name: "n1", Allocatable: preemption.Resources{"cpu": 4000}}},
		Pods:  []preemption.Pod{pod("batch", "n1", 0, 4), pod("web", "", 10, 2)},
	}
	planner, err := record.New(&journal, snapshot, preemption.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := planner.Preempt(preemption.Preemptor{Kind: preemption.KindPod, Name: "web"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Message, planner.Apply(answer))

	report, err := record.Replay(bytes.NewReader(journal.Bytes()), nil)
	fmt.Println(report.Calls, "calls,", report.Difference, err)

	tampered := strings.Replace(journal.String(), `"domain":"n1"`, `"domain":"n2"`, 1)
	report, err = record.Replay(strings.NewReader(tampered), nil)
	fmt.Println(report.Difference, err)
	// Output:
	// fits on n1 once 1 pod is evicted <nil>
	// 2 calls, <nil> <nil>
	// line 2: Preempt: answer.domain: recorded "n2", replayed "n1" <nil>
}

// A planner as JSON, and back.
func ExampleSave() {
	planner, err := preemption.NewPlanner(&preemption.Snapshot{Nodes: []preemption.Node{{Name: "n1"}}}, preemption.Options{NoCascade: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	var text bytes.Buffer
	if err := record.Save(&text, planner, preemption.Options{NoCascade: true}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(text.String())
	report, err := record.Replay(&text, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Options.NoCascade, report.Planner.Snapshot().Nodes[0].Name)
	// Output:
	// {"journal":1,"options":{"noCascade":true},"snapshot":{"nodes":[{"name":"n1"}]}}
	// true n1
}

// Text that JSON would replace ends the recording; a replacement character, and a text that
// looks like the escape of one, do not.
func TestTextThatIsNotUTF8(t *testing.T) {
	for name, ends := range map[string]bool{"\xff": true, "\ufffd": false, `\ufffd`: false, `\\` + "\xff": true} {
		var journal strings.Builder
		rec, err := record.New(&journal, &preemption.Snapshot{}, preemption.Options{})
		require.NoError(t, err)
		_ = rec.SetPod(preemption.Pod{Name: name}) // refused or not
		require.Equal(t, ends, rec.Err() != nil, "%q", name)
	}
}

// Without a context a question is never stopped, as a planner has it.
func TestNoContext(t *testing.T) {
	var journal strings.Builder
	rec, err := record.New(&journal, &preemption.Snapshot{}, preemption.Options{})
	require.NoError(t, err)
	var none context.Context
	_, err = rec.PreemptContext(none, preemption.Preemptor{Kind: preemption.KindPod, Name: "nobody"})
	require.Error(t, err)
	require.Contains(t, journal.String(), "nobody", "it is recorded")
}
