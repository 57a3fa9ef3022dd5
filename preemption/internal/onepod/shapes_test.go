package onepod

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// TestNodesShareTheStepsOfSearches: 16 of them, in parts that are powers of two, 32 steps at least for each.
func TestNodesShareTheStepsOfSearches(t *testing.T) {
	for _, c := range []struct{ nodes, steps, want int }{{1, 1000, 1000}, {31, 1000, 500}, {33, 1000, 250}, {2000, 1000, 32}, {2000, 20, 20}} {
		var s cluster.Snapshot
		for i := range c.nodes {
			s.Nodes = append(s.Nodes, cluster.Node{Name: strconv.Itoa(i)})
		}
		ix, err := cluster.NewIndex(&s)
		require.NoError(t, err)
		search := &Search{q: &ask.Question{Index: ix, Settings: &ask.Settings{Steps: c.steps}}, Tools: &Tools{Runner: new(reprieve.Runner)}}
		search.decided, search.Runner.Decided = 7, 5*c.steps-10+7
		require.Equal(t, c.want, search.stepsWithin(), "%+v", c)
		search.Runner.Observe = func(victims.UnitID, bool, domain.Reason) {}
		require.Equal(t, 10, search.stepsWithin(), "what is left where it is told of")
	}
}

// warm lets questions look at nodes until it pays to remember the shape of a key.
func warm(t *testing.T, s *Shapes, key string, nodes int) *shape {
	known, hot := s.of([]byte(key), nodes)
	require.False(t, hot)
	s.looked(known, nodes)
	same, hot := s.of([]byte(key), nodes)
	require.True(t, hot)
	require.Same(t, known, same)
	return known
}

// TestAShapeIsRememberedOnceItPays: when as many nodes were looked at as there are.
func TestAShapeIsRememberedOnceItPays(t *testing.T) {
	var s Shapes
	known, hot := s.of([]byte("a"), 10)
	require.False(t, hot)
	s.looked(known, 4)
	s.looked(known, 5)
	_, hot = s.of([]byte("a"), 10)
	require.False(t, hot, "after 9 of 10 nodes")
	s.looked(known, 1)
	_, hot = s.of([]byte("a"), 10)
	require.True(t, hot)
	_, hot = s.of([]byte("a"), 100)
	require.True(t, hot, "it stays so")
	require.Equal(t, 1, s.warm)
	_, hot = s.of([]byte("b"), 10)
	require.False(t, hot)
	s.Reset()
	_, hot = s.of([]byte("a"), 10)
	require.False(t, hot)
	require.Equal(t, []string{"a"}, s.order)
	require.Zero(t, s.warm)
}

// TestShapesAreBounded: the one that is known longest is forgotten, whether or not anything
// is remembered of it.
func TestShapesAreBounded(t *testing.T) {
	var s Shapes
	first := warm(t, &s, "0", 1)
	for i := 1; i < mostShapes; i++ {
		s.of([]byte(strconv.Itoa(i)), 1)
	}
	same, hot := s.of([]byte("0"), 1)
	require.True(t, hot)
	require.Same(t, first, same)
	require.Equal(t, 1, s.warm)
	for i := range 2 {
		s.of([]byte("new "+strconv.Itoa(i)), 1)
		require.Len(t, s.shape, mostShapes)
		require.Len(t, s.order, mostShapes)
		require.NotContains(t, s.shape, strconv.Itoa(i))
		require.Equal(t, []string{strconv.Itoa(i + 1), strconv.Itoa(i + 2)}, s.order[:2])
		require.Zero(t, s.warm)
	}
}

// TestWhatIsRememberedIsBounded: of shapes that are warm, the one known longest goes for another.
func TestWhatIsRememberedIsBounded(t *testing.T) {
	var s Shapes
	s.of([]byte("cold"), mostSeats/2)
	for _, key := range []string{"a", "b"} {
		warm(t, &s, key, mostSeats/2)
	}
	require.Equal(t, []string{"cold", "a", "b"}, s.order)
	warm(t, &s, "c", mostSeats/2)
	require.Equal(t, []string{"cold", "b", "c"}, s.order)
	require.Equal(t, 2, s.warm)
	warm(t, &s, "d", 2*mostSeats)
	require.Equal(t, []string{"cold", "d"}, s.order, "one is remembered in any case")
	require.Equal(t, 1, s.warm)
}

// TestAForkBeginsWithTheYoungestShapes: with those of which something is known, in their order.
func TestAForkBeginsWithTheYoungestShapes(t *testing.T) {
	var s, fork Shapes
	var youngest []string
	for i := range mostInherited + 3 {
		key := strconv.Itoa(i)
		known := warm(t, &s, key, 1)
		s.of([]byte("cold "+key), 1)
		if i != 7 { // nothing is known of it yet
			known.standings = &standings{size: i}
			if i >= 3 {
				youngest = append(youngest, key)
			}
		}
	}
	fork.Inherit(&s)
	require.Equal(t, youngest, fork.order)
	require.Len(t, fork.shape, len(youngest))
	require.Equal(t, len(youngest), fork.warm)
	for _, key := range youngest {
		have, hot := fork.of([]byte(key), 1)
		require.True(t, hot)
		require.Same(t, s.shape[key].standings, have.standings)
		require.True(t, have.shared)
		require.True(t, s.shape[key].shared, "neither changes it")
	}
	require.False(t, s.shape["0"].shared)
}

// TestHolesCountForNothing: each chunk but the last has as many nodes as any other, wherever numbers are missing.
func TestHolesCountForNothing(t *testing.T) {
	s := &cluster.Snapshot{}
	for i := range 20 {
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprintf("n%02d", i)})
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	for _, gone := range []cluster.NodeID{cluster.NoNode, 0, 3, 4, 9, 19} {
		if gone != cluster.NoNode {
			ix.RemoveNode(gone)
		}
		for size := 1; size < 22; size++ {
			q := &ask.Question{Settings: &ask.Settings{ChunkSize: size}, Index: ix}
			from, left, list := cluster.NodeID(0), ix.CountNodes(), chunks(q)
			for _, c := range list {
				require.Equal(t, from, c.from)
				count := 0
				for range ix.NodesBetween(c.from, c.to) {
					count++
				}
				require.Equal(t, min(size, left), count)
				from, left = c.to, left-count
			}
			require.Zero(t, left)
			require.Len(t, list, numChunks(q))
			require.Equal(t, len(list) >= parallelChunks, Shares(q))
		}
	}
}

// Stakes are what is at stake on node n at least, and what roughly is, if that is known.
func (s *Search) Stakes(n cluster.NodeID) (least, rough []int64, ok bool) {
	units := s.q.Evictable(n)
	rough, ok = s.roughly(nil, n, units)
	return slices.Collect(s.ground(n, units).atLeast()), rough, ok
}
