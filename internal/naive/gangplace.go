package naive

import (
	"maps"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Placement is a placement of enough members on nodes once some pods are gone, nil
// if there is none. It looks at every one.
func (g *Gang) Placement(nodes []string, gone map[PodKey]bool) Places {
	var found Places
	g.EachPlacement(nodes, gone, func(places Places) bool {
		if g.Useful(places) {
			found = maps.Clone(places)
		}
		return found == nil
	})
	return found
}

// MostSeated is how many members can have a place at once in a placement of enough.
func (g *Gang) MostSeated(nodes []string, gone map[PodKey]bool) int {
	most := 0
	g.EachPlacement(nodes, gone, func(places Places) bool {
		if len(places) > most && g.Useful(places) {
			most = len(places)
		}
		return most < len(g.Members)
	})
	return most
}

// EachPlacement calls yield with every way to place any of the members on nodes
// once some pods are gone, until it returns false. yield must not keep places.
// Members that are alike are not told apart: of placements that differ in which of
// them goes where, one is seen.
func (g *Gang) EachPlacement(nodes []string, gone map[PodKey]bool, yield func(places Places) bool) {
	places := Places{}
	placed := map[string][]*cluster.Pod{}
	var place func(i int) bool
	place = func(i int) bool {
		if i == len(g.Members) {
			return yield(places)
		}
		m := g.Members[i]
		from := 0
		if before := g.twinBefore(i); before >= 0 {
			from = len(nodes) // its twin got no place: neither does it
			if n, ok := places[key(g.Members[before])]; ok {
				from = indexOf(nodes, n)
			}
		}
		for _, n := range nodes[from:] {
			if !g.fitsWith(m, n, placed[n], gone).OK() {
				continue
			}
			places[key(m)] = n
			placed[n] = append(placed[n], m)
			more := place(i + 1)
			placed[n] = placed[n][:len(placed[n])-1]
			delete(places, key(m))
			if !more {
				return false
			}
		}
		return place(i + 1)
	}
	place(0)
}

func indexOf(nodes []string, name string) int {
	for i, n := range nodes {
		if n == name {
			return i
		}
	}
	return -1
}

// twinBefore is the member before i in the same group that asks for the same and
// goes to the same nodes, -1 if there is none right before.
func (g *Gang) twinBefore(i int) int {
	if i == 0 {
		return -1
	}
	a, b := g.Members[i-1], g.Members[i]
	same := a.Group == b.Group && a.Namespace == b.Namespace && maps.Equal(a.Requests, b.Requests) &&
		len(a.Ports)+len(b.Ports)+len(a.Tolerations)+len(b.Tolerations) == 0 &&
		a.NodeAffinity == nil && b.NodeAffinity == nil && a.RequiredNode == b.RequiredNode && maps.Equal(a.NodeSelector, b.NodeSelector)
	if !same {
		return -1
	}
	return i - 1
}
