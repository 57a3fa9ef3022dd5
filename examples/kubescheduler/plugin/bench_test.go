package plugin

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

// BenchmarkPostFilter asks about a pod that fits nowhere in a full cluster of 30 pods a node, each
// time after some nodes have changed: the whole step, but for the calls of the API. The first
// question, which tells the planner everything, is not timed.
func BenchmarkPostFilter(b *testing.B) {
	for _, nodes := range []int{100, 1000, 5000} {
		if testing.Short() && nodes > 100 {
			continue
		}
		for _, changes := range []int{1, 100} {
			for _, by := range []string{"plugin", "upstream-every-node", "upstream-sampling"} {
				b.Run(fmt.Sprintf("nodes=%d/changed=%d/by=%s", nodes, changes, by), func(b *testing.B) {
					percent, minimum := int32(100), int32(1<<30)
					if by == "upstream-sampling" {
						percent, minimum = 10, 100
					}
					f := newFull(b, newRig(b, percent, minimum, `{}`), nodes)
					var p fwk.PostFilterPlugin = f.rig.theirs
					if by == "plugin" {
						p = f.rig.ours
					}
					f.question(b, p)
					b.ReportAllocs()
					for b.Loop() {
						b.StopTimer()
						for range changes {
							f.change(b)
						}
						c := f.cycle(b, f.preemptor)
						b.StartTimer()
						if o := f.ask(c, p); len(o.Evicted) == 0 {
							b.Fatal("nobody is evicted: ", o.message)
						}
					}
				})
			}
		}
	}
}

// full is a rig over nodes on which 30 pods of ten priorities leave no room.
type full struct {
	*rig
	pods      []*v1.Pod
	preemptor *v1.Pod
	next      int
}

const podsOnNode = 30

func newFull(b *testing.B, r *rig, nodes int) *full {
	f := &full{rig: r}
	start := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for i := range nodes {
		name := fmt.Sprintf("n%05d", i)
		f.cache.AddNode(klog.Logger{}, &v1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{v1.LabelHostname: name}},
			Status: v1.NodeStatus{Allocatable: v1.ResourceList{
				v1.ResourceCPU: *resource.NewQuantity(podsOnNode, resource.DecimalSI), v1.ResourceMemory: resource.MustParse("120Gi"), v1.ResourcePods: resource.MustParse("110"),
			}},
		})
		for range podsOnNode {
			n := len(f.pods)
			p := benchPod(fmt.Sprintf("p%06d", n), int32(n*7919%10*10), 1000)
			p.Spec.NodeName = name
			p.Status.StartTime = &metav1.Time{Time: start.Add(time.Duration(n*7919%100_000) * time.Second)}
			require.NoError(b, f.cache.AddPod(klog.Logger{}, p))
			require.NoError(b, f.store(p).Add(p))
			f.pods = append(f.pods, p)
		}
	}
	f.preemptor = benchPod("preemptor", 1000, 3500)
	require.NoError(b, f.store(f.preemptor).Add(f.preemptor))
	return f
}

func benchPod(name string, priority int32, cpuMilli int64) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Labels: map[string]string{"app": "a"}},
		Spec: v1.PodSpec{
			Priority: &priority, SchedulerName: v1.DefaultSchedulerName,
			Containers: []v1.Container{{Name: "main", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
				v1.ResourceCPU: *resource.NewMilliQuantity(cpuMilli, resource.DecimalSI), v1.ResourceMemory: *resource.NewQuantity(4<<30, resource.BinarySI),
			}}}},
		},
	}
}

// change lets another pod run in place of one, on the next node.
func (f *full) change(b *testing.B) {
	i := f.next * (podsOnNode + 1) % len(f.pods)
	f.next++
	old := f.pods[i]
	p := old.DeepCopy()
	p.Name = fmt.Sprintf("q%06d-%d", i, f.next)
	p.UID = types.UID(p.Name)
	require.NoError(b, f.cache.RemovePod(klog.Logger{}, old))
	require.NoError(b, f.cache.AddPod(klog.Logger{}, p))
	f.pods[i] = p
}

func (f *full) question(b *testing.B, p fwk.PostFilterPlugin) {
	if o := f.ask(f.cycle(b, f.preemptor), p); len(o.Evicted) == 0 {
		b.Fatal("nobody is evicted: ", o.message)
	}
}
