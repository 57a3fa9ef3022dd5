package preemption_test

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// openb reads a file of the openb trace (Alibaba, 2023).
func openb(t *testing.T, name string) []map[string]string { return shared(t, "openb", name) }

// shared reads a file of a trace from the folder of shared data beside the project,
// or where PREEMPT_SHARED says: a map for each row.
func shared(t *testing.T, trace, name string) []map[string]string {
	root := os.Getenv("PREEMPT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "shared")
	}
	f, err := os.Open(filepath.Join(root, "data", trace, name))
	if err != nil {
		t.Skip("not there:", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	rows, err := csv.NewReader(z).ReadAll()
	require.NoError(t, err)
	var list []map[string]string
	for _, row := range rows[1:] {
		m := map[string]string{}
		for i, column := range rows[0] {
			m[column] = row[i]
		}
		list = append(list, m)
	}
	return list
}

func integer(t *testing.T, text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err)
	return n
}

// openbPod is a row as a pod: its priority by QoS class, its GPUs as devices. What
// else it asks for is left out, so that devices alone decide.
func openbPod(t *testing.T, row map[string]string) preemption.Pod {
	priority := map[string]int32{"BE": 0, "Burstable": 100, "LS": 1000, "Guaranteed": 1000}[row["qos"]]
	p := preemption.Pod{Name: row["name"], Priority: &priority}
	switch count, milli := integer(t, row["gpu_count"]), integer(t, row["gpu_milli"]); {
	case count == 1 && milli < 1000:
		p.Devices = []cluster.DeviceRequest{{Resource: gpu, Fraction: milli}}
	case count > 0:
		p.Devices = []cluster.DeviceRequest{{Resource: gpu, Count: int32(count)}}
	}
	return p
}

// openbCluster fills every eighth node with the GPU pods in order of the list, as
// far as they go, each on the node with the least room that is enough.
func openbCluster(t *testing.T) (s preemption.Snapshot) {
	var free [][]int64 // of each node
	for i, row := range openb(t, "nodes.csv.gz") {
		if count := integer(t, row["gpu_count"]); i%8 == 0 && count > 0 {
			s.Nodes = append(s.Nodes, cluster.Node{
				Name: row["name"], Devices: map[string]cluster.DevicePool{gpu: {Count: int32(count), Capacity: 1000}},
			})
			free = append(free, slices.Repeat([]int64{1000}, int(count)))
		}
	}
	for _, row := range openb(t, "pods.csv.gz") {
		p := openbPod(t, row)
		if len(p.Devices) == 0 {
			continue
		}
		best, least := -1, int64(0)
		for n := range free {
			if !hasRoom(free[n], p.Devices[0]) {
				continue
			}
			left := int64(0)
			for _, v := range free[n] {
				left += v
			}
			if best < 0 || left < least {
				best, least = n, left
			}
		}
		if best >= 0 {
			p.Node = s.Nodes[best].Name
			p.Devices[0].Assigned = take(free[best], p.Devices[0])
			s.Pods = append(s.Pods, p)
		}
	}
	return s
}

// take takes the devices of a request that has room, the fullest first.
func take(free []int64, r cluster.DeviceRequest) (devices []int32) {
	if r.Count == 0 {
		at := cluster.BestFit(free, r.Fraction)
		free[at] -= r.Fraction
		return []int32{int32(at)}
	}
	for i := range free {
		if free[i] == 1000 && len(devices) < int(r.Count) {
			free[i] = 0
			devices = append(devices, int32(i))
		}
	}
	return devices
}

// On the real cluster the victims of a pod with a fraction of a GPU are pods of one
// GPU, and those of a pod with whole GPUs clear as many.
func TestPodsOfOpenbGetVictimsThatFreeTheirGPUs(t *testing.T) {
	t.Parallel()
	s := openbCluster(t)
	planner, err := preemption.NewPlanner(&s, preemption.Options{})
	require.NoError(t, err)
	asked := map[string]int{}
	for i, row := range openb(t, "pods.csv.gz") {
		p := openbPod(t, row)
		if i%20 != 0 || len(p.Devices) == 0 {
			continue
		}
		p.Name = fmt.Sprintf("again-%d", i)
		*p.Priority = 1000
		result, err := planner.Preempt(preemption.Preemptor{Pods: []preemption.Pod{p}})
		require.NoError(t, err)
		require.Empty(t, result.Warnings)
		kind := "whole"
		if p.Devices[0].Fraction > 0 {
			kind = "fraction"
		}
		asked[kind+": "+string(result.Verdict)]++
		if result.Verdict != preemption.Infeasible {
			checkDevices(t, &s, p.Devices[0], result)
		}
		if kind == "fraction" && result.Verdict == preemption.Feasible {
			devices := map[int32]bool{}
			for _, v := range result.Victims {
				at := slices.IndexFunc(s.Pods, func(p preemption.Pod) bool { return p.Name == v.Name })
				for _, device := range s.Pods[at].Devices[0].Assigned {
					devices[device] = true
				}
			}
			require.Len(t, devices, 1, "%s: the victims hold several devices", p.Name)
		}
	}
	t.Log(len(s.Nodes), "nodes", len(s.Pods), "pods", asked)
	require.NotZero(t, asked["fraction: "+string(preemption.Feasible)])
	require.NotZero(t, asked["whole: "+string(preemption.Feasible)])
}
