package plugin

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-base/metrics/testutil"
	"k8s.io/klog/v2"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/preemption"
)

var (
	numEvents = flag.Int("events", 0, "events of TestBesideUpstream; 0: 3,000, with -short 1,500")
	firstSeed = flag.Uint64("seed", 1, "seed of TestBesideUpstream")
)

// TestBesideUpstream lets random events come to kube-scheduler's cache, queue and listers, and asks
// this plugin and upstream's the same whenever a pod fits nowhere: both must evict the same
// pods, nominate the same node and withdraw the same nominations. Every pod has a start of its own, so that upstream
// leaves nothing to chance; its random offset does not count where it looks at every node. Every so often
// the planner that has followed all of it must be as one that was told of the cluster at once.
func TestBesideUpstream(t *testing.T) {
	events := *numEvents
	if events == 0 {
		events = 3000
		if testing.Short() {
			events = 1500
		}
	}
	w := newWalk(t, *firstSeed)
	for w.events < events {
		w.step(t)
	}
	t.Logf("seed %d, %d events, %d questions: %v", *firstSeed, w.events, w.asked, w.outcomes)
	t.Logf("this plugin %v a question, upstream's %v, looking at every node", w.ours/time.Duration(w.asked), w.theirs/time.Duration(w.asked))
	for _, needed := range []string{"evicted", "cleared", "not eligible", "infeasible"} {
		if w.outcomes[needed] < events/500 {
			t.Errorf("only %d of %d answers were %s: too few to mean anything", w.outcomes[needed], w.asked, needed)
		}
	}
}

// walk is a random history of a small cluster.
type walk struct {
	*rig
	random *rand.Rand
	clock  time.Time
	serial int

	nodes      map[string]*v1.Node
	running    map[string]*v1.Pod // that the cache has, by name
	assumed    map[string]*v1.Pod // those of them that are not confirmed
	pending    map[string]*v1.Pod // preemptors that wait, most of them nominated
	budgets    map[string]runtime.Object
	namespaces map[string]runtime.Object

	events, asked int
	ours, theirs  time.Duration
	outcomes      map[string]int
}

func newWalk(t *testing.T, seed uint64) *walk {
	w := &walk{
		rig: newRig(t, 100, 1<<30, `{}`), random: rand.New(rand.NewPCG(seed, 36)), clock: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
		nodes: map[string]*v1.Node{}, running: map[string]*v1.Pod{}, assumed: map[string]*v1.Pod{}, pending: map[string]*v1.Pod{},
		budgets: map[string]runtime.Object{}, namespaces: map[string]runtime.Object{}, outcomes: map[string]int{},
	}
	for range 6 {
		w.changeNode(t)
	}
	return w
}

func (w *walk) one(in int) bool            { return w.random.IntN(in) == 0 }
func (w *walk) pick(list ...string) string { return list[w.random.IntN(len(list))] }
func draw[V any](w *walk, m map[string]V) V {
	return m[slices.Sorted(maps.Keys(m))[w.random.IntN(len(m))]]
}

// step is one event.
func (w *walk) step(t *testing.T) {
	w.events++
	switch n := w.random.IntN(100); {
	case n < 8:
		w.changeNode(t)
	case n < 14:
		w.changeBudget(t)
	case n < 17:
		w.changeNamespace(t)
	case n < 27 && len(w.running) > 0:
		w.leave(t, draw(w, w.running))
	case n < 33 && len(w.assumed) > 0:
		w.settle(t, draw(w, w.assumed))
	case n < 38 && len(w.running) > 0:
		w.relabel(t, draw(w, w.running))
	case n < 42 && len(w.pending) > 0:
		w.withdraw(t, draw(w, w.pending))
	case n < 45 && len(w.pending) > 0:
		w.moveNomination(t, draw(w, w.pending))
	case n < 62 && len(w.pending) > 0:
		w.schedule(t, draw(w, w.pending))
	default:
		pod := w.newPod()
		require.NoError(t, w.store(pod).Add(pod))
		w.schedule(t, pod)
	}
}

