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

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/genopts"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// BenchmarkFilter: a decision about a pod that evicts others, of a shape that was seen, with
// a filter that keeps it off every third node, with a rule that lets only so many pods of one team onto a node,
// as a Colocation of nodes, or of racks of 20, and as a constraint that declares nothing, and without any; with changes, a pod leaves and comes back before each.
func BenchmarkFilter(b *testing.B) {
	for _, s := range []struct{ nodes, pods int }{{100, 3_000}, {5_000, 150_000}} {
		snap := gen.Fleet(s.nodes, s.pods/s.nodes, 1, gen.Uniform)
		for i := range snap.Nodes {
			snap.Nodes[i].Labels = map[string]string{"team": []string{"", "vision", "speech"}[i%3], "rack": fmt.Sprint("r", i/20)}
		}
		ask := gen.FleetPod(1)
		ask.Pods[0].Labels = map[string]string{"app": "train", "team": "vision", "pod-template-hash": "6d4cf56db6"}
		ofTeam := func(p *preemption.Pod) bool { return p.Labels["team"] != "" }
		teams := domain.Colocation{Check: "teams", Of: ofTeam, Monotone: true,
			Allows: func(_ *preemption.Pod, _ *preemption.Node, others []*preemption.Pod) bool {
				there := 0
				for _, o := range others {
					if ofTeam(o) {
						there++
					}
				}
				return there < 2
			}}
		racks := teams
		racks.TopologyKey = "rack"
		for _, hook := range []struct {
			name  string
			hooks *preemption.Hooks
		}{
			{"none", nil},
			{"filter", &preemption.Hooks{Filter: func(p *preemption.Pod, n *preemption.Node) bool {
				return n.Labels["team"] == "" || n.Labels["team"] == p.Labels["team"]
			}}},
			{"colocation", &preemption.Hooks{Constraints: []domain.Constraint{teams}}},
			{"racks", &preemption.Hooks{Constraints: []domain.Constraint{racks}}},
			{"undeclared", &preemption.Hooks{Constraints: []domain.Constraint{struct{ domain.Constraint }{teams}}}},
		} {
			for _, changes := range []bool{false, true} {
				b.Run(fmt.Sprintf("hook=%s/changes=%t/nodes=%d/pods=%d", hook.name, changes, s.nodes, s.pods), func(b *testing.B) {
					pl, err := preemption.NewPlanner(&snap, preemption.Options{Hooks: hook.hooks})
					if err != nil {
						b.Fatal(err)
					}
					c := &changed{Planner: pl, b: b, snap: snap}
					decide := func() {
						if d, err := pl.Decide(ask); err != nil || d.Verdict != preemption.Feasible {
							b.Fatal(d, err)
						}
					}
					for range 3 { // until the shape is known
						decide()
					}
					c.decideAgain(changes, decide)
				})
			}
		}
	}
}

// BenchmarkPrefer: a decision about a pod that fits on many nodes, of a shape that was seen,
// while the cluster changes: a pod leaves and comes back before each. With none it goes to
// the first node by name.
func BenchmarkPrefer(b *testing.B) {
	for _, s := range []struct{ nodes, pods int }{{100, 3_000}, {5_000, 150_000}} {
		snap := gen.Fleet(s.nodes, s.pods/s.nodes, 1, gen.Uniform)
		for i := range snap.Nodes {
			snap.Nodes[i].Allocatable[cluster.CPU] *= 2
		}
		ask := gen.FleetPod(1)
		for _, prefer := range []preemption.Preference{"", preemption.LeastAllocated, preemption.MostAllocated} {
			for _, changes := range []bool{false, true} {
				b.Run(fmt.Sprintf("prefer=%s/changes=%t/nodes=%d/pods=%d", prefer, changes, s.nodes, s.pods), func(b *testing.B) {
					pl, err := preemption.NewPlanner(&snap, preemption.Options{Prefer: prefer})
					if err != nil {
						b.Fatal(err)
					}
					c := &changed{Planner: pl, b: b, snap: snap}
					c.decideAgain(changes, func() {
						if d, err := pl.Decide(ask); err != nil || d.Verdict != preemption.Fits {
							b.Fatal(d, err)
						}
					})
				})
			}
		}
	}
}

