package convert_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// dump reads and converts a YAML text.
func dump(t *testing.T, o convert.Options, text string) (*convert.Dump, error) {
	t.Helper()
	objects, err := convert.Read("f", strings.NewReader(text))
	require.NoError(t, err)
	return o.Dump(objects)
}

func ptr[T any](v T) *T { return &v }

func TestDump(t *testing.T) {
	tests := map[string]struct {
		text string
		want cluster.Snapshot
	}{
		"an empty list": {`{"kind":"List","items":[]}`, cluster.Snapshot{}},
		"a node": {
			`{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {a: b}, annotations: {c: d}},
			  spec: {unschedulable: true, taints: [{key: k, value: v, effect: NoSchedule}]},
			  status: {capacity: {cpu: "9", pods: "9"}, allocatable: {cpu: 3500m, memory: 15258956Ki, pods: "110", nvidia.com/gpu: "2"}}}`,
			cluster.Snapshot{Nodes: []cluster.Node{{
				Name: "n1", Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"}, Unschedulable: true,
				Allocatable: cluster.Resources{"cpu": 3500, "memory": 15258956 << 10, "pods": 110, "nvidia.com/gpu": 2},
				Taints:      []cluster.Taint{{Key: "k", Value: "v", Effect: cluster.NoSchedule}},
			}}},
		},
		"a node that takes no pods": {
			`{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "4"}, capacity: {pods: "110"}}}`,
			cluster.Snapshot{Nodes: []cluster.Node{{Name: "n1", Allocatable: cluster.Resources{"cpu": 4000, "pods": 0}}}},
		},
		"a node that tells its capacity only": {
			`{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {capacity: {cpu: "4", pods: "110"}}}`,
			cluster.Snapshot{Nodes: []cluster.Node{{Name: "n1", Allocatable: cluster.Resources{"cpu": 4000, "pods": 110}}}},
		},
		"a node that tells nothing": {
			`{apiVersion: v1, kind: Node, metadata: {name: n1}}`,
			cluster.Snapshot{Nodes: []cluster.Node{{Name: "n1", Allocatable: cluster.Resources{"pods": 0}}}},
		},
		"a namespace": {
			`{apiVersion: v1, kind: Namespace, metadata: {name: n1, labels: {a: b}}}`,
			cluster.Snapshot{Namespaces: []cluster.Namespace{{Name: "n1", Labels: map[string]string{"a": "b"}}}},
		},
		"priority classes of any version": {
			"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: a, annotations: {c: d}}, value: -5, preemptionPolicy: Never}\n---\n" +
				"{apiVersion: scheduling.k8s.io/v1beta1, kind: PriorityClass, metadata: {name: b}, value: 9, globalDefault: true}",
			cluster.Snapshot{PriorityClasses: []priority.Class{
				{Name: "a", Value: -5, Policy: priority.Never, Annotations: map[string]string{"c": "d"}}, {Name: "b", Value: 9, GlobalDefault: true},
			}},
		},
		"a budget": {
			`{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {namespace: ns, name: b},
			  spec: {maxUnavailable: 1, selector: {matchLabels: {a: b}, matchExpressions: [{key: k, operator: Exists}]}},
			  status: {disruptionsAllowed: 2, disruptedPods: {z: "2026-01-02T03:04:05Z", x: null}}}`,
			cluster.Snapshot{Budgets: []disruption.Budget{{
				Namespace: "ns", Name: "b", Allowed: 2, Disrupted: []string{"x", "z"},
				Selector: &disruption.Selector{
					MatchLabels:      map[string]string{"a": "b"},
					MatchExpressions: []disruption.Requirement{{Key: "k", Operator: disruption.Exists}},
				},
			}}},
		},
		"an empty selector of a budget is kept; of a v1beta1 budget it selects nothing": {
			"{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {selector: {}}}\n---\n" +
				"{apiVersion: policy/v1beta1, kind: PodDisruptionBudget, metadata: {name: b}, spec: {selector: {}}}\n---\n" +
				"{apiVersion: policy/v1beta1, kind: PodDisruptionBudget, metadata: {name: c}, spec: {selector: {matchLabels: {a: b}}}, status: {disruptionsAllowed: 1, disruptedPods: {z: null, x: null}}}",
			cluster.Snapshot{Budgets: []disruption.Budget{
				{Namespace: "default", Name: "a", Selector: &disruption.Selector{}},
				{Namespace: "default", Name: "b"},
				{Namespace: "default", Name: "c", Selector: &disruption.Selector{MatchLabels: map[string]string{"a": "b"}}, Allowed: 1, Disrupted: []string{"x", "z"}},
			}},
		},
		"pod groups of Kubernetes 1.36": {
			"{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {name: a, namespace: ns, uid: u}, " +
				"spec: {schedulingPolicy: {gang: {minCount: 4}}, disruptionMode: PodGroup, priority: 500, priorityClassName: c, schedulingConstraints: {topology: [{key: rack}]}}}\n---\n" +
				"{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {name: b}, spec: {schedulingPolicy: {basic: {}}, disruptionMode: Pod}}",
			cluster.Snapshot{PodGroups: []cluster.PodGroup{
				{
					Namespace: "ns", Name: "a", UID: "u", MinCount: ptr(int32(4)), Mode: disruption.All, Priority: ptr(int32(500)), Class: "c",
					Topology: []cluster.TopologyConstraint{{Key: "rack"}},
				},
				{Namespace: "default", Name: "b", Basic: true, Mode: disruption.Single},
			}},
		},
		"pod groups of Kubernetes 1.37": {
			"{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: a}, " +
				"spec: {parentCompositePodGroupName: top, schedulingPolicy: {gang: {minCount: 4}}, disruptionMode: {all: {}}, priority: 500, preemptionPolicy: Never, schedulingConstraints: {topology: [{key: rack}]}}}\n---\n" +
				"{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: b}, spec: {schedulingPolicy: {basic: {}}, disruptionMode: {single: {}}}}",
			cluster.Snapshot{PodGroups: []cluster.PodGroup{
				{
					Namespace: "default", Name: "a", Parent: "top", MinCount: ptr(int32(4)), Mode: disruption.All, Priority: ptr(int32(500)), Policy: priority.Never,
					Topology: []cluster.TopologyConstraint{{Key: "rack"}},
				},
				{Namespace: "default", Name: "b", Basic: true, Mode: disruption.Single},
			}},
		},
		"composite pod groups": {
			"{apiVersion: scheduling.k8s.io/v1alpha3, kind: CompositePodGroup, metadata: {name: a, uid: u}, " +
				"spec: {schedulingPolicy: {gang: {minGroupCount: 2}}, preemptionPolicy: Never, disruptionMode: {all: {}}, priorityClassName: c, schedulingConstraints: {topology: [{key: block}]}}}\n---\n" +
				"{apiVersion: scheduling.k8s.io/v1alpha3, kind: CompositePodGroup, metadata: {name: b}, spec: {parentCompositePodGroupName: a, schedulingPolicy: {basic: {}}}}",
			cluster.Snapshot{CompositePodGroups: []cluster.CompositePodGroup{
				{
					Namespace: "default", Name: "a", UID: "u", MinGroupCount: ptr(int32(2)), Mode: disruption.All, Class: "c", Policy: priority.Never,
					Topology: []cluster.TopologyConstraint{{Key: "block"}},
				},
				{Namespace: "default", Name: "b", Parent: "a", MinGroupCount: ptr(int32(1))},
			}},
		},
		"queues of Kueue": {
			`{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}, spec: {nodeLabels: {a: b},
			  nodeTaints: [{key: k, value: v, effect: NoSchedule}], tolerations: [{key: t, operator: Exists}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: q}, spec: {cohortName: c, stopPolicy: Hold, fairSharing: {weight: "1.5"},
  preemption: {withinClusterQueue: LowerPriority, reclaimWithinCohort: Any, borrowWithinCohort: {policy: LowerPriority, maxPriorityThreshold: 7}},
  flavorFungibility: {whenCanBorrow: Borrow, whenCanPreempt: Preempt, preference: PreemptionOverBorrowing},
  resourceGroups: [{coveredResources: [cpu, memory], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 2, borrowingLimit: 9E, lendingLimit: 500m},
    {name: memory, nominalQuota: 1Ki, borrowingLimit: 1}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueue, metadata: {name: r}, spec: {cohort: c, stopPolicy: None, preemption: {borrowWithinCohort: {policy: Never}}}}
---
{apiVersion: kueue.x-k8s.io/v1beta1, kind: Cohort, metadata: {name: c}, spec: {parent: d, fairSharing: {weight: 2}}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: l, namespace: ns}, spec: {clusterQueue: q, stopPolicy: HoldAndDrain}}`,
			cluster.Snapshot{
				ResourceFlavors: []cluster.ResourceFlavor{{
					Name: "f", NodeLabels: map[string]string{"a": "b"}, NodeTaints: []cluster.Taint{{Key: "k", Value: "v", Effect: cluster.NoSchedule}},
					Tolerations: []cluster.Toleration{{Key: "t", Operator: cluster.TolerationExists}},
				}},
				ClusterQueues: []cluster.ClusterQueue{{
					Name: "q", Cohort: "c", Stopped: true, Weight: ptr(cluster.Weight(1_500_000_000)),
					Preemption: cluster.QueuePreemption{
						WithinClusterQueue: cluster.LowerPriority, ReclaimWithinCohort: cluster.AnyPriority,
						BorrowWithinCohort: &cluster.BorrowWithinCohort{MaxPriority: ptr(int32(7))},
					},
					Fungibility: cluster.Fungibility{WhenCanBorrow: cluster.StopSearch, WhenCanPreempt: cluster.StopSearch, Preference: cluster.PreemptionOverBorrowing},
					Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{Flavor: "f", Resources: []cluster.ResourceQuota{
						{Resource: "cpu", Nominal: 2000, Borrowing: ptr(int64(cluster.Unlimited)), Lending: ptr(int64(500))},
						{Resource: "memory", Nominal: 1024, Borrowing: ptr(int64(1))},
					}}}}},
				}, {Name: "r", Cohort: "c"}},
				Cohorts:     []cluster.Cohort{{Name: "c", Parent: "d", Weight: ptr(cluster.Weight(2_000_000_000))}},
				LocalQueues: []cluster.LocalQueue{{Namespace: "ns", Name: "l", ClusterQueue: "q", Stopped: true}},
			},
		},
		"a workload of Kueue": {
			`{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: w, namespace: ns, uid: u, creationTimestamp: "2026-01-02T03:04:05Z"},
			  spec: {queueName: l, priority: 7, podSets: [{name: a, count: 3, minCount: 1, topologyRequest: {podSetGroupName: g}, template: {spec: {
			    nodeSelector: {a: b}, tolerations: [{key: t, operator: Exists}], containers: [{name: c, resources: {requests: {cpu: 1}}}]}}}]},
			  status: {conditions: [
			    {type: QuotaReserved, status: "True", lastTransitionTime: "2026-01-02T03:04:06Z"},
			    {type: Evicted, status: "True", reason: PodsReadyTimeout, lastTransitionTime: "2026-01-02T03:04:07Z"}],
			    admission: {clusterQueue: q, podSetAssignments: [{name: a, count: 2, flavors: {cpu: f}, resourceUsage: {cpu: 2}}]}}}`,
			cluster.Snapshot{Time: at("2026-01-02T03:04:07Z"), Workloads: []cluster.Workload{{
				Namespace: "ns", Name: "w", UID: "u", Queue: "l", Priority: 7, Created: at("2026-01-02T03:04:05Z"), Evicted: true, Requeued: at("2026-01-02T03:04:07Z"),
				PodSets: []cluster.PodSet{{
					Name: "a", Count: 2, Group: "g", Requests: cluster.Resources{"cpu": 1000}, Usage: cluster.Resources{"cpu": 2000}, Flavors: map[string]string{"cpu": "f"},
					NodeSelector: map[string]string{"a": "b"}, Tolerations: []cluster.Toleration{{Key: "t", Operator: cluster.TolerationExists}},
				}},
				Admission: &cluster.Admission{ClusterQueue: "q", Reserved: at("2026-01-02T03:04:06Z")},
			}}},
		},
		"pods of Kueue's workloads that are done hold no quota, and ask for none": {
			`{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: runs}, spec: {podSets: [{name: a, count: 5}, {name: b, count: 3}, {name: c, count: 3}]},
			  status: {reclaimablePods: [{name: a, count: 3}, {name: b, count: 1}, {name: c, count: 3}],
			    admission: {clusterQueue: q, podSetAssignments: [{name: a, count: 4, flavors: {cpu: f, pods: f}, resourceUsage: {cpu: 4, pods: 4}},
			      {name: b, count: 2, flavors: {cpu: f}, resourceUsage: {cpu: 2}}, {name: c, flavors: {cpu: f}, resourceUsage: {cpu: 3}}]}}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: waits}, spec: {queueName: l, podSets: [{name: a, count: 5, minCount: 2}, {name: b, count: 5, minCount: 4}]},
  status: {reclaimablePods: [{name: a, count: 3}, {name: b, count: 3}]}}`,
			cluster.Snapshot{Workloads: []cluster.Workload{
				{
					Namespace: "default", Name: "runs", Admission: &cluster.Admission{ClusterQueue: "q"}, PodSets: []cluster.PodSet{
						{Name: "a", Count: 2, Usage: cluster.Resources{"cpu": 2000, "pods": 2}, Flavors: map[string]string{"cpu": "f", "pods": "f"}},
						{Name: "b", Count: 2, Usage: cluster.Resources{"cpu": 2000}, Flavors: map[string]string{"cpu": "f"}},
						{Name: "c", Usage: cluster.Resources{"cpu": 0}, Flavors: map[string]string{"cpu": "f"}},
					},
				},
				{Namespace: "default", Name: "waits", Queue: "l", PodSets: []cluster.PodSet{{Name: "a", Count: 2, MinCount: ptr(int32(2))}, {Name: "b", Count: 2}}},
			}},
		},
		"the priority as a victim is that of the class that the annotation names": {
			"{apiVersion: v1, kind: Pod, metadata: {name: p, annotations: {preempt-go.dev/preemption-priority-class: high}}}\n---\n" +
				"{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: g, annotations: {preempt-go.dev/preemption-priority-class: system-node-critical}}, spec: {schedulingPolicy: {basic: {}}}}\n---\n" +
				"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 9}",
			cluster.Snapshot{
				Pods: []cluster.Pod{{
					Namespace: "default", Name: "p", PreemptionPriority: ptr(int32(9)),
					Annotations: map[string]string{"preempt-go.dev/preemption-priority-class": "high"},
				}},
				PodGroups:       []cluster.PodGroup{{Namespace: "default", Name: "g", Basic: true, PreemptionPriority: ptr(int32(2_000_001_000))}},
				PriorityClasses: []priority.Class{{Name: "high", Value: 9}},
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d, err := dump(t, convert.Options{}, tt.text)
			require.NoError(t, err)
			if diff := cmp.Diff(tt.want, d.Snapshot, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("snapshot (-want +got):\n%s", diff)
			}
			require.Equal(t, name != "an empty list", d.Count() > 0)
		})
	}
}

