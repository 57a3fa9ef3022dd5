package naivequota

import (
	"maps"
	"math/big"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// FR is a flavor-resource.
type FR struct{ Flavor, Resource string }

// Amounts are amounts by flavor-resource.
type Amounts map[FR]int64

// Limits is what a holder has of a flavor-resource; nil: no limit.
type Limits struct {
	Nominal            int64
	Borrowing, Lending *int64
}

// Node is a ClusterQueue or a Cohort.
type Node struct {
	Name     string
	Queue    *cluster.ClusterQueue // nil: a cohort
	Parent   *Node
	Children []*Node
	Quotas   map[FR]Limits
	Weight   *big.Rat
}

// Admitted is a workload that holds quota.
type Admitted struct {
	W     *cluster.Workload
	Queue *Node
	Usage Amounts
}

// World is a tree of queues and who uses it.
type World struct {
	Snapshot *cluster.Snapshot
	Queues   map[string]*Node
	Cohorts  map[string]*Node
	In       map[*Admitted]bool // who holds quota at the moment
	Extra    map[*Node]Amounts  // used on top of that
}

// NewWorld links the queues and cohorts of s, which must not have cycles.
func NewWorld(s *cluster.Snapshot) *World {
	w := &World{
		Snapshot: s, Queues: map[string]*Node{}, Cohorts: map[string]*Node{},
		In: map[*Admitted]bool{}, Extra: map[*Node]Amounts{},
	}
	for i := range s.Cohorts {
		c := &s.Cohorts[i]
		n := w.cohort(c.Name)
		n.Quotas, n.Weight = quotas(c.Groups), weight(c.Weight)
		if c.Parent != "" {
			w.join(n, c.Parent)
		}
	}
	for i := range s.ClusterQueues {
		q := &s.ClusterQueues[i]
		n := &Node{Name: q.Name, Queue: q, Quotas: quotas(q.Groups), Weight: weight(q.Weight)}
		w.Queues[q.Name] = n
		if q.Cohort != "" {
			w.join(n, q.Cohort)
		}
	}
	for i := range s.Workloads {
		if job := &s.Workloads[i]; job.Admission != nil && w.Queues[job.Admission.ClusterQueue] != nil {
			w.In[w.Admit(job)] = true
		}
	}
	return w
}

// Admit describes job as holding what its pod sets say.
func (w *World) Admit(job *cluster.Workload) *Admitted {
	a := &Admitted{W: job, Queue: w.Queues[job.Admission.ClusterQueue], Usage: Amounts{}}
	for _, set := range job.PodSets {
		for resource, flavor := range set.Flavors {
			v, given := set.Usage[resource]
			switch {
			case given:
			case resource == cluster.Pods:
				v = int64(set.Count)
			default:
				v = set.Requests[resource] * int64(set.Count)
			}
			a.Usage[FR{flavor, resource}] += v
		}
	}
	return a
}

func (w *World) cohort(name string) *Node {
	if w.Cohorts[name] == nil {
		w.Cohorts[name] = &Node{Name: name, Quotas: map[FR]Limits{}, Weight: big.NewRat(1, 1)}
	}
	return w.Cohorts[name]
}

func (w *World) join(n *Node, parent string) {
	n.Parent = w.cohort(parent)
	n.Parent.Children = append(n.Parent.Children, n)
}

func quotas(groups []cluster.ResourceGroup) map[FR]Limits {
	m := map[FR]Limits{}
	for _, g := range groups {
		for _, f := range g.Flavors {
			for _, q := range f.Resources {
				m[FR{f.Flavor, q.Resource}] = Limits{q.Nominal, q.Borrowing, q.Lending}
			}
		}
	}
	return m
}

func weight(w *cluster.Weight) *big.Rat {
	if w == nil {
		return big.NewRat(1, 1)
	}
	return big.NewRat(int64(*w), 1_000_000_000)
}

// Root is the top of n's tree.
func (n *Node) Root() *Node {
	for n.Parent != nil {
		n = n.Parent
	}
	return n
}

// Subtree is what n owns and what is lent to it from below.
func (n *Node) Subtree(fr FR) int64 {
	sum := n.Quotas[fr].Nominal
	for _, c := range n.Children {
		sum += c.Subtree(fr) - c.Guaranteed(fr)
	}
	return sum
}

// Guaranteed is what n keeps for itself.
func (n *Node) Guaranteed(fr FR) int64 {
	l := n.Quotas[fr].Lending
	if l == nil {
		return 0
	}
	return max(0, n.Subtree(fr)-*l)
}

// Knows lists the flavor-resources named by n or below it.
func (n *Node) Knows() map[FR]bool {
	m := map[FR]bool{}
	for fr := range n.Quotas {
		m[fr] = true
	}
	for _, c := range n.Children {
		maps.Copy(m, c.Knows())
	}
	return m
}

// Used is what n uses.
func (w *World) Used(n *Node, fr FR) int64 {
	sum := int64(0)
	if n.Queue != nil {
		for a := range w.In {
			if a.Queue == n {
				sum += a.Usage[fr]
			}
		}
		return sum + w.Extra[n][fr]
	}
	for _, c := range n.Children {
		sum += max(0, w.Used(c, fr)-c.Guaranteed(fr))
	}
	return sum
}

// Balance is what is left to n, below zero where too much is used.
func (w *World) Balance(n *Node, fr FR) int64 {
	t, g, u := n.Subtree(fr), n.Guaranteed(fr), w.Used(n, fr)
	if n.Parent == nil {
		return t - u
	}
	above := w.Balance(n.Parent, fr)
	if b := n.Quotas[fr].Borrowing; b != nil {
		above = min(above, t-g-max(0, u-g)+*b)
	}
	return max(0, g-u) + above
}

// Available is what is left to n.
func (w *World) Available(n *Node, fr FR) int64 { return max(0, w.Balance(n, fr)) }

// Potential is what n could have if nothing were used.
func (n *Node) Potential(fr FR) int64 {
	if n.Parent == nil {
		return n.Subtree(fr)
	}
	v := n.Guaranteed(fr) + n.Parent.Potential(fr)
	if b := n.Quotas[fr].Borrowing; b != nil {
		v = min(v, n.Subtree(fr)+*b)
	}
	return v
}

// Borrows tells whether n would use more than it has with v more.
func (w *World) Borrows(n *Node, fr FR, v int64) bool { return n.Subtree(fr) < w.Used(n, fr)+v }

// Within tells whether n borrows none of frs.
func (w *World) Within(n *Node, frs map[FR]bool) bool {
	for fr := range frs {
		if w.Borrows(n, fr, 0) {
			return false
		}
	}
	return true
}

// Height is how many levels lie below n.
func (n *Node) Height() int {
	h := 0
	for _, c := range n.Children {
		h = max(h, 1, 1+c.Height())
	}
	return h
}

// BorrowHeight is the height of the lowest subtree around n that takes v more,
// and whether that is not the whole tree.
func (w *World) BorrowHeight(n *Node, fr FR, v int64) (int, bool) {
	if n.Parent == nil || !w.Borrows(n, fr, v) {
		return 0, n.Parent != nil
	}
	v -= max(0, n.Guaranteed(fr)-w.Used(n, fr))
	for a := n.Parent; ; a = a.Parent {
		if !w.Borrows(a, fr, v) {
			return a.Height(), a.Parent != nil
		}
		if a.Parent == nil {
			return a.Height(), false
		}
		v -= max(0, a.Guaranteed(fr)-w.Used(a, fr))
	}
}

// Share is a holder's dominant share: nil for infinity.
type Share struct {
	Value   *big.Rat // ratio over weight; nil: weight 0 and borrowing
	Ratio   *big.Rat
	Borrows bool
}

// ShareOf computes the share of n.
func (w *World) ShareOf(n *Node) Share {
	s := Share{Value: new(big.Rat), Ratio: new(big.Rat)}
	if n.Parent == nil {
		return s
	}
	borrowed, lendable := map[string]int64{}, map[string]int64{}
	for fr := range n.Knows() {
		borrowed[fr.Resource] += max(0, w.Used(n, fr)-n.Subtree(fr))
	}
	for fr := range n.Root().Knows() {
		lendable[fr.Resource] += n.Parent.Potential(fr)
	}
	for r, b := range borrowed {
		if b == 0 {
			continue
		}
		s.Borrows = true
		if lendable[r] > 0 {
			if ratio := big.NewRat(b, lendable[r]); ratio.Cmp(s.Ratio) > 0 {
				s.Ratio = ratio
			}
		}
	}
	switch {
	case s.Ratio.Sign() == 0:
	case n.Weight.Sign() == 0:
		s.Value = nil
	default:
		s.Value = new(big.Rat).Quo(s.Ratio, n.Weight)
	}
	return s
}

// Compare orders shares.
func (s Share) Compare(o Share) int {
	switch {
	case s.Value == nil && o.Value == nil:
		return s.Ratio.Cmp(o.Ratio)
	case s.Value == nil:
		return 1
	case o.Value == nil:
		return -1
	}
	return s.Value.Cmp(o.Value)
}

// Sorted lists nodes by name.
func Sorted(m map[string]*Node) []*Node {
	var list []*Node
	for _, name := range slices.Sorted(maps.Keys(m)) {
		list = append(list, m[name])
	}
	return list
}