// schedule is a cycle for pod: it is assumed somewhere, or both plugins are asked.
func (w *walk) schedule(t *testing.T, pod *v1.Pod) {
	c := w.cycle(t, pod)
	if len(c.fits) > 0 {
		w.assume(t, pod, c.fits[w.random.IntN(len(c.fits))])
		return
	}
	if len(w.nodes) == 0 {
		w.withdraw(t, pod)
		return
	}
	fallen := w.fallen(t)
	theirs, ours := w.ask(c, w.rig.theirs), w.ask(c, w.rig.ours)
	w.asked++
	w.ours, w.theirs = w.ours+ours.took, w.theirs+theirs.took
	if diff := cmp.Diff(theirs, ours, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".message" || p.Last().String() == ".took" }, cmp.Ignore())); diff != "" {
		t.Fatalf("seed %d, event %d, %s: upstream says %q, the plugin %q (-upstream +plugin):\n%s", *firstSeed, w.events, pod.Name, theirs.message, ours.message, diff)
	}
	if now := w.fallen(t); now != fallen {
		t.Fatalf("seed %d, event %d, %s: upstream answered for the planner", *firstSeed, w.events, pod.Name)
	}
	if w.asked%50 == 0 {
		w.compareWithNew(t, pod)
	}
	switch {
	case ours.Code == "Success":
		w.outcomes["evicted"]++
		w.outcomes["cleared"] += len(ours.Cleared)
		w.nominate(t, pod, ours)
	case ours.Nominated == "unchanged":
		w.outcomes["not eligible"]++
		w.pending[pod.Name] = pod
	default:
		w.outcomes["infeasible"]++
		w.withdraw(t, pod)
	}
}

// fallen is how often upstream has answered for the planner.
func (w *walk) fallen(t *testing.T) float64 {
	n, err := testutil.GetCounterMetricValue(questions.WithLabelValues(outcomeFallback))
	require.NoError(t, err)
	return n
}

// compareWithNew asks that the planner is as a new one.
func (w *walk) compareWithNew(t *testing.T, preemptor *v1.Pod) {
	planner, err := preemption.NewPlanner(nil, preemption.Options{Rules: preemption.Kubernetes136})
	require.NoError(t, err)
	list, err := w.snapshot.NodeInfos().List()
	require.NoError(t, err)
	followed := w.rig.ours.mirror
	for _, m := range []*mirror{newMirror(planner, w.factory), followed} { // a pod that is not eligible is not asked about
		_, err = m.sync(list, w.framework, preemptor)
		require.NoError(t, err)
	}
	if diff := cmp.Diff(planner.Snapshot(), followed.planner.Snapshot()); diff != "" {
		t.Fatalf("seed %d, event %d: the planner has gone astray (-new +followed):\n%s", *firstSeed, w.events, diff)
	}
}

// nominate carries an answer out as the cluster would: some victims leave at once, some
// take their time.
func (w *walk) nominate(t *testing.T, pod *v1.Pod, o outcome) {
	for _, name := range o.Cleared {
		if other := w.pending[name]; other != nil {
			w.withdraw(t, other)
		}
	}
	for _, name := range o.Evicted {
		victim := w.running[name]
		if w.one(2) {
			w.leave(t, victim)
			continue
		}
		dying := victim.DeepCopy()
		dying.DeletionTimestamp = &metav1.Time{Time: w.clock}
		dying.Status.Conditions = []v1.PodCondition{{Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler}}
		w.update(t, victim, dying)
	}
	nominated := pod.DeepCopy()
	nominated.Status.NominatedNodeName = o.Nominated
	require.NoError(t, w.store(pod).Update(nominated))
	w.pending[pod.Name] = nominated
	w.queue.Delete(pod)
	w.queue.Add(context.Background(), nominated)
}

