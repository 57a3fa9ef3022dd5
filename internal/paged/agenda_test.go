package paged_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/internal/paged"
)

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
