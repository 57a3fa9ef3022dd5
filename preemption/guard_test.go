package preemption_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// eachGuarded asks about random clusters in which guards are about.
func eachGuarded(t *testing.T, n uint64, f func(t fatal, seed uint64, o preemption.Options, q gen.Question)) {
	t.Helper()
	for seed := range seeds(n) {
		profile := gen.Profile{Groups: true, Budgets: true, Classes: true, Guards: true}
		o := preemption.Options{
			Rules:  []preemption.Rules{preemption.Kubernetes137, preemption.Kubernetes136, preemption.KEP5710Alpha}[seed%3],
			Guards: gen.Guards(seed),
		}
		q := gen.Random(seed, profile)
		if _, err := o.Preempt(q.Preemptor, &q.Snapshot); err != nil {
			if o.Rules == preemption.KEP5710Alpha {
				continue // mode All on a basic group is refused there
			}
			t.Fatalf("seed %d: %v", seed, err)
		}
		f(&named{t, seed}, seed, o, q)
		if t.Failed() {
			return
		}
	}
}

// TestWithoutGuardsNothingChanges: the road through the guards, taken by a hook that
// says what the default says, comes to the answers of the plain road.
func TestWithoutGuardsNothingChanges(t *testing.T) {
	for seed := range seeds(1500) {
		q := gen.Random(seed, gen.Everything())
		o := seededOptions(seed)
		o.Explain, o.Candidates = true, true
		plain := ask(&named{t, seed}, o, q)
		o.Hooks = &preemption.Hooks{Eligible: victims.LowerPriority{}}
		hooked := ask(&named{t, seed}, o, q)
		require.True(t, hooked.Stats.Hooks)
		plain.Stats, hooked.Stats = preemption.Stats{}, preemption.Stats{}
		if diff := cmp.Diff(plain, hooked); diff != "" {
			t.Fatalf("seed %d (-plain +hooked):\n%s", seed, diff)
		}
	}
}

// TestAProtectedUnitIsNoVictim: whatever protects a victim, it is none any more.
func TestAProtectedUnitIsNoVictim(t *testing.T) {
	t.Parallel()
	protected := map[victims.KeptRule]int{}
	eachGuarded(t, 1500, func(t fatal, seed uint64, o preemption.Options, q gen.Question) {
		for _, v := range ask(t, o, q).Victims {
			for _, rule := range []victims.KeptRule{
				victims.KeptStandby, victims.KeptLabel, victims.KeptToleration, victims.KeptRunning, victims.KeptCooldown,
			} {
				o, q := o, gen.Clone(q)
				if !protect(&o, &q, v.Pods[0].PodRef, rule) {
					continue
				}
				r := ask(t, o, q)
				if slices.ContainsFunc(r.Victims, func(x preemption.Victim) bool {
					return x.Kind == v.Kind && x.Namespace == v.Namespace && x.Name == v.Name
				}) {
					t.Fatalf("%s is a victim, although protected by %s", v.Name, rule)
				}
				protected[rule]++
			}
		}
	})
	for _, rule := range []victims.KeptRule{victims.KeptStandby, victims.KeptLabel, victims.KeptToleration, victims.KeptRunning, victims.KeptCooldown} {
		require.Greater(t, protected[rule], int(seeds(100)), rule)
	}
}

// protect lets a rule keep the unit of a pod; false if it can't here.
func protect(o *preemption.Options, q *gen.Question, pod preemption.PodRef, rule victims.KeptRule) bool {
	i := slices.IndexFunc(q.Snapshot.Pods, func(p preemption.Pod) bool { return p.Namespace == pod.Namespace && p.Name == pod.Name })
	p := &q.Snapshot.Pods[i]
	if p.Guard == nil {
		p.Guard = &cluster.Guard{}
	}
	switch rule {
	case victims.KeptStandby:
		p.Guard.Standby = true
	case victims.KeptLabel:
		p.Labels = map[string]string{"precious": "yes"}
		o.Guards.Protect = &disruption.Selector{MatchLabels: p.Labels}
	case victims.KeptToleration:
		v := int32(0)
		if p.Priority == nil || o.Guards.Toleration == priority.TolerationOff {
			return false
		}
		v = *p.Priority
		p.Class = "tolerant"
		q.Snapshot.PriorityClasses = append(q.Snapshot.PriorityClasses, priority.Class{Name: p.Class, Value: v, Annotations: map[string]string{
			priority.MinimumPreemptableAnnotation: "2147483647", priority.TolerationSecondsAnnotation: "-1",
		}})
	case victims.KeptRunning:
		seconds := int64(math.MaxInt64)
		p.Guard.GuaranteedSeconds = &seconds
		if q.Snapshot.Time.IsZero() {
			return false
		}
	case victims.KeptCooldown:
		o.Guards.Cooldown = victims.Cooldown{Evictions: 1, Seconds: math.MaxInt64}
		p.Evictions = []time.Time{q.Snapshot.Time}
	}
	return true
}

