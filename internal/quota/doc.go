// Package quota compiles queues and cohorts that lend each other what they do not use, and does
// the arithmetic of their quota.
//
// An [Index] is the compiled part of a snapshot that is about quota: holders, flavors and resources as
// dense integers, and the workloads that hold quota. A [Tree] holds what never changes during a
// question: who is whose parent, how much each holder owns, lends and borrows at most. A [Usage] holds
// what the workloads use; usage that a queue cannot cover with what it keeps for itself goes up to its
// cohort. From both follow what is available to a queue, whether it borrows, from how far up it
// borrows, and its share under fair sharing.
//
// Amounts are integers in the unit of their resource. Sums saturate; [cluster.Unlimited] plus or minus
// any bounded amount is Unlimited. Shares are compared exactly, as fractions. Nothing here knows victims.
//
// Source: KEP-83; Kueue v0.20, "Cohort", "Fair Sharing".
package quota
