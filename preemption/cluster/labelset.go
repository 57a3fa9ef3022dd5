package cluster

import (
	"iter"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/paged"
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/preemption/cluster/internal/hashed"
)

// LabelSetID is a position among the distinct pairs of namespace and labels that
// the pods of an [Index] carry.
type LabelSetID int32

// LabelSets tells which pods of an index look the same to a label selector: pods
// of one workload mostly share namespace and labels, so that a selector is matched
// against each LabelSetID and not against each pod. A question must not change it.
type LabelSets struct {
	sets   paged.Column[labelSet]
	places paged.Column[setPlace] // of each pod
	names  *setNames
	shared bool // names are, with a fork: they are copied before they are changed
	owner  *byte
	empty  int // sets without a pod
}

// labelSet is one label set and who carries it.
type labelSet struct {
	first *Pod
	pods  []PodID
	owner *byte // whose pods may be changed in place
}

// setPlace is the label set of a pod, and where the pod stands in it.
type setPlace struct {
	set LabelSetID
	at  int32
}

// setNames finds label sets.
type setNames struct {
	byHash hashed.Interner
	with   map[label]int32 // a list of lists
	lists  [][]LabelSetID  // each ascending
	all    []LabelSetID
}

type label struct{ key, value string }

// LabelSets returns the label sets of ix, in order of the first pod that carries
// them, but for those that came later. They are computed on the first call: O(l) for
// l labels of all pods.
func (ix *Index) LabelSets() *LabelSets {
	return once(ix.lazy, &ix.lazy.labelSets, func() *LabelSets { return newLabelSets(ix, ranges.Parts(ix.NumPods(), fewPods)) })
}

// Len is the number of label sets; LabelSetID runs from 0 to Len-1. Some may have
// lost their carriers.
func (ls *LabelSets) Len() int { return ls.sets.Len() }

// Of returns the label set that pod p carries.
func (ls *LabelSets) Of(p PodID) LabelSetID { return ls.places.At(int(p)).set }

// Pod returns the first pod that carries s: one with its namespace and labels. It
// must not be changed.
func (ls *LabelSets) Pod(s LabelSetID) *Pod { return ls.sets.At(int(s)).first }

// Carriers returns the pods that carry s, running and pending, in no order. The slice
// belongs to ls.
func (ls *LabelSets) Carriers(s LabelSetID) []PodID { return ls.sets.At(int(s)).pods }

// Candidates returns, in ascending order, the label sets that s may match: every
// one that it does match is among them, and with a label that must have a given
// value only those with the rarest such label. The slice belongs to ls.
func (ls *LabelSets) Candidates(s *disruption.Selector) []LabelSetID {
	if s == nil {
		return nil
	}
	best := ls.names.all
	for l := range required(s) {
		if with := ls.names.having(l); len(with) < len(best) {
			best = with
		}
	}
	return best
}

// required iterates over the labels that s asks for with one value, in no order.
func required(s *disruption.Selector) iter.Seq[label] {
	return func(yield func(label) bool) {
		if s == nil {
			return
		}
		for key, value := range s.MatchLabels {
			if !yield(label{key, value}) {
				return
			}
		}
		for i := range s.MatchExpressions {
			if r := &s.MatchExpressions[i]; r.Operator == disruption.In && len(r.Values) == 1 && !yield(label{r.Key, r.Values[0]}) {
				return
			}
		}
	}
}

// intern returns the label set of p, a new one if need be.
func (ls *LabelSets) intern(p *Pod) LabelSetID { return ls.internHashed(p, hashLabelSet(p)) }

// internHashed is intern for a label set of that hash.
func (ls *LabelSets) internHashed(p *Pod, hash uint64) LabelSetID {
	same := func(id int32) bool { return sameLabelSet(p, ls.Pod(LabelSetID(id))) }
	if ls.shared {
		if id, ok := ls.names.byHash.Find(hash, same); ok {
			return LabelSetID(id)
		}
		ls.names, ls.shared = ls.names.clone(), false
	}
	return LabelSetID(ls.names.byHash.ID(hash, same, func() int32 {
		id := LabelSetID(ls.sets.Append(labelSet{first: p, owner: ls.owner}))
		ls.empty++ // as yet
		ls.names.all = append(ls.names.all, id)
		for key, value := range p.Labels {
			ls.names.listNewest(label{key, value})
		}
		return int32(id)
	}))
}

// newSetNames has room for that many label sets.
func newSetNames(most int) *setNames {
	n := &setNames{with: make(map[label]int32, most), lists: make([][]LabelSetID, 0, most), all: make([]LabelSetID, 0, most)}
	n.byHash.Reserve(most)
	return n
}

// having returns the label sets that have l.
func (n *setNames) having(l label) []LabelSetID {
	if i, ok := n.with[l]; ok {
		return n.lists[i]
	}
	return nil
}

// listNewest notes that the newest label set has l.
func (n *setNames) listNewest(l label) {
	newest := slices.Clip(n.all[len(n.all)-1:])
	if i, ok := n.with[l]; ok {
		n.lists[i] = append(n.lists[i], newest...)
		return
	}
	n.with[l] = int32(len(n.lists))
	n.lists = append(n.lists, newest)
}

func (n *setNames) clone() *setNames {
	c := &setNames{n.byHash.Clone(), maps.Clone(n.with), slices.Clone(n.lists), slices.Clone(n.all)}
	for i := range c.lists {
		c.lists[i] = slices.Clip(c.lists[i]) // whoever appends gets a copy
	}
	return c
}

// add notes that pod p has come.
func (ls *LabelSets) add(id PodID, p *Pod) {
	s := ls.intern(p)
	set := ls.edit(s)
	if len(set.pods) == 0 {
		ls.empty--
	}
	place := setPlace{s, int32(len(set.pods))}
	set.pods = append(set.pods, id)
	for ls.places.Len() <= int(id) {
		ls.places.Append(setPlace{})
	}
	*ls.places.Edit(int(id)) = place
}

// edit returns set s, whose pods may then be changed in place.
func (ls *LabelSets) edit(s LabelSetID) *labelSet {
	set := ls.sets.Edit(int(s))
	if set.owner != ls.owner {
		set.pods, set.owner = slices.Clone(set.pods), ls.owner
	}
	return set
}

// remove notes that pod p goes: the last of its set takes its place. It reports
// whether most sets still have pods.
func (ls *LabelSets) remove(id PodID) bool {
	place := *ls.places.At(int(id))
	set := ls.edit(place.set)
	last := set.pods[len(set.pods)-1]
	set.pods[place.at] = last
	ls.places.Edit(int(last)).at = place.at
	if set.pods = set.pods[:len(set.pods)-1]; len(set.pods) == 0 {
		ls.empty++
	}
	return ls.empty*2 <= ls.Len()+fewSets
}

// fewSets may be without pods, whatever the number of the others.
const fewSets = 64

func (ls *LabelSets) fork() *LabelSets {
	ls.shared, ls.owner = true, new(byte)
	return &LabelSets{ls.sets.Fork(), ls.places.Fork(), ls.names, true, new(byte), ls.empty}
}

func sameLabelSet(a, b *Pod) bool {
	return a.Namespace == b.Namespace && maps.Equal(a.Labels, b.Labels)
}

func hashLabelSet(p *Pod) uint64 { return hashed.String(p.Namespace) + hashLabels(p.Labels) }

// hashLabels is a sum, so that it does not depend on the order of the map.
func hashLabels(labels map[string]string) uint64 {
	var sum uint64
	for k, v := range labels {
		sum += hashed.Mix(hashed.String(k), hashed.String(v))
	}
	return sum
}
