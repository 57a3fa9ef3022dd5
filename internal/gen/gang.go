package gen

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// GangProfile says what occurs in questions about groups. The zero GangProfile has
// one pod group of at most 4 members, all alike or not, in a cluster of the zero
// Profile.
type GangProfile struct {
	Profile
	MaxMembers int // 0: 4

	Running   bool // members that run already
	Composite bool // trees of groups
	Topology  bool // zones and racks, and wishes about them
	Wishes    bool // child groups with wishes of their own
	Levels    bool // preemption priorities above priorities
	Ties      bool // what ties pods to others: affinity, anti-affinity, spread
	Odd       bool // too few pods, members unlike their group, no member pending
}

// EverythingForGangs is the GangProfile with all there is, in clusters that are
// small enough to try every placement.
func EverythingForGangs() GangProfile {
	p := Everything()
	p.MaxNodes, p.MaxPods = 4, 12
	return GangProfile{Profile: p, Running: true, Composite: true, Topology: true, Levels: true, Odd: true}
}

// RandomGang is the question about a group of that seed.
func RandomGang(seed uint64, p GangProfile) Question { return buildGang(Seeded(seed), p) }

// DrawGang generates questions about groups from rapid's bits.
func DrawGang(p GangProfile) *rapid.Generator[Question] {
	return rapid.Custom(func(t *rapid.T) Question { return buildGang(Drawn(t), p) })
}

// RandomPlacement gives members of a group nodes at random, some of them none.
func RandomPlacement(seed uint64, members []*cluster.Pod, nodes []string) map[string]string {
	s := Seeded(seed)
	places := map[string]string{}
	for _, m := range members {
		if len(nodes) > 0 && s(8) > 0 {
			places[m.Namespace+"/"+m.Name] = Pick(s, nodes...)
		}
	}
	return places
}

// gang makes the group that wants to run.
type gang struct {
	*builder
	p      GangProfile
	prio   int32
	model  cluster.Pod // what members that are alike look like
	alike  bool
	number int // of pods so far
}

func buildGang(src Source, p GangProfile) Question {
	_, q := newGang(src, p)
	return q
}

func newGang(src Source, p GangProfile) (*gang, Question) {
	if p.MaxMembers == 0 {
		p.MaxMembers = 4
	}
	g := &gang{builder: surroundings(src, p.Profile), p: p}
	g.zones()
	g.prio = Pick(g.Source, int32(1000), 1000, 100, 100, 10)
	g.alike = g.Source(3) > 0
	g.model = g.pod("model")
	g.place(&g.model)
	var preemptor cluster.Preemptor
	switch {
	case g.chance(p.Composite, 40):
		preemptor = g.tree()
	case g.Source(4) == 0:
		preemptor = g.inline()
	default:
		pg := g.group("gang", 1+g.Source(p.MaxMembers))
		preemptor = cluster.Preemptor{Kind: cluster.KindPodGroup, Namespace: pg.Namespace, Name: pg.Name}
	}
	g.levels()
	g.ties()
	return g, Question{Snapshot: g.s, Preemptor: preemptor}
}

// levels raises what running pods and groups count as when somebody wants to evict
// them.
func (g *gang) levels() {
	for i := range g.s.Pods {
		if p := &g.s.Pods[i]; p.Node != "" {
			p.PreemptionPriority = g.raised(p.Priority)
		}
	}
	for i := range g.s.PodGroups {
		g.s.PodGroups[i].PreemptionPriority = g.raised(g.s.PodGroups[i].Priority)
	}
	for i := range g.s.CompositePodGroups {
		g.s.CompositePodGroups[i].PreemptionPriority = g.raised(g.s.CompositePodGroups[i].Priority)
	}
}

func (g *gang) raised(priority *int32) *int32 {
	if !g.chance(g.p.Levels, 30) || priority == nil {
		return nil
	}
	v := *priority + Pick(g.Source, int32(0), 5, 90, 990)
	return &v
}

// ties makes some pods of the snapshot, and some members, want to be near others or
// away from them.
func (g *gang) ties() {
	if !g.p.Ties {
		return
	}
	for i := range g.s.Pods {
		g.tie(&g.s.Pods[i])
	}
}

func (g *gang) tie(p *cluster.Pod) {
	on := func() *disruption.Selector {
		return &disruption.Selector{MatchLabels: Pick(g.Source, map[string]string{"app": "web"}, map[string]string{"app": "db"})}
	}
	key := func() string { return Pick(g.Source, "zone", "rack") }
	waits := p.Node == "" && p.NominatedNode == ""
	if g.chance(true, 12) {
		p.AntiAffinity = append(p.AntiAffinity, cluster.AffinityTerm{Selector: on(), TopologyKey: key()})
	}
	if g.chance(waits, 15) {
		p.Affinity = append(p.Affinity, cluster.AffinityTerm{Selector: on(), TopologyKey: key()})
	}
	if g.chance(waits, 25) {
		p.Spread = append(p.Spread, cluster.Spread{MaxSkew: int32(1 + g.Source(2)), TopologyKey: key(), Selector: on()})
	}
}

// zones labels the nodes by zone and rack; some lack one.
func (g *gang) zones() {
	if !g.p.Topology {
		return
	}
	for i := range g.s.Nodes {
		g.s.Nodes[i].Labels = g.zone(g.s.Nodes[i].Labels)
	}
}

// zone is labels with those of some place.
func (g *gang) zone(labels map[string]string) map[string]string {
	if labels = maps.Clone(labels); labels == nil {
		labels = map[string]string{}
	}
	if g.Source(8) > 0 {
		labels["zone"] = Pick(g.Source, "a", "b")
	} else {
		delete(labels, "zone")
	}
	if g.Source(8) > 0 {
		labels["rack"] = Pick(g.Source, "1", "2")
	}
	return labels
}

