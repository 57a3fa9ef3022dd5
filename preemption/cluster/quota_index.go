package cluster

// QuotaID is a position among the holders of quota of a QuotaIndex: first the
// ClusterQueues in order of their names, then the Cohorts in order of theirs.
type QuotaID int32

// FlavorID is a position among the flavors of a QuotaIndex, in order of their names.
type FlavorID int32

// ColumnID is a position among the flavor-resources of a QuotaIndex: the pairs of
// which some holder has quota, in order of flavor and resource.
type ColumnID int32

// NoQuota and NoColumn stand for "none".
const (
	NoQuota  QuotaID  = -1
	NoColumn ColumnID = -1
)

// QuotaLimits is what one holder has of one flavor-resource, in the resource's unit.
type QuotaLimits struct {
	Nominal   int64
	Borrowing int64 // Unlimited: no limit
	Lending   int64 // Unlimited: all of it
	Defined   bool  // the holder names this flavor-resource
}

// QuotaGroup is a compiled ResourceGroup of a ClusterQueue.
type QuotaGroup struct {
	Resources []string // in order of name
	Flavors   []FlavorID

	columns []ColumnID // flavor-major rows of len(Resources)
}

// Column returns the flavor-resource of Flavors[flavor] and Resources[resource].
func (g *QuotaGroup) Column(flavor, resource int) ColumnID {
	return g.columns[flavor*len(g.Resources)+resource]
}

// ColumnAmount is an amount of one flavor-resource, in the resource's unit.
type ColumnAmount struct {
	Column ColumnID
	Amount int64
}

