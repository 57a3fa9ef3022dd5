package suits

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestPodsClashWhereTwoOfTheirPortsDo: in short lists and in long ones, which are looked up.
func TestPodsClashWhereTwoOfTheirPortsDo(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 1))
	list := func() (p *cluster.Pod) {
		p = &cluster.Pod{}
		for range draw.IntN(20) {
			p.Ports = append(p.Ports, cluster.HostPort{
				Port: draw.Int32N(200), Protocol: []string{"", "TCP", "UDP"}[draw.IntN(3)], IP: []string{"", "0.0.0.0", "10.0.0.1", "10.0.0.2"}[draw.IntN(4)],
			})
		}
		return p
	}
	count := map[bool]int{}
	for range 5_000 {
		a, b, want := list(), list(), false
		for _, x := range a.Ports {
			for _, y := range b.Ports {
				want = want || Clash(&cluster.Pod{Ports: []cluster.HostPort{x}}, &cluster.Pod{Ports: []cluster.HostPort{y}})
			}
		}
		require.Equal(t, want, Clash(a, b), "%v, %v", a.Ports, b.Ports)
		count[want]++
	}
	require.Greater(t, min(count[true], count[false]), 500)
}
