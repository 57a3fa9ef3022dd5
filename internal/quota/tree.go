package quota

import (
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Tree is the forest of queues and cohorts with their quotas. It is immutable and
// safe for concurrent use.
type Tree struct {
	numQueues    int
	numColumns   int
	numResources int

	parent   []HolderID
	queues   [][]HolderID // the ClusterQueues below each holder
	cohorts  [][]HolderID // the Cohorts below each holder
	height   []int32
	depth    []int32 // 0 for a root
	weight   []cluster.Weight
	resource []int32 // of each column

	// Holder-major rows of numColumns.
	subtree    []int64 // what the holder's subtree owns and offers to it
	guaranteed []int64 // the part of subtree that nobody above may use
	nominal    []int64
	borrowing  []int64 // limit, or Unlimited
	known      []bool  // the holder or one below names the column
	lendable   []int64 // by resource: what a child of this holder could have at most; rows of numResources
}

// NewTree builds the tree of ix. O(holders × columns).
func NewTree(ix *Index) *Tree {
	n, m := ix.NumHolders(), ix.NumColumns()
	t := &Tree{
		numQueues: ix.NumQueues(), numColumns: m, numResources: ix.NumResources(),
		parent: make([]HolderID, n), queues: make([][]HolderID, n), cohorts: make([][]HolderID, n),
		height: make([]int32, n), depth: make([]int32, n), weight: make([]cluster.Weight, n), resource: make([]int32, m),
		subtree: make([]int64, n*m), guaranteed: make([]int64, n*m), nominal: make([]int64, n*m), borrowing: make([]int64, n*m),
		known: make([]bool, n*m),
	}
	for c := range m {
		t.resource[c] = int32(ix.ResourceOf(ColumnID(c)))
	}
	for h := range n {
		id := HolderID(h)
		p := ix.Parent(id)
		t.parent[h], t.weight[h] = p, ix.Weight(id)
		switch {
		case p == NoHolder:
		case h < t.numQueues:
			t.queues[p] = append(t.queues[p], id)
		default:
			t.cohorts[p] = append(t.cohorts[p], id)
		}
	}
	order := t.topDown()
	for _, h := range slices.Backward(order) {
		t.sumUp(ix, h)
	}
	t.lendable = make([]int64, n*t.numResources)
	for _, h := range order {
		for c := range m {
			at := int(h)*t.numResources + int(t.resource[c])
			t.lendable[at] = Add(t.lendable[at], t.Potential(h, ColumnID(c)))
		}
	}
	return t
}

// topDown lists every holder after its parent and notes its depth.
func (t *Tree) topDown() []HolderID {
	order := make([]HolderID, 0, len(t.parent))
	for h, p := range t.parent {
		if p == NoHolder {
			order = append(order, HolderID(h))
		}
	}
	for i := 0; i < len(order); i++ {
		h := order[i]
		for _, below := range [2][]HolderID{t.cohorts[h], t.queues[h]} {
			for _, child := range below {
				t.depth[child] = t.depth[h] + 1
				order = append(order, child)
			}
		}
	}
	return order
}

// sumUp fills the rows of h; those of its children are full.
func (t *Tree) sumUp(ix *Index, h HolderID) {
	if len(t.cohorts[h])+len(t.queues[h]) > 0 {
		t.height[h] = 1
	}
	for _, child := range t.cohorts[h] {
		t.height[h] = max(t.height[h], t.height[child]+1)
	}
	for c := range t.numColumns {
		limits := ix.Limits(h, ColumnID(c))
		at := t.at(h, ColumnID(c))
		t.nominal[at], t.borrowing[at], t.known[at] = limits.Nominal, limits.Borrowing, limits.Defined
		sum := limits.Nominal
		for _, below := range [2][]HolderID{t.cohorts[h], t.queues[h]} {
			for _, child := range below {
				from := t.at(child, ColumnID(c))
				sum = Add(sum, Sub(t.subtree[from], t.guaranteed[from]))
				t.known[at] = t.known[at] || t.known[from]
			}
		}
		t.subtree[at] = sum
		if limits.Lending != unlimited {
			t.guaranteed[at] = Above(sum, limits.Lending)
		}
	}
}

func (t *Tree) at(h HolderID, c ColumnID) int {
	return int(h)*t.numColumns + int(c)
}

// NumQueues is the number of queues; they are the first holders.
func (t *Tree) NumQueues() int { return t.numQueues }

// NumHolders is the number of queues and cohorts.
func (t *Tree) NumHolders() int { return len(t.parent) }

// NumColumns is the number of flavor-resources.
func (t *Tree) NumColumns() int { return t.numColumns }

// Parent returns the cohort that h is in, or [quota.NoHolder].
func (t *Tree) Parent(h HolderID) HolderID { return t.parent[h] }

// Root returns the root of the tree that h is in.
func (t *Tree) Root(h HolderID) HolderID {
	for t.parent[h] != NoHolder {
		h = t.parent[h]
	}
	return h
}

// Queues returns the queues directly in cohort h, in order of name. The slice
// belongs to the tree.
func (t *Tree) Queues(h HolderID) []HolderID { return t.queues[h] }

// Cohorts returns the cohorts directly in cohort h, in order of name. The slice
// belongs to the tree.
func (t *Tree) Cohorts(h HolderID) []HolderID { return t.cohorts[h] }

// Height is how many levels lie below h: 0 for a queue or a cohort without members.
func (t *Tree) Height(h HolderID) int { return int(t.height[h]) }

// Nominal is what h itself owns of column c.
func (t *Tree) Nominal(h HolderID, c ColumnID) int64 { return t.nominal[t.at(h, c)] }

// Subtree is what h owns of column c together with what is lent to it from below.
func (t *Tree) Subtree(h HolderID, c ColumnID) int64 { return t.subtree[t.at(h, c)] }

// Guaranteed is the part of Subtree that h does not lend.
func (t *Tree) Guaranteed(h HolderID, c ColumnID) int64 {
	return t.guaranteed[t.at(h, c)]
}

// Potential is what h could have of column c if nobody used anything. O(depth).
func (t *Tree) Potential(h HolderID, c ColumnID) int64 {
	at := t.at(h, c)
	p := t.parent[h]
	if p == NoHolder {
		return t.subtree[at]
	}
	v := Add(t.guaranteed[at], t.Potential(p, c))
	if limit := t.borrowing[at]; limit != unlimited {
		v = min(v, Add(t.subtree[at], limit))
	}
	return v
}

// Below returns the child of cohort over that h is, or is part of; NoHolder if h
// is not below it.
func (t *Tree) Below(over, h HolderID) HolderID {
	for h != NoHolder && t.parent[h] != over {
		h = t.parent[h]
	}
	return h
}

// Common returns the lowest cohort that both a and b are below, NoHolder if there
// is none.
func (t *Tree) Common(a, b HolderID) HolderID {
	a, b = t.parent[a], t.parent[b]
	for a != b && a != NoHolder && b != NoHolder {
		if t.depth[a] >= t.depth[b] {
			a = t.parent[a]
		} else {
			b = t.parent[b]
		}
	}
	if a != b {
		return NoHolder
	}
	return a
}

// Limits on what is compiled, as those of package cluster.
const (
	mostCohorts = 32      // above a queue
	mostQuotas  = 1 << 22 // queues and cohorts times pairs of flavor and resource
)

// problemList collects what is wrong with objects that are right by themselves.
type problemList []*cluster.FieldError

func (ps *problemList) add(kind cluster.Kind, namespace, name, field, value, want string) {
	*ps = append(*ps, &cluster.FieldError{Kind: string(kind), Namespace: namespace, Name: name, Field: field, Value: value, Want: want})
}

// checkDepth complains about queues and cohorts with too many cohorts above them.
func (ix *Index) checkDepth(ps *problemList) {
	deepest, name, kind, field := 0, "", cluster.KindClusterQueue, "Cohort"
	for h := range HolderID(len(ix.parent)) {
		depth := 0
		for at := ix.parent[h]; at != NoHolder && depth <= mostCohorts; at = ix.parent[at] {
			depth++
		}
		if depth > deepest {
			deepest, name = depth, ix.Name(h)
			if int(h) >= len(ix.queues) {
				kind, field = cluster.KindCohort, "Parent"
			}
		}
	}
	if deepest > mostCohorts {
		ps.add(kind, "", name, field, fmt.Sprintf("more than %d levels up to its root", mostCohorts), "fewer")
	}
}

// checkQuotas complains if holders of quota and what they have quota of are too many.
func checkQuotas(ps *problemList, holders, columns int) {
	if columns > mostQuotas/max(1, holders) {
		ps.add(cluster.KindSnapshot, "", "", "ClusterQueues", fmt.Sprint(columns, " pairs of flavor and resource"),
			fmt.Sprint("at most ", mostQuotas/holders, " for as many queues and cohorts"))
	}
}
