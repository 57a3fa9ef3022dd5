// Package manifest asks a cluster for everything that a manifest wants to run.
//
// Objects that are no workloads (nodes, classes, budgets, groups) are set; pods are pending, and
// those of workloads are made as their controllers would make them. Of a workload that is
// there already the pods that are missing are asked for; the others stay as they are.
//
// A pod is asked about by itself, those of a pod group together. A leader of a
// LeaderWorkerSet and its workers, of whom none is of use without the others, are a gang.
package manifest
