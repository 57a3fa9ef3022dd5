package main

import (
	"fmt"
	"os"
)

// The morning that the command prints.
func Example() {
	if err := morning(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 09:00:00 notebook arrives: priority 50, 1 x 2 GPUs for 3h0m0s
	// 09:00:00 notebook runs on a1
	// 09:00:00 sweep arrives: priority 10, 2 x 8 GPUs for 2h0m0s
	// 09:00:00 sweep-0 runs on b1
	// 09:00:00 sweep-1 runs on b2
	// 09:05:00 batch arrives: priority 0, 1 x 8 GPUs for 1h0m0s
	// 09:05:00 batch runs on a2
	// 09:05:00 eval arrives: priority 10, 1 x 6 GPUs for 1h0m0s
	// 09:05:00 eval runs on a1
	// 09:10:00 train arrives: priority 100, 2 x 8 GPUs for 1h0m0s
	// 09:10:00 train all 2 pods of train fit in example.com/rack=b once pod group sweep (2 pods) is evicted
	// 09:10:00 sweep has 30s to leave
	// 09:10:30 sweep has left
	// 09:10:30 train-0 runs on b1
	// 09:10:30 train-1 runs on b2
	// 09:10:30 sweep waits: no evictions help: room for 1 of the 2 pods that sweep needs
	// 09:20:00 c1 is added
	// 09:20:00 c2 is added
	// 09:20:00 sweep-0 runs on c1
	// 09:20:00 sweep-1 runs on c2
	// 09:25:00 urgent arrives: priority 1000, 1 x 4 GPUs for 10m0s
	// 09:25:00 urgent fits on a2 once 1 pod is evicted
	// 09:25:00 batch has 30s to leave
	// 09:25:30 batch has left
	// 09:25:30 urgent runs on a2
	// 09:25:30 batch waits: no evictions help
	// 09:30:00 a2 is drained
	// 09:30:00 urgent has 30s to leave
	// 09:30:30 urgent has left
	// 09:30:30 urgent fits on a1 once 1 pod is evicted
	// 09:30:30 eval has 30s to leave
	// 09:30:30 a2 is gone
	// 09:31:00 eval has left
	// 09:31:00 urgent runs on a1
	// 09:31:00 eval waits: no evictions help
	// 09:40:00 giant arrives: priority 100, 3 x 8 GPUs for 1h0m0s
	// 09:40:00 giant waits: no evictions help: room for 2 of the 3 pods that giant needs
	// 09:41:00 urgent is done
	// 09:41:00 eval runs on a1
	// 09:50:00 c3 is added
	// 09:50:00 giant all 3 pods of giant fit in example.com/rack=c once pod group sweep (2 pods) is evicted
	// 09:50:00 sweep has 30s to leave
	// 09:50:30 sweep has left
	// 09:50:30 giant-0 runs on c1
	// 09:50:30 giant-1 runs on c2
	// 09:50:30 giant-2 runs on c3
	// 09:50:30 sweep waits: no evictions help
	// 10:10:30 train is done
	// 10:10:30 sweep-0 runs on b1
	// 10:10:30 sweep-1 runs on b2
	// 10:41:00 eval is done
	// 10:50:30 giant is done
	// 10:50:30 batch runs on c1
	// 11:50:30 batch is done
	// 12:00:00 notebook is done
	// 12:10:30 sweep is done
}
