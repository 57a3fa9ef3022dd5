package gang

import (
	"encoding/json"
	"slices"

	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// likeness numbers units: those of one number are single pods that constraints count alike.
type likeness struct {
	none    bool           // it cannot be told, or does not help
	keys    []string       // of the labels of nodes that members read, each once
	numbers map[string]int // by all that constraints read of a pod
	of      map[victims.UnitID]int
}

// kinds numbers units on nodes without members, for [reprieve.Runner]: others are below zero. nil: it cannot be told, or does not help.
func (a *attempt) kinds() func(u victims.UnitID) int {
	if a.alike == nil {
		a.alike = newLikeness(a.q)
	}
	if a.alike.none {
		return nil
	}
	return func(u victims.UnitID) int {
		pods := a.q.Units.Unit(u).Pods
		if len(pods) > 1 || len(a.Trial.On(a.q.Index.NodeOf(pods[0]))) > 0 {
			return -1
		}
		number, known := a.alike.of[u]
		if !known {
			number = a.alike.number(a.q.Index.Pod(pods[0]), a.q.Index.Node(a.q.Index.NodeOf(pods[0])))
			a.alike.of[u] = number
		}
		return number
	}
}

func newLikeness(q *ask.Question) *likeness {
	k := &likeness{none: q.Mobile && q.Given == nil || q.Monotone() || len(q.OwnConstraints) > 0, numbers: map[string]int{}, of: map[victims.UnitID]int{}}
	for _, m := range q.Members {
		for _, s := range m.Pod.Spread {
			picky := m.Pod.NodeSelector != nil || m.Pod.NodeAffinity != nil || m.Pod.RequiredNode != ""
			k.none = k.none || picky || s.NodeTaintsPolicy == cluster.Honor // pods count on some nodes alone
			k.keys = append(k.keys, s.TopologyKey)
		}
		k.keys = append(k.keys, keysOf(m.Pod)...)
	}
	slices.Sort(k.keys)
	k.keys = slices.Compact(k.keys)
	return k
}

func (k *likeness) number(p *cluster.Pod, node *cluster.Node) int {
	var values []any
	for _, key := range append(keysOf(p), k.keys...) {
		value, has := node.Labels[key]
		values = append(values, value, has)
	}
	text, err := json.Marshal([]any{p.Namespace, p.Labels, p.AntiAffinity, p.Tokens, p.Terminating, values})
	if err != nil {
		panic(&ranges.Stop{Err: err})
	}
	number, known := k.numbers[string(text)]
	if !known {
		number = len(k.numbers)
		k.numbers[string(text)] = number
	}
	return number
}

// MostBack is how much work, as [domain.GangTrial.Work] counts, the domains together may take where units come back one by one; and
// once more the reasons of victims.
const MostBack = 1 << 23

// spent reports whether the domain has used up its share of MostBack: then nothing that disrupts less is looked for there.
func (a *attempt) spent() bool { return a.back > MostBack/int64(a.shares) }

// comeBack gives units back as giveBack does: one by one until the domain has taken its part of that, and by halves until it has
// taken as much again.
func (a *attempt) comeBack(giveBack func() reprieve.Outcome) reprieve.Outcome {
	before := a.work() - a.back
	a.Runner.Kind, a.Runner.Enough = a.kinds(), a.timesSince(before)
	defer func() { a.back, a.Runner.Kind, a.Runner.Enough = a.work()-before, nil, nil }()
	return giveBack()
}

// timesSince tells how many times its share of MostBack the domain has taken since then, 2 at most.
func (a *attempt) timesSince(then int64) func() int {
	return func() int {
		times := min(2, (a.work()-then)/(1+MostBack/int64(a.shares)))
		a.Proved = a.Proved && times == 0
		return int(times)
	}
}

// keysOf are the keys of the terms of p.
func keysOf(p *cluster.Pod) (keys []string) {
	for _, terms := range [][]cluster.AffinityTerm{p.Affinity, p.AntiAffinity} {
		for _, t := range terms {
			keys = append(keys, t.TopologyKey)
		}
	}
	return keys
}