func TestDumpRefuses(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"an amount that is none": {
			`{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: a}, {name: b, resources: {requests: {cpu: two}}}]}}`,
			`f, document 1: Pod "p": spec.containers[1].resources.requests[cpu]: "two" is not readable: `,
		},
		"an amount whose exponent would take for ever": {
			`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"commit":"12e34567"}},"spec":{"containers":[{"resources":{"requests":{"cpu":"1e2147483647"}}}]}}`,
			`f, document 1: Pod "p": spec.containers[0].resources.requests[cpu]: "1e2147483647" is not an amount whose exponent has at most 3 digits`,
		},
		"an amount that is tiny beyond measure": {
			`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"capacity":{"cpu":1E-99999999}}}`,
			`f, document 1: Node "n1": status.capacity[cpu]: 1E-99999999 is not an amount whose exponent has at most 3 digits`,
		},
		"an amount of many digits": {
			`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"` + strings.Repeat("1", 65) + `"}}}`,
			`f, document 1: Node "n1": status.allocatable[cpu]: "111111111111111111111111111111111111111... is not an amount of at most 64 characters`,
		},
		"a time that is none": {
			`{apiVersion: v1, kind: Pod, metadata: {name: p}, status: {startTime: yesterday}}`,
			`f, document 1: Pod "p": status.startTime: "yesterday" is not readable: `,
		},
		"a text where a number belongs": {
			`{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: c}, value: high}`,
			`f, document 1: PriorityClass "c": value: "high" is not readable: `,
		},
		"a priority beyond 32 bits": {
			`{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns}, spec: {priority: 3000000000}}`,
			`f, document 1: Pod "ns/p": spec.priority: 3000000000 is not readable: `,
		},
		"a list where an object belongs": {
			`{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: []}`,
			`f, document 1: Node "n1": spec: [] is not readable: `,
		},
		"a node that offers less than nothing": {
			`{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {memory: "-1"}}}`,
			`f, document 1: Node "n1": status.allocatable[memory]: -1 is not at least 0`,
		},
		"a taint without effect": {
			`{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {taints: [{key: k}]}}`,
			`f, document 1: Node "n1": spec.taints[0].effect: "" is not NoSchedule, PreferNoSchedule or NoExecute`,
		},
		"an object that stands twice": {
			"{apiVersion: v1, kind: Node, metadata: {name: n1}}\n---\n{apiVersion: v1, kind: Node, metadata: {name: n1}}",
			`f, document 2: Node "n1": metadata.name: "n1" is not unique: it stands in f, document 1 too`,
		},
		"a name that is too long": {
			"{apiVersion: v1, kind: Pod, metadata: {name: " + strings.Repeat("x", 254) + "}}",
			`f, document 1: Pod "default/` + strings.Repeat("x", 92) + `...": metadata.name: "` + strings.Repeat("x", 99) + `... is not a name of at most 253 bytes`,
		},
		"a pod that stands twice, finished or not": {
			"{apiVersion: v1, kind: Pod, metadata: {name: p}, status: {phase: Failed}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}}",
			`f, document 2: Pod "default/p": metadata.name: "p" is not unique: it stands in f, document 1 too`,
		},
		"a disruption mode of another version": {
			`{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {name: g}, spec: {disruptionMode: All}}`,
			`f, document 1: PodGroup "default/g": spec.disruptionMode: "All" is not Pod or PodGroup`,
		},
		"two disruption modes": {
			`{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: g}, spec: {disruptionMode: {all: {}, single: {}}}}`,
			`f, document 1: PodGroup "default/g": spec.disruptionMode: single and all is not one of them`,
		},
		"two policies": {
			`{apiVersion: scheduling.k8s.io/v1alpha3, kind: CompositePodGroup, metadata: {name: g}, spec: {schedulingPolicy: {basic: {}, gang: {minGroupCount: 1}}}}`,
			`f, document 1: CompositePodGroup "default/g": spec.schedulingPolicy: basic and gang is not one of them`,
		},
		"an annotation that names no class": {
			`{apiVersion: v1, kind: Pod, metadata: {name: p, annotations: {preempt-go.dev/preemption-priority-class: high}}}`,
			`f, document 1: Pod "default/p": metadata.annotations[preempt-go.dev/preemption-priority-class]: "high" is not a priority class of the input`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := dump(t, convert.Options{}, tt.text)
			require.ErrorIs(t, err, convert.ErrInput)
			require.ErrorContains(t, err, tt.want)

			d, err := dump(t, convert.Options{Lenient: true}, tt.text)
			require.NoError(t, err)
			require.Len(t, d.Problems, 1)
			require.ErrorContains(t, d.Problems[0], tt.want)
		})
	}
}