// Reservation is a workload that holds quota, compiled. It is immutable.
type Reservation struct {
	Workload *Workload
	Queue    QuotaID

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

// QuotaIndex is the compiled quota part of a snapshot: the tree of holders and
// their limits in dense integers, and the workloads that hold quota. It is
// immutable and safe for concurrent use.
type QuotaIndex struct {
	now int64

	queues   []*ClusterQueue
	cohorts  []*Cohort
	parent   []QuotaID
	groups   [][]QuotaGroup // by queue
	inactive []string       // by queue: why it takes no part; empty: it does

	flavors     []*ResourceFlavor // nil: only named
	flavorNames []string
	resources   []string
	columns     []column
	limits      []QuotaLimits // holder-major rows of len(columns)

	queueByName    map[string]QuotaID
	cohortByName   map[string]QuotaID
	flavorByName   map[string]FlavorID
	resourceByName map[string]int32
	columnByName   map[column]ColumnID
	cyclic         map[string]bool // ClusterQueues whose cohort never ends in a root
	localQueues    map[PodKey]*LocalQueue
	workloads      map[PodKey]*Workload

	reservations []*Reservation
	warnings     []Warning
}

type column struct {
	flavor   FlavorID
	resource int32
}

// Now is Snapshot.Time as [Nanos].
func (ix *QuotaIndex) Now() int64 { return ix.now }

// NumQueues is the number of ClusterQueues; their QuotaIDs run from 0 to NumQueues-1.
func (ix *QuotaIndex) NumQueues() int { return len(ix.queues) }

// NumHolders is the number of ClusterQueues and Cohorts.
func (ix *QuotaIndex) NumHolders() int { return len(ix.parent) }

// NumColumns is the number of flavor-resources.
func (ix *QuotaIndex) NumColumns() int { return len(ix.columns) }

// NumResources is the number of resources of which there is quota.
func (ix *QuotaIndex) NumResources() int { return len(ix.resources) }

// Name returns the name of holder h.
func (ix *QuotaIndex) Name(h QuotaID) string {
	if int(h) < len(ix.queues) {
		return ix.queues[h].Name
	}
	return ix.cohorts[int(h)-len(ix.queues)].Name
}

// Parent returns the cohort that holder h is in, or NoQuota.
func (ix *QuotaIndex) Parent(h QuotaID) QuotaID { return ix.parent[h] }

// Queue returns the ClusterQueue q. It must not be changed.
func (ix *QuotaIndex) Queue(q QuotaID) *ClusterQueue { return ix.queues[q] }

// Inactive tells why ClusterQueue q neither admits nor gives up workloads; empty
// if it does. Its quota and usage count all the same.
func (ix *QuotaIndex) Inactive(q QuotaID) string { return ix.inactive[q] }

// MissingFlavor returns a flavor that ClusterQueue q names and that is not in the
// snapshot; empty if there is none.
func (ix *QuotaIndex) MissingFlavor(q QuotaID) string {
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
func (ix *QuotaIndex) Cyclic(queue string) bool { return ix.cyclic[queue] }

// LocalQueue returns the LocalQueue of that namespace and name, or nil.
func (ix *QuotaIndex) LocalQueue(namespace, name string) *LocalQueue {
	return ix.localQueues[PodKey{namespace, name}]
}

// Groups returns the resource groups of ClusterQueue q. They belong to the index.
func (ix *QuotaIndex) Groups(q QuotaID) []QuotaGroup { return ix.groups[q] }

// Weight returns the weight of holder h under fair sharing.
func (ix *QuotaIndex) Weight(h QuotaID) Weight {
	w := (*Weight)(nil)
	if int(h) < len(ix.queues) {
		w = ix.queues[h].Weight
	} else {
		w = ix.cohorts[int(h)-len(ix.queues)].Weight
	}
	if w == nil {
		return OneWeight
	}
	return *w
}

// Limits returns what holder h has of column c: nothing, without limits, if it
// does not name it.
func (ix *QuotaIndex) Limits(h QuotaID, c ColumnID) QuotaLimits {
	return ix.limits[int(h)*len(ix.columns)+int(c)]
}

// QueueByName returns the ClusterQueue of that name, or NoQuota.
func (ix *QuotaIndex) QueueByName(name string) QuotaID { return lookup(ix.queueByName, name, NoQuota) }

// CohortByName returns the cohort of that name, or NoQuota.
func (ix *QuotaIndex) CohortByName(name string) QuotaID {
	return lookup(ix.cohortByName, name, NoQuota)
}

// NumFlavors is the number of flavors, those that are only named included.
func (ix *QuotaIndex) NumFlavors() int { return len(ix.flavors) }

// FlavorName returns the name of flavor f.
func (ix *QuotaIndex) FlavorName(f FlavorID) string { return ix.flavorNames[f] }

// Flavor returns the flavor f, nil if it is only named. It must not be changed.
func (ix *QuotaIndex) Flavor(f FlavorID) *ResourceFlavor { return ix.flavors[f] }

// Column returns the column of a flavor and resource, or NoColumn if nobody has
// quota of it.
func (ix *QuotaIndex) Column(flavor, resource string) ColumnID {
	f, known := ix.flavorByName[flavor]
	r, named := ix.resourceByName[resource]
	if !known || !named {
		return NoColumn
	}
	return lookup(ix.columnByName, column{f, r}, NoColumn)
}

// FlavorOf returns the flavor of column c.
func (ix *QuotaIndex) FlavorOf(c ColumnID) FlavorID { return ix.columns[c].flavor }

// ResourceOf returns the position of column c's resource among the NumResources.
func (ix *QuotaIndex) ResourceOf(c ColumnID) int { return int(ix.columns[c].resource) }

// ResourceName returns the name of column c's resource.
func (ix *QuotaIndex) ResourceName(c ColumnID) string {
	return ix.resources[ix.columns[c].resource]
}

// Warnings lists what is odd in the quota part of the snapshot, in a fixed order.
func (ix *QuotaIndex) Warnings() []Warning { return ix.warnings }

// Workload returns the workload of that namespace and name, or nil.
func (ix *QuotaIndex) Workload(namespace, name string) *Workload {
	return ix.workloads[PodKey{namespace, name}]
}

// Reservations lists the workloads that hold quota, in order of namespace and
// name. The slice belongs to the index.
func (ix *QuotaIndex) Reservations() []*Reservation { return ix.reservations }

func lookup[K comparable, V any](m map[K]V, key K, none V) V {
	if v, ok := m[key]; ok {
		return v
	}
	return none
}
