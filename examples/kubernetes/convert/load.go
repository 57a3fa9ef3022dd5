package convert

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Loader reads inputs straight into a [Dump], on several processors and without
// keeping their text: what [Read] and [Options.Dump] do together, with the same
// outcome and the same complaints, but that they quote a large document, if it has no
// kind, without blanks and items. Equal parts of objects, such as the labels of the
// pods of a workload, may be shared in the dump.
type Loader struct {
	options Options
	builder *builder
	size    int   // of blocks
	saved   *Dump // that was read; nil: none
}

// Loader returns a loader that has read nothing yet.
func (o Options) Loader() *Loader {
	return &Loader{options: o, builder: o.builder(), size: blockSize}
}

// Dump is what was read so far. The loader is of no use afterwards.
func (l *Loader) Dump() (*Dump, error) {
	if l.saved != nil {
		return l.savedDump()
	}
	return l.builder.finish(l.options)
}

// Read reads one input; the error is that of [Read]. With an error, what could be
// read counts all the same. What [Dump.Save] wrote is read, too, if it is the only input.
func (l *Loader) Read(name string, r io.Reader) error {
	in, err := Unzip(r, l.options.Unpacked)
	if err == nil && beginsAsSaved(in) {
		return l.readSaved(name, in)
	}
	if l.saved != nil {
		return &Error{Origin: Origin{File: name}, Err: errSaved}
	}
	if err == nil && beginsAsJSON(in) {
		return l.readJSON(name, in)
	}
	objects, err := read(name, in, err)
	reader, t := newLean(), &task{}
	for i := range objects {
		o := &objects[i]
		if o.APIVersion != "v1" || !reader.object(t, o.Origin, o.JSON, "v1 "+o.Kind) {
			l.builder.add(o)
			continue
		}
		l.builder.take(t, &t.found[0])
		t.found, t.pods, t.nodes = t.found[:0], t.pods[:0], t.nodes[:0]
	}
	return err
}

// take adds a pod or node that was found in t.
func (b *builder) take(t *task, x *found) {
	b.dump.Objects++
	o := Object{Origin: x.at}
	if x.kind == foundPod {
		b.complain(&o, b.takePod(&o, &t.pods[x.index]))
		return
	}
	b.complain(&o, b.takeNode(&o, &t.nodes[x.index]))
}

// beginsAsJSON looks at the beginning of in, and leaves it there.
func beginsAsJSON(in *bufio.Reader) bool {
	for n := 64; ; n *= 2 {
		text, err := in.Peek(n)
		trimmed := bytes.TrimLeft(text, " \t\r\n")
		if len(trimmed) > 0 && (trimmed[0] != '{' || len(bytes.TrimLeft(trimmed[1:], " \t\r\n")) > 0) {
			return looksLikeJSON(text)
		}
		if err != nil || n >= in.Size() {
			return false // whoever reads all of it will find out
		}
	}
}

// reading is one input that is being read.
type reading struct {
	*Loader
	splitter // complaints and pages
	file     string
	tasks    chan *task
	order    []*task // given away and not committed yet
	free     chan []byte
	stopped  bool // by what is no JSON
}

// task is a block and what was found in it.
type task struct {
	block *block
	done  chan struct{}
	found []found
	pods  []podRead
	nodes []nodeRead
}

// found is one thing in a block.
type found struct {
	kind  foundKind
	at    Origin
	index int       // of a pod or node in the task
	split *splitter // what a unit was split into
	text  []byte    // of an item whose kind only its list says
	err   error
	input int64 // position of what is no JSON
}

type foundKind uint8

const (
	foundPod foundKind = iota
	foundNode
	foundSplit
	foundItem  // of a kind that only its list says
	foundBytes // that are not UTF-8
	foundNoJSON
)

func (l *Loader) readJSON(name string, in io.Reader) error {
	workers := runtime.GOMAXPROCS(0)
	r := &reading{Loader: l, file: name, tasks: make(chan *task, 2*workers), free: make(chan []byte, 4*workers)}
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			reader := newLean()
			for t := range r.tasks {
				reader.task(t)
				r.recycle(t.block)
				t.block = nil
				close(t.done)
			}
		})
	}
	s := &stream{in: in, size: l.size, block: &block{}, fresh: r.fresh, give: r.give}
	r.documents(s)
	close(r.tasks)
	running.Wait()
	if s.err != nil && !errors.Is(s.err, io.EOF) {
		r.bad.add(&Error{Origin: Origin{File: name}, Err: s.err})
	}
	r.checkContinued()
	return r.bad.err()
}

