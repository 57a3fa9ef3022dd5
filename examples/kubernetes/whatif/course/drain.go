package course

import (
	"cmp"
	"slices"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// mirror is the annotation of pods that a kubelet runs from its own files.
const mirror = "kubernetes.io/config.mirror"

// Drain evicts the pods of nodes that are cordoned, as kubectl drain does: all of them but those
// of DaemonSets and of the kubelet itself, the most important first, as far as budgets allow. Those that
// have found a place give their budgets room for others, which go then.
func (c *Course) Drain(nodes []string) error {
	var left []cluster.Pod
	for _, name := range nodes {
		pods, err := c.on(name)
		if err != nil {
			return err
		}
		left = append(left, pods...)
	}
	left = slices.DeleteFunc(left, func(p cluster.Pod) bool {
		why := remains(&p)
		if why != "" {
			c.stays(&p, Stays, why)
		}
		return why != ""
	})
	slices.SortFunc(left, func(a, b cluster.Pod) int {
		return cmp.Or(cmp.Compare(c.level(&b), c.level(&a)), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for gone := true; gone; {
		gone = false
		var blocked []cluster.Pod
		for i := range left {
			switch p := &left[i]; {
			case !c.runs(p):
			case c.budgets.refuses(p) != "":
				blocked = append(blocked, *p)
			default:
				gone = true
				if err := c.leave(refOf(p), Drained); err != nil {
					return err
				}
			}
		}
		left = blocked
		if err := c.Settle(); err != nil {
			return err
		}
	}
	for i := range left {
		if p := &left[i]; c.runs(p) {
			c.stays(p, Held, c.budgets.refuses(p))
		}
	}
	return nil
}

func (c *Course) stays(p *cluster.Pod, status Status, why string) {
	c.Outcomes = append(c.Outcomes, Outcome{
		Kind: cluster.KindPod, Namespace: p.Namespace, Name: p.Name, Priority: c.level(p), Pods: 1, Status: status, Why: why,
		Places: []preemption.Nomination{{Pod: refOf(p), Node: p.Node}},
	})
}

// remains is why draining leaves p alone; empty if it does not.
func remains(p *cluster.Pod) string {
	_, static := p.Annotations[mirror]
	switch {
	case p.Owner != nil && p.Owner.Kind == "DaemonSet":
		return "its DaemonSet would put it there anew"
	case static || p.Owner != nil && p.Owner.Kind == "Node":
		return "the kubelet runs it from a file of its own"
	case p.Terminating:
		return "it is on its way out already"
	}
	return ""
}

// runs reports whether p is still where it was: others may have evicted it meanwhile.
func (c *Course) runs(p *cluster.Pod) (runs bool) {
	_ = c.planner.View(func(v preemption.View) { // whatever is wrong, the next question tells
		now := v.Pod(refOf(p))
		runs = now != nil && now.Node == p.Node
	})
	return runs
}

// on returns who runs on a node.
func (c *Course) on(name string) (pods []cluster.Pod, err error) {
	err = c.planner.View(func(v preemption.View) {
		for p := range v.PodsOn(name) {
			pods = append(pods, *p)
		}
	})
	return pods, err
}

func refOf(p *cluster.Pod) preemption.PodRef {
	return preemption.PodRef{Namespace: p.Namespace, Name: p.Name}
}
