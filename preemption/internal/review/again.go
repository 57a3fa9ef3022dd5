package review

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/preemption/internal/tell"
	"github.com/preempt-go/preempt/preemption/internal/workload"
	"github.com/preempt-go/preempt/victims"
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

// FitsAsItIs reports whether the preemptor fits with everybody in place.
func (q *Review) FitsAsItIs(r *answer.Result) (bool, error) {
	switch {
	case q.gathered != nil:
		return q.fitOneByOne(r), nil
	case q.Tree == nil:
		s := q.SearchPod()
		fits := s.FitsSomewhere()
		s.Close()
		return fits, nil
	}
	levels, err := q.Levels()
	if err != nil {
		return false, err
	}
	s := q.SearchGang()
	for _, domains := range levels {
		if s.FitsIn(domains) != nil {
			return true, nil
		}
	}
	return false, nil
}

// fitOneByOne reports whether the pods of a gathering fit with everybody in place, one
// after the other: each where r says, else anywhere.
func (q *Review) fitOneByOne(r *answer.Result) bool {
	trial := q.fitTrial()
	defer trial.UnplaceTo(0)
	for i := range q.Members {
		m := domain.MemberID(i)
		at := q.placeOf(r, m)
		if at == cluster.NoNode || !trial.CanPlace(m, at).OK() {
			if at = anyPlace(trial, m); at == cluster.NoNode {
				return false
			}
		}
		trial.Place(m, at)
	}
	return true
}

// anyPlace is the first node that takes member m as the trial stands, or NoNode.
func anyPlace(trial *domain.GangTrial, m domain.MemberID) cluster.NodeID {
	for n := range trial.Index().Nodes() {
		if trial.CanPlace(m, n).OK() {
			return n
		}
	}
	return cluster.NoNode
}

// placeOf is the node to which r nominates member m, or NoNode.
func (q *Review) placeOf(r *answer.Result, m domain.MemberID) cluster.NodeID {
	ref := tell.RefTo(q.Members[m].Pod)
	for _, n := range r.Nominations {
		if n.Pod == ref {
			return q.Index.NodeByName(n.Node)
		}
	}
	return cluster.NoNode
}

// reviewTrial is a trial for the review of r. To the pods of a gathering those who are
// nominated to their node count if they are as important as all of them there.
func (q *Review) reviewTrial(r *answer.Result) *domain.GangTrial {
	if q.gathered == nil {
		return q.GangTrial()
	}
	most := map[cluster.NodeID]int32{}
	for m, one := range q.gathered {
		at := q.placeOf(r, domain.MemberID(m))
		if known, ok := most[at]; !ok || one.Priority > known {
			most[at] = one.Priority
		}
	}
	return q.TrialWith(func(p cluster.PodID) bool {
		least, ok := most[q.Index.NominatedTo(p)]
		return !ok || q.Index.Priority(p) >= least
	})
}

// fitTrial is a trial for whether the pods of a gathering fit as things are: whoever is as
// important as one of them counts where he is nominated.
func (q *Review) fitTrial() *domain.GangTrial {
	least := q.Priority
	for _, one := range q.gathered {
		least = min(least, one.Priority)
	}
	return q.TrialWith(func(p cluster.PodID) bool { return q.Index.Priority(p) >= least })
}

// keptFromAll says why unit u may not be evicted for whoever asks; the zero Kept: it may.
func (q *Review) keptFromAll(u victims.UnitID) victims.Kept {
	if q.gathered == nil {
		return q.Kept(u, q.Claim)
	}
	var why victims.Kept
	for _, one := range q.gathered {
		if why = q.Kept(u, one.Claim); why.OK() {
			break
		}
	}
	return why
}
