package review

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/tell"
	"github.com/preempt-go/preempt/victims"
)

// leaving is whom an answer still evicts.
type leaving struct {
	units []victims.UnitID
	all   victims.Parts // the pods that still run, of each unit
	fresh victims.Parts // those of them that nobody has told to go yet
	lone  int64         // workloads without pods that have not been told to go
}

// add adds a pod that still runs.
func (l *leaving) add(q *Review, p cluster.PodID) {
	u, _ := q.Units.UnitOf(p)
	if l.all[u] == nil {
		l.units = append(l.units, u)
	}
	l.all[u] = append(l.all[u], p)
	if !IsLeaving(q.Index.Pod(p)) {
		l.fresh[u] = append(l.fresh[u], p)
	}
}

// Pods calls f with every pod that still runs.
func (l *leaving) Pods(f func(cluster.PodID)) {
	for _, u := range l.units {
		for _, p := range l.all[u] {
			f(p)
		}
	}
}

// look looks whether answer r can be carried out as it is, and what it takes of limits.
func (q *Review) look(r *answer.Result) (answer.Validity, cluster.Disruption) {
	l, text := q.ReviewVictims(r.Victims)
	if text == "" {
		text = q.reviewBounds(r, l)
	}
	if text == "" {
		text = q.reviewCleared(r)
	}
	if text != "" {
		return replan(text), cluster.Disruption{}
	}
	if !q.FitsAlone(r, l) {
		trial := q.reviewTrial(r)
		l.Pods(trial.Remove)
		if v := q.ReviewNominations(r, trial); v.Advice != answer.Keep {
			return v, cluster.Disruption{}
		}
	}
	if text := q.reviewMoves(r); text != "" {
		return replan(text), cluster.Disruption{}
	}
	return keep(keeps), q.taken(l)
}

// keeps is why an answer holds.
const keeps = "every nominated place fits once the victims are gone"

// FitsAlone reports whether a preemptor of one pod fits at its nominated node with those
// of l away. It costs that node, not the cluster; what it denies may have other reasons.
func (q *Review) FitsAlone(r *answer.Result, l *leaving) bool {
	if q.Tree != nil || len(q.Members) != 1 || len(r.Nominations) != 1 {
		return false
	}
	at := q.placeOf(r, 0)
	if at == cluster.NoNode {
		return false
	}
	trial := domain.NewNodeTrial(q.Index, q.Members[0], q.States, domain.Nominees{Self: q.Members[0].ID, Priority: q.Priority})
	trial.Reset(at)
	l.Pods(trial.Remove)
	fits := trial.Fits().OK()
	trial.Restore()
	return fits
}

// ReviewNominations looks whether every nominated place fits as the trial stands, whose
// members it leaves unplaced.
func (q *Review) ReviewNominations(r *answer.Result, trial *domain.GangTrial) answer.Validity {
	defer trial.UnplaceTo(0)
	places, text := q.placesOf(r)
	if text != "" {
		return replan(text)
	}
	if a, why := trial.PlaceInTurn(places); !why.OK() {
		m := q.Members[a.Member]
		return replan(fmt.Sprintf("%s does not fit any more: %s",
			words.Key(m.Pod.Namespace, m.Pod.Name), q.Reason(a.Node, m.Describe(q.Index, a.Node, why))))
	}
	if q.Tree != nil {
		if text := q.reviewTeam(trial); text != "" {
			return replan(text)
		}
	}
	return keep(keeps)
}

// placesOf lists where r nominates members that do not run yet, in their order. The text
// says what is in the way; it is empty if nothing is.
func (q *Review) placesOf(r *answer.Result) (places []domain.Assignment, text string) {
	members := make(map[answer.PodRef]domain.MemberID, len(q.Members))
	for i, m := range q.Members {
		members[tell.RefTo(m.Pod)] = domain.MemberID(i)
	}
	for _, n := range r.Nominations {
		name := words.Key(n.Pod.Namespace, n.Pod.Name)
		p, at := q.Index.PodByName(n.Pod.Namespace, n.Pod.Name), q.Index.NodeByName(n.Node)
		m, ok := members[n.Pod]
		switch {
		case p != cluster.NoPod && q.Index.Pod(p).Node == n.Node:
			// carried out
		case p != cluster.NoPod && q.Index.Pod(p).Node != "":
			return nil, name + " runs elsewhere by now"
		case !ok:
			return nil, name + " is gone, or not the preemptor's any more"
		case at == cluster.NoNode:
			return nil, "node " + n.Node + " is gone"
		default:
			places = append(places, domain.Assignment{Member: m, Node: at})
		}
	}
	slices.SortFunc(places, func(a, b domain.Assignment) int { return cmp.Compare(a.Member, b.Member) })
	return places, ""
}

// reviewTeam says why the groups of the preemptor may not run with the members that are
// placed; empty if they may.
func (q *Review) reviewTeam(trial *domain.GangTrial) string {
	if q.Splitter == nil {
		if text := q.Stray(trial.At); text != "" {
			return text
		}
	}
	seated := func(m domain.MemberID) bool { return trial.At(m) != cluster.NoNode }
	if !q.Tree.Satisfied(func(leaf *seating.Group) bool { return numOf(leaf.Members, seated) >= leaf.Need() }) {
		return q.Tree.Name + " does not run with so few members"
	}
	return ""
}

func numOf[T any](list []T, is func(T) bool) int {
	n := 0
	for _, v := range list {
		if is(v) {
			n++
		}
	}
	return n
}

