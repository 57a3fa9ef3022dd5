package budgets

import (
	"cmp"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/check/internal/suits"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Budget is a disruption budget with its name as it is told.
type Budget struct {
	*disruption.Budget
	Told string
}

// Room is what it allows; one that is overdrawn allows nothing.
func (b *Budget) Room() int64 { return max(0, int64(b.Allowed)) }

// Set files each budget under one label that its pods must have, of these one that fewest budgets
// ask for, or under none.
type Set struct {
	All []*Budget // in order of name

	old   bool // as v1.36 reads them
	filed map[label][]*Budget
}

type label struct{ namespace, key, value string }

// New files the budgets of list; old: as v1.36 reads them.
func New(list []disruption.Budget, old bool) Set {
	s := Set{old: old, filed: map[label][]*Budget{}}
	for i := range list {
		s.All = append(s.All, &Budget{&list[i], list[i].Namespace + "/" + list[i].Name})
	}
	slices.SortFunc(s.All, Compare)
	asked := map[label]int{}
	for _, b := range s.All {
		for _, l := range b.labels() {
			asked[l]++
		}
	}
	for _, b := range s.All {
		at := label{namespace: b.Namespace}
		for _, l := range b.labels() {
			if at.key == "" || asked[l] < asked[at] {
				at = l
			}
		}
		s.filed[at] = append(s.filed[at], b)
	}
	return s
}

// labels are those that the pods of b must have, in order of key.
func (b *Budget) labels() (list []label) {
	if b.Selector == nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(b.Selector.MatchLabels)) {
		list = append(list, label{b.Namespace, key, b.Selector.MatchLabels[key]})
	}
	return list
}

// Compare orders budgets by name.
func Compare(a, b *Budget) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// Covering are the budgets that the eviction of p charges, in order of name.
func (s *Set) Covering(p *cluster.Pod) (list []*Budget) {
	if len(s.All) == 0 || s.old && len(p.Labels) == 0 {
		return nil
	}
	take := func(at label) {
		for _, b := range s.filed[at] {
			if s.old && suits.Everything(b.Selector) || slices.Contains(b.Disrupted, p.Name) {
				continue
			}
			if suits.Selector(b.Selector, p.Labels) {
				list = append(list, b)
			}
		}
	}
	take(label{namespace: p.Namespace})
	for key, value := range p.Labels {
		take(label{p.Namespace, key, value})
	}
	slices.SortFunc(list, Compare)
	return list
}

// Left is what budgets have left; what is not in it is untouched.
type Left map[*Budget]int64

// Charge takes one from b, and returns what is left.
func (l Left) Charge(b *Budget) int64 {
	if _, touched := l[b]; !touched {
		l[b] = int64(b.Allowed)
	}
	l[b]--
	return l[b]
}

// Overruns is how far budgets are below zero that are charged so much.
func Overruns(charged map[*Budget]int64) (sum int64) {
	for b, n := range charged {
		sum += max(0, n-b.Room())
	}
	return sum
}
