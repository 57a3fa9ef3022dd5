package verify

import (
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// place is a topology value.
type place struct{ key, value string }

// profile is what affinity asks of members that agree in namespace, labels and terms.
type profile struct {
	pod      *cluster.Pod
	affinity []term
	anti     []term
	self     bool // it matches its own affinity terms

	attract map[place]int // pods that match all affinity terms, by the keys of these
	matched int           // those, all keys together
	repel   map[place]int // pods that match an anti-affinity term, by its key
	others  map[place]int // pods with an anti-affinity term that matches it, by that key

	touches []touch // what one of its pods counts for, where it is placed
	touched bool    // touches is known
}

// touch is what a placed pod counts for in a profile: whether it matches all affinity terms, which of the
// anti-affinity terms, and which of its own match the profile's pods.
type touch struct {
	pr       *profile
	attracts bool
	repels   []int
	against  []int
}

// affinity is inter-pod affinity and anti-affinity.
type affinity struct {
	w        *world
	profiles []*profile
	of       []*profile // by member
	terms    map[*cluster.Pod][]term
}

// newAffinity returns nil where neither the preemptor has a term nor a running pod one
// against it: then those who are only nominated are not looked at either, as upstream.
func newAffinity(q *question) relation {
	a := &affinity{w: q.world, terms: map[*cluster.Pod][]term{}}
	wanted := slices.ContainsFunc(q.members, func(m *member) bool { return len(m.Affinity)+len(m.AntiAffinity) > 0 })
	if !wanted && !q.repelling {
		return nil
	}
	known := map[string]*profile{}
	for _, m := range q.members {
		key := ""
		if len(q.members) > 1 {
			key = fmt.Sprintf("%q %q %s %s", m.Namespace, m.Labels, asText(m.Affinity), asText(m.AntiAffinity))
		}
		if known[key] == nil {
			known[key] = a.newProfile(m.Pod)
			a.profiles = append(a.profiles, known[key])
		}
		a.of = append(a.of, known[key])
	}
	for p, n := range q.running() {
		a.move(p, n, +1)
	}
	if !wanted && !slices.ContainsFunc(a.profiles, func(pr *profile) bool { return len(pr.others) > 0 }) {
		return nil
	}
	return a
}

func (a *affinity) newProfile(p *cluster.Pod) *profile {
	pr := &profile{
		pod: p, affinity: termsOf(p.Affinity, p), anti: termsOf(p.AntiAffinity, p),
		attract: map[place]int{}, repel: map[place]int{}, others: map[place]int{},
	}
	pr.self = a.attracts(pr, p)
	return pr
}

func (a *affinity) monotone() bool {
	return !slices.ContainsFunc(a.profiles, func(pr *profile) bool { return len(pr.affinity) > 0 })
}

// attracts: p matches all affinity terms.
func (a *affinity) attracts(pr *profile, p *cluster.Pod) bool {
	return len(pr.affinity) > 0 && !slices.ContainsFunc(pr.affinity, func(t term) bool { return !a.w.selectsRunning(&t, p) })
}

// bump counts a pod on n for the keys of terms, each once, and says for how many.
func bump(counts map[place]int, n *node, terms []term, by int) (keys int) {
	var seen []string
	for i := range terms {
		key := terms[i].key
		if value, ok := n.Labels[key]; ok && !slices.Contains(seen, key) {
			seen = append(seen, key)
			if counts[place{key, value}] += by; counts[place{key, value}] == 0 {
				delete(counts, place{key, value})
			}
		}
	}
	return len(seen)
}

// counted books pod p for what the terms of pr say about it.
func (a *affinity) counted(pr *profile, p *cluster.Pod, n *node, by int) {
	if a.attracts(pr, p) {
		pr.matched += by * bump(pr.attract, n, pr.affinity, by)
	}
	for i := range pr.anti {
		if a.w.selectsRunning(&pr.anti[i], p) {
			bump(pr.repel, n, pr.anti[i:i+1], by)
		}
	}
}

// against books the anti-affinity terms that p has against the pods of pr.
func (a *affinity) against(pr *profile, terms []term, n *node, by int) {
	for i := range terms {
		if a.w.selectsMember(&terms[i], pr.pod) {
			bump(pr.others, n, terms[i:i+1], by)
		}
	}
}

func (a *affinity) move(p *cluster.Pod, n *node, by int) {
	for _, pr := range a.profiles {
		a.counted(pr, p, n, by)
	}
	if len(p.AntiAffinity) == 0 {
		return
	}
	terms, known := a.terms[p]
	if !known {
		terms = termsOf(p.AntiAffinity, p)
		a.terms[p] = terms
	}
	for _, pr := range a.profiles {
		a.against(pr, terms, n, by)
	}
}

func (a *affinity) place(m *member, n *node, by int) {
	of := a.of[m.number]
	for _, t := range a.touchesOf(of) {
		if t.attracts {
			t.pr.matched += by * bump(t.pr.attract, n, t.pr.affinity, by)
		}
		for _, i := range t.repels {
			bump(t.pr.repel, n, t.pr.anti[i:i+1], by)
		}
		for _, i := range t.against {
			bump(t.pr.others, n, of.anti[i:i+1], by)
		}
	}
}

// touchesOf lists what pods of a profile count for, in which those are left out for which it is nothing.
func (a *affinity) touchesOf(of *profile) []touch {
	if of.touched {
		return of.touches
	}
	of.touched = true
	for _, pr := range a.profiles {
		t := touch{pr: pr, attracts: a.attracts(pr, of.pod)}
		for i := range pr.anti {
			if a.w.selectsRunning(&pr.anti[i], of.pod) {
				t.repels = append(t.repels, i)
			}
		}
		for i := range of.anti {
			if a.w.selectsMember(&of.anti[i], pr.pod) {
				t.against = append(t.against, i)
			}
		}
		if t.attracts || len(t.repels)+len(t.against) > 0 {
			of.touches = append(of.touches, t)
		}
	}
	return of.touches
}

// misfit: what affinity asks for no eviction brings.
func (a *affinity) misfit(m *member, n *node) (check domain.Check, never bool) {
	pr := a.of[m.number]
	series := pr.self && pr.matched == 0 // it may be the first
	for _, t := range pr.affinity {
		value, ok := n.Labels[t.key]
		if !ok || !series && pr.attract[place{t.key, value}] == 0 {
			return domain.CheckAffinity, true
		}
	}
	for _, t := range pr.anti {
		if value, ok := n.Labels[t.key]; ok && pr.repel[place{t.key, value}] > 0 {
			return domain.CheckAntiAffinity, false
		}
	}
	for at := range pr.others {
		if value, ok := n.Labels[at.key]; ok && value == at.value {
			return domain.CheckAntiAffinity, false
		}
	}
	return "", false
}
