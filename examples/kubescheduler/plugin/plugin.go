package plugin

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	upstream "k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"github.com/preempt-go/preempt/preemption"
)

// Name is the plugin's name in the registry and in configurations.
const Name = "Preempt"

// Plugin answers PostFilter with a planner. [New] makes one for each profile.
type Plugin struct {
	handle   fwk.Handle
	args     Args
	features feature.Features
	upstream *defaultpreemption.DefaultPreemption

	mu      sync.Mutex // scheduling cycles come one by one; it says so
	mirror  *mirror
	profile func() *fallback

	// timed: the planner is told the time, which options may look at. Upstream's rules
	// don't: a pod that has not started counts as started later than any other.
	timed bool
}

var (
	_ fwk.PostFilterPlugin  = &Plugin{}
	_ fwk.PreEnqueuePlugin  = &Plugin{}
	_ fwk.EnqueueExtensions = &Plugin{}
)

// New makes the plugin; it is a frameworkruntime.PluginFactory, for app.WithPlugin.
func New(ctx context.Context, object runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	return newPlugin(ctx, object, handle, feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate))
}

func newPlugin(ctx context.Context, object runtime.Object, handle fwk.Handle, features feature.Features) (*Plugin, error) {
	args, err := decode(object)
	if err != nil {
		return nil, err
	}
	defaults := &config.DefaultPreemptionArgs{MinCandidateNodesPercentage: 10, MinCandidateNodesAbsolute: 100}
	if n := args.MinCandidateNodesPercentage; n != nil {
		defaults.MinCandidateNodesPercentage = *n
	}
	if n := args.MinCandidateNodesAbsolute; n != nil {
		defaults.MinCandidateNodesAbsolute = *n
	}
	p := &Plugin{handle: handle, args: args, features: features}
	if p.upstream, err = defaultpreemption.New(ctx, defaults, handle, features); err != nil {
		return nil, fmt.Errorf("plugin: args of %s: %w", Name, err)
	}
	options := args.Options
	p.timed = !reflect.DeepEqual(options, preemption.Options{Rules: options.Rules})
	// Extenders choose among all candidates, and may change their victims.
	options.Candidates = slices.ContainsFunc(handle.Extenders(), func(e fwk.Extender) bool { return e.SupportsPreemption() })
	planner, err := preemption.NewPlanner(nil, options)
	if err != nil {
		return nil, err
	}
	p.mirror = newMirror(planner, handle.SharedInformerFactory())
	p.profile = sync.OnceValue(p.checkProfile)
	register()
	return p, nil
}

// Name is the plugin's name.
func (p *Plugin) Name() string { return Name }

// PreEnqueue holds a pod back while its victims are being evicted, as upstream does.
func (p *Plugin) PreEnqueue(ctx context.Context, pod *v1.Pod) *fwk.Status {
	return p.upstream.PreEnqueue(ctx, pod)
}

// EventsToRegister are upstream's.
func (p *Plugin) EventsToRegister(ctx context.Context) ([]fwk.ClusterEventWithHint, error) {
	return p.upstream.EventsToRegister(ctx)
}

// PostFilter evicts for a pod that no node takes, if that helps, and nominates it. What
// result and status mean is as upstream has it.
func (p *Plugin) PostFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, statuses fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	p.mu.Lock()
	defer p.mu.Unlock()
	result, status, outcome, why := p.answer(ctx, state, pod, statuses)
	if why == nil {
		metrics.PreemptionAttempts.Inc()
		questions.WithLabelValues(outcome).Inc()
		if message := status.Message(); message != "" {
			status = fwk.NewStatus(status.Code(), "preemption: "+message)
		}
		return result, status
	}
	fallbacks.WithLabelValues(string(why.reason)).Inc()
	klog.FromContext(ctx).V(2).Info("The planner cannot answer", "pod", klog.KObj(pod), "reason", why.reason, "detail", why.detail, "upstreamAnswers", !p.args.NoFallback)
	if p.args.NoFallback {
		questions.WithLabelValues(outcomeRefused).Inc()
		return nil, fwk.NewStatus(fwk.Unschedulable, "preemption: not answered: "+why.Error())
	}
	questions.WithLabelValues(outcomeFallback).Inc()
	return p.upstream.PostFilter(ctx, state, pod, statuses)
}

// answer asks the planner and has the answer carried out. Where why is not nil nothing
// was done.
func (p *Plugin) answer(ctx context.Context, state fwk.CycleState, pod *v1.Pod, statuses fwk.NodeToStatusReader) (result *fwk.PostFilterResult, status *fwk.Status, outcome string, why *fallback) {
	if why = p.profile(); why != nil {
		return nil, nil, "", why
	}
	pod, err := p.upstream.Evaluator.PodLister.Pods(pod.Namespace).Get(pod.Name) // as upstream: it may have changed
	if err != nil {
		return nil, fwk.AsStatus(err), outcomeError, nil
	}
	if why = p.unreadable(pod); why != nil {
		return nil, nil, "", why
	}
	if ok, message := p.upstream.PodEligibleToPreemptOthers(ctx, pod, statuses.Get(pod.Status.NominatedNodeName)); !ok {
		return nil, fwk.NewStatus(fwk.Unschedulable, message), outcomeNotEligible, nil
	}
	answer, why := p.ask(ctx, pod)
	if why != nil {
		return nil, nil, "", why
	}
	switch answer.Verdict {
	case preemption.Feasible:
		return p.carryOut(ctx, state, pod, statuses, answer)
	case preemption.Infeasible:
		return framework.NewPostFilterResultWithNominatedNode(""), fwk.NewStatus(fwk.Unschedulable, answer.Message), outcomeInfeasible, nil
	case preemption.NotEligible, preemption.Waiting:
		return nil, fwk.NewStatus(fwk.Unschedulable, answer.Message), outcomeNotEligible, nil
	}
	return nil, nil, "", leave(ReasonRoom, "%s", answer.Message)
}

