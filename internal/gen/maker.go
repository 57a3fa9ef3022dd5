package gen

import (
	"fmt"
	"reflect"
	"time"

	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// Maker makes the objects of a small cluster and of its changes, one at a time. Names
// and values are few, so that what it makes meets what is there, or was: each object is
// a new one of a name that may be taken, or one of the cluster with something changed.
type Maker struct {
	g *gang
	q quota
}

// AnyProfile draws what occurs in a history: mostly some of what there is, since all of
// it at once hides the simple cases.
func AnyProfile(t *rapid.T) GangProfile {
	s := Drawn(t)
	p := anyProfile(s)
	p.Nested = Pick(s, 0, 0, 1, 2)
	return p
}

func anyProfile(s Source) GangProfile {
	p := GangProfile{Profile: Profile{MaxNodes: 5, MaxPods: 12}, MaxMembers: 4}
	if s(5) == 4 {
		p.MaxNodes, p.MaxPods, p.MaxMembers = 12, 40, 16
	}
	among := 1 + s(4)
	for _, f := range flags(&p) {
		f.SetBool(s(among) > 0 || s(8) == 7)
	}
	return p
}

// FewThings is a profile of clusters that have nothing but up to five kinds of things, so that most questions are answered
// the fast way.
func FewThings(seed uint64) GangProfile {
	s := Seeded(seed)
	p := GangProfile{Profile: Profile{MaxNodes: 1 + s(16), MaxPods: 1 + s(60)}, MaxMembers: 1 + s(12)}
	all := flags(&p)
	for range s(6) {
		all[s(len(all))].SetBool(true)
	}
	return p
}

// flags are the fields of p that say what occurs.
func flags(p *GangProfile) (list []reflect.Value) {
	var add func(v reflect.Value)
	add = func(v reflect.Value) {
		for i := range v.NumField() {
			switch f := v.Field(i); f.Kind() {
			case reflect.Struct:
				add(f)
			case reflect.Bool:
				list = append(list, f)
			}
		}
	}
	add(reflect.ValueOf(p).Elem())
	return list
}

// NewMaker returns a maker of what p allows, and the question of the cluster that it
// begins with.
func NewMaker(t *rapid.T, p GangProfile) (*Maker, Question) { return newMaker(Drawn(t), p) }

// RandomWorld is the question that a history of that seed begins with: what any profile has.
func RandomWorld(seed uint64) Question {
	s := Seeded(seed)
	_, q := newMaker(s, anyProfile(s))
	return q
}

func newMaker(s Source, p GangProfile) (*Maker, Question) {
	g, q := newGang(s, p)
	m := &Maker{g: g}
	m.q = newQuota(g.Source, 1000, "default", cluster.CPU, cluster.Memory, cluster.Pods)
	if p.Queues {
		m.q.tree(&g.s, 3, 3)
		for i := range g.Source(5) {
			g.s.Workloads = append(g.s.Workloads, m.q.running(fmt.Sprintf("w%d", i), &g.s))
		}
		for i := range g.Source(3) {
			g.s.Workloads = append(g.s.Workloads, m.q.pending(fmt.Sprintf("w%d", 5+i), &g.s))
		}
	}
	for i := range g.s.Nodes {
		m.equip(&g.s.Nodes[i])
	}
	for i := range g.s.Pods {
		m.dress(&g.s.Pods[i])
		m.level(&g.s.Pods[i])
	}
	for i := range q.Preemptor.Pods {
		m.dress(&q.Preemptor.Pods[i])
	}
	for i := range g.s.PodGroups {
		m.dressGroup(&g.s.PodGroups[i])
	}
	for i := range g.Source(3) {
		g.s.Namespaces = append(g.s.Namespaces, m.namespace(i))
	}
	if !g.s.Time.IsZero() {
		for range g.Source(3) {
			g.s.Disruptions = append(g.s.Disruptions, cluster.Disruption{
				Time: g.moment(), Victims: int64(g.Source(3)), Pods: int64(g.Source(5)), Cost: int64(g.Source(9)),
			})
		}
	}
	q.Snapshot = g.s
	return m, q
}

// See lets what m makes from now on suit s.
func (m *Maker) See(s *cluster.Snapshot) { m.g.s = *s }

// N is a number from 0 to n-1.
func (m *Maker) N(n int) int { return m.g.Source(n) }

// One is one of list, the zero value if there is none.
func One[T any](m *Maker, list []T) (v T) {
	if len(list) > 0 {
		v = list[m.N(len(list))]
	}
	return v
}

// among is fresh, or one of list with a part of fresh.
func among[T any](m *Maker, list []T, fresh T) T {
	if len(list) == 0 || m.N(3) == 2 {
		return fresh
	}
	v := One(m, list)
	to, from := reflect.ValueOf(&v).Elem(), reflect.ValueOf(fresh)
	for range 1 + m.N(2) {
		i := m.N(to.NumField())
		if name := to.Type().Field(i).Name; name != "Name" && name != "Namespace" {
			to.Field(i).Set(from.Field(i))
		}
	}
	return v
}

// Node is a node, perhaps one that grows or shrinks, perhaps one that comes before,
// between or after the others.
func (m *Maker) Node() cluster.Node {
	n := m.g.node(m.N(m.g.p.MaxNodes))
	fresh := m.N(3) == 0
	if fresh {
		n.Name = Pick(m.g.Source, n.Name, n.Name+"-a", n.Name+"-b", "a"+n.Name, "z"+n.Name)
	}
	if labels := m.g.zone(n.Labels); m.g.p.Topology {
		n.Labels = labels
	}
	m.equip(&n)
	if fresh {
		return n
	}
	if old := One(m, m.g.s.Nodes); m.N(3) == 0 && old.Name != "" { // as it was, but for some amounts
		amounts := cluster.Resources{}
		for name, v := range old.Allocatable {
			amounts[name] = v
		}
		for name := range n.Allocatable {
			if _, ok := amounts[name]; ok && m.N(2) == 0 {
				amounts[name] = m.amount(amounts[name])
			}
		}
		old.Allocatable = amounts
		return old
	}
	return among(m, m.g.s.Nodes, n)
}

// amount is another amount in place of v.
func (m *Maker) amount(v int64) int64 {
	return max(0, Pick(m.g.Source, v+1, v-1, 2*v, v/2, v+1000, v-1000, v*3, 0, 7*v))
}

// equip adds what few nodes have.
func (m *Maker) equip(n *cluster.Node) {
	g := m.g
	if g.chance(g.p.Devices, 80) {
		n.Devices = map[string]cluster.DevicePool{GPU: {Count: 1 + int32(g.Source(3)), Capacity: Pick(g.Source, int64(6), 6, 4)}}
	}
	if g.p.Queues && g.Source(2) > 0 {
		labels := map[string]string{"pool": fmt.Sprint(g.Source(2))}
		for k, v := range n.Labels {
			labels[k] = v
		}
		n.Labels = labels
	}
	if g.chance(g.p.Odd, 10) {
		n.Allocatable["example.com/rare"] = int64(g.Source(3))
	}
	if g.chance(g.p.Extremes, 15) {
		n.Allocatable[Pick(g.Source, cluster.CPU, cluster.Memory, GPU, cluster.Pods)] = m.extreme()
	}
}

// extreme is an amount at the ends of what there is.
func (m *Maker) extreme() int64 {
	return Pick(m.g.Source, int64(1<<63-1), 1<<62, 1<<62-1, 1<<53+1, 1<<32, 1<<31-1, 1, 0)
}

// Pod is a running, pending or nominated pod.
func (m *Maker) Pod() cluster.Pod {
	g := m.g
	var p cluster.Pod
	switch i := g.Source(4); {
	case i == 3 && g.p.Nominations:
		p = g.nominee(g.Source(3))
	case i == 2:
		p = g.member(m.podGroup())
	default:
		p = g.running(g.Source(g.p.MaxPods))
		if i == 1 {
			p.Node = ""
		}
	}
	if g.chance(true, 20) {
		g.place(&p)
	}
	if g.p.Guards {
		g.guarded(&p.Guard, &p.Evictions, &p.RanSeconds)
	}
	if g.p.Ties {
		g.tie(&p)
	}
	p.PreemptionPriority = g.raised(p.Priority)
	m.dress(&p)
	p = among(m, g.s.Pods, p)
	m.level(&p)
	return p
}

// level gives p the priority of its group.
func (m *Maker) level(p *cluster.Pod) {
	for _, pg := range m.g.s.PodGroups {
		if m.g.p.Even && pg.Namespace == p.Namespace && pg.Name == p.Group {
			p.Priority = pg.Priority
		}
	}
}

func (m *Maker) podGroup() string { return One(m, m.g.s.PodGroups).Name }

// dress adds what few pods have.
func (m *Maker) dress(p *cluster.Pod) {
	g := m.g
	if g.chance(g.p.Tokens, 30) {
		p.Tokens = Pick(g.Source, []string{"lock"}, []string{"licence"}, []string{"licence", "lock"})
	}
	if g.chance(g.p.Devices, 60) {
		p.Devices = m.devices()
	}
	p.Cost = m.cost()
	m.watch(&p.Guard)
	if g.chance(g.p.Queues, 60) && len(g.s.LocalQueues) > 0 {
		p.Namespace, p.Queue = "default", One(m, g.s.LocalQueues).Name
	}
	if g.chance(g.p.Odd, 10) {
		p.Class = Pick(g.Source, "unknown", "class1", priority.SystemNodeCritical)
	}
	if g.chance(g.p.Ties, 10) {
		m.stretch(p)
	}
	if !g.chance(g.p.Extremes, 15) {
		return
	}
	switch g.Source(6) {
	case 0:
		p.Requests = cluster.Resources{Pick(g.Source, cluster.CPU, cluster.Memory, GPU): m.extreme()}
	case 1:
		v := Pick(g.Source, int32(-1<<31), 1<<31-1, priority.MaxUserValue, priority.SystemClusterCriticalValue)
		p.Priority = &v
	case 2:
		p.Started = m.farTime()
	case 3:
		p.Created = m.farTime()
	case 4:
		p.RanSeconds = m.extreme()
	case 5:
		p.Scheduled = m.farTime()
	}
}

// stretch makes p use what terms of affinity and spread have beside a selector.
func (m *Maker) stretch(p *cluster.Pod) {
	g := m.g
	term := cluster.AffinityTerm{TopologyKey: Pick(g.Source, "zone", "rack"), Selector: g.selector()}
	switch g.Source(5) {
	case 0:
		term.Namespaces = []string{Pick(g.Source, "default", "team", "gone")}
	case 1:
		term.NamespaceSelector = Pick(g.Source, &disruption.Selector{}, &disruption.Selector{MatchLabels: map[string]string{"env": "prod"}})
	case 2:
		term.MatchLabelKeys = []string{"app"}
	case 3:
		term.MismatchLabelKeys = []string{"app"}
	}
	switch g.Source(3) {
	case 0:
		p.AntiAffinity = append(p.AntiAffinity, term)
	case 1:
		p.Affinity = append(p.Affinity, term)
	case 2:
		s := cluster.Spread{MaxSkew: 1, TopologyKey: term.TopologyKey, Selector: term.Selector, MatchLabelKeys: term.MatchLabelKeys}
		s.MinDomains = int32(g.Source(4))
		s.NodeAffinityPolicy = Pick(g.Source, "", cluster.Honor, cluster.Ignore)
		s.NodeTaintsPolicy = Pick(g.Source, "", cluster.Honor, cluster.Ignore)
		p.Spread = append(p.Spread, s)
	}
}

func (m *Maker) farTime() time.Time {
	return Pick(m.g.Source, time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC),
		time.Unix(0, 0).UTC(), time.Date(1677, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2263, 1, 1, 0, 0, 0, 0, time.UTC))
}

