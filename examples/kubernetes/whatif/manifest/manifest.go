package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/examples/kubernetes/whatif/edit"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cascade"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Manifest is what is wanted of a cluster.
type Manifest struct {
	// Notes are sentences about what is not asked for.
	Notes []string

	dump    *convert.Dump
	files   []string // in their order
	planner *preemption.Planner
	there   map[string]int            // pods by what made them, as "Kind namespace/name"
	pending map[string][]*cluster.Pod // of them
	on      map[string]bool           // where a DaemonSet's pod runs, as "namespace/name node"
	wanted  []wanted
	asked   map[string]bool             // who is among them
	pods    int                         // of its workloads, so far
	lowered map[preemption.PodRef]int32 // priorities of groups that have them of their pods
}

// wanted is a pod or group that a manifest asks for.
type wanted struct {
	at              convert.Origin
	kind            cluster.Kind
	namespace, name string
}

// Add adds what was read of files to the cluster of a planner, which has s, its pods pending.
func Add(planner *preemption.Planner, s *preemption.Snapshot, dump *convert.Dump, files []string) (*Manifest, error) {
	m := &Manifest{dump: dump, files: files, planner: planner, asked: map[string]bool{}, lowered: map[preemption.PodRef]int32{}}
	m.look(s)
	if err := m.add(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(m.wanted, func(a, b wanted) int {
		return cmp.Or(
			cmp.Compare(slices.Index(files, a.at.File), slices.Index(files, b.at.File)),
			cmp.Compare(a.at.Document, b.at.Document), cmp.Compare(a.at.Item, b.at.Item),
		)
	})
	return m, nil
}

// Ask asks for all of it, in the order of the manifest, and then about whom that evicts.
func (m *Manifest) Ask(c *cascade.Cascade) error {
	for _, w := range m.wanted {
		if err := c.Ask(w.kind, w.namespace, w.name); err != nil {
			return fmt.Errorf("%s: %w", w.at, err)
		}
	}
	return c.Settle()
}

// look finds what of the manifest is there already.
func (m *Manifest) look(s *preemption.Snapshot) {
	names := map[preemption.PodRef]bool{}
	m.there, m.pending, m.on = map[string]int{}, map[string][]*cluster.Pod{}, map[string]bool{}
	for i := range s.Pods {
		p := &s.Pods[i]
		names[preemption.PodRef{Namespace: p.Namespace, Name: p.Name}] = true
		if o := p.Owner; o != nil && !p.Terminating {
			m.made(o.Kind, o.Name, p)
			if i := strings.LastIndexByte(o.Name, '-'); o.Kind == "ReplicaSet" && i > 0 {
				m.made("Deployment", o.Name[:i], p)
			}
		}
	}
	m.dump.Snapshot.Pods = slices.DeleteFunc(m.dump.Snapshot.Pods, func(p cluster.Pod) bool {
		is := names[preemption.PodRef{Namespace: p.Namespace, Name: p.Name}]
		if is {
			m.note("pod %s/%s is in the cluster already: it stays as it is", p.Namespace, p.Name)
		}
		return is
	})
}

// made notes that p was made by a workload.
func (m *Manifest) made(kind, name string, p *cluster.Pod) {
	key := kind + " " + p.Namespace + "/" + name
	m.there[key]++
	if p.Node == "" {
		m.pending[key] = append(m.pending[key], p)
	} else if kind == daemonSet {
		m.on[p.Namespace+"/"+name+" "+p.Node] = true
	}
}

const daemonSet = "DaemonSet"

// add makes the objects part of the cluster and wants its pods.
func (m *Manifest) add() error {
	if err := edit.Set(m.planner, m.dump); err != nil {
		return m.dump.Locate(err)
	}
	for i := range m.dump.Snapshot.Pods {
		p := &m.dump.Snapshot.Pods[i]
		if p.Node != "" {
			m.note("pod %s/%s is bound to %s: it runs there, whatever room there is", p.Namespace, p.Name, p.Node)
		} else if err := m.want(m.dump.OriginOf(cluster.KindPod, p.Namespace, p.Name), p); err != nil {
			return err
		}
	}
	if n := m.dump.Finished; n > 0 {
		m.note("what has run to its end is left out: %d", n)
	}
	for i := 0; i < len(m.dump.Templates); i++ {
		t := &m.dump.Templates[i]
		if err := m.counted(t); err != nil {
			return err
		}
		var err error
		switch {
		case t.Kind == daemonSet:
			err = m.daemons(t)
		case t.Kind == "LeaderWorkerSet":
			i++ // the workers follow
			err = m.teams(t, &m.dump.Templates[i])
		default:
			err = m.replicas(t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *Manifest) note(format string, args ...any) {
	m.Notes = append(m.Notes, fmt.Sprintf(format, args...))
}

// want asks for a pending pod, or once for the group, or the highest composite group, that it belongs to.
func (m *Manifest) want(at convert.Origin, p *cluster.Pod) error {
	w := wanted{at, cluster.KindPod, p.Namespace, p.Name}
	if p.Group != "" {
		if err := m.planner.View(func(v preemption.View) {
			whole := v.Whole(preemption.PodRef{Namespace: p.Namespace, Name: p.Name})
			w.kind, w.name = whole.Kind, whole.Name
		}); err != nil {
			return m.dump.Locate(err)
		}
	}
	key := fmt.Sprintf("%s %s/%s", w.kind, w.namespace, w.name)
	if !m.asked[key] {
		m.asked[key] = true
		m.wanted = append(m.wanted, w)
	}
	return nil
}

// Most is how many pods the workloads of a manifest may have.
const Most = 100_000

// counted refuses what has too many pods.
func (m *Manifest) counted(t *convert.Template) error {
	n := t.Replicas * t.Count
	if m.pods += n; m.pods <= Most {
		return nil
	}
	return &convert.Error{
		Origin: t.Origin, Kind: t.Kind, Namespace: t.Namespace, Name: t.Name,
		Field: "spec", Value: fmt.Sprint(n, " pods"), Want: fmt.Sprintf("at most %d, with those before it", Most),
	}
}

// put makes a pod pending and asks for it.
func (m *Manifest) put(t *convert.Template, p cluster.Pod) error {
	pods := []cluster.Pod{p}
	err := edit.Join(m.planner, pods)
	if err == nil {
		err = m.planner.SetPod(pods[0])
	}
	if err == nil && pods[0].Group != p.Group {
		err = m.lower(&pods[0])
	}
	if err != nil {
		return fmt.Errorf("%s: %s %s/%s: %w", t.Origin, t.Kind, t.Namespace, t.Name, err)
	}
	return m.want(t.Origin, &pods[0])
}

// lower gives the group that p has joined the priority of p, if that is lower than those of the
// pods before it and the group, as those of coscheduling, has none of its own.
func (m *Manifest) lower(p *cluster.Pod) error {
	key := preemption.PodRef{Namespace: p.Namespace, Name: p.Group}
	var group cluster.PodGroup
	var level int32
	if err := m.planner.View(func(v preemption.View) {
		group = *v.PodGroup(p.Namespace, p.Group)
		level = v.Priority(preemption.PodRef{Namespace: p.Namespace, Name: p.Name})
	}); err != nil {
		return err
	}
	before, is := m.lowered[key]
	if is && level >= before || !is && (group.Class != "" || group.Priority != nil) {
		return nil
	}
	m.lowered[key], group.Priority = level, &level
	return m.planner.SetPodGroup(group)
}

// replicas puts the pods of a template that the cluster does not have yet.
func (m *Manifest) replicas(t *convert.Template) error {
	if t.Replicas*t.Count == 0 {
		m.noPod(t)
		return nil
	}
	there := 0
	if key := t.Kind + " " + t.Namespace + "/" + t.Name; t.Part == "" {
		there = m.there[key]
		for _, p := range m.pending[key] {
			if err := m.want(t.Origin, p); err != nil {
				return err
			}
		}
		if n := there - len(m.pending[key]); n > 0 {
			m.note("%s %s/%s: %d of its pods run already, and stay as they are", t.Kind, t.Namespace, t.Name, n)
		}
	}
	p, err := t.Pod("")
	if err != nil {
		return err
	}
	name := p.Name
	for i := there; i < t.Replicas*t.Count; i++ {
		p.Name = fmt.Sprintf("%s-%d", name, i)
		if t.Replicas > 1 && t.Count > 1 {
			p.Name = fmt.Sprintf("%s-%d-%d", name, i/t.Count, i%t.Count)
		}
		if err := m.put(t, p); err != nil {
			return err
		}
	}
	return nil
}

func (m *Manifest) noPod(t *convert.Template) {
	m.note("%s %s/%s asks for no pod", t.Kind, t.Namespace, t.Name)
}

// teams puts the pods of a LeaderWorkerSet: each leader with its workers, of whom none is of
// use without the others, is a gang, unless their template names a group of their own or their
// priorities differ.
func (m *Manifest) teams(leader, worker *convert.Template) error {
	if leader.Replicas*(leader.Count+worker.Count) == 0 {
		m.noPod(leader)
		return nil
	}
	l, err := leader.Pod("")
	if err != nil {
		return err
	}
	w, err := worker.Pod("")
	if err != nil {
		return err
	}
	team := []cluster.Pod{l, w}
	if err := edit.Join(m.planner, team); err != nil {
		return err
	}
	l, w = team[0], team[1]
	size := int32(leader.Count + worker.Count)
	alike := l.Group == "" && w.Group == "" && l.Class == w.Class && l.Policy == w.Policy && equal(l.Priority, w.Priority)
	names := [2]string{l.Name, w.Name}
	for r := range leader.Replicas {
		if alike {
			g := cluster.PodGroup{
				Namespace: leader.Namespace, Name: fmt.Sprintf("%s-%d", leader.Name, r), MinCount: &size,
				Class: l.Class, Priority: l.Priority, Policy: l.Policy,
			}
			if err := m.planner.SetPodGroup(g); err != nil {
				return err
			}
			l.Group, w.Group = g.Name, g.Name
		}
		if leader.Count > 0 {
			l.Name = fmt.Sprintf("%s-%d", names[0], r)
			if err := m.put(leader, l); err != nil {
				return err
			}
		}
		for i := range worker.Count {
			w.Name = fmt.Sprintf("%s-%d-%d", names[1], r, i)
			if err := m.put(worker, w); err != nil {
				return err
			}
		}
	}
	return nil
}

func equal[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// daemons puts a pod of a DaemonSet on each node that takes one and has none.
func (m *Manifest) daemons(t *convert.Template) error {
	var nodes []string
	if err := m.planner.View(func(v preemption.View) {
		for n := range v.Nodes() {
			nodes = append(nodes, n.Name)
		}
	}); err != nil {
		return err
	}
	none := true
	for _, node := range nodes {
		if m.on[t.Namespace+"/"+t.Name+" "+node] {
			none = false
			continue
		}
		p, err := t.Pod(node)
		if err != nil {
			return err
		}
		p.Name += "-" + node
		why, err := m.planner.WhyNot(preemption.Preemptor{Pods: []cluster.Pod{p}}, preemption.NodeTarget(node))
		if err != nil {
			return err
		}
		if why.Reason != nil && slices.Contains(notMeant, why.Reason.Check) {
			continue
		}
		none = false
		if err := m.put(t, p); err != nil {
			return err
		}
	}
	if none {
		m.noPod(t)
	}
	return nil
}

// notMeant are the checks for which the controller of DaemonSets leaves a node out.
var notMeant = []domain.Check{domain.CheckTaint, domain.CheckNodeAffinity, domain.CheckNodeName, domain.CheckUnschedulable}
