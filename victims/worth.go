package victims

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/noderules"
	"github.com/preempt-go/preempt/internal/paged"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Worth says what a unit is worth beyond what the rules look at. The zero Worth adds
// nothing.
type Worth struct {
	// Cost prices units. nil: everything is free.
	Cost Cost

	// ByCost makes the dearer of two units of equal priority more important.
	ByCost bool

	// ByPlace makes a unit with a pod that can run on no other node more important
	// than one of equal priority whose pods can; it comes before ByCost.
	ByPlace bool

	// Order decides about importance before all else. nil: priority does.
	Order Order
}

// Order is a part of the order of importance.
type Order interface {
	// Compare is below zero if a is more worth keeping than b, and zero where it
	// leaves the decision to the rules. It must be a strict weak order, and read nothing
	// but the two units, their pods and groups, and the time.
	Compare(us *Units, a, b UnitID) int
}

// Upstream is the default Order: priority, what [Worth] adds, then the keys of the
// rules. See [Units.Compare].
type Upstream struct{}

// Compare compares as upstream does.
func (Upstream) Compare(us *Units, a, b UnitID) int { return us.compare(a, b) }

// NewUnits forms the units of the running pods of ix; w is what they are worth beyond what
// the rules look at.
//
// A unit's pods are in order of UID, then namespace and name; those on nodes that
// the snapshot does not have are among them. O(k log k) for k pods.
//
// Source: KEP-5710, "Preemption unit"; kube-scheduler, building of victims.
func NewUnits(ix *cluster.Index, rule UnitRule, w Worth) *Units {
	us := formUnits(ix, rule)
	us.by = w
	if w.ByPlace {
		us.places = &places{ix: ix, of: map[string]twoPlaces{}, table: noderules.NewTable(ix)}
	}
	if us.Priced() || us.ranked() {
		for u := range UnitID(us.Len()) {
			us.agenda.Set(int(u), us.appraise(u))
		}
	}
	if us.places != nil {
		us.places.table = nil
	}
	us.listByNode()
	return us
}

// appraise finds out what unit u costs and is worth beyond what the rules look at. From
// the second due on, since 1970, that may be something else.
func (us *Units) appraise(u UnitID) (due int64) {
	unit, inside, price := us.Unit(u), uint64(0), int64(0)
	due = paged.Never
	if us.Priced() {
		price, due = priceOf(us.by.Cost, us.ix, unit.Group, unit.Pods)
		put(&us.cost, int(u), price)
	}
	if us.by.ByPlace && !us.places.movable(unit) {
		inside |= 1 << 63
	}
	if us.by.ByCost {
		inside |= uint64(price)
	}
	put(&us.inside, int(u), inside)
	return due
}

// costMore finds out what unit u costs, to which pod p has come: by a tariff what it did and the pod besides, unless the pod is
// the first that runs of a group whose costs begin with that.
func (us *Units) costMore(u UnitID, p cluster.PodID) {
	if t, ok := us.by.Cost.(Tariff); ok && !us.beginsCosts(us.Unit(u).Group, p) {
		more, due := t.price(us.ix, cluster.NoGroup, []cluster.PodID{p})
		put(&us.cost, int(u), checked.Add(us.Cost(u), more))
		us.agenda.Advance(int(u), due)
		return
	}
	us.agenda.Advance(int(u), us.appraise(u))
}

// beginsCosts reports whether a group at or beneath top, above pod p, has costs since its first pod runs, which p is.
func (us *Units) beginsCosts(top cluster.GroupID, p cluster.PodID) bool {
	started := us.ix.Pod(p).Started
	for g := us.ix.GroupOf(p); !started.IsZero(); g = us.ix.Group(g).Parent {
		if c := us.ix.Group(g).Cost(); c != nil && c.Checkpoint.IsZero() && !slices.ContainsFunc(us.ix.PodsUnder(nil, g), func(q cluster.PodID) bool {
			pod := us.ix.Pod(q)
			return q != p && pod.Node != "" && !pod.Started.IsZero() && !pod.Started.After(started)
		}) {
			return true
		}
		if g == top {
			break
		}
	}
	return false
}

