// Command scheduler is the loop that every scheduler writes, for a farm of GPUs in racks:
// go run ./examples/scheduler prints a morning of it.
//
// loop.go is the loop, and needs nothing of the farm: a queue in order of priority and
// arrival; what fits is bound, what does not evicts; victims have a grace period, and come
// back to the queue; gangs run whole, within a rack; nodes come, and go once they are
// drained. Its only model of the cluster is a [preemption.Planner], which is told of
// everything that happens and asked about everybody who waits. farm.go is the morning.
//
// A real scheduler differs in three things: events come from the cluster instead of a list,
// times from a clock, and evicting and binding are calls to somebody who may refuse.
package main
