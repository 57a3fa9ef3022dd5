package preemption_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/genopts"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// life is that of a planner. After every change it is held against a planner
// that begins with its snapshot: the same answers, to the last empty list, the same
// errors, and after each change the same cluster.
type life struct {
	*gen.Maker
	options preemption.Options
	checks  int // for better placements of a gang, which decide between ways to look for them
	live    *preemption.Planner
	fresh   *preemption.Planner // begins with what live is; nil: its snapshot is refused
	now     *preemption.Snapshot
	good    *preemption.Snapshot // the last one that was readable
	over    bool                 // a node was overcommitted, or beyond packing, once: Stats.Trials may differ

	news    int  // one question of so many is a new one: what is asked again is answered by what is remembered
	lone    bool // lone pods ask
	asked   []preemption.Preemptor
	answers []*preemption.Result
	forks   []aside

	parked map[*preemption.Planner][]parkedAsk
}

// parkedAsk is a preemptor that is parked, and the verdict on it then.
type parkedAsk struct {
	preemptor preemption.Preemptor
	verdict   preemption.Verdict
}

// aside is a fork that is put aside, and what it was then.
type aside struct {
	live *preemption.Planner
	now  *preemption.Snapshot
	over bool
}

// told is v in a log, written when it is read.
type told struct{ v any }

func (x told) String() string {
	text, err := json.Marshal(x.v)
	if err != nil {
		return fmt.Sprintf("%+v", x.v)
	}
	return string(text)
}

// begin starts a history; it is skipped where the cluster is refused.
func begin(t *rapid.T, p gen.GangProfile, o preemption.Options) *life {
	m, q := gen.NewMaker(t, p)
	h := &life{Maker: m, options: o, asked: []preemption.Preemptor{q.Preemptor}, parked: map[*preemption.Planner][]parkedAsk{}}
	live, err := preemption.NewPlanner(&q.Snapshot, h.options)
	if err != nil {
		t.SkipNow()
	}
	h.live, h.news, h.checks = live, []int{1, 2, 4, 8}[h.N(4)], []int{50_000, 50_000, 0, 100, 3000}[h.N(5)]
	t.Logf("options %v, hooks %+v, %d checks\nsnapshot %v", told{h.options}, h.options.Hooks, h.checks, told{q.Snapshot})
	h.look(t)
	return h
}

// look finds out what the cluster is, and makes the planner that begins with it.
func (h *life) look(t *rapid.T) {
	h.now = h.live.Snapshot()
	h.See(h.now)
	var err error
	if h.fresh, err = preemption.NewPlanner(h.now, h.options); err == nil {
		h.good, h.over = h.now, h.over || overcommitted(h.now)
		same(t, "the snapshot of a planner that begins with it", h.now, h.fresh.Snapshot())
		return
	}
	_, err2 := h.live.Preempt(h.asked[0])
	same(t, "the error", fmt.Sprint(err), fmt.Sprint(err2))
	t.Logf("the cluster is refused: %v", err)
	if h.N(8) < 7 {
		h.live, err = preemption.NewPlanner(h.good, h.options)
		require.NoError(t, err)
		h.over = false
		h.look(t)
	}
}

// overcommitted reports whether pods ask for more of some node than it offers, or it offers so
// much that it is packed into no column.
func overcommitted(s *preemption.Snapshot) bool {
	return slices.ContainsFunc(s.Nodes, func(n cluster.Node) bool {
		used := preemption.Resources{}
		for _, v := range n.Allocatable {
			if v >= 1<<62 {
				return true
			}
		}
		for _, p := range s.Pods {
			if p.Node == n.Name {
				used[cluster.Pods]++
				for name, v := range p.Requests {
					used[name] += v
				}
			}
		}
		for name, v := range used {
			if most, limited := n.Allocatable[name]; v > most && (limited || name != cluster.Pods) {
				return true
			}
		}
		return false
	})
}

func same(t *rapid.T, what string, want, got any) {
	if reflect.DeepEqual(want, got) {
		return
	}
	t.Fatalf("%s (-fresh +live):\n%s\nfresh %v\nlive  %v", what, cmp.Diff(want, got), told{want}, told{got})
}

// change makes a change on both planners. It does to both the same.
func (h *life) change(t *rapid.T, name string, what any, f func(pl *preemption.Planner) error) {
	err := f(h.live)
	t.Logf("%s %v: %v", name, told{what}, err)
	if h.fresh != nil {
		same(t, "the error of "+name, fmt.Sprint(f(h.fresh)), fmt.Sprint(err))
		same(t, "the cluster after "+name, h.fresh.Snapshot(), h.live.Snapshot())
	}
	h.look(t)
}

