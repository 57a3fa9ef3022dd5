package columns

import (
	"cmp"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// fewShifts are compared with each other.
const fewShifts = 32

// Follow lets the columns follow some shifts, which have all been made. It reports
// whether that could be done, as Refresh does. It may reorder list.
func (l *NodeColumns) Follow(list []victims.Shift) bool {
	if len(list) > fewShifts {
		slices.SortFunc(list, func(a, b victims.Shift) int { return cmp.Compare(a.Node, b.Node) })
		last := cluster.NoNode
		for _, s := range list {
			if s.Quiet() {
				l.noteQuiet(s)
			} else if s.Node != last && !l.refresh(s.Node) {
				return false
			} else {
				last = s.Node
			}
		}
		return true
	}
	for i, s := range list {
		same := func(o victims.Shift) bool { return o.Node == s.Node && !o.Quiet() }
		switch {
		case s.Quiet():
			l.noteQuiet(s)
			continue
		case slices.ContainsFunc(list[:i], same):
			continue
		case !s.Anew && !slices.ContainsFunc(list[i+1:], same) && l.shift(s):
			continue
		}
		if !l.refresh(s.Node) {
			return false
		}
	}
	return true
}

// Grow lets the columns have as many numbers of nodes as the index has by now. It reports
// whether they are more, so that what was made for it before is of no use.
func (l *NodeColumns) Grow() bool {
	if l.levels == nil || !l.levels.grow(l.us.Index().NumNodes()) {
		return false
	}
	l.Reconsider()
	return true
}

// shift lets node s.Node follow s at the cost of its rooms: what the other units ask
// for stays as it is laid out. False if it has to be refreshed.
func (l *NodeColumns) shift(s victims.Shift) bool {
	if l.levels == nil {
		return false
	}
	n := s.Node
	at, units := l.node(n), l.us.On(n)
	if !at.plain || at.uneven || at.several != nil || at.budgeted || at.elastic || len(units) > mostPositions {
		return false
	}
	var level int32
	var started int64
	if s.In != victims.NoPosition {
		unit := l.us.Unit(units[s.In])
		p := unit.Pods[0]
		if level, started = unit.Level, unit.Started; len(unit.Pods) > 1 || unit.Elastic || level != l.us.Index().Priority(p) ||
			len(l.budgets.Of(p)) > 0 || !l.levels.knows([]int32{level}) || !l.lanes.packRequest(l.packed, l.us.Index().Request(p)) {
			return false
		}
	}
	b, i := l.levels.own(n)
	at = &b.positions[i]
	if at.owner != l.owner {
		at.owner, at.data, at.level = l.owner, slices.Clone(at.data), slices.Clone(at.level)
	}
	l.note(n)
	l.levels.odd += b.close(i, l.us.Index().Open(n))
	what := changed{from: s.In, below: level}
	if s.Out != victims.NoPosition && (s.In == victims.NoPosition || s.Out < s.In) {
		what.from = s.Out
	}
	if s.Out != victims.NoPosition && (s.In == victims.NoPosition || at.level[s.Out] > level) {
		what.below = at.level[s.Out]
	}
	l.replace(at, s, l.packed, level, uint64(started))
	return l.finish(n, at, b, i, what)
}

// replace moves what is laid out of the units of a node. Of the rooms it keeps what
// stays.
func (l *NodeColumns) replace(at *positions, s victims.Shift, ask []uint64, level int32, started uint64) {
	k, words := len(at.level), l.lanes.words
	rooms, asks, starts := l.parts(at.data, k)
	if s.In == s.Out {
		copy(asks[int(s.In)*words:], ask)
		at.level[s.In], starts[s.In] = level, started
		return
	}
	asks, starts = append(l.asks[:0], asks...), append(l.starts[:0], starts...)
	if g := int(s.Out); s.Out != victims.NoPosition {
		asks, starts = slices.Delete(asks, g*words, (g+1)*words), slices.Delete(starts, g, g+1)
		at.level = slices.Delete(at.level, g, g+1)
	}
	if g := int(s.In); s.In != victims.NoPosition {
		asks, starts = slices.Insert(asks, g*words, ask...), slices.Insert(starts, g, started)
		at.level = slices.Insert(at.level, g, level)
	}
	l.asks, l.starts = asks, starts
	l.resize(at, len(at.level))
	toRooms, toAsks, toStarts := l.parts(at.data, len(at.level))
	copy(toRooms, rooms) // where they are already, as a rule
	copy(toAsks, asks)
	copy(toStarts, starts)
}
