package quota

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/internal/problems"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// NewIndex checks the quota part of s and compiles it. The error joins every
// problem, each a [*FieldError], in an order that does not depend on that of s;
// what is odd but occurs in live clusters is listed in [Index.Warnings].
//
// Members of a cycle of cohorts are left out. A ClusterQueue that is stopped, or
// that names a flavor which is not in s, is inactive.
//
// The index keeps pointers into s, which must not be changed while it is in use.
//
// O(k log k) for k objects.
func NewIndex(s *cluster.Snapshot) (*Index, error) { return NewIndexOf(s.QuotaObjects()) }

// NewIndexOf is NewIndex of objects that are not in one snapshot.
func NewIndexOf(s cluster.QuotaObjects) (*Index, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	var ps problemList
	ix := &Index{now: cluster.Nanos(s.Time)}
	ix.orderFlavors(&s)
	ix.orderHolders(&s)
	ix.checkDepth(&ps)
	ix.nameColumns()
	if checkQuotas(&ps, len(ix.parent), len(ix.columns)); len(ps) > 0 {
		return nil, problems.Sorted(ps)
	}
	ix.fillLimits()
	ix.compileGroups()
	ix.localQueues = make(map[cluster.PodKey]*cluster.LocalQueue, len(s.LocalQueues))
	for _, q := range s.LocalQueues {
		ix.localQueues[cluster.PodKey{Namespace: q.Namespace, Name: q.Name}] = q
	}
	ix.compileWorkloads(&ps, &s)
	if err := problems.Sorted(ps); err != nil {
		return nil, err
	}
	slices.SortFunc(ix.warnings, cluster.Warning.Compare)
	return ix, nil
}

// orderFlavors numbers the flavors that exist and those that are only named.
func (ix *Index) orderFlavors(s *cluster.QuotaObjects) {
	byName := make(map[string]*cluster.ResourceFlavor, len(s.ResourceFlavors))
	name := func(groups []cluster.ResourceGroup) {
		for _, g := range groups {
			for _, f := range g.Flavors {
				if byName[f.Flavor] == nil {
					byName[f.Flavor] = nil
				}
			}
		}
	}
	for i := range s.ClusterQueues {
		name(s.ClusterQueues[i].Groups)
	}
	for i := range s.Cohorts {
		name(s.Cohorts[i].Groups)
	}
	for i := range s.ResourceFlavors {
		byName[s.ResourceFlavors[i].Name] = s.ResourceFlavors[i]
	}
	ix.flavorByName = make(map[string]FlavorID, len(byName))
	for i, name := range slices.Sorted(maps.Keys(byName)) {
		ix.flavorByName[name] = FlavorID(i)
		ix.flavors = append(ix.flavors, byName[name])
		ix.flavorNames = append(ix.flavorNames, name)
	}
}

// orderHolders numbers ClusterQueues and Cohorts and links them to their parents.
func (ix *Index) orderHolders(s *cluster.QuotaObjects) {
	cohorts := make(map[string]*cluster.Cohort, len(s.Cohorts))
	for i := range s.Cohorts {
		cohorts[s.Cohorts[i].Name] = s.Cohorts[i]
	}
	imply := func(name string) {
		if name != "" && cohorts[name] == nil {
			cohorts[name] = &cluster.Cohort{Name: name}
		}
	}
	for i := range s.Cohorts {
		imply(s.Cohorts[i].Parent)
	}
	for i := range s.ClusterQueues {
		imply(s.ClusterQueues[i].Cohort)
	}
	ix.dropCycles(cohorts)

	ix.queueByName = make(map[string]HolderID, len(s.ClusterQueues))
	ix.cyclic = make(map[string]bool)
	for _, q := range s.ClusterQueues {
		if q.Cohort != "" && cohorts[q.Cohort] == nil {
			ix.cyclic[q.Name] = true
			ix.warn(cluster.KindClusterQueue, "", q.Name, "Cohort", q.Cohort, "the cohort is part of a cycle: the queue is left out")
			continue
		}
		ix.queues = append(ix.queues, q)
	}
	slices.SortFunc(ix.queues, func(a, b *cluster.ClusterQueue) int { return strings.Compare(a.Name, b.Name) })
	for i, q := range ix.queues {
		ix.queueByName[q.Name] = HolderID(i)
	}
	ix.cohortByName = make(map[string]HolderID, len(cohorts))
	for i, name := range slices.Sorted(maps.Keys(cohorts)) {
		ix.cohorts = append(ix.cohorts, cohorts[name])
		ix.cohortByName[name] = HolderID(len(ix.queues) + i)
	}
	for _, q := range ix.queues {
		ix.parent = append(ix.parent, lookup(ix.cohortByName, q.Cohort, NoHolder))
	}
	for _, c := range ix.cohorts {
		ix.parent = append(ix.parent, lookup(ix.cohortByName, c.Parent, NoHolder))
	}
}

