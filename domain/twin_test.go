package domain_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/noderules"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// follow walks a random history of w and compares constraint c with its naive twin
// at every step, for every member that is not placed and on every node.
func follow(t *rapid.T, w *world, c domain.Constraint, compare func(t *rapid.T, s *situation, m *cluster.Pod, node string, got domain.Reason)) {
	ix, err := cluster.NewIndex(&w.snapshot)
	require.NoError(t, err)
	var members []*cluster.Pod
	for i := range w.members {
		members = append(members, &w.members[i])
	}
	state, err := c.Prepare(ix, members)
	require.NoError(t, err)
	s := newSituation(w)
	for range rapid.IntRange(0, 25).Draw(t, "steps") {
		for _, m := range members {
			if _, placed := s.now[nameOf(m)]; placed {
				continue
			}
			for n := range cluster.NodeID(ix.NumNodes()) {
				var got domain.Reason
				if state != nil {
					got = state.Fits(memberOf(members, m), n)
				}
				compare(t, s, m, ix.Node(n).Name, got)
			}
		}
		step(t, ix, members, s, state)
	}
}

func memberOf(members []*cluster.Pod, m *cluster.Pod) domain.MemberID {
	for i := range members {
		if members[i] == m {
			return domain.MemberID(i)
		}
	}
	panic("no such member")
}

// step makes one random change to the situation and tells the state, which may be nil.
func step(t *rapid.T, ix *cluster.Index, members []*cluster.Pod, s *situation, state domain.State) {
	i := rapid.IntRange(0, ix.NumPods()+len(members)-1).Draw(t, "who")
	if i < len(members) {
		name, m := nameOf(members[i]), domain.MemberID(i)
		if at, placed := s.now[name]; placed {
			delete(s.now, name)
			if state != nil {
				state.Unplace(m, ix.NodeByName(at))
			}
			return
		}
		n := cluster.NodeID(rapid.IntRange(0, ix.NumNodes()-1).Draw(t, "node"))
		s.now[name] = ix.Node(n).Name
		if state != nil {
			state.Place(m, n)
		}
		return
	}
	p := cluster.PodID(i - len(members))
	name, home := nameOf(ix.Pod(p)), ix.Pod(p).Node+ix.Pod(p).NominatedNode
	if home == "" {
		return // a member that is listed in the snapshot
	}
	if _, there := s.now[name]; there {
		delete(s.now, name)
		if state != nil {
			state.Remove(p, ix.NodeByName(home))
		}
		return
	}
	s.now[name] = home
	if state != nil {
		state.Return(p, ix.NodeByName(home))
	}
}

type twin func(s *situation, m *cluster.Pod, node string) answer

func agrees(twin twin) func(*rapid.T, *situation, *cluster.Pod, string, domain.Reason) {
	return func(t *rapid.T, s *situation, m *cluster.Pod, node string, got domain.Reason) {
		require.Equal(t, twin(s, m, node), answer{got.Check, got.Unresolvable}, "%s on %s: %+v", m.Name, node, got)
	}
}

func affinityAgreesWithTwin(t *rapid.T) {
	w, c := drawWorld(t, features{affinity: true, maxMembers: 3}), domain.InterPodAffinity()
	if len(w.members) == 1 && rapid.Bool().Draw(t, "halves") {
		c = halved{c}
		pods := w.snapshot.Pods
		for i := range rapid.IntRange(0, 3).Draw(t, "copies") * 3 { // many are told in another way than few
			for _, p := range pods {
				p.Name += fmt.Sprint("-", i)
				w.snapshot.Pods = append(w.snapshot.Pods, p)
			}
		}
	}
	follow(t, w, c, agrees((*situation).affinity))
}

// halved is a constraint in two halves.
type halved struct{ domain.Constraint }

