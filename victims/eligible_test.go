package victims_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
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

// unitsOf are the units of s under the newest rules.
func unitsOf(t *testing.T, s *cluster.Snapshot) *victims.Units {
	t.Helper()
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	return victims.NewUnits(ix, victims.Units137, victims.Worth{})
}

// Who is kept from a preemptor of priority 100, and why.
func TestGuards(t *testing.T) {
	design := victims.Guards{Toleration: priority.TolerationDesign}
	protect := victims.Guards{Protect: &disruption.Selector{MatchLabels: map[string]string{"app": "db"}}}
	tenMinutes := victims.Guards{GuaranteedSeconds: 600}
	twice := victims.Guards{Cooldown: victims.Cooldown{Evictions: 2, Seconds: 3600}}
	const may = "may be evicted"
	for _, c := range []struct {
		name, cluster string // about the unit of pod a
		guards        victims.Guards
		want          string
	}{
		{"nothing said", "pods a@n1", victims.Guards{}, may},
		{"priority comes first", "pods a@n1 prio=100 standby=yes", victims.Guards{}, "its priority 100 is not below the preemptor's"},

		{"standby never goes", "pods a@n1 standby=yes", victims.Guards{}, "on standby, it never goes"},
		{"nor does its group", "group g mode=All a@n1 b@n1 standby=yes", victims.Guards{}, "on standby, it never goes"},
		{"a Single group's says it for every pod", "group g standby=yes a@n1", victims.Guards{}, "on standby, it never goes"},
		{"a composite's too", "composite job standby=yes\ngroup g parent=job a@n1", victims.Guards{}, "on standby, it never goes"},
		{"whatever its pod says besides", "group g standby=yes a@n1 wait=5", victims.Guards{}, "on standby, it never goes"},
		{"a Single pod's does not keep its siblings", "group g a@n1 b@n1 standby=yes", victims.Guards{}, may},

		{"a protected label", "pods a@n1 labels=app=db", protect, "its labels protect it"},
		{"another label", "pods a@n1 labels=app=web", protect, may},
		{"one pod protects its unit", "group g mode=All a@n1 b@n1 labels=app=db", protect, "its labels protect it"},
		{"so does the group's label", "group g mode=All labels=app=db a@n1", protect, "its labels protect it"},
		{"of a Single group only the pod's count", "group g labels=app=db a@n1", protect, may},

		// The preemption toleration document; scheduler-plugins reads it in code.
		{"a class tolerates for ever", "class batch value=1 minimum-preemptable=200 toleration-seconds=-1\npods a@n1 class=batch scheduled=t0", victims.Guards{}, "tolerates preemption below 200"},
		{"not those at the minimum", "class batch value=1 minimum-preemptable=100 toleration-seconds=-1\npods a@n1 class=batch scheduled=t0", victims.Guards{}, may},
		{"for some time", "class batch value=1 minimum-preemptable=200 toleration-seconds=600\npods a@n1 class=batch scheduled=11:55", victims.Guards{}, "tolerates preemption below 200 for another 5m0s"},
		{"at the very end it is over", "class batch value=1 minimum-preemptable=200 toleration-seconds=600\npods a@n1 class=batch scheduled=11:50", victims.Guards{}, may},
		{"in the document it is not", "class batch value=1 minimum-preemptable=200 toleration-seconds=600\npods a@n1 class=batch scheduled=11:50", design, "tolerates preemption below 200"},
		{"nobody knows when it was scheduled", "class batch value=1 minimum-preemptable=200 toleration-seconds=600\npods a@n1 class=batch", victims.Guards{}, "tolerates preemption below 200"},
		{"a pod of a unit is enough", "class batch value=1 minimum-preemptable=200 toleration-seconds=-1\ngroup g mode=All a@n1 b@n1 class=batch", victims.Guards{}, "tolerates preemption below 200"},
		{"switched off", "class batch value=1 minimum-preemptable=200 toleration-seconds=-1\npods a@n1 class=batch", victims.Guards{Toleration: priority.TolerationOff}, may},
		{"by default: its own level and below", "class batch value=99 toleration-seconds=-1\npods a@n1 class=batch prio=1", victims.Guards{}, may},
		{"a lost class, in the document: its node is left alone", "pods a@n1 b@n1 class=lost prio=1", design, "its node is left alone, as the class lost is not there"},
		{"of two, the first is named", "pods a@n1 b@n1 class=lost prio=1 c@n1 class=missing prio=1", design, "its node is left alone, as the class lost is not there"},
		{"another node is not", "pods a@n1 b@n2 class=lost prio=1", design, may},
		{"nor in code, where another class is read", "class c value=1 minimum-preemptable=200 toleration-seconds=-1\npods a@n1 b@n1 class=lost prio=1 d@n2 class=c", victims.Guards{}, may},
		{"nor in code", "pods a@n1 b@n1 class=lost prio=1", victims.Guards{}, may},

		{"guaranteed to run", "pods a@n1 start=11:55", tenMinutes, "is guaranteed to run for another 5m0s"},
		{"until then", "pods a@n1 start=11:50", tenMinutes, may},
		{"it has not started", "pods a@n1", tenMinutes, "is guaranteed to run for another 10m0s"},
		{"the longest of its pods", "group g mode=All a@n1 start=11:50 b@n1 start=11:52", tenMinutes, "is guaranteed to run for another 2m0s"},
		{"the pod's own word counts first", "class c value=1 guaranteed=1h\ngroup g class=c guaranteed=2h a@n1 guaranteed=0 start=11:59", tenMinutes, may},
		{"then the nearest group's", "class c value=1 guaranteed=1h\ncomposite job guaranteed=3h\ngroup g class=c parent=job guaranteed=2h a@n1 start=11:00", tenMinutes, "is guaranteed to run for another 1h0m0s"},
		{"then the group's above", "class c value=1 guaranteed=1h\ncomposite job guaranteed=3h\ngroup g class=c parent=job a@n1 start=11:00", tenMinutes, "is guaranteed to run for another 2h0m0s"},
		{"then the class's", "class c value=1 guaranteed=1h\ngroup g class=c a@n1 start=11:30", tenMinutes, "is guaranteed to run for another 30m0s"},
		{"a class that says nothing of it leaves it to the guards", "class c value=1\npods a@n1 class=c start=11:55", tenMinutes, "is guaranteed to run for another 5m0s"},
		{"a guard about something else says nothing of it", "pods a@n1 start=11:55 wait=5", tenMinutes, "is guaranteed to run for another 5m0s"},

		{"evicted too often", "pods a@n1 evicted=11:10,11:30", twice, "was evicted 2 times in the last 1h0m0s, kept for another 10m0s"},
		{"once is not too often", "pods a@n1 evicted=11:30", twice, may},
		{"one of them was too long ago", "pods a@n1 evicted=11:00,11:30", twice, may},
		{"of three, the second youngest decides", "pods a@n1 evicted=11:50,11:10,11:30", twice, "was evicted 3 times in the last 1h0m0s, kept for another 30m0s"},
		{"once is enough", "pods a@n1 evicted=11:30", victims.Guards{Cooldown: victims.Cooldown{Evictions: 1, Seconds: 3600}}, "was evicted once in the last 1h0m0s, kept for another 30m0s"},
		{"a group's own evictions", "group g mode=All evicted=11:10,11:30 a@n1", twice, "was evicted 2 times in the last 1h0m0s, kept for another 10m0s"},
		{"or those of one of its pods, if they last longer", "group g mode=All evicted=11:10,11:30 a@n1 b@n1 evicted=11:40,11:41", twice, "was evicted 2 times in the last 1h0m0s, kept for another 40m0s"},
		{"a Single group's do not count for a pod", "group g evicted=11:10,11:30 a@n1", twice, may},

		{"an hour ago is too long ago to be counted", "pods a@n1 evicted=11:00,11:30,11:50", twice, "was evicted 2 times in the last 1h0m0s, kept for another 30m0s"},

		{"standby before labels", "pods a@n1 standby=yes labels=app=db", protect, "on standby, it never goes"},
		{"of several, the first is named", "class c value=1 minimum-preemptable=200 toleration-seconds=-1\npods a@n1 class=c guaranteed=3h labels=app=db evicted=11:59,11:58",
			victims.Guards{Protect: protect.Protect, Cooldown: twice.Cooldown}, "its labels protect it"},
		{"then the next", "class c value=1 minimum-preemptable=200 toleration-seconds=-1\npods a@n1 class=c guaranteed=3h start=10:00 evicted=11:59,11:58", twice, "tolerates preemption below 200"},
		{"and the next", "pods a@n1 guaranteed=3h start=10:00 evicted=11:59,11:58", twice, "is guaranteed to run for another 1h0m0s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			us := small(t, "nodes n1 n2\n"+c.cluster)
			ps := us.Protect(c.guards, nil)
			u, claim := unit(t, us, "a"), victims.Claim{Priority: 100}
			require.Equal(t, c.want, ps.Kept(u, claim).String())
			require.Equal(t, c.want == may, ps.May(u, claim))
			require.Equal(t, c.want == may, slices.Contains(ps.Potential(nil, 0, claim), u))
			require.Equal(t, c.want != may, ps.Guarded(u, claim), "whatever the base says")
		})
	}
}