// ranked reports whether something tells units of equal priority apart before the rules.
func (us *Units) ranked() bool { return us.by.ByPlace || us.by.ByCost }

func (us *Units) insideOf(u UnitID) uint64 { return get(&us.inside, int(u)) }

// Cost is the price of unit u, 0 if units have none.
func (us *Units) Cost(u UnitID) int64 { return get(&us.cost, int(u)) }

// Priced reports whether units have prices.
func (us *Units) Priced() bool { return us.by.Cost != nil }

// Ranking is the default [Comparison]: criteria in the order in which they are compared.
// Empty: upstream's, [Criteria].
type Ranking []Criterion

// Comparison says which of two scores disrupts less.
type Comparison interface {
	// Compare is below zero if a disrupts less than b, zero if they tie. It must be a
	// strict weak order.
	Compare(a, b Score) int
}

// Compare compares criterion by criterion.
func (r Ranking) Compare(a, b Score) int {
	if len(r) == 0 {
		return a.Compare(b)
	}
	for _, c := range r {
		if x, y := a.Value(c), b.Value(c); x != y {
			return cmp.Compare(x, y)
		}
	}
	return 0
}

// mostLevels is how many priorities [CriterionLevels] tells apart: a score has a number of each.
const mostLevels = 100

// Levelled is r with AtLevel of the 100 highest of levels in place of [CriterionLevels], the most
// important first. levels are not sorted, and none is there twice.
func (r Ranking) Levelled(levels []int32) Ranking {
	at := slices.Index(r, CriterionLevels)
	if at < 0 {
		return r
	}
	list := slices.Clone(r[:at])
	for _, level := range slices.Backward(slices.Sorted(slices.Values(levels))[max(0, len(levels)-mostLevels):]) {
		list = append(list, AtLevel(level))
	}
	return append(list, r[at+1:]...)
}

// Criteria lists the criteria, upstream's where r is empty.
func (r Ranking) Criteria() []Criterion {
	if len(r) == 0 {
		return Criteria[:]
	}
	return r
}

// Values returns the numbers of s in the order of Criteria, smaller is better.
func (r Ranking) Values(s Score) []int64 {
	list := r.Criteria()
	values := make([]int64, len(list))
	for i, c := range list {
		values[i] = s.Value(c)
	}
	return values
}

// places finds out where pods can run, once for those that ask for the same.
type places struct {
	ix     *cluster.Index
	of     map[string]twoPlaces
	shared bool // of is a fork's, too: copied before it is changed

	table   *noderules.Table // nil: no units are being formed
	allowed noderules.Nodes  // reused
}

// twoPlaces are two nodes that pods can run on, or all if they are fewer.
type twoPlaces struct {
	pod   noderules.Rule // of one of them
	nodes []cluster.NodeID
}

func (pl *places) fork(ix *cluster.Index) *places {
	if pl == nil {
		return nil
	}
	pl.shared = true
	return &places{ix: ix, of: pl.of, shared: true}
}

func (pl *places) set(key string, two twoPlaces) {
	if pl.shared {
		pl.of, pl.shared = maps.Clone(pl.of), false
	}
	pl.of[key] = two
}

