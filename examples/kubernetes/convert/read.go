package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
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
// YAML (one or more documents), in UTF-8 or, with a byte order mark, UTF-16,
// gzipped or not; the content tells which. Lists are taken apart. name stands for r
// in complaints.
//
// The error joins an [*Error] for each object that is none, for an input without
// anything in it, and for one that was cut off, as far as its form shows: of JSON and
// of gzip every cut shows but one between two documents. YAML has no end: one that
// is cut between two lines, or within the last word, may read as a smaller object or
// list, unless what tells the kind comes last, as in the lists of kubectl. The
// objects beside a bad one are returned all the same.
func Read(name string, r io.Reader) ([]Object, error) {
	in, err := Unzip(r, 0)
	return read(name, in, err)
}

// read is Read for what is unzipped already, unless err says that it can't be.
func read(name string, in io.Reader, err error) ([]Object, error) {
	var s splitter
	var text []byte
	if err == nil {
		text, err = io.ReadAll(in)
	}
	if errors.Is(err, ErrUnpacked) {
		text = nil // it is cut anywhere
	}
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		if err == nil {
			err = errEmpty
		}
	case looksLikeJSON(text):
		s.readJSON(name, text, err == nil)
	default:
		s.readYAML(name, text)
	}
	if err != nil {
		s.bad.add(&Error{Origin: Origin{File: name}, Err: err})
	}
	s.checkContinued()
	return s.objects, s.bad.err()
}

var errEmpty = errors.New("there is nothing in it")

// Split takes documents that are JSON already apart into objects, for instance
// those of one case of a batch. They count as the items of one list.
func Split(documents []json.RawMessage) ([]Object, error) {
	var s splitter
	for i, doc := range documents {
		s.split(Origin{Item: i + 1}, doc, "", 0)
	}
	s.checkContinued()
	return s.objects, s.bad.err()
}

// looksLikeJSON looks at the first bytes that are no white space: JSON begins with
// an array, or an object whose first key is quoted; YAML's own objects in braces
// have, as people write them, keys without quotes.
func looksLikeJSON(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	if after, ok := bytes.CutPrefix(text, []byte("{")); ok {
		after = bytes.TrimLeft(after, " \t\r\n")
		return len(after) == 0 || after[0] == '"' || after[0] == '}'
	}
	return len(text) > 0 && text[0] == '['
}

// splitter collects the objects of documents.
type splitter struct {
	objects []Object
	bad     complaints

	pages []page
}

// page is a page of a list.
type page struct {
	at   Origin
	key  string // version and kind
	more bool   // it is not the last
}

// join adds what another has.
func (s *splitter) join(other *splitter) {
	for _, err := range other.bad.list {
		s.bad.add(err)
	}
	s.bad.more += other.bad.more
	s.pages = append(s.pages, other.pages...)
	s.objects = append(s.objects, other.objects...)
}

// readJSON reads documents one after another; whole is false if text is known to be
// cut off, which is complained about elsewhere.
func (s *splitter) readJSON(file string, text []byte, whole bool) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	for n := 1; ; n++ {
		var doc json.RawMessage
		at := Origin{File: file, Document: n}
		begin := decoder.InputOffset()
		err := decoder.Decode(&doc)
		var syntax *json.SyntaxError
		switch {
		case errors.Is(err, io.EOF):
			return
		case errors.Is(err, io.ErrUnexpectedEOF):
			if whole {
				s.bad.add(cutOffAfter(at, begin))
			}
			return
		case errors.As(err, &syntax):
			s.bad.add(notJSON(at, syntax.Offset, err))
			return
		case err != nil:
			s.bad.add(&Error{Origin: at, Want: "JSON", Err: err})
			return
		case !utf8.Valid(doc):
			s.bad.add(&Error{Origin: at, Want: "UTF-8"})
			continue
		}
		s.split(at, doc, "", 0)
	}
}

// cutOffAfter complains about JSON that begins after a byte and has no end.
func cutOffAfter(at Origin, begin int64) error {
	return &Error{Origin: at, Err: fmt.Errorf("the input is cut off: the JSON that begins after byte %d has no end", begin)}
}

