package tell

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/gang"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/victims"
)

// RefTo names a pod.
func RefTo(pod *cluster.Pod) answer.PodRef {
	return answer.PodRef{Namespace: pod.Namespace, Name: pod.Name}
}

// freeSteps tells which units of list cost nothing, as their gangs are broken.
func (q *Inquiry) freeSteps(list []victims.UnitID) []answer.Step {
	var steps []answer.Step
	if !q.BrokenFree {
		return nil
	}
	for _, u := range q.Units.Sorted(list) {
		if q.Broken(u) {
			name := q.UnitName(u)
			steps = append(steps, answer.Step{Action: answer.ActionFree, Unit: name, Text: "free " + name + ": its gang runs below its minCount"})
		}
	}
	return steps
}

// attempt is how the return of a unit went.
type attempt struct {
	violates bool
	why      domain.Reason
}

// victim spells out unit u, of which those pods go. They are written to the start of room if that is
// large enough.
func (q *Inquiry) victim(u victims.UnitID, pods []cluster.PodID, a attempt, n cluster.NodeID, room []answer.VictimPod) answer.Victim {
	unit := q.Units.Unit(u)
	v := answer.Victim{Kind: cluster.KindPod, Priority: unit.Priority, Cost: q.PriceOf(u, pods), Violates: a.violates, Reason: q.Reason(n, a.why)}
	if unit.Group != cluster.NoGroup {
		g := q.Index.Group(unit.Group)
		v.Kind, v.Namespace, v.Name, v.Mode = g.Kind, g.Namespace, g.Name, g.Mode
	} else {
		pod := q.Index.Pod(unit.Pods[0])
		v.Namespace, v.Name = pod.Namespace, pod.Name
	}
	v.Surplus = len(pods) < len(unit.Pods)
	if !q.manyPods(u, pods) {
		v.Pods, v.Budgets = q.toldPods(pods, room)
		return v
	}
	known, told := q.large[u]
	if !told {
		known.Pods, known.Budgets = q.toldPods(pods, nil)
		if q.large == nil {
			q.large = map[victims.UnitID]answer.Victim{}
		}
		q.large[u] = known
	}
	v.Pods, v.Budgets = known.Pods, known.Budgets
	return v
}

// manyPods reports whether those pods are all of unit u, and so many that candidates share what is
// told of them.
func (q *Inquiry) manyPods(u victims.UnitID, pods []cluster.PodID) bool {
	const few = 16
	return len(pods) > few && len(pods) == len(q.Units.Unit(u).Pods)
}

// toldPods spells out pods and the budgets that cover them. Pods are written to the start of room if that is
// large enough.
func (q *Inquiry) toldPods(pods []cluster.PodID, room []answer.VictimPod) (list []answer.VictimPod, budgets []string) {
	list = slices.Grow(room[:0:len(room)], len(pods))
	for _, p := range pods {
		pod := q.Index.Pod(p)
		list = append(list, answer.VictimPod{PodRef: RefTo(pod), Node: pod.Node, Priority: q.Index.Priority(p), Started: pod.Started})
		for _, b := range q.Budgets.Of(p) {
			budgets = append(budgets, q.budgetName(b))
		}
	}
	slices.Sort(budgets)
	return slices.Clip(list), slices.Clip(slices.Compact(budgets))
}

// budgetName is the namespace and name of budget b.
func (q *Inquiry) budgetName(b cluster.BudgetID) string {
	if q.budgetNames == nil {
		q.budgetNames = make([]string, q.Index.NumBudgets())
	}
	if q.budgetNames[b] == "" {
		q.budgetNames[b] = q.Index.Budget(b).Namespace + "/" + q.Index.Budget(b).Name
	}
	return q.budgetNames[b]
}

// Reason puts into words why the preemptor does not fit on node n, or with NoNode
// in a domain of several.
func (q *Inquiry) Reason(n cluster.NodeID, why domain.Reason) answer.Reason {
	r := answer.Reason{Check: why.Check, Missing: why.Missing, Detail: q.detail(why), Unresolvable: why.Unresolvable}
	switch why.Check {
	case domain.CheckResource:
		r.Resource = resourceName(q.Index, why)
	case ask.OverBudget, ask.OverLimit:
		r.Missing = 0
	}
	if n != cluster.NoNode {
		why.Detail = r.Detail
		r.Node, r.Detail = q.Index.Node(n).Name, q.Members[0].Describe(q.Index, n, why).Detail
	}
	return r
}

