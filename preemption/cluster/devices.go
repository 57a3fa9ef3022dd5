package cluster

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// DeviceID is a position among the devices of all pools of an [Index]. Those of a
// pool follow each other.
type DeviceID int32

// PoolID is a position among the device pools of an [Index].
type PoolID int32

// NoPool is the pool of a node that has none of that resource.
const NoPool PoolID = -1

// Pool is the devices of one resource on one node. A device of the pool that a
// request calls i is First+i.
type Pool struct {
	Node     NodeID
	First    DeviceID
	Count    int32
	Capacity int64 // of each device
}

// Holding is what a pod holds of one device, in the unit of the pool's Capacity.
type Holding struct {
	Device DeviceID
	Amount int64
}

// Devices tells which running pod holds what of which device. Questions must not change
// it.
//
// Requests that say what they hold ([DeviceRequest.Assigned]) hold just that. The others
// are loose: which devices they hold is not known, and they are taken to sit as well as
// they can beside whoever else is there, whole devices on what is wholly free, then
// fractions, the largest first, each onto the device with the least room that is
// enough. Where there is no room for all of them, the node is overcommitted, and no such
// device of it counts as free. A loose request without room, and one for a pod or device
// that is not on the node, is listed in the warnings.
type Devices struct {
	pools  []Pool
	byName map[string][]PoolID

	free    []int64              // of each device, but for loose requests
	loose   []int32              // of each pool: how many loose requests there are
	sizes   map[looseSize]int32  // how many loose requests of running pods are for such a fraction
	odd     map[NodeID][]Warning // what is odd about the requests of a node's pods
	pending []PodID
	shared  bool // free, loose, sizes, odd and pending are those of a fork, too: copied before they are changed

	poolsShared bool // likewise for pools and byName
	lost        int  // how many devices were those of nodes that are gone
}

type looseSize struct {
	resource string
	fraction int64
}

// Devices returns the devices of ix.
func (ix *Index) Devices() *Devices { return ix.devices }

// Pools returns the pool of each node for the resource of that name, NoPool where
// there is none; nil if no node has one. The slice belongs to d.
func (d *Devices) Pools(resource string) []PoolID { return d.byName[resource] }

// Pool returns pool p.
func (d *Devices) Pool(p PoolID) Pool { return d.pools[p] }

// Free returns how much of each device is left by the running pods that say what they
// hold, in order of DeviceID; below zero where they hold more than there is. What loose
// requests need is not taken off. The slice belongs to d.
func (d *Devices) Free() []int64 { return d.free }

// Loose returns how many loose requests for the devices of pool p running pods have.
func (d *Devices) Loose(p PoolID) int { return int(d.loose[p]) }

// LooseFractions returns the sizes of the fractions of that resource that running pods ask
// for in loose requests, in no order.
func (d *Devices) LooseFractions(resource string) (sizes []int64) {
	for s := range d.sizes {
		if s.resource == resource {
			sizes = append(sizes, s.fraction)
		}
	}
	return sizes
}

// Pending returns the pods that have device requests and run on no node of the index,
// in no order. The slice belongs to d.
func (d *Devices) Pending() []PodID { return d.pending }

// Held appends to dst what p, which runs on node n, says that it holds, and returns the
// extended slice.
func (d *Devices) Held(dst []Holding, p *Pod, n NodeID) []Holding {
	for i := range p.Devices {
		r := &p.Devices[i]
		if id := d.poolOn(r.Resource, n); id != NoPool {
			dst = d.pools[id].Held(dst, r)
		}
	}
	return dst
}

// Held appends to dst what a request of a pod on the node, which is for devices of the pool, says that it holds of them, and
// returns the extended slice.
func (p Pool) Held(dst []Holding, r *DeviceRequest) []Holding {
	amount := p.Capacity
	if r.Count == 0 {
		amount = min(r.Fraction, p.Capacity)
	}
	for _, device := range r.Assigned {
		if device < p.Count {
			dst = append(dst, Holding{p.First + DeviceID(device), amount})
		}
	}
	return dst
}

func (d *Devices) poolOn(resource string, n NodeID) PoolID {
	if column := d.byName[resource]; column != nil && n != NoNode {
		return column[n]
	}
	return NoPool
}

// layOutDevices numbers the devices and gives the running pods theirs.
func (ix *Index) layOutDevices() {
	d := &Devices{byName: map[string][]PoolID{}, sizes: map[looseSize]int32{}, odd: map[NodeID][]Warning{}}
	ix.devices = d
	for n := range ix.NumNodes() {
		node := ix.Node(NodeID(n))
		for _, name := range sortedNames(node.Devices) {
			d.addPool(name, NodeID(n), ix.NumNodes(), node.Devices[name])
		}
	}
	if len(ix.carriers.devices) == 0 {
		return
	}
	for _, p := range ix.carriers.devices {
		if ix.NodeOf(p) == NoNode {
			d.pending = append(d.pending, p)
		} else {
			d.count(ix.Pod(p), 1)
		}
	}
	for n := range NodeID(ix.NumNodes()) {
		d.settle(ix, n)
		ix.warnings = append(ix.warnings, d.odd[n]...)
	}
}

