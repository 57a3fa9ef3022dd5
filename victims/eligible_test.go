package victims_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// noon is the time of a small cluster.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// Upstream's rule: strictly lower priority. Where equals may go, they need to have run for
// ten minutes here, and not less than the preemptor did.
func TestLowerPriority(t *testing.T) {
	const equals = 600
	for _, c := range []struct {
		name, cluster string // about the unit of pod a
		after         int64
		claim         victims.Claim
		want          string
	}{
		{"lower", "pods a@n1 prio=9", 0, victims.Claim{Priority: 10}, "may be evicted"},
		{"equal", "pods a@n1 prio=10", 0, victims.Claim{Priority: 10}, "its priority 10 is not below the preemptor's"},
		{"higher", "pods a@n1 prio=11", equals, victims.Claim{Priority: 10}, "its priority 11 is not below the preemptor's"},
		{"a group's counts, not the pod's", "group g prio=11 a@n1 prio=1", 0, victims.Claim{Priority: 10}, "its priority 11 is not below the preemptor's"},
		{"exposed by its group", "group g prio=1 a@n1 prio=11", 0, victims.Claim{Priority: 10}, "may be evicted"},
		{"an equal that ran for long", "pods a@n1 prio=10 start=11:50", equals, victims.Claim{Priority: 10}, "may be evicted"},
		{
			"an equal, a second too early", "pods a@n1 prio=10 start=11:50:01", equals, victims.Claim{Priority: 10},
			"as important as the preemptor, safe from its equals for another 1s",
		},
		{
			"all of its pods have to have run", "group g mode=All prio=10 a@n1 start=11:00 b@n1 start=11:55", equals, victims.Claim{Priority: 10},
			"as important as the preemptor, safe from its equals for another 5m0s",
		},
		{
			"one that has not started", "pods a@n1 prio=10", equals, victims.Claim{Priority: 10},
			"as important as the preemptor, safe from its equals for another 10m0s",
		},
		{"a lower one never waits", "pods a@n1 prio=9", equals, victims.Claim{Priority: 10}, "may be evicted"},
		{
			"the preemptor was evicted a moment ago", "pods a@n1 prio=10 start=10:00", equals, victims.Claim{Priority: 10, Evicted: noon.Add(-time.Minute)},
			"as important as the preemptor, which was evicted lately: safe for another 9m0s",
		},
		{"that was long ago", "pods a@n1 prio=10 start=10:00", equals, victims.Claim{Priority: 10, Evicted: noon.Add(-10 * time.Minute)}, "may be evicted"},
		{
			"the preemptor ran longer", "pods a@n1 prio=10 start=11:00", equals, victims.Claim{Priority: 10, RanSeconds: 3601},
			"as important as the preemptor, which ran longer",
		},
		{"it ran as long", "pods a@n1 prio=10 start=11:00", equals, victims.Claim{Priority: 10, RanSeconds: 3600}, "may be evicted"},
		{"earlier runs count, a pod's", "pods a@n1 prio=10 start=11:00 ran=1m", equals, victims.Claim{Priority: 10, RanSeconds: 3660}, "may be evicted"},
		{"and a group's", "group g mode=All prio=10 ran=1m a@n1 start=11:00", equals, victims.Claim{Priority: 10, RanSeconds: 3660}, "may be evicted"},
		{
			"but no more than they were", "group g mode=All prio=10 ran=1m a@n1 start=11:00", equals, victims.Claim{Priority: 10, RanSeconds: 3661},
			"as important as the preemptor, which ran longer",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			us := small(t, "nodes n1\n"+c.cluster)
			kept := victims.LowerPriority{EqualAfterSeconds: c.after}.Kept(us, unit(t, us, "a"), c.claim)
			require.Equal(t, c.want, kept.String())
			require.Equal(t, c.want == "may be evicted", kept.OK())
		})
	}
}

func TestEqualsAreSafeWhereNobodyKnowsTheTime(t *testing.T) {
	s := snapshot(t, "nodes n1\npods a@n1 prio=10 start=t0")
	s.Time = time.Time{}
	us := unitsOf(t, s)
	kept := victims.LowerPriority{EqualAfterSeconds: 1}.Kept(us, 0, victims.Claim{Priority: 10})
	require.Equal(t, "as important as the preemptor, and nobody knows the time: safe from its equals", kept.String())
}

