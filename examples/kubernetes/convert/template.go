package convert

import (
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Template is a pod template of a workload. Some kinds of workloads have several, one after
// the other.
type Template struct {
	Kind      string // DaemonSet, Deployment, ReplicaSet, StatefulSet, Job, CronJob, ReplicationController, JobSet, LeaderWorkerSet
	Namespace string
	Name      string
	Part      string // of a JobSet the replicated job, of a LeaderWorkerSet Leader or Worker; else empty
	UID       string
	Spec      corev1.PodTemplateSpec
	Origin    Origin

	// The workload has Replicas times Count pods of the template: Count is more than 1 where
	// several pods make one job or one group. Both are 0 of a DaemonSet, which has one on each
	// node that takes it.
	Replicas, Count int
}

// The parts of a LeaderWorkerSet.
const (
	Leader = "leader"
	Worker = "worker"
)

// Pod makes the next pod of the workload, as its controller and the API server
// would: it is named after the workload, has no node, and asks for what its limits
// say where it does not say what it asks for ([DefaultRequests]). A DaemonSet's pod
// tolerates what the controller makes it tolerate.
//
// node, if not empty, pins the pod to that node by required node affinity, as the
// DaemonSet controller does. Unlike there, what the template itself requires of the
// node goes on to hold, so that a node on which the controller would put no pod is
// answered as such.
func (t *Template) Pod(node string) (cluster.Pod, error) {
	spec := t.Spec.DeepCopy()
	pod := corev1.Pod{ObjectMeta: spec.ObjectMeta, Spec: spec.Spec}
	pod.Namespace, pod.Name = t.Namespace, t.Name+"-new"
	if t.Part != "" {
		pod.Name = t.Name + "-" + t.Part + "-new"
	}
	controller := true
	pod.OwnerReferences = []metav1.OwnerReference{{Kind: t.Kind, Name: t.Name, Controller: &controller}}
	pod.Spec.NodeName = ""
	DefaultRequests(&pod)
	if t.Kind == "DaemonSet" {
		tolerateAsDaemon(&pod.Spec)
	}
	if node != "" {
		pin(&pod.Spec, node)
	}
	out, err := Pod(&pod)
	each(err, func(e error) {
		if located, ok := e.(*Error); ok {
			located.Origin, located.Kind, located.Name = t.Origin, t.Kind, t.Name
			located.Field = "spec.template." + located.Field
		}
	})
	return out, err
}

// tolerateAsDaemon adds the tolerations that every pod of a DaemonSet has.
func tolerateAsDaemon(spec *corev1.PodSpec) {
	add := func(key string, effect corev1.TaintEffect) {
		spec.Tolerations = append(spec.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect})
	}
	add(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute)
	add(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute)
	add(corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule)
	if spec.HostNetwork {
		add(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule)
	}
}

// pin adds to the required node affinity that the node has this name.
func pin(spec *corev1.PodSpec, node string) {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	required := &spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	made := *required == nil
	if made {
		*required = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}}
	}
	for i := range (*required).NodeSelectorTerms {
		term := &(*required).NodeSelectorTerms[i]
		if !made && len(term.MatchExpressions) == 0 && len(term.MatchFields) == 0 {
			continue // an empty term holds nowhere, and must go on to
		}
		term.MatchFields = append(term.MatchFields, corev1.NodeSelectorRequirement{
			Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node},
		})
	}
}

// Template finds the template of a workload; kind in any case.
func (d *Dump) Template(kind, namespace, name string) (*Template, bool) {
	for i := range d.Templates {
		t := &d.Templates[i]
		if strings.EqualFold(t.Kind, kind) && t.Namespace == namespace && t.Name == name {
			return t, true
		}
	}
	return nil, false
}

// template makes a reader of a kind of workload W with one template. A workload without it
// is left out.
func template[W any, P interface {
	*W
	metav1.Object
}](of func(P) part) func(*builder, *Object) error {
	return templates(func(w P) []part { return []part{of(w)} })
}

// part is a template of a workload and how many pods there are of it.
type part struct {
	name            string
	spec            *corev1.PodTemplateSpec
	replicas, count int
	ends            time.Time // of its pods; zero: nobody knows
}

// once is a part of n pods, each for itself; nil: one.
func once(spec *corev1.PodTemplateSpec, n *int32) part {
	return part{spec: spec, replicas: number(n), count: 1}
}

// job is the part of a job: its pods that run at the same time, not more than it has to complete; none while it is suspended,
// unless one of these labels names a queue of Kueue, which starts it.
func job(spec *batchv1.JobSpec, suspended bool, labels map[string]string) part {
	n := number(spec.Parallelism)
	if spec.Completions != nil {
		n = min(n, number(spec.Completions))
	}
	if suspended = suspended || spec.Suspend != nil && *spec.Suspend; suspended && labels[kueueQueue] == "" {
		n = 0
	}
	return part{spec: &spec.Template, replicas: 1, count: n}
}

const kueueQueue = "kueue.x-k8s.io/queue-name"

// number is *n, 1 for nil.
func number(n *int32) int {
	if n == nil {
		return 1
	}
	return int(max(0, *n))
}

// templates makes a reader of a kind of workload W.
func templates[W any, P interface {
	*W
	metav1.Object
}](of func(P) []part) func(*builder, *Object) error {
	return func(b *builder, o *Object) error {
		workload := P(new(W))
		if err := decode(o, workload); err != nil {
			return err
		}
		namespace := workload.GetNamespace()
		if namespace == "" {
			namespace = metav1.NamespaceDefault
		}
		if err := b.claim(o, cluster.Kind(o.Kind), namespace, workload.GetName()); err != nil {
			return err
		}
		for _, p := range of(workload) {
			if p.spec == nil {
				continue
			}
			if !p.ends.IsZero() {
				b.jobs[joinName(namespace, workload.GetName())] = p.ends
			}
			b.dump.Templates = append(b.dump.Templates, Template{
				Kind: o.Kind, Namespace: namespace, Name: workload.GetName(), Part: p.name, UID: string(workload.GetUID()),
				Spec: *p.spec, Origin: o.Origin, Replicas: p.replicas, Count: p.count,
			})
		}
		return nil
	}
}
