package genopts

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// Criteria are all that there are, of labels those that nodes have.
var Criteria = slices.Concat(victims.AllCriteria, []victims.Criterion{victims.CriterionDomains + "zone", victims.CriterionDomains + "rack"})

// Any are any options that can be followed, hooks too; most of them are near the
// default.
func Any() *rapid.Generator[preemption.Options] {
	return rapid.Custom(func(t *rapid.T) preemption.Options { return drawOptions(gen.Drawn(t), Criteria) })
}

// Random are such options by seed. Criteria are drawn from the first nine, so that a seed
// keeps its options when there are more.
func Random(seed uint64) preemption.Options {
	return drawOptions(gen.Seeded(seed), victims.AllCriteria[:9])
}

// Dated are options under which the time has a say in who is a victim.
func Dated() *rapid.Generator[preemption.Options] {
	return rapid.Custom(func(t *rapid.T) preemption.Options {
		s := gen.Drawn(t)
		o := drawOptions(s, Criteria)
		for range 1 + s(3) {
			switch s(5) {
			case 0:
				o.Guards = gen.DrawGuards(s)
			case 1:
				o.Guards.Toleration, o.Guards.GuaranteedSeconds = priority.TolerationDesign, gen.Pick(s, int64(0), 3600, 7199)
			case 2:
				o.Cost = drawCost(s)
			case 3:
				o.PreferMovable = true
			case 4:
				o.PreemptionPriority.Apart = true
			}
		}
		return o
	})
}

// Remembered are options under which a planner remembers what it has found on each node for
// a pod's shape: guards, prices, bounds, orders, and a filter.
func Remembered() *rapid.Generator[preemption.Options] {
	return rapid.Custom(func(t *rapid.T) preemption.Options {
		s := gen.Drawn(t)
		o := preemption.Options{
			Rules:       gen.Pick(s, "", preemption.Kubernetes136, preemption.KEP5710Alpha),
			LowestLevel: s(6) == 5, PreferMovable: s(4) == 3, NoCascade: s(8) == 7,
			Prefer: gen.Pick(s, "", "", preemption.LeastAllocated, preemption.MostAllocated),
		}
		o.PreemptionPriority.Apart = s(6) == 5
		if s(3) > 0 {
			o.Guards = gen.DrawGuards(s)
		}
		if s(4) == 3 {
			o.Guards.Toleration, o.Guards.GuaranteedSeconds = priority.TolerationDesign, gen.Pick(s, int64(0), 3600, 7199)
		}
		if s(3) > 0 {
			o.Cost = drawCost(s)
		}
		if s(6) == 5 {
			o.Search, o.Cost.Objective = gen.Pick(s, preemption.Improved, preemption.Exact), false
			o.SearchSteps = gen.Pick(s, 0, 0, 1, 5, 100)
		}
		if s(4) == 3 {
			o.HardBudgets = gen.Pick(s, preemption.HardBudgets{All: true}, preemption.HardBudgets{Names: []string{"default/b0", "team/b1"}})
		}
		if s(4) == 3 {
			o.Limits = drawLimits(s, o.Cost.Tariff.Pods > 0)
		}
		if s(4) == 3 && o.Cost.Criterion == 0 && !o.Cost.Objective {
			for range 1 + s(4) {
				if c := gen.Pick(s, Criteria...); !slices.Contains(o.Objective, c) && (c != victims.CriterionCost || o.Cost.Tariff.Pods > 0) {
					o.Objective = append(o.Objective, c)
				}
			}
		}
		if s(3) == 2 && (len(o.Objective) > 0 || o.Limits.OnlyMoves) {
			o.Chain = 1 + s(4)
		}
		if s(6) == 5 {
			o.Hooks = &preemption.Hooks{Filter: keepOff(gen.Pick(s, "web", "db"), int(s(2)))}
		}
		if s(4) == 3 {
			o.Hooks = cmp.Or(o.Hooks, &preemption.Hooks{})
			o.Hooks.Constraints = append(o.Hooks.Constraints, beside(s, gen.Pick(s, "web", "db")))
		}
		return o
	})
}

