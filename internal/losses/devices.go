package losses

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// kind is what members ask for of one kind of devices.
type kind struct {
	resource string
	asks     []*cluster.DeviceRequest // by member; nil: nothing
	ask      *cluster.DeviceRequest   // of those on the node that is looked at, or who are to come there,
	members  int64                    // so many
	pool     cluster.Pool
	free     []int64 // of each device, beside those who are back
	known    bool    // those members ask for the same, and who runs there says what it holds
}

// kindsOf returns the kinds of devices that members ask for, without those of which some member asks for several parts.
func kindsOf(t *domain.GangTrial) (kinds []kind) {
	at := map[string]int{}
	parts := map[string]bool{}
	for m := range t.Members() {
		asks := t.Member(domain.MemberID(m)).Pod.Devices
		for i := range asks {
			name := asks[i].Resource
			if _, seen := at[name]; !seen {
				at[name] = len(kinds)
				kinds = append(kinds, kind{resource: name, asks: make([]*cluster.DeviceRequest, t.Members())})
			}
			k := &kinds[at[name]]
			parts[name] = parts[name] || k.asks[m] != nil
			k.asks[m] = &asks[i]
		}
	}
	return slices.DeleteFunc(kinds, func(k kind) bool { return parts[k.resource] })
}

// need counts member m among those on the node.
func (k *kind) need(m domain.MemberID) {
	ask := k.asks[m]
	if ask == nil {
		return
	}
	k.known = k.members == 0 || k.known && k.ask.AsksAs(*ask)
	k.ask, k.members = ask, k.members+1
}

// freeDevices lets everybody be gone from node n who may go.
func (o *Offers) freeDevices(n cluster.NodeID, on []stand) {
	devices := o.us.Index().Devices()
	for i := range o.kinds {
		k := &o.kinds[i]
		column := devices.Pools(k.resource)
		if k.known = k.known && k.members > 0 && column != nil && column[n] != cluster.NoPool && devices.Loose(column[n]) == 0; k.known {
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

// devicesStay puts back what s holds if the members have devices beside it.
func (o *Offers) devicesStay(s *stand) bool {
	if len(s.held) == 0 {
		return true
	}
	stays := true
	for i := range o.kinds {
		if k := &o.kinds[i]; k.known {
			k.hold(s.held, -1)
			stays = stays && k.places() >= k.members
		}
	}
	for i := range o.kinds {
		if k := &o.kinds[i]; k.known && !stays {
			k.hold(s.held, +1)
		}
	}
	return stays
}
