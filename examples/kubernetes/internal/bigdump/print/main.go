// Command print writes a dump of a large cluster to standard output.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/preempt-go/preempt/examples/kubernetes/internal/bigdump"
)

func main() {
	nodes := flag.Int("nodes", 5_000, "`NUMBER` of nodes")
	pods := flag.Int("pods", 150_000, "`NUMBER` of running pods")
	flag.Parse()
	if err := bigdump.Write(os.Stdout, *nodes, *pods); err != nil {
		fmt.Fprintln(os.Stderr, "print:", err)
		os.Exit(1)
	}
}
