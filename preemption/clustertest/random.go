package clustertest

import (
	"encoding/json"
	"fmt"

	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/genopts"
	"github.com/preempt-go/preempt/preemption"
)

// Question is a cluster and who wants to run in it.
type Question struct {
	Snapshot  *preemption.Snapshot `json:"snapshot"`
	Preemptor preemption.Preemptor `json:"preemptor"`
}

// String is the question as JSON, to be saved and asked again.
func (q Question) String() string {
	text, err := json.MarshalIndent(q, "", "  ")
	if err != nil {
		return fmt.Sprintf("a question that cannot be written: %v", err)
	}
	return string(text)
}

// Profile says what occurs in random clusters. The zero Profile has a pod that wants to
// run, resources and priorities only, at most 6 nodes and 20 running pods.
type Profile struct {
	Nodes int // at most so many; 0: 6
	Pods  int // at most so many run; 0: 20

	// Members above 0 makes the preemptor a pod group of at most so many pods.
	Members int

	Placement   bool // taints, selectors, node affinity, cordoned nodes, required nodes
	Ports       bool // host ports
	Budgets     bool
	Nominations bool // pending pods that earlier decisions make room for, perhaps the preemptor
	Terminating bool // pods that are leaving, some of them preempted
	Classes     bool // priorities that only a class tells, policies
	Groups      bool // pod groups and composite ones above the running pods
	Guards      bool // what protects units, or holds preemptors back
	Odd         bool // what occurs in live clusters and is answered with a warning

	// Of groups that want to run only.
	Composite bool // trees of groups
	Topology  bool // zones and racks, and wishes about them
	Affinity  bool // affinity, anti-affinity and spread
}

// Everything is the Profile with all there is, about a pod if members is 0, else about a
// group of at most so many.
func Everything(members int) Profile {
	return Profile{
		Members:   members,
		Placement: true, Ports: true, Budgets: true, Nominations: true, Terminating: true, Classes: true, Groups: true,
		Guards: true, Odd: true, Composite: true, Topology: true, Affinity: true,
	}
}

// gang is the profile as the generators have it.
func (p Profile) gang() gen.GangProfile {
	return gen.GangProfile{
		Profile: gen.Profile{
			MaxNodes: p.Nodes, MaxPods: p.Pods,
			Placement: p.Placement, Ports: p.Ports, Budgets: p.Budgets, Nominations: p.Nominations, Terminating: p.Terminating,
			Classes: p.Classes, Groups: p.Groups, Guards: p.Guards, Odd: p.Odd,
		},
		MaxMembers: p.Members, Composite: p.Composite, Topology: p.Topology, Ties: p.Affinity,
	}
}

// Random is the question of that seed. Every question can be read: whatever seed and
// profile, no answer is an error.
func Random(seed uint64, p Profile) Question {
	if p.Members > 0 {
		return public(gen.RandomGang(seed, p.gang()))
	}
	return public(gen.Random(seed, p.gang().Profile))
}

// Draw generates such questions of rapid's bits: one that fails shrinks to few nodes and
// pods, and to plain values.
func Draw(p Profile) *rapid.Generator[Question] {
	if p.Members > 0 {
		return rapid.Map(gen.DrawGang(p.gang()), public)
	}
	return rapid.Map(gen.Draw(p.gang().Profile), public)
}

// RandomOptions are options of that seed, mostly near the default, without hooks and not
// Strict. Random questions have an answer under them, but that the rules of KEP5710Alpha
// refuse groups of mode All that need no minCount, which a Profile with Groups has.
func RandomOptions(seed uint64) preemption.Options { return tame(genopts.Random(seed)) }

// DrawOptions generates such options of rapid's bits.
func DrawOptions() *rapid.Generator[preemption.Options] { return rapid.Map(genopts.Any(), tame) }

func tame(o preemption.Options) preemption.Options {
	o.Hooks, o.Strict = nil, false
	return o
}

// RandomQuota is the question of that seed of a workload that asks for quota, among queues
// that are mostly full, and options that say by which rules; see [preemption.QuotaOptions].
func RandomQuota(seed uint64) (Question, preemption.Options) {
	q, o := genopts.RandomQuota(seed)
	return public(q), o
}

// DrawQuota draws such a question of rapid's bits.
func DrawQuota(t *rapid.T) (Question, preemption.Options) {
	q, o := genopts.DrawQuota(t)
	return public(q), o
}

// Shuffled is a copy of q in another order, by seed: of every list whose order says
// nothing. Answers about it are the same.
func Shuffled(seed uint64, q Question) Question {
	return public(gen.Shuffled(seed, private(q)))
}

// Shuffle is Shuffled of rapid's bits.
func Shuffle(t *rapid.T, q Question) Question { return public(gen.Shuffle(t, private(q))) }

func public(q gen.Question) Question {
	return Question{Snapshot: &q.Snapshot, Preemptor: q.Preemptor}
}

func private(q Question) gen.Question {
	return gen.Question{Snapshot: *q.Snapshot, Preemptor: q.Preemptor}
}

// Shape says what the pods of a big cluster have in common.
type Shape string

// The shapes of big clusters. In all of them every node is full of cpu.
const (
	Uniform  Shape = Shape(gen.Uniform)  // ten priorities, sizes and start times, evenly spread
	Tied     Shape = Shape(gen.Tied)     // one priority: every node ties on it, sizes and start times decide
	Distinct Shape = Shape(gen.Distinct) // no two pods have the same priority
	Budgeted Shape = Shape(gen.Budgeted) // uniform, and every pod is in one of 100 budgets that are spent
	Equal    Shape = Shape(gen.Equal)    // every pod is like every other: nodes repeat
	Skewed   Shape = Shape(gen.Skewed)   // nodes of three sizes, some crowded, a few large pods, most priorities low
)

// Fleet is a big cluster, for benchmarks: nodes with podsPerNode running pods each (on
// average, where it is Skewed), and a pod above all of them that wants to run.
func Fleet(nodes, podsPerNode int, seed uint64, shape Shape) Question {
	s := gen.Fleet(nodes, podsPerNode, seed, gen.Shape(shape))
	return Question{Snapshot: &s, Preemptor: gen.FleetPod(seed)}
}