func (h halved) Prepare(ix *cluster.Index, members []*cluster.Pod) (domain.State, error) {
	own, theirs := h.Constraint.(interface {
		Halves() (domain.Constraint, func(...cluster.TermID) domain.Constraint)
	}).Halves()
	a, err := own.Prepare(ix, members)
	p, terms := members[0], ix.AntiTerms()
	var against []cluster.TermID
	told := len(p.Affinity)+len(p.AntiAffinity) > 0
	for _, t := range terms.Candidates(p) {
		if terms.Term(t).Selects(p.Namespace, ix.NamespaceLabels(p.Namespace), p.Labels) {
			against, told = append(against, t), told || slices.ContainsFunc(terms.Owners(t), func(p cluster.PodID) bool {
				n := ix.NodeOf(p)
				return n != cluster.NoNode && ix.Topology(terms.Term(t).TopologyKey()).Of(n) != cluster.NoValue
			})
		}
	}
	for _, t := range against {
		if b, err2 := theirs(t).Prepare(ix, members); a == nil && told {
			a, err = b, errors.Join(err, err2)
		} else if told {
			a, err = both{a, b}, errors.Join(err, err2)
		}
	}
	return a, err
}

type both struct {
	domain.State
	theirs domain.State
}

func (s both) Remove(p cluster.PodID, n cluster.NodeID) { s.State.Remove(p, n); s.theirs.Remove(p, n) }
func (s both) Return(p cluster.PodID, n cluster.NodeID) { s.State.Return(p, n); s.theirs.Return(p, n) }
func (s both) Place(domain.MemberID, cluster.NodeID)    {} // it is asked about no more
func (s both) Unplace(domain.MemberID, cluster.NodeID)  {}
func (s both) Fits(m domain.MemberID, n cluster.NodeID) domain.Reason {
	return cmp.Or(s.State.Fits(m, n), s.theirs.Fits(m, n))
}

func TestInterPodAffinityAgreesWithItsNaiveTwin(t *testing.T) { rapid.Check(t, affinityAgreesWithTwin) }
func FuzzInterPodAffinityAgreesWithItsNaiveTwin(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(affinityAgreesWithTwin))
}

func affinity136AgreesWithTwin(t *rapid.T) {
	w, c, anew := drawWorld(t, features{affinity: true, maxMembers: 3}), domain.InterPodAffinity136(), rapid.Bool().Draw(t, "anew")
	if anew {
		c = domain.Anew(c)
	}
	follow(t, w, c, agrees(func(s *situation, m *cluster.Pod, node string) answer {
		s.v136, s.anew = true, anew
		return s.affinity(m, node)
	}))
}

func TestInterPodAffinity136AgreesWithItsNaiveTwin(t *testing.T) {
	rapid.Check(t, affinity136AgreesWithTwin)
}
func FuzzInterPodAffinity136AgreesWithItsNaiveTwin(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(affinity136AgreesWithTwin))
}

func spreadAgreesWithTwin(t *rapid.T) {
	w := drawWorld(t, features{spread: true, terminating: true, maxMembers: 3})
	follow(t, w, domain.TopologySpread(), agrees((*situation).spread))
}

func TestTopologySpreadAgreesWithItsNaiveTwin(t *testing.T) { rapid.Check(t, spreadAgreesWithTwin) }
func FuzzTopologySpreadAgreesWithItsNaiveTwin(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(spreadAgreesWithTwin))
}

func spreadAnewAgreesWithTwin(t *rapid.T) {
	w := drawWorld(t, features{spread: true, terminating: true, maxMembers: 2})
	follow(t, w, domain.Anew(domain.TopologySpread()), agrees(func(s *situation, m *cluster.Pod, node string) answer {
		s.anew = true
		return s.spread(m, node)
	}))
}

func TestTopologySpreadAnewAgreesWithItsNaiveTwin(t *testing.T) {
	rapid.Check(t, spreadAnewAgreesWithTwin)
}
func FuzzTopologySpreadAnewAgreesWithItsNaiveTwin(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(spreadAnewAgreesWithTwin))
}

