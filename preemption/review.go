package preemption

import (
	"fmt"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// review looks whether answer r can be carried out as it is.
func (q *question) review(r *Result) Validity {
	var gone []cluster.PodID
	for _, v := range r.Victims {
		running, text := q.reviewVictim(v)
		if text != "" {
			return Validity{Replan, text}
		}
		gone = append(gone, running...)
	}
	if text := q.reviewBudgets(r); text != "" {
		return Validity{Replan, text}
	}
	if q.fitsAlone(r, gone) {
		return Validity{Keep, keeps}
	}
	trial := q.gangTrial()
	for _, p := range gone {
		trial.Remove(p)
	}
	return q.reviewNominations(r, trial)
}

// keeps is why an answer holds.
const keeps = "every nominated place fits once the victims are gone"

// fitsAlone reports whether a preemptor of one pod fits at its nominated node with gone
// away. It costs that node, not the cluster; what it denies may have other reasons.
func (q *question) fitsAlone(r *Result, gone []cluster.PodID) bool {
	if q.team != nil || len(q.members) != 1 || len(r.Nominations) != 1 {
		return false
	}
	_, ok := q.memberOf(r.Nominations[0].Pod)
	at := q.ix.NodeByName(r.Nominations[0].Node)
	if !ok || at == cluster.NoNode {
		return false
	}
	trial := domain.NewNodeTrial(q.ix, q.members[0], q.states, domain.Nominees{Self: q.members[0].ID, Priority: q.priority})
	trial.Reset(at)
	for _, p := range gone {
		trial.Remove(p)
	}
	fits := trial.Fits().OK()
	trial.Restore()
	return fits
}

// reviewNominations looks whether every nominated place fits as the trial stands.
func (q *question) reviewNominations(r *Result, trial *domain.GangTrial) Validity {
	list := make([]domain.Assignment, len(r.Nominations))
	for i, n := range r.Nominations {
		m, ok := q.memberOf(n.Pod)
		at := q.ix.NodeByName(n.Node)
		switch {
		case !ok:
			return Validity{Replan, key(n.Pod.Namespace, n.Pod.Name) + " is gone or runs"}
		case at == cluster.NoNode:
			return Validity{Replan, "node " + n.Node + " is gone"}
		}
		list[i] = domain.Assignment{Member: m, Node: at}
	}
	if a, why := trial.PlaceInTurn(list); !why.OK() {
		m := q.members[a.Member]
		return Validity{Replan, fmt.Sprintf("%s does not fit any more: %s",
			key(m.Pod.Namespace, m.Pod.Name), q.reason(a.Node, m.Describe(q.ix, a.Node, why)))}
	}
	return Validity{Keep, keeps}
}

// reviewVictim lists the pods of victim v that still run. The text says why v is not
// what it was; it is empty if it is, or has left.
func (q *question) reviewVictim(v Victim) (running []cluster.PodID, text string) {
	in := map[cluster.PodID]bool{}
	for _, ref := range v.Pods {
		p := q.ix.PodByName(ref.Namespace, ref.Name)
		if p == cluster.NoPod || q.ix.Pod(p).Node == "" {
			continue // has left
		}
		if q.ix.Pod(p).Node != ref.Node {
			return nil, key(ref.Namespace, ref.Name) + " runs elsewhere by now"
		}
		in[p], running = true, append(running, p)
	}
	for _, p := range running {
		u, _ := q.units.UnitOf(p)
		switch k := q.kept(u, q.claim); {
		case k.Rule == victims.KeptPriority:
			return nil, fmt.Sprintf("%s may not be evicted any more: its priority %d is not below %d",
				q.unitName(u), k.Priority, q.priority)
		case !k.OK():
			return nil, fmt.Sprintf("%s may not be evicted any more: %s", q.unitName(u), k)
		}
		unit := q.units.Unit(u)
		if v.Surplus && unit.Elastic && q.units.GoesOn(u, func(p cluster.PodID) bool { return !in[p] }) {
			continue
		}
		for _, other := range unit.Pods {
			if !in[other] {
				ref := q.ref(other)
				return nil, key(ref.Namespace, ref.Name) + " goes with " + q.unitName(u) + " by now"
			}
		}
	}
	return running, ""
}

// reviewBudgets says which budget has less room than r counted on; empty if none.
// Victims that have left used theirs up as planned.
func (q *question) reviewBudgets(r *Result) string {
	left := map[string]int32{}
	for _, v := range r.Victims {
		for _, pod := range v.Pods {
			if p := q.ix.PodByName(pod.Namespace, pod.Name); p == cluster.NoPod || q.ix.Pod(p).Terminating {
				for _, name := range v.Budgets {
					left[name]++
				}
			}
		}
	}
	for _, room := range r.Budgets {
		b, ok := q.budgetByName(room.Namespace, room.Name)
		name := room.Namespace + "/" + room.Name
		if ok && b.Allowed+left[name] < room.Allowed {
			return fmt.Sprintf("budget %s allows %d, %d was counted on", name, b.Allowed, room.Allowed)
		}
	}
	return ""
}

func (q *question) budgetByName(namespace, name string) (*disruption.Budget, bool) {
	for i := range q.ix.NumBudgets() {
		if b := q.ix.Budget(cluster.BudgetID(i)); b.Namespace == namespace && b.Name == name {
			return b, true
		}
	}
	return nil, false
}

func (q *question) memberOf(ref PodRef) (domain.MemberID, bool) {
	for i, m := range q.members {
		if m.Pod.Namespace == ref.Namespace && m.Pod.Name == ref.Name {
			return domain.MemberID(i), true
		}
	}
	return 0, false
}

// roomOf lists the budgets that cover victims, with what they allow.
func (q *question) roomOf(list []victims.UnitID, parts victims.Parts) []BudgetRoom {
	if q.budgets.None() {
		return nil
	}
	covered := map[cluster.BudgetID]bool{}
	for _, u := range list {
		for _, p := range parts.Of(q.units, u) {
			for _, b := range q.budgets.Of(p) {
				covered[b] = true
			}
		}
	}
	var rooms []BudgetRoom
	for b := range cluster.BudgetID(q.ix.NumBudgets()) {
		if covered[b] {
			budget := q.ix.Budget(b)
			rooms = append(rooms, BudgetRoom{budget.Namespace, budget.Name, budget.Allowed})
		}
	}
	return rooms
}