// devices are requests for what nodes may have, or not.
func (m *Maker) devices() []cluster.DeviceRequest {
	r := cluster.DeviceRequest{Resource: GPU}
	switch m.N(6) {
	case 0:
		r.Count = 1 + int32(m.N(2))
	case 1:
		r.Count, r.Assigned = 1, []int32{int32(m.N(3))}
	case 2:
		r.Fraction, r.Assigned = 3+int64(m.N(2)), []int32{int32(m.N(3))} // few of which are beyond one device
	default:
		r.Fraction = 2 + int64(m.N(4))
	}
	if m.N(5) == 4 {
		return []cluster.DeviceRequest{r, {Resource: GPU, Fraction: 3}}
	}
	return []cluster.DeviceRequest{r}
}

// cost is what is known of a price, mostly nothing.
func (m *Maker) cost() *cluster.Cost {
	g := m.g
	if !g.chance(g.p.Costs, 60) {
		return nil
	}
	c := &cluster.Cost{Fixed: int64(g.Source(5)), RestartSeconds: int64(60 * g.Source(3))}
	if g.Source(3) == 0 && !g.s.Time.IsZero() {
		c.Checkpoint = g.moment()
	}
	if g.Source(3) == 0 {
		c.Milestones = []cluster.Milestone{{Seconds: 0, Value: int64(g.Source(9))}, {Seconds: 3600, Value: int64(g.Source(9))}}
	}
	if g.chance(g.p.Extremes, 20) {
		c.Fixed = m.extreme()
	}
	return c
}