// A class that tolerates makes a step: who is below its minimum is kept off, who reaches
// it is not, and [victims.Protections.Opens] tells where that is.
// TestClaimsThatTheirPriorityTells: what became of the preemptor matters where equals are evicted, and to a
// rule of the user's own.
func TestClaimsThatTheirPriorityTells(t *testing.T) {
	us := small(t, "nodes n1\npods a@n1")
	plain, ran, evicted := victims.Claim{Priority: 1}, victims.Claim{Priority: 1, RanSeconds: 5}, victims.Claim{Priority: 1, Evicted: noon}
	for _, c := range []struct {
		name                string
		base                victims.Eligible
		plain, ran, evicted bool
	}{
		{"by priority alone", victims.LowerPriority{}, true, true, true},
		{"equals after some time", victims.LowerPriority{EqualAfterSeconds: 60}, true, false, false},
		{"the same of those without a queue", victims.Unqueued{Base: victims.LowerPriority{EqualAfterSeconds: 60}}, true, false, false},
		{"priority of those without a queue", victims.Unqueued{Base: victims.LowerPriority{}}, true, true, true},
		{"a rule of one's own", nobodyGoes{}, false, false, false},
	} {
		ps := us.Protect(victims.Guards{}, c.base)
		require.Equal(t, c.plain, ps.Bare(plain), c.name)
		require.Equal(t, c.ran, ps.Bare(ran), c.name)
		require.Equal(t, c.evicted, ps.Bare(evicted), c.name)
	}
}

