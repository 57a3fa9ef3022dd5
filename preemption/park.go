package preemption

import (
	"math"
	"slices"
	"time"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/preemption/internal/parked"
	"github.com/preempt-go/preempt/preemption/internal/tell"
	"github.com/preempt-go/preempt/victims"
)

// Park answers as [Planner.Decide] does, and remembers a preemptor that has to wait: one that
// is infeasible, not eligible, or waiting for victims or for its own time. [Planner.Wake]
// returns it once a change may have given it another verdict. Parked again it keeps its place.
// One that fits or may preempt is for [Planner.Bind] or [Planner.Apply], and is not parked, nor
// any more if it was; after Apply it is waiting, and can be. After an error everything is as it
// was.
//
// p must not be changed as long as it is parked. A fork begins with nobody parked.
// A change costs nothing more for it than a note of the nodes that it concerns.
func (pl *Planner) Park(p Preemptor) (Decision, error) {
	for tries := 2; ; tries-- {
		pl.mu.RLock()
		before := pl.changes
		pl.mu.RUnlock()
		d, err := pl.Decide(p)
		if err != nil || pl.park(p, d.Verdict, before, tries == 0) {
			return d, err
		}
	}
}

// park notes the verdict on p, and reports whether it still stood: there were no more
// changes than before. With late it is noted all the same, and p is woken at once.
func (pl *Planner) park(p Preemptor, v Verdict, before uint64, late bool) bool {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	stands := pl.changes == before
	key := keyOf(&p)
	switch {
	case !stands && !late:
		return false
	case pl.parked == nil:
		pl.parked = &parked.Lot[parkedKey, Preemptor]{}
	}
	pl.settleHeld() // from now on changes say at once which nodes they concern
	pl.show()
	switch {
	case v == Fits || v == Feasible:
		pl.parked.Delete(key)
	case !stands || pl.held.Ready == nil:
		pl.parked.Put(key, parked.Entry{Any: true, Until: parked.Never}, p)
		pl.parked.Changes.All()
	default:
		pl.parked.Put(key, waitsFor(pl.held.Ready, p, v), p)
	}
	return true
}

// Wake returns the parked preemptors whose verdict may be another by now, in the order in
// which they were parked, whatever their priority, and parks them no more. None is left out
// whose verdict is another, but for a search that was cut short (see [Stats].Exact), and few are
// returned whose verdict is not. Where only room is looked for they are those that a node which
// has changed could take, with everybody of lower priority gone. Those that affinity, spread,
// tokens, devices, quota, hooks, a given placement, sampling, limits beside BrokenGroupsFree,
// Limits.OnlyMoves or Guards.EqualAfterSeconds have a say about are returned after any change. Everybody is after a change of
// classes, groups, hard budgets, of what is taken within a window, of the time back, or one by which the
// cluster is compiled anew. Pods that run by now or are gone, and groups that are gone, are forgotten.
//
// It costs a few comparisons for each that is parked and each node that has changed.
func (pl *Planner) Wake() []Preemptor {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	if pl.parked == nil || pl.parked.Len() == 0 {
		return nil
	}
	c := pl.held.Ready
	if c == nil || pl.parked.Changes.Everything() {
		return slices.DeleteFunc(pl.parked.WakeAll(), pl.over)
	}
	lone := func() *victims.Units { return c.PodUnits().Units }
	grouped := func() *victims.Units { return c.GroupUnits().Units }
	return slices.DeleteFunc(pl.parked.Wake(c.Index, lone, grouped), pl.over)
}

// WakeAt is the earliest time at which time alone may change the verdict on a parked preemptor, so that Wake
// may return it once [Planner.SetTime] says so: it has waited as long as WaitSeconds asks, or a guard ends for
// somebody whom it might evict. Zero if no time does; what was taken within a window of Options.Limits is not
// looked at. Where prices change with time it may be too early. Wake comes before it.
func (pl *Planner) WakeAt() time.Time {
	pl.mu.RLock()
	defer pl.mu.RUnlock()
	c := pl.held.Ready
	if pl.parked == nil || pl.parked.Len() == 0 || c == nil {
		return time.Time{}
	}
	until := pl.parked.Until(func() *victims.Units { return c.PodUnits().Units }, func() *victims.Units { return c.GroupUnits().Units })
	if until > latest { // or never
		return time.Time{}
	}
	return time.Unix(until, 0).UTC()
}

// latest is the last second, since 1970, that a time.Time can tell.
const latest = math.MaxInt64 - 62_135_596_800

// changed begins a change, and returns where it is noted; nil if nobody is parked.
func (pl *Planner) changed() *parked.Changes {
	pl.changes++
	pl.held.Notes = nil
	if pl.parked != nil && pl.parked.Len() > 0 {
		pl.held.Notes = &pl.parked.Changes
	}
	pl.held.Notes.Any()
	return pl.held.Notes
}

// over reports whether p has no question any more.
func (pl *Planner) over(p Preemptor) bool {
	c := pl.held.Ready
	if c == nil || p.Name == "" || p.Kind == cluster.KindWorkload {
		return false
	}
	if p.Kind == cluster.KindPod {
		pod := c.Pod(p.Namespace, p.Name)
		return pod == nil || pod.Node != ""
	}
	return c.Index.GroupByName(p.Kind, p.Namespace, p.Name) == cluster.NoGroup
}

// parkedKey is kind, namespace and name of what is parked.
type parkedKey [3]string

func keyOf(p *Preemptor) parkedKey {
	if p.Workload != nil {
		return parkedKey{string(cluster.KindWorkload), p.Workload.Namespace, p.Workload.Name}
	}
	a := tell.AskedBy(p)
	return parkedKey{string(a.Kind), a.Namespace, a.Name}
}

// waitsFor is what may give p, on which the verdict is v, another one. Hooks are not called:
// they may ask the planner, whose lock is held.
func waitsFor(c *live.Cluster, p Preemptor, v Verdict) parked.Entry {
	whatever := parked.Entry{Any: true, Until: parked.Never}
	if p.Kind == cluster.KindWorkload || p.Placement != nil || c.Ask.Hooks || c.Ask.Sampling != nil ||
		c.Settings.Guards.EqualAfterSeconds > 0 || c.Ask.BrokenFree && c.Limits != nil || c.Settings.Limits.OnlyMoves {
		return whatever
	}
	q, err := tell.ReadBriefly(c, p, tell.Caller{})
	if err != nil || q.Queue() != "" || len(q.States) > 0 {
		return whatever
	}
	return parked.NewEntry(q.Question, v == Infeasible)
}
