package live

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// Options choose what is fed. The zero value feeds objects as they are.
type Options struct {
	// Pod changes a pod as it is converted, before the planner gets it, for schedulers
	// that know more than the object says, or look at less. Maps and slices are shared
	// with the object and must be replaced, not changed. nil: nothing is changed.
	Pod func(pod *preemption.Pod)
}

// Feeder turns objects into changes of a planner. It is safe for concurrent use;
// [New] makes one.
type Feeder struct {
	planner *preemption.Planner
	options Options

	mu        sync.Mutex
	pods      map[preemption.PodRef]*corev1.Pod                // that the planner has
	exclusive map[string]bool                                  // claims that one pod at a time may use
	users     map[string]map[preemption.PodRef]bool            // pods that use a claim
	classes   map[string]priority.Class                        // by name
	resolved  *priority.Classes                                // of classes
	annotated map[cluster.Kind]map[preemption.PodRef]annotated // whose annotation names a class
}

// annotated is an object whose annotation names a priority class.
type annotated struct {
	object metav1.Object
	err    error // the class is not there
}

// New makes a feeder of planner, which holds none of the objects that will be fed. All
// changes of such objects are to go through the feeder from then on; evictions,
// nominations and questions remain the planner's.
func New(planner *preemption.Planner, o Options) *Feeder {
	f := &Feeder{
		planner: planner, options: o,
		pods:      map[preemption.PodRef]*corev1.Pod{},
		exclusive: map[string]bool{},
		users:     map[string]map[preemption.PodRef]bool{},
		classes:   map[string]priority.Class{},
		annotated: map[cluster.Kind]map[preemption.PodRef]annotated{cluster.KindPod: {}, cluster.KindPodGroup: {}},
	}
	f.resolve()
	return f
}

// Planner is the planner that f feeds.
func (f *Feeder) Planner() *preemption.Planner { return f.planner }

// Set adds object, or replaces the one of its kind and name. Pods that have finished are
// taken away. The object must not be changed afterwards.
//
// The error joins a [*convert.Error] or [*cluster.FieldError] for each field that cannot be
// read, and matches [convert.ErrInput] for an object of a kind that plays no part.
func (f *Feeder) Set(object any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch o := object.(type) {
	case *corev1.Pod:
		return f.setPod(o)
	case *corev1.Node:
		return feed(o, convert.Node, f.planner.SetNode)
	case *corev1.Namespace:
		return f.planner.SetNamespace(convert.Namespace(o))
	case *corev1.PersistentVolumeClaim:
		return f.setClaim(joinName(o), convert.Exclusive(o))
	case *policyv1.PodDisruptionBudget:
		return f.planner.SetBudget(convert.Budget(o))
	case *policyv1beta1.PodDisruptionBudget:
		return f.planner.SetBudget(convert.BetaBudget(o))
	case *schedulingv1.PriorityClass:
		class := convert.Class(o)
		if err := f.planner.SetPriorityClass(class); err != nil {
			return err
		}
		f.classes[class.Name] = class
		return f.resolve()
	}
	switch o, kind := groupOf(object); kind {
	case cluster.KindPodGroup:
		return f.setGroup(o)
	case cluster.KindCompositePodGroup:
		return feed(o, convert.CompositePodGroup, f.planner.SetCompositePodGroup)
	}
	return unknown(object)
}

// Remove takes away the object of this kind and name. Nothing else of it is looked at, so
// that the last state that is known will do. One that the planner does not have is an
// error, but for pods, which may have finished before.
func (f *Feeder) Remove(object any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch o := object.(type) {
	case *corev1.Pod:
		return f.removePod(ref(o))
	case *corev1.Node:
		return f.planner.RemoveNode(o.Name)
	case *corev1.Namespace:
		return f.planner.RemoveNamespace(o.Name)
	case *corev1.PersistentVolumeClaim:
		return f.setClaim(joinName(o), false)
	case *policyv1.PodDisruptionBudget:
		return f.planner.RemoveBudget(ref(o).Namespace, o.Name)
	case *policyv1beta1.PodDisruptionBudget:
		return f.planner.RemoveBudget(ref(o).Namespace, o.Name)
	case *schedulingv1.PriorityClass:
		if err := f.planner.RemovePriorityClass(o.Name); err != nil {
			return err
		}
		delete(f.classes, o.Name)
		return f.resolve()
	}
	switch o, kind := groupOf(object); kind {
	case cluster.KindPodGroup:
		key := ref(o)
		delete(f.annotated[kind], key)
		return f.planner.RemovePodGroup(key.Namespace, key.Name)
	case cluster.KindCompositePodGroup:
		return f.planner.RemoveCompositePodGroup(ref(o).Namespace, o.GetName())
	}
	return unknown(object)
}

// Unresolved says which annotations name a priority class that has not come yet, in
// order of kind, namespace and name; nil if none does. Such a pod or group has no preemption
// priority of its own until the class comes.
func (f *Feeder) Unresolved() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, kind := range slices.Sorted(maps.Keys(f.annotated)) {
		for _, key := range sorted(f.annotated[kind]) {
			errs = append(errs, f.annotated[kind][key].err)
		}
	}
	return errors.Join(errs...)
}

// feed converts o and gives the result to set.
func feed[K, P any](o K, convert func(K) (P, error), set func(P) error) error {
	converted, err := convert(o)
	if err != nil {
		return err
	}
	return set(converted)
}

