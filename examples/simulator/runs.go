package simulator

import (
	"time"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// finish is that a job has run as long as it has to.
func (s *Simulation) finish(j int32) error {
	s.useful(j, s.now-s.jobs[j].Since)
	s.jobs[j].Left = 0
	if err := s.leave(j); err != nil {
		return err
	}
	s.jobs[j].State = done
	return nil
}

// cut ends a job's run before its time. What it has not saved is lost.
func (s *Simulation) cut(j int32) error {
	l := &s.jobs[j]
	ran, kept := max(s.now-l.Since, 0), time.Duration(0)
	if s.settings.Checkpoint > 0 {
		kept = ran - ran%s.settings.Checkpoint
	}
	l.Waited -= max(l.Since-s.now, 0) // it has not begun
	if s.list[j].Takes > 0 {
		l.Left -= kept
	}
	s.useful(j, kept)
	s.wasted(j, ran-kept)
	return s.leave(j)
}

// leave takes a job off its nodes, and what is left of it out of the planner.
func (s *Simulation) leave(j int32) error {
	l := &s.jobs[j]
	s.vacate(j, l.Places)
	l.Places = l.Places[:0]
	l.Run++
	s.there = s.there[:0]
	err := s.planner.View(func(v preemption.View) {
		for i := range max(s.list[j].Pods, 1) {
			if ref := s.ref(j, i); v.Pod(ref) != nil {
				s.there = append(s.there, ref)
			}
		}
	})
	for _, ref := range s.there {
		if err == nil {
			err = s.planner.Remove(ref)
		}
	}
	if err == nil && s.list[j].Pods > 1 {
		err = s.planner.RemovePodGroup("", s.list[j].Name)
	}
	return err
}

// ref names a job's i-th pod.
func (s *Simulation) ref(j int32, i int) preemption.PodRef {
	return preemption.PodRef{Name: podName(s.list[j], i)}
}

// run begins a job's run on the nodes given, once the last victims have left them.
func (s *Simulation) run(j int32, on ...int32) {
	l := &s.jobs[j]
	l.Waited += s.now - l.Since
	l.Places = append(l.Places[:0], on...)
	l.State, l.Since = running, s.now
	for _, m := range on {
		l.Since = max(l.Since, s.machines[m].clear)
	}
	l.Waited += l.Since - s.now
	s.occupy(j, l.Places)
	if s.list[j].Takes > 0 {
		s.plan(finish, j, l.Since-s.now+l.Left)
	}
	if s.policy.pricesWork() && s.settings.Checkpoint > 0 {
		s.plan(checkpoint, j, l.Since-s.now+s.settings.Checkpoint)
	}
}

// save tells the planner that a job has saved its progress.
func (s *Simulation) save(j int32) error {
	s.plan(checkpoint, j, s.settings.Checkpoint)
	if err := s.planner.SetTime(s.clock()); err != nil {
		return err
	}
	var pods []preemption.Pod
	err := s.planner.View(func(v preemption.View) {
		for i := range max(s.list[j].Pods, 1) {
			pods = append(pods, *v.Pod(s.ref(j, i)))
		}
	})
	for _, pod := range pods {
		pod.Cost = &cluster.Cost{Checkpoint: s.clock()}
		if err == nil {
			err = s.planner.SetPod(pod)
		}
	}
	return err
}
