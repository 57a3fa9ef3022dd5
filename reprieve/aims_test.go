package reprieve_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// watched is a what-if that knows who is out, and where nobody leaves or returns twice.
type watched struct {
	*domain.NodeTrial
	t   *testing.T
	out map[cluster.PodID]bool
}

func (w *watched) Remove(p cluster.PodID) {
	require.False(w.t, w.out[p], "it is out already")
	w.out[p] = true
	w.NodeTrial.Remove(p)
}

func (w *watched) Return(p cluster.PodID) {
	require.True(w.t, w.out[p], "it is not out")
	delete(w.out, p)
	w.NodeTrial.Return(p)
}

// moody is a what-if where more room may hurt: some pods need others beside them. As that of a
// gang does, it looks only at what changed since it was asked last, unless it is told to doubt.
type moody struct {
	*watched
	needs       map[cluster.PodID]cluster.PodID
	came, moved bool // somebody came; somebody came or went
}

func (m *moody) Remove(p cluster.PodID) { m.watched.Remove(p); m.moved = true }
func (m *moody) Return(p cluster.PodID) { m.watched.Return(p); m.came, m.moved = true, true }

func (m *moody) Doubt() (members int) {
	m.came, m.moved = true, true
	return 1
}

func (m *moody) Fits() domain.Reason {
	came, moved := m.came, m.moved
	m.came, m.moved = false, false
	if moved {
		for p, q := range m.needs {
			if !m.out[p] && m.out[q] {
				return domain.Reason{Check: domain.CheckAffinity}
			}
		}
	}
	if came {
		return m.watched.Fits()
	}
	return domain.Reason{}
}

// bounded is a what-if that tells what has to leave at least, by brute force.
type bounded struct {
	*watched
	guess bool // it tells of the cheapest items, too
}

func (b *bounded) Least(items [][]cluster.PodID, price []int64, barred []bool, atMost int64, _ int) (least int64, set []bool, taken int) {
	least = math.MaxInt64
	for leave := range 1 << len(items) {
		sum, may := int64(0), true
		for i, pods := range items {
			if leave>>i&1 == 1 {
				sum += price[i]
				may = may && !barred[i]
				continue
			}
			for _, p := range pods {
				b.Return(p)
			}
		}
		if may && sum < least && b.Fits().OK() {
			if least, set = sum, make([]bool, len(items)); sum <= atMost {
				for i := range items {
					set[i] = leave>>i&1 == 1
				}
			}
		}
		for i, pods := range items {
			for _, p := range pods {
				if leave>>i&1 == 0 {
					b.Remove(p)
				}
			}
		}
	}
	if !b.guess || least > atMost {
		set = nil
	}
	return least, set, 1
}

// handy is a what-if that moves pods of a unit at once, and tells which of what is missing a pod frees.
type handy struct{ *watched }

func (h handy) RemoveUnit(u victims.UnitID, pods []cluster.PodID) { h.all(pods, h.Remove) }
func (h handy) ReturnUnit(u victims.UnitID, pods []cluster.PodID) { h.all(pods, h.Return) }

func (h handy) all(pods []cluster.PodID, do func(cluster.PodID)) {
	for _, p := range pods {
		do(p)
	}
}

func (h handy) FreedBy(p cluster.PodID) (list []int) {
	for r := range h.Gap(nil) {
		if h.Frees(r, p) > 0 {
			list = append(list, r)
		}
	}
	return list
}

// plot is a node with at most eight pods in single units, groups of mode All and elastic ones, a
// preemptor, caps and aims.
type plot struct {
	ix        *cluster.Index
	units     *victims.Units
	budgets   *victims.Budgets
	runner    *reprieve.Runner
	trial     *watched
	what      domain.Trial // the trial, or less of it
	potential []victims.UnitID
	pods      []cluster.PodID
	within    reprieve.Within
	weights   [3][]int64 // by pod: of caps, of sums
	most      [2][]int64 // by unit
	kind      []int      // of a unit, below zero for those by themselves
}

// plots calls yield with random ones where the preemptor fits once everybody is gone.
func plots(t *testing.T, seeds uint64, yield func(seed uint64, r *rand.Rand, p *plot)) {
	t.Helper()
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 9))
		p := newPlot(t, r)
		for _, u := range p.potential {
			p.runner.Remove(p.what, u)
		}
		fits := p.fitsWithout(nil)
		p.restart()
		if fits {
			yield(seed, r, p)
		}
	}
}

