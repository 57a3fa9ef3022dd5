package relation

import (
	"iter"
	"maps"
	"slices"
	"strconv"

	"github.com/preempt-go/preempt/preemption/check/internal/suits"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Index are running pods by what tokens, spread and affinity read of them, for many questions of lone pods about the same ones.
type Index struct {
	nodes   []*cluster.Node
	columns map[string]*column
	read    map[string]bool // keys of labels that terms read
	alike   map[string]*alike
	of      map[*cluster.Pod]*alike          // as each was when it came
	by      map[label][]*alike               // by each label; all by none
	terms   map[string]*holders              // of each anti-affinity term, as text
	holds   map[*cluster.Pod][]*holders      // those of a pod's terms
	kinds   map[kind]filing                  // by whom the terms are against
	tokens  map[string][]standing            // who holds each
	running int                              // how many pods
	devices map[*cluster.Node][]*cluster.Pod // by node: who has devices
	seated  map[*cluster.Node]*suits.Seating // by all of those

	parts map[string]any // see keep
	size  int            // about how many places and nodes they note
}

// kind are pods of a namespace, or of any, that have a label; the zero label: whatever they have.
type kind struct {
	space    string
	anywhere bool
	label    label
}

type standing struct {
	pod  *cluster.Pod
	node *cluster.Node
}

// alike are pods of a namespace with the same labels, as far as terms read them, all or none of whom are on their way out.
type alike struct {
	*cluster.Pod // what they have in common
	list         []standing
	on           []together // see together
}

// together are how many of some pods are on a node, and who.
type together struct {
	node  *cluster.Node
	count int
	pods  two
}

// together are those who are there, by their nodes.
func (c *alike) together() []together {
	if c.on != nil {
		return c.on
	}
	at := map[*cluster.Node]int{}
	for _, s := range c.list {
		i, known := at[s.node]
		if !known {
			i = len(c.on)
			at[s.node], c.on = i, append(c.on, together{node: s.node})
		}
		c.on[i].count++
		c.on[i].pods = c.on[i].pods.and(s.pod)
	}
	return c.on
}

// holders are who has an anti-affinity term.
type holders struct {
	term term
	text string // of a term that is filed: see textOf
	list []standing
}

// filing are terms against pods of a kind, which read some labels of these.
type filing struct {
	terms []*holders
	reads map[string]bool // by key
}

// NewIndex returns the index of running pods. Terms and spread constraints of no other pods than these may be asked about.
func NewIndex(nodes []*cluster.Node, pods []cluster.Pod, running iter.Seq2[*cluster.Pod, *cluster.Node]) *Index {
	x := &Index{nodes: nodes, columns: map[string]*column{}, read: map[string]bool{}}
	x.alike, x.of, x.by, x.tokens = map[string]*alike{}, map[*cluster.Pod]*alike{}, map[label][]*alike{}, map[string][]standing{}
	x.terms, x.holds, x.kinds = map[string]*holders{}, map[*cluster.Pod][]*holders{}, map[kind]filing{}
	x.devices, x.seated = map[*cluster.Node][]*cluster.Pod{}, map[*cluster.Node]*suits.Seating{}
	for i := range pods {
		p := &pods[i]
		for _, terms := range [][]cluster.AffinityTerm{p.Affinity, p.AntiAffinity} {
			for _, t := range termsOf(terms, p) {
				reads(x.read, t.selector)
			}
		}
		for _, s := range p.Spread {
			reads(x.read, suits.WithKeys(s.Selector, p, s.MatchLabelKeys, nil))
		}
	}
	for p, n := range running {
		x.Move(p, n, +1)
	}
	return x
}

// Move notes that p comes to n (+1), or goes (-1). What was kept is forgotten.
func (x *Index) Move(p *cluster.Pod, n *cluster.Node, by int) {
	x.parts, x.size = nil, 0
	x.running += by
	if len(p.Devices) > 0 {
		delete(x.seated, n)
		if by > 0 {
			x.devices[n] = append(x.devices[n], p)
		} else {
			x.devices[n] = slices.DeleteFunc(x.devices[n], func(o *cluster.Pod) bool { return o == p })
		}
	}
	move := func(list []standing) []standing {
		if by > 0 {
			return append(list, standing{p, n})
		}
		i := slices.Index(list, standing{p, n})
		return slices.Delete(list, i, i+1)
	}
	if by > 0 {
		x.of[p] = x.likeOf(p)
	}
	c := x.of[p]
	c.list, c.on = move(c.list), nil
	tokens := slices.Sorted(slices.Values(p.Tokens))
	for _, name := range slices.Compact(tokens) {
		x.tokens[name] = move(x.tokens[name])
	}
	if x.holds[p] == nil {
		for _, t := range termsOf(p.AntiAffinity, p) {
			key := textOf(t)
			if x.terms[key] == nil {
				x.terms[key] = &holders{term: t, text: key}
				x.file(x.terms[key])
			}
			x.holds[p] = append(x.holds[p], x.terms[key])
		}
	}
	for _, h := range x.holds[p] {
		h.list = move(h.list)
	}
}

// seating is who takes which devices of n, to be cloned.
func (x *Index) seating(n *cluster.Node) *suits.Seating {
	if x.seated[n] == nil {
		x.seated[n] = suits.NewSeating(n, x.devices[n], nil)
	}
	return x.seated[n]
}

// Compared is how many pods the affinity terms of p are compared with at most, each with those who have the rarest label that it
// asks for, and how many hold its tokens.
func (x *Index) Compared(p *cluster.Pod) (n int) {
	for _, name := range p.Tokens {
		n += len(x.tokens[name])
	}
	for _, t := range slices.Concat(p.Affinity, p.AntiAffinity) {
		if t.Selector == nil {
			continue
		}
		least := x.running
		for _, l := range asked(t.Selector) {
			have := 0
			for _, c := range x.by[l] {
				have += len(c.list)
			}
			least = min(least, have)
		}
		n += least
	}
	return n
}

// likeOf are those who are like p.
func (x *Index) likeOf(p *cluster.Pod) *alike {
	text := strconv.AppendBool(strconv.AppendQuote(nil, p.Namespace), p.Terminating)
	labels := maps.Clone(p.Labels)
	maps.DeleteFunc(labels, func(key, _ string) bool { return !x.read[key] })
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		text = strconv.AppendQuote(strconv.AppendQuote(text, key), p.Labels[key])
	}
	c := x.alike[string(text)]
	if c == nil {
		c = &alike{Pod: &cluster.Pod{Namespace: p.Namespace, Labels: p.Labels, Terminating: p.Terminating}}
		x.alike[string(text)] = c
		x.by[label{}] = append(x.by[label{}], c)
		for key, value := range labels {
			x.by[label{key, value}] = append(x.by[label{key, value}], c)
		}
	}
	return c
}

