package command

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// toleration is a random question about one victim whose class may tolerate one
// preemptor.
type toleration struct {
	value, preemptor int32
	minimum, seconds *int64
	scheduled, now   time.Time // scheduled may be zero
}

// tolerates is the rule in the words of the preemption toleration document,
// without anything of the library.
func (x toleration) tolerates() bool {
	minimum, seconds := int64(x.value)+1, int64(0)
	if x.minimum != nil {
		minimum = *x.minimum
	}
	if x.seconds != nil {
		seconds = *x.seconds
	}
	switch {
	case int64(x.preemptor) >= minimum: // important enough
		return false
	case seconds < 0: // tolerated for ever
		return true
	case seconds == 0: // not tolerated at all
		return false
	case x.scheduled.IsZero(): // the time has not begun
		return true
	}
	end := x.scheduled.Unix() + seconds
	return end < x.scheduled.Unix() /* it overflowed */ || x.now.Unix() < end
}

// line is the case of a batch.
func (x toleration) line(name string) string {
	annotations := map[string]string{}
	if x.minimum != nil {
		annotations["preemption-toleration.scheduling.x-k8s.io/minimum-preemptable-priority"] = fmt.Sprint(*x.minimum)
	}
	if x.seconds != nil {
		annotations["preemption-toleration.scheduling.x-k8s.io/toleration-seconds"] = fmt.Sprint(*x.seconds)
	}
	text, _ := json.Marshal(annotations)
	conditions := ""
	if !x.scheduled.IsZero() {
		conditions = fmt.Sprintf(`{"type":"PodScheduled","status":"True","lastTransitionTime":%q}`, x.scheduled.Format(time.RFC3339))
	}
	pod := func(name, class, node, more string, priority int32) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q},"spec":{%s"priorityClassName":%q,"priority":%d,`+
			`"containers":[{"name":"m","resources":{"requests":{"cpu":"2"}}}]}%s}`, name, node, class, priority, more)
	}
	class := func(name string, value int32, annotations string) string {
		return fmt.Sprintf(`{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":%q%s},"value":%d}`, name, annotations, value)
	}
	return fmt.Sprintf(`{"name":%q,"now":%q,"objects":[%s],"preemptor":{"kind":"Pod","namespace":"default","name":"p"}}`, name, x.now.Format(time.RFC3339),
		strings.Join([]string{
			smallNode, class("victims", x.value, `,"annotations":`+string(text)), class("preemptors", x.preemptor, ""),
			pod("v", "victims", `"nodeName":"n1",`, `,"status":{"phase":"Running","conditions":[`+conditions+`]}`, x.value),
			pod("p", "preemptors", "", "", x.preemptor),
		}, ","))
}

func randomToleration(r *rand.Rand) toleration {
	pick := func(list ...int64) *int64 { return &list[r.IntN(len(list))] }
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	x := toleration{value: int32(r.IntN(21)), preemptor: int32(r.IntN(21)), now: noon.Add(time.Duration(r.IntN(200)) * time.Second)}
	if r.IntN(4) > 0 {
		x.minimum = pick(int64(r.IntN(25)), int64(r.IntN(25)), int64(x.preemptor), int64(x.preemptor)+1, math.MinInt32, math.MaxInt32)
	}
	if r.IntN(6) > 0 {
		x.seconds = pick(int64(r.IntN(200)), int64(r.IntN(200)), x.now.Unix()-noon.Unix(), x.now.Unix()-noon.Unix()+1, 0, -1, math.MaxInt64, math.MinInt64, 9_223_372_037)
	}
	if r.IntN(8) > 0 {
		x.scheduled = noon
	}
	return x
}

// TestTolerationAgreesWithAModel: 10,000 random classes and times, through the batch.
func TestTolerationAgreesWithAModel(t *testing.T) {
	const cases = 10_000
	r := rand.New(rand.NewPCG(7, 7))
	var input strings.Builder
	questions := make([]toleration, cases)
	for i := range questions {
		questions[i] = randomToleration(r)
		fmt.Fprintln(&input, questions[i].line(fmt.Sprint(i)))
	}
	for _, rules := range []string{"v1.36", "v1.37"} {
		tolerated := 0
		for i, a := range answers(t, input.String(), "-rules", rules) {
			x := questions[i]
			require.Empty(t, a.Error, x.line(a.Name))
			want := "preempt"
			if x.preemptor <= x.value || x.tolerates() {
				want = "unschedulable"
			}
			require.Equal(t, want, a.Status, x.line(a.Name))
			if x.preemptor > x.value && x.tolerates() {
				tolerated++
			}
		}
		require.Greater(t, tolerated, cases/20, "the cases have to ask something")
	}
}

// A toleration that cannot be read is the error of its case; with -lenient the
// class has none.
func TestTolerationThatCannotBeRead(t *testing.T) {
	x := toleration{value: 1, preemptor: 2, now: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)}
	line := strings.Replace(x.line("bad"), `"annotations":{}`,
		`"annotations":{"preemption-toleration.scheduling.x-k8s.io/toleration-seconds":"soon",`+
			`"preemption-toleration.scheduling.x-k8s.io/minimum-preemptable-priority":"9"}`, 1)
	got := answers(t, line+"\n"+x.line("good"))
	require.Equal(t, `line 1: objects: item 2: priority: class "victims": `+
		`annotations[preemption-toleration.scheduling.x-k8s.io/toleration-seconds]: "soon" is not an integer of 64 bits`, got[0].Error)
	require.Equal(t, "preempt", got[1].Status)
	require.Equal(t, "preempt", answers(t, line, "-lenient")[0].Status)
}

// The readable answer has a column for why units are kept; options come from a file.
func TestKeptUnitsAreShown(t *testing.T) {
	options := filepath.Join(t.TempDir(), "options.json")
	require.NoError(t, os.WriteFile(options, []byte(`{"guards":{"guaranteedSeconds":3600}}`), 0o600))
	stdout, stderr, status := output("", "-options", options)
	require.Equal(t, 0, status, stderr)
	require.Contains(t, stdout, "KEPT                  NODE    PRIORITY  WHY IT MAY NOT BE EVICTED\n"+
		"reports/report-adhoc  node-b  10        is guaranteed to run for another 30m3s\n")
	require.NotContains(t, strings.Split(stdout, "KEPT")[0], "report-adhoc")

	require.NoError(t, os.WriteFile(options, []byte(`{"guards":{"guaranteed":3600}}`), 0o600))
	_, stderr, status = output("", "-options", options)
	require.Equal(t, 1, status)
	require.Contains(t, stderr, `unknown field "guaranteed"`)
	_, stderr, status = output("", "-options", filepath.Join(t.TempDir(), "missing.json"))
	require.Equal(t, 1, status)
	require.Contains(t, stderr, "missing.json")
}
