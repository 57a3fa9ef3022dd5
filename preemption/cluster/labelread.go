package cluster

import (
	"github.com/preempt-go/preempt/internal/paged"
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/preemption/cluster/internal/hashed"
)

// newLabelSets finds the label sets of ix: readers find those of some of the pods each,
// and what is the same in several parts is put together.
func newLabelSets(ix *Index, parts int) *LabelSets {
	n := ix.NumPods()
	ls := &LabelSets{places: paged.Make[setPlace](n), owner: new(byte)}
	readers := make([]*labelReader, parts)
	ranges.Each(n, len(readers), func(part, first, end int) {
		r := &labelReader{ix: ix}
		for p := PodID(first); p < PodID(end); p++ {
			if ix.Exists(p) {
				*ls.places.Edit(int(p)) = r.place(p)
			}
		}
		readers[part] = r
	})
	most := 0
	for _, r := range readers {
		most += len(r.sets)
	}
	ls.names = newSetNames(most)
	counts := make([]int32, 0, most)
	for _, r := range readers {
		for i := range r.sets {
			set := &r.sets[i]
			set.id = ls.internHashed(set.first, set.hash)
			if int(set.id) == len(counts) {
				counts = append(counts, 0)
			}
			set.before = counts[set.id]
			counts[set.id] += set.count
		}
	}
	all := make([]PodID, n)
	for s, n := range counts {
		set := ls.sets.Edit(s)
		set.pods, all = all[:n:n], all[n:]
	}
	ranges.Each(n, len(readers), func(part, first, end int) {
		for p := first; p < end; p++ {
			if ix.Exists(PodID(p)) {
				place := ls.places.Edit(p)
				set := &readers[part].sets[place.set]
				place.set, place.at = set.id, place.at+set.before
				ls.sets.At(int(place.set)).pods[place.at] = PodID(p)
			}
		}
	})
	ls.empty = 0
	return ls
}

// labelReader finds the label sets of pods one after another.
type labelReader struct {
	ix     *Index
	sets   []partSet
	byHash hashed.Interner

	keys   []labelKey // those of the labels that the last pods have had
	labels []label    // of the pod at hand
	hash   uint64     // likewise
}

// partSet is a label set that some of the pods carry.
type partSet struct {
	first  *Pod
	hash   uint64
	count  int32      // how many of these pods carry it
	id     LabelSetID // its number among all
	before int32      // how many pods of the parts before carry it
}

type labelKey struct {
	key  string
	hash uint64
}

// place is the place of pod p in one of r.sets.
func (r *labelReader) place(p PodID) setPlace {
	pod := r.ix.Pod(p)
	r.read(pod)
	s := r.byHash.ID(r.hash, func(s int32) bool { return r.carries(r.sets[s].first, pod.Namespace) }, func() int32 {
		r.sets = append(r.sets, partSet{first: pod, hash: r.hash})
		return int32(len(r.sets) - 1)
	})
	set := &r.sets[s]
	set.count++
	return setPlace{LabelSetID(s), set.count - 1}
}

// mostKeys is how many keys are looked up before the labels of a pod are gone through.
const mostKeys = 16

// read takes the labels of p, and their hash: see hashLabelSet. Looking keys up costs
// less than going through a map.
func (r *labelReader) read(p *Pod) {
	r.labels, r.hash = r.labels[:0], hashed.String(p.Namespace)
	for i := range r.keys {
		if len(r.labels) == len(p.Labels) {
			return
		}
		k := &r.keys[i]
		if value, ok := p.Labels[k.key]; ok {
			r.labels = append(r.labels, label{k.key, value})
			r.hash += hashed.Mix(k.hash, hashed.String(value))
		}
	}
	if len(r.labels) == len(p.Labels) {
		return
	}
	r.labels, r.hash = r.labels[:0], hashLabelSet(p)
	for key, value := range p.Labels {
		r.labels = append(r.labels, label{key, value})
		r.learn(key)
	}
}

// learn lets key be one of those that are looked up.
func (r *labelReader) learn(key string) {
	for _, k := range r.keys {
		if k.key == key {
			return
		}
	}
	k := labelKey{key, hashed.String(key)}
	if len(r.keys) < mostKeys {
		r.keys = append(r.keys, k)
		return
	}
	copy(r.keys, r.keys[1:]) // the one that was learnt first is forgotten
	r.keys[mostKeys-1] = k
}

// carries reports whether other has the labels of the pod at hand, and is in that
// namespace.
func (r *labelReader) carries(other *Pod, namespace string) bool {
	if other.Namespace != namespace || len(other.Labels) != len(r.labels) {
		return false
	}
	for _, l := range r.labels {
		if value, ok := other.Labels[l.key]; !ok || value != l.value {
			return false
		}
	}
	return true
}
