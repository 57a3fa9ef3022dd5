package gen

import (
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Question is a snapshot and who wants to run in it.
type Question struct {
	Snapshot  cluster.Snapshot  `json:"snapshot"`
	Preemptor cluster.Preemptor `json:"preemptor"`
}

// Profile says what occurs in small clusters. The zero Profile has resources and
// priorities only, in clusters of at most 6 nodes and 20 pods.
type Profile struct {
	MinNodes int // above 0: so many nodes at least, of three shapes
	MaxNodes int // 0: 6
	MaxPods  int // 0: 20

	Placement   bool // taints, selectors, affinity, cordoned nodes, required nodes
	Ports       bool // host ports
	Budgets     bool
	Nominations bool // pending pods that earlier decisions make room for, perhaps the preemptor
	Terminating bool // pods that are leaving, some of them preempted
	Classes     bool // priorities that only a class tells, policies
	Groups      bool // pod groups and composite ones above the running pods
	Guards      bool // what protects units, or holds preemptors back
	Odd         bool // what occurs in live clusters and is answered with a warning

	Nested int // composite groups that run and may go in part, with groups beneath; no bool, which seeds draw

	// A Maker's only.
	Tokens   bool
	Devices  bool
	Costs    bool // prices of pods and groups
	Elastic  bool // groups of mode SurplusFirst
	Queues   bool // quota, of workloads, pods and pod groups
	Extremes bool // amounts, priorities and times at the ends of their types
	Even     bool // pods have the priorities of their groups
}

// Everything is the Profile of a single pod in a cluster with all there is.
func Everything() Profile {
	return Profile{Placement: true, Ports: true, Budgets: true, Nominations: true, Terminating: true, Classes: true, Groups: true, Odd: true}
}

// Random is the question of that seed.
func Random(seed uint64, p Profile) Question { return build(Seeded(seed), p) }

// Draw generates questions from rapid's bits.
func Draw(p Profile) *rapid.Generator[Question] {
	return rapid.Custom(func(t *rapid.T) Question { return build(Drawn(t), p) })
}
