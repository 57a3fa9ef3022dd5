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

// changes are those of the nodes on which somebody leaves or comes.
type changes struct {
	at   []int32 // by node: its position in list, from 1 on; 0: nothing changes there
	list []nodeChange
}

type nodeChange struct {
	node cluster.NodeID
	change
}

var unchanged change

// of is the change on node n, which is not to be changed; nil changes are none.
func (cs *changes) of(n cluster.NodeID) *change {
	if cs == nil || cs.at[n] == 0 {
		return &unchanged
	}
	return &cs.list[cs.at[n]-1].change
}

// on is the change on node n, to be added to.
func (cs *changes) on(n cluster.NodeID) *change {
	if cs.at[n] == 0 {
		cs.list = append(cs.list, nodeChange{node: n})
		cs.at[n] = int32(len(cs.list))
	}
	return &cs.list[cs.at[n]-1].change
}

// reset takes all changes back, of so many nodes; nil changes are made.
func (cs *changes) reset(nodes int) *changes {
	if cs == nil {
		return &changes{at: make([]int32, nodes)}
	}
	for _, ch := range cs.list {
		cs.at[ch.node] = 0
	}
	cs.list = cs.list[:0]
	return cs
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
	q.changes = q.changesBy(q.changes, c, others, parts, at)
	count, _ := q.moveOn(c, q.leave(c, large), q.changes)
	return count
}

// left is what is in use once some units have left.
type left struct {
	units   []victims.UnitID
	changes *changes
	count   int64
	nodes   map[cluster.ValueID]int64 // by value, how many more somebody runs on
}

// leave lets units leave, and remembers what is in use then.
func (q *Question) leave(c victims.Criterion, units []victims.UnitID) *left {
	now := &left{count: q.inUseNow(c).count}
	if len(units) == 0 {
		return now
	}
	l := q.left[c]
	if l == nil {
		l = &left{}
		if q.left == nil {
			q.left = map[victims.Criterion]*left{}
		}
		q.left[c] = l
	} else if slices.Equal(l.units, units) {
		return l
	}
	l.units, l.changes = units, q.changesBy(l.changes, c, units, nil, nil)
	l.count, l.nodes = q.moveOn(c, now, l.changes)
	return l
}

// moveOn counts what is in use once changes follow those before, and by value on how many more nodes somebody runs.
func (q *Question) moveOn(c victims.Criterion, before *left, then *changes) (count int64, nodes map[cluster.ValueID]int64) {
	u := q.inUseNow(c)
	count, nodes = before.count, map[cluster.ValueID]int64{}
	for i := range then.list {
		n, ch := then.list[i].node, &then.list[i].change
		was := before.changes.of(n)
		by := q.usedOn(n, c, was.and(ch)) - q.usedOn(n, c, *was)
		if u.topology == nil {
			count += by
		} else if v := u.topology.Of(n); v != cluster.NoValue && by != 0 {
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
func (ch *change) and(then *change) change {
	if len(ch.out)+len(ch.in)+len(then.out)+len(then.in) == 0 { // as where no devices are counted
		return change{more: ch.more + then.more}
	}
	return change{ch.more + then.more, slices.Concat(ch.out, then.out), slices.Concat(ch.in, then.in)}
}

// changesBy are those on each node on which somebody leaves or comes, with devices where these are counted, in the memory of cs.
func (q *Question) changesBy(cs *changes, c victims.Criterion, list []victims.UnitID, parts victims.Parts, at []domain.Assignment) *changes {
	cs = cs.reset(q.Index.NumNodes())
	devices := c == victims.CriterionDevices
	for _, u := range list {
		for _, p := range parts.Of(q.Units, u) {
			n := q.Index.NodeOf(p)
			if n == cluster.NoNode || devices && len(q.Index.Pod(p).Devices) == 0 {
				continue
			}
			ch := cs.on(n)
			if ch.more--; devices {
				ch.out = append(ch.out, p)
			}
		}
	}
	for _, a := range at {
		ch := cs.on(a.Node)
		if ch.more++; devices {
			ch.in = append(ch.in, q.Members[a.Member].Pod)
		}
	}
	return cs
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
