package workload

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/preempt-go/preempt/internal/problems"
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Rules say how workloads preempt each other. The zero value is Kueue's classical
// preemption.
type Rules struct {
	Fair       bool                   // shares decide whose workloads go; else priorities and nominal quota do
	Strategies []quotasearch.Strategy // how shares are compared; none: the default of [quotasearch.Search.Fair]
	Precision  quota.Precision        // of shares
}

// Model is the compiled quota part of a snapshot, and in a planner the live one.
type Model struct {
	Mu      sync.RWMutex // held by questions for reading, also twice; by changes for writing, which take it by TryLock only
	cloning sync.Mutex   // held by Clone beside Mu for reading: it writes what changes alone look at

	Rules Rules
	Index *quota.Index
	Tree  *quota.Tree
	Pods  Pods // the pods that hold quota; none in a model that [Queued.On] has not made

	now   int64        // as [cluster.Nanos]
	usage *quota.Usage // of those that hold quota

	sorted  []*quotasearch.Reservations // one for each order that a queue asks for
	orderOf []int                       // by queue
	idle    []sync.Pool                 // by order: *Search, out of use

	over map[rootColumn]struct{} // where more is used than there is

	holds     []hold     // in order of name
	kept      *kept      // nil: it is found when somebody asks
	keeping   sync.Mutex // held while it is
	Accounted int        // how often that was

	live    *Objects // nil as long as nothing has changed
	version int      // counts the changes
}

// New compiles objects. What cannot be read is a [*cluster.FieldError] each.
func New(objects cluster.QuotaObjects, rules Rules) (*Model, error) {
	ix, err := quota.NewIndexOf(objects)
	if err != nil {
		return nil, err
	}
	m := &Model{Rules: rules, Index: ix, Tree: quota.NewTree(ix), now: ix.Now()}
	m.usage = m.Tree.NewUsage()
	m.over = map[rootColumn]struct{}{}
	for _, r := range ix.Reservations() {
		m.usage.Add(r.Queue, r.Usage)
	}
	for h := range quota.HolderID(m.Tree.NumHolders()) {
		if m.Tree.Parent(h) == quota.NoHolder {
			for c := range quota.ColumnID(m.Tree.NumColumns()) {
				m.noteOveruse(h, c)
			}
		}
	}
	m.orderOf = make([]int, ix.NumQueues())
	for q := range m.orderOf {
		order := quotasearch.NewOrder(ix.Queue(quota.HolderID(q)).Preemption.Order)
		i := slices.IndexFunc(m.sorted, func(rs *quotasearch.Reservations) bool { return rs.Order().Equal(order) })
		if i < 0 {
			i = len(m.sorted)
			m.sorted = append(m.sorted, quotasearch.NewReservations(ix, order))
		}
		m.orderOf[q] = i
	}
	m.idle = make([]sync.Pool, len(m.sorted))
	for _, h := range objects.QuotaHolds {
		m.holds = append(m.holds, m.compileHold(h))
	}
	slices.SortFunc(m.holds, func(a, b hold) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return m, nil
}

// rootColumn is a flavor-resource of one tree.
type rootColumn struct {
	root   quota.HolderID
	column quota.ColumnID
}

// noteOveruse notes whether more of column c is used in the tree of h than there is.
func (m *Model) noteOveruse(h quota.HolderID, c quota.ColumnID) {
	at := rootColumn{m.Tree.Root(h), c}
	if m.usage.Balance(at.root, c) < 0 {
		m.over[at] = struct{}{}
	} else {
		delete(m.over, at)
	}
}

// overuse says where more is used than there is, in order of the trees.
func (m *Model) overuse() []cluster.Warning {
	var list []cluster.Warning
	for at := range m.over {
		kind := cluster.KindCohort
		if int(at.root) < m.Index.NumQueues() {
			kind = cluster.KindClusterQueue
		}
		list = append(list, cluster.Warning{
			Kind: kind, Name: m.Index.Name(at.root), Field: "usage",
			Value: m.Index.ResourceName(at.column) + " in flavor " + m.Index.FlavorName(m.Index.FlavorOf(at.column)),
			Text:  "more is used than there is: answered as it is",
		})
	}
	slices.SortFunc(list, func(a, b cluster.Warning) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value))
	})
	return list
}

// Held is what the workload of that name holds, nil if nothing.
func (m *Model) Held(namespace, name string) *quota.Reservation {
	if m.live != nil {
		if j := m.live.job(namespace, name); j != nil {
			return j.r
		}
		return nil
	}
	list := m.Index.Reservations()
	i, found := slices.BinarySearchFunc(list, Name{namespace, name}, func(r *quota.Reservation, of Name) int {
		return cmp.Or(cmp.Compare(r.Workload.Namespace, of.Namespace), cmp.Compare(r.Workload.Name, of.Name))
	})
	if !found {
		return nil
	}
	return list[i]
}

