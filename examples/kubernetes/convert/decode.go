package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	kjson "sigs.k8s.io/json"
)

// Unmarshal reads JSON into target as an API server does: the case of names of
// fields counts. A field that stands twice is an error here, as one of the two would
// be lost.
func Unmarshal(doc []byte, target any) error {
	twice, err := kjson.UnmarshalStrict(doc, target, kjson.DisallowDuplicateFields)
	return errors.Join(append(twice, err)...)
}

// mostCommas is how many commas an object may have: a container that is not there takes a comma, and as a struct almost a
// kilobyte. An API server keeps objects of 1.5 MB, with annotations of 256 KiB.
const mostCommas = 1 << 17

// crowded reports whether an object has more commas.
func crowded(doc []byte) bool {
	return len(doc) > mostCommas && bytes.Count(doc, []byte{','}) > mostCommas
}

// decode reads o into target, a pointer to a type of the Kubernetes API. The error
// is an [*Error] that names the first field that does not decode.
func decode(o *Object, target any) error {
	e := &Error{Origin: o.Origin, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
	if crowded(o.JSON) {
		e.Want = fmt.Sprintf("an object of at most %d commas", mostCommas)
		return e
	}
	if suspicious(o.JSON) {
		path, value, want := badQuantity(o.JSON, reflect.TypeOf(target).Elem(), 0)
		if want != "" {
			e.Field, e.Value, e.Want = strings.TrimPrefix(path, "."), value, want
			return e
		}
	}
	err := Unmarshal(o.JSON, target)
	if err == nil {
		return nil
	}
	var twice kjson.FieldError
	if errors.As(err, &twice) {
		e.Field, e.Err = twice.FieldPath(), errTwice
		return e
	}
	e.Field, e.Value = locate(o.JSON, target)
	e.Want, e.Err = "readable", err
	return e
}

var errTwice = errors.New("stands twice")

// locate finds the first field of doc, in the order of the struct's fields and of
// the maps' keys, that does not decode into the type that target points to. The
// decoder itself does not say for types that decode themselves, such as quantities.
func locate(doc []byte, target any) (field, value string) {
	path, bad := badField(doc, reflect.TypeOf(target).Elem(), 0)
	return strings.TrimPrefix(path, "."), clip(bad)
}

// maxDepth bounds what is looked into; no type that is read here is deeper.
const maxDepth = 40

// badField returns the path to, and the text of, what is wrong in doc; no text
// means that nothing is.
func badField(doc []byte, t reflect.Type, depth int) (path string, bad []byte) {
	probe := reflect.New(t)
	if depth > maxDepth || Unmarshal(doc, probe.Interface()) == nil {
		return "", nil
	}
	if _, ok := probe.Interface().(json.Unmarshaler); ok {
		return "", doc
	}
	walk(doc, t, func(step string, part []byte, t reflect.Type) bool {
		if p, b := badField(part, t, depth+1); b != nil {
			path, bad = step+p, b
		}
		return bad == nil
	})
	if bad == nil {
		return "", doc // this itself is of another kind
	}
	return path, bad
}

// textAt is the text of the value at path in doc, a path as complaints have it; nil
// if there is none.
func textAt(doc []byte, path string) []byte {
	for path != "" && doc != nil {
		var key string
		if rest, ok := strings.CutPrefix(path, "["); ok {
			key, path, _ = strings.Cut(rest, "]")
		} else {
			path = strings.TrimPrefix(path, ".")
			end := strings.IndexAny(path+".", ".[")
			key, path = path[:end], path[end:]
		}
		doc = member(doc, key)
	}
	return doc
}

// member is the text of one member of an object or of an array; nil if there is none.
func member(doc []byte, key string) []byte {
	var members map[string]json.RawMessage
	if Unmarshal(doc, &members) == nil {
		return members[key]
	}
	var elements []json.RawMessage
	i, err := strconv.Atoi(key)
	if err != nil || Unmarshal(doc, &elements) != nil || i >= len(elements) {
		return nil
	}
	return elements[i]
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
