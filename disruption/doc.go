// Package disruption says how a group may be broken up and how much disruption
// is allowed: disruption modes, label selectors, pod disruption budgets and the
// ledger that charges them.
//
// A [Budget] is data. A [Set] is a list of them compiled: it tells which ones cover
// a pod. A [Ledger] holds what is left of each during one decision; [Rule] tells
// which generation of the upstream partition rule reads them. A budget decides when
// a unit's return is tried, never whether it fits, unless it is declared hard.
//
// What an eviction costs is data too: a [Curve] is a value over time given by a few
// milestones, a [Tariff] prices what is lost. All of it is in checked integers.
//
// Source: KEP-5710, "PDB reprieval"; kube-scheduler v1.36, preemption;
// KEP-83, "Inform how costly is to interrupt a Workload".
package disruption
