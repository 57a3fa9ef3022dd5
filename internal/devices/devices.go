package devices

import (
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

// Asks sums up, for each resource of names, what p asks for.
func Asks(names []string, p *cluster.Pod) (asks []Ask) {
	for i := range p.Devices {
		r := &p.Devices[i]
		number := slices.Index(names, r.Resource)
		at := slices.IndexFunc(asks, func(a Ask) bool { return a.Resource == number })
		if at < 0 {
			at = len(asks)
			asks = append(asks, Ask{Resource: number})
		}
		a := &asks[at]
		a.Whole += r.Count
		if r.Count == 0 {
			a.Fractions = append(a.Fractions, r.Fraction)
		}
	}
	for i := range asks {
		a := &asks[i]
		slices.Sort(a.Fractions)
		slices.Reverse(a.Fractions)
		a.Text = a.describe(names[a.Resource])
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

// Room is what is free of a pool.
type Room struct {
	capacity int64   // of a device
	partly   []int64 // on each of the devices that are not wholly free, ascending
	whole    int32   // how many are
}

// NewRoom is the room where so much is free on each device.
func NewRoom(free []int64, capacity int64) Room {
	r := Room{capacity: capacity}
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

// Seat reports whether so many whole devices and fractions, which it sorts, have room in r: the largest fraction comes first, each where the
// least room is left that is enough. buffer is for what is free then; it is returned for the next call. O(f log d), and what moves there, for
// f fractions on d devices.
func (r Room) Seat(buffer []int64, whole int32, fractions []int64) (ok bool, _ []int64) {
	slices.Sort(fractions)
	room := append(buffer[:0], r.partly...)
	for _, f := range slices.Backward(fractions) {
		at, _ := slices.BinarySearch(room, f)
		if at == len(room) { // the next that is wholly free: those that are not have less
			if r.whole == 0 || f > r.capacity {
				return false, room
			}
			r.whole--
			room = append(room, r.capacity)
		}
		left := room[at] - f
		to, _ := slices.BinarySearch(room[:at], left)
		copy(room[to+1:], room[to:at])
		room[to] = left
	}
	return whole <= r.whole, room
}
