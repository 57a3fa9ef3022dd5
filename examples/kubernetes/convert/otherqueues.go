package convert

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// otherFlavor is the only flavor of the queues of other schedulers, which have none.
const otherFlavor = "any"

// volcanoRoot is the queue above all others of Volcano.
const volcanoRoot = "root"

// otherQueue is a queue of Volcano or KAI.
type otherQueue struct {
	object       Object
	name, parent string
	weight       int64
	stopped      bool

	deserved, limit, guarantee cluster.Resources
	weighed                    bool // nothing is deserved but by weight
	children                   []*otherQueue
	written                    bool
}

// leaf reports whether groups may be in q, and not only other queues.
func (q *otherQueue) leaf(group string) bool {
	return len(q.children) == 0 && (group != volcano || q.name != volcanoRoot)
}

type volcanoQueue struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Weight      *int32              `json:"weight"`
		Parent      string              `json:"parent"`
		Capability  corev1.ResourceList `json:"capability"`
		Deserved    corev1.ResourceList `json:"deserved"`
		Reclaimable *bool               `json:"reclaimable"`
		Priority    int32               `json:"priority"`
		Affinity    *struct{}           `json:"affinity"`
		Guarantee   struct {
			Resource corev1.ResourceList `json:"resource"`
		} `json:"guarantee"`
	} `json:"spec"`
	Status struct {
		State string `json:"state"`
	} `json:"status"`
}

func (b *builder) addVolcanoQueue(o *Object) error {
	var q volcanoQueue
	if err := decode(o, &q); err != nil {
		return err
	}
	f := fields{kind: o.Kind, name: q.Name}
	s := &q.Spec
	out := &otherQueue{
		name: q.Name, parent: s.Parent, weight: 1,
		deserved: quotas(&f, "spec.deserved", s.Deserved), limit: quotas(&f, "spec.capability", s.Capability),
		guarantee: quotas(&f, "spec.guarantee.resource", s.Guarantee.Resource),
		weighed:   len(s.Deserved) == 0, stopped: q.Status.State == "Closed" || q.Status.State == "Closing",
	}
	if s.Weight != nil {
		if out.weight = int64(*s.Weight); *s.Weight < 1 {
			f.bad("spec.weight", strconv.Itoa(int(*s.Weight)), "at least 1")
		}
	}
	if out.parent == "" && out.name != volcanoRoot {
		out.parent = volcanoRoot
	}
	b.notRead(o, "spec.reclaimable: false", s.Reclaimable != nil && !*s.Reclaimable)
	b.notRead(o, "spec.priority", s.Priority != 0)
	b.notRead(o, "spec.affinity", s.Affinity != nil)
	return b.takeQueue(o, volcano, out, f.err())
}

// quotas converts a list of amounts.
func quotas(f *fields, field string, list corev1.ResourceList) cluster.Resources {
	out := cluster.Resources{}
	for name, q := range list {
		out[string(name)] = *quotaAmount(f, field+"["+string(name)+"]", name, &q)
	}
	return out
}

type kaiQueue struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		ParentQueue       string `json:"parentQueue"`
		Priority          *int   `json:"priority"`
		PreemptMinRuntime string `json:"preemptMinRuntime"`
		ReclaimMinRuntime string `json:"reclaimMinRuntime"`
		Resources         *struct {
			CPU    kaiQuota `json:"cpu"`
			Memory kaiQuota `json:"memory"`
			GPU    kaiQuota `json:"gpu"`
		} `json:"resources"`
	} `json:"spec"`
}

// kaiQuota is in thousandths of a core, in millions of bytes, or in devices; -1 is without bound.
type kaiQuota struct {
	Quota           json.Number `json:"quota"`
	Limit           json.Number `json:"limit"`
	OverQuotaWeight json.Number `json:"overQuotaWeight"`
}

func (b *builder) addKAIQueue(o *Object) error {
	var q kaiQueue
	if err := decode(o, &q); err != nil {
		return err
	}
	f := fields{kind: o.Kind, name: q.Name}
	out := &otherQueue{
		name: q.Name, parent: q.Spec.ParentQueue, weight: 1,
		deserved: cluster.Resources{}, limit: cluster.Resources{}, guarantee: cluster.Resources{},
	}
	weights := map[string]bool{}
	if r := q.Spec.Resources; r != nil {
		for _, of := range []struct {
			field, name string
			unit        float64
			kaiQuota
		}{{"cpu", cluster.CPU, 1, r.CPU}, {"memory", cluster.Memory, 1e6, r.Memory}, {"gpu", "nvidia.com/gpu", 1, r.GPU}} {
			field := "spec.resources." + of.field
			out.deserved[of.name] = kaiAmount(&f, field+".quota", of.Quota, of.unit)
			if limit := kaiAmount(&f, field+".limit", of.Limit, of.unit); limit != cluster.Unlimited {
				out.limit[of.name] = limit
			}
			weights[cmp.Or(of.OverQuotaWeight.String(), "0")] = true
		}
	}
	b.notRead(o, "spec.priority", q.Spec.Priority != nil && *q.Spec.Priority != 100)
	b.notRead(o, "spec.preemptMinRuntime", q.Spec.PreemptMinRuntime != "")
	b.notRead(o, "spec.reclaimMinRuntime", q.Spec.ReclaimMinRuntime != "")
	b.notRead(o, "spec.resources.*.overQuotaWeight, but 0 and 1,", slices.ContainsFunc(slices.Collect(maps.Keys(weights)), func(w string) bool { return w != "0" && w != "1" }))
	return b.takeQueue(o, kai, out, f.err())
}

