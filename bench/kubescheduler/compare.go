package main

import (
	"context"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/kubernetes/pkg/scheduler/util"

	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"github.com/preempt-go/preempt/preemption"
)

// answer is what both sides say to one question, in one form.
type answer struct {
	Verdict    preemption.Verdict
	Candidates []candidate // by node
	Best       []string    // nodes that tie after every rule but the last, sorted
}

// candidate is one node on which preemption helps.
type candidate struct {
	Node       string
	Victims    []string // namespace/name, most important first
	Violations int
}

// kubernetesAnswer asks kube-scheduler about the nodes from offset on, as many as its
// limits say.
func kubernetesAnswer(ctx context.Context, s *scheduler, offset int32) (answer, error) {
	if len(s.fits) > 0 {
		return answer{Verdict: preemption.Fits}, nil
	}
	found, eligible, err := s.candidates(ctx, offset)
	switch {
	case err != nil:
		return answer{}, err
	case !eligible && s.pod.Spec.PreemptionPolicy != nil && *s.pod.Spec.PreemptionPolicy == v1.PreemptNever:
		return answer{Verdict: preemption.NotEligible}, nil
	case !eligible:
		return answer{Verdict: preemption.Waiting}, nil
	case len(found) == 0:
		return answer{Verdict: preemption.Infeasible}, nil
	}
	a := answer{Verdict: preemption.Feasible, Best: best(found)}
	for node, v := range found {
		c := candidate{Node: node, Violations: int(v.NumPDBViolations)}
		for _, p := range v.Pods {
			c.Victims = append(c.Victims, p.Namespace+"/"+p.Name)
		}
		a.Candidates = append(a.Candidates, c)
	}
	slices.SortFunc(a.Candidates, func(a, b candidate) int { return strings.Compare(a.Node, b.Node) })
	return a, nil
}

// best returns the nodes among which kube-scheduler picks by chance: those that are
// equal in its first five criteria. The criteria are private to it, so they stand
// here once more; what it picks in the end must be one of these nodes.
func best(found map[string]*extenderv1.Victims) []string {
	var nodes []string
	for node := range found {
		nodes = append(nodes, node)
	}
	for _, criterion := range []func(v *extenderv1.Victims) int64{
		func(v *extenderv1.Victims) int64 { return v.NumPDBViolations },
		func(v *extenderv1.Victims) int64 { return int64(corev1helpers.PodPriority(v.Pods[0])) },
		func(v *extenderv1.Victims) (sum int64) {
			for _, p := range v.Pods {
				sum += int64(corev1helpers.PodPriority(p)) + 1<<31
			}
			return sum
		},
		func(v *extenderv1.Victims) int64 { return int64(len(v.Pods)) },
		func(v *extenderv1.Victims) int64 { return -util.GetEarliestPodStartTime(v).UnixNano() },
	} {
		least := criterion(found[nodes[0]])
		for _, n := range nodes {
			least = min(least, criterion(found[n]))
		}
		nodes = slices.DeleteFunc(nodes, func(n string) bool { return criterion(found[n]) != least })
	}
	slices.Sort(nodes)
	return nodes
}

// libraryAnswer takes the same from a result that lists its candidates: where it fits as things are, no eviction
// is asked for.
func libraryAnswer(r *preemption.Result) answer {
	a := answer{Verdict: r.Verdict}
	if r.Verdict == preemption.Fits {
		return a
	}
	for _, c := range r.Candidates {
		x := candidate{Node: c.Domain, Violations: c.Violations}
		for _, v := range c.Victims {
			for _, p := range v.Pods {
				x.Victims = append(x.Victims, p.Namespace+"/"+p.Name)
			}
		}
		a.Candidates = append(a.Candidates, x)
		if c.Best {
			a.Best = append(a.Best, c.Domain)
		}
	}
	return a
}

// victimNames lists the pods that a result evicts, namespace/name, sorted.
func victimNames(r *preemption.Result) []string {
	var out []string
	for _, v := range r.Victims {
		for _, p := range v.Pods {
			out = append(out, p.Namespace+"/"+p.Name)
		}
	}
	slices.Sort(out)
	return out
}
