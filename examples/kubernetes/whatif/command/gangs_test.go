package command

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestGangPlacementsHold: what a group is answered is checked by adding up
// quantities, without the library and its converter: its pods fit where they go once
// the victims are gone, they are enough, the victims are less important, and groups
// that go as a whole do.
func TestGangPlacementsHold(t *testing.T) {
	in, err := os.Open(shared(t, "cases/kube-gangs.jsonl.gz"))
	require.NoError(t, err)
	defer in.Close()
	for _, rules := range []string{"v1.36", "v1.37"} {
		_, err := in.Seek(0, 0)
		require.NoError(t, err)
		c := &config{rules: rulesByName[rules]}
		checked := 0
		require.NoError(t, eachLine(in, 0, func(number int, line []byte) error {
			var q testCase
			require.NoError(t, json.Unmarshal(line, &q))
			if q.Preemptor.Kind != string(cluster.KindPodGroup) {
				return nil
			}
			a := c.answerLine(nil, number, line)
			require.Empty(t, a.Error)
			if a.Status == "preempt" || a.Status == "fits" {
				checked++
				readWorld(t, q.Objects).holds(t, q.Preemptor.Name, a, rules == "v1.36")
			} else {
				require.Empty(t, a.Victims, q.Name)
			}
			return nil
		}))
		require.Greater(t, checked, 50, rules)
	}
}

// world is a case as Kubernetes objects.
type world struct {
	nodes  map[string]corev1.Node
	pods   map[string]corev1.Pod // by namespace/name
	group  map[string]string     // of a pod
	groups map[string]podGroup
}

type podGroup struct {
	Metadata struct{ Name string }
	Spec     struct {
		Priority         int32
		DisruptionMode   string
		SchedulingPolicy struct{ Gang *struct{ MinCount int } }
	}
}

func readWorld(t *testing.T, objects []json.RawMessage) *world {
	t.Helper()
	w := &world{map[string]corev1.Node{}, map[string]corev1.Pod{}, map[string]string{}, map[string]podGroup{}}
	for _, raw := range objects {
		var head struct {
			Kind string
			Spec struct {
				SchedulingGroup struct{ PodGroupName string }
			}
		}
		require.NoError(t, json.Unmarshal(raw, &head))
		switch head.Kind {
		case "Node":
			var n corev1.Node
			require.NoError(t, json.Unmarshal(raw, &n))
			w.nodes[n.Name] = n
		case "Pod":
			var p corev1.Pod
			require.NoError(t, json.Unmarshal(raw, &p))
			w.pods[p.Namespace+"/"+p.Name] = p
			w.group[p.Namespace+"/"+p.Name] = head.Spec.SchedulingGroup.PodGroupName
		case "PodGroup":
			var g podGroup
			require.NoError(t, json.Unmarshal(raw, &g))
			w.groups[g.Metadata.Name] = g
		}
	}
	return w
}

