// Package onepod is the search for a lone pod: on every node the potential victims are
// taken out, and given back as far as the pod fits all the same. It returns a plan of ids
// and numbers.
//
// The plain road looks at nodes one by one, over a trial. Where resources and budgets
// alone decide, one node is swept by its columns, and all nodes are scanned at once. What
// was found for a shape of pod is remembered for decisions: by columns, or else what the
// plain road has found on each node, as long as its units and their guards and prices are
// what they were. See the table of roads in package ask.
package onepod
