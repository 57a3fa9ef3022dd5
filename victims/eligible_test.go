package victims_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
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

// scoreOf is the score of the units of these pods, most important first.
func scoreOf(t *testing.T, us *victims.Units, violations int, pods ...string) victims.Score {
	t.Helper()
	var list []victims.UnitID
	for _, name := range pods {
		list = append(list, unit(t, us, name))
	}
	return us.Score(us.Sorted(list), violations)
}

// Which of two lists of victims disrupts less: the criteria in turn, each read from pods.
// Source: kube-scheduler v1.36, choice among candidates, and its own test of that.
func TestTheLesserDisruption(t *testing.T) {
	const text = "nodes n1\n" +
		"pods veryhigh@n1 prio=10000 start=t0 high@n1 prio=1000 start=t1 high2@n1 prio=1000 start=t2 mid@n1 prio=100 start=t3 mid2@n1 prio=100 start=t4" +
		" mid3@n1 prio=100 start=t6 ninetynine@n1 prio=99 start=t9 low@n1 start=t5 low2@n1 start=t5 neg@n1 prio=-100 start=t7 neg2@n1 prio=-100 start=t7 new@n1 prio=100\n" +
		"group above prio=50 above0@n1 prio=1000 start=t1\ngroup whole mode=All prio=50 w0@n1 prio=100 start=t5 w1@n2 prio=7 start=t1"
	us := small(t, text)
	for _, c := range []struct {
		name               string
		better, worse      []string
		violations, theirs int
		differ             string // the criterion that decides; empty: they tie
	}{
		{name: "fewer violations come first", better: []string{"veryhigh", "high"}, worse: []string{"neg"}, theirs: 1, differ: "violations"},
		{name: "the most important victim", better: []string{"mid", "mid2", "mid3", "low"}, worse: []string{"high"}, differ: "highest priority"},
		{name: "the most important again, whatever the sum", better: []string{"low", "low2"}, worse: []string{"mid", "low"}, differ: "highest priority"},
		{name: "the sum where the highest is equal", better: []string{"mid", "low"}, worse: []string{"mid2", "ninetynine"}, differ: "sum of priorities"},
		{name: "each is raised by 2^31: negative ones make it larger", better: []string{"mid", "ninetynine"}, worse: []string{"mid2", "neg", "neg2"}, differ: "sum of priorities"},
		{name: "one zero beats two", better: []string{"low"}, worse: []string{"low", "low2"}, differ: "sum of priorities"},
		{name: "the later of the earliest starts", better: []string{"mid2"}, worse: []string{"mid"}, differ: "earliest start"},
		{name: "among the most important alone", better: []string{"mid2", "veryhigh"}, worse: []string{"mid2", "veryhigh"}},
		{name: "of those that began together at t3 and t6, t3 counts", better: []string{"mid2", "mid3"}, worse: []string{"mid", "mid3"}, differ: "earliest start"},
		{name: "what has not started counts as started now", better: []string{"new"}, worse: []string{"mid3"}, differ: "earliest start"},
		{name: "nobody beats somebody", better: nil, worse: []string{"neg"}, differ: "highest priority"},
		{name: "a pod's own priority counts, not its group's", better: []string{"mid"}, worse: []string{"above0"}, differ: "highest priority"},
		{name: "a unit counts once for each of its pods, elsewhere too", better: []string{"mid"}, worse: []string{"w0"}, differ: "sum of priorities"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := scoreOf(t, us, c.violations, c.better...), scoreOf(t, us, c.theirs, c.worse...)
			if c.differ == "" {
				require.Zero(t, a.Compare(b))
				return
			}
			require.Negative(t, a.Compare(b))
			require.Positive(t, b.Compare(a))
			x, y := victims.Ranking{}.Values(a), victims.Ranking{}.Values(b)
			at := slices.Index(victims.Criteria[:], victims.Criterion(c.differ))
			require.Equal(t, x[:at], y[:at], "what comes before %s ties", c.differ)
			require.Less(t, x[at], y[at])
		})
	}
}

