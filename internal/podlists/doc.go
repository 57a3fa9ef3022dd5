// Package podlists lists pods by the node on which they run.
//
// Pods are added in any order and any number of times; once they are sorted, those of a node
// are a part of one slice.
package podlists
