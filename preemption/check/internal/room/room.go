package room

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Leaver may leave a node.
type Leaver struct {
	Level int32
	Pods  []*cluster.Pod // there
}

// Rooms are what would be free on nodes, which are told by their numbers.
type Rooms struct {
	free    []map[string]int64
	leavers [][]Leaver
	held    map[string][][]int64 // by resource and node: what the first, the first two, ... of its leavers hold there
	ranks   map[key]*rank
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

// mostRanks is for how many levels nodes are ranked; then for all levels together.
const mostRanks = 256

// New returns the rooms of nodes on which so much is free, and those may leave who are listed, the least level first.
func New(free []map[string]int64, leavers [][]Leaver) *Rooms {
	return &Rooms{free: free, leavers: leavers, held: map[string][][]int64{}, ranks: map[key]*rank{}}
}

// On is what would be free of a resource on node n with those gone who are below a level.
func (r *Rooms) On(n int, name string, below int64) int64 {
	leavers := r.leavers[n]
	k := sort.Search(len(leavers), func(i int) bool { return int64(leavers[i].Level) >= below })
	if k == 0 {
		return r.free[n][name]
	}
	if r.held[name] == nil {
		r.held[name] = make([][]int64, len(r.free))
	}
	held := r.held[name][n]
	if held == nil {
		sum := int64(0)
		for _, l := range leavers {
			for _, p := range l.Pods {
				if sum += p.Requests[name]; name == cluster.Pods {
					sum++
				}
			}
			held = append(held, sum)
		}
		r.held[name][n] = held
	}
	return r.free[n][name] + held[k-1]
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
			by[n] = r.On(n, name, at.below)
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
