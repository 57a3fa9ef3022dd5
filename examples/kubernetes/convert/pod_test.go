package convert_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic("convert_test: " + err.Error())
	}
	return t
}

func TestPod(t *testing.T) {
	seven := int32(7)
	base := cluster.Pod{Namespace: "ns", Name: "p"}
	with := func(change func(*cluster.Pod)) cluster.Pod {
		p := base
		change(&p)
		return p
	}
	tests := map[string]struct {
		pod  string
		want cluster.Pod
	}{
		"an empty pod": {`{}`, base},
		"who it is": {
			`{metadata: {uid: u, labels: {a: b}, annotations: {c: d}, creationTimestamp: "2026-01-02T03:04:05Z",
				ownerReferences: [{kind: Node, name: n, uid: x}, {kind: Job, name: j, uid: w, controller: true}]}}`,
			with(func(p *cluster.Pod) {
				p.UID, p.Labels, p.Annotations = "u", map[string]string{"a": "b"}, map[string]string{"c": "d"}
				p.Created, p.Owner = at("2026-01-02T03:04:05Z"), &cluster.Owner{Kind: "Job", Name: "j", UID: "w"}
			}),
		},
		"a pod that is bound runs, whatever its phase": {
			`{spec: {nodeName: n1}, status: {phase: Pending}}`, with(func(p *cluster.Pod) { p.Node = "n1" }),
		},
		"when it was scheduled and started": {
			`{status: {startTime: "2026-01-02T03:04:06Z", conditions: [
				{type: Ready, status: "True", lastTransitionTime: "2026-01-02T03:04:09Z"},
				{type: PodScheduled, status: "True", lastTransitionTime: "2026-01-02T03:04:05Z"}]}}`,
			with(func(p *cluster.Pod) {
				p.Scheduled, p.Started = at("2026-01-02T03:04:05Z"), at("2026-01-02T03:04:06Z")
			}),
		},
		"a pod that could not be scheduled has no such time": {
			`{status: {nominatedNodeName: n2, conditions: [{type: PodScheduled, status: "False", lastTransitionTime: "2026-01-02T03:04:05Z"}]}}`,
			with(func(p *cluster.Pod) { p.NominatedNode = "n2" }),
		},
		"how important it is": {
			`{spec: {priority: 7, priorityClassName: c, preemptionPolicy: Never, schedulingGroup: {podGroupName: g}}}`,
			with(func(p *cluster.Pod) { p.Priority, p.Class, p.Policy, p.Group = &seven, "c", priority.Never, "g" }),
		},
		"terminating": {
			`{metadata: {deletionTimestamp: "2026-01-02T03:04:05Z"}}`, with(func(p *cluster.Pod) { p.Terminating = true }),
		},
		"terminating by preemption": {
			`{metadata: {deletionTimestamp: "2026-01-02T03:04:05Z"},
			  status: {conditions: [{type: Ready, status: "False"}, {type: DisruptionTarget, status: "True", reason: PreemptionByScheduler}]}}`,
			with(func(p *cluster.Pod) { p.Terminating, p.Preempted = true, true }),
		},
		"chosen as a victim but not deleted yet": {
			`{status: {conditions: [{type: DisruptionTarget, status: "True", reason: PreemptionByScheduler}]}}`, base,
		},
		"terminating by an eviction": {
			`{metadata: {deletionTimestamp: "2026-01-02T03:04:05Z"},
			  status: {conditions: [{type: DisruptionTarget, status: "True", reason: EvictionByEvictionAPI}]}}`,
			with(func(p *cluster.Pod) { p.Terminating = true }),
		},
		"the condition was withdrawn": {
			`{metadata: {deletionTimestamp: "2026-01-02T03:04:05Z"},
			  status: {conditions: [{type: DisruptionTarget, status: "False", reason: PreemptionByScheduler}]}}`,
			with(func(p *cluster.Pod) { p.Terminating = true }),
		},
		"the first condition of the type decides": {
			`{metadata: {deletionTimestamp: "2026-01-02T03:04:05Z"},
			  status: {conditions: [
				{type: DisruptionTarget, status: "True", reason: EvictionByEvictionAPI},
				{type: DisruptionTarget, status: "True", reason: PreemptionByScheduler}]}}`,
			with(func(p *cluster.Pod) { p.Terminating = true }),
		},
		"host ports of containers and sidecars, not of init containers": {
			`{spec: {
				initContainers: [
					{name: i, ports: [{containerPort: 1, hostPort: 1}]},
					{name: s, restartPolicy: Always, ports: [{containerPort: 2, hostPort: 2, protocol: UDP}]}],
				containers: [{name: a, ports: [{containerPort: 3, hostPort: 33, hostIP: 10.0.0.1, protocol: TCP}, {containerPort: 4}]}]}}`,
			with(func(p *cluster.Pod) {
				p.Ports = []cluster.HostPort{{Port: 2, Protocol: "UDP"}, {IP: "10.0.0.1", Port: 33, Protocol: "TCP"}}
			}),
		},
		"on the host's network every port is the host's": {
			`{spec: {hostNetwork: true, containers: [{name: a, ports: [{containerPort: 4, protocol: TCP}, {containerPort: 5, hostPort: 6}]}]}}`,
			with(func(p *cluster.Pod) { p.Ports = []cluster.HostPort{{Port: 4, Protocol: "TCP"}, {Port: 6}} }),
		},
		"where it may go": {
			`{spec: {
				nodeSelector: {disk: ssd},
				tolerations: [{key: k, operator: Equal, value: v, effect: NoExecute, tolerationSeconds: 5}, {operator: Exists}],
				affinity: {nodeAffinity: {
					preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: x, operator: Exists}]}}],
					requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
						{matchExpressions: [{key: gen, operator: Gt, values: ["3"]}], matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}}}}}`,
			with(func(p *cluster.Pod) {
				p.NodeSelector = map[string]string{"disk": "ssd"}
				p.Tolerations = []cluster.Toleration{{Key: "k", Operator: "Equal", Value: "v", Effect: "NoExecute"}, {Operator: "Exists"}}
				p.NodeAffinity = &cluster.NodeAffinity{Terms: []cluster.NodeTerm{{
					Labels: []cluster.NodeRequirement{{Key: "gen", Operator: "Gt", Values: []string{"3"}}},
					Fields: []cluster.NodeRequirement{{Key: "metadata.name", Operator: "In", Values: []string{"n1"}}},
				}}}
			}),
		},
		"an affinity without terms holds nowhere, and stays": {
			`{spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}}}`,
			with(func(p *cluster.Pod) { p.NodeAffinity = &cluster.NodeAffinity{} }),
		},
		"required affinity to other pods": {
			`{spec: {affinity: {
				podAffinity: {
					preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: zone}}],
					requiredDuringSchedulingIgnoredDuringExecution: [
						{topologyKey: zone, namespaces: [a], namespaceSelector: {}, matchLabelKeys: [v],
						 labelSelector: {matchLabels: {app: x}, matchExpressions: [{key: e, operator: NotIn, values: [f]}]}}]},
				podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: host, mismatchLabelKeys: [w]}]}}}}`,
			with(func(p *cluster.Pod) {
				p.Affinity = []cluster.AffinityTerm{{
					TopologyKey: "zone", Namespaces: []string{"a"}, NamespaceSelector: &disruption.Selector{}, MatchLabelKeys: []string{"v"},
					Selector: &disruption.Selector{
						MatchLabels:      map[string]string{"app": "x"},
						MatchExpressions: []disruption.Requirement{{Key: "e", Operator: disruption.NotIn, Values: []string{"f"}}},
					},
				}}
				p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: "host", MismatchLabelKeys: []string{"w"}}}
			}),
		},
		"spread that must hold": {
			`{spec: {topologySpreadConstraints: [
				{maxSkew: 1, topologyKey: host, whenUnsatisfiable: ScheduleAnyway},
				{maxSkew: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, minDomains: 3, matchLabelKeys: [v],
				 nodeAffinityPolicy: Ignore, nodeTaintsPolicy: Honor, labelSelector: {matchLabels: {a: b}}}]}}`,
			with(func(p *cluster.Pod) {
				p.Spread = []cluster.Spread{{
					MaxSkew: 2, TopologyKey: "zone", MinDomains: 3, MatchLabelKeys: []string{"v"},
					NodeAffinityPolicy: cluster.Ignore, NodeTaintsPolicy: cluster.Honor,
					Selector: &disruption.Selector{MatchLabels: map[string]string{"a": "b"}},
				}}
			}),
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := convert.Pod(podFrom(t, tt.pod))
			require.NoError(t, err)
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("pod (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFinished(t *testing.T) {
	for phase, want := range map[corev1.PodPhase]bool{
		"": false, corev1.PodPending: false, corev1.PodRunning: false, corev1.PodUnknown: false,
		corev1.PodSucceeded: true, corev1.PodFailed: true,
	} {
		require.Equal(t, want, convert.Finished(&corev1.Pod{Status: corev1.PodStatus{Phase: phase}}), "phase %q", phase)
	}
}
