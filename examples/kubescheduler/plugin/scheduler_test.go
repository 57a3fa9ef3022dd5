package plugin_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/profile"

	"github.com/preempt-go/preempt/examples/kubescheduler/plugin"
)

// world is the real scheduler, with the configuration of the README, over a fake API
// server that binds at once, and where pods that are deleted leave some time later.
type world struct {
	client *fake.Clientset
	log    *log
}

// log collects what the scheduler logs.
type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) has(parts ...string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.lines, func(line string) bool {
		return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(line, p) })
	})
}

// about is what was logged of a pod.
func (l *log) about(pod string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(slices.DeleteFunc(slices.Clone(l.lines), func(line string) bool { return !strings.Contains(line, pod) }), "\n")
}

// start runs the scheduler until the test ends. change may change the configuration.
func start(t *testing.T, change func(*config.KubeSchedulerConfiguration), objects ...runtime.Object) *world {
	t.Helper()
	w := &world{log: &log{}}
	logger := funcr.New(func(prefix, args string) {
		w.log.mu.Lock()
		defer w.log.mu.Unlock()
		w.log.lines = append(w.log.lines, time.Now().Format("05.000000 ")+prefix+" "+args)
	}, funcr.Options{Verbosity: 5})
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logger))
	configuration, err := options.LoadConfigFromFile(logger, "testdata/scheduler.yaml")
	require.NoError(t, err)
	if change != nil {
		change(configuration)
	}
	w.client = fake.NewClientset(objects...)
	w.client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.GetSubresource() != "binding" {
			return false, nil, nil
		}
		binding := action.(clienttesting.CreateAction).GetObject().(*v1.Binding)
		tracker := w.client.Tracker()
		object, err := tracker.Get(v1.SchemeGroupVersion.WithResource("pods"), binding.Namespace, binding.Name)
		if err != nil {
			return true, nil, err
		}
		pod := object.(*v1.Pod).DeepCopy()
		pod.Spec.NodeName = binding.Target.Name
		return true, binding, tracker.Update(v1.SchemeGroupVersion.WithResource("pods"), pod, pod.Namespace)
	})
	w.client.PrependReactor("delete", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		deleted := action.(clienttesting.DeleteAction)
		tracker, pods := w.client.Tracker(), v1.SchemeGroupVersion.WithResource("pods")
		object, err := tracker.Get(pods, deleted.GetNamespace(), deleted.GetName())
		if err != nil {
			return true, nil, err
		}
		pod := object.(*v1.Pod).DeepCopy()
		pod.DeletionTimestamp = &metav1.Time{Time: time.Now()}
		// Were it gone before the executor is done, no event would come any more that
		// makes upstream's queue take the preemptor out of the gate.
		time.AfterFunc(50*time.Millisecond, func() { _ = tracker.Delete(pods, pod.Namespace, pod.Name) })
		return true, pod, tracker.Update(pods, pod, pod.Namespace)
	})
	factory := informers.NewSharedInformerFactory(w.client, 0)
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: w.client.EventsV1()})
	sched, err := scheduler.New(ctx, w.client, factory, nil, profile.NewRecorderFactory(broadcaster),
		scheduler.WithProfiles(configuration.Profiles...),
		scheduler.WithExtenders(configuration.Extenders...),
		scheduler.WithPodInitialBackoffSeconds(0),
		scheduler.WithPodMaxBackoffSeconds(0),
		scheduler.WithFrameworkOutOfTreeRegistry(frameworkruntime.Registry{plugin.Name: plugin.New, pickyName: newPicky}),
	)
	require.NoError(t, err)
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	require.NoError(t, sched.WaitForHandlersSync(ctx))
	done := make(chan struct{})
	go func() {
		sched.Run(ctx)
		close(done)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		factory.Shutdown()
		broadcaster.Shutdown()
	})
	return w
}

