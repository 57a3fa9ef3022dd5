package review

import (
	"fmt"

	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// reviewMoves says who can't go any more where r lets it move; empty if all can who are not there yet. Those who are gone,
// and are made anew under other names perhaps, are not looked for.
func (q *Review) reviewMoves(r *answer.Result) string {
	var pods []cluster.PodID
	var to []cluster.NodeID
	for _, m := range r.Moves {
		p, n := q.Index.PodByName(m.Pod.Namespace, m.Pod.Name), q.Index.NodeByName(m.Node)
		switch {
		case n == cluster.NoNode:
			return "node " + m.Node + " is gone"
		case p != cluster.NoPod && q.Index.NodeOf(p) != n:
			pods, to = append(pods, p), append(to, n)
		}
	}
	places, text := q.placesOf(r)
	if text != "" || len(pods) == 0 {
		return text
	}
	l := q.NewLanding(places, pods)
	for i, n := range to {
		if why := l.Seat(i, n); !why.OK() {
			pod := q.Index.Pod(pods[i])
			return fmt.Sprintf("%s cannot move to %s any more: %s",
				words.Key(pod.Namespace, pod.Name), q.Index.Node(n).Name, q.Reason(n, l.Member(i).Describe(q.Index, n, why)))
		}
	}
	return ""
}
