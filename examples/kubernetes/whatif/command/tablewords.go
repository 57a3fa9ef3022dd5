package command

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// reason is a reason with amounts as Kubernetes writes them.
func (r *report) reason(why preemption.Reason) string {
	if why.Resource != "" {
		return fmt.Sprintf("%s is short by %s", why.Resource, amount(why.Resource, why.Missing))
	}
	why.Node = ""
	return why.String()
}

// age is how long ago t was, as kubectl writes it.
func (r *report) age(t time.Time) string {
	now := r.dump.Snapshot.Time
	if t.IsZero() || now.IsZero() || t.After(now) {
		return "-"
	}
	return duration.HumanDuration(now.Sub(t))
}

// amounts lists what a pod asks for.
func amounts(r cluster.Resources) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(r)) {
		if r[name] != 0 {
			parts = append(parts, name+" "+amount(name, r[name]))
		}
	}
	if len(parts) == 0 {
		return "nothing but a place"
	}
	return strings.Join(parts, ", ")
}

// amount writes n of a resource as Kubernetes does.
func amount(name string, n int64) string {
	switch {
	case name == cluster.CPU:
		return resource.NewMilliQuantity(n, resource.DecimalSI).String()
	case name == cluster.Memory, name == "ephemeral-storage", strings.HasPrefix(name, "hugepages-"):
		return resource.NewQuantity(n, resource.BinarySI).String()
	}
	return fmt.Sprint(n)
}

func priorityOf(p *cluster.Pod) string {
	switch {
	case p.Priority != nil:
		return fmt.Sprintf(" at priority %d", *p.Priority)
	case p.Class != "":
		return " at the priority of class " + p.Class
	}
	return ""
}

// few joins names, but not too many.
func few(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
