package tell

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// keptOn lists the units that guards keep on some nodes, in order of name.
func (q *Inquiry) keptOn(nodes []cluster.NodeID) []answer.KeptUnit {
	if q.Protections == nil {
		return nil
	}
	seen := map[victims.UnitID]bool{}
	var list []answer.KeptUnit
	for _, n := range nodes {
		for _, u := range q.Units.On(n) {
			if !seen[u] && q.Guarded(u) {
				seen[u] = true
				list = append(list, q.keptUnit(u))
			}
		}
	}
	slices.SortFunc(list, func(a, b answer.KeptUnit) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})
	return list
}

// keptUnit says what keeps unit u. One of several pods may be told of in many domains, and is read once.
func (q *Inquiry) keptUnit(u victims.UnitID) answer.KeptUnit {
	if len(q.Units.Unit(u).Pods) == 1 {
		return q.readKept(u)
	}
	k, known := q.kept[u]
	if !known {
		if q.kept == nil {
			q.kept = map[victims.UnitID]answer.KeptUnit{}
		}
		k = q.readKept(u)
		q.kept[u] = k
	}
	return k
}

func (q *Inquiry) readKept(u victims.UnitID) answer.KeptUnit {
	unit, k := q.Units.Unit(u), q.Kept(u, q.Claim)
	out := answer.KeptUnit{Kind: cluster.KindPod, Priority: unit.Level, Rule: k.Rule, Seconds: k.Seconds, Text: k.String()}
	if unit.Group != cluster.NoGroup {
		g := q.Index.Group(unit.Group)
		out.Kind, out.Namespace, out.Name = g.Kind, g.Namespace, g.Name
	} else {
		pod := q.Index.Pod(unit.Pods[0])
		out.Namespace, out.Name = pod.Namespace, pod.Name
	}
	if k.Below != 0 {
		out.Below = &k.Below
	}
	first := cluster.NoNode
	for _, p := range unit.Pods {
		if n := q.Index.NodeOf(p); n != cluster.NoNode && (first == cluster.NoNode || n < first) {
			first = n
		}
	}
	if first != cluster.NoNode {
		out.Node = q.Index.Node(first).Name
	}
	return out
}

// keptBy lists the units that guards keep in the chosen domain, or everywhere if
// that was asked for.
func (q *Inquiry) keptBy(chosen []cluster.NodeID) []answer.KeptUnit {
	if q.caller.Plan {
		return nil
	}
	if q.Protections != nil && q.Candidates {
		chosen = domain.WholeCluster{}.Split(nil, q.Index)[0].Nodes
	}
	return q.keptOn(chosen)
}

// keepSteps tells which units guards keep on some nodes.
func (q *Inquiry) keepSteps(nodes []cluster.NodeID) []answer.Step {
	var steps []answer.Step
	for _, k := range q.keptOn(nodes) {
		name := words.Key(k.Namespace, k.Name)
		steps = append(steps, answer.Step{
			Action: answer.ActionKeep, Unit: name, Reason: &answer.Reason{Check: domain.Check(k.Rule), Detail: k.Text},
			Text: "kept " + name + ": " + k.Text,
		})
	}
	return steps
}

// whyKept is the answer about a unit that may not be evicted.
func (q *Inquiry) whyKept(u victims.UnitID, k victims.Kept) *answer.Why {
	name := q.UnitName(u)
	if k.Rule == victims.KeptPriority {
		return &answer.Why{Text: fmt.Sprintf("%s may not be evicted: its priority %d is not below %d", name, k.Priority, q.Priority)}
	}
	return &answer.Why{
		Text:   fmt.Sprintf("%s is kept: %s", name, k),
		Reason: &answer.Reason{Check: domain.Check(k.Rule), Detail: k.String()},
	}
}

// classless warns of victims that name no class, where classes say what they
// tolerate: these tolerate nothing.
func (q *Inquiry) classless(list []answer.Victim) []cluster.Warning {
	if q.Cluster.Settings.Guards.Toleration == priority.TolerationOff || !q.Index.Classes().AnyTolerations() {
		return nil
	}
	var ws []cluster.Warning
	for _, v := range list {
		for _, pod := range v.Pods {
			p := q.Index.PodByName(pod.Namespace, pod.Name)
			if _, ok := q.Index.ClassOf(p); ok || q.Index.Pod(p).Class != "" {
				continue // a class that is not there is warned of in any case
			}
			ws = append(ws, cluster.Warning{
				Kind: cluster.KindPod, Namespace: pod.Namespace, Name: pod.Name, Field: "Class",
				Text: "no priority class: it tolerates no preemption",
			})
		}
	}
	return ws
}
