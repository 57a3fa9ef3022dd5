package plugin

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/preempt-go/preempt/preemption"
)

// small is a rig over two nodes with a pod each.
func small(t *testing.T) (r *rig, nodes []*v1.Node, pods []*v1.Pod) {
	r = newRig(t, 100, 1<<30, `{}`)
	for i, name := range []string{"n1", "n2"} {
		n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1.NodeStatus{Allocatable: v1.ResourceList{
			v1.ResourceCPU: resource.MustParse("1"), v1.ResourceMemory: resource.MustParse("8Gi"), v1.ResourcePods: resource.MustParse("10"),
		}}}
		r.cache.AddNode(klog.Logger{}, n)
		p := benchPod("on-"+name, int32(10*i), 1000)
		p.Spec.NodeName = name
		require.NoError(t, r.cache.AddPod(klog.Logger{}, p))
		nodes, pods = append(nodes, n), append(pods, p)
	}
	web := benchPod("web", 1000, 1000)
	require.NoError(t, r.store(web).Add(web))
	return r, nodes, append(pods, web)
}

// asked is whom the plugin evicts for the last of pods, and why upstream answers if it does.
func asked(t *testing.T, r *rig, web *v1.Pod) (evicted []string, why *fallback) {
	t.Helper()
	c := r.cycle(t, web)
	_, why = r.ours.ask(t.Context(), web)
	o := r.ask(c, r.ours)
	require.Equal(t, "Success", o.Code, o.message)
	return o.Evicted, why
}

// What could not be told is told once it can be, and what was told is not lost meanwhile.
func TestMirrorRecovers(t *testing.T) {
	t.Run("from a node that cannot be read", func(t *testing.T) {
		r, nodes, pods := small(t)
		bad := nodes[0].DeepCopy()
		bad.Spec.Taints = []v1.Taint{{Key: "k", Effect: "Sometimes"}}
		r.cache.UpdateNode(klog.Logger{}, nodes[0], bad)
		for range 2 {
			evicted, why := asked(t, r, pods[2])
			require.Equal(t, []string{"on-n1"}, evicted)
			require.NotNil(t, why)
			require.Equal(t, ReasonObjects, why.reason)
		}
		r.cache.UpdateNode(klog.Logger{}, bad, nodes[0])
		evicted, why := asked(t, r, pods[2])
		require.Nil(t, why)
		require.Equal(t, []string{"on-n1"}, evicted)
	})
	t.Run("from a pod that cannot be read", func(t *testing.T) {
		r, _, pods := small(t)
		bad := pods[0].DeepCopy()
		bad.Spec.Containers[0].Resources.Requests[v1.ResourceMemory] = resource.MustParse("-1")
		require.NoError(t, r.cache.UpdatePod(klog.Logger{}, pods[0], bad))
		_, why := asked(t, r, pods[2])
		require.Equal(t, ReasonObjects, why.reason)
		require.Contains(t, why.detail, `Pod "default/on-n1"`)
		require.NoError(t, r.cache.RemovePod(klog.Logger{}, bad))
		require.NoError(t, r.cache.AddPod(klog.Logger{}, pods[0]))
		evicted, why := asked(t, r, pods[2])
		require.Nil(t, why)
		require.Equal(t, []string{"on-n1"}, evicted)
	})
	t.Run("from two pods of one name", func(t *testing.T) {
		r, _, pods := small(t)
		twin := pods[0].DeepCopy()
		twin.UID, twin.Spec.NodeName = types.UID("twin"), "n2"
		require.NoError(t, r.cache.AddPod(klog.Logger{}, twin))
		_, why := asked(t, r, pods[2])
		require.Equal(t, leave(ReasonObjects, "pod default/on-n1: it runs on n1 and on n2"), why)
		require.NoError(t, r.cache.RemovePod(klog.Logger{}, pods[0]))
		require.NoError(t, r.cache.RemovePod(klog.Logger{}, pods[1]))
		r.cycle(t, pods[2])
		answer, why := r.ours.ask(t.Context(), pods[2])
		require.Nil(t, why)
		require.Equal(t, preemption.Fits, answer.Verdict)
		require.Equal(t, "n1", answer.Domain)
	})
}

// A node that goes and comes back, in another place of the snapshot, is as before; so are
// its pods, which the scheduler's cache keeps meanwhile.
func TestMirrorFollowsNodesThatComeBack(t *testing.T) {
	r, nodes, pods := small(t)
	r.cycle(t, pods[2])
	_, why := r.ours.ask(t.Context(), pods[2])
	require.Nil(t, why)
	before := r.ours.mirror.planner.Snapshot()
	require.NoError(t, r.cache.RemoveNode(klog.Logger{}, nodes[0]))
	evicted, why := asked(t, r, pods[2])
	require.Nil(t, why)
	require.Equal(t, []string{"on-n2"}, evicted)
	require.Len(t, r.ours.mirror.planner.Snapshot().Pods, 1)
	r.cache.AddNode(klog.Logger{}, nodes[0])
	evicted, why = asked(t, r, pods[2])
	require.Nil(t, why)
	require.Equal(t, []string{"on-n1"}, evicted)
	require.Empty(t, cmp.Diff(before, r.ours.mirror.planner.Snapshot()))
}

// A claim that is gone holds nobody back any more.
func TestAClaimThatIsGone(t *testing.T) {
	r := newRig(t, 100, 100, "{}")
	claim := &v1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "disk"},
		Spec:       v1.PersistentVolumeClaimSpec{AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOncePod}},
	}
	claims := r.store(claim)
	require.NoError(t, claims.Add(claim))
	m, holder := r.ours.mirror, &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "holder", UID: "holder"}}
	source := v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: "disk"}}
	holder.Spec.Volumes = []v1.Volume{{Name: "disk", VolumeSource: source}}
	tokens := func() (held []string) {
		require.NoError(t, m.setPod(holder, ""))
		require.NoError(t, m.planner.View(func(v preemption.View) { held = v.Pod(refOf(holder)).Tokens }))
		return held
	}
	require.Len(t, tokens(), 1)
	require.NoError(t, claims.Delete(claim))
	require.Empty(t, tokens())
}