// find returns two nodes that pod can run on, or all if they are fewer.
func (pl *places) find(pod noderules.Rule) (nodes []cluster.NodeID) {
	for n := range pl.ix.Nodes() {
		if len(nodes) == 2 {
			break
		}
		if pl.suits(pod, n) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// look is find of each pod while units are formed: pods that say something of nodes are not compared with each.
func (pl *places) look(pod *cluster.Pod) (nodes []cluster.NodeID) {
	pl.allowed = pl.table.Allowed(pl.allowed[:0], pod)
	for n := pl.allowed.Next(0); n != cluster.NoNode && len(nodes) < 2; n = pl.allowed.Next(n + 1) {
		nodes = append(nodes, n)
	}
	return nodes
}

func (pl *places) suits(pod noderules.Rule, n cluster.NodeID) bool {
	node := pl.ix.Node(n)
	return pod.Matches(node) && pod.Untolerated(node) == nil
}

// follow follows a change of node n, and reports whether some pods may have become
// movable, or are not so any more.
func (pl *places) follow(n cluster.NodeID) (changed bool) {
	for key, two := range maps.Clone(pl.of) {
		known := slices.Contains(two.nodes, n)
		if known == pl.suits(two.pod, n) || !known && len(two.nodes) == 2 {
			continue
		}
		pl.set(key, twoPlaces{two.pod, pl.find(two.pod)})
		changed = true
	}
	return changed
}

// renumber is follow for numbers that stand for another node than before.
func (pl *places) renumber(nodes []cluster.NodeID) (changed bool) {
	for key, two := range maps.Clone(pl.of) {
		few := len(two.nodes) < 2
		if !slices.ContainsFunc(nodes, func(n cluster.NodeID) bool {
			return slices.Contains(two.nodes, n) || few && pl.ix.IsNode(n) && pl.suits(two.pod, n)
		}) {
			continue
		}
		found := pl.find(two.pod)
		pl.set(key, twoPlaces{two.pod, found})
		changed = changed || few || len(found) < 2
	}
	return changed
}

// movable reports whether every pod of a unit can run on another node: one that its
// node selector and required node affinity let it go to, without a taint that it
// does not tolerate. Room, cordons and what it prefers are not looked at.
//
// Source: kubernetes #141227.
func (pl *places) movable(unit *Unit) bool {
	for _, p := range unit.Pods {
		if !pl.hasOther(pl.ix.Pod(p), pl.ix.NodeOf(p)) {
			return false
		}
	}
	return true
}

func (pl *places) hasOther(pod *cluster.Pod, at cluster.NodeID) bool {
	if pod.RequiredNode != "" && at != cluster.NoNode && pod.RequiredNode == pl.ix.Node(at).Name {
		return false
	}
	key := ""
	if len(pod.NodeSelector) > 0 || pod.NodeAffinity != nil || len(pod.Tolerations) > 0 {
		text, err := json.Marshal([]any{pod.NodeSelector, pod.NodeAffinity, pod.Tolerations})
		if err != nil {
			panic("victims: a pod that cannot be written: " + err.Error())
		}
		key = string(text)
	}
	two, known := pl.of[key]
	if !known {
		two.pod = noderules.NewRule(pod)
		if key == "" || pl.table == nil {
			two.nodes = pl.find(two.pod)
		} else {
			two.nodes = pl.look(pod)
		}
		pl.set(key, two)
	}
	return len(two.nodes) > 1 || len(two.nodes) == 1 && two.nodes[0] != at
}

// Importance is what [Units.Compare] looks at first, at hand where many units are
// compared again and again.
type Importance struct {
	worth   uint64
	started int64
	Unit    UnitID
}

// Importance returns that of u.
func (us *Units) Importance(u UnitID) Importance {
	i, unit := Importance{Unit: u}, us.Unit(u)
	switch {
	case us.by.Order != nil:
	case us.ranked():
		i.worth = unit.worth() >> 32
	default:
		i.worth, i.started = unit.worth(), unit.Started
	}
	return i
}

// CompareImportance is Compare of their units.
func (us *Units) CompareImportance(a, b *Importance) int {
	switch {
	case a.worth != b.worth:
		return cmp.Compare(b.worth, a.worth)
	case a.started != b.started:
		return cmp.Compare(a.started, b.started)
	}
	return us.Compare(a.Unit, b.Unit)
}
