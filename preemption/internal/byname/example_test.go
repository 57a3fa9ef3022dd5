package byname_test

import (
	"fmt"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/byname"
)

// Pods come in order of their names, and a clone keeps what it was made of.
func Example() {
	pods := []cluster.Pod{{Name: "b"}, {Namespace: "a", Name: "c"}, {Name: "a"}}
	t := byname.Tree(byname.Pointers(pods), func(a, b *cluster.Pod) bool {
		return byname.Before(a.Namespace, a.Name, b.Namespace, b.Name)
	})
	before := t.Clone()
	t.Delete(&cluster.Pod{Name: "a"})
	for _, p := range byname.All(before) {
		fmt.Println(p.Namespace + "/" + p.Name)
	}
	fmt.Println(len(byname.Values(t)))
	// Output:
	// /a
	// /b
	// a/c
	// 2
}
