package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// The quantities of Kubernetes take any exponent, and compute with it for ever: a
// request of 1e99999999 cpus does not end. So what is no amount of anything is
// refused before it is parsed.
const (
	maxQuantityLength = 64 // characters; the largest amount of 64 bits has 19
	maxExponentDigits = 3
)

// unreasonable says why text, a quantity, is not even parsed; empty if it is.
func unreasonable(text string) (want string) {
	if len(text) > maxQuantityLength {
		return fmt.Sprintf("an amount of at most %d characters", maxQuantityLength)
	}
	if i := strings.LastIndexAny(text, "eE"); i >= 0 && longExponent(text[i+1:]) {
		return fmt.Sprintf("an amount whose exponent has at most %d digits", maxExponentDigits)
	}
	return ""
}

// longExponent reports whether text begins with an exponent of too many digits.
func longExponent(text string) bool {
	digits := strings.TrimLeft(text, "+-")
	n := 0
	for n < len(digits) && isDigit(digits[n]) {
		n++
	}
	return n > maxExponentDigits
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// ParseAmount reads an amount of a resource, such as 500m, 2 or 4Gi. The error is an
// [*Error].
func ParseAmount(of corev1.ResourceName, text string) (resource.Quantity, error) {
	if want := unreasonable(text); want != "" {
		return resource.Quantity{}, &Error{Value: quote(clip([]byte(text))), Want: want}
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return q, &Error{Value: quote(text), Want: "an amount such as 500m, 2 or 4Gi"}
	}
	if _, want := whole(of, q); want != "" {
		return q, &Error{Value: quote(text), Want: want}
	}
	return q, nil
}

// suspicious reports whether doc may hold a quantity that is not to be parsed. It
// is quick, and wrong in one direction only.
func suspicious(doc []byte) bool {
	run := 0 // of digits and points
	for i, c := range doc {
		switch {
		case isDigit(c) || c == '.':
			if run++; run > maxQuantityLength/2 {
				return true
			}
			continue
		case (c == 'e' || c == 'E') && run > 0:
			end := min(i+1+maxExponentDigits+3, len(doc))
			if longExponent(string(doc[i+1 : end])) {
				return true
			}
		}
		run = 0
	}
	return false
}

var quantityType = reflect.TypeFor[resource.Quantity]()

// badQuantity returns the path to the first quantity of doc that is not to be
// parsed, its text, and what it should be.
func badQuantity(doc []byte, t reflect.Type, depth int) (path, value, want string) {
	if depth > maxDepth {
		return "", "", ""
	}
	if t == quantityType {
		text := bytes.TrimSpace(doc) // a quantity is read without its escapes
		return "", clip(text), unreasonable(strings.Trim(string(text), `"`))
	}
	walk(doc, t, func(step string, member []byte, t reflect.Type) bool {
		if p, v, w := badQuantity(member, t, depth+1); w != "" {
			path, value, want = step+p, v, w
		}
		return want == ""
	})
	return path, value, want
}

// walk calls visit with each part of doc that has a type of its own, by a type t of
// the API, until visit returns false. Parts that are not of the kind that t says
// are passed over.
func walk(doc []byte, t reflect.Type, visit func(step string, part []byte, t reflect.Type) bool) {
	switch t.Kind() {
	case reflect.Pointer:
		visit("", doc, t.Elem())
	case reflect.Struct:
		walkStruct(doc, t, visit)
	case reflect.Map:
		var members map[string]json.RawMessage
		if Unmarshal(doc, &members) != nil {
			return
		}
		for _, key := range sortedKeys(members) {
			if !visit(fmt.Sprintf("[%s]", key), members[key], t.Elem()) {
				return
			}
		}
	case reflect.Slice:
		var elements []json.RawMessage
		if t.Elem().Kind() == reflect.Uint8 || Unmarshal(doc, &elements) != nil {
			return
		}
		for i, element := range elements {
			if !visit(fmt.Sprintf("[%d]", i), element, t.Elem()) {
				return
			}
		}
	}
}

// walkStruct visits the fields of a struct, in their order.
func walkStruct(doc []byte, t reflect.Type, visit func(step string, part []byte, t reflect.Type) bool) {
	var members map[string]json.RawMessage
	if Unmarshal(doc, &members) != nil {
		return
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
			continue
		case name == "" && f.Anonymous:
			if !visit("", doc, f.Type) {
				return
			}
			continue
		}
		if member, ok := members[name]; ok && !visit("."+name, member, f.Type) {
			return
		}
	}
}
