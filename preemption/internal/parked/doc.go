// Package parked keeps questions that have no place as yet, and says which of them a
// change may have answered.
//
// A [Lot] has one [Entry] for each question. [Changes] collects what happens to the
// cluster: the nodes where somebody came, left or became evictable, the pods and groups
// that were set, or that something happened whose reach nobody knows. A question that only
// room, static checks and priorities stand in the way of is woken by a node that could take
// one of its pods if everybody less important left it; others by any change. So nobody is
// missed, and what a change has no part in costs a comparison.
package parked
