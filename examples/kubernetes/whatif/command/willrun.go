package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// WillRun is when the preemptor would run if it waited, as far as it is known when running
// pods end, and if nobody else took their room.
type WillRun struct {
	Waits string `json:"waits"` // none: it runs now; until; unknown: not even once all of them have ended

	Now         time.Time         `json:"now,omitzero"` // the moment of the dump
	At          time.Time         `json:"at,omitzero"`  // when it runs, not before now
	Nominations map[string]string `json:"nominations,omitempty"`
	Ended       []string          `json:"ended,omitempty"` // pods that have ended by then where it goes, in the order of their ends

	Running int       `json:"running"` // pods that hold a place
	Known   int       `json:"known"`   // of them it is known when they end
	Last    time.Time `json:"last,omitzero"`

	// LostSeconds is how long the victims of the answer have run, summed up: what preemption costs now.
	LostSeconds int64 `json:"lostSeconds"`
}

// The values of WillRun.Waits.
const (
	waitsNone    = "none"
	waitsUntil   = "until"
	waitsUnknown = "unknown"
)

// end is when a running pod ends.
type end struct {
	pod *cluster.Pod
	at  time.Time
}

// willRun looks for the earliest moment at which the preemptor fits.
func willRun(o preemption.Options, q *question, dump *convert.Dump, r *preemption.Result) (*WillRun, error) {
	now := dump.Snapshot.Time
	w := &WillRun{Waits: waitsNone, Now: now}
	var ends []end
	for i := range dump.Snapshot.Pods {
		p := &dump.Snapshot.Pods[i]
		if p.Node == "" {
			continue
		}
		w.Running++
		if at, ok := dump.Ends[p.Namespace+"/"+p.Name]; ok {
			if at.Before(now) {
				at = now
			}
			ends = append(ends, end{p, at})
		}
	}
	slices.SortFunc(ends, func(a, b end) int {
		return cmp.Or(a.at.Compare(b.at), strings.Compare(a.pod.Namespace, b.pod.Namespace), strings.Compare(a.pod.Name, b.pod.Name))
	})
	if w.Known = len(ends); w.Known > 0 {
		w.Last = ends[w.Known-1].at
	}
	for _, v := range r.Victims {
		for _, p := range v.Pods {
			if !p.Started.IsZero() && p.Started.Before(now) {
				w.LostSeconds += int64(now.Sub(p.Started) / time.Second)
			}
		}
	}
	if r.Verdict == preemption.Fits {
		return w, nil
	}
	o.Candidates, o.Explain = false, false
	n, planner, err := firstFit(o, q, dump, ends)
	if err != nil {
		return nil, err
	}
	if planner == nil {
		w.Waits = waitsUnknown
		return w, nil
	}
	then, err := planner.Preempt(q.preemptor)
	if err != nil {
		return nil, err
	}
	w.Waits, w.At, w.Nominations = waitsUntil, ends[n-1].at, map[string]string{}
	nodes := map[string]bool{}
	for _, nomination := range then.Nominations {
		w.Nominations[podName(nomination.Pod)] = nomination.Node
		nodes[nomination.Node] = true
	}
	for _, e := range ends[:n] {
		if nodes[e.pod.Node] {
			w.Ended = append(w.Ended, e.pod.Namespace+"/"+e.pod.Name)
		}
	}
	return w, nil
}

