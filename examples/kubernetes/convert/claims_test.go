package convert_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

const exclusiveClaim = `
{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "db"}, "spec": {"accessModes": ["ReadWriteOncePod"]}}
{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "shared", "namespace": "db"}, "spec": {"accessModes": ["ReadWriteMany"]}}
{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "4", "pods": "9"}}}
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "old", "namespace": "db"}, "spec": {"nodeName": "n1", "priority": 1, "containers": [{"name": "c"}],
 "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}, {"name": "w", "persistentVolumeClaim": {"claimName": "shared"}}]}}
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "other", "namespace": "db"}, "spec": {"nodeName": "n1", "priority": 1, "containers": [{"name": "c"}],
 "volumes": [{"name": "w", "persistentVolumeClaim": {"claimName": "shared"}}]}}
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "new", "namespace": "db"}, "spec": {"priority": 9, "containers": [{"name": "c"}],
 "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}, {"name": "w", "persistentVolumeClaim": {"claimName": "shared"}}]}}
`

// TestExclusiveClaims: a claim with access mode ReadWriteOncePod is used by one pod
// at a time, so the pod that has it must go, and nobody else.
func TestExclusiveClaims(t *testing.T) {
	objects, err := convert.Read("claims.json", strings.NewReader(exclusiveClaim))
	require.NoError(t, err)
	dump, err := convert.Options{}.Dump(objects)
	require.NoError(t, err)
	tokens := map[string][]string{}
	for _, p := range dump.Snapshot.Pods {
		tokens[p.Name] = p.Tokens
	}
	require.Equal(t, map[string][]string{"old": {"claim db/data"}, "other": nil, "new": {"claim db/data"}}, tokens)

	r, err := preemption.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Namespace: "db", Name: "new"}, &dump.Snapshot)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict, r.Message)
	require.Len(t, r.Victims, 1)
	require.Equal(t, "old", r.Victims[0].Name)
}