// TestOnlyTheSnapshotTellsTheTime: moving every time alike moves nothing else.
func TestOnlyTheSnapshotTellsTheTime(t *testing.T) {
	eachGuarded(t, 600, func(t fatal, seed uint64, o preemption.Options, q gen.Question) {
		by := time.Duration(seed) * 1234567 * time.Hour / 600
		if seed%2 == 0 && !q.Snapshot.Time.IsZero() { // prices and windows look at times too
			q = gen.Clone(q)
			for i := range q.Snapshot.Pods {
				if i%3 == 0 {
					q.Snapshot.Pods[i].Cost = &cluster.Cost{Checkpoint: q.Snapshot.Time.Add(-time.Duration(i) * time.Minute)}
				}
			}
			q.Snapshot.Disruptions = []cluster.Disruption{{Time: q.Snapshot.Time.Add(-time.Duration(seed%90) * time.Minute), Pods: 2}}
			o.Cost = preemption.CostOptions{Criterion: 1, Tariff: disruption.Tariff{Work: map[string]disruption.Rate{"cpu": {Price: 1}}}}
			o.Limits.Window = preemption.Window{Seconds: 3600, Pods: 3}
		}
		later := gen.Clone(q)
		shift(&later, by)
		before, after := ask(t, o, q), ask(t, o, later)
		strip := func(r *preemption.Result, now time.Time) {
			r.Score = nil
			r.Preemptor = preemption.Asked{}
			for i := range r.Victims {
				for j := range r.Victims[i].Pods {
					r.Victims[i].Pods[j].Started = time.Time{}
				}
			}
			for i := range r.Warnings { // what lies ahead does so by as much
				if at, err := time.Parse(time.RFC3339Nano, r.Warnings[i].Value); err == nil {
					r.Warnings[i].Value = at.Sub(now).String()
				}
			}
		}
		strip(before, q.Snapshot.Time)
		strip(after, later.Snapshot.Time)
		if diff := cmp.Diff(before, after); diff != "" {
			t.Fatalf("(-as it was +%s later):\n%s", by, diff)
		}
	})
}

func shift(q *gen.Question, by time.Duration) {
	move := func(ts ...*time.Time) {
		for _, t := range ts {
			if !t.IsZero() {
				*t = t.Add(by)
			}
		}
	}
	moveAll := func(ts []time.Time) {
		for i := range ts {
			move(&ts[i])
		}
	}
	move(&q.Snapshot.Time)
	for i := range q.Snapshot.Disruptions {
		move(&q.Snapshot.Disruptions[i].Time)
	}
	for _, pods := range [][]preemption.Pod{q.Snapshot.Pods, q.Preemptor.Pods} {
		for i := range pods {
			if c := pods[i].Cost; c != nil {
				move(&c.Checkpoint)
			}
			move(&pods[i].Started, &pods[i].Scheduled, &pods[i].Created)
			moveAll(pods[i].Evictions)
		}
	}
	for i := range q.Snapshot.PodGroups {
		moveAll(q.Snapshot.PodGroups[i].Evictions)
	}
	for i := range q.Snapshot.CompositePodGroups {
		moveAll(q.Snapshot.CompositePodGroups[i].Evictions)
	}
}