// TestScoresCompareByOneNumberAfterTheOther: each decides only where those before it tie; the others have no say.
func TestScoresCompareByOneNumberAfterTheOther(t *testing.T) {
	numbers := []func(s *victims.Score, v int){
		func(s *victims.Score, v int) { s.Violations = v },
		func(s *victims.Score, v int) { s.Highest = int32(v) },
		func(s *victims.Score, v int) { s.Sum = int64(v) },
		func(s *victims.Score, v int) { s.Pods = v },
		func(s *victims.Score, v int) { s.Started = -int64(v) }, // later is better
	}
	for i, decisive := range numbers {
		for v := range 3 { // of those before, which tie
			var a, b victims.Score
			for _, set := range numbers[:i] {
				set(&a, v)
				set(&b, v)
			}
			decisive(&a, 1)
			decisive(&b, 2)
			for _, set := range numbers[i+1:] {
				set(&a, 9)
				set(&b, 0)
			}
			b.Units, b.Cost, b.Asked = 5, -5, map[victims.Criterion]int64{victims.CriterionOverruns: -5}
			require.Negative(t, a.Compare(b), "number %d", i)
			require.Positive(t, b.Compare(a), "number %d", i)
			require.Zero(t, a.Compare(a))
		}
	}
}

func TestScoreOfAUnitOnTwoNodes(t *testing.T) {
	us := small(t, "nodes n1\ngroup w mode=All prio=50 w0@n1 prio=7 start=t5 w1@n2 prio=7 start=t1\npods a@n1 prio=-2147483648 start=t0")
	s := scoreOf(t, us, 3, "a", "w0")
	require.Equal(t, victims.Score{Violations: 3, Highest: 7, Sum: 2 * (1<<31 + 7), Pods: 3, Units: 2, Started: us.Unit(unit(t, us, "w1")).Started}, s)
	require.Equal(t, victims.Score{Highest: math.MinInt32, Started: math.MaxInt64}, us.Score(nil, 0))
	earliest := victims.Score{Started: math.MinInt64}
	require.Equal(t, int64(math.MaxInt64), earliest.Value(victims.CriterionStarted), "the earliest of all is turned around, too")

	loss := us.Loss(unit(t, us, "w0"))
	require.Equal(t, victims.Loss{Price: domain.Price{Highest: 7, Sum: 2 * (1<<31 + 7), Pods: 2}, Started: s.Started}, loss, "the same of one unit")

	asked := 0
	known := func(u victims.UnitID) *victims.Loss {
		asked++
		return map[victims.UnitID]*victims.Loss{unit(t, us, "w0"): &loss}[u]
	}
	list := []victims.UnitID{unit(t, us, "a"), unit(t, us, "w0")}
	require.Equal(t, us.Score(list, 3), us.ScoreKnown(list, nil, 3, known), "what is known is not read")
	require.Equal(t, 2, asked)
}

// The loss of a unit is dated by its most important pods.
func TestLossIsDatedByTheMostImportant(t *testing.T) {
	us := small(t, "nodes n1\ngroup w mode=All w0@n1 prio=7 start=t5 w1@n1 prio=3 start=t1 w2@n1 prio=7 start=t4 w3@n1 prio=7 start=t6")
	ix := us.Index()
	require.Equal(t, ix.Started(ix.PodByName("default", "w2")), us.Loss(0).Started)
	require.Equal(t, us.Loss(0).Started, us.Score([]victims.UnitID{0}, 0).Started)
}

