// Package command is the command whatif, which two modules build: this one, for what is
// done in a clone, and examples/whatif, for go install.
//
// Its doc is that of command whatif.
package command
