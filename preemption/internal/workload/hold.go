package workload

import (
	"cmp"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Name is that of a workload or pod.
type Name struct{ Namespace, Name string }

// Choice is the flavor that the pods of a set take of a resource.
type Choice struct {
	Set, Resource, Flavor string
	Amount                int64
}

// hold is what an applied answer keeps for a workload that is not admitted yet.
type hold struct {
	*cluster.QuotaHold
	id    quota.HolderID // its queue and amounts, compiled; NoHolder: not there any more
	usage []quota.ColumnAmount
}

// evicts reports whether others leave for h.
func (h *hold) evicts() bool { return len(h.Workloads)+len(h.Pods) > 0 }

// account adds to usage what earlier answers hold back for workloads other than w, where others leave for w only for those for whom
// others leave, too, takes away what their victims still use, and returns whom nobody may evict: those victims, and who holds but a
// part of what goes as a whole.
func (m *Model) account(usage *quota.Usage, w *cluster.Workload) map[*quota.Reservation]bool {
	if len(m.holds) == 0 {
		return m.Pods.Partial
	}
	stay, left := map[*quota.Reservation]bool{}, map[*quota.Reservation]bool{}
	maps.Copy(stay, m.Pods.Partial)
	leaves := func(r *quota.Reservation) {
		if r != nil && r.Evicted && !left[r] {
			stay[r], left[r] = true, true
			usage.Remove(r.Queue, r.Usage)
		}
	}
	own, found := m.held(w.Namespace, w.Name)
	evicts := found && m.holds[own].evicts()
	for i := range m.holds {
		h := &m.holds[i]
		if found && i == own || evicts && !h.evicts() {
			continue
		}
		if h.id != quota.NoHolder {
			usage.Add(h.id, h.usage)
		}
		for _, v := range h.Workloads {
			leaves(m.Held(v.Namespace, v.Name))
		}
		if m.Pods.Cluster == nil {
			continue
		}
		for _, ref := range h.Pods {
			leaves(m.Pods.Holds[m.Pods.Cluster.PodByName(ref.Namespace, ref.Name)])
		}
	}
	return stay
}

// Hold keeps h, in place of what was held for its workload.
func (m *Model) Hold(h *cluster.QuotaHold) {
	i, found := m.held(h.Namespace, h.Name)
	if found {
		m.holds[i] = m.compileHold(h)
	} else {
		m.holds = slices.Insert(m.holds, i, m.compileHold(h))
	}
}

// Release forgets what is held for a workload, and reports whether there was anything.
func (m *Model) Release(namespace, name string) bool {
	i, found := m.held(namespace, name)
	if found {
		m.holds = slices.Delete(m.holds, i, i+1)
	}
	return found
}

// held is where what is held for a workload stands, or would.
func (m *Model) held(namespace, name string) (int, bool) {
	return slices.BinarySearchFunc(m.holds, Name{namespace, name}, func(h hold, w Name) int {
		return cmp.Or(cmp.Compare(h.Namespace, w.Namespace), cmp.Compare(h.Name, w.Name))
	})
}

// compileHold looks up the names of h.
func (m *Model) compileHold(h *cluster.QuotaHold) hold {
	sums := map[quota.ColumnID]int64{}
	for _, a := range h.Amounts {
		if c := m.Index.Column(a.Flavor, a.Resource); c != quota.NoColumn && a.Amount > 0 {
			sums[c] = quota.Add(sums[c], a.Amount)
		}
	}
	compiled := hold{QuotaHold: h, id: m.Index.QueueByName(h.ClusterQueue)}
	for _, c := range slices.Sorted(maps.Keys(sums)) {
		compiled.usage = append(compiled.usage, quota.ColumnAmount{Column: c, Amount: sums[c]})
	}
	return compiled
}
