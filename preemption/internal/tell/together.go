package tell

import (
	"slices"
	"sync"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/gang"
	"github.com/preempt-go/preempt/preemption/internal/live"
)

// ReadInTurn is ReadBriefly of one of several preemptors, which of a pod that is named is not prepared. joins says
// whether others that are equal may be planned together with it.
func ReadInTurn(c *live.Cluster, p cluster.Preemptor) (q *Inquiry, joins bool, err error) {
	if p.Kind != cluster.KindPod || p.Name == "" {
		q, err = ReadBriefly(c, p, Caller{})
		return q, false, err
	}
	q = blank(c, Caller{})
	if err := q.namedPod(p); err != nil {
		return nil, false, err
	}
	q.SettleClaim()
	return q, p.Placement == nil && q.mayJoin(), nil
}

// ReadGathered reads the question of the pods of a gathering that do not run yet: q of all of them, each of what
// every one asks by itself.
func ReadGathered(c *live.Cluster, a answer.Asked) (q *Inquiry, each []*Inquiry, err error) {
	q = blank(c, Caller{})
	q.asked, q.Gathered = a, true
	for _, ref := range a.Gathered {
		if p := c.Pod(ref.Namespace, ref.Name); p != nil && p.Node != "" {
			continue
		}
		one := blank(c, Caller{})
		if err := one.namedPod(cluster.Preemptor{Kind: cluster.KindPod, Namespace: ref.Namespace, Name: ref.Name}); err != nil {
			return nil, nil, err
		}
		one.SettleClaim()
		if len(each) == 0 || one.Priority > q.Priority {
			q.Priority = one.Priority
		}
		q.of(one.sides)
		q.Members, each = append(q.Members, one.Members[0]), append(each, one)
	}
	return q, each, q.prepare()
}

// mayJoin reports whether others that are equal may be planned together with a lone pod: it
// may preempt, where it goes is a matter of it and of the node, what limits or the lowest level
// say is not of each by itself, and no nominated pod repels it or holds its tokens, which counts for gangs otherwise.
func (q *Inquiry) mayJoin() bool {
	pod := q.Members[0].Pod
	return pod.Group == "" && pod.Queue == "" && pod.NominatedNode == "" && len(pod.Spread)+len(pod.Affinity)+len(pod.AntiAffinity) == 0 &&
		!q.OwnPlacer && !q.Lowest && q.Limits == nil && q.RefusalOfPod().Why == ask.Willing && !q.repelled(pod)
}

// repelled reports whether anti-affinity of a nominated pod matches pod, or one of its tokens is the pod's.
func (q *Inquiry) repelled(pod *cluster.Pod) bool {
	terms := q.Index.AntiTerms()
	promised := func(p cluster.PodID) bool {
		return q.Index.NodeOf(p) == cluster.NoNode && q.Index.Pod(p).NominatedNode != ""
	}
	holds := func(p cluster.PodID) bool {
		return slices.ContainsFunc(q.Index.Pod(p).Tokens, func(t string) bool { return slices.Contains(pod.Tokens, t) })
	}
	if len(pod.Tokens) > 0 {
		for n := range q.Index.Nodes() {
			if slices.ContainsFunc(q.Index.Nominees(n), holds) {
				return true
			}
		}
	}
	return slices.ContainsFunc(terms.Candidates(pod), func(t cluster.TermID) bool {
		return slices.ContainsFunc(terms.Owners(t), promised) && terms.Term(t).Selects(pod.Namespace, q.Index.NamespaceLabels(pod.Namespace), pod.Labels)
	})
}

// Equals reports whether nothing tells the pods of two questions apart.
func (q *Inquiry) Equals(o *Inquiry) bool {
	return q.Claim == o.Claim && q.Policy == o.Policy && q.Members[0].Equals(o.Members[0])
}

// Together answers for equal pods as for a gang that needs one of them: as many as
// there can be room for.
func Together(c *live.Cluster, pods []answer.PodRef, a Caller) (*answer.Result, error) {
	q, err := equalPods(c, pods, a)
	if err != nil {
		return nil, err
	}
	s := &gangAnswer{Inquiry: q, Search: gang.NewCounting(q.Question, &sync.Pool{})}
	r, err := s.Answer()
	s.Close()
	told(a.Searched)
	if err == nil && r.Verdict.IsPlan() {
		q.gather(r)
	}
	return r, err
}

// gather says in r whom it is about, and whose nominations are withdrawn.
func (q *Inquiry) gather(r *answer.Result) {
	seen := map[string]bool{}
	for _, n := range r.Nominations {
		r.Preemptor.Gathered = append(r.Preemptor.Gathered, n.Pod)
		if r.Verdict == answer.Feasible && !seen[n.Node] {
			seen[n.Node] = true
			r.Cleared = append(r.Cleared, q.cleared(q.Index.NodeByName(n.Node))...)
		}
	}
}

// equalPods is the question of pods that are planned together.
func equalPods(c *live.Cluster, pods []answer.PodRef, a Caller) (*Inquiry, error) {
	q := blank(c, a)
	settings := c.Ask
	settings.Fewest, settings.Splitter, settings.Effort = false, nil, max(settings.Effort, ask.Improved)
	q.Settings = &settings
	q.Traits |= settings.Traits()
	q.asked = answer.Asked{Kind: cluster.KindPod}
	q.of(c.PodUnits())
	first := c.Pod(pods[0].Namespace, pods[0].Name)
	e, err := q.resolve(first)
	if err != nil {
		return nil, err
	}
	q.Priority, q.Policy = e.Priority, e.Policy
	q.Group = &cluster.Group{Kind: cluster.KindPodGroup, Priority: e.Priority, Policy: e.Policy, PodGroup: &cluster.PodGroup{}, Parent: cluster.NoGroup}
	q.Tree = &seating.Group{ID: cluster.NoGroup, Name: "the kind of " + words.Key(first.Namespace, first.Name), Min: 1}
	members := domain.NewMembers(c.Index, len(pods), q.Filter)
	for i, ref := range pods {
		q.Tree.Members = append(q.Tree.Members, domain.MemberID(i))
		q.Members = append(q.Members, members.Add(c.Pod(ref.Namespace, ref.Name), c.Index.PodByName(ref.Namespace, ref.Name)))
	}
	return q, q.prepare()
}
