package preemption_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
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
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/genopts"
	"github.com/preempt-go/preempt/internal/naive"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cascade"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
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

// equalPods are so many pods that nothing tells apart, and the snapshot with them.
func equalPods(r *rand.Rand, s preemption.Snapshot, n int) (preemption.Snapshot, []preemption.Pod) {
	high, cpu := int32(100*(1+r.IntN(3))), 500*int64(1+r.IntN(5))
	var pods []preemption.Pod
	for i := range n {
		pods = append(pods, preemption.Pod{
			Namespace: "default", Name: fmt.Sprintf("burst-%d", i), Priority: &high,
			Requests: preemption.Resources{cluster.CPU: cpu, cluster.Memory: 1},
		})
	}
	s.Pods = append(slices.Clone(s.Pods), pods...)
	return s, pods
}

func asked(pods []preemption.Pod) (list []preemption.Preemptor) {
	for _, p := range pods {
		list = append(list, preemption.Preemptor{Kind: cluster.KindPod, Namespace: p.Namespace, Name: p.Name})
	}
	return list
}

// TestPreemptAllIsBruteForce: of equal pods as many get a place as there can be room for, and no
// set of victims that makes room for as many disrupts less.
func TestPreemptAllIsBruteForce(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for seed := range seeds(3000) {
		r := rand.New(rand.NewPCG(seed, 6))
		q := gen.Random(seed, gen.Profile{MaxNodes: 4, MaxPods: 9, Budgets: seed%3 == 0, Nominations: seed%4 == 0})
		q.Snapshot.Pods = slices.DeleteFunc(q.Snapshot.Pods, func(p preemption.Pod) bool { return p.Name == "web" })
		priced(seed, &q)
		snapshot, pods := equalPods(r, q.Snapshot, 2+r.IntN(3))
		o := preemption.Options{Objective: objective(r), Cost: preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}}, Search: preemption.Exact}
		o.Objective = slices.DeleteFunc(o.Objective, func(c preemption.CriterionName) bool {
			switch c { // those that fit take places beforehand
			case preemption.CriterionStranded, preemption.CriterionCascade, preemption.CriterionLevels:
				return true
			}
			return false
		})
		pl, err := preemption.NewPlanner(&snapshot, o)
		require.NoError(t, err)
		results, err := pl.PreemptAll(asked(pods))
		require.NoError(t, err, "seed %d", seed)

		g, err := naive.NewGang(gangOptions(o), preemption.Preemptor{
			Kind: cluster.KindPodGroup, Pods: pods, Group: &preemption.PodGroup{Namespace: "default", Name: "g", Priority: pods[0].Priority},
		}, &q.Snapshot)
		require.NoError(t, err)
		var nodes []string
		for _, n := range q.Snapshot.Nodes {
			nodes = append(nodes, n.Name)
		}
		potential := g.Potential(nodes)
		if len(potential) > 8 {
			continue
		}
		most, free := g.MostSeated(nodes, naive.Gone(potential)), g.MostSeated(nodes, nil)
		placed, about := 0, 0
		for _, r := range results {
			about += max(1, len(r.Preemptor.Gathered))
			switch placed += len(r.Nominations); r.Verdict {
			case preemption.Fits:
				require.Equal(t, free, placed, "seed %d: those that fit come first, all of them", seed)
				seen["fit"]++
			case preemption.Infeasible:
				seen["infeasible"]++
			case preemption.Feasible:
				if len(r.Preemptor.Gathered) == 0 { // a lone pod's: see TestExactIsBruteForce
					require.Equal(t, 1, min(len(pods)-free, most-free), "seed %d", seed)
					break
				}
				var least []int64
				fates := fatesIn(t, o, &q)
				g.Sets(nodes, most, func(p naive.Plan) {
					c := naive.Candidate{Victims: p.Victims, Violations: p.Violations, Overruns: p.Overruns, Score: p.Score}
					if v := values(o.Objective, c, fates, nil); least == nil || slices.Compare(v, least) < 0 {
						least = v
					}
				})
				score, bound := said(r.Score), said(r.Bound)
				require.LessOrEqual(t, slices.Compare(bound, least), 0, "seed %d: at least %v, of %v there are %v", seed, bound, o.Objective, least)
				require.GreaterOrEqual(t, slices.Compare(score, least), 0, "seed %d: better than the best, %v", seed, least)
				if r.Optimal {
					require.Equal(t, least, score, "seed %d: %v", seed, o.Objective)
					seen["optimal"]++
				} else {
					seen["not proved"]++
				}
			}
		}
		require.Equal(t, most, placed, "seed %d", seed)
		require.Equal(t, len(pods), about, "seed %d: each in one answer", seed)
	}
	t.Log(seen)
	n := int(seeds(3000))
	require.Greater(t, seen["optimal"], n/10)
	require.Greater(t, seen["fit"], n/20)
	require.Greater(t, seen["infeasible"], n/20)
}

