package cluster

import (
	"hash/maphash"
	"maps"

	"github.com/preempt-go/preempt/disruption"
)

// LabelSetID is a position among the distinct pairs of namespace and labels that
// the pods of an [Index] carry.
type LabelSetID int32

// LabelSets tells which pods of an index look the same to a label selector: pods
// of one workload mostly share namespace and labels, so that a selector is matched
// against each LabelSetID and not against each pod. Immutable.
type LabelSets struct {
	of       []LabelSetID
	first    []*Pod
	carriers csr[PodID]             // of each label set
	with     map[label][]LabelSetID // ascending
	all      []LabelSetID
}

type label struct{ key, value string }

// LabelSets returns the label sets of ix, in order of the first pod that carries
// them. They are computed on the first call: O(l) for l labels of all pods.
func (ix *Index) LabelSets() *LabelSets {
	ix.lazy.labelSetsOnce.Do(func() { ix.lazy.labelSets = newLabelSets(ix.pods) })
	return ix.lazy.labelSets
}

// Len is the number of label sets; LabelSetID runs from 0 to Len-1.
func (ls *LabelSets) Len() int { return len(ls.first) }

// Of returns the label set that pod p carries.
func (ls *LabelSets) Of(p PodID) LabelSetID { return ls.of[p] }

// Pod returns the first pod that carries s: one with its namespace and labels. It
// must not be changed.
func (ls *LabelSets) Pod(s LabelSetID) *Pod { return ls.first[s] }

// Carriers returns the pods that carry s, running and pending, in ascending order.
// The slice belongs to ls.
func (ls *LabelSets) Carriers(s LabelSetID) []PodID { return ls.carriers.row(int(s)) }

// Candidates returns, in ascending order, the label sets that s may match: every
// one that it does match is among them, and with a label that must have a given
// value only those with the rarest such label. The slice belongs to ls.
func (ls *LabelSets) Candidates(s *disruption.Selector) []LabelSetID {
	if s == nil {
		return nil
	}
	best := ls.all
	narrow := func(key, value string) {
		if with := ls.with[label{key, value}]; len(with) < len(best) {
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

func newLabelSets(pods []*Pod) *LabelSets {
	ls := &LabelSets{of: make([]LabelSetID, len(pods)), with: map[label][]LabelSetID{}}
	byHash := interner{}
	for i, p := range pods {
		if i > 0 && sameLabelSet(p, pods[i-1]) { // replicas are neighbours in order of name
			ls.of[i] = ls.of[i-1]
			continue
		}
		id := byHash.id(hashLabelSet(p),
			func(id int32) bool { return sameLabelSet(p, ls.first[id]) },
			func() int32 {
				ls.first = append(ls.first, p)
				return int32(len(ls.first) - 1)
			})
		ls.of[i] = LabelSetID(id)
	}
	for i, p := range ls.first {
		ls.all = append(ls.all, LabelSetID(i))
		for key, value := range p.Labels {
			ls.with[label{key, value}] = append(ls.with[label{key, value}], LabelSetID(i))
		}
	}
	ls.carriers = invert(len(ls.first), len(pods), func(p PodID) []LabelSetID { return ls.of[p : p+1] })
	return ls
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

// id returns the id of the value of that hash: a known one for which same holds,
// or else the one that add returns.
func (in interner) id(hash uint64, same func(id int32) bool, add func() int32) int32 {
	for _, id := range in[hash] {
		if same(id) {
			return id
		}
	}
	id := add()
	in[hash] = append(in[hash], id)
	return id
}
