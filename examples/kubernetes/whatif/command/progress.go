package command

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// progress tells on standard error what goes on while something takes long.
type progress struct {
	text       atomic.Pointer[func() string]
	quit, done chan struct{}
}

// startProgress writes what goes on to w every two seconds, for the first time
// after two seconds, until stop is called; the same is not said twice in a row.
func startProgress(w io.Writer) *progress {
	p := &progress{quit: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		ticker := time.NewTicker(2 * time.Second)
		defer ticker.Stop()
		said := ""
		for {
			select {
			case <-p.quit:
				return
			case <-ticker.C:
				if text := p.text.Load(); text != nil {
					said = say(w, said, (*text)())
				}
			}
		}
	}()
	return p
}

// say writes text unless it was said just before, and returns it.
func say(w io.Writer, said, text string) string {
	if text != said {
		fmt.Fprintln(w, "whatif:", text)
	}
	return text
}

// doing says what goes on from now on; text is called from another goroutine.
func (p *progress) doing(text func() string) { p.text.Store(&text) }

// stop returns when nothing more will be written.
func (p *progress) stop() {
	close(p.quit)
	<-p.done
}

// counter counts what is read through it.
type counter struct {
	r io.Reader
	n atomic.Int64
}

// Read reads from the reader underneath.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

func (c *counter) megabytes() int64 { return c.n.Load() >> 20 }
