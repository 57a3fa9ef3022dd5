// Package quotasearch finds the workloads that have to leave their quota to another one.
//
// [Reservations] keeps the workloads that hold quota in the [Order] in which they would be evicted; a
// [Walk] visits those of one queue that a [Rule] lets go. A [Search] takes them by the passes of Kueue
// ([Search.Classical], [Search.Fair]), and gives back who can stay. [Search.Least] searches among all that
// the same rules let go for those that make one [Aim] after the other least.
//
// Source: KEP-83; Kueue v0.20, preemption.
package quotasearch