// create makes a pod, and eventually waits for it to be as ok says.
func (w *world) create(t *testing.T, pod *v1.Pod, ok func(*v1.Pod) bool) *v1.Pod {
	t.Helper()
	_, err := w.client.CoreV1().Pods(pod.Namespace).Create(context.Background(), pod, metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("the scheduler's log:\n" + w.log.about(pod.Name))
		}
	})
	var now *v1.Pod
	require.Eventually(t, func() bool {
		now, err = w.client.CoreV1().Pods(pod.Namespace).Get(context.Background(), pod.Name, metav1.GetOptions{})
		return err == nil && ok(now)
	}, 30*time.Second, 5*time.Millisecond, "pod %s", pod.Name)
	return now
}

// left lists the pods that are there, sorted.
func (w *world) left(t *testing.T) (names []string) {
	t.Helper()
	list, err := w.client.CoreV1().Pods("").List(context.Background(), metav1.ListOptions{})
	require.NoError(t, err)
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	slices.Sort(names)
	return names
}

// nominated lists the nodes that a pod was nominated to by patches, in order.
func (w *world) nominated(name string) (nodes []string) {
	for _, action := range w.client.Actions() {
		patch, ok := action.(clienttesting.PatchAction)
		if !ok || patch.GetName() != name {
			continue
		}
		if _, after, ok := strings.Cut(string(patch.GetPatch()), `"nominatedNodeName":"`); ok {
			node, _, _ := strings.Cut(after, `"`)
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// count is the value of a counter of the plugin.
func count(t *testing.T, name, label, value string) float64 {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	require.NoError(t, err)
	for _, family := range families {
		if family.GetName() != "preempt_plugin_"+name {
			continue
		}
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == label && l.GetValue() == value {
					return m.GetCounter().GetValue()
				}
			}
		}
	}
	return 0
}

func node(name, cpu string) *v1.Node {
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{v1.LabelHostname: name}},
		Status: v1.NodeStatus{Allocatable: v1.ResourceList{
			v1.ResourceCPU: resource.MustParse(cpu), v1.ResourceMemory: resource.MustParse("16Gi"), v1.ResourcePods: resource.MustParse("110"),
		}},
	}
}

func pod(name, node string, priority int32, cpu string) *v1.Pod {
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Labels: map[string]string{"app": name}},
		Spec: v1.PodSpec{
			NodeName: node, Priority: &priority, SchedulerName: v1.DefaultSchedulerName,
			Containers: []v1.Container{{Name: "main", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu)}}}},
		},
	}
	if node != "" {
		p.Status.StartTime = &metav1.Time{Time: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
	}
	return p
}

func budget(name, app string, allowed int32) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}},
		Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed},
	}
}

func boundTo(node string) func(*v1.Pod) bool {
	return func(p *v1.Pod) bool { return p.Spec.NodeName == node }
}

// refused says that the scheduler has tried and said part of why not.
func refused(part string) func(*v1.Pod) bool {
	return func(p *v1.Pod) bool {
		return slices.ContainsFunc(p.Status.Conditions, func(c v1.PodCondition) bool {
			return c.Type == v1.PodScheduled && c.Status == v1.ConditionFalse && strings.Contains(c.Message, part)
		})
	}
}

func TestPodPreempts(t *testing.T) {
	before := count(t, "questions_total", "outcome", "nominated")
	w := start(t, nil, node("n1", "4"), node("n2", "4"),
		pod("cache", "n1", 500, "2"), pod("batch-1", "n1", 10, "1"), pod("batch-2", "n1", 10, "1"),
		pod("db", "n2", 500, "3"), pod("log", "n2", 100, "1"))
	w.create(t, pod("web", "", 1000, "2"), boundTo("n1"))
	require.Equal(t, []string{"cache", "db", "log", "web"}, w.left(t))
	require.Equal(t, []string{"n1"}, w.nominated("web"))
	require.Equal(t, before+1, count(t, "questions_total", "outcome", "nominated"))

	// What runs, and what was evicted, is known the next time.
	w.create(t, pod("more", "", 1000, "1"), boundTo("n2"))
	require.Equal(t, []string{"cache", "db", "more", "web"}, w.left(t))
}

func TestNeverIsHonoured(t *testing.T) {
	w := start(t, nil, node("n1", "1"), pod("batch", "n1", 10, "1"))
	polite := pod("polite", "", 1000, "1")
	polite.Spec.PreemptionPolicy = new(v1.PreemptNever)
	w.create(t, polite, refused("not eligible due to preemptionPolicy=Never"))
	require.Equal(t, []string{"batch", "polite"}, w.left(t))
}

