package cluster

import (
	"slices"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/priority"
)

// Snapshot is one moment of a cluster, and with a [Preemptor] a complete question.
// The order of its slices never matters. The zero Snapshot is an empty cluster. What has happened
// after Time did so just now, as clocks differ: of all but starts a warning tells.
type Snapshot struct {
	Time               time.Time           `json:"time,omitzero"` // "now", when pods that have not started count as started; zero: unknown, later than every start
	Nodes              []Node              `json:"nodes,omitempty"`
	Pods               []Pod               `json:"pods,omitempty"`
	PodGroups          []PodGroup          `json:"podGroups,omitempty"`
	CompositePodGroups []CompositePodGroup `json:"compositePodGroups,omitempty"`
	Budgets            []disruption.Budget `json:"budgets,omitempty"`
	PriorityClasses    []priority.Class    `json:"priorityClasses,omitempty"`
	Namespaces         []Namespace         `json:"namespaces,omitempty"`
	Disruptions        []Disruption        `json:"disruptions,omitempty"` // earlier preemptions, for limits over a window

	// Quota; see [ClusterQueue].
	ResourceFlavors []ResourceFlavor `json:"resourceFlavors,omitempty"`
	ClusterQueues   []ClusterQueue   `json:"clusterQueues,omitempty"`
	Cohorts         []Cohort         `json:"cohorts,omitempty"`
	LocalQueues     []LocalQueue     `json:"localQueues,omitempty"`
	Workloads       []Workload       `json:"workloads,omitempty"`
	QuotaHolds      []QuotaHold      `json:"quotaHolds,omitempty"` // for workloads that wait for their victims to leave
}

// Objects are the objects of a snapshot by reference, for a caller that keeps them
// elsewhere. Quota objects are not among them.
type Objects struct {
	Time               time.Time
	Nodes              []*Node
	Pods               []*Pod
	PodGroups          []*PodGroup
	CompositePodGroups []*CompositePodGroup
	Budgets            []disruption.Budget
	PriorityClasses    []priority.Class
	Namespaces         []Namespace
	Disruptions        []Disruption
}

// Objects returns the objects of s; they still belong to s. A nil s has none.
func (s *Snapshot) Objects() Objects {
	if s == nil {
		return Objects{}
	}
	return Objects{
		Time: s.Time, Nodes: pointers(s.Nodes), Pods: pointers(s.Pods),
		PodGroups: pointers(s.PodGroups), CompositePodGroups: pointers(s.CompositePodGroups),
		Budgets: s.Budgets, PriorityClasses: s.PriorityClasses, Namespaces: s.Namespaces, Disruptions: s.Disruptions,
	}
}

// Snapshot returns a snapshot with copies of the objects.
func (o Objects) Snapshot() *Snapshot {
	return &Snapshot{
		Time: o.Time, Nodes: values(o.Nodes), Pods: values(o.Pods),
		PodGroups: values(o.PodGroups), CompositePodGroups: values(o.CompositePodGroups),
		Budgets: o.Budgets, PriorityClasses: o.PriorityClasses, Namespaces: o.Namespaces, Disruptions: o.Disruptions,
	}
}

func values[T any](list []*T) []T {
	vs := make([]T, len(list))
	for i, v := range list {
		vs[i] = *v
	}
	return vs
}

func pointers[T any](list []T) []*T {
	ps := make([]*T, len(list))
	for i := range list {
		ps[i] = &list[i]
	}
	return ps
}

// QuotaObjects are the objects of quota, by reference. Their order says nothing.
type QuotaObjects struct {
	Time            time.Time
	ResourceFlavors []*ResourceFlavor
	ClusterQueues   []*ClusterQueue
	Cohorts         []*Cohort
	LocalQueues     []*LocalQueue
	Workloads       []*Workload
	QuotaHolds      []*QuotaHold
}

// QuotaObjects returns the objects of quota of s; they still belong to s. A nil s
// has none.
func (s *Snapshot) QuotaObjects() QuotaObjects {
	if s == nil {
		return QuotaObjects{}
	}
	return QuotaObjects{
		Time: s.Time, ResourceFlavors: pointers(s.ResourceFlavors), ClusterQueues: pointers(s.ClusterQueues),
		Cohorts: pointers(s.Cohorts), LocalQueues: pointers(s.LocalQueues), Workloads: pointers(s.Workloads),
		QuotaHolds: pointers(s.QuotaHolds),
	}
}

