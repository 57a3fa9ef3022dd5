package losses

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// kind is what equal members ask for of one kind of devices, on the node that is looked at.
type kind struct {
	ask   *cluster.DeviceRequest
	pool  cluster.Pool
	free  []int64 // of each device, beside those who are back
	known bool    // who runs there says what it holds
}

// kindsOf returns the kinds of devices that each member asks for; nil if they differ, ask for none, or ask for several parts of one kind.
func kindsOf(t *domain.GangTrial) (kinds []kind) {
	if t.Members() == 0 || len(t.Member(0).Pod.Devices) == 0 || !t.PlacersAgree() {
		return nil
	}
	asks := t.Member(0).Pod.Devices
	for i := range asks {
		if slices.ContainsFunc(asks[:i], func(r cluster.DeviceRequest) bool { return r.Resource == asks[i].Resource }) {
			return nil
		}
		kinds = append(kinds, kind{ask: &asks[i]})
	}
	return kinds
}

// freeDevices lets everybody be gone from node n who may go.
func (o *Offers) freeDevices(n cluster.NodeID, on []stand) {
	devices := o.us.Index().Devices()
	for i := range o.kinds {
		k := &o.kinds[i]
		column := devices.Pools(k.ask.Resource)
		if k.known = column != nil && column[n] != cluster.NoPool && devices.Loose(column[n]) == 0; k.known {
			k.pool = devices.Pool(column[n])
			k.free = append(k.free[:0], devices.Free()[k.pool.First:][:k.pool.Count]...)
			for s := range on {
				k.hold(on[s].held, +1)
			}
		}
	}
}

// hold adds to what is free what is held of k.
func (k *kind) hold(held []cluster.Holding, sign int64) {
	for _, h := range held {
		if at := h.Device - k.pool.First; at >= 0 && int32(at) < k.pool.Count {
			k.free[at] += sign * h.Amount
		}
	}
}

// places is for how many members there are devices of kind k.
func (k *kind) places() (places int64) {
	for _, v := range k.free {
		switch {
		case k.ask.Count == 0:
			places += max(v, 0) / k.ask.Fraction
		case v == k.pool.Capacity:
			places++
		}
	}
	return places / int64(max(k.ask.Count, 1))
}

// devicesStay puts back what s holds if so many members have devices beside it.
func (o *Offers) devicesStay(s *stand, members int) bool {
	if len(s.held) == 0 {
		return true
	}
	stays := true
	for i := range o.kinds {
		if k := &o.kinds[i]; k.known {
			k.hold(s.held, -1)
			stays = stays && k.places() >= int64(members)
		}
	}
	for i := range o.kinds {
		if k := &o.kinds[i]; k.known && !stays {
			k.hold(s.held, +1)
		}
	}
	return stays
}