// holds checks an answer for the group of that name.
func (w *world) holds(t *testing.T, name string, a *Answer, ownPriorities bool) {
	t.Helper()
	group := w.groups[name]
	seated := 0
	used := map[string]corev1.ResourceList{}
	count := map[string]int64{}
	use := func(node string, p corev1.Pod) {
		if used[node] == nil {
			used[node] = corev1.ResourceList{}
		}
		count[node]++
		for r, q := range requests(p) {
			sum := used[node][r]
			sum.Add(q)
			used[node][r] = sum
		}
	}
	for key, p := range w.pods {
		if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue // takes no room
		}
		switch node, placed := a.Nominations[key]; {
		case placed:
			require.Empty(t, p.Spec.NodeName, "%s: %s runs already", a.Name, key)
			require.Equal(t, name, w.group[key], "%s: %s is not of the group", a.Name, key)
			use(node, p)
			seated++
		case p.Spec.NodeName != "" && !slices.Contains(a.Victims, key):
			use(p.Spec.NodeName, p)
			if w.group[key] == name {
				seated++
			}
		}
	}
	if gang := group.Spec.SchedulingPolicy.Gang; gang != nil {
		require.GreaterOrEqual(t, seated, gang.MinCount, "%s: too few members", a.Name)
	}
	for key, node := range a.Nominations {
		offers := w.nodes[node].Status.Allocatable
		require.LessOrEqual(t, count[node], offers.Pods().Value(), "%s: too many pods on %s", a.Name, node)
		for r := range requests(w.pods[key]) {
			sum, most := used[node][r], offers[r]
			require.LessOrEqual(t, sum.Cmp(most), 0, "%s: %s of %s on %s, which has %s", a.Name, sum.String(), r, node, most.String())
		}
	}
	for _, key := range a.Victims {
		p, of := w.pods[key], w.groups[w.group[key]]
		require.NotEmpty(t, p.Spec.NodeName, "%s: %s does not run", a.Name, key)
		priority := *p.Spec.Priority
		if w.group[key] != "" && (!ownPriorities || of.Spec.DisruptionMode == "PodGroup") {
			priority = of.Spec.Priority
		}
		require.Less(t, priority, group.Spec.Priority, "%s: %s", a.Name, key)
		if of.Spec.DisruptionMode != "PodGroup" {
			continue
		}
		for other, p := range w.pods {
			if w.group[other] == w.group[key] && p.Spec.NodeName != "" {
				require.Contains(t, a.Victims, other, "%s: %s goes without %s", a.Name, key, other)
			}
		}
	}
}

// requests is what a pod asks for: its containers together, or its largest init
// container.
func requests(p corev1.Pod) corev1.ResourceList {
	sum := corev1.ResourceList{}
	for _, c := range p.Spec.Containers {
		for r, q := range c.Resources.Requests {
			v := sum[r]
			v.Add(q)
			sum[r] = v
		}
	}
	for _, c := range p.Spec.InitContainers {
		for r, q := range c.Resources.Requests {
			if v := sum[r]; q.Cmp(v) > 0 {
				sum[r] = q
			}
		}
	}
	for r, q := range sum {
		if q.Cmp(resource.Quantity{}) == 0 {
			delete(sum, r)
		}
	}
	return sum
}

// racks is a cluster of Kubernetes 1.37: two racks of two nodes each, full of a
// composite job that goes as a whole and of a batch that does not; a training gang
// that wants one rack, and a composite group of two gangs, wait.
const racks = `
{apiVersion: v1, kind: Node, metadata: {name: a1, labels: {rack: a}}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{apiVersion: v1, kind: Node, metadata: {name: a2, labels: {rack: a}}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{apiVersion: v1, kind: Node, metadata: {name: b1, labels: {rack: b}}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{apiVersion: v1, kind: Node, metadata: {name: b2, labels: {rack: b}}, status: {allocatable: {cpu: 4, pods: 10}}}
---
{apiVersion: scheduling.k8s.io/v1alpha3, kind: CompositePodGroup, metadata: {name: job, namespace: ml},
 spec: {schedulingPolicy: {gang: {minGroupCount: 2}}, disruptionMode: {all: {}}, priority: 20}}
---
{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: left, namespace: ml},
 spec: {parentCompositePodGroupName: job, schedulingPolicy: {gang: {minCount: 1}}, disruptionMode: {all: {}}, priority: 20}}
---
{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: right, namespace: ml},
 spec: {parentCompositePodGroupName: job, schedulingPolicy: {gang: {minCount: 1}}, disruptionMode: {all: {}}, priority: 20}}
---
{apiVersion: v1, kind: Pod, metadata: {name: left-0, namespace: ml}, spec: {nodeName: a1, priority: 20, schedulingGroup: {podGroupName: left}, containers: [{name: m, resources: {requests: {cpu: 4}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: right-0, namespace: ml}, spec: {nodeName: b1, priority: 20, schedulingGroup: {podGroupName: right}, containers: [{name: m, resources: {requests: {cpu: 4}}}]}}
---
{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: batch, namespace: ml},
 spec: {schedulingPolicy: {basic: {}}, disruptionMode: {single: {}}, priority: 10}}
---
{apiVersion: v1, kind: Pod, metadata: {name: batch-0, namespace: ml}, spec: {nodeName: a2, priority: 10, schedulingGroup: {podGroupName: batch}, containers: [{name: m, resources: {requests: {cpu: 4}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: batch-1, namespace: ml}, spec: {nodeName: b2, priority: 10, schedulingGroup: {podGroupName: batch}, containers: [{name: m, resources: {requests: {cpu: 2}}}]}}
---
{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: train, namespace: ml},
 spec: {schedulingPolicy: {gang: {minCount: 2}}, priority: 100, schedulingConstraints: {topology: [{key: rack}]}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: train-0, namespace: ml}, spec: {priority: 100, schedulingGroup: {podGroupName: train}, containers: [{name: m, resources: {requests: {cpu: 3}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: train-1, namespace: ml}, spec: {priority: 100, schedulingGroup: {podGroupName: train}, containers: [{name: m, resources: {requests: {cpu: 3}}}]}}
---
{apiVersion: scheduling.k8s.io/v1alpha3, kind: CompositePodGroup, metadata: {name: serve, namespace: ml},
 spec: {schedulingPolicy: {gang: {minGroupCount: 2}}, priority: 100}}
---
{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: leader, namespace: ml},
 spec: {parentCompositePodGroupName: serve, schedulingPolicy: {gang: {minCount: 1}}, priority: 100}}
---
{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: workers, namespace: ml},
 spec: {parentCompositePodGroupName: serve, schedulingPolicy: {gang: {minCount: 1}}, priority: 100}}
---
{apiVersion: v1, kind: Pod, metadata: {name: leader-0, namespace: ml}, spec: {priority: 100, schedulingGroup: {podGroupName: leader}, containers: [{name: m, resources: {requests: {cpu: 1}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: worker-0, namespace: ml}, spec: {priority: 100, schedulingGroup: {podGroupName: workers}, containers: [{name: m, resources: {requests: {cpu: 2}}}]}}
`

