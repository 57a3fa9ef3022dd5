package main

import (
	"errors"
	"fmt"
	"math"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// question is a snapshot and a preemptor as Kubernetes objects.
type question struct {
	nodes      []*v1.Node
	pods       []*v1.Pod // without the preemptor
	budgets    []*policyv1.PodDisruptionBudget
	namespaces []*v1.Namespace
	preemptor  *v1.Pod

	groups  []*schedulingv1alpha2.PodGroup
	members []*v1.Pod // of the preemptor, if it is a group
}

// newQuestion turns a question about one pod, or about a group of the snapshot, into the objects that kube-scheduler
// reads. It refuses what it cannot express, so that no comparison leaves a field out.
func newQuestion(p preemption.Preemptor, snap *preemption.Snapshot) (*question, error) {
	if len(snap.CompositePodGroups)+len(snap.PriorityClasses) > 0 {
		return nil, errors.New("composite groups and priority classes have no counterpart here")
	}
	q := &question{}
	for i := range snap.PodGroups {
		g, err := kubernetesGroup(&snap.PodGroups[i])
		if err != nil {
			return nil, err
		}
		q.groups = append(q.groups, g)
	}
	for i := range snap.Nodes {
		q.nodes = append(q.nodes, kubernetesNode(&snap.Nodes[i]))
	}
	for i := range snap.Pods {
		pod, err := kubernetesPod(&snap.Pods[i])
		switch {
		case err != nil:
			return nil, err
		case p.Kind != cluster.KindPodGroup && pod.Namespace == p.Namespace && pod.Name == p.Name:
			q.preemptor = pod
		case p.Kind == cluster.KindPodGroup && snap.Pods[i].Node == "" && snap.Pods[i].Namespace == p.Namespace && snap.Pods[i].Group == p.Name:
			q.members = append(q.members, pod)
		case snap.Pods[i].Node == "" && pod.Spec.NodeName != "":
			return nil, fmt.Errorf("pod %s/%s: pending with RequiredNode, it would be running", p.Namespace, p.Name)
		default:
			q.pods = append(q.pods, pod)
		}
	}
	for _, n := range snap.Namespaces {
		q.namespaces = append(q.namespaces, &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels}})
	}
	for i := range snap.Budgets {
		q.budgets = append(q.budgets, kubernetesBudget(&snap.Budgets[i]))
	}
	if len(p.Pods) == 1 {
		pod, err := kubernetesPod(&p.Pods[0])
		if err != nil {
			return nil, err
		}
		q.preemptor = pod
	}
	if q.preemptor == nil && len(q.members) == 0 {
		return nil, fmt.Errorf("preemptor %s/%s: neither one pending pod nor a group with pending pods", p.Namespace, p.Name)
	}
	return q, nil
}

func kubernetesNode(n *cluster.Node) *v1.Node {
	out := &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, UID: types.UID("node/" + n.Name), Labels: n.Labels},
		Spec:       v1.NodeSpec{Unschedulable: n.Unschedulable},
		Status:     v1.NodeStatus{Allocatable: quantities(n.Allocatable)},
	}
	if _, ok := n.Allocatable[cluster.Pods]; !ok {
		out.Status.Allocatable[v1.ResourcePods] = *resource.NewQuantity(math.MaxInt32, resource.DecimalSI)
	}
	for _, t := range n.Taints {
		out.Spec.Taints = append(out.Spec.Taints, v1.Taint{Key: t.Key, Value: t.Value, Effect: v1.TaintEffect(t.Effect)})
	}
	return out
}