// A cost may be a criterion at any place.
func TestTheCostAmongTheCriteria(t *testing.T) {
	a, b := victims.Score{Violations: 1, Highest: 5, Sum: 9, Pods: 2, Started: 4, Cost: 3}, victims.Score{Violations: 1, Highest: 5, Sum: 9, Pods: 2, Started: 4, Cost: 4}
	require.Zero(t, victims.Ranking{}.Compare(a, b), "unless asked for, it does not count")
	for at := 1; at <= 6; at++ {
		r := victims.Ranking(slices.Insert(slices.Clone(victims.Criteria[:]), at-1, victims.CriterionCost))
		require.Negative(t, r.Compare(a, b), "at %d", at)
		require.Positive(t, r.Compare(b, a), "at %d", at)
		require.Equal(t, victims.CriterionCost, r.Criteria()[at-1])
		require.Equal(t, a.Cost, r.Values(a)[at-1])
		require.Len(t, r.Criteria(), 6)
		for i, worsen := range []func(*victims.Score){
			func(s *victims.Score) { s.Violations++ }, func(s *victims.Score) { s.Highest++ }, func(s *victims.Score) { s.Sum++ },
			func(s *victims.Score) { s.Pods++ }, func(s *victims.Score) { s.Started-- },
		} {
			c := a
			worsen(&c)
			want := -1 // a worse criterion before the cost decides against c, though b costs more
			if i+1 < at {
				want = 1
			}
			require.Equal(t, want, r.Compare(c, b), "cost at %d, against %s", at, victims.Criteria[i])
			require.Equal(t, want, slices.Compare(r.Values(c), r.Values(b)), "its numbers say the same")
		}
	}
	require.Equal(t, victims.Criteria[:], victims.Ranking{}.Criteria())
	require.Len(t, victims.Ranking{}.Values(a), 5)
	r := victims.Ranking{victims.CriterionOverruns, victims.CriterionUnits}
	require.Zero(t, r.Compare(a, b), "nothing else counts")
	b.Units, a.Asked = 1, map[victims.Criterion]int64{victims.CriterionOverruns: 1}
	require.Positive(t, r.Compare(a, b))
}

// Overruns are a function of the victims alone: every budget is charged for every pod.
func TestOverruns(t *testing.T) {
	us := small(t, "nodes n1\nbudget one allowed=1 select=app=web\nbudget debt allowed=-5 select=tier=db\n"+
		"pods a@n1 labels=app=web b@n1 labels=app=web,tier=db c@n1 labels=app=web d@n1")
	budgets := victims.NewBudgets(us.Index(), disruption.Rule137)
	l := budgets.NewLedger()
	for _, c := range []struct {
		pods []string
		want int64
	}{{nil, 0}, {[]string{"a"}, 0}, {[]string{"a", "c"}, 1}, {[]string{"b"}, 1}, {[]string{"c", "b", "a", "d"}, 3}} {
		var list []victims.UnitID
		for _, name := range c.pods {
			list = append(list, unit(t, us, name))
		}
		require.Equal(t, c.want, budgets.Overruns(us, list, nil, l), "%v", c.pods)
	}
	none := small(t, "nodes n1\npods a@n1")
	require.Zero(t, victims.NewBudgets(none.Index(), disruption.Rule137).Overruns(none, []victims.UnitID{0}, nil, nil))
}

