package quotasearch

import (
	"slices"

	"github.com/preempt-go/preempt/internal/quota"
)

// fairSearch is the state of a search under fair sharing, by holder.
type fairSearch struct {
	precision quota.Precision
	shares    []quota.Share
	known     []bool // shares is up to date
	pruned    []bool // takes no further part in this pass
	onPath    []bool // the preemptor's queue or a cohort around it
	queues    []fairQueue
	retry     bool // second pass

	// ranks are the queues right below a cohort that give something, in a heap: the one
	// that gives next is on top, and is the only one that can have changed since.
	ranks  [][]quota.HolderID
	ranked []bool // ranks is made, in this pass
}

// fairQueue is what a queue may still lose.
type fairQueue struct {
	walks  [2]Walk            // those evicted already, then the others
	spared *quota.Reservation // the first that the first strategy spared
}

func (f *fairSearch) reset(t *quota.Tree, own quota.HolderID, precision quota.Precision) {
	n := t.NumHolders()
	if len(f.known) != n {
		f.shares, f.known = make([]quota.Share, n), make([]bool, n)
		f.pruned, f.onPath = make([]bool, n), make([]bool, n)
		f.queues = make([]fairQueue, t.NumQueues())
		f.ranks, f.ranked = make([][]quota.HolderID, n), make([]bool, n)
	}
	f.precision, f.retry = precision, false
	clear(f.known)
	clear(f.pruned)
	clear(f.onPath)
	clear(f.ranked)
	for i := range f.queues {
		f.queues[i].stop()
		f.queues[i].spared = nil
	}
	for h := own; h != quota.NoHolder; h = t.Parent(h) {
		f.onPath[h] = true
	}
}

// stop lets the queue lose nothing more.
func (w *fairQueue) stop() {
	w.walks[0].Stop()
	w.walks[1].Stop()
}

// stage is the position of the walk that the queue is at.
func (w *fairQueue) stage() int {
	if w.walks[0].Peek() != nil {
		return 0
	}
	return 1
}

// head is the workload that the queue loses next; nil: none.
func (w *fairQueue) head() *quota.Reservation { return w.walks[w.stage()].Peek() }

// pop returns the head and moves on.
func (w *fairQueue) pop() *quota.Reservation {
	walk := &w.walks[w.stage()]
	r := walk.Peek()
	walk.Next()
	return r
}

// spare remembers the head for the second pass, which takes one workload at most.
func (w *fairQueue) spare() {
	if w.spared == nil {
		w.spared = w.head()
	}
}

// head is what q loses next in this pass.
func (s *Search) head(q quota.HolderID) *quota.Reservation {
	if s.fair.retry {
		return s.fair.queues[q].spared
	}
	return s.fair.queues[q].head()
}

// next is the tournament: the queue that gives next, or NoHolder. From the root
// down the greatest share wins, a cohort against a queue also if equal; among
// equal queues or equal cohorts the one whose next workload goes first (of a
// cohort: the first of its queues'), then the first by name. What does not borrow
// gives nothing, the preemptor's own queue and the cohorts around it excepted.
//
// Kueue picks among equal cohorts at random.
func (s *Search) next() quota.HolderID {
	own := s.question.Queue
	root := s.tree.Root(own)
	if root == own {
		if s.head(own) != nil {
			return own
		}
		return quota.NoHolder
	}
	for !s.fair.pruned[root] {
		if q := s.descend(root); q != quota.NoHolder {
			return q
		}
	}
	return quota.NoHolder
}

func (s *Search) descend(cohort quota.HolderID) quota.HolderID {
	queue := s.giver(cohort)
	below := s.greatest(s.tree.Cohorts(cohort))
	switch {
	case queue == quota.NoHolder && below == quota.NoHolder:
		s.fair.pruned[cohort] = true
		return quota.NoHolder
	case below != quota.NoHolder && (queue == quota.NoHolder || s.share(below).Compare(s.share(queue)) >= 0):
		return s.descend(below)
	}
	return queue
}