// read asks both planners the same, one on several goroutines. Where they are hashed, the
// question must have left no trace.
func (h *life) read(t *rapid.T, name string, what any, f func(pl *preemption.Planner) any) any {
	if h.fresh == nil {
		return nil
	}
	t.Logf("%s %v", name, told{what})
	require.NoError(t, h.live.Tune(3, 2, h.checks))
	require.NoError(t, h.fresh.Tune(1, 2, h.checks))
	hashed := h.N(8) == 7
	before, err := h.fingerprint(hashed)
	require.NoError(t, err)
	got := f(h.live)
	after, err := h.fingerprint(hashed)
	require.NoError(t, err)
	same(t, "what is reached from the planner, by field, around "+name, before, after)
	same(t, fmt.Sprintf("%s %v", name, told{what}), f(h.fresh), got)
	return got
}

func (h *life) fingerprint(hashed bool) (map[string]uint64, error) {
	if !hashed {
		return nil, nil
	}
	return h.live.Fingerprint()
}

// preemptor is somebody new, or somebody who has asked before.
func (h *life) preemptor() preemption.Preemptor {
	if h.N(h.news) > 0 {
		return h.asked[h.N(len(h.asked))]
	}
	p := h.Preemptor()
	for h.lone && (p.Group != nil || p.Kind != "" && p.Kind != cluster.KindPod) {
		p = h.Preemptor()
	}
	if h.asked = append(h.asked, p); len(h.asked) > 6 {
		h.asked = h.asked[1:]
	}
	return p
}

type answered struct {
	Result *preemption.Result
	Err    string
}

// preempt asks for an answer, which may be applied later.
func (h *life) preempt(t *rapid.T, p preemption.Preemptor) {
	got, _ := h.read(t, "Preempt", p, func(pl *preemption.Planner) any {
		r, err := pl.Preempt(p)
		return h.answered(r, err)
	}).(answered)
	if got.Result == nil {
		return
	}
	t.Logf("  %s; victims %d", got.Result.Message, len(got.Result.Victims))
	h.keep(got.Result)
}

func (h *life) answered(r *preemption.Result, err error) answered {
	if err != nil {
		return answered{nil, err.Error()}
	}
	if h.over {
		r.Stats.Trials = 0
	}
	return answered{r, ""}
}

func (h *life) keep(r *preemption.Result) {
	if h.answers = append(h.answers, r); len(h.answers) > 4 {
		h.answers = h.answers[1:]
	}
}

// answer is an earlier answer, perhaps a late one, perhaps tampered with.
func (h *life) answer(t *rapid.T) *preemption.Result {
	if len(h.answers) == 0 {
		return nil
	}
	r := h.answers[len(h.answers)-1]
	if h.N(4) == 3 {
		r = h.answers[h.N(len(h.answers))]
	}
	if h.N(6) == 5 {
		r = h.forge(r)
	}
	return r
}

// forge is r with something changed.
func (h *life) forge(r *preemption.Result) *preemption.Result {
	f := *r
	f.Victims, f.Nominations, f.Cleared = slices.Clone(r.Victims), slices.Clone(r.Nominations), slices.Clone(r.Cleared)
	if r.Quota != nil {
		q := *r.Quota
		f.Quota = &q
	}
	other := h.answers[h.N(len(h.answers))]
	switch h.N(16) {
	case 0: // as read from JSON
		f.Preemptor.Inline = nil
	case 1:
		f.Verdict = []preemption.Verdict{preemption.Feasible, preemption.Fits, preemption.Waiting, preemption.Infeasible, "?"}[h.N(5)]
	case 2:
		f.Victims = nil
	case 3:
		f.Victims = append(f.Victims, other.Victims...)
	case 4:
		if len(f.Victims) > 0 {
			f.Victims = f.Victims[1:]
		}
	case 5:
		f.Nominations = nil
	case 6:
		f.Nominations = append(f.Nominations, other.Nominations...)
	case 7:
		if len(f.Nominations) > 0 {
			f.Nominations[0].Node = gen.One(h.Maker, h.now.Nodes).Name
		}
	case 8:
		f.Preemptor = other.Preemptor
	case 9:
		f.Preemptor.Kind = []cluster.Kind{cluster.KindPod, cluster.KindPodGroup, cluster.KindCompositePodGroup, cluster.KindWorkload, "?"}[h.N(5)]
	case 10:
		f.Quota = other.Quota
	case 11:
		if f.Quota != nil {
			f.Quota.Counts = []int32{1, -1}[h.N(2):]
		}
	case 12:
		if f.Quota != nil && len(f.Quota.Flavors) > 0 {
			f.Quota.Flavors = slices.Clone(f.Quota.Flavors)
			f.Quota.Flavors[0].Amount = []int64{-1, 1 << 62, 0, 1<<63 - 1}[h.N(4)]
		}
	case 13:
		f.Cleared = append(f.Cleared, preemption.PodRef{Namespace: "default", Name: gen.One(h.Maker, h.now.Pods).Name})
	case 14:
		if len(f.Victims) > 0 {
			f.Victims[0].Pods = nil
		}
	case 15:
		f.Budgets = nil
	}
	return &f
}