func (r *reading) fresh(size int) []byte {
	select {
	case text := <-r.free:
		if cap(text) >= size {
			return text[:0]
		}
	default:
	}
	return make([]byte, 0, size)
}

func (r *reading) recycle(b *block) {
	if cap(b.text) <= 2*r.size {
		select {
		case r.free <- b.text:
		default:
		}
	}
	b.text = nil
}

// give has the units of b read.
func (r *reading) give(b *block) {
	if len(b.units) == 0 {
		r.recycle(b)
		return
	}
	t := &task{block: b, done: make(chan struct{})}
	r.order = append(r.order, t)
	r.tasks <- t
}

// documents reads one document after another.
func (r *reading) documents(s *stream) {
	begin := int64(0)
	for n := 1; !r.stopped; n++ {
		if s.ended() {
			break
		}
		at := Origin{File: r.file, Document: n}
		end := s.value(r.size)
		next := s.peek()
		switch {
		case end >= 0 && (end < len(s.block.text) || s.err == nil || json.Valid(s.block.text[s.at:])):
			s.block.units = append(s.block.units, unit{at: at, start: s.at, end: end})
			s.at = end
		case s.err == nil && (next == '{' || next == '['):
			if r.flush(s); r.stopped {
				return
			}
			r.large(s, at, begin)
		case s.err == nil:
			s.value(0) // all of it is in the block now
			n--
			continue
		default:
			if r.flush(s); !r.stopped {
				r.rest(s, at, begin)
			}
			return
		}
		begin = s.block.base + int64(s.at)
		if len(r.order) > cap(r.tasks) {
			r.commit(r.order[:1], nil)
			r.order = r.order[1:]
		}
	}
	r.flush(s)
}

// flush commits what was read so far.
func (r *reading) flush(s *stream) {
	b := s.block
	s.block = &block{base: b.base + int64(s.at), text: bytes.Clone(b.text[s.at:])}
	s.at = 0
	r.give(b)
	r.commit(r.order, nil)
	r.order = r.order[:0]
}

// rest complains about what does not end.
func (r *reading) rest(s *stream, at Origin, begin int64) {
	var doc json.RawMessage
	err := json.NewDecoder(bytes.NewReader(s.block.text[s.at:])).Decode(&doc)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		r.noJSON(at, s.block.base+int64(s.at)+syntax.Offset, err)
		return
	}
	r.cutOff(s, at, begin)
}

func (r *reading) cutOff(s *stream, at Origin, begin int64) {
	r.stopped = true
	if errors.Is(s.err, io.EOF) {
		r.bad.add(cutOffAfter(at, begin))
	}
}

func (r *reading) noJSON(at Origin, input int64, err error) {
	r.stopped = true
	r.bad.add(notJSON(at, input, err))
}

// large reads a document that is larger than a block. What is in it counts once all
// of it is known to be well-formed, and to be a list.
func (r *reading) large(s *stream, at Origin, begin int64) {
	f := s.large(at)
	ended := s.at
	tail := &block{base: s.block.base + int64(ended), text: bytes.Clone(s.block.text[ended:])}
	r.give(s.block)
	s.block, s.at = tail, 0
	tasks := r.order
	r.order = nil
	input, wrong := f.check()
	valid := utf8.Valid(f.text)
	for _, t := range tasks {
		<-t.done
		for _, x := range t.found {
			valid = valid && x.kind != foundBytes
			if x.kind == foundNoJSON && (wrong == nil || errors.Is(wrong, io.ErrUnexpectedEOF) || x.input <= input) {
				wrong, input = x.err, x.input
			}
		}
	}
	switch {
	case wrong != nil && errors.Is(wrong, io.ErrUnexpectedEOF):
		r.cutOff(s, at, begin)
		return
	case wrong != nil:
		r.noJSON(at, input, wrong)
		return
	case !valid:
		r.bad.add(&Error{Origin: at, Want: "UTF-8"})
		return
	}
	var h header
	if f.text[0] == '{' {
		var whole splitter
		whole.split(at, bytes.Clone(f.text), "", 0)
		if err := Unmarshal(f.text, &h); err != nil || !h.isList() || h.Items == nil {
			r.join(&whole)
			return
		}
		r.pages = append(r.pages, page{at, h.APIVersion + " " + h.Kind, h.Metadata.Continue != ""})
	}
	r.commit(tasks, &h)
}

