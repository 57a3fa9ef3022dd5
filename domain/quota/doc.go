// Package quota does the arithmetic of quota domains: trees of queues and cohorts
// that lend each other what they do not use.
//
// A [Tree] holds what never changes during a question: who is whose parent, how
// much each holder owns, lends and borrows at most. A [Usage] holds what the
// workloads use; usage that a queue cannot cover with what it keeps for itself
// goes up to its cohort. From both follow what is available to a queue, whether it
// borrows, from how far up it borrows, and its share under fair sharing.
//
// Amounts are integers in the unit of their resource. Sums saturate;
// [cluster.Unlimited] plus or minus any bounded amount is Unlimited. Shares are
// compared exactly, as fractions. Nothing here knows priorities or victims.
//
// Source: KEP-83; Kueue v0.20, "Cohort", "Fair Sharing".
package quota