// Pods that hold quota of a queue are the queue's alone; of a unit one is enough.
func TestUnqueuedPreemptorsLeaveQuotaAlone(t *testing.T) {
	us := small(t, "nodes n1\npods a@n1 b@n1 prio=50 c@n1 queue=q\ncomposite job mode=All\ngroup g parent=job g0@n1\ngroup h parent=job queue=q h0@n1")
	rule := victims.Unqueued{Base: victims.LowerPriority{}}
	const queued = "holds quota of a queue, whose rules alone evict it"
	for name, want := range map[string]string{"a": "may be evicted", "b": "its priority 50 is not below the preemptor's", "c": queued, "g0": queued} {
		require.Equal(t, want, rule.Kept(us, unit(t, us, name), victims.Claim{Priority: 10}).String(), name)
	}
}

// The words of a rule that the library does not know: a user's own.
func TestKeptByARuleOfTheUsers(t *testing.T) {
	require.Equal(t, "lunch break for another 30m0s", victims.Kept{Rule: "lunch", Detail: "break", Seconds: 1800}.String())
}

// Those that go last come first. Source: KEP-5710, future disruption modes.
func TestMembersThatGoLastComeFirst(t *testing.T) {
	for _, c := range []struct{ name, members, want string }{
		{"the leader", "a@n1 prio=9 start=t0 lead@n1 prio=1", "lead a"},
		{"then the higher priority of the pod itself", "a@n1 prio=1 start=t0 b@n1 prio=2 start=t9", "b a"},
		{"then the earlier start", "a@n1 start=t9 uid=1 b@n1 start=t0 uid=2", "b a"},
		{"then the smaller UID", "a@n1 start=t0 uid=2 b@n1 start=t0 uid=1", "b a"},
		{"then the name", "b@n1 a@n1", "a b"},
		{"those on their way out after all others, leaders too", "lead@n1 terminating=yes a@n1", "a lead"},
	} {
		us := small(t, "nodes n1\ngroup g mode=SurplusFirst min=1 leader=lead "+c.members)
		require.Equal(t, c.want, names(us.Index(), us.Members(0)), c.name)
	}
}

