package simulator

import (
	"strings"
	"time"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/priority"
)

// ask asks about everybody for whom there may be a new answer, and does what is answered.
func (s *Simulation) ask() error {
	for {
		if len(s.filled) > 0 {
			s.wakeThose()
		}
		s.stale = s.stale[:0]
		n := s.first()
		if n < 0 {
			break
		}
		if err := s.askFirst(n); err != nil {
			return err
		}
	}
	if s.policy.timed() && len(s.filled) > 0 && !s.alarmed {
		s.alarmed = true
		s.remind()
	}
	return nil
}

// askFirst asks about the first of a queue.
func (s *Simulation) askFirst(n int32) error {
	j := s.queue[n].jobs[0]
	p := s.inline(j)
	plan, err := s.decide(p)
	if err != nil {
		return err
	}
	fits := plan.Verdict == preemption.Fits
	if !fits && (plan.Verdict != preemption.Feasible || s.policy.Never) {
		s.close(n)
		return nil
	}
	if s.leaveQueue(n); fits {
		err = s.start(j, p, plan)
	} else {
		err = s.evict(j, p, plan)
	}
	if s.queue[n].filled == 0 {
		s.close(n)
	}
	return err
}

// decide asks in short about a pod, which is cheap, and most of them fit: then the planner
// needs no time. A gang is asked about in full at once: where its pods go is not in the
// short form.
func (s *Simulation) decide(p preemption.Preemptor) (*preemption.Result, error) {
	if p.Group != nil {
		return s.preempt(p)
	}
	if s.policy.timed() || s.policy.pricesWork() {
		if err := s.planner.SetTime(s.clock()); err != nil {
			return nil, err
		}
	}
	d, err := s.planner.Decide(p)
	s.short = preemption.Result{Verdict: d.Verdict, Domain: d.Domain}
	return &s.short, err
}

// preempt asks in full, at the present time.
func (s *Simulation) preempt(p preemption.Preemptor) (*preemption.Result, error) {
	if err := s.planner.SetTime(s.clock()); err != nil {
		return nil, err
	}
	return s.planner.Preempt(p)
}

// start lets a job run that fits, or does so now.
func (s *Simulation) start(j int32, p preemption.Preemptor, plan *preemption.Result) error {
	if p.Group == nil {
		s.run(j, s.byName[plan.Domain])
		pod := p.Pods[0]
		pod.Node, pod.Started = plan.Domain, epoch.Add(s.jobs[j].Since)
		return s.planner.SetPod(pod)
	}
	s.run(j, s.places(plan)...)
	if err := s.planner.SetPodGroup(*p.Group); err != nil {
		return err
	}
	for i, at := range plan.Nominations {
		pod := p.Pods[i]
		pod.Name, pod.Group, pod.Node, pod.Started = at.Pod.Name, p.Group.Name, at.Node, epoch.Add(s.jobs[j].Since)
		if err := s.planner.SetPod(pod); err != nil {
			return err
		}
	}
	return nil
}

// evict lets a job have the room of its victims. In the planner they go at once; in the farm
// they have their grace period, and then it begins to run.
func (s *Simulation) evict(j int32, p preemption.Preemptor, plan *preemption.Result) (err error) {
	if p.Group == nil {
		if plan, err = s.preempt(p); err != nil {
			return err
		}
	}
	if err := s.planner.Evict(plan); err != nil {
		return err
	}
	s.Counts[s.amounts[j].level].Preemptions++
	for _, v := range plan.Victims {
		if err := s.told(s.numberOf(v.Name), j); err != nil {
			return err
		}
	}
	return s.start(j, p, plan)
}

// told is that victim v goes for j: whole, also where the policy's rules evict single pods of
// a gang.
func (s *Simulation) told(v, j int32) error {
	l := &s.jobs[v]
	if l.State != running {
		return nil // another pod of it, before
	}
	s.evicted(v, j)
	if s.policy.remembers() {
		l.Evictions, l.Ran = append(l.Evictions, s.clock()), max(s.now-l.Since, 0)
	}
	for _, m := range l.Places {
		s.machines[m].clear = s.now + s.settings.Grace
	}
	if err := s.cut(v); err != nil {
		return err
	}
	l.State = leaving
	if s.settings.Grace == 0 {
		s.wait(v)
		return nil
	}
	s.plan(gone, v, s.settings.Grace)
	return nil
}

// inline is the question about a job that is not in the planner.
func (s *Simulation) inline(j int32) preemption.Preemptor {
	job := s.list[j]
	if job.Pods <= 1 {
		s.one[0] = s.pod(j, 0)
		return preemption.Preemptor{Pods: s.one[:]}
	}
	all := int32(job.Pods)
	p := preemption.Preemptor{Group: &preemption.PodGroup{
		Name: job.Name, Priority: &job.Priority, MinCount: &all, Mode: preemption.All, Evictions: s.jobs[j].Evictions,
	}}
	if s.policy.Never {
		p.Group.Policy = priority.Never // spares the search for victims
	}
	if job.Within != "" {
		p.Group.Topology = []preemption.TopologyConstraint{{Key: job.Within}}
	}
	for i := range job.Pods {
		p.Pods = append(p.Pods, s.pod(j, i))
	}
	return p
}

// pod is a job's i-th, pending.
func (s *Simulation) pod(j int32, i int) preemption.Pod {
	job, l := s.list[j], &s.jobs[j]
	return preemption.Pod{
		Name: podName(job, i), Priority: &job.Priority, Requests: job.Requests, Created: epoch.Add(job.Arrives),
		Evictions: l.Evictions, RanSeconds: int64(l.Ran / time.Second),
	}
}

// places are the machines of a plan's nominations.
func (s *Simulation) places(plan *preemption.Result) []int32 {
	list := make([]int32, len(plan.Nominations))
	for i, at := range plan.Nominations {
		list[i] = s.byName[at.Node]
	}
	return list
}

// numberOf is the job of a pod or group.
func (s *Simulation) numberOf(name string) int32 {
	if j, ok := s.number[name]; ok {
		return j
	}
	return s.number[name[:strings.LastIndexByte(name, '-')]]
}
