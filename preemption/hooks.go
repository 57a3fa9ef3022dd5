package preemption

import (
	"fmt"
	"reflect"
)

// validate complains about hooks that are set to nothing that can be called.
func (h *Hooks) validate(ps *optionProblems) {
	if h == nil {
		return
	}
	check := func(field string, hook any, want string) {
		v := reflect.ValueOf(hook)
		if (v.Kind() == reflect.Pointer || v.Kind() == reflect.Func) && v.IsNil() {
			ps.bad(field, fmt.Sprintf("a nil %T", hook), want)
		}
	}
	for i, c := range h.Constraints {
		field := fmt.Sprintf("Hooks.Constraints[%d]", i)
		if c == nil {
			ps.bad(field, "nil", "a constraint")
		}
		check(field, c, "a constraint")
	}
	const want = "nil, for the default, or something that can be called"
	check("Hooks.Placer", h.Placer, want)
	check("Hooks.Eligible", h.Eligible, want)
	check("Hooks.Order", h.Order, want)
	check("Hooks.Compare", h.Compare, want)
	check("Hooks.Cost", h.Cost, want)
	check("Hooks.Splitter", h.Splitter, want)
}
