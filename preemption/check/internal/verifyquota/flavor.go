package verifyquota

import (
	"slices"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check/internal/found"
	"github.com/preempt-go/preempt/preemption/check/internal/suits"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// readFlavors reads what the preemptor takes: each pod set all that it wants, in one
// flavor of each group of its queue that suits it. It reports whether that can be added up.
func (a *answer) readFlavors() bool {
	counts := a.r.Quota.Counts
	if !a.readCounts(counts) {
		return false
	}
	wants := a.wants(counts)
	taken := make([]map[string]bool, len(wants))
	flavors := make([]map[*cluster.ResourceGroup]string, len(wants))
	for i := range wants {
		taken[i], flavors[i] = map[string]bool{}, map[*cluster.ResourceGroup]string{}
	}
	a.request, a.scarce = map[key]int64{}, map[key]bool{}
	for _, f := range a.r.Quota.Flavors {
		i := a.setNamed(f.PodSet)
		if i < 0 || taken[i][f.Resource] {
			a.Add(found.Quota, "pod set %q takes %s twice, or is not there", f.PodSet, f.Resource)
			return false
		}
		taken[i][f.Resource] = true
		if want, asks := wants[i][f.Resource]; !asks || want != f.Amount {
			a.Add(found.Quota, "pod set %q wants %d %s and takes %d", f.PodSet, want, f.Resource, f.Amount)
		}
		g := a.groupOf(f.Resource)
		if g == nil || !slices.ContainsFunc(g.Flavors, func(x cluster.FlavorQuotas) bool { return x.Flavor == f.Flavor }) {
			a.Add(found.Quota, "%s has no quota of %s in flavor %s", a.queue.name, f.Resource, f.Flavor)
			return false
		}
		if other, ok := flavors[i][g]; ok && other != f.Flavor {
			a.Add(found.Quota, "pod set %q takes resources of one group in flavors %s and %s", f.PodSet, other, f.Flavor)
		}
		flavors[i][g] = f.Flavor
		a.request[key{f.Flavor, f.Resource}] = plus(a.request[key{f.Flavor, f.Resource}], f.Amount)
	}
	a.readTogether(flavors)
	for i, want := range wants {
		for r, v := range want {
			if !taken[i][r] && (v > 0 || a.groupOf(r) != nil) {
				a.Add(found.Quota, "pod set %d takes no %s", i, r)
			}
		}
	}
	for i, flavor := range flavors {
		for _, f := range flavor {
			if !a.suits(i, f) {
				a.Add(found.Quota, "flavor %s does not suit pod set %d", f, i)
			}
		}
	}
	a.readContested()
	a.readNodes(flavors)
	return true
}

// readContested: a resource is contested where there is not enough of it.
func (a *answer) readContested() {
	level := 0
	for k, v := range a.request {
		a.scarce[k] = v > a.queue.free(k)
		if v > 0 || a.workload != nil { // a pod that asks for none takes none
			level = max(level, a.queue.borrowHeight(k, v))
		}
	}
	told := map[key]bool{}
	for _, f := range a.r.Quota.Flavors {
		k := key{f.Flavor, f.Resource}
		told[k] = told[k] || f.Contested
	}
	for k := range a.request {
		if told[k] != a.scarce[k] {
			a.Add(found.Quota, "there is enough %s in flavor %s: %t, and it is called contested: %t", k.resource, k.flavor, !a.scarce[k], told[k])
		}
	}
	if a.r.Verdict != preemption.Feasible && level != a.r.Quota.Borrowing {
		a.Add(found.Quota, "its quota comes from height %d, not %d", level, a.r.Quota.Borrowing)
	}
}

// readCounts: fewer pods are admitted as far as each pod set lets them be.
func (a *answer) readCounts(counts []int32) bool {
	if counts == nil {
		return true
	}
	if a.workload == nil || len(counts) != len(a.workload.PodSets) {
		a.Add(found.Quota, "%d counts for its pod sets", len(counts))
		return false
	}
	for i := range a.workload.PodSets {
		set := &a.workload.PodSets[i]
		least := set.Count
		if set.MinCount != nil {
			least = *set.MinCount
		}
		if counts[i] < least || counts[i] > set.Count {
			a.Add(found.Quota, "pod set %q starts with %d to %d pods, not %d", set.Name, least, set.Count, counts[i])
		}
	}
	return true
}

func (a *answer) setNamed(name string) int {
	if a.workload == nil {
		if name == "" {
			return 0
		}
		return -1
	}
	return slices.IndexFunc(a.workload.PodSets, func(s cluster.PodSet) bool { return s.Name == name })
}

// readTogether: pod sets of one group take the same flavors.
func (a *answer) readTogether(flavors []map[*cluster.ResourceGroup]string) {
	if a.workload == nil {
		return
	}
	for i := range a.workload.PodSets {
		for j := range i {
			if group := a.workload.PodSets[i].Group; group == "" || group != a.workload.PodSets[j].Group {
				continue
			}
			for g, f := range flavors[i] {
				if other, ok := flavors[j][g]; ok && other != f {
					a.Add(found.Quota, "pod sets %d and %d go together, in flavors %s and %s", j, i, other, f)
				}
			}
		}
	}
}

// suits: no taint of the flavor keeps the i-th pod set out, and the labels that it selects
// are the flavor's. Node affinity is not looked at.
func (a *answer) suits(i int, flavor string) bool {
	f := a.flavors[flavor]
	if f == nil {
		return false
	}
	if a.workload == nil {
		return true // the nodes tell
	}
	set := &a.workload.PodSets[i]
	for k, v := range set.NodeSelector {
		if has, ok := f.NodeLabels[k]; ok && has != v {
			return false
		}
	}
	for _, taint := range f.NodeTaints {
		all := slices.Concat(set.Tolerations, f.Tolerations)
		if taint.Effect != cluster.PreferNoSchedule && !slices.ContainsFunc(all, func(t cluster.Toleration) bool { return tolerates(t, taint) }) {
			return false
		}
	}
	return true
}

func tolerates(t cluster.Toleration, taint cluster.Taint) bool {
	if t.Effect != "" && t.Effect != taint.Effect || t.Key != "" && t.Key != taint.Key {
		return false
	}
	if t.Operator == cluster.TolerationExists {
		return true
	}
	return t.Key != "" && t.Value == taint.Value
}

// readNodes: pods go to nodes of their flavors.
func (a *answer) readNodes(flavors []map[*cluster.ResourceGroup]string) {
	if a.workload != nil {
		return
	}
	for _, n := range a.r.Nominations {
		for _, f := range flavors[0] {
			if known := a.flavors[f]; known != nil && (a.nodes[n.Node] == nil || !suits.Labels(a.nodes[n.Node].Labels, known.NodeLabels)) {
				a.About(found.Quota, cluster.KindPod, n.Pod.Namespace, n.Pod.Name, "node %s is not of flavor %s", n.Node, f)
			}
		}
	}
}
