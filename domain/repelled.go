package domain

import (
	"cmp"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// repelled is the State of a half of [InterPodAffinity] for a lone pod without affinity terms whom few others repel: it remembers these one
// by one, where an affinityState counts on all nodes.
type repelled struct {
	ix     *cluster.Index
	misfit []misfit   // by topology
	by     []repeller // in order of misfit
}

// misfit is a topology, one value of which the pod and somebody else do not share.
type misfit struct {
	topology *cluster.Topology
	why      Reason
}

// repeller is a pod that repels.
type repeller struct {
	pod cluster.PodID
	of  int            // which misfit
	at  cluster.NodeID // where it is as things stand; NoNode: nowhere
}

// mostRepellers is how many a repelled has at most; mostAsked how many label sets are looked through for them.
const mostRepellers, mostAsked = 8, 64

// findRepelled looks for those who repel p by its own terms, or by those that c looks at. s is nil where nobody does; few is false where they are too many.
func (c interPodAffinity) findRepelled(ix *cluster.Index, p *cluster.Pod) (s *repelled, few bool, err error) {
	s = &repelled{ix: ix}
	if c.half == theirs {
		few = s.addTheirs(c.against)
	} else {
		few, err = s.addOwn(p, c.resolve)
	}
	slices.SortStableFunc(s.by, func(a, b repeller) int { return cmp.Compare(a.of, b.of) })
	if !few || len(s.by) == 0 {
		s = nil
	}
	return s, few, err
}

// addTheirs adds those who have one of terms.
func (s *repelled) addTheirs(terms []cluster.TermID) bool {
	anti := s.ix.AntiTerms()
	keyOf := func(t cluster.TermID) string { return anti.Term(t).TopologyKey() }
	terms = slices.Clone(terms)
	slices.SortStableFunc(terms, func(a, b cluster.TermID) int { return cmp.Compare(keyOf(a), keyOf(b)) })
	return !slices.ContainsFunc(terms, func(t cluster.TermID) bool { return !s.add(keyOf(t), repelsIt, anti.Owners(t)) })
}

// addOwn adds those whom p's terms select.
func (s *repelled) addOwn(p *cluster.Pod, resolve func(*cluster.PodTerm, *cluster.Index) *cluster.PodTerm) (few bool, err error) {
	terms, err := compileTerms(p, p.AntiAffinity, map[string]bool{})
	if err != nil {
		return false, err
	}
	labels := s.ix.LabelSets()
	for _, t := range terms {
		sets := t.Candidates(labels)
		if len(sets) > mostAsked {
			return false, nil
		}
		t = resolve(t, s.ix)
		s.add(t.TopologyKey(), itRepels, nil) // the keys are in the order of the terms
		for _, set := range sets {
			if one := labels.Pod(set); t.Selects(one.Namespace, nil, one.Labels) && !s.add(t.TopologyKey(), itRepels, labels.Carriers(set)) {
				return false, nil
			}
		}
	}
	return true, nil
}

// add adds pods, unless they are too many.
func (s *repelled) add(key, why string, pods []cluster.PodID) bool {
	if len(s.by)+len(pods) > mostRepellers {
		return false
	}
	of := slices.IndexFunc(s.misfit, func(m misfit) bool { return m.topology.Key() == key })
	if of < 0 {
		of = len(s.misfit)
		s.misfit = append(s.misfit, misfit{s.ix.Topology(key), Reason{Check: CheckAntiAffinity, Detail: why + key}})
	}
	for _, p := range pods {
		s.by = append(s.by, repeller{p, of, s.ix.NodeOf(p)})
	}
	return true
}

func (s *repelled) Remove(p cluster.PodID, _ cluster.NodeID) { s.move(p, cluster.NoNode) }
func (s *repelled) Return(p cluster.PodID, n cluster.NodeID) { s.move(p, n) }

func (s *repelled) move(p cluster.PodID, n cluster.NodeID) {
	for i := range s.by {
		if s.by[i].pod == p {
			s.by[i].at = n
		}
	}
}

// Place and Unplace change nothing: the pod, which is alone, does not repel itself.
func (s *repelled) Place(MemberID, cluster.NodeID)   {}
func (s *repelled) Unplace(MemberID, cluster.NodeID) {}

func (s *repelled) Fits(_ MemberID, n cluster.NodeID) Reason {
	if i := s.first(n, 0); i < len(s.by) {
		return s.misfit[s.by[i].of].why
	}
	return Reason{}
}

// first is the first, from one on, by whom the pod is repelled from node n as things stand.
func (s *repelled) first(n cluster.NodeID, from int) int {
	for i := from; i < len(s.by); i++ {
		if r := s.by[i]; r.at != cluster.NoNode && s.shares(r, n, r.at) {
			return i
		}
	}
	return len(s.by)
}

// shares reports whether two nodes have one value of the topology by which r repels.
func (s *repelled) shares(r repeller, a, b cluster.NodeID) bool {
	of := s.misfit[r.of].topology.Column()
	return of[a] != cluster.NoValue && of[a] == of[b]
}

// shut names somebody who keeps the pod off.
func (s *repelled) shut(n cluster.NodeID, self cluster.PodID, others bool) (*cluster.Topology, cluster.PodID) {
	i := s.first(n, 0)
	if i == len(s.by) {
		return nil, cluster.NoPod
	}
	of := s.by[i].of
	if !others {
		return s.misfit[of].topology, cluster.NoPod
	}
	for ; i < len(s.by) && s.by[i].of == of; i = s.first(n, i+1) {
		if r := s.by[i]; r.pod != self && s.ix.NodeOf(r.pod) != cluster.NoNode {
			return s.misfit[of].topology, r.pod
		}
	}
	return nil, cluster.NoPod
}

// Touches reports whether somebody repels who runs on node n.
func (s *repelled) Touches(n cluster.NodeID) bool {
	return slices.ContainsFunc(s.by, func(r repeller) bool { return s.ix.NodeOf(r.pod) == n && s.shares(r, n, n) })
}

// TouchesPod reports whether p repels on n.
func (s *repelled) TouchesPod(p cluster.PodID, n cluster.NodeID) bool {
	return slices.ContainsFunc(s.by, func(r repeller) bool { return r.pod == p && s.shares(r, n, n) })
}

func (s *repelled) Clone() State {
	c := *s
	c.by = slices.Clone(s.by)
	return &c
}

func (s *repelled) Scope() Scope {
	beyond := slices.ContainsFunc(s.by, func(r repeller) bool { return !s.misfit[r.of].topology.Unique() })
	return Scope{NodeLocal: !beyond, Monotone: true}
}
