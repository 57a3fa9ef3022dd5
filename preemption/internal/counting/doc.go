// Package counting looks for the victims of a gang of equal members by counting how many of
// them find room on each node, and at what price: nobody is placed, and nobody leaves a
// trial. See [Search]. It comes to what trials come to, see package seating and the
// gang's search in package preemption, which the tests of that hold.
//
// A domain is measured first (rooms), then the potential victims are charged to their
// budgets (charge); the placers of package domain put members on the nodes that offer
// least (cheapest, place); every placement is looked at where there are few (everyway), and elsewhere a few
// moves may better that (climb). Where units have pods
// on several nodes, who goes for one member is gone for others (joint); where members may
// move while victims come back, only the number of seats counts (moving).
package counting
