// Package live keeps a [preemption.Planner] in step with a cluster: typed Kubernetes
// objects and informer events go in, calls of the planner come out.
//
// [Feeder.Set] and [Feeder.Remove] take the objects that decide about preemption:
// nodes, pods, namespaces, disruption budgets, priority classes, pod groups of any
// version, and volume claims, of which those that one pod at a time may use become
// tokens of the pods that name them. [Handler] does so with the
// events of informers. Objects may come in any order and as often as they like: what the planner
// then knows is a function of the last state of each, the same as [convert.Options.Dump]
// makes of a dump of them.
//
// Where an object cannot be read, the error says so as package convert does, and the
// planner keeps the object's state before.
//
// Only k8s.io/api and k8s.io/apimachinery are imported, so that a scheduler built on any
// version of client-go from v0.36 on can use it. Objects of Kueue, and groups and queues of other
// schedulers, are not read.
package live
