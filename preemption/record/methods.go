package record

import (
	"context"
	"time"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// The methods of a planner, in order of name. A journal has the names, and Replay finds the
// methods of a planner by them.

// Apply is [preemption.Planner.Apply].
func (rec *Recorder) Apply(r *preemption.Result) error {
	return failed(rec.call("Apply", r))
}

// Bind is [preemption.Planner.Bind].
func (rec *Recorder) Bind(pod preemption.PodRef, node string) error {
	return failed(rec.call("Bind", pod, node))
}

// Cycle is [preemption.Planner.Cycle].
func (rec *Recorder) Cycle(heads []preemption.Preemptor) ([]*preemption.Result, error) {
	return answered[[]*preemption.Result](rec.call("Cycle", heads))
}

// Decide is [preemption.Planner.Decide].
func (rec *Recorder) Decide(p preemption.Preemptor) (preemption.Decision, error) {
	return answered[preemption.Decision](rec.call("Decide", p))
}

// DecideContext is [preemption.Planner.DecideContext], as a Decide; one that was stopped is not recorded.
func (rec *Recorder) DecideContext(ctx context.Context, p preemption.Preemptor) (preemption.Decision, error) {
	return answered[preemption.Decision](rec.stoppable(ctx, "Decide", p))
}

// Evict is [preemption.Planner.Evict].
func (rec *Recorder) Evict(r *preemption.Result) error {
	return failed(rec.call("Evict", r))
}

// Park is [preemption.Planner.Park].
func (rec *Recorder) Park(p preemption.Preemptor) (preemption.Decision, error) {
	return answered[preemption.Decision](rec.call("Park", p))
}

// Preempt is [preemption.Planner.Preempt].
func (rec *Recorder) Preempt(p preemption.Preemptor) (*preemption.Result, error) {
	return answered[*preemption.Result](rec.call("Preempt", p))
}

// PreemptAll is [preemption.Planner.PreemptAll].
func (rec *Recorder) PreemptAll(list []preemption.Preemptor) ([]*preemption.Result, error) {
	return answered[[]*preemption.Result](rec.call("PreemptAll", list))
}

// PreemptAllContext is [preemption.Planner.PreemptAllContext], as a PreemptAll; one that was stopped is not recorded.
func (rec *Recorder) PreemptAllContext(ctx context.Context, list []preemption.Preemptor) ([]*preemption.Result, error) {
	return answered[[]*preemption.Result](rec.stoppable(ctx, "PreemptAll", list))
}

// PreemptContext is [preemption.Planner.PreemptContext], as a Preempt; one that was stopped is not recorded.
func (rec *Recorder) PreemptContext(ctx context.Context, p preemption.Preemptor) (*preemption.Result, error) {
	return answered[*preemption.Result](rec.stoppable(ctx, "Preempt", p))
}

// Release is [preemption.Planner.Release].
func (rec *Recorder) Release(namespace, name string) error {
	return failed(rec.call("Release", namespace, name))
}

// Remove is [preemption.Planner.Remove].
func (rec *Recorder) Remove(pod preemption.PodRef) error {
	return failed(rec.call("Remove", pod))
}

// RemoveBudget is [preemption.Planner.RemoveBudget].
func (rec *Recorder) RemoveBudget(namespace, name string) error {
	return failed(rec.call("RemoveBudget", namespace, name))
}

// RemoveClusterQueue is [preemption.Planner.RemoveClusterQueue].
func (rec *Recorder) RemoveClusterQueue(name string) error {
	return failed(rec.call("RemoveClusterQueue", name))
}

// RemoveCohort is [preemption.Planner.RemoveCohort].
func (rec *Recorder) RemoveCohort(name string) error {
	return failed(rec.call("RemoveCohort", name))
}

// RemoveCompositePodGroup is [preemption.Planner.RemoveCompositePodGroup].
func (rec *Recorder) RemoveCompositePodGroup(namespace, name string) error {
	return failed(rec.call("RemoveCompositePodGroup", namespace, name))
}

// RemoveLocalQueue is [preemption.Planner.RemoveLocalQueue].
func (rec *Recorder) RemoveLocalQueue(namespace, name string) error {
	return failed(rec.call("RemoveLocalQueue", namespace, name))
}

// RemoveNamespace is [preemption.Planner.RemoveNamespace].
func (rec *Recorder) RemoveNamespace(name string) error {
	return failed(rec.call("RemoveNamespace", name))
}

// RemoveNode is [preemption.Planner.RemoveNode].
func (rec *Recorder) RemoveNode(name string) error {
	return failed(rec.call("RemoveNode", name))
}

// RemoveNodeAndPods is [preemption.Planner.RemoveNodeAndPods].
func (rec *Recorder) RemoveNodeAndPods(name string) ([]preemption.Pod, error) {
	return answered[[]preemption.Pod](rec.call("RemoveNodeAndPods", name))
}

// RemovePodGroup is [preemption.Planner.RemovePodGroup].
func (rec *Recorder) RemovePodGroup(namespace, name string) error {
	return failed(rec.call("RemovePodGroup", namespace, name))
}

// RemovePriorityClass is [preemption.Planner.RemovePriorityClass].
func (rec *Recorder) RemovePriorityClass(name string) error {
	return failed(rec.call("RemovePriorityClass", name))
}

// RemoveResourceFlavor is [preemption.Planner.RemoveResourceFlavor].
func (rec *Recorder) RemoveResourceFlavor(name string) error {
	return failed(rec.call("RemoveResourceFlavor", name))
}

// RemoveWorkload is [preemption.Planner.RemoveWorkload].
func (rec *Recorder) RemoveWorkload(namespace, name string) error {
	return failed(rec.call("RemoveWorkload", namespace, name))
}

// Requeue is [preemption.Planner.Requeue].
func (rec *Recorder) Requeue(pod preemption.PodRef) error {
	return failed(rec.call("Requeue", pod))
}

// SetBudget is [preemption.Planner.SetBudget].
func (rec *Recorder) SetBudget(b preemption.Budget) error {
	return failed(rec.call("SetBudget", b))
}

// SetClusterQueue is [preemption.Planner.SetClusterQueue].
func (rec *Recorder) SetClusterQueue(q preemption.ClusterQueue) error {
	return failed(rec.call("SetClusterQueue", q))
}

// SetCohort is [preemption.Planner.SetCohort].
func (rec *Recorder) SetCohort(c preemption.Cohort) error {
	return failed(rec.call("SetCohort", c))
}

// SetCompositePodGroup is [preemption.Planner.SetCompositePodGroup].
func (rec *Recorder) SetCompositePodGroup(g cluster.CompositePodGroup) error {
	return failed(rec.call("SetCompositePodGroup", g))
}

// SetLocalQueue is [preemption.Planner.SetLocalQueue].
func (rec *Recorder) SetLocalQueue(q preemption.LocalQueue) error {
	return failed(rec.call("SetLocalQueue", q))
}

// SetNamespace is [preemption.Planner.SetNamespace].
func (rec *Recorder) SetNamespace(n cluster.Namespace) error {
	return failed(rec.call("SetNamespace", n))
}

// SetNode is [preemption.Planner.SetNode].
func (rec *Recorder) SetNode(n cluster.Node) error {
	return failed(rec.call("SetNode", n))
}

// SetPod is [preemption.Planner.SetPod].
func (rec *Recorder) SetPod(p preemption.Pod) error {
	return failed(rec.call("SetPod", p))
}

// SetPodGroup is [preemption.Planner.SetPodGroup].
func (rec *Recorder) SetPodGroup(g preemption.PodGroup) error {
	return failed(rec.call("SetPodGroup", g))
}

// SetPriorityClass is [preemption.Planner.SetPriorityClass].
func (rec *Recorder) SetPriorityClass(c preemption.PriorityClass) error {
	return failed(rec.call("SetPriorityClass", c))
}

// SetResourceFlavor is [preemption.Planner.SetResourceFlavor].
func (rec *Recorder) SetResourceFlavor(f preemption.ResourceFlavor) error {
	return failed(rec.call("SetResourceFlavor", f))
}

// SetTime is [preemption.Planner.SetTime].
func (rec *Recorder) SetTime(now time.Time) error {
	return failed(rec.call("SetTime", now))
}

// SetWorkload is [preemption.Planner.SetWorkload].
func (rec *Recorder) SetWorkload(w preemption.Workload) error {
	return failed(rec.call("SetWorkload", w))
}

// Spare is [preemption.Planner.Spare].
func (rec *Recorder) Spare(pod preemption.PodRef) error {
	return failed(rec.call("Spare", pod))
}

// StillValid is [preemption.Planner.StillValid].
func (rec *Recorder) StillValid(r *preemption.Result) (preemption.Validity, error) {
	return answered[preemption.Validity](rec.call("StillValid", r))
}

// Wake is [preemption.Planner.Wake].
func (rec *Recorder) Wake() []preemption.Preemptor {
	v, _ := answered[[]preemption.Preemptor](rec.call("Wake"))
	return v
}

// WakeAt is [preemption.Planner.WakeAt].
func (rec *Recorder) WakeAt() time.Time {
	v, _ := answered[time.Time](rec.call("WakeAt"))
	return v
}

// WhyNot is [preemption.Planner.WhyNot].
func (rec *Recorder) WhyNot(p preemption.Preemptor, target preemption.Target) (*preemption.Why, error) {
	return answered[*preemption.Why](rec.call("WhyNot", p, target))
}

// WhyNotContext is [preemption.Planner.WhyNotContext], as a WhyNot; one that was stopped is not recorded.
func (rec *Recorder) WhyNotContext(ctx context.Context, p preemption.Preemptor, target preemption.Target) (*preemption.Why, error) {
	return answered[*preemption.Why](rec.stoppable(ctx, "WhyNot", p, target))
}

// Withdraw is [preemption.Planner.Withdraw].
func (rec *Recorder) Withdraw(pod preemption.PodRef) error {
	return failed(rec.call("Withdraw", pod))
}
