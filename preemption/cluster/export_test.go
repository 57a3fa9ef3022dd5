package cluster

// Compile is Objects.Index by a number of goroutines.
var Compile = compile