// An amount that is too large is told as the input has it.
func TestAmountsAreToldAsGiven(t *testing.T) {
	for _, amount := range []string{"1000000000000000000000000000000", "9223372036854775807Ei", "-1.50", "1e30"} {
		const node = `{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "%s"}}}`
		_, err := dump(t, convert.Options{}, fmt.Sprintf(node, amount))
		require.ErrorContains(t, err, "status.allocatable[cpu]: "+amount+" is not at ")
		const pod = `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: a}, {name: b, resources: {requests: {cpu: %s}}}]}}`
		_, err = dump(t, convert.Options{}, fmt.Sprintf(pod, `"`+amount+`"`))
		require.ErrorContains(t, err, "spec.containers[1].resources.requests[cpu]: "+amount+" is not at ")
	}
	_, err := dump(t, convert.Options{}, `{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {example.com/a.b: "-1e3"}}}`)
	require.ErrorContains(t, err, "status.allocatable[example.com/a.b]: -1e3 is not at least 0")

	huge := resource.MustParse("1000000000000000000000000000000")
	_, err = convert.Node(&corev1.Node{Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{"memory": huge}}})
	require.ErrorContains(t, err, "status.allocatable[memory]: 1000000000000000000000000000000 is not at most")
	_, err = convert.Node(&corev1.Node{Status: corev1.NodeStatus{Capacity: corev1.ResourceList{"memory": huge}}})
	require.ErrorContains(t, err, "status.capacity[memory]: 1000000000000000000000000000000 is not at most")
}

