package bench_test

import (
	"fmt"
	"testing"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/victims"
)

// BenchmarkVerify is one look over an answer, beside what the answer took for itself by
// trials on every node (of=answer, from the snapshot to the result).
func BenchmarkVerify(b *testing.B) {
	plain := preemption.Options{Hooks: &preemption.Hooks{Compare: victims.Ranking{}}} // no columns then
	for _, q := range questions {
		for _, s := range sizes() {
			snap, p := q.ask(s)
			r, err := preemption.Preempt(p, &snap)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("case=%s/%s/of=verify", q.name, s), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if problems := check.Verify(&snap, preemption.Options{}, p, r); len(problems) > 0 {
						b.Fatal(problems[0])
					}
				}
			})
			b.Run(fmt.Sprintf("case=%s/%s/of=answer", q.name, s), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := plain.Preempt(p, &snap); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
