package cluster

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// carriers lists, in ascending order, the pods that have what few pods have, so
// that a question need not look at all others. Of those with devices only a new index
// has others.
type carriers struct {
	tokens, devices, queued []PodID
}

// find lists pod p where it belongs.
func (c *carriers) find(id PodID, p *Pod) {
	if len(p.Tokens) > 0 {
		c.tokens = append(c.tokens, id)
	}
	if len(p.Devices) > 0 {
		c.devices = append(c.devices, id)
	}
}

// add adds the lists of more, which belong behind those of c.
func (c *carriers) add(more *carriers) {
	c.tokens = append(c.tokens, more.tokens...)
	c.devices = append(c.devices, more.devices...)
	c.queued = append(c.queued, more.queued...)
}

func (c *carriers) sort() {
	slices.Sort(c.tokens)
	slices.Sort(c.devices)
	slices.Sort(c.queued)
}

// lazy holds columns that are computed when a question first needs them. They follow
// the changes of the index from then on.
type lazy struct {
	mu         sync.Mutex
	labelSets  atomic.Pointer[LabelSets]
	antiTerms  atomic.Pointer[AntiTerms]
	tokens     atomic.Pointer[Tokens]
	topologies map[string]*Topology
}

// fork returns a copy that shares what it can.
func (l *lazy) fork() *lazy {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := &lazy{topologies: maps.Clone(l.topologies)}
	f.tokens.Store(l.tokens.Load())
	if ls := l.labelSets.Load(); ls != nil {
		f.labelSets.Store(ls.fork())
	}
	if at := l.antiTerms.Load(); at != nil {
		f.antiTerms.Store(at.fork())
	}
	return f
}

// replace notes that a number stands for another pod. What would keep too much of
// the past is dropped, to be computed anew.
func (l *lazy) replace(id PodID, old, p *Pod) {
	if ls := l.labelSets.Load(); ls != nil && !(old != &removed && p != &removed && sameLabelSet(old, p)) {
		keep := old == &removed || ls.remove(id)
		if p != &removed {
			ls.add(id, p)
		}
		if !keep {
			l.labelSets.Store(nil)
		}
	}
	if at := l.antiTerms.Load(); at != nil && len(old.AntiAffinity)+len(p.AntiAffinity) > 0 {
		keep := at.remove(id)
		at.add(id, p)
		if !keep {
			l.antiTerms.Store(nil)
		}
	}
}

// once returns *column, which f computes if it is not there yet.
func once[T any](l *lazy, column *atomic.Pointer[T], f func() *T) *T {
	if c := column.Load(); c != nil {
		return c
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if column.Load() == nil {
		column.Store(f())
	}
	return column.Load()
}

// QueueOf returns the LocalQueue, in the pod's namespace, of which pod p holds or
// wants quota: its pod group's if that names one, else its own; empty: none.
func (ix *Index) QueueOf(p PodID) string {
	if g := ix.GroupOf(p); g != NoGroup {
		if group := ix.Group(g).PodGroup; group != nil && group.Queue != "" {
			return group.Queue
		}
	}
	return ix.Pod(p).Queue
}

// Queued returns the pods that have a queue, see [Index.QueueOf], running and pending, in
// ascending order. The slice belongs to the index.
func (ix *Index) Queued() []PodID { return ix.carriers.queued }

// AnyQueued reports whether any of them runs.
func (ix *Index) AnyQueued() bool { return ix.queued > 0 }

// numQueued is 1 if pod p runs and has a queue.
func (ix *Index) numQueued(p PodID) int {
	if ix.Runs(p) && ix.QueueOf(p) != "" {
		return 1
	}
	return 0
}

// requeue follows a change of pod p, which had a queue or not.
func (ix *Index) requeue(p PodID, had bool) {
	has, list := ix.QueueOf(p) != "", &ix.carriers.queued
	i, _ := slices.BinarySearch(*list, p)
	switch {
	case has && !had:
		*list = slices.Insert(slices.Clone(*list), i, p) // a fork may have the old one
	case had && !has:
		*list = slices.Delete(slices.Clone(*list), i, i+1)
	}
}
