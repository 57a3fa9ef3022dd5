// Package verifyquota reads the part of an answer that is about quota, in maps and
// strings. It shares no code with the searches: subtree quota, usage and what is
// available are computed from their definitions, and so is who may be evicted.
//
// Source: Kueue v0.20 and KEP-83, the quantities of a tree of queues and cohorts.
package verifyquota
