package victims

import (
	"cmp"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"sort"
	"strconv"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/checked"
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
		us.places = &places{ix: ix, of: map[string]twoPlaces{}, filed: map[filing][]place{}}
	}
	if us.Priced() || us.ranked() {
		for u := range UnitID(us.Len()) {
			us.agenda.Set(int(u), us.appraise(u))
		}
	}
	if us.places != nil {
		us.places.filed = nil
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

	// While units are formed, the nodes by label once a pod asks for some: pods that are
	// tied to a node each need not look at all. nil: afterwards.
	filed map[filing][]place
}

// filing is a label, or without a key a name; or the numbers that a label is.
type filing struct {
	key, value string
	numbers    bool
}

type place struct {
	node   cluster.NodeID
	number int64
}

// twoPlaces are two nodes that pods can run on, or all if they are fewer.
type twoPlaces struct {
	pod   domain.NodeRule // of one of them
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

// find returns two of candidates that pod can run on. All that it can are among them; some may come twice.
func (pl *places) find(pod domain.NodeRule, candidates iter.Seq[cluster.NodeID]) (nodes []cluster.NodeID) {
	for n := range candidates {
		if len(nodes) == 2 {
			break
		}
		if pl.suits(pod, n) && !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// candidates are for find those that pod's node selector, or each term of its node affinity, ties it to.
func (pl *places) candidates(rule domain.NodeRule, pod *cluster.Pod) iter.Seq[cluster.NodeID] {
	if pl.filed == nil || len(pod.NodeSelector) == 0 && pod.NodeAffinity == nil {
		return pl.ix.Nodes()
	}
	if len(pl.filed) == 0 {
		pl.file()
	}
	var lists [][]place
	if key, values, ok := rule.OneOf(); ok {
		for _, v := range values {
			lists = append(lists, pl.filed[filing{key: key, value: v}])
		}
	} else {
		for _, t := range pod.NodeAffinity.Terms {
			tied := pl.tied(t)
			if tied == nil {
				return pl.ix.Nodes()
			}
			lists = append(lists, tied...)
		}
	}
	return func(yield func(cluster.NodeID) bool) {
		for _, list := range lists {
			for _, p := range list {
				if !yield(p.node) {
					return
				}
			}
		}
	}
}

func (pl *places) file() {
	for n := range pl.ix.Nodes() {
		add := func(at filing, number int64) { pl.filed[at] = append(pl.filed[at], place{n, number}) }
		add(filing{value: pl.ix.Node(n).Name}, 0)
		for key, value := range pl.ix.Node(n).Labels {
			add(filing{key: key, value: value}, 0)
			if number, err := strconv.ParseInt(value, 10, 64); err == nil {
				add(filing{key: key, numbers: true}, number)
			}
		}
	}
	for at, list := range pl.filed {
		if at.numbers {
			slices.SortFunc(list, func(a, b place) int { return cmp.Compare(a.number, b.number) })
		}
	}
}

// tied are the places among which are all that t allows; nil: it may be any.
func (pl *places) tied(t cluster.NodeTerm) (lists [][]place) {
	for i, r := range slices.Concat(t.Fields, t.Labels) {
		if i < len(t.Fields) {
			r.Key = "" // a name
		}
		switch r.Operator {
		case cluster.NodeIn:
			for _, v := range r.Values {
				lists = append(lists, pl.filed[filing{key: r.Key, value: v}])
			}
			return lists
		case cluster.NodeGt, cluster.NodeLt:
			list, more := pl.filed[filing{key: r.Key, numbers: true}], r.Operator == cluster.NodeGt
			bound, _ := strconv.ParseInt(r.Values[0], 10, 64)
			k := sort.Search(len(list), func(i int) bool { return list[i].number > bound || !more && list[i].number == bound })
			if more {
				return [][]place{list[k:]}
			}
			return [][]place{list[:k]}
		}
	}
	return nil
}

func (pl *places) suits(pod domain.NodeRule, n cluster.NodeID) bool {
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
		pl.set(key, twoPlaces{two.pod, pl.find(two.pod, pl.ix.Nodes())})
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
		found := pl.find(two.pod, pl.ix.Nodes())
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
		rule := domain.NewNodeRule(pod)
		two = twoPlaces{rule, pl.find(rule, pl.candidates(rule, pod))}
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
