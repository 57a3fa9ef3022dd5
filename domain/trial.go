package domain

import "github.com/preempt-go/preempt/preemption/cluster"

// Trial is a what-if over one domain: running pods leave and return, and it tells
// whether the preemptor fits. Which pods leave is not its business.
//
// Pods that run outside the domain may be removed and returned too; they change the answer through constraints that look across nodes only.
type Trial interface {
	// Remove takes running pod p away; Return puts it back where it ran.
	Remove(p cluster.PodID)
	Return(p cluster.PodID)

	// Fits says whether the preemptor fits as things stand. The zero Reason: it does.
	Fits() Reason
}

// Doubter is an optional part of a Trial whose Fits relies on its latest answer.
type Doubter interface {
	// Doubt lets the next Fits rely on nothing, and says how many members that looks at.
	Doubt() (members int)
}
