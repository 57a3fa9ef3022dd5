package preemption_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// patient is a context that is over once it was looked at so often.
type patient struct {
	context.Context
	left  atomic.Int64
	asked atomic.Int64
}

func waits(looks int64) *patient {
	p := &patient{Context: context.Background()}
	p.left.Store(looks)
	return p
}

func (p *patient) Done() <-chan struct{} { return make(chan struct{}) }

func (p *patient) Err() error {
	p.asked.Add(1)
	if p.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// stoppedAnywhere: a question that is stopped, at whatever step, says so, leaves nothing
// behind, and holds no lock; one that is not has the answer that it has without a context.
// It returns at how many steps it was.
func stoppedAnywhere(t fatal, o preemption.Options, q gen.Question) (stops int) {
	ok := func(err error) {
		if err != nil {
			t.Fatalf("%v", err)
		}
	}
	pl, err := preemption.NewPlanner(&q.Snapshot, o)
	if err != nil {
		return 0
	}
	ok(pl.Tune(3, 2, 500))
	want, err := pl.Preempt(q.Preemptor)
	if err != nil {
		return 0
	}
	all := waits(1 << 40)
	r, err := pl.PreemptContext(all, q.Preemptor)
	ok(err)
	if diff := cmp.Diff(want, r); diff != "" {
		t.Fatalf("with a context (-without +with):\n%s", diff)
	}
	steps := all.asked.Load()
	list := []int64{0, 1, 2, 3, steps / 4, steps / 2, steps * 3 / 4, steps - 1}
	for k := max(steps/2, steps-32); r.Nearest != nil && k < steps; k++ { // while it is asked what would help
		list = append(list, k)
	}
	for _, k := range list {
		if k < 0 || k >= steps {
			continue
		}
		r, err := pl.PreemptContext(waits(k), q.Preemptor)
		if r != nil || !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped at step %d of %d: %v, %v", k, steps, r, err)
		}
		stops++
		if _, err := pl.WhyNotContext(waits(k), q.Preemptor, preemption.NodeTarget(q.Snapshot.Nodes[0].Name)); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("why not, stopped at step %d: %v", k, err)
		}
		if _, err := pl.DecideContext(waits(k), q.Preemptor); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("decided, stopped at step %d: %v", k, err)
		}
		again, err := pl.Preempt(q.Preemptor)
		ok(err)
		if diff := cmp.Diff(want, again); diff != "" {
			t.Fatalf("after a stop at step %d of %d (-before +after):\n%s", k, steps, diff)
		}
		ok(pl.SetPod(preemption.Pod{Namespace: "late", Name: "late", Node: "nowhere"}))
		ok(pl.Remove(preemption.PodRef{Namespace: "late", Name: "late"}))
	}
	return stops
}

func TestAQuestionCanBeStopped(t *testing.T) {
	t.Parallel()
	pods, gangs := 0, 0
	for seed := range seeds(200) {
		o := seededOptions(seed)
		o.Cost.Objective = seed%4 == 0
		pods += stoppedAnywhere(&named{t, seed}, o, gen.Random(seed, gen.Everything()))
		g := gen.RandomGang(seed, gen.GangProfile{Profile: gen.Profile{MaxNodes: 5, MaxPods: 14, Groups: true, Budgets: true}, Topology: seed%2 == 0, Composite: seed%3 == 0})
		if o := gangOptionsBySeed(seed); asksSomething(g) {
			if seed%3 == 0 {
				o.Limits.Pods = 1
			}
			gangs += stoppedAnywhere(&named{t, seed}, o, sound(o, g))
		}
	}
	require.Greater(t, pods, int(seeds(800)))
	require.Greater(t, gangs, int(seeds(800)))
}

// TestAStoppedQuestionIsNotAsked: nothing is compiled for it.
func TestAStoppedQuestionIsNotAsked(t *testing.T) {
	over, stop := context.WithCancel(context.Background())
	stop()
	_, err := preemption.Options{}.PreemptContext(over, asking(1), &preemption.Snapshot{Nodes: []preemption.Node{{Name: "bad"}, {Name: "bad"}}})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "preemption: the question was stopped")
	late, stop := context.WithTimeout(context.Background(), -time.Second)
	defer stop()
	pl, err := preemption.NewPlanner(three(1, 2, 3), preemption.Options{})
	require.NoError(t, err)
	for range 4 { // also where it would be decided at once
		_, err = pl.DecideContext(late, asking(1))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, err = pl.Decide(asking(1))
		require.NoError(t, err)
	}
	var none context.Context // never done
	_, err = pl.PreemptContext(none, asking(1))
	require.NoError(t, err)
}

