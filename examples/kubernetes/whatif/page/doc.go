// Package page writes an answer as one HTML file, which needs nothing else and asks nobody for
// anything: what is told in words, and each node as a bar of the pods that run there, coloured by
// priority, with the victims marked, what comes in their place, and why not there.
//
// The nodes are drawn by a script from data in the page, a hundred at a time. Everything can be
// done with the keyboard, and the colours are light or dark as the reader's system is.
package page
