// Package suits says what suits whom, of labels, and of a pod and a node by themselves.
package suits
