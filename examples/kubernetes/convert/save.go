package convert

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/preempt-go/preempt/examples/kubernetes/internal/pack"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// savedMagic begins a saved dump; its number is that of the form.
const savedMagic = "preempt cluster 1\n"

// saved is what is saved of a Dump.
type saved struct {
	Snapshot cluster.Snapshot

	Templates         []savedTemplate
	Ends              []savedEnd // by name
	Objects, Finished int
	Ignored, Unread   map[string]int
	NotRead           map[string]int
	Problems          []string
	Warnings          []string
}

// savedEnd is when a pod ends.
type savedEnd struct {
	Pod string // namespace/name
	At  time.Time
}

// savedTemplate is a Template; its spec is JSON.
type savedTemplate struct {
	Kind, Namespace, Name, Part, UID string
	Replicas, Count                  int
	Spec                             string
}

// Save writes d in a compact form, which [Loader.Read] reads a good deal faster than what d was made
// from: the same cluster, but that complaints about its objects name the saved file alone.
func (d *Dump) Save(w io.Writer) error {
	out := saved{Snapshot: d.Snapshot, Objects: d.Objects, Finished: d.Finished, Ignored: d.Ignored, Unread: d.Unread, NotRead: d.NotRead}
	for i := range d.Templates {
		t := &d.Templates[i]
		spec, err := json.Marshal(&t.Spec)
		if err != nil {
			return err
		}
		out.Templates = append(out.Templates, savedTemplate{t.Kind, t.Namespace, t.Name, t.Part, t.UID, t.Replicas, t.Count, string(spec)})
	}
	for _, name := range sortedKeys(d.Ends) {
		out.Ends = append(out.Ends, savedEnd{name, d.Ends[name]})
	}
	out.Problems, out.Warnings = texts(d.Problems), texts(d.Warnings)
	return pack.Write(w, savedMagic, &out)
}

func texts(errs []error) (list []string) {
	for _, err := range errs {
		list = append(list, err.Error())
	}
	return list
}

func errorsOf(texts []string) (list []error) {
	for _, text := range texts {
		list = append(list, errors.New(text))
	}
	return list
}

// errSaved is the error of a saved dump among other inputs.
var errSaved = errors.New("a saved cluster is read alone, and others were given with it")

// readSaved reads what Save wrote.
func (l *Loader) readSaved(name string, in io.Reader) error {
	at := Origin{File: name}
	if l.saved != nil || l.builder.dump.Objects > 0 {
		return &Error{Origin: at, Err: errSaved}
	}
	s, err := pack.Read[saved](in, savedMagic)
	switch {
	case errors.Is(err, pack.ErrTypes), errors.Is(err, pack.ErrMagic):
		return &Error{Origin: at, Err: errors.New("the cluster was saved by another release: save it again from its dump")}
	case err != nil:
		return &Error{Origin: at, Err: fmt.Errorf("the saved cluster cannot be read: %w", err)}
	}
	d := &Dump{
		Snapshot: s.Snapshot, Objects: s.Objects, Finished: s.Finished, Ignored: s.Ignored, Unread: s.Unread, NotRead: s.NotRead,
		Problems: errorsOf(s.Problems), Warnings: errorsOf(s.Warnings), file: name,
	}
	for i := range s.Templates {
		t := &s.Templates[i]
		var spec corev1.PodTemplateSpec
		if err := Unmarshal([]byte(t.Spec), &spec); err != nil {
			return &Error{Origin: at, Kind: t.Kind, Namespace: t.Namespace, Name: t.Name, Err: fmt.Errorf("the saved cluster cannot be read: %w", err)}
		}
		d.Templates = append(d.Templates, Template{t.Kind, t.Namespace, t.Name, t.Part, t.UID, spec, at, t.Replicas, t.Count})
	}
	d.Ends = make(map[string]time.Time, len(s.Ends))
	for _, e := range s.Ends {
		d.Ends[e.Pod] = e.At
	}
	if d.Ignored == nil {
		d.Ignored = map[string]int{}
	}
	if d.NotRead == nil {
		d.NotRead = map[string]int{}
	}
	if d.Unread == nil {
		d.Unread = map[string]int{}
	}
	l.saved = d
	return nil
}

// beginsAsSaved looks at the beginning of in, and leaves it there.
func beginsAsSaved(in *bufio.Reader) bool {
	return pack.Begins(in, savedMagic[:len("preempt cluster")])
}

// savedDump is the saved dump as options want it.
func (l *Loader) savedDump() (*Dump, error) {
	d := l.saved
	if !l.options.Now.IsZero() {
		d.Snapshot.Time = l.options.Now
	}
	if l.options.Strict && len(d.Warnings) > 0 {
		var list []error
		for _, w := range d.Warnings {
			list = append(list, &Error{Origin: Origin{File: d.file}, Err: w})
		}
		return d, errors.Join(list...)
	}
	return d, nil
}