// giver is the queue right below cohort that gives next, or NoHolder. Queues that give
// nothing are pruned.
func (s *Search) giver(cohort quota.HolderID) quota.HolderID {
	f := &s.fair
	rank := f.ranks[cohort]
	if !f.ranked[cohort] {
		f.ranked[cohort] = true
		rank = rank[:0]
		for _, q := range s.tree.Queues(cohort) {
			if s.gives(q) {
				rank = append(rank, q)
			} else {
				f.pruned[q] = true
			}
		}
		for i := len(rank)/2 - 1; i >= 0; i-- {
			s.sink(rank, i)
		}
	} else if len(rank) > 0 {
		if last := len(rank) - 1; !s.gives(rank[0]) {
			f.pruned[rank[0]] = true
			rank[0], rank = rank[last], rank[:last]
		}
		s.sink(rank, 0)
	}
	f.ranks[cohort] = rank
	if len(rank) == 0 {
		return quota.NoHolder
	}
	return rank[0]
}

// gives reports whether queue q has something to give.
func (s *Search) gives(q quota.HolderID) bool {
	return (s.fair.onPath[q] || s.share(q).Borrows()) && s.head(q) != nil
}

// sink restores the heap below position i.
func (s *Search) sink(rank []quota.HolderID, i int) {
	for {
		best := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(rank); child++ {
			if s.outranks(rank[child], rank[best]) {
				best = child
			}
		}
		if best == i {
			return
		}
		rank[i], rank[best] = rank[best], rank[i]
		i = best
	}
}

// outranks reports whether a gives before b: two queues or two cohorts.
func (s *Search) outranks(a, b quota.HolderID) bool {
	c := s.share(a).Compare(s.share(b))
	return c > 0 || c == 0 && s.goesBefore(a, b)
}

// greatest is the cohort with the greatest share among those not pruned, and prunes
// those that give nothing because they do not borrow. Whether one has anything to
// give is seen further down.
func (s *Search) greatest(cohorts []quota.HolderID) quota.HolderID {
	f := &s.fair
	best := quota.NoHolder
	for _, h := range cohorts {
		switch {
		case f.pruned[h]:
		case !f.onPath[h] && !s.share(h).Borrows():
			f.pruned[h] = true
		case best == quota.NoHolder || s.outranks(h, best):
			best = h
		}
	}
	return best
}

// goesBefore breaks a tie between two queues or two cohorts.
func (s *Search) goesBefore(a, b quota.HolderID) bool {
	if own := s.question.Queue; int(a) < s.tree.NumQueues() && !s.fair.retry && a != own && b != own {
		x, y := s.fair.queues[a].stage(), s.fair.queues[b].stage()
		if x != y {
			return x < y
		}
		return s.fair.queues[a].walks[x].Before(&s.fair.queues[b].walks[x])
	}
	x, y := s.firstHead(a), s.firstHead(b)
	return x != nil && (y == nil || s.compareHeads(x, y) < 0)
}

// firstHead is the head of queue h, or the first of those below cohort h.
func (s *Search) firstHead(h quota.HolderID) *quota.Reservation {
	if int(h) < s.tree.NumQueues() {
		return s.head(h)
	}
	var first *quota.Reservation
	for _, below := range slices.Concat(s.tree.Queues(h), s.tree.Cohorts(h)) {
		if s.fair.pruned[below] {
			continue
		}
		if r := s.firstHead(below); r != nil && (first == nil || s.compareHeads(r, first) < 0) {
			first = r
		}
	}
	return first
}

// compareHeads orders workloads of different queues: those evicted already first,
// then those of other queues, then as usual.
func (s *Search) compareHeads(a, b *quota.Reservation) int {
	own := s.question.Queue
	switch {
	case a.Evicted != b.Evicted:
		if a.Evicted {
			return -1
		}
		return 1
	case (a.Queue == own) != (b.Queue == own):
		if b.Queue == own {
			return -1
		}
		return 1
	}
	return s.reservations.Order().Compare(a, b)
}
