// Package check looks for cycles in a policy of preemption, on a small closed cluster.
//
// A [Model] is at most four workloads on at most three nodes, under some options.
// [Model.Check] walks every way in which it can go on: a pending workload is placed
// where it fits, or asks again and evicts, whereupon the evicted are resubmitted at
// once, or time goes by; nobody arrives or completes. If the same situation comes
// back with an eviction in between, the workloads can push each other around for
// ever: the [Report] has the shortest such cycle.
//
// The same situation means: who runs where, who is pending or nominated, and what the
// guards look at (how long ago something started, was created or evicted), however
// late it is by the clock. What is longer ago than any rule looks back counts as
// equally long ago. A check that had to stop says [NotExhausted], never [NoCycle].
//
// # What the built-in rules do
//
// Under Kubernetes137 and KEP5710Alpha, with every guard, limit, price and budget but
// EqualAfterSeconds, none was found in thousands of random models of pods and pod
// groups. There is a reason: whoever evicts the most important one of a cycle is more
// important still, so nobody evicts it, and it cannot be pending again. A preemption
// priority below the priority would undo this, and is refused. The known cycles are:
//
//	cycle                                    shortest                            broken by
//	a user's rule that lets a preemption     y evicts x, y starts,               Options.NoCascade
//	priority be below the priority           x evicts y, x starts
//	Guards.EqualAfterSeconds: equals take    y evicts x, y starts, wait,         Options.NoCascade
//	turns, as it says                        x evicts y, x starts, wait
//	Kubernetes136, a pod less important      web evicts the gang's pod,          Options.Strict, which refuses such pods,
//	than its gang: a single pod sees no      the gang starts again               or Kubernetes137
//	group there
//
// Guaranteed time, a cool-down, a wait and limits by window do not break a cycle: they
// bound how fast it turns.
//
// The command examples/cycles reads a model and its options as JSON.
//
// A model of your own that has no cycle proves nothing about others: check the mix of
// priorities and sizes that matters to you.
//
// Source: KEP-5710 (early text), the cycle that preemption priority must not allow.
package check
