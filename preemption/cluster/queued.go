package cluster

import "slices"

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
