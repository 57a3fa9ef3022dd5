package preemption

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// podQuota is the quota that the pods of a compiled cluster hold, on top of a quota
// model: formed when first asked, and again when that model has changed.
type podQuota struct {
	queued []bool // by pod: its queue is there, and it runs; nil: there is none

	mu      sync.Mutex
	model   *quotaModel
	version int
	jobs    *jobs
}

// jobs are the workloads of a quota model and, as workloads, the pods that hold
// quota: each pod by itself, or all pods of a group that names a queue.
type jobs struct {
	*quotaModel
	c        *compiled
	of       map[*cluster.Reservation]*podJob
	holds    map[cluster.PodID]*cluster.Reservation    // by pod: what it, or its group, holds; the other way round
	on       map[cluster.NodeID][]*cluster.Reservation // by node: the jobs with pods there
	expected []*podJob                                 // pending pods that are nominated: they count, and cannot be evicted
	odd      []cluster.Warning
}

// podJob is a workload that consists of pods.
type podJob struct {
	r    *cluster.Reservation
	pods []cluster.PodID
}

// findQueued notes which running pods hold quota.
func (c *compiled) findQueued() {
	if c.quota == nil {
		return
	}
	for _, p := range c.ix.Queued() {
		if !c.ix.Runs(p) {
			continue
		}
		if c.queued.queued == nil {
			c.queued.queued = make([]bool, c.ix.NumPods())
		}
		c.queued.queued[p] = true
	}
}

// base is the rule of eligibility for preemptors without a queue.
func (c *compiled) base() victims.Eligible {
	base := c.options.eligible()
	if c.queued.queued == nil {
		return base
	}
	if base == nil {
		base = victims.LowerPriority{EqualAfterSeconds: c.options.Guards.EqualAfterSeconds}
	}
	return victims.Unqueued{Base: base, Queued: c.queued.queued}
}

// of returns the jobs on top of m.
func (pq *podQuota) of(c *compiled, m *quotaModel) (*jobs, error) {
	if c.live || pq.queued == nil && !c.anyNominatedQueued() {
		return &jobs{quotaModel: m, c: c}, nil
	}
	pq.mu.Lock()
	defer pq.mu.Unlock()
	m.mu.RLock()
	version := m.version
	m.mu.RUnlock()
	if pq.jobs == nil || pq.model != m || pq.version != version {
		j, err := newJobs(c, m)
		if err != nil {
			return nil, err
		}
		pq.model, pq.version, pq.jobs = m, version, j
	}
	return pq.jobs, nil
}

func (c *compiled) anyNominatedQueued() bool {
	for n := range cluster.NodeID(c.ix.NumNodes()) {
		for _, p := range c.ix.Nominees(n) {
			if c.ix.QueueOf(p) != "" {
				return true
			}
		}
	}
	return false
}

// newJobs adds the pods that hold quota, or are nominated to, to a copy of m.
func newJobs(c *compiled, m *quotaModel) (*jobs, error) {
	j := &jobs{
		quotaModel: m.clone(), c: c,
		of: map[*cluster.Reservation]*podJob{}, holds: map[cluster.PodID]*cluster.Reservation{}, on: map[cluster.NodeID][]*cluster.Reservation{},
	}
	j.pods = j
	byKey := map[string]*podJob{}
	var keys []string
	for p := range c.ix.Pods() {
		pod := c.ix.Pod(p)
		if c.ix.QueueOf(p) == "" || pod.Node == "" && c.ix.NodeByName(pod.NominatedNode) == cluster.NoNode {
			continue
		}
		k := j.keyOf(p)
		if byKey[k] == nil {
			byKey[k] = &podJob{}
			keys = append(keys, k)
		}
		byKey[k].pods = append(byKey[k].pods, p)
	}
	slices.Sort(keys)
	total := make([]int64, j.ix.NumColumns())
	for _, r := range j.reservations() {
		for _, u := range r.Usage {
			total[u.Column] += u.Amount
		}
	}
	var errs []error
	for _, k := range keys {
		job := byKey[k]
		r, err := j.reserve(job.pods)
		if err != nil {
			errs = append(errs, err)
		}
		if r == nil {
			continue
		}
		for _, u := range r.Usage {
			if u.Amount > cluster.MaxUsage-total[u.Column] {
				errs = append(errs, fieldError(c.ix.Pod(job.pods[0]), "Requests", fmt.Sprintf("%d %s", u.Amount, j.ix.ResourceName(u.Column)),
					"so little that everybody together uses at most 2^62-1", nil))
				continue
			}
			total[u.Column] += u.Amount
		}
		job.r = r
		j.usage.Add(r.Queue, r.Usage)
		j.noteUsage(r)
		if c.ix.Pod(job.pods[0]).Node == "" {
			j.expected = append(j.expected, job)
			continue
		}
		j.of[r] = job
		for _, p := range job.pods {
			j.holds[p] = r
			if n := c.ix.NodeOf(p); !slices.Contains(j.on[n], r) {
				j.on[n] = append(j.on[n], r)
			}
		}
		for _, rs := range j.sorted {
			rs.Insert(r)
		}
	}
	if err := join(errs); err != nil {
		return nil, err
	}
	return j, nil
}

