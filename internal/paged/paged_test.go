package paged_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/internal/paged"
)

// forked is a column, a matrix, and the plain list that both stand for.
type forked struct {
	column paged.Column[int64]
	matrix paged.Matrix
	plain  []int64
}

func (f *forked) check(t *rapid.T) {
	require.Equal(t, len(f.plain), f.column.Len())
	require.Equal(t, len(f.plain), f.matrix.Len())
	for i, v := range f.plain {
		if row := f.matrix.Row(i); *f.column.At(i) != v || row[0] != v || row[1] != -v || len(row) != 2 {
			t.Fatalf("%d: %d and %d, want %d", i, *f.column.At(i), row, v)
		}
	}
}

func forksAreIsolated(t *rapid.T) {
	n := rapid.IntRange(0, 2*paged.Size+1).Draw(t, "length")
	if rapid.IntRange(0, 3).Draw(t, "long") == 0 {
		n = paged.Size*paged.Size - 3 + n%5 // a folder, and a bit less or more
	}
	all := []*forked{{paged.Make[int64](n), paged.MakeMatrix(n, 2), make([]int64, n)}}
	next := int64(0)
	for range rapid.IntRange(1, 40).Draw(t, "steps") {
		f := rapid.SampledFrom(all).Draw(t, "of")
		next++
		switch rapid.IntRange(0, 3).Draw(t, "step") {
		case 0:
			all = append(all, &forked{f.column.Fork(), f.matrix.Fork(), append([]int64(nil), f.plain...)})
		case 1:
			require.Equal(t, len(f.plain), f.column.Append(next))
			copy(f.matrix.Edit(f.matrix.Append()), []int64{next, -next})
			f.plain = append(f.plain, next)
		default:
			if len(f.plain) == 0 {
				continue
			}
			i := rapid.IntRange(0, len(f.plain)-1).Draw(t, "at")
			*f.column.Edit(i) = next
			copy(f.matrix.Edit(i), []int64{next, -next})
			f.plain[i] = next
		}
	}
	for _, f := range all {
		f.check(t)
	}
}

func TestForksAreIsolated(t *testing.T) { rapid.Check(t, forksAreIsolated) }

func TestTheZeroColumnGrows(t *testing.T) {
	var c paged.Column[string]
	require.Zero(t, c.Append("a"))
	require.Equal(t, "a", *c.At(0))
}

func TestOwnPagesAreWrittenInPlace(t *testing.T) {
	c, m := paged.Make[int](1000), paged.MakeMatrix(1000, 3)
	require.Zero(t, testing.AllocsPerRun(10, func() { *c.Edit(999)++; m.Edit(999)[2]++ }))
	c.Fork()
	before := c.At(0)
	*c.Edit(999)++
	require.Same(t, before, c.At(0), "only the page that is written is copied")
}

// agendaFindsWhoIsDue compares with a look at everybody.
func agendaFindsWhoIsDue(t *rapid.T) {
	type list struct {
		agenda paged.Agenda
		plain  map[int]int64
	}
	all := []*list{{plain: map[int]int64{}}}
	for range rapid.IntRange(1, 60).Draw(t, "steps") {
		l := rapid.SampledFrom(all).Draw(t, "of")
		switch rapid.IntRange(0, 9).Draw(t, "step") {
		case 0:
			f := &list{l.agenda.Fork(), map[int]int64{}}
			for i, due := range l.plain {
				f.plain[i] = due
			}
			all = append(all, f)
		case 1, 2:
			now := rapid.SampledFrom([]int64{math.MinInt64, -1, 0, 3, 7, math.MaxInt64}).Draw(t, "now")
			due := map[int]bool{}
			last := -1
			for _, i := range l.agenda.Due(nil, now) {
				require.Less(t, last, i)
				due[i], last = true, i
			}
			for i, at := range l.plain {
				require.Equal(t, at <= now && at != paged.Never, due[i], i)
				delete(due, i)
			}
			require.Empty(t, due)
		case 3:
			i := rapid.IntRange(0, 70).Draw(t, "element")
			due := rapid.Int64Range(-9, 9).Draw(t, "due")
			if at, ok := l.plain[i]; !ok || due < at {
				l.plain[i] = due
			}
			l.agenda.Advance(i, due)
		default:
			i := rapid.SampledFrom([]int{0, 1, 63, 64, 65, 4095, 4096, 9000}).Draw(t, "element")
			l.plain[i] = rapid.SampledFrom([]int64{math.MinInt64, -2, 0, 1, 5, 9, paged.Never, math.MaxInt64 - 1}).Draw(t, "due")
			l.agenda.Set(i, l.plain[i])
		}
	}
}

func TestAgendaFindsWhoIsDue(t *testing.T) { rapid.Check(t, agendaFindsWhoIsDue) }

func Example() {
	column := paged.Make[string](1000)
	*column.Edit(7) = "before"
	fork := column.Fork()
	*fork.Edit(7) = "after"
	fmt.Println(*column.At(7), *fork.At(7))
	// Output: before after
}