// NewIndex checks s and compiles it; a nil s is an empty cluster. The error joins every problem of s, each a
// [*FieldError], in an order that does not depend on that of s; what is odd but
// occurs in live clusters is listed in [Index.Warnings] instead.
//
// The index keeps pointers into s, which must not be changed while it is in use. Many
// pods are read by as many goroutines as GOMAXPROCS allows, none of which outlives the
// call.
//
// O(k) for k objects whose pods are in order of namespace and name, O(k log k) for
// others.
func NewIndex(s *Snapshot) (*Index, error) { return s.Objects().Index() }

// Index is [NewIndex] for objects that do not stand in a Snapshot. It may reorder the slices of o.
func (o Objects) Index() (*Index, error) {
	return compile(o, ranges.Parts(len(o.Pods), fewPods))
}

// fewPods are read by one goroutine.
const fewPods = 4096

// compile is Objects.Index by a number of goroutines, each for a part of pods and nodes.
func compile(s Objects, parts int) (*Index, error) {
	var nils problems
	if validateNils(&nils, &s); len(nils) > 0 {
		return nil, nils.err()
	}
	ps := validate(&s)
	classes, err := priority.NewClasses(s.PriorityClasses)
	if err != nil {
		addClassProblems(&ps, err)
	}
	ix := &Index{time: s.Time, now: Nanos(s.Time), classes: classes, disruptions: s.Disruptions, hole: NoPod, lazy: &lazy{}}
	ix.source = s
	ix.source.Nodes, ix.source.Pods, ix.source.Budgets = nil, nil, nil
	ix.orderNodes(&ps, s.Nodes)
	ix.compileGroups(&s)
	checkDevices(&ps, s.Nodes)
	names := offered(s.Nodes)
	if !checkAmounts(&ps, len(s.Nodes), len(s.Pods), len(names)) {
		return nil, ps.err()
	}
	readers := ix.readPods(&ps, s.Pods, names, parts)
	ix.fillNodes(&ps, s.Nodes)
	if err := ps.err(); err != nil {
		return nil, err
	}
	nominees, onNode := ix.gather(&ps, readers)
	ix.placePods(&ps, nominees, onNode, parts)
	ix.layOutDevices()
	ix.finishGroups(&ps)
	if !ix.SetBudgets(s.Budgets) {
		complainOfCrowd(&ps, s.Budgets)
	}
	ix.setNamespaces(s.Namespaces)
	if err := ps.err(); err != nil {
		return nil, err
	}
	sortWarnings(ix.warnings)
	return ix, nil
}

// validateNils complains about lists with a nil in them, which nobody can read.
func validateNils(ps *problems, s *Objects) {
	noNils(ps, "Nodes", s.Nodes)
	noNils(ps, "Pods", s.Pods)
	noNils(ps, "PodGroups", s.PodGroups)
	noNils(ps, "CompositePodGroups", s.CompositePodGroups)
}

func noNils[T any](ps *problems, field string, list []*T) {
	if slices.Contains(list, nil) {
		ps.object(KindSnapshot, "", "").bad(field, "nil", "an object")
	}
}

// Validate reports everything in o that cannot be read, but for its pods, what nodes have of resources, and classes: [Objects.Index]
// looks at all. The error joins a [*FieldError] for each problem.
func (o Objects) Validate() error { return validate(&o).err() }

// validate reports everything in s that cannot be read, but for its pods, and the names
// and amounts of nodes.
func validate(s *Objects) problems {
	var ps problems
	for _, n := range s.Nodes {
		validateNodeBesides(&ps, n)
	}
	for _, g := range s.PodGroups {
		validateGroup(&ps, g)
	}
	for _, g := range s.CompositePodGroups {
		validateComposite(&ps, g)
	}
	for i := range s.Budgets {
		validateBudget(&ps, &s.Budgets[i])
	}
	validateTimes(&ps, s)
	validateUnique(&ps, s)
	return ps
}

// validateUnique complains once about every key that stands more than once, but for
// those of nodes and pods.
func validateUnique(ps *problems, s *Objects) {
	type key struct {
		kind            Kind
		namespace, name string
	}
	seen := make(map[key]int, len(s.PodGroups)+len(s.Budgets))
	count := func(kind Kind, namespace, name string) {
		k := key{kind, namespace, name}
		seen[k]++
		if seen[k] == 2 {
			ps.object(kind, namespace, name).bad("Name", quote(name), "unique")
		}
	}
	for i := range s.PodGroups {
		count(KindPodGroup, s.PodGroups[i].Namespace, s.PodGroups[i].Name)
	}
	for i := range s.CompositePodGroups {
		count(KindCompositePodGroup, s.CompositePodGroups[i].Namespace, s.CompositePodGroups[i].Name)
	}
	for i := range s.Budgets {
		count(KindBudget, s.Budgets[i].Namespace, s.Budgets[i].Name)
	}
	for i := range s.Namespaces {
		count(KindNamespace, "", s.Namespaces[i].Name)
	}
}
