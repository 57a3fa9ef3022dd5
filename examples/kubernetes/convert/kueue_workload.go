package convert

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// convert reads a workload. Its priority boost is left alone: Kueue reads it behind
// a gate that is off by default.
//
// A workload is as old as its creation, or as its eviction by an admission check
// or because its pods were not ready in time, as in Kueue's default configuration.
func (w *kueueWorkload) convert() (cluster.Workload, error) {
	f := fields{kind: string(cluster.KindWorkload), namespace: namespaceOf(&w.ObjectMeta), name: w.Name}
	out := cluster.Workload{
		Namespace: namespaceOf(&w.ObjectMeta), Name: w.Name, UID: string(w.UID),
		Queue: w.Spec.QueueName, Created: w.CreationTimestamp.Time,
	}
	if w.Spec.Priority != nil {
		out.Priority = *w.Spec.Priority
	}
	if c := w.condition(kueueEvicted); c != nil {
		out.Evicted = true
		if c.Reason == kueueAdmissionCheck || c.Reason == kueuePodsReadyTimeout {
			out.Requeued = c.LastTransitionTime.Time
		}
	}
	w.convertPodSets(&f, &out)
	if w.Status.Admission != nil {
		w.convertAdmission(&f, &out)
	}
	return out, f.err()
}

// convertPodSets reads the pod sets without the pods that are done, whose quota is given back.
func (w *kueueWorkload) convertPodSets(f *fields, out *cluster.Workload) {
	done := map[string]int32{}
	for _, r := range w.Status.ReclaimablePods {
		done[r.Name] = r.Count
	}
	for i := range w.Spec.PodSets {
		p := &w.Spec.PodSets[i]
		count, least := p.Count, p.MinCount
		if n := done[p.Name]; n > 0 {
			if count = max(0, count-n); least != nil && *least > count {
				least = nil
			}
		}
		pod := corev1.Pod{Spec: p.Template.Spec}
		DefaultRequests(&pod)
		at := fields{kind: f.kind, namespace: f.namespace, name: f.name}
		set := cluster.PodSet{
			Name: p.Name, Count: count, MinCount: least,
			Requests:     requests(&at, &pod),
			Tolerations:  tolerations(pod.Spec.Tolerations),
			NodeSelector: pod.Spec.NodeSelector,
			NodeAffinity: nodeAffinity(pod.Spec.Affinity),
		}
		delete(set.Requests, cluster.Pods) // counted, not asked for
		if p.TopologyRequest != nil {
			set.Group = p.TopologyRequest.PodSetGroupName
		}
		for _, err := range at.errs {
			if e, ok := err.(*Error); ok {
				e.Field = fmt.Sprintf("spec.podSets[%d].template.%s", i, e.Field)
			}
			f.errs = append(f.errs, err)
		}
		out.PodSets = append(out.PodSets, set)
	}
}

func (w *kueueWorkload) convertAdmission(f *fields, out *cluster.Workload) {
	a := w.Status.Admission
	out.Admission = &cluster.Admission{ClusterQueue: a.ClusterQueue}
	if c := w.condition(kueueQuotaReserved); c != nil {
		out.Admission.Reserved = c.LastTransitionTime.Time
	}
	position := map[string]int{}
	for i := range out.PodSets {
		position[out.PodSets[i].Name] = i
	}
	for i, assigned := range a.PodSetAssignments {
		at := fmt.Sprintf("status.admission.podSetAssignments[%d]", i)
		k, ok := position[assigned.Name]
		if !ok {
			f.bad(at+".name", quote(assigned.Name), "a pod set of the workload")
			continue
		}
		set := &out.PodSets[k]
		left, granted := set.Count, w.Spec.PodSets[k].Count
		if assigned.Count != nil {
			granted, set.MinCount = *assigned.Count, nil
			set.Count = min(left, granted)
		}
		set.Flavors = make(map[string]string, len(assigned.Flavors))
		for resource, flavor := range assigned.Flavors {
			set.Flavors[string(resource)] = flavor
		}
		set.Usage = quantities(assigned.ResourceUsage).resources(f, at+".resourceUsage")
		if left < granted { // as Kueue counts
			for resource, n := range set.Usage {
				set.Usage[resource] = n / int64(granted) * int64(left)
			}
		}
	}
}

// condition returns the condition of that type if it is true, else nil.
func (w *kueueWorkload) condition(of string) *metav1.Condition {
	for i := range w.Status.Conditions {
		if c := &w.Status.Conditions[i]; c.Type == of {
			if c.Status == metav1.ConditionTrue {
				return c
			}
			return nil
		}
	}
	return nil
}