func newPlot(t *testing.T, r *rand.Rand) *plot {
	s := cluster.Snapshot{Nodes: []cluster.Node{
		{Name: "n0", Allocatable: cluster.Resources{cluster.CPU: 10, cluster.Memory: 8}},
		{Name: "n1", Allocatable: cluster.Resources{cluster.CPU: 100, cluster.Memory: 100}},
	}}
	for b := range r.IntN(3) {
		s.Budgets = append(s.Budgets, disruption.Budget{
			Name: fmt.Sprint("b", b), Allowed: int32(r.IntN(3)), Selector: &disruption.Selector{MatchLabels: map[string]string{"b": fmt.Sprint(b)}},
		})
	}
	left := 8
	pod := func(group string) {
		priority := int32(r.IntN(3))
		p := cluster.Pod{
			Name: fmt.Sprint("p", len(s.Pods)), Group: group, Priority: &priority, Node: []string{"n0", "n0", "n0", "n1"}[r.IntN(4)],
			Requests: cluster.Resources{cluster.CPU: int64(1 + r.IntN(2)), cluster.Memory: int64(r.IntN(3))},
			Labels:   map[string]string{"b": fmt.Sprint(r.IntN(3))}, Terminating: r.IntN(20) == 0,
		}
		s.Pods = append(s.Pods, p)
		left--
	}
	for g := range 1 + r.IntN(2) {
		least := int32(1 + r.IntN(3))
		group := cluster.PodGroup{Name: fmt.Sprint("g", g), MinCount: &least, Mode: []disruption.Mode{disruption.All, disruption.SurplusFirst, disruption.SurplusFirst}[r.IntN(3)]}
		if r.IntN(3) == 0 {
			group.Leader = fmt.Sprint("p", len(s.Pods))
		}
		s.PodGroups = append(s.PodGroups, group)
		for range 1 + r.IntN(4) {
			pod(group.Name)
		}
	}
	for range r.IntN(left + 1) {
		pod("")
	}
	p := &plot{}
	var err error
	p.ix, err = cluster.NewIndex(&s)
	require.NoError(t, err)
	p.units, p.budgets = victims.NewUnits(p.ix, victims.Units137, victims.Worth{}), victims.NewBudgets(p.ix, disruption.Rule137)
	p.runner = reprieve.NewRunner(p.units, p.budgets)
	p.potential = slices.Clone(p.units.Potential(0, 1000))
	for _, u := range p.potential {
		p.pods = append(p.pods, p.units.Unit(u).Pods...)
	}
	asks := cluster.Pod{Name: "preemptor", Requests: cluster.Resources{cluster.CPU: int64(2 + r.IntN(8)), cluster.Memory: int64(r.IntN(9))}}
	p.trial = &watched{
		NodeTrial: domain.NewNodeTrial(p.ix, domain.NewMember(p.ix, &asks, cluster.NoPod), nil, domain.Nominees{Self: cluster.NoPod, Priority: 1 << 30}),
		t:         t, out: map[cluster.PodID]bool{},
	}
	p.trial.Reset(0)
	for i := range p.weights {
		p.weights[i] = draw(r, p.ix.NumPods(), 4)
	}
	for i := range p.most {
		p.most[i] = draw(r, p.units.Len(), 4)
	}
	for u := range victims.UnitID(p.units.Len()) {
		kind := -1
		if len(p.units.Unit(u).Pods) == 1 {
			kind = r.IntN(4) - 1
		}
		p.kind = append(p.kind, kind)
	}
	p.within.Choice = reprieve.Choice{Monotone: true, Steps: math.MaxInt}
	p.within.AimSteps = math.MaxInt
	p.within.Keeps = func(out []victims.UnitID) bool { return p.keeps(out, p.runner.Parts()) }
	if r.IntN(3) > 0 {
		p.within.Caps = append(p.within.Caps, p.cap(0, int64(r.IntN(7))))
	}
	if r.IntN(4) == 0 {
		p.within.Caps = append(p.within.Caps, reprieve.Cap{ // how many units
			Room: int64(r.IntN(4)), Weight: func(victims.UnitID) int64 { return 1 }, Once: true,
			Part: func(victims.UnitID, []cluster.PodID) int64 { return 1 },
		})
	}
	if r.IntN(4) == 0 {
		p.within.Caps = append(p.within.Caps, reprieve.Cap{
			Room: r.Int64N(5), Weight: p.inCommon, Once: true, Kin: p.kin,
			Part: func(u victims.UnitID, _ []cluster.PodID) int64 { return p.inCommon(u) },
		})
	}
	if r.IntN(2) == 0 {
		p.within.AlikePods = func(a, b cluster.PodID) bool {
			return p.ix.NodeOf(a) == p.ix.NodeOf(b) && slices.Equal(p.ix.Request(a), p.ix.Request(b)) &&
				!slices.ContainsFunc(p.weights[:], func(w []int64) bool { return w[a] != w[b] })
		}
	}
	switch p.what = p.trial; r.IntN(6) {
	case 3:
		p.what = handy{p.trial}
	case 2:
		p.what = &bounded{watched: p.trial, guess: r.IntN(2) == 0}
	case 0:
		p.what = struct{ domain.Trial }{p.trial} // which tells nothing in numbers, and not who matters
	case 1:
		m := &moody{watched: p.trial, needs: map[cluster.PodID]cluster.PodID{}}
		for range 2 {
			m.needs[cluster.PodID(r.IntN(p.ix.NumPods()))] = cluster.PodID(r.IntN(p.ix.NumPods()))
		}
		p.what = struct {
			domain.Trial
			domain.Doubter
		}{m, m}
		p.within.Monotone, p.runner.Doubtful = false, true
	}
	return p
}

func draw(r *rand.Rand, n, below int) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = r.Int64N(int64(below))
	}
	return list
}

// restart puts everybody back. The runner is not told: it begins anew by itself.
func (p *plot) restart() {
	for _, pod := range slices.Sorted(maps.Keys(p.trial.out)) {
		p.what.Return(pod)
	}
}

// sum adds up weights of pods.
func (p *plot) sum(i int, pods []cluster.PodID) (sum int64) {
	for _, pod := range pods {
		sum += p.weights[i][pod]
	}
	return sum
}

func (p *plot) cap(i int, room int64) reprieve.Cap {
	return reprieve.Cap{
		Room:   room,
		Weight: func(u victims.UnitID) int64 { return p.sum(i, p.units.Unit(u).Pods) },
		Part:   func(_ victims.UnitID, pods []cluster.PodID) int64 { return p.sum(i, pods) },
	}
}

func (p *plot) kin(u victims.UnitID) int { return p.kind[u] }

// inCommon is what those of a kind add, and each of the others.
func (p *plot) inCommon(u victims.UnitID) int64 {
	if k := p.kind[u]; k >= 0 {
		return int64(k)
	}
	return 1 + p.most[0][u]
}

// add is what victims add together.
func (p *plot) add(of func(victims.UnitID, []cluster.PodID) int64, kin func(victims.UnitID) int, out []victims.UnitID, parts victims.Parts) (sum int64) {
	seen := map[int]bool{}
	for _, u := range out {
		if kin != nil && kin(u) >= 0 {
			if seen[kin(u)] {
				continue
			}
			seen[kin(u)] = true
		}
		sum += of(u, parts.Of(p.units, u))
	}
	return sum
}

// beyond is how far victims go beyond a cap.
func (p *plot) beyond(c reprieve.Cap, out []victims.UnitID, parts victims.Parts) int64 {
	return max(0, p.add(c.Part, c.Kin, out, parts)-c.Room)
}

// permits has the last word on victims: it goes by how many units and pods they are.
func (p *plot) permits(out []victims.UnitID, parts victims.Parts) bool {
	return (len(out)+len(p.gone(out, parts)))%3 > 0
}

func (p *plot) keeps(out []victims.UnitID, parts victims.Parts) bool {
	return !slices.ContainsFunc(p.within.Caps, func(c reprieve.Cap) bool { return p.beyond(c, out, parts) > 0 })
}