// TestPreemptAllInTurn: the more important come first, each preemptor is in one answer, and the
// answers can be carried out in turn; the planner is as before.
func TestPreemptAllInTurn(t *testing.T) {
	t.Parallel()
	together, mixed, verified := 0, 0, 0
	for seed := range seeds(1000) {
		r := rand.New(rand.NewPCG(seed, 7))
		q := gen.RandomGang(seed, gen.GangProfile{Profile: gen.Profile{MaxNodes: 5, MaxPods: 14, Budgets: true, Groups: true, Nominations: true}, MaxMembers: 3})
		q.Snapshot.Pods = slices.DeleteFunc(q.Snapshot.Pods, func(p preemption.Pod) bool { return p.Node == "" && p.Group == "" })
		snapshot, pods := equalPods(r, q.Snapshot, 1+r.IntN(3))
		low := int32(-5)
		odd := preemption.Pod{Namespace: "default", Name: "odd", Priority: &low, Requests: preemption.Resources{cluster.CPU: 100}}
		snapshot.Pods = append(snapshot.Pods, odd)
		list := append(asked([]preemption.Pod{odd}), asked(pods)...)
		if asksSomething(q) {
			list = append(list, q.Preemptor)
		}
		pl, err := preemption.NewPlanner(&snapshot, preemption.Options{})
		require.NoError(t, err)
		before := pl.Snapshot()
		results, err := pl.PreemptAll(list)
		require.NoError(t, err, "seed %d", seed)
		require.Equal(t, before, pl.Snapshot(), "seed %d", seed)

		carried, err := cascade.New(pl, cascade.Options{Returns: func(*preemption.Pod) bool { return false }})
		require.NoError(t, err)
		about := map[string]int{}
		for _, r := range results {
			a := r.Preemptor
			if len(a.Gathered) > 0 {
				require.Empty(t, check.Verify(pl.Snapshot(), preemption.Options{}, preemption.Preemptor{}, r), "seed %d", seed)
				for name, bad := range tampered(t, r) {
					require.NotEmpty(t, check.Verify(pl.Snapshot(), preemption.Options{}, preemption.Preemptor{}, bad), "seed %d: %s", seed, name)
				}
				verified++
			}
			for _, ref := range a.Gathered {
				about[string(a.Kind)+" "+ref.Name]++
			}
			if together += len(a.Gathered); len(a.Gathered) == 0 {
				about[string(a.Kind)+" "+a.Name]++
			}
			if r.Verdict != preemption.Feasible && r.Verdict != preemption.Fits {
				continue
			}
			require.NoError(t, carried.Add(r), "seed %d: %s", seed, r.Message)
		}
		require.Len(t, about, len(list), "seed %d", seed)
		for who, n := range about {
			require.Equal(t, 1, n, "seed %d: %s", seed, who)
		}
		require.Equal(t, "odd", results[len(results)-1].Preemptor.Name, "seed %d: the least important", seed)
		if len(results) > 2 {
			mixed++
		}
	}
	require.Positive(t, together)
	require.Positive(t, mixed)
	require.Positive(t, verified)
}

// tampered are answers about several pods that are not true, where r is.
func tampered(t require.TestingT, r *preemption.Result) map[string]*preemption.Result {
	list := map[string]*preemption.Result{}
	change := func(name string, f func(r *preemption.Result)) {
		data, err := json.Marshal(r)
		require.NoError(t, err)
		var c preemption.Result
		require.NoError(t, json.Unmarshal(data, &c))
		f(&c)
		list[name] = &c
	}
	change("somebody else is gathered", func(r *preemption.Result) { r.Preemptor.Gathered[0].Name = "nobody" })
	change("somebody is gathered twice", func(r *preemption.Result) {
		r.Preemptor.Gathered = append(r.Preemptor.Gathered, r.Preemptor.Gathered[0])
	})
	if r.Verdict == preemption.Feasible || r.Verdict == preemption.Fits {
		change("somebody has no place", func(r *preemption.Result) { r.Nominations = r.Nominations[1:] })
		change("somebody has another place", func(r *preemption.Result) { r.Nominations[0].Node = "nowhere" })
	}
	if r.Verdict == preemption.Feasible {
		change("a victim stays", func(r *preemption.Result) { r.Victims = r.Victims[1:] })
		change("the score", func(r *preemption.Result) { r.Score[len(r.Score)-1].Value++ })
		change("somebody's nomination is withdrawn", func(r *preemption.Result) { r.Cleared = append(r.Cleared, r.Nominations[0].Pod) })
		change("nobody has to go", func(r *preemption.Result) { r.Verdict = preemption.Fits })
	}
	return list
}

