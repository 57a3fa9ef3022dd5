package review

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/preemption/internal/tell"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

// Review looks at an answer again: its question is about the cluster as it is.
type Review struct {
	*tell.Inquiry
	gathered []*tell.Inquiry // what each member asked by itself, of a gathering's plan; else nil
}

// Gone says why there is nothing left to do for r; empty if there is.
func Gone(c *live.Cluster, r *answer.Result) string {
	for _, n := range r.Nominations {
		p := c.Pod(n.Pod.Namespace, n.Pod.Name)
		if p == nil && r.Preemptor.Inline != nil || p != nil && p.Node == "" {
			return ""
		}
	}
	return "the preemptor is gone or runs"
}

// Again is the question that was asked, about the cluster as it is: about those
// who do not run yet.
func Again(c *live.Cluster, r *answer.Result) (*Review, error) {
	a := r.Preemptor
	if len(a.Gathered) > 0 {
		q, each, err := tell.ReadGathered(c, a)
		return &Review{q, each}, err
	}
	if a.Inline != nil && Adopted(r, func(ref answer.PodRef) *cluster.Pod { return c.Pod(ref.Namespace, ref.Name) }) {
		a.Inline = nil
	}
	p := tell.Again(a)
	for _, n := range r.Nominations {
		if pod := c.Pod(n.Pod.Namespace, n.Pod.Name); pod != nil && pod.Node != "" {
			delete(p.Placement, words.Key(n.Pod.Namespace, n.Pod.Name))
		}
	}
	q, err := tell.Read(c, p, tell.Caller{})
	return &Review{Inquiry: q}, err
}

// Advise says whether answer r can be carried out, with the quota as it is in m, and what that takes
// of limits.
func (q *Review) Advise(r *answer.Result, m *workload.Model) (answer.Validity, cluster.Disruption, error) {
	if queue := q.Queue(); queue != "" {
		return reviewQueued(q, m, queue, r)
	}
	return q.reviewPlain(r)
}

// reviewPlain looks whether answer r of a preemptor without a queue can be carried out.
func (q *Review) reviewPlain(r *answer.Result) (answer.Validity, cluster.Disruption, error) {
	if r.Quota != nil {
		return replan("it belongs to no queue by now"), cluster.Disruption{}, nil
	}
	if r.Verdict == answer.Feasible {
		fits, err := q.FitsAsItIs(r)
		if err != nil {
			return answer.Validity{}, cluster.Disruption{}, err
		}
		if fits {
			return cancel("it fits without evicting anybody"), cluster.Disruption{}, nil
		}
	}
	v, taken := q.look(r)
	return v, taken, nil
}

func keep(why string) answer.Validity   { return answer.Validity{Advice: answer.Keep, Reason: why} }
func replan(why string) answer.Validity { return answer.Validity{Advice: answer.Replan, Reason: why} }
func cancel(why string) answer.Validity { return answer.Validity{Advice: answer.Cancel, Reason: why} }

// Unreadable says that a question that was asked cannot be asked any more, as what it
// names is gone.
func Unreadable(err error) (text string, ok bool) {
	var field *cluster.FieldError
	if !errors.As(err, &field) {
		return "", false
	}
	return "it cannot be asked again: " + err.Error(), true
}

// Adopted reports whether what r holds inline has been added: its pods, which pod looks up,
// wait as they were given, nominated where r says, or run there.
func Adopted(r *answer.Result, pod func(answer.PodRef) *cluster.Pod) bool {
	at := map[answer.PodRef]string{}
	for _, n := range r.Nominations {
		at[n.Pod] = n.Node
	}
	inline := r.Preemptor.Inline
	for i := range inline.Pods {
		given := inline.Pods[i]
		ref := tell.RefTo(&given)
		p := pod(ref)
		if node, nominated := at[ref]; p == nil || nominated && p.Node != node && (p.Node != "" || p.NominatedNode != node) {
			return false
		}
		if inline.Group != nil {
			given.Group = inline.Group.Name
		}
		given.NominatedNode = p.NominatedNode
		if p.Node == "" && !reflect.DeepEqual(given, *p) {
			return false
		}
	}
	return true
}

// IsLeaving reports whether a pod has been told to go by a preemption.
func IsLeaving(p *cluster.Pod) bool { return p.Terminating && p.Preempted }

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
	l, err := q.NewLanding(places, pods)
	if err != nil {
		return err.Error()
	}
	for i, n := range to {
		if why := l.Seat(i, n); !why.OK() {
			pod := q.Index.Pod(pods[i])
			return fmt.Sprintf("%s cannot move to %s any more: %s",
				words.Key(pod.Namespace, pod.Name), q.Index.Node(n).Name, q.Reason(n, l.Member(i).Describe(q.Index, n, why)))
		}
	}
	return ""
}
