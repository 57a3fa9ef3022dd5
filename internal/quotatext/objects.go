package quotatext

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/preempt-go/preempt/preemption/cluster"
)

func (b *builder) flavor(o *object) error {
	f := cluster.ResourceFlavor{Name: o.name}
	for _, p := range o.pairs {
		key, value, _ := strings.Cut(p.value, "=")
		switch p.key {
		case "labels":
			f.NodeLabels = map[string]string{key: value}
		case "taints":
			f.NodeTaints = append(f.NodeTaints, cluster.Taint{Key: key, Value: value, Effect: cluster.NoSchedule})
		default:
			return unknown(p)
		}
	}
	b.s.Snapshot.ResourceFlavors = append(b.s.Snapshot.ResourceFlavors, f)
	return nil
}

func (b *builder) cohort(o *object) error {
	c := cluster.Cohort{Name: o.name, Parent: o.in}
	var q quotas
	for _, p := range o.pairs {
		var err error
		if p.key == "weight" {
			c.Weight, err = weight(p.value)
		} else {
			err = q.add(p)
		}
		if err != nil {
			return err
		}
	}
	c.Groups = q.groups()
	b.s.Snapshot.Cohorts = append(b.s.Snapshot.Cohorts, c)
	return nil
}

func (b *builder) queue(o *object) error {
	c := cluster.ClusterQueue{Name: o.name, Cohort: o.in}
	var q quotas
	for _, p := range o.pairs {
		var err error
		switch p.key {
		case "weight":
			c.Weight, err = weight(p.value)
		case "own":
			c.Preemption.WithinClusterQueue = cluster.QueuePolicy(p.value)
		case "reclaim":
			c.Preemption.ReclaimWithinCohort = cluster.QueuePolicy(p.value)
		case "bwc":
			c.Preemption.BorrowWithinCohort = &cluster.BorrowWithinCohort{}
			if p.value != "any" {
				var n int64
				n, err = strconv.ParseInt(p.value, 10, 32)
				most := int32(n)
				c.Preemption.BorrowWithinCohort.MaxPriority = &most
			}
		case "wait":
			c.Preemption.WaitSeconds, err = strconv.ParseInt(p.value, 10, 64)
		case "order":
			for _, by := range strings.Split(p.value, ",") {
				c.Preemption.Order = append(c.Preemption.Order, cluster.VictimOrder(by))
			}
		case "borrow":
			c.Fungibility.WhenCanBorrow = cluster.FlavorChoice(p.value)
		case "preempt":
			c.Fungibility.WhenCanPreempt = cluster.FlavorChoice(p.value)
		case "prefer":
			c.Fungibility.Preference = cluster.FlavorPreference(p.value)
		case "locals":
			c.FairLocalQueues = p.value == "fair"
		case "stopped":
			c.Stopped = p.value == "yes"
		default:
			err = q.add(p)
		}
		if err != nil {
			return err
		}
	}
	c.Groups = q.groups()
	b.s.Snapshot.ClusterQueues = append(b.s.Snapshot.ClusterQueues, c)
	return nil
}

func (b *builder) local(o *object) error {
	q := cluster.LocalQueue{Name: o.name, ClusterQueue: o.in}
	for _, p := range o.pairs {
		if p.key != "usage" {
			return unknown(p)
		}
		n, err := amount(p.value)
		if err != nil {
			return err
		}
		q.Usage = &n
	}
	b.s.Snapshot.LocalQueues = append(b.s.Snapshot.LocalQueues, q)
	return nil
}

func (b *builder) job(o *object) error {
	w := cluster.Workload{Name: o.name, Queue: o.in, Admission: &cluster.Admission{ClusterQueue: o.in}}
	set := cluster.PodSet{Name: "main", Count: 1, Requests: cluster.Resources{}, Flavors: map[string]string{}}
	copies := 1
	for _, p := range o.pairs {
		var err error
		switch p.key {
		case "n":
			copies, err = strconv.Atoi(p.value)
		case "evicted":
			w.Evicted = p.value == "yes"
		default:
			err = b.common(&w, &set, p)
		}
		if err != nil {
			return err
		}
	}
	if copies == 1 {
		w.PodSets = []cluster.PodSet{set}
		b.s.Snapshot.Workloads = append(b.s.Snapshot.Workloads, w)
		return nil
	}
	for i := range copies {
		w.Name = fmt.Sprint(o.name, i+1)
		w.PodSets = []cluster.PodSet{set}
		b.s.Snapshot.Workloads = append(b.s.Snapshot.Workloads, w)
	}
	return nil
}

// preempt reads a workload and its pod sets.
func (b *builder) preempt(objects []object) error {
	if len(objects) == 0 {
		return fmt.Errorf("who preempts?")
	}
	w := cluster.Workload{Name: objects[0].name, Queue: objects[0].in, UID: "preemptor"}
	for i, o := range objects {
		set := cluster.PodSet{Name: o.name, Count: 1, Requests: cluster.Resources{}}
		if i == 0 {
			set.Name = "main"
		}
		for _, p := range o.pairs {
			if err := b.common(&w, &set, p); err != nil {
				return err
			}
		}
		if i > 0 || len(objects) == 1 {
			set.Flavors = nil
			w.PodSets = append(w.PodSets, set)
		}
	}
	b.s.Snapshot.Workloads = append(b.s.Snapshot.Workloads, w)
	b.s.Preemptor = cluster.Preemptor{Kind: cluster.KindWorkload, Name: w.Name}
	return nil
}

