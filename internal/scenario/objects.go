package scenario

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// setters say what to do with the value of each key. resources, if not nil, takes
// the keys that are none of them.
func (o object) set(setters map[string]func(value string) error, resources *cluster.Resources) error {
	for _, a := range o.attrs {
		set, known := setters[a.key]
		switch {
		case known:
			if err := set(a.value); err != nil {
				return fmt.Errorf("%s: %s=%s: %w", o.name, a.key, a.value, err)
			}
		case resources != nil && isResource(a.key):
			v, err := amount(a.key, a.value)
			if err != nil {
				return fmt.Errorf("%s: %s=%s: %w", o.name, a.key, a.value, err)
			}
			if *resources == nil {
				*resources = cluster.Resources{}
			}
			(*resources)[a.key] = v
		default:
			return fmt.Errorf("%s: there is no %s", o.name, a.key)
		}
	}
	return nil
}

// into is a setter that keeps what a value is read as.
func into[T any](dst *T, read func(string) (T, error)) func(string) error {
	return func(value string) (err error) {
		*dst, err = read(value)
		return err
	}
}

// pointer is a setter for a field in which nil says something.
func pointer[T any](dst **T, read func(string) (T, error)) func(string) error {
	return func(value string) error {
		v, err := read(value)
		*dst = &v
		return err
	}
}

func namespaced(name string) (namespace, rest string) {
	if ns, rest, ok := strings.Cut(name, "/"); ok {
		return ns, rest
	}
	return "default", name
}

func (s *Scenario) node(o object) error {
	n := cluster.Node{Name: o.name}
	err := o.set(map[string]func(string) error{
		"labels":   into(&n.Labels, labels),
		"taints":   into(&n.Taints, list(taint)),
		"cordoned": into(&n.Unschedulable, yes),
	}, &n.Allocatable)
	s.Snapshot.Nodes = append(s.Snapshot.Nodes, n)
	return err
}

func (s *Scenario) pod(o object) error {
	p, err := pod(o)
	s.Snapshot.Pods = append(s.Snapshot.Pods, p)
	return err
}

func pod(o object) (preemption.Pod, error) {
	name, node, _ := strings.Cut(o.name, "@")
	p := preemption.Pod{Node: node}
	p.Namespace, p.Name = namespaced(name)
	return p, o.set(guarded(&p.Guard, &p.Cost, &p.Evictions, &p.RanSeconds, map[string]func(string) error{
		"uid":          into(&p.UID, text[string]),
		"labels":       into(&p.Labels, labels),
		"nominated":    into(&p.NominatedNode, text[string]),
		"required":     into(&p.RequiredNode, text[string]),
		"ports":        into(&p.Ports, list(port)),
		"tolerate":     into(&p.Tolerations, list(toleration)),
		"select":       into(&p.NodeSelector, labels),
		"affinity":     pointer(&p.NodeAffinity, nodeAffinity),
		"class":        into(&p.Class, text[string]),
		"prio":         pointer(&p.Priority, int32s),
		"preempt-prio": pointer(&p.PreemptionPriority, int32s),
		"policy":       into(&p.Policy, text[priority.Policy]),
		"group":        into(&p.Group, text[string]),
		"queue":        into(&p.Queue, text[string]),
		"owner":        pointer(&p.Owner, owner),
		"created":      into(&p.Created, moment),
		"scheduled":    into(&p.Scheduled, moment),
		"start":        into(&p.Started, moment),
		"near":         into(&p.Affinity, list(affinityTerm)),
		"apart":        into(&p.AntiAffinity, list(affinityTerm)),
		"spread":       into(&p.Spread, list(spread)),
		"tokens":       into(&p.Tokens, list(text[string])),
		"terminating": func(value string) error {
			p.Terminating, p.Preempted = true, value == "preempted"
			if value != "yes" && value != "preempted" {
				return fmt.Errorf("it is yes or preempted")
			}
			return nil
		},
	}), &p.Requests)
}

// guarded adds to setters what pods and groups say about their eviction.
func guarded(guard **cluster.Guard, cost **cluster.Cost, evictions *[]time.Time, ran *int64, setters map[string]func(string) error) map[string]func(string) error {
	g := func() *cluster.Guard {
		if *guard == nil {
			*guard = &cluster.Guard{}
		}
		return *guard
	}
	c := func() *cluster.Cost {
		if *cost == nil {
			*cost = &cluster.Cost{}
		}
		return *cost
	}
	maps.Copy(setters, map[string]func(string) error{
		"guaranteed": func(v string) error { return pointer(&g().GuaranteedSeconds, seconds)(v) },
		"wait":       func(v string) error { return pointer(&g().WaitSeconds, seconds)(v) },
		"standby":    func(v string) error { return into(&g().Standby, yes)(v) },
		"levels":     func(v string) error { return into(&g().Milestones, list(milestone))(v) },
		"cost":       func(v string) error { return into(&c().Fixed, int64s)(v) },
		"checkpoint": func(v string) error { return into(&c().Checkpoint, moment)(v) },
		"restart":    func(v string) error { return into(&c().RestartSeconds, seconds)(v) },
		"costs":      func(v string) error { return into(&c().Milestones, list(milestone))(v) },
		"evicted":    into(evictions, list(moment)),
		"ran":        into(ran, seconds),
	})
	return setters
}