// heldBy are the terms of p, with those who hold them, if it was noted that p does.
func (x *Index) heldBy(p *cluster.Pod) (list []*holders) {
	if x != nil && x.holds[p] != nil {
		return x.holds[p]
	}
	for _, t := range termsOf(p.AntiAffinity, p) {
		list = append(list, &holders{term: t})
	}
	return list
}

// against are the terms that may be against p.
func (x *Index) against(p *cluster.Pod) (list []filing) {
	in := func(of label) {
		for _, k := range []kind{{space: p.Namespace, label: of}, {anywhere: true, label: of}} {
			if f, is := x.kinds[k]; is {
				list = append(list, f)
			}
		}
	}
	in(label{})
	for key, value := range p.Labels {
		in(label{key, value})
	}
	return list
}

// Read are the labels of p that the anti-affinity terms of running pods read which may select it.
func (x *Index) Read(p *cluster.Pod) map[string]string {
	filed, labels := x.against(p), maps.Clone(p.Labels)
	maps.DeleteFunc(labels, func(key, _ string) bool {
		return !slices.ContainsFunc(filed, func(f filing) bool { return f.reads[key] })
	})
	return labels
}

// mostSpaces is under how many namespaces a term is filed; if it names more, it may be against pods of any.
const mostSpaces = 16

// file files h, of the labels that it asks for under one that the fewest others ask for.
func (x *Index) file(h *holders) {
	kinds, labels := []kind{{anywhere: true}}, asked(h.term.selector)
	if h.term.spaces == nil && len(h.term.namespaces) <= mostSpaces {
		kinds = nil
		for _, name := range h.term.namespaces {
			if k := (kind{space: name}); !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
		}
	}
	for _, k := range kinds {
		for i, l := range labels {
			if at := (kind{k.space, k.anywhere, l}); i == 0 || len(x.kinds[at].terms) < len(x.kinds[k].terms) {
				k = at
			}
		}
		f := x.kinds[k]
		if f.reads == nil {
			f.reads = map[string]bool{}
		}
		f.terms = append(f.terms, h)
		x.kinds[k] = f
		reads(f.reads, h.term.selector)
	}
}

// column are the values of a topology key that nodes have, by number from 1 on; 0: none.
type column struct {
	number map[string]int
	whole  bool  // no node has none
	of     []int // by node
}

// spot is a value, by its number.
type spot struct {
	column *column
	value  int
}

// two are pods, two of them if there are more.
type two [2]*cluster.Pod

