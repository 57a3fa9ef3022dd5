package room_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption/check/internal/room"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestRoomsAreThoseThatAreAddedUp: for more levels than nodes are ranked for, who has room is who has what is free and what those leave who are
// below the level, and With leaves out nobody who has.
func TestRoomsAreThoseThatAreAddedUp(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		amounts := func() cluster.Resources { return cluster.Resources{"a": int64(r.IntN(5)), "b": int64(r.IntN(3))} }
		free, leavers := room.Free{}, [][]room.Leaver{}
		for n := range 5 {
			given := amounts()
			given[cluster.Pods] = int64(r.IntN(4))
			free = append(free, room.Of(&cluster.Node{Allocatable: given}))
			here := &cluster.Pod{Requests: amounts()}
			free.Take(n, here, +1)
			require.Equal(t, given["a"]-here.Requests["a"], free[n]["a"])
			require.Equal(t, given[cluster.Pods]-1, free[n][cluster.Pods])
			var list []room.Leaver
			level := int32(-5)
			for range r.IntN(6) {
				level += int32(r.IntN(200))
				l := room.Leaver{Level: level}
				for range r.IntN(3) {
					l.Pods = append(l.Pods, &cluster.Pod{Requests: amounts()})
				}
				list = append(list, l)
			}
			leavers = append(leavers, list)
		}
		rooms := room.New(free, leavers)
		for range 700 {
			below := int64(r.IntN(900) - 10)
			left := func(n int, name string) int64 {
				v := free[n][name]
				for _, l := range leavers[n] {
					for _, p := range l.Pods {
						if int64(l.Level) < below && name == cluster.Pods {
							v++
						} else if int64(l.Level) < below {
							v += p.Requests[name]
						}
					}
				}
				return v
			}
			requests, limited := amounts(), r.IntN(2) == 0
			has := rooms.For(requests, below, func(int) bool { return limited })
			for n := range free {
				want, now := !limited || left(n, cluster.Pods) > 0, true
				for name, v := range requests {
					want = want && (v == 0 || v <= left(n, name))
					now = now && (v == 0 || v <= free[n][name])
					if v > 0 && v <= left(n, name) {
						require.Contains(t, rooms.With(name, v, below), n, "seed %d", seed)
					}
				}
				require.Equal(t, want, has(n), "seed %d", seed)
				require.Equal(t, now, free.Has(n, &cluster.Pod{Requests: requests}), "seed %d", seed)
			}
		}
	}
}
