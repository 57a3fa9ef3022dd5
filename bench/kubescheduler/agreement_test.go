package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/preempt-go/preempt/preemption"
)

// TestAgreement asks the real scheduler and the library the same about clusters that are the
// same each time, of every kind.
func TestAgreement(t *testing.T) {
	for _, k := range kinds {
		clusters, least := uint64(500), 10
		if k.gang {
			clusters, least = 200, 5
		}
		if testing.Short() {
			clusters /= 5
		}
		t.Run(k.name, func(t *testing.T) {
			verdicts := map[preemption.Verdict]int{}
			for seed := range clusters {
				verdict, err := k.compare(context.Background(), seed, true)
				if err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
				verdicts[verdict]++
			}
			t.Log(verdicts)
			if verdicts[preemption.Feasible] < int(clusters)/least {
				t.Errorf("only %d of %d questions had a candidate: too few to mean anything", verdicts[preemption.Feasible], clusters)
			}
		})
	}
}

// TestSamplesAreCutShort: enough of the searches whose limits are compared stop before the last
// node.
func TestSamplesAreCutShort(t *testing.T) {
	clusters, fewer := uint64(500), 0
	for seed := range clusters {
		for _, k := range kinds {
			if !k.sampled {
				continue
			}
			q, limits := k.question(seed), samplingOf(seed)
			all, err := preemption.Options{Rules: preemption.Kubernetes136, Candidates: true}.Preempt(q.Preemptor, &q.Snapshot)
			if err != nil {
				t.Fatal(err)
			}
			r, err := preemption.Options{Rules: preemption.Kubernetes136, Candidates: true, Sampling: &limits}.Preempt(q.Preemptor, &q.Snapshot)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Candidates) < len(all.Candidates) {
				fewer++
			}
		}
	}
	if fewer < int(clusters)/10 {
		t.Errorf("only %d of %d searches were cut short: too few to mean anything", fewer, clusters)
	}
}

// TestRandom asks about clusters that nobody has seen; the output names the seed.
func TestRandom(t *testing.T) {
	clusters := 300
	if testing.Short() {
		clusters = 60
	}
	var out strings.Builder
	err := random(context.Background(), &out, clusters, uint64(time.Now().UnixNano()))
	t.Log(out.String())
	if err != nil {
		t.Error(err)
	}
}

// TestEverySeedIsOneCluster: a difference is asked about again by its seed alone.
func TestEverySeedIsOneCluster(t *testing.T) {
	met := map[string]bool{}
	for seed := range uint64(len(kinds)) {
		met[kindOf(1_000_000+seed).name] = true
	}
	if len(met) != len(kinds) {
		t.Errorf("met %d of %d kinds", len(met), len(kinds))
	}
}
