package convert

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Requests returns what pod asks of a node: the most that its containers ask for
// together at any time, plus its overhead.
//
//   - Containers run side by side: their requests add up. Init containers run one
//     by one before them, each beside the restartable init containers (sidecars)
//     that come before it; sidecars go on running beside the containers.
//   - What spec.resources.requests says for cpu, memory and huge pages holds for the
//     whole pod, in place of the sum.
//   - While a pod is being resized in place, the largest counts of what it asks for,
//     what it was allotted and what it has; an infeasible resize asks for nothing.
//   - Overhead is added at the end.
//
// Limits are not looked at: the API server has made requests of them where requests
// are missing, and for pods that it has not seen [DefaultRequests] does.
//
// Amounts are summed exactly, then rounded up: cpu to thousandths of a core, the
// rest to whole units. The error joins an [*Error] for each amount that is negative
// or does not fit into 64 bits, and for a request of pods, which counts by itself.
//
// Source: component-helpers, resource.PodRequests; KEP-753, KEP-2837, KEP-1287.
func Requests(pod *corev1.Pod) (cluster.Resources, error) {
	f := podFields(pod)
	r := requests(&f, pod)
	return r, f.err()
}

func podFields(pod *corev1.Pod) fields {
	return fields{kind: string(cluster.KindPod), namespace: namespaceOf(&pod.ObjectMeta), name: pod.Name}
}

func requests(f *fields, pod *corev1.Pod) cluster.Resources {
	before := len(f.errs)
	checkContainers(f, "spec.containers", pod.Spec.Containers)
	checkContainers(f, "spec.initContainers", pod.Spec.InitContainers)
	checkAmounts(f, "spec.overhead", pod.Spec.Overhead)
	if pod.Spec.Resources != nil {
		checkAmounts(f, "spec.resources.requests", pod.Spec.Resources.Requests)
	}
	if len(f.errs) > before {
		return nil
	}
	sum := containerRequests(pod)
	applyPodLevel(sum, pod)
	sum.add(pod.Spec.Overhead)
	if amount, ok := sum[corev1.ResourcePods]; ok {
		f.badAmount("requests[pods]", amount, "a resource that a container can ask for")
	}
	return sum.resources(f, "requests")
}

func checkContainers(f *fields, field string, containers []corev1.Container) {
	for i := range containers {
		checkAmounts(f, fmt.Sprintf("%s[%d].resources.requests", field, i), containers[i].Resources.Requests)
	}
}

// asking says what one container asks for; its status may be nil.
type asking func(*corev1.Container, *corev1.ContainerStatus) corev1.ResourceList

// containerRequests is the most that the containers need together at any time.
func containerRequests(pod *corev1.Pod) quantities {
	var spec asking = func(c *corev1.Container, _ *corev1.ContainerStatus) corev1.ResourceList { return c.Resources.Requests }
	infeasible := resizeInfeasible(pod)
	if !infeasible && !reportsResources(pod) {
		return aggregate(pod, spec)
	}
	if infeasible {
		spec = func(*corev1.Container, *corev1.ContainerStatus) corev1.ResourceList { return nil }
	}
	allotted := func(c *corev1.Container, s *corev1.ContainerStatus) corev1.ResourceList {
		if s != nil && s.AllocatedResources != nil {
			return s.AllocatedResources
		}
		return spec(c, s)
	}
	actual := func(c *corev1.Container, s *corev1.ContainerStatus) corev1.ResourceList {
		if s != nil && s.Resources != nil && s.Resources.Requests != nil {
			return s.Resources.Requests
		}
		return allotted(c, s)
	}
	sum := aggregate(pod, spec)
	sum.raise(aggregate(pod, allotted))
	sum.raise(aggregate(pod, actual))
	return sum
}

