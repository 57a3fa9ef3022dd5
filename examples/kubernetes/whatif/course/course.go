package course

import (
	"cmp"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// Status is what becomes of somebody.
type Status string

// The statuses.
const (
	Fits     Status = "fits"     // it gets a place, and nobody has to go
	Preempts Status = "preempts" // it gets a place once others are evicted
	Waits    Status = "waits"    // it gets none
	Gone     Status = "gone"     // it was evicted, and nothing makes it anew
	Stays    Status = "stays"    // draining leaves it on its node
	Held     Status = "held"     // on a node that is drained, by budgets
)

// Outcome is what becomes of a pod or of a group.
type Outcome struct {
	Kind      cluster.Kind `json:"kind"`
	Namespace string       `json:"namespace,omitempty"`
	Name      string       `json:"name"`
	Priority  int32        `json:"priority"`
	Pods      int          `json:"pods"` // that it is about; of a group those that wanted to run
	Status    Status       `json:"status"`
	Why       string       `json:"why,omitempty"` // of who waits or stays, a sentence

	Places  []preemption.Nomination `json:"places,omitempty"`
	Victims []preemption.Victim     `json:"victims,omitempty"` // evicted for it

	// Because is why it needs a place: empty for who was asked about, else [Drained] or
	// who evicted it.
	Because string `json:"because,omitempty"`
}

// Drained is the cause of who had to leave a node that is drained.
const Drained = "drained"

// Who names it: "pod web/shop-1", "PodGroup ml/train".
func (o *Outcome) Who() string { return who(o.Kind, o.Namespace, o.Name) }

func who(kind cluster.Kind, namespace, name string) string {
	if kind == cluster.KindPod {
		return "pod " + namespace + "/" + name
	}
	return string(kind) + " " + namespace + "/" + name
}

// Course asks and carries out.
type Course struct {
	planner *preemption.Planner
	budgets budgets
	classes *priority.Classes
	evicted []homeless
	asked   map[string]bool // who was evicted and asked about already
	look    func(p preemption.Preemptor, r *preemption.Result)

	// Outcomes are in the order in which they came about.
	Outcomes []Outcome
}

// homeless is a pod that needs another place.
type homeless struct {
	pod      cluster.Pod
	priority int32
	because  string
}

// New begins a course on a planner, which it changes. look, if not nil, is called with each
// answer before it is carried out.
func New(planner *preemption.Planner, look func(p preemption.Preemptor, r *preemption.Result)) (*Course, error) {
	s := planner.Snapshot()
	set, err := disruption.NewSet(s.Budgets)
	if err != nil {
		return nil, err
	}
	classes, err := priority.NewClasses(s.PriorityClasses)
	if err != nil {
		return nil, err
	}
	return &Course{
		planner: planner, budgets: budgets{planner: planner, list: s.Budgets, set: set}, classes: classes,
		asked: map[string]bool{}, look: look,
	}, nil
}

// level is the priority of p, 0 if it cannot be resolved: answers complain of that.
func (c *Course) level(p *cluster.Pod) int32 {
	e, _ := c.classes.Resolve(priority.Spec{Class: p.Class, Priority: p.Priority, Policy: p.Policy})
	return e.Priority
}

// Ask asks about a pending pod or group of the planner, and carries out the answer.
func (c *Course) Ask(kind cluster.Kind, namespace, name string) error {
	return c.ask(kind, namespace, name, "")
}

func (c *Course) ask(kind cluster.Kind, namespace, name, because string) error {
	p := preemption.Preemptor{Kind: kind, Namespace: namespace, Name: name}
	o := Outcome{Kind: kind, Namespace: namespace, Name: name, Because: because}
	pending, err := c.pending(&p, &o)
	if err != nil {
		return err
	}
	r, err := c.planner.Preempt(p)
	if err != nil {
		return err
	}
	if c.look != nil {
		c.look(p, r)
	}
	switch r.Verdict {
	case preemption.Feasible:
		o.Status = Preempts
	case preemption.Fits:
		o.Status = Fits
	default:
		o.Status, o.Why = Waits, r.Message
	}
	if o.Status != Waits {
		o.Places, o.Victims = r.Nominations, r.Victims
		if err := c.carryOut(&o, r); err != nil {
			return err
		}
		for i := range pending {
			if because != "" && seated(o.Places, &pending[i]) {
				if err := c.budgets.add(&pending[i], 1); err != nil {
					return err
				}
			}
		}
	}
	c.Outcomes = append(c.Outcomes, o)
	return nil
}

func seated(places []preemption.Nomination, p *cluster.Pod) bool {
	return slices.ContainsFunc(places, func(n preemption.Nomination) bool {
		return n.Pod.Namespace == p.Namespace && n.Pod.Name == p.Name
	})
}

// pending lists the pods that p is about, and counts them in o.
func (c *Course) pending(p *preemption.Preemptor, o *Outcome) (list []cluster.Pod, err error) {
	err = c.planner.View(func(v preemption.View) {
		if p.Kind == cluster.KindPod {
			if pod := v.Pod(preemption.PodRef{Namespace: p.Namespace, Name: p.Name}); pod != nil {
				list = append(list, *pod)
				o.Priority = c.level(pod)
			}
			return
		}
		if g := v.PodGroup(p.Namespace, p.Name); g != nil {
			o.Priority = c.level(&cluster.Pod{Class: g.Class, Priority: g.Priority})
		}
		for pod := range v.Pending() {
			if pod.Namespace == p.Namespace && pod.Group == p.Name {
				list = append(list, *pod)
			}
		}
		slices.SortFunc(list, func(a, b cluster.Pod) int { return cmp.Compare(a.Name, b.Name) })
	})
	o.Pods = max(1, len(list))
	return list, err
}

// carryOut lets the victims of r leave and the preemptor run.
func (c *Course) carryOut(o *Outcome, r *preemption.Result) error {
	if r.Verdict == preemption.Feasible {
		if err := c.planner.Apply(r); err != nil {
			return err
		}
	}
	for i := range r.Victims {
		for _, v := range r.Victims[i].Pods {
			if err := c.leave(v.PodRef, o.Who()); err != nil {
				return err
			}
		}
	}
	for _, n := range r.Nominations {
		if err := c.planner.Bind(n.Pod, n.Node); err != nil {
			return err
		}
	}
	return nil
}

// leave takes a pod from its node. What a controller made is made anew and needs a place;
// the rest is gone.
func (c *Course) leave(ref preemption.PodRef, because string) error {
	var pod cluster.Pod
	if err := c.planner.View(func(v preemption.View) { pod = *v.Pod(ref) }); err != nil {
		return err
	}
	if err := c.budgets.add(&pod, -1); err != nil {
		return err
	}
	if pod.Owner == nil && pod.Group == "" {
		c.Outcomes = append(c.Outcomes, Outcome{
			Kind: cluster.KindPod, Namespace: ref.Namespace, Name: ref.Name, Priority: c.level(&pod), Pods: 1, Status: Gone,
			Why: "no controller makes it anew", Because: because,
		})
		return c.planner.Remove(ref)
	}
	c.evicted = append(c.evicted, homeless{pod, c.level(&pod), because})
	return c.planner.Requeue(ref)
}

// Settle asks about all that were evicted, the most important first, and about whom that
// evicts, until nobody is left who was not asked about.
func (c *Course) Settle() error {
	for len(c.evicted) > 0 {
		slices.SortFunc(c.evicted, func(a, b homeless) int {
			return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.pod.Namespace, b.pod.Namespace), cmp.Compare(a.pod.Name, b.pod.Name))
		})
		next := c.evicted[0]
		c.evicted = c.evicted[1:]
		kind, name := cluster.KindPod, next.pod.Name
		whole, err := c.needsGroup(&next.pod)
		if err != nil {
			return err
		}
		if whole {
			kind, name = cluster.KindPodGroup, next.pod.Group
			c.evicted = slices.DeleteFunc(c.evicted, func(h homeless) bool {
				return h.pod.Namespace == next.pod.Namespace && h.pod.Group == name
			})
		}
		if key := who(kind, next.pod.Namespace, name); !c.asked[key] {
			c.asked[key] = true
			if err := c.ask(kind, next.pod.Namespace, name, next.because); err != nil {
				return err
			}
		}
	}
	return nil
}

// needsGroup reports whether p is of no use without others of its group that do not run.
func (c *Course) needsGroup(p *cluster.Pod) (needs bool, err error) {
	if p.Group == "" {
		return false, nil
	}
	err = c.planner.View(func(v preemption.View) {
		g := v.PodGroup(p.Namespace, p.Group)
		if g == nil || g.MinCount == nil {
			return
		}
		running := int32(0)
		for other := range v.Pods() {
			if other.Namespace == p.Namespace && other.Group == p.Group && other.Node != "" && !other.Terminating {
				running++
			}
		}
		needs = running+1 < *g.MinCount
	})
	return needs, err
}