func tokensAgreeWithTwin(t *rapid.T) {
	w := drawWorld(t, features{tokens: true, maxMembers: 3})
	follow(t, w, domain.ExclusiveTokens(), agrees((*situation).tokens))
}

func TestExclusiveTokensAgreesWithItsNaiveTwin(t *testing.T) { rapid.Check(t, tokensAgreeWithTwin) }
func FuzzExclusiveTokensAgreesWithItsNaiveTwin(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(tokensAgreeWithTwin))
}

func devicesAgreeWithTwin(t *rapid.T) {
	w := drawWorld(t, features{devices: true, maxMembers: 3})
	follow(t, w, domain.Devices(), func(t *rapid.T, s *situation, m *cluster.Pod, node string, got domain.Reason) {
		want, sure := s.devices(m, node)
		if got.Check == domain.CheckDevice && !got.Unresolvable && (!sure || want.unresolvable) {
			return // fractions differ: a way, or that there never is one, may be missed, but nothing is made up
		}
		require.Equal(t, want, answer{got.Check, got.Unresolvable}, "%s on %s: %+v", m.Name, node, got)
	})
}

func TestDevicesAgreesWithItsNaiveTwin(t *testing.T) { rapid.Check(t, devicesAgreeWithTwin) }
func FuzzDevicesAgreesWithItsNaiveTwin(f *testing.F) { f.Fuzz(rapid.MakeFuzz(devicesAgreeWithTwin)) }

// situation is who is where, in strings: the naive twins of the constraints work
// everything out from it each time they are asked.
type situation struct {
	*world
	v136 bool              // as InterPodAffinity136
	anew bool              // as Anew
	was  map[string]string // running pod → its node when the question was asked
	now  map[string]string // pod or placed member → node
}

func newSituation(w *world) *situation {
	s := &situation{world: w, was: map[string]string{}}
	for i := range w.snapshot.Pods {
		if p := &w.snapshot.Pods[i]; p.Node != "" {
			s.was[nameOf(p)] = p.Node
		}
	}
	s.now = maps.Clone(s.was)
	return s
}

func nameOf(p *cluster.Pod) string { return p.Namespace + "/" + p.Name }

func (s *situation) pod(name string) *cluster.Pod {
	for i := range s.members {
		if nameOf(&s.members[i]) == name {
			return &s.members[i]
		}
	}
	for i := range s.snapshot.Pods {
		if nameOf(&s.snapshot.Pods[i]) == name {
			return &s.snapshot.Pods[i]
		}
	}
	panic("no such pod: " + name)
}

func (s *situation) node(name string) *cluster.Node {
	i := slices.IndexFunc(s.snapshot.Nodes, func(n cluster.Node) bool { return n.Name == name })
	return &s.snapshot.Nodes[i]
}

// answer is what a naive twin says: the check that fails, or "", and whether
// evictions on the node could ever help.
type answer struct {
	check        domain.Check
	unresolvable bool
}

// others returns the pods that are somewhere, but for the member itself.
func (s *situation) others(m *cluster.Pod, at map[string]string) map[*cluster.Pod]*cluster.Node {
	others := map[*cluster.Pod]*cluster.Node{}
	for name, node := range at {
		if name != nameOf(m) {
			others[s.pod(name)] = s.node(node)
		}
	}
	return others
}

