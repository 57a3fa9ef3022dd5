package cluster

import (
	"maps"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/paged"
	"github.com/preempt-go/preempt/preemption/cluster/internal/hashed"
)

// TermID is a position among the distinct anti-affinity terms of an [Index].
type TermID int32

// AntiTerms are the anti-affinity terms that the pods of an index have, each
// distinct one once: the replicas of a workload share theirs. A question must not
// change it.
type AntiTerms struct {
	lists  paged.Column[int32]    // by pod: its list of terms; 0: it has none
	terms  paged.Column[antiTerm] // each has owners
	names  *termNames
	shared bool // names are, with a fork: they are copied before they are changed
	owner  *byte
}

// antiTerm is a term and the pods that have it.
type antiTerm struct {
	ownedTerm
	compiled *PodTerm
	pods     []PodID
	owner    *byte // whose pods may be changed in place
}

// termNames finds terms and lists of terms.
type termNames struct {
	byHash hashed.Interner
	lists  [][]TermID // the first is empty
	listed hashed.Interner
	reads  map[string]bool
	with   map[label][]TermID // those for whose pods that label is the rarest that they must have
	rest   []TermID           // those whose pods need none
}

// AntiTerms returns the anti-affinity terms of ix, in order of the first pod that
// has them, but for those that came later. They are computed on the first call:
// O(p + t) for p pods with t terms.
func (ix *Index) AntiTerms() *AntiTerms {
	return once(ix.lazy, &ix.lazy.antiTerms, func() *AntiTerms { return newAntiTerms(ix) })
}

// Len is the number of distinct terms; TermID runs from 0 to Len-1. Every term has an
// owner.
func (at *AntiTerms) Len() int { return at.terms.Len() }

// Term returns term t.
func (at *AntiTerms) Term(t TermID) *PodTerm { return at.terms.At(int(t)).compiled }

// Of returns the terms of pod p. The slice belongs to at.
func (at *AntiTerms) Of(p PodID) []TermID {
	if int(p) >= at.lists.Len() {
		return nil
	}
	return at.names.lists[*at.lists.At(int(p))]
}

// Owners returns the pods that have term t, running and pending, in no order; one
// that has it twice stands there twice. The slice belongs to at.
func (at *AntiTerms) Owners(t TermID) []PodID { return at.terms.At(int(t)).pods }

// Reads reports whether any of the terms looks at the pod label of that key.
func (at *AntiTerms) Reads(label string) bool { return at.names.reads[label] }

// Carriers returns a new slice of the pods that have anti-affinity terms, running and
// pending, in ascending order. O(p) for p pods.
func (at *AntiTerms) Carriers() []PodID {
	var list []PodID
	for p := range at.lists.Len() {
		if *at.lists.At(p) != 0 {
			list = append(list, PodID(p))
		}
	}
	return list
}

func newAntiTerms(ix *Index) *AntiTerms {
	at := &AntiTerms{
		owner: new(byte),
		names: &termNames{lists: [][]TermID{nil}, reads: map[string]bool{}, with: map[label][]TermID{}},
	}
	for p := range PodID(ix.NumPods()) {
		if row := ix.pods.At(int(p)); row.repels {
			at.add(p, row.pod)
		}
	}
	return at
}

// add notes that pod p has come.
func (at *AntiTerms) add(id PodID, p *Pod) {
	if len(p.AntiAffinity) == 0 {
		return
	}
	var room [8]TermID
	list := room[:0]
	for i := range p.AntiAffinity {
		t := at.intern(ownedTerm{p, &p.AntiAffinity[i]})
		list = append(list, t)
		term := at.edit(t)
		term.pods = append(term.pods, id)
	}
	for at.lists.Len() <= int(id) {
		at.lists.Append(0)
	}
	*at.lists.Edit(int(id)) = at.internList(list)
}

// intern returns the term that is written like t, a new one if need be.
func (at *AntiTerms) intern(t ownedTerm) TermID {
	hash := t.hash()
	same := func(id int32) bool { return t.same(at.terms.At(int(id)).ownedTerm) }
	if id, ok := at.names.byHash.Find(hash, same); ok {
		return TermID(id)
	}
	at.unshare()
	return TermID(at.names.byHash.ID(hash, same, func() int32 {
		compiled := t.compile()
		for _, key := range compiled.Reads() {
			at.names.reads[key] = true
		}
		id := at.terms.Append(antiTerm{ownedTerm: t, compiled: compiled, owner: at.owner})
		at.names.file(TermID(id), compiled.selector)
		return int32(id)
	}))
}

// file files term t under the label that fewest terms are filed under of those that every pod must have that s selects.
func (n *termNames) file(t TermID, s *disruption.Selector) {
	rarest, found := label{}, false
	for l := range required(s) {
		if !found || len(n.with[l]) < len(n.with[rarest]) {
			rarest, found = l, true
		}
	}
	if found {
		n.with[rarest] = append(n.with[rarest], t)
	} else {
		n.rest = append(n.rest, t)
	}
}

