package suits

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Wants is how much p asks for of each resource of which there are devices.
func Wants(p *cluster.Pod) map[string]Want {
	wants := map[string]Want{}
	for _, r := range p.Devices {
		w := wants[r.Resource]
		if r.Count > 0 {
			w.whole += int64(r.Count)
		} else {
			w.sum, w.largest = w.sum+r.Fraction, max(w.largest, r.Fraction)
		}
		wants[r.Resource] = w
	}
	return wants
}

// Want is so many whole devices of a pool, and fractions.
type Want struct{ whole, sum, largest int64 }

// Suits reports whether all devices of pool, were they free, could be enough: by the sum of the fractions, and each of them.
func (w Want) Suits(pool cluster.DevicePool) bool {
	return w.largest <= pool.Capacity && w.whole <= int64(pool.Count) && w.sum <= (int64(pool.Count)-w.whole)*pool.Capacity
}

// Seating is who takes which devices of a node: those who run there what they say they hold, and who runs there without saying, and the
// guests, what room there is: fractions, the largest first, each where the least room is left that is enough, then whole devices.
type Seating struct {
	pools map[string]cluster.DevicePool
	of    map[string]*seats // of pools of which somebody takes some
}

// seats are those of one pool.
type seats struct {
	pool  cluster.DevicePool
	free  []int64 // of each device; nil: all of all of them
	rooms []room  // of these, in order; nil: not since one has changed
	whole int64   // devices that are asked for
	parts []part  // fractions that are asked for
	inRow int     // so many of these are ascending, each size once
	sum   int64   // of them
	large int64   // how many are larger than half a device, which has room for one of them
}

// part is how many fractions of a size are asked for.
type part struct{ size, count int64 }

// room is how many devices have so much left.
type room struct{ left, count int64 }

// NewSeating is that of n.
func NewSeating(n *cluster.Node, run, guests []*cluster.Pod) *Seating {
	s := &Seating{n.Devices, map[string]*seats{}}
	for _, p := range run {
		s.Take(p, true, +1)
	}
	for _, p := range guests {
		s.Take(p, false, +1)
	}
	return s
}

// Clone returns one that does not follow s.
func (s *Seating) Clone() *Seating {
	c := &Seating{s.pools, make(map[string]*seats, len(s.of))}
	for resource, of := range s.of {
		of.ordered()
		copied := *of
		copied.free, copied.parts = slices.Clone(of.free), slices.Clone(of.parts)
		c.of[resource] = &copied
	}
	return c
}

// Take lets p, who runs there or is a guest, come (+1) or go (-1).
func (s *Seating) Take(p *cluster.Pod, runs bool, by int64) {
	for _, r := range p.Devices {
		pool, has := s.pools[r.Resource]
		if !has {
			continue
		}
		of := s.of[r.Resource]
		if of == nil {
			of = &seats{pool: pool}
			s.of[r.Resource] = of
		}
		switch {
		case runs && len(r.Assigned) > 0:
			of.hold(r, by)
		case r.Count > 0:
			of.whole += by * int64(r.Count)
		case r.Fraction > 0:
			size := min(r.Fraction, pool.Capacity+1) // larger ones have no more room
			if of.sum += by * size; size > pool.Capacity/2 {
				of.large += by
			}
			if i, known := slices.BinarySearchFunc(of.parts[:of.inRow], size, part.compare); known {
				of.parts[i].count += by
			} else {
				of.parts = append(of.parts, part{size, by})
			}
		}
	}
}

func (s *seats) hold(r cluster.DeviceRequest, by int64) {
	if s.free == nil {
		s.free = slices.Repeat([]int64{s.pool.Capacity}, int(s.pool.Count))
	}
	s.rooms = nil
	for _, i := range r.Assigned {
		if i < s.pool.Count {
			s.free[i] -= by * amountOf(r, s.pool)
		}
	}
}

// amountOf is how much of each device r takes.
func amountOf(r cluster.DeviceRequest, pool cluster.DevicePool) int64 {
	if r.Count > 0 {
		return pool.Capacity
	}
	return min(pool.Capacity, r.Fraction)
}

