package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/preempt-go/preempt/preemption"
)

// header is the first line of a journal.
type header struct {
	Journal  int                  `json:"journal"` // the version of the form
	Options  preemption.Options   `json:"options"`
	Hooks    bool                 `json:"hooks,omitempty"` // some were set that have a say
	Snapshot *preemption.Snapshot `json:"snapshot"`
}

// version is that of the form of a journal.
const version = 1

// line is any other line: a call.
type line struct {
	Call   string                `json:"call"`
	Args   []json.RawMessage     `json:"args,omitempty"`
	Inline *preemption.Preemptor `json:"inline,omitempty"` // Asked.Inline of the result among Args, which is not marshalled
	Answer json.RawMessage       `json:"answer,omitempty"` // what is returned beside the error
	Error  string                `json:"error,omitempty"`
}

// ErrJournal matches every complaint about a journal.
var ErrJournal = errors.New("record: unreadable journal")

// ErrHooks says that a journal was recorded with hooks, and that none are given to play it.
var ErrHooks = errors.New("record: the journal was recorded with hooks: they have to be given")

// LineError says what cannot be read in a journal; errors.Is(err, ErrJournal) holds for it.
// Err is the reason, if there is one; [io.ErrUnexpectedEOF] where a line is cut short.
type LineError struct {
	Line               int // from 1
	Field, Value, Want string
	Err                error
}

// Error names the line, the field, what is there and what was expected.
func (e *LineError) Error() string {
	text := fmt.Sprintf("record: line %d: %s", e.Line, e.Field)
	if e.Value != "" {
		text += ": " + e.Value
	}
	text += " is not " + e.Want
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Is reports whether target is ErrJournal.
func (e *LineError) Is(target error) bool { return target == ErrJournal }

// Unwrap returns Err.
func (e *LineError) Unwrap() error { return e.Err }

// reader reads a journal line by line.
type reader struct {
	in *bufio.Reader
	at int // the line that was read last
}

// next reads a line, of which it knows every field, into v; io.EOF after the last.
func (r *reader) next(v any) error {
	text, err := r.in.ReadBytes('\n')
	if len(text) == 0 && errors.Is(err, io.EOF) {
		return io.EOF
	}
	r.at++
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("record: line %d: %w", r.at, err)
	}
	whole := err == nil
	if err := strict(text, v); err != nil {
		if !whole {
			return &LineError{Line: r.at, Field: "the line", Value: fmt.Sprintf("%d bytes", len(text)), Want: "whole: the journal is cut short", Err: io.ErrUnexpectedEOF}
		}
		return r.wrong("the line", "", "a call, or at first a snapshot", err)
	}
	return nil
}

// wrong is a complaint about the line that was read last; field is named more exactly if err
// tells.
func (r *reader) wrong(field, value, want string, err error) error {
	var typed *json.UnmarshalTypeError
	if errors.As(err, &typed) && typed.Field != "" {
		field = strings.TrimPrefix(field+"."+typed.Field, "the line.")
	}
	return &LineError{Line: r.at, Field: field, Value: value, Want: want, Err: err}
}

// strict reads text, which is one value, into v.
func strict(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	switch err := d.Decode(v); {
	case errors.Is(err, io.EOF):
		return errors.New("nothing is there")
	case err != nil:
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	return nil
}
