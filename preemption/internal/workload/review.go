package workload

import (
	"maps"
	"slices"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Misfit is how what an answer gives a workload is not what it may take, as things stand.
type Misfit struct {
	Kind        MisfitKind
	Choice      Choice // what is wrong; with the names that it is about
	Other       string // TwoFlavors: that of another resource
	Least, Most int64
	Objection   Objection // Unsuited
}

// MisfitKind is what a [Misfit] is about.
type MisfitKind int

// The kinds.
const (
	NoMisfit        MisfitKind = iota
	CountsMissing              // Amount counts for Most pod sets
	CountBeyond                // Amount pods of a set that starts with Least to Most
	FlavorGone                 // the queue has no such flavor any more
	Unsuited                   // the flavor does not suit
	NothingAsked               // the set asks for none of the resource
	ResourceGone               // the queue has no quota of the resource
	NothingTaken               // the set takes no flavor of the resource
	AmountDiffers              // it takes Amount and asks for Most
	TwoFlavors                 // resources that share a flavor have two
	Reclaims                   // the queue gets its quota back from anybody, and reserves none
	NotOfQueue                 // the queue has none of the resource in this flavor
	ReservesTooMuch            // it may not keep as much
)

// ReviewReserved looks whether what an answer without victims keeps back is what workload
// w of queue q may keep: of a resource no more than it asks for, and than its queue has.
func (s *Search) ReviewReserved(w *cluster.Workload, q quota.HolderID, list []Choice) Misfit {
	left := demand{}
	for i, count := range full(w) {
		for r, v := range s.demand(w, q, i, count) {
			left[r] = quota.Add(left[r], v)
		}
	}
	if s.Index.Queue(q).Preemption.ReclaimWithinCohort == cluster.AnyPriority {
		return Misfit{Kind: Reclaims}
	}
	for _, c := range list {
		column, group := s.Index.Column(c.Flavor, c.Resource), s.groupOf(q, c.Resource)
		if group == nil || s.flavorNamed(group, c.Flavor) < 0 {
			return Misfit{Kind: NotOfQueue, Choice: c}
		}
		most := quota.Add(s.Tree.Nominal(q, column), s.Index.Limits(q, column).Borrowing)
		left[c.Resource] -= c.Amount
		if c.Amount > quota.Above(most, s.Usage.Used(q, column)) || left[c.Resource] < 0 {
			return Misfit{Kind: ReservesTooMuch, Choice: c}
		}
	}
	return Misfit{}
}

// flavorNamed is the position of a flavor in g, -1 if it is not there.
func (m *Model) flavorNamed(g *quota.Group, name string) int {
	return slices.IndexFunc(g.Flavors, func(f quota.FlavorID) bool { return m.Index.FlavorName(f) == name })
}

// Review looks whether choices, for counts pods of each set, nil for all, are those of
// workload w of queue q as it is.
func (m *Model) Review(w *cluster.Workload, q quota.HolderID, choices []Choice, counts []int32) Misfit {
	if counts == nil {
		counts = full(w)
	} else if misfit := reviewCounts(w, counts); misfit.Kind != NoMisfit {
		return misfit
	}
	given := map[[2]string]Choice{} // by pod set and resource
	for _, c := range choices {
		given[[2]string{c.Set, c.Resource}] = c
	}
	done := make([]bool, len(w.PodSets))
	for i := range w.PodSets {
		if done[i] {
			continue
		}
		sets := together(w, i)
		taken := map[*quota.Group]string{} // the flavor, which they share
		for _, set := range sets {
			done[set] = true
			if misfit := m.reviewSet(w, q, set, counts[set], given, taken); misfit.Kind != NoMisfit {
				return misfit
			}
		}
		groups := m.Index.Groups(q)
		for g := range groups {
			group := &groups[g]
			name, ok := taken[group]
			if !ok {
				continue
			}
			f := m.flavorNamed(group, name)
			if f < 0 {
				return Misfit{Kind: FlavorGone, Choice: Choice{Flavor: name}}
			}
			if why := m.unsuited(w, sets, group.Flavors[f]); why.Kind != NoObjection {
				return Misfit{Kind: Unsuited, Objection: why}
			}
		}
	}
	for _, c := range choices {
		if _, left := given[[2]string{c.Set, c.Resource}]; left {
			return Misfit{Kind: NothingAsked, Choice: c}
		}
	}
	return Misfit{}
}

// reviewSet is Review for one pod set, of which it takes the choices out of given.
func (m *Model) reviewSet(w *cluster.Workload, q quota.HolderID, set int, count int32, given map[[2]string]Choice, taken map[*quota.Group]string) Misfit {
	d := m.demand(w, q, set, count)
	for _, r := range slices.Sorted(maps.Keys(d)) {
		group, at := m.groupOf(q, r), [2]string{w.PodSets[set].Name, r}
		c, ok := given[at]
		delete(given, at)
		other, shared := taken[group]
		misfit := Misfit{Choice: Choice{at[0], r, c.Flavor, c.Amount}, Other: other, Most: d[r]}
		switch {
		case group == nil && d[r] == 0 && !ok:
			continue
		case group == nil:
			misfit.Kind = ResourceGone
		case !ok:
			misfit.Kind = NothingTaken
		case c.Amount != d[r]:
			misfit.Kind = AmountDiffers
		case shared && other != c.Flavor:
			misfit.Kind = TwoFlavors
		default:
			taken[group] = c.Flavor
			continue
		}
		return misfit
	}
	return Misfit{}
}

// reviewCounts looks whether counts are what the workload may start with.
func reviewCounts(w *cluster.Workload, counts []int32) Misfit {
	if len(counts) != len(w.PodSets) {
		return Misfit{Kind: CountsMissing, Choice: Choice{Amount: int64(len(counts))}, Most: int64(len(w.PodSets))}
	}
	for i, set := range w.PodSets {
		least := set.Count
		if set.MinCount != nil {
			least = *set.MinCount
		}
		if n := counts[i]; n < least || n > set.Count {
			return Misfit{Kind: CountBeyond, Choice: Choice{Set: set.Name, Amount: int64(n)}, Least: int64(least), Most: int64(set.Count)}
		}
	}
	return Misfit{}
}

// Request adds up choices for queue q, and lists the columns of which there is not enough
// as things stand.
func (s *Search) Request(q quota.HolderID, choices []Choice) (request []quota.ColumnAmount, contested []quota.ColumnID) {
	sums := make([]int64, s.Index.NumColumns())
	for _, c := range choices {
		column := s.Index.Column(c.Flavor, c.Resource)
		sums[column] = quota.Add(sums[column], c.Amount)
	}
	for i, v := range sums {
		c := quota.ColumnID(i)
		if v > 0 {
			request = append(request, quota.ColumnAmount{Column: c, Amount: v})
		}
		if v > s.Usage.Available(q, c) {
			contested = append(contested, c)
		}
	}
	return request, contested
}

// MayHelp reports whether evictions are worth a look for all that a question asks of what it contests.
func (s *Search) MayHelp(q *quotasearch.Question) bool {
	return !slices.ContainsFunc(q.Request, func(r quota.ColumnAmount) bool {
		_, inner := s.Usage.BorrowHeight(q.Queue, r.Column, r.Amount)
		return slices.Contains(q.Contested, r.Column) && !s.mayHelp(q.Queue, r.Column, r.Amount, inner)
	})
}

// FitsAsItIs reports whether workload w of queue q fits in some flavors with everybody in place, by counts pods of each pod
// set if it may start with so many, else by all: once the victims of others have left, and now.
func (m *Model) FitsAsItIs(w *cluster.Workload, q quota.HolderID, counts []int32) (later, now bool) {
	if counts == nil || reviewCounts(w, counts).Kind != NoMisfit {
		counts = full(w)
	}
	a := m.assigner(w, q)
	defer m.Keep(a.Search)
	p := a.asHeld(counts)
	if p == nil {
		p = a.assign(counts)
	}
	request, _ := p.request()
	return p.Fits, p.Fits && m.FitsNow(q, request)
}

// Leaving are workloads, and pods, that leave their quota to a workload, as far as the rules
// of its queue let them.
type Leaving struct {
	Held []*quota.Reservation

	s         *Search
	w         *cluster.Workload
	queue     quota.HolderID
	contested []quota.ColumnID
}

// Stays is why something may not leave.
type Stays int

// The reasons.
const (
	Leaves   Stays = iota // it may
	Entitled              // its queue does not borrow what is contested
	Twice                 // it leaves already, with another of them
	Going                 // it leaves for another preemptor
	Spared                // by the preemptor's queue, or since it is a part of what goes as a whole, or its own queue is inactive or has no cohort in common
)

// Leaving begins with nobody, for workload w of queue q.
func (s *Search) Leaving(w *cluster.Workload, q quota.HolderID, contested []quota.ColumnID) *Leaving {
	return &Leaving{s: s, w: w, queue: q, contested: contested}
}

// Rule says what of that queue may go for workload w of queue q.
func (m *Model) Rule(w *cluster.Workload, q, of quota.HolderID) quotasearch.Rule {
	policy := m.Index.Queue(q).Preemption.ReclaimWithinCohort
	if of == q {
		policy = m.Index.Queue(q).Preemption.WithinClusterQueue
	}
	return quotasearch.NewRule(policy, int64(w.Priority)+int64(w.Boost), quota.Ordered(w))
}

// Add lets r leave, if it may by itself.
func (l *Leaving) Add(r *quota.Reservation) Stays {
	m := l.s.Model
	switch {
	case r.Queue != l.queue && l.s.Usage.WithinNominal(r.Queue, l.contested):
		return Entitled
	case slices.Contains(l.Held, r):
		return Twice
	case m.Pods.Partial[r]:
		return Spared
	case l.s.Gone[r]:
		return Going
	case !m.Rule(l.w, l.queue, r.Queue).Allows(r) || m.Index.Inactive(r.Queue) != "" || m.Tree.Root(r.Queue) != m.Tree.Root(l.queue):
		return Spared
	}
	l.Held = append(l.Held, r)
	return Leaves
}

// Let reports whether the search lets all of them go for what is requested, in some order; without shares, whether it makes enough
// room by that, too. With shares, where too many orders are to be looked at, they have to be those whom again finds, or all told to go.
func (l *Leaving) Let(request []quota.ColumnAmount, again func() []quotasearch.Victim) bool {
	q := Question(l.w, l.queue, request, l.contested)
	switch {
	case len(l.Held) == 0:
		return true
	case l.s.Rules.Fair:
		lets, cut := l.s.LetsFair(&q, l.Held, l.s.Rules.Strategies, l.s.Rules.Precision)
		told := !slices.ContainsFunc(l.Held, func(r *quota.Reservation) bool { return !r.Evicted })
		if lets || !cut || told {
			return lets || cut
		}
		list := again()
		return len(list) == len(l.Held) && !slices.ContainsFunc(list, func(v quotasearch.Victim) bool { return !slices.Contains(l.Held, v.Reservation) })
	}
	return l.s.Lets(&q, l.Held)
}

// Settle takes away what all of them hold, and returns the first that may not go once the
// others have; nil if there is none.
func (l *Leaving) Settle() *quota.Reservation {
	usage, contested := l.s.Usage, l.contested
	for _, r := range l.Held {
		usage.Remove(r.Queue, r.Usage)
	}
	if l.s.Rules.Fair { // a queue gives as long as it has a share, of whatever
		contested = nil
		for c := range quota.ColumnID(l.s.Index.NumColumns()) {
			contested = append(contested, c)
		}
	}
	borrows := map[quota.HolderID]bool{l.queue: true} // until somebody of theirs, the last to go, has gone
	for _, r := range l.Held {
		if !borrows[r.Queue] {
			usage.Add(r.Queue, r.Usage)
			borrows[r.Queue] = !usage.WithinNominal(r.Queue, contested)
			usage.Remove(r.Queue, r.Usage)
		}
	}
	i := slices.IndexFunc(l.Held, func(r *quota.Reservation) bool { return !borrows[r.Queue] })
	if i < 0 {
		return nil
	}
	return l.Held[i]
}