// moveNomination lets somebody else nominate a pending pod to another node.
func (w *walk) moveNomination(t *testing.T, pod *v1.Pod) {
	moved := pod.DeepCopy()
	moved.Status.NominatedNodeName = w.pick("n1", "n2", "n3", "n4")
	require.NoError(t, w.store(pod).Update(moved))
	w.pending[pod.Name] = moved
	w.queue.Delete(pod)
	w.queue.Add(context.Background(), moved)
}

// withdraw deletes a pending pod.
func (w *walk) withdraw(t *testing.T, pod *v1.Pod) {
	w.queue.Delete(pod)
	delete(w.pending, pod.Name)
	require.NoError(t, w.store(pod).Delete(pod))
}

// assume lets a pod run on a node as the scheduler does: it is not confirmed yet.
func (w *walk) assume(t *testing.T, pod *v1.Pod, node string) {
	w.queue.Delete(pod)
	delete(w.pending, pod.Name)
	assumed := pod.DeepCopy()
	assumed.Spec.NodeName = node
	require.NoError(t, w.cache.AssumePod(klog.Logger{}, assumed))
	w.assumed[pod.Name], w.running[pod.Name] = assumed, assumed
}

// settle confirms an assumed pod, or forgets it as it could not be bound.
func (w *walk) settle(t *testing.T, pod *v1.Pod) {
	if w.one(4) {
		w.leave(t, pod)
		return
	}
	delete(w.assumed, pod.Name)
	confirmed := pod.DeepCopy()
	require.NoError(t, w.cache.AddPod(klog.Logger{}, confirmed))
	require.NoError(t, w.store(pod).Update(confirmed))
	w.running[pod.Name] = confirmed
}

// leave takes a pod away.
func (w *walk) leave(t *testing.T, pod *v1.Pod) {
	if w.assumed[pod.Name] != nil {
		require.NoError(t, w.cache.ForgetPod(klog.Logger{}, pod))
	} else {
		require.NoError(t, w.cache.RemovePod(klog.Logger{}, pod))
	}
	require.NoError(t, w.store(pod).Delete(pod))
	delete(w.assumed, pod.Name)
	delete(w.running, pod.Name)
}

func (w *walk) relabel(t *testing.T, pod *v1.Pod) {
	changed := pod.DeepCopy()
	changed.Labels = w.labels()
	w.update(t, pod, changed)
}

// update changes a running pod; an assumed one is confirmed first.
func (w *walk) update(t *testing.T, old, pod *v1.Pod) {
	if w.assumed[pod.Name] != nil {
		delete(w.assumed, pod.Name)
		require.NoError(t, w.cache.AddPod(klog.Logger{}, old))
	}
	require.NoError(t, w.cache.UpdatePod(klog.Logger{}, old, pod))
	require.NoError(t, w.store(pod).Update(pod))
	w.running[pod.Name] = pod
}

func (w *walk) changeNode(t *testing.T) {
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", w.random.IntN(8))}}
	old := w.nodes[n.Name]
	if old != nil && w.one(4) {
		require.NoError(t, w.cache.RemoveNode(klog.Logger{}, old))
		delete(w.nodes, n.Name)
		return
	}
	n.UID = types.UID(n.Name)
	n.Labels = map[string]string{v1.LabelHostname: n.Name, "zone": w.pick("a", "b", "c")}
	n.Spec.Unschedulable = w.one(12)
	n.Status.Allocatable = v1.ResourceList{
		v1.ResourceCPU:    *resource.NewMilliQuantity(int64(500*(2+w.random.IntN(7))), resource.DecimalSI),
		v1.ResourceMemory: *resource.NewQuantity(int64(1+w.random.IntN(8))<<30, resource.BinarySI),
		v1.ResourcePods:   *resource.NewQuantity(int64(3+w.random.IntN(8)), resource.DecimalSI),
	}
	if w.one(4) {
		n.Spec.Taints = []v1.Taint{{Key: "dedicated", Value: w.pick("x", "y"), Effect: v1.TaintEffectNoSchedule}}
	}
	if old == nil {
		w.cache.AddNode(klog.Logger{}, n)
	} else {
		w.cache.UpdateNode(klog.Logger{}, old, n)
	}
	w.nodes[n.Name] = n
}

