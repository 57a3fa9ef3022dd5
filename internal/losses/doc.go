// Package losses remembers what the loss of units costs.
//
// [Wholes] do so of units of many pods, which have pods in many domains and are read once. [Offers]
// price a place for a member of a gang by the units that have to go for it.
package losses