// watch lets a guard say how long its pod waits, and when its preemption priority changes.
func (m *Maker) watch(guard **cluster.Guard) {
	g, more := m.g, cluster.Guard{}
	if *guard != nil {
		more = **guard
	}
	if g.chance(g.p.Guards, 10) {
		seconds := Pick(g.Source, int64(0), 3600, 7200)
		more.WaitSeconds = &seconds
	}
	if g.chance(g.p.Guards && g.p.Levels, 30) {
		more.Milestones = []cluster.Milestone{{Seconds: Pick(g.Source, int64(0), 1, 3600), Value: 1010}, {Seconds: 7200, Value: Pick(g.Source, int64(1010), 2000, 1100)}}
	}
	if !reflect.DeepEqual(more, cluster.Guard{}) {
		*guard = &more
	}
}

// PodGroup is a group that pods name, or may.
func (m *Maker) PodGroup() cluster.PodGroup {
	g := m.g
	pg := g.podGroup(g.Source(4))
	if g.Source(3) == 2 {
		pg.Name, pg.Namespace = "gang", "default"
	}
	g.wishes(&pg.Topology)
	if g.p.Guards {
		g.guarded(&pg.Guard, &pg.Evictions, &pg.RanSeconds)
	}
	pg.PreemptionPriority = g.raised(pg.Priority)
	m.dressGroup(&pg)
	if len(g.s.CompositePodGroups) > 0 && m.N(3) == 2 { // one without pods at first
		pg.Namespace, pg.Name, pg.Parent = "default", "child", One(m, g.s.CompositePodGroups).Name
		return pg
	}
	return among(m, g.s.PodGroups, pg)
}

