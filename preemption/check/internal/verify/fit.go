package verify

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// misfit is one check that a member fails on a node.
type misfit struct {
	check    domain.Check
	resource string // of CheckResource, and by how much it is short
	missing  int64
	never    bool // whoever goes
}

// admits is the first check of the node alone that p fails; empty if it passes all.
func (q *question) admits(n *cluster.Node, p *cluster.Pod) domain.Check {
	cordon := cluster.Taint{Key: cluster.TaintUnschedulable, Effect: cluster.NoSchedule}
	switch {
	case n.Unschedulable && !tolerates(p, cordon):
		return domain.CheckUnschedulable
	case p.RequiredNode != "" && p.RequiredNode != n.Name:
		return domain.CheckNodeName
	case !tolerated(p, n):
		return domain.CheckTaint
	case !selects(p, n):
		return domain.CheckNodeAffinity
	case q.o.Hooks != nil && q.o.Hooks.Filter != nil && !q.filter(p, n):
		return domain.CheckFilter
	}
	return ""
}

// filter asks the user's filter about p on n.
func (q *question) filter(p *cluster.Pod, n *cluster.Node) bool {
	defer called("Filter")
	return q.o.Hooks.Filter(shown(p), n)
}

// shown is what a filter sees of p: all but who it is, how important, and what became of it.
func shown(p *cluster.Pod) *cluster.Pod {
	c := *p
	c.Name, c.UID, c.Owner, c.Node, c.NominatedNode = "", "", nil, "", ""
	c.Priority, c.PreemptionPriority, c.Policy = nil, nil, ""
	c.Created, c.Scheduled, c.Started, c.Terminating, c.Preempted = time.Time{}, time.Time{}, time.Time{}, false, false
	c.Guard, c.Cost, c.Evictions, c.RanSeconds = nil, nil, nil, 0
	c.Ports, c.Affinity, c.AntiAffinity, c.Spread, c.Tokens = nil, nil, nil, nil, nil
	return &c
}

// tolerated: p tolerates every taint of n that keeps pods away.
func tolerated(p *cluster.Pod, n *cluster.Node) bool {
	for _, t := range n.Taints {
		if t.Effect != cluster.PreferNoSchedule && !tolerates(p, t) {
			return false
		}
	}
	return true
}

func tolerates(p *cluster.Pod, taint cluster.Taint) bool {
	for _, t := range p.Tolerations {
		if t.Effect != "" && t.Effect != taint.Effect || t.Key != "" && t.Key != taint.Key {
			continue
		}
		switch t.Operator {
		case cluster.TolerationExists:
			return true
		case cluster.TolerationLt, cluster.TolerationGt:
			if less, more := compareIntegers(taint.Value, t.Value); t.Operator == cluster.TolerationLt && less || t.Operator == cluster.TolerationGt && more {
				return true
			}
		default:
			if t.Value == taint.Value {
				return true
			}
		}
	}
	return false
}

// compareIntegers compares two integers; neither is true where one is no integer.
func compareIntegers(a, b string) (less, more bool) {
	x, err1 := strconv.ParseInt(a, 10, 64)
	y, err2 := strconv.ParseInt(b, 10, 64)
	ok := err1 == nil && err2 == nil
	return ok && x < y, ok && x > y
}

// selects: the node selector and the required node affinity of p hold for n.
func selects(p *cluster.Pod, n *cluster.Node) bool {
	if !hasLabels(n.Labels, p.NodeSelector) || p.NodeAffinity == nil {
		return hasLabels(n.Labels, p.NodeSelector)
	}
	return slices.ContainsFunc(p.NodeAffinity.Terms, func(t cluster.NodeTerm) bool {
		failsLabels := slices.ContainsFunc(t.Labels, func(r cluster.NodeRequirement) bool {
			value, has := n.Labels[r.Key]
			return !requires(r, value, has)
		})
		failsFields := slices.ContainsFunc(t.Fields, func(r cluster.NodeRequirement) bool { return !requires(r, n.Name, true) })
		return len(t.Labels)+len(t.Fields) > 0 && !failsLabels && !failsFields
	})
}

func requires(r cluster.NodeRequirement, value string, has bool) bool {
	switch r.Operator {
	case cluster.NodeIn:
		return has && slices.Contains(r.Values, value)
	case cluster.NodeNotIn:
		return !has || !slices.Contains(r.Values, value)
	case cluster.NodeExists:
		return has
	case cluster.NodeDoesNotExist:
		return !has
	}
	less, more := compareIntegers(value, r.Values[0])
	return has && (r.Operator == cluster.NodeLt && less || r.Operator == cluster.NodeGt && more)
}

// clash: two pods want one host port.
func clash(a, b *cluster.Pod) bool {
	all := func(ip string) bool { return ip == "" || ip == "0.0.0.0" }
	udp := func(protocol string) string {
		if protocol == "" {
			return "TCP"
		}
		return protocol
	}
	for _, x := range a.Ports {
		for _, y := range b.Ports {
			if x.Port == y.Port && udp(x.Protocol) == udp(y.Protocol) && (x.IP == y.IP || all(x.IP) || all(y.IP)) {
				return true
			}
		}
	}
	return false
}

// short is how much more is asked for than there is, at most the largest int64.
func short(used, want, offered int64) int64 {
	free := offered - used // used is the sum of pods that an int64 holds
	if d := want - free; d > 0 || want <= free {
		return max(d, 0)
	}
	return math.MaxInt64
}
