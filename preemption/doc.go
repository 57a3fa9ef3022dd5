// Package preemption answers one question for any scheduler: this pod, or this
// gang of pods, does not fit; whom must be evicted, and where does it go?
//
// [Preempt] takes a preemptor and a snapshot, both plain structs, and returns a
// [Result]: the verdict, the victims with the reason why each of them cannot stay,
// where the preemptor goes, and how the choice scored. It is a pure function: no
// clock, no randomness, no I/O. Equal questions get equal answers, byte for byte,
// whatever the order of the snapshot's slices.
//
// A [Workload] asks for quota instead of a place: it is admitted by a [ClusterQueue],
// which lends and borrows within its [Cohort], and evicts what its queue's rules let
// go. A pod or group that names a queue needs both, quota and a place.
//
// [Options] choose the generation of upstream rules and everything else that may
// differ; their zero value is the documented default. GUARDS.md, beside this package,
// has one table of what protects units, delays preemptors, bounds and prices evictions,
// in order of precedence; CONCEPTS.md, MIGRATING.md, OPTIONS.md, EXTENDING.md and
// QUESTIONS.md explain the rest. A [Planner] compiles a snapshot once for many questions;
// package record writes down what it was asked, and plays it again.
//
// # The loop
//
// A scheduler keeps a [Planner] in step with its cluster: [Planner.SetPod], Remove, SetNode
// and the others for what happens, [Planner.SetTime] for the clock. For each pending pod or
// group it asks [Planner.Park], or [Planner.Decide]: *fits* is a node to [Planner.Bind] it to; *feasible* asks
// for [Planner.Preempt], whose result names the victims, and [Planner.Apply] marks these as
// terminating and nominates the preemptor. They hold their room until they are removed, or wait
// again by [Planner.Requeue], and the preemptor is *waiting* meanwhile; then it fits. Whoever is
// parked and has to wait, [Planner.Wake] returns once a change may have brought another verdict:
// nobody else has to be asked again. An answer that has waited for its turn is
// asked about with [Planner.StillValid]; Apply refuses one that no longer holds, and changes
// nothing then. [Planner.PreemptContext] is a question that can be stopped, an [Observer] is told
// of all of them. A simulator takes [Planner.Evict] on a [Planner.Fork]; [Planner.View] reads
// the cluster. The example of Planner is the loop as a program.
//
// # What it costs
//
// With n nodes and k pods on each: compiling a snapshot is O(n k log k). A question
// about a lone pod reads a few words of every node and gives units back on those that
// tie on the lowest priority that has to go: O(n + t k) for t such nodes, whatever is
// evicted. Asked again about a pod of the same shape it is O(c (k + log n)) for c nodes
// that have changed since, and [Planner.Decide] allocates nothing for it. A change to a
// pod or a node is O(k), also of one that comes or goes: a new node costs that for some
// neighbours, too, and the next question about a topology numbers its values anew, O(n).
// [Planner.Fork] copies a pointer for each 64 nodes, and either side
// the pages that it changes. Constraints (affinity, spread, tokens, devices), host
// ports, guards and prices are looked at node by node: O(n k) with what the constraint
// costs. Large clusters and gangs are shared out among as many goroutines as GOMAXPROCS
// allows, none of which outlives the question; answers do not depend on how many there
// are. The package bench measures all of it: from 1,000 to 100,000 nodes the cost of a
// new shape grows with the number of nodes to the power of 0.93 where every node ties
// and several pods have to go, 0.79 with ten priorities, 0.60 where the pod fits
// nowhere.
//
// Source: kube-scheduler v1.36 and v1.37 default preemption; KEP-5710; KEP-83 and
// Kueue v0.20 for quota.
package preemption
