package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
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
