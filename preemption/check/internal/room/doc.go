// Package room says what would be free on nodes with some of those gone who run there, for package check alone.
package room