// kaiAmount is a quota in the unit of its resource, rounded down.
func kaiAmount(f *fields, field string, text json.Number, unit float64) int64 {
	if text == "" {
		return 0
	}
	n, err := text.Float64()
	switch {
	case err != nil || n < 0 && n != -1 || math.IsNaN(n):
		f.bad(field, text.String(), "at least 0, or -1 for no bound")
		return 0
	case n == -1 || n*unit >= math.MaxInt64:
		return cluster.Unlimited
	}
	return int64(n * unit)
}

// takeQueue keeps a queue until all are known.
func (b *builder) takeQueue(o *Object, group string, q *otherQueue, err error) error {
	if err != nil {
		return err
	}
	if err := b.claim(o, cluster.Kind("Queue."+group), "", q.name); err != nil {
		return err
	}
	q.object = Object{Origin: o.Origin}
	b.queues[group] = append(b.queues[group], q)
	return nil
}

// resolveQueues makes a tree of quota of the queues of another scheduler: those that have others
// below them are cohorts, the rest ClusterQueues, and what no queue deserves is everybody's.
func (b *builder) resolveQueues() {
	for _, group := range []string{volcano, kai} {
		queues := b.queues[group]
		byName := map[string]*otherQueue{}
		for _, q := range queues {
			byName[q.name] = q
		}
		slices.SortFunc(queues, func(x, y *otherQueue) int { return cmp.Compare(x.name, y.name) })
		top := &otherQueue{name: group}
		for _, q := range queues {
			parent := byName[q.parent]
			switch {
			case q.parent == "" || q.name == volcanoRoot && group == volcano || parent == nil && q.parent == volcanoRoot && group == volcano:
				parent = top
			case parent == nil:
				b.complain(&q.object, &Error{Kind: "Queue", Name: q.name, Field: "parent", Value: quote(q.parent), Want: "a queue of the input"})
				parent = top
			}
			parent.children = append(parent.children, q)
		}
		b.enqueue(group, byName)
		if len(queues) == 0 {
			continue
		}
		t := &quotaTree{builder: b, group: group, total: b.total(), resources: b.quotaResources(group, queues)}
		t.root(top)
		for _, q := range queues {
			if !q.written {
				b.complain(&q.object, &Error{Kind: "Queue", Name: q.name, Field: "parent", Value: quote(q.parent), Want: "a queue above it: it is among those below"})
			}
		}
	}
}

