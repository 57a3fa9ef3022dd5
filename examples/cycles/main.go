// Command cycles looks for workloads that evict each other for ever, on a small closed
// cluster: go run ./examples/cycles, or with -f model.json for a model of your own.
//
// The file is a [check.Model] as JSON, with the [preemption.Options] under "options":
// sample.json, which is asked without a file, has two pods of equal priority that take
// turns after a minute each. The exit status is 1 if there is a cycle, 2 for a file
// that cannot be read.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
)

//go:embed sample.json
var sample []byte

// file is what is read.
type file struct {
	check.Model
	Options preemption.Options `json:"options"`
}

func main() {
	name := flag.String("f", "", "a model, as JSON; without it an embedded sample")
	flag.Parse()
	os.Exit(run(*name, os.Stdout, os.Stderr))
}

func run(name string, stdout, stderr io.Writer) (status int) {
	text := sample
	if name != "" {
		var err error
		if text, err = os.ReadFile(name); err != nil {
			fmt.Fprintln(stderr, "cycles:", err)
			return 2
		}
	}
	report, err := look(text, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "cycles:", err)
		return 2
	}
	fmt.Fprintln(stdout, report)
	if report.Verdict == check.Cycles {
		return 1
	}
	return 0
}

func look(text []byte, stderr io.Writer) (*check.Report, error) {
	var f file
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(&f); err != nil {
		return nil, err
	}
	if in.More() {
		return nil, errors.New("there is more after the model")
	}
	f.Policy = f.Options
	begin := time.Now()
	f.Progress = func(seen, ahead int) {
		if time.Since(begin) > 2*time.Second {
			fmt.Fprintf(stderr, "%d situations seen, %d ahead\n", seen, ahead)
		}
	}
	return f.Check()
}
