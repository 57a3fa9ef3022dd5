package domain_test

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// devices is the twin of Devices: it tries every way to seat those who hold no
// certain device. sure is false where fractions differ and the constraint may miss a way.
func (s *situation) devices(m *cluster.Pod, node string) (a answer, sure bool) {
	n := s.node(node)
	for _, resource := range []string{gpu, "example.com/fpga"} {
		whole, fractions := wants(m, resource)
		if whole == 0 && len(fractions) == 0 {
			continue
		}
		pool, ok := n.Devices[resource]
		empty := slices.Repeat([]int64{pool.Capacity}, int(pool.Count))
		if !ok || !seat(empty, pool.Capacity, whole, fractions) {
			return answer{domain.CheckDevice, true}, true
		}
	}
	sure = true
	for _, resource := range []string{gpu, "example.com/fpga"} {
		whole, fractions := wants(m, resource)
		if whole == 0 && len(fractions) == 0 {
			continue
		}
		pool := n.Devices[resource]
		free := slices.Repeat([]int64{pool.Capacity}, int(pool.Count))
		for p, at := range s.others(m, s.now) {
			if at.Name != node {
				continue
			}
			for _, r := range p.Devices {
				switch {
				case r.Resource != resource:
				case s.was[nameOf(p)] == node && len(r.Assigned) > 0:
					for _, device := range r.Assigned {
						if device < pool.Count && r.Count > 0 {
							free[device] -= pool.Capacity
						} else if device < pool.Count {
							free[device] -= min(r.Fraction, pool.Capacity)
						}
					}
				case r.Count > 0:
					whole += int(r.Count)
				default:
					fractions = append(fractions, r.Fraction)
				}
			}
		}
		slices.Sort(fractions)
		sure = sure && len(slices.Compact(slices.Clone(fractions))) <= 1
		if !seat(free, pool.Capacity, whole, fractions) {
			return answer{domain.CheckDevice, false}, true
		}
	}
	return answer{}, sure
}

func wants(p *cluster.Pod, resource string) (whole int, fractions []int64) {
	for _, r := range p.Devices {
		if r.Resource != resource {
			continue
		}
		whole += int(r.Count)
		if r.Count == 0 {
			fractions = append(fractions, r.Fraction)
		}
	}
	return whole, fractions
}

// seat reports whether there is any way to seat the fractions and then the whole devices.
func seat(free []int64, capacity int64, whole int, fractions []int64) bool {
	if len(fractions) == 0 {
		for _, v := range free {
			if v == capacity {
				whole--
			}
		}
		return whole <= 0
	}
	for i, v := range free {
		if v >= fractions[0] {
			free[i] -= fractions[0]
			ok := seat(free, capacity, whole, fractions[1:])
			free[i] = v
			if ok {
				return true
			}
		}
	}
	return false
}
