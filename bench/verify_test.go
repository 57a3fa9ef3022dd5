package bench_test

import (
	"fmt"
	"testing"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// agreeing is a constraint that every pod meets everywhere: with it a question takes the
// plain road, trial by trial, since no shortcut knows what it will say.
type agreeing struct{}

func (agreeing) Name() domain.Check                                           { return "agreeing" }
func (agreeing) Prepare(*cluster.Index, []*cluster.Pod) (domain.State, error) { return agreeing{}, nil }
func (agreeing) Remove(cluster.PodID, cluster.NodeID)                         {}
func (agreeing) Return(cluster.PodID, cluster.NodeID)                         {}
func (agreeing) Place(domain.MemberID, cluster.NodeID)                        {}
func (agreeing) Unplace(domain.MemberID, cluster.NodeID)                      {}
func (agreeing) Fits(domain.MemberID, cluster.NodeID) domain.Reason           { return domain.Reason{} }
func (agreeing) Clone() domain.State                                          { return agreeing{} }
func (agreeing) Scope() domain.Scope                                          { return domain.Scope{NodeLocal: true, Monotone: true} }

// BenchmarkVerify is one look over an answer (of=verify), beside what it takes to answer,
// from the snapshot to the result: with every shortcut (of=answer), and by trials (of=plain).
func BenchmarkVerify(b *testing.B) {
	plain := preemption.Options{Hooks: &preemption.Hooks{Constraints: []domain.Constraint{agreeing{}}}}
	for _, s := range sizes() {
		for _, q := range questions {
			b.Run(fmt.Sprintf("case=%s/%s", q.name, s), func(b *testing.B) {
				snap, p := q.ask(s)
				benchmarkVerify(b, &snap, p, plain)
			})
		}
		for _, q := range gangQuestions[:3] {
			b.Run(fmt.Sprintf("case=gang-%s/%s", q.name, s), func(b *testing.B) {
				snap, p := q.ask(s, min(q.members, s.nodes/2))
				benchmarkVerify(b, &snap, p, plain)
			})
		}
	}
}

func benchmarkVerify(b *testing.B, snap *preemption.Snapshot, p preemption.Preemptor, plain preemption.Options) {
	r, err := preemption.Preempt(p, snap)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("of=verify", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if problems := check.Verify(snap, preemption.Options{}, p, r); len(problems) > 0 {
				b.Fatal(problems[0])
			}
		}
	})
	for i, o := range []preemption.Options{{}, plain} {
		b.Run([]string{"of=answer", "of=plain"}[i], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := o.Preempt(p, snap); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
