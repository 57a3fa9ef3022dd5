package preemption_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// lives is the plain model of the table of states in lifecycle.go: what a planner of a few
// nodes and pods, which ask for cores alone, has to be.
type lives struct {
	now   int64
	cores map[string]int64 // by node that is there
	pods  map[string]plainPod

	planner *preemption.Planner
	results []*preemption.Result
}

// plainPod is one pod as the table sees it: pending without node or nominee.
type plainPod struct {
	cores, priority     int64
	node, nominee       string
	leaving             bool
	started, ran        int64 // 0: unknown, none
	evictions           int
	terminatesOtherwise bool
}

func (l *lives) free(node string) int64 {
	free := l.cores[node]
	for _, p := range l.pods {
		if p.node == node {
			free -= p.cores
		}
	}
	return free
}

// runs and waits are the two kinds of pods that a call may be about.
func (l *lives) runs(pod string) bool  { p, ok := l.pods[pod]; return ok && p.node != "" }
func (l *lives) waits(pod string) bool { p, ok := l.pods[pod]; return ok && p.node == "" }

// call makes a change that the table allows or forbids; then the model makes it, too.
func (l *lives) call(t *rapid.T, allowed bool, change func() error, model func()) {
	before := asJSON(t, l.planner.Snapshot())
	if err := change(); allowed {
		require.NoError(t, err)
		model()
		return
	} else {
		var field *cluster.FieldError
		require.ErrorAs(t, err, &field)
		require.Equal(t, before, asJSON(t, l.planner.Snapshot()), "after %v", err)
	}
}

// set changes one pod of the model.
func (l *lives) set(pod string, change func(p *plainPod)) func() {
	return func() {
		p := l.pods[pod]
		change(&p)
		l.pods[pod] = p
	}
}

// evict is what carrying out a result does to its victims.
func (l *lives) evict(r *preemption.Result, remove bool) {
	for _, v := range r.Victims {
		for _, ref := range v.Pods {
			if p := l.pods[ref.Name]; p.node != "" && remove {
				delete(l.pods, ref.Name)
			} else if p.node != "" {
				l.set(ref.Name, func(p *plainPod) { p.leaving = true })()
			}
		}
	}
}

// carryOut applies an answer: one that was just given is applied.
func (l *lives) carryOut(t *rapid.T, remove bool) {
	if len(l.results) == 0 {
		return
	}
	i := rapid.IntRange(0, len(l.results)-1).Draw(t, "result")
	r, before := l.results[i], asJSON(t, l.planner.Snapshot())
	v, validErr := l.planner.StillValid(r)
	apply := l.planner.Apply
	if remove {
		apply = l.planner.Evict
	}
	if err := apply(r); err != nil {
		require.ErrorIs(t, err, preemption.ErrNotApplicable)
		require.False(t, validErr == nil && v.Advice == preemption.Keep)
		require.Equal(t, before, asJSON(t, l.planner.Snapshot()))
		return
	}
	require.NotEmpty(t, r.Nominations)
	l.evict(r, remove)
	for _, ref := range r.Cleared {
		if l.waits(ref.Name) && l.pods[ref.Name].nominee == r.Nominations[0].Node {
			l.set(ref.Name, func(p *plainPod) { p.nominee = "" })()
		}
	}
	for _, n := range r.Nominations {
		require.True(t, l.waits(n.Pod.Name), "an answer is for who waits")
		l.set(n.Pod.Name, func(p *plainPod) { p.nominee = n.Node })()
	}
}

