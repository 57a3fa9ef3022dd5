package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

func main() {
	c := comparison{out: os.Stdout}
	flag.IntVar(&c.nodes, "nodes", 5000, "nodes of the cluster")
	flag.IntVar(&c.pods, "pods", 30, "running pods on each node")
	flag.Uint64Var(&c.seed, "seed", 1, "seed of the cluster")
	flag.IntVar(&c.rounds, "rounds", 3, "how often each side is timed, in turn")
	flag.BoolVar(&c.bench, "bench", false, "print as go test -bench does, for benchstat and bench/report")
	clusters := flag.Int("random", 0, "compare about so many small random clusters instead, of every kind, one for each seed from -seed on")
	names := flag.String("cases", strings.Join(caseNames(), ","), "which cases")
	flag.Parse()
	if *clusters > 0 {
		if err := random(context.Background(), c.out, *clusters, c.seed); err != nil {
			fmt.Fprintln(os.Stderr, "kubescheduler:", err)
			os.Exit(1)
		}
		return
	}
	for name := range strings.SplitSeq(*names, ",") {
		if err := c.run(context.Background(), name); err != nil {
			fmt.Fprintf(os.Stderr, "kubescheduler: %s: %v\n", name, err)
			os.Exit(1)
		}
	}
}

// comparison puts the same questions to both sides.
type comparison struct {
	nodes, pods, rounds int
	seed                uint64
	bench               bool
	out                 io.Writer
}

// testCase is a cluster and a preemptor that are asked about.
type testCase struct {
	name     string
	shape    gen.Shape
	cpuMilli int64 // of the preemptor
	priority int32
	about    string
}

var cases = []testCase{
	{"uniform", gen.Uniform, 3500, 1000, "ten priorities, random sizes"},
	{"tied", gen.Tied, 3500, 1000, "one priority: every node ties on it"},
	{"budgeted", gen.Budgeted, 3500, 1000, "every pod is in a spent budget"},
	{"nowhere", gen.Uniform, 60_000, 3, "too few pods are below the preemptor on every node"},
	{gang, gen.Uniform, 64_000, 1000, "a gang of whole-node pods, one for every ten nodes"},
}

// gang is the case whose preemptor is a pod group.
const gang = "gang"

func caseNames() []string {
	var names []string
	for _, c := range cases {
		names = append(names, c.name)
	}
	return names
}

// make builds the cluster. Start times differ by at least a nanosecond, so that
// kube-scheduler leaves the order of no two pods to chance.
func (tc testCase) make(nodes, pods int, seed uint64) (preemption.Snapshot, preemption.Preemptor) {
	snap := gen.Fleet(nodes, pods, seed, tc.shape)
	for i := range snap.Pods {
		snap.Pods[i].Started = snap.Pods[i].Started.Add(time.Duration(i))
	}
	p := gen.FleetPod(seed)
	p.Pods[0].Priority = &tc.priority
	p.Pods[0].Requests[cluster.CPU] = tc.cpuMilli
	return snap, p
}

// sides are the three programs that answer.
type sides struct {
	exhaustive, sampled *scheduler
	planner             *preemption.Planner
	preemptor           preemption.Preemptor
	asked               *int64 // how often unseen was called
}

// unseen returns the preemptor as a shape that was not asked about lately: it asks for
// a little of what every node has plenty of, each time for another amount.
func (s sides) unseen() preemption.Preemptor {
	*s.asked++
	p := s.preemptor.Clone()
	p.Pods[0].Requests = maps.Clone(p.Pods[0].Requests)
	p.Pods[0].Requests["ephemeral-storage"] = 1 + *s.asked%4096
	return p
}

// run checks that both sides agree on one case, then times them.
func (c comparison) run(ctx context.Context, name string) error {
	i := slices.IndexFunc(cases, func(tc testCase) bool { return tc.name == name })
	if i < 0 {
		return fmt.Errorf("not one of %s", strings.Join(caseNames(), ", "))
	}
	if name == gang {
		return c.runGang(ctx, cases[i])
	}
	snap, p := cases[i].make(c.nodes, c.pods, c.seed)
	q, err := newQuestion(p, &snap)
	if err != nil {
		return err
	}
	s := sides{preemptor: p, asked: new(int64)}
	var release func()
	if s.exhaustive, release, err = newScheduler(q, exhaustive); err != nil {
		return err
	}
	defer release()
	if s.sampled, release, err = newScheduler(q, shipped); err != nil {
		return err
	}
	defer release()
	if s.planner, err = preemption.NewPlanner(&snap, preemption.Options{Rules: preemption.Kubernetes136}); err != nil {
		return err
	}
	agreed, err := s.agree(ctx, &snap)
	if err != nil {
		return err
	}
	costs, err := c.time(ctx, s)
	if err != nil {
		return err
	}
	return c.print(fmt.Sprintf("case=%s/nodes=%d/pods=%d", name, c.nodes, c.nodes*c.pods), cases[i].about, agreed, costs)
}

