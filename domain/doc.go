// Package domain says where a preemptor could go and whether it fits there.
//
// A [Domain] is a set of nodes in which the preemptor may be placed; a [Splitter] divides the cluster into domains that never overlap. A [Trial] is
// a what-if state over one domain: pods leave and return, and it tells whether the preemptor fits. What decides about fitting are the built-in
// checks (resources, taints, node affinity, ports, cordon), a [Filter] and any number of [Constraint] values.
//
// Nothing here knows priorities of victims, units or budgets.
//
// # Constraints
//
// [InterPodAffinity], [TopologySpread], [ExclusiveTokens] and [Devices] follow each removal and return in constant time and are part of every
// question; they cost nothing where neither the preemptor nor the running pods ask for them. A rule of one's own is a [Constraint] like these;
// package constrainttest checks that it keeps the contract.
//
// Of what ties pods to nodes, this is expected of who makes the snapshot:
//
//   - a claim that one pod at a time may use (ReadWriteOncePod): a token, named for
//     namespace and claim, on every pod that uses it;
//   - a number of volumes that can be attached to a node: a resource of the node,
//     of which each pod requests as many as it has volumes of that driver;
//   - a volume that is bound to a zone or a node: node affinity of the pod;
//   - whole or shared accelerators whose devices matter one by one: devices.
//
// What needs a Constraint of the user's own, as the snapshot does not model it: dynamic resource claims (their allocation is a search of its own),
// volumes that are still to be bound or provisioned, and anything that another controller decides. Upstream itself does not follow these while it
// removes victims.
//
// Source: kube-scheduler v1.36 filter plugins; KEP-5710, "Domain".
package domain
