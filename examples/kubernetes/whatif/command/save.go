package command

import (
	"fmt"
	"io"
)

// saveCluster writes what was read in the compact form.
func (c *config) saveCluster(stdin io.Reader, stdout, stderr io.Writer) error {
	p := startProgress(stderr)
	defer p.stop()
	dump, err := c.cluster(stdin, stderr, p)
	if err != nil {
		return err
	}
	p.doing(func() string { return "saving" })
	if err := replaceFile(c.save, dump.Save); err != nil {
		return fmt.Errorf("-save: %w", err)
	}
	if c.sample {
		fmt.Fprintln(stdout, "There is no input (-f FILE, or a pipe): a sample is saved.")
	}
	_, err = fmt.Fprintf(stdout, "%s: %d nodes and %d pods saved; -f %s reads them.\n", c.save, len(dump.Snapshot.Nodes), len(dump.Snapshot.Pods), c.save)
	return err
}
