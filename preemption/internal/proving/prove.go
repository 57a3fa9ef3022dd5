package proving

import (
	"encoding/binary"
	"slices"

	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/onepod"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// How many cases are looked at, for one step and for a whole proof; one with more than 64 items to go or to
// stay, or 16 sums, counts as several. Where they run out, the bound is what can be shown without telling cases apart.
const (
	casesOfStep = 1_000
	casesInAll  = 20_000
)

// mostWeights is how many pairs of an item and a bound of its node a proof reads; of more nothing is shown.
const mostWeights = 1 << 21

// prover is one proof in the making.
type prover struct {
	q        *ask.Question // nil of quota
	trial    *onepod.Trial
	runner   *reprieve.Runner
	poll     func()
	criteria []victims.Criterion
	known    int     // of so many criteria sums on a node tell
	overruns int     // where it stands among those; len(criteria): nowhere
	summed   bool    // of overruns, what some budgets are charged counts as a sum
	asks     []int   // the resources that the pod asks for
	bound    []int64 // what is to be shown; it becomes smaller where that can't be
	left     int     // how many cases may still be looked at
	weights  int     // how many pairs may still be read
	*memory
}

// Prove shows that no evictions for the lone pod of q have less than bound, or than as much of
// it as it can; bound is what they have, or are said to have at least, by criterion as far as
// that is known. It uses trial and runner, who are of the question.
//
// A criterion that looks beyond the victims' node ends what is shown. O(nodes), each as a
// cover.Relax for a criterion, and at most casesInAll of these more; where it would have to read more than mostWeights it shows nothing.
func Prove(q *ask.Question, trial *onepod.Trial, runner *reprieve.Runner, bound []int64) Proof {
	p := newProver(q, trial, runner, bound)
	defer p.leave()
	nodes, steps, _ := p.look(func(g *ground) ([]Step, bool) { return p.node(g), true })
	return p.gather(nodes, steps)
}

// Refute shows that there are no evictions that help, within hard budgets and limits; false if it
// can't. Of nodes where the pod does not fit whoever goes nothing is shown.
func Refute(q *ask.Question, trial *onepod.Trial, runner *reprieve.Runner) (proof Proof, ok bool) {
	p := newProver(q, trial, runner, nil)
	defer p.leave()
	nodes, steps, ok := p.look(func(g *ground) ([]Step, bool) {
		s := p.stageOf(g, none, 0)
		refuted := s.refuted()
		p.left -= min(casesOfStep, p.left) - s.left
		return []Step{{Criterion: none, Cases: s.cases}}, refuted
	})
	if !ok {
		return Proof{}, false
	}
	return p.gather(nodes, steps), true
}

// none is no criterion: victims are not to be there at all.
const none = -1

func newProver(q *ask.Question, trial *onepod.Trial, runner *reprieve.Runner, bound []int64) *prover {
	p := &prover{q: q, trial: trial, runner: runner, poll: q.GoOn, criteria: q.Ranking.Criteria(), left: casesInAll, weights: mostWeights, memory: memories.Get().(*memory)}
	beyond := func(c victims.Criterion) bool {
		return c.InUse() || slices.Contains([]victims.Criterion{victims.CriterionStranded, victims.CriterionCascade, victims.CriterionGroups}, c)
	}
	if p.known = slices.IndexFunc(p.criteria, beyond); p.known < 0 {
		p.known = len(p.criteria)
	}
	p.known = min(p.known, len(bound))
	if p.overruns = slices.Index(p.criteria[:p.known], victims.CriterionOverruns); p.overruns < 0 {
		p.overruns = len(p.criteria)
	}
	p.bound = slices.Clone(bound[:p.known])
	for r, v := range q.Members[0].Request() {
		if v > 0 {
			p.asks = append(p.asks, r)
		}
	}
	return p
}

// look shows something of each node on which room can be made, as long as that goes.
func (p *prover) look(show func(*ground) ([]Step, bool)) (nodes []cluster.NodeID, steps [][]Step, ok bool) {
	defer func(checks int) { p.trial.Checks = checks }(p.trial.Checks) // those of the search are told
	defer p.trial.Restore()
	for n := range p.q.Index.Nodes() {
		p.q.GoOn()
		g, ok := p.survey(n)
		if !ok {
			p.bound = nil
			return nil, nil, false
		}
		if g != nil {
			list, ok := show(g)
			if !ok {
				return nil, nil, false
			}
			nodes, steps = append(nodes, n), append(steps, list)
		}
	}
	return nodes, steps, true
}

// node shows of a node what it can, and makes the bound smaller where that is less.
func (p *prover) node(g *ground) (steps []Step) {
	for k := 0; k < len(p.bound); k++ {
		if p.bound[k] == 0 && p.idle(g, k) {
			continue
		}
		s := p.stageOf(g, k, p.bound[k])
		s.left = 1
		if s.refuted() { // no victims are as good
			return append(steps, Step{Criterion: k, Cases: s.cases})
		}
		if p.bound[k] <= p.least(k) {
			continue
		}
		cases, atLeast := p.reach(g, k)
		switch {
		case atLeast <= p.least(k):
			p.bound = p.bound[:k]
			return steps
		case atLeast < p.bound[k]:
			p.bound = append(p.bound[:k:k], atLeast)
		}
		steps = append(steps, Step{Criterion: k, Cases: cases})
	}
	return steps
}

// idle reports whether no victims have anything of criterion k.
func (p *prover) idle(g *ground, k int) bool {
	if k == p.overruns {
		return !slices.ContainsFunc(g.caps, func(c limit) bool { return c.of.Kind == Budget })
	}
	return p.adds(k) && !slices.ContainsFunc(g.column(k), func(v int64) bool { return v > 0 })
}

// reach shows that victims have so much of criterion k, at most what the bound says.
func (p *prover) reach(g *ground, k int) (cases []Case, atLeast int64) {
	s := p.stageOf(g, k, checked.Sub(p.bound[k], 1))
	tells := s.refuted()
	p.left -= min(casesOfStep, p.left) - s.left
	switch {
	case tells:
		return s.cases, p.bound[k]
	case p.worst(k):
		return p.climb(g, k)
	}
	s = p.stageOf(g, k, p.bound[k]-1)
	b := s.balance()
	b.weigh()
	atLeast = min(b.atLeast(), p.bound[k])
	b.simplify(atLeast - 1)
	return []Case{{Pod: cluster.NoPod, Weights: b.weights()}}, atLeast
}

// climb is reach for a number of the worst victim, where the bound is too high: it goes from level
// to level.
func (p *prover) climb(g *ground, k int) (cases []Case, atLeast int64) {
	atLeast = p.least(k)
	var levels []int64
	for i := range g.items {
		if level := p.levelOf(&g.items[i], k); level < p.bound[k] {
			levels = append(levels, level)
		}
	}
	slices.Sort(levels)
	for _, level := range slices.Compact(levels) {
		s := p.stageOf(g, k, checked.Sub(level, 1))
		if s.left = 1; level > p.least(k) && !s.refuted() {
			break
		}
		if level > p.least(k) {
			cases, atLeast = s.cases, level
		}
	}
	return cases, atLeast
}

// levelOf is the number that an item has of criterion k, which is of the worst victim.
func (p *prover) levelOf(it *item, k int) int64 {
	if p.criteria[k] == victims.CriterionStarted {
		return it.started
	}
	return it.highest
}

// free reports whether the loss of unit u costs nothing.
func (p *prover) free(u victims.UnitID) bool { return p.q.BrokenFree && p.q.Broken(u) }

// gather puts nodes together for which the same steps do, as far as the bound goes.
func (p *prover) gather(nodes []cluster.NodeID, steps [][]Step) Proof {
	proof := Proof{Bound: p.bound}
	at := map[string]int{}
	var key []byte
	for i, n := range nodes {
		list := slices.DeleteFunc(steps[i], func(s Step) bool { return s.Criterion != none && s.Criterion >= len(p.bound) })
		var shared bool
		key, shared = text(key[:0], list)
		if first, known := at[string(key)]; known && shared {
			proof.Nodes[first].Nodes = append(proof.Nodes[first].Nodes, n)
			continue
		}
		if shared {
			at[string(key)] = len(proof.Nodes)
		}
		proof.Nodes = append(proof.Nodes, Nodes{Nodes: []cluster.NodeID{n}, Steps: list})
	}
	return proof
}

// text adds to key what tells steps apart; shared is false where they name pods, which are another node's
// nowhere.
func text(key []byte, steps []Step) (text []byte, shared bool) {
	for _, s := range steps {
		if len(s.Cases) > 1 {
			return key, false
		}
		key = binary.AppendVarint(binary.AppendVarint(key, int64(s.Criterion)), s.Members)
		for _, w := range s.Cases[0].Weights {
			for _, v := range []int64{int64(w.Of.Kind) + 1, int64(w.Of.Number), w.Value} {
				key = binary.AppendVarint(key, v)
			}
		}
		key = append(key, 0) // no kind
	}
	return key, true
}