func (h *life) podRef() preemption.PodRef {
	if h.N(16) == 15 {
		return preemption.PodRef{Namespace: "default", Name: "nobody"}
	}
	p := gen.One(h.Maker, h.now.Pods)
	return preemption.PodRef{Namespace: p.Namespace, Name: p.Name}
}

func (h *life) node() string {
	if h.N(16) == 15 {
		return []string{"", "nowhere"}[h.N(2)]
	}
	return gen.One(h.Maker, h.now.Nodes).Name
}

// target is a node or a unit, or neither.
func (h *life) target() preemption.Target {
	switch h.N(5) {
	case 0, 1:
		return preemption.NodeTarget(h.node())
	case 2:
		g := gen.One(h.Maker, h.now.PodGroups)
		return preemption.UnitTarget(g.Namespace + "/" + g.Name)
	case 3:
		w := gen.One(h.Maker, h.now.Workloads)
		return preemption.UnitTarget(w.Namespace + "/" + w.Name)
	}
	p := h.podRef()
	return preemption.UnitTarget(p.Namespace + "/" + p.Name)
}

// fork puts the planner or its fork aside, and goes on with the other, or with one that
// was put aside before.
func (h *life) fork(t *rapid.T) {
	if len(h.forks) > 0 && h.N(2) == 0 {
		i := h.N(len(h.forks))
		f := h.forks[i]
		t.Logf("back to what was put aside")
		same(t, "a fork that was put aside", f.now, f.live.Snapshot())
		h.forks[i] = aside{h.live, h.live.Snapshot(), h.over}
		h.live, h.over = f.live, f.over
		h.look(t)
		return
	}
	f := aside{h.live.Fork(), h.now, h.over}
	if h.N(2) == 0 {
		h.live, f.live = f.live, h.live
	}
	t.Logf("Fork")
	if h.forks = append(h.forks, f); len(h.forks) > 2 {
		h.forks = h.forks[1:]
	}
	h.look(t)
}

// gather plans some pods one by one, on both planners.
func (h *life) gather(t *rapid.T) {
	var pods []preemption.Preemptor
	for range 1 + h.N(3) {
		p := h.Preemptor()
		if p.Kind != cluster.KindPod {
			ref := h.podRef()
			p = preemption.Preemptor{Kind: cluster.KindPod, Namespace: ref.Namespace, Name: ref.Name}
		}
		pods = append(pods, p)
	}
	type gathered struct {
		Each []answered
		Plan answered
	}
	got, _ := h.read(t, "Gather", pods, func(pl *preemption.Planner) any {
		g, out := pl.Gather(), gathered{}
		for _, p := range pods {
			r, err := g.Preempt(p)
			out.Each = append(out.Each, h.answered(r, err))
		}
		plan, err := g.Plan()
		out.Plan = h.answered(plan, err)
		return out
	}).(gathered)
	if plan := got.Plan.Result; plan != nil {
		h.keep(plan)
	}
}