// Full reports whether, with p there, more fractions are large than there are devices, which can be told before anybody sits.
func (s *Seating) Full(p *cluster.Pod) bool {
	large := map[string]int64{}
	for _, r := range p.Devices {
		if r.Count == 0 && r.Fraction > s.pools[r.Resource].Capacity/2 {
			large[r.Resource]++
		}
		if of := s.of[r.Resource]; of != nil && of.large+large[r.Resource] > int64(of.pool.Count) {
			return true
		}
	}
	return false
}

// Seats reports whether all have room who ask for a resource, as somebody does. It ends as soon as sums tell.
func (s *Seating) Seats(resource string) bool {
	of := s.of[resource]
	rooms, all, devices := of.ordered(), int64(0), int64(0)
	if last := len(rooms) - 1; of.whole > 0 {
		if last < 0 || rooms[last].left < of.pool.Capacity || rooms[last].count < of.whole {
			return false
		}
		if rooms[last].count -= of.whole; rooms[last].count == 0 {
			rooms = rooms[:last]
		}
	}
	least := slices.IndexFunc(of.parts, func(p part) bool { return p.count > 0 })
	for _, r := range rooms {
		if least >= 0 && r.left >= of.parts[least].size {
			all, devices = all+r.left*r.count, devices+r.count
		}
	}
	for rest, i := of.sum, len(of.parts)-1; rest > 0; i-- {
		p, left := of.parts[i], int64(0)
		if all-rest >= devices*(p.size-1) { // else all devices had less than that
			return true
		}
		if rest > all {
			return false
		}
		if rooms, left = p.sit(rooms); left > 0 {
			return false
		}
		all, rest = all-p.size*p.count, rest-p.size*p.count
	}
	return true
}

// Held is how many devices they hold, wholly or in part.
func (s *Seating) Held() (sum int64) {
	for _, of := range s.of {
		rooms, wholly := of.ordered(), int64(0)
		for _, p := range slices.Backward(of.parts) {
			rooms, _ = p.sit(rooms)
		}
		if last := len(rooms) - 1; last >= 0 && rooms[last].left == of.pool.Capacity {
			wholly = rooms[last].count
		}
		sum += int64(of.pool.Count) - wholly + min(of.whole, wholly)
	}
	return sum
}

// sit returns what is left of rooms, and how many have none.
func (p part) sit(rooms []room) (_ []room, rest int64) {
	for rest = p.count; rest > 0; {
		i := enough(rooms, p.size)
		if i == len(rooms) {
			break
		}
		each := min(rest, rooms[i].left/p.size) // there is still no other device with less room
		n := min(rooms[i].count, rest/each)
		rooms, rest = fill(rooms, i, n, rooms[i].left-each*p.size), rest-each*n
	}
	return rooms, rest
}

func (p part) compare(size int64) int { return cmp.Compare(p.size, size) }

// enough is the first of rooms with as much, or how many there are.
func enough(rooms []room, size int64) (i int) {
	for end := len(rooms); i < end; {
		if mid := (i + end) / 2; rooms[mid].left < size {
			i = mid + 1
		} else {
			end = mid
		}
	}
	return i
}

// ordered puts the fractions in order, and returns what room devices have before anybody sits, to be written to.
func (s *seats) ordered() []room {
	if s.inRow < len(s.parts) {
		slices.SortFunc(s.parts, func(a, b part) int { return a.compare(b.size) })
		row := s.parts[:0]
		for _, p := range s.parts {
			if last := len(row) - 1; last >= 0 && row[last].size == p.size {
				row[last].count += p.count
			} else {
				row = append(row, p)
			}
		}
		s.parts, s.inRow = row, len(row)
	}
	if s.rooms == nil && s.free == nil && s.pool.Count > 0 {
		s.rooms = []room{{s.pool.Capacity, int64(s.pool.Count)}}
	}
	if s.rooms == nil {
		for _, v := range slices.Sorted(slices.Values(s.free)) {
			if last := len(s.rooms) - 1; last < 0 || s.rooms[last].left < v {
				s.rooms = append(s.rooms, room{left: v})
			}
			s.rooms[len(s.rooms)-1].count++
		}
	}
	return slices.Clone(s.rooms)
}