func kubernetesPod(p *cluster.Pod) (*v1.Pod, error) {
	if p.Priority == nil {
		return nil, fmt.Errorf("pod %s/%s: Priority is not set", p.Namespace, p.Name)
	}
	if len(p.Tokens)+len(p.Devices) > 0 {
		return nil, fmt.Errorf("pod %s/%s: tokens and devices have no counterpart here", p.Namespace, p.Name)
	}
	container := v1.Container{Name: "main", Resources: v1.ResourceRequirements{Requests: quantities(p.Requests)}}
	for _, port := range p.Ports {
		container.Ports = append(container.Ports, v1.ContainerPort{
			HostIP: port.IP, HostPort: port.Port, ContainerPort: port.Port,
			Protocol: v1.Protocol(or(port.Protocol, string(v1.ProtocolTCP))),
		})
	}
	priority := *p.Priority
	out := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.Namespace, Name: p.Name, UID: types.UID(or(p.UID, p.Namespace+"/"+p.Name)), Labels: p.Labels,
		},
		Spec: v1.PodSpec{
			SchedulerName: v1.DefaultSchedulerName,
			NodeName:      or(p.Node, p.RequiredNode),
			Priority:      &priority,
			Containers:    []v1.Container{container},
			NodeSelector:  p.NodeSelector,
			Tolerations:   tolerations(p.Tolerations),
		},
		Status: v1.PodStatus{NominatedNodeName: p.NominatedNode},
	}
	if p.Group != "" {
		out.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &p.Group}
	}
	if p.Policy != "" {
		policy := v1.PreemptionPolicy(p.Policy)
		out.Spec.PreemptionPolicy = &policy
	}
	if !p.Started.IsZero() {
		out.Status.StartTime = &metav1.Time{Time: p.Started}
	}
	if p.Terminating {
		out.DeletionTimestamp = &metav1.Time{Time: p.Started}
		if p.Preempted {
			out.Status.Conditions = []v1.PodCondition{{
				Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler,
			}}
		}
	}
	addAffinity(out, p)
	return out, nil
}

// kubernetesGroup gives the form that v1.36 has.
func kubernetesGroup(g *cluster.PodGroup) (*schedulingv1alpha2.PodGroup, error) {
	if g.Parent != "" || g.Class != "" || g.Policy != "" || g.PreemptionPriority != nil || len(g.Topology) > 0 || g.Queue != "" {
		return nil, fmt.Errorf("pod group %s/%s: only mode, policy and priority have a counterpart here", g.Namespace, g.Name)
	}
	out := &schedulingv1alpha2.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Namespace: g.Namespace, Name: g.Name, UID: types.UID(or(g.UID, "podgroup/"+g.Namespace+"/"+g.Name))},
		Spec:       schedulingv1alpha2.PodGroupSpec{Priority: g.Priority},
	}
	if g.MinCount != nil {
		out.Spec.SchedulingPolicy.Gang = &schedulingv1alpha2.GangSchedulingPolicy{MinCount: *g.MinCount}
	} else {
		out.Spec.SchedulingPolicy.Basic = &schedulingv1alpha2.BasicSchedulingPolicy{}
	}
	if g.Mode == disruption.All {
		mode := schedulingv1alpha2.DisruptionModePodGroup
		out.Spec.DisruptionMode = &mode
	}
	return out, nil
}

// addAffinity fills in the terms that look at nodes and at other pods.
func addAffinity(out *v1.Pod, p *cluster.Pod) {
	affinity := &v1.Affinity{}
	if p.NodeAffinity != nil {
		selector := &v1.NodeSelector{}
		for _, term := range p.NodeAffinity.Terms {
			selector.NodeSelectorTerms = append(selector.NodeSelectorTerms, v1.NodeSelectorTerm{
				MatchExpressions: nodeRequirements(term.Labels), MatchFields: nodeRequirements(term.Fields),
			})
		}
		affinity.NodeAffinity = &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: selector}
	}
	if len(p.Affinity) > 0 {
		affinity.PodAffinity = &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: affinityTerms(p.Affinity)}
	}
	if len(p.AntiAffinity) > 0 {
		affinity.PodAntiAffinity = &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: affinityTerms(p.AntiAffinity)}
	}
	if affinity.NodeAffinity != nil || affinity.PodAffinity != nil || affinity.PodAntiAffinity != nil {
		out.Spec.Affinity = affinity
	}
	for _, s := range p.Spread {
		out.Spec.TopologySpreadConstraints = append(out.Spec.TopologySpreadConstraints, spreadConstraint(s))
	}
}

