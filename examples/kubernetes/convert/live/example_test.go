package live_test

import (
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preempt-go/preempt/examples/kubernetes/convert/live"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// A scheduler feeds a planner from its informers, and asks it whom a pending pod would
// evict.
func Example() {
	planner, err := preemption.NewPlanner(nil, preemption.Options{Rules: preemption.Kubernetes136})
	if err != nil {
		log.Fatal(err)
	}
	handler := &live.Handler{
		Feeder: live.New(planner, live.Options{}),
		Failed: func(_ any, err error) { log.Print(err) },
	}
	// With client-go: factory.Core().V1().Pods().Informer().AddEventHandler(handler), and so
	// on for nodes, namespaces, budgets, claims, classes and groups.
	cpu := func(amount string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(amount), corev1.ResourcePods: resource.MustParse("110")}
	}
	pod := func(name, node string, priority int32) *corev1.Pod {
		requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: corev1.PodSpec{
				NodeName: node, Priority: &priority,
				Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: requests}}},
			},
		}
	}
	handler.OnAdd(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Status: corev1.NodeStatus{Allocatable: cpu("2")}}, true)
	handler.OnAdd(pod("batch", "n1", 10), true)
	handler.OnAdd(pod("cache", "n1", 20), true)
	handler.OnAdd(pod("web", "", 1000), false)

	web := preemption.Preemptor{Kind: cluster.KindPod, Namespace: "default", Name: "web"}
	ask := func() {
		result, err := planner.Preempt(web)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(result.Message)
		for _, v := range result.Victims {
			fmt.Println("evict", v.Name)
		}
	}
	ask()
	handler.OnDelete(pod("cache", "n1", 20))
	ask()
	// Output:
	// fits on n1 once 1 pod is evicted
	// evict batch
	// fits on n1 without preemption
}
