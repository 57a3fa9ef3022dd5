// Package cascade tells what becomes of those who are evicted: who finds another place, who
// has to wait, and who evicts others in turn, whose fate is told likewise.
//
//	c, err := cascade.Of(planner, result, cascade.Options{})
//	c.Sum() // {Evicted:2 Moved:1 Waiting:1 Gone:0 Depth:1}
//
// A [Cascade] asks one question after another and carries out each answer before the next is
// asked. Whoever gets a place is bound to it; whoever is evicted for that is made anew by what
// made it, and is asked about in turn, the most important first. So the last answers are those of a
// cluster that has come to rest, as far as eviction goes: nobody finishes meanwhile, and nobody
// else comes. A whole can be asked about, too: pods and groups in turn, or those who have to
// leave nodes that are drained.
//
// Budgets are charged for who goes and credited once it runs again elsewhere, as the
// controller of budgets does for pods that become healthy.
package cascade