// What goes on with whom, of the unit of pod a0.
func TestWhatGoesOn(t *testing.T) {
	for _, c := range []struct {
		name, cluster, stays string
		want                 bool
	}{
		{"with minCount", "group a mode=SurplusFirst min=2 a0@n1 a1@n1 a2@n1", "a0 a2", true},
		{"not with fewer", "group a mode=SurplusFirst min=2 a0@n1 a1@n1 a2@n1", "a2", false},
		{"not with nobody", "group a mode=SurplusFirst min=1 a0@n1 a1@n1", "", false},
		{"as it is, below minCount too", "group a mode=SurplusFirst min=3 a0@n1 a1@n1", "a0 a1", true},
		{"but no further", "group a mode=SurplusFirst min=3 a0@n1 a1@n1", "a0", false},
		{"not without its leader", "group a mode=SurplusFirst min=1 leader=a1 a0@n1 a1@n1", "a0", false},
		{"with its leader", "group a mode=SurplusFirst min=1 leader=a1 a0@n1 a1@n1", "a1", true},
		{"a basic group with anybody", "group a mode=SurplusFirst min=1 a0@n1 a1@n1", "a1", true},
		{"terminating ones are not counted, if they stay", "group a mode=SurplusFirst min=2 a0@n1 a1@n1 terminating=yes a2@n1 a3@n1", "a0 a1", false},
		{"nor if they go", "group a mode=SurplusFirst min=3 a0@n1 a1@n1 terminating=yes a2@n1", "a0 a2", true},
		{"a leader who is going anyway", "group a mode=SurplusFirst min=1 leader=a1 a0@n1 a1@n1 terminating=yes a2@n1", "a0", true},
		{"pending ones are not there", "group a mode=SurplusFirst min=2 a0@n1 a1@n1 a2", "a0", false},

		{"a composite with all of its groups", "composite job mode=SurplusFirst\ngroup a parent=job a0@n1\ngroup b parent=job min=1 b0@n1 b1@n1", "a0 b0", true},
		{"not with fewer, if it says nothing", "composite job mode=SurplusFirst\ngroup a parent=job a0@n1\ngroup b parent=job b0@n1", "a0", false},
		{"with minGroupCount of them", "composite job mode=SurplusFirst min=1\ngroup a parent=job a0@n1\ngroup b parent=job b0@n1", "b0", true},
		{"not with nobody at all", "composite job mode=SurplusFirst min=1\ngroup a parent=job a0@n1\ngroup b parent=job b0@n1", "", false},
		{"a child of mode All whole, or not at all", "composite job mode=SurplusFirst min=1\ngroup a parent=job a0@n1\ngroup b mode=All parent=job b0@n1 b1@n1", "a0 b0", false},
		{"and then it does not count", "composite job mode=SurplusFirst min=1\ngroup a parent=job a0@n1\ngroup b mode=All parent=job b0@n1 b1@n1", "a0", true},
		{"a child below its minCount is of no use", "composite job mode=SurplusFirst min=1\ngroup a parent=job a0@n1\ngroup b parent=job min=2 b0@n1 b1@n1", "a0 b1", false},
		{"groups that do not run are not counted", "composite job mode=SurplusFirst\ngroup a parent=job min=1 a0@n1 a1@n1\ngroup b parent=job b0", "a0", true},
		{"a composite child of mode All", "composite top mode=SurplusFirst min=1\ncomposite job mode=All parent=top\ngroup a parent=job a0@n1\ngroup b parent=job b0@n1\ngroup c parent=top c0@n1", "a0 c0", false},
		{"goes whole", "composite top mode=SurplusFirst min=1\ncomposite job mode=All parent=top\ngroup a parent=job a0@n1\ngroup b parent=job b0@n1\ngroup c parent=top c0@n1", "c0", true},
		{"or stays whole", "composite top mode=SurplusFirst min=1\ncomposite job mode=All parent=top\ngroup a parent=job a0@n1\ngroup b parent=job b0@n1\ngroup c parent=top c0@n1", "a0 b0", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			us := small(t, "nodes n1\n"+c.cluster)
			stays := strings.Fields(c.stays)
			require.Equal(t, c.want, us.GoesOn(unit(t, us, "a0"), func(p cluster.PodID) bool {
				return slices.Contains(stays, us.Index().Pod(p).Name)
			}))
		})
	}
}

// Only those on n1 matter: of a pod group they are decided on, of a composite all pods of
// each group right beneath it that has one there.
func TestWhoIsDecidedOn(t *testing.T) {
	for _, c := range []struct{ name, cluster, want string }{
		{"a pod group", "group a mode=SurplusFirst min=1 a0@n1 a1@n2 a2@n1", "a0 a2"},
		{"a composite", "composite job mode=SurplusFirst\ngroup a parent=job a0@n1 a1@n2\ngroup b parent=job b0@n2", "a0 a1"},
		{"one over two levels", "composite top mode=SurplusFirst\ncomposite job parent=top\ngroup a parent=job a0@n1\ngroup b parent=job b0@n2\ngroup c parent=top c0@n2", "a0 b0"},
	} {
		us := small(t, "nodes n1 n2\n"+c.cluster)
		got := us.Deciders(unit(t, us, "a0"), us.Unit(unit(t, us, "a0")).Pods, func(p cluster.PodID) bool { return us.Index().NodeOf(p) == 0 })
		require.Equal(t, c.want, names(us.Index(), got), c.name)
	}
}

// priced are the units of a small cluster with prices.
func priced(t *testing.T, tariff disruption.Tariff, text string) *victims.Units {
	t.Helper()
	return victims.NewUnits(index(t, text), victims.Units137, victims.Worth{Cost: victims.Tariff{Tariff: tariff}})
}

