package cluster

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

// Queued returns the pods that had a queue, see [Index.QueueOf], when the index was
// made, running and pending, in ascending order. The slice belongs to the index.
func (ix *Index) Queued() []PodID { return ix.carriers.queued }

// HasLabels reports whether node has every label of labels.
func HasLabels(node *Node, labels map[string]string) bool {
	for k, v := range labels {
		if have, ok := node.Labels[k]; !ok || have != v {
			return false
		}
	}
	return true
}
