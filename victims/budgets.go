package victims

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/paged"
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Budgets tells which budgets each pod charges, under one generation of rules. Safe
// for concurrent use, but for the methods that follow a change of the index (see
// live.go), which need exclusive use.
type Budgets struct {
	Rule disruption.Rule

	set    *disruption.Set
	cover  paged.Column[int32] // by pod: its list
	lists  *coverLists
	shared bool // lists are, with a fork: they are copied before they are changed
	buffer []cluster.BudgetID
}

// coverLists are the distinct lists of budgets that cover a pod; the first is empty.
type coverLists struct {
	lists [][]cluster.BudgetID
	ids   map[string]int32 // by what key makes of a list
	free  []int32          // numbers of no list; never appended to
}

// NewBudgets lists the budgets that cover each pod of ix under rule.
func NewBudgets(ix *cluster.Index, rule disruption.Rule) *Budgets {
	b := &Budgets{Rule: rule, set: ix.BudgetSet()}
	if b.set.Len() == 0 {
		return b
	}
	n := ix.NumPods()
	b.cover = paged.Make[int32](n)
	parts := make([]*Budgets, ranges.Parts(n, fewUnits))
	var sets *cluster.LabelSets
	if b.set.Largest() > fewBudgets {
		sets = ix.LabelSets()
	}
	ranges.Each(n, len(parts), func(part, first, end int) {
		of := &Budgets{Rule: rule, set: b.set, lists: newCoverLists()}
		if sets != nil {
			of.findBySet(ix, sets, &b.cover, first, end)
			parts[part] = of
			return
		}
		for p := first; p < end; p++ {
			if id := cluster.PodID(p); ix.Exists(id) {
				*b.cover.Edit(p) = of.find(ix.Pod(id))
			}
		}
		parts[part] = of
	})
	b.lists = newCoverLists()
	ids := make([][]int32, len(parts)) // of the lists of a part, among all
	for part, of := range parts {
		for _, list := range of.lists.lists {
			ids[part] = append(ids[part], b.intern(list))
		}
	}
	ranges.Each(n, len(parts), func(part, first, end int) {
		for p := first; p < end; p++ {
			id := b.cover.Edit(p)
			*id = ids[part][*id]
		}
	})
	return b
}

// fewBudgets of a namespace are looked at for each pod, more for each label set.
const fewBudgets = 256

// findBySet is find for the pods from first to end, not included: pods with the same labels
// are covered by the same budgets, but for those that they are disrupted for.
func (b *Budgets) findBySet(ix *cluster.Index, sets *cluster.LabelSets, cover *paged.Column[int32], first, end int) {
	known := map[cluster.LabelSetID]int32{}
	for p := first; p < end; p++ {
		id := cluster.PodID(p)
		if !ix.Exists(id) {
			continue
		}
		pod := ix.Pod(id)
		list, ok := known[sets.Of(id)]
		if !ok {
			list = b.selecting(pod)
			known[sets.Of(id)] = list
		}
		*cover.Edit(p) = b.charged(list, pod)
	}
}

// selecting returns the number of the list of budgets whose selector holds for pod.
func (b *Budgets) selecting(pod *cluster.Pod) int32 {
	b.buffer = b.set.Selecting(b.buffer[:0], b.Rule, pod.Namespace, pod.Labels)
	return b.intern(b.buffer)
}

// charged is list, which selecting returns for pod, without the budgets that it is disrupted for.
func (b *Budgets) charged(list int32, pod *cluster.Pod) int32 {
	out := b.set.Disrupted(pod.Namespace, pod.Name)
	if len(out) == 0 {
		return list
	}
	b.buffer = append(b.buffer[:0], b.lists.lists[list]...)
	return b.intern(without(b.buffer, out))
}

// without takes out of list, in place, those of out; both are ascending.
func without(list, out []cluster.BudgetID) []cluster.BudgetID {
	if len(out) == 0 {
		return list
	}
	return slices.DeleteFunc(list, func(b cluster.BudgetID) bool {
		_, found := slices.BinarySearch(out, b)
		return found
	})
}

func newCoverLists() *coverLists {
	return &coverLists{lists: [][]cluster.BudgetID{nil}, ids: map[string]int32{"": 0}}
}

// find returns the number of the list of budgets that cover pod.
func (b *Budgets) find(pod *cluster.Pod) int32 {
	b.buffer = b.set.Covering(b.buffer[:0], b.Rule, pod.Namespace, pod.Name, pod.Labels)
	return b.intern(b.buffer)
}

// intern returns the number of a list, a new one if need be.
func (b *Budgets) intern(list []cluster.BudgetID) int32 {
	var room [64]byte
	key := appendKey(room[:0], list)
	if id, ok := b.lists.ids[string(key)]; ok {
		return id
	}
	if b.shared {
		b.lists, b.shared = &coverLists{slices.Clone(b.lists.lists), maps.Clone(b.lists.ids), b.lists.free}, false
	}
	l := b.lists
	if len(l.free) == 0 {
		l.free, l.lists = []int32{int32(len(l.lists))}, append(l.lists, nil)
	}
	id := l.free[0]
	l.free, l.lists[id] = l.free[1:], slices.Clone(list)
	l.ids[string(key)] = id
	return id
}

func appendKey(key []byte, list []cluster.BudgetID) []byte {
	for _, id := range list {
		key = binary.LittleEndian.AppendUint32(key, uint32(id))
	}
	return key
}

// Of returns the budgets that cover pod p, in the order in which they are charged.
// The slice belongs to b.
func (b *Budgets) Of(p cluster.PodID) []cluster.BudgetID {
	if b.lists == nil {
		return nil
	}
	return b.lists.lists[*b.cover.At(int(p))]
}

// same reports whether the same budgets cover p and q.
func (b *Budgets) same(p, q cluster.PodID) bool {
	return b.None() || *b.cover.At(int(p)) == *b.cover.At(int(q))
}

// None reports whether there are no budgets.
func (b *Budgets) None() bool { return b.lists == nil }

// NewLedger returns a ledger with what each budget allows.
func (b *Budgets) NewLedger() *disruption.Ledger { return disruption.NewLedger(b.set.Allowed()) }

// Charge charges unit u to ledger l and returns what the unit adds to the count of
// violations if it stays a victim; above zero, it violates a budget.
func (b *Budgets) Charge(l *disruption.Ledger, u *Unit) int {
	switch {
	case b.None():
		return 0
	case len(u.Pods) == 1:
		if ids := b.Of(u.Pods[0]); len(ids) > 0 && l.Charge(b.Rule, ids) {
			return 1
		}
		return 0
	}
	return l.ChargeUnit(b.Rule, len(u.Pods), func(i int) []cluster.BudgetID { return b.Of(u.Pods[i]) })
}
