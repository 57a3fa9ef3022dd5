// Package domain says where a preemptor could go and whether it fits there.
//
// A [Domain] is a set of nodes in which the preemptor may be placed; a [Splitter]
// divides the cluster into domains that never overlap. A [Trial] is a what-if
// state over one domain: pods leave and return, and it tells whether the preemptor
// fits. What decides about fitting are the built-in checks (resources, taints,
// node affinity, ports, cordon) and any number of [Constraint] values.
//
// Nothing here knows priorities of victims, units or budgets.
//
// Source: kube-scheduler v1.36 filter plugins; KEP-5710, "Domain".
package domain
