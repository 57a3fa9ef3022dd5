package domain

import (
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Members compiles the pods of a gang, one after the other. Those that ask for what the one before asks for share rows with it.
type Members struct {
	ix     *cluster.Index
	filter Filter
	room   []Member
	last   *Member
	asks   []amount // what last asks for, by name
}

// amount is one entry of [cluster.Resources].
type amount struct {
	name  string
	value int64
}

// NewMembers returns Members for ix, with room for so many. They obey filter unless it is nil.
func NewMembers(ix *cluster.Index, most int, filter Filter) *Members {
	return &Members{ix: ix, filter: filter, room: make([]Member, 0, most)}
}

// Add is [NewMember].
func (ms *Members) Add(pod *cluster.Pod, id cluster.PodID) *Member {
	if len(ms.room) == cap(ms.room) {
		ms.room = make([]Member, 0, max(8, cap(ms.room)))
	}
	ms.room = append(ms.room, Member{Pod: pod, ID: id, ports: pod.Ports, rule: NewNodeRule(pod)})
	m := &ms.room[len(ms.room)-1]
	m.Restrict(ms.filter)
	if ms.last != nil && ms.asksAlike(pod.Requests) {
		m.request, m.asks, m.unknown = ms.last.request, ms.last.asks, ms.last.unknown
		return m
	}
	m.readRequests(ms.ix)
	ms.last, ms.asks = m, ms.asks[:0]
	for name, value := range pod.Requests {
		ms.asks = append(ms.asks, amount{name, value})
	}
	return m
}

// asksAlike reports whether r is what the last pod asks for.
func (ms *Members) asksAlike(r cluster.Resources) bool {
	return len(r) == len(ms.asks) && !slices.ContainsFunc(ms.asks, func(a amount) bool {
		v, ok := r[a.name]
		return !ok || v != a.value
	})
}
