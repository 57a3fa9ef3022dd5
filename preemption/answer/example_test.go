package answer_test

import (
	"encoding/json"
	"fmt"
	"log"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
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

// A search that was cut short says how much better another answer could be.
func ExampleResult_Gap() {
	r := answer.Result{
		Score: []answer.Criterion{{Name: "highest priority", Value: 10}, {Name: "pods", Value: 7}},
		Bound: []answer.Criterion{{Name: "highest priority", Value: 10}, {Name: "pods", Value: 5}},
	}
	gap, known := r.Gap()
	fmt.Println(gap, known)
	// Output:
	// {pods 2} true
}

func TestGapIsOfTheFirstThatDiffers(t *testing.T) {
	list := func(values ...int64) (list []answer.Criterion) {
		for i, v := range values {
			list = append(list, answer.Criterion{Name: fmt.Sprint(i), Value: v})
		}
		return list
	}
	for _, tt := range []struct {
		score, bound []answer.Criterion
		gap          answer.Criterion
		known        bool
	}{
		{score: list(1, 2)},
		{bound: list(1), known: true},
		{list(1, 2), list(1, 2), answer.Criterion{}, true},
		{list(1, 2, 9), list(1, 2), answer.Criterion{}, true},
		{list(1, 9, 0), list(1, 2, 7), answer.Criterion{Name: "1", Value: 7}, true},
		{list(math.MaxInt64), list(math.MinInt64), answer.Criterion{Name: "0", Value: math.MaxInt64}, true},
	} {
		gap, known := (&answer.Result{Score: tt.score, Bound: tt.bound}).Gap()
		require.Equal(t, tt.gap, gap)
		require.Equal(t, tt.known, known)
	}
}

func TestAReasonInWords(t *testing.T) {
	for want, r := range map[string]answer.Reason{
		"fits":                               {Detail: "x"},
		"n1: cpu short by 5":                 {Node: "n1", Check: domain.CheckResource, Resource: "cpu", Missing: 5, Detail: "x"},
		"no room for 1 member anywhere":      {Check: domain.CheckSlots, Missing: 1, Detail: "x"},
		"n1: no room for 2 members anywhere": {Node: "n1", Check: domain.CheckSlots, Missing: 2},
		"node name n2":                       {Check: domain.CheckNodeName, Detail: "n2"},
		"n1: node name":                      {Node: "n1", Check: domain.CheckNodeName, Resource: "cpu", Missing: 3},
	} {
		require.Equal(t, want, r.String())
	}
}