// ask makes the planner equal to the snapshot and asks about pod.
func (p *Plugin) ask(ctx context.Context, pod *v1.Pod) (*preemption.Result, *fallback) {
	began := time.Now()
	nodes, err := p.handle.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return nil, leave(ReasonObjects, "%v", err)
	}
	changed, err := p.mirror.sync(nodes, p.handle, pod)
	changedNodes.Add(float64(changed))
	if err == nil && p.timed {
		err = p.mirror.planner.SetTime(began)
	}
	synced := time.Now()
	syncSeconds.Observe(synced.Sub(began).Seconds())
	if err != nil {
		return nil, leave(ReasonObjects, "%v", err)
	}
	inline, err := p.mirror.inline(pod)
	if err != nil {
		return nil, leave(ReasonQuestion, "%v", err)
	}
	answer, err := p.mirror.planner.PreemptContext(ctx, preemption.Preemptor{Pods: []preemption.Pod{inline}})
	answerSeconds.Observe(time.Since(synced).Seconds())
	if err != nil {
		return nil, leave(ReasonQuestion, "%v", err)
	}
	return answer, nil
}

// carryOut has upstream's evaluator do what is left: extenders, choice, eviction.
func (p *Plugin) carryOut(ctx context.Context, state fwk.CycleState, pod *v1.Pod, statuses fwk.NodeToStatusReader, answer *preemption.Result) (*fwk.PostFilterResult, *fwk.Status, string, *fallback) {
	proposals, why := p.proposals(statuses, answer)
	if why != nil {
		return nil, nil, "", why
	}
	evaluator := upstream.NewEvaluator(Name, p.handle, proposals, p.upstream.Executor)
	result, status := evaluator.Preempt(ctx, state, pod, only{statuses, proposals.nodes})
	switch {
	case proposals.accepted.Load() == 0 && status.IsRejected():
		return nil, nil, "", leave(ReasonFilters, "%s", strings.Join(proposals.refusals(), "; "))
	case status.IsSuccess():
		return result, status, outcomeNominated, nil
	case status.IsRejected(): // by extenders
		return result, status, outcomeInfeasible, nil
	}
	return result, status, outcomeError, nil
}

// proposals are the nodes of the answer on which the filters have said that evictions
// may help.
func (p *Plugin) proposals(statuses fwk.NodeToStatusReader, answer *preemption.Result) (*proposals, *fallback) {
	candidates := answer.Candidates
	if len(candidates) == 0 {
		candidates = []preemption.Candidate{{Domain: answer.Domain, Victims: answer.Victims, Violations: answer.Violations}}
	}
	out := &proposals{DefaultPreemption: p.upstream, handle: p.handle, byNode: map[string]proposal{}}
	var refused []string
	for _, c := range candidates {
		if code := statuses.Get(c.Domain).Code(); code != fwk.Unschedulable {
			refused = append(refused, fmt.Sprintf("%s is %s", c.Domain, code))
			continue
		}
		info, err := p.handle.SnapshotSharedLister().NodeInfos().Get(c.Domain)
		if err != nil {
			return nil, leave(ReasonObjects, "%v", err)
		}
		one := proposal{violations: c.Violations}
		for _, unit := range c.Victims {
			for _, v := range unit.Pods {
				victim := p.mirror.victim(v.PodRef)
				if victim == nil {
					return nil, leave(ReasonObjects, "victim %s/%s is not in the snapshot", v.Namespace, v.Name)
				}
				one.victims = append(one.victims, victim)
			}
		}
		out.byNode[c.Domain] = one
		out.nodes = append(out.nodes, info)
	}
	if len(out.nodes) == 0 {
		return nil, leave(ReasonStatus, "%s", strings.Join(refused, ", "))
	}
	return out, nil
}

// unreadable says what of pod the planner does not know.
func (p *Plugin) unreadable(pod *v1.Pod) *fallback {
	if pod.Spec.SchedulingGroup != nil && p.features.EnableGenericWorkload {
		return leave(ReasonPodGroup, "the pod belongs to a pod group")
	}
	if len(pod.Spec.ResourceClaims) > 0 {
		return leave(ReasonDevices, "the pod has resource claims")
	}
	if manager := p.handle.SharedDRAManager(); p.features.EnableDRAExtendedResource && manager != nil {
		for name := range resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}) {
			if class := manager.DeviceClassResolver().GetDeviceClass(name); class != nil {
				return leave(ReasonDevices, "device class %s stands for the resource %s", class.Name, name)
			}
		}
	}
	return nil
}

// applied are the filters of upstream whose rules the planner applies.
var applied = []string{
	names.NodeUnschedulable, names.NodeName, names.TaintToleration, names.NodeAffinity, names.NodePorts,
	names.NodeResourcesFit, names.PodTopologySpread, names.InterPodAffinity,
}

// checkProfile says which filter the planner applies although the profile does not.
func (p *Plugin) checkProfile() *fallback {
	f, ok := p.handle.(framework.Framework)
	if !ok {
		return nil
	}
	for _, name := range applied {
		if !slices.ContainsFunc(f.ListPlugins().Filter.Enabled, func(e config.Plugin) bool { return e.Name == name }) {
			return leave(ReasonProfile, "the filter %s is not enabled", name)
		}
	}
	return nil
}
