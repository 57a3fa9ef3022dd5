package preemption

import (
	"reflect"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// traits are what has a say in an answer beside room, static checks, priorities and
// budgets, which the packed columns tell everything about. A road that does not read one
// of them is closed to questions that have it.
type traits uint32

const (
	// Of rules and options.
	traitLowest     traits = 1 << iota // the lowest sufficient level is looked for
	traitBrokenFree                    // what is left of a broken gang costs nothing
	traitBounds                        // hard budgets, limits or the price bound the final set of victims
	traitRanking                       // a price or a hook has a say among domains
	traitHooks                         // a hook is set
	traitSampling                      // only a part of the nodes is examined
	traitCandidates                    // every candidate is asked for
	traitTrace                         // each step is asked for
	traitMoving                        // the gang may move while victims are given back
	traitRepeat                        // and they are given back in several passes
	traitTuned                         // an option but Rules is set, whichever

	// Of the cluster.
	traitGuards  // guards keep units
	traitPrices  // units are priced, or ordered by more than priority and start
	traitColumns // the columns do not hold what is needed
	traitWaits   // a class says how long its pods wait
	traitQueued  // pods hold quota

	// Of the preemptor.
	traitConstraints // constraints look at other pods
	traitPorts       // host ports
	traitUnknown     // a resource that no node has
	traitPersonal    // the pod itself: nominated, queued, grouped, guarded, evicted before
	traitGiven       // the placement is given
	traitTree        // a group of groups
	traitSpare       // room is made for fewer members than are pending
	traitUnequal     // members differ
	traitOwn         // a running pod of the gang may be a victim
)

// road is a way to an answer that is faster than the plain one, and comes to the same.
type road struct {
	name      string
	closedBy  traits
	benchmark string // what it is there for, in package bench
}

// leads reports whether the road answers a question with those traits.
func (r *road) leads(t traits) bool { return t&r.closedBy == 0 }

// The roads of a lone pod, each faster than the one before, and of a gang. Without any
// of them nodes are tried one by one, and so are placements.
var (
	// bySweep gives the pods of one node back by its columns.
	bySweep = &road{"sweep", traitLowest | traitBrokenFree | traitBounds | traitRanking |
		traitGuards | traitPrices | traitColumns | traitPorts | traitUnknown, "BenchmarkConstraints"}

	// byScan looks at all nodes at once.
	byScan = &road{"scan", bySweep.closedBy | traitConstraints | traitSampling | traitCandidates | traitTrace, "BenchmarkPreempt"}

	// atOnce is a lookup of what is known of the pod's shape.
	atOnce = &road{"at once", byScan.closedBy | traitHooks | traitTuned | traitWaits | traitQueued | traitPersonal, "BenchmarkDecide"}

	// byCounting counts the members of a gang instead of placing them.
	byCounting = &road{"counting", traitLowest | traitBrokenFree | traitBounds | traitHooks | traitTrace | traitRepeat |
		traitGuards | traitPrices | traitColumns | traitConstraints | traitUnknown |
		traitGiven | traitTree | traitSpare | traitUnequal | traitOwn, "BenchmarkGang512"}

	// byPriceFirst leaves a placement out, on the way of trials, that costs more than
	// the best one before anybody is given back.
	byPriceFirst = &road{"price first", traitLowest | traitBounds | traitRanking | traitMoving, "BenchmarkGang"}
)

var roads = []*road{bySweep, byScan, atOnce, byCounting, byPriceFirst}

func (t *traits) set(trait traits, has bool) {
	if has {
		*t |= trait
	}
}

// traits are those of rules and options.
func (o *Options) traits(rules *generation) (t traits) {
	t.set(traitLowest, rules.lowest)
	t.set(traitBrokenFree, o.BrokenGroupsFree)
	t.set(traitRanking, o.ranking().CostAt != 0 || o.Hooks != nil && o.Hooks.Compare != nil)
	t.set(traitHooks, o.Hooks != nil)
	t.set(traitSampling, o.Sampling != nil)
	t.set(traitCandidates, o.Candidates)
	t.set(traitTrace, o.Explain)
	t.set(traitMoving, rules.mobile)
	t.set(traitRepeat, rules.mobile && o.repeat(rules.repeatGroups))
	t.set(traitTuned, !reflect.DeepEqual(*o, Options{Rules: o.Rules}))
	return t
}

// traits are those of the units.
func (s *sides) traits() (t traits) {
	t.set(traitGuards, s.protections != nil)
	t.set(traitPrices, s.units.Priced())
	t.set(traitColumns, s.ladder.Levels() == nil)
	return t
}

// traitsOf are those of a pod by itself.
func traitsOf(pod *cluster.Pod) (t traits) {
	t.set(traitPorts, len(pod.Ports) > 0)
	t.set(traitConstraints, len(pod.Affinity)+len(pod.AntiAffinity)+len(pod.Spread)+len(pod.Tokens)+len(pod.Devices) > 0)
	t.set(traitPersonal, pod.Node != "" || pod.NominatedNode != "" || pod.Group != "" || pod.Queue != "" ||
		pod.Guard != nil || len(pod.Evictions) > 0)
	return t
}

// traits are those of the question, but for what it takes a look at every member to
// tell; see countable.
func (q *question) traits() traits {
	t := q.compiled.traits | q.sides.traits()
	t.set(traitBounds, q.bounded())
	t.set(traitConstraints, len(q.states) > 0)
	t.set(traitUnknown, len(q.members[0].Unknown()) > 0)
	t.set(traitPorts, len(q.members[0].Pod.Ports) > 0)
	t.set(traitGiven, q.given != nil)
	if q.tree != nil {
		t.set(traitTree, len(q.tree.Children) > 0)
		t.set(traitSpare, q.rules.members == MinCount && q.tree.Need() < len(q.members))
	}
	return t
}
