package budgets

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strconv"

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
	lists suits.Lists

	values    map[label]bool       // that selectors name; of keys that they read the empty one, too
	disrupted map[[2]string]bool   // namespaces and names of pods that are
	alike     map[string][]*Budget // those that cover pods of a namespace, by their labels as far as selectors tell values apart
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

// readPods notes what budgets read of pods.
func (s *Set) readPods() {
	s.values, s.disrupted, s.alike = map[label]bool{}, map[[2]string]bool{}, map[string][]*Budget{}
	for _, b := range s.All {
		for _, name := range b.Disrupted {
			s.disrupted[[2]string{b.Namespace, name}] = true
		}
		for _, l := range b.labels() {
			s.values[label{l.namespace, l.key, ""}], s.values[l] = true, true
		}
		for i := 0; b.Selector != nil && i < len(b.Selector.MatchExpressions); i++ {
			r := &b.Selector.MatchExpressions[i]
			s.values[label{b.Namespace, r.Key, ""}] = true
			for _, value := range r.Values {
				s.values[label{b.Namespace, r.Key, value}] = true
			}
		}
	}
}

// Covering are the budgets that the eviction of p charges, in order of name, to be read alone.
func (s *Set) Covering(p *cluster.Pod) []*Budget {
	if len(s.All) == 0 || s.old && len(p.Labels) == 0 {
		return nil
	}
	if s.alike == nil {
		s.readPods()
	}
	var keys []string
	for key := range p.Labels {
		if s.values[label{p.Namespace, key, ""}] {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	text := strconv.AppendQuote(nil, p.Namespace)
	for _, key := range keys {
		if text = strconv.AppendQuote(text, key); s.values[label{p.Namespace, key, p.Labels[key]}] {
			text = strconv.AppendQuote(text, p.Labels[key])
		}
		text = append(text, ',')
	}
	list, known := s.alike[string(text)]
	if !known {
		list = s.selecting(p)
		s.alike[string(text)] = list
	}
	if s.disrupted[[2]string{p.Namespace, p.Name}] {
		list = slices.DeleteFunc(slices.Clone(list), func(b *Budget) bool { return s.lists.Has(b.Disrupted, p.Name) })
	}
	return list
}

// selecting are the budgets whose selectors select p.
func (s *Set) selecting(p *cluster.Pod) (list []*Budget) {
	take := func(at label) {
		for _, b := range s.filed[at] {
			if !(s.old && suits.Everything(b.Selector)) && s.lists.Selector(b.Selector, p.Labels) {
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

// of is what b has left.
func (l Left) of(b *Budget) int64 {
	if left, touched := l[b]; touched {
		return left
	}
	return int64(b.Allowed)
}

// Charge takes one from b, and returns what is left.
func (l Left) Charge(b *Budget) int64 {
	l[b] = l.of(b) - 1
	return l[b]
}

// Violations charges pods of one unit, told by the budgets of each, and returns what they add to upstream's count. A
// lone pod's preemption in v1.36 (old, no group) charges every budget of a pod; the others stop at the first that is
// overdrawn. A group's in v1.36 counts units, and stops at the unit's first pod that violates.
func (l Left) Violations(pods iter.Seq[[]*Budget], old, group bool) (count int) {
	for covering := range pods {
		violates := false
		for _, b := range covering {
			if l.Charge(b) < 0 {
				violates = true
				if !old || group {
					break
				}
			}
		}
		if violates {
			if count++; old && group {
				break
			}
		}
	}
	return count
}

// Charged is how many of pods, told by their budgets, each budget is charged for, whatever a rule says about stopping.
func Charged(pods iter.Seq[[]*Budget]) map[*Budget]int64 {
	sums := map[*Budget]int64{}
	for covering := range pods {
		for _, b := range covering {
			sums[b]++
		}
	}
	return sums
}

// Memo remembers what it came to when some pods were charged, for as long as their budgets have the same left.
type Memo struct {
	covers        []*Budget // theirs, each once
	before, after []int64
	count         int
	known         bool
	simple        bool // no pod has two, and each that violates one counts
}

// Charge is [Left.Violations] of pods that charge budgets so much, added up where that will do, or taken from the last time.
func (m *Memo) Charge(l Left, charged map[*Budget]int64, pods iter.Seq[[]*Budget], old, group bool) (count int) {
	if !m.known {
		m.covers, m.known, m.simple = slices.Collect(maps.Keys(charged)), true, !old || !group
		for covering := range pods {
			m.simple = m.simple && len(covering) < 2
		}
	}
	if m.simple {
		for b, n := range charged {
			left := l.of(b)
			count += int(max(0, n-max(0, left)))
			l[b] = left - n
		}
		return count
	}
	left := func(list []int64) []int64 {
		list = list[:0]
		for _, b := range m.covers {
			list = append(list, l.of(b))
		}
		return list
	}
	now := left([]int64{})
	if m.before == nil || !slices.Equal(now, m.before) {
		m.before, m.count = now, l.Violations(pods, old, group)
		m.after = left(m.after)
		return m.count
	}
	for i, b := range m.covers {
		l[b] = m.after[i]
	}
	return m.count
}

// Overruns is how far budgets are below zero that are charged so much.
func Overruns(charged map[*Budget]int64) (sum int64) {
	for b, n := range charged {
		sum += max(0, n-b.Room())
	}
	return sum
}

// Overrun is how far budgets go below zero if each is charged for one pod.
func Overrun(covering []*Budget) (sum int64) {
	for _, b := range covering {
		sum += max(0, 1-b.Room())
	}
	return sum
}
