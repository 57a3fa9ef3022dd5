package plugin

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	policylisters "k8s.io/client-go/listers/policy/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/examples/kubernetes/convert/live"
	"github.com/preempt-go/preempt/preemption"
)

// mirror keeps a planner equal to the snapshot of a scheduling cycle.
type mirror struct {
	planner *preemption.Planner
	feeder  *live.Feeder

	budgetLister    policylisters.PodDisruptionBudgetLister
	namespaceLister corelisters.NamespaceLister
	claimLister     corelisters.PersistentVolumeClaimLister
	volumeLister    corelisters.PersistentVolumeLister

	round      uint64
	order      []*book          // the nodes of the last snapshot, in its order
	nodes      map[string]*book // by name
	bound      map[preemption.PodRef]*book
	nominated  map[preemption.PodRef]nomination
	nominating string // the node that the pod which is being set is nominated to
	budgets    map[preemption.PodRef]*policyv1.PodDisruptionBudget
	namespaces map[string]*v1.Namespace
}

// book is what the planner knows of a node.
type book struct {
	name       string
	round      uint64 // the last snapshot that had the node
	generation int64
	stale      bool // an update has failed
	node       *v1.Node
	pods       map[preemption.PodRef]*v1.Pod
}

type nomination struct {
	pod  *v1.Pod
	node string
}

// changedNode is a node whose generation is another than that of its book.
type changedNode struct {
	book   *book
	info   fwk.NodeInfo
	failed bool // to take pods away
}

func newMirror(planner *preemption.Planner, factory informers.SharedInformerFactory) *mirror {
	m := &mirror{
		planner:         planner,
		budgetLister:    factory.Policy().V1().PodDisruptionBudgets().Lister(),
		namespaceLister: factory.Core().V1().Namespaces().Lister(),
		claimLister:     factory.Core().V1().PersistentVolumeClaims().Lister(),
		volumeLister:    factory.Core().V1().PersistentVolumes().Lister(),
		nodes:           map[string]*book{},
		bound:           map[preemption.PodRef]*book{},
		nominated:       map[preemption.PodRef]nomination{},
		budgets:         map[preemption.PodRef]*policyv1.PodDisruptionBudget{},
		namespaces:      map[string]*v1.Namespace{},
	}
	m.feeder = live.New(planner, live.Options{Pod: m.adapt})
	return m
}

// adapt leaves of a pod what kube-scheduler v1.36 looks at: its priority is the number
// that admission has written, and its group has no say in the preemption of single pods.
func (m *mirror) adapt(p *preemption.Pod) {
	p.Class, p.Group, p.PreemptionPriority = "", "", nil
	if p.Priority == nil {
		p.Priority = new(int32)
	}
	p.NominatedNode = m.nominating
}

// sync makes the planner equal to the snapshot, but for preemptor, which is asked about.
// The error joins what the planner could not be told; it is told again next time.
// It returns how many nodes had changed.
func (m *mirror) sync(list []fwk.NodeInfo, nominator fwk.PodNominator, preemptor *v1.Pod) (changed int, err error) {
	m.round++
	nodes, err := m.changed(list)
	errs := []error{err}
	errs = append(errs, m.removeNodes())
	for i := range nodes {
		err := m.removePods(nodes[i])
		nodes[i].failed = err != nil
		errs = append(errs, err)
	}
	for _, c := range nodes {
		err := m.setNode(c)
		c.book.generation, c.book.stale = c.info.GetGeneration(), c.failed || err != nil
		errs = append(errs, err)
	}
	errs = append(errs, m.nominate(nominator, preemptor), m.setBudgets(), m.setNamespaces())
	return len(nodes), errors.Join(errs...)
}

// changed walks the snapshot.
func (m *mirror) changed(list []fwk.NodeInfo) (nodes []changedNode, err error) {
	for i, info := range list {
		name := info.Node().Name
		var b *book
		if i < len(m.order) && m.order[i].name == name && m.nodes[name] == m.order[i] {
			b = m.order[i]
		} else if b = m.nodes[name]; b == nil {
			b = &book{name: name, pods: map[preemption.PodRef]*v1.Pod{}, stale: true}
			m.nodes[name] = b
		}
		if b.round == m.round {
			err = errors.Join(err, fmt.Errorf("node %q: it is in the snapshot twice", name))
			continue
		}
		b.round = m.round
		if i < len(m.order) {
			m.order[i] = b
		} else {
			m.order = append(m.order, b)
		}
		if b.stale || b.generation != info.GetGeneration() {
			nodes = append(nodes, changedNode{book: b, info: info})
		}
	}
	m.order = m.order[:min(len(list), len(m.order))]
	return nodes, err
}

