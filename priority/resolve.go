package priority

import "fmt"

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
