package domain

import (
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// InterPodAffinity returns the constraint of required affinity and anti-affinity between pods.
//
// A member fits on a node if all of this holds:
//
//   - for each of its affinity terms, the node has the term's topology key, and in
//     the node's topology value runs a pod that matches all affinity terms of the
//     member. Where no such pod runs anywhere and the member matches its own terms,
//     it may be the first of its series: the keys are enough.
//   - for each of its anti-affinity terms, no pod that matches the term runs in the
//     node's topology value;
//   - no pod runs in a topology value of the node that has an anti-affinity term
//     with that key which matches the member.
//
// A node without the topology key of an anti-affinity term is not bound by it. A misfit of affinity is unresolvable: no pod on the node
// matches, so that no eviction there helps. One of anti-affinity is not.
//
// Like upstream, Prepare gives a nil State where the preemptor has no terms and no running pod's anti-affinity concerns it; terms of pods that are
// only nominated are not looked at then. Under [Anew] neither are they for a member without terms while no pod that runs or is placed has one
// against it, wherever. For label keys and namespaces see [cluster.AffinityTerm.Compile] and [cluster.PodTerm.Resolve].
//
// Prepare costs O(l + p) for l label sets of the pods and the p pods that are matched or have anti-affinity terms. Remove, Return, Place
// and Unplace cost O(t) for the t terms that match, Fits O(k) for k topology keys; none allocates. It is node-local if no two nodes share a
// value of the keys that matter and the preemptor has no affinity term, and monotone if it has none.
//
// Source: kube-scheduler v1.37, inter-pod affinity filter.
func InterPodAffinity() Constraint { return interPodAffinity{resolve: (*cluster.PodTerm).Resolve} }

// InterPodAffinity136 is that of kube-scheduler v1.36: the preemptor's namespace selectors such as NotIn select all; see [cluster.PodTerm.Resolve136].
func InterPodAffinity136() Constraint {
	return interPodAffinity{resolve: (*cluster.PodTerm).Resolve136}
}

type interPodAffinity struct {
	resolve func(*cluster.PodTerm, *cluster.Index) *cluster.PodTerm
	anew    bool
	half    half
	against []cluster.TermID // of theirs: the terms of others that are looked at
}

// half is which half of a constraint it is: what members' own terms say, or what those of others do.
type half int

const (
	whole half = iota
	own
	theirs
)

func (interPodAffinity) Name() Check { return CheckAffinity }

// Halves are constraints that say together what c, which is not [Anew], says of a lone pod: byOwn what its own terms do, and byTheirs what some terms of
// others do that are against it. Where the pod has no terms, and none that is against it is of a pod that runs on a node with its key, c has no state; byTheirs may have one.
func (c interPodAffinity) Halves() (byOwn Constraint, byTheirs func(against ...cluster.TermID) Constraint) {
	return interPodAffinity{resolve: c.resolve, half: own}, func(against ...cluster.TermID) Constraint {
		return interPodAffinity{resolve: c.resolve, half: theirs, against: against}
	}
}

func (c interPodAffinity) Prepare(ix *cluster.Index, members []*cluster.Pod) (State, error) {
	tied := c.half == theirs || slices.ContainsFunc(members, hasAffinity)
	if !tied && (ix.AntiTerms().Len() == 0 || c.half == own) {
		return nil, nil
	}
	if c.half != whole && len(members) == 1 && (c.half == theirs || len(members[0].Affinity) == 0) {
		if s, few, err := c.findRepelled(ix, members[0]); s != nil {
			return s, nil
		} else if few || err != nil {
			return nil, err
		}
	}
	s, err := c.count(ix, members)
	if err != nil || !tied && !slices.ContainsFunc(s.counts, func(c int32) bool { return c > 0 }) {
		return nil, err
	}
	return s, nil
}

// count is the State by counts.
func (c interPodAffinity) count(ix *cluster.Index, members []*cluster.Pod) (*affinityState, error) {
	plan, err := planAffinity(ix, members, c)
	if err != nil {
		return nil, err
	}
	s := &affinityState{
		plan:    plan,
		counts:  make([]int32, plan.numCounts),
		matched: make([]int32, len(plan.profiles)),
		against: make([]int32, len(plan.profiles)),
	}
	plan.ordered = slices.ContainsFunc(members, selectsNamespaces)
	s.countRunning()
	plan.base = slices.Clone(s.counts[:plan.attracted])
	return s, nil
}

// selectsNamespaces reports whether p has an anti-affinity term for namespaces by their labels: as upstream, its owner looks for namespaces
// that are there, and those who come after it are bound if the selector matches theirs, be it there or not.
func selectsNamespaces(p *cluster.Pod) bool {
	return slices.ContainsFunc(p.AntiAffinity, func(t cluster.AffinityTerm) bool { return t.NamespaceSelector != nil })
}

// OrderMatters reports whether it matters in which order members come; see [Orderer].
func (s *affinityState) OrderMatters() bool { return s.plan.ordered }

func hasAffinity(p *cluster.Pod) bool { return len(p.Affinity)+len(p.AntiAffinity) > 0 }

// affinityState counts, for each profile of the plan, the pods that matter to it in each topology value.
type affinityState struct {
	plan    *affinityPlan // shared by all clones
	counts  []int32       // for each tally of each profile a row of topology values
	matched []int32       // of each profile: its attracting counts, all values together
	against []int32       // likewise, of others' anti-affinity, but for what is only nominated
	work    int64         // see changed
}

func (s *affinityState) countRunning() {
	plan := s.plan
	for _, k := range plan.bySet.Filled() {
		s.countAll(plan.labels.Carriers(cluster.LabelSetID(k)), plan.bySet.Of(k))
	}
	for _, k := range plan.byTerm.Filled() {
		s.countAll(plan.anti.Owners(cluster.TermID(k)), plan.byTerm.Of(k))
	}
}

// countAll counts running pods, and notes that they matter on their nodes.
func (s *affinityState) countAll(pods []cluster.PodID, list []int32) {
	for _, p := range pods {
		n := s.plan.ix.NodeOf(p)
		if n == cluster.NoNode {
			continue
		}
		for _, i := range list {
			m := &s.plan.mets[i]
			for _, t := range m.in {
				if s.plan.profiles[m.profile].tallies[t].of[n] != cluster.NoValue {
					s.plan.looksAt[n]++
					s.bump(int(m.profile), t, n, +1, +1)
				}
			}
		}
	}
}

func (s *affinityState) Remove(p cluster.PodID, n cluster.NodeID) { s.move(p, n, -1) }
func (s *affinityState) Return(p cluster.PodID, n cluster.NodeID) { s.move(p, n, +1) }

// move books pod p as coming to (+1) or going from (-1) node n: what the preemptor's terms say of it, and its own of the preemptor.
func (s *affinityState) move(p cluster.PodID, n cluster.NodeID, sign int32) {
	against := sign
	if s.plan.ix.NodeOf(p) == cluster.NoNode { // it is nominated
		against = 0
	}
	if s.plan.labels != nil {
		s.bumpAll(s.plan.bySet.Of(int(s.plan.labels.Of(p))), n, sign, against)
	}
	for _, term := range s.plan.anti.Of(p) {
		s.bumpAll(s.plan.byTerm.Of(int(term)), n, sign, against)
	}
}

func (s *affinityState) Place(m MemberID, n cluster.NodeID)   { s.movePlaced(m, n, +1) }
func (s *affinityState) Unplace(m MemberID, n cluster.NodeID) { s.movePlaced(m, n, -1) }

func (s *affinityState) movePlaced(m MemberID, n cluster.NodeID, sign int32) {
	s.bumpAll(s.plan.placed[s.plan.profileOf[m]], n, sign, sign)
}

// changed counts meetings, each of which is two numbers.
func (s *affinityState) changed() int64 { return s.work }

func (s *affinityState) bumpAll(list []int32, n cluster.NodeID, sign, against int32) {
	s.work += int64(2 * len(list))
	for _, i := range list {
		m := &s.plan.mets[i]
		for _, t := range m.in {
			s.bump(int(m.profile), t, n, sign, against)
		}
	}
}

// bump adds sign to tally t of profile i in the topology value of node n, and against to what others have against it, if that is one of theirs.
func (s *affinityState) bump(i int, t int32, n cluster.NodeID, sign, against int32) {
	pr := &s.plan.profiles[i]
	tally := &pr.tallies[t]
	v := tally.of[n]
	if v == cluster.NoValue {
		return
	}
	s.counts[tally.row+int(v)] += sign
	if int(t) < pr.attracting {
		s.matched[i] += sign
	} else if int(t) >= pr.others {
		s.against[i] += against
	}
}

func (s *affinityState) Fits(m MemberID, n cluster.NodeID) Reason {
	why, _ := s.foresee(m, n, false)
	return why.orOK()
}

// foresee: those who leave n take what they have added off a count, at most.
func (s *affinityState) foresee(m MemberID, n cluster.NodeID, all bool) (why *Reason, sure bool) {
	i := s.plan.profileOf[m]
	pr, gone := &s.plan.profiles[i], s.plan.looksAt[n]
	leave := func(count int32) bool { return 0 < count && count <= gone }
	alone := s.plan.anew && pr.attracting+len(pr.placedAnti) == 0 // then who is nominated has a say beside others alone
	if alone && s.against[i] == 0 {
		return nil, true
	}
	why = pr.attracted(s.counts, n, pr.selfMatch && s.matched[i] == 0)
	sure = !pr.selfMatch || !leave(s.matched[i])
	for t := range pr.tallies {
		tally := &pr.tallies[t]
		v := tally.of[n]
		if t == pr.attracting && why != nil {
			break
		} else if v == cluster.NoValue {
			continue
		}
		count := s.counts[tally.row+int(v)]
		if t < pr.attracting {
			sure = sure && !leave(count)
		} else if count > 0 && !(all && tally.topology.Unique()) {
			return &tally.misfit, sure && !leave(count) && !(alone && leave(s.against[i]))
		}
	}
	return why, sure
}

// shut names somebody whose term, or whom a term of the member's, keeps the member off.
func (s *affinityState) shut(n cluster.NodeID, self cluster.PodID, others bool) (*cluster.Topology, cluster.PodID) {
	i := s.plan.profileOf[0]
	pr := &s.plan.profiles[i]
	why, _ := s.foresee(0, n, false)
	for t := range pr.tallies {
		tally := &pr.tallies[t]
		if why != &tally.misfit {
			continue
		} else if !others {
			return tally.topology, cluster.NoPod
		}
		counts := func(at int32) bool {
			m := &s.plan.mets[at]
			return int(m.profile) == i && slices.Contains(m.in, int32(t))
		}
		for _, n := range tally.topology.Sharing(n) {
			if s.plan.looksAt[n] == 0 {
				continue
			}
			for _, p := range s.plan.ix.PodsOn(n) {
				if p != self && s.meets(p, counts) {
					return tally.topology, p
				}
			}
		}
	}
	return nil, cluster.NoPod
}

// attracted says why counts do not satisfy the affinity terms on node n, nil if they do. first: no pod that matches them runs anywhere and
// the member matches them itself.
func (pr *profile) attracted(counts []int32, n cluster.NodeID, first bool) (misfit *Reason) {
	for t := range pr.attracting {
		tally := &pr.tallies[t]
		switch v := tally.of[n]; {
		case v == cluster.NoValue:
			return &tally.noKey
		case !first && misfit == nil && counts[tally.row+int(v)] == 0:
			misfit = &tally.misfit
		}
	}
	return misfit
}

// Hopeless tells of missing topology keys, and of affinity to pods that are not there: evictions bring none, and neither do the members
// that are placed earlier.
func (s *affinityState) Hopeless(m MemberID, n cluster.NodeID) Reason {
	pr := &s.plan.profiles[s.plan.profileOf[m]]
	return pr.attracted(s.plan.base, n, pr.selfMatch || pr.joined).orOK()
}

// Touches reports whether a pod that counts runs on node n.
func (s *affinityState) Touches(n cluster.NodeID) bool { return s.plan.looksAt[n] > 0 }

// TouchesPod reports whether p counts on n: it has or meets a term that matters there.
func (s *affinityState) TouchesPod(p cluster.PodID, n cluster.NodeID) bool {
	return s.meets(p, func(i int32) bool {
		m := &s.plan.mets[i]
		pr := &s.plan.profiles[m.profile]
		return slices.ContainsFunc(m.in, func(t int32) bool { return pr.tallies[t].of[n] != cluster.NoValue })
	})
}

// meets reports whether one of what p is met by, or meets, is what is looked for, as positions in the mets of the plan.
func (s *affinityState) meets(p cluster.PodID, which func(int32) bool) bool {
	return s.plan.labels != nil && slices.ContainsFunc(s.plan.bySet.Of(int(s.plan.labels.Of(p))), which) ||
		slices.ContainsFunc(s.plan.anti.Of(p), func(t cluster.TermID) bool { return slices.ContainsFunc(s.plan.byTerm.Of(int(t)), which) })
}

func (s *affinityState) Clone() State {
	return &affinityState{plan: s.plan, counts: slices.Clone(s.counts), matched: slices.Clone(s.matched), against: slices.Clone(s.against)}
}

func (s *affinityState) Scope() Scope { return s.plan.scope }

func (s *affinityState) fitsSame(a, b MemberID) bool {
	return s.plan.profileOf[a] == s.plan.profileOf[b]
}