// fill leaves so much on n of those of the i-th room.
func fill(rooms []room, i int, n, left int64) []room {
	to := enough(rooms[:i], left)
	rooms[i].count -= n
	switch known, gone := to < i && rooms[to].left == left, rooms[i].count == 0; {
	case known && gone:
		rooms[to].count += n
		return slices.Delete(rooms, i, i+1)
	case known:
		rooms[to].count += n
	case gone:
		copy(rooms[to+1:i+1], rooms[to:i])
		rooms[to] = room{left, n}
	default:
		return slices.Insert(rooms, to, room{left, n})
	}
	return rooms
}

// Shares tells of the devices that members ask for as if they were resources; nil: nothing.
type Shares struct {
	asks    []cluster.DeviceRequest // of each member
	members int64
	on      map[*cluster.Node]map[string]*Share
}

// SharesOf returns those of up to so many members of some pods, all of whom ask for the same.
func SharesOf(pods int, members int64, of func(pod int) []cluster.DeviceRequest) *Shares {
	alike := func(x, y cluster.DeviceRequest) bool {
		return x.Resource == y.Resource && x.Count == y.Count && x.Fraction == y.Fraction
	}
	for pod := range pods {
		if !slices.EqualFunc(of(pod), of(0), alike) {
			return nil
		}
	}
	return &Shares{of(0), members, map[*cluster.Node]map[string]*Share{}}
}

// Share is what one member asks for of a kind of devices of a node.
type Share struct {
	Asks, Free int64
	most       int64 // nobody frees more
	resource   string
	pool       cluster.DevicePool
	missing    []int64 // by device: of what a whole place takes
	parts      bool    // a member asks for a fraction
}

// onePlace is in how many parts a device, or the place of a fraction, is counted.
const onePlace = 1 << 20

// On are the kinds of node n, where run says who runs, that a member asks for once and of which all say what they hold, by the names that proofs have.
func (s *Shares) On(n *cluster.Node, run func() []*cluster.Pod) map[string]*Share {
	if s == nil {
		return nil
	}
	list, known := s.on[n]
	if known {
		return list
	}
	list = map[string]*Share{}
	s.on[n] = list
	for i, r := range s.asks {
		pool, ok := n.Devices[r.Resource]
		again := func(o cluster.DeviceRequest) bool { return o.Resource == r.Resource }
		if !ok || slices.ContainsFunc(s.asks[:i], again) || slices.ContainsFunc(s.asks[i+1:], again) {
			continue
		}
		k := &Share{Asks: onePlace * max(int64(r.Count), 1), resource: r.Resource, pool: pool, missing: make([]int64, pool.Count), parts: r.Count == 0}
		k.most = min(s.members, math.MaxInt64/k.Asks) * k.Asks
		free, loose := slices.Repeat([]int64{pool.Capacity}, int(pool.Count)), false
		for _, p := range run() {
			loose = loose || slices.ContainsFunc(p.Devices, func(o cluster.DeviceRequest) bool { return again(o) && len(o.Assigned) == 0 })
			k.held(p, func(device int32, amount int64) {
				free[device] -= amount
				k.missing[device]++
			})
		}
		for device, v := range free {
			v = max(v, 0)
			switch {
			case k.parts:
				k.Free += min(v/r.Fraction, s.members) * onePlace
				k.missing[device] = r.Fraction - v%r.Fraction
			case v == pool.Capacity:
				k.Free += onePlace
			}
		}
		if !loose {
			list["devices "+r.Resource] = k
		}
	}
	return list
}

// held calls do for each device of the kind that p says that it holds.
func (k *Share) held(p *cluster.Pod, do func(device int32, amount int64)) {
	for _, r := range p.Devices {
		for _, device := range r.Assigned {
			if r.Resource == k.resource && device < k.pool.Count {
				do(device, amountOf(r, k.pool))
			}
		}
	}
}

// Add is sum and what pod p of the node frees of it, at most.
func (k *Share) Add(sum int64, p *cluster.Pod) int64 {
	k.held(p, func(device int32, amount int64) {
		if !k.parts {
			amount = 1
		}
		places, missing := k.most, uint64(k.missing[device])
		if high, low := bits.Mul64(uint64(amount), onePlace); high < missing {
			if whole, rest := bits.Div64(high, low, missing); whole < uint64(places) {
				places = int64(whole) + int64(min(rest, 1))
			}
		}
		sum = min(k.most, sum+places)
	})
	return sum
}