// The gang wants one rack: in either the job goes as a whole, over both racks, and
// one pod of the batch; a comes first. Without the wish the two batch nodes would do.
func TestGangOfOneRack(t *testing.T) {
	stdout, stderr, status := output(racks, "-f", "-", "-preemptor", "podgroup/ml/train")
	require.Equal(t, 0, status, stderr)
	require.Contains(t, stdout, "podgroup ml/train: all 2 pods of ml/train fit in rack=a once composite group ml/job (2 pods) and 1 pod are evicted.")
	for _, text := range []string{
		"ml/train-0  a2", "ml/train-1  a1", // where it goes
		"CompositePodGroup ml/job, all 2 pods", "ml/left-0", "ml/right-0", "ml/batch-0", // who goes
	} {
		require.Contains(t, stdout, text)
	}
	goes, others, found := strings.Cut(stdout, "OTHER DOMAIN")
	require.True(t, found)
	require.NotContains(t, goes, "ml/batch-1", "it is of the other rack,")
	require.Contains(t, others, "rack=b")
}

// A composite group preempts for both of its groups: 1 cpu and 2 cpu fit into what is
// free on b2 and what batch-1 leaves there.
func TestCompositeGroupPreempts(t *testing.T) {
	a := &asked{}
	stdout, stderr, status := output(racks, "-f", "-", "-preemptor", "compositepodgroup/ml/serve", "-o", "json")
	require.Equal(t, 0, status, stderr)
	require.NoError(t, json.Unmarshal([]byte(stdout), a))
	require.Equal(t, "preempt", a.Status)
	require.Equal(t, []string{"ml/batch-1"}, a.Victims)
	require.Equal(t, map[string]string{"ml/leader-0": "b2", "ml/worker-0": "b2"}, a.Nominations)

	// v1.36 knows no composite groups, and no groups with topology constraints.
	for _, preemptor := range []string{"compositepodgroup/ml/serve", "podgroup/ml/train"} {
		stdout, _, status = output(racks, "-f", "-", "-rules", "v1.36", "-preemptor", preemptor, "-o", "json")
		require.Equal(t, 0, status)
		require.NoError(t, json.Unmarshal([]byte(stdout), a))
		require.Equal(t, "ineligible", a.Status, preemptor)
	}
}
