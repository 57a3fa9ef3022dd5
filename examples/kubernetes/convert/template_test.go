package convert_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/preemption/cluster"
)

const workloads = `
{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent, namespace: ops}, spec: {template: {
  metadata: {labels: {app: agent}},
  spec: {
    priorityClassName: high, tolerations: [{key: k, operator: Exists}],
    affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: os, operator: In, values: [linux]}]}, {}]}}},
    containers: [{name: a, resources: {limits: {cpu: 100m}}}]}}}}
---
{apiVersion: extensions/v1beta1, kind: Deployment, metadata: {name: web}, spec: {template: {spec: {nodeName: elsewhere, containers: [{name: a}]}}}}
---
{apiVersion: batch/v1, kind: CronJob, metadata: {name: night}, spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: a, resources: {requests: {cpu: "-1"}}}]}}}}}}
---
{apiVersion: v1, kind: ReplicationController, metadata: {name: old}}
`

func TestTemplatePod(t *testing.T) {
	d, err := dump(t, convert.Options{}, workloads)
	require.NoError(t, err)
	require.Len(t, d.Templates, 3) // a ReplicationController may have no template

	agent, ok := d.Template("daemonset", "ops", "agent")
	require.True(t, ok)
	got, err := agent.Pod("n1")
	require.NoError(t, err)
	onNode := []cluster.NodeRequirement{{Key: "metadata.name", Operator: cluster.NodeIn, Values: []string{"n1"}}}
	want := cluster.Pod{
		Namespace: "ops", Name: "agent-new", Labels: map[string]string{"app": "agent"}, Class: "high",
		Owner:    &cluster.Owner{Kind: "DaemonSet", Name: "agent"},
		Requests: cluster.Resources{"cpu": 100},
		Tolerations: []cluster.Toleration{
			{Key: "k", Operator: "Exists"},
			{Key: "node.kubernetes.io/not-ready", Operator: "Exists", Effect: "NoExecute"},
			{Key: "node.kubernetes.io/unreachable", Operator: "Exists", Effect: "NoExecute"},
			{Key: "node.kubernetes.io/disk-pressure", Operator: "Exists", Effect: "NoSchedule"},
			{Key: "node.kubernetes.io/memory-pressure", Operator: "Exists", Effect: "NoSchedule"},
			{Key: "node.kubernetes.io/pid-pressure", Operator: "Exists", Effect: "NoSchedule"},
			{Key: "node.kubernetes.io/unschedulable", Operator: "Exists", Effect: "NoSchedule"},
		},
		NodeAffinity: &cluster.NodeAffinity{Terms: []cluster.NodeTerm{
			{Labels: []cluster.NodeRequirement{{Key: "os", Operator: "In", Values: []string{"linux"}}}, Fields: onNode},
			{},
		}},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("pod (-want +got):\n%s", diff)
	}

	again, err := agent.Pod("n2")
	require.NoError(t, err)
	require.Equal(t, "n2", again.NodeAffinity.Terms[0].Fields[0].Values[0], "the template was changed by the first pod")

	web, ok := d.Template("Deployment", "default", "web")
	require.True(t, ok)
	got, err = web.Pod("")
	require.NoError(t, err)
	require.Empty(t, got.Node)
	require.Nil(t, got.NodeAffinity)
	require.Empty(t, got.Tolerations)
	got, err = web.Pod("n1")
	require.NoError(t, err)
	require.Equal(t, &cluster.NodeAffinity{Terms: []cluster.NodeTerm{{Fields: onNode}}}, got.NodeAffinity)

	_, ok = d.Template("Deployment", "default", "agent")
	require.False(t, ok)
}

func TestTemplatePodRefuses(t *testing.T) {
	d, err := dump(t, convert.Options{}, workloads)
	require.NoError(t, err)
	night, ok := d.Template("cronjob", "default", "night")
	require.True(t, ok)
	_, err = night.Pod("")
	require.ErrorIs(t, err, convert.ErrInput)
	require.EqualError(t, err, `f, document 3: CronJob "default/night": spec.template.spec.containers[0].resources.requests[cpu]: -1 is not at least 0`)
}

// Each template says how many pods its workload has of it.
func TestHowManyPods(t *testing.T) {
	d, err := dump(t, convert.Options{}, `
{apiVersion: apps/v1, kind: Deployment, metadata: {name: three}, spec: {replicas: 3}}
---
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: one}, spec: {}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: last}, spec: {parallelism: 5, completions: 2}}
---
{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: set}, spec: {replicatedJobs: [
  {name: a, template: {spec: {parallelism: 2}}}, {name: b, replicas: 4, template: {spec: {}}}]}}
---
{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: llm}, spec: {replicas: 2, leaderWorkerTemplate: {size: 4}}}
---
{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: each}}
`)
	require.NoError(t, err)
	require.Empty(t, d.Ignored)
	require.Empty(t, d.Warnings)
	var got []string
	for _, w := range d.Templates {
		got = append(got, fmt.Sprintf("%s/%s %s: %d x %d", w.Kind, w.Name, w.Part, w.Replicas, w.Count))
	}
	require.Equal(t, []string{
		"Deployment/three : 3 x 1", "StatefulSet/one : 1 x 1", "Job/last : 1 x 2", "JobSet/set a: 1 x 2", "JobSet/set b: 4 x 1",
		"LeaderWorkerSet/llm leader: 2 x 1", "LeaderWorkerSet/llm worker: 2 x 3", "DaemonSet/each : 0 x 0",
	}, got)
	pod, err := d.Templates[6].Pod("")
	require.NoError(t, err)
	require.Equal(t, "llm-worker-new", pod.Name)
}