// aims draws some.
func (p *plot) aims(r *rand.Rand) (aims []reprieve.Aim) {
	ranked := false
	for n := 1 + r.IntN(3); len(aims) < n; {
		switch k := r.IntN(6); k {
		case 5:
			aims = append(aims, reprieve.Aim{Sum: func(u victims.UnitID, _ []cluster.PodID) int64 { return p.inCommon(u) }, Loose: true, Kin: p.kin})
		case 0:
			aims = append(aims, reprieve.Aim{Sum: func(_ victims.UnitID, pods []cluster.PodID) int64 { return p.sum(1, pods) }})
		case 1:
			aims = append(aims, reprieve.Aim{Sum: func(u victims.UnitID, _ []cluster.PodID) int64 { return 1 + p.most[1][u] }, Loose: true})
		case 2:
			if slices.ContainsFunc(aims, func(a reprieve.Aim) bool { return a.Beyond != nil }) {
				continue
			}
			aims = append(aims, reprieve.Aim{Beyond: []reprieve.Cap{p.cap(0, r.Int64N(4)), p.cap(2, r.Int64N(4))}})
		default:
			most := p.most[k-3]
			aims = append(aims, reprieve.Aim{Most: func(u victims.UnitID) int64 { return most[u] }, Among: ranked})
			ranked = true
		}
	}
	return aims
}

// value is what victims have of each aim.
func (p *plot) value(aims []reprieve.Aim, out []victims.UnitID, parts victims.Parts) (list []int64) {
	ranked := func(victims.UnitID) bool { return true }
	for _, a := range aims {
		value := int64(0)
		switch {
		case a.Most != nil:
			value = math.MinInt64
			for _, u := range out {
				if !a.Among || ranked(u) {
					value = max(value, a.Most(u))
				}
			}
			if !a.Among {
				ranked = func(u victims.UnitID) bool { return a.Most(u) == value }
			}
		case a.Sum != nil:
			value = p.add(a.Sum, a.Kin, out, parts)
		default:
			for _, c := range a.Beyond {
				value += p.beyond(c, out, parts)
			}
		}
		list = append(list, value)
	}
	return list
}

// eachSet calls yield with every set of victims that will do: of each unit nobody, all, or of an
// elastic one so many that it goes on.
func (p *plot) eachSet(yield func(out []victims.UnitID, parts victims.Parts)) {
	for set := range 1 << len(p.pods) {
		gone := map[cluster.PodID]bool{}
		for i, pod := range p.pods {
			gone[pod] = set>>i&1 == 1
		}
		var out []victims.UnitID
		parts, useful := victims.Parts{}, true
		for _, u := range p.potential {
			unit := p.units.Unit(u)
			var list []cluster.PodID
			for _, pod := range unit.Pods {
				if gone[pod] {
					list = append(list, pod)
				}
			}
			if len(list) > 0 {
				out = append(out, u)
			}
			if len(list) > 0 && len(list) < len(unit.Pods) {
				parts[u] = list
				useful = useful && unit.Elastic && p.units.GoesOn(u, func(pod cluster.PodID) bool { return !gone[pod] })
			}
		}
		if useful && p.keeps(out, parts) && p.fitsWithout(gone) {
			yield(out, parts)
		}
	}
}

func (p *plot) fitsWithout(gone map[cluster.PodID]bool) bool {
	var moved []cluster.PodID
	for _, pod := range p.pods {
		if gone[pod] {
			moved = append(moved, pod)
			p.what.Remove(pod)
		}
	}
	if d, ok := p.what.(domain.Doubter); ok {
		d.Doubt()
	}
	ok := p.what.Fits().OK()
	for _, pod := range moved {
		p.what.Return(pod)
	}
	return ok
}

// gone are the pods of victims, in order.
func (p *plot) gone(out []victims.UnitID, parts victims.Parts) (list []cluster.PodID) {
	for _, u := range out {
		list = append(list, parts.Of(p.units, u)...)
	}
	slices.Sort(list)
	return list
}

