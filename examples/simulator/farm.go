package simulator

import (
	"cmp"
	"errors"
	"fmt"
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
