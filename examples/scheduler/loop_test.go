package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
)

// witness looks at the cluster whenever something is said of it.
type witness struct {
	t *testing.T
	s *scheduler
	bytes.Buffer
}

func (w *witness) Write(line []byte) (int, error) {
	w.look()
	return w.Buffer.Write(line)
}

// look checks that no node is promised to more than it holds, and that who runs in a gang
// does so in one rack.
func (w *witness) look() {
	require.NoError(w.t, w.s.planner.View(func(v preemption.View) {
		racks := map[string]string{}
		for n := range v.Nodes() {
			require.GreaterOrEqual(w.t, v.Free(n.Name)[gpu], int64(0), n.Name)
			for pod := range v.PodsOn(n.Name) {
				if at, ok := racks[pod.Group]; ok && pod.Group != "" {
					require.Equal(w.t, at, n.Labels[rack], pod.Name)
				}
				racks[pod.Group] = n.Labels[rack]
			}
		}
	}))
}

// live lets 60 jobs of a seed run on six nodes, of which one is drained and replaced every
// hour or so, and returns what is said and how the scheduler stands at the end.
func live(t *testing.T, seed uint64) (string, *scheduler) {
	w := &witness{t: t}
	r := rand.New(rand.NewPCG(seed, 0))
	planner, err := preemption.NewPlanner(nil, preemption.Options{})
	require.NoError(t, err)
	start := time.Unix(0, 0).UTC()
	s := &scheduler{diary: diary{now: start, out: w}, planner: planner, grace: time.Minute, jobs: map[string]*job{}}
	w.s = s
	for i := range 6 {
		name := fmt.Sprint(string("ab"[i/3]), i%3)
		require.NoError(t, s.add(node(name)))
		for hour := range 5 {
			at := time.Duration(hour)*time.Hour + time.Duration(r.IntN(2400))*time.Second
			s.after(at, func() error { return s.drain(name) })
			s.after(at+10*time.Minute, func() error { return s.add(node(name)) })
		}
	}
	for i := range 60 {
		j := &job{name: fmt.Sprint("j", i), priority: int32(r.IntN(4)), pods: 1, gpus: 1 + r.Int64N(8)}
		if r.IntN(3) == 0 {
			j.pods = 2 + r.IntN(3)
		}
		j.takes, j.arrived = time.Duration(r.IntN(3600))*time.Second, start.Add(time.Duration(r.IntN(3*3600))*time.Second)
		s.after(j.arrived.Sub(start), func() error { return s.submit(j) })
	}
	require.NoError(t, s.run(), w.String())
	w.look()
	return w.String(), s
}

// TestTheLoop: nobody runs where there is no room, gangs run in a rack, and in the end
// everybody is done but those for whom there is no place at all, as the planner says when
// it is asked anew.
func TestTheLoop(t *testing.T) {
	seeds := uint64(8)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		said, s := live(t, seed)
		again, _ := live(t, seed)
		require.Equal(t, said, again)
		require.Contains(t, said, "has left")
		require.Len(t, s.jobs, len(s.queue))
		snapshot := s.planner.Snapshot()
		for _, j := range s.queue {
			result, err := preemption.Preempt(j.ask(), snapshot)
			require.NoError(t, err)
			require.Equal(t, preemption.Infeasible, result.Verdict, "%d: %s", seed, j.name)
		}
	}
}

// The morning that the command prints.
func Example() {
	if err := morning(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 09:00:00 notebook arrives: priority 50, 1 x 2 GPUs for 3h0m0s
	// 09:00:00 notebook runs on a1
	// 09:00:00 sweep arrives: priority 10, 2 x 8 GPUs for 2h0m0s
	// 09:00:00 sweep-0 runs on b1
	// 09:00:00 sweep-1 runs on b2
	// 09:05:00 batch arrives: priority 0, 1 x 8 GPUs for 1h0m0s
	// 09:05:00 batch runs on a2
	// 09:05:00 eval arrives: priority 10, 1 x 6 GPUs for 1h0m0s
	// 09:05:00 eval runs on a1
	// 09:10:00 train arrives: priority 100, 2 x 8 GPUs for 1h0m0s
	// 09:10:00 train all 2 pods of train fit in example.com/rack=b once pod group sweep (2 pods) is evicted
	// 09:10:00 sweep has 30s to leave
	// 09:10:30 sweep has left
	// 09:10:30 train-0 runs on b1
	// 09:10:30 train-1 runs on b2
	// 09:10:30 sweep waits: no evictions help: room for 1 of the 2 pods that sweep needs
	// 09:20:00 c1 is added
	// 09:20:00 c2 is added
	// 09:20:00 sweep-0 runs on c1
	// 09:20:00 sweep-1 runs on c2
	// 09:25:00 urgent arrives: priority 1000, 1 x 4 GPUs for 10m0s
	// 09:25:00 urgent fits on a2 once 1 pod is evicted
	// 09:25:00 batch has 30s to leave
	// 09:25:30 batch has left
	// 09:25:30 urgent runs on a2
	// 09:25:30 batch waits: no evictions help
	// 09:30:00 a2 is drained
	// 09:30:00 urgent has 30s to leave
	// 09:30:30 urgent has left
	// 09:30:30 urgent fits on a1 once 1 pod is evicted
	// 09:30:30 eval has 30s to leave
	// 09:30:30 a2 is gone
	// 09:31:00 eval has left
	// 09:31:00 urgent runs on a1
	// 09:31:00 eval waits: no evictions help
	// 09:40:00 giant arrives: priority 100, 3 x 8 GPUs for 1h0m0s
	// 09:40:00 giant waits: no evictions help: room for 2 of the 3 pods that giant needs
	// 09:41:00 urgent is done
	// 09:41:00 eval runs on a1
	// 09:50:00 c3 is added
	// 09:50:00 giant all 3 pods of giant fit in example.com/rack=c once pod group sweep (2 pods) is evicted
	// 09:50:00 sweep has 30s to leave
	// 09:50:30 sweep has left
	// 09:50:30 giant-0 runs on c1
	// 09:50:30 giant-1 runs on c2
	// 09:50:30 giant-2 runs on c3
	// 09:50:30 sweep waits: no evictions help
	// 10:10:30 train is done
	// 10:10:30 sweep-0 runs on b1
	// 10:10:30 sweep-1 runs on b2
	// 10:41:00 eval is done
	// 10:50:30 giant is done
	// 10:50:30 batch runs on c1
	// 11:50:30 batch is done
	// 12:00:00 notebook is done
	// 12:10:30 sweep is done
}
