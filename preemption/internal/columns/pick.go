package columns

import (
	"math"
	"slices"

	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// Several goroutines pick where each has at least nodesPerPicker nodes, after one has
// picked among the first headSize.
const (
	nodesPerPicker = 8192
	headSize       = 1024
)

// Pick returns the best of the nodes that Run found, the preferred one among equals, and
// its score; NoNode if there is none. O(k) for k units on those nodes. Many nodes are divided
// among as many goroutines as there are processors; the answer is the same.
func (s *Scan) Pick(below int32) (cluster.NodeID, victims.Score) {
	n, score := s.pick(below, ranges.Parts(len(s.Tied)+len(s.Budgeted), nodesPerPicker))
	if n != cluster.NoNode && s.Likings != nil {
		n = s.preferred(slices.Concat(s.Tied, s.Budgeted), func(n cluster.NodeID) ([]victims.Position, bool) {
			first, end := s.sweep.columns.Positions(n, below)
			other, ok := s.sweep.Node(n, first, end, &score, nil)
			return s.sweep.Victims(), ok && other.Compare(score) == 0
		})
	}
	return n, score
}

// pick is Pick by a number of goroutines. Where the best of the first nodes loses a
// single pod, most of the others are left out unread, and one goroutine is enough.
func (s *Scan) pick(below int32, workers int) (cluster.NodeID, victims.Score) {
	for len(s.pickers) < workers {
		s.pickers = append(s.pickers, picker{out: make([]victims.Position, 0, mostPositions)})
	}
	tied, budgeted, best := s.Tied, s.Budgeted, &s.pickers[0]
	best.reset(s, below)
	if workers > 1 {
		best.tied, best.budgeted = nil, nil
		if len(tied) > 0 { // one of them at least: the others are compared with who violates nothing
			head := min(1+len(tied)/8, headSize)
			best.tied, tied = tied[:head], tied[head:]
		} else {
			head := min(len(budgeted)/8, headSize)
			best.budgeted, budgeted = budgeted[:head], budgeted[head:]
		}
		if best.run(); best.best != cluster.NoNode && best.score.Pods == 1 {
			workers = 1
		}
	}
	for i := range s.pickers[:workers] {
		p := &s.pickers[i]
		if i > 0 {
			p.reset(s, below)
			p.best, p.score = best.best, best.score
		}
		p.tied, p.budgeted = part(tied, i, workers), part(budgeted, i, workers)
	}
	if workers > 1 {
		ranges.Each(workers, workers, func(i, _, _ int) { s.pickers[i].run() })
	} else {
		best.run()
	}
	for i := range s.pickers[1:workers] {
		if p := &s.pickers[1+i]; p.best != cluster.NoNode && best.loses(p.best, p.score) {
			best = p
		}
	}
	return best.best, best.score
}

// part is the i-th of equal parts of list.
func part(list []cluster.NodeID, i, parts int) []cluster.NodeID {
	return list[i*len(list)/parts : (i+1)*len(list)/parts]
}

// picker picks the best of some nodes.
type picker struct {
	sweep          Sweep
	scan           *Scan
	blocks         []*Block
	below          int32
	tied, budgeted []cluster.NodeID

	best  cluster.NodeID
	score victims.Score

	out  []victims.Position // buffers of sweep
	free []uint64
}

// reset makes p ready for the question of s, and no node is picked.
func (p *picker) reset(s *Scan, below int32) {
	p.sweep = Sweep{
		columns: s.sweep.columns, violating: s.sweep.violating, request: s.sweep.request, ask: s.sweep.ask,
		out: p.out, free: p.free,
	}
	p.scan, p.blocks, p.below, p.best = s, s.sweep.columns.Levels().Blocks(), below, cluster.NoNode
}

// loses reports whether node n with that score is better than what p has picked.
func (p *picker) loses(n cluster.NodeID, score victims.Score) bool {
	if p.best == cluster.NoNode {
		return true
	}
	c := score.Compare(p.score)
	return c < 0 || c == 0 && n < p.best
}

func (p *picker) run() {
	if len(p.sweep.ask.Words) == 1 {
		p.pick1()
	} else {
		for _, n := range p.tied {
			if p.best == cluster.NoNode || p.mayBeat(&p.score, n) {
				p.try(n)
			}
		}
	}
	for _, n := range p.budgeted {
		if p.best == cluster.NoNode || p.promises(n) {
			p.try(n)
		}
	}
	p.out, p.free = p.sweep.out, p.sweep.free
}

// try picks node n if it is better.
func (p *picker) try(n cluster.NodeID) {
	first, end := p.sweep.columns.Positions(n, p.below)
	var bound *victims.Score
	if p.best != cluster.NoNode {
		bound = &p.score
	}
	if score, ok := p.sweep.Node(n, first, end, bound, nil); ok && p.loses(n, score) {
		p.best, p.score = n, score
	}
}

// promises reports whether budgeted node n may be better than what is picked. It says yes
// where it can't tell.
func (p *picker) promises(n cluster.NodeID) bool {
	at, i := int(n)/BlockSize, int(n)%BlockSize
	b := p.blocks[at]
	if all := p.sweep.violating.All(at)>>i&1 != 0; all && p.score.Violations == 0 {
		return false
	} else if all && p.score.Violations == 1 && p.score.Pods == 1 {
		return b.Beats(&p.score, i, false)
	}
	// Where nodes are tied, nobody of a higher priority than there may have to go; where none are, it fits.
	return b.fitOne(&p.sweep.ask, p.scan.low, i)
}

// mayBeat reports whether tied node n may be better than one with the score best. It
// says yes where it can't tell.
func (p *picker) mayBeat(best *victims.Score, n cluster.NodeID) bool {
	return best.Pods != 1 || p.blocks[n/BlockSize].Beats(best, int(n)%BlockSize, false)
}

// pick1 is try for each of the tied nodes in one loop, where asks are one word wide. On
// these nodes levels are the pods' own priorities, so that the first unit that stays
// out has the highest.
func (p *picker) pick1() {
	ask, mask := p.sweep.ask.Words[0], p.sweep.ask.masks[0]
	guards, rest := p.sweep.ask.Guards[0], p.sweep.ask.Rest[0]
	columns := p.sweep.columns
	best := victims.Score{Highest: math.MaxInt32, Sum: math.MaxInt64}
	if p.best != cluster.NoNode {
		best = p.score
	}
nodes:
	for _, n := range p.tied {
		if !p.mayBeat(&best, n) {
			continue
		}
		at := columns.At(n)
		if at.several != nil {
			p.score = best
			p.try(n)
			if p.best != cluster.NoNode {
				best = p.score
			}
			continue
		}
		first, end := at.Below(p.below)
		sample := int(end-1) / stride
		for ; sample > int(first)/stride && (at.rooms[sample]-ask)&guards != guards; sample-- {
		}
		free := at.rooms[sample] - ask | rest
		score := victims.Score{Started: math.MaxInt64}
		most := best.Sum
		for g := sample * stride; g < int(end); g++ {
			left := free - at.asks[g]&mask
			if left&guards == guards {
				free = left
				continue
			}
			own := at.Levels[g]
			if score.Pods == 0 {
				if score.Highest = own; own > best.Highest {
					continue nodes
				}
				if own < best.Highest {
					most = math.MaxInt64
				}
			}
			score.Pods++
			if score.Sum += priority.Raised(own); score.Sum > most {
				continue nodes
			}
			if own == score.Highest {
				score.Started = min(score.Started, int64(at.Started[g]))
			}
		}
		if p.best == cluster.NoNode || score.Compare(best) < 0 {
			p.best, best = n, score
		}
	}
	p.score = best
}
