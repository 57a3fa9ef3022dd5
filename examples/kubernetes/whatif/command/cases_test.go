package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// shared is the folder with the recorded cases and the real clusters: beside the
// project's root, or where PREEMPT_SHARED says.
func shared(t *testing.T, path string) string {
	t.Helper()
	root := os.Getenv("PREEMPT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "..", "shared")
	}
	name := filepath.Join(root, filepath.FromSlash(path))
	if _, err := os.Stat(name); err != nil {
		t.Skip("not there:", err)
	}
	return name
}

// recorded is a case with the answer of the real kube-scheduler v1.36.3.
type recorded struct {
	testCase
	Want struct {
		Answer
		Alternatives map[string][]Candidate `json:"alternatives"` // by node: outcomes of other orders of the objects
		BestAny      []string               `json:"bestAny"`      // every best node of any order
		VictimSets   [][]string             `json:"victimSets"`   // every outcome for a group
	} `json:"want"`
}

// profiles are the recorded kinds of cases, of which each is answered in full.
var profiles = []struct {
	name  string
	cases int
}{
	{name: "basic", cases: 120},
	{name: "pdb", cases: 120},
	{name: "taints", cases: 120},
	{name: "toobig", cases: 120},
	{name: "affinity", cases: 120},
	{name: "spread", cases: 120},
	{name: "mixed", cases: 120},
	{name: "gangs", cases: 120},
}

// TestCases asks what the real kube-scheduler v1.36.3 was asked, and compares
// status, every candidate with its victims and violations, and the best nodes; for
// groups, the victims. No case may differ.
func TestCases(t *testing.T) {
	for _, p := range profiles {
		t.Run(p.name, func(t *testing.T) {
			in, err := os.Open(shared(t, "cases/kube-"+p.name+".jsonl.gz"))
			require.NoError(t, err)
			defer in.Close()
			c := &config{rules: rulesByName["v1.36"]}
			cases := 0
			require.NoError(t, eachLine(in, 0, func(number int, line []byte) error {
				var r recorded
				require.NoError(t, json.Unmarshal(line, &r), "line %d", number)
				cases++
				diff := r.differs(t, c.answerLine(nil, number, line))
				if diff != "" {
					t.Errorf("%s: %s", r.Name, diff)
				}
				return nil
			}))
			require.Equal(t, p.cases, cases)
		})
	}
}

// differs says where a differs from the recorded answer; empty if it is one that
// upstream may reach.
func (r *recorded) differs(t *testing.T, a *Answer) string {
	t.Helper()
	show := func(what string, want, got any) string {
		text, err := json.Marshal(map[string]any{"want": want, "got": got})
		require.NoError(t, err)
		return what + ": " + string(text)
	}
	switch {
	case a.Error != "":
		return a.Error
	case a.Name != r.Name:
		return show("name", r.Name, a.Name)
	case a.Status != r.Want.Status:
		return show("status", r.Want.Status, a.Status+": "+a.Message)
	case r.Preemptor.Kind != string(cluster.KindPod):
		return r.groupDiffers(t, a)
	case len(a.Candidates) != len(r.Want.Candidates):
		return show("candidates", r.Want.Candidates, a.Candidates)
	}
	asGiven := true // the victims are those of the order in which the objects are given
	for i, got := range a.Candidates {
		want := r.Want.Candidates[i]
		if sameCandidate(got, want) {
			continue
		}
		asGiven = false
		if got.Node != want.Node || !slices.ContainsFunc(r.Want.Alternatives[got.Node], func(c Candidate) bool { return sameCandidate(got, c) }) {
			return show("candidate", want, got)
		}
	}
	possible := r.Want.BestAny
	if possible == nil {
		possible = r.Want.Best
	}
	switch {
	case asGiven && !slices.Equal(a.Best, r.Want.Best):
		return show("best", r.Want.Best, a.Best)
	case slices.ContainsFunc(a.Best, func(node string) bool { return !slices.Contains(possible, node) }):
		return show("best of any order", possible, a.Best)
	case a.Status == "preempt" && !slices.Contains(a.Best, a.Chosen):
		return show("chosen", a.Best, a.Chosen)
	case a.Status == "preempt":
		i := slices.IndexFunc(a.Candidates, func(c Candidate) bool { return c.Node == a.Chosen })
		if i < 0 || !slices.Equal(a.Candidates[i].Victims, a.Victims) {
			return show("victims of the chosen node", a.Candidates, a.Victims)
		}
	}
	return ""
}

func sameCandidate(a, b Candidate) bool {
	return a.Node == b.Node && a.Violations == b.Violations && slices.Equal(a.Victims, b.Victims)
}

// groupDiffers compares the victims for a group: upstream's, or no worse than each
// of upstream's outcomes in highest priority, then number of pods.
func (r *recorded) groupDiffers(t *testing.T, a *Answer) string {
	t.Helper()
	sets := append([][]string{r.Want.Victims}, r.Want.VictimSets...)
	for _, set := range sets {
		if slices.Equal(set, a.Victims) {
			return ""
		}
	}
	own := r.price(t, a.Victims)
	for _, set := range sets {
		if theirs := r.price(t, set); slices.Compare(own[:], theirs[:]) > 0 {
			text, err := json.Marshal(map[string]any{"want": sets, "got": a.Victims})
			require.NoError(t, err)
			return "victims: " + string(text)
		}
	}
	return ""
}

// price is the highest priority among the victims, and their number.
func (r *recorded) price(t *testing.T, victims []string) [2]int64 {
	t.Helper()
	if len(victims) == 0 {
		return [2]int64{-1 << 40, 0}
	}
	priorities := map[string]int64{}
	for _, object := range r.Objects {
		var o struct {
			Kind     string
			Metadata struct{ Namespace, Name string }
			Spec     struct{ Priority int64 }
		}
		if json.Unmarshal(object, &o) == nil && o.Kind == "Pod" {
			priorities[o.Metadata.Namespace+"/"+o.Metadata.Name] = o.Spec.Priority
		}
	}
	highest := int64(-1 << 40)
	for _, v := range victims {
		p, ok := priorities[v]
		require.True(t, ok, "victim %s is no pod of the case", v)
		highest = max(highest, p)
	}
	return [2]int64{highest, int64(len(victims))}
}
