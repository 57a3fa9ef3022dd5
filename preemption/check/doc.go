// Package check reads answers, and looks for cycles in a policy of preemption.
//
// # Whether an answer is true
//
// [Verify] reads an answer beside its question and tells what is not true of it. It is
// written in maps and strings, anew, and shares no code with what gave the answer, so
// that a scheduler can let it look over each of them, or over some, before it evicts
// anybody: that costs two passes over the pods. What it reads of pods and groups of pods:
//
//	the preemptor    fits where it is nominated once the victims are gone: resources, host
//	                 ports, taints, node affinity, cordon, affinity, spread, tokens,
//	                 devices, Hooks.Constraints, Hooks.Filter; with the pods nominated there, and without;
//	                 members each beside those before it in some order, enough of them, in
//	                 the topology that is required, or as given, and if they are not tied to
//	                 other pods and nobody moves as many as there is room for, of a gang that fits packed or
//	                 spread as it is asked for; and it does not fit as it is
//	the verdict      whether it may preempt, waits, or has too few members
//	victims          run, are whole units or the most of an elastic one that nobody could
//	                 add to, may be evicted (priority, preemption priority, every guard, to
//	                 the second), are not the preemptor's own, and in order of importance
//	nobody too many  no victim can come back alone, and its reason is one; a lone pod's, and
//	                 those of a gang's placement without ties between pods, are those whom
//	                 upstream's walk leaves out, unless that goes beyond a bound
//	numbers          violations by generation of rules, overruns, each price and their sum,
//	                 the score criterion by criterion, priorities and starts
//	bounds           hard budgets, and limits with their window
//	lists            Budgets, Cleared, Kept; with Options.Candidates each candidate likewise,
//	                 none is missing, and the one that was chosen is the best; where one
//	                 leaves out pods of a large group (Unlisted), who goes and no more
//	the proof        with its multipliers the sums of every node on which room can be made contradict any
//	                 victims with less than its bound; see preemption.Proof
//	infeasible       it fits in no domain with everybody gone who may be evicted there
//
// Of workloads, and of pods and groups that need quota too:
//
//	the quota        every pod set takes what it asks for, in one flavor of each group of its
//	                 queue that suits it, and that is there once the victims are gone;
//	                 contested is what is short, and who fits needs nobody to go
//	victims          hold quota of what is short, in the same tree, and may go by the policies
//	                 of the preemptor's queue; others' queues have borrowed it, and stop at
//	                 what is their own; the reason, priority and queue told are theirs; of a
//	                 workload, none can come back alone
//	others           no pod of a queue goes for a preemptor without one
//	infeasible       no flavor has room for a workload as things are, unless its queue stops
//	                 at the first that evictions would give, or prefers that one to borrowing
//	the least        of a workload's victims the score, criterion by criterion, and a bound that is not
//	                 beyond it, nor beyond what a single workload of its own queue comes to
//	the proof        with its multipliers the sums of every attempt of its queue contradict any victims
//	                 with less than its bound
//
// What can't be decided in a pass is looked at from one side, so that a problem is one, and
// its absence proves nothing:
//
//   - that a gang has no place (it fits as it is, it is infeasible) is tried with the members
//     one after the other, on the first node that they fit on, until these and the members are 1,048,576 looks in all
//     domains together, 16 pairs of a host port that a member wants and a pod there one more. An answer that is not Exact
//     does not say that there is none, nor, where members times nodes are more than 1,048,576 (times domains and levels under LowestLevel), that
//     members who were left out have none, or that somebody has to go, nor, where pods times
//     pods, members and nodes are more than 8,388,608, divided by the domains, that no victim of a gang can come back. An order in which members that are tied to others fit
//     is looked for in so many steps, and believed beyond;
//   - infeasible under hard budgets, limits or a price as the objective, or where constraints
//     are not monotone: a lone pod's is wrong if upstream's walk keeps within the bounds, where not so many
//     have to move that an answer may be cut short, and Exact if the eviction of one unit does;
//   - the largest set of an elastic unit's pods: no pod could be added, or if it goes whole,
//     those that fit one after the other are too few;
//   - that no victim can come back alone, of constraints that are not monotone;
//   - packed or spread: so many members to each node, of one group whose members are alike
//     and want nothing but a node with room;
//   - the least price without a proof, the lowest level, the placement of a gang that disrupts least, the
//     most members with others gone, the round of topology keys, sampling: who was not chosen is not looked
//     at, nor is the reason of a gang's victim where several members are tied to other pods;
//   - quota: which of several flavors, the order of shares, fewer pods than could be had, the
//     level that is borrowed from where somebody goes, the node affinity of a flavor;
//   - Nearest: it names what there is, by amounts that can be; whether it helps is not tried.
//
// Message, Trace, Rejected, Warnings and the other words and counts are not read, and
// neither are the plans of a Gathering. An answer of PreemptAll about several pods is read as one
// about a gang that needs one of them.
//
// With hooks, what only they can tell is taken as said: with Eligible who may go beyond the
// guards, what is kept, violations and infeasible; with Order the order and violations; with
// Cost all prices and their limits; with Compare which candidate is best; with Placer
// infeasible; with Splitter the domains, and whether a gang fits without evicting.
//
// # Whether a policy has cycles
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
