package naive

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// KEP5710Alpha is the early text of KEP-5710, by the name that the library gives it.
const KEP5710Alpha = "KEP5710Alpha"

// GangOptions choose how a question about a group is answered.
type GangOptions struct {
	Rules       string // empty: Kubernetes137
	LowestLevel bool   // KEP5710Alpha always looks for it
	BrokenFree  bool   // what is left of a gang below its minCount costs nothing
}

// Places says where members of a gang go; a member that is not in it gets no place.
type Places map[PodKey]string

// Gang is a group that wants to run, with the groups beneath it.
type Gang struct {
	question
	rules   GangOptions
	self    wanted
	root    node
	Members []*cluster.Pod // pending, in the order in which they are placed
}

// wanted is the group that is asked about.
type wanted struct {
	group
	policy priority.Policy
}

// node is a group of the preemptor. Its members are pending or running pods.
type node struct {
	name             string
	pending, running []*cluster.Pod
	least            int // pods or child groups that must run
	topology         []cluster.TopologyConstraint
	children         []node
	leaf             bool
}

// Plan is what is to be done for a gang at one placement.
type Plan struct {
	Victims    []Unit // most important first
	Violations int
	Overruns   int64
	Score      Score
	Level      *int32 // the highest level at which anybody may go, where it was looked for
}

// NewGang finds the preemptor. The error tells that there is no such group.
func NewGang(o GangOptions, p cluster.Preemptor, s *cluster.Snapshot) (*Gang, error) {
	o.Rules = cmp.Or(o.Rules, Kubernetes137)
	units := Options{Rules: Kubernetes137} // the early text has the same units and budgets
	if o.Rules == Kubernetes136 {
		units.Rules = Kubernetes136
	}
	g := &Gang{question: question{options: units, snapshot: s}, rules: o}
	ok := true
	switch {
	case p.Group != nil:
		g.inline(p)
	case p.Kind == cluster.KindCompositePodGroup:
		if g.self.group, ok = g.composite(p.Namespace, p.Name); ok {
			g.root = g.compositeNode(g.self.group)
		}
	default:
		if g.self.group, ok = g.podGroup(p.Namespace, p.Name); ok {
			g.root = g.leaf(g.self.group)
		}
	}
	if !ok {
		return nil, fmt.Errorf("naive: no %s %s/%s", p.Kind, p.Namespace, p.Name)
	}
	g.self.policy = g.policyOf(p)
	g.priority = g.groupPriority(g.self.group)
	g.Members = g.root.members()
	return g, nil
}

// inline takes the group from the question; pods of the snapshot that run in a
// group of that name are its own.
func (g *Gang) inline(p cluster.Preemptor) {
	g.self.group = group{
		kind: cluster.KindPodGroup, namespace: p.Group.Namespace, name: p.Group.Name,
		class: p.Group.Class, priority: p.Group.Priority, parent: p.Group.Parent,
	}
	g.root = node{name: g.self.name, leaf: true, least: 1, topology: p.Group.Topology}
	if _, known := g.podGroup(g.self.namespace, g.self.name); known {
		g.root.running = g.leaf(g.self.group).running
	}
	if p.Group.MinCount != nil {
		g.root.least = int(*p.Group.MinCount)
	}
	for i := range p.Pods {
		g.root.pending = append(g.root.pending, &p.Pods[i])
	}
	slices.SortFunc(g.root.pending, g.placedFirst)
}

// policyOf is what the preemptor itself says about preempting.
func (g *Gang) policyOf(p cluster.Preemptor) priority.Policy {
	if p.Group != nil {
		return p.Group.Policy
	}
	for _, pg := range g.snapshot.PodGroups {
		if p.Kind == cluster.KindPodGroup && pg.Namespace == p.Namespace && pg.Name == p.Name {
			return pg.Policy
		}
	}
	for _, c := range g.snapshot.CompositePodGroups {
		if p.Kind == cluster.KindCompositePodGroup && c.Namespace == p.Namespace && c.Name == p.Name {
			return c.Policy
		}
	}
	return ""
}

func (g *Gang) topologyOf(of group) []cluster.TopologyConstraint {
	for _, pg := range g.snapshot.PodGroups {
		if of.kind == cluster.KindPodGroup && pg.Namespace == of.namespace && pg.Name == of.name {
			return pg.Topology
		}
	}
	for _, c := range g.snapshot.CompositePodGroups {
		if of.kind == cluster.KindCompositePodGroup && c.Namespace == of.namespace && c.Name == of.name {
			return c.Topology
		}
	}
	return nil
}

func (g *Gang) placedFirst(a, b *cluster.Pod) int {
	return cmp.Or(
		cmp.Compare(g.priorityOf(b), g.priorityOf(a)),
		cmp.Compare(cluster.Nanos(a.Created), cluster.Nanos(b.Created)),
		key(a).compare(key(b)))
}

