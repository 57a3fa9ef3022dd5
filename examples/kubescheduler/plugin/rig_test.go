package plugin

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	tracker "k8s.io/dynamic-resource-allocation/resourceslice/tracker"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/kubernetes/pkg/scheduler/util/assumecache"
)

// rig is kube-scheduler's cache, queue and framework with the default profile, driven by
// hand, with this plugin and upstream's beside each other. Nobody is evicted: whom a plugin
// would evict is noted.
type rig struct {
	client    *fake.Clientset
	factory   informers.SharedInformerFactory
	cache     internalcache.Cache
	snapshot  *internalcache.Snapshot
	queue     internalqueue.SchedulingQueue
	framework framework.Framework
	ours      *Plugin
	theirs    *defaultpreemption.DefaultPreemption

	mu      sync.Mutex
	evicted []string
}

// newRig makes a rig over an empty cluster. Upstream's plugin looks for as many candidates
// as percent and minimum say.
func newRig(t testing.TB, percent, minimum int32, args string) *rig {
	t.Helper()
	metrics.Register()
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), klog.Logger{}))
	t.Cleanup(cancel)
	r := &rig{client: fake.NewClientset(), snapshot: internalcache.NewEmptySnapshot()}
	r.client.PrependReactor("patch", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, &v1.Pod{}, nil })
	r.factory = informers.NewSharedInformerFactory(r.client, 0)
	r.cache = internalcache.New(ctx, nil, false)
	r.queue = internalqueue.NewSchedulingQueue(func(a, b fwk.QueuedPodInfo) bool { return false }, r.factory)

	defaults, err := latest.Default()
	require.NoError(t, err)
	profile := defaults.Profiles[0]
	profile.Plugins.MultiPoint.Enabled = append(profile.Plugins.MultiPoint.Enabled, config.Plugin{Name: Name})
	profile.PluginConfig = append(profile.PluginConfig, config.PluginConfig{Name: Name, Args: &runtime.Unknown{Raw: []byte(args)}})
	for i := range profile.PluginConfig {
		if args, ok := profile.PluginConfig[i].Args.(*config.DefaultPreemptionArgs); ok {
			args.MinCandidateNodesPercentage, args.MinCandidateNodesAbsolute = percent, minimum
		}
	}
	registry := plugins.NewInTreeRegistry()
	// Without features eviction is part of the answer, so that it is known once PostFilter returns.
	registry[defaultpreemption.Name] = func(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
		var err error
		r.theirs, err = defaultpreemption.New(ctx, args, h, feature.Features{})
		return r.theirs, err
	}
	registry[Name] = func(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
		var err error
		r.ours, err = newPlugin(ctx, args, h, feature.Features{})
		return r.ours, err
	}
	slices, err := tracker.StartTracker(ctx, tracker.Options{SliceInformer: r.factory.Resource().V1().ResourceSlices(), KubeClient: r.client})
	require.NoError(t, err)
	claims := assumecache.NewAssumeCache(klog.Logger{}, r.factory.Resource().V1().ResourceClaims().Informer(), "ResourceClaim", "", nil)
	r.framework, err = frameworkruntime.NewFramework(ctx, registry, &profile,
		frameworkruntime.WithClientSet(r.client),
		frameworkruntime.WithInformerFactory(r.factory),
		frameworkruntime.WithSharedDRAManager(dynamicresources.NewDRAManager(ctx, claims, slices, r.factory)),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(r.factory.Storage().V1().CSINodes().Lister())),
		frameworkruntime.WithSnapshotSharedLister(r.snapshot),
		frameworkruntime.WithEventRecorder(&events.FakeRecorder{}),
		frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()),
		frameworkruntime.WithPodsInPreBind(frameworkruntime.NewPodsInPreBindMap()),
		frameworkruntime.WithPodNominator(r.queue),
	)
	require.NoError(t, err)
	note := func(_ context.Context, _ preemption.Candidate, _ preemption.ExecutorPreemptor, victim *v1.Pod, _ string) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.evicted = append(r.evicted, victim.Name)
		return nil
	}
	r.theirs.Executor.PreemptPod, r.ours.upstream.Executor.PreemptPod = note, note
	return r
}

// store is where the lister of a kind of object reads.
func (r *rig) store(o runtime.Object) cache.Indexer {
	switch o.(type) {
	case *v1.Pod:
		return r.factory.Core().V1().Pods().Informer().GetIndexer()
	case *v1.Namespace:
		return r.factory.Core().V1().Namespaces().Informer().GetIndexer()
	case *v1.PersistentVolumeClaim:
		return r.factory.Core().V1().PersistentVolumeClaims().Informer().GetIndexer()
	}
	return r.factory.Policy().V1().PodDisruptionBudgets().Informer().GetIndexer()
}

// cycle is a scheduling cycle up to PostFilter: the snapshot as it is now, and what the
// filters say.
type cycle struct {
	pod      *v1.Pod
	state    fwk.CycleState
	statuses *framework.NodeToStatus
	fits     []string // sorted
}

func (r *rig) cycle(t testing.TB, pod *v1.Pod) *cycle {
	t.Helper()
	require.NoError(t, r.cache.UpdateSnapshot(klog.Logger{}, r.snapshot))
	ctx := context.Background()
	c := &cycle{pod: pod, state: framework.NewCycleState(), statuses: framework.NewDefaultNodeToStatus()}
	only, status, _ := r.framework.RunPreFilterPlugins(ctx, c.state, pod)
	if !status.IsSuccess() {
		require.True(t, status.IsRejected(), status.Message())
		c.statuses.SetAbsentNodesStatus(status)
		return c
	}
	nodes, err := r.snapshot.NodeInfos().List()
	require.NoError(t, err)
	for _, n := range nodes {
		if !only.AllNodes() && !only.NodeNames.Has(n.Node().Name) {
			continue
		}
		status := r.framework.RunFilterPluginsWithNominatedPods(ctx, c.state, pod, n)
		if status.IsSuccess() {
			c.fits = append(c.fits, n.Node().Name)
		} else {
			require.True(t, status.IsRejected(), status.Message())
			c.statuses.Set(n.Node().Name, status)
		}
	}
	slices.Sort(c.fits)
	return c
}

// outcome is what a plugin has answered and done.
type outcome struct {
	Code      string
	Nominated string   // the node; "unchanged" where the nomination stays as it is
	Evicted   []string // sorted
	Cleared   []string // pods whose nomination was withdrawn, sorted

	message string
	took    time.Duration
}

func (r *rig) ask(c *cycle, p fwk.PostFilterPlugin) outcome {
	r.evicted = nil
	r.client.ClearActions()
	began := time.Now()
	result, status := p.PostFilter(context.Background(), c.state.Clone(), c.pod, c.statuses)
	o := outcome{Code: status.Code().String(), Nominated: "unchanged", Evicted: r.evicted, message: status.Message(), took: time.Since(began)}
	if result != nil && result.NominatingInfo != nil {
		o.Nominated = result.NominatedNodeName
	}
	slices.Sort(o.Evicted)
	for _, action := range r.client.Actions() {
		if patch, ok := action.(clienttesting.PatchAction); ok {
			o.Cleared = append(o.Cleared, patch.GetName())
		}
	}
	slices.Sort(o.Cleared)
	return o
}
