package suits

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strconv"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// numbers are a set of nodes by their numbers, bit by bit.
type numbers []uint64

func (s numbers) add(n int32) { s[n/64] |= 1 << (n % 64) }

func (s numbers) has(n int32) bool { return s[n/64]&(1<<(n%64)) != 0 }

// filedNodes are nodes by their labels.
type filedNodes struct {
	number    map[*cluster.Node]int32
	names     column
	labels    map[string]*column // by key
	term, one numbers            // reused
}

// column are the nodes that have a label, by its values. What is remembered of it as sets takes no more than the nodes do.
type column struct {
	all    those
	of     map[string]*those
	ranked []ranked  // those whose values are integers, ascending; nil: nobody asked
	from   []numbers // of every so many of them, as many as a set has words, that one and those after it
}

type ranked struct {
	value int64
	node  int32
}

// those are some nodes, as a set, too, if that is shorter and was asked for.
type those struct {
	list []int32
	set  numbers
}

// addTo adds them to s.
func (t *those) addTo(s numbers) {
	if len(t.list) > len(s) && t.set == nil {
		t.set = make(numbers, len(s))
		for _, n := range t.list {
			t.set.add(n)
		}
	}
	for i, word := range t.set {
		s[i] |= word
	}
	for i := 0; t.set == nil && i < len(t.list); i++ {
		s.add(t.list[i])
	}
}

func (c *column) add(value string, n int32) {
	if c.of == nil {
		c.of = map[string]*those{}
	}
	if c.of[value] == nil {
		c.of[value] = &those{}
	}
	c.all.list, c.of[value].list = append(c.all.list, n), append(c.of[value].list, n)
}

func fileNodes(nodes []cluster.Node) *filedNodes {
	words := (len(nodes) + 63) / 64
	f := &filedNodes{number: make(map[*cluster.Node]int32, len(nodes)), labels: map[string]*column{}, term: make(numbers, words), one: make(numbers, words)}
	for i := range nodes {
		n := &nodes[i]
		f.number[n] = int32(i)
		f.names.add(n.Name, int32(i))
		for key, value := range n.Labels {
			if f.labels[key] == nil {
				f.labels[key] = &column{}
			}
			f.labels[key].add(value, int32(i))
		}
	}
	return f
}

// allowed are the nodes for which a term holds. O(n/64) for each requirement and n nodes.
func (f *filedNodes) allowed(terms []cluster.NodeTerm) numbers {
	all := make(numbers, len(f.term))
	for _, t := range terms {
		for i := range f.term {
			f.term[i] = math.MaxUint64
		}
		for _, r := range t.Labels {
			f.restrict(f.labels[r.Key], r)
		}
		for _, r := range t.Fields {
			f.restrict(&f.names, r)
		}
		for i, word := range f.term {
			if len(t.Labels)+len(t.Fields) > 0 {
				all[i] |= word
			}
		}
	}
	return all
}

// restrict takes those out of the term for whom r does not hold. c is what they have.
func (f *filedNodes) restrict(c *column, r cluster.NodeRequirement) {
	if c == nil {
		c = &column{}
	}
	clear(f.one)
	switch r.Operator {
	case cluster.NodeExists, cluster.NodeDoesNotExist:
		c.all.addTo(f.one)
	case cluster.NodeIn, cluster.NodeNotIn:
		for _, value := range slices.Compact(slices.Sorted(slices.Values(r.Values))) {
			if t := c.of[value]; t != nil {
				t.addTo(f.one)
			}
		}
	default:
		c.beyond(f.one, r.Values[0], r.Operator == cluster.NodeGt)
	}
	for i, word := range f.one {
		if r.Operator == cluster.NodeNotIn || r.Operator == cluster.NodeDoesNotExist {
			word = ^word
		}
		f.term[i] &= word
	}
}

// beyond adds to s, which is empty, the nodes whose value is an integer above bound, or below it; none if that is no integer.
func (c *column) beyond(s numbers, bound string, above bool) {
	if c.ranked == nil {
		c.rank(len(s))
	}
	number, err := strconv.ParseInt(bound, 10, 64)
	switch {
	case err != nil:
	case above:
		c.flipFrom(s, sort.Search(len(c.ranked), func(i int) bool { return c.ranked[i].value > number }))
	default:
		c.flipFrom(s, 0)
		c.flipFrom(s, sort.Search(len(c.ranked), func(i int) bool { return c.ranked[i].value >= number }))
	}
}

// rank reads values as integers, for sets of so many words.
func (c *column) rank(words int) {
	c.ranked = []ranked{}
	for value, t := range c.of {
		if number, err := strconv.ParseInt(value, 10, 64); err == nil {
			for _, n := range t.list {
				c.ranked = append(c.ranked, ranked{number, n})
			}
		}
	}
	slices.SortFunc(c.ranked, func(a, b ranked) int { return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.node, b.node)) })
	last := make(numbers, words)
	for i := len(c.ranked) - 1; i >= 0; i-- {
		if last.add(c.ranked[i].node); i%words == 0 {
			c.from = append(c.from, slices.Clone(last))
		}
	}
	slices.Reverse(c.from)
}

// flipFrom adds those from the k-th of ranked on to s, or takes out who is there.
func (c *column) flipFrom(s numbers, k int) {
	for ; k < len(c.ranked) && k%len(s) > 0; k++ {
		n := c.ranked[k].node
		s[n/64] ^= 1 << (n % 64)
	}
	if k < len(c.ranked) {
		for i, word := range c.from[k/len(s)] {
			s[i] ^= word
		}
	}
}
