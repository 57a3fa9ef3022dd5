package preemption_test

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// seen is everything that a View tells.
type seen struct {
	Time                            time.Time
	Nodes                           []preemption.Node
	Pods, Pending, Terminating      []preemption.Pod
	On, Nominated                   map[string][]preemption.Pod
	Free                            map[string]preemption.Resources
	Groups                          []preemption.PodGroup
	Members                         map[string][]preemption.Pod
	Priorities                      map[preemption.PodRef]int32
	Wholes                          map[preemption.PodRef]preemption.Preemptor
	Of                              map[preemption.PodRef][]preemption.PodRef // the pods of the whole
	Budgets                         []preemption.Budget
	NoPod, NoNode, NoGroup, Nowhere bool
}

func gather[T any](list iter.Seq[*T]) (out []T) {
	for v := range list {
		out = append(out, *v)
	}
	return out
}

// look is what the planner's View tells of those whom s names.
func look(pl *preemption.Planner, s *preemption.Snapshot) (out seen, err error) {
	err = pl.View(func(v preemption.View) {
		out = seen{
			Time: v.Time(), Nodes: gather(v.Nodes()), Pods: gather(v.Pods()), Pending: gather(v.Pending()), Terminating: gather(v.Terminating()),
			On: map[string][]preemption.Pod{}, Nominated: map[string][]preemption.Pod{}, Free: map[string]preemption.Resources{},
			NoPod: v.Pod(preemption.PodRef{Name: "nobody"}) == nil, NoNode: v.Node("nowhere") == nil && v.Free("nowhere") == nil,
			Members: map[string][]preemption.Pod{}, Priorities: map[preemption.PodRef]int32{}, Budgets: gather(v.Budgets()),
			Wholes: map[preemption.PodRef]preemption.Preemptor{}, Of: map[preemption.PodRef][]preemption.PodRef{},
			NoGroup: v.PodGroup("", "nobody") == nil && v.Members("", "nobody") != nil && v.Priority(preemption.PodRef{Name: "nobody"}) == 0, Nowhere: len(gather(v.PodsOn("nowhere")))+len(gather(v.NominatedTo("nowhere"))) == 0,
		}
		for _, n := range s.Nodes {
			out.On[n.Name], out.Nominated[n.Name], out.Free[n.Name] = gather(v.PodsOn(n.Name)), gather(v.NominatedTo(n.Name)), v.Free(n.Name)
		}
		for _, g := range s.PodGroups {
			out.Groups = append(out.Groups, *v.PodGroup(g.Namespace, g.Name))
			out.Members[g.Namespace+"/"+g.Name] = gather(v.Members(g.Namespace, g.Name))
		}
		for i, n := range out.Nodes {
			out.Nodes[i] = *v.Node(n.Name)
		}
		for i, p := range out.Pods {
			ref := preemption.PodRef{Namespace: p.Namespace, Name: p.Name}
			out.Pods[i], out.Priorities[ref], out.Wholes[ref] = *v.Pod(ref), v.Priority(ref), v.Whole(ref)
			for member := range v.PodsOf(out.Wholes[ref]) {
				out.Of[ref] = append(out.Of[ref], preemption.PodRef{Namespace: member.Namespace, Name: member.Name})
			}
		}
	})
	return out, err
}

// wholeOf is whom to ask about for p to run, under rules that know composite groups or do not.
func wholeOf(s *preemption.Snapshot, p *preemption.Pod, composites bool) preemption.Preemptor {
	of := preemption.Preemptor{Kind: preemption.KindPod, Namespace: p.Namespace, Name: p.Name}
	i := slices.IndexFunc(s.PodGroups, func(g preemption.PodGroup) bool { return g.Namespace == p.Namespace && g.Name == p.Group })
	if i < 0 {
		return of
	}
	of.Kind, of.Name = preemption.KindPodGroup, p.Group
	parent := s.PodGroups[i].Parent
	for range cluster.MaxTreeDepth - 1 {
		i := slices.IndexFunc(s.CompositePodGroups, func(g preemption.CompositePodGroup) bool { return g.Namespace == p.Namespace && g.Name == parent })
		if i < 0 || !composites || onCycle(s, p.Namespace, parent) {
			break
		}
		of.Kind, of.Name, parent = preemption.KindCompositePodGroup, parent, s.CompositePodGroups[i].Parent
	}
	return of
}

// onCycle reports whether a composite group is above itself.
func onCycle(s *preemption.Snapshot, namespace, name string) bool {
	at := name
	for range len(s.CompositePodGroups) {
		i := slices.IndexFunc(s.CompositePodGroups, func(g preemption.CompositePodGroup) bool { return g.Namespace == namespace && g.Name == at })
		if i < 0 {
			return false
		}
		if at = s.CompositePodGroups[i].Parent; at == name {
			return true
		}
	}
	return false
}

