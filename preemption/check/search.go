package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// maxStates is the default of Model.MaxStates.
const maxStates = 5_000

// edge is a step to another situation.
type edge struct {
	to    int
	event Event
}

// graph holds the situations that were reached.
type graph struct {
	*world
	states []*state
	at     map[string]int
	edges  [][]edge
}

// Check walks the situations of m breadth first. The error is a
// [*cluster.FieldError] for a model that is out of bounds or has a bad object, or what
// the policy returned.
//
// O(s) questions for s situations, whose memory it holds until it returns.
func (m *Model) Check() (*Report, error) { return m.CheckContext(context.Background()) }

// CheckContext is Check that ends once ctx is done, with an error that wraps that of ctx.
func (m *Model) CheckContext(ctx context.Context) (*Report, error) {
	if err := m.validate(); err != nil {
		return nil, err
	}
	limit := m.MaxStates
	if limit == 0 {
		limit = maxStates
	}
	g := &graph{world: newWorld(m), at: map[string]int{}}
	g.reach(g.first())
	for i := 0; i < len(g.states) && i < limit; i++ {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("check: stopped after %d situations: %w", i, err)
		}
		if err := g.expand(i); err != nil {
			return nil, fmt.Errorf("check: situation %d: %w", i, err)
		}
		if m.Progress != nil && i%progressEvery == progressEvery-1 {
			m.Progress(i+1, len(g.states)-i-1)
		}
	}
	return g.report(limit), nil
}

// progressEvery is after how many situations Model.Progress is told.
const progressEvery = 1000

func (g *graph) report(limit int) *Report {
	r := &Report{
		Verdict: NoCycle, States: min(len(g.states), limit), Complete: len(g.states) <= limit, Cycle: g.shortestCycle(),
	}
	for _, edges := range g.edges {
		for _, e := range edges {
			if e.event.Kind == Evict {
				r.Evictions++
			}
		}
	}
	switch {
	case r.Cycle != nil:
		r.Verdict = Cycles
	case !r.Complete:
		r.Verdict = NotExhausted
	}
	return r
}

// reach returns the number of a situation.
func (g *graph) reach(s *state) int {
	key := s.key()
	if i, known := g.at[key]; known {
		return i
	}
	g.at[key] = len(g.states)
	g.states = append(g.states, s)
	g.edges = append(g.edges, nil)
	return len(g.states) - 1
}

// expand adds every step from situation i.
func (g *graph) expand(i int) error {
	s := g.states[i]
	var policy asker
	for w := range g.Workloads {
		if !slices.ContainsFunc(g.members[w], func(p int) bool { return s.pods[p].node < 0 }) {
			continue
		}
		if policy == nil {
			var err error
			if policy, err = g.asker(g.snapshot(s)); err != nil {
				return err
			}
		}
		if err := g.ask(i, w, policy); err != nil {
			return err
		}
	}
	if g.step > 0 {
		later := s.clone()
		later.pass(g.step, g.horizon)
		if to := g.reach(later); to != i {
			g.edges[i] = append(g.edges[i], edge{to, Event{Kind: Wait, Seconds: g.step}})
		}
	}
	return nil
}

// asker answers questions about one snapshot.
type asker interface {
	Preempt(p preemption.Preemptor) (*preemption.Result, error)
}

// asker compiles a snapshot once for all questions about it, if the policy can do so.
func (w *world) asker(s *preemption.Snapshot) (asker, error) {
	if o, ok := w.policy().(preemption.Options); ok {
		return preemption.NewPlanner(s, o)
	}
	return about{w.policy(), s}, nil
}

// about asks a policy about one snapshot.
type about struct {
	policy   Policy
	snapshot *preemption.Snapshot
}

func (a about) Preempt(p preemption.Preemptor) (*preemption.Result, error) {
	return answered(a.policy.Preempt(p, a.snapshot))
}

var errNoAnswer = errors.New("the policy answered with neither a result nor an error")

// answered is what a policy answers, which may be a user's.
func answered(r *preemption.Result, err error) (*preemption.Result, error) {
	if r == nil && err == nil {
		return nil, errNoAnswer
	}
	return r, err
}

// ask lets workload w be placed or evict, in situation i.
func (g *graph) ask(i, w int, policy asker) error {
	preemptor := g.preemptor(w)
	r, err := policy.Preempt(preemptor)
	if err != nil {
		return err
	}
	switch r.Verdict {
	case preemption.Fits:
		g.place(i, w, r)
	case preemption.Feasible:
		g.evictFor(i, w, r)
	}
	if g.Workloads[w].Group != nil || r.Verdict != preemption.Fits {
		return nil
	}
	for _, n := range g.Nodes { // a scheduler may choose any node on which it fits
		preemptor.Placement = map[string]string{words.Key(preemptor.Namespace, preemptor.Name): n.Name}
		r, err := policy.Preempt(preemptor)
		if err != nil {
			return err
		}
		if r.Verdict == preemption.Fits {
			g.place(i, w, r)
		}
	}
	return nil
}