// TestTheEvictedDoNotStrikeBack: a unit that is evicted and resubmitted at once
// evicts neither its preemptor nor anybody of its own priority or above, and under
// NoCascade nobody. A pod of a group comes back for itself under v1.36, otherwise
// with its group.
func TestTheEvictedDoNotStrikeBack(t *testing.T) {
	pods, groups, cascades := 0, 0, 0
	eachGuarded(t, 3000, func(t fatal, seed uint64, o preemption.Options, q gen.Question) {
		o.PreemptionPriority.Apart = seed%2 == 0
		r := ask(t, o, q)
		if r.Verdict != preemption.Feasible {
			return
		}
		planner, err := preemption.NewPlanner(&q.Snapshot, o)
		if err == nil {
			err = planner.Evict(r)
		}
		if err != nil {
			t.Fatalf("%v", err)
		}
		for _, n := range r.Nominations {
			if err := planner.Bind(n.Pod, n.Node); err != nil {
				t.Fatalf("%v", err)
			}
		}
		for _, v := range r.Victims {
			for i, pod := range v.Pods {
				back := resubmit(&q, pod.PodRef)
				as := preemption.Preemptor{Kind: cluster.KindPod, Namespace: back.Namespace, Name: back.Name}
				list, priority := []preemption.Pod{back}, pod.Priority
				if back.Group != "" && o.Rules != preemption.Kubernetes136 {
					if i > 0 || !slices.ContainsFunc(q.Snapshot.PodGroups, func(g preemption.PodGroup) bool { return g.Namespace == back.Namespace && g.Name == back.Group }) {
						continue
					}
					as = preemption.Preemptor{Kind: cluster.KindPodGroup, Namespace: back.Namespace, Name: back.Group}
					for _, other := range v.Pods[1:] {
						list = append(list, resubmit(&q, other.PodRef))
					}
					priority = v.Priority
					groups++
				} else {
					pods++
				}
				fork := planner.Fork()
				for _, p := range list {
					if err := fork.SetPod(p); err != nil {
						t.Fatalf("%v", err)
					}
				}
				again, err := fork.Preempt(as)
				if err != nil {
					t.Fatalf("%v", err)
				}
				for _, x := range again.Victims {
					cascades++
					if x.Name == r.Preemptor.Name && x.Namespace == r.Preemptor.Namespace || x.Priority >= priority {
						t.Fatalf("%s strikes back: it evicts %s of priority %d, being of priority %d", as.Name, x.Name, x.Priority, priority)
					}
				}
				if len(again.Victims) > 0 {
					o := o
					o.NoCascade = true
					again, err := o.Preempt(as, fork.Snapshot())
					if err != nil || len(again.Victims) > 0 {
						t.Fatalf("%s evicts %v under NoCascade: %v", as.Name, again, err)
					}
				}
			}
		}
	})
	require.Greater(t, pods, int(seeds(500)))
	require.Greater(t, groups, int(seeds(100)))
	require.Positive(t, cascades, "some of them should evict somebody below")
}

// TestNobodyIsEvictedTooOften: pods that push each other around for hours are evicted
// at most as often within any window as the cool-down says.
func TestNobodyIsEvictedTooOften(t *testing.T) {
	evictions, atTheLimit := 0, 0
	for seed := range seeds(60) {
		r := rand.New(rand.NewPCG(seed, 12))
		most, window := int32(1+r.IntN(2)), int64(1800)
		o := preemption.Options{Guards: preemption.Guards{
			Cooldown: victims.Cooldown{Evictions: most, Seconds: window}, EqualAfterSeconds: 60,
		}}
		q := gen.Question{Snapshot: preemption.Snapshot{Time: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)}}
		s := &q.Snapshot
		for n := range 2 {
			s.Nodes = append(s.Nodes, cluster.Node{Name: string(rune('a' + n)), Allocatable: preemption.Resources{"cpu": 2}})
		}
		for i := range 8 {
			priority := int32(r.IntN(3))
			s.Pods = append(s.Pods, preemption.Pod{
				Name: string(rune('p' + i)), Priority: &priority, Requests: preemption.Resources{"cpu": int64(1 + r.IntN(2))},
			})
		}
		for range 200 {
			s.Time = s.Time.Add(time.Duration(30+r.IntN(120)) * time.Second)
			p := &s.Pods[r.IntN(len(s.Pods))]
			if p.Node != "" {
				if r.IntN(8) == 0 { // it restarts
					p.Node, p.Started, p.Scheduled = "", time.Time{}, time.Time{}
				}
				continue
			}
			answer := ask(&named{t, seed}, o, gen.Question{Snapshot: *s, Preemptor: preemption.Preemptor{Kind: cluster.KindPod, Name: p.Name}})
			for _, v := range answer.Victims {
				i := slices.IndexFunc(s.Pods, func(p preemption.Pod) bool { return p.Name == v.Name })
				s.Pods[i] = resubmit(&q, v.Pods[0].PodRef)
				evictions++
				lately := int32(0)
				for _, e := range s.Pods[i].Evictions {
					if s.Time.Sub(e) < time.Duration(window)*time.Second {
						lately++
					}
				}
				require.LessOrEqual(t, lately, most, "seed %d: %s", seed, v.Name)
				if lately == most {
					atTheLimit++
				}
			}
			for _, n := range answer.Nominations {
				p.Node, p.Started = n.Node, s.Time
			}
		}
	}
	require.Greater(t, evictions, int(seeds(500)))
	require.Greater(t, atTheLimit, int(seeds(200)))
}