func (g *Gang) leaf(of group) node {
	n := node{name: of.name, leaf: true, least: 1, topology: g.topologyOf(of)}
	for i := range g.snapshot.Pods {
		pod := &g.snapshot.Pods[i]
		switch {
		case pod.Namespace != of.namespace || pod.Group != of.name:
		case pod.Node == "":
			n.pending = append(n.pending, pod)
		default:
			n.running = append(n.running, pod)
		}
	}
	slices.SortFunc(n.pending, g.placedFirst)
	for _, pg := range g.snapshot.PodGroups {
		if pg.Namespace == of.namespace && pg.Name == of.name && pg.MinCount != nil {
			n.least = int(*pg.MinCount)
		}
	}
	return n
}

// compositeNode has the pod groups among its children first, each kind by name.
func (g *Gang) compositeNode(of group) node {
	n := node{name: of.name, topology: g.topologyOf(of)}
	var leaves, inner []group
	for _, pg := range g.snapshot.PodGroups {
		child, _ := g.podGroup(pg.Namespace, pg.Name)
		if g.parentOf(child).same(of) {
			leaves = append(leaves, child)
		}
	}
	for _, c := range g.snapshot.CompositePodGroups {
		child, _ := g.composite(c.Namespace, c.Name)
		if g.parentOf(child).same(of) {
			inner = append(inner, child)
		}
	}
	byName := func(a, b group) int { return cmp.Compare(a.name, b.name) }
	slices.SortFunc(leaves, byName)
	slices.SortFunc(inner, byName)
	for _, c := range leaves {
		n.children = append(n.children, g.leaf(c))
	}
	for _, c := range inner {
		n.children = append(n.children, g.compositeNode(c))
	}
	n.least = len(n.children)
	for _, c := range g.snapshot.CompositePodGroups {
		if c.Namespace == of.namespace && c.Name == of.name && c.MinGroupCount != nil {
			n.least = int(*c.MinGroupCount)
		}
	}
	return n
}

// parentOf is the composite group right above g; the zero group if there is none.
func (g *Gang) parentOf(of group) group {
	if of.kind == cluster.KindCompositePodGroup && g.inCycle(of) {
		return group{}
	}
	parent, ok := g.composite(of.namespace, of.parent)
	if !ok || g.inCycle(parent) {
		return group{}
	}
	return parent
}

func (n *node) members() []*cluster.Pod {
	out := slices.Clone(n.pending)
	for i := range n.children {
		out = append(out, n.children[i].members()...)
	}
	return out
}

// enough says whether the group may run with the members that have a place.
func (n *node) enough(placed Places) bool {
	if n.leaf {
		have := len(n.running)
		for _, p := range n.pending {
			if _, ok := placed[key(p)]; ok {
				have++
			}
		}
		return have >= n.least
	}
	have := 0
	for i := range n.children {
		if n.children[i].enough(placed) {
			have++
		}
	}
	return have >= n.least
}

// Enough says whether the gang may run with these members.
func (g *Gang) Enough(places Places) bool { return len(places) > 0 && g.root.enough(places) }

// Useful says whether the gang may run with these members where they are, and every
// one of them belongs to a group that may.
func (g *Gang) Useful(places Places) bool {
	return g.Enough(places) && g.root.nobodyInVain(places) && g.Together(places)
}

func (n *node) nobodyInVain(placed Places) bool {
	if !n.enough(placed) {
		return !slices.ContainsFunc(n.members(), func(p *cluster.Pod) bool { _, ok := placed[key(p)]; return ok })
	}
	for i := range n.children {
		if !n.children[i].nobodyInVain(placed) {
			return false
		}
	}
	return true
}

// Hopeless says whether the gang lacks pods or groups, whatever is evicted.
func (g *Gang) Hopeless() bool {
	everybody := Places{}
	for _, m := range g.Members {
		everybody[key(m)] = ""
	}
	return !g.root.enough(everybody)
}

// Potential lists the units with a pod on one of the nodes that the gang may evict,
// most important first. The gang's own running pods are not among them.
func (g *Gang) Potential(nodes []string) []Unit {
	own := map[PodKey]bool{}
	for _, p := range g.root.own() {
		own[key(p)] = true
	}
	units := map[string]Unit{}
	for i := range g.snapshot.Pods {
		p := &g.snapshot.Pods[i]
		if p.Node == "" || !slices.Contains(nodes, p.Node) || own[key(p)] {
			continue
		}
		if u := g.groupUnitOf(p); g.level(u) < g.priority {
			units[string(u.Kind)+" "+u.Namespace+"/"+u.Name] = u
		}
	}
	return slices.SortedFunc(maps.Values(units), g.keepFirst)
}

func (n *node) own() []*cluster.Pod {
	out := slices.Clone(n.running)
	for i := range n.children {
		out = append(out, n.children[i].own()...)
	}
	return out
}