// One who is placed does not go for another of the same call, though equals may take from
// each other.
func TestPreemptAllKeepsWhomItPlaces(t *testing.T) {
	t.Parallel()
	two, now := int32(2), time.Unix(1_000, 0)
	s := preemption.Snapshot{
		Time:  now,
		Nodes: []preemption.Node{{Name: "n1", Allocatable: preemption.Resources{cluster.CPU: 1_000, cluster.Pods: 10}}},
		Pods: []preemption.Pod{
			{Name: "first", Priority: &two, Started: now.Add(-time.Hour), Requests: preemption.Resources{cluster.CPU: 600}},
			{Name: "second", Priority: &two, Requests: preemption.Resources{cluster.CPU: 800}},
		},
	}
	o := preemption.Options{Guards: preemption.Guards{EqualAfterSeconds: 60}}
	pl, err := preemption.NewPlanner(&s, o)
	require.NoError(t, err)
	results, err := pl.PreemptAll(asked(s.Pods))
	require.NoError(t, err)
	require.Len(t, results, 2)
	require.Equal(t, preemption.Fits, results[0].Verdict)
	require.Equal(t, preemption.Infeasible, results[1].Verdict)

	require.NoError(t, pl.Evict(results[0]))
	require.NoError(t, pl.Bind(preemption.PodRef{Name: "first"}, "n1"))
	r, err := pl.Preempt(asked(s.Pods)[1])
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict, "in another call it may")

	o.Hooks = &preemption.Hooks{Eligible: anybody{}}
	pl, err = preemption.NewPlanner(&s, o)
	require.NoError(t, err)
	results, err = pl.PreemptAll(asked(s.Pods))
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, results[1].Verdict, "whatever hooks say")
}

// TestWhoIsRepelledByANomineeIsAskedInTurn: what a nominated pod says of others counts for a lone pod beside others alone, so that equal pods
// that it repels are not planned together. They were placed where the plan could not be applied.
func TestWhoIsRepelledByANomineeIsAskedInTurn(t *testing.T) {
	three := int32(3)
	repels := func(key string) []cluster.AffinityTerm {
		return []cluster.AffinityTerm{{TopologyKey: key, Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "web"}}}}
	}
	s := preemption.Snapshot{Pods: []preemption.Pod{
		{Name: "nominee", NominatedNode: "n0", Priority: &three, AntiAffinity: repels("host")}, {Name: "victim", Node: "n1", AntiAffinity: repels("zone")}, {Name: "last"},
	}}
	for i := range 2 {
		name := fmt.Sprint("n", i)
		s.Nodes = append(s.Nodes, cluster.Node{Name: name, Labels: map[string]string{"host": name, "zone": "z"}, Allocatable: preemption.Resources{cluster.CPU: 6}})
		s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint("w", i), Priority: &three, Labels: map[string]string{"app": "web"}, Requests: preemption.Resources{cluster.CPU: 3}})
	}
	pl, err := preemption.NewPlanner(&s, preemption.Options{})
	require.NoError(t, err)
	results, err := pl.PreemptAll(asked(s.Pods[2:]))
	require.NoError(t, err)
	require.Len(t, results, 3)
	require.Equal(t, []preemption.Nomination{{Pod: preemption.PodRef{Name: "w0"}, Node: "n1"}}, results[0].Nominations)
	require.NoError(t, pl.Apply(results[0]))

	four, token := int32(4), []string{"t"}
	held := preemption.Snapshot{Nodes: []preemption.Node{{Name: "n0", Allocatable: preemption.Resources{cluster.CPU: 3}}, {Name: "n1", Allocatable: preemption.Resources{cluster.CPU: 1}}}}
	for i, p := range []preemption.Pod{
		{Name: "victim", Node: "n1"}, {Name: "low", NominatedNode: "n0", Priority: &three}, {Name: "nominee", NominatedNode: "n0", Priority: &four, Tokens: token},
		{Name: "w0", Priority: &four, Tokens: token}, {Name: "w1", Priority: &four, Tokens: token}, {Name: "w2", Priority: &four, Tokens: token},
	} {
		p.Requests = preemption.Resources{cluster.CPU: 1 + int64(i%3/2)}
		held.Pods = append(held.Pods, p)
	}
	pl, err = preemption.NewPlanner(&held, preemption.Options{})
	require.NoError(t, err)
	results, err = pl.PreemptAll(asked(held.Pods[3:]))
	require.NoError(t, err, "nor those whose token it holds")
	require.NotEmpty(t, results)
}

// anybody may be evicted.
type anybody struct{}

func (anybody) Kept(*victims.Units, victims.UnitID, victims.Claim) victims.Kept {
	return victims.Kept{}
}