// firstFit finds how many of ends have to come before the preemptor fits, and returns a planner
// after them; nil: it does not fit after all of them.
//
// What ends makes room, and a preemptor that fits goes on to do so; only what it wants to be beside,
// by affinity or spread, may go as well. Then every moment is looked at, otherwise some.
func firstFit(o preemption.Options, q *question, dump *convert.Dump, ends []end) (int, *preemption.Planner, error) {
	planner, err := preemption.NewPlanner(&dump.Snapshot, o)
	if err != nil {
		return 0, nil, err
	}
	fits := func(pl *preemption.Planner, from, to int) (bool, error) {
		for _, e := range ends[from:to] {
			if err := pl.Remove(preemption.PodRef{Namespace: e.pod.Namespace, Name: e.pod.Name}); err != nil {
				return false, err
			}
		}
		d, err := pl.Decide(q.preemptor)
		return d.Verdict == preemption.Fits, err
	}
	var moments []int // how many have ended at each
	for i := range ends {
		if i+1 == len(ends) || !ends[i+1].at.Equal(ends[i].at) {
			moments = append(moments, i+1)
		}
	}
	if q.beside(&dump.Snapshot) {
		before := 0
		for _, n := range moments {
			ok, err := fits(planner, before, n)
			if ok || err != nil {
				return n, planner, err
			}
			before = n
		}
		return 0, nil, nil
	}
	var found *preemption.Planner
	low, before, high := 0, 0, len(moments) // it does not fit before moments[low], but at moments[high], if there is one
	for low < high {
		middle := len(moments) - 1 // first of all: does it ever?
		if found != nil {
			middle = low + (high-low)/2
		}
		fork := planner.Fork()
		switch ok, err := fits(fork, before, moments[middle]); {
		case err != nil:
			return 0, nil, err
		case ok:
			high, found = middle, fork
		case found == nil:
			return 0, nil, nil
		default:
			low, before, planner = middle+1, moments[middle], fork
		}
	}
	if found == nil {
		return 0, nil, nil
	}
	return moments[high], found, nil
}

// beside reports whether a pod that asks wants to be beside others.
func (q *question) beside(s *cluster.Snapshot) bool {
	wants := func(p *cluster.Pod) bool { return len(p.Affinity) > 0 || len(p.Spread) > 0 }
	if len(q.preemptor.Pods) > 0 || q.kind() == cluster.KindPod {
		list := q.preemptor.Pods
		if len(list) == 0 {
			return wants(q.pod)
		}
		return slices.ContainsFunc(list, func(p cluster.Pod) bool { return wants(&p) })
	}
	return slices.ContainsFunc(s.Pods, func(p cluster.Pod) bool { return p.Node == "" && wants(&p) })
}

// waiting tells of waiting beside preemption.
func (r *report) waiting() {
	w := r.willRun
	if w == nil {
		return
	}
	r.Printf("\n")
	if w.Waits == waitsNone {
		r.Printf("It runs now, without waiting.\n")
		return
	}
	var rows []string
	switch w.Waits {
	case waitsUntil:
		nodes := []string{}
		for _, node := range w.Nominations {
			nodes = append(nodes, node)
		}
		slices.Sort(nodes)
		rows = append(rows, strings.Join([]string{
			"waiting", r.in(w.At), few(slices.Compact(nodes)), pods(len(w.Ended), " ends by itself", " end by themselves") + ": " + few(w.Ended),
		}, "\t"))
	default:
		rows = append(rows, "waiting\tunknown\t\t")
	}
	if r.result.Verdict == preemption.Feasible {
		rows = append(rows, strings.Join([]string{
			"preemption", "now", r.result.Domain,
			fmt.Sprintf("%s, after %s of work", pods(len(podNames(r.result.Victims)), " is evicted", " are evicted"), duration.HumanDuration(time.Duration(w.LostSeconds)*time.Second)),
		}, "\t"))
	}
	r.Table("WAY\tIT RUNS\tWHERE\tWHAT IT TAKES", rows)
	known := fmt.Sprintf("Of %d of %d running pods it is known when they end", w.Known, w.Running)
	switch {
	case w.Waits == waitsUntil:
		r.Printf("%s; others may take the room.\n", known)
	case w.Known == 0:
		r.Printf("%s.\n", known)
	default:
		r.Printf("%s, the last %s: it does not fit then, either.\n", known, r.in(w.Last))
	}
}

// in is a moment from now on, in words.
func (r *report) in(t time.Time) string {
	wait := t.Sub(r.dump.Snapshot.Time)
	if wait <= 0 {
		return "now"
	}
	return fmt.Sprintf("in %s (%s)", duration.HumanDuration(wait), t.Format(time.RFC3339))
}