func drawOptions(s gen.Source, criteria []victims.Criterion) preemption.Options {
	rare := gen.Pick(s, 16, 16, 8, 4, 3) // one choice of so many is not the default
	some := func() bool { return s(rare) == rare-1 }
	o := preemption.Options{
		Rules:      gen.Pick(s, "", preemption.Kubernetes137, preemption.Kubernetes136, preemption.KEP5710Alpha),
		Candidates: s(3) == 2, Explain: s(3) == 2,
		LowestLevel: some(), BrokenGroupsFree: some(), NoCascade: some(), PreferMovable: some(),
	}
	if some() { // rarer than the others: most questions are refused
		o.Strict = some()
	}
	if some() {
		o.Sampling = &preemption.Sampling{Percent: gen.Pick(s, int32(10), 0, 50, 100), Minimum: int32(1 + s(4)), Offset: int32(s(7))}
	}
	if s(4) == 3 {
		o.Prefer = gen.Pick(s, preemption.LeastAllocated, preemption.MostAllocated)
	}
	if some() {
		o.Members = gen.Pick(s, preemption.MinCount, preemption.AllThatFit)
	}
	if some() {
		o.Placement = gen.Pick(s, preemption.PlaceLeastDisruption, preemption.PlacePack, preemption.PlaceSpread)
	}
	if some() {
		o.RepeatReprieve = gen.Pick(s, preemption.On, preemption.Off)
	}
	if some() {
		if o.Guards = gen.DrawGuards(s); s(4) == 3 {
			o.Guards.Toleration, o.Guards.GuaranteedSeconds = priority.TolerationDesign, gen.Pick(s, int64(0), 3600, 1<<63-1)
		}
	}
	if some() {
		o.PreemptionPriority = preemption.PreemptionPriority{Apart: s(2) == 0, MaxLead: gen.Pick(s, int32(0), 0, 1000, 1<<31-1)}
	}
	if some() {
		o.WaitSeconds = gen.Pick(s, int64(1), 3600, 7200, 1<<63-1)
	}
	if some() {
		o.Hooks = drawHooks(s)
	}
	if some() {
		o.Cost = drawCost(s)
	}
	if some() {
		o.HardBudgets = gen.Pick(s, preemption.HardBudgets{All: true}, preemption.HardBudgets{Names: []string{"default/b0", "team/b1"}})
	}
	if some() {
		o.Limits = drawLimits(s, o.Cost.Tariff.Pods > 0)
	}
	if some() {
		o.SearchSteps = gen.Pick(s, 1, 5, 100)
	}
	if s(2) == 1 {
		o.Quota = preemption.QuotaOptions{FairSharing: fairSharing(s), KueueFloat: s(2) == 1}
	}
	if some() && !o.Cost.Objective && o.Cost.Criterion == 0 {
		o.Objective = drawObjective(s, criteria, !o.Cost.Tariff.Free())
	}
	if some() {
		o.Search = gen.Pick(s, preemption.Improved, preemption.Exact)
	}
	o.Proof = some()
	if (len(o.Objective) > 0 || o.Limits.OnlyMoves) && s(2) == 1 {
		o.Chain = 1 + s(4)
	}
	return o
}

// drawObjective draws some of the criteria in any order that makes sense.
func drawObjective(s gen.Source, criteria []victims.Criterion, priced bool) (list []preemption.CriterionName) {
	all := slices.Clone(criteria)
	for n := 1 + s(len(all)); n > 0 && len(all) > 0; n-- {
		i := s(len(all))
		c := all[i]
		all = slices.Delete(all, i, i+1)
		switch {
		case c == preemption.CriterionCost && !priced:
		case c == preemption.CriterionStarted && !slices.Contains(list, preemption.CriterionHighest):
			list = append(list, preemption.CriterionHighest, c)
			all = slices.DeleteFunc(all, func(o preemption.CriterionName) bool { return o == preemption.CriterionHighest })
		default:
			list = append(list, c)
		}
	}
	return list
}

func drawCost(s gen.Source) preemption.CostOptions {
	c := preemption.CostOptions{Tariff: disruption.Tariff{
		Pods: int64(1 + s(3)), Fixed: int64(s(3)), Milestones: int64(s(2)), Restart: int64(s(2)),
	}}
	if s(3) == 2 {
		c.Tariff.Work = map[string]disruption.Rate{cluster.CPU: {Price: 1, Per: gen.Pick(s, int64(1000), 0, 1)}, gen.GPU: {Price: int64(s(2))}}
	}
	c.Importance = s(3) == 2
	if c.Objective = s(3) == 2; !c.Objective {
		c.Criterion = s(len(victims.Criteria) + 2)
	}
	return c
}

func drawLimits(s gen.Source, priced bool) preemption.Limits {
	l := preemption.Limits{Victims: int64(s(4)), Pods: int64(s(5))}
	if s(2) == 1 {
		l.Window = preemption.Window{Seconds: gen.Pick(s, int64(60), 3600, 1<<63-1), Victims: int64(s(4)), Pods: int64(s(5))}
	}
	if priced && s(2) == 1 {
		l.Cost = int64(s(9))
	}
	l.OnlyMoves = s(4) == 3
	return l
}

// RandomQuota is a question about quota by seed, as [gen.Quota] makes them, with options for it.
func RandomQuota(seed uint64) (gen.Question, preemption.Options) { return quota(gen.Seeded(seed)) }

// DrawQuota makes such a question of rapid's bits. Its choices are spread less evenly,
// so that fewer questions have victims.
func DrawQuota(t *rapid.T) (gen.Question, preemption.Options) { return quota(gen.Drawn(t)) }

// Enlarge makes each workload up to four times as large, and each quota likewise.
func Enlarge(s *cluster.Snapshot, r *rand.Rand) {
	for i := range s.Workloads {
		set := &s.Workloads[i].PodSets[0]
		for _, name := range slices.Sorted(maps.Keys(set.Requests)) {
			set.Requests[name] *= 1 + r.Int64N(4)
		}
	}
	for i := range s.ClusterQueues {
		for _, g := range s.ClusterQueues[i].Groups {
			for _, f := range g.Flavors {
				for k := range f.Resources {
					f.Resources[k].Nominal *= 1 + r.Int64N(4)
				}
			}
		}
	}
}

func quota(s gen.Source) (gen.Question, preemption.Options) {
	q := gen.Quota(s)
	return q, preemption.Options{Quota: preemption.QuotaOptions{FairSharing: fairSharing(s)}}
}

func fairSharing(s gen.Source) *preemption.FairSharing {
	return gen.Pick(s, nil, nil, &preemption.FairSharing{},
		&preemption.FairSharing{Strategies: []preemption.FairStrategy{preemption.LessThanInitialShare}},
		&preemption.FairSharing{Strategies: []preemption.FairStrategy{preemption.LessThanOrEqualToFinalShare}})
}