func (d *Devices) addPool(name string, n NodeID, numNodes int, pool DevicePool) {
	column := d.byName[name]
	if column == nil {
		column = slices.Repeat([]PoolID{NoPool}, numNodes)
		d.byName[name] = column
	}
	column[n] = PoolID(len(d.pools))
	d.pools = append(d.pools, Pool{n, DeviceID(len(d.free)), pool.Count, pool.Capacity})
	d.loose = append(d.loose, 0)
	for range pool.Count {
		d.free = append(d.free, pool.Capacity)
	}
}

// count notes that a pod with the loose fractions of p runs on a node, or by -1 that it does
// not any more.
func (d *Devices) count(p *Pod, by int32) {
	for i := range p.Devices {
		if r := &p.Devices[i]; len(r.Assigned) == 0 && r.Count == 0 {
			size := looseSize{r.Resource, r.Fraction}
			if d.sizes[size] += by; d.sizes[size] == 0 {
				delete(d.sizes, size)
			}
		}
	}
}

// settle works out what the pods on node n hold, and what is odd about it.
func (d *Devices) settle(ix *Index, n NodeID) {
	for _, column := range d.byName {
		if id := column[n]; id != NoPool {
			d.loose[id] = 0
			for i := range d.devicesOf(id) {
				d.devicesOf(id)[i] = d.pools[id].Capacity
			}
		}
	}
	claims := d.claims(ix, n)
	var loose []*deviceClaim
	for _, c := range claims {
		switch {
		case c.pool == NoPool:
			c.odd = "no such devices on its node: it holds none"
		case len(c.spec.Assigned) > 0:
			c.hold(d.devicesOf(c.pool), d.pools[c.pool].Capacity)
		default:
			d.loose[c.pool]++
			loose = append(loose, c)
		}
	}
	d.seatLoose(loose)
	var odd []Warning
	for _, c := range claims {
		if c.odd != "" {
			p := ix.Pod(c.pod)
			odd = append(odd, Warning{KindPod, p.Namespace, p.Name, fmt.Sprintf("Devices[%d]", c.request), c.spec.Resource, c.odd})
		}
	}
	if len(odd) > 0 {
		d.odd[n] = odd
	} else if len(d.odd) > 0 {
		delete(d.odd, n)
	}
}

// devicesOf returns what is free of each device of a pool.
func (d *Devices) devicesOf(p PoolID) []int64 {
	return d.free[d.pools[p].First:][:d.pools[p].Count]
}

// deviceClaim is one request of one running pod.
type deviceClaim struct {
	pod     PodID
	request int
	spec    *DeviceRequest
	pool    PoolID
	odd     string // why it does not hold what it asks for
}

// claims returns the requests of the pods on node n, pod by pod.
func (d *Devices) claims(ix *Index, n NodeID) (claims []*deviceClaim) {
	for _, p := range ix.PodsOn(n) {
		for i := range ix.Pod(p).Devices {
			r := &ix.Pod(p).Devices[i]
			claims = append(claims, &deviceClaim{pod: p, request: i, spec: r, pool: d.poolOn(r.Resource, n)})
		}
	}
	return claims
}

// hold takes the devices that c says that it holds.
func (c *deviceClaim) hold(free []int64, capacity int64) {
	amount := capacity
	if c.spec.Count == 0 {
		amount = min(c.spec.Fraction, capacity)
	}
	for _, i := range c.spec.Assigned {
		if int(i) >= len(free) {
			c.odd = fmt.Sprintf("device %d is not on its node: it does not hold that one", i)
			continue
		}
		if free[i] -= amount; free[i] < 0 {
			c.odd = fmt.Sprintf("device %d is held by more than it has", i)
		}
	}
}

// seatLoose finds out which loose claims have no room on what the others leave.
func (d *Devices) seatLoose(claims []*deviceClaim) {
	slices.SortStableFunc(claims, func(a, b *deviceClaim) int {
		return cmp.Or(-cmp.Compare(min(a.spec.Count, 1), min(b.spec.Count, 1)), -cmp.Compare(a.spec.Fraction, b.spec.Fraction))
	})
	rooms := map[PoolID][]int64{}
	for _, c := range claims {
		room := rooms[c.pool]
		if room == nil {
			room = slices.Clone(d.devicesOf(c.pool))
			rooms[c.pool] = room
		}
		if c.spec.Count == 0 {
			if i := BestFit(room, c.spec.Fraction); i >= 0 {
				room[i] -= c.spec.Fraction
			} else {
				c.odd = "no device on its node has that much room: none there counts as free"
			}
		}
		for range c.spec.Count {
			i := slices.Index(room, d.pools[c.pool].Capacity)
			if i < 0 {
				c.odd = "not enough devices are wholly free on its node: none there counts as free"
				break
			}
			room[i] = 0
		}
	}
}

// BestFit returns the position of the least of free that is at least amount, the
// first of equal ones, or -1.
func BestFit(free []int64, amount int64) int {
	best, least := -1, int64(math.MaxInt64)
	for i, v := range free {
		if v >= amount && (v < least || best < 0) {
			best, least = i, v
		}
	}
	return best
}