func (m *Maker) dressGroup(pg *cluster.PodGroup) {
	g := m.g
	pg.Cost = m.cost()
	m.watch(&pg.Guard)
	if g.chance(g.p.Elastic, 80) {
		least := int32(1 + g.Source(3))
		pg.Mode, pg.Basic, pg.MinCount = disruption.SurplusFirst, false, &least
		pg.Leader = Pick(g.Source, "", One(m, g.s.Pods).Name)
	}
	if g.chance(g.p.Queues, 50) && len(g.s.LocalQueues) > 0 {
		pg.Namespace, pg.Queue = "default", One(m, g.s.LocalQueues).Name
	}
	if g.chance(g.p.Classes, 20) {
		pg.Class = Pick(g.Source, "class0", "class1", "unknown")
	}
	if g.chance(g.p.Odd, 20) {
		pg.Policy = Pick(g.Source, "", priority.Never, priority.PreemptLowerPriority)
	}
}

// CompositePodGroup is a composite group; some are part of a cycle.
func (m *Maker) CompositePodGroup() cluster.CompositePodGroup {
	g := m.g
	c := g.composite(g.Source(3))
	if g.Source(3) == 2 {
		c.Name = "tree"
	}
	if g.chance(g.p.Odd, 20) {
		c.Parent = One(m, g.s.CompositePodGroups).Name
	}
	g.wishes(&c.Topology)
	if least := int32(1 + g.Source(2)); g.Source(2) > 0 {
		c.MinGroupCount = &least
	}
	if g.p.Guards {
		g.guarded(&c.Guard, &c.Evictions, &c.RanSeconds)
	}
	c.PreemptionPriority, c.Cost = g.raised(c.Priority), m.cost()
	m.watch(&c.Guard)
	if g.chance(g.p.Elastic, 30) {
		c.Mode = disruption.SurplusFirst
	}
	return among(m, g.s.CompositePodGroups, c)
}