func (f *Feeder) setPod(pod *corev1.Pod) error {
	key := ref(pod)
	if convert.Finished(pod) {
		return f.removePod(key)
	}
	p, err := convert.Pod(pod)
	if err != nil {
		return err
	}
	claims := convert.Claims(pod)
	for _, claim := range claims {
		if token := convert.Token(claim); f.exclusive[claim] && !slices.Contains(p.Tokens, token) {
			p.Tokens = append(p.Tokens, token)
		}
	}
	missing := preemptionPriority(f, cluster.KindPod, pod, &p.PreemptionPriority)
	if f.options.Pod != nil {
		f.options.Pod(&p)
	}
	if err := f.planner.SetPod(p); err != nil {
		return err
	}
	f.forget(key)
	f.pods[key] = pod
	for _, claim := range claims {
		if f.users[claim] == nil {
			f.users[claim] = map[preemption.PodRef]bool{}
		}
		f.users[claim][key] = true
	}
	f.note(cluster.KindPod, pod, missing)
	return nil
}

func (f *Feeder) removePod(key preemption.PodRef) error {
	if f.pods[key] == nil {
		return nil
	}
	if err := f.planner.Remove(key); err != nil {
		return err
	}
	f.forget(key)
	return nil
}

// forget drops what is known of a pod.
func (f *Feeder) forget(key preemption.PodRef) {
	pod := f.pods[key]
	if pod == nil {
		return
	}
	delete(f.pods, key)
	delete(f.annotated[cluster.KindPod], key)
	for _, claim := range convert.Claims(pod) {
		delete(f.users[claim], key)
		if len(f.users[claim]) == 0 {
			delete(f.users, claim)
		}
	}
}

// setClaim notes whether one pod at a time may use a claim, and tells the pods that do.
func (f *Feeder) setClaim(claim string, exclusive bool) error {
	if f.exclusive[claim] == exclusive {
		return nil
	}
	if exclusive {
		f.exclusive[claim] = true
	} else {
		delete(f.exclusive, claim)
	}
	var errs []error
	for _, key := range sorted(f.users[claim]) {
		errs = append(errs, f.setPod(f.pods[key]))
	}
	return errors.Join(errs...)
}

func (f *Feeder) setGroup(o metav1.Object) error {
	g, err := convert.PodGroup(o)
	if err != nil {
		return err
	}
	missing := preemptionPriority(f, cluster.KindPodGroup, o, &g.PreemptionPriority)
	if err := f.planner.SetPodGroup(g); err != nil {
		return err
	}
	f.note(cluster.KindPodGroup, o, missing)
	return nil
}

// preemptionPriority sets what the annotation of o says; the error is that its class is
// not there.
func preemptionPriority(f *Feeder, kind cluster.Kind, o metav1.Object, value **int32) (err error) {
	*value, err = convert.PreemptionPriority(kind, o, f.resolved)
	return err
}

// note remembers o if its annotation names a class.
func (f *Feeder) note(kind cluster.Kind, o metav1.Object, err error) {
	if _, ok := o.GetAnnotations()[convert.PreemptionPriorityAnnotation]; ok {
		f.annotated[kind][ref(o)] = annotated{o, err}
	} else {
		delete(f.annotated[kind], ref(o))
	}
}

// resolve looks at the classes anew, and sets the objects whose annotations name one.
func (f *Feeder) resolve() error {
	list := make([]priority.Class, 0, len(f.classes))
	for _, name := range slices.Sorted(maps.Keys(f.classes)) {
		list = append(list, f.classes[name])
	}
	f.resolved, _ = priority.NewClasses(list) // what is wrong with them is for the planner to say
	var errs []error
	for _, key := range sorted(f.annotated[cluster.KindPod]) {
		errs = append(errs, f.setPod(f.pods[key]))
	}
	for _, key := range sorted(f.annotated[cluster.KindPodGroup]) {
		errs = append(errs, f.setGroup(f.annotated[cluster.KindPodGroup][key].object))
	}
	return errors.Join(errs...)
}

// groupOf is object as a group of scheduling.k8s.io, with its kind; the kind is empty if
// it is none. The types of all versions are recognized by name, since no version of
// k8s.io/api has them all.
func groupOf(object any) (metav1.Object, cluster.Kind) {
	o, ok := object.(metav1.Object)
	if !ok || reflect.ValueOf(object).Kind() == reflect.Pointer && reflect.ValueOf(object).IsNil() {
		return nil, ""
	}
	var group, kind string
	if u, ok := object.(interface{ GetAPIVersion() string }); ok {
		group, _, _ = strings.Cut(u.GetAPIVersion(), "/")
		kind = object.(interface{ GetKind() string }).GetKind()
	} else if t := reflect.TypeOf(object).Elem(); strings.HasPrefix(t.PkgPath(), "k8s.io/api/scheduling/") {
		group, kind = "scheduling.k8s.io", t.Name()
	}
	if k := cluster.Kind(kind); group == "scheduling.k8s.io" && (k == cluster.KindPodGroup || k == cluster.KindCompositePodGroup) {
		return o, k
	}
	return nil, ""
}

func unknown(object any) error {
	return &convert.Error{Kind: fmt.Sprintf("%T", object), Want: "a kind of object that is fed to a planner"}
}

// ref names o as the converted object is named.
func ref(o metav1.Object) preemption.PodRef {
	return preemption.PodRef{Namespace: cmp.Or(o.GetNamespace(), metav1.NamespaceDefault), Name: o.GetName()}
}

func joinName(o metav1.Object) string { return ref(o).Namespace + "/" + o.GetName() }

// sorted lists the keys of m in order of namespace and name.
func sorted[V any](m map[preemption.PodRef]V) []preemption.PodRef {
	return slices.SortedFunc(maps.Keys(m), func(a, b preemption.PodRef) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
}
