package preemption_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/naivequota"
	"github.com/preempt-go/preempt/internal/quotatext"
	"github.com/preempt-go/preempt/internal/scenario"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

var update = flag.Bool("update", false, "rewrite the transcripts of the scenarios")

// TestScenarios answers every scenario as its transcript says, and as the plain
// twin does.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var now []string
		for name, text := range scenario.Sections(string(text)) {
			now = append(now, "== "+name+"\n"+text) // of those that -run leaves out, as it is
			t.Run(name, func(t *testing.T) {
				s, err := scenario.Parse(name, text)
				require.NoError(t, err)
				got := s.Transcript()
				now[len(now)-1] = "== " + name + "\n" + s.File(got)
				if diff := cmp.Diff(s.Want, got); diff != "" && !*update {
					t.Errorf("(-want +got):\n%s", diff)
				}
				for _, q := range s.Questions() {
					agrees(t, s, q)
				}
			})
		}
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(strings.Join(now, "\n")), 0o644))
		}
	}
}

// agrees asks the twin what a scenario asks, if it is one that the twin answers.
func agrees(t *testing.T, s *scenario.Scenario, q scenario.Question) {
	t.Helper()
	if _, err := q.Options.Preempt(q.Preemptor, q.Snapshot); err != nil || beyondTheTwin(s, q) {
		return
	}
	asked := gen.Question{Snapshot: *q.Snapshot, Preemptor: q.Preemptor}
	if q.Preemptor.Kind != cluster.KindPod {
		gangScenarioAgrees(t, q.Options, asked)
	} else if diff, _ := disagreement(q.Options, asked); diff != "" {
		t.Errorf("%s: %s", q.Title, diff)
	}
}

// beyondTheTwin reports whether a question is about more than the twin knows:
// constraints between pods, patience, and for single pods the early text's rules.
func beyondTheTwin(s *scenario.Scenario, q scenario.Question) bool {
	between := func(p preemption.Pod) bool {
		return len(p.Affinity)+len(p.AntiAffinity)+len(p.Spread)+len(p.Tokens)+len(p.Devices) > 0
	}
	single := q.Options.Rules == preemption.KEP5710Alpha || q.Options.LowestLevel || q.Options.BrokenGroupsFree
	return q.Preemptor.Kind == cluster.KindPod && single || q.Options.Members != "" ||
		q.Options.Guards.Toleration == priority.TolerationDesign || q.Options.PreemptionPriority.Apart ||
		q.Options.NoCascade || q.Options.WaitSeconds > 0 || q.Options.PreferMovable ||
		q.Options.HardBudgets.All || len(q.Options.HardBudgets.Names) > 0 ||
		q.Options.Limits != preemption.Limits{} || !q.Options.Cost.Tariff.Free() ||
		slices.ContainsFunc(s.Snapshot.PodGroups, func(g cluster.PodGroup) bool { return g.Mode == disruption.SurplusFirst }) ||
		slices.ContainsFunc(s.Snapshot.Pods, between) || slices.ContainsFunc(q.Preemptor.Pods, between)
}

// refuseAll is a constraint that lets nobody in, and counts how often it was asked.
type refuseAll struct{ asked *int }

func (refuseAll) Name() domain.Check { return "refuse all" }
func (r refuseAll) Prepare(*cluster.Index, []*cluster.Pod) (domain.State, error) {
	return r, nil
}
func (refuseAll) Remove(cluster.PodID, cluster.NodeID)    {}
func (refuseAll) Return(cluster.PodID, cluster.NodeID)    {}
func (refuseAll) Place(domain.MemberID, cluster.NodeID)   {}
func (refuseAll) Unplace(domain.MemberID, cluster.NodeID) {}
func (r refuseAll) Clone() domain.State                   { return r }
func (refuseAll) Scope() domain.Scope                     { return domain.Scope{NodeLocal: true, Monotone: true} }
func (r refuseAll) Fits(domain.MemberID, cluster.NodeID) domain.Reason {
	*r.asked++
	return domain.Reason{Check: "refuse all"}
}

// TestAConstraintThatRefusesEverything: rows 1 to 3 of upstream's dry run. The
// constraint is asked once for each node with everybody in place, and once with
// the potential victims gone.
func TestAConstraintThatRefusesEverything(t *testing.T) {
	s, err := scenario.Parse("x.txt", "# Two nodes with room after evictions.\nnodes n1 cpu=5 n2 cpu=5\n"+
		"pods a@n1 prio=0 cpu=1 b@n2 prio=0 cpu=1\npreempt p prio=1000 cpu=1\n")
	require.NoError(t, err)
	asked := 0
	r, err := preemption.Options{Hooks: &preemption.Hooks{Constraints: []domain.Constraint{refuseAll{&asked}}}}.
		Preempt(s.Preemptors[0], &s.Snapshot)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, r.Verdict)
	require.Equal(t, []preemption.Rejection{{Reason: "refuse all", Domains: 2}}, r.Rejected)
	require.Nil(t, r.Nearest, "nothing that can be relaxed would do")
	require.True(t, r.Stats.Hooks)
	require.GreaterOrEqual(t, asked, 4)
}

// TestQuotaScenarios answers every scenario as its transcript says, with shares as
// fractions and as Kueue's floats, and so does the twin.
func TestQuotaScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/quota/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			scenarios, err := quotatext.Parse(string(text))
			require.NoError(t, err)
			answers := map[string]string{}
			for _, s := range scenarios {
				require.NotContains(t, answers, s.Name, "two scenarios of one name")
				got, err := s.Answer()
				require.NoError(t, err, s.Name)
				answers[s.Name] = got
				if !*update {
					require.Equal(t, s.Want, got, s.Name)
				}
				if twin, ok := twinText(s); ok {
					require.Equal(t, twin, got, "%s: the twin differs", s.Name)
				}
				s.Options.Quota.KueueFloat = true
				float, err := s.Answer()
				require.NoError(t, err)
				require.Equal(t, got, float, "%s: with Kueue's floats", s.Name)
			}
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(quotatext.Rewrite(string(text), answers)), 0o644))
			}
		})
	}
}

// twinText is the twin's transcript of a search for victims.
func twinText(s *quotatext.Scenario) (string, bool) {
	if s.Evict == nil {
		return "", false
	}
	w := naivequota.NewWorld(&s.Snapshot)
	q := &naivequota.Question{
		W: s.Evict, Queue: w.Queues[s.Evict.Queue], Request: naivequota.Amounts{}, Contested: map[naivequota.FR]bool{},
	}
	set := s.Evict.PodSets[0]
	for resource, flavor := range set.Flavors {
		fr := naivequota.FR{Flavor: flavor, Resource: resource}
		if v := set.Requests[resource]; v > 0 {
			q.Request[fr] = v
		}
		q.Contested[fr] = true
		for _, free := range s.Free {
			if free == resource {
				delete(q.Contested, fr)
			}
		}
	}
	c := quotaCase{&s.Snapshot, preemption.Options{Quota: s.Options.Quota}}
	grounds := map[string]string{}
	for _, v := range w.Search(q, twinOptions(c)) {
		grounds[v.W.Name] = v.Reason
	}
	return quotatext.RenderVictims(grounds), true
}
