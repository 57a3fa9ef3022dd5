package priority

import (
	"fmt"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/internal/names"
)

// Admit applies the admission rules to a new pod or pod group that says s, and
// returns s completed: with the class (the default one if it names none and there
// is one), the class's priority and the class's policy.
//
// An object may not say anything else than its class: the error joins a
// [FieldError] for each of ErrUnknownClass, ErrPolicy and ErrContradiction that
// holds, and s comes back as it was. Without any class the priority is
// 0 and the policy [PreemptLowerPriority], and nothing else may be said.
//
// Nil Classes have the system classes alone. The returned Priority is a new int32.
//
// Source: KEP-902, "Proposal"; Kubernetes, admission plugin Priority.
func (cs *Classes) Admit(s Spec) (Spec, error) {
	classes := cs
	class, ok := classes.Lookup(s.Class)
	if s.Class == "" {
		class, ok = classes.Default()
	}
	var faults []*FieldError
	if !s.Policy.Valid() {
		faults = append(faults, policyError(s.Class, s.Policy))
	}
	if s.Class != "" && !ok {
		faults = append(faults, unknownClass(s.Class))
		return s, join(faults)
	}
	says := "as the class says"
	if !ok {
		says = "as no class says otherwise"
	}
	priority, policy := class.Value, class.Policy.orDefault()
	if s.Priority != nil && *s.Priority != priority {
		faults = append(faults, &FieldError{
			Class: class.Name, Field: "priority", Value: fmt.Sprint(*s.Priority),
			Want: fmt.Sprintf("%d, %s", priority, says), Err: ErrContradiction,
		})
	}
	if s.Policy.Valid() && s.Policy != "" && s.Policy != policy {
		faults = append(faults, &FieldError{
			Class: class.Name, Field: "preemptionPolicy", Value: string(s.Policy),
			Want: fmt.Sprintf("%s, %s", policy, says), Err: ErrContradiction,
		})
	}
	if len(faults) > 0 {
		return s, join(faults)
	}
	return Spec{Class: class.Name, Priority: &priority, Policy: policy}, nil
}

// AdmitClass applies the admission rules to a class c that is to be added to
// classes, or to replace the one of its name there. Nil Classes have the system
// classes alone.
//
// The error joins a [FieldError] for each of: ErrClassName, the name is no DNS
// subdomain; ErrReservedName, it begins with "system-" and is no system class;
// ErrSystemClass, a system class with another value or as default; ErrValueBound,
// above [MaxUserValue]; ErrPolicy; ErrToleration; ErrSeconds; ErrTwoGlobalDefaults,
// another class is the default already.
//
// Source: Kubernetes, validation of PriorityClass and admission plugin Priority.
func (cs *Classes) AdmitClass(c Class) error {
	classes := cs
	faults := checkValue(c)
	if !names.Subdomain(c.Name) {
		faults = append(faults, &FieldError{
			Class: c.Name, Field: "name", Value: fmt.Sprintf("%q", c.Name), Want: names.WantSubdomain, Err: ErrClassName,
		})
	}
	if _, ok := systemClass(c.Name); !ok && strings.HasPrefix(c.Name, systemPrefix) {
		faults = append(faults, &FieldError{
			Class: c.Name, Field: "name", Value: fmt.Sprintf("%q", c.Name),
			Want: fmt.Sprintf("a system class, as the prefix %q is reserved for", systemPrefix), Err: ErrReservedName,
		})
	}
	if !c.Policy.Valid() {
		faults = append(faults, policyError(c.Name, c.Policy))
	}
	_, _, err := ParseToleration(c)
	faults = append(faults, slices.Concat(checkSeconds(&c), split(err))...)
	if first, ok := classes.Default(); ok && c.GlobalDefault && first.Name != c.Name {
		faults = append(faults, secondDefault(c.Name, first.Name))
	}
	return join(faults)
}

// CheckPreemptionPriority checks the pair of a workload's priority as a preemptor
// and its priority as a victim. The latter may not be lower: the error is a
// [FieldError] with ErrPreemptionPriority.
//
// The reason: otherwise two workloads of high priority and low preemption priority
// could evict each other in turn for ever. With the rule, if y evicts x, then
// priority(y) > preemption(x) >= priority(x), and as preemption(y) >= priority(y),
// x cannot evict y back.
//
// Source: KEP-5710 (early text), preemption priority.
func CheckPreemptionPriority(priority, preemption int32) error {
	if preemption >= priority {
		return nil
	}
	return &FieldError{
		Field: "preemptionPriority", Value: fmt.Sprint(preemption),
		Want: fmt.Sprintf("at least the priority, %d", priority), Err: ErrPreemptionPriority,
	}
}

// Raised is a priority as a term of a sum: raised by 2^31, so that each pod makes the sum
// larger, whatever its priority. It is at most 2^32-1: sums over 2^31 pods fit an int64.
//
// Source: kube-scheduler v1.36, pick one node for preemption: sum of priorities.
func Raised(priority int32) int64 { return int64(priority) + 1<<31 }

// Spec is what a pod or pod group says about its priority. The zero Spec says
// nothing: the default class decides.
type Spec struct {
	Class    string // empty: names none
	Priority *int32 // nil: as the class says
	Policy   Policy // empty: as the class says
}

// Effective is what is in force for a pod or pod group.
type Effective struct {
	Priority int32  // higher is more important
	Policy   Policy // never empty
}

// Resolve returns the priority and policy in force for an object that says s.
//
// What s says itself counts first, then what its class says. An object that names
// neither class nor priority takes both from the default class; without one it has
// 0 and [PreemptLowerPriority]. An explicit priority without a class
// takes nothing from the default class.
//
// The error joins a [FieldError] for each thing that cannot be read, and the answer
// is then what is left: ErrUnknownClass, the class counts as one of 0
// and PreemptLowerPriority; ErrPolicy, the policy counts as empty. That is how a
// running pod whose class is gone keeps its explicit priority.
//
// O(log n) for n classes. Source: KEP-902, "Proposal".
func (cs *Classes) Resolve(s Spec) (Effective, error) {
	var faults []*FieldError
	class := Class{Value: defaultValue}
	switch {
	case s.Class != "":
		if found, ok := cs.Lookup(s.Class); ok {
			class = found
		} else {
			faults = append(faults, unknownClass(s.Class))
		}
	case s.Priority == nil:
		if found, ok := cs.Default(); ok {
			class = found
		}
	}
	if !s.Policy.Valid() {
		faults = append(faults, policyError(s.Class, s.Policy))
		s.Policy = ""
	}
	e := Effective{Priority: class.Value, Policy: class.Policy.orDefault()}
	if s.Priority != nil {
		e.Priority = *s.Priority
	}
	if s.Policy != "" {
		e.Policy = s.Policy
	}
	return e, join(faults)
}

func unknownClass(name string) *FieldError {
	return &FieldError{
		Class: name, Field: "priorityClass", Value: fmt.Sprintf("%q", name), Want: "a known class", Err: ErrUnknownClass,
	}
}