// Candidates returns a new slice, in ascending order, of terms among which are all that select p.
// O(l + k log k) for l labels of p and k such terms.
func (at *AntiTerms) Candidates(p *Pod) []TermID {
	list := slices.Clone(at.names.rest)
	for key, value := range p.Labels {
		list = append(list, at.names.with[label{key, value}]...)
	}
	slices.Sort(list)
	return list
}

// internList returns the number of list, a new one if need be. It does not keep list.
func (at *AntiTerms) internList(list []TermID) int32 {
	var hash uint64
	for _, t := range list {
		hash = hashed.Mix(hash, uint64(t)+1)
	}
	same := func(id int32) bool { return slices.Equal(at.names.lists[id], list) }
	if id, ok := at.names.listed.Find(hash, same); ok {
		return id
	}
	at.unshare()
	return at.names.listed.ID(hash, same, func() int32 {
		at.names.lists = append(at.names.lists, slices.Clone(list))
		return int32(len(at.names.lists) - 1)
	})
}

func (at *AntiTerms) unshare() {
	if !at.shared {
		return
	}
	n := at.names
	with := make(map[label][]TermID, len(n.with))
	for l, list := range n.with {
		with[l] = slices.Clip(list)
	}
	at.names = &termNames{n.byHash.Clone(), slices.Clone(n.lists), n.listed.Clone(), maps.Clone(n.reads), with, slices.Clip(n.rest)}
	at.shared = false
}

// edit returns term t, whose pods may then be changed in place.
func (at *AntiTerms) edit(t TermID) *antiTerm {
	term := at.terms.Edit(int(t))
	if term.owner != at.owner {
		term.pods, term.owner = slices.Clone(term.pods), at.owner
	}
	return term
}

// remove notes that pod p goes, and reports whether every term still has an owner.
func (at *AntiTerms) remove(id PodID) bool {
	complete := true
	for _, t := range at.Of(id) {
		term := at.edit(t)
		i, last := slices.Index(term.pods, id), len(term.pods)-1
		term.pods[i] = term.pods[last]
		term.pods = term.pods[:last]
		complete = complete && last > 0
	}
	if int(id) < at.lists.Len() && *at.lists.At(int(id)) != 0 {
		*at.lists.Edit(int(id)) = 0
	}
	return complete
}

func (at *AntiTerms) fork() *AntiTerms {
	at.shared, at.owner = true, new(byte)
	return &AntiTerms{at.lists.Fork(), at.terms.Fork(), at.names, true, new(byte)}
}

// ownedTerm is a term together with the pod that it is read for.
type ownedTerm struct {
	owner *Pod
	term  *AffinityTerm
}

func (t ownedTerm) compile() *PodTerm {
	term, err := t.term.Compile(t.owner)
	if err != nil {
		panic("cluster: anti-affinity term passed validation: " + err.Error())
	}
	return term
}

// hash covers what tells most terms apart; same decides.
func (t ownedTerm) hash() uint64 {
	h := hashed.Mix(hashed.String(t.term.TopologyKey), hashSelector(t.term.Selector))
	for _, keys := range [...][]string{t.term.MatchLabelKeys, t.term.MismatchLabelKeys} {
		for _, key := range keys {
			h = hashed.Mix(h, hashed.String(key)+hashed.String(t.owner.Labels[key]))
		}
	}
	if t.inOwnNamespace() {
		return hashed.Mix(h, hashed.String(t.owner.Namespace))
	}
	for _, ns := range t.term.Namespaces {
		h = hashed.Mix(h, hashed.String(ns))
	}
	return hashed.Mix(h, hashSelector(t.term.NamespaceSelector))
}

func hashSelector(s *disruption.Selector) uint64 {
	if s == nil {
		return 0
	}
	h := 1 + hashLabels(s.MatchLabels)
	for i := range s.MatchExpressions {
		r := &s.MatchExpressions[i]
		h = hashed.Mix(h, hashed.String(r.Key))
		for _, v := range r.Values {
			h = hashed.Mix(h, hashed.String(v))
		}
	}
	return h
}

func (t ownedTerm) inOwnNamespace() bool {
	return len(t.term.Namespaces) == 0 && t.term.NamespaceSelector == nil
}

// same reports whether t and u select the same pods because they are written alike.
func (t ownedTerm) same(u ownedTerm) bool {
	return t.term.Equal(*u.term) && (!t.inOwnNamespace() || t.owner.Namespace == u.owner.Namespace) &&
		sameValues(t.owner, u.owner, t.term.MatchLabelKeys) && sameValues(t.owner, u.owner, t.term.MismatchLabelKeys)
}

// sameValues reports whether p and q have the same values of labels.
func sameValues(p, q *Pod, keys []string) bool {
	return !slices.ContainsFunc(keys, func(key string) bool {
		a, has := p.Labels[key]
		b, hasToo := q.Labels[key]
		return a != b || has != hasToo
	})
}