// actions has one for each method of Planner, by its name.
func (h *life) actions() map[string]func(t *rapid.T) {
	type pl = preemption.Planner
	named := func(name string, f func() (key [2]string, change func(*pl) error)) func(t *rapid.T) {
		return func(t *rapid.T) {
			key, change := f()
			h.change(t, name, key, change)
		}
	}
	remove := func(name string, key func() [2]string, f func(p *pl, namespace, name string) error) func(t *rapid.T) {
		return named(name, func() ([2]string, func(*pl) error) {
			k := key()
			if h.N(16) == 15 {
				k[1] = "nobody"
			}
			return k, func(p *pl) error { return f(p, k[0], k[1]) }
		})
	}
	return map[string]func(t *rapid.T){
		"SetPod": func(t *rapid.T) {
			v := h.Pod()
			h.change(t, "SetPod", v, func(p *pl) error { return p.SetPod(v) })
		},
		"SetNode": func(t *rapid.T) {
			v := h.Node()
			h.change(t, "SetNode", v, func(p *pl) error { return p.SetNode(v) })
		},
		"SetPodGroup": func(t *rapid.T) {
			v := h.PodGroup()
			h.change(t, "SetPodGroup", v, func(p *pl) error { return p.SetPodGroup(v) })
		},
		"SetCompositePodGroup": func(t *rapid.T) {
			v := h.CompositePodGroup()
			h.change(t, "SetCompositePodGroup", v, func(p *pl) error { return p.SetCompositePodGroup(v) })
		},
		"SetBudget": func(t *rapid.T) {
			v := h.Budget()
			h.change(t, "SetBudget", v, func(p *pl) error { return p.SetBudget(v) })
		},
		"SetPriorityClass": func(t *rapid.T) {
			v := h.PriorityClass()
			h.change(t, "SetPriorityClass", v, func(p *pl) error { return p.SetPriorityClass(v) })
		},
		"SetNamespace": func(t *rapid.T) {
			v := h.Namespace()
			h.change(t, "SetNamespace", v, func(p *pl) error { return p.SetNamespace(v) })
		},
		"SetResourceFlavor": func(t *rapid.T) {
			v := h.ResourceFlavor()
			h.change(t, "SetResourceFlavor", v, func(p *pl) error { return p.SetResourceFlavor(v) })
		},
		"SetClusterQueue": func(t *rapid.T) {
			v := h.ClusterQueue()
			h.change(t, "SetClusterQueue", v, func(p *pl) error { return p.SetClusterQueue(v) })
		},
		"SetCohort": func(t *rapid.T) {
			v := h.Cohort()
			h.change(t, "SetCohort", v, func(p *pl) error { return p.SetCohort(v) })
		},
		"SetLocalQueue": func(t *rapid.T) {
			v := h.LocalQueue()
			h.change(t, "SetLocalQueue", v, func(p *pl) error { return p.SetLocalQueue(v) })
		},
		"SetWorkload": func(t *rapid.T) {
			v := h.Workload()
			s := h.live.Snapshot()
			of := slices.IndexFunc(s.Pods, func(p preemption.Pod) bool { return p.Queue != "" && p.Node != "" })
			if of >= 0 && v.Admission != nil && h.N(2) == 0 { // like that pod, which holds quota, too
				p := &s.Pods[of]
				if v.Namespace, v.Name, v.UID, v.Created, v.Queue = p.Namespace, p.Name, p.UID, p.Created, p.Queue; p.Priority != nil {
					v.Priority, v.Boost = *p.Priority, 0
				}
				admission := *v.Admission // somebody else may have it
				v.Admission, admission.Reserved = &admission, p.Started
				for i := range s.LocalQueues {
					if l := &s.LocalQueues[i]; l.Namespace == p.Namespace && l.Name == p.Queue {
						admission.ClusterQueue = l.ClusterQueue
					}
				}
			}
			h.change(t, "SetWorkload", v, func(p *pl) error { return p.SetWorkload(v) })
		},
		"SetTime": func(t *rapid.T) {
			v := h.Time()
			h.change(t, "SetTime", v, func(p *pl) error { return p.SetTime(v) })
		},
		"View": func(t *rapid.T) {
			s := h.live.Snapshot()
			got := h.read(t, "View", nil, func(p *pl) any {
				v, err := look(p, s)
				return []any{v, fmt.Sprint(err)}
			})
			if list, ok := got.([]any); ok && list[1] == "<nil>" {
				same(t, "what is seen", read(s, h.options.Rules != preemption.Kubernetes136), list[0])
			}
		},
		"Bind": func(t *rapid.T) {
			pod, node := h.podRef(), h.node()
			h.change(t, "Bind", []any{pod, node}, func(p *pl) error { return p.Bind(pod, node) })
		},
		"Remove": func(t *rapid.T) {
			pod := h.podRef()
			h.change(t, "Remove", pod, func(p *pl) error { return p.Remove(pod) })
		},
		"Requeue": func(t *rapid.T) {
			pod := h.podRef()
			h.change(t, "Requeue", pod, func(p *pl) error { return p.Requeue(pod) })
		},
		"Spare": func(t *rapid.T) {
			pod := h.podRef()
			h.change(t, "Spare", pod, func(p *pl) error { return p.Spare(pod) })
		},
		"Withdraw": func(t *rapid.T) {
			pod := h.podRef()
			h.change(t, "Withdraw", pod, func(p *pl) error { return p.Withdraw(pod) })
		},
		"RemoveNodeAndPods": func(t *rapid.T) {
			node := h.node()
			h.change(t, "RemoveNodeAndPods", node, func(p *pl) error {
				pods, err := p.RemoveNodeAndPods(node)
				if err != nil {
					return err
				}
				return fmt.Errorf("gone: %v", told{pods}) // compared as an error is
			})
		},
		"RemoveNode": remove("RemoveNode", func() [2]string { return [2]string{"", gen.One(h.Maker, h.now.Nodes).Name} },
			func(p *pl, _, name string) error { return p.RemoveNode(name) }),
		"RemovePodGroup": remove("RemovePodGroup", func() [2]string {
			g := gen.One(h.Maker, h.now.PodGroups)
			return [2]string{g.Namespace, g.Name}
		}, (*pl).RemovePodGroup),
		"RemoveCompositePodGroup": remove("RemoveCompositePodGroup", func() [2]string {
			g := gen.One(h.Maker, h.now.CompositePodGroups)
			return [2]string{g.Namespace, g.Name}
		}, (*pl).RemoveCompositePodGroup),
		"RemoveBudget": remove("RemoveBudget", func() [2]string {
			b := gen.One(h.Maker, h.now.Budgets)
			return [2]string{b.Namespace, b.Name}
		}, (*pl).RemoveBudget),
		"RemovePriorityClass": remove("RemovePriorityClass", func() [2]string { return [2]string{"", gen.One(h.Maker, h.now.PriorityClasses).Name} },
			func(p *pl, _, name string) error { return p.RemovePriorityClass(name) }),
		"RemoveNamespace": remove("RemoveNamespace", func() [2]string { return [2]string{"", gen.One(h.Maker, h.now.Namespaces).Name} },
			func(p *pl, _, name string) error { return p.RemoveNamespace(name) }),
		"RemoveResourceFlavor": remove("RemoveResourceFlavor", func() [2]string { return [2]string{"", gen.One(h.Maker, h.now.ResourceFlavors).Name} },
			func(p *pl, _, name string) error { return p.RemoveResourceFlavor(name) }),
		"RemoveClusterQueue": remove("RemoveClusterQueue", func() [2]string { return [2]string{"", gen.One(h.Maker, h.now.ClusterQueues).Name} },
			func(p *pl, _, name string) error { return p.RemoveClusterQueue(name) }),
		"RemoveCohort": remove("RemoveCohort", func() [2]string { return [2]string{"", gen.One(h.Maker, h.now.Cohorts).Name} },
			func(p *pl, _, name string) error { return p.RemoveCohort(name) }),
		"RemoveLocalQueue": remove("RemoveLocalQueue", func() [2]string {
			q := gen.One(h.Maker, h.now.LocalQueues)
			return [2]string{q.Namespace, q.Name}
		}, (*pl).RemoveLocalQueue),
		"RemoveWorkload": remove("RemoveWorkload", func() [2]string {
			w := gen.One(h.Maker, h.now.Workloads)
			return [2]string{w.Namespace, w.Name}
		}, (*pl).RemoveWorkload),
		"Release": remove("Release", func() [2]string {
			w := gen.One(h.Maker, h.now.Workloads)
			return [2]string{w.Namespace, w.Name}
		}, (*pl).Release),
		"Apply": func(t *rapid.T) {
			r := h.answer(t)
			h.change(t, "Apply", r, func(p *pl) error { return p.Apply(r) })
		},
		"Evict": func(t *rapid.T) {
			r := h.answer(t)
			h.change(t, "Evict", r, func(p *pl) error { return p.Evict(r) })
		},
		"StillValid": func(t *rapid.T) {
			r := h.answer(t)
			h.read(t, "StillValid", r, func(p *pl) any {
				v, err := p.StillValid(r)
				return [2]string{fmt.Sprint(v), fmt.Sprint(err)}
			})
		},
		"Preempt": func(t *rapid.T) { h.preempt(t, h.preemptor()) },
		"Decide": func(t *rapid.T) {
			q := h.preemptor()
			h.read(t, "Decide", q, func(p *pl) any {
				d, err := p.Decide(q)
				return [2]string{fmt.Sprint(d), fmt.Sprint(err)}
			})
		},
		"PreemptContext": func(t *rapid.T) {
			q := h.preemptor()
			h.stopped(t, "PreemptContext", q, func(ctx context.Context) error { _, err := h.live.PreemptContext(ctx, q); return err })
		},
		"PreemptAll": func(t *rapid.T) {
			list := h.several()
			got, _ := h.read(t, "PreemptAll", list, func(p *pl) any {
				rs, err := p.PreemptAll(list)
				for _, r := range rs {
					h.answered(r, nil)
				}
				return []any{rs, fmt.Sprint(err)}
			}).([]any)
			if got != nil && got[1] == "<nil>" {
				rs := got[0].([]*preemption.Result)
				h.carriedOut(t, rs)
				for _, r := range rs {
					h.keep(r)
				}
			}
		},
		"PreemptAllContext": func(t *rapid.T) {
			list := h.several()
			h.stopped(t, "PreemptAllContext", list, func(ctx context.Context) error { _, err := h.live.PreemptAllContext(ctx, list); return err })
		},
		"DecideContext": func(t *rapid.T) {
			q := h.preemptor()
			h.stopped(t, "DecideContext", q, func(ctx context.Context) error { _, err := h.live.DecideContext(ctx, q); return err })
		},
		"WhyNotContext": func(t *rapid.T) {
			q, target := h.preemptor(), h.target()
			h.stopped(t, "WhyNotContext", q, func(ctx context.Context) error { _, err := h.live.WhyNotContext(ctx, q, target); return err })
		},
		"WhyNot": func(t *rapid.T) {
			q, target := h.preemptor(), h.target()
			h.read(t, "WhyNot", []any{q, target}, func(p *pl) any {
				why, err := p.WhyNot(q, target)
				return []any{why, fmt.Sprint(err)}
			})
		},
		"Cycle": func(t *rapid.T) {
			var heads []preemption.Preemptor
			for _, w := range h.now.Workloads {
				if w.Admission == nil && h.N(4) > 0 {
					heads = append(heads, preemption.Preemptor{Kind: cluster.KindWorkload, Namespace: w.Namespace, Name: w.Name})
				}
			}
			if h.N(8) == 7 {
				heads = append(heads, h.Preemptor())
			}
			got, _ := h.read(t, "Cycle", heads, func(p *pl) any {
				list, err := p.Cycle(heads)
				return []any{list, fmt.Sprint(err)}
			}).([]any)
			if got != nil {
				for _, r := range got[0].([]*preemption.Result) {
					h.keep(r)
				}
			}
		},
		"Park": h.park,
		"Wake": h.wake,
		"WakeAt": func(t *rapid.T) { // who is still parked waits for a time to come
			h.wake(t)
			if at := h.live.WakeAt(); !at.IsZero() {
				require.True(t, at.After(h.live.Snapshot().Time), "%v", at)
			}
		},
		"Gather":   h.gather,
		"Snapshot": func(t *rapid.T) { h.look(t) },
		"Fork":     h.fork,
	}
}