// What each unit adds to the violations, charged from the most important to the least:
// the strong use the budget up. Source: kube-scheduler, partition by budgets, of each
// generation; KEP-5710 (beta), "PDB reprieval"; the cases are those of upstream's test.
func TestWhatUnitsChargeToBudgets(t *testing.T) {
	const web = "a@n1 prio=3 labels=app=web b@n1 prio=2 labels=app=web c@n1 prio=1 labels=app=web"
	const pair = "group g mode=All prio=5 g0@n1 labels=app=web uid=1 g1@n1 labels=app=web uid=2\n"
	for _, c := range []struct {
		name, cluster              string
		pods136, groups136, newest string // unit and violations, in order of importance
	}{
		{"no budget", "pods " + web, "a:0 b:0 c:0", "a:0 b:0 c:0", "a:0 b:0 c:0"},
		{"another namespace's", "budget other/p allowed=0 select=app=web\npods " + web, "a:0 b:0 c:0", "a:0 b:0 c:0", "a:0 b:0 c:0"},
		{"it covers the most important", "budget p allowed=1 select=app=web\npods " + web, "a:0 b:1 c:1", "a:0 b:1 c:1", "a:0 b:1 c:1"},
		{"spent", "budget p allowed=0 select=app=web\npods " + web, "a:1 b:1 c:1", "a:1 b:1 c:1", "a:1 b:1 c:1"},
		{"a nil selector covers nobody", "budget p allowed=0\npods " + web, "a:0 b:0 c:0", "a:0 b:0 c:0", "a:0 b:0 c:0"},
		{"the empty selector (kubernetes #141785)", "budget p allowed=0 select=*\npods a@n1 b@n1 labels=app=web", "a:0 b:0", "a:0 b:0", "a:1 b:1"},
		{"a pod without labels", "budget p allowed=0 select=app:DoesNotExist\npods a@n1", "a:0", "a:0", "a:1"},
		{"those under way are paid for", "budget p allowed=0 select=app=web disrupted=b\npods " + web, "a:1 b:0 c:1", "a:1 b:0 c:1", "a:1 b:0 c:1"},
		{
			"two budgets, the first spent: does the second pay, too?",
			"budget p1 allowed=0 select=app=web\nbudget p2 allowed=1 select=app=web,tier=db\nbudget p3 allowed=1 select=tier=db\n" +
				"pods a@n1 prio=3 labels=app=web,tier=db b@n1 prio=2 labels=tier=db",
			"a:1 b:1", "a:1 b:0", "a:1 b:0",
		},
		{
			"in the order of their names",
			"budget q allowed=0 select=app=web\nbudget p allowed=1 select=tier=db\n" +
				"pods a@n1 prio=3 labels=app=web,tier=db b@n1 prio=2 labels=tier=db",
			"a:1 b:1", "a:1 b:1", "a:1 b:1",
		},
		{"a unit within", "budget p allowed=2 select=app=web\n" + pair, "g0:0 g1:0", "g0+g1:0", "g0+g1:0"},
		{"a unit of two, one allowed", "budget p allowed=1 select=app=web\n" + pair, "g0:0 g1:1", "g0+g1:1", "g0+g1:1"},
		{"a unit of two, none allowed: units or pods are counted", "budget p allowed=0 select=app=web\n" + pair, "g0:1 g1:1", "g0+g1:1", "g0+g1:2"},
		{
			"does charging a unit end at its first violating pod?",
			"budget p allowed=0 select=app=web\nbudget q allowed=1 select=app:Exists\n" +
				"group g mode=All prio=5 g0@n1 prio=5 labels=app=web uid=1 g1@n1 prio=5 labels=app=db uid=2\npods h@n1 prio=1 labels=app=db",
			"g0:1 g1:1 h:1", "g0+g1:1 h:0", "g0+g1:1 h:1",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			ix := index(t, "nodes n1\n"+c.cluster)
			for _, generation := range []struct {
				units   victims.UnitRule
				budgets disruption.Rule
				want    string
			}{
				{victims.Pods136, disruption.PodRule136, c.pods136},
				{victims.Groups136, disruption.GroupRule136, c.groups136},
				{victims.Units137, disruption.Rule137, c.newest},
			} {
				us, b := victims.NewUnits(ix, generation.units, victims.Worth{}), victims.NewBudgets(ix, generation.budgets)
				l := b.NewLedger()
				var got []string
				for _, u := range us.On(0) {
					got = append(got, fmt.Sprintf("%s:%d", spell(us, []victims.UnitID{u}), b.Charge(l, us.Unit(u))))
				}
				require.Equal(t, generation.want, strings.Join(got, " "))
				require.Equal(t, ix.NumBudgets() == 0, b.None())
			}
		})
	}
}