// dropCycles removes the cohorts from which no root can be reached.
func (ix *Index) dropCycles(cohorts map[string]*cluster.Cohort) {
	const (
		unseen = iota
		onPath
		rooted
		cyclic
	)
	state := make(map[string]int, len(cohorts))
	for name := range cohorts {
		var path []string
		at := name
		for at != "" && state[at] == unseen {
			state[at] = onPath
			path = append(path, at)
			at = cohorts[at].Parent
		}
		verdict := rooted
		if at != "" && state[at] != rooted {
			verdict = cyclic
		}
		for _, p := range path {
			state[p] = verdict
		}
	}
	for name, v := range state {
		if v == cyclic {
			ix.warn(cluster.KindCohort, "", name, "Parent", cohorts[name].Parent, "no root can be reached: the cohort is left out")
			delete(cohorts, name)
		}
	}
}

// nameColumns numbers the flavor-resources of which anybody has quota.
func (ix *Index) nameColumns() {
	resources := make(map[string]bool)
	seen := make(map[[2]string]bool)
	ix.eachQuota(func(_ HolderID, flavor string, q *cluster.ResourceQuota) {
		resources[q.Resource] = true
		seen[[2]string{flavor, q.Resource}] = true
	})
	ix.resources = slices.Sorted(maps.Keys(resources))
	ix.resourceByName = make(map[string]int32, len(ix.resources))
	for i, name := range ix.resources {
		ix.resourceByName[name] = int32(i)
	}
	pairs := slices.SortedFunc(maps.Keys(seen), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	ix.columnByName = make(map[column]ColumnID, len(pairs))
	for i, p := range pairs {
		c := column{ix.flavorByName[p[0]], ix.resourceByName[p[1]]}
		ix.columns = append(ix.columns, c)
		ix.columnByName[c] = ColumnID(i)
	}
}

func (ix *Index) fillLimits() {
	ix.limits = make([]Limits, len(ix.parent)*len(ix.columns))
	for i := range ix.limits {
		ix.limits[i] = Limits{Borrowing: cluster.Unlimited, Lending: cluster.Unlimited}
	}
	ix.eachQuota(func(h HolderID, flavor string, q *cluster.ResourceQuota) {
		l := Limits{Nominal: q.Nominal, Borrowing: cluster.Unlimited, Lending: cluster.Unlimited, Defined: true}
		if q.Borrowing != nil {
			l.Borrowing = *q.Borrowing
		}
		if q.Lending != nil {
			l.Lending = *q.Lending
		}
		ix.limits[int(h)*len(ix.columns)+int(ix.Column(flavor, q.Resource))] = l
	})
}

func (ix *Index) eachQuota(yield func(h HolderID, flavor string, q *cluster.ResourceQuota)) {
	for h := range ix.parent {
		var groups []cluster.ResourceGroup
		if h < len(ix.queues) {
			groups = ix.queues[h].Groups
		} else {
			groups = ix.cohorts[h-len(ix.queues)].Groups
		}
		for i := range groups {
			for j := range groups[i].Flavors {
				f := &groups[i].Flavors[j]
				for k := range f.Resources {
					yield(HolderID(h), f.Flavor, &f.Resources[k])
				}
			}
		}
	}
}

// compileGroups turns the resource groups of the queues into columns and tells
// which queues are inactive.
func (ix *Index) compileGroups() {
	ix.groups = make([][]Group, len(ix.queues))
	ix.inactive = make([]string, len(ix.queues))
	for q, queue := range ix.queues {
		if queue.Stopped {
			ix.inactive[q] = "it is stopped"
		}
		for i, group := range queue.Groups {
			var g Group
			for _, r := range group.Flavors[0].Resources {
				g.Resources = append(g.Resources, r.Resource)
			}
			slices.Sort(g.Resources)
			for j, f := range group.Flavors {
				id := ix.flavorByName[f.Flavor]
				if ix.flavors[id] == nil {
					ix.inactive[q] = "its flavor " + f.Flavor + " is not there"
					ix.warn(cluster.KindClusterQueue, "", queue.Name, fmt.Sprintf("Groups[%d].Flavors[%d]", i, j), f.Flavor,
						"there is no such flavor: the queue is inactive")
				}
				g.Flavors = append(g.Flavors, id)
				for _, r := range g.Resources {
					g.columns = append(g.columns, ix.Column(f.Flavor, r))
				}
			}
			ix.groups[q] = append(ix.groups[q], g)
		}
	}
}

func (ix *Index) warn(kind cluster.Kind, namespace, name, field, value, text string) {
	ix.warnings = append(ix.warnings, cluster.Warning{Kind: kind, Namespace: namespace, Name: name, Field: field, Value: value, Text: text})
}
