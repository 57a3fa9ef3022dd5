// Package order says by which criteria victims are compared, as the options ask for them, for package check alone.
package order
