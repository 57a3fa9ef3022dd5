package simulator

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/preempt-go/preempt/preemption"
)

// table is a file of recorded data, gzipped CSV: rows by column. What is wrong with it is
// noted, for the reader to look at in the end.
type table struct {
	name    string
	columns map[string]int
	rows    [][]string
	err     error
}

func readTable(folder, name string) *table {
	t := &table{name: name, columns: map[string]int{}}
	f, err := os.Open(filepath.Join(folder, filepath.FromSlash(name)))
	if err != nil {
		t.err = fmt.Errorf("simulator: the recorded data: %w", err)
		return t
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.err = fmt.Errorf("simulator: %s: %w", name, err)
		return t
	}
	rows, err := csv.NewReader(z).ReadAll()
	if err != nil || len(rows) == 0 {
		t.err = fmt.Errorf("simulator: %s: no table: %w", name, err)
		return t
	}
	t.rows = rows[1:]
	for i, column := range rows[0] {
		t.columns[column] = i
	}
	return t
}

func (t *table) text(row []string, column string) string {
	i, ok := t.columns[column]
	if !ok {
		t.err = fmt.Errorf("simulator: %s has no column %q", t.name, column)
		return ""
	}
	return row[i]
}

// number is 0 where the field is empty.
func (t *table) number(row []string, column string) int64 {
	text := t.text(row, column)
	if text == "" {
		return 0
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.err = fmt.Errorf("simulator: %s: %s: %w", t.name, column, err)
	}
	return v
}

func (t *table) seconds(row []string, column string) time.Duration {
	return time.Duration(t.number(row, column)) * time.Second
}

// amounts are the columns of CPU and memory, by name of the resource.
func (t *table) amounts(row []string, cpu, memory string) preemption.Resources {
	return preemption.Resources{"cpu": t.number(row, cpu), "memory": t.number(row, memory)}
}
