// Package quotatext reads questions about quota from plain text, many to a file,
// and writes down how they were answered.
//
// A file is a paragraph of comment, the queues that its scenarios share, and the
// scenarios: a heading, who holds quota and who asks, a line of four dashes, and
// the transcript.
//
//	# One queue of six.
//	queue   standalone cpu=6 own=LowerPriority
//
//	== the least important goes
//	jobs    low@standalone prio=-1 cpu=3   high@standalone prio=1 cpu=3
//	preempt in@standalone prio=1 cpu=2
//	----
//	feasible: low InClusterQueue
//
// A line is a word that says what follows, then objects: a name and what is known
// of it as key=value. A scenario may add queues of its own. Amounts have up to three
// decimals and no unit; resources are whatever a key with a number says.
//
//	flavor   NAME ...          labels=pool=a taints=spot=yes
//	cohort   NAME[@PARENT] ... weight=2 QUOTA
//	queue    NAME[@COHORT] ... weight=2 QUOTA own=LowerPriority reclaim=Any bwc=0 (or any) wait=60
//	                           order=ByLongestRuntime borrow=TryNextFlavor preempt=MayStopSearch
//	                           prefer=PreemptionOverBorrowing locals=fair stopped=yes
//	local    NAME@QUEUE ...    usage=3; without any, a queue has one of its own name
//	jobs     NAME@QUEUE ...    AMOUNT prio=1 boost=1 uid=u at=5 created=3 requeued=4 evicted=yes local=NAME n=3
//	preempt  NAME@QUEUE        AMOUNT prio=1 created=3 local=NAME count=2 min=1 select=pool=a tolerate=spot
//	                           or followed by pod sets: NAME AMOUNT count=2 min=1 group=g select=pool=a
//	evict    NAME@QUEUE        AMOUNT prio=1 created=3 free=cpu: only the search for victims, with flavors that
//	                           are chosen; every resource but the free ones is contested
//	fair     [STRATEGY ...]    fair sharing
//	nodes, pods, group         as in package scenario, with queue=NAME; only cpu has the same unit there
//	place    pod NAME          a pending pod, or podgroup NAME, that needs quota and a place
//
// QUOTA is cpu=6 (nominal), cpu=6+2 (borrows 2 at most), cpu=6-1 (lends 1 at most),
// cpu@spot=6 in a flavor that is not "default". AMOUNT is cpu=2 or cpu@spot=2. at,
// created and requeued are seconds; now is 1000. pods=yes counts the pods of a job.
package quotatext
