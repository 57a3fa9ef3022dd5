package victims

import (
	"math"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Cost prices evictions. [Tariff] is the default.
type Cost interface {
	// Price is what it costs to evict pods, all of them of one unit. group is the
	// group that is lost with them as a whole, NoGroup if there is none. It is not
	// below zero. Nothing is read but these, the groups above and beneath, and the time:
	// as long as they are the same, so is the price.
	Price(ix *cluster.Index, group cluster.GroupID, pods []cluster.PodID) int64
}

// Tariff is the Cost by a [disruption.Tariff]: the sum of what each pod costs, and
// where a group goes as a whole of what it and the groups beneath it cost. Sums
// saturate at the largest int64.
type Tariff struct{ disruption.Tariff }

// Price prices pods and group at the snapshot's time. What began at an unknown time
// has done no work yet, and its curve stands at its beginning.
func (t Tariff) Price(ix *cluster.Index, group cluster.GroupID, pods []cluster.PodID) int64 {
	sum, _ := t.price(ix, group, pods)
	return sum
}

// priceOf is Price by c. From the second due on, since 1970, it may be something else:
// nobody knows that of other Costs than a Tariff.
func priceOf(c Cost, ix *cluster.Index, group cluster.GroupID, pods []cluster.PodID) (sum, due int64) {
	if t, ok := c.(Tariff); ok {
		return t.price(ix, group, pods)
	}
	return c.Price(ix, group, pods), math.MinInt64
}

func (t Tariff) price(ix *cluster.Index, group cluster.GroupID, pods []cluster.PodID) (sum, due int64) {
	sum, due = t.group(ix, group)
	for _, p := range pods {
		since := ix.Checkpoint(p)
		seconds, _ := ix.Elapsed(since)
		loss, until := t.loss(ix.Pod(p).Cost, seconds)
		loss.Pods = 1
		sum = checked.Add(sum, t.Tariff.Price(loss))
		for name, rate := range t.Work {
			if r, ok := ix.Column(name); ok && ix.Request(p)[r] > 0 && rate.Price > 0 {
				sum = checked.Add(sum, rate.Of(ix.Request(p)[r], seconds))
				until = min(until, seconds+1)
			}
		}
		due = min(due, ix.Due(since, until))
	}
	return sum, due
}

func (t Tariff) group(ix *cluster.Index, g cluster.GroupID) (sum, due int64) {
	if g == cluster.NoGroup {
		return 0, math.MaxInt64
	}
	group := ix.Group(g)
	due = math.MaxInt64
	if c := group.Cost(); c != nil {
		since := ix.GroupCheckpoint(g)
		seconds, _ := ix.Elapsed(since)
		loss, until := t.loss(c, seconds)
		sum, due = t.Tariff.Price(loss), ix.Due(since, until)
	}
	for _, child := range group.Children {
		price, at := t.group(ix, child)
		sum, due = checked.Add(sum, price), min(due, at)
	}
	return sum, due
}

// loss is what is lost by c so many seconds after checkpoint or start; until says after
// how many that may be something else.
func (t Tariff) loss(c *cluster.Cost, seconds int64) (loss disruption.Loss, until int64) {
	if c == nil {
		return disruption.Loss{}, math.MaxInt64
	}
	loss, until = disruption.Loss{Fixed: c.Fixed, RestartSeconds: c.RestartSeconds}, math.MaxInt64
	if t.Milestones > 0 && len(c.Milestones) > 0 {
		curve, err := disruption.NewCurve(0, c.Milestones)
		if err != nil {
			panic("victims: milestones passed validation: " + err.Error())
		}
		loss.Curve, until = curve.At(seconds), curve.Until(seconds)
	}
	return loss, until
}