// What the unit of pod a costs. KEP-83 put milestones of the cost off; here they are.
func TestWhatAUnitCosts(t *testing.T) {
	all := disruption.Tariff{Fixed: 1, Milestones: 1, Restart: 2, Pods: 100}
	work := disruption.Tariff{Work: map[string]disruption.Rate{"cpu": {Price: 1, Per: 60_000}}} // 1 a minute and core
	for _, c := range []struct {
		name, cluster string
		tariff        disruption.Tariff
		want          int64
	}{
		{"everything is free", "pods a@n1 cost=5 restart=9", disruption.Tariff{}, 0},
		{"each pod costs", "group g mode=All a@n1 b@n1", all, 200},
		{"a constant price, and the time of restarting", "pods a@n1 cost=5 restart=10", all, 125},
		{"of Single groups the pod alone", "group g cost=7 a@n1 cost=5 b@n1", all, 105},
		{"a group that is lost costs by itself", "group g mode=All cost=7 a@n1 cost=5 b@n1", all, 212},
		{"and the groups beneath", "composite job mode=All cost=1000\ngroup g parent=job cost=7 a@n1\ngroup h parent=job cost=9 b@n1", all, 1216},
		{"not those above", "composite job cost=1000\ngroup g mode=All parent=job cost=7 a@n1", all, 107},
		{"on a line between milestones", "pods a@n1 start=11:00 costs=30m:0,90m:60", all, 130},
		{"a checkpoint starts anew", "pods a@n1 start=11:00 checkpoint=11:30 costs=30m:0,90m:60", all, 100},
		{"a group's, since the first of its pods", "group g mode=All costs=30m:0,90m:60 a@n1 start=11:30 b@n1 start=11:00", all, 230},
		{"that has not begun", "pods a@n1 costs=0:9,90m:60", all, 109},
		{"lost work, rounded down", "pods a@n1 cpu=1500m start=11:58:50", work, 1},
		{"since the group's checkpoint, unless the pod has its own", "group g mode=All checkpoint=11:50 a@n1 cpu=1 start=10:00 b@n1 cpu=1 start=10:00 checkpoint=11:59", work, 11},
		{"of other resources none", "pods a@n1 memory=1Gi start=10:00", work, 0},
		{"sums end at the largest number", "group g mode=All cost=9223372036854775807 a@n1 cost=9223372036854775807", all, math.MaxInt64},
	} {
		t.Run(c.name, func(t *testing.T) {
			us := priced(t, c.tariff, "nodes n1\n"+c.cluster)
			u := unit(t, us, "a")
			require.Equal(t, c.want, us.Cost(u))
			require.True(t, us.Priced())
			require.Equal(t, c.want, us.Score([]victims.UnitID{u}, 0).Cost)
			require.Equal(t, c.want, victims.Tariff{Tariff: c.tariff}.Price(us.Index(), us.Unit(u).Group, us.Unit(u).Pods))
		})
	}
	free := small(t, "nodes n1\npods a@n1 cost=5")
	require.False(t, free.Priced())
	require.Zero(t, free.Cost(0))
}

// perPod is a user's own cost: 10 a pod, and 1 for a group.
type perPod struct{}

func (perPod) Price(_ *cluster.Index, group cluster.GroupID, pods []cluster.PodID) int64 {
	if len(pods) == 0 {
		panic("asked what nobody costs")
	}
	sum := 10 * int64(len(pods))
	if group != cluster.NoGroup {
		sum++
	}
	return sum
}

// A part of an elastic unit costs what its pods do, and the groups that are lost whole.
func TestWhatAPartCosts(t *testing.T) {
	us := victims.NewUnits(index(t, "nodes n1\ncomposite job mode=SurplusFirst min=1\n"+
		"group g parent=job a@n1 b@n1\ngroup h parent=job c@n1 d@n1"), victims.Units137, victims.Worth{Cost: perPod{}})
	for _, c := range []struct {
		pods []string
		want int64
	}{
		{[]string{"a"}, 10},
		{[]string{"a", "b"}, 21},
		{[]string{"a", "c"}, 20},
		{[]string{"a", "b", "c"}, 31},
		{[]string{"a", "b", "c", "d"}, 41},
	} {
		var out []cluster.PodID
		for _, name := range c.pods {
			out = append(out, us.Index().PodByName("default", name))
		}
		require.Equal(t, c.want, us.CostOf(0, out), "%v", c.pods)
		parts := victims.Parts{0: out}
		score := us.ScoreParts([]victims.UnitID{0}, parts, 0)
		require.Equal(t, c.want, score.Cost, "%v", c.pods)
		require.Equal(t, len(c.pods), score.Pods)
		require.Equal(t, out, parts.Of(us, 0))
	}
	require.Len(t, victims.Parts(nil).Of(us, 0), 4)
}
