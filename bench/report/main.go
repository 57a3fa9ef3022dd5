package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

func main() {
	dir := flag.String("o", "bench", "folder that gets RESULTS.md and its plots")
	note := flag.String("note", "", "a sentence about the circumstances of the measurement")
	flag.Parse()
	input, err := read(flag.Args())
	if err == nil {
		err = write(*dir, input, *note, time.Now())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

// read joins the named files, or takes the standard input.
func read(files []string) ([]byte, error) {
	if len(files) == 0 {
		return io.ReadAll(os.Stdin)
	}
	var all []byte
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		all = append(append(all, text...), '\n')
	}
	return all, nil
}

// write makes the report and the plots that its measurements allow.
func write(dir string, input []byte, note string, now time.Time) error {
	run, err := parse(bytes.NewReader(input))
	if err != nil {
		return err
	}
	plots := []struct {
		name string
		svg  string
	}{{"growth.svg", growth(run)}, {"comparison.svg", comparison(run)}, {"quality.svg", quality(run)}}
	var shown []string
	for _, p := range plots {
		if p.svg == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, p.name), []byte(p.svg), 0o644); err != nil {
			return err
		}
		shown = append(shown, p.name)
	}
	text := results(run, shown, note, now, runtime.Version())
	return os.WriteFile(filepath.Join(dir, "RESULTS.md"), []byte(text), 0o644)
}
