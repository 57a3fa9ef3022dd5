package preemption_test

import (
	"flag"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/internal/naivequota"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestQuotaAnswersAsItsTwin: status, flavors, borrowing, victims, grounds and
// counts are those of the plain twin, which shares no decision with the library.
func TestQuotaAnswersAsItsTwin(t *testing.T) {
	rapid.Check(t, quotaAnswersAsItsTwin)
	for seed := range uint64(*quotaSeeds) {
		if diff := quotaDisagreement(t, seededQuota(seed)); diff != "" {
			t.Fatalf("seed %d: (-twin +library)\n%s", seed, diff)
		}
	}
}

var quotaSeeds = flag.Int("quota-seeds", 1000, "how many random quota questions are compared with the twin")

func FuzzQuotaAnswersAsItsTwin(f *testing.F) { f.Fuzz(rapid.MakeFuzz(quotaAnswersAsItsTwin)) }

func quotaAnswersAsItsTwin(t *rapid.T) {
	if diff := quotaDisagreement(t, drawQuota(t)); diff != "" {
		t.Fatalf("(-twin +library)\n%s", diff)
	}
}

// failer is a test or one of rapid's.
type failer interface{ Fatal(args ...any) }

func quotaDisagreement(t failer, c quotaCase) string {
	got := askQuota(t, c)
	if got.Verdict == preemption.NotEligible {
		return "" // its queue is stopped, which the twin does not look at
	}
	return cmp.Diff(askTwin(c), quotaAnswer(got))
}

var quotaPreemptor = preemption.Preemptor{Kind: cluster.KindWorkload, Namespace: "ns", Name: "in"}

func askQuota(t failer, c quotaCase) *preemption.Result {
	r, err := c.options.Preempt(quotaPreemptor, c.snapshot)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func askTwin(c quotaCase) naivequota.Answer {
	return naivequota.Ask(c.snapshot, "ns", "in", twinOptions(c))
}

func twinOptions(c quotaCase) naivequota.Options {
	o := naivequota.Options{}
	if fair := c.options.Quota.FairSharing; fair != nil {
		o.Fair = true
		for _, s := range fair.Strategies {
			o.Strategies = append(o.Strategies, map[preemption.FairStrategy]string{
				preemption.LessThanOrEqualToFinalShare: "a", preemption.LessThanInitialShare: "b",
			}[s])
		}
	}
	return o
}

// quotaAnswer puts a result into the twin's form.
func quotaAnswer(r *preemption.Result) naivequota.Answer {
	a := naivequota.Answer{Flavors: map[string]string{}, Victims: map[string]string{}}
	a.Status = map[preemption.Verdict]string{
		preemption.Fits: "fits", preemption.Feasible: "preempt", preemption.Infeasible: "unschedulable",
	}[r.Verdict]
	a.Borrowing, a.Counts = r.Quota.Borrowing, r.Quota.Counts
	for _, f := range r.Quota.Flavors {
		a.Flavors[f.PodSet+"/"+f.Resource] = f.Flavor
	}
	for _, v := range r.Victims {
		a.Victims[v.Namespace+"/"+v.Name] = string(v.Quota.Reason)
	}
	return a
}