// several are preemptors for one call: some drawn, and now and then all pods that wait.
func (h *life) several() (list []preemption.Preemptor) {
	for range h.N(4) {
		list = append(list, h.Preemptor())
	}
	if h.N(2) == 0 {
		for _, p := range h.now.Pods {
			if p.Node == "" {
				list = append(list, preemption.Preemptor{Kind: cluster.KindPod, Namespace: p.Namespace, Name: p.Name})
			}
		}
	}
	return list
}

// carriedOut carries answers out one after the other in a fork, which each of them allows, and
// nobody who was placed by one has to go for another.
func (h *life) carriedOut(t *rapid.T, rs []*preemption.Result) {
	fork, placed := h.live.Fork(), map[preemption.PodRef]bool{}
	for _, r := range rs {
		if r.Verdict != preemption.Feasible && r.Verdict != preemption.Fits {
			continue
		}
		require.NoError(t, leave(fork, r), "%s", r.Message)
		for _, v := range r.Victims {
			for _, p := range v.Pods {
				require.False(t, placed[p.PodRef], "%v was placed", p.PodRef)
			}
		}
		for _, n := range r.Nominations {
			require.NoError(t, fork.Bind(n.Pod, n.Node))
			placed[n.Pod] = true
		}
	}
}

// leave lets the victims of r go, or move to where r says, as later answers of one call see them.
func leave(pl *preemption.Planner, r *preemption.Result) error {
	if len(r.Moves) == 0 {
		return pl.Evict(r)
	}
	err := pl.Apply(r)
	for _, m := range r.Moves {
		err = errors.Join(err, pl.Requeue(m.Pod), pl.Bind(m.Pod, m.Node))
	}
	return err
}