// affinity is the twin of InterPodAffinity.
func (s *situation) affinity(m *cluster.Pod, node string) answer {
	if !s.affinityMatters() || s.anew && len(m.Affinity)+len(m.AntiAffinity) == 0 && !s.repelledByAnyone(m, s.present()) {
		return answer{}
	}
	n := s.node(node)
	others := s.others(m, s.now)
	satisfied := true
	for _, t := range m.Affinity {
		if _, ok := n.Labels[t.TopologyKey]; !ok {
			return answer{domain.CheckAffinity, true}
		}
		found := false
		for p, at := range others {
			found = found || s.matchesAll(m, p) && sameValue(n, at, t.TopologyKey)
		}
		satisfied = satisfied && found
	}
	if !satisfied {
		anywhere := false
		for p, at := range others {
			for _, t := range m.Affinity {
				_, labelled := at.Labels[t.TopologyKey]
				anywhere = anywhere || labelled && s.matchesAll(m, p)
			}
		}
		if anywhere || !s.matchesAll(m, m) {
			return answer{domain.CheckAffinity, true}
		}
	}
	for p, at := range others {
		for _, t := range m.AntiAffinity {
			if s.pendingTermSelects(m, t, p) && sameValue(n, at, t.TopologyKey) {
				return answer{domain.CheckAntiAffinity, false}
			}
		}
		for _, t := range p.AntiAffinity {
			if s.runningTermSelects(p, t, m) && sameValue(n, at, t.TopologyKey) {
				return answer{domain.CheckAntiAffinity, false}
			}
		}
	}
	return answer{}
}

// affinityMatters is false where no member has a term and nobody that runs when the
// question is asked has to do with any of them.
func (s *situation) affinityMatters() bool {
	return slices.ContainsFunc(s.members, func(m cluster.Pod) bool {
		return len(m.Affinity)+len(m.AntiAffinity) > 0 || s.repelledByAnyone(&m, s.was)
	})
}

// present are those who are there but for who is only nominated.
func (s *situation) present() map[string]string {
	there := maps.Clone(s.now)
	maps.DeleteFunc(there, func(name, _ string) bool { p := s.pod(name); return p.Node == "" && p.NominatedNode != "" })
	return there
}

func (s *situation) repelledByAnyone(m *cluster.Pod, there map[string]string) bool {
	for p, at := range s.others(m, there) {
		for _, t := range p.AntiAffinity {
			if _, labelled := at.Labels[t.TopologyKey]; labelled && s.runningTermSelects(p, t, m) {
				return true
			}
		}
	}
	return false
}

func sameValue(a, b *cluster.Node, key string) bool {
	v, ok := a.Labels[key]
	w, too := b.Labels[key]
	return ok && too && v == w
}

func (s *situation) matchesAll(m, p *cluster.Pod) bool {
	for _, t := range m.Affinity {
		if !s.pendingTermSelects(m, t, p) {
			return false
		}
	}
	return len(m.Affinity) > 0
}

// pendingTermSelects is for a term of the preemptor: its namespace selector speaks
// of namespaces that exist.
func (s *situation) pendingTermSelects(owner *cluster.Pod, t cluster.AffinityTerm, p *cluster.Pod) bool {
	labels, exists := s.namespace(p.Namespace)
	empty := t.NamespaceSelector != nil && len(t.NamespaceSelector.MatchLabels)+len(t.NamespaceSelector.MatchExpressions) == 0
	selected := empty || exists && matches(t.NamespaceSelector, labels) || s.v136 && matches(t.NamespaceSelector, nil)
	return termSelects(owner, t, p, selected)
}

func (s *situation) runningTermSelects(owner *cluster.Pod, t cluster.AffinityTerm, p *cluster.Pod) bool {
	labels, _ := s.namespace(p.Namespace)
	return termSelects(owner, t, p, matches(t.NamespaceSelector, labels))
}

func termSelects(owner *cluster.Pod, t cluster.AffinityTerm, p *cluster.Pod, selected bool) bool {
	own := len(t.Namespaces) == 0 && t.NamespaceSelector == nil && owner.Namespace == p.Namespace
	if !own && !slices.Contains(t.Namespaces, p.Namespace) && !selected {
		return false
	}
	for _, key := range t.MatchLabelKeys {
		if v, ok := owner.Labels[key]; ok && !has(p.Labels, key, v) {
			return false
		}
	}
	for _, key := range t.MismatchLabelKeys {
		if v, ok := owner.Labels[key]; ok && has(p.Labels, key, v) {
			return false
		}
	}
	return matches(t.Selector, p.Labels)
}