// TestTheLeastByEveryAim: by brute force over all sets of victims there is none whose first aim is
// less, or equal and whose second is less, and so on; nobody of it could stay as a whole; and it is
// told where all are worse than asked for.
func TestTheLeastByEveryAim(t *testing.T) {
	found, refuted, beaten, some, kept, steps := 0, 0, 0, 0, 0, 0
	plots(t, 3000, func(seed uint64, r *rand.Rand, p *plot) {
		if p.fitsWithout(nil) {
			return // nobody has to go
		}
		aims := p.aims(r)
		var best, beat []int64
		p.eachSet(func(out []victims.UnitID, parts victims.Parts) {
			if v := p.value(aims, out, parts); best == nil || slices.Compare(v, best) < 0 {
				best = v
			}
		})
		if r.IntN(2) == 0 {
			for range 1 + r.IntN(len(aims)) {
				beat = append(beat, r.Int64N(5))
			}
		}
		var from reprieve.Least
		last := r.IntN(4) == 0
		if last {
			p.within.Last, p.within.AlikePods = p.permits, nil
		}
		if r.IntN(2) == 0 {
			if out, why := p.runner.Run(p.what, p.potential); why.OK() && p.keeps(out.Victims, p.runner.Parts()) {
				from = reprieve.Least{Victims: append([]victims.UnitID{}, out.Victims...), Parts: maps.Clone(p.runner.Parts())}
			}
			p.restart()
		}
		few := r.IntN(3) == 0
		if few {
			p.within.Steps, p.within.AimSteps = r.IntN(40), r.IntN(20)
		}
		told := false
		p.runner.Observe = func(victims.UnitID, bool, domain.Reason) { told = true }
		l := p.runner.RunLeast(p.what, p.potential, from, p.within, func([]reprieve.Charged) []reprieve.Aim { return aims }, beat)
		steps += p.runner.Decided
		require.False(t, told)
		require.NotNil(t, p.runner.Observe)
		p.runner.Observe = nil
		if l.Victims == nil {
			require.Len(t, p.trial.out, len(p.pods), "seed %d: all stay out", seed)
		} else {
			require.Equal(t, p.gone(l.Victims, l.Parts), slices.Sorted(maps.Keys(p.trial.out)), "seed %d: those are out", seed)
			require.True(t, p.fitsWithout(nil), "seed %d", seed)
			require.True(t, p.keeps(l.Victims, l.Parts), "seed %d", seed)
			require.True(t, !last || p.permits(l.Victims, l.Parts), "seed %d", seed)
		}
		out := slices.Sorted(maps.Keys(p.trial.out))
		p.restart()
		value := p.value(aims, l.Victims, l.Parts)
		switch l.Proof {
		case reprieve.Refuted:
			require.Nil(t, best, "seed %d", seed)
			require.Nil(t, l.Victims)
			require.False(t, l.Beaten)
			refuted++
			return
		case reprieve.Exhausted, reprieve.FoundSome:
			require.True(t, few || last, "seed %d", seed)
			if best != nil {
				require.LessOrEqual(t, slices.Compare(l.Bound, best), 0, "seed %d: it is a bound", seed)
			}
			some++
		case reprieve.Found:
			if l.Beaten {
				require.Nil(t, l.Victims)
				require.Greater(t, slices.Compare(best[:len(l.Bound)], beat[:len(l.Bound)]), 0, "seed %d", seed)
				require.LessOrEqual(t, slices.Compare(l.Bound, best), 0, "seed %d", seed)
				beaten++
				break
			}
			require.Equal(t, best, value, "seed %d", seed)
			require.Equal(t, best, l.Bound, "seed %d", seed)
			require.LessOrEqual(t, slices.Compare(best[:len(beat)], beat), 0, "seed %d", seed)
			if from.Victims != nil && slices.Equal(p.value(aims, from.Victims, from.Parts), best) && p.within.Monotone {
				require.Equal(t, p.gone(from.Victims, from.Parts), out, "seed %d: the set to begin with", seed)
				kept++
			}
			found++
		}
		violations, charged := 0, slices.Clone(p.runner.Charge(p.potential))
		for _, c := range charged {
			if slices.Contains(l.Victims, c.Unit) {
				violations += p.runner.ViolationsOfPods(c, l.Parts.Of(p.units, c.Unit))
			}
		}
		require.Equal(t, violations, l.Violations, "seed %d", seed)
		if !p.within.Monotone || last {
			return
		}
		for _, u := range l.Victims {
			without := map[cluster.PodID]bool{}
			for _, pod := range out {
				without[pod] = !slices.Contains(p.units.Unit(u).Pods, pod)
			}
			require.False(t, p.fitsWithout(without), "seed %d: unit %d could stay", seed, u)
		}
	})
	for _, n := range []int{found, refuted, beaten, some, kept} {
		require.Greater(t, n, 50)
	}
	require.Equal(t, 19_362, steps, "as many as before; a search that needs fewer changes it")
}

// TestPartsWithinCaps: by brute force, where no set is found there is none; what is found keeps
// within the caps, is what giving back comes to if that does, and of no unit of which a part goes
// would fewer members do.
func TestPartsWithinCaps(t *testing.T) {
	greedy, searched, refuted, exhausted, parts, steps := 0, 0, 0, 0, 0, 0
	plots(t, 4000, func(seed uint64, r *rand.Rand, p *plot) {
		exists := false
		p.eachSet(func([]victims.UnitID, victims.Parts) { exists = true })
		plain, why := p.runner.Run(p.what, p.potential)
		require.True(t, why.OK())
		within, want := p.keeps(plain.Victims, p.runner.Parts()), p.gone(plain.Victims, p.runner.Parts())
		violations := plain.Violations
		p.restart()
		few := r.IntN(4) == 0
		if few {
			p.within.Steps = r.IntN(20)
		}
		p.within.Whether = r.IntN(4) == 0
		var order []victims.UnitID
		told, toldOf := map[victims.UnitID]bool{}, victims.Parts{}
		watch := r.IntN(3) > 0
		if watch {
			p.runner.Observe = func(u victims.UnitID, violates bool, why domain.Reason) {
				order = append(order, u)
				told[u] = why.OK()
			}
			p.runner.ObservePart = func(u victims.UnitID, out []cluster.PodID) { toldOf[u] = slices.Clone(out) }
		}
		out, proof, why := p.runner.RunWithin(p.what, p.potential, p.within)
		require.True(t, why.OK())
		steps += p.runner.Decided
		require.Equal(t, watch, p.runner.Observe != nil)
		require.Equal(t, watch, p.runner.ObservePart != nil)
		p.runner.Observe, p.runner.ObservePart = nil, nil
		list, part := slices.Clone(out.Victims), maps.Clone(p.runner.Parts())
		require.Equal(t, slices.Sorted(maps.Keys(p.trial.out)), func() []cluster.PodID {
			if proof == reprieve.Refuted || proof == reprieve.Exhausted {
				return slices.Sorted(slices.Values(p.pods))
			}
			return p.gone(list, part)
		}(), "seed %d", seed)
		gone := maps.Clone(p.trial.out)
		p.restart()
		switch proof {
		case reprieve.Refuted:
			require.False(t, exists, "seed %d", seed)
			refuted++
			return
		case reprieve.Exhausted:
			require.True(t, few, "seed %d", seed)
			exhausted++
			return
		}
		require.True(t, p.fitsWithout(gone), "seed %d", seed)
		require.True(t, p.keeps(list, part), "seed %d", seed)
		require.True(t, slices.IsSortedFunc(list, p.units.Compare), "seed %d", seed)
		if watch && !p.fitsWithout(nil) {
			require.ElementsMatch(t, p.potential, order, "seed %d", seed)
			for u, pods := range part {
				require.ElementsMatch(t, pods, toldOf[u], "seed %d", seed)
			}
			require.Len(t, toldOf, len(part), "seed %d", seed)
			for _, u := range p.potential {
				if within || p.within.Monotone || !told[u] {
					require.Equal(t, !slices.Contains(list, u), told[u], "seed %d", seed)
				}
			}
		}
		if within {
			require.Equal(t, want, p.gone(list, part), "seed %d", seed)
			require.Equal(t, violations, out.Violations, "seed %d", seed)
			greedy++
			return
		}
		searched++
		if !p.within.Monotone {
			return
		}
		for u, pods := range part {
			parts++
			p.eachSet(func(other []victims.UnitID, others victims.Parts) {
				now, in := others[u]
				same := in && slices.Equal(other, list) && len(now) < len(pods)
				for v := range part {
					same = same && (v == u || slices.Equal(slices.Sorted(slices.Values(part[v])), slices.Sorted(slices.Values(others[v]))))
				}
				require.False(t, same && len(p.within.Caps) == 1 && p.within.Caps[0].Once, "seed %d: fewer of unit %d", seed, u)
			})
		}
	})
	for _, n := range []int{greedy, searched, refuted, exhausted, parts} {
		require.Greater(t, n, 20)
	}
	require.Equal(t, 9_183, steps, "as many as before")
}

