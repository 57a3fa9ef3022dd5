package bench_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

var (
	numScanned = flag.Int("scan", 15, "how many calls TestScan draws")
	scanSeed   = flag.Uint64("scan.seed", 50, "of the first of them")
	scanNodes  = flag.Int("scan.nodes", 8, "how many nodes their clusters have, with 30 pods each")
	scanEnd    = flag.String("scan.end", "", "end before a call, or after it, so that what ran is written into GOCOVERDIR: for TestScan itself")
)

// mostBlocks is how many blocks of code a call may run: a core takes a second for them, or somewhat more.
const mostBlocks = 1 << 30

// TestScan draws clusters, preemptors, options and calls, and makes them: no answer that is verified is wrong. With -v
// it tells which took most, and how to ask again; large ones are worth asking:
//
//	go test ./bench -run TestScan -v -timeout 0 -scan 200 -scan.nodes 5000
//	go test ./bench -run TestScan -v -timeout 0 -scan 200 -scan.nodes 5000 -covermode=atomic -coverpkg=./...
//
// The second counts the blocks of code that a call runs, whatever the loops that have them, which is the same on every machine, and fails
// where they are more than mostBlocks. It takes some five times as long.
func TestScan(t *testing.T) {
	if testing.CoverMode() != "atomic" {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	}
	list := make([]drawnCall, *numScanned)
	for i := range list {
		d := &list[i]
		if testing.CoverMode() == "atomic" && *scanEnd == "" {
			*d = countedAside(t, *scanSeed+uint64(i))
		} else {
			*d = drawCall(*scanSeed+uint64(i), *scanNodes)
			require.NoError(t, d.measure(), d.name)
			d.scanQuestion = scanQuestion{}
		}
	}
	slices.SortFunc(list, func(a, b drawnCall) int {
		return cmp.Or(cmp.Compare(b.blocks, a.blocks), cmp.Compare(b.took, a.took))
	})
	for _, d := range list[:min(len(list), 20)] {
		t.Logf("%6.2f s, %5d million blocks: %s", d.took.Seconds(), d.blocks/1_000_000, d.name)
	}
	if len(list) > 0 {
		require.LessOrEqual(t, list[0].blocks, uint64(mostBlocks))
	}
}

// drawnCall is a question, the call that is made about it, and what that took.
type drawnCall struct {
	scanQuestion
	call   scanCall
	name   string
	took   time.Duration
	blocks uint64 // 0 where they are not counted
}

// measure makes the call, once a planner has compiled the cluster and, where the call is about it, has answered.
func (d *drawnCall) measure() error {
	pl, err := preemption.NewPlanner(&d.snap, d.o)
	var r *preemption.Result
	if err == nil && d.call.answered {
		r, err = pl.Preempt(d.p)
	}
	if d.o.Strict && errors.Is(err, cluster.ErrInvalid) {
		return nil // which is the answer
	}
	if err != nil {
		return err
	}
	runtime.GC()
	if *scanEnd == "before" {
		os.Exit(0)
	}
	began := time.Now()
	err = d.call.make(&d.scanQuestion, pl, r)
	d.took = time.Since(began)
	if *scanEnd == "after" && !errors.Is(err, errWrong) {
		fmt.Println(int64(d.took), d.name)
		os.Exit(0)
	}
	if errors.Is(err, errWrong) {
		return err
	}
	return nil // another error is an answer
}

// drawCall is the call of that seed.
func drawCall(seed uint64, nodes int) (d drawnCall) {
	s := rand.New(rand.NewPCG(seed, 18)).IntN
	d.name = fmt.Sprintf("-scan 1 -scan.seed %d -scan.nodes %d", seed, nodes)
	tell := func(what string) { d.name += ", " + what }
	shape := gen.Shapes()[s(len(gen.Shapes()))]
	d.snap = gen.Fleet(nodes, 30, seed, shape)
	d.label()
	tell(string(shape))
	kinds := map[string]bool{}
	for range 1 + s(3) {
		if k := scanKinds[s(len(scanKinds))]; !kinds[k.name] {
			k.change(&d.scanQuestion, s)
			tell(k.name)
			kinds[k.name] = true
		}
	}
	p := scanPreemptors[s(len(scanPreemptors))]
	d.p = p.draw(s)
	tell(p.name)
	if i := s(2 * len(scanTies)); i < len(scanTies) {
		for k := range d.p.Pods {
			scanTies[i].tie(&d.p.Pods[k], k)
		}
		tell(scanTies[i].name)
	}
	if s(5) == 0 {
		underQueues(&d.scanQuestion, s)
		tell("queues")
	}
	d.call = scanCalls[s(len(scanCalls))]
	tell(d.call.name)
	d.o = gen.Options().Example(int(seed % 1_000_003))
	hooks := d.o.Hooks
	d.o.Hooks = nil // of which JSON does not tell
	text, _ := json.Marshal(d.o)
	tell(string(text))
	if d.o.Hooks = hooks; hooks != nil {
		tell(fmt.Sprintf("hooks %+v", *hooks))
	}
	return d
}