// TestPreemptAllOfAnything: under any options, in any cluster, the answers can be carried out in turn
// and each preemptor is in one; the same list in another order names the same overlaps.
func TestPreemptAllOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := gen.AnyProfile(t)
		p.Devices, p.Queues = false, false
		m, q := gen.NewMaker(t, p)
		o := genopts.Any().Draw(t, "options")
		o.Strict, o.Hooks = false, nil
		o.LowestLevel = rapid.Bool().Draw(t, "lowest")
		s, pods := equalPods(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), q.Snapshot, 1+m.N(4))
		pl, err := preemption.NewPlanner(&s, o)
		if err != nil {
			return // rules and cluster don't go together
		}
		list := append(asked(pods), q.Preemptor)
		results, err := pl.PreemptAll(list)
		if err != nil { // the cluster or the preemptor can't be read
			slices.Reverse(list)
			_, again := pl.PreemptAll(list)
			require.Error(t, again)
			return
		}
		about, evicted, placed := 0, false, false
		for _, r := range results {
			// What is evicted counts for budgets, which nobody tells the planner here, and who was placed
			// before may not be evicted for others of the call.
			if len(r.Preemptor.Gathered) > 0 && !evicted && !placed {
				require.Empty(t, check.Verify(pl.Snapshot(), o, preemption.Preemptor{}, r))
			}
			evicted = evicted || len(r.Victims) > 0
			if about += max(1, len(r.Preemptor.Gathered)); r.Verdict != preemption.Feasible && r.Verdict != preemption.Fits {
				continue
			}
			require.NoError(t, leave(pl, r))
			for _, n := range r.Nominations {
				require.NoError(t, pl.Bind(n.Pod, n.Node))
				placed = true
			}
		}
		require.Equal(t, len(list), about)
	})
}

func TestPreemptAllBadInput(t *testing.T) {
	t.Parallel()
	s, pods := equalPods(rand.New(rand.NewPCG(1, 1)), preemption.Snapshot{Nodes: []preemption.Node{{Name: "n1"}}}, 2)
	pl, err := preemption.NewPlanner(&s, preemption.Options{})
	require.NoError(t, err)
	list := asked(pods)
	_, err = pl.PreemptAll([]preemption.Preemptor{
		list[0], list[1], list[0], {Kind: cluster.KindPod, Name: "nobody"}, {Kind: cluster.KindWorkload, Name: "w"}, {Kind: "?"},
	})
	require.ErrorContains(t, err, "a pod of one preemptor alone")
	require.ErrorContains(t, err, "nobody")
	require.ErrorContains(t, err, "Cycle is about workloads")
	var field *cluster.FieldError
	require.ErrorAs(t, err, &field)

	one := int32(1)
	s.PodGroups = []preemption.PodGroup{{Namespace: "default", Name: "gang", MinCount: &one}}
	s.Pods[0].Group = "gang"
	pl, err = preemption.NewPlanner(&s, preemption.Options{})
	require.NoError(t, err)
	both := []preemption.Preemptor{{Kind: cluster.KindPodGroup, Namespace: "default", Name: "gang"}, list[0]}
	for range 2 {
		_, err = pl.PreemptAll(both)
		require.ErrorContains(t, err, "a pod of one preemptor alone")
		slices.Reverse(both)
	}

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = pl.PreemptAllContext(ctx, list)
	require.ErrorIs(t, err, context.Canceled)
	results, err := pl.PreemptAll(nil)
	require.NoError(t, err)
	require.Empty(t, results)
}

// gathered is a cluster of nodes with cpu cores and a device each, what runs there, and who
// asks, one after the other.
type gathered struct {
	cpu     []int64
	pods    []preemption.Pod
	asks    []preemption.Pod
	budgets []preemption.Budget
	options preemption.Options
}

func (g gathered) snapshot() *preemption.Snapshot {
	s := &preemption.Snapshot{Budgets: g.budgets}
	for i, cpu := range g.cpu {
		s.Nodes = append(s.Nodes, cluster.Node{
			Name: fmt.Sprintf("n%d", i+1), Allocatable: preemption.Resources{cluster.CPU: cpu, cluster.Memory: 3},
			Devices: map[string]cluster.DevicePool{gpu: {Count: 1, Capacity: 1000}},
		})
	}
	s.Pods = append(append(s.Pods, g.pods...), g.asks...)
	return s
}

func cores(name, node string, priority int32, cpu int64) preemption.Pod {
	return preemption.Pod{Name: name, Node: node, Priority: prio(priority), Requests: preemption.Resources{cluster.CPU: cpu}}
}

