package constrainttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Options say how much is checked. The zero Options is a sensible amount.
type Options struct {
	Seed      uint64 // of the histories: equal seeds make equal ones
	Histories int    // how many; 0: 8
	Steps     int    // of each; 0: 40

	// FromStart says that answers depend, on purpose, on where pods were when the
	// constraint was prepared. [LawAnew] is then not checked.
	FromStart bool
}

// Law names a rule that a constraint has to keep.
type Law string

// The laws. An answer is what Fits says of one member on one node; two answers are
// equal if both are that it fits, or both are the same Reason.
const (
	// LawInput: Prepare changes neither the index nor the members.
	LawInput Law = "input unchanged"
	// LawRepeat: preparing twice gives equal answers, and so does asking twice.
	LawRepeat Law = "equal questions get equal answers"
	// LawUndo: undoing changes in the opposite order goes back through the same answers.
	LawUndo Law = "undo restores the state"
	// LawOrder: the answers depend on who is where, not on the order of the changes.
	LawOrder Law = "order does not matter"
	// LawClone: a clone gives equal answers, and changes of either do not reach the other.
	LawClone Law = "a clone is independent"
	// LawAnew: the answers are those of the constraint prepared for the cluster as it
	// stands. A nil State is one that lets every member fit everywhere.
	LawAnew Law = "preparing anew gives equal answers"
	// LawScope: the scope does not change.
	LawScope Law = "the scope is constant"
	// LawMonotone: where the scope says so, removing a pod turns no fit into a misfit.
	LawMonotone Law = "monotone: removing a pod never hurts"
	// LawNodeLocal: where the scope says so, a change on a node changes no answer for
	// another node, or for one of another value of its topology.
	LawNodeLocal Law = "node-local: other nodes do not matter"
	// LawUnresolvable: after a Reason that is Unresolvable, no eviction on the node
	// makes the member fit there.
	LawUnresolvable Law = "unresolvable: no eviction on the node helps"
	// LawHopeless: where a [domain.Bounder] gives a Reason, the member never fits, as
	// long as only running pods leave and return and members are placed.
	LawHopeless Law = "hopeless: no eviction anywhere helps"
	// LawConcerned: a [domain.Concerned] that concerns none of the members has no say.
	LawConcerned Law = "no say about pods that it does not concern"
	// LawTouches: removing a running pod that a [domain.Toucher] does not touch, or
	// whose node it does not touch, changes no answer.
	LawTouches Law = "an untouched pod does not matter"
)

// Broken is a law that was broken and how; errors.As finds it in what [Check] returns.
type Broken struct {
	Law     Law
	History string // the changes that led there
	Detail  string // what was expected and found
}

// Error names the law, what was found and the history.
func (b *Broken) Error() string {
	return fmt.Sprintf("constrainttest: %s: %s, after %s", b.Law, b.Detail, b.History)
}

// Check checks c with the pods members as the preemptor in snapshot s. It returns
// nil if no law was found broken, else the join of a [*Broken] for each law, or the
// error of a snapshot that is not valid or of Prepare. members need not be in s;
// neither argument is changed.
//
// A constraint that has no say in the question, where Prepare gives nil, is checked
// for that only: with fewer pods it still must have none.
func Check(c domain.Constraint, s *cluster.Snapshot, members []cluster.Pod, o Options) error {
	ix, err := cluster.NewIndex(s)
	if err != nil {
		return err
	}
	k := &checker{constraint: c, snapshot: s, ix: ix, options: o, rand: rand.New(rand.NewPCG(o.Seed, 1))}
	for i := range members {
		k.members = append(k.members, &members[i])
	}
	before := k.written()
	state, err := c.Prepare(ix, k.members)
	if err != nil {
		return fmt.Errorf("constrainttest: Prepare: %w", err)
	}
	if state != nil && !domain.Concerns(c, shown(k.members)) {
		k.report(LawConcerned, nil, "it has a say about members none of which concerns it")
	}
	if state == nil {
		k.checkSilence()
	} else {
		k.start = state
		k.checkHistories()
	}
	if k.written() != before {
		k.report(LawInput, nil, "they differ from what they were")
	}
	return errors.Join(k.broken...)
}

func (k *checker) written() string {
	b, err := json.Marshal([]any{k.snapshot, k.members})
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// report notes the first case of each broken law.
func (k *checker) report(law Law, h history, format string, args ...any) {
	for _, err := range k.broken {
		if b := new(Broken); errors.As(err, &b) && b.Law == law {
			return
		}
	}
	k.broken = append(k.broken, &Broken{Law: law, History: k.describe(h), Detail: fmt.Sprintf(format, args...)})
}

func (k *checker) checkHistories() {
	histories, steps := k.options.Histories, k.options.Steps
	if histories == 0 {
		histories = 8
	}
	if steps == 0 {
		steps = 40
	}
	again, err := k.constraint.Prepare(k.ix, k.members)
	if err != nil || again == nil {
		k.report(LawRepeat, nil, "the second Prepare gave %v, %v", again, err)
		return
	}
	k.same(LawRepeat, nil, k.answers(k.start), k.answers(again))
	for range histories {
		k.follow(k.start.Clone(), steps)
	}
}

// shown is what a [domain.Concerned] is shown of pods.
func shown(pods []*cluster.Pod) []*cluster.Pod {
	views := make([]*cluster.Pod, len(pods))
	for i, p := range pods {
		views[i] = domain.FilterView(p)
	}
	return views
}
