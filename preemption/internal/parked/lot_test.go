package parked_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/parked"
	"github.com/preempt-go/preempt/victims"
)

// racks is a cluster of two nodes of four cores: n1 has a pod of priority 0 on three of them,
// n2 one of priority 9 on all.
func racks(t *testing.T, now int64) (*cluster.Index, func() *victims.Units) {
	zero, nine := int32(0), int32(9)
	cores := func(n int64) cluster.Resources { return cluster.Resources{cluster.CPU: n} }
	s := &cluster.Snapshot{
		Nodes: []cluster.Node{{Name: "n1", Allocatable: cores(4)}, {Name: "n2", Allocatable: cores(4)}},
		Pods: []cluster.Pod{
			{Name: "low", Node: "n1", Priority: &zero, Requests: cores(3)},
			{Name: "high", Node: "n2", Priority: &nine, Requests: cores(4)},
		},
	}
	if now > 0 {
		s.Time = time.Unix(now, 0)
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	units := victims.NewUnits(ix, victims.UnitsKEP, victims.Worth{})
	return ix, func() *victims.Units { return units }
}

// asks is an entry that asks for so many cores.
func asks(ix *cluster.Index, cores int64, priority int32) parked.Entry {
	m := domain.NewMember(ix, &cluster.Pod{Requests: cluster.Resources{cluster.CPU: cores}}, cluster.NoPod)
	return parked.Entry{Shapes: []*domain.Member{m}, Priority: priority, Evicts: true, Until: parked.Never}
}

func TestWhoIsWoken(t *testing.T) {
	ix, units := racks(t, 1000)
	n1, n2 := ix.NodeByName("n1"), ix.NodeByName("n2")
	with := func(e parked.Entry, change func(e *parked.Entry)) parked.Entry { change(&e); return e }
	for name, c := range map[string]struct {
		entry  parked.Entry
		change func(c *parked.Changes)
		wakes  bool
	}{
		"nothing has changed":                       {asks(ix, 1, 5), func(*parked.Changes) {}, false},
		"free room for it":                          {asks(ix, 1, 0), func(c *parked.Changes) { c.Node(n1) }, true},
		"room if the less important leave":          {asks(ix, 4, 1), func(c *parked.Changes) { c.Nodes([]cluster.NodeID{n2, n1}) }, true},
		"room for a group":                          {with(asks(ix, 4, 1), func(e *parked.Entry) { e.Grouped = true }), func(c *parked.Changes) { c.Node(n1) }, true},
		"as important pods stay":                    {asks(ix, 4, 0), func(c *parked.Changes) { c.Node(n1) }, false},
		"more important ones stay":                  {asks(ix, 1, 5), func(c *parked.Changes) { c.Node(n2) }, false},
		"larger than the node":                      {asks(ix, 5, 99), func(c *parked.Changes) { c.Nodes([]cluster.NodeID{n1, n2}) }, false},
		"it evicts nobody":                          {with(asks(ix, 4, 1), func(e *parked.Entry) { e.Evicts = false }), func(c *parked.Changes) { c.Node(n1) }, false},
		"a node that is gone":                       {asks(ix, 1, 5), func(c *parked.Changes) { c.Nodes([]cluster.NodeID{2, 1 << 20}) }, false},
		"a change elsewhere of no kind that counts": {asks(ix, 1, 5), (*parked.Changes).Any, false},
		"any change counts":                         {with(asks(ix, 9, 0), func(e *parked.Entry) { e.Any = true }), (*parked.Changes).Any, true},
		"its pod was set": {
			with(asks(ix, 9, 0), func(e *parked.Entry) { e.Names = []parked.Name{{"ns", "p", false}} }),
			func(c *parked.Changes) { c.Pod(&cluster.Pod{Namespace: "ns", Name: "p"}) }, true,
		},
		"a pod of its group was": {
			with(asks(ix, 9, 0), func(e *parked.Entry) { e.Names = []parked.Name{{"ns", "g", true}} }),
			func(c *parked.Changes) { c.Pod(&cluster.Pod{Namespace: "ns", Name: "p", Group: "g"}) }, true,
		},
		"another pod of its group's name was": {
			with(asks(ix, 9, 0), func(e *parked.Entry) { e.Names = []parked.Name{{"ns", "g", true}} }),
			func(c *parked.Changes) { c.Pod(&cluster.Pod{Namespace: "ns", Name: "g"}) }, false,
		},
		"the node that it is nominated to has come": {
			with(asks(ix, 9, 0), func(e *parked.Entry) { e.Places = []parked.Place{{"n2", cluster.NoNode}} }),
			func(c *parked.Changes) { c.Node(n2) }, true,
		},
		"that node is gone": {
			with(asks(ix, 9, 0), func(e *parked.Entry) { e.Places = []parked.Place{{"n3", 7}} }),
			func(c *parked.Changes) { c.Node(7) }, true,
		},
		"its time has come":     {with(asks(ix, 9, 0), func(e *parked.Entry) { e.Until = 1000 }), func(*parked.Changes) {}, true},
		"its time has not come": {with(asks(ix, 9, 0), func(e *parked.Entry) { e.Until = 1001 }), func(*parked.Changes) {}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var lot parked.Lot[string, string]
			lot.Put("k", c.entry, "question")
			c.change(&lot.Changes)
			lone, grouped := units, units
			if c.entry.Grouped {
				lone = nil
			} else {
				grouped = nil
			}
			woken := lot.Wake(ix, lone, grouped)
			require.Equal(t, c.wakes, len(woken) == 1)
			require.Equal(t, c.wakes, lot.Len() == 0)
			require.Empty(t, lot.Wake(ix, nil, nil), "what has changed is forgotten")
		})
	}
}

// TestALotKeepsItsOrder: an entry that is put again stays in its place, others close up.
func TestALotKeepsItsOrder(t *testing.T) {
	ix, units := racks(t, 0)
	var lot parked.Lot[int, int]
	require.Equal(t, int64(parked.Never), lot.Until(units, units))
	for i := range 6 {
		lot.Put(i, parked.Entry{Until: int64(100 + i)}, i)
	}
	lot.Put(1, parked.Entry{Any: true, Until: 50}, 11)
	lot.Put(5, parked.Entry{Any: true, Until: parked.Never}, 15)
	lot.Delete(3)
	lot.Delete(9)
	lone, grouped := 0, 0
	count := func(n *int) func() *victims.Units { return func() *victims.Units { *n++; return units() } }
	require.EqualValues(t, 50, lot.Until(count(&lone), count(&grouped)))
	require.Equal(t, []int{1, 1}, []int{lone, grouped}, "any change of any unit wakes some")
	lot.Changes.Any()
	require.Equal(t, []int{11, 15}, lot.Wake(ix, units, units), "nobody knows the time")
	lot.Put(4, parked.Entry{Evicts: true, Grouped: true, Until: parked.Never}, 14)
	require.EqualValues(t, 100, lot.Until(nil, count(&grouped)))
	require.Equal(t, 2, grouped)
	lot.Changes.All()
	require.True(t, lot.Changes.Everything())
	require.Equal(t, []int{0, 2, 14}, lot.WakeAll())
	require.Zero(t, lot.Len())
	require.False(t, lot.Changes.Everything())
}

// TestNobodyParkedTakesNoNotes: as a nil *Changes does.
func TestNobodyParkedTakesNoNotes(t *testing.T) {
	var c *parked.Changes
	require.NotPanics(t, func() {
		c.Any()
		c.All()
		c.Node(1)
		c.Pod(&cluster.Pod{})
	})
}
