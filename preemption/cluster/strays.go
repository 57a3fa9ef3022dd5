package cluster

import (
	"cmp"
	"slices"

	"github.com/google/btree"
)

// strays are the pods that name a node that is unknown, as theirs or as the one that they
// are nominated to: they are looked for when a node of that name comes.
type strays struct {
	found  []PodID              // by a new index, not in byNode yet; never changed in place
	byNode *btree.BTreeG[stray] // nil: nobody
}

type stray struct {
	node string
	pod  PodID
}

func (s stray) before(o stray) bool {
	return cmp.Or(cmp.Compare(s.node, o.node), cmp.Compare(s.pod, o.pod)) < 0
}

// wanted is the node that a pod names, running or pending; empty if it names none.
func (row *podRow) wanted() string {
	if row.runs {
		return row.pod.Node
	}
	return row.pod.NominatedNode
}

// tree returns the strays by node, for a change.
func (s *strays) tree(ix *Index) *btree.BTreeG[stray] {
	if s.byNode == nil {
		s.byNode = btree.NewG(8, stray.before)
	}
	for _, p := range s.found {
		if name := ix.stray(ix.pods.At(int(p))); name != "" {
			s.byNode.ReplaceOrInsert(stray{name, p})
		}
	}
	s.found = nil
	return s.byNode
}

func (s *strays) fork() strays {
	f := *s
	if s.byNode != nil {
		f.byNode = s.byNode.Clone()
	}
	return f
}

// stray is the unknown node that a pod names, or empty.
func (ix *Index) stray(row *podRow) string {
	if name := row.wanted(); name != "" && row.node == NoNode && ix.NodeByName(name) == NoNode {
		return name
	}
	return ""
}

// restray notes that number p stands for another pod.
func (ix *Index) restray(p PodID, old, now *podRow) {
	was, is := ix.stray(old), ix.stray(now)
	if was == is {
		return
	}
	if was != "" {
		ix.strays.tree(ix).Delete(stray{was, p})
	}
	if is != "" {
		ix.strays.tree(ix).ReplaceOrInsert(stray{is, p})
	}
}

// straysTo returns the pods that name an unknown node, in order of namespace and name: those
// that run there, and those that are nominated to it.
func (ix *Index) straysTo(node string) (runners, nominees []PodID) {
	ix.strays.tree(ix).AscendGreaterOrEqual(stray{node, 0}, func(s stray) bool {
		switch {
		case s.node != node:
			return false
		case ix.Runs(s.pod):
			runners = append(runners, s.pod)
		default:
			nominees = append(nominees, s.pod)
		}
		return true
	})
	slices.SortFunc(runners, ix.ComparePods)
	slices.SortFunc(nominees, ix.ComparePods)
	return runners, nominees
}
