package victims

import (
	"maps"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Cost prices evictions. [Tariff] is the default.
type Cost interface {
	// Price is what it costs to evict pods, all of them of one unit. group is the
	// group that is lost with them as a whole, NoGroup if there is none. It is not
	// below zero. Equal arguments give equal prices.
	Price(ix *cluster.Index, group cluster.GroupID, pods []cluster.PodID) int64
}

// Tariff is the Cost by a [disruption.Tariff]: the sum of what each pod costs, and
// where a group goes as a whole of what it and the groups beneath it cost. Sums
// saturate at the largest int64.
type Tariff struct{ disruption.Tariff }

// Price prices pods and group at the snapshot's time. What began at an unknown time
// has done no work yet, and its curve stands at its beginning.
func (t Tariff) Price(ix *cluster.Index, group cluster.GroupID, pods []cluster.PodID) int64 {
	sum := t.group(ix, group)
	for _, p := range pods {
		seconds, _ := ix.Elapsed(ix.Checkpoint(p))
		loss := loss(ix.Pod(p).Cost, seconds)
		loss.Pods = 1
		sum = disruption.AddPrices(sum, t.Tariff.Price(loss))
		for _, name := range slices.Sorted(maps.Keys(t.Work)) {
			if r, ok := ix.Column(name); ok {
				sum = disruption.AddPrices(sum, t.Work[name].Of(ix.Request(p)[r], seconds))
			}
		}
	}
	return sum
}

func (t Tariff) group(ix *cluster.Index, g cluster.GroupID) int64 {
	if g == cluster.NoGroup {
		return 0
	}
	group := ix.Group(g)
	sum := int64(0)
	if c := group.Cost(); c != nil {
		seconds, _ := ix.Elapsed(ix.GroupCheckpoint(g))
		sum = t.Tariff.Price(loss(c, seconds))
	}
	for _, child := range group.Children {
		sum = disruption.AddPrices(sum, t.group(ix, child))
	}
	return sum
}

// loss is what is lost by c so many seconds after checkpoint or start.
func loss(c *cluster.Cost, seconds int64) disruption.Loss {
	if c == nil {
		return disruption.Loss{}
	}
	curve, err := disruption.NewCurve(0, c.Milestones)
	if err != nil {
		panic("victims: milestones passed validation: " + err.Error())
	}
	return disruption.Loss{Fixed: c.Fixed, Curve: curve.At(seconds), RestartSeconds: c.RestartSeconds}
}
