package preemption

import (
	"fmt"
	"time"

	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// patience says why the preemptor, which may preempt by its policy, does not do so
// yet; empty if it does.
func (q *question) patience() string {
	if q.options.NoCascade && !q.claim.Evicted.IsZero() {
		return "it was evicted itself, and evicts nobody in turn"
	}
	seconds := q.waitSeconds()
	if seconds == 0 {
		return ""
	}
	var created time.Time
	for _, m := range q.members {
		if t := m.Pod.Created; !t.IsZero() && (created.IsZero() || t.Before(created)) {
			created = t
		}
	}
	elapsed, known := q.ix.Elapsed(created)
	if !known || elapsed >= seconds {
		return ""
	}
	return fmt.Sprintf("it waits %s before it preempts, %s more", words.Seconds(seconds), words.Seconds(seconds-elapsed))
}

// waitSeconds is how long the preemptor waits. Of a group it is what the group or
// the nearest one above says, else its class; else the most that a member says.
func (q *question) waitSeconds() int64 {
	if q.group != nil {
		if s, ok := q.groupWait(q.group); ok {
			return s
		}
		if s, ok := q.classWait(q.group.Class()); ok {
			return s
		}
	}
	longest := int64(0)
	for _, m := range q.members {
		longest = max(longest, q.podWait(m.Pod))
	}
	return longest
}

// podWait is what a pod says itself, else the nearest group above, else its class
// or the nearest one that a group above names, else the options.
func (q *question) podWait(pod *cluster.Pod) int64 {
	if pod.Guard != nil && pod.Guard.WaitSeconds != nil {
		return *pod.Guard.WaitSeconds
	}
	class := pod.Class
	if g := q.ix.GroupByName(cluster.KindPodGroup, pod.Namespace, pod.Group); g != cluster.NoGroup {
		if s, ok := q.groupWait(q.ix.Group(g)); ok {
			return s
		}
		for ; g != cluster.NoGroup && class == ""; g = q.ix.Group(g).Parent {
			class = q.ix.Group(g).Class()
		}
	}
	if s, ok := q.classWait(class); ok {
		return s
	}
	return q.options.WaitSeconds
}

func (q *question) classWait(name string) (seconds int64, ok bool) {
	c, _ := q.ix.Classes().Lookup(name)
	return c.WaitSeconds, c.WaitSeconds > 0
}

// groupWait is what group g, or the nearest one above it, says.
func (q *question) groupWait(g *cluster.Group) (seconds int64, ok bool) {
	for {
		if guard := g.Guard(); guard != nil && guard.WaitSeconds != nil {
			return *guard.WaitSeconds, true
		}
		if g.Parent == cluster.NoGroup {
			return 0, false
		}
		g = q.ix.Group(g.Parent)
	}
}
