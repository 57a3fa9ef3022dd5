package domain

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/lists"
	"github.com/preempt-go/preempt/internal/tallies"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// affinityPlan is what a question needs to know of affinity. It is immutable.
type affinityPlan struct {
	interPodAffinity
	ordered bool // a member's anti-affinity may bind another one that it does not mind itself: see OrderMatters
	ix      *cluster.Index
	labels  *cluster.LabelSets // nil if no member has a term
	anti    *cluster.AntiTerms

	profiles  []profile
	profileOf []int       // of each member
	near      [][]int32   // by profile: see acquaint
	mets      []met       // as they were found, some perhaps twice
	placed    [][]int32   // by profile of a placed member: who meets it, as positions in mets
	bySet     lists.Lists // by label set: whose terms a pod with such labels meets
	byTerm    lists.Lists // by anti-affinity term of others: whom it repels
	terms     int         // of all profiles
	numCounts int
	attracted int     // no count from here on is of an affinity term
	base      []int32 // those up to there before anything is removed
	looksAt   []int32 // of each node: how much its pods add to the counts
	scope     Scope
}

// profile is a member up to what affinity terms can tell apart: those of an indexed job mostly share one, although each has a label of its own.
type profile struct {
	pod            *cluster.Pod
	affinity, anti []*cluster.PodTerm // what it says of others
	placedAnti     []*cluster.PodTerm // what it says of others once it is placed, as running pods do

	// tallies are those of the own affinity terms, then of the own anti-affinity terms, then of the others'; one for each topology key.
	tallies    []tally
	attracting int  // where those of the anti-affinity terms start
	others     int  // where those of others' anti-affinity terms start
	selfMatch  bool // it matches its own affinity terms
	joined     bool // some member, once placed, counts in its affinity terms
}

// bumps lists the tallies in which a pod counts.
type bumps []int32

// met is a profile that somebody meets, and where that counts.
type met struct {
	profile int32
	in      bumps
}

// tally is a row of counts, one for each value of a topology.
type tally struct {
	topology      *cluster.Topology
	of            []cluster.ValueID // of each node
	row           int               // of value 0 in the counts
	misfit, noKey Reason
}

// Why a pod does not fit by its own anti-affinity terms, and by those of others, but for the topology key.
const (
	itRepels = "a pod that its anti-affinity matches is in the same "
	repelsIt = "a pod whose anti-affinity matches it is in the same "
)

func planAffinity(ix *cluster.Index, members []*cluster.Pod, c interPodAffinity) (*affinityPlan, error) {
	plan := &affinityPlan{interPodAffinity: c, ix: ix, anti: ix.AntiTerms(), looksAt: make([]int32, ix.NumNodes())}
	if c.half == theirs {
		members = slices.Clone(members)
		for i, p := range members {
			bare := *p
			bare.Affinity, bare.AntiAffinity = nil, nil
			members[i] = &bare
		}
	} else if slices.ContainsFunc(members, hasAffinity) {
		plan.labels = ix.LabelSets()
	}
	reads := map[string]bool{}
	if err := plan.findProfiles(members, reads); err != nil {
		return nil, err
	}
	if plan.labels != nil {
		plan.bySet = lists.New(plan.labels.Len())
	}
	plan.byTerm = lists.New(plan.anti.Len())
	plan.acquaint(reads)
	for i := range plan.profiles {
		plan.layOut(i)
		if err := tallies.Check(plan.profiles[i].pod, "Affinity, AntiAffinity", max(plan.compared(i+1), plan.numCounts)); err != nil {
			return nil, err
		}
	}
	for i := range plan.profiles {
		plan.placed = append(plan.placed, plan.meetingsOf(i))
	}
	plan.scope = plan.findScope()
	return plan, nil
}

// compared is how many comparisons so many profiles take.
func (plan *affinityPlan) compared(profiles int) int {
	return profiles * (plan.terms + plan.anti.Len())
}