func (g *graph) preemptor(w int) preemption.Preemptor {
	if group := g.Workloads[w].Group; group != nil {
		return preemption.Preemptor{Kind: cluster.KindPodGroup, Namespace: group.Namespace, Name: group.Name}
	}
	p := g.Workloads[w].Pods[0]
	return preemption.Preemptor{Kind: cluster.KindPod, Namespace: p.Namespace, Name: p.Name}
}

// place adds the step in which the pods of workload w start where r says.
func (g *graph) place(i, w int, r *preemption.Result) {
	s := g.states[i].clone()
	e := g.event(Place, w, r)
	for _, n := range r.Nominations {
		p := &s.pods[g.pod(n.Pod)]
		p.node, p.nominated, p.created, p.started = g.node(n.Node), -1, 0, 0
	}
	g.add(i, s, e)
}

// evictFor adds the step in which the victims of r are resubmitted and workload w is
// nominated where they were.
func (g *graph) evictFor(i, w int, r *preemption.Result) {
	s := g.states[i].clone()
	e := g.event(Evict, w, r)
	pods := int64(0)
	for _, v := range r.Victims {
		for _, p := range v.Pods {
			at := g.pod(p.PodRef)
			if whole := g.group[g.of[at]]; whole >= 0 && v.Kind == cluster.KindPodGroup && !v.Surplus && p.PodRef == v.Pods[0].PodRef {
				group := &s.groups[whole]
				group.evicted = g.note(group.evicted)
				if g.longRuns {
					group.ran = max(group.ran, s.pods[at].ran+s.pods[at].started)
				}
			}
			g.evict(s, at)
			e.Victims = append(e.Victims, words.Key(p.Namespace, p.Name))
			pods++
		}
	}
	for _, ref := range r.Cleared {
		s.pods[g.pod(ref)].nominated = -1
	}
	for _, n := range r.Nominations {
		s.pods[g.pod(n.Pod)].nominated = g.node(n.Node)
	}
	if o, ok := g.policy().(preemption.Options); ok && o.Limits.Window.Seconds > 0 {
		s.done = append(s.done, cluster.Disruption{Time: epoch, Victims: int64(len(r.Victims)), Pods: pods, Cost: r.Cost})
	}
	g.add(i, s, e)
}

func (g *graph) event(kind EventKind, w int, r *preemption.Result) Event {
	p := g.preemptor(w)
	e := Event{Kind: kind, Workload: words.Key(p.Namespace, p.Name), Places: map[string]string{}}
	for _, n := range r.Nominations {
		e.Places[words.Key(n.Pod.Namespace, n.Pod.Name)] = n.Node
	}
	return e
}

func (g *graph) add(i int, s *state, e Event) {
	to := g.reach(s)
	if !slices.ContainsFunc(g.edges[i], func(x edge) bool { return x.to == to && x.event.Kind == e.Kind }) {
		g.edges[i] = append(g.edges[i], edge{to, e})
	}
}

func (g *graph) pod(ref preemption.PodRef) int {
	return slices.IndexFunc(g.pods, func(p preemption.Pod) bool { return p.Namespace == ref.Namespace && p.Name == ref.Name })
}

func (g *graph) node(name string) int {
	return slices.IndexFunc(g.Nodes, func(n cluster.Node) bool { return n.Name == name })
}

// String says what happens.
func (e Event) String() string {
	switch e.Kind {
	case Wait:
		return "wait " + words.Seconds(e.Seconds)
	case Evict:
		return fmt.Sprintf("%s evicts %s", e.Workload, strings.Join(e.Victims, " "))
	}
	var places []string
	for pod, node := range e.Places {
		if pod == e.Workload {
			pod = ""
		} else {
			pod += " "
		}
		places = append(places, pod+"on "+node)
	}
	slices.Sort(places)
	return fmt.Sprintf("%s starts %s", e.Workload, strings.Join(places, ", "))
}

// String is the cycle, an event a line, or that none was found.
func (r *Report) String() string {
	switch r.Verdict {
	case NoCycle:
		return fmt.Sprintf("no cycle in %d situations, all that can be reached", r.States)
	case NotExhausted:
		return fmt.Sprintf("not exhausted: no cycle in %d situations, but there are more", r.States)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "a cycle of %d events:", len(r.Cycle))
	for _, e := range r.Cycle {
		fmt.Fprintf(&b, "\n  %s", e)
	}
	return b.String()
}
