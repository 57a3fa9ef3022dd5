// Package columns looks at all nodes of a cluster at once, by packed columns.
//
// A [NodeColumns] has for every node its units in order of importance, each on a [victims.Position], and
// what is free there once everybody from a position on is gone. Resources are packed into
// lanes of words, in grains ([Lanes]), so that one subtraction tells of several of them
// whether an ask fits; blocks of 64 nodes keep these words by level of priority, with the
// least and the most of each ([Levels], [Block]). Where the columns can't tell, they say
// so, and the node is for a trial.
//
// On top of them: [Scan] finds the best node for a pod, [Sweep] gives back the units of one
// node, [ShapeRanking] remembers how the nodes stand for a shape of pod, and [Seats] counts the
// members of a gang that find room on a node, and at what price; [Joint] does so where
// units have pods on several nodes.
//
// Everything comes to what trials come to (see packages domain and reprieve), which the
// tests of package preemption hold. Changes cost what they change, and copies share pages.
package columns
