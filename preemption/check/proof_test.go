package check_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
)

func TestMain(m *testing.M) { gen.Tests(m) }

// TestAProofWhereNoneIsGivenIsFound: where nothing can be shown, nobody has to go, or the preemptor may not preempt, nothing
// is proved, whatever is claimed.
func TestAProofWhereNoneIsGivenIsFound(t *testing.T) {
	claim := &preemption.Proof{Bound: []preemption.Criterion{{Name: "pods", Value: 1 << 40}}}
	met := map[string]int{}
	for seed := range uint64(2000) {
		q, o := randomQuestion(seed)
		switch seed % 4 {
		case 0:
			q, o = gen.RandomQuota(seed)
		case 1:
			q = gen.RandomWorld(seed)
		}
		o.Proof = true
		r, err := o.Preempt(q.Preemptor, &q.Snapshot)
		if err != nil || r.Proof != nil {
			continue
		}
		about := string(r.Preemptor.Kind) + " " + string(r.Verdict)
		if r.Quota != nil {
			about += ", of a queue"
		} else if r.Preemptor.Kind == preemption.KindPod && r.Verdict == preemption.Infeasible {
			continue // that nothing helps is true, and may be shown by nothing
		}
		met[about]++
		for _, p := range []*preemption.Proof{claim, {}} {
			r.Proof = p
			problems := check.Verify(&q.Snapshot, o, q.Preemptor, r)
			require.NotEmpty(t, problems, "seed %d: %s", seed, about)
			require.Contains(t, rulesOf(problems), check.RuleProof, "seed %d: %s", seed, about)
		}
	}
	t.Log(met)
	for _, about := range []string{
		"Pod fits without preemption", "Pod not eligible", "Pod waiting", "PodGroup feasible, of a queue", "PodGroup feasible", "PodGroup infeasible", "PodGroup fits without preemption",
		"Workload feasible, of a queue", "Workload fits without preemption, of a queue", "Workload infeasible, of a queue",
	} {
		require.Positive(t, met[about], about)
	}
}

func rulesOf(problems []check.Problem) (list []check.Rule) {
	for _, p := range problems {
		list = append(list, p.Rule)
	}
	return list
}
