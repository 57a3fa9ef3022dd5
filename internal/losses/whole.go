package losses

import (
	"cmp"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// Wholes remember of units of many pods what there is to know of all of these: such a unit may have
// pods in many domains, and is read once, not for each of them. Not safe for concurrent use.
type Wholes struct {
	us      *victims.Units
	budgets *victims.Budgets
	of      map[victims.UnitID]*Whole
}

// Whole is what Wholes remember of a unit.
type Whole struct {
	Loss    victims.Loss
	Pods    []cluster.PodID       // in order of their nodes, those of one as in the unit
	Budgets []cluster.BudgetID    // that cover a pod, in order
	charges []int64               // how many pods each of Budgets covers
	runs    []run                 // by position in the unit: pods that the same budgets cover
	running int                   // see [victims.Units.Running]; below zero if that is not ok
	place   map[cluster.PodID]int // in the unit; nil unless it is elastic
	OneNode bool                  // all pods are on one node
	Lowest  int32                 // priority of a pod
	Groups  []cluster.GroupID     // of the pods, in order
	Levels  map[int32]int64       // by priority, how many pods have it
}

// run is some pods in a row that the same budgets cover.
type run struct {
	pods    int
	budgets []cluster.BudgetID
}

// fewPods are read each time.
const fewPods = 8

// NewWholes returns what is to remember of us, whom budgets cover; nil: nobody asks for charges.
func NewWholes(us *victims.Units, budgets *victims.Budgets) Wholes {
	return Wholes{us: us, budgets: budgets}
}

// Made reports whether ws is of some units, and not the zero Wholes.
func (ws *Wholes) Made() bool { return ws.us != nil }

// Of is what there is to know of unit u; nil: its pods are few.
func (ws *Wholes) Of(u victims.UnitID) *Whole {
	unit := ws.us.Unit(u)
	if len(unit.Pods) <= fewPods {
		return nil
	}
	if w := ws.of[u]; w != nil {
		return w
	}
	ix := ws.us.Index()
	w := &Whole{Loss: ws.us.Loss(u), Pods: slices.Clone(unit.Pods)}
	slices.SortStableFunc(w.Pods, func(a, b cluster.PodID) int { return cmp.Compare(ix.NodeOf(a), ix.NodeOf(b)) })
	w.OneNode = ix.NodeOf(w.Pods[0]) == ix.NodeOf(w.Pods[len(w.Pods)-1])
	w.running = -1
	if unit.Elastic {
		w.place = make(map[cluster.PodID]int, len(unit.Pods))
		for i, p := range unit.Pods {
			w.place[p] = i
		}
		if running, ok := ws.us.Running(u); ok {
			w.running = running
		}
	}
	w.Lowest, w.Levels = ix.Priority(w.Pods[0]), map[int32]int64{}
	for _, p := range w.Pods {
		w.Lowest = min(w.Lowest, ix.Priority(p))
		w.Levels[ix.Priority(p)]++
		if g := ix.GroupOf(p); g != cluster.NoGroup && (len(w.Groups) == 0 || w.Groups[len(w.Groups)-1] != g) {
			w.Groups = append(w.Groups, g)
		}
	}
	slices.Sort(w.Groups)
	w.Groups = slices.Compact(w.Groups)
	covered := map[cluster.BudgetID]int64{}
	if ws.budgets != nil && !ws.budgets.None() {
		for _, p := range unit.Pods {
			of := ws.budgets.Of(p)
			for _, b := range of {
				covered[b]++
			}
			if last := len(w.runs) - 1; last >= 0 && slices.Equal(w.runs[last].budgets, of) {
				w.runs[last].pods++
			} else {
				w.runs = append(w.runs, run{1, of})
			}
		}
	}
	w.Budgets = slices.Sorted(maps.Keys(covered))
	for _, b := range w.Budgets {
		w.charges = append(w.charges, covered[b])
	}
	if ws.of == nil {
		ws.of = map[victims.UnitID]*Whole{}
	}
	ws.of[u] = w
	return w
}

// Charge is [victims.Budgets.Charge] of unit u.
func (ws *Wholes) Charge(l *disruption.Ledger, u victims.UnitID) int {
	w := ws.Of(u)
	if w == nil {
		return ws.budgets.Charge(l, ws.us.Unit(u))
	}
	violations := 0
	for _, r := range w.runs {
		if violations += l.ChargeRun(ws.budgets.Rule, r.pods, r.budgets); violations > 0 && !ws.budgets.Rule.WholeUnit {
			break
		}
	}
	if !ws.budgets.Rule.CountPods {
		return min(violations, 1)
	}
	return violations
}

// Running is [victims.Units.Running] of elastic unit u.
func (ws *Wholes) Running(u victims.UnitID) (running int, ok bool) {
	if w := ws.Of(u); w != nil {
		return w.running, w.running >= 0
	}
	return ws.us.Running(u)
}

// On lists the pods on node n. The slice belongs to w.
func (w *Whole) On(ix *cluster.Index, n cluster.NodeID) []cluster.PodID {
	from, _ := slices.BinarySearchFunc(w.Pods, n, func(p cluster.PodID, n cluster.NodeID) int { return cmp.Compare(ix.NodeOf(p), n) })
	end := from
	for end < len(w.Pods) && ix.NodeOf(w.Pods[end]) == n {
		end++
	}
	return w.Pods[from:end:end]
}

// Sort brings some of the pods into the order in which they leave and return: of an elastic unit that of the unit.
func (w *Whole) Sort(pods []cluster.PodID) {
	if w.place != nil {
		slices.SortFunc(pods, func(a, b cluster.PodID) int { return cmp.Compare(w.place[a], w.place[b]) })
	}
}

// Even reports whether every pod has that priority.
func (w *Whole) Even(priority int32) bool {
	return w.Lowest == priority && w.Loss.Price.Highest == int64(priority)
}

// ChargedTo is how many pods budget b covers.
func (w *Whole) ChargedTo(b cluster.BudgetID) int64 {
	i, covers := slices.BinarySearch(w.Budgets, b)
	if !covers {
		return 0
	}
	return w.charges[i]
}

// Score is [victims.Units.ScoreParts].
func (ws *Wholes) Score(list []victims.UnitID, parts victims.Parts, violations int) victims.Score {
	return ws.us.ScoreKnown(list, parts, violations, ws.lossOf)
}

// Overruns is [victims.Budgets.Overruns].
func (ws *Wholes) Overruns(list []victims.UnitID, parts victims.Parts, l *disruption.Ledger) int64 {
	if ws.budgets.None() {
		return 0
	}
	l.Reset()
	for _, u := range list {
		pods := parts.Of(ws.us, u)
		if w := ws.Of(u); w != nil && len(pods) == len(w.Pods) {
			for i, n := range w.charges { // each budget by itself, since every pod charges all of its own
				l.ChargeRun(disruption.Rule{WholeUnit: true}, int(n), w.Budgets[i:i+1])
			}
			continue
		}
		for _, p := range pods {
			l.ChargeAll(ws.budgets.Of(p))
		}
	}
	return l.Overruns()
}

// lossOf is the loss of unit u; nil: its pods are few.
func (ws *Wholes) lossOf(u victims.UnitID) *victims.Loss {
	if w := ws.Of(u); w != nil {
		return &w.Loss
	}
	return nil
}