// stopped asks a question that is stopped somewhere, unless it has ended by then. That leaves
// no trace.
func (h *life) stopped(t *rapid.T, name string, q any, ask func(ctx context.Context) error) {
	if h.fresh == nil {
		return
	}
	looks := h.N(60)
	require.NoError(t, h.live.Tune(3, 2, h.checks))
	before, err := h.live.Fingerprint()
	require.NoError(t, err)
	err = ask(waits(int64(looks)))
	t.Logf("%s %v, %d looks: %v", name, told{q}, looks, err)
	after, err := h.live.Fingerprint()
	require.NoError(t, err)
	same(t, "what is reached from the planner, by field, around "+name, before, after)
}

// park parks a preemptor; the answer is that of a planner that begins with the cluster.
func (h *life) park(t *rapid.T) {
	q := h.preemptor()
	if h.fresh != nil { // else there is nothing to tune
		require.NoError(t, h.live.Tune(3, 2, h.checks))
		require.NoError(t, h.fresh.Tune(1, 2, h.checks))
	}
	d, err := h.live.Park(q)
	t.Logf("Park %v: %v %v", told{q}, d, err)
	if h.fresh != nil {
		want, err2 := h.fresh.Decide(q)
		same(t, "the answer of Park", []any{want, fmt.Sprint(err2)}, []any{d, fmt.Sprint(err)})
	}
	if err != nil {
		return
	}
	list := slices.DeleteFunc(h.parked[h.live], func(p parkedAsk) bool { return sameAsk(p.preemptor, q) })
	if d.Verdict != preemption.Fits && d.Verdict != preemption.Feasible {
		list = append(list, parkedAsk{q, d.Verdict})
	}
	h.parked[h.live] = list
}

