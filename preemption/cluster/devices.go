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

// Devices tells which running pod holds what of which device. Immutable.
//
// Requests that say what they hold ([DeviceRequest.Assigned]) get just that. The
// others are assigned on each node and for each resource in this order: whole
// devices first, by pod, each the lowest that is wholly free; then fractions, the
// largest first, then by pod, each onto the device with the least room that is
// enough, the lowest of equal ones. A request for which there is no room, or no
// such pool or device on the node, holds nothing and is listed in the warnings.
type Devices struct {
	carriers []PodID

	pools  []Pool
	byName map[string][]PoolID
	free   []int64
	first  []int32 // of each pod in held; one more than there are pods
	held   []Holding
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

// Carriers returns the pods that have device requests, running and pending, in
// ascending order. The slice belongs to d.
func (d *Devices) Carriers() []PodID { return d.carriers }

// Held returns what running pod p holds. The slice belongs to d.
func (d *Devices) Held(p PodID) []Holding {
	if int(p)+1 >= len(d.first) {
		return nil // nobody holds anything, or it came later and has no devices
	}
	return d.held[d.first[p]:d.first[p+1]]
}

// layOutDevices numbers the devices and gives the running pods theirs.
func (ix *Index) layOutDevices() {
	d := &Devices{carriers: ix.carriers.devices, byName: map[string][]PoolID{}}
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
	claims := ix.claimDevices()
	for _, c := range claims {
		d.assign(c)
	}
	d.first = make([]int32, ix.NumPods()+1)
	for _, c := range claims {
		d.first[c.pod+1] += int32(len(c.held))
	}
	for p := range ix.NumPods() {
		d.first[p+1] += d.first[p]
	}
	d.held = make([]Holding, d.first[ix.NumPods()])
	next := slices.Clone(d.first)
	slices.SortFunc(claims, func(a, b *deviceClaim) int {
		return cmp.Or(cmp.Compare(a.pod, b.pod), cmp.Compare(a.request, b.request))
	})
	for _, c := range claims {
		next[c.pod] += int32(copy(d.held[next[c.pod]:], c.held))
		if c.odd != "" {
			p := ix.Pod(c.pod)
			ix.warnPod(p, fmt.Sprintf("Devices[%d]", c.request), p.Devices[c.request].Resource, c.odd)
		}
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

// deviceClaim is one request of one running pod.
type deviceClaim struct {
	pod     PodID
	request int
	spec    *DeviceRequest
	pool    PoolID
	held    []Holding
	odd     string // why it does not hold what it asks for
}

// claimDevices returns the requests of the running pods in order of assignment.
func (ix *Index) claimDevices() []*deviceClaim {
	var claims []*deviceClaim
	for _, p := range ix.carriers.devices {
		n := ix.NodeOf(p)
		if n == NoNode {
			continue
		}
		for i := range ix.Pod(p).Devices {
			c := &deviceClaim{pod: p, request: i, spec: &ix.Pod(p).Devices[i], pool: NoPool}
			if column := ix.devices.byName[c.spec.Resource]; column != nil {
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
			cmp.Compare(a.pod, b.pod), cmp.Compare(a.request, b.request))
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
