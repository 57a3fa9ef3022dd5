package cluster

import (
	"slices"
	"time"

	"github.com/preempt-go/preempt/internal/paged"
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/preemption/cluster/internal/hashed"
)

// podReader reads pods one after another: it checks each and fills its rows, so that
// nobody else has to go through the pods, which are large. Several of them read parts
// of the pods at once; see [Index.gather] for what they find beside rows.
type podReader struct {
	ix    *Index
	order *podOrder

	disorder bool     // pods are not in order of name
	twice    bool     // neighbours have the same name
	wrong    problems // what cannot be read
	amiss    problems // what does not go together, if everything can be read
	warnings []Warning

	carriers carriers
	nominees []PodID
	strays   []PodID // on a node that is unknown
	waiting  int
	guarded  saying
	latest   time.Time
	named    []int32         // see Index
	unknown  map[string]bool // resources without a column; nil: none
	onNode   []int32         // how many pods run there
	hashes   []uint32        // of names, by pod; shared by all readers

	columns       []ResourceID // all but Pods, those first that the last pod has named
	node          string       // the last one, and its number
	nodeID        NodeID
	group         groupKey // the last one, and its number
	groupID       GroupID
	namespace     string // the last one, and its hash
	namespaceHash uint64
}

// readPods checks every pod, lays its requests out in the columns of every resource
// that a node offers or a pod asks for, and settles what it can be told without the
// others: its node, group and priority. What the readers call amiss is about pods that
// can be read.
func (ix *Index) readPods(ps *problems, pods []*Pod, offered map[string]bool, parts int) []*podReader {
	ix.nameResources(offered)
	ix.pods, ix.requests = paged.Make[podRow](len(pods)), paged.MakeMatrix(len(pods), len(ix.resources))
	order := &podOrder{pods: pods}
	readers := ix.readAll(order, parts)
	if !slices.ContainsFunc(readers, func(r *podReader) bool { return r.disorder }) {
		order.complain(ps, readers)
	} else {
		order.sort()
		readers = ix.readAll(order, parts)
		order.complain(ps, nil)
	}
	ix.podByName = hashed.NewTable(readers[0].hashes, parts)
	for _, r := range readers {
		*ps = append(*ps, r.wrong...)
	}
	ix.readUnknown(ps, offered, readers)
	return readers
}

// readAll reads the pods in the order given, unless they turn out not to be in it.
func (ix *Index) readAll(order *podOrder, parts int) []*podReader {
	n := len(order.pods)
	hashes := make([]uint32, n)
	readers := make([]*podReader, parts)
	ranges.Each(n, parts, func(part, first, end int) {
		r := &podReader{ix: ix, order: order, hashes: hashes, onNode: make([]int32, ix.NumNodes()), nodeID: NoNode}
		readers[part] = r
		r.namespaceHash = hashed.Namespace("")
		r.startColumns()
		for at := first; at < end && !r.disorder; at++ {
			r.follow(at)
			r.read(order.id(at), order.pods[at])
		}
	})
	return readers
}

// follow looks at the names of the pod at a position and the one before.
func (r *podReader) follow(at int) {
	if at == 0 || r.order.byName != nil {
		return
	}
	c := comparePodNames(r.order.pods[at-1], r.order.pods[at])
	r.disorder, r.twice = c > 0, r.twice || c == 0
}

// startColumns begins to count who names which resource.
func (r *podReader) startColumns() {
	r.named = make([]int32, len(r.ix.resources))
	r.columns = r.columns[:0]
	for c := range r.ix.resources[1:] {
		r.columns = append(r.columns, ResourceID(c+1))
	}
}

// readUnknown lays requests out anew if a pod asks for what no node offers.
func (ix *Index) readUnknown(ps *problems, names map[string]bool, readers []*podReader) {
	known := len(names)
	for _, r := range readers {
		for name := range r.unknown {
			names[name] = true
		}
	}
	delete(names, Pods)
	if len(names) == known || !checkAmounts(ps, ix.NumNodes(), ix.NumPods(), len(names)) {
		return
	}
	ix.nameResources(names)
	n := ix.requests.Len()
	ix.requests = paged.MakeMatrix(n, len(ix.resources))
	ranges.Each(n, len(readers), func(part, first, end int) {
		r := readers[part]
		r.startColumns()
		for at := first; at < end; at++ {
			r.request(ix.requests.Edit(int(r.order.id(at))), r.order.pods[at].Requests)
		}
	})
}