// decideAgain measures decide; with changes, a pod leaves and comes back before each.
func (c *changed) decideAgain(changes bool, decide func()) {
	i := 0
	c.b.ReportAllocs()
	for c.b.Loop() {
		if changes {
			pod := c.pod(i)
			c.must(c.Remove(refOf(pod)))
			c.must(c.SetPod(pod))
			i++
		}
		decide()
	}
}

// BenchmarkOptions decides about a pod of a shape that is known, under options that say who
// is kept, what evictions cost, or who comes first, or where pods are nominated to 200 nodes:
// again, or once a pod or the time has changed, which counts, too.
func BenchmarkOptions(b *testing.B) {
	work := disruption.Tariff{Work: map[string]disruption.Rate{cluster.CPU: {Price: 1}}}
	suits := func(*preemption.Pod, *cluster.Node) bool { return true }
	for _, c := range []struct {
		name string
		o    preemption.Options
	}{
		{"none", preemption.Options{}},
		{"nominated", preemption.Options{}},
		{"guaranteed", preemption.Options{Guards: preemption.Guards{GuaranteedSeconds: 60}}},
		{"criterion", preemption.Options{Cost: preemption.CostOptions{Tariff: work, Criterion: 1}}},
		{"importance", preemption.Options{Cost: preemption.CostOptions{Tariff: work, Importance: true}}},
		{"movable", preemption.Options{PreferMovable: true}},
		{"objective", preemption.Options{Objective: []preemption.CriterionName{preemption.CriterionPods, preemption.CriterionOverruns}}},
		{"limits", preemption.Options{Limits: preemption.Limits{Pods: 3}}},
		{"filter", preemption.Options{Guards: preemption.Guards{GuaranteedSeconds: 60}, Hooks: &preemption.Hooks{Filter: suits}}},
	} {
		for _, nodes := range []int{100, 5_000} {
			if testing.Short() && nodes > 100 {
				continue
			}
			for _, after := range []string{"nothing", "pod", "tick"} {
				b.Run(fmt.Sprintf("option=%s/after=%s/nodes=%d/pods=%d", c.name, after, nodes, 30*nodes), func(b *testing.B) {
					snap := gen.Fleet(nodes, 30, seed, gen.Uniform)
					pl, err := preemption.NewPlanner(&snap, c.o)
					l := &changed{pl, b, snap, snap.Time}
					l.must(err)
					for i := 0; i < min(nodes, 200) && c.name == "nominated"; i++ {
						p := gen.FleetPod(uint64(i)).Pods[0]
						p.Name, p.NominatedNode = fmt.Sprint("nominated-", i), l.node(i).Name
						l.must(pl.SetPod(p))
					}
					change := func(int) {}
					if i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == after }); i >= 0 {
						change = func(turn int) { kinds[i].change(l, turn) }
					}
					p := gen.FleetPod(1)
					decide := func() {
						_, err := pl.Decide(p)
						l.must(err)
					}
					for i := range 30 { // the first questions look at all nodes
						change(i)
						decide()
					}
					b.ReportAllocs()
					for i := 30; b.Loop(); i++ {
						change(i)
						decide()
					}
				})
			}
		}
	}
}

// Labels of the nodes of a tied-up cluster: host names, racks of 40, 16 zones.
const (
	hostKey = "kubernetes.io/hostname"
	rackKey = "topology.kubernetes.io/rack"
	zoneKey = "topology.kubernetes.io/zone"
)