func (l *lives) actions() map[string]func(t *rapid.T) {
	pl := l.planner
	pod := func(t *rapid.T) (string, preemption.PodRef) {
		name := fmt.Sprint("p", rapid.IntRange(0, 6).Draw(t, "pod"))
		return name, preemption.PodRef{Name: name}
	}
	node := func(t *rapid.T) string { return fmt.Sprint("n", rapid.IntRange(0, 3).Draw(t, "node")) }
	return map[string]func(t *rapid.T){
		"Preempt": func(t *rapid.T) {
			if name, _ := pod(t); l.waits(name) {
				r, err := pl.Preempt(preemption.Preemptor{Kind: preemption.KindPod, Name: name})
				require.NoError(t, err)
				if r.Verdict == preemption.Feasible || r.Verdict == preemption.Fits {
					l.results = append(l.results, r)
				}
			}
		},
		"Apply": func(t *rapid.T) { l.carryOut(t, false) },
		"Evict": func(t *rapid.T) { l.carryOut(t, true) },
		"Bind": func(t *rapid.T) {
			name, ref := pod(t)
			to := node(t)
			_, there := l.cores[to]
			allowed := l.waits(name) && there && l.pods[name].cores <= l.free(to)
			l.call(t, allowed, func() error { return pl.Bind(ref, to) }, l.set(name, func(p *plainPod) {
				p.node, p.nominee, p.started = to, "", l.now
			}))
		},
		"Withdraw": func(t *rapid.T) {
			name, ref := pod(t)
			allowed := l.waits(name) && l.pods[name].nominee != ""
			l.call(t, allowed, func() error { return pl.Withdraw(ref) }, l.set(name, func(p *plainPod) { p.nominee = "" }))
		},
		"Spare": func(t *rapid.T) {
			name, ref := pod(t)
			l.call(t, l.pods[name].leaving, func() error { return pl.Spare(ref) }, l.set(name, func(p *plainPod) { p.leaving = false }))
		},
		"Requeue": func(t *rapid.T) {
			name, ref := pod(t)
			l.call(t, l.runs(name), func() error { return pl.Requeue(ref) }, l.set(name, func(p *plainPod) {
				if p.leaving {
					p.evictions, p.ran = p.evictions+1, max(0, l.now-p.started)
				}
				p.node, p.leaving, p.started = "", false, 0
			}))
		},
		"Remove": func(t *rapid.T) {
			name, ref := pod(t)
			_, there := l.pods[name]
			l.call(t, there, func() error { return pl.Remove(ref) }, func() { delete(l.pods, name) })
		},
		"RemoveNode": func(t *rapid.T) {
			name := node(t)
			_, there := l.cores[name]
			l.call(t, there, func() error { return pl.RemoveNode(name) }, func() { delete(l.cores, name) })
		},
		"RemoveNodeAndPods": func(t *rapid.T) {
			name := node(t)
			_, there := l.cores[name]
			var gone []string
			l.call(t, there, func() error {
				pods, err := pl.RemoveNodeAndPods(name)
				for _, p := range pods {
					gone = append(gone, p.Name)
				}
				return err
			}, func() {
				delete(l.cores, name)
				var want []string
				for _, p := range slices.Sorted(maps.Keys(l.pods)) {
					if l.pods[p].node == name {
						want = append(want, p)
						delete(l.pods, p)
					}
				}
				require.Equal(t, want, gone)
			})
		},
		"SetNode": func(t *rapid.T) {
			name, cores := node(t), rapid.Int64Range(1, 5).Draw(t, "cores")
			l.call(t, true, func() error {
				return pl.SetNode(preemption.Node{Name: name, Allocatable: preemption.Resources{cluster.CPU: cores}})
			}, func() { l.cores[name] = cores })
		},
		"SetPod": func(t *rapid.T) {
			name, _ := pod(t)
			p := plainPod{cores: rapid.Int64Range(1, 3).Draw(t, "cores"), priority: rapid.Int64Range(0, 3).Draw(t, "priority")}
			if rapid.Bool().Draw(t, "runs") {
				p.node, p.started = node(t), rapid.Int64Range(1, l.now).Draw(t, "started")
			}
			priority := int32(p.priority)
			set := preemption.Pod{
				Name: name, Node: p.node, Priority: &priority, Requests: preemption.Resources{cluster.CPU: p.cores},
			}
			if p.started > 0 {
				set.Started = time.Unix(p.started, 0)
			}
			l.call(t, true, func() error { return pl.SetPod(set) }, func() { l.pods[name] = p })
		},
		"SetTime": func(t *rapid.T) {
			l.now += rapid.Int64Range(0, 100).Draw(t, "seconds")
			require.NoError(t, pl.SetTime(time.Unix(l.now, 0)))
		},
		"": l.compare,
	}
}

