// Package edit changes the cluster of a planner by objects and by names.
package edit
