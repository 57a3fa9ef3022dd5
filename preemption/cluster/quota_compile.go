package cluster

import (
	"maps"
	"slices"
)

// NewQuotaIndex checks the quota part of s and compiles it. The error joins every
// problem, each a [*FieldError], in an order that does not depend on that of s;
// what is odd but occurs in live clusters is listed in [QuotaIndex.Warnings].
//
// Members of a cycle of cohorts are left out. A ClusterQueue that is stopped, or
// that names a flavor which is not in s, is inactive.
//
// The index keeps pointers into s, which must not be changed while it is in use.
//
// O(k log k) for k objects.
func NewQuotaIndex(s *Snapshot) (*QuotaIndex, error) { return NewQuotaIndexOf(s.QuotaObjects()) }

// NewQuotaIndexOf is NewQuotaIndex of objects that are not in one snapshot.
func NewQuotaIndexOf(s QuotaObjects) (*QuotaIndex, error) {
	ps := validateQuota(&s)
	if err := ps.err(); err != nil {
		return nil, err
	}
	ix := &QuotaIndex{now: Nanos(s.Time)}
	ix.orderFlavors(&s)
	ix.orderHolders(&s)
	ix.checkDepth(&ps)
	ix.nameColumns()
	if checkQuotas(&ps, len(ix.parent), len(ix.columns)); len(ps) > 0 {
		return nil, ps.err()
	}
	ix.fillLimits()
	ix.compileGroups()
	ix.localQueues = make(map[PodKey]*LocalQueue, len(s.LocalQueues))
	for _, q := range s.LocalQueues {
		ix.localQueues[PodKey{q.Namespace, q.Name}] = q
	}
	ix.compileWorkloads(&ps, &s)
	if err := ps.err(); err != nil {
		return nil, err
	}
	sortWarnings(ix.warnings)
	return ix, nil
}

// orderFlavors numbers the flavors that exist and those that are only named.
func (ix *QuotaIndex) orderFlavors(s *QuotaObjects) {
	byName := make(map[string]*ResourceFlavor, len(s.ResourceFlavors))
	name := func(groups []ResourceGroup) {
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
	for i, name := range sortedNames(byName) {
		ix.flavorByName[name] = FlavorID(i)
		ix.flavors = append(ix.flavors, byName[name])
		ix.flavorNames = append(ix.flavorNames, name)
	}
}

// orderHolders numbers ClusterQueues and Cohorts and links them to their parents.
func (ix *QuotaIndex) orderHolders(s *QuotaObjects) {
	cohorts := make(map[string]*Cohort, len(s.Cohorts))
	for i := range s.Cohorts {
		cohorts[s.Cohorts[i].Name] = s.Cohorts[i]
	}
	imply := func(name string) {
		if name != "" && cohorts[name] == nil {
			cohorts[name] = &Cohort{Name: name}
		}
	}
	for i := range s.Cohorts {
		imply(s.Cohorts[i].Parent)
	}
	for i := range s.ClusterQueues {
		imply(s.ClusterQueues[i].Cohort)
	}
	ix.dropCycles(cohorts)

	ix.queueByName = make(map[string]QuotaID, len(s.ClusterQueues))
	ix.cyclic = make(map[string]bool)
	for _, q := range s.ClusterQueues {
		if q.Cohort != "" && cohorts[q.Cohort] == nil {
			ix.cyclic[q.Name] = true
			ix.warn(KindClusterQueue, "", q.Name, "Cohort", q.Cohort, "the cohort is part of a cycle: the queue is left out")
			continue
		}
		ix.queues = append(ix.queues, q)
	}
	slices.SortFunc(ix.queues, func(a, b *ClusterQueue) int { return compareNames(a.Name, b.Name) })
	for i, q := range ix.queues {
		ix.queueByName[q.Name] = QuotaID(i)
	}
	ix.cohortByName = make(map[string]QuotaID, len(cohorts))
	for i, name := range sortedNames(cohorts) {
		ix.cohorts = append(ix.cohorts, cohorts[name])
		ix.cohortByName[name] = QuotaID(len(ix.queues) + i)
	}
	for _, q := range ix.queues {
		ix.parent = append(ix.parent, lookup(ix.cohortByName, q.Cohort, NoQuota))
	}
	for _, c := range ix.cohorts {
		ix.parent = append(ix.parent, lookup(ix.cohortByName, c.Parent, NoQuota))
	}
}

// dropCycles removes the cohorts from which no root can be reached.
func (ix *QuotaIndex) dropCycles(cohorts map[string]*Cohort) {
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
			ix.warn(KindCohort, "", name, "Parent", cohorts[name].Parent, "no root can be reached: the cohort is left out")
			delete(cohorts, name)
		}
	}
}

// nameColumns numbers the flavor-resources of which anybody has quota.
func (ix *QuotaIndex) nameColumns() {
	resources := make(map[string]bool)
	seen := make(map[[2]string]bool)
	ix.eachQuota(func(_ QuotaID, flavor string, q *ResourceQuota) {
		resources[q.Resource] = true
		seen[[2]string{flavor, q.Resource}] = true
	})
	ix.resources = sortedNames(resources)
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

func (ix *QuotaIndex) fillLimits() {
	ix.limits = make([]QuotaLimits, len(ix.parent)*len(ix.columns))
	for i := range ix.limits {
		ix.limits[i] = QuotaLimits{Borrowing: Unlimited, Lending: Unlimited}
	}
	ix.eachQuota(func(h QuotaID, flavor string, q *ResourceQuota) {
		l := QuotaLimits{Nominal: q.Nominal, Borrowing: Unlimited, Lending: Unlimited, Defined: true}
		if q.Borrowing != nil {
			l.Borrowing = *q.Borrowing
		}
		if q.Lending != nil {
			l.Lending = *q.Lending
		}
		ix.limits[int(h)*len(ix.columns)+int(ix.Column(flavor, q.Resource))] = l
	})
}

func (ix *QuotaIndex) eachQuota(yield func(h QuotaID, flavor string, q *ResourceQuota)) {
	for h := range ix.parent {
		var groups []ResourceGroup
		if h < len(ix.queues) {
			groups = ix.queues[h].Groups
		} else {
			groups = ix.cohorts[h-len(ix.queues)].Groups
		}
		for i := range groups {
			for j := range groups[i].Flavors {
				f := &groups[i].Flavors[j]
				for k := range f.Resources {
					yield(QuotaID(h), f.Flavor, &f.Resources[k])
				}
			}
		}
	}
}

// compileGroups turns the resource groups of the queues into columns and tells
// which queues are inactive.
func (ix *QuotaIndex) compileGroups() {
	ix.groups = make([][]QuotaGroup, len(ix.queues))
	ix.inactive = make([]string, len(ix.queues))
	for q, queue := range ix.queues {
		if queue.Stopped {
			ix.inactive[q] = "it is stopped"
		}
		for i, group := range queue.Groups {
			var g QuotaGroup
			for _, r := range group.Flavors[0].Resources {
				g.Resources = append(g.Resources, r.Resource)
			}
			slices.Sort(g.Resources)
			for j, f := range group.Flavors {
				id := ix.flavorByName[f.Flavor]
				if ix.flavors[id] == nil {
					ix.inactive[q] = "its flavor " + f.Flavor + " is not there"
					ix.warn(KindClusterQueue, "", queue.Name, index("Groups", i)+index(".Flavors", j), f.Flavor,
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

func (ix *QuotaIndex) warn(kind Kind, namespace, name, field, value, text string) {
	ix.warnings = append(ix.warnings, Warning{kind, namespace, name, field, value, text})
}
