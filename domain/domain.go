package domain

import (
	"slices"
	"strings"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Domain is a set of nodes in which a preemptor may be placed.
type Domain struct {
	Name  string
	Nodes []cluster.NodeID // ascending
}

// Splitter divides a cluster into domains that do not overlap, in a fixed order.
type Splitter interface {
	// Split appends the domains of ix to dst and returns the extended slice.
	Split(dst []Domain, ix *cluster.Index) []Domain
}

// WholeCluster is the Splitter with one domain, every node.
type WholeCluster struct{}

// ClusterName is the name of the domain that holds every node.
const ClusterName = "cluster"

// Split appends the one domain.
func (WholeCluster) Split(dst []Domain, ix *cluster.Index) []Domain {
	d := Domain{Name: ClusterName}
	for n := range cluster.NodeID(ix.NumNodes()) {
		d.Nodes = append(d.Nodes, n)
	}
	return append(dst, d)
}

// Topology is the Splitter by node labels, from the widest level to the narrowest:
// a domain's nodes agree in all of them. A node that lacks one is in no domain.
type Topology []string

// Split appends the domains in order of their names, such as "zone=a,rack=7".
func (keys Topology) Split(dst []Domain, ix *cluster.Index) []Domain {
	first := len(dst)
	at := map[string]int{}
	for n := range cluster.NodeID(ix.NumNodes()) {
		name, ok := keys.name(ix.Node(n))
		if !ok {
			continue
		}
		i, seen := at[name]
		if !seen {
			i = len(dst)
			at[name] = i
			dst = append(dst, Domain{Name: name})
		}
		dst[i].Nodes = append(dst[i].Nodes, n)
	}
	slices.SortFunc(dst[first:], func(a, b Domain) int { return strings.Compare(a.Name, b.Name) })
	return dst
}

func (keys Topology) name(node *cluster.Node) (string, bool) {
	parts := make([]string, len(keys))
	for i, key := range keys {
		value, ok := node.Labels[key]
		if !ok {
			return "", false
		}
		parts[i] = key + "=" + value
	}
	return strings.Join(parts, ","), true
}
