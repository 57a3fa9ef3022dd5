package preemption

import (
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/workload"
	"github.com/preempt-go/preempt/reprieve"
)

// refusal says why w cannot be admitted to its queue.
func refusal(m *workload.Model, w *Workload, refused workload.Refused) string {
	queue := m.Index.LocalQueue(w.Namespace, w.Queue).ClusterQueue
	switch refused {
	case workload.Cyclic:
		return "the cohort of ClusterQueue " + queue + " is part of a cycle"
	case workload.Stopped:
		return "its LocalQueue is stopped"
	}
	return "its ClusterQueue is inactive: " + m.Index.Inactive(m.Index.QueueByName(queue))
}

// objection says why a flavor is not taken, or not as it is.
func objection(m *workload.Model, o workload.Objection) string {
	switch o.Kind {
	case workload.NoQuota:
		return "the queue has no quota of " + o.Resource
	case workload.Tainted:
		return fmt.Sprintf("flavor %s: taint %s is not tolerated", m.Index.FlavorName(o.Flavor), o.Taint)
	case workload.Unmatched:
		return fmt.Sprintf("flavor %s: node affinity does not hold", m.Index.FlavorName(o.Flavor))
	case workload.TooMuch:
		return fmt.Sprintf("flavor %s: %d %s asked, at most %d to be had", flavorOf(m, o.Column), o.Amount, m.Index.ResourceName(o.Column), o.Most)
	}
	return fmt.Sprintf("flavor %s: %d more %s needed", flavorOf(m, o.Column), o.Amount, m.Index.ResourceName(o.Column))
}

func flavorOf(m *workload.Model, c cluster.ColumnID) string {
	return m.Index.FlavorName(m.Index.FlavorOf(c))
}

// waiting says of a workload that it has not waited long enough.
func waiting(seconds int64) string {
	return fmt.Sprintf("it waits %d more seconds before it may evict others", seconds)
}

// tellPlan puts a plan for workload w of queue q into words and names.
func tellPlan(m *workload.Model, w *Workload, q cluster.QuotaID, p *workload.Plan) *Result {
	r := &Result{Warnings: m.Warnings(), Stats: Stats{Trials: p.Trials}}
	queue := m.Index.Name(q)
	r.Quota = &QuotaResult{ClusterQueue: queue}
	if !p.Helps() {
		r.Verdict, r.Message = Infeasible, "no evictions help: "+queue+" has no quota for it"
		if p.Waits > 0 && p.Possible {
			r.Verdict, r.Message = NotEligible, waiting(p.Waits)
		}
		var why []string
		for _, o := range p.Objections {
			why = append(why, objection(m, o))
		}
		r.Rejected = countReasons(why)
		for _, c := range p.Reserved {
			r.Quota.Reserved = append(r.Quota.Reserved, FlavorChoice{Resource: m.Index.ResourceName(c.Column), Flavor: flavorOf(m, c.Column), Amount: c.Amount})
		}
		return r
	}
	r.Quota.Borrowing, r.Quota.Counts = p.Level, p.Counts
	for _, t := range p.Taken {
		r.Quota.Flavors = append(r.Quota.Flavors, FlavorChoice{
			PodSet: w.PodSets[t.Set].Name, Resource: t.Resource, Flavor: flavorOf(m, t.Column), Amount: t.Amount, Contested: t.Contested,
		})
	}
	switch {
	case p.FitsNow:
		r.Verdict, r.Message = Fits, "fits the quota of "+queue+" without preemption"
	case p.Fits:
		r.Verdict, r.Message = Waiting, "fits the quota of "+queue+leftLater
	default:
		r.Verdict = Feasible
		r.Message = fmt.Sprintf("fits the quota of %s once %s evicted", queue, are(len(p.Victims), "workload"))
		r.Victims = tellVictims(m, p.Victims)
	}
	return r
}

// leftLater is said of what fits, but for victims of earlier answers that still hold quota.
const leftLater = " once the victims of others have left"

func are(n int, what string) string {
	if n == 1 {
		return "1 " + what + " is"
	}
	return fmt.Sprintf("%d %ss are", n, what)
}

// countReasons counts equal sentences, the most frequent first.
func countReasons(why []string) []Rejection {
	slices.Sort(why)
	var list []Rejection
	for _, text := range why {
		if n := len(list); n > 0 && list[n-1].Reason == text {
			list[n-1].Domains++
		} else {
			list = append(list, Rejection{Reason: text, Domains: 1})
		}
	}
	slices.SortStableFunc(list, func(a, b Rejection) int { return b.Domains - a.Domains })
	return list
}

// tellVictims describes victims.
func tellVictims(m *workload.Model, list []workload.Victim) []Victim {
	victims, told := make([]Victim, len(list)), make([]QuotaVictim, len(list))
	reasons := map[workload.Lack]Reason{} // few
	for i := range list {
		victimOf(m, &victims[i], &told[i], &list[i].QuotaVictim)
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
func victimOf(m *workload.Model, victim *Victim, told *QuotaVictim, v *reprieve.QuotaVictim) {
	w := v.Workload
	victim.Kind, victim.Namespace, victim.Name, victim.Priority = cluster.KindWorkload, w.Namespace, w.Name, w.Priority
	*told = QuotaVictim{
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
		victim.Kind, victim.Mode = cluster.KindPodGroup, ix.Group(g).Mode
	}
	for _, p := range pods {
		pod := ix.Pod(p)
		victim.Pods = append(victim.Pods, VictimPod{PodRef: refTo(pod), Node: pod.Node, Priority: ix.Priority(p), Started: pod.Started})
	}
}

// lacking is what a preemptor lacks.
func lacking(m *workload.Model, l workload.Lack) Reason {
	if l.Column == cluster.NoColumn {
		return Reason{Check: CheckQuota}
	}
	how := ""
	if l.Borrows {
		how = ", without borrowing"
	}
	return Reason{
		Check: CheckQuota, Resource: m.Index.ResourceName(l.Column), Missing: l.Missing, Detail: "flavor " + flavorOf(m, l.Column) + how,
	}
}
