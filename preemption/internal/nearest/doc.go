// Package nearest finds out what would have to change for a preemptor to get in that no
// evictions help: as little as can be told, such that no part of it is enough.
//
// Of a lone pod it looks at every node for what keeps the pod away even with everybody gone
// whom it may evict, or might with a higher priority; hard budgets and limits that stand in
// the way are found out by asking again.
package nearest
