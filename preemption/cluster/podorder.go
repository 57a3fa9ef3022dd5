package cluster

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
)

// comparePodNames orders pods by namespace and name.
func comparePodNames(a, b *Pod) int {
	if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}

// ComparePods orders pods by namespace and name.
func (ix *Index) ComparePods(a, b PodID) int {
	x, y := ix.pods.At(int(a)), ix.pods.At(int(b))
	if !x.late && !y.late {
		return cmp.Compare(a, b)
	}
	return comparePodNames(x.pod, y.pod)
}

// podOrder says which number each pod gets: its place in order of namespace and name. Pods are
// read where they stand, which costs less than going from name to name.
type podOrder struct {
	pods   []*Pod
	byName []int32 // positions in pods, in order of name; nil: as they stand
	ids    []PodID // of each position in pods; nil likewise
}

// sort finds the order of pods that do not stand in it.
func (o *podOrder) sort() {
	o.byName = sortedByName(o.pods)
	o.ids = make([]PodID, len(o.pods))
	for id, at := range o.byName {
		o.ids[at] = PodID(id)
	}
}

// complain complains once about every name that stands more than once; readers may
// have seen that there is none.
func (o *podOrder) complain(ps *problems, readers []*podReader) {
	if readers != nil && !slices.ContainsFunc(readers, func(r *podReader) bool { return r.twice }) {
		return
	}
	for i := 1; i < len(o.pods); i++ {
		p := o.at(i)
		if comparePodNames(o.at(i-1), p) == 0 && (i < 2 || comparePodNames(o.at(i-2), p) != 0) {
			ps.object(KindPod, p.Namespace, p.Name).bad("Name", quote(p.Name), "unique")
		}
	}
}

// at returns the i-th pod in order of name.
func (o *podOrder) at(i int) *Pod {
	if o.byName != nil {
		i = int(o.byName[i])
	}
	return o.pods[i]
}

// id is the number of the pod at a position.
func (o *podOrder) id(at int) PodID {
	if o.ids != nil {
		return o.ids[at]
	}
	return PodID(at)
}

// nameKey is a piece of a pod's name, and its position. Comparing pieces is what makes
// the order of many pods cheap: the names themselves lie all over the memory.
type nameKey struct {
	piece uint64
	at    int32
}

const pieceSize = 8

// sortedByName returns the positions of pods in order of namespace and name.
func sortedByName(pods []*Pod) []int32 {
	keys := make([]nameKey, 0, len(pods))
	for _, of := range byNamespace(pods) {
		start := len(keys)
		for _, at := range of {
			keys = append(keys, nameKey{at: at})
		}
		sortNames(pods, keys[start:], 0)
	}
	list := make([]int32, len(keys))
	for i, k := range keys {
		list[i] = k.at
	}
	return list
}

// byNamespace returns the positions of the pods of each namespace, in order of these.
func byNamespace(pods []*Pod) [][]int32 {
	lists := map[string]*[]int32{}
	var list *[]int32
	for i, p := range pods {
		if i == 0 || p.Namespace != pods[i-1].Namespace {
			if list = lists[p.Namespace]; list == nil {
				list = new([]int32)
				lists[p.Namespace] = list
			}
		}
		*list = append(*list, int32(i))
	}
	out := make([][]int32, 0, len(lists))
	for _, namespace := range slices.Sorted(maps.Keys(lists)) {
		out = append(out, *lists[namespace])
	}
	return out
}

// fewNames may be compared whole.
const fewNames = 12

// sortNames sorts keys, of pods whose names have their first bytes in common, by name.
func sortNames(pods []*Pod, keys []nameKey, common int) {
	name := func(k nameKey) string { return pods[k.at].Name }
	byWhole := func(a, b nameKey) int { return strings.Compare(name(a), name(b)) }
	if len(keys) <= fewNames {
		slices.SortFunc(keys, byWhole)
		return
	}
	common = commonPrefix(pods, keys, common)
	for i := range keys {
		keys[i].piece = pieceOf(name(keys[i])[common:])
	}
	slices.SortFunc(keys, func(a, b nameKey) int { return cmp.Compare(a.piece, b.piece) })
	for i, j := 0, 0; i < len(keys); i = j {
		whole := len(name(keys[i])) >= common+pieceSize // a piece may be no more than the end of a name
		for j = i + 1; j < len(keys) && keys[j].piece == keys[i].piece; j++ {
			whole = whole && len(name(keys[j])) >= common+pieceSize
		}
		switch same := keys[i:j]; {
		case len(same) > 1 && whole:
			sortNames(pods, same, common+pieceSize)
		case len(same) > 1:
			slices.SortFunc(same, byWhole)
		}
	}
}

// commonPrefix is how many bytes the names of keys have in common; these are known.
func commonPrefix(pods []*Pod, keys []nameKey, known int) int {
	first := pods[keys[0].at].Name
	for _, k := range keys[1:] {
		name := pods[k.at].Name
		n := known
		for n < len(first) && n < len(name) && first[n] == name[n] {
			n++
		}
		first = first[:n]
	}
	return len(first)
}

// pieceOf is the first bytes of s as a number; such numbers are in the order of the
// strings, but for zeros at the end of one.
func pieceOf(s string) uint64 {
	var piece [pieceSize]byte
	copy(piece[:], s)
	return binary.BigEndian.Uint64(piece[:])
}
