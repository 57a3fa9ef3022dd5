package reprieve

import (
	"math"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// bounds tells how much of each cap, and of the price, the units that are not
// decided on must use up at least: for each resource by itself, what is missing is
// covered by the units that free most of it for what they weigh, the last one in
// part.
type bounds struct {
	s     *chooser
	trial domain.Gapped
	frees [][]int64 // by resource and position
	rank  [][][]int // by measure and resource: positions, the best first; measures are the caps and then the price

	gap []int64
}

func newBounds(s *chooser, trial domain.Gapped) *bounds {
	b := &bounds{s: s, trial: trial, gap: trial.Gap(nil)}
	for r := range b.gap {
		row := make([]int64, len(s.items))
		for i := range s.items {
			row[i] = b.freed(s.items[i].pods, r)
		}
		b.frees = append(b.frees, row)
	}
	for c := range s.Caps {
		b.rank = append(b.rank, b.ranked(s.weight[c]))
	}
	if s.Price != nil {
		b.rank = append(b.rank, b.ranked(s.price))
	}
	return b
}

// freed is what the eviction of pods frees of the r-th resource.
func (b *bounds) freed(pods []cluster.PodID, r int) int64 {
	sum := int64(0)
	for _, p := range pods {
		sum += b.trial.Frees(r, p) // at most what runs on the node, which is an int64
	}
	return sum
}

// ranked sorts, for each resource, the units that free some of it by weight for what
// they free.
func (b *bounds) ranked(weight []int64) [][]int {
	var lists [][]int
	for r := range b.gap {
		var list []int
		for i, f := range b.frees[r] {
			if f > 0 {
				list = append(list, i)
			}
		}
		slices.SortStableFunc(list, func(i, j int) int { return compareRatios(weight[i], b.frees[r][i], weight[j], b.frees[r][j]) })
		lists = append(lists, list)
	}
	return lists
}

// compareRatios compares a/b and c/d, which are not below zero.
func compareRatios(a, b, c, d int64) int {
	hi, lo := bits.Mul64(uint64(a), uint64(d))
	hi2, lo2 := bits.Mul64(uint64(c), uint64(b))
	switch {
	case hi != hi2:
		if hi < hi2 {
			return -1
		}
		return 1
	case lo < lo2:
		return -1
	case lo > lo2:
		return 1
	}
	return 0
}

// promising reports whether the units from position i on may cover what is missing,
// within the caps and cheaply enough.
func (b *bounds) promising(i int) bool {
	b.gap = b.trial.Gap(b.gap[:0])
	for r := range b.gap {
		missing := b.gap[r] // with those from i on out; now as if they were in place
		for j := i; j < len(b.s.items); j++ {
			missing += b.frees[r][j]
		}
		if missing <= 0 {
			continue
		}
		for m := range b.rank {
			least, ok := b.cover(i, r, m, missing)
			if !ok || least > b.left(m) {
				return false
			}
		}
	}
	return true
}

// left is how much of measure m may still be used up.
func (b *bounds) left(m int) int64 {
	if m < len(b.s.Caps) {
		return b.s.Caps[m].Room - b.s.used[m]
	}
	if b.s.atMost == math.MaxInt64 {
		return math.MaxInt64 // prices saturate: any will do
	}
	return b.s.atMost - b.s.cost
}

// cover is the least that covers what is missing of resource r takes of measure m;
// ok is false if there are not enough units.
func (b *bounds) cover(i, r, m int, missing int64) (least int64, ok bool) {
	weight := b.s.price
	if m < len(b.s.Caps) {
		weight = b.s.weight[m]
	}
	for _, j := range b.rank[m][r] {
		if j < i || b.s.beyond(j) {
			continue
		}
		f := b.frees[r][j]
		if f >= missing {
			hi, lo := bits.Mul64(uint64(weight[j]), uint64(missing))
			part, rest := bits.Div64(hi, lo, uint64(f))
			if rest > 0 {
				part++
			}
			sum := uint64(least) + part
			return int64(min(sum, math.MaxInt64)), true
		}
		missing -= f
		if least += weight[j]; least < 0 {
			return math.MaxInt64, true
		}
	}
	return 0, false
}
