package quota

import "github.com/preempt-go/preempt/preemption/cluster"

// HolderID is a position among the holders of quota of a Index: first the
// ClusterQueues in order of their names, then the Cohorts in order of theirs.
type HolderID int32

// FlavorID is a position among the flavors of a Index, in order of their names.
type FlavorID int32

// ColumnID is a position among the flavor-resources of a Index: the pairs of
// which some holder has quota, in order of flavor and resource.
type ColumnID int32

// NoHolder and NoColumn stand for "none".
const (
	NoHolder HolderID = -1
	NoColumn ColumnID = -1
)

// Limits is what one holder has of one flavor-resource, in the resource's unit.
type Limits struct {
	Nominal   int64
	Borrowing int64 // Unlimited: no limit
	Lending   int64 // Unlimited: all of it
	Defined   bool  // the holder names this flavor-resource
}

// Group is a compiled ResourceGroup of a ClusterQueue.
type Group struct {
	Resources []string // in order of name
	Flavors   []FlavorID

	columns []ColumnID // flavor-major rows of len(Resources)
}

// Column returns the flavor-resource of Flavors[flavor] and Resources[resource].
func (g *Group) Column(flavor, resource int) ColumnID {
	return g.columns[flavor*len(g.Resources)+resource]
}

// ColumnAmount is an amount of one flavor-resource, in the resource's unit.
type ColumnAmount struct {
	Column ColumnID
	Amount int64
}

// Reservation is a workload that holds quota, compiled. It is immutable.
type Reservation struct {
	Workload *cluster.Workload
	Kind     cluster.Kind // of the pod or group that it stands for; "" for a workload
	Queue    HolderID

	Priority   int64 // Priority plus Boost
	Ordered    int64 // age as [Nanos]: Requeued, else Created
	Reserved   int64 // since when it holds quota, as Nanos
	LocalUsage int64 // negated usage of its LocalQueue: less goes first; 0 where its ClusterQueue does not ask
	Evicted    bool

	// Usage is in order of column. A column with amount 0 counts as used when
	// victims are looked for.
	Usage []ColumnAmount
}

// Uses reports whether the workload has column c among its flavors, whatever the amount.
func (r *Reservation) Uses(c ColumnID) bool {
	for _, u := range r.Usage {
		if u.Column >= c {
			return u.Column == c
		}
	}
	return false
}

// Index is the compiled quota part of a snapshot: the tree of holders and
// their limits in dense integers, and the workloads that hold quota. It is
// immutable and safe for concurrent use.
type Index struct {
	now int64

	queues   []*cluster.ClusterQueue
	cohorts  []*cluster.Cohort
	parent   []HolderID
	groups   [][]Group // by queue
	inactive []string  // by queue: why it takes no part; empty: it does

	flavors     []*cluster.ResourceFlavor // nil: only named
	flavorNames []string
	resources   []string
	columns     []column
	limits      []Limits // holder-major rows of len(columns)

	queueByName    map[string]HolderID
	cohortByName   map[string]HolderID
	flavorByName   map[string]FlavorID
	resourceByName map[string]int32
	columnByName   map[column]ColumnID
	cyclic         map[string]bool // ClusterQueues whose cohort never ends in a root
	localQueues    map[cluster.PodKey]*cluster.LocalQueue
	workloads      map[cluster.PodKey]*cluster.Workload

	reservations []*Reservation
	warnings     []cluster.Warning
}

type column struct {
	flavor   FlavorID
	resource int32
}

// Now is Snapshot.Time as [Nanos].
func (ix *Index) Now() int64 { return ix.now }

// NumQueues is the number of ClusterQueues; their HolderIDs run from 0 to NumQueues-1.
func (ix *Index) NumQueues() int { return len(ix.queues) }

// NumHolders is the number of ClusterQueues and Cohorts.
func (ix *Index) NumHolders() int { return len(ix.parent) }

// NumColumns is the number of flavor-resources.
func (ix *Index) NumColumns() int { return len(ix.columns) }

// NumResources is the number of resources of which there is quota.
func (ix *Index) NumResources() int { return len(ix.resources) }

// Name returns the name of holder h.
func (ix *Index) Name(h HolderID) string {
	if int(h) < len(ix.queues) {
		return ix.queues[h].Name
	}
	return ix.cohorts[int(h)-len(ix.queues)].Name
}

// Parent returns the cohort that holder h is in, or NoHolder.
func (ix *Index) Parent(h HolderID) HolderID { return ix.parent[h] }

