package genopts_test

import (
	"fmt"

	"github.com/preempt-go/preempt/internal/genopts"
)

func ExampleRandom() {
	o := genopts.Random(2)
	fmt.Println(o.Rules, o.Prefer, o.Objective)
	// Output: KEP5710Alpha  [violations overruns]
}
