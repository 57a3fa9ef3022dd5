package live_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/examples/kubernetes/convert/live"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// TestEventsEqualDump feeds random events to a planner and asks that it is then as one
// that was made from a dump of the objects that are left: the same cluster, and the same
// answers.
func TestEventsEqualDump(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 15
	}
	for _, rules := range []preemption.Rules{preemption.Kubernetes136, preemption.Kubernetes137, preemption.KEP5710Alpha} {
		feasible, tokens, priorities := 0, 0, 0
		for seed := range seeds {
			o := preemption.Options{Rules: rules}
			c := newCluster(t, seed, o)
			for step := range 120 {
				c.step()
				if step%40 == 39 {
					want := c.dumped(t, o)
					for _, p := range want.Snapshot().Pods {
						tokens += len(p.Tokens)
						if p.PreemptionPriority != nil {
							priorities++
						}
					}
					feasible += compare(t, fmt.Sprintf("%s, seed %d, step %d", rules, seed, step), want, c.feeder.Planner())
				}
			}
		}
		t.Logf("%s: %d feasible answers, %d tokens, %d preemption priorities", rules, feasible, tokens, priorities)
		if feasible < int(seeds) || tokens == 0 || priorities == 0 {
			t.Errorf("%s: the events make too little of what is compared", rules)
		}
	}
}

// compare asks that two planners know and answer the same, and returns how many answers
// were feasible.
func compare(t *testing.T, what string, want, got *preemption.Planner) (feasible int) {
	t.Helper()
	snap := want.Snapshot()
	if diff := cmp.Diff(snap, got.Snapshot()); diff != "" {
		t.Fatalf("%s (-dumped +fed):\n%s", what, diff)
	}
	for i := range snap.Pods {
		if p := &snap.Pods[i]; p.Node == "" {
			asked := preemption.Preemptor{Kind: cluster.KindPod, Namespace: p.Namespace, Name: p.Name}
			w, wantErr := want.Preempt(asked)
			g, gotErr := got.Preempt(asked)
			if diff := cmp.Diff(fmt.Sprint(wantErr), fmt.Sprint(gotErr)); diff != "" {
				t.Fatalf("%s, %s (-dumped +fed):\n%s", what, p.Name, diff)
			}
			if wantErr != nil {
				continue
			}
			w.Stats, g.Stats = preemption.Stats{}, preemption.Stats{} // they tell of the way
			if diff := cmp.Diff(w, g); diff != "" {
				t.Fatalf("%s, %s (-dumped +fed):\n%s", what, p.Name, diff)
			}
			if w.Verdict == preemption.Feasible {
				feasible++
			}
		}
	}
	return feasible
}

// randomCluster is a set of objects, and a feeder that is told of their changes through
// informer events.
type randomCluster struct {
	random  *rand.Rand
	objects map[string]metav1.Object // by kind, namespace and name
	feeder  *live.Feeder
	handler *live.Handler
}

// tombstone stands for an object whose deletion was missed, as client-go has it.
type tombstone struct{ object any }

func newCluster(t *testing.T, seed uint64, o preemption.Options) *randomCluster {
	planner, err := preemption.NewPlanner(&preemption.Snapshot{Time: now}, o)
	require.NoError(t, err)
	c := &randomCluster{random: rand.New(rand.NewPCG(seed, 16)), objects: map[string]metav1.Object{}, feeder: live.New(planner, live.Options{})}
	c.handler = &live.Handler{
		Feeder: c.feeder,
		Failed: func(object any, err error) { t.Errorf("seed %d: %T: %v", seed, object, err) },
		Final: func(object any) any {
			if gone, ok := object.(tombstone); ok {
				return gone.object
			}
			return object
		},
	}
	return c
}

// step makes, changes or deletes one object.
func (c *randomCluster) step() {
	draws := []func() metav1.Object{c.pod, c.pod, c.pod, c.pod, c.pod, c.node, c.budget, c.class, c.claim, c.namespace, c.group, c.alphaGroup, c.composite}
	o := draws[c.random.IntN(len(draws))]()
	gvk := kindOf(o)
	key := fmt.Sprintf("%s %s/%s", gvk.Kind, o.GetNamespace(), o.GetName())
	old, there := c.objects[key]
	switch {
	case there && c.random.IntN(3) == 0:
		delete(c.objects, key)
		if c.one(2) {
			c.handler.OnDelete(tombstone{old})
		} else {
			c.handler.OnDelete(old)
		}
	case there:
		c.objects[key] = o
		c.handler.OnUpdate(old, o)
	default:
		c.objects[key] = o
		c.handler.OnAdd(o, false)
	}
}

func kindOf(o metav1.Object) schema.GroupVersionKind {
	return o.(runtime.Object).GetObjectKind().GroupVersionKind()
}

