package workload

import (
	"cmp"
	"slices"

	"github.com/preempt-go/preempt/domain/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Name is that of a workload or pod.
type Name struct{ Namespace, Name string }

// Choice is the flavor that the pods of a set take of a resource.
type Choice struct {
	Set, Resource, Flavor string
	Amount                int64
}

// Hold is what an applied answer keeps for a workload that is not admitted yet.
type Hold struct {
	Workload Name
	Queue    string
	Choices  []Choice // of no set in particular
	Victims  []Name   // the workloads that leave for it
	Pods     []Name   // likewise the pods

	id    cluster.QuotaID // Queue and Choices, compiled; NoQuota: not there any more
	usage []cluster.ColumnAmount
}

// account adds to usage what earlier answers hold back for workloads other than w,
// takes away what their victims still use, and returns those victims.
func (m *Model) account(usage *quota.Usage, w *cluster.Workload) map[*cluster.Reservation]bool {
	gone := map[*cluster.Reservation]bool{}
	leaves := func(r *cluster.Reservation) {
		if r != nil && r.Evicted && !gone[r] {
			gone[r] = true
			usage.Remove(r.Queue, r.Usage)
		}
	}
	for i := range m.live.holds {
		h := &m.live.holds[i]
		if h.Workload == (Name{w.Namespace, w.Name}) {
			continue
		}
		if h.id != cluster.NoQuota {
			usage.Add(h.id, h.usage)
		}
		for _, v := range h.Victims {
			leaves(m.Held(v.Namespace, v.Name))
		}
		if m.Pods.Cluster == nil {
			continue
		}
		for _, ref := range h.Pods {
			leaves(m.Pods.Holds[m.Pods.Cluster.PodByName(ref.Namespace, ref.Name)])
		}
	}
	return gone
}

// Hold keeps h, in place of what was held for its workload. The model is open.
func (m *Model) Hold(h Hold) {
	h.compile(m.Index)
	l := m.live
	i, found := l.held(h.Workload)
	l.holds = slices.Clone(l.holds)
	if found {
		l.holds[i] = h
	} else {
		l.holds = slices.Insert(l.holds, i, h)
	}
}

// Holds lists what applied answers keep, in order of name.
func (m *Model) Holds() []Hold {
	if m.live == nil {
		return nil
	}
	return m.live.holds
}

// Release forgets what is held for a workload, and reports whether there was anything.
// The model is open.
func (m *Model) Release(namespace, name string) bool {
	l := m.live
	i, found := l.held(Name{namespace, name})
	if found {
		l.holds = slices.Delete(slices.Clone(l.holds), i, i+1)
	}
	return found
}

// held is where what is held for w stands, or would.
func (l *Objects) held(w Name) (int, bool) {
	return slices.BinarySearchFunc(l.holds, w, func(h Hold, w Name) int {
		return cmp.Or(cmp.Compare(h.Workload.Namespace, w.Namespace), cmp.Compare(h.Workload.Name, w.Name))
	})
}

// compile looks up the names of h.
func (h *Hold) compile(ix *cluster.QuotaIndex) {
	sums := map[cluster.ColumnID]int64{}
	for _, f := range h.Choices {
		if c := ix.Column(f.Flavor, f.Resource); c != cluster.NoColumn {
			sums[c] = quota.Add(sums[c], f.Amount)
		}
	}
	h.id, h.usage = ix.QueueByName(h.Queue), nil
	for c := range cluster.ColumnID(ix.NumColumns()) {
		if sums[c] > 0 {
			h.usage = append(h.usage, cluster.ColumnAmount{Column: c, Amount: sums[c]})
		}
	}
}
