package gen

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// epoch is when the first pods of small clusters started.
var epoch = time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)

// GPU is the extended resource of the clusters.
const GPU = "example.com/gpu"

// builder makes one question.
type builder struct {
	Source
	p Profile
	s cluster.Snapshot

	sizes, starts, levels int // how many different ones there are: with few of them all is tied
}

func build(src Source, p Profile) Question {
	b := surroundings(src, p)
	return Question{Preemptor: b.preemptor(), Snapshot: b.s}
}

// surroundings is everything but the preemptor.
func surroundings(src Source, p Profile) *builder {
	if p.MaxNodes == 0 {
		p.MaxNodes = 6
	}
	if p.MaxPods == 0 {
		p.MaxPods = 20
	}
	b := &builder{Source: src, p: p}
	b.sizes, b.starts, b.levels = 1+b.Source(4), 1+b.Source(4), 1+b.Source(7)
	b.s.Time = epoch.Add(6 * time.Hour)
	if b.chance(p.Odd, 5) {
		b.s.Time = time.Time{}
	}
	alike := b.Source(2) == 0
	for i := range p.MinNodes + 1 + min(b.Source(p.MaxNodes-p.MinNodes), b.Source(p.MaxNodes-p.MinNodes)) {
		if p.MinNodes > 0 && i > 2 {
			n := b.s.Nodes[b.Source(3)]
			n.Name, n.Labels, n.Allocatable = fmt.Sprintf("n%d", i), maps.Clone(n.Labels), maps.Clone(n.Allocatable)
			b.s.Nodes = append(b.s.Nodes, n)
			continue
		}
		b.s.Nodes = append(b.s.Nodes, b.node(i))
		if alike {
			b.s.Nodes[i].Allocatable = maps.Clone(b.s.Nodes[0].Allocatable)
		}
	}
	b.classes()
	b.groups()
	for i := range max(b.Source(p.MaxPods+1), b.Source(p.MaxPods+1)) {
		b.s.Pods = append(b.s.Pods, b.running(i))
	}
	for i := range p.Nested {
		b.nest(fmt.Sprintf("nest%d", i))
	}
	b.guard()
	b.budgets()
	for i := range 3 {
		if b.chance(p.Nominations, 30) {
			b.s.Pods = append(b.s.Pods, b.nominee(i))
		}
	}
	return b
}

func (b *builder) node(i int) cluster.Node {
	n := cluster.Node{
		Name: fmt.Sprintf("n%d", i),
		Allocatable: cluster.Resources{
			cluster.CPU:    1000 * int64(2+b.Source(3)),
			cluster.Memory: 1 << 30 * int64(4+b.Source(5)),
		},
	}
	if b.Source(3) == 0 {
		n.Allocatable[cluster.Pods] = Pick(b.Source, int64(10), 4, 4, 3, 3, 2, 1, 0)
	}
	if b.Source(2) > 0 {
		n.Allocatable[GPU] = int64(b.Source(3))
	}
	if !b.p.Placement {
		return n
	}
	n.Labels = map[string]string{"zone": Pick(b.Source, "a", "b"), "generation": Pick(b.Source, "1", "2", "10", "old")}
	n.Unschedulable = b.chance(true, 4)
	for range 2 {
		if b.chance(true, 6) {
			n.Taints = append(n.Taints, cluster.Taint{
				Key:    Pick(b.Source, "dedicated", "weight"),
				Value:  Pick(b.Source, "", "5", "ml"),
				Effect: Pick(b.Source, cluster.NoSchedule, cluster.PreferNoSchedule, cluster.NoExecute),
			})
		}
	}
	if len(n.Taints) == 2 && n.Taints[0].Key == n.Taints[1].Key && n.Taints[0].Effect == n.Taints[1].Effect {
		n.Taints = n.Taints[:1] // a key has one value for an effect
	}
	if n.Unschedulable && b.Source(2) == 0 {
		n.Taints = append(n.Taints, cluster.Taint{Key: cluster.TaintUnschedulable, Effect: cluster.NoSchedule})
	}
	return n
}