func TestAGatheringsPlanIsApplied(t *testing.T) {
	token, device, memory := cores("z1", "", 10, 2), cores("z1", "", 10, 2), cores("z2", "", 10, 3)
	token.Tokens = []string{"t"}
	device.Devices = []cluster.DeviceRequest{{Resource: gpu, Count: 1}}
	memory.Requests[cluster.Memory] = 3
	low, z2 := []preemption.Pod{cores("low", "n1", 0, 1)}, cores("z2", "", 10, 2)
	everyPod := []preemption.Budget{{Name: "every", Selector: &preemption.Selector{}, Allowed: 1}}
	two := []preemption.Pod{cores("low", "n1", 0, 1), cores("more", "n2", 0, 1)}
	for name, c := range map[string]struct {
		gathered
		fails string // the reason, of the last pod; empty: the plan is applied
		never bool   // the last pod has no place
	}{
		"a token":  {gathered: gathered{cpu: []int64{4}, pods: low, asks: []preemption.Pod{token, z2}}},
		"a device": {gathered: gathered{cpu: []int64{4}, pods: low, asks: []preemption.Pod{device, z2}}},
		"one who would fit if they were arranged otherwise": {gathered: gathered{
			cpu: []int64{6, 3}, pods: []preemption.Pod{cores("low", "n1", 0, 3)}, asks: []preemption.Pod{cores("z1", "", 10, 2), memory},
		}},
		"an earlier one in the way": {
			gathered: gathered{cpu: []int64{3}, asks: []preemption.Pod{cores("z1", "", 10, 3), cores("z2", "", 11, 2)}},
			fails:    "preemption: a pod of the gang has no place: nobody is to be evicted: z2: it evicts z1, which was planned before it",
		},
		"a hard budget": {never: true, gathered: gathered{
			cpu: []int64{1, 1}, pods: two, asks: []preemption.Pod{cores("z1", "", 10, 1), cores("z2", "", 10, 1)},
			budgets: everyPod, options: preemption.Options{HardBudgets: preemption.HardBudgets{All: true}},
		}},
		"a limit": {never: true, gathered: gathered{
			cpu: []int64{1, 1}, pods: two, asks: []preemption.Pod{cores("z1", "", 10, 1), cores("z2", "", 10, 1)},
			options: preemption.Options{Limits: preemption.Limits{Pods: 1}},
		}},
		"a limit of a window": {never: true, gathered: gathered{
			cpu: []int64{1, 1}, pods: two, asks: []preemption.Pod{cores("z1", "", 10, 1), cores("z2", "", 10, 1)},
			options: preemption.Options{Limits: preemption.Limits{Window: preemption.Window{Seconds: 9, Victims: 1}}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			pl, err := preemption.NewPlanner(c.snapshot(), c.options)
			require.NoError(t, err)
			g := pl.Gather()
			for i, pod := range c.asks {
				r, err := g.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: pod.Name})
				if last := i == len(c.asks)-1; last && c.fails != "" {
					require.EqualError(t, err, c.fails)
					require.ErrorIs(t, err, preemption.ErrGangFailed)
				} else {
					require.NoError(t, err)
					require.Equal(t, last && c.never, r.Verdict == preemption.Infeasible, r.Message)
				}
			}
			plan, err := g.Plan()
			if c.never || c.fails != "" {
				require.ErrorIs(t, err, preemption.ErrGangFailed)
				return
			}
			require.NoError(t, err)
			advice(t, pl, plan, preemption.Keep)
			require.NoError(t, pl.Apply(plan))
			advice(t, pl, plan, preemption.Keep)
			for _, n := range plan.Nominations {
				for _, v := range plan.Victims {
					if v.Pods[0].Node == n.Node {
						_ = pl.Remove(v.Pods[0].PodRef)
					}
				}
				require.NoError(t, pl.Bind(n.Pod, n.Node))
			}
			advice(t, pl, plan, preemption.Cancel)
		})
	}
}

// TestBudgetsAreChargedPodByPod: what the second pod overruns is what the first has left.
func TestBudgetsAreChargedPodByPod(t *testing.T) {
	c := gathered{
		cpu: []int64{1, 1}, pods: []preemption.Pod{cores("low", "n1", 0, 1), cores("more", "n2", 0, 1)},
		asks:    []preemption.Pod{cores("z1", "", 10, 1), cores("z2", "", 10, 1)},
		budgets: []preemption.Budget{{Name: "every", Selector: &preemption.Selector{}, Allowed: 1}},
	}
	pl, err := preemption.NewPlanner(c.snapshot(), preemption.Options{})
	require.NoError(t, err)
	g := pl.Gather()
	for i, pod := range c.asks {
		r, err := g.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: pod.Name})
		require.NoError(t, err)
		require.Equal(t, i, r.Violations)
	}
	plan, err := g.Plan()
	require.NoError(t, err)
	require.Equal(t, 1, plan.Violations)
	require.Equal(t, int64(1), plan.Overruns)
	require.Equal(t, []preemption.BudgetRoom{{Name: "every", Allowed: 1}}, plan.Budgets)
	require.NoError(t, pl.Apply(plan))
}

func TestPodsThatNeedQuotaAreNotGathered(t *testing.T) {
	s := podsQuota(t).Snapshot()
	s.Pods = append(s.Pods, preemption.Pod{Name: "next", Queue: "l", Priority: prio(1), Requests: preemption.Resources{"cpu": 1}})
	pl, err := preemption.NewPlanner(s, preemption.Options{})
	require.NoError(t, err)
	g := pl.Gather()
	_, err = g.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: "next"})
	require.EqualError(t, err, `cluster: Pod "next": Queue: set is not empty: pods that need quota are not gathered`)
}

