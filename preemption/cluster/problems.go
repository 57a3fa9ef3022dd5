package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/words"
)

// maxProblems is how many complaints one error spells out; the rest is counted.
const maxProblems = 1000

// problems collects complaints in any order and reports them in a fixed one.
type problems []*FieldError

// object is the head of complaints about one object.
type object struct {
	all             *problems
	first           int // in all: complaints about it come from there on
	kind            Kind
	namespace, name string
}

// object is one about which ps, nil where nothing can be wrong, has nothing yet.
func (ps *problems) object(kind Kind, namespace, name string) object {
	o := object{all: ps, kind: kind, namespace: namespace, name: name}
	if ps != nil {
		o.first = len(*ps)
	}
	return o
}

// bad adds a complaint: field has value, want was expected.
func (o object) bad(field, value, want string) { o.wrap(nil, field, value, want) }

// wrap is bad with the lower package's own error.
func (o object) wrap(err error, field, value, want string) {
	e := &FieldError{Kind: strings.Clone(string(o.kind)), Field: field, Value: value, Want: want, Err: err}
	if last := o.last(); last != nil {
		e.Namespace, e.Name = last.Namespace, last.Name
	} else { // copied, so that an object without a complaint is not on the heap
		e.Namespace, e.Name = strings.Clone(o.namespace), strings.Clone(o.name)
	}
	*o.all = append(*o.all, e)
}

// last is the latest complaint if it is about o: names may be long, and complaints many. Of those beyond
// maxProblems, which are only counted, the names are compared as far as messages quote them.
func (o object) last() *FieldError {
	at := len(*o.all) - 1
	if at < o.first {
		return nil
	}
	e, namespace, name := (*o.all)[at], o.namespace, o.name
	same := e.Kind == string(o.kind) && len(e.Namespace) == len(namespace) && len(e.Name) == len(name)
	if most := words.Longest; at-o.first >= maxProblems {
		namespace, name = namespace[:min(most, len(namespace))], name[:min(most, len(name))]
	}
	if same && strings.HasPrefix(e.Namespace, namespace) && strings.HasPrefix(e.Name, name) {
		return e
	}
	return nil
}

// named checks the name, and the namespace: "a/b" is b of namespace a.
func (o object) named() {
	switch {
	case o.name == "":
		o.bad("Name", quote(""), "a name")
	case o.kind != KindNode && strings.Contains(o.name, "/"):
		o.bad("Name", quote(o.name), "a name without '/'")
	}
	if strings.Contains(o.namespace, "/") {
		o.bad("Namespace", quote(o.namespace), "a name without '/'")
	}
	o.text(place{field: "Name"}, o.name)
	o.text(place{field: "Namespace"}, o.namespace)
}

// text checks that values can be told apart and written: in JSON, a string is UTF-8.
func (o object) text(field place, values ...string) {
	for _, s := range values {
		if !utf8.ValidString(s) {
			o.bad(field.String(), quote(s), "UTF-8")
		}
	}
}

// place is a field of an object, in a list perhaps, such as Tolerations[3].Key. It is
// put into words for a complaint only.
type place struct {
	list  string // empty: none
	i     int
	inner string // list in an element of the other; empty: none
	j     int
	field string
}

// at is a field of p.
func (p place) at(field string) place {
	p.field += field
	return p
}

// dot is a field of p in words.
func (p place) dot(field string) string { return p.at(field).String() }

func (p place) String() string {
	path := p.list
	if p.list != "" {
		path += "[" + number(p.i) + "]"
	}
	if p.inner != "" {
		path += p.inner + "[" + number(p.j) + "]"
	}
	return path + p.field
}

// err joins the complaints, sorted by kind, namespace, name, field and value.
func (ps problems) err() error {
	if len(ps) == 0 {
		return nil
	}
	slices.SortFunc(ps, (*FieldError).Compare)
	var errs []error
	for _, e := range ps[:min(len(ps), maxProblems)] {
		errs = append(errs, e)
	}
	if rest := len(ps) - maxProblems; rest > 0 {
		errs = append(errs, fmt.Errorf("%w: %d more problems", ErrInvalid, rest))
	}
	return errors.Join(errs...)
}

func quote(s string) string { return words.Quoted(s) }

func number[T ~int32 | ~int64 | ~int](n T) string { return strconv.FormatInt(int64(n), 10) }