func TestInfeasibleSaysWhy(t *testing.T) {
	w := start(t, nil, node("n1", "1"), node("n2", "2"), pod("vital", "n1", 2000, "1"), pod("other", "n2", 2000, "2"))
	w.create(t, pod("web", "", 1000, "1"), refused("preemption: "))
	require.Equal(t, []string{"other", "vital", "web"}, w.left(t))
	require.Empty(t, w.nominated("web"))
}

func TestBudgetsAreSpared(t *testing.T) {
	w := start(t, nil, node("n1", "1"), node("n2", "1"), budget("spent", "covered", 0),
		pod("covered", "n1", 10, "1"), pod("free", "n2", 20, "1"))
	w.create(t, pod("web", "", 1000, "1"), boundTo("n2"))
	require.Equal(t, []string{"covered", "web"}, w.left(t))

	// Where nothing else helps a budget is overrun, unless options say that it is hard.
	w.create(t, pod("web-2", "", 1000, "1"), boundTo("n1"))
	require.Equal(t, []string{"web", "web-2"}, w.left(t))
}

func TestHardBudgets(t *testing.T) {
	hard := func(c *config.KubeSchedulerConfiguration) {
		setArgs(c, `{"options": {"hardBudgets": {"all": true}}, "noFallback": true}`)
	}
	w := start(t, hard, node("n1", "1"), budget("spent", "covered", 0), pod("covered", "n1", 10, "1"))
	w.create(t, pod("web", "", 1000, "1"), refused("preemption: "))
	require.Equal(t, []string{"covered", "web"}, w.left(t))
}

// Guards read the time: a pod runs for an hour before it may be evicted.
func TestGuards(t *testing.T) {
	guarded := func(c *config.KubeSchedulerConfiguration) {
		setArgs(c, `{"options": {"guards": {"guaranteedSeconds": 3600}}, "noFallback": true}`)
	}
	ran := func(p *v1.Pod, d time.Duration) *v1.Pod {
		p.Status.StartTime = &metav1.Time{Time: time.Now().Add(-d)}
		return p
	}
	w := start(t, guarded, node("n1", "1"), node("n2", "1"), ran(pod("young", "n1", 10, "1"), time.Minute), ran(pod("old", "n2", 500, "1"), 2*time.Hour))
	w.create(t, pod("web", "", 1000, "1"), boundTo("n2"))
	require.Equal(t, []string{"web", "young"}, w.left(t))
}

func setArgs(c *config.KubeSchedulerConfiguration, args string) {
	for i := range c.Profiles[0].PluginConfig {
		if p := &c.Profiles[0].PluginConfig[i]; p.Name == plugin.Name {
			p.Args = &runtime.Unknown{Raw: []byte(args), ContentType: runtime.ContentTypeJSON}
		}
	}
}

// picky is a filter of a user's own: it refuses nodes by a label, whoever runs there.
type picky struct{}

const pickyName = "Picky"

func newPicky(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return picky{}, nil }

func (picky) Name() string { return pickyName }

func (picky) Filter(_ context.Context, _ fwk.CycleState, _ *v1.Pod, info fwk.NodeInfo) *fwk.Status {
	switch info.Node().Labels["picky"] {
	case "unschedulable":
		return fwk.NewStatus(fwk.Unschedulable, "not to my taste")
	case "unresolvable":
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "not to anybody's taste")
	}
	return nil
}

func withPicky(c *config.KubeSchedulerConfiguration) {
	// Before the others: the first filter that refuses a node gives its status.
	c.Profiles[0].Plugins.MultiPoint.Enabled = append([]config.Plugin{{Name: pickyName}}, c.Profiles[0].Plugins.MultiPoint.Enabled...)
}

func withoutTaints(c *config.KubeSchedulerConfiguration) {
	c.Profiles[0].Plugins.Filter.Disabled = append(c.Profiles[0].Plugins.Filter.Disabled, config.Plugin{Name: "TaintToleration"})
}

