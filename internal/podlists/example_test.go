package podlists_test

import (
	"fmt"

	"github.com/preempt-go/preempt/internal/podlists"
)

func Example() {
	lists := podlists.New(3, 10)
	lists.Add(7, 2)
	lists.Add(4, 0)
	lists.Add(1, 2)
	lists.Add(7, 2)
	lists.Sort()
	fmt.Println(lists.On(0), lists.On(1), lists.On(2))
	// Output: [4] [] [7 1]
}
