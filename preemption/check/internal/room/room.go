package room

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"sort"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Free is what is free of resources on nodes, and for how many pods there is a slot, by the nodes' numbers.
type Free []map[string]int64

// Of is what node n has to give.
func Of(n *cluster.Node) map[string]int64 {
	free := map[string]int64{cluster.Pods: 0}
	for name, v := range n.Allocatable {
		free[name] = v
	}
	return free
}

// Take lets pod p come to node n (+1), or go (-1).
func (f Free) Take(n int, p *cluster.Pod, by int64) {
	f[n][cluster.Pods] -= by
	for name, v := range p.Requests {
		f[n][name] -= by * v
	}
}

// Has reports whether as much is free on node n as p requests; slots are not looked at.
func (f Free) Has(n int, p *cluster.Pod) bool {
	for name, v := range p.Requests {
		if v > max(f[n][name], 0) {
			return false
		}
	}
	return true
}

// Short is how much more is asked for than there is, at most the largest int64.
func Short(used, want, offered int64) int64 {
	free := offered - used // used is the sum of pods that an int64 holds
	if d := want - free; d > 0 || want <= free {
		return max(d, 0)
	}
	return math.MaxInt64
}

// Lack is how much of a resource is short.
type Lack struct {
	Resource string
	Missing  int64
}

// Lacking lists what is short for who wants so much, beside what is in use of names and last how many pods, as upstream does by the
// resources' own order: pods, then by name. What it holds already if it sits there is its own. It never has room if it wants more than there is.
func Lacking(offered cluster.Resources, names []string, used []int64, sits bool, wants func(name string) int64) (list []Lack, never bool) {
	there := int64(0)
	if sits {
		there = 1
	}
	if slots, limited := offered[cluster.Pods]; limited {
		if missing := Short(used[len(names)]-there, 1, slots); missing > 0 {
			list = append(list, Lack{cluster.Pods, missing})
		}
	}
	for i, name := range names {
		want := wants(name)
		if want == 0 {
			continue
		}
		if missing := Short(used[i]-there*want, want, offered[name]); missing > 0 {
			list, never = append(list, Lack{name, missing}), never || want > offered[name]
		}
	}
	return list, never
}

// Share is how much of names who asks leaves free, in the average and in millionths, where so much is in use.
func Share(offered cluster.Resources, names []string, used []int64, asks cluster.Resources) *big.Int {
	sum := new(big.Int)
	for i, name := range names {
		if whole := offered[name]; whole > 0 { // else it does not fit there, which is said elsewhere
			share := new(big.Int).Mul(big.NewInt(max(0, whole-used[i]-asks[name])), big.NewInt(1_000_000))
			sum.Add(sum, share.Div(share, big.NewInt(whole)))
		}
	}
	return sum.Div(sum, big.NewInt(int64(max(1, len(names)))))
}

// Leaver may leave a node.
type Leaver struct {
	Level int32
	Pods  []*cluster.Pod // there
}

// Rooms are what would be free on nodes, which are told by their numbers.
type Rooms struct {
	free    Free
	leavers [][]Leaver
	columns map[string]*column
	ranks   map[key]*rank
}

// column is what there is of a resource.
type column struct {
	free []int64   // by node
	held [][]int64 // by node: what the first, the first two, ... of its leavers hold there; nil: not looked at
}

// key is a resource with those gone who are below a level.
type key struct {
	name  string
	below int64
}

// rank are the nodes with the most room first.
type rank struct {
	nodes []int
	room  []int64
}

// Few are so few nodes that they need not be ranked by one resource more.
const Few = 16

// mostRanks is for how many levels nodes are ranked; then for all levels together.
const mostRanks = 256

// New returns the rooms of nodes on which so much is free, and those may leave who are listed, the least level first.
func New(free Free, leavers [][]Leaver) *Rooms {
	return &Rooms{free: free, leavers: leavers, columns: map[string]*column{}, ranks: map[key]*rank{}}
}

// column is that of a resource.
func (r *Rooms) column(name string) *column {
	c := r.columns[name]
	if c == nil {
		c = &column{held: make([][]int64, len(r.free))}
		for _, free := range r.free {
			c.free = append(c.free, free[name])
		}
		r.columns[name] = c
	}
	return c
}

// on is what would be free of a resource on node n with those gone who are below a level.
func (r *Rooms) on(n int, name string, c *column, below int64) int64 {
	leavers := r.leavers[n]
	k := sort.Search(len(leavers), func(i int) bool { return int64(leavers[i].Level) >= below })
	if k == 0 {
		return c.free[n]
	}
	if c.held[n] == nil {
		sum, held := int64(0), make([]int64, len(leavers))
		for i, l := range leavers {
			for _, p := range l.Pods {
				if sum += p.Requests[name]; name == cluster.Pods {
					sum++
				}
			}
			held[i] = sum
		}
		c.held[n] = held
	}
	return c.free[n] + c.held[n][k-1]
}

// For tells whether a node would have as much room as is requested, and for one pod more where it has a limit of pods.
func (r *Rooms) For(requests cluster.Resources, below int64, limited func(n int) bool) func(n int) bool {
	var names []string
	var amounts []int64
	var columns []*column
	for name, v := range requests {
		if v > 0 {
			names, amounts, columns = append(names, name), append(amounts, v), append(columns, r.column(name))
		}
	}
	pods := r.column(cluster.Pods)
	return func(n int) bool {
		for i, c := range columns {
			if amounts[i] > r.on(n, names[i], c, below) {
				return false
			}
		}
		return !limited(n) || r.on(n, cluster.Pods, pods, below) > 0
	}
}

// With are nodes outside of which none would have so much of a resource free with those gone who are below a level. The slice belongs
// to r.
func (r *Rooms) With(name string, amount, below int64) []int {
	at := key{name, below}
	if r.ranks[at] == nil && len(r.ranks) >= mostRanks {
		at.below = math.MaxInt64
	}
	if r.ranks[at] == nil {
		list := &rank{room: make([]int64, len(r.free))}
		by := make([]int64, len(r.free))
		for n := range by {
			by[n] = r.on(n, name, r.column(name), at.below)
			list.nodes = append(list.nodes, n)
		}
		slices.SortFunc(list.nodes, func(a, b int) int { return cmp.Compare(by[b], by[a]) })
		for i, n := range list.nodes {
			list.room[i] = by[n]
		}
		r.ranks[at] = list
	}
	list := r.ranks[at]
	return list.nodes[:sort.Search(len(list.room), func(i int) bool { return list.room[i] < amount })]
}