// compare holds the planner against the model.
func (l *lives) compare(t *rapid.T) {
	got := map[string]plainPod{}
	require.NoError(t, l.planner.View(func(v preemption.View) {
		for p := range v.Pods() {
			one := plainPod{
				cores: p.Requests[cluster.CPU], priority: int64(*p.Priority), node: p.Node, nominee: p.NominatedNode,
				leaving: p.Preempted, ran: p.RanSeconds, evictions: len(p.Evictions), terminatesOtherwise: p.Terminating != p.Preempted,
			}
			if !p.Started.IsZero() {
				one.started = p.Started.Unix()
			}
			got[p.Name] = one
		}
		for name := range l.cores {
			require.Equal(t, l.free(name), v.Free(name)[cluster.CPU], "room on %s", name)
		}
	}))
	require.Equal(t, l.pods, got)
}

func statesAreThoseOfTheTable(t *rapid.T) {
	l := &lives{now: 1000, cores: map[string]int64{}, pods: map[string]plainPod{}}
	var err error
	l.planner, err = preemption.NewPlanner(&preemption.Snapshot{Time: time.Unix(l.now, 0)}, preemption.Options{})
	require.NoError(t, err)
	actions := l.actions()
	for i, name := range strings.Fields("SetNode SetPod SetPod Preempt Preempt Apply Apply Bind Bind") {
		actions[fmt.Sprint(name, " too ", i)] = actions[name]
	}
	t.Repeat(actions)
}

func TestStatesAreThoseOfTheTable(t *testing.T) { rapid.Check(t, statesAreThoseOfTheTable) }

func FuzzStatesAreThoseOfTheTable(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(statesAreThoseOfTheTable))
}

// TestBindNeedsRoom: of everything that a node has so much of.
func TestBindNeedsRoom(t *testing.T) {
	node := preemption.Node{Name: "n", Allocatable: preemption.Resources{cluster.CPU: 4, cluster.Pods: 2}}
	runs := preemption.Pod{Name: "a", Node: "n", Requests: preemption.Resources{cluster.CPU: 1}, Ports: []cluster.HostPort{{Port: 80}}}
	for want, waits := range map[string]preemption.Pod{
		`(cpu short by 2)`:           {Requests: preemption.Resources{cluster.CPU: 5}},
		`(gpu short by 1)`:           {Requests: preemption.Resources{"gpu": 1}},
		`(host port 80/TCP)`:         {Ports: []cluster.HostPort{{Port: 81}, {Port: 80}}},
		``:                           {Requests: preemption.Resources{cluster.CPU: 3}},
		`(device nvidia/x: 1 whole)`: {Devices: []cluster.DeviceRequest{{Resource: "nvidia/x", Count: 1}}},
	} {
		waits.Name = "b"
		pl, err := preemption.NewPlanner(&preemption.Snapshot{Nodes: []preemption.Node{node}, Pods: []preemption.Pod{runs, waits}}, preemption.Options{})
		require.NoError(t, err)
		bind := func() error { return pl.Bind(preemption.PodRef{Name: "b"}, "n") }
		if want == "" {
			require.NoError(t, bind())
			require.NoError(t, pl.SetPod(preemption.Pod{Name: "c"}))
			full := refuses(t, pl, func() error { return pl.Bind(preemption.PodRef{Name: "c"}, "n") })
			require.EqualError(t, full, `cluster: Pod "c": Node: "n" is not a node with room for it (pods short by 1)`)
			continue
		}
		require.EqualError(t, refuses(t, pl, bind), `cluster: Pod "b": Node: "n" is not a node with room for it `+want)
	}
}