// Budget is a budget, of other pods than before perhaps.
func (m *Maker) Budget() disruption.Budget {
	b := m.g.budget(m.N(4))
	if m.g.chance(m.g.p.Extremes, 20) {
		b.Allowed = Pick(m.g.Source, int32(1<<31-1), -1<<31)
	}
	return among(m, m.g.s.Budgets, b)
}

// PriorityClass is a class; there may be two defaults then, which is refused.
func (m *Maker) PriorityClass() priority.Class {
	g := m.g
	c := g.class(g.Source(len(classValues)))
	c.GlobalDefault = g.Source(6) == 5
	if g.p.Guards {
		g.guardClass(&c)
		c.WaitSeconds = Pick(g.Source, int64(0), 0, 3600, 7200)
	}
	if g.Source(4) == 3 {
		c.Value += 5
	}
	return among(m, g.s.PriorityClasses, c)
}

// Namespace is a namespace with labels or without.
func (m *Maker) Namespace() cluster.Namespace { return among(m, m.g.s.Namespaces, m.namespace(m.N(3))) }

func (m *Maker) namespace(i int) cluster.Namespace {
	return cluster.Namespace{
		Name: []string{"default", "team", "ns"}[i], Labels: Pick(m.g.Source, nil, map[string]string{"env": "prod"}, map[string]string{"env": "dev"}),
	}
}

// ResourceFlavor is a flavor, perhaps of other nodes than before.
func (m *Maker) ResourceFlavor() cluster.ResourceFlavor {
	f := m.q.flavor(m.N(len(m.q.flavors)))
	switch m.N(4) {
	case 0:
		f.NodeLabels = nil
	case 1:
		f.NodeTaints = []cluster.Taint{{Key: "dedicated", Value: "ml", Effect: cluster.NoSchedule}}
	case 2:
		f.Tolerations = []cluster.Toleration{m.g.toleration()}
	}
	return among(m, m.g.s.ResourceFlavors, f)
}

// ClusterQueue is a queue, perhaps of another cohort than before.
func (m *Maker) ClusterQueue() cluster.ClusterQueue {
	q := m.q.queue(fmt.Sprintf("q%d", m.N(3)), Pick(m.g.Source, "", "co0", "co0", "co1", "co2"))
	if m.N(4) == 3 {
		q.Preemption.WaitSeconds = Pick(m.g.Source, int64(1), 3600)
	}
	return among(m, m.g.s.ClusterQueues, q)
}

// Cohort is a cohort; some are part of a cycle.
func (m *Maker) Cohort() cluster.Cohort {
	return among(m, m.g.s.Cohorts, m.q.cohort(m.N(3), []string{"co0", "co1", "co2"}))
}

// LocalQueue is a way into a ClusterQueue that may be missing.
func (m *Maker) LocalQueue() cluster.LocalQueue {
	q := m.q.local(m.N(3), m.N(2))
	q.Stopped = m.N(8) == 7
	return among(m, m.g.s.LocalQueues, q)
}

