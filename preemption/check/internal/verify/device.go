package verify

import (
	"cmp"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// devices are pools of devices of which a pod takes whole ones or a fraction of one.
// Running pods hold certain ones; who is nominated or placed is taken to sit as well
// as it can.
type devices struct {
	q      *question
	held   map[*node]map[*pod][]holding // who holds what, once it was looked at
	guests map[*node][]*cluster.Pod     // nominated pods and members
}

type holding struct {
	resource string
	device   int
	amount   int64
}

func newDevices(q *question) relation {
	if !slices.ContainsFunc(q.members, func(m *member) bool { return len(m.Devices) > 0 }) {
		return nil
	}
	return &devices{q: q, held: map[*node]map[*pod][]holding{}, guests: map[*node][]*cluster.Pod{}}
}

// monotone: the fractions that members and pending pods ask for are equal for each
// resource; otherwise room may, rarely, be missed.
func (d *devices) monotone() bool {
	size := map[string]int64{}
	for _, m := range d.q.members {
		for _, r := range m.Devices {
			size[r.Resource] += 0
		}
	}
	equal := func(p *cluster.Pod) bool {
		for _, r := range p.Devices {
			if had, wanted := size[r.Resource]; wanted && r.Count == 0 {
				if had != 0 && had != r.Fraction {
					return false
				}
				size[r.Resource] = r.Fraction
			}
		}
		return true
	}
	for _, m := range d.q.members {
		if !equal(m.Pod) {
			return false
		}
	}
	for i, at := range d.q.at {
		if at < 0 && !equal(&d.q.Pods[i]) {
			return false
		}
	}
	return true
}

func (d *devices) move(p *cluster.Pod, n *node, by int) {
	if p.Node != n.Name { // nominated
		d.guest(p, n, by)
	}
}

func (d *devices) place(m *member, n *node, by int) { d.guest(m.Pod, n, by) }

func (d *devices) guest(p *cluster.Pod, n *node, by int) {
	if by > 0 {
		d.guests[n] = append(d.guests[n], p)
	} else if i := slices.Index(d.guests[n], p); i >= 0 {
		d.guests[n] = slices.Delete(d.guests[n], i, i+1)
	}
}

// misfit: a kind of devices has no room for m beside the guests, or could have none.
func (d *devices) misfit(m *member, n *node) (check domain.Check, never bool) {
	seen := map[string]bool{}
	for _, r := range m.Devices {
		if seen[r.Resource] {
			continue
		}
		seen[r.Resource] = true
		pool, ok := n.Devices[r.Resource]
		if !ok || !couldFit(m.Pod, r.Resource, pool) {
			return domain.CheckDevice, true
		}
		guests := d.guests[n]
		if m.to != n {
			guests = append(slices.Clip(guests), m.Pod)
		}
		if !seats(d.free(n, r.Resource, pool), pool, r.Resource, guests) {
			check = domain.CheckDevice
		}
	}
	return check, false
}

// wants sums up what pods ask of a resource: whole devices, and fractions, the largest first.
func wants(resource string, pods ...*cluster.Pod) (whole int64, fractions []int64) {
	for _, p := range pods {
		for _, r := range p.Devices {
			if r.Resource == resource {
				if whole += int64(r.Count); r.Count == 0 {
					fractions = append(fractions, r.Fraction)
				}
			}
		}
	}
	slices.SortFunc(fractions, func(a, b int64) int { return cmp.Compare(b, a) })
	return whole, fractions
}

// couldFit: p has room in an empty pool, by size and sum.
func couldFit(p *cluster.Pod, resource string, pool cluster.DevicePool) bool {
	whole, fractions := wants(resource, p)
	sum := int64(0)
	for _, f := range fractions {
		if sum += f; f > pool.Capacity {
			return false
		}
	}
	return whole <= int64(pool.Count) && sum <= (int64(pool.Count)-whole)*pool.Capacity
}

// seats: all guests have room on what is free: fractions each where the least room is
// left that is enough, then whole devices.
func seats(free []int64, pool cluster.DevicePool, resource string, guests []*cluster.Pod) bool {
	whole, fractions := wants(resource, guests...)
	for _, f := range fractions {
		i := tightest(free, f)
		if i < 0 {
			return false
		}
		free[i] -= f
	}
	for _, v := range free {
		if v == pool.Capacity {
			whole--
		}
	}
	return whole <= 0
}

// tightest is the device with the least room that is enough, the first of equal ones; -1
// if there is none.
func tightest(free []int64, amount int64) int {
	best := -1
	for i, v := range free {
		if v >= amount && (best < 0 || v < free[best]) {
			best = i
		}
	}
	return best
}

// free is what the pods that are there leave of each device.
func (d *devices) free(n *node, resource string, pool cluster.DevicePool) []int64 {
	free := emptyPool(pool)
	if d.held[n] == nil {
		d.held[n] = assign(n)
	}
	for p, list := range d.held[n] {
		for _, h := range list {
			if h.resource == resource && !p.gone {
				free[h.device] -= h.amount
			}
		}
	}
	return free
}

func emptyPool(pool cluster.DevicePool) []int64 {
	return slices.Repeat([]int64{pool.Capacity}, int(pool.Count))
}

// assign gives the pods that run on n their devices: first those who say which, then
// whole devices by pod, each the first that is free, then fractions, the largest first.
func assign(n *node) map[*pod][]holding {
	type claim struct {
		p     *pod
		order int
		r     *cluster.DeviceRequest
	}
	var claims []claim
	for _, p := range n.pods() {
		for i := range p.Devices {
			claims = append(claims, claim{p, len(claims), &p.Devices[i]})
		}
	}
	first := func(c claim) int {
		switch {
		case len(c.r.Assigned) > 0 && c.r.Count > 0:
			return 0
		case len(c.r.Assigned) > 0:
			return 1
		case c.r.Count > 0:
			return 2
		}
		return 3
	}
	slices.SortFunc(claims, func(a, b claim) int {
		return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(b.r.Fraction, a.r.Fraction), cmp.Compare(a.order, b.order))
	})
	free, held := map[string][]int64{}, map[*pod][]holding{}
	for name, pool := range n.Devices {
		free[name] = emptyPool(pool)
	}
	for _, c := range claims {
		pool, ok := n.Devices[c.r.Resource]
		if !ok {
			continue
		}
		room, amount := free[c.r.Resource], pool.Capacity
		if c.r.Count == 0 {
			amount = min(c.r.Fraction, pool.Capacity)
		}
		for _, i := range chosen(c.r, room, pool) {
			room[i] -= amount
			held[c.p] = append(held[c.p], holding{c.r.Resource, int(i), amount})
		}
	}
	return held
}

// chosen are the devices that a request gets; none if there is no room.
func chosen(r *cluster.DeviceRequest, free []int64, pool cluster.DevicePool) (list []int32) {
	switch {
	case len(r.Assigned) > 0:
		return slices.DeleteFunc(slices.Clone(r.Assigned), func(i int32) bool { return i >= pool.Count })
	case r.Count > 0:
		for i, v := range free {
			if v == pool.Capacity && len(list) < int(r.Count) {
				list = append(list, int32(i))
			}
		}
		if len(list) < int(r.Count) {
			return nil
		}
	default:
		if i := tightest(free, r.Fraction); i >= 0 {
			list = append(list, int32(i))
		}
	}
	return list
}
