package bench_test

import (
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// trace is a recorded cluster: how it stands, and who comes and goes.
type trace struct {
	start  preemption.Snapshot
	events []event // in order of time
}

// event is that a pod arrives, or that it ends if it runs.
type event struct {
	pod  preemption.Pod // of an end the name only
	at   time.Time
	ends bool
}

// table is a file of recorded data: rows by column.
type table struct {
	b       *testing.B
	columns map[string]int
	rows    [][]string
}

// recorded reads a file of the shared data beside the project, or where PREEMPT_SHARED
// says; without them the benchmark is skipped.
func recorded(b *testing.B, path ...string) *table {
	b.Helper()
	root := os.Getenv("PREEMPT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "shared")
	}
	f, err := os.Open(filepath.Join(append([]string{root, "data"}, path...)...))
	if err != nil {
		b.Skip("the recorded data are not there: ", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	rows, err := csv.NewReader(z).ReadAll()
	if err != nil {
		b.Fatal(err)
	}
	t := &table{b: b, columns: map[string]int{}, rows: rows[1:]}
	for i, name := range rows[0] {
		t.columns[name] = i
	}
	return t
}

func (t *table) text(row []string, column string) string {
	i, ok := t.columns[column]
	if !ok {
		t.b.Fatalf("no column %q", column)
	}
	return row[i]
}

// number is 0 where the field is empty.
func (t *table) number(row []string, column string) int64 {
	text := t.text(row, column)
	if text == "" {
		return 0
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.b.Fatal(err)
	}
	return v
}

// epoch is when the traces start.
var epoch = time.Unix(1_000_000_000, 0).UTC()

// borg is the Borg cell of 2011 or its part in folder, as far as machines and tasks
// go that run at the start. Machines that are promised beyond what they have are as
// large as what is promised, with full all of them; the 26 changes of machines are
// left out. Tasks are submitted and end as recorded; where they ran and who was evicted
// is not looked at.
func borg(b *testing.B, folder string, full bool) trace {
	machines := recorded(b, folder, "machines.csv.gz")
	t := trace{start: preemption.Snapshot{Time: epoch}}
	known := map[string]bool{}
	for _, row := range machines.rows {
		name := machines.text(row, "machine")
		known[name] = true
		has := cluster.Resources{
			cluster.CPU: machines.number(row, "t0_cpu_requested_ppm"), cluster.Memory: machines.number(row, "t0_mem_requested_ppm"),
		}
		if !full {
			has[cluster.CPU] = max(has[cluster.CPU], machines.number(row, "cpu_ppm"))
			has[cluster.Memory] = max(has[cluster.Memory], machines.number(row, "mem_ppm"))
		}
		t.start.Nodes = append(t.start.Nodes, cluster.Node{Name: name, Allocatable: has})
	}
	tasks := recorded(b, folder, "tasks_t0.csv.gz")
	for _, row := range tasks.rows {
		if p := borgTask(tasks, row); known[tasks.text(row, "machine")] {
			p.Node, p.Started = tasks.text(row, "machine"), epoch
			t.start.Pods = append(t.start.Pods, p)
		}
	}
	events := recorded(b, folder, "events.csv.gz")
	for _, row := range events.rows {
		at := epoch.Add(time.Duration(events.number(row, "t_us")) * time.Microsecond)
		switch events.text(row, "event") {
		case "SUBMIT":
			t.events = append(t.events, event{pod: borgTask(events, row), at: at})
		case "FINISH", "KILL", "FAIL":
			t.events = append(t.events, event{pod: preemption.Pod{Name: borgName(events, row)}, at: at, ends: true})
		}
	}
	return t
}

func borgName(t *table, row []string) string { return t.text(row, "job") + "-" + t.text(row, "task") }

func borgTask(t *table, row []string) preemption.Pod {
	priority := int32(t.number(row, "priority"))
	return preemption.Pod{Name: borgName(t, row), Priority: &priority, Requests: cluster.Resources{
		cluster.CPU: t.number(row, "cpu_ppm"), cluster.Memory: t.number(row, "mem_ppm"),
	}}
}

const gpu = "nvidia.com/gpu"

// openb is Alibaba's GPU cluster of 2023: filled with its pods in order of creation,
// each on the node where the least GPU is left, until the first one finds no place;
// the others arrive. Nobody ends, and the models that pods ask for are left out.
func openb(b *testing.B) trace { return openbBy(b, true) }

// openbBy is openb, where each pod goes to the node where the most GPU is left if it is not
// packed.
func openbBy(b *testing.B, packed bool) trace {
	nodes, pods := recorded(b, "openb", "nodes.csv.gz"), recorded(b, "openb", "pods.csv.gz")
	t := trace{start: preemption.Snapshot{Time: epoch}}
	var free []room
	for _, row := range nodes.rows {
		n := cluster.Node{Name: nodes.text(row, "name"), Allocatable: cluster.Resources{
			cluster.CPU: nodes.number(row, "cpu_milli"), cluster.Memory: nodes.number(row, "memory_bytes"),
		}}
		count := nodes.number(row, "gpu_count")
		if count > 0 {
			n.Devices = map[string]cluster.DevicePool{gpu: {Count: int32(count), Capacity: 1000}}
		}
		t.start.Nodes = append(t.start.Nodes, n)
		free = append(free, room{n.Allocatable[cluster.CPU], n.Allocatable[cluster.Memory], slices.Repeat([]int64{1000}, int(count))})
	}
	slices.SortStableFunc(pods.rows, func(x, y []string) int {
		return cmp.Compare(pods.number(x, "creation_s"), pods.number(y, "creation_s"))
	})
	full := false
	for _, row := range pods.rows {
		p, at := openbPod(pods, row), epoch.Add(time.Duration(pods.number(row, "creation_s"))*time.Second)
		best := -1
		for n := range free {
			if !full && free[n].fits(&p) && (best < 0 || free[n].gpus() < free[best].gpus() == packed && free[n].gpus() != free[best].gpus()) {
				best = n
			}
		}
		if !full {
			t.start.Time = at
		}
		if full = full || best < 0; full {
			t.events = append(t.events, event{pod: p, at: at})
			continue
		}
		free[best].take(&p)
		p.Node, p.Started = t.start.Nodes[best].Name, at
		t.start.Pods = append(t.start.Pods, p)
	}
	return t
}

// openbPod is a row as a pod: its priority by QoS class, its GPUs as devices.
func openbPod(t *table, row []string) preemption.Pod {
	priority := map[string]int32{"BE": 0, "Burstable": 100, "LS": 1000, "Guaranteed": 1000}[t.text(row, "qos")]
	p := preemption.Pod{Name: t.text(row, "name"), Priority: &priority, Requests: cluster.Resources{
		cluster.CPU: t.number(row, "cpu_milli"), cluster.Memory: t.number(row, "memory_bytes"),
	}}
	switch count, milli := t.number(row, "gpu_count"), t.number(row, "gpu_milli"); {
	case count == 1 && milli < 1000:
		p.Devices = []cluster.DeviceRequest{{Resource: gpu, Fraction: milli}}
	case count > 0:
		p.Devices = []cluster.DeviceRequest{{Resource: gpu, Count: int32(count)}}
	}
	return p
}

// room is what is free on a node while a cluster is filled.
type room struct {
	cpu, memory int64
	devices     []int64
}

func (r *room) gpus() (sum int64) {
	for _, v := range r.devices {
		sum += v
	}
	return sum
}

func (r *room) fits(p *preemption.Pod) bool {
	if r.cpu < p.Requests[cluster.CPU] || r.memory < p.Requests[cluster.Memory] {
		return false
	}
	if len(p.Devices) == 0 {
		return true
	}
	if d := p.Devices[0]; d.Count == 0 {
		return cluster.BestFit(r.devices, d.Fraction) >= 0
	}
	whole := int32(0)
	for _, v := range r.devices {
		if v == 1000 {
			whole++
		}
	}
	return whole >= p.Devices[0].Count
}

// take books p, which fits, and notes its devices.
func (r *room) take(p *preemption.Pod) {
	r.cpu -= p.Requests[cluster.CPU]
	r.memory -= p.Requests[cluster.Memory]
	if len(p.Devices) == 0 {
		return
	}
	d := &p.Devices[0]
	if d.Count == 0 {
		at := cluster.BestFit(r.devices, d.Fraction)
		r.devices[at] -= d.Fraction
		d.Assigned = []int32{int32(at)}
		return
	}
	for i := range r.devices {
		if r.devices[i] == 1000 && len(d.Assigned) < int(d.Count) {
			r.devices[i] = 0
			d.Assigned = append(d.Assigned, int32(i))
		}
	}
}
