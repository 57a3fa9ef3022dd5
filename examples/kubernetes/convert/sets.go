package convert

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	jobSetGroup = "jobset.x-k8s.io"
	leaderGroup = "leaderworkerset.x-k8s.io"
)

// jobSet is what is read of a JobSet.
//
// Source: JobSet v0.10, jobset.x-k8s.io/v1alpha2.
type jobSet struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Suspend        bool `json:"suspend"`
		ReplicatedJobs []struct {
			Name     string                  `json:"name"`
			Replicas *int32                  `json:"replicas"`
			Template batchv1.JobTemplateSpec `json:"template"`
		} `json:"replicatedJobs"`
	} `json:"spec"`
}

// parts are the replicated jobs, in their order.
func (w *jobSet) parts() []part {
	var list []part
	for i := range w.Spec.ReplicatedJobs {
		j := &w.Spec.ReplicatedJobs[i]
		p := job(&j.Template.Spec, w.Spec.Suspend, w.Labels)
		p.name, p.replicas = j.Name, number(j.Replicas)
		list = append(list, p)
	}
	return list
}

// leaderWorkerSet is what is read of a LeaderWorkerSet.
//
// Source: LeaderWorkerSet v0.7, leaderworkerset.x-k8s.io/v1.
type leaderWorkerSet struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Replicas *int32 `json:"replicas"`
		Group    struct {
			Size   *int32                  `json:"size"`
			Leader *corev1.PodTemplateSpec `json:"leaderTemplate"` // nil: as the workers
			Worker corev1.PodTemplateSpec  `json:"workerTemplate"`
		} `json:"leaderWorkerTemplate"`
	} `json:"spec"`
}

// parts are the leader and the workers, of which a group has one less than its size.
func (w *leaderWorkerSet) parts() []part {
	group := &w.Spec.Group
	leader := group.Leader
	if leader == nil {
		leader = &group.Worker
	}
	replicas := number(w.Spec.Replicas)
	return []part{
		{name: Leader, spec: leader, replicas: replicas, count: min(1, number(group.Size))},
		{name: Worker, spec: &group.Worker, replicas: replicas, count: max(0, number(group.Size)-1)},
	}
}