func has(labels map[string]string, key, value string) bool {
	v, ok := labels[key]
	return ok && v == value
}

func (s *situation) namespace(name string) (map[string]string, bool) {
	for _, ns := range s.snapshot.Namespaces {
		if ns.Name == name {
			return ns.Labels, true
		}
	}
	return nil, false
}

func matches(s *disruption.Selector, labels map[string]string) bool {
	if s == nil {
		return false
	}
	for k, v := range s.MatchLabels {
		if !has(labels, k, v) {
			return false
		}
	}
	for _, r := range s.MatchExpressions {
		v, ok := labels[r.Key]
		in := ok && slices.Contains(r.Values, v)
		switch r.Operator {
		case disruption.In:
			ok = in
		case disruption.NotIn:
			ok = !in
		case disruption.DoesNotExist:
			ok = !ok
		}
		if !ok {
			return false
		}
	}
	return true
}

// tokens is the twin of ExclusiveTokens.
func (s *situation) tokens(m *cluster.Pod, _ string) answer {
	if len(s.members) == 1 && !s.holds(m, s.was) {
		return answer{}
	}
	if s.holds(m, s.now) {
		return answer{domain.CheckToken, false}
	}
	return answer{}
}

func (s *situation) holds(m *cluster.Pod, at map[string]string) bool {
	for p := range s.others(m, at) {
		for _, token := range p.Tokens {
			if slices.Contains(m.Tokens, token) {
				return true
			}
		}
	}
	return false
}

// devices is the twin of Devices: it tries every way to seat those who hold no
// certain device. sure is false where fractions differ and the constraint may miss a way.
func (s *situation) devices(m *cluster.Pod, node string) (a answer, sure bool) {
	n := s.node(node)
	for _, resource := range []string{gpu, "example.com/fpga"} {
		whole, fractions := wants(m, resource)
		if whole == 0 && len(fractions) == 0 {
			continue
		}
		pool, ok := n.Devices[resource]
		empty := slices.Repeat([]int64{pool.Capacity}, int(pool.Count))
		if !ok || !seat(empty, pool.Capacity, whole, fractions) {
			return answer{domain.CheckDevice, true}, true
		}
	}
	sure = true
	for _, resource := range []string{gpu, "example.com/fpga"} {
		whole, fractions := wants(m, resource)
		if whole == 0 && len(fractions) == 0 {
			continue
		}
		pool := n.Devices[resource]
		free := slices.Repeat([]int64{pool.Capacity}, int(pool.Count))
		for p, at := range s.others(m, s.now) {
			if at.Name != node {
				continue
			}
			for _, r := range p.Devices {
				switch {
				case r.Resource != resource:
				case s.was[nameOf(p)] == node && len(r.Assigned) > 0:
					for _, device := range r.Assigned {
						if device < pool.Count && r.Count > 0 {
							free[device] -= pool.Capacity
						} else if device < pool.Count {
							free[device] -= min(r.Fraction, pool.Capacity)
						}
					}
				case r.Count > 0:
					whole += int(r.Count)
				default:
					fractions = append(fractions, r.Fraction)
				}
			}
		}
		slices.Sort(fractions)
		sure = sure && len(slices.Compact(slices.Clone(fractions))) <= 1
		if !seat(free, pool.Capacity, whole, fractions) {
			return answer{domain.CheckDevice, false}, true
		}
	}
	return answer{}, sure
}

func wants(p *cluster.Pod, resource string) (whole int, fractions []int64) {
	for _, r := range p.Devices {
		if r.Resource != resource {
			continue
		}
		whole += int(r.Count)
		if r.Count == 0 {
			fractions = append(fractions, r.Fraction)
		}
	}
	return whole, fractions
}

