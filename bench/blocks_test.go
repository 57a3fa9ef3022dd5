package bench_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// countedAside makes the call of that seed in processes of their own, which leave what ran where they end: one before the
// call, one after it.
func countedAside(t *testing.T, seed uint64) (d drawnCall) {
	_, before := runAside(t, seed, "before")
	out, after := runAside(t, seed, "after")
	_, err := fmt.Sscan(out, &d.took)
	require.NoError(t, err, out)
	_, d.name, _ = strings.Cut(strings.TrimSpace(out), " ")
	d.blocks = after - before
	return d
}

// runAside is what a process says, and how many blocks of code it ran.
func runAside(t *testing.T, seed uint64, end string) (string, uint64) {
	dir := t.TempDir()
	c := exec.Command(os.Args[0], "-test.run=^TestScan$", "-test.timeout=0", "-scan=1", "-scan.end="+end,
		fmt.Sprint("-scan.seed=", seed), fmt.Sprint("-scan.nodes=", *scanNodes))
	c.Env = append(os.Environ(), "GOCOVERDIR="+dir, "GOMAXPROCS=1")
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
	files, err := filepath.Glob(filepath.Join(dir, "covcounters.*"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	counters, err := os.ReadFile(files[0])
	require.NoError(t, err)
	return string(out), numBlocks(t, bytes.NewBuffer(counters))
}

// numBlocks is how many blocks of code have run, by what -covermode counts.
//
// Source: package internal/coverage of Go's standard library, "counter data file": a header, how many functions follow, and
// how many bytes of names and arguments before them; of a function the number of blocks, two numbers that name it, and how
// often each block has run.
func numBlocks(t *testing.T, file *bytes.Buffer) (n uint64) {
	file.Next(32)
	var segment struct {
		Functions        uint64
		Names, Arguments uint32
	}
	require.NoError(t, binary.Read(file, binary.LittleEndian, &segment))
	file.Next(int(segment.Names + segment.Arguments))
	next := func() uint64 {
		v, err := binary.ReadUvarint(file)
		require.NoError(t, err)
		return v
	}
	for range segment.Functions {
		blocks := next()
		next()
		next()
		for range blocks {
			n += next()
		}
	}
	return n
}
