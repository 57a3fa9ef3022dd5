// Package devices says what a pod asks for of the devices of a node, and whether that has room.
package devices
