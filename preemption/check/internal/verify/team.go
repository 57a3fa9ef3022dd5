package verify

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// team is a group of the preemptor, with the groups beneath it.
type team struct {
	group    *group
	known    *group // that of the snapshot; nil for one given inline that it does not have
	name     string
	leaf     bool
	pending  []*member
	running  []*pod
	children []*team
	least    int // pods or child groups that must run
}

func (q *question) newTeam(g *group) *team {
	t := &team{group: g, known: g, name: g.Namespace + "/" + g.Name, leaf: g.kind == cluster.KindPodGroup, least: 1}
	if t.leaf {
		pods := slices.Clone(g.pods())
		slices.SortFunc(pods, func(a, b *pod) int { return q.placedFirst(a.Pod, b.Pod) })
		for _, p := range pods {
			if p.Node == "" {
				t.pending = append(t.pending, q.join(p.Pod, p))
			} else {
				t.running = append(t.running, p)
			}
		}
	} else {
		for _, c := range g.children {
			t.children = append(t.children, q.newTeam(c))
		}
		t.least = len(t.children)
	}
	if g.MinCount != nil {
		t.least = int(*g.MinCount)
	}
	return t
}

// runs: t has enough pods and groups with those of its members that in says.
func (t *team) runs(in func(*member) bool) bool {
	have := len(t.running)
	for _, m := range t.pending {
		if in(m) {
			have++
		}
	}
	for _, c := range t.children {
		if c.runs(in) {
			have++
		}
	}
	return have >= t.least
}

// need is how many pods must have a place at least for t to run, math.MaxInt32 if it can't.
func (t *team) need() (sum int) {
	if missing := t.least - len(t.running); t.leaf && missing <= len(t.pending) {
		return max(missing, 0)
	}
	var each []int
	for _, c := range t.children {
		each = append(each, c.need())
	}
	if len(each) < t.least {
		return math.MaxInt32
	}
	slices.Sort(each)
	for _, n := range each[:t.least] {
		sum = min(sum+n, math.MaxInt32)
	}
	return sum
}

// inVain is a group that has a member in, and does not run with it; nil if there is none.
func (t *team) inVain(in func(*member) bool) *team {
	if !t.runs(in) {
		if slices.ContainsFunc(t.members(), in) {
			return t
		}
		return nil
	}
	for _, c := range t.children {
		if vain := c.inVain(in); vain != nil {
			return vain
		}
	}
	return nil
}

func (t *team) members() []*member {
	list := slices.Clone(t.pending)
	for _, c := range t.children {
		list = append(list, c.members()...)
	}
	return list
}

// pins are the nodes of those members that run already.
func (t *team) pins() (list []*node) {
	for _, p := range t.running {
		if p.at != nil {
			list = append(list, p.at)
		}
	}
	for _, c := range t.children {
		list = append(list, c.pins()...)
	}
	return list
}

// strays is a group that would not be where its topology requires it: its members that
// are placed, and those that run, share one value of each required key. Empty: none.
func (t *team) strays() (group, key string) {
	var nodes []*node
	for _, m := range t.members() {
		if m.to != nil {
			nodes = append(nodes, m.to)
		}
	}
	if len(nodes) == 0 {
		return "", ""
	}
	nodes = append(nodes, t.pins()...)
	for _, c := range t.group.Topology {
		if !c.Preferred && !agree(nodes, c.Key) {
			return t.name, c.Key
		}
	}
	for _, c := range t.children {
		if group, key = c.strays(); group != "" {
			return group, key
		}
	}
	return "", ""
}

// agree: all nodes have the key, with one value.
func agree(nodes []*node, key string) bool {
	return !slices.ContainsFunc(nodes, func(n *node) bool {
		value, ok := n.Labels[key]
		return !ok || value != nodes[0].Labels[key]
	})
}

// region is a domain of a gang.
type region struct {
	name  string
	nodes []*node
}

// rounds lists the regions that a gang may go to: nodes that agree in every key, then
// again without the last that is only preferred, and so on. Members that run pin it.
func (q *question) rounds() (rounds [][]region) {
	if q.asked.Placement != nil {
		return [][]region{q.regions(nil)}
	}
	if h := q.o.Hooks; h != nil && h.Splitter != nil && !q.together { // it divides the cluster for gangs
		return [][]region{q.ownRegions(h.Splitter)}
	}
	keys := slices.Clone(q.team.group.Topology)
	for {
		rounds = append(rounds, q.regions(keys))
		last := -1
		for i, k := range keys {
			if k.Preferred {
				last = i
			}
		}
		if last < 0 {
			return rounds
		}
		keys = slices.Delete(keys, last, last+1)
	}
}

// ownRegions are the regions of a splitter of the user's.
func (q *question) ownRegions(s domain.Splitter) (list []region) {
	ix, err := cluster.NewIndex(q.Snapshot)
	if err != nil {
		return nil
	}
	for _, d := range s.Split(nil, ix) {
		r := region{name: d.Name}
		for _, n := range d.Nodes {
			r.nodes = append(r.nodes, q.byNode[ix.Node(n).Name])
		}
		list = append(list, r)
	}
	return q.pinned(list)
}

func (q *question) regions(keys []cluster.TopologyConstraint) (list []region) {
	at, name := map[string]int{}, []byte(nil)
	for _, n := range q.all() {
		name = name[:0]
		has := true
		for _, k := range keys {
			value, ok := n.Labels[k.Key]
			if has = has && ok; !has {
				break
			}
			name = append(append(append(append(name, k.Key...), '='), value...), ',')
		}
		if !has {
			continue
		}
		i, seen := at[string(name)]
		if !seen {
			i = len(list)
			at[string(name)] = i
			list = append(list, region{name: cmp.Or(strings.TrimSuffix(string(name), ","), clusterName)})
		}
		list[i].nodes = append(list[i].nodes, n)
	}
	if len(keys) == 0 && len(list) == 0 {
		list = []region{{name: clusterName}}
	}
	return q.pinned(list)
}

// pinned are those of list that hold every member that runs already.
func (q *question) pinned(list []region) []region {
	if q.asked.Placement != nil || q.team.known == nil {
		return list
	}
	pins := q.team.pins()
	return slices.DeleteFunc(list, func(r region) bool {
		return slices.ContainsFunc(pins, func(n *node) bool { return !slices.Contains(r.nodes, n) })
	})
}

// clusterName is the name of the domain that has every node.
const clusterName = "cluster"

// preferring adds to set the members of groups of t that prefer a level.
func (t *team) preferring(set map[*member]bool) {
	if slices.ContainsFunc(t.group.Topology, func(c cluster.TopologyConstraint) bool { return c.Preferred }) {
		for _, m := range t.members() {
			set[m] = true
		}
	}
	for _, c := range t.children {
		c.preferring(set)
	}
}
