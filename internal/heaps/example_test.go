package heaps_test

import (
	"cmp"
	"fmt"

	"github.com/preempt-go/preempt/internal/heaps"
)

func Example() {
	byValue := func(a, b *int) int { return cmp.Compare(*a, *b) }
	h := []int{5, 2, 8}
	heaps.Init(h, byValue)
	h = heaps.Push(h, 1, byValue)
	for len(h) > 0 {
		fmt.Print(h[0], " ")
		h = heaps.Pop(h, byValue)
	}
	// Output: 1 2 5 8
}
