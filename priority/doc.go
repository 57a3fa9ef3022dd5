// Package priority says how important a pod or pod group is and whether it may
// preempt at all.
//
// A [Class] names a level. [NewClasses] checks a set of them once; [Classes.Resolve]
// then gives the effective priority and [Policy] of a pod or group from what its
// own fields say and what its class says. [Classes.Admit] and [Classes.AdmitClass] apply the
// admission rules to one object, which a running cluster has done before the
// scheduler sees it; [CheckPreemptionPriority] applies the rule for workloads whose
// priority as a victim is apart.
//
// A class may also say, in annotations, that its pods tolerate preemption for some
// time: [Toleration].
//
// Nothing here reads a clock, and nothing knows nodes or victims.
//
// Source: KEP-902, non-preempting priority classes; KEP-5710, preemption priority; the
// preemption toleration document of scheduler-plugins.
package priority