// TestWatching: who watches is told of every unit once, whether it stays, and of which pods in
// part, and those who were found are out as before.
func TestWatching(t *testing.T) {
	stayed, left, parts := 0, 0, 0
	plots(t, 1000, func(seed uint64, r *rand.Rand, p *plot) {
		if !p.within.Monotone || p.fitsWithout(nil) {
			return
		}
		aims := p.aims(r)
		l := p.runner.RunLeast(p.what, p.potential, reprieve.Least{}, p.within, func([]reprieve.Charged) []reprieve.Aim { return aims }, nil)
		p.restart()
		if l.Victims == nil {
			return
		}
		violating := map[victims.UnitID]bool{}
		for _, c := range p.runner.Charge(p.potential) {
			violating[c.Unit] = true
		}
		told, toldOf := 0, victims.Parts{}
		violates := true
		p.runner.Observe = func(u victims.UnitID, v bool, why domain.Reason) {
			told++
			require.Equal(t, violating[u], v, "seed %d", seed)
			require.False(t, v && !violates, "seed %d: those that violate a budget come first", seed)
			violates = v
			require.Equal(t, !slices.Contains(l.Victims, u), why.OK(), "seed %d", seed)
			if why.OK() {
				stayed++
			} else {
				left++
			}
		}
		p.runner.ObservePart = func(u victims.UnitID, out []cluster.PodID) {
			toldOf[u] = out
			parts++
		}
		out := p.runner.Watch(p.what, p.potential, l.Victims, l.Parts)
		require.Equal(t, len(p.potential), told, "seed %d", seed)
		require.Len(t, toldOf, len(l.Parts))
		for u := range l.Parts {
			require.Equal(t, l.Parts[u], toldOf[u], "seed %d", seed)
		}
		require.ElementsMatch(t, l.Victims, out.Victims)
		require.True(t, slices.IsSortedFunc(out.Victims, p.units.Compare), "seed %d", seed)
		require.Equal(t, l.Violations, out.Violations, "seed %d", seed)
		require.Equal(t, p.gone(l.Victims, l.Parts), slices.Sorted(maps.Keys(p.trial.out)), "seed %d", seed)
	})
	for _, n := range []int{stayed, left, parts} {
		require.Greater(t, n, 50)
	}
}

// TestFewAreAllThatWeigh: where a cap names who adds something, a search decides on as much and comes to the same.
func TestFewAreAllThatWeigh(t *testing.T) {
	for seed := range uint64(300) {
		var told [2]string
		for i := range told {
			p := newPlot(t, rand.New(rand.NewPCG(seed, 5)))
			c := p.cap(0, 3)
			if i > 0 {
				c.Few = slices.DeleteFunc(slices.Clone(p.potential), func(u victims.UnitID) bool { return c.Weight(u) == 0 })
			}
			p.within.Caps = []reprieve.Cap{c}
			out, proof, _ := p.runner.RunWithin(p.what, p.potential, p.within)
			told[i] = fmt.Sprint(out.Victims, p.runner.Parts(), proof, p.runner.Decided)
		}
		require.Equal(t, told[0], told[1], "seed %d", seed)
	}
}

