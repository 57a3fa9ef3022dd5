package command

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNominationsOfOthers holds when the nomination of another pod counts: web would
// fit where low runs, were it not for big, which is nominated there.
func TestNominationsOfOthers(t *testing.T) {
	const objects = `"objects": [
		{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "4", "pods": "9"}}},
		{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "low", "namespace": "default"},
		 "spec": {"nodeName": "n1", "priority": 1, "containers": [{"name": "c", "resources": {"requests": {"cpu": "3"}}}]}, "status": {}},
		{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "big", "namespace": "default"},
		 "spec": {"priority": 100, "containers": [{"name": "c", "resources": {"requests": {"cpu": "4"}}}]}, "status": {"nominatedNodeName": "n1"}},
		{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default"},
		 "spec": {"priority": 10, "containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]}, "status": {}}
	], "preemptor": {"kind": "Pod", "namespace": "default", "name": "web"}`
	cases := map[string]struct{ fields, want string }{
		"not in a case of v1.36":              {`"rules": "v1.36"`, "preempt"},
		"in a case of v1.36 that asks for it": {`"rules": "v1.36", "nominated": true`, "unschedulable"},
		"in a case of any other generation":   {`"rules": "v1.37"`, "unschedulable"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			a := (&config{}).answerLine(nil, 1, []byte("{"+c.fields+", "+objects+"}"))
			require.Empty(t, a.Error)
			require.Equal(t, c.want, a.Status)
		})
	}
}
