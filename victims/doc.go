// Package victims says who may be evicted and in which order: preemption units,
// eligibility, importance, and the score by which domains are compared.
//
// A [Unit] is the smallest thing that is evicted whole: one pod, or every pod of a
// group whose disruption mode is All or SurplusFirst; of the latter, a part may go
// ([Parts]) if the rest goes on. [NewUnits] forms the units of a cluster under
// a [UnitRule] and keeps those of every node most important first, so that the
// potential victims of a preemptor are the end of a node's list. A [Score] holds
// the numbers by which upstream chooses among domains. [Protections] keep units from
// being evicted, a [Tariff] prices them.
//
// Units and [Budgets] follow changes of their index at the cost of the units that change,
// and tell what that moves on each node ([Shift]).
//
// Source: KEP-5710, "Preemption unit"; kube-scheduler v1.36 and v1.37.
package victims
