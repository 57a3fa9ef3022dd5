package main

import (
	"context"
	"strings"
	"testing"
)

// TestComparison runs every case small: the sides must agree before they are timed.
func TestComparison(t *testing.T) {
	for _, name := range caseNames() {
		var out strings.Builder
		c := comparison{nodes: 30, pods: 6, rounds: 1, seed: 1, out: &out}
		if err := c.run(context.Background(), name); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !strings.Contains(out.String(), "agreed") || strings.Count(out.String(), "\n") < 5 {
			t.Errorf("%s: printed\n%s", name, out.String())
		}
	}
	c := comparison{nodes: 30, pods: 6, rounds: 1, seed: 1}
	if err := c.run(context.Background(), "no such case"); err == nil {
		t.Error("a case that does not exist: no error")
	}
}
