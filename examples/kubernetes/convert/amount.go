package convert

import (
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// quantities are amounts by name of the resource, exact as the input gives them.
type quantities map[corev1.ResourceName]resource.Quantity

// add adds each amount of src.
func (q quantities) add(src corev1.ResourceList) {
	for name, amount := range src {
		sum, ok := q[name]
		if !ok {
			q[name] = amount.DeepCopy()
			continue
		}
		sum.Add(amount)
		q[name] = sum
	}
}

// of is what q has of the resources of list.
func (q quantities) of(list corev1.ResourceList) quantities {
	out := make(quantities, len(list))
	for name := range list {
		if amount, ok := q[name]; ok {
			out[name] = amount.DeepCopy()
		}
	}
	return out
}

// raise lifts each amount to that of src where src has more.
func (q quantities) raise(src quantities) {
	for name, amount := range src {
		if have, ok := q[name]; !ok || amount.Cmp(have) > 0 {
			q[name] = amount.DeepCopy()
		}
	}
}

// resources turns amounts into integers as the scheduler does: cpu in thousandths
// of a core, everything else in whole units, both rounded up.
func (q quantities) resources(f *fields, field string) cluster.Resources {
	if len(q) == 0 {
		return nil
	}
	out := make(cluster.Resources, len(q))
	for name, amount := range q {
		n, want := whole(name, amount)
		if want != "" {
			f.badAmount(at(field, name), amount, want)
			continue
		}
		out[string(name)] = n
	}
	return out
}

// maxMilli is the largest amount whose thousandths fit into 64 bits.
var maxMilli = resource.NewMilliQuantity(math.MaxInt64, resource.DecimalSI)

// whole returns amount in the unit of the resource, or what it should be.
func whole(name corev1.ResourceName, amount resource.Quantity) (n int64, want string) {
	switch {
	case amount.Sign() < 0:
		return 0, "at least 0"
	case name == corev1.ResourceCPU && amount.Cmp(*maxMilli) > 0:
		return 0, "at most 9223372036854775807 thousandths"
	case name == corev1.ResourceCPU:
		return amount.MilliValue(), ""
	case amount.CmpInt64(math.MaxInt64) > 0:
		return 0, "at most 9223372036854775807"
	}
	return amount.Value(), ""
}

// exact is q as text. Quantities of more than 64 bits lose their suffix, or their
// digits, when they are printed: those are told in digits.
func exact(q resource.Quantity) string {
	text := q.String()
	if again, err := resource.ParseQuantity(text); err == nil && again.Cmp(q) == 0 {
		return text
	}
	digits := q.AsDec().String()
	if strings.Contains(digits, ".") {
		digits = strings.TrimRight(strings.TrimRight(digits, "0"), ".")
	}
	return clip([]byte(digits))
}

// checkAmounts complains about each amount of a list that is no amount of its own
// accord, before it disappears in a sum.
func checkAmounts(f *fields, field string, list corev1.ResourceList) {
	for _, name := range sortedNames(list) {
		if _, want := whole(name, list[name]); want != "" {
			f.badAmount(at(field, name), list[name], want)
		}
	}
}

func sortedNames(list corev1.ResourceList) []corev1.ResourceName {
	names := make([]corev1.ResourceName, 0, len(list))
	for name := range list {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// at is the path of one key of a map.
func at(field string, key corev1.ResourceName) string { return fmt.Sprintf("%s[%s]", field, key) }