// enqueue gives the groups of another scheduler their queue: the LocalQueue of that name.
func (b *builder) enqueue(group string, queues map[string]*otherQueue) {
	s := &b.dump.Snapshot
	local := map[cluster.LocalQueue]bool{}
	for key, g := range b.others {
		if key.group != group || g.queue == "" {
			continue
		}
		q := queues[g.queue]
		if q == nil {
			if len(queues) > 0 || group == kai || g.queue != "default" {
				b.dump.NotRead["spec.queue, of a queue that is not in the input, of PodGroup."+group]++
			}
			continue
		}
		if !q.leaf(group) {
			b.dump.NotRead["spec.queue, of a queue with others below it, of PodGroup."+group]++
			continue
		}
		s.PodGroups[g.of].Queue = g.queue
		local[cluster.LocalQueue{Namespace: key.namespace, Name: g.queue, ClusterQueue: g.queue, Stopped: q.stopped}] = true
	}
	list := slices.SortedFunc(maps.Keys(local), func(x, y cluster.LocalQueue) int {
		return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
	s.LocalQueues = append(s.LocalQueues, list...)
}

// total is what all nodes offer.
func (b *builder) total() cluster.Resources {
	sum := cluster.Resources{}
	for i := range b.dump.Snapshot.Nodes {
		for name, n := range b.dump.Snapshot.Nodes[i].Allocatable {
			sum[name] = plus(sum[name], n)
		}
	}
	return sum
}

// quotaResources lists what queues name and what pods in queues ask for.
func (b *builder) quotaResources(group string, queues []*otherQueue) []string {
	set := map[string]bool{}
	for _, q := range queues {
		for _, of := range []cluster.Resources{q.deserved, q.limit, q.guarantee} {
			for name := range of {
				set[name] = true
			}
		}
	}
	for key, g := range b.others {
		if key.group != group {
			continue
		}
		for _, i := range g.pods {
			for name := range b.dump.Snapshot.Pods[i].Requests {
				set[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// quotaTree writes queues of another scheduler as quota.
type quotaTree struct {
	*builder
	group     string
	total     cluster.Resources
	resources []string
}

// root writes the tree below top, which is no queue itself.
func (t *quotaTree) root(top *otherQueue) {
	s := &t.dump.Snapshot
	if !slices.ContainsFunc(s.ResourceFlavors, func(f cluster.ResourceFlavor) bool { return f.Name == otherFlavor }) {
		s.ResourceFlavors = append(s.ResourceFlavors, cluster.ResourceFlavor{Name: otherFlavor})
	}
	t.below(top, t.total)
	cohort := cluster.Cohort{Name: top.name}
	var quota []cluster.ResourceQuota
	for _, r := range t.resources {
		quota = append(quota, cluster.ResourceQuota{Resource: r, Nominal: t.spare(t.total[r], top.children, r)})
	}
	cohort.Groups = grouped(quota)
	s.Cohorts = append(s.Cohorts, cohort)
}

// below writes the queues below q, of which so much is deserved.
func (t *quotaTree) below(q *otherQueue, deserved cluster.Resources) {
	s := &t.dump.Snapshot
	weights := int64(0)
	for _, c := range q.children {
		weights += c.weight
	}
	for _, c := range q.children {
		if c.weighed { // by weight, as if all asked for more than that
			for _, r := range t.resources {
				c.deserved[r] = weighted(deserved[r], c.weight, weights)
			}
		}
		for _, r := range t.resources {
			n := max(c.deserved[r], c.guarantee[r])
			if limit, ok := c.limit[r]; ok {
				n = min(n, limit)
			}
			c.deserved[r] = n
		}
	}
	for _, c := range q.children {
		c.written = true
		if !c.leaf(t.group) {
			if err := t.claim(&c.object, cluster.KindCohort, "", c.name); err != nil {
				t.complain(&c.object, err)
				continue
			}
			t.below(c, c.deserved)
			s.Cohorts = append(s.Cohorts, cluster.Cohort{Name: c.name, Parent: q.name, Groups: grouped(t.quota(c))})
			continue
		}
		if err := t.claim(&c.object, cluster.KindClusterQueue, "", c.name); err != nil {
			t.complain(&c.object, err)
			continue
		}
		weight := cluster.Weight(c.weight) * cluster.OneWeight
		s.ClusterQueues = append(s.ClusterQueues, cluster.ClusterQueue{
			Name: c.name, Cohort: q.name, Groups: grouped(t.quota(c)), Weight: &weight, Stopped: c.stopped,
			Preemption: cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority, ReclaimWithinCohort: cluster.AnyPriority},
		})
	}
}

// quota is what a queue has by itself, beside those below it.
func (t *quotaTree) quota(q *otherQueue) (list []cluster.ResourceQuota) {
	for _, r := range t.resources {
		out := cluster.ResourceQuota{Resource: r, Nominal: t.spare(q.deserved[r], q.children, r)}
		if limit, ok := q.limit[r]; ok {
			more := max(0, limit-q.deserved[r])
			out.Borrowing = &more
		}
		if kept := q.guarantee[r]; kept > 0 && len(q.children) == 0 {
			lent := max(0, out.Nominal-kept)
			out.Lending = &lent
		}
		list = append(list, out)
	}
	return list
}

// spare is what of n is left by queues.
func (t *quotaTree) spare(n int64, queues []*otherQueue, resource string) int64 {
	if n == cluster.Unlimited {
		return n
	}
	for _, q := range queues {
		if n -= min(n, q.deserved[resource]); n <= 0 {
			return 0
		}
	}
	return n
}

// grouped is a resource group of the only flavor; nothing has none.
func grouped(quota []cluster.ResourceQuota) []cluster.ResourceGroup {
	if len(quota) == 0 {
		return nil
	}
	return []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{Flavor: otherFlavor, Resources: quota}}}}
}

// weighted is n times weight of weights, rounded down; of what is without bound every part is.
func weighted(n, weight, weights int64) int64 {
	if n == cluster.Unlimited {
		return n
	}
	high, low := bits.Mul64(uint64(n), uint64(weight))
	quotient, _ := bits.Div64(high, low, uint64(weights))
	return int64(quotient)
}

// plus adds amounts; what is too much is without bound.
func plus(a, b int64) int64 {
	if a > cluster.Unlimited-b {
		return cluster.Unlimited
	}
	return a + b
}
