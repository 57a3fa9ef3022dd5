package command

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
)

// asked is what -o json prints.
type asked struct {
	Answer
	Result preemption.Result `json:"result"`
}

func askDump(t *testing.T, args ...string) *asked {
	t.Helper()
	stdout, stderr, status := output("", append(args, "-o", "json")...)
	require.Equal(t, 0, status, stderr)
	a := &asked{}
	require.NoError(t, json.Unmarshal([]byte(stdout), a))
	return a
}

// A DaemonSet comes to a real cluster of five nodes: its pod fits on four of them,
// and on the fifth one pod has to go, the one that is large enough alone.
func TestDaemonSetOnFiveNodes(t *testing.T) {
	dump := shared(t, "data/k8s-dumps/gke-5node.json.gz")
	set := shared(t, "data/k8s-dumps/gke-5node-incoming-daemonset.json.gz")
	fits := 0
	for _, node := range []string{"7kwg", "dmtd", "nvv4", "z7lx", "zpc5"} {
		node = "gke-tesg1-default-pool-ff7a1295-" + node
		a := askDump(t, "-f", dump, "-f", set, "-preemptor", "daemonset/default/fluentd-elasticsearch", "-node", node)
		if !strings.HasSuffix(node, "zpc5") {
			require.Equal(t, "fits", a.Status, node)
			require.Equal(t, node, a.Chosen)
			fits++
			continue
		}
		require.Equal(t, "preempt", a.Status, a.Message)
		require.Equal(t, node, a.Chosen)
		require.Equal(t, []string{"default/redis-master-evict-fd97bd94b-n9ns6"}, a.Victims)
		require.Equal(t, "cpu", a.Result.Victims[0].Reason.Resource)
	}
	require.Equal(t, 4, fits)
}

// The one pending pod of the dump has nobody below it, and nobody is evicted. (It
// fits by what the dump has, which leaves out every namespace but one.)
func TestNobodyBelow(t *testing.T) {
	dump := shared(t, "data/k8s-dumps/gke-5node-highprio.json.gz")
	a := askDump(t, "-f", dump)
	require.Equal(t, "pod default/redis-slave-unlimit-3-8fb949488-q474t", a.Name)
	require.NotEqual(t, "preempt", a.Status)
	require.Empty(t, a.Victims)
	stdout, _, status := output("", "-f", dump)
	require.Equal(t, 0, status)
	require.Contains(t, stdout, "There is nobody below it")
}

// Dumps of other clusters are read without a complaint and answer for a made-up pod.
func TestMadeUpPodOnRealClusters(t *testing.T) {
	for _, name := range []string{"gke-5node", "gke-5node-highprio", "kurl-3node", "openshift-2node"} {
		t.Run(name, func(t *testing.T) {
			dump := shared(t, "data/k8s-dumps/"+name+".json.gz")
			for _, rules := range []string{"v1.36", "v1.37"} {
				a := askDump(t, "-f", dump, "-cpu", "2", "-memory", "4Gi", "-priority", "1000", "-rules", rules)
				require.Contains(t, []string{"fits", "preempt", "unschedulable"}, a.Status, a.Message)
				stdout, stderr, status := output("", "-f", dump, "-cpu", "2", "-memory", "4Gi", "-priority", "1000", "-explain", "-rules", rules)
				require.Equal(t, 0, status)
				require.Empty(t, stderr)
				require.Contains(t, stdout, "made-up pod default/preemptor ")
			}
		})
	}
}

// Each node of real clusters can be asked about: what is told is true, and no pod of the node is
// forgotten.
func TestDrainRealClusters(t *testing.T) {
	for _, name := range []string{"gke-5node", "kurl-3node", "openshift-2node"} {
		dump := shared(t, "data/k8s-dumps/"+name+".json.gz")
		running := map[string][]string{}
		c := &config{files: list{dump}}
		p := startProgress(io.Discard)
		read, err := c.load(strings.NewReader(""), p)
		p.stop()
		require.NoError(t, err)
		for _, pod := range read.Snapshot.Pods {
			running[pod.Node] = append(running[pod.Node], pod.Namespace+"/"+pod.Name)
		}
		for _, node := range read.Snapshot.Nodes {
			stdout, stderr, status := output("", "-f", dump, "-drain", node.Name, "-verify", "-o", "json")
			require.Equal(t, 0, status, stderr)
			var w Whole
			require.NoError(t, json.Unmarshal([]byte(stdout), &w))
			var told []string
			for i := range w.Outcomes {
				if o := &w.Outcomes[i]; o.Because == "" || o.Because == "drained" {
					told = append(told, o.Namespace+"/"+o.Name)
				}
			}
			require.ElementsMatch(t, running[node.Name], told)
		}
	}
}