// member is a pod of the gang.
func (g *gang) member(group string) cluster.Pod {
	g.number++
	name := fmt.Sprintf("m%d", g.number)
	p := g.pod(name)
	if g.alike {
		p = g.model
		p.Name, p.UID = name, name
		p.Requests = maps.Clone(p.Requests)
	} else {
		g.place(&p)
	}
	p.Namespace, p.Group = "default", group
	if g.Source(4) == 0 {
		p.Created = epoch.Add(time.Duration(g.Source(3)) * time.Minute)
	}
	if g.Source(3) > 0 {
		p.Priority = &g.prio
	}
	if g.chance(g.p.Odd, 6) {
		v := Pick(g.Source, int32(0), 10, 5000)
		p.Priority = &v
	}
	if g.chance(g.p.Odd, 5) {
		p.Policy = priority.Never
	}
	if g.chance(g.p.Nominations, 25) {
		p.NominatedNode = g.someNode()
	}
	return p
}

// group makes a pod group of so many pending pods, and perhaps some that run.
func (g *gang) group(name string, pending int) cluster.PodGroup {
	pg := cluster.PodGroup{Namespace: "default", Name: name, Priority: &g.prio}
	running := 0
	if g.chance(g.p.Running, 30) {
		running = 1 + g.Source(2)
	}
	if g.chance(g.p.Odd, 3) {
		pending = 0
	}
	for range pending {
		g.s.Pods = append(g.s.Pods, g.member(name))
	}
	for range running {
		p := g.member(name)
		p.NominatedNode = ""
		p.Node = g.someNode()
		g.s.Pods = append(g.s.Pods, p)
	}
	if g.Source(4) > 0 {
		least := int32(1 + g.Source(max(1, pending+running)))
		if g.chance(g.p.Odd, 5) {
			least++
		}
		pg.MinCount = &least
	} else {
		pg.Basic = true
	}
	if g.chance(g.p.Classes, 5) {
		pg.Policy = priority.Never
	}
	g.wishes(&pg.Topology)
	g.s.PodGroups = append(g.s.PodGroups, pg)
	return pg
}

// wishes are about where a group goes.
func (g *gang) wishes(to *[]cluster.TopologyConstraint) {
	for _, key := range []string{"zone", "rack"} {
		if !g.chance(g.p.Topology, 30) {
			continue
		}
		for i := range g.s.Nodes { // a key that no node has is an error
			if _, ok := g.s.Nodes[i].Labels[key]; ok {
				*to = append(*to, cluster.TopologyConstraint{Key: key, Preferred: g.Source(2) > 0})
				break
			}
		}
	}
}

// inline is a group that the snapshot does not have, or has too.
func (g *gang) inline() cluster.Preemptor {
	pg := g.group("gang", 0)
	p := cluster.Preemptor{Group: &pg}
	for range 1 + g.Source(g.p.MaxMembers) {
		p.Pods = append(p.Pods, g.member("gang"))
	}
	if others := g.s.PodGroups[:len(g.s.PodGroups)-1]; g.Source(2) > 0 { // only inline
		g.s.PodGroups = append([]cluster.PodGroup(nil), others...)
	}
	return p
}

// tree is a composite group of two or three groups, one of them perhaps composite.
func (g *gang) tree() cluster.Preemptor {
	root := cluster.CompositePodGroup{Namespace: "default", Name: "tree", Priority: &g.prio}
	g.wishes(&root.Topology)
	left := g.p.MaxMembers
	children := 2 + g.Source(2)
	for i := range children {
		parent := "tree"
		if i == children-1 && g.Source(3) == 0 {
			parent = "branch"
			least := int32(1)
			g.s.CompositePodGroups = append(g.s.CompositePodGroups, cluster.CompositePodGroup{
				Namespace: "default", Name: parent, Parent: "tree", Priority: &g.prio, MinGroupCount: &least,
			})
		}
		pending := min(1+g.Source(2), left)
		left -= pending
		g.group(fmt.Sprintf("leaf%d", i), pending)
		g.s.PodGroups[len(g.s.PodGroups)-1].Parent = parent
		if !g.p.Wishes {
			g.s.PodGroups[len(g.s.PodGroups)-1].Topology = nil
		}
	}
	if least := int32(1 + g.Source(children)); g.Source(3) > 0 {
		root.MinGroupCount = &least
	}
	g.s.CompositePodGroups = append(g.s.CompositePodGroups, root)
	return cluster.Preemptor{Kind: cluster.KindCompositePodGroup, Namespace: root.Namespace, Name: root.Name}
}

// Enlarge returns q where a running group, if there is one, has many more pods, which ask for little:
// it is on most nodes, and has many times as many pods as there are.
func Enlarge(q Question, seed uint64) Question {
	s, pods := Seeded(seed), q.Snapshot.Pods
	i := slices.IndexFunc(pods, func(p cluster.Pod) bool {
		return p.Group != "" && slices.ContainsFunc(q.Snapshot.Nodes, func(n cluster.Node) bool { return n.Name == p.Node })
	})
	if i < 0 {
		return q
	}
	q.Snapshot.Pods = slices.Clone(pods)
	for k := range 16 + s(8) {
		p := pods[i]
		p.Name, p.Node, p.Ports = fmt.Sprintf("%s-%d", p.Name, k), Pick(s, q.Snapshot.Nodes...).Name, nil
		p.Labels, p.Requests = maps.Clone(p.Labels), cluster.Resources{cluster.CPU: int64(s(300))}
		q.Snapshot.Pods = append(q.Snapshot.Pods, p)
	}
	return q
}
