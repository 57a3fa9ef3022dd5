// Package constrainttest checks that a [domain.Constraint] keeps its contract.
//
// [Check] prepares a constraint for a preemptor in a small cluster and follows
// random histories: pods leave and come back, nominated pods arrive, members are
// placed and taken back. After every step it asks for every member on every node,
// and compares. The laws that it checks are listed at [Law]; each that is broken is
// reported with the history that breaks it.
//
// The cluster is the caller's: one that a constraint finds interesting, with pods
// that matter to it and some that do not, and as small as that allows. A dozen
// nodes and a few dozen pods are checked in milliseconds.
//
// Source: the contract of domain.Constraint; in style testing/fstest.
package constrainttest