// describe says of a victim that consists of pods what it is.
func (j *jobs) describe(v *Victim, r *cluster.Reservation) {
	job := j.of[r]
	if job == nil {
		return
	}
	v.Kind = cluster.KindPod
	if g := j.groupOf(job.pods[0]); g != cluster.NoGroup {
		v.Kind, v.Mode = cluster.KindPodGroup, j.c.ix.Group(g).Mode
	}
	for _, p := range job.pods {
		pod := j.c.ix.Pod(p)
		v.Pods = append(v.Pods, VictimPod{PodRef{pod.Namespace, pod.Name}, pod.Node, j.c.ix.Priority(p), pod.Started})
	}
}

// keyOf is equal for pods of one job. Nominated pods of a group are a job apart from
// those that run.
func (j *jobs) keyOf(p cluster.PodID) string {
	state := "r"
	if j.c.ix.Pod(p).Node == "" {
		state = "n"
	}
	if g := j.groupOf(p); g != cluster.NoGroup {
		return fmt.Sprintf("g%08d%s", g, state)
	}
	return fmt.Sprintf("p%08d%s", p, state)
}

// groupOf is the pod group whose pods are one job with p, or NoGroup.
func (j *jobs) groupOf(p cluster.PodID) cluster.GroupID {
	g := j.c.ix.GroupOf(p)
	if g != cluster.NoGroup && j.c.ix.Group(g).PodGroup != nil && j.c.ix.Group(g).PodGroup.Queue != "" {
		return g
	}
	return cluster.NoGroup
}

// reservations lists everybody who holds quota in the model.
func (j *jobs) reservations() []*cluster.Reservation {
	if j.live == nil {
		return j.ix.Reservations()
	}
	var list []*cluster.Reservation
	j.live.jobs.Ascend(func(job *quotaJob) bool {
		if job.r != nil {
			list = append(list, job.r)
		}
		return true
	})
	return list
}

// reserve describes pods as a workload that holds quota in the flavors of their
// nodes; nil if their queue is not there.
func (j *jobs) reserve(pods []cluster.PodID) (*cluster.Reservation, error) {
	ix := j.c.ix
	first := ix.Pod(pods[0])
	local := j.ix.LocalQueue(first.Namespace, ix.QueueOf(pods[0]))
	q := cluster.NoQuota
	if local != nil {
		q = j.ix.QueueByName(local.ClusterQueue)
	}
	if q == cluster.NoQuota {
		j.odd = append(j.odd, cluster.Warning{
			Kind: cluster.KindPod, Namespace: first.Namespace, Name: first.Name, Field: "Queue", Value: ix.QueueOf(pods[0]),
			Text: "there is no such active queue: what the pod uses is not counted",
		})
		return nil, nil
	}
	w := &Workload{
		Namespace: first.Namespace, Name: first.Name, UID: first.UID, Priority: ix.Priority(pods[0]), Evicted: true,
		Queue: local.Name, Admission: &cluster.Admission{ClusterQueue: local.ClusterQueue},
	}
	if g := j.groupOf(pods[0]); g != cluster.NoGroup {
		group := ix.Group(g)
		w.Name, w.UID, w.Priority = group.Name, group.PodGroup.UID, group.Priority
	}
	for _, p := range pods {
		pod := ix.Pod(p)
		w.Evicted = w.Evicted && pod.Terminating && pod.Preempted
		w.Created = earliest(w.Created, pod.Created)
		w.Admission.Reserved = earliest(w.Admission.Reserved, pod.Started)
		w.PodSets = append(w.PodSets, j.podSet(pod, q))
	}
	r, warnings, err := j.ix.Reserve(w, j.now)
	j.odd = append(j.odd, warnings...)
	return r, err
}

// podSet is a pod as a pod set of its own.
func (j *jobs) podSet(pod *cluster.Pod, q cluster.QuotaID) cluster.PodSet {
	set := cluster.PodSet{Name: pod.Name, Count: 1, Requests: pod.Requests, Flavors: map[string]string{}}
	node := pod.Node
	if node == "" {
		node = pod.NominatedNode
	}
	n := j.c.ix.NodeByName(node)
	groups := j.ix.Groups(q)
	for i := range groups {
		g := &groups[i]
		f := 0
		if n != cluster.NoNode {
			f = max(0, j.flavorOn(g, j.c.ix.Node(n)))
		}
		for _, r := range g.Resources {
			if _, asks := pod.Requests[r]; asks || r == cluster.Pods {
				set.Flavors[r] = j.ix.FlavorName(g.Flavors[f])
			}
		}
	}
	return set
}

// flavorOn is the first flavor of g whose labels node has, -1 if there is none.
func (m *quotaModel) flavorOn(g *cluster.QuotaGroup, node *cluster.Node) int {
	return slices.IndexFunc(g.Flavors, func(f cluster.FlavorID) bool {
		flavor := m.ix.Flavor(f)
		return flavor != nil && cluster.HasLabels(node, flavor.NodeLabels)
	})
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