// watcher keeps what it is told. Its clock goes on by a second with each look.
type watcher struct {
	mu   sync.Mutex
	now  time.Time
	seen []preemption.Observation
}

func (w *watcher) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(time.Second)
	return w.now
}

func (w *watcher) Answered(o preemption.Observation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, o)
}

func TestAnObserverIsToldOfEachQuestion(t *testing.T) {
	w := &watcher{}
	o := preemption.Options{Hooks: &preemption.Hooks{Observer: w}}
	s := three(8, 7, 4)
	pl, err := preemption.NewPlanner(s, o)
	require.NoError(t, err)
	var verdicts []preemption.Verdict
	for _, cores := range []int64{2, 5, 9} {
		r, err := pl.Preempt(asking(cores))
		require.NoError(t, err)
		require.False(t, r.Stats.Hooks, "it has no say")
		verdicts = append(verdicts, r.Verdict)
	}
	_, err = pl.Decide(asking(5))
	require.NoError(t, err)
	_, err = pl.WhyNot(asking(5), preemption.NodeTarget("n1"))
	require.NoError(t, err)
	over, stop := context.WithCancel(context.Background())
	stop()
	_, err = pl.PreemptContext(over, asking(5))
	require.Error(t, err)
	_, err = o.Preempt(asking(5), s)
	require.NoError(t, err)

	require.Equal(t, []preemption.Verdict{preemption.Fits, preemption.Feasible, preemption.Infeasible}, verdicts)
	var told []string
	for _, x := range w.seen {
		told = append(told, fmt.Sprint(x.Call, " ", x.Kind, " ", x.Verdict, " ", x.Victims, " ", x.Err != nil, " ", x.Phases))
	}
	require.Equal(t, []string{
		"Preempt Pod fits without preemption 0 false [1s 1s 1s 1s]",
		"Preempt Pod feasible 1 false [1s 1s 1s 1s]",
		"Preempt Pod infeasible 0 false [1s 1s 1s 1s]",
		"Decide Pod feasible 1 false [1s 1s 1s 0s]",
		"WhyNot Pod  0 false [1s 1s 0s 1s]",
		"Preempt Pod  0 true [0s 0s 0s 1s]",
		"Preempt Pod feasible 1 false [1s 1s 1s 1s]",
	}, told)
	require.Equal(t, "search", preemption.PhaseSearch.String())
	require.Equal(t, "Phase(9)", preemption.Phase(9).String())
}

// TestAnObserverChangesNoAnswer, nor closes a road to one.
func TestAnObserverChangesNoAnswer(t *testing.T) {
	for seed := range seeds(300) {
		o, q := seededOptions(seed), gen.Random(seed, gen.Everything())
		want, err := o.Preempt(q.Preemptor, &q.Snapshot)
		if err != nil || o.Hooks != nil {
			continue
		}
		w := &watcher{}
		o.Hooks = &preemption.Hooks{Observer: w}
		got, err := o.Preempt(q.Preemptor, &q.Snapshot)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(want, got))
		require.Len(t, w.seen, 1)
		require.Equal(t, want.Verdict, w.seen[0].Verdict)
	}
}

// A question that would take longer than anybody waits.
func ExamplePlanner_PreemptContext() {
	planner := shop(task("batch", "n1", 0, 4), task("cron", "n2", 0, 4), task("web", "", 10, 2))
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	answer, err := planner.PreemptContext(ctx, askAbout("web"))
	must(err)
	fmt.Println(answer.Message)

	stop()
	_, err = planner.PreemptContext(ctx, askAbout("web"))
	fmt.Println(err, errors.Is(err, context.Canceled))
	// Output:
	// fits on n1 once 1 pod is evicted
	// preemption: the question was stopped: context canceled true
}

// logged writes a line for each question.
type logged struct{ *slog.Logger }

func (logged) Now() time.Time { return time.Now() }

func (l logged) Answered(o preemption.Observation) {
	took := time.Duration(0)
	for _, d := range o.Phases {
		took += d
	}
	if o.Err != nil {
		l.Warn(o.Call, "kind", o.Kind, "took", took, "err", o.Err)
		return
	}
	l.Info(o.Call, "kind", o.Kind, "took", took, "verdict", o.Verdict, "victims", o.Victims)
}

