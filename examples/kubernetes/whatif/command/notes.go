package command

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
)

// sampleNote is said first where nothing was given to answer for.
const sampleNote = "There is no input (-f FILE, or a pipe): this is the answer for a sample."

// notes lists what of the input was not read, for machines: everything.
func (c *config) notes(dump *convert.Dump) []string {
	notes := clusterNotes(dump, math.MaxInt)
	if c.sample {
		notes = slices.Insert(notes, 0, sampleNote)
	}
	return notes
}

// clusterNotes are inputNotes of what has to be a whole cluster.
func clusterNotes(dump *convert.Dump, most int) []string {
	notes := inputNotes(dump, most)
	if len(dump.Snapshot.Nodes) == 0 {
		notes = slices.Insert(notes, 0, "the input has no node: kubectl get nodes,pods,... lists them with the rest")
	}
	return notes
}

// inputNotes lists what of the input may matter and was not read, and at most so
// many warnings.
func inputNotes(dump *convert.Dump, most int) []string {
	var notes []string
	for _, field := range slices.Sorted(maps.Keys(dump.Unread)) {
		notes = append(notes, fmt.Sprintf("%s is not read (set in %d pods)", field, dump.Unread[field]))
	}
	for _, field := range slices.Sorted(maps.Keys(dump.NotRead)) {
		notes = append(notes, fmt.Sprintf("%s is not read (set in %d objects)", field, dump.NotRead[field]))
	}
	for _, w := range dump.Warnings[:min(most, len(dump.Warnings))] {
		notes = append(notes, w.Error())
	}
	if n := len(dump.Warnings) - most; n > 0 {
		notes = append(notes, fmt.Sprintf("%d more warnings about the input (-o json lists all)", n))
	}
	if len(dump.Ignored) > 0 {
		notes = append(notes, "objects of other kinds are left out: "+ignored(dump))
	}
	if n := len(dump.Problems); n > 0 {
		notes = append(notes, fmt.Sprintf("%d objects could not be read and were left out", n))
	}
	return notes
}

// ignored counts the objects that were left out, by kind.
func ignored(dump *convert.Dump) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(dump.Ignored)) {
		parts = append(parts, fmt.Sprintf("%d %s", dump.Ignored[kind], kind))
	}
	return strings.Join(parts, ", ")
}

// sorted goes through m in order of its keys.
func sorted[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}