// TestFallsBack has a case for each reason: upstream answers, the metric counts it, and the
// log says why.
func TestFallsBack(t *testing.T) {
	labelled := func(name, label string) *v1.Node {
		n := node(name, "1")
		n.Labels["picky"] = label
		return n
	}
	changed := func(p *v1.Pod, change func(*v1.Pod)) *v1.Pod {
		change(p)
		return p
	}
	tests := map[string]struct {
		reason  plugin.Reason
		logged  string
		change  func(*config.KubeSchedulerConfiguration)
		objects []runtime.Object
		pod     *v1.Pod
		until   func(*v1.Pod) bool
		left    []string
	}{
		"a profile without a filter that the planner applies": {
			plugin.ReasonProfile, "the filter TaintToleration is not enabled", withoutTaints,
			[]runtime.Object{tainted("n1", v1.TaintEffectNoSchedule), pod("batch", "n1", 10, "1")},
			pod("web", "", 1000, "1"), boundTo("n1"), []string{"web"},
		},
		"a filter that refuses the planner's node without the victims": {
			plugin.ReasonFilters, "n1: not to my taste", withPicky,
			[]runtime.Object{labelled("n1", "unschedulable"), node("n2", "1"), pod("cheap", "n1", 10, "1"), pod("dear", "n2", 500, "1")},
			pod("web", "", 1000, "1"), boundTo("n2"), []string{"cheap", "web"},
		},
		"a filter that says of the planner's node that evictions don't help": {
			plugin.ReasonStatus, "n1 is UnschedulableAndUnresolvable", withPicky,
			[]runtime.Object{labelled("n1", "unresolvable"), node("n2", "1"), pod("cheap", "n1", 10, "1"), pod("dear", "n2", 500, "1")},
			pod("web", "", 1000, "1"), boundTo("n2"), []string{"cheap", "web"},
		},
		"a filter that sees no room where the planner does": {
			plugin.ReasonRoom, "fits on n1 without preemption", withPicky,
			[]runtime.Object{labelled("n1", "unresolvable"), node("n2", "1"), pod("dear", "n2", 500, "1")},
			pod("web", "", 1000, "1"), boundTo("n2"), []string{"web"},
		},
		"an object that cannot be read": {
			plugin.ReasonObjects, "Node \\\"n2\\\": spec.taints[0].effect: \\\"Sometimes\\\" is not NoSchedule", nil,
			[]runtime.Object{node("n1", "1"), tainted("n2", "Sometimes"), pod("batch", "n1", 10, "1"), pod("other", "n2", 2000, "1")},
			pod("web", "", 1000, "1"), boundTo("n1"), []string{"other", "web"},
		},
		"a pod that cannot be read": {
			plugin.ReasonQuestion, "requests[memory]", nil,
			[]runtime.Object{node("n1", "1"), pod("batch", "n1", 10, "1")},
			changed(pod("web", "", 1000, "1"), func(p *v1.Pod) {
				p.Spec.Containers[0].Resources.Requests[v1.ResourceMemory] = resource.MustParse("-1")
			}), boundTo("n1"), []string{"web"},
		},
		"a pod with resource claims": {
			plugin.ReasonDevices, "the pod has resource claims", nil,
			[]runtime.Object{
				node("n1", "1"), pod("batch", "n1", 10, "1"),
				&resourcev1.ResourceClaim{
					ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "free", UID: "free"},
					Status:     resourcev1.ResourceClaimStatus{Allocation: &resourcev1.AllocationResult{}},
				},
			},
			changed(pod("web", "", 1000, "1"), func(p *v1.Pod) {
				p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "c", ResourceClaimName: new("free")}}
			}), boundTo("n1"), []string{"web"},
		},
		"a pod that requests what a device class stands for": {
			plugin.ReasonDevices, "device class gpu stands for the resource example.com/gpu", nil,
			[]runtime.Object{
				node("n1", "1"), pod("batch", "n1", 10, "1"),
				&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}, Spec: resourcev1.DeviceClassSpec{ExtendedResourceName: new("example.com/gpu")}},
			},
			changed(pod("web", "", 1000, "1"), func(p *v1.Pod) {
				p.Spec.Containers[0].Resources.Requests["example.com/gpu"] = resource.MustParse("1")
			}), refused("preemption: "), []string{"batch", "web"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := count(t, "fallbacks_total", "reason", string(test.reason))
			w := start(t, test.change, test.objects...)
			w.create(t, test.pod, test.until)
			require.Equal(t, test.left, w.left(t))
			require.Greater(t, count(t, "fallbacks_total", "reason", string(test.reason)), before)
			said := []string{"The planner cannot answer", `"reason"="` + string(test.reason) + `"`, test.logged, `"upstreamAnswers"=true`}
			require.True(t, w.log.has(said...), w.log.about("cannot answer"))
		})
	}
}