// Budgets follow the pods of their index, and what they allow.
func TestBudgetsFollow(t *testing.T) {
	ix := index(t, "nodes n1\nbudget p allowed=0 select=app=web\nbudget q allowed=0 select=tier=db\npods a@n1 labels=app=web")
	b := victims.NewBudgets(ix, disruption.Rule137)
	fork := b.Fork()
	c := ix.SetPod(&cluster.Pod{Namespace: "default", Name: "c", Node: "n1", Labels: map[string]string{"app": "web", "tier": "db"}}, cluster.NoPod)
	d := ix.SetPod(&cluster.Pod{Namespace: "default", Name: "d", Node: "n1"}, cluster.NoPod)
	for _, p := range []cluster.PodID{c, d} {
		b.Set(ix, p)
	}
	require.Equal(t, []cluster.BudgetID{0, 1}, b.Of(c))
	require.Empty(t, b.Of(d))
	require.Equal(t, []cluster.BudgetID{0}, fork.Of(0))
	ix.SetPod(&cluster.Pod{Namespace: "default", Name: "a", Node: "n1", Labels: map[string]string{"tier": "db"}}, 0)
	b.Set(ix, 0)
	require.Equal(t, []cluster.BudgetID{1}, b.Of(0))
	require.Equal(t, []cluster.BudgetID{0}, fork.Of(0), "the fork knows nothing of it")
	next := *ix.Budget(0)
	next.Allowed = 7
	ix.SetAllowed(0, &next)
	b.Follow(ix)
	require.Equal(t, int64(7), b.NewLedger().Left(0))
}

// Budgets that follow pods as they come and change cover whom those would that are listed anew; a
// fork goes its own way.
func TestBudgetsFollowPods(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 4))
		ix := index(t, "nodes n1\nbudget a allowed=1 select=app=web\nbudget b allowed=1 select=tier=x\nbudget c allowed=1 select=app=web,tier=x disrupted=p3")
		b := victims.NewBudgets(ix, disruption.Rule137)
		set := func(ix *cluster.Index, b *victims.Budgets) {
			p := cluster.Pod{Namespace: "default", Name: fmt.Sprint("p", r.IntN(12)), Node: "n1", Labels: map[string]string{}}
			if r.IntN(2) == 0 {
				p.Labels["app"] = "web"
			}
			if r.IntN(2) == 0 {
				p.Labels["tier"] = "x"
			}
			old := ix.PodByName(p.Namespace, p.Name)
			require.True(t, ix.MaySetPod(&p, old))
			b.Set(ix, ix.SetPod(&p, old))
		}
		same := func(ix *cluster.Index, b *victims.Budgets) {
			fresh := victims.NewBudgets(ix, disruption.Rule137)
			for p := range ix.Pods() {
				require.Equal(t, fresh.Of(p), b.Of(p), "seed %d", seed)
			}
		}
		for range r.IntN(6) {
			set(ix, b)
		}
		other, forked := ix.Fork(), b.Fork()
		for range 8 {
			set(ix, b)
			set(other, forked)
			same(ix, b)
			same(other, forked)
		}
	}
	none := victims.NewBudgets(index(t, "nodes n1\npods a@n1"), disruption.Rule137)
	none.Set(index(t, "nodes n1\npods a@n1"), 0)
	require.True(t, none.None())
}

// Where a namespace has many budgets, who is covered is found out by label set: each pod is
// covered by those that cover it by itself.
func TestManyBudgetsCoverByLabelSet(t *testing.T) {
	s := &cluster.Snapshot{}
	for i := range 600 {
		labels := map[string]string{"app": fmt.Sprint(i % 7), "of": fmt.Sprint(i % 50)}
		s.Pods = append(s.Pods, cluster.Pod{Namespace: "shop", Name: fmt.Sprint("p", i), Labels: labels})
		asks := map[string]string{"of": fmt.Sprint(i % 60)}
		if i%3 == 0 {
			asks["app"] = fmt.Sprint(i % 7)
		}
		b := disruption.Budget{Namespace: "shop", Name: fmt.Sprint("b", i), Selector: &disruption.Selector{MatchLabels: asks}}
		if i%5 == 0 {
			b.Disrupted = []string{fmt.Sprint("p", i), "p0", "p0"}
		}
		s.Budgets = append(s.Budgets, b)
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	budgets, covered := victims.NewBudgets(ix, disruption.Rule137), 0
	for p := range ix.Pods() {
		pod := ix.Pod(p)
		want := ix.BudgetSet().Covering(nil, disruption.Rule137, pod.Namespace, pod.Name, pod.Labels)
		require.ElementsMatch(t, want, budgets.Of(p))
		covered += len(want)
	}
	require.Greater(t, covered, 600)
}
