package simulator

import (
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/preempt-go/preempt/preemption"
)

// Recorded are the names of the farms that [ReadRecorded] reads.
var Recorded = []string{"borg2011", "borg2011-full", "borg2011/cell500", "borg2011/cell500-full", "itp2021", "openb", "philly2017"}

// ReadRecorded reads a recorded farm from a folder, in the form that README.md there
// describes, and says until when it was recorded; 0: until its jobs are done.
//
// Machines of borg2011 that are promised beyond what they have are as large as what is
// promised; with -full all of them. Tasks that wait at the beginning are left out: what for is
// not recorded. A task is a job that arrives once, and has to run as
// long as it did the last time; where that is not known, for ever. Pods of openb never end,
// and their GPUs are counted in thousandths. itp2021 runs on 160 nodes of 8 GPUs,
// philly2017 on 96; jobs have priority 1000 as long as their tenant stays within its mean,
// if nobody waited, and 0 beyond.
func ReadRecorded(folder, name string) (f *Farm, until time.Duration, err error) {
	base, full := strings.CutSuffix(name, "-full")
	var tables []*table
	read := func(file string) *table {
		t := readTable(folder, file)
		tables = append(tables, t)
		return t
	}
	switch base {
	case "borg2011", "borg2011/cell500":
		f, until = borg(read(base+"/machines.csv.gz"), read(base+"/tasks_t0.csv.gz"), read(base+"/events.csv.gz"), full), 5611*time.Second
	case "itp2021":
		f = tenants(read("itp2021/jobs.csv.gz"), "cluster", 160)
	case "philly2017":
		f = tenants(read("philly2017/jobs.csv.gz"), "vc", 96)
	case "openb":
		f, until = openb(read("openb/nodes.csv.gz"), read("openb/pods.csv.gz"))
	}
	if f == nil || full && !strings.HasPrefix(base, "borg2011") {
		return nil, 0, fmt.Errorf("simulator: trace %q: want %s", name, strings.Join(Recorded, ", "))
	}
	for _, t := range tables {
		err = errors.Join(err, t.err)
	}
	return f, until, err
}

// borg is the Borg cell of 2011, or a part of it. Amounts are millionths of the largest
// machine.
func borg(machines, tasks, events *table, full bool) *Farm {
	f := &Farm{Measured: "cpu", Unit: "machine-hours", PerUnit: 1_000_000}
	known := map[string]bool{}
	for _, row := range machines.rows {
		n := preemption.Node{
			Name: machines.text(row, "machine"), Allocatable: machines.amounts(row, "t0_cpu_requested_ppm", "t0_mem_requested_ppm"),
		}
		if !full {
			for r, v := range machines.amounts(row, "cpu_ppm", "mem_ppm") {
				n.Allocatable[r] = max(n.Allocatable[r], v)
			}
		}
		known[n.Name] = true
		f.Nodes = append(f.Nodes, n)
	}
	number := map[string]int{}                           // of a task, among the jobs
	began, ended := []time.Duration{}, []time.Duration{} // the last time; -1: it did not
	add := func(t *table, row []string, at time.Duration, node string) {
		name := t.text(row, "job") + "-" + t.text(row, "task")
		if _, ok := number[name]; ok || node != "" && !known[node] {
			return
		}
		number[name] = len(f.Jobs)
		f.Jobs = append(f.Jobs, Job{
			Name: name, Priority: int32(t.number(row, "priority")), Requests: t.amounts(row, "cpu_ppm", "mem_ppm"), Arrives: at, Node: node,
		})
		began, ended = append(began, at), append(ended, -1)
	}
	for _, row := range tasks.rows {
		if at := tasks.text(row, "machine"); at != "" {
			add(tasks, row, 0, at)
		}
	}
	for _, row := range events.rows {
		at, event := time.Duration(events.number(row, "t_us"))*time.Microsecond, events.text(row, "event")
		if event == "SUBMIT" {
			add(events, row, at, "")
		}
		j, ok := number[events.text(row, "job")+"-"+events.text(row, "task")]
		switch {
		case !ok:
		case event == "SCHEDULE":
			began[j], ended[j] = at, -1
		case event == "FINISH" || event == "KILL" || event == "FAIL":
			ended[j] = at
		}
	}
	for j := range f.Jobs {
		if ended[j] >= 0 {
			f.Jobs[j].Takes = max(ended[j]-began[j], time.Second)
		}
	}
	return f
}

