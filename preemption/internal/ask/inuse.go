package ask

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// inUse is what a criterion counts of what is in use as things are.
type inUse struct {
	count    int64
	topology *cluster.Topology // whose values are counted; nil: nodes or devices are
	nodes    []int64           // by value, on how many nodes somebody runs
}

// change is who leaves a node and who comes, in the end.
type change struct {
	more int             // pods, below zero if more leave
	out  []cluster.PodID // of those with devices
	in   []*cluster.Pod
}

// inUseNow counts what c counts of what is in use as things are.
func (q *Question) inUseNow(c victims.Criterion) *inUse {
	if u := q.inUse[c]; u != nil {
		return u
	}
	u := &inUse{}
	if key, ok := c.Label(); ok {
		u.topology = q.Index.Topology(key)
		u.nodes = make([]int64, u.topology.Len())
	}
	for n := range q.Index.Nodes() {
		by := q.usedOn(n, c, change{})
		if u.topology == nil {
			u.count += by
		} else if v := u.topology.Of(n); v != cluster.NoValue {
			u.nodes[v] += by
		}
	}
	for _, n := range u.nodes {
		u.count += b2i(n > 0)
	}
	if q.inUse == nil {
		q.inUse = map[victims.Criterion]*inUse{}
	}
	q.inUse[c] = u
	return u
}

// inUseAfter counts it once list is gone and the preemptor at at: O(nodes that they concern), but for units of many pods,
// which are read once for all lists in a row that hold the same ones.
func (q *Question) inUseAfter(c victims.Criterion, list []victims.UnitID, parts victims.Parts, at []domain.Assignment) int64 {
	var large, others []victims.UnitID
	for _, u := range list {
		if q.Whole(u, parts.Of(q.Units, u)) != nil {
			large = append(large, u)
		} else {
			others = append(others, u)
		}
	}
	count, _ := q.moveOn(c, q.leave(c, large), q.changes(c, others, parts, at))
	return count
}

// left is what is in use once some units have left.
type left struct {
	units   []victims.UnitID
	changes map[cluster.NodeID]change
	count   int64
	nodes   map[cluster.ValueID]int64 // by value, how many more somebody runs on
}

// leave lets units leave, and remembers what is in use then.
func (q *Question) leave(c victims.Criterion, units []victims.UnitID) *left {
	now := &left{count: q.inUseNow(c).count}
	if len(units) == 0 {
		return now
	}
	if l := q.left[c]; l != nil && slices.Equal(l.units, units) {
		return l
	}
	l := &left{units: units, changes: q.changes(c, units, nil, nil)}
	l.count, l.nodes = q.moveOn(c, now, l.changes)
	if q.left == nil {
		q.left = map[victims.Criterion]*left{}
	}
	q.left[c] = l
	return l
}

// moveOn counts what is in use once changes follow those before, and by value on how many more nodes somebody runs.
func (q *Question) moveOn(c victims.Criterion, before *left, changes map[cluster.NodeID]change) (count int64, nodes map[cluster.ValueID]int64) {
	u := q.inUseNow(c)
	count, nodes = before.count, map[cluster.ValueID]int64{}
	for n, ch := range changes {
		was := before.changes[n]
		by := q.usedOn(n, c, was.and(ch)) - q.usedOn(n, c, was)
		if u.topology == nil {
			count += by
		} else if v := u.topology.Of(n); v != cluster.NoValue {
			nodes[v] += by
		}
	}
	for v, by := range nodes {
		was := u.nodes[v] + before.nodes[v]
		count += b2i(was+by > 0) - b2i(was > 0)
	}
	return count, nodes
}

// and is ch, and then another.
func (ch change) and(then change) change {
	return change{ch.more + then.more, slices.Concat(ch.out, then.out), slices.Concat(ch.in, then.in)}
}

// changes are those of each node on which somebody leaves or comes, with devices where these are counted.
func (q *Question) changes(c victims.Criterion, list []victims.UnitID, parts victims.Parts, at []domain.Assignment) map[cluster.NodeID]change {
	devices, of := c == victims.CriterionDevices, map[cluster.NodeID]change{}
	for _, u := range list {
		for _, p := range parts.Of(q.Units, u) {
			n := q.Index.NodeOf(p)
			if n == cluster.NoNode || devices && len(q.Index.Pod(p).Devices) == 0 {
				continue
			}
			ch := of[n]
			if ch.more--; devices {
				ch.out = append(ch.out, p)
			}
			of[n] = ch
		}
	}
	for _, a := range at {
		ch := of[a.Node]
		if ch.more++; devices {
			ch.in = append(ch.in, q.Members[a.Member].Pod)
		}
		of[a.Node] = ch
	}
	return of
}

// usedOn is how many devices of node n are in use after ch, or whether the node is.
func (q *Question) usedOn(n cluster.NodeID, c victims.Criterion, ch change) (count int64) {
	if c != victims.CriterionDevices {
		return b2i(len(q.Index.PodsOn(n))+ch.more > 0)
	}
	for name := range q.Index.Node(n).Devices {
		count += q.heldOn(n, name, ch)
	}
	return count
}

// heldOn is how many devices of that resource somebody holds on node n after ch; see
// [victims.CriterionDevices].
func (q *Question) heldOn(n cluster.NodeID, resource string, ch change) (count int64) {
	d := q.Index.Devices()
	id := d.Pools(resource)[n]
	pool := d.Pool(id)
	free := d.Free()[pool.First:][:pool.Count]
	whole, fractions := int64(0), []int64(nil)
	asks := func(p *cluster.Pod, runs bool) {
		for i := range p.Devices {
			if r := &p.Devices[i]; r.Resource == resource && !(runs && len(r.Assigned) > 0) {
				if whole += int64(r.Count); r.Count == 0 {
					fractions = append(fractions, r.Fraction)
				}
			}
		}
	}
	if len(ch.out) > 0 || len(ch.in) > 0 || d.Loose(id) > 0 {
		free = slices.Clone(free)
		for _, p := range ch.out {
			for _, h := range d.Held(nil, q.Index.Pod(p), n) {
				if i := h.Device - pool.First; i >= 0 && i < cluster.DeviceID(pool.Count) {
					free[i] += h.Amount
				}
			}
		}
		slices.Sort(ch.out)
		for _, p := range q.Index.PodsOn(n) {
			if _, gone := slices.BinarySearch(ch.out, p); !gone {
				asks(q.Index.Pod(p), true)
			}
		}
		for _, p := range ch.in {
			asks(p, false)
		}
	}
	slices.Sort(fractions)
	for _, f := range slices.Backward(fractions) {
		if i := cluster.BestFit(free, f); i >= 0 {
			free[i] -= f
		}
	}
	for _, v := range free {
		count += b2i(v != pool.Capacity)
	}
	return min(count+whole, int64(len(free)))
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
