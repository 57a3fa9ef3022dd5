package review

import (
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/tell"
	"github.com/preempt-go/preempt/victims"
)

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
