package convert

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// decode reads o into target, a pointer to a type of the Kubernetes API. The error
// is an [*Error] that names the first field that does not decode.
func decode(o *Object, target any) error {
	err := utiljson.Unmarshal(o.JSON, target)
	if err == nil {
		return nil
	}
	field, value := locate(o.JSON, target)
	return &Error{
		Origin: o.Origin, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name,
		Field: field, Value: value, Want: "readable", Err: err,
	}
}

// locate finds the first field of doc, in the order of the struct's fields and of
// the maps' keys, that does not decode into the type that target points to. The
// decoder itself does not say for types that decode themselves, such as quantities.
func locate(doc []byte, target any) (field, value string) {
	path, bad := badField(doc, reflect.TypeOf(target).Elem(), 0)
	return strings.TrimPrefix(path, "."), clip(bad)
}

// maxDepth bounds badField; types of the API that contain themselves (JSON schemas)
// are none that this package reads.
const maxDepth = 40

// badField returns the path to, and the text of, what is wrong in doc; no text
// means that nothing is.
func badField(doc []byte, t reflect.Type, depth int) (path string, bad []byte) {
	probe := reflect.New(t)
	if depth > maxDepth || utiljson.Unmarshal(doc, probe.Interface()) == nil {
		return "", nil
	}
	if _, ok := probe.Interface().(json.Unmarshaler); ok {
		return "", doc
	}
	switch t.Kind() {
	case reflect.Pointer:
		return badField(doc, t.Elem(), depth+1)
	case reflect.Struct:
		path, bad = badStructField(doc, t, depth)
	case reflect.Map:
		var members map[string]json.RawMessage
		if utiljson.Unmarshal(doc, &members) == nil {
			for _, key := range slices.Sorted(maps.Keys(members)) {
				if p, b := badField(members[key], t.Elem(), depth+1); b != nil {
					return fmt.Sprintf("[%s]%s", key, p), b
				}
			}
		}
	case reflect.Slice:
		var elements []json.RawMessage
		if utiljson.Unmarshal(doc, &elements) == nil {
			for i, element := range elements {
				if p, b := badField(element, t.Elem(), depth+1); b != nil {
					return fmt.Sprintf("[%d]%s", i, p), b
				}
			}
		}
	}
	if bad == nil {
		return "", doc // this itself is of another kind
	}
	return path, bad
}

func badStructField(doc []byte, t reflect.Type, depth int) (path string, bad []byte) {
	var members map[string]json.RawMessage
	if utiljson.Unmarshal(doc, &members) != nil {
		return "", nil
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case name == "" && f.Anonymous:
			if p, b := badField(doc, f.Type, depth+1); b != nil {
				return p, b
			}
		default:
			if member, ok := members[name]; ok {
				if p, b := badField(member, f.Type, depth+1); b != nil {
					return "." + name + p, b
				}
			}
		}
	}
	return "", nil
}
