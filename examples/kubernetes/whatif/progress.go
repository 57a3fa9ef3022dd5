package main

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// progress tells on a terminal what goes on while something takes long.
type progress struct {
	quit, done chan struct{}
}

// startProgress writes what text says to w every two seconds, for the first time
// after two seconds, until stop is called.
func startProgress(w io.Writer, text func() string) *progress {
	p := &progress{quit: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		ticker := time.NewTicker(2 * time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-p.quit:
				return
			case <-ticker.C:
				fmt.Fprintln(w, "whatif:", text())
			}
		}
	}()
	return p
}

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
