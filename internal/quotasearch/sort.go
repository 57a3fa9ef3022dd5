package quotasearch

import (
	"slices"

	"github.com/preempt-go/preempt/internal/quota"
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