// TestEveryPlanOfAGatheringIsApplied: of random pods in random clusters, under bounds.
func TestEveryPlanOfAGatheringIsApplied(t *testing.T) {
	applied, broken := 0, 0
	for seed := range seeds(1500) {
		r := rand.New(rand.NewPCG(seed, 5))
		q, o := gen.RandomGang(seed, gen.EverythingForGangs()), preemption.Options{}
		switch r.IntN(4) {
		case 0:
			o.HardBudgets.All = true
		case 1:
			o.Limits.Pods = int64(1 + r.IntN(4))
		case 2:
			o.Rules = preemption.Kubernetes136
		}
		pl, err := preemption.NewPlanner(&q.Snapshot, o)
		require.NoError(t, err)
		for i, p := range q.Preemptor.Pods {
			p.Group = ""
			if r.IntN(3) == 0 {
				p.Priority = prio(int32(r.IntN(2000)))
			}
			if err := pl.SetPod(p); err != nil {
				t.Fatal(err)
			}
			q.Preemptor.Pods[i] = p
		}
		before := asJSON(t, pl.Snapshot())
		g := pl.Gather()
		for _, p := range q.Preemptor.Pods {
			if _, err := g.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: p.Namespace, Name: p.Name}); err != nil {
				require.ErrorIs(t, err, preemption.ErrGangFailed)
				broken++
				break
			}
		}
		require.Equal(t, before, asJSON(t, pl.Snapshot()))
		plan, err := g.Plan()
		if err != nil || len(plan.Nominations) == 0 {
			continue
		}
		require.NoError(t, pl.Apply(plan), "seed %d", seed)
		require.NoError(t, pl.Evict(plan), "seed %d", seed)
		for _, n := range plan.Nominations {
			require.NoError(t, pl.Bind(n.Pod, n.Node))
		}
		applied++
		if most := o.Limits.Pods; most > 0 {
			pods := int64(0)
			for _, v := range plan.Victims {
				pods += int64(len(v.Pods))
			}
			require.LessOrEqual(t, pods, most)
		}
		if o.HardBudgets.All {
			require.Zero(t, plan.Overruns)
		}
	}
	t.Log(applied, "applied,", broken, "broken off")
	require.Positive(t, applied)
}

// TestPlansOfAGatheringShareNothing: whoever changes one finds the next as it was.
func TestPlansOfAGatheringShareNothing(t *testing.T) {
	pl, r := planned(t)
	g := pl.Gather()
	_, err := g.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ns", Name: "web"})
	require.NoError(t, err)
	first, err := g.Plan()
	require.NoError(t, err)
	want := asJSON(t, first)
	require.NotEmpty(t, first.Victims)
	first.Victims[0].Pods[0].Name, first.Nominations[0].Node, first.Preemptor.Gathered[0].Name = "other", "other", "other"
	again, err := g.Plan()
	require.NoError(t, err)
	require.Equal(t, want, asJSON(t, again))
	require.NoError(t, pl.Apply(r))
}