// sameAsk reports whether two preemptors have a name in common.
func sameAsk(a, b preemption.Preemptor) bool {
	name := func(p preemption.Preemptor) [3]string {
		switch {
		case p.Name != "":
			return [3]string{string(p.Kind), p.Namespace, p.Name}
		case p.Group != nil:
			return [3]string{string(cluster.KindPodGroup), p.Group.Namespace, p.Group.Name}
		case p.Workload != nil:
			return [3]string{string(cluster.KindWorkload), p.Workload.Namespace, p.Workload.Name}
		}
		return [3]string{string(cluster.KindPod), p.Pods[0].Namespace, p.Pods[0].Name}
	}
	return name(a) == name(b)
}

// wake wakes whoever is parked: the verdict on the others is what it was.
func (h *life) wake(t *rapid.T) {
	list, woken := h.parked[h.live], h.live.Wake()
	t.Logf("Wake: %v", told{woken})
	for _, q := range woken {
		before := len(list)
		list = slices.DeleteFunc(list, func(p parkedAsk) bool { return sameAsk(p.preemptor, q) })
		require.Equal(t, before-1, len(list), "%v was not parked", told{q})
	}
	h.parked[h.live] = slices.DeleteFunc(list, func(p parkedAsk) bool {
		if h.fresh == nil {
			return false
		}
		d, err := h.fresh.Decide(p.preemptor)
		if err == nil {
			require.Equal(t, p.verdict, d.Verdict, "%v sleeps", told{p.preemptor})
		}
		return err != nil // it runs, or is gone, and is forgotten
	})
}

// quotaActions say nothing where there is no quota.
var quotaActions = []string{
	"SetResourceFlavor", "SetClusterQueue", "SetCohort", "SetLocalQueue", "SetWorkload", "Release", "Cycle",
	"RemoveResourceFlavor", "RemoveClusterQueue", "RemoveCohort", "RemoveLocalQueue", "RemoveWorkload",
}

// live lets a planner live through random changes and questions.
func live(t *rapid.T, p gen.GangProfile, o preemption.Options, often []string) {
	begin(t, p, o).lead(t, p, often)
}

// lead leads h through them.
func (h *life) lead(t *rapid.T, p gen.GangProfile, often []string) {
	actions := h.actions()
	for name := range actions {
		if !p.Queues && slices.Contains(quotaActions, name) {
			delete(actions, name)
		}
	}
	for i, name := range often {
		actions[fmt.Sprint(name, " too ", i)] = actions[name]
	}
	actions[""] = func(t *rapid.T) {
		if h.N(2) == 0 {
			h.preempt(t, h.preemptor())
		}
	}
	t.Repeat(actions)
}

var changes = []string{"SetPod", "Remove", "Apply", "Evict", "SetNode", "SetNode", "RemoveNode", "SetBudget"} // more often than others

// parkedLife is one in which many wait.
func parkedLife(t *rapid.T) {
	p, o := gen.AnyProfile(t), genopts.Any().Draw(t, "options")
	if rapid.IntRange(0, 3).Draw(t, "plain") > 0 {
		o.Hooks, o.Sampling = nil, nil
	}
	live(t, p, o, append(slices.Repeat([]string{"Park", "Park", "Wake"}, 8), changes...))
}

func anyLife(t *rapid.T) { live(t, gen.AnyProfile(t), genopts.Any().Draw(t, "options"), changes) }

