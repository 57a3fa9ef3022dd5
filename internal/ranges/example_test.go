package ranges_test

import (
	"fmt"

	"github.com/preempt-go/preempt/internal/ranges"
)

func Example() {
	squares := make([]int, 10)
	ranges.Each(len(squares), 3, func(_, first, end int) {
		for i := first; i < end; i++ {
			squares[i] = i * i
		}
	})
	fmt.Println(squares)
	// Output: [0 1 4 9 16 25 36 49 64 81]
}
