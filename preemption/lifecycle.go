package preemption

import (
	"slices"
	"time"

	"github.com/preempt-go/preempt/internal/problems"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/preemption/internal/review"
	"github.com/preempt-go/preempt/preemption/internal/tell"
)

// The life of a pod in a planner:
//
//	pending      runs nowhere and holds no room
//	nominated    pending, and an answer that was applied makes room for it on a node
//	bound        runs on a node and holds its room
//	terminating  bound, and told to go by an answer; it holds its room until it is gone
//	gone         not in the planner
//
// What each call makes of a pod; «-» is an error, after which nothing has changed:
//
//	                                        pending    nominated  bound        terminating  gone
//	Apply, Evict: the result nominates it   nominated  nominated  -            -            - (inline: nominated)
//	Apply: the result evicts it             pending    nominated  terminating  terminating  gone
//	Evict: the result evicts it             pending    nominated  gone         gone         gone
//	Bind                                    bound      bound      -            -            -
//	Withdraw                                -          pending    -            -            -
//	Spare                                   -          -          -            bound        -
//	Requeue                                 -          -          pending      pending      -
//	Remove                                  gone       gone       gone         gone         -
//	RemoveNode                              pending    nominated  bound        terminating  gone
//	RemoveNodeAndPods                       pending    nominated  gone         gone         gone
//	SetPod                                  as it is given, whatever was before
//
// A victim that has left since is no hindrance to Apply, nor is a result that was applied
// before: what is done already is not done, nor counted, again. Where a victim cannot be
// evicted, Spare it: [Planner.StillValid] then says what becomes of the plan, and Withdraw
// takes back its nominations, if it is given up.

// Bind lets a pending pod run on a node of the cluster: it holds its room there, and is
// nominated to no node any more. One of which nobody has said when it started does so at the
// model's time, if that is known. The node must have room for it: what it requests, its host
// ports and its devices must be free; room that is held for nominated pods is. [Planner.SetPod]
// binds whatever the room, for a pod of which somebody else says where it runs, and on which
// devices: what Assigned says of them on a pending pod is dropped.
//
// Where the cluster has problems that every question would be refused for, so is Bind.
func (pl *Planner) Bind(pod PodRef, node string) error {
	return pl.change(func(h *live.Held) error {
		p, err := pending(h, pod)
		if err != nil {
			return err
		}
		if err := pl.compileHeld(); err != nil {
			return err
		}
		c := h.Ready
		c.Notes = h.Notes
		n := c.Index.NodeByName(node)
		if n == cluster.NoNode {
			return problems.Pod(p, "Node", words.Quoted(node), "a node of the planner's cluster", nil)
		}
		if short := tell.RoomFor(c, p, n); short.Check != "" {
			return problems.Pod(p, "Node", words.Quoted(node), "a node with room for it ("+short.String()+")", nil)
		}
		bound := *p
		bound.Node, bound.NominatedNode, bound.Devices = node, "", unassigned(p.Devices)
		if bound.Started.IsZero() {
			bound.Started = h.Time()
		}
		live.Pods.Set(h, &bound)
		return nil
	})
}

// pending returns a pod that runs nowhere, or an error.
func pending(h *live.Held, ref PodRef) (*Pod, error) {
	p := h.Pod(ref.Namespace, ref.Name)
	switch {
	case p == nil:
		return nil, missing(false, cluster.KindPod, ref.Namespace, ref.Name)
	case p.Node != "":
		return nil, problems.Pod(p, "Node", words.Quoted(p.Node), "empty: the pod runs already", nil)
	}
	return p, nil
}

// running returns a pod that runs, or an error.
func running(h *live.Held, ref PodRef) (*Pod, error) {
	p := h.Pod(ref.Namespace, ref.Name)
	switch {
	case p == nil:
		return nil, missing(false, cluster.KindPod, ref.Namespace, ref.Name)
	case p.Node == "":
		return nil, problems.Pod(p, "Node", `""`, "a node: the pod is pending", nil)
	}
	return p, nil
}

// unassigned is list where nobody says which devices are held.
func unassigned(list []cluster.DeviceRequest) []cluster.DeviceRequest {
	list = slices.Clone(list)
	for i := range list {
		list[i].Assigned = nil
	}
	return list
}

// Withdraw takes back the nomination of a pending pod: no room is held for it any more.
func (pl *Planner) Withdraw(pod PodRef) error {
	return pl.change(func(h *live.Held) error {
		p, err := pending(h, pod)
		switch {
		case err != nil:
			return err
		case p.NominatedNode == "":
			return problems.Pod(p, "NominatedNode", `""`, "a node: the pod is not nominated", nil)
		}
		nominate(h, pod, "")
		return nil
	})
}

// Spare lets a victim run on that could not be evicted: it is not told to go any more.
// What its eviction counted for a window of limits stays counted. The next plan may choose
// it again; set it with a [cluster.Guard] that says Standby to keep it out of them.
func (pl *Planner) Spare(pod PodRef) error {
	return pl.change(func(h *live.Held) error {
		p, err := running(h, pod)
		switch {
		case err != nil:
			return err
		case !review.IsLeaving(p):
			return problems.Pod(p, "Preempted", "false", "true: the pod is not told to go", nil)
		}
		spared := *p
		spared.Terminating, spared.Preempted = false, false
		live.Pods.Set(h, &spared)
		return nil
	})
}

// Requeue lets a pod that runs be pending again: its room is free, and it waits as it was
// created. If an answer told it to go, that eviction is noted in its Evictions at the model's
// time, if that is known, and in its RanSeconds.
func (pl *Planner) Requeue(pod PodRef) error {
	return pl.change(func(h *live.Held) error {
		p, err := running(h, pod)
		if err != nil {
			return err
		}
		live.Pods.Set(h, requeued(p, h.Time()))
		return nil
	})
}

// requeued is p, which runs, as it waits again.
func requeued(p *cluster.Pod, now time.Time) *cluster.Pod {
	waits := *p
	waits.Node, waits.NominatedNode = "", ""
	waits.Scheduled, waits.Started = time.Time{}, time.Time{}
	waits.Terminating, waits.Preempted = false, false
	if review.IsLeaving(p) && !now.IsZero() {
		waits.Evictions = append(slices.Clone(p.Evictions), now)
		waits.RanSeconds = 0
		if !p.Started.IsZero() {
			waits.RanSeconds = max(0, now.Unix()-p.Started.Unix())
		}
	}
	return &waits
}

// RemoveNodeAndPods takes a node away with the pods that run there, and returns these as they
// were, in order of name: whoever makes pods sets them anew. Pods that are nominated to
// the node stay so; they hold no room as long as there is no node of that name.
func (pl *Planner) RemoveNodeAndPods(name string) ([]Pod, error) {
	var gone []Pod
	err := pl.change(func(h *live.Held) error {
		if !live.Nodes.Has(h, &Node{Name: name}) {
			return missing(false, cluster.KindNode, "", name)
		}
		for _, p := range h.PodsOn(name) {
			gone = append(gone, *p)
			live.Pods.Remove(h, p)
		}
		live.Nodes.Remove(h, &Node{Name: name})
		return nil
	})
	return gone, err
}