// Every question in the log.
func ExampleObserver() {
	forget := func(_ []string, a slog.Attr) slog.Attr { // what differs from run to run
		if a.Key == slog.TimeKey || a.Key == "took" {
			return slog.Attr{}
		}
		return a
	}
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: forget}))
	snapshot := shop(task("batch", "n1", 0, 4), task("db", "n2", 50, 4), task("web", "", 10, 2)).Snapshot()
	planner, err := preemption.NewPlanner(snapshot, preemption.Options{Hooks: &preemption.Hooks{Observer: logged{logger}}})
	must(err)
	_, err = planner.Preempt(askAbout("web"))
	must(err)
	_, err = planner.Decide(askAbout("nobody"))
	fmt.Println(err != nil)
	// Output:
	// level=INFO msg=Preempt kind=Pod verdict=feasible victims=1
	// level=WARN msg=Decide kind=Pod err="cluster: Preemptor \"nobody\": Name: \"nobody\" is not a pod of the snapshot"
	// true
}

// metrics counts as kube-scheduler's metrics of the same names do.
type metrics struct {
	now      func() time.Time // time.Now
	mu       sync.Mutex
	attempts int
	victims  []int // of each answer that evicts somebody
	spent    map[string]time.Duration
	counts   map[string]int
}

func (m *metrics) Now() time.Time { return m.now() }

func (m *metrics) Answered(o preemption.Observation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if o.Err != nil || o.Verdict == "" || o.Verdict == preemption.Fits {
		return
	}
	m.attempts++
	if o.Verdict == preemption.Feasible {
		m.victims = append(m.victims, o.Victims)
	}
	for point, d := range map[string]time.Duration{
		"PreFilter": o.Phases[preemption.PhasePrepare], "PostFilter": o.Phases[preemption.PhaseSearch] + o.Phases[preemption.PhaseTell],
	} {
		m.spent[point] += d
		m.counts[point]++
	}
}

// text is what Prometheus reads.
func (m *metrics) text() {
	m.mu.Lock()
	defer m.mu.Unlock()
	fmt.Println("# TYPE scheduler_preemption_attempts_total counter")
	fmt.Println("scheduler_preemption_attempts_total", m.attempts)
	fmt.Println("# TYPE scheduler_preemption_victims histogram")
	sum := 0
	for _, n := range m.victims {
		sum += n
	}
	for _, most := range []int{1, 2, 4, 8, 16, 32, 64} {
		within := len(slices.DeleteFunc(slices.Clone(m.victims), func(n int) bool { return n > most }))
		fmt.Printf("scheduler_preemption_victims_bucket{le=\"%d\"} %d\n", most, within)
	}
	fmt.Printf("scheduler_preemption_victims_bucket{le=\"+Inf\"} %d\n", len(m.victims))
	fmt.Println("scheduler_preemption_victims_sum", sum)
	fmt.Println("scheduler_preemption_victims_count", len(m.victims))
	fmt.Println("# TYPE scheduler_framework_extension_point_duration_seconds summary")
	for _, point := range slices.Sorted(maps.Keys(m.counts)) {
		fmt.Printf("scheduler_framework_extension_point_duration_seconds_sum{extension_point=%q} %g\n", point, m.spent[point].Seconds())
		fmt.Printf("scheduler_framework_extension_point_duration_seconds_count{extension_point=%q} %d\n", point, m.counts[point])
	}
}

// Upstream's metrics, as text for Prometheus.
func ExampleObserver_prometheus() {
	clock := time.Time{} // so that the output is always the same
	ticks := func() time.Time { clock = clock.Add(time.Millisecond); return clock }
	m := &metrics{now: ticks, spent: map[string]time.Duration{}, counts: map[string]int{}}
	snapshot := shop(task("batch-1", "n1", 0, 2), task("batch-2", "n1", 0, 2), task("db", "n2", 50, 4), task("web", "", 10, 3)).Snapshot()
	planner, err := preemption.NewPlanner(snapshot, preemption.Options{Hooks: &preemption.Hooks{Observer: m}})
	must(err)
	for range 3 {
		_, err = planner.Preempt(askAbout("web"))
		must(err)
	}
	m.text()
	// Output:
	// # TYPE scheduler_preemption_attempts_total counter
	// scheduler_preemption_attempts_total 3
	// # TYPE scheduler_preemption_victims histogram
	// scheduler_preemption_victims_bucket{le="1"} 0
	// scheduler_preemption_victims_bucket{le="2"} 3
	// scheduler_preemption_victims_bucket{le="4"} 3
	// scheduler_preemption_victims_bucket{le="8"} 3
	// scheduler_preemption_victims_bucket{le="16"} 3
	// scheduler_preemption_victims_bucket{le="32"} 3
	// scheduler_preemption_victims_bucket{le="64"} 3
	// scheduler_preemption_victims_bucket{le="+Inf"} 3
	// scheduler_preemption_victims_sum 6
	// scheduler_preemption_victims_count 3
	// # TYPE scheduler_framework_extension_point_duration_seconds summary
	// scheduler_framework_extension_point_duration_seconds_sum{extension_point="PostFilter"} 0.006
	// scheduler_framework_extension_point_duration_seconds_count{extension_point="PostFilter"} 3
	// scheduler_framework_extension_point_duration_seconds_sum{extension_point="PreFilter"} 0.003
	// scheduler_framework_extension_point_duration_seconds_count{extension_point="PreFilter"} 3
}

