package tell

import (
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

// RefusalText says why w cannot be admitted to its queue.
func RefusalText(m *workload.Model, w *cluster.Workload, refused workload.Refused) string {
	queue := m.Index.LocalQueue(w.Namespace, w.Queue).ClusterQueue
	switch refused {
	case workload.Cyclic:
		return "the cohort of ClusterQueue " + queue + " is part of a cycle"
	case workload.Stopped:
		return "its LocalQueue is stopped"
	}
	return "its ClusterQueue is inactive: " + m.Index.Inactive(m.Index.QueueByName(queue))
}

// Objection says why a flavor is not taken, or not as it is.
func Objection(m *workload.Model, o workload.Objection) string {
	switch o.Kind {
	case workload.NoQuota:
		return "the queue has no quota of " + o.Resource
	case workload.Tainted:
		return fmt.Sprintf("flavor %s: taint %s is not tolerated", m.Index.FlavorName(o.Flavor), o.Taint)
	case workload.Unmatched:
		return fmt.Sprintf("flavor %s: node affinity does not hold", m.Index.FlavorName(o.Flavor))
	case workload.TooMuch:
		return fmt.Sprintf("flavor %s: %d %s asked, at most %d to be had", FlavorOf(m, o.Column), o.Amount, m.Index.ResourceName(o.Column), o.Most)
	}
	return fmt.Sprintf("flavor %s: %d more %s needed", FlavorOf(m, o.Column), o.Amount, m.Index.ResourceName(o.Column))
}

// FlavorOf names the flavor of a column.
func FlavorOf(m *workload.Model, c quota.ColumnID) string {
	return m.Index.FlavorName(m.Index.FlavorOf(c))
}

// WaitsLonger says of a workload that it has not waited long enough.
func WaitsLonger(seconds int64) string {
	return fmt.Sprintf("it waits %d more seconds before it may evict others", seconds)
}

// tellPlan puts a plan for workload w of queue q into words and names.
func tellPlan(m *workload.Model, w *cluster.Workload, q quota.HolderID, p *workload.Plan) *answer.Result {
	r := &answer.Result{Warnings: live.Few(m.Warnings()), Stats: answer.Stats{Trials: p.Trials}}
	queue := m.Index.Name(q)
	r.Quota = &answer.QuotaResult{ClusterQueue: queue}
	if !p.Helps() {
		r.Verdict, r.Message = answer.Infeasible, "no evictions help: "+queue+" has no quota for it"
		if p.Waits > 0 && p.Possible {
			r.Verdict, r.Message = answer.NotEligible, WaitsLonger(p.Waits)
		}
		var why []string
		for _, o := range p.Objections {
			why = append(why, Objection(m, o))
		}
		r.Rejected = countReasons(why)
		for _, c := range p.Reserved {
			r.Quota.Reserved = append(r.Quota.Reserved, answer.FlavorChoice{Resource: m.Index.ResourceName(c.Column), Flavor: FlavorOf(m, c.Column), Amount: c.Amount})
		}
		return r
	}
	r.Quota.Borrowing, r.Quota.Counts = p.Level, p.Counts
	for _, t := range p.Taken {
		r.Quota.Flavors = append(r.Quota.Flavors, answer.FlavorChoice{
			PodSet: w.PodSets[t.Set].Name, Resource: t.Resource, Flavor: FlavorOf(m, t.Column), Amount: t.Amount, Contested: t.Contested,
		})
	}
	switch {
	case p.FitsNow:
		r.Verdict, r.Message = answer.Fits, "fits the quota of "+queue+" without preemption"
	case p.Fits:
		r.Verdict, r.Message = answer.Waiting, "fits the quota of "+queue+LeftLater
	default:
		r.Verdict = answer.Feasible
		r.Message = fmt.Sprintf("fits the quota of %s once %s evicted", queue, are(len(p.Victims), "workload"))
		r.Victims = tellVictims(m, p.Victims)
		if p.Least != nil {
			r.Stats.Searched = 1
			leastOf(m, r, p.Least)
		}
	}
	return r
}

// LeftLater is said of what fits, but for victims of earlier answers that still hold quota.
const LeftLater = " once the victims of others have left"

func are(n int, what string) string {
	if n == 1 {
		return "1 " + what + " is"
	}
	return fmt.Sprintf("%d %ss are", n, what)
}

// countReasons counts equal sentences, the most frequent first.
func countReasons(why []string) []answer.Rejection {
	slices.Sort(why)
	var list []answer.Rejection
	for _, text := range why {
		if n := len(list); n > 0 && list[n-1].Reason == text {
			list[n-1].Domains++
		} else {
			list = append(list, answer.Rejection{Reason: text, Domains: 1})
		}
	}
	slices.SortStableFunc(list, func(a, b answer.Rejection) int { return b.Domains - a.Domains })
	return list
}

// tellVictims describes victims.
func tellVictims(m *workload.Model, list []workload.Victim) []answer.Victim {
	victims, told := make([]answer.Victim, len(list)), make([]answer.QuotaVictim, len(list))
	reasons := map[workload.Lack]answer.Reason{} // few
	for i := range list {
		victimOf(m, &victims[i], &told[i], &list[i].Victim)
		lack := list[i].Lack
		if i > 0 && lack == list[i-1].Lack {
			victims[i].Reason = victims[i-1].Reason
			continue
		}
		if _, ok := reasons[lack]; !ok {
			reasons[lack] = lacking(m, lack)
		}
		victims[i].Reason = reasons[lack]
	}
	return victims
}

// victimOf describes a victim, without why it cannot stay.
func victimOf(m *workload.Model, victim *answer.Victim, told *answer.QuotaVictim, v *quotasearch.Victim) {
	w := v.Workload
	victim.Kind, victim.Namespace, victim.Name, victim.Priority = cluster.KindWorkload, w.Namespace, w.Name, w.Priority
	*told = answer.QuotaVictim{
		ClusterQueue: m.Index.Name(v.Queue), Reason: v.Reason, Priority: v.Priority,
		Evicted: v.Evicted, OnPreemption: w.OnPreemption,
	}
	victim.Quota = told
	pods, ix := m.Pods.Of[v.Reservation], m.Pods.Cluster
	if pods == nil {
		return
	}
	victim.Kind = cluster.KindPod
	if g := m.Pods.GroupOf(pods[0]); g != cluster.NoGroup {
		victim.Kind, victim.Mode = ix.Group(g).Kind, ix.Group(g).Mode
	}
	for _, p := range pods {
		pod := ix.Pod(p)
		victim.Pods = append(victim.Pods, answer.VictimPod{PodRef: RefTo(pod), Node: pod.Node, Priority: ix.Priority(p), Started: pod.Started})
	}
}

// lacking is what a preemptor lacks.
func lacking(m *workload.Model, l workload.Lack) answer.Reason {
	if l.Column == quota.NoColumn {
		return answer.Reason{Check: answer.CheckQuota}
	}
	how := ""
	if l.Borrows {
		how = ", without borrowing"
	}
	return answer.Reason{
		Check: answer.CheckQuota, Resource: m.Index.ResourceName(l.Column), Missing: l.Missing, Detail: "flavor " + FlavorOf(m, l.Column) + how,
	}
}
