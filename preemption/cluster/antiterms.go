package cluster

import (
	"hash/maphash"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/disruption"
)

// TermID is a position among the distinct anti-affinity terms of an [Index].
type TermID int32

// AntiTerms are the anti-affinity terms that the pods of an index have, each
// distinct one once: the replicas of a workload share theirs. Immutable.
type AntiTerms struct {
	carriers []PodID
	of       csr[TermID] // of each pod
	owners   csr[PodID]  // of each term
	terms    []*PodTerm
	reads    map[string]bool
}

// AntiTerms returns the anti-affinity terms of ix, in order of the first pod that
// has them. They are computed on the first call: O(p + t) for p pods with t terms.
func (ix *Index) AntiTerms() *AntiTerms {
	ix.lazy.antiTermsOnce.Do(func() { ix.lazy.antiTerms = newAntiTerms(ix.pods, ix.carriers.antiAffinity) })
	return ix.lazy.antiTerms
}

// Len is the number of distinct terms; TermID runs from 0 to Len-1.
func (at *AntiTerms) Len() int { return len(at.terms) }

// Term returns term t.
func (at *AntiTerms) Term(t TermID) *PodTerm { return at.terms[t] }

// Of returns the terms of pod p. The slice belongs to at.
func (at *AntiTerms) Of(p PodID) []TermID { return at.of.row(int(p)) }

// Owners returns the pods that have term t, running and pending, in ascending order;
// one that has it twice stands there twice. The slice belongs to at.
func (at *AntiTerms) Owners(t TermID) []PodID { return at.owners.row(int(t)) }

// Reads reports whether any of the terms looks at the pod label of that key.
func (at *AntiTerms) Reads(label string) bool { return at.reads[label] }

// Carriers returns the pods that have anti-affinity terms, running and pending, in
// ascending order. The slice belongs to at.
func (at *AntiTerms) Carriers() []PodID { return at.carriers }

// ownedTerm is a term together with the pod that it is read for.
type ownedTerm struct {
	owner *Pod
	term  *AffinityTerm
}

func newAntiTerms(pods []*Pod, carriers []PodID) *AntiTerms {
	at := &AntiTerms{carriers: carriers}
	if len(carriers) == 0 {
		return at
	}
	at.of.first = make([]int32, 0, len(pods)+1)
	at.reads = map[string]bool{}
	byHash := interner{}
	var distinct []ownedTerm
	next := 0
	for i, p := range pods {
		at.of.mark()
		if next == len(carriers) || int(carriers[next]) != i {
			continue
		}
		next++
		for j := range p.AntiAffinity {
			t := ownedTerm{p, &p.AntiAffinity[j]}
			at.of.values = append(at.of.values, TermID(byHash.id(t.hash(),
				func(id int32) bool { return t.same(distinct[id]) },
				func() int32 {
					distinct = append(distinct, t)
					at.add(t.compile())
					return int32(len(distinct) - 1)
				})))
		}
	}
	at.of.mark()
	at.owners = invert(len(at.terms), len(pods), at.Of)
	return at
}

func (at *AntiTerms) add(t *PodTerm) {
	at.terms = append(at.terms, t)
	for _, key := range t.Reads() {
		at.reads[key] = true
	}
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
	h := mix(maphash.String(seed, t.term.TopologyKey), hashSelector(t.term.Selector))
	if t.inOwnNamespace() {
		return mix(h, maphash.String(seed, t.owner.Namespace))
	}
	for _, ns := range t.term.Namespaces {
		h = mix(h, maphash.String(seed, ns))
	}
	return h
}

func hashSelector(s *disruption.Selector) uint64 {
	if s == nil {
		return 0
	}
	h := 1 + hashLabels(s.MatchLabels)
	for i := range s.MatchExpressions {
		r := &s.MatchExpressions[i]
		h = mix(h, maphash.String(seed, r.Key))
		for _, v := range r.Values {
			h = mix(h, maphash.String(seed, v))
		}
	}
	return h
}

func (t ownedTerm) inOwnNamespace() bool {
	return len(t.term.Namespaces) == 0 && t.term.NamespaceSelector == nil
}

// same reports whether t and u select the same pods because they are written alike.
func (t ownedTerm) same(u ownedTerm) bool {
	a, b := t.term, u.term
	return a.TopologyKey == b.TopologyKey &&
		slices.Equal(a.Namespaces, b.Namespaces) &&
		(!t.inOwnNamespace() || t.owner.Namespace == u.owner.Namespace) &&
		sameSelector(a.Selector, b.Selector) &&
		sameSelector(a.NamespaceSelector, b.NamespaceSelector) &&
		sameKeys(t, u, a.MatchLabelKeys, b.MatchLabelKeys) &&
		sameKeys(t, u, a.MismatchLabelKeys, b.MismatchLabelKeys)
}

func sameSelector(a, b *disruption.Selector) bool {
	if a == nil || b == nil {
		return a == b
	}
	return maps.Equal(a.MatchLabels, b.MatchLabels) &&
		slices.EqualFunc(a.MatchExpressions, b.MatchExpressions, func(r, s disruption.Requirement) bool {
			return r.Key == s.Key && r.Operator == s.Operator && slices.Equal(r.Values, s.Values)
		})
}

// sameKeys reports whether both terms name the same label keys and their owners
// have the same values for them.
func sameKeys(t, u ownedTerm, keys, others []string) bool {
	return slices.Equal(keys, others) && !slices.ContainsFunc(keys, func(key string) bool {
		a, has := t.owner.Labels[key]
		b, hasToo := u.owner.Labels[key]
		return a != b || has != hasToo
	})
}
