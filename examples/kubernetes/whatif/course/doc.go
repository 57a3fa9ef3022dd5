// Package course asks one question after another of a planner and carries out each answer
// before the next is asked.
//
// A [Course] tells what becomes of a whole: of a manifest, of a node that is drained. Whoever
// gets a place is bound to it; whoever is evicted for that is made anew by what made it, and
// is asked about in turn, the most important first. So the last answers are those of a cluster that has
// come to rest, as far as eviction goes: nobody finishes meanwhile, and nobody else comes.
//
// Budgets are charged for who goes and credited once it runs again elsewhere, as the
// controller of budgets does for pods that become healthy.
package course