func tainted(name string, effect v1.TaintEffect) *v1.Node {
	n := node(name, "1")
	n.Spec.Taints = []v1.Taint{{Key: "dedicated", Effect: effect}}
	return n
}

func TestWithoutFallbackThePodStaysPending(t *testing.T) {
	lax := func(c *config.KubeSchedulerConfiguration) {
		withoutTaints(c)
		setArgs(c, `{"noFallback": true}`)
	}
	w := start(t, lax, node("n1", "1"), pod("batch", "n1", 10, "1"))
	w.create(t, pod("web", "", 1000, "1"), refused("not answered: profile: the filter TaintToleration is not enabled"))
	require.Equal(t, []string{"batch", "web"}, w.left(t))
}

// volume is a bound volume and its claim.
func volume(name string, mode v1.PersistentVolumeAccessMode, affinity *v1.VolumeNodeAffinity) []runtime.Object {
	claim := &v1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}},
		Spec:       v1.PersistentVolumeClaimSpec{AccessModes: []v1.PersistentVolumeAccessMode{mode}, VolumeName: "pv-" + name},
		Status:     v1.PersistentVolumeClaimStatus{Phase: v1.ClaimBound},
	}
	return []runtime.Object{claim, &v1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pv-" + name, UID: types.UID("pv-" + name)},
		Spec:       v1.PersistentVolumeSpec{NodeAffinity: affinity, ClaimRef: &v1.ObjectReference{Namespace: "default", Name: name, UID: types.UID(name)}},
		Status:     v1.PersistentVolumeStatus{Phase: v1.VolumeBound},
	}}
}

func uses(p *v1.Pod, claims ...string) *v1.Pod {
	for _, claim := range claims {
		source := v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}
		p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: claim, VolumeSource: source})
	}
	return p
}

// Two pods use a claim that one at a time may use: whoever holds it has to go, although there is
// room elsewhere.
func TestClaimsOfOnePod(t *testing.T) {
	before := count(t, "questions_total", "outcome", "nominated")
	w := start(t, nil, append(volume("disk", v1.ReadWriteOncePod, nil), node("n1", "4"), node("n2", "4"),
		uses(pod("holder", "n1", 10, "1"), "disk"), pod("other", "n1", 5, "1"))...)
	w.create(t, uses(pod("web", "", 1000, "1"), "disk"), func(p *v1.Pod) bool { return p.Spec.NodeName != "" })
	require.Equal(t, []string{"other", "web"}, w.left(t))
	require.Equal(t, before+1, count(t, "questions_total", "outcome", "nominated"))
}

// A pod goes where its volumes can be reached, and nobody is evicted elsewhere.
func TestVolumesNarrowTheChoice(t *testing.T) {
	on := func(key string, values ...string) *v1.VolumeNodeAffinity {
		term := v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{Key: key, Operator: v1.NodeSelectorOpIn, Values: values}}}
		return &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{term}}}
	}
	before := count(t, "questions_total", "outcome", "nominated")
	objects := append(volume("wide", v1.ReadWriteOnce, on(v1.LabelHostname, "n2", "n3")), volume("narrow", v1.ReadWriteOnce, on(v1.LabelHostname, "n1", "n3"))...)
	for i, name := range []string{"n1", "n2", "n3"} {
		objects = append(objects, node(name, "1"), pod("on-"+name, name, int32(10*i), "1"))
	}
	w := start(t, nil, objects...)
	w.create(t, uses(pod("web", "", 1000, "1"), "wide", "narrow"), boundTo("n3"))
	require.Equal(t, []string{"on-n1", "on-n2", "web"}, w.left(t))
	require.Equal(t, before+1, count(t, "questions_total", "outcome", "nominated"))
}

