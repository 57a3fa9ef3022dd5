package clustertest

import (
	"strings"
	"time"

	"github.com/preempt-go/preempt/preemption"
)

// TB is what is used of a test: a *testing.T, *testing.B or *rapid.T.
type TB interface {
	// Helper says that failures are the caller's.
	Helper()
	// Fatalf ends the test with a message, and does not return.
	Fatalf(format string, args ...any)
}

// Noon is the time of a cluster unless [Cluster.At] says otherwise.
var Noon = time.Date(2026, time.January, 1, 12, 0, 0, 0, time.UTC)

// Cluster is a cluster that is being built. Objects are named "namespace/name", or "name"
// in no namespace. What is told is not judged here: the library complains about it as
// about any snapshot.
type Cluster struct{ snapshot preemption.Snapshot }

// New is a cluster of nothing, at [Noon].
func New() *Cluster { return &Cluster{snapshot: preemption.Snapshot{Time: Noon}} }

// At sets the time of the cluster. Start times that [Pods.Age] has told stay as they are.
func (c *Cluster) At(now time.Time) *Cluster {
	c.snapshot.Time = now
	return c
}

// Class adds a priority class.
func (c *Cluster) Class(name string, value int32) *Cluster {
	c.snapshot.PriorityClasses = append(c.snapshot.PriorityClasses, preemption.PriorityClass{Name: name, Value: value})
	return c
}

// Change changes the snapshot, for what no method tells.
func (c *Cluster) Change(change func(*preemption.Snapshot)) *Cluster {
	change(&c.snapshot)
	return c
}

// Snapshot is the cluster as it is now: a copy, which shares nothing with it.
func (c *Cluster) Snapshot() *preemption.Snapshot { return copied(&c.snapshot) }

// Planner compiles the cluster. The test fails if it is not valid.
func (c *Cluster) Planner(t TB, o preemption.Options) *preemption.Planner {
	t.Helper()
	planner, err := preemption.NewPlanner(c.Snapshot(), o)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return planner
}

// Preempt asks about one preemptor. The test fails if the question cannot be read.
func (c *Cluster) Preempt(t TB, o preemption.Options, p preemption.Preemptor) *preemption.Result {
	t.Helper()
	result, err := o.Preempt(p, &c.snapshot)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return result
}

// PodNamed asks about a pending pod of a cluster.
func PodNamed(name string) preemption.Preemptor { return named(preemption.KindPod, name) }

// GroupNamed asks about a pod group of a cluster.
func GroupNamed(name string) preemption.Preemptor { return named(preemption.KindPodGroup, name) }

func named(kind preemption.Kind, name string) preemption.Preemptor {
	p := preemption.Preemptor{Kind: kind}
	p.Namespace, p.Name = split(name)
	return p
}

// split is the namespace, empty if none is told, and the name.
func split(name string) (namespace, rest string) {
	if before, after, ok := strings.Cut(name, "/"); ok {
		return before, after
	}
	return "", name
}
