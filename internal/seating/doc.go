// Package seating gives the members of a gang their nodes: as many of each of its pod
// groups as have to run, each group within the topology that it requires, by one
// [domain.Placer], or by trying every placement where they are few.
//
// A [Group] is the tree of the gang's groups. A [Seating] seats it in one domain, on a
// [domain.GangTrial], after whatever has been removed from that. [SlotTrial], [Rows] and [Sums]
// tell in numbers what its members miss.
//
// Source: KEP-5710, placement of a gang; KEP-6012, composite pod groups; KEP-5732,
// topology constraints.
package seating
