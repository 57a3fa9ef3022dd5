package record

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"

	"github.com/preempt-go/preempt/preemption"
)

// Recorder is a planner that writes down what it is asked and told. It is safe for concurrent
// use: its calls are made one after the other, in the order of the journal. Hooks must not
// call it.
type Recorder struct {
	mu      sync.Mutex
	planner *preemption.Planner
	out     io.Writer
	err     error // of writing: nothing is recorded any more
}

// New is [preemption.NewPlanner], recorded on w from the beginning. Each line is written at once,
// so that a program that ends without notice leaves a journal but for its last line.
func New(w io.Writer, s *preemption.Snapshot, o preemption.Options) (*Recorder, error) {
	pl, err := preemption.NewPlanner(s, o)
	if err != nil {
		return nil, err
	}
	rec := &Recorder{planner: pl, out: w}
	rec.begin(s, o)
	return rec, rec.err
}

// Wrap records pl, a planner under options o, from now on: from its snapshot, see the package.
func Wrap(w io.Writer, pl *preemption.Planner, o preemption.Options) (*Recorder, error) {
	rec := &Recorder{planner: pl, out: w}
	rec.begin(pl.Snapshot(), o)
	return rec, rec.err
}

// Save writes a planner under options o as a journal without calls. [Replay] reads it.
func Save(w io.Writer, pl *preemption.Planner, o preemption.Options) error {
	_, err := Wrap(w, pl, o)
	return err
}

// Planner is the planner that is recorded, for what needs no record: [preemption.Planner.View],
// Snapshot, Fork and Gather. A change that is made on it is missing in the journal.
func (rec *Recorder) Planner() *preemption.Planner { return rec.planner }

// Err is why nothing is recorded any more, nil if all is well. The planner goes on.
func (rec *Recorder) Err() error {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return rec.err
}

func (rec *Recorder) begin(s *preemption.Snapshot, o preemption.Options) {
	if s == nil {
		s = &preemption.Snapshot{}
	}
	rec.write(header{Journal: version, Options: o, Hooks: o.Hooks.Decide(), Snapshot: s})
}

// write writes v as a line.
func (rec *Recorder) write(v any) {
	if rec.err != nil {
		return
	}
	text, err := json.Marshal(v)
	if err == nil {
		_, err = rec.out.Write(append(text, '\n'))
	}
	if err != nil {
		rec.err = fmt.Errorf("record: %w", err)
	}
}

// call calls a method of the planner, and writes it down.
func (rec *Recorder) call(name string, args ...any) []reflect.Value {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	l := rec.newLine(name, args) // before the call: the planner takes what it is given
	out := invoke(rec.planner, name, args)
	rec.write(l.told(out))
	return out
}

// stoppable is call of the method that ends with ctx.
func (rec *Recorder) stoppable(ctx context.Context, name string, args ...any) []reflect.Value {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if ctx == nil {
		ctx = context.Background()
	}
	l := rec.newLine(name, args)
	out := invoke(rec.planner, name+"Context", append([]any{ctx}, args...))
	if err := failed(out); err == nil || ctx.Err() == nil {
		rec.write(l.told(out))
	}
	return out
}

func invoke(pl *preemption.Planner, name string, args []any) []reflect.Value {
	in := make([]reflect.Value, len(args))
	for i, a := range args {
		in[i] = reflect.ValueOf(a)
	}
	return reflect.ValueOf(pl).MethodByName(name).Call(in)
}

// newLine is the line of a call that is not answered yet.
func (rec *Recorder) newLine(name string, args []any) *line {
	l := &line{Call: name}
	for _, a := range args {
		text, err := json.Marshal(a)
		if err != nil && rec.err == nil { // a time that JSON does not have
			rec.err = fmt.Errorf("record: %s: %w", name, err)
		}
		if replaced(text) && rec.err == nil {
			rec.err = fmt.Errorf("record: %s: a text that is not UTF-8, which JSON does not have", name)
		}
		l.Args = append(l.Args, text)
		if r, ok := a.(*preemption.Result); ok && r != nil {
			l.Inline = r.Preemptor.Inline
		}
	}
	return l
}

// replaced reports whether something in text, which is JSON, was no UTF-8: a replacement
// character that somebody has written is not escaped.
func replaced(text []byte) bool {
	return strings.Contains(strings.ReplaceAll(string(text), `\\`, ""), `\ufffd`)
}

// told is l with its answer.
func (l *line) told(out []reflect.Value) *line {
	if err := failed(out); err != nil {
		l.Error = err.Error()
	}
	if out[0].Type() != reflect.TypeFor[error]() {
		l.Answer, _ = json.Marshal(out[0].Interface()) // plain structs
	}
	return l
}

// failed is the error among the results of a call.
func failed(out []reflect.Value) error {
	err, _ := out[len(out)-1].Interface().(error)
	return err
}

// answered is what a call returns, with its error.
func answered[T any](out []reflect.Value) (T, error) {
	v, _ := out[0].Interface().(T)
	return v, failed(out)
}