// What is more than can be listed is counted, leniently too.
func TestLenientCountsWhatItDoesNotList(t *testing.T) {
	d, err := dump(t, convert.Options{Lenient: true}, strings.Repeat("{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: 7}\n---\n", 1200))
	require.NoError(t, err)
	require.Len(t, d.Problems, 1001)
	require.EqualError(t, d.Problems[1000], "convert: and 200 more")
}

// A field that stands twice is an error wherever it stands.
func TestFieldsThatStandTwice(t *testing.T) {
	labels := ""
	for i := range 20 {
		labels += fmt.Sprintf(`"k%d":"",`, (i+7)%20)
	}
	for doc, want := range map[string]string{
		`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","labels":{` + labels + `"k3":""}}}`:                                 `Node "n": metadata.labels.k3: stands twice`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"nodeName":"a","nodeName":"b"}}`:                            `f, document 1: Pod "p": spec.nodeName: stands twice`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{},"spec":{}}`:                                               `f, document 1: Pod "p": spec: stands twice`,
		`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"allocatable":{"cpu":"1","cpu":"2"}}}`:                   `status.allocatable`,
		`{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"Cohort","metadata":{"name":"c"},"spec":{"parentName":"a","parentName":"b"}}`: `spec.parentName: stands twice`,
	} {
		_, err := dump(t, convert.Options{}, doc)
		require.ErrorIs(t, err, convert.ErrInput)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "stands twice")
	}
}

