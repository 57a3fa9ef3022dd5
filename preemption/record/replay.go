package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"

	"github.com/preempt-go/preempt/preemption"
)

// Report is what came of a journal.
type Report struct {
	Planner    *preemption.Planner // as it is after the last call
	Options    preemption.Options  // with the hooks that were given
	Calls      int                 // that were made again
	Difference *Difference         // the first, after which nothing was played; nil: there is none
}

// Difference is where a replayed call differs from what was recorded.
type Difference struct {
	Line               int // of the journal
	Call               string
	Field              string // "error", or the path of what differs in the answer
	Recorded, Replayed string // as JSON; empty: it is not there
}

// String is the difference as a sentence.
func (d *Difference) String() string {
	return fmt.Sprintf("line %d: %s: %s: recorded %s, replayed %s", d.Line, d.Call, d.Field, known(d.Recorded), known(d.Replayed))
}

func known(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}

// Replay makes the calls of a journal again, up to the first whose answer or error is another
// one than was recorded. hooks are those that it was recorded with; nil: none.
//
// An error is a [*LineError] for what cannot be read, with the report up to there; ErrHooks; or
// that of [preemption.NewPlanner] about the snapshot. A journal that was cut short is played to
// its last whole line.
func Replay(in io.Reader, hooks *preemption.Hooks) (*Report, error) {
	r := &reader{in: bufio.NewReader(in)}
	var first header
	if err := r.next(&first); errors.Is(err, io.EOF) {
		return nil, &LineError{Line: 1, Field: "the journal", Value: "empty", Want: "one: it has no first line", Err: io.ErrUnexpectedEOF}
	} else if err != nil {
		return nil, err
	}
	switch {
	case first.Journal != version:
		return nil, r.wrong("journal", fmt.Sprint(first.Journal), fmt.Sprintf("%d, the form that this release reads", version), nil)
	case first.Snapshot == nil:
		return nil, r.wrong("snapshot", "", "there", nil)
	case first.Hooks && !hooks.Decide():
		return nil, ErrHooks
	}
	report := &Report{Options: first.Options}
	report.Options.Hooks = hooks
	var err error
	if report.Planner, err = preemption.NewPlanner(first.Snapshot, report.Options); err != nil {
		return nil, err
	}
	for report.Difference == nil {
		var l line
		if err := r.next(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return report, err
		}
		args, err := r.arguments(&l)
		if err != nil {
			return report, err
		}
		again := (&line{Call: l.Call}).told(invoke(report.Planner, l.Call, args))
		report.Calls++
		if report.Difference, err = l.compare(again); err != nil {
			return report, r.wrong("answer", "", "JSON", err)
		}
		if d := report.Difference; d != nil {
			d.Line = r.at
		}
	}
	return report, nil
}

// arguments are those of l for the method of the planner that it names.
func (r *reader) arguments(l *line) ([]any, error) {
	_, recorded := reflect.TypeFor[*Recorder]().MethodByName(l.Call)
	method, there := reflect.TypeFor[*preemption.Planner]().MethodByName(l.Call)
	if !recorded || !there || method.Type.NumIn() > 1 && method.Type.In(1).Kind() == reflect.Interface { // with a context
		return nil, r.wrong("call", fmt.Sprintf("%q", l.Call), "a method of a planner that is recorded", nil)
	}
	if want := method.Type.NumIn() - 1; len(l.Args) != want {
		return nil, r.wrong("args", fmt.Sprint(len(l.Args)), fmt.Sprintf("%d, as %s takes", want, l.Call), nil)
	}
	args := make([]any, len(l.Args))
	for i, text := range l.Args {
		typ := method.Type.In(i + 1)
		v := reflect.New(typ)
		if err := strict(text, v.Interface()); err != nil {
			return nil, r.wrong(fmt.Sprintf("args[%d]", i), "", "a "+typ.String(), err)
		}
		args[i] = v.Elem().Interface()
		if result, ok := args[i].(*preemption.Result); ok && result != nil {
			result.Preemptor.Inline = l.Inline
		}
	}
	return args, nil
}

// compare returns the first difference between l and the same call made again.
func (l *line) compare(again *line) (*Difference, error) {
	if l.Error != again.Error {
		return &Difference{Call: l.Call, Field: "error", Recorded: asText(l.Error), Replayed: asText(again.Error)}, nil
	}
	recorded, err := plain(l.Answer)
	if err != nil {
		return nil, err
	}
	replayed, err := plain(again.Answer)
	if err != nil {
		return nil, err
	}
	d := differ("answer", recorded, replayed)
	if d != nil {
		d.Call = l.Call
	}
	return d, nil
}

// plain is an answer as maps and lists, without the count that is not compared.
func plain(text json.RawMessage) (v any, err error) {
	if len(text) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	forget(v)
	return v, nil
}

// forget takes Stats.Trials out of v.
func forget(v any) {
	switch v := v.(type) {
	case []any: // of Cycle
		for _, x := range v {
			forget(x)
		}
	case map[string]any:
		if stats, ok := v["stats"].(map[string]any); ok {
			delete(stats, "trials")
		}
	}
}

// differ is the first difference between a and b, which are at path; keys come in order.
func differ(path string, a, b any) *Difference {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			break
		}
		both := maps.Clone(x)
		maps.Copy(both, y)
		for _, k := range slices.Sorted(maps.Keys(both)) {
			if d := differ(path+"."+k, x[k], y[k]); d != nil {
				return d
			}
		}
		return nil
	case []any:
		y, ok := b.([]any)
		if !ok {
			break
		}
		for i := range min(len(x), len(y)) {
			if d := differ(fmt.Sprintf("%s[%d]", path, i), x[i], y[i]); d != nil {
				return d
			}
		}
		if len(x) == len(y) {
			return nil
		}
		return &Difference{Field: "the length of " + path, Recorded: fmt.Sprint(len(x)), Replayed: fmt.Sprint(len(y))}
	default:
		if a == b {
			return nil
		}
	}
	return &Difference{Field: path, Recorded: asText(a), Replayed: asText(b)}
}

// asText is v as JSON; empty for what is not there.
func asText(v any) string {
	if v == nil || v == "" {
		return ""
	}
	text, _ := json.Marshal(v) // of JSON
	return string(text)
}