// Workload is a workload that holds quota or waits.
func (m *Maker) Workload() cluster.Workload {
	name := fmt.Sprintf("w%d", m.N(8))
	var w cluster.Workload
	switch {
	case len(m.g.s.ClusterQueues) == 0:
		w = cluster.Workload{Namespace: "default", Name: name, Queue: "lq0-0", PodSets: []cluster.PodSet{{Name: "main", Count: 1}}}
	case m.N(2) == 0:
		w = m.q.pending(name, &m.g.s)
	default:
		w = m.q.running(name, &m.g.s)
	}
	if m.g.Source(4) == 3 {
		w.Created = m.g.moment()
	}
	if m.g.Source(4) == 3 {
		w.OnPreemption = "requeue"
	}
	return among(m, m.g.s.Workloads, w)
}

// Time is a time before or after that of the cluster, or none.
func (m *Maker) Time() time.Time {
	now := m.g.s.Time
	if now.IsZero() {
		now = epoch.Add(6 * time.Hour)
	}
	step := Pick(m.g.Source, time.Second, -time.Second, time.Hour, -time.Hour, 1, -1, 24*time.Hour, 0)
	switch m.N(12) {
	case 11:
		return time.Time{}
	case 10:
		if m.g.p.Extremes {
			return m.farTime()
		}
	}
	return now.Add(step)
}

// Preemptor is somebody who may want to run, by name or inline; some are none.
func (m *Maker) Preemptor() cluster.Preemptor {
	g := m.g
	switch g.Source(9) {
	case 0, 1:
		g.s.Pods = g.s.Pods[:len(g.s.Pods):len(g.s.Pods)] // it may add the pod to a copy of the list
		n := len(g.s.Pods)
		p := g.preemptor()
		if p.Name != "" { // in the copy only
			p = cluster.Preemptor{Pods: []cluster.Pod{g.s.Pods[n]}}
			g.s.Pods = g.s.Pods[:n]
		}
		m.dress(&p.Pods[0])
		if g.p.Ties {
			g.tie(&p.Pods[0])
		}
		return p
	case 2:
		pg := One(m, g.s.PodGroups)
		if pg.Name == "" || g.Source(2) > 0 {
			pg = m.PodGroup()
		}
		p := cluster.Preemptor{Group: &pg}
		for range 1 + g.Source(g.p.MaxMembers) {
			member := g.member(pg.Name)
			member.Namespace = pg.Namespace
			m.dress(&member)
			member.Namespace, member.Node = pg.Namespace, ""
			p.Pods = append(p.Pods, member)
		}
		return p
	case 3:
		pg := One(m, g.s.PodGroups)
		p := cluster.Preemptor{Kind: cluster.KindPodGroup, Namespace: pg.Namespace, Name: pg.Name}
		if g.Source(8) == 7 {
			p.Placement = map[string]string{}
			for _, pod := range g.s.Pods {
				if pod.Group == pg.Name && pod.Namespace == pg.Namespace && g.Source(4) > 0 {
					p.Placement[pod.Namespace+"/"+pod.Name] = One(m, g.s.Nodes).Name
				}
			}
		}
		return p
	case 4:
		c := One(m, g.s.CompositePodGroups)
		return cluster.Preemptor{Kind: cluster.KindCompositePodGroup, Namespace: c.Namespace, Name: c.Name}
	case 5:
		w := One(m, g.s.Workloads)
		return cluster.Preemptor{Kind: cluster.KindWorkload, Namespace: w.Namespace, Name: w.Name}
	case 6:
		if len(g.s.ClusterQueues) > 0 {
			w := m.q.pending("w9", &g.s)
			return cluster.Preemptor{Kind: cluster.KindWorkload, Workload: &w}
		}
	}
	var pending []cluster.Pod
	for _, p := range g.s.Pods {
		if p.Node == "" || g.Source(16) == 15 {
			pending = append(pending, p)
		}
	}
	p := One(m, pending)
	return cluster.Preemptor{Kind: cluster.KindPod, Namespace: p.Namespace, Name: p.Name}
}
