package convert

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// kueueGroup is the API group of Kueue. Its objects are read as plain JSON: v1beta1
// and v1beta2 differ in names of fields, and both names are read.
const kueueGroup = "kueue.x-k8s.io"

type kueueFlavor struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		NodeLabels  map[string]string   `json:"nodeLabels"`
		NodeTaints  []corev1.Taint      `json:"nodeTaints"`
		Tolerations []corev1.Toleration `json:"tolerations"`

		TopologyName string `json:"topologyName"`
	} `json:"spec"`
}

// kueueGroups are the resource groups of a ClusterQueue or Cohort.
type kueueGroups []struct {
	CoveredResources []corev1.ResourceName `json:"coveredResources"`
	Flavors          []struct {
		Name      string `json:"name"`
		Resources []struct {
			Name           corev1.ResourceName `json:"name"`
			NominalQuota   resource.Quantity   `json:"nominalQuota"`
			BorrowingLimit *resource.Quantity  `json:"borrowingLimit"`
			LendingLimit   *resource.Quantity  `json:"lendingLimit"`
		} `json:"resources"`
	} `json:"flavors"`
}

type kueueFairSharing struct {
	Weight *resource.Quantity `json:"weight"`
}

type kueueClusterQueue struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		CohortName     string      `json:"cohortName"`
		Cohort         string      `json:"cohort"` // v1beta1
		ResourceGroups kueueGroups `json:"resourceGroups"`
		Preemption     struct {
			WithinClusterQueue  string `json:"withinClusterQueue"`
			ReclaimWithinCohort string `json:"reclaimWithinCohort"`
			BorrowWithinCohort  *struct {
				Policy               string `json:"policy"`
				MaxPriorityThreshold *int32 `json:"maxPriorityThreshold"`
			} `json:"borrowWithinCohort"`
		} `json:"preemption"`
		FlavorFungibility struct {
			WhenCanBorrow  string `json:"whenCanBorrow"`
			WhenCanPreempt string `json:"whenCanPreempt"`
			Preference     string `json:"preference"`
		} `json:"flavorFungibility"`
		FairSharing *kueueFairSharing `json:"fairSharing"`
		StopPolicy  string            `json:"stopPolicy"`

		NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector"`
		AdmissionScope    *struct{}             `json:"admissionScope"`
	} `json:"spec"`
}

type kueueCohort struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		ParentName     string            `json:"parentName"`
		Parent         string            `json:"parent"` // v1beta1
		ResourceGroups kueueGroups       `json:"resourceGroups"`
		FairSharing    *kueueFairSharing `json:"fairSharing"`
	} `json:"spec"`
}

type kueueLocalQueue struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		ClusterQueue string `json:"clusterQueue"`
		StopPolicy   string `json:"stopPolicy"`
	} `json:"spec"`
}

type kueueWorkload struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		QueueName string `json:"queueName"`
		Priority  *int32 `json:"priority"`
		Active    *bool  `json:"active"`
		PodSets   []struct {
			Name            string                 `json:"name"`
			Count           int32                  `json:"count"`
			MinCount        *int32                 `json:"minCount"`
			Template        corev1.PodTemplateSpec `json:"template"`
			TopologyRequest *struct {
				PodSetGroupName string `json:"podSetGroupName"`
			} `json:"topologyRequest"`
		} `json:"podSets"`
	} `json:"spec"`

	Status struct {
		Conditions      []metav1.Condition `json:"conditions"`
		ReclaimablePods []struct {
			Name  string `json:"name"`
			Count int32  `json:"count"`
		} `json:"reclaimablePods"`
		Admission *struct {
			ClusterQueue      string `json:"clusterQueue"`
			PodSetAssignments []struct {
				Name          string                         `json:"name"`
				Flavors       map[corev1.ResourceName]string `json:"flavors"`
				ResourceUsage corev1.ResourceList            `json:"resourceUsage"`
				Count         *int32                         `json:"count"`
			} `json:"podSetAssignments"`
		} `json:"admission"`
	} `json:"status"`
}

// The reasons and types of conditions of a Workload that are read.
const (
	kueueFinished         = "Finished"
	kueueEvicted          = "Evicted"
	kueueQuotaReserved    = "QuotaReserved"
	kueueAdmissionCheck   = "AdmissionCheck"
	kueuePodsReadyTimeout = "PodsReadyTimeout"
)

