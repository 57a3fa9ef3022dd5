// Package convert turns Kubernetes objects, as kubectl prints them, into the plain
// structs of a [cluster.Snapshot].
//
// [Options.Loader] reads dumps of any size. Its two halves can be had alone: [Read]
// takes a dump apart into objects (JSON, YAML, lists, several documents,
// gzip); [Options.Dump] converts those that decide about preemption (nodes, pods,
// budgets, priority classes, pod groups, namespaces), keeps the pod templates of
// workloads for questions about pods that do not exist yet, and counts the rest.
// [Pod], [Node] and their like convert one typed object, for programs that have
// informers instead of dumps; package live feeds a planner so.
//
// What the API server or the scheduler computes is computed here by the same rules:
// the effective requests of a pod ([Requests]), its host ports, whether it is
// terminating by preemption. What does not decide whether a pod fits (preferred
// affinity, spread that may be broken) is left out; what does decide, but is not
// read yet, is counted in [Dump.Unread].
//
// Every complaint is an [*Error] and names file, document, object and field.
//
// Source: Kubernetes API reference v1.37; component-helpers, pod requests; KEP-753
// (sidecars), KEP-2837 (pod-level resources), KEP-1287 (in-place resize).
package convert