// TestAPodOfAGangAskedAlone: whoever asks about one pod of a gang is told what the gang needs
// beside it, or refused under Strict; who gathers its pods is not.
func TestAPodOfAGangAskedAlone(t *testing.T) {
	four := int32(4)
	farm := func(running int, change func(*preemption.Snapshot)) *preemption.Snapshot {
		s := &preemption.Snapshot{
			Nodes:     []preemption.Node{{Name: "n", Allocatable: preemption.Resources{"cpu": 9}}},
			PodGroups: []preemption.PodGroup{{Namespace: "ns", Name: "train", MinCount: &four}},
		}
		for i := range 5 {
			p := preemption.Pod{Namespace: "ns", Name: fmt.Sprint("t", i), Group: "train", Requests: preemption.Resources{"cpu": 1}}
			if i >= 5-running {
				p.Node = "n"
			}
			s.Pods = append(s.Pods, p)
		}
		if change != nil {
			change(s)
		}
		return s
	}
	byName := preemption.Preemptor{Kind: preemption.KindPod, Namespace: "ns", Name: "t0"}
	inline := preemption.Preemptor{Pods: []preemption.Pod{{Namespace: "ns", Name: "new", Group: "train"}}}
	for name, c := range map[string]struct {
		s     *preemption.Snapshot
		asks  preemption.Preemptor
		needs int
	}{
		"nobody runs":       {farm(0, nil), byName, 3},
		"one runs":          {farm(1, nil), byName, 2},
		"two run":           {farm(2, nil), byName, 1},
		"three run":         {farm(3, nil), byName, 0},
		"all others run":    {farm(4, nil), byName, 0},
		"inline":            {farm(2, nil), inline, 1},
		"the group":         {farm(0, nil), preemption.Preemptor{Kind: preemption.KindPodGroup, Namespace: "ns", Name: "train"}, 0},
		"a basic group":     {farm(0, func(s *preemption.Snapshot) { s.PodGroups[0].MinCount, s.PodGroups[0].Basic = nil, true }), byName, 0},
		"in no group":       {farm(0, func(s *preemption.Snapshot) { s.Pods[0].Group = "" }), byName, 0},
		"it finds no place": {farm(1, func(s *preemption.Snapshot) { s.Nodes[0].Unschedulable = true }), byName, 2},
		"the group is queued": {farm(1, func(s *preemption.Snapshot) {
			s.PodGroups[0].Queue, s.LocalQueues = "q", []preemption.LocalQueue{{Namespace: "ns", Name: "q", ClusterQueue: "q"}}
			s.ClusterQueues = []preemption.ClusterQueue{{Name: "q"}}
		}), byName, 2},
	} {
		for _, rules := range []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137, preemption.KEP5710Alpha} {
			pl, err := preemption.NewPlanner(c.s, preemption.Options{Rules: rules})
			require.NoError(t, err, name)
			require.Equal(t, c.needs, decidesAlike(t, pl, c.asks, rules).Needs, "%s, %s", name, rules)
			strict, err := preemption.NewPlanner(c.s, preemption.Options{Rules: rules, Strict: true})
			require.NoError(t, err, name)
			_, err = strict.Preempt(c.asks)
			_, err2 := strict.Decide(c.asks)
			require.Equal(t, err, err2, name)
			if c.needs == 0 {
				require.NoError(t, err, name)
				continue
			}
			r, err3 := pl.Preempt(c.asks)
			require.NoError(t, err3)
			w := r.Warnings[len(r.Warnings)-1]
			require.Equal(t, preemption.KindPod, w.Kind, name)
			var field *cluster.FieldError
			require.ErrorAs(t, err, &field, name)
			require.Equal(t, cluster.FieldError{
				Kind: "Pod", Namespace: "ns", Name: w.Name, Field: "Group", Value: "train", Want: "accepted under Strict (" + w.Text + ")",
			}, *field, name)
		}
	}
	for _, rules := range []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137} {
		pl, err := preemption.NewPlanner(farm(1, nil), preemption.Options{Rules: rules, Strict: true})
		require.NoError(t, err)
		g := pl.Gather()
		for i := range 3 {
			r, err := g.Preempt(preemption.Preemptor{Kind: preemption.KindPod, Namespace: "ns", Name: fmt.Sprint("t", i)})
			require.NoError(t, err)
			require.Empty(t, r.Warnings)
		}
		plan, err := g.Plan()
		require.NoError(t, err)
		v, err := pl.StillValid(plan)
		require.NoError(t, err)
		require.Equal(t, preemption.Keep, v.Advice, v.Reason)
		require.NoError(t, pl.Apply(plan))
		require.NoError(t, pl.Bind(plan.Nominations[0].Pod, plan.Nominations[0].Node))
		v, err = pl.StillValid(plan)
		require.NoError(t, err)
		require.Equal(t, preemption.Keep, v.Advice, v.Reason)
	}
}

// TestWhatIsAnsweredInlineCanBeApplied: what a cluster may not have is refused when it is asked about, not when it is
// to come, or after that.
func TestWhatIsAnsweredInlineCanBeApplied(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := gen.AnyProfile(t)
		p.Queues, p.Extremes, p.Guards, p.Odd = false, false, true, true // extremes: sums beyond an int64 are seen once pods are nominated
		m, q := gen.NewMaker(t, p)
		o := genopts.Any().Draw(t, "options")
		o.Hooks, o.Sampling = nil, nil
		o.PreemptionPriority.MaxLead = int32(m.N(2000))
		pl, err := preemption.NewPlanner(&q.Snapshot, o)
		if err != nil {
			t.SkipNow()
		}
		for range 10 {
			asked := m.Preemptor()
			asked.Placement = nil
			if len(asked.Pods) == 0 {
				continue
			}
			fork := pl.Fork()
			r, err := fork.Preempt(asked)
			if err != nil || r.Verdict != preemption.Feasible && r.Verdict != preemption.Fits {
				continue
			}
			t.Logf("options %v, snapshot %v, asked %v", told{o}, told{q.Snapshot}, told{asked})
			require.NoError(t, fork.Apply(r))
			_, err = fork.StillValid(r)
			require.NoError(t, err)
		}
	})
}