// detail is the detail of a reason in words.
func (q *Inquiry) detail(why domain.Reason) string {
	switch why.Check {
	case ask.OverBudget, ask.OverLimit:
		text := ""
		if b, ok := ask.BoundOf(why); ok {
			text = q.BoundName(b)
		}
		if why.Detail == ask.NotProved {
			text += " (not found, not proved)"
		}
		return text
	case ask.NoPlacement:
		switch why.Detail {
		case gang.Strays:
			return q.Stray(q.givenAt)
		case gang.TooFew:
			return "the placement given has too few members"
		}
	}
	return why.Detail
}

func resourceName(ix *cluster.Index, why domain.Reason) string {
	if why.Resource == domain.NoResource {
		return why.Detail
	}
	return ix.Resource(why.Resource)
}

// sayRejections puts rejections, counted by what is alike, into words.
func (q *Inquiry) sayRejections(alike map[domain.Reason]int) []answer.Rejection {
	counts := map[string]int{}
	for why, n := range alike {
		counts[q.rejection(why)] += n
	}
	var list []answer.Rejection
	for reason, n := range counts {
		list = append(list, answer.Rejection{Reason: reason, Domains: n})
	}
	slices.SortFunc(list, func(a, b answer.Rejection) int {
		return cmp.Or(cmp.Compare(b.Domains, a.Domains), cmp.Compare(a.Reason, b.Reason))
	})
	return list
}

// rejection is why in a few words, without what differs from node to node.
func (q *Inquiry) rejection(why domain.Reason) string {
	switch {
	case why.Check == domain.CheckResource:
		return "not enough " + resourceName(q.Index, why)
	case why.Check == ask.NoPlacement && why.Detail != "":
		return q.detail(why)
	case why.Check == ask.OverBudget || why.Check == ask.OverLimit:
		return fmt.Sprintf("%s %s stands in the way", why.Check, q.detail(why))
	case why.Check == ask.NotTogether:
		return notTogether
	case why.Check == ask.NoVictims && why.Detail == ask.AllKept:
		return "guards keep everybody who could be evicted"
	case why.Check == ask.NoVictims:
		return fmt.Sprintf("nobody below priority %d to evict", q.Priority)
	}
	return string(why.Check)
}

// notTogether says why victims who have to move can't all do so.
const notTogether = "the victims have other places one by one, not together"

// areEvicted names the groups among the victims that go as a whole, and counts the
// other pods.
func areEvicted(list []answer.Victim) string {
	const most = 2 // groups that are named
	var parts []string
	pods, groups := 0, 0
	for i := range list {
		v := &list[i] // large
		switch {
		case v.Kind == cluster.KindPod:
			pods++
		case len(parts) < most:
			kind := "pod group "
			if v.Kind == cluster.KindCompositePodGroup {
				kind = "composite group "
			}
			parts = append(parts, fmt.Sprintf("%s%s (%s)", kind, words.Key(v.Namespace, v.Name), words.Count(len(v.Pods), "pod")))
		default:
			groups++
		}
	}
	if groups > 0 {
		parts = append(parts, words.Count(groups, "more group"))
	}
	if pods > 0 {
		parts = append(parts, words.Count(pods, "pod"))
	}
	last := len(parts) - 1
	if last > 0 {
		return strings.Join(parts[:last], ", ") + " and " + parts[last] + " are evicted"
	}
	if pods > 1 {
		return parts[0] + " are evicted"
	}
	return parts[0] + " is evicted"
}

// scoreText lists the criteria in words: a start is a time, unless nobody has one.
func (q *Inquiry) scoreText(score victims.Score) string {
	var parts []string
	for _, c := range q.criteria(score) {
		value := fmt.Sprint(c.Value)
		if c.Name == string(victims.CriterionStarted) {
			if value = "unknown"; score.Started != math.MaxInt64 && score.Started != math.MinInt64 {
				value = time.Unix(0, score.Started).UTC().Format(time.RFC3339Nano)
			}
		}
		parts = append(parts, c.Name+" "+value)
	}
	return strings.Join(parts, ", ")
}

// UnitName is the namespace and name of the pod or group that goes as a whole.
func (q *Inquiry) UnitName(u victims.UnitID) string {
	unit := q.Units.Unit(u)
	if unit.Group != cluster.NoGroup {
		g := q.Index.Group(unit.Group)
		return words.Key(g.Namespace, g.Name)
	}
	pod := q.Index.Pod(unit.Pods[0])
	return words.Key(pod.Namespace, pod.Name)
}