// Workload returns the workload of that name, nil if there is none.
func (m *Model) Workload(namespace, name string) *cluster.Workload {
	if m.live == nil {
		return m.Index.Workload(namespace, name)
	}
	if j := m.live.job(namespace, name); j != nil {
		return j.w
	}
	return nil
}

// Warnings lists what is odd.
func (m *Model) Warnings() []cluster.Warning {
	if m.live == nil {
		return slices.Concat(m.Index.Warnings(), m.overuse())
	}
	return append(m.live.warnings(m.Index), m.overuse()...)
}

// Find returns the pending workload that p names or holds.
func (m *Model) Find(p cluster.Preemptor) (*cluster.Workload, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	w := p.Workload
	if w == nil {
		if w = m.Workload(p.Namespace, p.Name); w == nil {
			return nil, problems.Preemptor(p, "Name", words.Quoted(p.Name), "a workload of the snapshot")
		}
	}
	if w.Admission != nil {
		return nil, problems.Workload(w, "Admission", "set", "absent: the preemptor holds quota already")
	}
	return w, CheckAmounts(w)
}

// Refused is why a workload cannot be admitted to its queue.
type Refused int

// The reasons.
const (
	NotRefused Refused = iota
	Cyclic             // the cohort of its ClusterQueue is part of a cycle
	Stopped            // its LocalQueue is stopped
	Inactive           // its ClusterQueue is; [quota.Index.Inactive] tells why
)

// mostChoices are pod sets of a workload times flavors of its queue.
const mostChoices = 1 << 16

// QueueOf returns the ClusterQueue of a pending workload, NoHolder if that is Cyclic, or why
// it cannot be admitted there.
func (m *Model) QueueOf(w *cluster.Workload) (quota.HolderID, Refused, error) {
	local := m.Index.LocalQueue(w.Namespace, w.Queue)
	if local == nil {
		return 0, NotRefused, problems.Workload(w, "Queue", words.Quoted(w.Queue), "a LocalQueue of its namespace")
	}
	if m.Index.Cyclic(local.ClusterQueue) {
		return quota.NoHolder, Cyclic, nil
	}
	q := m.Index.QueueByName(local.ClusterQueue)
	if q == quota.NoHolder {
		return 0, NotRefused, &cluster.FieldError{
			Kind: string(cluster.KindLocalQueue), Namespace: local.Namespace, Name: local.Name,
			Field: "ClusterQueue", Value: words.Quoted(local.ClusterQueue), Want: "a ClusterQueue of the snapshot",
		}
	}
	if f := m.Index.MissingFlavor(q); f != "" {
		return 0, NotRefused, &cluster.FieldError{
			Kind: string(cluster.KindClusterQueue), Name: local.ClusterQueue,
			Field: "Groups", Value: words.Quoted(f), Want: "a ResourceFlavor of the snapshot",
		}
	}
	flavors := 0
	for _, g := range m.Index.Groups(q) {
		flavors += len(g.Flavors)
	}
	if most := mostChoices / max(1, flavors); len(w.PodSets) > most {
		want := "at most " + strconv.Itoa(most) + " beside " + words.Count(flavors, "flavor") + " of its queue"
		return 0, NotRefused, problems.Workload(w, "PodSets", strconv.Itoa(len(w.PodSets)), want)
	}
	switch {
	case local.Stopped:
		return q, Stopped, nil
	case m.Index.Inactive(q) != "":
		return q, Inactive, nil
	}
	return q, NotRefused, nil
}

// Waits is how many more seconds workload w of queue q waits before it may evict others.
func (m *Model) Waits(w *cluster.Workload, q quota.HolderID) int64 {
	wait := m.Index.Queue(q).Preemption.WaitSeconds
	if wait == 0 || w.Created.IsZero() || m.now == math.MaxInt64 {
		return 0
	}
	waited := quota.Sub(m.now, cluster.Nanos(w.Created)) / int64(time.Second)
	return max(0, wait-waited)
}

// Order is the order in which workloads leave their quota to queue q.
func (m *Model) Order(q quota.HolderID) quotasearch.Order { return m.sorted[m.orderOf[q]].Order() }

// FitsNow reports whether queue q has request beside everybody who holds quota, victims of
// earlier answers included, but not own.
func (m *Model) FitsNow(q quota.HolderID, request []quota.ColumnAmount, own ...*quota.Reservation) bool {
	usage := m.usage
	if len(own) > 0 {
		usage = usage.Clone()
	}
	for _, r := range own {
		usage.Remove(r.Queue, r.Usage)
	}
	return usage.Fits(q, request, true)
}
