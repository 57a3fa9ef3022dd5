package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	tracker "k8s.io/dynamic-resource-allocation/resourceslice/tracker"
	"k8s.io/klog/v2"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/parallelize"
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

// sampling is how many candidates kube-scheduler looks for before it stops, and how
// many nodes it looks at at once.
type sampling struct {
	percent, minimum int32
	workers          int
}

var (
	exhaustive = sampling{percent: 100, minimum: math.MaxInt32, workers: parallelize.DefaultParallelism}
	shipped    = sampling{percent: 10, minimum: 100, workers: parallelize.DefaultParallelism} // kube-scheduler's default
)

// scheduler is kube-scheduler's framework with the default profile, right after its
// filters have found no node for one pod: the moment at which PostFilter is called.
type scheduler struct {
	framework framework.Framework
	plugin    *defaultpreemption.DefaultPreemption
	pod       *v1.Pod
	state     fwk.CycleState
	statuses  *framework.NodeToStatus
	fits      []string // nodes that take the pod as it is, sorted
	client    *fake.Clientset
}

// newScheduler builds the framework over the question's objects and runs the filters
// for its preemptor. The returned function releases it.
func newScheduler(q *question, s sampling) (*scheduler, func(), error) {
	metrics.Register()
	ctx, cancel := context.WithCancel(context.Background())
	sched := &scheduler{pod: q.preemptor, state: framework.NewCycleState(), statuses: framework.NewDefaultNodeToStatus()}
	if err := sched.build(ctx, q, s); err != nil {
		cancel()
		return nil, nil, err
	}
	if err := sched.filter(ctx); err != nil {
		cancel()
		return nil, nil, err
	}
	return sched, cancel, nil
}

// build makes the framework: informers that hold the objects and are never started,
// a snapshot of the nodes, a queue with the nominated pods, and the plugins.
func (s *scheduler) build(ctx context.Context, q *question, sample sampling) error {
	client := fake.NewClientset()
	s.client = client
	factory := informers.NewSharedInformerFactory(client, 0)
	var bound, nominated []*v1.Pod
	pods := factory.Core().V1().Pods().Informer().GetIndexer()
	if err := pods.Add(s.pod); err != nil {
		return err
	}
	for _, p := range q.pods {
		if err := pods.Add(p); err != nil {
			return err
		}
		switch {
		case p.Spec.NodeName != "":
			bound = append(bound, p)
		case p.Status.NominatedNodeName != "":
			nominated = append(nominated, p)
		}
	}
	for _, n := range q.namespaces {
		if err := factory.Core().V1().Namespaces().Informer().GetIndexer().Add(n); err != nil {
			return err
		}
	}
	for _, b := range q.budgets {
		if err := factory.Policy().V1().PodDisruptionBudgets().Informer().GetIndexer().Add(b); err != nil {
			return err
		}
	}

	defaults, err := latest.Default()
	if err != nil {
		return err
	}
	profile := defaults.Profiles[0]
	for i := range profile.PluginConfig {
		if args, ok := profile.PluginConfig[i].Args.(*config.DefaultPreemptionArgs); ok {
			args.MinCandidateNodesPercentage, args.MinCandidateNodesAbsolute = sample.percent, sample.minimum
		}
	}
	registry := plugins.NewInTreeRegistry()
	registry[defaultpreemption.Name] = func(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
		// Asynchronous preemption would evict after the answer; here nothing is evicted
		// at all, so it is left off and the whole step is one call.
		plugin, err := defaultpreemption.New(ctx, args, h, feature.Features{})
		if err != nil {
			return nil, err
		}
		plugin.Executor.PreemptPod = func(context.Context, preemption.Candidate, preemption.ExecutorPreemptor, *v1.Pod, string) error {
			return nil
		}
		s.plugin = plugin
		return plugin, nil
	}
	resources, err := deviceManager(ctx, client, factory)
	if err != nil {
		return err
	}
	queue := internalqueue.NewSchedulingQueue(func(a, b fwk.QueuedPodInfo) bool { return false }, factory)
	s.framework, err = frameworkruntime.NewFramework(ctx, registry, &profile,
		frameworkruntime.WithClientSet(client),
		frameworkruntime.WithParallelism(sample.workers),
		frameworkruntime.WithInformerFactory(factory),
		frameworkruntime.WithSharedDRAManager(resources),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(factory.Storage().V1().CSINodes().Lister())),
		frameworkruntime.WithSnapshotSharedLister(internalcache.NewSnapshot(bound, q.nodes)),
		frameworkruntime.WithEventRecorder(&events.FakeRecorder{}),
		frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()),
		frameworkruntime.WithPodsInPreBind(frameworkruntime.NewPodsInPreBindMap()),
		frameworkruntime.WithPodNominator(queue),
	)
	if err != nil {
		return fmt.Errorf("building the framework: %w", err)
	}
	for _, p := range nominated {
		queue.Add(ctx, p)
	}
	return nil
}

