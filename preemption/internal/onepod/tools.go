package onepod

import (
	"sync"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// Tools are what a search needs beyond its question. They are reused, since making them
// costs as much as a search.
type Tools struct {
	Trial  *Trial
	Runner *reprieve.Runner
	Tally  *disruption.Ledger // for Overruns
	Sweep  *columns.Sweep     // nil if there are no plain nodes
	scan   *columns.Scan      // likewise
	barred []uint64           // by block of nodes
	short  []uint64           // likewise; see listOdd
	status *[]domain.Reason   // by node; nil until somebody needed it
	key    []byte             // buffer of ask.ShapeKey
	search Search
}

// Borrow returns tools that nobody else uses, for units as they are. They are to be put
// back into pool.
func Borrow(pool *sync.Pool, units *victims.Units, budgets *victims.Budgets, packed *columns.NodeColumns) *Tools {
	if t, ok := pool.Get().(*Tools); ok {
		return t
	}
	t := &Tools{Trial: new(Trial), Runner: reprieve.NewRunner(units, budgets), Tally: budgets.NewLedger()}
	t.Runner.Here = t.search.here
	if levels := packed.Levels(); levels != nil {
		t.Sweep = columns.NewSweep(packed)
		t.scan = columns.NewScan(t.Sweep)
		t.barred, t.short = make([]uint64, len(levels.Blocks())), make([]uint64, len(levels.Blocks()))
	}
	return t
}
