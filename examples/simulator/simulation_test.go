package simulator

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
)

// small is a synthetic farm that takes a moment, with failures of nodes.
func small(seed uint64) *Farm {
	y := Synthetic{Seed: seed, Nodes: 20, Jobs: 600, Load: 1.2}
	if testing.Short() {
		y.Jobs = 300
	}
	f := y.Farm()
	for i, n := range f.Nodes {
		if j := &f.Jobs[i+9]; j.Pods == 1 {
			j.Node = n.Name
		}
	}
	r := rand.New(rand.NewPCG(seed, 2))
	for range 30 {
		n, at := f.Nodes[r.IntN(20)], time.Duration(r.IntN(40))*time.Hour
		again := at + time.Duration(1+r.IntN(5))*time.Hour
		if !slices.ContainsFunc(f.Changes, func(c Change) bool { return c.Node.Name == n.Name }) {
			moved := n
			moved.Labels = maps.Clone(n.Labels)
			moved.Labels[Rack] = f.Nodes[0].Labels[Rack]
			f.Changes = append(f.Changes, Change{At: at, Node: n, Gone: true}, Change{At: again, Node: n}, Change{At: again, Node: moved})
		}
	}
	return f
}

// several are policies that have a say in everything: when to ask, whom, and at what price.
func several(t testing.TB) []Policy {
	list := BuiltIn(GPU)
	for _, text := range []string{
		`cooldown={"noCascade": true, "guards": {"cooldown": {"evictions": 2, "seconds": 7200}}}`,
		`equals={"guards": {"equalAfterSeconds": 3600, "cooldown": {"evictions": 1, "seconds": 3600}}}`,
		`window={"limits": {"window": {"seconds": 3600, "pods": 10}}}`,
	} {
		p, err := ReadPolicy(text, GPU)
		require.NoError(t, err)
		list = append(list, p)
	}
	return list
}

var settings = Settings{Grace: 90 * time.Second, Checkpoint: time.Hour}

// TestConservation: after every moment each node holds what runs there and no more, in the
// planner and in the books alike; every run that begins ends once, done, evicted or with its
// node; and every job is done in the end.
func TestConservation(t *testing.T) {
	for _, p := range several(t) {
		t.Run(p.Name, func(t *testing.T) {
			s, err := New(small(1), settings, p)
			require.NoError(t, err)
			waited := make([]time.Duration, len(s.jobs))
			for i, more := 0, true; more; i++ {
				before, then := slices.Clone(s.jobs), s.now
				more, err = s.Step()
				require.NoError(t, err)
				look(t, s)
				for j, l := range before {
					switch l.State {
					case waiting:
						waited[j] += s.now - then
					case running:
						waited[j] += max(min(s.now, l.Since)-then, 0)
					}
					now, ran := &s.jobs[j], l.Ran
					if now.Evicted > l.Evicted && p.remembers() {
						ran = max(s.now-l.Since, 0)
					}
					if now.Ran != ran {
						t.Fatal(now, ran)
					}
				}
				if i%16 == 0 {
					require.Equal(t, slices.Max(waited), s.Outcome().Rows[0].WaitMax)
				}
			}
			var runs, ended int64
			for j := range s.jobs {
				require.Equal(t, done, s.jobs[j].State, s.list[j].Name)
				require.Equal(t, waited[j], s.jobs[j].Waited)
				runs += int64(s.jobs[j].Run)
			}
			all := s.Outcome().Rows[0]
			ended = all.Done + all.Evictions + all.Failures
			require.Equal(t, runs, ended)
			require.Positive(t, all.Failures)
			require.LessOrEqual(t, all.Preemptions, all.Evictions)
			require.Equal(t, !p.Never, all.Evictions > 0)
			useful := 0.0
			for _, j := range s.list {
				useful += float64(j.Requests[GPU]*int64(max(j.Pods, 1))) * j.Takes.Hours()
			}
			require.InDelta(t, useful, all.Useful, 1e-6)
		})
	}
}

// look compares the books with the planner.
func look(t *testing.T, s *Simulation) {
	t.Helper()
	require.NoError(t, s.Planner().View(func(v preemption.View) {
		capacity := s.capacity
		for i := range s.machines {
			m := &s.machines[i]
			if m.up != (v.Node(m.node.Name) != nil) { // not by require, which costs more than what it looks at
				t.Fatalf("%s is up: %t", m.node.Name, m.up)
			}
			if !m.up {
				require.Empty(t, m.jobs)
				continue
			}
			capacity -= m.measured
			free := v.Free(m.node.Name)[GPU]
			pods := slices.Collect(v.PodsOn(m.node.Name))
			if free < 0 || free != m.free[0] || len(pods) != len(m.jobs) {
				t.Fatalf("%s: %d free, %d pods; in the books %d and %d", m.node.Name, free, len(pods), m.free[0], len(m.jobs))
			}
			racks(t, s, m, pods)
		}
		require.Zero(t, capacity)
		require.Empty(t, slices.Collect(v.Pending()))
	}))
}

