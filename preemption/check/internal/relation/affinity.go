package relation

import (
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// place is a topology value.
type place struct{ key, value string }

// tally is how many pods there are in each place.
type tally map[place]int

func (t tally) bump(at place, by int) {
	if now := t[at] + by; now != 0 {
		t[at] = now
	} else {
		delete(t, at)
	}
}

// profile is what affinity asks of members that agree in namespace, labels and terms.
type profile struct {
	pod     *cluster.Pod
	members []int
	pull    *pull   // what its affinity terms ask for; nil without any
	own     []*foes // its anti-affinity terms
	against []*foes // the anti-affinity terms that select it, whoever has them
	touch   *touch  // what one of its pods counts for, once that was asked
}

// pull is a list of affinity terms, whoever has it.
type pull struct {
	terms   []term
	matched int   // pods that match all of them, all keys together
	at      tally // those by the keys

	stood   map[spot]int // of one that is kept: at, as all are there
	friends two          // likewise: some whom it matches
}

// foes are one anti-affinity term, whoever has it.
type foes struct {
	term     term
	selected tally      // pods that it selects, where a member has the term
	holders  tally      // pods that have it
	there    int        // those that run or are placed, with the term's key
	owners   []*profile // of members that have it
	against  []*profile // whom it selects

	apart  map[int]two // of ones that are kept: who is in the way in a place, by its number
	column *column     // of it
}

// touch is what a pod counts for wherever it is.
type touch struct {
	pulls    []*pull // all of whose terms it matches
	selected []*foes // terms of members that select it
	holds    []*foes // terms of its own that select members
}

// affinity is inter-pod affinity and anti-affinity.
type affinity struct {
	q        *Question
	profiles []*profile
	of       []*profile               // by member
	spaces   []string                 // of members
	by       map[label][]*profile     // by all labels of their pods
	pulls    map[string]*pull         // by their terms
	foes     map[string]*foes         // by the term
	attracts filed[*pull]             // all of pulls
	repels   filed[*foes]             // those that members have
	holds    map[*cluster.Pod][]*foes // of running and nominated pods that have terms
	touches  map[*cluster.Pod]*touch  // of those who have gone
	theirs   theirs                   // of a lone pod, of which parts are kept
	awaited  bool                     // the preemptor is a group, and some pod that has terms is nominated
}

// newAffinity returns nil where neither the preemptor has a term nor a running pod one
// against it: then those who are only nominated are not looked at either, as upstream.
func newAffinity(q *Question) Relation {
	wanted := slices.ContainsFunc(q.Members, func(m *cluster.Pod) bool { return len(m.Affinity)+len(m.AntiAffinity) > 0 })
	if !wanted && !q.Repelling {
		return nil
	}
	a := &affinity{q: q, by: map[label][]*profile{}, pulls: map[string]*pull{}, foes: map[string]*foes{}, holds: map[*cluster.Pod][]*foes{}, touches: map[*cluster.Pod]*touch{}}
	a.awaited = q.Group && slices.ContainsFunc(q.Snapshot.Pods, func(p cluster.Pod) bool {
		return p.Node == "" && p.NominatedNode != "" && len(p.AntiAffinity) > 0
	})
	known, spaces := map[string]*profile{}, map[string]bool{}
	for i, m := range q.Members {
		key := ""
		if len(q.Members) > 1 {
			key = fmt.Sprintf("%q %q %s %s", m.Namespace, m.Labels, AsText(m.Affinity), AsText(m.AntiAffinity))
		}
		if known[key] == nil {
			known[key] = &profile{pod: m}
			a.profiles = append(a.profiles, known[key])
			if !spaces[m.Namespace] {
				spaces[m.Namespace], a.spaces = true, append(a.spaces, m.Namespace)
			}
			for name, value := range m.Labels {
				at := label{name, value}
				a.by[at] = append(a.by[at], known[key])
			}
		}
		known[key].members = append(known[key].members, i)
		a.of = append(a.of, known[key])
	}
	if q.Index != nil {
		a.readKept(a.profiles[0])
	} else {
		for _, pr := range a.profiles {
			a.readTerms(pr)
		}
		for p, n := range q.Running {
			t := a.touchOf(p, a.held(p))
			t.bump(n, +1, true)
		}
	}
	met := func(f *foes) bool { return len(f.holders) > 0 }
	if !wanted && !slices.ContainsFunc(a.profiles, func(pr *profile) bool { return slices.ContainsFunc(pr.against, met) }) {
		return nil
	}
	return a
}

// readTerms notes what a profile asks for.
func (a *affinity) readTerms(pr *profile) {
	if terms := termsOf(pr.pod.Affinity, pr.pod); len(terms) > 0 {
		key := textOf(terms...)
		if a.pulls[key] == nil {
			a.pulls[key] = &pull{terms: terms, at: tally{}}
			a.attracts.add(terms[0].selector, a.pulls[key])
		}
		pr.pull = a.pulls[key]
	}
	for _, t := range termsOf(pr.pod.AntiAffinity, pr.pod) {
		f := a.foesOf(t, textOf(t))
		if f.selected == nil {
			f.selected = tally{}
			a.repels.add(t.selector, f)
		}
		if !slices.Contains(pr.own, f) {
			pr.own = append(pr.own, f)
			f.owners = append(f.owners, pr)
		}
	}
}

// foesOf are those who have t.
func (a *affinity) foesOf(t term, key string) *foes {
	f := a.foes[key]
	if f == nil {
		f = &foes{term: t, holders: tally{}, against: a.selected(&t)}
		a.foes[key] = f
		for _, pr := range f.against {
			pr.against = append(pr.against, f)
		}
	}
	return f
}

// selected are the profiles that a term selects.
func (a *affinity) selected(t *term) (list []*profile) {
	for _, pr := range a.among(t) {
		if a.q.selectsMember(t, pr.pod) {
			list = append(list, pr)
		}
	}
	return list
}

// among are profiles of which a term selects no others.
func (a *affinity) among(t *term) []*profile {
	few := a.profiles
	if len(few) == 1 { // that it selects it takes as long to look at
		return few
	}
	for _, at := range asked(t.selector) {
		if list := a.by[at]; len(list) < len(few) {
			few = list
		}
	}
	return few
}

// spacesOf are the namespaces of members that t selects.
func (a *affinity) spacesOf(t *term) (list []string) {
	for _, name := range a.spaces {
		if a.q.inSpace(t, name) {
			list = append(list, name)
		}
	}
	return list
}

// held are the terms of p that may select members. To a lone pod all those are one that select it, by their key, to others those that select the
// same pods in the same of their namespaces.
func (a *affinity) held(p *cluster.Pod) []*foes {
	if len(p.AntiAffinity) == 0 {
		return nil
	}
	list, known := a.holds[p]
	if known {
		return list
	}
	for _, h := range a.q.Index.heldBy(p) {
		switch f := a.theirs.by[h]; {
		case f != nil:
			list = append(list, f)
		case len(a.among(&h.term)) == 0:
		case len(a.profiles) > 1:
			if spaces := a.spacesOf(&h.term); len(spaces) > 0 {
				list = append(list, a.foesOf(h.term, "of others: "+AsText([]any{h.term.key, h.term.selector, spaces})))
			}
		case len(a.selected(&h.term)) > 0:
			list = append(list, a.foesOf(h.term, "of a lone pod: "+h.term.key))
		}
	}
	a.holds[p] = slices.DeleteFunc(list, func(f *foes) bool { return len(f.against) == 0 && f.column == nil })
	return a.holds[p]
}

func (a *affinity) Monotone() bool { return len(a.pulls) == 0 }

// matches: p matches all terms of a pull.
func (a *affinity) matches(l *pull, p *cluster.Pod) bool {
	return !slices.ContainsFunc(l.terms, func(t term) bool { return !a.q.selectsRunning(&t, p) })
}

// touchOf is what a pod counts for that has these terms against members.
func (a *affinity) touchOf(p *cluster.Pod, holds []*foes) (t touch) {
	t.holds = holds
	for _, l := range a.attracts.of(p.Labels) {
		if a.matches(l, p) {
			t.pulls = append(t.pulls, l)
		}
	}
	for _, f := range a.repels.of(p.Labels) {
		if a.q.selectsRunning(&f.term, p) {
			t.selected = append(t.selected, f)
		}
	}
	return t
}

// bump counts a pod that matches all terms of l and comes to n, or goes.
func (l *pull) bump(n *cluster.Node, by int) {
	var seen []string
	for i := range l.terms {
		key := l.terms[i].key
		if value, ok := n.Labels[key]; ok && !slices.Contains(seen, key) {
			seen = append(seen, key)
			l.at.bump(place{key, value}, by)
			l.matched += by
		}
	}
}

// bump counts a pod that comes to n, or goes.
func (t *touch) bump(n *cluster.Node, by int, there bool) {
	for _, l := range t.pulls {
		l.bump(n, by)
	}
	for _, f := range t.selected {
		if value, ok := n.Labels[f.term.key]; ok {
			f.selected.bump(place{f.term.key, value}, by)
		}
	}
	for _, f := range t.holds {
		if value, ok := n.Labels[f.term.key]; ok {
			f.holders.bump(place{f.term.key, value}, by)
			if there {
				f.there += by
			}
		}
	}
}

func (a *affinity) Move(p *cluster.Pod, n *cluster.Node, by int) {
	t := a.touches[p]
	if t == nil {
		now := a.touchOf(p, a.held(p))
		if t = &now; by < 0 { // it will be back
			a.touches[p] = t
		}
	}
	t.bump(n, by, p.Node != "")
}

func (a *affinity) Place(m int, n *cluster.Node, by int) {
	pr := a.of[m]
	if pr.touch == nil {
		t := a.touchOf(pr.pod, slices.DeleteFunc(slices.Clone(pr.own), func(f *foes) bool { return len(f.against) == 0 }))
		pr.touch = &t
	}
	pr.touch.bump(n, by, true)
}

// InWay: those whose terms select p, and whom its own select, in the same place. Where pods with terms are nominated, whom its own select
// anywhere: upstream looks at these once p runs.
func (a *affinity) InWay(p *cluster.Pod, n *cluster.Node) (list []int) {
	meets := func(key string, of []*profile) {
		value, ok := n.Labels[key]
		for _, pr := range of {
			for _, m := range pr.members {
				if at := a.q.Placed(m); at != nil && (ok && at.Labels[key] == value || a.awaited) {
					list = append(list, m)
				}
			}
		}
	}
	t := a.touchOf(p, a.held(p))
	for _, f := range t.selected {
		meets(f.term.key, f.owners)
	}
	for _, f := range t.holds {
		meets(f.term.key, f.against)
	}
	return list
}

// misfit: what affinity asks for no eviction brings.
func (a *affinity) Misfit(m int, n *cluster.Node) (check domain.Check, never bool) {
	pr := a.of[m]
	if l := pr.pull; l != nil {
		series := l.matched == 0 && a.matches(l, pr.pod) // it may be the first
		for _, t := range l.terms {
			value, ok := n.Labels[t.key]
			if !ok || !series && l.at[place{t.key, value}] == 0 {
				return domain.CheckAffinity, true
			}
		}
	}
	for _, f := range pr.own {
		if value, ok := n.Labels[f.term.key]; ok && f.selected[place{f.term.key, value}] > 0 {
			return domain.CheckAntiAffinity, false
		}
	}
	if a.q.Group && pr.pull == nil && len(pr.own) == 0 && !slices.ContainsFunc(pr.against, func(f *foes) bool { return f.there > 0 }) {
		return "", false // upstream, which begins anew with each member, looks at nobody then who is only nominated
	}
	for _, f := range pr.against {
		if value, ok := n.Labels[f.term.key]; ok && f.holders[place{f.term.key, value}] > 0 {
			return domain.CheckAntiAffinity, false
		}
	}
	return "", false
}

// mostKept is how large what is kept is at most, but for a single part.
const mostKept = 1 << 20

// keep is a part of relations of lone pods, by all that it depends on, so that pods have those in common of which they ask the same. It is made
// by build if need be, which says how large it is.
func keep[T any](x *Index, name string, build func() (part T, size int)) T {
	if part, known := x.parts[name]; known {
		return part.(T)
	}
	part, size := build()
	if x.size += 1 + size; x.parts == nil || x.size > mostKept {
		x.parts, x.size = map[string]any{}, 1+size
	}
	x.parts[name] = part
	return part
}

// among goes over running pods outside of whom no pod is selected by all of some selectors.
func (x *Index) among(selectors ...*disruption.Selector) (list []*alike) {
	few, least := []label{{}}, len(x.by[label{}])
	for _, s := range selectors {
		for _, labels := range choices(s) {
			n := 0
			for _, l := range labels {
				n += len(x.by[l])
			}
			if n < least {
				few, least = labels, n
			}
		}
	}
	for _, l := range few {
		list = append(list, x.by[l]...)
	}
	return list
}

// choices are labels of which a pod must have one that s selects, and others of which it must have one, too.
func choices(s *disruption.Selector) (list [][]label) {
	for _, l := range asked(s) {
		list = append(list, []label{l})
	}
	for i := 0; s != nil && i < len(s.MatchExpressions); i++ {
		if r := &s.MatchExpressions[i]; r.Operator == disruption.In {
			var labels []label
			for _, value := range slices.Compact(slices.Sorted(slices.Values(r.Values))) {
				labels = append(labels, label{r.Key, value})
			}
			list = append(list, labels)
		}
	}
	return list
}

// readKept notes what a lone pod asks for, and who is there, in parts that are kept.
func (a *affinity) readKept(pr *profile) {
	if terms := termsOf(pr.pod.Affinity, pr.pod); len(terms) > 0 {
		key := textOf(terms...)
		pr.pull = keep(a.q.Index, "near "+key, func() (*pull, int) { return a.pullOf(terms) })
		a.pulls[key] = pr.pull
		a.attracts.add(terms[0].selector, pr.pull)
	}
	for _, t := range termsOf(pr.pod.AntiAffinity, pr.pod) {
		key := textOf(t)
		if a.foes[key] == nil {
			a.foes[key] = keep(a.q.Index, "away from "+key, func() (*foes, int) { return a.selectedBy(t) })
			a.repels.add(t.selector, a.foes[key])
			pr.own = append(pr.own, a.foes[key])
		}
	}
	key := AsText([]any{pr.pod.Namespace, a.q.Index.Read(pr.pod)})
	a.theirs = keep(a.q.Index, "against "+key, func() (theirs, int) { return a.termsAgainst(pr.pod) })
	pr.against = append(pr.against, a.theirs.list...)
}

// pullOf is a list of terms, with who is there, and how large that is.
func (a *affinity) pullOf(terms []term) (l *pull, size int) {
	l = &pull{terms: terms, at: tally{}}
	var selectors []*disruption.Selector
	for _, t := range terms {
		selectors = append(selectors, t.selector)
	}
	for _, c := range a.q.Index.among(selectors...) {
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
	l.stood = make(map[spot]int, len(l.at))
	for at, n := range l.at {
		c := a.q.Index.column(at.key)
		l.stood[spot{c, c.number[at.value]}] = n
	}
	return l, 2 * len(l.at)
}

// selectedBy is an anti-affinity term of a lone pod, with those whom it selects, and how large that is.
func (a *affinity) selectedBy(t term) (f *foes, size int) {
	f = &foes{term: t, selected: tally{}}
	for _, c := range a.q.Index.among(t.selector) {
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
	for _, of := range a.q.Index.against(p) {
		for _, h := range of.terms {
			if !a.q.selectsMember(&h.term, p) {
				continue
			}
			key := h.term.key
			switch {
			case len(h.list) >= manyHolders:
				all.by[h] = keep(a.q.Index, "holders of "+h.text, func() (*foes, int) {
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