// verdicts are those of searches in words.
var verdicts = [...]answer.Verdict{
	ask.Feasible: answer.Feasible, ask.Fits: answer.Fits, ask.NotEligible: answer.NotEligible, ask.Waiting: answer.Waiting, ask.Infeasible: answer.Infeasible,
}

// Refusal is a refusal in words; empty for none.
func (q *Inquiry) Refusal(r ask.Refusal) string {
	switch r.Why {
	case ask.NoComposites:
		return "these rules know no composite groups"
	case ask.GroupPreempts:
		pod := q.Members[0].Pod
		return "it belongs to pod group " + words.Key(pod.Namespace, pod.Group) + ": its group preempts"
	case ask.RootPreempts:
		root := q.Index.Group(r.Root)
		return "its composite group " + words.Key(root.Namespace, root.Name) + " preempts"
	case ask.NoTopology:
		return "these rules preempt for no group with topology constraints"
	case ask.OtherPriority:
		return "the priority of " + q.memberName(r.Member) + " differs from that of its group"
	case ask.OtherPolicy:
		return "the preemption policy of " + q.memberName(r.Member) + " differs from that of its group"
	case ask.NeverPreempts:
		return "its preemption policy is Never"
	case ask.MemberNever:
		return "the preemption policy of " + q.memberName(r.Member) + " is Never"
	case ask.WasEvicted:
		return "it was evicted itself, and evicts nobody in turn"
	case ask.WaitsFirst:
		return "it waits " + words.Seconds(r.Wait) + " before it preempts, " + words.Seconds(r.Left) + " more"
	}
	return ""
}

// memberName is the namespace and name of member m.
func (q *Inquiry) memberName(m domain.MemberID) string {
	pod := q.Members[m].Pod
	return words.Key(pod.Namespace, pod.Name)
}

// stillTerminating says that victims on node n are to be waited for.
func (q *Inquiry) stillTerminating(n cluster.NodeID) string {
	return "victims on its nominated node " + q.Index.Node(n).Name + " are still terminating"
}

// limitNames are the names of limits, as relaxations and texts have them.
var limitNames = map[ask.Measure]string{ask.NumUnits: "victims", ask.NumPods: "pods", ask.Price: "cost", ask.NumStranded: "pods without a place"}

// BoundName names a bound: a hard budget by namespace and name.
func (q *Inquiry) BoundName(b ask.Bound) string {
	switch {
	case b.Of == ask.Charges:
		return q.budgetName(b.Budget)
	case b.Window:
		return limitNames[b.Of] + " in the window"
	}
	return limitNames[b.Of]
}

// RoomFor says what pending pod p lacks on node n beside those who run there; its Check is
// empty if nothing.
func RoomFor(c *live.Cluster, p *cluster.Pod, n cluster.NodeID) answer.Reason {
	why := domain.NewMember(c.Index, p, c.Index.PodByName(p.Namespace, p.Name)).Room(c.Index, n)
	r := answer.Reason{Check: why.Check, Missing: why.Missing, Detail: why.Detail}
	if why.Check == domain.CheckResource {
		r.Resource = resourceName(c.Index, why)
	}
	return r
}

// criteria spells out a score.
func (q *Inquiry) criteria(score victims.Score) []answer.Criterion {
	names, values := q.Ranking.Criteria(), q.Ranking.Values(score)
	list := make([]answer.Criterion, len(names))
	for i, name := range names {
		list[i] = answer.Criterion{Name: string(name), Value: values[i]}
	}
	return list
}

// roomOf lists the budgets that cover victims, with what they allow.
func (q *Inquiry) roomOf(list []victims.UnitID, parts victims.Parts) []answer.BudgetRoom {
	if q.Budgets.None() {
		return nil
	}
	covered := map[cluster.BudgetID]bool{}
	for _, u := range list {
		for _, p := range parts.Of(q.Units, u) {
			for _, b := range q.Budgets.Of(p) {
				covered[b] = true
			}
		}
	}
	var rooms []answer.BudgetRoom
	for b := range cluster.BudgetID(q.Index.NumBudgets()) {
		if covered[b] {
			budget := q.Index.Budget(b)
			rooms = append(rooms, answer.BudgetRoom{Namespace: budget.Namespace, Name: budget.Name, Allowed: budget.Allowed})
		}
	}
	return rooms
}
