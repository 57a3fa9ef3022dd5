package gang

import (
	"slices"

	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// placeTrial tries who may stay on a place beside members, as far as constraints and ports decide: numbers tell of room. Everybody is
// out of the trial before and after.
type placeTrial struct {
	*attempt
	at  *place
	who []int // items of the place, of which the trial tells
}

// enter puts those back who stay on p, and up to k members there, and returns how many have a place.
func (t *placeTrial) enter(p *place, k int) (seats int) {
	t.at, t.who = p, p.eligible()
	t.stay(t.Trial.Return)
	for ; seats < k && t.Trial.CanPlace(t.q.Tree.Members[seats], p.node).OK(); seats++ {
		t.Trial.Place(t.q.Tree.Members[seats], p.node)
	}
	t.Trial.Fits() // yes; it wants to be asked
	return seats
}

// leave takes back what enter has done.
func (t *placeTrial) leave() {
	t.Trial.UnplaceTo(0)
	t.stay(t.Trial.Remove)
	t.Trial.Settle()
}

// stay moves the pods of those who stay.
func (t *placeTrial) stay(move func(cluster.PodID)) {
	each(t.at.stays, move)
	for i := range t.at.items {
		if t.at.items[i].number > t.at.level {
			each(t.at.items[i].pods, move)
		}
	}
}

func each(pods []cluster.PodID, move func(cluster.PodID)) {
	for _, p := range pods {
		move(p)
	}
}

// Return puts back one who may go.
func (t *placeTrial) Return(i int) { each(t.at.items[t.who[i]].pods, t.Trial.Return) }

// Remove takes one out again.
func (t *placeTrial) Remove(i int) { each(t.at.items[t.who[i]].pods, t.Trial.Remove) }

// May reports whether the members fit beside those who are back: with fewer they do, too.
func (t *placeTrial) May() bool { return t.Trial.Fits().OK() }

// Will reports whether they fit beside all who are not chosen.
func (t *placeTrial) Will(chosen, returned []bool, price int64) (int64, bool) {
	others := func(move func(i int)) {
		for i := range chosen {
			if !chosen[i] && !returned[i] {
				move(i)
			}
		}
	}
	others(t.Return)
	ok := t.Trial.Fits().OK()
	others(t.Remove)
	return price, ok
}

// spares reports whether they fit without the chosen item i gone, too.
func (t *placeTrial) spares(chosen []bool, i int) bool {
	without := slices.Clone(chosen)
	without[i] = false
	_, ok := t.Will(without, make([]bool, len(chosen)), 0)
	return ok
}

// onePlace is in how many parts a whole device, or the place of a fraction, is counted.
const onePlace = 1 << 20

// askDevices adds what members, of whom there are so many, ask for of each kind of devices as if it were a resource of p: a member asks for onePlace,
// or for so many whole devices, and a pod frees at least as much of that as it may, or as all members ask for. A whole device is free once all who hold
// it have gone: each of them frees its part. Before one more fraction fits on a device, what is missing there has to be freed: who holds as much frees
// one place. Where pods do not say what they hold, or a member asks for several parts of a kind, the trial alone knows.
func (p *place) askDevices(ix *cluster.Index, member *cluster.Pod, members int64, units *victims.Units) {
	devices := ix.Devices()
	for i := range member.Devices {
		ask := &member.Devices[i]
		again := func(r cluster.DeviceRequest) bool { return r.Resource == ask.Resource }
		pool := devices.Pools(ask.Resource)[p.node]
		if devices.Loose(pool) > 0 || slices.ContainsFunc(member.Devices[:i], again) || slices.ContainsFunc(member.Devices[i+1:], again) {
			continue
		}
		at := devices.Pool(pool)
		free := devices.Free()[at.First:][:at.Count]
		held := func(pod cluster.PodID) []cluster.Holding {
			return slices.DeleteFunc(devices.Held(nil, ix.Pod(pod), p.node), func(h cluster.Holding) bool {
				return h.Device < at.First || h.Device >= at.First+cluster.DeviceID(at.Count)
			})
		}
		asks, have, missing := int64(onePlace), int64(0), make([]int64, len(free)) // missing: of what a whole place takes
		if ask.Count > 0 {
			asks *= int64(ask.Count)
			for _, pod := range ix.PodsOn(p.node) {
				for _, h := range held(pod) {
					missing[h.Device-at.First]++
				}
			}
		}
		for d, v := range free {
			switch v = max(v, 0); {
			case ask.Count == 0:
				have += min(v/ask.Fraction, members) * onePlace
				missing[d] = ask.Fraction - v%ask.Fraction
			case v == at.Capacity:
				have += onePlace
			}
		}
		frees := make([]int64, len(p.items))
		for k := range p.items {
			for _, pod := range units.Unit(p.items[k].unit).Pods {
				for _, h := range held(pod) {
					part := int64(1)
					if ask.Count == 0 {
						part = h.Amount
					}
					places, rest := checked.MulDiv(part, onePlace, missing[h.Device-at.First])
					if rest {
						places++
					}
					frees[k] = min(frees[k]+places, members*asks)
				}
			}
		}
		p.asks, p.free = append(p.asks, asks), append(p.free, have)
		for k := range p.items {
			p.items[k].frees = append(p.items[k].frees, frees[k])
		}
	}
}
