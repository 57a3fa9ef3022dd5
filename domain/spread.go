package domain

import (
	"slices"

	"github.com/preempt-go/preempt/internal/tallies"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TopologySpread returns the constraint of required topology spread.
//
// For each spread constraint of a member, a topology value is a domain of it if a node with that value is eligible: it has the topology
// keys of all constraints of the member and passes the constraint's node policies. The pods of a domain are those on its eligible nodes, in
// the member's namespace, that the selector matches. A node fits if the pods of its value, and the member if it matches itself, exceed
// those of the emptiest domain by at most MaxSkew; with fewer than MinDomains domains the emptiest counts as empty. A node without the
// topology key is an unresolvable misfit, a skew is not.
//
// MatchLabelKeys add to the selector the member's own values of those labels. A nil Selector matches no pod, whatever the keys.
//
// Upstream counts the pods once for a pod and books removals and returns from there on, and so does this, also where that differs from counting anew:
//
//   - a pod that is terminating does not count as long as it is where it was, but its removal takes one off, even below zero;
//   - so with every pod for a selector that is empty, MatchLabelKeys included.
//
// With several members it counts as [Anew] does: neither a terminating pod nor an empty selector ever counts, in leaving and coming either.
// Nominees, added to that, do as for a lone pod. The emptiest domain is exact throughout; upstream knows the two emptiest
// ones only, which is exact as well as long as pods of one domain come and go, as they do for a single pod.
//
// Prepare costs O(l + p) for l label sets and p pods in the namespace, Remove, Return, Place and Unplace O(c) for the c constraints that match the pod,
// or O(1) if more than a few do, whom Fits then counts: O(k) for k since it was asked, at most O(p/64 + k). It is neither node-local nor monotone.
//
// Source: kube-scheduler v1.36, pod topology spread filter; KEP-895, KEP-3022, KEP-3094, KEP-3243.
func TopologySpread() Constraint { return topologySpread{} }

type topologySpread struct{ anew bool }

func (topologySpread) Name() Check { return CheckSpread }

func (c topologySpread) Prepare(ix *cluster.Index, members []*cluster.Pod) (State, error) {
	if !slices.ContainsFunc(members, func(p *cluster.Pod) bool { return len(p.Spread) > 0 }) {
		return nil, nil
	}
	plan, err := planSpread(ix, members, c.anew || len(members) > 1)
	if err != nil {
		return nil, err
	}
	return &spreadState{plan, plan.count()}, nil
}

// spreadState counts, for each spread constraint of the plan, the pods of each domain.
type spreadState struct {
	plan   *spreadPlan   // shared by all clones
	counts tallies.Crowd // of each constraint, of pods and members
}

func (s *spreadState) Remove(p cluster.PodID, n cluster.NodeID) { s.move(p, n, -1) }
func (s *spreadState) Return(p cluster.PodID, n cluster.NodeID) { s.move(p, n, +1) }

func (s *spreadState) move(p cluster.PodID, n cluster.NodeID, sign int32) {
	list := s.plan.bySet.Of(int(s.plan.labels.Of(p)))
	if s.plan.ix.NodeOf(p) == cluster.NoNode { // it is nominated
		s.bump(s.plan.empty[s.plan.ix.Pod(p).Namespace], n, sign)
	} else if s.plan.anew && s.plan.ix.Terminating(p) {
		return
	} else if len(list) > tallies.Few {
		s.counts.Move(s.plan.resident[p])
		return
	}
	s.bump(list, n, sign)
}

func (s *spreadState) Place(m MemberID, n cluster.NodeID)   { s.counts.Come(int32(m), n) }
func (s *spreadState) Unplace(m MemberID, _ cluster.NodeID) { s.counts.Go(int32(m)) }

// bump adds sign to these constraints' counts in the value of node n.
func (s *spreadState) bump(constraints []int32, n cluster.NodeID, sign int32) {
	for _, i := range constraints {
		s.counts.Add(i, n, sign)
	}
}

func (s *spreadState) Fits(m MemberID, n cluster.NodeID) Reason {
	why, _ := s.foresee(m, n, false)
	return why.orOK()
}

// foresee: those who leave n take off its value, which stays above the least as long as it is too many. Where that is n's alone nobody is
// left once all have gone.
func (s *spreadState) foresee(m MemberID, n cluster.NodeID, all bool) (why *Reason, sure bool) {
	for _, own := range s.plan.of[m] {
		c := &s.plan.constraints[own.constraint]
		v := c.of[n]
		if v == cluster.NoValue {
			return &c.noKey, true
		}
		if many := s.tooMany(own, v); many > 0 && !(all && c.topology.Unique()) {
			return &c.misfit, many > s.plan.looksAt[n]
		}
	}
	return nil, true
}

// shut knows nothing of others: whoever leaves n's value may bring it down to the emptiest.
func (s *spreadState) shut(n cluster.NodeID, _ cluster.PodID, others bool) (*cluster.Topology, cluster.PodID) {
	for _, own := range s.plan.of[0] {
		if c := &s.plan.constraints[own.constraint]; !others && c.of[n] != cluster.NoValue && s.tooMany(own, c.of[n]) > 0 {
			return c.topology, cluster.NoPod
		}
	}
	return nil, cluster.NoPod
}

// tooMany is by how much the skew would be too large with the member in value v, if above zero.
func (s *spreadState) tooMany(own ownSpread, v cluster.ValueID) int32 {
	c, counts := &s.plan.constraints[own.constraint], s.counts.Tally(own.constraint)
	skew := counts.At(int(v))
	if c.numDomains >= c.minDomains { // else the emptiest has nobody
		skew -= counts.Least()
	}
	if own.selfMatch {
		skew++
	}
	return max(skew, 0) - c.maxSkew // a skew below zero, less what may be the largest int32, would be none
}

// Hopeless tells of missing topology keys.
func (s *spreadState) Hopeless(m MemberID, n cluster.NodeID) Reason {
	for _, own := range s.plan.of[m] {
		if c := &s.plan.constraints[own.constraint]; c.of[n] == cluster.NoValue {
			return c.noKey
		}
	}
	return Reason{}
}

// Touches reports whether a pod that is booked runs on node n.
func (s *spreadState) Touches(n cluster.NodeID) bool { return s.plan.looksAt[n] > 0 }

// TouchesPod reports whether p is booked on n.
func (s *spreadState) TouchesPod(p cluster.PodID, n cluster.NodeID) bool {
	return !(s.plan.anew && s.plan.ix.Terminating(p)) &&
		slices.ContainsFunc(s.plan.bySet.Of(int(s.plan.labels.Of(p))), func(i int32) bool { return s.plan.constraints[i].domainOf[n] != cluster.NoValue })
}

func (s *spreadState) Clone() State { return &spreadState{s.plan, s.counts.Clone()} }

func (s *spreadState) Scope() Scope { return Scope{counted: true} }

func (s *spreadState) fitsSame(a, b MemberID) bool { return slices.Equal(s.plan.of[a], s.plan.of[b]) }