func TestDumpReportsEveryProblem(t *testing.T) {
	_, err := dump(t, convert.Options{}, strings.Repeat("{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: 7}\n---\n", 1200))
	require.ErrorContains(t, err, "f, document 1: ")
	require.ErrorContains(t, err, "f, document 1000: ")
	require.ErrorContains(t, err, "and 200 more")
	require.NotContains(t, err.Error(), "f, document 1001: ")
}

const oddities = `
{apiVersion: v1, kind: Pod, metadata: {name: done, creationTimestamp: "2026-01-01T00:00:00Z"}, status: {phase: Succeeded}}
---
{apiVersion: v1, kind: Pod, metadata: {name: gone}, spec: {nodeName: n1}, status: {phase: Failed}}
---
{apiVersion: v1, kind: Service, metadata: {name: s}}
---
{apiVersion: scheduling.example.com/v1alpha1, kind: PodGroup, metadata: {name: other}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b, creationTimestamp: "2026-01-01T00:00:05Z"},
 spec: {schedulingGates: [{name: g}], resourceClaims: [{name: r}], volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a, deletionTimestamp: "2027-01-01T00:00:00Z"}}
---
{apiVersion: v1, kind: Pod, metadata: {name: runs}, spec: {nodeName: n1}, status: {startTime: "2026-01-01T00:00:07Z"}}
---
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {conditions: [{type: Ready, lastHeartbeatTime: "2026-01-01T00:00:09Z"}]}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}}
`