// findProfiles tells the members apart and compiles their terms, once for members in a row that are tied alike. Which labels these read it adds to reads.
func (plan *affinityPlan) findProfiles(members []*cluster.Pod, reads map[string]bool) error {
	compiled := make([]profile, len(members))
	for i, p := range members {
		if i > 0 && p.TiedAlike(members[i-1]) {
			continue
		}
		pr := &compiled[i]
		pr.pod = p
		var err error
		if pr.affinity, err = compileTerms(p, p.Affinity, reads); err != nil {
			return err
		}
		if pr.placedAnti, err = compileTerms(p, p.AntiAffinity, reads); err != nil {
			return err
		}
		for i, t := range pr.affinity {
			pr.affinity[i] = plan.resolve(t, plan.ix)
		}
		for _, t := range pr.placedAnti {
			pr.anti = append(pr.anti, plan.resolve(t, plan.ix))
		}
	}
	type outline struct {
		namespace      string
		affinity, anti int
	}
	outlineOf := func(p *cluster.Pod) outline { return outline{p.Namespace, len(p.Affinity), len(p.AntiAffinity)} }
	similar := map[outline]int{}
	for i, p := range members {
		if compiled[i].pod != nil {
			similar[outlineOf(p)]++
		}
	}
	ids := map[string]int{}
	for i, p := range members {
		if compiled[i].pod == nil {
			plan.profileOf = append(plan.profileOf, plan.profileOf[i-1])
			continue
		}
		key := strconv.Itoa(i)
		if similar[outlineOf(p)] > 1 {
			labels := map[string]string{}
			for k, v := range p.Labels {
				if reads[k] || plan.anti.Reads(k) {
					labels[k] = v
				}
			}
			key = words.JSON(p.Namespace, labels, p.Affinity, p.AntiAffinity)
		}
		id, known := ids[key]
		if !known {
			id = len(plan.profiles)
			ids[key] = id
			plan.profiles = append(plan.profiles, compiled[i])
			plan.terms += len(compiled[i].affinity) + len(compiled[i].placedAnti)
		}
		plan.profileOf = append(plan.profileOf, id)
	}
	return nil
}

// Of more than manyProfiles, a term whose labels leave more than one of fewSelected is no help to tell apart whom terms select.
const manyProfiles, fewSelected = 64, 16

// acquaint finds out who may be selected by terms of whom: of each profile it lists, in order, all others of which one may have a term that
// selects the other, as far as the labels say that such a term wants with one value; all, where some term may select many. Terms read no other labels than reads.
func (plan *affinityPlan) acquaint(reads map[string]bool) {
	having, all := map[[2]string][]int32{}, make([]int32, len(plan.profiles))
	for i := range plan.profiles {
		all[i] = int32(i)
		for key, value := range plan.profiles[i].pod.Labels {
			if !reads[key] {
				continue
			}
			having[[2]string{key, value}] = append(having[[2]string{key, value}], int32(i))
		}
	}
	plan.near = make([][]int32, len(plan.profiles))
	if plan.compared(len(plan.profiles)) > tallies.Most {
		return // they are refused
	}
	for i := range plan.profiles {
		p := plan.profiles[i].pod
		for _, t := range slices.Concat(p.Affinity, p.AntiAffinity) {
			others := all
			fewer := func(key, value string) {
				if few := having[[2]string{key, value}]; len(few) < len(others) {
					others = few
				}
			}
			if t.Selector != nil {
				for key, value := range t.Selector.MatchLabels {
					fewer(key, value)
				}
				for _, r := range t.Selector.MatchExpressions {
					if r.Operator == disruption.In && len(r.Values) == 1 {
						fewer(r.Key, r.Values[0])
					}
				}
			}
			if len(all) > manyProfiles && len(others)*fewSelected > len(all) {
				plan.near = slices.Repeat([][]int32{all}, len(all))
				return
			}
			plan.near[i] = append(plan.near[i], others...)
			for _, j := range others {
				plan.near[j] = append(plan.near[j], int32(i))
			}
		}
	}
	for i, list := range plan.near {
		slices.Sort(list)
		plan.near[i] = slices.Compact(list)
	}
}

// compileTerms compiles terms of a member and notes which labels they read.
func compileTerms(p *cluster.Pod, terms []cluster.AffinityTerm, reads map[string]bool) ([]*cluster.PodTerm, error) {
	var compiled []*cluster.PodTerm
	for i := range terms {
		t, err := terms[i].Compile(p)
		if err != nil {
			return nil, fmt.Errorf("domain: pod %q: affinity term: %w", p.Namespace+"/"+p.Name, err)
		}
		compiled = append(compiled, t)
		for _, key := range t.Reads() {
			reads[key] = true
		}
	}
	return compiled, nil
}