func (s *Scenario) group(o object, members []object) error {
	g := cluster.PodGroup{}
	g.Namespace, g.Name = namespaced(o.name)
	err := o.set(guarded(&g.Guard, &g.Cost, &g.Evictions, &g.RanSeconds, map[string]func(string) error{
		"uid":          into(&g.UID, text[string]),
		"labels":       into(&g.Labels, labels),
		"parent":       into(&g.Parent, text[string]),
		"mode":         into(&g.Mode, text[disruption.Mode]),
		"min":          pointer(&g.MinCount, int32s),
		"leader":       into(&g.Leader, text[string]),
		"basic":        into(&g.Basic, yes),
		"class":        into(&g.Class, text[string]),
		"prio":         pointer(&g.Priority, int32s),
		"preempt-prio": pointer(&g.PreemptionPriority, int32s),
		"policy":       into(&g.Policy, text[priority.Policy]),
		"topology":     into(&g.Topology, list(topology)),
		"queue":        into(&g.Queue, text[string]),
	}), nil)
	s.Snapshot.PodGroups = append(s.Snapshot.PodGroups, g)
	for _, m := range members {
		if err != nil {
			return err
		}
		var p preemption.Pod
		p, err = pod(m)
		p.Namespace, p.Group = g.Namespace, g.Name
		s.Snapshot.Pods = append(s.Snapshot.Pods, p)
	}
	return err
}

func (s *Scenario) composite(o object) error {
	g := cluster.CompositePodGroup{}
	g.Namespace, g.Name = namespaced(o.name)
	err := o.set(guarded(&g.Guard, &g.Cost, &g.Evictions, &g.RanSeconds, map[string]func(string) error{
		"uid":          into(&g.UID, text[string]),
		"labels":       into(&g.Labels, labels),
		"parent":       into(&g.Parent, text[string]),
		"mode":         into(&g.Mode, text[disruption.Mode]),
		"min":          pointer(&g.MinGroupCount, int32s),
		"class":        into(&g.Class, text[string]),
		"prio":         pointer(&g.Priority, int32s),
		"preempt-prio": pointer(&g.PreemptionPriority, int32s),
		"policy":       into(&g.Policy, text[priority.Policy]),
		"topology":     into(&g.Topology, list(topology)),
	}), nil)
	s.Snapshot.CompositePodGroups = append(s.Snapshot.CompositePodGroups, g)
	return err
}

func (s *Scenario) budget(o object) error {
	b := disruption.Budget{}
	b.Namespace, b.Name = namespaced(o.name)
	err := o.set(map[string]func(string) error{
		"allowed":   into(&b.Allowed, int32s),
		"select":    pointer(&b.Selector, selector),
		"disrupted": into(&b.Disrupted, list(text[string])),
	}, nil)
	s.Snapshot.Budgets = append(s.Snapshot.Budgets, b)
	return err
}

func (s *Scenario) class(o object) error {
	c := priority.Class{Name: o.name}
	err := o.set(map[string]func(string) error{
		"value":   into(&c.Value, int32s),
		"policy":  into(&c.Policy, text[priority.Policy]),
		"default": into(&c.GlobalDefault, yes),

		"minimum-preemptable": annotate(&c, priority.MinimumPreemptableAnnotation),
		"toleration-seconds":  annotate(&c, priority.TolerationSecondsAnnotation),
		"guaranteed":          into(&c.GuaranteedSeconds, seconds),
		"wait":                into(&c.WaitSeconds, seconds),
	}, nil)
	s.Snapshot.PriorityClasses = append(s.Snapshot.PriorityClasses, c)
	return err
}

// annotate is a setter of an annotation, taken as it stands.
func annotate(c *priority.Class, key string) func(string) error {
	return func(value string) error {
		if c.Annotations == nil {
			c.Annotations = map[string]string{}
		}
		c.Annotations[key] = value
		return nil
	}
}

func (s *Scenario) namespace(o object) error {
	n := cluster.Namespace{Name: o.name}
	err := o.set(map[string]func(string) error{"labels": into(&n.Labels, labels)}, nil)
	s.Snapshot.Namespaces = append(s.Snapshot.Namespaces, n)
	return err
}
