package victims_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

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
