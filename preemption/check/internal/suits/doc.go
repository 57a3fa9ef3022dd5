// Package suits says what suits whom, of labels, and of pods and a node, or its devices, by themselves.
package suits
