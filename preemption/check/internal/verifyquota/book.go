package verifyquota

import (
	"math"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// key is a resource in a flavor.
type key struct{ flavor, resource string }

// holder is a ClusterQueue or a Cohort.
type holder struct {
	name     string
	queue    *cluster.ClusterQueue // nil of a cohort
	parent   *holder
	children []*holder
	own      map[key]cluster.ResourceQuota
	owns     map[key]int64 // of its subtree, once it was asked for
	used     map[key]int64
}

// book has the quota of a snapshot, and who uses it.
type book struct {
	snapshot *preemption.Snapshot
	queues   map[string]*holder
	locals   map[cluster.PodKey]*cluster.LocalQueue
	cohorts  map[string]*holder
	flavors  map[string]*cluster.ResourceFlavor
	nodes    map[string]*cluster.Node
	groups   map[cluster.PodKey]*cluster.PodGroup
	trees    map[cluster.PodKey]*cluster.CompositePodGroup // but those on a cycle
	known    map[key]bool                                  // somebody has quota of it
	classes  *priority.Classes
}

func newBook(s *preemption.Snapshot) *book {
	b := &book{
		snapshot: s, queues: map[string]*holder{}, cohorts: map[string]*holder{},
		flavors: map[string]*cluster.ResourceFlavor{}, known: map[key]bool{}, locals: map[cluster.PodKey]*cluster.LocalQueue{},
		nodes: map[string]*cluster.Node{}, groups: map[cluster.PodKey]*cluster.PodGroup{},
		trees: map[cluster.PodKey]*cluster.CompositePodGroup{},
	}
	for i := range s.Nodes {
		b.nodes[s.Nodes[i].Name] = &s.Nodes[i]
	}
	for i := range s.PodGroups {
		g := &s.PodGroups[i]
		b.groups[cluster.PodKey{Namespace: g.Namespace, Name: g.Name}] = g
	}
	b.readTrees()
	b.classes, _ = priority.NewClasses(s.PriorityClasses)
	for i := range s.LocalQueues {
		q := &s.LocalQueues[i]
		b.locals[cluster.PodKey{Namespace: q.Namespace, Name: q.Name}] = q
	}
	for i := range s.ResourceFlavors {
		b.flavors[s.ResourceFlavors[i].Name] = &s.ResourceFlavors[i]
	}
	parents := map[string]string{} // by cohort, those that are only named too
	for _, c := range s.Cohorts {
		parents[c.Name] = c.Parent
	}
	b.readCohorts(parents)
	for i := range s.ClusterQueues {
		q := &s.ClusterQueues[i]
		parent := b.cohorts[q.Cohort]
		if q.Cohort != "" && parent == nil {
			if !rooted(parents, q.Cohort) {
				continue // the cohort is part of a cycle, or hangs from one
			}
			parent = newHolder(q.Cohort)
			b.cohorts[q.Cohort] = parent
		}
		h := newHolder(q.Name)
		h.queue = q
		b.queues[q.Name] = h
		h.under(parent)
		b.readQuotas(h, q.Groups)
	}
	return b
}

func newHolder(name string) *holder {
	return &holder{name: name, own: map[key]cluster.ResourceQuota{}, owns: map[key]int64{}, used: map[key]int64{}}
}

func (h *holder) under(parent *holder) {
	if h.parent = parent; parent != nil {
		parent.children = append(parent.children, h)
	}
}

// rooted: the chain of parents from a cohort ends.
func rooted(parents map[string]string, name string) bool {
	for range len(parents) + 1 {
		if name == "" {
			return true
		}
		name = parents[name]
	}
	return name == ""
}

func (b *book) readCohorts(parents map[string]string) {
	for name := range parents {
		if rooted(parents, name) {
			b.cohorts[name] = newHolder(name)
		}
	}
	for name, parent := range parents {
		h := b.cohorts[name]
		if h == nil || parent == "" {
			continue
		}
		if b.cohorts[parent] == nil {
			b.cohorts[parent] = newHolder(parent)
		}
		h.under(b.cohorts[parent])
	}
	for i := range b.snapshot.Cohorts {
		if c := &b.snapshot.Cohorts[i]; b.cohorts[c.Name] != nil {
			b.readQuotas(b.cohorts[c.Name], c.Groups)
		}
	}
}

func (b *book) readQuotas(h *holder, groups []cluster.ResourceGroup) {
	for _, g := range groups {
		for _, f := range g.Flavors {
			for _, q := range f.Resources {
				k := key{f.Flavor, q.Resource}
				h.own[k], b.known[k] = q, true
			}
		}
	}
}

// inactive: the queue neither admits nor gives up anybody.
func (b *book) inactive(q *cluster.ClusterQueue) bool {
	for _, g := range q.Groups {
		for _, f := range g.Flavors {
			if b.flavors[f.Flavor] == nil {
				return true
			}
		}
	}
	return q.Stopped
}

// total is what the subtree of h owns and offers to it.
func (h *holder) total(k key) int64 {
	if v, ok := h.owns[k]; ok {
		return v
	}
	v := h.own[k].Nominal
	for _, c := range h.children {
		v = plus(v, minus(c.total(k), c.private(k)))
	}
	h.owns[k] = v
	return v
}

// private is the part of total that nobody above may use.
func (h *holder) private(k key) int64 {
	if lending := h.own[k].Lending; lending != nil {
		return max(0, minus(h.total(k), *lending))
	}
	return 0
}

// available is what h can still use: what is left at the root, as far as the limits on
// the way let it through.
func (h *holder) available(k key) int64 {
	if h.parent == nil {
		return minus(h.total(k), h.used[k])
	}
	open := h.parent.available(k)
	if limit := h.own[k].Borrowing; limit != nil {
		shared := minus(h.total(k), h.private(k))
		taken := max(0, minus(h.used[k], h.private(k)))
		open = min(open, plus(minus(shared, taken), *limit))
	}
	return plus(max(0, minus(h.private(k), h.used[k])), open)
}

// free is available, but never below 0.
func (h *holder) free(k key) int64 { return max(0, h.available(k)) }

// use adds v, which may be below zero, to the usage of h, and to what that takes of those
// above.
func (h *holder) use(k key, v int64) {
	for ; h != nil && v != 0; h = h.parent {
		before := max(0, minus(h.used[k], h.private(k)))
		h.used[k] += v
		v = max(0, minus(h.used[k], h.private(k))) - before
	}
}

// borrows: h would use more than its subtree owns with v more.
func (h *holder) borrows(k key, v int64) bool { return h.total(k) < plus(h.used[k], v) }

// root of the tree of h.
func (h *holder) root() *holder {
	for h.parent != nil {
		h = h.parent
	}
	return h
}

// height is that of a cohort: 0 if nobody is beneath it.
func (h *holder) height() int {
	height := 0
	for _, c := range h.children {
		height = max(height, 1)
		if c.queue == nil {
			height = max(height, 1+c.height())
		}
	}
	return height
}

// borrowHeight is the height of the smallest subtree of which the own quota takes v more
// for queue h; 0 within nominal quota.
func (h *holder) borrowHeight(k key, v int64) int {
	if h.parent == nil || !h.borrows(k, v) {
		return 0
	}
	rest := minus(v, max(0, minus(h.private(k), h.used[k])))
	at := h.parent
	for ; at.parent != nil; at = at.parent {
		if at.total(k) >= plus(at.used[k], rest) {
			break
		}
		rest = minus(rest, max(0, minus(at.private(k), at.used[k])))
	}
	return at.height()
}

// plus and minus keep [cluster.Unlimited] as it is, and saturate.
func plus(a, b int64) int64 {
	if a == cluster.Unlimited || b == cluster.Unlimited {
		return cluster.Unlimited
	}
	if sum := a + b; (sum > a) == (b > 0) {
		return sum
	}
	if b > 0 {
		return cluster.Unlimited
	}
	return math.MinInt64
}

func minus(a, b int64) int64 {
	switch {
	case a == cluster.Unlimited && b == cluster.Unlimited:
		return 0
	case a == cluster.Unlimited:
		return a
	case b == cluster.Unlimited || b == math.MinInt64:
		return math.MinInt64
	}
	return plus(a, -b)
}