// tiedUp is a cluster of workloads with 100 pods each, a fifth of which are tied: to
// no other pod of theirs on the same host or rack, or to a namespace.
func tiedUp(s size, shape gen.Shape) cluster.Snapshot {
	snap := gen.Fleet(s.nodes, s.pods/s.nodes, seed, shape)
	for i := range snap.Nodes {
		snap.Nodes[i].Labels = map[string]string{
			hostKey: snap.Nodes[i].Name, rackKey: fmt.Sprintf("r%d", i/40), zoneKey: fmt.Sprintf("z%d", i%16),
		}
	}
	numWorkloads := max(s.pods/100, 1)
	for i := range snap.Pods {
		p := &snap.Pods[i]
		w := i * 7919 % numWorkloads
		app := fmt.Sprintf("app-%04d", w)
		p.Labels = map[string]string{"app": app, "pod-template-hash": app + "-1", "team": fmt.Sprintf("team-%02d", w%50)}
		if w%10 == 9 {
			p.Labels["apps.kubernetes.io/pod-index"] = fmt.Sprint(i / numWorkloads)
		}
		switch w % 5 {
		case 0:
			key := hostKey
			if w%15 == 0 {
				key = rackKey
			}
			p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: key, Selector: matching("app", app)}}
			if w == 0 { // one of them keeps away from the preemptor
				p.AntiAffinity = append(p.AntiAffinity, cluster.AffinityTerm{TopologyKey: hostKey, Selector: matching("tier", "front")})
			}
		}
	}
	return snap
}

func matching(key, value string) *disruption.Selector {
	return &disruption.Selector{MatchLabels: map[string]string{key: value}}
}

// ties are what the preemptor is tied to.
var ties = []struct {
	name string
	tie  func(p *cluster.Pod)
}{
	{"none", func(*cluster.Pod) {}},
	{"repelled", func(p *cluster.Pod) { p.Labels["tier"] = "front" }},
	{"anti-host", func(p *cluster.Pod) {
		p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: hostKey, Selector: matching("team", "team-07")}}
	}},
	{"affinity-zone", func(p *cluster.Pod) {
		p.Affinity = []cluster.AffinityTerm{{TopologyKey: zoneKey, Selector: matching("app", "app-0003")}}
	}},
	{"spread", func(p *cluster.Pod) {
		p.Labels["app"] = "app-0003"
		p.Spread = []cluster.Spread{
			{MaxSkew: 1, TopologyKey: hostKey, Selector: matching("app", "app-0003")},
			{MaxSkew: 2, TopologyKey: zoneKey, Selector: matching("team", "team-07")},
		}
	}},
	{"affinity+spread", func(p *cluster.Pod) {
		p.Affinity = []cluster.AffinityTerm{{TopologyKey: zoneKey, Selector: matching("app", "app-0003")}}
		p.Spread = []cluster.Spread{{MaxSkew: 2, TopologyKey: zoneKey, Selector: matching("team", "team-07")}}
	}},
	{"everything", func(p *cluster.Pod) {
		p.Labels["tier"] = "front"
		p.Affinity = []cluster.AffinityTerm{{TopologyKey: zoneKey, Selector: matching("app", "app-0003")}}
		p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: hostKey, Selector: matching("team", "team-07")}}
		p.Spread = []cluster.Spread{{MaxSkew: 2, TopologyKey: zoneKey, Selector: matching("team", "team-07")}}
	}},
}

func tied(tie func(*cluster.Pod)) cluster.Preemptor {
	p := gen.FleetPod(seed)
	p.Pods[0].Requests[cluster.CPU] = 3_500
	p.Pods[0].Labels = map[string]string{}
	tie(&p.Pods[0])
	return p
}

// BenchmarkConstraints is one question to a compiled snapshot, over all nodes, in a
// cluster where a fifth of the pods have anti-affinity terms. With shape=tied all pods
// have one priority, so that no node is left early for the priority that has to go.
func BenchmarkConstraints(b *testing.B) {
	for _, shape := range []gen.Shape{gen.Uniform, gen.Tied} {
		b.Run(fmt.Sprintf("shape=%s", shape), func(b *testing.B) { benchmarkConstraints(b, shape) })
	}
}

