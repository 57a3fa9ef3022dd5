package command

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever changes the cluster, those who are parked are parked in the same one.
func TestWhoIsParkedSeesEveryChange(t *testing.T) {
	c, err := parse([]string{"-f", "-", "-questions", "q"}, os.Stderr)
	require.NoError(t, err)
	dump, err := c.load(strings.NewReader(smallNode+lowPod+highPod+strings.ReplaceAll(highPod, "high", "higher")), startProgress(os.Stderr))
	require.NoError(t, err)
	l, err := newLive(dump, c.asked(c.rules, nil))
	require.NoError(t, err)
	l.earlier = map[string]*keptAnswer{}
	for i, line := range []string{
		`{"ask":"park","preemptors":[{"kind":"Pod","name":"high"},{"kind":"Pod","name":"higher"}]}`,
		`{"set":[` + strings.ReplaceAll(smallNode, "n1", "n2") + `],"now":"2030-01-01T00:00:00Z"}`,
		`{"set":[` + strings.ReplaceAll(highPod, "high", "third") + `],"cordon":["n2"]}`,
		`{"ask":"wake"}`,
		`{` + askHigh + `,"apply":true}`,
		`{"ask":"gather","preemptors":[{"kind":"Pod","name":"higher"}],"apply":true}`,
		`{"set":[` + smallNode + `],"remove":[{"kind":"Pod","name":"high"}]}`,
		`{"preemptors":[{"kind":"Pod","name":"third"}],"apply":true}`,
		`{"remove":[{"kind":"Pod","name":"nobody"}],"cordon":["n1"]}`,
	} {
		a := c.answerQuestion(l, i+1, []byte(line))
		require.Equal(t, strings.Contains(line, "nobody"), a.Error != "", "%s: %s", line, a.Error)
		require.Equal(t, l.planner.Snapshot(), l.parking.Snapshot(), line)
	}
	var running []string
	for _, p := range l.parking.Snapshot().Pods {
		running = append(running, fmt.Sprint(p.Name, " ", p.Node))
	}
	require.Equal(t, []string{"higher n1", "third n1"}, running, "what is applied is seen")

	require.Empty(t, c.answerQuestion(l, 10, []byte(`{"reset":true}`)).Error)
	require.Nil(t, l.parking, "nobody is parked in the cluster as it began")
	require.Equal(t, dump.Snapshot.Time, l.planner.Snapshot().Time)
}

// A line without a preemptor changes the cluster, and has nothing that only goes with a question.
func TestALineWithoutAPreemptorAsksNothing(t *testing.T) {
	c, err := parse([]string{"-f", "-", "-questions", "q"}, os.Stderr)
	require.NoError(t, err)
	dump, err := c.load(strings.NewReader(smallNode+lowPod+highPod), startProgress(os.Stderr))
	require.NoError(t, err)
	l, err := newLive(dump, c.asked(c.rules, nil))
	require.NoError(t, err)
	for _, line := range []string{
		`{"name":"x"}`, `null`, `{"preemptor":{}}`, `{"whyNot":["n1"],"reset":true}`, `{"placement":{"a/b":"n1"},"reset":true}`, `{"apply":true,"reset":true}`, `{"ask":"preempt","reset":true}`,
	} {
		require.Contains(t, c.answerQuestion(l, 1, []byte(line)).Error, "preemptor: nobody asks", line)
	}
	require.Empty(t, c.answerQuestion(l, 1, []byte(`{"now":"2030-01-01T00:00:00Z"}`)).Error)
}
