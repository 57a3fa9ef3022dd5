package answer_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/preempt-go/preempt/preemption/answer"
)

// An answer that was kept as JSON tells who has to go and why.
func Example() {
	const kept = `{
		"verdict": "feasible", "message": "fits on n1 once 1 pod is evicted",
		"preemptor": {"kind": "Pod", "namespace": "shop", "name": "web"},
		"domain": "n1", "nominations": [{"pod": {"namespace": "shop", "name": "web"}, "node": "n1"}],
		"victims": [{
			"kind": "Pod", "namespace": "ml", "name": "train", "priority": 10,
			"pods": [{"namespace": "ml", "name": "train", "node": "n1", "priority": 10}],
			"reason": {"node": "n1", "check": "resource", "resource": "cpu", "missing": 500}
		}],
		"violations": 0, "overruns": 0, "stats": {}
	}`
	var r answer.Result
	if err := json.Unmarshal([]byte(kept), &r); err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Verdict, r.Verdict.IsPlan())
	for _, v := range r.Victims {
		fmt.Printf("evict %s: %s\n", v.Name, v.Reason)
	}
	// Output:
	// feasible true
	// evict train: n1: cpu short by 500
}
