package convert

import (
	"math"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// RunningTimeAnnotation tells of a pod how long it runs once it has started, as Go writes
// durations: 1h30m.
const RunningTimeAnnotation = "preempt-go.dev/running-time"

// Ends is when a running pod is gone by itself, at the latest: the earliest of what its
// spec.activeDeadlineSeconds and [RunningTimeAnnotation] say, counted from its start, and of the
// end of its grace if it is being deleted. Zero: nobody knows. The error is an [*Error].
func Ends(pod *corev1.Pod) (time.Time, error) {
	f := podFields(pod)
	var ends time.Time
	after := func(start time.Time, d time.Duration) {
		if !start.IsZero() {
			ends = sooner(ends, start.Add(d))
		}
	}
	if n := pod.Spec.ActiveDeadlineSeconds; n != nil {
		if *n < 1 || *n > math.MaxInt32 {
			f.bad("spec.activeDeadlineSeconds", strconv.FormatInt(*n, 10), "from 1 to 2147483647")
		} else {
			after(startedAt(pod), time.Duration(*n)*time.Second)
		}
	}
	if text, ok := pod.Annotations[RunningTimeAnnotation]; ok {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			f.bad("metadata.annotations["+RunningTimeAnnotation+"]", quote(text), "a duration above 0 such as 1h30m")
		} else {
			after(startedAt(pod), d)
		}
	}
	if pod.DeletionTimestamp != nil {
		ends = sooner(ends, pod.DeletionTimestamp.UTC())
	}
	return ends, f.err()
}

// jobEnds is when the pods of a job are stopped; zero: nobody knows.
func jobEnds(job *batchv1.Job) time.Time {
	n, start := job.Spec.ActiveDeadlineSeconds, job.Status.StartTime
	if n == nil || start == nil || *n < 0 || *n > math.MaxInt32 {
		return time.Time{}
	}
	return start.UTC().Add(time.Duration(*n) * time.Second)
}

// sooner is the earlier of two moments; zero is none.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// resolveJobs ends the pods of jobs with their job, now that all are known.
func (b *builder) resolveJobs() {
	if len(b.jobs) == 0 {
		return
	}
	for i := range b.dump.Snapshot.Pods {
		p := &b.dump.Snapshot.Pods[i]
		if p.Owner == nil || p.Owner.Kind != "Job" || p.Node == "" {
			continue
		}
		if at, ok := b.jobs[joinName(p.Namespace, p.Owner.Name)]; ok {
			name := joinName(p.Namespace, p.Name)
			b.dump.Ends[name] = sooner(b.dump.Ends[name], at)
		}
	}
}
