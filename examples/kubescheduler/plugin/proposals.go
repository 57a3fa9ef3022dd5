package plugin

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
)

// proposals are what the planner has found, in the form in which upstream's evaluator
// asks: node by node. It is the evaluator's preemption.Interface.
type proposals struct {
	*defaultpreemption.DefaultPreemption
	handle fwk.Handle
	nodes  []fwk.NodeInfo
	byNode map[string]proposal

	accepted atomic.Int32
	mu       sync.Mutex
	refused  []string
}

// proposal is whom to evict from one node, most important first.
type proposal struct {
	victims    []*v1.Pod
	violations int
}

// GetOffsetAndNumCandidates asks for all proposals.
func (ps *proposals) GetOffsetAndNumCandidates(nodes int32) (offset, candidates int32) {
	return 0, nodes
}

// SelectVictimsOnNode gives the planner's victims if, by the framework's filters, the
// pod fits without them.
func (ps *proposals) SelectVictimsOnNode(ctx context.Context, state fwk.CycleState, pod *v1.Pod, info fwk.NodeInfo, _ []*policyv1.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	proposal := ps.byNode[info.Node().Name]
	status := ps.check(ctx, state, pod, info, proposal.victims)
	if !status.IsSuccess() {
		ps.mu.Lock()
		defer ps.mu.Unlock()
		ps.refused = append(ps.refused, fmt.Sprintf("%s: %s", info.Node().Name, status.Message()))
		return nil, 0, status
	}
	ps.accepted.Add(1)
	return proposal.victims, proposal.violations, nil
}

// check takes the victims away from info, which is a copy as state is, and asks the filters.
func (ps *proposals) check(ctx context.Context, state fwk.CycleState, pod *v1.Pod, info fwk.NodeInfo, victims []*v1.Pod) *fwk.Status {
	running := map[*v1.Pod]fwk.PodInfo{}
	for _, p := range info.GetPods() {
		running[p.GetPod()] = p
	}
	for _, victim := range victims {
		p := running[victim]
		if p == nil {
			return fwk.NewStatus(fwk.Unschedulable, fmt.Sprintf("victim %s/%s runs elsewhere", victim.Namespace, victim.Name))
		}
		if err := info.RemovePod(klog.FromContext(ctx), victim); err != nil {
			return fwk.AsStatus(err)
		}
		if status := ps.handle.RunPreFilterExtensionRemovePod(ctx, state, pod, p, info); !status.IsSuccess() {
			return status
		}
	}
	return ps.handle.RunFilterPluginsWithNominatedPods(ctx, state, pod, info)
}

// refusals lists what the filters said, in order of nodes.
func (ps *proposals) refusals() []string {
	slices.Sort(ps.refused)
	return ps.refused
}

// only narrows what the evaluator looks at to some nodes.
type only struct {
	fwk.NodeToStatusReader
	nodes []fwk.NodeInfo
}

// NodesForStatusCode are the nodes, which the filters call unschedulable.
func (o only) NodesForStatusCode(fwk.NodeInfoLister, fwk.Code) ([]fwk.NodeInfo, error) {
	return o.nodes, nil
}
