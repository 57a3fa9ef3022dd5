package noderules

import (
	"maps"
	"math"
	"math/bits"
	"slices"
	"sort"
	"strconv"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Table tells on which nodes pods may run by what they say of nodes. Each requirement is looked up by the labels that nodes have, and
// each toleration by their taints, so that no pod is compared with every node. It holds as long as no node changes.
//
// O(l) for l labels and taints, once; then for n nodes O(n/64) for each requirement and value, and for each node with a
// taint that a pod tolerates O(1).
type Table struct {
	ix        *cluster.Index
	clean     Nodes // those without taints that keep pods away
	names     *column
	labels    map[string]*column      // by key
	taints    []cluster.Taint         // of all nodes together, each once
	tainted   [][]cluster.NodeID      // by taint
	numTaints []int32                 // by node
	byTaint   map[string]*column      // the positions of taints, by key; "" has all
	at        map[*cluster.Node]int32 // the nodes; nil: no terms were looked up
	asked     int                     // how many requirements Rules were asked for that are gone through, or were until these are too many
	said      map[string]Rule         // that Next returned, by their text
	last      Rule                    // of these

	any, term, one Nodes   // reused
	tolerated      []int32 // by node: how many of its taints; reused
	done           []bool  // by taint; reused
}

// Nodes is a set of nodes, bit by bit.
type Nodes []uint64

// Add adds node n to s.
func (s Nodes) Add(n cluster.NodeID) { s[n/64] |= 1 << (n % 64) }

// Drop takes node n out of s.
func (s Nodes) Drop(n cluster.NodeID) { s[n/64] &^= 1 << (n % 64) }

func (s Nodes) add(n int32) { s.Add(cluster.NodeID(n)) }

// Has reports whether node n is in s.
func (s Nodes) Has(n cluster.NodeID) bool { return s[n/64]&(1<<(n%64)) != 0 }

// Next is the first node of s from n on; NoNode if there is none.
func (s Nodes) Next(n cluster.NodeID) cluster.NodeID {
	for i := int(n / 64); i < len(s); i++ {
		word := s[i]
		if i == int(n/64) {
			word &= math.MaxUint64 << (n % 64)
		}
		if word != 0 {
			return cluster.NodeID(64*i + bits.TrailingZeros64(word))
		}
	}
	return cluster.NoNode
}

// column files nodes, or taints, by the values that they have of one key.
type column struct {
	all     []int32
	of      map[string][]int32
	numbers []int64          // that the values are, ascending; nil: not asked yet
	ranked  []int32          // whose they are
	from    []Nodes          // for each step-th number the nodes with that one or a later one
	sets    map[string]Nodes // of values that many nodes have
	has     Nodes            // all; nil: not asked yet
}

// step is how many numbers lie between those from which on nodes are kept as a set: 64 sets at most.
func (c *column) step() int { return len(c.numbers)/64 + 1 }

func file(columns map[string]*column, key, value string, i int32) {
	c := columns[key]
	if c == nil {
		c = &column{of: map[string][]int32{}}
		columns[key] = c
	}
	c.all, c.of[value] = append(c.all, i), append(c.of[value], i)
}

// NewTable returns the Table of ix, whose nodes are filed when somebody asks.
func NewTable(ix *cluster.Index) *Table { return &Table{ix: ix} }

func (t *Table) file() {
	ix, words := t.ix, (t.ix.NumNodes()+63)/64
	t.clean, t.numTaints = make(Nodes, words), make([]int32, ix.NumNodes())
	t.labels, t.byTaint = map[string]*column{}, map[string]*column{}
	names, kinds := map[string]*column{}, map[cluster.Taint]int{}
	for n := range ix.Nodes() {
		node := ix.Node(n)
		file(names, "", node.Name, int32(n))
		for key, value := range node.Labels {
			file(t.labels, key, value, int32(n))
		}
		for _, taint := range node.Taints {
			if taint.Effect != cluster.PreferNoSchedule {
				t.taint(n, taint, kinds)
			}
		}
		if t.numTaints[n] == 0 {
			t.clean.add(int32(n))
		}
	}
	t.names = names[""]
	t.any, t.term, t.one = make(Nodes, words), make(Nodes, words), make(Nodes, words)
	t.tolerated, t.done = make([]int32, ix.NumNodes()), make([]bool, len(t.taints))
}

// taint notes a taint of node n.
func (t *Table) taint(n cluster.NodeID, taint cluster.Taint, kinds map[cluster.Taint]int) {
	i, known := kinds[taint]
	if !known {
		i = len(t.taints)
		kinds[taint], t.taints, t.tainted = i, append(t.taints, taint), append(t.tainted, nil)
		file(t.byTaint, "", taint.Value, int32(i))
		if taint.Key != "" {
			file(t.byTaint, taint.Key, taint.Value, int32(i))
		}
	}
	t.tainted[i] = append(t.tainted[i], n) // twice, where the node says it twice
	t.numTaints[n]++
}

// Allowed adds to dst, which is empty, the nodes that p's node selector and required node affinity allow and whose taints it
// tolerates, but for those that only ask to be avoided. Room, cordons and a required name are not looked at.
func (t *Table) Allowed(dst Nodes, p *cluster.Pod) Nodes {
	if t.clean == nil {
		t.file()
	}
	dst = append(dst, t.clean...)
	t.tolerate(dst, p.Tolerations)
	for key, value := range p.NodeSelector {
		t.restrict(dst, t.labels[key], cluster.NodeRequirement{Operator: cluster.NodeIn, Values: []string{value}})
	}
	if p.NodeAffinity != nil {
		t.affine(dst, p.NodeAffinity.Terms)
	}
	return dst
}

// Next is [Table.Rule] of one pod after the other: those that say the same share a rule.
func (t *Table) Next(p *cluster.Pod) Rule {
	if q := t.last.pod; q == nil || p.RequiredNode != q.RequiredNode || p.NodeAffinity != q.NodeAffinity ||
		!maps.Equal(p.NodeSelector, q.NodeSelector) || !slices.Equal(p.Tolerations, q.Tolerations) {
		text := text(p)
		f, known := t.said[text]
		if !known {
			if f = t.Rule(p); f.text != nil {
				f.text.Store(&text)
			}
			if t.said == nil {
				t.said = map[string]Rule{}
			}
			t.said[text] = f
		}
		t.last = f
	}
	return t.last
}

// fewAsked are so few requirements in all that they are gone through for each node.
const fewAsked = 64

// Rule is [NewRule] of a pod that is asked about many nodes of t: many terms that would have to be gone through for one node are looked up
// for all nodes, and so are any, once a few requirements in all were asked for. For a node that is not, or no longer, of the index they are gone through.
func (t *Table) Rule(p *cluster.Pod) Rule {
	f := NewRule(p)
	if p.NodeAffinity == nil {
		return f
	}
	if f.terms == nil || f.terms.longest <= manyListed {
		for _, term := range p.NodeAffinity.Terms {
			t.asked += len(term.Labels) + len(term.Fields)
		}
		if t.asked <= fewAsked {
			return f
		}
	}
	if t.clean == nil {
		t.file()
	}
	if t.at == nil {
		t.at = map[*cluster.Node]int32{}
		for n := range t.ix.Nodes() {
			t.at[t.ix.Node(n)] = int32(n)
		}
	}
	f.at, f.nodes = t.at, slices.Repeat(Nodes{math.MaxUint64}, len(t.clean))
	t.affine(f.nodes, p.NodeAffinity.Terms)
	return f
}

// affine takes out of dst the nodes for which no term holds.
func (t *Table) affine(dst Nodes, terms []cluster.NodeTerm) {
	clear(t.any)
	for _, term := range terms {
		if len(term.Labels)+len(term.Fields) == 0 {
			continue
		}
		copy(t.term, dst)
		for _, r := range term.Labels {
			t.restrict(t.term, t.labels[r.Key], r)
		}
		for _, r := range term.Fields {
			t.restrict(t.term, t.names, r)
		}
		for i, word := range t.term {
			t.any[i] |= word
		}
	}
	copy(dst, t.any)
}

// tolerate adds to s the nodes all of whose taints are tolerated.
func (t *Table) tolerate(s Nodes, tolerations []cluster.Toleration) {
	var done []int32
	for _, o := range tolerations {
		for _, i := range t.byTaint[o.Key].taints(o) {
			if t.done[i] || o.Effect != "" && o.Effect != t.taints[i].Effect {
				continue
			}
			t.done[i], done = true, append(done, i)
			for _, n := range t.tainted[i] {
				if t.tolerated[n]++; t.tolerated[n] == t.numTaints[n] {
					s.add(int32(n))
				}
			}
		}
	}
	for _, i := range done {
		t.done[i] = false
		for _, n := range t.tainted[i] {
			t.tolerated[n] = 0
		}
	}
}

// taints are those of c whose value o tolerates. O(log k) for k of them, and what it returns.
func (c *column) taints(o cluster.Toleration) []int32 {
	switch {
	case c == nil:
		return nil
	case o.Operator == cluster.TolerationExists:
		return c.all
	case o.Operator != cluster.TolerationLt && o.Operator != cluster.TolerationGt:
		return c.of[o.Value]
	}
	first, end := c.bounded(o.Value, o.Operator == cluster.TolerationGt)
	return c.ranked[first:end]
}

// bounded are the positions among c's numbers of those above bound, or below it: none if bound is no number.
func (c *column) bounded(bound string, above bool) (first, end int) {
	if c.numbers == nil {
		c.rank()
	}
	number, err := strconv.ParseInt(bound, 10, 64)
	if err != nil {
		return 0, 0
	}
	if above {
		return sort.Search(len(c.numbers), func(i int) bool { return c.numbers[i] > number }), len(c.numbers)
	}
	return 0, sort.Search(len(c.numbers), func(i int) bool { return c.numbers[i] >= number })
}

func (c *column) rank() {
	values := map[int64][]int32{}
	for value, list := range c.of {
		if number, err := strconv.ParseInt(value, 10, 64); err == nil {
			values[number] = append(values[number], list...)
		}
	}
	c.numbers = make([]int64, 0, len(c.all))
	for _, number := range slices.Sorted(maps.Keys(values)) {
		c.numbers, c.ranked = append(c.numbers, slices.Repeat([]int64{number}, len(values[number]))...), append(c.ranked, values[number]...)
	}
}

// restrict takes out of s those nodes for which r does not hold; c has what they have of its key.
func (t *Table) restrict(s Nodes, c *column, r cluster.NodeRequirement) {
	if c == nil {
		c = &column{}
	}
	without := r.Operator == cluster.NodeNotIn || r.Operator == cluster.NodeDoesNotExist
	clear(t.one)
	switch r.Operator {
	case cluster.NodeIn, cluster.NodeNotIn:
		for _, v := range r.Values {
			t.with(c, v)
		}
	case cluster.NodeExists, cluster.NodeDoesNotExist:
		if c.has == nil {
			c.has = make(Nodes, len(t.clean))
			for _, n := range c.all {
				c.has.add(n)
			}
		}
		copy(t.one, c.has)
	default:
		first, end := c.bounded(r.Values[0], r.Operator == cluster.NodeGt)
		t.flip(c, first)
		t.flip(c, end)
	}
	for i, word := range t.one {
		if without {
			word = ^word
		}
		s[i] &= word
	}
}

// with adds the nodes whose value is v.
func (t *Table) with(c *column, v string) {
	list := c.of[v]
	if len(list) <= len(t.clean) {
		for _, n := range list {
			t.one.add(n)
		}
		return
	}
	set := c.sets[v]
	if set == nil {
		set = make(Nodes, len(t.clean))
		for _, n := range list {
			set.add(n)
		}
		if c.sets == nil {
			c.sets = map[string]Nodes{}
		}
		c.sets[v] = set
	}
	for i, word := range set {
		t.one[i] |= word
	}
}

// flip adds the nodes that have the k-th number of c or one after it, or takes them out.
func (t *Table) flip(c *column, k int) {
	if step := c.step(); c.from == nil {
		c.from = make([]Nodes, (len(c.numbers)+step-1)/step)
		set := make(Nodes, len(t.clean))
		for i, n := range slices.Backward(c.ranked) {
			if set.add(n); i%step == 0 {
				c.from[i/step] = slices.Clone(set)
			}
		}
	}
	for ; k < len(c.numbers) && k%c.step() > 0; k++ {
		n := c.ranked[k]
		t.one[n/64] ^= 1 << (n % 64)
	}
	if k < len(c.numbers) {
		for i, word := range c.from[k/c.step()] {
			t.one[i] ^= word
		}
	}
}
