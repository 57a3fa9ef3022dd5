// Package gen makes clusters to test and measure with.
//
// [Random] and [Draw] make small ones, full of the coincidences on which rules
// differ: few nodes, few priorities and start times with many ties, overlapping
// budgets, pods that are terminating, nominated or in the way by a port. Random is
// fast and seeded, for tens of thousands of clusters in a loop; Draw makes the same
// clusters from rapid's bits, so that a failing one shrinks. A [Profile] says what
// occurs in them. [Quota] does the same for queues with quota. A [Maker] makes a
// cluster of everything and then one change after the other, for histories. [Fleet]
// makes big clusters for benchmarks.
//
// Equal seeds give equal clusters on every machine.
package gen