// layOut gives profile i its tallies and works out which running pods count in them.
func (plan *affinityPlan) layOut(i int) {
	pr := &plan.profiles[i]
	for _, t := range pr.affinity {
		plan.tallyFor(pr, 0, t.TopologyKey(), Reason{
			Check: CheckAffinity, Unresolvable: true,
			Detail: "no pod that its affinity matches is in the same " + t.TopologyKey(),
		})
	}
	if pr.attracting = len(pr.tallies); pr.attracting > 0 {
		plan.attracted = plan.numCounts
	}
	for _, t := range pr.anti {
		plan.tallyFor(pr, pr.attracting, t.TopologyKey(), Reason{Check: CheckAntiAffinity, Detail: itRepels + t.TopologyKey()})
	}
	pr.others = len(pr.tallies)
	plan.layOutOthers(i)
	pr.selfMatch = pr.matchesAll(pr.pod)
	if plan.labels == nil {
		return
	}
	from, candidates := len(plan.mets), pr.candidates(plan.labels)
	terms := slices.Concat(pr.affinity, pr.anti)
	alike := len(terms) == 1 && len(terms[0].Reads()) == 1 && len(candidates) < plan.labels.Len() // all have the one label that is read
	var last *cluster.Pod
	var in bumps
	for _, s := range candidates {
		p := plan.labels.Pod(s)
		if !alike || last == nil || p.Namespace != last.Namespace {
			in = pr.meeting(p)
		}
		if last = p; len(in) > 0 {
			plan.bySet.Add(int(s), plan.meet(i, in, from))
		}
	}
}

// meet returns a meeting of profile i, a known one if need be; from is where those with which it is compared start.
func (plan *affinityPlan) meet(i int, in bumps, from int) int32 {
	for at := from; at < min(len(plan.mets), from+fewMets); at++ {
		if slices.Equal(plan.mets[at].in, in) {
			return int32(at)
		}
	}
	plan.mets = append(plan.mets, met{int32(i), in})
	return int32(len(plan.mets) - 1)
}

// fewMets is how many are compared with one.
const fewMets = 8

