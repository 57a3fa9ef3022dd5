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

// kept is what holds make of a model, for the workload of one of them or for any other. The latter follows the model, so that a question
// need not look at all holds.
type kept struct {
	usage      *quota.Usage
	stay, left map[*quota.Reservation]bool // whom nobody may evict; those of them who leave
	going      map[Name]bool               // the workloads that have to
	sum        int64                       // of all amounts that are held: what is too large cannot be taken back
}

// account lets usage be what is used, with what earlier answers hold back for workloads other than w, where others leave for w only for
// those for whom others leave, too, and without what their victims still use, and returns whom nobody may evict: those victims, and who
// holds but a part of what goes as a whole.
func (m *Model) account(usage *quota.Usage, w *cluster.Workload) map[*quota.Reservation]bool {
	if len(m.holds) == 0 {
		usage.CopyFrom(m.usage)
		return m.Pods.Partial
	}
	m.keeping.Lock()
	defer m.keeping.Unlock()
	k := m.kept
	if own, found := m.held(w.Namespace, w.Name); found {
		k = m.keep(own)
	} else if k == nil {
		k = m.keep(-1)
		m.kept = k
		m.Accounted++
	}
	usage.CopyFrom(k.usage)
	return k.stay
}

// keep is what holds make of m for the workload of one of them; -1: for another one.
func (m *Model) keep(own int) *kept {
	k := &kept{usage: m.usage.Clone(), stay: map[*quota.Reservation]bool{}, left: map[*quota.Reservation]bool{}, going: map[Name]bool{}}
	maps.Copy(k.stay, m.Pods.Partial)
	evicts := own >= 0 && m.holds[own].evicts()
	for i := range m.holds {
		if h := &m.holds[i]; i != own && (!evicts || h.evicts()) {
			m.heed(k, h)
		}
	}
	return k
}

// heed lets k be with h, too.
func (m *Model) heed(k *kept, h *hold) {
	if h.id != quota.NoHolder {
		k.usage.Add(h.id, h.usage)
	}
	for _, u := range h.usage {
		k.sum = quota.Add(k.sum, u.Amount)
	}
	leaves := func(r *quota.Reservation) {
		if r != nil && r.Evicted && !k.left[r] {
			k.stay[r], k.left[r] = true, true
			k.usage.Remove(r.Queue, r.Usage)
		}
	}
	for _, v := range h.Workloads {
		k.going[Name(v)] = true
		leaves(m.Held(v.Namespace, v.Name))
	}
	if m.Pods.Cluster == nil {
		return
	}
	for _, ref := range h.Pods {
		leaves(m.Pods.Holds[m.Pods.Cluster.PodByName(ref.Namespace, ref.Name)])
	}
}

// keepUsage lets kept follow a workload that has come, or else goes.
func (m *Model) keepUsage(r *quota.Reservation, comes bool) {
	switch k := m.kept; {
	case k == nil:
	case k.sum > cluster.MaxUsage:
		m.kept = nil
	case r.Evicted && k.going[Name{r.Workload.Namespace, r.Workload.Name}]:
		delete(k.stay, r)
		if delete(k.left, r); comes {
			k.stay[r], k.left[r] = true, true
		}
	case comes:
		k.usage.Add(r.Queue, r.Usage)
	default:
		k.usage.Remove(r.Queue, r.Usage)
	}
}

// Hold keeps h, in place of what was held for its workload.
func (m *Model) Hold(h *cluster.QuotaHold) {
	i, found := m.held(h.Namespace, h.Name)
	compiled := m.compileHold(h)
	if found {
		m.holds[i], m.kept = compiled, nil
	} else {
		m.holds = slices.Insert(m.holds, i, compiled)
		if k := m.kept; k != nil {
			if m.heed(k, &compiled); k.sum > cluster.MaxUsage {
				m.kept = nil
			}
		}
	}
}

// Release forgets what is held for a workload, and reports whether there was anything.
func (m *Model) Release(namespace, name string) bool {
	i, found := m.held(namespace, name)
	if found {
		m.holds, m.kept = slices.Delete(m.holds, i, i+1), nil
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

// mostHeldTries is how many flavors asHeld tries.
const mostHeldTries = 1 << 12

// asHeld is the plan in the flavors that are held for the workload since others were evicted for it, nil if they are not enough for
// counts pods of each pod set.
func (a *assigner) asHeld(counts []int32) *Plan {
	i, found := a.held(a.w.Namespace, a.w.Name)
	if !found || a.holds[i].id != a.queue || !a.holds[i].evicts() {
		return nil
	}
	clear(a.used)
	s := &heldSearch{assigner: a, counts: counts, plan: &Plan{Fits: true, Possible: true, Counts: counts}, left: map[quota.ColumnID]int64{}}
	for _, c := range a.holds[i].usage {
		s.left[c.Column] = c.Amount
	}
	if !s.from(0, nil) {
		return nil
	}
	if request, _ := s.plan.request(); !a.Usage.Fits(a.queue, request, true) {
		return nil
	}
	return s.plan
}

// heldSearch looks for flavors of pod sets that have together what is held.
type heldSearch struct {
	*assigner
	counts []int32
	plan   *Plan
	left   map[quota.ColumnID]int64
	tries  int
}

// from takes flavors for the pod sets from the i-th on that no earlier one takes along.
func (s *heldSearch) from(i int, done []int) bool {
	for i < len(s.w.PodSets) && slices.Contains(done, i) {
		i++
	}
	if i == len(s.w.PodSets) {
		return true
	}
	sets := together(s.w, i)
	var demands []demand
	total := demand{}
	for _, set := range sets {
		demands = append(demands, s.demand(s.w, s.queue, set, s.counts[set]))
		for r, v := range demands[len(demands)-1] {
			total[r] += v
		}
	}
	return s.each(slices.Sorted(maps.Keys(total)), total, sets, map[string]choice{}, func(chosen map[string]choice) bool {
		before, level := len(s.plan.Taken), s.plan.Level
		s.note(s.plan, sets, demands, chosen)
		if s.from(i+1, slices.Concat(done, sets)) {
			return true
		}
		for _, t := range s.plan.Taken[before:] {
			s.used[t.Column] -= t.Amount
		}
		s.plan.Taken, s.plan.Level = s.plan.Taken[:before], level
		return false
	})
}

// each tries the flavors that have room for names of total, until one of them is good.
func (s *heldSearch) each(names []string, total demand, sets []int, chosen map[string]choice, good func(map[string]choice) bool) bool {
	if len(names) == 0 {
		return good(chosen)
	}
	group := s.groupOf(s.queue, names[0])
	if group == nil {
		return total[names[0]] == 0 && s.each(names[1:], total, sets, chosen, good)
	}
	rest := slices.DeleteFunc(slices.Clone(names), func(r string) bool { return slices.Contains(group.Resources, r) })
	for f, flavor := range group.Flavors {
		if s.tries++; s.tries > mostHeldTries {
			return false
		}
		takes := maps.Clone(chosen)
		fits := s.unsuited(s.w, sets, flavor).Kind == NoObjection
		for k, r := range group.Resources {
			if v, asked := total[r]; asked {
				c := group.Column(f, k)
				level, _ := s.Usage.BorrowHeight(s.queue, c, quota.Add(v, s.used[c]))
				fits = fits && quota.Add(v, s.used[c]) <= s.left[c]
				takes[r] = choice{c, price{fitsNow, level}}
			}
		}
		if fits && s.each(rest, total, sets, takes, good) {
			return true
		}
	}
	return false
}