// deviceManager is what the plugin for dynamic resources asks, over no devices.
func deviceManager(ctx context.Context, client kubernetes.Interface, factory informers.SharedInformerFactory) (fwk.SharedDRAManager, error) {
	slices, err := tracker.StartTracker(ctx, tracker.Options{SliceInformer: factory.Resource().V1().ResourceSlices(), KubeClient: client})
	if err != nil {
		return nil, err
	}
	claims := assumecache.NewAssumeCache(klog.FromContext(ctx), factory.Resource().V1().ResourceClaims().Informer(), "ResourceClaim", "", nil)
	return dynamicresources.NewDRAManager(ctx, claims, slices, factory), nil
}

// filter does what the scheduling cycle does before PostFilter: it asks every node
// and keeps the status of those that refuse the pod.
func (s *scheduler) filter(ctx context.Context) error {
	only, status, _ := s.framework.RunPreFilterPlugins(ctx, s.state, s.pod)
	if !status.IsSuccess() {
		if !status.IsRejected() {
			return status.AsError()
		}
		s.statuses.SetAbsentNodesStatus(status)
		return nil
	}
	nodes, err := s.framework.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if !only.AllNodes() && !only.NodeNames.Has(n.Node().Name) {
			continue
		}
		status := s.framework.RunFilterPluginsWithNominatedPods(ctx, s.state, s.pod, n)
		switch {
		case status.IsSuccess():
			s.fits = append(s.fits, n.Node().Name)
		case status.IsRejected():
			s.statuses.Set(n.Node().Name, status)
		default:
			return status.AsError()
		}
	}
	slices.Sort(s.fits)
	return nil
}

// postFilter runs the whole PostFilter step and returns the nominated node, empty
// if there is none, and kube-scheduler's words.
func (s *scheduler) postFilter(ctx context.Context) (node, message string, err error) {
	result, status := s.framework.RunPostFilterPlugins(ctx, s.state, s.pod, s.statuses)
	if !status.IsSuccess() && !status.IsRejected() {
		return "", "", status.AsError()
	}
	if result != nil && result.NominatingInfo != nil {
		node = result.NominatedNodeName
	}
	return node, status.Message(), nil
}

// candidates dry-runs preemption on the nodes that kube-scheduler would consider, in
// order of name from offset on, until there are as many candidates as its limits
// want, and returns those found. eligible is false if the pod may not preempt at all.
func (s *scheduler) candidates(ctx context.Context, offset int32) (found map[string]*extenderv1.Victims, eligible bool, err error) {
	if ok, _ := s.plugin.PodEligibleToPreemptOthers(ctx, s.pod, s.statuses.Get(s.pod.Status.NominatedNodeName)); !ok {
		return nil, false, nil
	}
	potential, err := s.statuses.NodesForStatusCode(s.framework.SnapshotSharedLister().NodeInfos(), fwk.Unschedulable)
	if err != nil || len(potential) == 0 {
		return nil, true, err
	}
	slices.SortFunc(potential, func(a, b fwk.NodeInfo) int { return strings.Compare(a.Node().Name, b.Node().Name) })
	budgets, err := s.plugin.Evaluator.PdbLister.List(labels.Everything())
	if err != nil {
		return nil, true, err
	}
	_, wanted := s.plugin.GetOffsetAndNumCandidates(int32(len(potential)))
	list, _, err := s.plugin.Evaluator.DryRunPreemption(ctx, s.state, s.pod, potential, budgets, offset, wanted)
	if err != nil {
		return nil, true, err
	}
	return s.plugin.CandidatesToVictimsMap(list), true, nil
}

// cleared lists the pods whose nomination the last postFilter withdrew, sorted. The
// fake client has no such pods and refuses the patch, which kube-scheduler logs.
func (s *scheduler) cleared() []string {
	var out []string
	for _, action := range s.client.Actions() {
		if patch, ok := action.(clienttesting.PatchAction); ok && patch.GetResource().Resource == "pods" {
			out = append(out, patch.GetNamespace()+"/"+patch.GetName())
		}
	}
	s.client.ClearActions()
	slices.Sort(out)
	return out
}

func init() {
	// Its log would stand between the lines of the output.
	klog.SetLogger(logr.Discard())
	// The operators Lt and Gt of a toleration are behind a gate; the library has them.
	if err := utilfeature.DefaultMutableFeatureGate.Set("TaintTolerationComparisonOperators=true"); err != nil {
		panic(err)
	}
}