func TestDumpCountsWhatIsLeftOut(t *testing.T) {
	d, err := dump(t, convert.Options{}, oddities)
	require.NoError(t, err)
	require.Equal(t, 2, d.Finished)
	require.Equal(t, map[string]int{"Service": 1, "PodGroup.scheduling.example.com": 1}, d.Ignored)
	require.Len(t, d.Warnings, 1)
	require.EqualError(t, d.Warnings[0], `f, document 4: PodGroup "other": apiVersion: "scheduling.example.com/v1alpha1" is not scheduling.k8s.io/v1beta1, scheduling.k8s.io/v1alpha3, scheduling.k8s.io/v1alpha2, scheduling.run.ai/v2alpha2, scheduling.sigs.k8s.io/v1alpha1, scheduling.volcano.sh/v1beta1 or scheduling.x-k8s.io/v1alpha1: it is left out`)
	_, err = dump(t, convert.Options{Strict: true}, oddities)
	require.EqualError(t, err, d.Warnings[0].Error())
	require.Equal(t, map[string]int{"spec.schedulingGates": 1, "spec.resourceClaims": 1, "spec.volumes[].persistentVolumeClaim": 1}, d.Unread)
	require.Equal(t, 4, d.Count())
	var pending []string
	for _, p := range d.PendingPods() {
		pending = append(pending, p.Name)
	}
	require.Equal(t, []string{"a", "b"}, pending)
}