// pod is what running and pending pods have in common.
func (b *builder) pod(name string) cluster.Pod {
	p := cluster.Pod{
		Namespace: Pick(b.Source, "default", "default", "default", "team"),
		Name:      name,
		UID:       Pick(b.Source, name, "", fmt.Sprintf("u%d", b.Source(10))),
		Labels:    Pick(b.Source, nil, map[string]string{"app": "web"}, map[string]string{"app": "db"}, map[string]string{"tier": "back"}),
		Requests:  cluster.Resources{cluster.CPU: 500 * int64(1+b.Source(b.sizes))},
	}
	if b.Source(3) == 0 {
		p.Requests[cluster.Memory] = 1 << 30 * int64(b.Source(b.sizes))
	}
	if b.chance(true, 10) {
		p.Requests[GPU] = int64(b.Source(2))
	}
	if b.chance(true, 3) {
		p.Requests = nil
	}
	if b.chance(b.p.Ports, 15) {
		p.Ports = append(p.Ports, b.port())
	}
	return p
}

func (b *builder) port() cluster.HostPort {
	return cluster.HostPort{
		Port:     Pick(b.Source, int32(80), 443),
		Protocol: Pick(b.Source, "", "TCP", "UDP"),
		IP:       Pick(b.Source, "", "0.0.0.0", "10.0.0.1", "10.0.0.2"),
	}
}

func (b *builder) running(i int) cluster.Pod {
	p := b.pod(fmt.Sprintf("p%02d", i))
	p.Node = b.someNode()
	if b.chance(b.p.Odd, 3) {
		p.Node = "gone"
	}
	b.prioritize(&p, []int32{0, 10, 10, 100, 0, -10, 1000}[:b.levels]...)
	if b.p.MinNodes > 0 && b.levels > 3 && p.Priority != nil {
		*p.Priority += int32(b.Source(40))
	}
	if b.Source(5) > 0 {
		p.Started = epoch.Add(time.Duration(b.Source(b.starts)) * time.Hour)
	}
	if b.chance(b.p.Odd, 3) {
		p.Started = epoch.Add(7 * time.Hour) // clocks differ
	}
	if b.chance(b.p.Terminating, 10) {
		p.Terminating = true
		p.Preempted = b.Source(2) > 0
	}
	if b.chance(b.p.Groups, 40) && len(b.s.PodGroups) > 0 {
		g := Pick(b.Source, b.s.PodGroups...)
		p.Namespace, p.Group = g.Namespace, g.Name
	}
	if b.chance(b.p.Odd, 3) {
		p.Group = "missing"
	}
	return p
}

// prioritize gives a pod one of the priorities, by its own field or by a class.
func (b *builder) prioritize(p *cluster.Pod, choices ...int32) {
	v := Pick(b.Source, choices...)
	p.Priority = &v
	if !b.chance(b.p.Classes, 30) || len(b.s.PriorityClasses) == 0 {
		return
	}
	p.Class = Pick(b.Source, b.s.PriorityClasses...).Name
	switch b.Source(3) {
	case 0:
		p.Priority = nil
	case 1:
		p.Priority, p.Class = nil, ""
	}
}

func (b *builder) classes() {
	if !b.p.Classes {
		return
	}
	for i := range classValues {
		if b.Source(2) > 0 {
			b.s.PriorityClasses = append(b.s.PriorityClasses, b.class(i))
		}
	}
	if n := len(b.s.PriorityClasses); b.chance(n > 0, 20) {
		b.s.PriorityClasses[b.Source(n)].GlobalDefault = true
	}
}

var classValues = [...]int32{10, 100, 1000}

func (b *builder) class(i int) priority.Class {
	return priority.Class{
		Name:   fmt.Sprintf("class%d", i),
		Value:  classValues[i],
		Policy: Pick(b.Source, "", "", priority.PreemptLowerPriority, priority.Never),
	}
}

func (b *builder) nominee(i int) cluster.Pod {
	p := b.pod(fmt.Sprintf("q%d", i))
	b.prioritize(&p, 0, 10, 100, 1000)
	p.NominatedNode = b.someNode()
	if b.chance(b.p.Odd, 5) {
		p.NominatedNode = "gone"
	}
	return p
}