// removeNodes takes away the nodes that the snapshot does not have, with their pods.
func (m *mirror) removeNodes() error {
	var errs []error
	if len(m.order) == len(m.nodes) {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(m.nodes)) {
		b := m.nodes[name]
		if b.round == m.round {
			continue
		}
		if err := m.removeNode(b); err != nil {
			errs = append(errs, err)
			continue
		}
		delete(m.nodes, name)
	}
	return errors.Join(errs...)
}

func (m *mirror) removeNode(b *book) error {
	for key, pod := range b.pods {
		if err := m.removePod(b, key, pod); err != nil {
			return err
		}
	}
	if b.node == nil {
		return nil
	}
	if err := m.feeder.Remove(b.node); err != nil {
		return err
	}
	b.node = nil
	return nil
}

// removePods takes away the pods that a node does not have any more. All nodes do so
// before any sets pods, as a pod of the same name may run elsewhere by now.
func (m *mirror) removePods(c changedNode) error {
	var errs []error
	now := make(map[preemption.PodRef]bool, len(c.book.pods))
	for _, p := range c.info.GetPods() {
		now[refOf(p.GetPod())] = true
	}
	for key, pod := range c.book.pods {
		if !now[key] {
			errs = append(errs, m.removePod(c.book, key, pod))
		}
	}
	return errors.Join(errs...)
}

func (m *mirror) removePod(b *book, key preemption.PodRef, pod *v1.Pod) error {
	if m.bound[key] == b {
		if err := m.feeder.Remove(pod); err != nil {
			return err
		}
		delete(m.bound, key)
	}
	delete(b.pods, key)
	return nil
}

// setNode sets a node, and the pods that are new there or have changed.
func (m *mirror) setNode(c changedNode) error {
	var errs []error
	b := c.book
	if node := c.info.Node(); b.node != node {
		if err := m.feeder.Set(node); err != nil {
			errs = append(errs, err)
		} else {
			b.node = node
		}
	}
	for _, p := range c.info.GetPods() {
		pod := p.GetPod()
		key := refOf(pod)
		if b.pods[key] == pod {
			continue
		}
		if other := m.bound[key]; other != nil && other != b {
			errs = append(errs, fmt.Errorf("pod %s/%s: it runs on %s and on %s", key.Namespace, key.Name, other.name, b.name))
			continue
		}
		if err := m.setPod(pod, ""); err != nil {
			errs = append(errs, err)
			continue
		}
		b.pods[key], m.bound[key] = pod, b
		delete(m.nominated, key)
	}
	return errors.Join(errs...)
}

// setPod feeds a pod, after the claims that it uses.
func (m *mirror) setPod(pod *v1.Pod, nominatedTo string) error {
	if len(pod.Spec.Volumes) > 0 {
		for _, name := range convert.Claims(pod) {
			if err := m.setClaim(pod.Namespace, name); err != nil {
				return err
			}
		}
	}
	m.nominating = nominatedTo
	return m.feeder.Set(pod)
}

// setClaim feeds a claim, given as namespace/name; of one that is not there nothing is known any more.
func (m *mirror) setClaim(namespace, name string) error {
	bare := strings.TrimPrefix(name, namespace+"/")
	claim, err := m.claimLister.PersistentVolumeClaims(namespace).Get(bare)
	switch {
	case apierrors.IsNotFound(err):
		return m.feeder.Remove(&v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: bare}})
	case err != nil:
		return err
	}
	return m.feeder.Set(claim)
}

// nominate sets the pods that are nominated to nodes of the snapshot, all but preemptor:
// nobody makes room for itself.
func (m *mirror) nominate(nominator fwk.PodNominator, preemptor *v1.Pod) error {
	var errs []error
	now := map[preemption.PodRef]nomination{}
	for _, b := range m.order {
		for _, p := range nominator.NominatedPodsForNode(b.name) {
			pod := p.GetPod()
			if pod.UID == preemptor.UID {
				continue
			}
			key := refOf(pod)
			if m.bound[key] == nil {
				now[key] = nomination{pod, b.name}
			}
		}
	}
	for key, n := range m.nominated {
		if _, ok := now[key]; !ok {
			if err := m.feeder.Remove(n.pod); err != nil {
				errs = append(errs, err)
				continue
			}
			delete(m.nominated, key)
		}
	}
	for key, n := range now {
		if m.nominated[key] == n {
			continue
		}
		pending := n.pod
		if pending.Spec.NodeName != "" { // nominated still, while it is being bound
			pending = pending.DeepCopy()
			pending.Spec.NodeName = ""
		}
		if err := m.setPod(pending, n.node); err != nil {
			errs = append(errs, err)
			continue
		}
		m.nominated[key] = n
	}
	return errors.Join(errs...)
}