// racks checks that gangs run whole, within a rack.
func racks(t *testing.T, s *Simulation, m *machine, pods []*preemption.Pod) {
	for _, pod := range pods {
		j := s.numberOf(pod.Name)
		if places := len(s.jobs[j].Places); places != max(s.list[j].Pods, 1) {
			t.Fatalf("%s has %d places", pod.Name, places)
		}
		for _, place := range s.jobs[j].Places {
			if s.list[j].Within != "" && m.node.Labels[Rack] != s.machines[place].node.Labels[Rack] {
				t.Fatalf("%s is in several racks", pod.Name)
			}
		}
	}
}

// TestNobodyWaitsForNothing: whoever waits after a moment is told to wait by a planner of
// its own, too, if the policy does not heed the time.
func TestNobodyWaitsForNothing(t *testing.T) {
	b := newBooks(&Farm{})
	require.Equal(t, []int32{0, 2}, newQueues([]*Job{{Pods: 2}, {Pods: 2, Within: Rack}}, &b, Policy{}).of)
	for _, name := range []string{"default", "kubernetes136", "work", "tie"} {
		p, err := ReadPolicy(name, GPU)
		require.NoError(t, err)
		s, err := New(small(2), settings, p)
		require.NoError(t, err)
		asked := 0
		for step := 0; ; step++ {
			more, err := s.Step()
			require.NoError(t, err)
			if !more {
				break
			}
			if step%20 != 0 {
				continue
			}
			snapshot := s.planner.Snapshot()
			snapshot.Time = s.clock()
			for _, n := range s.filled {
				r, err := p.Options.Preempt(s.inline(s.queue[n].jobs[0]), snapshot)
				require.NoError(t, err)
				require.Contains(t, []preemption.Verdict{preemption.Infeasible, preemption.NotEligible}, r.Verdict)
				asked++
			}
		}
		require.Positive(t, asked)
	}
}

// report is everything that is written about a comparison.
func report(t *testing.T, c *Comparison) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, WriteTable(&b, c.Outcomes()))
	require.NoError(t, WriteCSV(&b, c.Outcomes()))
	require.NoError(t, WritePage(&b, c.farm, "a report", c.Outcomes()))
	return b.Bytes()
}

// TestSameSeedSameBytes: however many processors there are.
func TestSameSeedSameBytes(t *testing.T) {
	var reports []string
	for _, processors := range []int{1, 2, 8} {
		before := runtime.GOMAXPROCS(processors)
		c, err := Compare(small(3), settings, several(t))
		require.NoError(t, err)
		require.NoError(t, c.Run())
		reports = append(reports, string(report(t, c)))
		runtime.GOMAXPROCS(before)
	}
	require.Equal(t, reports[0], reports[1])
	require.Equal(t, reports[0], reports[2])
}

// TestResumeIsAsIfUninterrupted: a comparison that is saved and read anew every now and then
// reports what one reports that runs through.
func TestResumeIsAsIfUninterrupted(t *testing.T) {
	settings := settings
	settings.Grace, settings.Until = 20*time.Minute, 100*time.Hour // long enough for many a state to have somebody in it
	through, err := Compare(small(4), settings, several(t))
	require.NoError(t, err)
	require.NoError(t, through.Run())

	c, err := Compare(small(4), settings, several(t))
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(4, 4))
	saves := 0
	for next := 10; ; next-- {
		more, err := c.Step()
		require.NoError(t, err)
		if !more {
			break
		}
		if next > 0 {
			continue
		}
		next = r.IntN(400)
		var b bytes.Buffer
		require.NoError(t, c.Save(&b))
		c, err = Compare(small(4), settings, several(t))
		require.NoError(t, err)
		require.NoError(t, c.Resume(&b))
		saves++
	}
	require.Greater(t, saves, 10)
	require.Equal(t, string(report(t, through)), string(report(t, c)))
}

func TestAnotherStateIsRefused(t *testing.T) {
	c, err := Compare(small(5), settings, BuiltIn(GPU)[1:])
	require.NoError(t, err)
	for range 50 {
		_, err := c.Step()
		require.NoError(t, err)
	}
	var b bytes.Buffer
	require.NoError(t, c.Save(&b))
	for _, other := range []struct {
		farm     *Farm
		settings Settings
		policies []Policy
	}{
		{small(6), settings, BuiltIn(GPU)[1:]},
		{small(5), Settings{}, BuiltIn(GPU)[1:]},
		{small(5), settings, BuiltIn(GPU)},
	} {
		c, err := Compare(other.farm, other.settings, other.policies)
		require.NoError(t, err)
		require.ErrorIs(t, c.Resume(bytes.NewReader(b.Bytes())), ErrOtherState)
	}
	require.ErrorContains(t, c.Resume(bytes.NewReader([]byte("{"))), "cannot be read")
}
