package cluster

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/preempt-go/preempt/internal/paged"
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
// Requests that say what they hold ([DeviceRequest.Assigned]) get just that. The
// others are assigned on each node and for each resource in this order: whole
// devices first, by pod, each the lowest that is wholly free; then fractions, the
// largest first, then by pod, each onto the device with the least room that is
// enough, the lowest of equal ones. A request for which there is no room, or no
// such pool or device on the node, holds nothing and is listed in the warnings.
type Devices struct {
	pools  []Pool
	byName map[string][]PoolID

	free    []int64
	held    paged.Column[[]Holding] // by pod; the lists are never changed in place
	odd     map[NodeID][]Warning    // what is odd about the requests of a node's pods
	pending []PodID                 // never changed in place
	shared  bool                    // free and odd are those of a fork, too: copied before they are changed

	poolsShared bool // likewise for pools and byName
	lost        int  // how many devices were those of nodes that are gone
}

// Devices returns the devices of ix.
func (ix *Index) Devices() *Devices { return ix.devices }

// Pools returns the pool of each node for the resource of that name, NoPool where
// there is none; nil if no node has one. The slice belongs to d.
func (d *Devices) Pools(resource string) []PoolID { return d.byName[resource] }

// Pool returns pool p.
func (d *Devices) Pool(p PoolID) Pool { return d.pools[p] }

// Free returns how much of each device no running pod holds, in order of DeviceID;
// below zero where pods say that they hold more than there is. The slice belongs to d.
func (d *Devices) Free() []int64 { return d.free }

// Pending returns the pods that have device requests and run on no node of the index,
// in no order. The slice belongs to d.
func (d *Devices) Pending() []PodID { return d.pending }

// Held returns what running pod p holds. The slice belongs to d.
func (d *Devices) Held(p PodID) []Holding {
	if int(p) >= d.held.Len() {
		return nil // nobody holds anything, or it came later and has no devices
	}
	return *d.held.At(int(p))
}

// layOutDevices numbers the devices and gives the running pods theirs.
func (ix *Index) layOutDevices() {
	d := &Devices{byName: map[string][]PoolID{}, odd: map[NodeID][]Warning{}}
	ix.devices = d
	for n := range ix.NumNodes() {
		node := ix.Node(NodeID(n))
		if len(node.Devices) == 0 {
			continue
		}
		for _, name := range sortedNames(node.Devices) {
			d.addPool(name, NodeID(n), ix.NumNodes(), node.Devices[name])
		}
	}
	if len(ix.carriers.devices) == 0 {
		return
	}
	d.held = paged.Make[[]Holding](ix.NumPods())
	for _, p := range ix.carriers.devices {
		if ix.NodeOf(p) == NoNode {
			d.pending = append(d.pending, p)
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
	for range pool.Count {
		d.free = append(d.free, pool.Capacity)
	}
}

// settle gives the pods on node n their devices.
func (d *Devices) settle(ix *Index, n NodeID) {
	for _, column := range d.byName {
		if column[n] != NoPool {
			pool := d.pools[column[n]]
			for i := range pool.Count {
				d.free[pool.First+DeviceID(i)] = pool.Capacity
			}
		}
	}
	claims := d.claims(ix, n)
	for _, c := range claims {
		d.assign(c)
	}
	d.keep(ix, n, claims)
}

// keep notes what came of the claims of the pods on node n.
func (d *Devices) keep(ix *Index, n NodeID, claims []*deviceClaim) {
	slices.SortFunc(claims, func(a, b *deviceClaim) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.request, b.request))
	})
	var odd []Warning
	var all []Holding
	for i, c := range claims {
		start := len(all)
		if i > 0 && claims[i-1].pod == c.pod {
			start -= len(*d.held.At(int(c.pod)))
		}
		all = append(all, c.held...)
		*d.held.Edit(int(c.pod)) = all[start:len(all):len(all)]
		if c.odd != "" {
			p := ix.Pod(c.pod)
			odd = append(odd, Warning{KindPod, p.Namespace, p.Name, fmt.Sprintf("Devices[%d]", c.request), p.Devices[c.request].Resource, c.odd})
		}
	}
	if len(odd) > 0 {
		d.odd[n] = odd
	} else if len(d.odd) > 0 {
		delete(d.odd, n)
	}
}

// deviceClaim is one request of one running pod.
type deviceClaim struct {
	pod     PodID
	order   int // of the pod among those on its node
	request int
	spec    *DeviceRequest
	pool    PoolID
	held    []Holding
	odd     string // why it does not hold what it asks for
}

// claims returns the requests of the pods on node n in order of assignment.
func (d *Devices) claims(ix *Index, n NodeID) []*deviceClaim {
	var claims []*deviceClaim
	for order, p := range ix.PodsOn(n) {
		for i := range ix.Pod(p).Devices {
			c := &deviceClaim{pod: p, order: order, request: i, spec: &ix.Pod(p).Devices[i], pool: NoPool}
			if column := d.byName[c.spec.Resource]; column != nil {
				c.pool = column[n]
			}
			claims = append(claims, c)
		}
	}
	slices.SortFunc(claims, func(a, b *deviceClaim) int {
		return cmp.Or(
			-cmp.Compare(min(len(a.spec.Assigned), 1), min(len(b.spec.Assigned), 1)),
			-cmp.Compare(min(a.spec.Count, 1), min(b.spec.Count, 1)),
			-cmp.Compare(a.spec.Fraction, b.spec.Fraction),
			cmp.Compare(a.order, b.order), cmp.Compare(a.request, b.request))
	})
	return claims
}

// assign gives c its devices, or says in c.odd why not.
func (d *Devices) assign(c *deviceClaim) {
	if c.pool == NoPool {
		c.odd = "no such devices on its node: it holds none"
		return
	}
	pool := d.pools[c.pool]
	free := d.free[pool.First:][:pool.Count]
	if len(c.spec.Assigned) > 0 {
		for _, i := range c.spec.Assigned {
			if i >= pool.Count {
				c.odd = fmt.Sprintf("device %d is not on its node: it does not hold that one", i)
				continue
			}
			c.hold(free, pool, i)
			if free[i] < 0 {
				c.odd = fmt.Sprintf("device %d is held by more than it has", i)
			}
		}
		return
	}
	if c.spec.Count > 0 {
		var whole []int32
		for i, v := range free {
			if v == pool.Capacity && len(whole) < int(c.spec.Count) {
				whole = append(whole, int32(i))
			}
		}
		if len(whole) < int(c.spec.Count) {
			c.odd = "not enough devices are wholly free on its node: it holds none"
			return
		}
		for _, i := range whole {
			c.hold(free, pool, i)
		}
		return
	}
	i := BestFit(free, c.spec.Fraction)
	if i < 0 {
		c.odd = "no device on its node has that much room: it holds none"
		return
	}
	c.hold(free, pool, int32(i))
}

func (c *deviceClaim) hold(free []int64, pool Pool, i int32) {
	amount := pool.Capacity
	if c.spec.Count == 0 {
		amount = min(c.spec.Fraction, pool.Capacity)
	}
	free[i] -= amount
	c.held = append(c.held, Holding{pool.First + DeviceID(i), amount})
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