// openb is Alibaba's farm of 2023.
func openb(nodes, pods *table) (f *Farm, until time.Duration) {
	f = &Farm{Measured: GPU, Unit: "GPU-hours", PerUnit: 1000}
	for _, row := range nodes.rows {
		n := preemption.Node{Name: nodes.text(row, "name"), Allocatable: nodes.amounts(row, "cpu_milli", "memory_bytes")}
		n.Allocatable[GPU] = 1000 * nodes.number(row, "gpu_count")
		f.Nodes = append(f.Nodes, n)
	}
	for _, row := range pods.rows {
		j := Job{
			Name: pods.text(row, "name"), Requests: pods.amounts(row, "cpu_milli", "memory_bytes"), Arrives: pods.seconds(row, "creation_s"),
			Priority: map[string]int32{"BE": 0, "Burstable": 100, "LS": 1000, "Guaranteed": 1000}[pods.text(row, "qos")],
		}
		j.Requests[GPU] = pods.number(row, "gpu_count") * pods.number(row, "gpu_milli")
		until = max(until, j.Arrives)
		f.Jobs = append(f.Jobs, j)
	}
	return f, until + time.Hour
}

// tenants is a farm of jobs that are whole nodes or parts of one, of several tenants.
func tenants(jobs *table, tenant string, nodes int) *Farm {
	f := &Farm{Measured: GPU, Unit: "GPU-hours"}
	for i := range nodes {
		f.Nodes = append(f.Nodes, preemption.Node{Name: fmt.Sprintf("n%04d", i), Allocatable: preemption.Resources{GPU: 8}})
	}
	of := map[string][]int{}
	for i, row := range jobs.rows {
		f.Jobs = append(f.Jobs, Job{
			Name: jobs.text(row, tenant) + "-" + jobs.text(row, "job"), Pods: int(jobs.number(row, "pods")), Requests: preemption.Resources{GPU: jobs.number(row, "gpus_per_pod")},
			Arrives: jobs.seconds(row, "submit_s"), Takes: jobs.seconds(row, "duration_s"),
		})
		of[jobs.text(row, tenant)] = append(of[jobs.text(row, tenant)], i)
	}
	total := 0.0
	shares := map[string]float64{}
	for name, list := range of {
		for _, i := range list {
			shares[name] += float64(gpus(&f.Jobs[i])) * f.Jobs[i].Takes.Seconds()
		}
		total += math.Round(shares[name])
	}
	for name, list := range of {
		inQuota(f.Jobs, list, int64(shares[name]/total*8*float64(nodes)))
	}
	return f
}

func gpus(j *Job) int64 { return j.Requests[GPU] * int64(max(j.Pods, 1)) }

// inQuota gives the jobs of a tenant the higher priority as long as those of them that run,
// if nobody waits, have no more GPUs than its quota.
func inQuota(jobs []Job, list []int, quota int64) {
	slices.SortFunc(list, func(a, b int) int { return cmp.Or(cmp.Compare(jobs[a].Arrives, jobs[b].Arrives), a-b) })
	var running []int // in quota
	for _, i := range list {
		used := gpus(&jobs[i])
		running = slices.DeleteFunc(running, func(r int) bool { return jobs[r].Arrives+jobs[r].Takes <= jobs[i].Arrives })
		for _, r := range running {
			used += gpus(&jobs[r])
		}
		if used <= quota {
			jobs[i].Priority = 1000
			running = append(running, i)
		}
	}
}

// table is a file of recorded data, gzipped CSV: rows by column. What is wrong with it is
// noted, for the reader to look at in the end.
type table struct {
	name    string
	columns map[string]int
	rows    [][]string
	err     error
}

func readTable(folder, name string) *table {
	t := &table{name: name, columns: map[string]int{}}
	f, err := os.Open(filepath.Join(folder, filepath.FromSlash(name)))
	if err != nil {
		t.err = fmt.Errorf("simulator: the recorded data: %w", err)
		return t
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.err = fmt.Errorf("simulator: %s: %w", name, err)
		return t
	}
	rows, err := csv.NewReader(z).ReadAll()
	if err != nil || len(rows) == 0 {
		t.err = fmt.Errorf("simulator: %s: no table: %w", name, err)
		return t
	}
	t.rows = rows[1:]
	for i, column := range rows[0] {
		t.columns[column] = i
	}
	return t
}

func (t *table) text(row []string, column string) string {
	i, ok := t.columns[column]
	if !ok {
		t.err = fmt.Errorf("simulator: %s has no column %q", t.name, column)
		return ""
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
		t.err = fmt.Errorf("simulator: %s: %s: %w", t.name, column, err)
	}
	return v
}

func (t *table) seconds(row []string, column string) time.Duration {
	return time.Duration(t.number(row, column)) * time.Second
}

// amounts are the columns of CPU and memory, by name of the resource.
func (t *table) amounts(row []string, cpu, memory string) preemption.Resources {
	return preemption.Resources{"cpu": t.number(row, cpu), "memory": t.number(row, memory)}
}