// Where groups are scheduled and preempt as such, they are upstream's, which the profile
// leaves in place; pods beside them are the planner's.
func TestPodGroupsStayWithUpstream(t *testing.T) {
	featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, featuregatetesting.FeatureOverrides{
		features.GenericWorkload: true, features.GangScheduling: true, features.WorkloadAwarePreemption: true,
	})
	group := &schedulingv1alpha2.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "gang", UID: "gang"},
		Spec: schedulingv1alpha2.PodGroupSpec{
			Priority:         new(int32(1000)),
			SchedulingPolicy: schedulingv1alpha2.PodGroupSchedulingPolicy{Gang: &schedulingv1alpha2.GangSchedulingPolicy{MinCount: 2}},
		},
	}
	member := func(name string) *v1.Pod {
		p := pod(name, "", 1000, "1")
		p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: new("gang")}
		return p
	}
	before, nominated := count(t, "fallbacks_total", "reason", "pod_group"), count(t, "questions_total", "outcome", "nominated")
	w := start(t, nil, group, node("n1", "1"), node("n2", "1"), pod("a", "n1", 10, "1"), pod("b", "n2", 10, "1"))
	w.create(t, member("m1"), func(*v1.Pod) bool { return true })
	w.create(t, member("m2"), func(p *v1.Pod) bool { return p.Spec.NodeName != "" })
	require.Eventually(t, func() bool { return slices.Equal([]string{"m1", "m2"}, w.left(t)) }, 30*time.Second, 5*time.Millisecond)
	require.Greater(t, count(t, "fallbacks_total", "reason", "pod_group"), before)
	require.Equal(t, nominated, count(t, "questions_total", "outcome", "nominated"))

	w.create(t, pod("web", "", 2000, "1"), func(p *v1.Pod) bool { return p.Spec.NodeName != "" })
	require.Equal(t, nominated+1, count(t, "questions_total", "outcome", "nominated"))
}

// An extender that takes part in preemption sees every candidate, and what it leaves is
// chosen from.
func TestExtendersAreHonoured(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var args extenderv1.ExtenderPreemptionArgs
		if err := json.NewDecoder(r.Body).Decode(&args); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		seen = slices.Sorted(maps.Keys(args.NodeNameToVictims))
		_ = json.NewEncoder(w).Encode(extenderv1.ExtenderPreemptionResult{NodeNameToMetaVictims: map[string]*extenderv1.MetaVictims{
			"n2": {Pods: []*extenderv1.MetaPod{{UID: "dear"}}},
		}})
	}))
	defer server.Close()
	extended := func(c *config.KubeSchedulerConfiguration) {
		c.Extenders = []config.Extender{{URLPrefix: server.URL, PreemptVerb: "preempt", HTTPTimeout: metav1.Duration{Duration: 10 * time.Second}, EnableHTTPS: false}}
	}
	w := start(t, extended, node("n1", "1"), node("n2", "1"), pod("cheap", "n1", 10, "1"), pod("dear", "n2", 500, "1"))
	w.create(t, pod("web", "", 1000, "1"), boundTo("n2"))
	require.Equal(t, []string{"cheap", "web"}, w.left(t))
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, []string{"n1", "n2"}, seen)
}

func TestBadArgs(t *testing.T) {
	for args, want := range map[string]string{
		`{"option": {}}`:                                                     `unknown field "option"`,
		`{"options": {"rules": "Kubernetes1"}}`:                              "Rules",
		`{"options": {"candidates": true}}`:                                  "options.candidates: set is not absent",
		`{"options": {"limits": {"window": {"seconds": 60, "victims": 1}}}}`: "options.limits.window",
		`{"minCandidateNodesPercentage": 101}`:                               "minCandidateNodesPercentage",
	} {
		_, err := plugin.New(context.Background(), &runtime.Unknown{Raw: []byte(args), ContentType: runtime.ContentTypeJSON}, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

func TestMain(m *testing.M) {
	klog.LogToStderr(false)
	os.Exit(m.Run())
}
