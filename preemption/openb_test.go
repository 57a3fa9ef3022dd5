package preemption_test

import (
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
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

// gpuMilli counts thousandths of GPUs.
const gpuMilli = "example.com/gpu-milli"

// openbEpoch is second 0 of the trace.
var openbEpoch = time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC)

// wastedWork is the cluster of openb, filled as the scenario of best-effort pods says:
// those of LS, Burstable and Guaranteed first, then BE, each in order of creation and
// by best fit, as far as they go. Models of GPUs are ignored.
func wastedWork(t *testing.T) (s preemption.Snapshot) {
	type room struct {
		cpu, memory int64
		gpus        []int64
	}
	var rooms []room
	for _, row := range openb(t, "nodes.csv.gz") {
		cpu, memory, count := integer(t, row["cpu_milli"]), integer(t, row["memory_bytes"]), integer(t, row["gpu_count"])
		s.Nodes = append(s.Nodes, cluster.Node{Name: row["name"], Allocatable: preemption.Resources{
			cluster.CPU: cpu, cluster.Memory: memory, gpuMilli: 1000 * count,
		}})
		rooms = append(rooms, room{cpu, memory, slices.Repeat([]int64{1000}, int(count))})
	}
	rows := openb(t, "pods.csv.gz")
	slices.SortStableFunc(rows, func(a, b map[string]string) int {
		last := func(row map[string]string) int64 {
			if row["qos"] == "BE" {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(last(a), last(b)), cmp.Compare(integer(t, a["creation_s"]), integer(t, b["creation_s"])))
	})
	latest := int64(0)
	for _, row := range rows {
		p := openbPod(t, row)
		cpu, memory, created := integer(t, row["cpu_milli"]), integer(t, row["memory_bytes"]), integer(t, row["creation_s"])
		best, least := -1, [2]int64{}
		for n, r := range rooms {
			if r.cpu < cpu || r.memory < memory || len(p.Devices) > 0 && !hasRoom(r.gpus, p.Devices[0]) {
				continue
			}
			left := [2]int64{0, r.cpu}
			for _, v := range r.gpus {
				left[0] += v
			}
			if best < 0 || slices.Compare(left[:], least[:]) < 0 {
				best, least = n, left
			}
		}
		if best < 0 {
			continue
		}
		r := &rooms[best]
		r.cpu, r.memory = r.cpu-cpu, r.memory-memory
		p.Requests = preemption.Resources{cluster.CPU: cpu, cluster.Memory: memory}
		if len(p.Devices) > 0 {
			take(r.gpus, p.Devices[0])
			p.Requests[gpuMilli] = max(1000*int64(p.Devices[0].Count), p.Devices[0].Fraction)
		}
		p.Devices, p.Node, p.Started = nil, s.Nodes[best].Name, openbEpoch.Add(time.Duration(created)*time.Second)
		s.Pods = append(s.Pods, p)
		latest = max(latest, created)
	}
	s.Time = openbEpoch.Add(time.Duration(latest) * time.Second)
	return s
}

// itpGangs are the sizes of the gangs of itp2021 whose pods have 8 GPUs each, in order.
func itpGangs(t *testing.T) (sizes []int) {
	for _, row := range shared(t, "itp2021", "jobs.csv.gz") {
		if pods := integer(t, row["pods"]); pods > 1 && row["gpus_per_pod"] == "8" {
			sizes = append(sizes, int(pods))
		}
	}
	return sizes
}

// hoursLost is how many hours of GPUs the victims had worked for.
func hoursLost(s *preemption.Snapshot, started map[string]preemption.Pod, r *preemption.Result) float64 {
	lost := 0.0
	for _, v := range r.Victims {
		for _, p := range v.Pods {
			pod := started[p.Name]
			lost += float64(pod.Requests[gpuMilli]) / 1000 * s.Time.Sub(pod.Started).Hours()
		}
	}
	return lost
}

// TestLessWorkIsWasted: gangs of whole nodes, and single pods, at LS priority enter
// a real cluster full of best-effort pods. With the work lost as the objective, fewer
// hours of GPUs are lost than by upstream's order.
func TestLessWorkIsWasted(t *testing.T) {
	t.Parallel()
	s := wastedWork(t)
	started := map[string]preemption.Pod{}
	for _, p := range s.Pods {
		started[p.Name] = p
	}
	n := 30 // arrivals of gangs, and half as many as of single pods
	if *long == 0 {
		n = 9
	}
	work := preemption.CostOptions{Objective: true, Tariff: disruption.Tariff{Work: map[string]disruption.Rate{gpuMilli: {Price: 1}}}}
	for _, load := range []struct {
		name        string
		sizes       []int
		wantAtLeast int // arrivals that evict
	}{
		{"the first gangs of itp2021, pods of 8 GPUs", itpGangs(t)[:n], n * 5 / 6},
		{"single pods of 8 GPUs", slices.Repeat([]int{1}, 2*n), n * 5 / 3},
	} {
		lost := map[string]float64{}
		for name, o := range map[string]preemption.Options{"upstream": {}, "wasted work": {Cost: work}} {
			planner, err := preemption.NewPlanner(&s, o)
			require.NoError(t, err)
			evicting := 0
			for i, size := range load.sizes {
				r, err := planner.Preempt(arrival(i, size))
				require.NoError(t, err)
				if r.Verdict != preemption.Feasible {
					continue
				}
				evicting++
				lost[name] += hoursLost(&s, started, r)
				require.NoError(t, planner.Evict(r))
				for _, n := range r.Nominations {
					require.NoError(t, planner.Bind(n.Pod, n.Node))
				}
			}
			require.GreaterOrEqual(t, evicting, load.wantAtLeast, "%s, %s", load.name, name)
		}
		t.Logf("%s: %.0f GPU-hours lost by upstream's order, %.0f with wasted work as the objective (%.0f %% less)",
			load.name, lost["upstream"], lost["wasted work"], 100*(1-lost["wasted work"]/lost["upstream"]))
		require.Less(t, lost["wasted work"], lost["upstream"])
	}
}

// arrival is a gang, or a single pod, at LS priority.
func arrival(i, size int) preemption.Preemptor {
	priority, least := int32(1000), int32(size)
	p := preemption.Preemptor{Kind: cluster.KindPod}
	if size > 1 {
		p.Kind = cluster.KindPodGroup
		p.Group = &preemption.PodGroup{Name: fmt.Sprintf("gang-%d", i), Priority: &priority, MinCount: &least}
	}
	for k := range size {
		p.Pods = append(p.Pods, preemption.Pod{
			Name: fmt.Sprintf("arrival-%d-%d", i, k), Priority: &priority,
			Requests: preemption.Resources{cluster.CPU: 64_000, gpuMilli: 8000},
		})
	}
	return p
}
