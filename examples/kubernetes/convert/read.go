package convert

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Object is one Kubernetes object that has not been looked into yet.
type Object struct {
	Origin
	APIVersion string
	Kind       string
	Namespace  string // "default" where a namespaced object names none
	Name       string
	JSON       []byte
}

// Read takes r apart into objects. It reads JSON (one object, a list of the API,
// an array, or several of these one after another, as JSON lines have them) and
// YAML (one or more documents), gzipped or not; the content tells which. Lists are
// taken apart. name stands for r in complaints.
//
// The error joins an [*Error] for each object that is none; the objects beside it
// are returned all the same.
func Read(name string, r io.Reader) ([]Object, error) {
	in, err := Unzip(r)
	if err != nil {
		return nil, &Error{Origin: Origin{File: name}, Err: err}
	}
	var s splitter
	if looksLikeJSON(in) {
		s.readJSON(name, in)
	} else {
		s.readYAML(name, in)
	}
	return s.objects, s.bad.err()
}

// Split takes documents that are JSON already apart into objects, for instance
// those of one case of a batch. They count as the items of one list.
func Split(documents []json.RawMessage) ([]Object, error) {
	var s splitter
	for i, doc := range documents {
		s.split(Origin{Item: i + 1}, doc, "", 0)
	}
	return s.objects, s.bad.err()
}

// Unzip takes off gzip, if there is any, and a byte order mark.
func Unzip(r io.Reader) (*bufio.Reader, error) {
	in := bufio.NewReader(r)
	if magic, err := in.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, err
		}
		in = bufio.NewReader(z)
	}
	if mark, err := in.Peek(3); err == nil && string(mark) == "\ufeff" {
		_, _ = in.Discard(3)
	}
	return in, nil
}

// looksLikeJSON looks at the first bytes that are no white space: JSON begins with
// an array, or an object whose first key is quoted; YAML's own objects in braces
// have, as people write them, keys without quotes.
func looksLikeJSON(in *bufio.Reader) bool {
	const most = 1024
	start, _ := in.Peek(most) // what there is; a reader that is broken says so later
	start = bytes.TrimLeft(start, " \t\r\n")
	if len(start) == 0 {
		return true
	}
	if start[0] == '{' {
		start = bytes.TrimLeft(start[1:], " \t\r\n")
		return len(start) == 0 || start[0] == '"' || start[0] == '}'
	}
	return start[0] == '['
}

// splitter collects the objects of documents.
type splitter struct {
	objects []Object
	bad     complaints
}

func (s *splitter) readJSON(file string, in io.Reader) {
	decoder := json.NewDecoder(in)
	for n := 1; ; n++ {
		var doc json.RawMessage
		at := Origin{File: file, Document: n}
		switch err := decoder.Decode(&doc); {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			s.bad.add(&Error{Origin: at, Want: "JSON", Err: fmt.Errorf("near byte %d: %w", decoder.InputOffset(), err)})
			return
		}
		s.split(at, doc, "", 0)
	}
}

func (s *splitter) readYAML(file string, in *bufio.Reader) {
	documents := utilyaml.NewYAMLReader(in)
	for n := 1; ; n++ {
		at := Origin{File: file, Document: n}
		text, err := documents.Read()
		switch {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			s.bad.add(&Error{Origin: at, Err: err})
			return
		}
		doc, err := yaml.YAMLToJSONStrict(text)
		if err != nil {
			s.bad.add(&Error{Origin: at, Want: "YAML", Err: err})
			continue
		}
		if string(doc) == "null" {
			continue // nothing but comments
		}
		s.split(at, doc, "", 0)
	}
}

// maxNesting bounds lists in lists.
const maxNesting = 8

// header is what tells an object apart from a list.
type header struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Items      []json.RawMessage `json:"items"`
	Metadata   struct {
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	} `json:"metadata"`
}

// split appends the object in doc, or those of the list in doc. listKind is
// "v1 Pod" for the items of a PodList, which need not repeat it.
func (s *splitter) split(at Origin, doc []byte, listKind string, depth int) {
	doc = bytes.TrimSpace(doc)
	if depth > maxNesting {
		s.bad.add(&Error{Origin: at, Field: "items", Want: fmt.Sprintf("nested less than %d deep", maxNesting)})
		return
	}
	if len(doc) > 0 && doc[0] == '[' {
		var items []json.RawMessage
		if err := utiljson.Unmarshal(doc, &items); err != nil {
			s.bad.add(&Error{Origin: at, Want: "JSON", Err: err})
			return
		}
		s.splitItems(at, items, listKind, depth)
		return
	}
	var h header
	if err := utiljson.Unmarshal(doc, &h); err != nil {
		field, value := locate(doc, &h)
		s.bad.add(&Error{Origin: at, Kind: h.Kind, Name: h.Metadata.Name, Field: field, Value: value, Want: "part of a Kubernetes object", Err: err})
		return
	}
	if h.Kind == "" && listKind != "" {
		h.APIVersion, h.Kind, _ = strings.Cut(listKind, " ")
	}
	if h.Kind == "" {
		s.bad.add(&Error{Origin: at, Field: "kind", Value: clip(doc), Want: "a Kubernetes object, which has a kind"})
		return
	}
	if item, ok := strings.CutSuffix(h.Kind, "List"); ok && (h.Items != nil || h.Metadata.Name == "") {
		if item != "" {
			item = h.APIVersion + " " + item
		}
		s.splitItems(at, h.Items, item, depth)
		return
	}
	o := Object{
		Origin: at, APIVersion: h.APIVersion, Kind: h.Kind,
		Namespace: h.Metadata.Namespace, Name: h.Metadata.Name, JSON: doc,
	}
	if o.Name == "" {
		s.bad.add(&Error{Origin: at, Kind: o.Kind, Namespace: o.Namespace, Field: "metadata.name", Value: `""`, Want: "a name"})
		return
	}
	s.objects = append(s.objects, o)
}

func (s *splitter) splitItems(at Origin, items []json.RawMessage, listKind string, depth int) {
	for i, item := range items {
		inner := at
		if at.Item == 0 {
			inner.Item = i + 1
		}
		s.split(inner, item, listKind, depth+1)
	}
}

// clip is the beginning of text, for a message.
func clip(text []byte) string {
	const most = 40
	if len(text) > most {
		return string(bytes.ToValidUTF8(text[:most], nil)) + "..."
	}
	return string(text)
}
