// Package reprieve gives potential victims back while the preemptor still fits.
//
// [Runner.Run] takes every potential victim out of a trial, and if the preemptor
// fits then, walks them from most to least important. A unit returns whole or not
// at all, but for an elastic group, of which the largest set of members returns that
// goes on; units whose loss would violate a budget are tried first. The result is
// minimal in one sense: where constraints are monotone, no single victim could
// still return. A smaller set may exist; it is not searched for.
//
// [Runner.RunWithin] does search: for victims that keep within caps, member by member where
// groups are elastic. Its [Proof] says how far to rely on it. [Runner.RunLeast] searches for
// those that make one [Aim] after the other least, and bounds what is possible.
//
// Nothing here reads a clock, logs, or allocates once a [Runner] is warm.
//
// Source: KEP-5710, "Preemption algorithm"; kube-scheduler v1.36, victims on a node.
package reprieve
