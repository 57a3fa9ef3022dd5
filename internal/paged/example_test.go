package paged_test

import (
	"fmt"

	"github.com/preempt-go/preempt/internal/paged"
)

func Example() {
	column := paged.Make[string](1000)
	*column.Edit(7) = "before"
	fork := column.Fork()
	*fork.Edit(7) = "after"
	fmt.Println(*column.At(7), *fork.At(7))
	// Output: before after
}
