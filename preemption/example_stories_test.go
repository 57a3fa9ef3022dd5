package preemption_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/preempt-go/preempt/preemption"
)

// The user stories of KEP-5710, each as a small cluster that is asked.

// gpuNodes are nodes with 8 GPUs each.
func gpuNodes(names ...string) []preemption.Node {
	var nodes []preemption.Node
	for _, name := range names {
		nodes = append(nodes, preemption.Node{Name: name, Allocatable: preemption.Resources{"gpu": 8}})
	}
	return nodes
}

// pods are pods of a group that ask for GPUs, one for each node given; on "" it is
// pending.
func pods(group string, priority int32, gpus int64, nodes ...string) []preemption.Pod {
	var list []preemption.Pod
	for i, node := range nodes {
		list = append(list, preemption.Pod{
			Name: fmt.Sprintf("%s-%d", group, i), Group: group, Node: node,
			Priority: &priority, Requests: preemption.Resources{"gpu": gpus},
		})
	}
	return list
}

func gang(name string, priority, minCount int32, mode preemption.DisruptionMode) preemption.PodGroup {
	return preemption.PodGroup{Name: name, Priority: &priority, MinCount: &minCount, Mode: mode}
}

func tell(s *preemption.Snapshot, o preemption.Options, p preemption.Preemptor) {
	r, err := o.Preempt(p, s)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Message)
	for _, v := range r.Victims {
		var where []string
		for _, pod := range v.Pods {
			where = append(where, pod.Name+" on "+pod.Node)
		}
		fmt.Printf("  %s %s goes: %s\n", v.Kind, v.Name, strings.Join(where, ", "))
	}
	for _, n := range r.Nominations {
		fmt.Printf("  %s to %s\n", n.Pod.Name, n.Node)
	}
}

// A training job makes no progress once a single pod is gone. One pod that asks for
// one node would break it: the whole job is the price, and a pod of its own on
// another node, though of the same priority, is the smaller one.
func ExamplePreempt_trainingJob() {
	alone := pods("alone", 10, 8, "n3")
	alone[0].Group = ""
	s := &preemption.Snapshot{
		Nodes:     gpuNodes("n1", "n2", "n3"),
		PodGroups: []preemption.PodGroup{gang("train", 10, 2, preemption.All)},
		Pods:      append(pods("train", 10, 8, "n1", "n2"), alone...),
	}
	urgent := int32(100)
	p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "urgent", Priority: &urgent, Requests: preemption.Resources{"gpu": 8}}}}
	tell(s, preemption.Options{}, p)

	s.Pods = s.Pods[:2] // without the pod of its own
	s.Nodes = s.Nodes[:2]
	tell(s, preemption.Options{}, p)
	// Output:
	// fits on n3 once 1 pod is evicted
	//   Pod alone-0 goes: alone-0 on n3
	//   urgent to n3
	// fits on n1 once pod group train (2 pods) is evicted
	//   PodGroup train goes: train-0 on n1, train-1 on n2
	//   urgent to n1
}

// A training job as preemptor evicts for all of its pods or for none: where only
// three of four find room, nobody is evicted.
func ExamplePreempt_jobAsPreemptor() {
	job := func(nodes ...string) *preemption.Snapshot {
		s := &preemption.Snapshot{
			Nodes:     gpuNodes(nodes...),
			PodGroups: []preemption.PodGroup{gang("job", 100, 4, preemption.All)},
			Pods:      pods("job", 100, 8, "", "", "", ""),
		}
		for _, node := range nodes {
			low := pods("low-on-"+node, 1, 4, node)
			low[0].Group = ""
			s.Pods = append(s.Pods, low...)
		}
		return s
	}
	p := preemption.Preemptor{Kind: preemption.KindPodGroup, Name: "job"}
	tell(job("n1", "n2", "n3"), preemption.Options{}, p)
	tell(job("n1", "n2", "n3", "n4"), preemption.Options{}, p)
	// Output:
	// no evictions help: room for 3 of the 4 pods that job needs
	// all 4 pods of job fit in the cluster once 4 pods are evicted
	//   Pod low-on-n1-0 goes: low-on-n1-0 on n1
	//   Pod low-on-n2-0 goes: low-on-n2-0 on n2
	//   Pod low-on-n3-0 goes: low-on-n3-0 on n3
	//   Pod low-on-n4-0 goes: low-on-n4-0 on n4
	//   job-0 to n1
	//   job-1 to n2
	//   job-2 to n3
	//   job-3 to n4
}