func TestGuardsOpenAtTheMinimum(t *testing.T) {
	us := small(t, "class batch value=1 minimum-preemptable=200 toleration-seconds=-1\nnodes n1\npods a@n1 class=batch b@n1 prio=1 c@n1 prio=1 standby=yes")
	ps := us.Protect(victims.Guards{}, nil)
	potential := func(below int32) string {
		return spell(us, ps.Potential(nil, 0, victims.Claim{Priority: below}))
	}
	require.Equal(t, "", potential(1))
	require.Equal(t, "b", potential(199))
	require.Equal(t, "a b", potential(200))
	for name, want := range map[string]string{"a": "200 true", "b": "0 false", "c": "0 false"} {
		at, ok := ps.Opens(unit(t, us, name), 100)
		require.Equal(t, want, fmt.Sprint(at, ok), name)
	}
	_, ok := ps.Opens(unit(t, us, "a"), 200)
	require.False(t, ok, "it is open there")
	require.Equal(t, victims.KeptStandby, ps.Kept(unit(t, us, "c"), victims.Claim{Priority: math.MaxInt32}).Rule, "even from the highest")
}

// Guards narrow what the rule beneath allows, and never widen it.
func TestGuardsNarrowTheirBase(t *testing.T) {
	us := small(t, "nodes n1\npods a@n1 prio=50 start=10:00 b@n1 prio=50 standby=yes start=10:00 c@n1 prio=60")
	equal := us.Protect(victims.Guards{EqualAfterSeconds: 60}, nil)
	require.Equal(t, "a", spell(us, equal.Potential(nil, 0, victims.Claim{Priority: 50})))
	none := us.Protect(victims.Guards{}, nobodyGoes{})
	require.Empty(t, none.Potential(nil, 0, victims.Claim{Priority: 1000}))
	for _, c := range []struct {
		name   string
		guards victims.Guards
		base   victims.Eligible
		text   string
		want   bool
	}{
		{"upstream's rule alone", victims.Guards{}, nil, "pods a@n1", false},
		{"equals may go", victims.Guards{EqualAfterSeconds: 1}, nil, "pods a@n1", true},
		{"a rule of the user's", victims.Guards{}, nobodyGoes{}, "pods a@n1", true},
		{"a pod says something", victims.Guards{}, nil, "pods a@n1 standby=yes", true},
		{"a pod was evicted, whoever minds", victims.Guards{}, nil, "pods a@n1 evicted=11:30", false},
		{"somebody minds", victims.Guards{Cooldown: victims.Cooldown{Evictions: 1, Seconds: 1}}, nil, "pods a@n1 evicted=11:30", true},
		{"a class does", victims.Guards{}, nil, "class c value=1 guaranteed=1s\npods a@n1", true},
		{"a class tolerates", victims.Guards{}, nil, "class c value=1 toleration-seconds=1\npods a@n1", true},
		{"nobody asks what it tolerates", victims.Guards{Toleration: priority.TolerationOff}, nil, "class c value=1 toleration-seconds=1\npods a@n1", false},
		{"everybody runs for some time", victims.Guards{GuaranteedSeconds: 1}, nil, "pods a@n1", true},
	} {
		us := small(t, "nodes n1\n"+c.text)
		require.Equal(t, c.want, us.Protect(c.guards, c.base).Any(), c.name)
	}
}

// nobodyGoes is a rule of a user's.
type nobodyGoes struct{}

func (nobodyGoes) Kept(*victims.Units, victims.UnitID, victims.Claim) victims.Kept {
	return victims.Kept{Rule: "mine", Detail: "said no"}
}
