package bench_test
import ("testing";"github.com/preempt-go/preempt/preemption/cluster")
func TestZZ(t *testing.T) {
	b := &testing.B{}
	pl := shapesPlanner(b, 5000, 0)
	p := gang(256, 4_000)
	for i := range p.Pods {
		p.Pods[i].Requests[cluster.CPU] = 4_000 + int64(i%8)*16_000/8
	}
	mustPreempt(b, pl, p)
}