// dumped is a planner made from a dump of the objects. Annotations that name a class
// which is not there are an error in a dump: they are left out.
func (c *randomCluster) dumped(t *testing.T, o preemption.Options) *preemption.Planner {
	var list []convert.Object
	unresolved := 0
	for _, object := range c.objects {
		annotations := object.GetAnnotations()
		class, named := annotations[convert.PreemptionPriorityAnnotation]
		pod, _ := object.(*corev1.Pod)
		if _, ok := c.objects["PriorityClass /"+class]; named && !ok && (pod == nil || !convert.Finished(pod)) {
			unresolved++
		}
		doc, err := json.Marshal(object)
		require.NoError(t, err)
		version, kind := kindOf(object).ToAPIVersionAndKind()
		list = append(list, convert.Object{APIVersion: version, Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName(), JSON: doc})
	}
	d, err := convert.Options{Now: now, Lenient: true}.Dump(list)
	require.NoError(t, err)
	if len(d.Problems) != unresolved {
		t.Fatalf("the dump has problems: %v", d.Problems)
	}
	if listed := strings.Count(fmt.Sprint(c.feeder.Unresolved()), convert.PreemptionPriorityAnnotation); listed != unresolved {
		t.Fatalf("%d annotations name no class, the feeder lists: %v", unresolved, c.feeder.Unresolved())
	}
	planner, err := preemption.NewPlanner(&d.Snapshot, o)
	require.NoError(t, err)
	return planner
}

func (c *randomCluster) pick(list ...string) string { return list[c.random.IntN(len(list))] }
func (c *randomCluster) one(in int) bool            { return c.random.IntN(in) == 0 }

func (c *randomCluster) labels() map[string]string {
	if c.one(3) {
		return nil
	}
	return map[string]string{"app": c.pick("a", "b", "c")}
}

func (c *randomCluster) annotations() map[string]string {
	if !c.one(6) {
		return nil
	}
	return map[string]string{convert.PreemptionPriorityAnnotation: c.pick("low", "high")}
}

func meta(apiVersion, kind, namespace, name string) (metav1.TypeMeta, metav1.ObjectMeta) {
	return metav1.TypeMeta{APIVersion: apiVersion, Kind: kind}, metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "uid"}
}

func (c *randomCluster) node() metav1.Object {
	n := &corev1.Node{}
	n.TypeMeta, n.ObjectMeta = meta("v1", "Node", "", c.pick("n1", "n2", "n3", "n4"))
	n.Labels = map[string]string{"zone": c.pick("x", "y")}
	n.Spec.Unschedulable = c.one(8)
	n.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: *resource.NewMilliQuantity(int64(500*c.random.IntN(7)), resource.DecimalSI), corev1.ResourcePods: resource.MustParse("10"),
	}
	if c.one(4) {
		n.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: c.pick("a", "b"), Effect: corev1.TaintEffectNoSchedule}}
	}
	return n
}

func (c *randomCluster) pod() metav1.Object {
	p := &corev1.Pod{}
	p.TypeMeta, p.ObjectMeta = meta("v1", "Pod", c.pick("default", "ns"), fmt.Sprintf("p%d", c.random.IntN(14)))
	p.Labels, p.Annotations = c.labels(), c.annotations()
	p.Spec.NodeName = c.pick("", "n1", "n2", "n3", "n4", "n4")
	p.Spec.Priority = new(int32(c.random.IntN(4) * 10))
	if p.Spec.NodeName == "" {
		*p.Spec.Priority += 20
	}
	p.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: *resource.NewMilliQuantity(int64(500*c.random.IntN(5)), resource.DecimalSI),
	}}}}
	if p.Spec.NodeName != "" {
		p.Status.StartTime = &metav1.Time{Time: now.Add(-time.Duration(c.random.IntN(100)) * time.Minute)}
	} else if c.one(4) {
		p.Status.NominatedNodeName = c.pick("n1", "n2")
	}
	if c.one(5) {
		p.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: new(c.pick("g1", "g2", "a1"))}
	}
	for range c.random.IntN(3) {
		claim := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c.pick("c1", "c2", "c3")}
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: fmt.Sprint("v", len(p.Spec.Volumes)), VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: claim}})
	}
	if c.one(5) {
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": c.pick("a", "b")}},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "x"}},
		}}}}
	}
	if c.one(6) {
		p.Status.Phase = corev1.PodSucceeded
	}
	if c.one(8) {
		p.DeletionTimestamp = &metav1.Time{Time: now}
	}
	return p
}

func (c *randomCluster) budget() metav1.Object {
	b := &policyv1.PodDisruptionBudget{}
	b.TypeMeta, b.ObjectMeta = meta("policy/v1", "PodDisruptionBudget", c.pick("default", "ns"), c.pick("b1", "b2"))
	b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": c.pick("a", "b")}}
	b.Status.DisruptionsAllowed = int32(c.random.IntN(3))
	return b
}

func (c *randomCluster) class() metav1.Object {
	class := &schedulingv1.PriorityClass{Value: int32(1000 + c.random.IntN(100))}
	class.TypeMeta, class.ObjectMeta = meta("scheduling.k8s.io/v1", "PriorityClass", "", c.pick("low", "high"))
	return class
}