func (b *builder) addFlavor(o *Object) error {
	var flavor kueueFlavor
	if err := decode(o, &flavor); err != nil {
		return err
	}
	if err := b.claim(o, cluster.KindResourceFlavor, "", flavor.Name); err != nil {
		return err
	}
	out := cluster.ResourceFlavor{
		Name: flavor.Name, NodeLabels: flavor.Spec.NodeLabels, Tolerations: tolerations(flavor.Spec.Tolerations),
	}
	for _, t := range flavor.Spec.NodeTaints {
		out.NodeTaints = append(out.NodeTaints, cluster.Taint{Key: t.Key, Value: t.Value, Effect: cluster.Effect(t.Effect)})
	}
	b.notRead(o, "spec.topologyName", flavor.Spec.TopologyName != "")
	b.dump.Snapshot.ResourceFlavors = append(b.dump.Snapshot.ResourceFlavors, out)
	return nil
}

func (b *builder) addClusterQueue(o *Object) error {
	var queue kueueClusterQueue
	if err := decode(o, &queue); err != nil {
		return err
	}
	if err := b.claim(o, cluster.KindClusterQueue, "", queue.Name); err != nil {
		return err
	}
	q, err := queue.convert()
	if err != nil {
		return err
	}
	selector := queue.Spec.NamespaceSelector
	b.notRead(o, "spec.namespaceSelector", selector != nil && len(selector.MatchLabels)+len(selector.MatchExpressions) > 0)
	b.notRead(o, "spec.admissionScope", queue.Spec.AdmissionScope != nil)
	b.dump.Snapshot.ClusterQueues = append(b.dump.Snapshot.ClusterQueues, q)
	return nil
}

func (b *builder) addCohort(o *Object) error {
	var cohort kueueCohort
	if err := decode(o, &cohort); err != nil {
		return err
	}
	if err := b.claim(o, cluster.KindCohort, "", cohort.Name); err != nil {
		return err
	}
	f := fields{kind: string(cluster.KindCohort), name: cohort.Name}
	out := cluster.Cohort{
		Name: cohort.Name, Parent: cohort.Spec.ParentName,
		Groups: cohort.Spec.ResourceGroups.convert(&f), Weight: cohort.Spec.FairSharing.convert(&f),
	}
	if out.Parent == "" {
		out.Parent = cohort.Spec.Parent
	}
	if err := f.err(); err != nil {
		return err
	}
	b.dump.Snapshot.Cohorts = append(b.dump.Snapshot.Cohorts, out)
	return nil
}

func (b *builder) addLocalQueue(o *Object) error {
	var queue kueueLocalQueue
	if err := decode(o, &queue); err != nil {
		return err
	}
	namespace := namespaceOf(&queue.ObjectMeta)
	if err := b.claim(o, cluster.KindLocalQueue, namespace, queue.Name); err != nil {
		return err
	}
	b.dump.Snapshot.LocalQueues = append(b.dump.Snapshot.LocalQueues, cluster.LocalQueue{
		Namespace: namespace, Name: queue.Name, ClusterQueue: queue.Spec.ClusterQueue, Stopped: stops(queue.Spec.StopPolicy),
	})
	return nil
}

func (b *builder) addWorkload(o *Object) error {
	var w kueueWorkload
	if err := decode(o, &w); err != nil {
		return err
	}
	if err := b.claim(o, cluster.KindWorkload, namespaceOf(&w.ObjectMeta), w.Name); err != nil {
		return err
	}
	b.saw(w.CreationTimestamp.Time)
	for i := range w.Status.Conditions {
		b.saw(w.Status.Conditions[i].LastTransitionTime.Time)
	}
	if w.condition(kueueFinished) != nil {
		b.dump.Finished++
		return nil
	}
	out, err := w.convert()
	if err != nil {
		return err
	}
	b.notRead(o, "spec.active", w.Spec.Active != nil && !*w.Spec.Active)
	b.dump.Snapshot.Workloads = append(b.dump.Snapshot.Workloads, out)
	return nil
}

func stops(policy string) bool { return policy != "" && policy != "None" }
