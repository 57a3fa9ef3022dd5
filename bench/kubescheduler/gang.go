package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	"k8s.io/kubernetes/pkg/scheduler/profile"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// gangScheduler is a whole kube-scheduler with workload-aware preemption on, whose
// queue holds the members of one pod group. One scheduling cycle tries to place the
// group as things are, then asks the preemption plugin, which simulates the placing
// of the group once on the emptied cluster and once more for every potential victim.
type gangScheduler struct {
	scheduler *kubescheduler.Scheduler
	members   int

	mu      sync.Mutex
	victims []string // whom the plugin evicted, namespace/name
	calls   int      // how often a member was to be placed

	simulation cost // the first simulation on the emptied cluster
	only       bool // stop after it
	began      mark
}

// errEnough ends the placing of members once enough has been measured.
var errEnough = errors.New("kubescheduler: measured enough")

// newGangScheduler builds it for a question whose preemptor is a group. The
// returned function releases it and turns the gates off again.
func newGangScheduler(q *question) (*gangScheduler, func(), error) {
	gates, err := setGates(map[string]bool{
		string(features.GenericWorkload): true, string(features.GangScheduling): true,
		string(features.WorkloadAwarePreemption): true, string(features.SchedulerAsyncPreemption): false,
	})
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	release := func() { cancel(); gates() }
	g := &gangScheduler{members: len(q.members)}
	if err := g.build(ctx, q); err != nil {
		release()
		return nil, nil, err
	}
	return g, release, nil
}

// setGates turns feature gates on and off and returns what undoes it.
func setGates(gates map[string]bool) (undo func(), err error) {
	before := map[string]bool{}
	for name := range gates {
		for gate := range utilfeature.DefaultMutableFeatureGate.GetAll() {
			if string(gate) == name {
				before[name] = utilfeature.DefaultFeatureGate.Enabled(gate)
			}
		}
	}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(gates); err != nil {
		return nil, err
	}
	return func() {
		if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(before); err != nil {
			panic(err) // they were set like this before
		}
	}, nil
}

func (g *gangScheduler) build(ctx context.Context, q *question) error {
	client := fake.NewClientset()
	factory := informers.NewSharedInformerFactory(client, 0)
	var err error
	recorder := func(string) events.EventRecorderLogger { return &events.FakeRecorder{} }
	g.scheduler, err = kubescheduler.New(ctx, client, factory, nil, profile.RecorderFactory(recorder))
	if err != nil {
		return fmt.Errorf("building the scheduler: %w", err)
	}
	if err := g.hook(); err != nil {
		return err
	}
	for _, pg := range q.groups {
		if err := factory.Scheduling().V1alpha2().PodGroups().Informer().GetIndexer().Add(pg); err != nil {
			return err
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
	logger := klog.FromContext(ctx)
	for _, n := range q.nodes {
		g.scheduler.Cache.AddNode(logger, n)
	}
	pods := factory.Core().V1().Pods().Informer().GetIndexer()
	for _, p := range slices.Concat(q.pods, q.members) {
		if err := pods.Add(p); err != nil {
			return err
		}
		if p.Spec.NodeName != "" {
			if err := g.scheduler.Cache.AddPod(logger, p); err != nil {
				return err
			}
		}
	}
	for _, p := range q.pods {
		if p.Spec.NodeName == "" && p.Status.NominatedNodeName != "" { // its turn is over, or it would come first
			queue := g.scheduler.SchedulingQueue
			queue.Add(ctx, p)
			info, err := queue.Pop(logger)
			if err == nil {
				info.UnschedulablePlugins = sets.New(names.NodeResourcesFit)
				err = queue.AddUnschedulableIfNotPresent(logger, info, queue.SchedulingCycle())
			}
			if err != nil {
				return err
			}
		}
	}
	for _, p := range q.members {
		g.scheduler.Cache.AddPodGroupMember(p)
	}
	for _, p := range q.members { // once all are known, or the gang is held back
		g.scheduler.SchedulingQueue.Add(ctx, p)
	}
	return nil
}

// hook replaces what would change the cluster, and listens to what is tried.
func (g *gangScheduler) hook() error {
	for _, f := range g.scheduler.Profiles {
		plugins := f.PodGroupPostFilterPlugins()
		if len(plugins) != 1 {
			return fmt.Errorf("%d plugins for the preemption by groups, not one", len(plugins))
		}
		plugin, ok := plugins[0].(*defaultpreemption.DefaultPreemption)
		if !ok {
			return fmt.Errorf("%T preempts for groups, not the default preemption", plugins[0])
		}
		plugin.Executor.PreemptPod = func(_ context.Context, _ preemption.Candidate, _ preemption.ExecutorPreemptor, victim *v1.Pod, _ string) error {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.victims = append(g.victims, victim.Namespace+"/"+victim.Name)
			return nil
		}
	}
	g.scheduler.FailureHandler = func(context.Context, framework.Framework, *framework.QueuedPodInfo, *fwk.Status, *fwk.NominatingInfo, time.Time) {
	}
	place := g.scheduler.SchedulePod
	g.scheduler.SchedulePod = func(ctx context.Context, f framework.Framework, state fwk.CycleState, pod *framework.QueuedPodInfo) (kubescheduler.ScheduleResult, error) {
		switch g.calls {
		case g.members: // all members have been tried as things are
			g.began = now()
		case 2 * g.members:
			g.simulation = g.began.cost(1)
		}
		g.calls++
		if g.only && g.calls > 2*g.members {
			return kubescheduler.ScheduleResult{}, errEnough
		}
		return place(ctx, f, state, pod)
	}
	return nil
}

// cycle runs one scheduling cycle and returns whom it evicts, sorted.
func (g *gangScheduler) cycle(ctx context.Context) []string {
	g.scheduler.ScheduleOne(ctx)
	slices.Sort(g.victims)
	return g.victims
}

// gangVictims runs whole cycles, each of a scheduler of its own, until one evicts
// the pods of until, at most that many times. It returns whom each run evicts.
func gangVictims(ctx context.Context, p cluster.Preemptor, snap *cluster.Snapshot, most int, until []string) ([][]string, error) {
	var runs [][]string
	for range most {
		q, err := newQuestion(p, snap)
		if err != nil {
			return nil, err
		}
		g, release, err := newGangScheduler(q)
		if err != nil {
			return nil, err
		}
		runs = append(runs, g.cycle(ctx))
		release()
		if slices.Equal(runs[len(runs)-1], until) {
			break
		}
	}
	return runs, nil
}