// replicas are two replicas of an inference server, each a leader and a worker on
// nodes of their own.
func replicas(mode preemption.DisruptionMode) *preemption.Snapshot {
	return &preemption.Snapshot{
		Nodes: gpuNodes("n1", "n2", "n3", "n4"),
		PodGroups: []preemption.PodGroup{
			gang("replica-a", 10, 2, mode), gang("replica-b", 20, 2, mode),
		},
		Pods: append(pods("replica-a", 10, 8, "n1", "n2"), pods("replica-b", 20, 8, "n3", "n4")...),
	}
}

// A replica that spans hosts serves only while all of its pods run: it goes whole,
// and it is the less important replica that goes.
func ExamplePreempt_multihostInference() {
	urgent := int32(100)
	p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "urgent", Priority: &urgent, Requests: preemption.Resources{"gpu": 8}}}}
	tell(replicas(preemption.All), preemption.Options{}, p)
	// Output:
	// fits on n1 once pod group replica-a (2 pods) is evicted
	//   PodGroup replica-a goes: replica-a-0 on n1, replica-a-1 on n2
	//   urgent to n1
}

// A replica that can serve in a degraded mode says so by disruption mode Single: it
// loses one worker and goes on with the rest.
func ExamplePreempt_degradedMode() {
	urgent := int32(100)
	p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "urgent", Priority: &urgent, Requests: preemption.Resources{"gpu": 8}}}}
	tell(replicas(preemption.Single), preemption.Options{}, p)
	// Output:
	// fits on n1 once 1 pod is evicted
	//   Pod replica-a-0 goes: replica-a-0 on n1
	//   urgent to n1
}

// What it costs to evict a training job depends on how long ago it saved its state.
// By the early text of the KEP it says so with a preemption priority above its
// scheduling priority, and may change it: hours of work are dear, and right after a
// checkpoint little is lost. Who wants to evict it has to be above that.
func ExampleOptions_preemptionCost() {
	s := &preemption.Snapshot{
		Nodes: gpuNodes("n1", "n2"),
		PodGroups: []preemption.PodGroup{
			gang("hours-ago", 10, 1, preemption.All), gang("just-saved", 10, 1, preemption.All),
		},
		Pods: append(pods("hours-ago", 10, 8, "n1"), pods("just-saved", 10, 8, "n2")...),
	}
	dear, urgent := int32(200), int32(100)
	s.PodGroups[0].PreemptionPriority = &dear
	p := preemption.Preemptor{Pods: []preemption.Pod{{Name: "urgent", Priority: &urgent, Requests: preemption.Resources{"gpu": 8}}}}
	tell(s, preemption.Options{Rules: preemption.KEP5710Alpha}, p)

	fmt.Println("hours-ago saves its state, just-saved goes on:")
	s.PodGroups[0].PreemptionPriority, s.PodGroups[1].PreemptionPriority = nil, &dear
	tell(s, preemption.Options{Rules: preemption.KEP5710Alpha}, p)
	// Output:
	// fits on n2 once pod group just-saved (1 pod) is evicted
	//   PodGroup just-saved goes: just-saved-0 on n2
	//   urgent to n2
	// hours-ago saves its state, just-saved goes on:
	// fits on n1 once pod group hours-ago (1 pod) is evicted
	//   PodGroup hours-ago goes: hours-ago-0 on n1
	//   urgent to n1
}
