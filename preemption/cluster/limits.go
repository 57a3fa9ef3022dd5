package cluster

import (
	"github.com/preempt-go/preempt/disruption"
)

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
	names, count := map[string]bool{}, 0
	for _, n := range nodes {
		for name, pool := range n.Devices {
			names[name] = true
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
