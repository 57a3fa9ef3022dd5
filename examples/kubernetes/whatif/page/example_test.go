package page_test

import (
	"bytes"
	"fmt"
	"log"
	"strings"

	"github.com/preempt-go/preempt/examples/kubernetes/whatif/page"
	"github.com/preempt-go/preempt/preemption"
)

func Example() {
	urgent := int32(1000)
	web := preemption.Pod{Namespace: "shop", Name: "web", Priority: &urgent, Requests: preemption.Resources{"cpu": 3000}}
	s := &preemption.Snapshot{
		Nodes: []preemption.Node{{Name: "n1", Allocatable: preemption.Resources{"cpu": 4000, "pods": 10}}},
		Pods:  []preemption.Pod{{Namespace: "batch", Name: "old", Node: "n1", Requests: preemption.Resources{"cpu": 2000}}, web},
	}
	r, err := preemption.Preempt(preemption.Preemptor{Kind: preemption.KindPod, Namespace: "shop", Name: "web"}, s)
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	p := page.Page{
		Title: "pod shop/web", Told: []byte("<p>" + r.Message + "</p>"), Snapshot: s, Result: r, Asking: []preemption.Pod{web},
		Priority: func(p *preemption.Pod) int32 {
			if p.Priority == nil {
				return 0
			}
			return *p.Priority
		},
		Amount: func(_ string, n int64) string { return fmt.Sprint(n) },
		WhyNot: func(string) string { return "" },
	}
	if err := p.Write(&file); err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(file.String()) {
		if strings.Contains(line, "<p>fits") {
			fmt.Print(line)
		}
	}
	// Output: <p>fits on n1 once 1 pod is evicted</p>
}
