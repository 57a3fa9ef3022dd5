package convert

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// PreemptionPriorityAnnotation names, on a pod or pod group, the priority class
// whose value is the priority as a victim, for the rules that tell it apart from
// the priority as a preemptor. [Options.Dump] resolves it.
const PreemptionPriorityAnnotation = "preempt-go.dev/preemption-priority-class"

// Pod converts a pod. One that is bound runs, whatever its phase; [Finished] pods
// are the caller's to drop. Static and mirror pods are pods like others.
//
// The result shares maps with pod. The error joins an [*Error] for each field that
// cannot be read.
func Pod(pod *corev1.Pod) (cluster.Pod, error) {
	f := podFields(pod)
	out := cluster.Pod{
		Namespace: namespaceOf(&pod.ObjectMeta), Name: pod.Name, UID: string(pod.UID),
		Labels: pod.Labels, Annotations: pod.Annotations,
		Node: pod.Spec.NodeName, NominatedNode: pod.Status.NominatedNodeName,
		Requests:     requests(&f, pod),
		Ports:        hostPorts(pod),
		Tolerations:  tolerations(pod.Spec.Tolerations),
		NodeSelector: pod.Spec.NodeSelector,
		NodeAffinity: nodeAffinity(pod.Spec.Affinity),
		Class:        pod.Spec.PriorityClassName,
		Priority:     pod.Spec.Priority,
		Policy:       policy(pod.Spec.PreemptionPolicy),
		Group:        groupOf(pod),
		Owner:        ownerOf(&pod.ObjectMeta),
		Created:      pod.CreationTimestamp.UTC(),
		Scheduled:    scheduledAt(pod),
		Started:      startedAt(pod),
		Terminating:  pod.DeletionTimestamp != nil,
		Preempted:    preempted(pod),
		Spread:       spread(pod.Spec.TopologySpreadConstraints),
	}
	out.Affinity, out.AntiAffinity = podAffinity(pod.Spec.Affinity)
	return out, f.err()
}

// Finished reports whether pod has run to its end: it holds nothing, and nobody
// can evict it.
func Finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// preempted reports whether pod is on its way out for a preemptor: the first
// condition of type DisruptionTarget decides, as upstream; a later one of the same
// type is not looked at.
func preempted(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp == nil {
		return false
	}
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.DisruptionTarget {
			return c.Status == corev1.ConditionTrue && c.Reason == corev1.PodReasonPreemptionByScheduler
		}
	}
	return false
}

func scheduledAt(pod *corev1.Pod) (t time.Time) {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.UTC()
		}
	}
	return t
}

func startedAt(pod *corev1.Pod) (t time.Time) {
	if pod.Status.StartTime != nil {
		t = pod.Status.StartTime.UTC()
	}
	return t
}

func groupOf(pod *corev1.Pod) string {
	if g := pod.Spec.SchedulingGroup; g != nil && g.PodGroupName != nil {
		return *g.PodGroupName
	}
	return ""
}

func ownerOf(m *metav1.ObjectMeta) *cluster.Owner {
	owner := metav1.GetControllerOfNoCopy(m)
	if owner == nil {
		return nil
	}
	return &cluster.Owner{Kind: owner.Kind, Name: owner.Name, UID: string(owner.UID)}
}

// policy converts a preemption policy; nil is the empty one.
func policy[P ~string](p *P) priority.Policy {
	if p == nil {
		return ""
	}
	return priority.Policy(*p)
}

// namespaceOf is the namespace that the API server puts an object into.
func namespaceOf(m *metav1.ObjectMeta) string {
	if m.Namespace == "" {
		return metav1.NamespaceDefault
	}
	return m.Namespace
}

// hostPorts lists the ports of the node that pod occupies as long as it runs: those
// of its containers and sidecars. On the host's network a container's port is the
// host's, which the API server fills in.
//
// Source: kube-scheduler v1.36, NodePorts; Kubernetes API, defaults of Pod v1.
func hostPorts(pod *corev1.Pod) []cluster.HostPort {
	var out []cluster.HostPort
	add := func(c *corev1.Container) {
		for _, p := range c.Ports {
			if p.HostPort == 0 && pod.Spec.HostNetwork {
				p.HostPort = p.ContainerPort
			}
			if p.HostPort > 0 {
				out = append(out, cluster.HostPort{IP: p.HostIP, Protocol: string(p.Protocol), Port: p.HostPort})
			}
		}
	}
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; restartable(c) {
			add(c)
		}
	}
	for i := range pod.Spec.Containers {
		add(&pod.Spec.Containers[i])
	}
	return out
}