func benchmarkConstraints(b *testing.B, shape gen.Shape) {
	for _, s := range sizes() {
		snap := tiedUp(s, shape)
		planner, err := preemption.NewPlanner(&snap, preemption.Options{})
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range ties {
			p := tied(c.tie)
			b.Run(fmt.Sprintf("tie=%s/%s", c.name, s), func(b *testing.B) {
				mustPreempt(b, planner, p) // the columns that are made once; see BenchmarkColumns
				b.ReportAllocs()
				numVictims := 0
				for b.Loop() {
					r, err := planner.Preempt(p)
					if err != nil {
						b.Fatal(err)
					}
					if r.Verdict != preemption.Feasible {
						b.Fatal(r.Verdict, r.Message)
					}
					numVictims += len(r.Victims)
				}
				b.ReportMetric(float64(numVictims)/float64(b.N), "victims/op")
				b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(s.nodes), "ns/node")
			})
		}
	}
}

// BenchmarkColumns is what the first question with terms pays once for a compiled
// snapshot: label sets, and distinct anti-affinity terms.
func BenchmarkColumns(b *testing.B) {
	for _, s := range sizes() {
		snap := tiedUp(s, gen.Uniform)
		for _, column := range []struct {
			name  string
			build func(*cluster.Index) int
		}{
			{"label-sets", func(ix *cluster.Index) int { return ix.LabelSets().Len() }},
			{"anti-terms", func(ix *cluster.Index) int { return ix.AntiTerms().Len() }},
		} {
			b.Run(fmt.Sprintf("column=%s/%s", column.name, s), func(b *testing.B) {
				b.ReportAllocs()
				distinct := 0
				for b.Loop() {
					b.StopTimer()
					ix, err := cluster.NewIndex(&snap)
					if err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
					distinct = column.build(ix)
				}
				b.ReportMetric(float64(distinct), "distinct")
			})
		}
	}
}

// BenchmarkConstraintState is Prepare, and then one pod leaving, a check and its
// return, for each constraint in turn.
func BenchmarkConstraintState(b *testing.B) {
	for _, s := range sizes() {
		snap := tiedUp(s, gen.Uniform)
		ix, err := cluster.NewIndex(&snap)
		if err != nil {
			b.Fatal(err)
		}
		p := tied(ties[len(ties)-1].tie)
		members := []*cluster.Pod{&p.Pods[0]}
		for _, c := range []domain.Constraint{domain.InterPodAffinity(), domain.TopologySpread()} {
			state, err := c.Prepare(ix, members)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("constraint=%s/step=prepare/%s", c.Name(), s), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := c.Prepare(ix, members); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("constraint=%s/step=remove-fits-return/%s", c.Name(), s), func(b *testing.B) {
				b.ReportAllocs()
				i, fits := 0, 0
				for b.Loop() {
					p := cluster.PodID(i * 7919 % ix.NumPods())
					n := ix.NodeOf(p)
					state.Remove(p, n)
					if state.Fits(0, n).OK() {
						fits++
					}
					state.Return(p, n)
					i++
				}
				b.ReportMetric(float64(fits)/float64(i), "fits/op")
			})
		}
	}
}

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
	d.o = genopts.Any().Example(int(seed % 1_000_003))
	hooks := d.o.Hooks
	d.o.Hooks = nil // of which JSON does not tell
	text, _ := json.Marshal(d.o)
	tell(string(text))
	if d.o.Hooks = hooks; hooks != nil {
		tell(fmt.Sprintf("hooks %+v", *hooks))
	}
	return d
}

// errWrong is that an answer does not hold.
var errWrong = errors.New("wrong answer")

// scanCall is one that is made about a question. r is what pl answers.
type scanCall struct {
	name     string
	make     func(q *scanQuestion, pl *preemption.Planner, r *preemption.Result) error
	answered bool // the planner has answered before; r is nil otherwise
}

