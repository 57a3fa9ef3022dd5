package cluster

// Compile is NewIndexOf by a number of goroutines.
var Compile = compile
