package verifyquota

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/found"
	"github.com/preempt-go/preempt/preemption/check/internal/order"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// readLeast: what the victims of a workload come to, where the least disruption is looked for. That
// none is less is not read, but for one workload of its own queue that goes by itself.
func (a *answer) readLeast() {
	if a.r.Verdict != preemption.Feasible || a.o.Search == preemption.Greedy || a.o.Search == "" && !a.o.Cost.Objective {
		if len(a.r.Score) > 0 || len(a.r.Bound) > 0 || a.r.Optimal {
			a.Add(found.Score, "it has a score, where nothing is compared")
		}
		return
	}
	names := a.objective()
	if len(a.r.Score) != len(names) {
		a.Add(found.Score, "it has %d criteria, not %d", len(a.r.Score), len(names))
		return
	}
	values := a.values(names, a.gone)
	said := make([]int64, len(names))
	for i, c := range a.r.Score {
		switch said[i] = c.Value; {
		case c.Name != string(names[i]):
			a.Add(found.Score, "%s does not stand at place %d", names[i], i+1)
		case c.Value != values[i]:
			a.Add(found.Score, "%s is %d, not %d", c.Name, values[i], c.Value)
		}
	}
	for i, c := range a.r.Bound {
		if i >= len(names) || c.Name != string(names[i]) {
			a.Add(found.Best, "its bound has %s at place %d", c.Name, i+1)
			return
		}
		if c.Value != said[i] {
			if c.Value > said[i] || i != len(a.r.Bound)-1 {
				a.Add(found.Best, "%s is %d, and its bound %d", c.Name, said[i], c.Value)
			}
			break
		}
	}
	if len(a.r.Bound) > 0 || a.r.Optimal {
		a.readAlone(names, said)
	}
}

// readAlone: no single workload of its own queue that would do disrupts less than the bound.
func (a *answer) readAlone(names []preemption.CriterionName, said []int64) {
	var bound []int64
	for _, c := range a.r.Bound {
		bound = append(bound, c.Value)
	}
	if a.r.Optimal && !slices.Equal(bound, said) {
		a.Add(found.Best, "it is called optimal, and its bound is another")
		return
	}
	if a.o.Hooks != nil && a.o.Hooks.Cost != nil {
		return
	}
	for _, t := range a.gone {
		t.use(1)
	}
	for _, t := range a.tenants {
		if t.queue != a.queue || t.nominated || a.leaves[t] || a.spared(t) != "" || t.workload == nil && slices.Contains(names, "cost") {
			continue
		}
		t.use(-1)
		does := a.fits(a.request) && a.within(a.request)
		t.use(1)
		if does && slices.Compare(a.values(names, []*tenant{t})[:len(bound)], bound) < 0 {
			a.About(found.Best, t.kind, t.namespace, t.name, "it alone would do, and disrupts less than any victims are said to")
		}
	}
	for _, t := range a.gone {
		t.use(-1)
	}
}

// objective are the criteria by which victims are compared.
func (a *answer) objective() []preemption.CriterionName {
	list := order.Criteria(a.o)
	if at := slices.Index(list, "pods by level"); at >= 0 {
		seen := map[int64]bool{}
		for _, t := range a.tenants {
			if !t.nominated {
				seen[counted(t.priority)] = true
			}
		}
		var levels []preemption.CriterionName
		for _, level := range slices.Backward(slices.Sorted(maps.Keys(seen))) {
			if len(levels) < 100 {
				levels = append(levels, preemption.CriterionName(fmt.Sprint("pods of priority ", level)))
			}
		}
		list = slices.Replace(list, at, at+1, levels...)
	}
	return list
}

// counted is a priority, boost included, as scores have it.
func counted(priority int64) int64 { return min(max(priority, math.MinInt32), math.MaxInt32) }

// values are what victims come to. Who has been told to stop already counts for nothing, and a
// workload whose pods are not known as one pod. What victims with pods cost is taken as it is said.
func (a *answer) values(names []preemption.CriterionName, list []*tenant) []int64 {
	sums := map[preemption.CriterionName]*big.Int{}
	add := func(name preemption.CriterionName, v int64) {
		if sums[name] == nil {
			sums[name] = new(big.Int)
		}
		sums[name].Add(sums[name], big.NewInt(v))
	}
	highest, started, any, unknown := int64(math.MinInt32), int64(math.MaxInt64), false, a.o.Hooks != nil && a.o.Hooks.Cost != nil
	for _, t := range list {
		if t.evicted {
			continue
		}
		prio, pods := counted(t.priority), int64(max(1, len(t.pods)))
		add("sum of priorities", 0)
		sums["sum of priorities"].Add(sums["sum of priorities"], new(big.Int).Mul(big.NewInt(pods), big.NewInt(prio+1<<31)))
		add("pods", pods)
		add("units", 1)
		add(preemption.CriterionName(fmt.Sprint("pods of priority ", prio)), pods)
		touched := map[*cluster.PodGroup]bool{nil: true}
		for _, p := range t.pods {
			touched[a.teamOf(p)] = true
		}
		add("groups touched", int64(len(touched)-1))
		if unknown = unknown || t.workload == nil; !unknown {
			add("cost", 0)
			sums["cost"].Add(sums["cost"], a.price(t))
		}
		if !any || prio > highest {
			any, highest, started = true, prio, t.reserved
		} else if prio == highest {
			started = min(started, t.reserved)
		}
	}
	values := make([]int64, len(names))
	for i, name := range names {
		switch {
		case name == "highest priority":
			values[i] = highest
		case name == "earliest start" && started == math.MinInt64:
			values[i] = math.MaxInt64
		case name == "earliest start":
			values[i] = -started
		case name == "cost" && unknown:
			values[i] = a.r.Score[i].Value
		case sums[name] == nil:
		case sums[name].IsInt64():
			values[i] = sums[name].Int64()
		default:
			values[i] = math.MaxInt64
		}
	}
	return values
}

// price is what a workload costs: its pods, and the work since it holds quota of what it holds.
func (a *answer) price(t *tenant) *big.Int {
	sum := new(big.Int)
	for i := range t.workload.PodSets {
		sum.Add(sum, new(big.Int).Mul(big.NewInt(a.o.Cost.Tariff.Pods), big.NewInt(int64(t.workload.PodSets[i].Count))))
	}
	seconds := int64(0)
	if now := cluster.Nanos(a.snapshot.Time); now != math.MaxInt64 {
		seconds = max(0, minus(now, t.reserved)/int64(time.Second))
	}
	for k, v := range t.usage {
		rate := a.o.Cost.Tariff.Work[k.resource]
		work := new(big.Int).Mul(big.NewInt(v), big.NewInt(seconds))
		work.Mul(work, big.NewInt(rate.Price))
		sum.Add(sum, work.Div(work, big.NewInt(max(rate.Per, 1))))
	}
	return sum
}
