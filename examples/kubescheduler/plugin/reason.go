package plugin

import "fmt"

// Reason is why upstream answers in place of the planner.
type Reason string

// The reasons, as the metric and the log have them.
const (
	ReasonPodGroup Reason = "pod_group" // the pod is scheduled with its group, behind the gate GenericWorkload
	ReasonDevices  Reason = "devices"   // the pod has resource claims, or a device class stands for what it requests
	ReasonProfile  Reason = "profile"   // a filter that the planner applies is not enabled in the profile
	ReasonObjects  Reason = "objects"   // an object of the snapshot cannot be read, or a lister failed
	ReasonQuestion Reason = "question"  // the pod cannot be read, or the planner refuses the question
	ReasonRoom     Reason = "room"      // the planner sees room where the filters have seen none
	ReasonStatus   Reason = "status"    // the filters said of the chosen node that evictions don't help there
	ReasonFilters  Reason = "filters"   // the filters refuse the chosen node without the victims
)

// fallback says that, and why, the planner does not answer.
type fallback struct {
	reason Reason
	detail string
}

func (f *fallback) Error() string { return fmt.Sprintf("%s: %s", f.reason, f.detail) }

func leave(r Reason, format string, args ...any) *fallback {
	return &fallback{r, fmt.Sprintf(format, args...)}
}
