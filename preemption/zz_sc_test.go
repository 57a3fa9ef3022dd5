package preemption_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/preempt-go/preempt/internal/scenario"
)

func TestZZSc(t *testing.T) {
	text, _ := os.ReadFile("/tmp/w/g/a.txt")
	s, err := scenario.Parse("a.txt", string(text))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Print(s.Transcript())
}