// read is what look has to tell, read from a snapshot.
func read(s *preemption.Snapshot, composites bool) seen {
	out := seen{
		Time: s.Time, Nodes: append([]preemption.Node(nil), s.Nodes...), Pods: append([]preemption.Pod(nil), s.Pods...),
		Groups: append([]preemption.PodGroup(nil), s.PodGroups...), Budgets: append([]preemption.Budget(nil), s.Budgets...),
		Members: map[string][]preemption.Pod{}, Priorities: map[preemption.PodRef]int32{},
		Wholes: map[preemption.PodRef]preemption.Preemptor{}, Of: map[preemption.PodRef][]preemption.PodRef{}, NoPod: true, NoNode: true, NoGroup: true, Nowhere: true,
	}
	slices.SortFunc(out.Nodes, func(a, b preemption.Node) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(out.Pods, func(a, b preemption.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	out.On, out.Nominated, out.Free = map[string][]preemption.Pod{}, map[string][]preemption.Pod{}, map[string]preemption.Resources{}
	for _, n := range out.Nodes {
		free := maps.Clone(n.Allocatable)
		if free == nil {
			free = preemption.Resources{}
		}
		var on, nominated []preemption.Pod
		for _, p := range out.Pods {
			switch {
			case p.Node == n.Name:
				on = append(on, p)
				for name, amount := range p.Requests {
					if free[name] -= amount; free[name] == 0 && n.Allocatable[name] == 0 {
						if _, offered := n.Allocatable[name]; !offered {
							delete(free, name)
						}
					}
				}
				if _, counted := n.Allocatable[cluster.Pods]; counted {
					free[cluster.Pods]--
				}
			case p.Node == "" && p.NominatedNode == n.Name:
				nominated = append(nominated, p)
			}
		}
		out.On[n.Name], out.Nominated[n.Name], out.Free[n.Name] = on, nominated, free
	}
	for _, g := range out.Groups {
		var members []preemption.Pod
		for _, p := range out.Pods {
			if p.Namespace == g.Namespace && p.Group == g.Name {
				members = append(members, p)
			}
		}
		out.Members[g.Namespace+"/"+g.Name] = members
	}
	defer func() {
		for ref, of := range out.Wholes {
			for _, p := range out.Pods {
				if other := (preemption.PodRef{Namespace: p.Namespace, Name: p.Name}); reflect.DeepEqual(out.Wholes[other], of) {
					out.Of[ref] = append(out.Of[ref], other)
				}
			}
		}
	}()
	classes, err := priority.NewClasses(s.PriorityClasses)
	if err != nil {
		panic(err)
	}
	for _, p := range out.Pods {
		resolved, _ := classes.Resolve(priority.Spec{Class: p.Class, Priority: p.Priority, Policy: p.Policy}) // an unknown class: what it has
		ref := preemption.PodRef{Namespace: p.Namespace, Name: p.Name}
		out.Priorities[ref], out.Wholes[ref] = resolved.Priority, wholeOf(s, &p, composites)
		if p.Node == "" {
			out.Pending = append(out.Pending, p)
		}
		if p.Terminating {
			out.Terminating = append(out.Terminating, p)
		}
	}
	return out
}

// View shows one moment, also to a reader who changes the planner while he looks, and
// while others do.
func TestViewShowsOneMoment(t *testing.T) {
	pod := preemption.Pod{Name: "p", Requests: preemption.Resources{cluster.CPU: 1}}
	pl, err := preemption.NewPlanner(&preemption.Snapshot{
		Nodes: []preemption.Node{{Name: "n1", Allocatable: preemption.Resources{cluster.CPU: 2}}}, Pods: []preemption.Pod{pod},
	}, preemption.Options{})
	require.NoError(t, err)
	ref := preemption.PodRef{Name: "p"}
	require.NoError(t, pl.View(func(v preemption.View) {
		require.NoError(t, pl.Bind(ref, "n1"))
		require.Len(t, gather(v.Pending()), 1, "as it was when the look began")
		require.NoError(t, pl.View(func(v preemption.View) {
			require.Equal(t, preemption.Resources{cluster.CPU: 1}, v.Free("n1"))
			require.Len(t, gather(v.PodsOn("n1")), 1)
		}))
	}))

	var changes sync.WaitGroup
	changes.Go(func() {
		for range 200 {
			_ = errors.Join(pl.Remove(ref), pl.SetPod(pod), pl.Bind(ref, "n1")) // each moment has the pod on n1, pending, or not at all
		}
	})
	for range 200 {
		require.NoError(t, pl.View(func(v preemption.View) {
			on, used := len(gather(v.PodsOn("n1"))), 2-v.Free("n1")[cluster.CPU]
			require.EqualValues(t, on, used)
			require.Equal(t, len(gather(v.Pods())), on+len(gather(v.Pending())))
		}))
	}
	changes.Wait()
}

func ExamplePlanner_View() {
	two := preemption.Resources{cluster.CPU: 2000}
	planner, err := preemption.NewPlanner(&preemption.Snapshot{
		Nodes: []preemption.Node{{Name: "n1", Allocatable: preemption.Resources{cluster.CPU: 4000}}},
		Pods:  []preemption.Pod{{Name: "batch", Node: "n1", Requests: two}, {Name: "web", Requests: two}},
	}, preemption.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = planner.View(func(v preemption.View) {
		for pod := range v.Pending() {
			fmt.Println(pod.Name, "waits;", v.Free("n1")[cluster.CPU], "milli-CPU of n1 are free")
		}
		for pod := range v.PodsOn("n1") {
			fmt.Println(pod.Name, "runs on n1")
		}
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// web waits; 2000 milli-CPU of n1 are free
	// batch runs on n1
}