// scanCalls are the calls that are drawn.
var scanCalls = []scanCall{
	{"preempt", func(q *scanQuestion, pl *preemption.Planner, _ *preemption.Result) error {
		_, err := pl.Preempt(q.p)
		return err
	}, false},
	{"preempt-once", func(q *scanQuestion, _ *preemption.Planner, _ *preemption.Result) error {
		_, err := q.o.Preempt(q.p, &q.snap)
		return err
	}, false},
	{"decide-after-a-change", func(q *scanQuestion, pl *preemption.Planner, _ *preemption.Result) error {
		n := q.snap.Nodes[0]
		n.Unschedulable = !n.Unschedulable
		if err := pl.SetNode(n); err != nil {
			return err
		}
		_, err := pl.Decide(q.p)
		return err
	}, true},
	{"why-not-a-node", func(q *scanQuestion, pl *preemption.Planner, _ *preemption.Result) error {
		_, err := pl.WhyNot(q.p, preemption.NodeTarget(q.snap.Nodes[0].Name))
		return err
	}, false},
	{"why-not-a-unit", func(q *scanQuestion, pl *preemption.Planner, _ *preemption.Result) error {
		target := q.snap.Pods[0].Namespace + "/" + q.snap.Pods[0].Name
		if len(q.snap.PodGroups) > 0 {
			target = q.snap.PodGroups[0].Namespace + "/" + q.snap.PodGroups[0].Name
		}
		_, err := pl.WhyNot(q.p, preemption.UnitTarget(target))
		return err
	}, false},
	{"all", func(q *scanQuestion, pl *preemption.Planner, _ *preemption.Result) error {
		if q.p.Group != nil {
			_, err := pl.PreemptAll([]preemption.Preemptor{q.p})
			return err
		}
		var list []preemption.Preemptor
		for i := range 3 * min(len(q.p.Pods), 1) {
			pod := q.p.Pods[0]
			pod.Name = fmt.Sprint("one-of-many-", i)
			list = append(list, preemption.Preemptor{Pods: []preemption.Pod{pod}})
		}
		_, err := pl.PreemptAll(list)
		return err
	}, false},
	{"cycle", func(q *scanQuestion, pl *preemption.Planner, _ *preemption.Result) error {
		var heads []preemption.Preemptor
		for _, w := range q.snap.Workloads {
			if w.Admission == nil {
				heads = append(heads, preemption.Preemptor{Kind: cluster.KindWorkload, Namespace: w.Namespace, Name: w.Name})
			}
		}
		_, err := pl.Cycle(heads)
		return err
	}, false},
	{"still-valid", func(_ *scanQuestion, pl *preemption.Planner, r *preemption.Result) error {
		_, err := pl.StillValid(r)
		return err
	}, true},
	{"verify", func(q *scanQuestion, _ *preemption.Planner, r *preemption.Result) error {
		if found := check.Verify(&q.snap, q.o, q.p, r); len(found) > 0 {
			return fmt.Errorf("%w: %v", errWrong, found)
		}
		return nil
	}, true},
}

// scanQuestion is a cluster, who wants to run in it, and under which options.
type scanQuestion struct {
	snap cluster.Snapshot
	p    cluster.Preemptor
	o    preemption.Options
}

// label gives the nodes of a fleet their places: racks of 40, 16 zones.
func (q *scanQuestion) label() {
	for i := range q.snap.Nodes {
		n := &q.snap.Nodes[i]
		n.Labels = map[string]string{hostKey: n.Name, "rack": fmt.Sprint(i / 40), "zone": fmt.Sprint(i % 16)}
	}
}

