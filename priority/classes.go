package priority

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/internal/words"
)

// Classes is a checked set of classes. The two system classes are always in it. It
// is immutable and safe for concurrent use. A nil Classes and the zero Classes have
// the system classes alone.
type Classes struct {
	listed     []Class // in order of name, each name once
	tolerates  map[string]Toleration
	defaultsTo int // position in listed plus one; 0: no default
}

// NewClasses checks classes, whose order never matters, and returns the set, which
// keeps nothing of the slice. A system class may be listed, to give it a policy or
// annotations; its value is fixed.
//
// The error joins a [FieldError] for each thing that leaves the meaning of the set
// in doubt, in order of class and field; what matters to admission alone is left to
// [Classes.AdmitClass]. The set is usable with an error too, and answers so:
//
//   - ErrClassName, an empty name: the class is left out;
//   - ErrDuplicateClass: of equal names the lowest value counts;
//   - ErrTwoGlobalDefaults: the lowest value counts, then the first name, as upstream's
//     admission picks after a race;
//   - ErrValueBound, above [MaxUserValue]: the value counts as it is;
//   - ErrSystemClass, another value or a global default: the built-in ones count;
//   - ErrPolicy: counts as [PreemptLowerPriority];
//   - ErrToleration: the class tolerates nothing;
//   - ErrSeconds, below zero: no time.
//
// O(n log n). Source: KEP-902; Kubernetes, validation of PriorityClass.
func NewClasses(classes []Class) (*Classes, error) {
	var faults []*FieldError
	sorted := slices.SortedFunc(slices.Values(classes), compareClasses)
	set := &Classes{listed: make([]Class, 0, len(sorted)), tolerates: map[string]Toleration{}}
	for _, c := range sorted {
		if c.Name == "" {
			faults = append(faults, &FieldError{Field: "name", Value: `""`, Want: "a name", Err: ErrClassName})
			continue
		}
		faults = append(faults, checkValue(c)...)
		if !c.Policy.Valid() {
			faults = append(faults, policyError(c.Name, c.Policy))
		}
		if n := len(set.listed); n > 0 && set.listed[n-1].Name == c.Name {
			faults = append(faults, &FieldError{
				Class: c.Name, Field: "name", Value: words.Quoted(c.Name), Want: "unique", Err: ErrDuplicateClass,
			})
			continue
		}
		if system, ok := systemClass(c.Name); ok {
			c.Value, c.GlobalDefault = system.Value, false
		}
		c.Policy, c.Annotations = c.Policy.orDefault(), maps.Clone(c.Annotations)
		faults = append(faults, checkSeconds(&c)...)
		toleration, given, err := ParseToleration(c)
		faults = append(faults, split(err)...)
		if given {
			set.tolerates[c.Name] = toleration
		}
		set.listed = append(set.listed, c)
	}
	faults = append(faults, set.chooseDefault()...)
	return set, join(faults)
}

// compareClasses orders by name, and among equal names by what is kept first.
func compareClasses(a, b Class) int {
	if c := cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value)); c != 0 {
		return c
	}
	return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) // duplicates: any fixed order will do
}

// checkValue reports a value that c must not have, and a system class that wants
// to be the default.
func checkValue(c Class) []*FieldError {
	system, ok := systemClass(c.Name)
	if !ok {
		if c.Value <= MaxUserValue {
			return nil
		}
		return []*FieldError{{
			Class: c.Name, Field: "value", Value: fmt.Sprint(c.Value),
			Want: fmt.Sprintf("at most %d", MaxUserValue), Err: ErrValueBound,
		}}
	}
	var faults []*FieldError
	if c.GlobalDefault {
		faults = append(faults, &FieldError{
			Class: c.Name, Field: "globalDefault", Value: "true", Want: "false, as it is for this system class", Err: ErrSystemClass,
		})
	}
	if c.Value != system.Value {
		faults = append(faults, &FieldError{
			Class: c.Name, Field: "value", Value: fmt.Sprint(c.Value),
			Want: fmt.Sprintf("%d, as it is for this system class", system.Value), Err: ErrSystemClass,
		})
	}
	return faults
}

// checkSeconds reports times below zero and takes them away.
func checkSeconds(c *Class) []*FieldError {
	var faults []*FieldError
	check := func(field string, seconds *int64) {
		if *seconds < 0 {
			faults = append(faults, &FieldError{
				Class: c.Name, Field: field, Value: fmt.Sprint(*seconds), Want: ">= 0", Err: ErrSeconds,
			})
			*seconds = 0
		}
	}
	check("guaranteedSeconds", &c.GuaranteedSeconds)
	check("waitSeconds", &c.WaitSeconds)
	return faults
}

// chooseDefault picks the default and reports every other class that claims to be it.
func (cs *Classes) chooseDefault() []*FieldError {
	chosen := -1
	for i, c := range cs.listed {
		if c.GlobalDefault && (chosen < 0 || c.Value < cs.listed[chosen].Value) {
			chosen = i
		}
	}
	cs.defaultsTo = chosen + 1
	var faults []*FieldError
	for i, c := range cs.listed {
		if c.GlobalDefault && i != chosen {
			faults = append(faults, secondDefault(c.Name, cs.listed[chosen].Name))
		}
	}
	return faults
}

func secondDefault(class, first string) *FieldError {
	return &FieldError{
		Class: class, Field: "globalDefault", Value: "true",
		Want: fmt.Sprintf("false: %q is the default already", first), Err: ErrTwoGlobalDefaults,
	}
}

// Lookup returns the class of that name and whether there is one. Its policy is
// never empty; its Annotations must not be changed.
func (cs *Classes) Lookup(name string) (Class, bool) {
	if cs != nil {
		i, found := slices.BinarySearchFunc(cs.listed, name, func(c Class, name string) int {
			return strings.Compare(c.Name, name)
		})
		if found {
			return cs.listed[i], true
		}
	}
	c, ok := systemClass(name)
	c.Policy = c.Policy.orDefault()
	return c, ok
}

// Toleration returns what the class of that name tolerates, and whether it says
// anything about it.
func (cs *Classes) Toleration(name string) (Toleration, bool) {
	if cs == nil {
		return Toleration{}, false
	}
	t, ok := cs.tolerates[name]
	return t, ok
}

// AnyTolerations reports whether any class says what it tolerates.
func (cs *Classes) AnyTolerations() bool { return cs != nil && len(cs.tolerates) > 0 }

// AnyGuaranteed reports whether any class guarantees its pods some running time.
func (cs *Classes) AnyGuaranteed() bool {
	return cs != nil && slices.ContainsFunc(cs.listed, func(c Class) bool { return c.GuaranteedSeconds > 0 })
}

// AnyWaits reports whether preemptors of some class wait.
func (cs *Classes) AnyWaits() bool {
	return cs != nil && slices.ContainsFunc(cs.listed, func(c Class) bool { return c.WaitSeconds > 0 })
}

// Default returns the class of objects that name none, and whether there is one.
func (cs *Classes) Default() (Class, bool) {
	if cs == nil || cs.defaultsTo == 0 {
		return Class{}, false
	}
	return cs.listed[cs.defaultsTo-1], true
}
