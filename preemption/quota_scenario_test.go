package preemption_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/naivequota"
	"github.com/preempt-go/preempt/internal/quotatext"
	"github.com/preempt-go/preempt/preemption"
)

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