// scanKinds are what a fleet may have beside its pods.
var scanKinds = []struct {
	name   string
	change func(q *scanQuestion, s func(int) int)
}{
	{"hundreds of budgets", func(q *scanQuestion, _ func(int) int) { gen.UnderBudgets(&q.snap) }},
	{"elastic groups", func(q *scanQuestion, s func(int) int) { q.unite(disruption.SurplusFirst, 1+s(200), s) }},
	{"groups that go whole", func(q *scanQuestion, s func(int) int) { q.unite(disruption.All, 1+s(20), s) }},
	{"small groups", func(q *scanQuestion, s func(int) int) { q.unite(disruption.All, len(q.snap.Nodes), s) }},
	{"composites", func(q *scanQuestion, s func(int) int) {
		from := len(q.snap.PodGroups)
		q.unite(disruption.All, 20+s(100), s)
		for i := range q.snap.PodGroups[from:] {
			q.snap.PodGroups[from+i].Parent = fmt.Sprintf("composite%d-%d", from, i%10)
		}
		for i := range 10 {
			low := int32(0)
			q.snap.CompositePodGroups = append(q.snap.CompositePodGroups, cluster.CompositePodGroup{Namespace: "default", Name: fmt.Sprintf("composite%d-%d", from, i), Mode: disruption.All, Priority: &low})
		}
	}},
	{"devices", func(q *scanQuestion, _ func(int) int) {
		for i := range q.snap.Nodes {
			q.snap.Nodes[i].Devices = map[string]cluster.DevicePool{"gpu": {Count: 8, Capacity: 100}}
		}
		q.everyPod(4, func(i int, p *cluster.Pod) {
			p.Devices = []cluster.DeviceRequest{{Resource: "gpu", Count: int32(1 + i%2)}}
		})
	}},
	{"ports", func(q *scanQuestion, _ func(int) int) {
		q.everyPod(3, func(i int, p *cluster.Pod) { p.Ports = []cluster.HostPort{{Port: int32(1000 + i%97)}} })
	}},
	{"tokens", func(q *scanQuestion, _ func(int) int) {
		q.everyPod(50, func(i int, p *cluster.Pod) { p.Tokens = []string{fmt.Sprint("t", i)} })
	}},
	{"anti-affinity", func(q *scanQuestion, s func(int) int) {
		key := []string{hostKey, "rack", "zone"}[s(3)]
		q.everyPod(1+s(10), func(_ int, p *cluster.Pod) {
			p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: key, Selector: matching("tier", "front")}}
		})
	}},
	{"a thousand priorities", func(q *scanQuestion, _ func(int) int) {
		q.everyPod(1, func(i int, p *cluster.Pod) { priority := int32(i * 7919 % 1000); p.Priority = &priority })
	}},
	{"pods bound to their nodes", func(q *scanQuestion, s func(int) int) {
		q.everyPod(2+s(10), func(_ int, p *cluster.Pod) { p.NodeSelector = map[string]string{hostKey: p.Node} })
	}},
}

// everyPod changes one pod in so many.
func (q *scanQuestion) everyPod(nth int, change func(i int, p *cluster.Pod)) {
	for i := 0; i < len(q.snap.Pods); i += nth {
		change(i/nth, &q.snap.Pods[i])
	}
}

// unite makes so many groups, each of pods on many nodes, or on a few neighbours.
func (q *scanQuestion) unite(mode disruption.Mode, num int, s func(int) int) {
	low, least, from := int32(s(10)), int32(1+s(4)), len(q.snap.PodGroups)
	for i := range num {
		q.snap.PodGroups = append(q.snap.PodGroups, cluster.PodGroup{Namespace: "default", Name: fmt.Sprint("group", from+i), Mode: mode, MinCount: &least, Priority: &low})
	}
	near := s(2) == 0
	q.everyPod(1+s(30), func(i int, p *cluster.Pod) {
		if p.Group != "" {
			return
		}
		group := i % num
		if near {
			group = i / 10 % num
		}
		p.Group, p.Priority = fmt.Sprint("group", from+group), &low
	})
}

// underQueues puts a cohort of queues over the cluster, in which pods hold quota, workloads wait, and the preemptor
// may need some.
func underQueues(q *scanQuestion, s func(int) int) {
	num := 1 + s(40)
	q.snap.ResourceFlavors = []cluster.ResourceFlavor{{Name: "f"}}
	all := []cluster.ResourceQuota{{Resource: cluster.CPU, Nominal: int64(64_000 * len(q.snap.Nodes) / num)}}
	for i := range num {
		name := fmt.Sprint("q", i)
		q.snap.ClusterQueues = append(q.snap.ClusterQueues, cluster.ClusterQueue{Name: name, Cohort: "all",
			Groups:     []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{Flavor: "f", Resources: all}}}},
			Preemption: cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority, ReclaimWithinCohort: cluster.AnyPriority}})
		q.snap.LocalQueues = append(q.snap.LocalQueues, cluster.LocalQueue{Namespace: "default", Name: name, ClusterQueue: name})
		q.snap.Workloads = append(q.snap.Workloads, cluster.Workload{Namespace: "default", Name: fmt.Sprint("w", i), Queue: name, Priority: 1000,
			PodSets: []cluster.PodSet{{Name: "main", Count: 8, Requests: cluster.Resources{cluster.CPU: 8_000}}}})
	}
	q.everyPod(1+s(5), func(i int, p *cluster.Pod) { p.Queue = fmt.Sprint("q", i%num) })
	if s(3) > 0 {
		for i := range q.p.Pods {
			q.p.Pods[i].Queue = "q0"
		}
		return
	}
	q.p = cluster.Preemptor{Kind: cluster.KindWorkload, Namespace: "default", Name: "w0"}
}

