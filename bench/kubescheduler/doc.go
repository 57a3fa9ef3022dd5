// Command kubescheduler puts one question to the real default preemption of
// kube-scheduler and to this library, in one process, in turn: it checks that the
// answers agree, then times both.
//
// kube-scheduler's side is its own code: the default profile's plugins in its
// framework, and the whole PostFilter step. Only the eviction calls are replaced by
// nothing, so that a question can be asked again.
package main
