package convert

import (
	"bytes"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// Options choose how a dump is read. The zero value is the documented default.
type Options struct {
	// Now is the moment of the snapshot. Zero: the newest moment at which, by the
	// objects, something happened; so a dump gives the same answer whenever it is
	// read.
	Now time.Time

	// Lenient leaves out objects that cannot be read, and lists them in
	// Dump.Problems, instead of refusing the dump.
	Lenient bool

	// Strict makes errors of Dump.Warnings.
	Strict bool

	// Unpacked is how many bytes each gzipped input may unpack to. 0: see [Unzip].
	Unpacked int64
}

// Dump is what a set of objects says about preemption.
type Dump struct {
	Snapshot  cluster.Snapshot
	Templates []Template // pods of workloads, in order of the input

	Objects  int                  // all that were given
	Ends     map[string]time.Time // when running pods end by themselves, by namespace/name; see [Ends]
	Finished int                  // pods that have run to their end, left out
	Ignored  map[string]int       // objects of kinds that play no part, by kind and group
	NotRead  map[string]int       // objects of other kinds with such a field, by field and kind
	Unread   map[string]int       // pods with a field that may decide but is not read, by field
	Problems []error              // with Options.Lenient: what was left out, and why

	// Warnings has an [*Error] for each object of a kind that plays a part whose
	// group or version is not known (misspelt, or another group's kind of the same
	// name), and one for each kind that is not known at all. Of a known group it is
	// read all the same; otherwise it is counted in Ignored too.
	Warnings []error

	origins map[objectKey]Origin
	file    string // that all of it was saved in; else empty
}

type objectKey struct{ kind, namespace, name string }

// Dump converts objects. Their order never matters, but for complaints and for
// Dump.Templates. An object that stands twice is an error.
//
// The error joins an [*Error] for each problem, in order of the input. Nothing of
// objects is changed; the dump shares nothing with them.
func (o Options) Dump(objects []Object) (*Dump, error) {
	b := o.builder()
	for i := range objects {
		b.add(&objects[i])
	}
	return b.finish(o)
}

func (o Options) builder() *builder {
	return &builder{
		dump:      &Dump{Ignored: map[string]int{}, Unread: map[string]int{}, NotRead: map[string]int{}, Ends: map[string]time.Time{}, origins: map[objectKey]Origin{}},
		exclusive: map[string]bool{},
		jobs:      map[string]time.Time{},
		others:    map[otherKey]*other{},
		queues:    map[string][]*otherQueue{},
		strict:    o.Strict,
		unknown:   map[string]*Object{},
	}
}

// finish resolves what objects say about others.
func (b *builder) finish(o Options) (*Dump, error) {
	b.warnOfKinds()
	b.resolveOthers()
	b.resolveQueues()
	b.resolveAnnotations()
	b.resolveClaims()
	b.resolveJobs()
	d := b.dump
	d.Warnings = b.warnings.all()
	d.Snapshot.Time = o.Now
	if o.Now.IsZero() {
		d.Snapshot.Time = b.newest
	}
	if o.Lenient {
		d.Problems = b.bad.all()
		return d, nil
	}
	return d, b.bad.err()
}

// PendingPods lists the pods that run nowhere, in order of namespace and name.
func (d *Dump) PendingPods() []*cluster.Pod {
	var out []*cluster.Pod
	for i := range d.Snapshot.Pods {
		if p := &d.Snapshot.Pods[i]; p.Node == "" {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *cluster.Pod) int {
		return strings.Compare(joinName(a.Namespace, a.Name), joinName(b.Namespace, b.Name))
	})
	return out
}

// Count is how many objects became part of the snapshot.
func (d *Dump) Count() int {
	s := &d.Snapshot
	return len(s.Nodes) + len(s.Pods) + len(s.PodGroups) + len(s.CompositePodGroups) +
		len(s.Budgets) + len(s.PriorityClasses) + len(s.Namespaces) +
		len(s.ResourceFlavors) + len(s.ClusterQueues) + len(s.Cohorts) + len(s.LocalQueues) + len(s.Workloads)
}

// annotated is an object whose annotation waits for the priority classes.
type annotated struct {
	kind        cluster.Kind
	origin      Origin
	annotations map[string]string
	pod, group  int // position in the snapshot; -1: not of this kind
}

// builder collects a Dump.
type builder struct {
	dump      *Dump
	bad       complaints
	warnings  complaints
	strict    bool               // warnings are errors
	unknown   map[string]*Object // the first of each kind that is not known, by kind and group
	annotated []annotated
	newest    time.Time
	claims    []claimUse
	others    map[otherKey]*other
	queues    map[string][]*otherQueue // of other schedulers, by API group
	jobs      map[string]time.Time     // when they end, by namespace/name
	exclusive map[string]bool          // claims that one pod at a time may use
}

// add converts one object, or counts it.
func (b *builder) add(o *Object) {
	b.dump.Objects++
	kind := kindOf(o)
	if add, ok := readers[kind]; ok {
		if known := versionsOf(kind); !slices.Contains(known, o.APIVersion) {
			b.warnVersion(o, known, true)
		}
		b.complain(o, add(b, o))
		return
	}
	key := kindAndGroup(o)
	b.dump.Ignored[key]++
	if idle[kind] || idle[groupKind{group: kind.group}] {
		return
	}
	if known := homes(o.Kind); len(known) > 0 {
		b.warnVersion(o, known, false)
	} else if b.unknown[key] == nil {
		b.unknown[key] = o
	}
}

// complain notes errors, each with the place of o in the input.
func (b *builder) complain(o *Object, err error) {
	each(err, func(e error) {
		if located, ok := e.(*Error); ok && located.Origin == (Origin{}) {
			located.Origin = o.Origin
		}
		if located, ok := e.(*Error); ok && located.amount {
			if text := textAt(o.JSON, located.Field); text != nil {
				located.Value = clip(bytes.Trim(text, `"`))
			}
		}
		b.bad.add(e)
	})
}

// claim notes where an object stands, and complains if it stands elsewhere too, or has no name that Kubernetes gives.
func (b *builder) claim(o *Object, kind cluster.Kind, namespace, name string) error {
	field, value := "metadata.name", name
	if len(namespace) > len(name) {
		field, value = "metadata.namespace", namespace
	}
	if len(value) > 253 {
		return &Error{
			Origin: o.Origin, Kind: string(kind), Namespace: short(namespace, 100), Name: short(name, 100),
			Field: field, Value: quote(short(value, 100)), Want: "a name of at most 253 bytes",
		}
	}
	key := objectKey{string(kind), namespace, name}
	if first, ok := b.dump.origins[key]; ok {
		where := first.String()
		if where == "" {
			where = "the input"
		}
		return &Error{
			Origin: o.Origin, Kind: string(kind), Namespace: namespace, Name: name,
			Field: "metadata.name", Value: quote(name), Want: "unique: it stands in " + where + " too",
		}
	}
	b.dump.origins[key] = o.Origin
	return nil
}

// saw notes moments at which something happened.
func (b *builder) saw(times ...time.Time) { b.newest = later(b.newest, times...) }

// later is the latest of moments.
func later(t time.Time, more ...time.Time) time.Time {
	for _, other := range more {
		if other.After(t) {
			t = other
		}
	}
	return t
}

// unread lists the fields of pod that may decide but are not read.
func unread(pod *corev1.Pod) (list []string) {
	count := func(field string, set bool) {
		if set {
			list = append(list, field)
		}
	}
	count("spec.resourceClaims", len(pod.Spec.ResourceClaims) > 0)
	count("spec.schedulingGates", len(pod.Spec.SchedulingGates) > 0)
	count("spec.volumes[].persistentVolumeClaim", slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil || v.Ephemeral != nil
	}))
	return list
}

// resolveAnnotations reads the annotations that name priority classes, now that
// all classes are known.
func (b *builder) resolveAnnotations() {
	if len(b.annotated) == 0 {
		return
	}
	// What is wrong with the classes themselves is for the library to say.
	classes, _ := priority.NewClasses(b.dump.Snapshot.PriorityClasses)
	for _, a := range b.annotated {
		f := fields{kind: string(a.kind)}
		var target **int32
		if a.pod >= 0 {
			p := &b.dump.Snapshot.Pods[a.pod]
			f.namespace, f.name, target = p.Namespace, p.Name, &p.PreemptionPriority
		} else {
			g := &b.dump.Snapshot.PodGroups[a.group]
			f.namespace, f.name, target = g.Namespace, g.Name, &g.PreemptionPriority
		}
		*target = preemptionPriority(&f, a.annotations, classes)
		b.complain(&Object{Origin: a.origin}, f.err())
	}
}