// resubmit is a pod that was evicted at this moment, pending again.
func resubmit(q *gen.Question, ref preemption.PodRef) preemption.Pod {
	i := slices.IndexFunc(q.Snapshot.Pods, func(p preemption.Pod) bool { return p.Namespace == ref.Namespace && p.Name == ref.Name })
	p := q.Snapshot.Pods[i]
	now := q.Snapshot.Time
	if now.IsZero() {
		now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	if !p.Started.IsZero() && p.Started.Before(now) {
		p.RanSeconds += int64(now.Sub(p.Started) / time.Second)
	}
	p.Evictions = append(slices.Clone(p.Evictions), now)
	p.Node, p.Started, p.Scheduled, p.Terminating, p.Preempted = "", time.Time{}, time.Time{}, false, false
	return p
}

func TestGuardOptionsThatCannotBeFollowed(t *testing.T) {
	for want, o := range map[string]preemption.Options{
		`preemption: Options.Guards.Toleration: "Maybe" is not Design, Off or empty`:                {Guards: preemption.Guards{Toleration: "Maybe"}},
		`preemption: Options.Guards.GuaranteedSeconds: -1 is not >= 0`:                              {Guards: preemption.Guards{GuaranteedSeconds: -1}},
		`preemption: Options.Guards.EqualAfterSeconds: -1 is not >= 0`:                              {Guards: preemption.Guards{EqualAfterSeconds: -1}},
		`preemption: Options.Guards.Cooldown.Evictions: -1 is not >= 0`:                             {Guards: preemption.Guards{Cooldown: victims.Cooldown{Evictions: -1, Seconds: 1}}},
		`preemption: Options.Guards.Cooldown: 0 evictions in 5 seconds is not both >= 1, or both 0`: {Guards: preemption.Guards{Cooldown: victims.Cooldown{Seconds: 5}}},
		`preemption: Options.WaitSeconds: -1 is not >= 0`:                                           {WaitSeconds: -1},
		`preemption: Options.PreemptionPriority.MaxLead: -1 is not >= 0`:                            {PreemptionPriority: preemption.PreemptionPriority{MaxLead: -1}},
		`preemption: Options.Guards.Protect: a selector that does not parse is not a label selector`: {Guards: preemption.Guards{Protect: &disruption.Selector{
			MatchExpressions: []disruption.Requirement{{Key: "app", Operator: "Like"}},
		}}},
	} {
		_, err := o.Preempt(preemption.Preemptor{}, &preemption.Snapshot{})
		var oe *preemption.OptionError
		require.ErrorAs(t, err, &oe)
		require.EqualError(t, oe, want)
		if o.Guards.Protect != nil {
			require.ErrorIs(t, err, disruption.ErrSelector)
		}
	}
}

func TestWhyAKeptUnitIsNoVictim(t *testing.T) {
	low, high := int32(1), int32(10)
	snapshot := preemption.Snapshot{
		Nodes: []cluster.Node{{Name: "n1", Allocatable: preemption.Resources{"cpu": 1}}},
		Pods: []preemption.Pod{
			{Name: "spare", Node: "n1", Priority: &low, Requests: preemption.Resources{"cpu": 1}, Guard: &cluster.Guard{Standby: true}},
			{Name: "web", Priority: &high, Requests: preemption.Resources{"cpu": 1}},
		},
	}
	planner, err := preemption.NewPlanner(&snapshot, preemption.Options{Candidates: true})
	require.NoError(t, err)
	web := preemption.Preemptor{Kind: cluster.KindPod, Name: "web"}
	why, err := planner.WhyNot(web, preemption.UnitTarget("spare"))
	require.NoError(t, err)
	require.Equal(t, &preemption.Why{
		Text: "spare is kept: on standby, it never goes", Reason: &preemption.Reason{Check: "standby", Detail: "on standby, it never goes"},
	}, why)
	r, err := planner.Preempt(web)
	require.NoError(t, err)
	require.Equal(t, []preemption.KeptUnit{{
		Kind: cluster.KindPod, Name: "spare", Node: "n1", Priority: 1, Rule: victims.KeptStandby, Text: "on standby, it never goes",
	}}, r.Kept)
}

// TestEqualsStayAtAnUnknownTime: that equals may go is an exception, which asks for a
// run time that is known.
func TestEqualsStayAtAnUnknownTime(t *testing.T) {
	started := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	snapshot := &preemption.Snapshot{
		Nodes: []cluster.Node{{Name: "n", Allocatable: preemption.Resources{"cpu": 1}}},
		Pods:  []preemption.Pod{{Name: "p", Node: "n", Requests: preemption.Resources{"cpu": 1}, Started: started}},
	}
	p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "x", Requests: preemption.Resources{"cpu": 1}}}}
	options := preemption.Options{Guards: preemption.Guards{EqualAfterSeconds: 60}, Explain: true}
	r, err := options.Preempt(p, snapshot)
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, r.Verdict)
	require.Contains(t, fmt.Sprint(r.Trace), "kept p: as important as the preemptor, and nobody knows the time")
	snapshot.Time = started.Add(time.Minute)
	r, err = options.Preempt(p, snapshot)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict)
}
