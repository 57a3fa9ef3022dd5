package devices

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Ask is what one pod wants of one resource.
type Ask struct {
	Resource  int // among the names that are asked about
	Whole     int32
	Fractions []int64 // the largest first
	Text      string  // what is missing where it is not met
}

// Asks sums up, for each resource, which have such numbers, what p asks for.
func Asks(numbers map[string]int, p *cluster.Pod) (asks []Ask) {
	at := map[string]int{}
	for i := range p.Devices {
		r := &p.Devices[i]
		if _, known := at[r.Resource]; !known {
			at[r.Resource] = len(asks)
			asks = append(asks, Ask{Resource: numbers[r.Resource]})
		}
		a := &asks[at[r.Resource]]
		a.Whole += r.Count
		if r.Count == 0 {
			a.Fractions = append(a.Fractions, r.Fraction)
		}
	}
	for name, i := range at {
		a := &asks[i]
		slices.Sort(a.Fractions)
		slices.Reverse(a.Fractions)
		a.Text = a.describe(name)
	}
	return asks
}

// Equals reports whether a and b want the same.
func (a *Ask) Equals(b *Ask) bool {
	return a.Resource == b.Resource && a.Whole == b.Whole && slices.Equal(a.Fractions, b.Fractions)
}

// CouldFit reports whether a has room in an empty pool; where it asks for several fractions, whether they have by their size and sum.
func (a *Ask) CouldFit(pool cluster.Pool) bool {
	var sum int64
	for _, f := range a.Fractions {
		if f > pool.Capacity {
			return false
		}
		sum += f
	}
	return a.Whole <= pool.Count && sum <= int64(pool.Count-a.Whole)*pool.Capacity
}

func (a *Ask) describe(resource string) string {
	switch {
	case a.Whole == 0 && len(a.Fractions) == 1:
		return fmt.Sprintf("%s: %d of one device", resource, a.Fractions[0])
	case a.Whole == 0:
		return fmt.Sprintf("%s: fractions %d", resource, a.Fractions)
	case len(a.Fractions) == 0:
		return fmt.Sprintf("%s: %d whole", resource, a.Whole)
	}
	return fmt.Sprintf("%s: %d whole and fractions %d", resource, a.Whole, a.Fractions)
}

// Room is what is free of a pool, and what those ask for of it who hold no certain device.
type Room struct {
	capacity int64   // of a device
	free     []int64 // on each device
	partly   []int64 // on each of the devices that are not wholly free, ascending
	own      bool    // both are those of this room alone
	whole    int64   // how many are
	asked    int64   // so many whole devices are asked for,
	parts    []part  // and these fractions, ascending but for those from sorted on
	lent     bool    // parts are another room's, which are all sorted; its own are to go into
	buffer   []part
	sorted   int
	sum      int64 // of them
	large    int64 // so many of them are larger than half a device
}

func (r *Room) isLarge(size int64) bool { return size > r.capacity/2 }

// part is how many fractions of one size are asked for.
type part struct{ size, count int64 }

// Known is what is known of devices with everybody in place, for who asks about many pods. Not safe for concurrent use.
type Known struct {
	rooms map[cluster.PoolID]*Room // which are not to be changed
	loose map[string][]int64
}

// NewKnown knows nothing yet.
func NewKnown() *Known { return &Known{map[cluster.PoolID]*Room{}, map[string][]int64{}} }

// Loose are two of the sizes of fractions of resource that pods hold who do not say where, or all; of nil all, looked up each time.
func (k *Known) Loose(d *cluster.Devices, resource string) []int64 {
	if k == nil {
		return d.LooseFractions(resource)
	}
	sizes, known := k.loose[resource]
	if !known {
		sizes = d.LooseFractions(resource)
		sizes = slices.Clip(sizes[:min(len(sizes), 2)])
		k.loose[resource] = sizes
	}
	return sizes
}

// NewRoom is the room where so much is free on each device, which it does not change, and nothing is asked for.
func NewRoom(free []int64, capacity int64) *Room {
	r := &Room{capacity: capacity, free: free}
	for _, v := range free {
		if v == capacity {
			r.whole++
		} else {
			r.partly = append(r.partly, v)
		}
	}
	slices.Sort(r.partly)
	return r
}

// Clone is an independent copy.
func (r *Room) Clone() *Room {
	c := *r
	c.free, c.own, c.partly, c.parts, c.lent = slices.Clone(r.free), true, slices.Clone(r.partly), slices.Clone(r.parts), false
	return &c
}

// Share makes c, which it returns, a copy of r, which is not to be changed any more: c copies what it has once it changes.
func (r *Room) Share(c *Room) *Room {
	r.sort()
	buffer := c.buffer
	if !c.lent {
		buffer = c.parts
	}
	*c = *r
	c.own, c.lent, c.buffer = false, true, buffer
	return c
}

