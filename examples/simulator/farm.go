package simulator

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/preempt-go/preempt/preemption"
)

// Farm is what a simulation is about: nodes, the jobs that come, and the nodes that come
// and go. Times are counted from its beginning.
type Farm struct {
	Nodes   []preemption.Node
	Jobs    []Job
	Changes []Change

	Measured string // the resource that utilisation and work are measured by
	Unit     string // of work, as in "GPU-hours"
	PerUnit  int64  // how much of the resource a unit is: 1000 for cores of "cpu"; 0: 1
}

// Job is a pod or, of several, a gang that runs whole.
type Job struct {
	Name     string // of its pod; the pods of a gang are called Name-0, Name-1, ...
	Priority int32
	Pods     int                  // at most 1,000; 0 and 1: a lone pod
	Requests preemption.Resources // of each pod
	Within   string               // node label in one value of which a gang runs; empty: anywhere
	Arrives  time.Duration
	Takes    time.Duration // how long it has to run; 0: for ever
	Node     string        // where a lone pod runs from the beginning; empty: it arrives
}

// Change is a node that comes or goes.
type Change struct {
	At   time.Duration
	Node preemption.Node
	Gone bool // it fails, with everybody who runs there; only its name is read
}

// check says what is wrong with a farm, beyond what the planner says.
func (f *Farm) check() error {
	var errs []error
	bad := func(kind, name, format string, args ...any) {
		if len(errs) < 20 {
			errs = append(errs, fmt.Errorf("simulator: %s %q: %s", kind, name, fmt.Sprintf(format, args...)))
		}
	}
	names := map[string]bool{}
	for i := range f.Jobs {
		j := &f.Jobs[i]
		switch {
		case j.Name == "" || names[j.Name]:
			bad("job", j.Name, "its name is not unique")
		case j.Pods < 0 || j.Pods > 1000:
			bad("job", j.Name, "Pods: %d is not 0 to 1,000", j.Pods)
		case j.Arrives < 0 || j.Takes < 0:
			bad("job", j.Name, "Arrives or Takes is below zero")
		case j.Node != "" && j.Pods > 1:
			bad("job", j.Name, "Node: %q is set for a gang", j.Node)
		}
		names[j.Name] = true
		for k := range j.Pods {
			if name := podName(j, k); j.Pods > 1 && names[name] {
				bad("job", j.Name, "its pod %q has the name of a job", name)
			}
		}
	}
	if f.PerUnit < 0 {
		bad("farm", f.Measured, "PerUnit: %d is below zero", f.PerUnit)
	}
	return errors.Join(errs...)
}

// podName is the name of a job's i-th pod.
func podName(j *Job, i int) string {
	if j.Pods <= 1 {
		return j.Name
	}
	return j.Name + "-" + strconv.Itoa(i)
}

// byArrival are the jobs in order of arrival, those that run from the beginning first: a
// job is its number in it.
func (f *Farm) byArrival() []*Job {
	jobs := make([]*Job, len(f.Jobs))
	for i := range f.Jobs {
		jobs[i] = &f.Jobs[i]
	}
	running := func(j *Job) int {
		if j.Node != "" {
			return 0
		}
		return 1
	}
	slices.SortFunc(jobs, func(a, b *Job) int {
		return cmp.Or(running(a)-running(b), cmp.Compare(a.Arrives, b.Arrives), cmp.Compare(a.Name, b.Name))
	})
	return jobs
}

// The names of a synthetic farm.
const (
	GPU  = "example.com/gpu"
	Rack = "example.com/rack"
)

// Synthetic says what a farm of GPUs is like that is drawn by chance: nodes of 8 GPUs in
// racks of 10, single jobs of 1 to 8 GPUs and gangs of 2 and 4 nodes within a rack, batch of
// priority 0, research of 100, production of 1000.
type Synthetic struct {
	Seed  uint64
	Nodes int
	Jobs  int
	Load  float64 // how much of the GPUs the jobs ask for on average; by day more, by night less
}

// kinds are the jobs of a synthetic farm: how many of a thousand, and how long, on average.
// Gangs are as frequent as in a recorded farm, itp2021: 1.2 % of the jobs.
var kinds = []struct {
	share, pods int
	gpus        int64
	takes       time.Duration
}{
	{500, 1, 1, time.Hour}, {150, 1, 2, time.Hour}, {150, 1, 4, 2 * time.Hour}, {188, 1, 8, 3 * time.Hour},
	{8, 2, 8, 6 * time.Hour}, {4, 4, 8, 6 * time.Hour},
}

// Farm draws it: equal seeds, equal farms.
func (y Synthetic) Farm() *Farm {
	r := rand.New(rand.NewPCG(y.Seed, 1))
	f := &Farm{Measured: GPU, Unit: "GPU-hours"}
	for i := range y.Nodes {
		f.Nodes = append(f.Nodes, preemption.Node{
			Name: fmt.Sprintf("n%05d", i), Labels: map[string]string{Rack: fmt.Sprintf("r%04d", i/10)},
			Allocatable: preemption.Resources{GPU: 8},
		})
	}
	mean := 0.0 // GPU-seconds of a job
	for _, k := range kinds {
		mean += float64(k.share) / 1000 * float64(k.pods) * float64(k.gpus) * k.takes.Seconds()
	}
	between := mean / (y.Load * 8 * float64(y.Nodes)) // seconds between two arrivals
	at := 0.0
	for i := range y.Jobs {
		at += between * r.ExpFloat64() / (1 + 0.5*math.Sin(2*math.Pi*at/86400))
		f.Jobs = append(f.Jobs, y.job(r, i, time.Duration(at)*time.Second))
	}
	y.failures(r, f, time.Duration(at)*time.Second)
	return f
}

func (y Synthetic) job(r *rand.Rand, i int, at time.Duration) Job {
	k := 0
	for left := r.IntN(1000) - kinds[0].share; left >= 0; left -= kinds[k].share {
		k++
	}
	kind := kinds[k]
	j := Job{
		Name: fmt.Sprintf("job%07d", i), Priority: []int32{0, 0, 0, 0, 0, 100, 100, 100, 1000, 1000}[r.IntN(10)],
		Pods: kind.pods, Requests: preemption.Resources{GPU: kind.gpus}, Arrives: at,
	}
	if kind.pods > 1 {
		j.Within = Rack
	}
	// Many are short, few are long: log-normal, with the mean of its kind.
	j.Takes = time.Duration(max(kind.takes.Seconds()*math.Exp(r.NormFloat64()-0.5), 60)) * time.Second
	return j
}

// failures lets each node fail about once in a hundred days, for an hour.
func (y Synthetic) failures(r *rand.Rand, f *Farm, end time.Duration) {
	for i := range f.Nodes {
		for at := time.Duration(0); ; {
			at += time.Duration(r.ExpFloat64()*100*86400) * time.Second
			if at >= end {
				break
			}
			f.Changes = append(f.Changes, Change{At: at, Node: f.Nodes[i], Gone: true})
			at += time.Hour
			f.Changes = append(f.Changes, Change{At: at, Node: f.Nodes[i]})
		}
	}
}
