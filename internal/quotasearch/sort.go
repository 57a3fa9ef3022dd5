package quotasearch

import (
	"math"
	"slices"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Backward returns the positions of n reservations, the one that goes last first.
//
// Stretches that are in order already are merged; if there are many, the reservations
// are grouped by queue first, for those of one queue mostly are in order.
// O(n log n); O(n log queues) then; O(n) if all are in order.
func (o Order) Backward(n int, at func(i int) *quota.Reservation) []int32 {
	entries, list := make([]entry, n), make([]int32, n)
	for i := range entries {
		entries[i], list[i] = o.entry(at(i)), int32(i)
	}
	before := func(a, b int32) bool { return entries[a].compare(&entries[b]) > 0 }
	ends := stretches(list, before)
	if len(ends) > 8 {
		groupByQueue(list, entries)
		ends = stretches(list, before)
	}
	return merge(list, ends, before)
}

// groupByQueue makes list the positions of entries by queue, in order of position.
func groupByQueue(list []int32, entries []entry) {
	var start []int32 // by queue: where its positions start
	for i := range entries {
		q := int(entries[i].r.Queue)
		for q >= len(start) {
			start = append(start, 0)
		}
		start[q]++
	}
	sum := int32(0)
	for q, k := range start {
		start[q], sum = sum, sum+k
	}
	for i := range entries {
		q := entries[i].r.Queue
		list[start[q]] = int32(i)
		start[q]++
	}
}

// stretches turns those stretches of list around that are in order backward, and
// returns the ends of all that are in order then. No two of list may be equal.
func stretches(list []int32, before func(a, b int32) bool) []int {
	var ends []int
	for at := 0; at < len(list); {
		end := at + 1
		down := end < len(list) && before(list[end], list[end-1])
		for end < len(list) && before(list[end], list[end-1]) == down {
			end++
		}
		if down {
			slices.Reverse(list[at:end])
		}
		ends = append(ends, end)
		at = end
	}
	return ends
}

// merge merges the stretches of list by two, until there is one.
func merge(list []int32, ends []int, before func(a, b int32) bool) []int32 {
	if len(ends) < 2 {
		return list
	}
	spare := make([]int32, len(list))
	for len(ends) > 1 {
		at, kept := 0, ends[:0]
		for i := 0; i < len(ends); i += 2 {
			mid := ends[i]
			end := mid
			if i+1 < len(ends) {
				end = ends[i+1]
			}
			mergeTwo(spare[at:end], list[at:mid], list[mid:end], before)
			kept = append(kept, end)
			at = end
		}
		list, spare, ends = spare, list, kept
	}
	return list
}

// mergeTwo writes the merger of two sorted lists to dst.
func mergeTwo(dst, a, b []int32, before func(a, b int32) bool) {
	for len(a) > 0 && len(b) > 0 {
		if before(b[0], a[0]) {
			dst[0], b = b[0], b[1:]
		} else {
			dst[0], a = a[0], a[1:]
		}
		dst = dst[1:]
	}
	copy(dst[copy(dst, a):], b)
}

// Rule says which workloads a preemptor may evict, by priority. The zero
// Rule allows nobody.
type Rule struct {
	allowed bool
	below   int64 // priorities below this may go
	equal   bool  // and this one, if they are
	newer   int64 // newer than this
}

// NewRule returns what policy allows a preemptor of that priority and age
// (see [quota.Reservation]).
func NewRule(policy cluster.QueuePolicy, priority, ordered int64) Rule {
	switch policy {
	case cluster.AnyPriority, cluster.ReclaimFromAny:
		return Rule{allowed: true, below: math.MaxInt64}
	case cluster.LowerPriority, cluster.ReclaimFromLowerPriority:
		return Rule{allowed: true, below: priority}
	case cluster.LowerOrNewerEqualPriority:
		return Rule{allowed: true, below: priority, equal: true, newer: ordered}
	}
	return Rule{}
}

// Below narrows the rule to priorities below that given.
func (q Rule) Below(priority int64) Rule {
	if priority <= q.below {
		q.below, q.equal = priority, false
	}
	return q
}

// Nobody reports whether the rule allows nobody whatever the priority.
func (q Rule) Nobody() bool { return !q.allowed }

// Allows reports whether r may be evicted. Of two workloads of equal priority and
// age, neither may evict the other.
func (q Rule) Allows(r *quota.Reservation) bool {
	return q.allowed && (r.Priority < q.below || q.equal && r.Priority == q.below && r.Ordered > q.newer)
}

// beyond reports whether no workload of r's priority or higher may be evicted.
func (q Rule) beyond(r *quota.Reservation) bool {
	return r.Priority > q.below || r.Priority == q.below && !q.equal
}