// seat reports whether there is any way to seat the fractions and then the whole devices.
func seat(free []int64, capacity int64, whole int, fractions []int64) bool {
	if len(fractions) == 0 {
		for _, v := range free {
			if v == capacity {
				whole--
			}
		}
		return whole <= 0
	}
	for i, v := range free {
		if v >= fractions[0] {
			free[i] -= fractions[0]
			ok := seat(free, capacity, whole, fractions[1:])
			free[i] = v
			if ok {
				return true
			}
		}
	}
	return false
}

// spread is the twin of TopologySpread: it counts every pod of every domain anew.
func (s *situation) spread(m *cluster.Pod, node string) answer {
	for _, c := range m.Spread {
		n := s.node(node)
		value, ok := n.Labels[c.TopologyKey]
		if !ok {
			return answer{domain.CheckSpread, true}
		}
		counts := map[string]int{}
		for i := range s.snapshot.Nodes {
			if n := &s.snapshot.Nodes[i]; s.eligible(m, c, n) {
				counts[n.Labels[c.TopologyKey]] += s.countOn(m, c, n.Name)
			}
		}
		least := math.MaxInt
		for _, count := range counts {
			least = min(least, count)
		}
		if len(counts) < max(1, int(c.MinDomains)) {
			least = 0
		}
		skew := counts[value] - least
		if spreadSelects(m, c, m) {
			skew++
		}
		if skew > int(c.MaxSkew) {
			return answer{domain.CheckSpread, false}
		}
	}
	return answer{}
}

func (s *situation) eligible(m *cluster.Pod, c cluster.Spread, n *cluster.Node) bool {
	for _, other := range m.Spread {
		if _, ok := n.Labels[other.TopologyKey]; !ok {
			return false
		}
	}
	rule := noderules.NewRule(m)
	if c.NodeAffinityPolicy != cluster.Ignore && !rule.Matches(n) {
		return false
	}
	return c.NodeTaintsPolicy != cluster.Honor || rule.Untolerated(n) == nil
}

// countOn counts the pods on a node: with one member those that were there at
// first, less or more those that left or came since; with several those that are
// there. What is terminating, and everything by an empty selector, counts in
// leaving and coming only, with several who is nominated alone.
func (s *situation) countOn(m *cluster.Pod, c cluster.Spread, node string) int {
	count := 0
	for _, p := range s.everybody() {
		if !spreadSelects(m, c, p) {
			continue
		}
		was, now := s.was[nameOf(p)] == node, s.now[nameOf(p)] == node
		overlooked := p.Terminating || c.Selector != nil && isEmpty(m, c)
		switch {
		case s.anew || len(s.members) > 1:
			if now && (!overlooked || p.NominatedNode != "") {
				count++
			}
		case was && now:
			if !overlooked {
				count++
			}
		case was:
			if overlooked {
				count--
			}
		case now:
			if nameOf(p) != nameOf(m) || !overlooked {
				count++
			}
		}
	}
	return count
}

func (s *situation) everybody() []*cluster.Pod {
	byName := map[string]*cluster.Pod{}
	for i := range s.snapshot.Pods {
		byName[nameOf(&s.snapshot.Pods[i])] = &s.snapshot.Pods[i]
	}
	for i := range s.members {
		byName[nameOf(&s.members[i])] = &s.members[i]
	}
	var all []*cluster.Pod
	for _, p := range byName {
		all = append(all, p)
	}
	return all
}

func spreadSelects(owner *cluster.Pod, c cluster.Spread, p *cluster.Pod) bool {
	if p.Namespace != owner.Namespace || !matches(c.Selector, p.Labels) {
		return false
	}
	for _, key := range c.MatchLabelKeys {
		if v, ok := owner.Labels[key]; ok && !has(p.Labels, key, v) {
			return false
		}
	}
	return true
}

// isEmpty reports whether the selector of c, with the label keys, asks for nothing.
func isEmpty(owner *cluster.Pod, c cluster.Spread) bool {
	for _, key := range c.MatchLabelKeys {
		if _, ok := owner.Labels[key]; ok {
			return false
		}
	}
	return len(c.Selector.MatchLabels)+len(c.Selector.MatchExpressions) == 0
}
