// Package relation reads constraints that tie pods to each other: exclusive tokens, topology spread, inter-pod
// affinity, and those of the user's.
package relation