func affinityTerms(terms []cluster.AffinityTerm) []v1.PodAffinityTerm {
	out := make([]v1.PodAffinityTerm, 0, len(terms))
	for _, t := range terms {
		out = append(out, v1.PodAffinityTerm{
			LabelSelector: labelSelector(t.Selector), Namespaces: t.Namespaces,
			NamespaceSelector: labelSelector(t.NamespaceSelector), TopologyKey: t.TopologyKey,
			MatchLabelKeys: t.MatchLabelKeys, MismatchLabelKeys: t.MismatchLabelKeys,
		})
	}
	return out
}

func spreadConstraint(s cluster.Spread) v1.TopologySpreadConstraint {
	out := v1.TopologySpreadConstraint{
		MaxSkew: s.MaxSkew, TopologyKey: s.TopologyKey, WhenUnsatisfiable: v1.DoNotSchedule,
		LabelSelector: labelSelector(s.Selector), MatchLabelKeys: s.MatchLabelKeys,
	}
	if s.MinDomains > 0 {
		out.MinDomains = &s.MinDomains
	}
	if s.NodeAffinityPolicy != "" {
		policy := v1.NodeInclusionPolicy(s.NodeAffinityPolicy)
		out.NodeAffinityPolicy = &policy
	}
	if s.NodeTaintsPolicy != "" {
		policy := v1.NodeInclusionPolicy(s.NodeTaintsPolicy)
		out.NodeTaintsPolicy = &policy
	}
	return out
}

func kubernetesBudget(b *disruption.Budget) *policyv1.PodDisruptionBudget {
	out := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: b.Name, UID: types.UID("pdb/" + b.Namespace + "/" + b.Name)},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: labelSelector(b.Selector)},
		Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: b.Allowed},
	}
	for _, name := range b.Disrupted {
		if out.Status.DisruptedPods == nil {
			out.Status.DisruptedPods = map[string]metav1.Time{}
		}
		out.Status.DisruptedPods[name] = metav1.Time{}
	}
	return out
}

func labelSelector(s *disruption.Selector) *metav1.LabelSelector {
	if s == nil {
		return nil
	}
	out := &metav1.LabelSelector{MatchLabels: s.MatchLabels}
	for _, r := range s.MatchExpressions {
		out.MatchExpressions = append(out.MatchExpressions, metav1.LabelSelectorRequirement{
			Key: r.Key, Operator: metav1.LabelSelectorOperator(r.Operator), Values: r.Values,
		})
	}
	return out
}

func nodeRequirements(rs []cluster.NodeRequirement) []v1.NodeSelectorRequirement {
	var out []v1.NodeSelectorRequirement
	for _, r := range rs {
		out = append(out, v1.NodeSelectorRequirement{Key: r.Key, Operator: v1.NodeSelectorOperator(r.Operator), Values: r.Values})
	}
	return out
}

func tolerations(ts []cluster.Toleration) []v1.Toleration {
	var out []v1.Toleration
	for _, t := range ts {
		out = append(out, v1.Toleration{
			Key: t.Key, Operator: v1.TolerationOperator(t.Operator), Value: t.Value, Effect: v1.TaintEffect(t.Effect),
		})
	}
	return out
}

// quantities gives cpu in thousandths, everything else in whole units.
func quantities(rs cluster.Resources) v1.ResourceList {
	out := make(v1.ResourceList, len(rs))
	for name, amount := range rs {
		if name == cluster.CPU {
			out[v1.ResourceCPU] = *resource.NewMilliQuantity(amount, resource.DecimalSI)
			continue
		}
		out[v1.ResourceName(name)] = *resource.NewQuantity(amount, resource.DecimalSI)
	}
	return out
}

func or(s, fallback string) string {
	if s != "" {
		return s
	}
	return fallback
}
