package review

import (
	"fmt"
	"slices"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/preemption/internal/tell"
	"github.com/preempt-go/preempt/preemption/internal/workload"
)

// Workload is review for an answer about a workload.
func Workload(c *live.Cluster, r *answer.Result, m *workload.Model) (answer.Validity, error) {
	m, err := c.Queued.On(c.Index, m)
	if err != nil {
		return answer.Validity{}, err
	}
	m.Mu.RLock()
	defer m.Mu.RUnlock()
	name := words.Key(r.Preemptor.Namespace, r.Preemptor.Name)
	w := m.Workload(r.Preemptor.Namespace, r.Preemptor.Name)
	if w == nil && r.Preemptor.Inline != nil {
		w = r.Preemptor.Inline.Workload
	}
	switch {
	case w == nil:
		return cancel(name + " is gone"), nil
	case w.Admission != nil:
		return cancel(name + " holds quota already"), nil
	}
	q, refused, err := m.QueueOf(w)
	if err == nil {
		err = workload.CheckAmounts(w)
	}
	if text, ok := Unreadable(err); ok {
		return replan(text), nil
	}
	switch {
	case err != nil:
		return answer.Validity{}, err
	case refused != workload.NotRefused:
		return replan(tell.RefusalText(m, w, refused)), nil
	case m.Index.Name(q) != r.Quota.ClusterQueue:
		return replan("it belongs to another queue by now"), nil
	}
	return reviewPlan(c, m, w, q, r), nil
}

// reviewPlan looks whether answer r about workload w of queue q can be carried out as it is.
func reviewPlan(c *live.Cluster, m *workload.Model, w *cluster.Workload, q quota.HolderID, r *answer.Result) answer.Validity {
	s := m.Search(w, q)
	defer m.Keep(s)
	if len(r.Quota.Reserved) > 0 {
		if misfit := s.ReviewReserved(w, q, Choices(r.Quota.Reserved)); misfit.Kind != workload.NoMisfit {
			return replan(misfitText(m, misfit))
		}
		return keep("it reserves what its queue has")
	}
	if r.Verdict == answer.Feasible {
		switch later, now := m.FitsAsItIs(w, q, r.Quota.Counts); {
		case now:
			return cancel("it fits without evicting anybody")
		case later:
			return replan("it fits" + tell.LeftLater)
		}
	}
	given := Choices(r.Quota.Flavors)
	if misfit := m.Review(w, q, given, r.Quota.Counts); misfit.Kind != workload.NoMisfit {
		return replan(misfitText(m, misfit))
	}
	request, contested := s.Request(q, given)
	fits := len(contested) == 0 && s.Usage.Fits(q, request, true)
	now := fits && m.FitsNow(q, request)
	switch {
	case r.Verdict == answer.Fits && now:
		return keep("it fits")
	case r.Verdict == answer.Fits:
		return replan("it does not fit any more")
	case r.Verdict == answer.Waiting && now:
		return replan("it fits by now")
	case r.Verdict == answer.Waiting && fits:
		return keep("it fits" + tell.LeftLater)
	case r.Verdict == answer.Waiting:
		return replan("it would not fit even without the victims of others")
	case now:
		return cancel("it fits without evicting anybody")
	case fits:
		return replan("it fits" + tell.LeftLater)
	}
	question := workload.Question(w, q, request, contested)
	if !s.MayHelp(&question) {
		return replan(noHelp)
	}
	held, text := reviewHolders(c.Index, s, r.Victims, w, &question, func() []quotasearch.Victim {
		return m.Victims(w, q, tell.Objective(c, tell.Caller{}), request, contested)
	})
	switch wait := m.Waits(w, q); {
	case text != "":
		return replan(text)
	case wait > 0 && slices.ContainsFunc(held, func(r *quota.Reservation) bool { return !r.Evicted }):
		return replan(tell.WaitsLonger(wait))
	}
	return keep("it fits once the victims are gone")
}

// misfitText says how what an answer gives a workload is not what it may take.
func misfitText(m *workload.Model, f workload.Misfit) string {
	c := f.Choice
	switch f.Kind {
	case workload.CountsMissing:
		return fmt.Sprintf("it has %s, and counts of %d", words.Count(int(f.Most), "pod set"), c.Amount)
	case workload.CountBeyond:
		return fmt.Sprintf("pod set %q starts with %d to %d pods, not with %d", c.Set, f.Least, f.Most, c.Amount)
	case workload.FlavorGone:
		return "its queue has no flavor " + c.Flavor + " any more"
	case workload.Unsuited:
		return tell.Objection(m, f.Objection)
	case workload.NothingAsked:
		return fmt.Sprintf("pod set %q asks for no %s", c.Set, c.Resource)
	case workload.ResourceGone:
		return "its queue has no quota of " + c.Resource
	case workload.NothingTaken:
		return fmt.Sprintf("pod set %q takes no flavor of %s", c.Set, c.Resource)
	case workload.AmountDiffers:
		return fmt.Sprintf("pod set %q takes %d %s, and asks for %d", c.Set, c.Amount, c.Resource, f.Most)
	case workload.TwoFlavors:
		return fmt.Sprintf("pod set %q takes flavor %s of %s beside %s", c.Set, c.Flavor, c.Resource, f.Other)
	case workload.Reclaims:
		return "its queue gets its quota back from anybody: it reserves none"
	case workload.NotOfQueue:
		return fmt.Sprintf("its queue has no %s of flavor %s", c.Resource, c.Flavor)
	}
	return fmt.Sprintf("it may not keep %d %s of flavor %s", c.Amount, c.Resource, c.Flavor)
}

// Choices is what an answer gives a workload, as the quota model reads it.
func Choices(list []answer.FlavorChoice) []workload.Choice {
	out := make([]workload.Choice, len(list))
	for i, f := range list {
		out[i] = workload.Choice{Set: f.PodSet, Resource: f.Resource, Flavor: f.Flavor, Amount: f.Amount}
	}
	return out
}
