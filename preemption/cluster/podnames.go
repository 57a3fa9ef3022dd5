package cluster

import (
	"hash/maphash"
	"math/bits"
	"slices"

	"github.com/preempt-go/preempt/internal/paged"
	"github.com/preempt-go/preempt/internal/ranges"
)

// podNames finds pods by name: an open-addressing table with linear probing, whose
// slots hold the number of a pod and a piece of the hash of its name. In pages, so
// that forks share it.
type podNames struct {
	slots paged.Column[nameSlot]
	shift int // of a hash, to its slot
	used  int
}

type nameSlot struct {
	pod  int32 // PodID+1; 0: empty
	hash uint32
}

// newPodNames returns a table of all pods, by the hashes of their names.
func newPodNames(hashes []uint32, parts int) podNames {
	size := bits.Len(uint(max(len(hashes), 8) * 4 / 3)) // at most three quarters full
	t := podNames{slots: paged.Make[nameSlot](1 << size), shift: 32 - size, used: len(hashes)}
	beyond := make([][]nameSlot, parts)
	ranges.Each(t.slots.Len(), parts, func(part, first, end int) {
		for p, hash := range hashes {
			i := t.home(hash)
			if i < first || i >= end {
				continue
			}
			for i < end && t.slots.At(i).pod != 0 {
				i++
			}
			if s := (nameSlot{int32(p) + 1, hash}); i < end {
				*t.slots.Edit(i) = s
			} else {
				beyond[part] = append(beyond[part], s)
			}
		}
	})
	for _, s := range slices.Concat(beyond...) {
		t.put(s)
	}
	return t
}

func hashName(namespace, name string) uint32 { return hashIn(hashNamespace(namespace), name) }

func hashNamespace(namespace string) uint64 {
	return bits.RotateLeft64(maphash.String(seed, namespace), 32)
}

// hashIn is hashName in a namespace of that hash.
func hashIn(namespace uint64, name string) uint32 {
	h := maphash.String(seed, name) + namespace
	return uint32(h ^ h>>32)
}

// home is the slot where the search for a hash begins.
func (t *podNames) home(hash uint32) int { return int(hash >> t.shift) }

func (t *podNames) next(i int) int { return (i + 1) & (t.slots.Len() - 1) }

// find returns the pod of that name, or NoPod.
func (t *podNames) find(pods *paged.Column[podRow], namespace, name string) PodID {
	hash := hashName(namespace, name)
	for i := t.home(hash); ; i = t.next(i) {
		s := t.slots.At(i)
		if s.pod == 0 {
			return NoPod
		}
		if s.hash == hash {
			if p := pods.At(int(s.pod - 1)).pod; p.Name == name && p.Namespace == namespace {
				return PodID(s.pod - 1)
			}
		}
	}
}

// add notes pod p, whose name is not there yet.
func (t *podNames) add(p PodID, namespace, name string) {
	if t.used++; t.used*4 > t.slots.Len()*3 {
		t.double()
	}
	t.put(nameSlot{int32(p) + 1, hashName(namespace, name)})
}

func (t *podNames) put(s nameSlot) {
	i := t.home(s.hash)
	for t.slots.At(i).pod != 0 {
		i = t.next(i)
	}
	*t.slots.Edit(i) = s
}

func (t *podNames) double() {
	old := t.slots
	t.slots, t.shift = paged.Make[nameSlot](2*old.Len()), t.shift-1
	for i := range old.Len() {
		if s := *old.At(i); s.pod != 0 {
			t.put(s)
		}
	}
}

// drop forgets pod p. The slots behind it move up, as if it had never been there.
func (t *podNames) drop(p PodID, namespace, name string) {
	t.used--
	hole := t.home(hashName(namespace, name))
	for t.slots.At(hole).pod != int32(p)+1 {
		hole = t.next(hole)
	}
	for i := t.next(hole); ; i = t.next(i) {
		s := *t.slots.At(i)
		if s.pod == 0 {
			break
		}
		if size := t.slots.Len() - 1; (i-t.home(s.hash))&size >= (i-hole)&size {
			*t.slots.Edit(hole) = s
			hole = i
		}
	}
	*t.slots.Edit(hole) = nameSlot{}
}

// fork returns a copy that shares its pages.
func (t *podNames) fork() podNames { return podNames{t.slots.Fork(), t.shift, t.used} }