func (w *walk) changeBudget(t *testing.T) {
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: w.pick("ns1", "ns2"), Name: w.pick("b1", "b2")}}
	b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": w.pick("a", "b", "c")}}
	b.Status.DisruptionsAllowed = int32(w.random.IntN(3))
	w.put(t, w.budgets, b.Namespace+"/"+b.Name, b)
}

func (w *walk) changeNamespace(t *testing.T) {
	n := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.pick("ns1", "ns2")}}
	n.Labels = map[string]string{"team": w.pick("x", "y")}
	w.put(t, w.namespaces, n.Name, n)
}

// put sets an object of a lister, or takes it away.
func (w *walk) put(t *testing.T, have map[string]runtime.Object, key string, o runtime.Object) {
	if old := have[key]; old != nil && w.one(4) {
		require.NoError(t, w.store(o).Delete(old))
		delete(have, key)
		return
	}
	require.NoError(t, w.store(o).Add(o))
	have[key] = o
}

func (w *walk) labels() map[string]string {
	if w.one(4) {
		return nil
	}
	return map[string]string{"app": w.pick("a", "b", "c")}
}

// newPod is a pending pod. It has a start already, another than any other pod: upstream
// would take the moment of the question.
func (w *walk) newPod() *v1.Pod {
	w.serial++
	w.clock = w.clock.Add(time.Second)
	name := fmt.Sprintf("p%d", w.serial)
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.pick("ns1", "ns2"), Name: name, UID: types.UID(name), Labels: w.labels()}}
	p.Status.StartTime = &metav1.Time{Time: w.clock.Add(-time.Duration(w.random.IntN(1000)) * time.Hour)}
	p.Spec.SchedulerName = v1.DefaultSchedulerName
	if !w.one(10) {
		p.Spec.Priority = new(int32(w.random.IntN(8)*10 - 10))
	}
	if w.one(12) {
		p.Spec.PreemptionPolicy = new(v1.PreemptNever)
	}
	// What admission has read already, and what pods by themselves are not judged by.
	if w.one(5) {
		p.Spec.PriorityClassName = "high"
		p.Annotations = map[string]string{convert.PreemptionPriorityAnnotation: "high"}
	}
	if w.one(8) {
		p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: new(w.pick("g1", "g2"))}
	}
	container := v1.Container{Name: "main", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
		v1.ResourceCPU: *resource.NewMilliQuantity(int64(250*w.random.IntN(8)), resource.DecimalSI),
	}}}
	if w.one(2) {
		container.Resources.Requests[v1.ResourceMemory] = *resource.NewQuantity(int64(w.random.IntN(4))<<29, resource.BinarySI)
	}
	if w.one(8) {
		container.Ports = []v1.ContainerPort{{HostPort: int32(8000 + w.random.IntN(2)), ContainerPort: 80, Protocol: v1.ProtocolTCP}}
	}
	p.Spec.Containers = []v1.Container{container}
	if w.one(3) {
		p.Spec.Tolerations = []v1.Toleration{{Key: "dedicated", Operator: v1.TolerationOpEqual, Value: w.pick("x", "y"), Effect: v1.TaintEffectNoSchedule}}
	}
	if w.one(10) {
		p.Spec.NodeSelector = map[string]string{"zone": w.pick("a", "b", "c")}
	}
	w.addTerms(p)
	return p
}

// addTerms gives some pods terms about other pods.
func (w *walk) addTerms(p *v1.Pod) {
	term := v1.PodAffinityTerm{
		TopologyKey:   w.pick("zone", v1.LabelHostname),
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": w.pick("a", "b", "c")}},
	}
	if w.one(3) {
		term.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": w.pick("x", "y")}}
	}
	switch w.random.IntN(16) {
	case 0, 1:
		p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term}}}
	case 2:
		p.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term}}}
	case 3, 4:
		p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{
			MaxSkew: int32(1 + w.random.IntN(2)), TopologyKey: term.TopologyKey, WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: term.LabelSelector,
		}}
	}
}