// warmLife is one of plain questions, which are asked again and again, in a cluster that
// is large or small. Most are decided at once, and members of gangs are counted.
func warmLife(t *rapid.T) {
	p, o := gen.AnyProfile(t), genopts.Any().Draw(t, "options")
	p.Profile = gen.Profile{MaxNodes: p.MaxNodes, MaxPods: p.MaxPods, Budgets: p.Budgets, Groups: p.Groups, Nested: p.Nested, Even: true, Placement: p.Placement}
	p.MaxMembers, p.Composite, p.Levels, p.Ties = 12, false, false, false
	if rapid.IntRange(0, 7).Draw(t, "large") == 7 {
		p.MinNodes, p.MaxNodes, p.MaxPods, p.MaxMembers = 60, 160, 300, 30
	}
	o = preemption.Options{Rules: o.Rules, Members: o.Members, Placement: o.Placement, Prefer: o.Prefer}
	live(t, p, o, append(slices.Repeat([]string{"Decide", "Decide", "Decide", "Preempt"}, 6), changes...))
}

// rememberedLife is one in which shapes of pods are asked about again and again under guards,
// prices and bounds, while their ends come and all else changes: what is remembered of each
// node answers most of it.
func rememberedLife(t *rapid.T) {
	p, o := gen.AnyProfile(t), genopts.Remembered().Draw(t, "options")
	p.Queues, p.Tokens, p.Devices, p.Ties, p.Extremes = false, false, false, false, false
	if rapid.IntRange(0, 3).Draw(t, "large") == 3 {
		p.MinNodes, p.MaxNodes, p.MaxPods = 20, 80, 240
	}
	h := begin(t, p, o)
	h.news, h.lone, h.asked = 40, true, nil
	for i := range 3 {
		pod := h.Pod()
		pod.Name, pod.Node, pod.NominatedNode = fmt.Sprint("asks-", i), "", ""
		if rapid.IntRange(0, 3).Draw(t, "alone") > 0 {
			pod.Group = ""
		}
		if i > 0 && (o.Guards.EqualAfterSeconds > 0 || rapid.Bool().Draw(t, "like the first")) { // but for what a shape does not say
			like := h.asked[0].Pods[0]
			like.Name, like.Evictions, like.Guard, like.Created = pod.Name, pod.Evictions, pod.Guard, pod.Created
			like.RanSeconds = rapid.SampledFrom([]int64{0, 1, 7200, 100 * 3600}).Draw(t, "ran")
			pod = like
		}
		h.asked = append(h.asked, preemption.Preemptor{Pods: []preemption.Pod{pod}})
	}
	h.lead(t, p, append(slices.Repeat([]string{"Decide", "Decide", "Decide", "SetTime"}, 6), changes...))
}

// datedLife is one in which guards end, prices grow and priorities climb.
func datedLife(t *rapid.T) {
	p, o := gen.AnyProfile(t), genopts.Dated().Draw(t, "options")
	p.Guards, p.Queues = true, false
	live(t, p, o, append(slices.Repeat([]string{"SetTime", "Bind", "Preempt"}, 5), changes...))
}

// TestHistories: whatever happens to a planner, it answers as one that begins with what
// there is. Some 12,000 steps; with -rapid.checks=9000 a million.
func TestHistories(t *testing.T) {
	t.Parallel()
	for name, narrow := range map[string]func(p *gen.GangProfile){
		"some of everything": func(*gen.GangProfile) {},
		"without quota":      func(p *gen.GangProfile) { p.Queues = false },
		"with quota":         func(p *gen.GangProfile) { p.Queues = true },
	} {
		if testing.Short() && name != "some of everything" {
			continue // their goroutines, which the race detector is about, do the same
		}
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			p, often := gen.AnyProfile(t), changes
			narrow(&p)
			if p.Queues {
				often = slices.Concat(changes, []string{"WhyNot", "WhyNot", "StillValid", "Cycle"})
			}
			live(t, p, genopts.Any().Draw(t, "options"), often)
		}))
	}
	t.Run("warm", rapid.MakeCheck(warmLife))
	t.Run("remembered", rapid.MakeCheck(rememberedLife))
	t.Run("by the clock", rapid.MakeCheck(datedLife))
	t.Run("parked", rapid.MakeCheck(parkedLife))
}

func FuzzHistories(f *testing.F) { f.Fuzz(rapid.MakeFuzz(anyLife)) }

// TestHistoriesHaveEveryMethod: a new method of Planner is part of them.
func TestHistoriesHaveEveryMethod(t *testing.T) {
	actions := (&life{}).actions()
	planner := reflect.TypeFor[*preemption.Planner]()
	for i := range planner.NumMethod() {
		if name := planner.Method(i).Name; !slices.Contains([]string{"Anew", "Compiled", "Fingerprint", "Tune", "Work"}, name) {
			require.Contains(t, actions, name)
		}
	}
}
