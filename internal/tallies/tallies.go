package tallies

import (
	"math"
	"slices"
	"strconv"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Tallies are numbers by position, of which some count for the least.
type Tallies struct {
	of   []int32
	low  int32   // number that hist[0] stands for
	hist []int32 // how many of those that count have the number low+i
	min  int32   // the least of those; MaxInt32 if none counts
}

// New returns tallies that begin at of, which they take over; counts says which of them count.
func New(of []int32, counts []bool) Tallies {
	t := Tallies{of: of, min: math.MaxInt32}
	for v, number := range of {
		if counts[v] {
			t.min = min(t.min, number)
			*t.bucket(number)++
		}
	}
	return t
}

// bucket returns how many have that number, making room for it.
func (t *Tallies) bucket(number int32) *int32 {
	if number < t.low {
		more := max(t.low-number, int32(len(t.hist))) // at least doubled
		t.hist = slices.Insert(t.hist, 0, make([]int32, more)...)
		t.low -= more
	}
	for int(number-t.low) >= len(t.hist) {
		t.hist = append(t.hist, 0)
	}
	return &t.hist[number-t.low]
}

// Add adds one, or with sign -1 takes one off, at position v, which counts.
func (t *Tallies) Add(v int, sign int32) {
	was := t.of[v]
	t.of[v] = was + sign
	left := t.bucket(was)
	*left--
	emptied := *left == 0
	*t.bucket(was + sign)++
	switch {
	case was+sign < t.min:
		t.min = was + sign
	case was == t.min && emptied: // then v is now the next, as it moved by one
		t.min = was + sign
	}
}

// At is the number at position v.
func (t *Tallies) At(v int) int32 { return t.of[v] }

// Least is the least number of those that count; [math.MaxInt32] if none does.
func (t *Tallies) Least() int32 { return t.min }

// Even bounds by how much the numbers that count can rise, one at a time, if each has room to rise by so much and none
// ever comes to more than the least of them and skew.
func (t *Tallies) Even(counts []bool, rooms []int64, skew int64) (most int64) {
	least := int64(math.MaxInt32)
	for v, room := range rooms {
		if counts[v] {
			least = min(least, int64(t.of[v])+room)
		}
	}
	for v, room := range rooms {
		if counts[v] {
			most += min(room, max(least+skew-int64(t.of[v]), 0))
		}
	}
	return most
}

// Clone returns an independent copy.
func (t *Tallies) Clone() Tallies {
	c := *t
	c.of, c.hist = slices.Clone(t.of), slices.Clone(t.hist)
	return c
}

// Most is how much may be counted, and compared, for members whose terms differ. Members that agree in
// their terms, and in the labels that those read, are one. See "Limits" in preemption/OPTIONS.md.
const Most = 1 << 24

// Check complains of the field of member p with which there is more: n.
func Check(p *cluster.Pod, field string, n int) error {
	if n <= Most {
		return nil
	}
	return &cluster.FieldError{
		Kind: string(cluster.KindPod), Namespace: p.Namespace, Name: p.Name, Field: field,
		Value: strconv.Itoa(n) + " counts or comparisons for it and the pods before it", Want: "at most " + strconv.Itoa(Most),
	}
}