// and is p, too.
func (t two) and(p *cluster.Pod) two {
	if t[0] == p || t[1] == p {
		return t
	}
	return two{p, t[0]}
}

// with are those of o, too.
func (t two) with(o two) two {
	for _, p := range o {
		if p != nil {
			t = t.and(p)
		}
	}
	return t
}

// but is one of them who is not p; nil: there is none.
func (t two) but(p *cluster.Pod) *cluster.Pod {
	if t[0] == p {
		return t[1]
	}
	return t[0]
}

// column is that of a key.
func (x *Index) column(key string) *column {
	c := x.columns[key]
	if c == nil {
		c = &column{number: map[string]int{}, whole: true}
		for _, n := range x.nodes {
			value, has := n.Labels[key]
			if has && c.number[value] == 0 {
				c.number[value] = len(c.number) + 1
			}
			c.of, c.whole = append(c.of, c.number[value]), c.whole && has
		}
		x.columns[key] = c
	}
	return c
}

// inWay says whether somebody is in the way of a pod on a node, and who that is; nil: one who stays.
type inWay func(n int) (foe *cluster.Pod, is bool)

// Open tells of a node, by its number, whether it may take running pod self, which has left node own, -1 if it is not there: not one where
// somebody is in its way who stays, or those are missing whom it has to be near. That is what list says, which was made by x. The nodes for
// which a pod may make room are told by leaves. Unless few is nil, no other nodes may take self.
func (x *Index) Open(list []Relation, self *cluster.Pod, own int, leaves func(*cluster.Pod) []int) (open func(n int) bool, few []int) {
	known := map[*cluster.Pod][]int{}
	from := func(p *cluster.Pod) []int {
		list, read := known[p]
		if !read && p != nil {
			list = leaves(p)
			known[p] = list
		}
		return list
	}
	var all []inWay
	for _, r := range list {
		switch r := r.(type) {
		case *tokens:
			for _, p := range r.holders {
				if p != self {
					all = append(all, func(int) (*cluster.Pod, bool) { return p, true })
				}
			}
		case *affinity:
			away, foes := r.awayFrom(self)
			all = append(all, slices.Concat(away, r.closeTo(x, self, own))...)
			for _, p := range foes {
				few = append(few, from(p)...)
			}
			if foes != nil && few == nil {
				few = []int{}
			}
		}
	}
	return func(n int) bool {
		return !slices.ContainsFunc(all, func(on inWay) bool {
			foe, is := on(n)
			return is && !slices.Contains(from(foe), n)
		})
	}, few
}

// awayFrom tells who is in the way on a node: it has a term against self, or one of self selects it. If somebody is wherever a key has a value,
// which all nodes have, one for each are told, too.
func (a *affinity) awayFrom(self *cluster.Pod) (list []inWay, everywhere []*cluster.Pod) {
	by := map[*column][]*foes{}
	for _, f := range slices.Concat(a.profiles[0].own, a.profiles[0].against) {
		if c := f.column; c != nil {
			by[c] = append(by[c], f)
			list = append(list, func(n int) (*cluster.Pod, bool) {
				foe := f.apart[c.of[n]].but(self)
				return foe, foe != nil
			})
		}
	}
	for c, all := range by {
		foes := c.foes(all, self)
		if c.whole && len(foes) == len(c.number) {
			everywhere = foes
		}
	}
	return list, everywhere
}

// foes are those in the way of self, one for each value of c where somebody is.
func (c *column) foes(all []*foes, self *cluster.Pod) (list []*cluster.Pod) {
	places := 0
	for _, f := range all {
		places += len(f.apart)
	}
	for value := 1; value <= len(c.number) && places >= len(c.number); value++ {
		for _, f := range all {
			if foe := f.apart[value].but(self); foe != nil {
				list = append(list, foe)
				break
			}
		}
	}
	return list
}

// closeTo tells who keeps self from being the first of its own on a node where none is whom it has to be near.
func (a *affinity) closeTo(x *Index, self *cluster.Pod, own int) (list []inWay) {
	l := a.profiles[0].pull
	if l == nil {
		return nil
	}
	var friend *cluster.Pod
	if a.matches(l, a.profiles[0].pod) {
		friend = l.friends.but(self)
		if l.matched == 0 {
			return nil
		}
	}
	counts := a.matches(l, self)
	for _, t := range l.terms {
		c := x.column(t.key)
		list = append(list, func(n int) (*cluster.Pod, bool) {
			there := l.stood[spot{c, c.of[n]}]
			if counts && own >= 0 && there > 0 && c.of[n] == c.of[own] {
				there--
			}
			return friend, there == 0
		})
	}
	return list
}
