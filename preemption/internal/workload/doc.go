// Package workload finds quota for workloads: flavors for their pods, and whom of those
// who hold quota they cost.
//
// A [Model] is the quota part of a cluster: queues in their tree of cohorts, what is used
// of each flavor-resource, and what applied answers hold for those that are not admitted
// yet. It follows changes of workloads at the cost of what changes; [Queued] adds the pods
// that hold quota. [Model.Plan] answers for one workload, in ids and amounts that package
// preemption puts into words, with the victims of the queue's own pass or, by an [Objective], those who disrupt least; [Model.LineUp] and [Model.Next] order those that ask in the
// same cycle; [Model.Review] and [Leaving] look whether an answer still holds. Where pods need
// a place beside the quota, [Model.Offers] lists the flavors, and a [Search] finds victims for
// each.
//
// Questions hold [Model.Mu] for reading, changes for writing.
//
// Source: Kueue v0.20, flavor assignment, partial admission and the scheduling cycle;
// KEP-83 for the victims, see package reprieve.
package workload
