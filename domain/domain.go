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
	return append(dst, Domain{ClusterName, slices.AppendSeq(make([]cluster.NodeID, 0, ix.CountNodes()), ix.Nodes())})
}

// Topology is the Splitter by node labels, from the widest level to the narrowest:
// a domain's nodes agree in all of them. A node that lacks one is in no domain.
type Topology []string

// Split appends the domains in order of their names, such as "zone=a,rack=7". O(n) for n nodes and each key. The nodes are the caller's:
// with one key a copy of [cluster.Topology.Parts], which all who ask share.
func (keys Topology) Split(dst []Domain, ix *cluster.Index) []Domain {
	if len(keys) == 1 {
		topology, in := ix.Topology(keys[0]), 0
		for _, nodes := range topology.Parts() {
			in += len(nodes)
		}
		dst = slices.Grow(dst, topology.Len())
		all := make([]cluster.NodeID, 0, in)
		for label, nodes := range topology.Parts() {
			from := len(all)
			all = append(all, nodes...)
			dst = append(dst, Domain{Name: label, Nodes: all[from:len(all):len(all)]})
		}
		return dst
	}
	first := len(dst)
	parts, sample := keys.divide(ix)
	at := map[string]int{} // by name, as parts may share one
	of := make([]int32, len(sample))
	var sizes []int
	for part, n := range sample {
		name, _ := keys.name(ix.Node(n))
		i, seen := at[name]
		if !seen {
			i = len(dst) - first
			at[name] = i
			dst, sizes = append(dst, Domain{Name: name}), append(sizes, 0)
		}
		of[part] = int32(i)
	}
	in := 0
	for _, part := range parts {
		if part >= 0 {
			sizes[of[part]]++
			in++
		}
	}
	all := make([]cluster.NodeID, in)
	for i, size := range sizes {
		dst[first+i].Nodes, all = all[:0:size], all[size:]
	}
	for n, part := range parts {
		if part >= 0 {
			d := &dst[first+int(of[part])]
			d.Nodes = append(d.Nodes, cluster.NodeID(n))
		}
	}
	slices.SortFunc(dst[first:], func(a, b Domain) int { return strings.Compare(a.Name, b.Name) })
	return dst
}

// divide numbers the nodes so that those which agree in every key have the same
// number, from 0 on, and those that lack one -1. sample has the first node of each.
func (keys Topology) divide(ix *cluster.Index) (parts []int32, sample []cluster.NodeID) {
	type split struct {
		part  int32
		value cluster.ValueID
	}
	parts = slices.Repeat([]int32{-1}, ix.NumNodes())
	for n := range ix.Nodes() {
		if parts[n] = 0; sample == nil {
			sample = append(sample, n)
		}
	}
	for _, key := range keys {
		sample = sample[:0]
		numbers := map[split]int32{}
		last, number := split{-1, cluster.NoValue}, int32(-1)
		for n, value := range ix.Topology(key).Column() {
			if parts[n] < 0 || value == cluster.NoValue {
				parts[n] = -1
				continue
			}
			if now := (split{parts[n], value}); now != last {
				var seen bool
				if number, seen = numbers[now]; !seen {
					number = int32(len(sample))
					numbers[now] = number
					sample = append(sample, cluster.NodeID(n))
				}
				last = now
			}
			parts[n] = number
		}
	}
	return parts, sample
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