// candidates returns the label sets, in ascending order, among which are all that match all affinity terms or any anti-affinity term.
func (pr *profile) candidates(labels *cluster.LabelSets) []cluster.LabelSetID {
	var list []cluster.LabelSetID
	for i, t := range pr.affinity {
		if c := t.Candidates(labels); i == 0 || len(c) < len(list) {
			list = c
		}
	}
	list = slices.Clone(list)
	for _, t := range pr.anti {
		c := t.Candidates(labels)
		if len(c) == labels.Len() {
			return c
		}
		list = append(list, c...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// layOutOthers gives pr a tally for each topology key of the anti-affinity terms that others have against it: pods of the index, and
// members. The keys are sorted, so that the reasons do not depend on who came first.
func (plan *affinityPlan) layOutOthers(i int) {
	pr := &plan.profiles[i]
	var matching []cluster.TermID
	keys := map[string]bool{}
	switch plan.half {
	case theirs:
		matching = plan.against
	case whole:
		matching = slices.DeleteFunc(plan.anti.Candidates(pr.pod), func(t cluster.TermID) bool { return !plan.runningSelects(plan.anti.Term(t), pr.pod) })
	}
	for _, t := range matching {
		keys[plan.anti.Term(t).TopologyKey()] = true
	}
	for _, j := range plan.near[i] {
		for _, term := range plan.profiles[j].placedAnti {
			if plan.runningSelects(term, pr.pod) {
				keys[term.TopologyKey()] = true
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		plan.tallyFor(pr, pr.others, key, Reason{Check: CheckAntiAffinity, Detail: repelsIt + key})
	}
	from := len(plan.mets)
	for _, t := range matching {
		in := bumps{pr.tallyOf(pr.others, plan.anti.Term(t).TopologyKey())}
		plan.byTerm.Add(int(t), plan.meet(i, in, from))
	}
}

// tallyOf returns the tally, from position from on, of that topology key, or -1.
func (pr *profile) tallyOf(from int, key string) int32 {
	for t := from; t < len(pr.tallies); t++ {
		if pr.tallies[t].topology.Key() == key {
			return int32(t)
		}
	}
	return -1
}

// tallyFor gives pr, from position from on, a tally of that topology key if it has none.
func (plan *affinityPlan) tallyFor(pr *profile, from int, key string, misfit Reason) {
	if pr.tallyOf(from, key) >= 0 {
		return
	}
	topology := plan.ix.Topology(key)
	pr.tallies = append(pr.tallies, tally{
		topology: topology, of: topology.Column(), row: plan.numCounts, misfit: misfit,
		noKey: Reason{Check: CheckAffinity, Unresolvable: true, Detail: "the node has no label " + key},
	})
	plan.numCounts += topology.Len()
}

// runningSelects reports whether a term of a running pod selects member p.
func (plan *affinityPlan) runningSelects(t *cluster.PodTerm, p *cluster.Pod) bool {
	return t.Selects(p.Namespace, plan.ix.NamespaceLabels(p.Namespace), p.Labels)
}

// matchesAll reports whether p matches all affinity terms, of which there is at least one.
func (pr *profile) matchesAll(p *cluster.Pod) bool {
	return len(pr.affinity) > 0 && !slices.ContainsFunc(pr.affinity, func(t *cluster.PodTerm) bool { return !t.Selects(p.Namespace, nil, p.Labels) })
}

// meeting lists the tallies of its own terms in which p counts: a pod that matches
// all affinity terms in each of theirs, any anti-affinity term in its own.
func (pr *profile) meeting(p *cluster.Pod) bumps {
	var list bumps
	if pr.matchesAll(p) {
		for t := range pr.attracting {
			list = append(list, int32(t))
		}
	}
	for _, term := range pr.anti {
		if term.Selects(p.Namespace, nil, p.Labels) {
			list = append(list, pr.tallyOf(pr.attracting, term.TopologyKey()))
		}
	}
	return list
}

// meetingsOf returns where a placed member of that profile counts: by the terms of the other one, and by its own anti-affinity terms.
func (plan *affinityPlan) meetingsOf(of int) (list []int32) {
	by := &plan.profiles[of]
	for _, i := range plan.near[of] {
		pr := &plan.profiles[i]
		in := pr.meeting(by.pod)
		if len(in) > 0 && in[0] < int32(pr.attracting) {
			pr.joined = true
		}
		for _, term := range by.placedAnti {
			if plan.runningSelects(term, pr.pod) {
				in = append(in, pr.tallyOf(pr.others, term.TopologyKey()))
			}
		}
		if len(in) > 0 {
			list = append(list, plan.meet(int(i), in, len(plan.mets)))
		}
	}
	return list
}

func (plan *affinityPlan) findScope() Scope {
	scope, byOne := Scope{NodeLocal: true, Monotone: true, counted: true}, true // by the values of one topology, and not at whether a pod matches anywhere
	for i := range plan.profiles {
		pr := &plan.profiles[i]
		if pr.attracting > 0 {
			scope.NodeLocal, scope.Monotone, byOne = false, false, byOne && !pr.selfMatch
		}
		for t := range pr.tallies {
			topology := pr.tallies[t].topology
			scope.NodeLocal = scope.NodeLocal && topology.Unique()
			byOne = byOne && (scope.topology == nil || scope.topology == topology)
			scope.topology = topology
		}
	}
	if plan.anew && slices.ContainsFunc(plan.byTerm.Filled(), plan.promised) {
		scope, byOne = Scope{Monotone: scope.Monotone}, false
	}
	if !byOne {
		scope.topology = nil
	}
	return scope
}

// promised reports whether somebody has anti-affinity term t who is only nominated.
func (plan *affinityPlan) promised(t int) bool {
	return slices.ContainsFunc(plan.anti.Owners(cluster.TermID(t)), func(p cluster.PodID) bool {
		return plan.ix.NodeOf(p) == cluster.NoNode && plan.ix.Pod(p).NominatedNode != ""
	})
}
