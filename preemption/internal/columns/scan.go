package columns

import (
	"math"
	"math/bits"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Scan looks at all plain nodes at once, column by column: where the pod that the
// Sweep was asked about fits, where preemption helps, and what is short elsewhere.
// Nodes that [Levels] calls odd are left out. It is reused from question
// to question. Not safe for concurrent use.
type Scan struct {
	sweep   *Sweep
	pickers []picker

	// Fits is the first node that has room as things are, or the one that is preferred, or
	// NoNode; nothing else is set then.
	Fits cluster.NodeID

	Likings *Likings // of nodes that are as good; nil: the first in order is preferred

	// Keep, if set, is told the nodes of a block where preemption helps as far as resources tell, and
	// those of them with room as things are. It returns where the pod may go, and nobody else has to be asked.
	Keep func(block int, helps, room uint64) (kept uint64)

	// Tied are the nodes on which the lowest priority has to go, as far as the columns
	// tell them apart, of those that violate no budget in any case. They contain the
	// best of those.
	Tied []cluster.NodeID

	// Budgeted are the nodes on which preemption helps and may violate a budget.
	Budgeted []cluster.NodeID

	Helped   int   // on how many nodes preemption helps
	Nobody   int   // on how many it does not, as nobody may go
	Short    []int // by resource: on how many it does not, as that is the first that is short
	TooSmall []int // likewise, for nodes that have too little of something in all

	top, low int // columns: of the priority, and the lowest that fits somewhere
	exact    bool
}

// NewScan returns a Scan with the sweep s.
func NewScan(s *Sweep) *Scan { return &Scan{sweep: s} }

// Run scans for units below a priority, which the sweep was asked about. barred has,
// for each block, the nodes where the pod must not go. O(n) for n nodes.
func (s *Scan) Run(below int32, barred []uint64) {
	levels := s.sweep.columns.Levels()
	s.top, s.exact = levels.Column(below)
	s.Fits, s.Tied, s.Budgeted = cluster.NoNode, s.Tied[:0], s.Budgeted[:0]
	s.Helped, s.Nobody = 0, 0
	s.Short = append(s.Short[:0], make([]int, s.sweep.columns.NumResources())...)
	s.TooSmall = append(s.TooSmall[:0], make([]int, s.sweep.columns.NumResources())...)
	s.low = s.top
	for i, b := range levels.Blocks() {
		may := b.Plain &^ barred[i]
		helps := b.Fit(&s.sweep.ask, s.top, may)
		helps &^= s.explain(b, i, may, helps, below)
		if s.Keep != nil && helps != 0 {
			helps &= s.Keep(i, helps, b.Fit(&s.sweep.ask, 0, helps))
		}
		s.Helped += bits.OnesCount64(helps)
		clear := helps
		if s.sweep.violating != nil {
			budgeted := helps & s.sweep.violating.Any(i)
			clear &^= budgeted &^ b.Fit(&s.sweep.ask, 0, budgeted) // where it fits the scan ends
			s.Budgeted = appendNodes(s.Budgeted, i, budgeted)
		}
		if s.low < s.top {
			clear = b.Fit(&s.sweep.ask, s.low, clear)
		}
		if clear == 0 {
			continue
		}
		for s.low > 0 {
			lower := b.Fit(&s.sweep.ask, s.low-1, clear)
			if lower == 0 {
				break
			}
			s.low, clear, s.Tied = s.low-1, lower, s.Tied[:0]
		}
		s.Tied = appendNodes(s.Tied, i, clear)
		if s.low == 0 && s.Likings == nil {
			break
		}
	}
	if s.low == 0 && len(s.Tied) > 0 {
		s.Fits = s.Tied[0]
		if s.Likings != nil {
			s.Fits = s.preferred(s.Tied, func(cluster.NodeID) ([]victims.Position, bool) { return nil, true })
		}
	}
}

// preferred is the node of list that is preferred, the first in order among equals. leave says
// who goes from a node; ok is false for one that is not to be chosen.
func (s *Scan) preferred(list []cluster.NodeID, leave func(n cluster.NodeID) (out []victims.Position, ok bool)) cluster.NodeID {
	best, most := cluster.NoNode, int64(0)
	for _, n := range list {
		out, ok := leave(n)
		if !ok {
			continue
		}
		liking := s.Likings.without(s.sweep.columns, n, out)
		if best == cluster.NoNode || liking > most || liking == most && n < best {
			best, most = n, liking
		}
	}
	return best
}

func appendNodes(list []cluster.NodeID, block int, set uint64) []cluster.NodeID {
	for ; set != 0; set &= set - 1 {
		list = append(list, cluster.NodeID(block*BlockSize+bits.TrailingZeros64(set)))
	}
	return list
}

// explain counts why preemption does not help on those nodes of block i that may host
// the pod and are not among helps, and returns those among helps where it does not
// help after all.
func (s *Scan) explain(b *Block, i int, may, helps uint64, below int32) (not uint64) {
	if s.exact {
		s.Nobody += b.Explain(&s.sweep.ask, s.sweep.columns.Lanes(), s.top, may&^helps, below, s.Short, s.TooSmall)
		return 0
	}
	for set := may; set != 0; set &= set - 1 {
		at := bits.TrailingZeros64(set)
		n := cluster.NodeID(i*BlockSize + at)
		first, end := s.sweep.columns.Positions(n, below)
		switch {
		case helps>>at&1 != 0 && (s.sweep.Fits(n, first) || b.fitOne(&s.sweep.ask, 0, at)):
			continue
		case first == end || b.TooSmall(&s.sweep.ask, at):
			s.Nobody += b.Explain(&s.sweep.ask, s.sweep.columns.Lanes(), 0, 1<<at, math.MinInt32, s.Short, s.TooSmall)
		default:
			s.Short[s.sweep.short(n, first)]++
		}
		not |= 1 << at
	}
	return not & helps
}

// Shortage is what members lack on a node if one unit came back: an amount of the
// first resource that is short.
type Shortage struct {
	Resource cluster.ResourceID // [domain.NoResource] if nothing is short
	Missing  int64
	Alone    bool // no member is there
}

// Beside turns to node n, with k members and beside them what room has; see
// [Seats.Room].
func (s *Seats) Beside(n cluster.NodeID, k int64, room []uint64) {
	s.look(n)
	s.now = s.asking(k, nil) // what is held is off room
	s.take(room)
}

// Short is the shortage if the unit on position g came back, after Victims or Beside.
func (s *Seats) Short(g victims.Position) Shortage {
	words := len(s.free)
	for w, guards := range s.now.Guards {
		ask := s.at.asks[int(g)*words+w] & s.now.masks[w]
		if lack := guards &^ (s.free[w] - ask); lack != 0 {
			r, amount := s.columns.Lanes().Lack(w, lack, s.free[w], ask)
			return Shortage{Resource: r, Missing: amount}
		}
	}
	return Shortage{Resource: domain.NoResource}
}