func TestNowIsTheNewestThatHappened(t *testing.T) {
	d, err := dump(t, convert.Options{}, oddities)
	require.NoError(t, err)
	require.True(t, d.Snapshot.Time.Equal(at("2026-01-01T00:00:09Z")), d.Snapshot.Time)

	given := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	d, err = dump(t, convert.Options{Now: given}, oddities)
	require.NoError(t, err)
	require.Equal(t, given, d.Snapshot.Time)
}

func TestLocate(t *testing.T) {
	d, err := dump(t, convert.Options{}, "{apiVersion: v1, kind: Node, metadata: {name: n1}}")
	require.NoError(t, err)
	require.NoError(t, d.Locate(nil))
	known := &cluster.FieldError{Kind: "Node", Name: "n1", Field: "Name", Value: "x", Want: "y"}
	other := &cluster.FieldError{Kind: "Node", Name: "m", Field: "Name", Value: "x", Want: "y"}
	require.EqualError(t, d.Locate(known), "f, document 1: "+known.Error())
	require.ErrorIs(t, d.Locate(known), cluster.ErrInvalid)
	require.EqualError(t, d.Locate(other), other.Error())
	one := fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, other)
	require.EqualError(t, d.Locate(errors.Join(one, other)), one.Error()+"\n"+other.Error())
}

// TestWhatOfKueueIsNotRead: it is told where it may decide.
func TestWhatOfKueueIsNotRead(t *testing.T) {
	d, err := dump(t, convert.Options{}, `{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}, spec: {topologyName: racks}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: open}, spec: {namespaceSelector: {}}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: q}, spec: {namespaceSelector: {matchLabels: {team: a}}, admissionScope: {admissionMode: UsageBasedAdmissionFairSharing}}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: w}, spec: {active: true, podSets: [{name: a, count: 1}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: held}, spec: {active: false, podSets: [{name: a, count: 1}]}}`)
	require.NoError(t, err)
	require.Equal(t, map[string]int{
		"spec.topologyName of ResourceFlavor.kueue.x-k8s.io": 1, "spec.namespaceSelector of ClusterQueue.kueue.x-k8s.io": 1,
		"spec.admissionScope of ClusterQueue.kueue.x-k8s.io": 1, "spec.active of Workload.kueue.x-k8s.io": 1,
	}, d.NotRead)
}

// Of an object with more commas than any has that an API server keeps nothing is decoded.
func TestDumpRefusesCrowdedObjects(t *testing.T) {
	pod := func(containers int) string {
		return `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"},"spec":{"containers":[{}` + strings.Repeat(",{}", containers-1) + `]}}`
	}
	for _, containers := range []int{1<<17 - 2, 1<<17 - 1} { // and three commas before them
		text := pod(containers)
		require.Empty(t, loadDiffers(convert.Options{}, 1<<20, text))
		objects, err := convert.Read("f", strings.NewReader(text))
		require.NoError(t, err)
		_, err = convert.Options{}.Dump(objects)
		if containers == 1<<17-2 {
			require.NotContains(t, fmt.Sprint(err), "commas")
			continue
		}
		require.ErrorContains(t, err, `f, document 1: Pod "p": not an object of at most 131072 commas`)
		require.ErrorIs(t, err, convert.ErrInput)
	}
}
