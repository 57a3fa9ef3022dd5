package relation

import (
	"iter"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Kept is what relations of lone pods are made of, each part by all that it depends on, so that pods have those in common of which they ask
// the same. It is for questions between which nobody comes or goes.
type Kept struct {
	parts map[string]any
	size  int // about how many places and nodes they note
}

// mostKept is how large what is kept is at most, but for a single part.
const mostKept = 1 << 20

// keep is the part of that name, made by build if need be, which says how large it is.
func keep[T any](k *Kept, name string, build func() (part T, size int)) T {
	if part, known := k.parts[name]; known {
		return part.(T)
	}
	part, size := build()
	if k.size += 1 + size; k.parts == nil || k.size > mostKept {
		k.parts, k.size = map[string]any{}, 1+size
	}
	k.parts[name] = part
	return part
}

// among goes over running pods outside of whom no pod has all labels that selectors ask for.
func (x *Index) among(selectors ...*disruption.Selector) iter.Seq[*alike] {
	few, known := []*alike(nil), false
	for _, s := range selectors {
		for _, l := range asked(s) {
			if list := x.by[l]; !known || len(list) < len(few) {
				few, known = list, true
			}
		}
	}
	if !known {
		return maps.Values(x.alike)
	}
	return slices.Values(few)
}

// readKept notes what a lone pod asks for, and who is there, in parts that are kept.
func (a *affinity) readKept(pr *profile) {
	if terms := termsOf(pr.pod.Affinity, pr.pod); len(terms) > 0 {
		key := textOf(terms...)
		pr.pull = keep(a.q.Kept, "near "+key, func() (*pull, int) { return a.pullOf(terms) })
		a.pulls[key] = pr.pull
		a.attracts.add(terms[0].selector, pr.pull)
	}
	for _, t := range termsOf(pr.pod.AntiAffinity, pr.pod) {
		key := textOf(t)
		if a.foes[key] == nil {
			a.foes[key] = keep(a.q.Kept, "away from "+key, func() (*foes, int) { return a.selectedBy(t) })
			a.repels.add(t.selector, a.foes[key])
			pr.own = append(pr.own, a.foes[key])
		}
	}
	key := AsText([]any{pr.pod.Namespace, a.q.Index.Read(pr.pod)})
	a.theirs = keep(a.q.Kept, "against "+key, func() (theirs, int) { return a.termsAgainst(pr.pod) })
	pr.against = append(pr.against, a.theirs.list...)
}

// pullOf is a list of terms, with who is there, and how large that is.
func (a *affinity) pullOf(terms []term) (l *pull, size int) {
	l = &pull{terms: terms, at: tally{}, stood: map[spot]int{}}
	var selectors []*disruption.Selector
	for _, t := range terms {
		selectors = append(selectors, t.selector)
	}
	for c := range a.q.Index.among(selectors...) {
		if !a.matches(l, c.Pod) {
			continue
		}
		for _, t := range c.together() {
			before := l.matched
			if l.bump(t.node, t.count); l.matched > before {
				l.friends = l.friends.with(t.pods)
			}
		}
	}
	for at, n := range l.at {
		c := a.q.Index.column(at.key)
		l.stood[spot{c, c.number[at.value]}] = n
	}
	return l, 2 * len(l.at)
}

// selectedBy is an anti-affinity term of a lone pod, with those whom it selects, and how large that is.
func (a *affinity) selectedBy(t term) (f *foes, size int) {
	f = &foes{term: t, selected: tally{}}
	for c := range a.q.Index.among(t.selector) {
		if a.q.selectsRunning(&t, c.Pod) {
			for _, t := range c.together() {
				f.note(a.q.Index, f.selected, t)
			}
		}
	}
	return f, 2 * len(f.apart)
}

// note counts those who are in the way on a node.
func (f *foes) note(x *Index, in tally, t together) {
	value, ok := t.node.Labels[f.term.key]
	if !ok {
		return
	}
	if in.bump(place{f.term.key, value}, t.count); f.apart == nil {
		f.apart, f.column = map[int]two{}, x.column(f.term.key)
	}
	at := f.column.number[value]
	f.apart[at] = f.apart[at].with(t.pods)
}

// theirs are the terms of running pods that are against a lone pod.
type theirs struct {
	list []*foes
	by   map[*holders]*foes
}

// manyHolders is from how many holders on a term is kept by itself; others are counted together, by their key.
const manyHolders = 8

// termsAgainst are those against p, and how large they are.
func (a *affinity) termsAgainst(p *cluster.Pod) (all theirs, size int) {
	all.by = map[*holders]*foes{}
	few := map[string]*foes{}
	counted := func(f *foes, h *holders) *foes {
		for _, s := range h.list {
			f.note(a.q.Index, f.holders, together{s.node, 1, two{s.pod}})
		}
		return f
	}
	for of := range a.q.Index.against(p) {
		for _, h := range of.terms {
			if !a.q.selectsMember(&h.term, p) {
				continue
			}
			key := h.term.key
			switch {
			case len(h.list) >= manyHolders:
				all.by[h] = keep(a.q.Kept, "holders of "+h.key(), func() (*foes, int) {
					f := counted(&foes{term: h.term, holders: tally{}}, h)
					return f, 2 * len(f.apart)
				})
				all.list = append(all.list, all.by[h])
			case few[key] == nil:
				few[key] = &foes{term: h.term, holders: tally{}}
				all.list = append(all.list, few[key])
				fallthrough
			default:
				all.by[h] = counted(few[key], h)
				size += 2 * len(h.list)
			}
		}
	}
	return all, size + len(all.by)
}