func (m *mirror) setBudgets() error {
	list, err := m.budgetLister.List(labels.Everything())
	if err != nil {
		return err
	}
	return follow(m, m.budgets, list, func(b *policyv1.PodDisruptionBudget) preemption.PodRef {
		return preemption.PodRef{Namespace: b.Namespace, Name: b.Name}
	})
}

func (m *mirror) setNamespaces() error {
	list, err := m.namespaceLister.List(labels.Everything())
	if err != nil {
		return err
	}
	return follow(m, m.namespaces, list, func(n *v1.Namespace) string { return n.Name })
}

// follow feeds what differs between list and have.
func follow[K, O comparable](m *mirror, have map[K]O, list []O, key func(O) K) error {
	var errs []error
	for _, o := range list {
		if have[key(o)] != o {
			if err := m.feeder.Set(o); err != nil {
				errs = append(errs, err)
				continue
			}
			have[key(o)] = o
		}
	}
	if len(have) > len(list) {
		now := make(map[K]bool, len(list))
		for _, o := range list {
			now[key(o)] = true
		}
		for k, o := range have {
			if !now[k] {
				if err := m.feeder.Remove(o); err != nil {
					errs = append(errs, err)
					continue
				}
				delete(have, k)
			}
		}
	}
	return errors.Join(errs...)
}

// inline is a pending pod as it is asked about: with the tokens of its claims, and
// where it may run by its volumes.
func (m *mirror) inline(pod *v1.Pod) (preemption.Pod, error) {
	var tokens []string
	var reach []*v1.NodeSelector
	for _, name := range convert.Claims(pod) {
		claim, err := m.claimLister.PersistentVolumeClaims(pod.Namespace).Get(name[len(pod.Namespace)+1:])
		if err != nil {
			continue
		}
		if token := convert.Token(name); convert.Exclusive(claim) && !slices.Contains(tokens, token) {
			tokens = append(tokens, token)
		}
		volume, err := m.volumeLister.Get(claim.Spec.VolumeName)
		if err == nil && volume.Spec.NodeAffinity != nil && volume.Spec.NodeAffinity.Required != nil {
			reach = append(reach, volume.Spec.NodeAffinity.Required)
		}
	}
	p, err := convert.Pod(within(pod, reach))
	if err != nil {
		return p, err
	}
	p.Tokens = tokens
	m.nominating = ""
	m.adapt(&p)
	return p, nil
}

// within is pod with its required node affinity narrowed to nodes that all of reach
// select.
func within(pod *v1.Pod, reach []*v1.NodeSelector) *v1.Pod {
	if len(reach) == 0 {
		return pod
	}
	pod = pod.DeepCopy()
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &v1.Affinity{}
	}
	if pod.Spec.Affinity.NodeAffinity == nil {
		pod.Spec.Affinity.NodeAffinity = &v1.NodeAffinity{}
	}
	required := &pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	for _, selector := range reach {
		if *required == nil {
			*required = selector.DeepCopy()
			continue
		}
		both := &v1.NodeSelector{}
		for _, a := range (*required).NodeSelectorTerms {
			for _, b := range selector.NodeSelectorTerms {
				if nowhere(a) || nowhere(b) {
					continue
				}
				both.NodeSelectorTerms = append(both.NodeSelectorTerms, v1.NodeSelectorTerm{
					MatchExpressions: slices.Concat(a.MatchExpressions, b.MatchExpressions),
					MatchFields:      slices.Concat(a.MatchFields, b.MatchFields),
				})
			}
		}
		*required = both
	}
	return pod
}

// nowhere reports whether t is empty: such a term selects no node.
func nowhere(t v1.NodeSelectorTerm) bool {
	return len(t.MatchExpressions) == 0 && len(t.MatchFields) == 0
}

// victim is the scheduler's object of a pod that the planner wants to evict.
func (m *mirror) victim(key preemption.PodRef) *v1.Pod {
	if b := m.bound[key]; b != nil {
		return b.pods[key]
	}
	return nil
}

func refOf(pod *v1.Pod) preemption.PodRef {
	return preemption.PodRef{Namespace: pod.Namespace, Name: pod.Name}
}