// One pod of priority 100 on one node: everybody below leaves, then who can comes back.
// Source: kube-scheduler, victims on a node; KEP-5710 (beta), "Preemption algorithm".
func TestReprieveOnANode(t *testing.T) {
	for _, c := range []struct{ name, text, attempts, want string }{
		{
			"the most important come back first",
			"nodes n1 cpu=4\npods low@n1 prio=1 cpu=1 mid@n1 prio=5 cpu=2 high@n1 prio=9 cpu=1\npreempt web cpu=2",
			"high back, mid stays, low back", "mid; violations 0",
		},
		{
			"whom the preemptor does not reach is no part of it",
			"nodes n1 cpu=3\npods above@n1 prio=100 cpu=1 low@n1 prio=99 cpu=2\npreempt web cpu=1",
			"low stays", "low; violations 0",
		},
		{
			"a low small one is enough",
			"nodes n1 cpu=3\npods big@n1 prio=50 cpu=2 small@n1 prio=10 cpu=1\npreempt web cpu=1",
			"big back, small stays", "small; violations 0",
		},
		{
			"or of no use, and stays",
			"nodes n1 cpu=3\npods big@n1 prio=50 cpu=2 small@n1 prio=10 cpu=1\npreempt web cpu=2",
			"big stays, small back", "big; violations 0",
		},
		{
			"of equals, the later started goes",
			"nodes n1 cpu=2\npods young@n1 cpu=1 start=t9 old@n1 cpu=1 start=t1\npreempt web cpu=1",
			"old back, young stays", "young; violations 0",
		},
		{
			"the budget goes to the strong, so the strong dies",
			"nodes n1 cpu=3\nbudget p allowed=1 select=app=web\npods a@n1 prio=50 cpu=1 labels=app=web b@n1 prio=40 cpu=1 labels=app=web c@n1 prio=30 cpu=1 labels=app=web\npreempt web cpu=1",
			"b! back, c! back, a stays", "a; violations 0",
		},
		{
			"a spent budget outweighs priority",
			"nodes n1 cpu=3\nbudget p allowed=0 select=app=web\npods low1@n1 prio=1 cpu=1 labels=app=web low2@n1 prio=2 cpu=1 labels=app=web mid@n1 prio=50 cpu=1\npreempt web cpu=1",
			"low2! back, low1! back, mid stays", "mid; violations 0",
		},
		{
			"if it must be, it is violated: only those that stay out count",
			"nodes n1 cpu=2\nbudget p allowed=1 select=app=web\npods a@n1 prio=50 cpu=1 labels=app=web b@n1 prio=40 cpu=1 labels=app=web\npreempt web cpu=2",
			"b! stays, a stays", "a b; violations 1",
		},
		{
			"whose eviction is under way costs nothing",
			"nodes n1 cpu=2\nbudget p allowed=0 select=app=web disrupted=a\npods a@n1 prio=50 cpu=1 labels=app=web b@n1 prio=40 cpu=1 labels=app=web\npreempt web cpu=2",
			"b! stays, a stays", "a b; violations 1",
		},
		{
			"victims of both lists are in order of importance again",
			"nodes n1 cpu=2\nbudget p allowed=0 select=app=web\npods low@n1 prio=1 cpu=1 labels=app=web mid@n1 prio=50 cpu=1\npreempt web cpu=2",
			"low! stays, mid stays", "mid low; violations 1",
		},
		{
			"a unit of mode All goes whole, where a pod would do",
			"nodes n1 cpu=2\ngroup g mode=All g0@n1 cpu=1 g1@n1 cpu=1\npreempt web cpu=1",
			"g0+g1 stays", "g0+g1; violations 0",
		},
		{
			"with its pods elsewhere, whose budgets count",
			"nodes n1 cpu=1 n2 cpu=1\nbudget p allowed=0 select=app=web\ngroup g mode=All g0@n1 cpu=1 g1@n2 cpu=1 labels=app=web\npreempt web cpu=1",
			"g0+g1! stays", "g0+g1; violations 1",
		},
		{
			"each of its pods that violates a budget is counted",
			"nodes n1 cpu=1\nbudget p allowed=1 select=app=web\ngroup g mode=All g0@n1 cpu=1 labels=app=web g1@gone labels=app=web g2@gone labels=app=web\npreempt web cpu=1",
			"g0+g1+g2! stays", "g0+g1+g2; violations 2",
		},
		{
			"it returns whole if its part here is not in the way",
			"nodes n1 cpu=2 n2 cpu=1\ngroup g mode=All prio=9 g0@n1 cpu=1 g1@n2 cpu=1\npods a@n1 prio=1 cpu=1\npreempt web cpu=1",
			"g0+g1 back, a stays", "a; violations 0",
		},
		{
			"pods of a Single group go one by one",
			"nodes n1 cpu=2\ngroup g g0@n1 cpu=1 start=t1 g1@n1 cpu=1 start=t2\npreempt web cpu=1",
			"g0 back, g1 stays", "g1; violations 0",
		},
		{
			"of SurplusFirst, those beyond minCount go first, the youngest of them",
			"nodes n1 cpu=3\ngroup g mode=SurplusFirst min=2 g0@n1 cpu=1 start=t1 g1@n1 cpu=1 start=t3 g2@n1 cpu=1 start=t2\npreempt web cpu=1",
			"g0+g1+g2 stays", "g1; violations 0",
		},
		{
			"one more, and all of it",
			"nodes n1 cpu=3\ngroup g mode=SurplusFirst min=2 g0@n1 cpu=1 g1@n1 cpu=1 g2@n1 cpu=1\npreempt web cpu=2",
			"g0+g1+g2 stays", "g0+g1+g2; violations 0",
		},
		{
			"its leader goes last",
			"nodes n1 cpu=3\ngroup g mode=SurplusFirst min=1 leader=g2 g0@n1 cpu=1 start=t1 g1@n1 cpu=1 start=t2 g2@n1 cpu=1 start=t9\npreempt web cpu=2",
			"g0+g1+g2 stays", "g0+g1; violations 0",
		},
		{
			"the part that goes is what budgets count",
			"nodes n1 cpu=3\nbudget p allowed=0 select=app=web\ngroup g mode=SurplusFirst min=1 g0@n1 cpu=1 start=t1 labels=app=web g1@n1 cpu=1 start=t2 labels=app=web g2@n1 cpu=1 start=t3 labels=app=web\npreempt web cpu=1",
			"g0+g1+g2! stays", "g2; violations 1",
		},
		{
			"only who holds the port is in the way",
			"nodes n1 cpu=9\npods a@n1 prio=9 ports=80 b@n1 prio=1 cpu=9\npreempt web ports=80",
			"a stays, b back", "a; violations 0",
		},
		{
			"nobody, if there is room",
			"nodes n1 cpu=9\npods a@n1 cpu=1\npreempt web cpu=1",
			"a back", "; violations 0",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := read(t, c.text)
			trial := s.onNode()
			out, why := s.runner.Run(trial, s.potential(100))
			require.True(t, why.OK())
			require.Equal(t, c.want, s.outcome(out))
			require.True(t, trial.Fits().OK(), "the victims are out, and it fits")
			s.runner.Forget()
			require.Equal(t, c.attempts, strings.Join(s.attempts, ", "))
		})
	}
}

func TestNoPlaceEvenWithoutAnybody(t *testing.T) {
	s := read(t, "nodes n1 cpu=4\npods a@n1 prio=1 cpu=1 above@n1 prio=100 cpu=2\npreempt web cpu=3")
	out, why := s.runner.Run(s.onNode(), s.potential(100))
	require.Empty(t, out.Victims)
	require.Equal(t, domain.CheckResource, why.Check)
	require.Equal(t, int64(1000), why.Missing)
	require.Empty(t, s.attempts)
}

// An elastic group that is taken as a whole goes as one.
func TestElasticTakenAsAWhole(t *testing.T) {
	s := read(t, "nodes n1 cpu=3\ngroup g mode=SurplusFirst min=1 g0@n1 cpu=1 g1@n1 cpu=1 g2@n1 cpu=1\npreempt web cpu=1")
	s.runner.Whole = true
	out, _ := s.runner.Run(s.onNode(), s.potential(100))
	require.Equal(t, "g0+g1+g2; violations 0", s.outcome(out))
	require.Empty(t, s.runner.Parts())
}