// TestEqualsOfAPodThatRanAreItsOwn: a pod that ran before is not decided about as one of its
// shape that did not.
func TestEqualsOfAPodThatRanAreItsOwn(t *testing.T) {
	now := time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)
	cpu := cpus(1)
	pl, err := preemption.NewPlanner(&preemption.Snapshot{
		Time:  now,
		Nodes: []cluster.Node{{Name: "n1", Allocatable: cpu}},
		Pods:  []preemption.Pod{{Name: "runs", Node: "n1", Requests: cpu, Started: now.Add(-2 * time.Minute)}},
	}, preemption.Options{Guards: preemption.Guards{EqualAfterSeconds: 60}})
	require.NoError(t, err)
	never := preemption.Pod{Name: "asks", Requests: cpu}
	before := never
	before.RanSeconds = 3600
	for range 2 {
		require.Equal(t, preemption.Feasible, decidesAlike(t, pl, preemption.Preemptor{Pods: []preemption.Pod{never}}).Verdict)
		require.Equal(t, preemption.Infeasible, decidesAlike(t, pl, preemption.Preemptor{Pods: []preemption.Pod{before}}).Verdict)
	}
	before.Name = "ran"
	var both []preemption.Preemptor
	for _, p := range []preemption.Pod{before, never} {
		require.NoError(t, pl.SetPod(p))
		both = append(both, preemption.Preemptor{Kind: preemption.KindPod, Name: p.Name})
	}
	list, err := pl.PreemptAll(both)
	require.NoError(t, err)
	require.Len(t, list, 2)
}

// TestAPodThatIsRefusedIsNotDecidedAtOnce: what a shape does not say of a pod given inline may
// be an error.
func TestAPodThatIsRefusedIsNotDecidedAtOnce(t *testing.T) {
	pl, err := preemption.NewPlanner(&preemption.Snapshot{
		Nodes:           []cluster.Node{{Name: "n1", Allocatable: preemption.Resources{cluster.CPU: 1000}}},
		PriorityClasses: []preemption.PriorityClass{{Name: "high", Value: 1}},
	}, preemption.Options{Rules: preemption.KEP5710Alpha, Strict: true})
	require.NoError(t, err)
	prio, lower := int32(1000), int32(0)
	pod := preemption.Pod{Namespace: "default", Name: "asks", Priority: &prio}
	decidesAlike(t, pl, preemption.Preemptor{Pods: []preemption.Pod{pod}})
	contradicted := pod
	contradicted.Class = "high"
	_, err = pl.Decide(preemption.Preemptor{Pods: []preemption.Pod{contradicted}})
	require.Error(t, err)
	pod.PreemptionPriority = &lower
	_, err = pl.Decide(preemption.Preemptor{Pods: []preemption.Pod{pod}})
	require.Error(t, err)
}

// decidesAlike: a decision is its result in short, whatever was asked before.
func decidesAlike(t fatal, pl *preemption.Planner, p preemption.Preemptor, rules ...preemption.Rules) preemption.Decision {
	r, err := pl.Preempt(p)
	if err != nil {
		t.Fatalf("%v", err)
	}
	want := preemption.Decision{Verdict: r.Verdict, Domain: r.Domain, Violations: r.Violations, Needs: neededBeside(pl.Snapshot(), p, slices.Contains(rules, preemption.Kubernetes136))}
	warned := 0
	for _, w := range r.Warnings {
		if n, more, _ := strings.Cut(strings.TrimPrefix(w.Text, "the group needs "), " more pod"); strings.Contains(more, " beside it: ask for ") {
			warned, _ = strconv.Atoi(n)
		}
	}
	if warned != want.Needs {
		t.Fatalf("its group needs %d more pods: %v", want.Needs, r.Warnings)
	}
	for i, v := range r.Victims {
		want.Pods += len(v.Pods)
		if i == 0 {
			want.Highest = v.Pods[0].Priority
		}
	}
	for i := range 3 { // the first time, with what the first left, at once
		have, err := pl.Decide(p)
		if err != nil || have != want {
			t.Fatalf("Decide %d: %+v, %v, want %+v", i, have, err, want)
		}
	}
	return want
}

