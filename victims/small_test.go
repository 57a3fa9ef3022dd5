package victims_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/scenario"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// snapshot reads a small cluster, in the notation of package scenario: it is noon, t5 is
// five minutes past ten.
func snapshot(t *testing.T, text string) *cluster.Snapshot {
	t.Helper()
	s, err := scenario.Parse("small", "# A small cluster.\n"+text+"\npreempt nobody")
	require.NoError(t, err)
	return &s.Snapshot
}

// index is snapshot, compiled.
func index(t *testing.T, text string) *cluster.Index {
	t.Helper()
	ix, err := cluster.NewIndex(snapshot(t, text))
	require.NoError(t, err)
	return ix
}

// small are the units of a small cluster under the newest rules.
func small(t *testing.T, text string) *victims.Units {
	t.Helper()
	return victims.NewUnits(index(t, text), victims.Units137, victims.Worth{})
}

// unit is the one that pod name belongs to.
func unit(t *testing.T, us *victims.Units, name string) victims.UnitID {
	t.Helper()
	u, ok := us.UnitOf(us.Index().PodByName("default", name))
	require.True(t, ok, "%s is of a unit", name)
	return u
}

// spell names units by their pods: "a t0+t1" is pod a, then t0 and t1 as a whole.
func spell(us *victims.Units, list []victims.UnitID) string {
	var units []string
	for _, u := range list {
		units = append(units, strings.ReplaceAll(names(us.Index(), us.Unit(u).Pods), " ", "+"))
	}
	return strings.Join(units, " ")
}

func names(ix *cluster.Index, pods []cluster.PodID) string {
	var list []string
	for _, p := range pods {
		list = append(list, ix.Pod(p).Name)
	}
	return strings.Join(list, " ")
}

// all are the units there are, in order of the name of their first pod.
func all(us *victims.Units) string {
	var list []string
	for u := range victims.UnitID(us.Len()) {
		list = append(list, spell(us, []victims.UnitID{u}))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// on are the units of node n1, most important first.
func on(us *victims.Units) string { return spell(us, us.On(us.Index().NodeByName("n1"))) }