func notJSON(at Origin, near int64, err error) error {
	return &Error{Origin: at, Want: "JSON", Err: fmt.Errorf("near byte %d: %w", near, err)}
}

// readYAML reads documents one after another, which are converted at once.
func (s *splitter) readYAML(file string, text []byte) {
	list := slices.Collect(documents(text))
	if err := tooDense(text, len(list)); err != nil {
		s.bad.add(&Error{Origin: Origin{File: file}, Want: "YAML that can be read in good time", Err: err})
		return
	}
	docs, errs := make([][]byte, len(list)), make([]error, len(list))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(len(list), runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(list); i = int(next.Add(1)) - 1 {
				docs[i], errs[i] = yamlToJSON(list[i])
			}
		})
	}
	workers.Wait()
	empty := true
	for i, doc := range docs {
		at := Origin{File: file, Document: i + 1}
		switch {
		case errs[i] != nil:
			s.bad.add(&Error{Origin: at, Want: "YAML", Err: errs[i]})
		case string(doc) == "null":
			continue // nothing but comments
		default:
			s.split(at, doc, "", 0)
		}
		empty = false
	}
	if empty {
		s.bad.add(&Error{Origin: Origin{File: file}, Err: errEmpty})
	}
}

// maxNesting bounds lists in lists.
const maxNesting = 8

// header is what tells an object apart from a list.
type header struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Items      json.RawMessage `json:"items"`
	Metadata   struct {
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
		Continue  string `json:"continue"` // of a list: more pages follow
	} `json:"metadata"`
}

// isList reports whether what h begins is a list, or a page of one.
func (h *header) isList() bool {
	return strings.HasSuffix(h.Kind, "List") && (h.Items != nil || h.Metadata.Name == "")
}

// listKind is the version and kind of the items of a list; empty if they say it themselves.
func (h *header) listKind() string {
	item := strings.TrimSuffix(h.Kind, "List")
	if item == "" {
		return ""
	}
	return h.APIVersion + " " + item
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
		s.splitItems(at, doc, listKind, depth)
		return
	}
	if s.bad.full() && !mayBeObject(doc, listKind) {
		s.bad.more++
		return
	}
	var h header
	if err := Unmarshal(doc, &h); err != nil {
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
	if h.isList() {
		s.pages = append(s.pages, page{at, h.APIVersion + " " + h.Kind, h.Metadata.Continue != ""})
		s.splitItems(at, h.Items, h.listKind(), depth)
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

// mayBeObject is false only for what is complained about once, and no more, whatever it is: an item, no list, that
// cannot have a name, or no kind.
func mayBeObject(doc []byte, listKind string) bool {
	mayHave := func(word string) bool { return bytes.Contains(doc, []byte(word)) }
	return mayHave(`\`) || mayHave("List") || strings.HasSuffix(listKind, "List") ||
		mayHave(`"name"`) && (listKind != "" || mayHave(`"kind"`))
}

// checkContinued complains about lists whose last page is missing.
func (s *splitter) checkContinued() {
	continued := map[string]Origin{}
	for _, p := range s.pages {
		delete(continued, p.key)
		if p.more {
			continued[p.key] = p.at
		}
	}
	for _, key := range sortedKeys(continued) {
		_, kind, _ := strings.Cut(key, " ")
		s.bad.add(&Error{Origin: continued[key], Kind: kind, Field: "metadata.continue", Want: "empty: the rest of the list is not in the input"})
	}
}

// splitItems splits what is in doc, an array; null is an empty one.
func (s *splitter) splitItems(at Origin, doc []byte, listKind string, depth int) {
	var items []json.RawMessage
	if doc == nil {
		s.bad.add(&Error{Origin: at, Field: "items", Want: "there, as in every list"})
		return
	}
	if err := Unmarshal(doc, &items); err != nil {
		s.bad.add(&Error{Origin: at, Field: "items", Value: clip(doc), Want: "a list of Kubernetes objects", Err: err})
		return
	}
	for i, item := range items {
		inner := at
		if at.Item == 0 {
			inner.Item = i + 1
		}
		s.split(inner, item, listKind, depth+1)
	}
}

// clip is the beginning of text, for a message.
func clip(text []byte) string { return short(string(text), 40) }

// short is s, or so many bytes of it.
func short(s string, most int) string {
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}