func (c *randomCluster) claim() metav1.Object {
	claim := &corev1.PersistentVolumeClaim{}
	claim.TypeMeta, claim.ObjectMeta = meta("v1", "PersistentVolumeClaim", c.pick("default", "ns"), c.pick("c1", "c2", "c3"))
	claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
	if c.one(3) {
		claim.Spec.AccessModes[0] = corev1.ReadWriteOnce
	}
	return claim
}

func (c *randomCluster) namespace() metav1.Object {
	n := &corev1.Namespace{}
	n.TypeMeta, n.ObjectMeta = meta("v1", "Namespace", "", c.pick("default", "ns"))
	n.Labels = map[string]string{"team": c.pick("x", "y")}
	return n
}

func (c *randomCluster) group() metav1.Object {
	spec := map[string]any{"schedulingPolicy": map[string]any{"gang": map[string]any{"minCount": int64(1 + c.random.IntN(3))}}, "priority": int64(10 * c.random.IntN(4))}
	if c.one(2) {
		spec["disruptionMode"] = map[string]any{"all": map[string]any{}}
	}
	if c.one(2) {
		spec["parentCompositePodGroupName"] = "top"
	}
	return c.content("scheduling.k8s.io/v1beta1", "PodGroup", c.pick("g1", "g2"), spec)
}

func (c *randomCluster) alphaGroup() metav1.Object {
	return c.content("scheduling.k8s.io/v1alpha2", "PodGroup", "a1", map[string]any{
		"schedulingPolicy": map[string]any{"gang": map[string]any{"minCount": int64(1)}},
		"disruptionMode":   c.pick("Pod", "PodGroup"), "priority": int64(10 * c.random.IntN(4)),
	})
}

func (c *randomCluster) composite() metav1.Object {
	return c.content("scheduling.k8s.io/v1alpha3", "CompositePodGroup", "top", map[string]any{
		"schedulingPolicy": map[string]any{"basic": map[string]any{}}, "priority": int64(10 * c.random.IntN(4)),
	})
}

func (c *randomCluster) content(apiVersion, kind, name string, spec map[string]any) metav1.Object {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "spec": spec}}
	u.SetNamespace(c.pick("default", "ns"))
	u.SetName(name)
	if kind == "PodGroup" {
		u.SetAnnotations(c.annotations())
	}
	return u
}

func TestErrorsLeaveTheStateBefore(t *testing.T) {
	planner, err := preemption.NewPlanner(nil, preemption.Options{})
	require.NoError(t, err)
	f := live.New(planner, live.Options{})
	node := func(cpu string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}}
	}
	require.NoError(t, f.Set(node("2")))
	for what, test := range map[string]struct {
		object any
		want   string
	}{
		"an amount that cannot be":  {node("-1"), `Node "n1": status.allocatable[cpu]: -1 is not at least 0`},
		"an object without a name":  {&corev1.Namespace{}, `cluster: Namespace: Name: "" is not a name`},
		"a kind that plays no part": {&corev1.Secret{}, `*v1.Secret "": not a kind of object that is fed to a planner`},
		"no object":                 {nil, `<nil> "": not a kind of object that is fed to a planner`},
	} {
		err := f.Set(test.object)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", what, err, test.want)
		}
	}
	require.Equal(t, int64(2000), planner.Snapshot().Nodes[0].Allocatable[cluster.CPU])
	require.ErrorIs(t, f.Set(&corev1.Secret{}), convert.ErrInput)
	require.ErrorIs(t, f.Remove(&corev1.Secret{}), convert.ErrInput)
	var bad *cluster.FieldError
	require.True(t, errors.As(f.Remove(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n2"}}), &bad))
	require.NoError(t, f.Remove(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "finished"}}))
}

func TestUnresolvedAnnotationsWaitForTheirClass(t *testing.T) {
	planner, err := preemption.NewPlanner(nil, preemption.Options{Rules: preemption.KEP5710Alpha})
	require.NoError(t, err)
	f := live.New(planner, live.Options{})
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Annotations: map[string]string{convert.PreemptionPriorityAnnotation: "high"}}}
	require.NoError(t, f.Set(pod))
	require.EqualError(t, f.Unresolved(), `Pod "default/p": metadata.annotations[preempt-go.dev/preemption-priority-class]: "high" is not a priority class of the input`)
	require.Nil(t, planner.Snapshot().Pods[0].PreemptionPriority)
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 7}
	require.NoError(t, f.Set(class))
	require.NoError(t, f.Unresolved())
	require.Equal(t, int32(7), *planner.Snapshot().Pods[0].PreemptionPriority)
	require.NoError(t, f.Remove(class))
	require.Error(t, f.Unresolved())
	require.NoError(t, f.Remove(pod))
	require.NoError(t, f.Unresolved())
}

func TestOptionsPodChangesPods(t *testing.T) {
	planner, err := preemption.NewPlanner(nil, preemption.Options{})
	require.NoError(t, err)
	f := live.New(planner, live.Options{Pod: func(p *preemption.Pod) { p.NominatedNode = "n9" }})
	require.NoError(t, f.Set(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}}))
	pods := planner.Snapshot().Pods
	require.True(t, slices.ContainsFunc(pods, func(p preemption.Pod) bool { return p.NominatedNode == "n9" }))
}
