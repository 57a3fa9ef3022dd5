package preemption

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/preempt-go/preempt/domain/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// quotaModel is the compiled quota part of a snapshot, and in a planner the live
// one: questions hold mu for reading, changes for writing.
type quotaModel struct {
	mu      sync.RWMutex
	cloning sync.Mutex // held by clone beside mu for reading: it writes what changes alone look at

	options QuotaOptions
	now     int64 // as [cluster.Nanos]
	ix      *cluster.QuotaIndex
	tree    *quota.Tree
	usage   *quota.Usage // of those that hold quota

	sorted  []*victims.Reservations // one for each order that a queue asks for
	orderOf []int                   // by queue
	idle    []sync.Pool             // by order: *quotaSearch, out of use

	pods *jobs // this model with the pods that hold quota; nil: there are none, or it knows none

	over map[rootColumn]bool // where more is used than there is

	live    *liveQuota // nil as long as nothing has changed
	version int        // counts the changes
}

func newQuotaModel(s *Snapshot, o QuotaOptions) (*quotaModel, error) {
	return newQuotaModelOf(s.QuotaObjects(), o)
}

func newQuotaModelOf(objects cluster.QuotaObjects, o QuotaOptions) (*quotaModel, error) {
	ix, err := cluster.NewQuotaIndexOf(objects)
	if err != nil {
		return nil, err
	}
	m := &quotaModel{options: o, now: ix.Now(), ix: ix, tree: quota.NewTree(ix)}
	m.usage = m.tree.NewUsage()
	m.over = map[rootColumn]bool{}
	for _, r := range ix.Reservations() {
		m.usage.Add(r.Queue, r.Usage)
	}
	for h := range cluster.QuotaID(m.tree.NumHolders()) {
		if m.tree.Parent(h) == cluster.NoQuota {
			for c := range cluster.ColumnID(m.tree.NumColumns()) {
				m.noteOveruse(h, c)
			}
		}
	}
	m.orderOf = make([]int, ix.NumQueues())
	for q := range m.orderOf {
		order := victims.NewQuotaOrder(ix.Queue(cluster.QuotaID(q)).Preemption.Order)
		i := slices.IndexFunc(m.sorted, func(rs *victims.Reservations) bool { return rs.Order().Equal(order) })
		if i < 0 {
			i = len(m.sorted)
			m.sorted = append(m.sorted, victims.NewReservations(ix, order))
		}
		m.orderOf[q] = i
	}
	m.idle = make([]sync.Pool, len(m.sorted))
	return m, nil
}

// rootColumn is a flavor-resource of one tree.
type rootColumn struct {
	root   cluster.QuotaID
	column cluster.ColumnID
}

// noteOveruse notes whether more of column c is used in the tree of h than there is.
func (m *quotaModel) noteOveruse(h cluster.QuotaID, c cluster.ColumnID) {
	at := rootColumn{m.tree.Root(h), c}
	if m.usage.Balance(at.root, c) < 0 {
		m.over[at] = true
	} else {
		delete(m.over, at)
	}
}

// overuse says where more is used than there is, in order of the trees.
func (m *quotaModel) overuse() []cluster.Warning {
	var list []cluster.Warning
	for at := range m.over {
		kind := cluster.KindCohort
		if int(at.root) < m.ix.NumQueues() {
			kind = cluster.KindClusterQueue
		}
		list = append(list, cluster.Warning{
			Kind: kind, Name: m.ix.Name(at.root), Field: "usage",
			Value: m.ix.ResourceName(at.column) + " in flavor " + m.ix.FlavorName(m.ix.FlavorOf(at.column)),
			Text:  "more is used than there is: answered as it is",
		})
	}
	slices.SortFunc(list, func(a, b cluster.Warning) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value))
	})
	return list
}

// search returns a search for workload w of queue q, over usage that is its own:
// what the workloads use, and what earlier answers hold back for others and take
// from their victims.
func (m *quotaModel) search(w *Workload, q cluster.QuotaID) *quotaSearch {
	s, _ := m.idle[m.orderOf[q]].Get().(*quotaSearch)
	if s != nil {
		s.usage.CopyFrom(m.usage)
		s.search.Reset()
	} else {
		usage := m.usage.Clone()
		s = &quotaSearch{
			quotaModel: m, usage: usage, order: m.orderOf[q],
			search: reprieve.NewQuotaSearch(m.ix, usage, m.sorted[m.orderOf[q]]),
		}
	}
	if m.live != nil {
		s.search.Gone = m.account(s.usage, w)
	}
	return s
}

