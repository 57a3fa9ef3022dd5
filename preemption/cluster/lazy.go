package cluster

import (
	"maps"
	"sync"
)

// carriers lists, in ascending order, the pods that have what few pods have, so
// that a question need not look at all others. Only a new index has others.
type carriers struct {
	tokens, devices, guarded []PodID
}

func (ix *Index) findCarrier(id PodID, p *Pod) {
	if len(p.Tokens) > 0 {
		ix.carriers.tokens = append(ix.carriers.tokens, id)
	}
	if len(p.Devices) > 0 {
		ix.carriers.devices = append(ix.carriers.devices, id)
	}
	if guarded(p) {
		ix.carriers.guarded = append(ix.carriers.guarded, id)
	}
}

func guarded(p *Pod) bool { return p.Guard != nil || len(p.Evictions) > 0 }

// lazy holds columns that are computed when a question first needs them. They follow
// the changes of the index from then on.
type lazy struct {
	mu         sync.Mutex
	labelSets  *LabelSets
	antiTerms  *AntiTerms
	tokens     *Tokens
	topologies map[string]*Topology
}

// fork returns a copy that shares what it can.
func (l *lazy) fork() *lazy {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := &lazy{tokens: l.tokens, topologies: maps.Clone(l.topologies)}
	if l.labelSets != nil {
		f.labelSets = l.labelSets.fork()
	}
	if l.antiTerms != nil {
		f.antiTerms = l.antiTerms.fork()
	}
	return f
}

// replace notes that a number stands for another pod. What would keep too much of
// the past is dropped, to be computed anew.
func (l *lazy) replace(id PodID, old, p *Pod) {
	if ls := l.labelSets; ls != nil && !(old != &removed && p != &removed && sameLabelSet(old, p)) {
		keep := old == &removed || ls.remove(id)
		if p != &removed {
			ls.add(id, p)
		}
		if !keep {
			l.labelSets = nil
		}
	}
	if at := l.antiTerms; at != nil && len(old.AntiAffinity)+len(p.AntiAffinity) > 0 {
		keep := at.remove(id)
		at.add(id, p)
		if !keep {
			l.antiTerms = nil
		}
	}
}

// once returns *column, which f computes if it is not there yet.
func once[T any](l *lazy, column **T, f func() *T) *T {
	l.mu.Lock()
	defer l.mu.Unlock()
	if *column == nil {
		*column = f()
	}
	return *column
}
