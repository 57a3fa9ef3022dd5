package relation

import (
	"iter"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Index are running pods by what affinity and tokens read of them, for many questions about the same ones.
type Index struct {
	nodes   []*cluster.Node
	columns map[string]*column
	used    []*column // by the last [Index.Open]
	by      map[label][]standing
	holders map[kind]*holders     // of anti-affinity terms, by whom these are against
	tokens  map[string][]standing // who holds each
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

// holders are who has terms against pods of a kind, which read some labels of these.
type holders struct {
	list  []standing
	reads map[string]bool // by key
}

// those are the holders, of nil none.
func (h *holders) those() []standing {
	if h == nil {
		return nil
	}
	return h.list
}

// mostLabels is how many labels of pods, and namespaces of terms, an index has at most.
const mostLabels = 1 << 20

// NewIndex returns the index of running pods; nil where they have too many labels and tokens.
func NewIndex(nodes []*cluster.Node, running iter.Seq2[*cluster.Pod, *cluster.Node]) *Index {
	x, labels := &Index{nodes: nodes, columns: map[string]*column{}}, 0
	x.by, x.holders, x.tokens = map[label][]standing{}, map[kind]*holders{}, map[string][]standing{}
	for p, n := range running {
		if labels += len(p.Labels) + len(p.Tokens); labels > mostLabels {
			return nil
		}
		for _, t := range p.AntiAffinity {
			if labels += len(t.Namespaces) * (1 + numKeys(t.Selector)); labels > mostLabels {
				return nil
			}
		}
		x.Add(p, n)
	}
	return x
}

// numKeys is how many requirements s has.
func numKeys(s *disruption.Selector) int {
	if s == nil {
		return 0
	}
	return len(s.MatchLabels) + len(s.MatchExpressions)
}

// Add notes that p runs on n, from where it may have gone when x is read; nil: nobody asks.
func (x *Index) Add(p *cluster.Pod, n *cluster.Node) {
	if x == nil {
		return
	}
	for key, value := range p.Labels {
		x.by[label{key, value}] = append(x.by[label{key, value}], standing{p, n})
	}
	for _, name := range p.Tokens {
		x.tokens[name] = append(x.tokens[name], standing{p, n})
	}
	for _, t := range termsOf(p.AntiAffinity, p) {
		x.hold(t, standing{p, n})
	}
}

// against goes over those who may have terms against p.
func (x *Index) against(p *cluster.Pod) iter.Seq[*holders] {
	return func(yield func(*holders) bool) {
		in := func(of label) bool {
			for _, k := range []kind{{space: p.Namespace, label: of}, {anywhere: true, label: of}} {
				if h := x.holders[k]; h != nil && !yield(h) {
					return false
				}
			}
			return true
		}
		if !in(label{}) {
			return
		}
		for key, value := range p.Labels {
			if !in(label{key, value}) {
				return
			}
		}
	}
}

// Read are the labels of p that the anti-affinity terms of running pods read which may select it.
func (x *Index) Read(p *cluster.Pod) map[string]string {
	if x == nil {
		return p.Labels
	}
	return only(p.Labels, x.readBy(p))
}

func (x *Index) readBy(p *cluster.Pod) map[string]bool {
	keys := map[string]bool{}
	for h := range x.against(p) {
		maps.Copy(keys, h.reads)
	}
	return keys
}

// hold files a holder of t, of the labels that it asks for under one that the fewest others ask for.
func (x *Index) hold(t term, s standing) {
	kinds, labels := []kind{{anywhere: true}}, asked(t.selector)
	if t.spaces == nil {
		kinds = nil
		for _, name := range t.namespaces {
			kinds = append(kinds, kind{space: name})
		}
	}
	for _, k := range kinds {
		for i, l := range labels {
			if at := (kind{k.space, k.anywhere, l}); i == 0 || len(x.holders[at].those()) < len(x.holders[k].those()) {
				k = at
			}
		}
		if x.holders[k] == nil {
			x.holders[k] = &holders{reads: map[string]bool{}}
		}
		x.holders[k].list = append(x.holders[k].list, s)
		reads(x.holders[k].reads, t.selector)
	}
}

// with goes over those that have one of some labels, and the holders of terms that may select one of pods, each once.
func (x *Index) with(labels []label, pods []*cluster.Pod) iter.Seq2[*cluster.Pod, *cluster.Node] {
	var lists [][]standing
	for _, p := range pods {
		for h := range x.against(p) {
			lists = append(lists, h.list)
		}
	}
	for _, l := range labels {
		lists = append(lists, x.by[l])
	}
	return once(lists)
}

// holding goes over those that hold one of some tokens, each once.
func (x *Index) holding(names []string) iter.Seq2[*cluster.Pod, *cluster.Node] {
	var lists [][]standing
	for _, name := range names {
		lists = append(lists, x.tokens[name])
	}
	return once(lists)
}

// once goes over those of lists who are still there, over who is in several once.
func once(lists [][]standing) iter.Seq2[*cluster.Pod, *cluster.Node] {
	return func(yield func(*cluster.Pod, *cluster.Node) bool) {
		seen := map[*cluster.Pod]bool{}
		for _, list := range lists {
			for _, s := range list {
				if seen[s.pod] || s.pod.Node != s.node.Name {
					continue
				}
				if seen[s.pod] = true; !yield(s.pod, s.node) {
					return
				}
			}
		}
	}
}

// column are the values of a topology key that nodes have, by number; 0: none.
type column struct {
	number map[string]int
	whole  bool   // no node has none
	of     []int  // by node
	foes   []*foe // by value: who is in the way there
	near   []bool // by value: those are there whom a pod has to be near
}

// foe is a running pod that is in the way as long as it stays; nil: it always does.
type foe struct {
	pod  *cluster.Pod
	read bool
	from []int // the nodes for which it may make room, once read
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

// but is one of them who is not p; nil: there is none.
func (t two) but(p *cluster.Pod) *cluster.Pod {
	if t[0] == p {
		return t[1]
	}
	return t[0]
}

// column is that of a key, which is used.
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
		c.foes, c.near = make([]*foe, len(c.number)+1), make([]bool, len(c.number)+1)
		x.columns[key] = c
	}
	if !slices.Contains(x.used, c) {
		x.used = append(x.used, c)
	}
	return c
}

// leavesFor are the nodes for which f may make room.
func (f *foe) leavesFor(leaves func(*cluster.Pod) []int) []int {
	if f.pod != nil && !f.read {
		f.read, f.from = true, leaves(f.pod)
	}
	return f.from
}

// Open tells of a node, by its number, whether it may take running pod self, which has left its own: not one where somebody is in its way
// who stays, or those are missing whom it has to be near. That is what list says, which was made by x. The nodes for which a pod may make
// room are told by leaves. Unless few is nil, no other nodes may take self. It is good until the next.
func (x *Index) Open(list []Relation, self *cluster.Pod, leaves func(*cluster.Pod) []int) (open func(n int) bool, few []int) {
	if x == nil {
		return func(int) bool { return true }, nil
	}
	for _, c := range x.used {
		clear(c.foes)
		clear(c.near)
	}
	x.used = x.used[:0]
	var inWay []func(n int) *foe
	for _, r := range list {
		switch r := r.(type) {
		case *tokens:
			for _, p := range r.holders {
				if f := (&foe{pod: p}); p != self {
					inWay = append(inWay, func(int) *foe { return f })
				}
			}
		case *affinity:
			inWay = append(inWay, slices.Concat(r.awayFrom(x, self), r.closeTo(x, self))...)
		}
	}
	for _, c := range x.used {
		if c.whole && !slices.Contains(c.foes[1:], nil) {
			few = []int{}
			for _, f := range c.foes[1:] {
				few = append(few, f.leavesFor(leaves)...)
			}
		}
	}
	return func(n int) bool {
		return !slices.ContainsFunc(inWay, func(on func(int) *foe) bool {
			f := on(n)
			return f != nil && !slices.Contains(f.leavesFor(leaves), n)
		})
	}, few
}

// awayFrom tells who is in the way on a node: it has a term against self, or one of self selects it.
func (a *affinity) awayFrom(x *Index, self *cluster.Pod) (list []func(n int) *foe) {
	for _, f := range a.foes {
		c := x.column(f.term.key)
		list = append(list, func(n int) *foe { return c.foes[c.of[n]] })
	}
	for at, pods := range a.apart {
		if p := pods.but(self); p != nil {
			c := x.column(at.key)
			c.foes[c.number[at.value]] = &foe{pod: p}
		}
	}
	return list
}

// closeTo tells who keeps self from being the first of its own on a node where none is whom it has to be near.
func (a *affinity) closeTo(x *Index, self *cluster.Pod) (list []func(n int) *foe) {
	l := a.profiles[0].pull
	if l == nil {
		return nil
	}
	friend := &foe{}
	if a.matches(l, a.profiles[0].pod) {
		friend.pod = a.friends.but(self)
		if l.matched == 0 {
			return nil
		}
	}
	for _, t := range l.terms {
		c := x.column(t.key)
		list = append(list, func(n int) *foe {
			if c.near[c.of[n]] {
				return nil
			}
			return friend
		})
	}
	for at := range l.at {
		c := x.column(at.key)
		c.near[c.number[at.value]] = true
	}
	return list
}
