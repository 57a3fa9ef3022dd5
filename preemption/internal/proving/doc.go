// Package proving shows what any evictions for a lone pod have at least, or that none help, in
// numbers that others can add up.
//
// [Prove] knows the answer already, and looks at every node anew: for a criterion after the other
// it looks for multipliers with which the sums of what would be needed, of what victims free, and
// of what they have of the criteria contradict each other for any set of victims with less. Where
// one contradiction does not do, it tells cases apart, in each of which some victims go and others
// stay. What it can't show so within its steps makes the bound smaller, never wrong. [Refute] shows
// in the same way that no victims help, [ProveGang] and [RefuteGang] what holds of a gang, by prices of its members, and
// [ProveQuota] what workloads have at least that leave their quota to another one.
//
// The search could have told of its own multipliers. But most nodes it rules out by what it
// knows without any, remembers them from questions before, and where it branches it relies on
// comparisons that no sum shows. So nobody who doesn't ask for a proof pays for it, and every
// kind of search has one.
//
// Source: Held, Wolfe and Crowder, "Validation of subgradient optimization" (1974).
package proving
