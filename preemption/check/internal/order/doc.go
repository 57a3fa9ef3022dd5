// Package order says by which criteria victims are compared, as the options ask for them, and which chains of groups are
// cycles, for package check alone.
package order