// scanPreemptors are who asks.
var scanPreemptors = []struct {
	name string
	draw func(s func(int) int) cluster.Preemptor
}{
	{"a pod", func(s func(int) int) cluster.Preemptor {
		return lone(func(p *cluster.Pod) { p.Requests[cluster.CPU] = int64(1_000 + s(30_000)) })
	}},
	{"equal members", func(s func(int) int) cluster.Preemptor { return scanGang(s, func(int) int { return 0 }) }},
	{"members of shapes", func(s func(int) int) cluster.Preemptor { return scanGang(s, func(i int) int { return i % 4 }) }},
	{"unlike members", func(s func(int) int) cluster.Preemptor { return scanGang(s, func(i int) int { return i * 37 % 101 }) }},
}

// scanGang is a gang of 8 or 64 whose members are larger by what more says, perhaps in one rack.
func scanGang(s func(int) int, more func(i int) int) cluster.Preemptor {
	group, cpu, grain := cluster.PodGroup{}, int64(1_000+s(12_000)), int64(1+s(100))
	switch s(3) {
	case 1:
		group.Topology = []cluster.TopologyConstraint{{Key: "rack"}}
	case 2:
		group.Topology = []cluster.TopologyConstraint{{Key: "zone", Preferred: true}}
	}
	high, count := int32(1000), int32([]int{8, 64}[s(2)])
	group.Namespace, group.Name, group.MinCount, group.Priority = "default", "gang", &count, &high
	p := cluster.Preemptor{Group: &group}
	for i := range int(count) {
		p.Pods = append(p.Pods, cluster.Pod{
			Namespace: "default", Name: fmt.Sprintf("m%02d", i), Group: "gang", Priority: &high,
			Requests: cluster.Resources{cluster.CPU: cpu + grain*int64(more(i))},
		})
	}
	return p
}

// scanTies are what members may be tied to.
var scanTies = []struct {
	name string
	tie  func(p *cluster.Pod, i int)
}{
	{"tier", func(p *cluster.Pod, _ int) { p.Labels = map[string]string{"tier": "front"} }},
	{"with tokens", func(p *cluster.Pod, i int) { p.Tokens = []string{fmt.Sprint("t", i)} }},
	{"with devices", func(p *cluster.Pod, i int) {
		p.Devices = []cluster.DeviceRequest{{Resource: "gpu", Count: int32(1 + i%4)}}
	}},
	{"with ports", func(p *cluster.Pod, i int) { p.Ports = []cluster.HostPort{{Port: int32(1000 + i%5)}} }},
	{"apart", func(p *cluster.Pod, _ int) {
		p.Labels = map[string]string{"tier": "front"}
		p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: hostKey, Selector: matching("tier", "front")}}
	}},
	{"spread", func(p *cluster.Pod, _ int) {
		p.Labels = map[string]string{"tier": "front"}
		p.Spread = []cluster.Spread{{MaxSkew: 1, TopologyKey: "zone", Selector: matching("tier", "front")}}
	}},
	{"attracted", func(p *cluster.Pod, _ int) {
		p.Affinity = []cluster.AffinityTerm{{TopologyKey: "zone", Selector: matching("app", "app-03")}}
	}},
}