// ErrInvalid matches every complaint about a snapshot or preemptor.
var ErrInvalid = errors.New("cluster: invalid snapshot")

// FieldError locates one bad field; errors.Is(err, ErrInvalid) holds for it. Of a long value
// it has the beginning.
type FieldError struct {
	Kind, Namespace, Name, Field, Value, Want string

	Err error // the lower package's own error, if there is one: priority.ErrUnknownClass, disruption.ErrSelector, ...
}

// Error names the object, the field, the value and what was expected. An object that
// has no name, as there is only one of it, goes by its kind. Of what is longer than 100
// bytes it has the beginning.
func (e *FieldError) Error() string {
	object := e.Kind
	switch {
	case e.Namespace != "":
		object += " " + words.Quoted(words.Short(e.Namespace)+"/"+words.Short(e.Name))
	case e.Name != "":
		object += " " + words.Quoted(e.Name)
	}
	return fmt.Sprintf("cluster: %s: %s: %s is not %s", object, words.Short(e.Field), words.Short(e.Value), words.Short(e.Want))
}

// Is reports whether target is ErrInvalid.
func (e *FieldError) Is(target error) bool { return target == ErrInvalid }

// Compare orders complaints by what they are about.
func (e *FieldError) Compare(o *FieldError) int {
	return cmp.Or(
		cmp.Compare(e.Kind, o.Kind), cmp.Compare(e.Namespace, o.Namespace), cmp.Compare(e.Name, o.Name),
		cmp.Compare(e.Field, o.Field), cmp.Compare(e.Value, o.Value), cmp.Compare(e.Want, o.Want))
}

// Unwrap returns the lower package's own error, or nil.
func (e *FieldError) Unwrap() error { return e.Err }

// Limits on what is compiled: what lies beyond is refused before memory is taken for it.
// No cluster comes near; see "Limits" in preemption/OPTIONS.md.
const (
	// Amounts are kept for each pod, and twice for each node, of every resource that any
	// of them names. With so many resources rows are as large as the objects are; beyond,
	// there may be so many amounts.
	fewResources = 64
	mostAmounts  = 1 << 24

	mostBudgets = 512 // of a namespace, for the same label or none
	mostTerms   = 128 // of affinity, of anti-affinity and of spread, of a pod
	mostTokens  = 128 // of a pod
	mostLevels  = 32  // of the topology of a group

	mostDevices     = 1 << 22 // of all nodes together
	mostDeviceCells = 1 << 24 // nodes times names of devices
)

// amountsFit reports whether there is room for the amounts of so many resources, Pods
// among them.
func amountsFit(nodes, pods, resources int) bool {
	return resources <= fewResources || (resources-fewResources) <= mostAmounts/max(1, 2*nodes+pods)
}

// checkAmounts complains if there is not.
func checkAmounts(ps *problems, nodes, pods, resources int) bool {
	if amountsFit(nodes, pods, resources) {
		return true
	}
	most := fewResources + mostAmounts/(2*nodes+pods)
	ps.object(KindSnapshot, "", "").bad("Resources", number(resources)+" names", "at most "+number(most)+" for as many nodes and pods")
	return false
}

// checkDevices complains if there are more devices, or names of them, than are read.
func checkDevices(ps *problems, nodes []*Node) {
	names, count := map[string]struct{}{}, 0
	for _, n := range nodes {
		for name, pool := range n.Devices {
			names[name] = struct{}{}
			count += int(max(pool.Count, 0))
		}
	}
	o := ps.object(KindSnapshot, "", "")
	if count > mostDevices {
		o.bad("Devices", number(count)+" on all nodes", "at most "+number(mostDevices))
	}
	if len(names) > mostDeviceCells/max(1, len(nodes)) {
		o.bad("Devices", number(len(names))+" names", "at most "+number(mostDeviceCells/len(nodes))+" for as many nodes")
	}
}

// complainOfCrowd says which budgets are too many.
func complainOfCrowd(ps *problems, list []disruption.Budget) {
	set, _ := disruption.NewSet(list)
	namespace, label, crowd := set.Crowded()
	want := "at most " + number(mostBudgets) + " of a namespace that ask for no label"
	if label != "" {
		want = "at most " + number(mostBudgets) + " of a namespace that ask for no label that is rarer than " + quote(label)
	}
	ps.object(KindNamespace, "", namespace).bad("Budgets", number(crowd), want)
}