// In the words of the KEP: charge in order of importance, try those that violate first,
// then the rest, and whoever leaves room stays. Nobody of those left could come back: the
// victims are irreducible, though not fewest.
func TestReprieveIsTheKEPsAndIrreducible(t *testing.T) {
	some := 0
	grounds(t, 1000, func(seed uint64, g *ground) {
		var first, then []victims.UnitID
		count := map[victims.UnitID]int{}
		ledger := g.budgets.NewLedger()
		for _, u := range g.order {
			if count[u] = g.budgets.Charge(ledger, g.units.Unit(u)); count[u] > 0 {
				first = append(first, u)
			} else {
				then = append(then, u)
			}
		}
		var want []victims.UnitID
		out := slices.Clone(g.order)
		violations := 0
		for _, u := range slices.Concat(first, then) {
			without := slices.DeleteFunc(slices.Clone(out), func(v victims.UnitID) bool { return u == v })
			if g.fitsWithout(without) {
				out = without
				continue
			}
			want = append(want, u)
			violations += count[u]
		}
		slices.SortFunc(want, g.units.Compare)
		for _, u := range g.order {
			g.runner.Return(g.trial, u)
		}
		got, why := g.runner.Run(g.trial, g.order)
		require.True(t, why.OK())
		require.True(t, slices.Equal(want, got.Victims), "seed %d: %v, not %v", seed, got.Victims, want)
		require.Equal(t, violations, got.Violations, "seed %d", seed)
		if seed%2 == 0 { // by halves it comes to the same
			for _, u := range got.Victims {
				g.runner.Return(g.trial, u)
			}
			g.runner.Enough = func() int { return 1 }
			got, _ = g.runner.Run(g.trial, g.order)
			require.True(t, slices.Equal(want, got.Victims), "seed %d: %v, not %v", seed, got.Victims, want)
			require.Equal(t, violations, got.Violations, "seed %d", seed)
			g.runner.Enough = nil
		}
		for _, u := range slices.Clone(got.Victims) {
			g.runner.Return(g.trial, u)
			require.False(t, g.trial.Fits().OK(), "seed %d: %d could come back", seed, u)
			g.runner.Remove(g.trial, u)
			some++
		}
		g.put(want, g.runner.Remove)
	})
	require.Greater(t, some, 500)
}

// Where more room may hurt, who could not come back at first may later: passes are made
// until one changes nothing.
func TestFurtherPassesWhereConstraintsAreNotMonotone(t *testing.T) {
	const text = "budget p allowed=0 select=app=web\nnodes n1\npods a@n1 prio=9 labels=app=web b@n1 prio=5 c@n1 prio=3 d@n1 prio=1\npreempt web"
	rule := func(here func(...string) bool) bool { // a needs b, b needs c, and d is in the way
		return !here("d") && (!here("a") || here("b")) && (!here("b") || here("c"))
	}
	for _, c := range []struct {
		repeat         bool
		kind           func(victims.UnitID) int
		passes         int
		attempts, want string
	}{
		{true, func(victims.UnitID) int { return 0 }, 1, "a! stays, b stays, c stays, d stays, a! stays, b stays, c stays, d stays", "a b c d; violations 1"},
		{true, func(u victims.UnitID) int { return int(u) }, 3, "a! stays, b stays, c back, d stays, a! stays, b back, d stays, a! back, d stays, d stays", "d; violations 0"},
		{false, nil, 0, "a! stays, b stays, c back, d stays", "a b d; violations 1"},
		{true, nil, 3, "a! stays, b stays, c back, d stays, a! stays, b back, d stays, a! back, d stays, d stays", "d; violations 0"},
	} {
		s := read(t, text)
		s.runner.Repeat, s.runner.Kind = c.repeat, c.kind
		out, why := s.runner.Run(newWorld(s.ix, rule), s.potential(100))
		require.True(t, why.OK())
		require.Equal(t, c.want, s.outcome(out))
		require.Equal(t, c.passes, out.Passes)
		require.Equal(t, c.attempts, strings.Join(s.attempts, ", "))
	}
}

// TestKindsAreTriedAgainAfterAPart: b is not like a once there is g0, who comes back in part.
func TestKindsAreTriedAgainAfterAPart(t *testing.T) {
	s := read(t, "nodes n1\ngroup g mode=SurplusFirst min=1 prio=5 g0@n1 g1@n1\npods a@n1 prio=9 b@n1 prio=1\npreempt web")
	w := newWorld(s.ix, func(here func(...string) bool) bool { return !here("g1") && (here("g0") || !here("a") && !here("b")) })
	s.runner.Kind = func(u victims.UnitID) int { return len(s.units.Unit(u).Pods) }
	out, why := s.runner.Run(w, s.potential(100))
	require.True(t, why.OK())
	require.Equal(t, "a g1; violations 0", s.outcome(out))
}

// TestHalvesHaveAnEnd: of many who are in the way nobody is told to have come back.
func TestHalvesHaveAnEnd(t *testing.T) {
	text := "budget p allowed=0 select=app=web\nnodes n1\npods web@n1 prio=1 labels=app=web"
	for i := range 200 {
		text += fmt.Sprintf(" p%03d@n1 prio=1", i)
	}
	s := read(t, text+"\npreempt web")
	tries, asked := 0, 0
	s.runner.Enough = func() int { tries++; return min(1+tries/240, 2) }
	out, why := s.runner.Run(newWorld(s.ix, func(here func(...string) bool) bool {
		asked++
		if here("web") {
			return false
		}
		for i := range 200 {
			if here(fmt.Sprintf("p%03d", i)) {
				return false
			}
		}
		return true
	}), s.potential(100))
	require.True(t, why.OK())
	require.Len(t, out.Victims, 201)
	require.Len(t, s.attempts, 201)
	require.Contains(t, s.attempts, "web! stays")
	require.Equal(t, 1, strings.Count(fmt.Sprint(s.attempts), "!"))
	require.NotContains(t, strings.Join(s.attempts, ", "), "back")
	require.Less(t, asked, 60)
}

// TestHalvesKeepParts: who came back of a unit before the others do by halves stays.
func TestHalvesKeepParts(t *testing.T) {
	s := read(t, "nodes n1\ngroup g mode=SurplusFirst min=1 prio=5 g0@n1 g1@n1 g2@n1\npods p0@n1 prio=1 p1@n1 prio=1 p2@n1 prio=1\npreempt web")
	w := newWorld(s.ix, func(here func(...string) bool) bool { return !here("g0", "g1", "g2") && !here("p1") })
	s.runner.Enough = func() int { return min(w.asks/4, 1) }
	out, why := s.runner.Run(w, s.potential(100))
	require.True(t, why.OK())
	require.Equal(t, "g2 p1; violations 0", s.outcome(out))
	require.True(t, w.here["g0"] && w.here["g1"] && !w.here["g2"] && !w.here["p1"])
}

