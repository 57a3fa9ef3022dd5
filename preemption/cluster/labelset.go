package cluster

import (
	"hash/maphash"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/paged"
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
	byHash interner
	with   map[label][]LabelSetID // ascending
	all    []LabelSetID
}

type label struct{ key, value string }

// LabelSets returns the label sets of ix, in order of the first pod that carries
// them, but for those that came later. They are computed on the first call: O(l) for
// l labels of all pods.
func (ix *Index) LabelSets() *LabelSets {
	return once(ix.lazy, &ix.lazy.labelSets, func() *LabelSets { return newLabelSets(ix) })
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
	narrow := func(key, value string) {
		if with := ls.names.with[label{key, value}]; len(with) < len(best) {
			best = with
		}
	}
	for key, value := range s.MatchLabels {
		narrow(key, value)
	}
	for i := range s.MatchExpressions {
		if r := &s.MatchExpressions[i]; r.Operator == disruption.In && len(r.Values) == 1 {
			narrow(r.Key, r.Values[0])
		}
	}
	return best
}

func newLabelSets(ix *Index) *LabelSets {
	ls := &LabelSets{
		places: paged.Make[setPlace](ix.NumPods()), owner: new(byte),
		names: &setNames{byHash: interner{}, with: map[label][]LabelSetID{}},
	}
	counts := []int32{}
	last := NoPod
	for p := range PodID(ix.NumPods()) {
		if !ix.Exists(p) {
			continue
		}
		place := ls.places.Edit(int(p))
		if last != NoPod && sameLabelSet(ix.Pod(p), ix.Pod(last)) { // replicas are neighbours in order of name
			place.set = ls.Of(last)
		} else {
			place.set = ls.intern(ix.Pod(p))
		}
		last = p
		if int(place.set) == len(counts) {
			counts = append(counts, 0)
		}
		place.at = counts[place.set]
		counts[place.set]++
	}
	all := make([]PodID, ix.NumPods())
	for s, n := range counts {
		set := ls.sets.Edit(s)
		set.pods, all = all[:n:n], all[n:]
	}
	for p := range PodID(ix.NumPods()) {
		if ix.Exists(p) {
			place := ls.places.At(int(p))
			ls.sets.At(int(place.set)).pods[place.at] = p
		}
	}
	ls.empty = 0
	return ls
}

// intern returns the label set of p, a new one if need be.
func (ls *LabelSets) intern(p *Pod) LabelSetID {
	hash := hashLabelSet(p)
	same := func(id int32) bool { return sameLabelSet(p, ls.Pod(LabelSetID(id))) }
	if id, ok := ls.names.byHash.find(hash, same); ok {
		return LabelSetID(id)
	}
	if ls.shared {
		ls.names, ls.shared = ls.names.clone(), false
	}
	return LabelSetID(ls.names.byHash.id(hash, same, func() int32 {
		id := LabelSetID(ls.sets.Append(labelSet{first: p, owner: ls.owner}))
		ls.empty++ // as yet
		ls.names.all = append(ls.names.all, id)
		for key, value := range p.Labels {
			ls.names.with[label{key, value}] = append(ls.names.with[label{key, value}], id)
		}
		return int32(id)
	}))
}

func (n *setNames) clone() *setNames {
	c := &setNames{n.byHash.clone(), make(map[label][]LabelSetID, len(n.with)), slices.Clone(n.all)}
	for l, list := range n.with {
		c.with[l] = slices.Clone(list)
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

// seed differs from run to run; ids come from the order of pods, never from hashes.
var seed = maphash.MakeSeed()

func hashLabelSet(p *Pod) uint64 { return maphash.String(seed, p.Namespace) + hashLabels(p.Labels) }

// hashLabels is a sum, so that it does not depend on the order of the map.
func hashLabels(labels map[string]string) uint64 {
	var sum uint64
	for k, v := range labels {
		sum += mix(maphash.String(seed, k), maphash.String(seed, v))
	}
	return sum
}

// mix combines two hashes such that their order matters.
func mix(a, b uint64) uint64 {
	a ^= b*0x9e3779b97f4a7c15 + a<<6 + a>>2
	return a * 0xff51afd7ed558ccd
}

// interner numbers values by their hash; values of equal hash are told apart.
type interner map[uint64][]int32

// find returns the id of the value of that hash for which same holds.
func (in interner) find(hash uint64, same func(id int32) bool) (int32, bool) {
	for _, id := range in[hash] {
		if same(id) {
			return id, true
		}
	}
	return 0, false
}

// id is find, or else the id that add returns.
func (in interner) id(hash uint64, same func(id int32) bool, add func() int32) int32 {
	if id, ok := in.find(hash, same); ok {
		return id
	}
	id := add()
	in[hash] = append(in[hash], id)
	return id
}

func (in interner) clone() interner {
	c := make(interner, len(in))
	for h, ids := range in {
		c[h] = slices.Clone(ids)
	}
	return c
}
