package bench_test

import (
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/record"
)

// BenchmarkRecorded is one question to a recorded cluster as it stood at first, with
// the sizes and priorities of real pods: the arrivals one after the other, each as a
// shape never seen before that is above everybody. See BenchmarkArrivals for their life.
func BenchmarkRecorded(b *testing.B) {
	for _, data := range []struct {
		name string
		read func(b *testing.B) trace
	}{
		{"borg2011-full", func(b *testing.B) trace { return borg(b, "borg2011", true) }},
		{"openb", openb},
	} {
		b.Run("data="+data.name, func(b *testing.B) {
			if testing.Short() {
				b.Skip("large")
			}
			t := data.read(b)
			planner, err := preemption.NewPlanner(&t.start, preemption.Options{})
			if err != nil {
				b.Fatal(err)
			}
			pods := t.arrivals()
			b.ReportAllocs()
			verdicts := map[preemption.Verdict]int{}
			for i := 0; b.Loop(); i++ {
				pod := pods[i%len(pods)]
				pod.Requests = maps.Clone(pod.Requests)
				pod.Requests[cluster.CPU] += int64(i % 4096) // of a million: next to nothing, but another shape
				verdicts[mustPreempt(b, planner, preemption.Preemptor{Kind: cluster.KindPod, Pods: []preemption.Pod{pod}}).Verdict]++
			}
			b.ReportMetric(float64(len(t.start.Nodes)), "nodes")
			b.ReportMetric(float64(len(t.start.Pods)), "pods")
			b.ReportMetric(float64(verdicts[preemption.Feasible])/float64(b.N), "feasible/op")
		})
	}
}

// arrivals are the pods that arrive, each under another name and above everybody.
func (t *trace) arrivals() []preemption.Pod {
	var pods []preemption.Pod
	top := int32(math.MaxInt32)
	for i := range t.events {
		if e := &t.events[i]; !e.ends {
			pod := e.pod
			pod.Name, pod.Priority = "arrival-"+pod.Name, &top
			pods = append(pods, pod)
		}
	}
	return pods
}

// BenchmarkRecord: a pod leaves and comes back, and a pod of a shape that was seen asks
// whom it has to evict; with a journal that nobody reads, and without.
func BenchmarkRecord(b *testing.B) {
	for _, s := range []struct{ nodes, pods int }{{100, 3_000}, {5_000, 150_000}} {
		snap := gen.Fleet(s.nodes, s.pods/s.nodes, 1, gen.Uniform)
		ask := gen.FleetPod(1)
		for _, recorded := range []bool{false, true} {
			b.Run(fmt.Sprintf("recorded=%t/nodes=%d/pods=%d", recorded, s.nodes, s.pods), func(b *testing.B) {
				var pl interface {
					Remove(pod preemption.PodRef) error
					SetPod(p preemption.Pod) error
					Decide(p preemption.Preemptor) (preemption.Decision, error)
				}
				pl, err := preemption.NewPlanner(&snap, preemption.Options{})
				if recorded {
					pl, err = record.New(io.Discard, &snap, preemption.Options{})
				}
				if err != nil {
					b.Fatal(err)
				}
				i := 0
				b.ReportAllocs()
				for b.Loop() {
					pod := snap.Pods[i%len(snap.Pods)]
					i++
					if err := pl.Remove(refOf(pod)); err != nil {
						b.Fatal(err)
					}
					if err := pl.SetPod(pod); err != nil {
						b.Fatal(err)
					}
					if d, err := pl.Decide(ask); err != nil || d.Verdict != preemption.Feasible {
						b.Fatal(d, err)
					}
				}
			})
		}
	}
}

// agreeing is a constraint that every pod meets everywhere: with it a question takes the
// plain road, trial by trial, since no shortcut knows what it will say.
type agreeing struct{}

func (agreeing) Name() domain.Check                                           { return "agreeing" }
func (agreeing) Prepare(*cluster.Index, []*cluster.Pod) (domain.State, error) { return agreeing{}, nil }
func (agreeing) Remove(cluster.PodID, cluster.NodeID)                         {}
func (agreeing) Return(cluster.PodID, cluster.NodeID)                         {}
func (agreeing) Place(domain.MemberID, cluster.NodeID)                        {}
func (agreeing) Unplace(domain.MemberID, cluster.NodeID)                      {}
func (agreeing) Fits(domain.MemberID, cluster.NodeID) domain.Reason           { return domain.Reason{} }
func (agreeing) Clone() domain.State                                          { return agreeing{} }
func (agreeing) Scope() domain.Scope                                          { return domain.Scope{NodeLocal: true, Monotone: true} }

// BenchmarkVerify is one look over an answer (of=verify), beside what it takes to answer,
// from the snapshot to the result: with every shortcut (of=answer), and by trials (of=plain).
func BenchmarkVerify(b *testing.B) {
	plain := preemption.Options{Hooks: &preemption.Hooks{Constraints: []domain.Constraint{agreeing{}}}}
	for _, s := range sizes() {
		for _, q := range questions {
			b.Run(fmt.Sprintf("case=%s/%s", q.name, s), func(b *testing.B) {
				snap, p := q.ask(s)
				benchmarkVerify(b, &snap, p, plain)
			})
		}
		for _, q := range gangQuestions[:3] {
			b.Run(fmt.Sprintf("case=gang-%s/%s", q.name, s), func(b *testing.B) {
				snap, p := q.ask(s, min(q.members, s.nodes/2))
				benchmarkVerify(b, &snap, p, plain)
			})
		}
	}
}

func benchmarkVerify(b *testing.B, snap *preemption.Snapshot, p preemption.Preemptor, plain preemption.Options) {
	r, err := preemption.Preempt(p, snap)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("of=verify", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if problems := check.Verify(snap, preemption.Options{}, p, r); len(problems) > 0 {
				b.Fatal(problems[0])
			}
		}
	})
	for i, o := range []preemption.Options{{}, plain} {
		b.Run([]string{"of=answer", "of=plain"}[i], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := o.Preempt(p, snap); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

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
