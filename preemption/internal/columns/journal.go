package columns

import (
	"slices"
	"sync"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// journal tells which nodes of the columns were refreshed, in turn. What is read of it is
// how far it was read before.
type journal struct {
	forgotten   int              // how many it does not have any more
	before, own []cluster.NodeID // what was noted before a fork, which its other side has too, and since; ^u is unit u, which has grown
}

func (j *journal) len() int { return j.forgotten + len(j.before) + len(j.own) }

// note adds n. Beyond long nodes the older half is forgotten: to look at all nodes anew
// costs no more then.
func (j *journal) note(n cluster.NodeID, long int) {
	if len(j.before)+len(j.own) > long {
		all := slices.Concat(j.before, j.own)
		old := len(all) - long/2
		j.forgotten, j.before, j.own = j.forgotten+old, nil, slices.Clone(all[old:])
	}
	j.own = append(j.own, n)
}

// fork returns a copy.
func (j *journal) fork() journal {
	f := journal{forgotten: j.forgotten}
	switch {
	case len(j.before) == 0:
		f.before = slices.Clip(j.own)
	case len(j.own) == 0:
		f.before = j.before
	default:
		f.before = slices.Concat(j.before, j.own)
	}
	return f
}

// Changes is how long the journal of refreshed nodes is by now.
func (l *NodeColumns) Changes() int { return l.journal.len() }

// Since calls f once for each node that was refreshed since the journal was as long as seen, or where a unit of a level below
// that given has grown, and moves seen on; for every node if seen is below zero or too long ago.
func (l *NodeColumns) Since(seen *int, below int32, f func(cluster.NodeID)) {
	if l.Forgot(*seen) {
		for n := range cluster.NodeID(l.us.Index().NumNodes()) {
			f(n)
		}
	} else {
		at, before := *seen-l.journal.forgotten, l.journal.before
		once(l.spelt(before[min(at, len(before)):], below), l.spelt(l.journal.own[max(at-len(before), 0):], below), f)
	}
	*seen = l.Changes()
}

// spelt is a part of the journal with the nodes of units that have grown in their places.
func (l *NodeColumns) spelt(list []cluster.NodeID, below int32) []cluster.NodeID {
	i := slices.IndexFunc(list, func(n cluster.NodeID) bool { return n < 0 })
	if i < 0 {
		return list
	}
	all, spelt := slices.Clone(list[:i]), map[cluster.NodeID]bool{} // a unit is as it is by now: once is enough
	for _, n := range list[i:] {
		if n >= 0 {
			all = append(all, n)
		} else if unit := l.us.Unit(victims.UnitID(^n)); unit.Level < below && !spelt[n] {
			spelt[n] = true
			for _, p := range unit.Pods {
				if at := l.us.Index().NodeOf(p); at != cluster.NoNode {
					all = append(all, at)
				}
			}
		}
	}
	return all
}

// sets are sets of nodes without any, to be reused.
var sets = sync.Pool{New: func() any { return new([]uint64) }}

// once calls f for each node of lists, in turn, where it comes first.
func once(a, b []cluster.NodeID, f func(cluster.NodeID)) {
	set := sets.Get().(*[]uint64)
	for _, list := range [...][]cluster.NodeID{a, b} {
		for _, n := range list {
			word, bit := int(n/64), uint64(1)<<(n%64)
			for word >= len(*set) {
				*set = append(*set, 0)
			}
			if (*set)[word]&bit == 0 {
				(*set)[word] |= bit
				f(n)
			}
		}
	}
	for _, list := range [...][]cluster.NodeID{a, b} {
		for _, n := range list {
			(*set)[n/64] = 0
		}
	}
	sets.Put(set)
}

// Forgot reports whether the journal does not tell any more what was refreshed since it
// was as long as seen.
func (l *NodeColumns) Forgot(seen int) bool { return seen < l.journal.forgotten }

// noteQuiet puts a quiet shift into the journal.
func (l *NodeColumns) noteQuiet(s victims.Shift) {
	if s.Node == cluster.NoNode {
		s.Node = ^cluster.NodeID(s.Grown)
	}
	l.note(s.Node)
}

// note puts node n into the journal.
func (l *NodeColumns) note(n cluster.NodeID) { l.journal.note(n, l.us.Index().NumNodes()) }
