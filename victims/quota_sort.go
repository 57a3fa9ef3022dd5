package victims

import (
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Backward returns the positions of n reservations, the one that goes last first.
//
// The reservations are grouped by queue and merged: those of one queue mostly are in
// order already. O(n log n), O(n log queues) then.
func (o QuotaOrder) Backward(n int, at func(i int) *cluster.Reservation) []int32 {
	entries := make([]entry, n)
	runs := make([]int32, 0, n) // positions by queue, in the given order
	start := []int32{}          // by queue: where its positions start
	for i := range entries {
		r := at(i)
		entries[i] = o.entry(r)
		for int(r.Queue) >= len(start) {
			start = append(start, 0)
		}
		start[r.Queue]++
	}
	sum := int32(0)
	for q, k := range start {
		start[q], sum = sum, sum+k
	}
	runs = runs[:n]
	for i := range entries {
		q := entries[i].r.Queue
		runs[start[q]] = int32(i)
		start[q]++
	}
	return mergeRuns(runs, func(a, b int32) bool { return entries[a].compare(&entries[b]) > 0 })
}

// mergeRuns sorts list, which need not survive: it finds the stretches that are
// sorted, either way, and merges them by two. No two of list may be equal.
func mergeRuns(list []int32, before func(a, b int32) bool) []int32 {
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