// TestAimsHaveAnEnd: without steps, the first bounds of many aims end.
func TestAimsHaveAnEnd(t *testing.T) {
	text := "nodes n1\npods"
	for i := range 1000 {
		text += fmt.Sprintf(" p%03d@n1 prio=1", i)
	}
	s := read(t, text+"\npreempt web")
	all := s.potential(100)
	needed := all[slices.IndexFunc(all, func(u victims.UnitID) bool { return s.ix.Pod(s.units.Unit(u).Pods[0]).Name == "p007" })]
	aims := make([]reprieve.Aim, 40)
	for i := range aims {
		aims[i].Sum = func(u victims.UnitID, _ []cluster.PodID) int64 {
			if u == needed {
				return 1000
			}
			return 1
		}
	}
	for num, steps := range map[int]int{4: 1800, 40: 4954} {
		before := s.runner.Decided
		l := s.runner.RunLeast(newWorld(s.ix, func(here func(...string) bool) bool { return !here("p007") }), all,
			reprieve.Least{Victims: []victims.UnitID{needed}}, reprieve.Within{}, func([]reprieve.Charged) []reprieve.Aim { return aims[:num] }, nil)
		require.Equal(t, []victims.UnitID{needed}, l.Victims)
		require.Equal(t, reprieve.FoundSome, l.Proof)
		require.Equal(t, steps, s.runner.Decided-before)
	}
}

// gang is the what-if of all pods that ask, with everybody below priority 100 gone. need
// is how many have to be seated; they are, on the first node that has room.
func (s *small) gang(t *testing.T, need int) (*domain.GangTrial, []victims.UnitID) {
	t.Helper()
	var members []*domain.Member
	for i := range s.asks {
		members = append(members, domain.NewMember(s.ix, &s.asks[i], cluster.NoPod))
	}
	trial := domain.NewGangTrial(s.ix, members, nil, func(cluster.PodID) bool { return false })
	trial.Need = func(t *domain.GangTrial) bool {
		seated := 0
		for m := range domain.MemberID(t.Members()) {
			for n := range s.ix.Nodes() {
				if t.CanPlace(m, n).OK() {
					t.Place(m, n)
					seated++
					break
				}
			}
		}
		return seated >= need
	}
	var potential []victims.UnitID
	for u := range victims.UnitID(s.units.Len()) {
		if s.units.Unit(u).Priority < 100 {
			potential = append(potential, u)
			s.runner.Remove(trial, u)
		}
	}
	require.True(t, trial.Need(trial), "the gang has a place without them")
	return trial, s.units.Sorted(potential)
}

// Since v1.37 a gang stays where it was placed while everybody was gone; in v1.36 it was
// scheduled anew with each unit that came back, and was content with minCount.
func TestGangsInPlaceAndMoving(t *testing.T) {
	ask := func(members int) string { return strings.Repeat("\npreempt m cpu=1", members) }
	for _, c := range []struct {
		name, text      string
		need            int
		inPlace, moving string
	}{
		{
			"the placement is fixed, though there is room elsewhere",
			"nodes n1 cpu=2 n2 cpu=2\npods low1@n1 prio=1 cpu=1 low2@n1 prio=1 cpu=1 other@n2 prio=1 cpu=1" + ask(2), 2,
			"low1 low2; violations 0", "other; violations 0",
		},
		{
			"as many as fit, or minCount",
			"nodes n1 cpu=3\npods low1@n1 prio=1 cpu=1 low2@n1 prio=2 cpu=1 low3@n1 prio=3 cpu=1" + ask(4), 2,
			"low3 low2 low1; violations 0", "low2 low1; violations 0",
		},
		{
			"whoever is on a node without members comes back",
			"nodes n1 cpu=4 n2 cpu=1\npods high@n2 prio=1 cpu=1 low@n1 prio=5 cpu=3" + ask(2), 2,
			"low; violations 0", "high; violations 0",
		},
		{
			"a unit on two nodes goes whole for either",
			"nodes n1 cpu=1 n2 cpu=9\ngroup all mode=All prio=5 w0@n1 cpu=1 w1@n2 cpu=1" + ask(3), 3,
			"w0+w1; violations 0", "; violations 0",
		},
		{
			"whom a budget protects is tried first by a gang, too",
			"nodes n1 cpu=3\nbudget p allowed=0 select=app=web\npods a@n1 prio=9 cpu=1 b@n1 prio=1 cpu=1 labels=app=web c@n1 prio=2 cpu=1" + ask(2), 2,
			"a c; violations 0", "a c; violations 0",
		},
	} {
		for mobile, want := range map[bool]string{false: c.inPlace, true: c.moving} {
			s := read(t, c.text)
			trial, potential := s.gang(t, c.need)
			trial.Mobile = mobile
			charged := s.runner.Charge(potential)
			rest := slices.DeleteFunc(slices.Clone(potential), func(u victims.UnitID) bool {
				return slices.ContainsFunc(charged, func(c reprieve.Charged) bool { return c.Unit == u })
			})
			require.Equal(t, want, s.outcome(s.runner.GiveBack(trial, slices.Clone(charged), rest)), "%s; moving: %v", c.name, mobile)
			require.GreaterOrEqual(t, len(trial.Placed()), c.need)
		}
	}
}

// TestOneMorePass: over who stayed out, and no more than one; what violates a budget and comes
// back, whole or in part, violates it no longer, or less.
func TestOneMorePass(t *testing.T) {
	s := read(t, "budget p allowed=0 select=app=web\nnodes n1\ngroup a mode=SurplusFirst min=1 prio=9 a0@n1 labels=app=web a1@n1 labels=app=web\npods b@n1 prio=5 c@n1 prio=3 d@n1 prio=1\npreempt web")
	w := newWorld(s.ix, func(here func(...string) bool) bool { // a1 needs b, b needs c, and d is in the way
		return !here("d") && (!here("a1") || here("b")) && (!here("b") || here("c"))
	})
	s.runner.Kind = func(u victims.UnitID) int { return int(u) }
	violating := slices.Clone(s.runner.Charge(s.potential(100)))
	out, why := s.runner.Run(w, s.potential(100))
	require.True(t, why.OK())
	for _, want := range []string{"a1 b d; violations 1", "a1 d; violations 1", "d; violations 0", "d; violations 0"} {
		require.Equal(t, want, s.outcome(out))
		out = s.runner.GiveBackMore(w, violating, out)
	}
}
