package genopts

import (
	"cmp"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// drawHooks are one hook or two. They are values that a log can show, and functions of
// names and labels: the numbers of nodes, pods and units say nothing to them.
func drawHooks(s gen.Source) *preemption.Hooks {
	h := &preemption.Hooks{}
	for range 1 + s(2) {
		app := gen.Pick(s, "web", "db")
		switch s(9) {
		case 0:
			h.Constraints = append(h.Constraints, company{App: app, Most: s(3), Scope: domain.Scope{NodeLocal: s(2) == 0, Monotone: s(2) == 0}})
		case 1:
			h.Eligible = spares{App: app, Equals: s(2) == 1}
		case 2:
			h.Order = byApp{app}
		case 3:
			h.Cost = byLength{}
		case 4:
			h.Placer = gen.Pick[domain.Placer](s, domain.Pack{}, domain.Spread{}, domain.LeastDisruption{}, domain.FirstFit{LastNodeFirst: true})
		case 5:
			h.Splitter = gen.Pick[domain.Splitter](s, domain.WholeCluster{}, domain.Topology{"zone"}, byName(1+s(3)))
		case 6:
			h.Compare = fewestPods{}
		case 7:
			h.Filter = keepOff(app, int(s(2)))
		case 8:
			h.Constraints = append(h.Constraints, beside(s, app))
		}
	}
	return h
}

// keepOff is a filter that keeps pods without an app, or those with, off every other node by
// the ends of their names, and out of a zone.
func keepOff(app string, which int) func(*cluster.Pod, *cluster.Node) bool {
	return func(p *cluster.Pod, n *cluster.Node) bool {
		return has(p, app) == (which == 0) || int(n.Name[len(n.Name)-1])%2 == which && n.Labels["zone"] != "a"
	}
}

// beside is a rule of who runs with whom: pods of an app where there are at most so many others of
// it, or, with none, only where there is one; or on nodes of a zone, beside whoever is less
// important. Others are those of the zone, for some.
func beside(s gen.Source, app string) domain.Colocation {
	most, of := s(3), func(p *cluster.Pod) bool { return has(p, app) }
	count := func(others []*cluster.Pod) (n int) {
		for _, o := range others {
			if has(o, app) {
				n++
			}
		}
		return n
	}
	key := ""
	if most == 1 {
		key = "zone"
	}
	switch s(3) {
	case 0:
		return domain.Colocation{Check: "few", TopologyKey: key, Of: of, Monotone: s(2) == 0, Allows: func(_ *cluster.Pod, _ *cluster.Node, others []*cluster.Pod) bool {
			return count(others) <= most
		}}
	case 1:
		return domain.Colocation{Check: "company", TopologyKey: key, Of: of, Allows: func(_ *cluster.Pod, _ *cluster.Node, others []*cluster.Pod) bool {
			return count(others) > 0
		}}
	}
	return domain.Colocation{Check: "zoned", TopologyKey: key, Allows: func(p *cluster.Pod, n *cluster.Node, others []*cluster.Pod) bool {
		return n.Labels["zone"] == "a" || has(p, app) || !slices.ContainsFunc(others, func(o *cluster.Pod) bool { return o.Class != "" || o.NominatedNode != "" })
	}}
}

func has(p *cluster.Pod, app string) bool { return p.Labels["app"] == app }

// company is a constraint about the pods of an app on a node, for preemptors that have some:
// so many at most.
type company struct {
	App   string
	Most  int          // 0: whoever comes needs one that is there already
	Scope domain.Scope // of what is true of its states, what they tell
}

func (c company) Name() domain.Check { return "company" }

func (c company) Prepare(ix *cluster.Index, members []*cluster.Pod) (domain.State, error) {
	if !slices.ContainsFunc(members, func(m *cluster.Pod) bool { return has(m, c.App) }) {
		return nil, nil
	}
	s := &companyState{company: c, ix: ix, members: members, there: make([]int, ix.NumNodes())}
	for p := range ix.Pods() {
		if n := ix.NodeOf(p); n != cluster.NoNode {
			s.Return(p, n)
		}
	}
	return s, nil
}

type companyState struct {
	company
	ix      *cluster.Index
	members []*cluster.Pod
	there   []int
}

func (s *companyState) count(p *cluster.Pod, n cluster.NodeID, by int) {
	if has(p, s.App) {
		s.there[n] += by
	}
}

func (s *companyState) Remove(p cluster.PodID, n cluster.NodeID)    { s.count(s.ix.Pod(p), n, -1) }
func (s *companyState) Return(p cluster.PodID, n cluster.NodeID)    { s.count(s.ix.Pod(p), n, 1) }
func (s *companyState) Place(m domain.MemberID, n cluster.NodeID)   { s.count(s.members[m], n, 1) }
func (s *companyState) Unplace(m domain.MemberID, n cluster.NodeID) { s.count(s.members[m], n, -1) }

func (s *companyState) Fits(m domain.MemberID, n cluster.NodeID) domain.Reason {
	switch there := s.there[n]; {
	case s.Most == 0 && there == 0, s.Most > 0 && there >= s.Most && has(s.members[m], s.App):
		return domain.Reason{Check: "company", Detail: s.App}
	}
	return domain.Reason{}
}

func (s *companyState) Clone() domain.State {
	c := *s
	c.there = slices.Clone(s.there)
	return &c
}

func (s *companyState) Scope() domain.Scope {
	return domain.Scope{NodeLocal: s.company.Scope.NodeLocal, Monotone: s.company.Scope.Monotone && s.Most > 0}
}

// spares keeps units with a pod of an app, and perhaps not those as important as the
// preemptor.
type spares struct {
	App    string
	Equals bool // may go
}

func (e spares) Kept(us *victims.Units, u victims.UnitID, p victims.Claim) victims.Kept {
	unit := us.Unit(u)
	if slices.ContainsFunc(unit.Pods, func(p cluster.PodID) bool { return has(us.Index().Pod(p), e.App) }) {
		return victims.Kept{Rule: "spared", Detail: e.App}
	}
	if e.Equals && unit.Level == p.Priority {
		return victims.Kept{}
	}
	return victims.LowerPriority{}.Kept(us, u, p)
}

// byApp makes units with a pod of an app more important than others.
type byApp struct{ App string }

func (o byApp) Compare(us *victims.Units, a, b victims.UnitID) int {
	has := func(u victims.UnitID) int {
		if slices.ContainsFunc(us.Unit(u).Pods, func(p cluster.PodID) bool { return has(us.Index().Pod(p), o.App) }) {
			return 0
		}
		return 1
	}
	return cmp.Compare(has(a), has(b))
}

// byLength prices a pod by the length of its name.
type byLength struct{}

func (byLength) Price(ix *cluster.Index, _ cluster.GroupID, pods []cluster.PodID) int64 {
	sum := int64(0)
	for _, p := range pods {
		sum += int64(len(ix.Pod(p).Name))
	}
	return sum
}

// byName is a splitter into as many domains at most, by the ends of the nodes' names.
type byName int

func (k byName) Split(dst []domain.Domain, ix *cluster.Index) []domain.Domain {
	for end := range int(k) {
		d := domain.Domain{Name: strings.Repeat("i", 1+end)}
		for n := range ix.Nodes() {
			if name := ix.Node(n).Name; int(name[len(name)-1])%int(k) == end {
				d.Nodes = append(d.Nodes, n)
			}
		}
		if len(d.Nodes) > 0 {
			dst = append(dst, d)
		}
	}
	return dst
}

// fewestPods compares domains by nothing but the number of victims.
type fewestPods struct{}

func (fewestPods) Compare(a, b victims.Score) int { return cmp.Compare(a.Pods, b.Pods) }
