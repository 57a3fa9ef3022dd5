// Package live is the compiled cluster that questions are asked about, and that follows changes.
//
// [New] compiles objects for questions as [Settings] say: what options mean in integers, rules and
// constraints. A [Cluster] has the index and, once somebody asks, the [Sides] of a lone pod and of a group:
// units, budgets and packed columns. Once it is prepared its methods Set and Remove follow a change at the
// cost of what changes, or refuse it and change nothing; Fork is an independent copy that shares
// pages.
//
// It is safe for concurrent use by questions; a change needs exclusive use of it.
package live
