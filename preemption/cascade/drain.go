package cascade

import (
	"slices"
	"strconv"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// mirror is the annotation of pods that a kubelet runs from its own files.
const mirror = "kubernetes.io/config.mirror"

// Drain evicts the pods of nodes that are cordoned, as kubectl drain does: all of them but those
// of DaemonSets and of the kubelet itself, the most important first, as far as budgets allow. Those that
// have found a place give their budgets room for others, which go then. A node that is not there
// is a [*cluster.FieldError].
func (c *Cascade) Drain(nodes []string) error {
	var left []evictee
	for _, name := range slices.Compact(slices.Sorted(slices.Values(nodes))) {
		pods, err := c.on(name)
		if err != nil {
			return err
		}
		left = append(left, pods...)
	}
	left = slices.DeleteFunc(left, func(h evictee) bool {
		why := remains(&h.pod)
		if why != "" {
			c.stays(&h, Stays, why)
		}
		return why != ""
	})
	slices.SortFunc(left, func(a, b evictee) int { return a.compare(&b) })
	for gone := true; gone; {
		gone = false
		var blocked []evictee
		for i := range left {
			switch p := &left[i].pod; {
			case !c.runs(p):
			case c.budgets.refuses(p) != "":
				blocked = append(blocked, left[i])
			default:
				gone = true
				if err := c.leave(refOf(p), Drained, 0); err != nil {
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
		if h := &left[i]; c.runs(&h.pod) {
			c.stays(h, Held, c.budgets.refuses(&h.pod))
		}
	}
	return nil
}

// stays notes that a pod does.
func (c *Cascade) stays(h *evictee, status Status, why string) {
	c.note(h, status, why)
	o := &c.Outcomes[len(c.Outcomes)-1]
	o.Places = []preemption.Nomination{{Pod: refOf(&h.pod), Node: h.pod.Node}}
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
func (c *Cascade) runs(p *cluster.Pod) (runs bool) {
	_ = c.planner.View(func(v preemption.View) { // whatever is wrong, the next question tells
		now := v.Pod(refOf(p))
		runs = now != nil && now.Node == p.Node
	})
	return runs
}

// on returns who runs on a node.
func (c *Cascade) on(name string) (pods []evictee, err error) {
	known := false
	err = c.planner.View(func(v preemption.View) {
		known = v.Node(name) != nil
		for p := range v.PodsOn(name) {
			pods = append(pods, evictee{pod: *p, priority: v.Priority(refOf(p))})
		}
	})
	if err == nil && !known {
		err = &cluster.FieldError{Kind: string(cluster.KindNode), Name: name, Field: "Name", Value: strconv.Quote(name), Want: "a node of the planner's cluster"}
	}
	return pods, err
}
