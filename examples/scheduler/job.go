package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/preempt-go/preempt/preemption"
)

// gpu is the resource that everybody asks for, and rack the label of a node's rack.
const gpu, rack = "example.com/gpu", "example.com/rack"

// job is what users submit: a pod or, of several, a gang that runs whole, within a rack.
type job struct {
	name     string
	priority int32
	pods     int
	gpus     int64         // of each pod
	takes    time.Duration // a run that is cut short begins anew
	arrived  time.Time

	verdict preemption.Verdict // the latest answer
	parked  bool               // nothing has happened since that may change it
	leaving bool               // told to go, and still there
	runs    int                // that have ended: what was planned for one of them is void
}

func (j *job) gang() bool { return j.pods > 1 }

// pod names a pod of j. A victim, be it a pod or a group, has the name of its job.
func (j *job) pod(i int) preemption.PodRef {
	if j.gang() {
		return preemption.PodRef{Name: fmt.Sprintf("%s-%d", j.name, i)}
	}
	return preemption.PodRef{Name: j.name}
}

// ask is the question about j: a gang is asked about as one.
func (j *job) ask() preemption.Preemptor {
	if j.gang() {
		return preemption.Preemptor{Kind: preemption.KindPodGroup, Name: j.name}
	}
	return preemption.Preemptor{Kind: preemption.KindPod, Name: j.name}
}

// submit makes j's pods known to a planner, pending.
func (j *job) submit(planner *preemption.Planner) (err error) {
	group := ""
	if j.gang() {
		group = j.name
		all := int32(j.pods)
		err = planner.SetPodGroup(preemption.PodGroup{
			Name: j.name, Priority: &j.priority, MinCount: &all, Mode: preemption.All,
			Topology: []preemption.TopologyConstraint{{Key: rack}},
		})
	}
	for i := range j.pods {
		err = errors.Join(err, planner.SetPod(preemption.Pod{
			Name: j.pod(i).Name, Group: group, Created: j.arrived,
			Priority: &j.priority, Requests: preemption.Resources{gpu: j.gpus},
		}))
	}
	return err
}

// end ends j's run: each of its pods is removed, or waits again.
func (j *job) end(pod func(preemption.PodRef) error) (err error) {
	j.leaving = false
	j.runs++
	for i := range j.pods {
		err = errors.Join(err, pod(j.pod(i)))
	}
	return err
}

// remove takes j out of a planner, as it is done.
func (j *job) remove(planner *preemption.Planner) error {
	err := j.end(planner.Remove)
	if j.gang() {
		err = errors.Join(err, planner.RemovePodGroup("", j.name))
	}
	return err
}
