package preemption

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// sample is upstream's search, with one worker: from an offset on, until enough
// candidates are found and one of them violates no budget.
//
// Source: kube-scheduler v1.36, dry run of preemption.
func (s *podSearch) sample() {
	var potential []cluster.NodeID
	for n := range cluster.NodeID(s.ix.NumNodes()) {
		if !s.status[n].Unresolvable {
			potential = append(potential, n)
		}
	}
	s.stats.Pruned = s.ix.NumNodes() - len(potential)
	wanted := s.options.Sampling.candidates(len(potential))
	var harmless, violating []candidate
	for i := range potential {
		n := potential[(i+int(s.options.Sampling.Offset))%len(potential)]
		c, why := s.try(n)
		if s.status[n] = why; !why.OK() {
			continue
		}
		c.victims = slices.Clone(c.victims)
		list := &harmless
		if c.score.Violations > 0 {
			list = &violating
		}
		if len(*list) < wanted {
			*list = append(*list, c)
		}
		if len(harmless) > 0 && len(harmless)+len(violating) >= wanted {
			for j := i + 1; j < len(potential); j++ {
				s.status[potential[(j+int(s.options.Sampling.Offset))%len(potential)]] = domain.Reason{Check: notSampled}
			}
			break
		}
	}
	for _, c := range append(harmless, violating...) {
		s.consider(c)
	}
}

// candidates is how many candidates are wanted among n potential nodes.
func (s *Sampling) candidates(n int) int {
	return min(max(n*int(s.Percent)/100, int(s.Minimum)), n)
}

// notSampled is why a node is no candidate that was not looked at: enough were found.
const notSampled domain.Check = "not sampled"
