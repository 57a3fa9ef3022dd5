package workload

import (
	"iter"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/problems"
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Pods are the pods that hold quota, as workloads: each by itself, all of a group that
// names a queue, or all at or beneath one that goes as a whole, where they name the same.
type Pods struct {
	Of       map[*quota.Reservation][]cluster.PodID  // the pods of each
	Holds    map[cluster.PodID]*quota.Reservation    // the other way round
	On       map[cluster.NodeID][]*quota.Reservation // those with pods there
	Expected []Expected
	Odd      []cluster.Warning
	Partial  map[*quota.Reservation]bool // with whose pods others go that hold something else, or nothing: nobody evicts them

	total []int64                  // by column: what they use
	one   map[cluster.GroupID]bool // of groups that go as a whole: all of their pods name one queue

	Cluster *cluster.Index // theirs; nil: there are none, or they are not known
}

// Expected is what a pending pod that is nominated holds: it counts, and cannot be taken
// from it.
type Expected struct {
	*quota.Reservation
	Pod cluster.PodID
}

// Queued adds the pods of one compiled cluster that hold quota to a model: when first asked,
// and again when that, or they, have changed.
type Queued struct {
	any bool // some pod runs, or is nominated, and has a queue

	mu      sync.Mutex
	base    *Model
	version int
	model   *Model // base with the pods
}

// Find notes whether pods of ix, or of what has become of it, may hold quota. It needs
// exclusive use.
func (q *Queued) Find(ix *cluster.Index) {
	q.base, q.model = nil, nil
	q.any = ix.AnyQueued() || slices.ContainsFunc(ix.Queued(), func(p cluster.PodID) bool { return ix.NominatedTo(p) != cluster.NoNode })
}

// ForkOf lets q be of a fork of the cluster that of is of.
func (q *Queued) ForkOf(of *Queued) { q.any = of.any }

// Any reports whether there is a pod that runs, or is nominated, and has a queue.
func (q *Queued) Any() bool { return q.any }

// On returns m with the pods of ix, which Find has seen.
func (q *Queued) On(ix *cluster.Index, m *Model) (*Model, error) {
	if !q.Any() {
		return m, nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	m.Mu.RLock()
	version := m.version
	m.Mu.RUnlock()
	if q.model == nil || q.base != m || q.version != version {
		with, err := withPods(m, ix)
		if err != nil {
			return nil, err
		}
		q.base, q.version, q.model = m, version, with
	}
	return q.model, nil
}

// Follow makes the change f of m, and if a model with the pods is known of m as it is, makes f of that, too, so that it need not be found
// again; f does nothing but change the model. Whoever reads either holds m.Mu, which the caller has locked. What depends on the time, or is
// too much in all, is found out when somebody asks again.
func (q *Queued) Follow(m *Model, first *cluster.Snapshot, f func(m *Model) error) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	with := q.model
	if q.base != m || q.version != m.version {
		with = nil
	}
	q.model = nil
	m.Open(first)
	err := f(m)
	if with == nil || err != nil || with.now != m.now {
		return err
	}
	with.Open(first)
	counts := f(with) == nil
	for c, v := range with.live.total {
		counts = counts && v <= cluster.MaxUsage-with.Pods.total[c]
	}
	if counts {
		q.version, q.model = m.version, with
	}
	return nil
}

// withPods is a copy of base with the pods of ix that hold quota, or are nominated to.
func withPods(base *Model, ix *cluster.Index) (*Model, error) {
	m := base.Clone()
	m.Pods = Pods{
		Of: map[*quota.Reservation][]cluster.PodID{}, Holds: map[cluster.PodID]*quota.Reservation{},
		On: map[cluster.NodeID][]*quota.Reservation{}, Partial: map[*quota.Reservation]bool{}, one: map[cluster.GroupID]bool{}, Cluster: ix,
	}
	byKey := map[uint64][]cluster.PodID{}
	var keys []uint64 // in order of the first pod of each
	for _, p := range slices.SortedFunc(slices.Values(ix.Queued()), ix.ComparePods) {
		if ix.Runs(p) || ix.NominatedTo(p) != cluster.NoNode {
			m.Pods.look(p)
			k := m.Pods.keyOf(p)
			if byKey[k] == nil {
				keys = append(keys, k)
			}
			byKey[k] = append(byKey[k], p)
		}
	}
	total := make([]int64, m.Index.NumColumns())
	m.Pods.total = make([]int64, len(total))
	for _, r := range m.reservations() {
		for _, u := range r.Usage {
			total[u.Column] += u.Amount
		}
	}
	var errs []error
	for _, k := range keys {
		r, err := m.reserve(byKey[k])
		if err != nil {
			errs = append(errs, err)
		}
		if r == nil {
			continue
		}
		for _, u := range r.Usage {
			if u.Amount > cluster.MaxUsage-total[u.Column] {
				errs = append(errs, problems.Pod(ix.Pod(byKey[k][0]), "Requests", strconv.FormatInt(u.Amount, 10)+" "+m.Index.ResourceName(u.Column),
					"so little that everybody together uses at most 2^62-1", nil))
				continue
			}
			total[u.Column] += u.Amount
			m.Pods.total[u.Column] += u.Amount
		}
		m.add(r, byKey[k])
	}
	if err := problems.Join(errs); err != nil {
		return nil, err
	}
	m.Pods.findPartial()
	return m, nil
}

// add lets pods hold r.
func (m *Model) add(r *quota.Reservation, pods []cluster.PodID) {
	ps := &m.Pods
	m.usage.Add(r.Queue, r.Usage)
	m.noteUsage(r)
	if ps.Cluster.Pod(pods[0]).Node == "" {
		ps.Expected = append(ps.Expected, Expected{r, pods[0]})
		return
	}
	ps.Of[r] = pods
	for _, p := range pods {
		ps.Holds[p] = r
		n := ps.Cluster.NodeOf(p)
		if on := ps.On[n]; len(on) == 0 || on[len(on)-1] != r {
			ps.On[n] = append(on, r)
		}
	}
	for _, rs := range m.sorted {
		rs.Insert(r)
	}
}

// keyOf is equal for pods that hold quota together: those of a group that run.
func (ps *Pods) keyOf(p cluster.PodID) uint64 {
	if g := ps.GroupOf(p); g != cluster.NoGroup && ps.Cluster.Pod(p).Node != "" {
		return uint64(g)
	}
	return 1<<40 | uint64(p)
}

// GroupOf is the group whose pods are one workload with p, a pod that may hold quota, or NoGroup: the highest one that goes as a whole and all
// of whose pods name one queue, or else the pod group of p if that names one.
func (ps *Pods) GroupOf(p cluster.PodID) cluster.GroupID {
	is := cluster.NoGroup
	g := ps.Cluster.GroupOf(p)
	if g != cluster.NoGroup && ps.Cluster.Group(g).PodGroup.Queue != "" {
		is = g
	}
	for all := range ps.wholes(g) {
		if ps.one[all] {
			is = all
		}
	}
	return is
}

// wholes yields the groups of mode All at or above pod group g, lowest first.
func (ps *Pods) wholes(g cluster.GroupID) iter.Seq[cluster.GroupID] {
	return func(yield func(cluster.GroupID) bool) {
		for level := 0; g != cluster.NoGroup && level < cluster.MaxTreeDepth; level++ {
			group := ps.Cluster.Group(g)
			if group.Mode == disruption.All && !yield(g) {
				return
			}
			g = group.Parent
		}
	}
}

// running lists the pods at or beneath group g that run.
func (ps *Pods) running(g cluster.GroupID) []cluster.PodID {
	return slices.DeleteFunc(ps.Cluster.PodsUnder(nil, g), func(p cluster.PodID) bool { return !ps.Cluster.Runs(p) })
}

// look notes of the groups that pod p goes with whether all of their pods that run name the same queue.
func (ps *Pods) look(p cluster.PodID) {
	for g := range ps.wholes(ps.Cluster.GroupOf(p)) {
		if _, known := ps.one[g]; known {
			continue
		}
		pods := ps.running(g)
		ps.one[g] = len(pods) > 0 && ps.Cluster.QueueOf(pods[0]) != "" &&
			!slices.ContainsFunc(pods, func(p cluster.PodID) bool { return ps.Cluster.QueueOf(p) != ps.Cluster.QueueOf(pods[0]) })
	}
}

// findPartial finds who holds but a part of what goes as a whole.
func (ps *Pods) findPartial() {
	looked := map[cluster.GroupID]bool{}
	for p := range ps.Holds {
		for g := range ps.wholes(ps.Cluster.GroupOf(p)) {
			if looked[g] {
				continue
			}
			looked[g] = true
			pods := ps.running(g)
			if slices.ContainsFunc(pods, func(p cluster.PodID) bool { return ps.Holds[p] != ps.Holds[pods[0]] }) {
				for _, p := range pods {
					ps.Partial[ps.Holds[p]] = true
				}
			}
		}
	}
	delete(ps.Partial, nil) // of pods without quota
}

// reservations lists everybody who holds quota in the model.
func (m *Model) reservations() []*quota.Reservation {
	if m.live == nil {
		return m.Index.Reservations()
	}
	var list []*quota.Reservation
	m.live.jobs.Ascend(func(j *job) bool {
		if j.r != nil {
			list = append(list, j.r)
		}
		return true
	})
	return list
}

// everybody lists who holds quota and may lose it: workloads, and pods of the model.
func (m *Model) everybody() []*quota.Reservation {
	all := slices.Clone(m.reservations())
	for r := range m.Pods.Of {
		all = append(all, r)
	}
	return all
}

// reserve describes pods as a workload that holds quota in the flavors of their
// nodes; nil if their queue is not there.
func (m *Model) reserve(pods []cluster.PodID) (*quota.Reservation, error) {
	ix := m.Pods.Cluster
	first := ix.Pod(pods[0])
	local := m.Index.LocalQueue(first.Namespace, ix.QueueOf(pods[0]))
	q := quota.NoHolder
	if local != nil {
		q = m.Index.QueueByName(local.ClusterQueue)
	}
	if q == quota.NoHolder {
		m.Pods.Odd = append(m.Pods.Odd, cluster.Warning{
			Kind: cluster.KindPod, Namespace: first.Namespace, Name: first.Name, Field: "Queue", Value: ix.QueueOf(pods[0]),
			Text: "there is no such active queue: what the pod uses is not counted",
		})
		return nil, nil
	}
	w := &cluster.Workload{
		Namespace: first.Namespace, Name: first.Name, UID: first.UID, Priority: ix.Priority(pods[0]), Evicted: true,
		Queue: local.Name, Admission: &cluster.Admission{ClusterQueue: local.ClusterQueue},
	}
	kind := cluster.KindPod
	if g := m.Pods.GroupOf(pods[0]); g != cluster.NoGroup {
		group := ix.Group(g)
		w.Name, w.UID, w.Priority, kind = group.Name, group.UID, group.Priority, cluster.KindPodGroup
		if group.PodGroup == nil {
			kind = cluster.KindCompositePodGroup
		}
	}
	for _, p := range pods {
		pod := ix.Pod(p)
		w.Evicted = w.Evicted && pod.Terminating && pod.Preempted
		w.Created = Earliest(w.Created, pod.Created)
		w.Admission.Reserved = Earliest(w.Admission.Reserved, pod.Started)
		w.PodSets = append(w.PodSets, m.podSet(pod, q))
	}
	r, warnings, err := m.Index.Reserve(w, m.now)
	m.Pods.Odd = append(m.Pods.Odd, warnings...)
	if r != nil {
		r.Kind = kind
	}
	return r, err
}

// podSet is a pod as a pod set of its own.
func (m *Model) podSet(pod *cluster.Pod, q quota.HolderID) cluster.PodSet {
	set := cluster.PodSet{Name: pod.Name, Count: 1, Requests: pod.Requests, Flavors: map[string]string{}}
	node := pod.Node
	if node == "" {
		node = pod.NominatedNode
	}
	n := m.Pods.Cluster.NodeByName(node)
	groups := m.Index.Groups(q)
	for i := range groups {
		g := &groups[i]
		f := 0
		if n != cluster.NoNode {
			f = max(0, m.flavorOn(g, m.Pods.Cluster.Node(n)))
		}
		for _, r := range g.Resources {
			if _, asks := pod.Requests[r]; asks || r == cluster.Pods {
				set.Flavors[r] = m.Index.FlavorName(g.Flavors[f])
			}
		}
	}
	return set
}

// flavorOn is the first flavor of g whose labels node has, -1 if there is none.
func (m *Model) flavorOn(g *quota.Group, node *cluster.Node) int {
	return slices.IndexFunc(g.Flavors, func(f quota.FlavorID) bool {
		flavor := m.Index.Flavor(f)
		return flavor != nil && node.HasLabels(flavor.NodeLabels)
	})
}

// Earliest is the earlier of two times, of which the zero Time is none.
func Earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