// read reads pod p, whose number is id.
func (r *podReader) read(id PodID, p *Pod) {
	ix := r.ix
	validateBesides(&r.wrong, p)
	validatePodTimes(&r.wrong, p)
	r.readRequests(id, p)
	r.carriers.find(id, p)

	row := ix.pods.Edit(int(id))
	*row = podRow{pod: p, node: r.nodeNamed(p.Node), group: r.groupNamed(p), runs: p.Node != "", repels: len(p.AntiAffinity) > 0}
	row.started, row.begun, row.grouped, row.leaves = Nanos(p.Started), !p.Started.IsZero(), p.Group != "", p.Terminating
	switch {
	case row.node != NoNode:
		r.onNode[row.node]++
	case row.runs:
		r.strays = append(r.strays, id)
	case p.NominatedNode != "":
		r.nominees = append(r.nominees, id)
	}
	if (p.Queue != "" || row.group != NoGroup) && ix.QueueOf(id) != "" {
		r.carriers.queued = append(r.carriers.queued, id)
	}
	ix.resolve(&r.amiss, id)
	if oddity(row) {
		r.warnings = append(r.warnings, ix.oddities(row)...)
	}
	r.waiting += row.numUnstarted()
	r.guarded.add(1, p.Guard, p.Evictions)
	r.latest = latest(r.latest, p.Cost, p.Evictions)
	r.hashes[id] = r.hash(p)
}

func (r *podReader) readRequests(id PodID, p *Pod) {
	row := r.ix.requests.Edit(int(id))
	if r.order.ids != nil {
		clear(row) // another pod may have been read into it, before the order was known
	}
	complete := r.request(row, p.Requests)
	if !complete || slices.Min(row) < 0 {
		validateRequests(&r.wrong, p)
	}
	if !complete {
		if r.unknown == nil {
			r.unknown = map[string]bool{}
		}
		for name := range p.Requests {
			r.unknown[name] = true
		}
	}
}

// request is [Index.request], and counts who names which resource. Most pods name what
// the pod before has named, which is looked up first.
func (r *podReader) request(row []int64, amounts Resources) bool {
	row[PodsColumn] = 1
	r.named[PodsColumn]++
	found := 0
	if len(r.columns) > fewResources {
		for name, v := range amounts {
			if c, ok := r.ix.column[name]; ok && c != PodsColumn {
				row[c] = v
				r.named[c]++
				found++
			}
		}
		return found == len(amounts)
	}
	for i, c := range r.columns {
		if found == len(amounts) {
			break
		}
		v, ok := amounts[r.ix.resources[c]]
		if !ok {
			continue
		}
		row[c] = v
		r.named[c]++
		copy(r.columns[found+1:i+1], r.columns[found:i])
		r.columns[found] = c
		found++
	}
	return found == len(amounts)
}

// nodeNamed is [Index.nodeNamed]. Pods of a node are often neighbours.
func (r *podReader) nodeNamed(name string) NodeID {
	if name != r.node {
		r.node, r.nodeID = name, r.ix.nodeNamed(name)
	}
	return r.nodeID
}

// groupNamed is [Index.groupNamed]. Pods of a group are often neighbours.
func (r *podReader) groupNamed(p *Pod) GroupID {
	if p.Group == "" {
		return NoGroup
	}
	if of := (groupKey{KindPodGroup, p.Namespace, p.Group}); of != r.group {
		r.group, r.groupID = of, r.ix.groupNamed(p)
	}
	return r.groupID
}

func (r *podReader) hash(p *Pod) uint32 {
	if p.Namespace != r.namespace {
		r.namespace, r.namespaceHash = p.Namespace, hashed.Namespace(p.Namespace)
	}
	return hashed.In(r.namespaceHash, p.Name)
}

// gather puts together what readers have found.
func (ix *Index) gather(ps *problems, readers []*podReader) (nominees []PodID, onNode []int32) {
	onNode = make([]int32, ix.NumNodes())
	for _, r := range readers {
		*ps = append(*ps, r.amiss...)
		ix.warnings = append(ix.warnings, r.warnings...)
		ix.carriers.add(&r.carriers)
		nominees = append(nominees, r.nominees...)
		ix.strays.found = append(ix.strays.found, r.strays...)
		ix.waiting += r.waiting
		ix.guarded.guards += r.guarded.guards
		ix.guarded.evictions += r.guarded.evictions
		for _, p := range r.carriers.queued {
			ix.queued += ix.numQueued(p)
		}
		if r.latest.After(ix.latest) {
			ix.latest = r.latest
		}
		for c, n := range r.named {
			ix.named[c] += n
		}
		for n, count := range r.onNode {
			onNode[n] += count
		}
	}
	if readers[0].order.ids != nil {
		ix.carriers.sort()
		slices.Sort(nominees)
	}
	return nominees, onNode
}
