package naive

import (
	"strconv"
	"time"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// mayEvict says whether the preemptor may evict a unit: by priority, and if no
// guard keeps one of its pods.
func (q *question) mayEvict(u Unit) bool {
	if u.Priority > q.priority || u.Priority == q.priority && !q.mayEvictEqual(u) {
		return false
	}
	g := q.options.Guards
	if g.Protect != nil {
		if chain := q.chain(u.Pods[0]); u.Kind != cluster.KindPod {
			for _, c := range chain {
				if c.kind == u.Kind && c.name == u.Name && matches(g.Protect, c.labels) {
					return false
				}
			}
		}
	}
	if g.Cooldown.Evictions > 0 && u.Kind != cluster.KindPod {
		for _, c := range q.chain(u.Pods[0]) {
			if c.kind == u.Kind && c.name == u.Name && q.lately(c.evictions) >= int(g.Cooldown.Evictions) {
				return false
			}
		}
	}
	for _, p := range u.Pods {
		if q.keeps(p) {
			return false
		}
	}
	return true
}

// keeps says whether a guard keeps a pod.
func (q *question) keeps(p *cluster.Pod) bool {
	g, now := q.options.Guards, q.snapshot.Time
	chain := q.chain(p)
	guards := []*cluster.Guard{p.Guard}
	for _, c := range chain {
		guards = append(guards, c.guard)
	}
	class, named := q.classOf(p)
	guaranteed := g.GuaranteedSeconds
	if class.GuaranteedSeconds > 0 {
		guaranteed = class.GuaranteedSeconds
	}
	for i := len(guards) - 1; i >= 0; i-- { // the nearest has the last word
		if guards[i] == nil {
			continue
		}
		if guards[i].Standby {
			return true
		}
		if s := guards[i].GuaranteedSeconds; s != nil {
			guaranteed = *s
		}
	}
	switch {
	case g.Protect != nil && matches(g.Protect, p.Labels):
		return true
	case g.Cooldown.Evictions > 0 && q.lately(p.Evictions) >= int(g.Cooldown.Evictions):
		return true
	case guaranteed > 0 && p.Started.IsZero():
		return true
	case guaranteed > 0 && !now.IsZero() && now.Before(p.Started.Add(time.Duration(guaranteed)*time.Second)):
		return true
	}
	return named && q.tolerates(class, p)
}

// tolerates is the rule of scheduler-plugins; the options' other rules are not known here.
func (q *question) tolerates(class priority.Class, p *cluster.Pod) bool {
	const prefix = "preemption-toleration.scheduling.x-k8s.io/"
	if q.options.Guards.Toleration == "Off" {
		return false
	}
	minimum, seconds := int64(class.Value)+1, int64(0)
	if text, ok := class.Annotations[prefix+"minimum-preemptable-priority"]; ok {
		minimum, _ = strconv.ParseInt(text, 10, 32)
	}
	if text, ok := class.Annotations[prefix+"toleration-seconds"]; ok {
		seconds, _ = strconv.ParseInt(text, 10, 64)
	}
	switch {
	case int64(q.priority) >= minimum || seconds == 0:
		return false
	case seconds < 0 || p.Scheduled.IsZero():
		return true
	case seconds > 1<<33:
		return !q.snapshot.Time.IsZero() // centuries, more than a Duration holds
	}
	now := q.snapshot.Time
	return !now.IsZero() && now.Before(p.Scheduled.Add(time.Duration(seconds)*time.Second))
}

// classOf is the class that a pod names, or else the nearest group above.
func (q *question) classOf(p *cluster.Pod) (priority.Class, bool) {
	name := p.Class
	for _, c := range q.chain(p) {
		if name == "" {
			name = c.class
		}
	}
	for _, c := range q.snapshot.PriorityClasses {
		if name != "" && c.Name == name {
			return c, true
		}
	}
	return priority.Class{}, false
}

// lately counts the evictions in the window of the cool-down.
func (q *question) lately(evictions []time.Time) int {
	n, now := 0, q.snapshot.Time
	for _, t := range evictions {
		if !now.IsZero() && now.Before(t.Add(time.Duration(q.options.Guards.Cooldown.Seconds)*time.Second)) {
			n++
		}
	}
	return n
}

// mayEvictEqual says whether a unit as important as the preemptor may go.
func (q *question) mayEvictEqual(u Unit) bool {
	after, now := time.Duration(q.options.Guards.EqualAfterSeconds)*time.Second, q.snapshot.Time
	if after == 0 || now.IsZero() {
		return false
	}
	for _, t := range q.pod.Evictions {
		if now.Before(t.Add(after)) {
			return false
		}
	}
	var ran int64
	latest := u.Pods[0].Started
	for _, p := range u.Pods {
		if p.Started.IsZero() || now.Before(p.Started.Add(after)) {
			return false
		}
		ran = max(ran, p.RanSeconds)
		if p.Started.After(latest) {
			latest = p.Started
		}
	}
	if u.Kind != cluster.KindPod {
		for _, c := range q.chain(u.Pods[0]) {
			if c.kind == u.Kind && c.name == u.Name {
				ran = max(ran, c.ran)
			}
		}
	}
	return ran+int64(now.Sub(latest)/time.Second) >= q.pod.RanSeconds
}