// preemptor makes the pod that wants to run, in the snapshot or inline.
func (b *builder) preemptor() cluster.Preemptor {
	p := b.pod("web")
	if p.Requests != nil {
		p.Requests[cluster.CPU] += 500 * int64(b.Source(3))
	}
	b.prioritize(&p, 1000, 1000, 1000, 100, 100, 10)
	p.Policy = Pick(b.Source, "", "", "", priority.PreemptLowerPriority)
	if b.chance(b.p.Classes, 5) {
		p.Policy = priority.Never
	}
	if b.chance(b.p.Nominations, 30) {
		p.NominatedNode = b.someNode()
	}
	b.place(&p)
	if b.p.Guards {
		b.guarded(&p.Guard, &p.Evictions, &p.RanSeconds)
	}
	if b.Source(3) > 0 {
		return cluster.Preemptor{Kind: cluster.KindPod, Pods: []cluster.Pod{p}}
	}
	b.s.Pods = append(b.s.Pods, p)
	return cluster.Preemptor{Kind: cluster.KindPod, Namespace: p.Namespace, Name: p.Name}
}

// someNode is the name of a node, that of none where there is none.
func (b *builder) someNode() string {
	if len(b.s.Nodes) == 0 {
		return "n0"
	}
	return Pick(b.Source, b.s.Nodes...).Name
}

// CheckUntil is [rapid.Check], repeated until the property has met each case that it
// counts in met: a short run draws too little to be sure of that at once. It fails if a
// hundred rounds have not met one of them. Each round draws anew, also where -rapid.seed is given.
func CheckUntil(t *testing.T, property func(*rapid.T), met ...*int) {
	t.Helper()
	given := flag.Lookup("rapid.seed").Value.String()
	seed, err := strconv.ParseUint(given, 10, 64)
	require.NoError(t, err)
	defer func() { require.NoError(t, flag.Set("rapid.seed", given)) }()
	for round := range uint64(100) {
		if seed != 0 {
			require.NoError(t, flag.Set("rapid.seed", strconv.FormatUint(seed+round<<32, 10)))
		}
		rapid.Check(t, property)
		if all(met) {
			return
		}
	}
	for i, count := range met {
		require.Positive(t, *count, "case %d that the property is about was never met", i)
	}
}

func all(met []*int) bool {
	for _, count := range met {
		if *count == 0 {
			return false
		}
	}
	return true
}

// Tests runs the tests of a package whose clusters are small, and is what its TestMain does. They leave a heap of few megabytes,
// which would be collected hundreds of times a second; beside 64 MiB that are never touched, it may grow to 128 MiB first.
func Tests(m *testing.M) {
	ballast := make([]byte, 64<<20)
	m.Run()
	runtime.KeepAlive(ballast)
}

// Source is where choices come from: a number from 0 to n-1 each, of which the
// lower ones are the plainer choice, so that shrinking simplifies.
type Source func(n int) int

// Seeded is a source that always gives the same numbers for a seed.
func Seeded(seed uint64) Source {
	return rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)).IntN
}

// Drawn is a source that takes rapid's numbers.
func Drawn(t *rapid.T) Source {
	return func(n int) int {
		if n < len(upTo) {
			return upTo[n].Draw(t, "choice")
		}
		return rapid.IntRange(0, n-1).Draw(t, "choice")
	}
}

// upTo has a generator of the numbers below n at n: making one costs more than it does.
var upTo = func() (list [101]*rapid.Generator[int]) {
	for n := 1; n < len(list); n++ {
		list[n] = rapid.IntRange(0, n-1)
	}
	return list
}()

// chance is true in percent of all cases, and never when the feature is off.
func (s Source) chance(on bool, percent int) bool {
	return on && s(100) >= 100-percent
}

// Pick is one of the choices, the first of them when shrunk.
func Pick[T any](s Source, choices ...T) T { return choices[s(len(choices))] }