// neededBeside counts, for a pod that is asked about by itself, how many more of its group
// have to run, and of other groups for those above to run; the old rules know none above.
func neededBeside(s *preemption.Snapshot, p preemption.Preemptor, old bool) int {
	var pod preemption.Pod
	switch {
	case p.Group != nil || p.Name != "" && p.Kind != preemption.KindPod:
		return 0
	case p.Name == "":
		pod = p.Pods[0]
	default:
		pod = s.Pods[slices.IndexFunc(s.Pods, func(x preemption.Pod) bool { return x.Namespace == p.Namespace && x.Name == p.Name })]
	}
	at := slices.IndexFunc(s.PodGroups, func(g preemption.PodGroup) bool { return g.Namespace == pod.Namespace && g.Name == pod.Group })
	if at < 0 {
		return 0
	}
	needs := max(missingPods(s, s.PodGroups[at])-1, 0)
	child, parent := "PodGroup "+pod.Group, s.PodGroups[at].Parent
	for range s.CompositePodGroups { // each once: a cycle has no groups above
		i := slices.IndexFunc(s.CompositePodGroups, func(c cluster.CompositePodGroup) bool { return c.Namespace == pod.Namespace && c.Name == parent })
		if old || i < 0 {
			break
		}
		needs += missingGroups(s, s.CompositePodGroups[i], child)
		child, parent = "CompositePodGroup "+parent, s.CompositePodGroups[i].Parent
	}
	return needs
}

func missingPods(s *preemption.Snapshot, g preemption.PodGroup) int {
	missing := 1
	if g.MinCount != nil {
		missing = int(*g.MinCount)
	}
	for _, x := range s.Pods {
		if x.Namespace == g.Namespace && x.Group == g.Name && x.Node != "" {
			missing--
		}
	}
	return max(missing, 0)
}

// missingGroups is how many pods c misses in its child groups but for one, which will run.
func missingGroups(s *preemption.Snapshot, c cluster.CompositePodGroup, one string) (sum int) {
	var missing []int
	runs := 0
	add := func(name string, n func() int) {
		if name == one {
			runs = 1
		} else {
			missing = append(missing, n())
		}
	}
	for _, g := range s.PodGroups {
		if g.Namespace == c.Namespace && g.Parent == c.Name {
			add("PodGroup "+g.Name, func() int { return missingPods(s, g) })
		}
	}
	for _, g := range s.CompositePodGroups {
		if g.Namespace == c.Namespace && g.Parent == c.Name {
			add("CompositePodGroup "+g.Name, func() int { return missingGroups(s, g, "") })
		}
	}
	slices.Sort(missing)
	most := len(missing)
	if c.MinGroupCount != nil {
		most = min(most, max(int(*c.MinGroupCount)-runs, 0))
	}
	for _, n := range missing[:most] {
		sum += n
	}
	return sum
}

func TestDecideIsTheResultInShort(t *testing.T) {
	t.Parallel()
	verdicts := map[preemption.Verdict]int{}
	for seed := range uint64(60) {
		q := gen.Crowd(seed)
		pl, err := preemption.NewPlanner(&q.Snapshot, preemption.Options{})
		require.NoError(t, err)
		verdicts[decidesAlike(t, pl, q.Preemptor).Verdict]++
	}
	require.Greater(t, verdicts[preemption.Feasible], 10)
	require.Greater(t, verdicts[preemption.Infeasible], 2)
	require.Greater(t, verdicts[preemption.Fits], 2)
	for seed := range uint64(300) {
		q := gen.Random(seed, gen.Everything())
		pl, err := preemption.NewPlanner(&q.Snapshot, preemption.Options{Rules: preemption.Kubernetes136})
		require.NoError(t, err)
		verdicts[decidesAlike(t, pl, q.Preemptor, preemption.Kubernetes136).Verdict]++
	}
	require.Greater(t, verdicts[preemption.Waiting]+verdicts[preemption.NotEligible], 2)
}