// keep lets a later question use s, which is out of use.
func (m *quotaModel) keep(s *quotaSearch) { m.idle[s.order].Put(s) }

// reservationOf is what the workload of that name holds, nil if nothing.
func (m *quotaModel) reservationOf(namespace, name string) *cluster.Reservation {
	if m.live != nil {
		if j := m.live.job(namespace, name); j != nil {
			return j.r
		}
		return nil
	}
	w := m.ix.Workload(namespace, name)
	i := slices.IndexFunc(m.ix.Reservations(), func(r *cluster.Reservation) bool { return r.Workload == w })
	if i < 0 {
		return nil
	}
	return m.ix.Reservations()[i]
}

// workload returns the workload of that name, nil if there is none.
func (m *quotaModel) workload(namespace, name string) *Workload {
	if m.live == nil {
		return m.ix.Workload(namespace, name)
	}
	if j := m.live.job(namespace, name); j != nil {
		return j.w
	}
	return nil
}

// allWarnings is warnings for those who do not hold mu.
func (m *quotaModel) allWarnings() []cluster.Warning {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.warnings()
}

// warnings lists what is odd.
func (m *quotaModel) warnings() []cluster.Warning {
	if m.live == nil {
		return slices.Concat(m.ix.Warnings(), m.overuse())
	}
	return append(m.live.warnings(m.ix), m.overuse()...)
}

// quotaSearch is the search for one preemptor.
type quotaSearch struct {
	*quotaModel
	usage  *quota.Usage
	search *reprieve.QuotaSearch
	order  int // of m.sorted
}

// victims looks for workloads that have to leave their quota to q.
func (s *quotaSearch) victims(q *reprieve.QuotaQuestion) []reprieve.QuotaVictim {
	fair := s.options.FairSharing
	if fair == nil {
		return s.search.Classical(q)
	}
	return s.search.Fair(q, fair.Strategies, s.precision())
}

func (m *quotaModel) precision() quota.Precision {
	if m.options.KueueFloat {
		return quota.KueueFloat
	}
	return quota.Exact
}

// findWorkload returns the pending workload that p names or holds.
func (m *quotaModel) findWorkload(p Preemptor) (*Workload, error) {
	bad := func(field, value, want string) error {
		return &cluster.FieldError{
			Kind: "Preemptor", Namespace: p.Namespace, Name: p.Name, Field: field, Value: value, Want: want,
		}
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	w := p.Workload
	if w == nil {
		if w = m.workload(p.Namespace, p.Name); w == nil {
			return nil, bad("Name", fmt.Sprintf("%q", p.Name), "a workload of the snapshot")
		}
	}
	if w.Admission != nil {
		return nil, workloadError(w, "Admission", "set", "absent: the preemptor holds quota already")
	}
	return w, checkAmounts(w)
}

// queueOf returns the ClusterQueue of a pending workload, or says why it cannot
// be admitted there.
func (m *quotaModel) queueOf(w *Workload) (cluster.QuotaID, string, error) {
	local := m.ix.LocalQueue(w.Namespace, w.Queue)
	if local == nil {
		return 0, "", workloadError(w, "Queue", fmt.Sprintf("%q", w.Queue), "a LocalQueue of its namespace")
	}
	if m.ix.Cyclic(local.ClusterQueue) {
		return cluster.NoQuota, "the cohort of ClusterQueue " + local.ClusterQueue + " is part of a cycle", nil
	}
	q := m.ix.QueueByName(local.ClusterQueue)
	if q == cluster.NoQuota {
		return 0, "", &cluster.FieldError{
			Kind: string(cluster.KindLocalQueue), Namespace: local.Namespace, Name: local.Name,
			Field: "ClusterQueue", Value: fmt.Sprintf("%q", local.ClusterQueue), Want: "a ClusterQueue of the snapshot",
		}
	}
	if f := m.ix.MissingFlavor(q); f != "" {
		return 0, "", &cluster.FieldError{
			Kind: string(cluster.KindClusterQueue), Name: local.ClusterQueue,
			Field: "Groups", Value: fmt.Sprintf("%q", f), Want: "a ResourceFlavor of the snapshot",
		}
	}
	switch {
	case local.Stopped:
		return q, "its LocalQueue is stopped", nil
	case m.ix.Inactive(q) != "":
		return q, "its ClusterQueue is inactive: " + m.ix.Inactive(q), nil
	}
	return q, "", nil
}

func workloadError(w *Workload, field, value, want string) error {
	return &cluster.FieldError{
		Kind: string(cluster.KindWorkload), Namespace: w.Namespace, Name: w.Name, Field: field, Value: value, Want: want,
	}
}
