// Package queued finds quota and a place for pods that need both: over the flavors of their
// queue, and for each over the domains among the flavor's nodes.
//
// A [Search] is for one [Question]. [Search.Fits] looks whether the pods have both as things
// are; [Search.Run] looks for the [Plan] that disrupts least, among the domains of the first
// round that has one. Who has quota leaves it by the rules of queues, workload by workload
// (see package workload): those whom the queue's own pass takes or, where the [Question] asks
// for it, those whom it takes once one after the other is spared; pods without a queue leave by the rule of nodes. [Search.Spell]
// lists the victims of a plan, and what would be lacking if one alone came back.
//
// What comes out is ids and numbers; package preemption puts them into words.
package queued
