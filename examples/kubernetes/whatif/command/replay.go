package command

import (
	"errors"
	"fmt"
	"io"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/preemption/record"
)

// replayJournal makes the calls of a journal again, which may be gzipped. The error may be
// that an answer is another one than was recorded.
func (c *config) replayJournal(stdin io.Reader, stdout, _ io.Writer) error {
	in, err := open(c.replay, stdin)
	if err != nil {
		return err
	}
	defer in.Close()
	text, err := convert.Unzip(in, c.unpacked)
	if err != nil {
		return err
	}
	report, err := record.Replay(text, nil)
	if err != nil {
		err = fmt.Errorf("%s: %w", c.replay, err)
	}
	if report == nil {
		return err
	}
	if d := report.Difference; d != nil {
		return errors.Join(err, fmt.Errorf("%s: %s", c.replay, d))
	}
	_, err2 := fmt.Fprintf(stdout, "calls made again: %d; each answer is the one that was recorded\n", report.Calls)
	return errors.Join(err, err2)
}