// ReviewVictims lists whom list still evicts. The text says which victim is not what it
// was; it is empty if all are, or have left.
func (q *Review) ReviewVictims(list []answer.Victim) (l *leaving, text string) {
	l = &leaving{all: victims.Parts{}, fresh: victims.Parts{}}
	surplus := map[victims.UnitID]bool{}
	for _, v := range list {
		for _, ref := range v.Pods {
			p := q.Index.PodByName(ref.Namespace, ref.Name)
			if p == cluster.NoPod || q.Index.Pod(p).Node == "" {
				continue // has left
			}
			if q.Index.Pod(p).Node != ref.Node {
				return nil, words.Key(ref.Namespace, ref.Name) + " runs elsewhere by now"
			}
			u, _ := q.Units.UnitOf(p)
			surplus[u] = v.Surplus
			l.add(q, p)
		}
	}
	for _, u := range l.units {
		if text := q.reviewUnit(u, l.all[u], surplus[u]); text != "" {
			return nil, text
		}
	}
	return l, ""
}

// reviewUnit says why those pods of unit u may not go; empty if they may.
func (q *Review) reviewUnit(u victims.UnitID, pods []cluster.PodID, surplus bool) string {
	unit := q.Units.Unit(u)
	switch k := q.keptFromAll(u); {
	case k.Rule == victims.KeptPriority:
		return fmt.Sprintf("%s may not be evicted any more: its priority %d is not below %d", q.UnitName(u), k.Priority, q.Priority)
	case !k.OK():
		return fmt.Sprintf("%s may not be evicted any more: %s", q.UnitName(u), k)
	case q.Tree != nil && q.Own(unit):
		return q.UnitName(u) + " belongs to the preemptor"
	}
	gone := slices.Sorted(slices.Values(pods))
	goes := func(p cluster.PodID) bool { _, out := slices.BinarySearch(gone, p); return out }
	if surplus && unit.Elastic && q.Units.GoesOn(u, func(p cluster.PodID) bool { return !goes(p) }) {
		return ""
	}
	for _, other := range unit.Pods {
		if !goes(other) {
			ref := tell.RefTo(q.Index.Pod(other))
			return words.Key(ref.Namespace, ref.Name) + " goes with " + q.UnitName(u) + " by now"
		}
	}
	return ""
}

// reviewBounds says why those of l may not go all at once; empty if they may. What has been
// told to go already counts for what one preemption may take, and not again for hard
// budgets and windows.
func (q *Review) reviewBounds(r *answer.Result, l *leaving) string {
	if text := q.reviewBudgets(r); text != "" {
		return text
	}
	if len(l.fresh) == 0 && l.lone == 0 {
		return ""
	}
	if text := q.evictsNobody(); text != "" {
		return text
	}
	for _, b := range q.Bounds(l.units) {
		parts := l.all
		if b.Of == ask.Charges || b.Window {
			parts = l.fresh
		}
		sum := int64(0)
		for u, pods := range parts {
			sum = checked.Add(sum, q.WeightOf(b, u, pods))
		}
		if b.Of == ask.NumUnits {
			sum = checked.Add(sum, l.lone)
		}
		if sum > b.Room() {
			return fmt.Sprintf("it evicts more than %s allows: %d of %d", q.BoundName(b), sum, b.Room())
		}
	}
	return ""
}

// reviewCleared says whose nomination r may not withdraw; empty if it may all.
func (q *Review) reviewCleared(r *answer.Result) string {
	for _, ref := range r.Cleared {
		p := q.Index.PodByName(ref.Namespace, ref.Name)
		if p != cluster.NoPod && q.Index.NominatedTo(p) != cluster.NoNode && q.Index.Priority(p) >= q.Priority {
			return "the nomination of " + words.Key(ref.Namespace, ref.Name) + " may not be withdrawn: it is not less important"
		}
	}
	return ""
}

// taken is what those of l who have not been told to go yet take of limits.
func (q *Review) taken(l *leaving) cluster.Disruption {
	d := cluster.Disruption{Victims: int64(len(l.fresh)) + l.lone}
	for u, pods := range l.fresh {
		d.Pods, d.Cost = d.Pods+int64(len(pods)), checked.Add(d.Cost, q.PriceOf(u, pods))
	}
	return d
}

// reviewBudgets says which budget has less room than r counted on; empty if none.
// Victims that have left used theirs up as planned.
func (q *Review) reviewBudgets(r *answer.Result) string {
	left := map[string]int64{}
	for _, v := range r.Victims {
		for _, pod := range v.Pods {
			if p := q.Index.PodByName(pod.Namespace, pod.Name); p == cluster.NoPod || q.Index.Pod(p).Terminating || q.Index.Pod(p).Node == "" {
				for _, name := range v.Budgets {
					left[name]++
				}
			}
		}
	}
	budget := func(i int) *disruption.Budget { return q.Index.Budget(cluster.BudgetID(i)) }
	for _, room := range r.Budgets {
		of, name := disruption.Budget{Namespace: room.Namespace, Name: room.Name}, room.Namespace+"/"+room.Name
		i, ok := sort.Find(q.Index.NumBudgets(), func(i int) int { return of.Compare(*budget(i)) })
		if ok && int64(budget(i).Allowed)+left[name] < int64(room.Allowed) {
			return fmt.Sprintf("budget %s allows %d, %d was counted on", name, budget(i).Allowed, room.Allowed)
		}
	}
	return ""
}

// evictsNobody says why the preemptor may not evict anybody; empty if it may, or one of the
// pods of a gathering.
func (q *Review) evictsNobody() (text string) {
	for _, one := range q.gathered {
		if text = one.Refusal(one.Unwilling()); text == "" {
			return ""
		}
	}
	if text == "" {
		text = q.Refusal(q.Barred())
	}
	if text == "" {
		text = q.Refusal(q.Unwilling())
	}
	return text
}
