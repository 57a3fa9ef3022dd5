// Package ask holds a question as the searches read it: a preemptor that was found and
// checked, the cluster, rules and options as plain values, and what follows from these
// alone: who may be evicted, which bounds hold, what a victim costs, which road is open.
//
// A search changes nothing of the cluster through its question, and makes no words: package
// preemption reads a question, and tells what was found.
package ask
