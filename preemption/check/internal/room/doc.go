// Package room says what is free on nodes, what would be with some of those gone who run there, and what is short, for package check alone.
package room
