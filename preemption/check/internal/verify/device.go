package verify

import (
	"iter"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/check/internal/relation"
	"github.com/preempt-go/preempt/preemption/check/internal/suits"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// devices are pools of devices of which a pod takes whole ones or a fraction of one.
// Running pods hold those that they say they hold; who does not say, is nominated or placed
// is taken to sit as well as it can.
type devices struct {
	q      *question
	guests map[*cluster.Node][]*cluster.Pod // nominated pods and members
}

func newDevices(q *question) relation.Relation {
	if !slices.ContainsFunc(q.members, func(m *member) bool { return len(m.Devices) > 0 }) {
		return nil
	}
	return &devices{q: q, guests: map[*cluster.Node][]*cluster.Pod{}}
}

// Monotone: the fractions that all ask for who do not say which device they hold are equal
// for each resource; otherwise room may, rarely, be missed.
func (d *devices) Monotone() bool {
	size := map[string]int64{}
	for _, m := range d.q.members {
		for _, r := range m.Devices {
			size[r.Resource] += 0
		}
	}
	equal := func(p *cluster.Pod, runs bool) bool {
		for _, r := range p.Devices {
			if had, wanted := size[r.Resource]; wanted && r.Count == 0 && !(runs && len(r.Assigned) > 0) {
				if had != 0 && had != r.Fraction {
					return false
				}
				size[r.Resource] = r.Fraction
			}
		}
		return true
	}
	for _, m := range d.q.members {
		if !equal(m.Pod, false) {
			return false
		}
	}
	for i, at := range d.q.at {
		if !equal(&d.q.Pods[i], at >= 0) {
			return false
		}
	}
	return true
}

// InWay: those on the same node.
func (d *devices) InWay(_ *cluster.Pod, n *cluster.Node) iter.Seq[int] {
	var list []int
	for _, m := range d.q.byNode[n.Name].guests {
		list = append(list, m.number)
	}
	return slices.Values(list)
}

func (d *devices) Move(p *cluster.Pod, n *cluster.Node, by int) {
	if p.Node != n.Name { // nominated
		d.guest(p, n, by)
	}
}

func (d *devices) Place(m int, n *cluster.Node, by int) { d.guest(d.q.members[m].Pod, n, by) }

func (d *devices) guest(p *cluster.Pod, n *cluster.Node, by int) {
	if by > 0 {
		d.guests[n] = append(d.guests[n], p)
	} else if i := slices.Index(d.guests[n], p); i >= 0 {
		d.guests[n] = slices.Delete(d.guests[n], i, i+1)
	}
}

// misfit: a kind of devices has no room for m beside the guests, or could have none.
func (d *devices) Misfit(number int, at *cluster.Node) (check domain.Check, never bool) {
	m, n := d.q.members[number], d.q.byNode[at.Name]
	seen := map[string]bool{}
	for _, r := range m.Devices {
		if seen[r.Resource] {
			continue
		}
		seen[r.Resource] = true
		pool, ok := n.Devices[r.Resource]
		if !ok || !suits.Pool(m.Pod, r.Resource, pool) {
			return domain.CheckDevice, true
		}
		guests := d.guests[at]
		if m.to != n {
			guests = append(slices.Clip(guests), m.Pod)
		}
		if !suits.Sit(r.Resource, pool, n.staying(func(p *pod) bool { return p.gone }), guests).Seats() {
			check = domain.CheckDevice
		}
	}
	return check, false
}
