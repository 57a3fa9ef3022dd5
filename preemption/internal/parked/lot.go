package parked

import (
	"math"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Lot keeps an entry for each key, and the question that it is about, in the order in which
// they were put. The zero Lot is empty.
type Lot[K comparable, Q any] struct {
	Changes Changes
	list    []place[K, Q]
	at      map[K]int
}

type place[K comparable, Q any] struct {
	key      K
	entry    Entry
	question Q
}

// Len is how many there are.
func (l *Lot[K, Q]) Len() int { return len(l.list) }

// Put adds an entry, or puts it in the place of the one of its key.
func (l *Lot[K, Q]) Put(key K, e Entry, q Q) {
	if l.at == nil {
		l.at = map[K]int{}
	}
	i, ok := l.at[key]
	if !ok {
		i = len(l.list)
		l.at[key], l.list = i, append(l.list, place[K, Q]{})
	}
	l.list[i] = place[K, Q]{key, e, q}
}

// Delete takes the entry of key away, if there is one.
func (l *Lot[K, Q]) Delete(key K) {
	if i, ok := l.at[key]; ok {
		l.keep(func(p *place[K, Q]) bool { return p != &l.list[i] })
	}
}

// keep lets those stay that stays says.
func (l *Lot[K, Q]) keep(stays func(p *place[K, Q]) bool) {
	kept := 0
	for i := range l.list {
		if !stays(&l.list[i]) {
			delete(l.at, l.list[i].key)
			continue
		}
		if kept < i {
			l.list[kept] = l.list[i]
			l.at[l.list[kept].key] = kept
		}
		kept++
	}
	clear(l.list[kept:])
	l.list = l.list[:kept]
}

// Until is the first second, since 1970, at which time may answer somebody: who has waited, or who would
// evict units of which something changes then, lone pods' or grouped ones; Never if there is none.
func (l *Lot[K, Q]) Until(lone, grouped func() *victims.Units) int64 {
	first, alone, groups := int64(Never), false, false
	for i := range l.list {
		e := &l.list[i].entry
		first = min(first, e.Until)
		alone = alone || e.Any || e.Evicts && !e.Grouped
		groups = groups || e.Any || e.Evicts && e.Grouped
	}
	if alone {
		first = min(first, lone().Due())
	}
	if groups {
		first = min(first, grouped().Due())
	}
	return first
}

// Wake takes out whoever the changes may have answered, and forgets the changes. lone are
// the units that lone pods meet, grouped those that groups do, each asked for where an entry
// needs them. O(e n r) for e entries, n
// nodes that have changed and r resources, and O(k log k) for each such node of k units.
func (l *Lot[K, Q]) Wake(ix *cluster.Index, lone, grouped func() *victims.Units) []Q {
	now := int64(math.MinInt64)
	if t := ix.Time(); !t.IsZero() {
		now = t.Unix()
	}
	rooms := newRooms(ix, &l.Changes, lone, grouped)
	return l.take(func(e *Entry) bool { return e.Until <= now || l.Changes.concern(ix, e) || rooms.take(e) })
}

// WakeAll takes everybody out.
func (l *Lot[K, Q]) WakeAll() []Q { return l.take(func(*Entry) bool { return true }) }

func (l *Lot[K, Q]) take(wakes func(e *Entry) bool) (woken []Q) {
	l.keep(func(p *place[K, Q]) bool {
		if !wakes(&p.entry) {
			return true
		}
		woken = append(woken, p.question)
		return false
	})
	l.Changes = Changes{}
	return woken
}
