package proof

import "github.com/preempt-go/preempt/preemption"

// How many cases a proof may tell apart, for one step and in all.
const (
	casesOfStep = 1_000
	casesInAll  = 20_000
)

// TooMany reports whether p tells more cases apart.
func TooMany(p *preemption.Proof) bool {
	cases := 0
	for i := range p.Nodes {
		of := &p.Nodes[i]
		for _, step := range of.Steps {
			if len(step.Cases) > 1 {
				cases += len(step.Cases) * max(len(of.Nodes), 1)
			}
			if cases > casesInAll || len(step.Cases) > casesOfStep {
				return true
			}
		}
	}
	return false
}
