package domain

import (
	"math"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// domainCounts is a number for each domain, moved by one at a time, that knows its
// least in constant time.
type domainCounts struct {
	of   []int32 // by topology value
	low  int32   // number that hist[0] stands for
	hist []int32 // how many domains have the number low+i
	min  int32   // least number of a domain; MaxInt32 if there is no domain
}

func newDomainCounts(of []int32, isDomain []bool) domainCounts {
	d := domainCounts{of: of, min: math.MaxInt32}
	for v, count := range of {
		if isDomain[v] {
			d.min = min(d.min, count)
			*d.bucket(count)++
		}
	}
	return d
}

// bucket returns how many domains have that number, making room for it.
func (d *domainCounts) bucket(count int32) *int32 {
	if count < d.low {
		more := max(d.low-count, int32(len(d.hist))) // at least doubled
		d.hist = slices.Insert(d.hist, 0, make([]int32, more)...)
		d.low -= more
	}
	for int(count-d.low) >= len(d.hist) {
		d.hist = append(d.hist, 0)
	}
	return &d.hist[count-d.low]
}

// add adds one (or takes one off) in domain v.
func (d *domainCounts) add(v cluster.ValueID, sign int32) {
	was := d.of[v]
	d.of[v] = was + sign
	left := d.bucket(was)
	*left--
	emptied := *left == 0
	*d.bucket(was + sign)++
	switch {
	case was+sign < d.min:
		d.min = was + sign
	case was == d.min && emptied: // then v is now the next, as it moved by one
		d.min = was + sign
	}
}

// least is the number of the emptiest domain, 0 if there are fewer than there should be.
func (d *domainCounts) least(c *spreadConstraint) int32 {
	if c.numDomains < c.minDomains {
		return 0
	}
	return d.min
}

func (d *domainCounts) clone() domainCounts {
	c := *d
	c.of = slices.Clone(d.of)
	c.hist = slices.Clone(d.hist)
	return c
}