// Queue returns the ClusterQueue q. It must not be changed.
func (ix *Index) Queue(q HolderID) *cluster.ClusterQueue { return ix.queues[q] }

// Inactive tells why ClusterQueue q neither admits nor gives up workloads; empty
// if it does. Its quota and usage count all the same.
func (ix *Index) Inactive(q HolderID) string { return ix.inactive[q] }

// MissingFlavor returns a flavor that ClusterQueue q names and that is not in the
// snapshot; empty if there is none.
func (ix *Index) MissingFlavor(q HolderID) string {
	for i := range ix.groups[q] {
		for _, f := range ix.groups[q][i].Flavors {
			if ix.flavors[f] == nil {
				return ix.flavorNames[f]
			}
		}
	}
	return ""
}

// Cyclic reports whether the ClusterQueue of that name was left out because its
// cohort is part of a cycle.
func (ix *Index) Cyclic(queue string) bool { return ix.cyclic[queue] }

// LocalQueue returns the LocalQueue of that namespace and name, or nil.
func (ix *Index) LocalQueue(namespace, name string) *cluster.LocalQueue {
	return ix.localQueues[cluster.PodKey{Namespace: namespace, Name: name}]
}

// Groups returns the resource groups of ClusterQueue q. They belong to the index.
func (ix *Index) Groups(q HolderID) []Group { return ix.groups[q] }

// Weight returns the weight of holder h under fair sharing.
func (ix *Index) Weight(h HolderID) cluster.Weight {
	w := (*cluster.Weight)(nil)
	if int(h) < len(ix.queues) {
		w = ix.queues[h].Weight
	} else {
		w = ix.cohorts[int(h)-len(ix.queues)].Weight
	}
	if w == nil {
		return cluster.OneWeight
	}
	return *w
}

// Limits returns what holder h has of column c: nothing, without limits, if it
// does not name it.
func (ix *Index) Limits(h HolderID, c ColumnID) Limits {
	return ix.limits[int(h)*len(ix.columns)+int(c)]
}

// QueueByName returns the ClusterQueue of that name, or NoHolder.
func (ix *Index) QueueByName(name string) HolderID { return lookup(ix.queueByName, name, NoHolder) }

// CohortByName returns the cohort of that name, or NoHolder.
func (ix *Index) CohortByName(name string) HolderID {
	return lookup(ix.cohortByName, name, NoHolder)
}

// NumFlavors is the number of flavors, those that are only named included.
func (ix *Index) NumFlavors() int { return len(ix.flavors) }

// FlavorName returns the name of flavor f.
func (ix *Index) FlavorName(f FlavorID) string { return ix.flavorNames[f] }

// Flavor returns the flavor f, nil if it is only named. It must not be changed.
func (ix *Index) Flavor(f FlavorID) *cluster.ResourceFlavor { return ix.flavors[f] }

// Column returns the column of a flavor and resource, or NoColumn if nobody has
// quota of it.
func (ix *Index) Column(flavor, resource string) ColumnID {
	f, known := ix.flavorByName[flavor]
	r, named := ix.resourceByName[resource]
	if !known || !named {
		return NoColumn
	}
	return lookup(ix.columnByName, column{f, r}, NoColumn)
}

// FlavorOf returns the flavor of column c.
func (ix *Index) FlavorOf(c ColumnID) FlavorID { return ix.columns[c].flavor }

// ResourceOf returns the position of column c's resource among the NumResources.
func (ix *Index) ResourceOf(c ColumnID) int { return int(ix.columns[c].resource) }

// ResourceName returns the name of column c's resource.
func (ix *Index) ResourceName(c ColumnID) string {
	return ix.resources[ix.columns[c].resource]
}

// Warnings lists what is odd in the quota part of the snapshot, in a fixed order.
func (ix *Index) Warnings() []cluster.Warning { return ix.warnings }

// Workload returns the workload of that namespace and name, or nil.
func (ix *Index) Workload(namespace, name string) *cluster.Workload {
	return ix.workloads[cluster.PodKey{Namespace: namespace, Name: name}]
}

// Reservations lists the workloads that hold quota, in order of namespace and
// name. The slice belongs to the index.
func (ix *Index) Reservations() []*Reservation { return ix.reservations }

func lookup[K comparable, V any](m map[K]V, key K, none V) V {
	if v, ok := m[key]; ok {
		return v
	}
	return none
}