// evict reads a workload whose flavors are chosen.
func (b *builder) evict(objects []object) error {
	if len(objects) != 1 {
		return fmt.Errorf("one workload evicts others")
	}
	o := objects[0]
	w := cluster.Workload{Name: o.name, Queue: o.in, UID: "preemptor"}
	set := cluster.PodSet{Name: "main", Count: 1, Requests: cluster.Resources{}, Flavors: map[string]string{}}
	for _, p := range o.pairs {
		if p.key == "free" {
			b.s.Free = strings.Split(p.value, ",")
			continue
		}
		if err := b.common(&w, &set, p); err != nil {
			return err
		}
	}
	w.PodSets = []cluster.PodSet{set}
	b.s.Evict = &w
	return nil
}

// common reads what jobs and preemptors have in common.
func (b *builder) common(w *cluster.Workload, set *cluster.PodSet, p pair) error {
	number := func() (int64, error) { return strconv.ParseInt(p.value, 10, 64) }
	var n int64
	var err error
	switch p.key {
	case "prio":
		n, err = number()
		w.Priority = int32(n)
	case "boost":
		n, err = number()
		w.Boost = int32(n)
	case "uid":
		w.UID = p.value
	case "local":
		w.Queue = p.value
	case "created":
		n, err = number()
		w.Created = at(n)
	case "requeued":
		n, err = number()
		w.Requeued = at(n)
	case "at":
		n, err = number()
		w.Admission.Reserved = at(n)
	case "count":
		n, err = number()
		set.Count = int32(n)
	case "min":
		n, err = number()
		least := int32(n)
		set.MinCount = &least
	case "group":
		set.Group = p.value
	case "select":
		key, value, _ := strings.Cut(p.value, "=")
		set.NodeSelector = map[string]string{key: value}
	case "tolerate":
		set.Tolerations = append(set.Tolerations, cluster.Toleration{Key: p.value, Operator: cluster.TolerationExists})
	default:
		resource, flavor, ok := strings.Cut(p.key, "@")
		if !ok {
			flavor = "default"
		}
		if resource != cluster.Pods { // they are counted
			n, err = amount(p.value)
			set.Requests[resource] = n
		}
		if set.Flavors != nil {
			set.Flavors[resource] = flavor
		}
	}
	return err
}

// quotas collects the quotas of a queue or cohort: resources with the same flavors
// in the same order are one group.
type quotas struct {
	resources []string
	flavors   map[string][]string
	quota     map[[2]string]cluster.ResourceQuota
}

func (q *quotas) add(p pair) error {
	resource, flavor, ok := strings.Cut(p.key, "@")
	if !ok {
		flavor = "default"
	}
	if q.quota == nil {
		q.quota, q.flavors = map[[2]string]cluster.ResourceQuota{}, map[string][]string{}
	}
	if !slices.Contains(q.resources, resource) {
		q.resources = append(q.resources, resource)
	}
	q.flavors[resource] = append(q.flavors[resource], flavor)
	out := cluster.ResourceQuota{Resource: resource}
	text, lending, lends := strings.Cut(p.value, "-")
	text, borrowing, borrows := strings.Cut(text, "+")
	var err error
	if out.Nominal, err = amount(text); err != nil {
		return err
	}
	if borrows {
		n, err := amount(borrowing)
		if err != nil {
			return err
		}
		out.Borrowing = &n
	}
	if lends {
		n, err := amount(lending)
		if err != nil {
			return err
		}
		out.Lending = &n
	}
	q.quota[[2]string{flavor, resource}] = out
	return nil
}

func (q *quotas) groups() []cluster.ResourceGroup {
	var groups []cluster.ResourceGroup
	done := map[string]bool{}
	for _, first := range q.resources {
		if done[first] {
			continue
		}
		var g cluster.ResourceGroup
		for _, flavor := range q.flavors[first] {
			fq := cluster.FlavorQuotas{Flavor: flavor}
			for _, r := range q.resources {
				if slices.Equal(q.flavors[r], q.flavors[first]) {
					done[r] = true
					fq.Resources = append(fq.Resources, q.quota[[2]string{flavor, r}])
				}
			}
			g.Flavors = append(g.Flavors, fq)
		}
		groups = append(groups, g)
	}
	return groups
}

// amount reads a number with up to three decimals, in thousandths. "inf" is
// without limit.
func amount(text string) (int64, error) {
	if text == "inf" {
		return cluster.Unlimited, nil
	}
	whole, decimals, _ := strings.Cut(text, ".")
	if len(decimals) > 3 {
		return 0, fmt.Errorf("%q has more than three decimals", text)
	}
	n, err := strconv.ParseInt(whole+decimals+strings.Repeat("0", 3-len(decimals)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not an amount", text)
	}
	return n, nil
}

func weight(text string) (*cluster.Weight, error) {
	var w cluster.Weight
	err := w.UnmarshalText([]byte(text))
	return &w, err
}

func unknown(p pair) error { return fmt.Errorf("%s=%s is not known here", p.key, p.value) }
