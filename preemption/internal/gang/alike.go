package gang

import (
	"encoding/json"

	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// kinds numbers units, for [reprieve.Runner]: those of one number are single pods that constraints count alike, on nodes without
// members. Another one is below zero. nil: that cannot be told, or does not help.
func (a *attempt) kinds() func(u victims.UnitID) int {
	q := a.q
	if q.Mobile && q.Given == nil || q.Monotone() || len(q.OwnConstraints) > 0 {
		return nil
	}
	var keys []string // of the labels of nodes that are read
	for _, m := range q.Members {
		for _, s := range m.Pod.Spread {
			if s.NodeTaintsPolicy == cluster.Honor || m.Pod.NodeSelector != nil || m.Pod.NodeAffinity != nil || m.Pod.RequiredNode != "" {
				return nil // pods count on some nodes alone
			}
			keys = append(keys, s.TopologyKey)
		}
		keys = append(keys, keysOf(m.Pod)...)
	}
	numbers, of := map[string]int{}, map[victims.UnitID]int{}
	return func(u victims.UnitID) int {
		pods := q.Units.Unit(u).Pods
		if len(pods) > 1 || len(a.Trial.On(q.Index.NodeOf(pods[0]))) > 0 {
			return -1
		}
		number, known := of[u]
		if !known {
			p, at := q.Index.Pod(pods[0]), q.Index.Node(q.Index.NodeOf(pods[0])).Labels
			var values []any
			for _, key := range append(keysOf(p), keys...) {
				value, has := at[key]
				values = append(values, value, has)
			}
			text, err := json.Marshal([]any{p.Namespace, p.Labels, p.AntiAffinity, p.Tokens, p.Terminating, values})
			if err != nil {
				panic(&ranges.Stop{Err: err})
			}
			if number, known = numbers[string(text)]; !known {
				number = len(numbers)
				numbers[string(text)] = number
			}
			of[u] = number
		}
		return number
	}
}

// MostBack is how much work, as [domain.GangTrial.Work] counts, the domains together may take where units come back one by one; and
// once more the reasons of victims.
const MostBack = 1 << 23

// comeBack gives units back as giveBack does, one by one until the domain has taken its part of that.
func (a *attempt) comeBack(giveBack func() reprieve.Outcome) reprieve.Outcome {
	before := a.Trial.Work() - a.back
	a.Runner.Kind, a.Runner.Enough = a.kinds(), func() bool {
		enough := a.Trial.Work()-before > MostBack/int64(a.shares)
		a.Proved = a.Proved && !enough
		return enough
	}
	defer func() { a.back, a.Runner.Kind, a.Runner.Enough = a.Trial.Work()-before, nil, nil }()
	return giveBack()
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