// commit adds what was found in tasks, in their order; of is the list, if any.
func (r *reading) commit(tasks []*task, of *header) {
	count := 0
	for _, t := range tasks {
		<-t.done
		for i := range t.pods {
			if !t.pods[i].finished {
				count++
			}
		}
	}
	if pods := &r.builder.dump.Snapshot.Pods; of != nil && count > 0 {
		*pods = slices.Grow(*pods, count)
	}
	for _, t := range tasks {
		for i := range t.found {
			if !r.stopped {
				r.add(t, &t.found[i], of)
			}
		}
		t.found, t.pods, t.nodes = nil, nil, nil
	}
}

func (r *reading) add(t *task, x *found, of *header) {
	switch x.kind {
	case foundPod, foundNode:
		r.builder.take(t, x)
	case foundSplit:
		r.join(x.split)
	case foundItem:
		r.split(x.at, x.text, of.listKind(), 1)
		r.build()
	case foundBytes:
		r.bad.add(&Error{Origin: x.at, Want: "UTF-8"})
	case foundNoJSON:
		r.noJSON(x.at, x.input, x.err)
	}
}

// join adds what was split.
func (r *reading) join(s *splitter) {
	r.splitter.join(s)
	r.build()
}

// build adds the objects that were split to the dump.
func (r *reading) build() {
	for i := range r.objects {
		r.builder.add(&r.objects[i])
	}
	r.objects = r.objects[:0]
}

// splitting is what the next unit is split into: the last that was, unless something else was found behind it.
func (t *task) splitting() *splitter {
	if last := len(t.found) - 1; last < 0 || t.found[last].kind != foundSplit {
		t.found = append(t.found, found{kind: foundSplit, split: &splitter{}})
	}
	return t.found[len(t.found)-1].split
}

// fewUnits is how many units of a block room is made for before they are read: each of a pod is some hundred bytes.
const fewUnits = 1 << 10

// task reads the units of t.
func (l *lean) task(t *task) {
	t.found = make([]found, 0, min(len(t.block.units), fewUnits))
	t.pods = make([]podRead, 0, min(len(t.block.units), fewUnits))
	for _, u := range t.block.units {
		text := t.block.text[u.start:u.end]
		if !l.object(t, u.at, text, u.listKind) {
			l.split(t, &u, text)
		}
	}
}

// object reads text if it is a pod or a node, and there is nothing to say about it.
func (l *lean) object(t *task, at Origin, text []byte, listKind string) bool {
	version, kind := headOf(text)
	if kind != "" {
		listKind = version + " " + kind
	}
	if crowded(text) {
		return false
	}
	switch listKind {
	case "v1 Pod":
		n := len(t.pods)
		t.pods = append(t.pods, podRead{})
		if l.pod(text, &t.pods[n]) {
			t.found = append(t.found, found{kind: foundPod, at: at, index: n})
			return true
		}
		t.pods = t.pods[:n]
	case "v1 Node":
		if n, ok := l.node(text); ok {
			t.nodes = append(t.nodes, n)
			t.found = append(t.found, found{kind: foundNode, at: at, index: len(t.nodes) - 1})
			return true
		}
	}
	return false
}

// wrong is what is wrong with u, which is no JSON, in its place in text; and where.
func (u *unit) wrong(text []byte) (at int64, err error) {
	before := ""
	if u.at.Item > 0 {
		before = "[0,"
	}
	var value json.RawMessage
	err = json.NewDecoder(io.MultiReader(strings.NewReader(before), bytes.NewReader(text[u.start:]))).Decode(&value)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at = int64(u.start-len(before)) + syntax.Offset
	}
	return at, err
}

// split takes a unit apart into objects.
func (l *lean) split(t *task, u *unit, text []byte) {
	if !json.Valid(text) {
		at, err := u.wrong(t.block.text)
		t.found = append(t.found, found{kind: foundNoJSON, at: u.at, err: err, input: t.block.base + at})
		return
	}
	if !utf8.Valid(text) {
		t.found = append(t.found, found{kind: foundBytes, at: u.at})
		return
	}
	text = bytes.Clone(text)
	var h header
	if u.guess && Unmarshal(text, &h) == nil && h.Kind == "" {
		t.found = append(t.found, found{kind: foundItem, at: u.at, text: text})
		return
	}
	depth := 0
	if u.at.Item > 0 {
		depth = 1
	}
	all := t.splitting()
	before := len(all.objects)
	all.split(u.at, text, u.listKind, depth)
	objects := slices.Clone(all.objects[before:])
	all.objects = all.objects[:before]
	for i := range objects {
		if o := &objects[i]; o.APIVersion != "v1" || !l.object(t, o.Origin, o.JSON, "v1 "+o.Kind) {
			s := t.splitting()
			s.objects = append(s.objects, *o)
		}
	}
}