func TestWhatAClusterMayNotHaveIsRefusedInline(t *testing.T) {
	lead, two := prio(30), int32(2)
	pod := func(name string, guard *cluster.Guard) preemption.Pod {
		return preemption.Pod{Namespace: "ns", Name: name, Priority: prio(10), Guard: guard}
	}
	climbs := &cluster.Guard{Milestones: []cluster.Milestone{{Seconds: 5, Value: 16}}}
	bounded := preemption.Options{PreemptionPriority: preemption.PreemptionPriority{MaxLead: 5}}
	for name, c := range map[string]struct {
		options preemption.Options
		asked   preemption.Preemptor
		want    string
	}{
		"a milestone": {
			bounded, preemption.Preemptor{Pods: []preemption.Pod{pod("p", climbs)}},
			`cluster: Pod "ns/p": Guard.Milestones[0].Value: 16 is not at most 5 above the priority 10`,
		},
		"a group's lead": {
			bounded, preemption.Preemptor{Group: &preemption.PodGroup{Namespace: "ns", Name: "g", Priority: prio(10), PreemptionPriority: lead}, Pods: []preemption.Pod{pod("p", nil)}},
			`cluster: PodGroup "ns/g": PreemptionPriority: 30 is not at most 5 above the priority 10`,
		},
		"less than the priority": {
			preemption.Options{}, preemption.Preemptor{Pods: []preemption.Pod{{Name: "p", Priority: prio(10), PreemptionPriority: prio(9)}}},
			`cluster: Pod "p": PreemptionPriority: 9 is not >= the priority 10`,
		},
		"all of a basic group": {
			preemption.Options{Rules: preemption.KEP5710Alpha},
			preemption.Preemptor{Group: &preemption.PodGroup{Namespace: "ns", Name: "g", Mode: preemption.All}, Pods: []preemption.Pod{pod("p", nil)}},
			`cluster: PodGroup "ns/g": Mode: All is not Single: the group is basic`,
		},
		"odd, under Strict": {
			preemption.Options{Strict: true},
			preemption.Preemptor{Group: &preemption.PodGroup{Namespace: "ns", Name: "g", Priority: prio(10), MinCount: &two}, Pods: []preemption.Pod{pod("p", nil)}},
			`cluster: PodGroup "ns/g": MinCount: 2 is not accepted under Strict (the group has 1 pods)`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			pl, err := preemption.NewPlanner(twoNodes(), c.options)
			require.NoError(t, err)
			_, err1 := pl.Preempt(c.asked)
			_, err2 := pl.Decide(c.asked)
			_, err3 := pl.PreemptAll([]preemption.Preemptor{c.asked})
			_, err4 := pl.WhyNot(c.asked, preemption.NodeTarget("n1"))
			_, err5 := pl.Park(c.asked)
			for _, err := range []error{err1, err2, err3, err4, err5} {
				require.ErrorContains(t, err, c.want)
				var field *cluster.FieldError
				require.ErrorAs(t, err, &field)
			}
		})
	}
}

// TestAGivenPlacementGoesWithTheAnswer: what a named group was asked about is asked again, not where
// else it might go; also of an answer from JSON, and once a member runs.
func TestAGivenPlacementGoesWithTheAnswer(t *testing.T) {
	zero, high := int32(0), int32(1000)
	for _, namespace := range []string{"", "default"} {
		ref := func(name string) preemption.PodRef { return preemption.PodRef{Namespace: namespace, Name: name} }
		s := &preemption.Snapshot{
			Nodes:     []preemption.Node{{Name: "n0", Allocatable: cpus(2)}, {Name: "n1", Allocatable: cpus(2)}},
			PodGroups: []preemption.PodGroup{{Namespace: namespace, Name: "gang", Basic: true, Priority: &high}},
		}
		for _, name := range []string{"v0", "v1"} {
			s.Pods = append(s.Pods, preemption.Pod{Namespace: namespace, Name: name, Node: "n0", Priority: &zero, Requests: cpus(1)})
		}
		asks := preemption.Preemptor{Kind: preemption.KindPodGroup, Namespace: namespace, Name: "gang", Placement: map[string]string{}}
		for _, name := range []string{"m0", "m1"} {
			s.Pods = append(s.Pods, preemption.Pod{Namespace: namespace, Name: name, Group: "gang", Priority: &high, Requests: cpus(1)})
			asks.Placement[strings.TrimPrefix(namespace+"/"+name, "/")] = "n0"
		}
		pl, err := preemption.NewPlanner(s, preemption.Options{})
		require.NoError(t, err)
		r, err := pl.Preempt(asks)
		require.NoError(t, err)
		require.Len(t, r.Victims, 2)
		text, err := json.Marshal(r)
		require.NoError(t, err)
		read := &preemption.Result{}
		require.NoError(t, json.Unmarshal(text, read))
		for _, r := range []*preemption.Result{r, read} {
			v, err := pl.StillValid(r)
			require.NoError(t, err)
			require.Equal(t, preemption.Keep, v.Advice, "%s", v.Reason)
			fork := pl.Fork()
			require.NoError(t, fork.Apply(r))
			for _, name := range []string{"v0", "v1"} {
				require.NoError(t, fork.Remove(ref(name)))
			}
			require.NoError(t, fork.Bind(ref("m0"), "n0"))
			v, err = fork.StillValid(r)
			require.NoError(t, err)
			require.Equal(t, preemption.Cancel, v.Advice)
			require.Equal(t, "it fits without evicting anybody", v.Reason)
		}
	}
}
