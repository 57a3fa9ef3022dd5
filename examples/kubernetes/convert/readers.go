package convert

import (
	"errors"
	"maps"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// groupKind names a kind of object, of whatever version.
type groupKind struct{ group, kind string }

// readers has a function for each kind that plays a part.
var readers = map[groupKind]func(*builder, *Object) error{
	{"", "Node"}:                      (*builder).addNode,
	{"", "Pod"}:                       (*builder).addPod,
	{"", "PersistentVolumeClaim"}:     (*builder).addClaim,
	{"", "Namespace"}:                 (*builder).addNamespace,
	{"policy", "PodDisruptionBudget"}: (*builder).addBudget,
	{scheduling, "PriorityClass"}:     (*builder).addClass,
	{scheduling, "PodGroup"}:          (*builder).addGroup,
	{scheduling, "CompositePodGroup"}: (*builder).addComposite,
	{kueueGroup, "ResourceFlavor"}:    (*builder).addFlavor,
	{kueueGroup, "ClusterQueue"}:      (*builder).addClusterQueue,
	{kueueGroup, "Cohort"}:            (*builder).addCohort,
	{kueueGroup, "LocalQueue"}:        (*builder).addLocalQueue,
	{kueueGroup, "Workload"}:          (*builder).addWorkload,
	{coscheduling, "PodGroup"}:        addOther(coscheduling),
	{oldCoscheduling, "PodGroup"}:     addOther(oldCoscheduling),
	{volcano, "PodGroup"}:             addOther(volcano),
	{kai, "PodGroup"}:                 addOther(kai),
	{volcano, "Queue"}:                (*builder).addVolcanoQueue,
	{kai, "Queue"}:                    (*builder).addKAIQueue,
	{"apps", "DaemonSet"}:             template(daemonSet),
	{"apps", "Deployment"}:            template(deployment),
	{"apps", "ReplicaSet"}:            template(replicaSet),
	{"apps", "StatefulSet"}:           template(func(w *appsv1.StatefulSet) part { return once(&w.Spec.Template, w.Spec.Replicas) }),
	{"extensions", "DaemonSet"}:       template(daemonSet),
	{"extensions", "Deployment"}:      template(deployment),
	{"extensions", "ReplicaSet"}:      template(replicaSet),
	{"batch", "Job"}: template(func(w *batchv1.Job) part {
		p := job(&w.Spec, false, w.Labels)
		p.ends = jobEnds(w)
		return p
	}),
	{"batch", "CronJob"}: template(func(w *batchv1.CronJob) part {
		return job(&w.Spec.JobTemplate.Spec, w.Spec.Suspend != nil && *w.Spec.Suspend, w.Spec.JobTemplate.Labels)
	}),
	{"", "ReplicationController"}:    template(func(w *corev1.ReplicationController) part { return once(w.Spec.Template, w.Spec.Replicas) }),
	{jobSetGroup, "JobSet"}:          templates((*jobSet).parts),
	{leaderGroup, "LeaderWorkerSet"}: templates((*leaderWorkerSet).parts),
}

const scheduling = "scheduling.k8s.io"

func daemonSet(w *appsv1.DaemonSet) part   { return part{spec: &w.Spec.Template} }
func deployment(w *appsv1.Deployment) part { return once(&w.Spec.Template, w.Spec.Replicas) }
func replicaSet(w *appsv1.ReplicaSet) part { return once(&w.Spec.Template, w.Spec.Replicas) }

func (b *builder) addNode(o *Object) error {
	var node corev1.Node
	if err := decode(o, &node); err != nil {
		return err
	}
	r := readNode(&node)
	return b.takeNode(o, &r)
}

// nodeRead is what a node says.
type nodeRead struct {
	node   cluster.Node
	err    error
	newest time.Time // at which something happened
}

func readNode(node *corev1.Node) (r nodeRead) {
	r.newest = node.CreationTimestamp.UTC()
	for i := range node.Status.Conditions {
		c := &node.Status.Conditions[i]
		r.newest = later(r.newest, c.LastHeartbeatTime.UTC(), c.LastTransitionTime.UTC())
	}
	r.node, r.err = Node(node)
	return r
}

func (b *builder) takeNode(o *Object, r *nodeRead) error {
	if err := b.claim(o, cluster.KindNode, "", r.node.Name); err != nil {
		return err
	}
	b.saw(r.newest)
	if r.err == nil {
		b.dump.Snapshot.Nodes = append(b.dump.Snapshot.Nodes, r.node)
	}
	return r.err
}

func (b *builder) addPod(o *Object) error {
	var pod corev1.Pod
	if err := decode(o, &pod); err != nil {
		return err
	}
	var r podRead
	readPod(&pod, &r)
	r.pod, r.err = Pod(&pod)
	return b.takePod(o, &r)
}

// podRead is what a pod says.
type podRead struct {
	pod      cluster.Pod
	err      error
	newest   time.Time // at which something happened
	finished bool
	ends     time.Time // by itself
	endsErr  error
	unread   []string // fields that may decide but are not read
	claims   []string // that it uses
}

// readPod reads what is beside the pod of the snapshot.
func readPod(pod *corev1.Pod, r *podRead) {
	r.newest = later(pod.CreationTimestamp.UTC(), startedAt(pod))
	for i := range pod.Status.Conditions {
		r.newest = later(r.newest, pod.Status.Conditions[i].LastTransitionTime.UTC())
	}
	r.finished = Finished(pod)
	if pod.Spec.NodeName != "" {
		r.ends, r.endsErr = Ends(pod)
	}
	r.unread, r.claims = unread(pod), Claims(pod)
}

func (b *builder) takePod(o *Object, r *podRead) error {
	p := &r.pod
	if err := b.claim(o, cluster.KindPod, p.Namespace, p.Name); err != nil {
		return err
	}
	b.saw(r.newest)
	if r.finished {
		b.dump.Finished++
		return nil
	}
	if r.err != nil {
		return r.err
	}
	for _, field := range r.unread {
		b.dump.Unread[field]++
	}
	pods := &b.dump.Snapshot.Pods
	*pods = append(*pods, *p)
	for _, claim := range r.claims {
		b.claims = append(b.claims, claimUse{len(*pods) - 1, claim})
	}
	b.annotate(o, cluster.KindPod, p.Annotations, len(*pods)-1, -1)
	if !r.ends.IsZero() {
		b.dump.Ends[joinName(p.Namespace, p.Name)] = r.ends
	}
	return r.endsErr
}

// annotate remembers an object whose annotation names a priority class.
func (b *builder) annotate(o *Object, kind cluster.Kind, annotations map[string]string, pod, group int) {
	if _, ok := annotations[PreemptionPriorityAnnotation]; ok {
		b.annotated = append(b.annotated, annotated{kind: kind, origin: o.Origin, annotations: annotations, pod: pod, group: group})
	}
}

func (b *builder) addNamespace(o *Object) error {
	var namespace corev1.Namespace
	if err := decode(o, &namespace); err != nil {
		return err
	}
	if err := b.claim(o, cluster.KindNamespace, "", namespace.Name); err != nil {
		return err
	}
	b.dump.Snapshot.Namespaces = append(b.dump.Snapshot.Namespaces, Namespace(&namespace))
	return nil
}

func (b *builder) addBudget(o *Object) error {
	if strings.HasSuffix(o.APIVersion, "/v1beta1") {
		var budget policyv1beta1.PodDisruptionBudget
		if err := decode(o, &budget); err != nil {
			return err
		}
		if err := b.claim(o, cluster.KindBudget, namespaceOf(&budget.ObjectMeta), budget.Name); err != nil {
			return err
		}
		b.dump.Snapshot.Budgets = append(b.dump.Snapshot.Budgets, BetaBudget(&budget))
		return nil
	}
	var budget policyv1.PodDisruptionBudget
	if err := decode(o, &budget); err != nil {
		return err
	}
	if err := b.claim(o, cluster.KindBudget, namespaceOf(&budget.ObjectMeta), budget.Name); err != nil {
		return err
	}
	b.dump.Snapshot.Budgets = append(b.dump.Snapshot.Budgets, Budget(&budget))
	return nil
}

func (b *builder) addClass(o *Object) error {
	var class schedulingv1.PriorityClass
	if err := decode(o, &class); err != nil {
		return err
	}
	if err := b.claim(o, cluster.KindPriorityClass, "", class.Name); err != nil {
		return err
	}
	converted, err := tolerable(Class(&class))
	b.dump.Snapshot.PriorityClasses = append(b.dump.Snapshot.PriorityClasses, converted)
	return err
}

// tolerable complains about annotations that say what c tolerates and cannot be
// read: c then says nothing about it.
func tolerable(c priority.Class) (priority.Class, error) {
	_, _, err := priority.ParseToleration(c)
	if err == nil {
		return c, nil
	}
	c.Annotations = maps.Clone(c.Annotations)
	delete(c.Annotations, priority.MinimumPreemptableAnnotation)
	delete(c.Annotations, priority.TolerationSecondsAnnotation)
	var errs []error
	each(err, func(e error) {
		errs = append(errs, &Error{Err: e}) // it names the class and the annotation
	})
	return c, errors.Join(errs...)
}

func (b *builder) addGroup(o *Object) error {
	var group groupObject
	if err := decode(o, &group); err != nil {
		return err
	}
	g, err := group.convert()
	if err != nil {
		return err
	}
	if err := b.claim(o, cluster.KindPodGroup, g.Namespace, g.Name); err != nil {
		return err
	}
	groups := &b.dump.Snapshot.PodGroups
	*groups = append(*groups, g)
	b.annotate(o, cluster.KindPodGroup, group.Annotations, -1, len(*groups)-1)
	return nil
}

func (b *builder) addComposite(o *Object) error {
	var group compositeObject
	if err := decode(o, &group); err != nil {
		return err
	}
	g, err := group.convert()
	if err != nil {
		return err
	}
	if err := b.claim(o, cluster.KindCompositePodGroup, g.Namespace, g.Name); err != nil {
		return err
	}
	b.dump.Snapshot.CompositePodGroups = append(b.dump.Snapshot.CompositePodGroups, g)
	return nil
}
