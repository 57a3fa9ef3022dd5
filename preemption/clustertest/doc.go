// Package clustertest is for tests of programs that use this library: small clusters in a
// few words, random ones that shrink, and what two answers differ in.
//
// [New] begins a cluster that is built object by object; each method tells about those
// named last:
//
//	cluster := clustertest.New().
//		Nodes(2, "n").Cores(4).
//		Pod("batch").On("n1").Priority(1).Cores(3).
//		Pod("web").Priority(10).Cores(2)
//	planner := cluster.Planner(t, preemption.Options{})
//
// [Random] makes clusters full of the coincidences on which rules differ (few nodes,
// priorities and times with many ties, budgets that overlap, pods that are terminating or
// nominated), fast and by seed; [Draw] makes them of rapid's bits, so that a failing one
// shrinks:
//
//	rapid.Check(t, func(t *rapid.T) {
//		q := clustertest.Draw(clustertest.Profile{Budgets: true}).Draw(t, "question")
//		planner, err := preemption.NewPlanner(q.Snapshot, options)
//		...
//	})
//
// A [Profile] says what occurs in them. [Shuffle] gives the same question in
// another order, [Fleet] a big cluster for benchmarks. Equal seeds give equal clusters
// on every machine, as long as the release of the library is the same.
//
// [Diff] tells in words what an answer has that another one has not.
//
// It is a package for tests: it brings rapid with it.
package clustertest