// aggregate folds what the containers ask for, as of reads it, into one.
func aggregate(pod *corev1.Pod, of asking) quantities {
	running := quantities{}
	statuses := statusesOf(pod.Status.ContainerStatuses)
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		running.add(of(c, statuses[c.Name]))
	}
	sidecars, starting := quantities{}, quantities{}
	statuses = statusesOf(pod.Status.InitContainerStatuses)
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		asks := of(c, statuses[c.Name])
		if restartable(c) {
			running.add(asks)
			sidecars.add(asks)
			starting.raise(sidecars.of(asks))
			continue
		}
		beside := sidecars.of(asks) // what it does not ask for was counted with the sidecars
		beside.add(asks)
		starting.raise(beside)
	}
	running.raise(starting)
	return running
}

// applyPodLevel replaces the sums by what the pod asks for as a whole.
func applyPodLevel(sum quantities, pod *corev1.Pod) {
	if pod.Spec.Resources == nil || !hasPodLevel(pod.Spec.Resources.Requests) {
		return
	}
	reported := pod.Status.Resources != nil || pod.Status.AllocatedResources != nil
	asks := quantities{}
	if !reported || !resizeInfeasible(pod) {
		asks.add(pod.Spec.Resources.Requests)
	}
	if pod.Status.Resources != nil {
		asks.raise(without(pod.Status.Resources.Requests, pod.Spec.Overhead))
	}
	asks.raise(without(pod.Status.AllocatedResources, pod.Spec.Overhead))
	for name, amount := range asks {
		if podLevelResource(name) {
			sum[name] = amount
		}
	}
}

// without subtracts what list has of each amount in less.
func without(list, less corev1.ResourceList) quantities {
	out := quantities{}
	out.add(list)
	for name, amount := range less {
		if have, ok := out[name]; ok {
			have.Sub(amount)
			out[name] = have
		}
	}
	return out
}

// hasPodLevel reports whether a pod-level list says anything that counts.
func hasPodLevel(list corev1.ResourceList) bool {
	for name := range list {
		if podLevelResource(name) {
			return true
		}
	}
	return false
}

// podLevelResource reports whether a pod can ask for the resource as a whole.
func podLevelResource(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory ||
		strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// reportsResources reports whether any status says what a container was allotted
// or has; only then can it differ from the spec.
func reportsResources(pod *corev1.Pod) bool {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range statuses {
			if s := &statuses[i]; s.AllocatedResources != nil || (s.Resources != nil && s.Resources.Requests != nil) {
				return true
			}
		}
	}
	return false
}

// resizeInfeasible reports whether the node has refused a resize for good.
func resizeInfeasible(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodResizePending {
			return c.Reason == corev1.PodReasonInfeasible
		}
	}
	return false
}

// restartable reports whether an init container is a sidecar.
func restartable(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// statusesOf are the first statuses of each name.
func statusesOf(list []corev1.ContainerStatus) map[string]*corev1.ContainerStatus {
	out := make(map[string]*corev1.ContainerStatus, len(list))
	for i := range list {
		if name := list[i].Name; out[name] == nil {
			out[name] = &list[i]
		}
	}
	return out
}

// DefaultRequests adds to pod what the API server adds when a pod is created: a
// limit without a request is a request too. For the pod as a whole that holds where
// no container asks for the resource, and for huge pages always. Objects that come
// from an API server have it already.
//
// Source: Kubernetes API, defaults of Pod v1.
func DefaultRequests(pod *corev1.Pod) {
	for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range containers {
			r := &containers[i].Resources
			for name, limit := range r.Limits {
				defaultRequest(r, name, limit)
			}
		}
	}
	if r := pod.Spec.Resources; r != nil {
		sum := aggregate(pod, func(c *corev1.Container, _ *corev1.ContainerStatus) corev1.ResourceList { return c.Resources.Requests })
		for name, limit := range r.Limits {
			_, asked := sum[name]
			if podLevelResource(name) && (!asked || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)) {
				defaultRequest(r, name, limit)
			}
		}
	}
}

func defaultRequest(r *corev1.ResourceRequirements, name corev1.ResourceName, amount resource.Quantity) {
	if _, ok := r.Requests[name]; ok {
		return
	}
	if r.Requests == nil {
		r.Requests = corev1.ResourceList{}
	}
	r.Requests[name] = amount.DeepCopy()
}
