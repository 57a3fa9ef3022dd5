package preemption

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

// TestQuestionsFindAChangeWholeOrNotAtAll: a question finds pods and quota before a change
// or after it, and goes on about what it has found.
func TestQuestionsFindAChangeWholeOrNotAtAll(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	low, high := int32(0), int32(9)
	snapshot := &Snapshot{
		Time:  start,
		Nodes: []cluster.Node{{Name: "n", Allocatable: Resources{"cpu": 5}}},
		Pods: []Pod{
			{Name: "web", Queue: "team", Priority: &high, Requests: Resources{"cpu": 4}},
			{Name: "old", Node: "n", Priority: &low, Requests: Resources{"cpu": 1}},
			{Name: "stays", Node: "n", Queue: "team", Priority: &high, Requests: Resources{"cpu": 1}}, // no live cluster follows it
		},
		ResourceFlavors: []ResourceFlavor{{Name: "any"}},
		ClusterQueues: []ClusterQueue{{
			Name: "all", Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{
				Flavor: "any", Resources: []cluster.ResourceQuota{{Resource: "cpu", Nominal: 5}},
			}}}},
			Preemption: cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority},
		}},
		LocalQueues: []LocalQueue{{Name: "team", ClusterQueue: "all"}},
		Workloads: []Workload{{
			Name: "job", Queue: "team", Admission: &cluster.Admission{ClusterQueue: "all"},
			PodSets: []cluster.PodSet{{Name: "main", Count: 1, Requests: Resources{"cpu": 1}, Flavors: map[string]string{"cpu": "any"}}},
		}},
	}
	for name, x := range map[string]struct {
		change func(pl *Planner) error
		look   func(c *live.Cluster, m *workload.Model) [2]bool // whether pods, and quota, are as they were
	}{
		"time": {
			func(pl *Planner) error { return pl.SetTime(start.Add(time.Hour)) },
			func(c *live.Cluster, m *workload.Model) [2]bool {
				return [2]bool{c.Index.Time().Equal(start), m.Held("", "job").Reserved == cluster.Nanos(start)}
			},
		},
		"an answer": {
			func(pl *Planner) error {
				r, err := pl.Preempt(Preemptor{Kind: cluster.KindPod, Name: "web"})
				if err != nil {
					return err
				}
				return pl.Evict(r)
			},
			func(c *live.Cluster, m *workload.Model) [2]bool {
				return [2]bool{c.Index.PodByName("", "old") != cluster.NoPod, m.Held("", "job") != nil}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 1000 {
				pl, err := NewPlanner(snapshot, Options{})
				require.NoError(t, err)
				require.NoError(t, pl.SetWorkload(snapshot.Workloads[0]), "its quota is its own")
				var done atomic.Bool
				found := make(chan string, 1)
				go func() {
					defer close(found)
					for last := false; !last; {
						last = done.Load()
						now, err := pl.hold()
						if err != nil {
							found <- err.Error()
							return
						}
						first := x.look(now.ready, now.quota)
						runtime.Gosched()
						then := x.look(now.ready, now.quota)
						now.release()
						if first[0] != first[1] || then != first || last && first[0] {
							found <- fmt.Sprint("pods and quota are as they were: ", first, ", then ", then)
							return
						}
					}
				}()
				runtime.Gosched()
				err = x.change(pl)
				done.Store(true)
				require.Empty(t, <-found)
				require.NoError(t, err)
			}
		})
	}
}
