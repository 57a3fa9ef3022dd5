package victims_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

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
