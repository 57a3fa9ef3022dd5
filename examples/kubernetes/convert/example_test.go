package convert_test

import (
	"fmt"
	"log"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// From what kubectl prints to the victims.
func Example() {
	const dump = `
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "2", pods: "110"}}
---
apiVersion: v1
kind: Pod
metadata: {name: batch, namespace: jobs}
spec:
  nodeName: n1
  priority: 0
  containers: [{name: main, resources: {requests: {cpu: "1500m"}}}]
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec:
  priority: 1000
  containers: [{name: main, resources: {requests: {cpu: "1"}}}]
`
	objects, err := convert.Read("dump.yaml", strings.NewReader(dump))
	if err != nil {
		log.Fatal(err)
	}
	d, err := convert.Options{}.Dump(objects)
	if err != nil {
		log.Fatal(err)
	}
	web := preemption.Preemptor{Kind: cluster.KindPod, Namespace: "shop", Name: "web"}
	result, err := preemption.Preempt(web, &d.Snapshot)
	if err != nil {
		log.Fatal(d.Locate(err))
	}
	fmt.Println(result.Message)
	for _, v := range result.Victims {
		fmt.Println("evict", v.Name)
	}
	// Output:
	// fits on n1 once 1 pod is evicted
	// evict batch
}

// A sidecar runs on beside the container; an init container runs before it.
func ExampleRequests() {
	always := corev1.ContainerRestartPolicyAlways
	cpu := func(amount string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(amount)}}
	}
	requests, err := convert.Requests(&corev1.Pod{Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{
			{Name: "proxy", Resources: cpu("100m"), RestartPolicy: &always},
			{Name: "migrate", Resources: cpu("300m")},
		},
		Containers: []corev1.Container{{Name: "main", Resources: cpu("250m")}},
	}})
	fmt.Println(requests, err)
	// Output: map[cpu:400] <nil>
}