// TestDecideSaysWhatThePodOfAGangNeeds: of each pending pod of gangs, as its result does.
func TestDecideSaysWhatThePodOfAGangNeeds(t *testing.T) {
	needs := map[preemption.Verdict]int{}
	for seed := range uint64(200) { // with -short too: fewer meet too few
		q := gen.RandomGang(seed, gen.EverythingForGangs())
		o := preemption.Options{Rules: []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137}[seed%2]}
		pl, err := preemption.NewPlanner(&q.Snapshot, o)
		require.NoError(t, err)
		for _, p := range q.Snapshot.Pods {
			if p.Node == "" && p.Group != "" {
				if d := decidesAlike(&named{t, seed}, pl, preemption.Preemptor{Kind: preemption.KindPod, Namespace: p.Namespace, Name: p.Name}, o.Rules); d.Needs > 0 {
					needs[d.Verdict]++
				}
			}
		}
	}
	for _, v := range []preemption.Verdict{preemption.Fits, preemption.Feasible, preemption.NotEligible} {
		require.Greater(t, needs[v], 10, v)
	}
}

// TestDecideCountsVictimsThatAreFree: who costs nothing is in no score, and goes all the same.
func TestDecideCountsVictimsThatAreFree(t *testing.T) {
	free := 0
	for seed := range seeds(300) {
		o := preemption.Options{BrokenGroupsFree: true}
		gang := sound(o, gen.RandomGang(seed, gen.EverythingForGangs()))
		if !asksSomething(gang) || len(gang.Snapshot.Nodes) == 0 {
			continue
		}
		requests := maps.Clone(gang.Snapshot.Nodes[0].Allocatable)
		delete(requests, cluster.Pods)
		pod := preemption.Preemptor{Pods: []preemption.Pod{{Name: "large", Priority: prio(1000), Requests: requests}}}
		for _, p := range []preemption.Preemptor{gang.Preemptor, pod} {
			pl, err := preemption.NewPlanner(&gang.Snapshot, o)
			require.NoError(t, err)
			d := decidesAlike(&named{t, seed}, pl, p)
			if r := ask(&named{t, seed}, o, gen.Question{Snapshot: gang.Snapshot, Preemptor: p}); d.Pods > 0 && r.Score[3].Value < int64(d.Pods) {
				free++
			}
		}
	}
	require.Positive(t, free)
}

// TestDecideComplainsAsPreemptDoes: about a pod of a shape that is known.
func TestDecideComplainsAsPreemptDoes(t *testing.T) {
	snap, p := gen.Fleet(20, 10, 1, gen.Uniform), gen.FleetPod(1)
	pl, err := preemption.NewPlanner(&snap, preemption.Options{})
	require.NoError(t, err)
	decidesAlike(t, pl, p)
	for name, spoil := range map[string]func(pod *preemption.Pod){
		"no name":         func(pod *preemption.Pod) { pod.Name = "" },
		"below zero":      func(pod *preemption.Pod) { pod.Requests = preemption.Resources{cluster.CPU: -1} },
		"counts as pods":  func(pod *preemption.Pod) { pod.Requests = preemption.Resources{cluster.Pods: 1} },
		"no resource":     func(pod *preemption.Pod) { pod.Requests = preemption.Resources{"": 1} },
		"policy":          func(pod *preemption.Pod) { pod.Policy = "Sometimes" },
		"toleration":      func(pod *preemption.Pod) { pod.Tolerations = []cluster.Toleration{{Operator: "Maybe"}} },
		"port":            func(pod *preemption.Pod) { pod.Ports = []cluster.HostPort{{Port: -1}} },
		"token":           func(pod *preemption.Pod) { pod.Tokens = []string{""} },
		"device":          func(pod *preemption.Pod) { pod.Devices = []cluster.DeviceRequest{{}} },
		"ran before":      func(pod *preemption.Pod) { pod.RanSeconds = -1 },
		"no such class":   func(pod *preemption.Pod) { pod.Class = "none" },
		"it runs already": func(pod *preemption.Pod) { pod.Namespace, pod.Name = snap.Pods[0].Namespace, snap.Pods[0].Name },
	} {
		bad := p.Pods[0]
		spoil(&bad)
		q := preemption.Preemptor{Pods: []preemption.Pod{bad}}
		_, want := pl.Preempt(q)
		_, err := pl.Decide(q)
		require.Error(t, want, name)
		require.Equal(t, want, err, name)
	}
}
