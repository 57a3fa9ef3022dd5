package check

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// state is a situation: everything in it is relative to now, and what is longer ago
// than the horizon is at it.
type state struct {
	pods   []podState
	groups []groupState
	done   []cluster.Disruption // within the window; Time counts from the epoch, which is now
}

// podState is what changes about a pod. Ages are in seconds.
type podState struct {
	node      int     // -1: pending
	nominated int     // -1: nowhere
	created   int64   // of a pending one; 0 if it runs: nothing looks at it then
	started   int64   // of a running one; 0 if it is pending
	evicted   []int64 // youngest first
	ran       int64
}

// groupState is what changes about a group.
type groupState struct {
	evicted []int64
	ran     int64
}

func (s *state) clone() *state {
	c := &state{pods: slices.Clone(s.pods), groups: slices.Clone(s.groups), done: slices.Clone(s.done)}
	for i := range c.pods {
		c.pods[i].evicted = slices.Clone(c.pods[i].evicted)
	}
	for i := range c.groups {
		c.groups[i].evicted = slices.Clone(c.groups[i].evicted)
	}
	return c
}

// pass lets seconds go by.
func (s *state) pass(seconds, horizon int64) {
	age := func(a *int64) { *a = min(*a+seconds, horizon) }
	ages := func(list []int64) []int64 {
		for i := range list {
			age(&list[i])
		}
		old := slices.Index(list, horizon)
		if old < 0 {
			return list
		}
		return list[:old+1] // of those that long ago one says as much as all
	}
	for i := range s.pods {
		p := &s.pods[i]
		if p.node < 0 {
			age(&p.created)
		} else {
			age(&p.started)
		}
		p.evicted = ages(p.evicted)
	}
	for i := range s.groups {
		s.groups[i].evicted = ages(s.groups[i].evicted)
	}
	var done []cluster.Disruption
	for _, d := range s.done {
		d.Time = d.Time.Add(-time.Duration(seconds) * time.Second)
		if epoch.Sub(d.Time) < time.Duration(horizon)*time.Second {
			done = append(done, d)
		}
	}
	s.done = done
}

// key is equal for equal situations. How long workloads ran counts from the one that
// ran least.
func (s *state) key() string {
	least := int64(-1)
	for _, p := range s.pods {
		if least < 0 || p.ran < least {
			least = p.ran
		}
	}
	for _, g := range s.groups {
		least = min(least, g.ran)
	}
	var b []byte
	put := func(list ...int64) {
		for _, v := range list {
			b = binary.AppendVarint(b, v)
		}
	}
	for _, p := range s.pods {
		put(int64(p.node), int64(p.nominated), p.created, p.started, p.ran-least, int64(len(p.evicted)))
		put(p.evicted...)
	}
	for _, g := range s.groups {
		put(g.ran-least, int64(len(g.evicted)))
		put(g.evicted...)
	}
	for _, d := range s.done {
		put(int64(epoch.Sub(d.Time)/time.Second), d.Victims, d.Pods, d.Cost)
	}
	return string(b)
}

// world turns situations into snapshots.
type world struct {
	*Model
	step, horizon int64
	memory        int  // how many evictions are remembered
	longRuns      bool // how long somebody ran matters
	pods          []preemption.Pod
	of            []int   // by pod: its workload
	members       [][]int // by workload: its pods
	group         []int   // by workload: its position among groups, -1: none
}

func newWorld(m *Model) *world {
	w := &world{Model: m}
	w.step, w.horizon = m.clock()
	w.memory, w.longRuns = m.remembers()
	groups := 0
	for i, load := range m.Workloads {
		w.group = append(w.group, -1)
		var members []int
		if load.Group != nil {
			w.group[i] = groups
			groups++
		}
		for _, p := range load.Pods {
			if load.Group != nil {
				p.Namespace, p.Group = load.Group.Namespace, load.Group.Name
			}
			members = append(members, len(w.pods))
			w.pods, w.of = append(w.pods, p), append(w.of, i)
		}
		w.members = append(w.members, members)
	}
	return w
}

// first is the situation in which everybody has just been submitted.
func (w *world) first() *state {
	s := &state{pods: make([]podState, len(w.pods))}
	for i := range s.pods {
		s.pods[i].node, s.pods[i].nominated = -1, -1
	}
	for _, g := range w.group {
		if g >= 0 {
			s.groups = append(s.groups, groupState{})
		}
	}
	return s
}

// snapshot is what the policy sees of a situation.
func (w *world) snapshot(s *state) *preemption.Snapshot {
	ago := func(seconds int64) time.Time { return epoch.Add(-time.Duration(seconds) * time.Second) }
	all := func(list []int64) (times []time.Time) {
		for _, a := range list {
			times = append(times, ago(a))
		}
		return times
	}
	out := &preemption.Snapshot{
		Time: epoch, Nodes: w.Nodes, Budgets: w.Budgets, PriorityClasses: w.Classes, Disruptions: s.done,
	}
	for i, st := range s.pods {
		p := w.pods[i]
		p.Node, p.NominatedNode = "", ""
		p.Created, p.Started, p.Scheduled = ago(st.created), time.Time{}, time.Time{}
		if st.node >= 0 {
			p.Node, p.Started, p.Scheduled = w.Nodes[st.node].Name, ago(st.started), ago(st.started)
		} else if st.nominated >= 0 {
			p.NominatedNode = w.Nodes[st.nominated].Name
		}
		p.Evictions, p.RanSeconds = all(st.evicted), st.ran
		out.Pods = append(out.Pods, p)
	}
	for i, load := range w.Workloads {
		if g := w.group[i]; g >= 0 {
			group := *load.Group
			group.Evictions, group.RanSeconds = all(s.groups[g].evicted), s.groups[g].ran
			out.PodGroups = append(out.PodGroups, group)
		}
	}
	return out
}

// evict resubmits pod i, which runs, at once.
func (w *world) evict(s *state, i int) {
	p := &s.pods[i]
	if w.longRuns {
		p.ran += p.started
	}
	p.node, p.nominated, p.started, p.created = -1, -1, 0, 0
	p.evicted = w.note(p.evicted)
}

// note puts an eviction at this moment before those of list.
func (w *world) note(list []int64) []int64 {
	list = append([]int64{0}, list...)
	return list[:min(len(list), w.memory)]
}
