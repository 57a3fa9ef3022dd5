package convert_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// podFrom reads the spec and status of a pod from YAML.
func podFrom(t *testing.T, text string) *corev1.Pod {
	t.Helper()
	var pod corev1.Pod
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &pod))
	pod.Namespace, pod.Name = "ns", "p"
	return &pod
}

func TestRequests(t *testing.T) {
	tests := map[string]struct {
		pod  string
		want cluster.Resources
	}{
		"a pod that asks for nothing": {`{spec: {containers: [{name: a}]}}`, nil},
		"containers add up": {
			`{spec: {containers: [
				{name: a, resources: {requests: {cpu: 100m, memory: 1Gi}}},
				{name: b, resources: {requests: {cpu: "1", example.com/gpu: "2"}}}]}}`,
			cluster.Resources{"cpu": 1100, "memory": 1 << 30, "example.com/gpu": 2},
		},
		"limits are not requests": {
			`{spec: {containers: [{name: a, resources: {limits: {cpu: "1"}}}]}}`, nil,
		},
		"an init container counts where it asks for more": {
			`{spec: {
				initContainers: [
					{name: i, resources: {requests: {cpu: 300m, memory: 10Mi}}},
					{name: j, resources: {requests: {cpu: 200m, memory: 20Mi}}}],
				containers: [{name: a, resources: {requests: {cpu: 250m, memory: 15Mi}}}]}}`,
			cluster.Resources{"cpu": 300, "memory": 20 << 20},
		},
		"an init container may be the only one to ask": {
			`{spec: {initContainers: [{name: i, resources: {requests: {cpu: 300m}}}], containers: [{name: a}]}}`,
			cluster.Resources{"cpu": 300},
		},
		"a sidecar runs on beside the containers": {
			`{spec: {
				initContainers: [{name: s, restartPolicy: Always, resources: {requests: {cpu: 100m}}}],
				containers: [{name: a, resources: {requests: {cpu: 250m}}}]}}`,
			cluster.Resources{"cpu": 350},
		},
		"an init container runs beside the sidecars before it, not those after it": {
			`{spec: {
				initContainers: [
					{name: s, restartPolicy: Always, resources: {requests: {cpu: 100m}}},
					{name: i, resources: {requests: {cpu: 500m}}},
					{name: u, restartPolicy: Always, resources: {requests: {cpu: 200m}}}],
				containers: [{name: a, resources: {requests: {cpu: 50m}}}]}}`,
			cluster.Resources{"cpu": 600},
		},
		"an init container before every sidecar runs alone": {
			`{spec: {
				initContainers: [
					{name: i, resources: {requests: {cpu: 300m}}},
					{name: s, restartPolicy: Always, resources: {requests: {cpu: 200m}}}],
				containers: [{name: a, resources: {requests: {cpu: 50m}}}]}}`,
			cluster.Resources{"cpu": 300},
		},
		"overhead comes on top of the maximum": {
			`{spec: {
				overhead: {cpu: 10m, memory: 5Mi},
				initContainers: [{name: i, resources: {requests: {cpu: 300m}}}],
				containers: [{name: a, resources: {requests: {cpu: 100m, memory: 1Mi}}}]}}`,
			cluster.Resources{"cpu": 310, "memory": 6 << 20},
		},
		"what the pod asks for as a whole replaces the sum of what its containers ask for": {
			`{spec: {
				resources: {requests: {cpu: 150m, hugepages-2Mi: 4Mi}},
				overhead: {cpu: 10m},
				containers: [{name: a, resources: {requests: {cpu: "1", memory: 1Mi, hugepages-2Mi: 2Mi}}}]}}`,
			cluster.Resources{"cpu": 160, "memory": 1 << 20, "hugepages-2Mi": 4 << 20},
		},
		"a pod cannot ask for extended resources as a whole": {
			`{spec: {
				resources: {requests: {example.com/gpu: "9", memory: 2Mi}},
				containers: [{name: a, resources: {requests: {example.com/gpu: "1"}}}]}}`,
			cluster.Resources{"example.com/gpu": 1, "memory": 2 << 20},
		},
		"sums are exact, and rounded up once": {
			`{spec: {containers: [
				{name: a, resources: {requests: {cpu: 500u, memory: 500m}}},
				{name: b, resources: {requests: {cpu: 700u, memory: 200m}}}]}}`,
			cluster.Resources{"cpu": 2, "memory": 1},
		},
		"amounts in any notation": {
			`{spec: {containers: [{name: a, resources: {requests: {cpu: 1e-1, memory: 15258956Ki, ephemeral-storage: 1.5G}}}]}}`,
			cluster.Resources{"cpu": 100, "memory": 15258956 << 10, "ephemeral-storage": 1_500_000_000},
		},
		"a pod that grows in place holds what it was allotted, and asks for more": {
			`{spec: {containers: [{name: a, resources: {requests: {cpu: 500m, memory: 1Mi}}}]},
			  status: {containerStatuses: [{name: a, allocatedResources: {cpu: 200m, memory: 2Mi}, resources: {requests: {cpu: 200m, memory: 3Mi}}}]}}`,
			cluster.Resources{"cpu": 500, "memory": 3 << 20},
		},
		"a resize that the node refused asks for nothing more": {
			`{spec: {containers: [{name: a, resources: {requests: {cpu: "9"}}}]},
			  status: {
				conditions: [{type: PodResizePending, status: "True", reason: Infeasible}],
				containerStatuses: [{name: a, allocatedResources: {cpu: 200m}, resources: {requests: {cpu: 100m}}}]}}`,
			cluster.Resources{"cpu": 200},
		},
		"a resize that the node has put off still asks": {
			`{spec: {containers: [{name: a, resources: {requests: {cpu: "9"}}}]},
			  status: {
				conditions: [{type: PodResizePending, status: "True", reason: Deferred}],
				containerStatuses: [{name: a, allocatedResources: {cpu: 200m}}]}}`,
			cluster.Resources{"cpu": 9000},
		},
		"a sidecar may be resized in place too": {
			`{spec: {initContainers: [{name: s, restartPolicy: Always, resources: {requests: {cpu: 100m}}}], containers: [{name: a}]},
			  status: {initContainerStatuses: [{name: s, allocatedResources: {cpu: 200m}}]}}`,
			cluster.Resources{"cpu": 200},
		},
		"a pod resized as a whole holds what its status says, which includes the overhead": {
			`{spec: {
				overhead: {cpu: 10m},
				resources: {requests: {cpu: 100m}},
				containers: [{name: a}]},
			  status: {allocatedResources: {cpu: 210m}, resources: {requests: {cpu: 160m}}}}`,
			cluster.Resources{"cpu": 210},
		},
		"a pod that has no room to be resized as a whole holds what it was given": {
			`{spec: {resources: {requests: {cpu: 900m}}, containers: [{name: a}]},
			  status: {allocatedResources: {cpu: 200m}, conditions: [{type: PodResizePending, status: "True", reason: Infeasible}]}}`,
			cluster.Resources{"cpu": 200},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := convert.Requests(podFrom(t, tt.pod))
			require.NoError(t, err)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRequestsRefuses(t *testing.T) {
	tests := map[string]struct{ pod, want string }{
		"a negative amount, even if the sum is not": {
			`{spec: {containers: [{name: a, resources: {requests: {cpu: "2"}}}, {name: b, resources: {requests: {cpu: "-1"}}}]}}`,
			`Pod "ns/p": spec.containers[1].resources.requests[cpu]: -1 is not at least 0`,
		},
		"a negative init container": {
			`{spec: {initContainers: [{name: i, resources: {requests: {memory: "-1"}}}], containers: [{name: a}]}}`,
			`Pod "ns/p": spec.initContainers[0].resources.requests[memory]: -1 is not at least 0`,
		},
		"a negative overhead": {
			`{spec: {overhead: {cpu: "-1m"}, containers: [{name: a}]}}`,
			`Pod "ns/p": spec.overhead[cpu]: -1m is not at least 0`,
		},
		"a negative amount of the pod as a whole": {
			`{spec: {resources: {requests: {memory: "-5"}}, containers: [{name: a}]}}`,
			`Pod "ns/p": spec.resources.requests[memory]: -5 is not at least 0`,
		},
		"more bytes than 64 bits count": {
			`{spec: {containers: [{name: a, resources: {requests: {memory: "1e30"}}}]}}`,
			`Pod "ns/p": spec.containers[0].resources.requests[memory]: 1e30 is not at most 9223372036854775807`,
		},
		"more thousandths of a core than 64 bits count": {
			`{spec: {containers: [{name: a, resources: {requests: {cpu: 9223372036854776}}}]}}`,
			`Pod "ns/p": spec.containers[0].resources.requests[cpu]: 9223372036854776 is not at most 9223372036854775807 thousandths`,
		},
		"a sum that overflows, of parts that do not": {
			`{spec: {containers: [{name: a, resources: {requests: {memory: 5E}}}, {name: b, resources: {requests: {memory: 5E}}}]}}`,
			`Pod "ns/p": requests[memory]: 10E is not at most 9223372036854775807`,
		},
		"a request of pods": {
			`{spec: {containers: [{name: a, resources: {requests: {pods: "1"}}}]}}`,
			`Pod "ns/p": requests[pods]: 1 is not a resource that a container can ask for`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := convert.Requests(podFrom(t, tt.pod))
			require.ErrorIs(t, err, convert.ErrInput)
			require.EqualError(t, err, tt.want)
		})
	}
}

func TestDefaultRequests(t *testing.T) {
	pod := podFrom(t, `{spec: {
		resources: {limits: {cpu: "4", memory: 1Gi, hugepages-2Mi: 4Mi, example.com/gpu: "1"}},
		initContainers: [{name: i, resources: {limits: {cpu: 50m}}}],
		containers: [
			{name: a, resources: {limits: {cpu: "2", hugepages-2Mi: 2Mi}, requests: {cpu: "1"}}},
			{name: b, resources: {limits: {example.com/gpu: "1"}}}]}}`)
	convert.DefaultRequests(pod)
	got, err := convert.Requests(pod)
	require.NoError(t, err)
	// cpu: a asks for less than its limit; the pod's own limit of cpu is none of a request, as a asks.
	want := cluster.Resources{"cpu": 1000, "memory": 1 << 30, "hugepages-2Mi": 4 << 20, "example.com/gpu": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}
