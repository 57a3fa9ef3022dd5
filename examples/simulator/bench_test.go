package simulator

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkSimulator lives through whole farms: an operation is all of it, the preparation
// apart. Recorded farms are skipped where they are not there.
func BenchmarkSimulator(b *testing.B) {
	for _, nodes := range []int{200, 12_477} {
		policies := []string{"none", "default", "guaranteed", "work"}
		if nodes > 200 {
			policies = policies[:2]
		}
		for _, policy := range policies {
			b.Run(fmt.Sprintf("farm=synthetic/nodes=%d/policy=%s", nodes, policy), func(b *testing.B) {
				if testing.Short() && (nodes > 200 || policy == "work") {
					b.Skip("takes its time")
				}
				farm := Synthetic{Seed: 1, Nodes: nodes, Jobs: min(100*nodes, 200_000), Load: 1}.Farm()
				simulate(b, farm, Settings{Grace: 30 * time.Second, Checkpoint: time.Hour}, policy)
			})
		}
	}
	for _, name := range []string{"borg2011", "borg2011-full", "borg2011/cell500-full"} {
		b.Run("farm="+name+"/policy=default", func(b *testing.B) {
			if testing.Short() {
				b.Skip("large")
			}
			farm, until, err := ReadRecorded(filepath.Join("..", "..", "..", "shared", "data"), name)
			if err != nil {
				b.Skip(err)
			}
			simulate(b, farm, Settings{Grace: 10 * time.Second, Until: until}, "default")
		})
	}
}

func simulate(b *testing.B, farm *Farm, settings Settings, policy string) {
	p, err := ReadPolicy(policy, farm.Measured)
	if err != nil {
		b.Fatal(err)
	}
	events, evictions := int64(0), int64(0)
	for b.Loop() {
		b.StopTimer()
		s, err := New(farm, settings, p)
		b.StartTimer()
		if err == nil {
			err = s.Run()
		}
		if err != nil {
			b.Fatal(err)
		}
		events += s.Events()
		evictions += s.Outcome().Rows[0].Evictions
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(events)/float64(b.N), "events/op")
	b.ReportMetric(float64(evictions)/float64(b.N), "evictions/op")
}