// agree asks both sides about every node and says in what they agree; the error
// tells where they don't.
func (s *sides) agree(ctx context.Context, snap *preemption.Snapshot) (string, error) {
	r, err := preemption.Options{Rules: preemption.Kubernetes136, Candidates: true}.Preempt(s.preemptor, snap)
	if err != nil {
		return "", err
	}
	want, err := kubernetesAnswer(ctx, s.exhaustive, 0)
	if err != nil {
		return "", err
	}
	if diff := cmp.Diff(want, libraryAnswer(r)); diff != "" {
		return "", fmt.Errorf("the answers differ (-kube-scheduler +library):\n%s", diff)
	}
	timed, err := s.planner.Preempt(s.preemptor)
	if err != nil {
		return "", err
	}
	if timed.Domain != r.Domain || !slices.Equal(victimNames(timed), victimNames(r)) {
		return "", fmt.Errorf("asked for the best alone, the library evicts %v on %s; for all, %v on %s", victimNames(timed), timed.Domain, victimNames(r), r.Domain)
	}
	picked, _, err := s.exhaustive.postFilter(ctx)
	if err != nil {
		return "", err
	}
	if picked == "" {
		return fmt.Sprintf("agreed: %s on all %d nodes", r.Verdict, len(snap.Nodes)), nil
	}
	if !slices.Contains(want.Best, picked) || r.Domain != want.Best[0] {
		return "", fmt.Errorf("kube-scheduler picked %s and the library %s among %v", picked, r.Domain, want.Best)
	}
	return fmt.Sprintf("agreed: %d candidates with all their victims and violations, and %s as the best", len(want.Candidates), picked), nil
}

// time measures every side in turn, round by round, and returns the medians.
func (c comparison) time(ctx context.Context, s sides) (table, error) {
	ask := []struct {
		key, name string
		run       func() error
	}{
		{"kube-scheduler", "kube-scheduler, every node", func() error { _, _, err := s.exhaustive.postFilter(ctx); return err }},
		{"kube-scheduler-sampling", "kube-scheduler, sampling", func() error { _, _, err := s.sampled.postFilter(ctx); return err }},
		{"preempt-again", "preempt, a shape of pod asked before", func() error { _, err := s.planner.Preempt(s.preemptor); return err }},
		{"preempt", "preempt, every node", func() error { _, err := s.planner.Preempt(s.unseen()); return err }},
	}
	costs := make([][]cost, len(ask))
	for range c.rounds {
		for i, side := range ask {
			measured, err := measure(side.run)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", side.name, err)
			}
			costs[i] = append(costs[i], measured)
		}
	}
	t := table{}
	for i, side := range ask {
		t = append(t, row{side.key, side.name, median(costs[i])})
	}
	return t, nil
}

// table is the cost of each side; the last row is the library.
type table []row

type row struct {
	key, side string
	cost      cost
}

// print writes a table for people, or lines for tools.
func (c comparison) print(name, about, agreed string, t table) error {
	if c.bench {
		for _, r := range t {
			fmt.Fprintf(c.out, "BenchmarkSideBySide/%s/side=%s 1 %d ns/op %d cpu-ns/op %d B/op %d allocs/op\n",
				name, r.key, r.cost.wall, r.cost.cpu, r.cost.bytes, r.cost.allocs)
		}
		return nil
	}
	fmt.Fprintf(c.out, "%s: %s\n%s\n", name, about, agreed)
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "side\ttime\tCPU time\tbytes\tallocations\tCPU time, times preempt's\t\n")
	library := t[len(t)-1].cost
	for _, r := range t {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%.1f\t\n",
			r.side, round(r.cost.wall), round(r.cost.cpu), r.cost.bytes, r.cost.allocs, float64(r.cost.cpu)/float64(library.cpu))
	}
	fmt.Fprintln(w)
	return w.Flush()
}

// cost is what one answer took.
type cost struct {
	wall, cpu     time.Duration
	bytes, allocs uint64
}

// mark is a moment to measure from.
type mark struct {
	wall   time.Time
	cpu    time.Duration
	memory runtime.MemStats
}

func now() mark {
	m := mark{}
	runtime.ReadMemStats(&m.memory)
	m.cpu, m.wall = cpuTime(), time.Now()
	return m
}

// cost is what was spent since, for each of n answers.
func (m mark) cost(n int) cost {
	wall, cpu := time.Since(m.wall), cpuTime()-m.cpu
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return cost{
		wall: wall / time.Duration(n), cpu: cpu / time.Duration(n),
		bytes: (memory.TotalAlloc - m.memory.TotalAlloc) / uint64(n), allocs: (memory.Mallocs - m.memory.Mallocs) / uint64(n),
	}
}

// measure runs ask until it has taken long enough for the clocks, at least once. The
// first time only warms caches and buffers, unless it was long enough by far.
func measure(ask func() error) (cost, error) {
	const enough = 100 * time.Millisecond
	runtime.GC()
	began := now()
	if err := ask(); err != nil {
		return cost{}, err
	}
	if time.Since(began.wall) > 10*enough {
		return began.cost(1), nil
	}
	runtime.GC()
	n, began := 0, now()
	for n == 0 || time.Since(began.wall) < enough {
		if err := ask(); err != nil {
			return cost{}, err
		}
		n++
	}
	return began.cost(n), nil
}

// median takes that of each quantity by itself.
func median(cs []cost) cost {
	middle := func(by func(a, b cost) int) cost {
		slices.SortFunc(cs, by)
		return cs[len(cs)/2]
	}
	return cost{
		wall:   middle(func(a, b cost) int { return int(a.wall - b.wall) }).wall,
		cpu:    middle(func(a, b cost) int { return int(a.cpu - b.cpu) }).cpu,
		bytes:  middle(func(a, b cost) int { return int(a.bytes) - int(b.bytes) }).bytes,
		allocs: middle(func(a, b cost) int { return int(a.allocs) - int(b.allocs) }).allocs,
	}
}

// round keeps three digits.
func round(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}