// Free lets so much more be free on a device.
func (r *Room) Free(device int, amount int64) {
	if !r.own {
		r.free, r.partly, r.own = slices.Clone(r.free), slices.Clone(r.partly), true
	}
	if was := r.free[device]; was == r.capacity {
		r.whole--
	} else {
		r.partly = without(r.partly, was)
	}
	if r.free[device] += amount; r.free[device] == r.capacity {
		r.whole++
	} else {
		r.partly = with(r.partly, r.free[device])
	}
}

// Ask lets so many more whole devices be asked for (below zero: fewer), and by more fractions of that size, if it is not 0.
func (r *Room) Ask(whole, size, by int64) {
	r.asked += whole
	if size == 0 {
		return
	}
	if r.lent {
		r.parts, r.lent = append(r.buffer[:0], r.parts...), false
	}
	size = min(size, r.capacity+1) // larger ones have no more room
	if r.sum += by * size; r.isLarge(size) {
		r.large += by
	}
	if at, found := slices.BinarySearchFunc(r.parts[:r.sorted], size, comparePart); found {
		r.parts[at].count += by
	} else {
		r.parts = append(r.parts, part{size, by})
	}
}

func comparePart(p part, size int64) int { return cmp.Compare(p.size, size) }

// sort puts the fractions in order.
func (r *Room) sort() {
	if r.sorted == len(r.parts) {
		return
	}
	slices.SortFunc(r.parts, func(a, b part) int { return comparePart(a, b.size) })
	some := r.parts[:0]
	for _, p := range r.parts {
		if last := len(some) - 1; last >= 0 && some[last].size == p.size {
			some[last].count += p.count
		} else {
			some = append(some, p)
		}
	}
	r.parts, r.sorted = some, len(some)
}

// with is list, which is in order, with v, without is list without it.
func with(list []int64, v int64) []int64 {
	at, _ := slices.BinarySearch(list, v)
	return slices.Insert(list, at, v)
}

func without(list []int64, v int64) []int64 {
	at, _ := slices.BinarySearch(list, v)
	return slices.Delete(list, at, at+1)
}

// Seats reports whether whole devices and fractions, the largest first, have room in r beside what is asked for: the largest fraction comes
// first, each where the least room is left that is enough. buffer is for what is free then; it is returned for the next call. It ends
// as soon as there is too little room for all the others, or so much that it is enough however they sit. O(p + d + s*log d), and what
// moves there, for p sizes and s seats on d devices, which it counts: equal fractions that go to one device have one.
func (r *Room) Seats(buffer []int64, whole int64, fractions []int64) (ok bool, seats int64, _ []int64) {
	wholly := r.whole - r.asked - whole // fractions may take so many
	r.sort()
	rest, least := r.sum, r.capacity
	for _, f := range fractions {
		rest, least = rest+min(f, r.capacity+1), min(least, f)
	}
	if wholly < 0 || rest == 0 {
		return wholly >= 0, 0, buffer
	}
	if at := slices.IndexFunc(r.parts, func(p part) bool { return p.count > 0 }); at >= 0 {
		least = min(least, r.parts[at].size)
	}
	from, _ := slices.BinarySearch(r.partly, least)
	room := append(buffer[:0], r.partly[from:]...) // nobody sits on the others
	all, devices := wholly*r.capacity, wholly+int64(len(room))
	for _, v := range room {
		all += v
	}
	large := r.large
	for i := 0; i < len(fractions) && r.isLarge(fractions[i]); i++ {
		large++
	}
	if large > devices { // each takes a device of its own
		return false, 0, room
	}
	last, left := len(r.parts), int64(0) // so many of the last size are left
	for rest > 0 {
		for ; left == 0 && last > 0; left = r.parts[last].count {
			last--
		}
		f, n := int64(0), left
		if left > 0 {
			f = r.parts[last].size
		}
		next := len(fractions) > 0 && fractions[0] > f
		if next {
			f, n = fractions[0], 1
		}
		switch {
		case f > r.capacity, rest > all:
			return false, seats, room
		case all-rest >= devices*(f-1): // else all devices had less than f
			return true, seats, room
		}
		at, _ := slices.BinarySearch(room, f)
		if at == len(room) { // the next that is wholly free: those that are not have less
			if wholly == 0 {
				return false, seats, room
			}
			wholly--
			room = append(room, r.capacity)
		}
		seats, n = seats+1, min(n, room[at]/f)
		spare := room[at] - n*f
		to, _ := slices.BinarySearch(room[:at], spare)
		copy(room[to+1:], room[to:at])
		if room[to], all, rest = spare, all-n*f, rest-n*f; next {
			fractions = fractions[1:]
		} else {
			left -= n
		}
	}
	return true, seats, room
}
